/* noise.c - nodes that change nothing, constants that are there twice. */
#include "ir/noise.h"

#include "base/str.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CONST = 1024 }; /* bytes of a constant that is compared */

static int same_dims(const PmType *a, const PmType *b)
{
	int i;

	if (a->rank < 0 || a->rank != b->rank || a->dtype != b->dtype || a->dtype < 0)
		return 0;
	for (i = 0; i < a->rank; i++) {
		if (a->dim[i] < 0 || a->dim[i] != b->dim[i])
			return 0;
	}
	return 1;
}

static int always(const PmGraph *g, PmNode n)
{
	(void)g;
	(void)n;
	return 1;
}

static int keeps_type(const PmGraph *g, PmNode n)
{
	int in = pm_value_type(g, pm_node_in(g, n, 0))->dtype;

	return in >= 0 && in == pm_value_type(g, pm_node_out(g, n, 0))->dtype;
}

static int keeps_dims(const PmGraph *g, PmNode n)
{
	return same_dims(pm_value_type(g, pm_node_in(g, n, 0)), pm_value_type(g, pm_node_out(g, n, 0)));
}

static int keeps_order(const PmGraph *g, PmNode n)
{
	const int64_t *perm;
	size_t i, count = pm_node_ints(g, n, "perm", &perm);

	for (i = 0; i < count; i++) {
		if (perm[i] != (int64_t)i)
			return 0;
	}
	return count > 0;
}

/* Of the size it has and forwards: all of it. */
static int takes_all(const PmGraph *g, PmNode n)
{
	const int64_t *steps;
	size_t i, count = pm_node_ints(g, n, "steps", &steps);

	for (i = 0; i < count; i++) {
		if (steps[i] != 1)
			return 0;
	}
	return keeps_dims(g, n);
}

static int joins_one(const PmGraph *g, PmNode n)
{
	return pm_node_n_in(g, n) == 1;
}

static const struct Rule {
	PmOp op;
	int (*holds)(const PmGraph *g, PmNode n);
} rules[] = {
	{ PM_OP_Identity, always },    { PM_OP_Cast, keeps_type },   { PM_OP_Transpose, keeps_order },
	{ PM_OP_Reshape, keeps_dims }, { PM_OP_Expand, keeps_dims }, { PM_OP_Flatten, keeps_dims },
	{ PM_OP_Slice, takes_all },    { PM_OP_Concat, joins_one },
};

/* 1 when the node's only result equals its first operand, element by element in the same order. */
static int changes_nothing(const PmGraph *g, PmNode n)
{
	size_t i;

	if (pm_node_n_out(g, n) != 1 || !pm_node_in(g, n, 0).id)
		return 0;
	for (i = 0; i < sizeof rules / sizeof rules[0]; i++) {
		if (rules[i].op == pm_node_op(g, n))
			return rules[i].holds(g, n);
	}
	return 0;
}

static int may_go(const PmGraph *g, PmNode n)
{
	PmValue from = pm_node_in(g, n, 0);

	if (!pm_value_is_output(g, pm_node_out(g, n, 0)))
		return 1;
	return pm_value_def(g, from, NULL).id && !pm_value_is_output(g, from);
}

static size_t drop_nodes(PmGraph *g)
{
	PM_VEC(PmNode) nodes = { NULL, 0, 0 };
	size_t i, dropped = 0;

	for (i = 0; i < pm_graph_n_nodes(g); i++)
		PM_VEC_PUSH(&nodes, pm_graph_node_at(g, i));
	for (i = 0; i < nodes.n; i++) {
		PmNode n = nodes.v[i];

		if (!changes_nothing(g, n) || !may_go(g, n))
			continue;
		pm_graph_replace_uses(g, pm_node_out(g, n, 0), pm_node_in(g, n, 0));
		dropped += pm_graph_kill_node(g, n, NULL) == PM_OK;
	}
	PM_VEC_RELEASE(&nodes);
	return dropped;
}

static void merge_constants(PmGraph *g)
{
	PmIntern *seen = pm_intern_new();
	PM_VEC(uint32_t) first = { NULL, 0, 0 };
	PmStr key = PM_STR_INIT;
	uint32_t id, limit = pm_graph_value_limit(g), k;

	PM_VEC_PUSH(&first, 0);
	for (id = 1; id < limit; id++) {
		PmValue v = { id };
		const PmBlob *b = pm_value_blob(g, v);

		if (!pm_value_is_const(g, v) || pm_value_is_output(g, v) || !b || b->size > MAX_CONST ||
		    (b->size && !b->data))
			continue;
		pm_str_clear(&key);
		pm_type_describe(pm_value_type(g, v), &key);
		pm_str_addc(&key, '=');
		pm_str_addn(&key, b->data, b->size);
		k = pm_intern(seen, key.s, key.len);
		if (k == first.n)
			PM_VEC_PUSH(&first, id);
		else
			pm_graph_replace_uses(g, v, (PmValue){ first.v[k] });
	}
	pm_str_release(&key);
	PM_VEC_RELEASE(&first);
	pm_intern_free(seen);
}

size_t pm_graph_drop_noise(PmGraph *g)
{
	size_t dropped = drop_nodes(g);

	merge_constants(g);
	return dropped + pm_graph_sweep(g);
}
