/* SPDX-License-Identifier: Apache-2.0 */
/* db_report.c - a database on one page of HTML. */
#include "app/store/db_report.h"

#include "base/core/vec.h"

#include <stdlib.h>
#include <string.h>

enum { BAR_WIDTH = 420, LABEL_WIDTH = 230, ROW_HEIGHT = 18, MOST_BARS = 30 };

typedef struct Bar {
	char *label; /* owned */
	int64_t n;
} Bar;

typedef struct Bars {
	PM_VEC(Bar) list;
} Bars;

static void bars_release(Bars *b)
{
	for (size_t i = 0; i < b->list.n; i++)
		free(b->list.v[i].label);
	PM_VEC_RELEASE(&b->list);
}

static void bars_add(Bars *b, const char *label, size_t len, int64_t n)
{
	Bar bar = { NULL, n };

	for (size_t i = 0; i < b->list.n; i++)
		if (strlen(b->list.v[i].label) == len && !memcmp(b->list.v[i].label, label, len)) {
			b->list.v[i].n += n;
			return;
		}
	bar.label = pm_xcalloc(len + 1, 1);
	memcpy(bar.label, label, len);
	PM_VEC_PUSH(&b->list, bar);
}

static int most_first(const void *x, const void *y)
{
	const Bar *a = x, *b = y;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return strcmp(a->label, b->label);
}

/* ---- rows of queries: first a label, then a number ---- */

static int64_t number(const char *s)
{
	int64_t n = 0;

	return s && pm_parse_i64(s, &n) ? n : 0;
}

static PmStatus take_row(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	const char *label = values[0] ? values[0] : "";

	(void)names;
	(void)err;
	bars_add(arg, label, strlen(label), n > 1 ? number(values[1]) : 0);
	return PM_OK;
}

/* A label that is a list: each entry counts. */
static PmStatus take_list(void *arg, size_t n, const char *const *names, const char *const *values,
			  PmErr *err)
{
	const char *p = values[0] ? values[0] : "";

	(void)names;
	(void)err;
	while (*p) {
		size_t len = strcspn(p, ",[]");

		if (len)
			bars_add(arg, p, len, n > 1 ? number(values[1]) : 0);
		p += len + (p[len] != '\0');
	}
	return PM_OK;
}

/* ---- HTML ---- */

static void add_escaped(PmStr *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '<')
			pm_str_add(out, "&lt;");
		else if (*s == '>')
			pm_str_add(out, "&gt;");
		else if (*s == '&')
			pm_str_add(out, "&amp;");
		else if (*s == '"')
			pm_str_add(out, "&quot;");
		else
			pm_str_addc(out, *s);
	}
}

static void add_chart(PmStr *out, const char *title, const Bars *b)
{
	size_t n = b->list.n < MOST_BARS ? b->list.n : MOST_BARS;
	int64_t most = 1;

	for (size_t i = 0; i < n; i++)
		most = b->list.v[i].n > most ? b->list.v[i].n : most;
	pm_str_add(out, "<section><h2>");
	add_escaped(out, title);
	pm_str_addf(out, "</h2>\n<svg width=\"%d\" height=\"%zu\" role=\"img\">\n",
		    LABEL_WIDTH + BAR_WIDTH + 110, n * ROW_HEIGHT + 4);
	for (size_t i = 0; i < n; i++) {
		int64_t w = b->list.v[i].n * BAR_WIDTH / most, y = (int64_t)i * ROW_HEIGHT;

		pm_str_addf(out, "<text x=\"%d\" y=\"%lld\" text-anchor=\"end\">", LABEL_WIDTH - 6,
			    (long long)y + 13);
		add_escaped(out, b->list.v[i].label);
		pm_str_addf(out,
			    "</text><rect x=\"%d\" y=\"%lld\" width=\"%lld\" height=\"%d\"/><text x=\"%lld\" "
			    "y=\"%lld\">"
			    "%lld</text>\n",
			    LABEL_WIDTH, (long long)y + 2, (long long)(w > 0 ? w : 1), ROW_HEIGHT - 5,
			    (long long)(LABEL_WIDTH + w + 6), (long long)y + 13, (long long)b->list.v[i].n);
	}
	pm_str_add(out, "</svg>\n");
	if (b->list.n > n)
		pm_str_addf(out, "<p>and %zu more</p>\n", b->list.n - n);
	pm_str_add(out, "</section>\n");
}

/* ---- the charts ---- */

