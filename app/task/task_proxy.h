/* SPDX-License-Identifier: Apache-2.0 */
/* task_proxy.h - the scaled-down proxy of a graph, the variants that a graph has, and what a graph costs. */
#ifndef APP_TASK_PROXY_H
#define APP_TASK_PROXY_H

#include "base/core/vec.h"
#include "ir/core/graph.h"

/* Operations of all nodes together. */
int64_t pm_graph_flops(const PmGraph *g);
/* Operations of all nodes and elements of all values. */
int64_t pm_graph_cost(const PmGraph *g);

/* One shape and element type of a graph. */
typedef struct PmGraphVariant {
	PmGraph *g; /* owned */
	char *label;
	int shape, dtype; /* numbers of the making (extract/variants/variants.h) */
} PmGraphVariant;

typedef struct PmGraphVariants {
	PM_VEC(PmGraphVariant) list;
	size_t n_shapes, n_dtypes;
} PmGraphVariants;

/* Keeps a copy of a variant that is being made: `arg` is a PmGraphVariants, for pm_variants_make. */
PmStatus pm_task_collect(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err);
void pm_task_variants_release(PmGraphVariants *v);

/* The variant of a graph that the gate judges: of float ones without axes shrunk to 1 and with at least 64
 * elements in each result (unless the original is so) the largest that the reference runs quickly, or else
 * the cheapest of many scaled down. Returns owned in *out, and a label. PM_E_LIMIT when all are too large. */
PmStatus pm_task_proxy(const PmGraph *g, PmGraph **out, char label[96], PmErr *err);

#endif
