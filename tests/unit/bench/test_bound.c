/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound.c - the error bound: honest float32 programs in several orders stay within it, cheats do not.
 *
 * The programs are written here, on the host's floats: they share no code with the reference or the bound.
 */
#include "base/core/half.h"
#include "base/core/rng.h"
#include "bench/compare/bound/bound.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A graph, its inputs, and a result to be judged. */
typedef struct Case {
	PmGraph *g;
	PmTensor in[4], got;
	PmBound b;
	PmErr err;
} Case;

static void setup(Case *c, const char *text)
{
	memset(c, 0, sizeof *c);
	pm_err_init(&c->err);
	c->g = pm_test_graph(text);
	for (size_t k = 0; k < pm_graph_n_inputs(c->g); k++)
		if (pm_tensor_init(&c->in[k], pm_value_type(c->g, pm_graph_input(c->g, k)), &c->err))
			fail_msg("%s", c->err.text);
	if (pm_tensor_init(&c->got, pm_value_type(c->g, pm_graph_output(c->g, 0)), &c->err))
		fail_msg("%s", c->err.text);
}

static void teardown(Case *c)
{
	for (int k = 0; k < 4; k++)
		pm_tensor_release(&c->in[k]);
	pm_tensor_release(&c->got);
	pm_bounds_release(&c->b, 1);
	pm_graph_free(c->g);
}

static PmBoundFit fit(Case *c, PmPrecisionTier tier)
{
	PmBoundFit f;

	pm_bounds_release(&c->b, 1);
	if (pm_bound_run(c->g, c->in, pm_graph_n_inputs(c->g), tier, &c->b, 1, &c->err))
		fail_msg("%s", c->err.text);
	assert_true(c->b.known);
	pm_bound_fit(&c->b, &c->got, &f);
	return f;
}

static void within(Case *c, PmPrecisionTier tier, int want, const char *what)
{
	PmBoundFit f = fit(c, tier);

	if (f.within != want)
		fail_msg("%s, lane %s: rms %.3g, max %.3g, %lld of another class (element %lld: %.9g, got "
			 "%.9g)",
			 what, pm_tier_name(tier), f.rms, f.max, (long long)f.n_class, (long long)f.index,
			 f.expected, f.got);
}

/* ---- matrix products ---- */

typedef enum { SEQUENTIAL, CHUNKS, SPLIT, PAIRWISE, TF32, TF32_CUT, BF16, HALF_SUM, N_SCHEMES } Scheme;
static const char *const schemes[] = { "sequential", "chunks",    "split",        "pairwise",
				       "TF32",       "TF32, cut", "bf16 factors", "half sum" };

static float digits(float v, int drop, int cut)
{
	uint32_t b;

	memcpy(&b, &v, 4);
	if (!cut)
		b += (1u << (drop - 1)) - 1 + (b >> drop & 1);
	b &= ~0u << drop;
	memcpy(&v, &b, 4);
	return v;
}

static float pairwise(const float *p, int n)
{
	return n == 1 ? p[0] : pairwise(p, n / 2) + pairwise(p + n / 2, n - n / 2);
}

static float dot(const float *a, const float *b, int stride, int n, Scheme s)
{
	float sum = 0, part[8] = { 0 }, *p = pm_xcalloc((size_t)n, sizeof *p);

	for (int k = 0; k < n; k++) {
		float x = a[k], y = b[k * stride];

		if (s == TF32 || s == TF32_CUT) {
			x = digits(x, 13, s == TF32_CUT);
			y = digits(y, 13, s == TF32_CUT);
		} else if (s == BF16) {
			x = digits(x, 16, 0);
			y = digits(y, 16, 0);
		}
		p[k] = x * y;
		if (s == HALF_SUM)
			sum = (float)pm_f16_to_f64(pm_f16_from_f64((double)sum + (double)p[k]));
		else if (s == CHUNKS || s == SPLIT)
			part[s == SPLIT ? k * 8 / n : 0] += p[k];
		else
			sum = fmaf(x, y, sum);
		if (s == CHUNKS && (k % 32 == 31 || k == n - 1)) {
			sum += part[0];
			part[0] = 0;
		}
	}
	for (int k = 0; k < 8 && s == SPLIT; k++)
		sum += part[k];
	if (s == PAIRWISE)
		sum = pairwise(p, n);
	free(p);
	return sum;
}

