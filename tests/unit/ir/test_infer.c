/* SPDX-License-Identifier: Apache-2.0 */
/* test_infer.c - rules of shape inference, one table of cases for each family of operators. */
#include "ir/infer/infer.h"

#include "base/core/rng.h"
#include "tests/lib/graphs/one_node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Operands and attributes as in one_node.h; `want` lists the result types, or names the error. */
typedef struct Case {
	const char *op, *operands, *attrs, *want;
} Case;

static size_t count_words(const char *s)
{
	size_t n = 0;
	int depth = 0; /* a formula between brackets may have spaces */

	for (; *s; s++) {
		depth += (*s == '[') - (*s == ']');
		n += *s == ' ' && !depth;
	}
	return n + 1;
}

static void check_message(const Case *c, const PmErr *err)
{
	size_t n = strlen(err->text);

	if (strncmp(err->text, "In node 1 (", 11) != 0 || err->text[n - 1] != '.' ||
	    !strstr(err->text, c->op))
		fail_msg("%s (%s): the message is no sentence about the node: %s", c->op, c->operands,
			 err->text);
}

static void run_case(const Case *c)
{
	PmNode n;
	PmGraph *g = one_node(c->op, c->operands, c->attrs, count_words(c->want), &n);
	PmStr got = PM_STR_INIT;
	PmStatus st;
	PmErr err;
	size_t k;

	pm_err_init(&err);
	st = pm_infer_node(g, n, &err);
	if (st) {
		pm_str_add(&got, pm_status_name(st));
		check_message(c, &err);
	}
	for (k = 0; k < pm_node_n_out(g, n) && !st; k++) {
		if (k)
			pm_str_addc(&got, ' ');
		one_node_print_type(g, pm_value_type(g, pm_node_out(g, n, k)), &got);
	}
	if (strcmp(got.s, c->want) != 0)
		fail_msg("%s (%s) {%s} gives %s, not %s; %s", c->op, c->operands, c->attrs, got.s, c->want,
			 err.text);
	pm_str_release(&got);
	pm_graph_free(g);
}

#define RUN(cases)                                                                                           \
	do {                                                                                                 \
		for (size_t i_ = 0; i_ < sizeof(cases) / sizeof(cases)[0]; i_++)                             \
			run_case(&(cases)[i_]);                                                              \
	} while (0)

/* ---- element-wise ---- */

static const Case broadcasting[] = {
	{ "Add", "float[2,3] float[2,3]", "", "float[2,3]" },
	{ "Add", "float[2,3] float[3]", "", "float[2,3]" },
	{ "Add", "float[2,1] float[1,3]", "", "float[2,3]" },
	{ "Add", "float[3] float[4,2,3]", "", "float[4,2,3]" },
	{ "Add", "float float[2]", "", "float[2]" },
	{ "Add", "float float", "", "float" },
	{ "Add", "int8[2] int8[1]", "", "int8[2]" },
	{ "Add", "float[0] float[1]", "", "float[0]" },
	{ "Add", "float[0,3] float[1,3]", "", "float[0,3]" },
	{ "Add", "float[0] float[2]", "", "E_SHAPE" },
	{ "Add", "float[N] float[N]", "", "float[N]" },
	{ "Add", "float[N] float[1]", "", "float[N]" },
	{ "Add", "float[1] float[N]", "", "float[N]" },
	{ "Add", "float[N] float[4]", "", "float[4]" },
	{ "Add", "float[4] float[N]", "", "float[4]" },
	{ "Add", "float[N] float[M]", "", "float[?]" },
	{ "Add", "float[N,4] float[N,1]", "", "float[N,4]" },
	{ "Add", "float[2,3] float[2]", "", "E_SHAPE" },
	{ "Add", "float[2] float16[2]", "", "E_TYPE" },
	{ "Add", "bool[2] bool[2]", "", "E_TYPE" },
	{ "Add", "float[2]", "", "E_INVALID" },
	{ "Add", "float[2] -", "", "E_INVALID" },
	{ "Max", "float[2,1] float[3] float[4,1,1]", "", "float[4,2,3]" },
	{ "Max", "int32[2]", "", "int32[2]" },
	{ "Max", "float[2] float[2] float[3]", "", "E_SHAPE" },
	{ "Max", "float[2] - float[2]", "", "E_INVALID" },
	{ "Min", "float[2] float[2] double[2]", "", "E_TYPE" },
	{ "Sum", "float[2] float[1] float", "", "float[2]" },
	{ "Sum", "int64[2] int64[2]", "", "E_TYPE" },
};

