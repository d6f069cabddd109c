/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo_conv.c - algorithms of convolutions, and of images of one pixel. */
#include "runtime/cuda/library/lib_algo_priv.h"

#include "ir/core/type.h"

#include <limits.h>
#include <stddef.h>

/* --- pieces ----------------------------------------------------------------------------------------------
 */

/* The last step of channels-last algorithms: y from [n, places, channels]. */
static void turn_back(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z, PmAlgoPlace from)
{
	pm__algo_turn_stage(algo, pm__algo_arg(0), from, z->n, z->py, z->co, z->bytes, c->align[0]);
}

/* 1 for windows of one element that read each element of x once. */
static int single(const PmLibConv *v)
{
	for (int d = 0; d < v->spatial; d++)
		if (v->w[2 + d] != 1 || v->stride[d] != 1 || v->pad[d])
			return 0;
	return 1;
}

/* --- algorithms ---------------------------------------------------------------------------------------
 */

/* y = w x for each of the batch, x as [n, k, places] with rows of ld; y holds the bias already if there is
 * one. */
static void weights_times(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z, PmAlgoPlace x, int64_t ld)
{
	PmLibCall *g = pm__algo_call_stage(algo, PM_LIB_GEMM, c->dtype);
	int64_t groups = c->conv.groups;

	g->gemm = (PmLibGemm){ .m = z->co / groups,
			       .n = z->py,
			       .k = z->k / groups,
			       .batch = z->batch,
			       .a_row = z->k / groups,
			       .a_col = 1,
			       .a_batch = groups > 1 ? z->co / groups * (z->k / groups) : 0,
			       .b_row = ld,
			       .b_col = 1,
			       .b_batch = z->k / groups * ld,
			       .outer = 1,
			       .c = c->conv.has_bias ? PM_LIB_C_MATRIX : PM_LIB_C_NONE,
			       .alpha = 1,
			       .beta = c->conv.has_bias };
	pm__algo_operands(algo, c, pm__algo_arg(0), pm__algo_arg(2), x);
	if (c->conv.has_bias)
		pm__algo_pointer(&algo->stage[algo->n - 1], pm__algo_arg(0));
	g->align[3] = g->align[0];
}

int pm__algo_as_product(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	if (c->conv.transposed || !single(&c->conv) || z->px == 1 || !z->batch)
		return 0;
	if (c->conv.has_bias)
		pm__algo_fill(algo, pm__algo_arg(0), z->py, z->co, z->n * z->co * z->py);
	weights_times(algo, c, z, pm__algo_arg(1), z->py);
	return 1;
}

int pm__algo_as_gathered(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	const PmLibConv *v = &c->conv;
	int64_t ld = (z->py + 7) / 8 * 8, lanes = pm__algo_lanes_for(z->py), each = PM_ALGO_BLOCK / lanes * 8;
	int64_t blocks_p = (z->py + lanes - 1) / lanes, blocks_k = (z->k + each - 1) / each;
	PmAlgoPlace m;
	PmAlgoStage *s;

	/* Single elements in rows that are aligned need no copy. */
	if (v->transposed || !z->batch || (single(v) && ld == z->py))
		return 0;
	if (z->n * z->k * ld > INT_MAX)
		return 0;
	s = pm__algo_stage(algo, "gather");
	m = pm__algo_scratch(algo, z->n * z->k * ld, z->bytes);
	pm__algo_pointer(s, m);
	pm__algo_pointer(s, pm__algo_arg(1));
	pm__algo_pointer(s, pm__algo_arg(0));
	pm__algo_pointer(s, v->has_bias ? pm__algo_arg(3) : pm__algo_arg(1));
	s->blocks = (uint32_t)(z->n * blocks_p * blocks_k);
	pm__algo_number(s, s->blocks);
	pm__algo_number(s, blocks_p);
	pm__algo_number(s, blocks_k);
	pm__algo_number(s, lanes);
	pm__algo_number(s, z->k);
	pm__algo_number(s, z->py);
	pm__algo_number(s, ld);
	pm__algo_three(s, v->x + 2, v->spatial, 1);
	pm__algo_three(s, v->w + 2, v->spatial, 1);
	pm__algo_number(s, v->spatial > 1 ? v->y[v->spatial] : 1);
	pm__algo_number(s, v->y[v->spatial + 1]);
	pm__algo_three(s, v->stride, v->spatial, 1);
	pm__algo_three(s, v->pad, v->spatial, 0);
	pm__algo_three(s, v->dilation, v->spatial, 1);
	pm__algo_number(s, z->co);
	pm__algo_number(s, z->n * z->co * z->py);
	if (v->has_bias)
		s->blocks += (uint32_t)pm__algo_fill_blocks(z->n * z->co * z->py);
	weights_times(algo, c, z, m, ld);
	return 1;
}

