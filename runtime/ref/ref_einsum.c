/* SPDX-License-Identifier: Apache-2.0 */
/* ref_einsum.c - Einsum: of two operands as products of matrices, else by loops over all labels. */
#include "base/sys/threads.h"
#include "ir/core/einsum.h"
#include "runtime/ref/ref_priv.h"

#include <stdlib.h>
#include <string.h>

/* ---- two operands ---- */

/* Labels in the order in which a matrix's elements lie. */
typedef struct Order {
	int n, label[PM_EINSUM_LABELS];
} Order;

static void append(Order *o, const Order *more)
{
	for (int i = 0; i < more->n; i++)
		o->label[o->n++] = more->label[i];
}

static int64_t extent(const Order *o, const int64_t *dim)
{
	int64_t n = 1;

	for (int i = 0; i < o->n; i++)
		n *= dim[o->label[i]];
	return n;
}

/* Whether elements that have these steps lie in this order without gaps. */
static int lies_so(const Order *o, const int64_t *dim, const int64_t *step)
{
	int64_t s = 1;

	for (int i = o->n; i-- > 0; s *= dim[o->label[i]])
		if (dim[o->label[i]] != 1 && step[o->label[i]] != s)
			return 0;
	return 1;
}

typedef struct Move {
	const Order *o;
	const int64_t *dim, *step;
	double *strided, *dense;
	int back; /* from dense to strided */
} Move;

static void move_some(void *arg, int64_t from, int64_t to)
{
	const Move *m = arg;

	for (int64_t k = from; k < to; k++) {
		int64_t at = 0, rest = k;

		for (int i = m->o->n; i-- > 0; rest /= m->dim[m->o->label[i]])
			at += rest % m->dim[m->o->label[i]] * m->step[m->o->label[i]];
		if (m->back)
			m->strided[at] = m->dense[k];
		else
			m->dense[k] = m->strided[at];
	}
}

/* The elements in that order: as they are, or a copy (owned by *hold). */
static double *in_order(double *f, const Order *o, const int64_t *dim, const int64_t *step, double **hold)
{
	int64_t n = extent(o, dim);

	if (lies_so(o, dim, step))
		return f;
	*hold = pm_xcalloc((size_t)n + 1, sizeof **hold);
	pm_threads_run(n, PM__REF_LEAST, move_some, &(Move){ o, dim, step, f, *hold, 0 });
	return *hold;
}

typedef struct Matrices {
	int64_t m, n, k;
	const double *a, *b;
	double *c;
} Matrices;

static void multiply_some(void *arg, int64_t from, int64_t to)
{
	const Matrices *p = arg;

	for (int64_t q = from; q < to; q++)
		pm__ref_gemm_f(p->m, p->n, p->k, p->a + q * p->m * p->k, p->k, p->b + q * p->k * p->n, p->n,
			       p->c + q * p->m * p->n, p->n);
}

/* What the labels are to a product: 0 = the summed ones are not in both operands. */
static int product_of(const PmEinsum *e, Order *a, Order *b, Order *c, Order part[4])
{
	enum { BATCH, ROWS, COLUMNS, SUMMED };
	int in[2][PM_EINSUM_LABELS] = { { 0 } };

	for (int k = 0; k < 2; k++)
		for (int i = 0; i < e->rank[k]; i++)
			in[k][e->label[k][i]] = 1;
	for (int l = 0; l < e->n_labels; l++) {
		int both = in[0][l] && in[1][l];
		Order *to = &part[l >= e->n_out ? SUMMED : both ? BATCH : in[0][l] ? ROWS : COLUMNS];

		if ((l >= e->n_out && !both) || (!in[0][l] && !in[1][l]))
			return 0;
		to->label[to->n++] = l;
	}
	append(a, &part[BATCH]);
	append(a, &part[ROWS]);
	append(a, &part[SUMMED]);
	append(b, &part[BATCH]);
	append(b, &part[SUMMED]);
	append(b, &part[COLUMNS]);
	append(c, &part[BATCH]);
	append(c, &part[ROWS]);
	append(c, &part[COLUMNS]);
	return 1;
}

