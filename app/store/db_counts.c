/* SPDX-License-Identifier: Apache-2.0 */
/* db_counts.c - what a database holds, counted. */
#include "app/store/db_counts.h"

#include "draw/html/html.h"

#include <stdlib.h>
#include <string.h>

enum { BAR_WIDTH = 420, LABEL_WIDTH = 230, ROW_HEIGHT = 18, MOST_BARS = 30, LABEL_BYTES = 34 };

void pm_db_counts_release(PmDbCounts *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		free(c->list.v[i].label);
	PM_VEC_RELEASE(&c->list);
}

static void counts_add(PmDbCounts *c, const char *label, size_t len, int64_t n)
{
	PmDbCount one = { NULL, n };

	for (size_t i = 0; i < c->list.n; i++)
		if (strlen(c->list.v[i].label) == len && !memcmp(c->list.v[i].label, label, len)) {
			c->list.v[i].n += n;
			return;
		}
	one.label = pm_xcalloc(len + 1, 1);
	memcpy(one.label, label, len);
	PM_VEC_PUSH(&c->list, one);
}

static int most_first(const void *x, const void *y)
{
	const PmDbCount *a = x, *b = y;

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
	counts_add(arg, label, strlen(label), n > 1 ? number(values[1]) : 0);
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
			counts_add(arg, p, len, n > 1 ? number(values[1]) : 0);
		p += len + (p[len] != '\0');
	}
	return PM_OK;
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

size_t pm_db_counts_n(void)
{
	return sizeof charts / sizeof *charts;
}

const char *pm_db_counts_title(size_t k)
{
	return charts[k].title;
}

PmStatus pm_db_counts_read(PmDb *db, size_t k, PmDbCounts *out, PmErr *err)
{
	PmStatus st = pm_db_query(db, charts[k].sql, charts[k].take, out, err);

	if (!st && charts[k].sorted && out->list.n)
		qsort(out->list.v, out->list.n, sizeof *out->list.v, most_first);
	return st;
}

/* ---- places ---- */

static PmStatus take_place(void *arg, size_t n, const char *const *names, const char *const *values,
			   PmErr *err)
{
	PmDbPlaces *p = arg;
	int64_t places = number(values[0]), in_tasks = n > 1 ? number(values[1]) : 0;

	(void)names;
	(void)err;
	PM_VEC_PUSH(&p->structure, places);
	p->n += places;
	if (in_tasks) {
		p->structures_in_tasks++;
		p->n_in_tasks += places;
	}
	return PM_OK;
}

PmStatus pm_db_places_read(PmDb *db, PmDbPlaces *out, PmErr *err)
{
	return pm_db_query(db,
			   "SELECT count(*), s.structure IN (SELECT b.structure FROM variants v JOIN "
			   "subgraphs b ON b.id IN "
			   "(v.base, v.subgraph)) FROM occurrences o JOIN subgraphs s ON s.id = o.subgraph "
			   "GROUP BY s.structure "
			   "ORDER BY 1 DESC",
			   take_place, out, err);
}

size_t pm_db_places_reach(const PmDbPlaces *p, double share)
{
	int64_t sum = 0;
	size_t k = 0;

	while (k < p->structure.n && (double)sum < share * (double)p->n)
		sum += p->structure.v[k++];
	return k;
}

void pm_db_places_release(PmDbPlaces *p)
{
	PM_VEC_RELEASE(&p->structure);
}

/* ---- drawing ---- */

static void add_bar(PmStr *out, const PmDbCount *c, size_t row, int64_t most)
{
	int64_t w = c->n * BAR_WIDTH / most;
	size_t y = row * ROW_HEIGHT;
	PmHtml label;

	pm_str_addf(out, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">", LABEL_WIDTH - 6, y + 13);
	pm_html_begin(&label, out);
	pm_html_text_cut(&label, c->label, LABEL_BYTES);
	pm_str_addf(out,
		    "</text><rect x=\"%d\" y=\"%zu\" width=\"%lld\" height=\"%d\"/><text x=\"%lld\" "
		    "y=\"%zu\">%lld</text>\n",
		    LABEL_WIDTH, y + 2, (long long)(w > 0 ? w : 1), ROW_HEIGHT - 5,
		    (long long)(LABEL_WIDTH + w + 6), y + 13, (long long)c->n);
}

size_t pm_db_counts_svg(const char *title, const PmDbCounts *c, PmStr *out)
{
	size_t n = c->list.n < MOST_BARS ? c->list.n : MOST_BARS;
	int width = LABEL_WIDTH + BAR_WIDTH + 110;
	int64_t most = 1;
	PmHtml name;

	for (size_t i = 0; i < n; i++)
		most = c->list.v[i].n > most ? c->list.v[i].n : most;
	pm_str_addf(out,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"bars\" width=\"%d\" height=\"%zu\" "
		    "viewBox=\"0 0 %d %zu\" role=\"img\" aria-label=\"",
		    width, n * ROW_HEIGHT + 4, width, n * ROW_HEIGHT + 4);
	pm_html_begin(&name, out);
	pm_html_text(&name, title);
	pm_str_add(out, "\">\n");
	for (size_t i = 0; i < n; i++)
		add_bar(out, &c->list.v[i], i, most);
	pm_str_add(out, "</svg>\n");
	return c->list.n - n;
}
