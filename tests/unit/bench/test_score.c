/* SPDX-License-Identifier: Apache-2.0 */
/* test_score.c - what the two presets make of records: reference points, exploits, odd data. */
#include "bench/score/score.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* An output that is close from level t on. */
static PmScoreOutput close_from(int dtype, int t)
{
	PmScoreOutput o = { dtype, 0, { 0 } };

	for (int u = PM_T_MIN; u <= PM_T_MAX; u++)
		o.close[u - PM_T_MIN] = u >= t;
	return o;
}

static PmScoreRecord record(const char *status, double speedup, const PmScoreOutput *o)
{
	return (PmScoreRecord){ status, speedup, 0, 0, o ? 1 : 0, o };
}

static PmScore score(PmPreset preset, const PmScoreRecord *r, size_t n)
{
	PmScoreRule rule = pm_score_rule(preset);
	PmScore s;
	PmErr err;

	pm_err_init(&err);
	if (pm_score(&rule, r, n, &s, &err) != PM_OK)
		fail_msg("%s", err.text);
	return s;
}

static double as_of(PmPreset preset, const char *status, double speedup, const PmScoreOutput *o)
{
	PmScoreRecord r = record(status, speedup, o);

	return score(preset, &r, 1).as;
}

static void near(double got, double want, double tol)
{
	if (!(fabs(got - want) <= tol))
		fail_msg("%.17g is not %.17g", got, want);
}

/* Closed forms: sum W = 5.957424; W_1 + .. + W_4 = 0.4096 + 0.32768 + 0.262144 + 0.001. */
static void reference_points(void **state)
{
	const double w = 5.957424, w1 = 0.4096, w2 = 0.32768, w3 = 0.262144, w4 = 0.001;
	PmScoreOutput strict = close_from(PM_F32, PM_T_MIN);

	(void)state;
	near(as_of(PM_PRESET_PASSNET, "eager_fail", NAN, NULL), 0.1, 1e-13);
	near(as_of(PM_PRESET_PASSNET, "accuracy", NAN, NULL), pow(0.1, 1 - (w1 + w2 + w3 + w4) / w), 1e-13);
	near(as_of(PM_PRESET_PASSNET, "shape_mismatch", NAN, NULL), pow(0.1, 1 - (w3 + w4) / w), 1e-13);
	near(as_of(PM_PRESET_PASSNET, "accuracy", NAN, NULL), 0.14721, 1e-5);
	near(as_of(PM_PRESET_PASSNET, "correct", 1.0, &strict), 1, 1e-13);
	near(as_of(PM_PRESET_PASSNET, "correct", 2.0, &strict), 2, 1e-12);
	/* ours forgives a failed compilation at t = 2 */
	near(as_of(PM_PRESET_SOUND, "compile_fail", NAN, NULL), pow(0.1, 1 - (w2 + w3 + w4) / w), 1e-13);
	near(as_of(PM_PRESET_SOUND, "no_match", 1.0, NULL), 0.14721, 1e-5);
	near(as_of(PM_PRESET_SOUND, "REJECTED_KERNEL", 9.0, NULL), 0.1, 1e-13);
	near(as_of(PM_PRESET_SOUND, "correct", 1.0, &strict), 1, 1e-13);
}

static void right_at_the_usual_level_with_speed_2(void **state)
{
	PmScoreOutput o = close_from(PM_F32, -5);
	const double w = 5.957424, strict = 3 + 0.8 + 0.64, misses = 0.005;

	(void)state;
	near(as_of(PM_PRESET_PASSNET, "correct", 2, &o), pow(2, 1 - misses / w) * pow(0.1, misses / w),
	     1e-12);
	near(as_of(PM_PRESET_PASSNET, "correct", 2, &o) / 2, 0.9975, 5e-5);
	/* ours counts the speed at t < 0 only */
	near(as_of(PM_PRESET_SOUND, "correct", 2, &o), pow(2, strict / w) * pow(0.1, misses / w), 1e-12);
}

/* A constant that passes from t = 0 on and is 1000 times faster than computing the answer. */
static void a_fast_constant_earns_its_speed_only_in_the_published_scorer(void **state)
{
	PmScoreOutput o = close_from(PM_F32, 0);
	PmScoreRecord r = record("correct", 1000, &o);
	PmScore s = score(PM_PRESET_SOUND, &r, 1);

	(void)state;
	near(as_of(PM_PRESET_PASSNET, "correct", 1000, &o), 1.03631, 1e-5);
	near(s.as, 0.17942, 1e-5);
	for (int k = 0; k < s.n_t; k++)
		assert_true(s.es[k] <= 1 + 1e-12);
	o = close_from(PM_F32, -1); /* rtol 0.067: tight enough for closeness, not for speed */
	assert_true(score(PM_PRESET_SOUND, &r, 1).es[-1 - PM_T_MIN] <= 1 + 1e-12);
	o = close_from(PM_F32, -2);
	near(score(PM_PRESET_SOUND, &r, 1).es[-1 - PM_T_MIN], 1000, 1e-9);
}

static void equality_types_keep_their_speed_at_every_level(void **state)
{
	PmScoreOutput o = { PM_I64, 1, { 0 } };

	(void)state;
	near(as_of(PM_PRESET_SOUND, "correct", 3, &o), 3, 1e-12);
	o.equal = 0;
	near(as_of(PM_PRESET_SOUND, "correct", 3, &o), 0.14721, 1e-5);
}

