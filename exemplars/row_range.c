/* SPDX-License-Identifier: Apache-2.0 */
/* row_range.c - the largest minus the smallest element of each row, in one kernel that reads x once. */
#include "passmith/dsl.h"

enum { X };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void row_range(const T *x, T *y, long long rows, int len)
	{
		const long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y;
		const T *p = x + (row < rows ? row : 0) * len;
		float most = ld(p[0]);
		float least = most;
		for (int i = threadIdx.x; i < len; i += 32) {
			const float v = ld(p[i]);
			most = pm_max(most, v);
			least = pm_min(least, v);
		}
		most = pm_warp_max(most);
		least = pm_warp_min(least);
		if (threadIdx.x == 0 && row < rows)
			y[row] = st(most - least);
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	if (pm_numel(m->v[X]) <= 0 || pm_dim(m->v[X], -1) > INT32_MAX)
		return pm_decline(m, "x is empty, or its size is not known or too large");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t rows = pm_numel(m->root), len = pm_dim(m->v[X], -1);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "row_range", .source = SRC,
				      .grid = { pm_blocks(rows, 4) }, .block = { 32, 4 },
				      .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(rows), I32(len)),
				      .like = m->root);
}

#define BY_ROW(p) WITH(p, INTS(axes, -1), INT(keepdims, 0))

PM_RULE(row_range, .doc = "ReduceMax(x) - ReduceMin(x) by row -> one kernel",
	.pattern = OP(Sub, BY_ROW(OP(ReduceMax, TYPED(V(X), FLOATS, -1))), BY_ROW(OP(ReduceMin, V(X)))),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("row_range", "1", &row_range)
