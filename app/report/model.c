/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - whole models before and after passes: drawings side by side, what each region saves, what stayed
 * outside and why. A record comes from a file, and nothing of it is believed: what it lacks is not shown. */
#include "app/report/put.h"
#include "app/report/section.h"
#include "app/view/passes.h"
#include "dataset/store/applications.h"
#include "draw/html/frame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What one page holds; of what is left out the number is said. */
enum { MOST_MODELS = 20, MOST_REGIONS = 100, MOST_OPS = 20, MOST_WHY = 40, MOST_BYTES = 1500000 };

typedef struct Models {
	PmHtml *h;
	size_t n, left_out; /* of models */
	size_t most;        /* bytes of the page behind which nothing is drawn */
} Models;

/* The name of a pass of a record. */
static const char *pass_of(const cJSON *record, const cJSON *j)
{
	const cJSON *p = cJSON_GetArrayItem(pm_json_get(record, "passes"), (int)pm_json_i64(j, "pass", -1));

	return pm_json_str(p, "pass", "-");
}

/* ---- tables ---- */

static void open_table(PmHtml *h, size_t model, const char *kind, const char *label)
{
	pm_frame_table(h, "wide", "%s, model %zu", label, model);
	pm_html_at(h, PM_AT_class, kind);
}

static void open_heads(PmHtml *h)
{
	pm_html_el(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tr);
}

static void close_heads(PmHtml *h)
{
	pm_html_end(h, PM_EL_tr);
	pm_html_end(h, PM_EL_thead);
	pm_html_el(h, PM_EL_tbody);
}

static void open_row(PmHtml *h, const char *name, size_t most)
{
	pm_html_el(h, PM_EL_tr);
	pm_html_el(h, PM_EL_th);
	pm_html_at(h, PM_AT_scope, "row");
	pm_html_text_cut(h, *name ? name : "-", most);
	pm_html_end(h, PM_EL_th);
}

static void put_cell(PmHtml *h, const char *text, size_t most)
{
	pm_html_el(h, PM_EL_td);
	pm_html_text_cut(h, *text ? text : "-", most);
	pm_html_end(h, PM_EL_td);
}

/* ---- totals ---- */

typedef struct Total {
	const char *name, *before, *after; /* keys */
	double unit;
	int digits;
} Total;

static void put_totals(const Models *m, const cJSON *r)
{
	static const Total totals[] = {
		{ "Nodes", "nodes_before", "nodes_after", 1, 0 },
		{ "Launches", "launches_before", "launches_after", 1, 0 },
		{ "MB read and written", "bytes_before", "bytes_after", 1e6, 2 },
		{ "Modelled time in us", "modelled_seconds_before", "modelled_seconds_after", 1e-6, 1 },
		{ "MB of memory for a call", "memory_before", "memory_after", 1e6, 2 },
	};

	open_table(m->h, m->n, "totals", "Before and after");
	open_heads(m->h);
	pm_put_head(m->h, "", "What", "");
	pm_put_head(m->h, "", "Before", "");
	pm_put_head(m->h, "", "After", "");
	pm_put_head(m->h, "", "Less by %", "");
	close_heads(m->h);
	for (size_t k = 0; k < sizeof totals / sizeof *totals; k++) {
		const Total *t = &totals[k];
		double was = pm_json_num(r, t->before, NAN) / t->unit;
		double is = pm_json_num(r, t->after, NAN) / t->unit;

		open_row(m->h, t->name, 60);
		pm_put_num(m->h, "", t->digits, was);
		pm_put_num(m->h, "", t->digits, is);
		pm_put_num(m->h, "", 1, 100 * (was - is) / was);
		pm_html_end(m->h, PM_EL_tr);
	}
	pm_frame_table_end(m->h);
	if (*pm_json_str(r, "not_planned", "")) {
		pm_html_el(m->h, PM_EL_p);
		pm_html_text(m->h, "Launches and times are not known: ");
		pm_html_text_cut(m->h, pm_json_str(r, "not_planned", ""), 300);
		pm_html_end(m->h, PM_EL_p);
	}
}

