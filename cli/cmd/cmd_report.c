/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - passmith report: a database as pages that a browser shows. */
#include "app/report/report.h"
#include "cli/cmds.h"

#include <stdio.h>

static void put(const char *out, const PmReportDone *d)
{
	cJSON *j;

	if (!pm_cli_json) {
		printf("wrote %s: %zu ranking%s, %zu task%s, %zu system%s", out, d->n_boards,
		       d->n_boards == 1 ? "" : "s", d->n_tasks, d->n_tasks == 1 ? "" : "s", d->n_systems,
		       d->n_systems == 1 ? "" : "s");
		if (d->n_pages)
			printf(", and a page for each task");
		printf("; %lld bytes\n", (long long)d->bytes);
		return;
	}
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "report", out);
	pm_json_add_i64(j, "rankings", (int64_t)d->n_boards);
	pm_json_add_i64(j, "tasks", (int64_t)d->n_tasks);
	pm_json_add_i64(j, "systems", (int64_t)d->n_systems);
	pm_json_add_i64(j, "pages", (int64_t)d->n_pages);
	pm_json_add_i64(j, "bytes", d->bytes);
	pm_cli_put_json(j);
}

int pm_cmd_report(const PmCmd *cmd, int argc, char **argv)
{
	PmReportOpts o = { .out = NULL };
	const char *path = NULL;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &path, "the database" },
		{ "--times", PM_OPT_STR, &o.times,
		  "a file of times in place of the database, as docs/results/h200_systems.json" },
		{ "-o", PM_OPT_STR, &o.out, "the file to write, NAME.html" },
		{ "--pages", PM_OPT_FLAG, &o.pages,
		  "a page for each task in NAME.tasks; without it one file, up to 5 MB" },
		{ 0 },
	};
	PmStrList args = { 0 };
	PmReportDone done;
	PmProgress bar;
	PmDb *db = NULL;
	PmDbStats s = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		pm_cli_stage("reading");
		if (!path == !o.times || !o.out || args.list.n) {
			pm_cli_stage("arguments");
			code = pm_cli_usage(cmd, "report needs --db FILE or --times FILE, and -o NAME.html, "
						 "and takes no other argument.");
		} else if (path &&
			   (pm_db_open(path, PM_DB_MUST_EXIST, &db, &err) || pm_db_stats(db, &s, &err))) {
			code = pm_cli_fail(&err);
		} else {
			o.step = pm_cli_quiet ? NULL : pm_cli_step;
			o.arg = &bar;
			if (!pm_cli_quiet)
				pm_progress_start(&bar, "reading tasks", s.tasks);
			if (pm_report_write(db, &o, &done, &err))
				code = pm_cli_fail(&err);
			if (!pm_cli_quiet)
				pm_progress_end(&bar);
			if (!code)
				put(o.out, &done);
		}
	}
	pm_db_close(db);
	PM_VEC_RELEASE(&args.list);
	return code;
}
