/* SPDX-License-Identifier: Apache-2.0 */
/* channel_standardize.c - (image - mean) / deviation with one mean and deviation per channel as one kernel.
 */
#include "passmith/dsl.h"

enum { X, MEAN, DEV };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void channel_standardize(const T *x, const T *mean, const T *dev, T *y, int n, int plane, int plane_m,
						       int plane_s, int c, int c_m, int c_s)
	{
		const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i >= (unsigned)n)
			return;
		const pm_divisor by_plane = { (unsigned)plane, (unsigned)plane_m, (unsigned)plane_s };
		const pm_divisor by_c = { (unsigned)c, (unsigned)c_m, (unsigned)c_s };
		const unsigned k = by_c.rest(by_plane.quotient(i));
		y[i] = st((ld(x[i]) - ld(mean[k])) / ld(dev[k]));
	}
);
/* clang-format on */

/* One element per channel of the image, and of its type. */
static int is_per_channel(PmVal v, PmVal image)
{
	int32_t r = pm_rank(v);

	return (r == 3 || r == 4) && pm_same_dtype(v, image) && pm_same_dim(v, r - 3, image, 1) &&
	       pm_numel(v) == pm_dim(image, 1);
}

static PmStatus check(PmMatch *m)
{
	if (pm_numel(m->v[X]) <= 0 || pm_numel(m->v[X]) > INT32_MAX)
		return pm_decline(m, "the image is empty, or its size is not known or too large");
	if (!is_per_channel(m->v[MEAN], m->v[X]) || !is_per_channel(m->v[DEV], m->v[X]))
		return pm_decline(m, "mean or deviation does not have one element per channel");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x = m->v[X];
	int64_t n = pm_numel(x);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "channel_standardize", .source = SRC, .grid = { pm_blocks(n, 256) },
		.block = { 256 }, .in = PM_VALS(x, m->v[MEAN], m->v[DEV]),
		.arg = PM_ARGS(I32(n), DIVISOR(pm_span(x, 2, 4)), DIVISOR(pm_dim(x, 1))), .like = m->root);
}

PM_RULE(channel_standardize, .doc = "(x - mean) / deviation by channel -> one kernel",
	.pattern = OP(Div, OP(Sub, TYPED(V(X), FLOATS, 4), V(MEAN)), V(DEV)), .check = check,
	.rewrite = rewrite);

PM_PLUGIN("channel_standardize", "1", &channel_standardize)
