/* SPDX-License-Identifier: Apache-2.0 */
/* pass_library.c - graphs for the passes that have no test program of their own. */
#include "tests/lib/passes/pass_library.h"

#define ROWS(...)                                                                                            \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}

/* ---- element-wise ---- */

#define XU        "g ($T[$a,$b] x, $T[$a,$b] u) => ($T[$a,$b] y) "
#define XUV       "g ($T[$a,$b] x, $T[$a,$b] u, $T[$a,$b] v) => ($T[$a,$b] y) "
#define JOINT     "g ($T[$a,$c] x) => ($T[$a,$b] y) "
#define IMAGE     "g ($T[$a,$b,$c,$d] x, $T[$a,$b,1,1] s) => ($T[$a,$b,$c,$d] y) "
#define TOKENS(p) "g ($T[$a,$b,$c] x, " p ") => ($T[$a,$b,$c] y) "
#define FLAT_ROWS ROWS({ { 1, 1 } }, { { 3, 5 } }, { { 7, 33 } }, { { 2, 64 } }, { { 5, 520 } })
#define HALF_ROWS ROWS({ { 1, 1, 2 } }, { { 3, 5, 10 } }, { { 7, 32, 64 } }, { { 2, 136, 272 } })
#define IMG_ROWS  ROWS({ { 1, 1, 1, 1 } }, { { 2, 3, 5, 7 } }, { { 1, 13, 4, 4 } }, { { 2, 8, 7, 9 } })
#define TOK_ROWS  ROWS({ { 1, 1, 1 } }, { { 2, 3, 5 } }, { { 1, 7, 64 } }, { { 2, 3, 129 } })
#define HALVES    "p, q = Split<axis = 1, split = [$b, $b]>(x) "
#define SLICES                                                                                               \
	"q = Slice<starts = [0], ends = [$b], axes = [1], steps = [1]>(x) "                                  \
	"p = Slice<starts = [$b], ends = [$c], axes = [1], steps = [1]>(x) "

/* ---- rows ---- */

#define RMS(x, from) "sq = Pow(" from ", two) m = ReduceMean<axes = [2]>(sq) e = Add(m, eps) r = Sqrt(e) " x
#define RMS_CONST    "<$T two = {2}, $T eps = {0.001}> "
#define RMS_WIDE     "<float two = {2}, float eps = {1e-6}> "
#define ROWS3        ROWS({ { 1, 1, 2 } }, { { 2, 3, 13 } }, { { 1, 5, 64 } }, { { 1, 2, 520 } }, { { 2, 1, 1021 } })
#define LN           "y = LayerNormalization<axis = 2>(s, w, v) "

