/* SPDX-License-Identifier: Apache-2.0 */
/* replay_verify.c - was every timed call a real one? Checked when the candidate's process has ended. */
#include "bench/timing/replay_verify.h"

#include "base/core/rng.h"
#include "base/sys/proc.h"
#include "bench/compare/agree.h"
#include "bench/inputs/inputs.h"
#include "bench/timing/far.h"
#include "runtime/ref/ref.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CLOSE_T = -5,   /* the level at which an output is not looked at twice */
	FAR = 100,      /* more suspicious than any level: of calls whose sketches are far off, */
	BATCHES = 6,    /* at least, where there are as many calls: each lot may come anywhere */
	LOT_TIMES = 10, /* what a call took when it was alone, in the deadline of a lot */
	FAR_MOST = 4,   /* of which so many are brought back at most */
	SPECIAL = 1000  /* more suspicious than any distance makes a call */
};
/* How many times further than an ordinary call is far. */
static const double far_times = 3;

/* What is known of one timed call. */
typedef struct Finding {
	size_t call;      /* in the clock's list */
	int special;      /* it made other bits than its replay, */
	int inner;        /* but only between its kernels: its outputs are the same */
	int suspicion;    /* orders what the reference is asked about: the largest first */
	PmSketch *sketch; /* of the replay's outputs, where the call's were not kept; owned */
	double *distance; /* of each output from the baseline's, by sketches; owned; NULL = not known */
	PmTensor *out;    /* brought back from a replay of the same bits; owned */
} Finding;

typedef struct Check {
	PmWorker *w;
	const PmGraph *original;
	const PmClockResult *c;
	const PmReplayOpts *o;
	PmReplayResult *out;
	PmRng rng;
	PM_VEC(Finding) f; /* calls of the candidate, by the number of their inputs */
} Check;

static PmStatus found(Check *k, PmReplayState s, const char *fmt, ...) PM_PRINTF(3, 4);
static PmStatus found(Check *k, PmReplayState s, const char *fmt, ...)
{
	va_list ap;

	if (k->out->state != PM_REPLAY_OK)
		return PM_OK;
	k->out->state = s;
	va_start(ap, fmt);
	vsnprintf(k->out->why, sizeof k->out->why, fmt, ap);
	va_end(ap);
	return PM_OK;
}

static const PmTimedCall *call_of(const Check *k, size_t i)
{
	return &k->c->calls.v[k->f.v[i].call];
}

/* What it made; NULL = nobody has it. */
static const PmTensor *outputs_of(const Check *k, size_t i)
{
	return k->f.v[i].out ? k->f.v[i].out : call_of(k, i)->out;
}

/* The same outputs, and the same values between the kernels. */
static int same(const PmMade *a, const PmMade *b)
{
	return pm_digest_equal(&a->out, &b->out) && pm_digest_equal(&a->inner, &b->inner);
}

/* --- making calls again ----------------------------------------------------------------------------------
 */

typedef struct Index {
	uint64_t index;
	size_t call;
} Index;

static int by_index(const void *a, const void *b)
{
	const Index *x = a, *y = b;

	if (x->index != y->index)
		return x->index < y->index ? -1 : 1;
	return (x->call > y->call) - (x->call < y->call);
}

/* The calls of the candidate, or of all sides, by the number of their inputs. */
static Index *list_calls(const PmClockResult *c, int candidate_only, size_t *n)
{
	Index *x = pm_xcalloc(c->calls.n + 1, sizeof *x);

	*n = 0;
	for (size_t i = 0; i < c->calls.n; i++)
		if (!candidate_only || c->calls.v[i].side == PM_SIDE_CANDIDATE)
			x[(*n)++] = (Index){ c->calls.v[i].index, i };
	qsort(x, *n, sizeof *x, by_index);
	return x;
}

/* A batch of calls on consecutive inputs: list[first .. last), whose inputs are `batch` numbers from `index`
 * on.
 */
typedef struct Batch {
	size_t first, last;
	uint64_t index;
	int batch;
} Batch;

typedef PM_VEC(Batch) Batches;

/* Of random lengths, so that a call's place among those that are made again says nothing of its place before.
 */
