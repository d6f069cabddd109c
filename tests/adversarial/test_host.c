/* SPDX-License-Identifier: Apache-2.0 */
/* test_host.c - passes whose code attacks the process that runs it. */
#include "base/sandbox/sandbox.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"
#include "tests/plugin/paths.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ATTACKS "tests/adversarial/passes/host_attacks.so"

/* Without the filter (a sanitizer's build, an old kernel) system calls are not noticed: the case says so. */
static void need(unsigned layers, const char *what)
{
	unsigned have = 0;
	PmErr err;

	pm_err_init(&err);
	if (pm_sandbox_probe(&have, &err))
		fail_msg("%s", err.text);
	if ((have & layers) != layers)
		pm_test_skip("the sandbox of this build or machine lacks: %s", what);
}

#define KILLED(id, part)                                                                                     \
	static void id(void **state)                                                                         \
	{                                                                                                    \
		(void)state;                                                                                 \
		need(PM_BOX_FILTER, "system call filter");                                                   \
		pm_attack(ATTACKS, #id, 60, PM_VERDICT_SANDBOX_KILL, part);                                  \
	}

KILLED(A03_read_task_file, "system call")
KILLED(C03_clone, "system call")
KILLED(D08b_walk_libc, "system call")
KILLED(D09_syscall, "system call")
KILLED(D09b_misaligned, "system call")
KILLED(D09c_int80, "system call")
KILLED(D09d_x32, "system call")
KILLED(D10e_mprotect, "system call")
KILLED(D13_procmem, "system call")
KILLED(D13b_poke_parent, "system call")
KILLED(D14_forge_result, "system call")
KILLED(D15_exit0_early, "system call")
KILLED(D15b_kill_parent, "system call")
KILLED(D17_socket, "system call")
KILLED(D17b_execve, "system call")
KILLED(D26_open_results, "system call")

static void B12_write_cache(void **state)
{
	(void)state;
	need(PM_BOX_FILTER, "system call filter");
	unlink("/tmp/tuned.txt");
	pm_attack(ATTACKS, "B12_write_cache", 60, PM_VERDICT_SANDBOX_KILL, "system call");
	assert_int_not_equal(access("/tmp/tuned.txt", F_OK), 0);
}

static void D16_double_fork(void **state)
{
	(void)state;
	need(PM_BOX_FILTER, "system call filter");
	pm_attack(ATTACKS, "D16_double_fork", 60, PM_VERDICT_SANDBOX_KILL, "system call");
	/* Nothing is left that this process would have to reap. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void C02_got_patch(void **state)
{
	(void)state;
	pm_attack(ATTACKS, "C02_got_patch", 60, PM_VERDICT_SANDBOX_KILL, "protected");
}

static void D06_patch_host_table(void **state)
{
	(void)state;
	pm_attack(ATTACKS, "D06_patch_host_table", 60, PM_VERDICT_SANDBOX_KILL, "protected");
}

static void D18b_rdtsc(void **state)
{
	(void)state;
	need(PM_BOX_NO_CLOCK, "no clock");
	pm_attack(ATTACKS, "D18b_rdtsc", 60, PM_VERDICT_SANDBOX_KILL, "has no clock");
}

static void D19_spin(void **state)
{
	(void)state;
	pm_attack(ATTACKS, "D19_spin", 0.3, PM_VERDICT_PASS_TIMEOUT, "did not come back within 0.3");
}

/* alloc() gives NULL at its limit; the attack writes there. */
static void D20_alloc_forever(void **state)
{
	(void)state;
	pm_attack(ATTACKS, "D20_alloc_forever", 60, PM_VERDICT_PASS_CRASH, "signal 11");
}

static void D20b_recursion(void **state)
{
	(void)state;
	pm_attack(ATTACKS, "D20b_recursion", 60, PM_VERDICT_SANDBOX_KILL, "overflowed its stack");
}

/* Kernels cannot be matched, so that no two rules can undo each other; one that goes on by itself runs into a
 * limit of the interface, or into its deadline. */
static void E10_ping_pong(void **state)
{
	PmPassOutcome out = pm_attack_run(ATTACKS, "E10_ping_pong", 0.5);

	(void)state;
	if (out.verdict != PM_VERDICT_PASS_TIMEOUT && out.verdict != PM_VERDICT_REJECT_API)
		fail_msg("%s: %s", pm_verdict_name(out.verdict), out.message);
	pm_pass_outcome_release(&out);
	pm_attack("tests/adversarial/passes/E10_kernels.so", NULL, 60, PM_VERDICT_REJECT_LINT,
		  "cannot be matched");
}

static void D18_aslr_dependent(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		pm_attack_referee("tests/adversarial/passes/D18_aslr_dependent.so", PM_VERDICT_PASS_NONDET,
				  "different graphs");
}

/* The heap lies at random: one graph shows it in half of the runs, a task of many graphs almost surely. */
static void D18c_heap_dependent(void **state)
{
	int noticed = 0;

	(void)state;
	for (int i = 0; i < 40; i++)
		noticed += pm_attack_verdict("tests/adversarial/passes/D18c_heap_dependent.so") ==
			   PM_VERDICT_PASS_NONDET;
	assert_true(noticed > 0);
}

/* What the pass found, told by its reason to decline. */
static void found(const char *rule, const char *want)
{
	PmPassOutcome out = pm_attack_run(ATTACKS, rule, 60);
	const char *said = "";

	for (size_t i = 0; i < out.n_rules; i++)
		if (out.rule[i].stats.n_reasons)
			said = out.rule[i].stats.reason[0].text;
	if (strcmp(said, want) != 0)
		fail_msg("%s said '%s', not '%s' (%s %s)", rule, said, want, pm_verdict_name(out.verdict),
			 out.message);
	pm_pass_outcome_release(&out);
}

/* It ends the scan by itself, so the place of the environment was part of it. */
static void D04b_environ_is_empty(void **state)
{
	(void)state;
	setenv("PM_TEST_SECRET", "CANARY=42", 1);
	found("D04b", "not found");
	unsetenv("PM_TEST_SECRET");
}

static void D07_scan(void **state)
{
	static char secret[64];

	(void)state;
	setenv("PM_TEST_SECRET", "CANARY=42", 1);
	snprintf(secret, sizeof secret, "CANARY=%d", 42);
	found("D07_scan", "not found");
	unsetenv("PM_TEST_SECRET");
	assert_string_equal(secret, "CANARY=42");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(A03_read_task_file),
		cmocka_unit_test(B12_write_cache),
		cmocka_unit_test(C02_got_patch),
		cmocka_unit_test(C03_clone),
		cmocka_unit_test(D04b_environ_is_empty),
		cmocka_unit_test(D06_patch_host_table),
		cmocka_unit_test(D07_scan),
		cmocka_unit_test(D08b_walk_libc),
		cmocka_unit_test(D09_syscall),
		cmocka_unit_test(D09b_misaligned),
		cmocka_unit_test(D09c_int80),
		cmocka_unit_test(D09d_x32),
		cmocka_unit_test(D10e_mprotect),
		cmocka_unit_test(D13_procmem),
		cmocka_unit_test(D13b_poke_parent),
		cmocka_unit_test(D14_forge_result),
		cmocka_unit_test(D15_exit0_early),
		cmocka_unit_test(D15b_kill_parent),
		cmocka_unit_test(D16_double_fork),
		cmocka_unit_test(D17_socket),
		cmocka_unit_test(D17b_execve),
		cmocka_unit_test(D18_aslr_dependent),
		cmocka_unit_test(D18b_rdtsc),
		cmocka_unit_test(D18c_heap_dependent),
		cmocka_unit_test(D19_spin),
		cmocka_unit_test(D20_alloc_forever),
		cmocka_unit_test(D20b_recursion),
		cmocka_unit_test(D26_open_results),
		cmocka_unit_test(E10_ping_pong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
