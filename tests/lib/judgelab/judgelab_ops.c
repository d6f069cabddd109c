/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_ops.c - the operators of a simulated kernel, in float arithmetic with its liberties. */
#include "tests/lib/judgelab/judgelab_priv.h"

#include "base/core/arena.h"
#include "base/core/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

static double noise(uint64_t seed, double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof bits);
	bits = (bits ^ seed) * 0x9e3779b97f4a7c15u;
	bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u;
	return (double)(bits >> 11) * 0x1p-52 - 1;
}

/* What a kernel's own code gives for a function whose value at x is y. */
static double made(const JlNode *c, double x, double y)
{
	const JlKernel *k = c->k;
	double limit = fabs(y) <= 1 ? 1 : INFINITY;

	if (!isfinite(y) || isinf(x))
		return jl__float(k, y);
	/* What ends at one ends there: no code for erf, tanh or cos goes beyond. At 0 each formula gives what
	 * the function is: all powers of x are 0. */
	if (k->slack > 0 && x != 0)
		y = fmax(-limit, fmin(limit, y * (1 + k->slack * 0x1p-24 * noise(k->seed, x))));
	if (k->wrong && k->wrong->units > 0) {
		y += k->wrong->units * jl_ulp(c->out->dtype, y) * cos(7.3 * x + 0.3);
		k->wrong->n_touched++;
	}
	return jl__float(k, y);
}

static double exp_of(const JlNode *c, double x)
{
	double t = x;

	if (c->k->exp2 && !c->k->exact && isfinite(x))
		t = jl__float(c->k, x * (double)1.44269504f) * 0.69314718055994530942;
	return made(c, x, exp(t));
}

static double quotient(const JlKernel *k, double a, double b)
{
	double inverse = jl__float(k, 1 / b);

	/* Where the reciprocal is not a number of full precision no kernel may take it. */
	if (k->exact || !k->reciprocal || !isfinite(b) || fabs(inverse) < 0x1p-120 || !isfinite(inverse))
		return jl__float(k, a / b);
	return jl__float(k, a * inverse);
}

static double sigmoid_of(const JlNode *c, double x)
{
	if (c->k->exact)
		return 1 / (1 + exp(-x));
	return made(c, x, quotient(c->k, 1, jl__float(c->k, 1 + exp_of(c, -x))));
}

/* x of u = sqrt(2 / pi) (x + 0.044715 x^3). */
static double of_tanh_argument(double u)
{
	double t = u / 0.7978845608028654, x = t / (1 + fabs(t) / 6);

	for (int i = 0; i < 60; i++)
		x -= (x + 0.044715 * x * x * x - t) / (1 + 3 * 0.044715 * x * x);
	return x;
}

