/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_trip.c - export and import undo each other; functions, nested graphs and data files on the way.
 */
#include "base/sys/io.h"
#include "ir/core/element.h"
#include "ir/core/kernel.h"
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/graphs/onnx_bytes.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static PmOnnxReport report;

static PmGraph *import_ok(const PmStr *m)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_import_mem(m->s, m->len, "m", NULL, &g, &report, &err))
		fail_msg("%s", err.text);
	return g;
}

static void print(const PmGraph *g, PmStr *out)
{
	PmErr err;

	pm_err_init(&err);
	pm_str_clear(out);
	if (pm_graph_print(g, NULL, out, &err))
		fail_msg("%s", err.text);
}

/* Written and read again, the graph prints the same and is written to the same bytes. */
static void survives(const PmGraph *g, const char *what)
{
	PmStr a = PM_STR_INIT, b = PM_STR_INIT, first = PM_STR_INIT, second = PM_STR_INIT;
	PmGraph *h = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_onnx_export_mem(g, &first, &err) ||
	    pm_onnx_import_mem(first.s, first.len, what, NULL, &h, NULL, &err) ||
	    pm_onnx_export_mem(h, &second, &err))
		fail_msg("%s: %s", what, err.text);
	print(g, &a);
	print(h, &b);
	assert_string_equal(a.s, b.s);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.s, second.s, first.len);
	pm_graph_free(h);
	pm_str_release(&a);
	pm_str_release(&b);
	pm_str_release(&first);
	pm_str_release(&second);
}

static void graphs_from_text_survive(void **state)
{
	static const char *const texts[] = {
		"g (float[N,8] x) => (float[N,8] y) <float[8] b = {1, 2, 3, 4, 5, 6, 7, -0.5}, int8[2] "
		"unused = {1, -2}> "
		"{ t = Relu (x) [named] y = Add (t, b) }",
		"g (float16[2,6] x) => (float16[2,3] a, float16[2,3] y) <float16 lo = {-1}, bool[2] f = {1, "
		"0}> "
		"{ a, b = Split <axis = 1, split = [3, 3]> (x) c = Clip (b, lo) y = Slice <starts = [0], "
		"ends = [9], "
		"axes = [0], steps = [1]> (c) }",
		"g (float[2,3] x) => (float[2,3] y) { s = Shape <end = 9223372036854775807> (x) r = Reshape "
		"(x, s) "
		"m = ReduceMean <axes = [1], keepdims = 0> (r) u = Unsqueeze <axes = [1]> (m) dead = Neg (x) "
		"y = Sub (x, u) }",
		"g (float[1,2,5] x, float[4,2,3] w) => (float[1,4,1] y) { c = Conv <strides = [1], pads = "
		"[1, 1], "
		"dilations = [1]> (x, w) p = Pad <pads = [0, 0, 1, 0, 0, 0]> (c) y = AveragePool "
		"<kernel_shape = [3], "
		"strides = [2], pads = [0, 0], dilations = [2]> (p) }",
		"g (double[3] x) => (double[3] y) { g1 = Gelu (x) y = Cast <to = 11> (g1) }",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof texts / sizeof *texts; i++) {
		PmGraph *g = pm_test_graph(texts[i]);

		survives(g, texts[i]);
		pm_graph_free(g);
	}
}

static void folder_survives(const char *folder, const char *suffix)
{
	PmNames names = { 0 };
	PmStr path = PM_STR_INIT;
	size_t i, done = 0;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_list_dir(folder, &names, NULL), PM_OK);
	for (i = 0; i < names.n; i++) {
		PmGraph *g = NULL;

		if (!pm_str_ends(names.v[i], suffix))
			continue;
		pm_str_clear(&path);
		pm_path_join(folder, names.v[i], &path);
		if (pm_onnx_import(path.s, NULL, &g, &report, &err))
			fail_msg("%s", err.text);
		survives(g, names.v[i]);
		pm_graph_free(g);
		done++;
	}
	assert_true(done > 0);
	pm_names_release(&names);
	pm_str_release(&path);
}

