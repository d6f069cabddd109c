/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound_softmax.c - honest float32 softmax kernels over few long rows stay within the error bound,
 * cheats do not.
 *
 * A plain loop's sum drifts one way where many terms are as small as its last digit (one far larger element
 * in a row, class tail), or equal (the zeros and denormals of class special), and all elements of a row have
 * that error in common. Of rows of any magnitude (class range) one alone may have elements that are not 0
 * or 1.
 */
#include "bench/compare/bound/bound.h"
#include "bench/inputs/inputs.h"
#include "ir/text/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef __SANITIZE_ADDRESS__
enum {
	SEEDS = 1,
	RANGE_SEEDS = 1
}; /* all shapes, ways and cheats; another seed reads and writes the same places */
#else
enum { SEEDS = 4, RANGE_SEEDS = 16 };
#endif

/* How a program sums: in one loop; with the largest so far; eight threads; blocks merged as online sums. */
typedef enum { SERIAL, BACKWARDS, ONLINE, EIGHT, BLOCKS, N_WAYS } Way;
/* What a program does wrong. */
typedef enum { NOTHING, ONE_IN_A_HUNDRED, TOO_LARGE, ZEROS, CONSTANT, NEXT_ROW, N_CHEATS } Cheat;

static const char *const ways[] = { "serial", "backwards", "online", "eight threads", "blocks" };
static const char *const cheats[] = { "nothing", "drops 1 %", "1.0001 times",
				      "zeros",   "constant",  "the next row" };

typedef struct Sum {
	float top, sum;
} Sum;

/* The sum goes on with a term, or with the sum `more` of others. */
static Sum merged(Sum s, Sum more)
{
	Sum t = { .top = fmaxf(s.top, more.top) };
	volatile float a = s.sum * (s.top == t.top ? 1 : expf(s.top - t.top));
	volatile float b = more.sum * (more.top == t.top ? 1 : expf(more.top - t.top));

	t.sum = t.top == -INFINITY ? 0 : a + b;
	return t;
}

static Sum row_sum(const float *x, int n, Way way, Cheat cheat)
{
	Sum s = { .top = -INFINITY }, part[8];
	volatile float sum[8] = { 0 };
	int lanes = way == EIGHT ? 8 : 1;

	if (way == ONLINE) {
		for (int j = 0; j < n; j++)
			s = merged(s, (Sum){ x[j], 1 });
		return s;
	}
	for (int j = 0; j < n; j++)
		s.top = fmaxf(s.top, x[j]);
	if (way == BLOCKS) {
		for (int b = 0; b < 8; b++) {
			part[b] = (Sum){ .top = -INFINITY };
			for (int j = b * n / 8; j < (b + 1) * n / 8; j++)
				part[b] = merged(part[b], (Sum){ x[j], 1 });
		}
		s = part[0];
		for (int b = 1; b < 8; b++)
			s = merged(s, part[b]);
		return s;
	}
	for (int j = 0; j < n; j++) {
		int i = way == BACKWARDS ? n - 1 - j : j;

		if (cheat != ONE_IN_A_HUNDRED || i % 100 != 99)
			sum[j % lanes] += expf(x[i] - s.top);
	}
	for (int k = 0; k < lanes; k++)
		s.sum += sum[k];
	return s;
}

static void softmax(const float *x, float *y, int rows, int n, Way way, Cheat cheat)
{
	for (int r = 0; r < rows; r++) {
		const float *from = x + (cheat == NEXT_ROW ? (r + 1) % rows : r) * n;
		Sum s = row_sum(from, n, way, cheat);
		float inv = 1 / s.sum;

		for (int j = 0; j < n; j++) {
			float e = expf(from[j] - s.top);

			y[r * n + j] = cheat == ZEROS       ? 0
				       : cheat == CONSTANT  ? 1 / (float)n
				       : cheat == TOO_LARGE ? e * inv * 1.0001f
				       : way == ONLINE      ? e * inv
							    : e / s.sum;
		}
	}
}

typedef struct Count {
	int n, refused, wrong[N_CHEATS];
} Count;