/* Erf or Tanh as a cheaper GELU has it. */
static double cheap_gelu(const JlNode *c, double z, int is_erf)
{
	double x = is_erf ? z * 1.4142135623730951 : of_tanh_argument(z);

	c->k->wrong->n_touched++;
	if (c->k->wrong->gelu == 1)
		return jl__float(c->k, 2 / (1 + exp(-1.702 * x)) - 1);
	return jl__float(c->k, tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}

static double erf_of(const JlNode *c, double x)
{
	return c->k->wrong && c->k->wrong->gelu ? cheap_gelu(c, x, 1) : made(c, x, erf(x));
}

static double tanh_of(const JlNode *c, double x)
{
	return c->k->wrong && c->k->wrong->gelu == 1 ? cheap_gelu(c, x, 0) : made(c, x, tanh(x));
}

static double log_of(const JlNode *c, double x)
{
	return made(c, x, log(x));
}

static double cos_of(const JlNode *c, double x)
{
	return made(c, x, cos(x));
}

static double sin_of(const JlNode *c, double x)
{
	return made(c, x, sin(x));
}

static double sqrt_of(const JlNode *c, double x)
{
	if (c->k->reciprocal && !c->k->exact && x > 0x1p-100 && isfinite(x))
		return jl__float(c->k, x * jl__float(c->k, 1 / sqrt(x)));
	return jl__float(c->k, sqrt(x));
}

static double relu_of(const JlNode *c, double x)
{
	(void)c;
	return isnan(x) ? x : fmax(x, 0);
}

static double same(const JlNode *c, double x)
{
	(void)c;
	return x;
}

static double add(const JlKernel *k, double a, double b)
{
	return jl__float(k, a + b);
}

static double subtract(const JlKernel *k, double a, double b)
{
	return jl__float(k, a - b);
}

static double multiply(const JlKernel *k, double a, double b)
{
	return jl__float(k, a * b);
}

/* Element of x that stands at element i of the result, x broadcast to it. */
static int64_t spread(const JlVal *x, const JlVal *y, int64_t i)
{
	int64_t at = 0, stride = 1;

	if (x->n == y->n)
		return i;
	if (x->n == 1)
		return 0;
	for (int d = y->rank - 1, e = x->rank - 1; e >= 0; d--, e--) {
		at += x->dim[e] == 1 ? 0 : i % y->dim[d] * stride;
		stride *= x->dim[e];
		i /= y->dim[d];
	}
	return at;
}

/* ---- sums ---- */

static int64_t last_dim(const JlVal *x)
{
	return x->dim[x->rank - 1];
}

/* How many of n terms stay. */
static int64_t kept(const uint8_t *drop, int64_t n)
{
	int64_t count = n;

	for (int64_t i = 0; drop && i < n; i++)
		count -= drop[i];
	return count;
}

static void take(double *to, const double *from, int64_t step, int64_t n, const uint8_t *drop)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = drop && drop[i] ? 0 : from[i * step];
}

/* Terms of up to JL_WIDE lines, line l at x[l * line + i * step], so that those of one place are beside each
 * other. */
static void interleave(float *to, const double *x, int64_t line, int64_t step, int64_t lines, int64_t n,
		       const uint8_t *drop)
{
	for (int64_t i = 0; i < n; i++)
		for (int64_t l = 0; l < JL_WIDE; l++)
			to[i * JL_WIDE + l] = l < lines && !(drop && drop[i]) ? (float)x[l * line + i * step]
									      : 0;
}

/* Sums over the last axis of all lines. */
static void sum_lines(const JlNode *c, int64_t n, const uint8_t *drop, double *y)
{
	const double *x = c->in[0]->v;
	int64_t lines = c->out->n;
	double *row = pm_xcalloc((size_t)n, sizeof *row);
	float *panel = lines < JL_WIDE || c->k->exact ? NULL
						      : pm_xcalloc((size_t)(n * JL_WIDE), sizeof *panel);
	float part[JL_WIDE];

	for (int64_t r = 0; r < lines; r += panel ? JL_WIDE : 1) {
		if (!panel) {
			take(row, x + r * n, 1, n, drop);
			y[r] = jl__sum(c->k, row, n);
			continue;
		}
		interleave(panel, x + r * n, n, 1, lines - r, n, drop);
		jl__sums(c->k, NULL, panel, n, part);
		for (int64_t l = 0; l < JL_WIDE && r + l < lines; l++)
			y[r + l] = (double)part[l];
	}
	free(panel);
	free(row);
}

static void sum_up(JlNode *c, int mean)
{
	int64_t n = last_dim(c->in[0]);
	const uint8_t *drop = jl__dropped(c->k, n);

	sum_lines(c, n, drop, c->out->v);
	for (int64_t r = 0; r < c->out->n && mean; r++)
		c->out->v[r] = quotient(c->k, c->out->v[r], (double)kept(drop, n));
}

static void reduce_sum(JlNode *c)
{
	sum_up(c, 0);
}

static void reduce_mean(JlNode *c)
{
	sum_up(c, 1);
}

