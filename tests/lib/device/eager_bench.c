/* SPDX-License-Identifier: Apache-2.0 */
/* eager_bench.c - cases for the eager kernels, operator by operator, on awkward values. */
#include "tests/lib/device/eager_bench.h"

#include "ir/infer/infer.h"
#include "ir/onnx/onnx.h"
#include "runtime/worker/run.h"
#include "tests/lib/device/bound_check.h"
#include "tests/lib/graphs/eval.h"
#include "tests/lib/graphs/one_node.h"
#include "tests/lib/need.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const double awkward[] = { 0,    -0.0, 1,     -1,   0.5,      -2.5,      3,  100,
				  -100, 1e-3, 65504, 1e30, INFINITY, -INFINITY, NAN };
enum { N_AWKWARD = sizeof awkward / sizeof awkward[0] };
static const int64_t awkward_int[] = { 0,    1,   -1,  2,         -3,        7,         100,      127,
				       -128, 255, 256, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };
_Static_assert(sizeof awkward_int / sizeof awkward_int[0] == N_AWKWARD, "one shape fits both");

EagerBench *eager_open(void)
{
	EagerBench *b = pm_xcalloc(1, sizeof *b);

	b->g = pm_graph_new(0);
	return b;
}

void eager_free(EagerBench *b)
{
	pm_graph_free(b->g);
	free(b);
}

static double tolerance(int dtype)
{
	return dtype == PM_F64 ? 1e-12 : (dtype == PM_F32 ? 2e-6 : (dtype == PM_F16 ? 1e-3 : 8e-3));
}

void eager_add(EagerBench *b, int dtype, const char *op, const char *operands, const char *attrs,
	       size_t n_out)
{
	char text[256];
	size_t at = 0;
	PmNode n;
	PmErr err;

	for (; *operands; operands++)
		at += (size_t)snprintf(text + at, sizeof text - at, *operands == '#' ? "%s" : "%.1s",
				       *operands == '#' ? pm_dtype_name(dtype) : operands);
	text[at] = 0;
	pm_err_init(&err);
	n = one_node_add(b->g, op, text, attrs, n_out);
	if (pm_infer_node(b->g, n, &err))
		fail_msg("%s %s {%s}: %s", op, text, attrs, err.text);
	for (size_t k = 0; k < n_out; k++) {
		int out = pm_value_type(b->g, pm_node_out(b->g, n, k))->dtype;

		assert_true(b->n < EAGER_MAX_CASES);
		snprintf(b->name[b->n], sizeof b->name[0], "%s %s {%s} output %zu", op, text, attrs, k);
		b->rel[b->n++] = pm_dtype_is_float(out)
					 ? fmax(tolerance(out),
						pm_dtype_is_float(dtype) ? tolerance(dtype) : 0)
					 : 0;
		if (pm_op_desc(pm_node_op(b->g, n))->flags & PM_OPF_RANDOM)
			b->rel[b->n - 1] = 0; /* the same bits */
		assert_int_equal(pm_graph_add_output(b->g, pm_node_out(b->g, n, k), NULL), PM_OK);
	}
}

/* Awkward values in order, or small numbers whose sums are exact in every type. */
static void fill(PmTensor *t, int is_awkward, PmRng *r)
{
	for (int64_t i = 0; i < pm_tensor_numel(t); i++) {
		if (is_awkward && pm_dtype_is_float(t->type.dtype))
			pm_tensor_set(t, i, awkward[i % N_AWKWARD]);
		else if (is_awkward)
			pm_tensor_set_i(t, i, awkward_int[i % N_AWKWARD]);
		else if (pm_dtype_is_float(t->type.dtype))
			pm_tensor_set(t, i, (double)pm_rng_range(r, -8, 8) / 4);
		else
			pm_tensor_set_i(t, i,
					pm_rng_range(r, pm_dtype_is_unsigned(t->type.dtype) ? 0 : -5, 9));
	}
}

static const char *name_of(void *arg, size_t k)
{
	return ((EagerBench *)arg)->name[k];
}

