/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_scaled_masked_softmax.c - attention scores on many shapes and masks, and what only looks alike.
 */
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define PASS        "scaled_masked_softmax"
#define X           "$T[$a,$b,$c,$d]"
#define G(mask, c)  "g (" X " x, " mask " m) => (" X " y) " c
#define SCALE       "<$T k = {0.125}, $T big = {-10000}> "
#define END         "y = Softmax<axis = 3>(s) }"
#define USUAL(mask) G(mask, SCALE) "{ kx = Mul(x, k) s = Add(kx, m) " END

/* batch, heads, queries, keys */
static const PassDims shapes[] = {
	{ { 1, 1, 1, 1 } },    { { 1, 1, 1, 2 } },    { { 2, 3, 5, 7 } },    { { 1, 2, 7, 13 } },
	{ { 2, 1, 3, 31 } },   { { 1, 2, 4, 32 } },   { { 2, 2, 3, 33 } },   { { 3, 2, 2, 64 } },
	{ { 1, 3, 5, 100 } },  { { 1, 1, 2, 257 } },  { { 2, 2, 1, 384 } },  { { 1, 1, 3, 1021 } },
	{ { 1, 2, 1, 1024 } }, { { 1, 1, 2, 1025 } }, { { 1, 1, 2, 2051 } },
};
static const PassDims few[] = { { { 2, 3, 5, 7 } }, { { 2, 2, 3, 33 } }, { { 1, 3, 4, 64 } } };

static void usual_spelling_fuses_on_every_shape(void **state)
{
	(void)state;
	pass_fuses(PASS, USUAL("$T[$a,1,1,$d]"), 1, shapes, PASS_COUNT(shapes));
}

static void mask_broadcasts_along_any_axes(void **state)
{
	static const char *const tmpl[] = {
		USUAL(X),
		USUAL("$T[$a,1,$c,$d]"),
		USUAL("$T[1,1,$c,$d]"),
		USUAL("$T[1,$b,$c,$d]"),
		USUAL("$T[$a,$b,1,$d]"),
		USUAL("$T[$a,$b,$c,1]"),
		USUAL("$T[1,$b,1,1]"),
		USUAL("$T[$c,$d]"),
		USUAL("$T[$d]"),
		USUAL("$T[1]"),
		USUAL("$T[1,$b,1,$d]"),
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		pass_fuses_float(PASS, tmpl[i], 1, few, PASS_COUNT(few));
}

static void every_spelling_fuses(void **state)
{
	static const char *const tmpl[] = {
		G("$T[$a,1,1,$d]", SCALE) "{ kx = Div(x, k) s = Add(m, kx) " END,
		G("$T[$a,1,1,$d]", SCALE) "{ kx = Mul(k, x) bm = Mul(m, big) s = Add(kx, bm) " END,
		G("$T[$a,1,1,$d]", SCALE) "{ kx = Div(x, k) bm = Mul(big, m) s = Add(bm, kx) " END,
		G("$T[$a,1,1,$d]", SCALE) "{ s = Add(x, m) " END,
		"g (" X " x) => (" X " y) " SCALE "{ s = Mul(x, k) " END,
		"g (" X " x) => (" X " y) " SCALE "{ s = Div(x, k) " END,
		/* window attention: a reshape between mask and softmax */
		"g ($T[1,$a,$b,$c,$d] x, $T[1,$a,1,$c,$d] m) => (" X " y) "
		"<int64[4] shape = {-1,$b,$c,$d}> { t = Add(x, m) s = Reshape(t, shape) " END,
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		pass_fuses(PASS, tmpl[i], 1, few, PASS_COUNT(few));
}

static void rows_beyond_shared_memory_are_read_again(void **state)
{
	static const PassDims rows[] = { { { 1, 1, 1, 13001 } }, { { 1, 1, 1, 16384 } } };

	(void)state;
	pass_fuses(PASS, USUAL("$T[$a,1,1,$d]"), 1, rows, PASS_COUNT(rows));
}

static void mask_of_very_low_numbers_fuses(void **state)
{
	static const PassDims rows[] = { { { 1, 2, 3, 37 } } };

	(void)state;
	pass_fuses_float(PASS,
			 G("$T[$a,1,1,$d]",
			   "<$T k = {0.125}, $T big = {-1e+36}>") "{ kx = Mul(x, k) bm = Mul(m, big) s "
								  "= Add(kx, bm) " END,
			 1, rows, 1);
}

static void near_misses_are_left_alone(void **state)
{
	static const PassDims row = { { 4, 4, 4, 4 } };

	(void)state;
	/* equal sizes: only the axis tells them apart */
	pass_refuses(PASS, G(X, SCALE) "{ kx = Mul(x, k) s = Add(kx, m) y = Softmax<axis = 2>(s) }", row,
		     "axis");
	pass_refuses(PASS, G(X, SCALE) "{ kx = Mul(x, k) s = Sub(kx, m) " END, row, "");
	pass_refuses(PASS, G(X, SCALE) "{ kx = Mul(x, k) s = Add(kx, m) y = LogSoftmax<axis = 3>(s) }", row,
		     "");
	/* a mask that is turned is not a term of the sum, but turning the sum itself changes the rows */
	pass_refuses(PASS, G(X, SCALE) "{ t = Add(x, m) s = Transpose<perm = [0, 1, 3, 2]>(t) " END, row, "");
	/* the reshape changes the rows */
	pass_refuses(PASS,
		     "g ($T[$a,$b] x, $T[$a,$b] m) => ($T[$c,$d] y) <int64[2] shape = {$c,$d}> "
		     "{ t = Add(x, m) s = Reshape(t, shape) y = Softmax<axis = 1>(s) }",
		     (PassDims){ { 2, 6, 3, 4 } }, "reshape changes the rows");
	/* the sum is wanted elsewhere */
	pass_refuses(PASS, "g (" X " x, " X " m) => (" X " y, " X " s) { s = Add(x, m) " END, row,
		     "output of the graph");
	/* a scale per head is not one number, and the product alone is no mask */
	pass_refuses(PASS, "g (" X " x, $T[1,$b,1,1] k) => (" X " y) { s = Mul(x, k) " END, row,
		     "not one constant number");
	/* terms that both broadcast */
	pass_refuses(PASS,
		     "g ($T[$a,1] x, $T[1,$b] m) => ($T[$a,$b] y) { s = Add(x, m) y = Softmax<axis = 1>(s) }",
		     row, "both terms broadcast");
	/* four separate strides */
	pass_refuses(PASS,
		     "g ($T[$a,$b,$c,$d,$a,$b] x, $T[$a,1,$c,1,$a,$b] m) => ($T[$a,$b,$c,$d,$a,$b] y) "
		     "{ s = Add(x, m) y = Softmax<axis = 5>(s) }",
		     (PassDims){ { 2, 3, 2, 3 } }, "more separate axes");
	pass_refuses(PASS, USUAL(X), (PassDims){ { 2, 0, 3, 4 } }, "empty");
	pass_refuses(PASS, "g (" X " x) => (" X " y) { y = Softmax<axis = 3>(x) }", row, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_spelling_fuses_on_every_shape),
		cmocka_unit_test(mask_broadcasts_along_any_axes),
		cmocka_unit_test(every_spelling_fuses),
		cmocka_unit_test(rows_beyond_shared_memory_are_read_again),
		cmocka_unit_test(mask_of_very_low_numbers_fuses),
		cmocka_unit_test(near_misses_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
