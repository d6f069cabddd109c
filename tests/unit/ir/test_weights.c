/* SPDX-License-Identifier: Apache-2.0 */
/* test_weights.c - weights that a model does not ship: what they are made from, that they fit their use, and
 * that they survive printing, exporting and materialising. */
#include "base/sys/io.h"
#include "base/sys/threads.h"
#include "ir/data/weights.h"
#include "ir/onnx/onnx.h"
#include "ir/text/text.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/graphs/onnx_bytes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* One weight per role, with statistics of every kind. */
static const struct {
	const char *type, *name, *stats;
	int bytes;
} weights[] = {
	{ "float[4,3,3,3]", "w", "{'mean':0.001,'std':0.25,'source':'W'}", 432 },
	{ "float[4]", "gamma", "{'mean':3.0,'std':0.5}", 16 },
	{ "float[4]", "beta", "{'data':[1.5,-2,0.25,8]}", 16 },
	{ "float[4]", "mu", "{'mean':NaN,'std':NaN}", 16 },
	{ "float[4]", "var", "{'mean':24.5,'std':42.5,'min':0}", 16 },
	{ "float[4]", "var2", "{'mean':-1,'std':0.1}", 16 },
	{ "float[50,4]", "table", "{'mean':0.0,'std':0.0}", 800 },
	{ "int64[6]", "pick", "{'min':0,'max':999}", 48 },
	{ "float[4,1,1]", "bias", "{'mean':5,'std':0.1,'source':'some.other_tensor'}", 16 },
	{ "float[4,1,1]", "a_7", "{'mean':9,'std':0.1,'source':'L_self_bias'}", 16 },
};
enum { N_WEIGHTS = sizeof weights / sizeof *weights };

static const char body[] =
	"{\n c = Conv <dilations = [1, 1], group = 1, pads = [1, 1, 1, 1], strides = [1, 1]> (x, w)\n"
	" n = BatchNormalization <epsilon = 1e-5, momentum = 0.9, training_mode = 0> (c, gamma, beta, mu, "
	"var)\n"
	" z = BatchNormalization <epsilon = 1e-5, momentum = 0.9, training_mode = 0> (c, gamma, beta, mu, "
	"var2)\n"
	" r = Add (n, bias)\n y = Add (r, a_7)\n e = Gather <axis = 0> (table, pick)\n}\n";

