/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_add_layer_norm.c - residual + layer normalisation on many shapes, and what only looks like it. */
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define IN2  "g ($T[$a,$b,$c] a, $T[$a,$b,$c] b, $T[$c] w, $T[$c] v) => "
#define NORM "y = LayerNormalization<axis = 2>(s, w, v) "
#define SUM  "s = Add(a, b) "
#define ONE  IN2 "($T[$a,$b,$c] y) {" SUM NORM "}"
#define TWO  IN2 "($T[$a,$b,$c] y, $T[$a,$b,$c] s) {" SUM NORM "}"
#define BIASED                                                                                               \
	"g ($T[$a,$b,$c] a, $T[$c] b, $T[$a,$b,$c] r, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y, $T[$a,$b,$c] " \
	"s)"                                                                                                 \
	"{ ab = Add(a, b) s = Add(r, ab) " NORM "}"

static const PassDims shapes[] = {
	{ { 1, 1, 2 } },    { { 1, 1, 3 } },   { { 2, 3, 5 } },    { { 1, 7, 13 } },   { { 3, 1, 31 } },
	{ { 1, 2, 32 } },   { { 2, 2, 33 } },  { { 1, 5, 64 } },   { { 1, 1, 257 } },  { { 2, 17, 96 } },
	{ { 1, 11, 100 } }, { { 1, 4, 768 } }, { { 1, 3, 1021 } }, { { 1, 2, 1536 } }, { { 1, 1, 4099 } },
};
static const PassDims few[] = { { { 2, 3, 5 } }, { { 1, 5, 64 } }, { { 2, 2, 33 } } };
static const PassDims long_rows[] = { { { 1, 2, 13001 } }, { { 1, 1, 16384 } }, { { 2, 1, 16411 } } };
static const PassDims ones[] = { { { 1, 1, 1 } }, { { 2, 3, 1 } } };

static void one_output_fuses(void **state)
{
	(void)state;
	pass_fuses("add_layer_norm", ONE, 1, shapes, PASS_COUNT(shapes));
	pass_fuses("add_layer_norm", ONE, 1, ones, PASS_COUNT(ones));
}

static void sum_is_an_output_too(void **state)
{
	(void)state;
	pass_fuses("add_layer_norm", TWO, 1, shapes, PASS_COUNT(shapes));
}

static void bias_in_front_fuses(void **state)
{
	(void)state;
	pass_fuses("add_layer_norm", BIASED, 1, shapes, PASS_COUNT(shapes));
}

static void rows_beyond_registers_are_added_up_again(void **state)
{
	(void)state;
	pass_fuses("add_layer_norm", TWO, 1, long_rows, PASS_COUNT(long_rows));
}

static void variants_fuse(void **state)
{
	static const char *const tmpl[] = {
		/* no bias */
		"g ($T[$a,$b,$c] a, $T[$a,$b,$c] b, $T[$c] w) => ($T[$a,$b,$c] y) {" SUM
		"y = LayerNormalization<axis = 2>(s, w) }",
		/* a position embedding, on either side */
		"g ($T[$a,$b,$c] a, $T[1,$b,$c] b, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y) {" SUM NORM "}",
		"g ($T[$b,$c] a, $T[$a,$b,$c] b, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y) {" SUM NORM "}",
		/* another epsilon */
		IN2 "($T[$a,$b,$c] y) {" SUM "y = LayerNormalization<axis = 2, epsilon = 0.001>(s, w, v) }",
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		pass_fuses("add_layer_norm", tmpl[i], 1, few, PASS_COUNT(few));
}

static void near_misses_are_left_alone(void **state)
{
	static const PassDims row = { { 4, 4, 4 } };

	(void)state;
	/* equal sizes: only the axis tells them apart */
	pass_refuses("add_layer_norm",
		     "g ($T[$a,$b,$c] a, $T[$a,$b,$c] b, $T[$b,$c] w, $T[$b,$c] v) => ($T[$a,$b,$c] y) {" SUM
		     "y = LayerNormalization<axis = 1>(s, w, v) }",
		     row, "axis");
	pass_refuses("add_layer_norm", IN2 "($T[$a,$b,$c] y) { s = Sub(a, b) " NORM "}", row, "Add");
	/* the mean is wanted too */
	pass_refuses("add_layer_norm",
		     IN2 "($T[$a,$b,$c] y, $T[$a,$b,1] m) {" SUM
			 "y, m = LayerNormalization<axis = 2>(s, w, v) }",
		     row, "output of the graph");
	/* one scale for all, one addend that is a column */
	pass_refuses("add_layer_norm",
		     "g ($T[$a,$b,$c] a, $T[$a,$b,1] b, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y) {" SUM NORM
		     "}",
		     row, "whole rows");
	pass_refuses("add_layer_norm",
		     "g ($T[$a,1,$c] a, $T[1,$b,$c] b, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y) {" SUM NORM
		     "}",
		     row, "whole rows");
	pass_refuses("add_layer_norm",
		     "g ($T[$a,$c] a, $T[$c] w, $T[$c] v) => ($T[$a,$c] y) "
		     "{ s = Add(a, a) y = LayerNormalization<axis = 1>(s, w, v) }",
		     row, "same value");
	pass_refuses("add_layer_norm", ONE, (PassDims){ { 0, 3, 5 } }, "empty");
	pass_refuses("add_layer_norm",
		     "g (double[$a,$c] a, double[$a,$c] b, double[$c] w, double[$c] v) => (double[$a,$c] y) "
		     "{ s = Add(a, b) y = LayerNormalization<axis = 1>(s, w, v) }",
		     row, "double");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_output_fuses),
		cmocka_unit_test(sum_is_an_output_too),
		cmocka_unit_test(bias_in_front_fuses),
		cmocka_unit_test(rows_beyond_registers_are_added_up_again),
		cmocka_unit_test(variants_fuse),
		cmocka_unit_test(near_misses_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
