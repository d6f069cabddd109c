/* SPDX-License-Identifier: Apache-2.0 */
/* test_bound_rules.c - the error bound of Resize and of a batch normalisation: honest float programs in
 * several orders stay within it, cheats do not; and each operator of the table has a rule or a reason to have
 * none.
 */
#include "base/core/rng.h"
#include "bench/compare/bound/bound_priv.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_INPUTS = 6 };

/* A graph, its inputs, and a result to be judged. */
typedef struct Case {
	PmGraph *g;
	PmTensor in[MOST_INPUTS], got;
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
	for (int k = 0; k < MOST_INPUTS; k++)
		pm_tensor_release(&c->in[k]);
	pm_tensor_release(&c->got);
	pm_graph_free(c->g);
}

static void normal(PmTensor *t, uint64_t seed, double scale)
{
	PmRng r;

	pm_rng_init_named(&r, seed, "bound rules");
	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		pm_tensor_set(t, i, scale * pm_rng_normal(&r));
}

static PmBoundFit fit(Case *c, const char *what)
{
	PmBound b;
	PmBoundFit f;

	if (pm_bound_run(c->g, c->in, pm_graph_n_inputs(c->g), PM_TIER_STRICT, &b, 1, &c->err))
		fail_msg("%s: %s", what, c->err.text);
	if (!b.known)
		fail_msg("%s: the bound has no rule", what);
	pm_bound_fit(&b, &c->got, &f);
	pm_bounds_release(&b, 1);
	return f;
}

static PmBoundFit judged(Case *c, int want, const char *what)
{
	PmBoundFit f = fit(c, what);

	if (f.within != want)
		fail_msg("%s: rms %.3g, max %.3g, bias %.3g, slope %.3g (element %lld: %.9g, got %.9g)", what,
			 f.rms, f.max, f.bias, f.slope, (long long)f.index, f.expected, f.got);
	return f;
}

static void within(Case *c, int want, const char *what)
{
	judged(c, want, what);
}

/* ---- Resize ---- */

/* How a program works: positions in float or double, and in which order it mixes. */
typedef enum { PRODUCTS, NESTED, DOWN_FIRST, LERP, N_ORDERS } Order;
/* What a cheat does instead. */
typedef enum { NOTHING, NEAREST, HALF_WEIGHTS, CORNERS, NO_ROW } Cheat;

typedef struct Plane {
	const float *x;
	float *y;
	int h, w, to_h, to_w, float_places;
	Cheat cheat;
} Plane;

typedef struct Place {
	int lo, hi;
	float f;
} Place;

static Place place(const Plane *p, int o, int in, int out)
{
	Place at;
	double x;

	if (p->cheat == CORNERS)
		x = out > 1 ? (double)o * (in - 1) / (out - 1) : 0;
	else if (p->float_places)
		x = (double)(((float)o + 0.5f) * ((float)in / (float)out) - 0.5f);
	else
		x = (o + 0.5) * in / out - 0.5;
	if (p->cheat == NEAREST)
		x = floor(x + 0.5);
	at.lo = (int)floor(x);
	at.f = (float)(x - at.lo);
	if (p->cheat == HALF_WEIGHTS)
		at.f = floorf(at.f * 2048) / 2048;
	at.hi = at.lo + 1 < 0 ? 0 : at.lo + 1 > in - 1 ? in - 1 : at.lo + 1;
	at.lo = at.lo < 0 ? 0 : at.lo > in - 1 ? in - 1 : at.lo;
	return at;
}

static float mix(float a, float b, float f, Order order)
{
	volatile float p = (1 - f) * a, q = f * b, d = f * (b - a);

	return order == LERP ? a + d : p + q;
}

