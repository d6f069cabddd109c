/* SPDX-License-Identifier: Apache-2.0 */
/* replay_judge.c - the reference is asked about timed calls, in several processes where that is worth it. */
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "base/sys/serve.h"
#include "base/sys/threads.h"
#include "bench/compare/agree.h"
#include "bench/compare/by_rows.h"
#include "bench/inputs/inputs.h"
#include "bench/timing/replay_priv.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

/* Without those that nobody has the outputs of, in an order that is drawn. */
static void shuffle_kept(Check *k, uint64_t number)
{
	Finding *f = k->f.v;
	size_t n = 0;
	PmRng rng;

	for (size_t i = 0; i < k->f.n; i++)
		if (pm__outputs_of(k, i))
			f[n++] = f[i];
	k->f.n = n;
	pm_rng_init(&rng, pm_secret_u64(k->o->secret, "asked", number));
	for (size_t i = n; i > 1; i--)
		swap(&f[i - 1], &f[pm_rng_range(&rng, 0, (int64_t)i - 1)]);
}

/* Special calls first, then as many by suspicion as have been asked about at random, then every other one by
 * suspicion and every other one as it comes, which is at random. */
static void order_findings(Check *k, size_t n_random)
{
	Finding *f;
	size_t n;

	shuffle_kept(k, 0);
	f = k->f.v;
	n = k->f.n;
	for (size_t i = 0; i < n; i++)
		if (f[i].special || pm__call_of(k, i)->altered)
			f[i].suspicion = PM_SUSPICION_SPECIAL;
	for (size_t i = 0; i + 1 < n;
	     i += i < n_random ? 1 : 2) { /* the largest of what is left comes to i */
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
	st = pm_by_rows(k->original, &rows, in, k->c->pool.n_in, y, n_out, k->o->tier, &rule, by, err);
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
	const atomic_int *stop; /* NULL = nobody says it */
	const uint64_t *seed;
	Answer *answer;
	double first_call, seconds; /* of processors: what the first one took, and all of them */
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

	if ((pm_now() > a->until || (a->stop && atomic_load(a->stop))) &&
	    a->k->f.v[i].suspicion < PM_SUSPICION_SPECIAL)
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

static int processes(int spared)
{
	int jobs = pm_cpu_count() - spared;

	return jobs < 1 ? 1 : jobs < MOST_JOBS ? jobs : MOST_JOBS;
}

/* The seconds are those of processors: several of them, at most `jobs`, are done sooner. The first call is
 * asked about however long it takes. */
static PmStatus ask_all(Asking *a, size_t n, double seconds, int jobs, PmErr *err)
{
	PmPool pool = {
		.result_size = sizeof(Answer),
		.jobs = 1,
		.start = start,
		.work = work,
		.done = done,
		.arg = a,
		.again = 1 /* this process has asked about the first one, too */
	};
	double t0 = pm_now(), one, left;
	PmStatus st = n ? ask_reference(a->k, 0, a->seed[0], &a->answer[0], err) : PM_OK;

	one = a->first_call = a->seconds = pm_now() - t0;
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
	if (a->stop) /* someone waits: what is begun should end in time */
		a->until -= one;
	st = pm_pool_run(&pool, err);
	a->seconds += (pm_now() - t0 - one) * pool.jobs;
	return st;
}

static double seconds_of(const Check *k)
{
	return k->o->reference_seconds > 0 ? k->o->reference_seconds : 2;
}

/* Of what happens where there is no bound: drawn here, for those of the findings that may be asked about. */
static uint64_t *draw_seeds(const Check *k, size_t n)
{
	uint64_t *seed = pm_xcalloc(n + 1, sizeof *seed);

	for (size_t i = 0; i < n; i++)
		seed[i] = pm_secret_u64(k->o->secret, "agree", k->f.v[i].call);
	return seed;
}

/* ---- beside the calls that are made again ---- */

struct Beside {
	Check k; /* with a list of findings of its own */
	PmServer *server;
	atomic_int *stop; /* shared with the processes; no call is begun any more */
	uint64_t *seed;   /* owned */
	int jobs;
};

/* What was asked about beside. */
typedef struct Asked {
	size_t n;
	double first_call, seconds; /* of processors */
} Asked;

/* In the process: the first call has no request, and asks. The reply is what that took and an answer for each
 * finding, or nothing where it failed: then it fails again for those who ask next. */
static int serve(void *arg, const char *request, size_t n, PmStr *reply)
{
	static Asking a; /* of this process, which asks once */
	static PmStatus st;
	Beside *b = arg;

	(void)n;
	if (request) {
		const Asked took = { 0, a.first_call, a.seconds };

		if (!st) {
			pm_str_addn(reply, (const char *)&took, sizeof took);
			pm_str_addn(reply, (const char *)a.answer, b->k.f.n * sizeof *a.answer);
		}
		return 1;
	}
	a = (Asking){ .k = &b->k, .stop = b->stop, .seed = b->seed };
	a.answer = pm_xcalloc(b->k.f.n + 1, sizeof *a.answer);
	st = ask_all(&a, b->k.f.n, seconds_of(&b->k) / 2, b->jobs, NULL);
	return 0;
}

static void beside_free(Beside *b)
{
	if (b->stop)
		munmap(b->stop, sizeof *b->stop);
	PM_VEC_RELEASE(&b->k.f);
	free(b->seed);
	free(b);
}

Beside *pm__judge_beside(const Check *k)
{
	Beside *b = pm_xcalloc(1, sizeof *b);
	PmLimits lim = { .file_size = -1 };

	b->k = *k;
	memset(&b->k.f, 0, sizeof b->k.f);
	for (size_t i = 0; i < k->f.n; i++)
		PM_VEC_PUSH(&b->k.f, k->f.v[i]);
	shuffle_kept(&b->k, 1);
	b->seed = draw_seeds(&b->k, b->k.f.n);
	b->jobs = processes(PM_REPLAY_PROCESSES + 1);
	b->stop = mmap(NULL, sizeof *b->stop, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (b->stop == MAP_FAILED)
		b->stop = NULL;
	if (b->stop && b->k.f.n && !pm_server_start(serve, b, &lim, &b->server, NULL))
		return b;
	beside_free(b);
	return NULL;
}

void pm__judge_beside_drop(Beside *b)
{
	if (!b)
		return;
	pm_server_kill(b->server);
	beside_free(b);
}

/* Tells it to stop, and takes its answers, one for each of b->k.f, which become the caller's; NULL when there
 * are none. */
static Answer *take_answers(Beside *b, Asked *took)
{
	size_t n = b->k.f.n * sizeof(Answer);
	Answer *answer = NULL;
	PmStr reply = PM_STR_INIT;

	atomic_store(b->stop, 1);
	if (!pm_server_call(b->server, "process of the reference", "?", 1, 0, sizeof *took + n, &reply,
			    NULL) &&
	    reply.len == sizeof *took + n) {
		memcpy(took, reply.s, sizeof *took);
		answer = pm_xcalloc(b->k.f.n, sizeof *answer);
		memcpy(answer, reply.s + sizeof *took, n);
	}
	pm_str_release(&reply);
	pm_server_kill(b->server);
	return answer;
}

/* Notes what `b` found, takes those calls off the list, and frees it. */
static Asked join_beside(Check *k, Beside *b)
{
	char *asked = pm_xcalloc(k->c->calls.n + 1, 1);
	Asked x = { 0 };
	Answer *answer = take_answers(b, &x);
	size_t left = 0;

	for (size_t i = 0; i < b->k.f.n && answer; i++) {
		if (!answer[i].asked)
			continue;
		asked[b->k.f.v[i].call] = 1;
		x.n++;
		if (answer[i].wrong)
			found_wrong(&b->k, i, &answer[i]);
	}
	for (size_t i = 0; i < k->f.n; i++)
		if (!asked[k->f.v[i].call])
			k->f.v[left++] = k->f.v[i];
	k->f.n = left;
	k->out->beside = k->out->referenced = (int)x.n;
	free(answer);
	free(asked);
	beside_free(b);
	return x;
}

PmStatus pm__replay_judge(Check *k, Beside *b, PmErr *err)
{
	Asked before = b ? join_beside(k, b) : (Asked){ 0 };
	double seconds = seconds_of(k) - before.seconds;
	Asking a = { .k = k };
	PmStatus st = PM_OK;
	uint64_t *seed;
	size_t n;

	if (k->out->state != PM_REPLAY_OK)
		return PM_OK;
	order_findings(k, before.n);
	n = count_asked(k);
	if (before.n && n && !k->f.v[0].suspicion && before.first_call > seconds)
		return PM_OK; /* one was asked about, and there is no time for another */
	a.seed = seed = draw_seeds(k, n);
	a.answer = pm_xcalloc(n + 1, sizeof *a.answer);
	st = ask_all(&a, n, seconds, processes(0), err);
	for (size_t i = 0; i < n && !st; i++) {
		k->out->referenced += a.answer[i].asked;
		if (a.answer[i].wrong)
			found_wrong(k, i, &a.answer[i]);
	}
	free(seed);
	free(a.answer);
	return st;
}
