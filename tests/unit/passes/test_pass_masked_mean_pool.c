/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_masked_mean_pool.c - pooling over the sequence in every spelling, and what only looks like it. */
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define PASS     "masked_mean_pool"
#define TO(type) "Cast<to = " type ">"
#define G(mask)  "g ($T[$a,$b,$c] x, " mask " m) => ($T[$a,$c] y) "
#define EPS      "<int64[3] full = {$a,$b,$c}, $T eps = {0.001}> "
#define OVER(x)  "ReduceSum<axes = [1], keepdims = 0>(" x ")"
#define POOL     "p = Mul(x, w) n = " OVER("p") "c = " OVER("w") "d = Clip(c, eps) y = Div(n, d) }"
#define POOL_MAX "p = Mul(w, x) n = " OVER("p") "c = " OVER("w") "d = Max(eps, c) y = Div(n, d) }"
#define COLUMN   "u = Unsqueeze<axes = [2]>"
#define USUAL    G("int64[$a,$b]") EPS "{" COLUMN "(m) e = Expand(u, full) w = " TO("$O") "(e) " POOL

/* batch, sequence, hidden */
static const PassDims shapes[] = {
	{ { 1, 1, 1 } },    { { 1, 1, 2 } },    { { 2, 3, 5 } },    { { 1, 7, 13 } },  { { 3, 1, 31 } },
	{ { 1, 2, 32 } },   { { 2, 2, 33 } },   { { 1, 5, 64 } },   { { 1, 1, 257 } }, { { 2, 17, 96 } },
	{ { 1, 11, 100 } }, { { 2, 31, 384 } }, { { 1, 13, 769 } }, { { 1, 128, 7 } }, { { 5, 64, 3 } },
};
static const PassDims few[] = { { { 2, 3, 5 } }, { { 1, 17, 64 } }, { { 3, 3, 3 } } };

static void usual_spelling_fuses_on_every_shape(void **state)
{
	(void)state;
	pass_fuses(PASS, USUAL, 1, shapes, PASS_COUNT(shapes));
}

static void every_spelling_fuses(void **state)
{
	static const char *const tmpl[] = {
		/* cast before, between and after; with and without expand; Clip and Max */
		G("int64[$a,$b]") EPS "{" COLUMN "(m) w = " TO("$O") "(u) " POOL,
		G("int64[$a,$b]") EPS "{ f = " TO("$O") "(m) w = Unsqueeze<axes = [2]>(f) " POOL_MAX,
		G("int64[$a,$b]") EPS "{ f = " TO("$O") "(m) " COLUMN "(f) w = Expand(u, full) " POOL,
		G("int64[$a,$b]") EPS "{" COLUMN "(m) f = " TO("$O") "(u) w = Expand(f, full) " POOL_MAX,
		G("int64[$a,$b]") EPS "{" COLUMN "(m) e = Expand(u, full) w = " TO("$O") "(e) " POOL_MAX,
		/* masks of other types */
		G("int32[$a,$b]") EPS "{" COLUMN "(m) w = " TO("$O") "(u) " POOL,
		G("bool[$a,$b]") EPS "{" COLUMN "(m) w = " TO("$O") "(u) " POOL,
		G("bool[$a,$b]") EPS "{ i = " TO("7") "(m) " COLUMN "(i) w = " TO("$O") "(u) " POOL,
		G("$T[$a,$b]") EPS "{" COLUMN "(m) w = Expand(u, full) " POOL,
		G("$T[$a,$b]") EPS "{ w = Unsqueeze<axes = [2]>(m) " POOL_MAX,
	};

	(void)state;
	for (size_t i = 0; i < PASS_COUNT(tmpl); i++)
		pass_fuses(PASS, tmpl[i], 1, few, PASS_COUNT(few));
}

static void near_misses_are_left_alone(void **state)
{
	static const PassDims row = { { 4, 4, 4 } };

	(void)state;
	/* equal sizes: only axes tell these apart */
	pass_refuses(PASS, G("int64[$a,$b]") EPS "{ u = Unsqueeze<axes = [1]>(m) w = " TO("$O") "(u) " POOL,
		     row, "axes");
	pass_refuses(PASS,
		     G("int64[$a,$b]") EPS
		     "{" COLUMN "(m) w = " TO("$O") "(u) p = Mul(x, w) "
						    "n = ReduceSum<axes = [2], keepdims = 0>(p) c = " OVER(
							    "w") "d = Clip(c, eps) y = Div(n, d) }",
		     row, "axes");
	pass_refuses(
		PASS,
		"g ($T[$a,$b,$c] x, int64[$a,$b] m) => ($T[$a,1,$c] y) " EPS "{" COLUMN "(m) w = " TO(
			"$O") "(u) p = Mul(x, w) n = ReduceSum<axes = [1]>(p) c = ReduceSum<axes = [1]>(w) "
			      "d = Clip(c, eps) y = Div(n, d) }",
		row, "keepdims");
	/* counts are lost */
	pass_refuses(PASS,
		     G("int64[$a,$b]") EPS "{ q = " TO("9") "(m) " COLUMN "(q) w = " TO("$O") "(u) " POOL,
		     row, "through bool");
	pass_refuses(PASS,
		     G("int64[$a,$b]") EPS "{ q = " TO("3") "(m) " COLUMN "(q) w = " TO("$O") "(u) " POOL,
		     row, "");
	/* the count is of another mask */
	pass_refuses(PASS,
		     "g ($T[$a,$b,$c] x, int64[$a,$b] m, int64[$a,$b] o) => ($T[$a,$c] y) " EPS "{" COLUMN
		     "(m) w = " TO("$O") "(u) v = Unsqueeze<axes = [2]>(o) z = " TO(
			     "$O") "(v) p = Mul(x, w) n = " OVER("p") "c = " OVER("z") "d = Clip(c, eps) y = "
										       "Div(n, d) }",
		     row, "");
	/* no lower bound that is positive */
	pass_refuses(PASS, G("int64[$a,$b]") "<$T eps = {0}> {" COLUMN "(m) w = " TO("$O") "(u) " POOL, row,
		     "not a positive constant");
	pass_refuses(PASS,
		     "g ($T[$a,$b,$c] x, int64[$a,$b] m, $T eps) => ($T[$a,$c] y) {" COLUMN
		     "(m) w = " TO("$O") "(u) " POOL,
		     row, "not a positive constant");
	/* a mask of one row for all */
	pass_refuses(PASS, G("int64[1,$b]") EPS "{" COLUMN "(m) w = " TO("$O") "(u) " POOL, row,
		     "does not cover");
	pass_refuses(PASS, USUAL, (PassDims){ { 4, 0, 4 } }, "empty");
	/* the widened mask is wanted elsewhere */
	pass_refuses(PASS,
		     "g ($T[$a,$b,$c] x, int64[$a,$b] m) => ($T[$a,$c] y, $T[$a,$b,1] w) " EPS "{" COLUMN
		     "(m) w = " TO("$O") "(u) " POOL,
		     row, "used outside");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_spelling_fuses_on_every_shape),
		cmocka_unit_test(every_spelling_fuses),
		cmocka_unit_test(near_misses_are_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