static void resize(const Plane *p, Order order)
{
	for (int i = 0; i < p->to_h * p->to_w; i++) {
		Place r = place(p, i / p->to_w, p->h, p->to_h), c = place(p, i % p->to_w, p->w, p->to_w);
		const float *lo = p->x + r.lo * p->w, *hi = p->x + r.hi * p->w;
		volatile float w[4] = { (1 - r.f) * (1 - c.f), (1 - r.f) * c.f, r.f * (1 - c.f), r.f * c.f };

		if (p->cheat == NO_ROW)
			hi = lo;
		if (order == PRODUCTS)
			p->y[i] = fmaf(w[3], hi[c.hi],
				       fmaf(w[2], hi[c.lo], fmaf(w[1], lo[c.hi], w[0] * lo[c.lo])));
		else if (order == DOWN_FIRST)
			p->y[i] = mix(mix(lo[c.lo], hi[c.lo], r.f, order),
				      mix(lo[c.hi], hi[c.hi], r.f, order), c.f, order);
		else
			p->y[i] = mix(mix(lo[c.lo], lo[c.hi], c.f, order),
				      mix(hi[c.lo], hi[c.hi], c.f, order), r.f, order);
	}
}

static void linear_resize(void **state)
{
	static const struct {
		int h, w, to_h, to_w;
	} sizes[] = { { 33, 40, 66, 80 },
		      { 33, 40, 65, 71 },
		      { 40, 31, 17, 12 },
		      { 200, 9, 333, 31 },
		      { 1, 40, 1, 97 } };
	static const char *const names[] = { "", "nearest", "weights of 11 bits", "other corners",
					     "one row of two" };

	(void)state;
	for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
		for (int kind = 0; kind < 4; kind++) {
			char text[200];
			Plane p = {
				.h = sizes[s].h, .w = sizes[s].w, .to_h = sizes[s].to_h, .to_w = sizes[s].to_w
			};
			Case c;

			snprintf(text, sizeof text,
				 "g (float[1,1,%d,%d] x) => (float[1,1,%d,%d] y) <int64[4] n = {1, 1, %d, "
				 "%d}> "
				 "{ y = Resize<mode = \"linear\">(x, , , n) }",
				 p.h, p.w, p.to_h, p.to_w, p.to_h, p.to_w);
			setup(&c, text);
			normal(&c.in[0], s, 1);
			/* -1, 0, 1; a ramp: what rounding does to neighbours is alike; any magnitude. */
			for (int64_t i = 0; i < p.h * p.w && kind; i++) {
				double v = pm_tensor_get(&c.in[0], i);

				pm_tensor_set(&c.in[0], i,
					      kind == 1   ? (double)(i * i % 3 - 1)
					      : kind == 2 ? 3 + 0.01 * (double)i
							  : v * pow(10, (double)(i * 7 % 31)));
			}
			p.x = c.in[0].data;
			p.y = c.got.data;
			for (p.float_places = 0; p.float_places < 2; p.float_places++)
				for (Order o = PRODUCTS; o < N_ORDERS; o++) {
					snprintf(text, sizeof text,
						 "size %zu, kind %d, order %d, places in %s", s, kind, o,
						 p.float_places ? "float" : "double");
					resize(&p, o);
					within(&c, 1, text);
				}
			for (p.cheat = NEAREST; !kind && p.cheat <= NO_ROW; p.cheat++) {
				if ((p.h == 1 && p.cheat == NO_ROW) || (s == 0 && p.cheat == HALF_WEIGHTS))
					continue; /* there it is no cheat */
				resize(&p, PRODUCTS);
				within(&c, 0, names[p.cheat]);
			}
			teardown(&c);
		}
}

