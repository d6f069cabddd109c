/* cmd_eval.c - passmith eval: scores passes on a task, resuming what a database already holds. */
#include "cli/cmds.h"

#include "base/io.h"
#include "bench/report.h"
#include "cli/eval_task.h"
#include "cli/record.h"
#include "dataset/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Eval {
	const char *target, *db_path, *json_out, *preset, *replay_path, *record_path, *key_path;
	PmReplayFile replay;
	PmStrList passes;
	PmEvalOpts opts;
	int64_t seed, hidden;
	int variants, summary, tf32, confirm, strong, weak;
	PmDb *db;
	PmMembers members;
	PmProgress bar;
} Eval;

/* ---- all of them ---- */

static PmStatus find_members(Eval *e, PmErr *err)
{
	int pack = pm_pack_is(e->target);

	if (e->db_path) { /* a pack becomes a stored task, so that its results are kept */
		char id[24];
		int64_t task;
		PmStatus st = pm_db_open(e->db_path, pack ? 0 : PM_DB_MUST_EXIST, &e->db, err);

		if (!st && pack && !(st = pm_pack_unpack(e->target, e->db, &task, NULL, err)))
			snprintf(id, sizeof id, "%lld", (long long)task);
		return st ? st : pm_members_of_task(e->db, pack ? id : e->target, &e->members, err);
	}
	if (pack)
		return pm_members_of_pack(e->target, &e->members, err);
	if (!pm_path_exists(e->target))
		return pm_err(err, PM_E_NOT_FOUND,
			      "There is no model file %s; for a stored task give --db FILE too.", e->target);
	if (pm_path_is_dir(e->target))
		return pm_err(
			err, PM_E_INVALID,
			"The folder %s is no pack, for it holds no task.json; name one of the folders that "
			"passmith task pack wrote below its -o.",
			e->target);
	return pm_members_of_model(e->target, e->variants, (uint64_t)e->seed, &e->members, err);
}

/* Verdicts that may come from what was drawn. */
static int can_be_repeated(const PmEvalReport *r)
{
	int any = r->hidden.verdict != PM_VERDICT_OK;

	for (size_t i = 0; i < r->n; i++)
		any |= r->rec[i].n_kernels > 0 && r->rec[i].verdict != PM_VERDICT_OK;
	return any && !r->replayed;
}

/* The command that sees the same failures again. */
static void say_replay(const Eval *e, const PmEvalReport *r, size_t n, PmStr *out)
{
	int any = 0;

	for (size_t i = 0; i < n; i++)
		any |= can_be_repeated(&r[i]);
	if (!any)
		return;
	if (e->json_out)
		pm_str_addf(out,
			    "\nInputs are drawn anew each time; --replay %s, with the same command, draws "
			    "these again.\n",
			    e->json_out);
	else
		pm_str_add(out,
			   "\nInputs are drawn anew each time; give -o REPORT, and later --replay REPORT "
			   "draws the same again.\n");
}

static PmStatus put_record(const Eval *e, const cJSON *reports, PmErr *err)
{
	PmRecordOpts o = {
		.hidden = e->hidden, .tf32 = e->tf32, .graphs = e->opts.graphs, .confirm = e->confirm
	};
	PmStatus st = pm_record_write(e->record_path, e->key_path, reports, &e->members, &o, err);

	if (!st && !pm_cli_json)
		printf("Record: %s (passmith verify checks it)\n", e->record_path);
	return st;
}

static PmStatus put_results(Eval *e, const PmEvalReport *r, size_t n, PmErr *err)
{
	cJSON *list = cJSON_CreateArray();
	PmStr text = PM_STR_INIT, table = PM_STR_INIT;
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n; i++) {
		cJSON_AddItemToArray(list, pm_eval_report_json(&r[i], e->target));
		if (!e->summary)
			pm_eval_report_table(&r[i], &table);
	}
	pm_json_print(list, 1, &text);
	if (!pm_cli_json) {
		if (!e->summary)
			pm_str_addc(&table, '\n');
		pm_eval_summary_table(r, n, &table);
		say_replay(e, r, n, &table);
		fputs(table.s, stdout);
	}
	pm_cli_stage("writing");
	if (e->json_out)
		st = pm_write_file(e->json_out, text.s, text.len, err);
	if (!st && e->json_out && !pm_cli_json)
		printf("JSON: %s\n", e->json_out);
	if (!st && e->record_path)
		st = put_record(e, list, err);
	pm_cli_put_json(list);
	pm_str_release(&text);
	pm_str_release(&table);
	return st;
}

