/* SPDX-License-Identifier: Apache-2.0 */
/* test_clock_first.c - evaluations that share a device with one that has a clock: they open it when that one
 * has let them, and hold nothing meanwhile. On the emulated device, which has no clock: the leader leads to
 * its end. */
#include "base/sys/proc.h"
#include "bench/eval/runner.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What processes tell each other. */
typedef struct Shared {
	atomic_int waits;    /* the follower does */
	atomic_int over;     /* the leader is alone, or has its first answer */
	atomic_int followed; /* what `over` was when the follower went on */
} Shared;

static const double long_wait = 0.05; /* seconds: a lock that nobody holds does not take so long */
static PmRwlock *lock, *turn;
static Shared *shared;

static int setup(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED || pm_rwlock_new(&lock, NULL) != PM_OK ||
	       pm_rwlock_new(&turn, NULL) != PM_OK;
}

static int teardown(void **state)
{
	(void)state;
	pm_rwlock_free(lock);
	pm_rwlock_free(turn);
	return munmap(shared, sizeof *shared);
}

static void first_answer(void *arg, const PmFirstAnswer *a)
{
	(void)arg;
	(void)a;
	atomic_store(&shared->over, 1);
}

/* Evaluates silu; the verdict (PM_N_VERDICTS when there is none), and in *waited the seconds of the stage
 * WAIT.
 */
static PmVerdict eval(const char *so, int check_only, double *waited)
{
	PmGraph *g = pm_test_graph("g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }");
	PmEvalVariant m = { .label = "3x67", .g = g };
	PmEvalOpts o = { .device = "emu",
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret(7),
			 .pass_deadline = 60,
			 .device_deadline = 100,
			 .check_only = check_only,
			 .lock = lock,
			 .turn = turn,
			 .answered = first_answer };
	PmVerdict v;
	PmEvalRecord r;
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built(so), &m, &o, &r, &err)) {
		print_message("# %s\n", err.text);
		pm_graph_free(g);
		return PM_N_VERDICTS;
	}
	v = r.verdict;
	*waited = r.stages.seconds[PM_STAGE_WAIT];
	pm_eval_record_release(&r);
	pm_graph_free(g);
	return v;
}

static void tell_whether_it_waits(int signal)
{
	(void)signal;
	if (pm_rwlock_waited(turn) > long_wait)
		atomic_store(&shared->waits, 1);
}

/* Of a process that waits: those that it has started. */
static int has_children(pid_t pid)
{
	char path[64], line[64] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "re");
	if (!f) /* a kernel without that file */
		return 0;
	if (!fgets(line, sizeof line, f))
		line[0] = 0;
	fclose(f);
	return line[0] != 0;
}

static void a_follower_opens_the_device_when_it_may(void **state)
{
	double waited = 0;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(pm_rwlock_lead(turn, NULL), PM_OK);
	pid = fork();
	if (!pid) {
		const struct itimerval tick = { { 0, 20000 }, { 0, 20000 } };
		PmVerdict v;

		signal(SIGALRM, tell_whether_it_waits);
		setitimer(ITIMER_REAL, &tick, NULL);
		v = eval("passes/silu.so", 1, &waited);
		_exit(v == PM_VERDICT_OK && waited > long_wait && atomic_load(&shared->over) == 1 ? 0 : 1);
	}
	while (!atomic_load(&shared->waits)) {
		assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* it has not ended without waiting */
		usleep(1000);
	}
	assert_int_equal(has_children(pid), 0);
	assert_int_equal(pm_rwlock_alone(lock, NULL), PM_OK); /* it holds nothing */
	atomic_store(&shared->over, 1);
	pm_rwlock_leave(turn);
	pm_rwlock_leave(lock);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void who_has_a_clock_leads(void **state)
{
	double waited = 0;
	int ready[2];
	pid_t pid;
	char c;

	(void)state;
	atomic_store(&shared->over, 0);
	atomic_store(&shared->followed, -1);
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pm_rwlock_lead(turn, NULL), PM_OK); /* before the other follows */
	pid = fork();
	if (!pid) {
		if (pm_rwlock_share(lock, NULL) || write(ready[1], "r", 1) != 1 ||
		    pm_rwlock_follow(turn, NULL))
			_exit(1);
		atomic_store(&shared->followed, atomic_load(&shared->over));
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	assert_int_equal(eval("passes/silu.so", 0, &waited), PM_VERDICT_OK);
	waitpid(pid, NULL, 0);
	assert_int_equal(atomic_load(&shared->followed), 1);
	close(ready[0]);
	close(ready[1]);
}

/* What needs no device does not wait: the leader may be far from its clock. */
static void code_is_judged_without_waiting(void **state)
{
	double waited = 0;
	PmVerdict v;
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || pm_rwlock_lead(turn, NULL))
			_exit(1);
		atomic_store(&shared->over, 2);
		for (;;)
			pause();
	}
	while (atomic_load(&shared->over) != 2)
		usleep(1000);
	v = eval("tests/plugin/crashing_check.so", 1, &waited);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(v, PM_VERDICT_PASS_CRASH);
}

/* Two graphs at once: each has a turn of its own, and the lock is of both. Neither that one leads nor that it
 * judges keeps the other, or what follows the other, from its end. */
static void graphs_do_not_wait_for_each_others_turn(void **state)
{
	PmRwlock *first = turn;
	double waited = 0;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(pm_rwlock_lead(first, NULL), PM_OK);
	assert_int_equal(pm_rwlock_share(lock, NULL), PM_OK); /* an evaluation before its clock */
	assert_int_equal(pm_rwlock_new(&turn, NULL), PM_OK);
	pid = fork();
	if (!pid)
		_exit(eval("passes/silu.so", 0, &waited) != PM_VERDICT_OK ||
		      eval("passes/silu.so", 1, &waited) != PM_VERDICT_OK);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	pm_rwlock_free(turn);
	turn = first;
	pm_rwlock_leave(turn);
	pm_rwlock_leave(lock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_follower_opens_the_device_when_it_may),
		cmocka_unit_test(who_has_a_clock_leads),
		cmocka_unit_test(code_is_judged_without_waiting),
		cmocka_unit_test(graphs_do_not_wait_for_each_others_turn),
	};

	return cmocka_run_group_tests_name("clock_first", tests, setup, teardown);
}
