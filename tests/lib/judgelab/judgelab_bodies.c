/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_bodies.c - the twenty-four bodies of the experiment, and their sizes. */
#include "tests/lib/judgelab/judgelab.h"

#include "base/core/str.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* $T is the element type, $O its number in ONNX, a, b, c and K (terms) are the numbers of a Size, p is c / 2.
 */
typedef struct Size {
	int64_t terms, a, b, c;
	int64_t outputs;
} Size;

/* a rows and b columns of sums with `terms` terms */
static const Size products[] = { { 1, 32, 40, 0, 1280 },     { 7, 32, 40, 0, 1280 },
				 { 64, 32, 40, 0, 1280 },    { 1000, 32, 40, 0, 1280 },
				 { 32768, 32, 40, 0, 1280 }, { 1000000, 2, 4, 0, 8 } };
/* a rows */
static const Size rows[] = { { 1, 1024, 0, 0, 1024 },    { 7, 1024, 0, 0, 1024 }, { 64, 1024, 0, 0, 1024 },
			     { 1000, 1024, 0, 0, 1024 }, { 32768, 32, 0, 0, 32 }, { 1000000, 2, 0, 0, 2 } };
/* a rows of `terms`, all of which are results */
static const Size lines[] = { { 1, 1024, 0, 0, 1024 },   { 7, 160, 0, 0, 1120 },
			      { 64, 20, 0, 0, 1280 },    { 1000, 4, 0, 0, 4000 },
			      { 32768, 1, 0, 0, 32768 }, { 1000000, 1, 0, 0, 1000000 } };
/* a queries, `terms` keys */
static const Size heads[] = { { 1, 64, 0, 0, 1024 },    { 7, 64, 0, 0, 1024 },     { 64, 64, 0, 0, 1024 },
			      { 1000, 64, 0, 0, 1024 }, { 32768, 64, 0, 0, 1024 }, { 1000000, 2, 0, 0, 32 } };
/* a channels, b x b elements, a window of c x c */
static const Size images[] = { { 1, 1, 12, 1, 1152 },
			       { 9, 1, 12, 3, 1152 },
			       { 63, 7, 12, 3, 1152 },
			       { 999, 111, 12, 3, 1152 },
			       { 32768, 32768, 12, 1, 1152 } };
/* a columns into each of which `terms` are added */
static const Size columns[] = {
	{ 1, 1024, 0, 0, 1024 },    { 7, 1024, 0, 0, 1024 }, { 64, 1024, 0, 0, 1024 },
	{ 1000, 1024, 0, 0, 1024 }, { 32768, 32, 0, 0, 32 }, { 1000000, 2, 0, 0, 2 }
};
/* a rows of b elements, no sums */
static const Size elements[] = { { 1, 1, 7, 0, 7 }, { 1, 32, 40, 0, 1280 }, { 1, 64, 512, 0, 32768 } };

typedef struct Body {
	const char *name, *text;
	int factor;
	const Size *size;
	int n_sizes;
} Body;

#define SIZES(x) x, (int)(sizeof(x) / sizeof *(x))
#define ROW(ops) "axes = [1], keepdims = " #ops

