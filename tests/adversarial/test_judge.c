/* SPDX-License-Identifier: Apache-2.0 */
/* test_judge.c - passes that try the judge: each ends in its verdict, and an honest pass after it is still
 * right. */
#include "base/core/json.h"
#include "base/core/str.h"
#include "base/sandbox/sandbox_priv.h"
#include "base/sys/io.h"
#include "bench/eval/runner.h"
#include "bench/report/report.h"
#include "integrity/cubin/cubin_gate.h"
#include "runtime/worker/run.h"
#include "tests/lib/device/bound_check.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"
#include "tests/lib/passes/results.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define JUDGE   "tests/adversarial/passes/judge_attacks.so"
#define DEVICE  "tests/adversarial/passes/device_attacks.so"
#define OVERLAP "tests/adversarial/passes/E01c_overlap.so"

#define SILU_TEXT   "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }"
#define WHERE_TEXT  "g (bool[9,40] m, float[9,40] x, float[9,40] z) => (float[9,40] y) { y = Where(m, x, z) }"
#define SOFT_TEXT   "g (float[6,90] x) => (float[6,90] y) { y = Softmax<axis = 1>(x) }"
#define MATMUL_TEXT "g (float[5,1024] a, float[1024,6] b) => (float[5,6] y) { y = MatMul(a, b) }"
#define NORM_TEXT                                                                                            \
	"g (float[6,90] x, float[90] s, float[90] b) => (float[6,90] y) "                                    \
	"{ y = LayerNormalization<axis = 1, epsilon = 1e-5>(x, s, b) }"

static PmEvalOpts options(const char *rule, PmPrecisionTier tier)
{
	return (PmEvalOpts){ .device = "emu",
			     .preset = PM_PRESET_SOUND,
			     .tier = tier,
			     .secret = test_secret(7),
			     .only_rule = rule,
			     .pass_deadline = 60,
			     .device_deadline = 100 };
}

static PmEvalRecord eval(const char *so, const char *rule, const char *text, PmPrecisionTier tier)
{
	PmEvalOpts o = options(rule, tier);
	PmEvalVariant m = { .label = rule, .g = NULL };
	PmEvalRecord r;
	PmGraph *g = pm_test_graph(text);
	PmErr err;

	pm_test_need_device("emu");
	pm_err_init(&err);
	m.g = g;
	if (pm_eval_variant(built(so), &m, &o, &r, &err))
		fail_msg("%s: %s", rule, err.text);
	pm_graph_free(g);
	return r;
}

/* Returns the coverage. */
static double expect(const char *so, const char *rule, const char *text, PmPrecisionTier tier,
		     const char *want, const char *says)
{
	PmEvalRecord r = eval(so, rule, text, tier);
	double coverage = r.coverage;

	if (!pm_attack_is_one_of(pm_verdict_name(r.verdict), want))
		fail_msg("%s: %s (%s), expected %s", rule, pm_verdict_name(r.verdict), r.why, want);
	if (says && !strstr(r.why, says))
		fail_msg("%s: '%s' does not say '%s'", rule, r.why, says);
	pm_eval_record_release(&r);
	return coverage;
}

static void attack(const char *rule, const char *text, const char *want, const char *says)
{
	expect(JUDGE, rule, text, PM_TIER_STRICT, want, says);
	expect(JUDGE, "honest", SILU_TEXT, PM_TIER_STRICT, "OK", NULL);
}

static void A17b_finite_for_infinite(void **state)
{
	(void)state;
	attack("A17b_finite", SILU_TEXT, "INCORRECT", "special");
}

static void X03_known_inputs(void **state)
{
	(void)state;
	/* By inputs of a secret seed, or, where those begin with a zero as well, in a call that is timed. */
	attack("X03_known_inputs", SILU_TEXT, "INCORRECT", NULL);
}

static void X04_mask_never_hides_the_first(void **state)
{
	(void)state;
	attack("X04_mask_never_hides_the_first", WHERE_TEXT, "INCORRECT", NULL);
}