static const Case unary_and_typed[] = {
	{ "Relu", "float16[2,N]", "", "float16[2,N]" },
	{ "Relu", "int8[2]", "", "int8[2]" },
	{ "Relu", "bool[2]", "", "E_TYPE" },
	{ "Sigmoid", "int64[2]", "", "E_TYPE" },
	{ "Sigmoid", "float[2] float[2]", "", "E_INVALID" },
	{ "Not", "bool[0]", "", "bool[0]" },
	{ "Not", "int64[2]", "", "E_TYPE" },
	{ "IsNaN", "bfloat16[2]", "", "bool[2]" },
	{ "Identity", "bool", "", "bool" },
	{ "LRN", "float[1,2,3,4]", "size=3", "float[1,2,3,4]" },
	{ "InstanceNormalization", "float[2,6,N] float[6] float[6]", "", "float[2,6,N]" },
	{ "InstanceNormalization", "float[2,6,5] float[5] float[6]", "", "E_SHAPE" },
	{ "GroupNormalization", "float[2,6,5] float[6] float[6]", "num_groups=3", "float[2,6,5]" },
	{ "GroupNormalization", "float[2,6,5] float[6] float[6]", "num_groups=4", "E_SHAPE" },
	{ "RMSNormalization", "float[2,6,N] float[N]", "axis=2", "float[2,6,N]" },
	{ "RMSNormalization", "float[2,6,5] float[1,5]", "axis=1", "float[2,6,5]" },
	{ "RMSNormalization", "float[2,6,5] float[6,5]", "axis=2", "E_SHAPE" },
	{ "RMSNormalization", "float[2,6,5] float16[5]", "axis=2", "E_TYPE" },
	{ "QuantizeLinear", "float[2,N] float", "", "uint8[2,N]" },
	{ "QuantizeLinear", "float[2,N] float int8", "", "int8[2,N]" },
	{ "QuantizeLinear", "float[2,N] float", "output_dtype=3", "int8[2,N]" },
	{ "QuantizeLinear", "float[2,N] float", "output_dtype=1", "E_UNSUPPORTED" },
	{ "QuantizeLinear", "float16[4,3] float[3] int8[3]", "axis=1", "int8[4,3]" },
	{ "QuantizeLinear", "float[4,3] float[4]", "axis=1", "E_SHAPE" },
	{ "QuantizeLinear", "float[4,3] float[3] int8", "axis=1", "E_SHAPE" },
	{ "QuantizeLinear", "float[4,3] float[3] float[3]", "axis=1", "E_TYPE" },
	{ "QuantizeLinear", "float[4,3] int32", "", "E_TYPE" },
	{ "QuantizeLinear", "float[5,3] float[3,3]", "axis=0 block_size=2", "uint8[5,3]" },
	{ "QuantizeLinear", "float[5,3] float[2,3]", "axis=0 block_size=2", "E_SHAPE" },
	{ "QuantizeLinear", "float[5,3] float[3]", "axis=2", "E_SHAPE" },
	{ "DequantizeLinear", "int8[2,N] float16 int8", "", "float16[2,N]" },
	{ "DequantizeLinear", "int32[2] double", "", "double[2]" },
	{ "DequantizeLinear", "int8[2] float uint8", "", "E_TYPE" },
	{ "DequantizeLinear", "float[2] float", "", "E_TYPE" },
	{ "GridSample", "float[N,3,5,6] float[N,7,M,2]", "", "float[N,3,7,M]" },
	{ "GridSample", "float[2,3,5] float16[2,7,1]", "", "float[2,3,7]" },
	{ "GridSample", "float[2,3,5,6] float[2,7,8,3]", "", "E_SHAPE" },
	{ "GridSample", "float[2,3,5,6] float[1,7,8,2]", "", "E_SHAPE" },
	{ "GridSample", "float[2,3,0,6] float[2,7,8,2]", "", "E_SHAPE" },
	{ "GridSample", "float[2,3] float[2,2]", "", "E_SHAPE" },
	{ "GridSample", "float[2,3,5] int64[2,7,1]", "", "E_TYPE" },
	{ "GridSample", "float[2,3,5] float[2,7,1]", "mode='bilinear'", "E_UNSUPPORTED" },
	{ "GridSample", "float[2,3,5] float[2,7,1]", "padding_mode='wrap'", "E_UNSUPPORTED" },
	{ "RoiAlign", "float[2,3,5,6] float[N,4] int64[N]", "output_height=2 output_width=3",
	  "float[N,3,2,3]" },
	{ "RoiAlign", "float[2,3,5] float[7,4] int64[7]", "", "E_SHAPE" },
	{ "RoiAlign", "float[2,3,5,6] float[7,5] int64[7]", "", "E_SHAPE" },
	{ "RoiAlign", "float[2,3,5,6] float[7,4] int64[6]", "", "E_SHAPE" },
	{ "RoiAlign", "float[2,3,5,6] double[7,4] int64[7]", "", "E_TYPE" },
	{ "RoiAlign", "float[2,3,5,6] float[7,4] int64[7]", "output_height=0", "E_SHAPE" },
	{ "RoiAlign", "float[2,3,5,6] float[7,4] int64[7]", "mode='sum'", "E_UNSUPPORTED" },
	{ "Det", "float[N,3,3]", "", "float[N]" },
	{ "Det", "float[0,0]", "", "float" },
	{ "Det", "float[2,3]", "", "E_SHAPE" },
	{ "Det", "float[2]", "", "E_SHAPE" },
	{ "Col2Im", "float[N,8,6]",
	  "image_shape=[3,4] block_shape=[2,2] dilations=[1,1] pads=[0,0,0,0] strides=[1,1]",
	  "float[N,2,3,4]" },
	{ "Col2Im", "float[2,6,N]", "image_shape=[7] block_shape=[3] dilations=[2] pads=[1,2] strides=[2]",
	  "float[2,2,7]" },
	{ "Col2Im", "float[2,6,5]", "image_shape=[7] block_shape=[4] dilations=[1] pads=[0,0] strides=[1]",
	  "E_SHAPE" },
	{ "Col2Im", "float[2,6,5]", "image_shape=[7] block_shape=[2] dilations=[1] pads=[0,0] strides=[1]",
	  "E_SHAPE" },
	{ "Col2Im", "float[2,6,5]", "image_shape=[1] block_shape=[3] dilations=[1] pads=[0,0] strides=[1]",
	  "E_SHAPE" },
	{ "Col2Im", "float[2,6,5]", "image_shape=[7] block_shape=[3,1] dilations=[1] pads=[0,0] strides=[1]",
	  "E_SHAPE" },
	{ "IsInf", "float16[2]", "", "bool[2]" },
	{ "Mod", "int64[2,1] int64[3]", "", "int64[2,3]" },
	{ "Equal", "int64[2,1] int64[3]", "", "bool[2,3]" },
	{ "Equal", "bool[2] bool[2]", "", "bool[2]" },
	{ "Less", "float[2] float[N]", "", "bool[2]" },
	{ "Less", "bool[2] bool[2]", "", "E_TYPE" },
	{ "And", "bool[2,1] bool[1,N]", "", "bool[2,N]" },
	{ "Or", "float[2] float[2]", "", "E_TYPE" },
	{ "Cast", "float[2,N]", "to=7", "int64[2,N]" },
	{ "Cast", "bool", "to=16", "bfloat16" },
	{ "Cast", "float[2]", "to=10", "float16[2]" },
	{ "Cast", "float[2]", "to=8", "E_UNSUPPORTED" },
	{ "Cast", "float[2]", "", "E_INVALID" },
	{ "Pow", "float[2] int64[1]", "", "float[2]" },
	{ "Pow", "int32[2,1] double[3]", "", "int32[2,3]" },
	{ "Pow", "float[2] bool[2]", "", "E_TYPE" },
	{ "PRelu", "float[2,3,4] float[3,1]", "", "float[2,3,4]" },
	{ "PRelu", "float[2,3] float[1,2,3]", "", "E_SHAPE" },
	{ "PRelu", "float[2,1] float[3]", "", "E_SHAPE" },
	{ "PRelu", "float[2,N] float[3]", "", "float[2,N]" },
	{ "Clip", "float[2] float float", "", "float[2]" },
	{ "Clip", "float[2] - float", "", "float[2]" },
	{ "Clip", "float[2]", "", "float[2]" },
	{ "Clip", "int64[2] int64", "", "int64[2]" },
	{ "Clip", "float[2] float[2]", "", "E_SHAPE" },
	{ "Clip", "float[2] double", "", "E_TYPE" },
	{ "Where", "bool[2,1] float[3] float", "", "float[2,3]" },
	{ "Where", "bool[N] int64[N] int64[1]", "", "int64[N]" },
	{ "Where", "float[2] float[2] float[2]", "", "E_TYPE" },
	{ "Where", "bool[2] float[2] int64[2]", "", "E_TYPE" },
	{ "Where", "bool[2] float[3] float[3]", "", "E_SHAPE" },
};

static const Case reductions[] = {
	{ "ReduceSum", "float[2,3,4]", "axes=[1]", "float[2,1,4]" },
	{ "ReduceSum", "float[2,3,4]", "axes=[0,2] keepdims=0", "float[3]" },
	{ "ReduceMean", "float[2,N]", "axes=[1] keepdims=0", "float[2]" },
	{ "ReduceMean", "float[2,N]", "axes=[0] keepdims=0", "float[N]" },
	{ "ReduceMax", "float[0,3]", "axes=[0]", "float[1,3]" },
	{ "ReduceMax", "int64[2]", "axes=[0] keepdims=0", "int64" },
	{ "ReduceProd", "float", "axes=[]", "float" },
	{ "ReduceMin", "float[2]", "axes=[]", "E_INVALID" },
	{ "ReduceMin", "float[2]", "", "E_INVALID" },
	{ "ReduceL1", "float[2]", "axes=[1]", "E_SHAPE" },
	{ "ReduceL2", "float[2]", "axes=[-1]", "E_SHAPE" },
	{ "ReduceSumSquare", "float[2,3]", "axes=[0,0]", "E_SHAPE" },
	{ "ReduceSum", "bool[2]", "axes=[0]", "E_TYPE" },
	{ "Softmax", "float[2,3]", "axis=1", "float[2,3]" },
	{ "LogSoftmax", "float[2,N]", "axis=0", "float[2,N]" },
	{ "Softmax", "float[2,3]", "axis=2", "E_SHAPE" },
	{ "Softmax", "float", "axis=0", "E_SHAPE" },
	{ "Softmax", "float[2]", "", "E_INVALID" },
};

/* ---- contractions, windows, normalisation ---- */

