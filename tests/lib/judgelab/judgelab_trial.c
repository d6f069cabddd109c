/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_trial.c - honest kernels, cheats and drifts of growing size, judged by the error bound. */
#include "tests/lib/judgelab/judgelab_trial.h"

#include "base/core/arena.h"
#include "base/core/rng.h"
#include "ir/core/kernel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALLOWED = 4 }; /* times the eager run's own error: what may pass */

static void die(const PmErr *err)
{
	fprintf(stderr, "judgelab: %s\n", err->text);
	exit(2);
}

void jl_case_open(JlCase *c, int body, int type, int size)
{
	size_t n;
	PmErr err;

	memset(c, 0, sizeof *c);
	c->g = jl_body_graph(body, type, size);
	c->body = body;
	c->type = type;
	c->size = jl_body_size(body, size);
	n = (size_t)c->size.outputs;
	c->exact = pm_xcalloc(n, sizeof *c->exact);
	c->eager = pm_xcalloc(n, sizeof *c->eager);
	c->y = pm_xcalloc(n, sizeof *c->y);
	pm_err_init(&err);
	if (pm_tensor_init(&c->got, pm_value_type(c->g, pm_graph_output(c->g, 0)), &err))
		die(&err);
}

static void forget(JlCase *c)
{
	pm_tensors_release(c->in, pm_graph_n_inputs(c->g));
	memset(c->in, 0, sizeof c->in);
	pm_bounds_release(&c->bound, 1);
	memset(&c->bound, 0, sizeof c->bound);
	c->judged = 0;
}

void jl_case_close(JlCase *c)
{
	forget(c);
	pm_graph_free(c->g);
	pm_tensor_release(&c->got);
	free(c->exact);
	free(c->eager);
	free(c->y);
}

int jl_case_draw(JlCase *c, uint64_t seed, PmInputClass cls)
{
	PmReached r;
	PmErr err;

	pm_err_init(&err);
	forget(c);
	if (pm_inputs_defined(c->g, seed, cls, 0, c->in, &r, NULL, &err))
		die(&err);
	if (r.drawn == 2)
		return 0;
	if (pm_bound_run(c->g, c->in, pm_graph_n_inputs(c->g), PM_TIER_STRICT, &c->bound, 1, &err))
		die(&err);
	if (c->bound.y.numel != c->size.outputs) {
		fprintf(stderr, "judgelab: %s has another number of results than its table says.\n",
			jl_body_name(c->body));
		exit(2);
	}
	c->judged = c->bound.known;
	return 1;
}

void jl_case_eager(JlCase *c)
{
	JlKernel exact = jl_exact(), eager = jl_eager();
	double sum = 0, least = 0, size = 0;
	int dtype = pm_value_type(c->g, pm_graph_output(c->g, 0))->dtype;
	int64_t n = 0;

	jl_run(c->g, c->in, &exact, c->exact);
	jl_run(c->g, c->in, &eager, c->eager);
	c->eager_max = 0;
	for (int64_t i = 0; i < c->size.outputs; i++) {
		double off = fabs(c->eager[i] - c->exact[i]), once = jl_ulp(dtype, c->exact[i]);

		if (!isfinite(off))
			continue;
		n++;
		sum += off * off;
		least += once * once / 12;
		size += c->exact[i] * c->exact[i];
		c->eager_max = fmax(c->eager_max, fmax(off, once / 2));
	}
	c->eager_rms = n ? sqrt(fmax(sum, least) / (double)n) : 0;
	c->rms = n ? sqrt(size / (double)n) : 0;
}

/* The first n results as a kernel stores them, against the bound of these. */
static void fit_first(const JlCase *c, int64_t n, PmBoundFit *fit)
{
	PmBound b = c->bound;
	PmTensor got = c->got;

	for (int64_t i = 0; i < n; i++)
		pm_tensor_set(&got, i, c->y[i]);
	b.y.numel = n;
	if (b.eager.numel)
		b.eager.numel = n;
	pm_bound_fit(&b, &got, fit);
}

JlVerdict jl_case_judge(const JlCase *c, PmBoundFit *fit)
{
	memset(fit, 0, sizeof *fit);
	if (!c->judged)
		return JL_NOT_JUDGED;
	fit_first(c, c->size.outputs, fit);
	/* As bench/eval/runner_judge.c: what is open by more than one element in a hundred is left to the
	 * ladder.
	 */
	if (!fit->n_class && fit->open * 100 > c->size.outputs)
		return JL_NOT_JUDGED;
	return fit->within ? JL_ADMITTED : JL_REFUSED;
}

