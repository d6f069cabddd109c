/* SPDX-License-Identifier: Apache-2.0 */
/* test_torch.c - graphs as PyTorch modules: the text of every operator in the table, of operands and
 * attributes, and the folder around it. What the text computes is checked where PyTorch is
 * (tools/bench/torch_bench.py --check). */
#include "base/core/json.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/torch/torch_export.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The lines of forward. */
static void becomes(const char *graph, const char *const *lines)
{
	PmGraph *g = pm_test_graph(graph);
	PmStr out = PM_STR_INIT;
	const char *at;
	PmErr err;

	pm_err_init(&err);
	if (pm_torch_module(g, &out, &err))
		fail_msg("%s: %s", graph, err.text);
	at = strstr(out.s, "class GraphModule");
	for (; *lines; lines++) {
		const char *hit = at ? strstr(at, *lines) : NULL;

		if (!hit)
			fail_msg("%s\nlacks, in its place: %s", strstr(out.s, "class GraphModule"), *lines);
		at = hit + strlen(*lines);
	}
	pm_str_release(&out);
	pm_graph_free(g);
}

#define LINES(...)                                                                                           \
	(const char *const[])                                                                                \
	{                                                                                                    \
		__VA_ARGS__, NULL                                                                            \
	}

static void operands_and_attributes_stand_where_they_belong(void **state)
{
	(void)state;
	becomes("g (float[2,3] x, float[3] b) => (float[2,3] y) <float c = {0.5}, float[2,1] w = {1, 2}> { t "
		"= Add(x, b)\n u = "
		"Mul(t, c)\n y = Sub(u, w) }",
		LINES("def forward(self, in_0, in_1, w_0):\n",
		      "tmp_0 = in_0 + in_1;  in_0 = None;  in_1 = None\n",
		      "tmp_1 = tmp_0 * 0.5;  tmp_0 = None\n", "tmp_2 = tmp_1 - w_0;", "return (tmp_2,)\n"));
	becomes("g (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Mul(x, x)\n z = Neg(y) }",
		LINES("tmp_0 = in_0 * in_0;  in_0 = None\n", "tmp_1 = -tmp_0\n", "return (tmp_0, tmp_1,)\n"));
	becomes("g (float16[2,8] x) => (float16[4,4] y) <int64[2] s = {4, 4}> { t = LeakyRelu <alpha = 0.25> "
		"(x)\n y = "
		"Reshape(t, s) }",
		LINES("def forward(self, in_0):\n", "F.leaky_relu(in_0, 0.25)", "tmp_0.reshape((4, 4))"));
	becomes("g (bfloat16[2,8] x) => (bfloat16[2,3] a, bfloat16[2,5] b) { a, b = Split <axis = 1, split = "
		"[3, 5]> (x) }",
		LINES("tmp_0, tmp_1 = torch.split(in_0, (3, 5), 1)"));
	becomes("g (float[2,8] x) => (float16[2,1] y) { t = Cast <to = 10> (x)\n y = ReduceMean <axes = [1]> "
		"(t) }",
		LINES("in_0.to(torch.float16)", "torch.mean(tmp_0, (1,), 1 != 0)"));
	/* Types without a name in PyTorch's export were read from behind a table once. */
	becomes("g (float[2] x) => (int16[2] y) { y = Cast <to = 5> (x) }", LINES("in_0.to(torch.int16)"));
	becomes("g (float[2] x) => (uint64[2] y) { y = Cast <to = 13> (x) }", LINES("in_0.to(torch.uint64)"));
	becomes("g (float[4,3] x) => (float[4,3] y) { y = Clip(x) }", LINES("_clip(in_0, None, None)"));
	becomes("g (float[2,3] x) => (float[4,9] y) <int64[2] r = {2, 3}> { y = Tile(x, r) }",
		LINES("in_0.repeat((2, 3, ))"));
	becomes("g (float[2,4] a, float[2,4] b) => (float[2,8] y) { y = Concat <axis = 1> (a, b) }",
		LINES("torch.cat((in_0, in_1,), 1)"));
	becomes("g (float[2,3] x) => (float[2,3] y) <int64[2] n = {2, 3}> { c = ConstantOfShape <value = "
		"float[1] {0.5}> (n)\n y = Add(x, c) }",
		LINES("w_0.new_full((2, 3), 0.5, dtype=torch.float32)"));
	becomes("g (float[2,4] a, float[4,3] b) => (float[2,3] y) { y = Gemm <alpha = 0.5> (a, b) }",
		LINES("_gemm(in_0, in_1, None, 0.5, 1.0, 0, 0)"));
}

