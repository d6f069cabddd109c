/* SPDX-License-Identifier: Apache-2.0 */
/* match.h - matching one pattern at one value of a graph: a goal stack with backtracking and a step budget.
 *
 * Strict: exact operand counts, attributes that are not mentioned hold their defaults, and results of matched
 * nodes are used by matched nodes only. Excepted from the last rule are the root, results of nodes in a
 * KEEP (these stay), and values named by AS (the rewrite must then replace them: PmMatched.open).
 */
#ifndef MATCHER_MATCH_H
#define MATCHER_MATCH_H

#include "ir/core/graph.h"
#include "matcher/pattern/pattern.h"

enum {
	PM_MATCH_STEPS = 4096, /* goals tried at one root by one rule */
	PM_MAX_MATCH_NODES = PM_MAX_PATTERN_NODES
};

typedef struct PmMatched {
	PmValue root;
	PmValue slot[PM_MAX_SLOTS];
	uint32_t n_nodes, n_kept, n_open;
	PmNode node[PM_MAX_MATCH_NODES];  /* in no particular order */
	PmNode kept[PM_MAX_MATCH_NODES];  /* in a KEEP: may stay, so their results may be used outside */
	PmValue open[PM_MAX_MATCH_NODES]; /* named by AS and used outside */
} PmMatched;

/* Why a pattern did not match at a root: the failure after the most matched operators. */
typedef enum {
	PM_MISS_NONE,
	PM_MISS_OP,      /* value is not the result of that operator */
	PM_MISS_RESULT,  /* of that operator, but another result */
	PM_MISS_COUNT,   /* other number of operands */
	PM_MISS_ATTR,    /* attribute has another value */
	PM_MISS_DEFAULT, /* attribute that is not mentioned does not hold its default */
	PM_MISS_DTYPE,
	PM_MISS_RANK,
	PM_MISS_SLOT,   /* slot holds another value */
	PM_MISS_NUM,    /* not that number */
	PM_MISS_ABSENT, /* operand is omitted */
	PM_MISS_ESCAPE, /* an interior value is used outside */
	PM_MISS_BUDGET  /* out of steps */
} PmMissKind;

typedef struct PmMiss {
	PmMissKind kind;
	uint32_t depth;   /* operators matched before */
	uint32_t pat;     /* node of the pattern */
	PmValue value;    /* the value looked at */
	PmNode user;      /* the node it is an operand of; none at the root */
	uint32_t operand; /* of user */
	uint32_t attr;    /* ATTR: number in the pattern node; DEFAULT: number in the operator's table row */
	PmValue other;    /* SLOT: the value in the slot */
	PmNode outside;   /* ESCAPE: who uses it; none for a graph output */
} PmMiss;

/* 1 when the pattern's value is `root`; then *m is filled. 0 when not; then *miss (may be NULL) says why.
 * The root pattern node must be an OP. */
int pm_match(const PmGraph *g, const PmPattern *p, PmValue root, PmMatched *m, PmMiss *miss);

struct PmNearMiss; /* matcher/rewrite/driver.h */
/* Fills *out from a miss at the pattern's root node `root`: the sentence and the fields. */
void pm_miss_fill(const PmGraph *g, const PmPattern *p, PmNode root, const PmMiss *miss,
		  struct PmNearMiss *out);
/* Appends one sentence about a miss: which node, what was found, what the pattern wants. */
void pm_miss_describe(const PmGraph *g, const PmPattern *p, const PmMiss *miss, PmStr *out);

#endif
