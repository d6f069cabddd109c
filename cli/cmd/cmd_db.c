/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_db.c - passmith db: counts, questions in SQL, a report, JSON Lines out and in, merging, shrinking. */
#include "cli/cmds.h"

#include "app/store/db_report.h"
#include "base/core/renamed.h"
#include "base/sys/io.h"
#include "dataset/store/jsonl.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct Args {
	const char *verb, *db_path, *rest, *out;
	size_t n; /* positional arguments, the verb included */
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

static PmStatus db_export(PmDb *db, const char *out, PmErr *err)
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
		return pm_db_export(db, stdout, err);
	pm_str_addf(&tmp, "%s.tmp", out);
	f = fopen(tmp.s, "w");
	st = f ? pm_db_export(db, f, err) : pm_path_error("write", tmp.s, 1, err);
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

static PmStatus db_merge(PmDb *db, const char *path, PmErr *err)
{
	PmDb *from = NULL;
	int64_t n = 0;
	PmStatus st = pm_db_open(path, PM_DB_MUST_EXIST, &from, err);

	if (!st)
		st = pm_db_merge(db, from, &n, err);
	pm_db_close(from);
	if (!st)
		say_lines(path, n);
	return st;
}

static PmStatus db_report(PmDb *db, const char *out, PmErr *err)
{
	PmStr page = PM_STR_INIT;
	PmStatus st = pm_db_report(db, &page, err);

	if (!st && out)
		st = pm_write_file(out, page.s, page.len, err);
	if (!st && pm_cli_json)
		pm_cli_put_text(out ? "file" : "html", out ? out : page.s);
	else if (!st && !out)
		fwrite(page.s, 1, page.len, stdout);
	pm_str_release(&page);
	return st;
}

static PmStatus db_run(const Args *a, PmErr *err)
{
	int makes = !strcmp(a->verb, "import") || !strcmp(a->verb, "merge");
	PmDb *db = NULL;
	PmStatus st = pm_db_open(a->db_path,
				 makes                       ? 0
				 : !strcmp(a->verb, "query") ? PM_DB_READ_ONLY
							     : PM_DB_MUST_EXIST,
				 &db, err);

	if (st)
		return st;
	if (!strcmp(a->verb, "stats"))
		st = db_stats(db, err);
	else if (!strcmp(a->verb, "query"))
		st = db_query(db, a->rest, err);
	else if (!strcmp(a->verb, "report"))
		st = db_report(db, a->out, err);
	else if (!strcmp(a->verb, "export"))
		st = db_export(db, a->out, err);
	else if (!strcmp(a->verb, "import"))
		st = db_import(db, a->rest, err);
	else if (!strcmp(a->verb, "merge"))
		st = db_merge(db, a->rest, err);
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
	} verbs[] = { { "stats", 0, 0 }, { "vacuum", 0, 0 }, { "export", 0, 1 }, { "report", 0, 1 },
		      { "query", 1, 0 }, { "import", 1, 0 }, { "merge", 1, 0 } };

	for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++)
		if (!strcmp(a->verb, verbs[k].verb))
			return a->n == 1u + (size_t)verbs[k].arg && (!a->out || verbs[k].out);
	return 0;
}

int pm_cmd_db(const PmCmd *cmd, int argc, char **argv)
{
	Args a = { .verb = "" };
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &a.db_path, "the database" },
		{ "-o", PM_OPT_STR, &a.out, "export, report: the file to write (default: standard output)" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		a.n = args.list.n;
		a.verb = a.n > 0 ? args.list.v[0] : "";
		a.rest = a.n > 1 ? args.list.v[1] : "";
		if (!a.db_path || !well_formed(&a))
			code = pm_cli_usage(
				cmd,
				"Say db stats, query SQL, report or export [-o FILE], import FILE, merge "
				"OTHER.db or vacuum, with --db FILE.");
		else if (db_run(&a, &err))
			code = pm_cli_fail(&err);
	}
	PM_VEC_RELEASE(&args.list);
	return code;
}
