/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound_drift.c - the deviation that the error bound allows a long sum is the one that plain loops have.
 *
 * A softmax of one row: the error of its sum is common to all results. Plain loops in float add the same
 * terms in many orders. Their errors are held against the bound's standard deviation: it has to be about as
 * large as their root mean square, where it is all steps (numbers of no particular size), and where it is
 * nearly all drift (numbers close to each other, few different ones, one large among many small).
 */
#include "base/core/arena.h"
#include "base/core/rng.h"
#include "bench/compare/bound/bound.h"
#include "ir/text/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ORDERS = 40 };

typedef enum { NORMAL, CLOSE, INTEGERS, LARGE_ONE, N_KINDS } Kind;

static const char *const kinds[] = { "normal", "close", "integers", "one large" };

static float number(Kind kind, int64_t i, PmRng *r)
{
	switch (kind) {
	case CLOSE:
		return (float)(1e-3 * pm_rng_normal(r));
	case INTEGERS:
		return (float)pm_rng_range(r, -4, 4);
	case LARGE_ONE:
		return (float)(pm_rng_normal(r) + (i == 0 ? 9 : 0));
	default:
		return (float)pm_rng_normal(r);
	}
}

/* How far a plain loop's sum is off, over it, in units of 2^-24; the terms are put in another order first. */
static double loop_error(float *term, int64_t n, PmRng *r)
{
	float sum = 0;
	double exact = 0;

	for (int64_t i = n - 1; i > 0; i--) {
		int64_t j = pm_rng_range(r, 0, i);
		float t = term[i];

		term[i] = term[j];
		term[j] = t;
	}
	for (int64_t i = 0; i < n; i++) {
		sum += term[i];
		exact += (double)term[i];
	}
	return ((double)sum - exact) / exact * 0x1p24;
}

/* The bound's standard deviation of a sum, in the same units: of a softmax of x the factor that all results
 * have in common, or of a ReduceSum of the terms x. */
static double allowed(const float *x, int64_t n, int is_softmax)
{
	double s = 0;
	PmGraph *g;
	PmTensor in;
	PmBound b;
	PmErr err;
	char text[128];

	pm_err_init(&err);
	snprintf(text, sizeof text, "g (float[1,%lld] x) => (float[1,%lld] y) { y = %s(x) }", (long long)n,
		 (long long)(is_softmax ? n : 1),
		 is_softmax ? "Softmax<axis = 1>" : "ReduceSum<axes = [1], keepdims = 1>");
	if (pm_graph_parse(text, strlen(text), &g, &err) ||
	    pm_tensor_init(&in, pm_value_type(g, pm_graph_input(g, 0)), &err))
		fail_msg("%s: %s", text, err.text);
	memcpy(in.data, x, (size_t)n * sizeof *x);
	if (pm_bound_run(g, &in, 1, PM_TIER_STRICT, &b, 1, &err))
		fail_msg("%s: %s", text, err.text);
	for (int64_t i = 0; i < b.y.numel; i++)
		s = fmax(s, (is_softmax ? b.shared : b.unit)[i] / b.y.f[i] * 0x1p24);
	pm_bounds_release(&b, 1);
	pm_tensor_release(&in);
	pm_graph_free(g);
	return s;
}

static void check(Kind kind, int64_t n, uint64_t seed)
{
	float *x = pm_xcalloc((size_t)n, sizeof *x), *term = pm_xcalloc((size_t)n, sizeof *term), top = -1e9f;
	double square = 0, worst = 0, rms, of_softmax, of_sum;
	PmRng r;

	pm_rng_init_named(&r, seed, "drift");
	for (int64_t i = 0; i < n; i++) {
		x[i] = number(kind, i, &r);
		top = fmaxf(top, x[i]);
	}
	for (int64_t i = 0; i < n; i++)
		term[i] = expf(x[i] - top);
	for (int k = 0; k < ORDERS; k++) {
		double e = loop_error(term, n, &r);

		square += e * e / ORDERS;
		worst = fmax(worst, fabs(e));
	}
	of_softmax = allowed(x, n, 1);
	of_sum = allowed(term, n, 0);
	rms = sqrt(square);
	printf("# %s, %lld terms: loops are off by %.3g (%.3g at most), the bound says %.3g and %.3g\n",
	       kinds[kind], (long long)n, rms, worst, of_softmax, of_sum);
	free(x);
	free(term);
	/* As large as the error is, and no more than about twice that (the errors of a softmax beside its sum
	 * are variances too). An online sum adds few different terms on another scale first, where they may
	 * be rounded otherwise: more is allowed for them. */
	assert_true(of_softmax >= 0.8 * rms && of_sum >= 0.8 * rms);
	assert_true(kind == INTEGERS || (of_softmax <= 1.75 * rms && of_sum <= 2.2 * rms));
}

