/* SPDX-License-Identifier: Apache-2.0 */
/* eager_dot.c - matrix products, convolution and pooling. */
#include "runtime/exec/plan_priv.h"

#include "kernels/conv.cu.h"
#include "kernels/conv_transpose.cu.h"
#include "kernels/matmul.cu.h"
#include "kernels/matmul_tile.cu.h"
#include "kernels/pool.cu.h"
#include "kernels/pool_strip.cu.h"
#include "kernels/pool_wide.cu.h"
#include "kernels/pool_window.cu.h"
#include "runtime/ref/ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void begin(KGen *k, PmPlan *p, PmNode n, int dtype, char label[96])
{
	pm__kg_init(k, p, n, dtype);
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(dtype));
	snprintf(label, 96, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(dtype));
}

static void operand(KGen *k, const char *name, PmValue v)
{
	const PmType *t = pm__type(k->p, v);

	pm__kg_in(k, name, pm__loc(k->p, v), t->dtype, pm__distinct(t, pm__loc(k->p, v)));
}

static void result(KGen *k, const char *name, PmValue v)
{
	pm__kg_out(k, name, pm__loc(k->p, v), pm__type(k->p, v)->dtype, pm__numel(k->p, v));
}

PmStatus pm__multiply(KGen *k, const char *label, const PmProduct *m, PmErr *err)
{
	enum { SMALL = 8, LEAST = 16, LARGE = 64 };
	int64_t total = m->batches * m->rows * m->cols, tm, tn;
	/* A tile for each multiprocessor. */
	int64_t full = (int64_t)k->p->target->sm_count * LARGE * LARGE;
	int tile = total >= full && m->rows >= LARGE && m->cols >= LARGE ? LARGE
		   : m->rows <= LEAST || m->cols <= LEAST                ? LEAST
									 : 32;
	/* Little to make of what is read: fewer and longer waits for it. */
	int each = tile == LEAST ? 2 : 4, depth = tile == LEAST ? 64 : 16;

	pm__kg_int(k, "rows", m->rows);
	pm__kg_int(k, "cols", m->cols);
	pm__kg_int(k, "depth", m->depth);
	pm__kg_int(k, "am", m->am);
	pm__kg_int(k, "ak", m->ak);
	pm__kg_int(k, "bk", m->bk);
	pm__kg_int(k, "bn", m->bn);
	if (m->rows < SMALL || m->cols < SMALL) {
		pm__kg_int(k, "total", total);
		return pm__kg_launch(k, label, matmul_cu, total, m->flops, err);
	}
	tm = (m->rows + tile - 1) / tile;
	tn = (m->cols + tile - 1) / tile;
	pm__kg_define(k, "TILE", "%d", tile);
	pm__kg_define(k, "EACH", "%d", each);
	pm__kg_define(k, "DEPTH", "%d", depth);
	if (m->ak == 1)
		pm__kg_define(k, "A_FAST", "1");
	if (m->bk == 1)
		pm__kg_define(k, "B_FAST", "1");
	pm__kg_divisor(k, "tiles_m", tm);
	pm__kg_divisor(k, "tiles_n", tn);
	return pm__kg_launch_grid(k, label, matmul_tile_cu,
				  (PmGrid){ m->batches * tm * tn, 1, tile / each * (tile / each) }, m->flops,
				  err);
}

