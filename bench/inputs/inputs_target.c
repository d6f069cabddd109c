/* SPDX-License-Identifier: Apache-2.0 */
/* inputs_target.c - numbers of inputs at which a graph's comparisons, bounds and corners change their mind,
 * found by solving backwards from them. */
#include "bench/inputs/inputs_priv.h"

#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 16, MAX_SAMPLES = 3, MAX_CONST = 1 << 16 };

typedef struct Solver {
	const PmGraph *g;
	PmTargets *of; /* by number of the input */
	int pole;      /* what is solved for is NaN or infinite */
	int line;      /* it is what all elements of a line have to be */
} Solver;

static void add_target(PmTargets *t, double v, int pole)
{
	if (isnan(v) && !pole)
		return;
	for (size_t i = 0; i < t->n; i++)
		if (!memcmp(&t->t[i], &v, sizeof v))
			return;
	if (t->n == PM__MAX_TARGETS)
		return;
	t->pole[t->n] = (unsigned char)pole;
	t->t[t->n++] = v;
}

static void add_line(PmTargets *t, double v, int pole)
{
	if (!isfinite(v))
		return;
	for (size_t i = 0; i < t->n_lines; i++)
		if (t->line[i] == v)
			return;
	if (t->n_lines == PM__MAX_LINES)
		return;
	t->line_pole[t->n_lines] = (unsigned char)pole;
	t->line[t->n_lines++] = v;
}

/* Some elements of a constant, seen through what spreads it: 0 when it is none. */
static int samples(const PmGraph *g, PmValue v, double out[MAX_SAMPLES])
{
	PmTensor t;
	int n = 0;
	int64_t numel;
	PmErr err;

	for (int depth = 0; v.id && !pm_value_is_const(g, v) && depth < MAX_DEPTH; depth++) {
		PmNode by = pm_value_def(g, v, NULL);
		PmOp op = by.id ? pm_node_op(g, by) : PM_OP_NONE;

		if (op == PM_OP_ConstantOfShape)
			break;
		if (op != PM_OP_Cast && op != PM_OP_Identity && op != PM_OP_Expand && op != PM_OP_Reshape &&
		    op != PM_OP_Unsqueeze && op != PM_OP_Squeeze)
			return 0;
		v = pm_node_in(g, by, 0);
	}
	pm_err_init(&err);
	if (!v.id || !pm_value_is_const(g, v) || pm_tensor_from_const(&t, g, v, &err))
		return 0;
	numel = pm_tensor_numel(&t);
	for (int64_t i = 0;
	     i < numel && numel <= MAX_CONST && n<MAX_SAMPLES; i += numel> 2 ? numel / MAX_SAMPLES : 1)
		out[n++] = pm_tensor_get(&t, i);
	pm_tensor_release(&t);
	return n;
}

static void solve(const Solver *s, PmValue v, double t, int depth);

/* x of  x OP c = t  (first) or  c OP x = t. */
static void solve_binary(const Solver *s, PmOp op, PmValue x, double c, double t, int first, int depth)
{
	if (op == PM_OP_Add) {
		solve(s, x, t - c, depth);
	} else if (op == PM_OP_Sub) {
		solve(s, x, first ? t + c : c - t, depth);
	} else if (op == PM_OP_Mul && c != 0) {
		solve(s, x, t / c, depth);
	} else if (op == PM_OP_Div && first && c != 0) {
		solve(s, x, t * c, depth);
	} else if (op == PM_OP_Div && !first) {
		solve(s, x, c / t, depth);
		if (isinf(t))
			solve(s, x, -c / t, depth);
	} else if (op == PM_OP_Pow && first && c != 0) {
		double root = isinf(t) ? (c < 0 ? 0 : t) : pow(fabs(t), 1 / c);

		solve(s, x, root, depth);
		solve(s, x, -root, depth);
		if (isinf(t)) /* just beside the pole, where the base is not positive */
			solve(s, x, -0x1p-20, depth);
	} else if (op == PM_OP_Pow && !first && c > 0 && c != 1 && t > 0) {
		solve(s, x, log(t) / log(c), depth);
	}
}

static double same(double t)
{
	return t;
}

static double negative(double t)
{
	return -t;
}

static double inverse_of(double t)
{
	return 1 / t;
}

static double other_inverse(double t)
{
	return -1 / t;
}

