/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export_node.c - nodes out of normal form: attributes that ONNX wants as operands become constants,
 * opaque nodes get their bytes back, and the opset is chosen so that every node means what it meant. */
#include "ir/onnx/onnx_priv.h"

#include <stdio.h>
#include <string.h>

enum { DFT_OPERAND_OPSET = 20 }; /* the axis of DFT is an operand from there on */
enum {
	DILATED_POOL_OPSET = 19,
	SYMMETRIC_RESIZE_OPSET = 19,
	GELU_OPSET = 20,
	GROUP_NORM_OPSET = 21,
	GRID_MODES_OPSET = 20,
	QUANTIZE_OPSET = 21,
	BF16_OPSET = 22,
	BF16_FILL_OPSET = 20,
	RMS_NORM_OPSET = 23
};

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

/* The opsets in which a node written for an older one changes its meaning or is no longer valid. */
static const struct {
	const char *op_type;
	int64_t at[2];
} breaks[] = {
	{ "BatchNormalization", { 9, 14 } },
	{ "Clip", { 11 } },
	{ "DFT", { 20 } },
	{ "Dropout", { 12 } },
	{ "GridSample", { 20 } },
	{ "GroupNormalization", { 21 } },
	{ "Hardmax", { 13 } },
	{ "LogSoftmax", { 13 } },
	{ "Pad", { 11 } },
	{ "ReduceL1", { 18 } },
	{ "ReduceL2", { 18 } },
	{ "ReduceLogSum", { 18 } },
	{ "ReduceLogSumExp", { 18 } },
	{ "ReduceMax", { 18 } },
	{ "ReduceMean", { 18 } },
	{ "ReduceMin", { 18 } },
	{ "ReduceProd", { 18 } },
	{ "ReduceSum", { 13 } },
	{ "ReduceSumSquare", { 18 } },
	{ "Resize", { 11 } },
	{ "RoiAlign", { 16 } },
	{ "Scan", { 9 } },
	{ "Scatter", { 11 } },
	{ "Slice", { 10 } },
	{ "Softmax", { 13 } },
	{ "Split", { 13, 18 } },
	{ "Squeeze", { 13 } },
	{ "TopK", { 10 } },
	{ "Unsqueeze", { 13 } },
	{ "Upsample", { 10 } },
};

static const char *text(const char *s)
{
	return s ? s : "";
}

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

static int all_ones(const PmGraph *g, PmNode n, const char *attr)
{
	const int64_t *v;
	size_t i, count = pm_node_ints(g, n, attr, &v);

	for (i = 0; i < count; i++) {
		if (v[i] != 1)
			return 0;
	}
	return 1;
}

/* ---- the opset ---- */

/* Blocks, stated result types, and floating point other than float came later; so did other integers than
 * bytes. */
static int64_t quantize_opset(const PmGraph *g, PmNode n)
{
	int is_q = pm_node_op(g, n) == PM_OP_QuantizeLinear;
	int real = pm_value_type(g, is_q ? pm_node_in(g, n, 0) : pm_node_out(g, n, 0))->dtype;
	int whole = pm_value_type(g, is_q ? pm_node_out(g, n, 0) : pm_node_in(g, n, 0))->dtype;
	int early = real == PM_F32 && (whole == PM_I8 || whole == PM_U8 || (whole == PM_I32 && !is_q)) &&
		    !pm_node_i(g, n, "block_size", 0) && !pm_node_i(g, n, "output_dtype", 0);

	return early ? 0 : QUANTIZE_OPSET;
}

/* These take bfloat16 from opset 22 on; most others always did, and a few (Einsum, TopK, ...) never do. */
static int64_t bf16_opset(const PmGraph *g, PmNode n)
{
	static const PmOp ops[] = { PM_OP_Acos,
				    PM_OP_Acosh,
				    PM_OP_Asin,
				    PM_OP_Asinh,
				    PM_OP_Atan,
				    PM_OP_Atanh,
				    PM_OP_AveragePool,
				    PM_OP_Conv,
				    PM_OP_ConvTranspose,
				    PM_OP_Cos,
				    PM_OP_Cosh,
				    PM_OP_Det,
				    PM_OP_Elu,
				    PM_OP_EyeLike,
				    PM_OP_GlobalAveragePool,
				    PM_OP_GlobalMaxPool,
				    PM_OP_GridSample,
				    PM_OP_HardSigmoid,
				    PM_OP_HardSwish,
				    PM_OP_InstanceNormalization,
				    PM_OP_LpNormalization,
				    PM_OP_MaxPool,
				    PM_OP_Mish,
				    PM_OP_RandomNormalLike,
				    PM_OP_RandomUniformLike,
				    PM_OP_RoiAlign,
				    PM_OP_Round,
				    PM_OP_Selu,
				    PM_OP_Sin,
				    PM_OP_Sinh,
				    PM_OP_Softplus,
				    PM_OP_Softsign,
				    PM_OP_Tan,
				    PM_OP_ThresholdedRelu };
	PmValue x = pm_node_n_in(g, n) ? pm_node_in(g, n, 0) : (PmValue){ 0 };
	int half = pm_value_type(g, x)->dtype == PM_BF16 ||
		   pm_value_type(g, pm_node_out(g, n, 0))->dtype == PM_BF16;

	for (size_t i = 0; half && i < sizeof ops / sizeof *ops; i++)
		if (ops[i] == pm_node_op(g, n))
			return BF16_OPSET;
	return half && (pm_node_op(g, n) == PM_OP_ConstantOfShape || pm_node_op(g, n) == PM_OP_IsInf)
		       ? BF16_FILL_OPSET
		       : 0;
}

