/* SPDX-License-Identifier: Apache-2.0 */
/* test_base_proc.c - child processes: how they end, what comes back, and what they cannot get past. */
#include "base/core/arena.h"
#include "base/sys/proc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static PmErr err;
static PmProcResult r;

static int teardown(void **state)
{
	(void)state;
	pm_proc_result_release(&r);
	/* Whatever happened, nothing may be left to reap. */
	return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : -1;
}

static void sh(const char *script, const void *in, size_t n, const PmLimits *lim)
{
	const char *argv[] = { "sh", "-c", script, NULL };

	assert_int_equal(pm_run(argv, in, n, lim, &r, &err), PM_OK);
}

static void check_described(const char *want)
{
	PmStr s = PM_STR_INIT;

	pm_proc_describe(&r, &s);
	assert_string_equal(s.s, want);
	pm_str_release(&s);
}

static void output_errors_and_status_come_back(void **state)
{
	(void)state;
	sh("printf out; printf err >&2; exit 3", NULL, 0, NULL);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.code, 3);
	assert_string_equal(r.out.s, "out");
	assert_string_equal(r.errtext.s, "err");
	assert_true(r.seconds > 0);
	check_described("exited with status 3");
}

static void input_of_any_size_reaches_the_child_even_unread(void **state)
{
	size_t n = 3 << 20;
	char *big = pm_xcalloc(n, 1);

	(void)state;
	memset(big, 'x', n);
	sh("cat", big, n, NULL);
	assert_int_equal(r.code, 0);
	assert_int_equal(r.out.len, n);
	assert_memory_equal(r.out.s, big, n);
	pm_proc_result_release(&r);
	sh("exit 0", big, n, NULL);
	assert_int_equal(r.code, 0);
	pm_proc_result_release(&r);
	sh("wc -c", NULL, 0, NULL);
	assert_string_equal(r.out.s, "0\n");
	free(big);
}

static void missing_program_is_an_environment_error(void **state)
{
	const char *argv[] = { "passmith-no-such-program", NULL };

	(void)state;
	assert_int_equal(pm_run(argv, NULL, 0, NULL, &r, &err), PM_E_ENV);
	assert_non_null(strstr(err.text, "passmith-no-such-program"));
}

static void signals_are_told_from_exits(void **state)
{
	(void)state;
	sh("kill -SEGV $$", NULL, 0, NULL);
	assert_int_equal(r.end, PM_PROC_SIGNALED);
	assert_int_equal(r.code, SIGSEGV);
	check_described("was killed by signal 11 (Segmentation fault)");
}

static void deadline_kills_the_whole_group(void **state)
{
	PmLimits lim = { .seconds = .3, .file_size = -1 };
	int i, alive = 1;
	pid_t pid;

	(void)state;
	sh("sleep 3000 & echo $!; sleep 3000", NULL, 0, &lim);
	assert_int_equal(r.end, PM_PROC_TIMEOUT);
	assert_true(r.seconds >= .3 && r.seconds < 1000);
	pid = atoi(r.out.s);
	assert_true(pid > 1);
	for (i = 0; i < 20000 && alive; i++) { /* init reaps it in its own time */
		char path[64], stat[256] = "";
		FILE *f;

		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
		f = fopen(path, "r");
		alive = f && fgets(stat, sizeof stat, f) && !strstr(stat, ") Z");
		if (f)
			fclose(f);
		usleep(10000);
	}
	assert_false(alive);
}

static void background_process_does_not_hold_up_the_result(void **state)
{
	PmLimits lim = { .seconds = 2000, .file_size = -1 };

	(void)state;
	sh("sleep 3000 & echo done", NULL, 0, &lim);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_string_equal(r.out.s, "done\n");
	assert_true(r.seconds < 1000);
}

static void child_that_closes_its_output_is_still_timed(void **state)
{
	PmLimits lim = { .seconds = .3, .file_size = -1 };

	(void)state;
	sh("exec >&- 2>&-; sleep 3000", NULL, 0, &lim);
	assert_int_equal(r.end, PM_PROC_TIMEOUT);
	assert_true(r.seconds < 1000);
}

static void too_much_output_kills_the_child(void **state)
{
	PmLimits lim = { .seconds = 2000, .file_size = -1, .max_output = 1000 };

	(void)state;
	sh("yes", NULL, 0, &lim);
	assert_int_equal(r.end, PM_PROC_TOO_MUCH);
	assert_int_equal(r.out.len, 1000);
	pm_proc_result_release(&r);
	sh("yes >&2", NULL, 0, &lim);
	assert_int_equal(r.end, PM_PROC_TOO_MUCH);
	assert_int_equal(r.errtext.len, 1000);
	check_described("was killed because it wrote more than 1000 bytes");
	pm_proc_result_release(&r);
	sh("head -c 1000 /dev/zero", NULL, 0, &lim);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.out.len, 1000);
}

