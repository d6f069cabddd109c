/* SPDX-License-Identifier: Apache-2.0 */
/* index_span.c - intervals of what is used as an index. */
#include "ir/data/index_span.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONST = 1 << 16, MAX_DEPTH = 64 };

static const PmSpan anything = { -INFINITY, INFINITY };

typedef struct Spans {
	const PmGraph *g;
	const PmSpan *in;
	PmSpan *of; /* by value id; known where `done` */
	unsigned char *done;
} Spans;

static PmSpan span_of(Spans *s, PmValue v, int depth);

static PmSpan both(PmSpan a, PmSpan b)
{
	return (PmSpan){ fmin(a.lo, b.lo), fmax(a.hi, b.hi) };
}

/* 0 * infinity is 0 here: an element that is 0 makes 0. */
static double times(double a, double b)
{
	return a == 0 || b == 0 ? 0 : a * b;
}

static PmSpan product(PmSpan a, PmSpan b)
{
	double p[4] = { times(a.lo, b.lo), times(a.lo, b.hi), times(a.hi, b.lo), times(a.hi, b.hi) };

	return (PmSpan){ fmin(fmin(p[0], p[1]), fmin(p[2], p[3])), fmax(fmax(p[0], p[1]), fmax(p[2], p[3])) };
}

static PmSpan of_const(const PmGraph *g, PmValue v)
{
	double *x = pm_xcalloc(MAX_CONST, sizeof *x);
	PmSpan s = { INFINITY, -INFINITY };
	size_t n = 0;

	if (pm_value_const_floats(g, v, x, MAX_CONST, &n) || !n)
		s = anything;
	for (size_t i = 0; i < n; i++)
		s = x[i] != x[i] ? anything : both(s, (PmSpan){ x[i], x[i] });
	free(x);
	return s;
}

/* Sums of up to n elements, or of exactly n. */
static PmSpan sum(PmSpan a, double n, int up_to)
{
	PmSpan s = { times(n, a.lo), times(n, a.hi) };

	return up_to ? both(s, both(a, (PmSpan){ 0, 0 })) : s;
}

static double elements(const PmGraph *g, PmValue v)
{
	const PmType *t = pm_value_type(g, v);
	double n = 1;

	for (int k = 0; k < t->rank; k++)
		n *= (double)t->dim[k];
	return t->rank < 0 ? INFINITY : n;
}

static PmSpan added(PmSpan a, PmSpan b)
{
	return (PmSpan){ a.lo + b.lo, a.hi + b.hi };
}

static PmSpan subtracted(PmSpan a, PmSpan b)
{
	return (PmSpan){ a.lo - b.hi, a.hi - b.lo };
}

static PmSpan larger(PmSpan a, PmSpan b)
{
	return (PmSpan){ fmax(a.lo, b.lo), fmax(a.hi, b.hi) };
}

static PmSpan smaller(PmSpan a, PmSpan b)
{
	return (PmSpan){ fmin(a.lo, b.lo), fmin(a.hi, b.hi) };
}

/* By one number other than 0. */
static PmSpan divided(PmSpan a, PmSpan b)
{
	return b.lo != b.hi || b.lo == 0 ? anything : product(a, (PmSpan){ 1 / b.lo, 1 / b.lo });
}

/* By one positive number; the sign is either operand's. */
static PmSpan remainder_of(PmSpan a, PmSpan b)
{
	return b.lo != b.hi || !(b.lo > 0) ? anything : (PmSpan){ a.lo < 0 ? -b.lo : 0, b.lo };
}

static PmSpan (*const of_two[PM_N_OPS])(PmSpan a, PmSpan b) = {
	[PM_OP_Add] = added,   [PM_OP_Sub] = subtracted, [PM_OP_Mul] = product,      [PM_OP_Max] = larger,
	[PM_OP_Min] = smaller, [PM_OP_Div] = divided,    [PM_OP_Mod] = remainder_of,
};

static PmSpan negative(PmSpan a)
{
	return (PmSpan){ -a.hi, -a.lo };
}

static PmSpan magnitude(PmSpan a)
{
	return (PmSpan){ a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0, fmax(fabs(a.lo), fabs(a.hi)) };
}

static PmSpan not_negative(PmSpan a)
{
	return (PmSpan){ fmax(a.lo, 0), fmax(a.hi, 0) };
}

static PmSpan whole(PmSpan a)
{
	return (PmSpan){ floor(a.lo), ceil(a.hi) };
}

static PmSpan within_one(PmSpan a)
{
	(void)a;
	return (PmSpan){ -1, 1 };
}

static PmSpan (*const of_one[PM_N_OPS])(PmSpan a) = {
	[PM_OP_Neg] = negative,    [PM_OP_Abs] = magnitude,      [PM_OP_Relu] = not_negative,
	[PM_OP_Floor] = whole,     [PM_OP_Ceil] = whole,         [PM_OP_Round] = whole,
	[PM_OP_Tanh] = within_one, [PM_OP_Sigmoid] = within_one,
};