static double square(double t)
{
	return t * t;
}

static double logarithm(double t)
{
	return t > 0 ? log(t) : -1000;
}

static double logit(double t)
{
	return log(t / (1 - t));
}

/* Just below 0, where roots and logarithms are NaN. */
static double below_zero(double t)
{
	(void)t;
	return -0x1p-20;
}

/* x of  f(x) = t  for functions of one operand; a second one; one more where t is NaN or infinite. */
static const struct {
	double (*x)(double t), (*other)(double t), (*at_pole)(double t);
} inverse[PM_N_OPS] = {
	[PM_OP_Neg] = { negative, NULL, NULL },
	[PM_OP_Abs] = { same, negative, NULL },
	[PM_OP_Reciprocal] = { inverse_of, NULL, other_inverse },
	[PM_OP_Sqrt] = { square, NULL, below_zero },
	[PM_OP_Exp] = { logarithm, NULL, NULL },
	[PM_OP_Log] = { exp, NULL, below_zero },
	[PM_OP_Tanh] = { atanh, NULL, NULL },
	[PM_OP_Sigmoid] = { logit, NULL, NULL },
	[PM_OP_Cast] = { same, NULL, NULL },
	[PM_OP_Floor] = { same, NULL, NULL },
	[PM_OP_Ceil] = { same, NULL, NULL },
	[PM_OP_Round] = { same, NULL, NULL },
	[PM_OP_Relu] = { same, NULL, NULL },
	[PM_OP_LeakyRelu] = { same, NULL, NULL },
	[PM_OP_Clip] = { same, NULL, NULL },
};

static void solve_unary(const Solver *s, PmOp op, PmValue x, double t, int depth)
{
	if (inverse[op].x)
		solve(s, x, inverse[op].x(t), depth);
	if (inverse[op].other)
		solve(s, x, inverse[op].other(t), depth);
	if (inverse[op].at_pole && s->pole)
		solve(s, x, inverse[op].at_pole(t), depth);
}

/* Sums of nothing but zeros are 0, and the largest of equal numbers is that number; other sums would have to
 * be met to the last digit. */
static int passes_line(PmOp op, double t)
{
	if (op == PM_OP_ReduceMax || op == PM_OP_ReduceMin)
		return 1;
	return t == 0 && (op == PM_OP_ReduceSum || op == PM_OP_ReduceMean || op == PM_OP_ReduceL1 ||
			  op == PM_OP_ReduceL2 || op == PM_OP_ReduceSumSquare || op == PM_OP_MatMul ||
			  op == PM_OP_GlobalAveragePool);
}

static void solve_line(const Solver *s, PmNode n, double t, int depth)
{
	Solver line = *s;
	size_t n_in = pm_node_op(s->g, n) == PM_OP_MatMul ? 2 : 1;

	line.line = 1;
	for (size_t k = 0; k < n_in; k++)
		solve(&line, pm_node_in(s->g, n, k), t, depth);
}

/* Notes what elements of graph inputs make v equal to t. */
static void solve(const Solver *s, PmValue v, double t, int depth)
{
	const PmGraph *g = s->g;
	PmNode n = pm_value_def(g, v, NULL);
	uint32_t flags;
	PmOp op;

	if (depth > MAX_DEPTH || !v.id)
		return;
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (pm_graph_input(g, i).id == v.id)
			(s->line ? add_line : add_target)(&s->of[i], t, s->pole);
	if (!n.id)
		return;
	op = pm_node_op(g, n);
	flags = pm_op_desc(op)->flags;
	if (op == PM_OP_Where) {
		solve(s, pm_node_in(g, n, 1), t, depth + 1);
		solve(s, pm_node_in(g, n, 2), t, depth + 1);
	} else if (op == PM_OP_Concat || op == PM_OP_Max || op == PM_OP_Min) {
		for (size_t k = 0; k < pm_node_n_in(g, n); k++)
			solve(s, pm_node_in(g, n, k), t, depth + 1);
	} else if (flags & (PM_OPF_VIEW | PM_OPF_MOVE) && op != PM_OP_BitCast) {
		solve(s, pm_node_in(g, n, 0), t, depth + 1);
	} else if (passes_line(op, t)) {
		solve_line(s, n, t, depth + 1);
	} else if (op == PM_OP_Add || op == PM_OP_Sub || op == PM_OP_Mul || op == PM_OP_Div ||
		   op == PM_OP_Pow) {
		for (int k = 0; k < 2; k++) {
			double c[MAX_SAMPLES];
			int have = samples(g, pm_node_in(g, n, (size_t)(1 - k)), c);

			for (int q = 0; q < have; q++)
				solve_binary(s, op, pm_node_in(g, n, (size_t)k), c[q], t, k == 0, depth + 1);
			if (!have && op == PM_OP_Mul && t == 0)
				solve(s, pm_node_in(g, n, (size_t)k), 0, depth + 1);
		}
	} else {
		solve_unary(s, op, pm_node_in(g, n, 0), t, depth + 1);
	}
}

