/* SPDX-License-Identifier: Apache-2.0 */
/* task_times.c - the times of systems on a task, against what the hardware allows. */
#include "app/report/task_times.h"

#include "app/report/put.h"
#include "base/core/vec.h"
#include "bench/report/systems_report.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Line {
	size_t system;
	PmInterval x; /* times the roofline */
	double seconds;
} Line;

typedef struct Chart {
	Line line[PM_MAX_SYSTEMS];
	size_t n;
	double floor;  /* one launch, times the roofline */
	double lo, hi; /* logarithms: the axis */
} Chart;

/* ---- figures ---- */

static int is_right(const PmSysCell *c, PmSysClock clock)
{
	return !strcmp(c->status, "correct") && c->smallest_t <= -5 && c->seconds[clock] > 0;
}

static void find_line(const PmBoard *b, size_t first, size_t n, size_t k, PmSysClock clock, Chart *out)
{
	PM_VEC(double) ratio = { 0 };
	double logs = 0;
	PmRng rng;

	for (size_t i = first; i < first + n; i++) {
		const PmSysGraph *g = &b->table.graphs.v[i];

		if (!is_right(&g->cell[k], clock) || !(g->roofline > 0))
			continue;
		PM_VEC_PUSH(&ratio, g->cell[k].seconds[clock] / g->roofline);
		logs += log(g->cell[k].seconds[clock]);
	}
	if (ratio.n) {
		Line *l = &out->line[out->n++];

		pm_rng_init(&rng, n);
		l->system = k;
		l->x = pm_bootstrap_gmean(ratio.v, ratio.n, 1000, 0.95, &rng);
		l->seconds = exp(logs / (double)ratio.n);
	}
	PM_VEC_RELEASE(&ratio);
}

static double launch_floor(const PmBoard *b, size_t first, size_t n)
{
	double logs = 0;
	size_t rows = 0;

	for (size_t i = first; i < first + n; i++)
		if (b->table.graphs.v[i].roofline > 0) {
			logs += log(pm_profile(b->profile)->launch_seconds / b->table.graphs.v[i].roofline);
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
	c->lo = c->hi = 0; /* the roofline */
	widen(c, c->floor);
	for (size_t i = 0; i < c->n; i++) {
		widen(c, c->line[i].x.lo);
		widen(c, c->line[i].x.hi);
	}
	c->lo -= 0.05;
	c->hi += 0.05;
}

/* ---- drawing ---- */

enum { NAME = 190, WIDTH = 790, VALUE = 200, LINE = 20, TOP = 26 };

static double px(const Chart *c, double v)
{
	return NAME + (log10(v) - c->lo) / (c->hi - c->lo) * (WIDTH - NAME - VALUE);
}

static void put_mark(PmStr *out, const Chart *c, double v, const char *class_, const char *text)
{
	if (v > 0 && isfinite(v))
		pm_str_addf(out,
			    "<path class=\"%s\" d=\"M%.1f %dV%zu\"/><text class=\"mark\" x=\"%.1f\" "
			    "y=\"%d\">%s</text>",
			    class_, px(c, v), TOP - 6, TOP + LINE * c->n, px(c, v), TOP - 10, text);
}

/* The labels are kept apart where the two lines are near each other: only one is written. */
static void put_marks(PmStr *out, const Chart *c)
{
	int near = fabs(px(c, c->floor) - px(c, 1)) < 100;

	put_mark(out, c, 1, "roofline", near ? "" : "roofline");
	put_mark(out, c, c->floor, "floor", near ? "roofline and launch floor" : "launch floor");
}

static void put_line(PmStr *out, const Chart *c, const Line *l, size_t row)
{
	double y = TOP + LINE * ((double)row + 0.5);
	char seconds[32];

	pm_put_seconds_text(l->seconds, seconds, sizeof seconds);
	pm_str_addf(
		out,
		"<path class=\"whisker\" d=\"M%.1f %.0fH%.1f\"/><circle cx=\"%.1f\" cy=\"%.0f\" r=\"4\"/>",
		px(c, l->x.lo), y, px(c, l->x.hi), px(c, l->x.point), y);
	pm_str_addf(out, "<text x=\"%d\" y=\"%.0f\">%.3gx [%.3g, %.3g], %s</text>", WIDTH - VALUE + 10, y + 4,
		    l->x.point, l->x.lo, l->x.hi, seconds);
}

static void put_chart(const PmBoard *b, const Chart *c, PmHtml *h)
{
	PmStr svg = PM_STR_INIT, text = PM_STR_INIT;
	PmHtml names;

	pm_html_begin(&names, &text);
	pm_str_addf(&svg,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"times\" viewBox=\"0 0 %d %zu\" "
		    "width=\"%d\" "
		    "height=\"%zu\" role=\"img\" aria-label=\"Times over the roofline\">",
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
	Chart c = { 0 };

	for (size_t k = 0; k < b->table.n; k++)
		find_line(b, first, n, k, clock, &c);
	if (!c.n)
		return;
	c.floor = launch_floor(b, first, n);
	find_range(&c);
	pm_put_about_board(b, &about);
	pm_html_put(h, PM_EL_h4, NULL, "Times against the roofline");
	pm_html_el(h, PM_EL_figure);
	put_chart(b, &c, h);
	pm_html_putf(h, PM_EL_figcaption, NULL,
		     "Time over that of the roofline of %s, mean over the variants that are right, with its "
		     "95 %% interval; "
		     "the launch floor is one launch (%.1f us). %s. Clock: %s.",
		     b->profile, 1e6 * pm_profile(b->profile)->launch_seconds, about.s,
		     pm_sys_clock_title(clock));
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
	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_class, "wide");
	pm_html_el(h, PM_EL_table);
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		pm_put_head(h, "", heads[i], "");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tbody);
	for (size_t i = first; i < first + n; i++)
		for (size_t k = 0; k < b->table.n; k++)
			if (*b->table.graphs.v[i].cell[k].status)
				put_time(b, i, k, clock, h);
	pm_html_end(h, PM_EL_tbody);
	pm_html_end(h, PM_EL_table);
	pm_html_end(h, PM_EL_div);
	pm_html_end(h, PM_EL_details);
}
