/* SPDX-License-Identifier: Apache-2.0 */
/* tool_pass.c - build, check, evaluate, submit: what is done with a pass, in children. */
#include "app/tools/tools_priv.h"

#include <stdio.h>
#include <string.h>

/* ---- what commands answer ---- */

/* A command that could not do its work. NULL when it could. */
static const char *error_of(const cJSON *j)
{
	return pm_json_str(j, "error", NULL);
}

/* ---- build ---- */

static void built(PmTools *t, PmToolRun *r, const cJSON *j)
{
	pm__run_keep(r, j);
	if (!cJSON_HasObjectItem(j, "ok"))
		pm__run_fail(t, r, "%s", error_of(j) ? error_of(j) : "The build gave no answer.");
	else
		pm__run_answer(t, r, pm__build_answer(t, j, NULL), 0);
}

/* A run of a tool that begins with the pass of its arguments. */
static cJSON *begin(PmTools *t, const char *tool, const cJSON *args, int always, PmRunNext then,
		    PmToolRun **run, int *is_error)
{
	cJSON *fail = NULL;
	PmErr err;

	pm_err_init(&err);
	*run = pm__run_new(t, tool, args, &fail, is_error);
	if (*run && pm__with_pass(t, *run, always, then, &err))
		pm__run_fail(t, *run, "%s", err.text);
	return fail;
}

cJSON *pm__tool_build(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	return begin(t, "build", args, 1, built, run, is_error);
}

/* ---- check ---- */

static void checked(PmTools *t, PmToolRun *r, const cJSON *j)
{
	const cJSON *one = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "results"), 0), *rule;
	const char *verdict = pm_json_str(one, "verdict", "");
	cJSON *a, *rules;

	if (!one) {
		pm__run_fail(t, r, "%s", error_of(j) ? error_of(j) : "The check gave no answer.");
		return;
	}
	pm__run_keep(r, one);
	a = cJSON_CreateObject();
	cJSON_AddBoolToObject(a, "ok", !strcmp(verdict, "OK"));
	pm__json_copy(a, one, "verdict");
	cJSON_AddStringToObject(a, "why", pm_json_str(one, "message", ""));
	pm__json_copy(a, one, "problems");
	pm__json_copy(a, one, "output");
	pm__json_copy(a, one, "plugin");
	rules = cJSON_AddArrayToObject(a, "rules");
	cJSON_ArrayForEach(rule, cJSON_GetObjectItemCaseSensitive(one, "rules"))
	{
		cJSON *x = cJSON_CreateObject();

		pm__json_copy(x, rule, "name");
		pm__json_copy(x, rule, "doc");
		pm__json_copy(x, rule, "pattern");
		cJSON_AddItemToArray(rules, x);
	}
	cJSON_AddStringToObject(a, "next",
				strcmp(verdict, "OK")
					? "Mend what problems say (show_api with the verdict explains it)."
					: "explain says where it matches; evaluate judges it.");
	pm__run_answer(t, r, a, 0);
}

static void check(PmTools *t, PmToolRun *r, const cJSON *j)
{
	const char *argv[] = { "check", r->so.s, NULL };

	(void)j;
	pm__run_start(t, r, argv, checked);
}

cJSON *pm__tool_check(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	return begin(t, "check", args, 0, check, run, is_error);
}

/* ---- profile and disassemble ---- */

/* What is not an answer of the profiler itself: 1, and the run has ended. */
static int profile_failed(PmTools *t, PmToolRun *r, const cJSON *j)
{
	cJSON *a;

	if (!cJSON_HasObjectItem(j, "verdict")) {
		pm__run_fail(t, r, "%s", error_of(j) ? error_of(j) : "The profile has no answer.");
		return 1;
	}
	pm__run_keep(r, j);
	if (cJSON_HasObjectItem(j, "kernels"))
		return 0;
	a = cJSON_CreateObject();
	pm__json_copy(a, j, "verdict");
	cJSON_AddStringToObject(a, "why", pm_json_str(j, "message", ""));
	cJSON_AddStringToObject(a, "next", "There is no kernel to look at: evaluate says what is wrong.");
	pm__run_answer(t, r, a, 0);
	return 1;
}