/* One draw of inputs: each honest way has to pass; counts. */
static void trial(int rows, int n, PmInputClass cls, uint64_t seed, Count *count)
{
	PmGraph *g;
	PmTensor x, got;
	PmBound b;
	PmReached reached;
	PmErr err;
	char text[128];

	pm_err_init(&err);
	snprintf(text, sizeof text, "g (float[%d,%d] x) => (float[%d,%d] y) { y = Softmax<axis = 1>(x) }",
		 rows, n, rows, n);
	if (pm_graph_parse(text, strlen(text), &g, &err) ||
	    pm_inputs_defined(g, seed, cls, 0, &x, &reached, NULL, &err) ||
	    pm_tensor_init(&got, pm_value_type(g, pm_graph_output(g, 0)), &err) ||
	    pm_bound_run(g, &x, 1, PM_TIER_STRICT, &b, 1, &err))
		fail_msg("%s: %s", text, err.text);
	for (int way = 0; way < N_WAYS; way++) {
		PmBoundFit f;

		softmax(x.data, got.data, rows, n, (Way)way, NOTHING);
		pm_bound_fit(&b, &got, &f);
		count->n++;
		count->refused += !f.within;
		if (!f.within)
			printf("# %s, %d x %d, %s, seed %llu: max %.3g, rms %.3g, bias %.3g, slope %.3g\n",
			       ways[way], rows, n, pm_input_class_name(cls), (unsigned long long)seed, f.max,
			       f.rms, f.bias, f.slope);
	}
	for (int cheat = 1; cheat < N_CHEATS; cheat++) {
		PmBoundFit f;

		softmax(x.data, got.data, rows, n, SERIAL, (Cheat)cheat);
		pm_bound_fit(&b, &got, &f);
		count->wrong[cheat] += f.within;
	}
	pm_bounds_release(&b, 1);
	pm_tensor_release(&x);
	pm_tensor_release(&got);
	pm_graph_free(g);
}

static void few_long_rows(void **state)
{
	static const int rows[] = { 7, 17, 31 }, cols[] = { 1000, 2048, 4093 };
	static const PmInputClass classes[] = { PM_INPUTS_NORMAL, PM_INPUTS_TAIL, PM_INPUTS_SPECIAL };
	int refused = 0, n = 0, wrong = 0;

	(void)state;
	for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
		for (size_t c = 0; c < 3; c++)
			for (size_t r = 0; r < 3; r++) {
				Count count = { 0 };

				for (int s = 0; s < SEEDS; s++)
					trial(rows[r], cols[c], classes[k], 100 + (uint64_t)s, &count);
				refused += count.refused;
				n += count.n;
				for (int w = 1; w < N_CHEATS; w++) {
					wrong += count.wrong[w];
					if (count.wrong[w])
						print_error("%s %d x %d: '%s' passes in %d of %d seeds\n",
							    pm_input_class_name(classes[k]), rows[r], cols[c],
							    cheats[w], count.wrong[w], SEEDS);
				}
			}
	printf("# %d of %d honest results are refused\n", refused, n);
	assert_int_equal(wrong, 0);
	assert_int_equal(refused, 0);
}

/* Where all but one or two elements of most rows are 0 nothing is evidence, so that cheats are not counted.
 */
static void rows_of_any_size(void **state)
{
	static const int cols[] = { 2048, 4093 };
	Count count = { 0 };

	(void)state;
	for (size_t c = 0; c < 2; c++)
		for (int s = 0; s < RANGE_SEEDS; s++)
			trial(31, cols[c], PM_INPUTS_RANGE, 100 + (uint64_t)s, &count);
	printf("# %d of %d honest results are refused\n", count.refused, count.n);
	assert_int_equal(count.refused, 0);
}

/* The same sums as operators of their own: honest ways are counted, and what lacks one term in a hundred. */
static void sum_trial(int rows, int n, PmInputClass cls, uint64_t seed, Count *count)
{
	PmGraph *g;
	PmTensor x, got;
	PmBound b;
	PmReached reached;
	PmErr err;
	char text[256];

	pm_err_init(&err);
	snprintf(text, sizeof text,
		 "g (float[%d,%d] x) => (float[%d,1] y) { m = ReduceMax<axes = [1], keepdims = 1>(x)\n d = "
		 "Sub(x, "
		 "m)\n e = Exp(d)\n y = ReduceSum<axes = [1], keepdims = 1>(e) }",
		 rows, n, rows);
	if (pm_graph_parse(text, strlen(text), &g, &err) ||
	    pm_inputs_defined(g, seed, cls, 0, &x, &reached, NULL, &err) ||
	    pm_tensor_init(&got, pm_value_type(g, pm_graph_output(g, 0)), &err) ||
	    pm_bound_run(g, &x, 1, PM_TIER_STRICT, &b, 1, &err))
		fail_msg("%s: %s", text, err.text);
	for (int way = 0; way < N_WAYS; way++)
		for (int cheat = NOTHING; way != ONLINE && way != BLOCKS && cheat <= ONE_IN_A_HUNDRED;
		     cheat++) {
			PmBoundFit f;

			for (int r = 0; r < rows; r++)
				((float *)got.data)[r] =
					row_sum((float *)x.data + r * n, n, (Way)way, (Cheat)cheat).sum;
			pm_bound_fit(&b, &got, &f);
			count->wrong[cheat] += f.within;
			if (cheat)
				continue;
			count->n++;
			count->refused += !f.within;
			if (!f.within)
				printf("# sum %s, %d x %d, %s, seed %llu: max %.3g, rms %.3g, bias %.3g, "
				       "slope %.3g\n",
				       ways[way], rows, n, pm_input_class_name(cls), (unsigned long long)seed,
				       f.max, f.rms, f.bias, f.slope);
		}
	pm_bounds_release(&b, 1);
	pm_tensor_release(&x);
	pm_tensor_release(&got);
	pm_graph_free(g);
}

