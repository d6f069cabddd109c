/* SPDX-License-Identifier: Apache-2.0 */
/* measurements.c - rows of measurements and of their origins, and which measurement counts. */
#include "dataset/store/measurements.h"

#include "base/core/arena.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "dataset/store/db_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- origins ---- */

enum { N_TEXTS = 6 };

/* The texts of an origin, never NULL, in the order of the table's columns. */
static void texts_of(const PmOrigin *o, const char *out[N_TEXTS])
{
	const char *const t[N_TEXTS] = { o->node, o->job, o->gpu, o->gpu_id, o->driver, o->clocks };

	for (int i = 0; i < N_TEXTS; i++)
		out[i] = t[i] ? t[i] : "";
}

int pm__origin_is_known(const PmOrigin *o)
{
	const char *t[N_TEXTS];
	int any = o->element >= 0 || o->restarts > 0;

	texts_of(o, t);
	for (int i = 0; i < N_TEXTS; i++)
		any |= *t[i] != 0;
	return any;
}

/* "" for one of which nothing is known. */
static void origin_key(const PmOrigin *o, char hex[PM_SHA256_HEX])
{
	const char *t[N_TEXTS];
	PmStr s = PM_STR_INIT;

	*hex = 0;
	if (!pm__origin_is_known(o))
		return;
	texts_of(o, t);
	for (int i = 0; i < N_TEXTS; i++)
		pm_str_add_quoted(&s, t[i], strlen(t[i]));
	pm_str_addf(&s, "%lld %lld", (long long)(o->element < 0 ? -1 : o->element), (long long)o->restarts);
	pm_sha256_hex(s.s, s.len, hex);
	pm_str_release(&s);
}

/* key becomes "" where nothing is known, and nothing is stored then. */
static PmStatus put_origin(PmDb *db, const PmOrigin *o, char key[PM_SHA256_HEX], PmErr *err)
{
	const char *t[N_TEXTS];

	origin_key(o, key);
	if (!*key)
		return PM_OK;
	texts_of(o, t);
	return pm__db_run(db, "store where it was measured", NULL, err,
			  "INSERT INTO origins (key, node, job, gpu, gpu_id, driver, clocks, element, "
			  "restarts) VALUES (?, ?, ?, ?, ?, ?, ?, CASE WHEN ?8 < 0 THEN NULL ELSE ?8 END, ?) "
			  "ON CONFLICT (key) DO NOTHING",
			  "sssssssii", key, t[0], t[1], t[2], t[3], t[4], t[5], o->element, o->restarts);
}

typedef struct Here {
	PmOrigin origin; /* its texts are those below */
	char *text[N_TEXTS];
} Here;

static void drop_origin(void *origin)
{
	Here *h = origin;

	for (int i = 0; i < N_TEXTS; i++)
		free(h->text[i]);
	free(h);
}

void pm_db_set_origin(PmDb *db, const PmOrigin *o)
{
	const char *t[N_TEXTS];
	char **m;
	Here *h;

	if (db->origin)
		drop_origin(db->origin);
	db->origin = NULL;
	if (!o)
		return;
	texts_of(o, t);
	h = pm_xcalloc(1, sizeof *h);
	m = h->text;
	for (int i = 0; i < N_TEXTS; i++)
		m[i] = pm_xstrdup(t[i]);
	h->origin = (PmOrigin){ m[0], m[1], o->element, o->restarts, m[2], m[3], m[4], m[5] };
	db->origin = h;
	db->drop_origin = drop_origin;
}

static PmOrigin origin_of(const PmDb *db)
{
	const Here *h = db->origin;

	return h ? h->origin : PM_ORIGIN_UNKNOWN;
}

/* ---- which one counts ---- */

static const struct {
	const char *name;
	int decided;
} verdicts[] = {
#define XX(name, decided) { #name, decided },
#include "dataset/store/severity.def"
#undef XX
};

