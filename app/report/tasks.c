/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.c - the list of tasks, with the best system of each. */
#include "app/report/figures.h"
#include "app/report/put.h"
#include "app/report/section.h"
#include "bench/report/systems_report.h"
#include "draw/html/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_heads(PmHtml *h)
{
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "name", "Task", "");
	pm_put_head(h, "category", "Category", "what kind of work it is");
	pm_put_head(h, "split", "Split", "what it is for");
	pm_put_head(h, "graphs", "Variants", "");
	pm_put_head(h, "where", "Ranking", "GPU, or modelled");
	pm_put_head(h, "best", "Best system", "by AS");
	pm_put_head(h, "as", "AS", "of the best system");
	pm_put_head(h, "gmean", "Speedup", "of the best system: geometric mean over what is right");
	pm_put_head(h, "wrong", "Wrong", "systems that are not right on every variant they changed");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
}

static void put_text(PmHtml *h, const char *key, const char *text)
{
	pm_html_el(h, PM_EL_td);
	pm_html_at(h, PM_AT_data_key, key);
	pm_html_text_cut(h, text, 60);
	pm_html_end(h, PM_EL_td);
}

static void put_link(const PmReportInput *in, const PmBoardTask *t, PmHtml *h)
{
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_at(h, PM_AT_data_key, "name");
	pm_html_el(h, PM_EL_a);
	if (in->pages)
		pm_html_atf(h, PM_AT_href, "%s/task-%lld.html", in->pages, (long long)t->id);
	else
		pm_html_atf(h, PM_AT_href, "#t%lld", (long long)t->id);
	pm_html_text_cut(h, *t->name ? t->name : "no name", 60);
	pm_html_end(h, PM_EL_a);
	pm_html_end(h, PM_EL_th);
}

typedef struct Best {
	size_t system, n_wrong; /* the table's number of systems when none has a score */
	double as, gmean;
} Best;

static int is_wrong(const PmBoard *b, int64_t task, size_t k)
{
	for (size_t i = 0; i < b->table.graphs.n; i++) {
		const PmBoardCell *c = pm_board_cell(b, i, k);

		if (b->table.graphs.v[i].task == task && c->has &&
		    (c->hidden || !strcmp(pm_put_verdict_class(c->verdict), "bad")))
			return 1;
	}
	return 0;
}

static Best find_best(const PmBoard *b, const cJSON *bench, int64_t task)
{
	PmSysClock clock = pm_systems_main_clock(&b->table);
	Best best = { b->table.n, 0, NAN, NAN };

	for (size_t k = 0; k < b->table.n; k++) {
		const cJSON *f = pm_figures_task(bench, task, b->table.name[k], clock);
		double as = pm_json_num(f, "as", NAN);

		best.n_wrong += (size_t)is_wrong(b, task, k);
		if (!(pm_json_num(f, "timed", 0) > 0) || !isfinite(as) ||
		    (best.system < b->table.n && as <= best.as))
			continue;
		best.system = k;
		best.as = as;
		best.gmean = pm_json_num(f, "gmean", NAN);
	}
	return best;
}

static void put_start(const PmReportInput *in, const PmBoardTask *t, const char *where, PmHtml *h)
{
	pm_html_el(h, PM_EL_tr);
	put_link(in, t, h);
	put_text(h, "category", t->category);
	put_text(h, "split", t->split);
	pm_put_num(h, "graphs", 0, (double)t->n_variants);
	put_text(h, "where", where);
}

static void put_row(const PmReportInput *in, const PmBoardTask *t, size_t k, PmHtml *h)
{
	const PmBoard *b = &in->boards->v.v[k];
	Best best = find_best(b, pm_figures_bench(in->data, k), t->id);
	char where[128];

	pm_board_name(b, where, sizeof where);
	put_start(in, t, where, h);
	put_text(h, "best", best.system < b->table.n ? b->table.name[best.system] : "-");
	pm_put_num(h, "as", 3, best.as);
	pm_put_num(h, "gmean", 3, best.gmean);
	pm_put_num(h, "wrong", 0, (double)best.n_wrong);
	pm_html_end(h, PM_EL_tr);
}

static int has_task(const PmBoard *b, int64_t task)
{
	for (size_t i = 0; i < b->table.graphs.n; i++)
		if (b->table.graphs.v[i].task == task)
			return 1;
	return 0;
}

/* A row for each ranking that has the task, or one that says that nobody has tried. */
static void put_rows(const PmReportInput *in, const PmBoardTask *t, PmHtml *h)
{
	size_t n = 0;

	for (size_t k = 0; k < in->boards->v.n; k++)
		if (has_task(&in->boards->v.v[k], t->id)) {
			put_row(in, t, k, h);
			n++;
		}
	if (n)
		return;
	put_start(in, t, "not evaluated", h);
	put_text(h, "best", "-");
	pm_put_num(h, "as", 3, NAN);
	pm_put_num(h, "gmean", 3, NAN);
	pm_put_num(h, "wrong", 0, NAN);
	pm_html_end(h, PM_EL_tr);
}

int pm_report_has_tasks(const PmReportInput *in)
{
	return in->boards->tasks.n > 0;
}

PmStatus pm_report_put_tasks(const PmReportInput *in, PmHtml *h, PmErr *err)
{
	const PmBoards *b = in->boards;
	PmStatus st = PM_OK;

	pm_html_el(h, PM_EL_div);
	pm_html_at(h, PM_AT_class, "list");
	pm_html_at(h, PM_AT_id, "tasks-list");
	pm_put_search(h, "tasks-q");
	pm_frame_table(h, "wide", "List of tasks");
	pm_html_at(h, PM_AT_class, "sorts");
	pm_html_at(h, PM_AT_id, "tasks-table");
	put_heads(h);
	pm_html_el(h, PM_EL_tbody);
	for (size_t t = 0; t < b->tasks.n; t++)
		put_rows(in, &b->tasks.v[t], h);
	pm_frame_table_end(h);
	pm_html_end(h, PM_EL_div);
	for (size_t t = 0; t < b->tasks.n && !st && !in->pages; t++)
		st = pm_report_put_task(in, t, h, err);
	return st;
}
