/* SPDX-License-Identifier: Apache-2.0 */
/* test_rt_session.c - sessions of libpassmith_rt on emu: shapes, pieces, half types, bindings that are
 * refused, weights in other files, threads, and memory that does not grow. */
#include "tests/lib/device/package.h"

#include "base/sys/io.h"
#include "bench/inputs/inputs.h"
#include "rt/package.h"
#include "tests/lib/held.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 8, RUNS = 150 };

static const char rows[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
			   "rows (float[n,6] x, float[6,4] w) => (float[n,4] y, float[n,6] e)\n"
			   "{ t = MatMul (x, w)\n y = Softmax <axis = 1> (t)\n e = Exp (x) }\n";
static const char mixed[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
			    "mixed (float[n,6] x) => (float[n,6] y)\n"
			    "{ m = ReduceMean <axes = [0], keepdims = 1> (x)\n y = Sub (x, m) }\n";
static const char halves[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
			     "halves (%s[4,16] x, %s[16,8] w) => (%s[4,8] y, int64[4,8] i)\n"
			     "{ t = MatMul (x, w)\n y = Gelu (t)\n i = Cast <to = 7> (y) }\n";

static PmRtModel *open_model(const TestPackage *p)
{
	PmRtModel *m = NULL;
	PmRtError e;

	if (pm_rt_open(p->path, "emu", &m, &e))
		fail_msg("%s", e.text);
	return m;
}

static PmRtSession *open_session(PmRtModel *m)
{
	PmRtSession *s = NULL;
	PmRtError e;

	if (pm_rt_session_new(m, &s, &e))
		fail_msg("%s", e.text);
	return s;
}

/* Every shape of `text`, whose only symbol is n. */
static void make_rows(const char *text, const int64_t *n, size_t n_shapes, const char *pieces,
		      TestPackage *out)
{
	PmDimSize dim[TEST_SHAPES];
	PmCompileShape shape[TEST_SHAPES];
	PmCompileAsk ask = { .model = test_model_file("rows", text),
			     .deadline = 60,
			     .emu = 1,
			     .jobs = 2,
			     .shape = shape,
			     .n_shapes = n_shapes,
			     .pieces = pieces };

	for (size_t k = 0; k < n_shapes; k++) {
		dim[k] = (PmDimSize){ "n", n[k] };
		shape[k] = (PmCompileShape){ &dim[k], 1 };
	}
	test_package_make(&ask, "emu", 7, out);
}

static void says(int code, const PmRtError *e, int want, const char *text)
{
	if (code != want || e->code != want || !strstr(e->text, text))
		fail_msg("code %d, '%s' instead of code %d, '%s'", code, e->text, want, text);
}

/* ---- shapes and pieces ---- */

static void values_and_shapes_are_told(void **state)
{
	const int64_t n[] = { 1, 3 };
	TestPackage p;
	PmRtModel *m;
	PmRtValue v;

	(void)state;
	make_rows(rows, n, 2, NULL, &p);
	m = open_model(&p);
	assert_int_equal(pm_rt_version(), PM_RT_VERSION);
	assert_int_equal(pm_rt_n_inputs(m), 2);
	assert_int_equal(pm_rt_n_outputs(m), 2);
	assert_string_equal(pm_rt_input(m, 0)->name, "x");
	assert_int_equal(pm_rt_input(m, 0)->type, PM_RT_FLOAT);
	assert_int_equal(pm_rt_input(m, 0)->dim[0], -1);
	assert_string_equal(pm_rt_input(m, 0)->symbol[0], "n");
	assert_int_equal(pm_rt_input(m, 0)->dim[1], 6);
	assert_null(pm_rt_input(m, 0)->symbol[1]);
	assert_null(pm_rt_input(m, 2));
	assert_string_equal(pm_rt_output(m, 1)->name, "e");
	assert_string_equal(pm_rt_output(m, 1)->symbol[0], "n");
	assert_int_equal(pm_rt_n_shapes(m), 2);
	assert_int_equal(pm_rt_shape_input(m, 1, 0, &v), PM_RT_OK);
	assert_int_equal(v.dim[0], 3);
	assert_int_equal(pm_rt_shape_input(m, 2, 0, &v), PM_RT_USAGE);
	assert_non_null(strstr(pm_rt_about(m), "\"device\":\"emu\""));
	assert_non_null(strstr(pm_rt_about(m), p.compiled.digest));
	pm_rt_close(m);
	test_package_release(&p);
}

/* The bound tensors of a size that is in no shape. */
static int bind_rows(PmRtSession *s, int64_t n, float *x, const float *w, PmRtError *e)
{
	PmRtTensor tx = { x, PM_RT_FLOAT, PM_RT_HOST, 2, { n, 6 } };
	PmRtTensor tw = { (void *)(uintptr_t)w, PM_RT_FLOAT, PM_RT_HOST, 2, { 6, 4 } };
	int code = pm_rt_bind_input(s, 0, &tx, e);

	return code ? code : pm_rt_bind_input(s, 1, &tw, e);
}

static void an_unknown_shape_is_a_sentence(void **state)
{
	const int64_t n[] = { 1, 3, 100, 200 };
	static float x[64], w[24];
	TestPackage p;
	PmRtModel *m;
	PmRtSession *s;
	PmRtValue v;
	PmRtError e;

	(void)state;
	make_rows(rows, n, 4, NULL, &p);
	m = open_model(&p);
	s = open_session(m);
	assert_int_equal(bind_rows(s, 4, x, w, &e), PM_RT_OK);
	says(pm_rt_output_shape(s, 0, &v, &e), &e, PM_RT_SHAPE,
	     "has no shape for x [4,6], w [6,4]; the nearest of its 4 are: n=3; n=1; n=100.");
	says(pm_rt_run(s, NULL, 0, &e), &e, PM_RT_SHAPE, "Compile the model with --shape");
	pm_rt_session_free(s);
	pm_rt_close(m);
	test_package_release(&p);
}

/* 1 + 3 + 3 + ... of the shapes: each row is what it is alone. */
static void pieces_make_other_sizes(void **state)
{
	const int64_t n[] = { 1, 3 };
	float x[11 * 6], e1[11 * 6], y1[11 * 4], y[11 * 4 + 1], ex[11 * 6];
	TestPackage p;
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;
	const float *w;

	(void)state;
	make_rows(rows, n, 2, "n", &p);
	m = open_model(&p);
	s = open_session(m);
	w = p.run[0].in[1].data;
	for (int i = 0; i < 11 * 6; i++)
		x[i] = (float)((i * 37 % 19) - 9) / 4;
	for (int i = 0; i < 11; i++) {
		PmRtTensor ty = { y1 + (size_t)i * 4, PM_RT_FLOAT, PM_RT_HOST, 2, { 1, 4 } };
		PmRtTensor te = { e1 + (size_t)i * 6, PM_RT_FLOAT, PM_RT_HOST, 2, { 1, 6 } };

		assert_int_equal(bind_rows(s, 1, x + (size_t)i * 6, w, &e), PM_RT_OK);
		assert_int_equal(pm_rt_bind_output(s, 0, &ty, &e), PM_RT_OK);
		assert_int_equal(pm_rt_bind_output(s, 1, &te, &e), PM_RT_OK);
		if (pm_rt_run(s, NULL, 0, &e))
			fail_msg("%s", e.text);
	}
	for (int64_t size = 0; size <= 11; size++) {
		PmRtTensor ty = { y, PM_RT_FLOAT, PM_RT_HOST, 2, { size, 4 } };
		PmRtTensor te = { ex, PM_RT_FLOAT, PM_RT_HOST, 2, { size, 6 } };
		PmRtValue v;

		memset(y, 0, sizeof y);
		memset(ex, 0, sizeof ex);
		assert_int_equal(bind_rows(s, size, x, w, &e), PM_RT_OK);
		if (pm_rt_output_shape(s, 0, &v, &e))
			fail_msg("%s", e.text);
		assert_int_equal(v.dim[0], size);
		assert_int_equal(pm_rt_bind_output(s, 0, &ty, &e), PM_RT_OK);
		assert_int_equal(pm_rt_bind_output(s, 1, &te, &e), PM_RT_OK);
		if (pm_rt_run(s, NULL, 0, &e))
			fail_msg("%s", e.text);
		assert_memory_equal(y, y1, (size_t)size * 4 * sizeof *y);
		assert_memory_equal(ex, e1, (size_t)size * 6 * sizeof *ex);
		assert_true(y[size * 4] == 0);
	}
	pm_rt_session_free(s);
	pm_rt_close(m);
	test_package_release(&p);
}

static void pieces_that_do_not_go_up_are_refused(void **state)
{
	const int64_t n[] = { 3, 5 };
	static float x[64], w[24];
	TestPackage p;
	PmRtModel *m;
	PmRtSession *s;
	PmRtValue v;
	PmRtError e;

	(void)state;
	make_rows(rows, n, 2, "n", &p);
	m = open_model(&p);
	s = open_session(m);
	assert_int_equal(bind_rows(s, 8, x, w, &e), PM_RT_OK);
	assert_int_equal(pm_rt_output_shape(s, 0, &v, &e), PM_RT_OK);
	assert_int_equal(bind_rows(s, 7, x, w, &e), PM_RT_OK);
	says(pm_rt_output_shape(s, 0, &v, &e), &e, PM_RT_SHAPE, "less than the smallest one");
	pm_rt_session_free(s);
	pm_rt_close(m);
	test_package_release(&p);
}

static void what_mixes_rows_has_no_pieces(void **state)
{
	PmDimSize dim = { "n", 2 };
	PmCompileShape shape = { &dim, 1 };
	PmCompileAsk ask = { .model = test_model_file("mixed", mixed),
			     .deadline = 60,
			     .emu = 1,
			     .jobs = 2,
			     .shape = &shape,
			     .n_shapes = 1,
			     .pieces = "n" };
	char path[512];
	PmCompiled c;
	PmErr err;

	(void)state;
	snprintf(path, sizeof path, "%s/mixed.pmz", getenv("TMPDIR"));
	assert_int_equal(pm_compile(&ask, path, &c, &err), PM_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "two pieces give another 'y' than the whole"));
	assert_false(pm_path_exists(path));
	pm_compiled_release(&c);
	ask.pieces = "m";
	assert_int_equal(pm_compile(&ask, path, &c, &err), PM_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "no input has that open size"));
	pm_compiled_release(&c);
}

/* ---- types ---- */

static void half_types_have_the_bits_of_emu(void **state)
{
	static const char *const types[] = { "float16", "bfloat16", "double" };

	(void)state;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		PmCompileAsk ask = { .deadline = 60, .emu = 1, .jobs = 2 };
		PmTensor out[TEST_VALUES];
		PmStr text = PM_STR_INIT;
		TestPackage p;
		PmRtModel *m;
		PmRtSession *s;
		PmRtError e;

		pm_str_addf(&text, halves, types[i], types[i], types[i]);
		ask.model = test_model_file(types[i], text.s);
		test_package_make(&ask, "emu", 5, &p);
		m = open_model(&p);
		s = open_session(m);
		test_bind(s, &p.run[0], out);
		if (pm_rt_run(s, NULL, 0, &e))
			fail_msg("%s", e.text);
		test_same(&p.run[0], out, types[i]);
		pm_tensors_release(out, p.run[0].n_out);
		pm_rt_session_free(s);
		pm_rt_close(m);
		test_package_release(&p);
		pm_str_release(&text);
	}
}

