/* SPDX-License-Identifier: Apache-2.0 */
/* profile_time.h - how long the rewritten graph takes on the GPU (private to app/profile). */
#ifndef APP_PROFILE_TIME_H
#define APP_PROFILE_TIME_H

#include "app/profile/report.h"

/* Looks at the GPU: r->cc and r->n_sm become its own, and r->same_gpu whether r->target describes it.
 * PM_E_ENV when there is none. */
PmStatus pm__profile_gpu(PmProfileReport *r, PmErr *err);
/* Times the rewritten graph beside the original `g`, both from cold caches, once its kernels have passed the
 * gates that an evaluation has; fills r->seconds, or r->why_not_timed. */
void pm__profile_time(PmProfileReport *r, const PmGraph *g, const PmProfileOpts *o);

#endif
