/* SPDX-License-Identifier: Apache-2.0 */
/* trajectories.c - rows of trajectories and of their steps. */
#include "dataset/store/trajectories.h"

#include "base/core/hash.h"
#include "base/core/rng.h"
#include "base/core/str.h"
#include "base/sys/proc.h"
#include "dataset/store/db_priv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

static void add(PmStr *s, const char *part)
{
	pm_str_add_quoted(s, text(part), strlen(text(part)));
}

static void key_of(const PmTrajectoryRow *r, char hex[PM_SHA256_HEX])
{
	const char *const parts[] = { r->kind,    r->task,       r->model,   r->version,
				      r->machine, r->experiment, r->instance };
	PmStr s = PM_STR_INIT;

	pm_str_addf(&s, "trajectory %llu ", (unsigned long long)r->seed);
	for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
		add(&s, parts[k]);
	pm_sha256_hex(s.s, s.len, hex);
	pm_str_release(&s);
}

/* Every column but the row's number takes part: a step that was changed has another hash. */
static void hash_of(const PmStepRow *r, const char *before, char hex[PM_SHA256_HEX])
{
	const char *const parts[] = { r->role, r->name, r->task, r->report, r->verdict, r->json, r->files };
	PmStr s = PM_STR_INIT;

	pm_str_addf(&s, "step %s %.17g %.17g %.17g %lld %lld %.17g ", before, isnan(r->score) ? -1 : r->score,
		    r->at, isnan(r->seconds) ? -1 : r->seconds, (long long)r->tokens_in,
		    (long long)r->tokens_out, isnan(r->money) ? -1 : r->money);
	for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
		add(&s, parts[k]);
	pm_sha256_hex(s.s, s.len, hex);
	pm_str_release(&s);
}

/* ---- storing ---- */

static PmStatus find_key(PmDb *db, const char *key, int64_t *id, PmErr *err)
{
	return pm__db_i64(db, "look a trajectory up", id, err, "SELECT id FROM trajectories WHERE key = ?",
			  "s", key);
}

/* `ended` 0 is NULL. */
static PmStatus put_row(PmDb *db, const PmTrajectoryRow *r, const char *key, int64_t *changes, PmErr *err)
{
	char seed[32];

	snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
	return pm__db_run(db, "store a trajectory", changes, err,
			  "INSERT INTO trajectories (key, kind, task, model, seed, version, machine, "
			  "experiment, instance, options, started, ended, outcome) "
			  "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?) "
			  "ON CONFLICT (key) DO UPDATE SET ended = excluded.ended, "
			  "outcome = excluded.outcome WHERE trajectories.ended IS NULL AND excluded.ended "
			  "IS NOT NULL",
			  "ssssssssssffs", key, text(r->kind), text(r->task), text(r->model), seed,
			  text(r->version), text(r->machine), text(r->experiment), text(r->instance),
			  *text(r->options) ? r->options : "{}", r->started, r->ended, text(r->outcome));
}

PmStatus pm_trajectory_begin(PmDb *db, const PmTrajectoryRow *row, int64_t *id, int *is_new, PmErr *err)
{
	PmTrajectoryRow r = *row;
	char key[PM_SHA256_HEX], drawn[64];
	int64_t changes = 0;
	PmStatus st;

	r.started = r.started > 0 ? floor(r.started * 1e3) * 1e-3 : pm_wall_clock();
	r.ended = 0;
	r.outcome = "";
	if (!*text(r.instance)) {
		snprintf(drawn, sizeof drawn, "%.0f-%016llx", r.started,
			 (unsigned long long)pm_rng_secure_seed());
		r.instance = drawn;
	}
	key_of(&r, key);
	st = pm__db_enter(db, err);
	if (st)
		return st;
	st = put_row(db, &r, key, &changes, err);
	if (!st)
		st = find_key(db, key, id, err);
	if (is_new)
		*is_new = changes > 0;
	return pm__db_leave(db, st, err);
}

