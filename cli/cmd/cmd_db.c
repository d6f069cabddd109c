/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_db.c - passmith db: counts, questions in SQL, a report, JSON Lines out and in, evidence,
 * merging, shrinking. */
#include "cli/cmds.h"

#include "app/merge/conflicts.h"
#include "app/merge/evidence.h"
#include "app/merge/node_spread.h"
#include "app/merge/verify.h"
#include "app/store/db_report.h"
#include "base/core/renamed.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "dataset/store/jsonl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What `db merge` was asked for. Paths are borrowed. */
typedef struct Merge {
	const char *into, *against; /* against NULL = nothing */
	PM_VEC(const char *) from;
	int verify;
} Merge;

typedef struct Args {
	const char *verb, *db_path, *rest, *out;
	size_t n; /* positional arguments, the verb included */
	int evidence;
	Merge merge;
} Args;

/* ---- stats ---- */

static PmStatus db_stats(PmDb *db, PmErr *err)
{
	PmDbStats s;
	PmStatus st = pm_db_stats(db, &s, err);
	const struct {
		const char *name;
		int64_t n;
	} rows[] = { { "models", s.models },
		     { "models_failed", s.models_failed },
		     { "subgraphs", s.subgraphs },
		     { "structures", s.structures },
		     { "op_seqs", s.op_seqs },
		     { "buckets", s.buckets },
		     { "occurrences", s.occurrences },
		     { "tasks", s.tasks },
		     { "tasks_eval", s.tasks_eval },
		     { "tasks_train", s.tasks_train },
		     { "variants", s.members },
		     { "rejected", s.rejected },
		     { "runs", s.runs },
		     { "results", s.results },
		     { "trajectories", s.trajectories },
		     { "applications", s.applications },
		     { "steps", s.steps },
		     { "bytes", s.bytes },
		     { "version", s.version } };
	cJSON *j = st == PM_OK && pm_cli_json ? cJSON_CreateObject() : NULL;

	for (size_t k = 0; k < sizeof rows / sizeof *rows && !st; k++) {
		if (j)
			pm_json_add_i64(j, rows[k].name, rows[k].n);
		else
			printf("%-14s %12lld\n", rows[k].name, (long long)rows[k].n);
	}
	if (j)
		pm_json_add_old(j, "variants");
	pm_cli_put_json(j);
	return st;
}

/* ---- query ---- */

typedef struct Answer {
	cJSON *list; /* NULL: lines with tabs */
	int n;
} Answer;

static PmStatus put_row(void *arg, size_t n, const char *const *names, const char *const *values, PmErr *err)
{
	Answer *a = arg;
	cJSON *j = a->list ? cJSON_CreateObject() : NULL;

	(void)err;
	for (size_t k = 0; k < n && !a->n && !j; k++)
		printf("%s%s", k ? "\t" : "", names[k]);
	if (!a->n++ && !j)
		putchar('\n');
	for (size_t k = 0; k < n; k++) {
		if (!j)
			printf("%s%s", k ? "\t" : "", values[k] ? values[k] : "");
		else if (values[k])
			cJSON_AddStringToObject(j, names[k], values[k]);
		else
			cJSON_AddNullToObject(j, names[k]);
	}
	if (j)
		cJSON_AddItemToArray(a->list, j);
	else
		putchar('\n');
	return PM_OK;
}

static PmStatus db_query(PmDb *db, const char *sql, PmErr *err)
{
	Answer a = { pm_cli_json ? cJSON_CreateArray() : NULL, 0 };
	PmStatus st = pm_db_query(db, sql, put_row, &a, err);

	pm_cli_put_json(a.list); /* as far as it got */
	return st;
}

/* ---- export, import, merge ---- */

typedef PmStatus (*Export)(PmDb *db, FILE *f, PmErr *err);

