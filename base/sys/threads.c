/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - loops whose turns do not depend on each other, spread over processors. */
#include "base/sys/threads.h"

#include "base/sys/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { MAX_THREADS = 64, PARTS = 4, STACK = 1 << 20 }; /* PARTS: of each thread, so that none waits long */

typedef struct Loop {
	PmThreadFn *fn;
	void *arg;
	int64_t n, each;
	atomic_int_least64_t next;
} Loop;

static int limit;
static _Thread_local int inside;

void pm_threads_limit(int most)
{
	limit = most > 0 ? most : 0;
}

int pm_threads_most(void)
{
	int n = inside ? 1 : limit ? limit : pm_cpu_count();

	return n < MAX_THREADS ? n : MAX_THREADS;
}

int pm_threads_inside(void)
{
	return inside;
}

static void *turns(void *arg)
{
	Loop *l = arg;

	inside = 1;
	for (int64_t from; (from = atomic_fetch_add(&l->next, l->each)) < l->n;)
		l->fn(l->arg, from, l->n - from < l->each ? l->n : from + l->each);
	inside = 0;
	return NULL;
}

/* Starts up to n threads and returns how many there are. They take no signals: those are the caller's. */
static int start(pthread_t *thread, int n, Loop *l)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int k = 0;

	if (pthread_attr_init(&attr))
		return 0;
	pthread_attr_setstacksize(&attr, STACK);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	while (k < n && !pthread_create(&thread[k], &attr, turns, l))
		k++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return k;
}

void pm_threads_run(int64_t n, int64_t least, PmThreadFn *fn, void *arg)
{
	Loop l = { .fn = fn, .arg = arg, .n = n };
	pthread_t thread[MAX_THREADS];
	int64_t most;
	int k = 0;

	least = least > 0 ? least : 1;
	if (n <= 0)
		return;
	if (inside || n / least < 2) {
		fn(arg, 0, n);
		return;
	}
	most = pm_threads_most();
	most = most > n / least ? n / least : most;
	l.each = n / (most * PARTS);
	l.each = l.each > least ? l.each : least;
	k = most > 1 ? start(thread, (int)most - 1, &l) : 0;
	if (k)
		turns(&l);
	else
		fn(arg, 0, n);
	while (k > 0)
		pthread_join(thread[--k], NULL);
}
