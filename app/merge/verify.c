/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - proof that a merged database holds what its parts held. */
#include "app/merge/verify.h"

#include "app/merge/evidence.h"
#include "base/core/arena.h"
#include "base/core/vec.h"
#include "bench/eval/run_key.h"
#include "bench/report/report.h"
#include "dataset/store/measurements.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texts of a row, in the order of the columns below. */
enum { RUN, GRAPH, KEY, VERDICT, JSON, TASK, PASS, LABEL, OPTIONS, N_TEXTS };

/* A measurement, or a verdict on hidden shapes: then the graph is "". */
typedef struct Row {
	char *text[N_TEXTS]; /* owned */
	double speedup;      /* NaN = none */
	int counts;
	const char *from; /* path of a database, borrowed */
} Row;

/* The key of a task or run, and its names. */
typedef struct Name {
	char *key, *shown; /* owned */
	const char *from;
} Name;
typedef PM_VEC(Name) Names;

struct PmParts {
	PM_VEC(Row) rows;
	Names tasks, runs;
	PM_VEC(char *) paths; /* owned */
	const char *path;     /* of the database that is read */
};

PmParts *pm_parts_new(void)
{
	return pm_xcalloc(1, sizeof(PmParts));
}

static void row_release(Row *r)
{
	for (int k = 0; k < N_TEXTS; k++)
		free(r->text[k]);
}

static void names_release(Names *n)
{
	for (size_t i = 0; i < n->n; i++) {
		free(n->v[i].key);
		free(n->v[i].shown);
	}
	PM_VEC_RELEASE(n);
}

void pm_parts_free(PmParts *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->rows.n; i++)
		row_release(&u->rows.v[i]);
	for (size_t i = 0; i < u->paths.n; i++)
		free(u->paths.v[i]);
	PM_VEC_RELEASE(&u->rows);
	PM_VEC_RELEASE(&u->paths);
	names_release(&u->tasks);
	names_release(&u->runs);
	free(u);
}

/* ---- reading ---- */

static PmStatus take_row(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	PmParts *u = arg;
	Row r = { .from = u->path };

	(void)n;
	(void)names;
	(void)err;
	for (int k = 0; k < N_TEXTS; k++)
		r.text[k] = pm_xstrdup(values[k] ? values[k] : "");
	r.speedup = values[N_TEXTS] ? strtod(values[N_TEXTS], NULL) : NAN;
	r.counts = values[N_TEXTS + 1] && *values[N_TEXTS + 1] == '1';
	PM_VEC_PUSH(&u->rows, r);
	return PM_OK;
}

typedef struct Into {
	Names *names;
	const char *from;
} Into;

static PmStatus take_name(void *arg, size_t n, const char *const *names, const char *const *values,
			  PmErr *err)
{
	const Into *to = arg;

	(void)n;
	(void)names;
	(void)err;
	PM_VEC_PUSH(to->names,
		    ((Name){ pm_xstrdup(values[0]), pm_xstrdup(values[1] ? values[1] : ""), to->from }));
	return PM_OK;
}

