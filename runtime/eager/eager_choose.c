/* SPDX-License-Identifier: Apache-2.0 */
/* eager_choose.c - operators that choose or make entries: Hardmax, TopK, OneHot, ReverseSequence, EyeLike,
 * Range, NonZero, random numbers. */
#include "runtime/exec/plan_priv.h"

#include "kernels/eye_like.cu.h"
#include "kernels/hardmax.cu.h"
#include "kernels/non_zero.cu.h"
#include "kernels/one_hot.cu.h"
#include "kernels/random.cu.h"
#include "kernels/range.cu.h"
#include "kernels/reverse_sequence.cu.h"
#include "kernels/top_k.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

static void begin(KGen *k, PmPlan *p, PmNode n, int dtype)
{
	PmValue y = pm_node_out(p->g, n, 0);

	pm__kg_init(k, p, n, dtype);
	pm__kg_out(k, "y", pm__loc(p, y), pm__type(p, y)->dtype, pm__numel(p, y));
}

static PmStatus place_all(PmPlan *p, PmNode n, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < pm_node_n_out(p->g, n) && !st; k++)
		st = pm__place(p, pm_node_out(p->g, n, k), err);
	return st;
}

/* The lines along the node's axis: space "o" with the places of x and y, and len, xs, ys of the axis. A
 * scalar is a line of one. Returns the number of lines. */
static int64_t lines(KGen *k, PmValue x, PmValue y)
{
	const PmPlan *p = k->p;
	const PmType *t = pm__type(p, x);
	int axis = (int)pm_node_i(p->g, k->node, "axis", 0), rank = 0;
	int64_t dim[PM_MAX_RANK], xs[PM_MAX_RANK], ys[PM_MAX_RANK], count = 1;
	const int64_t *rows[2] = { xs, ys };

	for (int d = 0; d < t->rank; d++) {
		if (d == axis)
			continue;
		count *= t->dim[d];
		dim[rank] = t->dim[d];
		xs[rank] = pm__loc(p, x)->stride[d];
		ys[rank++] = pm__loc(p, y)->stride[d];
	}
	pm__kg_space(k, "o", dim, rank, rows, 2);
	pm__kg_int(k, "len", t->rank ? t->dim[axis] : 1);
	pm__kg_int(k, "xs", t->rank ? pm__loc(p, x)->stride[axis] : 0);
	pm__kg_int(k, "ys", t->rank ? pm__loc(p, y)->stride[axis] : 0);
	return count;
}

PmStatus eager_hardmax(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	PmStatus st = place_all(p, n, err);
	int64_t count;
	KGen k;

	if (st)
		return st;
	begin(&k, p, n, pm__type(p, x)->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(k.dtype));
	pm__kg_operand(&k, "x", x, pm__loc(p, x));
	count = lines(&k, x, y);
	return pm__kg_launch_op(&k, hardmax_cu, pm__numel(p, y) ? count : 0, pm_op_flops(p->g, n), err);
}

PmStatus eager_top_k(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0), idx = pm_node_out(p->g, n, 1);
	int axis = (int)pm_node_i(p->g, n, "axis", 0);
	PmStatus st = place_all(p, n, err);
	int64_t count;
	KGen k;

	if (st)
		return st;
	begin(&k, p, n, pm__type(p, x)->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(k.dtype));
	if (pm_node_i(p->g, n, "largest", 1))
		pm__kg_define(&k, "LARGEST", "1");
	if (idx.id) {
		pm__kg_define(&k, "HAS_INDEX", "1");
		pm__kg_out(&k, "idx", pm__loc(p, idx), PM_I64, pm__numel(p, idx));
	}
	pm__kg_operand(&k, "x", x, pm__loc(p, x));
	count = lines(&k, x, y);
	pm__kg_int(&k, "want", pm__type(p, y)->dim[axis]);
	return pm__kg_launch_op(&k, top_k_cu, pm__numel(p, y) ? count : 0, pm_op_flops(p->g, n), err);
}

