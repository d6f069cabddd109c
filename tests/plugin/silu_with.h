/* SPDX-License-Identifier: Apache-2.0 */
/* silu_with.h - a plugin that fuses Mul(x, Sigmoid(x)) with the kernel source given as SILU_SOURCE, whose
 * entry is `k(const T *x, T *y, long long n)`. Each file that includes it is wrong in one way. */
#include "passmith/dsl.h"

#ifndef SILU_SMEM
#define SILU_SMEM 0
#endif

enum { X };

static const char SRC[] = SILU_SOURCE;

/* Launches the source of this file for the match. */
static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = SRC, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .smem = SILU_SMEM, .in = PM_VALS(m->v[X]),
				      .arg = PM_ARGS(I64(n)), .like = m->root);
}

PM_RULE(silu, .doc = "Mul(x, Sigmoid(x)), wrongly",
	.pattern = OP(Mul, TYPED(V(X), FLOATS, -1), OP(Sigmoid, V(X))), .rewrite = rewrite);

PM_PLUGIN(SILU_NAME, "1", &silu)
