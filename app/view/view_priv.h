/* SPDX-License-Identifier: Apache-2.0 */
/* view_priv.h - what drawings of a model and of a difference share. */
#ifndef APP_VIEW_VIEW_PRIV_H
#define APP_VIEW_VIEW_PRIV_H

#include "app/view/sheet.h"
#include "app/view/view.h"
#include "draw/html/html.h"

/* What a page has beside the levels. */
typedef struct PmViewPart {
	const PmSheetMarks *marks; /* NULL = none */
	/* Writes what stands before the first level; NULL = nothing. `opens`: by group, 1 for those that a
	 * link "#gN" leads to. */
	void (*put)(PmHtml *h, const PmFold *f, const char *opens, const void *of);
	const void *of;
} PmViewPart;

/* view.c: appends the drawing of a graph whose nodes are in groups. Errors as of pm_view. */
PmStatus pm__view_fold(const PmFold *f, const PmViewOpts *o, const PmViewPart *part, PmStr *out,
		       PmViewDone *done, PmErr *err);

#endif
