/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_hostile.c - malformed models, each with its status and exact sentence; damage at every byte of a
 * small one.
 *
 * The first list of bad models is in test_onnx_bad.c; here are sizes, wiring, attributes and operands node by
 * node, bytes that are not as the schema wants them, functions, and what lies outside the file.
 */
#include "base/core/arena.h"
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Case {
	int64_t opset;
	PmStatus status;
	const char *spec, *sentence;
} Case;

static size_t n_refused;

/* Refused with this status and sentence, whether somebody listens or not. Releases the model. */
static void refuses(PmStr *m, PmStatus want, const char *sentence)
{
	static const PmOnnxOpts few = { .max_nodes = 5000 };
	PmGraph *g = NULL;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_onnx_import_mem(m->s, m->len, "m", &few, &g, NULL, &err);
	assert_null(g);
	assert_string_equal(err.text, sentence);
	assert_int_equal(st, want);
	assert_int_equal(pm_status_exit_code(st), 4);
	assert_int_equal(pm_onnx_import_mem(m->s, m->len, "m", &few, &g, NULL, NULL), want);
	n_refused++;
	pm_str_release(m);
}

static void refuses_all(const Case *c, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		PmStr m = pm_ob_spec(c[i].opset, c[i].spec);

		refuses(&m, c[i].status, c[i].sentence);
	}
}

static const Case sizes[] = {
	{ 18, PM_E_LIMIT, "w w float 9223372036854775807 1",
	  "m: The size of tensor 'w' does not fit in 63 bits; fix its dimensions." },
	{ 18, PM_E_LIMIT, "w w float 4294967296,4294967296 1",
	  "m: The size of tensor 'w' does not fit in 63 bits; fix its dimensions." },
	{ 18, PM_E_LIMIT, "w w float 1152921504606846976,8 1",
	  "m: The size of tensor 'w' does not fit in 63 bits; fix its dimensions." },
	{ 18, PM_E_LIMIT, "w w int8 4611686018427387904,2 1",
	  "m: The size of tensor 'w' does not fit in 63 bits; fix its dimensions." },
	{ 18, PM_E_LIMIT, "i x float 4611686018427387904,4,2\no y\nn Flatten x -> y axis=0",
	  "m: In node 0 (Flatten -> 'y'), a product of dimensions does not fit in 63 bits: operand 0 ('x') "
	  "is float[4611686018427387904,4,2]." },
	{ 18, PM_E_LIMIT, "i x float 9223372036854775807\no y\nn Concat x,x -> y axis=0",
	  "m: In node 0 (Concat -> 'y'), the size of axis 0 does not fit in 63 bits: operand 0 ('x') is "
	  "float[9223372036854775807] and operand 1 ('x') is float[9223372036854775807]." },
	{ 18, PM_E_LIMIT, "i x float 4294967296,4294967296\nw s int64 1 -1\no y\nn Reshape x,s -> y",
	  "m: In node 0 (Reshape -> 'y'), a product of dimensions does not fit in 63 bits: operand 0 ('x') "
	  "is float[4294967296,4294967296]." },
	{ 18, PM_E_INVALID, "i x float 2,-7",
	  "m: Dimension 1 of the graph input 'x' is -7; give an unknown size a name (dim_param) instead." },
	{ 18, PM_E_INVALID, "i x float 2\no y float -5\nn Neg x -> y",
	  "m: Dimension 0 of the value 'y' is -5; give an unknown size a name (dim_param) instead." },
	{ 18, PM_E_LIMIT, "i x float 1,1,1,1,1,1,1,1\nw a int64 1 0\no y\nn Unsqueeze x,a -> y",
	  "m: The result of node 0 (Unsqueeze -> 'y') has more than 8 dimensions; reshape the model." },
	{ 18, PM_E_LIMIT, "i x float 2\nw s int64 9 1 1 1 1 1 1 1 1 2\no y\nn Reshape x,s -> y",
	  "m: In node 0 (Reshape -> 'y'), a shape has more than PM_MAX_RANK (8) dimensions: operand 1 ('s') "
	  "is int64[9]." },
	{ 18, PM_E_SHAPE, "i x float 2\nw s int64 1 -2\no y\nn ConstantOfShape s -> y",
	  "m: In node 0 (ConstantOfShape -> 'y'), dimension 0 of the shape is -2: operand 0 ('s') is "
	  "int64[1]." },
	{ 18, PM_E_LIMIT,
	  "i x float 2,3\nw r int64 2 4611686018427387904 4611686018427387904\no y\nn Tile x,r -> y",
	  "m: In node 0 (Tile -> 'y'), a product of dimensions does not fit in 63 bits: operand 0 ('x') is "
	  "float[2,3]." },
};

