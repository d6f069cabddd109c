/* SPDX-License-Identifier: Apache-2.0 */
/* bound_norm.c - units of error of softmax and of the normalisations, from their textbook formulas. */
#include "bench/compare/bound/bound_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at(const double *f, int64_t i)
{
	return f ? f[i] : 0;
}

static double square(double v)
{
	return v * v;
}

/* A line's arguments moved down or up by their reach: the largest, the next to it, and the sum of all but the
 * largest over exp(next). */
typedef struct Side {
	double top, next, rest;
	int64_t at; /* where the largest is */
} Side;

/* exp(v): what is 0 in double precision is so at once, where the library's function goes a long way round. */
static double exp_of(double v)
{
	return v < -746 ? 0 : exp(v);
}

/* exp(a - b), also of two infinities. */
static double over(double a, double b)
{
	return a == b ? 1 : exp_of(a - b);
}

/* How far an argument moves whose standard deviation is f. What is below a half is of the first order. */
static double reach_of(double f, int large_only)
{
	double h = PM_BOUND_REACH * f;

	return large_only && !(h > 0.5) ? 0 : h;
}

static Side side_of(const double *x, const double *f, int64_t n, int64_t step, int sign, int large_only)
{
	Side s = { -INFINITY, -INFINITY, 0, -1 };

	for (int64_t i = 0; i < n; i++) {
		double v = x[i * step] + sign * reach_of(at(f, i * step), large_only);

		if (v > s.top) {
			s.next = s.top;
			s.top = v;
			s.at = i;
		} else {
			s.next = fmax(s.next, v);
		}
	}
	for (int64_t i = 0; i < n; i++) {
		double v = x[i * step] + sign * reach_of(at(f, i * step), large_only);

		s.rest += i != s.at && v > -INFINITY ? over(v, s.next) : 0;
	}
	return s;
}

/* log((sum of all exp(v_j) but i's) / exp(own)); v is argument i on that side. */
static double others(const Side *s, int64_t i, double v, double own)
{
	if (i == s->at)
		return s->next - own + log(s->rest);
	return s->top - own + log1p(fmax(s->rest * over(s->next, s->top) - over(v, s->top), 0));
}

/* The error of p = exp(x) / sum when x moves by h against the other terms: p is 1 / (1 + others / exp x), at
 * most with x up and all others down, and the other way round. Logarithms, since arguments of some hundred
 * leave nothing of exponentials. Where that leaves p `open` (rounding alone may make two terms equal, or one
 * of them all there is) a quarter of its range. */
static double soft_moved(double x, double h, double p, int64_t i, const Side side[2], int open)
{
	double low = others(&side[0], i, x - h, x + h), high = others(&side[1], i, x + h, x - h);
	double most = 1 / (1 + exp_of(low)), least = 1 / (1 + exp_of(high));

	if (most - least > 0.25 && (open ? high - low > 2 : h > 1))
		return (most - least) / 4;
	return fmax(most - p, p - least) / PM_BOUND_REACH;
}

/* Sums over a line. */
typedef struct Line {
	double top, sum, all; /* largest; of exp(x - top); error of the sum by its own arithmetic */
	double drift;         /* what of that has a known sign */
	double alone, common; /* of the operands' errors, weighted: root sum of squares; in common */
	int far;              /* an operand's error is beyond the first order */
	Side all_of[2];       /* then: all moved down, up */
	Side large[2];        /* those moved that are beyond it */
	double *term;         /* owned: exp(x - top) of each; NULL where the largest is not finite */
} Line;

