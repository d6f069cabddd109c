/* SPDX-License-Identifier: Apache-2.0 */
/* test_cast.c - whole models in half types: within the bound of the type, and what stays float stays exact.
 */
#include "app/cast/cast.h"
#include "app/model/model_file.h"
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "ir/core/element.h"
#include "ir/infer/infer.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_IO = 32 };

static PmGraph *cast_of(const PmGraph *g, int to, int keep_io, PmCastReport *r)
{
	PmGraph *c = NULL, *named = NULL; /* names that are made up are made up by each clone */
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_graph_clone(g, &named, NULL), PM_OK);
	assert_int_equal(pm_graph_clone(named, &c, NULL), PM_OK);
	if (pm_cast_graph(c, to, keep_io, r, &err))
		fail_msg("%s: %s", pm_graph_name(g), err.text);
	assert_int_equal(pm_graph_n_inputs(c), pm_graph_n_inputs(g));
	assert_int_equal(pm_graph_n_outputs(c), pm_graph_n_outputs(g));
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		assert_string_equal(pm_value_name(c, pm_graph_input(c, i)),
				    pm_value_name(named, pm_graph_input(named, i)));
	pm_graph_free(named);
	return c;
}

/* The same numbers in the type that `like` says. */
static PmTensor in_type(const PmTensor *t, int dtype)
{
	PmType type = t->type;
	PmTensor out;

	if (!pm_dtype_is_float(type.dtype)) {
		assert_int_equal(pm_tensor_copy(&out, t, NULL), PM_OK);
		return out;
	}
	type.dtype = dtype;
	assert_int_equal(pm_tensor_init(&out, &type, NULL), PM_OK);
	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		pm_tensor_set(&out, i, pm_tensor_get(t, i));
	return out;
}

static void run_ref(const PmGraph *g, const PmTensor *in, PmTensor *out)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_ref_run(g, in, pm_graph_n_inputs(g), out, pm_graph_n_outputs(g), &err))
		fail_msg("%s: %s", pm_graph_name(g), err.text);
}

static void release(PmTensor *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		pm_tensor_release(&t[i]);
}

/* Draws inputs of the cast graph, gives the same numbers to the original, and compares as devices are
 * compared: at the tolerance of the half type, or within what one ulp of its inputs does. */
static void agrees(const PmGraph *g, int to, uint64_t seed)
{
	PmCastReport r;
	PmGraph *c = cast_of(g, to, 0, &r);
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g);
	PmTensor half[MAX_IO], in[MAX_IO], got[MAX_IO], want[MAX_IO], rounded[MAX_IO];
	PmAgreement a[MAX_IO];
	PmErr err;

	pm_err_init(&err);
	assert_true(n_in <= MAX_IO && n_out <= MAX_IO);
	if (pm_inputs_make(c, seed, PM_INPUTS_NORMAL, half, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < n_in; i++)
		in[i] = in_type(&half[i], pm_value_type(g, pm_graph_input(g, i))->dtype);
	run_ref(g, in, want);
	run_ref(c, half, got);
	for (size_t i = 0; i < n_out; i++)
		rounded[i] = in_type(&want[i], got[i].type.dtype);
	if (pm_agree(c, half, got, rounded, n_out, seed, a, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < n_out; i++)
		if (!a[i].agrees)
			fail_msg("%s in %s: output %zu is off by %g, one ulp by %g", pm_graph_name(g),
				 pm_dtype_name(to), i, a[i].nrms, a[i].one_ulp);
	release(half, n_in);
	release(in, n_in);
	release(got, n_out);
	release(want, n_out);
	release(rounded, n_out);
	pm_cast_report_release(&r);
	pm_graph_free(c);
}

static const char *const models[] = { "bert_encoder_layer",   "bge_pooling_head",  "llama_block",
				      "mobilenetv3_se_block", "resnet_bottleneck", "swin_block" };
static const int halves[] = { PM_F16, PM_BF16 };

static PmGraph *load(const char *name)
{
	PmStr path = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	pm_str_addf(&path, "models/%s.gpt", name);
	if (pm_model_load(path.s, &g, NULL, &err))
		fail_msg("%s", err.text);
	pm_str_release(&path);
	return g;
}

static void models_agree(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		PmGraph *g = load(models[i]);

		for (int k = 0; k < 2; k++)
			agrees(g, halves[k], i + 1);
		pm_graph_free(g);
	}
}

