/* eager_norm.c - reductions, softmax and normalisations. */
#include "runtime/plan_priv.h"

#include "kernels/batch_norm.cu.h"
#include "kernels/cum_sum.cu.h"
#include "kernels/group_norm.cu.h"
#include "kernels/layer_norm.cu.h"
#include "kernels/log_sum_exp.cu.h"
#include "kernels/lrn.cu.h"
#include "kernels/reduce.cu.h"
#include "kernels/softmax.cu.h"
#include "runtime/ref.h"

#include <stdio.h>
#include <string.h>

static void define_acc(KGen *k, int dtype)
{
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(dtype));
}

static void make_label(const PmPlan *p, PmNode n, int dtype, char label[96])
{
	snprintf(label, 96, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(dtype));
}

/* What distinguishes one reduction from another: start, step over (a, v), and the end over a. */
typedef struct Reduction {
	PmOp op;
	const char *init, *step, *fin;
	const char *iinit, *uinit; /* start for integers, and for uint64; NULL = as init */
} Reduction;

static const Reduction reductions[] = {
	{ PM_OP_ReduceSum, "0", "(a) + (v)", "(a)", NULL, NULL },
	{ PM_OP_ReduceMean, "0", "(a) + (v)", "pm_div(a, (A)N_r)", NULL, NULL },
	{ PM_OP_ReduceMax, "-(A)INFINITY", "((v) > (a) || (v) != (v) ? (v) : (a))", "(a)",
	  "(-0x7fffffffffffffffll - 1)", "0" },
	{ PM_OP_ReduceMin, "(A)INFINITY", "((v) < (a) || (v) != (v) ? (v) : (a))", "(a)",
	  "0x7fffffffffffffffll", "0xffffffffffffffffull" },
	{ PM_OP_ReduceProd, "1", "(a) * (v)", "(a)", NULL, NULL },
	{ PM_OP_ReduceL1, "0", "(a) + ((v) < 0 ? -(v) : (v))", "(a)", NULL, NULL },
	{ PM_OP_ReduceL2, "0", "(a) + (v) * (v)", "(A)sqrt((double)(a))", NULL, NULL },
	{ PM_OP_ReduceSumSquare, "0", "(a) + (v) * (v)", "(a)", NULL, NULL },
	{ PM_OP_ReduceLogSumExp, "0", "0", "0", NULL, NULL }, /* log_sum_exp.cu needs none of them */
	{ PM_OP_ReduceLogSum, "0", "(a) + (v)", "(A)log((double)(a))", NULL, NULL },
	{ PM_OP_GlobalAveragePool, "0", "(a) + (v)", "pm_div(a, (A)N_r)", NULL, NULL },
	{ PM_OP_GlobalMaxPool, "-(A)INFINITY", "((v) > (a) || (v) != (v) ? (v) : (a))", "(a)", NULL, NULL },
};

