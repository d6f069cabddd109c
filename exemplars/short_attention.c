/* SPDX-License-Identifier: Apache-2.0 */
/* short_attention.c - softmax(scale * (q @ kt)) @ v as one kernel, a block for each query. */
#include "passmith/dsl.h"

enum { Q, KT, VALUE, SCALE };

enum { MOST_SHARED = 48 * 1024, THREADS = 128 };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void short_attention(const T *q, const T *kt, const T *v, T *y, int queries, int keys, int width, int out, float scale)
	{
		extern __shared__ float p[];
		const long long row = blockIdx.x;
		const long long image = row / queries;
		q += row * width;
		kt += image * width * keys;
		v += image * keys * out;
		float most = -INFINITY;
		for (int j = threadIdx.x; j < keys; j += blockDim.x) {
			float s = 0.f;
			for (int i = 0; i < width; i++)
				s += ld(q[i]) * ld(kt[i * (long long)keys + j]);
			p[j] = s * scale;
			most = pm_max(most, p[j]);
		}
		most = pm_block_max(most);
		float sum = 0.f;
		for (int j = threadIdx.x; j < keys; j += blockDim.x) {
			p[j] = expf(p[j] - most);
			sum += p[j];
		}
		sum = pm_block_sum(sum);
		for (int i = threadIdx.x; i < out; i += blockDim.x) {
			float s = 0.f;
			for (int j = 0; j < keys; j++)
				s += p[j] * ld(v[j * (long long)out + i]);
			y[row * out + i] = st(s / sum);
		}
	}
);
/* clang-format on */

/* All but the last two axes of a and b are the same. */
static int same_batch(PmVal a, PmVal b)
{
	int32_t r = pm_rank(a), k;

	if (r < 2 || r != pm_rank(b))
		return 0;
	for (k = 0; k < r - 2; k++)
		if (!pm_same_dim(a, k, b, k))
			return 0;
	return 1;
}

static PmStatus check(PmMatch *m)
{
	PmVal q = m->v[Q], kt = m->v[KT], v = m->v[VALUE];
	double scale;

	if (!same_batch(q, kt) || !same_batch(q, v))
		return pm_decline(m, "the operands differ in their first axes");
	if (!pm_same_dtype(q, kt) || !pm_same_dtype(q, v))
		return pm_decline(m, "the operands differ in type");
	if (pm_numel(q) <= 0 || pm_numel(kt) <= 0 || pm_numel(v) <= 0 || pm_numel(q) > INT32_MAX ||
	    pm_dim(v, -1) > INT32_MAX)
		return pm_decline(m, "an operand is empty, or its size is not known or too large");
	if (pm_dim(kt, -1) * 4 > MOST_SHARED)
		return pm_decline(m, "a row of scores does not fit into shared memory");
	if (!pm_scalar(m->v[SCALE], &scale))
		return pm_decline(m, "the scale is not one constant number");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal q = m->v[Q], kt = m->v[KT], v = m->v[VALUE];
	int64_t width = pm_dim(q, -1), keys = pm_dim(kt, -1);
	double scale = 1;

	pm_scalar(m->v[SCALE], &scale);
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "short_attention", .source = SRC, .grid = { (uint32_t)(pm_numel(q) / width) },
		.block = { THREADS }, .smem = (uint32_t)keys * 4, .in = PM_VALS(q, kt, v),
		.arg = PM_ARGS(I32(pm_dim(q, -2)), I32(keys), I32(width), I32(pm_dim(v, -1)), F32(scale)),
		.like = m->root);
}

#define SCORES OP(Mul, OP(MatMul, TYPED(V(Q), FLOATS, -1), V(KT)), V(SCALE))

PM_RULE(short_attention, .doc = "Softmax(scale * (q @ kt)) @ v -> one kernel",
	.pattern = OP(MatMul, WITH(OP(Softmax, SCORES), INT(axis, -1)), V(VALUE)), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("short_attention", "1", &short_attention)
