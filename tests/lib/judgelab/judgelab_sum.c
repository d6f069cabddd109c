/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_sum.c - sums of a simulated kernel: one, or sixteen at a time, in the kernel's order. */
#include "tests/lib/judgelab/judgelab_priv.h"

#include <math.h>
#include <string.h>

/* ---- sixteen sums ---- */

/* Sums that are added up beside each other, each by itself: a processor does four or eight of them at once.
 */
typedef float Wide __attribute__((vector_size(4 * JL_WIDE), aligned(4)));
typedef double WideDouble __attribute__((vector_size(8 * JL_WIDE), aligned(8)));

/* Terms i of the sixteen sums: b[i], or a[i] b[i] where there is an `a`. */
typedef struct Terms {
	const float *a;
	const Wide *b;
} Terms;

static inline void term(const Terms *t, int64_t i, Wide *y)
{
	*y = t->a ? t->b[i] * t->a[i] : t->b[i];
}

/* Terms from, from + step .. below `to`. */
static void run_of(const Terms *t, int fma, int64_t from, int64_t to, int64_t step, Wide *y)
{
	Wide s = { 0 };

	if (fma && t->a)
		for (int64_t i = from; i < to; i += step)
			s = __builtin_convertvector(__builtin_convertvector(t->b[i], WideDouble) *
								    (double)t->a[i] +
							    __builtin_convertvector(s, WideDouble),
						    Wide);
	else if (t->a)
		for (int64_t i = from; i < to; i += step)
			s += t->b[i] * t->a[i];
	else
		for (int64_t i = from; i < to; i += step)
			s += t->b[i];
	*y = s;
}

static void pairwise(const Terms *t, int64_t from, int64_t n, Wide *y)
{
	Wide left, right;

	if (n == 1) {
		term(t, from, y);
		return;
	}
	pairwise(t, from, n / 2, &left);
	pairwise(t, from + n / 2, n - n / 2, &right);
	*y = left + right;
}

static void blocks(const Terms *t, int fma, int64_t n, int64_t size, Wide *y)
{
	Wide s = { 0 }, part;

	for (int64_t i = 0; i < n; i += size) {
		run_of(t, fma, i, i + size < n ? i + size : n, 1, &part);
		s += part;
	}
	*y = s;
}

static void strided(const Terms *t, int fma, int64_t n, Wide *y)
{
	Wide lane[32];

	for (int i = 0; i < 32; i++)
		run_of(t, fma, i, n, 32, &lane[i]);
	for (int half = 16; half; half /= 2)
		for (int i = 0; i < half; i++)
			lane[i] += lane[i + half];
	*y = lane[0];
}

static void kahan(const Terms *t, int64_t n, Wide *y)
{
	Wide s = { 0 }, rest = { 0 }, x, next;

	for (int64_t i = 0; i < n; i++) {
		term(t, i, &x);
		x -= rest;
		next = s + x;
		rest = next - s - x;
		/* What is beyond the range stays so. */
		for (int l = 0; l < JL_WIDE; l++)
			rest[l] = isfinite(next[l]) ? rest[l] : 0;
		s = next;
	}
	*y = s;
}

static void backwards(const Terms *t, int64_t n, Wide *y)
{
	Wide s = { 0 }, x;

	while (n--) {
		term(t, n, &x);
		s += x;
	}
	*y = s;
}

/* Partial sums in fewer digits, by Dekker's splitting; the range of the type is not looked at. */
static void narrow_sum(const Terms *t, int dtype, int64_t n, Wide *y)
{
	float factor = dtype == PM_F16 ? 0x1p13f + 1 : 0x1p16f + 1;
	Wide s = { 0 }, x, big;

	for (int64_t i = 0; i < n; i++) {
		term(t, i, &x);
		x += s;
		big = x * factor;
		s = big - (big - x);
	}
	*y = s;
}