PmStatus eager_one_hot(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), values = pm_node_in(p->g, n, 2), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	int axis = (int)pm_node_i(p->g, n, "axis", 0);
	int64_t inner = 1;
	Loc l;
	PmStatus st = pm__make_contiguous(p, n, x, &l, err);
	KGen k;

	if (!st)
		st = place_all(p, n, err);
	if (st)
		return st;
	for (int d = axis + 1; d < t->rank; d++)
		inner *= t->dim[d];
	begin(&k, p, n, t->dtype);
	pm__kg_operand(&k, "idx", x, &l);
	pm__kg_operand(&k, "values", values, pm__loc(p, values));
	pm__kg_int(&k, "vs", pm__loc(p, values)->stride[0]);
	pm__kg_int(&k, "inner", inner);
	pm__kg_int(&k, "depth", t->dim[axis]);
	pm__kg_int(&k, "total", pm__numel(p, y));
	return pm__kg_launch_op(&k, one_hot_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_reverse_sequence(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), len = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	const int64_t *xs = pm__loc(p, x)->stride, *rest = xs + 2;
	int batch = (int)pm_node_i(p->g, n, "batch_axis", 1);
	PmStatus st = place_all(p, n, err);
	KGen k;

	if (st)
		return st;
	begin(&k, p, n, t->dtype);
	pm__kg_define(&k, "BATCH", "%d", batch);
	pm__kg_operand(&k, "x", x, pm__loc(p, x));
	pm__kg_operand(&k, "lengths", len, pm__loc(p, len));
	pm__kg_space(&k, "r", t->dim + 2, t->rank - 2, &rest, 1);
	pm__kg_int(&k, "d1", t->dim[1]);
	pm__kg_int(&k, "bs", xs[batch]);
	pm__kg_int(&k, "ss", xs[1 - batch]);
	pm__kg_int(&k, "ls", pm__loc(p, len)->stride[0]);
	pm__kg_int(&k, "total", pm__numel(p, y));
	return pm__kg_launch_op(&k, reverse_sequence_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_eye_like(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	int64_t shift = pm_node_i(p->g, n, "k", 0);
	PmStatus st = place_all(p, n, err);
	KGen k;

	if (st)
		return st;
	/* Diagonals beyond the matrix are all alike. */
	shift = shift > t->dim[1] ? t->dim[1] : (shift < -t->dim[0] ? -t->dim[0] : shift);
	begin(&k, p, n, t->dtype);
	pm__kg_int(&k, "cols", t->dim[1]);
	pm__kg_int(&k, "shift", shift);
	pm__kg_int(&k, "total", pm__numel(p, y));
	return pm__kg_launch_op(&k, eye_like_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_range(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue from = pm_node_in(p->g, n, 0), step = pm_node_in(p->g, n, 2), y = pm_node_out(p->g, n, 0);
	int dtype = pm__type(p, y)->dtype;
	PmStatus st = place_all(p, n, err);
	KGen k;

	if (st)
		return st;
	begin(&k, p, n, dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm_dtype_is_float(dtype) ? "double" : pm__acc_type(dtype));
	pm__kg_operand(&k, "start", from, pm__loc(p, from));
	pm__kg_operand(&k, "step", step, pm__loc(p, step));
	pm__kg_int(&k, "total", pm__numel(p, y));
	return pm__kg_launch_op(&k, range_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_non_zero(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	const int64_t *row = pm__loc(p, x)->stride;
	PmStatus st = place_all(p, n, err);
	KGen k;

	if (st)
		return st;
	begin(&k, p, n, t->dtype);
	pm__kg_define(&k, "RANK", "%d", t->rank);
	pm__kg_operand(&k, "x", x, pm__loc(p, x));
	pm__kg_space(&k, "o", t->dim, t->rank, &row, 1);
	pm__kg_list(&k, "xd", t->dim, t->rank);
	pm__kg_int(&k, "want", pm__type(p, y)->dim[1]);
	return pm__kg_launch_op(&k, non_zero_cu, t->rank && pm__numel(p, x) ? PM__BLOCK : 0,
				pm_op_flops(p->g, n), err);
}

PmStatus eager_random(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue y = pm_node_out(p->g, n, 0);
	int normal = pm_node_op(p->g, n) == PM_OP_RandomNormalLike;
	PmStatus st = place_all(p, n, err);
	KGen k;

	if (st)
		return st;
	begin(&k, p, n, pm__type(p, y)->dtype);
	if (normal)
		pm__kg_define(&k, "NORMAL", "1");
	pm__kg_f64(&k, "seed", pm_node_f(p->g, n, "seed", 0));
	pm__kg_f64(&k, "a", pm_node_f(p->g, n, normal ? "mean" : "low", 0));
	pm__kg_f64(&k, "b", pm_node_f(p->g, n, normal ? "scale" : "high", 1));
	pm__kg_int(&k, "total", pm__numel(p, y));
	return pm__kg_launch_op(&k, random_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}
