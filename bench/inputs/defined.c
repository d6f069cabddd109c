/* SPDX-License-Identifier: Apache-2.0 */
/* defined.c - the table of operands for which operators have no defined result. */
#include "bench/inputs/defined.h"

#include "base/sys/threads.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum {
	NAN_ = PM_KIND_NAN,
	PINF = PM_KIND_PLUS_INF,
	MINF = PM_KIND_MINUS_INF,
	SPECIAL = NAN_ | PINF | MINF,
	MINUS_ZERO = PM_KIND_MINUS_ZERO
};

/* Per operator: kinds of floating-point operands that leave its result open, and how large operands may be
 * (0 = as large as their type holds). */
typedef struct Row {
	unsigned kinds;
	double most;
} Row;

/* A NaN wins in Max, Min, ReduceMax, ReduceMin and the pools (docs/reference/kernel-prelude.md); where the
 * usual kernel is a comparison or a pair of fmaxf and fminf, what becomes of a NaN is open. A row with +inf
 * makes Softmax inf - inf or 1, by the order of its sums, and a NaN at its beginning may be lost. Weights of
 * 0 between elements make 0 * inf of what another kernel does not read. */
static const Row table[PM_N_OPS] = {
	[PM_OP_Relu] = { NAN_, 0 },
	[PM_OP_Clip] = { NAN_, 0 },
	[PM_OP_HardSigmoid] = { NAN_, 0 },
	[PM_OP_HardSwish] = { SPECIAL, 0 },
	[PM_OP_ThresholdedRelu] = { NAN_, 0 },
	[PM_OP_Shrink] = { NAN_, 0 },
	[PM_OP_Sign] = { NAN_, 0 },
	[PM_OP_Elu] = { NAN_, 0 },
	[PM_OP_Celu] = { NAN_, 0 },
	[PM_OP_Selu] = { NAN_, 0 },
	[PM_OP_LeakyRelu] = { NAN_, 0 },
	[PM_OP_PRelu] = { SPECIAL, 0 },
	[PM_OP_Softplus] = { NAN_, 0 },
	[PM_OP_Softsign] = { PINF | MINF, 0 },
	[PM_OP_Mish] = { SPECIAL, 0 },
	[PM_OP_Softmax] = { NAN_ | PINF, 0 },
	[PM_OP_LogSoftmax] = { SPECIAL, 1e30 },
	[PM_OP_ReduceLogSum] = { SPECIAL, 1e30 },
	[PM_OP_ReduceLogSumExp] = { SPECIAL, 1e30 },
	[PM_OP_Hardmax] = { NAN_, 0 },
	[PM_OP_ArgMax] = { NAN_, 0 },
	[PM_OP_ArgMin] = { NAN_, 0 },
	[PM_OP_TopK] = { NAN_, 0 },
	[PM_OP_Unique] = { NAN_, 0 },
	[PM_OP_NonMaxSuppression] = { SPECIAL, 1e5 },
	[PM_OP_QuantizeLinear] = { NAN_, 0 },
	[PM_OP_LayerNormalization] = { 0, 1e12 },
	[PM_OP_RMSNormalization] = { 0, 1e12 },
	[PM_OP_InstanceNormalization] = { 0, 1e12 },
	[PM_OP_GroupNormalization] = { 0, 1e12 },
	[PM_OP_LpNormalization] = { SPECIAL, 1e12 },
	[PM_OP_LRN] = { SPECIAL, 1e12 },
	[PM_OP_ReduceL2] = { 0, 1e12 },
	[PM_OP_ReduceSumSquare] = { 0, 1e12 },
	[PM_OP_Gelu] = { 0, 1e12 },
	[PM_OP_Sin] = { 0, 1e5 },
	[PM_OP_Cos] = { 0, 1e5 },
	[PM_OP_Tan] = { 0, 1e5 },
	[PM_OP_Asinh] = { SPECIAL, 1e15 },
	[PM_OP_Acosh] = { SPECIAL, 1e15 },
	[PM_OP_Mod] = { SPECIAL, 1e5 },
	[PM_OP_Resize] = { SPECIAL, 1e30 },
	[PM_OP_GridSample] = { SPECIAL, 1e5 },
	[PM_OP_RoiAlign] = { SPECIAL, 1e5 },
	[PM_OP_DFT] = { SPECIAL, 1e12 },
	[PM_OP_Det] = { SPECIAL, 1e5 },
	[PM_OP_AveragePool] = { SPECIAL, 1e30 },
};

