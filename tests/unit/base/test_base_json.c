/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_json.c - reading and writing JSON: exact numbers, escapes, refusals. */
#include "base/core/json.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <math.h>

#include <cmocka.h>

static PmErr err;

static cJSON *parse(const char *text)
{
	cJSON *j = NULL;

	assert_int_equal(pm_json_parse(text, strlen(text), &j, &err), PM_OK);
	return j;
}

static void check_printed(const cJSON *j, int pretty, const char *want)
{
	PmStr s = PM_STR_INIT;

	pm_json_print(j, pretty, &s);
	assert_string_equal(s.s, want);
	pm_str_release(&s);
}

static void integers_of_64_bits_survive_both_ways(void **state)
{
	cJSON *j = cJSON_CreateObject(), *back;
	PmStr s = PM_STR_INIT;

	(void)state;
	pm_json_add_i64(j, "max", INT64_MAX);
	pm_json_add_i64(j, "min", INT64_MIN);
	pm_json_add_i64(j, "odd", 9007199254740993);
	assert_true(pm_json_i64(j, "max", 0) == INT64_MAX);
	pm_json_print(j, 0, &s);
	assert_string_equal(s.s, "{\"max\":9223372036854775807,\"min\":-9223372036854775808,"
				 "\"odd\":9007199254740993}\n");
	back = parse(s.s);
	assert_true(pm_json_i64(back, "max", 0) == INT64_MAX);
	assert_true(pm_json_i64(back, "min", 0) == INT64_MIN);
	assert_true(pm_json_i64(back, "odd", 0) == 9007199254740993);
	assert_true(cJSON_IsNumber(cJSON_GetObjectItem(back, "odd")));
	check_printed(back, 0, s.s);
	cJSON_Delete(j);
	cJSON_Delete(back);
	pm_str_release(&s);
}

static void large_integers_are_found_behind_misleading_text(void **state)
{
	cJSON *j = parse(
		"{\"1\\\"2\":[1.5,{\"-3\":\"4\"},-9007199254740995],\"a\":true,\"b\":9007199254740993}");
	const cJSON *list = cJSON_GetObjectItem(j, "1\"2");

	(void)state;
	assert_string_equal(cJSON_GetArrayItem(list, 2)->valuestring, "-9007199254740995");
	assert_true(pm_json_i64(j, "b", 0) == 9007199254740993);
	cJSON_Delete(j);
}

static void doubles_read_back_as_the_same_bits(void **state)
{
	static const double v[] = { 0.1,         1.0 / 3, 1e300, 5e-324, -0.0, 123456789.123456789,
				    1 - 0x1p-53, 2.5e-8 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof v / sizeof *v; i++) {
		cJSON *j = cJSON_CreateObject(), *back;
		PmStr s = PM_STR_INIT;
		double got;

		cJSON_AddNumberToObject(j, "x", v[i]);
		pm_json_print(j, 0, &s);
		back = parse(s.s);
		got = pm_json_num(back, "x", 99);
		assert_memory_equal(&got, &v[i], sizeof got);
		cJSON_Delete(j);
		cJSON_Delete(back);
		pm_str_release(&s);
	}
}

static void nan_and_infinities_become_null(void **state)
{
	cJSON *j = cJSON_CreateArray();

	(void)state;
	cJSON_AddItemToArray(j, cJSON_CreateNumber((double)NAN));
	cJSON_AddItemToArray(j, cJSON_CreateNumber(-(double)INFINITY));
	cJSON_AddItemToArray(j, cJSON_CreateNumber(0.1));
	check_printed(j, 0, "[null,null,0.1]\n");
	cJSON_Delete(j);
}

static void layout_and_escapes_are_fixed(void **state)
{
	cJSON *j = parse(
		"{\"s\":\"a\\\"\\\\\\n\\u0001\\u00e9/\",\"e\":[],\"o\":{},\"l\":[1,[true,false,null]]}");

	(void)state;
	check_printed(
		j, 0,
		"{\"s\":\"a\\\"\\\\\\n\\u0001\xc3\xa9/\",\"e\":[],\"o\":{},\"l\":[1,[true,false,null]]}\n");
	check_printed(j, 1,
		      "{\n  \"s\": \"a\\\"\\\\\\n\\u0001\xc3\xa9/\",\n  \"e\": [],\n  \"o\": {},\n"
		      "  \"l\": [\n    1,\n    [\n      true,\n      false,\n      null\n    ]\n  ]\n}\n");
	cJSON_Delete(j);
}

static void junk_is_refused_with_line_and_column(void **state)
{
	static const struct {
		const char *text, *where;
	} junk[] = {
		{ "", "line 1, column 1" },
		{ "{\"a\":1,", "line 1, column" },
		{ "{\n\"a\": tru\n}", "line 2, column 6" },
		{ "[1,\n 2,\n  x]", "line 3, column 3" },
		{ "1 2", "line 1, column 3: something follows" },
		{ "[1]]", "column 4: something follows" },
		{ "\"a", "line 1" },
	};
	cJSON *j = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof junk / sizeof *junk; i++) {
		assert_int_equal(pm_json_parse(junk[i].text, strlen(junk[i].text), &j, &err), PM_E_INVALID);
		if (!strstr(err.text, junk[i].where))
			fail_msg("\"%s\" gave \"%s\", which lacks \"%s\"", junk[i].text, err.text,
				 junk[i].where);
	}
	assert_int_equal(pm_json_parse("[1,\0002]", 6, &j, &err), PM_E_INVALID);
	assert_int_equal(pm_json_parse("1\0", 2, &j, &err), PM_E_INVALID);
	assert_null(j);
}

static void deep_nesting_is_refused_not_overflowed(void **state)
{
	PmStr s = PM_STR_INIT;
	cJSON *j = NULL;
	int i;

	(void)state;
	for (i = 0; i < 200000; i++)
		pm_str_addc(&s, '[');
	assert_int_equal(pm_json_parse(s.s, s.len, &j, &err), PM_E_INVALID);
	pm_str_release(&s);
}

static void missing_and_mistyped_members_give_the_default(void **state)
{
	cJSON *j = parse("{\"s\":\"x\",\"n\":1.5,\"i\":7,\"big\":1e30,\"null\":null}");

	(void)state;
	assert_string_equal(pm_json_str(j, "s", "d"), "x");
	assert_string_equal(pm_json_str(j, "n", "d"), "d");
	assert_null(pm_json_str(j, "none", NULL));
	assert_true(pm_json_num(j, "n", 9) == 1.5);
	assert_true(pm_json_num(j, "s", 9) == 9);
	assert_true(pm_json_num(j, "null", 9) == 9);
	assert_true(pm_json_i64(j, "i", 9) == 7);
	assert_true(pm_json_i64(j, "n", 9) == 9);
	assert_true(pm_json_i64(j, "big", 9) == 9);
	assert_true(pm_json_i64(NULL, "i", 9) == 9);
	cJSON_Delete(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_of_64_bits_survive_both_ways),
		cmocka_unit_test(large_integers_are_found_behind_misleading_text),
		cmocka_unit_test(doubles_read_back_as_the_same_bits),
		cmocka_unit_test(nan_and_infinities_become_null),
		cmocka_unit_test(layout_and_escapes_are_fixed),
		cmocka_unit_test(junk_is_refused_with_line_and_column),
		cmocka_unit_test(deep_nesting_is_refused_not_overflowed),
		cmocka_unit_test(missing_and_mistyped_members_give_the_default),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