void eager_run(EagerBench *b, const char *device, int is_awkward)
{
	PmRunOpts ref = { .device = "ref" },
		  dev = { .device = device, .deadline = 100, .poison = 0x7fc1d00d };
	size_t n_in = pm_graph_n_inputs(b->g);
	PmRunResult want, got;
	PmRng r;
	PmErr err;

	pm_err_init(&err);
	pm_rng_init(&r, 7);
	assert_true(n_in <= EAGER_MAX_VALUES);
	for (size_t k = 0; k < n_in; k++) {
		assert_int_equal(
			pm_tensor_init(&b->in[k], pm_value_type(b->g, pm_graph_input(b->g, k)), NULL), PM_OK);
		fill(&b->in[k], is_awkward, &r);
	}
	if (pm_run_graph(b->g, b->in, n_in, &ref, &want, &err))
		fail_msg("ref: %s", err.text);
	if (pm_run_graph(b->g, b->in, n_in, &dev, &got, &err))
		fail_msg("%s: %s", device, err.text);
	bound_check(b->g, b->in, got.out, b->n, name_of, b);
	for (size_t k = 0; k < b->n; k++) {
		eval_same(got.out[k], want.out[k], b->rel[k], b->name[k]);
		memset(&got.out[k], 0, sizeof got.out[k]);
		memset(&want.out[k], 0, sizeof want.out[k]);
	}
	pm_run_result_release(&got);
	pm_run_result_release(&want);
	for (size_t k = 0; k < n_in; k++)
		pm_tensor_release(&b->in[k]);
	eager_free(b);
}

/* ---- element-wise rows of the table ---- */

static int takes(const PmOpDesc *d, int dtype)
{
	int is_float = pm_dtype_is_float(dtype);

	if (d->types == PM_TYPES_BOOL)
		return dtype == PM_BOOL;
	if (d->types == PM_TYPES_FLT)
		return is_float;
	if (d->types == PM_TYPES_INT)
		return pm_dtype_is_int(dtype);
	return d->types == PM_TYPES_ANY || dtype != PM_BOOL;
}

void eager_add_rows(EagerBench *b, int dtype)
{
	for (int op = PM_OP_NONE + 1; op < PM_N_OPS; op++) {
		const PmOpDesc *d = pm_op_desc((PmOp)op);

		if (!(d->flags & PM_OPF_EW) || op == PM_OP_Cast || !takes(d, dtype))
			continue;
		if (op == PM_OP_Where)
			eager_add(b, dtype, d->name, "bool[15,1] #[15] #[15]", "", 1);
		else if (op == PM_OP_Clip) {
			eager_add(b, dtype, d->name, "#[15] # #", "", 1);
			eager_add(b, dtype, d->name, "#[15] - #", "", 1);
			eager_add(b, dtype, d->name, "#[15] #", "", 1);
			eager_add(b, dtype, d->name, "#[15]", "", 1);
		} else if (d->flags & PM_OPF_FOLD)
			eager_add(b, dtype, d->name, "#[15,1] #[15] #[15,1]", "", 1);
		else
			eager_add(b, dtype, d->name,
				  d->in_max == 1 ? "#[15]"
						 : (op == PM_OP_PRelu ? "#[15,15] #[15]" : "#[15,1] #[15]"),
				  "", 1);
	}
	if (dtype == PM_BOOL)
		eager_add(b, dtype, "Where", "bool[15,1] bool[15] bool[15]", "", 1);
	assert_true(b->n > 0);
}

/* ---- everything else ---- */

typedef struct Case {
	const char *op, *operands, *attrs;
	size_t n_out;
} Case;

static void add_cases(EagerBench *b, const Case *c, size_t n, int dtype)
{
	for (size_t k = 0; k < n; k++)
		eager_add(b, dtype, c[k].op, c[k].operands, c[k].attrs, c[k].n_out);
}

#define ADD(b, cases, dtype) add_cases(b, cases, sizeof(cases) / sizeof(cases)[0], dtype)