static void X05_no_epsilon(void **state)
{
	(void)state;
	attack("X05_no_epsilon", NORM_TEXT, "INCORRECT", NULL);
	expect(JUDGE, "honest_norm", NORM_TEXT, PM_TIER_STRICT, "OK", NULL);
}

static void X06_no_shift(void **state)
{
	(void)state;
	attack("X06_no_shift", SOFT_TEXT, "INCORRECT", NULL);
	expect(JUDGE, "honest_softmax", SOFT_TEXT, PM_TIER_STRICT, "OK", NULL);
}

static void X12_shift_by_a_sample(void **state)
{
	(void)state;
	expect(JUDGE, "X12_shift_by_a_sample", SOFT_TEXT, PM_TIER_STRICT, "INCORRECT", NULL);
}

/* What strict refuses, the tier that admits it lets pass; half sums no tier does. */
static void A20_lanes(void **state)
{
	(void)state;
	expect(DEVICE, "A20_tf32_gemm", MATMUL_TEXT, PM_TIER_TF32, "OK", NULL);
	expect(DEVICE, "A20b_bf16_gemm", MATMUL_TEXT, PM_TIER_TF32, "PRECISION", "bf16");
	expect(DEVICE, "A20b_bf16_gemm", MATMUL_TEXT, PM_TIER_BF16, "OK", NULL);
	expect(DEVICE, "A20c_fp16_acc", MATMUL_TEXT, PM_TIER_BF16, "INCORRECT", NULL);
	expect(DEVICE, "honest_matmul", MATMUL_TEXT, PM_TIER_STRICT, "OK", NULL);
}

/* ---- credit ---- */

#define FREE_TEXT                                                                                            \
	"g (float[5,67] x) => (float[67,5] y)\n<int64[2] s = {67, 5}>\n{ t = Reshape(x, s)\n y = Tanh(t) }"

static void E09_match_single_reshape(void **state)
{
	(void)state;
	attack("E09_match_single_reshape", FREE_TEXT, "NO_CREDIT", "free");
}

/* One region or two: the share of the baseline's time is the same. */
static void E14_split(void **state)
{
	static const char text[] = "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n t = Sigmoid(s)\n"
				   " u = Tanh(t)\n y = Tanh(u) }";
	double split = expect(JUDGE, "sigmoid_alone", text, PM_TIER_STRICT, "OK", NULL);

	(void)state;
	if (fabs(split - 0.5) > 0.02)
		fail_msg("two of four equal operators are %g of the time", split);
}

/* What is computed twice counts once. */
static void X02_recompute(void **state)
{
	static const char text[] =
		"g (float[5,67] x) => (float[5,67] y, float[5,67] z) { e = Exp(x)\n y = Relu(e)\n"
		" z = Neg(e) }";
	double share = expect(JUDGE, "X02_recompute", text, PM_TIER_STRICT, "OK", NULL);

	(void)state;
	if (fabs(share - 1.0 / 3) > 0.02)
		fail_msg("one of three equal operators is %g of the time", share);
}

/* Matches that share a node: each has to leave it to the other, or computes it once more, which is no region
 * of its own. */
static void E01c_overlapping_matches(void **state)
{
	static const char text[] =
		"g (float[5,67] x) => (float[5,67] y, float[5,67] z) { e = Exp(x)\n y = Relu(e)\n"
		" z = Neg(e) }";
	double share;

	(void)state;
	expect(OVERLAP, "takes_it", text, PM_TIER_STRICT, "NO_MATCH", NULL);
	share = expect(OVERLAP, NULL, text, PM_TIER_STRICT, "OK", NULL);
	if (fabs(share - 1) > 0.02)
		fail_msg("two regions with an operator in common are %g of the time", share);
}

