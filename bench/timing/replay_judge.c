/* SPDX-License-Identifier: Apache-2.0 */
/* replay_judge.c - the reference is asked about timed calls, in several processes where that is worth it. */
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "base/sys/threads.h"
#include "bench/compare/agree.h"
#include "bench/compare/by_rows.h"
#include "bench/inputs/inputs.h"
#include "bench/timing/replay_priv.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_JOBS = 8 };
/* What one call took in this process has to leave so much to do that processes are worth starting. */
static const double worth = 0.05;

/* What the reference says of one call. */
typedef struct Answer {
	int asked, wrong;
	size_t output;
	PmFailure failure; /* of the first output that is wrong: values and elements */
} Answer;

static void swap(Finding *a, Finding *b)
{
	Finding t = *a;

	*a = *b;
	*b = t;
}

/* Special calls first, then every other one by suspicion and every other one as it comes, which is at random.
 */
static void order_findings(Check *k, PmRng *rng)
{
	Finding *f = k->f.v;
	size_t n = 0;

	for (size_t i = 0; i < k->f.n; i++) {
		if (!pm__outputs_of(k, i))
			continue;
		f[n] = f[i];
		f[n].suspicion = f[n].special || pm__call_of(k, i)->altered ? PM_SUSPICION_SPECIAL
									    : f[n].suspicion;
		n++;
	}
	k->f.n = n;
	for (size_t i = n; i > 1; i--)
		swap(&f[i - 1], &f[pm_rng_range(rng, 0, (int64_t)i - 1)]);
	for (size_t i = 0; i + 1 < n; i += 2) { /* the largest of what is left comes to place i */
		size_t at = i;

		for (size_t j = i + 1; j < n; j++)
			at = f[j].suspicion > f[at].suspicion ? j : at;
		swap(&f[i], &f[at]);
	}
}

static const char *name_of(const Check *k, size_t output)
{
	return pm_value_name(k->original, pm_graph_output(k->original, output));
}

/* The same by rows, where the graph has them. */
static PmStatus ask_by_rows(const Check *k, size_t i, const PmTensor *in, PmBoundFit *fit, int *judged,
			    PmErr *err)
{
	const PmTensor *got = pm__outputs_of(k, i), **y;
	size_t n_out = k->c->n_out;
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmByRows *by;
	PmRows rows;
	PmStatus st;

	*judged = 0;
	for (size_t o = 0; o < n_out; o++)
		if (!pm_type_equal(pm_value_type(k->original, pm_graph_output(k->original, o)), &got[o].type))
			return PM_OK;
	if (!pm_is_by_rows(k->original, &rows))
		return PM_OK;
	y = pm_xcalloc(n_out + 1, sizeof(void *));
	by = pm_xcalloc(n_out + 1, sizeof *by);
	for (size_t o = 0; o < n_out; o++)
		y[o] = &got[o];
	st = pm_by_rows(k->original, &rows, in, k->c->pool.n_in, y, n_out, k->o->tier, &rule, NULL, by, err);
	*judged = !st;
	for (size_t o = 0; o < n_out && !st; o++) {
		fit[o] = by[o].fit;
		*judged = *judged && by[o].known;
	}
	pm_rows_release(&rows);
	free(by);
	free(y);
	return st;
}

static PmStatus ask_whole(const Check *k, size_t i, const PmTensor *in, PmBoundFit *fit, int *judged,
			  PmErr *err)
{
	const PmTensor *got = pm__outputs_of(k, i);
	size_t n_out = k->c->n_out;
	PmBound *b = pm_xcalloc(n_out + 1, sizeof *b);
	PmStatus st = pm_bound_run(k->original, in, k->c->pool.n_in, k->o->tier, b, n_out, err);

	*judged = !st;
	for (size_t o = 0; o < n_out && !st; o++)
		*judged = *judged && b[o].known && pm_type_equal(&b[o].y.type, &got[o].type);
	for (size_t o = 0; o < n_out && *judged; o++)
		pm_bound_fit(&b[o], &got[o], &fit[o]);
	pm_bounds_release(b, n_out);
	free(b);
	return st;
}