static void profiled(PmTools *t, PmToolRun *r, const cJSON *j)
{
	static const char *const same[] = { "verdict",           "device", "target", "modelled", "measured",
					    "hardware_counters", "absent", "kernels" };
	cJSON *a;

	if (profile_failed(t, r, j))
		return;
	a = cJSON_CreateObject();
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		pm__json_copy(a, j, same[i]);
	cJSON_AddStringToObject(a, "variant", r->label.len ? r->label.s : pm_json_str(j, "variant", ""));
	pm__run_answer(t, r, a, 0);
}

static void disassembled(PmTools *t, PmToolRun *r, const cJSON *j)
{
	static const char *const same[] = { "registers",    "local_bytes", "sass",
					    "sass_missing", "ptx",         "missing" };
	cJSON *a, *list;
	const cJSON *k;

	if (profile_failed(t, r, j))
		return;
	a = cJSON_CreateObject();
	pm__json_copy(a, j, "verdict");
	pm__json_copy(a, j, "target");
	list = cJSON_AddArrayToObject(a, "kernels");
	cJSON_ArrayForEach(k, cJSON_GetObjectItemCaseSensitive(j, "kernels"))
	{
		const cJSON *code = cJSON_GetObjectItemCaseSensitive(k, "machine_code");
		cJSON *one = cJSON_CreateObject();

		pm__json_copy(one, k, "rule");
		pm__json_copy(one, k, "entry");
		for (size_t i = 0; i < sizeof same / sizeof *same; i++)
			pm__json_copy(one, code, same[i]);
		cJSON_AddItemToArray(list, one);
	}
	pm__run_answer(t, r, a, 0);
}

static void profile(PmTools *t, PmToolRun *r, const cJSON *j)
{
	int listing = !strcmp(r->tool, "disassemble");
	int64_t variant = pm_json_i64(r->args, "variant", -1);
	const char *argv[12] = { "profile", r->target.s, "--pass", r->so.s, "--device", t->device };
	char number[24];
	int n = 6;

	(void)j;
	if (variant >= 0 && !r->task) {
		snprintf(number, sizeof number, "%lld", (long long)variant);
		argv[n++] = "--variant";
		argv[n++] = number;
	}
	if (listing)
		argv[n++] = "--listing";
	pm__run_start(t, r, argv, listing ? disassembled : profiled);
}

static cJSON *begin_on_target(PmTools *t, const char *tool, const cJSON *args, PmRunNext then,
			      PmToolRun **run, int *is_error)
{
	cJSON *fail = NULL;
	PmErr err;

	pm_err_init(&err);
	*run = pm__run_new(t, tool, args, &fail, is_error);
	if (!*run)
		return fail;
	if (pm__target(t, *run, 0, &err) || (then == pm__explain_built && pm__run_graphs(t, *run, &err)) ||
	    pm__with_pass(t, *run, 0, then, &err))
		pm__run_fail(t, *run, "%s", err.text);
	return NULL;
}

cJSON *pm__tool_profile(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	return begin_on_target(t, "profile", args, profile, run, is_error);
}

cJSON *pm__tool_disassemble(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	return begin_on_target(t, "disassemble", args, profile, run, is_error);
}

cJSON *pm__tool_explain(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	return begin_on_target(t, "explain", args, pm__explain_built, run, is_error);
}

/* ---- evaluate and submit ---- */

/* What did not match is explained at once: the next question would be why. */
static void why_not(PmTools *t, PmToolRun *r, const cJSON *j)
{
	const cJSON *one = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "results"), 0);
	cJSON *a = r->partial;

	r->partial = NULL;
	if (one)
		cJSON_AddItemToObject(a, "rules", pm__rules_answer(one));
	pm__run_answer(t, r, a, 0);
}

/* What the database had before took no time. */
static int is_all_new(const PmToolRun *r)
{
	const cJSON *line;

	cJSON_ArrayForEach(line, r->so_far)
	{
		if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(line, "stored")))
			return 0;
	}
	return 1;
}