static void product(Case *c, int m, int n, int depth, Scheme s)
{
	const float *a = c->in[0].data, *b = c->in[1].data;
	float *y = c->got.data;

	for (int i = 0; i < m * n; i++)
		y[i] = dot(a + i / n * depth, b + i % n, n, depth, s);
}

static void products(void **state)
{
	static const int depths[] = { 1, 7, 64, 256, 1024, 4096, 16384 };
	enum { M = 6, N = 20 };

	(void)state;
	for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
		for (int positive = 0; positive < 2; positive++) {
			char text[160];
			PmRng r;
			Case c;

			snprintf(
				text, sizeof text,
				"g (float[%d,%d] a, float[%d,%d] b) => (float[%d,%d] y) { y = MatMul(a, b) }",
				M, depths[d], depths[d], N, M, N);
			setup(&c, text);
			pm_rng_init_named(&r, d, "products");
			for (int k = 0; k < 2; k++)
				for (int64_t i = 0; i < pm_tensor_numel(&c.in[k]); i++)
					pm_tensor_set(&c.in[k], i,
						      positive ? pm_rng_uniform(&r) : pm_rng_normal(&r));
			for (Scheme s = SEQUENTIAL; s < N_SCHEMES; s++) {
				product(&c, M, N, depths[d], s);
				if (s <= PAIRWISE)
					within(&c, PM_TIER_STRICT, 1, schemes[s]);
				else if (!positive)
					within(&c, PM_TIER_STRICT, 0, schemes[s]);
				if (s == TF32 || s == TF32_CUT || s <= PAIRWISE)
					within(&c, PM_TIER_TF32, 1, schemes[s]);
				if (s == TF32 || s == BF16 || s <= PAIRWISE)
					within(&c, PM_TIER_BF16, 1, schemes[s]);
				if (s == BF16 && !positive)
					within(&c, PM_TIER_TF32, 0, schemes[s]);
				if (s == HALF_SUM && !positive && depths[d] >= 1024) {
					within(&c, PM_TIER_TF32, 0, schemes[s]);
					within(&c, PM_TIER_BF16, 0, schemes[s]);
				}
			}
			teardown(&c);
		}
}

/* ---- one operator each, and what must not pass ---- */

static void normal(PmTensor *t, uint64_t seed, double scale)
{
	PmRng r;

	pm_rng_init_named(&r, seed, "bound");
	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		pm_tensor_set(t, i, scale * pm_rng_normal(&r));
}

static void soft(float *y, const float *x, int rows, int cols)
{
	for (int r = 0; r < rows; r++, x += cols, y += cols) {
		float top = -INFINITY, sum = 0;

		for (int j = 0; j < cols; j++)
			top = fmaxf(top, x[j]);
		for (int j = 0; j < cols; j++)
			sum += expf(x[j] - top);
		for (int j = 0; j < cols; j++)
			y[j] = expf(x[j] - top) * (1 / sum);
	}
}

static void softmax(void **state)
{
	Case c;
	float *y;

	(void)state;
	setup(&c, "g (float[7,1000] x) => (float[7,1000] y) { y = Softmax<axis = 1>(x) }");
	for (int scale = 1; scale <= 16; scale *= 4) {
		normal(&c.in[0], (uint64_t)scale, scale);
		y = c.got.data;
		soft(y, c.in[0].data, 7, 1000);
		within(&c, PM_TIER_STRICT, 1, "softmax");
		for (int i = 0; i < 7000; i++)
			y[i] *= 1.0001f;
		within(&c, PM_TIER_STRICT, 0, "softmax, a little too large");
		soft(y, c.in[0].data, 7, 1000);
		for (int i = 0; i < 7000; i++)
			y[i] = y[i] < 1e-4f ? 0 : y[i];
		within(&c, PM_TIER_STRICT, 0, "softmax without its small terms");
	}
	teardown(&c);
}

/* Scores of thousands, of which 8 bits are left: near ones become the same, and what is far behind stays so.
 */
