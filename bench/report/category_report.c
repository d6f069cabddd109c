/* SPDX-License-Identifier: Apache-2.0 */
/* category_report.c - figures of evaluations by category and pass, from their reports. */
#include "bench/report/category_report.h"

#include "base/core/vec.h"
#include "base/sys/io.h"
#include "bench/eval/runner.h"
#include "ir/category/category.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What one pass did on the graphs of one category. */
typedef struct Row {
	PmCategory category;
	const char *pass; /* borrowed from a report */
	int64_t graphs, variants, not_judged, matched, correct;
	double fast;  /* variants; NaN where a report has no score */
	double log_s; /* sum of the logarithms of n_s speedups */
	int64_t n_s;
} Row;

typedef PM_VEC(Row) Rows;

static Row *row_of(Rows *rows, PmCategory category, const char *pass)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->v[i].category == category && !strcmp(rows->v[i].pass, pass))
			return &rows->v[i];
	PM_VEC_PUSH(rows, ((Row){ .category = category, .pass = pass }));
	return &rows->v[rows->n - 1];
}

static int verdict_is(const cJSON *j, PmVerdict v)
{
	return !strcmp(pm_json_str(j, "verdict", ""), pm_verdict_name(v));
}

static void add_record(Row *row, const cJSON *record, int hidden_right)
{
	double s = pm_json_num(record, "speedup", NAN);

	if (verdict_is(record, PM_VERDICT_HARNESS_FAIL)) {
		row->not_judged++;
		return;
	}
	row->variants++;
	row->matched += pm_json_i64(record, "kernels", 0) > 0;
	if (!hidden_right || !verdict_is(record, PM_VERDICT_OK))
		return;
	row->correct++;
	if (isfinite(s) && s > 0) {
		row->log_s += log(s);
		row->n_s++;
	}
}

static void add_report(Rows *rows, const cJSON *report)
{
	PmCategory c = pm_category_from_name(pm_json_str(report, "category", ""));
	const cJSON *hidden = cJSON_GetObjectItem(report, "hidden"), *record;
	Row *row;
	int64_t before;

	if (c == PM_N_CATEGORIES)
		return;
	row = row_of(rows, c, pm_json_str(report, "pass", ""));
	before = row->variants;
	row->graphs++;
	cJSON_ArrayForEach(record, cJSON_GetObjectItem(report, "records"))
		add_record(row, record, !hidden || verdict_is(hidden, PM_VERDICT_OK));
	/* Of a report with a score this is a whole number, but for rounding. */
	row->fast += pm_json_num(report, "fast_1", NAN) * (double)(row->variants - before);
}

static cJSON *row_json(const Row *r)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "category", pm_category_name(r->category));
	cJSON_AddStringToObject(j, "pass", r->pass);
	pm_json_add_i64(j, "graphs", r->graphs);
	pm_json_add_i64(j, "variants", r->variants);
	pm_json_add_i64(j, "not_judged", r->not_judged);
	pm_json_add_i64(j, "matched", r->matched);
	pm_json_add_i64(j, "correct", r->correct);
	cJSON_AddNumberToObject(j, "speedup", r->n_s ? exp(r->log_s / (double)r->n_s) : NAN);
	if (r->variants && isfinite(r->fast))
		cJSON_AddNumberToObject(j, "fast_1", round(r->fast) / (double)r->variants);
	return j;
}

cJSON *pm_category_report_json(const cJSON *reports)
{
	cJSON *list = cJSON_CreateArray();
	const cJSON *report;
	Rows rows = { 0 };

	cJSON_ArrayForEach(report, reports) add_report(&rows, report);
	for (PmCategory c = 0; c < PM_N_CATEGORIES; c++)
		for (size_t i = 0; i < rows.n; i++)
			if (rows.v[i].category == c)
				cJSON_AddItemToArray(list, row_json(&rows.v[i]));
	PM_VEC_RELEASE(&rows);
	return list;
}

static int has_two_categories(const cJSON *list)
{
	const char *first = pm_json_str(cJSON_GetArrayItem(list, 0), "category", "");
	const cJSON *j;

	cJSON_ArrayForEach(j, list)
	{
		if (strcmp(pm_json_str(j, "category", ""), first))
			return 1;
	}
	return 0;
}

static void add_share(PmStr *out, const cJSON *j, const char *key)
{
	PmStr s = PM_STR_INIT;

	pm_str_addf(&s, "%lld/%lld", (long long)pm_json_i64(j, key, 0),
		    (long long)pm_json_i64(j, "variants", 0));
	pm_str_addf(out, " %11s", s.s);
	pm_str_release(&s);
}

void pm_category_report_table(const cJSON *list, PmStr *out)
{
	const cJSON *j;

	if (!has_two_categories(list))
		return;
	pm_str_addf(out, "  %-16s %-24s %6s %11s %11s %8s %7s\n", "category", "pass", "graphs", "match",
		    "correct", "speed", "fast_1");
	cJSON_ArrayForEach(j, list)
	{
		const char *base = pm_path_base(pm_json_str(j, "pass", ""));
		double speed = pm_json_num(j, "speedup", NAN), fast = pm_json_num(j, "fast_1", NAN);
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
		pm_str_addf(out, "  %-16s %-24.24s %6lld", pm_json_str(j, "category", ""), name,
			    (long long)pm_json_i64(j, "graphs", 0));
		add_share(out, j, "matched");
		add_share(out, j, "correct");
		pm_str_addf(out, isfinite(speed) ? " %7.2fx" : "        -", speed);
		pm_str_addf(out, isfinite(fast) ? " %7.2f\n" : "       -\n", fast);
	}
}