/* ---- bindings ---- */

static void bindings_that_cannot_be_are_refused(void **state)
{
	const int64_t n[] = { 3 };
	static float x[18], w[24], y[12], ex[18];
	PmRtTensor t = { x, PM_RT_FLOAT, PM_RT_HOST, 2, { 3, 6 } }, bad;
	PmRtTensor ty = { y, PM_RT_FLOAT, PM_RT_HOST, 2, { 3, 4 } },
		   te = { ex, PM_RT_FLOAT, PM_RT_HOST, 2, { 3, 6 } };
	TestPackage p;
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;

	(void)state;
	make_rows(rows, n, 1, NULL, &p);
	m = open_model(&p);
	s = open_session(m);
	says(pm_rt_run(s, NULL, 0, &e), &e, PM_RT_USAGE, "Input 'x' has no tensor");
	bad = t;
	bad.type = PM_RT_DOUBLE;
	says(pm_rt_bind_input(s, 0, &bad, &e), &e, PM_RT_INPUT,
	     "input 'x' has elements of type double and rank 2; the model wants float and rank 2");
	bad.type = (PmRtType)99;
	says(pm_rt_bind_input(s, 0, &bad, &e), &e, PM_RT_INPUT, "elements of type undefined and rank 2");
	bad = t;
	bad.rank = 1;
	says(pm_rt_bind_input(s, 0, &bad, &e), &e, PM_RT_INPUT, "rank 1; the model wants float and rank 2");
	bad = t;
	bad.dim[1] = 7;
	says(pm_rt_bind_input(s, 0, &bad, &e), &e, PM_RT_INPUT,
	     "Size 1 of the tensor for input 'x' is 7; the model wants 6");
	bad = t;
	bad.dim[0] = -3;
	says(pm_rt_bind_input(s, 0, &bad, &e), &e, PM_RT_INPUT, "is -3");
	bad = t;
	bad.data = NULL;
	says(pm_rt_bind_input(s, 0, &bad, &e), &e, PM_RT_USAGE, "has elements and no data");
	bad = t;
	bad.place = (PmRtPlace)7;
	says(pm_rt_bind_input(s, 0, &bad, &e), &e, PM_RT_USAGE, "lies at place 7");
	says(pm_rt_bind_input(s, 2, &t, &e), &e, PM_RT_USAGE, "needs a session");
	assert_int_equal(bind_rows(s, 3, x, w, &e), PM_RT_OK);
	says(pm_rt_run(s, NULL, 0, &e), &e, PM_RT_USAGE, "Output 'y' has no tensor");
	assert_int_equal(pm_rt_bind_output(s, 0, &ty, &e), PM_RT_OK);
	bad = te;
	bad.data = x + 5;
	assert_int_equal(pm_rt_bind_output(s, 1, &bad, &e), PM_RT_OK);
	says(pm_rt_run(s, NULL, 0, &e), &e, PM_RT_USAGE, "output 'e' overlaps that for 'x'");
	bad = te;
	bad.dim[0] = 2;
	assert_int_equal(pm_rt_bind_output(s, 1, &bad, &e), PM_RT_OK);
	says(pm_rt_run(s, NULL, 0, &e), &e, PM_RT_USAGE,
	     "Size 0 of the tensor for output 'e' is 2 and must be 3");
	assert_int_equal(pm_rt_bind_output(s, 1, &te, &e), PM_RT_OK);
	says(pm_rt_run(s, NULL, 2, &e), &e, PM_RT_USAGE, "flags that it knows");
	assert_int_equal(pm_rt_run(s, NULL, 0, &e), PM_RT_OK);
	pm_rt_session_free(s);
	pm_rt_close(m);
	test_package_release(&p);
}

