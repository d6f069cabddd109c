/* SPDX-License-Identifier: Apache-2.0 */
/* feasible.c - cutting a model down to what a CPU runs in seconds. */
#include "app/model/feasible.h"

#include "extract/cut.h"
#include "runtime/ref/ref.h"

#include <stdlib.h>

enum { MAX_BYTES = 1 << 30 }; /* of all values of the cut together */

/* Union-find over node ids. */
static uint32_t root(uint32_t *up, uint32_t x)
{
	while (up[x] != x)
		x = up[x] = up[up[x]];
	return x;
}

/* 1 when the node's meaning is known and its shapes are numbers. */
static int can_run(const PmGraph *g, PmNode n)
{
	if (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_OPAQUE)
		return 0;
	for (size_t k = 0; k < pm_node_n_out(g, n); k++)
		if (!pm_type_is_static(pm_value_type(g, pm_node_out(g, n, k))))
			return 0;
	for (size_t k = 0; k < pm_node_n_in(g, n); k++)
		if (pm_node_in(g, n, k).id && !pm_type_is_static(pm_value_type(g, pm_node_in(g, n, k))))
			return 0;
	return 1;
}

static int64_t result_bytes(const PmGraph *g, PmNode n)
{
	int64_t sum = 0, b;

	for (size_t k = 0; k < pm_node_n_out(g, n); k++)
		if (!pm_type_bytes(pm_value_type(g, pm_node_out(g, n, k)), &b, NULL))
			sum += b;
	return sum;
}

/* The longest stretch [*first, *end) of the execution order that can run within the limits. */
static void longest_stretch(const PmGraph *g, int64_t max_flops, size_t *first, size_t *end)
{
	int64_t flops = 0, bytes = 0;
	size_t from = 0;

	*first = *end = 0;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		flops += pm_op_flops(g, n);
		bytes += result_bytes(g, n);
		if (!can_run(g, n)) {
			from = i + 1;
			flops = bytes = 0;
		}
		for (; from <= i && (flops > max_flops || bytes > MAX_BYTES); from++) {
			flops -= pm_op_flops(g, pm_graph_node_at(g, from));
			bytes -= result_bytes(g, pm_graph_node_at(g, from));
		}
		if (i + 1 - from > *end - *first && from <= i) {
			*first = from;
			*end = i + 1;
		}
	}
}

/* Joins the nodes of a stretch that hang together; size[root] counts them. */
static void join(const PmGraph *g, size_t first, size_t end, char *taken, uint32_t *up, uint32_t *size)
{
	for (size_t i = first; i < end; i++) {
		PmNode n = pm_graph_node_at(g, i);

		taken[n.id] = 1;
		size[n.id] = 1;
		for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
			PmNode d = pm_value_def(g, pm_node_in(g, n, k), NULL);
			uint32_t a, c;

			if (!d.id || !taken[d.id])
				continue;
			a = root(up, n.id);
			c = root(up, d.id);
			if (a != c) {
				up[a] = c;
				size[c] += size[a];
			}
		}
	}
}

PmStatus pm_feasible_cut(const PmGraph *g, int64_t max_flops, PmGraph **out, PmErr *err)
{
	uint32_t limit = pm_graph_node_limit(g), best = 0;
	char *taken = pm_xcalloc(limit, 1);
	uint32_t *up = pm_xcalloc(limit, sizeof *up), *size = pm_xcalloc(limit, sizeof *size);
	PmNode *nodes = pm_xcalloc(limit, sizeof *nodes);
	PmCutter *cutter = NULL;
	size_t n = 0, first, end;
	PmStatus st;

	for (uint32_t id = 0; id < limit; id++)
		up[id] = id;
	longest_stretch(g, max_flops, &first, &end);
	join(g, first, end, taken, up, size);
	for (uint32_t id = 1; id < limit; id++)
		if (taken[id] && up[id] == id && size[id] > size[best])
			best = id;
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode node = pm_graph_node_at(g, i);

		if (taken[node.id] && root(up, node.id) == best)
			nodes[n++] = node;
	}
	if (!n)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "No node of the model can run within %lld flops; allow more with --cut.",
			    (long long)max_flops);
	else
		st = pm_cutter_new(g, NULL, &cutter, err);
	if (!st)
		st = pm_cutter_cut(cutter, nodes, n, out, err);
	pm_cutter_free(cutter);
	free(taken);
	free(up);
	free(size);
	free(nodes);
	return st;
}
