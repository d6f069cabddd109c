/* SPDX-License-Identifier: Apache-2.0 */
/* geglu.c - gelu(x) * u, the gate of T5's and many diffusion models' feed-forward blocks, as one kernel; also
 * where gate and value are the halves of one product.
 *
 * With E bytes per element: apart, by erf 5 launches and 12 E for GELU, by tanh up to 9 and 24 E, and Mul 3
 * E; here 1 launch reads 2 E and writes E.
 *
 * Mined: 192 places in 12 of 811 models; in 3 of the 400 structures with most time at stake, the first of
 * rank 60. Measured on an H200: 512x2048 float16 32.2 to 4.2 us (7.63x), PyTorch 26.9, TorchInductor 4.7.
 */
#include "../../common/gated.h"
#include "../../common/gelu.h"

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	Elementwise e = { .form = FORM_ACT_TIMES };

	gelu_read(m, &e);
	return gated_replace(rw, m, &e);
}

#define ALONE TYPED(V(G), FLOATS, -1)

#define SPELLING(name_, form_, says_)                                                                        \
	PM_RULE(erf_##name_, .doc = "u times GELU as " says_ ", by erf -> one kernel",                       \
		.pattern = OP(Mul, form_(ALONE, GELU_ERF(G)), V(U)), .check = gated_check,                   \
		.rewrite = rewrite);                                                                         \
	PM_RULE(tanh_##name_, .doc = "u times GELU as " says_ ", by tanh -> one kernel",                     \
		.pattern = OP(Mul, form_(ALONE, GELU_TANH(G)), V(U)), .check = gated_check,                  \
		.rewrite = rewrite);                                                                         \
	PM_RULE(halves_##name_, .doc = "the same of the halves of a tensor, by erf -> one kernel",           \
		.pattern = OP(Mul, form_(GATED_HALF(G), GELU_ERF(G)), GATED_HALF(U)), .check = gated_check,  \
		.rewrite = rewrite)

SPELLING(half_gate, GELU_HALF_GATE, "x * (0.5 * (1 + f(x)))");
SPELLING(half_last, GELU_HALF_LAST, "0.5 * (x * (1 + f(x)))");
SPELLING(half_x, GELU_HALF_X, "(0.5 * x) * (1 + f(x))");

PM_PLUGIN("geglu", "1", &halves_half_gate, &halves_half_last, &halves_half_x, &erf_half_gate, &erf_half_last,
	  &erf_half_x, &tanh_half_gate, &tanh_half_last, &tanh_half_x)
