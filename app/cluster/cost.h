/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - how long evaluations take, by a model, and items dealt out so that all shards take as long. */
#ifndef APP_CLUSTER_COST_H
#define APP_CLUSTER_COST_H

#include "ir/core/graph.h"

#include <stddef.h>

/* Seconds that a pass on this graph takes on one processor and, with `timed`, on a GPU whose clock runs. From
 * the graph alone: what the reference computes, what is drawn and compared, and what is launched. Good for
 * comparing items. */
double pm_cluster_cost(const PmGraph *g, int timed);

/* shard[i], from 0 to n_shards - 1, of each of n items: the longest items first, each to the shard that has
 * least so far (Graham 1969: at most 4/3 of the best). The same for the same numbers. */
void pm_cluster_deal(const double *seconds, size_t n, size_t n_shards, size_t *shard);

#endif
