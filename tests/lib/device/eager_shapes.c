/* SPDX-License-Identifier: Apache-2.0 */
/* eager_shapes.c - graphs whose shapes make the eager kernels take each of their ways. */
#include "tests/lib/device/eager_shapes.h"

#include "base/sys/pool.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "runtime/exec/exec.h"
#include "runtime/ref/ref.h"
#include "runtime/worker/run.h"
#include "tests/lib/device/bound_check.h"
#include "tests/lib/graphs/eval.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* '#' is the element type. WIDE: also in the half types, whose vectors are twice as long. */
enum { F32_ONLY, WIDE };
typedef struct Shape {
	int types;
	const char *text;
} Shape;

static const Shape shapes[] = {
	/* Element-wise: flat with and without a rest, begun between vectors, one element. */
	{ WIDE, "(#[64] x, #[64] z) => (#[64] y) { y = Add (x, z) }" },
	{ WIDE, "(#[7,11] x, #[7,11] z) => (#[7,11] y) { y = Mul (x, z) }" },
	{ WIDE, "(#[1] x) => (#[1] y) { y = Neg (x) }" },
	{ F32_ONLY, "(#[0,4] x) => (#[0,4] y) { y = Neg (x) }" },
	{ WIDE, "(#[65] x, #[64] z) => (#[64] y) { a = Slice <starts = [1], ends = [65], axes = [0], steps = "
		"[1]> (x) y = Add (a, z) }" },
	{ F32_ONLY, "(#[66] x, #[64] z) => (#[64] y) { a = Slice <starts = [2], ends = [66], axes = [0], "
		    "steps = [1]> (x) y = Add (a, z) }" },
	/* Rows: aligned, shifted by less than a vector, of odd length, backwards, every other. */
	{ WIDE, "(#[5,48] x, #[5,32] z) => (#[5,32] y) { a = Slice <starts = [16], ends = [48], axes = [1], "
		"steps = [1]> (x) y = Sub (a, z) }" },
	{ WIDE, "(#[5,48] x, #[5,32] z) => (#[5,32] y) { a = Slice <starts = [3], ends = [35], axes = [1], "
		"steps = [1]> (x) y = Sub (a, z) }" },
	{ F32_ONLY, "(#[5,46] x, #[5,32] z) => (#[5,32] y) { a = Slice <starts = [2], ends = [34], axes = "
		    "[1], steps = [1]> (x) y = Sub (a, z) }" },
	{ F32_ONLY, "(#[5,48] x, #[5,17] z) => (#[5,17] y) { a = Slice <starts = [4], ends = [21], axes = "
		    "[1], steps = [1]> (x) y = Sub (a, z) }" },
	{ F32_ONLY, "(#[6,32] x, #[6,16] z) => (#[6,16] y) { a = Slice <starts = [-1], ends = [-33], axes = "
		    "[1], steps = [-2]> (x) y = Sub (a, z) }" },
	{ F32_ONLY, "(#[6,32] x, #[3,32] z) => (#[3,32] y) { a = Slice <starts = [-1], ends = [-7], axes = "
		    "[0], steps = [-2]> (x) y = Sub (a, z) }" },
	{ F32_ONLY,
	  "(#[12,9] x, #[9,12] z) => (#[9,12] y) { a = Transpose <perm = [1, 0]> (x) y = Div (a, z) }" },
	/* Broadcasting: rows, columns, both, planes, single elements, odd. */
	{ WIDE, "(#[9,64] x, #[64] z) => (#[9,64] y) { y = Add (x, z) }" },
	{ WIDE, "(#[9,64] x, #[9,1] z) => (#[9,64] y) { y = Add (x, z) }" },
	{ WIDE, "(#[9,1] x, #[64] z) => (#[9,64] y) { y = Add (x, z) }" },
	{ WIDE, "(#[3,5,16] x, #[5,1] z) => (#[3,5,16] y) { y = Mul (x, z) }" },
	{ WIDE, "(#[2,3,7,7] x, #[2,1,1,7] z) => (#[2,3,7,7] y) { y = Add (x, z) }" },
	{ F32_ONLY,
	  "(#[2,3,4,8] x, #[2,1,4,1] z, #[] w) => (#[2,3,4,8] y) { a = Add (x, z) y = Mul (a, w) }" },
	{ F32_ONLY, "(#[2,3,4,5,6] x, #[3,1,5,1] z, #[2,1,4,1,6] w) => (#[2,3,4,5,6] y) { a = Add (x, z) y = "
		    "Mul (a, w) }" },
	{ WIDE, "(bool[9,32] c, #[9,32] x, #[32] z) => (#[9,32] y) { y = Where (c, x, z) }" },
	{ F32_ONLY, "(#[9,32] x, #[32] z) => (bool[9,32] y) { y = Less (x, z) }" },
	{ F32_ONLY, "(#[9,34] x) => (float16[9,34] y) { y = Cast <to = 10> (x) }" },
	{ F32_ONLY, "(#[9,34] x) => (double[9,34] y) { y = Cast <to = 11> (x) }" },
	/* Results that lie as their operands do, and what reads them. */
	{ WIDE, "(#[3,20,16] x) => (#[3,20,16] y) { a = Transpose <perm = [0, 2, 1]> (x) b = Neg (a) y = "
		"Transpose <perm = [0, 2, 1]> (b) }" },
	{ F32_ONLY, "(#[3,20,16] x, #[20] z) => (#[3,16] y) { a = Transpose <perm = [0, 2, 1]> (x) b = Add "
		    "(a, z) y = ReduceSum <axes = [2], keepdims = 0> (b) }" },
	{ F32_ONLY, "(#[3,20,16] x, #[3,16,20] z) => (#[3,16,20] y) { a = Transpose <perm = [0, 2, 1]> (x) b "
		    "= Neg (a) y = Add (b, z) }" },
	{ F32_ONLY, "(#[3,20,16] x) => (#[3,16,20] y) { a = Transpose <perm = [0, 2, 1]> (x) b = Neg (a) c = "
		    "Mul (a, b) y = Softmax <axis = 2> (c) }" },
	{ F32_ONLY,
	  "(#[1500,1501] x) => (#[1501,1500] y) { a = Transpose <perm = [1, 0]> (x) y = Neg (a) }" },
	{ F32_ONLY, "(#[1,20,1,16] x) => (#[1,16,20,1] y, #[16,1] z) { a = Transpose <perm = [0, 3, 1, 2]> "
		    "(x) b = Neg (a) y = Abs (b) z = ReduceMax <axes = [0, 2], keepdims = 0> (b) }" },
	/* Copies: squares of words and of elements, with and without edges, batches, rows. */
	{ WIDE, "(#[64,64] x) => (#[64,64] y) { y = Transpose <perm = [1, 0]> (x) }" },
	{ WIDE, "(#[3,70,50] x) => (#[3,50,70] y) { y = Transpose <perm = [0, 2, 1]> (x) }" },
	{ WIDE, "(#[3,37,67] x) => (#[3,67,37] y) { y = Transpose <perm = [0, 2, 1]> (x) }" },
	{ WIDE, "(#[2,40,3,34] x) => (#[2,34,3,40] y) { y = Transpose <perm = [0, 3, 2, 1]> (x) }" },
	{ WIDE, "(#[2,5,3,16] x) => (#[2,3,5,16] y) { y = Transpose <perm = [0, 2, 1, 3]> (x) }" },
	{ F32_ONLY, "(bool[70,68] x) => (bool[68,70] y) { y = Transpose <perm = [1, 0]> (x) }" },
	{ F32_ONLY, "(double[33,40] x) => (double[40,33] y) { y = Transpose <perm = [1, 0]> (x) }" },
	{ WIDE, "(#[6,50] x) => (#[6,33] y) { y = Slice <starts = [1], ends = [34], axes = [1], steps = [1]> "
		"(x) }" },
	{ F32_ONLY, "(#[3,1] x) => (#[2,3,40] y) <int64[3] s = {2, 3, 40}> { y = Expand (x, s) }" },
	{ F32_ONLY, "(#[3,16] x) => (#[6,48] y) <int64[2] s = {2, 3}> { y = Tile (x, s) }" },
	/* Reductions of rows: one thread, part of a warp, a warp, a block, several blocks; odd rows; two
	   spaces. */
	{ WIDE, "(#[9,1] x) => (#[9,1] y) { y = ReduceSum <axes = [1]> (x) }" },
	{ WIDE, "(#[9,24] x) => (#[9,1] y) { y = ReduceMax <axes = [1]> (x) }" },
	{ WIDE, "(#[9,197] x) => (#[9,1] y) { y = ReduceMean <axes = [1]> (x) }" },
	{ WIDE, "(#[5,768] x) => (#[5,1] y) { y = ReduceMean <axes = [1]> (x) }" },
	{ F32_ONLY, "(#[600,1001] x) => (#[600] y) { y = ReduceMin <axes = [1], keepdims = 0> (x) }" },
	{ WIDE, "(#[2,20000] x) => (#[2] y) { y = ReduceMean <axes = [1], keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[3,19999] x) => (#[3] y) { y = ReduceL2 <axes = [1], keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[2,20000] x) => (#[2] y) { y = ReduceLogSumExp <axes = [1], keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[3,20001] x) => (int64[3] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[3,20001] x) => (int64[3] y) { y = ArgMin <axis = 1, keepdims = 0, select_last_index "
		    "= 1> (x) }" },
	{ F32_ONLY, "(#[40,7] x) => (int64[40] y) { y = ArgMax <axis = 1, keepdims = 0> (x) }" },
	{ WIDE, "(#[4,6,40] x) => (#[6] y) { y = ReduceSum <axes = [0, 2], keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[4,6,5,7] x) => (#[6] y) { y = ReduceMean <axes = [0, 2, 3], keepdims = 0> (x) }" },
	/* Of columns: few and many, vectors, several blocks. */
	{ WIDE, "(#[50,40] x) => (#[40] y) { y = ReduceMean <axes = [0], keepdims = 0> (x) }" },
	{ WIDE, "(#[3,33,21] x) => (#[3,21] y) { y = ReduceMax <axes = [1], keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[5000,8] x) => (#[8] y) { y = ReduceMean <axes = [0], keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[900,3] x) => (int64[3] y) { y = ArgMax <axis = 0, keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[2,70000] x) => (#[70000] y) { y = ReduceMean <axes = [0], keepdims = 0> (x) }" },
	{ F32_ONLY, "(#[30,12] x) => (#[12] y) { a = Transpose <perm = [1, 0]> (x) y = ReduceSum <axes = "
		    "[1], keepdims = 0> (a) }" },
	/* Softmax: rows in one thread, in a warp, in a block, too long for registers; odd; columns; strided.
	 */
	{ WIDE, "(#[5,1] x) => (#[5,1] y) { y = Softmax <axis = 1> (x) }" },
	{ WIDE, "(#[5,24] x) => (#[5,24] y) { y = Softmax <axis = 1> (x) }" },
	{ WIDE, "(#[5,197] x) => (#[5,197] y) { y = Softmax <axis = 1> (x) }" },
	{ WIDE, "(#[3,1024] x) => (#[3,1024] y) { y = LogSoftmax <axis = 1> (x) }" },
	{ WIDE, "(#[2,2500] x) => (#[2,2500] y) { y = Softmax <axis = 1> (x) }" },
	{ F32_ONLY, "(#[2,1999] x) => (#[2,1999] y) { y = LogSoftmax <axis = 1> (x) }" },
	{ F32_ONLY, "(#[2,40001] x) => (#[2,40001] y) { y = LogSoftmax <axis = 1> (x) }" },
	{ WIDE, "(#[2,40000] x) => (#[2,40000] y) { y = Softmax <axis = 1> (x) }" },
	{ WIDE, "(#[2,30,40] x) => (#[2,30,40] y) { y = Softmax <axis = 1> (x) }" },
	{ F32_ONLY, "(#[2,3,41] x) => (#[2,3,41] y) { y = LogSoftmax <axis = 1> (x) }" },
	{ F32_ONLY,
	  "(#[24,10] x) => (#[10,24] y) { a = Transpose <perm = [1, 0]> (x) y = Softmax <axis = 1> (a) }" },
	{ F32_ONLY, "(#[500,300] x) => (#[300,500] y) { a = Transpose <perm = [1, 0]> (x) y = Softmax <axis "
		    "= 1> (a) }" },
	/* Normalisations: the same, and channels that vectors do and do not straddle. */
	{ WIDE,
	  "(#[5,24] x, #[24] s, #[24] b) => (#[5,24] y) { y = LayerNormalization <axis = 1> (x, s, b) }" },
	{ WIDE, "(#[5,197] x, #[197] s, #[197] b) => (#[5,197] y) { y = LayerNormalization <axis = 1> (x, s, "
		"b) }" },
	{ WIDE, "(#[3,768] x, #[768] s) => (#[3,768] y) { y = LayerNormalization <axis = 1> (x, s) }" },
	{ WIDE, "(#[2,5000] x, #[5000] s, #[5000] b) => (#[2,5000] y) { y = LayerNormalization <axis = 1> "
		"(x, s, b) }" },
	{ F32_ONLY, "(#[2,33000] x, #[33000] s, #[33000] b) => (#[2,33000] y) { y = LayerNormalization <axis "
		    "= 1> (x, s, b) }" },
	{ F32_ONLY, "(#[40,6] x, #[40] s, #[40] b) => (#[6,40] y) { a = Transpose <perm = [1, 0]> (x) y = "
		    "LayerNormalization <axis = 1> (a, s, b) }" },
	{ WIDE, "(#[2,6,4,4] x, #[6] s, #[6] b) => (#[2,6,4,4] y) { y = GroupNormalization <num_groups = 2> "
		"(x, s, b) }" },
	{ WIDE, "(#[2,6,4,5] x, #[6] s, #[6] b) => (#[2,6,4,5] y) { y = GroupNormalization <num_groups = 3> "
		"(x, s, b) }" },
	{ F32_ONLY,
	  "(#[2,3,7,7] x, #[3] s, #[3] b) => (#[2,3,7,7] y) { y = InstanceNormalization (x, s, b) }" },
	{ F32_ONLY, "(#[1,2,20000] x, #[2] s, #[2] b) => (#[1,2,20000] y) { y = GroupNormalization "
		    "<num_groups = 1> (x, s, b) }" },
	{ F32_ONLY, "(#[3,7] x, #[1] s) => (#[3,7] y) { y = RMSNormalization <axis = 1> (x, s) }" },
	{ F32_ONLY, "(#[3,8] x, #[1] s) => (#[3,8] y) { y = RMSNormalization <axis = 1> (x, s) }" },
	{ WIDE, "(#[3,768] x, #[768] s) => (#[3,768] y) { y = RMSNormalization <axis = 1> (x, s) }" },
	{ F32_ONLY,
	  "(#[2,33001] x, #[33001] s) => (#[2,33001] y) { y = RMSNormalization <axis = 1> (x, s) }" },
	/* Products: squares with edges, batches, any order; filters by four, two and one. */
	{ WIDE, "(#[3,40,19] x, #[3,19,37] z) => (#[3,40,37] y) { y = MatMul (x, z) }" },
	{ F32_ONLY, "(#[2,1,33,16] x, #[4,16,32] z) => (#[2,4,33,32] y) { y = MatMul (x, z) }" },
	{ F32_ONLY, "(#[19,40] x, #[37,19] z, #[37] c) => (#[40,37] y) { y = Gemm <transA = 1, transB = 1, "
		    "beta = 0.5, alpha = 2.0> (x, z, c) }" },
	{ F32_ONLY, "(int64[20,9] x, int64[9,12] z) => (int64[20,12] y) { y = MatMul (x, z) }" },
	/* Einsum as products: batches of one operand, of both, rows of the second operand, labels that do not
	   merge, sums over two. */
	{ WIDE,
	  "(#[3,4,9,17] x, #[4,10,17] z) => (#[3,4,9,10] y) { y = Einsum <equation = \"bhwc,hkc->bhwk\"> "
	  "(x, z) }" },
	{ WIDE,
	  "(#[3,9,4,150] x, #[4,10,150] z) => (#[3,9,4,10] y) { y = Einsum <equation = \"bhwc,wkc->bhwk\"> "
	  "(x, z) }" },
	{ F32_ONLY, "(#[3,4,9,17] x, #[4,10,17] z) => (#[3,4,10,9] y) { y = Einsum <equation = "
		    "\"bhwc,hkc->bhkw\"> (x, z) }" },
	{ F32_ONLY, "(#[2,12,3,5] x, #[3,5,11] z) => (#[2,12,11] y) { y = Einsum <equation = "
		    "\"btnh,nhd->btd\"> (x, z) }" },
	{ F32_ONLY, "(#[2,8,5,9] x, #[9,10,3] z) => (#[2,8,5,3,10] y) { y = Einsum <equation = "
		    "\"abcd,def->abcfe\"> (x, z) }" },
	{ F32_ONLY, "(#[1,12,17] x, #[17,11] z) => (#[1,12,11] y) { y = Einsum <equation = \"bij,jk->bik\"> "
		    "(x, z) }" },
	/* Einsum of several operands as a chain of two: orders, diagonals, scalars, labels of one operand,
	   extents of 1 that broadcast, none, integers. Of two, in an order that is none of products. */
	{ WIDE, "(#[2,3,7,5,4] a, #[2,3,11,5,4] b, #[2,5,3,7,11] c, #[2,3,11,5,6] d) => (#[2,3,7,5,6] y) { y "
		"= Einsum <equation = \"bclhn,bcshn,bhcls,bcshp->bclhp\"> (a, b, c, d) }" },
	{ WIDE, "(#[2,2,13,3,8] a, #[2,3,2,13] b, #[2,2,13,3,10] c) => (#[2,2,3,10,8] y) { y = Einsum "
		"<equation = \"bclhn,bhcl,bclhp->bchpn\"> (a, b, c) }" },
	{ WIDE, "(#[2,2,13,3,8] a, #[2,2,3,10,8] b, #[2,3,2,13] c) => (#[2,2,13,3,10] y) { y = Einsum "
		"<equation = \"bclhn,bchpn,bhcl->bclhp\"> (a, b, c) }" },
	{ F32_ONLY, "(#[17,13] a, #[13,11] b, #[11,19] c, #[19,3] d, #[3,23] e) => (#[17,23] y) { y = Einsum "
		    "<equation = \"ab,bc,cd,de,ef->af\"> (a, b, c, d, e) }" },
	{ F32_ONLY, "(#[13,13] a, #[13,1] b, #[1,17] c, #[19] d) => (#[13,17] y) { y = Einsum <equation = "
		    "\"ii,ij,jk,l->ik\"> (a, b, c, d) }" },
	{ F32_ONLY, "(#[29,7] a, #[31,5] b, #[] c, #[29,31] d) => (#[] y) { y = Einsum <equation = "
		    "\"ab,cd,,ac->\"> (a, b, c, d) }" },
	{ F32_ONLY, "(#[1,41] a, #[3,41] b, #[23,41] c) => (#[3,23] y) { y = Einsum <equation = "
		    "\"bi,bi,ji->bj\"> (a, b, c) }" },
	{ F32_ONLY, "(#[17,0] a, #[0,11] b, #[11,19] c) => (#[17,19] y) { y = Einsum <equation = "
		    "\"ab,bc,cd->ad\"> (a, b, c) }" },
	{ F32_ONLY, "(#[0,5] a, #[5,11] b, #[11,19] c) => (#[0,19] y) { y = Einsum <equation = "
		    "\"ab,bc,cd->ad\"> (a, b, c) }" },
	{ F32_ONLY, "(#[2,13,11] a, #[11,7] b, #[1,7,5] c) => (#[2,13,5] y) { y = Einsum <equation = "
		    "\"...ab,bc,...cd->...ad\"> (a, b, c) }" },
	{ F32_ONLY, "(int64[17,13] a, int64[13,11] b, int64[11,19] c) => (int64[17,19] y) { y = Einsum "
		    "<equation = \"ab,bc,cd->ad\"> (a, b, c) }" },
	{ F32_ONLY, "(int32[17,13] a, int32[13,11] b, int32[17,11] c) => (int32[11,17] y) { y = Einsum "
		    "<equation = \"ab,bc,ac->ca\"> (a, b, c) }" },
	{ F32_ONLY, "(#[1,12,5,9] a, #[1,5,7,9] b) => (#[1,12,5,7] y) { y = Einsum <equation = "
		    "\"bchj,bhwj->bchw\"> (a, b) }" },
	{ F32_ONLY, "(#[3,12,5,9] a, #[3,5,7,9] b) => (#[7,3,12,5] y) { y = Einsum <equation = "
		    "\"bchj,bhwj->wbch\"> (a, b) }" },
	{ F32_ONLY, "(#[900,700] x, #[700,800] z) => (#[900,1] y) { a = MatMul (x, z) y = ReduceMean <axes = "
		    "[1]> (a) }" },
	{ WIDE, "(#[2,3,9,10] x, #[8,3,3,3] w, #[8] b) => (#[2,8,5,5] y) { y = Conv <strides = [2, 2], pads "
		"= [1, 1, 1, 1], dilations = [1, 1]> (x, w, b) }" },
	{ F32_ONLY, "(#[1,4,9,10] x, #[4,2,3,2] w) => (#[1,4,5,8] y) { y = Conv <group = 2, strides = [1, "
		    "1], pads = [0, 0, 0, 0], dilations = [2, 2]> (x, w) }" },
	{ F32_ONLY, "(#[1,6,9] x, #[6,1,4] w, #[6] b) => (#[1,6,10] y) { y = Conv <group = 6, strides = [1], "
		    "pads = [3, 1], dilations = [1]> (x, w, b) }" },
	/* Each channel by itself: strips of eight, four, two and one with a rest, strides, dilations, pads
	 * wider than the kernel, several filters a channel, x in another order, one dimension in several
	 * columns a thread and in one, one element, none, kernels too large for it. */
	{ F32_ONLY,
	  "(#[1,270,65,31] x, #[270,1,3,3] w) => (#[1,270,65,31] y) { y = Conv <group = 270, strides = [1, "
	  "1], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ F32_ONLY,
	  "(#[1,270,33,31] x, #[270,1,3,3] w) => (#[1,270,33,31] y) { y = Conv <group = 270, strides = [1, "
	  "1], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ F32_ONLY,
	  "(#[1,140,63,64] x, #[140,1,3,3] w, #[140] b) => (#[1,140,32,32] y) { y = Conv <group = 140, "
	  "strides = [2, 2], pads = [1, 1, 1, 1], dilations = [1, 1]> (x, w, b) }" },
	{ WIDE, "(#[2,5,7,7] x, #[10,1,5,5] w, #[10] b) => (#[2,10,7,7] y) { y = Conv <group = 5, strides = "
		"[1, 1], "
		"pads = [2, 2, 2, 2], dilations = [1, 1]> (x, w, b) }" },
	{ WIDE, "(#[1,3,19,17] x, #[3,1,7,7] w) => (#[1,3,7,11] y) { y = Conv <group = 3, strides = [2, 1], "
		"pads = [0, "
		"0, 0, 0], dilations = [1, 1]> (x, w) }" },
	{ F32_ONLY,
	  "(#[1,3,9,8] x, #[3,1,3,2] w) => (#[1,3,11,12] y) { y = Conv <group = 3, strides = [1, 1], pads = "
	  "[3, 4, 3, 3], dilations = [2, 3]> (x, w) }" },
	{ F32_ONLY,
	  "(#[9,8,6,2] x, #[6,1,3,3] w) => (#[2,6,4,4] y) { a = Transpose <perm = [3, 2, 1, 0]> (x) y = Conv "
	  "<group = 6, strides = [2, 2], pads = [1, 0, 0, 0], dilations = [1, 1]> (a, w) }" },
	{ F32_ONLY,
	  "(#[2,3,1,1] x, #[3,1,3,3] w) => (#[2,3,1,1] y) { y = Conv <group = 3, strides = [1, 1], pads = "
	  "[1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ F32_ONLY,
	  "(#[0,3,5,5] x, #[3,1,3,3] w) => (#[0,3,5,5] y) { y = Conv <group = 3, strides = [1, 1], pads = "
	  "[1, 1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ F32_ONLY, "(#[1,3,10,9] x, #[3,1,8,8] w) => (#[1,3,5,4] y) { y = Conv <group = 3, strides = [1, "
		    "1], pads = [1, "
		    "1, 1, 1], dilations = [1, 1]> (x, w) }" },
	{ F32_ONLY, "(#[2,70,1003] x, #[70,1,3] w) => (#[2,70,1003] y) { y = Conv <group = 70, strides = "
		    "[1], pads = [1, "
		    "1], dilations = [1]> (x, w) }" },
	{ WIDE, "(#[2,6,401] x, #[6,1,5] w, #[6] b) => (#[2,6,201] y) { y = Conv <group = 6, strides = [2], "
		"pads = [2, "
		"2], dilations = [1]> (x, w, b) }" },
	/* More operands than a launch has arguments for. */
	{ WIDE, "(#[3,1,5] x, #[3,2,5] z) => (#[3,42,5] y) { y = Concat <axis = 1> ("
		"x, z, x, z, x, z, x, z, x, z, x, z, x, z, "
		"x, z, x, z, x, z, x, z, x, z, x, z, x, z) }" },
	/* Scatters: by tiles, inner, outer and no lines, several tiles of either kind and pieces, repeated
	 * and negative indices, indices of all lines at once (few lines, and many), x and updates in another
	 * order; fewer lines than the data has; a result that is too large for tiles. */
	{ WIDE, "(#[6,9,4] x, int64[6,7,4] i, #[6,7,4] u) => (#[6,9,4] y) { y = ScatterElements <axis = 1, "
		"reduction = "
		"\"add\"> (x, i, u) }" },
	{ WIDE, "(#[70,35] x, int64[300,35] j, #[300,35] u) => (#[70,35] y) <int64[1] c = {11}> { i = Mul "
		"(j, c) y = "
		"ScatterElements <axis = 0, reduction = \"add\"> (x, i, u) }" },
	{ F32_ONLY, "(#[9,33] x, int64[12,33] i, #[12,33] u) => (#[9,33] y) { y = ScatterElements <axis = 0, "
		    "reduction = "
		    "\"min\"> (x, i, u) }" },
	{ F32_ONLY, "(#[33,9] s, int64[12,33] i, #[33,12] v) => (#[9,33] y) { x = Transpose <perm = [1, 0]> "
		    "(s) u = Transpose <perm = [1, 0]> (v) y = ScatterElements <axis = 0> (x, i, u) }" },
	{ F32_ONLY, "(#[30,8] x, int64[12] j, #[12,8] u) => (#[30,8] y) <int64[2] s = {12, 1}, int64[2] e = "
		    "{12, 8}> { r = "
		    "Reshape (j, s) i = Expand (r, e) y = ScatterElements <axis = 0, reduction = \"add\"> "
		    "(x, i, u) }" },
	{ WIDE,
	  "(#[30,70] x, int64[1030] j, #[1030,70] u) => (#[30,70] y) <int64[2] s = {1030, 1}, int64[2] e "
	  "= {1030, 70}> { r = Reshape (j, s) i = Expand (r, e) y = ScatterElements <axis = 0, reduction "
	  "= \"add\"> (x, i, u) }" },
	{ F32_ONLY,
	  "(double[70,35] x, int64[150,35] i, double[150,35] u) => (double[70,35] y) { y = ScatterElements "
	  "<axis = 0, reduction = \"mul\"> (x, i, u) }" },
	{ F32_ONLY, "(#[301] x, int32[41] j, #[41] u) => (#[301] y) <int32[1] c = {50}> { i = Mul (j, c) y = "
		    "ScatterElements "
		    "<axis = 0, reduction = \"max\"> (x, i, u) }" },
	{ WIDE,
	  "(#[7,9] x, int64[5,4] i, #[5,4] u) => (#[7,9] y) { y = ScatterElements <axis = 1, reduction = "
	  "\"add\"> (x, i, u) }" },
	{ F32_ONLY,
	  "(#[2,2100000] x, int64[1,9] i, #[1,9] u) => (#[2,2100000] y) { y = ScatterElements <axis "
	  "= 1, reduction = \"add\"> (x, i, u) }" },
	{ F32_ONLY, "(#[3,2000] x, int64[3,1500] j, #[3,1500] u) => (#[3,2000] y) <int64[1] c = {301}> { i = "
		    "Mul (j, c) y = "
		    "ScatterElements <axis = 1, reduction = \"add\"> (x, i, u) }" },
	{ WIDE,
	  "(#[70,35] x, int64[41,1] j, #[41,35] u) => (#[70,35] y) <int64[1] c = {11}> { i = Mul (j, c) y = "
	  "ScatterND <reduction = \"add\"> (x, i, u) }" },
	{ F32_ONLY,
	  "(#[3,50,7] s, int64[2,3,1] i, #[2,3,3,7] u) => (#[50,3,7] y) { x = Transpose <perm = [1, 0, 2]> "
	  "(s) y = ScatterND (x, i, u) }" },
	{ F32_ONLY, "(#[90] x, int64[41,1] i, #[41] u) => (#[90] y) { y = ScatterND (x, i, u) }" },
	/* Updates sorted first: across and along memory, of all lines at once, tuples, lines that have none.
	 */
	{ WIDE,
	  "(#[1100,35] x, int64[500,35] j, #[500,35] u) => (#[1100,35] y) <int64[1] c = {157}> { i = Mul "
	  "(j, c) y = ScatterElements <axis = 0, reduction = \"add\"> (x, i, u) }" },
	{ F32_ONLY,
	  "(double[5,700] x, int32[3,600] j, double[3,600] u) => (double[5,700] y) <int32[1] c = {101}> "
	  "{ i = Mul (j, c) y = ScatterElements <axis = 1, reduction = \"mul\"> (x, i, u) }" },
	{ WIDE,
	  "(#[900,7] x, int64[500,1] j, #[500,7] u) => (#[900,7] y) <int64[1] c = {-211}> { i = Mul (j, c) "
	  "y = ScatterND <reduction = \"max\"> (x, i, u) }" },
	{ WIDE, "(#[300,7,3] x, int64[500,2] i, #[500,3] u) => (#[300,7,3] y) { y = ScatterND <reduction = "
		"\"add\"> (x, i, u) }" },
	{ WIDE,
	  "(#[4100,33] x, bool[3000,33] b, #[3000,33] u) => (#[4100,33] y) <int64 c = {-611}> { j = Cast <to "
	  "= 7> (b) i = Mul (j, c) y = ScatterElements <axis = 0> (x, i, u) }" },
	/* Those that replace, places named by many: one line and two, several turns and tiles, an index for
	 * each line and for all, neighbours along the axis and across it. */
	{ WIDE, "(#[2700] x, bool[2500,1] b, #[2500] u) => (#[2700] y) <int64 c = {-611}> { j = Cast <to = "
		"7> (b) i = "
		"Mul (j, c) y = ScatterND (x, i, u) }" },
	{ F32_ONLY,
	  "(#[70,35] x, bool[300,35] b, #[300,35] u) => (#[70,35] y) <int64 c = {66}> { j = Cast <to = 7> "
	  "(b) i = Mul (j, c) y = ScatterElements <axis = 0> (x, i, u) }" },
	{ WIDE, "(#[2,1,600] x, bool[2,1,500] b, #[2,1,500] u) => (#[2,1,600] y) <int64 c = {599}> { j = "
		"Cast <to = "
		"7> (b) i = Mul (j, c) y = ScatterElements <axis = 2> (x, i, u) }" },
	{ F32_ONLY,
	  "(int32[40,3] x, int64[7] k, int32[7,3] u) => (int32[40,3] y) <int64[2] s = {7, 1}, int64[2] e = "
	  "{7, 3}> { r = Reshape (k, s) i = Expand (r, e) y = ScatterElements <axis = 0> (x, i, u) }" },
	/* Moves. */
	{ WIDE, "(#[3,16] x, #[3,32] z) => (#[3,48] y) { y = Concat <axis = 1> (x, z) }" },
	{ WIDE, "(#[3,5] x, #[3,7] z) => (#[3,12] y) { y = Concat <axis = 1> (x, z) }" },
	{ WIDE, "(#[3,5] x, #[3,8] z) => (#[3,57] y) { y = Concat <axis = 1> (x, z, x, z, x, z, x, z, x) }" },
	{ WIDE, "(#[2,3,8] x, #[2,5,8] z) => (#[2,8,8] y) { y = Concat <axis = 1> (x, z) }" },
	{ F32_ONLY, "(#[2,8,3] x, #[2,5,8] z) => (#[2,8,8] y) { a = Transpose <perm = [0, 2, 1]> (x) y = "
		    "Concat <axis = 1> (a, z) }" },
	/* Pieces that are moved through shared memory into a part of the result: in words of two elements and
	 * one by one, beside pieces that are not, the result's rows apart. */
	{ WIDE,
	  "(#[2,67,64,32] x, #[2,3,67,64] z) => (#[2,38,67,64] y) { a = Transpose <perm = [0, 3, 1, 2]> "
	  "(x) y = Concat <axis = 1> (z, a, z) }" },
	{ WIDE,
	  "(#[2,33,67,64] x, #[2,67,1,33] z) => (#[2,67,65,33] y) { a = Transpose <perm = [0, 2, 3, 1]> "
	  "(x) y = Concat <axis = 2> (z, a) }" },
	{ F32_ONLY, "(#[17,4] x, #[16,4] z) => (#[32,4] y) { a = Slice <starts = [1], ends = [17], axes = "
		    "[0], steps = [1]> (x) y = Concat <axis = 0> (a, z) }" },
	{ WIDE, "(#[9,24] x, int64[2,3] i) => (#[2,3,24] y) { y = Gather <axis = 0> (x, i) }" },
	{ WIDE, "(#[9,13] x, int64[5] i) => (#[5,13] y) { y = Gather <axis = 0> (x, i) }" },
	{ F32_ONLY, "(#[3,9,8] x, int64[4] i) => (#[3,4,8] y) { y = Gather <axis = 1> (x, i) }" },
	{ F32_ONLY,
	  "(#[3,9,8] x) => (#[3,8] y) <int64 i = {-2}> { a = Gather <axis = 1> (x, i) y = Neg (a) }" },
	{ F32_ONLY, "(#[3,9,8] x) => (#[3,9,1,1] y) <int64[1,1] i = {5}> { a = Gather <axis = 2> (x, i) y = "
		    "Neg (a) }" },
	{ F32_ONLY, "(#[8,3] x) => (#[8] y, #[3] z) <int64 i = {2}, int64 j = {7}> { a = Transpose <perm = "
		    "[1, 0]> (x) y = "
		    "Gather <axis = 0> (a, i) b = Gather <axis = 1> (a, j) z = Neg (b) }" },
	{ F32_ONLY, "(#[2,3,5,6] x) => (#[2,3,8,7] y) { y = Pad <pads = [0, 0, 1, 0, 0, 0, 2, 1]> (x) }" },
	{ F32_ONLY, "(#[40,30,5,50] x) => (#[40,30,7,50] y) { y = Pad <pads = [0, 0, 1, 0, 0, 0, 1, 0], mode "
		    "= \"reflect\"> (x) }" },
	{ F32_ONLY, "(#[3,40] x) => (#[3,40] y) <int64 a = {1}> { y = CumSum (x, a) }" },
	{ WIDE, "(#[3,1100] x) => (#[3,1100] y) <int64 a = {1}> { y = CumSum <reverse = 1> (x, a) }" },
	{ F32_ONLY, "(#[2,3000] x) => (#[2,3000] y) <int64 a = {1}> { y = CumSum <exclusive = 1> (x, a) }" },
	{ F32_ONLY, "(int64[2,700] x) => (int64[2,700] y) <int64 a = {1}> { y = CumSum <exclusive = 1, "
		    "reverse = 1> (x, a) }" },
	{ F32_ONLY, "(#[2,3,6,7] x) => (#[2,3,12,14] y) <float[4] f = {1, 1, 2, 2}> { y = Resize <mode = "
		    "\"linear\"> (x, , f) }" },
	{ F32_ONLY, "(#[2,6,7,3] x) => (#[2,12,14,3] y) <float[4] f = {1, 2, 2, 1}> { y = Resize <mode = "
		    "\"linear\"> (x, , f) }" },
	{ F32_ONLY, /* more planes than a grid has rows */
	  "(#[70000,2] x) => (#[70000,4] y) <float[2] f = {1, 2}> { y = Resize <mode = \"linear\"> (x, , f) "
	  "}" },
	{ WIDE,
	  "(#[2,300,6,7] x) => (#[2,300,9,9] y) <int64[4] f = {2, 300, 9, 9}> { y = Resize (x, , , f) }" },
	{ F32_ONLY, "(#[2,3,6,7] x) => (#[2,3,9,9] y) <int64[4] f = {2, 3, 9, 9}> { y = Resize <mode = "
		    "\"cubic\"> (x, , , f) }" },
	{ WIDE, "(#[2,3,15,17] x) => (#[2,3,8,9] y) { y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], "
		"pads = [1, 1, 1, 1], dilations = [1, 1]> (x) }" },
	{ WIDE, "(#[2,3,9,7] x) => (#[2,3,9,7] y) { y = MaxPool <kernel_shape = [13, 13], strides = [1, 1], "
		"pads = [6, 6, 6, 6], dilations = [1, 1]> (x) }" },
	{ F32_ONLY, "(#[1,2,19,17] x) => (#[1,2,5,5] y) { y = AveragePool <kernel_shape = [7, 7], strides = "
		    "[4, 4], pads = [3, 3, 3, 3], dilations = [1, 1], count_include_pad = 1> (x) }" },
	/* windows apart from each other, a warp for each: whole planes, rows of half a warp and of more than
	 * one, cut by the border, of one and three dimensions */
	{ WIDE,
	  "(#[2,37,7,7] x) => (#[2,37,1,1] y) { y = AveragePool <kernel_shape = [7, 7], strides = [1, 1], "
	  "pads = [0, 0, 0, 0], dilations = [1, 1]> (x) }" },
	{ WIDE,
	  "(#[1,3,65,97] x) => (#[1,3,2,3] y) { y = MaxPool <kernel_shape = [29, 32], strides = [31, 32], "
	  "pads = [9, 11, 13, 17], dilations = [1, 1]> (x) }" },
	{ WIDE,
	  "(#[2,3,20,70] x) => (#[2,3,2,2] y) { y = AveragePool <kernel_shape = [9, 33], strides = [10, "
	  "37], pads = [2, 3, 3, 4], dilations = [1, 1]> (x) }" },
	{ F32_ONLY, "(#[2,3,20,70] x) => (#[2,3,2,2] y) { y = AveragePool <kernel_shape = [9, 33], strides = "
		    "[10, 37], pads = [2, 3, 3, 4], dilations = [1, 1], count_include_pad = 1> (x) }" },
	{ F32_ONLY, "(#[2,5,6,9,34] x) => (#[2,5,3,2,2] y) { y = AveragePool <kernel_shape = [2, 3, 17], "
		    "strides = [2, 5, 17], pads = [0, 0, 0, 0, 0, 0], dilations = [1, 1, 1]> (x) }" },
	{ WIDE,
	  "(#[3,4,203] x) => (#[3,4,5] y) { y = MaxPool <kernel_shape = [40], strides = [41], pads = [1, 1], "
	  "dilations = [1]> (x) }" },
	/* enough results for strips of 8, of 2, over planes of a third dimension */
	{ F32_ONLY,
	  "(#[1,3,425,429] x) => (#[1,3,423,428] y) { y = MaxPool <kernel_shape = [4, 4], strides = "
	  "[1, 1], pads = [0, 1, 1, 1], dilations = [1, 1]> (x) }" },
	{ WIDE, "(#[1,5,331,337] x) => (#[1,5,165,169] y) { y = MaxPool <kernel_shape = [3, 3], strides = "
		"[2, 2], pads = [1, 2, 1, 2], dilations = [2, 2]> (x) }" },
	{ F32_ONLY,
	  "(#[1,2,331,471] x) => (#[1,2,330,235] y) { y = AveragePool <kernel_shape = [4, 3], strides "
	  "= [1, 2], pads = [1, 1, 1, 0], dilations = [1, 1]> (x) }" },
	{ F32_ONLY,
	  "(#[1,2,9,131,73] x) => (#[1,2,4,130,142] y) { y = AveragePool <kernel_shape = [3, 2, 4], "
	  "strides = [2, 1, 1], pads = [0, 0, 36, 0, 0, 36], dilations = [1, 1, 1], "
	  "count_include_pad = 1> (x) }" },
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0], MAX_INPUTS = 8 };

