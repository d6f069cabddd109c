/* SPDX-License-Identifier: Apache-2.0 */
/* db_report.c - a database on one page of HTML. */
#include "app/store/db_report.h"

#include "app/store/db_counts.h"

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
	pm_str_add(out, "</body></html>\n");
	return st;
}
