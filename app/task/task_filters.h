/* SPDX-License-Identifier: Apache-2.0 */
/* task_filters.h - the published filters (bench/gate/filters.h) for a graph of any size. */
#ifndef APP_TASK_FILTERS_H
#define APP_TASK_FILTERS_H

#include "base/core/json.h"
#include "bench/gate/filters.h"

typedef struct PmTaskFiltered {
	char label[160]; /* the sizes that were measured, as "float: 4x64x128x128 64x128x3x3" */
	int cut; /* 0: the graph's own sizes; 1: smaller ones, every sum as long as it was; 2: sums are
		  * shorter too */
	PmFilterReport report;
} PmTaskFiltered;

/* Measures a graph by all filters. A large one is cut first, so that the reference runs it in about a second:
 * batches before other dimensions, sums, softmax axes and pooling windows as long as they were as far as
 * possible. PM_E_LIMIT when it stays above `max_mflop` (0 = 2,000) millions of operations and elements. */
PmStatus pm_task_filters(const PmGraph *g, int64_t seed, int64_t max_mflop, PmTaskFiltered *out, PmErr *err);

/* The report as a JSON object, owned: { "judged", "cut", "data", "weights", "filters": [ { "filter",
 * "measures", "found", "limit", "broken" } ] }. `found` is null where there is nothing to measure. */
cJSON *pm_task_filters_json(const PmTaskFiltered *t);

#endif
