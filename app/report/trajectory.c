/* SPDX-License-Identifier: Apache-2.0 */
/* trajectory.c - what agents did: a list of sessions, and each of them step by step. */
#include "app/report/put.h"
#include "app/report/section.h"
#include "app/report/steps.h"
#include "app/trajectory/show.h"
#include "draw/html/frame.h"

#include <math.h>
#include <string.h>

/* What one page holds; of what is left out the number is said. */
enum { MOST_LISTED = 200, MOST_SESSIONS = 20, MOST_BYTES = 1500000, HASH_DIGITS = 12 };

typedef struct Sessions {
	PM_VEC(int64_t) id; /* by when they began */
	PmRedact *redact;
	PmHtml *h;
	size_t shown; /* of the last ones, those that are in the page step by step */
} Sessions;

static PmStatus take_id(void *arg, const PmTrajectoryRow *row, PmErr *err)
{
	Sessions *s = arg;

	(void)err;
	PM_VEC_PUSH(&s->id, row->id);
	return PM_OK;
}

/* The k-th, the last one first. */
static int64_t nth(const Sessions *s, size_t k)
{
	return s->id.v[s->id.n - 1 - k];
}

/* ---- the list ---- */

static void put_heads(PmHtml *h)
{
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
	pm_put_head(h, "", "Session", "");
	pm_put_head(h, "", "Began", "UTC");
	pm_put_head(h, "", "Kind", "agent: of the driver; mcp: of a client of the server");
	pm_put_head(h, "", "Model", "or client");
	pm_put_head(h, "", "Task", "");
	pm_put_head(h, "", "Outcome", "");
	pm_put_head(h, "", "Best AS", "of all its steps");
	pm_put_head(h, "", "Steps", "");
	pm_put_head(h, "", "First success", "number of the step");
	pm_put_head(h, "", "Seconds", "");
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
}

/* At most so many bytes of it. */
static void put_cell(const Sessions *s, const char *text, size_t most)
{
	PmStr clean = PM_STR_INIT;

	pm_redact_text(s->redact, text, &clean);
	pm_html_el(s->h, PM_EL_td);
	pm_html_text_cut(s->h, clean.len ? clean.s : "-", most);
	pm_html_end(s->h, PM_EL_td);
	pm_str_release(&clean);
}

static PmStatus put_row(void *arg, const PmTrajectoryRow *r, PmErr *err)
{
	const Sessions *s = arg;
	char date[24];
	int linked = 0;

	(void)err;
	for (size_t k = 0; k < s->shown; k++)
		linked |= nth(s, k) == r->id;
	pm_put_date_text((int64_t)r->started, date, sizeof date);
	pm_html_el(s->h, PM_EL_tr);
	pm_html_el(s->h, PM_EL_th);
	pm_html_at(s->h, PM_AT_scope, "row");
	if (linked) {
		pm_html_el(s->h, PM_EL_a);
		pm_html_atf(s->h, PM_AT_href, "#s%lld", (long long)r->id);
	}
	pm_html_textf(s->h, "Session %lld", (long long)r->id);
	if (linked)
		pm_html_end(s->h, PM_EL_a);
	pm_html_end(s->h, PM_EL_th);
	put_cell(s, date, 60);
	put_cell(s, r->kind, 60);
	put_cell(s, r->model, 60);
	put_cell(s, *r->task_name ? r->task_name : r->task, *r->task_name ? 60 : HASH_DIGITS);
	put_cell(s, pm_trajectory_outcome(r), 60);
	pm_put_num(s->h, "", 3, r->best);
	pm_put_num(s->h, "", 0, (double)r->n_steps);
	pm_put_num(s->h, "", 0, r->first_ok < 0 ? NAN : (double)r->first_ok);
	pm_put_num(s->h, "", 1, r->last - r->started);
	pm_html_end(s->h, PM_EL_tr);
	return PM_OK;
}

