/* SPDX-License-Identifier: Apache-2.0 */
/* load_move.c - operators that only move elements. */
#include "load.h"

static int64_t *ints(Graph *c, const Node *n, const char *name, int *count)
{
	int64_t *v = f_alloc(c, 2 * F_RANK * sizeof *v);

	*count = v ? pm_attr_ints(n->val, name, v, 2 * F_RANK) : -1;
	return v;
}

static int axis_of(const Node *n, int rank)
{
	int64_t a = pm_attr_i(n->val, "axis", 0);

	return (int)(a < 0 ? a + rank : a);
}

static void set(Graph *c, const Node *n, int out, Kind kind)
{
	c->op[out].kind = (uint8_t)kind;
	c->op[out].in = n->in;
	c->op[out].n_in = 1;
}

static int load_transpose(Graph *c, const Node *n, int out)
{
	int count;

	set(c, n, out, OP_TRANSPOSE);
	c->op[out].par = ints(c, n, "perm", &count);
	return count == c->op[out].rank;
}

/* Start and step of each axis, from attributes that are already in normal form. */
static int load_slice(Graph *c, const Node *n, int out)
{
	int ns, na, nt, i;
	int64_t *start = ints(c, n, "starts", &ns), *axes = ints(c, n, "axes", &na),
		*step = ints(c, n, "steps", &nt);
	const Op *x = &c->op[n->in[0]];
	int64_t *par = f_alloc(c, 2 * F_RANK * sizeof *par);

	if (*c->fail || ns < 0 || na != ns || nt != ns)
		return 0;
	set(c, n, out, OP_SLICE);
	for (i = 0; i < x->rank; i++) {
		par[i] = 0;
		par[F_RANK + i] = 1;
	}
	for (i = 0; i < ns; i++) {
		int64_t a = axes[i] < 0 ? axes[i] + x->rank : axes[i], s = start[i], d = x->dim[a];

		s = s < 0 ? s + d : s;
		s = s < 0 ? 0 : s;
		if (step[i] < 0)
			s = s > d - 1 ? d - 1 : s;
		par[a] = s;
		par[F_RANK + a] = step[i];
	}
	for (i = 0; i < x->rank; i++) {
		int64_t last = par[i] + (c->op[out].dim[i] - 1) * par[F_RANK + i];

		if (last < 0 || last >= x->dim[i])
			return 0;
	}
	c->op[out].par = par;
	return 1;
}

static int load_split(Graph *c, const Node *n)
{
	int axis = axis_of(n, c->op[n->in[0]].rank), k, i;
	int64_t at = 0;

	for (k = 0; k < n->n_out; k++) {
		Op *o = &c->op[n->out[k]];

		o->par = f_alloc(c, 2 * F_RANK * sizeof *o->par);
		if (!o->par)
			return 0;
		set(c, n, n->out[k], OP_SLICE);
		for (i = 0; i < o->rank; i++) {
			o->par[i] = i == axis ? at : 0;
			o->par[F_RANK + i] = 1;
		}
		at += o->dim[axis];
	}
	return 1;
}

static int load_pad(Graph *c, const Node *n, int out)
{
	const char *mode = pm_attr_s(n->val, "mode", "constant");
	Op *o = &c->op[out];
	int count, i;

	set(c, n, out, OP_PAD);
	o->par = ints(c, n, "pads", &count);
	o->mode = f_is(mode, "constant") ? 0 : f_is(mode, "edge") ? 1 : f_is(mode, "reflect") ? 2 : 3;
	if (count != 2 * o->rank || o->mode == 3)
		return 0;
	for (i = 0; i < count; i++) {
		int64_t d = c->op[n->in[0]].dim[i % o->rank];

		if (o->par[i] < 0 || (o->mode == 2 && o->par[i] >= d) || (o->mode && d < 1))
			return 0;
	}
	if (n->n_in > 1 && n->in[1] >= 0) {
		if (f_numel(&c->op[n->in[1]]) != 1)
			return 0;
		o->n_in = 2;
	}
	return o->mode || f_numel(&c->op[n->in[0]]) > 0;
}