static const Case contractions[] = {
	{ "MatMul", "float[2,3] float[3,4]", "", "float[2,4]" },
	{ "MatMul", "float[3] float[3]", "", "float" },
	{ "MatMul", "float[3] float[3,4]", "", "float[4]" },
	{ "MatMul", "float[2,3] float[3]", "", "float[2]" },
	{ "MatMul", "float[3] float[5,3,4]", "", "float[5,4]" },
	{ "MatMul", "float[5,2,3] float[3]", "", "float[5,2]" },
	{ "MatMul", "float[5,2,3] float[3,4]", "", "float[5,2,4]" },
	{ "MatMul", "float[5,1,2,3] float[7,3,4]", "", "float[5,7,2,4]" },
	{ "MatMul", "float[N,2,3] float[1,3,4]", "", "float[N,2,4]" },
	{ "MatMul", "float[N,2,3] float[M,3,4]", "", "float[?,2,4]" },
	{ "MatMul", "float[N,S,K] float[K,4]", "", "float[N,S,4]" },
	{ "MatMul", "float[2,K] float[3,4]", "", "float[2,4]" },
	{ "MatMul", "float[0,3] float[3,4]", "", "float[0,4]" },
	{ "MatMul", "float[2,0] float[0,4]", "", "float[2,4]" },
	{ "MatMul", "int32[2,3] int32[3,4]", "", "int32[2,4]" },
	{ "MatMul", "float[2,3] float[4,5]", "", "E_SHAPE" },
	{ "MatMul", "float[2,2,3] float[3,3,4]", "", "E_SHAPE" },
	{ "MatMul", "float float[3]", "", "E_SHAPE" },
	{ "MatMul", "float[2,3] float16[3,4]", "", "E_TYPE" },
	{ "Gemm", "float[2,3] float[3,4]", "", "float[2,4]" },
	{ "Gemm", "float[3,2] float[4,3] float[4]", "transA=1 transB=1", "float[2,4]" },
	{ "Gemm", "float[2,3] float[3,4] float[2,1]", "", "float[2,4]" },
	{ "Gemm", "float[2,3] float[3,4] float", "", "float[2,4]" },
	{ "Gemm", "float[N,3] float[3,4] float[1,4]", "", "float[N,4]" },
	{ "Gemm", "float[2,3] float[3,4] float[3]", "", "E_SHAPE" },
	{ "Gemm", "float[1,3] float[3,4] float[2,4]", "", "E_SHAPE" },
	{ "Gemm", "float[2,3] float[3,4] float[1,2,4]", "", "E_SHAPE" },
	{ "Gemm", "float[2,3] float[4,3]", "", "E_SHAPE" },
	{ "Gemm", "float[2,2,3] float[3,4]", "", "E_SHAPE" },
	{ "Gemm", "float[2,3] float[3,4] double[4]", "", "E_TYPE" },
};

static const Case convolutions[] = {
	{ "Conv", "float[1,3,8,8] float[4,3,3,3]", "strides=[1,1] pads=[0,0,0,0] dilations=[1,1]",
	  "float[1,4,6,6]" },
	{ "Conv", "float[1,3,8,8] float[4,3,3,3] float[4]", "strides=[2,2] pads=[1,1,1,1] dilations=[1,1]",
	  "float[1,4,4,4]" },
	{ "Conv", "float[1,3,9,8] float[4,3,3,2]", "strides=[2,3] pads=[0,1,2,0] dilations=[2,1]",
	  "float[1,4,4,3]" },
	{ "Conv", "float[2,6,10] float[4,3,3]", "group=2 strides=[1] pads=[2,0] dilations=[2]",
	  "float[2,4,8]" },
	{ "Conv", "float[1,2,4,5,6] float[3,2,1,2,3]", "strides=[1,1,1] pads=[0,0,0,0,0,0] dilations=[1,1,1]",
	  "float[1,3,4,4,4]" },
	{ "Conv", "float[1,4,5,5] float[4,1,5,5]", "group=4 strides=[1,1] pads=[0,0,0,0] dilations=[1,1]",
	  "float[1,4,1,1]" },
	{ "Conv", "float[N,3,H,8] float[4,3,3,3]", "strides=[1,1] pads=[1,1,1,1] dilations=[1,1]",
	  "float[N,4,H,8]" },
	{ "Conv", "float[N,3,H,8] float[4,3,3,3]", "strides=[2,2] pads=[1,1,1,1] dilations=[1,1]",
	  "float[N,4,?,4]" },
	{ "Conv", "float[0,3,8] float[4,3,3]", "strides=[1] pads=[0,0] dilations=[1]", "float[0,4,6]" },
	{ "Conv", "float[1,3,8] float[4,2,3]", "strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4,8] float[3,2,3]", "group=2 strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4,8] float[3,4,3]", "group=0 strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4,8] float[3,4,9]", "strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4,8] float[3,4,0]", "strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4,8] float[3,4,3] float[4]", "strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4,8] float[3,4,3] double[3]", "strides=[1] pads=[0,0] dilations=[1]", "E_TYPE" },
	{ "Conv", "float[1,4,8] float[3,4,3]", "strides=[0] pads=[0,0] dilations=[1]", "E_INVALID" },
	{ "Conv", "float[1,4,8] float[3,4,3]", "strides=[1] pads=[0,-1] dilations=[1]", "E_INVALID" },
	{ "Conv", "float[1,4,8] float[3,4,3]", "strides=[1,1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4,8] float[3,4,3]", "pads=[0,0] dilations=[1]", "E_INVALID" },
	{ "Conv", "float[1,4,8] float[3,4,3]", "strides=[1] pads=[0,0] dilations=[9223372036854775807]",
	  "E_LIMIT" },
	{ "Conv", "float[1,4,8] float[3,4,3]",
	  "strides=[1] pads=[9223372036854775807,9223372036854775807] dilations=[1]", "E_LIMIT" },
	{ "Conv", "float[1,4,8] float[3,4,3,3]", "strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "Conv", "float[1,4] float[3,4]", "strides=[] pads=[] dilations=[]", "E_SHAPE" },
	{ "Conv", "int64[1,4,8] int64[3,4,3]", "strides=[1] pads=[0,0] dilations=[1]", "E_TYPE" },
};

static const Case pooling[] = {
	{ "MaxPool", "float[1,3,8,8]", "kernel_shape=[2,2] strides=[2,2] pads=[0,0,0,0] dilations=[1,1]",
	  "float[1,3,4,4]" },
	{ "MaxPool", "float[1,3,7,8]", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1] dilations=[1,1]",
	  "float[1,3,4,4] int64[1,3,4,4]" },
	{ "MaxPool", "int8[1,3,6]", "kernel_shape=[3] strides=[2] pads=[0,0] dilations=[1]", "int8[1,3,2]" },
	{ "MaxPool", "float[1,3,6]", "kernel_shape=[3] strides=[2] pads=[0,0] dilations=[1] ceil_mode=1",
	  "float[1,3,3]" },
	{ "MaxPool", "float[1,3,7]", "kernel_shape=[3] strides=[2] pads=[0,0] dilations=[2] ceil_mode=1",
	  "float[1,3,2]" },
	/* A window that would start in the padding at the end does not count: torch and ONNX agree on 2. */
	{ "MaxPool", "float[1,1,2]", "kernel_shape=[1] strides=[2] pads=[0,0] dilations=[1] ceil_mode=1",
	  "float[1,1,1]" },
	{ "MaxPool", "float[1,1,3]", "kernel_shape=[2] strides=[2] pads=[1,1] dilations=[1] ceil_mode=1",
	  "float[1,1,2]" },
	{ "MaxPool", "float[1,1,4]", "kernel_shape=[2] strides=[3] pads=[1,1] dilations=[1] ceil_mode=1",
	  "float[1,1,2]" },
	{ "AveragePool", "float[1,3,8,8,8]",
	  "kernel_shape=[2,3,4] strides=[1,2,3] pads=[0,0,0,1,1,1] dilations=[1,1,1]", "float[1,3,8,4,2]" },
	{ "AveragePool", "float[1,3,4]", "kernel_shape=[5] strides=[1] pads=[0,0] dilations=[1]", "E_SHAPE" },
	{ "AveragePool", "float[1,3,H]", "kernel_shape=[3] strides=[1] pads=[1,1] dilations=[1]",
	  "float[1,3,H]" },
	{ "AveragePool", "float[1,3,H]", "kernel_shape=[2] strides=[2] pads=[0,0] dilations=[1]",
	  "float[1,3,?]" },
	{ "AveragePool", "float[1,3,4]", "kernel_shape=[0] strides=[1] pads=[0,0] dilations=[1]",
	  "E_INVALID" },
	{ "AveragePool", "float[1,3,4]", "kernel_shape=[2,2] strides=[1] pads=[0,0] dilations=[1]",
	  "E_SHAPE" },
	{ "AveragePool", "float[3,4]", "kernel_shape=[] strides=[] pads=[] dilations=[]", "E_SHAPE" },
	{ "AveragePool", "int8[1,3,4]", "kernel_shape=[2] strides=[1] pads=[0,0] dilations=[1]", "E_TYPE" },
	{ "GlobalAveragePool", "float[N,3,7,H]", "", "float[N,3,1,1]" },
	{ "GlobalMaxPool", "float[2,3,7]", "", "float[2,3,1]" },
	{ "GlobalMaxPool", "float[2,3]", "", "E_SHAPE" },
};

