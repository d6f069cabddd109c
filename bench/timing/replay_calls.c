/* SPDX-License-Identifier: Apache-2.0 */
/* replay_calls.c - timed calls are made again: in lots of random size and order, in a process of their own;
 * and what is found is stated.
 */
#include "bench/timing/replay_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCHES = 6,   /* at least, where there are as many calls: each lot may come anywhere */
	LOT_TIMES = 10 /* what a call took when it was alone, in the deadline of a lot */
};

PmStatus pm__found(PmReplayResult *out, PmReplayState s, const char *fmt, ...)
{
	va_list ap;

	if (out->state != PM_REPLAY_OK)
		return PM_OK;
	out->state = s;
	va_start(ap, fmt);
	vsnprintf(out->why, sizeof out->why, fmt, ap);
	va_end(ap);
	return PM_OK;
}

static int by_index(const void *a, const void *b)
{
	const Index *x = a, *y = b;

	if (x->alt != y->alt)
		return x->alt - y->alt;
	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

void pm__sort_calls(Index *list, size_t n)
{
	qsort(list, n, sizeof *list, by_index);
}

Index *pm__list_calls(const PmClockResult *c, int candidate_only, size_t *n)
{
	Index *x = pm_xcalloc(c->calls.n + 1, sizeof *x);

	*n = 0;
	for (size_t i = 0; i < c->calls.n; i++)
		if (!candidate_only || c->calls.v[i].side == PM_SIDE_CANDIDATE)
			x[(*n)++] = (Index){ c->calls.v[i].index, candidate_only ? c->calls.v[i].alt : 0, i };
	pm__sort_calls(x, *n);
	return x;
}

typedef PM_VEC(Batch) Batches;

/* Of random lengths, so that a call's place among those that are made again says nothing of its place before.
 */
static void cut_batches(PmRng *rng, const Index *list, size_t n, int depth, Batches *out)
{
	int most = depth < (int)(n / BATCHES) ? depth : (int)(n / BATCHES);

	for (size_t i = 0; i < n;) {
		int limit = (int)pm_rng_range(rng, 1, most > 1 ? most : 1);
		Batch b = { i, i, list[i].index, list[i].alt, 0 };

		while (b.last < n && list[b.last].alt == b.side &&
		       list[b.last].index - b.index <= (uint64_t)b.batch &&
		       list[b.last].index - b.index < (uint64_t)limit) {
			b.batch = (int)(list[b.last].index - b.index) + 1;
			b.last++;
		}
		i = b.last;
		PM_VEC_PUSH(out, b);
	}
}

static void shuffle(PmRng *rng, Batches *b)
{
	for (size_t i = b->n; i > 1; i--) {
		size_t j = (size_t)pm_rng_range(rng, 0, (int64_t)i - 1);
		Batch t = b->v[i - 1];

		b->v[i - 1] = b->v[j];
		b->v[j] = t;
	}
}

/* The digests of the timed candidate, or of none. */
static PmStatus check_plans(const Again *a, PmErr *err)
{
	for (int i = 0; i < a->n_sides && a->side != a->k->o->baseline; i++) {
		const char *plan = pm_worker_digest(a->w, i), *timed = a->k->c->plan[i];

		if (strcmp(plan, timed) != 0)
			return pm_err(err, PM_E_ENV,
				      "The kernels that make timed calls again (digest %.16s) are not those "
				      "that made them (%.16s); somebody changed the cache of compiled "
				      "kernels: remove its folder, and evaluate again.",
				      plan, timed);
	}
	return PM_OK;
}

/* A lot of calls in one request may take what they took one by one, many times over. */
static double deadline(const Check *k, size_t n)
{
	size_t lot = n < PM_SAMPLER_DEPTH ? n : PM_SAMPLER_DEPTH;

	return k->o->deadline > 0 ? k->o->deadline + LOT_TIMES * k->c->slowest * (double)lot : 0;
}

PmStatus pm__replay(Again *a, const Index *list, size_t n,
		    PmStatus (*each)(Again *a, const Index *list, const Batch *b, PmErr *err), PmErr *err)
{
	PmInputPool pool = a->k->c->pool;
	Batches b = { 0 };
	int depth = 1;
	PmStatus st;

	pm_worker_renew(a->w);
	pool.salt = pm_rng_u64(&a->rng);
	pool.poison = pm_rng_u64(&a->rng);
	pool.mixed = 1;
	st = pm_worker_clock_open(a->w, a->side, a->n_sides, &pool, deadline(a->k, n), &depth, err);
	if (!st)
		st = check_plans(a, err);
	if (!st)
		cut_batches(&a->rng, list, n, depth, &b);
	shuffle(&a->rng, &b);
	for (size_t i = 0; i < b.n && !st; i++)
		st = each(a, list, &b.v[i], err);
	PM_VEC_RELEASE(&b);
	return st ? st : pm_worker_clock_end(a->w, err);
}

PmStatus pm__make_again(Again *a, const Batch *b, PmMade *made, PmErr *err)
{
	PmSampleAsk ask = { b->side, PM_TIME_NONE, b->index, b->batch, 0 };
	PmSample s;

	return pm_worker_clock_take(a->w, &ask, &s, made, err);
}
