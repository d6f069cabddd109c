/* SPDX-License-Identifier: Apache-2.0 */
/* masked_softmax.c - Softmax of a sum, as kernels make it that keep the sum in float or round it as the eager
 * run does; how is told by the rank. The last two are wrong in rows that are masked from end to end. */
#include "passmith/dsl.h"

enum { X, M };

/* clang-format off */
#define ROWS(sum, to, share) "__device__ float sum_of(const T *x, const T *m, long long at, long long r)\n{\n" \
	"float v = ld(x[at]) + ld(m[at]);\n" sum "return v;\n}\n" \
	"extern \"C\" __global__ void k(const T *x, const T *m, T *y, long long rows, int cols)\n{\n" \
	"long long r = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n" \
	"float top = -INFINITY, all = 0.f;\nif (r >= rows) return;\n" \
	"for (int j = 0; j < cols; j++) top = fmaxf(top, sum_of(x, m, r * cols + j, r));\n" \
	"for (int j = 0; j < cols; j++) all += expf(sum_of(x, m, r * cols + j, r) - top);\n" \
	"for (int j = 0; j < cols; j++) y[r * cols + " to "] = st(" share "expf(sum_of(x, m, r * cols + j, r) - top) / all);\n}\n"
/* clang-format on */

static PmStatus soft(PmRewriter *rw, PmMatch *m, const char *source)
{
	int64_t n = pm_numel(m->v[X]), cols = pm_dim(m->v[X], pm_rank(m->v[X]) - 1);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "k", .source = source, .grid = { pm_blocks(n / cols, 64) }, .block = { 64 },
		.in = PM_VALS(m->v[X], m->v[M]), .arg = PM_ARGS(I64(n / cols), I32(cols)));
}

#define RULE(id, rank, ...)                                                                                  \
	static PmStatus rw_##id(PmRewriter *rw, PmMatch *m)                                                  \
	{                                                                                                    \
		return soft(rw, m, ROWS(__VA_ARGS__));                                                       \
	}                                                                                                    \
	PM_RULE(id, .pattern = ANYATTR(OP(Softmax, OP(Add, TYPED(V(X), FLOATS, rank), V(M)))),               \
		.rewrite = rw_##id);

RULE(kept, 2, "", "j", "")
RULE(rounded, 3, "v = ld(st(v));\n", "j", "")
RULE(rounded_in_odd_rows, 4, "if (r & 1) v = ld(st(v));\n", "j", "")
RULE(zeros, 5, "", "j", "top < -60000.f ? 0.f : ")
RULE(neighbours, 6, "", "(top < -60000.f ? (j + 1) % cols : j)", "")

PM_PLUGIN("masked_softmax", "1", &kept, &rounded, &rounded_in_odd_rows, &zeros, &neighbours)
