/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - one task: variants and systems, times against what the hardware allows, what is wrong, its
 * history. */
#include "app/report/made.h"
#include "app/report/put.h"
#include "app/report/section.h"
#include "app/report/task_times.h"
#include "bench/report/systems_report.h"
#include "dataset/store/tasks.h"
#include "draw/html/frame.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The rows of a task in a table: they stand together. */
static size_t rows_of(const PmBoard *b, int64_t task, size_t *first)
{
	size_t n = 0;

	*first = b->table.graphs.n;
	for (size_t i = 0; i < b->table.graphs.n; i++)
		if (b->table.graphs.v[i].task == task) {
			*first = n ? *first : i;
			n++;
		}
	return n;
}

/* Columns of systems that have a result on the task. */
static int has_result(const PmBoard *b, size_t first, size_t n, size_t k)
{
	for (size_t i = first; i < first + n; i++)
		if (*b->table.graphs.v[i].cell[k].status)
			return 1;
	return 0;
}

/* ---- the heat map ---- */

static double speedup_of(const PmBoard *b, size_t row, size_t k, PmSysClock clock)
{
	const PmSysGraph *g = &b->table.graphs.v[row];
	double a = g->cell[b->table.reference].seconds[clock], x = g->cell[k].seconds[clock];

	return a > 0 && x > 0 ? a / x : NAN;
}

/* Short: there are tens of thousands of them. */
static void put_heat(const PmBoard *b, size_t row, size_t k, PmSysClock clock, PmHtml *h)
{
	const PmSysCell *c = &b->table.graphs.v[row].cell[k];
	double x = speedup_of(b, row, k, clock);

	pm_html_el(h, PM_EL_td);
	if (!*c->status) {
		pm_html_text(h, "-");
	} else if (strcmp(c->status, "correct") != 0 || c->smallest_t == PM_T_NEVER) {
		pm_html_at(h, PM_AT_class, "x");
		pm_html_text(h, "wrong");
	} else if (!c->matched) {
		pm_html_text(h, "none");
	} else if (c->smallest_t > -5) {
		pm_html_at(h, PM_AT_class, "x");
		pm_html_textf(h, "t %d", c->smallest_t);
	} else if (isfinite(x)) {
		pm_html_at(h, PM_AT_class, pm_put_speed_class(x));
		pm_html_textf(h, "%.2f", x);
	} else {
		pm_html_text(h, "right");
	}
	pm_html_end(h, PM_EL_td);
}

static void put_map(const PmBoard *b, size_t first, size_t n, PmSysClock clock, PmHtml *h)
{
	pm_frame_table(h, "wide", "Speedup by variant and system");
	pm_html_at(h, PM_AT_class, "heat");
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "", "Variant", "");
	for (size_t k = 0; k < b->table.n; k++)
		if (k != b->table.reference && has_result(b, first, n, k))
			pm_put_head(h, "", b->table.name[k], "");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tbody);
	for (size_t i = first; i < first + n; i++) {
		pm_html_el(h, PM_EL_tr);
		pm_html_el(h, PM_EL_th);
		pm_html_text_cut(h, b->table.graphs.v[i].label, 40);
		pm_html_end(h, PM_EL_th);
		for (size_t k = 0; k < b->table.n; k++)
			if (k != b->table.reference && has_result(b, first, n, k))
				put_heat(b, i, k, clock, h);
		pm_html_end(h, PM_EL_tr);
	}
	pm_frame_table_end(h);
}

/* ---- what is wrong ---- */

static int is_failing(const PmBoardCell *c)
{
	return c->has && (c->hidden || !strcmp(pm_put_verdict_class(c->verdict), "bad"));
}

/* An infinity or a NaN where a number should be is not any number of ulp away. */
static void put_worst(const PmBoardCell *c, PmHtml *h)
{
	pm_html_textf(h, " Worst element: expected %.9g, got %.9g (%s", c->expected, c->got, c->where);
	if (isfinite(c->expected) && isfinite(c->got))
		pm_html_textf(h, "; %.3g ulp", c->ulp);
	pm_html_text(h, ").");
}

static void put_failure(const PmBoard *b, size_t row, size_t k, size_t more, PmHtml *h)
{
	const PmBoardCell *c = pm_board_cell(b, row, k);

	pm_html_el(h, PM_EL_li);
	pm_html_put(h, PM_EL_strong, NULL, b->table.name[k]);
	pm_html_text(h, " ");
	pm_put_verdict(h, c->verdict, 1);
	if (c->hidden)
		pm_html_text(h, "on its variants, and wrong on a hidden shape. ");
	pm_html_textf(h, "Variant %s: ", b->table.graphs.v[row].label);
	if (c->why)
		pm_html_text_cut(h, c->why, 400);
	if (c->where)
		put_worst(c, h);
	if (more)
		pm_html_textf(h, " So on %zu more variant%s.", more, more == 1 ? "" : "s");
	pm_html_end(h, PM_EL_li);
}

/* The first of each system, and how many more. */
static void put_failures(const PmBoard *b, size_t first, size_t n, PmHtml *h)
{
	int any = 0;

	for (size_t k = 0; k < b->table.n; k++) {
		size_t at = first + n, count = 0;

		for (size_t i = first + n; i-- > first;)
			if (is_failing(pm_board_cell(b, i, k))) {
				at = i;
				count++;
			}
		if (!count)
			continue;
		if (!any++) {
			pm_html_put(h, PM_EL_h4, NULL, "What is wrong");
			pm_html_el(h, PM_EL_ul);
			pm_html_at(h, PM_AT_class, "failures");
		}
		put_failure(b, at, k, count - 1, h);
	}
	if (any)
		pm_html_end(h, PM_EL_ul);
}

