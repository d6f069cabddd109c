/* SPDX-License-Identifier: Apache-2.0 */
/* test_timed.c - kernels that are right until they are timed. Each case ends in its verdict, and the same
 * kernel without the trick passes. Where there is no clock the calls are rehearsed (bench/timing/clock.h);
 * with PASSMITH_TEST_DEVICE=cuda they are timed. */
#include "bench/eval/runner.h"
#include "bench/inputs/inputs.h"
#include "bench/score/stratum.h"
#include "bench/timing/replay_verify.h"
#include "integrity/referee/referee.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#define ATTACKS "tests/adversarial/passes/timed_attacks.so"

enum { CALLS = 24, BLOCKS = 10 };

static const char silu[] = "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";

static const char *device(void)
{
	const char *d = getenv("PASSMITH_TEST_DEVICE");

	return d ? d : "emu";
}

/* What is drawn, digested and sketched is so under a key for each. */
static void keys_differ(const PmInputPool *b)
{
	const uint64_t key[] = { b->seed, b->digest, b->inner, b->sketch, b->salt, b->poison };

	for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(key[i] != key[k] && key[i] != ~key[k]);
}

/* The calls of the rule's kernel, made and checked as an evaluation does, but with no gate before them. With
 * `large` as if outputs were too large to be kept, but for a few. */
static PmReplayResult let_through(const char *rule, int large)
{
	PmWorker *w = pm_worker_new(device());
	PmClockOpts o = { .secret = test_secret(7),
			  .deadline = 100,
			  .seconds = 3,
			  .blocks = BLOCKS,
			  .keep = 1,
			  .keep_bytes = large };
	PmGraph *g = pm_test_graph(silu);
	PmWork base = { .g = g }, cand = { 0 };
	PmReplayOpts d = { .deadline = 100, .secret = test_secret(7) };
	PmCandidate c;
	PmClockResult r;
	PmReplayResult out;
	PmDeviceInfo info;
	PmErr err;

	pm_err_init(&err);
	if (pm_referee_rewrite(built(ATTACKS), rule, g, 60, &c, &err) || pm_worker_info(w, &info, &err))
		fail_msg("%s", err.text);
	if (c.verdict != PM_VERDICT_OK)
		fail_msg("%s: %s", rule, c.why);
	cand.g = c.g;
	if (info.measured || large)
		d.baseline = &base;
	if (info.measured ? pm_clock_compare(w, &base, &cand, 1, &o, &r, &err)
			  : pm_clock_rehearse(w, g, &cand, CALLS, &o, &r, &err))
		fail_msg("%s: %s", rule, err.text);
	keys_differ(&r.pool);
	if (pm_replay_verify(w, g, &cand, 1, &r, &d, &out, &err))
		fail_msg("%s: %s", rule, err.text);
	print_message(
		"# %s: %d calls, %d made again, %d special, %d compared, %d by sketches, %d fetched, %d "
		"with the reference%s%s\n",
		rule, out.calls, out.replayed, out.special, out.compared, out.projected, out.fetched,
		out.referenced, *out.why ? ": " : "", out.why);
	pm_clock_release(&r);
	pm_candidate_release(&c);
	pm_worker_free(w);
	pm_graph_free(g);
	return out;
}

/* Special calls there are, and the reference says that they are wrong. */
static void wrong_at_times(const char *rule, int least)
{
	PmReplayResult d = let_through(rule, 0), honest;

	if (d.state != PM_REPLAY_WRONG)
		fail_msg("%s: state %d, %s", rule, d.state, d.why);
	assert_true(d.special >= least);
	honest = let_through("honest_but_counting", 0);
	assert_true(honest.state == PM_REPLAY_OK && honest.special == 0);
}

static void only_the_tenth(void **state)
{
	(void)state;
	wrong_at_times("only_the_tenth", 1);
}

static void every_fourth_works(void **state)
{
	(void)state;
	wrong_at_times("every_fourth_works", CALLS / 2);
}

static void learns_for_fifteen_calls(void **state)
{
	(void)state;
	wrong_at_times("learns_for_fifteen_calls", CALLS - 15);
}

static void one_element_of_one_call(void **state)
{
	(void)state;
	wrong_at_times("one_element_of_one_call", 1);
}

