/* SPDX-License-Identifier: Apache-2.0 */
/* test_timer.c - the clock's protocol on a simulated device, whose true times are known. */
#include "tests/lib/clock/sim_clock.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static PmSim sim;

static void begin(double baseline, double candidate, uint64_t seed)
{
	pm_sim_init(&sim, baseline, candidate, seed);
}

static PmStatus try_run(const PmTimerOpts *opts, PmTiming *t, PmErr *err)
{
	PmClock c = pm_sim_clock(&sim);

	return pm_timer_run(&c, opts, t, err);
}

static PmTimerOpts with_control(uint64_t seed)
{
	return (PmTimerOpts){ .n_sides = 3, .control = 2, .seed = seed };
}

static PmTiming run(uint64_t seed)
{
	PmTimerOpts o = with_control(seed);
	PmTiming t;
	PmErr err;

	pm_err_init(&err);
	if (try_run(&o, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void near(double got, double want, double within, const char *what)
{
	if (!(fabs(got - want) <= within))
		fail_msg("%s: %.9g is not %.9g within %.3g", what, got, want, within);
}

static void finds(PmTimingState state, const char *words)
{
	PmTiming t = run(1);

	if (t.state != state || !strstr(t.why, words))
		fail_msg("%s: \"%s\" instead of %s: \"%s\"", pm_timing_state_name(t.state), t.why,
			 pm_timing_state_name(state), words);
}

/* --- what the clock promises --- */

static void the_same_is_found_the_same(void **state)
{
	static const double length[] = { 6e-6, 50e-6, 400e-6 };

	(void)state;
	for (int k = 0; k < 3; k++) {
		int good = 0, ok = 0;

		for (uint64_t i = 0; i < 100; i++) {
			PmTiming t;

			begin(length[k], length[k], i);
			sim.drift = 0.05;
			t = run(i);
			good += fabs(t.kind[PM_TIME_COLD].ratio[1].point - 1) <=
				pm_timer_control_bound(length[k]);
			ok += t.state == PM_TIMING_OK;
		}
		if (good < 95 || ok < 95)
			fail_msg("%g s: %d of 100 within the bound, %d ok", length[k], good, ok);
	}
}

static void three_percent_are_found(void **state)
{
	int found = 0, false_wins = 0;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		PmTiming t;

		begin(50e-6, 51.5e-6, 1000 + i);
		sim.noise = 0.02;
		t = run(i);
		found += t.kind[PM_TIME_COLD].ratio[1].hi < 1;
		false_wins += t.kind[PM_TIME_COLD].ratio[1].lo > 1;
	}
	if (found < 95 || false_wins)
		fail_msg("%d of 100 slowdowns found, %d taken for wins", found, false_wins);
}

/* What goes wrong with the device in simulated run i. */
static void choose_device(uint64_t i)
{
	static const double us[] = { 5, 50, 400 }, noise[] = { 0.005, 0.02, 0.06 };
	double t = us[i % 3] * 1e-6;

	begin(t, t, 5000 + i);
	sim.noise = noise[i / 3 % 3];
	switch (i / 9 % 8) {
	case 0:
		break;
	case 1:
		sim.outliers = 0.05;
		break;
	case 2:
		sim.heavy = 1;
		break;
	case 3:
		sim.walk = 0.005;
		sim.drift = 0.3;
		break;
	case 4:
		sim.mode = PM_SIM_MODE_PERIODIC;
		sim.mode_period = 2 << i / 72 % 3;
		break;
	case 5: /* the candidate's calls meet other modes than the baseline's */
		sim.mode = PM_SIM_MODE_PERIODIC;
		sim.mode_step = 2;
		break;
	case 6:
		sim.mode = PM_SIM_MODE_BY_SAMPLE + i / 72 % 2;
		break;
	case 7:
		sim.mode = PM_SIM_MODE_BY_SIDE;
		sim.mode_switch = 0.1;
		break;
	}
}

/* Equal sides are said to differ in at most 1 % of runs, however often the clock looked at the interval
 * before it ended: 1,512 runs, on devices of which something varies, with persistence or without. More than
 * 25 of them have a chance of 1 in 100 when it is 1 %. Nor is a run void for it. */
static void claims_are_false_once_in_a_hundred_at_most(void **state)
{
	int claims = 0, looked_twice = 0, refused = 0;

	(void)state;
	for (uint64_t i = 0; i < 1512; i++) {
		const PmInterval *r;
		PmTiming t;

		choose_device(i);
		t = run(i);
		r = &t.kind[PM_TIME_COLD].ratio[1];
		claims += pm_timer_claim(r->lo, r->hi) != PM_CLAIM_SAME;
		looked_twice += t.kind[PM_TIME_COLD].blocks > 16;
		refused += t.state != PM_TIMING_OK;
	}
	print_message("# %d of 1512 claims are false, %d runs are refused, %d looked more than once\n",
		      claims, refused, looked_twice);
	if (claims > 25 || refused > 15 || looked_twice < 500)
		fail_msg("%d of 1512 claims are false, %d runs are refused; %d looked more than once", claims,
			 refused, looked_twice);
}

/* Of alternatives the fastest is compared, and the slow ones are asked in the first round alone. */
static void the_fastest_alternative_is_chosen(void **state)
{
	PmTimerOpts o = { .n_sides = 6, .control = 5, .alternatives = 4 };
	int right = 0;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		size_t asked[6] = { 0 };
		PmTiming t;

		begin(50e-6, 40e-6, i);
		sim.t[2] = 30e-6;
		sim.t[3] = 25e-6;
		sim.t[4] = 26.5e-6;
		sim.t[5] = 50e-6;
		o.seed = i;
		assert_int_equal(try_run(&o, &t, NULL), PM_OK);
		right += t.chosen == 3;
		assert_int_equal(t.state, PM_TIMING_OK);
		for (size_t k = 0; k < sim.n && k < PM_SIM_ASKS; k++)
			asked[sim.ask[k].side]++;
		for (int k = 1; k < 3; k++) /* a guess, one round, and calls that do not count before it */
			assert_true(asked[k] >= 5 + 16 && asked[k] <= 5 + 16 + 4 * 3);
		assert_true(asked[0] < asked[t.chosen] && asked[5] < asked[t.chosen]);
		if (t.chosen == 3)
			near(t.kind[PM_TIME_COLD].ratio[1].point, 2, 0.03, "speedup");
		near(t.kind[PM_TIME_COLD].ratio[2].point, 1, 0.03, "control");
	}
	if (right < 95)
		fail_msg("the fastest of four was chosen %d times of 100", right);
	begin(50e-6, 40e-6, 1);
	o = (PmTimerOpts){ .n_sides = 3, .control = 2, .alternatives = 2 };
	assert_int_equal(try_run(&o, &(PmTiming){ 0 }, NULL), PM_E_INVALID);
}

static void times_are_those_of_one_call_without_the_marks(void **state)
{
	PmTiming t;

	(void)state;
	begin(10e-6, 5e-6, 3);
	t = run(3);
	assert_int_equal(t.state, PM_TIMING_OK);
	assert_int_equal(t.batch, 1);
	near(t.overhead, 1.34e-6, 32e-9, "overhead");
	near(t.tick, 32e-9, 1e-12, "tick");
	near(t.kind[PM_TIME_COLD].side[0].median, 10e-6, 60e-9, "baseline");
	near(t.kind[PM_TIME_COLD].side[1].median, 5e-6, 60e-9, "candidate");
	near(t.kind[PM_TIME_COLD].ratio[1].point, 2, 0.02, "speedup");
	near(t.kind[PM_TIME_REPLAY].side[1].median, 5e-6, 60e-9, "replayed");
	near(t.kind[PM_TIME_WALL].side[1].median, 5e-6, 60e-9, "on the host's clock");
	near(t.kind[PM_TIME_LATENCY].side[1].median, 5e-6, 60e-9, "one call and the wait for it");
	assert_true(t.kind[PM_TIME_REPLAY].blocks == 8 && t.kind[PM_TIME_WALL].blocks == 5);
	assert_true(t.kind[PM_TIME_LATENCY].blocks == 5);
}

static void steady_drift_cancels(void **state)
{
	enum { RUNS = 20 };
	double ratio = 0, control = 0;

	(void)state;
	for (uint64_t i = 0; i < RUNS; i++) {
		PmTiming t;

		begin(100e-6, 100e-6, 40 + i);
		sim.drift = 3; /* three times as slow after a second */
		t = run(40 + i);
		ratio += t.kind[PM_TIME_COLD].ratio[1].point / RUNS;
		control += t.kind[PM_TIME_COLD].ratio[2].point / RUNS;
	}
	near(ratio, 1, 0.0015, "ratio");
	near(control, 1, 0.0015, "control");
}

static void outliers_do_not_move_it(void **state)
{
	PmTiming t;

	(void)state;
	begin(100e-6, 90e-6, 5);
	sim.outliers = 0.03;
	t = run(5);
	near(t.kind[PM_TIME_COLD].ratio[1].point, 100.0 / 90, 0.01, "ratio");
	assert_int_equal(t.state, PM_TIMING_OK);
}

static void short_calls_go_in_batches(void **state)
{
	PmTiming t;

	(void)state;
	begin(200e-9, 160e-9, 6);
	t = run(6);
	assert_true(t.batch >= 3 && t.batch <= 6); /* 640 ns over 160 ns, as far as five rough samples tell */
	near(t.kind[PM_TIME_COLD].ratio[1].point, 1.25, 0.05, "ratio");
	begin(2e-9, 2e-9, 6);
	assert_int_equal(run(6).batch, PM_MAX_BATCH);
}

/* What takes less than the marks can tell has a bound, never the time 0 (or less, or that of their noise). */
static void a_time_below_the_marks_is_a_bound(void **state)
{
	static const double coarse[] = { 32e-9, 500e-9 };

	(void)state;
	for (int k = 0; k < 4; k++) {
		PmTiming t;
		const PmTimes *replay = &t.kind[PM_TIME_REPLAY];

		begin(k % 2 ? 0 : 1e-12, k % 2 ? 0 : 1e-12, 7 + (uint64_t)k);
		sim.tick = coarse[k / 2];
		sim.cold = 40e-6;
		t = run(7 + (uint64_t)k);
		assert_true(replay->blocks == 8 && replay->batch == PM_MAX_BATCH);
		assert_true(isnan(pm_timer_seconds(replay, 0)) && isnan(pm_timer_seconds(replay, 1)));
		assert_true(replay->resolution >= 1e-12 && replay->resolution <= 1.6e-6 / PM_MAX_BATCH);
		assert_true(isnan(replay->ratio[1].point));
		near(pm_timer_seconds(&t.kind[PM_TIME_COLD], 0), 40e-6, 600e-9, "from cold caches");
	}
}

/* A replayed call may be far shorter than a cold one, and is timed all the same. */
static void replayed_calls_have_batches_of_their_own(void **state)
{
	PmTiming t;

	(void)state;
	begin(200e-9, 160e-9, 6);
	sim.cold = 40e-6;
	t = run(6);
	assert_int_equal(t.batch, 1);
	assert_true(t.kind[PM_TIME_REPLAY].batch >= 3);
	near(pm_timer_seconds(&t.kind[PM_TIME_REPLAY], 1), 160e-9, 20e-9, "replayed");
}

static void nothing_is_timed_before_the_clock_is_steady(void **state)
{
	PmTiming t;

	(void)state;
	begin(50e-6, 50e-6, 7);
	sim.ramp = 1.5;
	t = run(7);
	assert_true(t.steady);
	assert_true(sim.first_sample >= 1.4);
	near(t.warm_seconds, sim.first_sample, 1e-9, "warm-up");
	begin(50e-6, 50e-6, 7);
	sim.restless = 1;
	t = run(7);
	assert_false(t.steady);
	assert_true(t.warm_seconds > 5 && sim.first_sample < 6);
}

/* An order, its reverse, and both again: what changes with the number of the sample, every other or two by
 * two, hits each side as often in a block. */
static void samples_go_through_every_order_on_equal_inputs(void **state)
{
	enum { SIDES = 3, SAMPLES = 4 * SIDES };
	int first[SIDES] = { 0 }, idle[SIDES] = { 0 };
	size_t at = SIDES * 5; /* the estimate comes first */
	PmTiming t;

	(void)state;
	begin(50e-6, 50e-6, 8);
	sim.noise = 0.04; /* more blocks */
	t = run(8);
	assert_true(t.kind[PM_TIME_COLD].blocks > 30);
	for (int b = 0; b < t.kind[PM_TIME_COLD].blocks; b++, at += SAMPLES) {
		const PmSampleAsk *a;
		int seen = 0;

		while (sim.ask[at].index != sim.ask[at + 1].index) { /* none to three that do not count */
			assert_int_equal(sim.ask[at].index, sim.ask[at - 1].index + 1);
			idle[sim.ask[at++].side]++;
		}
		a = &sim.ask[at];
		for (int i = 0; i < SAMPLES; i++) {
			assert_int_equal(a[i].kind, PM_TIME_COLD);
			assert_int_equal(a[i].side, a[SAMPLES - 1 - i].side);
			assert_int_equal(a[i].side, a[(i + SAMPLES / 2) % SAMPLES].side);
			assert_int_equal(a[i].index, a[0].index + (uint64_t)(i / SIDES));
			seen |= 1 << a[i].side;
		}
		assert_int_equal(seen, 7);
		assert_int_equal(a[0].index, a[-1].index + 1); /* never the same inputs twice */
		first[a[0].side]++;
	}
	assert_true(first[0] > 5 && first[1] > 5 && first[2] > 5);
	assert_true(idle[0] > 5 && idle[1] > 5 && idle[2] > 5);
}

static void disturbed_blocks_are_taken_again(void **state)
{
	PmTiming t;

	(void)state;
	begin(50e-6, 50e-6, 9);
	sim.disturbed = 0.005;
	t = run(9);
	assert_true(t.repeated > 0 && t.repeated * 10 <= t.kind[PM_TIME_COLD].blocks + 10);
	begin(50e-6, 50e-6, 9);
	sim.disturbed = 1; /* then there is nothing better to be had, and it ends */
	t = run(9);
	assert_true(t.repeated <= t.kind[PM_TIME_COLD].blocks / 10 + 5);
}

/* --- what it refuses to rank by --- */

static void times_that_say_nothing_are_named(void **state)
{
	(void)state;
	begin(50e-6, 5e-6, 10);
	sim.overhead = 100e-6; /* marks that vary by a microsecond, which is much of 5 us */
	finds(PM_TIMING_UNSTABLE, "marks themselves");
	begin(50e-6, 50e-6, 10);
	sim.noise = 0.3;
	sim.pause = 0.5; /* so slow that the time is up before the interval is narrow */
	finds(PM_TIMING_UNSTABLE, "is still between");
}

/* Varying is no fault of a time where the interval says how much is known, and the control is 1. */
static void times_that_vary_are_a_result(void **state)
{
	static const double noise[] = { 0.6, 0.01, 0.14, 0.155 }, us[] = { 50, 50, 50, 3 };
	PmTiming t;

	(void)state;
	for (int k = 0; k < 4; k++) {
		const PmInterval *v = &t.kind[PM_TIME_COLD].ratio[1];

		begin(us[k] * 1e-6, us[k] * 1e-6, 10);
		sim.noise = noise[k];
		sim.second_mode = k == 1 ? 0.4 : 0;
		sim.pause = k == 2 ? 0.1 : 300e-6; /* the time is up early */
		t = run(10);
		if (t.state != PM_TIMING_OK || pm_timer_claim(v->lo, v->hi) != PM_CLAIM_SAME)
			fail_msg("case %d: %s, %g to %g", k, t.why, v->lo, v->hi);
		assert_true(k == 3 || (v->hi - v->lo) / 2 > 0.013);
	}
	begin(50e-6, 50e-6, 10);
	sim.overhead = 100e-6; /* marks that vary, but equally for equal times */
	finds(PM_TIMING_OK, "");
	begin(50e-6, 6e-6, 10);
	sim.overhead = 4e-6;
	sim.rough_pairs = 200; /* and no more when they are asked again */
	finds(PM_TIMING_OK, "");
}

/* Every eighth call of a side takes three times as long, which the signed ranks alone do not see: of the
 * candidate it counts, and of the baseline (a candidate may be why) it makes no gain. */
static void a_share_of_slow_calls_counts(void **state)
{
	const PmInterval *v;
	PmTiming t;

	(void)state;
	begin(50e-6, 50e-6, 20);
	sim.slow_side = 1;
	sim.slow_calls = 0.125;
	t = run(20);
	v = &t.kind[PM_TIME_COLD].ratio[1];
	assert_true(t.state == PM_TIMING_OK && v->point < 0.9 && v->lo < 0.88);
	begin(50e-6, 50e-6, 20);
	sim.slow_side = 0;
	sim.slow_calls = 0.125;
	t = run(20);
	v = &t.kind[PM_TIME_COLD].ratio[1];
	assert_true(v->point < 1.03 && pm_timer_claim(v->lo, v->hi) == PM_CLAIM_SAME);
}

static void a_control_that_is_not_one_voids_the_run(void **state)
{
	(void)state;
	begin(50e-6, 25e-6, 11);
	sim.t[2] = 52e-6;
	finds(PM_TIMING_UNSTABLE, "The control");
}

static void times_that_cannot_be_are_named(void **state)
{
	PmTimerOpts o = with_control(12);
	PmTiming t;

	(void)state;
	begin(50e-6, 50e-6, 12);
	sim.t[1] = 0;
	sim.overhead = 0;
	finds(PM_TIMING_IMPLAUSIBLE, "no time at all");
	begin(550e-6, 50e-6, 12);
	finds(PM_TIMING_IMPLAUSIBLE, "times as fast");
	begin(100e-6, 50e-6, 12);
	o.floor[1] = 70e-6;
	assert_int_equal(try_run(&o, &t, NULL), PM_OK);
	assert_int_equal(t.state, PM_TIMING_IMPLAUSIBLE);
	assert_non_null(strstr(t.why, "The candidate takes"));
	begin(550e-6, 50e-6, 12);
	o.floor[1] = 0;
	o.max_speedup = 20;
	assert_int_equal(try_run(&o, &t, NULL), PM_OK);
	assert_int_equal(t.state, PM_TIMING_OK);
}

/* Long calls have an interval too. */
static void the_fewest_blocks_have_twice_the_time(void **state)
{
	PmTimerOpts o = with_control(14);
	const PmInterval *v;
	PmTiming t;

	(void)state;
	begin(50e-6, 25e-6, 14);
	sim.pause = 0.1;
	o.seconds = 8;
	assert_int_equal(try_run(&o, &t, NULL), PM_OK);
	v = &t.kind[PM_TIME_COLD].ratio[1];
	assert_true(t.kind[PM_TIME_COLD].blocks == 8 && v->lo > 1.9 && v->hi < 2.1);
	assert_true(t.state == PM_TIMING_OK && sim.clock < 20);
}

/* What a second look may clear, and what no repetition explains. */
static void doubts_are_kept_apart(void **state)
{
	PmTimerOpts o = with_control(3);
	PmTiming t;

	(void)state;
	begin(500e-6, 30e-6, 3);
	assert_int_equal(run(3).doubts, PM_DOUBT_SPEEDUP);
	begin(500e-6, 400e-6, 3);
	assert_int_equal(run(3).doubts, 0);
	o.floor[1] = 450e-6;
	assert_int_equal(try_run(&o, &t, NULL), PM_OK);
	assert_int_equal(t.doubts, PM_DOUBT_FLOOR);
	begin(500e-6, 0, 3);
	sim.overhead = 0;
	assert_true(run(3).doubts & PM_DOUBT_ZERO);
}

static void a_result_is_confirmed_by_one_that_agrees(void **state)
{
	static const struct {
		double found[3];
		int n, want;
	} runs[] = {
		{ { 12, 12.3 }, 2, 1 },  /* the second is published */
		{ { 12, 12.4 }, 2, -1 }, /* over 3 % apart */
		{ { 12.3, 12 }, 2, 1 },       { { 14, 12, 12.2 }, 3, 2 }, { { 12.2, 14, 12 }, 3, 0 },
		{ { 12, 14, 12.2 }, 3, 2 },   { { 10, 12, 14 }, 3, -1 },  { { 1, 1, 1 }, 3, 0 },
		{ { NAN, 12, 12.1 }, 3, -1 }, { { 12, NAN }, 2, -1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
		if (pm_timer_confirm(runs[i].found, runs[i].n) != runs[i].want)
			fail_msg("runs %zu: %d", i, pm_timer_confirm(runs[i].found, runs[i].n));
}

/* 50 us of the host in each call: the device's time does not see them, and the two clocks say so. */
static void a_host_that_holds_up_calls_shows(void **state)
{
	PmTiming t;

	(void)state;
	begin(100e-6, 80e-6, 4);
	t = run(4);
	assert_true(!t.host_bound[0] && !t.host_bound[1]);
	begin(100e-6, 80e-6, 4);
	sim.launching = 50e-6;
	t = run(4);
	assert_true(t.host_bound[0] && t.host_bound[1] && t.state == PM_TIMING_OK);
	near(t.kind[PM_TIME_COLD].ratio[1].point, 1.25, 0.01, "the speedup on the device");
}

/* Nanoseconds and less: the ratio is that of the times as they were measured. */
static void times_are_not_rounded(void **state)
{
	PmTiming t;

	(void)state;
	begin(100.000001e-6, 100e-6, 5);
	sim.noise = sim.tick = sim.overhead = 0;
	t = run(5);
	near(t.kind[PM_TIME_COLD].ratio[1].point, 1.00000001, 1e-12, "the speedup");
}

static void errors_of_the_device_end_the_run(void **state)
{
	PmTimerOpts o = with_control(13), bad = { .n_sides = 1 };
	PmTiming t;
	PmErr err;

	(void)state;
	begin(50e-6, 50e-6, 13);
	sim.fail_after = 40;
	pm_err_init(&err);
	assert_int_equal(try_run(&o, &t, &err), PM_E_TIMEOUT);
	assert_string_equal(err.text, "The simulated device hangs.");
	assert_int_equal(sim.n, 41);
	assert_int_equal(try_run(&bad, &t, &err), PM_E_INVALID);
	bad = (PmTimerOpts){ .n_sides = 2, .control = 2 };
	assert_int_equal(try_run(&bad, &t, &err), PM_E_INVALID);
}

static void two_groups_are_a_gap_with_enough_on_both_sides(void **state)
{
	double x[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		x[i] = 1 + 0.01 * i;
	assert_false(pm_timer_bimodal(x, 20));
	x[7] = 2; /* one outlier is no group */
	assert_false(pm_timer_bimodal(x, 20));
	x[3] = 2.1;
	assert_true(pm_timer_bimodal(x, 20));
	assert_false(pm_timer_bimodal(x, 0));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_is_found_the_same),
		cmocka_unit_test(three_percent_are_found),
		cmocka_unit_test(claims_are_false_once_in_a_hundred_at_most),
		cmocka_unit_test(the_fastest_alternative_is_chosen),
		cmocka_unit_test(times_are_those_of_one_call_without_the_marks),
		cmocka_unit_test(steady_drift_cancels),
		cmocka_unit_test(outliers_do_not_move_it),
		cmocka_unit_test(short_calls_go_in_batches),
		cmocka_unit_test(a_time_below_the_marks_is_a_bound),
		cmocka_unit_test(replayed_calls_have_batches_of_their_own),
		cmocka_unit_test(nothing_is_timed_before_the_clock_is_steady),
		cmocka_unit_test(samples_go_through_every_order_on_equal_inputs),
		cmocka_unit_test(disturbed_blocks_are_taken_again),
		cmocka_unit_test(times_that_say_nothing_are_named),
		cmocka_unit_test(times_that_vary_are_a_result),
		cmocka_unit_test(a_share_of_slow_calls_counts),
		cmocka_unit_test(a_control_that_is_not_one_voids_the_run),
		cmocka_unit_test(times_that_cannot_be_are_named),
		cmocka_unit_test(the_fewest_blocks_have_twice_the_time),
		cmocka_unit_test(doubts_are_kept_apart),
		cmocka_unit_test(a_result_is_confirmed_by_one_that_agrees),
		cmocka_unit_test(a_host_that_holds_up_calls_shows),
		cmocka_unit_test(times_are_not_rounded),
		cmocka_unit_test(errors_of_the_device_end_the_run),
		cmocka_unit_test(two_groups_are_a_gap_with_enough_on_both_sides),
	};

	return cmocka_run_group_tests_name("timer", tests, NULL, NULL);
}
