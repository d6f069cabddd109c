/* load_sum.c - a product as a sum over the products of elements, for the few that are too small for tiles and
 * stand in front of something that no tile reaches: a gate of one pixel, spread over its channel. */
#include "fuse.h"

/* x in another shape, or with its last two axes changed. */
static int view(Ctx *c, Kind kind, int x)
{
	int k = f_op(c, kind, x, -1);

	c->op[k].in = f_alloc(c, sizeof *c->op[k].in);
	c->op[k].par = f_alloc(c, F_RANK * sizeof *c->op[k].par);
	if (c->fail)
		return k;
	c->op[k].in[0] = x;
	c->op[k].n_in = 1;
	return k;
}

static int turned(Ctx *c, int x)
{
	int k = view(c, OP_TRANSPOSE, x), d, last = c->op[x].rank - 1;
	Op *o = &c->op[k];

	for (d = 0; d <= last && !c->fail; d++) {
		o->par[d] = d == last ? last - 1 : d == last - 1 ? last : d;
		o->dim[d] = c->op[x].dim[o->par[d]];
	}
	return k;
}

/* [..., rows, k] as [..., rows, 1, k] (first) or [..., 1, rows, k]; a point's axes behind k are dropped. */
static int spread(Ctx *c, int x, int first, int point)
{
	int k = view(c, OP_RESHAPE, x), rank = point ? 2 : c->op[x].rank;
	Op *o = &c->op[k];

	o->rank = (uint8_t)(rank + 1);
	o->dim[rank] = o->dim[rank - 1];
	o->dim[rank - 1] = first ? 1 : o->dim[rank - 2];
	o->dim[rank - 2] = first ? o->dim[rank - 2] : 1;
	return k;
}

int f_load_sum(Ctx *c, int dot)
{
	const Op *o = &c->op[dot];
	int point = o->mode == FORM_POINT, a = o->in[0], b = o->in[1], d, k, rank;

	if (o->mode == FORM_IMAGE || o->mode == FORM_CONV || c->op[a].rank >= F_RANK ||
	    c->op[b].rank >= F_RANK)
		return 0;
	if (o->mode == FORM_GEMM && (o->axis & 1))
		a = turned(c, a);
	if (!point && !(o->mode == FORM_GEMM && (o->axis & 2)))
		b = turned(c, b);
	a = spread(c, a, 1, point);
	b = spread(c, b, 0, point);
	k = f_ew(c, -1, c->op[a].rank > c->op[b].rank ? a : b, "a * b", a, b, -1);
	if (c->fail)
		return 0;
	rank = c->op[k].rank;
	for (d = 1; d <= rank; d++) {
		int64_t da = d > c->op[a].rank ? 1 : c->op[a].dim[c->op[a].rank - d];
		int64_t db = d > c->op[b].rank ? 1 : c->op[b].dim[c->op[b].rank - d];

		c->op[k].dim[rank - d] = da > db ? da : db;
	}
	c->op[k].dtype = PM_F32;
	c->op[k].compute = PM_F32;
	d = view(c, OP_REDUCE, k);
	c->op[d].red = RED_SUM;
	c->op[d].axis = 1 << (rank - 1);
	c->op[d].dim[rank - 1] = 1;
	k = view(c, OP_RESHAPE, d);
	c->op[k].rank = c->op[dot].rank;
	for (d = 0; d < c->op[dot].rank; d++)
		c->op[k].dim[d] = c->op[dot].dim[d];
	return c->fail ? 0 : k;
}
