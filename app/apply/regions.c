/* SPDX-License-Identifier: Apache-2.0 */
/* regions.c - the regions of a rewritten graph, and what they cost. */
#include "app/apply/regions.h"

#include "app/apply/pairs.h"

#include <stdlib.h>

/* The kernels that are new, by node id 1 + the number of the region. */
static uint32_t *list_kernels(const PmGraph *after, const PmPairs *p, PmRegions *out)
{
	uint32_t *region = pm_xcalloc(pm_graph_node_limit(after) + 1, sizeof *region);

	for (size_t i = 0; i < pm_graph_n_nodes(after); i++) {
		PmNode n = pm_graph_node_at(after, i);
		PmApplyRegion r = { .pass = -1, .kernel = n, .place = (uint32_t)i };

		if (pm_node_op(after, n) != PM_OP_Kernel || p->before[n.id])
			continue;
		PM_VEC_PUSH(&out->list, r);
		region[n.id] = (uint32_t)out->list.n;
	}
	return region;
}

/* Sorts the nodes by region: counted, then put in their places. */
static void list_nodes(const PmGraph *before, const PmPairs *p, const uint32_t *region, PmRegions *out)
{
	size_t n = 0;

	for (size_t i = 0; i < out->n_before; i++) {
		uint32_t r = region[p->kernel[pm_graph_node_at(before, i).id]];

		out->of[i] = r;
		if (r)
			out->list.v[r - 1].n++;
	}
	for (size_t k = 0; k < out->list.n; k++) {
		out->list.v[k].first = n;
		n += out->list.v[k].n;
		out->list.v[k].n = 0;
	}
	PM_VEC_RESERVE(&out->node, n + 1);
	out->node.n = n;
	for (size_t i = 0; i < out->n_before; i++) {
		PmApplyRegion *r = out->of[i] ? &out->list.v[out->of[i] - 1] : NULL;

		if (r)
			out->node.v[r->first + r->n++] = (uint32_t)i;
	}
}

PmStatus pm_regions_find(const PmGraph *before, const PmGraph *after, PmRegions *out, PmErr *err)
{
	PmPairs p;
	uint32_t *region;
	PmStatus st = pm_pairs_make(before, after, &p, err);

	*out = (PmRegions){ .n_before = pm_graph_n_nodes(before), .n_after = pm_graph_n_nodes(after) };
	if (st)
		return st;
	out->of = pm_xcalloc(out->n_before + 1, sizeof *out->of);
	region = list_kernels(after, &p, out);
	list_nodes(before, &p, region, out);
	free(region);
	pm_pairs_release(&p);
	return PM_OK;
}

void pm_regions_cost(PmRegions *r, const PmGraph *before, const PmNodeCost *cost_before, const PmGraph *after,
		     const PmNodeCost *cost_after)
{
	size_t next = 0; /* region */

	r->outside_before = cost_before[0];
	r->outside_after = cost_after[0];
	for (size_t i = 0; i < r->n_before; i++)
		pm_node_cost_add(r->of[i] ? &r->list.v[r->of[i] - 1].before : &r->outside_before,
				 &cost_before[pm_graph_node_at(before, i).id]);
	for (size_t i = 0; i < r->n_after; i++) {
		int new_kernel = next < r->list.n && r->list.v[next].place == i;

		pm_node_cost_add(new_kernel ? &r->list.v[next++].after : &r->outside_after,
				 &cost_after[pm_graph_node_at(after, i).id]);
	}
}

void pm_regions_release(PmRegions *r)
{
	PM_VEC_RELEASE(&r->list);
	PM_VEC_RELEASE(&r->node);
	free(r->of);
	*r = (PmRegions){ 0 };
}
