/* SPDX-License-Identifier: Apache-2.0 */
/* profile_code.h - the machine code of the kernels of a plan (private to app/profile). */
#ifndef APP_PROFILE_CODE_H
#define APP_PROFILE_CODE_H

#include "app/profile/report.h"

/* Compiles what the Kernel nodes of r->plan need for r->cc, in closed processes, and fills r->code and what
 * each kernel of r->kernel has of it. What cannot be had is a sentence in its place. */
void pm__profile_code(PmProfileReport *r, const PmProfileOpts *o);

#endif
