/* SPDX-License-Identifier: Apache-2.0 */
/* bound_resize.c - units of error of Resize: positions, weights and sums, each rounded.
 *
 * A result is y = sum_j W_j x_j, W_j the product over the axes of weights w(i - p), p the position of the
 * result along an axis. With r = PM_BOUND_ROUNDING and a unit roundoff u, variances over (r u)^2:
 *
 *   position   p = step (o + 1/2) - 1/2 and its like, in the type of sums: the rounded step and the product
 * of size q = step (o + 1/2), the rounded start s, and the sum: 2 q^2 + s^2 + p^2, of which step and start,
 * about half, are common to the axis. What it does is found by moving p. None where all positions are
 * multiples of 2^-12 below 2^11, which float has as they are. weight     of linear 1 - d: the distance d and
 * the weight; of cubic each step of Horner's rule times the factors that follow (Higham 5.1); where weights
 * are brought to a sum of 1, the sum and the quotient mixing     as a + f (b - a): the difference and the
 * product, 2 f^2 (b - a)^2 sum        products of weights, and those with x, and partial sums in any order
 * (bound_sum.c)
 *
 * A result that is one element has none. Operands' errors add as in any sum. Nearest neighbours are copies.
 */
#include "bench/compare/bound/bound_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What takes a weight's place. */
typedef enum { AS_IS, ABSOLUTE, SQUARED, COUNTED } Form;

/* Elements and weights of all results along an axis, `taps` places for each; n[o] = those used, 0 where the
 * result is the extrapolation value. */
typedef struct Windows {
	int64_t *at, *n;
	double *w;
	int64_t in, out;
	int taps;
} Windows;

/* The windows with positions moved by `move` (by result, NULL = 0). Owned. */
static Windows windows_of(const PmResize *r, int d, const double *move, double by)
{
	const PmResizeAxis *a = &r->axis[d];
	size_t room = (size_t)(a->out * a->taps) + 1;
	Windows v = { .in = a->in, .out = a->out, .taps = a->taps };

	v.at = pm_xcalloc(room, sizeof *v.at);
	v.w = pm_xcalloc(room, sizeof *v.w);
	v.n = pm_xcalloc((size_t)a->out + 1, sizeof *v.n);
	for (int64_t o = 0; o < a->out; o++) {
		double p = pm_resize_source(r, a, o) + (move ? by * move[o] : 0);

		if (!pm_resize_outside(r, a, p))
			v.n[o] = pm_resize_window(r, a, o, p, v.at + o * v.taps, v.w + o * v.taps);
	}
	return v;
}

static void release(Windows *v)
{
	free(v->at);
	free(v->n);
	free(v->w);
}

static double as(Form form, double w)
{
	return form == AS_IS ? w : form == ABSOLUTE ? fabs(w) : form == SQUARED ? w * w : 1;
}

/* x (outer x in x inner) along an axis. Owned. */
static double *along(const Windows *v, Form form, double fill, const double *x, int64_t outer, int64_t inner)
{
	double *y = pm_xcalloc((size_t)(outer * v->out * inner) + 1, sizeof *y);

	for (int64_t n = 0; n < outer; n++)
		for (int64_t i = 0; i < v->out * inner; i++) {
			int64_t o = i / inner, first = o * v->taps;
			double sum = 0;

			for (int64_t k = first; k < first + v->n[o]; k++) {
				double w = v->w[k], t = x[(n * v->in + v->at[k]) * inner + i % inner];

				sum += w == 0 ? 0 : t * as(form, w);
			}
			y[n * v->out * inner + i] = v->n[o] ? sum : fill;
		}
	return y;
}

/* The operator with all its windows. */
typedef struct Sampler {
	PmResize r;
	Windows w[PM_MAX_RANK];
	double u; /* r u */
} Sampler;

static int64_t extent(const Sampler *s, int from, int to, int results)
{
	int64_t n = 1;

	for (int d = from; d < to; d++)
		n *= results ? s->r.axis[d].out : s->r.axis[d].in;
	return n;
}