static void note_domain(PmExport *x, const char *domain, int64_t version)
{
	size_t i;

	if (!*domain)
		return;
	for (i = 0; i < x->domains->n; i++) {
		if (strcmp(x->domains->v[i].domain, domain) == 0) {
			if (x->domains->v[i].version < version)
				x->domains->v[i].version = version;
			return;
		}
	}
	PM_VEC_PUSH(x->domains, ((PmOnnxOpset){ domain, version }));
}

PmStatus pm__export_opset(PmExport *x, const PmGraph *g, PmErr *err)
{
	size_t i, k;
	PmStatus st = PM_OK;

	if (x->opset < PM_ONNX_OUT_OPSET)
		x->opset = PM_ONNX_OUT_OPSET;
	if (x->depth > PM_ONNX_MAX_CALLS)
		return pm_err(err, PM_E_LIMIT, "Graphs are nested deeper than %d; inline the kernels first.",
			      PM_ONNX_MAX_CALLS);
	for (i = 0; i < pm_graph_n_nodes(g) && !st; i++) {
		PmNode n = pm_graph_node_at(g, i);
		PmOp op = pm_node_op(g, n);
		int64_t want = 0;

		if (op == PM_OP_Gelu)
			want = GELU_OPSET;
		else if (op == PM_OP_Resize && strcmp(pm_node_s(g, n, "coordinate_transformation_mode", ""),
						      "half_pixel_symmetric") == 0)
			want = SYMMETRIC_RESIZE_OPSET;
		else if (op == PM_OP_GroupNormalization)
			want = GROUP_NORM_OPSET;
		else if (op == PM_OP_GridSample)
			want = GRID_MODES_OPSET;
		else if (op == PM_OP_RMSNormalization)
			want = RMS_NORM_OPSET;
		else if (op == PM_OP_QuantizeLinear || op == PM_OP_DequantizeLinear)
			want = quantize_opset(g, n);
		else if (op == PM_OP_AveragePool && !all_ones(g, n, "dilations"))
			want = DILATED_POOL_OPSET;
		else if (op == PM_OP_Kernel)
			note_domain(x, PM_ONNX_KERNEL_DOMAIN, 1);
		else if (op == PM_OP_Opaque && *pm_node_domain(g, n))
			note_domain(x, pm_node_domain(g, n), pm_node_i(g, n, "opset", 1));
		else if (op == PM_OP_Opaque)
			want = pm_node_i(g, n, "opset", 0);
		if (bf16_opset(g, n) > want)
			want = bf16_opset(g, n);
		if (want > x->opset && want <= PM_ONNX_MAX_OPSET)
			x->opset = want;
		x->depth++;
		for (k = 0; k < pm_node_n_attrs(g, n) && !st; k++) {
			if (pm_node_attr_at(g, n, k)->graph)
				st = pm__export_opset(x, pm_node_attr_at(g, n, k)->graph, err);
		}
		x->depth--;
	}
	return st;
}

const char *pm__onnx_breaks(const Onnx__NodeProto *np, int64_t from, int64_t to)
{
	const char *found = NULL;
	size_t i, k, m;

	for (i = 0; !*pm__onnx_domain(np) && i < sizeof breaks / sizeof *breaks; i++) {
		if (strcmp(breaks[i].op_type, text(np->op_type)) != 0)
			continue;
		for (k = 0; k < 2; k++) {
			if (from < breaks[i].at[k] && breaks[i].at[k] <= to)
				return np->op_type;
		}
	}
	for (i = 0; i < np->n_attribute && !found; i++) {
		const Onnx__AttributeProto *a = np->attribute[i];

		for (k = 0; k < a->n_graphs + 1 && !found; k++) {
			const Onnx__GraphProto *g = k ? a->graphs[k - 1] : a->g;

			for (m = 0; g && m < g->n_node && !found; m++)
				found = pm__onnx_breaks(g->node[m], from, to);
		}
	}
	return found;
}

/* Domains of operators in nested graphs. */
static void note_nested(PmExport *x, const Onnx__NodeProto *np)
{
	size_t i, k, m;

	for (i = 0; i < np->n_attribute; i++) {
		const Onnx__AttributeProto *a = np->attribute[i];

		for (k = 0; k < a->n_graphs + 1; k++) {
			const Onnx__GraphProto *g = k ? a->graphs[k - 1] : a->g;

			for (m = 0; g && m < g->n_node; m++) {
				note_domain(x, pm__onnx_domain(g->node[m]), 1);
				note_nested(x, g->node[m]);
			}
		}
	}
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
		return !all_ones(x->g, n, a->name);
	if (op == PM_OP_Opaque && (strcmp(a->name, "opset") == 0 || strcmp(a->name, "captures") == 0 ||
				   strncmp(a->name, PM_ONNX_TYPE_ATTR, strlen(PM_ONNX_TYPE_ATTR)) == 0))
		return 0;
	return op == PM_OP_Kernel || !is_default(pm_op_attr_desc(op, a->name), a);
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
	note_nested(x, *out);
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
	else if (!st)
		st = attributes(x, n, *out, err);
	if (!st)
		st = operands(x, n, *out, n_in, err);
	if (!st)
		st = results(x, n, *out, err);
	(*out)->name = NULL;
	if (!st && *pm_node_name(x->g, n))
		st = pm__export_text(x, pm_node_name(x->g, n), "node name", &(*out)->name, err);
	if (!st)
		st = pm__export_text(x, pm_node_op_name(x->g, n), "operator name", &(*out)->op_type, err);
	(*out)->domain = NULL;
	if (!st && (op == PM_OP_Kernel || *pm_node_domain(x->g, n)))
		st = pm__export_text(x, op == PM_OP_Kernel ? PM_ONNX_KERNEL_DOMAIN : pm_node_domain(x->g, n),
				     "domain", &(*out)->domain, err);
	pm_str_release(&where);
	return st;
}
