/* SPDX-License-Identifier: Apache-2.0 */
/* category.c - counts a graph's operators by kind, and asks the rules of categories.def. */
#include "ir/category/category.h"

#include "base/core/renamed.h"

#include <string.h>

/* Nodes that are looked at on the way from a softmax to a product: between them stand a scale, a mask, moves.
 */
enum { REACH = 64 };

typedef struct Features {
	int product, conv, softmax, act, norm, pool, resize, index, move, scan, reduce, arith, ew, other;
	int work, fill, outputs, scalar, restored, wide, compared, step, attends, resized;
	int inputs, alike, rank;
} Features;

/* The counter of an operator's kind; NULL for what is not counted. */
static int *counter(Features *f, PmOp op)
{
	uint32_t flags = pm_op_desc(op)->flags;

#define KIND(kind, name)                                                                                     \
	if (op == PM_OP_##name)                                                                              \
		return &f->kind;
#include "ir/category/categories.def"
	if (op == PM_OP_Cast || op == PM_OP_Trilu || (flags & PM_OPF_VIEW))
		return NULL;
	return flags & PM_OPF_DOT    ? &f->product
	       : flags & PM_OPF_POOL ? &f->pool
	       : flags & PM_OPF_NORM ? &f->norm
	       : flags & PM_OPF_RED  ? &f->reduce
	       : flags & PM_OPF_EW   ? &f->ew
	       : flags & PM_OPF_MOVE ? &f->move
				     : &f->other;
}

/* Elements of a value; -1 when a size is not known. */
static int64_t elements(const PmGraph *g, PmValue v)
{
	const PmType *t = pm_value_type(g, v);
	int64_t n = 1;

	if (t->rank < 0)
		return -1;
	for (int k = 0; k < t->rank; k++) {
		if (t->dim[k] < 0 || (t->dim[k] > 0 && n > INT64_MAX / t->dim[k]))
			return -1;
		n *= t->dim[k];
	}
	return n;
}

static int same_shape(const PmGraph *g, PmValue a, PmValue b)
{
	const PmType *x = pm_value_type(g, a), *y = pm_value_type(g, b);

	return x->rank >= 0 && x->rank == y->rank &&
	       !memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim);
}

static int is_wide(const PmGraph *g, PmNode n)
{
	int64_t y = elements(g, pm_node_out(g, n, 0));

	for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
		PmValue v = pm_node_in(g, n, k);
		int64_t x = v.id ? elements(g, v) : y;

		if (x != y && (x != 1 || !pm_value_is_const(g, v)))
			return 1;
	}
	return 0;
}

/* Where (mask, constant of one element, x), or with the last two exchanged. */
static int is_fill(const PmGraph *g, PmNode n)
{
	for (size_t k = 1; k < 3 && pm_node_op(g, n) == PM_OP_Where; k++) {
		PmValue v = pm_node_in(g, n, k);

		if (pm_value_is_const(g, v) && elements(g, v) == 1)
			return 1;
	}
	return 0;
}

/* Whether a Sub has no constant operand. */
static int is_comparison(const PmGraph *g, PmNode n)
{
	return pm_node_op(g, n) == PM_OP_Sub && !pm_value_is_const(g, pm_node_in(g, n, 0)) &&
	       !pm_value_is_const(g, pm_node_in(g, n, 1));
}

/* Whether an Add or Sub that gives a result takes an input of its shape and a computed value. */
static int is_step(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	PmValue y = pm_node_out(g, n, 0);

	if ((op != PM_OP_Sub && op != PM_OP_Add) || !pm_value_is_output(g, y))
		return 0;
	for (size_t k = 0; k < (op == PM_OP_Add ? 2u : 1u); k++) {
		PmValue p = pm_node_in(g, n, k), step = pm_node_in(g, n, 1 - k);

		if (pm_value_is_input(g, p) && same_shape(g, p, y) && pm_value_def(g, step, NULL).id)
			return 1;
	}
	return 0;
}

/* ---- attention ---- */

/* What stands between scores and values: nothing that is another layer. */
static int is_between(PmOp op)
{
	Features f = { 0 };
	const int *c = counter(&f, op);

	return !c || c == &f.ew || c == &f.arith || c == &f.move;
}

