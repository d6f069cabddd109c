/* SPDX-License-Identifier: Apache-2.0 */
/* eager_norm.c - softmax and normalisations: rows that stay in registers where they fit. */
#include "runtime/exec/plan_priv.h"

#include "kernels/acc.cu.h"
#include "kernels/lrn.cu.h"
#include "kernels/norm.cu.h"
#include "kernels/row.cu.h"
#include "kernels/softmax.cu.h"
#include "kernels/softmax_col.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

enum {
	WARP = 32,
	WARP_KEEPS = 32,    /* elements of a row that a thread of a warp, */
	BLOCK_KEEPS = 16,   /* of a block, */
	LARGEST_KEEPS = 32, /* and of the largest block may hold */
	LARGEST = 1024
};

static void begin(KGen *k, PmPlan *p, PmNode n, int dtype, char label[96])
{
	pm__kg_init(k, p, n, dtype);
	pm_str_addf(&k->head, "typedef %s A;\ntypedef %s X;\n", pm__acc_type(dtype), pm__ctype(dtype));
	snprintf(label, 96, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(dtype));
}

/* Whether a row is too long to be kept by the largest block. */
static int is_long(int64_t len, int v)
{
	return ((len + v - 1) / v + LARGEST - 1) / LARGEST * v > LARGEST_KEEPS;
}

/* How the threads share rows of `len` elements, read v at a time: defines V, G and ITEMS (0: the row is too
 * long to be kept); returns the grid for so many rows. */
static PmGrid share_rows(KGen *k, int64_t rows, int64_t len, int v)
{
	int64_t vectors = (len + v - 1) / v, items;
	int g = 1;

	while (g < WARP && g < vectors)
		g *= 2;
	if ((vectors + g - 1) / g * v > WARP_KEEPS)
		for (g = 128; g < LARGEST && (vectors + g - 1) / g * v > BLOCK_KEEPS;)
			g *= 2;
	items = is_long(len, v) ? 0 : (vectors + g - 1) / g;
	pm__kg_define(k, "V", "%d", v);
	pm__kg_define(k, "G", "%d", g);
	pm__kg_define(k, "ITEMS", "%d", (int)items);
	if (g > WARP)
		return (PmGrid){ rows, 1, g };
	return (PmGrid){ (rows * g + 127) / 128, 1, 128 };
}

/* The kernel's text behind what it builds on. */
static PmStatus launch(KGen *k, const char *label, const char *text, PmGrid grid, PmErr *err)
{
	PmStr body = PM_STR_INIT;
	PmStatus st;

	pm__kg_define(k, "ACC", "1");
	pm_str_add(&body, acc_cu);
	pm_str_add(&body, row_cu);
	pm_str_add(&body, text);
	st = pm__kg_launch_grid(k, label, body.s, grid, pm_op_flops(k->p->g, k->node), err);
	pm_str_release(&body);
	return st;
}

/* Rows of threads that share lines of `len` elements, V lines for each thread. */
static PmGrid share_lines(KGen *k, int64_t lines, int64_t len, int v)
{
	int tx = 1, ty = 1;

	while (tx < WARP && tx * v < lines)
		tx *= 2;
	while (ty < PM__BLOCK / tx && ty * 8 < len)
		ty *= 2;
	pm__kg_define(k, "V", "%d", v);
	pm__kg_define(k, "TX", "%d", tx);
	pm__kg_define(k, "TY", "%d", ty);
	pm__kg_define(k, "G", "1"); /* for row.cu, which is not used */
	return (PmGrid){ (lines + (int64_t)tx * v - 1) / ((int64_t)tx * v), 1, tx * ty };
}

/* Whether each row of x begins as far from a vector of v elements as that of the result: long rows need no
 * more. */
static int begins_alike(const PmSpace *s, const Loc *x, int64_t xstep, int v)
{
	int same = xstep == 1 && x->off % v == 0;

	for (int d = 0; d < s->rank; d++)
		same &= (s->stride[0][d] - s->stride[1][d]) % v == 0;
	return same;
}

/* Where softmax reads x: as it lies, or from a copy when its rows lie across and are many. */
static PmStatus softmax_source(PmPlan *p, PmNode n, PmValue x, int64_t axis, Loc *l, PmErr *err)
{
	enum { LARGE = 1 << 18 }; /* bytes */
	const PmType *t = pm__type(p, x);
	int64_t bytes = 0;

	*l = *pm__loc(p, x);
	pm_type_bytes(t, &bytes, NULL);
	if (axis != t->rank - 1 || t->dim[axis] == 1 || l->stride[axis] == 1 || bytes < LARGE)
		return PM_OK;
	return pm__make_contiguous(p, n, x, l, err);
}

