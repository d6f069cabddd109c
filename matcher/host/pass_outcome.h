/* SPDX-License-Identifier: Apache-2.0 */
/* pass_outcome.h - how a run of a pass ended: its verdict, the graph it made, and what each rule did. */
#ifndef MATCHER_PASS_OUTCOME_H
#define MATCHER_PASS_OUTCOME_H

#include "base/core/json.h"
#include "ir/core/graph.h"
#include "matcher/host/verdict.h"
#include "matcher/rewrite/rule_stats.h"

/* One rule of a pass: what it is (empty where the child said nothing) and what it did. */
typedef struct PmPassRule {
	char *doc;
	char *pattern; /* text form; "" for a region rule */
	int32_t benefit;
	PmRuleStats stats;
} PmPassRule;

/* What the pass said about one of its rewrites (PmHost.report); only where near misses were collected. */
typedef struct PmPassReport {
	char *rule, *node, *text; /* owned; the node that took the place of others, described */
} PmPassReport;

typedef struct PmPassOutcome {
	PmVerdict verdict;
	char message[PM_ERR_MAX]; /* one sentence; "" when the verdict is OK */
	char plugin[PM_MAX_RULE_NAME + 1], version[PM_MAX_RULE_NAME + 1];
	char *problems;  /* REJECT_ELF, REJECT_LINT: one per line; else "" */
	char *output;    /* what the child wrote to stderr (at most 64 KiB) */
	PmGraph *graph;  /* the rewritten graph, owned; only when the verdict is OK and a graph was given */
	int64_t applied; /* fused nodes that are new in `graph` */
	int sweeps;
	double seconds; /* wall time of the child */
	PmPassRule *rule;
	size_t n_rules;
	PmPassReport *report;
	size_t n_reports;
	cJSON *expected; /* owned: what the pass expects its kernels to take, a list; NULL = it does not say
			  */
} PmPassOutcome;

/* Frees what it owns; one that is all zero has nothing. */
void pm_pass_outcome_release(PmPassOutcome *out);
/* Adds verdict, message, problems, counts and rules to a JSON object. */
void pm_pass_outcome_json(const PmPassOutcome *out, cJSON *obj);
/* How often rules declined, and what the reason given most often is, with the first node that it was given
 * for. The texts are *out's; they are left alone when no rule declined. */
int64_t pm_pass_outcome_declined(const PmPassOutcome *out, const char **rule, const char **why,
				 const char **node);
/* The deepest near miss and its rule, borrowed; NULL when there is none. */
const PmNearMiss *pm_pass_outcome_nearest(const PmPassOutcome *out, const char **rule);
/* As one JSON object: "declined", a list of rule, text, node (the first) and count, and "nearest", the
 * deepest near miss with its fields and rule. Owned by the caller; NULL when no rule declined or came near.
 */
char *pm_pass_outcome_explained(const PmPassOutcome *out);
/* Whether `problems` has to be shown beside `message`: not when it is one line that the sentence holds. */
int pm_pass_outcome_says_more(const PmPassOutcome *out);
/* Appends the report of pm_pass_explain. */
void pm_pass_outcome_print(const PmPassOutcome *out, PmStr *text);

#endif