static void softmax_of_rounded_scores(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (bfloat16[3,8] x, bfloat16[3,8] w) => (bfloat16[3,8] y) { s = Add(x, w) y = "
		  "Softmax<axis = 1>(s) }");
	for (int i = 0; i < 24; i++) {
		/* 4111, 4096, and 2 to 7; in the last row 0 to 7. Numbers beyond 4096 are 32 apart. */
		pm_tensor_set(&c.in[0], i, i % 8 < 2 && i < 16 ? 4096 : i % 8);
		pm_tensor_set(&c.in[1], i, i % 8 == 0 && i < 16 ? 15 : 0);
	}
	for (int r = 0; r < 3; r++) {
		double sum = 0;

		for (int j = 0; j < 8; j++)
			sum += exp(j);
		for (int j = 0; j < 8; j++)
			pm_tensor_set(&c.got, r * 8 + j, r < 2 ? (j < 2 ? 0.5 : 0) : exp(j) / sum);
	}
	within(&c, PM_TIER_STRICT, 1, "softmax of rounded scores");
	pm_tensor_set(&c.got, 2, 0.01);
	within(&c, PM_TIER_STRICT, 0, "what is far behind");
	pm_tensor_set(&c.got, 2, 0);
	pm_tensor_set(&c.got, 23, 0);
	within(&c, PM_TIER_STRICT, 0, "a row of small scores");
	teardown(&c);
}

/* In one pass (mean of squares less the square of the mean) or two. */
static void layer_norm_of(float *y, const float *x, const float *g, const float *b, int rows, int cols,
			  int once, float eps)
{
	for (int r = 0; r < rows; r++, x += cols, y += cols) {
		float sum = 0, sq = 0, mean, var, inv;

		for (int j = 0; j < cols; j++) {
			sum += x[j];
			sq += x[j] * x[j];
		}
		mean = sum / (float)cols;
		var = sq / (float)cols - mean * mean;
		if (!once) {
			var = 0;
			for (int j = 0; j < cols; j++)
				var += (x[j] - mean) * (x[j] - mean);
			var /= (float)cols;
		}
		inv = 1 / sqrtf(var + eps);
		for (int j = 0; j < cols; j++)
			y[j] = (x[j] - mean) * inv * g[j] + b[j];
	}
}

static void layer_norm(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float[5,777] x, float[777] s, float[777] b) => (float[5,777] y) "
		  "{ y = LayerNormalization<axis = 1, epsilon = 1e-4>(x, s, b) }");
	for (int k = 0; k < 3; k++)
		normal(&c.in[k], (uint64_t)k, 1);
	for (int offset = 0; offset < 2; offset++) {
		for (int64_t i = 0; offset && i < 5 * 777; i++)
			pm_tensor_set(&c.in[0], i, 3 + pm_tensor_get(&c.in[0], i));
		for (int once = 0; once < 2; once++) {
			layer_norm_of(c.got.data, c.in[0].data, c.in[1].data, c.in[2].data, 5, 777, once,
				      1e-4f);
			within(&c, PM_TIER_STRICT, 1, once ? "one pass" : "two passes");
		}
		layer_norm_of(c.got.data, c.in[0].data, c.in[1].data, c.in[2].data, 5, 777, 0, 0);
		within(&c, PM_TIER_STRICT, 0, "no epsilon");
		layer_norm_of(c.got.data, c.in[0].data, c.in[1].data, c.in[2].data, 5, 776, 0, 1e-4f);
		within(&c, PM_TIER_STRICT, 0, "one column less");
	}
	teardown(&c);
}

/* Of denormal numbers a mean of three is rounded to a multiple of the least one, which the quotient by the
 * root of epsilon magnifies. */
