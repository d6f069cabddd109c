/* SPDX-License-Identifier: Apache-2.0 */
/* bound_fit.c - judges results by the bound: each element, and statistics over all of them. */
#include "bench/compare/bound/bound_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <stdlib.h>

/* The class of a value in a type: an exact value beyond its range has become infinite there. */
static int class_of(double v, double top)
{
	return isnan(v) ? 3 : v > top ? 1 : v < -top ? 2 : 0;
}

static double value(const PmRefTensor *t, int64_t i)
{
	return t->f ? t->f[i] : pm_int_to_f64(t->type.dtype, t->i[i]);
}

/* Standard deviations of a normal variable beyond which a statistic of a right result is once in 10^7. */
#define SURE 5.2
/* How far a mean may be off zero for good, in standard deviations. A rounded constant of a formula is the
 * same for all elements. In the shortest formula with one its rounding is one of three (the constant, the
 * product, the result), so that its standard deviation is 1 / sqrt(3) of theirs together. */
#define LEAN 0.57735
/* What a comparison has to refuse to be evidence: answers that explain less than 15/16 of the variance of the
 * reference's values. Their error is at least sqrt(1/16) of its spread. */
#define TELLS 0.25

double pm__bound_reach(double n)
{
	return PM_BOUND_REACH * (1 + log(fmax(n / 100, 1)) / (6.16 * acos(-1)));
}

/* The mean square of 1 / inv normal variables is beyond this once in 10^7 (Wilson and Hilferty 1931). */
static double most_square(double inv)
{
	double s = 2 * inv / 9;

	return fmin(pow(1 - s + SURE * sqrt(s), 3), PM_BOUND_REACH * PM_BOUND_REACH);
}

/* The variance of the last rounding, to digits of which half is `digit`. Where the error before it is small,
 * the result is y rounded, and how far that is off is known: where values have few digits, as products by a
 * small integer, errors lie at quarters and halves of a digit, and their square is over a third of digit^2.
 */
static double of_last_rounding(int dtype, double y, double e, double digit)
{
	double known = e < digit / 4 ? pm__bound_round(dtype, y) - y : 0;

	return fmax(digit * digit / 3, isfinite(known) ? known * known : 0);
}

static void add(PmFitSums *s, double y, double width, double off, double var_e, double var_round)
{
	double var = var_e + var_round, sd = sqrt(var);

	s->all++;
	s->y += y;
	s->yy += y * y;
	s->room += var + width * width / 4;
	if (!(var > 0)) {
		s->impossible += off != 0;
		return;
	}
	/* A zero of which nothing is off: a rounding error there says nothing of the others. */
	if (y == 0 && !(width > 0) && !(var_e > 0) && off == 0)
		return;
	s->n++;
	s->z += off / sd;
	s->zz += off / sd * (off / sd);
	s->zw += off / sd * (y / sd);
	s->ww += y / sd * (y / sd);
	s->of_errors += var_e / var;
}

/* What holds for the tensor as a whole. */
typedef struct Whole {
	double inv, lean, equal;
	int widened;
} Whole;

static void conclude(const PmFitSums *s, const Whole *b, PmBoundFit *out)
{
	double inv = b->inv, equal = b->equal, share = s->n > 0 ? s->of_errors / s->n : 0, n = fmax(s->n, 1),
	       most, lean, spread;

	if (!(s->all > 0))
		return;
	inv = fmin(1, share * fmax(inv, 1 / n) + (1 - share) * fmax(equal, 1 / n));
	most = most_square(inv);
	lean = fmax(LEAN, b->lean) + SURE * sqrt(inv);
	out->rms = s->impossible > 0 ? INFINITY : sqrt(s->zz / n / most);
	/* Factors that are cut off lean to one side. */
	out->bias = b->widened ? 0 : fabs(s->z) / n / lean;
	out->slope = s->ww > 0 && !b->widened ? fabs(s->zw) / sqrt(s->ww * n) / lean : 0;
	spread = s->yy / s->all - s->y / s->all * (s->y / s->all);
	/* One number, or the same one everywhere: its own size. */
	if (!(spread > 0x1p-40 * s->yy / s->all))
		spread = s->yy / s->all;
	out->noise = s->room > 0 ? sqrt(s->room * most / s->all / spread) : 0;
	out->tells = out->noise <= TELLS;
}

