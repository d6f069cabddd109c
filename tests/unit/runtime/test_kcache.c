/* SPDX-License-Identifier: Apache-2.0 */
/* test_kcache.c - work ahead in several processes: every item once, deaths and standstills contained. */
#include "runtime/device/kcache.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 60 };

typedef enum { WORKS, DIES, WAITS, SPINS, SLOW } Item;

typedef struct Plan {
	Item what[N];
	atomic_int *done; /* shared with the processes */
	int tick, cpu;    /* of the watch; 0 = none */
} Plan;

static void plan_open(Plan *p)
{
	memset(p, 0, sizeof *p);
	p->done = mmap(NULL, N * sizeof *p->done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(p->done != MAP_FAILED);
}

static void plan_close(Plan *p)
{
	munmap(p->done, N * sizeof *p->done);
}

/* Longer than the watch's two ticks, at a tenth of a processor: a compiler among many. */
static void work_slowly(void)
{
	const struct timespec nap = { 0, 45 * 1000 * 1000 };
	time_t end = time(NULL) + 4;

	while (time(NULL) < end) {
		clock_t busy = clock() + CLOCKS_PER_SEC / 200;

		while (clock() < busy)
			;
		nanosleep(&nap, NULL);
	}
}

static void work(void *arg, size_t i)
{
	Plan *p = arg;

	if (p->tick)
		pm_kcache_watch(p->tick, p->cpu);
	switch (p->what[i]) {
	case DIES:
		raise(SIGKILL);
		break;
	case WAITS:
		for (;;)
			pause();
	case SPINS:
		for (volatile int on = 1; on;)
			;
		break;
	case SLOW:
		work_slowly();
		break;
	case WORKS:
		break;
	}
	atomic_fetch_add(&p->done[i], 1);
}

/* Every item once, but those that never end. */
static void check(const Plan *p)
{
	for (size_t i = 0; i < N; i++) {
		int want = p->what[i] == WORKS || p->what[i] == SLOW;

		if (atomic_load(&p->done[i]) != want)
			fail_msg("item %zu was done %d times", i, atomic_load(&p->done[i]));
	}
}

static void every_item_is_done_once(void **state)
{
	(void)state;
	for (int jobs = 1; jobs <= 5; jobs++) {
		Plan p;

		plan_open(&p);
		pm_kcache_ahead(jobs, N, work, &p);
		check(&p);
		plan_close(&p);
	}
	pm_kcache_ahead(3, 0, work, NULL);
}

static void a_process_that_dies_loses_one_item(void **state)
{
	static const size_t dead[] = {
		0, 1, 2, 3, 30, N - 1
	}; /* at 0 to 3: of three all, and then one more */

	(void)state;
	for (int jobs = 1; jobs <= 3; jobs++) {
		Plan p;

		plan_open(&p);
		for (size_t i = 0; i < sizeof dead / sizeof *dead; i++)
			p.what[dead[i]] = DIES;
		pm_kcache_ahead(jobs, N, work, &p);
		check(&p);
		plan_close(&p);
	}
}

/* One waits for ever, one computes for ever, one is slow and comes to its end. */
static void one_that_stands_still_is_ended(void **state)
{
	Plan p;

	(void)state;
	plan_open(&p);
	p.what[0] = WAITS;
	p.what[1] = SPINS;
	p.what[2] = SLOW;
	p.tick = 1;
	p.cpu = 1;
	pm_kcache_ahead(3, N, work, &p);
	check(&p);
	plan_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_item_is_done_once),
		cmocka_unit_test(a_process_that_dies_loses_one_item),
		cmocka_unit_test(one_that_stands_still_is_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
