/* layer_norm_2d.c - layer normalisation over the channels of an image as one kernel.
 *
 *   y = LayerNormalization(transpose(x))                    x [B, C, h, w] (or reshaped to [B, C, h w]),
 * channels last y = transpose(LayerNormalization(transpose(x)))         and back
 *
 * With E bytes per element: apart, a transposed copy 2 E, the norm 2 E, and a copy back 2 E: 2 or 3 launches
 * and 4 or 6 E; here 1 launch and 2 E, turned in shared memory.
 *
 * Mined: 1360 places in 95 of 811 models; in 13 of the 400 structures with most time at stake, the first
 * of rank 36. Measured on an H200: 1x96x56x56 float16 7.8 to 7.3 us (1.07x), PyTorch 11.5, TorchInductor
 * 4.3; 1x384x14x14 float16 8.0 to 8.7 us (0.91x), PyTorch 8.0, TorchInductor 9.3.
 */
#include "shapes.h"

#include "layer_norm_2d.cu.h"

enum { X, SCALE, BIAS, NORM };

enum {
	MAX_SHARED = 48 * 1024 / 4, /* floats that every device has */
	ENOUGH_BLOCKS = 264
};

/* Places of a block, as a power of two: as many as fit and leave enough blocks; -1 when not even one fits. */
static int shift_for(int64_t c, int64_t places)
{
	int shift = 5;

	while (shift >= 0 &&
	       (c * ((1 << shift) + 1) > MAX_SHARED || (shift > 0 && places >> shift < ENOUGH_BLOCKS)))
		shift--;
	return shift;
}

static uint32_t shared_for(int64_t c, int shift)
{
	return (uint32_t)(c * ((1 << shift) + 1) * 4);
}

/* 1 when the Transpose moves axis 1 last, or, `back`, the last axis to 1. */
static int moves_channels(PmVal t, int back)
{
	static const int64_t there[2][4] = { { 0, 2, 1 }, { 0, 2, 3, 1 } }, again[4] = { 0, 3, 1, 2 };
	int32_t r = pm_rank(t);

	return (r == 3 && has_perm(t, 3, there[0])) || (r == 4 && has_perm(t, 4, back ? again : there[1]));
}

static PmStatus check(PmMatch *m)
{
	PmVal norm = m->v[NORM], moved = pm_in(norm, 0), x = m->v[X];
	int64_t c = pm_dim(norm, -1), n = pm_numel(norm);

	if (n <= 0 || c < 1)
		return pm_decline(m, "x is empty or its size is not known");
	if (!moves_channels(moved, 0) || pm_dim(x, 0) != pm_dim(norm, 0) || pm_dim(x, 1) != c)
		return pm_decline(m, "the transpose does not move the channels last");
	if (!pm_same(norm, m->root) && !moves_channels(m->root, 1))
		return pm_decline(m, "the second transpose does not move the channels back");
	if (!is_column_vector(m->v[SCALE], norm) || !is_column_vector(m->v[BIAS], norm))
		return pm_decline(m,
				  "scale or bias has another element type, or not one element per channel");
	if (pm_attr_i(norm, "stash_type", 1) != 1)
		return pm_decline(m, "mean and variance are asked for in another precision than float");
	if (shift_for(c, n / c) < 0 || n / c / pm_dim(norm, 0) > INT32_MAX / 2 || pm_dim(norm, 0) > 65535)
		return pm_decline(m, "there are more channels, places or images than the kernel can hold");
	if (c < 16)
		return pm_decline(m, "with so few channels float does not hold the deviations");
	if (!only_leaves(m, m->root))
		return pm_decline(m, "a value in between is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	PmVal norm = m->v[NORM];
	int64_t c = pm_dim(norm, -1), b = pm_dim(norm, 0), q = pm_numel(norm) / c / b;
	int narrow = shift_for(c, b * q), wide = narrow + 2;
	PmVals in = PM_VALS(m->v[X], m->v[SCALE], m->v[BIAS]);
	PmDefines define = PM_DEFINES(DEF(BACK, !pm_same(norm, m->root)));
	float eps = (float)pm_attr_f(norm, "epsilon", 1e-5);
	const PmKernelSpec *alt = PM_ALTERNATIVE(.entry = "layer_norm_2d", .source = layer_norm_2d_cu,
						 .grid = { pm_blocks(q, 1 << wide), (uint32_t)b },
						 .block = { 256 }, .smem = shared_for(c, wide),
						 .arg = PM_ARGS(I32(c), I32(q), I32(wide), F32(eps)),
						 .define = define);

	return PM_REPLACE_WITH_KERNEL(rw, m, .entry = "layer_norm_2d", .source = layer_norm_2d_cu,
				      .grid = { pm_blocks(q, 1 << narrow), (uint32_t)b }, .block = { 128 },
				      .smem = shared_for(c, narrow), .in = in,
				      .arg = PM_ARGS(I32(c), I32(q), I32(narrow), F32(eps)), .define = define,
				      .like = m->root,
				      .alt = wide > 5 || shared_for(c, wide) > MAX_SHARED * 4 ? 0 : alt);
}

#define MOVED      ANYATTR(OP(Transpose, ANYATTR(OPT(Reshape, TYPED(V(X), FLOATS, -1)))))
#define LAYER_NORM AS(NORM, WITH(ANYATTR(OP(LayerNormalization, MOVED, V(SCALE), V(BIAS))), INT(axis, -1)))

PM_RULE(layer_norm_2d_back, .doc = "Transpose, LayerNormalization, Transpose -> one kernel",
	.pattern = ANYATTR(OP(Transpose, LAYER_NORM)), .check = check, .rewrite = rewrite);
PM_RULE(layer_norm_2d, .doc = "Transpose, LayerNormalization -> one kernel", .pattern = LAYER_NORM,
	.check = check, .rewrite = rewrite);

PM_PLUGIN("layer_norm_2d", "1", &layer_norm_2d_back, &layer_norm_2d)