static void soft_sums(const double *x, const double *f, const double *shared, int64_t n, int64_t step,
		      double u, Line *l)
{
	double repeats = 0, arithmetic = 0, walk, rescaled, *term;

	*l = (Line){ .top = -INFINITY };
	for (int64_t i = 0; i < n; i++) {
		l->top = fmax(l->top, x[i * step]);
		repeats += i && (float)x[i * step] == (float)x[(i - 1) * step];
	}
	if (!isfinite(l->top))
		return;
	l->term = term = pm_xmalloc((size_t)n * sizeof *term);
	for (int64_t i = 0; i < n; i++) {
		term[i] = exp_of(x[i * step] - l->top);
		l->sum += term[i];
	}
	/* The sum's steps, and how far they drift on these terms. An online sum begins on another scale, on
	 * which nothing is known of their last digits but that equal terms have the same: those add up
	 * (bound_sum.c), the more the largest term is of the sum. */
	walk = u * PM_BOUND_ROUNDING / sqrt(3) * sqrt((double)n);
	rescaled = u * repeats * (0.15 + (1 / sqrt(3) - 0.15) / l->sum);
	l->drift = n == 1 ? 0 : pm__bound_drift(term, n, u) / l->sum;
	/* The exponent's reference, the quotient, the sum. One term is all of it, whatever its error. */
	l->all = u * u * (l->top * l->top / 4 + 1);
	l->all = n == 1 ? 0 : sqrt(l->all + square(fmax(walk + rescaled, hypot(walk, l->drift))));
	for (int64_t i = 0; i < n; i++) {
		double v = x[i * step], p = term[i] / l->sum, s = at(shared, i * step);
		double own = at(f, i * step);

		if (p > 0) {
			arithmetic += n > 1 ? p * u * (p * u) * (v * v + 1) : 0;
			l->alone += p * p * fmax(own * own - s * s, 0);
			l->common += p * s;
		}
		l->far |= PM_BOUND_REACH * own > 0.25;
	}
	for (int k = 0; k < 2 && l->far; k++) {
		l->all_of[k] = side_of(x, f, n, step, k ? 1 : -1, 0);
		l->large[k] = side_of(x, f, n, step, k ? 1 : -1, 1);
	}
	l->alone = sqrt(l->alone);
	l->all = sqrt(l->all * l->all + arithmetic);
}

/* Errors beyond the first order: one term may turn the line over. That a term is 1 or 0 says nothing of how
 * far it is from being the other: those far movers alone are looked at for each; all of them where the first
 * order of this term is large (`all`). */
static double turned(const Line *l, double x, double f, double p, int64_t i, int all)
{
	double d = soft_moved(x, reach_of(f, 1), p, i, l->large, 1);

	return all ? fmax(d, soft_moved(x, reach_of(f, 0), p, i, l->all_of, 0)) : d;
}

/* p_i = exp(x_i - m) / sum exp(x_j - m). Relative errors: of the exponent's argument f_i and u (|x_i| + |m|)
 * (also when the factor log2 e is multiplied into both), of the function u, of the sum their mean weighted by
 * p (the root of squares of what is not in common), and of its K steps u 0.4247 sqrt(K / 3). Terms that are
 * equal, to the sum's last digit, are rounded the same way each time, which a plain loop adds up; and so are
 * terms that are as small as the sum's last digit (pm__bound_drift()). The logarithm has the same as absolute
 * errors. Operands whose own errors change a factor (values of some hundred in bfloat16) are beyond the first
 * order: see soft_moved(). Returns what of the variances of `sums` is
 * drift. */
static double soft_line(const double *x, const double *f, const double *shared, PmBoundPart *part,
			PmBoundPart *sums, double *e, int64_t n, int64_t step, double u, int logarithm)
{
	double drifts = 0;
	Line l;

	soft_sums(x, f, shared, n, step, u, &l);
	if (!isfinite(l.top))
		return 0; /* every element is what the reference says, of whichever class */
	for (int64_t i = 0; i < n; i++) {
		double v = x[i * step], own = at(f, i * step), s = at(shared, i * step), p, rest, line,
		       common;

		if (isinf(v))
			continue;
		p = logarithm ? 1 : l.term[i] / l.sum;
		rest = n == 1 ? 0 : logarithm ? 1 : 1 - p; /* a term moves its sum with it */
		common = logarithm ? l.common : l.common - p * s;
		line = sqrt(fmax(l.alone * l.alone - (logarithm ? 0 : p * p * (own * own - s * s)), 0) +
			    common * common);
		e[i * step] = n == 1 && !logarithm ? 0
						   : p * u * sqrt(rest * rest * (v * v + 1) + 0.25) +
							     (logarithm ? u * fabs(v - l.top) : 0);
		sums->all[i * step] = sums->shared[i * step] = p * l.all;
		drifts += p * l.drift * (p * l.drift);
		if (!f)
			continue;
		part->shared[i * step] = p * (line + rest * s);
		own *= rest;
		part->all[i * step] = p * sqrt(own * own + line * line + 2 * rest * s * common);
		if (logarithm || !l.far)
			continue;
		part->all[i * step] = fmax(part->all[i * step],
					   turned(&l, v, at(f, i * step), p, i,
						  PM_BOUND_REACH * own > 0.5 || PM_BOUND_REACH * line > 0.5));
	}
	free(l.term);
	return drifts;
}

