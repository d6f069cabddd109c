/* SPDX-License-Identifier: Apache-2.0 */
/* sample_tools.c - tools in a sample's workspace, and its files. */
#include "app/agent/observe.h"
#include "app/agent/sample_priv.h"
#include "base/sys/io.h"
#include "base/sys/proc.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_S = 60 };

/* ---- files ---- */

static int is_source(const char *path)
{
	return pm_str_ends(path, ".c") || pm_str_ends(path, ".h") || pm_str_ends(path, ".cu") ||
	       pm_str_ends(path, ".cuh") || pm_str_ends(path, ".gpt");
}

/* The answer of list_files; its caller's. */
static const cJSON *listed(PmSample *s, cJSON **answer, PmErr *err)
{
	int is_error = 0;

	*answer = pm_tools_call(s->tools, "list_files", NULL, &is_error, err);
	return cJSON_GetObjectItemCaseSensitive(*answer, "files");
}

/* What changed among the sources since the last event: [{"path", "text"}], without text for one that is gone.
 */
static cJSON *changes(PmSample *s, PmErr *err)
{
	cJSON *list = cJSON_CreateArray(), *answer = NULL, *c;
	const cJSON *files = listed(s, &answer, err), *f, *old;

	cJSON_ArrayForEach(f, files)
	{
		const char *path = pm_json_str(f, "path", "");
		PmStr full = PM_STR_INIT, text = PM_STR_INIT;

		old = cJSON_GetObjectItemCaseSensitive(s->files, path);
		pm_path_join(s->workspace.s, path, &full);
		if (is_source(path) && !pm_read_file(full.s, 0, &text, NULL) &&
		    (!old || strcmp(old->valuestring, text.s) != 0)) {
			c = cJSON_CreateObject();
			cJSON_AddStringToObject(c, "path", path);
			cJSON_AddStringToObject(c, "text", text.s);
			cJSON_AddItemToArray(list, c);
		}
		pm_str_release(&full);
		pm_str_release(&text);
	}
	cJSON_Delete(answer);
	return list;
}

PmStatus pm__sample_restore(PmSample *s, PmErr *err)
{
	cJSON *answer = NULL, *args, *done;
	const cJSON *files = listed(s, &answer, err), *f;
	PmStr full = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st = answer ? PM_OK : PM_E_INTERNAL;
	int is_error = 0;

	cJSON_ArrayForEach(f, files)
	{
		const char *path = pm_json_str(f, "path", "");

		pm_str_clear(&full);
		pm_path_join(s->workspace.s, path, &full);
		if (is_source(path) && !cJSON_GetObjectItemCaseSensitive(s->files, path))
			unlink(full.s);
	}
	cJSON_ArrayForEach(f, s->files)
	{
		pm_str_clear(&full);
		pm_str_clear(&text);
		pm_path_join(s->workspace.s, f->string, &full);
		if (st || (!pm_read_file(full.s, 0, &text, NULL) && !strcmp(text.s, f->valuestring)))
			continue;
		args = cJSON_CreateObject();
		cJSON_AddStringToObject(args, "path", f->string);
		cJSON_AddStringToObject(args, "text", f->valuestring);
		done = pm_tools_call(s->tools, "write_file", args, &is_error, err);
		if (!done || is_error)
			st = pm_err(err, PM_E_IO, "Cannot write %.200s again: %s", full.s,
				    pm_json_str(done, "error", err->text));
		cJSON_Delete(done);
		cJSON_Delete(args);
	}
	cJSON_Delete(answer);
	pm_str_release(&full);
	pm_str_release(&text);
	return st;
}

/* The source that is evaluated: pass.c, or the first C file that the model wrote; NULL = none. */
static const char *main_source(const PmSample *s)
{
	const cJSON *f;

	if (cJSON_GetObjectItemCaseSensitive(s->files, "pass.c"))
		return "pass.c";
	cJSON_ArrayForEach(f, s->files) if (pm_str_ends(f->string, ".c")) return f->string;
	return NULL;
}

/* ---- calls ---- */

/* A call to its end: a run that goes on is waited for, so that no turn of the model is spent on it. */
static cJSON *call(PmSample *s, const char *tool, const cJSON *args, int *is_error, PmErr *err)
{
	cJSON *answer = pm_tools_call(s->tools, tool, args, is_error, err), *again;

	while (answer && !*is_error && !strcmp(pm_json_str(answer, "state", ""), "running")) {
		again = cJSON_CreateObject();
		cJSON_AddStringToObject(again, "run", pm_json_str(answer, "run", ""));
		cJSON_AddNumberToObject(again, "wait_s", WAIT_S);
		cJSON_Delete(answer);
		answer = pm_tools_call(s->tools, "get_run", again, is_error, err);
		cJSON_Delete(again);
	}
	return answer;
}

static cJSON *error_answer(const char *sentence)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "error", sentence);
	return j;
}

