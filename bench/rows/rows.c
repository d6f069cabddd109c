/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - graphs whose results can be had row by row, so that a large one is judged in parts, or some of it.
 */
#include "bench/rows/rows.h"

#include "base/core/arena.h"

#include <stdlib.h>
#include <string.h>

enum { UNUSED, SPLIT = PM_ROWS_SPLIT, WHOLE = PM_ROWS_WHOLE, SPREAD = PM_ROWS_SPREAD };

/* One try: with so many axes. */
typedef struct Try {
	const PmGraph *g;
	int axes, spread;         /* inputs may be spread */
	int64_t dim[PM_MAX_RANK]; /* of the axes */
	unsigned char *kind;      /* by value id */
} Try;

static const PmType *type_of(const Try *t, PmNode n, size_t k)
{
	return pm_value_type(t->g, pm_node_in(t->g, n, k));
}

static int has_rows(const Try *t, const PmType *type)
{
	return type->rank >= t->axes && !memcmp(type->dim, t->dim, (size_t)t->axes * sizeof *t->dim);
}

/* Each use of a value has to be of one kind. What a node makes has rows, and so cannot be read whole; a
 * constant has none. What is spread is so for results of one rank. */
static int use(Try *t, PmValue v, int kind)
{
	if (kind == SPLIT && (pm_value_is_const(t->g, v) || !has_rows(t, pm_value_type(t->g, v))))
		return 0;
	if (kind == WHOLE && !pm_value_is_const(t->g, v) && !pm_value_is_input(t->g, v))
		return 0;
	if (kind >= SPREAD && !pm_value_is_input(t->g, v))
		return 0;
	if (t->kind[v.id] != UNUSED && t->kind[v.id] != kind)
		return 0;
	t->kind[v.id] = (unsigned char)kind;
	return 1;
}

/* An operand that is broadcast to a result of a rank: it has the result's rows, or the same for all, or is
 * spread.
 */
static int use_broadcast(Try *t, PmValue v, int rank, int spread)
{
	const PmType *type = pm_value_type(t->g, v);
	int lead = rank - type->rank, whole = 1;

	if (!lead && has_rows(t, type))
		return use(t, v, SPLIT);
	for (int d = lead > 0 ? lead : 0; d < t->axes; d++) {
		if (type->dim[d - lead] != 1 && type->dim[d - lead] != t->dim[d])
			return 0;
		whole = whole && type->dim[d - lead] == 1;
	}
	return whole ? use(t, v, WHOLE) : spread && use(t, v, SPREAD + rank);
}

static int all_broadcast(Try *t, PmNode n, size_t from, int spread)
{
	int rank = pm_value_type(t->g, pm_node_out(t->g, n, 0))->rank;

	for (size_t k = from; k < pm_node_n_in(t->g, n); k++)
		if (pm_node_in(t->g, n, k).id && !use_broadcast(t, pm_node_in(t->g, n, k), rank, spread))
			return 0;
	return 1;
}

/* Along axes behind the rows' alone. */
static int inner_axes(const Try *t, PmNode n, const char *attr)
{
	const int64_t *axes;
	size_t count = pm_node_ints(t->g, n, attr, &axes);

	for (size_t i = 0; i < count; i++)
		if (axes[i] < t->axes)
			return 0;
	return count > 0;
}

static int keeps_rows_in_place(const Try *t, PmNode n)
{
	const int64_t *perm;
	size_t count = pm_node_ints(t->g, n, "perm", &perm);

	for (size_t i = 0; i < count && i < (size_t)t->axes; i++)
		if (perm[i] != (int64_t)i)
			return 0;
	return count >= (size_t)t->axes;
}

/* Rows of the left operand by a matrix, or matrices of both. */
static int product(Try *t, PmNode n)
{
	const PmType *a = type_of(t, n, 0), *b = type_of(t, n, 1);

	if (!use(t, pm_node_in(t->g, n, 0), SPLIT) || a->rank < 2)
		return 0;
	if (b->rank == 2 && t->axes < a->rank)
		return use(t, pm_node_in(t->g, n, 1), WHOLE);
	return b->rank == a->rank && t->axes <= a->rank - 2 && use(t, pm_node_in(t->g, n, 1), SPLIT);
}