static const Body bodies[] = {
	{ "mul_matmul",
	  "g ($T[$a,$K] x, $T[$K] s, $T[$K,$b] w) => ($T[$a,$b] y) { m = Mul(x, s) y = MatMul(m, w) }", 0,
	  SIZES(products) },
	{ "bias_gelu_erf",
	  "g ($T[$a,$b] x, $T[$b] b) => ($T[$a,$b] y) <$T root = {0.70710678}, $T one = {1}, $T half = "
	  "{0.5}> { "
	  "v = Add(x, b) z = Mul(v, root) e = Erf(z) f = Add(e, one) h = Mul(v, half) y = Mul(h, f) }",
	  0, SIZES(elements) },
	{ "bias_gelu_tanh",
	  "g ($T[$a,$b] x, $T[$b] b) => ($T[$a,$b] y) <$T c = {0.044715}, $T r = {0.79788456}, $T one = {1}, "
	  "$T half = {0.5}> { v = Add(x, b) v2 = Mul(v, v) v3 = Mul(v2, v) t = Mul(v3, c) u = Add(v, t) "
	  "z = Mul(u, r) e = Tanh(z) f = Add(e, one) h = Mul(v, half) y = Mul(h, f) }",
	  0, SIZES(elements) },
	{ "silu", "g ($T[$a,$b] x) => ($T[$a,$b] y) { s = Sigmoid(x) y = Mul(x, s) }", 0, SIZES(elements) },
	{ "softmax_scale_mask",
	  "g ($T[$a,$K] x, $T[1,$K] attention_mask) => ($T[$a,$K] y) <$T scale = {0.35355339}> { "
	  "s = Mul(x, scale) m = Add(s, attention_mask) y = Softmax<axis = 1>(m) }",
	  0, SIZES(lines) },
	{ "attention",
	  "g ($T[1,$a,16] q, $T[1,16,$K] k, $T[1,$K,16] v) => ($T[1,$a,16] y) <$T scale = {0.25}> { "
	  "d = MatMul(q, k) s = Mul(d, scale) p = Softmax<axis = 2>(s) y = MatMul(p, v) }",
	  2, SIZES(heads) },
	{ "layer_norm",
	  "g ($T[$a,$K] x, $T[$K] scale, $T[$K] bias) => ($T[$a,$K] y) <$T eps = {1e-5}> { "
	  "m = ReduceMean<" ROW(1) ">(x) d = Sub(x, m) q = Mul(d, d) v = ReduceMean<" ROW(
		  1) ">(q) "
		     "e = Add(v, eps) r = Sqrt(e) n = Div(d, r) t = Mul(n, scale) y = Add(t, bias) }",
	  0, SIZES(lines) },
	{ "rms_norm",
	  "g ($T[$a,$K] x, $T[$K] scale) => ($T[$a,$K] y) <$T eps = {1e-5}> { q = Mul(x, x) "
	  "v = ReduceMean<" ROW(1) ">(q) e = Add(v, eps) r = Sqrt(e) n = Div(x, r) y = Mul(n, scale) }",
	  0, SIZES(lines) },
	{ "sum_of_mul",
	  "g ($T[$a,$K] x, $T[$a,$K] w) => ($T[$a] y) { m = Mul(x, w) y = ReduceSum<" ROW(0) ">(m) }", 0,
	  SIZES(rows) },
	{ "variance",
	  "g ($T[$a,$K] x) => ($T[$a,1] y) { m = ReduceMean<" ROW(1) ">(x) d = Sub(x, m) q = Mul(d, d) "
								     "y = ReduceMean<" ROW(1) ">(q) }",
	  0, SIZES(rows) },
	{ "cast_chain",
	  "g ($T[$a,$K] x, $T[$K] w) => ($T[$a,1] y) { m = Mul(x, w) f = Cast<to = 1>(m) "
	  "s = ReduceSum<" ROW(1) ">(f) c = Cast<to = $O>(s) y = Sigmoid(c) }",
	  0, SIZES(rows) },
	{ "rotary",
	  "g ($T[$a,1] at, $T[1,$b] freq, $T[$a,$b] x, $T[$a,$b] w) => (float[$a,$b] y) { p = Mul(at, freq) "
	  "c = Cos(p) s = Sin(p) cf = Cast<to = 1>(c) sf = Cast<to = 1>(s) xf = Cast<to = 1>(x) "
	  "wf = Cast<to = 1>(w) l = Mul(xf, cf) r = Mul(wf, sf) y = Add(l, r) }",
	  2, SIZES(elements) },
	{ "add_cast_softmax",
	  "g ($T[$a,$K] x, $T[$K] w) => ($T[$a,$K] y) { s = Add(x, w) f = Cast<to = 1>(s) "
	  "p = Softmax<axis = 1>(f) y = Cast<to = $O>(p) }",
	  0, SIZES(lines) },
	{ "three_matmuls",
	  "g ($T[$a,$K] x, $T[$K,48] u, $T[48,56] v, $T[56,$b] w) => ($T[$a,$b] y) { p = MatMul(x, u) "
	  "q = MatMul(p, v) y = MatMul(q, w) }",
	  1, SIZES(products) },
	{ "conv_bias_relu",
	  "g ($T[1,$a,$b,$b] x, $T[8,$a,$c,$c] w, $T[8] b) => ($T[1,8,$b,$b] y) { "
	  "v = Conv<strides = [1, 1], dilations = [1, 1], pads = [$p, $p, $p, $p]>(x, w, b) y = Relu(v) }",
	  1, SIZES(images) },
	{ "gemm_sigmoid",
	  "g ($T[$a,$K] x, $T[$K,$b] w, $T[$b] b) => ($T[$a,$b] y) { v = Gemm(x, w, b) y = Sigmoid(v) }", 1,
	  SIZES(products) },
	{ "log_sum_exp",
	  "g ($T[$a,$K] x) => ($T[$a,1] y) { m = ReduceMax<" ROW(
		  1) ">(x) d = Sub(x, m) e = Exp(d) "
		     "s = ReduceSum<" ROW(1) ">(e) l = Log(s) y = Add(l, m) }",
	  0, SIZES(rows) },
	{ "mul_cumsum",
	  "g ($T[$a,$K] x, $T[$K] w) => ($T[$a,$K] y) <int64 axis = {1}> { m = Mul(x, w) y = CumSum(m, axis) "
	  "}",
	  0, SIZES(lines) },
	{ "mul_scatter",
	  "g ($T[1,$a] x, int64[$K,$a] at, $T[$K,$a] w, $T[$a] s) => ($T[1,$a] y) { m = Mul(w, s) "
	  "y = ScatterElements<axis = 0, reduction = \"add\">(x, at, m) }",
	  2, SIZES(columns) },
	{ "bn_residual_relu",
	  "g ($T[$a,$b] x, $T[$b] scale, $T[$b] bias, $T[$b] mean, $T[$b] var, $T[$a,$b] r) => ($T[$a,$b] y) "
	  "{ "
	  "n = BatchNormalization<epsilon = 1e-5>(x, scale, bias, mean, var) v = Add(n, r) y = Relu(v) }",
	  0, SIZES(elements) },
	/* Written after the bound's constants were fixed. */
	{ "log_softmax",
	  "g ($T[$a,$K] x) => ($T[$a,$K] y) { m = ReduceMax<" ROW(
		  1) ">(x) d = Sub(x, m) e = Exp(d) "
		     "s = ReduceSum<" ROW(1) ">(e) l = Log(s) y = Sub(d, l) }",
	  0, SIZES(lines) },
	{ "two_layers",
	  "g ($T[$a,$K] x, $T[$K,48] u, $T[48] b, $T[48,$b] w, $T[$b] c) => ($T[$a,$b] y) { "
	  "p = Gemm(x, u, b) q = Relu(p) y = Gemm(q, w, c) }",
	  1, SIZES(products) },
	{ "lstm_cell",
	  "g ($T[$a,$b] i, $T[$a,$b] f, $T[$a,$b] o, $T[$a,$b] n, $T[$a,$b] c) => ($T[$a,$b] y) { "
	  "si = Sigmoid(i) sf = Sigmoid(f) so = Sigmoid(o) tn = Tanh(n) l = Mul(sf, c) r = Mul(si, tn) "
	  "s = Add(l, r) t = Tanh(s) y = Mul(so, t) }",
	  4, SIZES(elements) },
	{ "rotary_scores",
	  "g ($T[$a,$K] q, $T[$a,$K] h, $T[$K] c, $T[$K] s, $T[$K,$b] k) => ($T[$a,$b] y) <$T scale = "
	  "{0.125}> "
	  "{ l = Mul(q, c) r = Mul(h, s) e = Add(l, r) d = MatMul(e, k) y = Mul(d, scale) }",
	  4, SIZES(products) },
};
_Static_assert(sizeof bodies / sizeof *bodies == JL_N_BODIES, "one row for each body");

