/* bound_norm.c - units of error of softmax and of the normalisations, from their textbook formulas. */
#include "bench/bound_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at(const double *f, int64_t i)
{
	return f ? f[i] : 0;
}

/* exp(x) when x is off by 16 f. */
static double moved(double x, double f)
{
	return exp(fmin(x + 16 * f, 700));
}

/* The unit of p = exp(x) / sum when x and the terms of the sum move against each other by 16 of their errors;
 * `low` and `high` are the sum when all terms move down or up. Where that leaves p open (rounding alone may
 * make two terms equal, or one of them all there is) a quarter of its range. */
static double soft_moved(double x, double f, double sum, double low, double high)
{
	double up = moved(x, f), down = moved(x, -f), p = exp(x) / sum, most, least;

	if (!(f > 0))
		return 0;
	most = up > 0 ? up / (up + fmax(low - down, 0)) : 0;
	least = down > 0 ? down / (down + fmax(high - up, 0)) : 0;
	return most - least > 0.25 && 16 * f > 1 ? (most - least) / 4 : fmax(most - p, p - least) / 16;
}

/* p_i = exp(x_i - m) / sum exp(x_j - m). Relative errors: of the exponent's argument f_i + u (|x_i| + |m|)
 * (also when the factor log2 e is multiplied into both), of the function u, of the sum their mean weighted by
 * p, and u sqrt(K)/4. Terms that are equal, to the
 * sum's last digit, are rounded the same way each time, which a plain loop adds up to u K/8 of
 * them. The logarithm has the same as absolute errors. Operands whose own errors change a factor (values of
 * some hundred in bfloat16) are beyond the first order: see soft_moved(). */
static void soft_line(const double *x, const double *f, double *e, int64_t n, int64_t step, double u,
		      int logarithm)
{
	double top = -INFINITY, sum = 0, shared = 0, all, repeats = 0, low = 0, high = 0;

	for (int64_t i = 0; i < n; i++) {
		top = fmax(top, x[i * step]);
		repeats += i && fabs(x[i * step] - x[(i - 1) * step]) <= u * (double)n;
	}
	all = u * (2 + sqrt((double)n) / 4 + repeats / 8);
	if (!isfinite(top))
		return; /* every element is what the reference says, of whichever class */
	for (int64_t i = 0; i < n; i++)
		sum += exp(x[i * step] - top);
	for (int64_t i = 0; i < n; i++) {
		double p = exp(x[i * step] - top) / sum;

		if (p > 0)
			shared += p * (at(f, i * step) + u * (fabs(x[i * step]) + fabs(top) + 1));
		low += moved(x[i * step] - top, -at(f, i * step));
		high += moved(x[i * step] - top, at(f, i * step));
	}
	for (int64_t i = 0; i < n; i++) {
		double v = x[i * step], own = at(f, i * step) + u * (fabs(v) + fabs(top) + 1);

		if (isinf(v))
			continue;
		if (logarithm)
			e[i * step] = own + shared + all + u * fabs(v - top);
		else
			e[i * step] = fmax(exp(v - top) / sum * (own + shared + all),
					   soft_moved(v - top, at(f, i * step), sum, low, high));
	}
}

PmStatus pm__bound_softmax(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0];
	int axis = (int)pm_node_i(c->call.g, c->call.node, "axis", 0);
	int logarithm = pm_node_op(c->call.g, c->call.node) == PM_OP_LogSoftmax;
	int64_t n = x->type.dim[axis], inner = 1;
	double *f = pm__bound_full(c, 0), *e = pm__bound_unit(c, 0);

	(void)err;
	for (int k = axis + 1; k < x->type.rank; k++)
		inner *= x->type.dim[k];
	for (int64_t line = 0; n && line < x->numel / n; line++) {
		int64_t first = line / inner * inner * n + line % inner;

		soft_line(x->f + first, f ? f + first : NULL, e + first, n, inner, pm__bound_u(x->type.dtype),
			  logarithm);
	}
	c->out[0].rounds = 1;
	free(f);
	return PM_OK;
}

/* How operand k, the scale or the bias, lies over the result. `v` has its elements. Found by running the
 * operator itself: with a scale of 0 its result is the bias; RMSNormalization has none, and of ones it makes
 * scale / sqrt(1 + epsilon). */
static PmStatus spread(const PmBoundCall *c, size_t k, const double *v, double **over, PmErr *err)
{
	size_t n = (size_t)c->call.out[0].numel, most = (size_t)c->call.in[0].numel;
	int rms = pm_node_op(c->call.g, c->call.node) == PM_OP_RMSNormalization;
	double *ones = pm_xcalloc(most + 1, sizeof *ones), eps;
	double *zeros = pm_xcalloc((size_t)c->call.in[1].numel + 1, sizeof *zeros);
	PmRefTensor in[3], *out = pm_xcalloc(c->call.n_out, sizeof *out);
	PmBoundCall wide = *c;
	PmStatus st;

	memcpy(in, c->call.in, (c->call.n_in < 3 ? c->call.n_in : 3) * sizeof *in);
	for (size_t i = 0; i < most; i++)
		ones[i] = 1;
	eps = pm_node_f(c->call.g, c->call.node, "epsilon", 1e-5);
	in[0].f = ones;
	if (rms) {
		in[1].f = (double *)v;
	} else {
		in[2] = c->call.in[k];
		in[2].f = (double *)v;
		in[1].f = zeros;
		wide.call.n_in = 3;
	}
	st = pm__bound_again(&wide, in, out, err);
	if (!st) {
		*over = out[0].f;
		out[0].f = NULL;
		for (size_t i = 0; i < n && rms; i++)
			(*over)[i] *= sqrt(1 + eps);
	}
	for (size_t i = 0; i < c->call.n_out; i++)
		pm_ref_tensor_release(&out[i]);
	free(out);
	free(ones);
	free(zeros);
	return st;
}