/* After an error: the reports of the passes that are finished, and of the one at hand the records that are.
 */
static void put_finished(const Eval *e, const PmEvalReport *r, size_t done, const char *have)
{
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "results"), *part, *records;

	for (size_t i = 0; i < done; i++)
		cJSON_AddItemToArray(list, pm_eval_report_json(&r[i], e->target));
	if (r[done].n) {
		part = cJSON_AddObjectToObject(j, "unfinished");
		cJSON_AddStringToObject(part, "pass", e->passes.list.v[done]);
		records = cJSON_AddArrayToObject(part, "records");
		for (size_t k = 0; k < r[done].n; k++)
			if (have[k])
				cJSON_AddItemToArray(records, pm_eval_record_json(&r[done].rec[k]));
	}
	pm_cli_put_json(j);
}

static PmStatus eval_all(Eval *e, int *all_ok, PmErr *err)
{
	size_t n = e->passes.list.n, done = 0;
	char *have = NULL;
	PmEvalReport *r = pm_xcalloc(n + 1, sizeof *r);
	PmStatus st = find_members(e, err);
	PmEvalTask task = { .db = e->db,
			    .members = &e->members,
			    .opts = e->opts,
			    .preset = e->preset,
			    .tf32 = e->tf32,
			    .hidden = (int)e->hidden,
			    .replay = e->replay_path ? &e->replay : NULL,
			    .bar = &e->bar };

	if (!st && e->key_path)
		st = pm_record_try_key(e->key_path, err);
	if (!st && e->replay_path)
		st = pm_replay_open(e->replay_path, &e->replay, err);
	if (!st && !e->members.list.n)
		st = pm_err(err, PM_E_NOT_FOUND, "%s gives no variant to evaluate.", e->target);
	if (!st && !pm_cli_quiet)
		pm_progress_start(&e->bar, "evaluating", (int64_t)(n * e->members.list.n));
	have = pm_xcalloc(e->members.list.n + 1, 1);
	if (!st)
		pm_cli_stage("working");
	for (; done < n && !st; done += !st)
		st = pm_eval_task(&task, e->passes.list.v[done], &r[done], have, err);
	pm_progress_end(&e->bar);
	if (!st)
		st = put_results(e, r, n, err);
	else
		put_finished(e, r, done, have);
	free(have);
	*all_ok = 1;
	for (size_t i = 0; i < n; i++) {
		*all_ok = *all_ok && r[i].hidden.verdict == PM_VERDICT_OK;
		for (size_t k = 0; k < r[i].n; k++)
			*all_ok = *all_ok && r[i].rec[k].verdict == PM_VERDICT_OK;
		pm_eval_report_release(&r[i]);
	}
	free(r);
	return st;
}

