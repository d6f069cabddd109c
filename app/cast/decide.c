/* SPDX-License-Identifier: Apache-2.0 */
/* decide.c - which nodes stay in their type when a model is cast. */
#include "app/cast/cast_priv.h"

#include "base/core/vec.h"
#include "ir/core/element.h"

#include <math.h>
#include <stdlib.h>

enum { BOTH, F16, BF16 };
#define ALL 0xffffffffu

/* The rows of cast.def. */
static const struct {
	PmOp op;
	int types;
	uint32_t operands, results;
	PmCastReason reason;
} keeps[] = {
#define KEEP(op, types, operands, results, reason) { PM_OP_##op, types, operands, results, PM_CAST_##reason },
#include "app/cast/cast.def"
};

enum { N_KEEPS = sizeof keeps / sizeof *keeps };

int pm__cast_is_from(const PmCast *c, int dtype)
{
	if (c->to == PM_F32)
		return dtype == PM_F16 || dtype == PM_BF16;
	return dtype == PM_F32;
}

static int is_half(const PmCast *c)
{
	return c->to == PM_F16 || c->to == PM_BF16;
}

/* N_KEEPS when there is no row. To float only what is not ours to change stays. */
static int row_of(const PmCast *c, PmNode n)
{
	PmOp op = pm_node_op(c->g, n);
	int type = c->to == PM_F16 ? F16 : BF16, k = 0;

	while (k < N_KEEPS && (keeps[k].op != op || (keeps[k].types != BOTH && keeps[k].types != type)))
		k++;
	if (!is_half(c) && op != PM_OP_Opaque && op != PM_OP_Kernel && op != PM_OP_BitCast &&
	    op != PM_OP_QuantizeLinear && op != PM_OP_DequantizeLinear)
		return N_KEEPS;
	return k;
}

static PmCastReason in_mask(const PmCast *c, PmNode n, size_t k, int results)
{
	int row = row_of(c, n);
	uint32_t mask = row == N_KEEPS ? 0 : results ? keeps[row].results : keeps[row].operands;

	return k < 32 && (mask >> k & 1) ? keeps[row].reason : PM_CAST_NONE;
}

PmCastReason pm__cast_keeps_operand(const PmCast *c, PmNode n, size_t k)
{
	return in_mask(c, n, k, 0);
}

PmCastReason pm__cast_keeps_result(const PmCast *c, PmNode n, size_t k)
{
	return in_mask(c, n, k, 1);
}

/* ---- ranges ---- */

static int is_held(int to, double x, int single)
{
	if (isfinite(x) && fabs(x) > pm_float_type(to)->largest)
		return 0;
	return !single || x == 0 || pm_float_round(to, x) != 0;
}

static int elements_are_held(int to, int from, const PmBlob *b, int64_t numel)
{
	enum { CHUNK = 4096 };
	size_t size = pm_dtype_size(from);
	unsigned char *bytes = pm_xcalloc(CHUNK, size);
	int held = 1;

	for (int64_t at = 0; at < numel && held; at += CHUNK) {
		int64_t n = numel - at < CHUNK ? numel - at : CHUNK;

		pm_blob_read(b, (size_t)at * size, (size_t)n * size, bytes);
		for (int64_t i = 0; i < n && held; i++)
			held = is_held(to, pm_float_load(from, bytes + (size_t)i * size), numel == 1);
	}
	free(bytes);
	return held;
}

int pm__cast_holds(const PmCast *c, PmValue v)
{
	const PmType *t = pm_value_type(c->g, v);
	const PmBlob *b = pm_value_blob(c->g, v);
	int64_t numel;

	if (!is_half(c) || !b || !b->data || !pm__cast_is_from(c, t->dtype) || pm_type_numel(t, &numel, NULL))
		return 1;
	return elements_are_held(c->to, t->dtype, b, numel);
}

