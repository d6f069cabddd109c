/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.c - size classes and element types of a graph's inputs, as text. */
#include "dataset/store/bucket.h"

#include "base/core/str.h"

int pm_dim_bucket(int64_t d)
{
	return d <= 0 ? -1 : (63 - __builtin_clzll((unsigned long long)d)) / 4;
}

void pm_graph_shape_bucket(const PmGraph *g, PmStr *out)
{
	size_t i;
	int k;

	for (i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));

		pm_str_addc(out, '[');
		for (k = 0; k < t->rank; k++)
			pm_str_addf(out, "%s%d", k ? "," : "", pm_dim_bucket(t->dim[k]));
		pm_str_addc(out, ']');
	}
}

void pm_graph_dtypes(const PmGraph *g, PmStr *out)
{
	size_t i;

	for (i = 0; i < pm_graph_n_inputs(g); i++) {
		if (i)
			pm_str_addc(out, ',');
		pm_str_add(out, pm_dtype_name(pm_value_type(g, pm_graph_input(g, i))->dtype));
	}
}
