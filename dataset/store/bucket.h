/* SPDX-License-Identifier: Apache-2.0 */
/* bucket.h - the coarse key that groups graphs of similar shape.
 *
 * Graphs whose operators, size classes and element types are the same fall into one bucket. The size class of
 * a dimension is floor(log2 d) / 4, so that 1..15, 16..255, 256..4095, ... are alike; computed in integers,
 * because a logarithm in floating point is wrong just below large powers of two.
 */
#ifndef DATASET_BUCKET_H
#define DATASET_BUCKET_H

#include "ir/core/graph.h"

/* Size class of a dimension: -1 for d <= 0 (empty, or a symbol), else floor(log2 d) / 4. */
int pm_dim_bucket(int64_t d);
/* Appends the classes of all inputs, "[0,2][1]": one list per input, weights included, by their order. */
void pm_graph_shape_bucket(const PmGraph *g, PmStr *out);
/* Appends the element types of all inputs, "float,int64". */
void pm_graph_dtypes(const PmGraph *g, PmStr *out);

#endif
