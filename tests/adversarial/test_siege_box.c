/* SPDX-License-Identifier: Apache-2.0 */
/* test_siege_box.c - clocks and moved code: passes and emulated kernels that look for the time without asking
 * the system, or make their own system calls look like the C library's. */
#include "base/sandbox/sandbox.h"
#include "base/sandbox/sandbox_priv.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "matcher/host/pass_job.h"
#include "tests/lib/device/emu.h"
#include "tests/lib/need.h"
#include "tests/lib/passes/attack.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define ATTACKS "tests/adversarial/passes/siege_host.so"

#if defined(__x86_64__)
static const char silu[] = "g (float[5,67] x) => (float[5,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";
#endif

static void need(unsigned layer)
{
	unsigned have = 0, kernels = 0;

	pm_sandbox_probe(&have, NULL);
	pm_sandbox_probe_kernels(&kernels, NULL);
	if (!(have & kernels & layer))
		pm_test_skip("the sandbox of this build or machine lacks: %s",
			     layer == PM_BOX_FILTER ? "system call filter" : "no clock");
}

/* ---- passes ---- */

#if defined(__x86_64__)
#define STOPPED(id, layer, part)                                                                             \
	static void id(void **state)                                                                         \
	{                                                                                                    \
		(void)state;                                                                                 \
		need(layer);                                                                                 \
		pm_attack(ATTACKS, #id, 60, PM_VERDICT_SANDBOX_KILL, part);                                  \
	}

STOPPED(S15_vdso_by_auxv, PM_BOX_NO_CLOCK, "has no clock")
STOPPED(S15b_vvar, PM_BOX_NO_CLOCK, "has no clock")
STOPPED(S15c_library_time, PM_BOX_NO_CLOCK, "has no clock")
STOPPED(S16_clock_by_call, PM_BOX_FILTER, "system call")
STOPPED(S16b_rdtscp, PM_BOX_NO_CLOCK, "has no clock")
STOPPED(S18_timing_thread, PM_BOX_FILTER, "system call")
STOPPED(S19_move_over_library, PM_BOX_FILTER, "system call")
STOPPED(S20_map_over_library, PM_BOX_FILTER, "system call")
STOPPED(S21_unmap_library, PM_BOX_FILTER, "system call")
STOPPED(S21b_unmap_into_library, PM_BOX_FILTER, "system call")
STOPPED(S22_remap_pages, PM_BOX_FILTER, "system call")
STOPPED(S22b_protect_by_key, PM_BOX_FILTER, "system call")
STOPPED(S22c_handle_faults, PM_BOX_FILTER, "system call")

/* The old page may be missing: then there is nothing to call. */
static void S17_old_time_page(void **state)
{
	PmPassOutcome out;

	(void)state;
	need(PM_BOX_FILTER);
	out = pm_attack_run(ATTACKS, "S17_old_time_page", 60);
	if (out.verdict != PM_VERDICT_SANDBOX_KILL && out.verdict != PM_VERDICT_PASS_CRASH)
		fail_msg("%s: %s", pm_verdict_name(out.verdict), out.message);
	pm_pass_outcome_release(&out);
}

/* What the command says that a user gives. */
static void eval_kills(const char *so, const char *part)
{
	char file[256], line[4096];
	const char *tmp = getenv("TMPDIR");
	PmStr out = PM_STR_INIT;
	PmErr err;
	FILE *f;

	pm_err_init(&err);
	snprintf(file, sizeof file, "%.200s/siege-%d.gpt", tmp ? tmp : "/tmp", (int)getpid());
	if (pm_write_file(file, silu, strlen(silu), &err))
		fail_msg("%s", err.text);
	snprintf(line, sizeof line, "%s eval %s --pass %s --hidden 0 --device emu --json --quiet 2>&1",
		 built("passmith"), file, built(so));
	f = popen(line, "r");
	assert_non_null(f);
	while (fgets(line, sizeof line, f))
		pm_str_add(&out, line);
	pclose(f);
	unlink(file);
	if (!strstr(out.s, "\"SANDBOX_KILL\"") || !strstr(out.s, part))
		fail_msg("%s", out.s);
	pm_str_release(&out);
}

static void SC0_eval_kills_a_clock(void **state)
{
	(void)state;
	need(PM_BOX_NO_CLOCK);
	eval_kills(ATTACKS, "has no clock");
}

static void SC1_eval_kills_moved_code(void **state)
{
	(void)state;
	need(PM_BOX_FILTER);
	eval_kills("tests/adversarial/passes/siege_move.so", "a system call that its sandbox forbids");
}

static void S19b_move_somewhere(void **state)
{
	PmPassOutcome out;
	const char *said = "";

	(void)state;
	need(PM_BOX_FILTER);
	out = pm_attack_run(ATTACKS, "S19b_move_somewhere", 60);
	for (size_t i = 0; i < out.n_rules; i++)
		if (out.rule[i].stats.n_reasons)
			said = out.rule[i].stats.reason[0].text;
	if (strcmp(said, "nothing moved") != 0)
		fail_msg("it said '%s' (%s: %s)", said, pm_verdict_name(out.verdict), out.message);
	pm_pass_outcome_release(&out);
}
#endif

/* ---- emulated kernels ---- */

static PmDevice *dev;

static int open_device(void **state)
{
	(void)state;
	dev = emu_open();
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

typedef struct Job {
	PmModule m;
	PmBuf y;
	int serving;
} Job;

static int child(void *arg, PmStr *out)
{
	const Job *j = arg;
	PmDevArg a = emu_arg(j->y);
	PmErr err;
	int got = 0;
	PmStatus st;

	pm_err_init(&err);
	st = dev->ops->shut(dev, j->serving, &err);
	if (!st)
		st = emu_launch(dev, j->m, "k", 1, 1, 0, &a, 1, &err);
	if (!st)
		st = dev->ops->download(dev, j->y, 0, &got, sizeof got, &err);
	pm_str_addf(out, "%s %d", st ? err.text : "ok", got);
	return 0;
}

/* A kernel that calls the C library's function `fn`, which it finds as far from memcpy as it is here, with
 * these arguments. */
static void run_call(const char *fn_type, const void *fn, const char *arguments, int serving, PmProcResult *r)
{
	static const PmLimits lim = { .seconds = 100, .file_size = 0 };
	void *(*copy)(void *, const void *, size_t) = memcpy;
	Job j = { .y = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof(int)), .serving = serving };
	PmStr source = PM_STR_INIT;
	const char *from;
	PmErr err;

	pm_err_init(&err);
	memcpy(&from, &copy, sizeof from);
	pm_str_addf(&source,
		    "extern \"C\" __global__ void k(int *y) { typedef %s; long t[2] = { 0, 0 }; (void)t; F "
		    "*f = (F "
		    "*)((char *)pm_emu_ctx.calls->copy + (%ld)); *y = (int)f(%s) == -1 ? -1 : 5; }\n",
		    fn_type, (long)((const char *)fn - from), arguments);
	if (emu_load_text(dev, "attack", source.s, &j.m, &err) || pm_fork_call(child, &j, &lim, r, &err))
		fail_msg("%s", err.text);
	dev->ops->release(dev, j.y);
	dev->ops->unload(dev, j.m);
	pm_str_release(&source);
}

static const void *address_of_syscall(void)
{
	long (*fn)(long, ...) = syscall;
	const void *p;

	memcpy(&p, &fn, sizeof p);
	return p;
}

/* The clock of the library, in a run of its own and in a process that answers requests, where calls are
 * rehearsed. */
static void S26_kernel_asks_for_the_time(void **state)
{
	int (*fn)(clockid_t, struct timespec *) = clock_gettime;
	const void *p;

	(void)state;
	need(PM_BOX_NO_CLOCK);
	memcpy(&p, &fn, sizeof p);
	for (int serving = 0; serving < 2; serving++) {
		PmProcResult r;

		run_call("int F(int, long *)", p, "5, t", serving, &r);
		if (strncmp(r.out.s, "ok", 2) == 0 || (r.end == PM_PROC_SIGNALED && r.code != SIGSYS))
			fail_msg("serving %d: end %d, code %d: %s", serving, r.end, r.code, r.out.s);
		pm_proc_result_release(&r);
	}
}

static void is_killed(const char *arguments)
{
	for (int serving = 0; serving < 2; serving++) {
		PmProcResult r;

		run_call("long F(long, ...)", address_of_syscall(), arguments, serving, &r);
		if (r.end != PM_PROC_SIGNALED || r.code != SIGSYS)
			fail_msg("%s (serving %d): end %d, code %d: %s", arguments, serving, r.end, r.code,
				 r.out.s);
		pm_proc_result_release(&r);
	}
}

static void kernel_is_killed(long nr, const char *arguments)
{
	PmStr s = PM_STR_INIT;

	need(PM_BOX_FILTER);
	pm_str_addf(&s, "%ldl, %s", nr, arguments);
	is_killed(s.s);
	pm_str_release(&s);
}

static void S27_kernel_clock_by_call(void **state)
{
	(void)state;
	kernel_is_killed(SYS_clock_gettime, "5l, t");
}

static void S28_kernel_timing_thread(void **state)
{
	(void)state;
	kernel_is_killed(SYS_clone, "0x10f00l, 0l, 0l, 0l, 0l");
}

/* Kernels may change the protection of memory, not of code, and move nothing. */
static void S29_kernel_moves_code(void **state)
{
	(void)state;
	kernel_is_killed(SYS_mremap, "(long)t & -4096l, 4096l, 4096l, 3l, (long)f & -4096l");
	kernel_is_killed(SYS_mmap, "(long)f & -4096l, 4096l, 3l, 0x32l, -1l, 0l");
	kernel_is_killed(SYS_mprotect, "(long)f & -4096l, 4096l, 3l");
	kernel_is_killed(SYS_munmap, "(long)f & -4096l, 4096l");
}

/* ---- forged replies ---- */

/* A reply of `n` bytes of JSON: "[0,0,...". What it would take to read it is not taken. */
static void forged(size_t n, PmVerdict want, const char *part)
{
	PmStr s = PM_STR_INIT;
	PmPassOutcome out;

	memset(&out, 0, sizeof out);
	pm_str_addf(&s, PM__ANSWER_MAGIC " %zu 0\n{\"end\":\"none\",\"x\":[0", n);
	while (s.len < n - 32)
		pm_str_add(&s, ",0");
	pm_str_add(&s, "]");
	while (s.len < n + strcspn(s.s, "\n"))
		pm_str_addc(&s, ' ');
	pm_str_add(&s, "}");
	pm__judge_answer(&s, NULL, 0, &out);
	if (out.verdict != want || !strstr(out.message, part))
		fail_msg("%zu bytes: %s: %s", n, pm_verdict_name(out.verdict), out.message);
	pm_pass_outcome_release(&out);
	pm_str_release(&s);
}

static void S94_reply_of_many_values(void **state)
{
	(void)state;
	forged(8 << 20, PM_VERDICT_NO_MATCH, "No rule");
	forged((8 << 20) + 1, PM_VERDICT_REJECT_API, "at most 8388608 are read");
}

/* ---- the self-test ---- */

static unsigned claims_all(void)
{
	return PM_BOX_ALL;
}

/* The box is as tight as it says, and the self-test tells it from boxes that are not. */
static void S24_the_self_test_tries_it(void **state)
{
	const char *hole = NULL;

	(void)state;
	need(PM_BOX_FILTER);
	if (!pm__sandbox_stops(pm_sandbox_enter, PM_BOX_FILTER, &hole))
		fail_msg("the box of passes lets through: %s", hole);
	assert_int_equal(pm__sandbox_stops(claims_all, PM_BOX_FILTER, &hole), 0);
	assert_string_equal(hole, "a system call that is not listed");
}

/* What a try counts stays: it borrows the memory of the process that makes all of them. */
static unsigned killed_at_first(void)
{
	static int n;

	if (n++ < 2)
		kill(getpid(), SIGKILL);
	return pm_sandbox_enter();
}

static unsigned killed_always(void)
{
	kill(getpid(), SIGKILL);
	return PM_BOX_ALL;
}

/* Somebody who kills processes, as a machine without memory does, says nothing of the box. */
static void the_self_test_outlives_a_kill(void **state)
{
	const char *hole = NULL;

	(void)state;
	need(PM_BOX_FILTER);
	if (!pm__sandbox_stops(killed_at_first, PM_BOX_FILTER, &hole))
		fail_msg("a try that was killed counts as let through: %s", hole);
	assert_int_equal(pm__sandbox_stops(killed_always, PM_BOX_FILTER, &hole), 0);
}

static void S25_the_self_test_tries_clocks(void **state)
{
	const char *hole = NULL;

	(void)state;
	need(PM_BOX_NO_CLOCK);
	if (!pm__sandbox_stops(pm_sandbox_enter, PM_BOX_NO_CLOCK, &hole))
		fail_msg("the box of passes lets through: %s", hole);
	assert_int_equal(pm__sandbox_stops(claims_all, PM_BOX_NO_CLOCK, &hole), 0);
	assert_string_equal(hole, "the kernel's page of the time");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
		cmocka_unit_test(S15_vdso_by_auxv),
		cmocka_unit_test(SC0_eval_kills_a_clock),
		cmocka_unit_test(SC1_eval_kills_moved_code),
		cmocka_unit_test(S15b_vvar),
		cmocka_unit_test(S15c_library_time),
		cmocka_unit_test(S16_clock_by_call),
		cmocka_unit_test(S16b_rdtscp),
		cmocka_unit_test(S17_old_time_page),
		cmocka_unit_test(S18_timing_thread),
		cmocka_unit_test(S19_move_over_library),
		cmocka_unit_test(S19b_move_somewhere),
		cmocka_unit_test(S20_map_over_library),
		cmocka_unit_test(S21_unmap_library),
		cmocka_unit_test(S21b_unmap_into_library),
		cmocka_unit_test(S22_remap_pages),
		cmocka_unit_test(S22b_protect_by_key),
		cmocka_unit_test(S22c_handle_faults),
#endif
		cmocka_unit_test(S94_reply_of_many_values),
		cmocka_unit_test(S24_the_self_test_tries_it),
		cmocka_unit_test(the_self_test_outlives_a_kill),
		cmocka_unit_test(S25_the_self_test_tries_clocks),
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_device, close_device)
		CASE(S26_kernel_asks_for_the_time),
		CASE(S27_kernel_clock_by_call),
		CASE(S28_kernel_timing_thread),
		CASE(S29_kernel_moves_code),
	};

	return cmocka_run_group_tests_name("siege_box", tests, NULL, NULL);
}