PmStatus eager_matmul(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue a = pm_node_in(p->g, n, 0), b = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *at = pm__type(p, a), *bt = pm__type(p, b), *yt = pm__type(p, y);
	const Loc *al = pm__loc(p, a), *bl = pm__loc(p, b);
	int ab = at->rank > 1 ? at->rank - 2 : 0, bb = bt->rank > 1 ? bt->rank - 2 : 0,
	    batch = ab > bb ? ab : bb;
	int64_t dims[PM_MAX_RANK], as[PM_MAX_RANK], bs[PM_MAX_RANK];
	const int64_t *strides[2] = { as, bs };
	PmProduct m = { .batches = 1, .flops = pm_op_flops(p->g, n) };
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	for (int d = 0; d < batch; d++) {
		int ad = d - (batch - ab), bd = d - (batch - bb);

		dims[d] = yt->dim[d];
		m.batches *= dims[d];
		as[d] = ad < 0 || at->dim[ad] == 1 ? 0 : al->stride[ad];
		bs[d] = bd < 0 || bt->dim[bd] == 1 ? 0 : bl->stride[bd];
	}
	begin(&k, p, n, yt->dtype, label);
	result(&k, "y", y);
	operand(&k, "a", a);
	operand(&k, "b", b);
	pm__kg_space(&k, "o", dims, batch, strides, 2);
	m.rows = at->rank > 1 ? at->dim[at->rank - 2] : 1;
	m.cols = bt->rank > 1 ? bt->dim[bt->rank - 1] : 1;
	m.depth = at->dim[at->rank - 1];
	m.am = at->rank > 1 ? al->stride[at->rank - 2] : 0;
	m.ak = al->stride[at->rank - 1];
	m.bk = bl->stride[bt->rank > 1 ? bt->rank - 2 : 0];
	m.bn = bt->rank > 1 ? bl->stride[bt->rank - 1] : 0;
	return pm__multiply(&k, label, &m, err);
}

PmStatus eager_gemm(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue a = pm_node_in(p->g, n, 0), b = pm_node_in(p->g, n, 1), c = pm_node_in(p->g, n, 2);
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *at = pm__type(p, a), *ct = pm__type(p, c), *yt = pm__type(p, y);
	int ta = pm_node_i(p->g, n, "transA", 0) != 0, tb = pm_node_i(p->g, n, "transB", 0) != 0;
	PmProduct m = { .batches = 1, .flops = pm_op_flops(p->g, n) };
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	begin(&k, p, n, yt->dtype, label);
	pm__kg_define(&k, "GEMM", "1");
	result(&k, "y", y);
	operand(&k, "a", a);
	operand(&k, "b", b);
	if (c.id) {
		const Loc *cl = pm__loc(p, c);
		int r = ct->rank;

		pm__kg_define(&k, "HAS_C", "1");
		operand(&k, "c", c);
		pm__kg_int(&k, "cm", r < 2 || ct->dim[r - 2] == 1 ? 0 : cl->stride[r - 2]);
		pm__kg_int(&k, "cn", r < 1 || ct->dim[r - 1] == 1 ? 0 : cl->stride[r - 1]);
		pm__kg_f64(&k, "beta", pm_node_f(p->g, n, "beta", 1));
	}
	pm__kg_space(&k, "o", NULL, 0, (const int64_t *const[]){ NULL, NULL }, 2);
	pm__kg_f64(&k, "alpha", pm_node_f(p->g, n, "alpha", 1));
	m.rows = yt->dim[0];
	m.cols = yt->dim[1];
	m.depth = at->dim[ta ? 0 : 1];
	m.am = pm__loc(p, a)->stride[ta ? 1 : 0];
	m.ak = pm__loc(p, a)->stride[ta ? 0 : 1];
	m.bk = pm__loc(p, b)->stride[tb ? 1 : 0];
	m.bn = pm__loc(p, b)->stride[tb ? 0 : 1];
	return pm__multiply(&k, label, &m, err);
}

/* Lists over (n, c, d, h, w) or (d, h, w): missing spatial dimensions in front get `unit`. */
static void five(const int64_t *v, int rank, int64_t unit, int64_t out[5])
{
	out[0] = v[0];
	out[1] = v[1];
	for (int d = 0; d < 3; d++)
		out[2 + d] = d < 5 - rank ? unit : v[2 + d - (5 - rank)];
}

static void three(const int64_t *v, int spatial, int64_t unit, int64_t out[3])
{
	for (int d = 0; d < 3; d++)
		out[d] = d < 3 - spatial ? unit : v[d - (3 - spatial)];
}

