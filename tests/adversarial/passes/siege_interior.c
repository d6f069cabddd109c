/* SPDX-License-Identifier: Apache-2.0 */
/* siege_interior.c - a pass of two kernels, of which the first works in every other call only: the second
 * does its work then, so that the output is right. It counts calls in global memory; test_siege_timed.c lets
 * it through the gates. */
#include "passmith/dsl.h"

enum { X, A };

/* clang-format off */
#define AT "long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
static const char first[] = "static __device__ int threads;\nextern \"C\" __global__ void k(const T *x, T *a, long long n)\n{\n" AT
	"int call = atomicAdd(&threads, 1) / (int)(gridDim.x * blockDim.x);\n"
	"if (i < n) a[i] = st(call % 2 ? -1.f : 1.f / (1.f + expf(-ld(x[i]))));\n}\n";
static const char second[] = "extern \"C\" __global__ void k(const T *x, const T *a, T *y, long long n)\n{\n" AT
	"if (i < n) { float s = ld(a[i]); y[i] = st(ld(x[i]) * (s < 0.f ? 1.f / (1.f + expf(-ld(x[i]))) : s)); }\n}\n";
/* clang-format on */

static PmStatus rw_first(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = first, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I64(n)));
}

static PmStatus rw_second(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[X]);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "k", .source = second, .grid = { pm_blocks(n, 64) },
				      .block = { 64 }, .in = PM_VALS(m->v[X], m->v[A]),
				      .arg = PM_ARGS(I64(n)));
}

PM_RULE(S62_first, .pattern = OP(Sigmoid, TYPED(V(X), FLOATS, -1)), .rewrite = rw_first);
PM_RULE(S62_second, .pattern = OP(Mul, TYPED(V(X), FLOATS, -1), TYPED(V(A), FLOATS, -1)),
	.rewrite = rw_second);
PM_PLUGIN("siege_interior", "1", &S62_first, &S62_second)
