/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - a model as a drawing: one page whose groups open by links, or one level as SVG. */
#ifndef APP_VIEW_VIEW_H
#define APP_VIEW_VIEW_H

#include "app/diff/diff.h"
#include "base/core/str.h"
#include "draw/layout/layout.h"
#include "ir/core/graph.h"

enum {
	PM_VIEW_BOXES = 6000, /* that one page draws; groups beyond it are closed, and say so */
	PM_VIEW_FLAT = 3000   /* nodes that --flat draws at most */
};

typedef struct PmViewOpts {
	const char *name; /* of the model, for the heading */
	int svg;          /* one level, the first; without it a page */
	int flat;         /* all nodes on one level */
	size_t group;     /* the first level: a group's number; 0 = the whole */
	PmLayoutEngine engine;
} PmViewOpts;

typedef struct PmViewDone {
	size_t nodes, groups; /* of the model; the whole is no group */
	size_t sheets, boxes; /* drawn: levels, and boxes on them */
	size_t closed;        /* different groups that are seen, but not drawn: the page would be too large */
} PmViewDone;

/* Appends the drawing of a sorted graph. PM_E_INVALID for a group that there is not, PM_E_LIMIT for too many
 * nodes with `flat`. */
PmStatus pm_view(const PmGraph *g, const PmViewOpts *o, PmStr *out, PmViewDone *done, PmErr *err);

/* Appends the drawing of a difference: one drawing of both graphs, in which removed, added and changed nodes
 * are marked, behind a table of the changes. What is far from all changes is folded (app/view/union.h).
 * `done` counts the nodes of both graphs, pairs once. Errors as of pm_view. */
PmStatus pm_view_diff(const PmDiff *d, const PmViewOpts *o, PmStr *out, PmViewDone *done, PmErr *err);

#endif