static void note_wrong(PmBoundFit *out, int64_t i, double expected)
{
	if (out->n_wrong++)
		return;
	out->first = i;
	out->first_expected = expected;
}

/* Looks at the elements [from, to), which may be off by `reach` standard deviations; what is found is
 * numbered as in the whole. */
static void look_at(const PmBound *b, const PmTensor *got, double reach, int64_t from, int64_t to,
		    PmFitSums *s, PmBoundFit *out)
{
	int dtype = b->y.type.dtype;
	double ud = b->rounds ? pm__bound_ud(dtype) : 0, tiny = b->rounds ? pm__bound_tiny(dtype) : 0;
	/* Halfway to the next power of two is where rounding gives an infinity. */
	double top = pm__bound_largest(dtype) * (1 + pm__bound_ud(dtype) / 2);
	const PmRefTensor *r = b->eager.numel ? &b->eager : &b->y;

	*out = (PmBoundFit){ .index = -1, .first = -1, .tells = 1 };
	for (int64_t i = from; i < to; i++) {
		double y = value(&b->y, i), z = value(r, i), e = b->unit ? b->unit[i] : 0;
		double g = pm_tensor_get(got, i), off, round, digit, ratio, low = fmin(y, z),
		       high = fmax(y, z);

		if (isinf(e) || class_of(y, top) != class_of(z, top)) {
			out->open++;
			continue;
		}
		if (class_of(y, top) != class_of(g, top)) {
			/* At the edge of the range both are right. */
			if (fabs(fmax(fabs(y), fabs(z)) - top) <= reach * e + ud * top && !isnan(y) &&
			    !isnan(g)) {
				out->open++;
				continue;
			}
			note_wrong(out, i, y);
			if (!out->n_class++) {
				out->index = i;
				out->expected = y;
				out->got = g;
			}
			continue;
		}
		if (class_of(y, top))
			continue;
		if (!b->y.f && (b->y.i[i] == pm_tensor_get_i(got, i) || r->i[i] == pm_tensor_get_i(got, i)))
			g = y;
		round = ud * fmax(fabs(y), fabs(z)) * (1 + 0x1p-20) + tiny;
		digit = pm__bound_half_digit(ud, fmax(fabs(y), fabs(z))) + tiny;
		off = g < low ? g - low : g > high ? g - high : 0;
		/* Of doubles below 1e-154 or so the squares are 0: each element for itself is judged. */
		if (e * e + digit * digit > 0 || !(e + digit > 0))
			add(s, y, high - low, off, e * e, of_last_rounding(dtype, y, e, digit));
		if (off == 0)
			continue;
		ratio = reach * e + round > 0 ? fabs(off) / (reach * e + round) : INFINITY;
		if (!out->n_class && (out->index < 0 || ratio > out->max)) {
			out->index = i;
			out->expected = y;
			out->got = g;
		}
		out->max = fmax(out->max, ratio);
		if (ratio > 1)
			note_wrong(out, i, y);
	}
}

static void add_sums(PmFitSums *to, const PmFitSums *s)
{
	to->all += s->all;
	to->n += s->n;
	to->z += s->z;
	to->zz += s->zz;
	to->zw += s->zw;
	to->ww += s->ww;
	to->of_errors += s->of_errors;
	to->y += s->y;
	to->yy += s->yy;
	to->room += s->room;
	to->impossible += s->impossible;
}

/* The worst of a part that begins at an element; the first of another class comes before all. */
static void join_worst(PmBoundFit *to, const PmBoundFit *f, int64_t at)
{
	if (f->n_wrong && !to->n_wrong) {
		to->first = at + f->first;
		to->first_expected = f->first_expected;
	}
	if (f->n_class ? !to->n_class
		       : !to->n_class && f->index >= 0 && (to->index < 0 || f->max > to->max)) {
		to->index = at + f->index;
		to->expected = f->expected;
		to->got = f->got;
	}
	to->max = fmax(to->max, f->max);
	to->n_class += f->n_class;
	to->open += f->open;
	to->n_wrong += f->n_wrong;
}

