/* SPDX-License-Identifier: Apache-2.0 */
/* eval_resize.c - Resize: nearest neighbours by whole factors as index arithmetic, linear on one or two axes.
 */
#include "fuse.h"

static double scale_of(const Op *x, const Op *o, int d, const double *given)
{
	return given ? given[d] : (double)o->dim[d] / (double)x->dim[d];
}

/* Half-pixel and asymmetric grids agree where the factor is whole. */
static int nearest(Ctx *c, const Node *n, int out, const char *grid, const double *given)
{
	const Op *x = &c->op[n->in[0]];
	const char *near = pm_attr_s(n->val, "nearest_mode", "round_prefer_floor");
	int64_t *par = f_alloc(c, F_RANK * sizeof *par);
	int d;

	if (!par || !((f_is(grid, "asymmetric") && f_is(near, "floor")) ||
		      (f_is(grid, "half_pixel") && f_is(near, "round_prefer_floor"))))
		return 0;
	for (d = 0; d < x->rank; d++) {
		par[d] = c->op[out].dim[d] / x->dim[d];
		if (par[d] < 1 || par[d] * x->dim[d] != c->op[out].dim[d] ||
		    scale_of(x, &c->op[out], d, given) != (double)par[d])
			return 0;
	}
	c->op[out].kind = OP_RESIZE;
	c->op[out].par = par;
	return 1;
}

/* place in the operand = result's place * factor + offset, between the first and the last element */
static int grid_of(const char *grid, double scale, int64_t in, int64_t out, double *factor, double *offset)
{
	*factor = 1 / scale;
	*offset = 0;
	if (f_is(grid, "half_pixel") || (f_is(grid, "pytorch_half_pixel") && out > 1))
		*offset = 0.5 / scale - 0.5;
	else if (f_is(grid, "pytorch_half_pixel"))
		*factor = 0;
	else if (f_is(grid, "align_corners"))
		*factor = out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
	else if (!f_is(grid, "asymmetric"))
		return 0;
	return 1;
}

static int linear(Ctx *c, const Node *n, int out, const char *grid, const double *given)
{
	const Op *x = &c->op[n->in[0]];
	Op *o = &c->op[out];
	int64_t *par = f_alloc(c, 2 * sizeof *par);
	int d, k = 0;

	if (!par || f_class(o->dtype) != PM_F32)
		return 0;
	for (d = 0; d < x->rank; d++) {
		double scale = scale_of(x, o, d, given);

		if (scale == 1 && x->dim[d] == o->dim[d])
			continue;
		if (k == 2 || !(scale > 0) ||
		    !grid_of(grid, scale, x->dim[d], o->dim[d], &o->num[2 * k], &o->num[2 * k + 1]))
			return 0;
		par[k++] = d;
	}
	o->kind = OP_LINEAR;
	o->par = par;
	o->n_num = 2 * k;
	return k > 0;
}

int f_load_resize(Ctx *c, Node *n, int out)
{
	const char *grid = pm_attr_s(n->val, "coordinate_transformation_mode", "half_pixel");
	const char *mode = pm_attr_s(n->val, "mode", "nearest");
	double scale[F_RANK];
	int32_t given = n->n_in > 2 && n->in[2] >= 0 ? pm_floats(c->op[n->in[2]].val, scale, F_RANK) : 0;
	int64_t axes;

	if (given && given != c->op[out].rank)
		return 0;
	if (pm_attr_ints(n->val, "axes", &axes, 1) != 0 || pm_attr_i(n->val, "antialias", 0) ||
	    !f_is(pm_attr_s(n->val, "keep_aspect_ratio_policy", "stretch"), "stretch"))
		return 0;
	c->op[out].in = n->in;
	c->op[out].n_in = 1;
	if (f_is(mode, "nearest"))
		return nearest(c, n, out, grid, given ? scale : NULL);
	return f_is(mode, "linear") && linear(c, n, out, grid, given ? scale : NULL);
}

/* ---- linear ---- */

/* Whether every place on axis k is a multiple of 1/4096 below 4096: float has them as they are. */
static int in_float(const Op *o, int k, int64_t n)
{
	enum { GRID = 4096 };
	double factor = o->num[2 * k] * GRID, offset = o->num[2 * k + 1] * GRID;

	return n < GRID / 2 && o->dim[o->par[k]] < GRID / 2 && factor < (double)GRID * GRID &&
	       factor == (double)(int64_t)factor && offset == (double)(int64_t)offset;
}

typedef struct Between { /* of one axis: the neighbours, and how far it is to the second */
	Ix lo, hi;
	int weight;
} Between;

static Between between(Ctx *c, int op, int k, Ix at)
{
	enum { KEY = -(4 * F_OPS) };
	const Op *o = &c->op[op];
	int64_t n = c->op[o->in[0]].dim[o->par[k]];
	int key = KEY - 8 * op - 4 * k, found = f_memo_find(c, key, &at, 1), floats = in_float(o, k, n);
	Between b;
	Stmt *s;

	if (found >= 0) {
		b.lo = found;
		b.hi = f_memo_find(c, key - 1, &at, 1);
		b.weight = f_memo_find(c, key - 2, &at, 1);
		return b;
	}
	b.lo = f_index_of(c, at, floats ? INDEX_RESIZE_FLOAT : INDEX_RESIZE, n, n - 1, o->num + 2 * k);
	b.hi = f_made_index(c, b.lo, INDEX_NEXT, n, n - 1);
	b.weight = f_new_var(c, PM_F32, (c->ix->lin[at].deps & DEP_LANE) != 0);
	s = f_emit_to(c, ST_WEIGHT, b.weight, -1);
	s->at = at;
	s->base = b.lo;
	s->num = o->num + 2 * k;
	s->n_num = 2;
	s->n = n;
	s->flag = (uint8_t)floats;
	f_memo_add(c, key, &at, 1, b.lo);
	f_memo_add(c, key - 1, &at, 1, b.hi);
	f_memo_add(c, key - 2, &at, 1, b.weight);
	return b;
}

static int mix(Ctx *c, const Op *o, int a, int b, int weight)
{
	int lanes = c->nest.var[a].lanes || c->nest.var[b].lanes || c->nest.var[weight].lanes;
	int y = f_new_var(c, o->dtype, lanes);
	Stmt *s = f_emit_to(c, ST_MIX, y, a);

	s->from[1] = f_ref(c, b);
	s->from[2] = f_ref(c, weight);
	return y;
}

/* The value with axes from k on still to be mixed. */
static int mixed(Ctx *c, int op, const Between *b, int k, Ix *at)
{
	const Op *o = &c->op[op];
	int lo, hi;

	if (2 * k == o->n_num)
		return f_eval(c, o->in[0], at);
	at[o->par[k]] = b[k].lo;
	lo = mixed(c, op, b, k + 1, at);
	at[o->par[k]] = b[k].hi;
	hi = lo < 0 ? lo : mixed(c, op, b, k + 1, at);
	return hi < 0 ? hi : mix(c, o, lo, hi, b[k].weight);
}

int f_eval_linear(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	Between b[2];
	Ix at[F_RANK];
	int d, k;

	/* Each of its elements would be made, or its slices added up, for four times as many results as there
	 * are of it: a launch more takes less. */
	if (f_numel(o) > 2 * f_numel(&c->op[o->in[0]]) && !c->sums && f_dot_under(c, o->in[0]))
		return f_fail(c, "a product would be enlarged");
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	for (k = 0; 2 * k < o->n_num; k++)
		b[k] = between(c, op, k, co[o->par[k]]);
	return c->fail ? -1 : mixed(c, op, b, 0, at);
}