/* x along all axes but `skip` (-1 = none). Owned. */
static double *over(const Sampler *s, Form form, double fill, const double *x, int skip)
{
	double *now = pm_xcalloc((size_t)extent(s, 0, s->r.rank, 0) + 1, sizeof *now), *next;

	memcpy(now, x, (size_t)extent(s, 0, s->r.rank, 0) * sizeof *now);
	for (int d = 0; d < s->r.rank; d++) {
		int64_t outer = extent(s, 0, d, 1);

		if (d == skip || s->r.axis[d].same)
			continue;
		if (skip >= 0 && skip < d)
			outer = outer / (s->w[skip].out ? s->w[skip].out : 1) * s->w[skip].in;
		next = along(&s->w[d], form, fill, now, outer, extent(s, d + 1, s->r.rank, 0));
		free(now);
		now = next;
	}
	return now;
}

/* Float has all positions of an axis as they are, in whichever way they are computed. */
static int is_exact(const PmResize *r, const PmResizeAxis *a)
{
	enum { GRID = 4096, MOST = 2048 };
	double step = r->coord == PM_RESIZE_ALIGN_CORNERS ? 1 : GRID / a->scale;

	if (r->coord == PM_RESIZE_CROP || step != floor(step))
		return 0;
	for (int64_t o = 0; o < a->out; o++) {
		double p = pm_resize_source(r, a, o) * GRID;

		if (p != floor(p) || fabs(p) > (double)GRID * MOST)
			return 0;
	}
	return 1;
}

/* Standard deviations of the positions of an axis. Owned; NULL = they are exact. */
static double *positions(const Sampler *s, int d)
{
	const PmResizeAxis *a = &s->r.axis[d];
	double start = pm_resize_source(&s->r, a, 0), step, *sd;

	if (is_exact(&s->r, a))
		return NULL;
	step = a->out > 1 ? pm_resize_source(&s->r, a, 1) - start : 0;
	sd = pm_xcalloc((size_t)a->out + 1, sizeof *sd);
	for (int64_t o = 0; o < a->out; o++) {
		double p = pm_resize_source(&s->r, a, o), q = step * ((double)o + 0.5);

		sd[o] = s->u * sqrt(2 * q * q + start * start + p * p);
	}
	return sd;
}

/* Variance over (r u)^2 of the weight of an element at a distance that has `roundings`. */
static double weight_variance(const PmResize *r, double distance, int roundings)
{
	double d = fabs(distance), a = r->cubic_a, slope, sum, t, dd = d * d;

	if (d == 0 || d >= (r->mode == PM_RESIZE_LINEAR ? 1 : 2))
		return 0;
	if (r->mode == PM_RESIZE_LINEAR)
		return roundings * dd + (1 - d) * (1 - d);
	if (d <= 1) {
		slope = (3 * (a + 2) * d - 2 * (a + 3)) * d;
		t = (a + 2) * d;
		sum = (2 * t * t + (a + 3) * (a + 3)) * dd * dd; /* t, and the two constants */
		t -= a + 3;
		sum += 3 * t * t * dd * dd; /* the difference and two products by d */
	} else {
		slope = (3 * a * d - 10 * a) * d + 8 * a;
		t = a * d;
		sum = (t * t + 25 * a * a) * dd * dd; /* t, and 5 a */
		t -= 5 * a;
		sum += 2 * t * t * dd * dd; /* the difference and its product by d */
		t = t * d + 8 * a;
		sum += 2 * t * t * dd; /* the sum and its product by d */
	}
	t = pm_resize_weight(r, d);
	return sum + t * t + roundings * dd * slope * slope;
}

