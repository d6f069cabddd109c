/* SPDX-License-Identifier: Apache-2.0 */
/* test_allclose.c - comparison reports: shapes, NaN, the worst element, ulps, the smallest passing level. */
#include "bench/compare/allclose.h"

#include "base/core/half.h"
#include "base/core/rng.h"
#include "base/sys/threads.h"
#include "ir/core/element.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>

static PmTensorView view(int dtype, const int64_t *dim, int rank, const void *data)
{
	return (PmTensorView){ dtype, rank, dim, data };
}

static PmComparison compare(PmPreset preset, int dtype, int64_t n, const void *expected, const void *got)
{
	PmTensorView e = view(dtype, &n, 1, expected), g = view(dtype, &n, 1, got);
	PmCloseRule rule = pm_close_rule(preset);
	PmComparison c;

	pm_compare(&e, &g, &rule, &c);
	return c;
}

static void the_worst_element_is_named(void **state)
{
	float e[4] = { 1, 100, -2, 0 }, g[4] = { 1.5f, 101, -2, 0 };
	PmComparison c = compare(PM_PRESET_SOUND, PM_F32, 4, e, g);

	(void)state;
	assert_true(c.comparable && !c.equal);
	assert_int_equal(c.n_different, 2);
	assert_int_equal(c.worst.index, 0);
	assert_true(c.worst.expected == 1 && c.worst.got == 1.5 && c.worst.abs == 0.5 && c.worst.rel == 0.5);
	assert_true(c.worst.ulp == 4194304); /* half of the 2^23 steps from 1 to 2 */
	/* |d| = 0.5 against 10^t + 10^(1.1772 t): t = -1 allows 0.167, t = 0 allows 2 */
	assert_int_equal(c.smallest_t, 0);
}

/* What is off by less than t = -5 allows is different, and not wrong; what comes first hides no worse one. */
static void the_wrong_elements_are_counted(void **state)
{
	float e[5] = { 1, 1, -2, 0, 4 }, g[5] = { 1.0000001f, 1.25f, -2, 3, 4.5f };
	int32_t ie[3] = { 1, 2, 3 }, ig[3] = { 1, 4, 9 };
	PmComparison c = compare(PM_PRESET_SOUND, PM_F32, 5, e, g);

	(void)state;
	assert_int_equal(c.n_different, 4);
	assert_int_equal(c.n_wrong, 3);
	assert_int_equal(c.first.index, 1);
	assert_true(c.first.expected == 1 && c.first.got == 1.25);
	assert_int_equal(c.worst.index, 3);
	c = compare(PM_PRESET_SOUND, PM_I32, 3, ie, ig);
	assert_int_equal(c.n_wrong, 2);
	assert_int_equal(c.first.index, 1);
	assert_int_equal(c.worst.index, 2);
	c = compare(PM_PRESET_SOUND, PM_F32, 5, e, e);
	assert_true(c.n_wrong == 0 && c.first.index == -1);
}

static void neighbours_are_one_ulp_apart_also_across_zero(void **state)
{
	uint16_t e = pm_f16_from_f64(1), g = (uint16_t)(e + 1);
	float a = -FLT_TRUE_MIN, b = FLT_TRUE_MIN;
	double x = 1, y = nextafter(1, 0);

	(void)state;
	assert_true(compare(PM_PRESET_SOUND, PM_F16, 1, &e, &g).worst.ulp == 1);
	assert_true(compare(PM_PRESET_SOUND, PM_F32, 1, &a, &b).worst.ulp == 2);
	assert_true(compare(PM_PRESET_SOUND, PM_F64, 1, &x, &y).worst.ulp == 1);
}

static void nan_must_stand_in_the_same_places(void **state)
{
	float e[3] = { NAN, 1, 2 }, same[3] = { NAN, 1, 2 }, moved[3] = { 0, NAN, 2 };
	PmComparison c = compare(PM_PRESET_SOUND, PM_F32, 3, e, same);

	(void)state;
	assert_true(c.equal && c.smallest_t == PM_T_MIN && c.worst.index == -1);
	assert_int_equal(compare(PM_PRESET_PASSNET, PM_F32, 3, e, same).smallest_t, PM_T_NEVER);
	c = compare(PM_PRESET_SOUND, PM_F32, 3, e, moved);
	assert_int_equal(c.smallest_t, PM_T_NEVER);
	assert_int_equal(c.worst.index, 0);
	assert_true(isinf(c.worst.ulp));
}

