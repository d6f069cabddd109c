/* SPDX-License-Identifier: Apache-2.0 */
/* looked_up_bias.c - Softmax of a sum with what a table has at positions that pass through a Reshape. Of rank
 * 2 it is right; of rank 3 each result is too large by 3 in a million, which no tolerance sees. */
#include "passmith/dsl.h"

enum { X, TABLE, AT };

/* clang-format off */
#define ROWS(share) "__device__ float sum_of(const T *x, const T *t, const long long *at, int n, long long r, int cols, int j)\n{\n" \
	"long long p = at[j];\nreturn ld(x[r * cols + j]) + ld(t[p < 0 ? p + n : p]);\n}\n" \
	"extern \"C\" __global__ void k(const T *x, const T *t, const long long *at, T *y, long long rows, int cols, int n)\n{\n" \
	"long long r = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" \
	"float top = -INFINITY, all = 0.f;\nif (r >= rows) return;\n" \
	"for (int j = 0; j < cols; j++) top = fmaxf(top, sum_of(x, t, at, n, r, cols, j));\n" \
	"for (int j = 0; j < cols; j++) all += expf(sum_of(x, t, at, n, r, cols, j) - top);\n" \
	"for (int j = 0; j < cols; j++) y[r * cols + j] = st(" share "expf(sum_of(x, t, at, n, r, cols, j) - top) / all);\n}\n"
/* clang-format on */

static PmStatus soft(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]), cols = pm_dim(m->v[X], pm_rank(m->v[X]) - 1);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = source,
				      .grid = { pm_blocks(n / cols, 64) }, .block = { 64 },
				      .in = PM_VALS(m->v[X], m->v[TABLE], m->v[AT]),
				      .arg = PM_ARGS(I64(n / cols), I32(cols), I32(pm_dim(m->v[TABLE], 0))));
}

#define RULE(id, rank, share)                                                                                \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m)                                                  \
	{                                                                                                    \
		return soft(rw, m, ROWS(share));                                                             \
	}                                                                                                    \
	PM_RULE(id,                                                                                          \
		.pattern = ANYATTR(OP(Softmax, OP(Add, TYPED(V(X), FLOATS, rank),                            \
						  ANYATTR(OP(Gather, V(TABLE), OP(Reshape, V(AT), ANY)))))), \
		.rewrite = rw_##id);

RULE(right, 2, "")
RULE(too_large, 3, "1.000003f * ")

PM_PLUGIN("looked_up_bias", "1", &right, &too_large)