static void core_models_survive(void **state)
{
	(void)state;
	pm_test_need_path("../shared/models/core");
	folder_survives("../shared/models/core", ".onnx");
}

static void old_models_survive(void **state)
{
	(void)state;
	pm_test_need_path("../shared/models/onnx-light");
	folder_survives("../shared/models/onnx-light", ".onnx");
}

static void kernels_survive(void **state)
{
	PmGraph *g = pm_test_graph("g (float[4] x) => (float[4] y) { r = Relu (x) y = Neg (r) }");
	PmGraph *body = pm_test_graph("b (float[4] p) => (float[4] q) { q = Exp (p) }");
	PmKernelDesc d = { .name = "rule", .n_alts = 1, .body = body };
	PmKArg args[2] = { { .kind = PM_KARG_IN }, { .kind = PM_KARG_OUT } };
	PmKLaunch launch = {
		.entry = "k", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .n_args = 2, .args = args
	};
	PmValue x = pm_graph_input(g, 0);
	PmErr err;
	PmNode n;

	(void)state;
	pm_err_init(&err);
	d.alts[0].source = "extern \"C\" __global__ void k(const T *x, T *y) { }";
	d.alts[0].n_launches = 1;
	d.alts[0].launches = &launch;
	if (pm_kernel_add(g, &d, &x, 1, &n, &err) || pm_graph_add_output(g, pm_node_out(g, n, 0), &err))
		fail_msg("%s", err.text);
	survives(g, "kernel");
	pm_graph_free(body);
	pm_graph_free(g);
}

/* ---- functions ---- */

static void add_function(PmStr *m, const char *name, const char *input, const char *output, const char *op,
			 const char *attr_ref)
{
	PmStr f = PM_STR_INIT, node = PM_STR_INIT, set = PM_STR_INIT;

	pm_ob_str(&f, 1, name);
	pm_ob_str(&f, 4, input);
	pm_ob_str(&f, 5, output);
	pm_ob_str(&node, 1, input);
	pm_ob_str(&node, 2, "inner");
	pm_ob_str(&node, 4, op);
	if (attr_ref) {
		PmStr a = PM_STR_INIT;

		pm_ob_str(&a, 1, "axis");
		pm_ob_str(&a, 21, attr_ref);
		pm_ob_int(&a, 20, 2);
		pm_ob_msg(&node, 5, &a);
	}
	pm_ob_msg(&f, 7, &node);
	pm_ob_str(&node, 1, "inner");
	pm_ob_str(&node, 2, output);
	pm_ob_str(&node, 4, "Relu");
	pm_ob_msg(&f, 7, &node);
	pm_ob_int(&set, 2, 18);
	pm_ob_msg(&f, 9, &set);
	pm_ob_str(&f, 10, "my");
	pm_ob_msg(m, 25, &f);
}

static void functions_are_inlined(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 2,3\no z\nn my:F x -> y dim=-1\nn my:F y -> z dim=0"),
	      s = PM_STR_INIT;
	PmGraph *g;

	(void)state;
	add_function(&m, "F", "a", "b", "Softmax", "dim");
	g = import_ok(&m);
	print(g, &s);
	assert_non_null(strstr(s.s, "{\n   \"y/inner\" = Softmax <axis = 1> (x)\n   y = Relu (\"y/inner\")\n"
				    "   \"z/inner\" = Softmax <axis = 0> (y)\n   z = Relu (\"z/inner\")\n}"));
	survives(g, "functions");
	pm_graph_free(g);
	pm_str_release(&m);
	pm_str_release(&s);
}

