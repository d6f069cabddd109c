/* SPDX-License-Identifier: Apache-2.0 */
/* driver.h - applying rules to a graph until nothing changes.
 *
 * Order: rules as in PmRules (benefit first); for each, nodes in execution order (bottom-up), found through
 * an index by root operator. Sweeps repeat until none applies a rule, at most PM_MAX_SWEEPS times. Fused
 * nodes are never matched, so a rule does not see what a rule made. The order is the same on every run.
 */
#ifndef MATCHER_DRIVER_H
#define MATCHER_DRIVER_H

#include "base/core/vec.h"
#include "ir/core/graph.h"
#include "matcher/pattern/rules.h"
#include "matcher/rewrite/rule_stats.h"

enum { PM_MAX_SWEEPS = 16 };

typedef struct PmDriverOpts {
	const char *only_rule; /* NULL = all */
	int misses;            /* PmMissesWanted */
} PmDriverOpts;

/* What a plugin said about one rewrite (PmHost.report). */
typedef struct PmReport {
	uint32_t rule; /* number in PmRules */
	char *node;    /* the node that took the place of others, described; owned, as is the text */
	char *text;
} PmReport;

typedef struct PmDriverResult {
	PmRuleStats *rule; /* one per rule, in PmRules order */
	size_t n_rules;
	int64_t applied;
	int sweeps;
	PmErr misuse;                /* first wrong use of the interface; code 0 = none */
	PM_VEC(PmReport) report;     /* in order of rewriting; at most PM_MAX_REPORTS */
	struct PmExpected *expected; /* owned: what the pass expects; matcher/rewrite/session.h */
	size_t n_expected;
} PmDriverResult;

/* Applies the rules. Whatever plugins do wrong is counted and noted in *res, never an error; errors mean that
 * the graph itself cannot be worked on (a cycle, a budget). The graph is sorted and verified afterwards. */
PmStatus pm_driver_run(PmGraph *g, const PmRules *rules, const PmDriverOpts *opts, PmDriverResult *res,
		       PmErr *err);
void pm_driver_result_release(PmDriverResult *res);

#endif
