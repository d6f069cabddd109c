/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - a model of the time of evaluations, and shards of equal time. */
#include "app/cluster/cost.h"

#include "base/core/arena.h"
#include "runtime/ref/ref.h"

#include <stdlib.h>

/* What a variant takes that has next to no elements; for each node, whose kernels are compiled and launched;
 * for each element of a value and each operation of the reference, over all classes of inputs; on a GPU the
 * clock and the replays. `start`, `per_node`, `per_element` and `clock_seconds` follow from first evaluations
 * of 52 graphs on emu and of 39 on an H200 (docs/results/evaluation-time.json; docs/design/clusters.md says
 * how well they fit). `per_flop` is an estimate. */
static const double start = 0.8, per_node = 0.02, per_element = 2e-6, per_flop = 2e-8, clock_seconds = 1;

double pm_cluster_cost(const PmGraph *g, int timed)
{
	double elements = 0, flops = 0;
	size_t nodes = pm_graph_n_nodes(g);
	int64_t n;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (!pm_type_numel(pm_value_type(g, pm_graph_input(g, i)), &n, NULL))
			elements += (double)n;
	for (size_t i = 0; i < nodes; i++) {
		PmNode node = pm_graph_node_at(g, i);

		flops += (double)pm_op_flops(g, node);
		for (size_t k = 0; k < pm_node_n_out(g, node); k++)
			if (!pm_type_numel(pm_value_type(g, pm_node_out(g, node, k)), &n, NULL))
				elements += (double)n;
	}
	return start + (timed ? clock_seconds : 0) + per_node * (double)nodes + per_element * elements +
	       per_flop * flops;
}

typedef struct Load {
	double seconds;
	size_t number;
} Load;

/* The longest first; of equals the first. */
static int by_seconds(const void *a, const void *b)
{
	const Load *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return x->number < y->number ? -1 : 1;
}

static int is_less(const Load *a, const Load *b)
{
	return a->seconds < b->seconds || (a->seconds == b->seconds && a->number < b->number);
}

/* heap[0] has grown: puts it where it belongs in a heap whose first is the least. */
static void sink(Load *heap, size_t n)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
		Load load = heap[i];

		child += child + 1 < n && is_less(&heap[child + 1], &heap[child]);
		if (!is_less(&heap[child], &load))
			break;
		heap[i] = heap[child];
		heap[child] = load;
	}
}

void pm_cluster_deal(const double *seconds, size_t n, size_t n_shards, size_t *shard)
{
	Load *item = pm_xcalloc(n + 1, sizeof *item), *heap = pm_xcalloc(n_shards + 1, sizeof *heap);

	for (size_t i = 0; i < n; i++)
		item[i] = (Load){ seconds[i], i };
	for (size_t i = 0; i < n_shards; i++)
		heap[i].number = i;
	qsort(item, n, sizeof *item, by_seconds);
	for (size_t i = 0; i < n; i++) {
		shard[item[i].number] = heap[0].number;
		heap[0].seconds += item[i].seconds;
		sink(heap, n_shards);
	}
	free(item);
	free(heap);
}
