/* SPDX-License-Identifier: Apache-2.0 */
/* ref_reduce.c - reductions over axes, Softmax and LogSoftmax. */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { SUM, MEAN, MAX, MIN, PROD, L1, L2, SUM_SQUARE, LOG_SUM, LOG_SUM_EXP } Reduction;

static Reduction which(PmOp op)
{
	static const struct {
		PmOp op;
		Reduction r;
	} table[] = {
		{ PM_OP_ReduceSum, SUM },        { PM_OP_ReduceMean, MEAN },
		{ PM_OP_ReduceMax, MAX },        { PM_OP_ReduceMin, MIN },
		{ PM_OP_ReduceProd, PROD },      { PM_OP_ReduceL1, L1 },
		{ PM_OP_ReduceL2, L2 },          { PM_OP_ReduceSumSquare, SUM_SQUARE },
		{ PM_OP_ReduceLogSum, LOG_SUM }, { PM_OP_ReduceLogSumExp, LOG_SUM_EXP },
	};
	size_t k;

	for (k = 0; k < sizeof table / sizeof table[0]; k++)
		if (table[k].op == op)
			return table[k].r;
	PM_BUG("operator %d is no reduction", (int)op);
}

static double start_f(Reduction r)
{
	return r == MAX ? -HUGE_VAL : (r == MIN ? HUGE_VAL : (r == PROD ? 1 : 0));
}

static int64_t start_i(Reduction r, int dtype)
{
	return r == MAX   ? pm_int_from_f64(dtype, -HUGE_VAL)
	       : r == MIN ? pm_int_from_f64(dtype, HUGE_VAL)
			  : (r == PROD ? 1 : 0);
}

/* A NaN, once met, stays. */
static double join_f(Reduction r, double acc, double x)
{
	switch (r) {
	case MAX:
		return x > acc || x != x ? x : acc;
	case MIN:
		return x < acc || x != x ? x : acc;
	case PROD:
		return acc * x;
	case L1:
		return acc + fabs(x);
	case L2:
	case SUM_SQUARE:
		return acc + x * x;
	case SUM:
	case MEAN:
	case LOG_SUM:
	case LOG_SUM_EXP:
		break;
	}
	return acc + x;
}

static int64_t join_i(Reduction r, int dtype, int64_t acc, int64_t x)
{
	uint64_t a = (uint64_t)acc, b = (uint64_t)x;

	switch (r) {
	case MAX:
		return pm_int_less(dtype, acc, x) ? x : acc;
	case MIN:
		return pm_int_less(dtype, x, acc) ? x : acc;
	case PROD:
		return (int64_t)(a * b);
	case L1:
		return (int64_t)(a + (pm_int_less(dtype, x, 0) ? 0 - b : b));
	case L2:
	case SUM_SQUARE:
		return (int64_t)(a + b * b);
	case SUM:
	case MEAN:
	case LOG_SUM:
	case LOG_SUM_EXP:
		break;
	}
	return (int64_t)(a + b);
}

/* The strides of the result seen from the operand's axes: 0 on the reduced ones. */
static PmStatus result_strides(const PmRefCall *c, int64_t *stride, PmErr *err)
{
	const PmType *t = &c->in[0].type;
	const int64_t *axes;
	size_t n = pm_node_ints(c->g, c->node, "axes", &axes), k;
	int reduced[PM_MAX_RANK] = { 0 }, d;
	int64_t s = 1;

	for (k = 0; k < n; k++) {
		if (axes[k] < 0 || axes[k] >= t->rank)
			return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld does not exist in rank %d.",
					    (long long)axes[k], t->rank);
		reduced[axes[k]] = 1;
	}
	for (d = t->rank; d-- > 0;) {
		stride[d] = reduced[d] ? 0 : s;
		if (!reduced[d])
			s *= t->dim[d];
	}
	if (s != c->out[0].numel)
		return pm__ref_fail(c, err, PM_E_SHAPE,
				    "the result does not have the shape of the reduction.");
	return PM_OK;
}

static void finish(Reduction r, PmRefTensor *out, int64_t count)
{
	int dtype = out->type.dtype;
	int64_t k;

	for (k = 0; k < out->numel; k++) {
		if (out->f && r == MEAN)
			out->f[k] /= (double)count;
		else if (out->f && r == L2)
			out->f[k] = sqrt(out->f[k]);
		else if (out->i && r == MEAN)
			out->i[k] = !count            ? 0
				    : dtype == PM_U64 ? (int64_t)((uint64_t)out->i[k] / (uint64_t)count)
						      : out->i[k] / count;
		else if (out->i && r == L2)
			out->i[k] = pm_int_from_f64(PM_U64, sqrt(pm_int_to_f64(dtype, out->i[k])));
		if (out->i)
			out->i[k] = pm_int_wrap(dtype, out->i[k]);
	}
}