const char *pm_kind_name(int k)
{
	static const char *const names[PM_N_VALUE_KINDS] = { "nan", "+inf",        "-inf", "denormal",
							     "-0",  "wrap-around", "ties" };

	return k >= 0 && k < PM_N_VALUE_KINDS ? names[k] : "?";
}

static double least_normal(int dtype)
{
	const PmFloatType *f = pm_float_type(dtype);

	return (f ? f : pm_float_type(PM_F32))->normal;
}

typedef struct Kinds {
	const PmRefTensor *t;
	double least, most;
	unsigned kinds;
	pthread_mutex_t lock; /* of the two before it */
} Kinds;

static void kinds_of_part(void *arg, int64_t from, int64_t to)
{
	Kinds *all = arg;
	const PmRefTensor *t = all->t;
	double least = all->least, most = 0;
	unsigned kinds = 0;

	for (int64_t i = from; i < to; i++) {
		double v = t->f ? t->f[i] : pm_int_to_f64(t->type.dtype, t->i[i]), a = fabs(v);

		if (a >= least && a <= 1e300) {
			most = a > most ? a : most;
			continue;
		}
		if (isnan(v))
			kinds |= PM_KIND_NAN;
		else if (isinf(v))
			kinds |= v > 0 ? PM_KIND_PLUS_INF : PM_KIND_MINUS_INF;
		else if (v == 0 && t->f)
			kinds |= signbit(v) ? PM_KIND_MINUS_ZERO : 0;
		else if (a < least && t->f)
			kinds |= PM_KIND_DENORMAL;
		most = isfinite(v) && a > most ? a : most;
	}
	pthread_mutex_lock(&all->lock);
	all->most = most > all->most ? most : all->most;
	all->kinds |= kinds;
	pthread_mutex_unlock(&all->lock);
}

unsigned pm_kinds_of(const PmRefTensor *t, double *largest)
{
	Kinds all = { .t = t, .least = least_normal(t->type.dtype), .lock = PTHREAD_MUTEX_INITIALIZER };

	pm_threads_run(t->numel, 1 << 15, kinds_of_part, &all);
	*largest = all.most;
	return all.kinds;
}

double pm_defined_up_to(PmOp op)
{
	return table[op].most > 0 ? table[op].most : INFINITY;
}

/* ---- what needs a look at the elements ---- */

/* Elements beyond what fits an integer type: a conversion of them is not defined, nor is one of NaN. */
static const char *cast(const PmRefCall *c)
{
	const PmRefTensor *x = &c->in[0];
	int to = c->out[0].type.dtype;
	double lo, hi;

	if (!x->f || pm_dtype_is_float(to) || to == PM_BOOL)
		return NULL;
	lo = pm_int_to_f64(to, pm_int_from_f64(to, -INFINITY));
	hi = pm_int_to_f64(to, pm_int_from_f64(to, INFINITY));
	for (int64_t i = 0; i < x->numel; i++)
		if (!(x->f[i] > lo - 1 && x->f[i] < (hi < 0x1p52 ? hi + 1 : hi)))
			return "a number that the integer type does not hold";
	return NULL;
}

/* Integer operand 1 for which Div, Mod and BitShift are undefined in C. */
static const char *integer_operand(const PmRefCall *c, PmOp op)
{
	const PmRefTensor *b = &c->in[1];
	int bits = (int)(8 * pm_dtype_size(b->type.dtype)), divides = op == PM_OP_Div || op == PM_OP_Mod;

	for (int64_t i = 0; i < b->numel && b->i; i++) {
		if (divides && b->i[i] == 0)
			return "an integer divisor 0";
		if (op == PM_OP_BitShift && (b->i[i] < 0 || b->i[i] >= bits))
			return "a shift by more bits than there are";
		if (op == PM_OP_Pow && (b->i[i] < 0 || b->i[i] > 64))
			return "an integer exponent below 0 or over 64";
	}
	return NULL;
}