const LibraryCase library_cases[] = {
	{ "swiglu", XU "{ s = Sigmoid(x) p = Mul(x, s) y = Mul(p, u) }", 0, FLAT_ROWS },
	{ "swiglu", JOINT "{ " HALVES "s = Sigmoid(p) t = Mul(s, p) y = Mul(q, t) }", 0, HALF_ROWS },
	{ "swiglu", JOINT "{ " SLICES "s = Sigmoid(p) t = Mul(p, s) y = Mul(t, q) }", 1, HALF_ROWS },
	{ "geglu",
	  XU "<$T half = {0.5}, $T one = {1}, $T root = {1.4142135623730951}> "
	     "{ d = Div(x, root) f = Erf(d) k = Add(f, one) h = Mul(half, k) p = Mul(x, h) y = Mul(p, u) }",
	  0, FLAT_ROWS },
	{ "geglu",
	  JOINT "<$T half = {0.5}, $T one = {1}, $T root = {1.4142135623730951}> { " HALVES
		"d = Div(q, root) f = Erf(d) k = Add(f, one) h = Mul(half, k) t = Mul(q, h) y = Mul(p, t) }",
	  1, HALF_ROWS },
	{ "geglu",
	  XU "<$T half = {0.5}, $T one = {1}, $T three = {3}, $T cubic = {0.044715}, $T c = "
	     "{0.7978845608028654}> "
	     "{ h = Mul(x, half) p = Pow(x, three) q = Mul(p, cubic) s = Add(x, q) i = Mul(s, c) t = Tanh(i) "
	     "k = Add(t, one) z = Mul(h, k) y = Mul(z, u) }",
	  1, FLAT_ROWS },
	{ "se_gate", IMAGE "{ t = Sigmoid(s) y = Mul(x, t) }", 0, IMG_ROWS },
	{ "se_gate", IMAGE "{ t = HardSigmoid<alpha = 0.16666667>(s) y = Mul(t, x) }", 1, IMG_ROWS },
	{ "se_gate",
	  IMAGE "<$T three = {3}, $T lo = {0}, $T six = {6}> "
		"{ a = Add(s, three) c = Clip(a, lo, six) t = Div(c, six) y = Mul(x, t) }",
	  1, IMG_ROWS },
	{ "bias_act", TOKENS("$T[$c] b") "{ s = Add(x, b) y = Relu(s) }", 0, TOK_ROWS },
	{ "bias_act", TOKENS("$T[$a,$b,$c] b") "{ s = Add(b, x) y = Relu(s) }", 1, TOK_ROWS },
	{ "bias_act", TOKENS("$T[$b,1] b") "{ s = Add(x, b) t = Sigmoid(s) y = Mul(s, t) }", 1, TOK_ROWS },
	{ "bias_act",
	  TOKENS("$T[$c] b") "<$T k = {1.702}> { s = Add(b, x) m = Mul(s, k) t = Sigmoid(m) y = Mul(s, t) }",
	  1, TOK_ROWS },
	{ "bias_act", TOKENS("$T[$c] b") "{ s = Add(x, b) y = HardSwish(s) }", 1, TOK_ROWS },
	{ "quick_gelu",
	  "g ($T[$a,$b] x) => ($T[$a,$b] y) <$T k = {1.702}> { m = Mul(x, k) t = Sigmoid(m) y = Mul(x, t) }",
	  0, FLAT_ROWS },
	{ "layer_scale_add", TOKENS("$T[$c] g, $T[$a,$b,$c] r") "{ p = Mul(x, g) y = Add(r, p) }", 0,
	  TOK_ROWS },
	{ "layer_scale_add",
	  TOKENS("$T[$b,1] g, $T[$c] b, $T[$a,$b,$c] r") "{ q = Add(x, b) p = Mul(g, q) y = Add(p, r) }", 1,
	  TOK_ROWS },
	{ "layer_norm_2d",
	  "g ($T[$a,$b,$c,$d] x, $T[$b] w, $T[$b] v) => ($T[$a,$c,$d,$b] y) "
	  "{ t = Transpose<perm = [0, 2, 3, 1]>(x) y = LayerNormalization<axis = 3>(t, w, v) }",
	  0,
	  ROWS({ { 1, 16, 1, 1 } }, { { 2, 37, 5, 7 } }, { { 1, 64, 4, 8 } }, { { 1, 521, 2, 3 } },
	       { { 1, 4096, 2, 4 } }) },
	{ "layer_norm_2d",
	  "g ($T[$a,$b,$c] x, $T[$b] w, $T[$b] v) => ($T[$a,$b,$c] y) { t = Transpose<perm = [0, 2, 1]>(x) "
	  "n = LayerNormalization<axis = 2, epsilon = 0.001>(t, w, v) y = Transpose<perm = [0, 2, 1]>(n) }",
	  0, ROWS({ { 1, 16, 1 } }, { { 2, 37, 35 } }, { { 1, 1021, 5 } }, { { 1, 6400, 8 } }) },

	/* rows */
	{ "add_rms_norm",
	  "g ($T[$a,$b,$c] p, $T[$a,$b,$c] q, $T[$c] w) => ($T[$a,$b,$c] y, $T[$a,$b,$c] s) " RMS_WIDE
	  "{ s = Add(p, q) f = Cast<to = 1>(s) " RMS("i = Reciprocal(r) n = Mul(f, i) ",
						     "f") "c = Cast<to = $O>(n) y = Mul(w, c) }",
	  0, ROWS3 },
	{ "add_rms_norm",
	  "g ($T[$a,$b,$c] p, $T[$b,$c] q, $T[$c] w) => ($T[$a,$b,$c] y) " RMS_CONST "{ s = Add(p, q) "
	  "sq = Mul(s, s) m = ReduceMean<axes = [2]>(sq) e = Add(m, eps) r = Sqrt(e) n = Div(s, r) y = "
	  "Mul(n, w) }",
	  1, ROWS3 },
	{ "add_rms_norm",
	  "g ($T[$a,$b,$c] s, $T[$c] w) => ($T[$a,$b,$c] y) " RMS_CONST
	  "{ " RMS("n = Div(s, r) ", "s") "y = Mul(n, w) }",
	  0, ROWS3 },
	{ "add_rms_norm",
	  "g ($T[$a,$b,$c] s, $T[$c] w) => ($T[$a,$b,$c] y) <float two = {2}, float eps = {1e-6}, float one "
	  "= {1}> "
	  "{ f = Cast<to = 1>(s) " RMS(
		  "i = Reciprocal(r) n = Mul(f, i) ",
		  "f") "k = Cast<to = 1>(w) l = Add(k, one) p = Mul(n, l) y = Cast<to = $O>(p) }",
	  0, ROWS({ { 2, 3, 13 } }, { { 1, 2, 520 } }) },
	{ "layer_scale_add_layer_norm",
	  "g ($T[$a,$b,$c] x, $T[$c] k, $T[$c] g, $T[$a,$b,$c] r, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y, "
	  "$T[$a,$b,$c] s) "
	  "{ b = Add(x, k) m = Mul(g, b) s = Add(r, m) " LN "}",
	  0, ROWS3 },
	{ "layer_scale_add_layer_norm",
	  "g ($T[$a,$b,$c] x, $T[$c] g, $T[$b,$c] r, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y) "
	  "{ m = Mul(x, g) s = Add(m, r) " LN "}",
	  1, ROWS3 },
	{ "l2_normalize",
	  "g ($T[$a,$b,$c] x) => ($T[$a,$b,$c] y) <$T eps = {0.001}, int64[3] to = {$a, $b, $c}> "
	  "{ n = ReduceL2<axes = [2]>(x) c = Clip(n, eps) e = Expand(c, to) y = Div(x, e) }",
	  0, ROWS3 },
	{ "l2_normalize",
	  "g ($T[$a,$b,$c] x) => ($T[$a,$b,$c] y) <$T eps = {0.001}> "
	  "{ n = ReduceL2<axes = [2]>(x) c = Max(n, eps) y = Div(x, c) }",
	  1, ROWS3 },
	{ "grn",
	  "g ($T[$a,$b,$c,$d] x, $T[1,1,1,$d] w, $T[1,1,1,$d] v) => ($T[$a,$b,$c,$d] y) <$T eps = {0.0001}> "
	  "{ g = ReduceL2<axes = [1, 2]>(x) m = ReduceMean<axes = [3]>(g) e = Add(m, eps) n = Div(g, e) p = "
	  "Mul(x, n) "
	  "q = Mul(w, p) r = Add(v, q) y = Add(x, r) }",
	  0, ROWS({ { 1, 1, 1, 1 } }, { { 2, 3, 5, 7 } }, { { 1, 9, 9, 33 } }, { { 1, 7, 7, 128 } }) },
	{ "group_norm",
	  "g ($T[$a,$c,$d,$e] x, $T[$c,1,1] w, $T[$c,1,1] v) => ($T[$a,$c,$d,$e] y) "
	  "<int64[3] to = {0, $b, -1}, int64[4] back = {$a, $c, $d, $e}, $T[1] one = {1}, $T[1] zero = {0}> "
	  "{ r = Reshape(x, to) n = InstanceNormalization(r, one, zero) z = Reshape(n, back) m = Mul(z, w) y "
	  "= Add(m, v) }",
	  0,
	  ROWS({ { 1, 1, 4, 4, 4 } }, { { 2, 1, 3, 5, 7 } }, { { 1, 1, 9, 24, 29 } },
	       { { 1, 1, 8, 31, 37 } }) },
	{ "group_norm",
	  "g ($T[$a,$c,$d,$e] x, $T[1,$c,1,1] w, $T[$c,1,1] v) => ($T[$a,$c,$d,$e] y) "
	  "<int64[3] to = {0, $b, -1}, int64[4] back = {$a, $c, $d, $e}, $T[2] one = {1, 1}, $T[2] zero = "
	  "{0, 0}> "
	  "{ r = Reshape(x, to) n = InstanceNormalization<epsilon = 0.001>(r, one, zero) z = Reshape(n, "
	  "back) m = Mul(z, w) "
	  "a = Add(m, v) s = Sigmoid(a) y = Mul(a, s) }",
	  0, ROWS({ { 1, 2, 4, 6, 6 } }, { { 3, 2, 6, 5, 7 } }, { { 1, 2, 16, 29, 31 } }) },

/* batch normalisation */
#define BN_IN                                                                                                \
	"g ($T[$a,$b,$c,$d] x, $T[$b] w, $T[$b] v, $T[$b] m, $T[$b] z, $T[$a,$b,$c,$d] r) => "               \
	"($T[$a,$b,$c,$d] y) "
#define BN_ONE  "g ($T[$a,$b,$c,$d] x, $T[$b] w, $T[$b] v, $T[$b] m, $T[$b] z) => ($T[$a,$b,$c,$d] y) "
#define BN_NORM "n = BatchNormalization(x, w, v, m, z) "
	{ "bn_residual", BN_IN "{ " BN_NORM "y = Add(r, n) }", 0, IMG_ROWS },
	{ "bn_residual", BN_IN "{ " BN_NORM "s = Sigmoid(n) p = Mul(n, s) y = Add(p, r) }", 0, IMG_ROWS },
	{ "bn_residual", BN_IN "{ " BN_NORM "a = Add(n, r) s = Sigmoid(a) y = Mul(a, s) }", 1, IMG_ROWS },
	{ "bn_gelu",
	  BN_ONE "<$T half = {0.5}, $T one = {1}, $T root = {1.4142135623730951}> { " BN_NORM
		 "d = Div(n, root) f = Erf(d) k = Add(f, one) h = Mul(half, k) y = Mul(n, h) }",
	  0, IMG_ROWS },

	/* attention */
	{ "safe_softmax",
	  "g ($T[$a,$b,$c,$d] x, $T[$a,1,$c,$d] k) => ($T[$a,$b,$c,$d] y) <$T zero = {0}> "
	  "{ s = Add(x, k) p = Softmax<axis = 3>(s) n = IsNaN(p) y = Where(n, zero, p) }",
	  0, ROWS({ { 1, 1, 1, 1 } }, { { 2, 3, 5, 7 } }, { { 1, 2, 3, 65 } }) },
	{ "safe_softmax",
	  "g ($T[$a,$b,$c,$d] x, $T[$c,$d] k) => ($T[$a,$b,$c,$d] y) <$T zero = {0}, $T f = {0.125}> "
	  "{ m = Mul(x, f) s = Add(m, k) p = Softmax<axis = 3>(s) n = IsNaN(p) y = Where(n, zero, p) }",
	  1, ROWS({ { 2, 3, 5, 7 } }) },
	{ "rel_pos_softmax",
	  "g ($T[$a,$b,$c,$d] x, $T[$e,$b] table, int64[$f] i) => ($T[$a,$b,$c,$d] y) <int64[3] to = {$c, "
	  "$d, $b}> "
	  "{ u = Unsqueeze<axes = [1]>(i) q = GatherND(table, u) r = Reshape(q, to) t = Transpose<perm = [2, "
	  "0, 1]>(r) "
	  "b = Unsqueeze<axes = [0]>(t) s = Add(x, b) y = Softmax<axis = 3>(s) }",
	  0, ROWS({ { 1, 1, 1, 1, 1, 1 } }, { { 2, 3, 5, 7, 9, 35 } }, { { 1, 2, 3, 65, 13, 195 } }) },
	{ "rel_pos_softmax",
	  "g ($T[$a,$b,$c,$d] x, $T[$e,$b] table, int64[$c,$d] i) => ($T[$a,$b,$c,$d] y) "
	  "<int64[1] flat = {-1}, int64[3] to = {$c, $d, $b}, $T f = {0.25}> "
	  "{ v = Reshape(i, flat) q = Gather<axis = 0>(table, v) r = Reshape(q, to) t = Transpose<perm = [2, "
	  "0, 1]>(r) "
	  "m = Mul(x, f) s = Add(t, m) y = Softmax<axis = 3>(s) }",
	  1, ROWS({ { 2, 3, 5, 7, 9 } }) },
#define ROTATED                                                                                              \
	"l = Slice<starts = [0], ends = [$e], axes = [3], steps = [1]>(h) "                                  \
	"u = Slice<starts = [$e], ends = [$d], axes = [3], steps = [1]>(h) n = Neg(u) k = Concat<axis = "    \
	"3>(n, l) "
	{ "rotary",
	  "g ($T[$a,$b,$c,$d] x, $T[1,1,$b,$d] cos, $T[1,1,$b,$d] sin) => ($T[$a,$c,$b,$d] y) "
	  "{ h = Transpose<perm = [0, 2, 1, 3]>(x) " ROTATED
	  "p = Mul(h, cos) q = Mul(k, sin) y = Add(p, q) }",
	  0, ROWS({ { 1, 1, 1, 2, 1 } }, { { 2, 3, 5, 6, 3 } }, { { 1, 7, 2, 64, 32 } }) },
	{ "rotary",
	  "g ($T[$a,$b,$c,$d] h, $T[$c,$d] cos, $T[$c,$d] sin) => ($T[$a,$b,$c,$d] y) <$T f = {0.5}> "
	  "{ " ROTATED "p = Mul(h, cos) q = Mul(k, sin) s = Add(q, p) y = Mul(s, f) }",
	  1, ROWS({ { 2, 3, 5, 6, 3 } }, { { 1, 2, 7, 16, 8 } }) },
	{ "split_heads",
	  "g ($T[$a,$b,$e] x, $T[$e] b) => ($T[$a,$c,$b,$d] y) <int64[4] to = {$a, $b, $c, $d}, $T f = "
	  "{0.3}> "
	  "{ s = Add(x, b) r = Reshape(s, to) t = Transpose<perm = [0, 2, 1, 3]>(r) y = Mul(t, f) }",
	  0, ROWS({ { 1, 1, 1, 1, 1 } }, { { 2, 3, 5, 7, 35 } }, { { 1, 5, 3, 64, 192 } }) },
	{ "split_heads",
	  "g ($T[$a,$b,$e] x, $T[$e] b) => ($T[$a,$c,$d,$b] y) "
	  "<int64[4] to = {$a, $b, $c, $d}, int64[3] fold = {-1, $b, $d}, int64[4] back = {$a, $c, $d, $b}, "
	  "$T f = {0.3}> "
	  "{ s = Add(b, x) r = Reshape(s, to) t = Transpose<perm = [0, 2, 1, 3]>(r) z = Reshape(t, fold) "
	  "q = Transpose<perm = [0, 2, 1]>(z) k = Reshape(q, back) y = Mul(k, f) }",
	  0, ROWS({ { 1, 1, 1, 1, 1 } }, { { 2, 3, 5, 7, 35 } }, { { 1, 33, 2, 40, 80 } }) },
	{ "split_heads",
	  "g ($T[$a,$b,$e] x, $T[$e] b) => ($T[$a,$c,$d,$b] y) <int64[4] to = {$a, $b, $c, $d}, $T f = "
	  "{0.3}> "
	  "{ s = Add(b, x) r = Reshape(s, to) t = Transpose<perm = [0, 2, 3, 1]>(r) y = Mul(f, t) }",
	  1, ROWS({ { 2, 3, 5, 7, 35 } }) },
	{ "patch_embed",
	  "g ($T[$a,$b,$c,$d] x, $T[1,1,$b] k, $T[1,$f,$b] p) => ($T[$a,$f,$b] y) "
	  "<int64[3] to = {$a, $b, -1}, int64[3] all = {$a, 1, $b}> { r = Reshape(x, to) t = Transpose<perm "
	  "= [0, 2, 1]>(r) "
	  "e = Expand(k, all) c = Concat<axis = 1>(e, t) y = Add(c, p) }",
	  0, ROWS({ { 1, 1, 1, 1, 1, 2 } }, { { 2, 5, 3, 7, 21, 22 } }, { { 1, 65, 6, 6, 36, 37 } }) },
	{ "patch_embed",
	  "g ($T[$a,$b,$c,$d] x, $T[1,$e,$b] p) => ($T[$a,$e,$b] y) <int64[3] to = {$a, $b, -1}> "
	  "{ r = Reshape(x, to) t = Transpose<perm = [0, 2, 1]>(r) y = Add(t, p) }",
	  1, ROWS({ { 2, 5, 3, 7, 21 } }) },
	{ "channel_shuffle",
	  "g ($T[$a,$b,$c,$d] p, $T[$a,$b,$c,$d] q) => ($T[$a,$e,$c,$d] y) "
	  "<int64[5] five = {$a, 2, $b, $c, $d}, int64[4] to = {$a, -1, $c, $d}> { j = Concat<axis = 1>(p, "
	  "q) "
	  "r = Reshape(j, five) t = Transpose<perm = [0, 2, 1, 3, 4]>(r) y = Reshape(t, to) }",
	  0, ROWS({ { 1, 1, 1, 1, 2 } }, { { 2, 3, 5, 7, 6 } }, { { 1, 29, 4, 8, 58 } }) },

/* windows: $a images of $b x $c windows of $d x $e, $f channels; $g windows in all, $h rows of the image */
#define REVERSE "r6 = Reshape(z, six) t6 = Transpose<perm = [0, 1, 3, 2, 4, 5]>(r6) x4 = Reshape(t6, four) "
#define WINDOW_CONST                                                                                         \
	"<int64[6] six = {$a, $b, $c, $d, $e, $f}, int64[4] four = {$a, $h, -1, $f}, int64[3] to = {$a, "    \
	"-1, $f}> "
#define ROLL1(x, y, axis)                                                                                    \
	y "0 = Slice<starts = [1], ends = [9223372036854775807], axes = [" axis "], steps = [1]>(" x ") " y  \
	  "1 = Slice<starts = [0], ends = [1], axes = [" axis "], steps = [1]>(" x ") " y                    \
	  " = Concat<axis = " axis ">(" y "0, " y "1) "
	{ "window_reverse_add_layer_norm",
	  "g ($T[$g,$d,$e,$f] x, $T[$f] c, $T[$a,4,$f] r, $T[$f] w, $T[$f] v) => ($T[$a,4,$f] y, $T[$a,4,$f] "
	  "s) " WINDOW_CONST "{ z = Add(x, c) " REVERSE ROLL1("x4", "h", "1")
		  ROLL1("h", "l", "2") "k = Slice<starts = [0], ends = [2], axes = [1], steps = [1]>(l) "
				       "j = Slice<starts = [0], ends = [2], axes = [2], steps = [1]>(k) f = "
				       "Reshape(j, to) s = Add(f, r) " LN "}",
	  0,
	  ROWS({ { 1, 2, 1, 2, 3, 5, 2, 4 } }, { { 2, 1, 2, 3, 2, 64, 4, 3 } },
	       { { 1, 3, 2, 1, 2, 33, 6, 3 } }) },
	{ "window_reverse_add_layer_norm",
	  "g ($T[$g,$d,$e,$f] z, $T[1,$h,$f] q, $T[$f] w, $T[$f] v) => ($T[1,$h,$f] y) "
	  "<int64[6] six = {1, $b, 1, $d, $e, $f}, int64[4] four = {1, -1, $e, $f}, int64[3] to = {1, -1, "
	  "$f}> { " REVERSE "f = Reshape(x4, to) s = Add(q, f) " LN "}",
	  1, ROWS({ { 1, 2, 1, 2, 3, 5, 2, 12 } }) },
};
const size_t library_n_cases = PASS_COUNT(library_cases);

