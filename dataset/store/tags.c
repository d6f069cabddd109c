/* SPDX-License-Identifier: Apache-2.0 */
/* tags.c - rows of task_tags. */
#include "dataset/store/tags.h"

#include "dataset/store/db_priv.h"

#include <string.h>

static int is_key(const char *key)
{
	return *key && !key[strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789-_")];
}

PmStatus pm_task_tag_set(PmDb *db, int64_t task, const char *key, const char *value, PmErr *err)
{
	int64_t n = 0;
	PmStatus st;

	if (!is_key(key))
		return pm_err(
			err, PM_E_INVALID,
			"The tag '%.60s' has no proper key; write it with lower-case letters, digits, '-' "
			"and '_'.",
			key);
	st = pm__db_i64(db, "look a task up", &n, err, "SELECT count(*) FROM tasks WHERE id = ?", "i", task);
	if (!st && !n)
		st = pm_err(err, PM_E_INVALID,
			    "Database '%s' has no task %lld to tag; `passmith task list` shows its tasks.",
			    db->path, (long long)task);
	if (st)
		return st;
	if (!value || !*value)
		return pm__db_run(db, "take a tag away", NULL, err,
				  "DELETE FROM task_tags WHERE task = ? AND key = ?", "is", task, key);
	return pm__db_run(db, "store a tag", NULL, err,
			  "INSERT INTO task_tags (task, key, value) VALUES (?, ?, ?) "
			  "ON CONFLICT (task, key) DO UPDATE SET value = excluded.value",
			  "iss", task, key, value);
}

typedef struct Walk {
	PmTaskTagFn fn;
	void *arg;
} Walk;

static PmStatus one_tag(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;

	return w->fn(w->arg, sqlite3_column_int64(row, 0), pm__col_text(row, 1), pm__col_text(row, 2), err);
}

PmStatus pm_task_tags_each(PmDb *db, int64_t task, PmTaskTagFn fn, void *arg, PmErr *err)
{
	Walk w = { fn, arg };

	return pm__db_each(
		db, "list tags", one_tag, &w, NULL, err,
		"SELECT task, key, value FROM task_tags WHERE ?1 = 0 OR task = ?1 ORDER BY task, key", "i",
		task);
}