static PmStatus no_such(const PmDb *db, int64_t id, PmErr *err)
{
	return pm_err(err, PM_E_NOT_FOUND,
		      "Database '%s' has no trajectory %lld; list its trajectories to see their numbers.",
		      db->path, (long long)id);
}

PmStatus pm_trajectory_end(PmDb *db, int64_t id, const char *outcome, PmErr *err)
{
	int64_t one = 0;
	PmStatus st = pm__db_run(
		db, "end a trajectory", NULL, err,
		"UPDATE trajectories SET ended = ?, outcome = ? WHERE id = ? AND ended IS NULL", "fsi",
		pm_wall_clock(), text(outcome), id);

	if (!st)
		st = pm__db_i64(db, "look a trajectory up", &one, err,
				"SELECT 1 FROM trajectories WHERE id = ?", "i", id);
	return st == PM_E_NOT_FOUND ? no_such(db, id, err) : st;
}

typedef struct Tail {
	char hash[PM_SHA256_HEX]; /* of the last step; of a trajectory without steps its key */
	int64_t next;             /* number of the next step */
	int ended;
} Tail;

static PmStatus read_tail(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Tail *t = arg;

	(void)err;
	snprintf(t->hash, sizeof t->hash, "%s", pm__col_text(row, 0));
	t->next = sqlite3_column_int64(row, 1);
	t->ended = sqlite3_column_int(row, 2);
	return PM_OK;
}

static PmStatus find_tail(PmDb *db, int64_t id, Tail *t, PmErr *err)
{
	size_t n = 0;
	PmStatus st = pm__db_each(
		db, "look a trajectory up", read_tail, t, &n, err,
		"SELECT coalesce(s.hash, t.key), coalesce(s.ordinal + 1, 0), t.ended IS NOT NULL "
		"FROM trajectories t LEFT JOIN steps s ON s.trajectory = t.id "
		"WHERE t.id = ? ORDER BY s.ordinal DESC LIMIT 1",
		"i", id);

	return !st && !n ? no_such(db, id, err) : st;
}

static PmStatus put_step(PmDb *db, const PmStepRow *r, const char *hash, PmErr *err)
{
	return pm__db_run(
		db, "store a step of a trajectory", NULL, err,
		"INSERT INTO steps (trajectory, ordinal, hash, role, name, task, report, verdict, "
		"score, at, seconds, tokens_in, tokens_out, money, json, files) VALUES (?, ?, ?, ?, "
		"?, ?, ?, ?, ?, ?, ?, nullif(?, -1), nullif(?, -1), ?, ?, ?)",
		"iissssssfffiifss", r->trajectory, r->ordinal, hash, r->role, r->name, r->task, r->report,
		r->verdict, r->score, r->at, r->seconds, r->tokens_in, r->tokens_out, r->money, r->json,
		r->files);
}

PmStatus pm_step_add(PmDb *db, const PmStepRow *row, int64_t *ordinal, PmErr *err)
{
	PmStepRow r = *row;
	char hash[PM_SHA256_HEX];
	Tail tail = { "", 0, 0 };
	PmStatus st = pm__db_enter(db, err);

	if (st)
		return st;
	st = find_tail(db, r.trajectory, &tail, err);
	if (!st && tail.ended)
		st = pm_err(err, PM_E_INVALID,
			    "Trajectory %lld of database '%s' has ended; begin another one.",
			    (long long)r.trajectory, db->path);
	r.ordinal = tail.next;
	r.at = r.at > 0 ? floor(r.at * 1e3 + 0.5) * 1e-3 : pm_wall_clock();
	r.role = text(r.role);
	r.name = text(r.name);
	r.task = text(r.task);
	r.report = text(r.report);
	r.verdict = text(r.verdict);
	r.json = *text(r.json) ? r.json : "{}";
	r.files = *text(r.files) ? r.files : "[]";
	hash_of(&r, tail.hash, hash);
	if (!st)
		st = put_step(db, &r, hash, err);
	if (ordinal)
		*ordinal = r.ordinal;
	return pm__db_leave(db, st, err);
}

/* ---- reading ---- */

