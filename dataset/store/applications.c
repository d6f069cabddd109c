/* SPDX-License-Identifier: Apache-2.0 */
/* applications.c - rows of applications. */
#include "dataset/store/applications.h"

#include "base/core/str.h"
#include "dataset/store/db_priv.h"

#include <string.h>

static void key_of(const PmApplicationRow *r, char hex[PM_SHA256_HEX])
{
	const char *const parts[] = { r->model_sha256, r->name,        r->version,
				      r->record,       r->before_text, r->after_text };
	PmStr s = PM_STR_INIT;

	pm_str_add(&s, "application ");
	for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
		pm_str_add_quoted(&s, parts[k], strlen(parts[k]));
	pm_sha256_hex(s.s, s.len, hex);
	pm_str_release(&s);
}

static PmStatus put_row(PmDb *db, const PmApplicationRow *r, const char *key, int64_t *changes, PmErr *err)
{
	return pm__db_run(
		db, "store a rewritten model", changes, err,
		"INSERT INTO applications (key, model_sha256, name, path, version, record, "
		"before_text, after_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
		"ssssssss", key, r->model_sha256, r->name, r->path, r->version, r->record, r->before_text,
		r->after_text);
}

static int is_short(const PmApplicationRow *r)
{
	return strlen(r->before_text) <= PM_APPLICATION_TEXT && strlen(r->after_text) <= PM_APPLICATION_TEXT;
}

PmStatus pm_application_put(PmDb *db, const PmApplicationRow *row, int *is_new, PmErr *err)
{
	char key[PM_SHA256_HEX];
	int64_t changes = 0;
	PmStatus st;

	if (!is_short(row))
		return pm_err(err, PM_E_LIMIT,
			      "The text of a graph of %.200s is longer than the %d bytes that are stored.",
			      row->name, PM_APPLICATION_TEXT);
	key_of(row, key);
	st = put_row(db, row, key, &changes, err);
	if (is_new)
		*is_new = changes > 0;
	return st;
}

/* A record is a JSON object. */
static int is_record(const char *text)
{
	cJSON *j = NULL;
	int ok = pm_json_parse(text, strlen(text), &j, NULL) == PM_OK && cJSON_IsObject(j);

	cJSON_Delete(j);
	return ok;
}

PmStatus pm__application_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err)
{
	PmApplicationRow r = { .model_sha256 = pm_json_str(j, "model", ""),
			       .name = pm_json_str(j, "name", ""),
			       .path = pm_json_str(j, "path", ""),
			       .version = pm_json_str(j, "version", ""),
			       .record = pm_json_str(j, "record", ""),
			       .before_text = pm_json_str(j, "before_text", ""),
			       .after_text = pm_json_str(j, "after_text", "") };
	char key[PM_SHA256_HEX];

	key_of(&r, key);
	if (strcmp(key, pm_json_str(j, "key", "")) != 0)
		*wrong = "the key of the rewritten model is not that of what it says";
	else if (strlen(r.model_sha256) != PM_SHA256_HEX - 1)
		*wrong = "the rewritten model has no SHA-256";
	else if (!is_record(r.record))
		*wrong = "the record of the rewritten model is no JSON object";
	else if (!is_short(&r))
		*wrong = "the text of a graph of the rewritten model is too long";
	return *wrong ? PM_OK : put_row(db, &r, key, NULL, err);
}

typedef struct Walk {
	PmApplicationFn fn;
	void *arg;
} Walk;

static PmStatus one(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmApplicationRow r = { .id = sqlite3_column_int64(row, 0),
			       .model_sha256 = pm__col_text(row, 1),
			       .name = pm__col_text(row, 2),
			       .path = pm__col_text(row, 3),
			       .version = pm__col_text(row, 4),
			       .record = pm__col_text(row, 5),
			       .before_text = pm__col_text(row, 6),
			       .after_text = pm__col_text(row, 7) };

	return w->fn(w->arg, &r, err);
}

PmStatus pm_applications_each(PmDb *db, PmApplicationFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, arg };

	return pm__db_each(db, "read its rewritten models", one, &w, NULL, err,
			   "SELECT id, model_sha256, name, path, version, record, before_text, after_text "
			   "FROM applications ORDER BY name, key",
			   "");
}
