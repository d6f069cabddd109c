/* SPDX-License-Identifier: Apache-2.0 */
/* fused.c - pairs of values that mean the same in two graphs, found from the outputs on. */
#include "app/report/fused.h"

#include "base/core/arena.h"

#include <stdlib.h>
#include <string.h>

/* A value of the original, and the same value in the rewritten graph or in the body of one of its kernels. */
typedef struct Pair {
	PmValue was;
	PmValue is;
	uint32_t kernel; /* 1 + the number of the kernel in whose body `is` is; 0 = in the graph itself */
} Pair;

typedef struct Walk {
	const PmGraph *was, *is;
	PmFused *f;
	uint32_t *place;  /* by node id of the original */
	uint32_t *number; /* by node id of the rewritten graph: 1 + number of the kernel */
	char *seen;       /* by value id of the original */
	PM_VEC(Pair) todo;
} Walk;

static const PmGraph *body_of(const Walk *w, uint32_t kernel)
{
	const PmAttr *a = kernel ? pm_node_attr(w->is, w->f->kernel.v[kernel - 1].node, "body") : NULL;

	return a ? a->graph : NULL;
}

/* The same value where it comes from: out of a body to the operand, and into the body of a kernel. */
static int follow(const Walk *w, Pair *p)
{
	const PmGraph *body = body_of(w, p->kernel);
	size_t k;

	if (body && pm_value_is_input(body, p->is)) {
		PmNode n = w->f->kernel.v[p->kernel - 1].node;

		for (k = 0; k < pm_graph_n_inputs(body) && pm_graph_input(body, k).id != p->is.id; k++)
			continue;
		p->is = pm_node_in(w->is, n, k);
		p->kernel = 0;
	}
	if (!p->kernel) {
		PmNode n = pm_value_def(w->is, p->is, NULL);
		uint32_t number = n.id ? w->number[n.id] : 0;

		if (!number)
			return 1;
		body = body_of(w, number);
		for (k = 0; k < pm_node_n_out(w->is, n) && pm_node_out(w->is, n, k).id != p->is.id; k++)
			continue;
		if (!body)
			return 0;
		p->is = pm_graph_output(body, k);
		p->kernel = number;
		if (pm_value_is_input(body,
				      p->is)) /* a kernel that hands an operand on: nothing of the original */
			return 0;
	}
	return 1;
}

static void push(Walk *w, PmValue was, PmValue is, uint32_t kernel)
{
	if (was.id && is.id && !w->seen[was.id]) {
		w->seen[was.id] = 1;
		PM_VEC_PUSH(&w->todo, ((Pair){ was, is, kernel }));
	}
}

static void step(Walk *w, Pair p)
{
	const PmGraph *g = w->is;
	PmNode was = pm_value_def(w->was, p.was, NULL), is;

	if (!was.id || !follow(w, &p))
		return;
	if (p.kernel)
		g = body_of(w, p.kernel);
	is = pm_value_def(g, p.is, NULL);
	if (!is.id || pm_node_op(w->was, was) != pm_node_op(g, is) ||
	    pm_node_n_in(w->was, was) != pm_node_n_in(g, is))
		return;
	if (p.kernel && !w->f->of[w->place[was.id]]) {
		w->f->of[w->place[was.id]] = p.kernel;
		w->f->kernel.v[p.kernel - 1].n_nodes++;
	}
	for (size_t k = 0; k < pm_node_n_in(g, is); k++)
		push(w, pm_node_in(w->was, was, k), pm_node_in(g, is, k), p.kernel);
}

void pm_fused_find(const PmGraph *original, const PmGraph *rewritten, PmFused *out)
{
	Walk w = { .was = original, .is = rewritten, .f = out };

	*out = (PmFused){ .n_nodes = pm_graph_n_nodes(original) };
	out->of = pm_xcalloc(out->n_nodes + 1, sizeof *out->of);
	w.place = pm_xcalloc((size_t)pm_graph_node_limit(original) + 1, sizeof *w.place);
	w.number = pm_xcalloc((size_t)pm_graph_node_limit(rewritten) + 1, sizeof *w.number);
	w.seen = pm_xcalloc((size_t)pm_graph_value_limit(original) + 1, 1);
	for (size_t i = 0; i < out->n_nodes; i++)
		w.place[pm_graph_node_at(original, i).id] = (uint32_t)i;
	for (size_t i = 0; i < pm_graph_n_nodes(rewritten); i++) {
		PmNode n = pm_graph_node_at(rewritten, i);

		if (pm_node_op(rewritten, n) != PM_OP_Kernel)
			continue;
		PM_VEC_PUSH(&out->kernel, ((PmFusedKernel){ n, 0 }));
		w.number[n.id] = (uint32_t)out->kernel.n;
	}
	for (size_t i = 0; i < pm_graph_n_outputs(original); i++)
		push(&w, pm_graph_output(original, i), pm_graph_output(rewritten, i), 0);
	while (w.todo.n)
		step(&w, w.todo.v[--w.todo.n]);
	PM_VEC_RELEASE(&w.todo);
	free(w.place);
	free(w.number);
	free(w.seen);
}

void pm_fused_release(PmFused *f)
{
	free(f->of);
	PM_VEC_RELEASE(&f->kernel);
}