static const Case for_numbers[] = {
	{ "ReduceSum", "#[3,1,4]", "axes=[0,2] keepdims=0", 1 },
	{ "ReduceMean", "#[3,2,4]", "axes=[1]", 1 },
	{ "ReduceMax", "#[3,2,4]", "axes=[0,1,2] keepdims=0", 1 },
	{ "ReduceMin", "#[3,2,4]", "axes=[2]", 1 },
	{ "ReduceProd", "#[3,2,4]", "axes=[1]", 1 },
	{ "ReduceL1", "#[3,2,4]", "axes=[1]", 1 },
	{ "ReduceL2", "#[3,2,4]", "axes=[1]", 1 },
	{ "ReduceSumSquare", "#[3,2,4]", "axes=[1]", 1 },
	{ "ReduceSum", "#", "axes=[]", 1 },
	{ "ReduceL2", "#", "axes=[]", 1 },
	{ "ReduceSum", "#[2,0,3]", "axes=[1]", 1 },
	{ "ReduceProd", "#[2,0,3]", "axes=[1] keepdims=0", 1 },
	{ "ReduceMax", "#[2,0,3]", "axes=[0]", 1 },
	{ "CumSum", "#[3,4,2] int64=1", "", 1 },
	{ "ArgMax", "#[3,4,2]", "axis=1", 1 },
	{ "ArgMin", "#[3,4,2]", "axis=0 keepdims=0 select_last_index=1", 1 },
	{ "CumSum", "#[3,4,2] int64=-3", "exclusive=1 reverse=1", 1 },
	{ "Einsum", "#[2,3,4] #[2,4,5]", "equation='bij,bjk->kbi'", 1 },
	{ "Einsum", "#[3,3]", "equation='ii->i'", 1 },
	{ "Einsum", "#[2,3] #[1,3] #[4]", "equation='...i,...i,k->...k'", 1 },
	{ "MatMul", "#[4] #[4]", "", 1 },
	{ "MatMul", "#[2,1,3,4] #[5,4,2]", "", 1 },
	{ "MatMul", "#[2,0] #[0,3]", "", 1 },
	{ "MatMul", "#[0,4] #[4,3]", "", 1 },
	{ "Gemm", "#[4,2] #[3,4] #[3]", "transA=1 transB=1", 1 },
	{ "Gemm", "#[2,4] #[4,3] #[2,1]", "beta=2.0", 1 },
	{ "Gemm", "#[2,4] #[4,3] #", "", 1 },
	{ "Gemm", "#[2,4] #[4,3]", "alpha=2.0", 1 },
	{ "MaxPool", "#[1,2,5,6]",
	  "kernel_shape=[3,2] strides=[2,2] pads=[1,0,1,1] dilations=[1,2] ceil_mode=1", 2 },
	{ "MaxPool", "#[1,2,5,6]",
	  "kernel_shape=[2,2] strides=[1,2] pads=[0,0,0,0] dilations=[1,1] storage_order=1", 2 },
	{ "MaxPool", "#[2,1,7]", "kernel_shape=[3] strides=[2] pads=[1,1] dilations=[1]", 1 },
	{ "MaxPool", "#[1,1,2,2]", "kernel_shape=[2,2] strides=[1,1] pads=[3,3,3,3] dilations=[3,3]", 2 },
	{ "MaxPool", "#[1,1,3,4,5]",
	  "kernel_shape=[2,2,2] strides=[1,1,2] pads=[0,0,0,1,1,1] dilations=[1,1,1]", 2 },
	{ "TopK", "#[3,7,2] int64{3}", "axis=1", 2 },
	{ "TopK", "#[3,7] int64{7}", "axis=1 largest=0", 2 },
	{ "TopK", "#[1,5] int64{1}", "axis=0", 1 },
	{ "TopK", "#[2,3] int64{0}", "axis=1", 2 },
	{ "Range", "#=2 #=15 #=3", "", 1 },
	{ "OneHot", "#[3,2] int64=5 #[2]", "axis=1", 1 },
	{ "OneHot", "# int64{3} #[2]", "axis=0", 1 },
	{ "Col2Im", "#[1,4,6]",
	  "image_shape=[3,4] block_shape=[2,2] dilations=[1,1] pads=[0,0,0,0] strides=[1,1]", 1 },
	{ "Col2Im", "#[2,6,6]", "image_shape=[7] block_shape=[3] dilations=[2] pads=[1,2] strides=[1]", 1 },
	{ "Col2Im", "#[1,8,4]",
	  "image_shape=[2,3,1] block_shape=[1,2,1] dilations=[1,1,1] pads=[0,0,0,0,0,0] strides=[1,1,1]", 1 },
	{ "Col2Im", "#[1,0,6]", "image_shape=[6] block_shape=[1] dilations=[1] pads=[0,0] strides=[1]", 1 },
	{ "ScatterElements", "#[5] int64{-1,0,-1} #[3]", "axis=0 reduction='add'", 1 },
	{ "ScatterElements", "#[5] int64{1,0,1} #[3]", "axis=0 reduction='max'", 1 },
	{ "ScatterND", "#[3,4] int64{1} #[4]", "reduction='mul'", 1 },
	{ "ScatterND", "#[3,4] int64{1,-1} #", "reduction='min'", 1 },
	{ "Pad", "#[2,3] #", "pads=[1,-1,0,2] mode='constant'", 1 },
	{ "Pad", "#[2,3]", "pads=[0,2,3,0] mode='edge'", 1 },
	{ "Pad", "#[4,3]", "pads=[3,2,2,1] mode='reflect'", 1 },
	{ "Pad", "#[0,3]", "pads=[1,0,1,0] mode='constant'", 1 },
};