/* Tensors at any address: those that kernels cannot use where they lie are copied. */
static void places_need_no_alignment(void **state)
{
	const int64_t n[] = { 3 };
	char room[4][256];
	TestPackage p;
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;

	(void)state;
	make_rows(rows, n, 1, NULL, &p);
	m = open_model(&p);
	s = open_session(m);
	for (size_t away = 0; away < 16; away += 3) {
		const TestRun *r = &p.run[0];

		for (size_t i = 0; i < 4; i++) {
			PmRtTensor t = test_rt_tensor(i < 2 ? &r->in[i] : &r->want[i - 2]);

			t.data = room[i] + away;
			if (i < 2)
				memcpy(t.data, r->in[i].data, r->in[i].bytes);
			assert_int_equal(i < 2 ? pm_rt_bind_input(s, i, &t, &e)
					       : pm_rt_bind_output(s, i - 2, &t, &e),
					 PM_RT_OK);
		}
		if (pm_rt_run(s, NULL, 0, &e))
			fail_msg("%s", e.text);
		for (size_t i = 0; i < 2; i++)
			assert_memory_equal(room[2 + i] + away, r->want[i].data, r->want[i].bytes);
	}
	pm_rt_session_free(s);
	pm_rt_close(m);
	test_package_release(&p);
}