static double real_or(sqlite3_stmt *row, int col, double none)
{
	return sqlite3_column_type(row, col) == SQLITE_NULL ? none : sqlite3_column_double(row, col);
}

static int64_t int_or(sqlite3_stmt *row, int col, int64_t none)
{
	return sqlite3_column_type(row, col) == SQLITE_NULL ? none : sqlite3_column_int64(row, col);
}

typedef struct Walk {
	PmDb *db;
	const PmTrajectoryFilter *filter; /* NULL = all */
	PmTrajectoryFn trajectory;
	PmStepFn step;
	void *arg;
} Walk;

static int differs(const char *want, const char *is)
{
	return want && *want && strcmp(want, is);
}

static int wanted(const PmTrajectoryFilter *f, const PmTrajectoryRow *r, int step_has_task)
{
	if (!f)
		return 1;
	if (differs(f->kind, r->kind) || differs(f->model, r->model) || differs(f->experiment, r->experiment))
		return 0;
	if (differs(f->task, r->task) && !step_has_task)
		return 0;
	return isnan(f->above) || r->best > f->above;
}

static PmStatus take_name(void *arg, sqlite3_stmt *row, PmErr *err)
{
	(void)err;
	pm_str_clear(arg);
	pm_str_add(arg, pm__col_text(row, 0));
	return PM_OK;
}

static PmStatus one_trajectory(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmTrajectoryRow r = { .id = sqlite3_column_int64(row, 0),
			      .key = pm__col_text(row, 1),
			      .kind = pm__col_text(row, 2),
			      .task = pm__col_text(row, 3),
			      .task_name = pm__col_text(row, 4),
			      .model = pm__col_text(row, 5),
			      .seed = strtoull(pm__col_text(row, 6), NULL, 10),
			      .version = pm__col_text(row, 7),
			      .machine = pm__col_text(row, 8),
			      .experiment = pm__col_text(row, 9),
			      .instance = pm__col_text(row, 10),
			      .options = pm__col_text(row, 11),
			      .started = sqlite3_column_double(row, 12),
			      .ended = real_or(row, 13, 0),
			      .outcome = pm__col_text(row, 14),
			      .n_steps = sqlite3_column_int64(row, 15),
			      .first_ok = int_or(row, 16, -1),
			      .best = real_or(row, 17, NAN),
			      .tokens_in = int_or(row, 18, 0),
			      .tokens_out = int_or(row, 19, 0),
			      .money = real_or(row, 20, 0),
			      .last = real_or(row, 21, sqlite3_column_double(row, 12)) };

	PmStr name = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (!wanted(w->filter, &r, sqlite3_column_int(row, 22)))
		return PM_OK;
	if (!*r.task && *pm__col_text(row, 23)) {
		r.task = pm__col_text(row, 23);
		st = pm__db_each(w->db, "look a task up", take_name, &name, NULL, err,
				 "SELECT name FROM tasks WHERE hash = ?", "s", r.task);
		r.task_name = name.s;
	}
	st = st ? st : w->trajectory(w->arg, &r, err);
	pm_str_release(&name);
	return st;
}

/* The last columns: whether a step is of this task, and the only task that steps are of. */
#define TRAJECTORIES                                                                                         \
	"SELECT t.id, t.key, t.kind, t.task, k.name, t.model, t.seed, t.version, t.machine, t.experiment, "  \
	"t.instance, t.options, t.started, t.ended, t.outcome, count(s.ordinal), "                           \
	"min(CASE WHEN s.verdict = 'OK' AND s.score IS NOT NULL THEN s.ordinal END), max(s.score), "         \
	"sum(s.tokens_in), sum(s.tokens_out), sum(s.money), max(s.at + coalesce(s.seconds, 0)), "            \
	"coalesce(max(s.task = ?), 0), "                                                                     \
	"CASE WHEN min(nullif(s.task, '')) = max(s.task) THEN max(s.task) END FROM trajectories t LEFT "     \
	"JOIN tasks k ON k.hash = t.task "                                                                   \
	"LEFT JOIN steps s ON s.trajectory = t.id "

