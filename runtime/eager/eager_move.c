/* SPDX-License-Identifier: Apache-2.0 */
/* eager_move.c - operators that are views where strides can say it; constants; what has no kernel. */
#include "runtime/exec/plan_priv.h"

#include <stdio.h>
#include <string.h>

static PmValue in0(const PmPlan *p, PmNode n)
{
	return pm_node_in(p->g, n, 0);
}

static PmStatus view(PmPlan *p, PmNode n, const Loc *l)
{
	pm__place_view(p, n, pm_node_out(p->g, n, 0), l);
	return PM_OK;
}

PmStatus eager_identity(PmPlan *p, PmNode n, PmErr *err)
{
	(void)err;
	return view(p, n, pm__loc(p, in0(p, n)));
}

/* Elements are as wide as before, so that places and strides stay. */
PmStatus eager_bit_cast(PmPlan *p, PmNode n, PmErr *err)
{
	return eager_identity(p, n, err);
}

PmStatus eager_transpose(PmPlan *p, PmNode n, PmErr *err)
{
	const Loc *x = pm__loc(p, in0(p, n));
	Loc l = *x;
	const int64_t *perm;
	size_t rank = pm_node_ints(p->g, n, "perm", &perm);

	(void)err;
	for (size_t d = 0; d < rank && d < PM_MAX_RANK; d++)
		l.stride[d] = x->stride[perm[d]];
	return view(p, n, &l);
}

/* Strides of the same elements under other dimensions, when the old strides allow it (PM_DECLINED if not):
 * each new dimension must be a piece of one old dimension or a product of neighbours walked alike. */
static PmStatus reshape_strides(const PmType *from, const Loc *x, const PmType *to, int64_t *out)
{
	int64_t dims[PM_MAX_RANK], strides[PM_MAX_RANK];
	int n = 0, i = 0, d = 0;

	for (int k = 0; k < from->rank; k++) {
		if (from->dim[k] == 1)
			continue;
		if (n && strides[n - 1] == x->stride[k] * from->dim[k]) {
			dims[n - 1] *= from->dim[k];
			strides[n - 1] = x->stride[k];
		} else {
			dims[n] = from->dim[k];
			strides[n++] = x->stride[k];
		}
	}
	for (d = 0; d < to->rank; d++) {
		out[d] = 0;
		if (to->dim[d] == 1)
			continue;
		while (i < n && dims[i] == 1)
			i++;
		if (i == n || dims[i] % to->dim[d])
			return PM_DECLINED;
		dims[i] /= to->dim[d];
		out[d] = strides[i] * dims[i];
	}
	return PM_OK;
}

PmStatus eager_reshape(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = in0(p, n), y = pm_node_out(p->g, n, 0);
	Loc l = *pm__loc(p, x);

	memset(l.stride, 0, sizeof l.stride);
	if (pm__numel(p, y) == 0 ||
	    reshape_strides(pm__type(p, x), pm__loc(p, x), pm__type(p, y), l.stride)) {
		PmStatus st = pm__make_contiguous(p, n, x, &l, err);

		if (st)
			return st;
		pm__contiguous_strides(pm__type(p, y), l.stride);
	}
	return view(p, n, &l);
}

PmStatus eager_expand(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *from = pm__type(p, in0(p, n)), *to = pm__type(p, pm_node_out(p->g, n, 0));
	const Loc *x = pm__loc(p, in0(p, n));
	int lead = to->rank - from->rank;
	Loc l = *x;

	(void)err;
	for (int d = 0; d < to->rank; d++)
		l.stride[d] = d < lead || (from->dim[d - lead] == 1 && to->dim[d] != 1) ? 0
											: x->stride[d - lead];
	return view(p, n, &l);
}