static void layer_norm_of_denormals(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float[1000,3] x, float[3] s, float[3] b) => (float[1000,3] y) "
		  "{ y = LayerNormalization<axis = 1, epsilon = 1e-5>(x, s, b) }");
	for (int64_t i = 0; i < 3; i++)
		pm_tensor_set(&c.in[1], i, 1 + 0.25 * (double)i);
	for (double size = 1e-36; size > 1e-45; size /= 10) {
		normal(&c.in[0], 7, size);
		layer_norm_of(c.got.data, c.in[0].data, c.in[1].data, c.in[2].data, 1000, 3, 0, 1e-5f);
		within(&c, PM_TIER_STRICT, 1, "two passes");
		if (size < 1e-41)
			continue;
		layer_norm_of(c.got.data, c.in[0].data, c.in[1].data, c.in[2].data, 1000, 3, 0, 1.1e-5f);
		within(&c, PM_TIER_STRICT, 0, "another epsilon");
	}
	teardown(&c);
}

/* One rounding may be off by half a unit in the last place and no more; no rounding, by nothing. */
static void exact_operators(void **state)
{
	Case c;
	float *y;

	(void)state;
	setup(&c, "g (float[500] a, float[500] b) => (float[500] y) { y = Add(a, b) }");
	normal(&c.in[0], 1, 1);
	normal(&c.in[1], 2, 1);
	y = c.got.data;
	for (int i = 0; i < 500; i++)
		y[i] = ((float *)c.in[0].data)[i] + ((float *)c.in[1].data)[i];
	within(&c, PM_TIER_STRICT, 1, "a sum");
	y[77] = nextafterf(y[77], 100);
	within(&c, PM_TIER_STRICT, 0, "a sum, one ulp off");
	teardown(&c);

	setup(&c, "g (float[500] a) => (float[1,500] y) { r = Relu(a)\n y = Unsqueeze<axes = [0]>(r) }");
	normal(&c.in[0], 1, 1);
	for (int i = 0; i < 500; i++)
		((float *)c.got.data)[i] = fmaxf(((float *)c.in[0].data)[i], 0);
	within(&c, PM_TIER_STRICT, 1, "relu");
	((float *)c.got.data)[3] += 1e-12f;
	within(&c, PM_TIER_STRICT, 0, "relu, off by nearly nothing");
	teardown(&c);
}

/* A sum of three may be taken in any order, also where it cancels and the partial sum of the order given is
 * small; but not with fewer digits. */
static void order_is_free(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 30; seed++) {
		Case c;
		float *a, *b, *d, *y;

		setup(&c, "g (float[4000] a, float[4000] b, float[4000] d) => (float[4000] y) "
			  "{ s = Add(a, b)\n y = Sub(s, d) }");
		for (int k = 0; k < 3; k++)
			normal(&c.in[k], 3 * seed + (uint64_t)k, k == 2 ? 0.02 : 1);
		a = c.in[0].data, b = c.in[1].data, d = c.in[2].data, y = c.got.data;
		for (int i = 0; i < 4000; i++)
			y[i] = a[i] + (b[i] - d[i]);
		within(&c, PM_TIER_STRICT, 1, "another order");
		for (int i = 0; i < 4000; i++)
			y[i] = a[i] + digits(b[i] - d[i], 5, 0);
		within(&c, PM_TIER_STRICT, 0, "19 bits of a partial sum");
		teardown(&c);
	}
}

/* Means of windows that overlap: as many results as operands, and each a sum of nine. */
static float window_mean(const float *x, int h, int w, int row, int col, int backwards)
{
	float sum = 0;
	int n = 0;

	for (int k = 0; k < 9; k++) {
		int at = backwards ? 8 - k : k, i = row + at / 3 - 1, j = col + at % 3 - 1;

		if (i < 0 || i >= h || j < 0 || j >= w)
			continue;
		sum += x[i * w + j];
		n++;
	}
	return backwards ? sum / (float)n : sum * (1 / (float)n);
}

static void means_of_windows(void **state)
{
	enum { H = 31, W = 37 };

	(void)state;
	for (uint64_t seed = 0; seed < 30; seed++) {
		Case c;
		float *x, *y;

		setup(&c,
		      "g (float[1,1,31,37] x) => (float[1,1,31,37] y) { p = AveragePool<kernel_shape = [3, "
		      "3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]>(x)\n y = Sub(p, x) }");
		normal(&c.in[0], seed, 1);
		x = c.in[0].data, y = c.got.data;
		for (int backwards = 0; backwards < 2; backwards++) {
			for (int i = 0; i < H * W; i++)
				y[i] = window_mean(x, H, W, i / W, i % W, backwards) - x[i];
			within(&c, PM_TIER_STRICT, 1, "a mean of a window");
		}
		for (int i = 0; i < H * W; i++)
			y[i] = digits(window_mean(x, H, W, i / W, i % W, 0), 5, 0) - x[i];
		within(&c, PM_TIER_STRICT, 0, "19 bits of a mean");
		teardown(&c);
	}
}

