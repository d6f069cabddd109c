/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - looking at each kernel of a rewritten graph by itself. */
#include "bench/eval/probe.h"

#include <stdlib.h>
#include <string.h>

/* Makes a value an output of the probe, once. Graph inputs and constants are known without. */
static PmStatus expose(PmProbe *p, PmValue v, PmErr *err)
{
	PmStatus st;

	if (!v.id || p->place[v.id] || pm_value_is_input(p->g, v) || pm_value_is_const(p->g, v))
		return PM_OK;
	st = pm_graph_add_output(p->g, v, err);
	if (!st)
		p->place[v.id] = pm_graph_n_outputs(p->g);
	return st;
}

PmStatus pm_probe_init(PmProbe *p, const PmGraph *candidate, PmErr *err)
{
	PmStatus st;

	memset(p, 0, sizeof *p);
	st = pm_graph_clone(candidate, &p->g, err);
	if (st)
		return st;
	p->place = pm_xcalloc(pm_graph_value_limit(p->g), sizeof *p->place);
	p->kernel = pm_xcalloc(pm_graph_n_nodes(p->g) + 1, sizeof *p->kernel);
	for (size_t i = 0; i < pm_graph_n_outputs(p->g); i++)
		p->place[pm_graph_output(p->g, i).id] = i + 1;
	for (size_t i = 0; i < pm_graph_n_nodes(p->g) && !st; i++) {
		PmNode n = pm_graph_node_at(p->g, i);

		if (!(pm_op_desc(pm_node_op(p->g, n))->flags & PM_OPF_KERNEL))
			continue;
		p->kernel[p->n_kernels++] = n;
		p->n_results += pm_node_n_out(p->g, n);
		for (size_t k = 0; k < pm_node_n_in(p->g, n) && !st; k++)
			st = expose(p, pm_node_in(p->g, n, k), err);
		for (size_t k = 0; k < pm_node_n_out(p->g, n) && !st; k++)
			st = expose(p, pm_node_out(p->g, n, k), err);
	}
	if (st)
		pm_probe_release(p);
	return st;
}

void pm_probe_release(PmProbe *p)
{
	pm_graph_free(p->g);
	free(p->kernel);
	free(p->place);
	memset(p, 0, sizeof *p);
}

int pm_probe_dtype(const PmProbe *p, size_t slot)
{
	for (size_t k = 0; k < p->n_kernels; k++) {
		size_t n = pm_node_n_out(p->g, p->kernel[k]);

		if (slot < n)
			return pm_value_type(p->g, pm_node_out(p->g, p->kernel[k], slot))->dtype;
		slot -= n;
	}
	return -1;
}

const char *pm_probe_name(const PmProbe *p, size_t k, size_t i)
{
	return pm_value_name(p->g, pm_node_out(p->g, p->kernel[k], i));
}

const PmTensor *pm_probe_result(const PmProbe *p, size_t k, size_t i, const PmTensor *out)
{
	return &out[p->place[pm_node_out(p->g, p->kernel[k], i).id] - 1];
}

/* What operand v held: a graph input or an output of the run, lent, or a constant of its own. */
static PmStatus operand(const PmProbe *p, PmValue v, const PmTensor *in, const PmTensor *out, PmTensor *to,
			PmErr *err)
{
	if (p->place[v.id]) {
		*to = out[p->place[v.id] - 1];
		return PM_OK;
	}
	if (pm_value_is_const(p->g, v))
		return pm_tensor_from_const(to, p->g, v, err);
	for (size_t i = 0; i < pm_graph_n_inputs(p->g); i++)
		if (pm_graph_input(p->g, i).id == v.id) {
			*to = in[i];
			return PM_OK;
		}
	return pm_err(err, PM_E_INTERNAL,
		      "Operand '%.100s' of a kernel is neither input, constant nor result.",
		      pm_value_name(p->g, v));
}

PmStatus pm_probe_operands(const PmProbe *p, size_t k, const PmTensor *in, const PmTensor *out,
			   const PmGraph **body, PmTensor **ops, size_t *n, PmErr *err)
{
	PmNode node = p->kernel[k];
	PmStatus st = PM_OK;

	*body = pm_node_attr(p->g, node, "body")->graph;
	*n = pm_node_n_in(p->g, node);
	*ops = pm_xcalloc(*n + 1, sizeof **ops);
	for (size_t i = 0; i < *n && !st; i++)
		st = operand(p, pm_node_in(p->g, node, i), in, out, &(*ops)[i], err);
	if (st)
		pm_probe_operands_release(p, k, ops);
	return st;
}

void pm_probe_operands_release(const PmProbe *p, size_t k, PmTensor **ops)
{
	for (size_t i = 0; *ops && i < pm_node_n_in(p->g, p->kernel[k]); i++) {
		PmValue v = pm_node_in(p->g, p->kernel[k], i);

		if (!p->place[v.id] && pm_value_is_const(p->g, v))
			pm_tensor_release(&(*ops)[i]);
	}
	free(*ops);
	*ops = NULL;
}