/* The graph without its statistics is text; they are set as metadata. */
static PmGraph *model(void)
{
	PmStr text = PM_STR_INIT, stats = PM_STR_INIT;
	PmGraph *g = NULL;

	pm_str_add(&text, "g (float[1,3,8,8] x) => (float[1,4,8,8] y, float[6,4] e, float[1,4,8,8] z)\n<");
	for (int k = 0; k < N_WEIGHTS; k++) {
		pm_str_addf(&text,
			    "%s%s %s = [\"location\": \"w.bin\", \"offset\": \"0\", \"length\": \"%d\"]",
			    k ? ",\n " : "", weights[k].type, weights[k].name, weights[k].bytes);
		pm_str_addf(&stats, "%c\"%s\":%s", k ? ',' : '{', weights[k].name, weights[k].stats);
	}
	pm_str_addf(&text, ">\n%s", body);
	pm_str_addc(&stats, '}');
	for (char *c = stats.s; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	g = pm_test_graph(text.s);
	assert_int_equal(pm_graph_set_meta(g, "tensor_stats", stats.s, NULL), PM_OK);
	pm_str_release(&text);
	pm_str_release(&stats);
	return g;
}

static PmTensor weight(const PmGraph *g, const char *name)
{
	PmTensor t;
	PmErr err;

	pm_err_init(&err);
	if (pm_tensor_from_const(&t, g, pm_graph_find_value(g, name), &err))
		fail_msg("%s", err.text);
	return t;
}

static double mean_of(const PmGraph *g, const char *name)
{
	PmTensor t = weight(g, name);
	double sum = 0;
	int64_t n = pm_tensor_numel(&t);

	for (int64_t i = 0; i < n; i++)
		sum += pm_tensor_get(&t, i);
	pm_tensor_release(&t);
	return sum / (double)n;
}

static void every_weight_fits_its_role_and_statistics(void **state)
{
	static const double beta[] = { 1.5, -2, 0.25, 8 };
	PmGraph *g = model();
	PmWeightsReport r;
	PmTensor t;
	double sq = 0;

	(void)state;
	pm_weights_attach(g, &r);
	assert_int_equal(r.n, 10);
	assert_int_equal(r.bytes, 432 + 5 * 16 + 800 + 48 + 2 * 16);
	assert_int_equal(r.from[PM_LAW_STATS], 6); /* w gamma var table pick a_7 */
	assert_int_equal(r.from[PM_LAW_LITERAL], 1);
	assert_int_equal(r.from[PM_LAW_OTHER], 1);
	assert_int_equal(r.from[PM_LAW_UNFIT], 2); /* mu: no numbers; var2: negative */
	assert_int_equal(r.role[PM_ROLE_WEIGHT], 1);
	assert_int_equal(r.role[PM_ROLE_SCALE], 1);
	assert_int_equal(r.role[PM_ROLE_VARIANCE], 2);
	assert_int_equal(r.role[PM_ROLE_MEAN], 1);
	assert_int_equal(r.role[PM_ROLE_BIAS], 3);
	assert_int_equal(r.role[PM_ROLE_TABLE], 1);
	assert_int_equal(r.role[PM_ROLE_INDEX], 1);

	t = weight(g, "w");
	for (int64_t i = 0; i < 108; i++)
		sq += pm_tensor_get(&t, i) * pm_tensor_get(&t, i);
	assert_true(fabs(sqrt(sq / 108) - 0.25) < 0.05);
	pm_tensor_release(&t);
	assert_true(fabs(mean_of(g, "gamma") - 3) < 1);
	t = weight(g, "beta");
	for (int64_t i = 0; i < 4; i++)
		assert_true(pm_tensor_get(&t, i) == beta[i]);
	pm_tensor_release(&t);
	for (int k = 0; k < 2; k++) {
		t = weight(g, k ? "var2" : "var");
		for (int64_t i = 0; i < 4; i++)
			assert_true(pm_tensor_get(&t, i) > 0.1);
		pm_tensor_release(&t);
	}
	t = weight(g, "pick"); /* statistics go to 999, the table to 49 */
	for (int64_t i = 0; i < 6; i++)
		assert_in_range(pm_tensor_get_i(&t, i), 0, 49);
	pm_tensor_release(&t);
	t = weight(g, "table"); /* "0.0" is a rounded number, not zero */
	for (int64_t i = 0; i < 200; i++)
		assert_true(fabs(pm_tensor_get(&t, i)) < 0.001);
	assert_true(pm_tensor_get(&t, 0) != 0 && pm_tensor_get(&t, 0) != pm_tensor_get(&t, 1));
	pm_tensor_release(&t);
	assert_true(fabs(mean_of(g, "bias")) < 1);    /* another tensor's mean of 5 is not taken */
	assert_true(fabs(mean_of(g, "a_7") - 9) < 1); /* a renamed tensor's is */
	pm_graph_free(g);
}

static void import_allocates_nothing_and_names_differ(void **state)
{
	/* 4 TB of weights: made where they are read. */
	PmGraph *g = pm_test_graph(
		"g (float[1,1000000] x) => (float[1,1000000] y)\n<float[1000000,1000000] a = "
		"[\"location\": \"w.bin\", \"offset\": \"0\", \"length\": \"4000000000000\"], "
		"float[1000000,1000000] b = "
		"[\"location\": \"w.bin\", \"offset\": \"0\", \"length\": \"4000000000000\"]>\n"
		"{\n t = MatMul (x, a)\n y = MatMul (t, b)\n}\n");
	const PmBlob *a = pm_value_blob(g, pm_graph_find_value(g, "a"));
	const PmBlob *b = pm_value_blob(g, pm_graph_find_value(g, "b"));
	PmWeightsReport r;
	float x[4], y[4];

	(void)state;
	assert_false(pm_blob_readable(a));
	pm_weights_attach(g, &r);
	assert_int_equal(r.from[PM_LAW_NONE], 2);
	assert_true(pm_blob_readable(a) && !a->data);
	pm_blob_read(a, 3999999999984, 16, x);
	pm_blob_read(b, 3999999999984, 16, y);
	assert_true(memcmp(x, y, 16) != 0);
	assert_true(x[0] != 0 && fabsf(x[0]) < 0.004f); /* N(0, 1e-6) */
	pm_graph_free(g);
}

/* The graph after a way out and in again, with its weights made again. */
static void same_weights(const PmGraph *g, PmGraph *back)
{
	pm_weights_attach(back, NULL);
	for (int k = 0; k < N_WEIGHTS; k++) {
		PmTensor a = weight(g, weights[k].name), b = weight(back, weights[k].name);

		assert_int_equal(a.bytes, b.bytes);
		assert_memory_equal(a.data, b.data, a.bytes);
		pm_tensor_release(&a);
		pm_tensor_release(&b);
	}
	pm_graph_free(back);
}

static void weights_survive_text_and_onnx(void **state)
{
	PmGraph *g = model(), *back = NULL;
	PmStr text = PM_STR_INIT, onnx = PM_STR_INIT;

	(void)state;
	pm_weights_attach(g, NULL);
	assert_int_equal(pm_graph_print(g, NULL, &text, NULL), PM_OK);
	same_weights(g, pm_test_graph(text.s));
	assert_int_equal(pm_onnx_export_mem(g, &onnx, NULL), PM_OK);
	assert_int_equal(pm_onnx_import_mem(onnx.s, onnx.len, "m", NULL, &back, NULL, NULL), PM_OK);
	same_weights(g, back);
	pm_str_release(&text);
	pm_str_release(&onnx);
	pm_graph_free(g);
}

/* A graph that went to another process as text gets its makers (or their bytes) back by name. */
static void made_weights_are_bound_by_name(void **state)
{
	PmGraph *g = model(), *back;
	PmStr text = PM_STR_INIT;

	(void)state;
	pm_weights_attach(g, NULL);
	assert_int_equal(pm_graph_print(g, NULL, &text, NULL), PM_OK);
	back = pm_test_graph(text.s);
	assert_false(pm_blob_readable(pm_value_blob(back, pm_graph_find_value(back, "gamma"))));
	assert_int_equal(pm_graph_bind_consts(back, g, NULL), PM_OK);
	assert_true(pm_blob_readable(pm_value_blob(back, pm_graph_find_value(back, "gamma"))));
	same_weights(g, back);
	pm_str_release(&text);
	pm_graph_free(g);
}

static void run(const PmGraph *g, PmTensor out[3])
{
	int64_t dim[] = { 1, 3, 8, 8 };
	PmType t = pm_type(PM_F32, 4, dim);
	PmTensor x;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_tensor_init(&x, &t, NULL), PM_OK);
	for (int64_t i = 0; i < 192; i++)
		pm_tensor_set(&x, i, (double)(i % 11) - 5);
	if (pm_ref_run(g, &x, 1, out, 3, &err))
		fail_msg("%s", err.text);
	pm_tensor_release(&x);
}