/* By the error bound of the whole graph, in the tier. *judged: 0 when there is none. */
static PmStatus ask_bound(const Check *k, size_t i, const PmTensor *in, int *judged, Answer *a, PmErr *err)
{
	const PmTensor *got = pm__outputs_of(k, i);
	size_t n_out = k->c->n_out;
	PmBoundFit *fit = pm_xcalloc(n_out + 1, sizeof *fit);
	PmErr none;
	PmStatus st;

	pm_err_init(&none);
	st = ask_by_rows(k, i, in, fit, judged, &none);
	if (!st && !*judged)
		st = ask_whole(k, i, in, fit, judged, &none);
	for (size_t o = n_out; o-- > 0 && *judged;) {
		if (fit[o].within)
			continue;
		pm_failure_of_fit(&a->failure, &fit[o], &got[o], name_of(k, o));
		a->wrong = 1;
		a->output = o;
	}
	free(fit);
	return st && st != PM_E_UNSUPPORTED ? pm_err(err, st, "%s", none.text) : PM_OK;
}

/* `seed` is of what happens when there is no bound: it is drawn before, since no other process has the
 * secret.
 */
static PmStatus ask_reference(const Check *k, size_t i, uint64_t seed, Answer *answer, PmErr *err)
{
	const PmTimedCall *c = pm__call_of(k, i);
	size_t n_in = k->c->pool.n_in, n_out = k->c->n_out, wrong = n_out;
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *want = pm_xcalloc(n_out + 1, sizeof *want);
	PmAgreement *a = pm_xcalloc(n_out + 1, sizeof *a);
	PmStatus st = pm_input_pool_inputs(&k->c->pool, c->index, in, err);
	int judged = 0;

	if (!st)
		st = ask_bound(k, i, in, &judged, answer, err);
	if (!st && !judged)
		st = pm_ref_run(k->original, in, n_in, want, n_out, err);
	if (st && st != PM_E_UNSUPPORTED) {
		PmErr why = *err;

		st = pm_err(err, PM_E_INTERNAL, "The reference refuses the inputs of call %zu: %s", i,
			    why.text);
	}
	if (!st && !judged)
		st = pm_agree(k->original, in, pm__outputs_of(k, i), want, n_out, seed, a, err);
	for (size_t o = n_out; o-- > 0 && !st && !judged;)
		if (!a[o].agrees && !a[o].ill_conditioned)
			wrong = o;
	if (!st && wrong < n_out) {
		pm_failure_of_comparison(&answer->failure, &a[wrong].c, &want[wrong].type, name_of(k, wrong));
		answer->wrong = 1;
		answer->output = wrong;
	}
	answer->asked = !st;
	pm_tensors_release(in, n_in);
	pm_tensors_release(want, n_out);
	free(in);
	free(want);
	free(a);
	return st;
}

/* Of the first call that is found to be wrong. */
static void found_wrong(Check *k, size_t i, const Answer *a)
{
	const PmTimedCall *c = pm__call_of(k, i);
	PmReplayResult *d = k->out;

	if (d->state != PM_REPLAY_OK)
		return;
	pm__found(
		d, PM_REPLAY_WRONG,
		"Wrong in timed call %zu of %zu: element %lld of output %zu is %.9g where the reference has "
		"%.9g; untimed calls were right.",
		k->f.v[i].call, k->c->calls.n, (long long)a->failure.worst.index, a->output,
		a->failure.worst.got, a->failure.worst.expected);
	d->failure = a->failure;
	d->failure.timed = 1;
	d->failure.call = (int64_t)k->f.v[i].call;
	d->failure.alternative = c->alt;
	snprintf(d->failure.inputs, sizeof d->failure.inputs, "%s", pm_input_class_name(PM_INPUTS_NORMAL));
}

