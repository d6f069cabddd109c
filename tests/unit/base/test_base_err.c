/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_err.c - status codes and error sentences. */
#include "base/core/err.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void sentence_and_code_are_kept(void **state)
{
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(err.code, PM_OK);
	assert_int_equal(pm_err(&err, PM_E_TYPE, "Node %d is wrong.", 7), PM_E_TYPE);
	assert_int_equal(err.code, PM_E_TYPE);
	assert_string_equal(err.text, "Node 7 is wrong.");
}

static void context_goes_in_front(void **state)
{
	PmErr err;

	(void)state;
	pm_err(&err, PM_E_IO, "Cannot read.");
	assert_int_equal(pm_err_ctx(&err, "model %s", "a"), PM_E_IO);
	assert_string_equal(err.text, "model a: Cannot read.");
}

static void long_text_is_cut_not_overrun(void **state)
{
	char big[3 * PM_ERR_MAX];
	PmErr err;

	(void)state;
	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	pm_err(&err, PM_E_LIMIT, "%s", big);
	assert_int_equal(strlen(err.text), PM_ERR_MAX - 1);
	pm_err_ctx(&err, "%s", "context");
	assert_int_equal(strlen(err.text), PM_ERR_MAX - 1);
	assert_memory_equal(err.text, "context: xxx", 12);
	pm_err_ctx(&err, "%s", big);
	assert_int_equal(strlen(err.text), PM_ERR_MAX - 1);
}

static void arguments_may_be_the_old_sentence(void **state)
{
	PmErr err;

	(void)state;
	pm_err(&err, PM_E_IO, "inner");
	pm_err(&err, PM_E_IO, "outer (%s)", err.text);
	assert_string_equal(err.text, "outer (inner)");
}

static void null_error_still_gives_the_code(void **state)
{
	(void)state;
	assert_int_equal(pm_err(NULL, PM_E_ABI, "x"), PM_E_ABI);
	assert_int_equal(pm_err_ctx(NULL, "x"), PM_E_INTERNAL);
}

static void names_and_exit_codes_follow_the_table(void **state)
{
	(void)state;
	assert_string_equal(pm_status_name(PM_E_TYPE), "E_TYPE");
	assert_string_equal(pm_status_name(PM_OK), "OK");
	assert_string_equal(pm_status_name(-999), "E_UNKNOWN");
	assert_int_equal(pm_status_exit_code(PM_OK), 0);
	assert_int_equal(pm_status_exit_code(PM_DECLINED), 1);
	assert_int_equal(pm_status_exit_code(PM_E_ENV), 3);
	assert_int_equal(pm_status_exit_code(PM_E_INVALID), 4);
	assert_int_equal(pm_status_exit_code(PM_E_NOT_FOUND), 4);
	assert_int_equal(pm_status_exit_code(PM_E_INTERNAL), 5);
	assert_int_equal(pm_status_exit_code(-999), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sentence_and_code_are_kept),
		cmocka_unit_test(context_goes_in_front),
		cmocka_unit_test(long_text_is_cut_not_overrun),
		cmocka_unit_test(arguments_may_be_the_old_sentence),
		cmocka_unit_test(null_error_still_gives_the_code),
		cmocka_unit_test(names_and_exit_codes_follow_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
