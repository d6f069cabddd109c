/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_trajectory.c - passmith trajectory: lists, shows, exports and replays what agents did. */
#include "cli/cmds.h"

#include "app/trajectory/export.h"
#include "app/trajectory/replay.h"
#include "app/trajectory/show.h"
#include "base/core/clean.h"
#include "base/sys/outfile.h"
#include "dataset/store/tasks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Args {
	const char *db_path, *task, *out, *format;
	PmDb *db;
	const char *id;
	PmTrajectoryFilter filter;
	PmStr task_hash;
	const char *device;
	double tolerance;
	int all, first_success, unique;
	int no; /* the answer is no: exit code 1 */
} Args;

/* ---- list ---- */

typedef struct List {
	cJSON *list; /* NULL: lines */
	int64_t n;
} List;

static PmStatus list_one(void *arg, const PmTrajectoryRow *row, PmErr *err)
{
	List *l = arg;
	PmStr line = PM_STR_INIT;

	(void)err;
	l->n++;
	if (l->list) {
		cJSON_AddItemToArray(l->list, pm_trajectory_json(row));
		return PM_OK;
	}
	pm_trajectory_line(row, &line);
	fputs(line.s, stdout);
	pm_str_release(&line);
	return PM_OK;
}

static PmStatus verb_list(Args *a, PmErr *err)
{
	List l = { pm_cli_json ? cJSON_CreateArray() : NULL, 0 };
	PmStatus st = pm_trajectories_each(a->db, &a->filter, list_one, &l, err);

	if (!st && !l.n && !l.list)
		printf("no trajectories\n");
	pm_cli_put_json(l.list);
	return st;
}

/* ---- show ---- */

static PmStatus verb_show(Args *a, PmErr *err)
{
	PmRedact *redact = pm_redact_new();
	PmSession s = { 0 };
	PmStr text = PM_STR_INIT;
	int64_t id = 0;
	PmStatus st = pm_trajectory_find(a->db, a->id, &id, err);

	if (!st)
		st = pm_session_load(a->db, id, redact, &s, err);
	if (!st && pm_cli_json) {
		pm_cli_put_json(pm_session_json(&s));
	} else if (!st) {
		pm_session_show(&s, a->all, &text);
		fputs(text.s, stdout);
	}
	pm_session_release(&s);
	pm_redact_free(redact);
	pm_str_release(&text);
	return st;
}

/* ---- export ---- */

static PmStatus write_export(const Args *a, const PmExportOpts *o, PmExported *n, PmErr *err)
{
	PmOutFile *f = NULL;
	PmStatus st = a->out ? pm_out_open(a->out, &f, err) : PM_OK;

	if (!st)
		st = pm_export(a->db, o, f, n, err);
	if (st || !f) {
		pm_out_abort(f);
		return st;
	}
	pm_cli_stage("writing");
	return pm_out_commit(f, err);
}

static PmStatus verb_export(Args *a, PmErr *err)
{
	PmExportOpts o = { .format = strcmp(a->format, "atif") == 0 ? PM_EXPORT_ATIF : PM_EXPORT_CHAT,
			   .filter = a->filter,
			   .first_success = a->first_success,
			   .unique = a->unique };
	PmExported n;
	PmStatus st = a->id ? pm_trajectory_find(a->db, a->id, &o.id, err) : PM_OK;

	if (!st && !a->out && pm_cli_json)
		st = pm_err(
			err, PM_E_INVALID,
			"An export is many lines of JSON, and --json prints one object: give -o FILE for the "
			"lines, or leave out --json.");
	if (!st)
		st = write_export(a, &o, &n, err);
	if (!st && pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "file", a->out);
		cJSON_AddStringToObject(j, "format", a->format);
		pm_json_add_i64(j, "trajectories", n.n);
		pm_json_add_i64(j, "without_success", n.no_success);
		pm_json_add_i64(j, "same_files", n.same);
		pm_json_add_i64(j, "empty", n.empty);
		pm_cli_put_json(j);
	} else if (!st && a->out) {
		printf("%s: %lld trajectories; left out: %lld without a success, %lld with the same files, "
		       "%lld "
		       "without steps\n",
		       a->out, (long long)n.n, (long long)n.no_success, (long long)n.same,
		       (long long)n.empty);
	}
	return st;
}

