/* SPDX-License-Identifier: Apache-2.0 */
/* filters.c - the published filters: draws, runs the reference, measures. */
#include "bench/gate/filters.h"

#include "bench/gate/gate_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 4, REDRAWN_WEIGHTS = 2, WIDE_DRAWS = 2 };

static const struct {
	const char *name, *what;
	double limit;
} filters[] = {
#define PM_FILTER(id, name, limit, what) { name, what, limit },
#include "bench/gate/filters.def"
};

const char *pm_filter_name(PmFilter f)
{
	return filters[f].name;
}

const char *pm_filter_what(PmFilter f)
{
	return filters[f].what;
}

double pm_filter_limit(PmFilter f)
{
	return filters[f].limit;
}

int pm_filter_broken(const PmFilterReport *r, PmFilter f)
{
	return r->found[f] < filters[f].limit; /* false for NaN */
}

/* All outputs as doubles, one after another. */
typedef struct Measure {
	const PmGraph *g;
	PmFilterReport *r;
	size_t n_in, n_out, total;
	size_t *at;    /* where each output begins, and the end */
	char *is_data; /* by input */
	PmTensor *first;
	double *y0, *y;    /* of the first seed, of this run */
	double *mean, *sq; /* over seeds: mean, sum of squared distances from it */
} Measure;

static PmStatus run(const Measure *m, const PmTensor *in, double *y, PmErr *err)
{
	return pm__gate_run(m->g, in, m->n_in, m->at, m->n_out, y, err);
}

/* ---- influence ---- */

static double largest(const double *y, size_t first, size_t end)
{
	double most = 0;

	for (size_t i = first; i < end; i++)
		if (isfinite(y[i]))
			most = fmax(most, fabs(y[i]));
	return most;
}

/* The change from the first seed's results, relative to the largest result: of the output that moves most. */
static double change(const Measure *m)
{
	double worst = 0;

	for (size_t o = 0; o < m->n_out; o++) {
		double size = fmax(largest(m->y0, m->at[o], m->at[o + 1]),
				   largest(m->y, m->at[o], m->at[o + 1]));
		double most = 0;

		for (size_t i = m->at[o]; i < m->at[o + 1]; i++) {
			double a = m->y0[i], b = m->y[i];

			if (isfinite(a) && isfinite(b))
				most = fmax(most, fabs(a - b) / (size > 0 ? size : 1));
			else if (a != b && !(isnan(a) && isnan(b)))
				most = fmax(most, 1);
		}
		worst = fmax(worst, most);
	}
	return worst;
}

static void most_of(double *found, double v)
{
	*found = isnan(*found) ? v : fmax(*found, v);
}

static void least_of(double *found, double v)
{
	*found = isnan(*found) ? v : fmin(*found, v);
}

/* The first seed's inputs with those of one kind (data or not) from another draw. */
static PmStatus run_mixed(Measure *m, const PmTensor *other, int data, PmErr *err)
{
	PmTensor *mixed = pm_xcalloc(m->n_in, sizeof *mixed);
	PmStatus st;

	for (size_t i = 0; i < m->n_in; i++)
		mixed[i] = m->is_data[i] == data ? other[i] : m->first[i];
	st = run(m, mixed, m->y, err);
	free(mixed);
	return st;
}

static PmStatus redraw(Measure *m, uint64_t seed, int with_weights, PmErr *err)
{
	PmTensor *in = pm_xcalloc(m->n_in, sizeof *in);
	PmStatus st = pm_inputs_of_model(m->g, seed, in, err);

	if (!st && with_weights) {
		st = run_mixed(m, in, 0, err);
		if (!st)
			most_of(&m->r->found[PM_FILTER_WEIGHTS], change(m));
	}
	if (!st)
		st = run_mixed(m, in, 1, err);
	if (!st)
		most_of(&m->r->found[PM_FILTER_INPUTS], change(m));
	pm_tensors_release(in, m->n_in);
	free(in);
	return st;
}

static PmStatus draw_wide(Measure *m, uint64_t seed, PmErr *err)
{
	PmTensor *in = pm_xcalloc(m->n_in, sizeof *in);
	PmStatus st = pm_inputs_make(m->g, seed, PM_INPUTS_WIDE, in, err);

	if (!st)
		st = run(m, in, m->y, err);
	if (!st)
		most_of(&m->r->found[PM_FILTER_CONSTANT], change(m));
	pm_tensors_release(in, m->n_in);
	free(in);
	return st;
}

/* ---- the results themselves ---- */

/* Adds the run in `y` as number `n` (from 1) to mean and deviation of each element. */
static void count_seed(Measure *m, const double *y, int n)
{
	for (size_t i = 0; i < m->total; i++) {
		double d = y[i] - m->mean[i];

		m->mean[i] += d / n;
		m->sq[i] += d * (y[i] - m->mean[i]);
	}
}

static void measure_seeds(Measure *m, int n)
{
	for (size_t o = 0; o < m->n_out; o++) {
		double sum = 0;
		size_t finite = 0;

		for (size_t i = m->at[o]; i < m->at[o + 1]; i++)
			if (isfinite(m->sq[i])) {
				sum += m->sq[i] / n;
				finite++;
			}
		if (finite)
			least_of(&m->r->found[PM_FILTER_SEEDS], sqrt(sum / (double)finite));
	}
}