void jl__sums(const JlKernel *k, const float *a, const float *b, int64_t n, float *y)
{
	Terms t = { a, (const Wide *)b };
	Wide s = { 0 };

	if (k->wrong && k->wrong->narrow) {
		narrow_sum(&t, k->wrong->narrow, n, &s);
		k->wrong->n_touched++;
	} else if (k->order == JL_REVERSED)
		backwards(&t, n, &s);
	else if (k->order == JL_PAIRWISE && n)
		pairwise(&t, 0, n, &s);
	else if (k->order == JL_BLOCKS_32)
		blocks(&t, k->fma, n, 32, &s);
	else if (k->order == JL_BLOCKS_128)
		blocks(&t, k->fma, n, 128, &s);
	else if (k->order == JL_BLOCKS_1024)
		blocks(&t, k->fma, n, 1024, &s);
	else if (k->order == JL_SPLIT)
		blocks(&t, k->fma, n, (n + 7) / 8, &s);
	else if (k->order == JL_STRIDED)
		strided(&t, k->fma, n, &s);
	else if (k->order == JL_KAHAN)
		kahan(&t, n, &s);
	else
		run_of(&t, k->fma, 0, n, 1, &s);
	memcpy(y, &s, sizeof s);
}

/* ---- one sum ---- */

static float in_order(const double *x, int64_t from, int64_t to, int64_t step)
{
	float s = 0;

	for (int64_t i = from; i < to; i += step)
		s += (float)x[i];
	return s;
}

static float in_pairs(const double *x, int64_t n)
{
	return n == 1 ? (float)x[0] : in_pairs(x, n / 2) + in_pairs(x + n / 2, n - n / 2);
}

static float in_blocks(const double *x, int64_t n, int64_t size)
{
	float s = 0;

	for (int64_t i = 0; i < n; i += size)
		s += in_order(x, i, i + size < n ? i + size : n, 1);
	return s;
}

static float in_lanes(const double *x, int64_t n)
{
	float lane[32];

	for (int i = 0; i < 32; i++)
		lane[i] = in_order(x, i, n, 32);
	for (int half = 16; half; half /= 2)
		for (int i = 0; i < half; i++)
			lane[i] += lane[i + half];
	return lane[0];
}

static float corrected(const double *x, int64_t n)
{
	volatile float s = 0, rest = 0, t;

	for (int64_t i = 0; i < n; i++) {
		float v = (float)x[i] - rest;

		t = s + v;
		rest = isfinite(t) ? (t - s) - v : 0;
		s = t;
	}
	return s;
}

static float from_the_end(const double *x, int64_t n)
{
	float s = 0;

	while (n--)
		s += (float)x[n];
	return s;
}

static double in_few_digits(JlWrong *w, const double *x, int64_t n)
{
	double s = 0;

	for (int64_t i = 0; i < n; i++)
		s = jl_round(w->narrow, s + x[i]);
	w->n_touched++;
	return s;
}

double jl__sum(const JlKernel *k, const double *x, int64_t n)
{
	double s = 0;

	if (k->exact)
		for (int64_t i = 0; i < n; i++)
			s += x[i];
	if (k->exact || !n)
		return s;
	if (k->wrong && k->wrong->narrow)
		return in_few_digits(k->wrong, x, n);
	switch (k->order) {
	case JL_REVERSED:
		return (double)from_the_end(x, n);
	case JL_PAIRWISE:
		return (double)in_pairs(x, n);
	case JL_BLOCKS_32:
		return (double)in_blocks(x, n, 32);
	case JL_BLOCKS_128:
		return (double)in_blocks(x, n, 128);
	case JL_BLOCKS_1024:
		return (double)in_blocks(x, n, 1024);
	case JL_SPLIT:
		return (double)in_blocks(x, n, (n + 7) / 8);
	case JL_STRIDED:
		return (double)in_lanes(x, n);
	case JL_KAHAN:
		return (double)corrected(x, n);
	default:
		return (double)in_order(x, 0, n, 1);
	}
}
