/* SPDX-License-Identifier: Apache-2.0 */
/* merge.c - two nodes that one can do. */
#include "simplify/simplify_priv.h"

#include "base/core/str.h"
#include "base/core/vec.h"
#include "ir/infer/infer.h"

#include <stdlib.h>
#include <string.h>

/* ---- transposes ---- */

/* x -> Transpose(p) -> Transpose(q): result axis i is axis p[q[i]] of x. */
static PmStatus merge_perms(PmGraph *g, PmNode inner, PmNode outer, PmErr *err)
{
	int64_t perm[PM_MAX_RANK];
	const int64_t *p, *q;
	size_t i, np = pm_node_ints(g, inner, "perm", &p), nq = pm_node_ints(g, outer, "perm", &q);

	if (np != nq || nq > PM_MAX_RANK)
		return PM_DECLINED;
	for (i = 0; i < nq; i++)
		perm[i] = p[q[i]];
	pm_node_set_operand(g, outer, 0, pm_node_in(g, inner, 0));
	return pm_node_set_ints(g, outer, "perm", perm, nq, err);
}

PmStatus pm__simplify_merge_transposes(PmGraph *g, size_t *changes, PmErr *err)
{
	uint32_t id, limit = pm_graph_node_limit(g);
	PmStatus st = PM_OK;

	for (id = 1; id < limit && !st; id++) {
		PmNode n = { id }, inner = pm_value_def(g, pm_node_in(g, n, 0), NULL);

		if (pm_node_op(g, n) != PM_OP_Transpose || pm_node_op(g, inner) != PM_OP_Transpose)
			continue;
		st = merge_perms(g, inner, n, err);
		*changes += st == PM_OK;
		st = st == PM_DECLINED ? PM_OK : st;
	}
	return st;
}

/* ---- reshapes ---- */

static int keeps_order(PmOp op)
{
	return op == PM_OP_Reshape || op == PM_OP_Flatten || op == PM_OP_Squeeze || op == PM_OP_Unsqueeze;
}

/* Whether the shape operand means the same whatever the input's shape is: no 0 that copies a size of it. */
static int shape_stands_alone(const PmGraph *g, PmNode n)
{
	int64_t v[PM_MAX_RANK];
	size_t i, count;

	if (pm_value_const_ints(g, pm_node_in(g, n, 1), v, PM_MAX_RANK, &count) != PM_OK)
		return 0;
	for (i = 0; i < count && v[i] != 0; i++)
		;
	return i == count;
}

PmStatus pm__simplify_merge_reshapes(PmGraph *g, size_t *changes, PmErr *err)
{
	uint32_t id, limit = pm_graph_node_limit(g);

	(void)err;
	for (id = 1; id < limit; id++) {
		PmNode n = { id }, inner = pm_value_def(g, pm_node_in(g, n, 0), NULL);

		if (pm_node_op(g, n) != PM_OP_Reshape || !keeps_order(pm_node_op(g, inner)) ||
		    !pm_type_is_static(pm_value_type(g, pm_node_out(g, n, 0))) || !shape_stands_alone(g, n))
			continue;
		pm_node_set_operand(g, n, 0, pm_node_in(g, inner, 0));
		++*changes;
	}
	return PM_OK;
}

/* ---- common subexpressions ---- */

static void add_raw(PmStr *key, const void *p, size_t n)
{
	pm_str_addn(key, &n, sizeof n);
	pm_str_addn(key, p, n);
}

static void add_attr(const PmAttr *a, PmStr *key)
{
	size_t i;

	add_raw(key, a->name, strlen(a->name));
	pm_str_addi(key, (int)a->kind);
	if (a->kind == PM_ATTR_INT)
		add_raw(key, &a->i, sizeof a->i);
	else if (a->kind == PM_ATTR_FLOAT)
		add_raw(key, &a->f, sizeof a->f);
	else if (a->kind == PM_ATTR_STRING)
		add_raw(key, a->s, a->n);
	else if (a->kind == PM_ATTR_INTS)
		add_raw(key, a->ints, a->n * sizeof *a->ints);
	else if (a->kind == PM_ATTR_FLOATS)
		add_raw(key, a->floats, a->n * sizeof *a->floats);
	for (i = 0; a->kind == PM_ATTR_STRINGS && i < a->n; i++)
		add_raw(key, a->strings[i], strlen(a->strings[i]));
}

static void add_type(const PmType *t, PmStr *key)
{
	pm_str_addi(key, t->dtype);
	pm_str_addc(key, ',');
	pm_str_addi(key, t->rank);
	if (t->rank > 0)
		add_raw(key, t->dim, (size_t)t->rank * sizeof *t->dim);
}