static int gemm(Try *t, PmNode n)
{
	return t->axes == 1 && !pm_node_i(t->g, n, "transA", 0) && use(t, pm_node_in(t->g, n, 0), SPLIT) &&
	       use(t, pm_node_in(t->g, n, 1), WHOLE) && all_broadcast(t, n, 2, 0);
}

/* How an operator treats rows, where it is not element-wise; 0: it mixes them, or nobody has looked. */
typedef enum { MIXES, ALONG_AXIS, NORMALISES, REDUCES, TRANSPOSES, MULTIPLIES, MULTIPLIES_ADDS, COPIES } Way;

static const unsigned char ways[PM_N_OPS] = {
	[PM_OP_Softmax] = ALONG_AXIS,
	[PM_OP_LogSoftmax] = ALONG_AXIS,
	[PM_OP_LayerNormalization] = NORMALISES,
	[PM_OP_RMSNormalization] = NORMALISES,
	[PM_OP_ReduceSum] = REDUCES,
	[PM_OP_ReduceMean] = REDUCES,
	[PM_OP_ReduceMax] = REDUCES,
	[PM_OP_ReduceMin] = REDUCES,
	[PM_OP_ReduceL1] = REDUCES,
	[PM_OP_ReduceL2] = REDUCES,
	[PM_OP_ReduceSumSquare] = REDUCES,
	[PM_OP_Transpose] = TRANSPOSES,
	[PM_OP_MatMul] = MULTIPLIES,
	[PM_OP_Gemm] = MULTIPLIES_ADDS,
	[PM_OP_Identity] = COPIES,
};

static int is_row_wise(Try *t, PmNode n)
{
	PmValue x = pm_node_in(t->g, n, 0);

	switch ((Way)ways[pm_node_op(t->g, n)]) {
	case ALONG_AXIS:
		return pm_node_i(t->g, n, "axis", 0) >= t->axes && use(t, x, SPLIT);
	case NORMALISES:
		return pm_node_i(t->g, n, "axis", 0) >= t->axes && use(t, x, SPLIT) &&
		       all_broadcast(t, n, 1, 0);
	case REDUCES:
		return inner_axes(t, n, "axes") && use(t, x, SPLIT);
	case TRANSPOSES:
		return keeps_rows_in_place(t, n) && use(t, x, SPLIT);
	case MULTIPLIES:
		return product(t, n);
	case MULTIPLIES_ADDS:
		return gemm(t, n);
	case COPIES:
		return use(t, x, SPLIT);
	default:
		return pm_op_desc(pm_node_op(t->g, n))->flags & PM_OPF_EW &&
		       all_broadcast(t, n, 0, t->spread);
	}
}

static int all_row_wise(Try *t)
{
	for (size_t i = 0; i < pm_graph_n_nodes(t->g); i++) {
		PmNode n = pm_graph_node_at(t->g, i);

		if (pm_node_n_out(t->g, n) != 1 || !use(t, pm_node_out(t->g, n, 0), SPLIT) ||
		    !is_row_wise(t, n))
			return 0;
	}
	return 1;
}

/* Rows of what a node makes, at least: a graph's output that is its input is nobody's result. */
static int outputs_are_made(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_value_def(g, pm_graph_output(g, i), NULL).id)
			return 0;
	return pm_graph_n_outputs(g) > 0;
}

static int is_static(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (!pm_type_is_static(pm_value_type(g, pm_graph_input(g, i))))
			return 0;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_out(g, n); k++)
			if (!pm_type_is_static(pm_value_type(g, pm_node_out(g, n, k))))
				return 0;
	}
	return 1;
}

static void measure(const Try *t, PmRows *out)
{
	out->axes = t->axes;
	memcpy(out->dim, t->dim, sizeof out->dim);
	out->split = t->kind;
	out->n = 1;
	for (int d = 0; d < t->axes; d++)
		out->n *= t->dim[d];
	for (uint32_t id = 1; id < pm_graph_value_limit(t->g); id++) {
		int64_t numel = 0;

		if (t->kind[id] == UNUSED ||
		    pm_type_numel(pm_value_type(t->g, (PmValue){ id }), &numel, NULL))
			continue;
		if (t->kind[id] == WHOLE)
			out->whole += numel;
		else if (out->n && numel / out->n > out->row)
			out->row = numel / out->n;
	}
}