static size_t n_files;

static int count_file(const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)path, (void)st, (void)at;
	n_files += what == FTW_F;
	return 0;
}

static size_t files_in(const char *folder)
{
	n_files = 0;
	nftw(folder, count_file, 16, FTW_PHYS);
	return n_files;
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *at)
{
	(void)st, (void)what, (void)at;
	return remove(path);
}

/* With an empty cache everything is compiled when the clock opens, and nothing after. */
static void compiling_is_over_before_the_first_call(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char folder[512], *cache = getenv("PASSMITH_CACHE");
	PmWorker *w = pm_worker_new(device());
	PmGraph *g = pm_test_graph(silu);
	PmWork work = { .g = g };
	PmTensor in[1];
	PmInputPool pool = { .t = in, .n_sets = 1, .n_in = 1, .seed = 1 };
	size_t compiled;
	int depth;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	cache = cache ? strdup(cache) : NULL;
	snprintf(folder, sizeof folder, "%.400s/passmith-timed-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder));
	setenv("PASSMITH_CACHE", folder, 1);
	assert_int_equal(pm_inputs_make(g, 1, PM_INPUTS_NORMAL, in, &err), PM_OK);
	if (pm_worker_clock_open(w, &work, 1, &pool, 100, &depth, &err))
		fail_msg("%s", err.text);
	compiled = files_in(folder);
	assert_true(compiled > 0);
	for (uint64_t i = 0; i < 3; i++) {
		PmSampleAsk ask = { 0, PM_TIME_NONE, i, 1, 0 };
		PmSample s;

		assert_int_equal(pm_worker_clock_take(w, &ask, &s, NULL, &err), PM_OK);
	}
	assert_int_equal(files_in(folder), compiled);
	pm_worker_free(w);
	nftw(folder, remove_one, 16, FTW_PHYS | FTW_DEPTH);
	if (cache)
		setenv("PASSMITH_CACHE", cache, 1);
	free(cache);
	pm_tensors_release(in, 1);
	pm_graph_free(g);
}

static PmEvalRecord evaluate(const char *rule, PmPreset preset, uint64_t secret, double deadline)
{
	PmGraph *g = pm_test_graph(silu);
	PmEvalVariant m = { .label = rule, .g = g };
	PmEvalOpts o = { .device = device(),
			 .preset = preset,
			 .secret = test_secret(secret),
			 .only_rule = rule,
			 .pass_deadline = 60,
			 .device_deadline = deadline,
			 .clock_seconds = 2 };
	PmEvalRecord r;
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built(ATTACKS), &m, &o, &r, &err))
		fail_msg("%s: %s", rule, err.text);
	pm_graph_free(g);
	return r;
}

static PmEvalRecord evaluation(const char *rule, PmPreset preset, uint64_t secret)
{
	return evaluate(rule, preset, secret, 100);
}

/* The kernel hung in a call that is no checked one. */
static int hung_in_another_call(const PmEvalRecord *r)
{
	return r->verdict == PM_VERDICT_DEVICE_TIMEOUT && !r->failure.inputs[0];
}

/* The deadline of checked calls, which the reference's time gives, is that of the others too. The kernel
 * hangs on one pattern in 32, wherever it comes first: with a short deadline a secret is looked for by which
 * that is not in a checked run. */
static void a_hang_in_a_rehearsed_call_is_told_in_time(void **state)
{
	int found = 0;

	(void)state;
	for (uint64_t secret = 1; secret < 80 && !found; secret++) {
		PmEvalRecord r = evaluate("hangs_by_the_poison", PM_PRESET_SOUND, secret, 1);
		const char *within;
		double seconds = 0;

		found = hung_in_another_call(&r);
		pm_eval_record_release(&r);
		if (!found)
			continue;
		r = evaluate("hangs_by_the_poison", PM_PRESET_SOUND, secret, 0);
		/* A short deadline may have passed for want of time. */
		found = hung_in_another_call(&r);
		if (found) {
			assert_non_null(strstr(r.why, "hangs_by_the_poison"));
			within = strstr(r.why, "within ");
			assert_non_null(within);
			seconds = strtod(within + strlen("within "), NULL);
			if (seconds < 10 || seconds > 30) /* 10, and 100 times what the reference took */
				fail_msg("%s", r.why);
		}
		pm_eval_record_release(&r);
	}
	assert_true(found);
}