int pm_severity(const char *verdict)
{
	int n = (int)(sizeof verdicts / sizeof *verdicts), k = 0;

	while (k < n && strcmp(verdicts[k].name, verdict) != 0)
		k++;
	return k;
}

int pm_verdict_is_decided(const char *verdict)
{
	int k = pm_severity(verdict);

	return k >= (int)(sizeof verdicts / sizeof *verdicts) || verdicts[k].decided;
}

/* The worst first; those of names that are not known are told apart by their names. */
static int by_verdict(const char *a, const char *b)
{
	int x = pm_severity(a), y = pm_severity(b);

	return x != y ? (x < y) - (x > y) : strcmp(a, b);
}

static int in_order(const void *x, const void *y)
{
	const PmRival *a = *(const PmRival *const *)x, *b = *(const PmRival *const *)y;
	int c = by_verdict(a->verdict, b->verdict);

	if (c)
		return c;
	if (isnan(a->speedup) != isnan(b->speedup)) /* those without a time last */
		return isnan(a->speedup) ? 1 : -1;
	if (a->speedup < b->speedup || a->speedup > b->speedup)
		return a->speedup < b->speedup ? -1 : 1;
	return strcmp(a->key, b->key);
}

size_t pm_measurement_pick(const PmRival *c, size_t n)
{
	const PmRival **p = pm_xcalloc(n, sizeof *p);
	size_t worst = 0, timed = 0, at;

	for (size_t i = 0; i < n; i++)
		p[i] = &c[i];
	qsort(p, n, sizeof *p, in_order);
	while (worst < n && !by_verdict(p[worst]->verdict, p[0]->verdict))
		timed += !isnan(p[worst++]->speedup);
	at = (size_t)(p[timed ? (timed - 1) / 2 : 0] - c);
	free(p);
	return at;
}

typedef struct Set {
	PM_VEC(PmRival) v;
	PM_VEC(char *) texts; /* of the candidates; owned */
	size_t counts;        /* position of the one that counts so far */
} Set;

static PmStatus take_candidate(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Set *s = arg;
	char *key = pm_xstrdup(pm__col_text(row, 0)), *verdict = pm_xstrdup(pm__col_text(row, 1));
	PmRival c = { key, verdict,
		      sqlite3_column_type(row, 2) == SQLITE_NULL ? NAN : sqlite3_column_double(row, 2) };

	(void)err;
	if (sqlite3_column_int(row, 3))
		s->counts = s->v.n;
	PM_VEC_PUSH(&s->v, c);
	PM_VEC_PUSH(&s->texts, key);
	PM_VEC_PUSH(&s->texts, verdict);
	return PM_OK;
}

/* Which measurement of a variant counts. */
static PmStatus decide(PmDb *db, const PmResultRow *r, PmErr *err)
{
	Set s = { .counts = SIZE_MAX };
	size_t at = 0;
	PmStatus st = pm__db_each(db, "list measurements", take_candidate, &s, NULL, err,
				  "SELECT key, verdict, speedup, counts FROM measurements WHERE run = ? AND "
				  "task = ? AND ordinal = ?",
				  "iii", r->run, r->task, r->ordinal);

	if (!st && s.v.n)
		at = pm_measurement_pick(s.v.v, s.v.n);
	if (!st && s.v.n && at != s.counts) { /* one after the other: only one may count at any time */
		st = pm__db_run(
			db, "say which measurement counts", NULL, err,
			"UPDATE measurements SET counts = 0 WHERE run = ? AND task = ? AND ordinal = ? "
			"AND counts = 1",
			"iii", r->run, r->task, r->ordinal);
		if (!st)
			st = pm__db_run(db, "say which measurement counts", NULL, err,
					"UPDATE measurements SET counts = 1 WHERE run = ? AND task = ? AND "
					"ordinal = ? AND key = ?",
					"iiis", r->run, r->task, r->ordinal, s.v.v[at].key);
	}
	for (size_t i = 0; i < s.texts.n; i++)
		free(s.texts.v[i]);
	PM_VEC_RELEASE(&s.texts);
	PM_VEC_RELEASE(&s.v);
	return st;
}

