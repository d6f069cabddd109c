/* test_bound_rules.c - the error bound of Resize and of a batch normalisation: honest float programs in
 * several orders stay within it, cheats do not; and each operator of the table has a rule or a reason to have
 * none.
 */
#include "base/rng.h"
#include "bench/bound_priv.h"
#include "ir/text.h"

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
	if (pm_graph_parse(text, strlen(text), &c->g, &c->err))
		fail_msg("%s: %s", text, c->err.text);
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

	if (pm_bound_run(c->g, c->in, pm_graph_n_inputs(c->g), PM_LANE_STRICT, &b, 1, &c->err))
		fail_msg("%s: %s", what, c->err.text);
	if (!b.known)
		fail_msg("%s: the bound has no rule", what);
	pm_bound_fit(&b, &c->got, &f);
	pm_bounds_release(&b, 1);
	return f;
}

static void within(Case *c, int want, const char *what)
{
	PmBoundFit f = fit(c, what);

	if (f.within != want)
		fail_msg("%s: rms %.3g, max %.3g, bias %.3g, slope %.3g (element %lld: %.9g, got %.9g)", what,
			 f.rms, f.max, f.bias, f.slope, (long long)f.index, f.expected, f.got);
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
			within(&c, !cheat, cheat ? "no probabilities" : "float");
			assert_false(fit(&c, "float").tells);
		}
	}
	teardown(&c);
}

/* Each operator of ir/ops.def has a rule, or the reason why it has none, and not both. */
static void each_operator(void **state)
{
	(void)state;
	for (PmOp op = 0; op < PM_N_OPS; op++)
		if (pm_op_desc(op) && *pm_op_desc(op)->name &&
		    pm__bound_has_rule(op) == (pm__bound_no_rule(op) != NULL))
			fail_msg("%s has %s in bench/bound_rules.c", pm_op_desc(op)->name,
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
		cmocka_unit_test(swallowed_bias),
		cmocka_unit_test(each_operator),
		cmocka_unit_test(scatters_that_choose),
		cmocka_unit_test(function_of_one_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
