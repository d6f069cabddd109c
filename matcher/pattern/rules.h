/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - the rules of plugins in the host's form, checked and in the order in which they are tried. */
#ifndef MATCHER_RULES_H
#define MATCHER_RULES_H

#include "base/core/err.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "matcher/pattern/pattern.h"
#include "passmith/pass.h"

typedef struct PmRuleEntry {
	char name[PM_MAX_RULE_NAME + 1];
	char doc[256];
	PmPattern *pattern; /* NULL for a region rule */
	int32_t benefit;
	uint32_t order; /* of its plugin */
	PmStatus (*check)(PmMatch *m);
	PmStatus (*rewrite)(PmRewriter *rw, PmMatch *m);
	PmStatus (*region)(PmRegion *r, PmVal seed);
} PmRuleEntry;

typedef struct PmRules {
	PM_VEC(PmRuleEntry) v; /* by benefit (large first), plugin order, name */
	uint32_t n_plugins;
	char plugin[PM_MAX_RULE_NAME + 1]; /* name and version of the last plugin added */
	char version[PM_MAX_RULE_NAME + 1];
} PmRules;

/* No rules. pm_rules_release frees those that were added, patterns included. */
void pm_rules_init(PmRules *r);
void pm_rules_release(PmRules *r);
/* Copies and checks every rule of a plugin. Problems are appended to *problems, one line each,
 * "plugin: rule: problem"; with any, PM_E_INVALID is returned and nothing is added. */
PmStatus pm_rules_add(PmRules *r, const PmPlugin *p, PmStr *problems);

/* What is wrong with a pattern that has a form (unknown operators and attributes, counts, slots, ...):
 * "<who>: problem" lines are appended. Returns the number of problems. n_slots 0 = as many as are used. */
size_t pm_pattern_lint(const PmPattern *p, uint32_t n_slots, const char *who, PmStr *problems);

#endif
