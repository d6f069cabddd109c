/* SPDX-License-Identifier: Apache-2.0 */
/* test_rwlock.c - processes that share a lock, and one that wants to be alone. */
#include "base/sys/rwlock.h"

#include "base/sys/pool.h"
#include "base/sys/proc.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What processes tell each other. */
typedef struct Shared {
	atomic_int inside, alone; /* processes that share, or are alone */
	atomic_int broken;        /* one was alone beside others */
	atomic_int step;
} Shared;

static PmRwlock *lock;
static Shared *shared;

static int setup(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED || pm_rwlock_new(&lock, NULL) != PM_OK;
}

static int teardown(void **state)
{
	(void)state;
	pm_rwlock_free(lock);
	return munmap(shared, sizeof *shared);
}

static void look(void)
{
	if (atomic_load(&shared->alone) > 1 || (atomic_load(&shared->alone) && atomic_load(&shared->inside)))
		atomic_store(&shared->broken, 1);
}

/* Shares, then is alone, as an evaluation. */
static PmStatus share_then_alone(void *arg, size_t item, void *result, PmErr *err)
{
	(void)arg;
	(void)item;
	(void)result;
	if (pm_rwlock_share(lock, err))
		return PM_E_ENV;
	atomic_fetch_add(&shared->inside, 1);
	look();
	usleep(500);
	atomic_fetch_sub(&shared->inside, 1);
	if (pm_rwlock_alone(lock, err))
		return PM_E_ENV;
	atomic_fetch_add(&shared->alone, 1);
	look();
	usleep(200);
	look();
	atomic_fetch_sub(&shared->alone, 1);
	pm_rwlock_leave(lock);
	return PM_OK;
}

static void nobody_is_beside_one_that_is_alone(void **state)
{
	enum { ITEMS = 200 };
	PmPool pool = { .n_items = ITEMS, .jobs = 5, .work = share_then_alone };

	(void)state;
	assert_int_equal(pm_pool_run(&pool, NULL), PM_OK);
	assert_int_equal(atomic_load(&shared->broken), 0);
}

static void until(atomic_int *step, int n)
{
	while (atomic_load(step) < n)
		usleep(1000);
}

/* A child that shares until it is killed. */
static pid_t holder(int alone)
{
	pid_t pid = fork();

	if (!pid) {
		if (alone ? pm_rwlock_alone(lock, NULL) : pm_rwlock_share(lock, NULL))
			_exit(1);
		atomic_fetch_add(&shared->step, 1);
		for (;;)
			pause();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void what_a_killed_process_held_is_free(void **state)
{
	for (int alone = 0; alone <= 1; alone++) {
		int before = atomic_load(&shared->step);
		pid_t pid = holder(alone);

		(void)state;
		until(&shared->step, before + 1);
		end(pid);
		assert_int_equal(pm_rwlock_alone(lock, NULL), PM_OK);
		pm_rwlock_leave(lock);
	}
}

/* Children that waited or share hold nothing for their parent, nor it for them. */
static void a_fork_does_not_hold_what_its_parent_holds(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(pm_rwlock_share(lock, NULL), PM_OK);
	pid = fork();
	if (!pid) {
		pm_rwlock_leave(lock); /* nothing: it holds nothing */
		for (;;)
			pause();
	}
	pm_rwlock_leave(lock);
	assert_int_equal(pm_rwlock_alone(lock, NULL), PM_OK); /* the fork is there */
	pm_rwlock_leave(lock);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* Until it sleeps, which it does in a lock alone, or has ended. */
static void until_it_waits(pid_t pid)
{
	char path[64], line[256] = "", state = 'R';

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	while (state != 'S' && state != 'Z') {
		FILE *f = fopen(path, "re");

		assert_non_null(f);
		assert_non_null(fgets(line, sizeof line, f));
		fclose(f);
		state = strrchr(line, ')')[2];
		usleep(1000);
	}
}

/* Who shares first, then wants in again, comes after the one that waits to be alone. */
static void those_who_share_do_not_overtake(void **state)
{
	int before = atomic_load(&shared->step);
	pid_t first = holder(0), second, third;
	int order = 0;

	(void)state;
	until(&shared->step, before + 1);
	second = fork();
	if (!second) { /* wants to be alone */
		atomic_fetch_add(&shared->step, 1);
		if (pm_rwlock_alone(lock, NULL))
			_exit(99);
		order = atomic_fetch_add(&shared->inside, 1);
		pm_rwlock_leave(lock);
		_exit(order);
	}
	until(&shared->step, before + 2);
	until_it_waits(second);
	third = fork();
	if (!third) { /* would share with the first */
		if (pm_rwlock_share(lock, NULL))
			_exit(99);
		order = atomic_fetch_add(&shared->inside, 1);
		_exit(order);
	}
	until_it_waits(third);
	end(first);
	waitpid(second, &order, 0);
	assert_int_equal(WEXITSTATUS(order), 0);
	waitpid(third, &order, 0);
	assert_int_equal(WEXITSTATUS(order), 1);
	atomic_store(&shared->inside, 0);
}

static void waiting_is_counted(void **state)
{
	int before = atomic_load(&shared->step);
	double t0 = pm_rwlock_waited(lock), began;
	pid_t pid = holder(0);

	(void)state;
	until(&shared->step, before + 1);
	if (!fork()) {
		usleep(100 * 1000);
		kill(pid, SIGKILL);
		_exit(0);
	}
	began = pm_now();
	assert_int_equal(pm_rwlock_alone(lock, NULL), PM_OK);
	assert_true(pm_rwlock_waited(lock) - t0 > 0);
	assert_true(pm_rwlock_waited(lock) - t0 <= pm_now() - began);
	pm_rwlock_leave(lock);
	while (wait(NULL) > 0)
		;
}

static void no_lock_is_nobodys(void **state)
{
	(void)state;
	assert_int_equal(pm_rwlock_share(NULL, NULL), PM_OK);
	assert_int_equal(pm_rwlock_alone(NULL, NULL), PM_OK);
	pm_rwlock_leave(NULL);
	assert_true(pm_rwlock_waited(NULL) == 0);
	pm_rwlock_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_is_beside_one_that_is_alone),
		cmocka_unit_test(what_a_killed_process_held_is_free),
		cmocka_unit_test(a_fork_does_not_hold_what_its_parent_holds),
		cmocka_unit_test(those_who_share_do_not_overtake),
		cmocka_unit_test(waiting_is_counted),
		cmocka_unit_test(no_lock_is_nobodys),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