static const Case tensors[] = {
	{ 18, PM_E_INVALID, "w w int64 2 5",
	  "m: Tensor 'w' is int64[2] but its int64_data has 1 elements instead of 2; the file is damaged, "
	  "export it again." },
	{ 18, PM_E_INVALID, "w w float 2 1 2 3",
	  "m: Tensor 'w' is float[2] but its float_data has 3 elements instead of 2; the file is damaged, "
	  "export it again." },
	{ 18, PM_E_INVALID, "w w uint8 1 256",
	  "m: Element 0 of tensor 'w' is 256, which is no uint8; fix the model." },
	{ 18, PM_E_INVALID, "w w uint8 1 -1",
	  "m: Element 0 of tensor 'w' is -1, which is no uint8; fix the model." },
	{ 18, PM_E_INVALID, "w w float16 1 65536",
	  "m: Element 0 of tensor 'w' is 65536, which is no float16; fix the model." },
	{ 18, PM_E_INVALID, "w w float 2",
	  "m: Tensor 'w' is float[2] but its float_data has 0 elements instead of 2; the file is damaged, "
	  "export it again." },
};

static const Case wiring[] = {
	{ 18, PM_E_INVALID, "i x float 2\no y\nn Add x,y -> y",
	  "m: The graph has a cycle through node 0 (Add -> 'y') and its operand 'y'; no execution order "
	  "exists, so fix the model." },
	{ 18, PM_E_INVALID, "i x float 2\no y\nn Add x,c -> a\nn Neg a -> b\nn Abs b -> c\nn Neg a -> y",
	  "m: The graph has a cycle through node 1 (Neg -> 'b') and its operand 'a'; no execution order "
	  "exists, so fix the model." },
	{ 18, PM_E_INVALID, "i x float 4\no a\nn Split x -> a,a axis=0",
	  "m: The value 'a' is defined by node 0 (Split -> 'a') and by node 0 (Split -> 'a'); give each "
	  "value a name of its own." },
	{ 18, PM_E_INVALID, "i x float 2\nw y float 2 1 2\no y\nn Neg x -> y",
	  "m: The value 'y' is defined by node 0 (Neg -> 'y') and by a graph input or initializer; give each "
	  "value a name of its own." },
	{ 18, PM_E_INVALID, "i x float 2\no x\no z",
	  "m: The graph output 'z' is not defined by any input, initializer or node; fix the model." },
	{ 18, PM_E_INVALID, "i x float 2\no y\nn Neg nothing -> y",
	  "m: Operand 0 of node 0 (Neg -> 'y') is 'nothing', which no input, initializer or node defines; "
	  "fix the model." },
	{ 18, PM_E_INVALID, "i x float 2\no y\nn Foo x,nothing -> y",
	  "m: Operand 1 of node 0 (Foo -> 'y') is 'nothing', which no input, initializer or node defines; "
	  "fix the model." },
	{ 18, PM_E_INVALID, "i  float 2", "m: Graph input 0 has no name; name it." },
	{ 18, PM_E_INVALID, "w  float 1 0", "m: Initializer 0 has no name; name it." },
	{ 18, PM_E_INVALID, "i x float 2\no y\nn Relu - -> y",
	  "m: Operand 0 of node 0 (Relu -> 'y') is omitted but required; fix the model." },
	{ 18, PM_E_INVALID, "i x float 2\no y\nn Relu x -> y,z",
	  "m: There are 2 results at node 0 (Relu -> 'y'); Relu gives 1 at most." },
};

