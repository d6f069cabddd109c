/* SPDX-License-Identifier: Apache-2.0 */
/* replay_verify.c - was every timed call a real one? Checked when the candidate's process has ended. */
#include "bench/inputs/inputs.h"
#include "bench/timing/far.h"
#include "bench/timing/replay_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FAR = 100,   /* more suspicious than any level: of calls whose sketches are far off, */
	FAR_MOST = 4 /* of which so many are brought back at most */
};
/* How many times further than an ordinary call is far. */
static const double far_times = 3;

/* --- 1. the candidate ------------------------------------------------------------------------------------
 */

/* Of a call whose outputs were not kept. */
static PmStatus sketch_call(Again *a, Finding *f, int at, PmErr *err)
{
	const PmClockResult *c = a->k->c;

	if (!a->k->o->baseline || c->calls.v[f->call].out)
		return PM_OK;
	f->sketch = pm_xcalloc(c->n_out + 1, sizeof *f->sketch);
	return pm_worker_clock_sketch(a->w, at, f->sketch, c->n_out, err);
}

static PmStatus replay_candidate(Again *a, const Index *list, const Batch *b, PmErr *err)
{
	PmMade made[PM_SAMPLER_DEPTH];
	PmStatus st = pm__make_again(a, b, made, err);

	for (size_t i = b->first; i < b->last && !st; i++) {
		Finding *f = &a->k->f.v[i];
		const PmMade *again = &made[list[i].index - b->index];

		f->special = !pm__same_made(again, &pm__call_of(a->k, i)->made);
		f->inner = pm_digest_equal(&again->out, &pm__call_of(a->k, i)->made.out);
		a->k->out->special += f->special;
		a->k->out->replayed++;
		st = sketch_call(a, f, (int)(list[i].index - b->index), err);
	}
	return st;
}

/* --- calls that are far off, once more -------------------------------------------------------------------
 */

/* Chooses calls that are far from the baseline for their outputs to be fetched: the furthest. */
static size_t choose_far(Check *k, Index far[FAR_MOST])
{
	size_t n_out = k->c->n_out, m = 0, n = 0;
	double *d = pm_xcalloc(k->f.n * n_out + 1, sizeof *d), *times = pm_xcalloc(k->f.n + 1, sizeof *times);
	size_t *which = pm_xcalloc(k->f.n + 1, sizeof *which);

	for (size_t i = 0; i < k->f.n; i++)
		if (k->f.v[i].distance) {
			memcpy(d + m * n_out, k->f.v[i].distance, n_out * sizeof *d);
			which[m++] = i;
		}
	pm_far_times(d, m, n_out, times);
	for (; n < FAR_MOST; n++) {
		size_t at = 0;

		for (size_t i = 1; i < m; i++)
			at = times[i] > times[at] ? i : at;
		if (!m || !(times[at] > far_times))
			break;
		times[at] = 0;
		k->f.v[which[at]].suspicion = FAR + FAR_MOST - (int)n;
		far[n] = (Index){ pm__call_of(k, which[at])->index, pm__call_of(k, which[at])->alt,
				  which[at] };
	}
	free(d);
	free(times);
	free(which);
	return n;
}

/* The list's calls are numbers of findings here. */
static PmStatus fetch(Again *a, const Index *list, const Batch *b, PmErr *err)
{
	Check *k = a->k;
	PmMade made[PM_SAMPLER_DEPTH];
	PmStatus st = pm__make_again(a, b, made, err);

	for (size_t i = b->first; i < b->last && !st; i++) {
		Finding *f = &k->f.v[list[i].call];
		int at = (int)(list[i].index - b->index);

		if (!pm__same_made(&made[at], &k->c->calls.v[f->call].made)) {
			k->out->special += !f->special;
			f->special = 1;
			continue;
		}
		f->out = pm_xcalloc(k->c->n_out + 1, sizeof *f->out);
		st = pm_worker_clock_outputs(a->w, a->side->g, at, f->out, err);
		k->out->fetched += !st;
	}
	return st;
}

/* The candidate makes the furthest calls a third time, for the reference to look at: the same bits, or
 * special. */
static PmStatus fetch_far(Again *a, PmErr *err)
{
	Index far[FAR_MOST];
	size_t n = choose_far(a->k, far);

	if (!n)
		return PM_OK;
	pm__sort_calls(far, n);
	return pm__replay(a, far, n, fetch, err);
}

/* --- all -------------------------------------------------------------------------------------------------
 */

static void name_special(Check *k, const Finding *first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const PmTimedCall *c = &k->c->calls.v[first[i].call];

		if (!first[i].special && !c->altered)
			continue;
		pm__found(k->out, PM_REPLAY_SPECIAL,
			  c->altered ? "The outputs of timed call %zu of %zu changed after it had ended (%d "
				       "calls made "
				       "other bits than here)."
			  : first[i].inner
				  ? "Timed call %zu of %zu left other values between its kernels than the "
				    "same kernels do in a process of their own, as did %d calls in all."
				  : "Timed call %zu of %zu made other bits of its inputs than the same "
				    "kernels do in a process of their own, as did %d calls in all.",
			  first[i].call, k->c->calls.n, k->out->special);
	}
}

static void release_findings(Finding *f, size_t n, size_t n_out)
{
	for (size_t i = 0; i < n; i++) {
		free(f[i].sketch);
		free(f[i].distance);
		if (f[i].out)
			pm_tensors_release(f[i].out, n_out);
		free(f[i].out);
	}
	free(f);
}

/* 1 and 2, beside one another where there is a baseline. */
static PmStatus make_all_again(Again *a, const Index *list, size_t n, PmErr *err)
{
	Baseline *b = a->k->o->baseline ? pm__baseline_begin(a->k) : NULL;
	PmStatus st = pm__replay(a, list, n, replay_candidate, err), other = PM_OK;
	PmErr why;

	pm_err_init(&why);
	if (b) {
		pm_worker_renew(a->w);
		other = pm__baseline_end(b, &why);
	}
	if (!st && other)
		st = pm_err(err, other, "%s", why.text);
	return !st && b ? fetch_far(a, err) : st;
}

PmStatus pm_replay_verify(PmWorker *w, const PmGraph *original, const PmWork *candidate, int n_alts,
			  const PmClockResult *c, const PmReplayOpts *opts, PmReplayResult *out, PmErr *err)
{
	Check k = { .w = w, .original = original, .c = c, .o = opts, .out = out };
	Again a = { .k = &k, .w = w, .side = candidate, .n_sides = n_alts };
	size_t n;
	Index *list = pm__list_calls(c, 1, &n);
	Beside *beside;
	Finding *all;
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->calls = (int)n;
	pm_rng_init(&a.rng, pm_secret_u64(opts->secret, "again", 0));
	for (size_t i = 0; i < n; i++)
		PM_VEC_PUSH(&k.f, ((Finding){ .call = list[i].call }));
	beside = opts->baseline && !opts->special_only ? pm__judge_beside(&k) : NULL;
	st = make_all_again(&a, list, n, err);
	pm_worker_renew(w);
	all = pm_xcalloc(n + 1, sizeof *all);
	if (n)
		memcpy(all, k.f.v, n * sizeof *all);
	if (!st && out->state == PM_REPLAY_OK)
		st = pm__replay_judge(&k, beside, err);
	else
		pm__judge_beside_drop(beside);
	if (!st)
		name_special(&k, all, n);
	release_findings(all, n, c->n_out);
	free(list);
	PM_VEC_RELEASE(&k.f);
	return st;
}