PmStatus pm_trajectories_each(PmDb *db, const PmTrajectoryFilter *filter, PmTrajectoryFn fn, void *arg,
			      PmErr *err)
{
	Walk w = { .db = db, .filter = filter, .trajectory = fn, .arg = arg };

	return pm__db_each(db, "list its trajectories", one_trajectory, &w, NULL, err,
			   TRAJECTORIES "GROUP BY t.id ORDER BY t.started, t.key", "s",
			   filter ? text(filter->task) : "");
}

PmStatus pm_trajectory_get(PmDb *db, int64_t id, PmTrajectoryFn fn, void *arg, PmErr *err)
{
	Walk w = { .db = db, .trajectory = fn, .arg = arg };
	size_t n = 0;
	PmStatus st = pm__db_each(db, "read a trajectory", one_trajectory, &w, &n, err,
				  TRAJECTORIES "WHERE t.id = ? GROUP BY t.id", "si", "", id);

	return !st && !n ? no_such(db, id, err) : st;
}

PmStatus pm_trajectory_find(PmDb *db, const char *name, int64_t *id, PmErr *err)
{
	size_t len = strlen(name), n = 0;
	int hex = len >= 6 && len < PM_SHA256_HEX && strspn(name, "0123456789abcdef") == len;
	int64_t number;
	PmStatus st = PM_OK;

	if (pm_parse_i64(name, &number))
		st = pm__db_each(db, "look a trajectory up", pm__take_id, id, &n, err,
				 "SELECT id FROM trajectories WHERE id = ?", "i", number);
	if (!st && !n && hex)
		st = pm__db_each(db, "look a trajectory up", pm__take_id, id, &n, err,
				 "SELECT id FROM trajectories WHERE key >= ?1 AND key < ?1 || 'g' LIMIT 2",
				 "s", name);
	if (!st && !n)
		st = pm_err(
			err, PM_E_NOT_FOUND,
			"Database '%s' has no trajectory '%s'; list its trajectories to see their numbers.",
			db->path, name);
	else if (!st && n > 1)
		st = pm_err(
			err, PM_E_INVALID,
			"Database '%s' has several trajectories whose key begins with '%s'; give more of it.",
			db->path, name);
	return st;
}

static PmStatus one_step(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmStepRow r = { .trajectory = sqlite3_column_int64(row, 0),
			.ordinal = sqlite3_column_int64(row, 1),
			.hash = pm__col_text(row, 2),
			.role = pm__col_text(row, 3),
			.name = pm__col_text(row, 4),
			.task = pm__col_text(row, 5),
			.report = pm__col_text(row, 6),
			.verdict = pm__col_text(row, 7),
			.score = real_or(row, 8, NAN),
			.at = sqlite3_column_double(row, 9),
			.seconds = real_or(row, 10, NAN),
			.tokens_in = int_or(row, 11, -1),
			.tokens_out = int_or(row, 12, -1),
			.money = real_or(row, 13, NAN),
			.json = pm__col_text(row, 14),
			.files = pm__col_text(row, 15) };

	return w->step(w->arg, &r, err);
}

PmStatus pm_steps_each(PmDb *db, int64_t trajectory, PmStepFn fn, void *arg, PmErr *err)
{
	Walk w = { .step = fn, .arg = arg };

	return pm__db_each(db, "list the steps of a trajectory", one_step, &w, NULL, err,
			   "SELECT trajectory, ordinal, hash, role, name, task, report, verdict, score, at, "
			   "seconds, tokens_in, tokens_out, money, json, files FROM steps "
			   "WHERE trajectory = ? ORDER BY ordinal",
			   "i", trajectory);
}

/* ---- rows of JSON Lines ---- */

