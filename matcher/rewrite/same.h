/* SPDX-License-Identifier: Apache-2.0 */
/* same.h - whether a rewritten graph still means what the original means.
 *
 * Stronger than a canonical form: both graphs, with every fused node replaced by its body, are walked
 * together from their outputs; operators, attributes, operand order, constants (by content), inputs (by
 * position) and types have to agree at every step. A result that passes computes the original, whoever made
 * it.
 */
#ifndef MATCHER_SAME_H
#define MATCHER_SAME_H

#include "ir/core/graph.h"

/* PM_E_INVALID with a sentence about the first difference. `after` comes from an untrusted process: it has
 * been parsed and verified, its constants are bound; nothing else is assumed. */
PmStatus pm_rewrite_check(const PmGraph *before, const PmGraph *after, PmErr *err);

#endif
