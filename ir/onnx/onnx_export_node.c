/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export_node.c - nodes out of normal form: attributes that ONNX wants as operands become constants,
 * opaque nodes get their bytes back, and the opset is chosen so that every node means what it meant. */
#include "ir/onnx/onnx_priv.h"

#include <stdio.h>
#include <string.h>

enum { DFT_OPERAND_OPSET = 20 }; /* the axis of DFT is an operand from there on */
/* Attributes of the table that are operands in ONNX: the first at operand 1, and so on. */
static const struct {
	PmOp op;
	const char *attr[4];
} operand_attrs[] = {
	{ PM_OP_Squeeze, { "axes" } },
	{ PM_OP_Unsqueeze, { "axes" } },
	{ PM_OP_ReduceSum, { "axes" } },
	{ PM_OP_ReduceMean, { "axes" } },
	{ PM_OP_ReduceMax, { "axes" } },
	{ PM_OP_ReduceMin, { "axes" } },
	{ PM_OP_ReduceProd, { "axes" } },
	{ PM_OP_ReduceL1, { "axes" } },
	{ PM_OP_ReduceL2, { "axes" } },
	{ PM_OP_ReduceSumSquare, { "axes" } },
	{ PM_OP_ReduceLogSum, { "axes" } },
	{ PM_OP_ReduceLogSumExp, { "axes" } },
	{ PM_OP_Col2Im, { "image_shape", "block_shape" } },
	{ PM_OP_Split, { "split" } },
	{ PM_OP_Pad, { "pads" } },
	{ PM_OP_Slice, { "starts", "ends", "axes", "steps" } },
};

static const char *const *attrs_as_operands(PmOp op)
{
	static const char *const none[1];
	size_t i;

	for (i = 0; i < sizeof operand_attrs / sizeof *operand_attrs; i++) {
		if (operand_attrs[i].op == op)
			return operand_attrs[i].attr;
	}
	return none;
}

/* ---- attributes ---- */

static PmStatus fill_lists(PmExport *x, const PmAttr *a, Onnx__AttributeProto *p)
{
	size_t i;

	switch (a->kind) {
	case PM_ATTR_INTS:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
		p->n_ints = a->n;
		p->ints = (int64_t *)(uintptr_t)a->ints; /* packing only reads it */
		return PM_OK;
	case PM_ATTR_FLOATS:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS;
		p->n_floats = a->n;
		p->floats = pm__export_alloc(x, a->n, sizeof *p->floats);
		for (i = 0; i < a->n; i++)
			p->floats[i] = (float)a->floats[i];
		return PM_OK;
	default:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
		p->n_strings = a->n;
		p->strings = pm__export_alloc(x, a->n, sizeof *p->strings);
		for (i = 0; i < a->n; i++) {
			p->strings[i].data = (uint8_t *)(uintptr_t)a->strings[i];
			p->strings[i].len = strlen(a->strings[i]);
		}
		return PM_OK;
	}
}

static PmStatus fill_attr(PmExport *x, const PmAttr *a, Onnx__AttributeProto *p, PmErr *err)
{
	PmStatus st;

	onnx__attribute_proto__init(p);
	p->has_type = 1;
	st = pm__export_text(x, a->name, "attribute name", &p->name, err);
	if (st)
		return st;
	switch (a->kind) {
	case PM_ATTR_INT:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
		p->has_i = 1;
		p->i = a->i;
		return PM_OK;
	case PM_ATTR_FLOAT:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
		p->has_f = 1;
		p->f = (float)a->f;
		return PM_OK;
	case PM_ATTR_STRING:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
		p->has_s = 1;
		p->s.data = (uint8_t *)(uintptr_t)a->s;
		p->s.len = a->n;
		return PM_OK;
	case PM_ATTR_TENSOR:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
		p->t = pm__export_alloc(x, 1, sizeof *p->t);
		return pm__onnx_tensor_fill(p->t, "", &a->type, a->blob, x->arena, err);
	case PM_ATTR_GRAPH:
		p->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
		p->g = pm__export_alloc(x, 1, sizeof *p->g);
		return pm__export_graph(x, a->graph, p->g, err);
	default:
		return fill_lists(x, a, p);
	}
}

static int is_default(const PmAttrDesc *d, const PmAttr *a)
{
	if (!d || !d->has_default || d->kind != a->kind)
		return 0;
	switch (d->kind) {
	case PM_ATTR_INT:
		return a->i == d->i;
	case PM_ATTR_FLOAT:
		return (float)a->f == (float)d->f;
	case PM_ATTR_STRING:
		return strcmp(a->s, d->s) == 0;
	default:
		return a->n == 0;
	}
}

