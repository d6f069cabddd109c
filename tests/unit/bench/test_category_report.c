/* SPDX-License-Identifier: Apache-2.0 */
/* test_category_report.c - figures by category: counted and computed by hand from reports that are written
 * out. */
#include "bench/report/category_report.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Two graphs of `reduce` (three variants that were judged, one that was not), one of `activation`, whose pass
 * is wrong on a hidden shape, and a second pass on one of them without a score. */
static const char reports[] =
	"[{\"category\": \"reduce\", \"pass\": \"a/fuse.so\", \"fast_1\": 0.5, \"records\": ["
	"  {\"verdict\": \"OK\", \"kernels\": 1, \"speedup\": 4}, {\"verdict\": \"OK\", \"kernels\": 1, "
	"\"speedup\": 1},"
	"  {\"verdict\": \"HARNESS_FAIL\", \"kernels\": 1, \"speedup\": 9}]},"
	" {\"category\": \"activation\", \"pass\": \"a/fuse.so\", \"fast_1\": 0, \"hidden\": {\"verdict\": "
	"\"INCORRECT\"},"
	"  \"records\": [{\"verdict\": \"OK\", \"kernels\": 2, \"speedup\": 3}]},"
	" {\"category\": \"reduce\", \"pass\": \"a/fuse.so\", \"fast_1\": 1, \"hidden\": {\"verdict\": "
	"\"OK\"},"
	"  \"records\": [{\"verdict\": \"OK\", \"kernels\": 1, \"speedup\": 2}]},"
	" {\"category\": \"reduce\", \"pass\": \"silu.so\", \"records\": ["
	"  {\"verdict\": \"NO_MATCH\", \"kernels\": 0, \"speedup\": null}]}]";

static cJSON *list_of(const char *text)
{
	cJSON *in = cJSON_Parse(text), *out;

	assert_non_null(in);
	out = pm_category_report_json(in);
	cJSON_Delete(in);
	return out;
}

static double number(const cJSON *row, const char *key)
{
	return pm_json_num(row, key, NAN);
}

static void counts_and_means_are_of_a_category_and_a_pass(void **state)
{
	cJSON *list = list_of(reports), *activation = cJSON_GetArrayItem(list, 0), *row;

	(void)state;
	assert_int_equal(cJSON_GetArraySize(list), 3);
	/* In the order of categories.def, whichever came first. */
	assert_string_equal(pm_json_str(activation, "category", ""), "activation");
	assert_true(number(activation, "matched") == 1 && number(activation, "correct") == 0);
	assert_true(isnan(number(activation, "speedup")) && number(activation, "fast_1") == 0);
	row = cJSON_GetArrayItem(list, 1);
	assert_string_equal(pm_json_str(row, "category", ""), "reduce");
	assert_string_equal(pm_json_str(row, "pass", ""), "a/fuse.so");
	assert_true(number(row, "graphs") == 2 && number(row, "variants") == 3 &&
		    number(row, "not_judged") == 1);
	assert_true(number(row, "matched") == 3 && number(row, "correct") == 3);
	assert_true(fabs(number(row, "speedup") - 2) < 1e-12);      /* (4 * 1 * 2)^(1/3) */
	assert_true(fabs(number(row, "fast_1") - 2.0 / 3) < 1e-12); /* 1 of 2, and 1 of 1 */
	row = cJSON_GetArrayItem(list, 2);
	assert_string_equal(pm_json_str(row, "pass", ""), "silu.so");
	assert_true(number(row, "matched") == 0 && !cJSON_HasObjectItem(row, "fast_1"));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(row, "speedup")) || isnan(number(row, "speedup")));
	cJSON_Delete(list);
}

static void the_table_has_a_line_for_each(void **state)
{
	cJSON *list = list_of(reports);
	PmStr out = PM_STR_INIT;

	(void)state;
	pm_category_report_table(list, &out);
	assert_non_null(strstr(out.s,
			       "  activation       fuse                          1         1/1         0/1  "
			       "      -    0.00\n"));
	assert_non_null(strstr(out.s,
			       "  reduce           fuse                          2         3/3         3/3  "
			       "  2.00x    0.67\n"));
	assert_non_null(strstr(out.s,
			       "  reduce           silu                          1         0/1         0/1  "
			       "      -       -\n"));
	pm_str_release(&out);
	cJSON_Delete(list);
}

static void one_category_needs_no_table(void **state)
{
	cJSON *list = list_of("[{\"category\": \"reduce\", \"pass\": \"p\", \"records\": []}]");
	cJSON *none = list_of("[]"),
	      *unknown = list_of("[{\"category\": \"\", \"pass\": \"p\", \"records\": []}]");
	PmStr out = PM_STR_INIT;

	(void)state;
	pm_category_report_table(list, &out);
	pm_category_report_table(none, &out);
	assert_int_equal(out.len, 0);
	assert_int_equal(cJSON_GetArraySize(list), 1);
	assert_int_equal(cJSON_GetArraySize(none), 0);
	assert_int_equal(cJSON_GetArraySize(unknown), 0);
	cJSON_Delete(list);
	cJSON_Delete(none);
	cJSON_Delete(unknown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_and_means_are_of_a_category_and_a_pass),
		cmocka_unit_test(the_table_has_a_line_for_each),
		cmocka_unit_test(one_category_needs_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