static PmStatus db_export(PmDb *db, const char *out, Export export, PmErr *err)
{
	PmStr tmp = PM_STR_INIT;
	FILE *f;
	PmStatus st;

	if (!out && pm_cli_json)
		return pm_err(
			err, PM_E_INVALID,
			"An export is many lines of JSON, and --json prints one object: give -o FILE for "
			"the lines, or leave out --json.");
	if (!out)
		return export(db, stdout, err);
	pm_str_addf(&tmp, "%s.tmp", out);
	f = fopen(tmp.s, "w");
	st = f ? export(db, f, err) : pm_path_error("write", tmp.s, 1, err);
	if (f && fclose(f) && !st)
		st = pm_path_error("write", tmp.s, 1, err);
	if (!st && rename(tmp.s, out))
		st = pm_path_error("write", out, 1, err);
	if (st && f)
		remove(tmp.s);
	if (!st && pm_cli_json)
		pm_cli_put_text("file", out);
	pm_str_release(&tmp);
	return st;
}

static void say_lines(const char *what, int64_t n)
{
	if (pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		pm_json_add_i64(j, "lines", n);
		pm_cli_put_json(j);
	} else {
		printf("%s: %lld lines\n", what, (long long)n);
	}
}

static PmStatus db_import(PmDb *db, const char *path, PmErr *err)
{
	FILE *f = fopen(path, "r");
	int64_t n = 0;
	PmStatus st = f ? pm_db_import(db, f, path, &n, err) : pm_path_error("open", path, 0, err);

	if (f)
		fclose(f);
	if (!st)
		say_lines(path, n);
	return st;
}

/* ---- merge ---- */

/* What `into` and the others hold before anything is merged. A file that is not there is found now. */
static PmStatus take_parts(const Merge *m, PmDb *into, PmParts *u, PmErr *err)
{
	PmStatus st = u ? pm_parts_add(u, into, err) : PM_OK;

	for (size_t i = 0; i < m->from.n && !st; i++) {
		PmDb *from = NULL;

		st = pm_db_open(m->from.v[i], PM_DB_MUST_EXIST, &from, err);
		if (!st && u)
			st = pm_parts_add(u, from, err);
		pm_db_close(from);
	}
	return st;
}

static PmStatus merge(const Merge *m, PmDb *into, int64_t *lines, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < m->from.n && !st; i++) {
		PmDb *from = NULL;
		int64_t n = 0;

		st = pm_db_open(m->from.v[i], PM_DB_MUST_EXIST, &from, err);
		if (!st)
			st = pm_db_merge(into, from, &n, err);
		pm_db_close(from);
		*lines += n;
		if (!st && !pm_cli_json)
			say_lines(m->from.v[i], n);
	}
	return st;
}

static cJSON *verified_json(const PmVerified *v)
{
	cJSON *o = cJSON_CreateObject();

	pm_json_add_i64(o, "tasks", (int64_t)v->tasks);
	pm_json_add_i64(o, "runs", (int64_t)v->runs);
	pm_json_add_i64(o, "measurements", (int64_t)v->measurements);
	pm_json_add_i64(o, "results", (int64_t)v->results);
	pm_json_add_i64(o, "scores", (int64_t)v->scores);
	return o;
}

static PmStatus verify(const Merge *m, PmDb *into, PmParts *u, cJSON *j, PmStr *difference, PmErr *err)
{
	PmVerified v, e = { 0 };
	PmDb *one = NULL;
	PmStatus st = pm_parts_check(u, into, &v, difference, err);

	cJSON_AddItemToObject(j, "verified", verified_json(&v));
	if (!st && !difference->len && !pm_cli_json)
		printf("verified: %zu tasks, %zu runs, %zu measurements, %zu results and %zu scores are "
		       "those of the "
		       "parts\n",
		       v.tasks, v.runs, v.measurements, v.results, v.scores);
	if (st || difference->len || !m->against)
		return st;
	st = pm_db_open(m->against, PM_DB_MUST_EXIST, &one, err);
	if (!st)
		st = pm_evidence_same(into, one, &e, difference, err);
	pm_db_close(one);
	cJSON_AddItemToObject(j, "against", verified_json(&e));
	if (!st && !difference->len && !pm_cli_json)
		printf("verified: %zu lines of evidence and %zu scores are those of %s\n", e.results,
		       e.scores, m->against);
	return st;
}

