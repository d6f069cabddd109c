/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - work in several processes: every item once, deaths contained, failures passed on. */
#include "base/sys/pool.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 200 };

typedef struct Sum {
	int in_process; /* of one worker: items so far */
	int started, seen[N], died[N];
	long total, wrong;
	size_t kill_at, fail_at;
	atomic_int *failing; /* shared: the process that fails, 0 before it does */
} Sum;

static PmStatus start(void *arg, int worker, PmErr *err)
{
	Sum *s = arg;

	(void)err;
	s->started++;
	return worker >= 0 && worker < 4 ? PM_OK : PM_E_INTERNAL;
}

/* Until that process has failed and is gone. How far others get before it does is not promised. */
static void wait_for_end(atomic_int *failing)
{
	const struct timespec nap = { 0, 1000 * 1000 };
	int pid;

	while (!(pid = atomic_load(failing)) || (pid != getpid() && kill(pid, 0) == 0))
		nanosleep(&nap, NULL);
}

static PmStatus work(void *arg, size_t item, void *result, PmErr *err)
{
	Sum *s = arg;
	long *r = result;

	if (*r)
		return pm_err(err, PM_E_INTERNAL, "The result is not zero.");
	if (item == s->kill_at)
		raise(SIGKILL);
	if (item == s->fail_at) {
		atomic_store(s->failing, getpid());
		return pm_err(err, PM_E_SHAPE, "Item %zu is not to my taste.", item);
	}
	if (item > s->fail_at)
		wait_for_end(s->failing);
	s->in_process++;
	*r = (long)(item * item);
	return PM_OK;
}

static PmStatus done(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Sum *s = arg;

	(void)err;
	s->seen[item]++;
	if (end == PM_POOL_DIED) {
		s->died[item]++;
		return PM_OK;
	}
	s->wrong += *(const long *)result != (long)(item * item);
	s->total += *(const long *)result;
	return PM_OK;
}

static long squares(void)
{
	long i, t = 0;

	for (i = 0; i < N; i++)
		t += i * i;
	return t;
}

static void every_item_is_done_once(void **state)
{
	int jobs, i;

	(void)state;
	for (jobs = 1; jobs <= 4; jobs++) {
		Sum s = { .kill_at = SIZE_MAX, .fail_at = SIZE_MAX };
		PmPool p = { N, sizeof(long), jobs, start, NULL, work, done, &s, NULL, NULL, 0 };

		assert_int_equal(pm_pool_run(&p, NULL), PM_OK);
		for (i = 0; i < N; i++)
			assert_int_equal(s.seen[i], 1);
		assert_int_equal(s.total, squares());
		assert_int_equal(s.wrong, 0);
		assert_int_equal(s.started, jobs == 1); /* the others start elsewhere */
	}
}

static void a_process_that_dies_loses_its_item_only(void **state)
{
	Sum s = { .kill_at = 77, .fail_at = SIZE_MAX };
	PmPool p = { N, sizeof(long), 3, start, NULL, work, done, &s, NULL, NULL, 0 };
	int i;

	(void)state;
	assert_int_equal(pm_pool_run(&p, NULL), PM_OK);
	for (i = 0; i < N; i++) {
		assert_int_equal(s.seen[i], 1);
		assert_int_equal(s.died[i], i == 77);
	}
	assert_int_equal(s.total, squares() - 77 * 77);
}

static void the_last_item_may_die_too(void **state)
{
	Sum s = { .kill_at = N - 1, .fail_at = SIZE_MAX };
	PmPool p = { N, sizeof(long), 2, start, NULL, work, done, &s, NULL, NULL, 0 };

	(void)state;
	assert_int_equal(pm_pool_run(&p, NULL), PM_OK);
	assert_int_equal(s.died[N - 1], 1);
}

