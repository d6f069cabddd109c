/* pass_host.h - running a pass: its code in a child process, its answer checked here.
 *
 * The child gets graph text (constants of more than 64 elements by reference), loads the plugin, applies its
 * rules and answers with graph text and statistics. Everything that comes back is untrusted: it is parsed
 * within limits, verified, and accepted only when it computes the original graph (matcher/same.h). Whatever
 * a plugin does ends as a verdict; the caller's process is not affected.
 */
#ifndef MATCHER_PASS_HOST_H
#define MATCHER_PASS_HOST_H

#include "base/json.h"
#include "ir/graph.h"
#include "matcher/driver.h"
#include "matcher/verdict.h"

typedef struct PmPassOpts {
	double seconds;        /* deadline for the whole child; 0 = 10 */
	int64_t memory;        /* bytes the child may map beyond what is mapped now; 0 = 1 GiB */
	const char *only_rule; /* NULL = all rules */
	int misses;            /* collect near misses (slower); pm_pass_explain sets it */
	/* Called in the child before the plugin is opened, to enter a sandbox that still allows reading the
	 * shared object; returns 0, or the child ends with SANDBOX_KILL. NULL = limits only. */
	int (*sandbox)(void *arg);
	void *sandbox_arg;
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
	char *problems; /* REJECT_LINT: one per line; else "" */
	char *output;   /* what the plugin wrote to stdout and stderr (at most 64 KiB) */
	PmGraph *graph; /* the rewritten graph, owned; only when the verdict is OK and a graph was given */
	int64_t applied;
	int sweeps;
	double seconds; /* wall time of the child */
	PmPassRule *rule;
	size_t n_rules;
} PmPassOutcome;

/* Applies the pass to `in`. PM_OK whenever there is a verdict; errors are of this machine (no process) or of
 * `in`. Release *out in every case. */
PmStatus pm_pass_apply(const char *so_path, const PmGraph *in, const PmPassOpts *opts, PmPassOutcome *out,
		       PmErr *err);
/* Loads the pass and checks its rules: OK, REJECT_ABI, REJECT_LINT, PASS_CRASH, PASS_TIMEOUT. */
PmStatus pm_pass_lint(const char *so_path, const PmPassOpts *opts, PmPassOutcome *out, PmErr *err);
/* pm_pass_apply with near misses, and a report for people appended to *text: per rule its pattern, counts,
 * reasons to decline, and how close it came. */
PmStatus pm_pass_explain(const char *so_path, const PmGraph *in, const PmPassOpts *opts, PmPassOutcome *out,
			 PmStr *text, PmErr *err);
void pm_pass_outcome_release(PmPassOutcome *out);
/* Adds verdict, message, problems, counts and rules to a JSON object. */
void pm_pass_outcome_json(const PmPassOutcome *out, cJSON *obj);
/* Appends the report of pm_pass_explain. */
void pm_pass_outcome_print(const PmPassOutcome *out, PmStr *text);

#endif