static void processor_time_limit_counts_as_timeout(void **state)
{
	PmLimits lim = { .seconds = 2000, .cpu_seconds = 1, .file_size = -1 };

	(void)state;
	sh("while :; do :; done", NULL, 0, &lim);
	assert_int_equal(r.end, PM_PROC_TIMEOUT);
	assert_true(r.seconds < 1000);
}

static void file_and_descriptor_limits_hold(void **state)
{
	PmLimits none = { .file_size = 0, .max_files = 16 };

	(void)state;
	sh("ulimit -n; ulimit -c", NULL, 0, &none);
	assert_string_equal(r.out.s, "16\n0\n");
	pm_proc_result_release(&r);
	sh("echo x > \"${TMPDIR:-/tmp}/pm-limit.$$\"", NULL, 0, &none);
	assert_int_equal(r.end, PM_PROC_SIGNALED);
	assert_int_equal(r.code, SIGXFSZ);
	pm_proc_result_release(&r);
	sh("rm -f \"${TMPDIR:-/tmp}\"/pm-limit.*", NULL, 0, NULL);
}

static void status_survives_an_ignored_sigchld(void **state)
{
	(void)state;
	signal(SIGCHLD, SIG_IGN);
	sh("exit 3", NULL, 0, NULL);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.code, 3);
}

static void our_descriptors_do_not_reach_the_child(void **state)
{
	int fd = dup2(1, 77);

	(void)state;
	assert_int_equal(fd, 77);
	sh("ls /proc/self/fd", NULL, 0, NULL);
	close(fd);
	assert_null(strstr(r.out.s, "77"));
	/* 0 1 2 and the one ls opens to list the folder */
	assert_string_equal(r.out.s, "0\n1\n2\n3\n");
}

static int answer(void *arg, PmStr *out)
{
	pm_str_addf(out, "got %d", *(int *)arg);
	printf("to stdout ");
	fprintf(stderr, "to stderr");
	*(int *)arg = 99;
	return 300;
}

static void forked_function_sends_its_bytes_and_status(void **state)
{
	int x = 41;

	(void)state;
	assert_int_equal(pm_fork_call(answer, &x, NULL, &r, &err), PM_OK);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.code, 300 & 0xff);
	assert_string_equal(r.out.s, "got 41");
	assert_non_null(strstr(r.errtext.s, "to stdout"));
	assert_non_null(strstr(r.errtext.s, "to stderr"));
	assert_int_equal(x, 41);
}

static int big_answer(void *arg, PmStr *out)
{
	size_t i;

	for (i = 0; i < *(size_t *)arg; i++)
		pm_str_addc(out, (char)i);
	return 0;
}

static void forked_result_may_be_larger_than_a_pipe(void **state)
{
	PmLimits lim = { .file_size = 0, .max_output = 3000000 };
	size_t n = 3000000, i;

	(void)state;
	assert_int_equal(pm_fork_call(big_answer, &n, &lim, &r, &err), PM_OK);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_int_equal(r.out.len, n);
	for (i = 0; i < n; i++)
		if (r.out.s[i] != (char)i)
			fail_msg("byte %zu differs", i);
	pm_proc_result_release(&r);
	lim.max_output--;
	assert_int_equal(pm_fork_call(big_answer, &n, &lim, &r, &err), PM_OK);
	assert_int_equal(r.end, PM_PROC_TOO_MUCH);
}

static int crash(void *arg, PmStr *out)
{
	(void)out;
	raise(*(int *)arg);
	return 0;
}

static void forked_crash_is_named(void **state)
{
	int sig[] = { SIGSEGV, SIGABRT, SIGFPE };
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(pm_fork_call(crash, &sig[i], NULL, &r, &err), PM_OK);
		assert_int_equal(r.end, PM_PROC_SIGNALED);
		assert_int_equal(r.code, sig[i]);
		assert_int_equal(r.out.len, 0);
		pm_proc_result_release(&r);
	}
}

static int hang(void *arg, PmStr *out)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	(void)arg;
	(void)out;
	sigaction(SIGTERM, &ignore, NULL);
	for (;;)
		pause();
	return 0;
}

static void forked_hang_meets_its_deadline(void **state)
{
	PmLimits lim = { .seconds = .2, .file_size = -1 };

	(void)state;
	assert_int_equal(pm_fork_call(hang, NULL, &lim, &r, &err), PM_OK);
	assert_int_equal(r.end, PM_PROC_TIMEOUT);
	assert_true(r.seconds >= .2 && r.seconds < 1000);
}

static const struct timespec no_time;

/* Uses a processor for 0.3 s of its own. */
static int works(void *arg, PmStr *out)
{
	struct timespec t = no_time;

	(void)arg;
	while (!t.tv_sec && t.tv_nsec < 300000000)
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	pm_str_add(out, "done");
	return 0;
}