/* Refused, without looking at more results than it takes to see that: one that is wrong is enough. */
static int is_refused(const JlCase *c, PmBoundFit *fit)
{
	enum { FEW = 4096 };

	if (c->judged && c->size.outputs > 2 * FEW) {
		fit_first(c, FEW, fit);
		if (fit->n_wrong)
			return 1;
	}
	return jl_case_judge(c, fit) == JL_REFUSED;
}

static double in_units(double off, double unit)
{
	return off == 0 ? 0 : unit == 0 ? INFINITY : off / unit;
}

double jl_case_error(const JlCase *c)
{
	double sum = 0, max = 0;
	int64_t n = 0;

	for (int64_t i = 0; i < c->size.outputs; i++) {
		double off = fabs(c->y[i] - c->exact[i]);

		if (isfinite(c->exact[i]) && isfinite(c->eager[i]) && !isfinite(off))
			return INFINITY;
		if (!isfinite(off))
			continue;
		n++;
		sum += off * off;
		max = fmax(max, off);
	}
	return n ? fmax(in_units(sqrt(sum / (double)n), c->eager_rms), in_units(max, c->eager_max)) : 0;
}

int jl_case_n_classes(const JlCase *c)
{
	int64_t flops = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(c->g); i++)
		flops += pm_op_flops(c->g, pm_graph_node_at(c->g, i));
	return flops > 400000000 ? PM_N_INPUT_CLASSES : PM_N_ALL_CLASSES;
}

/* ---- experiments ---- */

static const char *const orders[] = { "sequential",   "reversed",      "pairwise",
				      "blocks of 32", "blocks of 128", "blocks of 1024",
				      "8 parts",      "32 lanes",      "Kahan" };

static void describe(char *to, size_t n, uint64_t seed, int cls, const JlKernel *k, const PmBoundFit *f)
{
	snprintf(to, n,
		 "seed %llu, %s, kernel %llu (%s%s, %.2f rounded%s%s%s%s): rms %.3g, max %.3g, element %lld "
		 "is %.9g for %.9g, %lld of another class",
		 (unsigned long long)seed, pm_input_class_name((PmInputClass)cls),
		 (unsigned long long)k->seed, orders[k->order], k->fma ? " fma" : "", k->rounded,
		 k->exp2 ? ", exp2" : "", k->reciprocal ? ", reciprocals" : "", k->online ? ", online" : "",
		 k->slack > 0 ? ", slack" : "", f->rms, f->max, (long long)f->index, f->got, f->expected,
		 (long long)f->n_class);
}

void jl_honest_trials(JlCase *c, uint64_t seed, int from, int to, int mixes, JlHonest *out)
{
	int n = jl_case_n_classes(c);

	memset(out, 0, sizeof *out);
	for (int d = from * n; d < to * n; d++) {
		uint64_t drawn = seed * 1000 + (uint64_t)(d / n);
		int cls = d % n;

		if (!jl_case_draw(c, drawn, (PmInputClass)cls))
			continue;
		for (int m = 0; m < mixes; m++) {
			JlKernel k = jl_honest((drawn * 100 + (uint64_t)cls) * 100 + (uint64_t)m);
			PmBoundFit f;
			JlVerdict v;

			jl_run(c->g, c->in, &k, c->y);
			v = jl_case_judge(c, &f);
			out->trials++;
			out->not_judged += v == JL_NOT_JUDGED;
			out->rms = fmax(out->rms, f.rms);
			out->max = fmax(out->max, f.max);
			if (v == JL_REFUSED && !out->refused++)
				describe(out->worst, sizeof out->worst, drawn, cls, &k, &f);
		}
	}
}

/* c->y holds what cheat k makes. */
static void count(const JlCase *c, int k, uint64_t drawn, JlPower *out)
{
	double error = jl_case_error(c);
	PmBoundFit f;
	int refused;

	if (error == 0)
		return;
	refused = is_refused(c, &f);
	if (!(error > ALLOWED)) {
		out->small[k]++;
		out->small_refused[k] += refused;
		return;
	}
	out->seeds[k]++;
	out->refused[k] += refused;
	if (!refused && !out->missed[k][0])
		snprintf(out->missed[k], sizeof out->missed[k],
			 "seed %llu: rms %.3g, max %.3g, error %.3g times the eager run's",
			 (unsigned long long)drawn, f.rms, f.max, error);
}