const LibraryMiss library_misses[] = {
	{ "swiglu", XUV "{ s = Sigmoid(v) p = Mul(x, s) y = Mul(p, u) }", { { 4, 4 } }, "" },
	{ "swiglu",
	  "g ($T[$a,$b] x, $T[$b] u) => ($T[$a,$b] y) { s = Sigmoid(x) p = Mul(x, s) y = Mul(p, u) }",
	  { { 4, 4 } },
	  "differ in type or shape" },
	{ "swiglu",
	  "g ($T[$a,$b] x, $T[$a,$b] u) => ($T[$a,$b] y, $T[$a,$b] p) { s = Sigmoid(x) p = Mul(x, s) y = "
	  "Mul(p, u) }",
	  { { 4, 4 } },
	  "is an output of the graph" },
	{ "geglu",
	  XUV "<$T half = {0.5}, $T one = {1}, $T root = {1.4142135623730951}> "
	      "{ d = Div(v, root) f = Erf(d) k = Add(f, one) h = Mul(half, k) p = Mul(x, h) y = Mul(p, u) }",
	  { { 4, 4 } },
	  "" },
	{ "se_gate",
	  "g ($T[$a,$b] x) => ($T[$a,$b] y) { s = Sigmoid(x) y = Mul(x, s) }",
	  { { 4, 4 } },
	  "gates itself" },
	{ "se_gate",
	  "g ($T[$a,1] x, $T[1,$b] s) => ($T[$a,$b] y) { t = Sigmoid(s) y = Mul(x, t) }",
	  { { 4, 4 } },
	  "not a band" },
	{ "se_gate",
	  IMAGE "<$T three = {2}, $T lo = {0}, $T six = {6}> "
		"{ a = Add(s, three) c = Clip(a, lo, six) t = Div(c, six) y = Mul(x, t) }",
	  { { 4, 4, 4, 4 } },
	  "" },
	{ "bias_act",
	  "g ($T[$a,1] x, $T[1,$b] b) => ($T[$a,$b] y) { s = Add(x, b) y = Relu(s) }",
	  { { 4, 4 } },
	  "band of axes" },
	{ "bias_act",
	  "g ($T[$a,$b] x, $T[$b] b) => ($T[$a,$b] y, $T[$a,$b] s) { s = Add(x, b) y = Relu(s) }",
	  { { 4, 4 } },
	  "used outside" },
	{ "bias_act",
	  "g ($T[$a,$b] x, $T[$b] b) => ($T[$a,$b] y) { s = Add(x, b) y = Relu(s) }",
	  { { 0, 4 } },
	  "empty" },
	{ "quick_gelu",
	  "g ($T[$a,$b] x, $T[$b] k) => ($T[$a,$b] y) { m = Mul(x, k) t = Sigmoid(m) y = Mul(x, t) }",
	  { { 4, 4 } },
	  "not one constant" },
	{ "layer_scale_add",
	  "g ($T[$a,1] x, $T[1,$b] g, $T[$a,$b] r) => ($T[$a,$b] y) { p = Mul(x, g) y = Add(r, p) }",
	  { { 4, 4 } },
	  "result's shape" },
	{ "layer_scale_add", XUV "{ p = Mul(x, u) y = Sub(v, p) }", { { 4, 4 } }, "" },
	{ "layer_norm_2d",
	  "g ($T[$a,$b,$c,$d] x, $T[$d] w, $T[$d] v) => ($T[$a,$c,$b,$d] y) "
	  "{ t = Transpose<perm = [0, 2, 1, 3]>(x) y = LayerNormalization<axis = 3>(t, w, v) }",
	  { { 1, 32, 32, 32 } },
	  "does not move the channels last" },
	{ "layer_norm_2d",
	  "g ($T[$a,$b,$c,$d] x, $T[$b] w, $T[$b] v) => ($T[$a,$c,$d,$b] y) "
	  "{ t = Transpose<perm = [0, 2, 3, 1]>(x) y = LayerNormalization<axis = 3>(t, w, v) }",
	  { { 1, 2, 4, 4 } },
	  "so few channels" },
	{ "add_rms_norm",
	  "g ($T[$a,$b,$c] s, $T[$c] w) => ($T[$a,$b,$c] y) <$T two = {3}, $T eps = {0.001}> { " RMS(
		  "n = Div(s, r) ", "s") "y = Mul(n, w) }",
	  { { 2, 3, 8 } },
	  "" },
	{ "add_rms_norm",
	  "g ($T[$a,$b,$c] s, $T[$b,$c] w) => ($T[$a,$b,$c] y) " RMS_CONST
	  "{ " RMS("n = Div(s, r) ", "s") "y = Mul(n, w) }",
	  { { 2, 3, 8 } },
	  "one element per column" },
	{ "add_rms_norm",
	  "g ($T[$a,$b,$c] s, $T[$c] w) => ($T[$a,$b,$c] y) " RMS_CONST
	  "{ sq = Pow(s, two) m = ReduceMean<axes = [1]>(sq) e = Add(m, eps) r = Sqrt(e) n = Div(s, r) y = "
	  "Mul(n, w) }",
	  { { 2, 8, 8 } },
	  "" },
	{ "layer_scale_add_layer_norm",
	  "g ($T[$a,$b,$c] x, $T[$b,1] g, $T[$a,$b,$c] r, $T[$c] w, $T[$c] v) => ($T[$a,$b,$c] y) "
	  "{ m = Mul(x, g) s = Add(m, r) " LN "}",
	  { { 2, 4, 4 } },
	  "whole rows of the sum" },
	{ "l2_normalize",
	  "g ($T[$a,$b,$c] x) => ($T[$a,$b,$c] y) <$T eps = {0.001}> "
	  "{ n = ReduceL2<axes = [1]>(x) c = Max(n, eps) y = Div(x, c) }",
	  { { 2, 4, 4 } },
	  "" },
	{ "l2_normalize",
	  "g ($T[$a,$b,$c] x, $T eps) => ($T[$a,$b,$c] y) { n = ReduceL2<axes = [2]>(x) c = Max(n, eps) y = "
	  "Div(x, c) }",
	  { { 2, 4, 4 } },
	  "not a positive constant" },
	{ "grn",
	  "g ($T[$a,$b,$c,$d] x, $T[$d] w, $T[$d] v) => ($T[$a,$b,$c,$d] y) <$T eps = {0.0001}> "
	  "{ g = ReduceL2<axes = [1, 2]>(x) m = ReduceMean<axes = [2]>(g) e = Add(m, eps) n = Div(g, e) p = "
	  "Mul(x, n) "
	  "q = Mul(w, p) r = Add(v, q) y = Add(x, r) }",
	  { { 1, 4, 4, 4 } },
	  "" },
	{ "group_norm",
	  "g ($T[$a,$c,$d,$e] x, $T[$c,1,1] w, $T[$c,1,1] v) => ($T[$a,$c,$d,$e] y) "
	  "<int64[3] to = {0, $b, -1}, int64[4] back = {$a, $c, $d, $e}, $T[2] one = {1, 2}, $T[2] zero = "
	  "{0, 0}> "
	  "{ r = Reshape(x, to) n = InstanceNormalization(r, one, zero) z = Reshape(n, back) m = Mul(z, w) y "
	  "= Add(m, v) }",
	  { { 1, 2, 4, 8, 8 } },
	  "scale or bias of their own" },
	{ "group_norm",
	  "g ($T[$a,$c,$d,$e] x, $T[$e] w, $T[$c,1,1] v) => ($T[$a,$c,$d,$e] y) "
	  "<int64[3] to = {0, $b, -1}, int64[4] back = {$a, $c, $d, $e}, $T[2] one = {1, 1}, $T[2] zero = "
	  "{0, 0}> "
	  "{ r = Reshape(x, to) n = InstanceNormalization(r, one, zero) z = Reshape(n, back) m = Mul(z, w) y "
	  "= Add(m, v) }",
	  { { 1, 2, 8, 8, 8 } },
	  "one element per channel" },
	{ "bn_residual", BN_ONE "{ " BN_NORM "y = Add(n, x) }", { { 2, 3, 4, 4 } }, "x itself" },
	{ "bn_gelu",
	  BN_ONE "<$T half = {0.5}, $T one = {1}, $T root = {1.4142135623730951}> { " BN_NORM
		 "d = Div(x, root) f = Erf(d) k = Add(f, one) h = Mul(half, k) y = Mul(n, h) }",
	  { { 2, 3, 4, 4 } },
	  "" },
	{ "safe_softmax",
	  "g ($T[$a,$b,$c,$d] x, $T[$c,$d] k) => ($T[$a,$b,$c,$d] y) <$T one = {1}> "
	  "{ s = Add(x, k) p = Softmax<axis = 3>(s) n = IsNaN(p) y = Where(n, one, p) }",
	  { { 1, 2, 3, 4 } },
	  "" },
	{ "rel_pos_softmax",
	  "g ($T[$a,$b,$c,$d] x, $T[$e,$b] table, int64[$c,$d] i) => ($T[$a,$b,$c,$d] y) "
	  "<int64[1] flat = {-1}, int64[3] to = {$c, $d, $b}> "
	  "{ v = Reshape(i, flat) q = Gather<axis = 0>(table, v) r = Reshape(q, to) t = Transpose<perm = [0, "
	  "1, 2]>(r) "
	  "s = Add(t, x) y = Softmax<axis = 3>(s) }",
	  { { 2, 4, 4, 4, 9 } },
	  "not moved" },
	{ "rotary",
	  "g ($T[$a,$b,$c,$d] h, $T[$c,$d] cos, $T[$c,$d] sin) => ($T[$a,$b,$c,$d] y) { " ROTATED
	  "p = Mul(h, cos) q = Mul(k, sin) y = Add(q, p) }",
	  { { 1, 2, 3, 8, 3 } },
	  "not the halves" },
	{ "rotary",
	  "g ($T[$a,$b,$c,$d] h, $T[$c,$d] cos, $T[$c,$d] sin) => ($T[$a,$b,$c,$d] y) { " ROTATED
	  "p = Mul(h, cos) q = Mul(k, sin) y = Sub(p, q) }",
	  { { 1, 2, 3, 8, 4 } },
	  "" },
	{ "split_heads",
	  "g ($T[$a,$b,$e] x, $T[$b,$e] b) => ($T[$a,$c,$b,$d] y) <int64[4] to = {$a, $b, $c, $d}, $T f = "
	  "{0.3}> "
	  "{ s = Add(x, b) r = Reshape(s, to) t = Transpose<perm = [0, 2, 1, 3]>(r) y = Mul(t, f) }",
	  { { 2, 4, 2, 2, 4 } },
	  "not one row" },
	{ "split_heads",
	  "g ($T[$a,$b,$e] x, $T[$e] b) => ($T[$a,$b,$d,$c] y) <int64[4] to = {$a, $b, $c, $d}, $T f = "
	  "{0.3}> "
	  "{ s = Add(x, b) r = Reshape(s, to) t = Transpose<perm = [0, 1, 3, 2]>(r) y = Mul(t, f) }",
	  { { 2, 4, 4, 4, 16 } },
	  "does not move" },
	{ "patch_embed",
	  "g ($T[$a,$b,$c,$d] x, $T[$b] p) => ($T[$a,$e,$b] y) <int64[3] to = {$a, $b, -1}> "
	  "{ r = Reshape(x, to) t = Transpose<perm = [0, 2, 1]>(r) y = Add(t, p) }",
	  { { 2, 6, 2, 3, 6 } },
	  "not one row for each place" },
	{ "patch_embed",
	  "g ($T[$a,$b,$c,$d] x, $T[$a,1,$b] k, $T[1,$f,$b] p) => ($T[$a,$f,$b] y) <int64[3] to = {$a, $b, "
	  "-1}> "
	  "{ r = Reshape(x, to) t = Transpose<perm = [0, 2, 1]>(r) c = Concat<axis = 1>(k, t) y = Add(c, p) "
	  "}",
	  { { 2, 5, 2, 3, 6, 7 } },
	  "differs from image to image" },
	{ "channel_shuffle",
	  "g ($T[$a,$b,$c,$d] p, $T[$a,$b,$c,$d] q) => ($T[$a,$e,$c,$d] y) "
	  "<int64[5] five = {$a, $b, 2, $c, $d}, int64[4] to = {$a, -1, $c, $d}> { j = Concat<axis = 1>(p, "
	  "q) "
	  "r = Reshape(j, five) t = Transpose<perm = [0, 2, 1, 3, 4]>(r) y = Reshape(t, to) }",
	  { { 1, 4, 4, 4, 8 } },
	  "not dealt out" },
	{ "window_reverse_add_layer_norm",
	  "g ($T[$g,$d,$e,$f] z, $T[1,$h,$f] q, $T[$f] w, $T[$f] v) => ($T[1,$h,$f] y) "
	  "<int64[6] six = {1, $b, $c, $d, $e, $f}, int64[4] four = {1, 4, 4, $f}, int64[3] to = {1, -1, "
	  "$f}> "
	  "{ r6 = Reshape(z, six) t6 = Transpose<perm = [0, 2, 1, 3, 4, 5]>(r6) x4 = Reshape(t6, four) "
	  "f = Reshape(x4, to) s = Add(q, f) " LN "}",
	  { { 1, 2, 2, 2, 2, 8, 4, 16 } },
	  "does not put windows back" },
};
const size_t library_n_misses = PASS_COUNT(library_misses);

size_t library_n_rows(const LibraryCase *c)
{
	size_t n = 0;

	while (n < LIBRARY_ROWS && c->rows[n].d[0])
		n++;
	return n;
}