static void cut_batches(PmRng *rng, const Index *list, size_t n, int depth, Batches *out)
{
	int most = depth < (int)(n / BATCHES) ? depth : (int)(n / BATCHES);

	for (size_t i = 0; i < n;) {
		int limit = (int)pm_rng_range(rng, 1, most > 1 ? most : 1);
		Batch b = { i, i, list[i].index, 0 };

		while (b.last < n && list[b.last].index - b.index <= (uint64_t)b.batch &&
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

/* The digest of the timed candidate, or of none. */
static PmStatus check_plan(const Check *k, const PmWork *side, PmErr *err)
{
	const char *plan = pm_worker_digest(k->w, 0);

	if (side == k->o->baseline || !strcmp(plan, k->c->plan))
		return PM_OK;
	return pm_err(
		err, PM_E_ENV,
		"The kernels that make timed calls again (digest %.16s) are not those that made them "
		"(%.16s); somebody changed the cache of compiled kernels: remove its folder, and evaluate "
		"again.",
		plan, k->c->plan);
}

/* A lot of calls in one request may take what they took one by one, many times over. */
static double deadline(const Check *k, size_t n)
{
	size_t lot = n < PM_SAMPLER_DEPTH ? n : PM_SAMPLER_DEPTH;

	return k->o->deadline > 0 ? k->o->deadline + LOT_TIMES * k->c->slowest * (double)lot : 0;
}

/* Opens a clock for one side in a new process and hands its batches to `each`, in a random order. */
static PmStatus replay(Check *k, const PmWork *side, const Index *list, size_t n,
		       PmStatus (*each)(Check *k, const PmWork *side, const Index *list, const Batch *b,
					PmErr *err),
		       PmErr *err)
{
	PmInputPool pool = k->c->pool;
	Batches b = { 0 };
	int depth = 1;
	PmStatus st;

	pm_worker_renew(k->w);
	pool.salt = pm_rng_u64(&k->rng);
	pool.poison = pm_rng_u64(&k->rng);
	pool.mixed = 1;
	st = pm_worker_clock_open(k->w, side, 1, &pool, deadline(k, n), &depth, err);
	if (!st)
		st = check_plan(k, side, err);
	if (!st)
		cut_batches(&k->rng, list, n, depth, &b);
	shuffle(&k->rng, &b);
	for (size_t i = 0; i < b.n && !st; i++)
		st = each(k, side, list, &b.v[i], err);
	PM_VEC_RELEASE(&b);
	return st ? st : pm_worker_clock_close(k->w, err);
}

static PmStatus make(Check *k, const Batch *b, PmMade *made, PmErr *err)
{
	PmSampleAsk ask = { 0, PM_TIME_NONE, b->index, b->batch, 0 };
	PmSample s;

	return pm_worker_clock_take(k->w, &ask, &s, made, err);
}

/* --- 1. the candidate ------------------------------------------------------------------------------------
 */

/* Of a call whose outputs were not kept. */
static PmStatus sketch_call(Check *k, Finding *f, int at, PmErr *err)
{
	if (!k->o->baseline || k->c->calls.v[f->call].out)
		return PM_OK;
	f->sketch = pm_xcalloc(k->c->n_out + 1, sizeof *f->sketch);
	return pm_worker_clock_sketch(k->w, at, f->sketch, k->c->n_out, err);
}

static PmStatus replay_candidate(Check *k, const PmWork *side, const Index *list, const Batch *b, PmErr *err)
{
	PmMade made[PM_SAMPLER_DEPTH];
	PmStatus st = make(k, b, made, err);

	(void)side;
	for (size_t i = b->first; i < b->last && !st; i++) {
		Finding *f = &k->f.v[i];

		f->special = !same(&made[list[i].index - b->index], &call_of(k, i)->made);
		f->inner = pm_digest_equal(&made[list[i].index - b->index].out, &call_of(k, i)->made.out);
		k->out->special += f->special;
		k->out->replayed++;
		st = sketch_call(k, f, (int)(list[i].index - b->index), err);
	}
	return st;
}

/* --- 2. the baseline -------------------------------------------------------------------------------------
 */

/* Where the baseline or the control made other bits than here: does the baseline differ from itself? */
static PmStatus baseline_differs(Check *k, const Batch *b, int at, const PmMade *made, PmErr *err)
{
	Batch one = { 0, 0, b->index + (uint64_t)at, 1 };
	PmMade again;
	PmStatus st = make(k, &one, &again, err);

	if (st)
		return st;
	if (!same(&again, made)) {
		k->out->undetermined++;
		return PM_OK;
	}
	return found(k, PM_REPLAY_DISTURBED,
		     "Beside the candidate the baseline made other outputs of inputs number %llu than it "
		     "does in a "
		     "process of its own.",
		     (unsigned long long)one.index);
}

/* How far the kept outputs of call i are from the baseline's: 0 = close. */
static int suspicion(const PmTimedCall *c, const PmTensor *base, size_t n)
{
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	int worst = 0;

	for (size_t i = 0; i < n; i++) {
		PmTensorView want = pm_view_of(&base[i]), got = pm_view_of(&c->out[i]);
		PmComparison x;

		pm_compare(&want, &got, &rule, &x);
		if (!x.equal && x.smallest_t - CLOSE_T > worst)
			worst = x.smallest_t - CLOSE_T;
	}
	return worst;
}

/* Compares the kept calls on inputs number b->index + at, which the baseline has just made as call `at`. */
static PmStatus compare_kept(Check *k, const PmWork *side, const Batch *b, int at, PmErr *err)
{
	size_t n = k->c->n_out;
	PmTensor *base = NULL;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < k->f.n && !st; i++) {
		const PmTimedCall *c = call_of(k, i);

		if (!c->out || c->index != b->index + (uint64_t)at)
			continue;
		if (!base) {
			base = pm_xcalloc(n + 1, sizeof *base);
			st = pm_worker_clock_outputs(k->w, side->g, at, base, err);
		}
		if (!st) {
			k->f.v[i].suspicion = suspicion(c, base, n);
			k->out->compared++;
		}
	}
	if (base)
		pm_tensors_release(base, n);
	free(base);
	return st;
}

/* Holds the sketches of calls on inputs number b->index + at against the baseline's. */
static PmStatus compare_sketches(Check *k, const Batch *b, int at, PmErr *err)
{
	size_t n = k->c->n_out;
	PmSketch *base = NULL;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < k->f.n && !st; i++) {
		Finding *f = &k->f.v[i];

		if (!f->sketch || call_of(k, i)->index != b->index + (uint64_t)at)
			continue;
		if (!base) {
			base = pm_xcalloc(n + 1, sizeof *base);
			st = pm_worker_clock_sketch(k->w, at, base, n, err);
		}
		f->distance = pm_xcalloc(n + 1, sizeof *f->distance);
		for (size_t o = 0; o < n; o++)
			f->distance[o] = pm_sketch_distance(&f->sketch[o], &base[o]);
		k->out->projected += !st;
	}
	free(base);
	return st;
}

static PmStatus replay_baseline(Check *k, const PmWork *side, const Index *list, const Batch *b, PmErr *err)
{
	PmMade made[PM_SAMPLER_DEPTH];
	int differs[PM_SAMPLER_DEPTH] = { 0 };
	PmStatus st = make(k, b, made, err);

	for (int at = 0; at < b->batch && !st; at++) {
		st = compare_kept(k, side, b, at, err);
		if (!st)
			st = compare_sketches(k, b, at, err);
	}
	for (size_t i = b->first; i < b->last && !st; i++) {
		const PmTimedCall *c = &k->c->calls.v[list[i].call];
		int at = (int)(c->index - b->index);

		if (c->side == PM_SIDE_CANDIDATE)
			continue;
		differs[at] |= !same(&made[at], &c->made);
		k->out->baseline++;
	}
	for (int at = 0; at < b->batch && !st; at++)
		if (differs[at])
			st = baseline_differs(k, b, at, &made[at], err);
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
		far[n] = (Index){ call_of(k, which[at])->index, which[at] };
	}
	free(d);
	free(times);
	free(which);
	return n;
}

