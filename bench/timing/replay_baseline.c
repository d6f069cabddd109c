/* SPDX-License-Identifier: Apache-2.0 */
/* replay_baseline.c - the baseline makes all timed calls again, in a process and a thread of its own, and the
 * candidate's outputs are held against its. */
#include "base/core/asan.h"
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "bench/timing/replay_priv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLOSE_T = -5, /* the level at which an output is not looked at twice */
	TRIES = 3     /* of a process that something outside killed */
};

struct Baseline {
	Check *k;
	Again again;
	PM_VEC(Sketched) sketched;
	PmReplayResult counts; /* compared, baseline, undetermined; and the state, when it was disturbed */
	pthread_t thread;
	int started;
	PmStatus st;
	PmErr err;
};

/* pm__replay knows an Again alone, which is a member here. */
static Baseline *baseline_of(Again *a)
{
	return (Baseline *)(void *)((char *)a - offsetof(Baseline, again));
}

/* Where the baseline or the control made other bits than here: does the baseline differ from itself? */
static PmStatus differs(Baseline *s, const Batch *b, int at, const PmMade *made, PmErr *err)
{
	Batch one = { 0, 0, b->index + (uint64_t)at, 0, 1 };
	PmMade again;
	PmStatus st = pm__make_again(&s->again, &one, &again, err);

	if (st)
		return st;
	if (!pm__same_made(&again, made)) {
		s->counts.undetermined++;
		return PM_OK;
	}
	return pm__found(&s->counts, PM_REPLAY_DISTURBED,
			 "Beside the candidate the baseline made other outputs of inputs number %llu than it "
			 "does in a process of its own.",
			 (unsigned long long)one.index);
}

/* How far the kept outputs of a call are from the baseline's: 0 = close. */
static int suspicion(const PmTimedCall *c, const PmTensor *base, size_t n)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	int worst = 0;

	for (size_t i = 0; i < n; i++) {
		PmTensorView want = pm_view_of(&base[i]), got = pm_view_of(&c->out[i]);
		PmComparison x;

		if (pm_surely_close(&want, &got, CLOSE_T))
			continue;
		pm_compare(&want, &got, &rule, &x);
		if (!x.equal && x.smallest_t - CLOSE_T > worst)
			worst = x.smallest_t - CLOSE_T;
	}
	return worst;
}

/* Compares the kept calls on inputs number `index`, which the baseline has just made as call `at`. *sketch:
 * there are others on these inputs. */
static PmStatus compare_kept(Baseline *s, uint64_t index, int at, int *sketch, PmErr *err)
{
	Check *k = s->k;
	size_t n = k->c->n_out;
	PmTensor *base = NULL;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < k->f.n && !st; i++) {
		const PmTimedCall *c = pm__call_of(k, i);

		if (c->index != index)
			continue;
		if (!c->out) {
			*sketch = 1;
			continue;
		}
		if (!base) {
			base = pm_xcalloc(n + 1, sizeof *base);
			st = pm_worker_clock_outputs(s->again.w, s->again.side->g, at, base, err);
		}
		if (!st) {
			k->f.v[i].suspicion = suspicion(c, base, n);
			s->counts.compared++;
		}
	}
	if (base)
		pm_tensors_release(base, n);
	free(base);
	return st;
}

static PmStatus sketch(Baseline *s, uint64_t index, int at, PmErr *err)
{
	size_t n = s->k->c->n_out;
	Sketched x = { index, pm_xcalloc(n + 1, sizeof *x.sketch) };

	PM_VEC_PUSH(&s->sketched, x);
	return pm_worker_clock_sketch(s->again.w, at, x.sketch, n, err);
}

