/* SPDX-License-Identifier: Apache-2.0 */
/* commit.c - putting a described kernel in the place of the nodes it was matched with. */
#include "ir/infer/infer.h"
#include "matcher/rewrite/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Body {
	PmRewriter *rw;
	PmGraph *g;              /* the body */
	PM_VEC(PmValue) operand; /* of the fused node: its inputs, then what only the body needs */
	/* Value of the outer graph -> value of the body, and where it is set: the array belongs to the
	 * session and is all zeros between commits, so that a commit costs what the match has, not what the
	 * graph has. */
	uint32_t *map;
	PM_VEC(uint32_t) touched;
} Body;

static void map_value(Body *b, PmValue from, PmValue to)
{
	b->map[from.id] = to.id;
	PM_VEC_PUSH(&b->touched, from.id);
}

/* A type of the outer graph in terms of the body's symbols. */
static PmType inner_type(const PmGraph *from, PmGraph *to, PmType t)
{
	for (int k = 0; k < t.rank; k++)
		if (t.dim[k] < 0) {
			const char *name = pm_graph_symbol_name(from, t.dim[k]);

			t.dim[k] = name ? pm_graph_symbol(to, name) : pm_graph_fresh_symbol(to);
		}
	return t;
}

static PmStatus add_operand(Body *b, PmValue v, PmErr *err)
{
	PmType t = inner_type(b->rw->s->g, b->g, *pm_value_type(b->rw->s->g, v));
	PmValue in;
	PmStatus st = pm_graph_add_input(b->g, NULL, &t, &in, err);

	if (st)
		return st;
	PM_VEC_PUSH(&b->operand, v);
	if (!b->map[v.id]) /* an operand listed twice: the body reads the first */
		map_value(b, v, in);
	return PM_OK;
}

/* What the nodes read and the kernel does not take: small constants move in, the rest become operands that
 * no argument names. */
static PmStatus add_outside(Body *b, PmValue v, PmErr *err)
{
	const PmGraph *g = b->rw->s->g;
	const PmType *t = pm_value_type(g, v);
	const PmBlob *blob = pm_value_blob(g, v);
	int64_t n;
	PmValue c;
	PmStatus st;

	if (b->map[v.id])
		return PM_OK;
	if (!blob || !blob->data || pm_type_numel(t, &n, NULL) || n > PM_MAX_INLINE_CONST)
		return add_operand(b, v, err);
	st = pm_graph_add_const(b->g, NULL, t, pm_blob_ref((PmBlob *)(uintptr_t)blob), &c, err);
	if (!st)
		map_value(b, v, c);
	return st;
}

static PmStatus add_node(Body *b, PmNode n, PmErr *err)
{
	const PmGraph *g = b->rw->s->g;
	size_t n_in = pm_node_n_in(g, n), n_out = pm_node_n_out(g, n);
	PmValue *in = pm_xcalloc(n_in + 1, sizeof *in);
	PmNode to;
	PmStatus st;

	for (size_t k = 0; k < n_in; k++)
		in[k].id = b->map[pm_node_in(g, n, k).id];
	st = pm_graph_add_node(b->g, pm_node_op(g, n), in, n_in, n_out, &to, err);
	free(in);
	if (!st)
		st = pm_node_copy_attrs(b->g, to, g, n, err);
	for (size_t k = 0; k < n_out && !st; k++) {
		PmValue v = pm_node_out(g, n, k);
		PmType t = inner_type(g, b->g, *pm_value_type(g, v));

		map_value(b, v, pm_node_out(b->g, to, k));
		pm_value_set_type(b->g, pm_node_out(b->g, to, k), &t);
	}
	return st;
}

static PmStatus build_body(Body *b, PmErr *err)
{
	PmRewriter *rw = b->rw;
	const PmNodeSet *set = rw->set;
	PmStatus st = pm_graph_set_name(b->g, rw->rule, err);

	for (uint32_t k = 0; k < rw->n_in && !st; k++)
		st = add_operand(b, rw->in[k], err);
	for (size_t k = 0; k < set->in.n && !st; k++)
		st = add_outside(b, set->in.v[k], err);
	for (size_t k = 0; k < set->node.n && !st; k++)
		st = add_node(b, set->node.v[k], err);
	for (uint32_t k = 0; k < rw->n_out && !st; k++)
		st = pm_graph_add_output(b->g, (PmValue){ b->map[rw->out[k].id] }, err);
	if (!st)
		pm_graph_sweep(
			b->g); /* nodes of the match that no output needs: those that only kept values use */
	return st ? st : pm_graph_sort(b->g, err);
}

