/* SPDX-License-Identifier: Apache-2.0 */
/* profile_count.h - what the kernels of a report do, counted on the emulated device (private to app/profile).
 */
#ifndef APP_PROFILE_COUNT_H
#define APP_PROFILE_COUNT_H

#include "app/profile/report.h"

/* Runs the rewritten graph once, on inputs drawn by o->seed, and fills in k->counts of the kernels that take
 * most of the modelled time; r->why_not_counted when that went wrong. */
void pm__profile_count(PmProfileReport *r, const PmProfileOpts *o);

#endif
