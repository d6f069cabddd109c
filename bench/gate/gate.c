/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - the task gate: runs the reference over seeds and asks the rules about the outputs. */
#include "bench/gate/gate.h"

#include "bench/gate/gate_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "runs",   "simple",   "range",   "seeds",   "axes",
				     "inputs", "elements", "trivial", "mutants", "honest" };

const char *pm_gate_rule_name(PmGateRule r)
{
	return names[r];
}

/* ---- running ---- */

static PmStatus run_seeds(PmGate *x, PmErr *err)
{
	size_t finite = 0;
	PmErr why;

	pm_err_init(&why);
	for (int s = 0; s < x->opts.n_seeds; s++) {
		PmGateRun *r = &x->run[s];
		PmStatus st;

		r->in = pm_xcalloc(x->n_in + 1, sizeof *r->in);
		r->y = pm_xcalloc(x->total + 1, sizeof *r->y);
		st = pm_inputs_make(x->g, x->opts.seed + (uint64_t)s, PM_INPUTS_NORMAL, r->in, err);
		if (st)
			return st;
		st = pm__gate_ref(x, x->g, r->in, r->y, &why);
		if (st) {
			pm__gate_break(x, PM_GATE_RUNS, "The reference does not run it: %.180s", why.text);
			return PM_OK;
		}
		for (size_t i = 0; i < x->total; i++)
			finite += isfinite(r->y[i]) != 0;
	}
	x->r->found[PM_GATE_RUNS] = (double)finite / (double)x->total / x->opts.n_seeds;
	if (x->r->found[PM_GATE_RUNS] < PM_GATE_FINITE)
		pm__gate_break(x, PM_GATE_RUNS, "Only %.1f %% of the results are finite.",
			       100 * x->r->found[PM_GATE_RUNS]);
	for (size_t o = 0; o < x->n_out; o++)
		for (size_t i = x->at[o]; i < x->at[o + 1]; i++)
			x->tol[i] = pm__gate_tol(x, o, x->run[0].y[i]);
	return PM_OK;
}

/* ---- rules about the outputs alone ---- */

static void worse(double *found, double v)
{
	if (isnan(*found) || v < *found)
		*found = v;
}

static int judge_range(PmGate *x)
{
	int kept = 1;

	for (size_t o = 0; o < x->n_out; o++) {
		/* The absolute part: a relative tolerance grows with y, and that of half types over a
		 * thousandth. */
		double most = 0, sum = 0, tol = pm__gate_tol(x, o, 0);

		for (size_t i = x->at[o]; i < x->at[o + 1]; i++) {
			double y = x->run[0].y[i];

			if (!isfinite(y))
				continue;
			most = fmax(most, fabs(y) / tol);
			sum += y * y;
		}
		worse(&x->r->found[PM_GATE_RANGE], most);
		if (most < 1000 || sum < 1e4 * tol * tol * (double)(x->at[o + 1] - x->at[o]))
			kept = pm__gate_break(
				x, PM_GATE_RANGE,
				"Output '%.60s' is at most %.3g times its tolerance: zeros are as good.",
				pm__gate_output_name(x, o), most);
	}
	return kept;
}

/* Whether element i varies over seeds: by 20 tolerances, or in being finite. */
static int varies(const PmGate *x, size_t i)
{
	double sum = 0, sq = 0, mean;
	int n = x->opts.n_seeds, finite = 0;

	for (int s = 0; s < n; s++) {
		double y = x->run[s].y[i];

		if (!isfinite(y))
			continue;
		finite++;
		sum += y;
	}
	if (finite < n)
		return finite > 0;
	mean = sum / n;
	for (int s = 0; s < n; s++)
		sq += (x->run[s].y[i] - mean) * (x->run[s].y[i] - mean);
	return sqrt(sq / n) >= PM_GATE_STEP * x->tol[i];
}

static int judge_seeds(PmGate *x)
{
	size_t n = 0;

	for (size_t i = 0; i < x->total; i++)
		n += (size_t)varies(x, i);
	x->r->found[PM_GATE_SEEDS] = (double)n / (double)x->total;
	return x->r->found[PM_GATE_SEEDS] >= PM_GATE_SEEDS_MIN
		       ? 1
		       : pm__gate_break(x, PM_GATE_SEEDS,
					"Only %.1f %% of the results depend on the inputs' values.",
					100 * x->r->found[PM_GATE_SEEDS]);
}

/* Deviation along one axis, in tolerances: root of the mean square over all lines. */
static double axis_deviation(const PmGate *x, size_t o, int axis)
{
	const PmType *t = pm_value_type(x->g, pm_graph_output(x->g, o));
	size_t n = (size_t)t->dim[axis], inner = 1, of = x->at[o + 1] - x->at[o], finite = 0;
	const double *y = x->run[0].y + x->at[o], *tol = x->tol + x->at[o];
	double sq = 0, sq_tol = 0;

	for (int k = axis + 1; k < t->rank; k++)
		inner *= (size_t)t->dim[k];
	for (size_t line = 0; line < of / n; line++) {
		size_t first = line / inner * inner * n + line % inner;
		double mean = 0;
		size_t c = 0;

		for (size_t i = 0; i < n; i++)
			if (isfinite(y[first + i * inner])) {
				mean += y[first + i * inner];
				c++;
			}
		mean = c ? mean / (double)c : 0;
		for (size_t i = 0; i < n; i++) {
			double d = y[first + i * inner] - mean;

			if (!isfinite(d))
				continue;
			sq += d * d;
			sq_tol += tol[first + i * inner] * tol[first + i * inner];
			finite++;
		}
	}
	return finite && sq_tol > 0 ? sqrt(sq / sq_tol) : 0;
}