/* The fused node alone in a graph, through the verifier. */
static PmStatus verify_alone(const Body *b, const PmKernelDesc *d, PmErr *err)
{
	const PmGraph *g = b->rw->s->g;
	PmGraph *t = pm_graph_new(0);
	PmValue *in = pm_xcalloc(b->operand.n + 1, sizeof *in);
	PmStatus st = PM_OK;
	PmNode n = { 0 };

	for (size_t k = 0; k < b->operand.n && !st; k++) {
		PmType type = inner_type(g, t, *pm_value_type(g, b->operand.v[k]));

		st = pm_graph_add_input(t, NULL, &type, &in[k], err);
	}
	if (!st)
		st = pm_kernel_add(t, d, in, b->operand.n, &n, err);
	for (uint32_t k = 0; k < b->rw->n_out && !st; k++) {
		PmType want = inner_type(g, t, *pm_value_type(g, b->rw->out[k]));

		if (!pm_type_equal(&want, pm_value_type(t, pm_node_out(t, n, k))))
			st = pm_err(err, PM_E_INTERNAL,
				    "Output %u of the kernel of rule '%s' changed its type.", k, b->rw->rule);
		else
			st = pm_graph_add_output(t, pm_node_out(t, n, k), err);
	}
	if (!st)
		st = pm_graph_sort(t, err);
	if (!st)
		st = pm_verify(t, err);
	free(in);
	pm_graph_free(t);
	return st;
}

/* The fused node takes over uses and names; matched nodes that nothing uses any more go. */
static PmStatus put_in_place(Body *b, PmNode n, PmErr *err)
{
	PmRewriter *rw = b->rw;
	PmGraph *g = rw->s->g;
	PmStatus st = PM_OK;

	for (uint32_t k = 0; k < rw->n_out && !st; k++) {
		PmValue old = rw->out[k], now = pm_node_out(g, n, k);
		char *name = pm_xstrdup(pm_value_name(g, old));
		PmType t = *pm_value_type(g, old);

		pm_graph_replace_uses(g, old, now);
		pm_value_set_type(g, now, &t);
		st = pm_value_set_name(g, old, NULL, err);
		if (!st)
			st = pm_value_set_name(g, now, name, err);
		free(name);
	}
	for (size_t i = rw->set->node.n; i-- > 0 && !st;) {
		PmNode x = rw->set->node.v[i];
		int used = 0;

		for (size_t k = 0; k < pm_node_n_out(g, x); k++)
			used |= pm_value_n_uses(g, pm_node_out(g, x, k)) ||
				pm_value_is_output(g, pm_node_out(g, x, k));
		if (!used)
			st = pm_graph_kill_node(g, x, err);
	}
	return st;
}

/* Every value that is used outside has to come out of the kernel. */
static PmStatus check_outputs(PmRewriter *rw)
{
	for (size_t i = 0; i < rw->set->out.n; i++) {
		uint32_t k;

		for (k = 0; k < rw->n_out && rw->out[k].id != rw->set->out.v[i].id; k++)
			;
		if (k == rw->n_out) {
			snprintf(rw->s->why, sizeof rw->s->why,
				 "an interior value is used outside the match and is not replaced");
			return PM_DECLINED;
		}
	}
	return PM_OK;
}

PmStatus pm__commit(PmRewriter *rw, PmNode *node, PmErr *err)
{
	Body b = { .rw = rw };
	PmKernelDesc d = rw->desc;
	PmStatus st = check_outputs(rw);

	if (!st)
		st = pm__set_convex(rw->s, rw->set, rw->out, rw->n_out, err);
	if (st)
		return st;
	b.g = pm_graph_new(0);
	while (rw->s->map.n < pm_graph_value_limit(rw->s->g))
		PM_VEC_PUSH(&rw->s->map, 0u);
	b.map = rw->s->map.v;
	st = build_body(&b, err);
	d.name = rw->rule;
	d.body = b.g;
	if (!st)
		st = verify_alone(&b, &d, err);
	if (!st)
		st = pm_kernel_add(rw->s->g, &d, b.operand.v, b.operand.n, node, err);
	if (!st)
		st = put_in_place(&b, *node, err);
	PM_VEC_RELEASE(&b.operand);
	for (size_t i = 0; i < b.touched.n; i++)
		b.map[b.touched.v[i]] = 0;
	PM_VEC_RELEASE(&b.touched);
	pm_graph_free(b.g);
	return st;
}