/* ---- storing ---- */

/* pm_content_key(...): SHA-256 of its arguments. In SQL, so that one statement looks keys of other tables up
 * and stores the row. */
static void content_key(sqlite3_context *c, int n, sqlite3_value **v)
{
	char hex[PM_SHA256_HEX];
	PmStr s = PM_STR_INIT;

	for (int i = 0; i < n; i++) {
		const char *text;

		switch (sqlite3_value_type(v[i])) {
		case SQLITE_NULL:
			pm_str_add(&s, "-");
			break;
		case SQLITE_INTEGER:
			pm_str_addf(&s, "%lld", (long long)sqlite3_value_int64(v[i]));
			break;
		case SQLITE_FLOAT:
			pm_str_addf(&s, "%.17g", sqlite3_value_double(v[i]));
			break;
		default:
			text = (const char *)sqlite3_value_text(v[i]);
			pm_str_add_quoted(&s, text ? text : "", text ? strlen(text) : 0);
			break;
		}
		pm_str_add(&s, "\n");
	}
	pm_sha256_hex(s.s, s.len, hex);
	pm_str_release(&s);
	sqlite3_result_text(c, hex, -1, SQLITE_TRANSIENT);
}

int pm__db_add_functions(PmDb *db)
{
	return sqlite3_create_function_v2(db->sq, "pm_content_key", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC,
					  NULL, content_key, NULL, NULL, NULL);
}

/* The content of a measurement but for its result: run, task, graph. */
#define CONTENT_OF(run, task, ordinal)                                                                       \
	"(SELECT key FROM runs WHERE id = " run "), (SELECT hash FROM tasks WHERE id = " task "), "          \
	"(SELECT s.hash FROM variants v JOIN subgraphs s ON s.id = v.subgraph WHERE v.task = " task          \
	" AND v.ordinal = " ordinal ")"

static PmStatus insert(PmDb *db, const PmMeasurement *m, const char *origin, int64_t *changes, PmErr *err)
{
	const PmResultRow *r = &m->result;

	return pm__db_run(db, "store a result", changes, err,
			  "INSERT INTO measurements (run, task, ordinal, verdict, stage, speedup, json, "
			  "rewrite, origin, "
			  "at, key, counts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, nullif(?8, 0), "
			  "(SELECT id FROM origins WHERE key = ?9), nullif(?10, 0), "
			  "pm_content_key(" CONTENT_OF(
				  "?1", "?2", "?3") ", ?4, ?5, ?6, ?7, ?9), "
						    "NOT EXISTS (SELECT 1 FROM measurements WHERE run = ?1 "
						    "AND task = ?2 AND ordinal = ?3)) "
						    "ON CONFLICT (run, task, ordinal, key) DO NOTHING",
			  "iiissfsisi", r->run, r->task, r->ordinal, r->verdict, r->stage, r->speedup,
			  r->json, r->rewrite, origin, m->at);
}

/* What was stored before: the earliest time, and the rewritten graph of the least hash. */
static PmStatus join(PmDb *db, const PmMeasurement *m, const char *origin, PmErr *err)
{
	const PmResultRow *r = &m->result;

	return pm__db_run(
		db, "store a result", NULL, err,
		"UPDATE measurements SET at = coalesce(min(at, nullif(?10, 0)), at, nullif(?10, 0)), "
		"rewrite = (SELECT id FROM rewrites WHERE id IN (measurements.rewrite, ?8) ORDER BY hash "
		"LIMIT 1) WHERE run = ?1 AND task = ?2 AND ordinal = ?3 AND key = "
		"pm_content_key(" CONTENT_OF("?1", "?2", "?3") ", ?4, ?5, ?6, ?7, ?9)",
		"iiissfsisi", r->run, r->task, r->ordinal, r->verdict, r->stage, r->speedup, r->json,
		r->rewrite, origin, m->at);
}