static void endless_functions_are_refused(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 2,3\no y\nn my:F x -> y"), node = PM_STR_INIT, f = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_ob_str(&f, 1, "F");
	pm_ob_str(&f, 4, "a");
	pm_ob_str(&f, 5, "b");
	pm_ob_str(&node, 1, "a");
	pm_ob_str(&node, 2, "b");
	pm_ob_str(&node, 4, "F");
	pm_ob_str(&node, 7, "my");
	pm_ob_msg(&f, 7, &node);
	pm_ob_str(&f, 10, "my");
	pm_ob_msg(&m, 25, &f);
	assert_int_equal(pm_onnx_import_mem(m.s, m.len, "m", NULL, &g, NULL, &err), PM_E_LIMIT);
	assert_non_null(strstr(
		err.text, "Function calls are nested deeper than 32 at node 0 (F -> 'b'); recursion is not "
			  "allowed in ONNX."));
	pm_str_release(&m);
}

/* ---- opaque nodes ---- */

/* y = If (c) with branches Exp(t) and Abs(t): a node message. */
static void branches_on_t(PmStr *node)
{
	const char *const names[2] = { "then_branch", "else_branch" };

	pm_ob_str(node, 1, "c");
	pm_ob_str(node, 2, "y");
	pm_ob_str(node, 4, "If");
	for (int k = 0; k < 2; k++) {
		PmStr branch = PM_STR_INIT, a = PM_STR_INIT;

		pm_ob_graph(&branch, k ? "o q\nn Abs t -> q" : "o q\nn Exp t -> q");
		pm_ob_str(&a, 1, names[k]);
		pm_ob_msg(&a, 6, &branch);
		pm_ob_int(&a, 20, 5);
		pm_ob_msg(node, 5, &a);
	}
}

/* If with branches that take `t` from outside; `t` is renamed between import and export. */
static void nested_graphs_keep_what_they_capture(void **state)
{
	PmStr g = PM_STR_INIT, node = PM_STR_INIT, m, s = PM_STR_INIT, bytes = PM_STR_INIT;
	PmGraph *graph, *again;

	(void)state;
	pm_ob_graph(&g, "i x float 2\ni c bool -\no y float 2\nn Neg x -> t");
	branches_on_t(&node);
	pm_ob_msg(&g, 1, &node);
	m = pm_ob_model(18, &g);
	graph = import_ok(&m);
	assert_int_equal(report.n_opaque_nodes, 1);
	survives(graph, "captures");
	assert_int_equal(pm_value_set_name(graph, pm_graph_find_value(graph, "t"), "renamed", NULL), PM_OK);
	assert_int_equal(pm_onnx_export_mem(graph, &bytes, NULL), PM_OK);
	again = import_ok(&bytes);
	print(again, &s);
	assert_non_null(strstr(s.s, "captures = [\"renamed\"]"));
	assert_non_null(strstr(s.s, "(c, renamed)"));
	pm_graph_free(graph);
	pm_graph_free(again);
	pm_str_release(&m);
	pm_str_release(&s);
	pm_str_release(&bytes);
}

/* `t` is folded: the constant in its place keeps the name that the branches know. */
static void what_is_captured_and_folded_keeps_its_name(void **state)
{
	PmStr g = PM_STR_INIT, node = PM_STR_INIT, m, s = PM_STR_INIT;
	PmGraph *graph;

	(void)state;
	pm_ob_graph(&g, "i x int16 0\ni c bool -\no y float 2\nn Neg x -> t");
	branches_on_t(&node);
	pm_ob_msg(&g, 1, &node);
	m = pm_ob_model(18, &g);
	graph = import_ok(&m);
	print(graph, &s);
	assert_non_null(strstr(s.s, "int16[0] t = {}"));
	survives(graph, "captured and folded");
	pm_graph_free(graph);
	pm_str_release(&m);
	pm_str_release(&s);
}

static void spec_survives(int64_t opset, const char *spec)
{
	PmStr m = pm_ob_spec(opset, spec);
	PmGraph *g = import_ok(&m);

	survives(g, spec);
	pm_graph_free(g);
	pm_str_release(&m);
}

