/* SPDX-License-Identifier: Apache-2.0 */
/* plan_lib.c - describes products and convolutions so that a library can take them. */
#include "runtime/exec/plan_priv.h"

#include <string.h>

enum { MAX_OUTER = 8 }; /* calls in place of one */

/* The largest power of two up to 256 that divides an offset. */
static int64_t alignment(int64_t offset)
{
	int64_t a = 256;

	while (a > 1 && offset % a)
		a /= 2;
	return a;
}

/* Attaches the call to the launch just described, which computes the same from `n` buffers. Operands that are
 * one value are one argument there, so that their number shows whether places are as library.h says. */
static void offer(PmPlan *p, PmLibCall *c, int n)
{
	Step *s = p->steps.n ? &p->steps.v[p->steps.n - 1] : NULL;

	if (!s || s->source < 0 || s->n_args < n || (s->n_args > n && s->args[n].kind == PM_DARG_BUF))
		return;
	for (int i = 0; i < n; i++) {
		if (s->args[i].kind != PM_DARG_BUF)
			return;
		c->align[i] = alignment(s->args[i].offset | c->step[i]);
	}
	s->lib = pm_arena_alloc(p->arena, sizeof *c);
	memcpy(s->lib, c, sizeof *c);
}

/* Batches as one stride each; or the first dimension as a few calls, and the others as one stride. */
static int merge_all(PmLibGemm *g, const int64_t *dim, const int64_t *as, const int64_t *bs, int n)
{
	g->outer = 1;
	if (pm__merge_strides(dim, as, n, &g->a_batch) && pm__merge_strides(dim, bs, n, &g->b_batch))
		return 1;
	if (n < 2 || dim[0] > MAX_OUTER || !pm__merge_strides(dim + 1, as + 1, n - 1, &g->a_batch) ||
	    !pm__merge_strides(dim + 1, bs + 1, n - 1, &g->b_batch))
		return 0;
	g->outer = dim[0];
	g->a_outer = as[0];
	g->b_outer = bs[0];
	g->batch /= dim[0];
	return 1;
}

/* Gives extents of 1 the strides of a contiguous matrix: theirs say nothing. */
static void tidy(int64_t rows, int64_t cols, int64_t *row, int64_t *col)
{
	if (cols == 1 && *row != 1)
		*col = 1;
	if (rows == 1 && *col != 1)
		*row = 1;
	if (rows == 1 && *col == 1)
		*row = cols;
	else if (cols == 1 && *row == 1)
		*col = rows;
}

static void offer_matmul(PmPlan *p, PmNode n)
{
	PmValue a = pm_node_in(p->g, n, 0), b = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *at = pm__type(p, a), *bt = pm__type(p, b), *yt = pm__type(p, y);
	const Loc *al = pm__loc(p, a), *bl = pm__loc(p, b);
	int ab = at->rank > 1 ? at->rank - 2 : 0, bb = bt->rank > 1 ? bt->rank - 2 : 0,
	    batch = ab > bb ? ab : bb;
	int64_t dims[PM_MAX_RANK], as[PM_MAX_RANK], bs[PM_MAX_RANK];
	PmLibCall c = { .kind = PM_LIB_GEMM, .dtype = yt->dtype };
	PmLibGemm *g = &c.gemm;

	if (!pm_dtype_is_float(yt->dtype) || at->dtype != yt->dtype || bt->dtype != yt->dtype)
		return;
	g->alpha = 1;
	g->batch = 1;
	for (int d = 0; d < batch; d++) {
		int ad = d - (batch - ab), bd = d - (batch - bb);

		dims[d] = yt->dim[d];
		as[d] = ad < 0 || at->dim[ad] == 1 ? 0 : al->stride[ad];
		bs[d] = bd < 0 || bt->dim[bd] == 1 ? 0 : bl->stride[bd];
		g->batch *= dims[d];
	}
	g->m = at->rank > 1 ? at->dim[at->rank - 2] : 1;
	g->n = bt->rank > 1 ? bt->dim[bt->rank - 1] : 1;
	g->k = at->dim[at->rank - 1];
	g->a_row = at->rank > 1 ? al->stride[at->rank - 2] : 0;
	g->a_col = al->stride[at->rank - 1];
	g->b_row = bl->stride[bt->rank > 1 ? bt->rank - 2 : 0];
	g->b_col = bt->rank > 1 ? bl->stride[bt->rank - 1] : 0;
	if (!g->m || !g->n || !g->k || !g->batch || !merge_all(g, dims, as, bs, batch))
		return;
	tidy(g->m, g->k, &g->a_row, &g->a_col);
	tidy(g->k, g->n, &g->b_row, &g->b_col);
	c.step[0] = (g->outer > 1 ? g->batch * g->m * g->n : 0) * (int64_t)pm_dtype_size(yt->dtype);
	c.step[1] = (g->outer > 1 ? g->a_outer : 0) * (int64_t)pm_dtype_size(yt->dtype);
	c.step[2] = (g->outer > 1 ? g->b_outer : 0) * (int64_t)pm_dtype_size(yt->dtype);
	/* One large product instead of many, when all share the right factor. */
	if (g->outer == 1 && g->batch > 1 && g->b_batch == 0 && g->a_col == 1 &&
	    g->a_batch == g->m * g->a_row) {
		g->m *= g->batch;
		g->batch = 1;
	}
	offer(p, &c, 3);
}

