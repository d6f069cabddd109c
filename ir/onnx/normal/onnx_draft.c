/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_draft.c - what normalising rules read from a draft of a node, and how they change it. */
#include "ir/infer/infer_priv.h"

#include "ir/onnx/onnx_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

PmStatus pm__decline(PmDraft *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(d->why, sizeof d->why, fmt, ap);
	va_end(ap);
	return PM_DECLINED;
}

Onnx__AttributeProto *pm__draft_proto(const PmDraft *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->np->n_attribute; i++) {
		if (strcmp(text(d->np->attribute[i]->name), name) == 0)
			return pm__scope_attr(d->sc, d->np->attribute[i]);
	}
	return NULL;
}

/* Files of early IR versions leave the type out. */
static int type_of(const Onnx__AttributeProto *a)
{
	if (a->has_type && a->type)
		return (int)a->type;
	if (a->has_f)
		return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
	if (a->has_i)
		return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
	if (a->has_s)
		return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
	if (a->t)
		return ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
	return a->n_floats ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
			   : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
}

static PmStatus need_type(const PmDraft *d, const Onnx__AttributeProto *a, const char *name, int type,
			  const char *word, PmErr *err)
{
	if (type_of(a) == type)
		return PM_OK;
	return pm_err(err, PM_E_TYPE, "The attribute '%.100s' of %s is not %s; fix the model.", name,
		      d->where.s, word);
}

PmStatus pm__draft_get_i(PmDraft *d, const char *name, int64_t dflt, int64_t *out, PmErr *err)
{
	const Onnx__AttributeProto *a = pm__draft_proto(d, name);

	*out = a && a->has_i ? a->i : a ? 0 : dflt;
	return a ? need_type(d, a, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, "an int", err) : PM_OK;
}

PmStatus pm__draft_get_f(PmDraft *d, const char *name, double dflt, double *out, PmErr *err)
{
	const Onnx__AttributeProto *a = pm__draft_proto(d, name);

	*out = a && a->has_f ? (double)a->f : a ? 0 : dflt;
	return a ? need_type(d, a, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, "a float", err)
		 : PM_OK;
}

/* Bytes of a string attribute as terminated text in the arena. */
static PmStatus string_of(PmDraft *d, const Onnx__AttributeProto *a, const char *name, const char **out,
			  PmErr *err)
{
	PmStatus st = need_type(d, a, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING, "a string", err);

	if (!st && !pm__utf8_ok((const char *)a->s.data, a->s.len))
		st = pm_err(err, PM_E_INVALID, "The attribute '%.100s' of %s is not UTF-8; fix the model.",
			    name, d->where.s);
	if (st)
		return st;
	*out = pm_arena_strndup(d->im->scratch, a->s.len ? (const char *)a->s.data : "", a->s.len);
	return *out ? PM_OK
		    : pm_err(err, PM_E_LIMIT, "The model takes too much memory at %s; split it.", d->where.s);
}

PmStatus pm__draft_get_s(PmDraft *d, const char *name, const char *dflt, const char **out, PmErr *err)
{
	const Onnx__AttributeProto *a = pm__draft_proto(d, name);

	*out = dflt;
	return a ? string_of(d, a, name, out, err) : PM_OK;
}

static int64_t *copy_ints(PmDraft *d, const int64_t *v, size_t n)
{
	int64_t *p = pm_arena_alloc(d->im->scratch, (n + 1) * sizeof *p);

	if (!p)
		PM_BUG("out of room for %zu ints of an attribute", n);
	if (n)
		memcpy(p, v, n * sizeof *p);
	return p;
}

PmStatus pm__draft_get_ints(PmDraft *d, const char *name, int64_t **v, size_t *n, int *present, PmErr *err)
{
	const Onnx__AttributeProto *a = pm__draft_proto(d, name);
	PmStatus st = a ? need_type(d, a, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS, "a list of ints",
				    err)
			: PM_OK;

	*v = NULL;
	*n = 0;
	*present = a != NULL;
	if (st || !a)
		return st;
	*v = copy_ints(d, a->ints, a->n_ints);
	*n = a->n_ints;
	return PM_OK;
}

const PmDraftAttr *pm__draft_attr(const PmDraft *d, const char *name)
{
	size_t i;

	for (i = 0; i < d->n_attr; i++) {
		if (strcmp(d->attr[i].name, name) == 0)
			return &d->attr[i];
	}
	return NULL;
}

