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

#include "ir/core/graph.h"
#include "matcher/host/object.h"
#include "matcher/host/pass_outcome.h"
#include "targets/targets.h"

typedef struct PmPassOpts {
	double seconds;         /* deadline for the whole child; 0 = 10 */
	int64_t memory;         /* bytes the plugin may make the child map; 0 = 1 GiB */
	const char *only_rule;  /* NULL = all rules */
	int misses;             /* PmMissesWanted (slower); pm_pass_explain sets it */
	const PmObject *object; /* borrowed: these bytes, whatever the file holds now; NULL = the file is
				 * read, once for this call */
	const PmTarget *target; /* that the rewrite is for; NULL = the process's (targets/targets.h) */
	const PmTarget *const *trial; /* under which it is asked what it expects, beside the target; at most
				       * PM_MAX_TRIALS */
	size_t n_trials;
	unsigned variant; /* 0 or 1: where the plugin, the heap and the stack lie; answers must not differ */
} PmPassOpts;

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

#endif