/* Variances over (r u)^2 of the weights of result o along axis d. */
static void weight_variances(const Sampler *s, int d, int64_t o, int exact, double *var)
{
	const PmResizeAxis *a = &s->r.axis[d];
	const Windows *v = &s->w[d];
	const double *w = v->w + o * v->taps;
	int normal = s->r.antialias || s->r.exclude_outside, used = 0;
	double p = pm_resize_source(&s->r, a, o), low = floor(p), all = 0, total = 0, var_all = 0;

	for (int k = 0; k < v->taps; k++) {
		double distance = (low + a->first + k - p) * a->stretch,
		       raw = pm_resize_weight(&s->r, distance);
		int is_few = exact && a->stretch == 1 && pm__bound_holds(PM_F32, raw);

		used += w[k] != 0;
		var[k] = w[k] == 0 || is_few ? 0 : weight_variance(&s->r, distance, a->stretch == 1 ? 1 : 3);
		all += var[k];
		total += w[k] == 0 ? 0 : raw;
		var_all += raw * raw;
	}
	for (int k = 0; k < v->taps && normal; k++)
		var[k] = used < 2 || total == 0
				 ? 0
				 : (var[k] + w[k] * w[k] * (all + used * var_all)) / (total * total) +
					   w[k] * w[k];
}

/* What rounding of the weights of one axis and of mixing along it does: variances, added to `var`. `x` has
 * been resized along the others. */
static void add_weights(const Sampler *s, int d, const double *x, int exact, double *var)
{
	const Windows *v = &s->w[d];
	int64_t outer = extent(s, 0, d, 1), inner = extent(s, d + 1, s->r.rank, 1);
	double *of = pm_xcalloc((size_t)v->taps, sizeof *of), u2 = s->u * s->u;

	for (int64_t o = 0; o < v->out; o++) {
		const int64_t *at = v->at + o * v->taps;
		const double *w = v->w + o * v->taps;
		int mixes = v->n[o] == 2 && w[0] != 0 && w[1] != 0;

		if (!v->n[o])
			continue;
		weight_variances(s, d, o, exact, of);
		for (int64_t i = 0; i < outer * inner; i++) {
			const double *line = x + i / inner * v->in * inner + i % inner;
			double *to = &var[(i / inner * v->out + o) * inner + i % inner];

			for (int k = 0; k < v->n[o]; k++)
				*to += of[k] == 0 ? 0
						  : u2 * of[k] * line[at[k] * inner] * line[at[k] * inner];
			if (mixes) {
				double f = fmax(w[0], w[1]) * (line[at[1] * inner] - line[at[0] * inner]);

				*to += 2 * u2 * f * f;
			}
		}
	}
	free(of);
}

/* What the errors of an axis' positions do, as a part. */
static void add_positions(PmBoundCall *c, const Sampler *s, int d, const double *x, const double *sd)
{
	int64_t outer = extent(s, 0, d, 1), inner = extent(s, d + 1, s->r.rank, 1), n = c->call.out[0].numel;
	PmBoundPart p = { .inv = 0.5 + 0.5 / (double)s->r.axis[d].out };

	p.all = pm_xcalloc((size_t)n + 1, sizeof *p.all);
	p.shared = pm_xcalloc((size_t)n + 1, sizeof *p.shared);
	for (int way = -1; way < 2; way += 2) {
		Windows v = windows_of(&s->r, d, sd, way * PM_BOUND_REACH);
		double *y = along(&v, AS_IS, s->r.extrapolation, x, outer, inner);

		for (int64_t i = 0; i < n; i++) {
			double off = fabs(y[i] - c->call.out[0].f[i]) / PM_BOUND_REACH;

			p.all[i] = p.shared[i] = fmax(p.all[i], isfinite(off) ? off : INFINITY);
		}
		free(y);
		release(&v);
	}
	pm__bound_add(c, 0, &p);
}