/* Of all floating point of the models next to nothing stays float; with --keep-io the signature does. */
static void most_is_cast(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
		PmGraph *g = load(models[i]), *c;
		PmCastReport r;

		c = cast_of(g, PM_BF16, 0, &r);
		assert_true(r.nodes >= 7);
		for (size_t k = 0; k < pm_graph_n_outputs(g); k++) {
			assert_int_equal(pm_value_type(c, pm_graph_output(c, k))->dtype, PM_BF16);
			assert_string_equal(pm_value_name(c, pm_graph_output(c, k)),
					    pm_value_name(g, pm_graph_output(g, k)));
		}
		pm_cast_report_release(&r);
		pm_graph_free(c);
		c = cast_of(g, PM_BF16, 1, &r);
		for (size_t k = 0; k < pm_graph_n_inputs(g); k++)
			assert_int_equal(pm_value_type(c, pm_graph_input(c, k))->dtype,
					 pm_value_type(g, pm_graph_input(g, k))->dtype);
		for (size_t k = 0; k < pm_graph_n_outputs(g); k++) {
			assert_int_equal(pm_value_type(c, pm_graph_output(c, k))->dtype, PM_F32);
			assert_string_equal(pm_value_name(c, pm_graph_output(c, k)),
					    pm_value_name(g, pm_graph_output(g, k)));
		}
		assert_true(r.kept[PM_CAST_KEPT_IO] > 0);
		assert_int_equal(r.inputs, 0);
		pm_cast_report_release(&r);
		pm_graph_free(c);
		pm_graph_free(g);
	}
}

/* ---- what stays ---- */

static size_t kept(const char *text, int to, PmCastReason why)
{
	PmGraph *g = pm_test_graph(text), *c;
	PmCastReport r;
	size_t n;

	c = cast_of(g, to, 0, &r);
	n = r.kept_nodes[why] + r.kept[why];
	pm_cast_report_release(&r);
	pm_graph_free(c);
	pm_graph_free(g);
	return n;
}

