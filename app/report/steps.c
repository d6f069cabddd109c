/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - the steps of a session in a report. */
#include "app/report/steps.h"

#include "app/report/put.h"
#include "app/trajectory/show.h"
#include "bench/report/plot.h"

#include <math.h>
#include <string.h>

/* ---- scores ---- */

void pm_put_scores(const PmSession *s, PmHtml *h)
{
	size_t n = s->steps.n, k = 0;
	double *x = pm_xcalloc(n + 1, sizeof *x), *score = pm_xcalloc(n + 1, sizeof *score);
	double *best = pm_xcalloc(n + 1, sizeof *best), last = NAN, most = NAN;
	PmPlot plot = { .title = "Score over steps",
			.x_label = "step",
			.y_label = "AS",
			.steps = 1,
			.guide_x = NAN,
			.in_page = 1,
			.n = 2 };
	PmStr svg = PM_STR_INIT;

	/* A score holds until the next one: a single point would not be seen. */
	for (size_t i = 0; i <= n; i++) {
		double v = i < n ? s->steps.v[i].row.score : NAN;

		last = isfinite(v) ? v : last;
		most = isfinite(v) ? fmax(v, most) : most;
		if (!isfinite(last))
			continue;
		x[k] = i < n ? (double)s->steps.v[i].row.ordinal : x[k - 1] + 1;
		score[k] = last;
		best[k++] = most;
	}
	if (k) {
		plot.line[0] = (PmPlotLine){ "last score", k, x, score, 0 };
		plot.line[1] = (PmPlotLine){ "best so far", k, x, best, 1 };
		pm_plot_svg(&plot, &svg);
		pm_html_el(h, PM_EL_figure);
		pm_html_svg(h, &svg);
		pm_html_end(h, PM_EL_figure);
	}
	pm_str_release(&svg);
	free(x);
	free(score);
	free(best);
}

/* ---- texts ---- */

typedef enum Marks { MARKS_NONE, MARKS_DIFF, MARKS_NEW } Marks;

static const char *line_class(const char *line, Marks marks)
{
	if (marks == MARKS_NEW || (marks == MARKS_DIFF && *line == '+'))
		return "add";
	if (marks == MARKS_DIFF && (*line == '-' || *line == '@'))
		return *line == '-' ? "del" : "hunk";
	return NULL;
}

static void put_line(const char *line, Marks marks, PmHtml *h)
{
	const char *class_ = line_class(line, marks);

	pm_html_el(h, PM_EL_span);
	if (class_)
		pm_html_at(h, PM_AT_class, class_);
	if (marks == MARKS_NEW)
		pm_html_text(h, "+");
	pm_html_text_cut(h, line, PM_STEPS_LINE_BYTES);
	pm_html_end(h, PM_EL_span);
	pm_html_text(h, "\n");
}

/* Lines up to so many bytes, and how many are left out. A sign stands before each line that changed: colour
 * alone does not say it. */
static void put_lines(const char *text, size_t most, Marks marks, PmHtml *h)
{
	PmStr line = PM_STR_INIT;
	size_t bytes = 0, left = 0;

	pm_html_el(h, PM_EL_pre);
	if (marks != MARKS_NONE)
		pm_html_at(h, PM_AT_class, "diff");
	while (*text) {
		size_t len = strcspn(text, "\n"),
		       shown = len < PM_STEPS_LINE_BYTES ? len : PM_STEPS_LINE_BYTES;

		pm_str_clear(&line);
		pm_str_addn(&line, text, len);
		if (left || bytes + shown > most)
			left++;
		else
			put_line(line.s, marks, h);
		bytes += shown + 1;
		text += len + (text[len] == '\n');
	}
	pm_html_end(h, PM_EL_pre);
	if (left)
		pm_html_putf(h, PM_EL_p, "soft", "%zu more lines are left out.", left);
	pm_str_release(&line);
}

/* ---- a step ---- */

/* 1 when an earlier step of the session had the file. */
static int was_there(const PmSession *s, size_t step, const char *path)
{
	for (size_t i = 0; i < step; i++) {
		const cJSON *c;

		cJSON_ArrayForEach(
			c, s->steps.v[i].files) if (!strcmp(pm_json_str(c, "path", ""), path)) return 1;
	}
	return 0;
}

