/* SPDX-License-Identifier: Apache-2.0 */
/* conv_bn_elu.c - any 2-D convolution, the batch norm and the activation behind it as one kernel. */
#include "passmith/dsl.h"

enum { X, W, SCALE, SHIFT, MEAN, VAR, CONV, NORM };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void conv_bn_elu(const T *x, const T *w, const float *scale, const float *shift, const float *mean, const float *var, T *y,
					       int channels, int group_in, int group_out, int ih, int iw, int oh, int ow, int kh, int kw,
					       int sh, int sw, int top, int left, int dh, int dw, float eps, float alpha)
	{
		const long long pixel = blockIdx.x * (long long)blockDim.x + threadIdx.x;
		const long long pixels = oh * (long long)ow;
		const int filter = blockIdx.y;
		if (pixel >= pixels)
			return;
		const int oy = (int)(pixel / ow);
		const int ox = (int)(pixel % ow);
		const T *image = x + (blockIdx.z * (long long)channels + filter / group_out * group_in) * ih * iw;
		const T *weight = w + filter * (long long)group_in * kh * kw;
		float sum = 0.f;
		float part = 0.f;
		int terms = 0;
		for (int c = 0; c < group_in; c++)
			for (int i = 0; i < kh; i++) {
				const int iy = oy * sh - top + i * dh;
				if (iy < 0 || iy >= ih)
					continue;
				const T *row = image + (c * (long long)ih + iy) * iw;
				const T *taps = weight + (c * (long long)kh + i) * kw;
				for (int j = 0; j < kw; j++) {
					const int ix = ox * sw - left + j * dw;
					if (ix < 0 || ix >= iw)
						continue;
					part += ld(row[ix]) * ld(taps[j]);
					if (++terms == 16) {
						sum += part;
						part = 0.f;
						terms = 0;
					}
				}
			}
		const float v = (sum + part - mean[filter]) / sqrtf(var[filter] + eps) * scale[filter] + shift[filter];
		y[(blockIdx.z * (long long)gridDim.y + filter) * pixels + pixel] = st(v >= 0.f ? v : alpha * expm1f(v));
	}
);
/* clang-format on */

static PmStatus check(PmMatch *m)
{
	PmVal x = m->v[X], w = m->v[W], y = m->root;
	int64_t groups = pm_attr_i(m->v[CONV], "group", 1), pads[4], two[2];
	int32_t k;

	for (k = 0; k < 4; k++)
		if (pm_dim(x, k) < 1 || pm_dim(x, k) > 65535 || pm_dim(y, k) < 1 || pm_dim(w, k) < 1)
			return pm_decline(m, "a size is not known, empty or too large");
	if (groups < 1 || pm_dim(w, 0) % groups || pm_dim(w, 1) * groups != pm_dim(x, 1))
		return pm_decline(m, "the filters do not fit the groups");
	if (pm_dim(w, 0) > 65535)
		return pm_decline(m, "there are more filters than a grid has blocks");
	if (!pm_same_dtype(x, w))
		return pm_decline(m, "the image and the filters differ in type");
	for (k = SCALE; k <= VAR; k++)
		if (pm_dtype(m->v[k]) != PM_F32 || pm_numel(m->v[k]) != pm_dim(w, 0))
			return pm_decline(m, "an operand of the batch norm is not one float for each filter");
	if (pm_attr_ints(m->v[CONV], "pads", pads, 4) != 4 ||
	    pm_attr_ints(m->v[CONV], "strides", two, 2) != 2 ||
	    pm_attr_ints(m->v[CONV], "dilations", two, 2) != 2)
		return pm_decline(m, "the padding, the strides or the dilations are not known");
	if (m->out.n > 1)
		return pm_decline(m, "a result in between is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal x = m->v[X], w = m->v[W], y = m->root;
	int64_t groups = pm_attr_i(m->v[CONV], "group", 1), s[2] = { 1, 1 }, d[2] = { 1, 1 }, pads[4] = { 0 };

	pm_attr_ints(m->v[CONV], "strides", s, 2);
	pm_attr_ints(m->v[CONV], "dilations", d, 2);
	pm_attr_ints(m->v[CONV], "pads", pads, 4);
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "conv_bn_elu", .source = SRC,
		.grid = { pm_blocks(pm_dim(y, 2) * pm_dim(y, 3), 128), (uint32_t)pm_dim(w, 0),
			  (uint32_t)pm_dim(x, 0) },
		.block = { 128 }, .in = PM_VALS(x, w, m->v[SCALE], m->v[SHIFT], m->v[MEAN], m->v[VAR]),
		.arg = PM_ARGS(I32(pm_dim(x, 1)), I32(pm_dim(w, 1)), I32(pm_dim(w, 0) / groups),
			       I32(pm_dim(x, 2)), I32(pm_dim(x, 3)), I32(pm_dim(y, 2)), I32(pm_dim(y, 3)),
			       I32(pm_dim(w, 2)), I32(pm_dim(w, 3)), I32(s[0]), I32(s[1]), I32(pads[0]),
			       I32(pads[1]), I32(d[0]), I32(d[1]),
			       F32(pm_attr_f(m->v[NORM], "epsilon", 1e-5)),
			       F32(pm_attr_f(m->root, "alpha", 1))),
		.like = y);
}

#define CONVOLUTION AS(CONV, ANYATTR(OP(Conv, TYPED(V(X), FLOATS, 4), TYPED(V(W), FLOATS, 4))))
#define NORMALISED                                                                                           \
	AS(NORM, WITH(ANYATTR(OP(BatchNormalization, CONVOLUTION, V(SCALE), V(SHIFT), V(MEAN), V(VAR))),     \
		      INT(training_mode, 0)))

PM_RULE(conv_bn_elu, .doc = "Elu of the batch norm of a 2-D Conv without bias -> one kernel",
	.pattern = ANYATTR(OP(Elu, NORMALISED)), .check = check, .rewrite = rewrite);

PM_PLUGIN("conv_bn_elu", "1", &conv_bn_elu)
