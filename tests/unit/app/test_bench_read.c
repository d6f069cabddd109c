/* SPDX-License-Identifier: Apache-2.0 */
/* test_bench_read.c - the systems of a table, by their names on the command line. */
#include "app/eval/bench_read.h"

#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_name_says_which_kind_of_system(void **state)
{
	static PmBench b; /* large */
	char named[4200];
	PmErr err;

	(void)state;
	pm_err_init(&err);
	snprintf(named, sizeof named, "mine=%s", built("passes/silu.so"));
	assert_int_equal(pm_bench_add(&b, "eager", "none", &err), PM_OK);
	assert_int_equal(pm_bench_add(&b, "torch-inductor", "none", &err), PM_OK);
	assert_int_equal(pm_bench_add(&b, "timed-fuse", "none", &err), PM_OK);
	assert_int_equal(pm_bench_add(&b, "silu", built("passes"), &err), PM_OK);
	assert_int_equal(pm_bench_add(&b, named, "none", &err), PM_OK);
	assert_int_equal(b.table.n, 5);
	assert_int_equal(b.system[0].kind, PM_BENCH_EAGER);
	assert_int_equal(b.system[1].kind, PM_BENCH_EXTERNAL);
	assert_string_equal(b.system[1].path, "torch inductor");
	assert_int_equal(b.system[2].kind, PM_BENCH_EXTERNAL);
	assert_string_equal(b.system[2].path, "passmith fuse");
	assert_int_equal(b.system[3].kind, PM_BENCH_PASS);
	assert_string_equal(b.system[3].path, built("passes/silu.so"));
	assert_string_equal(b.table.name[3], "silu");
	assert_string_equal(b.table.name[4], "mine");
	pm_bench_release(&b);
}

static void what_is_no_system_is_told(void **state)
{
	static PmBench twice, none;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_bench_add(&twice, "eager", "none", &err), PM_OK);
	assert_int_equal(pm_bench_add(&twice, "eager", "none", &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "'eager' is given twice"));
	pm_err_init(&err);
	assert_int_equal(pm_bench_add(&none, "no_such_pass", "no/folder", &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "no/folder/no_such_pass.so"));
	pm_bench_release(&twice);
	pm_bench_release(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_says_which_kind_of_system),
		cmocka_unit_test(what_is_no_system_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
