/* SPDX-License-Identifier: Apache-2.0 */
/* propose.h - a pass to start from: the pattern of a graph, in the words of passmith/dsl.h.
 *
 * Inputs and constants of more than one element become slots, constants of one element numbers, values that
 * are read twice names. Attributes are asked for as they are. The rewrite is missing: the rule matches and
 * declines.
 */
#ifndef MATCHER_PROPOSE_H
#define MATCHER_PROPOSE_H

#include "ir/core/graph.h"

/* Appends C source of a plugin with one rule called `name` (a C identifier), whose pattern is the graph;
 * `doc` is put into its comment. PM_E_UNSUPPORTED, with a sentence, when a pattern cannot say it: two results
 * neither of which depends on the other, an omitted operand, over PM_MAX_PATTERN_NODES or PM_MAX_SLOTS. */
PmStatus pm_propose_pass(const PmGraph *g, const char *name, const char *doc, PmStr *out, PmErr *err);

#endif
