/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - nodes of the graph as operations of the IR. */
#include "load.h"

enum { HASH = 2 * F_OPS };

void *f_alloc(Graph *c, uint32_t bytes)
{
	void *p;

	bytes = (bytes + 15) & ~15u;
	if (c->pool_n + bytes > c->pool_cap) {
		*c->fail = "it is too large";
		return NULL;
	}
	p = c->pool + c->pool_n;
	c->pool_n += bytes;
	return p;
}

int f_graph_new(Graph *c, const char **fail)
{
	*c = (Graph){ .fail = fail, .pool_cap = 256 << 10 };
	c->op = pm_alloc(F_OPS * sizeof *c->op);
	c->node = pm_alloc(F_NODES * sizeof *c->node);
	c->op_of = pm_alloc(HASH * sizeof *c->op_of);
	c->pool = pm_alloc(c->pool_cap);
	return c->op && c->node && c->op_of && c->pool;
}

int64_t f_numel(const Op *o)
{
	int64_t n = 1;
	int d;

	for (d = 0; d < o->rank; d++)
		n *= o->dim[d];
	return n;
}

/* A new operation with type and shape of another one. */
int f_op(Graph *c, Kind kind, int like, int node)
{
	Op *o;

	if (c->n_ops == F_OPS) {
		*c->fail = "it has too many operations";
		return 0;
	}
	o = &c->op[c->n_ops];
	*o = c->op[like];
	o->kind = (uint8_t)kind;
	o->node = (int16_t)node;
	o->n_in = o->exact = o->orders = o->written = 0;
	o->val = (PmVal){ 0 };
	return c->n_ops++;
}

int f_view(Graph *c, Kind kind, int x)
{
	int k = f_op(c, kind, x, -1);

	c->op[k].in = f_alloc(c, sizeof *c->op[k].in);
	c->op[k].par = f_alloc(c, F_RANK * sizeof *c->op[k].par);
	if (*c->fail)
		return k;
	c->op[k].in[0] = x;
	c->op[k].n_in = 1;
	return k;
}

int f_turned(Graph *c, int x, int axis, int back)
{
	int k = f_view(c, OP_TRANSPOSE, x), last = c->op[x].rank - 1, d;
	Op *o = &c->op[k];

	for (d = 0; d <= last && !*c->fail; d++) {
		if (back)
			o->par[d] = d < axis ? d : d == axis ? last : d - 1;
		else
			o->par[d] = d < axis ? d : d == last ? axis : d + 1;
		o->dim[d] = c->op[x].dim[o->par[d]];
	}
	return k;
}

static int known_type(int32_t t)
{
	return t == PM_F32 || t == PM_F16 || t == PM_BF16 || t == PM_F64 || t == PM_I64 || t == PM_I32 ||
	       t == PM_I16 || t == PM_I8 || t == PM_U8 || t == PM_U16 || t == PM_U32 || t == PM_BOOL;
}

/* The place of v in op_of: its operation's, or where it would go. */
static uint32_t place_of(const Graph *c, PmVal v)
{
	uint32_t h = (v.id * 2654435761u >> 12) % HASH;

	while (c->op_of[h] && c->op[c->op_of[h] - 1].val.id != v.id)
		h = (h + 1) % HASH;
	return h;
}

int f_known(const Graph *c, PmVal v)
{
	return (int)c->op_of[place_of(c, v)] - 1;
}

int f_value(Graph *c, PmVal v)
{
	uint32_t h = place_of(c, v);
	Op *o;
	int d;

	if (c->op_of[h])
		return c->op_of[h] - 1;
	if (c->n_ops == F_OPS) {
		*c->fail = "it has too many operations";
		return 0;
	}
	o = &c->op[c->n_ops];
	*o = (Op){ .kind = OP_IN, .node = -1, .val = v };
	o->dtype = (int8_t)pm_dtype(v);
	d = pm_rank(v);
	if (d < 0 || d > F_RANK || !known_type(o->dtype)) {
		o->kind = OP_NONE;
		d = 0;
	}
	o->rank = (uint8_t)d;
	for (d = 0; d < o->rank; d++) {
		o->dim[d] = pm_dim(v, d);
		if (o->dim[d] < 0)
			o->kind = OP_NONE;
	}
	if (o->kind == OP_NONE)
		o->rank = 0;
	else if (pm_is_const(v) && f_numel(o) == 1 && pm_scalar(v, &o->num[0]))
		o->kind = OP_NUM;
	c->op_of[h] = (uint16_t)++c->n_ops;
	return c->n_ops - 1;
}

int f_num(Graph *c, int dtype, double x)
{
	int k = f_op(c, OP_NUM, 0, -1);

	c->op[k].rank = 0;
	c->op[k].dtype = (int8_t)dtype;
	c->op[k].num[0] = x;
	return k;
}

int f_ew(Graph *c, int node, int like, const char *expr, int a, int b, int third)
{
	int k = f_op(c, OP_EW, like, node);
	Op *o = &c->op[k];

	o->in = f_alloc(c, 3 * sizeof *o->in);
	if (!o->in)
		return k;
	o->in[0] = a;
	o->in[1] = b;
	o->in[2] = third;
	o->n_in = third >= 0 ? 3 : b >= 0 ? 2 : 1;
	o->expr = expr;
	o->n_num = 0;
	o->compute = (uint8_t)f_class(o->dtype);
	return k;
}

