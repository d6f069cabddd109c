/* SPDX-License-Identifier: Apache-2.0 */
/* bound_rules.c - which rule gives the unit of error of an operator's results. */
#include "bench/compare/bound/bound_priv.h"

#include <math.h>
#include <string.h>

/* Values that depend on nothing rounded. */
static PmStatus nothing(PmBoundCall *c, PmErr *err)
{
	(void)c;
	(void)err;
	return PM_OK;
}

/* Positions of the largest: certain when nothing has been rounded before. */
static PmStatus pick(PmBoundCall *c, PmErr *err)
{
	(void)err;
	if (c->in[0].unit || c->in[0].rounds)
		pm__bound_lose(c);
	return PM_OK;
}

static PmStatus modulo(PmBoundCall *c, PmErr *err)
{
	pm__bound_rounded(c);
	return pm__bound_stepped(c, err);
}

static PmStatus quantise(PmBoundCall *c, PmErr *err)
{
	return pm__bound_move_operands(c, 0x1p-24, err);
}

/* Forms without a rule: coordinates between elements (which are rounded too), scatters that multiply,
 * training, sums with weights of both signs that are no operands. */
static PmStatus unknown(PmBoundCall *c, PmErr *err)
{
	(void)err;
	pm__bound_lose(c);
	return PM_OK;
}

static int differs(const PmBoundCall *c, const char *attr, const char *value)
{
	return strcmp(pm_node_s(c->call.g, c->call.node, attr, value), value) != 0;
}

static PmStatus scatter(PmBoundCall *c, PmErr *err)
{
	if (!differs(c, "reduction", "add"))
		return pm__bound_scatter(c, err);
	/* One of what is there, in any order. */
	if ((!differs(c, "reduction", "max") || !differs(c, "reduction", "min")) && !c->in[0].unit &&
	    !c->in[1].unit && !c->in[2].unit)
		return pm__bound_move(c, err);
	return differs(c, "reduction", "none") ? unknown(c, err) : pm__bound_move(c, err);
}

static PmStatus batch_norm(PmBoundCall *c, PmErr *err)
{
	return pm_node_i(c->call.g, c->call.node, "training_mode", 0) ? unknown(c, err)
								      : pm__bound_batch_norm(c, err);
}

/* The rule of each operator, or why it has none: results behind it are judged at t = -5. Rules may lose a
 * form of their operator: an Einsum of more than two operands, BatchNormalization in training, scatters that
 * multiply, what has two rounded positions. In the order of ir/core/ops.def;
 * tests/unit/bench/test_bound_rules fails when a row is missing. */
typedef struct Row {
	PmBoundRule *rule;
	const char *none;
} Row;

/* clang-format off */
#define RULE(op, rule) [PM_OP_##op] = { rule, NULL }
#define NONE(op, why) [PM_OP_##op] = { NULL, why }

