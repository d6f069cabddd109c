/* eager_index.c - operators that read or write elements at places given by another tensor. */
#include "runtime/plan_priv.h"

#include "kernels/gather_elements.cu.h"
#include "kernels/gather_nd.cu.h"
#include "kernels/scatter_elements.cu.h"
#include "kernels/scatter_find.cu.h"
#include "kernels/scatter_nd.cu.h"
#include "runtime/ref.h"

#include <stdio.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* An operand at a place; at most `most` of its elements are read. */
static void operand(KGen *k, const char *name, PmValue v, const Loc *l, int64_t most)
{
	const PmType *t = pm__type(k->p, v);

	pm__kg_in(k, name, l, t->dtype, least(most, pm__distinct(t, l)));
}

static PmStatus launch(KGen *k, const char *text, int64_t threads, PmErr *err)
{
	const PmPlan *p = k->p;
	PmNode n = k->node;
	char label[96];

	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(k->dtype));
	return pm__kg_launch(k, label, text, threads, pm_op_flops(p->g, n), err);
}

PmStatus eager_gather_elements(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), idx = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), xs[PM_MAX_RANK];
	const int64_t *strides[2] = { xs, pm__loc(p, idx)->stride };
	PmStatus st = pm__place(p, y, err);
	KGen k;

	if (st)
		return st;
	memcpy(xs, pm__loc(p, x)->stride, sizeof xs);
	xs[axis] = 0;
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	operand(&k, "x", x, pm__loc(p, x), pm__numel(p, y));
	operand(&k, "idx", idx, pm__loc(p, idx), INT64_MAX);
	pm__kg_space(&k, "o", t->dim, t->rank, strides, 2);
	pm__kg_int(&k, "axis_dim", pm__type(p, x)->dim[axis]);
	pm__kg_int(&k, "axis_stride", pm__loc(p, x)->stride[axis]);
	return launch(&k, gather_elements_cu, pm__numel(p, y), err);
}

PmStatus eager_gather_nd(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), idx = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *it = pm__type(p, idx);
	int batch = (int)pm_node_i(p->g, n, "batch_dims", 0), len = (int)it->dim[it->rank - 1];
	const int64_t *xs = pm__loc(p, x)->stride, *rest = xs + batch + len;
	int64_t per_batch = 1;
	Loc il;
	PmStatus st = pm__make_contiguous(p, n, idx, &il, err);
	KGen k;

	if (!st)
		st = pm__place(p, y, err);
	if (st)
		return st;
	for (int d = batch; d < it->rank - 1; d++)
		per_batch *= it->dim[d];
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_define(&k, "LEN", "%d", len);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	operand(&k, "x", x, pm__loc(p, x), pm__numel(p, y));
	operand(&k, "idx", idx, &il, INT64_MAX);
	pm__kg_space(&k, "b", t->dim, batch, &xs, 1);
	pm__kg_space(&k, "r", t->dim + batch + len, t->rank - batch - len, &rest, 1);
	pm__kg_list(&k, "xd", t->dim + batch, len);
	pm__kg_list(&k, "xs", xs + batch, len);
	pm__kg_int(&k, "per_batch", per_batch);
	pm__kg_int(&k, "total", pm__numel(p, y));
	return launch(&k, gather_nd_cu, pm__numel(p, y), err);
}

/* Begins a launch with the way that updates are joined with what is there, if there is one. */
static void begin_join(KGen *k, PmPlan *p, PmNode n)
{
	static const char *const joins[][2] = { { "add", "((a) + (v))" },
						{ "mul", "((a) * (v))" },
						{ "max", "((v) > (a) || (v) != (v) ? (v) : (a))" },
						{ "min", "((v) < (a) || (v) != (v) ? (v) : (a))" } };
	const PmType *t = pm__type(p, pm_node_in(p->g, n, 0));
	const char *mode = pm_node_s(p->g, n, "reduction", "none");

	pm__kg_init(k, p, n, t->dtype);
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(t->dtype));
	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		if (!strcmp(mode, joins[i][0]))
			pm__kg_define(k, "JOIN(a, v)", "%s", joins[i][1]);
}

/* Starts a launch that changes a copy of operand 0, which becomes the result. */
static PmStatus begin_scatter(KGen *k, PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	PmStatus st = pm__copy(p, n, t, pm__loc(p, x), pm__loc(p, y), err);

	if (st)
		return st;
	begin_join(k, p, n);
	pm__kg_out(k, "y", pm__loc(p, y), t->dtype,
		   least(pm__numel(p, y), pm__numel(p, pm_node_in(p->g, n, 2))));
	return PM_OK;
}

/* Updates may be looked for from the results when those are many and the updates of a line few, and the lines
 * of both the same. */
static int is_found(const PmPlan *p, PmNode n)
{
	enum { MOST_LOOKS = 64 << 20, FEW = 1024 };
	const PmType *t = pm__type(p, pm_node_out(p->g, n, 0)), *it = pm__type(p, pm_node_in(p->g, n, 1));
	int64_t axis = pm_node_i(p->g, n, "axis", 0), numel = pm__numel(p, pm_node_out(p->g, n, 0));

	for (int d = 0; d < t->rank; d++)
		if (d != axis && t->dim[d] != it->dim[d])
			return 0;
	return it->dim[axis] > 0 && it->dim[axis] <= FEW && numel * it->dim[axis] <= MOST_LOOKS;
}

