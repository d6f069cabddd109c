/* SPDX-License-Identifier: Apache-2.0 */
/* plot.h - line charts as SVG: what a report needs, nothing loaded from elsewhere. The same data give the
 * same bytes. */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include "base/core/str.h"

#include <stddef.h>

enum { PM_PLOT_LINES = 24 };

typedef struct PmPlotLine {
	const char *name; /* borrowed; for the legend */
	size_t n;
	const double *x,
		*y;    /* borrowed; a point that is not finite, or not positive on a log axis, is a gap */
	size_t colour; /* lines of one number look alike in all plots of a page */
} PmPlotLine;

typedef struct PmPlot {
	const char *title, *x_label, *y_label;
	int log_x, log_y; /* decades, with 2 and 5 between */
	int steps;        /* draw steps instead of slopes */
	double guide_x;   /* a thin vertical line there; NaN for none */
	int in_page; /* classes of draw/html/page.css instead of colours, and a line that its script moves */
	size_t n;    /* at most PM_PLOT_LINES are drawn */
	PmPlotLine line[PM_PLOT_LINES];
} PmPlot;

/* Appends one <svg> element. A plot without any point says so in its place. */
void pm_plot_svg(const PmPlot *p, PmStr *out);

#endif
