/* SPDX-License-Identifier: Apache-2.0 */
/* test_fuse_product.c - automatic fusion of matrix products: every form, layout and type over awkward shapes.
 */
#include "tests/lib/need.h"
#include "tests/lib/passes/pass_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PASS "fuse"

/* One row, a few, more than a tile; sums that are shorter than a piece, and no multiple of one; rows of 16,
 * 8, 4, 2 bytes. */
static void matmul_with_what_follows(void **state)
{
	static const PassDims rows[] = { { { 1, 64, 96 } }, { { 17, 18, 13 } }, { { 49, 100, 36 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[1,$a,$b] x, $T[$b,$c] w, $T[$c] b, $T[1,$a,$c] r) => ($T[1,$a,$c] y) { "
		   "m = MatMul(x, w) a = Add(m, b) s = Sigmoid(a) g = Mul(a, s) y = Add(g, r) }",
		   1, rows, PASS_COUNT(rows));
}

/* Results in another order than the product's, several of them. */
static void results_in_another_order(void **state)
{
	static const PassDims rows[] = { { { 2, 5, 24, 3, 8 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$c,$d,$e] w) => ($T[$a,$d,$b,$e] y, $T[$a,$d,$e,$b] z) "
		   "<int64[2] flat = {$c, -1}, int64[4] heads = {$a, $b, $d, $e}> { "
		   "f = Reshape(w, flat) m = MatMul(x, f) h = Reshape(m, heads) "
		   "y = Transpose<perm = [0, 2, 1, 3]>(h) n = Neg(h) z = Transpose<perm = [0, 2, 3, 1]>(n) }",
		   1, rows, PASS_COUNT(rows));
}

/* Batches that broadcast, a factor whose rows are the product's columns. */
static void batches(void **state)
{
	static const PassDims rows[] = { { { 2, 3, 9, 18, 11 } }, { { 3, 1, 1, 21, 3 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c,$d] q, $T[$a,$b,$e,$d] k, $T[$a,1,$c,$e] m) => ($T[$a,$b,$c,$e] y) <$T s "
		   "= {0.25}> { "
		   "t = Transpose<perm = [0, 1, 3, 2]>(k) p = MatMul(q, t) x = Mul(p, s) y = Add(x, m) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,1,$c,$d] q, $T[$b,$d,$e] k) => ($T[$a,$b,$c,$e] y) { p = MatMul(q, k) y = "
		   "Tanh(p) }",
		   1, rows, 1);
}

static void gemm_of_each_kind(void **state)
{
	static const PassDims rows[] = { { { 1, 48, 40 } }, { { 18, 22, 5 } } };

	(void)state;
	pass_fuses(
		PASS,
		"g ($T[$a,$b] x, $T[$c,$b] w, $T[$c] b) => ($T[$a,$c] y) { m = Gemm<transB = 1>(x, w, b) y = "
		"Relu(m) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$b,$a] x, $T[$c,$b] w, $T[$a,1] b) => ($T[$a,$c] y) { m = Gemm<transA = 1, transB "
		   "= 1, "
		   "alpha = 0.5, beta = 2.0>(x, w, b) y = Relu(m) }",
		   1, rows, 1);
	pass_fuses(PASS,
		   "g ($T[$a,$b] x, $T[$b,$c] w) => ($T[$a,$c] y) { m = Gemm<alpha = 0.5>(x, w) y = Abs(m) }",
		   1, rows + 1, 1);
}

static void convolutions_of_points(void **state)
{
	static const PassDims rows[] = { { { 1, 24, 18, 7, 7 } },
					 { { 2, 9, 5, 4, 6 } },
					 { { 3, 20, 8, 1, 1 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$d,$e] x, $T[$c,$b,1,1] w, $T[$c] b, $T[$a,$c,$d,$e] r) => ($T[$a,$c,$d,$e] "
		   "y) { "
		   "m = Conv<strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]>(x, w, b) s = "
		   "HardSwish(m) "
		   "y = Add(s, r) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$d,$e] x, $T[$c,$b,1,1] w, $T[$c] s, $T[$c] b, $T[$c] v) => ($T[$a,$d,$e,$c] "
		   "y) { "
		   "m = Conv<strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]>(x, w) p = Abs(v) "
		   "n = BatchNormalization(m, s, b, v, p) y = Transpose<perm = [0, 2, 3, 1]>(n) }",
		   1, rows, 1);
}

/* Results that are parts of the product, each with its own end. */
static void parts_of_a_product(void **state)
{
	static const PassDims rows[] = { { { 5, 24, 64, 20, 16, 28 } }, { { 19, 19, 15, 7, 1, 7 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[1,$a,$b] x, $T[$b,$c] w, $T[$c] b) => ($T[1,$a,$d] p, $T[1,$e,$a] q, $T[1,$a,$f] "
		   "r) { m = MatMul(x, w) "
		   "a = Add(m, b) u, v, r = Split<axis = 2, split = [$d, $e, $f]>(a) s = Sigmoid(u) p = "
		   "Mul(u, s) "
		   "q = Transpose<perm = [0, 2, 1]>(v) }",
		   1, rows, PASS_COUNT(rows));
}

/* A gate of one pixel times its channel, a row added to many: no tile of the product reaches all of it. */
static void products_as_sums(void **state)
{
	static const PassDims rows[] = { { { 2, 12, 20, 5, 7 } }, { { 1, 33, 8, 9, 16 } } };

	(void)state;
	pass_fuses(
		PASS,
		"g ($T[$a,$b,1,1] x, $T[$c,$b,1,1] w, $T[$c] b, $T[$a,$c,$d,$e] r) => ($T[$a,$c,$d,$e] y) { "
		"m = Conv<strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]>(x, w, b) s = "
		"HardSigmoid(m) "
		"y = Mul(s, r) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,1,$b] x, $T[$b,$c] w, $T[$a,$d,$c] r) => ($T[$a,$d,$c] y) { m = MatMul(x, w) y "
		   "= Add(m, r) }",
		   1, rows, 1);
}

/* Of one term every element is its own, and what is rotated behind it goes by vectors; of a few, each thread
 * adds up its own, for the elements of a row or of columns. */
static void products_of_few_terms(void **state)
{
	static const PassDims outer[] = { { { 5, 1, 24, 48 } },
					  { { 1410, 1, 192, 384 } },
					  { { 3, 2, 9, 18 } } };
	static const PassDims rows[] = { { { 2, 19, 7, 56 } }, { { 1, 1, 16, 3 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[1,$a,$b] x, $T[$b,$d] w, $T[$a,$c] s, $T[$a,$c] t) => ($T[1,$a,$c] y, $T[1,$a,$c] "
		   "z) { m = MatMul(x, w) z, v = Split<axis = 2, split = [$c, $c]>(m) p = Mul(v, s) "
		   "h = Slice<starts = [0], ends = [8], axes = [2], steps = [1]>(v) "
		   "l = Slice<starts = [8], ends = [$c], axes = [2], steps = [1]>(v) n = Neg(l) "
		   "r = Concat<axis = 2>(n, h) q = Mul(r, t) y = Add(p, q) }",
		   1, outer, PASS_COUNT(outer));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$c,$d] w, $T[$d] s, $T[$d] b, $T[$a,$b,$d] r) => ($T[$a,$b,$d] y) "
		   "{ m = MatMul(x, w) a = Add(m, r) n = LayerNormalization<axis = 2>(a, s, b) y = Relu(n) }",
		   1, rows, 1);
	pass_fuses(PASS,
		   "g ($T[$c,$b] x, $T[$d,$c] w, $T[$b,1] b) => ($T[$b,$d] y) { m = Gemm<transA = 1, transB "
		   "= 1, alpha = 0.5>(x, w, b) y = Tanh(m) }",
		   1, rows + 1, 1);
}

/* Windows of a few elements: a gate of each channel from its neighbours, in front of a mean; strides,
 * dilations and padding on either side, in front of a norm over channels. */
static void windows_of_few_terms(void **state)
{
	static const PassDims gate[] = { { { 1, 33, 3, 5 } } };
	static const PassDims image[] = { { { 2, 2, 9, 7, 6, 3, 5 } }, { { 1, 1, 17, 4, 3, 2, 2 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,1,$b] x, $T[1,1,5] w, $T[$a,$b,$c,$d] f) => ($T[$a,$b,1,1] y) <int64[4] k = "
		   "{$a, -1, 1, 1}> { m = Conv<strides = [1], pads = [2, 2], dilations = [1]>(x, w) "
		   "s = Sigmoid(m) r = Reshape(s, k) p = Mul(f, r) y = ReduceMean<axes = [2, 3]>(p) }",
		   1, gate, PASS_COUNT(gate));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$d,$e] x, $T[$c,$b,3,2] w, $T[$c] b, $T[$c] s) => ($T[$a,$f,$g,$c] y) { m = "
		   "Conv<strides = [2, 1], pads = [1, 0, 0, 1], dilations = [1, 2]>(x, w, b) "
		   "t = Transpose<perm = [0, 2, 3, 1]>(m) y = LayerNormalization<axis = 3>(t, s, b) }",
		   1, image, PASS_COUNT(image));
}

/* Blocks make whole rows: norms, softmax, means, and pieces of a row, behind a product. */
static void rows_behind_a_product(void **state)
{
	static const PassDims rows[] = { { { 1, 1, 20, 10 } }, { { 2, 19, 23, 56 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$c,$d] w, $T[$d] s, $T[$d] b) => ($T[$a,$b,$d] y, $T[$a,$b,$d] m) "
		   "{ m = MatMul(x, "
		   "w) n = LayerNormalization<axis = 2>(m, s, b) y = Relu(n) }",
		   1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c] x, $T[$a,$d,$c] w, $T[$a,1,$d] k) => ($T[$a,$b,$d] y) <$T h = {0.25}> { "
		   "t = Transpose<perm = [0, 2, 1]>(w) m = MatMul(x, t) q = Mul(m, h) a = Add(q, k) y = "
		   "Softmax<axis = 2>(a) }",
		   1, rows, 2);
	pass_fuses(PASS,
		   "g ($T[2,$c,3,5] x, $T[$d,$c,1,1] w, $T[$d] b) => ($T[2,$d,1,1] y) { m = Conv<strides = "
		   "[1, 1], pads = "
		   "[0, 0, 0, 0], dilations = [1, 1]>(x, w, b) r = Relu(m) y = GlobalAveragePool(r) }",
		   1, rows + 1, 1);
}

/* What follows has other rows than the product, or sums over several of them: the product has a launch of its
 * own, its sum in several slices. */
static void a_product_in_front(void **state)
{
	static const PassDims rows[] = { { { 67, 1000, 69 } } };
	static const PassDims images[] = { { { 2, 130, 18, 6, 10, 3, 5 } } };

	(void)state;
	pass_fuses_float(
		PASS,
		"g ($T[1,$a,$b] x, $T[$b,$c] w, $T[$c] b) => ($T[1,$a,$c] y, $T[1,$c] z) { m = MatMul(x, "
		"w) a = "
		"Add(m, b) y = Relu(a) z = ReduceMean<axes = [1], keepdims = 0>(y) }",
		1, rows, PASS_COUNT(rows));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$d,$e] x, $T[$c,$b,1,1] w, $T[$c] b) => ($T[$a,$c,$f,$g] z) { m = "
		   "Conv<strides = [1, 1], "
		   "pads = [0, 0, 0, 0], dilations = [1, 1]>(x, w, b) y = Tanh(m) z = "
		   "AveragePool<kernel_shape = [2, 2], "
		   "strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1], count_include_pad = 1>(y) }",
		   1, images, PASS_COUNT(images));
}

