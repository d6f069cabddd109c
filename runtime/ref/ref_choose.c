/* SPDX-License-Identifier: Apache-2.0 */
/* ref_choose.c - operators that choose or mark entries: Hardmax, TopK, OneHot, EyeLike, ReverseSequence. */
#include "runtime/ref/ref_priv.h"

#include <stdlib.h>
#include <string.h>

/* One axis of a tensor: entry k of line l is at line(l) + k * inner. */
typedef struct Axis {
	int64_t dim, inner, lines;
} Axis;

static int axis_of(const PmRefCall *c, const PmType *t, Axis *a)
{
	int axis = (int)pm_node_i(c->g, c->node, "axis", 0);

	if (axis < 0 || axis >= t->rank)
		return 0;
	a->dim = t->dim[axis];
	a->inner = pm__ref_extent(t, axis + 1, t->rank);
	a->lines = pm__ref_extent(t, 0, axis) * a->inner;
	return 1;
}

static int64_t line_start(const Axis *a, int64_t line, int64_t dim)
{
	return line / a->inner * dim * a->inner + line % a->inner;
}

PmStatus pm__ref_hardmax(const PmRefCall *c, PmErr *err)
{
	const double *x = c->in[0].f;
	int64_t line, k;
	Axis a;

	if (!c->in[0].type.rank && c->in[0].numel) { /* a scalar is its own axis of one entry */
		c->out[0].f[0] = 1;
		return PM_OK;
	}
	if (!axis_of(c, &c->in[0].type, &a))
		return pm__ref_fail(c, err, PM_E_SHAPE, "the axis does not exist.");
	for (line = 0; line < a.lines && a.dim; line++) {
		int64_t base = line_start(&a, line, a.dim), best = base;

		/* The first of the largest; the first NaN before all. */
		for (k = 1; k < a.dim; k++) {
			double v = x[base + k * a.inner], top = x[best];

			if (top == top && (v != v || v > top))
				best = base + k * a.inner;
		}
		c->out[0].f[best] = 1;
	}
	return PM_OK;
}

/* ---- TopK ---- */

typedef struct Entry {
	const PmRefTensor *x;
	int64_t at, k; /* place, number in the line */
	int largest;
} Entry;

/* Whether a goes before b: NaN counts as the largest, equal entries keep their order. */
static int compare(const void *p, const void *q)
{
	const Entry *a = p, *b = q;
	int order;

	if (a->x->f) {
		double u = a->x->f[a->at], v = b->x->f[b->at];

		order = u != u || v != v ? (u != u) - (v != v) : (u > v) - (u < v);
	} else {
		int64_t u = a->x->i[a->at], v = b->x->i[b->at];

		order = pm_int_less(a->x->type.dtype, v, u) - pm_int_less(a->x->type.dtype, u, v);
	}
	if (order)
		return a->largest ? -order : order;
	return (a->k > b->k) - (a->k < b->k);
}

PmStatus pm__ref_top_k(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0];
	int largest = pm_node_i(c->g, c->node, "largest", 1) != 0;
	int64_t n = c->in[1].numel == 1 ? c->in[1].i[0] : -1, line, k;
	Entry *e;
	Axis a;

	if (!axis_of(c, &x->type, &a))
		return pm__ref_fail(c, err, PM_E_SHAPE, "the axis does not exist.");
	if (n < 0 || n > a.dim || c->out[0].numel != a.lines * n)
		return pm__ref_fail(c, err, PM_E_SHAPE, "%lld entries cannot be taken from an axis of %lld.",
				    (long long)n, (long long)a.dim);
	e = pm_xcalloc((size_t)a.dim + 1, sizeof *e);
	for (line = 0; line < a.lines; line++) {
		int64_t base = line_start(&a, line, a.dim), to = line_start(&a, line, n);

		for (k = 0; k < a.dim; k++)
			e[k] = (Entry){ x, base + k * a.inner, k, largest };
		qsort(e, (size_t)a.dim, sizeof *e, compare);
		for (k = 0; k < n; k++) {
			if (x->f)
				c->out[0].f[to + k * a.inner] = x->f[e[k].at];
			else
				c->out[0].i[to + k * a.inner] = x->i[e[k].at];
			if (c->n_out > 1)
				c->out[1].i[to + k * a.inner] = e[k].k;
		}
	}
	free(e);
	return PM_OK;
}

/* ---- OneHot, EyeLike, ReverseSequence ---- */

PmStatus pm__ref_one_hot(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *values = &c->in[2];
	PmRefTensor *y = &c->out[0];
	int64_t line, k;
	Axis a;

	if (!axis_of(c, &y->type, &a) || values->numel != 2 || a.lines != x->numel)
		return pm__ref_fail(c, err, PM_E_SHAPE, "the operands do not fit together.");
	for (line = 0; line < a.lines; line++) {
		int64_t base = line_start(&a, line, a.dim);
		int64_t at = x->f ? pm_int_from_f64(PM_I64, x->f[line]) : x->i[line];

		at += at < 0 ? a.dim : 0;
		for (k = 0; k < a.dim; k++) {
			if (y->f)
				y->f[base + k * a.inner] = values->f[k == at];
			else
				y->i[base + k * a.inner] = values->i[k == at];
		}
	}
	return PM_OK;
}

PmStatus pm__ref_eye_like(const PmRefCall *c, PmErr *err)
{
	int64_t shift = pm_node_i(c->g, c->node, "k", 0), rows, cols, r;
	PmRefTensor *y = &c->out[0];

	if (y->type.rank != 2)
		return pm__ref_fail(c, err, PM_E_SHAPE, "the operand is no matrix.");
	rows = y->type.dim[0];
	cols = y->type.dim[1];
	if (shift >= cols || shift <= -rows)
		return PM_OK;
	for (r = shift < 0 ? -shift : 0; r < rows && r + shift < cols; r++) {
		if (y->f)
			y->f[r * cols + r + shift] = 1;
		else
			y->i[r * cols + r + shift] = 1;
	}
	return PM_OK;
}

PmStatus pm__ref_reverse_sequence(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->in[0], *len = &c->in[1];
	const PmType *t = &x->type;
	int batch = (int)pm_node_i(c->g, c->node, "batch_axis", 1);
	int64_t block, b, s, k, from;

	if (t->rank < 2 || batch > 1 || len->numel != t->dim[batch])
		return pm__ref_fail(c, err, PM_E_SHAPE,
				    "there must be one length for each entry of the batch.");
	block = pm__ref_extent(t, 2, t->rank);
	for (b = 0; b < t->dim[batch]; b++) {
		if (len->i[b] < 0 || len->i[b] > t->dim[1 - batch])
			return pm__ref_fail(c, err, PM_E_INVALID, "length %lld is outside 0 to %lld.",
					    (long long)len->i[b], (long long)t->dim[1 - batch]);
		/* Empty tensors have no elements to point to. */
		for (s = 0; block && s < t->dim[1 - batch]; s++) {
			int64_t to = (batch ? s * t->dim[1] + b : b * t->dim[1] + s) * block;

			k = s < len->i[b] ? len->i[b] - 1 - s : s;
			from = (batch ? k * t->dim[1] + b : b * t->dim[1] + k) * block;
			if (x->f)
				memcpy(c->out[0].f + to, x->f + from, (size_t)block * sizeof *x->f);
			else
				memcpy(c->out[0].i + to, x->i + from, (size_t)block * sizeof *x->i);
		}
	}
	return PM_OK;
}