PmStatus eager_slice(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *t = pm__type(p, in0(p, n));
	Loc l = *pm__loc(p, in0(p, n));
	const int64_t *starts, *axes, *steps;
	size_t cnt = pm_node_ints(p->g, n, "starts", &starts);

	(void)err;
	pm_node_ints(p->g, n, "axes", &axes);
	pm_node_ints(p->g, n, "steps", &steps);
	for (size_t i = 0; i < cnt; i++) {
		int64_t dim = t->dim[axes[i]], start = starts[i] < 0 ? starts[i] + dim : starts[i];
		int64_t last = steps[i] < 0 ? dim - 1 : dim;

		start = start < 0 ? 0 : (start > last ? last : start);
		l.off += start * l.stride[axes[i]];
		l.stride[axes[i]] *= steps[i];
	}
	if (pm__numel(p, pm_node_out(p->g, n, 0)) == 0)
		l.off = 0;
	return view(p, n, &l);
}

PmStatus eager_split(PmPlan *p, PmNode n, PmErr *err)
{
	Loc l = *pm__loc(p, in0(p, n));
	int64_t axis = pm_node_i(p->g, n, "axis", 0);

	(void)err;
	for (size_t i = 0; i < pm_node_n_out(p->g, n); i++) {
		PmValue y = pm_node_out(p->g, n, i);

		pm__place_view(p, n, y, &l);
		l.off += pm__type(p, y)->dim[axis] * l.stride[axis];
	}
	return PM_OK;
}

/* One value everywhere. */
static PmStatus fill(PmPlan *p, PmNode n, double value, PmErr *err)
{
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	PmVecOut out = { .loc = pm__loc(p, y), .dtype = t->dtype, .rank = t->rank, .dim = t->dim };
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_f64(&k, "value", value);
	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(t->dtype));
	return pm__vec_launch(&k, label, &out, NULL, 0, "\tpm_st(&q, value);\n", 0, err);
}

/* Dimensions that were known when planning. */
PmStatus eager_shape(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *t = pm__type(p, in0(p, n)), *yt = pm__type(p, pm_node_out(p->g, n, 0));
	PmValue y = pm_node_out(p->g, n, 0);
	int64_t start = pm_node_i(p->g, n, "start", 0);
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	start = start < 0 ? start + t->rank : start;
	start = start < 0 ? 0 : (start > t->rank ? t->rank : start);
	pm__kg_init(&k, p, n, yt->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), yt->dtype, pm__numel(p, y));
	pm__kg_list(&k, "v", t->dim + start, (int)yt->dim[0]);
	snprintf(label, sizeof label, "eager Shape %s", pm_dtype_name(yt->dtype));
	return pm__kg_launch(&k, label,
			     "KERNEL\n{\n\tconst I v[] = { V_v };\n\n"
			     "\tif (TID < (I)(sizeof v / sizeof v[0]))\n\t\ty[TID] = v[TID];\n}\n",
			     yt->dim[0], 0, err);
}

PmStatus eager_size(PmPlan *p, PmNode n, PmErr *err)
{
	return fill(p, n, (double)pm__numel(p, in0(p, n)), err);
}

PmStatus eager_constant_of_shape(PmPlan *p, PmNode n, PmErr *err)
{
	const PmAttr *a = pm_node_attr(p->g, n, "value");
	PmTensor t;
	double v = 0;

	if (pm_tensor_of_attr(&t, a)) {
		v = pm_tensor_get(&t, 0);
		if (!pm_dtype_is_float(a->type.dtype) && (int64_t)v != pm_tensor_get_i(&t, 0))
			return pm_err(err, PM_E_UNSUPPORTED,
				      "Node %u (ConstantOfShape) fills with an integer beyond 2^53, which "
				      "has no kernel.",
				      n.id);
	}
	return fill(p, n, v, err);
}

PmStatus eager_none(PmPlan *p, PmNode n, PmErr *err)
{
	PmStr what = PM_STR_INIT;
	PmStatus st;

	pm_node_describe(p->g, n, &what);
	st = pm_err(err, PM_E_UNSUPPORTED,
		    "%s is of an operator this program has no kernel for; cut the part before it with "
		    "--outputs, or extract"
		    " subgraphs without it.",
		    what.s);
	pm_str_release(&what);
	return st;
}