/* Keys' cubic along one axis, in float throughout. */
static float cubic_weight(float d)
{
	const float a = -0.75f;

	return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

static void cubic_resize(void **state)
{
	enum { N = 60, TO = 143 };
	Case c;

	(void)state;
	setup(&c, "g (float[1,30,60] x) => (float[1,30,143] y) <int64[3] n = {1, 30, 143}> "
		  "{ y = Resize<mode = \"cubic\">(x, , , n) }");
	normal(&c.in[0], 7, 1);
	for (int cheat = 0; cheat < 2; cheat++) {
		for (int i = 0; i < 30 * TO; i++) {
			const float *x = (const float *)c.in[0].data + i / TO * N;
			float at = ((float)(i % TO) + 0.5f) * ((float)N / (float)TO) - 0.5f, sum = 0;

			for (int k = (int)floorf(at) - 1; k <= (int)floorf(at) + 2; k++) {
				float w = cubic_weight(fabsf(at - (float)k));

				sum += (cheat && fabsf(w) < 0.01f ? 0 : w) * x[k < 0       ? 0
									       : k > N - 1 ? N - 1
											   : k];
			}
			((float *)c.got.data)[i] = sum;
		}
		within(&c, !cheat, cheat ? "without small weights" : "cubic");
	}
	teardown(&c);
}

/* Nearest neighbours are copies: not one digit may differ. What they copy may be rounded or not. */
static void nearest_resize(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float[1,40] x) => (float[1,80] y) <int64[2] n = {1, 80}> { y = Resize(x, , , n) }");
	normal(&c.in[0], 1, 1);
	for (int i = 0; i < 80; i++)
		pm_tensor_set(&c.got, i, pm_tensor_get(&c.in[0], i / 2));
	within(&c, 1, "copies");
	((float *)c.got.data)[3] = nextafterf(((float *)c.got.data)[3], 9);
	within(&c, 0, "a digit of a copy");
	teardown(&c);
}

/* ---- BatchNormalization ---- */

enum { X, W, SCALE, BIAS, MEAN, VAR, NORM_WAYS = 4 };

/* A product of one term, normalised, in each order; `cheat` drops the epsilon. */
static float norm_of(const float *f, int way, float eps)
{
	volatile float x = f[X] * f[W], v = f[VAR] + eps, d = x - f[MEAN];
	volatile float inv = 1 / sqrtf(v), k = inv * f[SCALE], p = d * k, t = d * inv, q = t * f[SCALE];
	volatile float shift = f[BIAS] - f[MEAN] * k;

	return fmaxf(way == 0   ? p + f[BIAS]
		     : way == 1 ? fmaf(d, k, f[BIAS])
		     : way == 2 ? fmaf(x, k, shift)
				: q + f[BIAS],
		     0);
}

/* One channel of one number, whose terms cancel now and then. */
static void one_number(void **state)
{
	Case c;
	int wrong = 0, refused = 0;

	(void)state;
	setup(&c, "g (float[1,1,1,1] x, float[1,1,1,1] w, float[1] s, float[1] b, float[1] m, float[1] v) => "
		  "(float[1,1,1,1] y) { c = Conv<strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, "
		  "1]>(x, w) "
		  "n = BatchNormalization(c, s, b, m, v) y = Relu(n) }");
	for (uint64_t seed = 0; seed < 3000; seed++) {
		float f[MOST_INPUTS];

		for (size_t k = 0; k < MOST_INPUTS; k++) {
			normal(&c.in[k], seed * MOST_INPUTS + k, 1);
			f[k] = (float)pm_tensor_get(&c.in[k], 0);
		}
		f[VAR] = fabsf(f[VAR]);
		pm_tensor_set(&c.in[VAR], 0, (double)f[VAR]);
		for (int way = 0; way < NORM_WAYS; way++) {
			pm_tensor_set(&c.got, 0, (double)norm_of(f, way, 1e-5f));
			wrong += !fit(&c, "one number").within;
		}
		pm_tensor_set(&c.got, 0, (double)norm_of(f, 0, 1.1e-5f) * 1.0001);
		refused += !fit(&c, "a little more").within || pm_tensor_get(&c.got, 0) == 0;
	}
	if (wrong || refused < 2950)
		fail_msg("%d of %d honest results are refused, %d of 3000 wrong ones", wrong,
			 3000 * NORM_WAYS, refused);
	teardown(&c);
}

