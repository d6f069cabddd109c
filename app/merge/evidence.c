/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - what evaluations found, as text that depends on nothing else. */
#include "app/merge/evidence.h"

#include "base/core/str.h"
#include "base/core/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Members of a record that are evidence (bench/report/report_record.c writes it), in the order of the text.
 */
static const struct {
	PmEvidencePart part;
	const char *key;
} members[] = {
	{ PM_EVIDENCE_DIGESTS, "code" },
	{ PM_EVIDENCE_INPUTS, "inputs" },
	{ PM_EVIDENCE_LEVELS, "smallest_t" },
	{ PM_EVIDENCE_LEVELS, "outputs" },
	{ PM_EVIDENCE_LEVELS, "worst" },
	{ PM_EVIDENCE_LEVELS, "bound" },
	{ PM_EVIDENCE_LEVELS, "sampled" },
	{ PM_EVIDENCE_LEVELS, "n_branches_not_taken" },
	{ PM_EVIDENCE_COUNTS, "plan" },
	{ PM_EVIDENCE_COUNTS, "applied" },
	{ PM_EVIDENCE_COUNTS, "kernels" },
	{ PM_EVIDENCE_COUNTS, "coverage" },
	{ PM_EVIDENCE_COUNTS, "alternative" },
	{ PM_EVIDENCE_COUNTS, "baseline_launches" },
	{ PM_EVIDENCE_COUNTS, "candidate_launches" },
	{ PM_EVIDENCE_COUNTS, "baseline_bytes" },
	{ PM_EVIDENCE_COUNTS, "candidate_bytes" },
};

const char *pm_evidence_name(PmEvidencePart part)
{
	static const char *const names[PM_N_EVIDENCE] = { "digests", "inputs", "levels", "counts" };

	return names[part];
}

cJSON *pm_evidence_part(const cJSON *record, PmEvidencePart part)
{
	cJSON *o = cJSON_CreateObject();

	for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
		const cJSON *x = cJSON_GetObjectItemCaseSensitive(record, members[k].key);

		if (members[k].part == part && x)
			cJSON_AddItemToObject(o, members[k].key, cJSON_Duplicate(x, 1));
	}
	return o;
}

/* ---- export ---- */

/* Lines of one key, which come one after the other: they are sorted, and what is there twice is left out. */
typedef struct Lines {
	FILE *f;
	PmStr key;
	PM_VEC(char *) v; /* owned */
	int64_t n;        /* written of this kind of rows */
	const char *row;
	const char *path; /* of the database */
} Lines;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static PmStatus cannot_write(const Lines *l, PmErr *err)
{
	return pm_err(err, PM_E_IO, "The evidence of database '%s' cannot be written: %s.", l->path,
		      strerror(errno));
}

static PmStatus flush(Lines *l, PmErr *err)
{
	PmStatus st = PM_OK;

	if (l->v.n)
		qsort(l->v.v, l->v.n, sizeof *l->v.v, by_text);
	for (size_t i = 0; i < l->v.n; i++) {
		if (!st && (!i || strcmp(l->v.v[i], l->v.v[i - 1]) != 0)) {
			l->n++;
			if (fputs(l->v.v[i], l->f) < 0)
				st = cannot_write(l, err);
		}
	}
	for (size_t i = 0; i < l->v.n; i++)
		free(l->v.v[i]);
	l->v.n = 0;
	return st;
}

static PmStatus add(Lines *l, const cJSON *j, const PmStr *key, PmErr *err)
{
	PmStr line = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (strcmp(l->key.s ? l->key.s : "", key->s) != 0) {
		st = flush(l, err);
		pm_str_clear(&l->key);
		pm_str_add(&l->key, key->s);
	}
	pm_json_print(j, 0, &line);
	PM_VEC_PUSH(&l->v, pm_str_detach(&line, NULL));
	return st;
}

/* The first columns name what was evaluated. */
static const char *const names[] = { "task", "pass", "device", "seed", "version", "options", "graph" };
enum { N_RUN = 6, N_NAMES = 7, VERDICT = 7, STAGE, RECORD };

static const char *value(const char *const *values, size_t k)
{
	return values[k] ? values[k] : "";
}