/* The axis along which an output varies least, and by how much; -1 when it has none. */
static int flattest_axis(const PmGate *x, size_t o, double *deviation)
{
	const PmType *t = pm_value_type(x->g, pm_graph_output(x->g, o));
	int flattest = -1;

	*deviation = INFINITY;
	for (int axis = 0; axis < t->rank; axis++) {
		double d = t->dim[axis] < 2 ? INFINITY : axis_deviation(x, o, axis);

		if (d < *deviation) {
			*deviation = d;
			flattest = axis;
		}
	}
	return flattest;
}

static int judge_axes(PmGate *x)
{
	int kept = 1;

	for (size_t o = 0; o < x->n_out; o++) {
		double d;
		int axis = flattest_axis(x, o, &d);

		if (axis >= 0)
			worse(&x->r->found[PM_GATE_AXES], d);
		if (d < PM_GATE_STEP)
			kept = pm__gate_break(
				x, PM_GATE_AXES,
				"Output '%.60s' hardly varies along axis %d: by %.3g tolerances.",
				pm__gate_output_name(x, o), axis, d);
	}
	return kept;
}

/* ---- all of it ---- */

static PmStatus judge(PmGate *x, PmErr *err)
{
	static int (*const quick[])(PmGate *) = { judge_range, judge_seeds, judge_axes, pm__gate_trivial };
	static PmStatus (*const slow[])(PmGate *, int *, PmErr *) = { pm__gate_inputs, pm__gate_elements,
								      pm__gate_mutants, pm__gate_honest };
	int kept = 1;
	PmStatus st = run_seeds(x, err);

	if (st || !x->r->ok)
		return st;
	x->r->found[PM_GATE_SIMPLE] = pm__gate_remaining(x->g);
	if (x->r->found[PM_GATE_SIMPLE] < PM_GATE_NEEDED)
		kept = pm__gate_break(x, PM_GATE_SIMPLE,
				      "Only %.0f %% of the work is needed for the outputs.",
				      100 * x->r->found[PM_GATE_SIMPLE]);
	for (size_t k = 0; k < sizeof quick / sizeof *quick; k++)
		kept = (kept || x->opts.ask_all) && quick[k](x);
	for (size_t k = 0; k < sizeof slow / sizeof *slow && !st; k++)
		if (kept || x->opts.ask_all)
			st = slow[k](x, &kept, err);
	return st;
}

static PmStatus lay_out(PmGate *x)
{
	x->n_in = pm_graph_n_inputs(x->g);
	x->n_out = pm_graph_n_outputs(x->g);
	x->at = pm_xcalloc(x->n_out + 2, sizeof *x->at);
	for (size_t o = 0; o < x->n_out; o++) {
		int64_t n;

		if (pm_type_numel(pm_value_type(x->g, pm_graph_output(x->g, o)), &n, NULL) || n <= 0) {
			pm__gate_break(x, PM_GATE_RUNS, "Output '%.60s' is empty or of unknown size.",
				       pm__gate_output_name(x, o));
			return PM_DECLINED;
		}
		x->at[o + 1] = x->at[o] + (size_t)n;
	}
	x->total = x->at[x->n_out];
	x->pair = pm_xcalloc(x->n_out + 1, sizeof *x->pair);
	for (size_t o = 0; o < x->n_out; o++)
		if (!pm_tol(pm_value_type(x->g, pm_graph_output(x->g, o))->dtype, -5, &x->pair[o]))
			x->pair[o] = (PmTol){ 1e-6, 0 };
	if (x->n_out && x->n_in)
		return PM_OK;
	pm__gate_break(x, PM_GATE_RUNS, "It has no %s.", x->n_out ? "inputs" : "outputs");
	return PM_DECLINED;
}

PmStatus pm_gate(const PmGraph *g, const PmGateOpts *opts, PmGateReport *out, PmErr *err)
{
	PmGate x = { .g = g, .r = out };
	PmStatus st = PM_OK;

	memset(out, 0, sizeof *out);
	out->ok = 1;
	for (int k = 0; k < PM_GATE_N_RULES; k++)
		out->found[k] = NAN;
	if (opts)
		x.opts = *opts;
	x.opts.n_seeds = x.opts.n_seeds ? x.opts.n_seeds : 16;
	x.opts.n_mutants = x.opts.n_mutants ? x.opts.n_mutants : 40;
	if (!lay_out(&x)) {
		x.run = pm_xcalloc((size_t)x.opts.n_seeds, sizeof *x.run);
		x.tol = pm_xcalloc(x.total, sizeof *x.tol);
		st = judge(&x, err);
		for (int s = 0; s < x.opts.n_seeds; s++) {
			if (x.run[s].in)
				pm_tensors_release(x.run[s].in, x.n_in);
			free(x.run[s].in);
			free(x.run[s].y);
		}
	}
	free(x.run);
	free(x.tol);
	free(x.pair);
	free(x.at);
	return st;
}
