/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - passmith check and passmith explain: what a pass is, where it matches, and why not. */
#include "cli/cmds.h"

#include "app/eval/variant_list.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "dataset/pack/pack.h"
#include "matcher/host/pass_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_one(const char *path, double deadline, cJSON *list)
{
	PmPassOpts opts = { .seconds = deadline };
	PmPassOutcome o = { 0 };
	PmErr err;
	int ok;

	pm_err_init(&err);
	if (pm_cli_pass_is_there(path, &err) || pm_pass_lint(path, &opts, &o, &err)) {
		pm_pass_outcome_release(&o);
		return pm_cli_fail(&err);
	}
	ok = o.verdict == PM_VERDICT_OK;
	if (list) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "file", path);
		pm_pass_outcome_json(&o, j);
		cJSON_AddItemToArray(list, j);
	} else {
		printf("%s: %s", path, pm_verdict_name(o.verdict));
		if (ok)
			printf(" (%s %s, %zu rule%s)", o.plugin, o.version, o.n_rules,
			       o.n_rules == 1 ? "" : "s");
		printf("\n");
		for (size_t i = 0; i < o.n_rules && ok; i++)
			printf("  %s: %s\n    %s\n", o.rule[i].stats.name, o.rule[i].doc ? o.rule[i].doc : "",
			       o.rule[i].pattern && *o.rule[i].pattern ? o.rule[i].pattern : "(region rule)");
		if (!ok && o.verdict != PM_VERDICT_REJECT_LINT) /* the first of whose problems it repeats */
			printf("  %s\n", o.message);
		if (pm_pass_outcome_says_more(&o))
			printf("%s%s", o.problems, o.problems[strlen(o.problems) - 1] == '\n' ? "" : "\n");
	}
	pm_pass_outcome_release(&o);
	return ok ? 0 : 1;
}

int pm_cmd_check(const PmCmd *cmd, int argc, char **argv)
{
	double deadline = 10;
	const PmOpt opts[] = {
		{ "--deadline", PM_OPT_NUM, &deadline, "seconds the pass may take (default 10)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;

		if (!files.list.n)
			code = pm_cli_usage(cmd, "No pass was given.");
		for (size_t i = 0; i < files.list.n; i++) {
			int one = check_one(files.list.v[i], deadline, list);

			code = one > code ? one : code;
		}
		if (list)
			pm_cli_put_json(list);
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}

typedef struct Explain {
	const char *rule, *db_path, *trials_path;
	const PmTarget **trial; /* owned, and what they are */
	size_t n_trials;
	double deadline;
	int64_t seed, variant; /* -1: not given */
	int variants;
	PmStrList passes;
	PmVariantList variant_list;
	PmDb *db;
	cJSON *list;
} Explain;

static int explain_one(const Explain *e, const PmTaskVariant *m, const char *so)
{
	PmPassOpts opts = {
		.seconds = e->deadline, .only_rule = e->rule, .trial = e->trial, .n_trials = e->n_trials
	};
	PmPassOutcome o = { 0 };
	PmStr text = PM_STR_INIT;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_cli_pass_is_there(so, &err) || pm_pass_explain(so, m->g, &opts, &o, &text, &err)) {
		code = pm_cli_fail(&err);
	} else if (e->list) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "pass", so);
		cJSON_AddStringToObject(j, "variant", m->label);
		pm_json_add_i64(j, "number", m->ordinal);
		pm_pass_outcome_json(&o, j);
		cJSON_AddItemToArray(e->list, j);
	} else {
		if (e->variant_list.list.n > 1 || e->variant >= 0)
			printf("variant %lld (%s)\n", (long long)m->ordinal, m->label);
		printf("%s: %s\n%s", so, pm_verdict_name(o.verdict), text.s);
	}
	if (!code && o.verdict != PM_VERDICT_OK)
		code = 1;
	pm_pass_outcome_release(&o);
	pm_str_release(&text);
	return code;
}

/* A model whose sizes are not known can be matched, though not run. */
static PmStatus as_written(Explain *e, const char *path, PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, NULL, err);

	if (!st)
		PM_VEC_PUSH(&e->variant_list.list,
			    ((PmTaskVariant){ pm_xstrdup("as written"), g, 0, 0, PM_F32 }));
	return st;
}

static PmStatus find_variants(Explain *e, const char *target, PmErr *err)
{
	PmStatus st;

	if (e->db_path) {
		st = pm_db_open(e->db_path, PM_DB_MUST_EXIST, &e->db, err);
		st = st ? st : pm_variant_list_of_task(e->db, target, &e->variant_list, err);
	} else if (pm_pack_is(target)) {
		st = pm_variant_list_of_pack(target, &e->variant_list, err);
	} else if (e->variants || e->variant >= 0) {
		st = pm_cli_variants(target, 1, (uint64_t)e->seed, &e->variant_list, err);
	} else {
		st = as_written(e, target, err);
	}
	return st;
}