/* A number has no methods, and "5.expand" is not even Python: constants of rank 0 are written out only where
 * PyTorch takes a number and there is a tensor beside it. */
static void numbers_stand_where_numbers_may(void **state)
{
	(void)state;
	becomes("g (int64[2,3] x) => (int64[2,3] y) <int64 c = {5}, int64[2] s = {2, 3}> { t = Expand(c, "
		"s)\n y "
		"= Add(x, t) }",
		LINES("def forward(self, in_0, w_0):\n", "tmp_0 = w_0.expand((2, 3))", "in_0 + tmp_0"));
	becomes("g (int64[2,3] x) => (float[2,3] y) <int64 c = {5}> { t = Cast <to = 1> (c)\n u = Cast <to = "
		"1> "
		"(x)\n y = Add(t, u) }",
		LINES("w_0.to(torch.float32)", "tmp_0 + tmp_1"));
	becomes("g (float[2,3] x) => (float[2,3] y) <float c = {5}, float d = {2}> { t = Mul(c, d)\n u = "
		"Sub(c, "
		"x)\n v = Sqrt(t)\n y = Mul(u, v) }",
		LINES("def forward(self, in_0, w_0, w_1):\n", "tmp_0 = w_0 * w_1", "tmp_1 = 5.0 - in_0",
		      "torch.sqrt(tmp_0)"));
	becomes("g (float[2,3] x) => (float[2,3] y, float c) <float c = {5}> { y = Add(x, c) }",
		LINES("in_0 + 5.0", "return (tmp_0, w_0,)"));
	becomes("g (bool[2,3] x) => (float[2,3] y) <float c = {0}, float d = {-inf}> { y = Where(x, c, d) }",
		LINES("_where(in_0, 0.0, float('-inf'), torch.float32)"));
}

/* ONNX counts from the end below 0; PyTorch refuses that when it picks rows, and indices of 32 bits when it
 * picks elements. What cannot be negative costs no operation, since this text is timed. */
static void indices_are_those_that_pytorch_takes(void **state)
{
	(void)state;
	becomes("g (float[9,4] x, int64[3] a, int64[3] b) => (float[3,4] y) { i = Sub(a, b)\n y = Gather "
		"<axis "
		"= 0> (x, i) }",
		LINES("_gather(in_0, _front(tmp_0, 9), 0)"));
	becomes("g (float[9,4] x, int64[6] a) => (float[3,2,4] y) <int64[2] s = {3, 2}> { i = Reshape(a, "
		"s)\n y "
		"= Gather <axis = 0> (x, i) }",
		LINES("_gather(in_0, tmp_0, 0)"));
	becomes("g (float[9,4] x) => (float[9,2] y) <int64[2] i = {0, -1}> { y = Gather <axis = 1> (x, i) }",
		LINES("_gather(in_0, _front(w_0, 4), 1)"));
	becomes("g (float[9,4] x) => (float[9] y) <int64 i = {-1}> { y = Gather <axis = 1> (x, i) }",
		LINES("_gather(in_0, -1, 1)"));
	becomes("g (float[9,4] x, int32[2,4] i) => (float[2,4] y) { y = GatherElements <axis = 0> (x, i) }",
		LINES("torch.gather(in_0, 0, in_1.long())"));
	becomes("g (float[9,4] x, int64[2,4] a, float[2,4] u) => (float[9,4] y) { i = Neg(a)\n y = "
		"ScatterElements <axis = 0> (x, i, u) }",
		LINES("_scatter_elements(in_0, _front(tmp_0, 9), in_2, 0, \"none\")"));
}

