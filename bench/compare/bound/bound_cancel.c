/* SPDX-License-Identifier: Apache-2.0 */
/* bound_cancel.c - how much the usual formula of a function cancels. */
#include "bench/compare/bound/bound_priv.h"

#include <math.h>

/* What the usual formula of a function cancels: about the size of its operand where one factor goes to 0
 * (x * (1 + erf x)), about 1 where the difference of two exponentials does, or a number is added. */
enum { OPERAND = 1, ONE };

static const unsigned char cancelled[PM_N_OPS] = {
	[PM_OP_Gelu] = OPERAND,
	[PM_OP_Mish] = OPERAND,
	[PM_OP_Atan] = OPERAND,
	[PM_OP_HardSwish] = OPERAND,
	[PM_OP_HardSigmoid] = ONE,
	[PM_OP_Shrink] = ONE,
	[PM_OP_Tanh] = ONE,
	[PM_OP_Erf] = ONE,
	[PM_OP_Elu] = ONE,
	[PM_OP_Selu] = ONE,
	[PM_OP_Celu] = ONE,
	[PM_OP_Softplus] = ONE,
	[PM_OP_Sinh] = ONE,
	[PM_OP_Asinh] = ONE,
	[PM_OP_Acosh] = ONE,
	[PM_OP_Atanh] = ONE,
	[PM_OP_Sin] = ONE,
	[PM_OP_Cos] = ONE,
	[PM_OP_Tan] = ONE,
	[PM_OP_Asin] = ONE,
	[PM_OP_Acos] = ONE,
	[PM_OP_ReduceLogSum] = ONE,
	[PM_OP_ReduceLogSumExp] = ONE,
};

double pm__bound_cancels(const PmBoundCall *c, double x)
{
	int what = cancelled[pm_node_op(c->call.g, c->call.node)];

	return what == OPERAND ? fabs(x) : what == ONE;
}
