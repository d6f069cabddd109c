/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo_phases.c - convolutions, transposed or not, as products by a kernel of ours that reads x where it
 * lies (phases_* in lib_algo.cu, which says how and why so). */
#include "runtime/cuda/library/lib_algo_priv.h"

#include "ir/core/type.h"

#include <limits.h>
#include <stddef.h>

enum {
	MAX_TAPS = 32,   /* of a phase, summed up over its dimensions: a bit for each */
	BLOCK_WARPS = 8, /* PM_ALGO_BLOCK threads */
	FEW_CHANNELS = 8 /* of x in a group: fewer are not worth a tensor core */
};

/* A convolution's dimensions in the kernel's terms. */
typedef struct Shape {
	int64_t phases[3], step[3], pad[3], dilation[3];
	int64_t columns, n_phases; /* places of the largest phase in all images; phases in all */
} Shape;

static int64_t divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* 0 when one of the kernel's numbers would have more than 31 bits, or a phase too many taps. */
static int shape_of(const PmLibConv *v, const PmAlgoSize *z, Shape *s)
{
	int64_t taps = 3 - v->spatial;

	s->columns = z->n;
	s->n_phases = 1;
	for (int d = 0; d < v->spatial; d++) {
		int64_t stride = v->stride[d], dilation = v->dilation[d], k = v->w[2 + d], y = v->y[2 + d];
		int64_t phases = v->transposed ? stride : 1, apart = phases / divisor(phases, dilation);
		int64_t reach = pm__algo_product((const int64_t[]){ y, stride }, 2) +
				pm__algo_product((const int64_t[]){ k + stride, dilation }, 2);

		if (reach > INT_MAX / 2 || v->pad[d] > INT_MAX / 2 || v->pad[d] < -(INT_MAX / 2) ||
		    v->x[2 + d] > INT_MAX / 2)
			return 0;
		taps += (k + apart - 1) / apart;
		s->phases[d] = phases;
		s->step[d] = v->transposed ? 1 : stride;
		s->pad[d] = v->transposed ? v->pad[d] : -v->pad[d];
		s->dilation[d] = v->transposed ? dilation : -dilation;
		s->columns = pm__algo_of_three(s->columns, (y + phases - 1) / phases, 1);
		s->n_phases = pm__algo_of_three(s->n_phases, phases, 1);
	}
	return taps <= MAX_TAPS && pm__algo_product(v->x, v->spatial + 2) <= INT_MAX &&
	       pm__algo_product(v->w, v->spatial + 2) <= INT_MAX &&
	       pm__algo_product(v->y, v->spatial + 2) <= INT_MAX && s->columns <= INT_MAX / 2;
}

/* How a block's warps share rows and columns: as many on different rows as wastes none. */
typedef struct Tiles {
	int64_t warps_r, tiles_r, blocks;
} Tiles;

static Tiles tiles_of(const Shape *s, int64_t rows, int64_t groups, int64_t rows_each, int64_t bytes)
{
	int64_t columns = 32 * (bytes > 4 ? 4 : 8), least = INT64_MAX;
	Tiles t = { 0 };

	for (int64_t w = BLOCK_WARPS; w; w /= 2) {
		int64_t tiles = (rows + rows_each * w - 1) / (rows_each * w);

		if (tiles * w < least) {
			least = tiles * w;
			t.warps_r = w;
			t.tiles_r = tiles;
		}
	}
	columns *= BLOCK_WARPS / t.warps_r;
	t.blocks = pm__algo_of_three((s->columns + columns - 1) / columns,
				     pm__algo_of_three(s->n_phases, groups, 1), t.tiles_r);
	return t;
}

/* The weights with channels of y side by side: [taps, channels of x, channels of y] of a transposed
 * convolution, otherwise [channels of x, taps, channels of y]. */
static PmAlgoPlace turned_weights(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z)
{
	const PmLibConv *v = &c->conv;
	int64_t cols = v->transposed ? z->taps : v->w[1] * z->taps,
		rows = v->transposed ? v->w[0] * v->w[1] : v->w[0];

	return rows > 1 && cols > 1 ? pm__algo_turn_weights(algo, c, 1, rows, cols) : pm__algo_arg(2);
}

static void add_numbers(PmAlgoStage *s, const PmLibConv *v, const PmAlgoSize *z, const Shape *h,
			const Tiles *t)
{
	int64_t rows = z->co / v->groups, depth = z->ci / v->groups;

	pm__algo_number(s, v->has_bias);
	pm__algo_number(s, t->warps_r);
	pm__algo_number(s, t->tiles_r);
	pm__algo_number(s, z->n);
	pm__algo_number(s, v->groups);
	pm__algo_number(s, rows);
	pm__algo_number(s, depth);
	pm__algo_three(s, v->x + 2, v->spatial, 1);
	pm__algo_three(s, v->w + 2, v->spatial, 1);
	pm__algo_three(s, v->y + 2, v->spatial, 1);
	pm__algo_three(s, h->phases, v->spatial, 1);
	pm__algo_three(s, h->step, v->spatial, 1);
	pm__algo_three(s, h->pad, v->spatial, 0);
	pm__algo_three(s, h->dilation, v->spatial, 1);
	pm__algo_number(s, v->transposed ? z->ci * rows : z->co);
	pm__algo_number(s, v->transposed ? rows : z->taps * z->co);
	pm__algo_number(s, v->transposed ? depth * rows : rows);
}

/* Not where a library's product does it, or tensor cores do. */
static int worth_trying(const PmLibCall *c, const PmAlgoSize *z)
{
	const PmLibConv *v = &c->conv;

	return v->transposed ||
	       (z->taps > 1 && (!pm_dtype_is_half(c->dtype) || z->ci / v->groups < FEW_CHANNELS));
}

int pm__algo_as_phases(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z, int rows_each)
{
	const PmLibConv *v = &c->conv;
	int64_t rows = z->co / v->groups;
	PmAlgoPlace w;
	PmAlgoStage *s;
	Shape h;
	Tiles t;

	/* Not where half of the rows or more are idle, and a smaller tile has fewer. */
	if (!worth_trying(c, z) || (rows_each > 4 && rows <= rows_each / 2) || !shape_of(v, z, &h))
		return 0;
	t = tiles_of(&h, rows, v->groups, rows_each, z->bytes);
	if (t.blocks > INT_MAX)
		return 0;
	w = turned_weights(algo, c, z);
	s = pm__algo_stage(algo, rows_each == 16 ? "phases_16" : (rows_each == 8 ? "phases_8" : "phases_4"));
	pm__algo_pointer(s, pm__algo_arg(0));
	pm__algo_pointer(s, pm__algo_arg(1));
	pm__algo_pointer(s, w);
	pm__algo_pointer(s, pm__algo_arg(v->has_bias ? 3 : 1));
	add_numbers(s, v, z, &h, &t);
	s->blocks = (uint32_t)t.blocks;
	return 1;
}
