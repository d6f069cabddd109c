/* SPDX-License-Identifier: Apache-2.0 */
/* made.h - what passes made of a task: the graph with its fused nodes, sources of kernels, stored profiles.
 */
#ifndef APP_REPORT_MADE_H
#define APP_REPORT_MADE_H

#include "app/apply/regions.h"
#include "app/report/section.h"
#include "dataset/store/rewrites.h"

enum {
	PM_MADE_ROOM = 800000, /* bytes of a page for all of it; what comes when it is used is left out */
	PM_MADE_SYSTEMS = 6,   /* of a task: those with the largest speedups */
	PM_MADE_KERNELS = 24,  /* rows of the table of kernels */
	PM_MADE_SOURCES = 8,   /* of a system */
	PM_MADE_SOURCE = 12000 /* bytes of a source */
};

/* Writes it for one task, as far as in->room goes; the graph of the first variant where no pass made
 * anything. */
PmStatus pm_report_put_made(const PmReportInput *in, const PmBoardTask *task, PmHtml *h, PmErr *err);

/* made_graph.c: the graph as a drawing with marks for the nodes of each kernel (NULL = none), and the table
 * of kernels with what each replaces. `alt`: the alternative that is looked at. */
PmStatus pm__put_made_drawing(const PmGraph *g, const PmGraph *made, const PmRegions *f, PmHtml *h,
			      PmErr *err);
void pm__put_made_kernels(const PmGraph *g, const PmGraph *made, const PmRegions *f, int alt, PmHtml *h);
/* The attribute NAME_K of a kernel for an alternative, or its last. */
const PmAttr *pm__made_attr(const PmGraph *made, PmNode n, const char *name, int alt);

/* made_profile.c: a stored profile as a table; nothing where it has no kernel. */
void pm__put_made_profile(const PmProfileRow *row, PmHtml *h);

#endif