static PmStatus replay_batch(Again *a, const Index *list, const Batch *b, PmErr *err)
{
	Baseline *s = baseline_of(a);
	PmMade made[PM_SAMPLER_DEPTH];
	int other[PM_SAMPLER_DEPTH] = { 0 };
	PmStatus st = pm__make_again(a, b, made, err);

	for (int at = 0; at < b->batch && !st; at++) {
		int wanted = 0;

		st = compare_kept(s, b->index + (uint64_t)at, at, &wanted, err);
		if (!st && wanted)
			st = sketch(s, b->index + (uint64_t)at, at, err);
	}
	for (size_t i = b->first; i < b->last && !st; i++) {
		const PmTimedCall *c = &s->k->c->calls.v[list[i].call];
		int at = (int)(c->index - b->index);

		if (c->side == PM_SIDE_CANDIDATE)
			continue;
		other[at] |= !pm__same_made(&made[at], &c->made);
		s->counts.baseline++;
	}
	for (int at = 0; at < b->batch && !st; at++)
		if (other[at])
			st = differs(s, b, at, &made[at], err);
	return st;
}

static void forget(Baseline *s)
{
	for (size_t i = 0; i < s->sketched.n; i++)
		free(s->sketched.v[i].sketch);
	PM_VEC_RELEASE(&s->sketched);
	memset(&s->counts, 0, sizeof s->counts);
}

/* What something outside killed is begun anew. */
static void *run(void *arg)
{
	Baseline *s = arg;
	size_t n;
	Index *list = pm__list_calls(s->k->c, 0, &n);

	for (int i = 0; i < TRIES; i++) {
		forget(s);
		pm_err_init(&s->err);
		s->st = pm__replay(&s->again, list, n, replay_batch, &s->err);
		if (!s->st || !pm_worker_killed(s->again.w))
			break;
	}
	pm_worker_renew(s->again.w);
	free(list);
	return NULL;
}

Baseline *pm__baseline_begin(Check *k)
{
	Baseline *s = pm_xcalloc(1, sizeof *s);

	s->k = k;
	s->again = (Again){ .k = k, .w = pm_worker_second(k->w), .side = k->o->baseline, .n_sides = 1 };
	pm_rng_init(&s->again.rng, pm_secret_u64(k->o->secret, "again", 1));
	/* Both sides begin processes. fork() leaves the locks of the C library's allocator free, not those of
	 * AddressSanitizer's: a child that is made while the other thread has one waits for ever. */
	s->started = !PM_ASAN && !pthread_create(&s->thread, NULL, run, s);
	return s;
}

static int by_number(const void *a, const void *b)
{
	const Sketched *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* The sketches of both sides are here now. */
static void set_distances(Baseline *s)
{
	Check *k = s->k;
	size_t n = k->c->n_out;

	if (s->sketched.n)
		qsort(s->sketched.v, s->sketched.n, sizeof *s->sketched.v, by_number);
	for (size_t i = 0; i < k->f.n; i++) {
		Finding *f = &k->f.v[i];
		Sketched key = { pm__call_of(k, i)->index, NULL }, *at = NULL;

		if (f->sketch && s->sketched.n)
			at = bsearch(&key, s->sketched.v, s->sketched.n, sizeof key, by_number);
		if (!at)
			continue;
		f->distance = pm_xcalloc(n + 1, sizeof *f->distance);
		for (size_t o = 0; o < n; o++)
			f->distance[o] = pm_sketch_distance(&f->sketch[o], &at->sketch[o]);
		s->counts.projected++;
	}
}

PmStatus pm__baseline_end(Baseline *s, PmErr *err)
{
	PmReplayResult *out = s->k->out;
	PmStatus st;

	if (s->started)
		pthread_join(s->thread, NULL);
	if (!s->started || s->st)
		run(s);
	st = s->st;
	if (st) {
		pm_err(err, st, "%s", s->err.text);
	} else {
		set_distances(s);
		out->compared = s->counts.compared;
		out->projected = s->counts.projected;
		out->baseline = s->counts.baseline;
		out->undetermined = s->counts.undetermined;
		if (s->counts.state != PM_REPLAY_OK)
			pm__found(out, s->counts.state, "%s", s->counts.why);
	}
	pm_worker_join(s->k->w, s->again.w); /* the reference does not wait for the device */
	forget(s);
	free(s);
	return st;
}
