/* SPDX-License-Identifier: Apache-2.0 */
/* test_nvrtc_time.c - a source that knows the time is told from a compiler that wavers, by compilers that
 * follow a script. */
#include "runtime/cuda/nvrtc/nvrtc_time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

typedef enum {
	STEADY,
	ONCE_OTHER,
	ONCE_FAILS,
	NEVER_TWICE,
	COIN,
	CLOCK,
	DATE,
	HOURS_PARITY,
	CLOCK_FAILS,
	SLOW_CLOCK, /* it ends in another second than it began in, and sees one or the other */
	SLOW_NEVER_TWICE
} Kind;

typedef struct Script {
	Kind kind;
	int calls;
	int odd; /* the call that is otherwise, of ONCE_* */
} Script;

static void wait_for_another_second(time_t began)
{
	const struct timespec nap = { 0, 5000000 };

	while (time(NULL) == began)
		nanosleep(&nap, NULL);
}

static PmStatus compile(void *arg, PmStr *ptx, PmErr *err)
{
	Script *s = arg;
	time_t now = time(NULL);
	const struct tm *t = localtime(&now);
	int call = s->calls++;

	if (s->kind == ONCE_FAILS && call == s->odd)
		return pm_err(err, PM_E_INVALID, "The compiler had an accident.");
	if (s->kind == CLOCK_FAILS && t->tm_hour == 0)
		return pm_err(err, PM_E_INVALID, "An assertion about %02d:%02d fails.", t->tm_hour,
			      t->tm_min);
	pm_str_add(ptx, "// code");
	if (s->kind == ONCE_OTHER && call == s->odd)
		pm_str_add(ptx, " in another order");
	if (s->kind == SLOW_CLOCK || s->kind == SLOW_NEVER_TWICE)
		wait_for_another_second(now);
	if (s->kind == SLOW_CLOCK)
		pm_str_addf(ptx, " %02d %d", t->tm_hour, call % 3 == 0);
	if (s->kind == NEVER_TWICE || s->kind == SLOW_NEVER_TWICE)
		pm_str_addf(ptx, " number %d", call);
	if (s->kind == COIN)
		pm_str_addf(ptx, " %d", 0x96 >> call % 8 & 1);
	if (s->kind == CLOCK)
		pm_str_addf(ptx, " %02d:%02d", t->tm_hour, t->tm_min);
	if (s->kind == DATE)
		pm_str_addf(ptx, " %d", t->tm_mday);
	if (s->kind == HOURS_PARITY)
		pm_str_addf(ptx, " %d", t->tm_hour % 2);
	return PM_OK;
}

static PmTimeFinding look_for(Kind kind, int odd, double seconds)
{
	Script s = { kind, 0, odd };
	PmStr first = PM_STR_INIT;
	PmTimeFinding found;
	PmErr err;

	pm_err_init(&err);
	pm__time_set(0);
	if (compile(&s, &first, &err))
		pm_str_clear(&first);
	found = pm__time_look(compile, &s, &first, seconds);
	pm_str_release(&first);
	return found;
}

static PmTimeFinding look(Kind kind, int odd)
{
	return look_for(kind, odd, 600);
}

static void what_is_always_the_same_does_not_know(void **state)
{
	(void)state;
	assert_int_equal(look(STEADY, 0), PM_TIME_UNKNOWN);
}

/* Another code or a failure once, at the first or the second look, or each time another one. */
static void a_compiler_that_wavers_is_no_clock(void **state)
{
	(void)state;
	assert_int_equal(look(ONCE_OTHER, 0), PM_TIME_WAVERS);
	assert_int_equal(look(ONCE_OTHER, 1), PM_TIME_WAVERS);
	assert_int_equal(look(ONCE_FAILS, 1), PM_TIME_WAVERS);
	assert_int_equal(look(NEVER_TWICE, 0), PM_TIME_WAVERS);
	assert_int_equal(look(COIN, 0), PM_TIME_WAVERS);
}

static void what_follows_the_clock_knows(void **state)
{
	(void)state;
	assert_int_equal(look(CLOCK, 0), PM_TIME_KNOWN);
	assert_int_equal(look(DATE, 0), PM_TIME_KNOWN);
	assert_int_equal(look(HOURS_PARITY, 0), PM_TIME_KNOWN);
	assert_int_equal(look(CLOCK_FAILS, 0), PM_TIME_KNOWN);
}

/* As on a machine with much to do, where the seconds go on while NVRTC compiles. */
static void what_is_slow_is_told_apart_too(void **state)
{
	(void)state;
	assert_int_equal(look(SLOW_CLOCK, 0), PM_TIME_KNOWN);
	assert_int_equal(look_for(SLOW_NEVER_TWICE, 0, 1), PM_TIME_WAVERS);
}

/* 11:00:00 and 00:31:57 of the day after, whenever it is. */
static void the_two_times_are_set(void **state)
{
	struct tm t[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		time_t before, now;

		do {
			before = time(NULL);
			pm__time_set(i);
			now = time(NULL);
		} while (before != now);
		localtime_r(&now, &t[i]);
	}
	assert_int_equal(t[0].tm_hour * 3600 + t[0].tm_min * 60 + t[0].tm_sec, 11 * 3600);
	assert_int_equal(t[1].tm_hour * 3600 + t[1].tm_min * 60 + t[1].tm_sec, 31 * 60 + 57);
	assert_true(t[0].tm_mday != t[1].tm_mday);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_always_the_same_does_not_know),
		cmocka_unit_test(a_compiler_that_wavers_is_no_clock),
		cmocka_unit_test(what_follows_the_clock_knows),
		cmocka_unit_test(what_is_slow_is_told_apart_too),
		cmocka_unit_test(the_two_times_are_set),
	};

	return cmocka_run_group_tests_name("unit/nvrtc_time", tests, NULL, NULL);
}
