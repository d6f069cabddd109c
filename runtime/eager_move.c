/* eager_move.c - operators that move elements: views where strides can say it, kernels where not. */
#include "runtime/plan_priv.h"

#include "kernels/gather.cu.h"
#include "kernels/pad.cu.h"

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

enum { CONCAT_MAX = 8 }; /* operands of one concatenation kernel */

/* One launch for up to CONCAT_MAX operands, written from position `at` of the axis on. */
static PmStatus concat_some(PmPlan *p, PmNode n, size_t first, size_t count, int64_t at, int64_t extent,
			    PmErr *err)
{
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), dims[PM_MAX_RANK], threads = 1, start = 0;
	PmStr body = PM_STR_INIT;
	PmStatus st;
	char name[32];
	KGen k;

	memcpy(dims, t->dim, sizeof dims);
	dims[axis] = extent;
	for (int d = 0; d < t->rank; d++)
		threads *= dims[d];
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, threads);
	pm__kg_int(&k, "total", threads);
	pm__kg_int(&k, "at", at);
	pm__kg_list(&k, "yd", dims, t->rank);
	pm__kg_list(&k, "ys", pm__loc(p, y)->stride, t->rank);
	pm_str_addf(&body,
		    "extern \"C\" __global__ void k(PARAMS)\n{\n\tI t = TID, j;\n\n\tif (t >= "
		    "total)\n\t\treturn;\n"
		    "\tI off = pm_off%d(t, V_yd, V_ys) + at * ys_%d;\n\tj = t",
		    t->rank, (int)axis);
	for (int d = t->rank - 1; d > axis; d--)
		pm_str_addf(&body, " / yd_%d", d);
	pm_str_addf(&body, " %% yd_%d;\n", (int)axis);
	for (size_t i = 0; i < count; i++) {
		PmValue v = pm_node_in(p->g, n, first + i);

		snprintf(name, sizeof name, "x%zu", i);
		pm__kg_in(&k, name, pm__loc(p, v), t->dtype, pm__distinct(pm__type(p, v), pm__loc(p, v)));
		snprintf(name, sizeof name, "x%zu_s", i);
		pm__kg_list(&k, name, pm__loc(p, v)->stride, t->rank);
		snprintf(name, sizeof name, "from%zu", i);
		pm__kg_int(&k, name, start);
		start += pm__type(p, v)->dim[axis];
		/* What is left belongs to the last operand. */
		if (i + 1 < count)
			pm_str_addf(&body, "\tif (j < from%zu) {\n", i + 1);
		pm_str_addf(&body, "\ty[off] = x%zu[pm_off%d(t, V_yd, V_x%zu_s) - from%zu * x%zu_s_%d];\n", i,
			    t->rank, i, i, i, (int)axis);
		if (i + 1 < count)
			pm_str_add(&body, "\treturn;\n\t}\n");
	}
	pm_str_add(&body, "}\n");
	snprintf(name, sizeof name, "eager Concat %s", pm_dtype_name(t->dtype));
	st = pm__kg_launch(&k, name, body.s, threads, 0, err);
	pm_str_release(&body);
	return st;
}

PmStatus eager_concat(PmPlan *p, PmNode n, PmErr *err)
{
	PmStatus st = pm__place(p, pm_node_out(p->g, n, 0), err);
	size_t n_in = pm_node_n_in(p->g, n);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), at = 0;

	for (size_t i = 0; i < n_in && !st; i += CONCAT_MAX) {
		size_t count = n_in - i < CONCAT_MAX ? n_in - i : CONCAT_MAX;
		int64_t extent = 0;

		for (size_t j = 0; j < count; j++)
			extent += pm__type(p, pm_node_in(p->g, n, i + j))->dim[axis];
		st = concat_some(p, n, i, count, at, extent, err);
		at += extent;
	}
	return st;
}

