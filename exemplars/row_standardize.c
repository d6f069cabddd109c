/* SPDX-License-Identifier: Apache-2.0 */
/* row_standardize.c - (x - mean) / (deviation + eps) over the last axis, written as seven operators, as one
 * kernel. */
#include "passmith/dsl.h"

enum { X, D, EPS };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void row_standardize(const T *x, T *y, int len, float eps)
	{
		x += blockIdx.x * (long long)len;
		y += blockIdx.x * (long long)len;
		float v = 0.f;
		for (int i = threadIdx.x; i < len; i += blockDim.x)
			v += ld(x[i]);
		const float mean = pm_block_sum(v) / (float)len;
		v = 0.f;
		for (int i = threadIdx.x; i < len; i += blockDim.x) {
			const float d = ld(x[i]) - mean;
			v += d * d;
		}
		const float scale = 1.f / (sqrtf(pm_block_sum(v) / (float)len) + eps);
		for (int i = threadIdx.x; i < len; i += blockDim.x)
			y[i] = st((ld(x[i]) - mean) * scale);
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	double eps;

	if (pm_numel(m->v[X]) <= 0 || pm_dim(m->v[X], -1) > INT32_MAX)
		return pm_decline(m, "x is empty, or its size is not known or too large");
	if (pm_numel(m->v[X]) / pm_dim(m->v[X], -1) > INT32_MAX)
		return pm_decline(m, "there are more rows than a grid has blocks");
	if (!pm_scalar(m->v[EPS], &eps) || !(eps > 0))
		return pm_decline(m, "eps is not one positive constant number");
	if (!pm_same_type(m->v[X], m->root))
		return pm_decline(m, "eps has more dimensions than x");
	if (m->out.n > 1)
		return pm_decline(m, "the centred values are used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t len = pm_dim(m->v[X], -1), rows = pm_numel(m->v[X]) / len;
	double eps = 0;

	pm_scalar(m->v[EPS], &eps);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "row_standardize", .source = SRC,
				      .grid = { (uint32_t)rows }, .block = { len > 512 ? 256 : 64 },
				      .in = PM_VALS(m->v[X]), .arg = PM_ARGS(I32(len), F32(eps)),
				      .like = m->root);
}

#define MEAN(p)   WITH(OP(ReduceMean, p), INTS(axes, -1))
#define CENTRED   AS(D, OP(Sub, TYPED(V(X), FLOATS, -1), MEAN(V(X))))
#define DEVIATION OP(Sqrt, MEAN(OP(Mul, V(D), V(D))))

PM_RULE(row_standardize, .doc = "(x - mean) / (deviation + eps) by row -> one kernel",
	.pattern = OP(Div, CENTRED, OP(Add, DEVIATION, V(EPS))), .check = check, .rewrite = rewrite);

PM_PLUGIN("row_standardize", "1", &row_standardize)
