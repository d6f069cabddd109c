/* SPDX-License-Identifier: Apache-2.0 */
/* eager_line.c - operators along one axis: CumSum, LpNormalization, DFT; and Trilu. */
#include "runtime/exec/plan_priv.h"

#include "kernels/cum_sum.cu.h"
#include "kernels/cum_sum_row.cu.h"
#include "kernels/dft.cu.h"
#include "kernels/lp_norm.cu.h"
#include "kernels/trilu.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

/* All dimensions of x but the axis (and those from `end` on), with strides of x and of y, if y has them. */
typedef struct Lines {
	int64_t dim[PM_MAX_RANK], xs[PM_MAX_RANK], ys[PM_MAX_RANK], count;
	int rank;
} Lines;

static void lines(const PmPlan *p, PmValue x, PmValue y, int axis, int end, Lines *l)
{
	const PmType *t = pm__type(p, x);

	memset(l, 0, sizeof *l);
	l->count = 1;
	for (int d = 0; d < end; d++) {
		if (d == axis)
			continue;
		l->dim[l->rank] = t->dim[d];
		l->xs[l->rank] = pm__loc(p, x)->stride[d];
		l->ys[l->rank++] = y.id ? pm__loc(p, y)->stride[d] : 0;
		l->count *= t->dim[d];
	}
}

static void begin(KGen *k, PmPlan *p, PmNode n)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *yt = pm__type(p, y);

	pm__kg_init(k, p, n, t->dtype);
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(t->dtype));
	pm__kg_out(k, "y", pm__loc(p, y), yt->dtype, pm__numel(p, y));
	pm__kg_in(k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
}

PmStatus eager_lp_norm(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	int axis = (int)pm_node_i(p->g, n, "axis", 0);
	PmStatus st = pm__place(p, y, err);
	const int64_t *rows[2];
	Lines l;
	KGen k;

	if (st)
		return st;
	lines(p, x, y, axis, pm__type(p, x)->rank, &l);
	rows[0] = l.xs;
	rows[1] = l.ys;
	begin(&k, p, n);
	pm__kg_define(&k, "P", "%d", (int)pm_node_i(p->g, n, "p", 2));
	pm__kg_space(&k, "o", l.dim, l.rank, rows, 2);
	pm__kg_int(&k, "len", pm__type(p, x)->dim[axis]);
	pm__kg_int(&k, "xs", pm__loc(p, x)->stride[axis]);
	pm__kg_int(&k, "ys", pm__loc(p, y)->stride[axis]);
	return pm__kg_launch_op(&k, lp_norm_cu, pm__numel(p, y) ? l.count : 0, pm_op_flops(p->g, n), err);
}

/* A constant operand of one integer; `dflt` when it is omitted. */
static PmStatus constant(const PmPlan *p, PmNode n, size_t k, int64_t dflt, int64_t *out, PmErr *err)
{
	PmValue v = k < pm_node_n_in(p->g, n) ? pm_node_in(p->g, n, k) : (PmValue){ 0 };
	size_t got = 0;

	*out = dflt;
	if (!v.id)
		return PM_OK;
	if (pm_value_const_ints(p->g, v, out, 1, &got) == PM_OK && got == 1)
		return PM_OK;
	return pm_err(
		err, PM_E_UNSUPPORTED,
		"Node %u (%s) has an operand %zu that is not constant, for which there is no kernel; use "
		"--device ref.",
		n.id, pm_node_op_name(p->g, n), k);
}

PmStatus eager_dft(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *yt = pm__type(p, y);
	int axis = (int)pm_node_i(p->g, n, "axis", 0);
	int64_t length, inner = 1;
	const int64_t *row;
	PmStatus st = constant(p, n, 1, t->dim[axis], &length, err);
	Lines l;
	KGen k;

	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	lines(p, x, (PmValue){ 0 }, axis, t->rank - 1, &l);
	row = l.xs;
	for (int d = axis + 1; d < t->rank - 1; d++)
		inner *= t->dim[d];
	begin(&k, p, n);
	if (t->dim[t->rank - 1] == 2)
		pm__kg_define(&k, "COMPLEX", "1");
	pm__kg_define(&k, "SIGN", "%s", pm_node_i(p->g, n, "inverse", 0) ? "1" : "-1");
	pm__kg_space(&k, "o", l.dim, l.rank, &row, 1);
	pm__kg_int(&k, "total", l.count * yt->dim[axis]);
	pm__kg_int(&k, "inner", inner);
	pm__kg_int(&k, "out_n", yt->dim[axis]);
	pm__kg_int(&k, "n", length);
	pm__kg_int(&k, "used", length < t->dim[axis] ? length : t->dim[axis]);
	pm__kg_int(&k, "xs", pm__loc(p, x)->stride[axis]);
	pm__kg_int(&k, "re", pm__loc(p, x)->stride[t->rank - 1]);
	return pm__kg_launch_op(&k, dft_cu, l.count * yt->dim[axis], pm_op_flops(p->g, n), err);
}