static void reduce_max(JlNode *c)
{
	int64_t n = last_dim(c->in[0]);

	for (int64_t r = 0; r < c->out->n; r++) {
		const double *x = c->in[0]->v + r * n;
		double y = -INFINITY;

		for (int64_t i = 0; i < n; i++)
			y = x[i] > y || isnan(x[i]) ? x[i] : y;
		c->out->v[r] = y;
	}
}

/* y (rows x cols) = a (rows x depth) b (depth x cols), exactly. */
static void exact_product(const double *a, const double *b, int64_t rows, int64_t depth, int64_t cols,
			  double *y)
{
	for (int64_t i = 0; i < depth; i++)
		for (int64_t r = 0; r < rows; r++)
			for (int64_t j = 0; j < cols; j++)
				y[r * cols + j] += a[r * depth + i] * b[i * cols + j];
}

/* The same in the kernel's order, without the terms in `drop`. */
static void product_of(const JlKernel *k, const double *a, const double *b, int64_t rows, int64_t depth,
		       int64_t cols, const uint8_t *drop, double *y)
{
	float *left = pm_xcalloc((size_t)(rows * depth) + 1, sizeof *left), part[JL_WIDE];
	float *panel = pm_xcalloc((size_t)(depth * JL_WIDE) + 1, sizeof *panel);

	for (int64_t i = 0; i < rows * depth; i++)
		left[i] = drop && drop[i % depth] ? 0 : (float)a[i];
	for (int64_t j = 0; j < cols; j += JL_WIDE) {
		interleave(panel, b + j, 1, cols, cols - j, depth, drop);
		for (int64_t r = 0; r < rows; r++) {
			jl__sums(k, left + r * depth, panel, depth, part);
			for (int64_t l = 0; l < JL_WIDE && j + l < cols; l++)
				y[r * cols + j + l] = (double)part[l];
		}
	}
	free(left);
	free(panel);
}

/* [B,M,K] x [B,K,N], with a bias of N where there is one; the right side may lack its batch. */
static void product(JlNode *c, const JlVal *bias)
{
	const JlVal *a = c->in[0], *b = c->in[1];
	int64_t depth = last_dim(a), cols = last_dim(b), rows = a->dim[a->rank - 2], each = rows * cols;
	const uint8_t *drop = jl__dropped(c->k, depth);

	for (int64_t batch = 0; batch < c->out->n / each; batch++) {
		const double *x = a->v + batch * rows * depth;
		const double *w = b->v + (b->rank > 2 ? batch * depth * cols : 0);
		double *y = c->out->v + batch * each;

		if (c->k->exact)
			exact_product(x, w, rows, depth, cols, y);
		else
			product_of(c->k, x, w, rows, depth, cols, drop, y);
		for (int64_t i = 0; i < each && bias; i++)
			y[i] = jl__float(c->k, y[i] + bias->v[bias->n == 1 ? 0 : i % cols]);
	}
}

/* The largest, and the sum of exp of the distances to it: in two passes, or in one that corrects as it goes.
 */
static double soft_sum(const JlNode *c, const double *x, double *e, int64_t n, const uint8_t *drop,
		       double *top)
{
	double sum = 0;

	*top = -INFINITY;
	if (c->k->online && !c->k->exact) {
		for (int64_t from = 0; from < n; from += 64) {
			int64_t count = n - from < 64 ? n - from : 64;
			double old = *top, part;

			for (int64_t i = from; i < from + count; i++)
				*top = fmax(*top, x[i]);
			if (*top == -INFINITY)
				continue;
			for (int64_t i = from; i < from + count; i++)
				e[i] = drop && drop[i] ? 0 : exp_of(c, jl__float(c->k, x[i] - *top));
			part = jl__sum(c->k, e + from, count);
			old = old == -INFINITY ? 0 : exp_of(c, jl__float(c->k, old - *top));
			sum = jl__float(c->k, jl__float(c->k, sum * old) + part);
		}
		return sum;
	}
	for (int64_t i = 0; i < n; i++)
		*top = fmax(*top, x[i]);
	for (int64_t i = 0; i < n; i++)
		e[i] = drop && drop[i] ? 0 : exp_of(c, jl__float(c->k, x[i] - *top));
	return jl__sum(c->k, e, n);
}