PmStatus pm_measurement_put(PmDb *db, const PmMeasurement *m, int *is_new, PmErr *err)
{
	char origin[PM_SHA256_HEX];
	int64_t changes = 0;
	PmStatus st = pm__db_enter(db, err);

	if (st)
		return st;
	st = put_origin(db, &m->origin, origin, err);
	if (!st)
		st = insert(db, m, origin, &changes, err);
	if (!st)
		st = changes ? decide(db, &m->result, err) : join(db, m, origin, err);
	if (is_new)
		*is_new = changes > 0;
	return pm__db_leave(db, st, err);
}

PmStatus pm_result_put(PmDb *db, const PmResultRow *row, int *is_new, PmErr *err)
{
	PmMeasurement m = { .result = *row, .origin = origin_of(db), .at = (int64_t)time(NULL) };

	return pm_measurement_put(db, &m, is_new, err);
}

/* No other row is there yet. */
PmStatus pm__measurements_fill_keys(PmDb *db, PmErr *err)
{
	PmStatus st = pm__db_run(db, "name its measurements", NULL, err,
				 "UPDATE measurements SET key = pm_content_key(" CONTENT_OF(
					 "measurements.run", "measurements.task",
					 "measurements.ordinal") ", verdict, stage, speedup, json, '')",
				 "");

	return st ? st
		  : pm__db_run(
			    db, "name its measurements", NULL, err,
			    "UPDATE hidden_measurements SET key = pm_content_key((SELECT key FROM runs WHERE "
			    "id = run), verdict, json, '')",
			    "");
}

/* ---- hidden shapes ---- */

typedef struct Worst {
	char *key, *verdict, *json; /* owned */
} Worst;

static void worst_release(Worst *w)
{
	free(w->key);
	free(w->verdict);
	free(w->json);
}

static PmStatus take_worst(void *arg, sqlite3_stmt *row, PmErr *err)
{
	Worst *w = arg;
	const char *verdict = pm__col_text(row, 1);

	(void)err;
	if (w->key && by_verdict(w->verdict, verdict) <= 0) /* rows come by their keys */
		return PM_OK;
	worst_release(w);
	*w = (Worst){ pm_xstrdup(pm__col_text(row, 0)), pm_xstrdup(verdict),
		      pm_xstrdup(pm__col_text(row, 2)) };
	return PM_OK;
}

static PmStatus decide_hidden(PmDb *db, int64_t run, PmErr *err)
{
	Worst w = { 0 };
	PmStatus st = pm__db_each(
		db, "list verdicts on hidden shapes", take_worst, &w, NULL, err,
		"SELECT key, verdict, json FROM hidden_measurements WHERE run = ? ORDER BY key", "i", run);

	if (!st && w.key)
		st = pm__db_run(db, "store a verdict on hidden shapes", NULL, err,
				"UPDATE runs SET hidden = ?, hidden_json = ? WHERE id = ?", "ssi", w.verdict,
				w.json, run);
	worst_release(&w);
	return st;
}

PmStatus pm_hidden_put(PmDb *db, const PmHiddenMeasurement *h, PmErr *err)
{
	char origin[PM_SHA256_HEX];
	PmStatus st = pm__db_enter(db, err);

	if (st)
		return st;
	st = put_origin(db, &h->origin, origin, err);
	if (!st)
		st = pm__db_run(
			db, "store a verdict on hidden shapes", NULL, err,
			"INSERT INTO hidden_measurements (run, verdict, json, origin, at, key) VALUES (?1, "
			"?2, "
			"?3, (SELECT id FROM origins WHERE key = ?4), nullif(?5, 0), "
			"pm_content_key((SELECT key FROM runs WHERE id = ?1), ?2, ?3, ?4)) "
			"ON CONFLICT (run, key) DO UPDATE SET at = coalesce(min(at, excluded.at), at, "
			"excluded.at)",
			"isssi", h->run, h->verdict, h->json, origin, h->at);
	if (!st)
		st = decide_hidden(db, h->run, err);
	return pm__db_leave(db, st, err);
}