static void put_file(const PmSession *s, size_t step, const cJSON *c, PmHtml *h)
{
	const char *path = pm_json_str(c, "path", ""), *diff = pm_json_str(c, "diff", NULL);
	const char *text = pm_json_str(c, "text", NULL);
	int is_new = text && !was_there(s, step, path);

	pm_html_el(h, PM_EL_p);
	pm_html_el(h, PM_EL_code);
	pm_html_text_cut(h, path, 120);
	pm_html_end(h, PM_EL_code);
	pm_html_text(h, diff     ? " changed:"
			: is_new ? " is new:"
			: text   ? " is now:"
			: cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(c, "deleted"))
				? " is gone."
				: " changed, and is too long to be kept.");
	pm_html_end(h, PM_EL_p);
	if (diff || text)
		put_lines(diff ? diff : text, PM_STEPS_DIFF_BYTES,
			  diff     ? MARKS_DIFF
			  : is_new ? MARKS_NEW
				   : MARKS_NONE,
			  h);
}

static void put_verdict(const PmSession *s, const PmStepRow *r, PmHtml *h)
{
	PmVerdict v = pm_verdict_from_name(r->verdict);

	if (!*r->verdict)
		return;
	pm_html_text(h, " ");
	if (v < PM_N_VERDICTS) {
		pm_put_verdict(h, v, 1);
	} else { /* of another version */
		pm_html_el(h, PM_EL_span);
		pm_html_at(h, PM_AT_class, "badge note");
		pm_html_text_cut(h, r->verdict, 40);
		pm_html_end(h, PM_EL_span);
	}
	if (isfinite(r->score))
		pm_html_textf(h, " AS %.4g", r->score);
	if (r->ordinal == s->row.first_ok)
		pm_html_text(h, ", first success");
}

static void put_summary(const PmSession *s, const PmSessionStep *p, PmHtml *h)
{
	const PmStepRow *r = &p->row;
	int is_call = !strcmp(r->role, "tool");
	PmStr args = PM_STR_INIT;

	pm_html_el(h, PM_EL_summary);
	pm_html_textf(h, "#%lld +%.1f s ", (long long)r->ordinal, r->at - s->row.started);
	pm_html_el(h, PM_EL_strong);
	pm_html_text_cut(h, is_call ? r->name : r->role, 60);
	pm_html_end(h, PM_EL_strong);
	if (is_call) {
		pm_step_arguments(p, &args);
		pm_html_text_cut(h, args.s, 200);
	}
	if (isfinite(r->seconds))
		pm_html_textf(h, " (%.2f s)", r->seconds);
	put_verdict(s, r, h);
	pm_html_end(h, PM_EL_summary);
	pm_str_release(&args);
}

static void put_step(const PmSession *s, size_t i, PmHtml *h)
{
	const PmSessionStep *p = &s->steps.v[i];
	PmStr said = PM_STR_INIT;
	const cJSON *c;
	int n = 0;

	pm_html_el(h, PM_EL_details);
	if (cJSON_GetArraySize(p->files))
		pm_html_at(h, PM_AT_open, "");
	put_summary(s, p, h);
	cJSON_ArrayForEach(c, p->files) if (n++ < PM_STEPS_FILES) put_file(s, i, c, h);
	if (n > PM_STEPS_FILES)
		pm_html_putf(h, PM_EL_p, "soft", "%d more files are left out.", n - PM_STEPS_FILES);
	pm_step_said(p, &said);
	if (said.len)
		put_lines(said.s, PM_STEPS_SAID_BYTES, MARKS_NONE, h);
	pm_html_end(h, PM_EL_details);
	pm_str_release(&said);
}

size_t pm_put_steps(const PmSession *s, size_t most, PmHtml *h)
{
	size_t i = 0;

	for (; i < s->steps.n && i < PM_STEPS_MOST && h->out->len < most; i++)
		put_step(s, i, h);
	return i;
}