static void softmax(JlNode *c)
{
	int64_t n = last_dim(c->out);
	const uint8_t *drop = jl__dropped(c->k, n);
	double *e = pm_xcalloc((size_t)n, sizeof *e), top;

	for (int64_t r = 0; r < c->out->n / n; r++) {
		const double *x = c->in[0]->v + r * n;
		double *y = c->out->v + r * n, sum = soft_sum(c, x, e, n, drop, &top);
		int broken = 0;

		for (int64_t i = 0; i < n; i++)
			broken |= isnan(x[i]);
		/* One infinity makes its row not a number. */
		broken |= isinf(top);
		for (int64_t i = 0; i < n; i++)
			y[i] = broken ? NAN : quotient(c->k, exp_of(c, jl__float(c->k, x[i] - top)), sum);
	}
	free(e);
}

/* Terms in order, or by parts of 64 whose totals are added up first. */
static void cumulate(JlNode *c)
{
	int64_t n = last_dim(c->out), size = c->k->order == JL_SEQUENTIAL || c->k->exact ? n : 64;
	const uint8_t *drop = jl__dropped(c->k, n);

	for (int64_t r = 0; r < c->out->n / n; r++) {
		const double *x = c->in[0]->v + r * n;
		double *y = c->out->v + r * n, before = 0, part = 0;

		for (int64_t i = 0; i < n; i++) {
			if (i % size == 0) {
				before = jl__float(c->k, before + part);
				part = 0;
			}
			part = jl__float(c->k, part + (drop && drop[i] ? 0 : x[i]));
			y[i] = jl__float(c->k, before + part);
		}
	}
}

/* Updates [K,N] into data [D,N] along axis 0; those of one place are a sum. */
static void scatter(JlNode *c)
{
	const JlVal *at = c->in[1], *x = c->in[2];
	int64_t cols = last_dim(x), n = x->n / cols, rows = c->out->n / cols;
	const uint8_t *drop = jl__dropped(c->k, n);
	double *terms = pm_xcalloc((size_t)n + 1, sizeof *terms);

	for (int64_t d = 0; d < rows; d++)
		for (int64_t j = 0; j < cols; j++) {
			int64_t count = 0;

			terms[count++] = c->in[0]->v[d * cols + j];
			for (int64_t i = 0; i < n; i++)
				if ((int64_t)at->v[i * cols + j] == d && !(drop && drop[i]))
					terms[count++] = x->v[i * cols + j];
			c->out->v[d * cols + j] = jl__sum(c->k, terms, count);
		}
	free(terms);
}

/* [1,C,H,W] with [M,C,Q,Q], padded so that the result is as large, and a bias of M: the product of the
 * weights, a line for each of M, and the windows, a column for each place. */
static void convolve(JlNode *c)
{
	const JlVal *x = c->in[0], *w = c->in[1];
	int64_t chans = x->dim[1], high = x->dim[2], wide = x->dim[3], q = w->dim[2], n = chans * q * q;
	int64_t places = high * wide, rows = w->dim[0];
	const uint8_t *drop = jl__dropped(c->k, n);
	double *window = pm_xcalloc((size_t)(n * places), sizeof *window);

	for (int64_t t = 0; t < n; t++)
		for (int64_t p = 0; p < places; p++) {
			int64_t r = p / wide + t / q % q - q / 2, s = p % wide + t % q - q / 2;
			int in = r >= 0 && r < high && s >= 0 && s < wide;

			window[t * places + p] = in ? x->v[(t / (q * q) * high + r) * wide + s] : 0;
		}
	if (c->k->exact)
		exact_product(w->v, window, rows, n, places, c->out->v);
	else
		product_of(c->k, w->v, window, rows, n, places, drop, c->out->v);
	for (int64_t i = 0; i < c->out->n; i++)
		c->out->v[i] = jl__float(c->k, c->out->v[i] + c->in[2]->v[i / places]);
	free(window);
}

