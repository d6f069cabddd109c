/* SPDX-License-Identifier: Apache-2.0 */
/* test_worker.c - one device worker serves many runs, and is replaced when a kernel hangs, faults or dies. */
#include "bench/inputs/inputs.h"
#include "bench/timing/clock.h"
#include "integrity/referee/referee.h"
#include "passmith/pass.h" /* the plugin's PmArg and PmLaunch stand beside the runtime's names */
#include "runtime/worker/run.h"
#include "runtime/worker/worker_priv.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/pass_models.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_VALUES = 64 };

static PmGraph *silu(void)
{
	return pm_test_graph("g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }");
}

static PmStatus run(PmWorker *w, const PmGraph *g, uint64_t seed, double deadline, PmRunResult *out,
		    PmErr *err)
{
	PmRunOpts o = { .device = "emu", .deadline = deadline, .poison = 0x7fc00001, .worker = w };
	PmTensor in[MAX_VALUES];
	PmStatus st;

	pm_err_init(err);
	assert_int_equal(pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, NULL), PM_OK);
	st = pm_run_graph(g, in, pm_graph_n_inputs(g), &o, out, err);
	pm_tensors_release(in, pm_graph_n_inputs(g));
	return st;
}

/* A worker gives the same bits as a process made for the run. */
static void same_as_alone(PmWorker *w, const PmGraph *g, uint64_t seed)
{
	PmRunResult a, b;
	PmErr err;

	if (run(w, g, seed, 100, &a, &err) || run(NULL, g, seed, 100, &b, &err))
		fail_msg("%s", err.text);
	assert_int_equal(a.n_out, b.n_out);
	for (size_t i = 0; i < a.n_out; i++) {
		assert_true(pm_type_equal(&a.out[i].type, &b.out[i].type));
		assert_memory_equal(a.out[i].data, b.out[i].data, a.out[i].bytes);
	}
	assert_int_equal(a.stats.n_launches, b.stats.n_launches);
	pm_run_result_release(&a);
	pm_run_result_release(&b);
}

static void one_process_serves_many_runs(void **state)
{
	static const char *const texts[] = {
		"g (float[5] x) => (float[5] y) { y = Neg(x) }",
		"g (float[2,3] x, int64[4] i) => (float[4,3] y) { y = Gather <axis = 0> (x, i) }",
		"g (float[0,3] x) => (float[0,3] y, float[0,3] z) { y = Neg(x)\n z = Abs(x) }",
		"g (float[5] x) => (float[5] y) { y = Exp(x) }",
		"g (double[7] x) => (double[7] y) { y = Tanh(x) }",
		"g (float[2] x) => (float[2] y) <float[2] c = {1, -2}> { y = Mul(x, c) }",
		"g (bool[9] x) => (bool[9] y) { y = Not(x) }",
		"g (int64[3] x) => (int64[3] y) { y = Abs(x) }",
		"g (float[3] x) => (float[3] y) { y = Sin(x) }",
		"g (float[3] x) => (float[3] y) { y = Cos(x) }",
		"g (float[3] x) => (float[3] y) { y = Ceil(x) }",
		"g (float[3] x) => (float[3] y) { y = Floor(x) }",
		"g (float[3] x) => (float[3] y) { y = Relu(x) }",
		"g (float[3] x) => (float[3] y) { y = Sign(x) }",
	};
	PmWorker *w = pm_worker_new("emu");

	(void)state;
	assert_true(sizeof texts / sizeof *texts > WORKER_SLOTS);
	assert_int_equal(pm_worker_starts(w), 0);
	for (int round = 0; round < 2; round++) /* there are more of them than a worker keeps */
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
			PmGraph *g = pm_test_graph(texts[i]);

			same_as_alone(w, g, 10 * i);
			same_as_alone(w, g, 10 * i + 1);
			pm_graph_free(g);
		}
	assert_int_equal(pm_worker_starts(w), 1);
	pm_worker_renew(w);
	pm_worker_renew(w);
	{
		PmGraph *g = silu();

		same_as_alone(w, g, 3);
		pm_graph_free(g);
	}
	assert_int_equal(pm_worker_starts(w), 2);
	pm_worker_free(w);
	pm_worker_free(NULL);
}