static PmDraftAttr *slot(PmDraft *d, const char *name, PmAttrKind kind)
{
	PmDraftAttr *a = (PmDraftAttr *)(uintptr_t)pm__draft_attr(d, name);

	if (!a) {
		if (d->n_attr == PM_ONNX_DRAFT_ATTRS)
			PM_BUG("operator %s has more than %d attributes", pm_op_desc(d->op)->name,
			       PM_ONNX_DRAFT_ATTRS);
		a = &d->attr[d->n_attr++];
	} else {
		pm_blob_unref(a->blob);
	}
	memset(a, 0, sizeof *a);
	a->name = name;
	a->kind = kind;
	return a;
}

void pm__draft_set_i(PmDraft *d, const char *name, int64_t v)
{
	slot(d, name, PM_ATTR_INT)->i = v;
}

void pm__draft_set_f(PmDraft *d, const char *name, double v)
{
	slot(d, name, PM_ATTR_FLOAT)->f = v;
}

void pm__draft_set_s(PmDraft *d, const char *name, const char *s)
{
	PmDraftAttr *a = slot(d, name, PM_ATTR_STRING);

	a->s = s;
	a->n = strlen(s);
}

void pm__draft_set_ints(PmDraft *d, const char *name, const int64_t *v, size_t n)
{
	int64_t *copy = copy_ints(d, v, n);
	PmDraftAttr *a = slot(d, name, PM_ATTR_INTS);

	a->ints = copy;
	a->n = n;
}

void pm__draft_set_tensor(PmDraft *d, const char *name, const PmType *t, PmBlob *takes)
{
	PmDraftAttr *a = slot(d, name, PM_ATTR_TENSOR);

	a->type = *t;
	a->blob = takes;
}

void pm__draft_release(PmDraft *d)
{
	size_t i;

	for (i = 0; i < d->n_attr; i++)
		pm_blob_unref(d->attr[i].blob);
	d->n_attr = 0;
}

const PmType *pm__draft_type(const PmDraft *d, size_t k)
{
	return pm_value_type(d->g, k < d->n_in ? d->in[k] : (PmValue){ 0 });
}

PmStatus pm__draft_operand_ints(PmDraft *d, size_t k, const char *what, int64_t **v, size_t *n, int *present,
				PmErr *err)
{
	const PmType *t = pm__draft_type(d, k);
	int64_t numel;
	PmElem *e;
	size_t i;

	*n = 0;
	*v = NULL;
	*present = k < d->n_in && d->in[k].id;
	if (!*present)
		return PM_OK;
	if (!pm_dtype_is_int(t->dtype) || t->rank > 1)
		return pm_err(err, PM_E_TYPE, "Operand %zu (%s) of %s is no list of integers; fix the model.",
			      k, what, d->where.s);
	if (pm_type_numel(t, &numel, NULL) || numel > PM_FOLD_MAX)
		return pm__decline(d, "%s are not constant", what);
	*v = pm_arena_alloc(d->im->scratch, ((size_t)numel + 1) * sizeof **v);
	e = pm_arena_alloc(d->im->scratch, ((size_t)numel + 1) * sizeof *e);
	if (!*v || !e)
		return pm_err(err, PM_E_LIMIT, "The model takes too much memory at %s; split it.",
			      d->where.s);
	if (pm__fold_get(d->g, d->im->fold, d->in[k], e, (size_t)numel, n) || *n != (size_t)numel)
		return pm__decline(d, "%s are not constant", what);
	for (i = 0; i < *n; i++) {
		if (e[i].kind != PM_ELEM_INT)
			return pm__decline(d, "%s are not constant", what);
		(*v)[i] = e[i].v;
	}
	return PM_OK;
}

void pm__draft_eat(PmDraft *d, size_t k)
{
	size_t i;

	for (i = k; i < d->n_in; i++) {
		if (d->in[i].id)
			PM_VEC_PUSH(&d->im->eaten, d->in[i]);
	}
	if (d->n_in > k)
		d->n_in = k;
}

PmStatus pm__draft_scalar(PmDraft *d, int dtype, double v, PmValue *out, PmErr *err)
{
	PmType t = pm_type((PmDType)dtype, 0, NULL);
	unsigned char bytes[8] = { 0 };

	pm__encode_element(dtype, v, bytes);
	return pm_graph_add_const(d->g, NULL, &t, pm_blob_copy(bytes, pm_dtype_size(dtype)), out, err);
}