/* The number that ConstantOfShape fills with. */
static int fill_is_held(const PmCast *c, PmNode n)
{
	const PmAttr *a = pm_node_attr(c->g, n, "value");

	if (!is_half(c) || !a || a->kind != PM_ATTR_TENSOR || !a->blob || !a->blob->data ||
	    !pm__cast_is_from(c, a->type.dtype))
		return 1;
	return elements_are_held(c->to, a->type.dtype, a->blob, 1);
}

/* ---- spreading ---- */

static int has_float(const PmCast *c, PmNode n)
{
	for (size_t k = 0; k < pm_node_n_in(c->g, n); k++)
		if (pm__cast_is_from(c, pm_value_type(c->g, pm_node_in(c->g, n, k))->dtype))
			return 1;
	for (size_t k = 0; k < pm_node_n_out(c->g, n); k++)
		if (pm__cast_is_from(c, pm_value_type(c->g, pm_node_out(c->g, n, k))->dtype))
			return 1;
	return 0;
}

static uint32_t flags_of(const PmCast *c, PmNode n)
{
	return pm_op_desc(pm_node_op(c->g, n))->flags;
}

/* Keeps what a value is made of, as far as operators with one of these flags make it. */
static void keep_sources(PmCast *c, PmValue v, uint32_t flags, PmCastReason reason)
{
	PM_VEC(PmValue) work = { 0 };

	PM_VEC_PUSH(&work, v);
	while (work.n) {
		PmValue at = work.v[--work.n];
		PmNode n = pm_value_def(c->g, at, NULL);

		if (!n.id || c->kept[n.id] == reason ||
		    !pm__cast_is_from(c, pm_value_type(c->g, at)->dtype) || !(flags_of(c, n) & flags) ||
		    pm_node_op(c->g, n) == PM_OP_DequantizeLinear)
			continue;
		if (!c->kept[n.id])
			c->kept[n.id] = (unsigned char)reason;
		else if (reason != PM_CAST_QUANTISED)
			continue; /* kept, and so is what it needs */
		else
			c->kept[n.id] = (unsigned char)reason;
		for (size_t k = 0; k < pm_node_n_in(c->g, n); k++)
			PM_VEC_PUSH(&work, pm_node_in(c->g, n, k));
	}
	PM_VEC_RELEASE(&work);
}

static int is_angle(PmOp op)
{
	return op == PM_OP_Sin || op == PM_OP_Cos || op == PM_OP_Tan;
}

static int makes_integers(const PmCast *c, PmNode n)
{
	return pm_node_op(c->g, n) == PM_OP_Cast &&
	       pm_dtype_is_int(pm_value_type(c->g, pm_node_out(c->g, n, 0))->dtype);
}

/* Backwards from operators that make integers and angles of floating point, and from rounding to integers. */
static void keep_what_is_read(PmCast *c, PmNode n)
{
	static const uint32_t plain = PM_OPF_EW | PM_OPF_MOVE | PM_OPF_VIEW | PM_OPF_SHAPE | PM_OPF_DATA;
	PmOp op = pm_node_op(c->g, n);

	if (op == PM_OP_QuantizeLinear) {
		keep_sources(c, pm_node_in(c->g, n, 0), ~0u & ~(uint32_t)PM_OPF_OPAQUE, PM_CAST_QUANTISED);
		keep_sources(c, pm_node_in(c->g, n, 1), ~0u & ~(uint32_t)PM_OPF_OPAQUE, PM_CAST_QUANTISED);
	} else if (!is_half(c)) {
		return;
	} else if (op == PM_OP_Range || makes_integers(c, n)) {
		c->kept[n.id] = c->kept[n.id] ? c->kept[n.id] : PM_CAST_INTEGERS;
		for (size_t k = 0; k < pm_node_n_in(c->g, n); k++)
			keep_sources(c, pm_node_in(c->g, n, k), plain, PM_CAST_INTEGERS);
	} else if (op == PM_OP_Resize) {
		keep_sources(c, pm_node_in(c->g, n, 1), plain, PM_CAST_INTEGERS);
		keep_sources(c, pm_node_in(c->g, n, 2), plain, PM_CAST_INTEGERS);
	} else if (is_angle(op)) {
		c->kept[n.id] = c->kept[n.id] ? c->kept[n.id] : PM_CAST_ANGLE;
		keep_sources(c, pm_node_in(c->g, n, 0), plain | PM_OPF_DOT, PM_CAST_ANGLE);
	}
}

