/* SPDX-License-Identifier: Apache-2.0 */
/* category.c - counts a graph's operators by kind, and asks the rules of categories.def. */
#include "app/exemplar/category.h"

#include <string.h>

typedef struct Features {
	int product, conv, softmax, act, norm, pool, resize, index, scan, reduce, ew, other;
	int work, outputs, scalar, restored, wide;
	int inputs;
} Features;

static int *counter(Features *f, PmOp op)
{
	uint32_t flags = pm_op_desc(op)->flags;

#define KIND(kind, name)                                                                                     \
	if (op == PM_OP_##name)                                                                              \
		return &f->kind;
#include "app/exemplar/categories.def"
	if (op == PM_OP_Cast || (flags & PM_OPF_VIEW))
		return NULL;
	return flags & PM_OPF_DOT    ? &f->product
	       : flags & PM_OPF_POOL ? &f->pool
	       : flags & PM_OPF_NORM ? &f->norm
	       : flags & PM_OPF_RED  ? &f->reduce
	       : flags & PM_OPF_EW   ? &f->ew
	       : flags & PM_OPF_MOVE ? &f->index
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

static int is_wide(const PmGraph *g, PmNode n)
{
	int64_t y = elements(g, pm_node_out(g, n, 0));

	for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
		PmValue v = pm_node_in(g, n, k);
		int64_t x = v.id ? elements(g, v) : y;

		if (x > 1 && x != y)
			return 1;
	}
	return 0;
}

static void count_node(const PmGraph *g, PmNode n, Features *f)
{
	PmOp op = pm_node_op(g, n);
	int *c = counter(f, op);

	if (!c)
		return;
	++*c;
	f->work++;
	f->ew += c == &f->act;
	f->wide |= (pm_op_desc(op)->flags & PM_OPF_EW) && is_wide(g, n);
}

static void count(const PmGraph *g, Features *f)
{
	int64_t most = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		count_node(g, pm_graph_node_at(g, i), f);
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		PmValue v = pm_graph_input(g, i);
		int64_t n = elements(g, v);

		f->inputs += n != 1 && pm_value_n_uses(g, v) && pm_dtype_is_float(pm_value_type(g, v)->dtype);
		most = n > most ? n : most;
	}
	f->outputs = (int)pm_graph_n_outputs(g);
	f->scalar = f->outputs > 0;
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		f->scalar &= elements(g, pm_graph_output(g, i)) == 1;
	f->restored = f->outputs && most > 1 && elements(g, pm_graph_output(g, 0)) == most;
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
#include "app/exemplar/categories.def"
	return PM_CATEGORY_fusion; /* the last rule holds always */
}

static const char *const names[][2] = {
#define CATEGORY(name, what) { #name, what },
#include "app/exemplar/categories.def"
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
	int c = 0;

	while (c < PM_N_CATEGORIES && strcmp(names[c][0], name))
		c++;
	return (PmCategory)c;
}
