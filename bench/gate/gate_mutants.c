/* SPDX-License-Identifier: Apache-2.0 */
/* gate_mutants.c - wrong versions of a graph, which the comparison has to find wrong. */
#include "bench/gate/gate_priv.h"

#include "base/core/rng.h"
#include "base/core/vec.h"
#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mistakes that authors of kernels make. The first ones change a node, the last ones the answer. */
typedef enum {
	DROP,        /* a node is left out: an operand of its type stands for it */
	SWAP,        /* operands 0 and 1 change places */
	OTHER_OP,    /* another element-wise operator of as many operands */
	ROUNDED,     /* an intermediate value is kept in bfloat16 */
	FLOAT_OFF,   /* a floating point attribute or constant is off: a wrong epsilon */
	INT_OFF,     /* an integer attribute is off: a wrong axis, a swapped stride */
	OTHER_VALUE, /* an operand is another value of the same type */
	LAST,        /* the last element is not written */
	HALF,        /* the second half is not written */
	SHIFTED,     /* everything is one element off */
	SCALED,      /* everything is off by a hundredth */
	N_MISTAKES
} Mistake;

typedef struct Mutant {
	Mistake mistake;
	size_t at;    /* node position, or output */
	size_t which; /* operand, attribute, operator, ... */
} Mutant;

typedef PM_VEC(Mutant) Mutants;

/* ---- listing ---- */

static void list_node(const PmGraph *g, size_t i, Mutants *all)
{
	PmNode n = pm_graph_node_at(g, i);
	size_t n_in = pm_node_n_in(g, n);
	int is_float = pm_dtype_is_float(pm_value_type(g, pm_node_out(g, n, 0))->dtype);

	for (size_t k = 0; k < n_in && k < 3; k++) {
		PM_VEC_PUSH(all, ((Mutant){ DROP, i, k }));
		PM_VEC_PUSH(all, ((Mutant){ OTHER_VALUE, i, k }));
		PM_VEC_PUSH(all, ((Mutant){ FLOAT_OFF, i, 100 + k }));
	}
	if (n_in > 1)
		PM_VEC_PUSH(all, ((Mutant){ SWAP, i, 0 }));
	for (size_t k = 1; k <= 3; k++)
		PM_VEC_PUSH(all, ((Mutant){ OTHER_OP, i, k }));
	if (is_float)
		PM_VEC_PUSH(all, ((Mutant){ ROUNDED, i, 0 }));
	for (size_t k = 0; k < pm_node_n_attrs(g, n); k++)
		PM_VEC_PUSH(all,
			    ((Mutant){ pm_node_attr_at(g, n, k)->kind == PM_ATTR_FLOAT ? FLOAT_OFF : INT_OFF,
				       i, k }));
}

static void list_all(const PmGate *x, Mutants *all)
{
	PmRng r;

	for (size_t i = 0; i < pm_graph_n_nodes(x->g); i++)
		list_node(x->g, i, all);
	for (size_t o = 0; o < x->n_out; o++)
		for (int m = LAST; m < N_MISTAKES; m++)
			PM_VEC_PUSH(all, ((Mutant){ (Mistake)m, o, 0 }));
	pm_rng_init_named(&r, x->opts.seed, "gate mutants");
	for (size_t i = all->n; i > 1; i--) {
		size_t k = (size_t)pm_rng_range(&r, 0, (int64_t)i - 1);
		Mutant t = all->v[k];

		all->v[k] = all->v[i - 1];
		all->v[i - 1] = t;
	}
}

/* ---- changing a graph: 1 when it was changed ---- */

static int same_type(const PmGraph *g, PmValue a, PmValue b)
{
	return a.id && b.id && a.id != b.id && pm_type_equal(pm_value_type(g, a), pm_value_type(g, b));
}

static int drop_node(PmGraph *g, PmNode n, size_t k)
{
	PmValue a = pm_node_in(g, n, k), y = pm_node_out(g, n, 0);

	if (!same_type(g, a, y) || pm_value_is_const(g, a))
		return 0;
	pm_graph_replace_uses(g, y, a);
	return 1;
}

static int swap_operands(PmGraph *g, PmNode n)
{
	PmValue a = pm_node_in(g, n, 0), b = pm_node_in(g, n, 1);

	if (!a.id || !b.id || a.id == b.id || (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_COMM))
		return 0;
	pm_node_set_operand(g, n, 0, b);
	pm_node_set_operand(g, n, 1, a);
	return 1;
}

static int required_attrs(const PmOpDesc *d)
{
	for (int k = 0; k < d->n_attrs; k++)
		if (!d->attrs[k].has_default)
			return 1;
	return 0;
}

