/* SPDX-License-Identifier: Apache-2.0 */
/* infer_einsum.c - shape rule of Einsum. */
#include "ir/core/einsum.h"
#include "ir/infer/infer_priv.h"

PmStatus infer_einsum(PmInfer *c, PmErr *err)
{
	const PmType *in[PM_EINSUM_OPERANDS];
	PmDim dim[PM_EINSUM_LABELS];
	PmEinsum e;
	char why[160];
	size_t k;
	int i;
	PmStatus st = PM_OK;

	for (k = 0; k < c->n_in && !st; k++) {
		if (!pm__in_given(c, k))
			return pm__infer_fail(c, PM_E_INVALID, -1, -1, err, "operand %zu is missing", k);
		if (k < PM_EINSUM_OPERANDS)
			in[k] = pm__in(c, k);
		st = pm__same_dtype(c, 0, k, err);
	}
	if (st)
		return st;
	st = pm_einsum_read(pm_node_s(c->g, c->n, "equation", ""), in, c->n_in, &e, why);
	if (st)
		return pm__infer_fail(c, st, 0, -1, err, "the equation '%.60s' cannot be used: %s",
				      pm_node_s(c->g, c->n, "equation", ""), why);
	for (i = 0; i < PM_EINSUM_LABELS; i++)
		dim[i] = 1;
	for (k = 0; k < c->n_in; k++)
		for (i = 0; i < e.rank[k]; i++) {
			PmDim *d = &dim[e.label[k][i]], a = *d, b = in[k]->dim[i];

			/* A dimension that could not be told stays so unless a constant says more. */
			if (a == PM_DIM_UNKNOWN)
				*d = b > 1 || b == 0 ? b : a;
			else if (!pm__broadcast_dim(a, b, d))
				return pm__infer_fail(c, PM_E_SHAPE, 0, (int)k, err,
						      "a label stands for both %lld and %lld", (long long)a,
						      (long long)b);
		}
	c->out[0] = pm_type((PmDType)in[0]->dtype, e.n_out, dim);
	return PM_OK;
}
