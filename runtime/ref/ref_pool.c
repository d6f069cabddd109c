/* SPDX-License-Identifier: Apache-2.0 */
/* ref_pool.c - MaxPool, AveragePool and the global pools. */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <string.h>

enum { MAX_SPATIAL = PM_MAX_RANK - 2 };

typedef struct Pool {
	int nd;
	int64_t in[MAX_SPATIAL], out[MAX_SPATIAL], in_size, out_size;
	const int64_t *kernel, *stride, *dilation, *pad; /* pad: all begins, then all ends */
} Pool;

static PmStatus setup(const PmRefCall *c, Pool *v, PmErr *err)
{
	const PmType *x = &c->in[0].type, *y = &c->out[0].type;
	int d;

	memset(v, 0, sizeof *v);
	v->nd = x->rank - 2;
	if (v->nd < 1 || y->rank != x->rank)
		return pm__ref_fail(c, err, PM_E_SHAPE, "the operand must have a rank of at least 3.");
	if (pm_node_ints(c->g, c->node, "kernel_shape", &v->kernel) != (size_t)v->nd ||
	    pm_node_ints(c->g, c->node, "strides", &v->stride) != (size_t)v->nd ||
	    pm_node_ints(c->g, c->node, "dilations", &v->dilation) != (size_t)v->nd ||
	    pm_node_ints(c->g, c->node, "pads", &v->pad) != 2 * (size_t)v->nd)
		return pm__ref_fail(c, err, PM_E_INVALID,
				    "kernel_shape, strides, dilations and pads must cover %d spatial axes.",
				    v->nd);
	v->in_size = v->out_size = 1;
	for (d = 0; d < v->nd; d++) {
		v->in_size *= v->in[d] = x->dim[d + 2];
		v->out_size *= v->out[d] = y->dim[d + 2];
	}
	return PM_OK;
}

/* The window of one output position, walked tap by tap. */
typedef struct Window {
	PmRefWalk tap;
	int64_t pos[MAX_SPATIAL]; /* output position */
} Window;

static void window_start(Window *w, const Pool *v, int64_t at)
{
	int d;

	w->tap.rank = v->nd;
	for (d = v->nd; d-- > 0;) {
		w->pos[d] = at % v->out[d];
		at /= v->out[d];
		w->tap.dim[d] = v->kernel[d];
		w->tap.at[d] = 0;
	}
}

/* Offset of the current tap in the input plane, or -1 in the padding, -2 beyond it (ceil_mode). */
static int64_t window_offset(const Window *w, const Pool *v)
{
	int64_t at = 0, i;
	int d, where = 0;

	for (d = 0; d < v->nd; d++) {
		i = w->pos[d] * v->stride[d] + w->tap.at[d] * v->dilation[d] - v->pad[d];
		if (i >= v->in[d] + v->pad[v->nd + d])
			where = -2;
		else if ((i < 0 || i >= v->in[d]) && !where)
			where = -1;
		at = at * v->in[d] + i;
	}
	return where ? where : at;
}

/* The offset as Indices counts it: column-major planes when `storage_order` is 1. */
static int64_t index_of(const Pool *v, int64_t offset, int column_major)
{
	int64_t at = 0, scale = 1, back = offset, pos[MAX_SPATIAL];
	int d;

	if (!column_major)
		return offset;
	for (d = v->nd; d-- > 0;) {
		pos[d] = back % v->in[d];
		back /= v->in[d];
	}
	for (d = 0; d < v->nd; d++) {
		at += pos[d] * scale;
		scale *= v->in[d];
	}
	return at;
}

/* Offset of the largest element of a window (the first of equals; a NaN is larger), -1 for an empty one. */
static int64_t window_max(const Pool *v, const PmRefTensor *x, int64_t base, int64_t at)
{
	int64_t best = -1;
	Window w;

	window_start(&w, v, at);
	do {
		int64_t o = window_offset(&w, v);

		if (o < 0)
			continue;
		if (best < 0 ||
		    (x->f ? x->f[base + o] > x->f[base + best] || (x->f[base + o] != x->f[base + o] &&
								   x->f[base + best] == x->f[base + best])
			  : pm_int_less(x->type.dtype, x->i[base + best], x->i[base + o])))
			best = o;
	} while (pm__ref_walk_next(&w.tap));
	return best;
}