static void correct_but_slow_beats_a_crash(void **state)
{
	PmScoreOutput o = close_from(PM_F32, PM_T_MIN);

	(void)state;
	assert_true(as_of(PM_PRESET_PASSNET, "correct", 0.01, &o) < 0.1);
	near(as_of(PM_PRESET_PASSNET, "correct", 0, &o), 0, 0);
	near(as_of(PM_PRESET_SOUND, "correct", 0.01, &o), 0.2, 1e-13);
	near(as_of(PM_PRESET_SOUND, "correct", 0, &o), 0.2, 1e-13);
	near(as_of(PM_PRESET_SOUND, "correct", -5, &o), 0.2, 1e-13);
}

static void intervals_decide_what_is_credited(void **state)
{
	PmScoreOutput o = { PM_I64, 1, { 0 } };
	PmScoreRecord r = record("correct", 1.2, &o);

	(void)state;
	r.speedup_lo = 0.9;
	r.speedup_hi = 1.5;
	near(score(PM_PRESET_SOUND, &r, 1).as, 1, 1e-13);
	near(score(PM_PRESET_PASSNET, &r, 1).as, 1.2, 1e-12);
	r.speedup_lo = 1.1;
	near(score(PM_PRESET_SOUND, &r, 1).as, 1.1, 1e-12);
	r.speedup = 0.5;
	r.speedup_lo = 0.4;
	r.speedup_hi = 0.6;
	near(score(PM_PRESET_SOUND, &r, 1).as, 0.5, 1e-12);
	r.speedup = 1e9;
	r.speedup_lo = r.speedup_hi = 0;
	near(score(PM_PRESET_SOUND, &r, 1).as, 1000, 1e-8);
}

static void sound_scores_are_numbers_whatever_the_records_hold(void **state)
{
	const char *const statuses[] = { "correct", "accuracy", "", NULL, "crash", "missing" };
	const double speeds[] = { NAN, INFINITY, -INFINITY, -1, 0, 1e-320, 1e308, 1 };
	PmScoreOutput o = close_from(PM_F32, -4), odd = close_from(77, -4);
	const PmScoreOutput *const outs[] = { &o, &odd, NULL };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		for (size_t j = 0; j < 8; j++) {
			for (size_t k = 0; k < 3; k++) {
				PmScoreRecord r = record(statuses[i], speeds[j], outs[k]);
				PmScore s;

				if (k == 2)
					r.n_outputs = i; /* outputs announced but not there */
				r.speedup_lo = speeds[(j + 1) % 8];
				r.speedup_hi = speeds[(j + 3) % 8];
				s = score(PM_PRESET_SOUND, &r, 1);
				assert_true(s.as >= 0.1 - 1e-12 && s.as <= 1000);
			}
		}
	}
	near(score(PM_PRESET_SOUND, NULL, 0).as, 0.1, 1e-13);
}

static void unmeasured_is_neutral_and_counted(void **state)
{
	PmScoreOutput o = close_from(PM_F32, PM_T_MIN);
	PmScoreRecord r[2] = { record("correct", NAN, &o), record("accuracy", NAN, &o) };
	PmScore s = score(PM_PRESET_SOUND, r, 1);

	(void)state;
	near(s.as, 1, 1e-13);
	assert_int_equal(s.n_untimed, 1);
	assert_int_equal(score(PM_PRESET_SOUND, r, 2).n_untimed, 1);
}

static void the_published_scorer_stops_where_the_reference_does(void **state)
{
	PmScoreRule rule = pm_score_rule(PM_PRESET_PASSNET);
	PmScoreOutput o = close_from(PM_F32, 3);
	PmScoreRecord r[2] = { record("accuracy", NAN, NULL), record("correct", NAN, &o) };
	PmScoreMacro m;
	PmScore s;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_score(&rule, r, 2, &s, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "Record 1 is correct at t = 3 but has no speedup"));
	assert_true(isnan(s.as));
	assert_int_equal(pm_score_macro(&rule, r, 2, &m, NULL), PM_OK);
	assert_int_equal(pm_score(&rule, r, 0, &s, NULL), PM_OK);
	assert_true(isnan(s.as) && isnan(s.es[0]));
}

static void one_bad_variant_counts_among_many(void **state)
{
	PmScoreOutput o = close_from(PM_F32, PM_T_MIN);
	PmScoreRecord r[10];

	(void)state;
	for (int i = 0; i < 10; i++)
		r[i] = record("correct", 1, &o);
	r[3] = record("eager_fail", NAN, NULL);
	near(score(PM_PRESET_PASSNET, r, 10).as, pow(0.1, 0.1), 1e-13);
	r[3] = record("missing", NAN, NULL);
	near(score(PM_PRESET_SOUND, r, 10).as, pow(0.1, 0.1), 1e-13);
}

static void smallest_level_is_reported(void **state)
{
	PmScoreRule rule = pm_score_rule(PM_PRESET_SOUND);
	PmScoreOutput o[2] = { close_from(PM_F32, -6), close_from(PM_F16, -3) };
	PmScoreRecord r = { "correct", 1, 0, 0, 2, o };

	(void)state;
	assert_int_equal(pm_score_smallest_t(&rule, &r), -3);
	o[0] = close_from(PM_F32, 9);
	assert_int_equal(pm_score_smallest_t(&rule, &r), PM_T_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reference_points),
		cmocka_unit_test(right_at_the_usual_level_with_speed_2),
		cmocka_unit_test(a_fast_constant_earns_its_speed_only_in_the_published_scorer),
		cmocka_unit_test(equality_types_keep_their_speed_at_every_level),
		cmocka_unit_test(correct_but_slow_beats_a_crash),
		cmocka_unit_test(intervals_decide_what_is_credited),
		cmocka_unit_test(sound_scores_are_numbers_whatever_the_records_hold),
		cmocka_unit_test(unmeasured_is_neutral_and_counted),
		cmocka_unit_test(the_published_scorer_stops_where_the_reference_does),
		cmocka_unit_test(one_bad_variant_counts_among_many),
		cmocka_unit_test(smallest_level_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