/* Found by fuzzing: what one node needs raises the opset that all are written in. */
static void unknown_nodes_follow_the_opset(void **state)
{
	(void)state;
	spec_survives(18, "i x float 1,4,3\ni s float 2\ni b float 2\no y\no z\nn Unknown x -> y\n"
			  "n GroupNormalization x,s,b -> z num_groups=2");
}

/* Found by fuzzing: the shape of a scalar, a list of nothing, is known from the start. */
static void empty_shapes_are_known(void **state)
{
	(void)state;
	spec_survives(18, "i x float -\no q\nn Shape x -> s\nn Squeeze x,s -> q");
}

/* Found by fuzzing: inlining makes copies; of a value without a type they were read as opaque nodes. */
static void copies_of_unknown_values_live_on(void **state)
{
	PmStr g = PM_STR_INIT, m;
	PmGraph *in;

	(void)state;
	spec_survives(
		18, "i x float 2\no z float 2\no u\nn Unknown x -> y\nn Identity y -> z\nn Identity y -> u\n"
		    "n Relu z -> r\n");
	pm_ob_graph(&g, "i x float 2\no z\no y\nn my:F x -> z\nn my:F x -> y");
	m = pm_ob_model(18, &g);
	add_function(&m, "F", "a", "b", "Unknown", "dim");
	in = import_ok(&m);
	survives(in, "copies");
	pm_graph_free(in);
	pm_str_release(&m);
}

static void foreign_constants_live_on(void **state)
{
	PmStr m = pm_ob_spec(18, "w w complex64 1 1 2\no y float 2\nn Cast w -> y to=1");
	PmGraph *g = import_ok(&m);

	(void)state;
	assert_int_equal(report.n_opaque_nodes, 2);
	assert_string_equal(report.opaque[0].why, "element type complex64 is not supported");
	assert_string_equal(report.opaque[1].why, "the type of operand 0 is not known");
	survives(g, "complex64");
	pm_graph_free(g);
	pm_str_release(&m);
}

static void foreign_types_of_results_live_on(void **state)
{
	PmStr m = pm_ob_spec(18, "i x float 2\no y string 2\nn Cast x -> y to=8"), s = PM_STR_INIT,
	      out = PM_STR_INIT;
	PmGraph *g = import_ok(&m);
	int found = 0;
	size_t i;

	(void)state;
	print(g, &s);
	assert_non_null(strstr(s.s, "type_0 = "));
	survives(g, "string");
	assert_int_equal(pm_onnx_export_mem(g, &out, NULL), PM_OK);
	/* elem_type 8, one dimension of size 2 */
	for (i = 0; i + 8 <= out.len; i++)
		found |= memcmp(out.s + i, "\x08\x08\x12\x04\x0a\x02\x08\x02", 8) == 0;
	assert_true(found);
	pm_graph_free(g);
	pm_str_release(&m);
	pm_str_release(&s);
	pm_str_release(&out);
}

static int64_t written_opset(const char *text)
{
	PmGraph *g = NULL, *h;
	PmStr m = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err) || pm_onnx_export_mem(g, &m, &err))
		fail_msg("%s", err.text);
	survives(g, text);
	h = import_ok(&m);
	pm_graph_free(g);
	pm_graph_free(h);
	pm_str_release(&m);
	return report.opset;
}