/* Where frameworks read the same places; see which of their two kinds of nearest it is. */
static void resizes_are_interpolations(void **state)
{
	static const struct {
		const char *shape, *to, *attrs, *words;
	} rows[] = {
		{ "1,2,3,5", "1,2,6,10",
		  "mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
		  "nearest_mode = \"floor\"",
		  "F.interpolate(in_0, size=(6, 10, ), mode=\"nearest\")" },
		{ "1,2,9,15", "1,2,4,7",
		  "mode = \"nearest\", coordinate_transformation_mode = \"half_pixel\", "
		  "nearest_mode = \"round_prefer_ceil\"",
		  "mode=\"nearest-exact\")" },
		{ "1,2,3,5", "1,2,7,4", "mode = \"linear\", coordinate_transformation_mode = \"half_pixel\"",
		  "size=(7, 4, ), mode=\"bilinear\", align_corners=False)" },
		{ "1,2,3", "1,2,8", "mode = \"linear\", coordinate_transformation_mode = \"align_corners\"",
		  "size=(8, ), mode=\"linear\", align_corners=True)" },
		{ "1,2,3,5", "1,2,7,4", "mode = \"cubic\"", "mode=\"bicubic\", align_corners=False)" },
		{ "1,2,3,5", "1,2,7,4", "mode = \"linear\", coordinate_transformation_mode = \"asymmetric\"",
		  NULL },
		{ "1,2,3,5", "1,2,7,4", "mode = \"cubic\", cubic_coeff_a = -0.5", NULL },
		{ "1,2,3,5", "1,3,7,4", "mode = \"linear\"", NULL },
		{ "1,2,3,5", "1,2,2,4", "mode = \"linear\", antialias = 1", NULL },
		{ "1,2,9,15", "1,2,4,7",
		  "mode = \"nearest\", coordinate_transformation_mode = \"asymmetric\", "
		  "nearest_mode = \"ceil\"",
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t rank = 1;
		PmStr text = PM_STR_INIT, out = PM_STR_INIT;
		PmGraph *g;
		PmErr err;

		for (const char *p = rows[i].shape; *p; p++)
			rank += *p == ',';
		pm_str_addf(&text,
			    "g (float[%s] x) => (float[%s] y) <int64[%zu] s = {%s}> { y = Resize <%s> (x, , "
			    ", s) }",
			    rows[i].shape, rows[i].to, rank, rows[i].to, rows[i].attrs);
		if (rows[i].words) {
			becomes(text.s, LINES(rows[i].words));
		} else {
			pm_err_init(&err);
			g = pm_test_graph(text.s);
			assert_int_equal(pm_torch_module(g, &out, &err), PM_E_UNSUPPORTED);
			assert_non_null(strstr(err.text, "Resize has no counterpart in PyTorch here: "));
			pm_graph_free(g);
		}
		pm_str_release(&text);
		pm_str_release(&out);
	}
}

static void what_has_no_counterpart_is_refused_by_name(void **state)
{
	static const struct {
		const char *graph, *words;
	} cases[] = {
		{ "g (float[2,3] x) => (float[2,3] y) { y = \"com.acme:Thing\"(x) }", "Thing" },
		{ "g (float[2,3] x, int64[2] r) => (float[2,3] y) { y = Tile(x, r) }",
		  "Operand 1 of Tile is computed" },
		{ "g (float[1,4,4] x) => (float[1,4,2] y, int64[1,4,2] i) { y, i = MaxPool <kernel_shape = "
		  "[2], strides = "
		  "[2], pads = [0, 0], dilations = [1]> (x) }",
		  "MaxPool with several results" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		PmGraph *g = NULL;
		PmStr out = PM_STR_INIT;
		PmErr err;

		pm_err_init(&err);
		g = pm_test_graph(cases[i].graph);
		assert_int_equal(pm_torch_module(g, &out, &err), PM_E_UNSUPPORTED);
		if (!strstr(err.text, cases[i].words))
			fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].words);
		pm_str_release(&out);
		pm_graph_free(g);
	}
}