static cJSON *begin(const Lines *l, const char *const *values, size_t n, PmStr *key)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "row", l->row);
	for (size_t k = 0; k < n; k++) {
		cJSON_AddStringToObject(j, names[k], value(values, k));
		pm_str_add_quoted(key, value(values, k), strlen(value(values, k)));
	}
	return j;
}

static PmStatus take_result(void *arg, size_t n, const char *const *columns, const char *const *values,
			    PmErr *err)
{
	Lines *l = arg;
	PmStr key = PM_STR_INIT;
	cJSON *record = NULL, *j;
	const char *text = value(values, RECORD);
	PmStatus st = pm_json_parse(text, strlen(text), &record, err);

	(void)n;
	(void)columns;
	if (st)
		return pm_err_ctx(
			err, "A result of pass %.12s on graph %.12s of task %.12s in '%s' cannot be read",
			value(values, 1), value(values, 6), value(values, 0), l->path);
	j = begin(l, values, N_NAMES, &key);
	cJSON_AddStringToObject(j, "verdict", value(values, VERDICT));
	cJSON_AddStringToObject(j, "stage", value(values, STAGE));
	for (int p = 0; p < PM_N_EVIDENCE; p++)
		cJSON_AddItemToObject(j, pm_evidence_name((PmEvidencePart)p),
				      pm_evidence_part(record, (PmEvidencePart)p));
	st = add(l, j, &key, err);
	cJSON_Delete(j);
	cJSON_Delete(record);
	pm_str_release(&key);
	return st;
}

static PmStatus take_hidden(void *arg, size_t n, const char *const *columns, const char *const *values,
			    PmErr *err)
{
	Lines *l = arg;
	PmStr key = PM_STR_INIT;
	cJSON *j = begin(l, values, N_RUN, &key);
	PmStatus st;

	(void)n;
	(void)columns;
	cJSON_AddStringToObject(j, "verdict", value(values, N_RUN));
	st = add(l, j, &key, err);
	cJSON_Delete(j);
	pm_str_release(&key);
	return st;
}

#define RUN_COLUMNS "t.hash, r.pass_sha256, r.device, r.seed, r.version, r.options"

/* All rows of one kind; *n becomes how many lines they are. */
static PmStatus put_rows(PmDb *db, FILE *f, const char *row, const char *sql, PmQueryFn take, int64_t *n,
			 PmErr *err)
{
	Lines l = { .f = f, .row = row, .path = pm_db_path(db) };
	PmStatus st;

	pm_str_init(&l.key);
	st = pm_db_query(db, sql, take, &l, err);
	if (!st)
		st = flush(&l, err);
	for (size_t i = 0; i < l.v.n; i++)
		free(l.v.v[i]);
	PM_VEC_RELEASE(&l.v);
	pm_str_release(&l.key);
	*n = l.n;
	return st;
}

PmStatus pm_evidence_export(PmDb *db, FILE *f, PmErr *err)
{
	int64_t results = 0, hidden = 0;
	PmStatus st = pm_db_begin_reading(db, err);

	if (st)
		return st;
	st = put_rows(db, f, "result",
		      "SELECT " RUN_COLUMNS ", s.hash, m.verdict, m.stage, m.json FROM measurements m "
		      "JOIN runs r ON r.id = m.run JOIN tasks t ON t.id = m.task "
		      "JOIN variants v ON v.task = m.task AND v.ordinal = m.ordinal "
		      "JOIN subgraphs s ON s.id = v.subgraph WHERE r.options NOT LIKE 'external=%' "
		      "ORDER BY 1, 2, 3, 4, 5, 6, 7",
		      take_result, &results, err);
	if (!st)
		st = put_rows(db, f, "hidden",
			      "SELECT " RUN_COLUMNS ", h.verdict FROM hidden_measurements h "
			      "JOIN runs r ON r.id = h.run LEFT JOIN tasks t ON t.id = r.task "
			      "ORDER BY 1, 2, 3, 4, 5, 6",
			      take_hidden, &hidden, err);
	pm_db_end_reading(db);
	if (!st && fprintf(f, "{\"row\":\"end\",\"results\":%lld,\"hidden\":%lld}\n", (long long)results,
			   (long long)hidden) < 0)
		st = pm_err(err, PM_E_IO, "The evidence of database '%s' cannot be written: %s.",
			    pm_db_path(db), strerror(errno));
	return st;
}
