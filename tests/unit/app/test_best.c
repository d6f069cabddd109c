/* SPDX-License-Identifier: Apache-2.0 */
/* test_best.c - whether one evaluation of an agent's session is better than another: not within its noise. */
#include "app/tools/tools_priv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* Needs what stands above. */
#include <cmocka.h>

static void modelled_times_are_the_same_in_three_digits(void **state)
{
	(void)state;
	assert_int_equal(pm__best_change(2.2417, 0, 2.2415, 0), 0);
	assert_int_equal(pm__best_change(2.2549, 0, 2.2551, 0), 0); /* which are shown as 2.25 and 2.26 */
	assert_int_equal(pm__best_change(2.24, 0, 2.26, 0), 1);
	assert_int_equal(pm__best_change(2.26, 0, 2.24, 0), -1);
	assert_int_equal(pm__best_change(0, 0, 2, 0), 1);
	assert_int_equal(pm__best_change(2, 0, 0, 0), -1);
	assert_int_equal(pm__best_change(0, 0, 0, 0), 0);
}

static cJSON *measured(double lo, double hi)
{
	cJSON *rec = cJSON_CreateObject(), *clock = cJSON_AddObjectToObject(rec, "clock");

	cJSON_AddNumberToObject(clock, "speedup_lo", lo);
	cJSON_AddNumberToObject(clock, "speedup_hi", hi);
	return rec;
}

static void measured_ones_within_their_intervals(void **state)
{
	cJSON *list = cJSON_CreateArray();
	double one, four;

	(void)state;
	cJSON_AddItemToArray(list, measured(1.9, 2.1));
	one = pm__best_noise(list);
	assert_true(fabs(one - log(2.1 / 1.9) / 2) < 1e-12);
	assert_true(pm__record_noise(list->child) == one);
	/* Two intervals: squares add. 10 % is within, 20 % is not. */
	assert_int_equal(pm__best_change(2, one, 2.1, one), 0);
	assert_int_equal(pm__best_change(2, one, 1.9, one), 0);
	assert_int_equal(pm__best_change(2, one, 2.4, one), 1);
	assert_int_equal(pm__best_change(2, one, 1.6, one), -1);
	/* The mean of four has half of the noise. */
	for (int i = 0; i < 3; i++)
		cJSON_AddItemToArray(list, measured(1.9, 2.1));
	four = pm__best_noise(list);
	assert_true(fabs(four - one / 2) < 1e-12);
	cJSON_Delete(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modelled_times_are_the_same_in_three_digits),
		cmocka_unit_test(measured_ones_within_their_intervals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
