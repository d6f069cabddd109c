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
	atomic_int told, told_pid; /* waits for others, and the last of these */
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

/* Who follows goes on when nobody leads, however that ended. */
static void those_who_follow_wait_for_one_who_leads(void **state)
{
	for (int killed = 0; killed <= 1; killed++) {
		int before = atomic_load(&shared->step), order = 0;
		pid_t leader = fork(), second;

		(void)state;
		if (!leader) {
			if (pm_rwlock_lead(lock, NULL) || pm_rwlock_share(lock, NULL))
				_exit(99);
			atomic_fetch_add(&shared->step, 1);
			until(&shared->step, before + 2);
			if (pm_rwlock_alone(lock, NULL)) /* the second does not share while it waits */
				_exit(99);
			atomic_fetch_add(&shared->inside, 1);
			if (killed)
				kill(getpid(), SIGKILL);
			pm_rwlock_leave(lock);
			_exit(0);
		}
		until(&shared->step, before + 1);
		second = fork();
		if (!second) {
			if (pm_rwlock_share(lock, NULL))
				_exit(99);
			atomic_fetch_add(&shared->step, 1);
			pm_rwlock_leave(lock);
			if (pm_rwlock_follow(lock, NULL))
				_exit(99);
			_exit(atomic_load(&shared->inside));
		}
		waitpid(leader, NULL, 0);
		waitpid(second, &order, 0);
		assert_true(WIFEXITED(order) && WEXITSTATUS(order) == 1);
		atomic_store(&shared->inside, 0);
	}
	assert_int_equal(pm_rwlock_share(lock, NULL), PM_OK); /* nobody leads */
	assert_int_equal(pm_rwlock_follow(lock, NULL), PM_OK);
	pm_rwlock_leave(lock);
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

/* ---- a lock in a file, of commands that know nothing of each other ---- */

static char lock_path[64];

static PmRwlock *open_it(void)
{
	PmRwlock *l = NULL;

	assert_int_equal(pm_rwlock_open(lock_path, &l, NULL), PM_OK);
	return l;
}

static void name_a_file(void)
{
	snprintf(lock_path, sizeof lock_path, "/tmp/passmith-test-%d.lock", (int)getpid());
}

/* Each child opens the file for itself. Every fifth dies while it is alone. */
static void commands(int n, PmStatus (*run)(PmRwlock *l, int k))
{
	pid_t pid[32];
	int status;

	for (int k = 0; k < n; k++) {
		pid[k] = fork();
		if (!pid[k]) {
			PmRwlock *l = NULL;

			_exit(pm_rwlock_open(lock_path, &l, NULL) || run(l, k));
		}
	}
	for (int k = 0; k < n; k++) {
		waitpid(pid[k], &status, 0);
		assert_true(k % 5 == 4 ? WIFSIGNALED(status) : WIFEXITED(status) && !WEXITSTATUS(status));
	}
}

static PmStatus take_turns(PmRwlock *l, int k)
{
	for (int i = 0; i < 40; i++) {
		if (pm_rwlock_share(l, NULL))
			return PM_E_ENV;
		atomic_fetch_add(&shared->inside, 1);
		look();
		usleep(200);
		look();
		atomic_fetch_sub(&shared->inside, 1);
		if (pm_rwlock_alone(l, NULL))
			return PM_E_ENV;
		atomic_fetch_add(&shared->alone, 1);
		look();
		if (k % 5 == 4 && i == 10) {
			atomic_fetch_sub(&shared->alone, 1);
			kill(getpid(), SIGKILL);
		}
		usleep(100);
		look();
		atomic_fetch_sub(&shared->alone, 1);
		pm_rwlock_leave(l);
	}
	return PM_OK;
}

static void commands_take_turns_in_a_file_though_some_are_killed(void **state)
{
	PmRwlock *l;

	(void)state;
	name_a_file();
	commands(20, take_turns);
	assert_int_equal(atomic_load(&shared->broken), 0);
	l = open_it();
	assert_int_equal(pm_rwlock_alone(l, NULL), PM_OK); /* nobody who has died holds it */
	pm_rwlock_free(l);
	unlink(lock_path);
}

static void a_file_that_cannot_be_opened_is_named(void **state)
{
	PmRwlock *l;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_rwlock_open("/nowhere/at/all.lock", &l, &err), PM_E_ENV);
	assert_null(l);
	assert_non_null(strstr(err.text, "/nowhere/at/all.lock"));
}