PmStatus pm_run_set_hidden(PmDb *db, int64_t run, const char *verdict, const char *json, PmErr *err)
{
	PmHiddenMeasurement h = { .run = run,
				  .verdict = verdict,
				  .json = json,
				  .origin = origin_of(db),
				  .at = (int64_t)time(NULL) };

	return pm_hidden_put(db, &h, err);
}

/* ---- reading ---- */

PmOrigin pm__origin_read(sqlite3_stmt *row, int k)
{
	return (PmOrigin){ pm__col_text(row, k),
			   pm__col_text(row, k + 1),
			   sqlite3_column_int64(row, k + 2),
			   sqlite3_column_int64(row, k + 3),
			   pm__col_text(row, k + 4),
			   pm__col_text(row, k + 5),
			   pm__col_text(row, k + 6),
			   pm__col_text(row, k + 7) };
}

typedef struct Walk {
	PmMeasurementFn fn;
	PmHiddenFn hidden;
	void *arg;
} Walk;

static PmStatus one(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmMeasurement m = {
		.result = { sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
			    sqlite3_column_int64(row, 2), pm__col_text(row, 3), pm__col_text(row, 4),
			    sqlite3_column_type(row, 5) == SQLITE_NULL ? NAN : sqlite3_column_double(row, 5),
			    pm__col_text(row, 6), sqlite3_column_int64(row, 7) },
		.key = pm__col_text(row, 8),
		.counts = sqlite3_column_int(row, 9),
		.at = sqlite3_column_int64(row, 10),
		.origin = pm__origin_read(row, 11),
	};

	return w->fn(w->arg, &m, err);
}

#define MEASUREMENTS                                                                                         \
	"SELECT m.run, m.task, m.ordinal, m.verdict, m.stage, m.speedup, m.json, m.rewrite, m.key, "         \
	"m.counts, "                                                                                         \
	"m.at, " PM__ORIGIN_COLUMNS " FROM measurements m LEFT JOIN origins o ON o.id = m.origin "

PmStatus pm_measurements_each(PmDb *db, int64_t run, PmMeasurementFn fn, void *arg, PmErr *err)
{
	Walk w = { .fn = fn, .arg = arg };

	if (run)
		return pm__db_each(db, "list measurements", one, &w, NULL, err,
				   MEASUREMENTS "WHERE m.run = ? ORDER BY m.task, m.ordinal, m.key", "i",
				   run);
	return pm__db_each(db, "list measurements", one, &w, NULL, err,
			   MEASUREMENTS "ORDER BY m.run, m.task, m.ordinal, m.key", "");
}

static PmStatus one_hidden(void *arg, sqlite3_stmt *row, PmErr *err)
{
	const Walk *w = arg;
	PmHiddenMeasurement h = { .run = sqlite3_column_int64(row, 0),
				  .verdict = pm__col_text(row, 1),
				  .json = pm__col_text(row, 2),
				  .key = pm__col_text(row, 3),
				  .at = sqlite3_column_int64(row, 4),
				  .task = sqlite3_column_int64(row, 5),
				  .origin = pm__origin_read(row, 6) };

	return w->hidden(w->arg, &h, err);
}

PmStatus pm_hidden_each(PmDb *db, PmHiddenFn fn, void *arg, PmErr *err)
{
	Walk w = { .hidden = fn, .arg = arg };

	return pm__db_each(db, "list verdicts on hidden shapes", one_hidden, &w, NULL, err,
			   "SELECT h.run, h.verdict, h.json, h.key, h.at, r.task, " PM__ORIGIN_COLUMNS
			   " FROM hidden_measurements h JOIN runs r ON r.id = h.run LEFT JOIN origins o ON "
			   "o.id = h.origin "
			   "ORDER BY h.run, h.key",
			   "");
}