/* One group: y = (x - mean) / sqrt(var + eps) * g + b. Errors: of the difference f + mean f + u (|x| +
 * mean |x|), of the variance (in one pass or two) 2 mean(|d| ...) + u (mean x^2 + (1 + sqrt(K)/4) var). */
static void group(const double *x, const double *f, const double *g, double *e, int64_t n, double eps,
		  int centred, double u)
{
	double mean = 0, size = 0, moved = 0, var = 0, squares = 0, s_var = 0, inv, count = (double)n;

	for (int64_t i = 0; i < n; i++) {
		mean += centred ? x[i] / count : 0;
		size += centred ? fabs(x[i]) / count : 0;
		moved += centred ? at(f, i) / count : 0;
		squares += x[i] * x[i] / count;
	}
	for (int64_t i = 0; i < n; i++)
		var += (x[i] - mean) * (x[i] - mean) / count;
	for (int64_t i = 0; i < n; i++)
		s_var += 2 * fabs(x[i] - mean) * (at(f, i) + moved + u * (fabs(x[i]) + size)) / count;
	s_var += u * (squares + (1 + sqrt(count) / 4) * var);
	inv = 1 / sqrt(var + eps);
	for (int64_t i = 0; i < n; i++) {
		double d = fabs(x[i] - mean);

		e[i] = fabs(g[i]) * inv *
		       (at(f, i) + moved + u * (fabs(x[i]) + size) + d * (s_var / (2 * (var + eps)) + 2 * u));
	}
}

static int64_t group_size(const PmBoundCall *c)
{
	const PmType *t = &c->call.in[0].type;
	PmOp op = pm_node_op(c->call.g, c->call.node);
	int first = (int)pm_node_i(c->call.g, c->call.node, "axis", 0);
	int64_t n = 1;

	if (op == PM_OP_LayerNormalization || op == PM_OP_RMSNormalization) {
		for (int k = first; k < t->rank; k++)
			n *= t->dim[k];
		return n;
	}
	for (int k = 1; k < t->rank; k++)
		n *= t->dim[k];
	return n / pm_node_i(c->call.g, c->call.node, "num_groups", t->dim[1]);
}

/* Adds what errors of the scale or the bias do. */
static PmStatus add_operand(PmBoundCall *c, size_t k, double eps, int64_t n, int centred, double *e,
			    PmErr *err)
{
	const double *x = c->call.in[0].f;
	double *f = k < c->call.n_in && c->call.in[k].numel ? pm__bound_full(c, k) : NULL, *over = NULL;
	PmStatus st;

	if (!f)
		return PM_OK;
	st = spread(c, k, f, &over, err);
	for (int64_t first = 0; first < c->call.in[0].numel && !st; first += n) {
		double mean = 0, var = 0;

		for (int64_t i = first; i < first + n; i++)
			mean += centred ? x[i] / (double)n : 0;
		for (int64_t i = first; i < first + n; i++)
			var += (x[i] - mean) * (x[i] - mean) / (double)n;
		for (int64_t i = first; i < first + n; i++)
			e[i] += over[i] * (k == 1 ? fabs(x[i] - mean) / sqrt(var + eps) : 1);
	}
	free(over);
	free(f);
	return st;
}

PmStatus pm__bound_normalise(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0];
	int centred = pm_node_op(c->call.g, c->call.node) != PM_OP_RMSNormalization;
	double eps = pm_node_f(c->call.g, c->call.node, "epsilon", 1e-5), u = pm__bound_u(x->type.dtype);
	int64_t n = group_size(c);
	double *f = pm__bound_full(c, 0), *e = pm__bound_unit(c, 0), *scale = NULL, *bias = NULL;
	PmStatus st = spread(c, 1, c->call.in[1].f, &scale, err);

	for (int64_t i = 0; i < x->numel && !st; i += n)
		group(x->f + i, f ? f + i : NULL, scale + i, e + i, n, eps, centred, u);
	for (size_t k = 1; k < 3 && !st; k++)
		st = add_operand(c, k, eps, n, centred, e, err);
	/* The product is rounded before the bias is added. */
	if (!st && c->call.n_in > 2 && c->call.in[2].numel)
		st = spread(c, 2, c->call.in[2].f, &bias, err);
	for (int64_t i = 0; i < x->numel && bias; i++)
		e[i] += u * (fabs(bias[i]) + fabs(c->call.out[0].f[i] - bias[i]));
	for (size_t k = 0; k < c->call.n_out; k++) {
		c->out[k].rounds = 1;
		c->out[k].known = k == 0;
	}
	free(f);
	free(scale);
	free(bias);
	return st;
}