static const Case attributes[] = {
	{ 18, PM_E_TYPE, "i x float 2\no y\nn Concat x,x -> y axis=[0]",
	  "m: The attribute 'axis' of node 0 (Concat -> 'y') is not an int; fix the model." },
	{ 18, PM_E_TYPE, "i x float 2,2\no y\nn Transpose x -> y perm=1",
	  "m: The attribute 'perm' of node 0 (Transpose -> 'y') is not a list of ints; fix the model." },
	{ 18, PM_E_TYPE, "i x float 2\no y\nn Concat x,x -> y axis='a'",
	  "m: The attribute 'axis' of node 0 (Concat -> 'y') is not an int; fix the model." },
	{ 18, PM_E_TYPE, "i x float 2\no y\nn LeakyRelu x -> y alpha='a'",
	  "m: The attribute 'alpha' of node 0 (LeakyRelu -> 'y') is not a float; fix the model." },
	{ 18, PM_E_TYPE, "i x float 2\no y\nn Softmax x -> y axis=0.5f",
	  "m: The attribute 'axis' of node 0 (Softmax -> 'y') is not an int; fix the model." },
	{ 18, PM_E_TYPE, "i x float 2\no y\nn ConstantOfShape x -> y value=3",
	  "m: The attribute 'value' of node 0 (ConstantOfShape -> 'y') is not a tensor; fix the model." },
	{ 18, PM_E_SHAPE, "i x float 2,2\no y\nn Transpose x -> y perm=[0,0]",
	  "m: In node 0 (Transpose -> 'y'), the attribute 'perm' lists axis 0 twice: operand 0 ('x') is "
	  "float[2,2]." },
	{ 18, PM_E_SHAPE, "i x float 2,2\no y\nn Transpose x -> y perm=[0,5]",
	  "m: In node 0 (Transpose -> 'y'), axis 5 of the attribute 'perm' is outside 0 to 1: operand 0 "
	  "('x') is float[2,2]." },
	{ 18, PM_E_SHAPE, "i x float 2,2\no y\nn Transpose x -> y perm=[0]",
	  "m: In node 0 (Transpose -> 'y'), the attribute 'perm' has 1 elements where 2 are needed: operand "
	  "0 ('x') is float[2,2]." },
	{ 18, PM_E_INVALID, "i x float 2,2\no y\nn Transpose x -> y perm=[0,-1]",
	  "m: In node 0 (Transpose -> 'y'), element 1 of the attribute 'perm' is -1 where at least 0 is "
	  "needed: operand 0 ('x') is float[2,2]." },
	{ 18, PM_E_SHAPE, "i x float 2\no y\nn Softmax x -> y axis=7",
	  "m: Axis 7 of node 0 (Softmax -> 'y') is outside -1 to 0; fix the model." },
	{ 18, PM_E_SHAPE, "i x float 2\no y\nn Flatten x -> y axis=9",
	  "m: Axis 9 of node 0 (Flatten -> 'y') is outside -1 to 1; fix the model." },
	{ 18, PM_E_INVALID, "i x float 1,1,4\ni w float 1,1,3\no y\nn Conv x,w -> y strides=[0]",
	  "m: Element 0 of the attribute 'strides' of node 0 (Conv -> 'y') is 0; it must be from 1 to "
	  "2147483647." },
	{ 18, PM_E_INVALID, "i x float 1,1,4\ni w float 1,1,3\no y\nn Conv x,w -> y dilations=[-1]",
	  "m: Element 0 of the attribute 'dilations' of node 0 (Conv -> 'y') is -1; it must be from 1 to "
	  "2147483647." },
	{ 18, PM_E_SHAPE, "i x float 1,1,4\ni w float 1,1,3\no y\nn Conv x,w -> y group=0",
	  "m: In node 0 (Conv -> 'y'), the attribute 'group' is 0, outside 1 to 9223372036854775807: operand "
	  "0 ('x') is float[1,1,4]." },
	{ 18, PM_E_SHAPE, "i x float 1,1,4\ni w float 1,1,3\no y\nn Conv x,w -> y pads=[1]",
	  "m: There are 1 pads at node 0 (Conv -> 'y'), but 2 are needed." },
	{ 18, PM_E_LIMIT,
	  "i x float 1,1,4\ni w float 1,1,3\no y\nn Conv x,w -> y "
	  "pads=[9223372036854775807,9223372036854775807]",
	  "m: In node 0 (Conv -> 'y'), the window of spatial axis 0 does not fit in 63 bits: operand 0 ('x') "
	  "is float[1,1,4]." },
	{ 18, PM_E_SHAPE, "i x float 1,1,2\ni w float 1,1,3\no y\nn Conv x,w -> y",
	  "m: In node 0 (Conv -> 'y'), the kernel reaches over 3 elements of spatial axis 0, more than the "
	  "padded input has: operand 0 ('x') is float[1,1,2]." },
	{ 18, PM_E_SHAPE, "i x float 1,3,4\ni w float 1,2,3\no y\nn Conv x,w -> y",
	  "m: In node 0 (Conv -> 'y'), the weights' channels times 1 groups are not the input's channels: "
	  "operand 0 ('x') is float[1,3,4] and operand 1 ('w') is float[1,2,3]." },
	{ 18, PM_E_INVALID, "i x float 1,1,4\no y\nn MaxPool x -> y kernel_shape=[-2]",
	  "m: Element 0 of the attribute 'kernel_shape' of node 0 (MaxPool -> 'y') is -2; it must be from 1 "
	  "to 2147483647." },
	{ 18, PM_E_INVALID, "i x float 1,1,4\no y\nn MaxPool x -> y",
	  "m: The attribute 'kernel_shape' of node 0 (MaxPool -> 'y') is missing; fix the model." },
};