static const Case normalisation[] = {
	{ "LayerNormalization", "float[2,3,4] float[4] float[4]", "axis=2", "float[2,3,4]" },
	{ "LayerNormalization", "float16[2,3,4] float16[3,4] float16[3,4]", "axis=1",
	  "float16[2,3,4] float[2,1,1] float[2,1,1]" },
	{ "LayerNormalization", "bfloat16[N,S,4] bfloat16[4]", "axis=2 stash_type=16",
	  "bfloat16[N,S,4] bfloat16[N,S,1]" },
	{ "LayerNormalization", "float[2,3,4] float[3]", "axis=2", "E_SHAPE" },
	{ "LayerNormalization", "float[2,3,4] float[4] float[3]", "axis=2", "E_SHAPE" },
	{ "LayerNormalization", "float[2,3,4] double[4]", "axis=2", "E_TYPE" },
	{ "LayerNormalization", "float[2,3,4] float[4]", "axis=3", "E_SHAPE" },
	{ "LayerNormalization", "float[2,3,4] float[4]", "axis=2 stash_type=7", "E_UNSUPPORTED" },
	{ "LayerNormalization", "float[2,3,4] float[4]", "axis=2", "float[2,3,4] float[2,3,1]" },
	{ "BatchNormalization", "float[2,3,4] float[3] float[3] float[3] float[3]", "", "float[2,3,4]" },
	{ "BatchNormalization", "float16[2,3] float[3] float[3] double[3] double[3]", "training_mode=1",
	  "float16[2,3] double[3] double[3]" },
	{ "BatchNormalization", "float[5] float[1] float[1] float[1] float[1]", "", "float[5]" },
	{ "BatchNormalization", "float[2,C,4] float[3] float[3] float[3] float[3]", "", "float[2,3,4]" },
	{ "BatchNormalization", "float[2,3,4] float[3] float[3] float[3] float[3]", "training_mode=1",
	  "float[2,3,4]" },
	{ "BatchNormalization", "float[2,3,4] float[2] float[3] float[3] float[3]", "", "E_SHAPE" },
	{ "BatchNormalization", "float[2,3,4] float[3] double[3] float[3] float[3]", "", "E_TYPE" },
	{ "BatchNormalization", "float[2,3,4] int64[3] int64[3] float[3] float[3]", "", "E_TYPE" },
	{ "BatchNormalization", "float float[1] float[1] float[1] float[1]", "", "E_SHAPE" },
};

static void batch_normalization_results_depend_on_training_mode(void **state)
{
	const char *in = "float[2,3] float[3] float[3] float[3] float[3]";
	PmNode n;
	PmGraph *g = one_node("BatchNormalization", in, "training_mode=0", 3, &n);

	(void)state;
	assert_int_equal(pm_infer_node(g, n, NULL), PM_E_INVALID);
	pm_graph_free(g);
	g = one_node("BatchNormalization", in, "training_mode=1", 2, &n);
	assert_int_equal(pm_infer_node(g, n, NULL), PM_E_INVALID);
	pm_graph_free(g);
}

/* ---- moving elements ---- */

static const Case reshapes[] = {
	{ "Reshape", "float[2,3] int64{3,2}", "", "float[3,2]" },
	{ "Reshape", "float[2,3] int64{-1}", "", "float[6]" },
	{ "Reshape", "float[2,3,4] int64{0,-1}", "", "float[2,12]" },
	{ "Reshape", "float[2,3,4] int64{0,0,2,2}", "", "float[2,3,2,2]" },
	{ "Reshape", "float[1] int64{}", "", "float" },
	{ "Reshape", "float int64{1,1}", "", "float[1,1]" },
	{ "Reshape", "float[0,3] int64{3,0}", "allowzero=1", "float[3,0]" },
	{ "Reshape", "float[0,3] int64{0,-1}", "", "E_SHAPE" },
	{ "Reshape", "float[0,3] int64{-1,3}", "", "float[0,3]" },
	{ "Reshape", "float[2,3] int64{0,3}", "allowzero=1", "E_SHAPE" },
	{ "Reshape", "float[0,3] int64{0,-1}", "allowzero=1", "E_SHAPE" },
	{ "Reshape", "float[N,S,64] int64{0,0,4,16}", "", "float[N,S,4,16]" },
	{ "Reshape", "float[N,S,4,16] int64{0,0,-1}", "", "float[N,S,64]" },
	{ "Reshape", "float[N,3] int64{-1,3}", "", "float[N,3]" },
	{ "Reshape", "float[N,6] int64{-1,3}", "", "float[2*N,3]" },
	{ "Reshape", "float[N,5] int64{-1,3}", "", "float[?,3]" },
	{ "Reshape", "float[N,S] int64{-1}", "", "float[N*S]" },
	{ "Reshape", "float[N,1] int64{-1}", "", "float[N]" },
	{ "Reshape", "float[2,3] int64[2]", "", "float[?,?]" },
	{ "Reshape", "float[2,3] int64[N]", "", "float[...]" },
	{ "Reshape", "float[2,3] int64{4,2}", "", "E_SHAPE" },
	{ "Reshape", "float[2,3] int64{-1,4}", "", "E_SHAPE" },
	{ "Reshape", "float[2,3] int64{-1,-1}", "", "E_SHAPE" },
	{ "Reshape", "float[2,3] int64{-2,3}", "", "E_SHAPE" },
	{ "Reshape", "float[6] int64{6,0}", "", "E_SHAPE" },
	{ "Reshape", "float[2,3] int32{3,2}", "", "E_TYPE" },
	{ "Reshape", "float[2,3] int64", "", "E_TYPE" },
	{ "Reshape", "float[1] int64{1,1,1,1,1,1,1,1,1}", "", "E_LIMIT" },
	{ "Reshape", "float[4] int64{4611686018427387904,4}", "", "E_LIMIT" },
	{ "Flatten", "float[2,3,4]", "axis=0", "float[1,24]" },
	{ "Flatten", "float[2,3,4]", "axis=3", "float[24,1]" },
	{ "Flatten", "float[N,3,4]", "axis=1", "float[N,12]" },
	{ "Flatten", "float[2,3,N]", "axis=1", "float[2,3*N]" },
	{ "Flatten", "float[2,0,N]", "axis=1", "float[2,0]" },
	{ "Flatten", "float", "axis=0", "float[1,1]" },
	{ "Flatten", "float[2,3]", "axis=3", "E_SHAPE" },
	{ "Flatten", "float[4611686018427387904,4]", "axis=0", "E_LIMIT" },
	{ "Squeeze", "float[1,3,1]", "axes=[0,2]", "float[3]" },
	{ "Squeeze", "float[N,3]", "axes=[0]", "float[3]" },
	{ "Squeeze", "float[2,3]", "axes=[0]", "E_SHAPE" },
	{ "Squeeze", "float[1,3]", "axes=[2]", "E_SHAPE" },
	{ "Unsqueeze", "float[2,3]", "axes=[0,3]", "float[1,2,3,1]" },
	{ "Unsqueeze", "float", "axes=[0]", "float[1]" },
	{ "Unsqueeze", "float[2]", "axes=[2,0]", "float[1,2,1]" },
	{ "Unsqueeze", "float[2]", "axes=[2]", "E_SHAPE" },
	{ "Unsqueeze", "float[2]", "axes=[0,0]", "E_SHAPE" },
	{ "Unsqueeze", "float[1,1,1,1,1,1,1,1]", "axes=[0]", "E_LIMIT" },
	{ "Transpose", "float[2,3,N]", "perm=[2,0,1]", "float[N,2,3]" },
	{ "Transpose", "float", "perm=[]", "float" },
	{ "Transpose", "float[2,3]", "perm=[0]", "E_SHAPE" },
	{ "Transpose", "float[2,3]", "perm=[0,0]", "E_SHAPE" },
	{ "Transpose", "float[2,3]", "perm=[0,2]", "E_SHAPE" },
	{ "Expand", "float[3,1] int64{2,1,6}", "", "float[2,3,6]" },
	{ "Expand", "float[3,4] int64{1}", "", "float[3,4]" },
	{ "Expand", "float int64{2,0}", "", "float[2,0]" },
	{ "Expand", "float[N,1] int64{1,5}", "", "float[N,5]" },
	{ "Expand", "float[3,1] int64[2]", "", "float[3,?]" },
	{ "Expand", "float[3] int64{2}", "", "E_SHAPE" },
	{ "Expand", "float[3] int64{-1}", "", "E_SHAPE" },
};