/* The report of `passmith eval` on a graph in a file; owned. */
static cJSON *command(const char *so, const char *text, const char *options)
{
	char file[256], line[8192];
	const char *tmp = getenv("TMPDIR");
	PmStr out = PM_STR_INIT;
	cJSON *j = NULL;
	PmErr err;
	FILE *f;

	pm_test_need_device("emu");
	pm_err_init(&err);
	snprintf(file, sizeof file, "%.200s/judge-%d.gpt", tmp ? tmp : "/tmp", (int)getpid());
	if (pm_write_file(file, text, strlen(text), &err))
		fail_msg("%s", err.text);
	snprintf(line, sizeof line, "%s eval %s --pass %s %s --json --quiet 2>&1", built("passmith"), file,
		 built(so), options);
	f = popen(line, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		pm_str_add(&out, line);
	pclose(f);
	unlink(file);
	if (pm_json_parse(out.s, out.len, &j, &err))
		fail_msg("%s: %s", err.text, out.s);
	pm_str_release(&out);
	return pm_test_results(j);
}

static double number(const cJSON *j, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(j, key);

	assert_true(cJSON_IsNumber(v));
	return v->valuedouble;
}

static void no_credit(const char *so, const char *text, const char *want)
{
	cJSON *j = command(so, text, "--hidden 0");
	const cJSON *r = cJSON_GetArrayItem(j, 0);
	const cJSON *rec = cJSON_GetArrayItem(cJSON_GetObjectItem(r, "records"), 0);

	assert_string_equal(pm_json_str(rec, "verdict", ""), want);
	assert_true(number(r, "AS") < 1);
	assert_true(number(r, "fast_1") == 0);
	cJSON_Delete(j);
}

/* Allowed, and right; what it gains is said to be algebra, which a kernel without it does not gain. */
static void A09_redundant_double_relu(void **state)
{
	static const char twice[] = "g (float[5,67] x) => (float[5,67] y) { r = Relu(x)\n y = Relu(r) }";
	cJSON *j = command("tests/adversarial/passes/A09_double_relu.so", twice, "--hidden 0");
	const cJSON *r = cJSON_GetArrayItem(j, 0);

	(void)state;
	assert_int_equal(number(r, "correct"), 1);
	assert_true(number(r, "speedup") > 1);
	assert_int_equal(number(r, "algebraic"), 1);
	cJSON_Delete(j);
	j = command("passes/silu.so", SILU_TEXT, "--hidden 0");
	r = cJSON_GetArrayItem(j, 0);
	assert_int_equal(number(r, "correct"), 1);
	assert_int_equal(number(r, "algebraic"), 0);
	cJSON_Delete(j);
}

/* A file's name stands in the table of results: one that would write a line of its own there is none. */
static void X10_name_with_escapes(void **state)
{
	static const char *const names[] = { "/tmp/a\x1b[1A\x1b[2K.so", "/tmp/a\n  silu 15_15 9.99x.so",
					     "a\xe2\x80\xaexo.os", "a\x7f.so" };
	PmEvalOpts o = options(NULL, PM_TIER_STRICT);
	PmEvalReport r;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(pm_eval_pass(names[i], NULL, 0, &o, &r, &err), PM_E_INVALID);
		for (const char *p = err.text; *p; p++)
			assert_true(*p >= ' ' && *p <= '~');
		assert_non_null(strstr(err.text, "rename it"));
	}
}

/* The whole command: what earns nothing has a score below the baseline's. */
static void nothing_earns_nothing(void **state)
{
	(void)state;
	no_credit("tests/adversarial/passes/E09_free.so", FREE_TEXT, "NO_CREDIT");
	no_credit("tests/adversarial/passes/E09_free.so", SILU_TEXT, "NO_MATCH");
	no_credit("tests/adversarial/passes/E09_free.so",
		  "g (float[5,67] x) => (float[5,67] y) { t = Identity(x)\n y = Tanh(t) }", "NO_CREDIT");
}

