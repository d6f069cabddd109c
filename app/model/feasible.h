/* SPDX-License-Identifier: Apache-2.0 */
/* feasible.h - cutting a model down to what a CPU runs in seconds. */
#ifndef APP_FEASIBLE_H
#define APP_FEASIBLE_H

#include "ir/core/graph.h"

/* The largest part of a model that costs at most `max_flops` a run: a connected piece of a stretch of the
 * execution order without opaque nodes (hence convex). Values that enter it, weights too, become inputs.
 * Returns owned in *out. PM_E_NOT_FOUND when no node qualifies. */
PmStatus pm_feasible_cut(const PmGraph *g, int64_t max_flops, PmGraph **out, PmErr *err);

#endif
