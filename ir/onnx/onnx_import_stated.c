/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_import_stated.c - the types that a model states against those that its definition gives. */
#include "ir/onnx/onnx_source.h"

#include <stdio.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

/* ---- counting instead of refusing ---- */

typedef enum { SAME, RENAMED, LESS, OTHER } Verdict;

/* A size that only the data tells has a name in the model and a symbol here: one symbol for each name. Two
 * names may have one symbol, where inference sees that they are equal. */
static Verdict compare_name(PmImport *im, const char *name, PmDim have)
{
	size_t i;

	for (i = 0; i < im->stated_names.n; i++) {
		if (pm_str_eq(im->stated_names.v[i].name, name))
			return im->stated_names.v[i].dim == have ? RENAMED : LESS;
	}
	PM_VEC_PUSH(&im->stated_names, ((PmStatedName){ pm_arena_strdup(im->arena, name), have }));
	return RENAMED;
}

static Verdict compare_dim(PmImport *im, const Onnx__TensorShapeProto__Dimension *d, PmDim have)
{
	if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
		return have == d->dim_value ? SAME : have < 0 ? LESS : OTHER;
	if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && *text(d->dim_param)) {
		PmDim want = pm__import_dim(im, d->dim_param);

		if (have == want || have >= 0) /* a size where the model has a name says more */
			return SAME;
		return want < 0 ? compare_name(im, d->dim_param, have) : LESS;
	}
	return SAME;
}

static Verdict compare(PmImport *im, const PmType *t, const Onnx__TypeProto__Tensor *tp)
{
	Verdict worst = SAME;
	size_t k;

	if (tp->elem_type && pm_dtype_from_onnx(tp->elem_type) != t->dtype)
		return t->dtype < 0 ? LESS : OTHER;
	if (!tp->shape)
		return SAME;
	if (t->rank < 0)
		return LESS;
	if ((size_t)t->rank != tp->shape->n_dim)
		return OTHER;
	for (k = 0; k < tp->shape->n_dim; k++) {
		Verdict one = compare_dim(im, tp->shape->dim[k], t->dim[k]);

		worst = one > worst ? one : worst;
	}
	return worst;
}

static void describe(const Onnx__TypeProto__Tensor *tp, PmStr *out)
{
	size_t k;

	pm_str_addf(out, "%s[", pm__onnx_dtype_name(tp->elem_type));
	for (k = 0; tp->shape && k < tp->shape->n_dim; k++) {
		const Onnx__TensorShapeProto__Dimension *d = tp->shape->dim[k];

		if (k)
			pm_str_addc(out, ',');
		if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE)
			pm_str_addi(out, d->dim_value);
		else
			pm_str_addf(out, "%.40s", *text(d->dim_param) ? d->dim_param : "?");
	}
	pm_str_addc(out, ']');
}

static void compare_stated(PmImport *im, PmValue v, const Onnx__ValueInfoProto *info)
{
	PmOnnxStated *s = &im->report->stated;
	const PmType *t = pm_value_type(im->g, v);
	PmStr have = PM_STR_INIT, want = PM_STR_INIT;
	Verdict verdict;

	if (!info || !v.id || !info->type || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
		return;
	if (pm_node_op(im->g, pm_value_def(im->g, v, NULL)) == PM_OP_Opaque) {
		s->n_opaque++;
		return;
	}
	verdict = compare(im, t, info->type->tensor_type);
	s->n_equal += verdict == SAME;
	s->n_renamed += verdict == RENAMED;
	s->n_less += verdict == LESS;
	s->n_differ += verdict == OTHER;
	if (verdict <= RENAMED || *s->example)
		return;
	pm_type_describe(t, &have);
	describe(info->type->tensor_type, &want);
	snprintf(s->example, sizeof s->example, "'%.100s' is stated as %.90s and inferred as %.90s",
		 text(info->name), want.s, have.s);
	pm_str_release(&have);
	pm_str_release(&want);
}

/* ---- refusing, or letting the definition decide ---- */

/* Notes, once for each value, that its stated type is dropped. */
static void overrule(PmImport *im, PmValue v, const char *what, const char *stated, const char *have)
{
	PmOnnxReport *r = im->report;

	for (size_t i = 0; i < im->overruled.n; i++)
		if (im->overruled.v[i] == v.id)
			return;
	PM_VEC_PUSH(&im->overruled, v.id);
	if (r->n_overruled < PM_ONNX_MAX_OVERRULED)
		snprintf(r->overruled[r->n_overruled], sizeof r->overruled[0],
			 "The model states %s %.40s for the value '%.100s'; its definition gives %.100s, "
			 "which is taken.",
			 what, stated, pm_value_name(im->g, v), have);
	r->n_overruled++;
}

static PmStatus disagree(PmImport *im, PmValue v, PmStatus code, const char *what, const char *stated,
			 PmErr *err)
{
	PmStr s = PM_STR_INIT;
	PmStatus st;

	pm_type_describe(pm_value_type(im->g, v), &s);
	if (im->opts->types_infer) {
		overrule(im, v, what, stated, s.s);
		pm_str_release(&s);
		return PM_OK;
	}
	st = pm_err(err, code,
		    "The model states %s %s for the value '%.200s', but its definition gives %s; fix the "
		    "model's types, or let the definition decide with --types infer.",
		    what, stated, pm_value_name(im->g, v), s.s);
	pm_str_release(&s);
	return st;
}

PmStatus pm__import_check_stated(PmImport *im, PmValue v, const Onnx__ValueInfoProto *info, PmErr *err)
{
	const PmType *t = pm_value_type(im->g, v);
	const Onnx__TypeProto__Tensor *tp;
	char buf[64];
	PmStatus st;
	size_t k;

	if (im->opts->compare_stated) {
		compare_stated(im, v, info);
		return PM_OK;
	}
	if (!info || !v.id || !info->type || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
	    t->dtype < 0)
		return PM_OK;
	tp = info->type->tensor_type;
	if (tp->elem_type && pm_dtype_from_onnx(tp->elem_type) != t->dtype)
		return disagree(im, v, PM_E_TYPE, "the element type", pm__onnx_dtype_name(tp->elem_type),
				err);
	if (!tp->shape || t->rank < 0)
		return PM_OK;
	st = pm__import_check_dims(tp->shape, "value", text(info->name), err);
	if (st)
		return st;
	snprintf(buf, sizeof buf, "%zu", tp->shape->n_dim);
	if ((size_t)t->rank != tp->shape->n_dim)
		return disagree(im, v, PM_E_SHAPE, "the rank", buf, err);
	for (k = 0; k < tp->shape->n_dim; k++) {
		const Onnx__TensorShapeProto__Dimension *d = tp->shape->dim[k];

		if (d->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE || t->dim[k] < 0 ||
		    t->dim[k] == d->dim_value)
			continue;
		snprintf(buf, sizeof buf, "%lld at dimension %zu", (long long)d->dim_value, k);
		return disagree(im, v, PM_E_SHAPE, "the size", buf, err);
	}
	return PM_OK;
}

PmStatus pm__import_check_name(PmImport *im, const PmOnnxScope *sc, const PmOnnxName *nm, PmValue v,
			       PmErr *err)
{
	const Onnx__ValueInfoProto *info;
	PmStatus st = pm__scope_info(sc, nm, im->info_slot, &info, err);

	return st ? st : pm__import_check_stated(im, v, info, err);
}