static const Case slices[] = {
	{ "Slice", "float[10]", "starts=[2] ends=[7] axes=[0] steps=[1]", "float[5]" },
	{ "Slice", "float[10]", "starts=[2] ends=[7] axes=[0] steps=[2]", "float[3]" },
	{ "Slice", "float[10]", "starts=[-3] ends=[9223372036854775807] axes=[0] steps=[1]", "float[3]" },
	{ "Slice", "float[10]", "starts=[-100] ends=[100] axes=[0] steps=[1]", "float[10]" },
	{ "Slice", "float[10]", "starts=[7] ends=[2] axes=[0] steps=[1]", "float[0]" },
	{ "Slice", "float[10]", "starts=[20] ends=[30] axes=[0] steps=[1]", "float[0]" },
	{ "Slice", "float[10]", "starts=[-1] ends=[-9223372036854775808] axes=[0] steps=[-1]", "float[10]" },
	{ "Slice", "float[10]",
	  "starts=[9223372036854775807] ends=[-9223372036854775808] axes=[0] steps=[-3]", "float[4]" },
	{ "Slice", "float[10]", "starts=[8] ends=[2] axes=[0] steps=[-2]", "float[3]" },
	{ "Slice", "float[10]", "starts=[2] ends=[8] axes=[0] steps=[-1]", "float[0]" },
	{ "Slice", "float[10]", "starts=[-1] ends=[0] axes=[0] steps=[-9223372036854775808]", "float[1]" },
	{ "Slice", "float[10]", "starts=[0] ends=[10] axes=[0] steps=[9223372036854775807]", "float[1]" },
	{ "Slice", "float[10]",
	  "starts=[-9223372036854775808] ends=[-9223372036854775808] axes=[0] steps=[-1]", "float[1]" },
	{ "Slice", "float[0]", "starts=[0] ends=[5] axes=[0] steps=[1]", "float[0]" },
	{ "Slice", "float[0]", "starts=[-1] ends=[-9] axes=[0] steps=[-1]", "float[0]" },
	{ "Slice", "float[4,5,6]", "starts=[1,0] ends=[3,2] axes=[0,2] steps=[1,1]", "float[2,5,2]" },
	{ "Slice", "float[4,5]", "starts=[] ends=[] axes=[] steps=[]", "float[4,5]" },
	{ "Slice", "float[N,5]", "starts=[0] ends=[9223372036854775807] axes=[0] steps=[1]", "float[N,5]" },
	{ "Slice", "float[N,5]", "starts=[-1] ends=[-2147483648] axes=[0] steps=[-1]", "float[N,5]" },
	{ "Slice", "float[N,5]", "starts=[0,0] ends=[3,3] axes=[0,1] steps=[1,1]", "float[?,3]" },
	{ "Slice", "float[4]", "starts=[0] ends=[3] axes=[0] steps=[0]", "E_INVALID" },
	{ "Slice", "float[4]", "starts=[0] ends=[3] axes=[1] steps=[1]", "E_SHAPE" },
	{ "Slice", "float[4,4]", "starts=[0,0] ends=[3,3] axes=[1,1] steps=[1,1]", "E_SHAPE" },
	{ "Slice", "float[4]", "starts=[0,0] ends=[3] axes=[0] steps=[1]", "E_SHAPE" },
	{ "Slice", "float[4]", "starts=[0] ends=[3] axes=[0]", "E_INVALID" },
	{ "Split", "float[7,2]", "axis=0 split=[3,4]", "float[3,2] float[4,2]" },
	{ "Split", "float[7,2]", "axis=0 split=[0,7,0]", "float[0,2] float[7,2] float[0,2]" },
	{ "Split", "float[N,2]", "axis=0 split=[3,4]", "float[3,2] float[4,2]" },
	{ "Split", "float[N,2]", "axis=1 split=[1,1]", "float[N,1] float[N,1]" },
	{ "Split", "float[7]", "axis=0 split=[7]", "float[7]" },
	{ "Split", "float[7]", "axis=0 split=[6]", "E_SHAPE" },
	{ "Split", "float[7]", "axis=0 split=[3,4]", "E_SHAPE" },
	{ "Split", "float[7]", "axis=0 split=[-1]", "E_INVALID" },
	{ "Split", "float[7]", "axis=1 split=[7]", "E_SHAPE" },
	{ "Split", "float", "axis=0 split=[1]", "E_SHAPE" },
};