/* The call and the element of the sentence are those of the fields. */
static void fields_agree(const PmEvalRecord *r)
{
	char text[96];

	snprintf(text, sizeof text, "timed call %lld of", (long long)r->failure.call);
	assert_true(r->failure.timed && strstr(r->why, text));
	snprintf(text, sizeof text, ": element %lld of", (long long)r->failure.worst.index);
	assert_true(strstr(r->why, text) && r->worst.index == r->failure.worst.index);
	assert_true(r->failure.n_wrong > 0 && r->failure.first.index >= 0);
}

/* Those that keep no state pass every gate: the whole evaluation. */
static void evaluated(const char *rule, PmPreset preset, PmVerdict want, const char *why)
{
	PmEvalRecord r = evaluation(rule, preset, 7);

	if (want == PM_VERDICT_OK && r.measured && r.verdict == PM_VERDICT_TIMING_UNSTABLE)
		print_message("# %s: %s\n", rule, r.why); /* of its time, not of what it made */
	else if (r.verdict != want || !strstr(r.why, why))
		fail_msg("%s: %s (%s)", rule, pm_verdict_name(r.verdict), r.why);
	assert_true(r.timing.calls > 0 && r.timing.replayed == r.timing.calls && r.timing.checked > 0);
	if (want == PM_VERDICT_INCORRECT)
		fields_agree(&r);
	pm_eval_record_release(&r);
}

static void by_the_poison(void **state)
{
	int found = 0;

	(void)state;
	/* One pattern in 64: found before, in a call that is timed, or not at all. */
	for (uint64_t secret = 1; secret < 60 && !found; secret++) {
		PmEvalRecord r = evaluation("by_the_poison", PM_PRESET_SOUND, secret);

		found = r.verdict == PM_VERDICT_INCORRECT && strstr(r.why, "timed call");
		if (found)
			fields_agree(&r);
		pm_eval_record_release(&r);
	}
	assert_true(found);
	evaluated("honest", PM_PRESET_SOUND, PM_VERDICT_OK, "");
}

/* What memory holds that nobody has written has one law in checked and in timed calls: what does less by any
 * of its bits is found before it is timed, or does not come to do less. */
static void poison_says_nothing(void **state)
{
	static const char *const rules[] = { "by_a_nans_low_bits", "by_a_nans_high_bits",
					     "by_a_numbers_low_half", "by_a_numbers_bits" };

	(void)state;
	for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
		for (uint64_t secret = 1; secret <= 3; secret++) {
			PmEvalRecord r = evaluation(rules[k], PM_PRESET_SOUND, secret);

			/* A GPU times before it checks all classes: what a checked run finds is found. */
			if (r.timing.calls > 0 && !strstr(r.why, "inputs ") &&
			    !(r.verdict == PM_VERDICT_OK ||
			      (r.measured && r.verdict == PM_VERDICT_TIMING_UNSTABLE)))
				fail_msg("%s, secret %d: %s (%s)", rules[k], (int)secret,
					 pm_verdict_name(r.verdict), r.why);
			pm_eval_record_release(&r);
		}
}

static void by_the_inputs(void **state)
{
	int found = 0;

	(void)state;
	/* It does less on one set of inputs in eight: found before, in a call that is timed, or not at all.
	 */
	for (uint64_t secret = 1; secret < 30 && !found; secret++) {
		PmEvalRecord r = evaluation("by_the_inputs", PM_PRESET_PASSNET, secret);

		found = r.verdict == PM_VERDICT_INCORRECT && strstr(r.why, "timed call");
		pm_eval_record_release(&r);
	}
	assert_true(found);
	evaluated("honest", PM_PRESET_SOUND, PM_VERDICT_OK, "");
}