static void as_loops_drift(void **state)
{
	static const int64_t sizes[] = { 1024, 8192, 131072 };

	(void)state;
	for (int kind = 0; kind < N_KINDS; kind++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
			check((Kind)kind, sizes[s], 3 + s);
}

/* A graph, its operands, and results that are held against the bound. */
typedef struct Judged {
	PmGraph *g;
	PmTensor in[3], got;
	PmBound b;
	PmErr err;
} Judged;

static void judged_begin(Judged *j, const char *text)
{
	pm_err_init(&j->err);
	if (pm_graph_parse(text, strlen(text), &j->g, &j->err) ||
	    pm_tensor_init(&j->got, pm_value_type(j->g, pm_graph_output(j->g, 0)), &j->err))
		fail_msg("%s: %s", text, j->err.text);
	for (size_t k = 0; k < pm_graph_n_inputs(j->g); k++)
		if (pm_tensor_init(&j->in[k], pm_value_type(j->g, pm_graph_input(j->g, k)), &j->err))
			fail_msg("%s: %s", text, j->err.text);
}

/* Once the operands are there. */
static void judged_bound(Judged *j)
{
	if (pm_bound_run(j->g, j->in, pm_graph_n_inputs(j->g), PM_TIER_STRICT, &j->b, 1, &j->err))
		fail_msg("%s", j->err.text);
}

static void judged_end(Judged *j)
{
	pm_bounds_release(&j->b, 1);
	for (size_t k = 0; k < pm_graph_n_inputs(j->g); k++)
		pm_tensor_release(&j->in[k]);
	pm_tensor_release(&j->got);
	pm_graph_free(j->g);
}

/* Each row of numbers close to `centre` drifts the same way: the mean error over all rows is no sign of a
 * wrong kernel. What is off by as much again is. */
static void rows_drift_alike(double centre)
{
	enum { ROWS = 500, COLS = 8192 };
	char text[128];
	PmBoundFit f, wrong;
	Judged c;
	PmRng r;

	pm_rng_init_named(&r, 1, "rows");
	snprintf(text, sizeof text,
		 "g (float[%d,%d] x) => (float[%d,1] y) { y = ReduceSum<axes = [1], keepdims = 1>(x) }", ROWS,
		 COLS, ROWS);
	judged_begin(&c, text);
	for (int64_t i = 0; i < ROWS; i++) {
		double here = centre * (1 + 4e-5 * (pm_rng_uniform(&r) - 0.5));
		float sum = 0;

		for (int64_t j = 0; j < COLS; j++) {
			float v = (float)(here * (1 + 1e-5 * pm_rng_normal(&r)));

			pm_tensor_set(&c.in[0], i * COLS + j, (double)v);
			sum += v;
		}
		pm_tensor_set(&c.got, i, (double)sum);
	}
	judged_bound(&c);
	pm_bound_fit(&c.b, &c.got, &f);
	for (int64_t i = 0; i < ROWS; i++)
		pm_tensor_set(&c.got, i, 3 * pm_tensor_get(&c.got, i) - 2 * c.b.y.f[i]);
	pm_bound_fit(&c.b, &c.got, &wrong);
	printf("# rows at %g: bias %.3g, rms %.3g; three times as far off: bias %.3g, rms %.3g\n", centre,
	       f.bias, f.rms, wrong.bias, wrong.rms);
	judged_end(&c);
	assert_true(f.within && f.bias > 0.7);
	assert_false(wrong.within);
}

static void many_rows(void **state)
{
	(void)state;
	rows_drift_alike(0.5513);
}

typedef struct Rows {
	const char *text;
	int squares, root, mean;
} Rows;

/* The results of plain loops; with `lacking` every hundredth term is left out. */
static void plain_loops(const Rows *k, const PmTensor *in, int64_t cols, int lacking, PmTensor *got)
{
	for (int64_t i = 0; i < pm_tensor_numel(got); i++) {
		float sum = 0;

		for (int64_t j = 0; j < cols; j++) {
			float v = (float)pm_tensor_get(in, i * cols + j);

			if (lacking && j % 100 == 99)
				continue;
			sum = k->squares ? fmaf(v, v, sum) : sum + v;
		}
		pm_tensor_set(got, i, (double)(k->root ? sqrtf(sum) : k->mean ? sum / (float)cols : sum));
	}
}

/* One term of each row is `large`: beside it others are as small as the sum's last digit. */
static void rows_with_one(const Rows *k, double large, uint64_t seed, int *refused, int *wrong)
{
	enum { ROWS = 31, COLS = 4093 };
	PmBoundFit f;
	Judged c;
	PmRng r;

	pm_rng_init_named(&r, seed, "one large");
	judged_begin(&c, k->text);
	for (int64_t i = 0; i < (int64_t)ROWS * COLS; i++)
		pm_tensor_set(&c.in[0], i, fabs(pm_rng_normal(&r)));
	for (int64_t i = 0; i < ROWS && large > 0; i++)
		pm_tensor_set(&c.in[0], i * COLS + pm_rng_range(&r, 0, COLS / 2),
			      large * (1 + pm_rng_uniform(&r)));
	judged_bound(&c);
	plain_loops(k, &c.in[0], COLS, 0, &c.got);
	pm_bound_fit(&c.b, &c.got, &f);
	*refused += !f.within;
	if (!f.within)
		printf("# %s, one of %g: max %.3g, rms %.3g, bias %.3g\n", k->text, large, f.max, f.rms,
		       f.bias);
	plain_loops(k, &c.in[0], COLS, 1, &c.got);
	pm_bound_fit(&c.b, &c.got, &f);
	*wrong += f.within;
	judged_end(&c);
}

static void one_large_term(void **state)
{
	static const Rows rows[] = {
		{ "g (float[31,4093] x) => (float[31] y) { y = ReduceL2<axes = [1], keepdims = 0>(x) }", 1, 1,
		  0 },
		{ "g (float[31,4093] x) => (float[31] y) { y = ReduceSumSquare<axes = [1], keepdims = 0>(x) "
		  "}",
		  1, 0, 0 },
		{ "g (float[31,1,4093] x) => (float[31,1,1] y) { y = GlobalAveragePool(x) }", 0, 0, 1 },
	};
	static const double large[] = { 0, 100, 2000, 9000, 1e5, 3e7 };
	int refused = 0, wrong = 0;

	(void)state;
	for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
		for (size_t i = 0; i < sizeof large / sizeof *large; i++)
			for (uint64_t seed = 1; seed < 4; seed++) {
				int passes = 0;

				rows_with_one(&rows[k], large[i], seed, &refused, &passes);
				wrong += large[i] < 1 ? passes : 0;
			}
	assert_int_equal(refused, 0);
	assert_int_equal(wrong, 0);
}

/* ---- norms ---- */

enum { NORM_ROWS = 31, NORM_COLS = 4093 };
typedef enum Passes { RMS, ONE_PASS, TWO_PASSES } Passes;
typedef enum Terms {
	USUAL,
	ONES,
	LONE,
	N_TERMS
} Terms; /* normal; -1, 0 and 1; one of 2,000 beside normal ones */

static double term_of(Terms kind, int64_t at, PmRng *r)
{
	return kind == ONES                 ? (double)pm_rng_range(r, -1, 1)
	       : kind == LONE && at == 1000 ? 2000 * (1 + pm_rng_uniform(r))
					    : pm_rng_normal(r);
}

/* Plain loops in float; with `lacking` every hundredth square is left out. */
static void norm_row(const float *x, float *y, Passes how, int lacking)
{
	float sum = 0, squares = 0, mean, var;

	for (int j = 0; j < NORM_COLS; j++)
		sum += x[j];
	mean = how == RMS ? 0 : sum / NORM_COLS;
	for (int j = 0; j < NORM_COLS; j++) {
		float d = x[j] - (how == TWO_PASSES ? mean : 0);

		if (!lacking || j % 100 != 99)
			squares += d * d;
	}
	var = squares / NORM_COLS - (how == ONE_PASS ? mean * mean : 0);
	for (int j = 0; j < NORM_COLS; j++)
		y[j] = (x[j] - mean) / sqrtf(var + 1e-5f);
}

static void norms_by_plain_loops(Passes how, Terms kind, uint64_t seed)
{
	const char *text =
		how == RMS ? "g (float[31,4093] x, float[4093] s) => (float[31,4093] y) { y = "
			     "RMSNormalization<axis = 1>(x, s) }"
			   : "g (float[31,4093] x, float[4093] s, float[4093] b) => (float[31,4093] y) { y = "
			     "LayerNormalization<axis = 1>(x, s, b) }";
	PmBoundFit f;
	Judged c;
	PmRng r;

	pm_rng_init_named(&r, seed, "norms");
	judged_begin(&c, text);
	for (size_t k = 0; k < pm_graph_n_inputs(c.g); k++)
		for (int64_t i = 0; i < pm_tensor_numel(&c.in[k]); i++)
			pm_tensor_set(&c.in[k], i, k ? k == 1 : term_of(kind, i % NORM_COLS, &r));
	judged_bound(&c);
	for (int lacking = 0; lacking < 2; lacking++) {
		for (int64_t i = 0; i < NORM_ROWS; i++)
			norm_row((const float *)c.in[0].data + i * NORM_COLS,
				 (float *)c.got.data + i * NORM_COLS, how, lacking);
		pm_bound_fit(&c.b, &c.got, &f);
		if (f.within == lacking && (!lacking || kind != LONE))
			fail_msg("%s, passes %d, terms %d, lacking %d: max %.3g, rms %.3g, bias %.3g, slope "
				 "%.3g",
				 text, how, kind, lacking, f.max, f.rms, f.bias, f.slope);
	}
	judged_end(&c);
}

static void norms(void **state)
{
	(void)state;
	for (int how = RMS; how <= TWO_PASSES; how++)
		for (int kind = 0; kind < N_TERMS; kind++)
			for (uint64_t seed = 1; seed < 4; seed++)
				norms_by_plain_loops((Passes)how, (Terms)kind, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(as_loops_drift), cmocka_unit_test(many_rows),
					    cmocka_unit_test(one_large_term), cmocka_unit_test(norms) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