/* ---- history ---- */

static void put_run(const PmBoardRun *r, PmHtml *h)
{
	char date[24];

	pm_put_date_text(r->started, date, sizeof date);
	pm_html_el(h, PM_EL_tr);
	pm_html_put(h, PM_EL_td, NULL, date);
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, r->path, 60);
	pm_html_end(h, PM_EL_td);
	pm_html_putf(h, PM_EL_td, NULL, "%.8s", r->sha256);
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, *r->gpu ? r->gpu : r->device, 40);
	pm_html_end(h, PM_EL_td);
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, r->version, 16);
	pm_html_end(h, PM_EL_td);
	pm_html_putf(h, PM_EL_td, "num", "%zu of %zu", r->n_right, r->n_results);
	if (isfinite(r->gmean))
		pm_html_putf(h, PM_EL_td, "num", "%.3f", r->gmean);
	else
		pm_html_put(h, PM_EL_td, "num", "-");
	pm_html_end(h, PM_EL_tr);
}

static void put_history(const PmBoards *b, int64_t task, PmHtml *h)
{
	static const char *const heads[] = {
		"Date", "Pass", "Build", "Device", "Version", "Right", "Speedup"
	};
	size_t n = 0;

	for (size_t i = 0; i < b->runs.n; i++)
		n += b->runs.v[i].task == task;
	if (!n)
		return;
	pm_html_el(h, PM_EL_details);
	pm_html_putf(h, PM_EL_summary, NULL, "History: %zu run%s", n, n == 1 ? "" : "s");
	pm_html_el(h, PM_EL_table);
	pm_frame_heads(h, heads, sizeof heads / sizeof *heads);
	for (size_t i = 0; i < b->runs.n; i++)
		if (b->runs.v[i].task == task)
			put_run(&b->runs.v[i], h);
	pm_html_end(h, PM_EL_tbody);
	pm_html_end(h, PM_EL_table);
	pm_html_end(h, PM_EL_details);
}

/* ---- a task ---- */

static PmStatus put_text(void *arg, const PmVariantRow *row, PmErr *err)
{
	PmHtml *h = arg;

	(void)err;
	if (row->ordinal)
		return PM_OK;
	pm_html_el(h, PM_EL_details);
	pm_html_put(h, PM_EL_summary, NULL, "Graph of the first variant, as text");
	pm_html_el(h, PM_EL_pre);
	pm_html_text_cut(h, row->text, 6000);
	pm_html_end(h, PM_EL_pre);
	pm_html_end(h, PM_EL_details);
	return PM_OK;
}

static void put_about(const PmReportInput *in, const PmBoardTask *t, PmHtml *h)
{
	pm_html_el(h, PM_EL_h3);
	pm_html_text_cut(h, *t->name ? t->name : "no name", 120);
	pm_html_end(h, PM_EL_h3);
	pm_html_el(h, PM_EL_p);
	pm_html_at(h, PM_AT_class, "soft");
	pm_html_textf(h, "Task %lld; ", (long long)t->id);
	if (*t->hash)
		pm_html_textf(h, "%.12s; %s; category %s; ", t->hash, t->kind, t->category);
	if (*t->split)
		pm_html_textf(h, "split %s; ", t->split);
	if (*t->stratum)
		pm_html_textf(h, "stratum %s; ", t->stratum);
	pm_html_textf(h, "%lld variants.", (long long)t->n_variants);
	pm_html_end(h, PM_EL_p);
	if (!in->index)
		return;
	pm_html_el(h, PM_EL_p);
	pm_html_el(h, PM_EL_a);
	pm_html_atf(h, PM_AT_href, "%s#tasks", in->index);
	pm_html_text(h, "All tasks");
	pm_html_end(h, PM_EL_a);
	pm_html_end(h, PM_EL_p);
}

static void put_board(const PmReportInput *in, const PmBoard *b, int64_t task, PmHtml *h)
{
	PmSysClock clock = pm_systems_main_clock(&b->table);
	PmStr about = PM_STR_INIT;
	size_t first, n = rows_of(b, task, &first);

	if (!n)
		return;
	pm_put_about_board(b, &about);
	pm_html_putf(h, PM_EL_h4, NULL, "Speedup over %s by variant", b->table.name[b->table.reference]);
	put_map(b, first, n, clock, h);
	pm_html_putf(h, PM_EL_p, "soft", "%s. Clock: %s.", about.s, pm_sys_clock_title(clock));
	pm_put_task_times(b, first, n, clock, h);
	if (in->details)
		pm_put_task_details(b, first, n, clock, h);
	put_failures(b, first, n, h);
	pm_str_release(&about);
}

PmStatus pm_report_put_task(const PmReportInput *in, size_t t, PmHtml *h, PmErr *err)
{
	const PmBoardTask *task = &in->boards->tasks.v[t];
	PmStatus st = PM_OK;

	pm_html_el(h, PM_EL_section);
	pm_html_at(h, PM_AT_class, "task");
	pm_html_atf(h, PM_AT_id, "t%lld", (long long)task->id);
	put_about(in, task, h);
	if (in->db)
		st = pm_task_variants_each(in->db, task->id, put_text, h, err);
	if (in->db && !st)
		st = pm_report_put_made(in, task, h, err);
	for (size_t k = 0; k < in->boards->v.n && !st; k++)
		put_board(in, &in->boards->v.v[k], task->id, h);
	put_history(in->boards, task->id, h);
	pm_html_end(h, PM_EL_section);
	return st;
}