static PmStatus put_list(const PmReportInput *in, Sessions *s, PmErr *err)
{
	size_t n = s->id.n < MOST_LISTED ? s->id.n : MOST_LISTED;
	PmStatus st = PM_OK;

	pm_frame_table(s->h, "wide", "List of sessions");
	pm_html_at(s->h, PM_AT_id, "sessions");
	put_heads(s->h);
	pm_html_el(s->h, PM_EL_tbody);
	for (size_t k = 0; k < n && !st; k++)
		st = pm_trajectory_get(in->db, nth(s, k), put_row, s, err);
	if (st)
		return st;
	pm_frame_table_end(s->h);
	if (s->id.n > n)
		pm_html_putf(s->h, PM_EL_p, "soft",
			     "%zu earlier sessions are left out: passmith trajectory list.", s->id.n - n);
	if (n > s->shown)
		pm_html_putf(s->h, PM_EL_p, "soft",
			     "%zu of these are not shown step by step: passmith trajectory show.",
			     n - s->shown);
	return st;
}

/* ---- a session ---- */

static void put_about(const PmSession *s, PmHtml *h)
{
	PmStr began = PM_STR_INIT;

	pm_session_time(s->row.started, &began);
	pm_html_el(h, PM_EL_h3);
	pm_html_textf(h, "Session %lld: ", (long long)s->row.id);
	pm_html_text_cut(h, *s->row.model ? s->row.model : "no name", 80);
	pm_html_end(h, PM_EL_h3);
	pm_html_el(h, PM_EL_p);
	pm_html_at(h, PM_AT_class, "soft");
	pm_html_textf(h, "Began %s, Passmith ", began.s);
	pm_html_text_cut(h, s->row.version, 40);
	pm_html_text(h, ", ");
	pm_html_text_cut(h, s->row.machine, 120);
	pm_html_textf(h, ". %lld tokens in, %lld out. ", (long long)s->row.tokens_in,
		      (long long)s->row.tokens_out);
	pm_html_el(h, PM_EL_a);
	pm_html_at(h, PM_AT_href, "#sessions");
	pm_html_text(h, "All sessions");
	pm_html_end(h, PM_EL_a);
	pm_html_end(h, PM_EL_p);
	pm_str_release(&began);
}

static PmStatus put_session(const PmReportInput *in, const Sessions *all, int64_t id, size_t most, PmErr *err)
{
	PmSession s;
	PmStatus st = pm_session_load(in->db, id, all->redact, &s, err);
	PmHtml *h = all->h;
	size_t n;

	if (!st) {
		pm_html_el(h, PM_EL_section);
		pm_html_at(h, PM_AT_class, "task");
		pm_html_atf(h, PM_AT_id, "s%lld", (long long)id);
		put_about(&s, h);
		pm_put_scores(&s, h);
		n = pm_put_steps(&s, most, h);
		if (n < s.steps.n)
			pm_html_putf(h, PM_EL_p, "soft", "%zu more steps: passmith trajectory show %lld.",
				     s.steps.n - n, (long long)id);
		else if (!s.row.ended)
			pm_html_put(h, PM_EL_p, "soft", "Cut off here: the session has no end.");
		pm_html_end(h, PM_EL_section);
	}
	pm_session_release(&s);
	return st;
}

/* ---- the section ---- */

int pm_report_has_trajectories(const PmReportInput *in)
{
	return in->n_sessions > 0;
}

PmStatus pm_report_put_trajectories(const PmReportInput *in, PmHtml *h, PmErr *err)
{
	Sessions s = { .redact = pm_redact_new(), .h = h };
	PmStatus st = pm_trajectories_each(in->db, NULL, take_id, &s, err);
	size_t most = h->out->len + MOST_BYTES;

	s.shown = s.id.n < MOST_SESSIONS ? s.id.n : MOST_SESSIONS;
	if (!st)
		st = put_list(in, &s, err);
	for (size_t k = 0; k < s.shown && !st; k++)
		st = put_session(in, &s, nth(&s, k), most, err);
	pm_redact_free(s.redact);
	PM_VEC_RELEASE(&s.id);
	return st;
}
