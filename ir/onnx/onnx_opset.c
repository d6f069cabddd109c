/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_opset.c - the opset in which every node of a graph means what it meant, and what changes between
 * opsets. */
#include "ir/onnx/onnx_priv.h"

#include <string.h>

enum {
	DILATED_POOL_OPSET = 19,
	SYMMETRIC_RESIZE_OPSET = 19,
	GELU_OPSET = 20,
	GROUP_NORM_OPSET = 21,
	GRID_MODES_OPSET = 20,
	QUANTIZE_OPSET = 21,
	BF16_OPSET = 22,
	BF16_FILL_OPSET = 20,
	RMS_NORM_OPSET = 23,
	FLOAT4_OPSET = 23,
	POWERS_OPSET = 24,
	TWO_BITS_OPSET = 25,
	BIT_CAST_OPSET = 26,
	HALF_RANGE_OPSET = 27,
	TYPES_28_OPSET = 28
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
	{ "ReduceLogSum", { 18, 28 } }, /* 28: no integers */
	{ "ReduceLogSumExp", { 18, 28 } },
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

int pm__export_all_ones(const PmGraph *g, PmNode n, const char *attr)
{
	const int64_t *v;
	size_t i, count = pm_node_ints(g, n, attr, &v);

	for (i = 0; i < count; i++) {
		if (v[i] != 1)
			return 0;
	}
	return 1;
}

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

/* These take bfloat16 from opset 22 on; most others always did, and a few (TopK, ...) never do. */
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

/* What 27 and 28 added to types: half ranges, half Celu, shifts of signed integers, the remainder of floating
 * point with the sign of the divisor, and bfloat16 in a few operators. */
static int64_t late_types_opset(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);
	int at = op == PM_OP_OneHot ? 2 : 0; /* the operand whose type tells */
	int dtype = pm_node_n_in(g, n) > (size_t)at ? pm_value_type(g, pm_node_in(g, n, (size_t)at))->dtype
						    : -1;
	int half = dtype == PM_F16 || dtype == PM_BF16;

	if (op == PM_OP_Range)
		return half ? HALF_RANGE_OPSET : 0;
	if (op == PM_OP_Celu)
		return half || dtype == PM_F64 ? TYPES_28_OPSET : 0;
	if (op == PM_OP_BitShift)
		return dtype == PM_I8 || dtype == PM_I16 || dtype == PM_I32 || dtype == PM_I64
			       ? TYPES_28_OPSET
			       : 0;
	if (op == PM_OP_Mod)
		return pm_dtype_is_float(dtype) && !pm_node_i(g, n, "fmod", 0) ? TYPES_28_OPSET : 0;
	if (op == PM_OP_OneHot || op == PM_OP_Einsum || op == PM_OP_ReverseSequence || op == PM_OP_Unique)
		return dtype == PM_BF16 ? TYPES_28_OPSET : 0;
	return 0;
}

/* Operators take narrow types from the opset on that brought the type, or from the next but one (float8). */
static int64_t narrow_opset(const PmGraph *g, PmNode n)
{
	size_t n_in = pm_node_n_in(g, n), all = n_in + pm_node_n_out(g, n);
	int64_t want = 0, at;

	for (size_t k = 0; k < all; k++) {
		PmValue v = k < n_in ? pm_node_in(g, n, k) : pm_node_out(g, n, k - n_in);
		int dtype = v.id ? pm_value_type(g, v)->dtype : -1;

		if (!pm_dtype_is_narrow(dtype))
			continue;
		at = dtype == PM_F6E2M3 || dtype == PM_F6E3M2 ? TYPES_28_OPSET
		     : pm_dtype_bits(dtype) == 2              ? TWO_BITS_OPSET
		     : dtype == PM_F8E8M0                     ? POWERS_OPSET
		     : dtype == PM_F4E2M1                     ? FLOAT4_OPSET
							      : QUANTIZE_OPSET;
		want = at > want ? at : want;
	}
	return want;
}

int64_t pm__export_note_domain(PmExport *x, const char *domain, int64_t version)
{
	size_t i;

	if (!*domain)
		return version;
	for (i = 0; i < x->domains->n; i++) {
		if (strcmp(x->domains->v[i].domain, domain) == 0) {
			if (x->domains->v[i].version < version)
				x->domains->v[i].version = version;
			return x->domains->v[i].version;
		}
	}
	PM_VEC_PUSH(x->domains, ((PmOnnxOpset){ domain, version }));
	return version;
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
		else if (op == PM_OP_BitCast)
			want = BIT_CAST_OPSET;
		else if (op == PM_OP_QuantizeLinear || op == PM_OP_DequantizeLinear)
			want = quantize_opset(g, n);
		else if (op == PM_OP_AveragePool && !pm__export_all_ones(g, n, "dilations"))
			want = DILATED_POOL_OPSET;
		else if (op == PM_OP_Kernel)
			pm__export_note_domain(x, PM_ONNX_KERNEL_DOMAIN, 1);
		else if (op == PM_OP_Opaque && *pm_node_domain(g, n))
			pm__export_note_domain(x, pm_node_domain(g, n), pm_node_i(g, n, "opset", 1));
		else if (op == PM_OP_Opaque)
			want = pm_node_i(g, n, "opset", 0);
		if (bf16_opset(g, n) > want)
			want = bf16_opset(g, n);
		if (narrow_opset(g, n) > want)
			want = narrow_opset(g, n);
		if (late_types_opset(g, n) > want)
			want = late_types_opset(g, n);
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
void pm__export_note_domains(PmExport *x, const Onnx__NodeProto *np)
{
	size_t i, k, m;

	for (i = 0; i < np->n_attribute; i++) {
		const Onnx__AttributeProto *a = np->attribute[i];

		for (k = 0; k < a->n_graphs + 1; k++) {
			const Onnx__GraphProto *g = k ? a->graphs[k - 1] : a->g;

			for (m = 0; g && m < g->n_node; m++) {
				pm__export_note_domain(x, pm__onnx_domain(g->node[m]), 1);
				pm__export_note_domains(x, g->node[m]);
			}
		}
	}
}
