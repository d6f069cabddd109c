/* SPDX-License-Identifier: Apache-2.0 */
/* eager_index.c - operators that read elements at places given by another tensor. */
#include "runtime/exec/plan_priv.h"

#include "kernels/gather_elements.cu.h"
#include "kernels/gather_nd.cu.h"
#include "runtime/ref/ref.h"

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
	return pm__kg_launch_op(&k, gather_elements_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
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
	return pm__kg_launch_op(&k, gather_nd_cu, pm__numel(p, y), pm_op_flops(p->g, n), err);
}
