/* SPDX-License-Identifier: Apache-2.0 */
/* pass_job.h - what the caller of a pass and the program that runs it say to each other.
 *
 * Job, on the child's stdin: "PMJOB3 <bytes of object> <bytes of graph text> <bytes of rule> <bytes of name>
 * <bytes of target> <has graph> <misses> <variant> <require>\n", then the five in that order. The target is
 * JSON: "target" and the list "trials" (targets/targets.h). Answer, on its stdout: "PMPASS1 <bytes of JSON>
 * <bytes of graph text> <bytes of sources>\n", JSON, graph text, sources. The JSON has "end": "applied",
 * "none", "loaded", or the name of a verdict, with "message". Sources are "<bytes>\n" and the bytes, each
 * different one once, since a kernel's text is often longer than the nodes that it replaces; the graph's
 * kernels name them as "@0", "@1", ... Without the third number they stand in the graph text.
 */
#ifndef MATCHER_PASS_JOB_H
#define MATCHER_PASS_JOB_H

#include "base/core/clean.h"
#include "matcher/host/loader.h"
#include "matcher/host/pass_outcome.h"
#include "matcher/rewrite/driver.h"
#include "matcher/rewrite/session.h"
#include "targets/targets.h"

#define PM__ANSWER_MAGIC "PMPASS1"

/* Exit status of a child that was stopped by its own guard for something forbidden; the reason is on stderr.
 */
enum { PM__CHILD_SANDBOX = 71, PM__CHILD_UNBOXED = 72 };

/* What the child writes when its sandbox holds, before anything of the plugin runs. Without it no byte is the
 * plugin's, nor is the status PM__CHILD_UNBOXED, which says that a layer of the job's `require` is missing.
 */
#define PM__CHILD_BOXED "PMBOX1\n"

typedef struct PmPassJob {
	const char *object; /* the shared object */
	size_t object_len;
	const char *text; /* graph, or NULL to load and check only */
	size_t text_len;
	const char *rule;       /* only this one; NULL = all */
	const char *name;       /* of the object's file, for messages */
	const PmTarget *target; /* read: allocated, for the child's life; so are the trials */
	const PmTarget *const *trial;
	size_t n_trials;
	int misses;
	unsigned variant;
	unsigned require; /* layers of the sandbox that have to hold (base/sandbox/sandbox.h) */
} PmPassJob;

/* Appends the job with its object and text as bytes. */
void pm__job_write(const PmPassJob *job, PmStr *out);
/* The parts point into `s`, where their ends are made to terminate (one byte after each is part of the
 * format). PM_E_INVALID for anything that pm__job_write does not make. */
PmStatus pm__job_read(PmStr *s, PmPassJob *out, PmErr *err);

/* In the child, inside the sandbox: opens the mapped plugin, applies its rules, appends the answer to *out.
 */
void pm__pass_child(const PmPassJob *job, const PmElf *elf, PmLoaded *plugin, PmStr *out);
/* What a pass expects, as the answer's "expected", and back from untrusted JSON: a new list whose texts are
 * clean and whose numbers are finite, NULL when there is none. */
cJSON *pm__expected_to_json(const PmExpected *e, size_t n);
cJSON *pm__expected_from_json(const cJSON *list);
/* An answer that only names a verdict; `problems` are lines, or "". */
void pm__answer_refusal(const char *verdict, const char *message, const char *problems, PmStr *out);

/* In the caller: fills the verdict and what belongs to it from the child's bytes, which may be anything. `in`
 * is the original graph, whose text had in_len bytes, or NULL when none was sent. */
void pm__judge_answer(const PmStr *answer, const PmGraph *in, size_t in_len, PmPassOutcome *out);

/* Rules and statistics as JSON, and back from untrusted JSON: texts are cut to limits, control characters
 * removed. PM_E_LIMIT for more rules, reasons or near misses than a pass can have: no memory is taken. */
void pm__rule_to_json(const PmRuleEntry *rule, const PmRuleStats *st, cJSON *list);
PmStatus pm__rules_from_json(const cJSON *list, PmPassOutcome *out, PmErr *err);
/* What the plugin reported, as the list "reports", and back from untrusted JSON within the same limits. */
void pm__reports_to_json(const PmRules *rules, const PmDriverResult *res, cJSON *o);
PmStatus pm__reports_from_json(const cJSON *list, PmPassOutcome *out, PmErr *err);

#endif
