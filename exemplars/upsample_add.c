/* SPDX-License-Identifier: Apache-2.0 */
/* upsample_add.c - an image doubled by its nearest elements, added to a larger one, as one kernel. */
#include "passmith/dsl.h"

enum { LOW, SKIP, UP };

/* clang-format off */
static const char SRC[] = PM_CUDA(
	extern "C" __global__ void upsample_add(const T *low, const T *skip, T *y, int n, int w, int w_m, int w_s, int h, int h_m, int h_s)
	{
		const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
		if (i >= (unsigned)n)
			return;
		const pm_divisor by_w = { (unsigned)w, (unsigned)w_m, (unsigned)w_s };
		const pm_divisor by_h = { (unsigned)h, (unsigned)h_m, (unsigned)h_s };
		const unsigned row = by_w.quotient(i);
		const unsigned image = by_h.quotient(row);
		const unsigned from = (image * (h / 2) + (row - image * h) / 2) * (w / 2) + (i - row * w) / 2;
		y[i] = st(ld(low[from]) + ld(skip[i]));
	}
);
/* clang-format on */

/* Twice as large along the last two axes, and no other number that happens to give these sizes. */
static int is_doubled(PmVal up, PmVal low)
{
	double scale[4];
	int32_t n = pm_floats(pm_in(up, 2), scale, 4), k;

	for (k = 0; k < 4; k++)
		if (pm_dim(up, k) != pm_dim(low, k) * (k < 2 ? 1 : 2) ||
		    (n == 4 && scale[k] != (k < 2 ? 1 : 2)))
			return 0;
	return n == 4 || pm_in(up, 3).id;
}

static PmStatus check(PmMatch *m)
{
	PmVal up = m->v[UP];
	int64_t axes[4];

	if (!pm_str_same(pm_attr_s(up, "mode", "nearest"), "nearest") ||
	    !pm_str_same(pm_attr_s(up, "coordinate_transformation_mode", ""), "asymmetric") ||
	    !pm_str_same(pm_attr_s(up, "nearest_mode", ""), "floor"))
		return pm_decline(m, "the resize does not repeat each element");
	if (pm_attr_ints(up, "axes", axes, 4) > 0 || pm_numel(m->root) <= 0 || pm_numel(m->root) > INT32_MAX)
		return pm_decline(m, "the resize names its axes, or a size is not known or too large");
	if (!is_doubled(up, m->v[LOW]))
		return pm_decline(m, "the image is not doubled");
	if (!pm_same_type(m->v[SKIP], m->root) || !pm_same_type(up, m->root))
		return pm_decline(m, "the larger image has another type or shape");
	if (m->out.n > 1)
		return pm_decline(m, "the doubled image is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	int64_t n = pm_numel(m->root);

	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "upsample_add", .source = SRC, .grid = { pm_blocks(n, 256) },
		.block = { 256 }, .in = PM_VALS(m->v[LOW], m->v[SKIP]),
		.arg = PM_ARGS(I32(n), DIVISOR(pm_dim(m->root, 3)), DIVISOR(pm_dim(m->root, 2))),
		.like = m->root);
}

PM_RULE(upsample_add, .doc = "Resize(low) x 2 nearest + skip -> one kernel",
	.pattern = OP(Add, AS(UP, ANYATTR(OP(Resize, TYPED(V(LOW), FLOATS, 4), REST))), V(SKIP)),
	.check = check, .rewrite = rewrite);

PM_PLUGIN("upsample_add", "1", &upsample_add)