PmStatus eager_gather(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = in0(p, n), idx = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *it = pm__type(p, idx);
	const int64_t *xs = pm__loc(p, x)->stride, *is = pm__loc(p, idx)->stride, *tail;
	int axis = (int)pm_node_i(p->g, n, "axis", 0);
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	tail = xs + axis + 1;
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	/* At most what the result needs is read. */
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype,
		  pm__numel(p, y) < pm__distinct(t, pm__loc(p, x)) ? pm__numel(p, y)
								   : pm__distinct(t, pm__loc(p, x)));
	pm__kg_in(&k, "idx", pm__loc(p, idx), it->dtype, pm__numel(p, idx));
	pm__kg_space(&k, "o", t->dim, axis, &xs, 1);
	pm__kg_space(&k, "i", it->dim, it->rank, &is, 1);
	pm__kg_space(&k, "r", t->dim + axis + 1, t->rank - axis - 1, &tail, 1);
	pm__kg_int(&k, "axis_dim", t->dim[axis]);
	pm__kg_int(&k, "axis_stride", xs[axis]);
	pm__kg_int(&k, "total", pm__numel(p, y));
	snprintf(label, sizeof label, "eager Gather %s", pm_dtype_name(t->dtype));
	return pm__kg_launch(&k, label, gather_cu, pm__numel(p, y), 0, err);
}

PmStatus eager_pad(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = in0(p, n), value = pm_node_in(p->g, n, 1), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *yt = pm__type(p, y);
	const char *mode = pm_node_s(p->g, n, "mode", "constant");
	const int64_t *pads;
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	if (!t->rank)
		return view(p, n, pm__loc(p, x));
	if (strcmp(mode, "constant") && strcmp(mode, "edge") && strcmp(mode, "reflect"))
		return pm_err(err, PM_E_UNSUPPORTED, "Node %u (Pad) has mode '%.40s', which has no kernel.",
			      n.id, mode);
	pm_node_ints(p->g, n, "pads", &pads);
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_define(&k, "RANK", "%d", t->rank);
	pm__kg_define(&k, "MODE", "%d", !strcmp(mode, "constant") ? 0 : (!strcmp(mode, "edge") ? 1 : 2));
	pm__kg_define(&k, "X", "%s", pm__ctype(t->dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
	if (value.id) {
		pm__kg_define(&k, "HAS_VALUE", "1");
		pm__kg_in(&k, "value", pm__loc(p, value), t->dtype, 1);
	}
	pm__kg_list(&k, "yd", yt->dim, t->rank);
	pm__kg_list(&k, "xd", t->dim, t->rank);
	pm__kg_list(&k, "xs", pm__loc(p, x)->stride, t->rank);
	pm__kg_list(&k, "lo", pads, t->rank);
	pm__kg_int(&k, "total", pm__numel(p, y));
	snprintf(label, sizeof label, "eager Pad %s", pm_dtype_name(t->dtype));
	return pm__kg_launch(&k, label, pad_cu, pm__numel(p, y), 0, err);
}

/* Each dimension of extent d repeated r times is the pair (r, d) walked with strides (0, s). */
PmStatus eager_tile(PmPlan *p, PmNode n, PmErr *err)
{
	static const char text[] = "extern \"C\" __global__ void k(PARAMS)\n{\n\tconst I t = TID;\n\n"
				   "\tif (t < N_o)\n\t\ty[t] = x[OFF_o_0(t)];\n}\n";
	PmValue x = in0(p, n), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *yt = pm__type(p, y);
	int64_t dims[2 * PM_MAX_RANK], strides[2 * PM_MAX_RANK];
	const int64_t *row = strides;
	int rank = 0;
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	for (int d = 0; d < t->rank; d++) {
		int64_t times = t->dim[d] ? yt->dim[d] / t->dim[d] : 0;

		if (times != 1) {
			dims[rank] = times;
			strides[rank++] = 0;
		}
		if (t->dim[d] != 1) {
			dims[rank] = t->dim[d];
			strides[rank++] = pm__loc(p, x)->stride[d];
		}
	}
	if (rank > PM_MAX_RANK)
		return pm_err(err, PM_E_UNSUPPORTED,
			      "Node %u (Tile) repeats %d dimensions; kernels walk at most %d.", n.id, rank,
			      PM_MAX_RANK);
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
	pm__kg_space(&k, "o", dims, rank, &row, 1);
	snprintf(label, sizeof label, "eager Tile %s", pm_dtype_name(t->dtype));
	return pm__kg_launch(&k, label, text, pm__numel(p, y), 0, err);
}

/* A copy whose result is walked as (n, c, h, block row, w, block column), or (n, block, c, h, w) and back. */
PmStatus eager_depth_to_space(PmPlan *p, PmNode n, PmErr *err)
{
	static const char text[] = "extern \"C\" __global__ void k(PARAMS)\n{\n\tconst I t = TID;\n\n"
				   "\tif (t < N_o)\n\t\ty[t] = x[OFF_o_0(t)];\n}\n";
	PmValue x = in0(p, n), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x), *yt = pm__type(p, y);
	int to_space = pm_node_op(p->g, n) == PM_OP_DepthToSpace;
	int crd = strcmp(pm_node_s(p->g, n, "mode", "DCR"), "CRD") == 0;
	int64_t b = pm_node_i(p->g, n, "blocksize", 1), ch = to_space ? yt->dim[1] : t->dim[1];
	const int64_t *xs = pm__loc(p, x)->stride;
	int64_t to[6] = { yt->dim[0], ch, t->dim[2], b, t->dim[3], b };
	int64_t to_s[6] = { xs[0], xs[1] * (crd ? b * b : 1), xs[2], xs[1] * (crd ? b : b * ch),
			    xs[3], xs[1] * (crd ? 1 : ch) };
	int64_t from[6] = { yt->dim[0], b, b, ch, yt->dim[2], yt->dim[3] };
	int64_t from_s[6] = { xs[0], xs[2], xs[3], xs[1], xs[2] * b, xs[3] * b };
	const int64_t *row = to_space ? to_s : from_s;
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), t->dtype, pm__distinct(t, pm__loc(p, x)));
	pm__kg_space(&k, "o", to_space ? to : from, 6, &row, 1);
	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(t->dtype));
	return pm__kg_launch(&k, label, text, pm__numel(p, y), 0, err);
}