/* One term over itself is 1. Where it is multiplied by its reciprocal that is rounded, unless the term is 1,
 * and then what a fused operation has left of it is another one in each line (bound_move.c). */
static void add_single_terms(PmBoundCall *c, double u)
{
	int64_t n = c->call.out[0].numel;
	PmBoundPart p = { .inv = 1 / ((double)n * c->parts) };

	p.all = pm_xcalloc((size_t)n + 1, sizeof *p.all);
	for (int64_t i = 0; i < n; i++)
		p.all[i] = isfinite(c->call.out[0].f[i]) ? PM_BOUND_ROUNDING * u : 0;
	pm__bound_add(c, 0, &p);
}

typedef struct Soft {
	const PmRefTensor *x, *y;
	const double *f, *shared;
	const PmBoundPart *p, *sums;
	double *e, *drift, *weight; /* drift, weight: by line */
	int64_t n, inner;
	int logarithm;
} Soft;

/* The elements y of a line, each with the share that the sum's error has of its own. Of numbers far apart one
 * line may have all that are not 0. */
static double weight_of(const double *y, const double *of_sum, int dtype, int64_t n, int64_t step)
{
	double ud = pm__bound_ud(dtype), tiny = pm__bound_tiny(dtype), sum = 0;

	for (int64_t i = 0; i < n * step; i += step) {
		double r = (pm__bound_half_digit(ud, fabs(y[i])) + tiny) / of_sum[i];

		sum += isnan(r) ? 0 : 1 / (1 + r * r / 3);
	}
	return sum;
}

static void soft_lines(void *arg, int64_t from, int64_t to)
{
	const Soft *s = arg;

	for (int64_t line = from; line < to; line++) {
		int64_t first = line / s->inner * s->inner * s->n + line % s->inner;
		PmBoundPart at_line = { .all = s->p->all + first, .shared = s->p->shared + first };
		PmBoundPart sums_there = { .all = s->sums->all + first, .shared = s->sums->shared + first };

		s->drift[line] = soft_line(s->x->f + first, s->f ? s->f + first : NULL,
					   s->shared ? s->shared + first : NULL, &at_line, &sums_there,
					   s->e + first, s->n, s->inner, pm__bound_u(s->x->type.dtype),
					   s->logarithm);
		s->weight[line] = weight_of(s->y->f + first, sums_there.all, s->y->type.dtype, s->n,
					    s->inner);
	}
}

/* 1 / lines behind the errors of sums, of which each counts with its weight. */
static double inverse_lines(const double *weight, int64_t lines)
{
	double all = 0, squares = 0;

	for (int64_t line = 0; line < lines; line++) {
		all += weight[line];
		squares += weight[line] * weight[line];
	}
	return all > 0 ? squares / (all * all) : 1 / (double)lines;
}

PmStatus pm__bound_softmax(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0];
	int axis = (int)pm_node_i(c->call.g, c->call.node, "axis", 0);
	int logarithm = pm_node_op(c->call.g, c->call.node) == PM_OP_LogSoftmax;
	int64_t n = x->type.dim[axis], inner = 1;
	double *f = pm__bound_full(c, 0), *shared = pm__bound_common(c, 0, f), *e = pm__bound_unit(c, 0);
	double drifts = 0, all = 0, *drift, *weight;
	PmBoundPart p = { .source = c->in[0].source }, sums = { 0 };

	(void)err;
	sums.all = pm_xcalloc((size_t)x->numel + 1, sizeof *sums.all);
	sums.shared = pm_xcalloc((size_t)x->numel + 1, sizeof *sums.shared);
	p.all = pm_xcalloc((size_t)x->numel + 1, sizeof *p.all);
	p.shared = pm_xcalloc((size_t)x->numel + 1, sizeof *p.shared);
	p.inv = x->numel ? fmin(1, pm__bound_inv(c, 0, x->numel / n)) : 0;
	for (int k = axis + 1; k < x->type.rank; k++)
		inner *= x->type.dim[k];
	drift = pm_xcalloc((size_t)(n ? x->numel / n : 0) + 1, sizeof *drift);
	weight = pm_xcalloc((size_t)(n ? x->numel / n : 0) + 1, sizeof *weight);
	if (n)
		pm_threads_run(x->numel / n, 1 + PM_BOUND_LEAST / 16 / n, soft_lines,
			       &(Soft){ x, &c->call.out[0], f, shared, &p, &sums, e, drift, weight, n, inner,
					logarithm });
	for (int64_t line = 0; n && line < x->numel / n; line++)
		drifts += drift[line];
	free(drift);
	for (int64_t i = 0; i < x->numel; i++)
		all += sums.all[i] * sums.all[i];
	pm__bound_leans(c, drifts, all);
	sums.inv = x->numel ? inverse_lines(weight, x->numel / n) / c->parts : 0;
	free(weight);
	pm__bound_own(c, 0, 0);
	c->out[0].scale = logarithm ? NULL : pm_xcalloc((size_t)x->numel + 1, sizeof(double));
	if (c->out[0].scale)
		memcpy(c->out[0].scale, sums.all, (size_t)x->numel * sizeof(double));
	sums.inv = fmax(sums.inv, pm__bound_equal(&c->call.out[0], PM_F32, sums.all));
	pm__bound_add(c, 0, &sums);
	pm__bound_add(c, 0, &p);
	if (n == 1 && x->numel && !logarithm)
		add_single_terms(c, pm__bound_u(x->type.dtype));
	c->out[0].rounds = 1;
	free(f);
	free(shared);
	return PM_OK;
}