PmStatus eager_softmax(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	Loc source;
	const Loc *xl = &source;
	int64_t axis = pm_node_i(p->g, n, "axis", 0), dims[PM_MAX_RANK], xs[PM_MAX_RANK], ys[PM_MAX_RANK],
		len, xstep, ystep;
	const int64_t *strides[2] = { xs, ys };
	int rank = 0, wide = 16 / (int)pm_dtype_size(t->dtype), v = wide;
	PmStatus st = softmax_source(p, n, x, axis, &source, err);
	char label[96];
	PmGrid grid;
	PmSpace s;
	KGen k;

	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	for (int d = 0; d < t->rank; d++) {
		if (d == axis)
			continue;
		dims[rank] = t->dim[d];
		xs[rank] = xl->stride[d];
		ys[rank++] = pm__loc(p, y)->stride[d];
	}
	len = t->rank ? t->dim[axis] : 1;
	xstep = t->rank ? xl->stride[axis] : 0;
	ystep = t->rank ? pm__loc(p, y)->stride[axis] : 1;
	pm__space(&s, dims, rank, strides, 2);
	begin(&k, p, n, t->dtype, label);
	if (pm_node_op(p->g, n) == PM_OP_LogSoftmax)
		pm__kg_define(&k, "LOG_SOFTMAX", "1");
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", xl, t->dtype, pm__distinct(t, xl));
	pm__kg_put_space(&k, "o", &s);
	pm__kg_int(&k, "len", len);
	pm__kg_int(&k, "xs", xstep);
	if (ystep == 1 || len == 1) {
		/* Of rows that lie apart, or whose beginnings are not aligned, single elements are taken. */
		while (v > 1 && (len % v || xl->off % v || xstep != 1))
			v /= 2;
		for (int d = 0; d < s.rank; d++)
			while (v > 1 && s.stride[0][d] % v)
				v /= 2;
		if (is_long(len, v) && begins_alike(&s, xl, xstep, wide))
			v = wide;
		grid = share_rows(&k, pm__numel(p, y) ? s.total : 0, len, v);
		return launch(&k, label, softmax_cu, grid, err);
	}
	v = pm__space_width(&s, 0, xl->off, v);
	v = pm__space_width(&s, 1, 0, v);
	while (v > 1 && (xstep % v || ystep % v || s.total / v < p->target->sm_count * WARP))
		v /= 2;
	pm__kg_int(&k, "ys", ystep);
	grid = share_lines(&k, pm__numel(p, y) ? s.total : 0, len, v);
	return launch(&k, label, softmax_col_cu, grid, err);
}

/* Strides of a scale or bias walked over the normalised dimensions (it may broadcast from the right). */
static void weight_strides(const PmPlan *p, PmValue w, const PmType *t, int64_t axis, int64_t *out)
{
	const PmType *wt = pm__type(p, w);

	for (int d = (int)axis; d < t->rank; d++) {
		int from = d - (t->rank - wt->rank);

		out[d - axis] = from < 0 || wt->dim[from] == 1 ? 0 : pm__loc(p, w)->stride[from];
	}
}

/* Rows of x as they lie, if the elements of each are neighbours; else of a copy. */
static PmStatus find_rows(PmPlan *p, PmNode n, PmValue x, int64_t axis, Loc *l, PmSpace *rows, PmErr *err)
{
	const PmType *t = pm__type(p, x);
	const int64_t *stride = l->stride, *tail = l->stride + axis;
	PmStatus st = PM_OK;
	PmSpace s;

	*l = *pm__loc(p, x);
	pm__space(&s, t->dim + axis, t->rank - (int)axis, &tail, 1);
	if (s.rank > 1 || (s.total > 1 && s.stride[0][0] != 1))
		st = pm__make_contiguous(p, n, x, l, err);
	pm__space(rows, t->dim, (int)axis, &stride, 1);
	return st;
}

static int row_width(const PmSpace *rows, const Loc *l, int64_t len, int dtype)
{
	int v = 16 / (int)pm_dtype_size(dtype);

	while (v > 1 && (len % v || l->off % v))
		v /= 2;
	for (int d = 0; d < rows->rank; d++)
		while (v > 1 && rows->stride[0][d] % v)
			v /= 2;
	return v;
}

