/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_bad.c - what the importer says of malformed models: the status and the exact sentence of each. */
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void refuses(const PmStr *m, PmStatus want, const char *sentence)
{
	PmGraph *g = NULL;
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_onnx_import_mem(m->s, m->len, "m", NULL, &g, NULL, &err);
	assert_null(g);
	assert_string_equal(err.text, sentence);
	assert_int_equal(st, want);
	assert_int_equal(pm_status_exit_code(st), 4);
	assert_int_equal(pm_onnx_import_mem(m->s, m->len, "m", NULL, &g, NULL, NULL), want);
}

static void refuses_spec(int64_t opset, const char *spec, PmStatus want, const char *sentence)
{
	PmStr m = pm_ob_spec(opset, spec);

	refuses(&m, want, sentence);
	pm_str_release(&m);
}

static void broken_bytes(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 2\no y\nn Relu x -> y"), junk = PM_STR_INIT;
	size_t whole = m.len;

	(void)state;
	m.len = whole - 3;
	refuses(&m, PM_E_INVALID,
		"m: The bytes at offset 8 are not a valid ModelProto: the file is damaged, truncated or not "
		"ONNX; fetch or "
		"export it again.");
	m.len = 0;
	refuses(&m, PM_E_INVALID, "m: The model has no graph; it is not an ONNX model, or an empty one.");
	m.len = whole;
	pm_str_add(&junk, "this is no protobuf at all");
	refuses(&junk, PM_E_INVALID,
		"m: The bytes at offset 0 are not a valid ModelProto: the file is damaged, truncated or not "
		"ONNX; fetch or "
		"export it again.");
	pm_str_release(&m);
	pm_str_release(&junk);
}

static void bad_text(void **state)
{
	(void)state;
	refuses_spec(
		18, "i \xff float 2\n", PM_E_INVALID,
		"m: The text ValueInfoProto.name at offset 17 is not UTF-8 without NUL; write it in UTF-8.");
	refuses_spec(18, "i x float 2\no y\nn Re:lu:u x -> y", PM_E_UNSUPPORTED,
		     "m: The operator type or domain at node 0 (lu:u -> 'y') has a ':', which the text form "
		     "of graphs cannot "
		     "say; rename it.");
}

static void deep_nesting(void **state)
{
	PmStr inner = PM_STR_INIT, m;
	int k;

	(void)state;
	for (k = 0; k < 40; k++) {
		PmStr attr = PM_STR_INIT, node = PM_STR_INIT, graph = PM_STR_INIT;

		pm_ob_msg(&attr, 6, &inner);
		pm_ob_msg(&node, 5, &attr);
		pm_ob_msg(&graph, 1, &node);
		inner = graph;
	}
	m = pm_ob_model(18, &inner);
	refuses(&m, PM_E_LIMIT,
		"m: Messages are nested deeper than 64 at offset 195; flatten the nested graphs.");
	pm_str_release(&m);
}

static void bad_opsets(void **state)
{
	PmStr m, g = PM_STR_INIT, set = PM_STR_INIT;

	(void)state;
	refuses_spec(6, "i x float 2", PM_E_UNSUPPORTED,
		     "m: The model uses opset 6 and opsets 7 to 28 are read; convert it with ONNX's version "
		     "converter.");
	refuses_spec(29, "i x float 2", PM_E_UNSUPPORTED,
		     "m: The model uses opset 29 and opsets 7 to 28 are read; convert it with ONNX's version "
		     "converter.");
	refuses_spec(0, "i x float 2\no y\nn Relu x -> y", PM_E_INVALID,
		     "m: The model has node 0 (Relu -> 'y') but does not say which opset it uses; add an "
		     "opset_import.");
	m = pm_ob_model(18, &g);
	pm_ob_int(&set, 2, 17);
	pm_ob_msg(&m, 8, &set);
	refuses(&m, PM_E_INVALID, "m: The operators of the domain '' are imported twice; import them once.");
	pm_str_release(&m);
}

static void bad_wiring(void **state)
{
	(void)state;
	refuses_spec(18, "i x float 2\no y\nn Add x,z -> y", PM_E_INVALID,
		     "m: Operand 1 of node 0 (Add -> 'y') is 'z', which no input, initializer or node "
		     "defines; fix the model.");
	refuses_spec(18, "i x float 2\no y\nn Add x,b -> a\nn Neg a -> b\nn Abs b -> y", PM_E_INVALID,
		     "m: The graph has a cycle through node 1 (Neg -> 'b') and its operand 'a'; no execution "
		     "order exists, so fix "
		     "the model.");
	refuses_spec(18, "i x float 2\no y\nn Neg x -> y\nn Abs x -> y", PM_E_INVALID,
		     "m: The value 'y' is defined by node 1 (Abs -> 'y') and by node 0 (Neg -> 'y'); give "
		     "each value a name of "
		     "its own.");
	refuses_spec(18, "i x float 2\nn Neg x -> x", PM_E_INVALID,
		     "m: The value 'x' is defined by node 0 (Neg -> 'x') and by a graph input or "
		     "initializer; give each value a "
		     "name of its own.");
	refuses_spec(18, "i x float 2\ni x float 2", PM_E_INVALID,
		     "m: The graph input 'x' is listed twice; list it once.");
	refuses_spec(18, "w x float 1 0\nw x float 1 0", PM_E_INVALID,
		     "m: The initializer 'x' is listed twice; list it once.");
	refuses_spec(
		18, "i x float 2\no y", PM_E_INVALID,
		"m: The graph output 'y' is not defined by any input, initializer or node; fix the model.");
}