/* ---- threads ---- */

typedef struct Work {
	PmRtModel *m;
	const TestPackage *p;
	int number;
	char why[1100];
} Work;

static void *work(void *arg)
{
	Work *w = arg;
	PmRtSession *s = NULL;
	PmRtError e = { 0 };
	int bad = pm_rt_session_new(w->m, &s, &e);

	for (int i = 0; i < RUNS && !bad; i++) {
		const TestRun *r = &w->p->run[(size_t)(i + w->number) % w->p->n_runs];
		PmTensor out[2];

		for (size_t k = 0; k < r->n_in && !bad; k++) {
			PmRtTensor t = test_rt_tensor(&r->in[k]);

			bad = pm_rt_bind_input(s, k, &t, &e);
		}
		for (size_t k = 0; k < r->n_out && !bad; k++) {
			PmRtTensor t;

			bad = pm_tensor_init(&out[k], &r->want[k].type, NULL);
			t = test_rt_tensor(&out[k]);
			bad = bad || pm_rt_bind_output(s, k, &t, &e);
		}
		bad = bad || pm_rt_run(s, NULL, 0, &e);
		for (size_t k = 0; k < r->n_out; k++) {
			if (!bad && memcmp(out[k].data, r->want[k].data, r->want[k].bytes) != 0) {
				snprintf(e.text, sizeof e.text, "output %zu of run %d has other bits", k, i);
				bad = 1;
			}
			pm_tensor_release(&out[k]);
		}
	}
	if (bad)
		snprintf(w->why, sizeof w->why, "%s.", e.text);
	pm_rt_session_free(s);
	return NULL;
}