/* Prepared processes are those that renewals and a second worker get; none is left behind. */
static void prepared_processes_are_used(void **state)
{
	PmWorker *w = pm_worker_new("emu"), *second;
	PmGraph *g = silu();

	(void)state;
	same_as_alone(w, g, 1);
	pm_worker_prepare(w, 2);
	pm_worker_prepare(w, 2);
	assert_true(pm_worker_starts(w) == 3 && pm_worker_processes(w) == 3);
	pm_worker_settle(w);
	assert_int_equal(pm_worker_processes(w), 3);
	second = pm_worker_second(w);
	assert_true(pm_worker_processes(w) == 2 && pm_worker_processes(second) == 1);
	pm_worker_renew(second); /* what has not begun its work stays */
	same_as_alone(second, g, 2);
	assert_int_equal(pm_worker_starts(second), 0);
	pm_worker_renew(w);
	same_as_alone(w, g, 3);
	assert_true(pm_worker_starts(w) == 3 && pm_worker_processes(w) == 1);
	pm_worker_renew(w);
	same_as_alone(w, g, 4);
	assert_int_equal(pm_worker_starts(w), 4);
	pm_worker_prepare(w, 1);
	pm_worker_prepare(w, 3); /* two more */
	assert_int_equal(pm_worker_starts(w), 7);
	pm_worker_prepare(w, 2 * PM_WORKER_SPARE);
	assert_int_equal(pm_worker_processes(w), 1 + PM_WORKER_SPARE);
	pm_worker_free(w);
	pm_worker_free(second);
	pm_graph_free(g);
}

/* What a GPU takes back of a second worker is waited for by the first, when it has to be, and is one of its
 * processes until then. A worker for a GPU is a process without one, too. */
static void a_second_worker_leaves_with_the_first(void **state)
{
	PmWorker *w = pm_worker_new("cuda"), *second = pm_worker_second(w);

	(void)state;
	pm_worker_begin(w);
	pm_worker_begin(second);
	pm_worker_renew(second);
	assert_true(pm_worker_processes(w) == 1 && pm_worker_processes(second) == 1);
	pm_worker_begin(second);
	pm_worker_join(w, second);
	assert_int_equal(pm_worker_processes(w), 3);
	pm_worker_settle(w);
	assert_int_equal(pm_worker_processes(w), 1);
	second = pm_worker_second(w); /* one that has nothing */
	pm_worker_join(w, second);
	assert_int_equal(pm_worker_processes(w), 1);
	pm_worker_free(w);
}

/* One that cannot open its device is no help, and no harm. */
static void a_prepared_process_without_a_device_is_ended(void **state)
{
	PmWorker *w = pm_worker_new("no-such-device");

	(void)state;
	pm_worker_prepare(w, PM_WORKER_SPARE);
	pm_worker_settle(w);
	assert_int_equal(pm_worker_processes(w), 0);
	pm_worker_free(w);
}

/* Constants of every size, and fused graphs with bodies, cross unchanged. */
static void model(void *arg, int pass, const char *name, int dtype, const PmGraph *g, const PmGraph *fused)
{
	(void)pass, (void)name, (void)g;
	if (dtype == PM_F32)
		same_as_alone(arg, fused, 5);
}

static void models_cross_unchanged(void **state)
{
	PmWorker *w = pm_worker_new("emu");
	PmStr text = PM_STR_INIT;
	PmGraph *g;

	(void)state;
	pm_str_add(&text, "g (float[1000] x) => (float[1000] y) <float[1000] c = {");
	for (int i = 0; i < 1000; i++)
		pm_str_addf(&text, "%s%d.25", i ? ", " : "", i);
	pm_str_add(&text, "}> { y = Add(x, c) }");
	g = pm_test_graph(text.s);
	same_as_alone(w, g, 1);
	pm_graph_free(g);
	pm_str_release(&text);
	pass_models(model, w);
	assert_int_equal(pm_worker_starts(w), 1);
	pm_worker_free(w);
}