typedef struct Planes {
	const PmRefCall *c;
	const Pool *v;
	int flag; /* MaxPool: indices are column-major; AveragePool: pads are counted */
} Planes;

static void max_windows(void *arg, int64_t from, int64_t to)
{
	const Planes *p = arg;
	const PmRefTensor *x = &p->c->in[0];
	PmRefTensor *y = &p->c->out[0], *index = p->c->n_out > 1 ? &p->c->out[1] : NULL;
	const Pool *v = p->v;

	for (int64_t k = from; k < to; k++) {
		int64_t base = k / v->out_size * v->in_size, best = window_max(v, x, base, k % v->out_size);

		if (y->f)
			y->f[k] = best < 0 ? -HUGE_VAL : x->f[base + best];
		else
			y->i[k] = best < 0 ? pm_int_from_f64(y->type.dtype, -HUGE_VAL) : x->i[base + best];
		if (index)
			index->i[k] = best < 0 ? -1 : base + index_of(v, best, p->flag);
	}
}

/* All windows of all planes. */
static void on_windows(const Planes *p, PmThreadFn *fn)
{
	const PmType *t = &p->c->in[0].type;
	int64_t taps = 1;

	for (int d = 0; d < p->v->nd; d++)
		taps *= p->v->kernel[d];
	pm_threads_run(t->dim[0] * t->dim[1] * p->v->out_size, 1 + PM__REF_LEAST / 8 / (taps > 0 ? taps : 1),
		       fn, pm_unconst(p));
}

PmStatus pm__ref_max_pool(const PmRefCall *c, PmErr *err)
{
	Pool v;
	PmStatus st = setup(c, &v, err);

	if (!st)
		on_windows(&(Planes){ c, &v, pm_node_i(c->g, c->node, "storage_order", 0) == 1 },
			   max_windows);
	return st;
}

static void average_windows(void *arg, int64_t from, int64_t to)
{
	const Planes *p = arg;
	const double *x = p->c->in[0].f;
	const Pool *v = p->v;

	for (int64_t k = from; k < to; k++) {
		int64_t base = k / v->out_size * v->in_size;
		double sum = 0, count = 0;
		Window w;

		window_start(&w, v, k % v->out_size);
		do {
			int64_t o = window_offset(&w, v);

			if (o >= 0)
				sum += x[base + o];
			if (o >= 0 || (o == -1 && p->flag))
				count++;
		} while (pm__ref_walk_next(&w.tap));
		p->c->out[0].f[k] = sum / count;
	}
}

PmStatus pm__ref_average_pool(const PmRefCall *c, PmErr *err)
{
	Pool v;
	PmStatus st = setup(c, &v, err);

	if (!st)
		on_windows(&(Planes){ c, &v, pm_node_i(c->g, c->node, "count_include_pad", 0) != 0 },
			   average_windows);
	return st;
}

PmStatus pm__ref_global_pool(const PmRefCall *c, PmErr *err)
{
	int take_max = pm_node_op(c->g, c->node) == PM_OP_GlobalMaxPool;
	const PmRefTensor *x = &c->in[0];
	int64_t size, plane, k;

	if (x->type.rank < 2)
		return pm__ref_fail(c, err, PM_E_SHAPE, "the operand must have a rank of at least 2.");
	size = pm__ref_extent(&x->type, 2, x->type.rank);
	for (plane = 0; plane < c->out[0].numel; plane++) {
		const double *p = x->f + plane * size;
		double acc = take_max ? -HUGE_VAL : 0;

		for (k = 0; k < size; k++) {
			if (!take_max)
				acc += p[k];
			else if (p[k] > acc || p[k] != p[k])
				acc = p[k];
		}
		c->out[0].f[plane] = take_max ? acc : acc / (double)size;
	}
	return PM_OK;
}