static const Case operands[] = {
	{ 18, PM_E_SHAPE, "i x float 2,3\ni y float 2,3\no z\nn MatMul x,y -> z",
	  "m: In node 0 (MatMul -> 'z'), the contracted dimensions differ (3 and 2): operand 0 ('x') is "
	  "float[2,3] and operand 1 ('y') is float[2,3]." },
	{ 18, PM_E_SHAPE, "i x float 2\ni y float 3\no z\nn Add x,y -> z",
	  "m: In node 0 (Add -> 'z'), the operands cannot be broadcast together (2 against 3): operand 0 "
	  "('x') is float[2] and operand 1 ('y') is float[3]." },
	{ 18, PM_E_TYPE, "i x float 2\ni y int64 2\no z\nn Add x,y -> z",
	  "m: In node 0 (Add -> 'z'), the element types of two operands differ: operand 0 ('x') is float[2] "
	  "and operand 1 ('y') is int64[2]." },
	{ 18, PM_E_TYPE, "i x float 2\ni y float 2\no z\nn Where x,x,y -> z",
	  "m: In node 0 (Where -> 'z'), operand 0 must be bool: operand 0 ('x') is float[2]." },
	{ 18, PM_E_INVALID,
	  "i x float 4\nw s int64 1 0\nw e int64 1 4\nw a int64 1 0\nw t int64 1 0\no y\nn Slice x,s,e,a,t "
	  "-> y",
	  "m: In node 0 (Slice -> 'y'), the step of axis 0 is 0: operand 0 ('x') is float[4]." },
	{ 18, PM_E_INVALID, "i x float 4\nw s int64 1 0\nw e int64 2 4 4\no y\nn Slice x,s,e -> y",
	  "m: The starts, ends, axes and steps of node 0 (Slice -> 'y') are missing or differ in number; fix "
	  "the model." },
	{ 18, PM_E_SHAPE,
	  "i x float 4\nw s int64 1 0\nw e int64 1 4\nw a int64 1 3\no y\nn Slice x,s,e,a -> y",
	  "m: Axis 3 of node 0 (Slice -> 'y') is outside -1 to 0; fix the model." },
	{ 18, PM_E_SHAPE, "i x float 5\nw s int64 2 2 2\no a\no b\nn Split x,s -> a,b axis=0",
	  "m: In node 0 (Split -> 'a'), the parts add up to 4, which is not the size of axis 0: operand 0 "
	  "('x') is float[5]." },
	{ 18, PM_E_INVALID, "i x float 5\nw s int64 2 7 -2\no a\no b\nn Split x,s -> a,b axis=0",
	  "m: In node 0 (Split -> 'a'), element 1 of the attribute 'split' is -2 where at least 0 is needed: "
	  "operand 0 ('x') is float[5]." },
	{ 18, PM_E_INVALID, "i x float 2\nw p int64 1 1\no y\nn Pad x,p -> y",
	  "m: There are 1 pads for 1 axes at node 0 (Pad -> 'y'); two are needed for each." },
	{ 18, PM_E_SHAPE, "i x float 2\nw p int64 2 -2 -2\no y\nn Pad x,p -> y",
	  "m: In node 0 (Pad -> 'y'), the padding removes more of axis 0 than there is: operand 0 ('x') is "
	  "float[2]." },
	{ 18, PM_E_SHAPE, "i x float 2,3\nw s int64 1 4\no y\nn Expand x,s -> y",
	  "m: In node 0 (Expand -> 'y'), the input cannot be broadcast to the shape (3 against 4): operand 0 "
	  "('x') is float[2,3] and operand 1 ('s') is int64[1]." },
	{ 18, PM_E_SHAPE, "i x float 2,3\nw s int64 2 4 2\no y\nn Reshape x,s -> y",
	  "m: In node 0 (Reshape -> 'y'), 6 elements cannot be reshaped into 8: operand 0 ('x') is "
	  "float[2,3] and operand 1 ('s') is int64[2]." },
	{ 18, PM_E_SHAPE, "i x float 2,3\nw s int64 2 -1 -1\no y\nn Reshape x,s -> y",
	  "m: In node 0 (Reshape -> 'y'), the shape has more than one -1: operand 0 ('x') is float[2,3] and "
	  "operand 1 ('s') is int64[2]." },
	{ 18, PM_E_SHAPE, "i x float 2,3\nw s int64 1 -5\no y\nn Reshape x,s -> y",
	  "m: In node 0 (Reshape -> 'y'), dimension 0 of the shape is -5: operand 0 ('x') is float[2,3] and "
	  "operand 1 ('s') is int64[1]." },
	{ 18, PM_E_TYPE, "i x float 2,3\nw s float 1 6\no y\nn Reshape x,s -> y",
	  "m: In node 0 (Reshape -> 'y'), a shape must be a one-dimensional int64 tensor: operand 1 ('s') is "
	  "float[1]." },
	{ 18, PM_E_SHAPE, "i x float 2,3\ni k int64 1\no y\nn Gather x,k -> y axis=2",
	  "m: Axis 2 of node 0 (Gather -> 'y') is outside -2 to 1; fix the model." },
	{ 18, PM_E_TYPE, "i x float 2,3\ni k float 1\no y\nn Gather x,k -> y axis=0",
	  "m: In node 0 (Gather -> 'y'), the indices must be int32 or int64: operand 0 ('x') is float[2,3] "
	  "and operand 1 ('k') is float[1]." },
	{ 18, PM_E_SHAPE, "i x float 2,3\nw a int64 1 5\no y\nn Squeeze x,a -> y",
	  "m: Axis 5 of node 0 (Squeeze -> 'y') is outside -2 to 1; fix the model." },
	{ 18, PM_E_SHAPE, "i x float 2\ni y float 2,2\no z\nn Concat x,y -> z axis=0",
	  "m: In node 0 (Concat -> 'z'), operands differ outside axis 0, along which they are joined: "
	  "operand 0 ('x') is float[2] and operand 1 ('y') is float[2,2]." },
	{ 18, PM_E_TYPE, "i x int64 2\no y\nn Sigmoid x -> y",
	  "m: In node 0 (Sigmoid -> 'y'), operand 0 must be floating point: operand 0 ('x') is int64[2]." },
	{ 18, PM_E_TYPE, "i x float 2\no y\nn Not x -> y",
	  "m: In node 0 (Not -> 'y'), operand 0 must be bool: operand 0 ('x') is float[2]." },
};

#define RUN(list) refuses_all(list, sizeof list / sizeof *list)