static PmStatus check_spatial(const PmPlan *p, PmNode n, PmErr *err)
{
	PmStr what = PM_STR_INIT;
	int rank = pm__type(p, pm_node_in(p->g, n, 0))->rank;
	PmStatus st = PM_OK;

	if (rank < 3 || rank > 5) {
		pm_node_describe(p->g, n, &what);
		st = pm_err(err, PM_E_UNSUPPORTED,
			    "%s has %d spatial dimensions; there are kernels for 1 to 3.", what.s, rank - 2);
		pm_str_release(&what);
	}
	return st;
}

/* The lists that convolution and pooling share, by the names conv.cu uses; a thread makes that many
 * `filters`, and there are so many threads. */
static void window_lists(KGen *k, PmNode n, PmValue x, PmValue y, int64_t filters, int64_t threads)
{
	const PmGraph *g = k->p->g;
	const PmType *xt = pm__type(k->p, x), *yt = pm__type(k->p, y);
	const int64_t *strides, *pads, *dil;
	int64_t list[5], sp = xt->rank - 2;

	pm_node_ints(g, n, "strides", &strides);
	pm_node_ints(g, n, "pads", &pads);
	pm_node_ints(g, n, "dilations", &dil);
	five(yt->dim, yt->rank, 1, list);
	pm__kg_divisor(k, "y_1", list[1] / filters);
	pm__kg_divisor(k, "y_2", list[2]);
	pm__kg_divisor(k, "y_3", list[3]);
	pm__kg_divisor(k, "y_4", list[4]);
	three(xt->dim + 2, (int)sp, 1, list);
	pm__kg_list(k, "xd", list, 3);
	five(pm__loc(k->p, x)->stride, xt->rank, 0, list);
	pm__kg_list(k, "xs", list, 5);
	three(strides, (int)sp, 1, list);
	pm__kg_list(k, "st", list, 3);
	three(pads, (int)sp, 0, list);
	pm__kg_list(k, "pad", list, 3);
	three(pads + sp, (int)sp, 0, list);
	pm__kg_list(k, "end", list, 3);
	three(dil, (int)sp, 1, list);
	pm__kg_list(k, "dil", list, 3);
	pm__kg_int(k, "total", threads);
}

PmStatus eager_conv(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1), b = pm_node_in(p->g, n, 2);
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *xt = pm__type(p, x), *wt = pm__type(p, w);
	int transposed = pm_node_op(p->g, n) == PM_OP_ConvTranspose;
	int64_t list[5], groups = pm_node_i(p->g, n, "group", 1), plane = 1, m = transposed ? 1 : 4;
	PmStatus st = check_spatial(p, n, err);
	char label[96];
	KGen k;

	if (!st && pm__is_depthwise(p, n))
		return pm__depthwise(p, n, err);
	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	for (int d = 2; d < xt->rank; d++)
		plane *= pm__type(p, y)->dim[d];
	while (m > 1 && wt->dim[0] % (groups * m))
		m /= 2;
	begin(&k, p, n, xt->dtype, label);
	result(&k, "y", y);
	operand(&k, "x", x);
	operand(&k, "w", w);
	if (b.id) {
		pm__kg_define(&k, "HAS_BIAS", "1");
		operand(&k, "bias", b);
		pm__kg_int(&k, "bs", pm__loc(p, b)->stride[0]);
	}
	window_lists(&k, n, x, y, m, pm__numel(p, y) / m);
	five(pm__loc(p, w)->stride, wt->rank, 0, list);
	pm__kg_list(&k, "ws", list, 5);
	three(wt->dim + 2, wt->rank - 2, 1, list);
	pm__kg_list(&k, "kd", list, 3);
	if (transposed) {
		pm__kg_int(&k, "filters", wt->dim[1]);
		pm__kg_int(&k, "channels", wt->dim[0] / groups);
	} else {
		pm__kg_define(&k, "M", "%d", (int)m);
		pm__kg_int(&k, "plane", plane);
		pm__kg_int(&k, "per_group", groups ? wt->dim[0] / groups : 1);
		pm__kg_int(&k, "channels", wt->dim[1]);
	}
	return pm__kg_launch(&k, label, transposed ? conv_transpose_cu : conv_cu, pm__numel(p, y) / m,
			     pm_op_flops(p->g, n), err);
}