/* How operand k, the scale or the bias, lies over the result. `v` has its elements. Found by running the
 * operator itself: with a scale of 0 its result is the bias; RMSNormalization has none, and of ones it makes
 * scale / sqrt(1 + epsilon). */
static PmStatus spread(const PmBoundCall *c, size_t k, const double *v, double **over, PmErr *err)
{
	size_t n = (size_t)c->call.out[0].numel, most = (size_t)c->call.in[0].numel;
	int rms = pm_node_op(c->call.g, c->call.node) == PM_OP_RMSNormalization;
	double *ones = pm_xcalloc(most + 1, sizeof *ones), eps;
	double *zeros = pm_xcalloc((size_t)c->call.in[1].numel + 1, sizeof *zeros);
	PmRefTensor in[3], *out = pm_xcalloc(c->call.n_out, sizeof *out);
	PmBoundCall wide = *c;
	PmStatus st;

	memcpy(in, c->call.in, (c->call.n_in < 3 ? c->call.n_in : 3) * sizeof *in);
	for (size_t i = 0; i < most; i++)
		ones[i] = 1;
	eps = pm_node_f(c->call.g, c->call.node, "epsilon", 1e-5);
	in[0].f = ones;
	if (rms) {
		in[1].f = pm_unconst(v);
	} else {
		in[2] = c->call.in[k];
		in[2].f = pm_unconst(v);
		in[1].f = zeros;
		wide.call.n_in = 3;
	}
	st = pm__bound_again(&wide, in, out, err);
	if (!st) {
		*over = out[0].f;
		out[0].f = NULL;
		for (size_t i = 0; i < n && rms; i++)
			(*over)[i] *= sqrt(1 + eps);
	}
	for (size_t i = 0; i < c->call.n_out; i++)
		pm_ref_tensor_release(&out[i]);
	free(out);
	free(ones);
	free(zeros);
	return st;
}

/* What plain loops in float do to the mean of x and to that of squares, in one pass or two: standard
 * deviations, and what of the second is drift. */
typedef struct Loops {
	double mean, squares, drift;
} Loops;

static Loops loops_of(const double *x, double mean, double squares, int64_t n, int centred, double u)
{
	double *term = pm_xmalloc((size_t)(n + 1) * sizeof *term), count = (double)n, twice = 0;
	Loops l = { 0 };

	for (int64_t i = 0; i < n; i++)
		term[i] = x[i] * x[i];
	l.drift = pm__bound_drift(term, n, u) / count;
	for (int64_t i = 0; i < n && centred; i++)
		term[i] = (x[i] - mean) * (x[i] - mean);
	if (centred) {
		twice = pm__bound_drift(term, n, u) / count;
		l.mean = hypot(u * PM_BOUND_ROUNDING *
				       sqrt(pm__bound_steps(count, squares * count, mean * count)),
			       pm__bound_drift(x, n, u)) /
			 count;
	}
	l.drift = fmax(l.drift, twice);
	/* In one pass the mean's square is taken from that of the squares. */
	l.squares = hypot(hypot(u * PM_BOUND_ROUNDING / sqrt(3) * sqrt(count) * squares, l.drift),
			  2 * mean * l.mean);
	free(term);
	return l;
}

