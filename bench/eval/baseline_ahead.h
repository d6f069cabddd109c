/* SPDX-License-Identifier: Apache-2.0 */
/* baseline_ahead.h - the baseline's kernels are compiled, or found in the cache, while the candidate is
 * judged.
 *
 * A clock needs them first of all, and a task that is evaluated for the first time has none: seconds in which
 * nothing else would happen. A process of its own does it, which holds nothing of the candidate and does not
 * open the device (contexts are made one after the other), and has ended before anything is timed. */
#ifndef BENCH_BASELINE_AHEAD_H
#define BENCH_BASELINE_AHEAD_H

#include "ir/core/graph.h"

typedef struct PmBaselineAhead PmBaselineAhead;

/* Starts compiling the eager kernels of `g` (borrowed until the end) for a GPU of compute capability cc, but
 * for what a library does there; NULL when no process can be had: then the clock compiles them itself. */
PmBaselineAhead *pm_baseline_ahead_begin(int cc, const PmGraph *g);
/* Waits until it is done, or ends it there and then. Errors are left for the clock to meet. NULL is allowed.
 */
void pm_baseline_ahead_end(PmBaselineAhead *a, int wait);

#endif
