/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_eval.c - evaluating passes on a GPU: times are measured, and every way to be wrong ends in its
 * own verdict without harm to the next pass.
 *
 * test_cuda_eval [CASE]: all cases, or those of a pattern.
 */
#include "bench/report/report.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/secret.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static PmGraph *silu(int rows, int cols)
{
	return pm_test_graphf("g (float[%d,%d] x) => (float[%d,%d] y) { s = Sigmoid(x)\n y = Mul(x, s) }",
			      rows, cols, rows, cols);
}

static double confirm_above; /* of every evaluation */
static PmRwlock *lock;       /* the same */
static PmRwlock *turn;       /* the same */
static atomic_int *measured; /* the same: its first answer is told */

static void first_answer(void *arg, const PmFirstAnswer *a)
{
	(void)arg;
	if (measured && a->measured)
		atomic_store(measured, 1);
}

static PmEvalRecord eval(const char *so, int rows, int cols)
{
	PmGraph *g = silu(rows, cols);
	PmEvalVariant m = { .label = "silu", .g = g };
	PmEvalOpts o = { .device = "cuda",
			 .preset = PM_PRESET_SOUND,
			 .secret = test_secret(7),
			 .device_deadline = 10,
			 .confirm_above = confirm_above,
			 .lock = lock,
			 .turn = turn,
			 .answered = first_answer };
	PmEvalRecord r;
	PmErr err;

	pm_err_init(&err);
	if (pm_eval_variant(built(so), &m, &o, &r, &err))
		fail_msg("%s: %s", so, err.text);
	print_message("# %s %dx%d: %s%s%s\n", so, rows, cols, pm_verdict_name(r.verdict), *r.why ? ": " : "",
		      r.why);
	if (r.measured)
		print_message("#   %.2f -> %.2f us, %.3fx (%.3f to %.3f), control %.4f, replay %.2fx, wall "
			      "%.2fx, %d "
			      "blocks, %.1f s\n",
			      r.baseline_seconds * 1e6, r.candidate_seconds * 1e6, r.speedup, r.timing.lo,
			      r.timing.hi, r.timing.control, r.timing.replay_speedup, r.timing.wall_speedup,
			      r.timing.blocks, r.wall_seconds);
	if (r.measured)
		print_message(
			"#   calls %d, made again %d, compared %d, by sketches %d, with the reference %d; "
			"runs %d: %.3f %.3f "
			"%.3f; host bound %d %d; NVML %d %s: SM %d to %d MHz, %d C, slowed %#llx, others "
			"%d\n",
			r.timing.calls, r.timing.replayed, r.timing.compared, r.timing.projected,
			r.timing.checked, r.timing.runs, r.timing.found[0], r.timing.found[1],
			r.timing.found[2], r.timing.host_bound[0], r.timing.host_bound[1], r.timing.gpu.known,
			r.timing.gpu.why, r.timing.gpu.sm_mhz[0], r.timing.gpu.sm_mhz[1],
			r.timing.gpu.celsius, (unsigned long long)r.timing.gpu.slowed, r.timing.gpu.others);
	pm_graph_free(g);
	return r;
}

static void ends(const char *so, PmVerdict want)
{
	PmEvalRecord r = eval(so, 3, 67);

	if (r.verdict != want)
		fail_msg("%s: %s (%s) instead of %s", so, pm_verdict_name(r.verdict), r.why,
			 pm_verdict_name(want));
	assert_int_equal(r.measured, want == PM_VERDICT_INCORRECT); /* what can be scored was measured */
	pm_eval_record_release(&r);
	r = eval("passes/silu.so", 3, 67);
	assert_true(r.verdict == PM_VERDICT_OK || r.verdict == PM_VERDICT_TIMING_UNSTABLE);
	assert_true(r.measured);
	pm_eval_record_release(&r);
}

static void a_good_pass_is_measured(void **state)
{
	PmEvalRecord r;

	(void)state;
	pm_test_need_device("cuda");
	r = eval("passes/silu.so", 1024, 4096);
	assert_int_equal(r.verdict, PM_VERDICT_OK);
	assert_true(r.measured && r.timing.blocks > 0 && r.timing.checked > 0 &&
		    r.timing.replayed == r.timing.calls);
	/* 16 MiB a call: most are not kept, and all are looked at in one way or the other. */
	assert_true(r.timing.projected > 0 && r.timing.compared + r.timing.projected == r.timing.calls);
	assert_true(r.timing.lo > 1); /* one kernel instead of two of the same size */
	assert_true(r.timing.replay[0] > 0 && r.timing.wall[1] > 0);
	pm_eval_record_release(&r);
}

/* A second run in a process of its own, with other inputs, finds the same. */
static void a_good_pass_is_confirmed(void **state)
{
	PmEvalRecord r;

	(void)state;
	pm_test_need_device("cuda");
	confirm_above = 1;
	r = eval("passes/silu.so", 1024, 4096);
	confirm_above = 0;
	assert_int_equal(r.verdict, PM_VERDICT_OK);
	assert_true(r.timing.runs >= 2 && r.speedup > 1);
	pm_eval_record_release(&r);
}

