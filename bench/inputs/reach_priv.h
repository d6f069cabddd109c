/* SPDX-License-Identifier: Apache-2.0 */
/* reach_priv.h - what a run of the reference as a whole and one by rows look at alike. */
#ifndef BENCH_REACH_PRIV_H
#define BENCH_REACH_PRIV_H

#include "bench/inputs/reach.h"

/* Adds the kinds of values that a node's results have, ties and branches. Which of `known` are known is not
 * looked for. `seen` is by node id of the call's graph. */
void pm__reach_note(const PmRefCall *c, unsigned known, PmReached *r, PmBranches *seen);
/* Why a node's operands are too large to be compared, or NULL. */
const char *pm__reach_too_large(const PmRefCall *c);
/* Elements of result k beyond the range of its type, with `room` for another order of operations. */
int64_t pm__reach_beyond(const PmRefCall *c, size_t k, double room);
/* 1 when so many of a result's elements are beyond it that nothing is compared; `why` says it. */
int pm__reach_leaves(int64_t beyond, int64_t numel, const char **why);
/* "node: why" into *err. */
PmStatus pm__reach_refuse(const PmGraph *g, PmNode n, const char *why, PmErr *err);

/* 1 when the reference may run on parts of a graph's rows: it is large, has rows, and what is looked for
 * needs no two rows at once. */
int pm__reach_is_by_rows(const PmGraph *g);
/* As the run of the whole: PM_OK, *r and *seen (by node id of g) with what was added; PM_DECLINED and *err
 * where it has to stop by `how`. Another status: the reference refuses a part, and the whole says why. */
PmStatus pm__reach_by_rows(const PmGraph *g, const PmTensor *in, int how, double room, PmReached *r,
			   PmBranches *seen, PmErr *err);

#endif