static const Case moves[] = {
	{ "Concat", "float[2,3] float[4,3]", "axis=0", "float[6,3]" },
	{ "Concat", "float[2,3]", "axis=1", "float[2,3]" },
	{ "Concat", "float[0] float[3] float[0]", "axis=0", "float[3]" },
	{ "Concat", "float[0] float[N]", "axis=0", "float[N]" },
	{ "Concat", "float[N,3] float[N,4]", "axis=1", "float[N,7]" },
	{ "Concat", "float[N,3] float[2,4]", "axis=1", "float[2,7]" },
	{ "Concat", "float[N] float[3]", "axis=0", "float[N + 3]" },
	{ "Concat", "float[N] float[N]", "axis=0", "float[2*N]" },
	{ "Concat", "float[2,3] float[4,4]", "axis=0", "E_SHAPE" },
	{ "Concat", "float[2,3] float[2]", "axis=0", "E_SHAPE" },
	{ "Concat", "float[2] int64[2]", "axis=0", "E_TYPE" },
	{ "Concat", "float[2] - float[2]", "axis=0", "E_INVALID" },
	{ "Concat", "float float", "axis=0", "E_SHAPE" },
	{ "Concat", "float[2] float[2]", "axis=1", "E_SHAPE" },
	{ "Concat", "float[9223372036854775807] float[1]", "axis=0", "E_LIMIT" },
	{ "Gather", "float[5,4] int64[2,3]", "axis=0", "float[2,3,4]" },
	{ "Gather", "float[5,4] int32[2,3]", "axis=1", "float[5,2,3]" },
	{ "Gather", "float[5,4] int64", "axis=0", "float[4]" },
	{ "Gather", "int64[3] int64", "axis=0", "int64" },
	{ "Gather", "float[V,64] int64[N,S]", "axis=0", "float[N,S,64]" },
	{ "Gather", "float[5,4] float[2]", "axis=0", "E_TYPE" },
	{ "Gather", "float[5,4] int8[2]", "axis=0", "E_TYPE" },
	{ "Gather", "float[5,4] int64[2]", "axis=2", "E_SHAPE" },
	{ "Gather", "float int64[2]", "axis=0", "E_SHAPE" },
	{ "Gather", "float[1,1,1,1,1,1] int64[1,1,1,1]", "axis=0", "E_LIMIT" },
	{ "Pad", "float[2,3]", "pads=[0,1,2,3]", "float[4,7]" },
	{ "Pad", "float[2,3] float", "pads=[0,-1,0,-1]", "float[2,1]" },
	{ "Pad", "float[2,3]", "pads=[-1,0,-1,0]", "float[0,3]" },
	{ "Pad", "float[2,3]", "pads=[0,1,0,1] mode='reflect'", "float[2,5]" },
	{ "Pad", "float[N,3]", "pads=[0,1,0,1] mode='edge'", "float[N,5]" },
	{ "Pad", "float[N,3]", "pads=[1,1,-1,1]", "float[N,5]" },
	{ "Pad", "float[N,3]", "pads=[1,1,0,1]", "float[N + 1,5]" },
	{ "Pad", "float[0]", "pads=[2,2]", "float[4]" },
	{ "Pad", "float[0]", "pads=[2,2] mode='edge'", "E_SHAPE" },
	{ "Pad", "float[2]", "pads=[-3,4]", "E_SHAPE" },
	{ "Pad", "float[2]", "pads=[1]", "E_SHAPE" },
	{ "Pad", "float[2]", "pads=[1,1] mode='mirror'", "E_UNSUPPORTED" },
	{ "Pad", "float[2] double", "pads=[1,1]", "E_TYPE" },
	{ "Pad", "float[2] float[2]", "pads=[1,1]", "E_SHAPE" },
	{ "Pad", "float[2]", "pads=[9223372036854775807,0]", "E_LIMIT" },
	{ "Pad", "float[2]", "pads=[-9223372036854775808,-9223372036854775808]", "E_LIMIT" },
	{ "Tile", "float[2,3] int64{2,1}", "", "float[4,3]" },
	{ "Tile", "float[2,3] int64{0,2}", "", "float[0,6]" },
	{ "Tile", "float[N,3] int64{1,2}", "", "float[N,6]" },
	{ "Tile", "float[N,3] int64{2,2}", "", "float[2*N,6]" },
	{ "Tile", "float[2,3] int64[2]", "", "float[?,?]" },
	{ "Tile", "float[2,3] int64{2}", "", "E_SHAPE" },
	{ "Tile", "float[2] int64{-1}", "", "E_SHAPE" },
	{ "Tile", "float[4] int64{4611686018427387904}", "", "E_LIMIT" },
	{ "Shape", "float[2,N,4]", "end=3", "int64[3]" },
	{ "Shape", "float[2,3,4]", "start=1 end=-1", "int64[1]" },
	{ "Shape", "float[2,3,4]", "start=-100 end=100", "int64[3]" },
	{ "Shape", "float[2,3,4]", "start=2 end=1", "int64[0]" },
	{ "Shape", "float", "end=0", "int64[0]" },
	{ "Shape", "bool[2]", "", "E_INVALID" },
	{ "ConstantOfShape", "int64{2,3}", "value=float{1}", "float[2,3]" },
	{ "ConstantOfShape", "int64{}", "value=int64{7}", "int64" },
	{ "ConstantOfShape", "int64{0,3}", "value=bool{1}", "bool[0,3]" },
	{ "ConstantOfShape", "int64[2]", "value=float{1}", "float[?,?]" },
	{ "ConstantOfShape", "int64{-1}", "value=float{1}", "E_SHAPE" },
	{ "ConstantOfShape", "int64{1}", "value=float{1,2}", "E_SHAPE" },
	{ "ConstantOfShape", "int64{1}", "", "E_INVALID" },
	{ "ConstantOfShape", "float[1]", "value=float{1}", "E_TYPE" },
};

/* ---- anything at all ---- */

static int64_t wild_int(PmRng *r)
{
	static const int64_t special[] = { INT64_MIN, INT64_MIN + 1, INT32_MIN,
					   INT32_MAX, INT64_MAX / 2, INT64_MAX };

	return pm_rng_range(r, 0, 9) ? pm_rng_range(r, -2, 4) : special[pm_rng_range(r, 0, 5)];
}

static PmValue wild_value(PmGraph *g, PmRng *r)
{
	PmType t = pm_type_unknown();
	int64_t v[8];
	PmValue x = { 0 };
	int i;

	t.dtype = pm_rng_range(r, 0, 2) ? PM_F32 : (int)pm_rng_range(r, 0, PM_N_DTYPES - 1);
	t.rank = (int)pm_rng_range(r, 0, pm_rng_range(r, 0, 9) ? 4 : PM_MAX_RANK);
	for (i = 0; i < t.rank; i++) {
		t.dim[i] = wild_int(r);
		if (t.dim[i] < 0)
			t.dim[i] = pm_graph_symbol(g, t.dim[i] & 1 ? "N" : "M");
	}
	if (pm_rng_range(r, 0, 4) == 0) {
		t = pm_type(PM_I64, 1, &(int64_t){ pm_rng_range(r, 0, 8) });
		for (i = 0; i < 8; i++)
			v[i] = wild_int(r);
		pm_graph_add_const(g, NULL, &t, pm_blob_copy(v, (size_t)t.dim[0] * 8), &x, NULL);
	} else if (pm_rng_range(r, 0, 19)) {
		pm_graph_add_input(g, NULL, &t, &x, NULL);
	}
	return x;
}

static void wild_attrs(PmGraph *g, PmNode n, PmRng *r)
{
	const PmOpDesc *d = pm_op_desc(pm_node_op(g, n));
	int64_t v[8];
	int i, k;

	for (i = 0; i < d->n_attrs; i++) {
		for (k = 0; k < 8; k++)
			v[k] = wild_int(r);
		if (d->attrs[i].kind == PM_ATTR_INT)
			pm_node_set_i(g, n, d->attrs[i].name, v[0], NULL);
		else if (d->attrs[i].kind == PM_ATTR_INTS)
			pm_node_set_ints(g, n, d->attrs[i].name, v, (size_t)pm_rng_range(r, 0, 8), NULL);
	}
}

static const Case einsums[] = {
	{ "Einsum", "float[2,3] float[3,4]", "equation='ij,jk->ik'", "float[2,4]" },
	{ "Einsum", "float[2,3] float[3,4]", "equation='ij,jk'", "float[2,4]" },
	{ "Einsum", "float[2,3] float[3,4]", "equation='bA,Ac->cb'", "float[4,2]" },
	{ "Einsum", "float[N,3] float[3,M]", "equation='ij,jk->ki'", "float[M,N]" },
	{ "Einsum", "float[5,2,3] float[1,3,4]", "equation='...ij,...jk->...ik'", "float[5,2,4]" },
	{ "Einsum", "float[5,2,3]", "equation='...i'", "float[5,2,3]" },
	{ "Einsum", "float[4,4]", "equation='ii->i'", "float[4]" },
	{ "Einsum", "float[4,4]", "equation='ii'", "float" },
	{ "Einsum", "int64[4] int64[4]", "equation='i,i->'", "int64" },
	{ "Einsum", "float[4,5]", "equation='ii->i'", "E_SHAPE" },
	{ "Einsum", "float[2,3] float[4,4]", "equation='ij,jk->ik'", "E_SHAPE" },
	{ "Einsum", "float[2,3]", "equation='i->i'", "E_INVALID" },
	{ "Einsum", "float[2,3]", "equation='ij->ik'", "E_INVALID" },
	{ "Einsum", "float[2,3]", "equation='ij->ii'", "E_INVALID" },
	{ "Einsum", "float[2,3]", "equation='ij,jk->ik'", "E_INVALID" },
	{ "Einsum", "float[2,3] float[2,3]", "equation='ij->ij'", "E_INVALID" },
	{ "Einsum", "float[2,3]", "equation='i.j->ij'", "E_INVALID" },
	{ "Einsum", "float[2,3]", "equation='ij->ij->ij'", "E_INVALID" },
	{ "Einsum", "float[2,3] double[3]", "equation='ij,j->i'", "E_TYPE" },
};