/* ---- regions ---- */

typedef struct Region {
	const cJSON *j;
	double saved; /* seconds */
	int number;
} Region;

static int most_first(const void *x, const void *y)
{
	const Region *a = x, *b = y;

	if (a->saved != b->saved)
		return a->saved > b->saved ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static double less(const cJSON *j, const char *before, const char *after)
{
	return pm_json_num(j, before, NAN) - pm_json_num(j, after, NAN);
}

static void put_region(PmHtml *h, const cJSON *r, const cJSON *j)
{
	const cJSON *names = pm_json_get(j, "names"), *first = cJSON_GetArrayItem(names, 0);

	open_row(h, cJSON_IsString(first) ? first->valuestring : "", 60);
	put_cell(h, pass_of(r, j), 60);
	put_cell(h, pm_json_str(j, "rule", ""), 60);
	put_cell(h, pm_json_str(j, "kernel", ""), 60);
	pm_put_num(h, "nodes", 0, (double)cJSON_GetArraySize(pm_json_get(j, "nodes")));
	pm_put_num(h, "us", 2, less(j, "modelled_seconds_before", "modelled_seconds_after") * 1e6);
	pm_put_num(h, "mb", 3, less(j, "bytes_before", "bytes_after") * 1e-6);
	pm_put_num(h, "launches", 0, less(j, "launches_before", "launches_after"));
	pm_html_end(h, PM_EL_tr);
}

static void put_region_heads(PmHtml *h)
{
	open_heads(h);
	pm_put_head(h, "name", "First node", "name of the first node that the kernel took, or of its result");
	pm_put_head(h, "category", "Pass", "");
	pm_put_head(h, "rule", "Rule", "");
	pm_put_head(h, "kernel", "Kernel", "entry of its first launch");
	pm_put_head(h, "nodes", "Nodes", "that it took");
	pm_put_head(h, "us", "us saved", "modelled");
	pm_put_head(h, "mb", "MB saved", "read and written");
	pm_put_head(h, "launches", "Launches saved", "");
	close_heads(h);
}

static void put_regions(const Models *m, const cJSON *r)
{
	const cJSON *list = pm_json_get(r, "regions"), *j;
	int n = cJSON_GetArraySize(list), k = 0;
	Region *by = pm_xcalloc((size_t)n + 1, sizeof *by);

	cJSON_ArrayForEach(j, list)
	{
		double saved = less(j, "modelled_seconds_before", "modelled_seconds_after");

		by[k] = (Region){ j, isfinite(saved) ? saved : -INFINITY, k };
		k++;
	}
	qsort(by, (size_t)n, sizeof *by, most_first);
	pm_html_put(m->h, PM_EL_h4, NULL, "Regions, by time saved");
	pm_html_el(m->h, PM_EL_div);
	pm_html_at(m->h, PM_AT_class, "list");
	pm_html_atf(m->h, PM_AT_id, "m%zu-list", m->n);
	pm_put_search(m->h, "m%zu-q", m->n);
	open_table(m->h, m->n, "sorts", "Regions");
	put_region_heads(m->h);
	for (k = 0; k < n && k < MOST_REGIONS; k++)
		put_region(m->h, r, by[k].j);
	pm_frame_table_end(m->h);
	pm_html_end(m->h, PM_EL_div);
	if (n > MOST_REGIONS)
		pm_html_putf(m->h, PM_EL_p, "soft",
			     "%d more regions, which save less, are left out: passmith apply --json.",
			     n - MOST_REGIONS);
	free(by);
}

/* ---- what stayed outside ---- */

static void put_ops(const Models *m, const cJSON *r)
{
	const cJSON *list = pm_json_get(pm_json_get(r, "outside"), "operators"), *j;
	double all = pm_json_num(r, "modelled_seconds_after", NAN);
	int k = 0, n = cJSON_GetArraySize(list);

	pm_html_put(m->h, PM_EL_h4, NULL, "What stayed outside");
	open_table(m->h, m->n, "outside", "Operators that no pass took");
	open_heads(m->h);
	pm_put_head(m->h, "", "Operator", "");
	pm_put_head(m->h, "", "Nodes", "that no pass took");
	pm_put_head(m->h, "", "Launches", "");
	pm_put_head(m->h, "", "us", "modelled, in the rewritten model");
	pm_put_head(m->h, "", "Share %", "of the modelled time of the rewritten model");
	close_heads(m->h);
	cJSON_ArrayForEach(j, list)
	{
		if (k++ == MOST_OPS)
			break;
		open_row(m->h, pm_json_str(j, "operator", ""), 60);
		pm_put_num(m->h, "", 0, pm_json_num(j, "nodes", NAN));
		pm_put_num(m->h, "", 0, pm_json_num(j, "launches", NAN));
		pm_put_num(m->h, "", 1, pm_json_num(j, "modelled_seconds", NAN) * 1e6);
		pm_put_num(m->h, "", 1, 100 * pm_json_num(j, "modelled_seconds", NAN) / all);
		pm_html_end(m->h, PM_EL_tr);
	}
	pm_frame_table_end(m->h);
	if (n > MOST_OPS)
		pm_html_putf(m->h, PM_EL_p, "soft", "%d more operators are left out.", n - MOST_OPS);
}

static void put_why_row(PmHtml *h, const cJSON *r, const cJSON *j)
{
	int64_t declined = pm_json_i64(j, "declined", 0);

	open_row(h, pm_json_str(j, "node", ""), 80);
	put_cell(h, pass_of(r, j), 60);
	put_cell(h, pm_json_str(j, "rule", ""), 60);
	pm_html_el(h, PM_EL_td);
	if (declined)
		pm_html_textf(h, "declined, %lld times", (long long)declined);
	else
		pm_html_textf(h, "near miss, %lld of %lld operators", (long long)pm_json_i64(j, "depth", 0),
			      (long long)pm_json_i64(j, "of", 0));
	pm_html_end(h, PM_EL_td);
	put_cell(h, pm_json_str(j, "why", ""), 300);
	pm_html_end(h, PM_EL_tr);
}

typedef struct Why {
	const cJSON *j;
	double near; /* above 1: how often a rule declined, and 1; else the share of the operators that
			matched */
	int number;
} Why;

static int nearest_first(const void *x, const void *y)
{
	const Why *a = x, *b = y;

	if (a->near != b->near)
		return a->near > b->near ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Reasons to decline by count, then near misses by how near; owned by the caller. */
static Why *sort_why(const cJSON *list, int n)
{
	Why *by = pm_xcalloc((size_t)n + 1, sizeof *by);
	const cJSON *j;
	int k = 0;

	cJSON_ArrayForEach(j, list)
	{
		double declined = (double)pm_json_i64(j, "declined", 0);
		double depth = (double)pm_json_i64(j, "depth", 0), of = (double)pm_json_i64(j, "of", 0);

		by[k] = (Why){ j, declined > 0 ? 1 + declined : of > 0 ? depth / of : 0, k };
		k++;
	}
	qsort(by, (size_t)n, sizeof *by, nearest_first);
	return by;
}

static void put_why(const Models *m, const cJSON *r)
{
	const cJSON *list = pm_json_get(pm_json_get(r, "outside"), "why");
	int n = cJSON_GetArraySize(list);
	Why *by;
	int64_t more = pm_json_i64(pm_json_get(r, "outside"), "left_out", 0) +
		       (n > MOST_WHY ? n - MOST_WHY : 0);

	if (!n)
		return;
	pm_html_put(m->h, PM_EL_h4, NULL, "Why: what rules said when their turn came");
	open_table(m->h, m->n, "why", "Why rules did not apply");
	open_heads(m->h);
	pm_put_head(m->h, "", "Node", "as the pass saw the model; of several the first");
	pm_put_head(m->h, "", "Pass", "");
	pm_put_head(m->h, "", "Rule", "");
	pm_put_head(m->h, "", "How near", "");
	pm_put_head(m->h, "", "Why", "");
	close_heads(m->h);
	by = sort_why(list, n);
	for (int k = 0; k < n && k < MOST_WHY; k++)
		put_why_row(m->h, r, by[k].j);
	free(by);
	pm_frame_table_end(m->h);
	if (more > 0)
		pm_html_putf(m->h, PM_EL_p, "soft", "%lld more are left out: passmith explain.",
			     (long long)more);
}

/* ---- a model ---- */

/* The legend: a number and a colour for each pass that applied. */
static void put_legend(const Models *m, const cJSON *r)
{
	const cJSON *p;
	int k = 0;

	pm_html_el(m->h, PM_EL_ul);
	cJSON_ArrayForEach(p, pm_json_get(r, "passes"))
	{
		int64_t applied = pm_json_i64(p, "applied", 0);

		k++;
		if (applied <= 0)
			continue;
		pm_html_el(m->h, PM_EL_li);
		pm_html_textf(m->h, "pass %d: ", k);
		pm_html_text_cut(m->h, pm_json_str(p, "pass", ""), 60);
		pm_html_textf(m->h, ", %lld region%s", (long long)applied, applied == 1 ? "" : "s");
		pm_html_end(m->h, PM_EL_li);
	}
	pm_html_end(m->h, PM_EL_ul);
}

static void put_drawings(const Models *m, const PmApplicationRow *row, const cJSON *r)
{
	if (!*row->before_text || !*row->after_text) {
		pm_html_put(m->h, PM_EL_p, "soft", "Too large to be drawn here: passmith view.");
		return;
	}
	if (m->h->out->len > m->most) {
		pm_html_put(m->h, PM_EL_p, "soft", "Not drawn: the page is long already. passmith view.");
		return;
	}
	pm_html_el(m->h, PM_EL_div);
	pm_html_at(m->h, PM_AT_class, "figures drawings");
	pm_view_passes(m->h, m->n, "Before", row->before_text, r, 0);
	pm_view_passes(m->h, m->n, "After", row->after_text, r, 1);
	pm_html_end(m->h, PM_EL_div);
}

static PmStatus put_model(void *arg, const PmApplicationRow *row, PmErr *err)
{
	Models *m = arg;
	cJSON *r = NULL;

	if (m->n == MOST_MODELS) {
		m->left_out++;
		return PM_OK;
	}
	if (pm_json_parse(row->record, strlen(row->record), &r, NULL))
		return pm_err(err, PM_E_INVALID,
			      "The record of rewritten model %lld is no JSON; apply the passes again.",
			      (long long)row->id);
	m->n++;
	pm_html_el(m->h, PM_EL_section);
	pm_html_atf(m->h, PM_AT_id, "m%zu", m->n);
	pm_html_el(m->h, PM_EL_h3);
	pm_html_text_cut(m->h, *row->name ? row->name : "no name", 80);
	pm_html_end(m->h, PM_EL_h3);
	pm_html_el(m->h, PM_EL_p);
	pm_html_at(m->h, PM_AT_class, "soft");
	pm_html_text(m->h, "Passmith ");
	pm_html_text_cut(m->h, row->version, 40);
	pm_html_text(m->h, ", model ");
	pm_html_text_cut(m->h, row->model_sha256, 12);
	pm_html_text(m->h, ". Times are modelled.");
	pm_html_end(m->h, PM_EL_p);
	put_totals(m, r);
	put_legend(m, r);
	put_drawings(m, row, r);
	put_regions(m, r);
	put_ops(m, r);
	put_why(m, r);
	pm_html_end(m->h, PM_EL_section);
	cJSON_Delete(r);
	return PM_OK;
}

/* ---- the section ---- */

int pm_report_has_models(const PmReportInput *in)
{
	return in->n_applications > 0;
}

PmStatus pm_report_put_models(const PmReportInput *in, PmHtml *h, PmErr *err)
{
	Models m = { .h = h, .most = h->out->len + MOST_BYTES };
	PmStatus st = pm_applications_each(in->db, put_model, &m, err);

	if (!st && m.left_out)
		pm_html_putf(h, PM_EL_p, "soft", "%zu more models are left out.", m.left_out);
	return st;
}