static void fails(PmWorker *w, const char *so, double deadline, PmStatus want, const char *words)
{
	PmGraph *g = silu();
	PmCandidate c;
	PmRunResult r;
	PmErr err;
	int before = pm_worker_starts(w);

	pm_err_init(&err);
	assert_int_equal(pm_referee_rewrite(built(so), NULL, g, 60, &c, &err), PM_OK);
	assert_int_equal(c.verdict, PM_VERDICT_OK);
	assert_int_equal(run(w, c.g, 1, deadline, &r, &err), want);
	if (!strstr(err.text, words))
		fail_msg("%s: \"%s\" does not say \"%s\"", so, err.text, words);
	same_as_alone(w, g, 2);                            /* the next run is as good as ever, */
	assert_int_equal(pm_worker_starts(w), before + 1); /* in a fresh process */
	pm_candidate_release(&c);
	pm_graph_free(g);
}

static void a_failing_kernel_costs_its_worker(void **state)
{
	PmWorker *w = pm_worker_new("emu");
	PmGraph *g = silu();

	(void)state;
	same_as_alone(w, g, 2);
	fails(w, "tests/plugin/oob_silu.so", 100, PM_E_OOB, "past the end");
	fails(w, "tests/plugin/mutating_silu.so", 100, PM_E_MUTATED, "");
	fails(w, "tests/plugin/divergent_silu.so", 100, PM_E_DEVICE, "barrier");
	fails(w, "tests/plugin/uncompilable_silu.so", 100, PM_E_INVALID, "");
	fails(w, "tests/plugin/hanging_silu.so", 3, PM_E_TIMEOUT,
	      "device worker did not finish within 3 seconds");
	pm_worker_free(w);
	pm_graph_free(g);
}

static void what_does_not_fit_is_refused(void **state)
{
	PmWorker *w = pm_worker_new("emu");
	PmGraph *g = silu(), *other = pm_test_graph("g (float[5] x) => (float[5] y) { y = Neg(x) }");
	PmRunOpts o = { .device = "emu", .worker = w };
	PmWork side = { .g = g };
	PmTensor in[2];
	PmInputPool pool = { .t = in, .n_sets = 1, .n_in = 1 };
	PmSampleAsk cold = { 0, PM_TIME_COLD, 0, 1, 0 };
	PmDeviceInfo info;
	PmRunResult r;
	PmSample s;
	PmErr err;
	int depth;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_inputs_make(other, 1, PM_INPUTS_NORMAL, in, NULL), PM_OK);
	assert_int_equal(pm_run_graph(g, in, 1, &o, &r, &err), PM_E_TYPE);
	assert_int_equal(pm_run_graph(other, in, 0, &o, &r, &err), PM_E_INVALID);
	assert_int_equal(pm_worker_starts(w), 0);
	assert_int_equal(pm_worker_info(w, &info, &err), PM_OK);
	assert_true(info.cc == 90 && !info.measured && strstr(info.name, "emu"));
	side.g = other; /* emu has no clock, and says so */
	assert_int_equal(pm_worker_clock_open(w, &side, 1, &pool, 10, &depth, &err), PM_OK);
	assert_int_equal(pm_worker_clock_take(w, &cold, &s, NULL, &err), PM_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "no clock"));
	assert_int_equal(pm_worker_clock_empty(w, NULL, &err), PM_E_INVALID); /* no process, no clock */
	pm_tensors_release(in, 1);
	pm_worker_free(w);
	w = pm_worker_new("nothing");
	assert_int_equal(pm_worker_info(w, &info, &err), PM_E_NOT_FOUND);
	pm_worker_free(w);
	pm_graph_free(g);
	pm_graph_free(other);
}

