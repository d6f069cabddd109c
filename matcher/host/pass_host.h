/* SPDX-License-Identifier: Apache-2.0 */
/* pass_host.h - running a pass: its code in another program, its answer checked here.
 *
 * That program, passmith-host, starts with an empty environment and knows nothing of the caller: it gets the
 * shared object's bytes and graph text (constants of more than 64 elements by reference), maps the plugin,
 * enters its sandbox, applies the rules and answers with graph text and statistics. Everything that comes
 * back is untrusted: it is parsed within limits, verified, and accepted only when it computes the original
 * graph (matcher/rewrite/same.h). Whatever a plugin does ends as a verdict; the caller's process is not
 * affected.
 */
#ifndef MATCHER_PASS_HOST_H
#define MATCHER_PASS_HOST_H

#include "base/core/json.h"
#include "ir/core/graph.h"
#include "matcher/host/object.h"
#include "matcher/host/verdict.h"
#include "matcher/rewrite/driver.h"

typedef struct PmPassOpts {
	double seconds;         /* deadline for the whole child; 0 = 10 */
	int64_t memory;         /* bytes the plugin may make the child map; 0 = 1 GiB */
	const char *only_rule;  /* NULL = all rules */
	int misses;             /* collect near misses (slower); pm_pass_explain sets it */
	const PmObject *object; /* borrowed: these bytes, whatever the file holds now; NULL = the file is
				 * read, once for this call */
	unsigned variant; /* 0 or 1: where the plugin, the heap and the stack lie; answers must not differ */
} PmPassOpts;

/* One rule of a pass: what it is (empty where the child said nothing) and what it did. */
typedef struct PmPassRule {
	char *doc;
	char *pattern; /* text form; "" for a region rule */
	int32_t benefit;
	PmRuleStats stats;
} PmPassRule;

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
} PmPassOutcome;

/* Applies the pass to `in`. PM_OK whenever there is a verdict; errors are of this machine (no process) or of
 * `in`. Release *out in every case. */
PmStatus pm_pass_apply(const char *so_path, const PmGraph *in, const PmPassOpts *opts, PmPassOutcome *out,
		       PmErr *err);
/* Loads the pass and checks its rules: OK, REJECT_ELF, REJECT_ABI, REJECT_LINT, PASS_CRASH, PASS_TIMEOUT. */
PmStatus pm_pass_lint(const char *so_path, const PmPassOpts *opts, PmPassOutcome *out, PmErr *err);
/* pm_pass_apply with near misses, and a report for people appended to *text: per rule its pattern, counts,
 * reasons to decline, and how close it came. */
PmStatus pm_pass_explain(const char *so_path, const PmGraph *in, const PmPassOpts *opts, PmPassOutcome *out,
			 PmStr *text, PmErr *err);
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