/* The `which`-th element-wise operator after the node's own, in the table's order, that takes as many
 * operands. */
static int other_op(PmGraph *g, PmNode n, size_t which)
{
	PmOp op = pm_node_op(g, n);
	size_t n_in = pm_node_n_in(g, n);
	PmValue in[4];
	PmNode fresh;

	if (!(pm_op_desc(op)->flags & PM_OPF_EW) || n_in > 4 || pm_node_n_out(g, n) != 1)
		return 0;
	for (int step = 1; step < PM_N_OPS && which; step++) {
		PmOp o = (PmOp)((op + step) % PM_N_OPS);
		const PmOpDesc *d = pm_op_desc(o);

		if ((d->flags & PM_OPF_EW) && d->in_min == (int)n_in && d->in_max == (int)n_in &&
		    !required_attrs(d))
			which--;
		if (which)
			continue;
		for (size_t k = 0; k < n_in; k++)
			in[k] = pm_node_in(g, n, k);
		if (pm_graph_add_node(g, o, in, n_in, 1, &fresh, NULL) ||
		    pm_node_fill_defaults(g, fresh, NULL))
			return 0;
		pm_graph_replace_uses(g, pm_node_out(g, n, 0), pm_node_out(g, fresh, 0));
		return 1;
	}
	return 0;
}

/* Through bfloat16 and back; the node itself must go on reading its own operands. */
static int round_result(PmGraph *g, PmNode n)
{
	PmValue y = pm_node_out(g, n, 0), down, up;
	int dtype = pm_value_type(g, y)->dtype;
	PmNode to, back;

	if (dtype == PM_BF16)
		return 0;
	if (pm_graph_add_node(g, PM_OP_Cast, &y, 1, 1, &to, NULL) ||
	    pm_node_set_i(g, to, "to", pm_dtype_to_onnx(PM_BF16), NULL))
		return 0;
	down = pm_node_out(g, to, 0);
	if (pm_graph_add_node(g, PM_OP_Cast, &down, 1, 1, &back, NULL) ||
	    pm_node_set_i(g, back, "to", pm_dtype_to_onnx(dtype), NULL))
		return 0;
	up = pm_node_out(g, back, 0);
	pm_graph_replace_uses(g, y, up);
	pm_node_set_operand(g, to, 0, y);
	return 1;
}

static int float_off(PmGraph *g, PmNode n, size_t which)
{
	PmValue v = which >= 100 ? pm_node_in(g, n, which - 100) : (PmValue){ 0 }, fresh;
	PmType t = *pm_value_type(g, v); /* a copy: the graph's moves when it grows */
	PmTensor c = { 0 };
	double x;
	size_t got;
	int ok;

	if (which < 100) {
		const PmAttr *a = pm_node_attr_at(g, n, which);

		return !pm_node_set_f(g, n, a->name, (float)(a->f * 1.01 + 0.001), NULL);
	}
	if (!pm_dtype_is_float(t.dtype) || pm_value_const_floats(g, v, &x, 1, &got) || got != 1)
		return 0;
	if (pm_tensor_init(&c, &t, NULL))
		return 0;
	pm_tensor_set(&c, 0, x * 1.01 + 0.001);
	ok = !pm_graph_add_const(g, NULL, &t, pm_blob_copy(c.data, c.bytes), &fresh, NULL);
	pm_tensor_release(&c);
	if (ok)
		pm_node_set_operand(g, n, which - 100, fresh);
	return ok;
}

static int int_off(PmGraph *g, PmNode n, size_t which)
{
	const PmAttr *a = pm_node_attr_at(g, n, which);
	int64_t v[PM_MAX_RANK * 2];

	if (a->kind == PM_ATTR_INT)
		return !pm_node_set_i(g, n, a->name, a->i > 0 ? a->i - 1 : a->i + 1, NULL);
	if (a->kind != PM_ATTR_INTS || a->n == 0 || a->n > PM_MAX_RANK * 2)
		return 0;
	memcpy(v, a->ints, a->n * sizeof *v);
	if (a->n > 1 && v[0] != v[a->n - 1]) {
		v[0] = a->ints[a->n - 1];
		v[a->n - 1] = a->ints[0];
	} else {
		v[0] += v[0] > 0 ? -1 : 1;
	}
	return !pm_node_set_ints(g, n, a->name, v, a->n, NULL);
}

/* The next value of the same type that the node does not depend on in a circle: an input, or an earlier
 * result. */