/* Channels whose values lie far from 0 beside what they differ by: the folded form loses what the difference
 * keeps, and has to be right. */
static void far_means(void **state)
{
	enum { C = 16, N = 8 * 9 };
	Case c;

	(void)state;
	setup(&c, "g (float[1,16,8,9] x, float[16] s, float[16] b, float[16] m, float[16] v) => "
		  "(float[1,16,8,9] y) "
		  "{ y = BatchNormalization(x, s, b, m, v) }");
	for (int offset = 0; offset <= 1000; offset += 500) {
		for (size_t k = 0; k < 5; k++) {
			normal(&c.in[k], 10 + k, 1);
			for (int64_t i = 0; i < pm_tensor_numel(&c.in[k]); i++)
				if (k == 0 || k == 3)
					pm_tensor_set(&c.in[k], i, offset + pm_tensor_get(&c.in[k], i));
				else if (k == 4)
					pm_tensor_set(&c.in[k], i, fabs(pm_tensor_get(&c.in[k], i)));
		}
		for (int way = 0; way <= NORM_WAYS; way++) {
			for (int i = 0; i < C * N; i++) {
				int ch = i / N;
				float f[] = { ((float *)c.in[0].data)[i],  1,
					      ((float *)c.in[1].data)[ch], ((float *)c.in[2].data)[ch],
					      ((float *)c.in[3].data)[ch], ((float *)c.in[4].data)[ch] };
				volatile float inv = 1 / sqrtf(f[VAR] + 1e-5f), k = inv * f[SCALE];
				volatile float d = f[X] - f[MEAN], p = d * k, a = f[X] * k,
					       fold = f[BIAS] - f[MEAN] * k;
				volatile float q = d * inv, t = q * f[SCALE];

				((float *)c.got.data)[i] = way == 0   ? p + f[BIAS]
							   : way == 1 ? fmaf(d, k, f[BIAS])
							   : way == 2 ? a + fold
							   : way == 3 ? t + f[BIAS]
								      : (p + f[BIAS]) * 1.00001f;
			}
			if (way < NORM_WAYS || !offset)
				within(&c, way < NORM_WAYS,
				       way < NORM_WAYS ? "an honest order" : "a little too large");
		}
	}
	teardown(&c);
}

/* A step that rounding decides hands on the other operand with its error: a product less what it nearly is,
 * by which a leak is chosen. */
static void uncertain_choice(void **state)
{
	enum { N = 2000 };
	Case c;

	(void)state;
	setup(&c,
	      "g (float[2000] a, float[2000] b, float[2000] d, float[2000] e) => (float[2000] y) "
	      "<float z = {0}, float k = {0.01}> { p = Mul(a, b) q = Mul(p, d) r = Sub(q, e) m = Mul(r, k) "
	      "l = Less(r, z) y = Where(l, m, r) }");
	for (size_t k = 0; k < 3; k++)
		normal(&c.in[k], 30 + k, 1);
	for (int i = 0; i < N; i++)
		pm_tensor_set(&c.in[3], i,
			      pm_tensor_get(&c.in[0], i) * pm_tensor_get(&c.in[1], i) *
				      pm_tensor_get(&c.in[2], i));
	for (int cheat = 0; cheat < 2; cheat++) {
		for (int i = 0; i < N; i++) {
			volatile float p = ((float *)c.in[1].data)[i] * ((float *)c.in[2].data)[i];
			volatile float q = p * ((float *)c.in[0].data)[i], r = q - ((float *)c.in[3].data)[i];

			((float *)c.got.data)[i] = (r < 0 ? r * 0.01f : r) +
						   (cheat ? 20 * 0x1p-24f * fabsf(q) : 0);
		}
		within(&c, !cheat, cheat ? "twenty units" : "another order");
	}
	teardown(&c);
}