/* A child that leaves something behind until it is killed. */
static pid_t leaver(int n)
{
	pid_t pid = fork();

	if (!pid) {
		if (pm_rwlock_leave_behind(lock, n, NULL))
			_exit(1);
		atomic_fetch_add(&shared->step, 1);
		for (;;)
			pause();
	}
	return pid;
}

static void what_is_left_behind_is_known_while_its_process_lives(void **state)
{
	int before = atomic_load(&shared->step);
	pid_t two = leaver(2), three = leaver(3);

	(void)state;
	until(&shared->step, before + 2);
	assert_int_equal(pm_rwlock_left_behind(lock), 5);
	assert_int_equal(pm_rwlock_leave_behind(lock, 7, NULL), PM_OK);
	assert_int_equal(pm_rwlock_left_behind(lock), 5); /* without one's own */
	end(two);
	assert_int_equal(pm_rwlock_left_behind(lock), 3);
	two = leaver(1); /* in the place of the one that died */
	until(&shared->step, before + 3);
	assert_int_equal(pm_rwlock_left_behind(lock), 4);
	end(two);
	end(three);
	assert_int_equal(pm_rwlock_left_behind(lock), 0);
	assert_int_equal(pm_rwlock_leave_behind(lock, 0, NULL), PM_OK);
	assert_int_equal(pm_rwlock_leave_behind(NULL, 3, NULL), PM_OK);
	assert_int_equal(pm_rwlock_left_behind(NULL), 0);
}

static void waits_for(void *arg, int pid)
{
	(void)arg;
	atomic_store(&shared->told_pid, pid);
	atomic_fetch_add(&shared->told, 1);
}

/* Of a wait for a process of another command, once; not of one for a process of this one. */
static void a_wait_for_another_command_is_told(void **state)
{
	int before = atomic_load(&shared->step);
	PmRwlock *l;
	pid_t other;

	(void)state;
	name_a_file();
	/* Opened by a child, the lock is of another command: that child is no process of the one below. */
	other = fork();
	if (!other) {
		if (pm_rwlock_alone(open_it(), NULL))
			_exit(1);
		atomic_fetch_add(&shared->step, 1);
		for (;;)
			pause();
	}
	until(&shared->step, before + 1);
	for (int k = 0; k < 2; k++) {
		pid_t pid = fork();

		if (!pid) { /* a command with a process of its own that waits */
			pid_t child;

			l = open_it();
			pm_rwlock_on_wait(l, waits_for, NULL);
			child = fork();
			if (!child) {
				if (k)
					until(&shared->step, before + 3);
				_exit(pm_rwlock_alone(l, NULL) || (k && usleep(1000)));
			}
			if (k) { /* which waits for this one here, and is of it */
				if (pm_rwlock_alone(l, NULL))
					_exit(1);
				atomic_fetch_add(&shared->step, 1);
				until_it_waits(child);
				pm_rwlock_leave(l);
			} else {
				until_it_waits(child);
				atomic_fetch_add(&shared->step, 1);
			}
			waitpid(child, NULL, 0);
			_exit(0);
		}
		if (!k) {
			until(&shared->step, before + 2);
			assert_int_equal(atomic_load(&shared->told), 1);
			assert_int_equal(atomic_load(&shared->told_pid), (int)other);
			end(other);
		}
		waitpid(pid, NULL, 0);
	}
	assert_int_equal(atomic_load(&shared->told), 1);
	unlink(lock_path);
}

static void no_lock_is_nobodys(void **state)
{
	(void)state;
	assert_int_equal(pm_rwlock_share(NULL, NULL), PM_OK);
	assert_int_equal(pm_rwlock_alone(NULL, NULL), PM_OK);
	assert_int_equal(pm_rwlock_lead(NULL, NULL), PM_OK);
	assert_int_equal(pm_rwlock_follow(NULL, NULL), PM_OK);
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
		cmocka_unit_test(those_who_follow_wait_for_one_who_leads),
		cmocka_unit_test(waiting_is_counted),
		cmocka_unit_test(commands_take_turns_in_a_file_though_some_are_killed),
		cmocka_unit_test(a_file_that_cannot_be_opened_is_named),
		cmocka_unit_test(what_is_left_behind_is_known_while_its_process_lives),
		cmocka_unit_test(a_wait_for_another_command_is_told),
		cmocka_unit_test(no_lock_is_nobodys),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