/* What the processes share: the calls from `first` on, and the time at which none is begun any more. */
typedef struct Asking {
	Check *k;
	size_t first;
	int jobs;
	double until;
	const uint64_t *seed;
	Answer *answer;
} Asking;

/* The processors are shared out: the reference's own threads are as many as there are for each process. */
static PmStatus start(void *arg, int worker, PmErr *err)
{
	const Asking *a = arg;

	(void)worker;
	(void)err;
	if (a->jobs > 1)
		pm_threads_limit(pm_cpu_count() / a->jobs > 1 ? pm_cpu_count() / a->jobs : 1);
	return PM_OK;
}

static PmStatus work(void *arg, size_t item, void *result, PmErr *err)
{
	const Asking *a = arg;
	size_t i = a->first + item;

	if (pm_now() > a->until && a->k->f.v[i].suspicion < PM_SUSPICION_SPECIAL)
		return PM_OK;
	return ask_reference(a->k, i, a->seed[i], result, err);
}

static PmStatus done(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Asking *a = arg;

	if (end == PM_POOL_DIED)
		return pm_err(err, PM_E_INTERNAL, "The process of the reference died at timed call %zu.",
			      a->k->f.v[a->first + item].call);
	memcpy(&a->answer[a->first + item], result, sizeof *a->answer);
	return PM_OK;
}

/* Calls that the reference may be asked about: all, or special ones alone, which stand first. */
static size_t count_asked(const Check *k)
{
	size_t n = 0;

	while (n < k->f.n && !(k->o->special_only && k->f.v[n].suspicion < PM_SUSPICION_SPECIAL))
		n++;
	return n;
}

/* The seconds are those of processors: several of them are done sooner. */
static PmStatus ask_all(Asking *a, size_t n, double seconds, PmErr *err)
{
	PmPool pool = {
		.result_size = sizeof(Answer), .jobs = 1, .start = start, .work = work, .done = done, .arg = a
	};
	double t0 = pm_now(), one, left;
	PmStatus st = n ? ask_reference(a->k, 0, a->seed[0], &a->answer[0], err) : PM_OK;
	int jobs = pm_cpu_count() < MOST_JOBS ? pm_cpu_count() : MOST_JOBS;

	one = pm_now() - t0;
	left = fmin(seconds - one, one * (double)(n - 1));
	if (st || n < 2 || a->answer[0].wrong)
		return st;
	if (left > worth && (size_t)jobs > n - 1)
		jobs = (int)n - 1;
	pool.jobs = left > worth ? jobs : 1;
	pool.n_items = n - 1;
	a->first = 1;
	a->jobs = pool.jobs;
	a->until = t0 + one + (seconds - one) / pool.jobs;
	return pm_pool_run(&pool, err);
}

PmStatus pm__replay_judge(Check *k, PmErr *err)
{
	size_t n;
	uint64_t *seed;
	Asking a = { .k = k };
	PmRng rng;
	PmStatus st;

	pm_rng_init(&rng, pm_secret_u64(k->o->secret, "asked", 0));
	order_findings(k, &rng);
	n = count_asked(k);
	a.seed = seed = pm_xcalloc(n + 1, sizeof *seed);
	a.answer = pm_xcalloc(n + 1, sizeof *a.answer);
	for (size_t i = 0; i < n; i++)
		seed[i] = pm_secret_u64(k->o->secret, "agree", i);
	st = ask_all(&a, n, k->o->reference_seconds > 0 ? k->o->reference_seconds : 2, err);
	for (size_t i = 0; i < n && !st; i++) {
		k->out->referenced += a.answer[i].asked;
		if (a.answer[i].wrong)
			found_wrong(k, i, &a.answer[i]);
	}
	free(seed);
	free(a.answer);
	return st;
}