static const Case resizes[] = {
	{ "Resize", "float[1,2,4,4] - - int64{1,2,8,3}", "", "float[1,2,8,3]" },
	{ "Resize", "float[N,2,4,4] - float{1,1,2,3}", "", "float[N,2,8,12]" },
	{ "Resize", "float[1,2,N,4] - float{1,1,2,3}", "", "float[1,2,?,12]" },
	{ "Resize", "uint8[4,4] - - int64{2}", "axes=[1]", "uint8[4,2]" },
	{ "Resize", "float[4,8] - - int64{2,2}", "keep_aspect_ratio_policy='not_larger'", "float[1,2]" },
	{ "Resize", "float[4,8] - - int64{2,2}", "keep_aspect_ratio_policy='not_smaller'", "float[2,4]" },
	{ "Resize", "float[4,8] - float[2]", "", "float[?,?]" },
	{ "Resize", "float[4,8] - float{1,1,1}", "", "E_INVALID" },
	{ "Resize", "float[4,8] - float{1,-1}", "", "E_INVALID" },
	{ "Resize", "float[4,8]", "", "E_INVALID" },
	{ "Resize", "float[4,8] - float{1,1} int64{4,8}", "", "E_INVALID" },
	{ "Resize", "float[4,8] - - int64{2,2}", "axes=[0,0]", "E_INVALID" },
	{ "Resize", "float[4,8] - - int64{2,2}", "mode='lanczos'", "E_UNSUPPORTED" },
	{ "Resize", "float[0,8] - - int64{2,2}", "", "E_INVALID" },
	{ "Resize", "float[4,8] - - float{2,2}", "", "E_TYPE" },
	{ "Resize", "bool[4] - - int64{2}", "mode='linear'", "E_UNSUPPORTED" },
	{ "ConvTranspose", "float[1,4,5] float[4,3,2]",
	  "strides=[2] pads=[1,0] dilations=[1] output_padding=[1]", "float[1,3,10]" },
	{ "ConvTranspose", "float[1,4,5,N] float[4,3,2,2] float[6]",
	  "group=2 strides=[1,1] pads=[0,0,0,0] dilations=[3,1] output_padding=[0,0]", "float[1,6,8,?]" },
	{ "ConvTranspose", "float[1,4,5] float[3,3,2]",
	  "strides=[1] pads=[0,0] dilations=[1] output_padding=[0]", "E_SHAPE" },
	{ "ConvTranspose", "float[1,4,5] float[4,3,2] float[4]",
	  "strides=[1] pads=[0,0] dilations=[1] output_padding=[0]", "E_SHAPE" },
	{ "ConvTranspose", "float[1,4,5] float[4,3,2]",
	  "strides=[1] pads=[9,0] dilations=[1] output_padding=[0]", "E_SHAPE" },
	{ "DepthToSpace", "float[1,8,2,N]", "blocksize=2", "float[1,2,4,?]" },
	{ "DepthToSpace", "float[1,6,2,3]", "blocksize=2", "E_SHAPE" },
	{ "DepthToSpace", "float[1,8,2,3]", "blocksize=2 mode='RCD'", "E_UNSUPPORTED" },
	{ "SpaceToDepth", "int8[1,2,4,6]", "blocksize=2", "int8[1,8,2,3]" },
	{ "SpaceToDepth", "int8[1,2,4]", "blocksize=2", "E_SHAPE" },
};

static const Case lines[] = {
	{ "ArgMax", "float[2,3,N]", "axis=1", "int64[2,1,N]" },
	{ "ArgMin", "int8[2,3]", "axis=0 keepdims=0", "int64[3]" },
	{ "ArgMax", "float[2,0]", "axis=1", "E_SHAPE" },
	{ "ArgMax", "float", "axis=0", "E_SHAPE" },
	{ "LpNormalization", "float[2,3]", "axis=1 p=1", "float[2,3]" },
	{ "LpNormalization", "float[2,3]", "axis=1 p=3", "E_UNSUPPORTED" },
	{ "DFT", "float[2,9,1]", "axis=1", "float[2,9,2]" },
	{ "DFT", "float[2,9,1]", "axis=1 onesided=1", "float[2,5,2]" },
	{ "DFT", "double[2,N,2] int64=16", "axis=1 inverse=1", "double[2,16,2]" },
	{ "DFT", "float[2,9,2] int64", "axis=1", "float[2,?,2]" },
	{ "DFT", "float[2,9,3]", "axis=1", "E_SHAPE" },
	{ "DFT", "float[2,9,2]", "axis=2", "E_SHAPE" },
	{ "DFT", "float[2,9,2] int64=0", "axis=1", "E_INVALID" },
	{ "DFT", "float[2,9,2]", "axis=1 inverse=1 onesided=1", "E_UNSUPPORTED" },
	{ "BitCast", "float[2,N]", "to=6", "int32[2,N]" },
	{ "BitCast", "bfloat16[2]", "to=10", "float16[2]" },
	{ "BitCast", "float[2]", "to=7", "E_TYPE" },
	{ "BitCast", "float[2]", "to=99", "E_UNSUPPORTED" },
	{ "Trilu", "bool[2,N,3] int64=-1", "upper=0", "bool[2,N,3]" },
	{ "Trilu", "float[2]", "", "E_SHAPE" },
	{ "Trilu", "float[2,2] float", "", "E_TYPE" },
	{ "Size", "float[2,N]", "", "int64" },
};

static const Case choosing[] = {
	{ "TopK", "float[2,9,N] int64{3}", "axis=1", "float[2,3,N] int64[2,3,N]" },
	{ "TopK", "float[2,9] int64[1]", "axis=1", "float[2,?] int64[2,?]" },
	{ "TopK", "float[2,9] int64{10}", "axis=1", "E_SHAPE" },
	{ "TopK", "float[2,9] int64{-1}", "axis=1", "E_INVALID" },
	{ "TopK", "float[2,9] float{1}", "axis=1", "E_TYPE" },
	{ "TopK", "float[2,9] int64{1,1}", "axis=1", "E_SHAPE" },
	{ "OneHot", "int64[2,N] int64=5 float16[2]", "axis=1", "float16[2,5,N]" },
	{ "OneHot", "int64[2] int64=5 float[2]", "axis=1", "float[2,5]" },
	{ "OneHot", "int64[2] int64=5 float[3]", "axis=0", "E_SHAPE" },
	{ "OneHot", "int64[2] int64=-1 float[2]", "axis=0", "E_INVALID" },
	{ "EyeLike", "float[2,N]", "dtype=9", "bool[2,N]" },
	{ "EyeLike", "float[2]", "dtype=1", "E_SHAPE" },
	{ "EyeLike", "float[2,2]", "dtype=8", "E_UNSUPPORTED" },
	{ "Hardmax", "float[2,N]", "axis=1", "float[2,N]" },
	{ "ReverseSequence", "float[4,N,3] int64[N]", "", "float[4,N,3]" },
	{ "ReverseSequence", "float[4,2] int64[3]", "", "E_SHAPE" },
	{ "ReverseSequence", "float[4] int64[4]", "", "E_SHAPE" },
	{ "ReverseSequence", "float[4,2] int64[2]", "batch_axis=1 time_axis=1", "E_SHAPE" },
	{ "Range", "int64=0 int64=10 int64=3", "", "int64[4]" },
	{ "Range", "int64=-9223372036854775808 int64=9223372036854775807 int64=9223372036854775807", "",
	  "int64[3]" },
	{ "Range", "float=0 float=10 float=3", "", "float[4]" },
	{ "Range", "int64=0 int64 int64=1", "", "int64[?]" },
	{ "Range", "int64=0 int64=10 int64=0", "", "E_INVALID" },
	{ "Range", "int64=0 int32=10 int64=1", "", "E_TYPE" },
	{ "Range", "int64{0,1} int64=10 int64=1", "", "E_SHAPE" },
	{ "NonZero", "float[2,N]", "", "int64[2,?]" },
	{ "NonZero", "int64{0,4,5}", "", "int64[1,2]" },
	{ "NonZero", "bool", "", "int64[0,?]" },
	{ "Unique", "float[2,3]", "axis=1", "float[2,?]" },
	{ "Unique", "float[2,0]", "axis=1", "float[2,0]" },
	{ "Unique", "float", "axis=0", "E_SHAPE" },
	{ "NonMaxSuppression", "float[2,N,4] float[2,5,N]", "", "int64[?,3]" },
	{ "NonMaxSuppression", "float[2,7,4] float[2,5,8]", "", "E_SHAPE" },
	{ "NonMaxSuppression", "float[2,7,4] float[2,5,7] float", "", "E_TYPE" },
	{ "RandomUniformLike", "int64[2,N]", "dtype=10 seed=1.0", "float16[2,N]" },
	{ "RandomNormalLike", "float[2]", "dtype=7 seed=1.0", "E_UNSUPPORTED" },
	{ "BitShift", "uint8[2] uint8[1]", "direction='RIGHT'", "uint8[2]" },
	{ "BitShift", "uint8[2] uint8[1]", "direction='UP'", "E_INVALID" },
	{ "BitShift", "float[2] float[2]", "", "E_TYPE" },
	{ "BitwiseAnd", "bool[2] bool[2]", "", "E_TYPE" },
};