/* Whether a product is reached from the value against the flow, by at most *left nodes. */
static int from_product(const PmGraph *g, PmValue v, int *left)
{
	PmNode n = pm_value_def(g, v, NULL);

	if (!n.id)
		return 0;
	if (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_DOT)
		return 1;
	if (--*left < 0 || !is_between(pm_node_op(g, n)))
		return 0;
	for (size_t k = 0; k < pm_node_n_in(g, n); k++)
		if (from_product(g, pm_node_in(g, n, k), left))
			return 1;
	return 0;
}

/* Likewise with the flow. */
static int to_product(const PmGraph *g, PmValue v, int *left)
{
	for (PmUse u = pm_value_first_use(g, v); u.slot; u = pm_use_next(g, u)) {
		PmOp op = pm_node_op(g, u.node);

		if (pm_op_desc(op)->flags & PM_OPF_DOT)
			return 1;
		if (--*left < 0)
			return 0;
		if (is_between(op) && to_product(g, pm_node_out(g, u.node, 0), left))
			return 1;
	}
	return 0;
}

/* Whether a softmax is of a product's scores and weighs a product. */
static int is_attention(const PmGraph *g, PmNode softmax)
{
	int before = REACH, behind = REACH;

	return from_product(g, pm_node_in(g, softmax, 0), &before) &&
	       to_product(g, pm_node_out(g, softmax, 0), &behind);
}

/* ---- features ---- */

static void count_node(const PmGraph *g, PmNode n, Features *f)
{
	PmOp op = pm_node_op(g, n);
	int *c = counter(f, op);

	if (!c)
		return;
	++*c;
	f->work++;
	f->ew += c == &f->act || c == &f->arith;
	f->fill += is_fill(g, n);
	f->wide |= (pm_op_desc(op)->flags & PM_OPF_EW) && is_wide(g, n);
	f->compared |= is_comparison(g, n);
	f->step |= is_step(g, n);
	/* One softmax decides; of many, that there are many. */
	if (c == &f->softmax && f->softmax == 1)
		f->attends = is_attention(g, n);
}

/* Returns the elements of the largest input. */
static int64_t count_inputs(const PmGraph *g, Features *f)
{
	PmValue first = { 0 };
	int64_t most = 0;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		PmValue v = pm_graph_input(g, i);
		int64_t n = elements(g, v);

		most = n > most ? n : most;
		if (n == 1 || !pm_value_n_uses(g, v))
			continue;
		f->inputs++;
		if (!pm_dtype_is_float(pm_value_type(g, v)->dtype))
			continue;
		first = first.id ? first : v;
		f->alike += same_shape(g, first, v);
	}
	f->rank = first.id ? pm_value_type(g, first)->rank : 0;
	return most;
}

static void count(const PmGraph *g, Features *f)
{
	int64_t most = count_inputs(g, f);

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		count_node(g, pm_graph_node_at(g, i), f);
	f->outputs = (int)pm_graph_n_outputs(g);
	f->scalar = f->outputs > 0;
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		f->scalar &= elements(g, pm_graph_output(g, i)) == 1;
	if (f->outputs) {
		PmValue y = pm_graph_output(g, 0);
		PmNode n = pm_value_def(g, y, NULL);

		f->restored = most > 1 && elements(g, y) == most;
		f->resized = n.id && counter(f, pm_node_op(g, n)) == &f->resize;
	}
}

PmCategory pm_category_of(const PmGraph *g, const char **why)
{
	Features all = { 0 }, *f = &all;

	count(g, f);
#define RULE(category, condition, text)                                                                      \
	if (condition) {                                                                                     \
		if (why)                                                                                     \
			*why = text;                                                                         \
		return PM_CATEGORY_##category;                                                               \
	}
#include "ir/category/categories.def"
	return PM_CATEGORY_fuse; /* the last rule holds always */
}

static const char *const names[][2] = {
#define CATEGORY(name, what) { #name, what },
#include "ir/category/categories.def"
};

const char *pm_category_name(PmCategory c)
{
	return c < PM_N_CATEGORIES ? names[c][0] : "unknown";
}

const char *pm_category_what(PmCategory c)
{
	return c < PM_N_CATEGORIES ? names[c][1] : "unknown";
}

PmCategory pm_category_from_name(const char *name)
{
	const char *now = pm_renamed_category(name);
	int c = 0;

	while (c < PM_N_CATEGORIES && strcmp(names[c][0], now))
		c++;
	return (PmCategory)c;
}
