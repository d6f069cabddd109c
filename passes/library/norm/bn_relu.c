/* SPDX-License-Identifier: Apache-2.0 */
/* bn_relu.c - batch normalisation (inference) with the activation behind it as one kernel.
 *
 *   Relu(bn(x))   Relu(bn(x) + residual)   bn(x) * Sigmoid(bn(x))   HardSwish, LeakyRelu, Clip of bn(x)
 *
 * With E bytes per element: apart, the normalisation moves 2 E and the activation 2 E (SiLU 5 E, with a
 * residual 3 E more) in 2 to 3 launches; here 1 launch moves 2 E (3 E with a residual).
 *
 * Mined: 12373 places in 279 of 811 models; in 73 of the 400 structures with most time at stake, the first
 * of rank 2.
 */
#include "../../common/batch_norm.h"

static PmStatus check_clip(PmMatch *m)
{
	double lo, hi;

	if (!pm_scalar(m->v[LO], &lo) || !pm_scalar(m->v[HI], &hi))
		return pm_decline(m, "a bound of Clip is not a constant number");
	return bn_check(m);
}

static PmStatus rewrite_relu(PmRewriter *rw, PmMatch *m)
{
	return bn_replace(rw, m, BN_RELU, 0, 0, 0);
}

static PmStatus rewrite_add_relu(PmRewriter *rw, PmMatch *m)
{
	return bn_replace(rw, m, BN_RELU, 1, 0, 0);
}

static PmStatus rewrite_silu(PmRewriter *rw, PmMatch *m)
{
	return bn_replace(rw, m, BN_SILU, 0, 0, 0);
}

static PmStatus rewrite_hard_swish(PmRewriter *rw, PmMatch *m)
{
	return bn_replace(rw, m, BN_HARD_SWISH, 0, 0, 0);
}

static PmStatus rewrite_leaky(PmRewriter *rw, PmMatch *m)
{
	return bn_replace(rw, m, BN_LEAKY, 0, pm_attr_f(m->root, "alpha", 0.01), 0);
}

static PmStatus rewrite_clip(PmRewriter *rw, PmMatch *m)
{
	double lo = 0, hi = 0;

	pm_scalar(m->v[LO], &lo);
	pm_scalar(m->v[HI], &hi);
	return bn_replace(rw, m, BN_CLIP, 0, lo, hi);
}

PM_RULE(bn_relu, .doc = "Relu(BatchNormalization(x)) -> one kernel", .pattern = OP(Relu, NORM),
	.check = bn_check, .rewrite = rewrite_relu);
PM_RULE(bn_add_relu, .doc = "Relu(BatchNormalization(x) + residual) -> one kernel",
	.pattern = OP(Relu, OP(Add, NORM, V(RES))), .check = bn_check_residual, .rewrite = rewrite_add_relu);
PM_RULE(bn_silu, .doc = "BatchNormalization(x) times its Sigmoid -> one kernel",
	.pattern = OP(Mul, NORM, OP(Sigmoid, V(BN))), .check = bn_check, .rewrite = rewrite_silu);
PM_RULE(bn_hard_swish, .doc = "HardSwish(BatchNormalization(x)) -> one kernel",
	.pattern = OP(HardSwish, NORM), .check = bn_check, .rewrite = rewrite_hard_swish);
PM_RULE(bn_leaky_relu, .doc = "LeakyRelu(BatchNormalization(x)) -> one kernel",
	.pattern = ANYATTR(OP(LeakyRelu, NORM)), .check = bn_check, .rewrite = rewrite_leaky);
PM_RULE(bn_clip, .doc = "Clip(BatchNormalization(x), lo, hi), such as ReLU6 -> one kernel",
	.pattern = OP(Clip, NORM, V(LO), V(HI)), .check = check_clip, .rewrite = rewrite_clip);

PM_PLUGIN("bn_relu", "1", &bn_add_relu, &bn_relu, &bn_silu, &bn_hard_swish, &bn_leaky_relu, &bn_clip)
