/* SPDX-License-Identifier: Apache-2.0 */
/* time_pass.h - quick times of a graph that a pass has rewritten (passmith time --pass).
 *
 * For tables of many graphs: the pass is applied by the referee, its kernels run beside the eager baseline by
 * the clock's protocol with few blocks, and its outputs are compared once with the eager run's. That is no
 * evaluation: nothing else is judged (bench/eval/runner.h does that), so it is for passes whose author is
 * trusted.
 */
#ifndef APP_TIME_PASS_H
#define APP_TIME_PASS_H

#include "base/core/json.h"
#include "bench/timing/clock.h"
#include "runtime/worker/run.h"

typedef struct PmTimedPass {
	PmGraph *g;           /* owned: rewritten; NULL when the pass declined */
	int n_alts;           /* most alternatives of any kernel; 1 when g is NULL */
	int failed;           /* it did not decline, it went wrong */
	char why[PM_ERR_MAX]; /* why there is no g */
} PmTimedPass;

/* Applies the pass at `so` to each of n graphs, side by side on all processors, and fills out[0..n-1] (to be
 * released also after an error). A pass that declines or goes wrong leaves g NULL and its sentence in `why`;
 * an error is the referee's own, or PM_E_NOT_FOUND when there is no such file. */
PmStatus pm_timed_pass_apply(const char *so, PmGraph *const *g, size_t n, PmTimedPass *out, PmErr *err);
void pm_timed_pass_release(PmTimedPass *p);

/* Alternative `k` (its last where a kernel has fewer) for each kernel of p->g: *n of them, owned. */
int *pm_timed_pass_alts(const PmTimedPass *p, int k, size_t *n);

/* Times the rewritten graph against `original`, with the alternative that short looks find fastest when
 * replayed; fills *t (side 0 the original, 1 the rewritten one, 2 the control) and *smallest_t, the tolerance
 * level at which the outputs agree with the original's on the same device. *agreeing: seconds that finding
 * out took. */
PmStatus pm_timed_pass_time(PmWorker *w, const char *device, const PmTimedPass *p, const PmGraph *original,
			    const PmClockOpts *opts, PmTiming *t, double *agreeing, int *smallest_t,
			    PmErr *err);

#endif
