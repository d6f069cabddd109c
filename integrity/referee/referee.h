/* SPDX-License-Identifier: Apache-2.0 */
/* referee.h - the trusted side of one rewrite: runs the pass host, believes nothing, returns a checked graph.
 */
#ifndef INTEGRITY_REFEREE_H
#define INTEGRITY_REFEREE_H

#include "ir/core/graph.h"
#include "matcher/host/object.h"
#include "matcher/host/verdict.h"

typedef struct PmCandidate {
	PmVerdict verdict;    /* OK: `g` is the rewritten graph */
	char why[PM_ERR_MAX]; /* one sentence for the author; empty when OK */
	PmGraph *g;           /* owned; NULL unless OK */
	int n_applied;        /* rule applications */
	int n_kernels;        /* fused nodes in g */
	char *near_miss;      /* owned; how far the best attempt came when nothing matched; may be NULL */
	char *explained;      /* owned; pm_pass_outcome_explained() as JSON; may be NULL */
	double seconds;       /* of the pass host, both runs */
} PmCandidate;

/* Runs the pass (`rule`: this rule of it alone; NULL: all) on `g` twice in sandboxed children and compares
 * the answers byte for byte (PASS_NONDET), then checks that the result is the original with regions replaced
 * by kernels whose bodies are those regions. Whatever the pass does, this returns PM_OK and a verdict; an
 * error means that the referee itself failed. */
PmStatus pm_referee_rewrite_object(const PmObject *object, const char *rule, const PmGraph *g,
				   double deadline, PmCandidate *out, PmErr *err);
/* The same of a file, which is read once for both runs; one that cannot be read is REJECT_ELF. */
PmStatus pm_referee_rewrite(const char *so_path, const char *rule, const PmGraph *g, double deadline,
			    PmCandidate *out, PmErr *err);
/* The same for each of n graphs, the file being read once for all, side by side on all processors;
 * out[0..n-1] as one by one. An error is the first graph's that has one, and leaves every out[i] released. */
PmStatus pm_referee_rewrite_all(const char *so_path, PmGraph *const *g, size_t n, double deadline,
				PmCandidate *out, PmErr *err);
void pm_candidate_release(PmCandidate *c);

#endif