/* A row for each reason that a node can have: a graph in which it has it, and one in which it has not. */
static void each_reason(void **state)
{
	static const struct {
		PmCastReason why;
		const char *yes, *no;
	} rows[] = {
		{ PM_CAST_ONNX, "g (float a, float b, float c) => (float[N] y) { y = Range(a, b, c) }",
		  "g (float[3] a) => (float[3] y) { y = Neg(a) }" },
		{ PM_CAST_SCALES,
		  "g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1, 1, 2, 2}> { y = Resize(x, , "
		  "s) }",
		  "g (float[1,1,2,2] x) => (float[1,1,4,4] y) <int64[4] s = {1, 1, 4, 4}> { y = Resize(x, , "
		  ", s) }" },
		{ PM_CAST_PARAMETERS,
		  "g (float[1,2,3] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2,3] y) "
		  "{ y = BatchNormalization(x, s, b, m, v) }",
		  "g (float[1,2,3] x, float[3] s, float[3] b) => (float[1,2,3] y) "
		  "{ y = LayerNormalization<axis=2>(x, s, b) }" },
		{ PM_CAST_QUANTISED,
		  "g (float[3] x) => (int8[3] y) <float s = {0.1}, int8 z = {0}> { a = Mul(x, x)\n y = "
		  "QuantizeLinear(a, s, z) }",
		  "g (float[3] x) => (int8[3] y) { y = Cast<to=3>(x) }" },
		{ PM_CAST_RANDOM, "g (float[3] x) => (float[3] y) { y = RandomUniformLike<dtype=1>(x) }",
		  "g (float[3] x) => (float[3] y) { y = Relu(x) }" },
		{ PM_CAST_SQUARES, "g (float[3] x) => (float[3] y) { y = Mul(x, x) }",
		  "g (float[3] x, float[3] z) => (float[3] y) { y = Mul(x, z) }" },
		{ PM_CAST_RANGE, "g (float[3] x) => (float[3] y) <float c = {-3e38}> { y = Add(x, c) }",
		  "g (float[3] x) => (float[3] y) <float c = {-6e4}> { y = Add(x, c) }" },
		{ PM_CAST_RANGE, "g (float[3] x) => (float[3] y) <float c = {1e-12}> { y = Add(x, c) }",
		  "g (float[3] x) => (float[3] y) <float[3] c = {1, 1e-12, 0}> { y = Add(x, c) }" },
		{ PM_CAST_WIDE, "g (float[3] x) => (float[3] y) { a = Exp(x)\n b = Neg(a)\n y = Sigmoid(b) }",
		  "g (float[3] x) => (float[3] y) { a = Sigmoid(x)\n y = Neg(a) }" },
		{ PM_CAST_INTEGERS,
		  "g (int64[3] x) => (int64[3] y) <float c = {0.5}> { a = Cast<to=1>(x)\n b = Mul(a, c)\n y "
		  "= Cast<to=7>(b) }",
		  "g (int64[3] x) => (bool[3] y) <float c = {0.5}> { a = Cast<to=1>(x)\n b = Mul(a, c)\n y = "
		  "Cast<to=9>(b) }" },
		{ PM_CAST_ANGLE,
		  "g (int64[3,1] x, float[1,4] f) => (float[3,4] y) { a = Cast<to=1>(x)\n b = MatMul(a, f)\n "
		  "y = Cos(b) }",
		  "g (int64[3,1] x, float[1,4] f) => (float[3,4] y) { a = Cast<to=1>(x)\n b = MatMul(a, f)\n "
		  "y = Tanh(b) }" },
		{ PM_CAST_BITS, "g (float[3] x) => (int32[3] y) { y = BitCast<to=6>(x) }",
		  "g (float[3] x) => (int32[3] y) { y = Cast<to=6>(x) }" },
		{ PM_CAST_OPAQUE, "g (float[3] x) => (float[3] y) { y = strange.Op(x) }",
		  "g (float[3] x) => (float[3] y) { y = Abs(x) }" },
		{ PM_CAST_OTHER_TYPE, "g (double[3] x) => (double[3] y) { y = Neg(x) }",
		  "g (float[3] x) => (float[3] y) { y = Neg(x) }" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		if (!kept(rows[i].yes, PM_F16, rows[i].why))
			fail_msg("%s: nothing stays in %s", pm_cast_reason(rows[i].why), rows[i].yes);
		if (kept(rows[i].no, PM_F16, rows[i].why))
			fail_msg("%s: something stays in %s", pm_cast_reason(rows[i].why), rows[i].no);
	}
}

/* A weight whose data are not at hand stays, with a Cast behind it: its file may still come. */
static void absent_weights_stay(void **state)
{
	PmGraph *g = pm_test_graph("g (float[2,4] x) => (float[2,4] y) { y = Neg(x) }"), *c;
	PmType t = *pm_value_type(g, pm_graph_input(g, 0));
	PmNode n = pm_graph_node_at(g, 0), add;
	PmValue in[2], w;
	PmCastReport r;

	(void)state;
	assert_int_equal(pm_graph_add_const(g, "w", &t, pm_blob_absent("w.bin", 64, 32), &w, NULL), PM_OK);
	in[0] = pm_node_in(g, n, 0);
	in[1] = w;
	assert_int_equal(pm_graph_add_node(g, PM_OP_Add, in, 2, 1, &add, NULL), PM_OK);
	pm_value_set_type(g, pm_node_out(g, add, 0), &t);
	pm_node_set_operand(g, n, 0, pm_node_out(g, add, 0));
	assert_int_equal(pm_graph_sort(g, NULL), PM_OK);
	c = cast_of(g, PM_F16, 0, &r);
	assert_int_equal(r.kept[PM_CAST_DATA], 1);
	assert_int_equal(r.casts, 1);
	assert_int_equal(pm_value_type(c, pm_graph_find_value(c, "w"))->dtype, PM_F32);
	pm_cast_report_release(&r);
	pm_graph_free(c);
	pm_graph_free(g);
}

/* 1e-12 keeps a root above zero, and a mask of -3.4e38 keeps out what it masks: in float16 both would be NaN.
 */
static void tiny_and_huge_numbers_work(void **state)
{
	static const char *const text = "g (float[2,4] x, float[2,4] m) => (float[2,4] y, float[2,4] p) "
					"<float eps = {1e-12}, float low = {-3.4e38}> "
					"{ s = Mul(x, x)\n v = ReduceMean<axes=[1]>(s)\n e = Add(v, eps)\n r "
					"= Sqrt(e)\n y = Div(x, r)\n"
					" a = Mul(m, low)\n b = Add(x, a)\n p = Softmax<axis=1>(b) }";
	PmGraph *g = pm_test_graph(text), *c;
	PmCastReport r;
	PmTensor in[2], out[2];

	(void)state;
	c = cast_of(g, PM_F16, 0, &r);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pm_tensor_init(&in[i], pm_value_type(c, pm_graph_input(c, (size_t)i)), NULL),
				 PM_OK);
	pm_tensor_set(&in[1], 0, 1); /* x is zeros; the first element is masked */
	run_ref(c, in, out);
	for (int64_t i = 0; i < 8; i++) {
		assert_true(pm_tensor_get(&out[0], i) == 0);
		assert_true(isfinite(pm_tensor_get(&out[1], i)));
	}
	assert_true(pm_tensor_get(&out[1], 0) == 0 && pm_tensor_get(&out[1], 1) > 0.33);
	release(in, 2);
	release(out, 2);
	pm_cast_report_release(&r);
	pm_graph_free(c);
	pm_graph_free(g);
}

