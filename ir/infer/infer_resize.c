/* SPDX-License-Identifier: Apache-2.0 */
/* infer_resize.c - shape rule of Resize. */
#include "ir/core/resize.h"
#include "ir/infer/infer_priv.h"

#include <string.h>

/* Whether operand k is given and not known to be empty. */
static int is_used(const PmInfer *c, size_t k)
{
	return k < c->n_in && pm__in_given(c, k) && pm__in(c, k)->rank == 1 && pm__in(c, k)->dim[0] != 0;
}

static PmStatus check_list(PmInfer *c, size_t k, PmErr *err)
{
	int is_float;

	if (k >= c->n_in || !pm__in_given(c, k))
		return PM_OK;
	is_float = pm_dtype_is_float(pm__in(c, k)->dtype);
	if (k == 3 ? pm__in(c, k)->dtype != PM_I64 : !is_float)
		return pm__infer_fail(c, PM_E_TYPE, 0, (int)k, err,
				      "sizes must be int64, scales and roi floating point");
	if (pm__in(c, k)->rank != 1)
		return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err, "operand %zu must be a list", k);
	return PM_OK;
}

/* Reads what is constant. 0 when the scales are not. */
static int read_args(PmInfer *c, PmResizeArgs *args)
{
	PmElem e[PM_MAX_RANK];
	size_t k;

	memset(args, 0, sizeof *args);
	if (is_used(c, 1) && (pm_value_const_floats(c->g, pm_node_in(c->g, c->n, 1), args->roi,
						    2 * PM_MAX_RANK, &args->n_roi)))
		return 0;
	if (is_used(c, 2) && (pm_value_const_floats(c->g, pm_node_in(c->g, c->n, 2), args->scales,
						    PM_MAX_RANK, &args->n_scales)))
		return 0;
	if (!is_used(c, 3))
		return 1;
	if (pm__in_elems(c, 3, e, PM_MAX_RANK, &args->n_sizes))
		return 0;
	for (k = 0; k < args->n_sizes; k++)
		args->sizes[k] = e[k].kind == PM_ELEM_INT ? e[k].v : INT64_MIN;
	return 1;
}

PmStatus infer_resize(PmInfer *c, PmErr *err)
{
	const PmType *x = pm__in(c, 0);
	int axis[PM_MAX_RANK], n = pm_resize_axes(c->g, c->n, x->rank, axis), k;
	PmResizeArgs args;
	PmResize r;
	char why[160];
	PmStatus st = PM_OK;

	for (k = 1; k < 4 && !st; k++)
		st = check_list(c, (size_t)k, err);
	if (st)
		return st;
	c->out[0] = *x;
	if (!read_args(c, &args)) {
		for (k = 0; k < n; k++)
			c->out[0].dim[axis[k]] = PM_DIM_UNKNOWN;
		return PM_OK;
	}
	st = pm_resize_read(c->g, c->n, x, &args, &r, why);
	if (st)
		return pm__infer_fail(c, st, 0, -1, err, "%s", why);
	if (x->dtype == PM_BOOL && r.mode != PM_RESIZE_NEAREST)
		return pm__infer_fail(c, PM_E_UNSUPPORTED, 0, -1, err, "bool cannot be interpolated");
	for (k = 0; k < x->rank; k++)
		c->out[0].dim[k] = r.axis[k].out;
	return PM_OK;
}
