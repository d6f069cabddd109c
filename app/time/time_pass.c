/* SPDX-License-Identifier: Apache-2.0 */
/* time_pass.c - quick times of a graph that a pass has rewritten. */
#include "app/time/time_pass.h"

#include "base/sys/io.h"
#include "base/sys/proc.h"
#include "bench/compare/agree.h"
#include "bench/compare/allclose.h"
#include "bench/inputs/inputs.h"
#include "integrity/referee/referee.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pass_deadline = 30; /* seconds for the pass itself */
enum { TUNING_BLOCKS = 1 };

/* The graph becomes the timed pass's. */
static void take(PmCandidate *c, PmTimedPass *out)
{
	out->n_alts = 1;
	if (c->verdict == PM_VERDICT_OK) {
		out->g = c->g;
		c->g = NULL;
	}
	out->failed = c->verdict != PM_VERDICT_OK && c->verdict != PM_VERDICT_NO_MATCH &&
		      c->verdict != PM_VERDICT_NO_CREDIT;
	snprintf(out->why, sizeof out->why, "%s", c->why);
	for (size_t i = 0; out->g && i < pm_graph_n_nodes(out->g); i++) {
		int64_t n = pm_node_i(out->g, pm_graph_node_at(out->g, i), "alts", 1);

		out->n_alts = n > out->n_alts ? (int)n : out->n_alts;
	}
}

PmStatus pm_timed_pass_apply(const char *so, PmGraph *const *g, size_t n, PmTimedPass *out, PmErr *err)
{
	PmCandidate *c;
	PmStatus st;

	memset(out, 0, n * sizeof *out);
	if (pm_file_size(so) < 0)
		return pm_err(err, PM_E_NOT_FOUND, "There is no pass %s; `passmith build` makes one.", so);
	c = pm_xcalloc(n + 1, sizeof *c);
	st = pm_referee_rewrite_all(so, g, n, pass_deadline, c, err);
	for (size_t i = 0; i < n && !st; i++)
		take(&c[i], &out[i]);
	for (size_t i = 0; i < n; i++)
		pm_candidate_release(&c[i]);
	free(c);
	return st;
}

void pm_timed_pass_release(PmTimedPass *p)
{
	pm_graph_free(p->g);
	p->g = NULL;
}

int *pm_timed_pass_alts(const PmTimedPass *p, int k, size_t *n)
{
	int *alts = pm_xcalloc(pm_graph_n_nodes(p->g) + 1, sizeof *alts);

	*n = 0;
	for (size_t i = 0; i < pm_graph_n_nodes(p->g); i++) {
		PmNode node = pm_graph_node_at(p->g, i);
		int have = (int)pm_node_i(p->g, node, "alts", 1);

		if (pm_node_op(p->g, node) == PM_OP_Kernel)
			alts[(*n)++] = k < have ? k : have - 1;
	}
	return alts;
}

static PmStatus time_with(PmWorker *w, const PmTimedPass *p, int alt, const PmGraph *original,
			  const PmClockOpts *opts, PmTiming *t, PmErr *err)
{
	PmWork base = { .g = original }, cand = { .g = p->g };
	int *alts = pm_timed_pass_alts(p, alt, &cand.n_alts);
	PmClockResult r = { 0 };
	PmStatus st;

	cand.alts = alts;
	st = pm_clock_compare(w, &base, &cand, 1, opts, &r, err);
	*t = r.t;
	if (!st)
		pm_clock_release(&r);
	free(alts);
	return st;
}

/* The alternative with the least time when replayed. Each is timed by itself: a side more would be another
 * copy of the model's weights. */
static PmStatus tune(PmWorker *w, const PmTimedPass *p, const PmClockOpts *opts, int *alt, PmErr *err)
{
	PmClockOpts quick = *opts;
	double least = INFINITY;
	PmStatus st = PM_OK;

	quick.quick = 1;
	quick.blocks = TUNING_BLOCKS;
	for (int k = 0; k < p->n_alts && p->n_alts > 1 && !st; k++) {
		PmWork work = { .g = p->g };
		int *alts = pm_timed_pass_alts(p, k, &work.n_alts);
		PmTiming t = { 0 };
		double s;

		work.alts = alts;
		st = pm_clock_time(w, &work, &quick, &t, err);
		free(alts);
		s = pm_timer_seconds(&t.kind[PM_TIME_REPLAY], 0);
		if (!st && s < least) {
			least = s;
			*alt = k;
		}
	}
	return st;
}

/* The level at which the outputs agree with the original's, on the same inputs and device. */
static PmStatus agree(PmWorker *w, const char *device, const PmTimedPass *p, int alt, const PmGraph *original,
		      uint64_t seed, int *smallest_t, PmErr *err)
{
	PmRunOpts base = { .device = device, .worker = w }, cand = base;
	int *alts = pm_timed_pass_alts(p, alt, &cand.n_alts);
	size_t n = pm_graph_n_inputs(original);
	PmTensor *in = pm_xcalloc(n + 1, sizeof *in);
	PmRunResult want = { 0 }, got = { 0 };
	PmCloseRule rule = pm_close_rule(PM_PRESET_SOUND);
	PmStatus st = pm_inputs_make(original, seed, PM_INPUTS_NORMAL, in, err);

	cand.alts = alts;
	if (!st)
		st = pm_run_graph(original, in, n, &base, &want, err);
	if (!st)
		st = pm_run_graph(p->g, in, n, &cand, &got, err);
	*smallest_t = PM_T_MIN;
	for (size_t i = 0; i < want.n_out && !st; i++) {
		PmTensorView a = pm_view_of(&want.out[i]), b = pm_view_of(&got.out[i]);
		PmComparison c;

		pm_compare(&a, &b, &rule, &c);
		*smallest_t = c.smallest_t > *smallest_t ? c.smallest_t : *smallest_t;
	}
	pm_run_result_release(&want);
	pm_run_result_release(&got);
	pm_tensors_release(in, n);
	free(in);
	free(alts);
	return st;
}

PmStatus pm_timed_pass_time(PmWorker *w, const char *device, const PmTimedPass *p, const PmGraph *original,
			    const PmClockOpts *opts, PmTiming *t, double *agreeing, int *smallest_t,
			    PmErr *err)
{
	int alt = 0;
	PmStatus st = tune(w, p, opts, &alt, err);
	double t0;

	if (!st)
		st = time_with(w, p, alt, original, opts, t, err);
	t0 = pm_now();
	if (!st)
		st = agree(w, device, p, alt, original, pm_secret_u64(opts->secret, "agree", 0), smallest_t,
			   err);
	*agreeing = pm_now() - t0;
	return st;
}
