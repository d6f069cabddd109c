/* SPDX-License-Identifier: Apache-2.0 */
/* task_times.c - the times of systems on a task, against what the hardware allows. */
#include "app/report/task_times.h"

#include "app/report/put.h"
#include "bench/report/systems_report.h"
#include "draw/html/frame.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Means over the variants that a system has right. */
typedef struct Line {
	size_t system, n; /* variants */
	double seconds, lo, hi;
} Line;

typedef struct Chart {
	Line line[PM_MAX_SYSTEMS];
	size_t n, n_rows;
	double roofline, launch; /* seconds */
	double lo, hi;           /* logarithms: the axis */
} Chart;

/* ---- figures ---- */

static int is_right(const PmSysCell *c, PmSysClock clock)
{
	return !strcmp(c->status, "correct") && c->smallest_t <= -5 && c->seconds[clock] > 0;
}

/* The interval of a speedup is one of the candidate's time, the other way round. */
static double part(double speedup, double end)
{
	return speedup > 0 && end > 0 && isfinite(end) ? speedup / end : 1;
}

static void find_line(const PmBoard *b, size_t first, size_t n, size_t k, PmSysClock clock, Chart *out)
{
	Line l = { .system = k };

	for (size_t i = first; i < first + n; i++) {
		const PmSysCell *c = &b->table.graphs.v[i].cell[k];
		const PmBoardCell *about = pm_board_cell(b, i, k);

		if (!is_right(c, clock))
			continue;
		l.seconds += log(c->seconds[clock]);
		l.lo += log(c->seconds[clock] * part(about->speedup, about->hi));
		l.hi += log(c->seconds[clock] * part(about->speedup, about->lo));
		l.n++;
	}
	if (!l.n)
		return;
	l.seconds = exp(l.seconds / (double)l.n);
	l.lo = exp(l.lo / (double)l.n);
	l.hi = exp(l.hi / (double)l.n);
	out->line[out->n++] = l;
}

static double roofline(const PmBoard *b, size_t first, size_t n)
{
	double logs = 0;
	size_t rows = 0;

	for (size_t i = first; i < first + n; i++)
		if (b->table.graphs.v[i].roofline > 0) {
			logs += log(b->table.graphs.v[i].roofline);
			rows++;
		}
	return rows ? exp(logs / (double)rows) : NAN;
}

static void widen(Chart *c, double v)
{
	if (!(v > 0) || !isfinite(v))
		return;
	c->lo = fmin(c->lo, log10(v));
	c->hi = fmax(c->hi, log10(v));
}

static void find_range(Chart *c)
{
	c->lo = c->hi = log10(c->launch);
	widen(c, c->roofline);
	for (size_t i = 0; i < c->n; i++) {
		widen(c, c->line[i].lo);
		widen(c, c->line[i].hi);
	}
	c->lo -= 0.05;
	c->hi += 0.05;
}

/* ---- drawing ---- */

enum { NAME = 190, WIDTH = 790, VALUE = 150, LINE = 20, TOP = 26, APART = 100 };

static double px(const Chart *c, double seconds)
{
	return NAME + (log10(seconds) - c->lo) / (c->hi - c->lo) * (WIDTH - NAME - VALUE);
}

static void put_mark(PmStr *out, const Chart *c, double seconds, const char *class_, const char *text)
{
	if (seconds > 0 && isfinite(seconds))
		pm_str_addf(out,
			    "<path class=\"%s\" d=\"M%.1f %dV%zu\"/><text class=\"mark\" x=\"%.1f\" "
			    "y=\"%d\">%s</text>",
			    class_, px(c, seconds), TOP - 6, TOP + LINE * c->n, px(c, seconds), TOP - 10,
			    text);
}

/* Where the two lines are near each other they have one label. */
static void put_marks(PmStr *out, const Chart *c)
{
	int near = fabs(px(c, c->launch) - px(c, c->roofline)) < APART;

	put_mark(out, c, c->roofline, "roofline", near ? "" : "roofline");
	put_mark(out, c, c->launch, "floor", near ? "roofline and launch floor" : "launch floor");
}

static void put_line(PmStr *out, const Chart *c, const Line *l, size_t row)
{
	size_t y = TOP + LINE * row + LINE / 2;
	char seconds[32];

	pm_put_seconds_text(l->seconds, seconds, sizeof seconds);
	pm_str_addf(out,
		    "<path class=\"whisker\" d=\"M%.1f %zuH%.1f\"/><circle cx=\"%.1f\" cy=\"%zu\" r=\"4\"/>",
		    px(c, l->lo), y, px(c, l->hi), px(c, l->seconds), y);
	pm_str_addf(out, "<text x=\"%d\" y=\"%zu\">%s", WIDTH - VALUE + 10, y + 4, seconds);
	if (l->n < c->n_rows)
		pm_str_addf(out, " (%zu of %zu)", l->n, c->n_rows);
	pm_str_add(out, "</text>");
}