/* exp of one number, by 2^(x log2 e) in float. */
static void function_of_one_number(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float[1] x) => (float[1] y) { y = Exp(x) }");
	for (int i = 0; i < 500; i++) {
		volatile float t;

		pm_tensor_set(&c.in[0], 0, 60 + 0.05 * i);
		t = (float)pm_tensor_get(&c.in[0], 0) * 1.44269504f;
		pm_tensor_set(&c.got, 0, exp2((double)t));
		within(&c, 1, "exp of one number");
	}
	teardown(&c);
}

/* ---- views ---- */

/* Positions go through each view as they are: what they choose is one of the table's values, to the digit. */
static void moved_positions(void **state)
{
	static const char *const views[] = {
		"m = Reshape(i, flat)",
		"m = Transpose<perm = [1, 0]>(i)",
		"m = Flatten<axis = 1>(i)",
		"m = Unsqueeze<axes = [0]>(i)",
		"t = Unsqueeze<axes = [0]>(i) m = Squeeze<axes = [0]>(t)",
		"m = Expand(i, more)",
		"m = Slice<starts = [1], ends = [6], axes = [0], steps = [2]>(i)",
		"m, t = Split<axis = 0, split = [4, 3]>(i)",
		"m = Identity(i)",
		"t = Mul(i, two) m = Reshape(t, flat)",
	};

	(void)state;
	for (size_t v = 0; v < sizeof views / sizeof *views; v++) {
		char text[512];
		PmTensor want;
		Case c;

		snprintf(text, sizeof text,
			 "g (float[40,3] x, int64[7,5] i) => (y) <int64[1] flat = {-1}, int64[3] more = {2, "
			 "7, 5}, "
			 "int64 two = {2}> { %s y = Gather<axis = 0>(x, m) }",
			 views[v]);
		setup(&c, text);
		normal(&c.in[0], 50, 1);
		for (int k = 0; k < 35; k++)
			pm_tensor_set_i(&c.in[1], k, k * 11 % 20);
		if (pm_ref_run(c.g, c.in, 2, &want, 1, &c.err))
			fail_msg("%s: %s", views[v], c.err.text);
		memcpy(c.got.data, want.data, (size_t)pm_tensor_numel(&want) * sizeof(float));
		within(&c, 1, views[v]);
		((float *)c.got.data)[4] = nextafterf(((float *)c.got.data)[4], 9);
		within(&c, 0, views[v]);
		pm_tensor_release(&want);
		teardown(&c);
	}
}

/* A condition that is not certain stays so through a view, and one element of it only. */
static void moved_choice(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float[2000] a, float[2000] b, float[2000] d, float[1,2000] e) => (float[1,2000] y) "
		  "<float z = {0}> { p = Mul(a, b) r = Sub(p, d) l = Less(r, z) m = Unsqueeze<axes = [0]>(l) "
		  "n = Neg(e) y = Where(m, e, n) }");
	for (size_t k = 0; k < 4; k++)
		normal(&c.in[k], 60 + k, 1);
	pm_tensor_set(&c.in[2], 7, (float)(pm_tensor_get(&c.in[0], 7) * pm_tensor_get(&c.in[1], 7)));
	for (int i = 0; i < 2000; i++) {
		double r = pm_tensor_get(&c.in[0], i) * pm_tensor_get(&c.in[1], i) -
			   pm_tensor_get(&c.in[2], i);

		pm_tensor_set(&c.got, i, (r < 0 ? 1 : -1) * pm_tensor_get(&c.in[3], i));
	}
	within(&c, 1, "as the reference chooses");
	pm_tensor_set(&c.got, 7, -pm_tensor_get(&c.got, 7));
	within(&c, 1, "the other branch where rounding decides");
	pm_tensor_set(&c.got, 8, -pm_tensor_get(&c.got, 8));
	within(&c, 0, "the other branch elsewhere");
	teardown(&c);
}