int pm_cmd_eval(const PmCmd *cmd, int argc, char **argv)
{
	Eval e = { .opts = { .device = "emu" }, .hidden = PM_HIDDEN_SHAPES, .preset = "sound" };
	const char *lane = "strict";
	const PmOpt opts[] = {
		{ "--pass", PM_OPT_LIST, &e.passes, "a pass (may be given several times)" },
		{ "--db", PM_OPT_STR, &e.db_path,
		  "database that holds the task; results are kept and resumed" },
		{ "--device", PM_OPT_DEVICE, &e.opts.device, "emu (times are modelled) or cuda" },
		{ "--profile", PM_OPT_PROFILE, &e.opts.profile,
		  "device whose time is modelled (default h200)" },
		{ "--preset", PM_OPT_STR, &e.preset,
		  "sound (default) or passnet: how closeness and scores count" },
		{ "--lane", PM_OPT_STR, &lane,
		  "strict (default), tf32 or bf16: how exact results have to be" },
		{ "--seed", PM_OPT_INT, &e.seed,
		  "of the shapes of --variants, and of what is resumed (default 0); of nothing secret" },
		{ "--hidden", PM_OPT_INT, &e.hidden,
		  "shapes that are drawn now, on which the pass has to be right too (default 2)" },
		{ "--replay", PM_OPT_STR, &e.replay_path,
		  "a report (-o): draws the same again; the result has no score and is not stored" },
		{ "--variants", PM_OPT_FLAG, &e.variants, "with a model: also its other shapes and dtypes" },
		{ "--check-only", PM_OPT_FLAG, &e.opts.check_only,
		  "say whether it is right, and take no times: without --db and --record" },
		{ "--summary", PM_OPT_FLAG, &e.summary, "one line per pass only" },
		{ "--graphs", PM_OPT_FLAG, &e.opts.graphs,
		  "cuda: every call of both sides replays its launches as one CUDA graph" },
		{ "--tf32", PM_OPT_FLAG, &e.tf32, "cuda: let libraries of the baseline use TF32 for float" },
		{ "--require-sandbox", PM_OPT_FLAG, &e.strong,
		  "only where no layer of the sandbox is missing (default with --db and --record)" },
		{ "--weak-sandbox", PM_OPT_FLAG, &e.weak,
		  "with --db or --record: also where a layer is missing; the result says so" },
		{ "--confirm", PM_OPT_FLAG, &e.confirm,
		  "cuda: what is faster is measured again, with other inputs; two runs must agree" },
		{ "-o", PM_OPT_STR, &e.json_out, "also write the JSON report to this file" },
		{ "--record", PM_OPT_STR, &e.record_path,
		  "also write a sealed record, which passmith verify checks anywhere" },
		{ "--sign-key", PM_OPT_STR, &e.key_path,
		  "sign the record with this key (passmith verify --new-key makes one)" },
		{ 0 },
	};
	PmStrList targets = { 0 };
	PmErr err;
	int code = 0, all_ok = 1;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &targets, &code)) {
		/* Who may compute less exactly is measured against a baseline that may. */
		e.tf32 |= pm_lane_from_name(lane, &e.opts.lane) && e.opts.lane > PM_LANE_STRICT;
		e.opts.seed = (uint64_t)e.seed;
		e.opts.require_sandbox = e.strong || ((e.db_path || e.record_path) && !e.weak);
		e.opts.confirm_above = e.confirm ? 1 : 0;
		e.opts.preset = !strcmp(e.preset, "passnet") ? PM_PRESET_PASSNET : PM_PRESET_SOUND;
		if (targets.list.n != 1 || !e.passes.list.n) {
			code = pm_cli_usage(cmd,
					    "eval takes one task, pack or model and at least one --pass.");
		} else if (strcmp(e.preset, "passnet") && strcmp(e.preset, "sound")) {
			code = pm_cli_usage(cmd, "There is no preset '%.40s'; sound and passnet exist.",
					    e.preset);
		} else if (e.opts.check_only && (e.db_path || e.record_path)) {
			code = pm_cli_usage(
				cmd, "What was not timed is not stored: leave out --check-only, or --db "
				     "and --record.");
		} else if ((e.record_path && e.replay_path) || (e.key_path && !e.record_path)) {
			code = pm_cli_usage(cmd, "%s",
					    e.replay_path ? "What is replayed has no score, and so no "
							    "record: leave out --replay or --record."
							  : "--sign-key signs the file of --record: "
							    "give both.");
		} else if (e.strong && e.weak) {
			code = pm_cli_usage(cmd, "Give --require-sandbox or --weak-sandbox, not both.");
		} else if (e.hidden < 0 || e.hidden > PM_MAX_HIDDEN_SHAPES) {
			code = pm_cli_usage(cmd, "--hidden takes a number from 0 to %d.",
					    PM_MAX_HIDDEN_SHAPES);
		} else if (!pm_lane_from_name(lane, &e.opts.lane)) {
			code = pm_cli_usage(cmd, "There is no lane '%.40s'; strict, tf32 and bf16 exist.",
					    lane);
		} else {
			e.target = targets.list.v[0];
			pm_cli_libraries(e.opts.device, e.tf32);
			code = eval_all(&e, &all_ok, &err) ? pm_cli_fail(&err) : !all_ok;
		}
	}
	pm_replay_release(&e.replay);
	pm_members_release(&e.members);
	pm_db_close(e.db);
	PM_VEC_RELEASE(&e.passes.list);
	PM_VEC_RELEASE(&targets.list);
	return code;
}