/* Reduces operand 0 over the dimensions marked in `over`. */
static PmStatus reduce_over(PmPlan *p, PmNode n, const int *over, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	const Loc *l = pm__loc(p, x);
	int64_t od[PM_MAX_RANK], os[PM_MAX_RANK], rd[PM_MAX_RANK], rs[PM_MAX_RANK];
	const int64_t *orow = os, *rrow = rs;
	const Reduction *red = NULL;
	const char *init;
	int no = 0, nr = 0, is_float = pm_dtype_is_float(t->dtype);
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
		if (reductions[i].op == pm_node_op(p->g, n))
			red = &reductions[i];
	if (st || !red)
		return st ? st
			  : pm_err(err, PM_E_UNSUPPORTED, "There is no kernel for %s.",
				   pm_node_op_name(p->g, n));
	for (int d = 0; d < t->rank; d++) {
		int64_t *dim = over[d] ? &rd[nr] : &od[no], *stride = over[d] ? &rs[nr++] : &os[no++];

		*dim = t->dim[d];
		*stride = l->stride[d];
	}
	pm__kg_init(&k, p, n, t->dtype);
	define_acc(&k, t->dtype);
	init = t->dtype == PM_U64 ? red->uinit : is_float ? NULL : red->iinit;
	pm__kg_define(&k, "INIT", "%s", init ? init : red->init);
	pm__kg_define(&k, "STEP(a, v)", "(%s)", red->step);
	pm__kg_define(&k, "FIN(a)", "%s", red->fin);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", l, t->dtype, pm__distinct(t, l));
	pm__kg_space(&k, "o", od, no, &orow, 1);
	pm__kg_space(&k, "r", rd, nr, &rrow, 1);
	make_label(p, n, t->dtype, label);
	return pm__kg_launch(&k, label,
			     pm_node_op(p->g, n) == PM_OP_ReduceLogSumExp ? log_sum_exp_cu : reduce_cu,
			     pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_reduce(PmPlan *p, PmNode n, PmErr *err)
{
	int over[PM_MAX_RANK] = { 0 };
	const int64_t *axes;
	size_t cnt = pm_node_ints(p->g, n, "axes", &axes);

	for (size_t i = 0; i < cnt; i++)
		if (axes[i] >= 0 && axes[i] < PM_MAX_RANK)
			over[axes[i]] = 1;
	return reduce_over(p, n, over, err);
}

PmStatus eager_global_pool(PmPlan *p, PmNode n, PmErr *err)
{
	int over[PM_MAX_RANK] = { 0 };

	for (int d = 2; d < pm__type(p, pm_node_in(p->g, n, 0))->rank; d++)
		over[d] = 1;
	return reduce_over(p, n, over, err);
}

PmStatus eager_softmax(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), dims[PM_MAX_RANK], xs[PM_MAX_RANK], ys[PM_MAX_RANK],
		rows = 1;
	const int64_t *strides[2] = { xs, ys };
	int rank = 0;
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	for (int d = 0; d < t->rank; d++) {
		if (d == axis)
			continue;
		dims[rank] = t->dim[d];
		xs[rank] = pm__loc(p, x)->stride[d];
		ys[rank++] = pm__loc(p, y)->stride[d];
		rows *= t->dim[d];
	}
	pm__kg_init(&k, p, n, t->dtype);
	define_acc(&k, t->dtype);
	if (pm_node_op(p->g, n) == PM_OP_LogSoftmax)
		pm__kg_define(&k, "LOG_SOFTMAX", "1");
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
	pm__kg_space(&k, "o", dims, rank, strides, 2);
	pm__kg_int(&k, "len", t->rank ? t->dim[axis] : 1);
	pm__kg_int(&k, "xs", t->rank ? pm__loc(p, x)->stride[axis] : 0);
	pm__kg_int(&k, "ys", t->rank ? pm__loc(p, y)->stride[axis] : 0);
	make_label(p, n, t->dtype, label);
	return pm__kg_launch(&k, label, softmax_cu, pm__numel(p, y) ? rows : 0, pm_op_flops(p->g, n), err);
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

PmStatus eager_layer_norm(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1), b = pm_node_in(p->g, n, 2);
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), len = 1, rows = 1, ws[PM_MAX_RANK] = { 0 },
		bs[PM_MAX_RANK] = { 0 };
	const int64_t *strides[2] = { ws, bs };
	static const char *const stat_name[] = { "", "y_mean", "y_inv" }, *const stat_define[] = {
		"", "HAS_MEAN", "HAS_INV"
	};
	Loc xl;
	PmStatus st = pm__make_contiguous(p, n, x, &xl, err);
	char label[96];
	KGen k;

	for (size_t i = 0; i < pm_node_n_out(p->g, n) && !st; i++)
		st = pm__place(p, pm_node_out(p->g, n, i), err);
	if (st)
		return st;
	for (int d = 0; d < t->rank; d++)
		*(d < axis ? &rows : &len) *= t->dim[d];
	weight_strides(p, w, t, axis, ws);
	if (b.id)
		weight_strides(p, b, t, axis, bs);
	pm__kg_init(&k, p, n, t->dtype);
	define_acc(&k, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	for (size_t i = 1; i < pm_node_n_out(p->g, n); i++) {
		PmValue o = pm_node_out(p->g, n, i);

		pm__kg_out(&k, stat_name[i], pm__loc(p, o), pm__type(p, o)->dtype, pm__numel(p, o));
		pm__kg_define(&k, stat_define[i], "1");
	}
	pm__kg_in(&k, "x", &xl, t->dtype, pm__numel(p, x));
	pm__kg_in(&k, "scale", pm__loc(p, w), pm__type(p, w)->dtype, pm__numel(p, w));
	if (b.id) {
		pm__kg_in(&k, "bias", pm__loc(p, b), pm__type(p, b)->dtype, pm__numel(p, b));
		pm__kg_define(&k, "HAS_BIAS", "1");
	}
	pm__kg_space(&k, "w", t->dim + axis, t->rank - (int)axis, strides, 2);
	pm__kg_int(&k, "rows", rows);
	pm__kg_int(&k, "len", len);
	pm__kg_f64(&k, "eps", pm_node_f(p->g, n, "epsilon", 1e-5));
	make_label(p, n, t->dtype, label);
	return pm__kg_launch(&k, label, layer_norm_cu, rows, pm_op_flops(p->g, n), err);
}

PmStatus eager_batch_norm(PmPlan *p, PmNode n, PmErr *err)
{
	static const char *const names[] = { "x", "scale", "bias", "mean", "var" };
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t channel[PM_MAX_RANK] = { 0 };
	const int64_t *strides[2] = { pm__loc(p, x)->stride, channel };
	PmStatus st = PM_OK;
	char label[96];
	KGen k;

	if (pm_node_i(p->g, n, "training_mode", 0) || pm_node_n_out(p->g, n) > 1)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Node %u (BatchNormalization) is in training mode, which has no kernel; use "
			      "--device ref.",
			      n.id);
	channel[1] = 1;
	st = pm__place(p, y, err);
	if (st)
		return st;
	pm__kg_init(&k, p, n, t->dtype);
	define_acc(&k, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	for (size_t i = 0; i < 5 && !st; i++) {
		PmValue v = pm_node_in(p->g, n, i);
		Loc l = *pm__loc(p, v);

		if (i)
			st = pm__make_contiguous(p, n, v, &l, err);
		pm__kg_in(&k, names[i], &l, pm__type(p, v)->dtype, pm__distinct(pm__type(p, v), &l));
	}
	if (st) {
		pm__kg_release(&k);
		return st;
	}
	pm__kg_space(&k, "o", t->dim, t->rank, strides, 2);
	pm__kg_f64(&k, "eps", pm_node_f(p->g, n, "epsilon", 1e-5));
	make_label(p, n, t->dtype, label);
	return pm__kg_launch(&k, label, batch_norm_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
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
	pm__kg_init(&k, p, n, t->dtype);
	define_acc(&k, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", &xl, t->dtype, pm__numel(p, x));
	pm__kg_int(&k, "n", pm__numel(p, y));
	pm__kg_int(&k, "channels", t->dim[1]);
	pm__kg_int(&k, "inner", inner);
	pm__kg_int(&k, "size", pm_node_i(p->g, n, "size", 1));
	pm__kg_f64(&k, "alpha", pm_node_f(p->g, n, "alpha", 1e-4));
	pm__kg_f64(&k, "beta", pm_node_f(p->g, n, "beta", 0.75));
	pm__kg_f64(&k, "bias", pm_node_f(p->g, n, "bias", 1));
	make_label(p, n, t->dtype, label);
	return pm__kg_launch(&k, label, lrn_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}

PmStatus eager_group_norm(PmPlan *p, PmNode n, PmErr *err)
{
	static const char *const names[] = { "scale", "bias" };
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t groups = pm_node_i(p->g, n, "num_groups", t->dim[1]), plane = 1, len;
	Loc l[3];
	PmStatus st = PM_OK;
	char label[96];
	KGen k;

	for (size_t i = 0; i < 3 && !st; i++)
		st = pm__make_contiguous(p, n, pm_node_in(p->g, n, i), &l[i], err);
	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	for (int d = 2; d < t->rank; d++)
		plane *= t->dim[d];
	len = groups ? t->dim[1] / groups * plane : 0;
	pm__kg_init(&k, p, n, t->dtype);
	define_acc(&k, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", &l[0], t->dtype, pm__numel(p, x));
	for (size_t i = 1; i < 3; i++)
		pm__kg_in(&k, names[i - 1], &l[i], t->dtype, t->dim[1]);
	pm__kg_int(&k, "rows", t->dim[0] * groups);
	pm__kg_int(&k, "groups", groups);
	pm__kg_int(&k, "plane", plane);
	pm__kg_int(&k, "len", len);
	pm__kg_f64(&k, "eps", pm_node_f(p->g, n, "epsilon", 1e-5));
	make_label(p, n, t->dtype, label);
	return pm__kg_launch(&k, label, group_norm_cu, pm__numel(p, y) ? t->dim[0] * groups : 0,
			     pm_op_flops(p->g, n), err);
}

PmStatus eager_cum_sum(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t axis, dims[PM_MAX_RANK], xs[PM_MAX_RANK], ys[PM_MAX_RANK], lines = 1;
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
		lines *= t->dim[d];
		dims[rank] = t->dim[d];
		xs[rank] = pm__loc(p, x)->stride[d];
		ys[rank++] = pm__loc(p, y)->stride[d];
	}
	pm__kg_init(&k, p, n, t->dtype);
	define_acc(&k, t->dtype);
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
	make_label(p, n, t->dtype, label);
	return pm__kg_launch(&k, label, cum_sum_cu, t->dim[axis] ? lines : 0, pm_op_flops(p->g, n), err);
}