/* A view rounds nothing; what it moves may be added in another order. */
static void moved_numbers(void **state)
{
	enum { N = 2000 };
	Case c;

	(void)state;
	setup(&c, "g (float[2000] x) => (float[40,50] y) <int64[2] s = {40, -1}> { y = Reshape(x, s) }");
	normal(&c.in[0], 70, 1);
	memcpy(c.got.data, c.in[0].data, N * sizeof(float));
	within(&c, 1, "the same numbers");
	((float *)c.got.data)[7] = nextafterf(((float *)c.got.data)[7], 9);
	within(&c, 0, "a digit more");
	teardown(&c);
	setup(&c, "g (float[2000] a, float[2000] b, float[40,50] d) => (float[40,50] y) "
		  "<int64[2] s = {40, -1}> { t = Add(a, b) r = Reshape(t, s) y = Add(r, d) }");
	for (size_t k = 0; k < 3; k++)
		normal(&c.in[k], 71 + k, k < 2 ? 1 : 1e-3);
	for (int cheat = 0; cheat < 2; cheat++) {
		for (int i = 0; i < N; i++) {
			float a = ((float *)c.in[0].data)[i], d = ((float *)c.in[2].data)[i];
			volatile float b = ((float *)c.in[1].data)[i] = -a, later = b + d;

			((float *)c.got.data)[i] = a + later + (cheat ? 0x1p-21f * a : 0);
		}
		within(&c, !cheat, cheat ? "eight units" : "another order");
	}
	teardown(&c);
}

/* ---- attention with scores of some hundreds ---- */

enum { HEADS = 2, QUERIES = 24, KEYS = 24, DEPTH = 100, PROBS = HEADS * QUERIES * KEYS };

/* How a program adds up and which cheats there are. */
typedef enum { FORWARD, BACKWARD, FUSED_FOUR, N_SCORES } Scores;
typedef enum { RIGHT, NO_TERM, ZEROS, NEIGHBOUR, CONSTANT, HALF_DIGITS, NO_BIAS, N_ATTENTION } Attention;

static float score(const float *q, const float *k, Scores order, Attention cheat)
{
	volatile float sum[4] = { 0 };
	int n = cheat == NO_TERM ? DEPTH - 1 : DEPTH;

	for (int t = 0; t < n; t++) {
		int d = order == BACKWARD ? n - 1 - t : t;
		volatile float p = q[d] * k[d * KEYS];

		if (order == FUSED_FOUR)
			sum[t % 4] = fmaf(q[d], k[d * KEYS], sum[t % 4]);
		else
			sum[0] += p;
	}
	sum[0] += sum[1];
	sum[2] += sum[3];
	return sum[0] + sum[2];
}

/* One line of probabilities: x in, p out. */
static void soft(float *x, Scores order)
{
	volatile float sum = 0, top = x[0];

	for (int j = 1; j < KEYS; j++)
		top = fmaxf(top, x[j]);
	for (int j = 0; j < KEYS; j++) {
		volatile float d = x[j] - top, e = d * 1.44269504f, m = top * 1.44269504f;

		x[j] = order == FORWARD    ? expf(d)
		       : order == BACKWARD ? exp2f(e)
					   : exp2f(fmaf(x[j], 1.44269504f, -m));
	}
	for (int j = 0; j < KEYS; j++)
		sum += x[order == BACKWARD ? KEYS - 1 - j : j];
	for (int j = 0; j < KEYS; j++)
		x[j] = order == FORWARD ? x[j] / sum : x[j] * (1 / sum);
}

