/* pass_child.h - the two sides of the pass host agree here (private to matcher/).
 *
 * Answer of the child: "PMPASS1 <bytes of JSON> <bytes of graph text>\n", JSON, graph text. The JSON has
 * "end": "applied", "none", "loaded", or the name of a verdict, with "message".
 */
#ifndef MATCHER_PASS_CHILD_H
#define MATCHER_PASS_CHILD_H

#include "matcher/pass_host.h"

#define PM__ANSWER_MAGIC "PMPASS1"

typedef struct PmPassJob {
	const char *so_path;
	const char *text; /* graph, or NULL to load and check only */
	size_t text_len;
	const PmPassOpts *opts;
} PmPassJob;

enum { PM__CHILD_SANDBOX = 71 }; /* exit status when the sandbox could not be entered */

/* Runs in the child (a PmForkFn); arg is a PmPassJob. */
int pm__pass_child(void *arg, PmStr *out);

/* Rules and statistics as JSON, and back from untrusted JSON: cut to limits, control characters removed. */
void pm__rule_to_json(const PmRuleEntry *rule, const PmRuleStats *st, cJSON *list);
void pm__rules_from_json(const cJSON *list, PmPassOutcome *out);
void pm__clean_text(const char *s, char *out, size_t size, int lines);

#endif