static const cJSON *at(const cJSON *j, const char *list, int i)
{
	return cJSON_GetArrayItem(cJSON_GetObjectItem(j, list), i);
}

static void the_folder_holds_what_checking_needs(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[2,64] x, int64[3] i) => (float[3,64] y) <float[1,64] w = {"
		"1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,"
		"31,32,33,34,35,36,"
		"37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,"
		"64}> { t = Add(x, "
		"w)\n y = Gather <axis = 0> (t, i) }");
	PmTorchOpts o = { .name = "a \"graph\"", .graph = "abc", .seed = 3, .max_check = 1 << 20 };
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT, text = PM_STR_INIT, data = PM_STR_INIT;
	cJSON *j = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("torch", &dir, NULL), PM_OK);
	if (pm_torch_export(g, dir.s, &o, &err))
		fail_msg("%s", err.text);
	pm_path_join(dir.s, "case.json", &path);
	assert_int_equal(pm_read_file(path.s, 1 << 20, &text, NULL), PM_OK);
	if (pm_json_parse(text.s, text.len, &j, &err))
		fail_msg("%s", err.text);
	assert_string_equal(pm_json_str(j, "name", ""), "a \"graph\"");
	assert_string_equal(pm_json_str(j, "graph", ""), "abc");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "arguments")), 3);
	assert_string_equal(pm_json_str(at(j, "arguments", 2), "kind", ""), "constant");
	pm_str_clear(&path);
	pm_path_join(dir.s, "data.bin", &path);
	assert_int_equal(pm_read_file(path.s, 1 << 20, &data, NULL), PM_OK);
	{
		const char *p = data.s;
		const float *x = (const void *)(p + pm_json_i64(at(j, "arguments", 0), "offset", -1));
		const int64_t *i = (const void *)(p + pm_json_i64(at(j, "arguments", 1), "offset", -1));
		const float *w = (const void *)(p + pm_json_i64(at(j, "arguments", 2), "offset", -1));
		const float *y = (const void *)(p + pm_json_i64(at(j, "results", 0), "offset", -1));

		for (int k = 0; k < 3 * 64; k++)
			assert_true(y[k] == x[i[k / 64] * 64 + k % 64] + w[k % 64]);
	}
	cJSON_Delete(j);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&data);
	pm_graph_free(g);
}

/* Python reads all of it: helpers, names, numbers, quoting. */
static void python_reads_the_text(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[2,3] x) => (float[2,3] y) <float c = {inf}, float d = {nan}> { t = "
		"Min(x, c)\n u = Add(t, d)\n "
		"y = Gelu <approximate = \"tanh\"> (u) }");
	PmLimits lim = { .seconds = 30, .file_size = -1 };
	const char *argv[] = { "python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())", NULL };
	PmStr out = PM_STR_INIT;
	PmProcResult r;
	PmErr err;

	(void)state;
	pm_test_need_program("python3");
	pm_err_init(&err);
	assert_int_equal(pm_torch_module(g, &out, &err), PM_OK);
	if (pm_run(argv, out.s, out.len, &lim, &r, &err))
		fail_msg("%s", err.text);
	if (r.end != PM_PROC_EXITED || r.code)
		fail_msg("%s", r.errtext.s);
	pm_proc_result_release(&r);
	pm_str_release(&out);
	pm_graph_free(g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_and_attributes_stand_where_they_belong),
		cmocka_unit_test(numbers_stand_where_numbers_may),
		cmocka_unit_test(indices_are_those_that_pytorch_takes),
		cmocka_unit_test(resizes_are_interpolations),
		cmocka_unit_test(what_has_no_counterpart_is_refused_by_name),
		cmocka_unit_test(the_folder_holds_what_checking_needs),
		cmocka_unit_test(python_reads_the_text),
	};

	return cmocka_run_group_tests_name("torch", tests, NULL, NULL);
}
