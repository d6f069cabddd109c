/* SPDX-License-Identifier: Apache-2.0 */
/* charbonnier_loss.c - mean(sqrt((a - b)^2 + eps)) over everything: two launches, or one. */
#include "passmith/dsl.h"

enum { A, B, D, EPS };

enum { MAX_PARTS = 264, SMALL = 65536 };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	__device__ __forceinline__ float term(const T *a, const T *b, long long i, float eps)
	{
		const float d = ld(a[i]) - ld(b[i]);
		return sqrtf(d * d + eps);
	}
	extern "C" __global__ void partial(const T *a, const T *b, float *part, long long n, float eps)
	{
		float v = 0.f;
		for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x)
			v += term(a, b, i, eps);
		v = pm_block_sum(v);
		if (threadIdx.x == 0)
			part[blockIdx.x] = v;
	}
	extern "C" __global__ void finish(const float *part, T *y, int parts, long long n)
	{
		float v = 0.f;
		for (int i = threadIdx.x; i < parts; i += blockDim.x)
			v += part[i];
		v = pm_block_sum(v);
		if (threadIdx.x == 0)
			y[0] = st(v / (float)n);
	}
	extern "C" __global__ void at_once(const T *a, const T *b, T *y, long long n, float eps)
	{
		float v = 0.f;
		for (long long i = threadIdx.x; i < n; i += blockDim.x)
			v += term(a, b, i, eps);
		v = pm_block_sum(v);
		if (threadIdx.x == 0)
			y[0] = st(v / (float)n);
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	double eps;

	if (!pm_same_type(m->v[A], m->v[B]))
		return pm_decline(m, "a and b differ in type or shape");
	if (pm_numel(m->v[A]) <= 0)
		return pm_decline(m, "a is empty or its size is not known");
	if (!pm_scalar(m->v[EPS], &eps))
		return pm_decline(m, "eps is not one constant number");
	if (pm_numel(m->root) != 1)
		return pm_decline(m, "the mean is not over all axes");
	if (m->out.n > 1)
		return pm_decline(m, "the difference is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->v[A]);
	uint32_t parts = pm_blocks(n, 1024);
	double eps = 0;

	parts = parts > MAX_PARTS ? MAX_PARTS : parts;
	pm_scalar(m->v[EPS], &eps);
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .source = SRC, .in = PM_VALS(m->v[A], m->v[B]), .scratch = PM_SCRATCH(parts * 4),
		.like = m->root,
		.launch = PM_LAUNCHES(LAUNCH(.entry = "partial", .grid = { parts }, .block = { 256 },
					     .arg = PM_ARGS(IN(0), IN(1), SCR(0), I64(n), F32(eps))),
				      LAUNCH(.entry = "finish", .grid = { 1 }, .block = { 256 },
					     .arg = PM_ARGS(SCR(0), OUT(0), I32(parts), I64(n)))),
		.alt = n > SMALL ? NULL
				 : PM_ALTERNATIVE(.entry = "at_once", .source = SRC, .grid = { 1 },
						  .block = { 1024 },
						  .arg = PM_ARGS(IN(0), IN(1), OUT(0), I64(n), F32(eps))));
}

#define SQUARE OP(Mul, AS(D, OP(Sub, TYPED(V(A), FLOATS, -1), V(B))), V(D))

PM_RULE(charbonnier_loss, .doc = "mean(sqrt((a - b)^2 + eps)) -> one or two kernels",
	.pattern = ANYATTR(OP(ReduceMean, OP(Sqrt, OP(Add, SQUARE, V(EPS))))), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("charbonnier_loss", "1", &charbonnier_loss)
