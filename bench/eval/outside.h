/* SPDX-License-Identifier: Apache-2.0 */
/* outside.h - what a rewritten graph leaves outside of its kernels, as a graph that can be timed by itself.
 *
 * Its inputs are the candidate's inputs and the kernels' results, as far as they are read; its outputs are
 * what kernels read, the candidate's outputs, and whatever else nothing outside reads: so everything in it is
 * needed.
 */
#ifndef BENCH_OUTSIDE_H
#define BENCH_OUTSIDE_H

#include "ir/core/graph.h"

/* *out is owned, or NULL when there are only kernels. `candidate` is sorted and its types are static. */
PmStatus pm_outside(const PmGraph *candidate, PmGraph **out, PmErr *err);

#endif