/* Windows of one and two axes, with padding, strides and dilations. */
static void convolutions_of_windows(void **state)
{
	static const PassDims images[] = { { { 2, 96, 65, 7, 6, 3, 5 } } };
	static const PassDims lines[] = { { { 2, 150, 5, 19, 9 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$d,$e] x, $T[$c,$b,3,2] w, $T[$c] b) => ($T[$a,$c,$f,$g] y) { m = "
		   "Conv<strides = [2, 1], "
		   "pads = [1, 0, 0, 1], dilations = [1, 2]>(x, w, b) s = Sigmoid(m) y = Mul(m, s) }",
		   1, images, PASS_COUNT(images));
	pass_fuses(PASS,
		   "g ($T[$a,$b,$d] x, $T[$c,$b,4] w) => ($T[$a,$e,$c] y) { m = Conv<strides = [2], pads = "
		   "[0, 1], "
		   "dilations = [1]>(x, w) t = Transpose<perm = [0, 2, 1]>(m) s = Sigmoid(t) y = Mul(t, s) }",
		   1, lines, PASS_COUNT(lines));
}

/* Batches of either operand, with the operands in either order. */
static void einsums(void **state)
{
	static const PassDims rows[] = { { { 3, 2, 5, 24, 7 } } };

	(void)state;
	pass_fuses(PASS,
		   "g ($T[$a,$b,$c,$d] x, $T[$b,$e,$d] w) => ($T[$a,$b,$c,$e] y) { m = Einsum<equation = "
		   "\"bhwc,hkc->bhwk\">(x, w) y = Softmax<axis = 3>(m) }",
		   1, rows, 1);
	pass_fuses_float(PASS,
			 "g ($T[$a,$c,$d] x, $T[$e,$a,$d] w) => ($T[$a,$e,$c] y) { m = Einsum<equation = "
			 "\"bij,kbj -> bki\">(x, w) y = Relu(m) }",
			 1, rows, 1);
}

/* Each element of the product would be asked for by many of a larger image: it has a kernel of its own. */
static void a_product_that_is_enlarged(void **state)
{
	static const PassDims image[] = { { { 1, 24, 18, 5, 6, 10, 13 } } };

	(void)state;
	pass_fuses_float(
		PASS,
		"g ($T[$a,$b,$d,$e] x, $T[$c,$b,1,1] w, $T[$a,$c,$f,$g] r) => ($T[$a,$c,$f,$g] y) "
		"<int64[4] to = {$a,$c,$f,$g}> { m = Conv<strides = [1, 1], pads = [0, 0, 0, 0], dilations "
		"= [1, 1]>(x, w) l = Resize<mode = \"linear\">(m, , , to) y = Add(l, r) }",
		2, image, PASS_COUNT(image));
}

/* Neither factor's sum lies along memory, and there is too much to add up one by one; a large product is the
 * library's. */
static void left_to_the_library(void **state)
{
	static const PassDims row = { { 200, 300, 140 } };
	static const PassDims large = { { 4096, 4096, 4096 } };
	static const PassDims sums = { { 64, 100000, 64 } }; /* cut into slices they would be many blocks */

	(void)state;
	pass_refuses(
		PASS,
		"g ($T[$b,$a] x, $T[$b,$c] w) => ($T[$a,$c] y) { m = Gemm<transA = 1>(x, w) y = Relu(m) }",
		row, "");
	pass_refuses(PASS, "g ($T[$a,$b] x, $T[$b,$c] w) => ($T[$a,$c] y) { m = MatMul(x, w) y = Relu(m) }",
		     large, "");
	pass_refuses(PASS, "g (float[$a,$b] x, float[$b,$c] w) => (float[$a,$c] y) { y = MatMul(x, w) }",
		     sums, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matmul_with_what_follows),
		cmocka_unit_test(results_in_another_order),
		cmocka_unit_test(batches),
		cmocka_unit_test(gemm_of_each_kind),
		cmocka_unit_test(convolutions_of_points),
		cmocka_unit_test(rows_behind_a_product),
		cmocka_unit_test(parts_of_a_product),
		cmocka_unit_test(products_as_sums),
		cmocka_unit_test(products_of_few_terms),
		cmocka_unit_test(windows_of_few_terms),
		cmocka_unit_test(a_product_that_is_enlarged),
		cmocka_unit_test(a_product_in_front),
		cmocka_unit_test(convolutions_of_windows),
		cmocka_unit_test(einsums),
		cmocka_unit_test(left_to_the_library),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