static double axis_deviation(const Measure *m, size_t o, const PmType *t, int axis)
{
	const double *y = m->y0 + m->at[o];
	size_t n = (size_t)t->dim[axis], inner = 1, lines = (m->at[o + 1] - m->at[o]) / n, finite = 0;
	double sq = 0;

	for (int k = axis + 1; k < t->rank; k++)
		inner *= (size_t)t->dim[k];
	for (size_t line = 0; line < lines; line++) {
		const double *at = y + line / inner * inner * n + line % inner;
		double mean = 0;
		size_t c = 0;

		for (size_t i = 0; i < n; i++)
			if (isfinite(at[i * inner])) {
				mean += at[i * inner];
				c++;
			}
		mean = c ? mean / (double)c : 0;
		for (size_t i = 0; i < n; i++)
			if (isfinite(at[i * inner]))
				sq += (at[i * inner] - mean) * (at[i * inner] - mean);
		finite += c;
	}
	return finite ? sqrt(sq / (double)finite) : NAN;
}

static void measure_outputs(Measure *m)
{
	for (size_t o = 0; o < m->n_out; o++) {
		const PmType *t = pm_value_type(m->g, pm_graph_output(m->g, o));

		least_of(&m->r->found[PM_FILTER_RANGE], largest(m->y0, m->at[o], m->at[o + 1]));
		for (int axis = 0; axis < t->rank; axis++)
			if (t->dim[axis] > 1)
				least_of(&m->r->found[PM_FILTER_AXES], axis_deviation(m, o, t, axis));
	}
}

/* ---- all of it ---- */

static void tell_data_from_weights(Measure *m)
{
	for (size_t i = 0; i < m->n_in; i++) {
		m->is_data[i] = (char)!pm_input_is_parameter(m->g, pm_graph_input(m->g, i));
		m->r->n_data += (size_t)m->is_data[i];
	}
	if (!m->r->n_data) {
		memset(m->is_data, 1, m->n_in);
		m->r->n_data = m->n_in;
	}
	m->r->n_weights = m->n_in - m->r->n_data;
}

static PmStatus measure(Measure *m, uint64_t seed, int n_seeds, PmErr *err)
{
	PmStatus st = pm_inputs_of_model(m->g, seed, m->first, err);

	tell_data_from_weights(m);
	if (!st)
		st = run(m, m->first, m->y0, err);
	if (st)
		return st;
	measure_outputs(m);
	count_seed(m, m->y0, 1);
	for (int s = 1; s < n_seeds && !st; s++) {
		st = redraw(m, seed + (uint64_t)s, m->r->n_weights && s <= REDRAWN_WEIGHTS, err);
		if (!st)
			count_seed(m, m->y, s + 1);
	}
	if (!st)
		measure_seeds(m, n_seeds);
	for (int k = 0; k < WIDE_DRAWS && !st; k++)
		st = draw_wide(m, seed + (uint64_t)(n_seeds + k), err);
	return st;
}

static PmStatus lay_out(Measure *m, PmErr *err)
{
	for (size_t o = 0; o < m->n_out; o++) {
		PmValue v = pm_graph_output(m->g, o);
		int64_t n;

		if (pm_type_numel(pm_value_type(m->g, v), &n, NULL) || n <= 0)
			return pm_err(
				err, PM_E_INVALID,
				"Output '%.60s' is empty or of unknown size, so the filters have nothing to "
				"measure; give the graph other sizes.",
				pm_value_name(m->g, v));
		m->at[o + 1] = m->at[o] + (size_t)n;
	}
	m->total = m->at[m->n_out];
	if (m->n_in && m->n_out)
		return PM_OK;
	return pm_err(err, PM_E_INVALID, "Graph '%.60s' has no %s, so the filters have nothing to measure.",
		      pm_graph_name(m->g), m->n_out ? "inputs" : "outputs");
}

PmStatus pm_filters(const PmGraph *g, uint64_t seed, int n_seeds, PmFilterReport *out, PmErr *err)
{
	Measure m = { .g = g, .r = out, .n_in = pm_graph_n_inputs(g), .n_out = pm_graph_n_outputs(g) };
	PmStatus st;

	memset(out, 0, sizeof *out);
	for (int f = 0; f < PM_N_FILTERS; f++)
		out->found[f] = NAN;
	m.at = pm_xcalloc(m.n_out + 1, sizeof *m.at);
	st = lay_out(&m, err);
	if (!st) {
		m.is_data = pm_xcalloc(m.n_in, 1);
		m.first = pm_xcalloc(m.n_in, sizeof *m.first);
		m.y0 = pm_xcalloc(m.total, sizeof *m.y0);
		m.y = pm_xcalloc(m.total, sizeof *m.y);
		m.mean = pm_xcalloc(m.total, sizeof *m.mean);
		m.sq = pm_xcalloc(m.total, sizeof *m.sq);
		st = measure(&m, seed, n_seeds < 2 ? SEEDS : n_seeds, err);
		pm_tensors_release(m.first, m.n_in);
	}
	free(m.is_data);
	free(m.first);
	free(m.y0);
	free(m.y);
	free(m.mean);
	free(m.sq);
	free(m.at);
	return st;
}