/* One group: y = (x - mean) / sqrt(var + eps) * g + b. Errors: of the difference f + mean f + u (|x| +
 * mean |x|), or what a plain loop over x does to the mean. Of the variance (in one pass or two) 2 mean(u |d|
 * (|x|
 * + mean |x|)) + u mean x^2, and what a plain loop does; *drifts is what of the variances is drift. What the
 * arithmetic adds goes to e, linearly; what the operands' errors do goes to the part: the root of squares of
 * what is not in common. Where numbers are denormal, the mean and the difference are off by half the `least`
 * number, and so is what the scale multiplies. */
static void group(const double *x, const double *f, const double *shared, const double *g, double *e,
		  PmBoundPart *part, int64_t n, double eps, int centred, const PmFloatType *t, double *drifts)
{
	double mean = 0, size = 0, alone = 0, common = 0, var = 0, squares = 0, s_var = 0, v_alone = 0,
	       v_common = 0, inv, count = (double)n, u = t->roundoff, least = t->subnormal;
	Loops loops;

	for (int64_t i = 0; i < n; i++) {
		double s = at(shared, i);

		mean += centred ? x[i] / count : 0;
		size += centred ? fabs(x[i]) / count : 0;
		alone += centred ? fmax(at(f, i) * at(f, i) - s * s, 0) / (count * count) : 0;
		common += centred ? s / count : 0;
		squares += x[i] * x[i] / count;
	}
	alone = sqrt(alone);
	for (int64_t i = 0; i < n; i++)
		var += (x[i] - mean) * (x[i] - mean) / count;
	for (int64_t i = 0; i < n; i++) {
		double d = 2 * fabs(x[i] - mean) / count, s = at(shared, i);

		s_var += d * u * (fabs(x[i]) + size);
		v_alone += d * d * fmax(at(f, i) * at(f, i) - s * s, 0);
		v_common += d * s;
	}
	loops = loops_of(x, mean, squares, n, centred, u);
	s_var += u * squares + loops.squares;
	inv = 1 / sqrt(var + eps);
	*drifts = 0;
	for (int64_t i = 0; i < n; i++) {
		double d = fabs(x[i] - mean), w = fabs(g[i]) * inv, of_var = d / (2 * (var + eps)), line;

		/* One number is its mean: nothing is left of it. */
		e[i] = n == 1 && centred ? 0
					 : w * (u * fabs(x[i]) + fmax(u * size, loops.mean) +
						centred * least + s_var * of_var + 2 * u * d) +
						   fabs(g[i]) * least / 2;
		line = w * loops.drift * of_var;
		*drifts += isfinite(e[i]) ? line * line : 0;
		if (!f)
			continue;
		line = alone + common + (sqrt(v_alone) + v_common) * of_var;
		part->shared[i] = w * (line + at(shared, i));
		part->all[i] = w * sqrt(f[i] * f[i] + line * line + 2 * line * at(shared, i));
	}
}

static int64_t group_size(const PmBoundCall *c)
{
	const PmType *t = &c->call.in[0].type;
	PmOp op = pm_node_op(c->call.g, c->call.node);
	int first = (int)pm_node_i(c->call.g, c->call.node, "axis", 0);
	int64_t n = 1;

	if (op == PM_OP_LayerNormalization || op == PM_OP_RMSNormalization) {
		for (int k = first; k < t->rank; k++)
			n *= t->dim[k];
		return n;
	}
	for (int k = 1; k < t->rank; k++)
		n *= t->dim[k];
	return n / pm_node_i(c->call.g, c->call.node, "num_groups", t->dim[1]);
}

/* Adds what errors of the scale or the bias do. */
static PmStatus add_operand(PmBoundCall *c, size_t k, double eps, int64_t n, int centred, PmErr *err)
{
	const double *x = c->call.in[0].f;
	int64_t numel = c->call.in[0].numel;
	double *f = k < c->call.n_in && c->call.in[k].numel ? pm__bound_full(c, k) : NULL;
	PmBoundPart p = { 0 };
	PmStatus st;

	if (!f)
		return PM_OK;
	p.inv = pm__bound_inv(c, k, numel);
	p.source = c->in[k].source;
	st = spread(c, k, f, &p.all, err);
	for (int64_t first = 0; first < numel && !st; first += n) {
		double mean = 0, var = 0;

		for (int64_t i = first; i < first + n; i++)
			mean += centred ? x[i] / (double)n : 0;
		for (int64_t i = first; i < first + n; i++)
			var += (x[i] - mean) * (x[i] - mean) / (double)n;
		for (int64_t i = first; i < first + n; i++)
			p.all[i] *= k == 1 ? fabs(x[i] - mean) / sqrt(var + eps) : 1;
	}
	if (!st) {
		p.shared = pm_xcalloc((size_t)numel + 1, sizeof *p.shared);
		memcpy(p.shared, p.all, (size_t)numel * sizeof *p.shared);
		pm__bound_add(c, 0, &p);
	}
	free(f);
	return st;
}