size_t eager_shapes_count(void)
{
	return N_SHAPES;
}

PmGraph *eager_shapes_graph(size_t i, int dtype)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g;

	if (shapes[i].types != WIDE && dtype != PM_F32)
		return NULL;
	pm_str_add(&text, "g ");
	for (const char *s = shapes[i].text; *s; s++)
		if (*s == '#' && !strncmp(s, "#[]", 3)) {
			pm_str_add(&text, pm_dtype_name(dtype));
			s += 2;
		} else if (*s == '#')
			pm_str_add(&text, pm_dtype_name(dtype));
		else
			pm_str_addc(&text, *s);
	g = pm_test_graph(text.s);
	pm_str_release(&text);
	return g;
}

/* Numbers that differ from their neighbours; indices from -3 to 3, which all gathers here take. */
static void fill(PmTensor *t, int64_t seed)
{
	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		if (pm_dtype_is_float(t->type.dtype))
			pm_tensor_set(t, i, (double)((i * 37 + seed * 11 + i / 101) % 101 - 50) / 25 + 0.01);
		else if (t->type.dtype == PM_BOOL)
			pm_tensor_set_i(t, i, i % 3 == 0);
		else
			pm_tensor_set_i(t, i, (i * 5 + seed) % 7 - 3);
}

static const char *name_of(void *arg, size_t k)
{
	(void)k;
	return arg;
}

