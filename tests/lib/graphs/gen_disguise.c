/* SPDX-License-Identifier: Apache-2.0 */
/* gen_disguise.c - a graph that means the same and looks different. */
#include "base/core/vec.h"
#include "ir/infer/infer.h"
#include "tests/lib/graphs/gen_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Disguise {
	const PmGraph *from;
	PmGraph *to;
	PmRng rng;
	PmValue *map;    /* by old value id */
	size_t *waiting; /* by node id: operands whose definition is not copied yet */
	PM_VEC(uint32_t) ready;
} Disguise;

static void new_name(Disguise *d, char *buf, size_t size)
{
	snprintf(buf, size, "n%016llx", (unsigned long long)pm_rng_u64(&d->rng));
}

static PmType new_type(Disguise *d, const PmType *t)
{
	PmType r = *t;
	char name[64];
	int i;

	for (i = 0; i < r.rank; i++) {
		if (r.dim[i] < 0) {
			snprintf(name, sizeof name, "dim_%s", pm_graph_symbol_name(d->from, r.dim[i]));
			r.dim[i] = pm_graph_symbol(d->to, name);
		}
	}
	return r;
}

static void copy_source(Disguise *d, PmValue v)
{
	PmType t = new_type(d, pm_value_type(d->from, v));
	char name[32];

	new_name(d, name, sizeof name);
	if (pm_value_is_const(d->from, v))
		pm_graph_add_const(d->to, name, &t, pm_value_blob_ref(d->from, v), &d->map[v.id], NULL);
	else
		pm_graph_add_input(d->to, name, &t, &d->map[v.id], NULL);
}

static void copy_sources(Disguise *d)
{
	uint32_t limit = pm_graph_value_limit(d->from), id, n = 0, k, t;
	uint32_t *order = pm_xcalloc((size_t)limit + 1, sizeof *order);

	for (id = 1; id < limit; id++) {
		if (pm_value_is_input(d->from, (PmValue){ id }) ||
		    pm_value_is_const(d->from, (PmValue){ id }))
			order[n++] = id;
	}
	for (id = n; id-- > 1;) {
		k = (uint32_t)pm_rng_range(&d->rng, 0, id);
		t = order[id];
		order[id] = order[k];
		order[k] = t;
	}
	for (id = 0; id < n; id++)
		copy_source(d, (PmValue){ order[id] });
	free(order);
}

static void copy_node(Disguise *d, PmNode n)
{
	size_t k, n_in = pm_node_n_in(d->from, n);
	PmValue *in = pm_xcalloc(n_in + 1, sizeof *in), t;
	PmOp op = pm_node_op(d->from, n);
	char name[32];
	PmNode made;

	for (k = 0; k < n_in; k++)
		in[k] = d->map[pm_node_in(d->from, n, k).id];
	if ((pm_op_desc(op)->flags & PM_OPF_COMM) && n_in >= 2 && (pm_rng_u64(&d->rng) & 1)) {
		t = in[0];
		in[0] = in[1];
		in[1] = t;
	}
	pm_graph_add_node(d->to, op, in, n_in, pm_node_n_out(d->from, n), &made, NULL);
	if (op == PM_OP_Opaque)
		pm_node_set_opaque(d->to, made, pm_node_domain(d->from, n), pm_node_op_name(d->from, n),
				   NULL);
	pm_node_copy_attrs(d->to, made, d->from, n, NULL);
	new_name(d, name, sizeof name);
	pm_node_set_name(d->to, made, name, NULL);
	for (k = 0; k < pm_node_n_out(d->from, n); k++) {
		PmValue old = pm_node_out(d->from, n, k), v = pm_node_out(d->to, made, k);
		PmType type = new_type(d, pm_value_type(d->from, old));

		d->map[old.id] = v;
		pm_value_set_type(d->to, v, &type);
		new_name(d, name, sizeof name);
		pm_value_set_name(d->to, v, name, NULL);
	}
	free(in);
}

/* A node nothing depends on. */
static void add_dead(Disguise *d)
{
	PmValue x = pm_graph_input(d->to, 0);
	PmNode n;

	if (x.id && pm_graph_add_node(d->to, PM_OP_Identity, &x, 1, 1, &n, NULL) == PM_OK)
		pm_infer_node(d->to, n, NULL);
}

static void release_users(Disguise *d, PmNode n)
{
	size_t k;

	for (k = 0; k < pm_node_n_out(d->from, n); k++) {
		PmUse u = pm_value_first_use(d->from, pm_node_out(d->from, n, k));

		for (; u.slot; u = pm_use_next(d->from, u)) {
			if (--d->waiting[u.node.id] == 0)
				PM_VEC_PUSH(&d->ready, u.node.id);
		}
	}
}

static void copy_nodes(Disguise *d)
{
	size_t i, k, n = pm_graph_n_nodes(d->from);

	for (i = 0; i < n; i++) {
		PmNode at = pm_graph_node_at(d->from, i);

		for (k = 0; k < pm_node_n_in(d->from, at); k++)
			d->waiting[at.id] += pm_value_def(d->from, pm_node_in(d->from, at, k), NULL).id != 0;
		if (!d->waiting[at.id])
			PM_VEC_PUSH(&d->ready, at.id);
	}
	while (d->ready.n) {
		PmNode at;

		k = (size_t)pm_rng_range(&d->rng, 0, (int64_t)d->ready.n - 1);
		at.id = d->ready.v[k];
		d->ready.v[k] = d->ready.v[--d->ready.n];
		copy_node(d, at);
		release_users(d, at);
		if (pm_rng_range(&d->rng, 0, 9) == 0)
			add_dead(d);
	}
}

PmGraph *gen_disguise(const PmGraph *g, uint64_t seed)
{
	Disguise d;
	size_t i;

	memset(&d, 0, sizeof d);
	d.from = g;
	d.to = pm_graph_new(0);
	pm_rng_init_named(&d.rng, seed, "gen_disguise");
	d.map = pm_xcalloc((size_t)pm_graph_value_limit(g) + 1, sizeof *d.map);
	d.waiting = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *d.waiting);
	copy_sources(&d);
	copy_nodes(&d);
	for (i = 0; i < pm_graph_n_outputs(g); i++)
		pm_graph_add_output(d.to, d.map[pm_graph_output(g, i).id], NULL);
	PM_VEC_RELEASE(&d.ready);
	free(d.map);
	free(d.waiting);
	return d.to;
}
