/* SPDX-License-Identifier: Apache-2.0 */
/* algebra.h - which graphs are worth less than they look: what clean-up alone makes faster. */
#ifndef APP_ALGEBRA_H
#define APP_ALGEBRA_H

#include "ir/core/graph.h"

/* 1 when the clean-up passes (simplify/simplify.h) take a tenth or more of a sorted, static graph's eager
 * time, modelled by the default profile. What a pass gains there may be algebra that no kernel is needed for;
 * such graphs are allowed, and reported apart. 0 also for a graph that cannot be planned: it has no time. */
int pm_cli_is_algebraic(const PmGraph *g);

#endif