/* Whether ONNX gets this attribute as such. */
static int is_written(const PmExport *x, PmNode n, const PmAttr *a)
{
	const char *const *operands = attrs_as_operands(pm_node_op(x->g, n));
	PmOp op = pm_node_op(x->g, n);
	int k;

	for (k = 0; k < 4 && operands[k]; k++) {
		if (strcmp(operands[k], a->name) == 0)
			return 0;
	}
	if (op == PM_OP_DFT && strcmp(a->name, "axis") == 0)
		return x->opset < DFT_OPERAND_OPSET;
	if (op == PM_OP_BitShift || strcmp(a->name, "seed") == 0) /* no default in ONNX, or another one */
		return 1;
	if (op == PM_OP_Shape && strcmp(a->name, "end") == 0)
		return a->i != INT64_MAX;
	if (op == PM_OP_AveragePool && strcmp(a->name, "dilations") == 0)
		return !pm__export_all_ones(x->g, n, a->name);
	if (op == PM_OP_Opaque && (strcmp(a->name, "opset") == 0 || strcmp(a->name, "captures") == 0 ||
				   strncmp(a->name, PM_ONNX_TYPE_ATTR, strlen(PM_ONNX_TYPE_ATTR)) == 0))
		return 0;
	return !is_default(pm_op_attr_desc(op, a->name), a);
}

static PmStatus attributes(PmExport *x, PmNode n, Onnx__NodeProto *np, PmErr *err)
{
	size_t k, count = pm_node_n_attrs(x->g, n);
	PmStatus st = PM_OK;

	np->attribute = pm__export_alloc(x, count, sizeof *np->attribute);
	for (k = 0; k < count && !st; k++) {
		const PmAttr *a = pm_node_attr_at(x->g, n, k);
		Onnx__AttributeProto *p;

		if (!is_written(x, n, a))
			continue;
		p = pm__export_alloc(x, 1, sizeof *p);
		st = fill_attr(x, a, p, err);
		np->attribute[np->n_attribute++] = p;
	}
	return st;
}

/* ---- operands ---- */

static const char *fresh_name(PmExport *x, const char *base, const char *suffix)
{
	PmStr s = PM_STR_INIT;
	char *name;
	int k;

	pm_str_addf(&s, "%s.%s", base, suffix);
	for (k = 1; pm_graph_find_value(x->g, s.s).id || pm_intern_find(x->taken, s.s, s.len) != UINT32_MAX;
	     k++) {
		pm_str_clear(&s);
		pm_str_addf(&s, "%s.%s.%d", base, suffix, k);
	}
	pm_intern(x->taken, s.s, s.len);
	name = pm__export_alloc(x, s.len + 1, 1);
	memcpy(name, s.s, s.len + 1);
	pm_str_release(&s);
	return name;
}

static PmStatus operands(PmExport *x, PmNode n, Onnx__NodeProto *np, size_t count, PmErr *err)
{
	const char *const *extra = attrs_as_operands(pm_node_op(x->g, n));
	PmStatus st = PM_OK;
	size_t k, e;

	np->input = pm__export_alloc(x, count + 4, sizeof *np->input);
	for (k = 0; k < count && !st; k++) {
		PmValue v = pm_node_in(x->g, n, k);

		st = pm__export_text(x, v.id ? pm_value_name(x->g, v) : "", "value name",
				     &np->input[np->n_input++], err);
		for (e = 0; k == 0 && e < 4 && extra[e] && !st; e++) {
			const int64_t *ints;
			int64_t len = (int64_t)pm_node_ints(x->g, n, extra[e], &ints);
			PmType t = pm_type(PM_I64, 1, &len);
			const char *name = fresh_name(x, pm_value_name(x->g, pm_node_out(x->g, n, 0)),
						      extra[e]);
			PmBlob blob = { .refs = 1, .data = ints, .size = (size_t)len * sizeof *ints };

			np->input[np->n_input++] = (char *)(uintptr_t)name;
			st = pm__export_const(x, name, &t, &blob, err);
		}
	}
	if (!st && pm_node_op(x->g, n) == PM_OP_DFT && x->opset >= DFT_OPERAND_OPSET) {
		int64_t axis = pm_node_i(x->g, n, "axis", 0);
		PmType t = pm_type(PM_I64, 0, NULL);
		const char *name = fresh_name(x, pm_value_name(x->g, pm_node_out(x->g, n, 0)), "axis");
		PmBlob blob = { .refs = 1, .data = &axis, .size = sizeof axis };

		if (np->n_input < 2)
			st = pm__export_text(x, "", "value name", &np->input[np->n_input++], err);
		np->input[np->n_input++] = (char *)(uintptr_t)name;
		if (!st)
			st = pm__export_const(x, name, &t, &blob, err);
	}
	return st;
}