/* No rules; a rule that claims what it has not done; a kernel that is empty (A12) is not even that. */
static void A05_empty_passes_earn_nothing(void **state)
{
	(void)state;
	no_credit("tests/adversarial/passes/A05_empty.so", SILU_TEXT, "REJECT_LINT");
	no_credit("tests/adversarial/passes/A05_nothing.so", SILU_TEXT, "REJECT_API");
}

/* Right for the one size that it knows, wrong on shapes drawn now. */
static void D25_hash_table(void **state)
{
	cJSON *j = command("tests/adversarial/passes/D25_hash_table.so", SILU_TEXT, "");
	const cJSON *r = cJSON_GetArrayItem(j, 0), *h = cJSON_GetObjectItem(r, "hidden");
	const cJSON *rec = cJSON_GetArrayItem(cJSON_GetObjectItem(r, "records"), 0);

	(void)state;
	assert_string_equal(pm_json_str(rec, "verdict", ""), "OK");
	assert_string_equal(pm_json_str(h, "verdict", ""), "INCORRECT");
	assert_non_null(strstr(pm_json_str(h, "why", ""), "hidden shape"));
	assert_true(number(r, "AS") < 1);
	cJSON_Delete(j);
	j = command("passes/silu.so", SILU_TEXT, "");
	r = cJSON_GetArrayItem(j, 0);
	h = cJSON_GetObjectItem(r, "hidden");
	assert_string_equal(pm_json_str(h, "verdict", ""), "OK");
	assert_true(number(h, "matched") == 2);
	assert_true(number(r, "AS") > 1);
	cJSON_Delete(j);
}

/* ---- the harness ---- */

static PmScoreOutput right_output(void)
{
	PmScoreOutput o = { .dtype = PM_F32, .equal = 1 };

	memset(o.close, 1, sizeof o.close);
	return o;
}

/* AS of one right record that ended so, with this speedup. */
static double worth(PmVerdict v, double speedup, size_t *untimed)
{
	PmScoreOutput o = right_output();
	PmEvalRecord rec = { .verdict = v, .speedup = speedup, .n_outputs = 1, .outputs = &o };
	PmEvalReport r = { .n = 1, .rec = &rec, .opts = options(NULL, PM_TIER_STRICT) };
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_score(&r, &err))
		fail_msg("%s", err.text);
	if (speedup != speedup || v != PM_VERDICT_OK)
		assert_true(r.fast1 == 0);
	if (untimed)
		*untimed = r.score.n_untimed;
	return r.score.as;
}

/* A candidate that makes its own times vary gains nothing by a lucky one, under any preset. */
static void a_wide_interval_is_no_gain(void **state)
{
	static const struct {
		double speedup, lo, hi, counts;
	} cases[] = { { 1.3, 0.98, 1.5, 1 },
		      { 1.3, 1.1, 1.5, 1.1 },
		      { 1.3, 1.28, 1.32, 1.3 },
		      { 0.9, 0.8, 1.01, 0.9 } };
	PmScoreOutput o = right_output();
	double got[2];
	PmErr err;

	(void)state;
	pm_err_init(&err);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (int plain = 0; plain < 2; plain++) {
			PmEvalRecord rec = { .verdict = PM_VERDICT_OK,
					     .speedup = plain ? cases[i].counts : cases[i].speedup,
					     .measured = !plain,
					     .n_outputs = 1,
					     .outputs = &o };
			PmEvalReport r = { .n = 1, .rec = &rec, .opts = options(NULL, PM_TIER_STRICT) };

			r.opts.preset = PM_PRESET_PASSNET;
			rec.timing.lo = cases[i].lo;
			rec.timing.hi = cases[i].hi;
			if (pm_eval_score(&r, &err))
				fail_msg("%s", err.text);
			got[plain] = r.score.as;
		}
		if (got[0] != got[1])
			fail_msg("%g (%g to %g) counts as %g instead of %g", cases[i].speedup, cases[i].lo,
				 cases[i].hi, got[0], got[1]);
	}
}