/* The result of an Einsum that is computed in several steps. Each step rounds numbers that may be larger than
 * what is left of them in the end, but none is larger than the sum of the magnitudes of all products: errors
 * are relative to that. It is what the reference gives for the operands' magnitudes. */
static void chain_is_near(const PmGraph *g, const PmTensor *in, const PmTensor *got, const PmTensor *want,
			  double rel, const char *what)
{
	PmTensor size[MAX_INPUTS], most;
	size_t n_in = pm_graph_n_inputs(g);

	for (size_t k = 0; k < n_in; k++) {
		assert_int_equal(pm_tensor_init(&size[k], &in[k].type, NULL), PM_OK);
		for (int64_t i = 0; i < pm_tensor_numel(&in[k]); i++)
			pm_tensor_set(&size[k], i, fabs(pm_tensor_get(&in[k], i)));
	}
	assert_int_equal(pm_ref_run(g, size, n_in, &most, 1, NULL), PM_OK);
	assert_true(pm_type_equal(&got->type, &want->type));
	for (int64_t i = 0; i < pm_tensor_numel(want); i++) {
		double x = pm_tensor_get(got, i), y = pm_tensor_get(want, i);

		if (!(fabs(x - y) <=
		      (pm_dtype_is_float(want->type.dtype) ? rel * pm_tensor_get(&most, i) : 0)))
			fail_msg("%s: element %lld is %.17g instead of %.17g", what, (long long)i, x, y);
	}
	for (size_t k = 0; k < n_in; k++)
		pm_tensor_release(&size[k]);
	pm_tensor_release(&most);
}

