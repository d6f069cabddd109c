/* clock.c - measured times of a candidate against its baseline, in the candidate's own device worker. */
#include "bench/clock.h"

#include "base/proc.h"
#include "bench/inputs.h"

#include <stdlib.h>
#include <string.h>

enum {
	SETS = 4,       /* of inputs in the bank, */
	FEW_SETS = 2,   /* or so many when they are large */
	LARGE = 8 << 20 /* bytes of one set */
};
/* A time may be this share of what the memory's peak rate allows before it is disbelieved. */
static const double floor_share = 0.7;

typedef struct Clock {
	PmWorker *w;
	const PmWork *candidate;
	const PmBank *bank;
	PmTiming *timing;
	PmClockResult *out; /* NULL: nothing is brought back */
	PmRng rng;
	int seen; /* cold samples of the candidate so far */
} Clock;

/* --- what was timed is what is checked -------------------------------------------------------------------
 */

static void drop(PmClockResult *r, size_t i)
{
	if (r->checked[i].in)
		pm_tensors_release(r->checked[i].in, r->n_in);
	if (r->checked[i].out)
		pm_tensors_release(r->checked[i].out, r->n_out);
	free(r->checked[i].in);
	free(r->checked[i].out);
	memset(&r->checked[i], 0, sizeof r->checked[i]);
}

void pm_clock_release(PmClockResult *r)
{
	for (size_t i = 0; i < r->n_checked; i++)
		drop(r, i);
	r->n_checked = 0;
}

/* Keeps each sample with the same chance, whatever their number (reservoir sampling). */
static PmStatus maybe_keep(Clock *c, const PmSampleAsk *ask, PmErr *err)
{
	PmClockResult *r = c->out;
	size_t at = r->n_checked;
	PmChecked *k;
	PmStatus st;

	c->seen++;
	if (at == PM_CLOCK_CHECKED) {
		at = (size_t)pm_rng_range(&c->rng, 0, c->seen - 1);
		if (at >= PM_CLOCK_CHECKED)
			return PM_OK;
		drop(r, at);
	} else {
		r->n_checked++;
	}
	k = &r->checked[at];
	k->in = pm_xcalloc(r->n_in + 1, sizeof *k->in);
	k->out = pm_xcalloc(r->n_out + 1, sizeof *k->out);
	st = pm_worker_clock_outputs(c->w, c->candidate->g, k->out, err);
	return st ? st : pm_bank_inputs(c->bank, ask->index + (uint64_t)ask->train - 1, k->in, err);
}

/* --- the clock as the protocol wants it ------------------------------------------------------------------
 */

static PmStatus sample(void *arg, const PmSampleAsk *ask, PmSample *out, PmErr *err)
{
	Clock *c = arg;
	PmStatus st = pm_worker_clock_take(c->w, ask, out, err);

	if (!st && c->out && ask->side == PM_SIDE_CANDIDATE && ask->kind == PM_TIME_COLD)
		st = maybe_keep(c, ask, err);
	return st;
}

static PmStatus empty(void *arg, double *seconds, PmErr *err)
{
	return pm_worker_clock_empty(((Clock *)arg)->w, seconds, err);
}

static PmStatus warm(void *arg, double *seconds, PmErr *err)
{
	return pm_worker_clock_warm(((Clock *)arg)->w, seconds, err);
}

static double now(void *arg)
{
	(void)arg;
	return pm_now();
}

/* --- one comparison --------------------------------------------------------------------------------------
 */

static PmStatus make_bank(const PmGraph *g, uint64_t seed, PmTensor **t, PmBank *bank, PmErr *err)
{
	size_t n = pm_graph_n_inputs(g);
	int64_t bytes = 0, b = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n; i++)
		if (!pm_type_bytes(pm_value_type(g, pm_graph_input(g, i)), &b, NULL))
			bytes += b;
	*bank = (PmBank){ .n_sets = bytes > LARGE ? FEW_SETS : SETS, .n_in = n, .seed = seed };
	*t = pm_xcalloc(n * SETS + 1, sizeof **t);
	bank->t = *t;
	for (int s = 0; s < bank->n_sets && !st; s++)
		st = pm_inputs_make(g, seed + (uint64_t)s, PM_INPUTS_NORMAL, *t + (size_t)s * n, err);
	return st;
}

static PmStatus run(Clock *c, const PmWork *side, int n_sides, const PmClockOpts *opts, PmErr *err)
{
	PmClock clock = { sample, empty, warm, now, c };
	PmTimerOpts o = { .n_sides = n_sides,
			  .control = n_sides - 1,
			  .blocks = opts->blocks,
			  .exact = opts->quick,
			  .replay = opts->quick ? opts->blocks : 0,
			  .wall = opts->quick ? opts->blocks : 0,
			  .graphs = opts->graphs,
			  .warm = opts->warm,
			  .seconds = opts->seconds,
			  .seed = opts->seed,
			  .max_speedup = opts->max_speedup };
	PmStatus st = pm_worker_clock_open(c->w, side, n_sides, c->bank, opts->deadline, &o.max_train, err);

	for (int i = 0; i < 2 && opts->bytes_per_second > 0; i++)
		o.floor[i] = floor_share * (double)opts->bytes[i] / opts->bytes_per_second;
	if (!st)
		st = pm_timer_run(&clock, &o, c->timing, err);
	return st ? st : pm_worker_clock_close(c->w, err);
}

PmStatus pm_clock_compare(PmWorker *w, const PmWork *baseline, const PmWork *candidate,
			  const PmClockOpts *opts, PmClockResult *out, PmErr *err)
{
	const PmWork side[PM_N_SIDES] = { *baseline, *candidate, *baseline };
	PmTensor *t = NULL;
	PmBank bank;
	Clock c = { .w = w, .candidate = candidate, .bank = &bank, .timing = &out->t, .out = out };
	PmStatus st;

	memset(out, 0, sizeof *out);
	out->n_in = pm_graph_n_inputs(baseline->g);
	out->n_out = pm_graph_n_outputs(candidate->g);
	pm_rng_init_named(&c.rng, opts->seed, "checked");
	st = make_bank(baseline->g, opts->seed, &t, &bank, err);
	if (!st)
		st = run(&c, side, PM_N_SIDES, opts, err);
	if (t)
		pm_tensors_release(t, bank.n_in * (size_t)bank.n_sets);
	free(t);
	if (st)
		pm_clock_release(out);
	return st;
}

PmStatus pm_clock_time(PmWorker *w, const PmWork *work, const PmClockOpts *opts, PmTiming *out, PmErr *err)
{
	const PmWork side[2] = { *work, *work };
	PmTensor *t = NULL;
	PmBank bank;
	Clock c = { .w = w, .bank = &bank, .timing = out };
	PmStatus st = make_bank(work->g, opts->seed, &t, &bank, err);

	memset(out, 0, sizeof *out);
	if (!st)
		st = run(&c, side, 2, opts, err);
	if (t)
		pm_tensors_release(t, bank.n_in * (size_t)bank.n_sets);
	free(t);
	return st;
}