/* A clock that failed is a kind of failure, whatever it showed: never a speedup of 1. */
static void C16_a_failed_clock_is_no_speedup(void **state)
{
	static const PmVerdict failed[] = { PM_VERDICT_TIMING_UNSTABLE, PM_VERDICT_TIMING_QUARANTINE,
					    PM_VERDICT_DEVICE_TIMEOUT, PM_VERDICT_DEVICE_FAULT };
	size_t untimed = 0;

	(void)state;
	for (size_t i = 0; i < sizeof failed / sizeof *failed; i++)
		if (worth(failed[i], NAN, NULL) >= 0.5)
			fail_msg("%s without a time is worth %g", pm_verdict_name(failed[i]),
				 worth(failed[i], NAN, NULL));
	/* Unstable times never count as faster, and not as less slow. */
	assert_true(worth(PM_VERDICT_TIMING_UNSTABLE, 8, NULL) <= 1);
	assert_true(worth(PM_VERDICT_TIMING_UNSTABLE, 0.5, NULL) == worth(PM_VERDICT_OK, 0.5, NULL));
	assert_true(worth(PM_VERDICT_TIMING_QUARANTINE, 50, NULL) < 0.5);
	/* What nobody asked to be timed is counted apart. */
	worth(PM_VERDICT_OK, NAN, &untimed);
	assert_int_equal(untimed, 1);
}

/* Times pass through reports as they are. */
static void G19_times_keep_their_digits(void **state)
{
	PmEvalRecord r = { .speedup = 1.0000000000000002, .baseline_seconds = 1.2345678901234567e-6 }, back;
	cJSON *j = pm_eval_record_json(&r), *read;
	PmStr text = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_json_print(j, 0, &text);
	assert_int_equal(pm_json_parse(text.s, text.len, &read, &err), PM_OK);
	assert_int_equal(pm_eval_record_from_json(read, &back, &err), PM_OK);
	assert_true(back.baseline_seconds == r.baseline_seconds);
	assert_true(back.speedup == r.speedup);
	pm_eval_record_release(&back);
	cJSON_Delete(j);
	cJSON_Delete(read);
	pm_str_release(&text);
}

static const char *result(void *arg, size_t k)
{
	static char name[64];

	snprintf(name, sizeof name, "seed %d, result %zu", *(int *)arg, k);
	return name;
}

/* Plain kernels, one operator each, are within the bound of a whole graph for every seed. */
static void G22_plain_kernels_pass_200_seeds(void **state)
{
	PmGraph *g = pm_test_graph(
		"g (float[7,130] x, float[130,33] w, float[33] b) => (float[7,33] y)\n"
		"{ m = MatMul(x, w)\n a = Add(m, b)\n t = Tanh(a)\n y = Softmax<axis = 1>(t) }");
	PmWorker *w;

	(void)state;
	pm_test_need_device("emu");
	w = pm_worker_new("emu");
	for (int seed = 0; seed < 200; seed++) {
		PmRunOpts o = { .device = "emu", .deadline = 100, .poison = 0x7fc1d00d, .worker = w };
		PmTensor in[3];
		PmRunResult got;
		PmErr err;

		pm_err_init(&err);
		if (pm_inputs_make(g, (uint64_t)seed, (PmInputClass)(seed % PM_INPUTS_SPECIAL), in, &err) ||
		    pm_run_graph(g, in, 3, &o, &got, &err))
			fail_msg("%s", err.text);
		assert_int_equal(bound_check(g, in, got.out, got.n_out, result, &seed), 1);
		pm_run_result_release(&got);
		pm_tensors_release(in, 3);
	}
	pm_worker_free(w);
	pm_graph_free(g);
}

static unsigned claims_all(void)
{
	return PM_BOX_ALL;
}

/* Before anything is evaluated the sandbox is tried, by processes that have to die in it; what it lacks
 * stands in the report, and what only says that it is there is not there. */