static const Case for_floats[] = {
	{ "LayerNormalization", "#[2,3,4] #[3,4] #[3,4]", "axis=1", 3 },
	{ "LayerNormalization", "#[2,3,4] #[4]", "axis=2 epsilon=0.5", 1 },
	{ "InstanceNormalization", "#[2,3,4,2] #[3] #[3]", "epsilon=0.5", 1 },
	{ "GroupNormalization", "#[2,6,4] #[6] #[6]", "num_groups=2", 1 },
	{ "ReduceLogSumExp", "#[3,2,4]", "axes=[1]", 1 },
	{ "RMSNormalization", "#[2,3,5] #[3,5]", "axis=1", 1 },
	{ "RMSNormalization", "#[2,3,7] #[1]", "axis=2 epsilon=0.5", 1 },
	{ "RMSNormalization", "#[2,0,3] #[3]", "axis=2", 1 },
	{ "QuantizeLinear", "#[3,5] float=2", "", 1 },
	{ "QuantizeLinear", "#[3,5] float{1,2,4} int8{0,-3,7}", "axis=0", 1 },
	{ "QuantizeLinear", "#[2,3,1] float{1,4,2}", "axis=1 output_dtype=3", 1 },
	{ "QuantizeLinear", "#[0,3] float=1 uint8=9", "", 1 },
	{ "QuantizeLinear", "#[5] float{1,2,4} int8{0,1,2}", "axis=0 block_size=2", 1 },
	{ "GridSample", "#[1,2,5,4] #[1,3,2,2]", "", 1 },
	{ "GridSample", "#[2,1,5,7] #[2,3,3,2]", "mode='cubic' padding_mode='border' align_corners=1", 1 },
	{ "GridSample", "#[2,3,4,1] #[2,3,1,2]", "mode='cubic' padding_mode='reflection'", 1 },
	{ "GridSample", "#[1,2,3,4] #[1,1,5,2]", "padding_mode='reflection' align_corners=1", 1 },
	{ "GridSample", "#[1,2,7] #[1,6,1]", "padding_mode='border'", 1 },
	{ "GridSample", "#[1,2,3,4,2] #[1,2,2,2,3]", "mode='nearest' align_corners=1", 1 },
	{ "GridSample", "#[2,2,3] #[2,0,1]", "", 1 },
	{ "RoiAlign", "#[2,3,5,4] #[3,4] int64{1,0,1}", "output_height=2 output_width=3", 1 },
	{ "RoiAlign", "#[1,1,7,3] #[2,4] int64{0,0}",
	  "mode='max' sampling_ratio=2 output_width=2 spatial_scale=0.5 "
	  "coordinate_transformation_mode='output_half_pixel'",
	  1 },
	{ "RoiAlign", "#[1,2,0,3] #[2,4] int64{0,0}", "output_height=2 output_width=2", 1 },
	{ "RoiAlign", "#[1,2,3,0] #[1,4] int64{0}", "mode='max' output_height=1 output_width=2", 1 },
	{ "Det", "#[3,3]", "", 1 },
	{ "Det", "#[2,3,1,1]", "", 1 },
	{ "Det", "#[0,2,2]", "", 1 },
	{ "Det", "#[2,0,0]", "", 1 },
	{ "Resize", "#[1,2,4,5] - - int64{1,2,7,3}", "mode='linear'", 1 },
	{ "Resize", "#[2,4,5] - - int64{3,2,9}",
	  "mode='cubic' coordinate_transformation_mode='align_corners'", 1 },
	{ "Resize", "#[7,9] - - int64{3,4}", "mode='linear' antialias=1", 1 },
	{ "Resize", "#[7,9] - - int64{3,4}", "mode='cubic' antialias=1 exclude_outside=1", 1 },
	{ "Resize", "#[4,4] float{0,-1,1,2} - int64{6,5}",
	  "mode='linear' coordinate_transformation_mode='tf_crop_and_resize' extrapolation_value=3.5", 1 },
	{ "Resize", "#[4,5] - float{2,1}",
	  "mode='linear' coordinate_transformation_mode='half_pixel_symmetric'", 1 },
	{ "ConvTranspose", "#[2,4,5] #[4,3,2] #[6]",
	  "group=2 strides=[2] pads=[1,0] dilations=[2] output_padding=[1]", 1 },
	{ "ConvTranspose", "#[1,2,3,4] #[2,3,3,2]",
	  "strides=[1,3] pads=[1,0,0,1] dilations=[1,1] output_padding=[0,0]", 1 },
	{ "ConvTranspose", "#[1,2,2,3,2] #[2,1,2,2,2] #[1]",
	  "strides=[1,2,2] pads=[0,0,0,0,0,0] dilations=[1,1,1] output_padding=[0,0,0]", 1 },
	{ "LpNormalization", "#[2,5,3]", "axis=1", 1 },
	{ "Hardmax", "#[2,5,3]", "axis=1", 1 },
	{ "Hardmax", "#[1,7]", "axis=1", 1 },
	{ "Hardmax", "#[3,0]", "axis=1", 1 },
	{ "LpNormalization", "#[2,5,3]", "axis=2 p=1", 1 },
	{ "DFT", "#[2,5,3,2]", "axis=1", 1 },
	{ "DFT", "#[2,6,1] int64=8", "axis=1 onesided=1", 1 },
	{ "DFT", "#[2,6,2] int64=5", "axis=1 inverse=1", 1 },
	{ "LRN", "#[2,5,3]", "size=3 alpha=0.5 bias=2.0", 1 },
	{ "LRN", "#[1,4,2,2]", "size=4", 1 },
	{ "Conv", "#[1,4,7] #[2,2,3] #[2]", "group=2 strides=[2] pads=[2,1] dilations=[2]", 1 },
	{ "Conv", "#[2,3,5,6] #[4,3,3,2]", "strides=[1,2] pads=[1,0,0,1] dilations=[1,1]", 1 },
	{ "Conv", "#[1,2,3,4,5] #[2,1,2,2,2] #[2]",
	  "group=2 strides=[1,1,1] pads=[0,1,0,0,0,1] dilations=[1,2,1]", 1 },
	{ "AveragePool", "#[1,2,5,6]",
	  "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] dilations=[1,1] ceil_mode=1 count_include_pad=1",
	  1 },
	{ "AveragePool", "#[1,2,5,6]",
	  "kernel_shape=[3,3] strides=[2,2] pads=[1,1,0,0] dilations=[1,1] ceil_mode=1", 1 },
	{ "AveragePool", "#[1,2,8]", "kernel_shape=[3] strides=[2] pads=[0,0] dilations=[1]", 1 },
	{ "GlobalAveragePool", "#[2,3,4,5]", "", 1 },
	{ "GlobalMaxPool", "#[2,3,4]", "", 1 },
};