static PmStatus merge_all(const Merge *m, int *code, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();
	PmParts *u = m->verify ? pm_parts_new() : NULL;
	PmStr difference = PM_STR_INIT;
	PmDb *into = NULL;
	int64_t lines = 0;
	PmStatus st = pm_db_open(m->into, 0, &into, err);

	if (!st)
		st = take_parts(m, into, u, err);
	if (!st)
		st = merge(m, into, &lines, err);
	pm_json_add_i64(j, "lines", lines);
	if (!st && u)
		st = verify(m, into, u, j, &difference, err);
	*code = difference.len > 0;
	if (difference.len && pm_cli_json)
		cJSON_AddStringToObject(j, "difference", difference.s);
	else if (difference.len)
		printf("%s\n", difference.s);
	if (!st && pm_cli_json) {
		pm_cli_put_json(j);
		j = NULL;
	}
	cJSON_Delete(j);
	pm_parts_free(u);
	pm_str_release(&difference);
	pm_db_close(into);
	return st;
}

/* ---- conflicts ---- */

static void print_conflict(const cJSON *c)
{
	const cJSON *m, *what;
	const char *variant = pm_json_str(c, "variant", NULL);

	printf("pass %s on %s of task %s (%s):", pm_json_str(c, "pass", ""),
	       variant ? variant : "hidden shapes", pm_json_str(c, "task", ""), pm_json_str(c, "device", ""));
	cJSON_ArrayForEach(what, cJSON_GetObjectItem(c, "what")) printf(" %s", what->valuestring);
	putchar('\n');
	cJSON_ArrayForEach(m, cJSON_GetObjectItem(c, "measurements"))
	{
		const cJSON *o = cJSON_GetObjectItem(m, "origin");
		const char *job = pm_json_str(o, "job", ""), *gpu = pm_json_str(o, "gpu_id", "");

		printf("  %.12s %-16s %s", pm_json_str(m, "key", ""), pm_json_str(m, "verdict", ""),
		       *pm_json_str(o, "node", "") ? pm_json_str(o, "node", "") : "(node not known)");
		printf("%s%s%s%s%s\n", *job ? ", job " : "", job, *gpu ? ", GPU " : "", gpu,
		       cJSON_IsTrue(cJSON_GetObjectItem(m, "counts")) ? ", counts" : "");
	}
}

/* *code becomes 1 when there are some. */
static PmStatus db_conflicts(PmDb *db, int *code, PmErr *err)
{
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "conflicts"), *c;
	PmStatus st = pm_conflicts_find(db, list, err);
	int n = cJSON_GetArraySize(list);

	pm_json_add_i64(j, "n", n);
	*code = !st && n > 0;
	if (pm_cli_json && !st) {
		pm_cli_put_json(j);
		return st;
	}
	cJSON_ArrayForEach(c, list) print_conflict(c);
	if (!st)
		printf("%d contradiction%s\n", n, n == 1 ? "" : "s");
	cJSON_Delete(j);
	return st;
}

/* Where the page is, or the page, and the figures of several nodes. */
static PmStatus put_report(PmDb *db, const char *key, const char *value, PmErr *err)
{
	cJSON *j = cJSON_CreateObject();
	PmStatus st;

	cJSON_AddStringToObject(j, key, value);
	st = pm_node_spread_json(db, NULL, 0, j, err);
	if (!st)
		pm_cli_put_json(j);
	else
		cJSON_Delete(j);
	return st;
}

static PmStatus db_report(PmDb *db, const char *out, PmErr *err)
{
	PmStr page = PM_STR_INIT;
	PmStatus st = pm_db_report(db, &page, err);

	if (!st && out)
		st = pm_write_file(out, page.s, page.len, err);
	if (!st && pm_cli_json)
		st = put_report(db, out ? "file" : "html", out ? out : page.s, err);
	else if (!st && !out)
		fwrite(page.s, 1, page.len, stdout);
	pm_str_release(&page);
	return st;
}