/* Each of the others may have one item in hand when one fails, and takes no more. */
static void a_failure_stops_all_and_keeps_its_sentence(void **state)
{
	atomic_int *failing = mmap(NULL, sizeof *failing, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				   -1, 0);
	int jobs, i;

	(void)state;
	assert_ptr_not_equal(failing, MAP_FAILED);
	for (jobs = 1; jobs <= 3; jobs += 2) {
		Sum s = { .kill_at = SIZE_MAX, .fail_at = 50, .failing = failing };
		PmPool p = { N, sizeof(long), jobs, start, NULL, work, done, &s, NULL, NULL, 0 };
		PmErr err;

		atomic_store(failing, 0);
		pm_err_init(&err);
		assert_int_equal(pm_pool_run(&p, &err), PM_E_SHAPE);
		assert_string_equal(err.text, "Item 50 is not to my taste.");
		for (i = 50 + jobs; i < N; i++)
			assert_int_equal(s.seen[i], 0);
	}
	munmap(failing, sizeof *failing);
}

/* Says whether a child of a process of the pool has the memory in which results are. */
static PmStatus look_from_below(void *arg, size_t item, void *result, PmErr *err)
{
	uintptr_t page = (uintptr_t)result & ~(uintptr_t)4095;
	unsigned char here[1];
	int status = 0;
	pid_t pid;

	(void)arg;
	(void)item;
	(void)err;
	pid = fork();
	if (pid == 0)
		_exit(mincore((void *)page, 1, here) == 0);
	waitpid(pid, &status, 0);
	*(long *)result = status;
	return PM_OK;
}

static PmStatus add_status(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	(void)item;
	(void)err;
	*(long *)arg += end == PM_POOL_DONE ? *(const long *)result : 1;
	return PM_OK;
}

/* It may run a stranger's code, which would write a result of its own. */
static void what_a_process_starts_does_not_have_the_results(void **state)
{
	long seen = 0;
	PmPool p = { 3, sizeof(long), 2, NULL, NULL, look_from_below, add_status, &seen, NULL, NULL, 0 };

	(void)state;
	assert_int_equal(pm_pool_run(&p, NULL), PM_OK);
	assert_int_equal(seen, 0);
}

/* A result of 64 KiB each. No item is begun before all but WINDOW of those in front of it were reported. */
enum { LARGE = 64 * 1024, WINDOW = 8, MANY = 1024 };

typedef struct Held {
	atomic_size_t *reported; /* shared */
	size_t least, most;      /* bytes of shared memory that this process has, while items are reported */
	int wrong;
} Held;

/* Bytes of shared memory in this process, 0 where the system does not tell. */
static size_t shared_bytes(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	size_t kb = 0;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "RssShmem: %zu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024;
}

static PmStatus fill(void *arg, size_t item, void *result, PmErr *err)
{
	const Held *h = arg;
	const struct timespec nap = { 0, 100 * 1000 };

	(void)err;
	while (item > atomic_load(h->reported) + WINDOW)
		nanosleep(&nap, NULL);
	memset(result, (int)(item % 251) + 1, LARGE);
	return PM_OK;
}

static PmStatus look_at_memory(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Held *h = arg;
	const unsigned char *r = result;
	size_t here = shared_bytes();

	(void)err;
	h->wrong += end != PM_POOL_DONE || r[0] != item % 251 + 1 || memcmp(r, r + 1, LARGE - 1) != 0;
	h->least = here < h->least ? here : h->least;
	h->most = here > h->most ? here : h->most;
	atomic_fetch_add(h->reported, 1);
	return PM_OK;
}

static void what_was_reported_is_held_no_longer(void **state)
{
	Held h = { .least = SIZE_MAX };
	PmPool p = { .n_items = MANY,
		     .result_size = LARGE,
		     .jobs = 2,
		     .work = fill,
		     .done = look_at_memory,
		     .arg = &h };

	(void)state;
	h.reported = mmap(NULL, sizeof *h.reported, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			  0);
	assert_ptr_not_equal(h.reported, MAP_FAILED);
	assert_int_equal(pm_pool_run(&p, NULL), PM_OK);
	assert_int_equal(h.wrong, 0);
	assert_int_equal(atomic_load(h.reported), MANY);
	/* 64 MiB when all are kept; else those in the window, and what waits to go back together */
	assert_true(h.most - h.least < 8 * 1024 * 1024);
	munmap(h.reported, sizeof *h.reported);
}

