/* SPDX-License-Identifier: Apache-2.0 */
/* infer_util.c - what shape rules ask of a node: operands, attributes, broadcast, and how they fail. */
#include "ir/infer/infer_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int pm__in_given(const PmInfer *c, size_t k)
{
	return pm_node_in(c->g, c->n, k).id != 0;
}

const PmType *pm__in(const PmInfer *c, size_t k)
{
	return pm_value_type(c->g, pm_node_in(c->g, c->n, k));
}

static void add_operand(const PmInfer *c, int k, PmStr *b)
{
	pm_str_addf(b, "operand %d ('%s') is ", k, pm_value_name(c->g, pm_node_in(c->g, c->n, (size_t)k)));
	pm_type_describe(pm__in(c, (size_t)k), b);
}

PmStatus pm__infer_fail(const PmInfer *c, PmStatus code, int ka, int kb, PmErr *err, const char *fmt, ...)
{
	PmStr b = PM_STR_INIT;
	char why[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	pm_str_add(&b, "In ");
	pm_node_describe(c->g, c->n, &b);
	pm_str_addf(&b, ", %s", why);
	if (ka >= 0) {
		pm_str_add(&b, ": ");
		add_operand(c, ka, &b);
	}
	if (kb >= 0) {
		pm_str_add(&b, " and ");
		add_operand(c, kb, &b);
	}
	pm_str_addc(&b, '.');
	pm_err(err, code, "%s", b.s);
	pm_str_release(&b);
	return code;
}

PmStatus pm__attr_ints(const PmInfer *c, const char *name, const int64_t **v, size_t *n, PmErr *err)
{
	const PmAttr *a = pm_node_attr(c->g, c->n, name);

	if (!a || a->kind != PM_ATTR_INTS)
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "the attribute '%s' is missing or is no list of ints", name);
	*v = a->ints;
	*n = a->n;
	return PM_OK;
}

PmStatus pm__attr_ints_n(const PmInfer *c, const char *name, size_t n, int64_t least, const int64_t **v,
			 PmErr *err)
{
	size_t i, have;
	PmStatus st = pm__attr_ints(c, name, v, &have, err);

	if (st)
		return st;
	if (have != n)
		return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
				      "the attribute '%s' has %zu elements where %zu are needed", name, have,
				      n);
	for (i = 0; i < n; i++) {
		if ((*v)[i] < least)
			return pm__infer_fail(
				c, PM_E_INVALID, 0, -1, err,
				"element %zu of the attribute '%s' is %lld where at least %lld is needed", i,
				name, (long long)(*v)[i], (long long)least);
	}
	return PM_OK;
}

PmStatus pm__attr_int(const PmInfer *c, const char *name, int64_t lo, int64_t hi, int64_t *out, PmErr *err)
{
	const PmAttr *a = pm_node_attr(c->g, c->n, name);

	if (!a || a->kind != PM_ATTR_INT)
		return pm__infer_fail(c, PM_E_INVALID, -1, -1, err,
				      "the attribute '%s' is missing or is no int", name);
	if (a->i < lo || a->i > hi)
		return pm__infer_fail(c, PM_E_SHAPE, c->n_in ? 0 : -1, -1, err,
				      "the attribute '%s' is %lld, outside %lld to %lld", name,
				      (long long)a->i, (long long)lo, (long long)hi);
	*out = a->i;
	return PM_OK;
}

PmStatus pm__attr_axes(const PmInfer *c, const char *name, int rank, unsigned char in[PM_MAX_RANK],
		       PmErr *err)
{
	const int64_t *v;
	size_t i, n;
	PmStatus st = pm__attr_ints(c, name, &v, &n, err);

	if (st)
		return st;
	memset(in, 0, PM_MAX_RANK);
	for (i = 0; i < n; i++) {
		if (v[i] < 0 || v[i] >= rank)
			return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
					      "axis %lld of the attribute '%s' is outside 0 to %d",
					      (long long)v[i], name, rank - 1);
		if (in[v[i]])
			return pm__infer_fail(c, PM_E_SHAPE, 0, -1, err,
					      "the attribute '%s' lists axis %lld twice", name,
					      (long long)v[i]);
		in[v[i]] = 1;
	}
	return PM_OK;
}