/* A fast division gives 0 where the quotient would be denormal; nothing else becomes 0. */
static void quotients_that_are_flushed(void **state)
{
	enum { N = 1000 };
	Case c;
	float *x, *y;

	(void)state;
	setup(&c, "g (float[1000] x) => (float[1000] y) { s = Sigmoid(x)\n y = Mul(x, s) }");
	normal(&c.in[0], 1, 3);
	x = c.in[0].data, y = c.got.data;
	for (int i = 0; i < N / 10; i++)
		x[i] = -86.5f - 0.02f * (float)i;
	for (int i = 0; i < N; i++) {
		float s = 1 / (1 + expf(-x[i]));

		y[i] = x[i] * (s < 0x1p-126f ? 0 : s);
	}
	within(&c, PM_TIER_STRICT, 1, "denormal quotients are 0");
	for (int i = 0; i < N / 10; i++)
		y[i] = 0;
	within(&c, PM_TIER_STRICT, 0, "others are 0, too");
	teardown(&c);
}

/* Means of nothing: a sum that rounds to 0, over 0, is NaN for who rounds between operators, an infinity for
 * who does not; what is not rounded is judged. */
static void rounded_quotients(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float16[3,2] x, float16[3] d) => (float16[3] y) { "
		  "p = Mul(x, x)\n n = ReduceSum<axes = [1], keepdims = 0>(p)\n y = Div(n, d) }");
	pm_tensor_set(&c.in[0], 0, 1e-5);
	pm_tensor_set(&c.in[0], 2, 1);
	pm_tensor_set(&c.in[0], 4, 2);
	pm_tensor_set(&c.in[1], 2, 2);
	for (int nan = 0; nan < 2; nan++) {
		pm_tensor_set(&c.got, 0, nan ? (double)NAN : (double)INFINITY);
		pm_tensor_set(&c.got, 1, (double)INFINITY);
		pm_tensor_set(&c.got, 2, 2);
		within(&c, PM_TIER_STRICT, 1, nan ? "rounded to 0 / 0" : "not rounded");
	}
	pm_tensor_set(&c.got, 1, (double)NAN);
	within(&c, PM_TIER_STRICT, 0, "1 / 0 is no NaN");
	teardown(&c);
}

static void gelu_of_pieces(void **state)
{
	Case c;
	float *x, *y;

	(void)state;
	setup(&c, "g (float[3000] x) => (float[3000] y)\n<float r = {0.70710678}, float one = {1}, float h = "
		  "{0.5}>\n"
		  "{ t = Mul(x, r)\n e = Erf(t)\n p = Add(e, one)\n m = Mul(x, p)\n y = Mul(m, h) }");
	normal(&c.in[0], 5, 2);
	x = c.in[0].data;
	y = c.got.data;
	for (int i = 0; i < 3000; i++)
		y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
	within(&c, PM_TIER_STRICT, 1, "gelu");
	for (int i = 0; i < 3000; i++)
		y[i] = 0.5f * x[i] * (1 + tanhf(0.7978845608f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
	within(&c, PM_TIER_STRICT, 0, "the other gelu");
	teardown(&c);
}

/* Between operators values are of half type: rounding them or not is both right; sums are float. */
static void half_types(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float16[40,512] a, float16[512] b) => (float16[40] y) { m = Mul(a, b)\n"
		  " y = ReduceSum<axes = [1], keepdims = 0>(m) }");
	normal(&c.in[0], 1, 1);
	normal(&c.in[1], 2, 1);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 40; i++) {
			float s = 0;

			for (int k = 0; k < 512; k++) {
				double p = pm_tensor_get(&c.in[0], i * 512 + k) * pm_tensor_get(&c.in[1], k);

				s += (float)(round ? pm_f16_to_f64(pm_f16_from_f64(p)) : p);
				if (round == 2)
					s = (float)pm_f16_to_f64(pm_f16_from_f64((double)s));
			}
			pm_tensor_set(&c.got, i, (double)s);
		}
		if (round < 2)
			within(&c, PM_TIER_STRICT, 1, round ? "rounded products" : "fused");
	}
	teardown(&c);

	setup(&c, "g (float16[40,512] a) => (float16[40] y) { y = ReduceSum<axes = [1], keepdims = 0>(a) }");
	normal(&c.in[0], 1, 1);
	for (int half = 0; half < 2; half++) {
		for (int i = 0; i < 40; i++) {
			float s = 0;

			for (int k = 0; k < 512; k++) {
				s += (float)pm_tensor_get(&c.in[0], i * 512 + k);
				if (half)
					s = (float)pm_f16_to_f64(pm_f16_from_f64((double)s));
			}
			pm_tensor_set(&c.got, i, (double)s);
		}
		within(&c, PM_TIER_STRICT, !half, half ? "half sum" : "float sum");
	}
	teardown(&c);
}