PmStatus pm_parts_add(PmParts *u, PmDb *db, PmErr *err)
{
	char *path = pm_xstrdup(pm_db_path(db));
	Into tasks = { &u->tasks, path }, runs = { &u->runs, path };
	PmStatus st = pm_db_begin_reading(db, err);

	PM_VEC_PUSH(&u->paths, path);
	u->path = path;
	if (st)
		return st;
	st = pm_db_query(db, "SELECT hash, 'Task ''' || name || '''' FROM tasks", take_name, &tasks, err);
	if (!st)
		st = pm_db_query(
			db,
			"SELECT r.key, 'The run of pass ''' || r.pass_path || ''' on task ''' || "
			"coalesce(t.name, '') || '''' FROM runs r LEFT JOIN tasks t ON t.id = r.task",
			take_name, &runs, err);
	if (!st)
		st = pm_db_query(
			db,
			"SELECT r.key, s.hash, m.key, m.verdict, m.json, t.name, r.pass_path, v.label, "
			"r.options, CASE WHEN m.speedup IS NOT NULL THEN printf('%!.17g', m.speedup) END, "
			"m.counts FROM measurements m "
			"JOIN runs r ON r.id = m.run JOIN tasks t ON t.id = m.task "
			"JOIN variants v ON v.task = m.task AND v.ordinal = m.ordinal "
			"JOIN subgraphs s ON s.id = v.subgraph",
			take_row, u, err);
	if (!st)
		st = pm_db_query(db,
				 "SELECT r.key, '', h.key, h.verdict, h.json, t.name, r.pass_path, "
				 "'hidden shapes', r.options, NULL, h.verdict = r.hidden AND h.json = "
				 "r.hidden_json FROM hidden_measurements h JOIN runs r ON r.id = h.run "
				 "LEFT JOIN tasks t ON t.id = r.task",
				 take_row, u, err);
	pm_db_end_reading(db);
	return st;
}

/* ---- order ---- */

static int by_place(const void *x, const void *y)
{
	const Row *a = x, *b = y;
	int c = strcmp(a->text[RUN], b->text[RUN]);

	if (!c)
		c = strcmp(a->text[GRAPH], b->text[GRAPH]);
	return c ? c : strcmp(a->text[KEY], b->text[KEY]);
}

static int by_key(const void *x, const void *y)
{
	return strcmp(((const Name *)x)->key, ((const Name *)y)->key);
}

static void sort_names(Names *n)
{
	size_t k = 0;

	if (n->n)
		qsort(n->v, n->n, sizeof *n->v, by_key);
	for (size_t i = 0; i < n->n; i++) {
		if (k && !strcmp(n->v[k - 1].key, n->v[i].key)) {
			free(n->v[i].key);
			free(n->v[i].shown);
		} else {
			n->v[k++] = n->v[i];
		}
	}
	n->n = k;
}

static int same_variant(const Row *a, const Row *b)
{
	return !strcmp(a->text[RUN], b->text[RUN]) && !strcmp(a->text[GRAPH], b->text[GRAPH]);
}

/* Decides which of the rows of one variant counts. */
static void decide(Row *r, size_t n)
{
	PmRival *c = pm_xcalloc(n, sizeof *c);
	size_t at;

	for (size_t i = 0; i < n; i++) {
		c[i] = (PmRival){ r[i].text[KEY], r[i].text[VERDICT], r[i].speedup };
		r[i].counts = 0;
	}
	at = pm_measurement_pick(c, n);
	r[at].counts = 1;
	free(c);
}

/* Each row once, in order; `fresh`: what counts is decided anew. */
static void sort_rows(PmParts *u, int fresh)
{
	size_t k = 0, end;

	if (u->rows.n)
		qsort(u->rows.v, u->rows.n, sizeof *u->rows.v, by_place);
	for (size_t i = 0; i < u->rows.n; i++) {
		if (k && !by_place(&u->rows.v[k - 1], &u->rows.v[i]))
			row_release(&u->rows.v[i]);
		else
			u->rows.v[k++] = u->rows.v[i];
	}
	u->rows.n = k;
	for (size_t i = 0; i < k && fresh; i = end) {
		for (end = i + 1; end < k && same_variant(&u->rows.v[i], &u->rows.v[end]); end++)
			continue;
		decide(&u->rows.v[i], end - i);
	}
}

/* ---- scores ---- */

