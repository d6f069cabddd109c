/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass_fuse_round.c - automatic fusion rounds what the eager run rounds: the same bits, or nearly. */
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PASS "fuse"

static void same_bits(const char *tmpl, const PassDims *rows, size_t n_rows)
{
	pass_agrees_with_eager(PASS, tmpl, PASS_SAME_BITS, rows, n_rows);
}

/* What cancels at the end shows every rounding before it. */
static void chains_have_the_same_bits(void **state)
{
	static const PassDims rows[] = { { { 3, 5, 7 } } };

	(void)state;
	same_bits("g ($T[$a,$b,$c] x, $T[$b,1] s, $T[$c] t, bool[$a,1,$c] m) => ($T[$a,$b,$c] y, "
		  "$T[$a,$b,$c] z) "
		  "<$T half = {0.3}> { a = Mul(x, s) z = Add(a, t) b = Erf(z) c = Mul(b, half) d = Sub(c, z) "
		  "e = Where(m, d, x) f = Add(e, a) y = Sub(f, z) }",
		  rows, PASS_COUNT(rows));
	same_bits("g ($T[$a,$b,$c] x, $T[$b,1] s) => ($T[$a,$b,$c] y) <$T two = {2}, $T three = {3}> { "
		  "a = Sigmoid(x) b = Mul(a, x) c = Pow(b, two) d = Pow(x, three) e = Add(c, d) f = Abs(e) "
		  "g = Sqrt(f) h = Div(g, s) i = Sub(h, b) j = Max(i, a, x) k = Tanh(j) y = Sum(k, d, x) }",
		  rows, PASS_COUNT(rows));
	same_bits(
		"g ($T[$a,$b,$c] x, $T[$a,$b,$c] w) => ($T[$a,$b,$c] y) <$T low = {-1.1}, $T high = {1.3}> { "
		"a = Gelu(x) b = Gelu<approximate = \"tanh\">(w) c = Add(a, b) d = Clip(c, low, high) e = "
		"HardSwish(d) "
		"f = LeakyRelu(e) g = Neg(f) h = Relu(g) i = Softplus(h) y = Sub(i, d) }",
		rows, PASS_COUNT(rows));
}

/* By vectors, with results and operands for which a division takes its long form: zeros, infinities, what is
 * tiny. */
static void quotients_have_the_same_bits(void **state)
{
	static const PassDims rows[] = { { { 264, 1024 } } };

	(void)state;
	same_bits("g ($T[$a,$b] x, $T[$b] s) => ($T[$a,$b] y, $T[$a,$b] z) <$T much = {40}, $T k = "
		  "{1.4142135}> { "
		  "m = Mul(x, much) e = Exp(m) y = Sigmoid(m) r = Relu(x) q = Div(r, k) i = Reciprocal(e) "
		  "d = Div(q, s) z = Sub(d, i) }",
		  rows, PASS_COUNT(rows));
}

/* Sums and products of values of 16 bits are made two lanes at a time: with a value for all lanes on either
 * side, of what was loaded, rounded or made so, and not inside a sum of three, which is rounded once. */
static void pairs_have_the_same_bits(void **state)
{
	static const PassDims rows[] = { { { 264, 1024 } } };

	(void)state;
	same_bits("g ($T[$a,$b] x, $T[$a,$b] w, $T[$a,1] s, $T[$b] t) => ($T[$a,$b] y, $T[$a,$b] z, "
		  "$T[$b,$a] v) "
		  "<$T k = {0.3}> { a = Mul(x, w) b = Sub(a, s) c = Sum(b, x, a) d = Mul(k, c) e = Sub(t, d) "
		  "f = Relu(e) g = Add(f, f) h = Tanh(g) z = Mul(h, g) i = Sub(s, z) y = Sub(c, i) "
		  "v = Transpose<perm = [1, 0]>(b) }",
		  rows, PASS_COUNT(rows));
}

/* From type to type and back. */
static void casts_have_the_same_bits(void **state)
{
	static const PassDims rows[] = { { { 3, 5, 16 } } };

	(void)state;
	same_bits("g ($T[$a,$b,$c] x, $T[$c] s) => ($T[$a,$b,$c] y, int64[$a,$b,$c] i) { a = Mul(x, x) "
		  "b = Cast<to = 1>(a) c = Exp(b) d = Cast<to = 16>(c) e = Cast<to = 10>(d) f = Cast<to = "
		  "$O>(e) "
		  "g = Add(f, s) y = Sub(g, a) h = Floor(g) i = Cast<to = 7>(h) }",
		  rows, PASS_COUNT(rows));
}

