/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - a database as pages. */
#include "app/report/report.h"

#include "app/report/board/board_times.h"
#include "app/report/made.h"
#include "app/report/put.h"
#include "app/report/report_data.h"
#include "app/report/section.h"
#include "base/sys/io.h"
#include "draw/html/page.h"
#include "draw/svg/svg.h"

#include <stdio.h>
#include <string.h>

/* ---- a page ---- */

static void put_top(const PmReportInput *in, PmHtml *h)
{
	const PmBoards *b = in->boards;
	char first[24], last[24];
	int64_t from = 0, to = 0;

	for (size_t i = 0; i < b->v.n; i++) {
		from = !from || b->v.v[i].first < from ? b->v.v[i].first : from;
		to = b->v.v[i].last > to ? b->v.v[i].last : to;
	}
	pm_put_date_text(from, first, sizeof first);
	pm_put_date_text(to, last, sizeof last);
	pm_html_el(h, PM_EL_header);
	pm_html_put(h, PM_EL_h1, NULL, "Passmith report");
	pm_html_el(h, PM_EL_p);
	pm_html_text(h, "Of ");
	pm_html_text_cut(h, in->name, 80);
	pm_html_textf(h, ": %zu tasks", b->tasks.n);
	if (in->db)
		pm_html_textf(h, ", %zu runs", b->runs.n);
	if (from)
		pm_html_textf(h, ", %s", first);
	if (strcmp(first, last) != 0)
		pm_html_textf(h, " to %s", last);
	pm_html_text(h, ".");
	pm_html_end(h, PM_EL_p);
}

static void put_link(PmHtml *h, const char *id, const char *text)
{
	pm_html_el(h, PM_EL_li);
	pm_html_el(h, PM_EL_a);
	pm_html_atf(h, PM_AT_href, "#%s", id);
	pm_html_text(h, text);
	pm_html_end(h, PM_EL_a);
	pm_html_end(h, PM_EL_li);
}

static void put_nav(const PmReportInput *in, PmHtml *h)
{
	pm_html_el(h, PM_EL_nav);
	pm_html_at(h, PM_AT_aria_label, "Sections");
	pm_html_el(h, PM_EL_ul);
	for (size_t i = 0; i < pm_n_report_sections; i++)
		if (pm_report_sections[i].has(in))
			put_link(h, pm_report_sections[i].id, pm_report_sections[i].title);
	for (size_t k = 0; k < in->boards->v.n && in->boards->v.n > 1; k++) {
		char id[24], name[128], text[176];

		snprintf(id, sizeof id, "b%zu", k + 1);
		pm_board_name(&in->boards->v.v[k], name, sizeof name);
		snprintf(text, sizeof text, "%s %s", name, in->boards->v.v[k].version);
		put_link(h, id, text);
	}
	pm_html_end(h, PM_EL_ul);
	pm_html_end(h, PM_EL_nav);
	pm_html_end(h, PM_EL_header);
}

static PmStatus put_section(const PmReportInput *in, const PmReportSection *s, PmHtml *h, PmErr *err)
{
	PmStatus st;

	if (!s->has(in))
		return PM_OK;
	pm_html_el(h, PM_EL_section);
	pm_html_at(h, PM_AT_id, s->id);
	pm_html_put(h, PM_EL_h2, NULL, s->title);
	st = s->put(in, h, err);
	if (!st)
		pm_html_end(h, PM_EL_section);
	return st;
}

/* All but the pages of tasks. */
static PmStatus put_index(const PmReportInput *in, const cJSON *data, PmStr *out, PmErr *err)
{
	PmPage page = { .title = "Passmith report", .style = pm_svg_css() };
	cJSON *part = in->details ? NULL : pm_report_data_part(data, 0);
	size_t room = PM_MADE_ROOM;
	PmReportInput one = *in;
	PmHtml h;
	PmStatus st = PM_OK;

	one.room = &room;
	pm_html_begin(&h, out);
	pm_page_open(&h, &page);
	put_top(in, &h);
	put_nav(in, &h);
	pm_html_el(&h, PM_EL_main);
	for (size_t i = 0; i < pm_n_report_sections && !st; i++)
		st = put_section(&one, &pm_report_sections[i], &h, err);
	if (!st) {
		pm_html_end(&h, PM_EL_main);
		pm_html_json(&h, "data", part ? part : data);
		pm_page_close(&h, &page);
	}
	cJSON_Delete(part);
	return st;
}

static PmStatus put_page(const PmReportInput *in, const cJSON *data, size_t t, PmStr *out, PmErr *err)
{
	const PmBoardTask *task = &in->boards->tasks.v[t];
	PmPage page = { .title = task->name, .style = pm_svg_css() };
	size_t room = PM_MADE_ROOM;
	PmReportInput one = *in;
	cJSON *part = pm_report_data_part(data, task->id);
	PmHtml h;
	PmStatus st;

	one.room = &room;
	pm_html_begin(&h, out);
	pm_page_open(&h, &page);
	pm_html_el(&h, PM_EL_main);
	st = pm_report_put_task(&one, t, &h, err);
	if (!st) {
		pm_html_end(&h, PM_EL_main);
		pm_html_json(&h, "data", part);
		pm_page_close(&h, &page);
	}
	cJSON_Delete(part);
	return st;
}