static PmStatus db_run(const Args *a, int *code, PmErr *err)
{
	int makes = !strcmp(a->verb, "import");
	PmDb *db = NULL;
	PmStatus st = pm_db_open(a->db_path,
				 makes                       ? 0
				 : !strcmp(a->verb, "query") ? PM_DB_READ_ONLY
							     : PM_DB_MUST_EXIST,
				 &db, err);

	if (st)
		return st;
	if (!strcmp(a->verb, "conflicts"))
		st = db_conflicts(db, code, err);
	else if (!strcmp(a->verb, "stats"))
		st = db_stats(db, err);
	else if (!strcmp(a->verb, "query"))
		st = db_query(db, a->rest, err);
	else if (!strcmp(a->verb, "report"))
		st = db_report(db, a->out, err);
	else if (!strcmp(a->verb, "export"))
		st = db_export(db, a->out, a->evidence ? pm_evidence_export : pm_db_export, err);
	else if (!strcmp(a->verb, "import"))
		st = db_import(db, a->rest, err);
	else if (!(st = pm_db_vacuum(db, err)) && pm_cli_json)
		pm_cli_put_text("file", a->db_path);
	pm_db_close(db);
	return st;
}

/* Whether the verb exists and has its arguments. */
static int well_formed(const Args *a)
{
	static const struct {
		const char *verb;
		int arg, out;
	} verbs[] = { { "stats", 0, 0 }, { "vacuum", 0, 0 }, { "export", 0, 1 },   { "report", 0, 1 },
		      { "query", 1, 0 }, { "import", 1, 0 }, { "conflicts", 0, 0 } };

	if (!strcmp(a->verb, "merge"))
		return a->merge.from.n > 0 && !a->out && !a->evidence &&
		       (a->merge.verify || !a->merge.against);
	for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
		if (!strcmp(a->verb, verbs[k].verb))
			return a->db_path && a->n == 1u + (size_t)verbs[k].arg && (!a->out || verbs[k].out) &&
			       (!a->evidence || !strcmp(a->verb, "export")) && !a->merge.verify &&
			       !a->merge.against;
	return 0;
}

/* merge INTO FROM..., or merge FROM... --db INTO. */
static void take_merge(Args *a, const char *const *v)
{
	size_t first = a->db_path ? 1 : 2;

	a->merge.into = a->db_path ? a->db_path : a->n > 1 ? v[1] : "";
	for (size_t i = first; i < a->n; i++)
		PM_VEC_PUSH(&a->merge.from, v[i]);
}

int pm_cmd_db(const PmCmd *cmd, int argc, char **argv)
{
	Args a = { .verb = "" };
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &a.db_path, "the database; merge: the one that takes the others" },
		{ "-o", PM_OPT_STR, &a.out, "export, report: the file to write (default: standard output)" },
		{ "--evidence", PM_OPT_FLAG, &a.evidence,
		  "export: what evaluations found, without times, hosts and paths" },
		{ "--verify", PM_OPT_FLAG, &a.merge.verify,
		  "merge: prove that the database holds what all held, and nothing else" },
		{ "--against", PM_OPT_STR, &a.merge.against,
		  "merge --verify: and the same evidence as this database, which one process made" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmErr err;
	int code = 0, no = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		a.n = args.list.n;
		a.verb = a.n > 0 ? args.list.v[0] : "";
		a.rest = a.n > 1 ? args.list.v[1] : "";
		if (!strcmp(a.verb, "merge"))
			take_merge(&a, args.list.v);
		if (!well_formed(&a))
			code = pm_cli_usage(
				cmd, "Say db stats, query SQL, conflicts, report or export [--evidence] [-o "
				     "FILE], "
				     "import FILE or vacuum, with --db FILE, or merge INTO FROM... [--verify "
				     "[--against ONE]].");
		else if (!strcmp(a.verb, "merge") ? merge_all(&a.merge, &no, &err) : db_run(&a, &no, &err))
			code = pm_cli_fail(&err);
		else
			code = no;
	}
	PM_VEC_RELEASE(&a.merge.from);
	PM_VEC_RELEASE(&args.list);
	return code;
}
