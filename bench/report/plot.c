/* SPDX-License-Identifier: Apache-2.0 */
/* plot.c - line charts as SVG. */
#include "bench/report/plot.h"

#include <math.h>

enum {
	WIDTH = 790,
	LEFT = 70,
	RIGHT = 240,
	TOP = 40,
	BOTTOM = 56,
	LEAST_HEIGHT = 420,
	LEGEND = 20,
	LEAST_MOVE = 2
};

/* Colours that stay apart for colour-blind readers (Okabe and Ito's set), then the same dashed. */
static const char *const colours[] = { "#0072b2", "#d55e00", "#009e73", "#cc79a7",
				       "#e69f00", "#56b4e9", "#000000", "#999933" };
enum { N_COLOURS = sizeof colours / sizeof *colours };

typedef struct Axis {
	double lo, hi; /* of the data, or of their logarithms */
	int log, any;
	int height; /* of the whole plot */
} Axis;

/* A line of the legend needs its room, however many there are. */
static int height_of(const PmPlot *p)
{
	int n = (int)(p->n < PM_PLOT_LINES ? p->n : PM_PLOT_LINES), need = TOP + 20 + LEGEND * n;

	return need > LEAST_HEIGHT ? need : LEAST_HEIGHT;
}

static double on(const Axis *a, double v)
{
	return a->log ? (v > 0 ? log10(v) : NAN) : v;
}

static void widen(Axis *a, double v)
{
	v = on(a, v);
	if (!isfinite(v))
		return;
	if (!a->any || v < a->lo)
		a->lo = v;
	if (!a->any || v > a->hi)
		a->hi = v;
	a->any = 1;
}

static void find_range(const PmPlot *p, Axis *x, Axis *y)
{
	for (size_t k = 0; k < p->n && k < PM_PLOT_LINES; k++)
		for (size_t i = 0; i < p->line[k].n; i++) {
			if (!isfinite(on(x, p->line[k].x[i])) || !isfinite(on(y, p->line[k].y[i])))
				continue;
			widen(x, p->line[k].x[i]);
			widen(y, p->line[k].y[i]);
		}
	for (int k = 0; k < 2; k++) { /* a single value still needs some width */
		Axis *a = k ? y : x;

		if (a->hi - a->lo < 1e-9) {
			a->lo -= a->log ? 0.3 : 0.5;
			a->hi += a->log ? 0.3 : 0.5;
		}
	}
}

static double px(const Axis *a, double v)
{
	return LEFT + (v - a->lo) / (a->hi - a->lo) * (WIDTH - LEFT - RIGHT);
}

static double py(const Axis *a, double v)
{
	return a->height - BOTTOM - (v - a->lo) / (a->hi - a->lo) * (a->height - TOP - BOTTOM);
}

static void add_text(PmStr *out, const char *s)
{
	for (; *s; s++)
		if (*s == '<' || *s == '>' || *s == '&' || *s == '"')
			pm_str_add(out, *s == '<'   ? "&lt;"
					: *s == '>' ? "&gt;"
					: *s == '&' ? "&amp;"
						    : "&quot;");
		else
			pm_str_addc(out, *s);
}

/* ---- axes ---- */

static void tick(PmStr *out, const Axis *a, double at, double label, int vertical)
{
	double p = vertical ? py(a, at) : px(a, at);

	if (at < a->lo - 1e-9 || at > a->hi + 1e-9)
		return;
	if (vertical)
		pm_str_addf(out,
			    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>"
			    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			    LEFT, p, WIDTH - RIGHT, p, LEFT - 6, p + 4, label);
	else
		pm_str_addf(out,
			    "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>"
			    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
			    p, TOP, p, a->height - BOTTOM, p, a->height - BOTTOM + 16, label);
}

static void log_ticks(PmStr *out, const Axis *a, int vertical)
{
	static const double digit[] = { 1, 2, 5 };
	int wide = a->hi - a->lo > 3; /* then decades only */

	for (int d = (int)floor(a->lo); d <= (int)ceil(a->hi); d++)
		for (int k = 0; k < (wide ? 1 : 3); k++)
			tick(out, a, d + log10(digit[k]), digit[k] * pow(10, d), vertical);
}

static void linear_ticks(PmStr *out, const Axis *a, int vertical)
{
	double span = a->hi - a->lo, step = pow(10, floor(log10(span)));

	if (span / step > 6)
		step *= 2;
	else if (span / step < 3)
		step /= 2;
	for (double v = ceil(a->lo / step) * step; v <= a->hi + 1e-9 * span; v += step)
		tick(out, a, v, fabs(v) < 1e-9 * span ? 0 : v, vertical);
}