/* Parameters that both kinds of row normalisation have; the results are placed. */
static void norm_params(KGen *k, PmValue x, const Loc *xl, const PmSpace *rows, int64_t len)
{
	static const char *const stat_name[] = { "", "y_mean", "y_inv" }, *const stat_define[] = {
		"", "HAS_MEAN", "HAS_INV"
	};
	const PmPlan *p = k->p;
	PmNode n = k->node;

	for (size_t i = 0; i < pm_node_n_out(p->g, n); i++) {
		PmValue o = pm_node_out(p->g, n, i);

		pm__kg_out(k, i ? stat_name[i] : "y", pm__loc(p, o), pm__type(p, o)->dtype, pm__numel(p, o));
		if (i)
			pm__kg_define(k, stat_define[i], "1");
	}
	pm__kg_in(k, "x", xl, pm__type(p, x)->dtype, pm__distinct(pm__type(p, x), xl));
	pm__kg_put_space(k, "o", rows);
	pm__kg_int(k, "rows", rows->total);
	pm__kg_int(k, "len", len);
	pm__kg_f64(k, "eps", pm_node_f(p->g, n, "epsilon", 1e-5));
}

/* Whether a weight can be read as the row is: neighbours, of the same type, v at a time. */
static int lies_flat(const PmSpace *s, int i, const Loc *l, const PmType *w, const PmType *x, int v)
{
	return s->rank == 1 && s->stride[i][0] == 1 && w->dtype == x->dtype &&
	       pm__space_width(s, i, l->off, v) == v;
}

PmStatus eager_layer_norm(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1), b = pm_node_in(p->g, n, 2);
	const PmType *t = pm__type(p, x), *wt = pm__type(p, w);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), len = 1, ws[PM_MAX_RANK] = { 0 },
		bs[PM_MAX_RANK] = { 0 };
	const int64_t *strides[2] = { ws, bs };
	Loc xl;
	PmSpace rows, s;
	PmStatus st = find_rows(p, n, x, axis, &xl, &rows, err);
	char label[96];
	PmGrid grid;
	KGen k;
	int v;

	for (size_t i = 0; i < pm_node_n_out(p->g, n) && !st; i++)
		st = pm__place(p, pm_node_out(p->g, n, i), err);
	if (st)
		return st;
	for (int d = (int)axis; d < t->rank; d++)
		len *= t->dim[d];
	weight_strides(p, w, t, axis, ws);
	if (b.id)
		weight_strides(p, b, t, axis, bs);
	pm__space(&s, t->dim + axis, t->rank - (int)axis, strides, b.id ? 2 : 1);
	v = row_width(&rows, &xl, len, t->dtype);
	begin(&k, p, n, t->dtype, label);
	norm_params(&k, x, &xl, &rows, len);
	if (pm_node_op(p->g, n) == PM_OP_RMSNormalization)
		pm__kg_define(&k, "RMS", "1");
	pm_str_addf(&k.head, "typedef %s W;\n", pm__ctype(wt->dtype));
	pm__kg_in(&k, "scale", pm__loc(p, w), wt->dtype, pm__numel(p, w));
	if (b.id) {
		pm__kg_in(&k, "bias", pm__loc(p, b), pm__type(p, b)->dtype, pm__numel(p, b));
		pm__kg_define(&k, "HAS_BIAS", "1");
	}
	if (lies_flat(&s, 0, pm__loc(p, w), wt, t, v) &&
	    (!b.id || lies_flat(&s, 1, pm__loc(p, b), pm__type(p, b), t, v)))
		pm__kg_define(&k, "WFLAT", "1");
	pm__kg_put_space(&k, "w", &s);
	grid = share_rows(&k, rows.total, len, v);
	return launch(&k, label, norm_cu, grid, err);
}

PmStatus eager_rms_norm(PmPlan *p, PmNode n, PmErr *err)
{
	return eager_layer_norm(p, n, err);
}

