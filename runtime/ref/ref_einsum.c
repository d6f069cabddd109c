/* SPDX-License-Identifier: Apache-2.0 */
/* ref_einsum.c - Einsum by loops over all labels. */
#include "ir/core/einsum.h"
#include "runtime/ref/ref_priv.h"

#include <string.h>

PmStatus pm__ref_einsum(const PmRefCall *c, PmErr *err)
{
	const PmType *in[PM_EINSUM_OPERANDS];
	int64_t dim[PM_EINSUM_LABELS], step[PM_EINSUM_OPERANDS][PM_EINSUM_LABELS] = { { 0 } }, y;
	int64_t own[PM_MAX_RANK], inner = 1, inner_step[PM_EINSUM_OPERANDS] = { 0 };
	PmRefTensor *out = &c->out[0];
	PmRefWalk w = { 0 };
	PmEinsum e;
	char why[160];
	size_t k;
	int i, empty = 0, last;
	PmStatus st;

	for (k = 0; k < c->n_in && k < PM_EINSUM_OPERANDS; k++)
		in[k] = &c->in[k].type;
	st = pm_einsum_read(pm_node_s(c->g, c->node, "equation", ""), in, c->n_in, &e, why);
	if (st)
		return pm__ref_fail(c, err, st, "%s.", why);
	pm_einsum_dims(&e, in, dim);
	for (k = 0; k < c->n_in; k++) {
		pm__ref_strides(in[k], own);
		for (i = 0; i < e.rank[k]; i++)
			step[k][e.label[k][i]] += in[k]->dim[i] == 1 ? 0 : own[i];
	}
	/* The last summed label is a plain loop; the walk goes over the others. */
	last = e.n_labels > e.n_out ? e.n_labels - 1 : -1;
	if (last >= 0) {
		inner = dim[last];
		for (k = 0; k < c->n_in; k++)
			inner_step[k] = step[k][last];
	}
	w.rank = last >= 0 ? last : e.n_labels;
	for (i = 0; i < e.n_labels; i++) {
		empty |= dim[i] == 0;
		w.dim[i] = dim[i];
	}
	if (empty)
		return PM_OK;
	do {
		int64_t at[PM_EINSUM_OPERANDS] = { 0 }, r;

		for (y = 0, i = 0; i < e.n_out; i++)
			y = y * dim[i] + w.at[i];
		for (k = 0; k < c->n_in; k++)
			for (i = 0; i < w.rank; i++)
				at[k] += w.at[i] * step[k][i];
		for (r = 0; r < inner; r++) {
			if (out->f) {
				double v = c->in[0].f[at[0] + r * inner_step[0]];

				for (k = 1; k < c->n_in; k++)
					v *= c->in[k].f[at[k] + r * inner_step[k]];
				out->f[y] += v;
			} else {
				uint64_t v = (uint64_t)c->in[0].i[at[0] + r * inner_step[0]];

				for (k = 1; k < c->n_in; k++)
					v *= (uint64_t)c->in[k].i[at[k] + r * inner_step[k]];
				out->i[y] = pm_int_wrap(out->type.dtype, (int64_t)((uint64_t)out->i[y] + v));
			}
		}
	} while (pm__ref_walk_next(&w));
	return PM_OK;
}