/* Sets all results to `factor`, times the elements of `of` unless that is NULL. */
static void times(Case *c, const PmTensor *of, double factor)
{
	for (int64_t i = 0; i < pm_tensor_numel(&c->got); i++)
		pm_tensor_set(&c->got, i, of ? pm_tensor_get(of, i) * factor : factor);
}

/* A softmax of one number is 1: what is left is the reciprocal's rounding, and numbers of half types stay 1.
 */
static void softmax_of_one(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float[64,1] x) => (float[64,1] y) { y = Softmax<axis = 1>(x) }");
	normal(&c.in[0], 1, 1);
	times(&c, NULL, 1);
	within(&c, PM_TIER_STRICT, 1, "softmax of one, exact");
	times(&c, NULL, 1 - 0x1p-24);
	within(&c, PM_TIER_STRICT, 1, "softmax of one, times a reciprocal");
	times(&c, NULL, 1 - 4 * 0x1p-24);
	within(&c, PM_TIER_STRICT, 0, "softmax of one, four units off");
	teardown(&c);
	setup(&c, "g (float16[64,1] x, float16[64,1] v) => (float16[64,1] y) { p = Softmax<axis = 1>(x) "
		  "y = Mul(p, v) }");
	normal(&c.in[0], 1, 1);
	normal(&c.in[1], 2, 1);
	times(&c, &c.in[1], 1);
	within(&c, PM_TIER_STRICT, 1, "attention to one key, exact");
	times(&c, &c.in[1], 1 + 0x1p-10);
	within(&c, PM_TIER_STRICT, 0, "attention to one key, a digit off");
	teardown(&c);
}

/* A Cast to the same type stores nothing anew. */
static void cast_to_the_same_type(void **state)
{
	static const char *const text[] = { "g (float[64] x) => (float[64] y) { y = Exp(x) }",
					    "g (float[64] x) => (float[64] y) { e = Exp(x) y = Cast<to = "
					    "1>(e) }" };
	double max[2];
	Case c;

	(void)state;
	for (int k = 0; k < 2; k++) {
		setup(&c, text[k]);
		normal(&c.in[0], 1, 1);
		for (int64_t i = 0; i < 64; i++)
			pm_tensor_set(&c.got, i, exp(pm_tensor_get(&c.in[0], i)) * (1 + 3 * 0x1p-24));
		max[k] = fit(&c, PM_TIER_STRICT).max;
		teardown(&c);
	}
	assert_true(max[0] > 0.1);
	if (!(fabs(max[1] / max[0] - 1) < 1e-6))
		fail_msg("%.9g of the limit with a Cast, %.9g without", max[1], max[0]);
}

/* What adds up at a place is a sum of float: in any order it is right, in half type or without one update
 * not. */