static void add_axes(const PmPlot *p, const Axis *x, const Axis *y, PmStr *out)
{
	(x->log ? log_ticks : linear_ticks)(out, x, 0);
	(y->log ? log_ticks : linear_ticks)(out, y, 1);
	pm_str_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + WIDTH - RIGHT) / 2,
		    x->height - 14);
	add_text(out, p->x_label);
	pm_str_addf(out, "</text><text transform=\"translate(18,%d) rotate(-90)\" text-anchor=\"middle\">",
		    (TOP + x->height - BOTTOM) / 2);
	add_text(out, p->y_label);
	pm_str_add(out, "</text>\n");
	if (isfinite(on(x, p->guide_x)) && on(x, p->guide_x) >= x->lo && on(x, p->guide_x) <= x->hi)
		pm_str_addf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"guide\"/>\n",
			    px(x, on(x, p->guide_x)), TOP, px(x, on(x, p->guide_x)), x->height - BOTTOM);
}

/* ---- lines ---- */

/* How a line is drawn: a class of the page's style, or colours in the file itself. */
static void add_stroke(const PmPlot *p, size_t line, PmStr *out)
{
	size_t k = p->line[line].colour;

	if (p->in_page)
		pm_str_addf(out, " class=\"line c%zu%s\"", k % N_COLOURS, k >= N_COLOURS ? " dashed" : "");
	else
		pm_str_addf(out, " stroke=\"%s\" stroke-width=\"2\"%s", colours[k % N_COLOURS],
			    k >= N_COLOURS ? " stroke-dasharray=\"6 3\"" : "");
}

static void add_line(const PmPlot *p, size_t k, const Axis *x, const Axis *y, PmStr *out)
{
	const PmPlotLine *l = &p->line[k];
	double last = NAN, at_x = NAN, at_y = NAN;
	int open = 0;

	pm_str_add(out, "<path fill=\"none\"");
	add_stroke(p, k, out);
	pm_str_add(out, " d=\"");
	for (size_t i = 0; i < l->n; i++) {
		double u = on(x, l->x[i]), v = on(y, l->y[i]);

		if (!isfinite(u) || !isfinite(v)) {
			open = 0;
			continue;
		}
		if (open && i + 1 < l->n && hypot(px(x, u) - at_x, py(y, v) - at_y) < LEAST_MOVE)
			continue; /* thousands of points would draw one dot */
		at_x = px(x, u);
		at_y = py(y, v);
		if (open && p->steps)
			pm_str_addf(out, "L%.1f %.1f", px(x, u), py(y, last));
		pm_str_addf(out, "%s%.1f %.1f", open ? "L" : "M", px(x, u), py(y, v));
		last = v;
		open = 1;
	}
	pm_str_addf(out, "\"/><line x1=\"%d\" y1=\"%zu\" x2=\"%d\" y2=\"%zu\"", WIDTH - RIGHT + 14,
		    TOP + 10 + LEGEND * k, WIDTH - RIGHT + 38, TOP + 10 + LEGEND * k);
	add_stroke(p, k, out);
	pm_str_addf(out, "/><text x=\"%d\" y=\"%zu\">", WIDTH - RIGHT + 44, TOP + 14 + LEGEND * k);
	add_text(out, l->name);
	pm_str_add(out, "</text>\n");
}

/* In a page what styles it is the page's; where the x axis lies is written for its script. */
static void open_svg(const PmPlot *p, const Axis *x, PmStr *out)
{
	pm_str_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
		    "%d\" role=\"img\"",
		    WIDTH, x->height, WIDTH, x->height);
	if (p->in_page) {
		pm_str_add(out, " aria-label=\"");
		add_text(out, p->title);
		pm_str_addf(out,
			    "\" class=\"plot\" data-x0=\"%d\" data-x1=\"%d\" data-lo=\"%g\" data-hi=\"%g\">"
			    "<text x=\"%d\" y=\"22\" class=\"head\">",
			    LEFT, WIDTH - RIGHT, x->lo, x->hi, LEFT);
	} else {
		pm_str_addf(out,
			    "><style>text{font:12px sans-serif}.grid{stroke:#dddddd}.guide{stroke:#888888;"
			    "stroke-dasharray:3 3}</style><rect width=\"100%%\" height=\"100%%\" "
			    "fill=\"#ffffff\"/>\n"
			    "<text x=\"%d\" y=\"22\" style=\"font-weight:bold\">",
			    LEFT);
	}
	add_text(out, p->title);
	pm_str_add(out, "</text>\n");
}

void pm_plot_svg(const PmPlot *p, PmStr *out)
{
	Axis x = { .log = p->log_x, .height = height_of(p) }, y = { .log = p->log_y, .height = x.height };

	find_range(p, &x, &y);
	open_svg(p, &x, out);
	if (x.any)
		add_axes(p, &x, &y, out);
	else
		pm_str_addf(out, "<text x=\"%d\" y=\"%d\">there is nothing to draw</text>\n", LEFT,
			    x.height / 2);
	for (size_t k = 0; k < p->n && k < PM_PLOT_LINES && x.any; k++)
		add_line(p, k, &x, &y, out);
	if (p->in_page)
		pm_str_addf(out, "<line class=\"pin\" x1=\"-9\" y1=\"%d\" x2=\"-9\" y2=\"%d\"/>\n", TOP,
			    x.height - BOTTOM);
	pm_str_add(out, "</svg>\n");
}