/* ---- replay ---- */

static void say_step(void *bar, size_t n, size_t i)
{
	if (i == 0)
		pm_progress_start(bar, "evaluating again", (int64_t)n);
	pm_progress_step(bar, NULL);
}

static void add_side(cJSON *j, const char *key, const char *verdict, double score)
{
	cJSON *side = cJSON_AddObjectToObject(j, key);

	cJSON_AddStringToObject(side, "verdict", verdict);
	if (isnan(score))
		cJSON_AddNullToObject(side, "score");
	else
		cJSON_AddNumberToObject(side, "score", score);
}

static cJSON *replay_json(int64_t id, const PmSessionReplay *r)
{
	cJSON *j = cJSON_CreateObject(), *list;

	pm_json_add_i64(j, "trajectory", id);
	pm_json_add_i64(j, "same", (int64_t)(r->list.n - r->n_different));
	pm_json_add_i64(j, "different", (int64_t)r->n_different);
	list = cJSON_AddArrayToObject(j, "submissions");
	for (size_t i = 0; i < r->list.n; i++) {
		const PmReplayedCall *c = &r->list.v[i];
		cJSON *o = cJSON_CreateObject();

		pm_json_add_i64(o, "step", c->ordinal);
		cJSON_AddStringToObject(o, "tool", c->tool);
		cJSON_AddStringToObject(o, "pass", c->pass);
		add_side(o, "recorded", c->verdict, c->score);
		add_side(o, "now", c->now_verdict, c->now_score);
		cJSON_AddBoolToObject(o, "same", c->same);
		cJSON_AddStringToObject(o, "why", c->why);
		cJSON_AddItemToArray(list, o);
	}
	return j;
}

static void say_replay(const PmSessionReplay *r)
{
	for (size_t i = 0; i < r->list.n; i++) {
		const PmReplayedCall *c = &r->list.v[i];
		PmStr line = PM_STR_INIT;
		char clean[2048];

		pm_str_addf(&line, "#%lld  %s %s  %s", (long long)c->ordinal, c->tool, c->pass, c->verdict);
		if (!isnan(c->score))
			pm_str_addf(&line, ", AS %.4g", c->score);
		pm_str_addf(&line, "  %s%s", c->same ? "the same again" : "DIFFERS: ", c->why);
		pm_clean(line.s, clean, sizeof clean, 0);
		puts(clean);
		pm_str_release(&line);
	}
	printf("%zu submissions, %zu differ\n", r->list.n, r->n_different);
}

static PmStatus verb_replay(Args *a, PmErr *err)
{
	PmSessionReplayOpts o = { a->db_path, a->device, a->tolerance, a->all };
	PmSessionReplay r = { 0 };
	PmSession s = { 0 };
	PmProgress bar = { 0 };
	int64_t id = 0;
	PmStatus st = pm_trajectory_find(a->db, a->id, &id, err);

	if (!st)
		st = pm_session_load(a->db, id, NULL, &s, err);
	if (!st)
		st = pm_session_replay(&s, &o, say_step, &bar, &r, err);
	pm_progress_end(&bar);
	if (!st && pm_cli_json)
		pm_cli_put_json(replay_json(id, &r));
	else if (!st)
		say_replay(&r);
	a->no = !st && r.n_different > 0;
	pm_session_replay_free(&r);
	pm_session_release(&s);
	return st;
}

/* ---- the verbs ---- */

enum { NO, MAYBE, YES };

static const struct {
	const char *name;
	int arg, out; /* NO, MAYBE or YES: what the verb takes */
	PmStatus (*run)(Args *a, PmErr *err);
} verbs[] = {
	{ "list", NO, NO, verb_list },
	{ "show", YES, NO, verb_show },
	{ "export", MAYBE, MAYBE, verb_export },
	{ "replay", YES, NO, verb_replay },
};

enum { N_VERBS = sizeof verbs / sizeof *verbs };

static int find_verb(const char *name)
{
	int k = 0;

	while (k < N_VERBS && strcmp(verbs[k].name, name))
		k++;
	return k;
}

static PmStatus take_hash(void *arg, const PmTaskRow *row, PmErr *err)
{
	(void)err;
	pm_str_add(arg, row->hash);
	return PM_OK;
}

