/* SPDX-License-Identifier: Apache-2.0 */
/* flops.c - floating-point operations of a node, for the modelled clock. */
#include "ir/core/einsum.h"
#include "runtime/ref/ref.h"

#include <string.h>

enum { MAX_DEPTH = 16 };

static int is_word(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
	       ch == '_' || ch == '.';
}

/* Operations in a scalar expression of ops.def: binary + - * / and function calls, at least one (a select or
 * a comparison alone). Both branches of a choice count. */
static int64_t expr_flops(const char *s)
{
	int64_t n = 0;
	char before = '('; /* last character that is no space: an operator or '(' makes a sign unary */

	for (; *s; s++) {
		if (*s == '(' && is_word(before) && before != 'K')
			n++;
		else if (*s == '*' || *s == '/')
			n++;
		else if ((*s == '+' || *s == '-') && (is_word(before) || before == ')'))
			n++;
		if (*s != ' ')
			before = *s;
	}
	return n ? n : 1;
}

static int64_t numel(const PmGraph *g, PmValue v)
{
	int64_t n = 0;

	return pm_type_numel(pm_value_type(g, v), &n, NULL) ? 0 : n;
}

/* n * k where both may be large: stops at the largest number. */
static int64_t times(int64_t n, int64_t k)
{
	int64_t r = 0;

	return pm_mul_i64(n, k, &r) ? r : INT64_MAX;
}

/* For every combination of labels the product and its sum. */
static int64_t einsum_flops(const PmGraph *g, PmNode n)
{
	const PmType *in[PM_EINSUM_OPERANDS];
	int64_t dim[PM_EINSUM_LABELS], count = (int64_t)pm_node_n_in(g, n);
	PmEinsum e;
	char why[160];
	int k;

	for (k = 0; k < count && k < PM_EINSUM_OPERANDS; k++)
		in[k] = pm_value_type(g, pm_node_in(g, n, (size_t)k));
	if (pm_einsum_read(pm_node_s(g, n, "equation", ""), in, (size_t)count, &e, why))
		return 0;
	pm_einsum_dims(&e, in, dim);
	for (k = 0; k < e.n_labels; k++)
		count = times(count, dim[k]);
	return count;
}

static int64_t dot_flops(const PmGraph *g, PmNode n, PmOp op, int64_t out)
{
	const PmType *a = pm_value_type(g, pm_node_in(g, n, 0)), *w = pm_value_type(g, pm_node_in(g, n, 1));
	int64_t inner = 1, extra = 0;
	int d;

	if (op == PM_OP_DFT) /* a complex product and sum for each of the axis' elements */
		return times(times(out / 2, 8), a->rank > 1 ? a->dim[pm_node_i(g, n, "axis", 0)] : 0);
	if (op == PM_OP_Einsum)
		return einsum_flops(g, n);
	if (op == PM_OP_ConvTranspose) {
		/* Every input element meets every tap of its group's filters. */
		for (d = 1; d < w->rank; d++)
			inner = times(inner, w->dim[d]);
		return times(times(2, numel(g, pm_node_in(g, n, 0))), inner) +
		       (pm_node_in(g, n, 2).id ? out : 0);
	}
	if (op == PM_OP_Conv) {
		for (d = 1; d < w->rank; d++)
			inner = times(inner, w->dim[d]);
		extra = pm_node_in(g, n, 2).id ? out : 0;
	} else if (op == PM_OP_Gemm) {
		inner = a->rank == 2 ? a->dim[pm_node_i(g, n, "transA", 0) ? 0 : 1] : 0;
		extra = (pm_node_in(g, n, 2).id ? out : 0) + (pm_node_f(g, n, "alpha", 1) != 1 ? out : 0) +
			(pm_node_f(g, n, "beta", 1) != 1 ? out : 0);
	} else {
		inner = a->rank > 0 ? a->dim[a->rank - 1] : 0;
	}
	return times(out, times(2, inner)) + extra;
}