PmStatus pm__trajectory_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err)
{
	PmTrajectoryRow r = { .kind = pm_json_str(j, "kind", ""),
			      .task = pm_json_str(j, "task", ""),
			      .model = pm_json_str(j, "model", ""),
			      .seed = strtoull(pm_json_str(j, "seed", "0"), NULL, 10),
			      .version = pm_json_str(j, "version", ""),
			      .machine = pm_json_str(j, "machine", ""),
			      .experiment = pm_json_str(j, "experiment", ""),
			      .instance = pm_json_str(j, "instance", ""),
			      .options = pm_json_str(j, "options", ""),
			      .started = pm_json_num(j, "started", 0),
			      .ended = pm_json_num(j, "ended", 0),
			      .outcome = pm_json_str(j, "outcome", "") };
	char key[PM_SHA256_HEX], seed[32];

	key_of(&r, key);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)r.seed);
	if (strcmp(seed, pm_json_str(j, "seed", "0")) != 0)
		*wrong = "the trajectory's seed is no number of 64 bits";
	else if (strcmp(key, pm_json_str(j, "key", "")) != 0)
		*wrong = "the trajectory's key is not that of what it says";
	return *wrong ? PM_OK : put_row(db, &r, key, NULL, err);
}

/* The hash of the step before, which has to be stored, or the key. */
static PmStatus before_step(PmDb *db, const char *key, int64_t ordinal, Tail *t, PmErr *err)
{
	return pm__db_each(db, "look a step up", read_tail, t, NULL, err,
			   "SELECT coalesce(s.hash, t.key), t.id, 0 FROM trajectories t LEFT JOIN steps s "
			   "ON s.trajectory = t.id AND s.ordinal = ?1 - 1 "
			   "WHERE t.key = ?2 AND (?1 = 0 OR s.hash IS NOT NULL)",
			   "is", ordinal, key);
}

static PmStatus store_new_step(PmDb *db, const PmStepRow *r, const char *hash, const char **wrong, PmErr *err)
{
	Tail there = { "", -1, 0 };
	PmStatus st = pm__db_each(db, "look a step up", read_tail, &there, NULL, err,
				  "SELECT hash, 0, 0 FROM steps WHERE trajectory = ? AND ordinal = ?", "ii",
				  r->trajectory, r->ordinal);

	if (!st && there.next == 0 && strcmp(there.hash, hash) != 0)
		*wrong = "the trajectory is stored already and goes on in another way there";
	return st || there.next == 0 ? st : put_step(db, r, hash, err);
}

static int is_kind(const char *text, cJSON_bool (*is)(const cJSON *))
{
	cJSON *j = NULL;
	int ok = pm_json_parse(text, strlen(text), &j, NULL) == PM_OK && is(j);

	cJSON_Delete(j);
	return ok;
}

PmStatus pm__step_import(PmDb *db, const cJSON *j, const char **wrong, PmErr *err)
{
	PmStepRow r = { .ordinal = pm_json_i64(j, "ordinal", -1),
			.role = pm_json_str(j, "role", ""),
			.name = pm_json_str(j, "name", ""),
			.task = pm_json_str(j, "task", ""),
			.report = pm_json_str(j, "report", ""),
			.verdict = pm_json_str(j, "verdict", ""),
			.score = pm_json_num(j, "score", NAN),
			.at = pm_json_num(j, "at", 0),
			.seconds = pm_json_num(j, "seconds", NAN),
			.tokens_in = pm_json_i64(j, "tokens_in", -1),
			.tokens_out = pm_json_i64(j, "tokens_out", -1),
			.money = pm_json_num(j, "money", NAN),
			.json = pm_json_str(j, "json", "{}"),
			.files = pm_json_str(j, "files", "[]") };
	Tail before = { "", 0, 0 };
	char hash[PM_SHA256_HEX];
	PmStatus st = before_step(db, pm_json_str(j, "trajectory", ""), r.ordinal, &before, err);

	if (st)
		return st;
	r.trajectory = before.next;
	hash_of(&r, before.hash, hash);
	if (!*before.hash)
		*wrong = "the trajectory of the step, or the step before it, is missing";
	else if (strcmp(hash, pm_json_str(j, "hash", "")) != 0)
		*wrong = "the step's hash is not that of what it says";
	else if (!is_kind(r.json, cJSON_IsObject) || !is_kind(r.files, cJSON_IsArray))
		*wrong = "what the step holds is no JSON";
	return *wrong ? PM_OK : store_new_step(db, &r, hash, wrong, err);
}