/* The least integer over -1 has no quotient in its type. */
static const char *quotient(const PmRefCall *c)
{
	const PmRefTensor *a = &c->in[0], *b = &c->in[1];
	int dtype = a->type.dtype, low = 0, minus = 0;
	int64_t least = pm_int_from_f64(dtype, -INFINITY);

	if (!a->i || !b->i || !least)
		return NULL;
	for (int64_t i = 0; i < a->numel; i++)
		low |= a->i[i] == least;
	for (int64_t i = 0; i < b->numel; i++)
		minus |= b->i[i] == -1;
	return low && minus ? "the least integer and a divisor -1" : NULL;
}

/* sqrt and a product of logarithms differ on -inf and -0; exp(b log a) has no 0 and inf of its own. */
static const char *power(const PmRefCall *c)
{
	double most;
	unsigned a = pm_kinds_of(&c->in[0], &most), b = pm_kinds_of(&c->in[1], &most);

	return a & (PINF | MINF | NAN_) || b & SPECIAL ? "NaN or an infinity" : NULL;
}

/* |x / scale| has to fit an int. */
static const char *quantise(const PmRefCall *c)
{
	double x, s, least = INFINITY;

	pm_kinds_of(&c->in[0], &x);
	pm_kinds_of(&c->in[1], &s);
	for (int64_t i = 0; i < c->in[1].numel && c->in[1].f; i++)
		least = fmin(least, fabs(c->in[1].f[i]));
	return !(x < 0x1p30 * least) || !isfinite(s) ? "a quotient that no integer holds" : NULL;
}

/* A row of nothing but -inf is 0 / 0 for some kernels and 0 for others. */
static const char *hidden_row(const PmRefCall *c)
{
	const PmRefTensor *x = &c->in[0];
	int64_t axis = pm_node_i(c->g, c->node, "axis", x->type.rank - 1), inner = 1, len;

	axis += axis < 0 ? x->type.rank : 0;
	if (axis >= x->type.rank || !x->f)
		return NULL;
	len = x->type.dim[axis];
	for (int d = (int)axis + 1; d < x->type.rank; d++)
		inner *= x->type.dim[d];
	for (int64_t line = 0; len > 0 && line < x->numel / len; line++) {
		int64_t at = line / inner * inner * len + line % inner, k = 0;

		while (k < len && x->f[at + k * inner] == -INFINITY)
			k++;
		if (k == len)
			return "a row of -inf alone";
	}
	return NULL;
}

/* The sign of a zero that a maximum or a sum has made is open, and the sign of what is divided by it. */
static const char *divisor(const PmRefCall *c, size_t k)
{
	PmNode by = pm_value_def(c->g, pm_node_in(c->g, c->node, k), NULL);
	PmOp op = by.id ? pm_node_op(c->g, by) : PM_OP_NONE;
	const PmRefTensor *x = &c->in[k];

	if (op != PM_OP_Relu && op != PM_OP_Max && op != PM_OP_Min && op != PM_OP_Clip &&
	    op != PM_OP_ReduceMax && op != PM_OP_ReduceMin && op != PM_OP_Round && op != PM_OP_Ceil)
		return NULL;
	for (int64_t i = 0; i < x->numel && x->f; i++)
		if (x->f[i] == 0)
			return "a divisor that is 0 of either sign";
	return NULL;
}

static const char *by_elements(const PmRefCall *c, PmOp op)
{
	const char *why = NULL;

	if (op == PM_OP_Cast)
		return cast(c);
	if (op == PM_OP_Div || op == PM_OP_Mod || op == PM_OP_BitShift || op == PM_OP_Pow)
		why = integer_operand(c, op);
	if (!why && op == PM_OP_Div)
		why = c->in[0].i ? quotient(c) : divisor(c, 1);
	if (!why && op == PM_OP_Pow && c->in[0].f)
		why = power(c);
	if (op == PM_OP_Reciprocal)
		why = divisor(c, 0);
	if (op == PM_OP_QuantizeLinear)
		why = quantise(c);
	if (op == PM_OP_Softmax)
		why = hidden_row(c);
	return why;
}

const char *pm_undefined(const PmRefCall *c)
{
	PmOp op = pm_node_op(c->g, c->node);
	unsigned kinds = 0;

	for (size_t k = 0; k < c->n_in && table[op].kinds; k++) {
		double most;

		if (c->in[k].f)
			kinds |= pm_kinds_of(&c->in[k], &most);
	}
	kinds &= table[op].kinds;
	return kinds & NAN_ ? "NaN" : kinds & PINF ? "+inf" : kinds & MINF ? "-inf" : by_elements(c, op);
}