/* Operand k against each constant among the others. */
static void meet_constants(Solver *s, PmNode n)
{
	size_t n_in = pm_node_n_in(s->g, n);

	for (size_t c = 0; c < n_in; c++) {
		double v[MAX_SAMPLES];
		int have = samples(s->g, pm_node_in(s->g, n, c), v);

		for (int q = 0; q < have; q++) {
			s->pole = !isfinite(v[q]);
			for (size_t k = 0; k < n_in; k++)
				if (k != c)
					solve(s, pm_node_in(s->g, n, k), v[q], 0);
		}
	}
}

/* Where functions of one operand bend or jump by themselves. */
static const struct {
	int n;
	double at[2];
} corner[PM_N_OPS] = {
	[PM_OP_Relu] = { 1, { 0, 0 } },
	[PM_OP_LeakyRelu] = { 1, { 0, 0 } },
	[PM_OP_PRelu] = { 1, { 0, 0 } },
	[PM_OP_Elu] = { 1, { 0, 0 } },
	[PM_OP_Celu] = { 1, { 0, 0 } },
	[PM_OP_Selu] = { 1, { 0, 0 } },
	[PM_OP_Abs] = { 1, { 0, 0 } },
	[PM_OP_Sign] = { 1, { 0, 0 } },
	[PM_OP_HardSwish] = { 2, { 3, -3 } },
	[PM_OP_Round] = { 2, { 0.5, 2.5 } },
	[PM_OP_Floor] = { 2, { 0, 1 } },
	[PM_OP_Ceil] = { 2, { 0, 1 } },
	[PM_OP_IsInf] = { 2, { INFINITY, -INFINITY } },
	[PM_OP_IsNaN] = { 1, { NAN, 0 } },
};

static void corners(Solver *s, PmNode n)
{
	PmOp op = pm_node_op(s->g, n);
	PmValue x = pm_node_in(s->g, n, 0);
	double a = pm_node_f(s->g, n, "alpha", op == PM_OP_HardSigmoid ? 0.2 : 1);
	double b = pm_node_f(s->g, n, "beta", 0.5), l = pm_node_f(s->g, n, "lambd", 0.5);

	s->pole = op == PM_OP_IsInf || op == PM_OP_IsNaN;
	for (int k = 0; k < corner[op].n; k++)
		solve(s, x, corner[op].at[k], 0);
	if (op == PM_OP_Cast && pm_value_type(s->g, pm_node_out(s->g, n, 0))->dtype == PM_BOOL)
		solve(s, x, 0, 0);
	if (op == PM_OP_HardSigmoid && a != 0) {
		solve(s, x, -b / a, 0);
		solve(s, x, (1 - b) / a, 0);
	}
	if (op == PM_OP_ThresholdedRelu)
		solve(s, x, a, 0);
	if (op == PM_OP_Shrink) {
		solve(s, x, l, 0);
		solve(s, x, -l, 0);
	}
}

PmTargets *pm__targets_find(const PmGraph *g)
{
	Solver s = { g, pm_xcalloc(pm_graph_n_inputs(g) + 1, sizeof(PmTargets)), 0, 0 };

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		PmOp op = pm_node_op(g, n);

		if (op == PM_OP_Equal || op == PM_OP_Less || op == PM_OP_LessOrEqual || op == PM_OP_Greater ||
		    op == PM_OP_GreaterOrEqual || op == PM_OP_Clip || op == PM_OP_Max || op == PM_OP_Min)
			meet_constants(&s, n);
		else
			corners(&s, n);
	}
	return s.of;
}
