/* SPDX-License-Identifier: Apache-2.0 */
/* test_tools_left.c - how long a whole evaluation still takes: by the work of its variants, not their number.
 */
#include "app/tools/tools_priv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void judged(PmToolRun *r, int number, double seconds, int stored)
{
	cJSON *line = cJSON_CreateObject();

	cJSON_AddNumberToObject(line, "number", number);
	cJSON_AddNumberToObject(line, "seconds", seconds);
	cJSON_AddBoolToObject(line, "stored", stored);
	cJSON_AddItemToArray(r->so_far, line);
	r->done++;
	r->heard = seconds;
}

static void what_is_left_is_weighed(void **state)
{
	PmToolRun r = { .total = 5, .so_far = cJSON_CreateArray() };
	static const double work[] = { 10, 30, 1000, 60, 400 };

	(void)state;
	for (int i = 0; i < 5; i++)
		PM_VEC_PUSH(&r.work, work[i]);
	judged(&r, 2, 0, 1); /* the database had it: neither time nor pace */
	judged(&r, 0, 1, 0);
	assert_true(isnan(pm__seconds_left(&r, 1)));
	judged(&r, 1, 4, 0);
	assert_true(fabs(pm__seconds_left(&r, 4) - 46) < 1e-9); /* 460 at 10 a second */
	assert_true(fabs(pm__seconds_left(&r, 14) - 36) < 1e-9);
	assert_true(isnan(pm__seconds_left(&r, 51))); /* never none while variants are left */
	judged(&r, 3, 10, 0);
	judged(&r, 4, 50, 0);
	assert_true(isnan(pm__seconds_left(&r, 50)));
	cJSON_Delete(r.so_far);
	PM_VEC_RELEASE(&r.work);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_left_is_weighed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