static void attention(Case *c, Scores order, Attention cheat)
{
	const float *q = c->in[0].data, *k = c->in[1].data, *table = c->in[2].data, *mask = c->in[4].data;
	float *y = c->got.data;

	for (int r = 0; r < HEADS * QUERIES; r++) {
		int h = r / QUERIES, from = cheat == NEIGHBOUR ? h * QUERIES + (r + 1) % QUERIES : r;
		float *p = y + r * KEYS;

		for (int j = 0; j < KEYS; j++) {
			int64_t at = pm_tensor_get_i(&c->in[3], from % QUERIES * KEYS + j);
			volatile float x = score(q + from * DEPTH, k + h * DEPTH * KEYS + j, order, cheat);
			volatile float b = cheat == NO_BIAS ? 0 : table[at * HEADS + h],
				       m = mask[from % QUERIES * KEYS + j];

			p[j] = order == BACKWARD ? x + (b + m) : x + b + m;
			if (cheat == HALF_DIGITS)
				p[j] = roundf(p[j] * 64) / 64;
		}
		soft(p, order);
		for (int j = 0; j < KEYS; j++)
			p[j] = cheat == ZEROS ? 0 : cheat == CONSTANT ? 1.0f / KEYS : p[j];
	}
}

/* Each row has a size of its own, of which scores become some hundreds. */
static void wide(PmTensor *t, uint64_t seed, double scale)
{
	int64_t n = pm_tensor_numel(t), row = t->type.dim[t->type.rank - 1];
	double size = 1;
	PmRng r;

	pm_rng_init_named(&r, seed, "wide");
	for (int64_t i = 0; i < n; i++) {
		size = i % row ? size : exp2(8 * pm_rng_uniform(&r) - 4);
		pm_tensor_set(t, i, scale * size * pm_rng_normal(&r));
	}
}

/* Sums in which float keeps nothing of the bias: all arguments of a line are equal there, and one is the
 * largest in the reference. A term whose argument is exact is as open as those that are not. */
static void swallowed_bias(void **state)
{
	enum { ROWS = 64, COLS = 16 };
	Case c;
	float *y;

	(void)state;
	setup(&c, "g (float[64,16] x, float[64,16] b) => (float[64,16] y) { a = Add(x, b) y = Softmax<axis = "
		  "1>(a) }");
	y = c.got.data;
	for (uint64_t secret = 0; secret < 10; secret++) {
		normal(&c.in[0], 300 + secret, 1);
		normal(&c.in[1], 400 + secret, 0x1p60);
		for (int i = 0; i < ROWS * COLS; i++) {
			if (i >= ROWS / 2 * COLS || i % 3 == 0) /* among them exact sums */
				pm_tensor_set(&c.in[1], i, i >= ROWS / 2 * COLS || i % 2 ? 0 : 0x1p61);
			if (i < ROWS / 2 * COLS)
				pm_tensor_set(&c.in[0], i, 0x1p100);
		}
		for (int cheat = 0; cheat < 3; cheat++) {
			for (int i = 0; i < ROWS * COLS; i++) {
				volatile float top = -INFINITY, sum = 0, a;
				int row = i / COLS * COLS;

				for (int j = 0; j < COLS; j++) {
					a = ((float *)c.in[0].data)[row + j] +
					    ((float *)c.in[1].data)[row + j];
					top = fmaxf(top, a);
				}
				for (int j = 0; j < COLS; j++) {
					a = ((float *)c.in[0].data)[row + j] +
					    ((float *)c.in[1].data)[row + j];
					sum += expf(a - top);
				}
				a = ((float *)c.in[0].data)[i] + ((float *)c.in[1].data)[i];
				y[i] = expf(a - top) / sum;
			}
			if (cheat == 1) /* more than there is */
				y[3] = 2;
			for (int i = ROWS / 2 * COLS; i < ROWS * COLS && cheat == 2; i++)
				y[i] = 0;
			assert_false(judged(&c, !cheat, cheat ? "no probabilities" : "float").tells);
		}
	}
	teardown(&c);
}