/* The AS of the rows [i, end) of one run; *modelled is 0 when a time was measured. NaN: no evaluation. */
static PmStatus score(const PmParts *u, size_t i, size_t end, double *as, int *modelled, PmErr *err)
{
	PmEvalReport r = { 0 };
	const Row *first = &u->rows.v[i];
	PmStatus st = PM_OK;

	*as = NAN;
	*modelled = 1;
	if (!strncmp(first->text[OPTIONS], "external=", 9))
		return PM_OK;
	r.rec = pm_xcalloc(end - i + 1, sizeof *r.rec);
	r.opts.preset = pm_run_key_preset(first->text[OPTIONS]);
	for (; i < end && !st; i++) {
		const Row *row = &u->rows.v[i];
		cJSON *j = NULL;

		if (!row->counts)
			continue;
		st = pm_json_parse(row->text[JSON], strlen(row->text[JSON]), &j, err);
		if (!st && !*row->text[GRAPH])
			st = pm_eval_hidden_from_json(j, &r.hidden, err);
		else if (!st)
			st = pm_eval_record_from_json(j, &r.rec[r.n++], err);
		if (!st && *row->text[GRAPH])
			*modelled &= !r.rec[r.n - 1].measured;
		cJSON_Delete(j);
		if (st)
			pm_err_ctx(
				err,
				"A result of pass '%.200s' on variant '%.100s' of task '%.100s' in '%.200s' "
				"cannot be read",
				row->text[PASS], row->text[LABEL], row->text[TASK], row->from);
	}
	if (!st && r.n)
		st = pm_eval_score(&r, err);
	if (!st && r.n)
		*as = r.score.as;
	pm_eval_report_release(&r);
	return st;
}

static size_t end_of_run(const PmParts *u, size_t i)
{
	size_t end = i;

	while (end < u->rows.n && !strcmp(u->rows.v[i].text[RUN], u->rows.v[end].text[RUN]))
		end++;
	return end;
}