/* A database may have trajectories of tasks that it does not have: then the whole hash is asked for. */
static PmStatus find_task(Args *a, PmErr *err)
{
	int64_t id;
	PmStatus st;

	if (!a->task)
		return PM_OK;
	if (strlen(a->task) == PM_SHA256_HEX - 1)
		pm_str_add(&a->task_hash, a->task);
	else if ((st = pm_task_find(a->db, a->task, &id, err)) ||
		 (st = pm_task_get(a->db, id, take_hash, &a->task_hash, err)))
		return st;
	a->filter.task = a->task_hash.s;
	return PM_OK;
}

static int run_verb(Args *a, int verb)
{
	PmErr err;
	PmStatus st;

	pm_err_init(&err);
	st = pm_db_open(a->db_path, PM_DB_MUST_EXIST, &a->db, &err);
	if (!st) {
		pm_cli_stage("working");
		st = find_task(a, &err);
	}
	if (!st)
		st = verbs[verb].run(a, &err);
	pm_db_close(a->db);
	pm_str_release(&a->task_hash);
	return st ? pm_cli_fail(&err) : a->no;
}

static int fits(int wants, int given)
{
	return wants == MAYBE || given == (wants == YES);
}

int pm_cmd_trajectory(const PmCmd *cmd, int argc, char **argv)
{
	Args a = { .format = "chat",
		   .filter = { .above = NAN },
		   .task_hash = PM_STR_INIT,
		   .tolerance = PM_REPLAY_TOLERANCE };
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &a.db_path, "the database" },
		{ "--task", PM_OPT_STR, &a.task, "TASK  list, export: only of this task" },
		{ "--model", PM_OPT_STR, &a.filter.model,
		  "NAME  list, export: only of this model or client" },
		{ "--kind", PM_OPT_STR, &a.filter.kind, "KIND  list, export: mcp or agent only" },
		{ "--experiment", PM_OPT_STR, &a.filter.experiment,
		  "NAME  list, export: only of this experiment" },
		{ "--above", PM_OPT_NUM, &a.filter.above,
		  "AS  list, export: only with a best AS above this" },
		{ "--format", PM_OPT_STR, &a.format,
		  "FORMAT  export: chat, messages for fine-tuning (default), or atif, ATIF-v1.7" },
		{ "--first-success", PM_OPT_FLAG, &a.first_success,
		  "export: only those that were right once, without what came after" },
		{ "--unique", PM_OPT_FLAG, &a.unique,
		  "export: of those of one task that end with the same files only the best" },
		{ "-o", PM_OPT_STR, &a.out, "FILE  export: where to (default: stdout)" },
		{ "--all", PM_OPT_FLAG, &a.all,
		  "show: all lines of messages, answers and files; replay: evaluations without a score too" },
		PM_OPT_TARGET_ROW(NULL),
		{ "--device", PM_OPT_DEVICE, &a.device,
		  "replay: where to run: emu or cuda (default: where it ran)" },
		{ "--tolerance", PM_OPT_NUM, &a.tolerance,
		  "X  replay: scores differ when they are further apart than this share of the larger, or of "
		  "1 (default 0.05)" },
		{ 0 },
	};
	PmStrList args = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &args, &code)) {
		int verb = args.list.n ? find_verb(args.list.v[0]) : N_VERBS;

		a.id = args.list.n > 1 ? args.list.v[1] : NULL;
		if (verb == N_VERBS || args.list.n > 2 || !fits(verbs[verb].arg, a.id != NULL) ||
		    !fits(verbs[verb].out, a.out != NULL) || !a.db_path)
			code = pm_cli_usage(cmd,
					    "Say trajectory list, show ID or export [ID] [-o FILE], with "
					    "--db FILE.");
		else if (strcmp(a.format, "chat") && strcmp(a.format, "atif"))
			code = pm_cli_usage(cmd, "--format takes chat or atif.");
		else if (a.filter.kind && strcmp(a.filter.kind, "mcp") && strcmp(a.filter.kind, "agent"))
			code = pm_cli_usage(cmd, "--kind takes mcp or agent.");
		else
			code = run_verb(&a, verb);
	}
	PM_VEC_RELEASE(&args.list);
	return code;
}