/* The logarithm of a sum, of exponentials too, which are taken relative to the largest. */
static void reduce_log(Reduction r, const PmRefTensor *in, const int64_t *stride, PmRefTensor *out)
{
	double *top = pm_xcalloc((size_t)out->numel + 1, sizeof *top);
	double *sum = pm_xcalloc((size_t)out->numel + 1, sizeof *sum), v;
	int pass, d;
	int64_t k, i;

	for (k = 0; k < out->numel; k++)
		top[k] = r == LOG_SUM_EXP ? -HUGE_VAL : 0;
	for (pass = r == LOG_SUM; pass < 2 && in->numel; pass++) {
		PmRefWalk w = { .rank = in->type.rank };

		for (d = 0; d < w.rank; d++)
			w.dim[d] = in->type.dim[d];
		i = 0;
		do {
			int64_t at = 0;

			for (d = 0; d < w.rank; d++)
				at += w.at[d] * stride[d];
			v = in->f ? in->f[i] : pm_int_to_f64(in->type.dtype, in->i[i]);
			i++;
			if (pass == 0)
				top[at] = join_f(MAX, top[at], v);
			else if (r == LOG_SUM)
				sum[at] += v;
			else
				sum[at] += v == top[at] ? 1 : pm__ref_exp(v - top[at]);
		} while (pm__ref_walk_next(&w));
	}
	for (k = 0; k < out->numel; k++) {
		v = (r == LOG_SUM || sum[k] == 0 ? 0 : top[k]) + log(sum[k]);
		if (out->f)
			out->f[k] = v;
		else
			out->i[k] = pm_int_from_f64(out->type.dtype, v);
	}
	free(top);
	free(sum);
}

typedef struct Joining {
	Reduction r;
	const PmRefTensor *in;
	PmRefTensor *out;
	int rank, axis; /* axis: a kept one, which is shared out; -1 = none */
	int64_t dim[PM_MAX_RANK + 1], from[PM_MAX_RANK + 1], to[PM_MAX_RANK + 1]; /* strides */
} Joining;

/* n operands that lie one behind the other, of one result or of n neighbours. */
static void join_row(const Joining *j, int64_t i, int64_t at, int64_t n, int64_t step)
{
	int dtype = j->out->type.dtype;

	if (j->out->f && step) {
		for (int64_t k = 0; k < n; k++)
			j->out->f[at + k] = join_f(j->r, j->out->f[at + k], j->in->f[i + k]);
	} else if (j->out->f) {
		double acc = j->out->f[at];

		for (int64_t k = 0; k < n; k++)
			acc = join_f(j->r, acc, j->in->f[i + k]);
		j->out->f[at] = acc;
	}
	for (int64_t k = 0; k < n && j->out->i; k++)
		j->out->i[at + k * step] = join_i(j->r, dtype, j->out->i[at + k * step], j->in->i[i + k]);
}

/* Operands with a coordinate in [first, end) on the shared axis, in their order. */
static void join_part(void *arg, int64_t first, int64_t end)
{
	const Joining *j = arg;
	int last = j->rank - 1, d;
	int64_t low[PM_MAX_RANK + 1] = { 0 }, n;
	PmRefWalk w = { .rank = last };

	for (d = 0; d < j->rank; d++)
		w.dim[d] = j->dim[d];
	if (j->axis >= 0) {
		w.dim[j->axis] = end - first;
		low[j->axis] = first;
	}
	n = w.dim[last];
	do {
		int64_t i = low[last] * j->from[last], at = low[last] * j->to[last];

		for (d = 0; d < last; d++) {
			i += (low[d] + w.at[d]) * j->from[d];
			at += (low[d] + w.at[d]) * j->to[d];
		}
		join_row(j, i, at, n, j->to[last]);
	} while (pm__ref_walk_next(&w));
}

/* Joins all operands to their results, each result's in the order in which they lie. Axes side by side that
 * are all kept, or all reduced, are one; of the kept ones the longest is shared out. */
static void join_all(Reduction r, const PmRefTensor *in, const int64_t *stride, PmRefTensor *out)
{
	Joining j = { .r = r, .in = in, .out = out, .axis = -1 };
	int64_t from[PM_MAX_RANK];

	pm__ref_strides(&in->type, from);
	for (int d = 0; d < in->type.rank; d++) {
		int last = j.rank - 1;

		if (in->type.dim[d] == 1)
			continue;
		if (last >= 0 && !j.to[last] == !stride[d]) {
			j.dim[last] *= in->type.dim[d];
		} else {
			last = j.rank++;
			j.dim[last] = in->type.dim[d];
		}
		j.from[last] = from[d];
		j.to[last] = stride[d];
	}
	if (!j.rank)
		j.dim[j.rank++] = 1;
	for (int d = 0; d < j.rank; d++)
		if (j.to[d] && (j.axis < 0 || j.dim[d] > j.dim[j.axis]))
			j.axis = d;
	if (j.axis < 0)
		join_part(&j, 0, 0);
	else
		pm_threads_run(j.dim[j.axis], 1 + PM__REF_LEAST * j.dim[j.axis] / in->numel, join_part, &j);
}

