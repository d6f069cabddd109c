/* SPDX-License-Identifier: Apache-2.0 */
/* bias_gelu.c - GELU in the spellings of exporters, with the bias addition in front of it, as one kernel.
 *
 * Spelled with Div, Erf, Add, Mul, Mul, GELU is 5 launches that move 12 elements per output element, 6 and 14
 * with the bias (by tanh up to 9 and 24). The kernel reads x and writes y: 1 launch, 2 elements.
 *
 * Mined: 5617 places in 343 of 811 models; in 40 of the 400 structures with most time at stake, the first
 * of rank 1.
 */
#include "../../common/gelu.h"

/* S is the argument of GELU: the sum of X and BIAS, or, without bias, any value. */
enum { S, X, BIAS };

#define ALONE     TYPED(V(S), FLOATS, -1)
#define WITH_BIAS AS(S, OP(Add, TYPED(V(X), FLOATS, -1), V(BIAS)))

/* The operand of the sum that has its shape, and the other one, which has to be a band of axes. */
static int read_operands(PmMatch *m, Elementwise *e)
{
	int k;

	e->form = m->n_slots > BIAS ? FORM_ACT_SUM : FORM_ACT;
	if (m->n_slots <= BIAS)
		return elementwise_add(e, m->v[S], m->root);
	for (k = 0; k < 2; k++) {
		e->n_op = 0;
		if (pm_same_shape(m->v[k ? BIAS : X], m->root) &&
		    elementwise_add(e, m->v[k ? BIAS : X], m->root) &&
		    elementwise_add(e, m->v[k ? X : BIAS], m->root))
			return 1;
	}
	return 0;
}

static PmStatus check(PmMatch *m)
{
	Elementwise e = { 0 };

	if (pm_numel(m->root) <= 0)
		return pm_decline(m, "x is empty or its size is not known");
	if (m->out.n > 1)
		return pm_decline(m, "the sum of x and bias is used outside");
	if (!pm_same_shape(m->v[S], m->root))
		return pm_decline(m, "a constant of the spelling broadcasts x to a larger shape");
	if (!read_operands(m, &e))
		return pm_decline(m, "neither operand of the sum is a bias along a run of axes of the other");
	return PM_OK;
}

static PmStatus rewrite(PmRewriter *rw, PmMatch *m)
{
	Elementwise e = { 0 };

	read_operands(m, &e);
	gelu_read(m, &e);
	return elementwise_replace(rw, m, &e);
}

#define SPELLING(name_, form_, says_)                                                                        \
	PM_RULE(erf_##name_, .doc = "GELU as " says_ ", by erf -> one kernel",                               \
		.pattern = form_(ALONE, GELU_ERF(S)), .check = check, .rewrite = rewrite);                   \
	PM_RULE(tanh_##name_, .doc = "GELU as " says_ ", by tanh -> one kernel",                             \
		.pattern = form_(ALONE, GELU_TANH(S)), .check = check, .rewrite = rewrite);                  \
	PM_RULE(bias_erf_##name_, .doc = "GELU of x + bias as " says_ ", by erf -> one kernel",              \
		.pattern = form_(WITH_BIAS, GELU_ERF(S)), .check = check, .rewrite = rewrite);               \
	PM_RULE(bias_tanh_##name_, .doc = "GELU of x + bias as " says_ ", by tanh -> one kernel",            \
		.pattern = form_(WITH_BIAS, GELU_TANH(S)), .check = check, .rewrite = rewrite)

SPELLING(half_gate, GELU_HALF_GATE, "x * (0.5 * (1 + f(x)))");
SPELLING(half_last, GELU_HALF_LAST, "0.5 * (x * (1 + f(x)))");
SPELLING(half_x, GELU_HALF_X, "(0.5 * x) * (1 + f(x))");

/* The operator itself, where an exporter writes it, is worth a kernel only together with the bias. */

static PmStatus rewrite_op(PmRewriter *rw, PmMatch *m)
{
	int by_tanh = pm_str_same(pm_attr_s(m->root, "approximate", "none"), "tanh");
	Elementwise e = { .act = by_tanh ? ACT_GELU_TANH : ACT_GELU,
			  .p0 = by_tanh ? 0.7978845608028654 : 0.7071067811865476,
			  .p1 = 0.044715 };

	read_operands(m, &e);
	return elementwise_replace(rw, m, &e);
}

PM_RULE(bias_gelu_op, .doc = "Gelu(x + bias) -> one kernel", .pattern = ANYATTR(OP(Gelu, WITH_BIAS)),
	.check = check, .rewrite = rewrite_op);

PM_PLUGIN("bias_gelu", "1", &bias_gelu_op, &bias_erf_half_gate, &bias_erf_half_last, &bias_erf_half_x,
	  &bias_tanh_half_gate, &bias_tanh_half_last, &bias_tanh_half_x, &erf_half_gate, &erf_half_last,
	  &erf_half_x, &tanh_half_gate, &tanh_half_last, &tanh_half_x)
