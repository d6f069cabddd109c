/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_bias_gelu.c - GELU in every spelling, with and without bias, and what only looks like it. */
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define CONSTS                                                                                               \
	"<$T r2 = {1.4142135}, $T rh = {0.70710678}, $T half = {0.5}, $T one = {1}, $T two = {2}, "          \
	"$T three = {3}, $T c = {0.79788456}, $T k = {0.044715}, $T other = {1.5}>"
#define ROW_BIAS(body) "g ($T[$a,$b,$c] x, $T[$c] b) => ($T[$a,$b,$c] y) " CONSTS "{ s = Add(x, b) " body "}"
#define ALONE(body)    "g ($T[$a,$b,$c] s) => ($T[$a,$b,$c] y) " CONSTS "{" body "}"
#define BY_DIV         "d = Div(s, r2) e = Erf(d) g = Add(e, one) "
#define BY_MUL         "d = Mul(rh, s) e = Erf(d) g = Add(one, e) "
#define BY_TANH        "p = Pow(s, three) kp = Mul(k, p) q = Add(s, kp) cq = Mul(c, q) t = Tanh(cq) g = Add(t, one) "
#define BY_TANH_MUL                                                                                          \
	"s2 = Mul(s, s) p = Mul(s2, s) kp = Mul(p, k) q = Add(kp, s) cq = Mul(q, c) t = Tanh(cq) "           \
	"g = Add(one, t) "
#define BY_TANH_FACTORED                                                                                     \
	"cs = Mul(s, c) ks = Mul(s, k) kss = Mul(ks, s) i = Add(kss, one) q = Mul(cs, i) t = Tanh(q) "       \
	"g = Add(one, t) "
#define HALF_GATE  "h = Mul(half, g) y = Mul(s, h)"
#define HALF_LAST  "h = Mul(s, g) y = Mul(h, half)"
#define HALF_X     "h = Mul(s, half) y = Mul(h, g)"
#define HALF_X_DIV "h = Div(s, two) y = Mul(g, h)"

static const PassDims shapes[] = {
	{ { 1, 1, 1 } },   { { 1, 1, 2 } },    { { 1, 3, 1 } },   { { 2, 3, 5 } },    { { 1, 7, 13 } },
	{ { 3, 1, 31 } },  { { 1, 2, 32 } },   { { 2, 2, 33 } },  { { 1, 5, 64 } },   { { 1, 1, 257 } },
	{ { 2, 17, 96 } }, { { 1, 11, 100 } }, { { 1, 4, 768 } }, { { 1, 3, 1021 } }, { { 2, 3, 1536 } },
};
static const PassDims few[] = { { { 2, 3, 5 } }, { { 1, 5, 64 } }, { { 2, 2, 33 } } };

static void usual_spelling_fuses_on_every_shape(void **state)
{
	(void)state;
	pass_fuses("bias_gelu", ROW_BIAS(BY_DIV HALF_GATE), 1, shapes, PASS_COUNT(shapes));
	pass_fuses("bias_gelu", ALONE(BY_DIV HALF_GATE), 1, shapes, PASS_COUNT(shapes));
}

static void tanh_fuses_on_every_shape(void **state)
{
	(void)state;
	pass_fuses("bias_gelu", ROW_BIAS(BY_TANH HALF_X), 1, shapes, PASS_COUNT(shapes));
}