PmStatus eager_trilu(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	const int64_t *row = pm__loc(p, x)->stride;
	int64_t shift, rows = t->dim[t->rank - 2], cols = t->dim[t->rank - 1];
	PmStatus st = constant(p, n, 1, 0, &shift, err);
	KGen k;

	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	/* Diagonals beyond the matrix are all alike. */
	shift = shift > cols ? cols : (shift < -rows ? -rows : shift);
	begin(&k, p, n);
	pm__kg_define(&k, "X", "%s", pm__ctype(t->dtype));
	pm__kg_define(&k, "UPPER", "%d", pm_node_i(p->g, n, "upper", 1) != 0);
	pm__kg_space(&k, "o", t->dim, t->rank, &row, 1);
	pm__kg_divisor(&k, "rows", rows);
	pm__kg_divisor(&k, "cols", cols);
	pm__kg_int(&k, "shift", shift);
	return pm__kg_launch_op(&k, trilu_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_cum_sum(PmPlan *p, PmNode n, PmErr *err)
{
	enum { WARP = 32, ROW_MIN = 16 };
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t axis, dims[PM_MAX_RANK], xs[PM_MAX_RANK], ys[PM_MAX_RANK], count = 1;
	const int64_t *strides[2] = { xs, ys };
	size_t cnt = 0;
	int rank = 0;
	char label[96];
	PmStatus st;
	KGen k;

	if (pm_value_const_ints(p->g, pm_node_in(p->g, n, 1), &axis, 1, &cnt) || cnt != 1 ||
	    axis < -t->rank || axis >= t->rank)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Node %u (CumSum) has an axis that is not constant, for which there is no "
			      "kernel; use --device ref.",
			      n.id);
	axis += axis < 0 ? t->rank : 0;
	st = pm__place(p, y, err);
	if (st)
		return st;
	for (int d = 0; d < t->rank; d++) {
		if (d == axis)
			continue;
		count *= t->dim[d];
		dims[rank] = t->dim[d];
		xs[rank] = pm__loc(p, x)->stride[d];
		ys[rank++] = pm__loc(p, y)->stride[d];
	}
	pm__kg_init(&k, p, n, t->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(t->dtype));
	pm__kg_define(&k, "SUM(a, v)", pm_dtype_is_float(t->dtype) ? "((a) + (v))" : "iadd(a, v)");
	if (pm_node_i(p->g, n, "exclusive", 0))
		pm__kg_define(&k, "EXCLUSIVE", "1");
	if (pm_node_i(p->g, n, "reverse", 0))
		pm__kg_define(&k, "REVERSE", "1");
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
	pm__kg_space(&k, "o", dims, rank, strides, 2);
	pm__kg_int(&k, "len", t->dim[axis]);
	pm__kg_int(&k, "xs", pm__loc(p, x)->stride[axis]);
	pm__kg_int(&k, "ys", pm__loc(p, y)->stride[axis]);
	if (t->dim[axis] <= ROW_MIN || pm__loc(p, y)->stride[axis] != 1)
		return pm__kg_launch_op(&k, cum_sum_cu, t->dim[axis] ? count : 0, pm_op_flops(p->g, n), err);
	pm__kg_define(&k, "V", "%d", t->dim[axis] > 4 * WARP ? 4 : 1);
	snprintf(label, sizeof label, "eager CumSum %s", pm_dtype_name(t->dtype));
	return pm__kg_launch_grid(&k, label, cum_sum_row_cu,
				  (PmGrid){ count, 1, t->dim[axis] > 16 * WARP ? PM__BLOCK : WARP },
				  pm_op_flops(p->g, n), err);
}
