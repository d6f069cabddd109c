/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_clock.c - the clock on a GPU: does it find the same the same, and what is slower slower?
 *
 * test_cuda_clock [CASE]: all cases, or one. With test_cuda_marks.c the one place where tests look at times:
 * these are properties of the clock, not of code under test. Each prints its figures (tests/lib/figures.h).
 * What is wanted most comes first, and every run of the protocol has a limit, so that a cut off program has
 * said what mattered.
 */
#include "base/sys/proc.h"
#include "bench/inputs/inputs.h"
#include "bench/timing/clock.h"
#include "tests/lib/figures.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum {
	SIDES = 3,
	REPETITIONS = 100,
	ENOUGH = 95,
	FALSE_CLAIMS = 5,
	NAIVE_SAMPLES = 100,
	NAIVE_REPETITIONS = 50
};
static const double run_seconds = 1.5; /* limit of one run of the protocol */

/* --- two works in a worker's clock, without a candidate's checks --- */

static PmStatus sample(void *w, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	return pm_worker_clock_take(w, ask, out, NULL, err);
}

static PmStatus empty(void *w, double *seconds, PmErr *err)
{
	return pm_worker_clock_empty(w, seconds, err);
}

static PmStatus warm(void *w, double *seconds, PmErr *err)
{
	return pm_worker_clock_warm(w, seconds, err);
}

static double now(void *w)
{
	(void)w;
	return pm_now();
}

typedef struct Pair {
	PmWorker *w;
	PmTensor in[2];
	size_t n_in;
	int depth;
} Pair;

static void open_pair(Pair *p, const PmGraph *a, const PmGraph *b)
{
	PmWork side[SIDES] = { { .g = a }, { .g = b }, { .g = a } };
	PmInputPool pool = { .t = p->in, .n_sets = 1, .n_in = 1, .seed = 7 };
	PmErr err;

	pm_test_need_device("cuda");
	pm_err_init(&err);
	p->w = pm_worker_new("cuda");
	p->n_in = 1;
	if (pm_inputs_make(a, 1, PM_INPUTS_NORMAL, p->in, &err) ||
	    pm_worker_clock_open(p->w, side, SIDES, &pool, 100, &p->depth, &err))
		fail_msg("%s", err.text);
}

