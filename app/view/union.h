/* SPDX-License-Identifier: Apache-2.0 */
/* union.h - two graphs as one that can be drawn: pairs once, and what each has alone. */
#ifndef APP_VIEW_UNION_H
#define APP_VIEW_UNION_H

#include "app/diff/diff.h"
#include "app/view/fold.h"

typedef struct PmUnion {
	PmGraph *g;          /* owned; its nodes stand in the order of the difference */
	uint32_t *change;    /* by place: 1 + which change of the difference it is; 0 = unchanged */
	unsigned char *kind; /* by place: 0 = unchanged, else 1 + PmDiffKind */
} PmUnion;

/* A changed node has the operands of the second graph, and behind them those of the first that were removed.
 * A value that only the first graph has is called "NAME (removed)" where the second has its name. Release
 * *out also after an error. */
PmStatus pm_union(const PmDiff *d, PmUnion *out, PmErr *err);
void pm_union_release(PmUnion *u);

/* Which nodes stand alone on the first level, by place: what is at most two values away from a change, or
 * less when that is too much for one level. Returns owned; NULL when even the changes are too many. */
unsigned char *pm_union_alone(const PmUnion *u);

#endif