PmStatus pm__ref_reduce(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *in = &c->in[0];
	PmRefTensor *out = &c->out[0];
	Reduction r = which(pm_node_op(c->g, c->node));
	int64_t stride[PM_MAX_RANK], k;
	PmStatus st = result_strides(c, stride, err);

	if (st)
		return st;
	if (r == LOG_SUM || r == LOG_SUM_EXP) {
		reduce_log(r, in, stride, out);
		return PM_OK;
	}
	for (k = 0; k < out->numel; k++) {
		if (out->f)
			out->f[k] = start_f(r);
		else
			out->i[k] = start_i(r, out->type.dtype);
	}
	if (in->numel)
		join_all(r, in, stride, out);
	finish(r, out, out->numel ? in->numel / out->numel : 0);
	return PM_OK;
}

typedef struct Soft {
	const double *x;
	double *y;
	int64_t dim, inner;
	int take_log;
} Soft;

static void soft_lines(void *arg, int64_t from, int64_t to)
{
	const Soft *l = arg;
	int64_t inner = l->inner, k;

	for (int64_t line = from; line < to; line++) {
		int64_t base = line / inner * l->dim * inner + line % inner;
		const double *x = l->x + base;
		double max = -HUGE_VAL, sum = 0, log_sum, *y = l->y + base;

		for (k = 0; k < l->dim; k++)
			max = join_f(MAX, max, x[k * inner]);
		for (k = 0; k < l->dim; k++) {
			y[k * inner] = pm__ref_exp(x[k * inner] - max);
			sum += y[k * inner];
		}
		log_sum = log(sum);
		for (k = 0; k < l->dim; k++)
			y[k * inner] = l->take_log ? x[k * inner] - max - log_sum : y[k * inner] / sum;
	}
}

PmStatus pm__ref_softmax(const PmRefCall *c, PmErr *err)
{
	const PmType *t = &c->in[0].type;
	int64_t axis = pm_node_i(c->g, c->node, "axis", -1), outer;
	Soft l = { .x = c->in[0].f,
		   .y = c->out[0].f,
		   .take_log = pm_node_op(c->g, c->node) == PM_OP_LogSoftmax };

	if (!t->rank && axis == 0) { /* a scalar is its own axis of one entry */
		l.dim = l.inner = outer = 1;
	} else if (axis < 0 || axis >= t->rank) {
		return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld does not exist in rank %d.",
				    (long long)axis, t->rank);
	} else {
		l.dim = t->dim[axis];
		l.inner = pm__ref_extent(t, (int)axis + 1, t->rank);
		outer = pm__ref_extent(t, 0, (int)axis);
	}
	pm_threads_run(outer * l.inner, 1 + PM__REF_LEAST / 16 / (l.dim + 1), soft_lines, &l);
	return PM_OK;
}

PmStatus pm__ref_cum_sum(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	const PmType *t = &x->type;
	PmRefTensor *y = &c->out[0];
	int exclusive = pm_node_i(c->g, c->node, "exclusive", 0) != 0;
	int reverse = pm_node_i(c->g, c->node, "reverse", 0) != 0;
	int64_t axis = c->in[1].numel == 1 ? c->in[1].i[0] : t->rank, dim, inner, line, k;

	if (axis < -t->rank || axis >= t->rank)
		return pm__ref_fail(c, err, PM_E_INVALID, "axis %lld does not exist in rank %d.",
				    (long long)axis, t->rank);
	axis += axis < 0 ? t->rank : 0;
	dim = t->dim[axis];
	inner = pm__ref_extent(t, (int)axis + 1, t->rank);
	for (line = 0; dim && line < x->numel / dim; line++) {
		int64_t base = line / inner * dim * inner + line % inner;
		double sum = 0;
		uint64_t isum = 0;

		for (k = 0; k < dim; k++) {
			int64_t at = base + (reverse ? dim - 1 - k : k) * inner;
			double before = sum;
			uint64_t ibefore = isum;

			if (x->f) {
				sum += x->f[at];
				y->f[at] = exclusive ? before : sum;
			} else {
				isum += (uint64_t)x->i[at];
				y->i[at] = pm_int_wrap(t->dtype, (int64_t)(exclusive ? ibefore : isum));
			}
		}
	}
	return PM_OK;
}