static void all_threads(const TestPackage *p, PmRtModel *m)
{
	static Work w[THREADS];
	pthread_t id[THREADS];

	for (int i = 0; i < THREADS; i++) {
		w[i] = (Work){ .m = m, .p = p, .number = i };
		assert_int_equal(pthread_create(&id[i], NULL, work, &w[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(id[i], NULL);
	for (int i = 0; i < THREADS; i++)
		if (*w[i].why)
			fail_msg("thread %d: %s", i, w[i].why);
}

/* One thread runs when growth is looked at: how many copies of a kernel concurrent launches need depends on
 * how they fall together, and has a bound (host.h). */
static void threads_share_a_model_and_nothing_grows(void **state)
{
	const int64_t n[] = { 1, 3, 64 };
	PmTensor out[TEST_VALUES];
	TestPackage p;
	PmRtModel *m;
	PmRtSession *s;
	PmRtError e;
	int files, before;

	(void)state;
	make_rows(rows, n, 3, NULL, &p);
	files = test_open_files();
	m = open_model(&p);
	all_threads(&p, m);
	s = open_session(m);
	test_bind(s, &p.run[2], out);
	assert_int_equal(pm_rt_run(s, NULL, 0, &e), PM_RT_OK);
	before = test_mappings("");
	for (int i = 0; i < 20 * RUNS; i++)
		if (pm_rt_run(s, NULL, 0, &e))
			fail_msg("%s", e.text);
	assert_true(test_mappings("") <= before);
	test_same(&p.run[2], out, "after many runs");
	pm_tensors_release(out, p.run[2].n_out);
	pm_rt_session_free(s);
	pm_rt_close(m);
	assert_int_equal(test_open_files(), files);
	test_package_release(&p);
}

/* A call of a package knows whether its weights are a constant of the model, as the plan does. */
static void calls_know_constant_weights(void **state)
{
	static const char
		head[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n",
		tail[] = "{ y = Conv <dilations = [1], group = 1, pads = [0, 0], strides = [1]> (x, w) }\n";
	static const char *const graphs[] = {
		"g (float[1,1,5] x, float[1,1,2] w) => (float[1,1,4] y)\n",
		"g (float[1,1,5] x) => (float[1,1,4] y) <float[1,1,2] w = {1, 2}>\n",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		PmCompileAsk ask = { .deadline = 60, .emu = 1, .jobs = 2 };
		PmStr text = PM_STR_INIT;
		TestPackage made;
		PmRtPackage p;
		PmErr err;

		pm_str_addf(&text, "%s%s%s", head, graphs[i], tail);
		ask.model = test_model_file("convolution", text.s);
		test_package_make(&ask, "emu", 1, &made);
		assert_int_equal(pm_package_open(made.path, &p, &err), PM_OK);
		assert_int_equal(p.n_call, 1);
		assert_int_equal(p.call[0].v[28], i);
		pm_package_close(&p);
		test_package_release(&made);
		pm_str_release(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_shapes_are_told),
		cmocka_unit_test(an_unknown_shape_is_a_sentence),
		cmocka_unit_test(pieces_make_other_sizes),
		cmocka_unit_test(pieces_that_do_not_go_up_are_refused),
		cmocka_unit_test(what_mixes_rows_has_no_pieces),
		cmocka_unit_test(half_types_have_the_bits_of_emu),
		cmocka_unit_test(calls_know_constant_weights),
		cmocka_unit_test(bindings_that_cannot_be_are_refused),
		cmocka_unit_test(places_need_no_alignment),
		cmocka_unit_test(threads_share_a_model_and_nothing_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