static void described_models(void **state)
{
	(void)state;
	RUN(sizes);
	RUN(tensors);
	RUN(wiring);
	RUN(attributes);
	RUN(operands);
}

/* ---- bytes ---- */

static void bytes_are_refused(const char *p, size_t n, PmStatus want, const char *sentence)
{
	PmStr m = PM_STR_INIT;

	pm_str_addn(&m, p, n);
	refuses(&m, want, sentence);
}

#define BYTES(text) text, sizeof text - 1

static void broken_encodings(void **state)
{
	static const char damaged[] =
		"m: The bytes at offset 0 are not a valid ModelProto: the file is damaged, "
		"truncated or not ONNX; fetch or export it again.";

	(void)state;
	bytes_are_refused(BYTES("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), PM_E_INVALID, damaged);
	bytes_are_refused(BYTES("\x08"), PM_E_INVALID, damaged);         /* a number without digits */
	bytes_are_refused(BYTES("\x00\x01"), PM_E_INVALID, damaged);     /* field 0 */
	bytes_are_refused(BYTES("\x0b\x0c"), PM_E_INVALID, damaged);     /* groups */
	bytes_are_refused(BYTES("\x0f\x01"), PM_E_INVALID, damaged);     /* wire type 7 */
	bytes_are_refused(BYTES("\x3a\x7f\x0a"), PM_E_INVALID, damaged); /* a graph longer than the file */
	bytes_are_refused(BYTES("\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), PM_E_INVALID, damaged);
	bytes_are_refused(BYTES("\x09\x01\x02"), PM_E_INVALID, damaged); /* 8 bytes of which 2 are there */
	bytes_are_refused(BYTES("\x38\x05"), PM_E_INVALID, damaged);     /* a graph that is a number */
	bytes_are_refused(BYTES("\x0a\x01\x08"), PM_E_INVALID, damaged); /* a version that is a text */
	bytes_are_refused(BYTES("\x3d\0\0\0\0"), PM_E_INVALID, damaged); /* a graph that is 4 bytes */
	bytes_are_refused(BYTES("\x71\0\0\0\0\0\0\0\0"), PM_E_INVALID, damaged); /* metadata of 8 bytes */
	bytes_are_refused(BYTES("\x88\x80\x80\x80\x80\0\x08"), PM_E_INVALID, damaged); /* a key of 6 bytes */
	bytes_are_refused(BYTES("\x88\x80\x80\x80\x10\x08"), PM_E_INVALID, damaged);   /* one past 32 bits */
	bytes_are_refused(BYTES("\x3a\x80\x80\x80\x80\x80\0"), PM_E_INVALID, damaged); /* a length of 6 */
	bytes_are_refused(BYTES("\x3a\x80\x80\x80\x80\x08"), PM_E_INVALID, damaged);   /* 2 GiB */
	bytes_are_refused(BYTES("\xa3\x01\x08\x08\xa4\x01"), PM_E_INVALID, damaged);   /* an unknown group */
	bytes_are_refused(BYTES("\x3a"), PM_E_INVALID, damaged); /* a graph without a length */
	bytes_are_refused(
		BYTES("\x3a\x06\x5a\x04\x12\x00\x12\x00"), PM_E_INVALID, /* an input with two types */
		"m: The message ValueInfoProto.type is given a second time at offset 6; give it once.");
	bytes_are_refused(BYTES("\x08\x08\x72\x02\x0a"), PM_E_INVALID, /* metadata cut in the middle */
			  "m: The bytes at offset 2 are not a valid ModelProto: the file is damaged, "
			  "truncated or not ONNX; fetch or export it again.");
	bytes_are_refused(BYTES("\x3a\x02\x0a\x7f"), PM_E_INVALID, /* a node longer than its graph */
			  "m: The bytes at offset 2 are not a valid GraphProto: the file is damaged, "
			  "truncated or not ONNX; fetch or export it again.");
	bytes_are_refused(BYTES("\x3a\x02\x68\x01"), PM_E_INVALID, /* value_info that is a number */
			  "m: The bytes at offset 2 are not a valid GraphProto: the file is damaged, "
			  "truncated or not ONNX; fetch or export it again.");
	bytes_are_refused(BYTES("\x3a\x04\x0a\x02\x08\x01"), PM_E_INVALID, /* an operand that is one */
			  "m: The bytes at offset 4 are not a valid NodeProto: the file is damaged, "
			  "truncated or not ONNX; fetch or export it again.");
	bytes_are_refused(BYTES("\xca\x01\x02\x38\x01"), PM_E_INVALID, /* a function's node that is one */
			  "m: The bytes at offset 3 are not a valid FunctionProto: the file is damaged, "
			  "truncated or not ONNX; fetch or export it again.");
	bytes_are_refused(BYTES("\x08\x08\x42\x02\x10\x12"), PM_E_INVALID,
			  "m: The model has no graph; it is not an ONNX model, or an empty one.");
	bytes_are_refused(
		BYTES("\x08\x02\x3a\x00"), PM_E_UNSUPPORTED,
		"m: The model has IR version 2 and versions 3 to 14 are read; export it with another "
		"version of ONNX.");
	bytes_are_refused(
		BYTES("\x08\xff\xff\xff\xff\x07\x3a\x00"), PM_E_UNSUPPORTED,
		"m: The model has IR version 2147483647 and versions 3 to 14 are read; export it with "
		"another version of ONNX.");
}

/* The graph's name in encodings that are not UTF-8. */
static void broken_texts(void **state)
{
	static const char *const bad[] = { "\xc0\xaf",         "\xe0\x80\xaf",         "\xed\xa0\x80",
					   "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "abcdefgh\x80",
					   "\xe2\x82",         "abcdefghijkl\xff" };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		PmStr g = PM_STR_INIT, m;

		pm_ob_str(&g, 2, bad[i]);
		m = pm_ob_model(18, &g);
		refuses(&m, PM_E_INVALID,
			"m: The text GraphProto.name at offset 12 is not UTF-8 without NUL; write it in "
			"UTF-8.");
	}
	for (size_t n = 1; n < 20; n++) { /* NUL at each place of a word and beyond */
		PmStr g = PM_STR_INIT, m;
		char text[20];

		memset(text, 'x', sizeof text);
		text[n - 1] = '\0';
		pm_ob_bytes(&g, 2, text, sizeof text);
		m = pm_ob_model(18, &g);
		refuses(&m, PM_E_INVALID,
			"m: The text GraphProto.name at offset 12 is not UTF-8 without NUL; write it in "
			"UTF-8.");
	}
}

static void huge_names(void **state)
{
	static const struct {
		const char *spec, *sentence; /* N stands for the name */
	} cases[] = {
		{ "i N float 2", "m: A name of a graph input has more than 65535 bytes; shorten it." },
		{ "w N float 1 0", "m: A name of an initializer has more than 65535 bytes; shorten it." },
		{ "i x float 2\no y\nn Relu x -> N",
		  "m: A name of a node's result has more than 65535 bytes; shorten it." },
	};
	PmStr name = PM_STR_INIT;

	(void)state;
	for (int i = 0; i < 65536; i++)
		pm_str_addc(&name, 'n');
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *at = strrchr(cases[i].spec, 'N');
		PmStr spec = PM_STR_INIT, m;

		pm_str_addn(&spec, cases[i].spec, (size_t)(at - cases[i].spec));
		pm_str_add(&spec, name.s);
		pm_str_add(&spec, at + 1);
		m = pm_ob_spec(18, spec.s);
		refuses(&m, PM_E_LIMIT, cases[i].sentence);
		pm_str_release(&spec);
	}
	pm_str_release(&name);
}

/* An initializer of two floats whose data come as the fields of `data`. */
static void refuses_tensor(PmStr *data, PmStatus want, const char *sentence)
{
	PmStr g = PM_STR_INIT, t = PM_STR_INIT, m;

	pm_ob_int(&t, 1, 2);
	pm_ob_int(&t, 2, 1);
	pm_ob_str(&t, 8, "w");
	pm_str_addn(&t, data->s, data->len);
	pm_str_release(data);
	pm_ob_msg(&g, 5, &t);
	m = pm_ob_model(18, &g);
	refuses(&m, want, sentence);
}

static void entry(PmStr *t, const char *key, const char *value)
{
	PmStr e = PM_STR_INIT;

	pm_ob_str(&e, 1, key);
	pm_ob_str(&e, 2, value);
	pm_ob_msg(t, 13, &e);
}

static void tensors_in_pieces(void **state)
{
	static const char raw[8] = { 0 };
	PmStr d = PM_STR_INIT, segment = PM_STR_INIT;

	(void)state;
	pm_ob_bytes(&d, 9, raw, 8);
	pm_ob_bytes(&d, 4, raw, 8); /* packed floats */
	refuses_tensor(&d, PM_E_INVALID, "m: Tensor 'w' has both raw_data and typed data; keep one of them.");
	pm_ob_bytes(&d, 4, raw, 7);
	refuses_tensor(
		&d, PM_E_INVALID,
		"m: The bytes at offset 19 are not a valid TensorProto: the file is damaged, truncated or "
		"not ONNX; fetch or export it again.");
	pm_ob_bytes(&d, 4, raw, 4);
	refuses_tensor(
		&d, PM_E_INVALID,
		"m: Tensor 'w' is float[2] but its float_data has 1 elements instead of 2; the file is "
		"damaged, export it again.");
	pm_ob_int(&d, 7, 1);
	pm_ob_int(&d, 7, 2); /* integers for floats */
	refuses_tensor(
		&d, PM_E_INVALID,
		"m: Tensor 'w' is float[2] but its float_data has 0 elements instead of 2; the file is "
		"damaged, export it again.");
	pm_ob_int(&segment, 1, 0);
	pm_ob_msg(&d, 3, &segment);
	pm_ob_bytes(&d, 9, raw, 8);
	refuses_tensor(&d, PM_E_UNSUPPORTED, "m: Tensor 'w' is split into segments; store it whole.");
}

static void external(const char *location, const char *offset, const char *sentence, PmStatus want)
{
	PmStr d = PM_STR_INIT;

	if (location)
		entry(&d, "location", location);
	if (offset)
		entry(&d, "offset", offset);
	pm_ob_int(&d, 14, 1);
	refuses_tensor(&d, want, sentence);
}

static void data_from_elsewhere(void **state)
{
	static const char *const paths[] = { "../w.bin",     "a/../w.bin", "/etc/passwd",     "..",
					     "a\\..\\w.bin", "a/..",       "../../etc/passwd" };
	char want[256];

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		snprintf(want, sizeof want,
			 "m: Tensor 'w' names the data file '%s'; only files below the model's folder are "
			 "read, so "
			 "give a relative path without '..'.",
			 paths[i]);
		external(paths[i], NULL, want, PM_E_INVALID);
	}
	external(NULL, NULL,
		 "m: Tensor 'w' names the data file ''; only files below the model's folder are read, so "
		 "give a "
		 "relative path without '..'.",
		 PM_E_INVALID);
	external("w.bin", "-1",
		 "m: Tensor 'w' has the external_data offset '-1', which is no number of bytes; fix the "
		 "model.",
		 PM_E_INVALID);
	external("w.bin", "0x10",
		 "m: Tensor 'w' has the external_data offset '0x10', which is no number of bytes; fix the "
		 "model.",
		 PM_E_INVALID);
	external("w.bin", "9223372036854775807",
		 "m: Tensor 'w' ends past 63 bits of its data file; fix the model.", PM_E_LIMIT);
	external("w.bin", "99999999999999999999",
		 "m: Tensor 'w' has the external_data offset '99999999999999999999', which is no number of "
		 "bytes; "
		 "fix the model.",
		 PM_E_INVALID);
}

/* ---- functions ---- */

/* Adds my:NAME, whose body is `nodes` (lines "n ..."). */
static void add_function(PmStr *m, const char *name, const char *inputs[2], const char *output,
			 const char *nodes)
{
	PmStr f = PM_STR_INIT, g = PM_STR_INIT, set = PM_STR_INIT;

	pm_ob_str(&f, 1, name);
	for (int k = 0; k < 2 && inputs[k]; k++)
		pm_ob_str(&f, 4, inputs[k]);
	pm_ob_str(&f, 5, output);
	pm_ob_graph(&g, nodes); /* nodes are field 1 of a graph and 7 of a function */
	for (size_t at = 0; at < g.len;) {
		size_t n = (unsigned char)g.s[at + 1];

		assert_true(g.s[at] == 0x0a && n < 128);
		pm_ob_bytes(&f, 7, g.s + at + 2, n);
		at += 2 + n;
	}
	pm_str_release(&g);
	pm_ob_int(&set, 2, 18);
	pm_ob_msg(&f, 9, &set);
	pm_ob_str(&f, 10, "my");
	pm_ob_msg(m, 25, &f);
}

static void bad_functions(void **state)
{
	const char *one[2] = { "a", NULL }, *twice[2] = { "a", "a" };
	PmStr m = pm_ob_spec(18, "i x float 2\no y\nn my:F x -> y");

	(void)state;
	add_function(&m, "F", one, "b", "n my:G a -> b");
	add_function(&m, "G", one, "b", "n my:F a -> b");
	{ /* the sentence names every call on the way, as much as fits */
		PmGraph *g = NULL;
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", NULL, &g, NULL, &err), PM_E_LIMIT);
		assert_non_null(strstr(err.text, "recursion is not allowed in ONNX."));
		pm_str_release(&m);
	}
	m = pm_ob_spec(18, "i x float 2\no y\nn my:F x,x -> y");
	add_function(&m, "F", one, "b", "n Relu a -> b");
	refuses(&m, PM_E_INVALID,
		"m: Function 'F': There are 2 operands and 1 results at node 0 (F -> 'y'), but the function "
		"has 1 and "
		"1; fix the model.");
	m = pm_ob_spec(18, "i x float 2\no y\nn my:F x,x -> y");
	add_function(&m, "F", twice, "b", "n Relu a -> b");
	refuses(&m, PM_E_INVALID, "m: Function 'F': The function 'F' has two inputs called 'a'; fix it.");
	m = pm_ob_spec(18, "i x float 2\no y\nn my:F x -> y");
	add_function(&m, "F", one, "nowhere", "n Relu a -> b");
	refuses(&m, PM_E_INVALID,
		"m: Output 'nowhere' of the function called at node 0 (F -> 'y') is defined by nothing; fix "
		"the "
		"function.");
	m = pm_ob_spec(18, "i x float 2\no y\nn my:F x -> y");
	add_function(&m, "F", one, "b", "n Add a,c -> b\nn Neg b -> c");
	refuses(&m, PM_E_INVALID,
		"m: Function 'F': The graph has a cycle through node 1 (Neg -> 'c') and its operand 'b'; no "
		"execution "
		"order exists, so fix the model.");
	m = pm_ob_spec(18, "i x float 2\no y\nn my:F x -> y");
	add_function(&m, "F", one, "b", "n Relu x -> b");
	refuses(&m, PM_E_INVALID,
		"m: Function 'F': Operand 0 of node 0 (Relu -> 'b') is 'x', which no input, initializer or "
		"node "
		"defines; fix the model.");
}

/* Each function calls the next one twice: 2^20 nodes in a file of some hundred bytes. */
static void functions_that_explode(void **state)
{
	const char *one[2] = { "a", NULL };
	PmStr m = pm_ob_spec(18, "i x float 2\no y\nn my:F0 x -> y");
	PmGraph *g = NULL;
	PmErr err;
	PmOnnxOpts few = { .max_nodes = 5000 };

	(void)state;
	for (int k = 0; k < 20; k++) {
		char name[16], body[64];

		snprintf(name, sizeof name, "F%d", k);
		snprintf(body, sizeof body, "n my:F%d a -> c\nn my:F%d c -> b", k + 1, k + 1);
		add_function(&m, name, one, "b", body);
	}
	add_function(&m, "F20", one, "b", "n Relu a -> b");
	pm_err_init(&err);
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", &few, &g, NULL, &err), PM_E_LIMIT);
	assert_non_null(strstr(err.text, "The model has more than 5000 nodes; split it."));
	n_refused++;
	pm_str_release(&m);
}

/* ---- lists that are too long ---- */

static void long_lists(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 2"), g = PM_STR_INIT, v = PM_STR_INIT, type = PM_STR_INIT,
	      tensor = PM_STR_INIT, sh = PM_STR_INIT;

	(void)state;
	for (int k = 0; k < 4097; k++) {
		PmStr e = PM_STR_INIT;

		pm_ob_str(&e, 1, "k");
		pm_ob_msg(&m, 14, &e);
	}
	refuses(&m, PM_E_LIMIT,
		"m: The model has 4097 metadata entries; at most 4096 are kept, so merge them.");
	m = pm_ob_spec(18, "i x float 2");
	for (int k = 0; k < 256; k++) {
		PmStr e = PM_STR_INIT;

		pm_ob_str(&e, 1, "d");
		pm_ob_msg(&m, 8, &e);
	}
	refuses(&m, PM_E_LIMIT,
		"m: There are 257 operator sets imported and at most 256 are read; drop some.");
	for (int k = 0; k < 1000; k++) {
		PmStr dim = PM_STR_INIT;

		pm_ob_int(&dim, 1, 1);
		pm_ob_msg(&sh, 1, &dim);
	}
	pm_ob_int(&tensor, 1, 1);
	pm_ob_msg(&tensor, 2, &sh);
	pm_ob_msg(&type, 1, &tensor);
	pm_ob_str(&v, 1, "x");
	pm_ob_msg(&v, 2, &type);
	pm_ob_msg(&g, 11, &v);
	m = pm_ob_model(18, &g);
	refuses(&m, PM_E_LIMIT,
		"m: The graph input 'x' has 1000 dimensions; at most 8 are supported, so reshape it.");
}

/* ---- any damage ---- */

/* Whatever the bytes are: read, or refused with one sentence that begins with the file. */
static void read_or_refuse(const char *p, size_t n)
{
	PmGraph *g = NULL;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_onnx_import_mem(p, n, "m", NULL, &g, NULL, &err);
	if (st) {
		assert_int_equal(pm_status_exit_code(st), 4);
		assert_true(strncmp(err.text, "m: ", 3) == 0 && !strchr(err.text, '\n'));
		assert_int_equal(err.text[strlen(err.text) - 1], '.');
		n_refused++;
	}
	pm_graph_free(g);
}

static void damage_at_every_byte(void **state)
{
	PmStr m = pm_ob_spec(
		18, "i x float N,4\nw w float 4,4 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\nw s int64 2 -1 2\n"
		    "v h float N,4\no y\nn MatMul x,w -> h\nn Reshape h,s -> r\nn Softmax r -> y axis=-1");
	const char *one[2] = { "a", NULL };
	PmGraph *g = NULL;

	(void)state;
	add_function(&m, "F", one, "b", "n Relu a -> b");
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", NULL, &g, NULL, NULL), PM_OK);
	pm_graph_free(g);
	printf("# %zu models were refused with their sentences\n", n_refused);
	n_refused = 0;
	for (size_t n = 0; n < m.len; n++) { /* its first bytes only, in a block of just that size */
		char *part = pm_xmalloc(n + 1);

		memcpy(part, m.s, n);
		read_or_refuse(part, n);
		free(part);
	}
	for (size_t i = 0; i < m.len; i++) {
		char keep = m.s[i];

		for (int change = 0; change < 10; change++) {
			m.s[i] = (char)(change < 8 ? keep ^ 1 << change : change == 8 ? 0 : 0xff);
			read_or_refuse(m.s, m.len);
		}
		m.s[i] = keep;
	}
	printf("# %zu of %zu damaged models were refused\n", n_refused, m.len * 11);
	assert_true(n_refused > m.len * 4);
	pm_str_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(described_models),  cmocka_unit_test(broken_encodings),
		cmocka_unit_test(broken_texts),      cmocka_unit_test(huge_names),
		cmocka_unit_test(tensors_in_pieces), cmocka_unit_test(data_from_elsewhere),
		cmocka_unit_test(bad_functions),     cmocka_unit_test(functions_that_explode),
		cmocka_unit_test(long_lists),        cmocka_unit_test(damage_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