static const Case for_moves[] = {
	{ "Slice", "#[5,4]", "starts=[-1,3] ends=[-100,-100] axes=[0,1] steps=[-1,-2]", 1 },
	{ "Slice", "#[5,4]", "starts=[100] ends=[0] axes=[0] steps=[-2]", 1 },
	{ "Slice", "#[5,4]", "starts=[-100] ends=[-100] axes=[0] steps=[-1]", 1 },
	{ "Slice", "#[5,4]", "starts=[-100,2] ends=[100,3] axes=[1,0] steps=[3,1]", 1 },
	{ "Slice", "#[5,4]", "starts=[4] ends=[2] axes=[0] steps=[1]", 1 },
	{ "Slice", "#[0,4]", "starts=[-1] ends=[-9] axes=[0] steps=[-1]", 1 },
	{ "Transpose", "#[2,3,4]", "perm=[2,0,1]", 1 },
	{ "Split", "#[2,7]", "axis=1 split=[2,0,5]", 3 },
	{ "Concat", "#[2,3] #[2,0] #[2,1]", "axis=1", 1 },
	{ "Concat", "#[1] #[1] #[1] #[1] #[1] #[1] #[1] #[1] #[1] #[1]", "axis=0", 1 },
	{ "Expand", "#[3,1] int64{2,1,4}", "", 1 },
	{ "Tile", "#[2,3] int64{2,3}", "", 1 },
	{ "Tile", "#[2,3] int64{0,3}", "", 1 },
	{ "Gather", "#[3,4] int64{-1,0,2,-3}", "axis=0", 1 },
	{ "ReverseSequence", "#[3,4,2] int64{0,1,3,2}", "", 1 },
	{ "ReverseSequence", "#[2,5] int64{5,2}", "batch_axis=0 time_axis=1", 1 },
	{ "ReverseSequence", "#[3,2,0] int64{0,1}", "", 1 },
	{ "EyeLike", "#[3,5]", "dtype=1 k=1", 1 },
	{ "EyeLike", "#[5,2]", "dtype=9 k=-2", 1 },
	{ "EyeLike", "#[2,2]", "dtype=13 k=100", 1 },
	{ "RandomUniformLike", "#[3,7]", "dtype=1 seed=3.0", 1 },
	{ "RandomUniformLike", "#[5]", "dtype=10 low=-2.0 high=3.5", 1 },
	{ "RandomNormalLike", "#[3,7]", "dtype=1 seed=0.25 mean=2.0 scale=0.5", 1 },
	{ "RandomNormalLike", "#[1]", "dtype=11", 1 },
	{ "Trilu", "#[2,3,4]", "", 1 },
	{ "Trilu", "#[2,3,4] int64=-1", "upper=0", 1 },
	{ "Size", "#[3,4]", "", 1 },
	{ "Resize", "#[3,4] - - int64{5,9}", "", 1 },
	{ "Resize", "#[3,4] - - int64{2,3}",
	  "nearest_mode='ceil' coordinate_transformation_mode='asymmetric'", 1 },
	{ "Resize", "#[3,4] - - int64{3,4}", "", 1 },
	{ "DepthToSpace", "#[2,8,3,2]", "blocksize=2", 1 },
	{ "DepthToSpace", "#[2,8,3,2]", "blocksize=2 mode='CRD'", 1 },
	{ "SpaceToDepth", "#[2,3,4,6]", "blocksize=2", 1 },
	{ "GatherElements", "#[4] int64{-1,0,2}", "axis=0", 1 },
	{ "GatherND", "#[3,4] int64{-1}", "", 1 },
	{ "GatherND", "#[3,4,2] int64{-1,2}", "", 1 },
	{ "ScatterElements", "#[5] int64{-1,0,-1} #[3]", "axis=0", 1 },
	{ "ScatterND", "#[3,4,2] int64{-1,2} #[2]", "", 1 },
	{ "ScatterND", "#[3,4] int64{0} #[4]", "", 1 },
	{ "Gather", "#[3,4] int64=-2", "axis=1", 1 },
	{ "Reshape", "#[2,6] int64{3,-1}", "", 1 },
	{ "Unsqueeze", "#[2,3]", "axes=[0,3]", 1 },
	{ "Squeeze", "#[1,3,1]", "axes=[0,2]", 1 },
	{ "Flatten", "#[2,3,4]", "axis=2", 1 },
	{ "Identity", "#", "", 1 },
};