/* ONNX lets these compute in bfloat16 from then on only. */
static void bfloat16_raises_the_opset_where_it_must(void **state)
{
	(void)state;
	assert_int_equal(
		written_opset(
			"m (bfloat16[1,2,4,4] x, bfloat16[3,2,1,1] w) => (bfloat16[1,3,4,4] y) "
			"{ y = Conv <strides = [1, 1], dilations = [1, 1], pads = [0, 0, 0, 0]> (x, w) }"),
		22);
	assert_int_equal(written_opset("m (float16[4] x) => (float16[4] y) { y = Cos (x) }"), 18);
	assert_int_equal(written_opset("m (bfloat16[4] x) => (bfloat16[4] y) { y = Cos (x) }"), 22);
	assert_int_equal(written_opset("m (bfloat16[4] x) => (bool[4] y) { y = IsInf (x) }"), 20);
	assert_int_equal(written_opset("m (bfloat16[4] x) => (bfloat16[4] y) { y = Exp (x) }"), 18);
	assert_int_equal(written_opset("m (float16[4] x) => (float16[4] y) { y = Celu (x) }"), 28);
	assert_int_equal(
		written_opset(
			"m (bfloat16[4] x) => (bfloat16[4] y) { y = Einsum <equation = \"i->i\"> (x) }"),
		28);
	assert_int_equal(written_opset("m (int32[4] x) => (int32[4] y) { y = BitShift (x, x) }"), 28);
	assert_int_equal(written_opset("m (uint32[4] x) => (uint32[4] y) { y = BitShift (x, x) }"), 18);
	assert_int_equal(written_opset("m (float[4] x) => (float[4] y) { y = Mod (x, x) }"), 28);
	assert_int_equal(written_opset("m (float[4] x) => (float[4] y) { y = Mod <fmod = 1> (x, x) }"), 18);
	assert_int_equal(written_opset("m (float16 x) => (float16[N] y) { y = Range (x, x, x) }"), 27);
}

/* ---- external data ---- */

static PmStr model_of_two(const char *location, int64_t second_offset)
{
	PmStr g = PM_STR_INIT;
	int k;

	for (k = 0; k < 2; k++) {
		PmStr t = PM_STR_INIT, e = PM_STR_INIT, number = PM_STR_INIT;

		pm_ob_int(&t, 1, 2);
		pm_ob_int(&t, 2, 1);
		pm_ob_str(&t, 8, k ? "b" : "a");
		pm_ob_str(&e, 1, "location");
		pm_ob_str(&e, 2, location);
		pm_ob_msg(&t, 13, &e);
		pm_str_addf(&number, "%lld", (long long)(k ? second_offset : 0));
		pm_ob_str(&e, 1, "offset");
		pm_ob_str(&e, 2, number.s);
		pm_ob_msg(&t, 13, &e);
		pm_ob_int(&t, 14, 1);
		pm_ob_msg(&g, 5, &t);
		pm_str_release(&number);
	}
	pm_ob_graph(&g, "o y\nn Add a,b -> y");
	return pm_ob_model(18, &g);
}

static PmStatus import_beside(const char *dir, const char *location, int64_t offset, PmGraph **g, PmErr *err)
{
	PmStr m = model_of_two(location, offset), path = PM_STR_INIT;
	PmStatus st;

	pm_path_join(dir, "m.onnx", &path);
	assert_int_equal(pm_write_file(path.s, m.s, m.len, NULL), PM_OK);
	pm_err_init(err);
	st = pm_onnx_import(path.s, NULL, g, &report, err);
	pm_str_release(&m);
	pm_str_release(&path);
	return st;
}