PmStatus eager_conv_transpose(PmPlan *p, PmNode n, PmErr *err)
{
	return eager_conv(p, n, err);
}

/* The lowest value of a type, for kernels. */
static void define_lowest(KGen *k, PmDType dtype)
{
	int64_t least = pm_dtype_is_float(dtype) ? 0 : pm_int_from_f64(dtype, -HUGE_VAL);

	if (pm_dtype_is_float(dtype))
		pm__kg_define(k, "LOWEST", "-(A)INFINITY");
	else if (least == INT64_MIN)
		pm__kg_define(k, "LOWEST", "(-0x7fffffffffffffffll - 1)");
	else
		pm__kg_define(k, "LOWEST", "%lld", (long long)least);
}

enum {
	POOL_STRIP = 8,  /* results below each other, at most */
	POOL_LOADS = 256 /* of a plane, written out for them */
};

/* Results below each other that a thread of pool_strip.cu makes; 0: pool.cu is for it. A maximum is the same
 * in any order, and the loads of a window are under way together there; sums keep their order where a thread
 * would make one result. `kernel` is over (d, h, w). */
static int64_t pool_strip(const PmPlan *p, PmNode n, PmValue y, const int64_t kernel[3], int is_max)
{
	const int64_t *strides, *dil;
	int64_t stride[3], dilation[3], h = POOL_STRIP, span,
					rows = pm__type(p, y)->dim[pm__type(p, y)->rank - 2];
	int64_t full = (int64_t)p->target->sm_count * p->target->sm_threads / 4; /* threads */
	int spatial = pm__type(p, y)->rank - 2;

	pm_node_ints(p->g, n, "strides", &strides);
	pm_node_ints(p->g, n, "dilations", &dil);
	three(strides, spatial, 1, stride);
	three(dil, spatial, 1, dilation);
	span = (kernel[1] - 1) * dilation[1] + 1;
	if (spatial < 2 || span * kernel[2] > POOL_LOADS)
		return 0;
	while (h > 1 && (stride[1] >= span || rows < h ||
			 ((h - 1) * stride[1] + span) * kernel[2] > POOL_LOADS || pm__numel(p, y) / h < full))
		h /= 2;
	return h > 1 || is_max ? h : 0;
}

/* Lanes along a row of a window of which a warp makes the result (pool_wide.cu); 0: it is not for this pool.
 * No element is in two windows, and a row's are a sector of 32 bytes or more, or all that the input has
 * there. */
static int pool_wide(const PmPlan *p, PmNode n, PmValue x, PmValue y, const int64_t kernel[3])
{
	enum { WARP = 32, SECTOR = 32 /* bytes */ };
	const PmType *xt = pm__type(p, x), *yt = pm__type(p, y);
	const int64_t *strides, *dil;
	int64_t count = kernel[0] * kernel[1] * kernel[2];
	int last = xt->rank - 1, lanes = 1;

	pm_node_ints(p->g, n, "strides", &strides);
	pm_node_ints(p->g, n, "dilations", &dil);
	if (count < WARP || pm__loc(p, x)->stride[last] != 1 ||
	    (kernel[2] * (int64_t)pm_dtype_size(xt->dtype) < SECTOR && kernel[2] < xt->dim[last]))
		return 0;
	for (int d = 2; d <= last; d++)
		if (dil[d - 2] != 1 || (yt->dim[d] > 1 && strides[d - 2] < kernel[2 - (last - d)]))
			return 0;
	while (lanes < WARP && lanes < kernel[2])
		lanes *= 2;
	return lanes;
}

/* How a pool is run. */
typedef struct PoolWay {
	int64_t strip; /* results of a thread, below each other, or 0 */
	int lanes;     /* of a warp, along a row of its window, or 0 */
} PoolWay;