/* Everything that a node's results depend on; 0 when it must not be merged. */
static int node_key(const PmGraph *g, PmNode n, PmStr *key)
{
	PmOp op = pm_node_op(g, n);
	size_t k;

	if (op == PM_OP_NONE || pm_op_desc(op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_RANDOM))
		return 0;
	pm_str_add(key, "node ");
	pm_str_addi(key, (int)op);
	for (k = 0; k < pm_node_n_in(g, n); k++) {
		pm_str_addc(key, ' ');
		pm_str_addi(key, pm_node_in(g, n, k).id);
	}
	pm_str_addc(key, ';');
	for (k = 0; k < pm_node_n_attrs(g, n); k++) {
		const PmAttr *a = pm_node_attr_at(g, n, k);

		if (a->kind == PM_ATTR_GRAPH || (a->kind == PM_ATTR_TENSOR && (!a->blob || !a->blob->data)))
			return 0;
		add_attr(a, key);
		if (a->kind == PM_ATTR_TENSOR) {
			add_type(&a->type, key);
			add_raw(key, a->blob->data, a->blob->size);
		}
	}
	for (k = 0; k < pm_node_n_out(g, n); k++)
		add_type(pm_value_type(g, pm_node_out(g, n, k)), key);
	return 1;
}

enum { SMALL = 4096 }; /* bytes of a constant that is compared */

static int const_key(const PmGraph *g, PmValue v, PmStr *key)
{
	const PmBlob *b = pm_value_blob(g, v);

	if (!b || !b->data || b->size > SMALL)
		return 0;
	pm_str_add(key, "const ");
	add_type(pm_value_type(g, v), key);
	add_raw(key, b->data, b->size);
	return 1;
}

typedef struct Seen {
	PmIntern *keys;
	PM_VEC(uint32_t) first; /* by key: the first node or constant */
} Seen;

/* The first with this key, `id` itself when there was none. */
static uint32_t first_of(Seen *s, const PmStr *key, uint32_t id)
{
	uint32_t at = pm_intern(s->keys, key->s, key->len);

	while (s->first.n <= at)
		PM_VEC_PUSH(&s->first, 0u);
	if (!s->first.v[at])
		s->first.v[at] = id;
	return s->first.v[at];
}

static void merge_constants(PmGraph *g, Seen *seen, size_t *changes)
{
	uint32_t id, limit = pm_graph_value_limit(g);
	PmStr key = PM_STR_INIT;

	for (id = 1; id < limit; id++) {
		PmValue v = { id }, first;

		pm_str_clear(&key);
		if (pm_value_is_output(g, v) || !const_key(g, v, &key))
			continue;
		first.id = first_of(seen, &key, id);
		if (first.id == id || !pm_value_n_uses(g, v))
			continue;
		pm_graph_replace_uses(g, v, first);
		++*changes;
	}
	pm_str_release(&key);
}

/* All results of n become those of `first`; 0 when one is an output that has to keep its name. */
static int merge_node(PmGraph *g, PmNode n, PmNode first)
{
	size_t k, n_out = pm_node_n_out(g, n);

	for (k = 0; k < n_out; k++)
		if (pm_value_is_output(g, pm_node_out(g, n, k)))
			return 0;
	for (k = 0; k < n_out; k++)
		pm_graph_replace_uses(g, pm_node_out(g, n, k), pm_node_out(g, first, k));
	return pm_graph_kill_node(g, n, NULL) == PM_OK;
}

PmStatus pm__simplify_common(PmGraph *g, size_t *changes, PmErr *err)
{
	Seen seen = { pm_intern_new(), { NULL, 0, 0 } };
	uint32_t *order, n_nodes = (uint32_t)pm_graph_n_nodes(g), i;
	PmStr key = PM_STR_INIT;

	(void)err;
	merge_constants(g, &seen, changes);
	/* In execution order, noted before: killing shifts it. */
	order = pm_xcalloc((size_t)n_nodes + 1, sizeof *order);
	for (i = 0; i < n_nodes; i++)
		order[i] = pm_graph_node_at(g, i).id;
	for (i = 0; i < n_nodes; i++) {
		PmNode n = { order[i] }, first;

		pm_str_clear(&key);
		if (!node_key(g, n, &key))
			continue;
		first.id = first_of(&seen, &key, n.id);
		if (first.id != n.id)
			*changes += (size_t)merge_node(g, n, first);
	}
	free(order);
	pm_str_release(&key);
	pm_intern_free(seen.keys);
	PM_VEC_RELEASE(&seen.first);
	return PM_OK;
}