static int equal(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Scores of the runs that both have, in order of their keys; those of measured times only where `times`. */
static PmStatus compare_scores(const PmParts *u, const PmParts *is, int times, PmVerified *out,
			       PmStr *difference, PmErr *err)
{
	size_t i = 0, k = 0, i_end, k_end;
	PmStatus st = PM_OK;

	for (; i < u->rows.n && k < is->rows.n && !st && !difference->len; i = i_end, k = k_end) {
		int c = strcmp(u->rows.v[i].text[RUN], is->rows.v[k].text[RUN]), a_modelled, b_modelled;
		double a, b;

		i_end = c <= 0 ? end_of_run(u, i) : i;
		k_end = c >= 0 ? end_of_run(is, k) : k;
		if (c)
			continue;
		st = score(u, i, i_end, &a, &a_modelled, err);
		if (!st)
			st = score(is, k, k_end, &b, &b_modelled, err);
		if (st || (!times && !(a_modelled && b_modelled)))
			continue;
		out->scores++;
		if (!equal(a, b))
			pm_str_addf(difference,
				    "The score of pass '%.200s' on task '%.100s' is %.17g in '%.300s' and "
				    "%.17g in "
				    "'%.300s'.",
				    u->rows.v[i].text[PASS], u->rows.v[i].text[TASK], b, is->rows.v[k].from,
				    a, u->rows.v[i].from);
	}
	return st;
}

/* ---- union and database ---- */

static void compare_names(const Names *u, const Names *is, const char *path, PmStr *difference)
{
	size_t i = 0;

	for (size_t k = 0; (k < u->n || i < is->n) && !difference->len; k++, i++) {
		int c = k >= u->n ? 1 : i >= is->n ? -1 : strcmp(u->v[k].key, is->v[i].key);

		if (c < 0)
			pm_str_addf(difference, "%.500s of '%.300s' is missing in '%.300s'.", u->v[k].shown,
				    u->v[k].from, path);
		else if (c > 0)
			pm_str_addf(difference, "%.500s is in '%.300s' and in none of its parts.",
				    is->v[i].shown, path);
	}
}

static void say_row(PmStr *out, const Row *r)
{
	pm_str_addf(out, "measurement %.12s (%.40s) of pass '%.200s' on variant '%.100s' of task '%.100s'",
		    r->text[KEY], r->text[VERDICT], r->text[PASS], r->text[LABEL], r->text[TASK]);
}

static int same_row(const Row *a, const Row *b)
{
	return !strcmp(a->text[VERDICT], b->text[VERDICT]) && !strcmp(a->text[JSON], b->text[JSON]) &&
	       equal(a->speedup, b->speedup);
}

static void compare_rows(const PmParts *u, const PmParts *is, const char *path, PmStr *difference)
{
	for (size_t i = 0; (i < u->rows.n || i < is->rows.n) && !difference->len; i++) {
		const Row *a = i < u->rows.n ? &u->rows.v[i] : NULL,
			  *b = i < is->rows.n ? &is->rows.v[i] : NULL;
		int c = !a ? 1 : !b ? -1 : by_place(a, b);

		if (c) {
			pm_str_add(difference, "The ");
			say_row(difference, c < 0 ? a : b);
			if (c < 0)
				pm_str_addf(difference, " in '%.300s' is missing in '%.300s'.", a->from,
					    path);
			else
				pm_str_addf(difference, " is in '%.300s' and in none of its parts.", path);
		} else if (!same_row(a, b)) {
			pm_str_add(difference, "The ");
			say_row(difference, a);
			pm_str_addf(difference, " says something else in '%.300s' than in '%.300s'.", path,
				    a->from);
		} else if (a->counts != b->counts) {
			pm_str_add(difference, "The ");
			say_row(difference, a);
			pm_str_addf(difference, " %s in '%.300s', and by the rule it %s.",
				    b->counts ? "counts" : "does not count", path,
				    b->counts ? "does not" : "does");
		}
	}
}

PmStatus pm_parts_check(PmParts *u, PmDb *db, PmVerified *out, PmStr *difference, PmErr *err)
{
	PmParts *is = pm_parts_new();
	PmStatus st = pm_parts_add(is, db, err);

	memset(out, 0, sizeof *out);
	sort_rows(u, 1);
	sort_rows(is, 0);
	sort_names(&u->tasks);
	sort_names(&u->runs);
	sort_names(&is->tasks);
	sort_names(&is->runs);
	if (!st)
		compare_names(&u->tasks, &is->tasks, pm_db_path(db), difference);
	if (!st && !difference->len)
		compare_names(&u->runs, &is->runs, pm_db_path(db), difference);
	if (!st && !difference->len)
		compare_rows(u, is, pm_db_path(db), difference);
	if (!st && !difference->len)
		st = compare_scores(u, is, 1, out, difference, err);
	out->tasks = u->tasks.n;
	out->runs = u->runs.n;
	out->measurements = u->rows.n;
	for (size_t i = 0; i < u->rows.n; i++)
		out->results += u->rows.v[i].counts && *u->rows.v[i].text[GRAPH];
	pm_parts_free(is);
	return st;
}

/* ---- evidence of two databases ---- */

static PmStatus evidence_of(PmDb *db, PmStr *out, PmErr *err)
{
	FILE *f = tmpfile();
	char buf[1 << 14];
	size_t n;
	PmStatus st = f ? pm_evidence_export(db, f, err)
			: pm_err(err, PM_E_IO, "No temporary file can be made; check the space in TMPDIR.");

	if (!st && (fflush(f) || fseek(f, 0, SEEK_SET)))
		st = pm_err(err, PM_E_IO, "The evidence of '%s' cannot be kept; check the space in TMPDIR.",
			    pm_db_path(db));
	while (!st && (n = fread(buf, 1, sizeof buf, f)) > 0)
		pm_str_addn(out, buf, n);
	if (f)
		fclose(f);
	return st;
}

static PmStatus take_text(void *arg, size_t n, const char *const *names, const char *const *values,
			  PmErr *err)
{
	(void)names;
	(void)err;
	for (size_t k = 0; k < n; k++)
		pm_str_add(arg, values[k] ? values[k] : "");
	return PM_OK;
}

/* Digests are the program's own, or else they are not looked up. */
static int is_digest(const char *s)
{
	return strlen(s) == 64 && strspn(s, "0123456789abcdef") == 64;
}

/* Says task, pass and variant of a line of evidence, by the names that `db` has for them. */
static PmStatus say_line(PmDb *db, const char *line, size_t n, PmStr *out, PmErr *err)
{
	cJSON *j = NULL;
	PmStr sql = PM_STR_INIT;
	PmStatus st = pm_json_parse(line, n, &j, err);
	const char *task = pm_json_str(j, "task", ""), *pass = pm_json_str(j, "pass", ""),
		   *graph = pm_json_str(j, "graph", "");

	pm_str_addf(out, "%s '%s' of pass '", *graph ? "result" : "verdict on hidden shapes",
		    pm_json_str(j, "verdict", ""));
	if (!st && is_digest(task) && is_digest(pass)) {
		pm_str_addf(&sql, "SELECT min(pass_path) FROM runs WHERE pass_sha256 = '%s'", pass);
		st = pm_db_query(db, sql.s, take_text, out, err);
		pm_str_clear(&sql);
		if (is_digest(graph))
			pm_str_addf(&sql,
				    "SELECT ''' on variant ''' || v.label || ''' of task ''' || t.name || "
				    "'''' FROM "
				    "tasks t JOIN variants v ON v.task = t.id JOIN subgraphs s ON s.id = "
				    "v.subgraph "
				    "WHERE t.hash = '%s' AND s.hash = '%s'",
				    task, graph);
		else
			pm_str_addf(&sql,
				    "SELECT ''' on task ''' || name || '''' FROM tasks WHERE hash = '%s'",
				    task);
		if (!st)
			st = pm_db_query(db, sql.s, take_text, out, err);
	}
	cJSON_Delete(j);
	pm_str_release(&sql);
	return st;
}

static size_t line_end(const char *s)
{
	const char *end = strchr(s, '\n');

	return end ? (size_t)(end - s) : strlen(s);
}

/* Whether one of the lines of `text` is this one. */
static int has_line(const char *text, const char *line, size_t n)
{
	for (; *text; text += line_end(text), text += *text != 0)
		if (line_end(text) == n && !memcmp(text, line, n))
			return 1;
	return 0;
}

/* The first line that only one of the two has. The last line counts the others. */
static PmStatus first_difference(PmDb *db, PmDb *one, const char *a, const char *b, PmVerified *out,
				 PmStr *difference, PmErr *err)
{
	size_t n = line_end(a), m = line_end(b);
	int in_db;
	PmStatus st;

	while (*a && n == m && !memcmp(a, b, n)) {
		out->results++;
		a += n + (a[n] != 0);
		b += m + (b[m] != 0);
		n = line_end(a);
		m = line_end(b);
	}
	if (!*a && !*b)
		return PM_OK;
	in_db = !has_line(b, a, n) && strncmp(a, "{\"row\":\"end\"", 12) != 0;
	pm_str_add(difference, "The ");
	st = say_line(in_db ? db : one, in_db ? a : b, in_db ? n : m, difference, err);
	pm_str_addf(difference, " is in '%.300s', and '%.300s' has not the same.",
		    pm_db_path(in_db ? db : one), pm_db_path(in_db ? one : db));
	return st;
}

PmStatus pm_evidence_same(PmDb *db, PmDb *one, PmVerified *out, PmStr *difference, PmErr *err)
{
	PmStr a = PM_STR_INIT, b = PM_STR_INIT;
	PmParts *x = pm_parts_new(), *y = pm_parts_new();
	PmStatus st = evidence_of(db, &a, err);

	memset(out, 0, sizeof *out);
	if (!st)
		st = evidence_of(one, &b, err);
	if (!st)
		st = first_difference(db, one, a.s, b.s, out, difference, err);
	if (!st && !difference->len)
		st = pm_parts_add(x, one, err);
	if (!st && !difference->len)
		st = pm_parts_add(y, db, err);
	if (!st && !difference->len) {
		sort_rows(x, 0);
		sort_rows(y, 0);
		st = compare_scores(x, y, 0, out, difference, err);
	}
	pm_parts_free(x);
	pm_parts_free(y);
	pm_str_release(&a);
	pm_str_release(&b);
	return st;
}