static int is_own_task(const PmSample *s, const char *task)
{
	char number[32];

	snprintf(number, sizeof number, "%lld", (long long)s->setup->task_id);
	return !strcmp(task, number) || !strcmp(task, s->setup->name) || !strcmp(task, s->setup->task);
}

/* Is it the evaluation that scores? */
static int is_whole(const PmSample *s, const char *tool, const cJSON *args)
{
	return !strcmp(tool, "evaluate") && !strcmp(pm_json_str(args, "level", ""), "full") &&
	       !cJSON_HasObjectItem(args, "variant") && is_own_task(s, pm_json_str(args, "task", ""));
}

/* PM_OK when the model may make this call. What another task, or a graph of its own making, would be shown
 * may be what solves this one: exemplars are chosen so that they do not give away the task that they are
 * asked for. */
static PmStatus may_call(const PmSample *s, const char *tool, const cJSON *args, PmErr *err)
{
	const char *task = pm_json_str(args, "task", NULL);

	if (!pm_is_offered(tool, s->o->feedback))
		return pm_err(err, PM_E_NOT_FOUND,
			      "There is no tool %.64s here; use those that you were given.", tool);
	if (task && !is_own_task(s, task))
		return pm_err(err, PM_E_INVALID, "This is about task %lld alone; give its number.",
			      (long long)s->setup->task_id);
	if (!task && !strcmp(tool, "exemplars"))
		return pm_err(err, PM_E_INVALID, "Give the task: exemplars are those for task %lld.",
			      (long long)s->setup->task_id);
	return PM_OK;
}

/* Does it and writes the event. `action` is what the model asked for, or NULL for the last evaluation. */
static PmStatus call_tool(PmSample *s, const char *tool, const cJSON *args, const cJSON *action, PmErr *err)
{
	const char *id = pm_json_str(action, "id", NULL), *wrong = pm_json_str(action, "error", NULL);
	int is_error = 0, own = !action || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(action, "auto"));
	double t0 = pm_now();
	cJSON *answer = NULL, *e;
	PmStr shown = PM_STR_INIT;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	if (wrong)
		pm_err(&why, PM_E_INVALID, "%s", wrong);
	else if (own || !may_call(s, tool, args, &why))
		answer = call(s, tool, args, &is_error, &why);
	/* An evaluation of ours that fails although its arguments are right is nobody's mistake. */
	if (own && answer && is_error) {
		cJSON_Delete(answer);
		is_error = 0;
		answer = call(s, tool, args, &is_error, &why);
	}
	if (!answer) {
		answer = error_answer(why.text);
		is_error = 1;
	}
	e = pm__event("tool");
	cJSON_AddStringToObject(e, "tool", tool);
	if (id)
		cJSON_AddStringToObject(e, "id", id);
	cJSON_AddItemToObject(e, "arguments", args ? cJSON_Duplicate(args, 1) : cJSON_CreateObject());
	pm_observe(tool, answer, is_error, s->o->feedback, &shown);
	cJSON_AddItemToObject(e, "answer", answer);
	cJSON_AddStringToObject(e, "shown", shown.s);
	cJSON_AddBoolToObject(e, "is_error", is_error);
	cJSON_AddBoolToObject(e, "whole", is_whole(s, tool, args));
	cJSON_AddBoolToObject(e, "last", !action);
	cJSON_AddNumberToObject(e, "iteration", (double)s->turns);
	cJSON_AddNumberToObject(e, "seconds", pm_now() - t0);
	cJSON_AddItemToObject(e, "files", changes(s, &why));
	pm_str_release(&shown);
	st = pm__sample_add(s, e, err);
	return st;
}

/* The whole evaluation of the files as they are. */
static PmStatus evaluate(PmSample *s, const cJSON *action, PmErr *err)
{
	const char *source = main_source(s);
	cJSON *args = cJSON_CreateObject();
	char task[32];
	PmStatus st;

	snprintf(task, sizeof task, "%lld", (long long)s->setup->task_id);
	cJSON_AddStringToObject(args, "pass", source ? source : "pass.c");
	cJSON_AddStringToObject(args, "task", task);
	cJSON_AddStringToObject(args, "level", "full");
	cJSON_AddNumberToObject(args, "wait_s", WAIT_S);
	st = call_tool(s, "evaluate", args, action, err);
	cJSON_Delete(args);
	return st;
}

PmStatus pm__sample_act(PmSample *s, PmErr *err)
{
	const cJSON *a = cJSON_GetArrayItem(s->actions, s->n_done);

	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(a, "auto")))
		return evaluate(s, a, err);
	return call_tool(s, pm_json_str(a, "tool", ""), cJSON_GetObjectItemCaseSensitive(a, "arguments"), a,
			 err);
}

PmStatus pm__sample_last_evaluation(PmSample *s, PmErr *err)
{
	return s->dirty && main_source(s) ? evaluate(s, NULL, err) : PM_OK;
}