/* The same, where it gets a quarter of the processor that it shares with its parent's other child. */
static int works_in_the_background(void *arg, PmStr *out)
{
	return nice(5) == -1 ? 1 : works(arg, out);
}

/* Everything that this process and its children do has one processor. */
static void share_one_processor(cpu_set_t *before)
{
	cpu_set_t one;

	assert_int_equal(sched_getaffinity(0, sizeof *before, before), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, before))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
}

static void a_busy_machine_does_not_shorten_a_deadline(void **state)
{
	PmLimits lim = { .seconds = .4, .file_size = -1 };
	cpu_set_t before;
	PmStatus st;
	pid_t busy;

	(void)state;
	if (access("/proc/self/schedstat", R_OK))
		pm_test_skip("the kernel does not say how long a process waits for a processor");
	share_one_processor(&before);
	busy = fork();
	if (!busy)
		for (volatile unsigned i = 0;; i++)
			;
	st = pm_fork_call(works_in_the_background, NULL, &lim, &r, &err);
	kill(busy, SIGKILL);
	waitpid(busy, NULL, 0);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	assert_int_equal(st, PM_OK);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_string_equal(r.out.s, "done");
}

static int list_descriptors(void *arg, PmStr *out)
{
	int fd;

	(void)arg;
	for (fd = 0; fd < 256; fd++)
		if (fcntl(fd, F_GETFD) != -1)
			pm_str_addf(out, "%d ", fd);
	return 0;
}

static void forked_child_holds_only_its_channel_and_standard_streams(void **state)
{
	int fd = open("/dev/null", O_RDONLY);

	(void)state;
	assert_int_equal(pm_fork_call(list_descriptors, NULL, NULL, &r, &err), PM_OK);
	close(fd);
	assert_string_equal(r.out.s, "0 1 2 3 ");
}

static int exhaust(void *arg, PmStr *out)
{
	int64_t i;

	(void)arg;
	for (i = 0; i < 64; i++) { /* touched and kept: it counts against the address space */
		char *p = malloc(16 << 20);

		if (!p)
			break;
		p[0] = 1;
	}
	pm_str_addf(out, "%d", (int)i);
	return 0;
}

static void memory_limit_makes_allocation_fail(void **state)
{
	PmLimits lim = { .memory = 256 << 20, .file_size = -1 };

	(void)state;
#if defined(__SANITIZE_ADDRESS__)
	pm_test_skip("AddressSanitizer needs the address space that the limit would take away");
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	pm_test_skip("AddressSanitizer needs the address space that the limit would take away");
#endif
#endif
	assert_int_equal(pm_fork_call(exhaust, NULL, &lim, &r, &err), PM_OK);
	assert_int_equal(r.end, PM_PROC_EXITED);
	assert_in_range(atoi(r.out.s), 1, 16);
}

static void no_descriptor_leaks_in_the_parent(void **state)
{
	int before = open("/dev/null", O_RDONLY), after, i;
	const char *argv[] = { "passmith-no-such-program", NULL };
	int x = 1;

	(void)state;
	close(before);
	for (i = 0; i < 3; i++) {
		sh("true", "in", 2, NULL);
		pm_proc_result_release(&r);
		assert_int_equal(pm_fork_call(answer, &x, NULL, &r, &err), PM_OK);
		pm_proc_result_release(&r);
		assert_int_equal(pm_run(argv, NULL, 0, NULL, &r, &err), PM_E_ENV);
	}
	after = open("/dev/null", O_RDONLY);
	close(after);
	assert_int_equal(after, before);
}

#define CASE(f) cmocka_unit_test_teardown(f, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(output_errors_and_status_come_back),
		CASE(input_of_any_size_reaches_the_child_even_unread),
		CASE(missing_program_is_an_environment_error),
		CASE(signals_are_told_from_exits),
		CASE(deadline_kills_the_whole_group),
		CASE(background_process_does_not_hold_up_the_result),
		CASE(child_that_closes_its_output_is_still_timed),
		CASE(too_much_output_kills_the_child),
		CASE(processor_time_limit_counts_as_timeout),
		CASE(file_and_descriptor_limits_hold),
		CASE(status_survives_an_ignored_sigchld),
		CASE(our_descriptors_do_not_reach_the_child),
		CASE(forked_function_sends_its_bytes_and_status),
		CASE(forked_result_may_be_larger_than_a_pipe),
		CASE(forked_crash_is_named),
		CASE(forked_hang_meets_its_deadline),
		CASE(a_busy_machine_does_not_shorten_a_deadline),
		CASE(forked_child_holds_only_its_channel_and_standard_streams),
		CASE(memory_limit_makes_allocation_fail),
		CASE(no_descriptor_leaks_in_the_parent),
	};

	pm_str_init(&r.out);
	pm_str_init(&r.errtext);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
