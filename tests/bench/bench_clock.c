/* SPDX-License-Identifier: Apache-2.0 */
/* bench_clock.c - how the clock's rule decides beside others, on simulated devices whose true times are
 * known.
 *
 * bench_clock [--json FILE] [--runs N] [--seed S]
 *
 * For each device (tests/lib/clock/sim_clock.h) and each true slow-down, N runs with a baseline, a candidate
 * and the baseline again as control. "the clock" is bench/timing/timer.h as it is. The other rules take
 * blocks of six samples, an order and its reverse, and look at 40 of them at first, at a quarter more at a
 * time, until both intervals are narrow enough or 800 are taken. tools/gen/results_pages.py makes the table
 * of docs/design/timing.md of the file.
 */
#include "base/core/arena.h"
#include "base/core/json.h"
#include "bench/compare/signed_rank.h"
#include "tests/lib/clock/median_interval.h"
#include "tests/lib/clock/sim_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 3, FIRST = 40, MOST = 800, RUNS = 2000 };

/* --- rules ---------------------------------------------------------------------------------------------- */

/* Of n logarithms of block ratios. */
typedef PmInterval (*Estimate)(const double *x, size_t n);

static const double confidence = 0.99, trim = 0.2;

static PmInterval by_median(const double *x, size_t n)
{
	return test_median_interval(x, n, confidence);
}

static PmInterval by_signed_rank(const double *x, size_t n)
{
	return pm_signed_rank_interval(x, n, confidence);
}

/* Quantile 0.995 of Student's t: Cornish and Fisher's expansion, right to 0.01 from 10 degrees on. */
static double student(double f)
{
	double z = 2.5758, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;

	return z + (z3 + z) / (4 * f) + (5 * z5 + 16 * z3 + 3 * z) / (96 * f * f) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * f * f * f);
}

/* The mean of what is left when g values are cut off at both ends; its error by the variance of all, those
 * cut off moved to the nearest that is left (Tukey and McLaughlin, 1963). */