/* ---- another process on the same device ---- */

typedef struct Other {
	atomic_int *flag; /* two, shared with it */
	int ready[2];
	pid_t pid;
} Other;

static int say_ready(const Other *o)
{
	return write(o->ready[1], "r", 1) == 1;
}

/* A process that runs `act`, whose result is its exit status. Returns when it has said that it is ready. */
static Other start_other(int (*act)(const Other *))
{
	Other o = { .flag = mmap(NULL, 2 * sizeof *o.flag, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				 -1, 0) };
	char c;

	assert_true(o.flag != MAP_FAILED);
	assert_int_equal(pipe(o.ready), 0);
	o.pid = fork();
	if (!o.pid)
		_exit(act(&o));
	assert_int_equal(read(o.ready[0], &c, 1), 1);
	return o;
}

/* Waits for its end, which is to be a good one. The flags stay. */
static void wait_for_other(const Other *o)
{
	int status = -1;

	assert_int_equal(waitpid(o->pid, &status, 0), o->pid);
	assert_int_equal(status, 0);
}

static void release_other(Other *o)
{
	close(o->ready[0]);
	close(o->ready[1]);
	munmap(o->flag, 2 * sizeof *o->flag);
}

static int hold_the_device(const Other *o)
{
	if (pm_rwlock_share(lock, NULL) || !say_ready(o))
		return 1;
	sleep(8); /* longer than all that comes before the clock */
	atomic_store(&o->flag[0], 1);
	pm_rwlock_leave(lock);
	return 0;
}

/* What another process does on the device goes before the clock. */
static void the_clock_waits_until_others_have_left(void **state)
{
	PmEvalRecord r;
	Other o;

	(void)state;
	pm_test_need_device("cuda");
	assert_int_equal(pm_rwlock_new(&lock, NULL), PM_OK);
	o = start_other(hold_the_device);
	r = eval("passes/silu.so", 3, 67);
	assert_true(atomic_load(&o.flag[0])); /* when the evaluation ended the other had left, since the clock
						 is its last but one */
	assert_true(r.measured && r.stages.seconds[PM_STAGE_WAIT] > 0);
	assert_int_equal(r.timing.gpu.others, 0);
	pm_eval_record_release(&r);
	wait_for_other(&o);
	release_other(&o);
	pm_rwlock_free(lock);
	lock = NULL;
}

static int follow_the_clock(const Other *o)
{
	if (!say_ready(o) || pm_rwlock_follow(turn, NULL))
		return 1;
	atomic_store(&o->flag[1], atomic_load(&o->flag[0]));
	return 0;
}

/* Others open the device when the first clock is over: after the first answer, and before the evaluation is.
 * The graph is one whose verdict is OK, without which there is no first answer. */
static void others_go_on_after_the_clock(void **state)
{
	PmEvalRecord r;
	Other o;

	(void)state;
	pm_test_need_device("cuda");
	assert_int_equal(pm_rwlock_new(&lock, NULL), PM_OK);
	assert_int_equal(pm_rwlock_new(&turn, NULL), PM_OK);
	assert_int_equal(pm_rwlock_lead(turn, NULL), PM_OK); /* before the other follows */
	o = start_other(follow_the_clock);
	measured = &o.flag[0];
	r = eval("passes/silu.so", 1024, 4096);
	measured = NULL;
	assert_int_equal(r.verdict, PM_VERDICT_OK);
	assert_true(r.measured);
	pm_eval_record_release(&r);
	wait_for_other(&o);
	assert_int_equal(atomic_load(&o.flag[1]), 1);
	release_other(&o);
	pm_rwlock_free(turn);
	pm_rwlock_free(lock);
	turn = lock = NULL;
}

static void every_mistake_has_its_own_verdict(void **state)
{
	(void)state;
	pm_test_need_device("cuda");
	ends("tests/plugin/wrong_silu.so", PM_VERDICT_INCORRECT);
	ends("tests/plugin/half_silu.so", PM_VERDICT_UNWRITTEN);
	ends("tests/plugin/oob_silu.so", PM_VERDICT_OOB);
	ends("tests/plugin/mutating_silu.so", PM_VERDICT_INPUT_MUTATED);
	ends("tests/plugin/greedy_silu.so", PM_VERDICT_LAUNCH_FAIL);
	ends("tests/plugin/uncompilable_silu.so", PM_VERDICT_COMPILE_FAIL);
	ends("tests/plugin/hanging_silu.so", PM_VERDICT_DEVICE_TIMEOUT);
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_pass_is_measured),
		cmocka_unit_test(a_good_pass_is_confirmed),
		cmocka_unit_test(the_clock_waits_until_others_have_left),
		cmocka_unit_test(others_go_on_after_the_clock),
		cmocka_unit_test(every_mistake_has_its_own_verdict),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("cuda_eval", tests, NULL, NULL);
}