static void G27_the_sandbox_is_tried_first(void **state)
{
	PmEvalOpts o = options(NULL, PM_TIER_STRICT);
	unsigned passes = 0, kernels = 0;
	PmEvalReport r;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_eval_report_begin(&r, built(JUDGE), 1, &o, &err), PM_OK);
	pm_sandbox_probe(&passes, NULL);
	pm_sandbox_probe_kernels(&kernels, NULL);
	assert_int_equal(r.sandbox_lacks[0] == 0, (passes & kernels) == PM_BOX_ALL);
	assert_int_equal(pm__sandbox_stops(pm_sandbox_enter, PM_BOX_FILTER, NULL),
			 (passes & PM_BOX_FILTER) != 0);
	assert_int_equal(pm__sandbox_stops(pm_sandbox_enter, PM_BOX_NO_CLOCK, NULL),
			 (passes & PM_BOX_NO_CLOCK) != 0);
	assert_int_equal(pm__sandbox_stops(claims_all, PM_BOX_FILTER, NULL), 0);
	assert_int_equal(pm__sandbox_stops(claims_all, PM_BOX_NO_CLOCK, NULL), 0);
	pm_eval_report_release(&r);
}

/* On a device whose instructions the cubin gate does not read, the report says so; also of stored records. */
static void SC3_unread_machine_code_is_named(void **state)
{
	PmEvalOpts o = options(NULL, PM_TIER_STRICT);
	PmEvalReport r, again;
	size_t len;
	cJSON *j;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_true(pm_cubin_reads_code(80) && pm_cubin_reads_code(86) && pm_cubin_reads_code(89) &&
		    pm_cubin_reads_code(90));
	assert_false(pm_cubin_reads_code(87) || pm_cubin_reads_code(100) || pm_cubin_reads_code(0));
	assert_int_equal(pm_eval_report_begin(&r, built(JUDGE), 2, &o, &err), PM_OK);
	len = strlen(r.sandbox_lacks);
	assert_int_equal(pm_eval_score(&r, &err), PM_OK);
	assert_int_equal(strlen(r.sandbox_lacks), len);
	r.rec[0].unread_cc = r.rec[1].unread_cc = 100;
	assert_int_equal(pm_eval_score(&r, &err), PM_OK);
	assert_string_equal(r.sandbox_lacks + len + (len ? 2 : 0), "machine code is not read on sm_100");
	assert_int_equal(pm_eval_report_begin(&again, built(JUDGE), 1, &o, &err), PM_OK);
	j = pm_eval_record_json(&r.rec[0]);
	assert_int_equal(pm_eval_record_from_json(j, &again.rec[0], &err), PM_OK);
	assert_int_equal(again.rec[0].unread_cc, 100);
	cJSON_Delete(j);
	pm_eval_report_release(&again);
	pm_eval_report_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(A05_empty_passes_earn_nothing),
		cmocka_unit_test(A17b_finite_for_infinite),
		cmocka_unit_test(A20_lanes),
		cmocka_unit_test(C16_a_failed_clock_is_no_speedup),
		cmocka_unit_test(a_wide_interval_is_no_gain),
		cmocka_unit_test(D25_hash_table),
		cmocka_unit_test(E01c_overlapping_matches),
		cmocka_unit_test(E09_match_single_reshape),
		cmocka_unit_test(SC3_unread_machine_code_is_named),
		cmocka_unit_test(E14_split),
		cmocka_unit_test(G19_times_keep_their_digits),
		cmocka_unit_test(G22_plain_kernels_pass_200_seeds),
		cmocka_unit_test(G27_the_sandbox_is_tried_first),
		cmocka_unit_test(X02_recompute),
		cmocka_unit_test(X03_known_inputs),
		cmocka_unit_test(X04_mask_never_hides_the_first),
		cmocka_unit_test(X05_no_epsilon),
		cmocka_unit_test(X06_no_shift),
		cmocka_unit_test(X12_shift_by_a_sample),
		cmocka_unit_test(A09_redundant_double_relu),
		cmocka_unit_test(X10_name_with_escapes),
		cmocka_unit_test(nothing_earns_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