static int other_value(PmGraph *g, PmNode n, size_t k, size_t at)
{
	PmValue was = pm_node_in(g, n, k);

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (same_type(g, pm_graph_input(g, i), was)) {
			pm_node_set_operand(g, n, k, pm_graph_input(g, i));
			return 1;
		}
	for (size_t i = 0; i < at; i++) {
		PmValue v = pm_node_out(g, pm_graph_node_at(g, i), 0);

		if (same_type(g, v, was)) {
			pm_node_set_operand(g, n, k, v);
			return 1;
		}
	}
	return 0;
}

static int change(PmGraph *g, const Mutant *m)
{
	PmNode n = pm_graph_node_at(g, m->at);

	switch (m->mistake) {
	case DROP:
		return drop_node(g, n, m->which);
	case SWAP:
		return swap_operands(g, n);
	case OTHER_OP:
		return other_op(g, n, m->which);
	case ROUNDED:
		return round_result(g, n);
	case FLOAT_OFF:
		return float_off(g, n, m->which);
	case INT_OFF:
		return int_off(g, n, m->which);
	default:
		return other_value(g, n, m->which, m->at);
	}
}

/* ---- judging ---- */

static void spoil(const PmGate *x, const Mutant *m, const double *y, double *out)
{
	size_t first = x->at[m->at], n = x->at[m->at + 1] - first;

	memcpy(out, y, x->total * sizeof *out);
	if (m->mistake == LAST)
		out[first + n - 1] = 0;
	for (size_t i = 0; i < n; i++) {
		if (m->mistake == HALF && i >= n / 2)
			out[first + i] = 0;
		if (m->mistake == SHIFTED)
			out[first + i] = y[first + (i + 1) % n];
		if (m->mistake == SCALED)
			out[first + i] = y[first + i] * 1.01;
	}
}

/* 1 when the mutant exists: it was made, has the same outputs, runs, and is not the same function (no bit of
 * the reference changes on any seed: an attribute without effect). *killed when some seed shows it. */
static int try_mutant(PmGate *x, const Mutant *m, double *y, int *killed)
{
	PmGraph *g = NULL;
	int exists = m->mistake >= LAST, differs = 0;

	*killed = 0;
	if (!exists) {
		exists = !pm_graph_clone(x->g, &g, NULL) && change(g, m) && !pm_graph_sort(g, NULL) &&
			 !pm_infer_graph(g, 0, NULL) && !pm_verify(g, NULL);
		for (size_t o = 0; o < x->n_out && exists; o++)
			exists = pm_type_equal(pm_value_type(g, pm_graph_output(g, o)),
					       pm_value_type(x->g, pm_graph_output(x->g, o)));
	}
	for (int s = 0; s < x->opts.n_seeds && exists && !*killed; s++) {
		if (g)
			exists = !pm__gate_ref(x, g, x->run[s].in, y, NULL);
		else
			spoil(x, m, x->run[s].y, y);
		differs |= exists && memcmp(x->run[s].y, y, x->total * sizeof *y) != 0;
		*killed = exists && pm__gate_differ(x, x->n_out, x->run[s].y, y, 1) > 0;
	}
	pm_graph_free(g);
	return exists && differs;
}

PmStatus pm__gate_mutants(PmGate *x, int *kept, PmErr *err)
{
	static const char *const says[] = { "leaves a node out",     "swaps operands",
					    "has another operator",  "rounds to bfloat16",
					    "has a constant wrong",  "has an attribute wrong",
					    "reads another value",   "leaves the last element out",
					    "leaves half of it out", "is one element off",
					    "is off by a hundredth" };
	double *y = pm_xcalloc(x->total + 1, sizeof *y);
	Mutants all = { NULL, 0, 0 };
	const Mutant *survivor = NULL;

	(void)err;
	list_all(x, &all);
	for (size_t i = 0; i < all.n && x->r->n_mutants < x->opts.n_mutants; i++) {
		int killed;

		if (!try_mutant(x, &all.v[i], y, &killed))
			continue;
		x->r->n_mutants++;
		x->r->n_killed += killed;
		if (!killed)
			survivor = &all.v[i];
	}
	x->r->found[PM_GATE_MUTANTS] = x->r->n_mutants ? (double)x->r->n_killed / x->r->n_mutants : NAN;
	if (survivor && x->r->found[PM_GATE_MUTANTS] < PM_GATE_KILLED)
		*kept = pm__gate_break(x, PM_GATE_MUTANTS, "%d of %d wrong versions pass; one %s at %s %zu.",
				       x->r->n_mutants - x->r->n_killed, x->r->n_mutants,
				       says[survivor->mistake], survivor->mistake >= LAST ? "output" : "node",
				       survivor->at);
	free(y);
	PM_VEC_RELEASE(&all);
	return PM_OK;
}