PmStatus eager_group_norm(PmPlan *p, PmNode n, PmErr *err)
{
	static const char *const names[] = { "scale", "bias" };
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t groups = pm_node_i(p->g, n, "num_groups", t->dim[1]), plane = 1, len, one = 0;
	const int64_t *step = &one;
	Loc l[3];
	PmSpace rows;
	PmStatus st = PM_OK;
	char label[96];
	PmGrid grid;
	KGen k;
	int v;

	for (size_t i = 0; i < 3 && !st; i++)
		st = pm__make_contiguous(p, n, pm_node_in(p->g, n, i), &l[i], err);
	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	for (int d = 2; d < t->rank; d++)
		plane *= t->dim[d];
	len = groups ? t->dim[1] / groups * plane : 0;
	one = len;
	pm__space(&rows, (int64_t[]){ t->dim[0] * groups }, 1, &step, 1);
	v = row_width(&rows, &l[0], len, t->dtype);
	begin(&k, p, n, t->dtype, label);
	norm_params(&k, x, &l[0], &rows, len);
	pm__kg_define(&k, "GROUPS", "1");
	pm__kg_define(&k, "HAS_BIAS", "1");
	if (plane % v == 0)
		pm__kg_define(&k, "WSAME", "1");
	pm_str_addf(&k.head, "typedef %s W;\n", pm__ctype(pm__type(p, pm_node_in(p->g, n, 1))->dtype));
	for (size_t i = 1; i < 3; i++)
		pm__kg_in(&k, names[i - 1], &l[i], pm__type(p, pm_node_in(p->g, n, i))->dtype, t->dim[1]);
	pm__kg_divisor(&k, "groups", groups);
	pm__kg_divisor(&k, "plane", plane);
	pm__kg_int(&k, "per_group", groups ? t->dim[1] / groups : 0);
	grid = share_rows(&k, pm__numel(p, y) ? rows.total : 0, len, v);
	return launch(&k, label, norm_cu, grid, err);
}

PmStatus eager_batch_norm(PmPlan *p, PmNode n, PmErr *err)
{
	static const char text[] = "\tconst A inv = (A)pm_ld(e1) * rsqrt((A)pm_ld(e4) + (A)eps);\n"
				   "\tpm_st(&q, ((A)pm_ld(e0) - (A)pm_ld(e3)) * inv + (A)pm_ld(e2));\n";
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	PmVecOut out = { .dtype = t->dtype, .rank = t->rank, .dim = t->dim };
	PmVecIn in[5];
	PmStatus st;
	char label[96];
	KGen k;

	if (pm_node_i(p->g, n, "training_mode", 0) || pm_node_n_out(p->g, n) > 1)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Node %u (BatchNormalization) is in training mode, which has no kernel; use "
			      "--device ref.",
			      n.id);
	st = pm__place(p, y, err);
	if (st)
		return st;
	out.loc = pm__loc(p, y);
	pm__vec_in(p, x, t, &in[0]);
	for (size_t i = 1; i < 5; i++) {
		PmValue v = pm_node_in(p->g, n, i);

		memset(&in[i], 0, sizeof in[i]);
		in[i].loc = pm__loc(p, v);
		in[i].dtype = pm__type(p, v)->dtype;
		in[i].numel = pm__distinct(pm__type(p, v), in[i].loc);
		in[i].stride[1] = in[i].loc->stride[0];
	}
	begin(&k, p, n, t->dtype, label);
	pm__kg_f64(&k, "eps", pm_node_f(p->g, n, "epsilon", 1e-5));
	return pm__vec_launch(&k, label, &out, in, 5, text, pm_op_flops(p->g, n), err);
}

PmStatus eager_lrn(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t inner = 1;
	Loc xl;
	PmStatus st = pm__make_contiguous(p, n, x, &xl, err);
	char label[96];
	KGen k;

	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	for (int d = 2; d < t->rank; d++)
		inner *= t->dim[d];
	begin(&k, p, n, t->dtype, label);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", &xl, t->dtype, pm__numel(p, x));
	pm__kg_int(&k, "n", pm__numel(p, y));
	pm__kg_divisor(&k, "channels", t->dim[1]);
	pm__kg_divisor(&k, "inner", inner);
	pm__kg_int(&k, "size", pm_node_i(p->g, n, "size", 1));
	pm__kg_f64(&k, "alpha", pm_node_f(p->g, n, "alpha", 1e-4));
	pm__kg_f64(&k, "beta", pm_node_f(p->g, n, "beta", 0.75));
	pm__kg_f64(&k, "bias", pm_node_f(p->g, n, "bias", 1));
	return pm__kg_launch(&k, label, lrn_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}