static PmStatus find_updates(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), idx = pm_node_in(p->g, n, 1), u = pm_node_in(p->g, n, 2),
		y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), is[PM_MAX_RANK], us[PM_MAX_RANK], inner = 1;
	const int64_t *strides[3] = { pm__loc(p, x)->stride, is, us };
	PmStatus st = pm__place(p, y, err);
	KGen k;

	if (st)
		return st;
	memcpy(is, pm__loc(p, idx)->stride, sizeof is);
	memcpy(us, pm__loc(p, u)->stride, sizeof us);
	is[axis] = us[axis] = 0;
	for (int d = (int)axis + 1; d < t->rank; d++)
		inner *= t->dim[d];
	begin_join(&k, p, n);
	if (!strcmp(pm_node_s(p->g, n, "reduction", "none"), "none"))
		pm__kg_define(&k, "JOIN(a, v)", "(v)");
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	operand(&k, "x", x, pm__loc(p, x), INT64_MAX);
	operand(&k, "idx", idx, pm__loc(p, idx), INT64_MAX);
	operand(&k, "u", u, pm__loc(p, u), INT64_MAX);
	pm__kg_space(&k, "o", t->dim, t->rank, strides, 3);
	pm__kg_divisor(&k, "inner", inner);
	pm__kg_divisor(&k, "axis_dim", t->dim[axis]);
	pm__kg_int(&k, "len", pm__type(p, idx)->dim[axis]);
	pm__kg_int(&k, "is", pm__loc(p, idx)->stride[axis]);
	pm__kg_int(&k, "us", pm__loc(p, u)->stride[axis]);
	pm__kg_int(&k, "total", pm__numel(p, y));
	return launch(&k, scatter_find_cu, pm__numel(p, y), err);
}

PmStatus eager_scatter_elements(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue idx = pm_node_in(p->g, n, 1), u = pm_node_in(p->g, n, 2), y = pm_node_out(p->g, n, 0);
	const PmType *it = pm__type(p, idx);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), dims[PM_MAX_RANK], st3[3][PM_MAX_RANK], lines = 1;
	const int64_t *strides[3] = { st3[0], st3[1], st3[2] };
	int rank = 0;
	KGen k;
	PmStatus st = is_found(p, n) ? PM_DECLINED : begin_scatter(&k, p, n, err);

	if (st)
		return st == PM_DECLINED ? find_updates(p, n, err) : st;
	for (int d = 0; d < it->rank; d++) {
		if (d == axis)
			continue;
		lines *= it->dim[d];
		dims[rank] = it->dim[d];
		st3[0][rank] = pm__loc(p, y)->stride[d];
		st3[1][rank] = pm__loc(p, idx)->stride[d];
		st3[2][rank++] = pm__loc(p, u)->stride[d];
	}
	operand(&k, "idx", idx, pm__loc(p, idx), INT64_MAX);
	operand(&k, "u", u, pm__loc(p, u), INT64_MAX);
	pm__kg_space(&k, "o", dims, rank, strides, 3);
	pm__kg_int(&k, "len", it->dim[axis]);
	pm__kg_int(&k, "axis_dim", pm__type(p, y)->dim[axis]);
	pm__kg_int(&k, "ys", pm__loc(p, y)->stride[axis]);
	pm__kg_int(&k, "is", pm__loc(p, idx)->stride[axis]);
	pm__kg_int(&k, "us", pm__loc(p, u)->stride[axis]);
	return launch(&k, scatter_elements_cu, it->dim[axis] ? lines : 0, err);
}

PmStatus eager_scatter_nd(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue idx = pm_node_in(p->g, n, 1), u = pm_node_in(p->g, n, 2), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y), *it = pm__type(p, idx);
	int len = (int)it->dim[it->rank - 1];
	int64_t row = 1, tuples = 1, threads;
	Loc il, ul;
	KGen k;
	PmStatus st = pm__make_contiguous(p, n, idx, &il, err);

	if (!st)
		st = pm__make_contiguous(p, n, u, &ul, err);
	if (!st)
		st = begin_scatter(&k, p, n, err);
	if (st)
		return st;
	for (int d = len; d < t->rank; d++)
		row *= t->dim[d];
	for (int d = 0; d < it->rank - 1; d++)
		tuples *= it->dim[d];
	threads = strcmp(pm_node_s(p->g, n, "reduction", "none"), "none") ? row : row * tuples;
	pm__kg_define(&k, "LEN", "%d", len);
	operand(&k, "idx", idx, &il, INT64_MAX);
	operand(&k, "u", u, &ul, INT64_MAX);
	pm__kg_list(&k, "yd", t->dim, len);
	pm__kg_int(&k, "row", row);
	pm__kg_int(&k, "tuples", tuples);
	pm__kg_int(&k, "total", threads);
	return launch(&k, scatter_nd_cu, tuples ? threads : 0, err);
}