static PmStatus results(PmExport *x, PmNode n, Onnx__NodeProto *np, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t k;

	np->n_output = pm_node_n_out(x->g, n);
	np->output = pm__export_alloc(x, np->n_output, sizeof *np->output);
	for (k = 0; k < np->n_output; k++)
		np->output[k] = (char *)(uintptr_t) "";
	for (k = 0; k < np->n_output && !st; k++)
		st = pm__export_text(x, pm_value_name(x->g, pm_node_out(x->g, n, k)), "value name",
				     &np->output[k], err);
	return st;
}

/* ---- nodes ---- */

/* The message kept in `raw`, its captured names brought up to date. */
static PmStatus opaque_node(PmExport *x, PmNode n, const PmAttr *raw, size_t n_in, const char *where,
			    Onnx__NodeProto **out, PmErr *err)
{
	ProtobufCAllocator alloc = pm__onnx_arena_allocator(x->arena);
	const PmAttr *captures = pm_node_attr(x->g, n, "captures");
	size_t k, count = captures ? captures->n : 0;
	int64_t from;
	const char *broken;
	const char **to = pm__export_alloc(x, count, sizeof *to);
	ProtobufCMessage *m;
	PmStatus st = pm__onnx_scan(&onnx__node_proto__descriptor, raw->s, raw->n, err);

	if (st)
		return pm_err_ctx(err, "The raw bytes of the opaque %s", where);
	m = protobuf_c_message_unpack(&onnx__node_proto__descriptor, &alloc, raw->n, (const uint8_t *)raw->s);
	if (!m)
		return pm_err(err, PM_E_INVALID,
			      "The raw bytes of the opaque %s are not a node; import it again.", where);
	*out = (Onnx__NodeProto *)m;
	(*out)->n_input = (*out)->n_output = 0;
	from = pm_node_i(x->g, n, "opset", x->opset);
	broken = *pm_node_domain(x->g, n) ? NULL : pm__onnx_breaks(*out, from, x->opset);
	if (broken)
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "The opaque %s cannot be written: it holds %s of opset %lld, which opset %lld "
			    "defines "
			    "otherwise; convert the model to opset %lld before importing it.",
			    where, broken, (long long)from, (long long)x->opset, (long long)x->opset);
	pm__export_note_domains(x, *out);
	for (k = 0; k < count; k++)
		to[k] = pm_value_name(x->g, pm_node_in(x->g, n, n_in + k));
	if (!st && count)
		st = pm__onnx_rename_captures(*out, captures->strings, to, count, err);
	return st;
}

PmStatus pm__export_node(PmExport *x, PmNode n, Onnx__NodeProto **out, PmErr *err)
{
	PmOp op = pm_node_op(x->g, n);
	const PmAttr *raw = op == PM_OP_Opaque ? pm_node_attr(x->g, n, "raw") : NULL;
	const PmAttr *captures = op == PM_OP_Opaque ? pm_node_attr(x->g, n, "captures") : NULL;
	size_t n_in = pm_node_n_in(x->g, n);
	PmStr where = PM_STR_INIT;
	PmStatus st = PM_OK;

	*out = pm__export_alloc(x, 1, sizeof **out);
	onnx__node_proto__init(*out);
	pm_node_describe(x->g, n, &where);
	if (captures && captures->kind == PM_ATTR_STRINGS && raw && captures->n <= n_in)
		n_in -= captures->n;
	else if (captures)
		st = pm_err(err, PM_E_INVALID,
			    "The opaque %s captures values but has no operands or bytes for them.", where.s);
	if (!st && raw && raw->kind == PM_ATTR_STRING)
		st = opaque_node(x, n, raw, n_in, where.s, out, err);
	else if (!st && op == PM_OP_Kernel)
		st = pm__export_kernel(x, n, *out, err);
	else if (!st)
		st = attributes(x, n, *out, err);
	if (!st)
		st = operands(x, n, *out, n_in, err);
	if (!st)
		st = results(x, n, *out, err);
	(*out)->name = NULL;
	if (!st && *pm_node_name(x->g, n))
		st = pm__export_text(x, pm_node_name(x->g, n), "node name", &(*out)->name, err);
	if (!st && op != PM_OP_Kernel)
		st = pm__export_text(x, pm_node_op_name(x->g, n), "operator name", &(*out)->op_type, err);
	(*out)->domain = NULL;
	if (!st && (op == PM_OP_Kernel || *pm_node_domain(x->g, n)))
		st = pm__export_text(x, op == PM_OP_Kernel ? PM_ONNX_KERNEL_DOMAIN : pm_node_domain(x->g, n),
				     "domain", &(*out)->domain, err);
	pm_str_release(&where);
	return st;
}