static int64_t pool_flops(const PmGraph *g, PmNode n, int64_t in, int64_t out)
{
	const int64_t *kernel;
	size_t nd = pm_node_ints(g, n, "kernel_shape", &kernel), k;
	int64_t taps = 1;

	if (!nd) /* a global pool sees every element once */
		return in;
	for (k = 0; k < nd; k++)
		taps = times(taps, kernel[k]);
	return times(out, taps);
}

/* Per element: Softmax max, subtract, exp, add, divide; LayerNormalization three for the moments' sums and
 * four to apply, one for the mean; BatchNormalization subtract, scale, scale, add; LRN a square and a sum
 * per neighbour, then scale, add, power, divide. */
static int64_t norm_flops(const PmGraph *g, PmNode n, PmOp op, int64_t in)
{
	if (op == PM_OP_LRN)
		return times(in, 2 * pm_node_i(g, n, "size", 1) + 4);
	if (op == PM_OP_LayerNormalization || op == PM_OP_InstanceNormalization ||
	    op == PM_OP_GroupNormalization)
		return times(in, 8);
	if (op == PM_OP_QuantizeLinear || op == PM_OP_DequantizeLinear) /* scale, zero point, rounding */
		return times(in, op == PM_OP_QuantizeLinear ? 3 : 2);
	if (op == PM_OP_BatchNormalization)
		return times(in, pm_node_i(g, n, "training_mode", 0) ? 8 : 4);
	return times(in, 5);
}

static int64_t node_flops(const PmGraph *g, PmNode n, int depth)
{
	PmOp op = pm_node_op(g, n);
	const PmOpDesc *d;
	int64_t in, out;

	if (op == PM_OP_NONE)
		return 0;
	d = pm_op_desc(op);
	in = numel(g, pm_node_in(g, n, 0));
	out = numel(g, pm_node_out(g, n, 0));
	if (d->flags & PM_OPF_KERNEL) {
		const PmAttr *body = pm_node_attr(g, n, "body");
		int64_t sum = 0;
		size_t i;

		if (!body || !body->graph || depth >= MAX_DEPTH)
			return 0;
		for (i = 0; i < pm_graph_n_nodes(body->graph); i++)
			if (!pm_add_i64(sum,
					node_flops(body->graph, pm_graph_node_at(body->graph, i), depth + 1),
					&sum))
				return INT64_MAX;
		return sum;
	}
	if (d->flags & PM_OPF_FOLD)
		return times(out, (int64_t)pm_node_n_in(g, n) - 1);
	if (op == PM_OP_Cast)
		return 0;
	if (d->flags & PM_OPF_EW)
		return times(out, expr_flops(d->expr ? d->expr : d->iexpr));
	if (d->flags & PM_OPF_RED)
		return times(in, op == PM_OP_ReduceL2 || op == PM_OP_ReduceSumSquare ||
						 op == PM_OP_ReduceL1 || op == PM_OP_ReduceLogSumExp
					 ? 2
					 : 1);
	if (d->flags & PM_OPF_DOT)
		return dot_flops(g, n, op, out);
	if (op == PM_OP_Resize) /* two operations for each element of a window; the window as if linear */
		return strcmp(pm_node_s(g, n, "mode", "nearest"), "nearest") == 0 ? 0 : times(out, 8);
	if (op == PM_OP_GridSample || op == PM_OP_RoiAlign) /* likewise, as if linear in two dimensions */
		return times(out, 8);
	if (d->flags & PM_OPF_POOL)
		return pool_flops(g, n, in, out);
	if (d->flags & PM_OPF_NORM)
		return norm_flops(g, n, op, in);
	if (pm_op_attr_desc(op, "reduction")) /* scattered elements are joined with those they meet */
		return strcmp(pm_node_s(g, n, "reduction", "none"), "none") == 0
			       ? 0
			       : numel(g, pm_node_in(g, n, 2));
	return 0; /* moves elements, or depends on shapes only */
}

int64_t pm_op_flops(const PmGraph *g, PmNode n)
{
	return node_flops(g, n, 0);
}