static const Row rows[PM_N_OPS] = {
	RULE(Relu, pm__bound_exact),
	RULE(LeakyRelu, pm__bound_arithmetic),
	RULE(Elu, pm__bound_function),
	RULE(Selu, pm__bound_function),
	RULE(Sigmoid, pm__bound_function),
	RULE(HardSigmoid, pm__bound_function),
	RULE(HardSwish, pm__bound_function),
	RULE(Tanh, pm__bound_function),
	RULE(Gelu, pm__bound_function),
	RULE(Softplus, pm__bound_function),
	RULE(Softsign, pm__bound_function),
	RULE(Celu, pm__bound_function),
	RULE(Mish, pm__bound_function),
	RULE(ThresholdedRelu, pm__bound_arithmetic),
	RULE(Shrink, pm__bound_function),
	RULE(Erf, pm__bound_function),
	RULE(Exp, pm__bound_function),
	RULE(Log, pm__bound_function),
	RULE(Sqrt, pm__bound_arithmetic),
	RULE(Reciprocal, pm__bound_arithmetic),
	RULE(Sin, pm__bound_function),
	RULE(Cos, pm__bound_function),
	RULE(Tan, pm__bound_function),
	RULE(Asin, pm__bound_function),
	RULE(Acos, pm__bound_function),
	RULE(Atan, pm__bound_function),
	RULE(Sinh, pm__bound_function),
	RULE(Cosh, pm__bound_function),
	RULE(Asinh, pm__bound_function),
	RULE(Acosh, pm__bound_function),
	RULE(Atanh, pm__bound_function),
	RULE(Neg, pm__bound_exact),
	RULE(Abs, pm__bound_exact),
	RULE(Sign, pm__bound_stepped),
	RULE(Floor, pm__bound_stepped),
	RULE(Ceil, pm__bound_stepped),
	RULE(Round, pm__bound_stepped),
	RULE(Not, pm__bound_stepped),
	RULE(BitwiseNot, pm__bound_stepped),
	RULE(IsInf, pm__bound_stepped),
	RULE(IsNaN, pm__bound_stepped),
	RULE(Cast, pm__bound_cast),
	RULE(Identity, pm__bound_view),
	NONE(BitCast, "an error of its operand may change any of its bits"),
	RULE(Add, pm__bound_arithmetic),
	RULE(Sub, pm__bound_arithmetic),
	RULE(Mul, pm__bound_arithmetic),
	RULE(Div, pm__bound_arithmetic),
	RULE(Pow, pm__bound_function),
	RULE(Mod, modulo),
	RULE(PRelu, pm__bound_arithmetic),
	RULE(Max, pm__bound_exact),
	RULE(Min, pm__bound_exact),
	RULE(Sum, pm__bound_arithmetic),
	RULE(Clip, pm__bound_exact),
	RULE(Where, pm__bound_exact),
	RULE(Equal, pm__bound_stepped),
	RULE(Less, pm__bound_stepped),
	RULE(LessOrEqual, pm__bound_stepped),
	RULE(Greater, pm__bound_stepped),
	RULE(GreaterOrEqual, pm__bound_stepped),
	RULE(And, pm__bound_stepped),
	RULE(Or, pm__bound_stepped),
	RULE(Xor, pm__bound_stepped),
	RULE(BitwiseAnd, pm__bound_stepped),
	RULE(BitwiseOr, pm__bound_stepped),
	RULE(BitwiseXor, pm__bound_stepped),
	RULE(BitShift, pm__bound_stepped),
	RULE(ReduceSum, pm__bound_sum),
	RULE(ReduceMean, pm__bound_sum),
	RULE(ReduceMax, pm__bound_extreme),
	RULE(ReduceMin, pm__bound_extreme),
	RULE(ReduceProd, pm__bound_sampled),
	RULE(ReduceL1, pm__bound_sum),
	RULE(ReduceL2, pm__bound_squares),
	RULE(ReduceSumSquare, pm__bound_squares),
	RULE(ReduceLogSum, pm__bound_sampled),
	RULE(ReduceLogSumExp, pm__bound_sampled),
	NONE(Det, "what elimination rounds depends on its pivots"),
	RULE(ArgMax, pick),
	RULE(ArgMin, pick),
	RULE(CumSum, pm__bound_sum),
	RULE(TopK, pick),
	RULE(Softmax, pm__bound_softmax),
	RULE(LogSoftmax, pm__bound_softmax),
	RULE(Hardmax, pick),
	RULE(LayerNormalization, pm__bound_normalise),
	RULE(BatchNormalization, batch_norm),
	RULE(InstanceNormalization, pm__bound_normalise),
	RULE(GroupNormalization, pm__bound_normalise),
	RULE(RMSNormalization, pm__bound_normalise),
	RULE(LpNormalization, pm__bound_sampled),
	RULE(LRN, pm__bound_sampled),
	RULE(QuantizeLinear, quantise),
	RULE(DequantizeLinear, pm__bound_arithmetic),
	RULE(MatMul, pm__bound_product),
	RULE(Gemm, pm__bound_product),
	RULE(Conv, pm__bound_product),
	RULE(ConvTranspose, pm__bound_product),
	NONE(DFT, "a fast transform and the sum itself round in ways that have no common variance"),
	RULE(Einsum, pm__bound_product),
	RULE(MaxPool, pm__bound_extreme),
	RULE(AveragePool, pm__bound_sum),
	RULE(GlobalAveragePool, pm__bound_sum),
	RULE(GlobalMaxPool, pm__bound_extreme),
	RULE(Resize, pm__bound_resize),
	NONE(GridSample, "its positions are values, which are rounded before they choose elements"),
	NONE(RoiAlign, "its positions are values, which are rounded before they choose elements"),
	RULE(Col2Im, pm__bound_sum),
	RULE(Transpose, pm__bound_view),
	RULE(Reshape, pm__bound_view),
	RULE(Flatten, pm__bound_view),
	RULE(Squeeze, pm__bound_view),
	RULE(Unsqueeze, pm__bound_view),
	RULE(Expand, pm__bound_view),
	RULE(Slice, pm__bound_view),
	RULE(Split, pm__bound_view),
	RULE(Concat, pm__bound_move),
	RULE(Gather, pm__bound_move),
	RULE(GatherElements, pm__bound_move),
	RULE(GatherND, pm__bound_move),
	RULE(ScatterElements, scatter),
	RULE(ScatterND, scatter),
	RULE(Pad, pm__bound_move),
	RULE(DepthToSpace, pm__bound_move),
	RULE(SpaceToDepth, pm__bound_move),
	RULE(Trilu, pm__bound_move),
	RULE(Tile, pm__bound_move),
	RULE(ReverseSequence, pm__bound_move),
	RULE(OneHot, pm__bound_move),
	RULE(Shape, nothing),
	RULE(Size, nothing),
	RULE(ConstantOfShape, nothing),
	RULE(EyeLike, nothing),
	NONE(Range, "its size is a value; no kernel makes it"),
	NONE(NonZero, "its size is a value; no kernel makes it"),
	NONE(Unique, "its size is a value; no kernel makes it"),
	NONE(NonMaxSuppression, "its size is a value; no kernel makes it"),
	NONE(RandomUniformLike, "an effect; no kernel makes it"),
	NONE(RandomNormalLike, "an effect; no kernel makes it"),
	NONE(Opaque, "it has no meaning"),
	NONE(Kernel, "its body is judged in its place"),
};
/* clang-format on */

PmBoundRule *pm__bound_rule(const PmBoundCall *c)
{
	PmBoundRule *rule = rows[pm_node_op(c->call.g, c->call.node)].rule;

	return rule ? rule : unknown;
}

int pm__bound_has_rule(PmOp op)
{
	return rows[op].rule != NULL;
}

const char *pm__bound_no_rule(PmOp op)
{
	return rows[op].none;
}