/* The list's calls are numbers of findings here. */
static PmStatus fetch(Check *k, const PmWork *side, const Index *list, const Batch *b, PmErr *err)
{
	PmMade made[PM_SAMPLER_DEPTH];
	PmStatus st = make(k, b, made, err);

	for (size_t i = b->first; i < b->last && !st; i++) {
		Finding *f = &k->f.v[list[i].call];
		int at = (int)(list[i].index - b->index);

		if (!same(&made[at], &k->c->calls.v[f->call].made)) {
			k->out->special += !f->special;
			f->special = 1;
			continue;
		}
		f->out = pm_xcalloc(k->c->n_out + 1, sizeof *f->out);
		st = pm_worker_clock_outputs(k->w, side->g, at, f->out, err);
		k->out->fetched += !st;
	}
	return st;
}

/* The candidate makes the furthest calls a third time, for the reference to look at: the same bits, or
 * special. */
static PmStatus fetch_far(Check *k, const PmWork *candidate, PmErr *err)
{
	Index far[FAR_MOST];
	size_t n = choose_far(k, far);

	if (!n)
		return PM_OK;
	qsort(far, n, sizeof *far, by_index);
	return replay(k, candidate, far, n, fetch, err);
}

/* --- 3. the reference ------------------------------------------------------------------------------------
 */