static void sums_of_long_rows(void **state)
{
	static const int rows[] = { 7, 31, 200 };
	static const PmInputClass classes[] = { PM_INPUTS_NORMAL, PM_INPUTS_TAIL, PM_INPUTS_SPECIAL };
	Count count = { 0 };

	(void)state;
	for (int k = 0; k < 3; k++)
		for (int r = 0; r < 3; r++)
			for (int s = 0; s < SEEDS; s++)
				sum_trial(rows[r], 4093, classes[k], 300 + (uint64_t)s, &count);
	printf("# %d of %d honest sums are refused\n", count.refused, count.n);
	assert_int_equal(count.refused, 0);
	assert_int_equal(count.wrong[ONE_IN_A_HUNDRED], 0);
}

/* ---- one term ---- */

enum { LINES = 1024 };

typedef struct Single {
	PmGraph *g;
	PmTensor in[2], got;
	PmBound b;
	PmErr err;
} Single;

static void single_open(Single *s, const char *text)
{
	size_t n_in;

	memset(s, 0, sizeof *s);
	pm_err_init(&s->err);
	if (pm_graph_parse(text, strlen(text), &s->g, &s->err))
		fail_msg("%s: %s", text, s->err.text);
	n_in = pm_graph_n_inputs(s->g);
	if (pm_inputs_defined(s->g, 5, PM_INPUTS_NORMAL, 0, s->in, &(PmReached){ 0 }, NULL, &s->err) ||
	    pm_tensor_init(&s->got, pm_value_type(s->g, pm_graph_output(s->g, 0)), &s->err) ||
	    pm_bound_run(s->g, s->in, n_in, PM_TIER_STRICT, &s->b, 1, &s->err))
		fail_msg("%s: %s", text, s->err.text);
}

static void single_close(Single *s)
{
	pm_bounds_release(&s->b, 1);
	pm_tensors_release(s->in, pm_graph_n_inputs(s->g));
	pm_tensor_release(&s->got);
	pm_graph_free(s->g);
}

/* exp(x - m) in one fused operation, as 2^(x log2 e - m log2 e): what is left where x = m differs by line. */
static float fused(float x, float m)
{
	const float log2e = 1.44269504f;
	volatile float shift = m * log2e;

	return exp2f(fmaf(x, log2e, -shift));
}

/* log(sum exp) of one number is that number. Programs are off by what a fused operation leaves; none is off
 * by one factor, or by one number, in all lines. */
static void logarithm_of_one(void **state)
{
	Single s;
	const float *x;
	PmBoundFit f;

	(void)state;
	single_open(&s,
		    "g (float[1024,1] x) => (float[1024,1] y) { m = ReduceMax<axes = [1], keepdims = 1>(x)\n "
		    "d = Sub(x, m)\n e = Exp(d)\n t = ReduceSum<axes = [1], keepdims = 1>(e)\n l = Log(t)\n "
		    "y = Add(l, m) }");
	x = s.in[0].data;
	for (int k = 0; k < 4; k++) {
		for (int64_t i = 0; i < LINES; i++) {
			float y = k == 0 ? x[i] : x[i] + logf(fused(x[i], x[i]));

			pm_tensor_set(&s.got, i,
				      (double)(k == 2   ? y + 4 * 0x1p-24f
					       : k == 3 ? y * (1 + 4 * 0x1p-24f)
							: y));
		}
		pm_bound_fit(&s.b, &s.got, &f);
		if (f.within != (k < 2))
			fail_msg("case %d: rms %.3g, max %.3g, bias %.3g, slope %.3g", k, f.rms, f.max,
				 f.bias, f.slope);
	}
	single_close(&s);
}

/* One key has all of the weight: each line has its own rounding of that, and not the same one. */
static void weight_of_one(void **state)
{
	Single s;
	PmBoundFit f;

	(void)state;
	single_open(&s, "g (float[1024,1] x, float[1,4] v) => (float[1024,4] y) { p = Softmax<axis = 1>(x)\n "
			"y = MatMul(p, v) }");
	for (int k = 0; k < 3; k++) {
		const float *x = s.in[0].data, *v = s.in[1].data;

		for (int64_t i = 0; i < 4 * LINES; i++) {
			float e = fused(x[i / 4], x[i / 4]), inv = 1 / e;

			pm_tensor_set(&s.got, i,
				      (double)(k == 0   ? v[i % 4]
					       : k == 1 ? e * v[i % 4] * inv
							: v[i % 4] * (1 + 4 * 0x1p-24f)));
		}
		pm_bound_fit(&s.b, &s.got, &f);
		if (f.within != (k < 2))
			fail_msg("case %d: rms %.3g, max %.3g, bias %.3g, slope %.3g", k, f.rms, f.max,
				 f.bias, f.slope);
	}
	single_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(few_long_rows),
					    cmocka_unit_test(rows_of_any_size),
					    cmocka_unit_test(sums_of_long_rows),
					    cmocka_unit_test(logarithm_of_one),
					    cmocka_unit_test(weight_of_one) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
