/* SPDX-License-Identifier: Apache-2.0 */
/* infer_eval.c - evaluates operators that move elements of small integer values. */
#include "ir/core/element.h"
#include "ir/infer/infer_fold_priv.h"

#include <string.h>

/* Fills the result from src: element (i0, i1, ...) is src[offset + i0 * stride[0] + ...]. */
static PmStatus copy_strided(PmEval *e, const PmElem *src, int64_t offset, const int64_t *stride)
{
	int64_t idx[PM_MAX_RANK] = { 0 }, at = offset;
	size_t i;
	int d;

	if (!src)
		return PM_DECLINED;
	for (i = 0; i < e->n; i++) {
		e->out[i] = src[at];
		for (d = e->type->rank - 1; d >= 0; d--) {
			at += stride[d];
			if (++idx[d] < e->type->dim[d])
				break;
			at -= stride[d] * e->type->dim[d];
			idx[d] = 0;
		}
	}
	return PM_OK;
}

/* Row-major strides of a static type. */
static void strides_of(const PmType *t, int64_t *stride)
{
	int64_t s = 1;
	int d;

	for (d = t->rank - 1; d >= 0; d--) {
		stride[d] = s;
		s *= t->dim[d];
	}
}

/* Whether the result's type follows from shape operand k. Where it does not, inference leaves the result the
 * type it had, and that proves nothing. */
static int shape_known(PmEval *e, size_t k)
{
	const PmElem *s = pm__eval_in(e, k);
	int64_t i;

	for (i = 0; s && i < pm__eval_type(e, k)->dim[0]; i++) {
		if (s[i].kind != PM_ELEM_INT)
			return 0;
	}
	return s != NULL;
}

static PmStatus eval_copy(PmEval *e)
{
	const PmElem *src = pm__eval_in(e, 0);

	if (!src)
		return PM_DECLINED;
	memcpy(e->out, src, e->n * sizeof *src);
	return PM_OK;
}

static PmStatus eval_reshape(PmEval *e)
{
	return shape_known(e, 1) ? eval_copy(e) : PM_DECLINED;
}

static PmStatus eval_shape(PmEval *e)
{
	const PmType *x = pm__eval_type(e, 0);
	int64_t start = pm_node_i(e->g, e->node, "start", 0);
	size_t i;

	if (x->rank < 0)
		return PM_DECLINED;
	if (start < 0)
		start = start < -x->rank ? 0 : start + x->rank;
	for (i = 0; i < e->n; i++) {
		PmDim d = x->dim[(size_t)start + i];

		e->out[i] = (PmElem){ d < 0 ? PM_ELEM_DIM : PM_ELEM_INT, d };
	}
	return PM_OK;
}

static PmStatus eval_size(PmEval *e)
{
	const PmType *x = pm__eval_type(e, 0);
	int64_t n;

	if (!pm_type_is_static(x) || pm_type_numel(x, &n, NULL))
		return PM_DECLINED;
	e->out[0] = (PmElem){ PM_ELEM_INT, n };
	return PM_OK;
}

static PmStatus eval_constant_of_shape(PmEval *e)
{
	const PmAttr *a = pm_node_attr(e->g, e->node, "value");
	int64_t v;
	size_t i;

	if (!a || a->kind != PM_ATTR_TENSOR || !a->blob || !a->blob->data || !shape_known(e, 0))
		return PM_DECLINED;
	v = pm_int_load(a->type.dtype, a->blob->data);
	for (i = 0; i < e->n; i++)
		e->out[i] = (PmElem){ PM_ELEM_INT, v };
	return PM_OK;
}

static PmStatus eval_transpose(PmEval *e)
{
	const PmElem *src = pm__eval_in(e, 0);
	int64_t from[PM_MAX_RANK], stride[PM_MAX_RANK];
	const int64_t *perm;
	int d;

	if (!src)
		return PM_DECLINED;
	pm_node_ints(e->g, e->node, "perm", &perm);
	strides_of(pm__eval_type(e, 0), from);
	for (d = 0; d < e->type->rank; d++)
		stride[d] = from[perm[d]];
	return copy_strided(e, src, 0, stride);
}

static PmStatus eval_expand(PmEval *e)
{
	const PmElem *src = pm__eval_in(e, 0);
	const PmType *x = pm__eval_type(e, 0);
	int64_t from[PM_MAX_RANK], stride[PM_MAX_RANK];
	int d, lead = e->type->rank - x->rank;

	if (!src || !shape_known(e, 1))
		return PM_DECLINED;
	strides_of(x, from);
	for (d = 0; d < e->type->rank; d++)
		stride[d] = d < lead || x->dim[d - lead] == 1 ? 0 : from[d - lead];
	return copy_strided(e, src, 0, stride);
}

static PmStatus eval_slice(PmEval *e)
{
	const PmElem *src = pm__eval_in(e, 0);
	const PmType *x = pm__eval_type(e, 0);
	const int64_t *starts, *ends, *axes, *steps;
	int64_t stride[PM_MAX_RANK], offset = 0;
	size_t i, n;

	if (!src)
		return PM_DECLINED;
	n = pm_node_ints(e->g, e->node, "axes", &axes);
	pm_node_ints(e->g, e->node, "starts", &starts);
	pm_node_ints(e->g, e->node, "ends", &ends);
	pm_node_ints(e->g, e->node, "steps", &steps);
	strides_of(x, stride);
	for (i = 0; i < n && e->n; i++) {
		int64_t start = starts[i], d = x->dim[axes[i]], step = steps[i];

		pm__slice_range(d, &start, ends[i], step);
		offset += start * stride[axes[i]];
		/* A step beyond the dimension is never taken. */
		stride[axes[i]] *= step > d ? d : step < -d ? -d : step;
	}
	return copy_strided(e, src, offset, stride);
}