PmStatus pm__draft_list(PmDraft *d, const int64_t *v, size_t n, PmValue *out, PmErr *err)
{
	int64_t dim = (int64_t)n;
	PmType t = pm_type(PM_I64, 1, &dim);

	return pm_graph_add_const(d->g, NULL, &t, pm_blob_copy(v, n * sizeof *v), out, err);
}

PmStatus pm__draft_before(PmDraft *d, PmOp op, const PmValue *in, size_t n_in, const char *attr, int64_t v,
			  PmValue *out, PmErr *err)
{
	PmNode n;
	PmStatus st = pm_graph_add_node(d->g, op, in, n_in, 1, &n, err);

	if (!st && attr)
		st = pm_node_set_i(d->g, n, attr, v, err);
	if (!st)
		st = pm_node_fill_defaults(d->g, n, err);
	if (!st)
		st = pm_infer_node(d->g, n, err);
	if (!st)
		*out = pm_node_out(d->g, n, 0);
	return st;
}

PmStatus pm__draft_axis(PmDraft *d, int64_t *axis, int rank, int end, PmErr *err)
{
	int64_t top = rank + end ? rank + end : 1; /* a scalar is taken to have axis 0 */
	int64_t low = rank ? rank : 1;

	if (*axis < -low || *axis >= top)
		return pm_err(err, PM_E_SHAPE, "Axis %lld of %s is outside %lld to %lld; fix the model.",
			      (long long)*axis, d->where.s, (long long)-low, (long long)top - 1);
	if (*axis < 0)
		*axis += low;
	return PM_OK;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

PmStatus pm__draft_axes(PmDraft *d, int64_t *v, size_t n, int rank, PmErr *err)
{
	PmStatus st = PM_OK;
	size_t i;

	for (i = 0; i < n && !st; i++)
		st = pm__draft_axis(d, &v[i], rank, 0, err);
	if (st)
		return st;
	if (n)
		qsort(v, n, sizeof *v, compare);
	for (i = 1; i < n; i++) {
		if (v[i] == v[i - 1])
			return pm_err(err, PM_E_SHAPE, "Axis %lld is listed twice at %s; fix the model.",
				      (long long)v[i], d->where.s);
	}
	return PM_OK;
}

/* A tensor attribute (one that the table has) into the draft. */
static PmStatus take_tensor(PmDraft *d, const char *name, const Onnx__AttributeProto *a, PmErr *err)
{
	PmType type;
	PmBlob *blob = NULL;
	char why[96];
	PmStatus st = need_type(d, a, name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR, "a tensor", err);

	if (!st && (!a->t || (a->t->has_data_location && a->t->data_location)))
		return pm__decline(d, "the tensor attribute '%s' is not inline", name);
	if (!st)
		st = pm__onnx_tensor_type(a->t, &type, why, err);
	if (st == PM_DECLINED)
		return pm__decline(d, "%s", why);
	if (!st)
		st = pm__onnx_tensor_data(a->t, &type, 0, &blob, err);
	if (!st)
		pm__draft_set_tensor(d, name, &type, blob);
	return st;
}

PmStatus pm__draft_take(PmDraft *d, const PmAttrDesc *desc, const Onnx__AttributeProto *a, PmErr *err)
{
	PmStatus st;
	const char *s;

	switch (desc->kind) {
	case PM_ATTR_INT:
		st = need_type(d, a, desc->name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, "an int", err);
		if (!st)
			pm__draft_set_i(d, desc->name, a->has_i ? a->i : 0);
		return st;
	case PM_ATTR_FLOAT:
		st = need_type(d, a, desc->name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, "a float",
			       err);
		if (!st)
			slot(d, desc->name, PM_ATTR_FLOAT)->f = a->has_f ? (double)a->f : 0;
		return st;
	case PM_ATTR_STRING:
		st = string_of(d, a, desc->name, &s, err);
		if (!st)
			pm__draft_set_s(d, desc->name, s);
		return st;
	case PM_ATTR_INTS:
		st = need_type(d, a, desc->name, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS,
			       "a list of ints", err);
		if (!st)
			pm__draft_set_ints(d, desc->name, a->ints, a->n_ints);
		return st;
	case PM_ATTR_TENSOR:
		return take_tensor(d, desc->name, a, err);
	default:
		return pm__decline(d, "the attribute '%s' is of a kind that is not read", desc->name);
	}
}