typedef struct Groups {
	const PmRefTensor *x;
	const double *f, *shared, *scale;
	double *e, *drifts, eps; /* drifts: by group */
	PmBoundPart *p;
	int64_t n;
	int centred;
} Groups;

static void group_some(void *arg, int64_t from, int64_t to)
{
	const Groups *g = arg;

	for (int64_t i = from * g->n; i < to * g->n; i += g->n) {
		PmBoundPart one = { .all = g->p->all + i, .shared = g->p->shared + i };

		group(g->x->f + i, g->f ? g->f + i : NULL, g->shared ? g->shared + i : NULL, g->scale + i,
		      g->e + i, &one, g->n, g->eps, g->centred, pm__bound_sums(g->x->type.dtype),
		      &g->drifts[i / g->n]);
	}
}

/* All groups; the part is what operand 0's errors do. */
static void groups(PmBoundCall *c, const double *f, const double *shared, const double *scale, PmBoundPart *p)
{
	const PmRefTensor *x = &c->call.in[0];
	int centred = pm_node_op(c->call.g, c->call.node) != PM_OP_RMSNormalization;
	double eps = pm_node_f(c->call.g, c->call.node, "epsilon", 1e-5), *e = pm__bound_unit(c, 0);
	double *by_group, drifts = 0, all = 0;
	int64_t n = group_size(c), n_groups = n ? x->numel / n : 0;

	by_group = pm_xcalloc((size_t)n_groups + 1, sizeof *by_group);
	if (x->numel)
		pm_threads_run(n_groups, 1 + PM_BOUND_LEAST / 16 / n, group_some,
			       &(Groups){ x, f, shared, scale, e, by_group, eps, p, n, centred });
	for (int64_t i = 0; i < n_groups; i++)
		drifts += by_group[i];
	for (int64_t i = 0; i < x->numel; i++)
		all += isfinite(e[i]) ? e[i] * e[i] : 0;
	free(by_group);
	pm__bound_leans(c, drifts, all);
	p->inv = x->numel ? pm__bound_inv(c, 0, x->numel / n) : 0;
}

PmStatus pm__bound_normalise(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0];
	int centred = pm_node_op(c->call.g, c->call.node) != PM_OP_RMSNormalization;
	double eps = pm_node_f(c->call.g, c->call.node, "epsilon", 1e-5), u = pm__bound_u(x->type.dtype);
	int64_t n = group_size(c);
	double *f = pm__bound_full(c, 0), *shared = pm__bound_common(c, 0, f), *e = pm__bound_unit(c, 0);
	double *scale = NULL, *bias = NULL;
	PmBoundPart p = { .source = c->in[0].source };
	PmStatus st = spread(c, 1, c->call.in[1].f, &scale, err);

	p.all = pm_xcalloc((size_t)x->numel + 1, sizeof *p.all);
	p.shared = pm_xcalloc((size_t)x->numel + 1, sizeof *p.shared);
	if (!st)
		groups(c, f, shared, scale, &p);
	/* The product is rounded before the bias is added. */
	if (!st && c->call.n_in > 2 && c->call.in[2].numel)
		st = spread(c, 2, c->call.in[2].f, &bias, err);
	for (int64_t i = 0; i < x->numel && bias; i++)
		e[i] += u * (fabs(bias[i]) + fabs(c->call.out[0].f[i] - bias[i]));
	pm__bound_own(c, 0, n ? x->numel / n : 0);
	pm__bound_add(c, 0, &p);
	for (size_t k = 1; k < 3 && !st; k++)
		st = add_operand(c, k, eps, n, centred, err);
	for (size_t k = 0; k < c->call.n_out; k++) {
		c->out[k].rounds = 1;
		c->out[k].known = k == 0;
	}
	free(f);
	free(shared);
	free(scale);
	free(bias);
	return st;
}
