/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - which stored graphs are asked about together, as one task.
 *
 * A bucket holds the graphs of one list of operators and one list of size classes (dataset/store/bucket.h).
 * Within a bucket graphs are ordered by (number of nodes, hash), so that groups are a function of content.
 * The rules, in this order; a graph is in the groups of the first pair or of the second, never of both:
 *
 *   stride        every `stride`-th graph of a bucket but its first: a group of one each
 *   cross-shape   the first graphs of all buckets with one list of operators: one group
 *   dtype         of what is left, in each bucket the first graph of each list of element types, at most
 *                 PM_GROUP_DTYPES; all buckets with one list of operators together: one group
 *   sparse        of what is left then, ordered by hash, the first three of every fifteen: one group for each
 * list of operators
 */
#ifndef DATASET_GROUP_H
#define DATASET_GROUP_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

enum { PM_GROUP_STRIDE = 16, PM_GROUP_DTYPES = 3, PM_GROUP_WINDOW = 15, PM_GROUP_TAKEN = 3 };

typedef enum { PM_GROUP_BY_STRIDE, PM_GROUP_CROSS_SHAPE, PM_GROUP_DTYPE, PM_GROUP_SPARSE } PmGroupRule;
const char *pm_group_rule_name(PmGroupRule r); /* "stride", "cross-shape", "dtype", "sparse" */

/* What grouping looks at; equal numbers stand for equal texts. */
typedef struct PmSample {
	const char *hash; /* borrowed; different for each */
	int64_t n_nodes;
	int64_t op_seq, shapes, dtypes;
} PmSample;

typedef struct PmGroup {
	PmGroupRule rule;
	size_t first, n; /* in PmGroups.member */
} PmGroup;

typedef struct PmGroups {
	PmGroup *group; /* owned */
	size_t n;
	size_t *member; /* owned: numbers of samples */
	size_t n_variants;
} PmGroups;

/* Groups n samples; the answer does not depend on their order, up to the numbers. stride 0 = PM_GROUP_STRIDE.
 * Groups come by operators (in the order of the least hash of each), then by rule. */
void pm_group(const PmSample *s, size_t n, size_t stride, PmGroups *out);
void pm_groups_release(PmGroups *g);

#endif