int f_becomes(Graph *c, int out, const char *expr, int a, int b, int third)
{
	int k = f_ew(c, -1, out, expr, a, b, third);

	c->op[out].kind = OP_EW;
	c->op[out].in = c->op[k].in;
	c->op[out].n_in = c->op[k].n_in;
	c->op[out].expr = expr;
	c->op[out].n_num = 0;
	c->op[out].compute = c->op[k].compute;
	return !*c->fail;
}

/* Library launches of the node by itself. */
static int launches(const Graph *c, const Node *n)
{
	const Op *o = &c->op[n->out[0]];

	if (o->in[0] != n->in[0]) /* the last of several operations */
		return 1;
	switch (o->kind) {
	case OP_SAME:
	case OP_TRANSPOSE:
	case OP_RESHAPE:
	case OP_EXPAND:
	case OP_SLICE:
		return 0;
	default:
		return 1;
	}
}

/* Fills in what results of the node are. */
static int define(Graph *c, Node *n)
{
	const char *name = pm_op(n->val);
	int k;

	for (k = 0; k < n->n_in; k++)
		if (n->in[k] >= 0 && c->op[n->in[k]].kind == OP_NONE)
			return 0;
	for (k = 0; k < n->n_out; k++)
		if (n->out[k] < 0 || c->op[n->out[k]].kind == OP_NONE || f_numel(&c->op[n->out[k]]) <= 0)
			return 0;
	k = n->out[0];
	return f_load_ew(c, n, name, k) || f_load_move(c, n, name, k) || f_load_norm(c, n, name, k) ||
	       f_load_cum(c, n, name, k) || f_load_pool(c, n, name, k) || f_load_scatter(c, n, name, k) ||
	       f_load_dot(c, n, name, k);
}

/* Who reads the results; a value with very many readers is taken as read outside of any set. */
static int load_users(Graph *c, Node *n)
{
	enum { OUTSIDE = 0xff };
	uint32_t k, i, all = 0, uses[F_ARGS];

	n->n_user = f_alloc(c, n->n_out + 1u);
	for (k = 0; k < n->n_out; k++) {
		PmVal v = pm_out(n->val, k);

		uses[k] = v.id ? pm_n_uses(v) : 0;
		if (uses[k] > F_READERS || pm_is_output(v))
			uses[k] = OUTSIDE;
		else
			all += uses[k];
	}
	n->user = f_alloc(c, (all + 1) * (uint32_t)sizeof *n->user);
	if (*c->fail)
		return 0;
	for (k = all = 0; k < n->n_out; k++) {
		n->n_user[k] = (uint8_t)uses[k];
		for (i = 0; uses[k] != OUTSIDE && i < uses[k]; i++)
			n->user[all++] = pm_user(pm_out(n->val, k), i);
	}
	return 1;
}

static int load_node(Graph *c, Node *n, int at)
{
	uint32_t k, n_in = pm_n_in(n->val), n_out = pm_n_out(n->val);
	int first;

	n->order = pm_order(n->val);
	if (n_in > F_ARGS || n_out > F_ARGS || n_in + n_out == 0)
		return 0;
	n->in = f_alloc(c, (n_in + 1) * sizeof *n->in);
	n->out = f_alloc(c, (n_out + 1) * sizeof *n->out);
	if (*c->fail)
		return 0;
	for (k = 0; k < n_in; k++) {
		PmVal v = pm_in(n->val, k);

		n->in[k] = v.id ? f_value(c, v) : -1;
	}
	for (k = 0; k < n_out; k++) {
		PmVal v = pm_out(n->val, k);

		n->out[k] = v.id ? f_value(c, v) : -1;
	}
	n->n_in = (uint8_t)n_in;
	n->n_out = (uint8_t)n_out;
	first = c->n_ops;
	if (*c->fail || !load_users(c, n) || !define(c, n) || *c->fail)
		return 0;
	for (k = 0; k < n_out; k++)
		c->op[n->out[k]].node = (int16_t)at;
	for (; first < c->n_ops; first++)
		if (c->op[first].kind != OP_NUM)
			c->op[first].node = (int16_t)at;
	n->launches = (uint8_t)launches(c, n);
	return 1;
}

int f_node(Graph *c, PmVal v)
{
	int i, k = f_value(c, v);
	PmVal first = pm_out(v, 0);

	if (*c->fail || !first.id)
		return -1;
	if (c->op[k].node >= 0)
		return c->op[k].node;
	for (i = 0; i < c->n_nodes; i++)
		if (c->node[i].val.id == first.id)
			return i;
	if (c->n_nodes == F_NODES)
		return -1;
	c->node[c->n_nodes] = (Node){ .val = first };
	c->node[c->n_nodes].ok = (uint8_t)load_node(c, &c->node[c->n_nodes], c->n_nodes);
	return c->n_nodes++;
}