/* Depth to space is a reshape, a transpose and a reshape; the other way too. */
static int load_blocks(Graph *c, const Node *n, int out, int to_space)
{
	int64_t b = pm_attr_i(n->val, "blocksize", 1);
	int crd = f_is(pm_attr_s(n->val, "mode", "DCR"), "CRD"), wide, turned, i;
	static const int64_t dcr[] = { 0, 3, 4, 1, 5, 2 }, crd_perm[] = { 0, 1, 4, 2, 5, 3 },
			     to_depth[] = { 0, 3, 5, 1, 2, 4 };
	const int64_t *perm = !to_space ? to_depth : crd ? crd_perm : dcr;
	const Op *x = &c->op[n->in[0]];
	int64_t *in_dim;
	Op *o;

	if (x->rank != 4 || b < 1)
		return 0;
	wide = f_op(c, OP_RESHAPE, out, 0);
	turned = f_op(c, OP_TRANSPOSE, out, 0);
	in_dim = c->op[wide].dim;
	x = &c->op[n->in[0]];
	in_dim[0] = x->dim[0];
	in_dim[1] = !to_space || crd ? x->dim[1] / (to_space ? b * b : 1) : b;
	in_dim[2] = !to_space ? x->dim[2] / b : b;
	in_dim[3] = !to_space || crd ? b : x->dim[1] / (b * b);
	in_dim[4] = !to_space ? x->dim[3] / b : x->dim[2];
	in_dim[5] = !to_space ? b : x->dim[3];
	c->op[wide].rank = c->op[turned].rank = 6;
	set(c, n, wide, OP_RESHAPE);
	o = &c->op[turned];
	o->in = f_alloc(c, 2 * sizeof *o->in);
	o->par = f_alloc(c, F_RANK * sizeof *o->par);
	if (*c->fail)
		return 0;
	o->in[0] = wide;
	o->in[1] = turned;
	o->n_in = 1;
	for (i = 0; i < 6; i++) {
		o->par[i] = perm[i];
		o->dim[i] = in_dim[perm[i]];
	}
	c->op[out].kind = OP_RESHAPE;
	c->op[out].in = o->in + 1;
	c->op[out].n_in = 1;
	return f_numel(&c->op[wide]) == f_numel(&c->op[out]);
}

static int load_gather(Graph *c, const Node *n, int out, Kind kind)
{
	set(c, n, out, kind);
	c->op[out].n_in = 2;
	c->op[out].axis = axis_of(n, c->op[n->in[0]].rank);
	if (kind == OP_GATHER && c->op[n->in[1]].kind != OP_NUM)
		c->op[out].par = f_steps_of(c, &c->op[n->in[1]], c->op[n->in[0]].dim[c->op[out].axis]);
	return !*c->fail && f_class(c->op[n->in[1]].dtype) == PM_I64 && f_numel(&c->op[n->in[0]]) > 0;
}

static int load_trilu(Graph *c, const Node *n, int out)
{
	Op *o = &c->op[out];

	set(c, n, out, OP_TRILU);
	o->axis = (int)pm_attr_i(n->val, "upper", 1);
	o->par = f_alloc(c, sizeof *o->par);
	return !*c->fail && (n->n_in < 2 || n->in[1] < 0 || pm_ints(c->op[n->in[1]].val, o->par, 1) == 1);
}

int f_load_move(Graph *c, Node *n, const char *name, int out)
{
	const char *end = name;

	if (n->n_in < 1 || n->in[0] < 0)
		return 0;
	while (*end)
		end++;
	if (f_is(name, "Split"))
		return load_split(c, n);
	if (n->n_out != 1)
		return 0;
	if (f_is(name, "Identity"))
		set(c, n, out, OP_SAME);
	else if (f_is(name, "Reshape") || f_is(name, "Flatten") || f_is(name, "Squeeze") ||
		 f_is(name, "Unsqueeze"))
		set(c, n, out, OP_RESHAPE);
	else if (f_is(name, "Expand"))
		set(c, n, out, OP_EXPAND);
	else if (f_is(name, "Tile"))
		set(c, n, out, OP_TILE);
	else if (f_is(name, "Transpose"))
		return load_transpose(c, n, out);
	else if (f_is(name, "Slice"))
		return load_slice(c, n, out);
	else if (f_is(name, "Pad"))
		return load_pad(c, n, out);
	else if (f_is(name, "Gather"))
		return load_gather(c, n, out, OP_GATHER);
	else if (f_is(name, "GatherElements"))
		return load_gather(c, n, out, OP_GATHER_ELEMENTS);
	else if (f_is(name, "GatherND"))
		return !pm_attr_i(n->val, "batch_dims", 0) && load_gather(c, n, out, OP_GATHER_ND);
	else if (f_is(name, "Resize"))
		return f_load_resize(c, n, out);
	else if (f_is(name, "Trilu"))
		return load_trilu(c, n, out);
	else if (f_is(name, "DepthToSpace") || f_is(name, "SpaceToDepth"))
		return load_blocks(c, n, out, f_is(name, "DepthToSpace"));
	else if (f_is(name, "Concat")) {
		set(c, n, out, OP_CONCAT);
		c->op[out].n_in = n->n_in;
		c->op[out].axis = axis_of(n, c->op[out].rank);
	} else
		return 0;
	return 1;
}
