/* SPDX-License-Identifier: Apache-2.0 */
/* ref_dot.c - MatMul and Gemm. */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <stdlib.h>

static void wrap_all(PmRefTensor *t)
{
	int64_t k;

	for (k = 0; t->i && k < t->numel; k++)
		t->i[k] = pm_int_wrap(t->type.dtype, t->i[k]);
}

/* Strides over the batch axes of one operand; an operand of rank 1 or 2 has none. */
static void batch_strides(const PmType *t, const PmRefWalk *w, int64_t *stride)
{
	int64_t s = t->rank < 2 ? 0 : t->dim[t->rank - 1] * t->dim[t->rank - 2];
	int d, own = t->rank - 2;

	for (d = w->rank; d-- > 0;) {
		int64_t dim = --own >= 0 ? t->dim[own] : 1;

		stride[d] = dim == 1 ? 0 : s;
		s *= dim;
	}
}

typedef struct Products {
	const PmRefTensor *a, *b;
	PmRefTensor *out;
	int64_t m, n, k, sa[PM_MAX_RANK], sb[PM_MAX_RANK];
	PmRefWalk batch; /* at: zeros */
} Products;

static void products(void *arg, int64_t from, int64_t to)
{
	const Products *v = arg;
	int64_t m = v->m, n = v->n, k = v->k;

	for (int64_t q = from; q < to; q++) {
		int64_t oa = 0, ob = 0, at = q * m * n, rest = q;

		for (int d = v->batch.rank; d-- > 0; rest /= v->batch.dim[d]) {
			oa += rest % v->batch.dim[d] * v->sa[d];
			ob += rest % v->batch.dim[d] * v->sb[d];
		}
		if (v->out->f)
			pm__ref_gemm_f(m, n, k, v->a->f + oa, k, v->b->f + ob, n, v->out->f + at, n);
		else
			pm__ref_gemm_i(m, n, k, v->a->i + oa, k, v->b->i + ob, n, v->out->i + at, n);
	}
}

PmStatus pm__ref_matmul(const PmRefCall *c, PmErr *err)
{
	const PmRefTensor *a = &c->in[0], *b = &c->in[1];
	PmRefTensor *out = &c->out[0];
	int ra = a->type.rank, rb = b->type.rank, d;
	Products v = { .a = a, .b = b, .out = out };
	int64_t k, n;

	if (ra < 1 || rb < 1)
		return pm__ref_fail(c, err, PM_E_SHAPE, "operands must not be scalars.");
	v.m = ra > 1 ? a->type.dim[ra - 2] : 1;
	v.k = k = a->type.dim[ra - 1];
	v.n = rb > 1 ? b->type.dim[rb - 1] : 1;
	if (k != b->type.dim[rb > 1 ? rb - 2 : 0])
		return pm__ref_fail(c, err, PM_E_SHAPE, "the inner dimensions differ.");
	if (!out->numel)
		return PM_OK;
	v.batch.rank = out->type.rank - (ra > 1) - (rb > 1);
	for (d = 0; d < v.batch.rank; d++)
		v.batch.dim[d] = out->type.dim[d];
	batch_strides(&a->type, &v.batch, v.sa);
	batch_strides(&b->type, &v.batch, v.sb);
	n = out->numel / (v.m * v.n);
	/* Few products are shared out themselves. */
	if (k && out->f && n < pm_threads_most())
		products(&v, 0, n);
	else if (k)
		pm_threads_run(n, 1 + 2 * PM__REF_LEAST / (v.m * v.n * k), products, &v);
	wrap_all(out);
	return PM_OK;
}

/* `t` as it is, or its transpose in new storage (owned by *hold). */
static const PmRefTensor *oriented(const PmRefTensor *t, int transpose, PmRefTensor *hold, PmErr *err)
{
	PmRefCopy box = { 2, { t->type.dim[1], t->type.dim[0] },
			  0, { t->type.dim[0], 1 },
			  0, { 1, t->type.dim[1] } };
	PmType type = t->type;
	enum { EDGE = 32 };
	int64_t i, j, rows = type.dim[1], cols = type.dim[0];

	if (!transpose)
		return t;
	type.dim[0] = rows;
	type.dim[1] = cols;
	if (pm_ref_tensor_init(hold, &type, err))
		return NULL;
	/* In squares, so that both sides stay in the cache. */
	for (i = 0; i < rows; i += EDGE)
		for (j = 0; j < cols; j += EDGE) {
			box.dim[0] = rows - i < EDGE ? rows - i : EDGE;
			box.dim[1] = cols - j < EDGE ? cols - j : EDGE;
			box.to_offset = i * cols + j;
			box.from_offset = j * rows + i;
			pm__ref_copy(hold, t, &box);
		}
	return hold;
}

/* out = alpha * out + beta * c, with c broadcast. */
static void scale_and_add(const PmRefTensor *add, double alpha, double beta, PmRefTensor *out)
{
	int64_t n = out->type.dim[1], k, s[PM_MAX_RANK] = { 0 };
	int wide = pm_dtype_sums(out->type.dtype); /* of integer sums */

	if (add)
		pm__ref_broadcast_strides(&add->type, &out->type, s);
	for (k = 0; k < out->numel; k++) {
		int64_t at = add ? k / n * s[0] + k % n * s[1] : 0;

		if (out->f) {
			out->f[k] = alpha * out->f[k] + (add ? beta * add->f[at] : 0);
		} else {
			int64_t v = out->i[k], w = add ? add->i[at] : 0;

			if (alpha != 1)
				v = pm_int_from_f64(wide, alpha * pm_int_to_f64(wide, v));
			if (beta != 1)
				w = pm_int_from_f64(wide, beta * pm_int_to_f64(wide, w));
			out->i[k] = pm_int_wrap(out->type.dtype, (int64_t)((uint64_t)v + (uint64_t)w));
		}
	}
}

PmStatus pm__ref_gemm(const PmRefCall *c, PmErr *err)
{
	int ta = pm_node_i(c->g, c->node, "transA", 0) != 0, tb = pm_node_i(c->g, c->node, "transB", 0) != 0;
	PmRefTensor hold_a = { .f = NULL }, hold_b = { .f = NULL }, *out = &c->out[0];
	const PmRefTensor *a, *b;
	PmStatus st = PM_OK;
	int64_t m, n, k;

	if (c->in[0].type.rank != 2 || c->in[1].type.rank != 2)
		return pm__ref_fail(c, err, PM_E_SHAPE, "operands must be matrices.");
	a = oriented(&c->in[0], ta, &hold_a, err);
	b = oriented(&c->in[1], tb, &hold_b, err);
	if (!a || !b) {
		st = PM_E_LIMIT;
		goto out;
	}
	m = a->type.dim[0];
	k = a->type.dim[1];
	n = b->type.dim[1];
	if (k != b->type.dim[0]) {
		st = pm__ref_fail(c, err, PM_E_SHAPE, "the inner dimensions differ.");
		goto out;
	}
	if (out->f && k)
		pm__ref_gemm_f(m, n, k, a->f, k, b->f, n, out->f, n);
	else if (k)
		pm__ref_gemm_i(m, n, k, a->i, k, b->i, n, out->i, n);
	scale_and_add(pm__ref_in(c, 2), pm_node_f(c->g, c->node, "alpha", 1),
		      pm_node_f(c->g, c->node, "beta", 1), out);
out:
	pm_ref_tensor_release(&hold_a);
	pm_ref_tensor_release(&hold_b);
	return st;
}
