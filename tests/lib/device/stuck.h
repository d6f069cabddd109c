/* SPDX-License-Identifier: Apache-2.0 */
/* stuck.h - threads of a test that are told of while they take long, and ended when they make no step any
 * more: the last line then says what each of them was doing, and the stacks before it where it waits. */
#ifndef TESTS_LIB_DEVICE_STUCK_H
#define TESTS_LIB_DEVICE_STUCK_H

#include <pthread.h>
#include <stdatomic.h>

typedef struct TestWorker {
	pthread_t id;
	const char *_Atomic step; /* what it does now: static text; NULL before it begins */
	atomic_int run;           /* which of its runs */
	atomic_long steps;        /* that it has begun */
	int joined;
} TestWorker;

/* Called by the worker's thread: it begins a step of run number `run`. */
void test_step(TestWorker *w, const char *step, int run);
/* Joins all n threads. When it takes longer than tell_s seconds, and then every so often, a line for each
 * that goes on is written to stderr. When none of them begins a step for end_s seconds, their stacks and a
 * sentence are written there, and the process ends with status 1: a thread that hangs in a driver cannot be
 * stopped. `what` names what they work on. */
void test_join(TestWorker *w, int n, const char *what, double tell_s, double end_s);

#endif
