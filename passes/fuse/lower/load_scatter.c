/* SPDX-License-Identifier: Apache-2.0 */
/* load_scatter.c - scatters that add or replace, by elements and by tuples of one index. */
#include "load.h"

/* Tuples of one index each name a place on the first axis. */
static int is_tuples(const Op *x, const Op *i, const Op *u)
{
	int d;

	for (d = 1; d < x->rank && u->rank == x->rank && u->dim[d] == x->dim[d]; d++)
		;
	return d == x->rank && u->rank == x->rank && i->rank == 2 && i->dim[1] == 1 &&
	       i->dim[0] == u->dim[0] && i->dim[0] >= 1;
}

static int is_elements(const Op *x, const Op *i, const Op *u, int axis)
{
	int d;

	for (d = 0; d < x->rank; d++)
		if ((d != axis && i->dim[d] > x->dim[d]) || u->dim[d] != i->dim[d] || i->dim[d] < 1)
			return 0;
	return 1;
}

int64_t *f_steps_of(Graph *c, const Op *i, int64_t extent)
{
	enum { MOST = 4096 };
	int64_t n = f_numel(i), at[MOST], *steps, k, step;

	if (!pm_is_const(i->val) || n < 1 || n > MOST || pm_ints(i->val, at, (uint32_t)n) != n)
		return NULL;
	for (k = 0; k < n; k++)
		at[k] += at[k] < 0 ? extent : 0;
	step = n > 1 ? at[1] - at[0] : 1;
	for (k = 1; k < n && at[k] - at[k - 1] == step; k++)
		;
	if (k < n || step < 1 || at[0] < 0 || at[n - 1] >= extent)
		return NULL;
	steps = f_alloc(c, STEPS_N * sizeof *steps);
	if (steps) {
		steps[STEPS_START] = at[0];
		steps[STEPS_STEP] = step;
		steps[STEPS_COUNT] = n;
	}
	return steps;
}

int f_load_scatter(Graph *c, Node *n, const char *name, int out)
{
	Op *o = &c->op[out];
	const char *join = pm_attr_s(n->val, "reduction", "none");
	int tuples = f_is(name, "ScatterND"), adds = f_is(join, "add");
	const Op *x, *i, *u;

	if ((!tuples && !f_is(name, "ScatterElements")) || n->n_in != 3 || n->n_out != 1 ||
	    (adds ? f_class(o->dtype) == PM_I64 : !f_is(join, "none")))
		return 0;
	x = &c->op[n->in[0]];
	i = &c->op[n->in[1]];
	u = &c->op[n->in[2]];
	o->kind = OP_SCATTER;
	o->mode = (uint8_t)((tuples ? SCATTER_TUPLES : 0) | (adds ? 0 : SCATTER_LAST));
	o->in = n->in;
	o->n_in = 3;
	o->axis = tuples ? 0 : (int)pm_attr_i(n->val, "axis", 0);
	o->axis += o->axis < 0 ? o->rank : 0;
	if (f_class(i->dtype) != PM_I64 || !(tuples ? is_tuples(x, i, u) : is_elements(x, i, u, o->axis)))
		return 0;
	if (!adds && tuples)
		o->par = f_steps_of(c, i, o->dim[o->axis]);
	return !*c->fail;
}