static void data_files_are_shared_and_confined(void **state)
{
	static const float data[4] = { 1, 2, 3, 4 };
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	const PmBlob *a, *b;
	PmGraph *g = NULL;
	double v[2];
	size_t n;
	PmErr err;

	(void)state;
	assert_int_equal(pm_temp_dir("onnx", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "w.bin", &path);
	assert_int_equal(pm_write_file(path.s, data, sizeof data, NULL), PM_OK);
	assert_int_equal(import_beside(dir.s, "w.bin", 8, &g, &err), PM_OK);
	a = pm_value_blob(g, pm_graph_find_value(g, "a"));
	b = pm_value_blob(g, pm_graph_find_value(g, "b"));
	assert_ptr_equal((const char *)a->data + 8, b->data);
	assert_int_equal(pm_value_const_floats(g, pm_graph_find_value(g, "b"), v, 2, &n), PM_OK);
	assert_true(v[0] == 3 && v[1] == 4);
	assert_int_equal(report.n_absent, 0);
	pm_graph_free(g);
	assert_int_equal(import_beside(dir.s, "w.bin", 12, &g, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text,
			       "Tensor 'b' ends at byte 20 of 'w.bin', which has only 16; the data file is "
			       "truncated, fetch it again."));
	assert_int_equal(import_beside(dir.s, "other.bin", 8, &g, &err), PM_OK);
	assert_int_equal(report.n_absent, 2);
	survives(g, "absent");
	pm_graph_free(g);
	pm_str_clear(&path);
	pm_path_join(dir.s, "link.bin", &path);
	assert_int_equal(symlink("/etc/hostname", path.s), 0);
	assert_int_equal(import_beside(dir.s, "link.bin", 0, &g, &err), PM_E_INVALID);
	assert_non_null(strstr(
		err.text, "a link that leaves the model's folder; put the file itself beside the model."));
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
}

/* ---- tensors ---- */

static void tensors_of_every_type_survive(void **state)
{
	int dtype, many;

	(void)state;
	for (dtype = 0; dtype < PM_N_DTYPES; dtype++) {
		for (many = 0; many < 2; many++) {
			int64_t dim[2] = { many ? 700 : 3, 2 };
			PmType t = pm_type((PmDType)dtype, 2, dim), got;
			size_t size = (size_t)(dim[0] * dim[1]) * pm_dtype_size(dtype), i;
			unsigned char *p = pm_xmalloc(size);
			PmBlob *blob, *back = NULL;
			PmStr out = PM_STR_INIT;
			char name[8];

			for (i = 0; i < size; i++) {
				p[i] = dtype == PM_BOOL ? i % 2 : (unsigned char)(i * 37 + 1);
				if (pm_dtype_is_narrow(dtype) && pm_dtype_is_int(dtype))
					pm_int_store(dtype, p + i, p[i]);
				else if (pm_dtype_is_narrow(dtype))
					p[i] &= (unsigned char)((1 << pm_dtype_bits(dtype)) - 1);
			}
			blob = pm_blob_take(p, size);
			assert_int_equal(pm_onnx_tensor_write("t", &t, blob, &out, NULL), PM_OK);
			assert_int_equal(
				pm_onnx_tensor_read(out.s, out.len, name, sizeof name, &got, &back, NULL),
				PM_OK);
			assert_string_equal(name, "t");
			assert_true(pm_type_equal(&t, &got));
			assert_int_equal(back->size, size);
			assert_memory_equal(back->data, p, size);
			pm_blob_unref(blob);
			pm_blob_unref(back);
			pm_str_release(&out);
		}
	}
	assert_int_equal(pm_dtype_from_onnx(8), -1); /* string */
	assert_int_equal(pm_dtype_to_onnx(-1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_from_text_survive),
		cmocka_unit_test(core_models_survive),
		cmocka_unit_test(old_models_survive),
		cmocka_unit_test(kernels_survive),
		cmocka_unit_test(functions_are_inlined),
		cmocka_unit_test(unknown_nodes_follow_the_opset),
		cmocka_unit_test(bfloat16_raises_the_opset_where_it_must),
		cmocka_unit_test(empty_shapes_are_known),
		cmocka_unit_test(copies_of_unknown_values_live_on),
		cmocka_unit_test(endless_functions_are_refused),
		cmocka_unit_test(nested_graphs_keep_what_they_capture),
		cmocka_unit_test(what_is_captured_and_folded_keeps_its_name),
		cmocka_unit_test(foreign_constants_live_on),
		cmocka_unit_test(foreign_types_of_results_live_on),
		cmocka_unit_test(data_files_are_shared_and_confined),
		cmocka_unit_test(tensors_of_every_type_survive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
