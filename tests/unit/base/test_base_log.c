/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_log.c - messages and progress on stderr, seen from outside through a forked child. */
#include "base/sys/log.h"
#include "base/sys/proc.h"
#include "base/sys/progress.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

static PmErr err;
static PmProcResult r;

/* Runs fn in a child with PASSMITH_LOG set; r.errtext is what it printed. */
static void in_child(PmForkFn fn, const char *setting)
{
	pm_proc_result_release(&r);
	if (setting)
		setenv("PASSMITH_LOG", setting, 1);
	else
		unsetenv("PASSMITH_LOG");
	assert_int_equal(pm_fork_call(fn, NULL, NULL, &r, &err), PM_OK);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.code, 0);
}

static int say_all(void *arg, PmStr *out)
{
	(void)arg;
	(void)out;
	pm_log(PM_LOG_ERROR, "ir", "e%d", 1);
	pm_log(PM_LOG_WARN, "ir", "w");
	pm_log(PM_LOG_INFO, "matcher", "i");
	pm_log(PM_LOG_DEBUG, "matcher", "d");
	return 0;
}

static int say_all_quietly(void *arg, PmStr *out)
{
	pm_log_set_level(PM_LOG_ERROR);
	return say_all(arg, out);
}

static void warnings_show_by_default_and_details_do_not(void **state)
{
	(void)state;
	in_child(say_all, NULL);
	assert_string_equal(r.errtext.s, "error: ir: e1\nwarning: ir: w\n");
}

static void quiet_leaves_errors(void **state)
{
	(void)state;
	in_child(say_all_quietly, NULL);
	assert_string_equal(r.errtext.s, "error: ir: e1\n");
}

static void levels_are_set_by_category(void **state)
{
	(void)state;
	in_child(say_all, "matcher:debug,ir:error");
	assert_string_equal(r.errtext.s, "error: ir: e1\nmatcher: i\nmatcher: d\n");
	in_child(say_all, "info");
	assert_string_equal(r.errtext.s, "error: ir: e1\nwarning: ir: w\nmatcher: i\n");
}

static void nonsense_settings_change_nothing(void **state)
{
	(void)state;
	in_child(say_all, "matcher:loud,,:,x,averyveryverylongcategoryname:debug,:debug");
	assert_string_equal(r.errtext.s, "error: ir: e1\nwarning: ir: w\n");
}

static int count(void *arg, PmStr *out)
{
	PmProgress p;
	int i;

	(void)arg;
	pm_progress_start(&p, "counting", 3);
	p.last_drawn -= 10; /* as if the last line had been drawn ten seconds ago */
	for (i = 0; i < 3; i++)
		pm_progress_step(&p, "item\nhidden");
	pm_str_addf(out, "%d %d", p.mode, (int)p.done);
	pm_progress_end(&p);
	return 0;
}

static int count_quietly(void *arg, PmStr *out)
{
	pm_log_set_level(PM_LOG_ERROR);
	return count(arg, out);
}

static void progress_is_plain_lines_without_a_terminal(void **state)
{
	(void)state;
	in_child(count, NULL);
	assert_string_equal(r.out.s, "2 3");
	assert_memory_equal(r.errtext.s, "counting 1/3, ", 14);
	assert_non_null(strstr(r.errtext.s, " left  item\n"));
	assert_null(strstr(r.errtext.s, "hidden"));
	assert_null(strchr(r.errtext.s, '\033'));
	assert_ptr_equal(strchr(r.errtext.s, '\n'), r.errtext.s + r.errtext.len - 1);
}

static void progress_is_silent_when_quiet(void **state)
{
	(void)state;
	in_child(count_quietly, NULL);
	assert_string_equal(r.out.s, "0 3");
	assert_int_equal(r.errtext.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_show_by_default_and_details_do_not),
		cmocka_unit_test(quiet_leaves_errors),
		cmocka_unit_test(levels_are_set_by_category),
		cmocka_unit_test(nonsense_settings_change_nothing),
		cmocka_unit_test(progress_is_plain_lines_without_a_terminal),
		cmocka_unit_test(progress_is_silent_when_quiet),
	};
	int rc;

	pm_str_init(&r.out);
	pm_str_init(&r.errtext);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	pm_proc_result_release(&r);
	return rc;
}
