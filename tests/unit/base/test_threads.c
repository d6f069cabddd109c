/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c - loops on several threads: every turn once, loops inside loops, and nobody left afterwards.
 */
#include "base/sys/chain.h"
#include "base/sys/threads.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 100003 };

static unsigned char seen[N];
static atomic_int parts, others, misfits;
static pthread_t caller;

typedef struct Wanted {
	int64_t n, least;
} Wanted;

static void note(void *arg, int64_t from, int64_t to)
{
	const Wanted *w = arg;

	atomic_fetch_add(&parts, 1);
	atomic_fetch_add(&misfits,
			 from < 0 || to > w->n || from >= to || (to - from < w->least && to != w->n));
	if (!pthread_equal(pthread_self(), caller))
		atomic_fetch_add(&others, 1);
	for (int64_t i = from; i < to; i++)
		seen[i]++;
}

static void run(int64_t n, int64_t least)
{
	Wanted w = { n, least > 0 ? least : 1 };

	memset(seen, 0, sizeof seen);
	parts = others = misfits = 0;
	caller = pthread_self();
	pm_threads_run(n, least, note, &w);
	for (int64_t i = 0; i < N; i++)
		assert_int_equal(seen[i], i < n);
	assert_int_equal(misfits, 0);
}

static void every_turn_comes_once(void **state)
{
	static const int64_t n[] = { 0, 1, 2, 7, 64, 1000, N }, least[] = { 0, 1, 3, 64, 5000, N + 1 };

	(void)state;
	for (int limit = 0; limit < 9; limit++) {
		pm_threads_limit(limit);
		for (size_t i = 0; i < sizeof n / sizeof *n; i++)
			for (size_t k = 0; k < sizeof least / sizeof *least; k++)
				run(n[i], least[k]);
	}
	pm_threads_limit(0);
}

static void little_work_and_a_limit_of_one_stay_with_the_caller(void **state)
{
	(void)state;
	pm_threads_limit(8);
	run(99, 50);
	assert_int_equal(parts, 1);
	pm_threads_limit(1);
	run(N, 1);
	assert_int_equal(parts, 1);
	assert_int_equal(others, 0);
	pm_threads_limit(0);
}

static void inner(void *arg, int64_t from, int64_t to)
{
	Wanted w = { N, 1 };

	(void)arg;
	caller = pthread_self();
	for (int64_t i = from; i < to; i++)
		pm_threads_run(N, 1, note, &w);
}

static void a_loop_inside_a_loop_is_one_part(void **state)
{
	(void)state;
	pm_threads_limit(2);
	parts = 0;
	pm_threads_run(8, 1, inner, NULL);
	assert_int_equal(parts, 8);
	pm_threads_limit(0);
}

static int n_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = 0;

	for (struct dirent *e; d && (e = readdir(d));)
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

/* A joined thread may be listed for a moment more; that it was joined is what a fork needs. */
static void no_thread_stays(void **state)
{
	int status = -1, n = n_threads();
	pid_t pid;

	(void)state;
	pm_threads_limit(8);
	for (int k = 0; k < 50; k++)
		run(N, 100);
	for (int k = 0; k < 10000 && n_threads() != n; k++)
		usleep(1000);
	assert_int_equal(n_threads(), n);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		Wanted w = { N, 100 };

		memset(seen, 0, sizeof seen);
		pm_threads_run(N, 100, note, &w);
		_exit(memchr(seen, 0, N) ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	pm_threads_limit(0);
}

/* The digest of much data is that of its pieces' digests, for any number of threads; of little it is the
 * chain's. */
static void digests_are_those_of_pieces(void **state)
{
	enum { BYTES = 2 * PM_CHAIN_PIECE + 5 };
	char *p = malloc(BYTES), want[PM_CHAIN_HEX] = "", pieces[3 * (PM_CHAIN_HEX - 1)], hex[PM_CHAIN_HEX];

	(void)state;
	assert_non_null(p);
	for (int i = 0; i < BYTES; i++)
		p[i] = (char)(i * 2654435761u >> 24);
	for (int k = 0; k < 3; k++) {
		char one[PM_CHAIN_HEX] = "";

		pm_chain_hex(one, p + k * PM_CHAIN_PIECE, k < 2 ? PM_CHAIN_PIECE : 5);
		memcpy(pieces + k * (PM_CHAIN_HEX - 1), one, PM_CHAIN_HEX - 1);
	}
	pm_chain_hex(want, "before", 6);
	memcpy(hex, want, sizeof hex);
	pm_chain_hex(want, pieces, sizeof pieces);
	for (int threads = 1; threads < 4; threads++) {
		char got[PM_CHAIN_HEX];

		memcpy(got, hex, sizeof got);
		pm_threads_limit(threads);
		pm_chain_pieces(got, p, BYTES);
		assert_string_equal(got, want);
	}
	pm_threads_limit(0);
	memcpy(want, hex, sizeof want);
	pm_chain_hex(want, p, PM_CHAIN_PIECE);
	pm_chain_pieces(hex, p, PM_CHAIN_PIECE);
	assert_string_equal(hex, want);
	free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_those_of_pieces),
		cmocka_unit_test(every_turn_comes_once),
		cmocka_unit_test(little_work_and_a_limit_of_one_stay_with_the_caller),
		cmocka_unit_test(a_loop_inside_a_loop_is_one_part),
		cmocka_unit_test(no_thread_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
