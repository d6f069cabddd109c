/* SPDX-License-Identifier: Apache-2.0 */
/* load_sum.c - a product as a sum over the products of elements, for the few that are too small for tiles and
 * stand in front of something that no tile reaches (a gate of one pixel, spread over its channel), and for
 * sums of few terms, in windows too. */
#include "load.h"

/* A view of x with these extents. */
static int shaped(Graph *c, Kind kind, int x, int rank, const int64_t *dim)
{
	int k = f_view(c, kind, x), d;

	c->op[k].rank = (uint8_t)rank;
	for (d = 0; d < rank; d++)
		c->op[k].dim[d] = dim[d];
	return k;
}

/* [..., rows, k] as [..., rows, 1, k] (first) or [..., 1, rows, k]; a point's axes behind k are dropped. */
static int spread(Graph *c, int x, int first, int point)
{
	int k = f_view(c, OP_RESHAPE, x), rank = point ? 2 : c->op[x].rank;
	Op *o = &c->op[k];

	o->rank = (uint8_t)(rank + 1);
	o->dim[rank] = o->dim[rank - 1];
	o->dim[rank - 1] = first ? 1 : o->dim[rank - 2];
	o->dim[rank - 2] = first ? o->dim[rank - 2] : 1;
	return k;
}

/* x as (images, channels, rows, columns), with zeros around it, and what each window of it has. */
static int windows(Graph *c, const Op *dot, int x)
{
	const int64_t *g = dot->par + DOT_CONV;
	int64_t rows = dot->par[2] / g[2], channels = dot->par[3] / (g[3] * g[4]);
	const int64_t whole[] = { dot->par[0], channels, g[0], g[1] };
	const int64_t padded[] = { dot->par[0], channels, (rows - 1) * g[5] + (g[3] - 1) * g[7] + 1,
				   (g[2] - 1) * g[6] + (g[4] - 1) * g[8] + 1 };
	const int64_t all[] = { dot->par[0], 1, rows, g[2], channels, g[3], g[4] };
	int d;

	x = shaped(c, OP_RESHAPE, x, 4, whole);
	x = shaped(c, OP_PAD, x, 4, padded);
	c->op[x].mode = 0;
	for (d = 0; d < 4 && !*c->fail; d++)
		c->op[x].par[d] = d < 2 ? 0 : g[7 + d];
	x = shaped(c, OP_WINDOW, x, 7, all);
	for (d = 0; d < 4 && !*c->fail; d++)
		c->op[x].par[d] = g[5 + d];
	return x;
}

/* The sum of the products in k over its axes from `axis` on, as the product `dot` is shaped. */
static int sum_of(Graph *c, int dot, int k, int axis)
{
	int d, rank = c->op[k].rank;

	c->op[k].dtype = PM_F32;
	c->op[k].compute = PM_F32;
	/* Of one term it is the term: every element by itself, by vectors. */
	if (c->op[dot].par[3] > 1) {
		k = f_view(c, OP_REDUCE, k);
		c->op[k].red = c->op[dot].par[3] > F_SHORT ? RED_SUM : RED_TERMS;
		c->op[k].axis = 0;
		for (d = axis; d < rank; d++) {
			c->op[k].axis |= 1 << d;
			c->op[k].dim[d] = 1;
		}
	}
	k = shaped(c, OP_RESHAPE, k, c->op[dot].rank, c->op[dot].dim);
	return *c->fail ? 0 : k;
}

/* A convolution of few terms: windows times weights. */
static int sum_of_windows(Graph *c, int dot)
{
	const Op *o = &c->op[dot];
	const int64_t *g = o->par + DOT_CONV;
	const int64_t weights[] = { 1, o->par[1], 1, 1, o->par[3] / (g[3] * g[4]), g[3], g[4] };
	int a, b, k;

	if (o->par[3] > F_SHORT)
		return 0;
	a = shaped(c, OP_RESHAPE, o->in[0], 7, weights);
	b = windows(c, &c->op[dot], c->op[dot].in[1]);
	k = f_ew(c, -1, b, "a * b", a, b, -1);
	if (*c->fail)
		return 0;
	c->op[k].dim[1] = c->op[dot].par[1];
	return sum_of(c, dot, k, 4);
}

int f_load_sum(Graph *c, int dot)
{
	const Op *o = &c->op[dot];
	int point = o->mode == FORM_POINT, a = o->in[0], b = o->in[1], d, k, rank;

	if (o->mode == FORM_CONV)
		return sum_of_windows(c, dot);
	if (o->mode == FORM_IMAGE || c->op[a].rank >= F_RANK || c->op[b].rank >= F_RANK)
		return 0;
	if (o->mode == FORM_GEMM && (o->axis & 1))
		a = f_turned(c, a, c->op[a].rank - 2, 0);
	if (!point && !(o->mode == FORM_GEMM && (o->axis & 2)))
		b = f_turned(c, b, c->op[b].rank - 2, 0);
	a = spread(c, a, 1, point);
	b = spread(c, b, 0, point);
	k = f_ew(c, -1, c->op[a].rank > c->op[b].rank ? a : b, "a * b", a, b, -1);
	if (*c->fail)
		return 0;
	rank = c->op[k].rank;
	for (d = 1; d <= rank; d++) {
		int64_t da = d > c->op[a].rank ? 1 : c->op[a].dim[c->op[a].rank - d];
		int64_t db = d > c->op[b].rank ? 1 : c->op[b].dim[c->op[b].rank - d];

		c->op[k].dim[rank - d] = da > db ? da : db;
	}
	return sum_of(c, dot, k, rank - 1);
}