/* Of the arithmetic: sums, weights, and what is in common of positions. */
static void add_arithmetic(PmBoundCall *c, const Sampler *s)
{
	int64_t n = c->call.out[0].numel, n_in = c->call.in[0].numel;
	const double *x = c->call.in[0].f, *y = c->call.out[0].f;
	double *squares = pm_xcalloc((size_t)n_in + 1, sizeof *squares), *terms, *e = pm__bound_unit(c, 0);
	double *mixed[PM_MAX_RANK] = { NULL }, *sd[PM_MAX_RANK] = { NULL }, *ones = squares, axes = 0;

	for (int64_t i = 0; i < n_in; i++)
		ones[i] = 1;
	terms = over(s, COUNTED, 1, ones, -1);
	for (int64_t i = 0; i < n_in; i++)
		squares[i] = x[i] * x[i];
	for (int d = 0; d < s->r.rank; d++) {
		if (s->r.axis[d].same)
			continue;
		axes++;
		mixed[d] = over(s, AS_IS, s->r.extrapolation, x, d);
		sd[d] = positions(s, d);
		add_weights(s, d, mixed[d], !sd[d], e);
	}
	ones = over(s, SQUARED, 0, squares, -1);
	for (int64_t i = 0; i < n; i++)
		e[i] = !isfinite(y[i]) || terms[i] <= 1
			       ? 0
			       : sqrt(e[i] + s->u * s->u *
						     ((axes - 1) * ones[i] +
						      pm__bound_steps(terms[i], ones[i], y[i])));
	pm__bound_own(c, 0, 0);
	for (int d = 0; d < s->r.rank; d++) {
		if (sd[d])
			add_positions(c, s, d, mixed[d], sd[d]);
		free(mixed[d]);
		free(sd[d]);
	}
	free(squares);
	free(terms);
	free(ones);
}

/* What errors of the operand do. `copies`: results are elements of it. */
static void add_operand(PmBoundCall *c, const Sampler *s, int copies)
{
	int64_t n = c->call.out[0].numel, n_in = c->call.in[0].numel;
	/* What is copied keeps its own rounding to come. */
	double *f = copies ? NULL : pm__bound_full(c, 0), *shared = copies ? NULL : pm__bound_common(c, 0, f);
	const double *e = copies ? c->in[0].unit : f, *in_common = copies ? c->in[0].shared : shared;
	double *alone = pm_xcalloc((size_t)n_in + 1, sizeof *alone), *zeros = NULL;
	PmBoundPart p = { .inv = pm__bound_inv(c, 0, n), .source = c->in[0].source };

	for (int64_t i = 0; e && i < n_in; i++)
		alone[i] = e[i] * e[i] - (in_common ? in_common[i] * in_common[i] : 0);
	if (e) {
		if (!in_common)
			in_common = zeros = pm_xcalloc((size_t)n_in + 1, sizeof *zeros);
		p.all = over(s, SQUARED, 0, alone, -1);
		p.shared = over(s, ABSOLUTE, 0, in_common, -1);
		for (int64_t i = 0; i < n; i++) {
			p.all[i] = sqrt(fmax(p.all[i], 0) + p.shared[i] * p.shared[i]);
			/* Neighbours are made of the same elements where there are more of them. */
			p.shared[i] = n > n_in ? p.all[i] : p.shared[i];
		}
		pm__bound_add(c, 0, &p);
	}
	free(zeros);
	free(alone);
	free(f);
	free(shared);
}

PmStatus pm__bound_resize(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];
	Sampler s = { .u = PM_BOUND_ROUNDING * pm__bound_u(y->type.dtype) };
	int copies, known = y->f != NULL;
	PmStatus st = pm_ref_resize(&c->call, &s.r, err);

	if (st)
		return st;
	copies = s.r.mode == PM_RESIZE_NEAREST;
	if (copies && !known)
		return pm__bound_stepped(c, err);
	for (size_t k = 1; k < c->call.n_in; k++)
		known = known && !c->in[k].unit && !c->in[k].rounds;
	/* Integers are cut off, which what is computed in another way may do elsewhere. */
	if (!known) {
		pm__bound_lose(c);
		return PM_OK;
	}
	for (int d = 0; d < s.r.rank; d++)
		s.w[d] = windows_of(&s.r, d, NULL, 0);
	if (!copies)
		add_arithmetic(c, &s);
	add_operand(c, &s, copies);
	c->out[0].rounds = !copies || c->in[0].rounds ||
			   (s.r.coord == PM_RESIZE_CROP &&
			    !pm__bound_holds(y->type.dtype, s.r.extrapolation));
	c->out[0].repeats = c->in[0].repeats || (copies && c->in[0].rounds && y->numel > x->numel);
	for (int d = 0; d < s.r.rank; d++)
		release(&s.w[d]);
	return PM_OK;
}