static PmTiming run_pair(Pair *p, uint64_t seed, int kinds)
{
	PmClock c = { sample, empty, warm, now, p->w };
	PmTimerOpts o = { .n_sides = SIDES,
			  .control = SIDES - 1,
			  .max_train = p->depth,
			  .warm = seed > 0,
			  .seconds = seed > 0 ? run_seconds : 0,
			  .seed = seed,
			  .replay = kinds ? 0 : -1,
			  .wall = kinds ? 0 : -1 };
	PmTiming t;
	PmErr err;

	pm_err_init(&err);
	if (pm_timer_run(&c, &o, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void close_pair(Pair *p)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_worker_clock_close(p->w, &err))
		fail_msg("%s", err.text);
	pm_tensors_release(p->in, p->n_in);
	pm_worker_free(p->w);
}

/* What a plain loop finds: the sides in turn, on flushed caches, and the ratio of two medians. */
static double naive_ratio(Pair *p, uint64_t seed)
{
	double t[2][NAIVE_SAMPLES];
	PmErr err;

	pm_err_init(&err);
	for (int i = 0; i < 2 * NAIVE_SAMPLES; i++) {
		PmSampleAsk ask = { i % 2, PM_TIME_COLD, seed * NAIVE_SAMPLES + (uint64_t)i / 2, 1, 0 };
		PmSample s;

		if (pm_worker_clock_take(p->w, &ask, &s, NULL, &err))
			fail_msg("%s", err.text);
		t[i % 2][i / 2] = s.seconds;
	}
	return pm_median(t[0], NAIVE_SAMPLES) / pm_median(t[1], NAIVE_SAMPLES);
}

/* How far from 1 all but the outermost 2 % of n ratios lie. */
static double spread(double *ratio, int n)
{
	int out = n / 50;

	qsort(ratio, (size_t)n, sizeof *ratio, pm_ascending);
	return fmax(1 - ratio[out], ratio[n - 1 - out] - 1);
}

/* --- the promises --- */

/* The same graph against itself, elements of float: 100 runs, each on its own. */
static void control(long long elements)
{
	PmGraph *g = pm_test_graphf("g (float[%lld] x) => (float[%lld] y) { y = Tanh(x) }", elements,
				    elements);
	double ratio[REPETITIONS], naive[NAIVE_REPETITIONS], bound = 0;
	int good = 0, ok = 0, blocks = 0, repeated = 0, claims = 0;
	PmTiming t;
	Pair p;

	open_pair(&p, g, g);
	t = run_pair(&p, 0, 1);
	pm_figure("{\"what\": \"A/A\", \"elements\": %lld, \"cold_us\": %.3f, \"replay_us\": %.3f, "
		  "\"wall_us\": %.3f, \"overhead_us\": %.3f, \"tick_ns\": %.1f, \"train\": %d, \"warm_s\": "
		  "%.2f, "
		  "\"steady\": %d, \"state\": \"%s\", \"why\": \"%s\"}",
		  elements, t.kind[0].side[0].median * 1e6, t.kind[1].side[0].median * 1e6,
		  t.kind[2].side[0].median * 1e6, t.overhead * 1e6, t.tick * 1e9, t.batch, t.warm_seconds,
		  t.steady, pm_timing_state_name(t.state), t.why);
	bound = pm_timer_control_bound(t.kind[PM_TIME_COLD].side[0].median);
	for (int i = 0; i < REPETITIONS; i++) {
		t = run_pair(&p, 1 + (uint64_t)i, 0);
		ratio[i] = t.kind[PM_TIME_COLD].ratio[1].point;
		good += fabs(ratio[i] - 1) <= bound;
		ok += t.state == PM_TIMING_OK;
		claims += pm_timer_claim(t.kind[PM_TIME_COLD].ratio[1].lo,
					 t.kind[PM_TIME_COLD].ratio[1].hi) != PM_CLAIM_SAME;
		blocks += t.kind[PM_TIME_COLD].blocks;
		repeated += t.repeated;
	}
	for (int i = 0; i < NAIVE_REPETITIONS; i++)
		naive[i] = naive_ratio(&p, 1000 + (uint64_t)i);
	pm_figure("{\"what\": \"A/A of a plain loop of 100 a side\", \"us\": %.2f, \"spread\": %.5f, "
		  "\"spread_of_protocol\": %.5f}",
		  t.kind[PM_TIME_COLD].side[0].median * 1e6, spread(naive, NAIVE_REPETITIONS),
		  spread(ratio, REPETITIONS));
	pm_figure("{\"what\": \"A/A of %d\", \"us\": %.2f, \"bound\": %.3f, \"within\": %d, \"claims\": %d, "
		  "\"ok\": %d, "
		  "\"p2\": "
		  "%.5f, "
		  "\"p50\": %.5f, \"p98\": %.5f, \"blocks\": %.1f, \"repeated\": %.2f}",
		  REPETITIONS, t.kind[PM_TIME_COLD].side[0].median * 1e6, bound, good, claims, ok, ratio[2],
		  ratio[50], ratio[97], blocks / (double)REPETITIONS, repeated / (double)REPETITIONS);
	close_pair(&p);
	pm_graph_free(g);
	assert_true(good >= ENOUGH);
	assert_true(claims <= FALSE_CLAIMS); /* where 1 in 100 is false, more have a chance of 1 in 2,000 */
	assert_true(ok >= ENOUGH);
}

static void short_calls_are_found_equal(void **state)
{
	(void)state;
	control(1 << 14);
}

static void calls_of_fifty_microseconds_are_found_equal(void **state)
{
	(void)state;
	control(26 << 20);
}

static void long_calls_are_found_equal(void **state)
{
	(void)state;
	control(128 << 20);
}

/* The second computes 3 % more elements of the same input; its time is proportional to them. */
static void three_percent_of_fifty_microseconds_is_found(void **state)
{
	enum { N = 26 << 20, MORE = N / 100 * 103 };
	PmGraph *
		a = pm_test_graphf(
		       "g (float[%d] x) => (float[%d] y) { s = Slice <axes = [0], ends = [%d], starts = [0], "
		       "steps = [1]> (x)\n y = Tanh(s) }",
		       MORE, N, N),
	       *b = pm_test_graphf("g (float[%d] x) => (float[%d] y) { y = Tanh(x) }", MORE, MORE);
	int found = 0, wrong = 0;
	double sum = 0;
	PmTiming t;
	Pair p;

	(void)state;
	open_pair(&p, a, b);
	run_pair(&p, 0, 0);
	for (int i = 0; i < REPETITIONS; i++) {
		t = run_pair(&p, 1 + (uint64_t)i, 0);
		found += t.kind[PM_TIME_COLD].ratio[1].hi < 1;
		wrong += t.kind[PM_TIME_COLD].ratio[1].lo > 1;
		sum += t.kind[PM_TIME_COLD].ratio[1].point;
	}
	pm_figure("{\"what\": \"3 %% slowdown\", \"us\": %.2f, \"found\": %d, \"of\": %d, \"mean_ratio\": "
		  "%.5f}",
		  t.kind[PM_TIME_COLD].side[0].median * 1e6, found, REPETITIONS, sum / REPETITIONS);
	close_pair(&p);
	pm_graph_free(a);
	pm_graph_free(b);
	assert_true(found >= ENOUGH && wrong == 0);
}

/* A side that heats the device: seconds of arithmetic before a run, and between the baseline and the
 * candidate of a loop that measures one after the other. */
static void heat_does_not_favour_a_side(void **state)
{
	enum { PIECES = 50000 }; /* each under a millisecond */
	PmGraph *g = pm_test_graphf("g (float[%d] x) => (float[%d] y) { y = Tanh(x) }", 26 << 20, 26 << 20);
	double cool, hot, seconds = 0, piece;
	PmTiming t;
	PmErr err;
	Pair p;

	(void)state;
	pm_err_init(&err);
	open_pair(&p, g, g);
	run_pair(&p, 0, 0);
	cool = run_pair(&p, 1, 0).kind[PM_TIME_COLD].side[0].median;
	for (int i = 0; i < PIECES && seconds < 5; i++) {
		if (pm_worker_clock_warm(p.w, &piece, &err))
			fail_msg("%s", err.text);
		seconds += piece;
	}
	t = run_pair(&p, 2, 0);
	hot = t.kind[PM_TIME_COLD].side[0].median;
	pm_figure("{\"what\": \"heater\", \"seconds\": %.2f, \"cool_us\": %.3f, \"hot_us\": %.3f, "
		  "\"one_after_the_other\": %.5f, \"interleaved\": %.5f}",
		  seconds, cool * 1e6, hot * 1e6, cool / hot, t.kind[PM_TIME_COLD].ratio[1].point);
	close_pair(&p);
	pm_graph_free(g);
	assert_true(fabs(t.kind[PM_TIME_COLD].ratio[1].point - 1) <= 0.02);
}

static int write_figures(void **state)
{
	(void)state;
	return pm_figures_write("clock");
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_percent_of_fifty_microseconds_is_found),
		cmocka_unit_test(short_calls_are_found_equal),
		cmocka_unit_test(calls_of_fifty_microseconds_are_found_equal),
		cmocka_unit_test(heat_does_not_favour_a_side),
		cmocka_unit_test(long_calls_are_found_equal),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("cuda_clock", tests, NULL, write_figures);
}
