/* SPDX-License-Identifier: Apache-2.0 */
/* eval_resize.c - linear Resize on one or two axes. */
#include "../fuse.h"

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
	const Op *o = &c->g->op[op];
	int64_t n = c->g->op[o->in[0]].dim[o->par[k]];
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
	int lanes = c->b.nest.var[a].lanes || c->b.nest.var[b].lanes || c->b.nest.var[weight].lanes;
	int y = f_new_var(c, o->dtype, lanes);
	Stmt *s = f_emit_to(c, ST_MIX, y, a);

	s->from[1] = f_ref(c, b);
	s->from[2] = f_ref(c, weight);
	return y;
}

/* The value with axes from k on still to be mixed. */
static int mixed(Ctx *c, int op, const Between *b, int k, Ix *at)
{
	const Op *o = &c->g->op[op];
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
	const Op *o = &c->g->op[op];
	Between b[2];
	Ix at[F_RANK];
	int d, k;

	/* Each of its elements would be made, or its slices added up, for four times as many results as there
	 * are of it: a launch more takes less. */
	if (f_numel(o) > 2 * f_numel(&c->g->op[o->in[0]]) && !c->sums && f_dot_under(c, o->in[0]))
		return f_fail(c, "a product would be enlarged");
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	for (k = 0; 2 * k < o->n_num; k++)
		b[k] = between(c, op, k, co[o->par[k]]);
	return c->fail ? -1 : mixed(c, op, b, 0, at);
}
