/* SPDX-License-Identifier: Apache-2.0 */
/* bias_act.c - an addition and the activation behind it as one kernel.
 *
 *   relu(a + b)   s * sigmoid(s)   s * sigmoid(1.702 s)   hardswish(s)    with s = a + b
 *
 * b is a bias (any band of axes of a) or a residual of a's shape. With E bytes per element: apart, Add 2 E (3
 * E with a residual) and the activation 2 E, SiLU 5 E, QuickGELU 7 E: 2 to 4 launches; here 1 launch moves 2
 * E (3 E). silu.c and quick_gelu.c are for values that no addition makes.
 *
 * Mined: 4389 places in 307 of 811 models; in 24 of the 400 structures with most time at stake, the first
 * of rank 3. Measured on an H200: 1x100x2048 float16 5.9 to 2.7 us (2.16x), PyTorch 7.0, TorchInductor
 * 2.7; 1x50x3072 float16 10.7 to 2.9 us (3.64x), PyTorch 12.7, TorchInductor 3.1.
 */
#include "../../common/elementwise.h"

enum { S, A, B, FACTOR };

static int read_operands(PmMatch *m, Elementwise *e)
{
	int k;

	for (k = 0; k < 2; k++) {
		e->n_op = 0;
		if (pm_same_shape(m->v[k ? B : A], m->root) && elementwise_add(e, m->v[k ? B : A], m->root) &&
		    elementwise_add(e, m->v[k ? A : B], m->root))
			return 1;
	}
	return 0;
}

static PmStatus check(PmMatch *m)
{
	Elementwise e = { 0 };
	double c;

	if (pm_numel(m->root) <= 0)
		return pm_decline(m, "the sum is empty or its size is not known");
	if (m->out.n > 1)
		return pm_decline(m, "the sum is used outside");
	if (m->n_slots > FACTOR && !pm_scalar(m->v[FACTOR], &c))
		return pm_decline(m, "the factor inside the sigmoid is not one constant number");
	if (pm_same(m->v[A], m->v[B]) || !read_operands(m, &e))
		return pm_decline(m, "neither operand of the sum is a band of axes of the other");
	return PM_OK;
}

static PmStatus replace(PmRewriter *rw, PmMatch *m, int act, double p0, double p1)
{
	Elementwise e = { .form = FORM_ACT_SUM, .act = act, .p0 = p0, .p1 = p1 };

	return read_operands(m, &e) ? elementwise_replace(rw, m, &e) : PM_DECLINED;
}

static PmStatus rewrite_relu(PmRewriter *rw, PmMatch *m)
{
	return replace(rw, m, ACT_RELU, 0, 0);
}

static PmStatus rewrite_sigmoid(PmRewriter *rw, PmMatch *m)
{
	double c = 1;

	if (m->n_slots > FACTOR)
		pm_scalar(m->v[FACTOR], &c);
	return replace(rw, m, ACT_SIGMOID_OF, c, 0);
}

static PmStatus rewrite_hard_swish(PmRewriter *rw, PmMatch *m)
{
	return replace(rw, m, ACT_HARD_SWISH, 1.0 / 6, 0.5);
}

#define SUM AS(S, OP(Add, TYPED(V(A), FLOATS, -1), V(B)))

PM_RULE(add_relu, .doc = "Relu(a + b) -> one kernel", .pattern = OP(Relu, SUM), .check = check,
	.rewrite = rewrite_relu);
PM_RULE(add_silu, .doc = "s * Sigmoid(s) of s = a + b -> one kernel",
	.pattern = OP(Mul, SUM, OP(Sigmoid, V(S))), .check = check, .rewrite = rewrite_sigmoid);
PM_RULE(add_quick_gelu, .doc = "s * Sigmoid(c * s) of s = a + b -> one kernel",
	.pattern = OP(Mul, SUM, OP(Sigmoid, OP(Mul, V(S), V(FACTOR)))), .check = check,
	.rewrite = rewrite_sigmoid);
PM_RULE(add_hard_swish, .doc = "HardSwish(a + b) -> one kernel", .pattern = OP(HardSwish, SUM),
	.check = check, .rewrite = rewrite_hard_swish);

PM_PLUGIN("bias_act", "1", &add_quick_gelu, &add_silu, &add_relu, &add_hard_swish)