static void swap(Finding *a, Finding *b)
{
	Finding t = *a;

	*a = *b;
	*b = t;
}

/* Special calls first, then every other one by suspicion and every other one as it comes, which is at random.
 */
static void order_findings(Check *k)
{
	Finding *f = k->f.v;
	size_t n = 0;

	for (size_t i = 0; i < k->f.n; i++) {
		if (!outputs_of(k, i))
			continue;
		f[n] = f[i];
		f[n].suspicion = f[n].special || call_of(k, i)->altered ? SPECIAL : f[n].suspicion;
		n++;
	}
	k->f.n = n;
	for (size_t i = n; i > 1; i--)
		swap(&f[i - 1], &f[pm_rng_range(&k->rng, 0, (int64_t)i - 1)]);
	for (size_t i = 0; i + 1 < n; i += 2) { /* the largest of what is left comes to place i */
		size_t at = i;

		for (size_t j = i + 1; j < n; j++)
			at = f[j].suspicion > f[at].suspicion ? j : at;
		swap(&f[i], &f[at]);
	}
}

/* `f`: of the first call that is found to be wrong, values and elements are set. */
static void found_wrong(Check *k, size_t i, size_t output, const PmFailure *f)
{
	PmReplayResult *d = k->out;

	if (d->state != PM_REPLAY_OK)
		return;
	found(k, PM_REPLAY_WRONG,
	      "Wrong in timed call %zu of %zu: element %lld of output %zu is %.9g where the reference has "
	      "%.9g; untimed calls were right.",
	      k->f.v[i].call, k->c->calls.n, (long long)f->worst.index, output, f->worst.got,
	      f->worst.expected);
	d->failure = *f;
	d->failure.timed = 1;
	d->failure.call = (int64_t)k->f.v[i].call;
	snprintf(d->failure.inputs, sizeof d->failure.inputs, "%s", pm_input_class_name(PM_INPUTS_NORMAL));
}

static const char *name_of(const Check *k, size_t output)
{
	return pm_value_name(k->original, pm_graph_output(k->original, output));
}

/* By the error bound of the whole graph, in the tier. *judged: 0 when there is none. */
static PmStatus ask_bound(Check *k, size_t i, const PmTensor *in, int *judged, PmErr *err)
{
	const PmTensor *got = outputs_of(k, i);
	size_t n_out = k->c->n_out;
	PmBound *b = pm_xcalloc(n_out + 1, sizeof *b);
	PmFailure failure = { 0 };
	PmBoundFit f;
	PmErr none;
	PmStatus st;

	pm_err_init(&none);
	st = pm_bound_run(k->original, in, k->c->pool.n_in, k->o->tier, b, n_out, &none);
	*judged = !st;
	for (size_t o = 0; o < n_out && !st; o++)
		*judged = *judged && b[o].known && pm_type_equal(&b[o].y.type, &got[o].type);
	for (size_t o = n_out; o-- > 0 && *judged;) {
		pm_bound_fit(&b[o], &got[o], &f);
		if (f.within)
			continue;
		pm_failure_of_fit(&failure, &b[o], &f, &got[o], name_of(k, o));
		found_wrong(k, i, o, &failure);
	}
	pm_bounds_release(b, n_out);
	free(b);
	return st && st != PM_E_UNSUPPORTED ? pm_err(err, st, "%s", none.text) : PM_OK;
}

