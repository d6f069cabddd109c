/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_finish.c - what is checked before a graph is read, and done after it. */
#include "ir/core/graph_priv.h"

#include "ir/infer/infer_priv.h"
#include "ir/onnx/onnx_source.h"

#include <string.h>

enum { MAX_DOMAINS = 256 };

PmStatus pm__import_check_opsets(Onnx__OperatorSetIdProto **v, size_t n, int64_t *opset, PmErr *err)
{
	size_t i, k;

	*opset = 0;
	if (n > MAX_DOMAINS)
		return pm_err(err, PM_E_LIMIT,
			      "There are %zu operator sets imported and at most %d are read; drop some.", n,
			      MAX_DOMAINS);
	for (i = 0; i < n; i++) {
		const char *domain = pm__onnx_domain_name(v[i]->domain);

		for (k = 0; k < i; k++) {
			if (strcmp(pm__onnx_domain_name(v[k]->domain), domain) == 0)
				return pm_err(err, PM_E_INVALID,
					      "The operators of the domain '%.100s' are imported twice; "
					      "import them once.",
					      domain);
		}
		if (!*domain)
			*opset = v[i]->version;
	}
	if (*opset && (*opset < PM_ONNX_MIN_OPSET || *opset > PM_ONNX_MAX_OPSET))
		return pm_err(err, PM_E_UNSUPPORTED,
			      "The model uses opset %lld and opsets %d to %d are read; convert it with "
			      "ONNX's version "
			      "converter.",
			      (long long)*opset, PM_ONNX_MIN_OPSET, PM_ONNX_MAX_OPSET);
	return PM_OK;
}

/* Nested graphs name what they take from outside. Where folding put a constant without a name in its place,
 * the constant gets the name: writing would make one up, and the node would read differently. */
static PmStatus name_captured(PmGraph *g, PmNode n, PmErr *err)
{
	const PmAttr *captures = pm_node_attr(g, n, "captures");
	size_t n_in = pm_node_n_in(g, n);
	PmStatus st = PM_OK;

	if (pm_node_op(g, n) != PM_OP_Opaque || !captures || captures->n > n_in)
		return PM_OK;
	for (size_t k = 0; k < captures->n && !st; k++) {
		PmValue v = pm_node_in(g, n, n_in - captures->n + k);

		if (pm_value_is_const(g, v) && g->values.v[v.id].auto_named &&
		    !pm_graph_find_given(g, captures->strings[k]).id)
			st = pm_value_set_name(g, v, captures->strings[k], err);
	}
	return st;
}

PmStatus pm__import_finish(PmImport *im, PmErr *err)
{
	PmStatus st;
	size_t i;

	for (i = 0; i < im->eaten.n; i++)
		pm_graph_drop_unused(im->g, im->eaten.v[i]);
	if (!im->fold)
		return PM_OK;
	pm__fold_free(im->fold); /* what follows knows more, of a whole graph */
	im->fold = NULL;
	st = pm_fold_shapes(im->g, err);
	for (i = 0; i < pm_graph_n_nodes(im->g) && !st; i++)
		st = name_captured(im->g, pm_graph_node_at(im->g, i), err);
	return st;
}
