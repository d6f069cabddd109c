/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool_deaths.c - workers that die in their start, and items that fail without a word. */
#include "base/sys/pool.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 40 };

/* In memory that the processes share. */
typedef struct Shared {
	atomic_int starts;
	int die_until; /* starts up to this one die, by worker die_of only; -1 = any */
	int die_of, by_exit;
	size_t exit_at, fail_at;
	size_t die_at; /* by the signal, where it is not the caller who works */
	int die_by;
	pid_t caller;
	int done[N], died[N]; /* written by the caller alone */
} Shared;

static Shared *s;

static int set_up(void **state)
{
	(void)state;
	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED)
		return -1;
	s->die_of = -1;
	s->exit_at = s->fail_at = s->die_at = SIZE_MAX;
	s->caller = getpid();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(s, sizeof *s);
}

static PmStatus start(void *arg, int worker, PmErr *err)
{
	int n = atomic_fetch_add(&s->starts, 1) + 1;

	(void)arg;
	if (n > 1000)
		return pm_err(err, PM_E_INTERNAL, "Started %d times.", n);
	if (n <= s->die_until && (s->die_of < 0 || s->die_of == worker)) {
		if (s->by_exit)
			_exit(7);
		raise(SIGKILL);
	}
	return PM_OK;
}

static PmStatus work(void *arg, size_t item, void *result, PmErr *err)
{
	(void)arg, (void)err;
	if (item == s->exit_at)
		_exit(0); /* as a library may */
	if (item == s->die_at && getpid() != s->caller)
		raise(s->die_by);
	if (item == s->fail_at)
		return PM_E_IO; /* and not a word */
	*(long *)result = (long)item + 1;
	return PM_OK;
}

static PmStatus done(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	(void)arg, (void)err;
	s->done[item]++;
	s->died[item] += end == PM_POOL_DIED;
	if (end == PM_POOL_DONE)
		assert_int_equal(*(const long *)result, (long)item + 1);
	return PM_OK;
}

static PmStatus run(int jobs, PmErr *err)
{
	PmPool p = { N, sizeof(long), jobs, start, NULL, work, done, NULL, NULL, NULL, 0 };

	pm_err_init(err);
	return pm_pool_run(&p, err);
}

static void who_always_dies_in_its_start_is_given_up(void **state)
{
	PmErr err;

	(void)state;
	for (s->by_exit = 0; s->by_exit < 2; s->by_exit++) {
		s->die_until = INT32_MAX;
		s->starts = 0;
		assert_int_equal(run(3, &err), PM_E_CRASH);
		assert_int_equal(s->starts, 9);
		assert_non_null(strstr(err.text, s->by_exit ? "with status 7" : "by signal 9"));
		assert_non_null(strstr(err.text, "40 of 40 items"));
		for (int i = 0; i < N; i++)
			assert_int_equal(s->done[i], 0);
	}
}

static void the_others_do_its_work(void **state)
{
	PmErr err;

	(void)state;
	s->die_until = INT32_MAX;
	s->die_of = 1;
	assert_int_equal(run(3, &err), PM_OK);
	for (int i = 0; i < N; i++) {
		assert_int_equal(s->done[i], 1);
		assert_int_equal(s->died[i], 0);
	}
}

static void who_dies_once_is_started_again(void **state)
{
	PmErr err;

	(void)state;
	s->die_until = 2;
	assert_int_equal(run(2, &err), PM_OK);
	assert_in_range(s->starts, 3, 4); /* the second worker may have nothing left to be started for */
	for (int i = 0; i < N; i++)
		assert_int_equal(s->done[i], 1);
}

static void a_process_that_leaves_loses_its_item_only(void **state)
{
	PmErr err;

	(void)state;
	s->exit_at = 5;
	assert_int_equal(run(2, &err), PM_OK);
	for (int i = 0; i < N; i++) {
		assert_int_equal(s->done[i], 1);
		assert_int_equal(s->died[i], i == 5);
	}
}

static void the_caller_does_what_was_killed_from_outside(void **state)
{
	PmPool p = { N, sizeof(long), 2, start, NULL, work, done, NULL, NULL, NULL, 1 };
	PmErr err;

	(void)state;
	s->die_at = 5;
	for (int i = 0; i < 3; i++) { /* not what ended by its own fault, and only where it was asked for */
		memset(s->done, 0, sizeof s->done);
		memset(s->died, 0, sizeof s->died);
		s->die_by = i == 1 ? SIGTERM : SIGKILL;
		p.again = i < 2;
		pm_err_init(&err);
		assert_int_equal(pm_pool_run(&p, &err), PM_OK);
		for (size_t k = 0; k < N; k++) {
			assert_int_equal(s->done[k], 1);
			assert_int_equal(s->died[k], k == 5 && i > 0);
		}
	}
}

static void what_the_caller_fails_at_is_named(void **state)
{
	PmPool p = { N, sizeof(long), 2, start, NULL, work, done, NULL, NULL, NULL, 1 };
	PmErr err;

	(void)state;
	s->die_at = s->fail_at = 7;
	s->die_by = SIGKILL;
	pm_err_init(&err);
	assert_int_equal(pm_pool_run(&p, &err), PM_E_IO);
	assert_non_null(strstr(err.text, "item 7"));
	assert_int_equal(s->done[7], 0);
}

/* Also the only one: nobody but who asks for one process loses the caller. */
static void a_single_item_dies_alone(void **state)
{
	PmPool p = { 1, sizeof(long), pm_pool_jobs(0), start, NULL, work, done, NULL, NULL, NULL, 0 };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	s->exit_at = 0;
	assert_int_equal(pm_pool_run(&p, &err), PM_OK);
	assert_int_equal(s->done[0], 1);
	assert_int_equal(s->died[0], 1);
}

static void an_item_that_failed_is_not_done_and_is_named(void **state)
{
	PmErr err;

	(void)state;
	for (int jobs = 1; jobs <= 2; jobs++) {
		s->fail_at = 3;
		assert_int_equal(run(jobs, &err), PM_E_IO);
		assert_int_equal(s->done[3], 0);
		assert_non_null(strstr(err.text, "item 3"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_always_dies_in_its_start_is_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_others_do_its_work, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_dies_once_is_started_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_leaves_loses_its_item_only, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_caller_does_what_was_killed_from_outside, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_the_caller_fails_at_is_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_single_item_dies_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_item_that_failed_is_not_done_and_is_named, set_up,
						tear_down),
	};

	return cmocka_run_group_tests_name("pool_deaths", tests, NULL, NULL);
}
