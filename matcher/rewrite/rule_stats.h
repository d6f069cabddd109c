/* SPDX-License-Identifier: Apache-2.0 */
/* rule_stats.h - what a rule did in a graph: counts, reasons to decline, and where its pattern came to
 * nothing. */
#ifndef MATCHER_RULE_STATS_H
#define MATCHER_RULE_STATS_H

#include "matcher/pattern/rules.h"

enum {
	PM_MAX_REASONS = 8, /* reasons to decline that a rule's statistics tell apart */
	PM_MAX_MISSES = 3,  /* near misses kept for a rule: the deepest, at different roots */
	PM_MAX_MISS_TEXT = 511,
	PM_MAX_MISS_FIELD = 159
};

enum {
	PM_MAX_REPORTS = 1024,    /* rewrites of a pass whose reports are kept */
	PM_MAX_REPORT = 256 << 10 /* bytes kept of what a plugin reports about one of them */
};

/* What is collected beside counts: near misses, and what plugins report about their rewrites too. */
typedef enum PmMissesWanted { PM_MISSES_NONE, PM_MISSES_NEAR, PM_MISSES_AND_REPORTS } PmMissesWanted;

/* Where a pattern came to nothing: as one sentence, and as fields for programs. */
typedef struct PmNearMiss {
	uint32_t depth; /* operators matched, of... */
	uint32_t of;    /* ...operators in the pattern */
	char text[PM_MAX_MISS_TEXT + 1];
	char node[PM_MAX_MISS_FIELD + 1];  /* that was looked at: "node 7 (Mul -> 'y')" */
	int32_t operand;                   /* of that node; -1: the node itself */
	char field[PM_MAX_MISS_FIELD + 1]; /* "operator", "operands", "attribute axis", "rank", ... */
	char expected[PM_MAX_MISS_FIELD + 1], actual[PM_MAX_MISS_FIELD + 1];
} PmNearMiss;

typedef struct PmReason {
	char text[160];
	char node[PM_MAX_MISS_FIELD + 1]; /* the first root that was declined for it */
	int64_t count;
} PmReason;

/* Counts of roots, each once however many sweeps there were, as it ended last. */
typedef struct PmRuleStats {
	char name[PM_MAX_RULE_NAME + 1];
	int ran;          /* its turn came: it is not another rule that was asked for */
	int64_t roots;    /* nodes of the original graph that have the operator of the pattern's root */
	int64_t tried;    /* roots looked at (regions: seeds) */
	int64_t rejected; /* of these, refused by the operators of the root's operands alone */
	int64_t matched;  /* pattern matched, or a region was proposed */
	int64_t declined; /* by check, rewrite, or because the set cannot be one kernel */
	int64_t applied;
	int64_t failed; /* the rewrite was wrong: see PmDriverResult.misuse */
	size_t n_reasons, n_misses;
	PmReason reason[PM_MAX_REASONS]; /* why it declined; the last one gathers the rest */
	PmNearMiss miss[PM_MAX_MISSES];
} PmRuleStats;

#endif