/* A model with QuantizeLinear and DequantizeLinear gives the integers of before. */
static void integers_are_the_same(void **state)
{
	static const char *const text =
		"qdq (float[4,8] x) => (int8[4,8] q, int8[4,8] r, float[4,8] y) "
		"<float s = {0.017}, int8 z = {3}, float t = {0.031}, int8 w0 = {0}, int8[8,8] w = {"
		"1,-2,3,-4,5,-6,7,-8,9,10,-11,12,13,-14,15,16,17,18,-19,20,21,22,-23,24,25,-26,27,28,29,30,-"
		"31,32,"
		"33,34,35,-36,37,38,39,-40,41,42,-43,44,45,46,47,-48,49,50,51,-52,53,54,55,56,57,-58,59,60,"
		"61,62,-63,64}> "
		"{ q = QuantizeLinear(x, s, z)\n d = DequantizeLinear(q, s, z)\n wd = DequantizeLinear(w, s, "
		"w0)\n"
		" m = MatMul(d, wd)\n h = Relu(m)\n r = QuantizeLinear(h, t, z)\n e = DequantizeLinear(r, t, "
		"z)\n y = Tanh(e) }";
	PmGraph *g = pm_test_graph(text);

	(void)state;
	for (int k = 0; k < 2; k++) {
		PmCastReport r;
		PmGraph *c = cast_of(g, halves[k], 0, &r);
		PmTensor in[1], want[3], got[3];

		assert_int_equal(pm_value_type(c, pm_graph_input(c, 0))->dtype, PM_F32);
		assert_int_equal(pm_value_type(c, pm_graph_output(c, 2))->dtype, halves[k]);
		assert_int_equal(pm_inputs_make(g, 5, PM_INPUTS_NORMAL, in, NULL), PM_OK);
		run_ref(g, in, want);
		run_ref(c, in, got);
		for (int o = 0; o < 2; o++)
			assert_memory_equal(want[o].data, got[o].data, want[o].bytes);
		release(in, 1);
		release(want, 3);
		release(got, 3);
		pm_cast_report_release(&r);
		pm_graph_free(c);
	}
	pm_graph_free(g);
}

/* ---- random graphs ---- */

/* Every graph can be cast, is verified, and can be cast back: then nothing of a half type is left. */
static void random_graphs(void **state)
{
	size_t n_cast = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 5 + (int)(seed % 40), .symbols = (int)(seed % 2) };
		PmGraph *g = gen_graph(&o);

		for (int keep_io = 0; keep_io < 2; keep_io++) {
			PmCastReport r, back;
			PmGraph *c = cast_of(g, halves[seed / 2 % 2], keep_io, &r), *f;

			f = cast_of(c, PM_F32, 0, &back);
			n_cast += r.results;
			for (size_t i = 0; i < pm_graph_n_outputs(f); i++) {
				int dtype = pm_value_type(f, pm_graph_output(f, i))->dtype;

				assert_true(dtype != PM_F16 && dtype != PM_BF16);
			}
			pm_cast_report_release(&r);
			pm_cast_report_release(&back);
			pm_graph_free(c);
			pm_graph_free(f);
		}
		pm_graph_free(g);
	}
	assert_true(n_cast > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(models_agree),        cmocka_unit_test(most_is_cast),
		cmocka_unit_test(each_reason),         cmocka_unit_test(tiny_and_huge_numbers_work),
		cmocka_unit_test(absent_weights_stay), cmocka_unit_test(integers_are_the_same),
		cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests_name("cast", tests, NULL, NULL);
}