/* Integers: what is behind the point is dropped, and a remainder is less than the divisor. */
static PmSpan as_type(PmOp op, int dtype, PmSpan s, PmSpan b)
{
	if (pm_dtype_is_float(dtype))
		return s;
	if (op == PM_OP_Mod && b.lo == b.hi && b.lo > 0)
		return (PmSpan){ fmax(s.lo, 1 - b.lo), fmin(s.hi, b.lo - 1) };
	return (PmSpan){ trunc(s.lo), trunc(s.hi) };
}

/* Positions along the axis of operand 0. */
static PmSpan positions(const PmGraph *g, PmNode n)
{
	const PmType *t = pm_value_type(g, pm_node_in(g, n, 0));
	int64_t axis = pm_node_i(g, n, "axis", 0);

	axis += axis < 0 ? t->rank : 0;
	return axis < t->rank && t->dim[axis] > 0 ? (PmSpan){ 0, (double)t->dim[axis] - 1 } : anything;
}

/* Operators that hand on elements of some operands, from `first` on. */
static PmSpan any_of(Spans *s, PmNode n, size_t first, int depth)
{
	PmSpan all = { INFINITY, -INFINITY };

	for (size_t k = first; k < pm_node_n_in(s->g, n); k++)
		if (pm_node_in(s->g, n, k).id)
			all = both(all, span_of(s, pm_node_in(s->g, n, k), depth));
	return all;
}

static PmSpan of_move(Spans *s, PmNode n, PmOp op, PmSpan a, int depth)
{
	static const PmSpan zero = { 0, 0 };
	const char *how = pm_node_s(s->g, n, "reduction", "none");

	if (op == PM_OP_Concat)
		return any_of(s, n, 0, depth);
	if (op == PM_OP_Pad)
		return both(pm_node_in(s->g, n, 1).id ? any_of(s, n, 0, depth) : both(a, zero), a);
	if (op == PM_OP_Trilu)
		return both(a, zero);
	if (op == PM_OP_ScatterElements || op == PM_OP_ScatterND)
		return strcmp(how, "none") ? anything : both(a, any_of(s, n, 2, depth));
	return a;
}

static PmSpan of_node(Spans *s, PmNode n, size_t result, int depth)
{
	const PmGraph *g = s->g;
	PmOp op = pm_node_op(g, n);
	uint32_t flags = pm_op_desc(op)->flags;
	PmValue x = pm_node_in(g, n, 0);
	int to = pm_value_type(g, pm_node_out(g, n, result))->dtype;
	PmSpan a;

	if (to == PM_BOOL)
		return (PmSpan){ 0, 1 };
	if (op == PM_OP_ArgMax || op == PM_OP_ArgMin || (op == PM_OP_TopK && result == 1))
		return positions(g, n);
	if (op == PM_OP_Where)
		return any_of(s, n, 1, depth);
	if (flags & (PM_OPF_OPAQUE | PM_OPF_SHAPE | PM_OPF_RANDOM) || op == PM_OP_Kernel || !x.id)
		return anything;
	if (op == PM_OP_BitCast)
		return anything;
	a = span_of(s, x, depth);
	if (flags & (PM_OPF_MOVE | PM_OPF_VIEW))
		return of_move(s, n, op, a, depth);
	if (op == PM_OP_Cast || op == PM_OP_Identity)
		return as_type(op, to, a, a);
	if (op == PM_OP_ReduceMax || op == PM_OP_ReduceMin || op == PM_OP_ReduceMean || op == PM_OP_TopK ||
	    op == PM_OP_MaxPool)
		return a;
	if (op == PM_OP_CumSum || op == PM_OP_ReduceSum)
		return sum(a, elements(g, x) / (op == PM_OP_CumSum ? 1 : elements(g, pm_node_out(g, n, 0))),
			   op == PM_OP_CumSum);
	if (op == PM_OP_Clip) {
		PmSpan lo = pm_node_in(g, n, 1).id ? span_of(s, pm_node_in(g, n, 1), depth) : anything;
		PmSpan hi = pm_node_in(g, n, 2).id ? span_of(s, pm_node_in(g, n, 2), depth) : anything;

		return (PmSpan){ fmin(fmax(a.lo, lo.lo), hi.hi), fmin(fmax(a.hi, lo.lo), hi.hi) };
	}
	if (of_two[op] && pm_node_n_in(g, n) == 2) {
		PmSpan b = span_of(s, pm_node_in(g, n, 1), depth);

		return as_type(op, to, of_two[op](a, b), b);
	}
	return of_one[op] ? of_one[op](a) : anything;
}

