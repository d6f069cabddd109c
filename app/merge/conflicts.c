/* SPDX-License-Identifier: Apache-2.0 */
/* conflicts.c - evidence that contradicts itself. */
#include "app/merge/conflicts.h"

#include "app/merge/evidence.h"
#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "dataset/store/measurements.h"

#include <stdlib.h>
#include <string.h>

/* One answer, in the text that is shown and as what is compared. */
typedef struct Answer {
	cJSON *shown;              /* owned */
	char *json, *verdict;      /* owned */
	char *part[PM_N_EVIDENCE]; /* owned; NULL until another answer comes */
} Answer;

/* The answers to one question, which come one after the other. */
typedef struct Question {
	PmDb *db;
	cJSON *list;
	int64_t run, task, ordinal; /* ordinal -1: hidden shapes */
	PM_VEC(Answer) v;
} Question;

static void release(Question *q)
{
	for (size_t i = 0; i < q->v.n; i++) {
		cJSON_Delete(q->v.v[i].shown);
		free(q->v.v[i].verdict);
		free(q->v.v[i].json);
		for (int p = 0; p < PM_N_EVIDENCE; p++)
			free(q->v.v[i].part[p]);
	}
	q->v.n = 0;
}

/* ---- what contradicts ---- */

static int both_decided(const Answer *a, const Answer *b)
{
	return pm_verdict_is_decided(a->verdict) && pm_verdict_is_decided(b->verdict);
}

static int both_right(const Answer *a, const Answer *b)
{
	return !strcmp(a->verdict, "OK") && !strcmp(b->verdict, "OK");
}

static int differ(const Answer *a, const Answer *b, PmEvidencePart p)
{
	return strcmp(a->part[p], b->part[p]) != 0;
}

static int is_empty(const Answer *a, PmEvidencePart p)
{
	return !strcmp(a->part[p], "{}");
}

/* Sets has[0] for verdicts, has[1 + part] for the parts of evidence. */
static void compare(const Answer *a, const Answer *b, int has[PM_N_EVIDENCE + 1])
{
	has[0] |= both_decided(a, b) && strcmp(a->verdict, b->verdict) != 0;
	if (is_empty(a, PM_EVIDENCE_INPUTS) ||
	    is_empty(b, PM_EVIDENCE_INPUTS)) /* no records of evaluations */
		return;
	has[1 + PM_EVIDENCE_DIGESTS] |= both_right(a, b) && differ(a, b, PM_EVIDENCE_DIGESTS);
	has[1 + PM_EVIDENCE_LEVELS] |= both_decided(a, b) && !strcmp(a->verdict, b->verdict) &&
				       !differ(a, b, PM_EVIDENCE_INPUTS) && differ(a, b, PM_EVIDENCE_LEVELS);
}

/* ---- what is shown ---- */

static PmStatus take_names(void *arg, size_t n, const char *const *names, const char *const *values,
			   PmErr *err)
{
	(void)err;
	for (size_t k = 0; k < n; k++)
		if (values[k])
			cJSON_AddStringToObject(arg, names[k], values[k]);
		else
			cJSON_AddNullToObject(arg, names[k]);
	return PM_OK;
}

static PmStatus add_names(const Question *q, cJSON *j, PmErr *err)
{
	PmStr sql = PM_STR_INIT;
	PmStatus st;

	pm_str_addf(
		&sql,
		"SELECT t.name AS task, t.hash AS task_hash, r.pass_path AS pass, r.pass_sha256, r.device, "
		"r.machine, (SELECT v.label FROM variants v WHERE v.task = t.id AND v.ordinal = %lld) AS "
		"variant FROM runs r LEFT JOIN tasks t ON t.id = %lld WHERE r.id = %lld",
		(long long)q->ordinal, (long long)q->task, (long long)q->run);
	st = pm_db_query(q->db, sql.s, take_names, j, err);
	pm_str_release(&sql);
	return st;
}

static PmStatus report(const Question *q, const int has[PM_N_EVIDENCE + 1], PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *what, *found;
	PmStatus st = add_names(q, j, err);

	pm_json_add_i64(j, "ordinal", q->ordinal);
	what = cJSON_AddArrayToObject(j, "what");
	if (has[0])
		cJSON_AddItemToArray(what, cJSON_CreateString("verdicts"));
	for (int p = 0; p < PM_N_EVIDENCE; p++)
		if (has[1 + p])
			cJSON_AddItemToArray(what, cJSON_CreateString(pm_evidence_name((PmEvidencePart)p)));
	found = cJSON_AddArrayToObject(j, "measurements");
	for (size_t i = 0; i < q->v.n; i++) {
		cJSON *one = cJSON_Duplicate(q->v.v[i].shown, 1),
		      *o = cJSON_AddObjectToObject(one, "evidence");

		for (int p = 0; p < PM_N_EVIDENCE; p++)
			if (has[1 + p])
				cJSON_AddRawToObject(o, pm_evidence_name((PmEvidencePart)p),
						     q->v.v[i].part[p]);
		cJSON_AddItemToArray(found, one);
	}
	cJSON_AddItemToArray(q->list, j);
	return st;
}