static const struct {
	const char *name, *text, *number;
} types[JL_N_TYPES] = { { "f32", "float", "1" }, { "f16", "float16", "10" }, { "bf16", "bfloat16", "16" } };

const char *jl_body_name(int body)
{
	return bodies[body].name;
}

const char *jl_type_name(int type)
{
	return types[type].name;
}

int jl_body_factor(int body)
{
	return bodies[body].factor;
}

int jl_body_n_sizes(int body)
{
	return bodies[body].n_sizes;
}

JlSize jl_body_size(int body, int size)
{
	return (JlSize){ bodies[body].size[size].terms, bodies[body].size[size].outputs };
}

PmGraph *jl_body_graph(int body, int type, int size)
{
	const Size *s = &bodies[body].size[size];
	PmGraph *g = NULL;
	PmStr text;
	PmErr err;

	pm_err_init(&err);
	pm_str_init(&text);
	for (const char *p = bodies[body].text; *p; p++)
		if (*p != '$')
			pm_str_addc(&text, *p);
		else if (*++p == 'T' || *p == 'O')
			pm_str_add(&text, *p == 'T' ? types[type].text : types[type].number);
		else
			pm_str_addf(&text, "%lld",
				    (long long)(*p == 'K'   ? s->terms
						: *p == 'a' ? s->a
						: *p == 'b' ? s->b
						: *p == 'p' ? s->c / 2
							    : s->c));
	if (pm_graph_parse(text.s, text.len, &g, &err)) {
		fprintf(stderr, "judgelab: %s: %s\n", bodies[body].name, err.text);
		exit(2);
	}
	pm_str_release(&text);
	return g;
}
