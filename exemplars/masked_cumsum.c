/* SPDX-License-Identifier: Apache-2.0 */
/* masked_cumsum.c - running sums of x * mask along the last axis as one kernel. */
#include "passmith/dsl.h"

enum { X, MASK, AXIS };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void masked_cumsum(const T *x, const T *mask, T *y, long long rows, int len)
	{
		const long long row = blockIdx.x * (long long)blockDim.y + threadIdx.y;
		const long long at = (row < rows ? row : 0) * len;
		const int lane = threadIdx.x;
		float before = 0.f;
		for (int first = 0; first < len; first += 32) {
			const int i = first + lane;
			float v = i < len ? ld(x[at + i]) * ld(mask[at + i]) : 0.f;
			for (int d = 1; d < 32; d *= 2) {
				const float left = __shfl_up_sync(0xffffffffu, v, d);
				v += lane >= d ? left : 0.f;
			}
			if (i < len && row < rows)
				y[at + i] = st(before + v);
			before += __shfl_sync(0xffffffffu, v, 31);
		}
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	int64_t axis;

	if (!pm_same_type(m->v[X], m->v[MASK]))
		return pm_decline(m, "x and the mask differ in type or shape");
	if (pm_numel(m->v[X]) <= 0 || pm_dim(m->v[X], -1) > INT32_MAX)
		return pm_decline(m, "x is empty, or its size is not known or too large");
	if (pm_ints(m->v[AXIS], &axis, 1) != 1 || (axis != -1 && axis != pm_rank(m->v[X]) - 1))
		return pm_decline(m, "the axis is not the last one, or no constant");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t len = pm_dim(m->v[X], -1), rows = pm_numel(m->v[X]) / len;

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "masked_cumsum", .source = SRC,
				      .grid = { pm_blocks(rows, 4) }, .block = { 32, 4 },
				      .in = PM_VALS(m->v[X], m->v[MASK]), .arg = PM_ARGS(I64(rows), I32(len)),
				      .like = m->root);
}

PM_RULE(masked_cumsum, .doc = "CumSum(x * mask) along the last axis -> one kernel",
	.pattern = OP(CumSum, OP(Mul, TYPED(V(X), FLOATS, -1), V(MASK)), V(AXIS)), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("masked_cumsum", "1", &masked_cumsum)
