/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_bn_relu.c - batch normalisation and activation on many shapes, and what only looks like it. */
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define X        "$T[$a,$b,$c,$d]"
#define PARAMS   "$T[$b] scale, $T[$b] bias, $T[$b] mean, $T[$b] var"
#define BN       "n = BatchNormalization(x, scale, bias, mean, var) "
#define G(body)  "g (" X " x, " PARAMS ") => (" X " y) {" BN body "}"
#define GR(body) "g (" X " x, " PARAMS ", " X " r) => (" X " y) {" BN body "}"

/* images, channels, height, width */
static const PassDims shapes[] = {
	{ { 1, 1, 1, 1 } },   { { 1, 2, 1, 1 } },   { { 2, 3, 1, 1 } },   { { 2, 3, 5, 7 } },
	{ { 1, 7, 2, 2 } },   { { 3, 1, 4, 4 } },   { { 1, 13, 3, 3 } },  { { 1, 5, 7, 7 } },
	{ { 2, 32, 4, 8 } },  { { 1, 31, 1, 33 } }, { { 1, 3, 16, 17 } }, { { 2, 64, 7, 7 } },
	{ { 1, 2, 31, 37 } }, { { 1, 4, 32, 33 } }, { { 1, 3, 56, 56 } },
};
static const PassDims few[] = { { { 2, 3, 5, 7 } }, { { 2, 32, 4, 8 } }, { { 1, 7, 2, 2 } } };

static void relu_fuses_on_every_shape(void **state)
{
	(void)state;
	pass_fuses("bn_relu", G("y = Relu(n)"), 1, shapes, PASS_COUNT(shapes));
}

static void residual_fuses_on_every_shape(void **state)
{
	(void)state;
	pass_fuses("bn_relu", GR("s = Add(n, r) y = Relu(s)"), 1, shapes, PASS_COUNT(shapes));
	pass_fuses("bn_relu", GR("s = Add(r, n) y = Relu(s)"), 1, few, PASS_COUNT(few));
}

static void silu_fuses_on_every_shape(void **state)
{
	(void)state;
	pass_fuses("bn_relu", G("s = Sigmoid(n) y = Mul(n, s)"), 1, shapes, PASS_COUNT(shapes));
}

static void other_activations_fuse(void **state)
{
	static const char *const tmpl[] = {
		G("y = HardSwish(n)"),
		G("y = LeakyRelu(n)"),
		G("y = LeakyRelu<alpha = 0.2>(n)"),
		"g (" X " x, " PARAMS ") => (" X " y) <$T lo = {0}, $T hi = {6}> {" BN
		"y = Clip(n, lo, hi) }",
		"g (" X " x, " PARAMS ") => (" X
		" y) { n = BatchNormalization<epsilon = 0.001, momentum = 0.99>"
		"(x, scale, bias, mean, var) y = Relu(n) }",
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		pass_fuses("bn_relu", tmpl[i], 1, few, PASS_COUNT(few));
}

static void other_ranks_fuse(void **state)
{
	static const PassDims rows[] = { { { 5, 7, 3, 2 } }, { { 1, 1, 33, 5 } } };

	(void)state;
	pass_fuses("bn_relu", "g ($T[$a,$b] x, " PARAMS ") => ($T[$a,$b] y) {" BN "y = Relu(n) }", 1, rows,
		   PASS_COUNT(rows));
	pass_fuses("bn_relu", "g ($T[$a,$b,$c] x, " PARAMS ") => ($T[$a,$b,$c] y) {" BN "y = Relu(n) }", 1,
		   rows, PASS_COUNT(rows));
	pass_fuses("bn_relu",
		   "g ($T[$a,$b,$c,$d,2] x, " PARAMS ") => ($T[$a,$b,$c,$d,2] y) {" BN "y = Relu(n) }", 1,
		   rows, PASS_COUNT(rows));
}

static void parameters_may_stay_float(void **state)
{
	(void)state;
	pass_fuses("bn_relu",
		   "g (" X " x, float[$b] scale, float[$b] bias, float[$b] mean, float[$b] var) => (" X
		   " y) {" BN "y = Relu(n) }",
		   1, few, PASS_COUNT(few));
}

static void near_misses_are_left_alone(void **state)
{
	static const PassDims row = { { 4, 4, 4, 4 } };

	(void)state;
	pass_refuses("bn_relu", "g (" X " x, " PARAMS ") => (" X " y, " X " n) {" BN "y = Relu(n) }", row,
		     "normalised value is used outside");
	pass_refuses("bn_relu", G("y = Tanh(n)"), row, "");
	pass_refuses("bn_relu", G("y = Identity(n)"), row, "");
	/* the gate is of another value */
	pass_refuses("bn_relu", GR("s = Sigmoid(r) y = Mul(n, s)"), row, "");
	/* a residual that broadcasts: equal sizes, other meaning */
	pass_refuses("bn_relu",
		     "g (" X " x, " PARAMS ", $T[$d] r) => (" X " y) {" BN "s = Add(n, r) y = Relu(s) }", row,
		     "residual broadcasts");
	pass_refuses("bn_relu", G("s = Sub(n, x) y = Relu(s)"), row, "");
	pass_refuses("bn_relu", G("s = Add(n, x) y = Relu(s)"), row, "x itself");
	/* a bound that is not a constant */
	pass_refuses("bn_relu",
		     "g (" X " x, " PARAMS ", $T hi) => (" X " y) <$T lo = {0}> {" BN "y = Clip(n, lo, hi) }",
		     row, "not a constant number");
	pass_refuses("bn_relu", G("y = Relu(n)"), (PassDims){ { 0, 3, 2, 2 } }, "empty");
	pass_refuses("bn_relu",
		     "g (float16[$a,$b,$c] x, double[$b] scale, double[$b] bias, double[$b] mean, double[$b] "
		     "var) => "
		     "(float16[$a,$b,$c] y) {" BN "y = Relu(n) }",
		     row, "neither of x's element type nor float");
	pass_refuses("bn_relu",
		     "g (float16[$a,$b,$c] x, float[$b] scale, float[$b] bias, float16[$b] mean, float16[$b] "
		     "var) => "
		     "(float16[$a,$b,$c] y) {" BN "y = Relu(n) }",
		     row, "differ in their element types");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relu_fuses_on_every_shape),  cmocka_unit_test(residual_fuses_on_every_shape),
		cmocka_unit_test(silu_fuses_on_every_shape),  cmocka_unit_test(other_activations_fuse),
		cmocka_unit_test(other_ranks_fuse),           cmocka_unit_test(parameters_may_stay_float),
		cmocka_unit_test(near_misses_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
