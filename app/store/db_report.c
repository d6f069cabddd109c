/* SPDX-License-Identifier: Apache-2.0 */
/* db_report.c - a database on one page of HTML. */
#include "app/store/db_report.h"

#include "app/merge/node_spread.h"
#include "app/store/db_counts.h"
#include "draw/html/html.h"

#include <math.h>

/* Titles are constants of db_counts.c, without characters to escape. */
static void add_chart(PmStr *out, const char *title, const PmDbCounts *c)
{
	size_t more;

	pm_str_addf(out, "<section><h2>%s</h2>\n", title);
	more = pm_db_counts_svg(title, c, out);
	if (more)
		pm_str_addf(out, "<p>and %zu more</p>\n", more);
	pm_str_add(out, "</section>\n");
}

static void put_cell(PmHtml *h, const char *text)
{
	pm_html_el(h, PM_EL_td);
	pm_html_text(h, text);
	pm_html_end(h, PM_EL_td);
}

static void put_number(PmHtml *h, double x, const char *unit)
{
	pm_html_el(h, PM_EL_td);
	if (isnan(x))
		pm_html_text(h, "-");
	else
		pm_html_textf(h, "%.3g%s", x, unit);
	pm_html_end(h, PM_EL_td);
}

static PmStatus add_spread(void *arg, const PmNodeSpread *s, PmErr *err)
{
	PmStr *out = arg;
	PmHtml h;

	(void)err;
	pm_html_begin(&h, out);
	pm_html_el(&h, PM_EL_tr);
	put_cell(&h, s->task);
	put_cell(&h, s->pass);
	put_number(&h, (double)s->spread.n, "");
	put_number(&h, (double)s->spread.n_nodes, "");
	put_number(&h, 100 * s->spread.within, " %");
	put_number(&h, 100 * s->spread.between, " %");
	pm_html_end(&h, PM_EL_tr);
	return PM_OK;
}

/* Runs that several nodes measured; nothing where there are none. */
static PmStatus add_spreads(PmDb *db, PmStr *out, PmErr *err)
{
	PmStr rows = PM_STR_INIT;
	PmStatus st = pm_node_spread_each(db, add_spread, &rows, err);

	if (!st && rows.len)
		pm_str_addf(
			out,
			"<section><h2>Speedups on several nodes</h2>\n<table><tr><th>task</th><th>pass</th>"
			"<th>measurements</th><th>nodes</th><th>spread within nodes</th>"
			"<th>between nodes</th></tr>\n%s</table></section>\n",
			rows.s);
	pm_str_release(&rows);
	return st;
}

PmStatus pm_db_report(PmDb *db, PmStr *out, PmErr *err)
{
	PmStatus st = PM_OK;

	pm_str_add(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
		"charset=\"utf-8\"><title>Dataset</title>\n<style>"
		"body{font:14px sans-serif;margin:2em;max-width:820px}h2{font-size:15px;margin:1.6em 0 .4em}"
		"svg text{font-size:12px}svg rect{fill:#4477aa}</style></head><body>\n<h1>Dataset</h1>\n");
	for (size_t k = 0; k < pm_db_counts_n() && !st; k++) {
		PmDbCounts c = { 0 };

		st = pm_db_counts_read(db, k, &c, err);
		if (!st && c.list.n)
			add_chart(out, pm_db_counts_title(k), &c);
		pm_db_counts_release(&c);
	}
	if (!st)
		st = add_spreads(db, out, err);
	pm_str_add(out, "</body></html>\n");
	return st;
}