static void bad_types(void **state)
{
	(void)state;
	refuses_spec(18, "i x string 2", PM_E_UNSUPPORTED,
		     "m: The graph input 'x' cannot be read (element type string is not supported); only "
		     "tensors of supported "
		     "element types are.");
	refuses_spec(18, "i x", PM_E_UNSUPPORTED,
		     "m: The graph input 'x' cannot be read (no type is stated); only tensors of supported "
		     "element types are.");
	refuses_spec(18, "i x float ?", PM_E_UNSUPPORTED,
		     "m: The graph input 'x' has no shape; state its dimensions, by name where unknown.");
	refuses_spec(18, "i x float -1", PM_E_INVALID,
		     "m: Dimension 0 of the graph input 'x' is -1; give an unknown size a name (dim_param) "
		     "instead.");
	refuses_spec(18, "i x float 1,1,1,1,1,1,1,1,1", PM_E_LIMIT,
		     "m: The graph input 'x' has 9 dimensions; at most 8 are supported, so reshape it.");
	refuses_spec(18, "i x float 2\no y float 3\nn Neg x -> y", PM_E_SHAPE,
		     "m: The model states the size 3 at dimension 0 for the value 'y', but its definition "
		     "gives float[2]; fix the "
		     "model's types, or let the definition decide with --types infer.");
	refuses_spec(18, "i x float 2\no y double 2\nn Neg x -> y", PM_E_TYPE,
		     "m: The model states the element type double for the value 'y', but its definition "
		     "gives float[2]; fix the "
		     "model's types, or let the definition decide with --types infer.");
	refuses_spec(18, "i x float 2\no y float 2,1\nn Neg x -> y", PM_E_SHAPE,
		     "m: The model states the rank 2 for the value 'y', but its definition gives float[2]; "
		     "fix the model's "
		     "types, or let the definition decide with --types infer.");
}

static void bad_tensors(void **state)
{
	(void)state;
	refuses_spec(18, "w w float 2,2 1 2 3", PM_E_INVALID,
		     "m: Tensor 'w' is float[2,2] but its float_data has 3 elements instead of 4; the file "
		     "is damaged, export it "
		     "again.");
	refuses_spec(18, "w w float -2 1", PM_E_INVALID,
		     "m: Dimension 0 of tensor 'w' is -2; sizes cannot be negative, so fix the model.");
	refuses_spec(18, "w w float 4611686018427387904,4 1", PM_E_LIMIT,
		     "m: The size of tensor 'w' does not fit in 63 bits; fix its dimensions.");
	refuses_spec(18, "w w float 1,1,1,1,1,1,1,1,1 1", PM_E_LIMIT,
		     "m: Tensor 'w' has 9 dimensions; at most 8 are supported, so reshape it.");
	refuses_spec(18, "w w int8 1 200", PM_E_INVALID,
		     "m: Element 0 of tensor 'w' is 200, which is no int8; fix the model.");
	refuses_spec(18, "w w bool 1 2", PM_E_INVALID,
		     "m: Element 0 of tensor 'w' is 2, which is no bool; fix the model.");
	refuses_spec(18, "w w undefined 1 2", PM_E_TYPE, "m: Tensor 'w' has no element type; fix the model.");
}

/* An initializer with raw_data of `n` bytes, or with external_data when `location` is set. */
static PmStr model_with(size_t n, const char *location, const char *length)
{
	const char *const keys[2] = { "location", "length" }, *const values[2] = { location, length };
	PmStr g = PM_STR_INIT, t = PM_STR_INIT, raw = PM_STR_INIT;
	size_t k;

	for (k = 0; k < n; k++)
		pm_str_addc(&raw, 0);
	pm_ob_int(&t, 1, 2);
	pm_ob_int(&t, 2, 1);
	pm_ob_str(&t, 8, "w");
	if (!location)
		pm_ob_bytes(&t, 9, raw.s, raw.len);
	for (k = 0; location && k < 2; k++) {
		PmStr e = PM_STR_INIT;

		pm_ob_str(&e, 1, keys[k]);
		pm_ob_str(&e, 2, values[k]);
		pm_ob_msg(&t, 13, &e);
	}
	if (location)
		pm_ob_int(&t, 14, 1);
	pm_str_release(&raw);
	pm_ob_msg(&g, 5, &t);
	return pm_ob_model(18, &g);
}