static PmStatus ask_reference(Check *k, size_t i, PmErr *err)
{
	const PmTimedCall *c = call_of(k, i);
	size_t n_in = k->c->pool.n_in, n_out = k->c->n_out, wrong = n_out;
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *want = pm_xcalloc(n_out + 1, sizeof *want);
	PmAgreement *a = pm_xcalloc(n_out + 1, sizeof *a);
	PmFailure failure = { 0 };
	PmStatus st = pm_input_pool_inputs(&k->c->pool, c->index, in, err);
	int judged = 0;

	if (!st)
		st = ask_bound(k, i, in, &judged, err);
	if (!st && !judged)
		st = pm_ref_run(k->original, in, n_in, want, n_out, err);
	if (st && st != PM_E_UNSUPPORTED) {
		PmErr why = *err;

		st = pm_err(err, PM_E_INTERNAL, "The reference refuses the inputs of call %zu: %s", i,
			    why.text);
	}
	if (!st && !judged)
		st = pm_agree(k->original, in, outputs_of(k, i), want, n_out,
			      pm_secret_u64(k->o->secret, "agree", i), a, err);
	for (size_t o = n_out; o-- > 0 && !st && !judged;)
		if (!a[o].agrees && !a[o].ill_conditioned)
			wrong = o;
	if (!st && wrong < n_out) {
		pm_failure_of_comparison(&failure, &a[wrong].c, &want[wrong].type, name_of(k, wrong));
		found_wrong(k, i, wrong, &failure);
	}
	k->out->referenced += !st;
	pm_tensors_release(in, n_in);
	pm_tensors_release(want, n_out);
	free(in);
	free(want);
	free(a);
	return st;
}

static PmStatus judge(Check *k, PmErr *err)
{
	double t0 = pm_now(), limit = k->o->reference_seconds > 0 ? k->o->reference_seconds : 2;
	PmStatus st = PM_OK;

	/* Those who made the calls again had the state of the numbers before. */
	pm_rng_init(&k->rng, pm_secret_u64(k->o->secret, "asked", 0));
	order_findings(k);
	for (size_t i = 0; i < k->f.n && !st && k->out->state == PM_REPLAY_OK; i++) {
		if ((i && pm_now() - t0 > limit) || (k->o->special_only && k->f.v[i].suspicion < SPECIAL))
			break;
		st = ask_reference(k, i, err);
	}
	return st;
}

/* --- all -------------------------------------------------------------------------------------------------
 */

static void name_special(Check *k, const Finding *first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const PmTimedCall *c = &k->c->calls.v[first[i].call];

		if (!first[i].special && !c->altered)
			continue;
		found(k, PM_REPLAY_SPECIAL,
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

PmStatus pm_replay_verify(PmWorker *w, const PmGraph *original, const PmWork *candidate,
			  const PmClockResult *c, const PmReplayOpts *opts, PmReplayResult *out, PmErr *err)
{
	Check k = { .w = w, .original = original, .c = c, .o = opts, .out = out };
	size_t n, n_base;
	Index *list = list_calls(c, 1, &n), *base = list_calls(c, 0, &n_base);
	Finding *all;
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->calls = (int)n;
	pm_rng_init(&k.rng, pm_secret_u64(opts->secret, "again", 0));
	for (size_t i = 0; i < n; i++)
		PM_VEC_PUSH(&k.f, ((Finding){ .call = list[i].call }));
	st = replay(&k, candidate, list, n, replay_candidate, err);
	if (!st && opts->baseline)
		st = replay(&k, opts->baseline, base, n_base, replay_baseline, err);
	if (!st && opts->baseline)
		st = fetch_far(&k, candidate, err);
	pm_worker_renew(w);
	all = pm_xcalloc(n + 1, sizeof *all);
	if (n)
		memcpy(all, k.f.v, n * sizeof *all);
	if (!st && out->state == PM_REPLAY_OK)
		st = judge(&k, err);
	if (!st)
		name_special(&k, all, n);
	release_findings(all, n, c->n_out);
	free(list);
	free(base);
	PM_VEC_RELEASE(&k.f);
	return st;
}