/* Wrong on some inputs, and each time on those: no call is special, and the outputs of most are gone. */
static void by_the_inputs_of_large_calls(void **state)
{
	PmReplayResult d = let_through("by_the_inputs", 1);

	(void)state;
	assert_true(d.special == 0 && d.compared == PM_CLOCK_KEPT && d.projected == d.calls - PM_CLOCK_KEPT);
	assert_true(d.fetched > 0);
	assert_int_equal(d.state, PM_REPLAY_WRONG);
	d = let_through("honest", 1);
	assert_true(d.projected == d.calls - PM_CLOCK_KEPT);
	assert_int_equal(d.state, PM_REPLAY_OK);
}

/* Two tiny operators in one kernel: what is won are launches. The task says so beforehand, and the report has
 * the kernels' own time, that of a replay and that on the host's clock apart. */
static void C11_fuse_two_tiny(void **state)
{
	PmGraph *g = pm_test_graph(silu);
	PmEvalVariant m = { .label = "tiny", .g = g };
	PmEvalOpts o = {
		.device = device(), .secret = test_secret(7), .only_rule = "honest", .clock_seconds = 2
	};
	PmStratum stratum;
	PmEvalRecord r;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	o.preset = PM_PRESET_SOUND;
	if (pm_stratum(g, &stratum, &err) || pm_eval_variant(built(ATTACKS), &m, &o, &r, &err))
		fail_msg("%s", err.text);
	assert_non_null(strstr(pm_stratum_name(&stratum), "launch-bound"));
	assert_int_equal(r.baseline_launches, 2);
	assert_int_equal(r.candidate_launches, 1);
	if (r.verdict != PM_VERDICT_OK && !(r.measured && r.verdict == PM_VERDICT_TIMING_UNSTABLE))
		fail_msg("%s (%s)", pm_verdict_name(r.verdict), r.why);
	if (r.measured) {
		assert_true(r.timing.replay[0] > 0 && r.timing.wall[0] > 0);
		assert_true(r.timing.replay_speedup > 0 && r.timing.wall_speedup > 0);
		assert_true(r.timing.outside == 0 && r.coverage == 1); /* nothing is left beside the kernel */
		print_message("# two tiny operators in one: %.2f times as fast as launched, %.2f replayed, "
			      "%.2f on the "
			      "host's clock\n",
			      r.speedup, r.timing.replay_speedup, r.timing.wall_speedup);
	}
	pm_eval_record_release(&r);
	pm_graph_free(g);
}

/* Half of the operators are left: their own time is no part of what was replaced. */
static void coverage_is_timed(void **state)
{
	static const char text[] =
		"g (float[64,4096] x, float[64,4096] z) => (float[64,4096] y, float[64,4096] w)\n"
		"{ s = Sigmoid(x)\n y = Mul(x, s)\n t = Tanh(z)\n w = Add(t, y) }";
	PmGraph *g = NULL;
	PmEvalVariant m = { .label = "half", .g = NULL };
	PmEvalOpts o = {
		.device = device(), .secret = test_secret(7), .only_rule = "honest", .clock_seconds = 2
	};
	PmEvalRecord r;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	o.preset = PM_PRESET_SOUND;
	g = pm_test_graph(text);
	m.g = g;
	if (pm_eval_variant(built(ATTACKS), &m, &o, &r, &err))
		fail_msg("%s", err.text);
	assert_true(r.coverage > 0 && r.coverage < 1);
	if (r.measured) {
		assert_true(r.timing.outside > 0);
		print_message("# coverage %.3f: %.2f us of %.2f us are left beside the kernel\n", r.coverage,
			      1e6 * r.timing.outside, 1e6 * r.baseline_seconds);
	}
	pm_eval_record_release(&r);
	pm_graph_free(g);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_inputs_of_large_calls),
		cmocka_unit_test(C11_fuse_two_tiny),
		cmocka_unit_test(coverage_is_timed),
		cmocka_unit_test(only_the_tenth),
		cmocka_unit_test(every_fourth_works),
		cmocka_unit_test(learns_for_fifteen_calls),
		cmocka_unit_test(one_element_of_one_call),
		cmocka_unit_test(compiling_is_over_before_the_first_call),
		cmocka_unit_test(by_the_poison),
		cmocka_unit_test(poison_says_nothing),
		cmocka_unit_test(by_the_inputs),
		cmocka_unit_test(a_hang_in_a_rehearsed_call_is_told_in_time),
	};

	return cmocka_run_group_tests_name("timed", tests, NULL, NULL);
}
