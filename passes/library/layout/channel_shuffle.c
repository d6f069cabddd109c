/* SPDX-License-Identifier: Apache-2.0 */
/* channel_shuffle.c - two tensors put together by channels and shuffled (ShuffleNet) as one kernel.
 *
 *   y = reshape(transpose(reshape(concat(a, b, 1), [N, 2, C / 2, H, W]), 02134...), [N, C, H, W])
 *
 * With a and b of the same shape, channel 2 k of y is channel k of a, channel 2 k + 1 that of b. With E bytes
 * per element: apart, Concat 2 E and the transposed copy 2 E: 2 launches and 4 E; here 1 launch and 2 E.
 *
 * Mined: 32 places in 2 of 811 models; in 1 of the 400 structures with most time at stake, the first of
 * rank 190. Measured on an H200: 1x58x28x28 float16 5.8 to 3.0 us (1.95x), PyTorch 6.5, TorchInductor 2.7.
 */
#include "../../common/shapes.h"

enum { A, B, FIVE, MOVED };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	template<int N> __device__ void copy(const T *a, const T *b, T *y, long long n, long long plane)
	{
		for (long long i = (blockIdx.x * (long long)blockDim.x + threadIdx.x) * N; i < n; i += gridDim.x * (long long)blockDim.x * N) {
			const unsigned c = (unsigned)i / (unsigned)plane;
			const long long at = c / 2 * plane + (i - c * plane);
			pm_store<N>(y + i, pm_load<N>((c % 2 ? b : a) + at));
		}
	}
	extern "C" __global__ void shuffle_one(const T *a, const T *b, T *y, long long n, long long plane)
	{
		copy<1>(a, b, y, n, plane);
	}
	extern "C" __global__ void shuffle_vec(const T *a, const T *b, T *y, long long n, long long plane)
	{
		const int V = 16 / (int)sizeof(T);
		if (plane % V == 0 && pm_aligned(a, 16) && pm_aligned(b, 16) && pm_aligned(y, 16))
			copy<V>(a, b, y, n, plane);
		else
			copy<1>(a, b, y, n, plane);
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	PmVal a = m->v[A], y = m->root, five = m->v[FIVE];
	int32_t r = pm_rank(y), k;
	int64_t perm[8] = { 0, 2, 1 };

	if (pm_numel(y) <= 0 || pm_numel(y) > INT32_MAX || r < 3 || r > 6)
		return pm_decline(m, "y is empty, larger than the kernel can index, or no image");
	for (k = 3; k <= r; k++)
		perm[k] = k;
	if (!pm_same_type(a, m->v[B]))
		return pm_decline(m, "the two tensors differ in type or shape");
	if (pm_rank(five) != r + 1 || pm_dim(five, 1) != 2 || pm_dim(five, 2) != pm_dim(a, 1) ||
	    !has_perm(m->v[MOVED], r + 1, perm))
		return pm_decline(m, "the channels are not dealt out to two groups");
	for (k = 0; k < r; k++)
		if (pm_dim(y, k) != pm_dim(a, k) * (k == 1 ? 2 : 1))
			return pm_decline(m, "the last reshape does not put the channels together");
	if (m->out.n > 1)
		return pm_decline(m, "a value in between is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root), plane = pm_span(m->root, 2, pm_rank(m->root));
	int64_t vec = 16 / pm_dtype_bytes(pm_dtype(m->root));
	PmArgs arg = PM_ARGS(I64(n), I64(plane));

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "shuffle_vec", .source = SRC, .grid = { pm_blocks((n - 1) / vec + 1, 256) },
		.block = { 256 }, .in = PM_VALS(m->v[A], m->v[B]), .arg = arg, .like = m->root,
		.alt = PM_ALTERNATIVE(.entry = "shuffle_one", .source = SRC, .grid = { pm_blocks(n, 256) },
				      .block = { 256 }, .arg = arg));
}

#define JOINED WITH(OP(Concat, TYPED(V(A), FLOATS, -1), V(B)), INT(axis, 1))

PM_RULE(channel_shuffle, .doc = "two tensors joined by channels and shuffled -> one kernel",
	.pattern = ANYATTR(OP(Reshape,
			      AS(MOVED, ANYATTR(OP(Transpose, AS(FIVE, ANYATTR(OP(Reshape, JOINED, ANY)))))),
			      ANY)),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("channel_shuffle", "1", &channel_shuffle)