static const Case for_integers[] = {
	{ "DequantizeLinear", "#[3,5] float=2", "", 1 },
	{ "DequantizeLinear", "#[3,5] float16{1,2,4} #[3]", "axis=0", 1 },
	{ "DequantizeLinear", "#[2,3,1] double{1,4,2}", "axis=1", 1 },
	{ "DequantizeLinear", "#[5,2] bfloat16[3,2] #[3,2]", "axis=0 block_size=2", 1 },
	{ "DequantizeLinear", "#[0,3] float=1 #", "", 1 },
};

void eager_add_numbers(EagerBench *b, int dtype)
{
	ADD(b, for_numbers, dtype);
	if (pm_dtype_is_int(dtype))
		ADD(b, for_integers, dtype);
}

void eager_add_floats(EagerBench *b, int dtype)
{
	ADD(b, for_floats, dtype);
}

void eager_add_moves(EagerBench *b, int dtype)
{
	ADD(b, for_moves, dtype);
}

void eager_add_infinity(EagerBench *b, int dtype)
{
	static const Case cases[] = {
		{ "Softmax", "#[15,3]", "axis=1", 1 },
		{ "Softmax", "#[15,15]", "axis=0", 1 },
		{ "LogSoftmax", "#[15,3]", "axis=1", 1 },
		{ "ReduceMax", "#[15,3]", "axes=[1]", 1 },
		{ "ReduceMin", "#[15,3]", "axes=[1]", 1 },
		{ "ReduceSum", "#[15,3]", "axes=[1]", 1 },
		{ "GlobalMaxPool", "#[3,5,3]", "", 1 },
		{ "MaxPool", "#[1,15,15]", "kernel_shape=[2] strides=[1] pads=[1,1] dilations=[1]", 2 },
		/* Several NaN in a window: the first is the largest. */
		{ "MaxPool", "#[2,3,45]", "kernel_shape=[40] strides=[1] pads=[1,1] dilations=[1]", 2 },
	};

	ADD(b, cases, dtype);
}