static void put_chart(const PmBoard *b, const Chart *c, PmHtml *h)
{
	PmStr svg = PM_STR_INIT, text = PM_STR_INIT;
	PmHtml names;

	pm_html_begin(&names, &text);
	pm_str_addf(&svg,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"times\" viewBox=\"0 0 %d %zu\" "
		    "width=\"%d\" "
		    "height=\"%zu\" role=\"img\" aria-label=\"Times, roofline and launch floor\">",
		    WIDTH, TOP + LINE * c->n + 6, WIDTH, TOP + LINE * c->n + 6);
	put_marks(&svg, c);
	for (size_t i = 0; i < c->n; i++) {
		pm_str_clear(&text);
		pm_html_text_cut(&names, b->table.name[c->line[i].system], 26);
		pm_str_addf(&svg, "<text x=\"0\" y=\"%zu\">%s</text>", TOP + LINE * i + 14, text.s);
		put_line(&svg, c, &c->line[i], i);
	}
	pm_str_add(&svg, "</svg>\n");
	pm_html_svg(h, &svg);
	pm_str_release(&svg);
	pm_str_release(&text);
}

void pm_put_task_times(const PmBoard *b, size_t first, size_t n, PmSysClock clock, PmHtml *h)
{
	PmStr about = PM_STR_INIT;
	Chart c = { .n_rows = n, .launch = pm_profile(b->profile)->launch_seconds };

	for (size_t k = 0; k < b->table.n; k++)
		find_line(b, first, n, k, clock, &c);
	if (!c.n)
		return;
	c.roofline = roofline(b, first, n);
	find_range(&c);
	pm_put_about_board(b, &about);
	pm_html_put(h, PM_EL_h4, NULL, "Times against the roofline");
	pm_html_el(h, PM_EL_figure);
	put_chart(b, &c, h);
	pm_html_putf(
		h, PM_EL_figcaption, NULL,
		"Geometric mean over the variants that are right%s. Roofline and launch floor (%.1f us) are "
		"those of %s. %s. Clock: %s.",
		*b->gpu ? ", with the 99 % interval of the measurement" : "", 1e6 * c.launch, b->profile,
		about.s, pm_sys_clock_title(clock));
	pm_html_end(h, PM_EL_figure);
	pm_str_release(&about);
}

/* ---- every time ---- */

static void put_time(const PmBoard *b, size_t i, size_t k, PmSysClock clock, PmHtml *h)
{
	const PmSysGraph *g = &b->table.graphs.v[i];
	const PmBoardCell *c = pm_board_cell(b, i, k);
	char seconds[32], floor[32];

	pm_put_seconds_text(g->cell[k].seconds[clock], seconds, sizeof seconds);
	pm_put_seconds_text(g->roofline, floor, sizeof floor);
	pm_html_el(h, PM_EL_tr);
	pm_html_put(h, PM_EL_td, NULL, g->label);
	pm_html_put(h, PM_EL_td, NULL, b->table.name[k]);
	pm_html_put(h, PM_EL_td, NULL, c->has ? pm_verdict_name(c->verdict) : g->cell[k].status);
	pm_html_put(h, PM_EL_td, "num", seconds);
	pm_html_put(h, PM_EL_td, "num", floor);
	if (isfinite(c->speedup) && isfinite(c->lo))
		pm_put_interval(h, "", c->speedup, c->lo, c->hi);
	else
		pm_put_num(h, "", 3, c->speedup);
	if (c->has)
		pm_html_putf(h, PM_EL_td, "num", "%d to %d", c->launches[0], c->launches[1]);
	else
		pm_html_put(h, PM_EL_td, "num", "-");
	if (c->has)
		pm_html_putf(h, PM_EL_td, "num", "%lld to %lld", (long long)c->bytes[0],
			     (long long)c->bytes[1]);
	else
		pm_html_put(h, PM_EL_td, "num", "-");
	pm_html_end(h, PM_EL_tr);
}

void pm_put_task_details(const PmBoard *b, size_t first, size_t n, PmSysClock clock, PmHtml *h)
{
	static const char *const heads[] = { "Variant",  "System",  "Verdict",  "Time",
					     "Roofline", "Speedup", "Launches", "Bytes" };

	pm_html_el(h, PM_EL_details);
	pm_html_put(h, PM_EL_summary, NULL, "Every time, with launches and bytes before and after");
	pm_frame_table(h, "wide", "Every time");
	pm_frame_heads(h, heads, sizeof heads / sizeof *heads);
	for (size_t i = first; i < first + n; i++)
		for (size_t k = 0; k < b->table.n; k++)
			if (*b->table.graphs.v[i].cell[k].status)
				put_time(b, i, k, clock, h);
	pm_frame_table_end(h);
	pm_html_end(h, PM_EL_details);
}
