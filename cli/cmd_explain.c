/* cmd_explain.c - passmith check and passmith explain: what a pass is, where it matches, and why not. */
#include "cli/cmds.h"

#include "base/str.h"
#include "matcher/pass_host.h"

#include <stdio.h>
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
		if (o.problems && *o.problems)
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

static int explain_one(const PmGraph *g, const char *so, const char *rule, double deadline, cJSON *list)
{
	PmPassOpts opts = { .seconds = deadline, .only_rule = rule };
	PmPassOutcome o = { 0 };
	PmStr text = PM_STR_INIT;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_cli_pass_is_there(so, &err) || pm_pass_explain(so, g, &opts, &o, &text, &err)) {
		code = pm_cli_fail(&err);
	} else if (list) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "pass", so);
		pm_pass_outcome_json(&o, j);
		cJSON_AddItemToArray(list, j);
	} else {
		printf("%s: %s\n%s", so, pm_verdict_name(o.verdict), text.s);
	}
	if (!code && o.verdict != PM_VERDICT_OK)
		code = 1;
	pm_pass_outcome_release(&o);
	pm_str_release(&text);
	return code;
}

int pm_cmd_explain(const PmCmd *cmd, int argc, char **argv)
{
	const char *rule = NULL;
	double deadline = 30;
	PmStrList passes = { 0 }, files = { 0 };
	const PmOpt opts[] = {
		{ "--pass", PM_OPT_LIST, &passes, "the pass (may be given several times)" },
		{ "--rule", PM_OPT_STR, &rule, "only this rule" },
		{ "--deadline", PM_OPT_NUM, &deadline, "seconds each pass may take (default 30)" },
		{ 0 },
	};
	PmGraph *g = NULL;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n != 1 || !passes.list.n) {
			code = pm_cli_usage(cmd, "explain takes one model and at least one --pass.");
		} else if (pm_cli_load(files.list.v[0], &g, NULL, &err)) {
			code = pm_cli_fail(&err);
		} else {
			cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;

			for (size_t i = 0; i < passes.list.n; i++) {
				int one = explain_one(g, passes.list.v[i], rule, deadline, list);

				code = one > code ? one : code;
			}
			if (list)
				pm_cli_put_json(list);
		}
	}
	pm_graph_free(g);
	PM_VEC_RELEASE(&files.list);
	PM_VEC_RELEASE(&passes.list);
	return code;
}
