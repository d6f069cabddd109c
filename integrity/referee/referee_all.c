/* SPDX-License-Identifier: Apache-2.0 */
/* referee_all.c - many graphs judged side by side.
 *
 * Threads, although passes run in processes of their own: a referee does little more than wait for one.
 */
#include "base/core/arena.h"
#include "base/sys/pool.h"
#include "integrity/referee/referee.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 64 };

typedef struct All {
	const PmObject *object;
	PmGraph *const *g;
	size_t n;
	double deadline;
	PmCandidate *out;
	PmStatus *st; /* by graph */
	PmErr *err;
	atomic_size_t next;
} All;

static void *judge_next(void *arg)
{
	All *a = arg;

	for (size_t i; (i = atomic_fetch_add(&a->next, 1)) < a->n;) {
		pm_err_init(&a->err[i]);
		a->st[i] = pm_referee_rewrite_object(a->object, NULL, a->g[i], a->deadline, &a->out[i],
						     &a->err[i]);
	}
	return NULL;
}

/* One thread less than there are processors or graphs: the caller works too, alone when none can be had. */
static void judge_all(All *a)
{
	size_t jobs = (size_t)pm_cpu_count(), wanted = (a->n < jobs ? a->n : jobs), n = 0;
	pthread_t thread[MAX_THREADS];

	while (n + 1 < wanted && n < MAX_THREADS && !pthread_create(&thread[n], NULL, judge_next, a))
		n++;
	judge_next(a);
	while (n)
		pthread_join(thread[--n], NULL);
}

PmStatus pm_referee_rewrite_all(const char *so_path, PmGraph *const *g, size_t n, double deadline,
				PmCandidate *out, PmErr *err)
{
	PmObject object;
	All a = { .object = &object, .g = g, .n = n, .deadline = deadline, .out = out };
	PmErr why;
	PmStatus st = PM_OK;

	pm_err_init(&why);
	memset(out, 0, n * sizeof *out);
	if (pm_object_read(so_path, &object, &why))
		snprintf(object.refused, sizeof object.refused, "%s", why.text);
	a.st = pm_xcalloc(n + 1, sizeof *a.st);
	a.err = pm_xcalloc(n + 1, sizeof *a.err);
	judge_all(&a);
	for (size_t i = 0; i < n && !st; i++)
		if (a.st[i])
			st = pm_err(err, a.st[i], "%s", a.err[i].text);
	for (size_t i = 0; i < n && st; i++)
		pm_candidate_release(&out[i]);
	pm_object_release(&object);
	free(a.st);
	free(a.err);
	return st;
}