static void evaluated(PmTools *t, PmToolRun *r, const cJSON *j)
{
	const cJSON *one = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "results"), 0);
	cJSON *a;

	if (!one) {
		pm__run_fail(t, r, "%s", error_of(j) ? error_of(j) : "The evaluation gave no answer.");
		return;
	}
	pm__run_keep(r, one);
	a = pm__eval_answer(t, r, one);
	if (r->whole && is_all_new(r))
		pm__best_put_seconds(t, r, pm_now() - r->judged);
	if (r->submits)
		cJSON_AddStringToObject(a, "note", PM__ANEW);
	if (!strcmp(pm_json_str(a, "verdict", ""), "NO_MATCH") && !r->whole) {
		r->partial = a;
		pm__explain_start(t, r, why_not);
		return;
	}
	pm__run_answer(t, r, a, 0);
}

static void judge(PmTools *t, PmToolRun *r)
{
	const char *argv[28] = { "eval", NULL, "--pass", r->so.s, "--device", t->device };
	char variant[24], task[24], deadline[32], progress[64];
	int64_t v = pm_json_i64(r->args, "variant", -1);
	int n = 6, debug = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(r->args, "debug_print"));

	snprintf(task, sizeof task, "%lld", (long long)r->task);
	snprintf(variant, sizeof variant, "%lld", (long long)v);
	snprintf(deadline, sizeof deadline, "%g", r->deadline);
	argv[1] = r->submits ? task : r->target.s;
	if (r->submits) {
		argv[n++] = "--db";
		argv[n++] = t->db_path;
	}
	if (debug) {
		argv[n++] = "--debug-print";
		argv[n++] = "--hidden";
		argv[n++] = "0";
	} else if (!r->whole) {
		argv[n++] = "--quick";
	}
	if (v >= 0 && !r->task)
		argv[n++] = "--variants";
	if (v >= 0 && (r->whole || !r->task)) {
		argv[n++] = "--only";
		argv[n++] = variant;
	}
	if (r->whole) {
		pm__so_far_path(r, progress);
		argv[n++] = "--progress";
		argv[n++] = progress;
	}
	if (r->deadline > 0) {
		argv[n++] = "--deadline";
		argv[n++] = deadline;
	}
	if (t->gpus) {
		argv[n++] = "--gpus";
		argv[n++] = t->gpus;
	}
	r->judged = pm_now();
	pm__run_start(t, r, argv, evaluated);
}

/* The pass is built. */
static void evaluate(PmTools *t, PmToolRun *r, const cJSON *j)
{
	(void)j;
	if (r->whole)
		pm__queue(t, r, judge);
	else
		judge(t, r);
}

static cJSON *start(PmTools *t, const char *tool, const cJSON *args, int whole, int submits, PmToolRun **run,
		    int *is_error)
{
	cJSON *fail = NULL;
	PmErr err;

	if (t->steps == 0)
		return pm__error(is_error,
				 "No evaluation is left in this session: its budget is used up. compare and "
				 "get_run still show what was found.");
	if (t->deadline_s > 0 && pm_json_num(args, "deadline", 0) > t->deadline_s)
		return pm__error(is_error,
				 "A variant may take %g s at most in this session; give a deadline up to "
				 "that, or none.",
				 t->deadline_s);
	pm_err_init(&err);
	*run = pm__run_new(t, tool, args, &fail, is_error);
	if (!*run)
		return fail;
	(*run)->whole = whole;
	(*run)->submits = submits;
	(*run)->deadline = pm_json_num(args, "deadline", t->deadline_s);
	(*run)->step = 1;
	if (t->steps > 0)
		t->steps--;
	if (pm__target(t, *run, whole, &err) || pm__run_graphs(t, *run, &err) ||
	    pm__with_pass(t, *run, 0, evaluate, &err))
		pm__run_fail(t, *run, "%s", err.text);
	return NULL;
}

cJSON *pm__tool_evaluate(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	int debug = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(args, "debug_print"));
	int full = !strcmp(pm_json_str(args, "level", "quick"), "full");

	if (debug && full)
		return pm__error(is_error, "debug_print goes with level quick: what prints has no score.");
	if (debug && strcmp(t->device, "emu") != 0)
		return pm__error(is_error, "Kernels print on the device emu alone, and this session has %s.",
				 t->device);
	return start(t, "evaluate", args, full, 0, run, is_error);
}

cJSON *pm__tool_submit(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	return start(t, "submit", args, 1, 1, run, is_error);
}