/* The lists of a pool's window, and of a strip of windows. Returns the threads. */
static int64_t pool_window(KGen *k, PmNode n, PmValue y, PoolWay way, const int64_t kernel[3])
{
	enum { WARP = 32 };
	const int64_t *strides, *dil;
	int64_t rows[5], list[3], strip = way.strip;
	int spatial = pm__type(k->p, y)->rank - 2;

	five(pm__type(k->p, y)->dim, spatial + 2, 1, rows);
	pm__kg_define(k, "KD_0", "%lld", (long long)kernel[0]);
	pm__kg_define(k, "KD_1", "%lld", (long long)kernel[1]);
	pm__kg_define(k, "KD_2", "%lld", (long long)kernel[2]);
	if (way.lanes) {
		pm__kg_define(k, "LW", "%d", way.lanes);
		return pm__numel(k->p, y) * WARP;
	}
	if (!strip) {
		pm__kg_define(k, "UNROLL", "%d", kernel[0] * kernel[1] * kernel[2] <= 32 ? 32 : 1);
		return pm__numel(k->p, y);
	}
	pm_node_ints(k->p->g, n, "strides", &strides);
	pm_node_ints(k->p->g, n, "dilations", &dil);
	three(strides, spatial, 1, list);
	pm__kg_define(k, "SH", "%lld", (long long)list[1]);
	three(dil, spatial, 1, list);
	pm__kg_define(k, "DH", "%lld", (long long)list[1]);
	pm__kg_define(k, "TH", "%lld", (long long)strip);
	pm__kg_divisor(k, "strips", (rows[3] + strip - 1) / strip);
	return rows[0] * rows[1] * rows[2] * ((rows[3] + strip - 1) / strip) * rows[4];
}

static PmStatus pool(PmPlan *p, PmNode n, int is_max, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0), idx = pm_node_out(p->g, n, 1);
	const PmType *xt = pm__type(p, x);
	const int64_t *kernel;
	int64_t list[3], threads;
	PoolWay way = { 0 };
	PmStatus st = check_spatial(p, n, err);
	char label[96];
	PmStr body = PM_STR_INIT;
	KGen k;

	for (size_t i = 0; i < pm_node_n_out(p->g, n) && !st; i++)
		st = pm__place(p, pm_node_out(p->g, n, i), err);
	if (st)
		return st;
	begin(&k, p, n, xt->dtype, label);
	if (is_max) {
		pm__kg_define(&k, "MAX", "1");
		define_lowest(&k, xt->dtype);
	} else {
		pm__kg_define(&k, "LOWEST", "0");
	}
	if (pm_node_i(p->g, n, "count_include_pad", 0))
		pm__kg_define(&k, "INCLUDE_PAD", "1");
	result(&k, "y", y);
	if (idx.id) {
		pm__kg_define(&k, "HAS_INDEX", "1");
		pm__kg_define(&k, "COLUMN_MAJOR", "%d", (int)pm_node_i(p->g, n, "storage_order", 0));
		result(&k, "y_idx", idx);
	}
	operand(&k, "x", x);
	pm_node_ints(p->g, n, "kernel_shape", &kernel);
	three(kernel, xt->rank - 2, 1, list);
	if (!idx.id)
		way.lanes = pool_wide(p, n, x, y, list);
	if (!idx.id && !way.lanes)
		way.strip = pool_strip(p, n, y, list, is_max);
	threads = pool_window(&k, n, y, way, list);
	window_lists(&k, n, x, y, 1, threads);
	pm_str_add(&body, pool_window_cu);
	pm_str_add(&body, way.lanes ? pool_wide_cu : way.strip ? pool_strip_cu : pool_cu);
	st = pm__kg_launch(&k, label, body.s, threads, pm_op_flops(p->g, n), err);
	pm_str_release(&body);
	return st;
}

PmStatus eager_max_pool(PmPlan *p, PmNode n, PmErr *err)
{
	return pool(p, n, 1, err);
}

PmStatus eager_average_pool(PmPlan *p, PmNode n, PmErr *err)
{
	return pool(p, n, 0, err);
}