static void infinities_are_worse_than_any_number(void **state)
{
	float e[3] = { 1, INFINITY, 3 }, g[3] = { 1e30f, FLT_MAX, 3 };
	PmComparison c = compare(PM_PRESET_SOUND, PM_F32, 3, e, g);

	(void)state;
	assert_int_equal(c.worst.index, 1);
	assert_int_equal(c.smallest_t, PM_T_NEVER);
}

static void shapes_must_agree_unless_the_preset_broadcasts(void **state)
{
	float e[6] = { 1, 1, 1, 1, 1, 1 }, g[3] = { 1, 1, 1 };
	int64_t de[2] = { 2, 3 }, dg[1] = { 3 };
	PmTensorView ve = view(PM_F32, de, 2, e), vg = view(PM_F32, dg, 1, g);
	PmCloseRule passnet = pm_close_rule(PM_PRESET_PASSNET), sound = pm_close_rule(PM_PRESET_SOUND);
	PmComparison c;

	(void)state;
	pm_compare(&ve, &vg, &sound, &c);
	assert_true(c.same_dtype && !c.same_shape && !c.comparable && c.smallest_t == PM_T_NEVER);
	pm_compare(&ve, &vg, &passnet, &c);
	assert_true(c.comparable && !c.equal);
	assert_int_equal(c.smallest_t, PM_T_MIN);
	assert_int_equal(c.numel, 6);
}

static void broadcasting_pairs_the_right_elements(void **state)
{
	float row[3] = { 1, 2, 3 }, column[2] = { 1, 2 };
	int64_t dr[2] = { 1, 3 }, dc[2] = { 2, 1 };
	PmTensorView r = view(PM_F32, dr, 2, row), c = view(PM_F32, dc, 2, column);
	PmCloseRule rule = pm_close_rule(PM_PRESET_PASSNET);
	PmComparison out;

	(void)state;
	/* pairs (1,1) (2,1) (3,1) (1,2) (2,2) (3,2): two are equal */
	pm_compare(&r, &c, &rule, &out);
	assert_int_equal(out.n_different, 4);
	assert_int_equal(out.worst.index, 2);
}

static void malformed_views_compare_to_nothing(void **state)
{
	float x[2] = { 1, 2 };
	int64_t two = 2, negative = -2, huge[3] = { INT64_MAX, INT64_MAX, 2 };
	PmTensorView good = view(PM_F32, &two, 1, x);
	PmTensorView bad[] = { view(PM_F32, &negative, 1, x), view(PM_F32, NULL, 1, x),
			       view(PM_F32, &two, 1, NULL),   view(99, &two, 1, x),
			       view(PM_F32, &two, 9, x),      view(PM_F32, &two, -1, x),
			       view(PM_F32, huge, 3, x),      view(PM_F16, &two, 1, x) };
	PmCloseRule rules[2] = { pm_close_rule(PM_PRESET_PASSNET), pm_close_rule(PM_PRESET_SOUND) };
	PmTol tol = { 1, 1 };

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		for (int k = 0; k < 2; k++) {
			PmComparison c;

			pm_compare(&good, &bad[i], &rules[k], &c);
			assert_false(c.comparable);
			pm_compare(&bad[i], &good, &rules[k], &c);
			assert_int_equal(c.smallest_t, PM_T_NEVER);
			assert_int_equal(pm_tensors_close(&good, &bad[i], &tol, &rules[k]), -1);
			assert_int_equal(pm_tensors_equal(&bad[i], &good, &rules[k]), 0);
		}
	}
}