/* Pieces are cut by the number of elements alone, so that sums do not depend on how many threads there are.
 */
enum { PIECE = 1 << 16 };

typedef struct Pieces {
	const PmBound *b;
	const PmTensor *got;
	double reach;
	PmFitSums *sums;
	PmBoundFit *fit;
} Pieces;

static void look_at_pieces(void *arg, int64_t from, int64_t to)
{
	const Pieces *p = arg;

	for (int64_t k = from; k < to; k++) {
		int64_t end = (k + 1) * PIECE < p->b->y.numel ? (k + 1) * PIECE : p->b->y.numel;

		look_at(p->b, p->got, p->reach, k * PIECE, end, &p->sums[k], &p->fit[k]);
	}
}

/* Looks at each element of one of so many parts. */
static void look(const PmBound *b, const PmTensor *got, double parts, PmFitSums *s, PmBoundFit *out)
{
	int64_t n = (b->y.numel + PIECE - 1) / PIECE;
	Pieces p = { b, got, pm__bound_reach(round((double)b->y.numel * parts)),
		     pm_xcalloc((size_t)n + 1, sizeof *p.sums), pm_xcalloc((size_t)n + 1, sizeof *p.fit) };

	pm_threads_run(n, 1, look_at_pieces, &p);
	*out = (PmBoundFit){ .index = -1, .first = -1, .tells = 1 };
	for (int64_t k = 0; k < n; k++) {
		add_sums(s, &p.sums[k]);
		join_worst(out, &p.fit[k], 0);
	}
	free(p.sums);
	free(p.fit);
}

static double equal_results(const PmBound *b)
{
	return b->y.f ? pm__bound_equal(&b->y, b->y.type.dtype, NULL) : 0;
}

static void end(const PmFitSums *s, const Whole *w, PmBoundFit *out)
{
	conclude(s, w, out);
	out->within = !out->n_class && out->max <= 1 && out->rms <= 1 && out->bias <= 1 && out->slope <= 1;
}

void pm_bound_fit(const PmBound *b, const PmTensor *got, PmBoundFit *out)
{
	PmFitSums s = { 0 };

	look(b, got, 1, &s, out);
	end(&s, &(Whole){ b->inv, b->lean, equal_results(b), b->widened }, out);
}

void pm_bound_fit_part(const PmBound *b, const PmTensor *got, double parts, PmBoundFitPart *out)
{
	*out = (PmBoundFitPart){ .elements = b->y.numel,
				 .weight = b->weight,
				 .inv = b->inv,
				 .lean = b->lean,
				 .equal = equal_results(b),
				 .widened = b->widened };
	look(b, got, parts, &out->sums, &out->fit);
}

void pm_bound_fit_parts(const PmBoundFitPart *part, size_t n, PmBoundFit *out)
{
	double weight = 0, elements = 0;
	PmFitSums s = { 0 };
	Whole w = { 0 };
	int64_t at = 0;

	*out = (PmBoundFit){ .index = -1, .first = -1, .tells = 1 };
	for (size_t i = 0; i < n; at += part[i++].elements) {
		const PmBoundFitPart *p = &part[i];

		add_sums(&s, &p->sums);
		join_worst(out, &p->fit, at);
		w.inv += p->weight * p->inv;
		w.lean += p->weight * p->lean * p->lean;
		weight += p->weight;
		w.equal += (double)p->elements * p->equal;
		elements += (double)p->elements;
		w.widened |= p->widened;
	}
	w.inv = weight > 0 ? w.inv / weight : 0;
	w.lean = weight > 0 ? sqrt(w.lean / weight) : 0;
	w.equal = elements > 0 ? w.equal / elements : 0;
	end(&s, &w, out);
}