static void scatters_that_add(void **state)
{
	enum { N = 300, PLACES = 7 };
	static const char *const graphs[] = {
		"g (float16[7] x, int64[300] i, float16[300] u) => (float16[7] y) "
		"{ v = Neg(u)\n y = ScatterElements<axis = 0, reduction = \"add\">(x, i, v) }",
		"g (float16[7] x, int64[300,1] i, float16[300] u) => (float16[7] y) "
		"{ v = Neg(u)\n y = ScatterND<reduction = \"add\">(x, i, v) }"
	};
	static const struct {
		const char *what;
		int back, half, first, right;
	} ways[] = { { "in order", 0, 0, 0, 1 },
		     { "from the end", 1, 0, 0, 1 },
		     { "half sum", 0, 1, 0, 0 },
		     { "without an update", 0, 0, 1, 0 } };
	Case c;

	(void)state;
	for (size_t g = 0; g < 2; g++) {
		setup(&c, graphs[g]);
		normal(&c.in[0], 1, 1);
		normal(&c.in[2], 2, 1);
		for (int i = 0; i < N; i++)
			pm_tensor_set(&c.in[1], i, i % 11 % PLACES - (i % 2 ? PLACES : 0));
		for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
			float sum[PLACES];

			for (int p = 0; p < PLACES; p++)
				sum[p] = (float)pm_tensor_get(&c.in[0], p);
			for (int k = ways[w].first; k < N; k++) {
				int i = ways[w].back ? N - 1 - k : k, p = i % 11 % PLACES;

				sum[p] -= (float)pm_tensor_get(&c.in[2], i);
				if (ways[w].half)
					sum[p] = (float)pm_f16_to_f64(pm_f16_from_f64((double)sum[p]));
			}
			for (int p = 0; p < PLACES; p++)
				pm_tensor_set(&c.got, p, (double)sum[p]);
			within(&c, PM_TIER_STRICT, ways[w].right, ways[w].what);
		}
		teardown(&c);
	}
}

/* Infinities and NaN have to stand where they stand in the reference, overflow included. */
static void classes(void **state)
{
	Case c;
	float *x, *y;

	(void)state;
	setup(&c, "g (float[6] x) => (float[6] y) { y = Exp(x) }");
	x = c.in[0].data;
	y = c.got.data;
	x[0] = 100;
	x[1] = -INFINITY;
	x[2] = INFINITY;
	x[3] = NAN;
	x[4] = 1;
	x[5] = -100;
	for (int i = 0; i < 6; i++)
		y[i] = expf(x[i]);
	within(&c, PM_TIER_STRICT, 1, "exp");
	y[0] = 3e38f;
	within(&c, PM_TIER_STRICT, 0, "a large number for infinity");
	y[0] = INFINITY;
	y[3] = 0;
	within(&c, PM_TIER_STRICT, 0, "a number for NaN");
	y[3] = NAN;
	y[4] = INFINITY;
	within(&c, PM_TIER_STRICT, 0, "an infinity for a number");
	teardown(&c);
}

/* What a rounding decides may go either way, and only that. */
static void steps(void **state)
{
	Case c;
	float *y;

	(void)state;
	setup(&c,
	      "g (float[4] a, float[4] b) => (float[4] y) { p = Mul(a, b)\n s = Add(p, a)\n y = Floor(s) }");
	for (int i = 0; i < 4; i++) {
		pm_tensor_set(&c.in[0], i, 1);
		pm_tensor_set(&c.in[1], i, i == 1 ? 0x1p-24 + 1 : i + 0.5);
	}
	y = c.got.data;
	y[0] = 1;
	y[1] = 2;
	y[2] = 3;
	y[3] = 4;
	within(&c, PM_TIER_STRICT, 1, "floor");
	y[1] = 1;
	(void)fit(&c, PM_TIER_STRICT);
	y[1] = 2;
	y[2] = 2;
	within(&c, PM_TIER_STRICT, 0, "floor of what is no edge");
	teardown(&c);
}

/* Zeros are no answer wherever values differ by more than rounding explains; where it explains as much as
 * they differ by, the comparison says that it tells nothing. */
