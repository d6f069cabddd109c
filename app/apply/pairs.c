/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.c - which node of a rewritten graph is which node of the original. */
#include "app/apply/pairs.h"

#include "base/core/vec.h"

#include <stdlib.h>
#include <string.h>

/* Value a of the original is value b. */
typedef struct Meet {
	PmValue a, b;
	uint32_t kernel; /* b is in the body of this node of the rewritten graph; 0 = in that graph itself */
} Meet;

typedef struct Walk {
	const PmGraph *before, *after;
	PmPairs *p;
	PM_VEC(Meet) work;
	PmErr *err;
} Walk;

const PmGraph *pm_pairs_body(const PmGraph *g, PmNode n)
{
	const PmAttr *a = pm_node_op(g, n) == PM_OP_Kernel ? pm_node_attr(g, n, "body") : NULL;

	return a && a->kind == PM_ATTR_GRAPH ? a->graph : NULL;
}

static void push(Walk *w, PmValue a, PmValue b, uint32_t kernel)
{
	if (b.id && !kernel && !w->p->value[b.id])
		w->p->value[b.id] = a.id;
	if (b.id)
		PM_VEC_PUSH(&w->work, ((Meet){ a, b, kernel }));
}

static PmStatus differ(const Walk *w, PmValue a)
{
	return pm_err(
		w->err, PM_E_INVALID,
		"The rewritten graph does not belong to the original: at value '%.200s' of the original "
		"they differ.",
		pm_value_name(w->before, a));
}

/* The input of a body is an operand of its kernel. */
static void leave_body(Walk *w, Meet m, const PmGraph *body)
{
	for (size_t i = 0; i < pm_graph_n_inputs(body); i++)
		if (pm_graph_input(body, i).id == m.b.id)
			push(w, m.a, pm_node_in(w->after, (PmNode){ m.kernel }, i), 0);
}

static PmStatus meet_nodes(Walk *w, Meet m, PmNode na, PmNode nb, const PmGraph *gb)
{
	uint32_t *to = m.kernel ? &w->p->inner[w->p->base[m.kernel] + nb.id] : &w->p->before[nb.id];
	size_t n_in = pm_node_n_in(gb, nb);

	if (*to)
		return *to == na.id ? PM_OK : differ(w, m.a);
	*to = na.id;
	if (pm_node_op(w->before, na) != pm_node_op(gb, nb) || pm_node_n_in(w->before, na) != n_in)
		return differ(w, m.a);
	for (size_t k = 0; k < n_in; k++)
		push(w, pm_node_in(w->before, na, k), pm_node_in(gb, nb, k), m.kernel);
	return PM_OK;
}

static PmStatus meet(Walk *w, Meet m)
{
	const PmGraph *gb = m.kernel ? pm_pairs_body(w->after, (PmNode){ m.kernel }) : w->after, *body;
	size_t result = 0;
	PmNode na = pm_value_def(w->before, m.a, NULL), nb = pm_value_def(gb, m.b, &result);

	if (!m.a.id)
		return differ(w, m.a);
	if (!nb.id) {
		if (m.kernel && pm_value_is_input(gb, m.b))
			leave_body(w, m, gb);
		return PM_OK;
	}
	body = m.kernel ? NULL : pm_pairs_body(gb, nb);
	if (body && pm_node_op(w->before, na) != PM_OP_Kernel) {
		push(w, m.a, pm_graph_output(body, result), nb.id);
		return PM_OK;
	}
	return na.id ? meet_nodes(w, m, na, nb, gb) : differ(w, m.a);
}

/* What is in a body and nowhere else. */
static void set_kernels(const Walk *w)
{
	char *stays = pm_xcalloc(pm_graph_node_limit(w->before) + 1, 1);

	for (uint32_t id = 0; id < pm_graph_node_limit(w->after); id++)
		stays[w->p->before[id]] = 1;
	for (size_t i = 0; i < pm_graph_n_nodes(w->after); i++) {
		PmNode n = pm_graph_node_at(w->after, i);
		const PmGraph *body = pm_pairs_body(w->after, n);

		for (uint32_t k = 0; body && k < pm_graph_node_limit(body); k++) {
			uint32_t at = w->p->inner[w->p->base[n.id] + k];

			if (at && !stays[at] && !w->p->kernel[at])
				w->p->kernel[at] = n.id;
		}
	}
	free(stays);
}

static PmStatus walk(Walk *w)
{
	size_t n = pm_graph_n_outputs(w->after);
	PmStatus st = PM_OK;

	if (n != pm_graph_n_outputs(w->before))
		return pm_err(w->err, PM_E_INVALID, "The rewritten graph has %zu outputs, the original %zu.",
			      n, pm_graph_n_outputs(w->before));
	for (size_t i = 0; i < n; i++)
		push(w, pm_graph_output(w->before, i), pm_graph_output(w->after, i), 0);
	while (!st && w->work.n) {
		Meet m = w->work.v[--w->work.n];

		st = meet(w, m);
	}
	return st;
}

PmStatus pm_pairs_make(const PmGraph *before, const PmGraph *after, PmPairs *out, PmErr *err)
{
	Walk w = { .before = before, .after = after, .p = out, .err = err };
	size_t n = 0;
	PmStatus st;

	*out = (PmPairs){ .before = pm_xcalloc(pm_graph_node_limit(after) + 1, sizeof *out->before),
			  .kernel = pm_xcalloc(pm_graph_node_limit(before) + 1, sizeof *out->kernel),
			  .value = pm_xcalloc(pm_graph_value_limit(after) + 1, sizeof *out->value),
			  .base = pm_xcalloc(pm_graph_node_limit(after) + 1, sizeof *out->base) };
	for (size_t i = 0; i < pm_graph_n_nodes(after); i++) {
		PmNode at = pm_graph_node_at(after, i);
		const PmGraph *body = pm_pairs_body(after, at);

		out->base[at.id] = n;
		n += body ? pm_graph_node_limit(body) : 0;
	}
	out->inner = pm_xcalloc(n + 1, sizeof *out->inner);
	st = walk(&w);
	if (!st)
		set_kernels(&w);
	else
		pm_pairs_release(out);
	PM_VEC_RELEASE(&w.work);
	return st;
}

void pm_pairs_release(PmPairs *p)
{
	free(p->before);
	free(p->kernel);
	free(p->value);
	free(p->base);
	free(p->inner);
	*p = (PmPairs){ 0 };
}