PmStatus pm__same_dtype(const PmInfer *c, size_t a, size_t b, PmErr *err)
{
	if (pm__in(c, a)->dtype == pm__in(c, b)->dtype)
		return PM_OK;
	return pm__infer_fail(c, PM_E_TYPE, (int)a, (int)b, err, "the element types of two operands differ");
}

int pm__dims_agree(PmDim a, PmDim b)
{
	return a == b || a < 0 || b < 0;
}

PmDim pm__dims_meet(PmDim a, PmDim b)
{
	if (a == b)
		return a;
	if (a >= 0)
		return a;
	return b >= 0 ? b : PM_DIM_UNKNOWN;
}

int pm__broadcast_dim(PmDim a, PmDim b, PmDim *out)
{
	if (a == 1)
		*out = b;
	else if (b == 1)
		*out = a;
	else if (pm__dims_agree(a, b))
		*out = pm__dims_meet(a, b);
	else
		return 0;
	return 1;
}

PmStatus pm__broadcast_in(const PmInfer *c, PmType *acc, size_t ka, size_t k, PmErr *err)
{
	const PmType *t = pm__in(c, k);
	PmType r = *acc;
	int i;

	r.rank = acc->rank > t->rank ? acc->rank : t->rank;
	for (i = 1; i <= r.rank; i++) {
		PmDim a = i <= acc->rank ? acc->dim[acc->rank - i] : 1;
		PmDim b = i <= t->rank ? t->dim[t->rank - i] : 1;

		if (!pm__broadcast_dim(a, b, &r.dim[r.rank - i]))
			return pm__infer_fail(c, PM_E_SHAPE, (int)ka, (int)k, err,
					      "the operands cannot be broadcast together (%lld against %lld)",
					      (long long)a, (long long)b);
	}
	*acc = r;
	return PM_OK;
}

PmStatus pm__dim_product(const PmInfer *c, const PmDim *d, int n, PmDim *out, PmErr *err)
{
	PmDim symbols = 1;
	int64_t p = 1;
	int i;

	for (i = 0; i < n; i++) {
		if (d[i] == 0) {
			*out = 0;
			return PM_OK;
		}
	}
	for (i = 0; i < n; i++) {
		if (d[i] < 0)
			symbols = pm_dim_mul(c->g, symbols, d[i]);
		else if (!pm_mul_i64(p, d[i], &p))
			return pm__infer_fail(c, PM_E_LIMIT, 0, -1, err,
					      "a product of dimensions does not fit in 63 bits");
	}
	*out = pm_dim_mul(c->g, symbols, p);
	return PM_OK;
}

PmStatus pm__in_elems(const PmInfer *c, size_t k, PmElem *out, size_t max, size_t *n)
{
	return pm__fold_get(c->g, c->known, pm_node_in(c->g, c->n, k), out, max, n);
}

PmStatus pm__in_shape(const PmInfer *c, size_t k, PmElem out[PM_MAX_RANK], int *n, PmErr *err)
{
	const PmType *t = pm__in(c, k);
	size_t got = 0;
	int i;

	if (t->dtype != PM_I64 || t->rank != 1)
		return pm__infer_fail(c, PM_E_TYPE, (int)k, -1, err,
				      "a shape must be a one-dimensional int64 tensor");
	if (t->dim[0] < 0) {
		*n = -1;
		return PM_OK;
	}
	if (t->dim[0] > PM_MAX_RANK)
		return pm__infer_fail(c, PM_E_LIMIT, (int)k, -1, err,
				      "a shape has more than PM_MAX_RANK (%d) dimensions", PM_MAX_RANK);
	*n = (int)t->dim[0];
	if (pm__in_elems(c, k, out, PM_MAX_RANK, &got) == PM_OK && got == (size_t)*n)
		return PM_OK;
	for (i = 0; i < *n; i++)
		out[i] = (PmElem){ PM_ELEM_UNKNOWN, 0 };
	return PM_OK;
}