static PmSpan span_of(Spans *s, PmValue v, int depth)
{
	size_t result = 0;
	PmNode by;
	PmSpan span = anything;

	if (s->done[v.id])
		return s->of[v.id];
	if (depth > MAX_DEPTH)
		return anything;
	by = pm_value_def(s->g, v, &result);
	if (pm_value_is_const(s->g, v))
		span = of_const(s->g, v);
	else if (by.id)
		span = of_node(s, by, result, depth + 1);
	for (size_t i = 0; i < pm_graph_n_inputs(s->g); i++)
		if (pm_graph_input(s->g, i).id == v.id)
			span = s->in[i];
	if (!(span.lo <= span.hi))
		span = anything;
	s->done[v.id] = 1;
	s->of[v.id] = span;
	return span;
}

/* The least axis that operand 1 of a node indexes; -1 where it indexes none. */
static int64_t axis_of(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	const PmType *t = pm_value_type(g, pm_node_in(g, n, 0)), *it;
	int64_t first = pm_node_i(g, n, "axis", 0), end = first + 1, least = INT64_MAX;

	if (op == PM_OP_GatherND || op == PM_OP_ScatterND) {
		it = pm_value_type(g, pm_node_in(g, n, 1));
		first = pm_node_i(g, n, "batch_dims", 0);
		end = first + (it->rank > 0 ? it->dim[it->rank - 1] : 0);
	} else if (op != PM_OP_Gather && op != PM_OP_GatherElements && op != PM_OP_ScatterElements) {
		return -1;
	}
	for (; first >= 0 && first < end && first < t->rank; first++)
		least = t->dim[first] < least ? t->dim[first] : least;
	return least == INT64_MAX ? -1 : least;
}

PmIndexFate pm_index_fate(const PmGraph *g, const PmSpan *in, PmNode *at)
{
	size_t n = pm_graph_value_limit(g) + 1;
	Spans s = { g, in, pm_xcalloc(n, sizeof *s.of), pm_xcalloc(n, 1) };
	PmIndexFate fate = PM_INDEX_STAYS;

	for (size_t i = 0; i < pm_graph_n_nodes(g) && fate != PM_INDEX_LEAVES; i++) {
		PmNode node = pm_graph_node_at(g, i);
		int64_t axis = axis_of(g, node);
		PmSpan x;

		if (axis < 0)
			continue;
		x = span_of(&s, pm_node_in(g, node, 1), 0);
		if (x.lo >= (double)-axis && x.hi < (double)axis)
			continue;
		fate = isfinite(x.lo) && isfinite(x.hi) ? PM_INDEX_LEAVES : PM_INDEX_UNKNOWN;
		if (at)
			*at = node;
	}
	free(s.of);
	free(s.done);
	return fate;
}

PmSpan pm_span_of_role(const PmGraph *g, PmValue v)
{
	int64_t limit;

	switch (pm_input_role(g, v, &limit)) {
	case PM_ROLE_MASK:
	case PM_ROLE_INVERTED:
	case PM_ROLE_PROB:
		return (PmSpan){ 0, 1 };
	case PM_ROLE_COUNT:
		return (PmSpan){ 0, 8 };
	case PM_ROLE_INDEX:
		return (PmSpan){ 0, limit > 0 ? (double)limit - 1 : 0 };
	default:
		return anything;
	}
}

/* Less of a span: its half, quarter, ..., 0 alone, and 1 alone. */
static PmSpan less(PmSpan s, int level)
{
	double width = s.hi - s.lo;

	for (int k = 0; k < level; k++) {
		if (width == 0)
			return s.lo == 0 && s.hi >= 1 ? (PmSpan){ 1, 1 } : s;
		width = floor(width / 2);
	}
	return (PmSpan){ s.lo, s.lo + width };
}

PmSpan *pm_index_spans(const PmGraph *g)
{
	enum { LEVELS = 48 };
	size_t n = pm_graph_n_inputs(g);
	PmSpan *all = pm_xcalloc(n + 1, sizeof *all), *some = pm_xcalloc(n + 1, sizeof *some);
	PmIndexFate fate = PM_INDEX_LEAVES;

	for (size_t i = 0; i < n; i++)
		all[i] = some[i] = pm_span_of_role(g, pm_graph_input(g, i));
	for (int level = 0; level < LEVELS && fate == PM_INDEX_LEAVES; level++) {
		for (size_t i = 0; i < n; i++)
			some[i] = isfinite(all[i].hi) ? less(all[i], level) : all[i];
		fate = pm_index_fate(g, some, NULL);
	}
	/* Those that have nothing to do with it get all of theirs back. */
	for (size_t i = 0; i < n && fate != PM_INDEX_LEAVES; i++) {
		PmSpan narrow = some[i];

		some[i] = all[i];
		if (narrow.lo != all[i].lo || narrow.hi != all[i].hi)
			some[i] = pm_index_fate(g, some, NULL) == PM_INDEX_LEAVES ? narrow : all[i];
	}
	if (fate == PM_INDEX_LEAVES)
		memcpy(some, all, n * sizeof *some);
	free(all);
	return some;
}