/* The operands of a channels-last call: its own places for x and y; w the argument where its order is the
 * same. */
typedef struct Turned {
	PmAlgoPlace x, w, y;
} Turned;

/* x as [n, places, channels]; the weights likewise where `weights`, and y filled with the bias where `bias`,
 * by the same launch. */
static Turned turn_inputs(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z, int weights, int bias)
{
	const PmLibConv *v = &c->conv;
	Turned t = { .w = pm__algo_arg(2) };
	int64_t total = z->n * z->co * z->py, blocks;
	PmAlgoStage *s;
	int wide;

	if (weights && v->constant) {
		t.w = pm__algo_turn_weights(algo, c, v->w[0], v->w[1], z->taps);
		weights = 0;
	} else if (weights) {
		t.w = pm__algo_scratch(algo, pm__algo_product(v->w, 2) * z->taps, z->bytes);
	}
	t.x = pm__algo_scratch(algo, z->n * z->ci * z->px, z->bytes);
	t.y = pm__algo_scratch(algo, total, z->bytes);
	wide = pm__algo_turns_wide(z->ci, z->px, z->bytes, c->align[1]);
	s = pm__algo_stage(algo, wide ? "turn_in_wide" : "turn_in");
	pm__algo_pointer(s, t.x);
	pm__algo_pointer(s, pm__algo_arg(1));
	pm__algo_pointer(s, weights ? t.w : t.x);
	pm__algo_pointer(s, pm__algo_arg(2));
	pm__algo_pointer(s, t.y);
	pm__algo_pointer(s, pm__algo_arg(bias ? 3 : 1));
	pm__algo_number(s, 0);
	pm__algo_number(s, 0);
	blocks = pm__algo_turn(s, z->n, z->ci, z->px, z->bytes, c->align[1]);
	s->v[0] = (int32_t)blocks;
	if (weights)
		blocks += pm__algo_turn(s, v->w[0], v->w[1], z->taps, z->bytes, c->align[2]);
	s->v[1] = (int32_t)blocks;
	while (s->n_ints < 16)
		pm__algo_number(s, 1);
	pm__algo_number(s, 1);
	pm__algo_number(s, z->co);
	pm__algo_number(s, total);
	s->blocks = (uint32_t)(blocks + (bias ? pm__algo_fill_blocks(total) : 0));
	return t;
}

int pm__algo_as_last(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	PmLibCall *in;
	Turned t;

	if (!pm_dtype_is_half(c->dtype))
		return 0;
	t = turn_inputs(algo, c, z, z->taps > 1, c->conv.has_bias);
	in = pm__algo_call_stage(algo, PM_LIB_CONV, c->dtype);
	in->conv = c->conv;
	in->conv.has_bias = 0;
	in->conv.onto = c->conv.has_bias;
	in->conv.channels_last = 1;
	pm__algo_operands(algo, c, t.y, t.x, t.w);
	turn_back(algo, c, z, t.y);
	return 1;
}

int pm__algo_as_last_product(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	/* An image of one pixel has that order already. */
	Turned t = { .x = pm__algo_arg(1), .w = pm__algo_arg(2), .y = pm__algo_arg(0) };
	PmLibCall *g;

	if (c->conv.transposed || !single(&c->conv) || c->conv.groups != 1)
		return 0;
	if (z->px > 1)
		t = turn_inputs(algo, c, z, 0, 0);
	g = pm__algo_call_stage(algo, PM_LIB_GEMM, c->dtype);
	g->gemm = (PmLibGemm){ .m = z->n * z->py,
			       .n = z->co,
			       .k = z->ci,
			       .batch = 1,
			       .a_row = z->ci,
			       .a_col = 1,
			       .b_row = 1,
			       .b_col = z->ci,
			       .outer = 1,
			       .alpha = 1 };
	pm__algo_operands(algo, c, t.y, t.x, t.w);
	if (c->conv.has_bias) {
		g->gemm.c = PM_LIB_C_COLUMNS;
		g->gemm.beta = 1;
		g->align[3] = c->align[3];
		pm__algo_pointer(&algo->stage[algo->n - 1], pm__algo_arg(3));
	}
	if (z->px > 1)
		turn_back(algo, c, z, t.y);
	return 1;
}
