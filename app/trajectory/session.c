/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - loading a trajectory, cutting it, and its turns. */
#include "app/trajectory/session.h"

#include "app/trajectory/files.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ---- loading ---- */

typedef struct Load {
	PmSession *s;
	const PmRedact *redact; /* NULL = as it is */
} Load;

/* A copy of *field, owned by *keep. */
static void own(const PmRedact *redact, const char **field, char **keep)
{
	PmStr out = PM_STR_INIT;

	if (redact)
		pm_redact_text(redact, *field, &out);
	else
		pm_str_add(&out, *field);
	free(*keep);
	*keep = pm_xstrdup(out.s);
	*field = *keep;
	pm_str_release(&out);
}

static PmStatus take_row(void *arg, const PmTrajectoryRow *row, PmErr *err)
{
	const Load *l = arg;
	PmTrajectoryRow *r = &l->s->row;
	const char **const fields[] = { &r->kind,    &r->task,       &r->model,    &r->version,
					&r->machine, &r->experiment, &r->instance, &r->options,
					&r->outcome, &r->key,        &r->task_name };

	(void)err;
	*r = *row;
	for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
		own(l->redact, fields[k], &l->s->text[k]);
	return PM_OK;
}

static PmStatus parse(const Load *l, const char *text, cJSON_bool (*is)(const cJSON *), int64_t ordinal,
		      cJSON **out, PmErr *err)
{
	cJSON *j = NULL;

	if (pm_json_parse(text, strlen(text), &j, NULL) || !is(j)) {
		cJSON_Delete(j);
		return pm_err(
			err, PM_E_INVALID,
			"Step %lld of trajectory %lld holds no JSON of its form; the database was changed by "
			"hand, restore it from a copy.",
			(long long)ordinal, (long long)l->s->row.id);
	}
	*out = l->redact ? pm_redact_json(l->redact, j) : j;
	if (l->redact)
		cJSON_Delete(j);
	return PM_OK;
}

static PmStatus take_step(void *arg, const PmStepRow *row, PmErr *err)
{
	const Load *l = arg;
	PmSessionStep *s;
	PmStatus st;

	PM_VEC_PUSH(&l->s->steps, ((PmSessionStep){ .row = *row }));
	s = &l->s->steps.v[l->s->steps.n - 1];
	s->row.json = s->row.files = NULL;
	own(NULL, &s->row.role, &s->text[0]);
	own(l->redact, &s->row.name, &s->text[1]);
	own(l->redact, &s->row.task, &s->text[2]);
	own(l->redact, &s->row.report, &s->text[3]);
	own(l->redact, &s->row.verdict, &s->text[4]);
	own(NULL, &s->row.hash, &s->text[5]);
	st = parse(l, row->json, cJSON_IsObject, row->ordinal, &s->json, err);
	return st ? st : parse(l, row->files, cJSON_IsArray, row->ordinal, &s->files, err);
}

PmStatus pm_session_load(PmDb *db, int64_t id, const PmRedact *redact, PmSession *out, PmErr *err)
{
	Load l = { out, redact };
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = pm_trajectory_get(db, id, take_row, &l, err);
	return st ? st : pm_steps_each(db, id, take_step, &l, err);
}

static void free_step(PmSessionStep *s)
{
	for (size_t k = 0; k < sizeof s->text / sizeof *s->text; k++)
		free(s->text[k]);
	cJSON_Delete(s->json);
	cJSON_Delete(s->files);
}

void pm_session_release(PmSession *s)
{
	for (size_t i = 0; i < s->steps.n; i++)
		free_step(&s->steps.v[i]);
	for (size_t k = 0; k < sizeof s->text / sizeof *s->text; k++)
		free(s->text[k]);
	PM_VEC_RELEASE(&s->steps);
	memset(s, 0, sizeof *s);
}

/* ---- the steps ---- */

int pm_session_cut(PmSession *s)
{
	if (s->row.first_ok < 0)
		return 0;
	while (s->steps.n && s->steps.v[s->steps.n - 1].row.ordinal > s->row.first_ok)
		free_step(&s->steps.v[--s->steps.n]);
	return 1;
}

/* The digests stand in the changes: the texts need not be made, and may be without their secrets. */
void pm_session_digest(const PmSession *s, char hex[PM_SHA256_HEX])
{
	PmFiles files = { 0 };

	hex[0] = '\0';
	for (size_t i = 0; i < s->steps.n; i++) {
		const cJSON *c;

		cJSON_ArrayForEach(c, s->steps.v[i].files)
			pm_files_note(&files, pm_json_str(c, "path", ""), pm_json_str(c, "sha256", NULL));
	}
	if (files.list.n)
		pm_files_digest(&files, hex);
	pm_files_release(&files);
}

const cJSON *pm_turn_call(const PmTurn *t, const PmSessionStep *answer)
{
	const cJSON *c,
		*calls = t->message ? cJSON_GetObjectItemCaseSensitive(t->message->json, "tool_calls") : NULL;
	const char *id = pm_json_str(answer->json, "id", "");

	cJSON_ArrayForEach(c, calls) if (strcmp(pm_json_str(c, "id", ""), id) == 0) return c;
	return NULL;
}

static int is_call(const PmSession *s, size_t i)
{
	return i < s->steps.n && strcmp(s->steps.v[i].row.role, "tool") == 0;
}

PmTurn pm_session_turn(const PmSession *s, size_t i, size_t *next)
{
	PmTurn t = { is_call(s, i) ? NULL : &s->steps.v[i], i, 0 };

	if (!t.message) { /* a session of the server: one call at a time */
		t.n = 1;
		*next = i + 1;
		return t;
	}
	t.first = i + 1;
	while (is_call(s, t.first + t.n) && pm_turn_call(&t, &s->steps.v[t.first + t.n]))
		t.n++;
	*next = t.first + t.n;
	return t;
}

void pm_session_time(double at, PmStr *out)
{
	long long ms = (long long)floor(at * 1e3 + 0.5);
	time_t whole = (time_t)(ms / 1000);
	struct tm tm;
	char text[40] = "";

	if (gmtime_r(&whole, &tm))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	pm_str_addf(out, "%s.%03lldZ", text, ms % 1000);
}