static void integers_and_bools_are_equal_or_wrong(void **state)
{
	int64_t e = INT64_MAX, g = INT64_MIN;
	uint8_t yes = 1, no = 0;
	PmComparison c = compare(PM_PRESET_SOUND, PM_I64, 1, &e, &g);

	(void)state;
	assert_true(c.smallest_t == PM_T_NEVER && c.worst.abs == 18446744073709551615.0);
	assert_int_equal(compare(PM_PRESET_SOUND, PM_I64, 1, &e, &e).smallest_t, PM_T_MIN);
	assert_int_equal(compare(PM_PRESET_SOUND, PM_BOOL, 1, &yes, &no).smallest_t, PM_T_NEVER);
	assert_int_equal(compare(PM_PRESET_SOUND, PM_U8, 1, &yes, &yes).smallest_t, PM_T_MIN);
}

static void scalars_and_empty_tensors_compare(void **state)
{
	double x = 1, y = 1;
	int64_t zero = 0;
	PmTensorView a = view(PM_F64, NULL, 0, &x), b = view(PM_F64, NULL, 0, &y);
	PmTensorView empty = view(PM_F64, &zero, 1, NULL);
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmComparison c;

	(void)state;
	pm_compare(&a, &b, &rule, &c);
	assert_true(c.equal && c.numel == 1);
	pm_compare(&empty, &empty, &rule, &c);
	assert_true(c.equal && c.numel == 0 && c.smallest_t == PM_T_MIN);
}

/* The exact rule must hold at the last representable candidate, where double arithmetic may say otherwise:
 * with atol = 0, rtol = 2^-60 and y = 2^60 the limit is exactly 1, below one unit of y. */
static void exact_rule_decides_below_the_last_place(void **state)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	int64_t one = 1, y = (int64_t)1 << 60, inside = y + 1, outside = y + 2;
	PmTensorView e = view(PM_I64, &one, 1, &y), in = view(PM_I64, &one, 1, &inside);
	PmTensorView out = view(PM_I64, &one, 1, &outside);
	PmTol tol = { 0, ldexp(1, -60) }, less = { 0, nextafter(ldexp(1, -60), 0) };
	double big = DBL_MAX, minus = -DBL_MAX, least = DBL_TRUE_MIN, none = 0;
	PmTensorView vb = view(PM_F64, &one, 1, &big), vm = view(PM_F64, &one, 1, &minus);
	PmTensorView vl = view(PM_F64, &one, 1, &least), vn = view(PM_F64, &one, 1, &none);
	PmTol two = { 0, 2 }, below_two = { 0, nextafter(2, 0) }, tiny = { DBL_TRUE_MIN, 0 },
	      nothing = { 0, 0 };

	(void)state;
	assert_int_equal(pm_tensors_close(&e, &in, &tol, &rule), 1);
	assert_int_equal(pm_tensors_close(&e, &in, &less, &rule), 0);
	assert_int_equal(pm_tensors_close(&e, &out, &tol, &rule), 0);
	/* the difference of these two overflows a double */
	assert_int_equal(pm_tensors_close(&vb, &vm, &two, &rule), 1);
	assert_int_equal(pm_tensors_close(&vb, &vm, &below_two, &rule), 0);
	assert_int_equal(pm_tensors_close(&vn, &vl, &tiny, &rule), 1);
	assert_int_equal(pm_tensors_close(&vn, &vl, &nothing, &rule), 0);
	/* rtol * y below the least double: 0.75 of it is still less than the difference */
	assert_int_equal(pm_tensors_close(&vl, &vn, &(PmTol){ 0, 1 }, &rule), 1);
	assert_int_equal(pm_tensors_close(&vl, &vn, &(PmTol){ 0, 0.75 }, &rule), 0);
}

static void tolerances_outside_the_ladder_are_refused(void **state)
{
	PmTol tol;

	(void)state;
	assert_int_equal(pm_tol(PM_F32, -11, &tol), 0);
	assert_int_equal(pm_tol(PM_F32, 6, &tol), 0);
	assert_int_equal(pm_tol(PM_I64, 0, &tol), 0);
	assert_int_equal(pm_tol(-1, 0, &tol), 0);
	assert_true(tol.atol == 0 && tol.rtol == 0);
	assert_true(pm_tol(PM_F32, -5, &tol) && tol.atol == 1e-5 && tol.rtol == 1.3e-6);
}

/* What is surely close is close: pairs of every size and distance, special values among them, of each float
 * type. And it does say so of ordinary results, one ulp off. */