/* Writes g with its weights, reads that back: no constant is absent, and ref gives the same. */
static void materialises(const char *from, const PmGraph *g, const char *dir, int external)
{
	PmOnnxFillOpts opts = { .external = external };
	PmOnnxFillReport r;
	PmOnnxReport in;
	PmStr path = PM_STR_INIT, first = PM_STR_INIT, second = PM_STR_INIT;
	PmTensor a[3], b[3];
	PmGraph *back = NULL;
	PmErr err;

	pm_err_init(&err);
	pm_path_join(dir, "full.onnx", &path);
	if (pm_onnx_materialize(from, g, path.s, &opts, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.n_filled, 10);
	assert_int_equal(r.n_made, 10);
	assert_int_equal(r.external, external);
	assert_int_equal(pm_read_file(path.s, 0, &first, NULL), PM_OK);
	if (pm_onnx_import(path.s, NULL, &back, &in, &err))
		fail_msg("%s", err.text);
	assert_int_equal(in.n_absent, 0);
	run(g, a);
	run(back, b);
	for (int k = 0; k < 3; k++) {
		assert_int_equal(a[k].bytes, b[k].bytes);
		assert_memory_equal(a[k].data, b[k].data, a[k].bytes);
		for (int64_t i = 0; i < pm_tensor_numel(&a[k]); i++)
			assert_true(isfinite(pm_tensor_get(&a[k], i)));
		pm_tensor_release(&a[k]);
		pm_tensor_release(&b[k]);
	}
	pm_graph_free(back);
	assert_int_equal(pm_onnx_materialize(from, g, path.s, &opts, NULL, NULL), PM_OK);
	assert_int_equal(pm_read_file(path.s, 0, &second, NULL), PM_OK);
	assert_int_equal(first.len, second.len);
	assert_memory_equal(first.s, second.s, first.len);
	pm_str_release(&path);
	pm_str_release(&first);
	pm_str_release(&second);
}

static void a_materialised_model_has_everything(void **state)
{
	PmGraph *g = model(), *read = NULL;
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmNames names = { 0 };

	(void)state;
	assert_int_equal(pm_temp_dir("weights", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "model.onnx", &path);
	assert_int_equal(pm_onnx_export(g, path.s, NULL), PM_OK);
	pm_weights_attach(g, NULL);
	materialises(NULL, g, dir.s, 0);
	materialises(NULL, g, dir.s, 1);
	assert_int_equal(pm_onnx_import(path.s, NULL, &read, NULL, NULL), PM_OK);
	pm_weights_attach(read, NULL);
	materialises(path.s, read, dir.s, 0);
	materialises(path.s, read, dir.s, 1);
	assert_int_equal(pm_list_dir(dir.s, &names, NULL), PM_OK);
	assert_int_equal(names.n, 3); /* model.onnx full.onnx full.onnx.data, nothing temporary */
	pm_names_release(&names);
	pm_graph_free(g);
	pm_graph_free(read);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
}

/* An initializer that no node uses is filled as well; the file would not load otherwise. */
static void unused_initializers_are_filled(void **state)
{
	PmStr gp = PM_STR_INIT, t = PM_STR_INIT, e = PM_STR_INIT, bytes = PM_STR_INIT, dir = PM_STR_INIT,
	      path = PM_STR_INIT, full = PM_STR_INIT;
	PmOnnxFillReport r;
	PmGraph *g = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_ob_int(&t, 1, 5);
	pm_ob_int(&t, 2, 1);
	pm_ob_str(&t, 8, "spare");
	pm_ob_str(&e, 1, "location");
	pm_ob_str(&e, 2, "nowhere.bin");
	pm_ob_msg(&t, 13, &e);
	pm_ob_int(&t, 14, 1);
	pm_ob_msg(&gp, 5, &t);
	pm_ob_graph(&gp, "i x float 2\no y\nn Relu x -> y");
	bytes = pm_ob_model(18, &gp);
	assert_int_equal(pm_temp_dir("weights", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "m.onnx", &path);
	pm_path_join(dir.s, "full.onnx", &full);
	assert_int_equal(pm_write_file(path.s, bytes.s, bytes.len, NULL), PM_OK);
	if (pm_onnx_import(path.s, NULL, &g, NULL, &err))
		fail_msg("%s", err.text);
	if (pm_onnx_materialize(path.s, g, full.s, NULL, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.n_filled, 1);
	assert_int_equal(r.bytes, 20);
	pm_graph_free(g);
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&bytes);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&full);
}

/* Another process makes the same elements from it, and what is no recipe makes none. */
static void a_recipe_makes_the_same_weights(void **state)
{
	PmGraph *g = model();

	(void)state;
	pm_weights_attach(g, NULL);
	for (size_t k = 0; k < N_WEIGHTS; k++) {
		const PmBlob *b = pm_value_blob(g, pm_graph_find_value(g, weights[k].name));
		size_t n = (size_t)weights[k].bytes, half = n / 16 * 8;
		char one[1024], two[1024];
		PmStr recipe = PM_STR_INIT;
		PmBlob *again;

		assert_int_equal(pm_weights_recipe(b, &recipe), 1);
		again = pm_weights_from_recipe(recipe.s, recipe.len, n);
		assert_non_null(again);
		assert_int_equal(again->size, n);
		pm_blob_read(b, 0, n, one);
		pm_blob_read(again, 0, n, two);
		assert_memory_equal(one, two, n);
		pm_blob_read(again, half, n - half, two);
		assert_memory_equal(one + half, two, n - half);
		assert_null(pm_weights_from_recipe(recipe.s, recipe.len - 1, n));
		assert_null(pm_weights_from_recipe(recipe.s, recipe.len, n + 1));
		assert_null(pm_weights_from_recipe(recipe.s, 7, n));
		pm_blob_unref(again);
		pm_str_release(&recipe);
	}
	pm_graph_free(g);
}

/* The first piece and the last are made by other threads than those between. */
static void threads_make_what_one_makes(void **state)
{
	enum { N = 200001 };
	PmSynth s = { .law = PM_SYNTH_NORMAL, .dtype = PM_F32, .seed = 3, .std = 2, .lo = -9, .hi = 9 };
	float *one = malloc(N * sizeof *one), *some = malloc(N * sizeof *some);

	(void)state;
	pm_synth_ready(&s);
	pm_threads_limit(1);
	pm_synth_fill(&s, 5, N, one);
	pm_threads_limit(4);
	pm_synth_fill(&s, 5, N, some);
	pm_threads_limit(0);
	assert_memory_equal(one, some, N * sizeof *one);
	free(one);
	free(some);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_weight_fits_its_role_and_statistics),
		cmocka_unit_test(import_allocates_nothing_and_names_differ),
		cmocka_unit_test(weights_survive_text_and_onnx),
		cmocka_unit_test(made_weights_are_bound_by_name),
		cmocka_unit_test(a_materialised_model_has_everything),
		cmocka_unit_test(unused_initializers_are_filled),
		cmocka_unit_test(a_recipe_makes_the_same_weights),
		cmocka_unit_test(threads_make_what_one_makes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