static void every_spelling_fuses(void **state)
{
	static const char *const tmpl[] = {
		ROW_BIAS(BY_DIV HALF_LAST),        ROW_BIAS(BY_DIV HALF_X),
		ROW_BIAS(BY_MUL HALF_GATE),        ROW_BIAS(BY_MUL HALF_LAST),
		ROW_BIAS(BY_MUL HALF_X_DIV),       ROW_BIAS(BY_TANH HALF_GATE),
		ROW_BIAS(BY_TANH_MUL HALF_LAST),   ROW_BIAS(BY_TANH_MUL HALF_X),
		ROW_BIAS(BY_TANH_FACTORED HALF_X), ALONE(BY_DIV HALF_LAST),
		ALONE(BY_DIV HALF_X_DIV),          ALONE(BY_MUL HALF_X),
		ALONE(BY_TANH HALF_GATE),          ALONE(BY_TANH_MUL HALF_X_DIV),
		ALONE(BY_TANH_FACTORED HALF_LAST),
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		pass_fuses_float("bias_gelu", tmpl[i], 1, few, PASS_COUNT(few));
}

/* What float models made from bfloat16 and float16 ones hold. */
static void rounded_constants_fuse_and_are_used(void **state)
{
#define ROUNDED(r, c, k)                                                                                     \
	"g ($T[$a,$b,$c] s) => ($T[$a,$b,$c] y) <$T r2 = {" r "}, $T half = {0.5}, $T one = {1}, "           \
	"$T three = {3}, $T c = {" c "}, $T k = {" k "}> {"
	static const char *const tmpl[] = {
		ROUNDED("1.4140625", "1", "1") BY_DIV HALF_GATE "}",
		ROUNDED("1", "0.796875", "0.0446777344") BY_TANH HALF_GATE "}",
		ROUNDED("1", "0.7978515625", "0.0447082519") BY_TANH HALF_X "}",
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		pass_fuses("bias_gelu", tmpl[i], 1, few, PASS_COUNT(few));
}

static void operator_fuses_with_its_bias(void **state)
{
	(void)state;
	pass_fuses("bias_gelu", ROW_BIAS("y = Gelu(s)"), 1, few, PASS_COUNT(few));
	pass_fuses("bias_gelu", ROW_BIAS("y = Gelu<approximate = \"tanh\">(s)"), 1, few, PASS_COUNT(few));
}

static void bias_may_lie_along_any_run_of_axes(void **state)
{
	static const PassDims images[] = {
		{ { 2, 3, 4, 5 } }, { { 1, 5, 1, 1 } }, { { 3, 7, 2, 8 } }, { { 1, 2, 9, 16 } }
	};
	static const char *const bias[] = {
		"g ($T[$a,$b,$c,$d] x, $T[$b,1,1] b) => ($T[$a,$b,$c,$d] y) " CONSTS
		"{ s = Add(b, x) " BY_DIV HALF_GATE "}",
		"g ($T[$a,$b,$c,$d] x, $T[1,$b,$c,1] b) => ($T[$a,$b,$c,$d] y) " CONSTS
		"{ s = Add(x, b) " BY_DIV HALF_GATE "}",
		"g ($T[$a,$b,$c,$d] x, $T[1] b) => ($T[$a,$b,$c,$d] y) " CONSTS
		"{ s = Add(x, b) " BY_DIV HALF_GATE "}",
		"g ($T[$a,$b,$c,$d] x, $T[$a,$b,$c,$d] b) => ($T[$a,$b,$c,$d] y) " CONSTS
		"{ s = Add(x, b) " BY_DIV HALF_GATE "}",
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(bias); i++)
		pass_fuses("bias_gelu", bias[i], 1, images, PASS_COUNT(images));
}

static void near_misses_are_left_alone(void **state)
{
	static const PassDims row = { { 2, 3, 5 } };

	(void)state;
	/* other constants */
	pass_refuses("bias_gelu", ALONE("d = Div(s, other) e = Erf(d) g = Add(e, one) " HALF_GATE), row,
		     "1.41421");
	pass_refuses("bias_gelu", ALONE(BY_DIV "h = Mul(other, g) y = Mul(s, h)"), row, "0.5");
	pass_refuses("bias_gelu", ALONE("d = Div(s, r2) e = Erf(d) g = Add(e, two) " HALF_GATE), row, "");
	/* the argument of erf is not x */
	pass_refuses("bias_gelu",
		     "g ($T[$a] s, $T[$a] z) => ($T[$a] y) " CONSTS
		     "{ d = Div(z, r2) e = Erf(d) g = Add(e, one) " HALF_GATE "}",
		     row, "");
	/* division the other way round */
	pass_refuses("bias_gelu", ALONE("d = Div(r2, s) e = Erf(d) g = Add(e, one) " HALF_GATE), row, "");
	/* an inner value is wanted elsewhere */
	pass_refuses("bias_gelu", "g ($T[$a] s) => ($T[$a] y, $T[$a] e) " CONSTS "{" BY_DIV HALF_GATE "}",
		     row, "output of the graph");
	/* square instead of cube */
	pass_refuses("bias_gelu",
		     ALONE("p = Pow(s, two) kp = Mul(k, p) q = Add(s, kp) cq = Mul(c, q) t = Tanh(cq) "
			   "g = Add(t, one) " HALF_X),
		     row, "");
	/* a constant that makes the result larger than x */
	pass_refuses(
		"bias_gelu",
		"g ($T[$a] s) => ($T[1,1,$a] y) <$T r2 = {1.4142135}, $T half = {0.5}, $T[1,1,1] one = {1}> "
		"{" BY_DIV HALF_GATE "}",
		row, "larger shape");
	pass_refuses("bias_gelu", ALONE(BY_DIV HALF_GATE), (PassDims){ { 2, 0, 5 } }, "empty");
	pass_refuses("bias_gelu", "g ($T[$a] x) => ($T[$a] y) { y = Gelu(x) }", row, "");
	/* both operands of the sum broadcast: no band, and the sum cannot stay outside of Gelu alone */
	pass_refuses("bias_gelu", "g ($T[$a,1] x, $T[$b] b) => ($T[$a,$b] y) { s = Add(x, b) y = Gelu(s) }",
		     row, "neither operand");
	/* two separate bands */
	pass_refuses("bias_gelu",
		     "g ($T[$a,$b,$c] x, $T[$a,1,$c] b) => ($T[$a,$b,$c] y) { s = Add(x, b) y = Gelu(s) }",
		     row, "neither operand");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_spelling_fuses_on_every_shape),
		cmocka_unit_test(tanh_fuses_on_every_shape),
		cmocka_unit_test(every_spelling_fuses),
		cmocka_unit_test(rounded_constants_fuse_and_are_used),
		cmocka_unit_test(operator_fuses_with_its_bias),
		cmocka_unit_test(bias_may_lie_along_any_run_of_axes),
		cmocka_unit_test(near_misses_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
