/* SPDX-License-Identifier: Apache-2.0 */
/* ref_dot.c - MatMul and Gemm, and the blocked product behind them and behind Conv. */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <stdlib.h>

enum {
	TILE_N = 512, /* columns of one pass: four rows of c stay in the first-level cache */
	TILE_K = 64,  /* rows of b of one pass: with TILE_N columns they stay in the second-level cache */
	LANES = 8
};

/* c[0..n) and d[0..n) += two rows of a times four rows of b. */
static void rows2x4(int64_t n, const double *restrict a, const double *restrict a2, const double *restrict b0,
		    const double *restrict b1, const double *restrict b2, const double *restrict b3,
		    double *restrict c, double *restrict d)
{
	double p0 = a[0], p1 = a[1], p2 = a[2], p3 = a[3];
	double q0 = a2[0], q1 = a2[1], q2 = a2[2], q3 = a2[3];
	int64_t j = 0;
	int u;

	for (; j + LANES <= n; j += LANES)
		for (u = 0; u < LANES; u++) {
			c[j + u] = c[j + u] + p0 * b0[j + u] + p1 * b1[j + u] + p2 * b2[j + u] +
				   p3 * b3[j + u];
			d[j + u] = d[j + u] + q0 * b0[j + u] + q1 * b1[j + u] + q2 * b2[j + u] +
				   q3 * b3[j + u];
		}
	for (; j < n; j++) {
		c[j] = c[j] + p0 * b0[j] + p1 * b1[j] + p2 * b2[j] + p3 * b3[j];
		d[j] = d[j] + q0 * b0[j] + q1 * b1[j] + q2 * b2[j] + q3 * b3[j];
	}
}

/* c[0..n) += a * b. */
static void row1x1(int64_t n, double a, const double *restrict b, double *restrict c)
{
	int64_t j;

	for (j = 0; j < n; j++)
		c[j] += a * b[j];
}

static void row1x4(int64_t n, const double *restrict a, const double *restrict b, int64_t ldb,
		   double *restrict c)
{
	const double *b1 = b + ldb, *b2 = b1 + ldb, *b3 = b2 + ldb;
	double p0 = a[0], p1 = a[1], p2 = a[2], p3 = a[3];
	int64_t j = 0;
	int u;

	for (; j + LANES <= n; j += LANES)
		for (u = 0; u < LANES; u++)
			c[j + u] = c[j + u] + p0 * b[j + u] + p1 * b1[j + u] + p2 * b2[j + u] +
				   p3 * b3[j + u];
	for (; j < n; j++)
		c[j] = c[j] + p0 * b[j] + p1 * b1[j] + p2 * b2[j] + p3 * b3[j];
}

static void gemm_f(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b,
		   int64_t ldb, double *c, int64_t ldc)
{
	int64_t j0, k0, i, p;

	for (j0 = 0; j0 < n; j0 += TILE_N) {
		int64_t nt = n - j0 < TILE_N ? n - j0 : TILE_N;

		for (k0 = 0; k0 < k; k0 += TILE_K) {
			int64_t k1 = k - k0 < TILE_K ? k : k0 + TILE_K;

			for (i = 0; i < m; i += 2) {
				double *c0 = c + i * ldc + j0, *c1 = c0 + ldc;
				const double *a0 = a + i * lda, *a1 = a0 + lda;
				int pair = i + 1 < m;

				for (p = k0; p + 4 <= k1; p += 4) {
					const double *bp = b + p * ldb + j0;

					if (pair)
						rows2x4(nt, a0 + p, a1 + p, bp, bp + ldb, bp + 2 * ldb,
							bp + 3 * ldb, c0, c1);
					else
						row1x4(nt, a0 + p, bp, ldb, c0);
				}
				for (; p < k1; p++) {
					row1x1(nt, a0[p], b + p * ldb + j0, c0);
					if (pair)
						row1x1(nt, a1[p], b + p * ldb + j0, c1);
				}
			}
		}
	}
}

typedef struct Product {
	int64_t m, n, k, lda, ldb, ldc;
	const double *a, *b;
	double *c;
} Product;

static void product_rows(void *arg, int64_t from, int64_t to)
{
	const Product *p = arg;

	gemm_f(to - from, p->n, p->k, p->a + from * p->lda, p->lda, p->b, p->ldb, p->c + from * p->ldc,
	       p->ldc);
}

static void product_columns(void *arg, int64_t from, int64_t to)
{
	const Product *p = arg;

	gemm_f(p->m, to - from, p->k, p->a, p->lda, p->b + from, p->ldb, p->c + from, p->ldc);
}

void pm__ref_gemm_f(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b,
		    int64_t ldb, double *c, int64_t ldc)
{
	Product p = { m, n, k, lda, ldb, ldc, a, b, c };

	/* Columns in whole vectors; a row more costs what it takes to read a part of b again. */
	if (m < n / 64)
		pm_threads_run(n, 64 + 2 * PM__REF_LEAST / (m * k + 1), product_columns, &p);
	else
		pm_threads_run(m, 8 + 2 * PM__REF_LEAST / (n * k + 1), product_rows, &p);
}

void pm__ref_gemm_i(int64_t m, int64_t n, int64_t k, const int64_t *a, int64_t lda, const int64_t *b,
		    int64_t ldb, int64_t *c, int64_t ldc)
{
	int64_t i, j, p;

	for (i = 0; i < m; i++)
		for (p = 0; p < k; p++)
			for (j = 0; j < n; j++)
				c[i * ldc + j] = (int64_t)((uint64_t)c[i * ldc + j] +
							   (uint64_t)a[i * lda + p] *
								   (uint64_t)b[p * ldb + j]);
}

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
	int64_t k;

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
	/* One large product is shared out itself. */
	if (k)
		pm_threads_run(out->numel / (v.m * v.n), 1 + 2 * PM__REF_LEAST / (v.m * v.n * k), products,
			       &v);
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