static PmStatus eval_split(PmEval *e)
{
	const PmElem *src = pm__eval_in(e, 0);
	const int64_t *split;
	int64_t stride[PM_MAX_RANK], axis = pm_node_i(e->g, e->node, "axis", 0), at = 0;
	size_t k;

	if (!src)
		return PM_DECLINED;
	pm_node_ints(e->g, e->node, "split", &split);
	for (k = 0; k < e->result; k++)
		at += split[k];
	strides_of(pm__eval_type(e, 0), stride);
	return copy_strided(e, src, at * stride[axis], stride);
}

/* Products of the dimensions before and from `axis` on. */
static void around(const PmType *t, int64_t axis, size_t *outer, size_t *inner)
{
	int d;

	*outer = *inner = 1;
	for (d = 0; d < t->rank; d++)
		*(d < axis ? outer : inner) *= (size_t)t->dim[d];
}

static PmStatus eval_concat(PmEval *e)
{
	int64_t axis = pm_node_i(e->g, e->node, "axis", 0);
	size_t k, o, outer, row, part, at = 0, n_in = pm_node_n_in(e->g, e->node);

	around(e->type, axis, &outer, &row);
	for (k = 0; k < n_in; k++) {
		const PmElem *src = pm__eval_in(e, k);

		if (!src)
			return PM_DECLINED;
		around(pm__eval_type(e, k), axis, &outer, &part);
		if (part > row - at)
			return PM_DECLINED;
		for (o = 0; o < outer && part; o++)
			memcpy(e->out + o * row + at, src + o * part, part * sizeof *src);
		at += part;
		pm__eval_forget(e);
	}
	return PM_OK;
}

static PmStatus eval_gather(PmEval *e)
{
	const PmElem *src = pm__eval_in(e, 0), *idx = pm__eval_in(e, 1);
	const PmType *x = pm__eval_type(e, 0);
	int64_t axis = pm_node_i(e->g, e->node, "axis", 0), d, i;
	size_t o, k, outer, row, n_idx, inner;

	if (!src || !idx)
		return PM_DECLINED;
	d = x->dim[axis];
	around(x, axis, &outer, &row);
	if (e->n == 0 || d == 0)
		return e->n ? PM_DECLINED : PM_OK;
	inner = row / (size_t)d;
	n_idx = e->n / (outer * inner);
	for (o = 0; o < outer; o++) {
		for (k = 0; k < n_idx * inner; k++) {
			PmElem at = idx[k / inner], *to = &e->out[o * n_idx * inner + k];

			i = at.kind == PM_ELEM_INT && at.v < 0 ? at.v + d : at.v;
			if (at.kind == PM_ELEM_INT && i >= 0 && i < d)
				*to = src[o * row + (size_t)i * inner + k % inner];
			else
				*to = (PmElem){ PM_ELEM_UNKNOWN, 0 };
		}
	}
	return PM_OK;
}

static PmStatus eval_range(PmEval *e)
{
	const PmElem *from = pm__eval_in(e, 0), *by = pm__eval_in(e, 2);
	size_t i;

	if (!from || !by || from->kind != PM_ELEM_INT || by->kind != PM_ELEM_INT)
		return PM_DECLINED;
	for (i = 0; i < e->n; i++)
		e->out[i] = (PmElem){ PM_ELEM_INT,
				      pm_int_wrap(e->type->dtype, from->v + (int64_t)i * by->v) };
	return PM_OK;
}

PmReads pm__eval_reads(PmOp op)
{
	static const unsigned char table[PM_N_OPS] = {
		[PM_OP_Shape] = PM_READS_TYPES,     [PM_OP_Size] = PM_READS_TYPES,
		[PM_OP_Identity] = PM_READS_FIRST,  [PM_OP_Reshape] = PM_READS_FIRST,
		[PM_OP_Flatten] = PM_READS_FIRST,   [PM_OP_Squeeze] = PM_READS_FIRST,
		[PM_OP_Unsqueeze] = PM_READS_FIRST, [PM_OP_Transpose] = PM_READS_FIRST,
		[PM_OP_Expand] = PM_READS_FIRST,    [PM_OP_Slice] = PM_READS_FIRST,
		[PM_OP_Split] = PM_READS_FIRST,     [PM_OP_Gather] = PM_READS_FIRST,
		[PM_OP_Concat] = PM_READS_ANY,      [PM_OP_Range] = PM_READS_ANY,
		[PM_OP_Where] = PM_READS_ANY,       [PM_OP_Mul] = PM_READS_ANY, /* by zero */
	};

	return (PmReads)table[op];
}

PmEvalFn pm__eval_fn(PmOp op)
{
	static const PmEvalFn table[PM_N_OPS] = {
		[PM_OP_Identity] = eval_copy,       [PM_OP_Reshape] = eval_reshape,
		[PM_OP_Flatten] = eval_copy,        [PM_OP_Squeeze] = eval_copy,
		[PM_OP_Unsqueeze] = eval_copy,      [PM_OP_Shape] = eval_shape,
		[PM_OP_Size] = eval_size,           [PM_OP_ConstantOfShape] = eval_constant_of_shape,
		[PM_OP_Transpose] = eval_transpose, [PM_OP_Expand] = eval_expand,
		[PM_OP_Slice] = eval_slice,         [PM_OP_Split] = eval_split,
		[PM_OP_Concat] = eval_concat,       [PM_OP_Gather] = eval_gather,
		[PM_OP_Range] = eval_range,
	};

	return table[op] ? table[op] : pm__eval_ew_fn(op);
}