/* The bias is looked up in a table by positions that pass through a Reshape, as in a Swin block. */
static void wide_scores(void **state)
{
	static const char *const what[] = { "right",      "a term of a hundred left out",
					    "zeros",      "the next row's",
					    "a constant", "scores of few digits",
					    "no bias" };
	Case c;

	(void)state;
	setup(&c,
	      "g (float[2,24,100] q, float[2,100,24] k, float[49,2] table, int64[24,24] index, "
	      "float[24,24] mask) => (float[2,24,24] y) <int64[1] flat = {-1}, int64[3] shape = {24, 24, 2}> "
	      "{ s = MatMul(q, k) i = Reshape(index, flat) r = Gather<axis = 0>(table, i) "
	      "v = Reshape(r, shape) b = Transpose<perm = [2, 0, 1]>(v) a = Add(s, b) x = Add(a, mask) "
	      "y = Softmax<axis = 2>(x) }");
	for (uint64_t secret = 0; secret < 8; secret++) {
		for (size_t k = 0; k < 5; k++)
			if (k != 3)
				wide(&c.in[k], 100 * secret + k, k < 2 ? 0.5 : 1);
		for (int k = 0; k < QUERIES * KEYS; k++)
			pm_tensor_set_i(&c.in[3], k, (int64_t)((uint64_t)k * 31 + secret) % 49);
		for (Scores order = 0; order < N_SCORES; order++)
			for (Attention cheat = 0; cheat < N_ATTENTION; cheat++) {
				PmBoundFit f;

				attention(&c, order, cheat);
				f = judged(&c, cheat == RIGHT, what[cheat]);
				assert_true(f.tells && f.open * 100 <= PROBS);
			}
	}
	teardown(&c);
}

/* Each operator of ir/core/ops.def has a rule, or the reason why it has none, and not both. */
static void each_operator(void **state)
{
	(void)state;
	for (PmOp op = 0; op < PM_N_OPS; op++)
		if (pm_op_desc(op) && *pm_op_desc(op)->name &&
		    pm__bound_has_rule(op) == (pm__bound_no_rule(op) != NULL))
			fail_msg("%s has %s in bench/compare/bound/bound_rules.c", pm_op_desc(op)->name,
				 pm__bound_has_rule(op) ? "a rule and a reason for none"
							: "neither a rule nor a reason for none");
}

/* The larger of two is one of them, to the last digit, in any order. */
static void scatters_that_choose(void **state)
{
	Case c;

	(void)state;
	setup(&c, "g (float[4] x, int64[9] i, float[9] u) => (float[4] y) "
		  "{ y = ScatterElements<axis = 0, reduction = \"max\">(x, i, u) }");
	normal(&c.in[0], 1, 1);
	normal(&c.in[2], 2, 1);
	for (int k = 0; k < 9; k++)
		pm_tensor_set(&c.in[1], k, k % 4);
	for (int p = 0; p < 4; p++) {
		double top = pm_tensor_get(&c.in[0], p);

		for (int k = p; k < 9; k += 4)
			top = fmax(top, pm_tensor_get(&c.in[2], k));
		pm_tensor_set(&c.got, p, top);
	}
	within(&c, 1, "the largest");
	((float *)c.got.data)[2] = nextafterf(((float *)c.got.data)[2], 9);
	within(&c, 0, "a digit more");
	teardown(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_resize),
		cmocka_unit_test(cubic_resize),
		cmocka_unit_test(nearest_resize),
		cmocka_unit_test(one_number),
		cmocka_unit_test(far_means),
		cmocka_unit_test(uncertain_choice),
		cmocka_unit_test(moved_positions),
		cmocka_unit_test(moved_choice),
		cmocka_unit_test(moved_numbers),
		cmocka_unit_test(wide_scores),
		cmocka_unit_test(swallowed_bias),
		cmocka_unit_test(each_operator),
		cmocka_unit_test(scatters_that_choose),
		cmocka_unit_test(function_of_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