static void run_one(const PmGraph *g, PmWorker *w, double rel, const char *what)
{
	const char *device = pm_worker_device(w);
	PmRunOpts ref = { .device = "ref" },
		  dev = { .device = device, .deadline = 100, .poison = 0x7fc1d00d, .worker = w };
	size_t n_in = pm_graph_n_inputs(g);
	PmTensor in[MAX_INPUTS];
	PmRunResult want, got;
	PmErr err;

	pm_err_init(&err);
	assert_true(n_in <= MAX_INPUTS);
	for (size_t k = 0; k < n_in; k++) {
		assert_int_equal(pm_tensor_init(&in[k], pm_value_type(g, pm_graph_input(g, k)), NULL), PM_OK);
		fill(&in[k], (int64_t)k);
	}
	if (pm_run_graph(g, in, n_in, &ref, &want, &err))
		fail_msg("%s on ref: %s", what, err.text);
	if (pm_run_graph(g, in, n_in, &dev, &got, &err))
		fail_msg("%s on %s: %s", what, device, err.text);
	bound_check(g, in, got.out, got.n_out, name_of, (void *)(uintptr_t)what);
	for (size_t k = 0; k < got.n_out; k++) {
		if (n_in > 2 && strstr(what, "Einsum")) {
			chain_is_near(g, in, &got.out[k], &want.out[k], rel, what);
			pm_tensor_release(&got.out[k]);
			pm_tensor_release(&want.out[k]);
		} else {
			eval_same(got.out[k], want.out[k], rel, what);
		}
		memset(&got.out[k], 0, sizeof got.out[k]);
		memset(&want.out[k], 0, sizeof want.out[k]);
	}
	pm_run_result_release(&got);
	pm_run_result_release(&want);
	for (size_t k = 0; k < n_in; k++)
		pm_tensor_release(&in[k]);
}