static void nothing_to_do_is_fine(void **state)
{
	Sum s = { .kill_at = SIZE_MAX, .fail_at = SIZE_MAX };
	PmPool p = { 0, sizeof(long), 4, start, NULL, work, done, &s, NULL, NULL, 0 };

	(void)state;
	assert_int_equal(pm_pool_run(&p, NULL), PM_OK);
	assert_true(pm_cpu_count() >= 1);
}

/* ---- workers that are asked ---- */

enum { GIVEN = 40 };

typedef struct Asked {
	int worker;                   /* of this process */
	atomic_int *out;              /* shared: worker 0 takes nothing any more */
	int by[GIVEN], ends[3], left; /* the worker that did an item; how items ended */
} Asked;

static PmStatus sit(void *arg, int worker, PmErr *err)
{
	Asked *a = arg;

	(void)err;
	a->worker = worker;
	return PM_OK;
}

static PmPoolMay may_take(void *arg, int worker)
{
	const Asked *a = arg;

	if (worker != a->worker)
		return PM_POOL_NEVER;
	if (worker == 0)
		return atomic_load(a->out) ? PM_POOL_NEVER : PM_POOL_TAKE;
	/* The other one begins when worker 0 has given its item back, which is not lost so. */
	return atomic_load(a->out) ? PM_POOL_TAKE : PM_POOL_LATER;
}

/* Worker 0 does five items and gives the next one back. */
static PmStatus give_back(void *arg, size_t item, void *result, PmErr *err)
{
	Asked *a = arg;
	int *by = result;

	if (*by)
		return pm_err(err, PM_E_INTERNAL, "The result is not zero.");
	*by = a->worker + 1;
	if (a->worker != 0 || item < 5)
		return PM_OK;
	atomic_store(a->out, 1);
	return PM_DECLINED;
}

static PmStatus asked_done(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Asked *a = arg;

	(void)err;
	a->ends[end]++;
	a->by[item] = *(const int *)result;
	return PM_OK;
}

static void run_asked(int jobs, size_t n, int out, Asked *a)
{
	PmPool p = { .n_items = n,
		     .result_size = sizeof(int),
		     .jobs = jobs,
		     .start = sit,
		     .may = may_take,
		     .work = give_back,
		     .done = asked_done,
		     .arg = a };

	a->out = mmap(NULL, sizeof *a->out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(a->out != MAP_FAILED);
	atomic_store(a->out, out);
	assert_int_equal(pm_pool_run_apart(&p, NULL), PM_OK);
	munmap(a->out, sizeof *a->out);
}

static void what_is_given_back_is_done_by_another(void **state)
{
	Asked a = { 0 };

	(void)state;
	run_asked(2, GIVEN, 0, &a);
	assert_int_equal(a.ends[PM_POOL_DONE], GIVEN);
	for (int i = 0; i < GIVEN; i++)
		assert_int_equal(a.by[i], i < 5 ? 1 : 2);
}

static void one_item_is_done_by_whoever_may(void **state)
{
	Asked a = { 0 };

	(void)state;
	run_asked(2, 1, 1, &a);
	assert_int_equal(a.ends[PM_POOL_DONE], 1);
	assert_int_equal(a.by[0], 2);
}

static void what_nobody_takes_is_left(void **state)
{
	Asked a = { 0 };

	(void)state;
	run_asked(1, GIVEN, 0, &a);
	assert_int_equal(a.ends[PM_POOL_DONE], 5);
	assert_int_equal(a.ends[PM_POOL_LEFT], GIVEN - 5);
	assert_int_equal(a.ends[PM_POOL_DIED], 0);
	for (int i = 0; i < GIVEN; i++)
		assert_int_equal(a.by[i], i < 5); /* of what was given back there is no result */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_item_is_done_once),
		cmocka_unit_test(a_process_that_dies_loses_its_item_only),
		cmocka_unit_test(the_last_item_may_die_too),
		cmocka_unit_test(a_failure_stops_all_and_keeps_its_sentence),
		cmocka_unit_test(what_a_process_starts_does_not_have_the_results),
		cmocka_unit_test(what_was_reported_is_held_no_longer),
		cmocka_unit_test(nothing_to_do_is_fine),
		cmocka_unit_test(what_is_given_back_is_done_by_another),
		cmocka_unit_test(one_item_is_done_by_whoever_may),
		cmocka_unit_test(what_nobody_takes_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
