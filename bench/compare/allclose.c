/* SPDX-License-Identifier: Apache-2.0 */
/* allclose.c - is a candidate tensor close to the expected one, at every tolerance level, and where is it
 * worst. */
#include "bench/compare/allclose.h"

#include "base/core/arena.h"
#include "base/sys/threads.h"
#include "bench/compare/exact_priv.h"
#include "ir/core/element.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0
#error "allclose.c needs float and double expressions evaluated in their own type (SSE2 or later)"
#endif

typedef struct Elem {
	double f;  /* the value of a float element */
	int64_t i; /* the value of an integer or bool element; the ordered bit pattern of a float */
} Elem;

PmCloseRule pm_close_rule(PmPreset preset)
{
	if (preset == PM_PRESET_PASSNET)
		return (PmCloseRule){ PM_ARITH_CUDA, 1, 1, 0 };
	return (PmCloseRule){ PM_ARITH_EXACT, 0, 0, 1 };
}

/* Maps sign-and-magnitude bits to integers in the order of the values; both zeros give 0. */
static int64_t ordered(uint64_t bits, int width)
{
	uint64_t sign = 1ull << (width - 1);

	return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static Elem load(int dtype, const void *data, int64_t k)
{
	Elem e = { 0, 0 };

	size_t size = pm_dtype_size(dtype);
	const char *p = (const char *)data + k * (int64_t)size;
	uint64_t bits = 0;

	if (!pm_dtype_is_float(dtype)) {
		e.i = pm_int_load(dtype, p);
		return e;
	}
	memcpy(&bits, p, size); /* little-endian, as elements are */
	e.f = pm_float_load(dtype, p);
	e.i = ordered(bits, 8 * (int)size);
	return e;
}

static int same(int is_float, Elem x, Elem y, int nan_matches_nan)
{
	if (!is_float)
		return x.i == y.i;
	return x.f == y.f || (nan_matches_nan && isnan(x.f) && isnan(y.f));
}

/* One rounding to a 16-bit type, or none. */
static float step(int dtype, float v)
{
	return pm_dtype_is_half(dtype) ? (float)pm_float_round(dtype, v) : v;
}

/* The rounded rule for two elements known to be unequal; rtol multiplies y. Every operation stands in a
 * statement of its own so that no compiler may fuse a product into a sum. */
static int rounded_close(int dtype, PmCloseArith arith, Elem x, Elem y, const PmTol *tol)
{
	float fx, fy, atol = (float)tol->atol, rtol = (float)tol->rtol, prod, sum, diff;

	if (dtype == PM_F64) {
		double dprod = tol->rtol * y.f, dsum, ddiff;

		dsum = tol->atol + fabs(dprod);
		ddiff = fabs(x.f - y.f);
		return isfinite(ddiff) && ddiff <= dsum;
	}
	if (pm_dtype_is_float(dtype)) {
		fx = (float)x.f;
		fy = (float)y.f;
		if (arith == PM_ARITH_TORCH113_CPU) {
			atol = step(dtype, atol);
			rtol = step(dtype, rtol);
		}
	} else {
		fx = (float)x.i;
		fy = (float)y.i;
	}
	prod = rtol * fy;
	prod = fabsf(step(dtype, prod));
	sum = atol + prod;
	sum = step(dtype, sum);
	diff = fx - fy;
	diff = fabsf(step(dtype, diff));
	return isfinite(diff) && diff <= sum;
}

static int unequal_close(int dtype, Elem expected, Elem got, const PmTol *tol, const PmCloseRule *rule)
{
	Elem x = rule->rtol_on_candidate ? expected : got, y = rule->rtol_on_candidate ? got : expected;

	if (rule->arith != PM_ARITH_EXACT)
		return rounded_close(dtype, rule->arith, x, y, tol);
	if (pm_dtype_is_float(dtype))
		return pm__exact_close_f64(x.f, y.f, tol);
	return pm__exact_close_i64(x.i, y.i, tol);
}

/* A walk over two tensors broadcast against each other. */
typedef struct Walk {
	int rank, is_float;
	int64_t numel, dim[PM_MAX_RANK], at[PM_MAX_RANK], step_e[PM_MAX_RANK], step_g[PM_MAX_RANK];
	int64_t e, g; /* element positions */
} Walk;

static int well_formed(const PmTensorView *v)
{
	if (v->rank < 0 || v->rank > PM_MAX_RANK || pm_dtype_size(v->dtype) == 0 || (v->rank && !v->dim))
		return 0;
	for (int i = 0; i < v->rank; i++) {
		if (v->dim[i] < 0)
			return 0;
	}
	return 1;
}

static int same_shape(const PmTensorView *a, const PmTensorView *b)
{
	return a->rank == b->rank &&
	       (a->rank == 0 || memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0);
}

/* The dimension of v that lines up with dimension i of a result of rank `rank`. */
static int64_t aligned(const PmTensorView *v, int rank, int i)
{
	int k = i - (rank - v->rank);

	return k < 0 ? 1 : v->dim[k];
}

static int walk_start(Walk *w, const PmTensorView *e, const PmTensorView *g)
{
	int64_t run_e = 1, run_g = 1;

	memset(w, 0, sizeof *w);
	w->is_float = pm_dtype_is_float(e->dtype);
	w->rank = e->rank > g->rank ? e->rank : g->rank;
	w->numel = 1;
	for (int i = w->rank - 1; i >= 0; i--) {
		int64_t de = aligned(e, w->rank, i), dg = aligned(g, w->rank, i);

		if (de != dg && de != 1 && dg != 1)
			return 0;
		w->dim[i] = de == 1 ? dg : de;
		w->step_e[i] = de == 1 ? 0 : run_e;
		w->step_g[i] = dg == 1 ? 0 : run_g;
		if (!pm_mul_i64(run_e, de, &run_e) || !pm_mul_i64(run_g, dg, &run_g) ||
		    !pm_mul_i64(w->numel, w->dim[i], &w->numel))
			return 0;
	}
	return w->numel == 0 || (e->data && g->data);
}

static void walk_next(Walk *w)
{
	for (int i = w->rank - 1; i >= 0; i--) {
		w->e += w->step_e[i];
		w->g += w->step_g[i];
		if (++w->at[i] < w->dim[i])
			return;
		w->e -= w->step_e[i] * w->dim[i];
		w->g -= w->step_g[i] * w->dim[i];
		w->at[i] = 0;
	}
}

/* Prepares w; 0 when the two may not be compared under the rule. */
static int comparable(Walk *w, const PmTensorView *e, const PmTensorView *g, const PmCloseRule *rule)
{
	if (!well_formed(e) || !well_formed(g) || e->dtype != g->dtype)
		return 0;
	if (!rule->broadcast && !same_shape(e, g))
		return 0;
	return walk_start(w, e, g);
}

int pm_tensors_equal(const PmTensorView *expected, const PmTensorView *got, const PmCloseRule *rule)
{
	PmCloseRule strict = *rule;
	Walk w;

	strict.broadcast = 0;
	if (!comparable(&w, expected, got, &strict))
		return 0;
	for (int64_t k = 0; k < w.numel; k++, walk_next(&w)) {
		Elem x = load(expected->dtype, expected->data, w.e), y = load(got->dtype, got->data, w.g);

		if (!same(w.is_float, x, y, rule->nan_matches_nan))
			return 0;
	}
	return 1;
}

int pm_tensors_close(const PmTensorView *expected, const PmTensorView *got, const PmTol *tol,
		     const PmCloseRule *rule)
{
	Walk w;

	if (!comparable(&w, expected, got, rule))
		return -1;
	for (int64_t k = 0; k < w.numel; k++, walk_next(&w)) {
		Elem x = load(expected->dtype, expected->data, w.e), y = load(got->dtype, got->data, w.g);

		if (!same(w.is_float, x, y, rule->nan_matches_nan) &&
		    !unequal_close(expected->dtype, x, y, tol, rule))
			return 0;
	}
	return 1;
}

static int f32_surely_close(const float *x, const float *y, int64_t n, float atol, float rtol)
{
	int64_t close = 0;

	for (int64_t i = 0; i < n; i++) {
		float d = fabsf(x[i] - y[i]);

		close += (d <= atol + rtol * fabsf(x[i])) & (d < INFINITY);
	}
	return close == n;
}

static int f64_surely_close(const double *x, const double *y, int64_t n, double atol, double rtol)
{
	int64_t close = 0;

	for (int64_t i = 0; i < n; i++) {
		double d = fabs(x[i] - y[i]);

		close += (d <= atol + rtol * fabs(x[i])) & (d < INFINITY);
	}
	return close == n;
}

static int half_surely_close(int dtype, const char *x, const char *y, int64_t n, double atol, double rtol)
{
	int64_t close = 0;

	for (int64_t i = 0; i < n; i++) {
		double a = pm_float_load(dtype, x + 2 * i), d = fabs(a - pm_float_load(dtype, y + 2 * i));

		close += (d <= atol + rtol * fabs(a)) & (d < INFINITY);
	}
	return close == n;
}

int pm_surely_close(const PmTensorView *expected, const PmTensorView *got, int t)
{
	int64_t n = 1;
	PmTol tol;

	if (!well_formed(expected) || !well_formed(got) || expected->dtype != got->dtype ||
	    !same_shape(expected, got) || !pm_dtype_is_float(expected->dtype) ||
	    !pm_tol(expected->dtype, t, &tol))
		return 0;
	for (int i = 0; i < expected->rank; i++)
		if (!pm_mul_i64(n, expected->dim[i], &n))
			return 0;
	if (n && (!expected->data || !got->data))
		return 0;
	tol.atol /= 2;
	tol.rtol /= 2;
	if (expected->dtype == PM_F32)
		return f32_surely_close(expected->data, got->data, n, (float)tol.atol, (float)tol.rtol);
	if (expected->dtype == PM_F64)
		return f64_surely_close(expected->data, got->data, n, tol.atol, tol.rtol);
	return pm_dtype_is_half(expected->dtype) &&
	       half_surely_close(expected->dtype, expected->data, got->data, n, tol.atol, tol.rtol);
}

/* |x.i - y.i|, which may need all 64 bits. */
static double steps(Elem x, Elem y)
{
	return (double)(x.i > y.i ? (uint64_t)x.i - (uint64_t)y.i : (uint64_t)y.i - (uint64_t)x.i);
}

/* How far off an unequal pair is; +inf when one side has no finite value. */
static double badness(int is_float, Elem x, Elem y, const PmTol *unit, double *abs_diff)
{
	if (!is_float) {
		*abs_diff = steps(x, y);
		return *abs_diff;
	}
	*abs_diff = fabs(x.f - y.f);
	if (!isfinite(x.f) || !isfinite(y.f))
		return INFINITY;
	/* halves keep the difference of two huge values finite */
	return fabs(x.f / 2 - y.f / 2) / (unit->atol / 2 + unit->rtol * (fabs(x.f) / 2));
}

static void note_worst(PmWorst *worst, double *worst_badness, int is_float, Elem x, Elem y, int64_t index,
		       const PmTol *unit)
{
	double diff, bad = badness(is_float, x, y, unit, &diff);

	if (worst->index >= 0 && !(bad > *worst_badness))
		return;
	*worst_badness = bad;
	worst->index = index;
	worst->expected = is_float ? x.f : (double)x.i;
	worst->got = is_float ? y.f : (double)y.i;
	worst->abs = diff;
	worst->rel = diff / fabs(worst->expected);
	worst->ulp = is_float && (isnan(x.f) || isnan(y.f)) ? (double)INFINITY : steps(x, y);
}

/* pm_compare() in the caller alone. */
static void compare_here(const PmTensorView *expected, const PmTensorView *got, const PmCloseRule *rule,
			 PmComparison *out)
{
	const int dtype = expected->dtype;
	PmTol tol[PM_T_COUNT], unit;
	double worst_badness = 0, unused = 0;
	Walk w;
	int has_tol, first = 0; /* the strictest level that nothing has failed yet */
	int flat = dtype == PM_F32 && well_formed(expected) && well_formed(got) && same_shape(expected, got);

	*out = (PmComparison){ .smallest_t = PM_T_NEVER, .worst = { .index = -1 }, .first = { .index = -1 } };
	out->same_dtype = expected->dtype == got->dtype;
	out->same_shape = well_formed(expected) && well_formed(got) && same_shape(expected, got);
	if (!comparable(&w, expected, got, rule))
		return;
	out->comparable = 1;
	out->numel = w.numel;
	has_tol = pm_tol(dtype, -5, &unit);
	for (int i = 0; i < PM_T_COUNT; i++)
		pm_tol(dtype, PM_T_MIN + i, &tol[i]);
	for (int64_t k = 0; k < w.numel; k++, flat ? 0 : (walk_next(&w), 0)) {
		Elem x, y;

		if (flat && ((const float *)expected->data)[k] == ((const float *)got->data)[k])
			continue;
		x = load(dtype, expected->data, flat ? k : w.e);
		y = load(dtype, got->data, flat ? k : w.g);
		if (same(w.is_float, x, y, rule->nan_matches_nan))
			continue;
		out->n_different++;
		note_worst(&out->worst, &worst_badness, w.is_float, x, y, k, &unit);
		/* Tolerances grow with the level and every rounding keeps the order, so an element that is
		 * close at one level is close at all looser ones: one level to try for most elements. */
		while (first < PM_T_COUNT && (!has_tol || !unequal_close(dtype, x, y, &tol[first], rule)))
			first++;
		/* What is not close at t = -5 has failed all levels before. */
		if (first > -5 - PM_T_MIN && (!has_tol || !unequal_close(dtype, x, y, &unit, rule)) &&
		    !out->n_wrong++)
			note_worst(&out->first, &unused, w.is_float, x, y, k, &unit);
	}
	out->equal = out->same_shape && out->n_different == 0;
	for (int i = 0; i < PM_T_COUNT; i++)
		out->close[i] = (signed char)(has_tol ? i >= first : out->equal);
	out->smallest_t = pm_smallest_t(out->close);
}

/* Of a pair of floating-point numbers, as note_worst() had them. */
static double badness_again(int dtype, const PmWorst *w)
{
	PmTol unit;
	double diff;

	pm_tol(dtype, -5, &unit);
	return badness(1, (Elem){ w->expected, 0 }, (Elem){ w->got, 0 }, &unit, &diff);
}

void pm_comparison_join(PmComparison *all, const PmComparison *part, int64_t at, int dtype)
{
	if (!all->numel && !all->comparable) {
		*all = *part;
		return;
	}
	all->same_dtype &= part->same_dtype;
	all->same_shape &= part->same_shape;
	all->comparable &= part->comparable;
	all->equal &= part->equal;
	if (part->worst.index >= 0 && (all->worst.index < 0 || badness_again(dtype, &part->worst) >
								       badness_again(dtype, &all->worst))) {
		all->worst = part->worst;
		all->worst.index += at;
	}
	if (part->first.index >= 0 && all->first.index < 0) {
		all->first = part->first;
		all->first.index += at;
	}
	all->numel += part->numel;
	all->n_different += part->n_different;
	all->n_wrong += part->n_wrong;
	for (int t = 0; t < PM_T_COUNT; t++)
		all->close[t] = (signed char)(all->close[t] && part->close[t]);
	all->smallest_t = pm_smallest_t(all->close);
}

/* ---- large tensors: parts of them at once ---- */

enum { PART = 1 << 17 }; /* elements */

typedef struct Parts {
	const PmTensorView *expected, *got;
	const PmCloseRule *rule;
	int64_t numel;
	PmComparison *found; /* by part */
} Parts;

static void compare_parts(void *arg, int64_t from, int64_t to)
{
	const Parts *p = arg;
	int64_t size = (int64_t)pm_dtype_size(p->expected->dtype);

	for (int64_t k = from; k < to; k++) {
		int64_t at = k * PART, n = p->numel - at < PART ? p->numel - at : PART;
		PmTensorView e = { p->expected->dtype, 1, &n, (const char *)p->expected->data + at * size };
		PmTensorView g = { p->got->dtype, 1, &n, (const char *)p->got->data + at * size };

		compare_here(&e, &g, p->rule, &p->found[k]);
	}
}

/* Elements of two floating-point tensors that may be compared in parts; 0 where they may not be. */
static int64_t in_parts(const PmTensorView *expected, const PmTensorView *got)
{
	int64_t n = 1;

	if (!well_formed(expected) || !well_formed(got) || expected->dtype != got->dtype ||
	    !same_shape(expected, got) || !pm_dtype_is_float(expected->dtype) || !expected->data ||
	    !got->data)
		return 0;
	for (int i = 0; i < expected->rank; i++)
		if (!pm_mul_i64(n, expected->dim[i], &n))
			return 0;
	return n > PART ? n : 0;
}

void pm_compare(const PmTensorView *expected, const PmTensorView *got, const PmCloseRule *rule,
		PmComparison *out)
{
	Parts p = { expected, got, rule, in_parts(expected, got), NULL };
	int64_t n = (p.numel + PART - 1) / PART;

	if (!n) {
		compare_here(expected, got, rule, out);
		return;
	}
	p.found = pm_xcalloc((size_t)n, sizeof *p.found);
	pm_threads_run(n, 1, compare_parts, &p);
	*out = p.found[0];
	for (int64_t k = 1; k < n; k++)
		pm_comparison_join(out, &p.found[k], k * PART, expected->dtype);
	free(p.found);
}