static void offer_gemm(PmPlan *p, PmNode n)
{
	PmValue a = pm_node_in(p->g, n, 0), b = pm_node_in(p->g, n, 1), cv = pm_node_in(p->g, n, 2);
	const PmType *at = pm__type(p, a), *bt = pm__type(p, b), *yt = pm__type(p, pm_node_out(p->g, n, 0));
	int ta = pm_node_i(p->g, n, "transA", 0) != 0, tb = pm_node_i(p->g, n, "transB", 0) != 0;
	PmLibCall c = { .kind = PM_LIB_GEMM, .dtype = yt->dtype };
	PmLibGemm *g = &c.gemm;

	if (!pm_dtype_is_float(yt->dtype) || at->dtype != yt->dtype || bt->dtype != yt->dtype)
		return;
	g->batch = g->outer = 1;
	g->m = yt->dim[0];
	g->n = yt->dim[1];
	g->k = at->dim[ta ? 0 : 1];
	g->a_row = pm__loc(p, a)->stride[ta];
	g->a_col = pm__loc(p, a)->stride[!ta];
	g->b_row = pm__loc(p, b)->stride[tb];
	g->b_col = pm__loc(p, b)->stride[!tb];
	g->alpha = pm_node_f(p->g, n, "alpha", 1);
	if (!g->m || !g->n || !g->k)
		return;
	if (cv.id) {
		const PmType *ct = pm__type(p, cv);
		const Loc *cl = pm__loc(p, cv);
		int r = ct->rank;
		int row = r >= 2 && ct->dim[r - 2] != 1, col = r >= 1 && ct->dim[r - 1] != 1;

		g->beta = pm_node_f(p->g, n, "beta", 1);
		if (ct->dtype != yt->dtype)
			return;
		if (row && col && pm__is_contiguous(p, cv))
			g->c = PM_LIB_C_MATRIX;
		else if (!row && col && cl->stride[r - 1] == 1 && g->beta == 1)
			g->c = PM_LIB_C_COLUMNS;
		else
			return;
	}
	tidy(g->m, g->k, &g->a_row, &g->a_col);
	tidy(g->k, g->n, &g->b_row, &g->b_col);
	offer(p, &c, cv.id ? 4 : 3);
}

void pm__offer_product(PmPlan *p, int dtype, const PmLibGemm *product)
{
	PmLibCall c = { .kind = PM_LIB_GEMM, .dtype = dtype, .gemm = *product };

	if (!pm_dtype_is_float(dtype))
		return;
	tidy(c.gemm.m, c.gemm.k, &c.gemm.a_row, &c.gemm.a_col);
	tidy(c.gemm.k, c.gemm.n, &c.gemm.b_row, &c.gemm.b_col);
	offer(p, &c, 3);
}

static void offer_conv(PmPlan *p, PmNode n)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1), b = pm_node_in(p->g, n, 2);
	const PmType *xt = pm__type(p, x), *wt = pm__type(p, w), *yt = pm__type(p, pm_node_out(p->g, n, 0));
	const int64_t *strides, *pads, *dil;
	PmLibCall c = { .kind = PM_LIB_CONV, .dtype = yt->dtype };
	PmLibConv *v = &c.conv;

	v->spatial = xt->rank - 2;
	v->transposed = pm_node_op(p->g, n) == PM_OP_ConvTranspose;
	v->groups = pm_node_i(p->g, n, "group", 1);
	if (!pm_dtype_is_float(yt->dtype) || xt->dtype != yt->dtype || wt->dtype != yt->dtype ||
	    v->spatial < 1 || v->spatial > 3 || !pm__is_contiguous(p, x) || !pm__is_contiguous(p, w) ||
	    (b.id && !pm__is_contiguous(p, b)))
		return;
	if (pm__is_depthwise(p, n)) /* our kernel is the faster one (eager_depth.c) */
		return;
	pm_node_ints(p->g, n, "strides", &strides);
	pm_node_ints(p->g, n, "pads", &pads);
	pm_node_ints(p->g, n, "dilations", &dil);
	for (int d = 0; d < xt->rank; d++) {
		v->x[d] = xt->dim[d];
		v->w[d] = wt->dim[d];
		v->y[d] = yt->dim[d];
		if (!v->x[d] || !v->w[d] || !v->y[d])
			return;
	}
	for (int d = 0; d < v->spatial; d++) {
		v->uneven |= pads[d] != pads[d + v->spatial];
		v->pad[d] = pads[d];
		v->stride[d] = strides[d];
		v->dilation[d] = dil[d];
		/* A library takes a transposed one if the convolution that it turns round gives x from y. */
		v->uneven |= v->transposed &&
			     (v->y[2 + d] + 2 * pads[d] - dil[d] * (v->w[2 + d] - 1) - 1) / strides[d] + 1 !=
				     v->x[2 + d];
	}
	v->has_bias = b.id != 0;
	v->constant = p->buffers.v[pm__loc(p, w)->buf].is_const;
	offer(p, &c, b.id ? 4 : 3);
}

void pm__offer_library(PmPlan *p, PmNode n, size_t first_step)
{
	PmOp op = pm_node_op(p->g, n);

	if (p->steps.n != first_step + 1) /* none, or copies as well: then the last is not the whole of it */
		return;
	if (op == PM_OP_MatMul)
		offer_matmul(p, n);
	else if (op == PM_OP_Gemm)
		offer_gemm(p, n);
	else if (op == PM_OP_Conv || op == PM_OP_ConvTranspose)
		offer_conv(p, n);
}
