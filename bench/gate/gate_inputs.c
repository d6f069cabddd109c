/* SPDX-License-Identifier: Apache-2.0 */
/* gate_inputs.c - rules of the task gate that change inputs, and answers that need no work. */
#include "bench/gate/gate_priv.h"

#include "base/core/half.h"
#include "base/core/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REDRAWS = 4, TRIALS = 24 };

/* ---- each input matters ---- */

/* Takes input k from other seeds and counts: reached[i] where an element ever changed, changes in all. */
static PmStatus redraw(PmGate *x, size_t k, char *reached, size_t *changes, PmErr *err)
{
	PmTensor *mixed = pm_xcalloc(x->n_in + 1, sizeof *mixed);
	double *y = pm_xcalloc(x->total + 1, sizeof *y);
	PmStatus st = PM_OK;

	for (int d = 1; d <= REDRAWS && !st; d++) {
		memcpy(mixed, x->run[0].in, x->n_in * sizeof *mixed);
		mixed[k] = x->run[d % x->opts.n_seeds].in[k];
		st = pm__gate_ref(x, x->g, mixed, y, err);
		for (size_t i = 0; i < x->total && !st; i++) {
			double a = x->run[0].y[i];
			int moved = isfinite(a) && isfinite(y[i]) ? fabs(a - y[i]) > PM_GATE_STEP * x->tol[i]
								  : !(isnan(a) && isnan(y[i])) && a != y[i];

			reached[i] |= (char)moved;
			*changes += (size_t)moved;
		}
	}
	free(mixed);
	free(y);
	return st;
}

PmStatus pm__gate_inputs(PmGate *x, int *kept, PmErr *err)
{
	char *reached = pm_xcalloc(x->total + 1, 1);
	PmStatus st = PM_OK;

	for (size_t k = 0; k < x->n_in && !st && (*kept || x->opts.ask_all); k++) {
		PmValue v = pm_graph_input(x->g, k);
		size_t changes = 0, reach = 0;
		double share;

		memset(reached, 0, x->total);
		st = redraw(x, k, reached, &changes, err);
		for (size_t i = 0; i < x->total; i++)
			reach += (size_t)reached[i];
		share = reach ? (double)changes / REDRAWS / (double)reach : 0;
		if (isnan(x->r->found[PM_GATE_INPUTS]) || share < x->r->found[PM_GATE_INPUTS])
			x->r->found[PM_GATE_INPUTS] = share;
		if (!st && ((double)reach < PM_GATE_REACH * (double)x->total || share < PM_GATE_REDRAWN))
			*kept = pm__gate_break(x, PM_GATE_INPUTS,
					       "Input '%.60s' hardly matters: it reaches %.1f %% of the "
					       "results, and drawing it again "
					       "changes %.0f %% of those.",
					       pm_value_name(x->g, v),
					       100.0 * (double)reach / (double)x->total, 100 * share);
	}
	free(reached);
	return st;
}

/* ---- single elements matter ---- */

static double deviation(const PmTensor *t)
{
	int64_t n = pm_tensor_numel(t);
	double sum = 0, sq = 0;

	for (int64_t i = 0; i < n; i++) {
		double v = pm_tensor_get(t, i);

		sum += v;
		sq += v * v;
	}
	sum /= (double)n;
	sq = sq / (double)n - sum * sum;
	return sq > 1e-8 ? sqrt(sq) : 1;
}

/* 1 when moving element e of input k shows. Positive quantities are scaled so that they stay positive. */
static PmStatus shows(PmGate *x, size_t k, int64_t e, double sigma, int positive, double *y, int *yes,
		      PmErr *err)
{
	PmTensor *in = pm_xcalloc(x->n_in + 1, sizeof *in);
	PmStatus st = PM_OK;
	double was;

	memcpy(in, x->run[0].in, x->n_in * sizeof *in);
	was = pm_tensor_get(&in[k], e);
	*yes = 0;
	for (int up = 0; up < 2 && !st && !*yes; up++) {
		pm_tensor_set(&in[k], e, positive ? was * (up ? 1.5 : 0.5) : was + (up ? 1 : -1) * sigma);
		st = pm__gate_ref(x, x->g, in, y, err);
		*yes = !st && pm__gate_differ(x, x->n_out, x->run[0].y, y, 1) > 0;
	}
	pm_tensor_set(&in[k], e, was);
	free(in);
	return st;
}