static void what_is_surely_close_is_close(void **state)
{
	static const int dtypes[] = { PM_F32, PM_F64, PM_F16, PM_BF16 };
	static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1e-45, 3e38, -3e38, 1e5 };
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	int sure = 0;
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 1);
	for (int i = 0; i < 40000; i++) {
		int dtype = dtypes[i % 4];
		double x = pm_rng_normal(&rng) * exp(8 * pm_rng_normal(&rng)), y;
		char a[8] = { 0 }, b[8] = { 0 };
		int64_t one = 1;
		PmTensorView e = view(dtype, &one, 1, a), g = view(dtype, &one, 1, b);
		PmTol tol;

		y = x * (1 + 1e-5 * pm_rng_normal(&rng));
		if (i % 7 == 0)
			x = special[pm_rng_range(&rng, 0, 8)];
		if (i % 11 == 0)
			y = special[pm_rng_range(&rng, 0, 8)];
		pm_float_store(dtype, a, x);
		pm_float_store(dtype, b, y);
		assert_true(pm_tol(dtype, -5, &tol));
		if (pm_surely_close(&e, &g, -5)) {
			sure++;
			assert_int_equal(pm_tensors_close(&e, &g, &tol, &rule), 1);
			assert_true(isfinite(x) && isfinite(y));
		}
	}
	assert_true(sure > 10000);
	assert_int_equal(pm_surely_close(&(PmTensorView){ PM_I32, 0, NULL, &sure },
					 &(PmTensorView){ PM_I32, 0, NULL, &sure }, -5),
			 0);
}

/* Large tensors are compared in parts, by several threads: counts, the first wrong element, and of two that
 * are equally far off the first are those of the whole. */
static void large_tensors_are_compared_in_parts(void **state)
{
	enum { N = 500009, LONE = 100, FAR = 262150, TWIN = 400000, WRONG = 131072 };
	static float e[N], g[N];
	static double de[N], dg[N];

	(void)state;
	for (int threads = 1; threads <= 3; threads++) {
		PmComparison c;

		pm_threads_limit(threads);
		for (int i = 0; i < N; i++)
			de[i] = dg[i] = e[i] = g[i] = (float)(i % 7) - 3;
		g[LONE] += 1e-6f;
		g[WRONG] += 0.5f;
		e[FAR] = e[TWIN] = 1;
		g[FAR] = g[TWIN] = 9;
		c = compare(PM_PRESET_SOUND, PM_F32, N, e, g);
		assert_true(c.comparable && c.same_shape && c.numel == N && !c.equal);
		assert_true(c.n_different == 4 && c.n_wrong == 3);
		assert_true(c.first.index == WRONG && c.worst.index == FAR && c.worst.got == 9);
		g[N - 1] = NAN;
		c = compare(PM_PRESET_PASSNET, PM_F32, N, e, g);
		assert_true(c.worst.index == N - 1 && c.smallest_t == PM_T_NEVER);
		assert_true(compare(PM_PRESET_SOUND, PM_F64, N, de, dg).equal);
		dg[TWIN] = INFINITY;
		c = compare(PM_PRESET_SOUND, PM_F64, N, de, dg);
		assert_true(c.n_different == 1 && c.first.index == TWIN && c.worst.index == TWIN);
	}
	pm_threads_limit(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(large_tensors_are_compared_in_parts),
		cmocka_unit_test(the_worst_element_is_named),
		cmocka_unit_test(the_wrong_elements_are_counted),
		cmocka_unit_test(neighbours_are_one_ulp_apart_also_across_zero),
		cmocka_unit_test(nan_must_stand_in_the_same_places),
		cmocka_unit_test(infinities_are_worse_than_any_number),
		cmocka_unit_test(shapes_must_agree_unless_the_preset_broadcasts),
		cmocka_unit_test(broadcasting_pairs_the_right_elements),
		cmocka_unit_test(malformed_views_compare_to_nothing),
		cmocka_unit_test(integers_and_bools_are_equal_or_wrong),
		cmocka_unit_test(scalars_and_empty_tensors_compare),
		cmocka_unit_test(exact_rule_decides_below_the_last_place),
		cmocka_unit_test(tolerances_outside_the_ladder_are_refused),
		cmocka_unit_test(what_is_surely_close_is_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