/* A list of objects, each with the constants that differ in that trial. */
static PmStatus read_trials(Explain *e, PmErr *err)
{
	PmMap file = { 0 };
	cJSON *list = NULL;
	const cJSON *x;
	PmStatus st = pm_map_file(e->trials_path, &file, err);
	int n;

	if (!st)
		st = pm_json_parse(file.p, file.n, &list, err);
	n = cJSON_GetArraySize(list);
	if (!st && (!cJSON_IsArray(list) || n > PM_MAX_TRIALS))
		st = pm_err(err, PM_E_INVALID,
			    "%s is no list of at most %d objects such as {\"launch_us\": 2.1}.",
			    e->trials_path, (int)PM_MAX_TRIALS);
	e->trial = pm_xcalloc((size_t)(n > 0 ? n : 0) + 1, sizeof *e->trial);
	cJSON_ArrayForEach(x, list)
	{
		PmTarget *t = NULL;

		if (!st && (st = pm_target_changed(pm_target_now(), x, &t, err)))
			pm_err_ctx(err, "%s", e->trials_path);
		if (!st)
			e->trial[e->n_trials++] = t;
	}
	cJSON_Delete(list);
	pm_unmap(&file);
	return st;
}

/* 1 when this variant was asked for. */
static int is_wanted(const Explain *e, const PmTaskVariant *m)
{
	return e->variant < 0 || m->ordinal == e->variant;
}

static int explain_all(Explain *e, const char *target)
{
	PmErr err;
	size_t found = 0;
	int code = 0;

	pm_err_init(&err);
	if ((e->trials_path && read_trials(e, &err)) || find_variants(e, target, &err))
		return pm_cli_fail(&err);
	for (size_t k = 0; k < e->variant_list.list.n; k++)
		found += (size_t)is_wanted(e, &e->variant_list.list.v[k]);
	if (!found) {
		pm_err(&err, PM_E_NOT_FOUND, "%s has no variant %lld; explain --variants lists %zu.", target,
		       (long long)e->variant, e->variant_list.list.n);
		return pm_cli_fail(&err);
	}
	e->list = pm_cli_json ? cJSON_CreateArray() : NULL;
	for (size_t i = 0; i < e->passes.list.n; i++)
		for (size_t k = 0; k < e->variant_list.list.n; k++) {
			int one = is_wanted(e, &e->variant_list.list.v[k])
					  ? explain_one(e, &e->variant_list.list.v[k], e->passes.list.v[i])
					  : 0;

			code = one > code ? one : code;
		}
	if (e->list)
		pm_cli_put_json(e->list);
	return code;
}

int pm_cmd_explain(const PmCmd *cmd, int argc, char **argv)
{
	Explain e = { .deadline = 30, .variant = -1 };
	PmStrList files = { 0 };
	const PmOpt opts[] = {
		{ "--pass", PM_OPT_LIST, &e.passes, "the pass (may be given several times)" },
		{ "--rule", PM_OPT_STR, &e.rule, "only this rule" },
		{ "--variants", PM_OPT_FLAG, &e.variants,
		  "with a model: each of its variants, as eval --variants makes them" },
		{ "--variant", PM_OPT_COUNT, &e.variant,
		  "only the variant with this number, as --variants lists them" },
		{ "--seed", PM_OPT_INT, &e.seed, "of the shapes of --variants and --variant (default 0)" },
		{ "--db", PM_OPT_STR, &e.db_path, "database that holds the task whose variants are meant" },
		PM_OPT_TARGET_ROW(NULL),
		{ "--trials", PM_OPT_STR, &e.trials_path,
		  "FILE  a list of objects of constants of the target: with --json also what the pass "
		  "expects under each" },
		{ "--deadline", PM_OPT_NUM, &e.deadline, "seconds each pass may take (default 30)" },
		{ 0 },
	};
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n != 1 || !e.passes.list.n)
			code = pm_cli_usage(cmd,
					    "explain takes one model, pack or task and at least one --pass.");
		else
			code = explain_all(&e, files.list.v[0]);
	}
	for (size_t i = 0; i < e.n_trials; i++)
		free(pm_unconst(e.trial[i]));
	free(e.trial);
	pm_variant_list_release(&e.variant_list);
	pm_db_close(e.db);
	PM_VEC_RELEASE(&files.list);
	PM_VEC_RELEASE(&e.passes.list);
	return code;
}