void jl_power_trials(JlCase *c, uint64_t seed, int from, int to, JlPower *out)
{
	double *kept = pm_xcalloc((size_t)c->size.outputs, sizeof *kept);
	/* A body without functions has none that are off: seen at the first seed. */
	char idle[JL_MAX_CHEATS] = { 0 };

	memset(out, 0, sizeof *out);
	for (int s = from; s < to; s++) {
		uint64_t drawn = seed * 1000 + (uint64_t)s;
		JlKernel base = jl_honest(drawn * 7 + 3);

		jl_case_draw(c, drawn, PM_INPUTS_NORMAL);
		jl_case_eager(c);
		base.keep = 1;
		jl_run(c->g, c->in, &base, kept);
		base.keep = 0;
		for (int k = 0; k < jl_n_cheats(); k++) {
			idle[k] |= !idle[k] &&
				   !jl_cheat_run(k, c->g, c->in, c->body, c->size, &base, kept, c->y);
			if (!idle[k])
				count(c, k, drawn, out);
		}
	}
	free(kept);
}

const char *jl_drift_name(JlDrift d)
{
	return d == JL_SCALE ? "scale" : d == JL_BIAS ? "bias" : "noise";
}

/* What the results are with an error of that size besides, r in units of the eager run's error, and how much
 * of it is in them once they are stored. */
static double add_drift(JlCase *c, const double *y, JlDrift d, uint64_t seed, double r)
{
	int dtype = c->bound.y.type.dtype;
	double size = r * c->eager_rms, there = 0, all = 0;
	PmRng g;

	pm_rng_init_named(&g, seed, "drift");
	for (int64_t i = 0; i < c->size.outputs; i++) {
		/* Uniform in +-sqrt(3): one in root mean square. */
		double z = d == JL_NOISE ? (2 * pm_rng_uniform(&g) - 1) * 1.7320508075688772 : 1;
		double off = d == JL_BIAS ? size : y[i] / c->rms * size * z;

		c->y[i] = jl_round(dtype, y[i] + off);
		if (!isfinite(c->y[i]))
			continue;
		there += (c->y[i] - jl_round(dtype, y[i])) * off;
		all += off * off;
	}
	return all > 0 ? r * there / all : 0;
}

double jl_largest_drift(JlCase *c, uint64_t seed, JlDrift d)
{
	JlKernel k = { .order = JL_PAIRWISE, .keep = 1 };
	double lo = 0x1p-5, hi = 0x1p15, *y;
	PmBoundFit f;

	jl_case_draw(c, seed, PM_INPUTS_NORMAL);
	jl_case_eager(c);
	if (c->eager_rms == 0 || c->rms == 0)
		return NAN;
	y = pm_xcalloc((size_t)c->size.outputs, sizeof *y);
	jl_run(c->g, c->in, &k, y);
	/* To 2^(20 / 2^12), a third of a hundredth. */
	for (int step = 0; step < 12; step++) {
		double r = sqrt(lo * hi);

		add_drift(c, y, d, seed, r);
		if (is_refused(c, &f))
			hi = r;
		else
			lo = r;
	}
	lo = add_drift(c, y, d, seed, lo);
	free(y);
	return lo;
}

static double error_of(const JlCase *c)
{
	double sum = 0;
	int64_t n = 0;

	for (int64_t i = 0; i < c->size.outputs; i++) {
		double off = c->y[i] - c->exact[i];

		sum += isfinite(off) ? off * off : 0;
		n += isfinite(off);
	}
	return n ? sqrt(sum / (double)n) : 0;
}

/* The error of an honest kernel over the size of the results, or `least` where that is more. */
static double with_order(JlCase *c, JlOrder order, int free_ways, double least)
{
	JlKernel k = { .rounded = 1,
		       .order = order,
		       .fma = free_ways,
		       .exp2 = free_ways,
		       .reciprocal = free_ways,
		       .online = free_ways,
		       .slack = free_ways ? 1.5 : 0 };

	jl_run(c->g, c->in, &k, c->y);
	return c->rms > 0 ? fmax(least, error_of(c) / c->rms) : least;
}

double jl_worst_honest(JlCase *c, uint64_t seed)
{
	enum { MORE = 7 };
	double worst = 0, unit;

	jl_case_draw(c, seed, PM_INPUTS_NORMAL);
	jl_case_eager(c);
	if (c->eager_rms == 0 || c->rms == 0)
		return NAN;
	unit = c->eager_rms / c->rms;
	for (int order = 0; order < JL_N_ORDERS; order++)
		for (int free_ways = 0; free_ways < 2; free_ways++)
			worst = with_order(c, (JlOrder)order, free_ways, worst);
	for (int d = 1; d <= MORE; d++) {
		jl_case_draw(c, seed + 1000 * (uint64_t)d, PM_INPUTS_NORMAL);
		jl_case_eager(c);
		worst = with_order(c, JL_SEQUENTIAL, 0, worst);
		worst = with_order(c, JL_REVERSED, 0, worst);
	}
	return fmax(worst / unit, 1);
}