/* ---- files ---- */

/* "report.tasks" of "folder/report.html". */
static void pages_name(const char *out, PmStr *folder)
{
	pm_str_addn(folder, out, strlen(out) - strlen(".html"));
	pm_str_add(folder, ".tasks");
}

static PmStatus write_page(const PmReportInput *in, const cJSON *data, size_t t, const char *folder,
			   PmReportDone *done, PmErr *err)
{
	PmStr html = PM_STR_INIT, path = PM_STR_INIT;
	char name[48];
	PmStatus st = put_page(in, data, t, &html, err);

	snprintf(name, sizeof name, "task-%lld.html", (long long)in->boards->tasks.v[t].id);
	pm_path_join(folder, name, &path);
	if (!st)
		st = pm_write_file(path.s, html.s, html.len, err);
	done->bytes += (int64_t)html.len;
	done->n_pages++;
	pm_str_release(&html);
	pm_str_release(&path);
	return st;
}

static PmStatus write_pages(const PmReportInput *in, const cJSON *data, const char *out, const char *folder,
			    PmReportDone *done, PmErr *err)
{
	PmStr index = PM_STR_INIT;
	PmReportInput one = *in;
	PmStatus st = pm_mkdirs(folder, err);

	pm_str_addf(&index, "../%s", pm_path_base(out));
	one.index = index.s;
	one.details = 1;
	for (size_t t = 0; t < in->boards->tasks.n && !st; t++)
		st = write_page(&one, data, t, folder, done, err);
	pm_str_release(&index);
	return st;
}

static PmStatus write_all(PmReportInput *in, const PmReportOpts *o, PmReportDone *done, PmErr *err)
{
	PmStr html = PM_STR_INIT, folder = PM_STR_INIT;
	cJSON *data = NULL;
	PmStatus st = pm_report_data(in->boards, &data, err);

	pages_name(o->out, &folder);
	in->data = data;
	in->details = !o->pages && pm_report_is_small(in->boards);
	if (!st && !o->pages)
		st = put_index(in, data, &html, err);
	if (!st && (o->pages || html.len > PM_REPORT_MOST)) {
		pm_str_clear(&html);
		in->pages = pm_path_base(folder.s);
		in->details = 0;
		st = put_index(in, data, &html, err);
		if (!st)
			st = write_pages(in, data, o->out, folder.s, done, err);
	}
	if (!st)
		st = pm_write_file(o->out, html.s, html.len, err);
	done->bytes += (int64_t)html.len;
	cJSON_Delete(data);
	pm_str_release(&html);
	pm_str_release(&folder);
	return st;
}

/* Read once, however often the index is made. */
static PmStatus read_counts(PmReportInput *in, PmMine *mine, PmErr *err)
{
	PmDbStats s;
	PmStatus st = pm_db_stats(in->db, &s, err);

	if (st)
		return st;
	in->n_sessions = s.trajectories;
	in->n_applications = s.applications;
	in->n_places = s.occurrences;
	return s.occurrences ? pm_mine(in->db, NULL, NULL, mine, err) : PM_OK;
}

static int has_section(const PmReportInput *in)
{
	for (size_t i = 0; i < pm_n_report_sections; i++)
		if (pm_report_sections[i].has(in))
			return 1;
	return 0;
}

PmStatus pm_report_write(PmDb *db, const PmReportOpts *opts, PmReportDone *done, PmErr *err)
{
	PmBoards boards = { 0 };
	PmMine mine = { 0 };
	PmReportInput in = { .db = opts->times ? NULL : db,
			     .boards = &boards,
			     .mine = &mine,
			     .name = pm_path_base(opts->times ? opts->times : pm_db_path(db)) };
	PmStatus st = PM_OK;

	memset(done, 0, sizeof *done);
	if (!pm_str_ends(opts->out, ".html"))
		st = pm_err(err, PM_E_INVALID,
			    "A report is written to a file NAME.html; '%.200s' does not end so.", opts->out);
	if (!st)
		st = opts->times ? pm_boards_from_times(opts->times, &boards, err)
				 : pm_boards_read(db, opts->step, opts->arg, &boards, err);
	if (!st && in.db)
		st = read_counts(&in, &mine, err);
	if (!st && !has_section(&in))
		st = pm_err(err, PM_E_NOT_FOUND,
			    "Database %s has no task, no extracted graph, no rewritten model and no session "
			    "of an agent; make tasks "
			    "with `passmith task make`, and evaluate passes on them.",
			    opts->times ? opts->times : pm_db_path(db));
	if (!st)
		st = write_all(&in, opts, done, err);
	done->n_boards = boards.v.n;
	done->n_tasks = boards.tasks.n;
	for (size_t k = 0; k < boards.v.n; k++)
		if (boards.v.v[k].table.n - 1 > done->n_systems)
			done->n_systems = boards.v.v[k].table.n - 1;
	pm_mine_release(&mine);
	pm_boards_release(&boards);
	return st;
}