static int find(const PmGraph *g, int spread, PmRows *out)
{
	const PmType *first;

	memset(out, 0, sizeof *out);
	if (!pm_graph_n_nodes(g) || !outputs_are_made(g) || !is_static(g))
		return 0;
	first = pm_value_type(g, pm_graph_output(g, 0));
	for (int axes = first->rank; axes > 0; axes--) {
		Try t = { .g = g,
			  .axes = axes,
			  .spread = spread,
			  .kind = pm_xcalloc(pm_graph_value_limit(g) + 1, 1) };

		memcpy(t.dim, first->dim, (size_t)axes * sizeof *t.dim);
		if (all_row_wise(&t)) {
			measure(&t, out);
			if (out->n > 0)
				return 1;
			break;
		}
		free(t.kind);
	}
	pm_rows_release(out);
	return 0;
}

int pm_rows_find(const PmGraph *g, PmRows *out)
{
	return find(g, 0, out);
}

int pm_rows_find_spread(const PmGraph *g, PmRows *out)
{
	return find(g, 1, out);
}

void pm_rows_release(PmRows *r)
{
	free(r->split);
	memset(r, 0, sizeof *r);
}

/* What the type of a value becomes. One that is spread gets the rank of what it is broadcast to first. */
static PmType with_rank(int kind, const PmType *type)
{
	PmType t = *type;
	int lead = kind > SPREAD ? kind - SPREAD - type->rank : 0;

	for (int d = t.rank += lead; d-- > 0;)
		t.dim[d] = d < lead ? 1 : type->dim[d - lead];
	return t;
}

static PmType of_rows(const PmRows *r, PmValue v, const PmType *type, int64_t n)
{
	int kind = r->split[v.id];
	PmType t = with_rank(kind, type);

	for (int d = 0; (kind == SPLIT || kind >= SPREAD) && d < r->axes; d++)
		t.dim[d] = d ? 1 : n;
	return t;
}

/* A copy has values of its own, in the same order of inputs and nodes. */
static void give_rows(const PmGraph *g, const PmRows *r, int64_t n, PmValue v, PmGraph *copy, PmValue of_copy)
{
	PmType t = of_rows(r, v, pm_value_type(g, v), n);

	pm_value_set_type(copy, of_copy, &t);
}

PmStatus pm_rows_graph(const PmGraph *g, const PmRows *r, int64_t n, PmGraph **out, PmErr *err)
{
	PmStatus st = pm_graph_clone(g, out, err);

	for (size_t i = 0; !st && i < pm_graph_n_inputs(g); i++)
		give_rows(g, r, n, pm_graph_input(g, i), *out, pm_graph_input(*out, i));
	for (size_t i = 0; !st && i < pm_graph_n_nodes(g); i++)
		give_rows(g, r, n, pm_node_out(g, pm_graph_node_at(g, i), 0), *out,
			  pm_node_out(*out, pm_graph_node_at(*out, i), 0));
	return st;
}

/* The element of a value of this type at which a row begins. */
static int64_t begin_of(const PmRows *r, const PmType *t, int64_t row)
{
	int64_t stride = 1, at = 0;

	for (int d = t->rank - 1; d >= 0; d--) {
		if (d < r->axes) {
			at += t->dim[d] > 1 ? row % r->dim[d] * stride : 0;
			row /= r->dim[d];
		}
		stride *= t->dim[d];
	}
	return at;
}

PmStatus pm_rows_take(const PmRows *r, PmValue v, const PmTensor *from, const int64_t *row, int64_t n,
		      PmTensor *to, PmErr *err)
{
	int kind = r->split[v.id];
	PmType all = with_rank(kind, &from->type), t = of_rows(r, v, &from->type, n);
	PmStatus st = pm_tensor_init(to, &t, err);
	size_t bytes;

	if (st || !to->bytes)
		return st;
	if (kind != SPLIT && kind < SPREAD) {
		memcpy(to->data, from->data, to->bytes);
		return PM_OK;
	}
	bytes = to->bytes / (size_t)n;
	for (int64_t i = 0; i < n; i++)
		memcpy((char *)to->data + (size_t)i * bytes,
		       (const char *)from->data +
			       (size_t)begin_of(r, &all, row[i]) * pm_dtype_size(from->type.dtype),
		       bytes);
	return PM_OK;
}

int64_t pm_rows_element(const PmRows *r, int64_t numel, const int64_t *row, int64_t i)
{
	int64_t of_row = numel / r->n;

	return row[i / of_row] * of_row + i % of_row;
}