static PmInterval trimmed(const double *x, size_t n, size_t g)
{
	double *s = pm_xcalloc(n, sizeof *s), mean = 0, wide = 0, var = 0, half;
	size_t h = n - 2 * g;

	memcpy(s, x, n * sizeof *s);
	qsort(s, n, sizeof *s, pm_ascending);
	for (size_t i = g; i < n - g; i++)
		mean += s[i] / (double)h;
	for (size_t i = 0; i < n; i++)
		s[i] = fmin(fmax(s[i], s[g]), s[n - 1 - g]);
	for (size_t i = 0; i < n; i++)
		wide += s[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		var += (s[i] - wide) * (s[i] - wide) / (double)(n - 1);
	half = student((double)h - 1) * sqrt(var * (double)n) / (double)h;
	half *= sqrt((double)(n - 1) * (double)h / ((double)n * (double)(h - 1)));
	free(s);
	return (PmInterval){ mean, mean - half, mean + half };
}

static PmInterval by_trimmed_mean(const double *x, size_t n)
{
	return trimmed(x, n, (size_t)(trim * (double)n));
}

static PmInterval by_mean(const double *x, size_t n)
{
	return trimmed(x, n, 0);
}

static const struct {
	const char *name;
	Estimate estimate; /* NULL: the clock itself */
} rules[] = {
	{ "median", by_median }, { "trimmed mean", by_trimmed_mean },
	{ "mean", by_mean },     { "signed ranks", by_signed_rank },
	{ "the clock", NULL },
};
enum { N_RULES = sizeof rules / sizeof *rules };

/* --- devices -------------------------------------------------------------------------------------------- */

typedef struct Model {
	const char *name;
	double us, noise, outliers, walk, drift;
	PmSimMode mode;
	double mode_switch;
	int mode_period, mode_step, heavy;
} Model;

#define MODES(how) .us = 5, .noise = 0.02, .mode = PM_SIM_MODE_##how

static const Model models[] = {
	{ .name = "noise 0.5 %, 50 us", .us = 50, .noise = 0.005 },
	{ .name = "noise 2 %, 50 us", .us = 50, .noise = 0.02 },
	{ .name = "noise 6 %, 6 us", .us = 6, .noise = 0.06 },
	{ .name = "noise 1 %, 400 us", .us = 400, .noise = 0.01 },
	{ .name = "ticks of 32 ns, 2.6 us", .us = 2.6, .noise = 0.005 },
	{ .name = "5 % outliers, five times as long", .us = 50, .noise = 0.02, .outliers = 0.05 },
	{ .name = "heavy tails", .us = 50, .noise = 0.02, .heavy = 1 },
	{ .name = "drift and a random walk", .us = 50, .noise = 0.01, .walk = 0.005, .drift = 0.3 },
	{ .name = "modes: by sample", MODES(BY_SAMPLE) },
	{ .name = "modes: by side and block", MODES(BY_BLOCK) },
	{ .name = "modes: one side or the other", MODES(OPPOSITE) },
	{ .name = "modes: every other sample", MODES(PERIODIC), .mode_period = 2 },
	{ .name = "modes: two and two samples", MODES(PERIODIC), .mode_period = 4 },
	{ .name = "modes: two and two, the candidate's count twice",
	  MODES(PERIODIC),
	  .mode_period = 4,
	  .mode_step = 2 },
	{ .name = "modes: four and four samples", MODES(PERIODIC), .mode_period = 8 },
	{ .name = "modes: the device's, for 50 samples", MODES(BY_TIME), .mode_switch = 0.02 },
	{ .name = "modes: a side's, for 4 of its samples", MODES(BY_SIDE), .mode_switch = 0.25 },
	{ .name = "modes: a side's, for 20 of its samples", MODES(BY_SIDE), .mode_switch = 0.05 },
};
enum { N_MODELS = sizeof models / sizeof *models };

static const double slower[] = { 0, 0.01, 0.03, 0.1 };
enum { N_SLOWER = sizeof slower / sizeof *slower };

static void device(const Model *m, double share, uint64_t seed, PmSim *s)
{
	pm_sim_init(s, m->us * 1e-6, m->us * 1e-6 * (1 + share), seed);
	s->noise = m->noise;
	s->outliers = m->outliers;
	s->walk = m->walk;
	s->drift = m->drift;
	s->heavy = m->heavy;
	s->mode = m->mode;
	s->mode_switch = m->mode_switch;
	s->mode_period = m->mode_period;
	s->mode_step = m->mode_step;
}

/* --- one run -------------------------------------------------------------------------------------------- */

/* The logarithms of the candidate's and the control's ratios, and what the baseline took. */
typedef struct Stream {
	PmSim *sim;
	PmRng order;
	int n;
	double ratio[2][MOST], baseline[MOST];
} Stream;

static void take_block(Stream *st)
{
	PmClock c = pm_sim_clock(st->sim);
	double sum[SIDES] = { 0 };
	int order[SIDES] = { 0, 1, 2 };

	for (int i = SIDES - 1; i > 0; i--) {
		int j = (int)pm_rng_range(&st->order, 0, i), t = order[i];

		order[i] = order[j];
		order[j] = t;
	}
	for (int i = 0; i < 2 * SIDES; i++) {
		PmSampleAsk ask = { order[i < SIDES ? i : 2 * SIDES - 1 - i], PM_TIME_COLD,
				    (uint64_t)(4 * st->n + i / SIDES), 1, 0 };
		PmSample s;

		c.sample(c.arg, &ask, &s, NULL);
		sum[ask.side] += s.seconds - st->sim->overhead;
	}
	st->ratio[0][st->n] = log(sum[0] / sum[1]);
	st->ratio[1][st->n] = log(sum[0] / sum[2]);
	st->baseline[st->n++] = sum[0] / 2;
}

/* Half of both intervals at 99 % is at most this share (timer.c, wanted_half_width). */
static double wanted(double baseline, double log_ratio)
{
	static const double wider = 1.314;
	double near_one = fmin(0.01 * wider, 0.8 * wider * pm_timer_control_bound(baseline));

	return fmax(near_one, fmin(0.025, fabs(log_ratio) / 20));
}

static double half(const PmInterval *v)
{
	return (v->hi - v->lo) / 2;
}

typedef struct Found {
	PmInterval v[2];
	int samples;  /* of all sides */
	int unstable; /* the control is not 1, or too little is known */
} Found;

static Found decide(Stream *st, Estimate estimate)
{
	Found f = { 0 };

	for (int n = FIRST;; n = n + n / 4 + 1 < MOST ? n + n / 4 + 1 : MOST) {
		double baseline, most;

		while (st->n < n)
			take_block(st);
		baseline = pm_median(st->baseline, (size_t)n);
		for (int k = 0; k < 2; k++)
			f.v[k] = estimate(st->ratio[k], (size_t)n);
		f.samples = 2 * SIDES * n;
		most = wanted(baseline, f.v[0].point);
		if (n == MOST || fmax(half(&f.v[0]), half(&f.v[1])) <= most) {
			f.unstable = ((f.v[1].lo > 0 || f.v[1].hi < 0) &&
				      fabs(f.v[1].point) > pm_timer_control_bound(baseline)) ||
				     fmax(half(&f.v[0]), half(&f.v[1])) > 0.03;
			return f;
		}
	}
}

static PmInterval logarithms(const PmInterval *v)
{
	return (PmInterval){ log(v->point), log(v->lo), log(v->hi) };
}

static Found ask_the_clock(PmSim *sim, uint64_t seed)
{
	PmTimerOpts o = { .n_sides = SIDES,
			  .control = 2,
			  .warm = 1,
			  .replay = -1,
			  .wall = -1,
			  .seconds = 1e9,
			  .seed = seed };
	PmClock c = pm_sim_clock(sim);
	const PmTimes *cold;
	PmTiming t;
	Found f;

	if (pm_timer_run(&c, &o, &t, NULL))
		exit(1);
	cold = &t.kind[PM_TIME_COLD];
	f = (Found){ .samples = (int)sim->n, .unstable = t.state != PM_TIMING_OK };
	for (int k = 0; k < 2; k++)
		f.v[k] = logarithms(&cold->ratio[1 + k]);
	return f;
}

/* --- many runs ------------------------------------------------------------------------------------------ */

typedef struct Count {
	int faster, slower, unstable;
	double *point, *samples;
} Count;

static void count(Count *c, int run, const Found *f)
{
	c->faster += f->v[0].lo > 0;
	c->slower += f->v[0].hi < 0;
	c->unstable += f->unstable;
	c->point[run] = f->v[0].point;
	c->samples[run] = f->samples;
}

static void add(cJSON *rows, const Model *m, double share, int rule, int runs, const Count *c)
{
	cJSON *j = cJSON_CreateObject();
	PmStats p, b;

	pm_stats(c->point, (size_t)runs, &p);
	pm_stats(c->samples, (size_t)runs, &b);
	cJSON_AddStringToObject(j, "device", m->name);
	cJSON_AddNumberToObject(j, "slower", share);
	cJSON_AddStringToObject(j, "rule", rules[rule].name);
	cJSON_AddNumberToObject(j, "runs", runs);
	cJSON_AddNumberToObject(j, "said_faster", c->faster);
	cJSON_AddNumberToObject(j, "said_slower", c->slower);
	cJSON_AddNumberToObject(j, "unstable", c->unstable);
	cJSON_AddNumberToObject(j, "bias", pm_round_sig(p.mean + log(1 + share), 3));
	cJSON_AddNumberToObject(j, "deviation", pm_round_sig(p.std, 3));
	cJSON_AddNumberToObject(j, "samples_median", b.median);
	cJSON_AddNumberToObject(j, "samples_mean", pm_round_sig(b.mean, 4));
	cJSON_AddItemToArray(rows, j);
	printf("%-48s %5.2f %-12s faster %5d slower %5d unstable %4d bias %+.4f dev %.4f samples %4.0f "
	       "%6.1f\n",
	       m->name, share, rules[rule].name, c->faster, c->slower, c->unstable, p.mean + log(1 + share),
	       p.std, b.median, b.mean);
}

static void try_model(cJSON *rows, const Model *m, double share, int runs, uint64_t seed)
{
	PmSim *sim = pm_xcalloc(1, sizeof *sim);
	Stream *st = pm_xcalloc(1, sizeof *st);
	Count c[N_RULES] = { 0 };

	for (int r = 0; r < N_RULES; r++) {
		c[r].point = pm_xcalloc((size_t)runs, sizeof(double));
		c[r].samples = pm_xcalloc((size_t)runs, sizeof(double));
	}
	for (int i = 0; i < runs; i++) {
		device(m, share, seed + (uint64_t)i, sim);
		st->sim = sim;
		st->n = 0;
		pm_rng_init_named(&st->order, seed + (uint64_t)i, "order");
		for (int r = 0; r < N_RULES; r++) {
			Found f;

			if (!rules[r].estimate)
				device(m, share, seed + (uint64_t)i, sim);
			f = rules[r].estimate ? decide(st, rules[r].estimate)
					      : ask_the_clock(sim, seed + (uint64_t)i);
			count(&c[r], i, &f);
		}
	}
	for (int r = 0; r < N_RULES; r++) {
		add(rows, m, share, r, runs, &c[r]);
		free(c[r].point);
		free(c[r].samples);
	}
	fflush(stdout);
	free(st);
	free(sim);
}

/* One row a line: changes of a committed file can be read. */
static int write_rows(const cJSON *rows, const char *file)
{
	FILE *out = fopen(file, "w");
	const cJSON *row;
	int bad;

	if (!out)
		return 1;
	fputs("[\n", out);
	cJSON_ArrayForEach(row, rows)
	{
		char *text = cJSON_PrintUnformatted(row);

		fprintf(out, "%s%s\n", text, row->next ? "," : "");
		cJSON_free(text);
	}
	fputs("]\n", out);
	bad = ferror(out);
	return fclose(out) || bad;
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	int runs = RUNS;
	uint64_t seed = 1;
	cJSON *rows = cJSON_CreateArray();

	for (int i = 1; i + 1 < argc; i += 2)
		if (!strcmp(argv[i], "--json"))
			file = argv[i + 1];
		else if (!strcmp(argv[i], "--runs"))
			runs = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 10);
	if (argc % 2 == 0 || runs < 1) {
		fputs("usage: bench_clock [--json FILE] [--runs N] [--seed S]\n", stderr);
		return 2;
	}
	for (int m = 0; m < N_MODELS; m++)
		for (int k = 0; k < N_SLOWER; k++)
			try_model(rows, &models[m], slower[k], runs, seed * 1000003);
	if (file && write_rows(rows, file)) {
		fprintf(stderr, "bench_clock: %s cannot be written.\n", file);
		return 1;
	}
	cJSON_Delete(rows);
	return 0;
}