static PmStatus add_parts(const Question *q, Answer *a, PmErr *err)
{
	cJSON *record = NULL;
	PmStatus st = pm_json_parse(a->json, strlen(a->json), &record, err);

	if (st)
		return pm_err_ctx(err, "A result of run %lld in '%s' cannot be read", (long long)q->run,
				  pm_db_path(q->db));
	for (int p = 0; p < PM_N_EVIDENCE; p++) {
		cJSON *part = pm_evidence_part(record, (PmEvidencePart)p);
		PmStr text = PM_STR_INIT;

		pm_json_print(part, 0, &text);
		text.s[--text.len] = 0; /* the end of the line */
		a->part[p] = pm_str_detach(&text, NULL);
		cJSON_Delete(part);
	}
	cJSON_Delete(record);
	return PM_OK;
}

/* All answers to a question are there. */
static PmStatus judge(Question *q, PmErr *err)
{
	int has[PM_N_EVIDENCE + 1] = { 0 }, any = 0;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < q->v.n && q->v.n > 1 && !st; i++)
		st = add_parts(q, &q->v.v[i], err);
	for (size_t i = 0; i < q->v.n && !st; i++)
		for (size_t k = 0; k < i; k++)
			compare(&q->v.v[k], &q->v.v[i], has);
	for (int p = 0; p <= PM_N_EVIDENCE; p++)
		any |= has[p];
	if (any && !st)
		st = report(q, has, err);
	release(q);
	return st;
}

/* ---- reading ---- */

static cJSON *origin_json(const PmOrigin *o)
{
	const struct {
		const char *name, *text;
	} texts[] = { { "node", o->node },     { "job", o->job },       { "gpu", o->gpu },
		      { "gpu_id", o->gpu_id }, { "driver", o->driver }, { "clocks", o->clocks } };
	cJSON *j = cJSON_CreateObject();

	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
		cJSON_AddStringToObject(j, texts[k].name, texts[k].text ? texts[k].text : "");
	if (o->element >= 0)
		pm_json_add_i64(j, "element", o->element);
	pm_json_add_i64(j, "restarts", o->restarts);
	return j;
}

static cJSON *show(const char *verdict, const char *key, int64_t at, const PmOrigin *origin)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "verdict", verdict);
	cJSON_AddStringToObject(j, "key", key);
	pm_json_add_i64(j, "at", at);
	cJSON_AddItemToObject(j, "origin", origin_json(origin));
	return j;
}

static PmStatus next_question(Question *q, int64_t run, int64_t task, int64_t ordinal, PmErr *err)
{
	PmStatus st = PM_OK;

	if (run != q->run || task != q->task || ordinal != q->ordinal)
		st = judge(q, err);
	q->run = run;
	q->task = task;
	q->ordinal = ordinal;
	return st;
}

static PmStatus take_measurement(void *arg, const PmMeasurement *m, PmErr *err)
{
	Question *q = arg;
	const PmResultRow *r = &m->result;
	PmStatus st = next_question(q, r->run, r->task, r->ordinal, err);
	Answer a = { show(r->verdict, m->key, m->at, &m->origin),
		     pm_xstrdup(r->json),
		     pm_xstrdup(r->verdict),
		     { NULL } };

	cJSON_AddStringToObject(a.shown, "stage", r->stage);
	cJSON_AddNumberToObject(a.shown, "speedup", r->speedup);
	cJSON_AddBoolToObject(a.shown, "counts", m->counts);
	PM_VEC_PUSH(&q->v, a);
	return st;
}

static PmStatus take_hidden(void *arg, const PmHiddenMeasurement *h, PmErr *err)
{
	Question *q = arg;
	PmStatus st = next_question(q, h->run, h->task, -1, err);
	Answer a = { show(h->verdict, h->key, h->at, &h->origin),
		     pm_xstrdup("{}"),
		     pm_xstrdup(h->verdict),
		     { NULL } };

	PM_VEC_PUSH(&q->v, a);
	return st;
}

PmStatus pm_conflicts_find(PmDb *db, cJSON *list, PmErr *err)
{
	Question q = { .db = db, .list = list };
	PmStatus st = pm_db_begin_reading(db, err);

	if (st)
		return st;
	st = pm_measurements_each(db, 0, take_measurement, &q, err);
	if (!st)
		st = judge(&q, err);
	if (!st)
		st = pm_hidden_each(db, take_hidden, &q, err);
	if (!st)
		st = judge(&q, err);
	pm_db_end_reading(db);
	release(&q);
	PM_VEC_RELEASE(&q.v);
	return st;
}