/* 1 for operators whose results are ordinary numbers, whatever they read. */
static int brings_back(const PmCast *c, PmNode n)
{
	static const PmOp ops[] = {
#define BACK(op) PM_OP_##op,
#include "app/cast/cast.def"
	};

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (ops[i] == pm_node_op(c->g, n))
			return 1;
	return (flags_of(c, n) & (PM_OPF_NORM | PM_OPF_DOT | PM_OPF_POOL)) != 0;
}

/* 1 when what the node gives may be out of the range of the half type. */
static int is_wide(const PmCast *c, PmNode n)
{
	PmCastReason r = c->kept[n.id];

	return (r == PM_CAST_SQUARES || r == PM_CAST_RANGE || r == PM_CAST_WIDE) && !brings_back(c, n);
}

static int reads_wide(const PmCast *c, PmNode n)
{
	for (size_t k = 0; k < pm_node_n_in(c->g, n); k++) {
		PmValue v = pm_node_in(c->g, n, k);
		PmNode d = pm_value_def(c->g, v, NULL);

		if (d.id && is_wide(c, d) && pm__cast_is_from(c, pm_value_type(c->g, v)->dtype))
			return 1;
	}
	return 0;
}

static int reads_out_of_range(const PmCast *c, PmNode n)
{
	if (pm_node_op(c->g, n) == PM_OP_ConstantOfShape && !fill_is_held(c, n))
		return 1;
	for (size_t k = 0; k < pm_node_n_in(c->g, n); k++)
		if (pm_value_is_const(c->g, pm_node_in(c->g, n, k)) &&
		    !pm__cast_holds(c, pm_node_in(c->g, n, k)))
			return 1;
	return 0;
}

/* x * x is a square as well. */
static int is_square(const PmCast *c, PmNode n)
{
	return c->to == PM_F16 && pm_node_op(c->g, n) == PM_OP_Mul &&
	       pm_node_in(c->g, n, 0).id == pm_node_in(c->g, n, 1).id;
}

void pm__cast_decide(PmCast *c)
{
	size_t n_nodes = pm_graph_n_nodes(c->g);

	c->kept = pm_xcalloc(pm_graph_node_limit(c->g) + 1, 1);
	for (size_t i = 0; i < n_nodes; i++) {
		PmNode n = pm_graph_node_at(c->g, i);
		int row = row_of(c, n);

		if (row < N_KEEPS && keeps[row].operands == ALL)
			c->kept[n.id] = (unsigned char)keeps[row].reason;
		else if (is_square(c, n))
			c->kept[n.id] = PM_CAST_SQUARES;
		else if (reads_out_of_range(c, n))
			c->kept[n.id] = PM_CAST_RANGE;
	}
	for (size_t i = n_nodes; i-- > 0;)
		keep_what_is_read(c, pm_graph_node_at(c->g, i));
	for (size_t i = 0; is_half(c) && i < n_nodes; i++) {
		PmNode n = pm_graph_node_at(c->g, i);

		if (!c->kept[n.id] && has_float(c, n) && reads_wide(c, n))
			c->kept[n.id] = PM_CAST_WIDE;
	}
	for (size_t i = 0; i < n_nodes; i++) {
		PmNode n = pm_graph_node_at(c->g, i);

		if (!has_float(c, n))
			c->kept[n.id] = PM_CAST_NONE;
	}
}