static const struct {
	const char *title, *sql;
	PmQueryFn take;
	int sorted; /* by number instead of by the query's order */
} charts[] = {
	{ "What it holds",
	  "SELECT 'models', count(*) FROM models UNION ALL SELECT 'places in models', count(*) FROM "
	  "occurrences "
	  "UNION ALL SELECT 'graphs', count(*) FROM subgraphs UNION ALL "
	  "SELECT 'structures', count(DISTINCT structure) FROM subgraphs UNION ALL "
	  "SELECT 'lists of operators', count(DISTINCT op_seq) FROM subgraphs UNION ALL "
	  "SELECT 'tasks', count(*) FROM tasks UNION ALL SELECT 'results', count(*) FROM results",
	  take_row, 0 },
	{ "Graphs by kind", "SELECT kind, count(*) FROM kinds GROUP BY kind ORDER BY kind", take_row, 0 },
	{ "Models by category",
	  "SELECT CASE category WHEN '' THEN '(not known)' ELSE category END, count(*) FROM models GROUP BY "
	  "1 "
	  "ORDER BY 1",
	  take_row, 1 },
	{ "Extracted graphs by category",
	  "SELECT category, count(*) FROM subgraphs WHERE id IN (SELECT subgraph FROM occurrences) GROUP BY "
	  "1 "
	  "ORDER BY 1",
	  take_row, 1 },
	{ "Operators of extracted graphs, by places in models",
	  "SELECT q.text, count(*) FROM occurrences o JOIN subgraphs s ON s.id = o.subgraph "
	  "JOIN op_seqs q ON q.id = s.op_seq GROUP BY q.id ORDER BY q.text",
	  take_list, 1 },
	{ "Operators in a graph (extracted, different graphs)",
	  "SELECT s.n_nodes, count(*) FROM (SELECT DISTINCT subgraph FROM occurrences) o "
	  "JOIN subgraphs s ON s.id = o.subgraph GROUP BY s.n_nodes ORDER BY s.n_nodes",
	  take_row, 0 },
	{ "Size classes of input dimensions (0: 1 to 15, 1: 16 to 255, 2: 256 to 4,095, ...)",
	  "SELECT b.shapes, count(*) FROM subgraphs s JOIN buckets b ON b.id = s.bucket GROUP BY b.id ORDER "
	  "BY b.shapes",
	  take_list, 1 },
	{ "Element types of inputs",
	  "SELECT b.dtypes, count(*) FROM subgraphs s JOIN buckets b ON b.id = s.bucket GROUP BY b.id ORDER "
	  "BY b.dtypes",
	  take_list, 1 },
	{ "Redundancy: different graphs by how often they occur",
	  "SELECT CASE WHEN n = 1 THEN '1' WHEN n < 4 THEN '2 to 3' WHEN n < 16 THEN '4 to 15' WHEN n < 64 "
	  "THEN "
	  "'16 to 63' WHEN n < 256 THEN '64 to 255' ELSE '256 and more' END, count(*) FROM "
	  "(SELECT count(*) AS n FROM occurrences GROUP BY subgraph) GROUP BY 1 ORDER BY min(n)",
	  take_row, 0 },
	{ "Redundancy: structures by the models that hold them",
	  "SELECT CASE WHEN n = 1 THEN '1' WHEN n < 4 THEN '2 to 3' WHEN n < 16 THEN '4 to 15' WHEN n < 64 "
	  "THEN "
	  "'16 to 63' WHEN n < 256 THEN '64 to 255' ELSE '256 and more' END, count(*) FROM "
	  "(SELECT count(DISTINCT o.model) AS n FROM occurrences o JOIN subgraphs s ON s.id = o.subgraph "
	  "GROUP BY s.structure) GROUP BY 1 ORDER BY min(n)",
	  take_row, 0 },
	{ "Tasks by use and difficulty",
	  "SELECT CASE split WHEN '' THEN 'by hand' ELSE split END || ': ' || stratum, count(*) FROM tasks "
	  "GROUP BY split, stratum ORDER BY split, stratum",
	  take_row, 0 },
	{ "Tasks by category",
	  "SELECT s.category, count(*) FROM variants v JOIN subgraphs s ON s.id = v.subgraph WHERE v.ordinal "
	  "= 0 "
	  "GROUP BY 1 ORDER BY 1",
	  take_row, 1 },
	{ "Tasks by how their graphs were grouped",
	  "SELECT CASE split WHEN '' THEN 'by hand' ELSE split END || ': ' || "
	  "substr(policy, 1, max(instr(policy, ' ') - 1, 0)), count(*) FROM tasks GROUP BY 1 ORDER BY 1",
	  take_row, 0 },
	{ "Variants by element type", "SELECT dtype, count(*) FROM variants GROUP BY dtype ORDER BY dtype",
	  take_row, 0 },
	{ "Rejected by the gate, by rule", "SELECT rule, count(*) FROM rejected GROUP BY rule ORDER BY rule",
	  take_row, 1 },
};

PmStatus pm_db_report(PmDb *db, PmStr *out, PmErr *err)
{
	PmStatus st = PM_OK;

	pm_str_add(
		out,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
		"charset=\"utf-8\"><title>Dataset</title>\n<style>"
		"body{font:14px sans-serif;margin:2em;max-width:820px}h2{font-size:15px;margin:1.6em 0 .4em}"
		"svg text{font-size:12px}svg rect{fill:#4477aa}</style></head><body>\n<h1>Dataset</h1>\n");
	for (size_t k = 0; k < sizeof charts / sizeof *charts && !st; k++) {
		Bars b = { 0 };

		st = pm_db_query(db, charts[k].sql, charts[k].take, &b, err);
		if (!st && charts[k].sorted && b.list.n)
			qsort(b.list.v, b.list.n, sizeof *b.list.v, most_first);
		if (!st && b.list.n)
			add_chart(out, charts[k].title, &b);
		bars_release(&b);
	}
	pm_str_add(out, "</body></html>\n");
	return st;
}