static const Case indexing[] = {
	{ "CumSum", "float[4,N] int64=1", "", "float[4,N]" },
	{ "CumSum", "int32[4] int32{-1}", "", "int32[4]" },
	{ "CumSum", "float[4] int64=1", "", "E_SHAPE" },
	{ "CumSum", "float[4] float", "", "E_TYPE" },
	{ "CumSum", "float[4] int64{0,1}", "", "E_SHAPE" },
	{ "GatherElements", "float[4,5] int64[4,2]", "axis=1", "float[4,2]" },
	{ "GatherElements", "float16[4,5] int32[7,5]", "axis=0", "float16[7,5]" },
	{ "GatherElements", "float[N,5] int64[7,2]", "axis=1", "float[7,2]" },
	{ "GatherElements", "float[4,5] int64[5,2]", "axis=1", "E_SHAPE" },
	{ "GatherElements", "float[4,5] int64[5]", "axis=1", "E_SHAPE" },
	{ "GatherElements", "float[4,5] float[4,5]", "axis=1", "E_TYPE" },
	{ "GatherElements", "float[4,5] int64[4,5]", "axis=2", "E_SHAPE" },
	{ "ScatterElements", "float[4,5] int64[4,2] float[4,2]", "axis=1", "float[4,5]" },
	{ "ScatterElements", "float[4,N] int64[4,2] float[4,2]", "axis=1 reduction='max'", "float[4,N]" },
	{ "ScatterElements", "float[4,5] int64[4,2] float[4,3]", "axis=1", "E_SHAPE" },
	{ "ScatterElements", "float[4,5] int64[4,2] double[4,2]", "axis=1", "E_TYPE" },
	{ "ScatterElements", "float[4,5] int64[4,2] float[4,2]", "axis=1 reduction='avg'", "E_UNSUPPORTED" },
	{ "ScatterElements", "bool[4] int64[4] bool[4]", "axis=0 reduction='add'", "E_UNSUPPORTED" },
	{ "GatherND", "float[4,5,6] int64[7,2]", "", "float[7,6]" },
	{ "GatherND", "float[4,5,6] int64[3]", "", "float" },
	{ "GatherND", "float[4,5,6] int64[4,3,1]", "batch_dims=1", "float[4,3,6]" },
	{ "GatherND", "float[4,5,6] int64[3,3,1]", "batch_dims=1", "E_SHAPE" },
	{ "GatherND", "float[4,5,6] int64[4]", "", "E_SHAPE" },
	{ "GatherND", "float[4,5,6] int64[4,0]", "", "E_SHAPE" },
	{ "GatherND", "float[4,5,6] int64[4,N]", "", "float[...]" },
	{ "GatherND", "float int64[4,1]", "", "E_SHAPE" },
	{ "ScatterND", "float[4,5,6] int64[7,2] float[7,6]", "", "float[4,5,6]" },
	{ "ScatterND", "float[4,5] int64[2] float", "reduction='mul'", "float[4,5]" },
	{ "ScatterND", "float[4,5,6] int64[7,2] float[7]", "", "E_SHAPE" },
	{ "ScatterND", "float[4,5,6] int64[7,4] float[7]", "", "E_SHAPE" },
};

/* What inference accepts, folding evaluates and the verifier accepts; nothing overflows or reads too far. */
static void wild_nodes_are_refused_or_right(void **state)
{
	enum { RUNS = 40000 };
	PmRng r;
	int run, accepted = 0;

	(void)state;
	pm_rng_init(&r, 7);
	for (run = 0; run < RUNS; run++) {
		PmGraph *g = pm_graph_new(0);
		PmOp op = (PmOp)pm_rng_range(&r, PM_OP_NONE + 1, PM_N_OPS - 1);
		const PmOpDesc *d = pm_op_desc(op);
		size_t i, n_in = (size_t)pm_rng_range(&r, d->in_min, d->in_max < 0 ? 4 : d->in_max);
		PmValue in[8];
		PmNode n;

		for (i = 0; i < n_in; i++)
			in[i] = i && pm_rng_range(&r, 0, 1) ? in[0] : wild_value(g, &r);
		assert_int_equal(pm_graph_add_node(g, op, in, n_in, (size_t)d->out_min, &n, NULL), PM_OK);
		wild_attrs(g, n, &r);
		if (pm_infer_graph(g, 1, NULL) == PM_OK) {
			PmErr err;

			accepted++;
			pm_err_init(&err);
			if (pm_verify(g, &err) != PM_OK)
				fail_msg("run %d: %s", run, err.text);
		}
		pm_graph_free(g);
	}
	assert_in_range(accepted, RUNS / 10, RUNS);
}

#define TABLE_TEST(name)                                                                                     \
	static void name##_follow_onnx(void **state)                                                         \
	{                                                                                                    \
		(void)state;                                                                                 \
		RUN(name);                                                                                   \
	}
TABLE_TEST(broadcasting)
TABLE_TEST(unary_and_typed)
TABLE_TEST(reductions)
TABLE_TEST(contractions)
TABLE_TEST(convolutions)
TABLE_TEST(pooling)
TABLE_TEST(normalisation)
TABLE_TEST(reshapes)
TABLE_TEST(slices)
TABLE_TEST(moves)
TABLE_TEST(indexing)
TABLE_TEST(lines)
TABLE_TEST(choosing)
TABLE_TEST(resizes)
TABLE_TEST(einsums)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broadcasting_follow_onnx),
		cmocka_unit_test(unary_and_typed_follow_onnx),
		cmocka_unit_test(reductions_follow_onnx),
		cmocka_unit_test(contractions_follow_onnx),
		cmocka_unit_test(convolutions_follow_onnx),
		cmocka_unit_test(pooling_follow_onnx),
		cmocka_unit_test(normalisation_follow_onnx),
		cmocka_unit_test(batch_normalization_results_depend_on_training_mode),
		cmocka_unit_test(reshapes_follow_onnx),
		cmocka_unit_test(slices_follow_onnx),
		cmocka_unit_test(moves_follow_onnx),
		cmocka_unit_test(indexing_follow_onnx),
		cmocka_unit_test(lines_follow_onnx),
		cmocka_unit_test(choosing_follow_onnx),
		cmocka_unit_test(resizes_follow_onnx),
		cmocka_unit_test(einsums_follow_onnx),
		cmocka_unit_test(wild_nodes_are_refused_or_right),
	};

	return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
