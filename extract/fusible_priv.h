/* SPDX-License-Identifier: Apache-2.0 */
/* fusible_priv.h - what fusible.c grows and fusible_trim.c makes sets of. */
#ifndef EXTRACT_FUSIBLE_PRIV_H
#define EXTRACT_FUSIBLE_PRIV_H

#include "base/core/vec.h"
#include "extract/fusible.h"

typedef struct Group {
	uint32_t size, level;
	uint8_t open;     /* nodes may join */
	uint8_t anchored; /* begins with a contraction */
	uint8_t consumed; /* a node of another group reads it */
	uint32_t into;    /* the group it became one with; itself at first */
} Group;

typedef struct Grow {
	const PmGraph *g;
	size_t min_nodes, max_nodes, min_launches;
	const uint32_t *launches;
	int keep_ends;
	uint32_t *group_of; /* by node id: 1 + group */
	PM_VEC(Group) groups;
	PM_VEC(uint32_t) stamp;     /* by group: 1 + node place that saw it last */
	PM_VEC(uint32_t) producers; /* groups that the node at hand reads */
	PM_VEC(PmNode) nodes;       /* result */
	PM_VEC(size_t) start;
	uint32_t *local; /* by node id, while trimming: 1 + place in the group */
} Grow;

/* The group that a group has become a part of, or itself. */
uint32_t pm__group_root(Grow *w, uint32_t id);

/* Makes the result of the groups: the last step, which uses w's arrays up. */
void pm__fusible_finish(Grow *w, PmNodeSets *out);

#endif
