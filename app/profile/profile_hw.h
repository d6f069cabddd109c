/* SPDX-License-Identifier: Apache-2.0 */
/* profile_hw.h - hardware counters of the kernels of a report (private to app/profile). */
#ifndef APP_PROFILE_HW_H
#define APP_PROFILE_HW_H

#include "app/profile/report.h"

/* Runs the rewritten graph on the GPU, whose kernels have passed the gates, on inputs drawn by o->seed, and
 * fills in k->hw of the kernels that take most of the modelled time; r->why_no_hw when that went wrong. */
void pm__profile_hw(PmProfileReport *r, const PmProfileOpts *o);

#endif
