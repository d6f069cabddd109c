/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - the nodes of a graph in nested groups, so that each level of a drawing is small enough to be read.
 *
 * Groups come from the scopes in the names of nodes ("/encoder/layer.0/MatMul", or with dots), and where
 * these say nothing, from runs of the execution order ("part 3 of 9"). A graph of at most PM_FOLD_ALL nodes
 * is one group. The same graph gives the same groups.
 */
#ifndef APP_VIEW_FOLD_H
#define APP_VIEW_FOLD_H

#include "base/core/vec.h"
#include "ir/core/graph.h"

enum {
	PM_FOLD_ALL = 80,  /* nodes that are drawn without groups */
	PM_FOLD_MOST = 60, /* items of a group at most, in any larger graph */
	PM_FOLD_PART = 30  /* items of a part of a longer list */
};

#define PM_FOLD_NONE UINT32_MAX

/* A node, by its place in the execution order, or a group. */
typedef struct PmFoldItem {
	uint32_t id;
	int is_group;
} PmFoldItem;

typedef struct PmFoldGroup {
	char *name;      /* owned; the last part of the scope, or "part 3 of 9" */
	uint32_t parent; /* PM_FOLD_NONE of the whole */
	uint32_t at;     /* which item of the parent it is */
	uint32_t same;  /* the first group that differs from this one in names and weights alone; maybe itself
			 */
	size_t n_same;  /* of that first group: how many there are, itself included */
	size_t n_nodes; /* on all levels */
	size_t first, n; /* its items: PmFold.item[first] and on, in execution order of their first nodes */
} PmFoldGroup;

typedef struct PmFold {
	const PmGraph *g;
	size_t n_nodes;
	uint32_t *place;           /* by node id: its place in the execution order */
	uint32_t *of;              /* by place: the innermost group */
	uint32_t *at;              /* by place: which item of that group it is */
	PM_VEC(PmFoldGroup) group; /* 0 is the whole */
	PM_VEC(PmFoldItem) item;
	const unsigned char *kind; /* borrowed while groups are made, or NULL */
} PmFold;

/* Groups the nodes of g, which is sorted and outlives *out. `flat`: all in one group. Time is n log n in
 * nodes, for each level of scopes. */
PmStatus pm_fold(const PmGraph *g, int flat, PmFold *out, PmErr *err);

/* What is said of nodes, by place, when a graph is folded around some of them. */
typedef struct PmFoldMarks {
	const unsigned char *kind; /* groups whose nodes differ in it are not the same */
	/* 1: the node stands on the first level by itself; each run of others there is one group,
	 * "unchanged". NULL = groups as pm_fold makes them. A graph of at most PM_FOLD_ALL nodes is one
	 * level all the same. */
	const unsigned char *alone;
} PmFoldMarks;

/* The same with what the marks say; they are borrowed until it returns. */
PmStatus pm_fold_marked(const PmGraph *g, const PmFoldMarks *marks, PmFold *out, PmErr *err);
/* Frees what it owns; *f is not to be used after that. */
void pm_fold_release(PmFold *f);

/* The item of group `within` that holds the node at a place; PM_FOLD_NONE when it is outside. */
uint32_t pm_fold_item_of(const PmFold *f, uint32_t within, uint32_t place);
/* Appends the places of all nodes of a group, on all levels. */
typedef PM_VEC(uint32_t) PmPlaces;
void pm_fold_places(const PmFold *f, uint32_t group, PmPlaces *out);

/* fold_same.c: sets `same` and `n_same` of all groups. */
PmStatus pm__fold_same(PmFold *f, PmErr *err);

#endif
