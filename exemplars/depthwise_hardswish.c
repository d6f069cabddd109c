/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_hardswish.c - a depthwise convolution with bias and the hard swish behind it as one kernel. */
#include "passmith/dsl.h"

enum { X, W, BIAS, CONV };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void depthwise_hardswish(const T *x, const T *w, const T *bias, T *y, int filters, int each, int ih, int iw, int oh, int ow, int kh,
						       int kw, int sh, int sw, int top, int left, int dh, int dw)
	{
		const int ox = blockIdx.x * blockDim.x + threadIdx.x;
		const int oy = blockIdx.y;
		const int filter = blockIdx.z % filters;
		if (ox >= ow)
			return;
		const T *image = x + blockIdx.z / each * (long long)ih * iw;
		const T *weight = w + filter * (long long)kh * kw;
		float v = ld(bias[filter]);
		for (int i = 0; i < kh; i++) {
			const int iy = oy * sh - top + i * dh;
			if (iy < 0 || iy >= ih)
				continue;
			float row = 0.f;
			for (int j = 0; j < kw; j++) {
				const int ix = ox * sw - left + j * dw;
				if (ix >= 0 && ix < iw)
					row += ld(image[iy * (long long)iw + ix]) * ld(weight[i * kw + j]);
			}
			v += row;
		}
		const float gate = v < -3.f ? 0.f : v > 3.f ? 1.f : v / 6.f + 0.5f;
		y[(blockIdx.z * (long long)oh + oy) * ow + ox] = st(v * gate);
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], w = m->v[W], y = m->root;
	int64_t c = pm_dim(x, 1), pads[4];
	int32_t k;

	for (k = 0; k < 4; k++)
		if (pm_dim(x, k) < 1 || pm_dim(x, k) > 65535 || pm_dim(y, k) < 1 || pm_dim(w, k) < 1)
			return pm_decline(m, "a size is not known, empty or too large");
	if (pm_attr_i(m->v[CONV], "group", 1) != c || pm_dim(w, 1) != 1)
		return pm_decline(m, "the convolution is not depthwise");
	if (pm_dim(x, 0) * pm_dim(w, 0) > 65535 || pm_dim(y, 2) > 65535)
		return pm_decline(m, "there are more images or rows than a grid has blocks");
	if (!pm_same_dtype(x, w) || !pm_same_dtype(x, m->v[BIAS]))
		return pm_decline(m, "the operands differ in type");
	if (pm_attr_ints(m->v[CONV], "pads", pads, 4) != 4)
		return pm_decline(m, "the padding is not known");
	if (m->out.n > 1)
		return pm_decline(m, "the convolution is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x = m->v[X], w = m->v[W], y = m->root;
	int64_t s[2] = { 1, 1 }, d[2] = { 1, 1 }, pads[4] = { 0 };

	pm_attr_ints(m->v[CONV], "strides", s, 2);
	pm_attr_ints(m->v[CONV], "dilations", d, 2);
	pm_attr_ints(m->v[CONV], "pads", pads, 4);
	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "depthwise_hardswish", .source = SRC,
				      .grid = { pm_blocks(pm_dim(y, 3), 64), (uint32_t)pm_dim(y, 2),
						(uint32_t)(pm_dim(x, 0) * pm_dim(w, 0)) },
				      .block = { 64 }, .in = PM_VALS(x, w, m->v[BIAS]),
				      .arg = PM_ARGS(I32(pm_dim(w, 0)), I32(pm_dim(w, 0) / pm_dim(x, 1)),
						     I32(pm_dim(x, 2)), I32(pm_dim(x, 3)), I32(pm_dim(y, 2)),
						     I32(pm_dim(y, 3)), I32(pm_dim(w, 2)), I32(pm_dim(w, 3)),
						     I32(s[0]), I32(s[1]), I32(pads[0]), I32(pads[1]),
						     I32(d[0]), I32(d[1])),
				      .like = y);
}

PM_RULE(depthwise_hardswish, .doc = "HardSwish of a depthwise Conv with bias -> one kernel",
	.pattern = OP(HardSwish,
		      AS(CONV, ANYATTR(OP(Conv, TYPED(V(X), FLOATS, 4), TYPED(V(W), FLOATS, 4), V(BIAS))))),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("depthwise_hardswish", "1", &depthwise_hardswish)
