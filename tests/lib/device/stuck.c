/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.c - threads of a test, and what they do when they make no step any more. */
#include "tests/lib/device/stuck.h"

#include "base/sys/proc.h"

#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAMES = 48, STACK_S = 2 /* in which a thread writes its stack */ };

static atomic_int written;

void test_step(TestWorker *w, const char *step, int run)
{
	atomic_store(&w->run, run);
	atomic_store(&w->step, step);
	atomic_fetch_add(&w->steps, 1);
}

/* In the thread that is stuck. */
static void write_stack(int signal_number)
{
	void *frame[FRAMES];
	int n = backtrace(frame, FRAMES);

	(void)signal_number;
	backtrace_symbols_fd(frame, n, STDERR_FILENO);
	atomic_fetch_add(&written, 1);
}

static void nap(void)
{
	const struct timespec t = { 0, 20000000 };

	nanosleep(&t, NULL);
}

static void tell(const TestWorker *w, int n, const char *what, double since)
{
	for (int i = 0; i < n; i++)
		if (!w[i].joined) {
			const char *step = atomic_load(&w[i].step);

			fprintf(stderr, "# %s, thread %d, after %.0f s: run %d, %s; %ld steps so far\n", what,
				i, since, atomic_load(&w[i].run), step ? step : "not begun",
				atomic_load(&w[i].steps));
		}
	fflush(stderr);
}

static void stacks(const TestWorker *w, int n)
{
	struct sigaction on = { .sa_handler = write_stack };
	void *frame[1];

	backtrace(frame, 1); /* loads what it needs before a handler does */
	sigaction(SIGUSR2, &on, NULL);
	for (int i = 0; i < n; i++) {
		int before = atomic_load(&written);
		double until = pm_now() + STACK_S;

		if (w[i].joined)
			continue;
		fprintf(stderr, "# thread %d is in\n", i);
		if (pthread_kill(w[i].id, SIGUSR2) == 0)
			while (atomic_load(&written) == before && pm_now() < until)
				nap();
	}
}

static void give_up(const TestWorker *w, int n, const char *what, double end_s)
{
	stacks(w, n);
	fprintf(stderr, "%s: no thread has begun a step for %.0f s; they wait:", what, end_s);
	for (int i = 0; i < n; i++)
		if (!w[i].joined) {
			const char *step = atomic_load(&w[i].step);

			fprintf(stderr, " thread %d in run %d, %s;", i, atomic_load(&w[i].run),
				step ? step : "not begun");
		}
	fprintf(stderr, " the stacks above say where.\n");
	fflush(stderr);
	_exit(1);
}

/* A thread that has not run yet hangs nowhere: the machine is busy. */
static int all_begun(const TestWorker *w, int n)
{
	for (int i = 0; i < n; i++)
		if (!w[i].joined && !atomic_load(&w[i].step))
			return 0;
	return 1;
}

static long all_steps(const TestWorker *w, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += atomic_load(&w[i].steps) + w[i].joined;
	return sum;
}

void test_join(TestWorker *w, int n, const char *what, double tell_s, double end_s)
{
	double begun = pm_now(), told = begun, moved = begun;
	long steps = -1;

	for (int left = n; left;) {
		double now = pm_now();

		for (int i = 0; i < n; i++)
			if (!w[i].joined && pthread_tryjoin_np(w[i].id, NULL) == 0) {
				w[i].joined = 1;
				left--;
			}
		if (!all_begun(w, n) || all_steps(w, n) != steps) {
			steps = all_steps(w, n);
			moved = now;
		}
		if (left && now - told >= tell_s) {
			tell(w, n, what, now - begun);
			told = now;
		}
		if (left && now - moved >= end_s)
			give_up(w, n, what, end_s);
		if (left)
			nap();
	}
}