/* Rounded where it is computed, not where it is moved. */
static void moves_have_the_same_bits(void **state)
{
	static const PassDims rows[] = { { { 2, 6, 8 } } };

	(void)state;
	same_bits(
		"g ($T[$a,$b,$c] x, $T[$c,$b] w) => ($T[$c,$a,$b] y, $T[$a,5,$c] z) { "
		"t = Transpose<perm = [2, 0, 1]>(x) r = Mul(t, t) u = Unsqueeze<axes = [1]>(w) v = Exp(u) "
		"y = Sub(r, v) n = Mul(x, x) "
		"p = Slice<starts = [0], ends = [2], axes = [1], steps = [1]>(n) "
		"q = Slice<starts = [2], ends = [$b], axes = [1], steps = [1]>(n) "
		"o = Concat<axis = 1>(q, p) s = Pad<pads = [0, 1, 0, 0, 3, 0]>(o) "
		"h = Slice<starts = [0], ends = [10], axes = [1], steps = [2]>(s) e = Exp(h) z = Sub(e, h) }",
		rows, PASS_COUNT(rows));
}

/* Norms of channels have no sums; extremes and windows have them in the eager run's order. */
static void channels_have_the_same_bits(void **state)
{
	static const PassDims rows[] = { { { 2, 6, 9, 8 } } };

	(void)state;
	same_bits("g ($T[$a,$b,$c,$d] x, $T[$b] s, $T[$b] b, $T[$b] m) => ($T[$a,$b,1,1] y, $T[$a,$b,$c,$d] "
		  "z) { "
		  "p = Abs(s) n = BatchNormalization(x, s, b, m, p) h = HardSwish(n) k = "
		  "BatchNormalization(h, s, m, b, p) "
		  "z = Sub(k, n) y = GlobalMaxPool(z) }",
		  rows, PASS_COUNT(rows));
	same_bits("g ($T[$a,$b,$c,$d] x) => ($T[$a,$b,$c,$d] y) { q = Mul(x, x) "
		  "p = AveragePool<kernel_shape = [3, 3], strides = [1, 1], pads = [1, 1, 1, 1], dilations = "
		  "[1, 1]>(q) "
		  "y = Sub(p, q) }",
		  rows, PASS_COUNT(rows));
}

/* Sums may run in another order. */
static void rows_are_close(void **state)
{
	static const PassDims rows[] = { { { 1, 5, 257 } }, { { 3, 2, 1024 } } };

	(void)state;
	pass_agrees_with_eager(
		PASS,
		"g ($T[$a,$b,$c] x, $T[$a,$b,$c] r, $T[$c] s, $T[$c] b) => ($T[$a,$b,$c] y, $T[$a,$b,$c] h) "
		"{ "
		"h = Add(x, r) n = LayerNormalization<axis = 2>(h, s, b) g = Sigmoid(n) y = Mul(n, g) }",
		-5, rows, PASS_COUNT(rows));
	pass_agrees_with_eager(PASS,
			       "g ($T[$a,$b,$c] x, $T[$a,1,$c] m) => ($T[$a,$b,$c] y) <$T k = {0.125}> { "
			       "s = Mul(x, k) t = Add(s, m) y = Softmax<axis = 2>(t) }",
			       -5, rows, PASS_COUNT(rows));
	pass_agrees_with_eager(
		PASS,
		"g ($T[$a,$b,$c] x, $T[$a,$b,1] w) => ($T[$a,$c] y) { p = Mul(x, w) "
		"n = ReduceSum<axes = [1], keepdims = 0>(p) d = ReduceMean<axes = [1], keepdims = 0>(w) "
		"y = Div(n, d) }",
		-5, rows, PASS_COUNT(rows));
	pass_agrees_with_eager(
		PASS,
		"g ($T[$a,$b,$c] x, $T[$c] s, $T[$c] b) => ($T[$a,$b,$c] y) { a = Mul(x, s) "
		"n = RMSNormalization<axis = 2>(a, b) l = ReduceL2<axes = [2]>(n) y = Div(n, l) }",
		-5, rows, PASS_COUNT(rows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_have_the_same_bits),
		cmocka_unit_test(quotients_have_the_same_bits),
		cmocka_unit_test(pairs_have_the_same_bits),
		cmocka_unit_test(casts_have_the_same_bits),
		cmocka_unit_test(moves_have_the_same_bits),
		cmocka_unit_test(channels_have_the_same_bits),
		cmocka_unit_test(rows_are_close),
	};

	pm_test_need_device("emu");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