/* One element everywhere: the tensor attribute's bits, or a dimension known when planning. */
static PmStatus fill(PmPlan *p, PmNode n, PmValue y, const int64_t *per_element, double value, PmErr *err)
{
	const PmType *t = pm__type(p, y);
	PmStr body = PM_STR_INIT;
	PmStatus st = pm__place(p, y, err);
	char label[96];
	KGen k;

	if (st)
		return st;
	pm__kg_init(&k, p, n, t->dtype);
	pm__kg_out(&k, "y", pm__loc(p, y), t->dtype, pm__numel(p, y));
	pm__kg_int(&k, "total", pm__numel(p, y));
	if (per_element) {
		pm__kg_list(&k, "v", per_element, (int)t->dim[0]);
		pm_str_add(&body, "extern \"C\" __global__ void k(PARAMS)\n{\n\tconst I v[] = { V_v };\n\n"
				  "\tif (TID < total)\n\t\ty[TID] = v[TID];\n}\n");
	} else {
		pm__kg_f64(&k, "value", value);
		pm_str_add(&body, "extern \"C\" __global__ void k(PARAMS)\n{\n\tif (TID < total)\n\t\t"
				  "pm_st(&y[TID], value);\n}\n");
	}
	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(t->dtype));
	st = pm__kg_launch(&k, label, body.s, pm__numel(p, y), 0, err);
	pm_str_release(&body);
	return st;
}

PmStatus eager_shape(PmPlan *p, PmNode n, PmErr *err)
{
	const PmType *t = pm__type(p, in0(p, n));
	PmValue y = pm_node_out(p->g, n, 0);
	int64_t start = pm_node_i(p->g, n, "start", 0);

	start = start < 0 ? start + t->rank : start;
	start = start < 0 ? 0 : (start > t->rank ? t->rank : start);
	return fill(p, n, y, t->dim + start, 0, err);
}

PmStatus eager_size(PmPlan *p, PmNode n, PmErr *err)
{
	return fill(p, n, pm_node_out(p->g, n, 0), NULL, (double)pm__numel(p, in0(p, n)), err);
}

PmStatus eager_constant_of_shape(PmPlan *p, PmNode n, PmErr *err)
{
	const PmAttr *a = pm_node_attr(p->g, n, "value");
	PmValue y = pm_node_out(p->g, n, 0);
	PmTensor t = { 0 };
	double v = 0;

	if (a && a->kind == PM_ATTR_TENSOR && a->blob->data) {
		t.type = a->type;
		t.data = (void *)(uintptr_t)a->blob->data; /* only read */
		t.bytes = a->blob->size;
		v = pm_tensor_get(&t, 0);
		if (!pm_dtype_is_float(a->type.dtype) && (int64_t)v != pm_tensor_get_i(&t, 0))
			return pm_err(err, PM_E_UNSUPPORTED,
				      "Node %u (ConstantOfShape) fills with an integer beyond 2^53, which "
				      "has no kernel.",
				      n.id);
	}
	return fill(p, n, y, NULL, v, err);
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
