/* SPDX-License-Identifier: Apache-2.0 */
/* layer_norm_2d.c - layer normalisation over the channels of an image as one kernel.
 *
 *   y = LayerNormalization(transpose(x))                    x [B, C, h, w] (or reshaped to [B, C, h w]),
 * channels last y = transpose(LayerNormalization(transpose(x)))         and back
 *
 * With E bytes per element: apart, a transposed copy 2 E, the norm 2 E, and a copy back 2 E: 2 or 3 launches
 * and 4 or 6 E; here 1 launch and 2 E, turned in shared memory.
 *
 * Mined: 1360 places in 95 of 811 models; in 13 of the 400 structures with most time at stake, the first
 * of rank 36. Measured on an H200: 1x96x56x56 float16 7.7 to 4.5 us (1.73x), PyTorch 11.9, TorchInductor
 * 4.1; 1x384x14x14 float16 7.9 to 4.0 us (2.00x), PyTorch 7.9, TorchInductor 9.4.
 */
#include "../../common/choose.h"
#include "../../common/shapes.h"

#include "layer_norm_2d.cu.h"

enum { X, SCALE, BIAS, NORM };

enum { MAX_SHARED = 48 * 1024 /* bytes that every device has */ };

/* Rows of so many places in shared memory: layer_norm_2d.cu. */
static int64_t shared_for(int64_t c, int64_t bytes, int64_t places)
{
	return places * ((c + 16 / bytes) * bytes + 16);
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
	if (shared_for(c, pm_dtype_bytes(pm_dtype(norm)), 1) > MAX_SHARED ||
	    n / c / pm_dim(norm, 0) > INT32_MAX / 2 || pm_dim(norm, 0) > 65535)
		return pm_decline(m, "there are more channels, places or images than the kernel can hold");
	if (c < 16)
		return pm_decline(m, "with so few channels float does not hold the deviations");
	if (!only_leaves(m, m->root))
		return pm_decline(m, "a value in between is used outside");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	static const uint32_t choice[][2] = { { 8, 128 }, { 8, 256 } }; /* places and threads of a block */
	enum { N_CHOICE = sizeof choice / sizeof *choice, N_DEFINE = 5 };
	PmVal norm = m->v[NORM];
	int64_t c = pm_dim(norm, -1), b = pm_dim(norm, 0), q = pm_numel(norm) / c / b;
	int64_t bytes = pm_dtype_bytes(pm_dtype(norm)), row_n = c % (16 / bytes) ? 1 : 16 / bytes;
	PmArgs arg = PM_ARGS(I32(c), I32(q), F32(1.0 / (double)c), F32(pm_attr_f(norm, "epsilon", 1e-5)));
	PmKernelSpec spec[N_CHOICE] = { 0 };
	PmDefine define[N_CHOICE][N_DEFINE];
	uint32_t k, j;

	for (k = 0; k < N_CHOICE; k++) {
		int64_t width = choice[k][0], in_n;
		uint32_t threads = choice[k][1];

		for (; shared_for(c, bytes, width) > MAX_SHARED; width /= 2)
			threads = threads > 32 ? threads / 2 : 32;
		in_n = load_size(q | width, norm);
		const PmDefine d[N_DEFINE] = { DEF(BACK, !pm_same(norm, m->root)), DEF(WIDTH, width),
					       DEF(THREADS, threads), DEF(IN_N, in_n), DEF(ROW_N, row_n) };

		for (j = 0; j < N_DEFINE; j++)
			define[k][j] = d[j];
		spec[k] = (PmKernelSpec){ .entry = "layer_norm_2d",
					  .source = layer_norm_2d_cu,
					  .grid = { pm_blocks(q, width), (uint32_t)b },
					  .block = { threads },
					  .smem = (uint32_t)shared_for(c, bytes, width),
					  .arg = arg,
					  .define = { define[k], N_DEFINE } };
	}
	return replace_with_any(rw, spec, N_CHOICE, PM_VALS(m->v[X], m->v[SCALE], m->v[BIAS]), m->root);
}

#define MOVED      ANYATTR(OP(Transpose, ANYATTR(OPT(Reshape, TYPED(V(X), FLOATS, -1)))))
#define LAYER_NORM AS(NORM, WITH(ANYATTR(OP(LayerNormalization, MOVED, V(SCALE), V(BIAS))), INT(axis, -1)))

PM_RULE(layer_norm_2d_back, .doc = "Transpose, LayerNormalization, Transpose -> one kernel",
	.pattern = ANYATTR(OP(Transpose, LAYER_NORM)), .check = check, .rewrite = rewrite);
PM_RULE(layer_norm_2d, .doc = "Transpose, LayerNormalization -> one kernel", .pattern = LAYER_NORM,
	.check = check, .rewrite = rewrite);

PM_PLUGIN("layer_norm_2d", "1", &layer_norm_2d_back, &layer_norm_2d)