/* Fills the cache with several processes; what fails is reported by the run. */
static void compile_ahead(PmWorker *w, int dtype)
{
	enum { MAX_SOURCES = 4 * N_SHAPES };
	PmSource all[MAX_SOURCES];
	PmPlan *plan[N_SHAPES] = { NULL };
	PmGraph *g[N_SHAPES];
	int jobs = pm_cpu_count();
	PmDeviceInfo info;
	size_t n = 0;
	PmErr err;

	pm_err_init(&err);
	if (pm_worker_info(w, &info, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < N_SHAPES; i++) {
		const PmSource *src;

		g[i] = eager_shapes_graph(i, dtype);
		if (!g[i] || pm_plan_new(g[i], NULL, 0, &plan[i], &err))
			continue;
		for (size_t k = 0, count = pm_plan_sources(plan[i], &src); k < count && n < MAX_SOURCES; k++)
			all[n++] = src[k];
	}
	if (strcmp(pm_worker_device(w), "emu"))
		pm_nvrtc_ahead(all, n, info.cc, jobs);
	else
		pm_emu_compile(all, n, jobs, &err);
	for (size_t i = 0; i < N_SHAPES; i++) {
		pm_plan_free(plan[i]);
		if (g[i])
			pm_graph_free(g[i]);
	}
}

void eager_shapes_run(const char *device, int dtype)
{
	/* Twice what one operator may have, as two stand in a row at most but in a chain of an Einsum's. */
	double rel = dtype == PM_F32 ? 4e-6 : (dtype == PM_F16 ? 2e-3 : 1.6e-2);
	PmWorker *w = pm_worker_new(device);

	compile_ahead(w, dtype);
	for (size_t i = 0; i < N_SHAPES; i++) {
		PmGraph *g = eager_shapes_graph(i, dtype);

		if (!g)
			continue;
		run_one(g, w, rel, shapes[i].text);
		pm_graph_free(g);
	}
	pm_worker_free(w);
}