/* 1 when the result has been computed as products. Terms are added in the order of the loops below. */
static int by_products(const PmRefCall *c, const PmEinsum *e, const int64_t *dim,
		       int64_t step[][PM_EINSUM_LABELS])
{
	Order a = { 0 }, b = { 0 }, y = { 0 }, part[4] = { { 0 } };
	double *hold_a = NULL, *hold_b = NULL, *hold_y = NULL;
	int64_t y_step[PM_EINSUM_LABELS] = { 0 }, batch, s = 1;
	Matrices p;

	for (int i = e->n_out; i-- > 0; s *= dim[i])
		y_step[i] = s;
	if (e->n_in != 2 || !c->out[0].f || !product_of(e, &a, &b, &y, part))
		return 0;
	batch = extent(&part[0], dim);
	p.m = extent(&part[1], dim);
	p.n = extent(&part[2], dim);
	p.k = extent(&part[3], dim);
	p.a = in_order(c->in[0].f, &a, dim, step[0], &hold_a);
	p.b = in_order(c->in[1].f, &b, dim, step[1], &hold_b);
	p.c = in_order(c->out[0].f, &y, dim, y_step, &hold_y);
	/* Few products are shared out themselves. */
	if (batch < pm_threads_most())
		multiply_some(&p, 0, batch);
	else
		pm_threads_run(batch, 1 + 2 * PM__REF_LEAST / (p.m * p.n * p.k), multiply_some, &p);
	if (hold_y)
		pm_threads_run(batch * p.m * p.n, PM__REF_LEAST, move_some,
			       &(Move){ &y, dim, y_step, c->out[0].f, hold_y, 1 });
	free(hold_a);
	free(hold_b);
	free(hold_y);
	return 1;
}

/* ---- any ---- */

PmStatus pm__ref_einsum(const PmRefCall *c, PmErr *err)
{
	const PmType *in[PM_EINSUM_OPERANDS];
	int64_t dim[PM_EINSUM_LABELS], step[PM_EINSUM_OPERANDS][PM_EINSUM_LABELS] = { { 0 } }, y;
	int64_t own[PM_MAX_RANK], inner = 1, inner_step[PM_EINSUM_OPERANDS] = { 0 };
	PmRefTensor *out = &c->out[0];
	PmRefWalk w = { 0 };
	PmEinsum e;
	char why[160];
	size_t k;
	int i, empty = 0, last;
	PmStatus st;

	for (k = 0; k < c->n_in && k < PM_EINSUM_OPERANDS; k++)
		in[k] = &c->in[k].type;
	st = pm_einsum_read(pm_node_s(c->g, c->node, "equation", ""), in, c->n_in, &e, why);
	if (st)
		return pm__ref_fail(c, err, st, "%s.", why);
	pm_einsum_dims(&e, in, dim);
	for (k = 0; k < c->n_in; k++) {
		pm__ref_strides(in[k], own);
		for (i = 0; i < e.rank[k]; i++)
			step[k][e.label[k][i]] += in[k]->dim[i] == 1 ? 0 : own[i];
	}
	/* The last summed label is a plain loop; the walk goes over the others. */
	last = e.n_labels > e.n_out ? e.n_labels - 1 : -1;
	if (last >= 0) {
		inner = dim[last];
		for (k = 0; k < c->n_in; k++)
			inner_step[k] = step[k][last];
	}
	w.rank = last >= 0 ? last : e.n_labels;
	for (i = 0; i < e.n_labels; i++) {
		empty |= dim[i] == 0;
		w.dim[i] = dim[i];
	}
	if (empty || by_products(c, &e, dim, step))
		return PM_OK;
	do {
		int64_t at[PM_EINSUM_OPERANDS] = { 0 }, r;

		for (y = 0, i = 0; i < e.n_out; i++)
			y = y * dim[i] + w.at[i];
		for (k = 0; k < c->n_in; k++)
			for (i = 0; i < w.rank; i++)
				at[k] += w.at[i] * step[k][i];
		for (r = 0; r < inner; r++) {
			if (out->f) {
				double v = c->in[0].f[at[0] + r * inner_step[0]];

				for (k = 1; k < c->n_in; k++)
					v *= c->in[k].f[at[k] + r * inner_step[k]];
				out->f[y] += v;
			} else {
				uint64_t v = (uint64_t)c->in[0].i[at[0] + r * inner_step[0]];

				for (k = 1; k < c->n_in; k++)
					v *= (uint64_t)c->in[k].i[at[k] + r * inner_step[k]];
				out->i[y] = pm_int_wrap(out->type.dtype, (int64_t)((uint64_t)out->i[y] + v));
			}
		}
	} while (pm__ref_walk_next(&w));
	return PM_OK;
}