void eager_add_casts(EagerBench *b)
{
	static const char *const from[] = { "double[15]", "float[15]",  "float16[15]", "bfloat16[15]",
					    "int64[15]",  "uint64[15]", "int16[15]",   "bool[15]" };
	char attrs[32];

	for (size_t k = 0; k < sizeof from / sizeof from[0]; k++)
		for (int dtype = 0; dtype < PM_N_DTYPES && !pm_dtype_is_narrow(dtype); dtype++) {
			snprintf(attrs, sizeof attrs, "to=%d", pm_dtype_to_onnx(dtype));
			eager_add(b, PM_F64, "Cast", from[k], attrs, 1);
			b->rel[b->n - 1] = 0; /* the same rounding */
		}
	eager_add(b, PM_F64, "BitCast", "float[3,5]", "to=6", 1);
	eager_add(b, PM_F64, "BitCast", "double[15]", "to=7", 1);
	eager_add(b, PM_F64, "BitCast", "float16[15]", "to=5", 1);
	eager_add(b, PM_F64, "BitCast", "bfloat16[15]", "to=10", 1);
	eager_add(b, PM_F64, "BitCast", "int16[15]", "to=16", 1);
}

void eager_add_powers(EagerBench *b)
{
	eager_add(b, PM_F32, "Pow", "int64[4,1] float[3]", "", 1);
	eager_add(b, PM_F32, "Pow", "int32[4,1] double[3]", "", 1);
	eager_add(b, PM_F32, "Pow", "float[4,1] int64[3]", "", 1);
	eager_add(b, PM_F32, "Pow", "float16[4,1] float[3]", "", 1);
	eager_add(b, PM_F32, "Pow", "int32[4,1] int64[3]", "", 1);
}

void eager_check(const char *device, int dtype, unsigned parts)
{
	EagerBench *b;

	pm_test_need_device(device);
	b = eager_open();
	if (parts & EAGER_ROWS)
		eager_add_rows(b, dtype);
	if (parts & EAGER_ROWS && dtype == PM_BOOL)
		eager_add(b, dtype, "Where", "bool[15,1] bool[15] bool[15]", "", 1);
	if (parts & EAGER_NUMBERS)
		eager_add_numbers(b, dtype);
	if (parts & EAGER_FLOATS)
		eager_add_floats(b, dtype);
	if (parts & EAGER_MOVES)
		eager_add_moves(b, dtype);
	if (parts & EAGER_INFINITY)
		eager_add_infinity(b, dtype);
	if (parts & EAGER_CASTS)
		eager_add_casts(b);
	if (parts & EAGER_POWERS)
		eager_add_powers(b);
	assert_true(b->n > 0);
	eager_run(b, device, !(parts & ~(unsigned)(EAGER_ROWS | EAGER_INFINITY | EAGER_CASTS)));
}

void eager_check_integers(const char *device, const int *types, size_t n)
{
	EagerBench *b;

	pm_test_need_device(device);
	b = eager_open();
	for (size_t i = 0; i < n; i++)
		eager_add_numbers(b, types[i]);
	eager_add_moves(b, PM_BOOL);
	eager_add(b, PM_I32, "ReduceMean", "#[2,0,3]", "axes=[1]", 1);
	eager_run(b, device, 0);
}