PmStatus pm__gate_elements(PmGate *x, int *kept, PmErr *err)
{
	double *y = pm_xcalloc(x->total + 1, sizeof *y);
	int trials = 0, seen = 0;
	PmStatus st = PM_OK;
	PmRng r;

	pm_rng_init_named(&r, x->opts.seed, "gate elements");
	for (size_t k = 0; k < x->n_in && !st; k++) {
		const PmTensor *t = &x->run[0].in[k];
		int64_t limit, n = pm_tensor_numel(t);
		PmInputRole role = pm_input_role(x->g, pm_graph_input(x->g, k), &limit);
		int positive = role == PM_ROLE_VARIANCE || role == PM_ROLE_PROB;
		int times = 1 + (TRIALS - 1) / (int)x->n_in;

		/* The number is drawn in any case, so that one input does not change another's. */
		if (role >= PM_ROLE_MASK || n == 0 || !pm_dtype_is_float(t->type.dtype))
			continue;
		for (int j = 0; j < times && !st; j++) {
			int yes = 0;

			st = shows(x, k, pm_rng_range(&r, 0, n - 1), deviation(t), positive, y, &yes, err);
			trials++;
			seen += yes;
		}
	}
	free(y);
	if (st || !trials)
		return st;
	x->r->found[PM_GATE_ELEMENTS] = (double)seen / trials;
	if (x->r->found[PM_GATE_ELEMENTS] < PM_GATE_MOVED)
		*kept = pm__gate_break(x, PM_GATE_ELEMENTS,
				       "Moving single elements of the inputs shows in %d of %d trials only.",
				       seen, trials);
	return PM_OK;
}

/* ---- answers that need no work ---- */

static int close_to(const PmGate *x, size_t o, const double *want, const double *got)
{
	for (size_t i = 0; i < x->at[o + 1] - x->at[o]; i++) {
		double w = want[i], g = got[i];

		if (isfinite(w) && isfinite(g) ? fabs(w - g) > pm__gate_tol(x, o, w)
					       : !(isnan(w) && isnan(g)) && w != g)
			return 0;
	}
	return 1;
}

/* Fills `got` with guess number `guess` for output o; 0 when there is no such guess, -1 when it does not
 * apply. */
static int make_guess(const PmGate *x, size_t o, int s, int guess, double *got, const char **what)
{
	const PmType *t = pm_value_type(x->g, pm_graph_output(x->g, o));
	const double *y = x->run[s].y + x->at[o];
	size_t n = x->at[o + 1] - x->at[o];
	int first_axis = 5, first_input = first_axis + t->rank;

	if (guess == 0 || guess == 1) {
		*what = guess ? "ones" : "zeros";
		for (size_t i = 0; i < n; i++)
			got[i] = guess;
	} else if (guess == 2) {
		*what = "the answer for another seed";
		if (x->opts.n_seeds < 2)
			return -1;
		memcpy(got, x->run[(s + 1) % x->opts.n_seeds].y + x->at[o], n * sizeof *got);
	} else if (guess == 3) {
		*what = "the answer rounded to bfloat16";
		if (t->dtype != PM_F32)
			return -1;
		for (size_t i = 0; i < n; i++)
			got[i] = pm_bf16_to_f64(pm_bf16_from_f64(y[i]));
	} else if (guess == 4) {
		double sum = 0;

		*what = "the mean";
		for (size_t i = 0; i < n; i++)
			sum += y[i];
		for (size_t i = 0; i < n; i++)
			got[i] = sum / (double)n;
	} else if (guess < first_input) {
		int axis = guess - first_axis;
		size_t len = (size_t)t->dim[axis], inner = 1;

		*what = "the means along an axis";
		if (len < 2)
			return -1;
		for (int k = axis + 1; k < t->rank; k++)
			inner *= (size_t)t->dim[k];
		for (size_t line = 0; line < n / len; line++) {
			size_t at = line / inner * inner * len + line % inner;
			double sum = 0;

			for (size_t i = 0; i < len; i++)
				sum += y[at + i * inner];
			for (size_t i = 0; i < len; i++)
				got[at + i * inner] = sum / (double)len;
		}
	} else {
		size_t k = (size_t)(guess - first_input);
		size_t m;

		*what = "a copied, repeated or cut input";
		if (k >= x->n_in)
			return 0;
		m = (size_t)pm_tensor_numel(&x->run[s].in[k]);
		if (!m)
			return -1;
		for (size_t i = 0; i < n; i++)
			got[i] = pm_tensor_get(&x->run[s].in[k], (int64_t)(i % m));
	}
	return 1;
}

/* The guess that passes output o for some seed, or NULL. */
static const char *passing_guess(const PmGate *x, size_t o, double *got, int *seed)
{
	const char *what = "";
	int made;

	for (int s = 0; s < x->opts.n_seeds; s++)
		for (int guess = 0; (made = make_guess(x, o, s, guess, got, &what)) != 0; guess++)
			if (made > 0 && close_to(x, o, x->run[s].y + x->at[o], got)) {
				*seed = s;
				return what;
			}
	return NULL;
}

int pm__gate_trivial(PmGate *x)
{
	double *got = pm_xcalloc(x->total + 1, sizeof *got);
	size_t good = 0;
	int seed = 0, kept = 1;

	for (size_t o = 0; o < x->n_out; o++) {
		const char *what = passing_guess(x, o, got, &seed);

		if (what)
			kept = pm__gate_break(x, PM_GATE_TRIVIAL, "Output '%.60s' is passed by %s (seed %d).",
					      pm_value_name(x->g, pm_graph_output(x->g, o)), what, seed);
		else
			good += x->at[o + 1] - x->at[o];
	}
	x->r->found[PM_GATE_TRIVIAL] = (double)good / (double)x->total;
	free(got);
	return kept;
}