/* Inputs of the clock that are turned: rows in a ring, the same for the same number, different for others. */
static void inputs_are_fresh_and_legal(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[4,6] x, float[50] v, float s, float[0] n) => (float[4,6] y) { y = Neg(x) }");
	PmTensor t[8], a[4], b[4];
	PmInputPool pool = { .t = t, .n_sets = 2, .n_in = 4, .seed = 99 };
	int differ = 0;

	(void)state;
	assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_NORMAL, t, NULL), PM_OK);
	assert_int_equal(pm_inputs_make(g, 2, PM_INPUTS_NORMAL, t + 4, NULL), PM_OK);
	for (uint64_t i = 0; i < 40; i++) {
		const float *x, *first;
		int row = -1, set = -1;

		assert_int_equal(pm_input_pool_inputs(&pool, i, a, NULL), PM_OK);
		assert_int_equal(pm_input_pool_inputs(&pool, i, b, NULL), PM_OK);
		for (int k = 0; k < 4; k++)
			if (a[k].bytes)
				assert_memory_equal(a[k].data, b[k].data, a[k].bytes);
		x = a[0].data;
		for (int s = 0; s < 2; s++)
			for (int r = 0; r < 4; r++)
				if (!memcmp(x, (float *)t[4 * s].data + 6 * r, 6 * sizeof *x)) {
					row = r;
					set = s;
				}
		assert_true(row >= 0);
		first = t[4 * set].data;
		for (int r = 0; r < 4; r++)
			assert_memory_equal(x + 6 * r, first + 6 * ((row + r) % 4), 6 * sizeof *x);
		differ += memcmp(a[1].data, t[1].data, 200) != 0 && memcmp(a[1].data, t[5].data, 200) != 0;
		pm_tensors_release(a, 4);
		pm_tensors_release(b, 4);
	}
	assert_true(differ > 35);
	pm_tensors_release(t, 8);
	pm_graph_free(g);
}

/* The clock's slots are loaded without constants, which each of its sides has: a run of the same graph has
 * them all the same, and so has the clock after a run. */
static void a_graph_that_the_clock_had_can_be_run(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[2,3] x) => (float[2,3] y)\n<float[3] w = {1, 20, 300}> { y = Add(x, w) }");
	static const float w3[3] = { 1, 20, 300 };
	PmWorker *w = pm_worker_new("emu");
	PmClockOpts o = { .secret = pm_secret_draw(), .keep = 1 };
	PmWork work = { .g = g };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	for (int i = 0; i < 2; i++) {
		PmClockResult r;

		if (pm_clock_rehearse(w, g, &work, 2, &o, &r, &err))
			fail_msg("%s", err.text);
		assert_true(r.calls.n == 2 && r.calls.v[0].out);
		for (size_t c = 0; c < r.calls.n; c++) {
			const float *y = r.calls.v[c].out[0].data;
			PmTensor x;

			assert_int_equal(pm_input_pool_inputs(&r.pool, r.calls.v[c].index, &x, NULL), PM_OK);
			for (int k = 0; k < 6; k++)
				assert_float_equal(y[k], ((float *)x.data)[k] + w3[k % 3], 0);
			pm_tensor_release(&x);
		}
		pm_clock_release(&r);
		same_as_alone(w, g, 5);
	}
	pm_secret_free((PmSecret *)(uintptr_t)o.secret);
	pm_worker_free(w);
	pm_graph_free(g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_process_serves_many_runs),
		cmocka_unit_test(prepared_processes_are_used),
		cmocka_unit_test(a_second_worker_leaves_with_the_first),
		cmocka_unit_test(a_prepared_process_without_a_device_is_ended),
		cmocka_unit_test(models_cross_unchanged),
		cmocka_unit_test(a_failing_kernel_costs_its_worker),
		cmocka_unit_test(what_does_not_fit_is_refused),
		cmocka_unit_test(inputs_are_fresh_and_legal),
		cmocka_unit_test(a_graph_that_the_clock_had_can_be_run),
	};

	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}