static void refuses_tensor(size_t n, const char *location, const char *length, const char *sentence)
{
	PmStr m = model_with(n, location, length);

	refuses(&m, PM_E_INVALID, sentence);
	pm_str_release(&m);
}

static void bad_data(void **state)
{
	(void)state;
	refuses_tensor(7, NULL, NULL,
		       "m: Tensor 'w' is float[2] but its raw_data has 7 bytes instead of 8; the file is "
		       "damaged, export it "
		       "again.");
	refuses_tensor(0, "/etc/passwd", "8",
		       "m: Tensor 'w' names the data file '/etc/passwd'; only files below the model's folder "
		       "are read, so give a "
		       "relative path without '..'.");
	refuses_tensor(0, "a/../../b", "8",
		       "m: Tensor 'w' names the data file 'a/../../b'; only files below the model's folder "
		       "are read, so give a "
		       "relative path without '..'.");
	refuses_tensor(0, "", "8",
		       "m: Tensor 'w' names the data file ''; only files below the model's folder are read, "
		       "so give a relative "
		       "path without '..'.");
	refuses_tensor(
		0, "w.bin", "9",
		"m: Tensor 'w' has the external_data length 9 but its type needs 8 bytes; fix the model.");
	refuses_tensor(0, "w.bin", "8k",
		       "m: Tensor 'w' has the external_data length '8k', which is no number of bytes; fix "
		       "the model.");
}

static void bad_nodes(void **state)
{
	(void)state;
	refuses_spec(18, "i x float 2\no y\nn Add x -> y", PM_E_INVALID,
		     "m: There are 1 operands at node 0 (Add -> 'y'); Add takes 2 or more.");
	refuses_spec(18, "i x float 2\no y\nn Neg x,x -> y", PM_E_INVALID,
		     "m: There are 2 operands at node 0 (Neg -> 'y'); Neg takes 1 at most.");
	refuses_spec(18, "i x float 2\no y\nn Add ,x -> y", PM_E_INVALID,
		     "m: Operand 0 of node 0 (Add -> 'y') is omitted but required; fix the model.");
	refuses_spec(18, "i x float 2\no y\nn Concat x,x -> y", PM_E_INVALID,
		     "m: The attribute 'axis' of node 0 (Concat -> 'y') is missing; fix the model.");
	refuses_spec(18, "i x float 2\no y\nn Concat x,x -> y axis=2", PM_E_SHAPE,
		     "m: Axis 2 of node 0 (Concat -> 'y') is outside -1 to 0; fix the model.");
	refuses_spec(18, "i x float 2\no y\nn Concat x,x -> y axis=0 axis=0", PM_E_INVALID,
		     "m: The attribute 'axis' of node 0 (Concat -> 'y') is given twice; fix the model.");
	refuses_spec(18, "i x float 2\no y\nn LeakyRelu x -> y alpha=1", PM_E_TYPE,
		     "m: The attribute 'alpha' of node 0 (LeakyRelu -> 'y') is not a float; fix the model.");
	refuses_spec(11, "i x float 2\no y\nn Unsqueeze x -> y axes=[0,0]", PM_E_SHAPE,
		     "m: Axis 0 is listed twice at node 0 (Unsqueeze -> 'y'); fix the model.");
	refuses_spec(11, "i x float 1,1,4\ni w float 1,1,3\no y\nn Conv x,w -> y kernel_shape=[2]",
		     PM_E_SHAPE,
		     "m: The attribute 'kernel_shape' of node 0 (Conv -> 'y') says 2 where the weights have "
		     "3; fix the model.");
	refuses_spec(11, "i x float 1,1,4\no y\nn MaxPool x -> y kernel_shape=[2] auto_pad='SAME'",
		     PM_E_INVALID,
		     "m: The attribute 'auto_pad' of node 0 (MaxPool -> 'y') is 'SAME', which ONNX does not "
		     "have.");
	refuses_spec(11, "i x float 5\no a\no b\nn Split x -> a,b", PM_E_SHAPE,
		     "m: A dimension of size 5 cannot be split into 2 equal parts at node 0 (Split -> 'a').");
}

static void limits(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 2\no y\nn Neg x -> a\nn Neg a -> y");
	PmOnnxOpts few = { .max_nodes = 1 }, small = { .max_file = 10 };
	PmGraph *g = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", &few, &g, NULL, &err), PM_E_LIMIT);
	assert_string_equal(err.text, "m: The model has more than 1 nodes; split it.");
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", &small, &g, NULL, &err), PM_E_LIMIT);
	assert_non_null(strstr(err.text, "and at most 10 are read; keep weights in an external data file."));
	assert_null(g);
	pm_str_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_bytes), cmocka_unit_test(bad_text),   cmocka_unit_test(deep_nesting),
		cmocka_unit_test(bad_opsets),   cmocka_unit_test(bad_wiring), cmocka_unit_test(bad_types),
		cmocka_unit_test(bad_tensors),  cmocka_unit_test(bad_data),   cmocka_unit_test(bad_nodes),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