static void what_tells(void **state)
{
	PmBoundFit f;
	Case c;

	(void)state;
	setup(&c, "g (bfloat16[8,512] x, bfloat16[512] s, bfloat16[512,16] w) => (bfloat16[8,16] y) "
		  "{ m = Mul(x, s) y = MatMul(m, w) }");
	for (int k = 0; k < 3; k++)
		normal(&c.in[k], (uint64_t)k, 1);
	f = fit(&c, PM_TIER_STRICT);
	assert_true(f.tells);
	assert_false(f.within);
	teardown(&c);
	setup(&c, "g (bfloat16[8,16] x) => (bfloat16[8,16] y) <bfloat16 big = {256}> "
		  "{ a = Add(x, big) y = Sub(a, big) }");
	normal(&c.in[0], 3, 0.01);
	f = fit(&c, PM_TIER_STRICT);
	assert_false(f.tells);
	assert_true(f.within);
	teardown(&c);
}

/* Squares of such numbers are 0: one digit is one digit there too. */
static void tiny_doubles(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (double[3] x, double[3] p) => (double[3] y) { y = Pow(x, p) }");
	for (int64_t i = 0; i < 3; i++) {
		pm_tensor_set(&c.in[0], i, 1e-300);
		pm_tensor_set(&c.in[1], i, 1);
		pm_tensor_set(&c.got, i, i ? 1e-300 : nextafter(1e-300, 1));
	}
	within(&c, PM_TIER_STRICT, 1, "a digit of 1e-300");
	pm_tensor_set(&c.got, 0, 1.5e-300);
	within(&c, PM_TIER_STRICT, 0, "half of 1e-300");
	teardown(&c);
}

/* One element that is off by so many standard deviations, and by no rounding; the others are as exact as
 * float is. */
static int one_may_be_off(const char *text, double deviations)
{
	PmBoundFit f;
	Case c;
	double y;

	setup(&c, text);
	normal(&c.in[0], 31, 1);
	normal(&c.in[1], 32, 1);
	fit(&c, PM_TIER_STRICT);
	for (int64_t i = 0; i < c.b.y.numel; i++)
		pm_tensor_set(&c.got, i, c.b.y.f[i]);
	y = pm_tensor_get(&c.got, 40);
	pm_tensor_set(&c.got, 40, y + copysign(deviations * c.b.unit[40], y));
	pm_bound_fit(&c.b, &c.got, &f);
	assert_int_equal(f.n_wrong, !f.within);
	assert_true(f.index == 40 && f.rms <= 1);
	teardown(&c);
	return f.within;
}

/* The worst of more elements is further off. Roundings add up to half a standard deviation here. */
static void the_limit_is_that_of_the_worst_of_all(void **state)
{
	static const char few[] = "g (float[8,64] a, float[64,8] b) => (float[8,8] y) { y = MatMul(a, b) }";
	static const char more[] =
		"g (float[16,64] a, float[64,128] b) => (float[16,128] y) { y = MatMul(a, b) }";
	static const char many[] =
		"g (float[512,64] a, float[64,512] b) => (float[512,512] y) { y = MatMul(a, b) }";

	(void)state;
	assert_true(one_may_be_off(few, 6));
	assert_false(one_may_be_off(few, 6.7));
	assert_true(one_may_be_off(more, 6.9)); /* 6.1 (1 + ln(2048 / 100) / (6.16 pi)) = 7.05 */
	assert_false(one_may_be_off(more, 7.6));
	assert_true(one_may_be_off(many, 8.4)); /* 8.58 */
	assert_false(one_may_be_off(many, 9.2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products),
		cmocka_unit_test(softmax),
		cmocka_unit_test(softmax_of_rounded_scores),
		cmocka_unit_test(layer_norm),
		cmocka_unit_test(layer_norm_of_denormals),
		cmocka_unit_test(exact_operators),
		cmocka_unit_test(order_is_free),
		cmocka_unit_test(means_of_windows),
		cmocka_unit_test(quotients_that_are_flushed),
		cmocka_unit_test(rounded_quotients),
		cmocka_unit_test(gelu_of_pieces),
		cmocka_unit_test(half_types),
		cmocka_unit_test(softmax_of_one),
		cmocka_unit_test(cast_to_the_same_type),
		cmocka_unit_test(scatters_that_add),
		cmocka_unit_test(classes),
		cmocka_unit_test(steps),
		cmocka_unit_test(what_tells),
		cmocka_unit_test(tiny_doubles),
		cmocka_unit_test(the_limit_is_that_of_the_worst_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
