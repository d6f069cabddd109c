/* bound_rules.c - which rule gives the unit of error of an operator's results. */
#include "bench/bound_priv.h"

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

static PmStatus resize(PmBoundCall *c, PmErr *err)
{
	return differs(c, "mode", "nearest") ? unknown(c, err) : pm__bound_sum(c, err);
}

static PmStatus scatter(PmBoundCall *c, PmErr *err)
{
	if (!differs(c, "reduction", "add"))
		return pm__bound_scatter(c, err);
	return differs(c, "reduction", "none") ? unknown(c, err) : pm__bound_move(c, err);
}

static PmStatus batch_norm(PmBoundCall *c, PmErr *err)
{
	return pm_node_i(c->call.g, c->call.node, "training_mode", 0) ? unknown(c, err)
								      : pm__bound_function(c, err);
}

/* Rows that do not go by their flags. */
static PmBoundRule *const rules[PM_N_OPS] = {
	[PM_OP_Relu] = pm__bound_exact,
	[PM_OP_Neg] = pm__bound_exact,
	[PM_OP_Abs] = pm__bound_exact,
	[PM_OP_Max] = pm__bound_exact,
	[PM_OP_Min] = pm__bound_exact,
	[PM_OP_Clip] = pm__bound_exact,
	[PM_OP_Where] = pm__bound_exact,
	[PM_OP_Identity] = pm__bound_move,
	[PM_OP_Cast] = pm__bound_cast,
	[PM_OP_Add] = pm__bound_arithmetic,
	[PM_OP_Sub] = pm__bound_arithmetic,
	[PM_OP_Mul] = pm__bound_arithmetic,
	[PM_OP_Div] = pm__bound_arithmetic,
	[PM_OP_Sum] = pm__bound_arithmetic,
	[PM_OP_Sqrt] = pm__bound_arithmetic,
	[PM_OP_Reciprocal] = pm__bound_arithmetic,
	[PM_OP_LeakyRelu] = pm__bound_arithmetic,
	[PM_OP_PRelu] = pm__bound_arithmetic,
	[PM_OP_ThresholdedRelu] = pm__bound_arithmetic,
	[PM_OP_DequantizeLinear] = pm__bound_arithmetic,
	[PM_OP_BatchNormalization] = batch_norm,
	[PM_OP_QuantizeLinear] = quantise,
	[PM_OP_Sign] = pm__bound_stepped,
	[PM_OP_Floor] = pm__bound_stepped,
	[PM_OP_Ceil] = pm__bound_stepped,
	[PM_OP_Round] = pm__bound_stepped,
	[PM_OP_Mod] = modulo,
	[PM_OP_IsInf] = pm__bound_stepped,
	[PM_OP_IsNaN] = pm__bound_stepped,
	[PM_OP_Equal] = pm__bound_stepped,
	[PM_OP_Less] = pm__bound_stepped,
	[PM_OP_LessOrEqual] = pm__bound_stepped,
	[PM_OP_Greater] = pm__bound_stepped,
	[PM_OP_GreaterOrEqual] = pm__bound_stepped,
	[PM_OP_ReduceSum] = pm__bound_sum,
	[PM_OP_ReduceMean] = pm__bound_sum,
	[PM_OP_ReduceL1] = pm__bound_sum,
	[PM_OP_CumSum] = pm__bound_sum,
	[PM_OP_AveragePool] = pm__bound_sum,
	[PM_OP_GlobalAveragePool] = pm__bound_sum,
	[PM_OP_Col2Im] = pm__bound_sum,
	[PM_OP_Resize] = resize,
	[PM_OP_ReduceL2] = pm__bound_squares,
	[PM_OP_ReduceSumSquare] = pm__bound_squares,
	[PM_OP_ReduceMax] = pm__bound_extreme,
	[PM_OP_ReduceMin] = pm__bound_extreme,
	[PM_OP_MaxPool] = pm__bound_extreme,
	[PM_OP_GlobalMaxPool] = pm__bound_extreme,
	[PM_OP_ArgMax] = pick,
	[PM_OP_ArgMin] = pick,
	[PM_OP_TopK] = pick,
	[PM_OP_Hardmax] = pick,
	[PM_OP_Softmax] = pm__bound_softmax,
	[PM_OP_LogSoftmax] = pm__bound_softmax,
	[PM_OP_LayerNormalization] = pm__bound_normalise,
	[PM_OP_RMSNormalization] = pm__bound_normalise,
	[PM_OP_InstanceNormalization] = pm__bound_normalise,
	[PM_OP_GroupNormalization] = pm__bound_normalise,
	[PM_OP_ScatterElements] = scatter,
	[PM_OP_ScatterND] = scatter,
	[PM_OP_DFT] = unknown,
	[PM_OP_GridSample] = unknown,
	[PM_OP_RoiAlign] = unknown,
	[PM_OP_Det] = unknown,
};

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

PmBoundRule *pm__bound_rule(const PmBoundCall *c)
{
	PmOp op = pm_node_op(c->call.g, c->call.node);
	const PmOpDesc *d = pm_op_desc(op);

	if (d->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_DATA | PM_OPF_RANDOM))
		return unknown;
	if (rules[op])
		return rules[op];
	if (d->flags & PM_OPF_SHAPE)
		return nothing;
	if (d->flags & PM_OPF_EW)
		return d->expr ? pm__bound_function : pm__bound_stepped;
	if (d->flags & PM_OPF_MOVE)
		return pm__bound_move;
	return d->flags & PM_OPF_DOT ? pm__bound_product : pm__bound_sampled;
}