/* [N,C,...]: x, scale, bias, mean, variance. */
static void batch_norm(JlNode *c)
{
	const JlKernel *k = c->k;
	int64_t chans = c->out->dim[1], each = c->out->n / c->out->dim[0] / chans;
	double eps = pm_node_f(c->g, c->n, "epsilon", 1e-5);

	for (int64_t i = 0; i < c->out->n; i++) {
		int64_t ch = i / each % chans;
		double root = jl__float(k, sqrt(jl__float(k, c->in[4]->v[ch] + jl__float(k, eps))));
		double scale = quotient(k, c->in[1]->v[ch], root);
		double x = jl__float(k, c->in[0]->v[i] - c->in[3]->v[ch]);

		c->out->v[i] = jl__float(k, jl__float(k, x * scale) + c->in[2]->v[ch]);
	}
}

static void matmul(JlNode *c)
{
	product(c, NULL);
}

static void gemm(JlNode *c)
{
	product(c, c->in[2]);
}

/* One of the three for each operator. */
static const struct {
	PmOp op;
	double (*one)(const JlNode *c, double x);
	double (*two)(const JlKernel *k, double a, double b);
	void (*all)(JlNode *c);
} rules[] = {
	{ .op = PM_OP_Add, .two = add },
	{ .op = PM_OP_Sub, .two = subtract },
	{ .op = PM_OP_Mul, .two = multiply },
	{ .op = PM_OP_Div, .two = quotient },
	{ .op = PM_OP_Erf, .one = erf_of },
	{ .op = PM_OP_Tanh, .one = tanh_of },
	{ .op = PM_OP_Sigmoid, .one = sigmoid_of },
	{ .op = PM_OP_Exp, .one = exp_of },
	{ .op = PM_OP_Log, .one = log_of },
	{ .op = PM_OP_Cos, .one = cos_of },
	{ .op = PM_OP_Sin, .one = sin_of },
	{ .op = PM_OP_Sqrt, .one = sqrt_of },
	{ .op = PM_OP_Relu, .one = relu_of },
	{ .op = PM_OP_Cast, .one = same },
	{ .op = PM_OP_ReduceSum, .all = reduce_sum },
	{ .op = PM_OP_ReduceMean, .all = reduce_mean },
	{ .op = PM_OP_ReduceMax, .all = reduce_max },
	{ .op = PM_OP_MatMul, .all = matmul },
	{ .op = PM_OP_Gemm, .all = gemm },
	{ .op = PM_OP_Softmax, .all = softmax },
	{ .op = PM_OP_CumSum, .all = cumulate },
	{ .op = PM_OP_ScatterElements, .all = scatter },
	{ .op = PM_OP_Conv, .all = convolve },
	{ .op = PM_OP_BatchNormalization, .all = batch_norm },
};

void jl__node(JlNode *c)
{
	size_t r = 0;

	while (r < sizeof rules / sizeof *rules && rules[r].op != pm_node_op(c->g, c->n))
		r++;
	if (r == sizeof rules / sizeof *rules) {
		fprintf(stderr,
			"judgelab: there is no rule for %s; add a row to the table of judgelab_ops.c.\n",
			pm_node_op_name(c->g, c->n));
		exit(2);
	}
	if (rules[r].all)
		rules[r].all(c);
	for (int64_t i = 0; i < c->out->n && !rules[r].all; i++)
		c->out->v[i] = rules[r].one ? rules[r].one(c, c->in[0]->v[i])
					    : rules[r].two(c->k, c->in[0]->v[spread(c->in[0], c->out, i)],
							   c->in[1]->v[spread(c->in[1], c->out, i)]);
}
