/* SPDX-License-Identifier: Apache-2.0 */
/* best.c - submitting the best sample of a task. */
#include "app/agent/best.h"

#include "app/agent/journal.h"
#include "app/agent/sample.h"
#include "app/agent/tally.h"
#include "app/tools/tools.h"
#include "base/sys/io.h"

#include <stdio.h>
#include <string.h>

enum { WAIT_S = 60 };

/* The number of the best right sample; -1 = there is none, or not all have ended. */
static PmStatus best_of(const PmAgentOpts *o, const char *task, int *best, PmErr *err)
{
	double score = -1;
	PmStatus st = PM_OK;

	*best = -1;
	for (int i = 0; i < (int)o->samples && !st; i++) {
		PmStr path = PM_STR_INIT;
		PmTally t;

		pm_sample_journal(o->out, task, i, &path);
		st = pm_tally_read(path.s, NULL, NULL, &t, err);
		pm_str_release(&path);
		if (!st && !t.ended) {
			*best = -1;
			return PM_OK;
		}
		if (!st && t.correct && t.best_score > score) {
			score = t.best_score;
			*best = i;
		}
	}
	return st;
}

/* The pass of a sample's best right evaluation, as its source was then. */
typedef struct Source {
	cJSON *files, *then; /* path: text; at the best evaluation */
	char pass[512];
	double score;
} Source;

static PmStatus on_event(void *arg, const cJSON *e, PmErr *err)
{
	const cJSON *answer = cJSON_GetObjectItemCaseSensitive(e, "answer"), *f;
	Source *s = arg;

	(void)err;
	cJSON_ArrayForEach(f, cJSON_GetObjectItemCaseSensitive(e, "files"))
	{
		const char *path = pm_json_str(f, "path", ""), *text = pm_json_str(f, "text", NULL);

		cJSON_DeleteItemFromObjectCaseSensitive(s->files, path);
		if (text)
			cJSON_AddStringToObject(s->files, path, text);
	}
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(e, "whole")) &&
	    !strcmp(pm_json_str(answer, "verdict", ""), "OK") && pm_json_num(answer, "score", 0) > s->score) {
		s->score = pm_json_num(answer, "score", 0);
		cJSON_Delete(s->then);
		s->then = cJSON_Duplicate(s->files, 1);
		snprintf(s->pass, sizeof s->pass, "%.511s",
			 pm_json_str(cJSON_GetObjectItemCaseSensitive(e, "arguments"), "pass", "pass.c"));
	}
	return PM_OK;
}

static cJSON *call(PmTools *t, const char *tool, const cJSON *args, PmErr *err)
{
	int is_error = 0;
	cJSON *answer = pm_tools_call(t, tool, args, &is_error, err), *again;

	while (answer && !is_error && !strcmp(pm_json_str(answer, "state", ""), "running")) {
		again = cJSON_CreateObject();
		cJSON_AddStringToObject(again, "run", pm_json_str(answer, "run", ""));
		cJSON_AddNumberToObject(again, "wait_s", WAIT_S);
		cJSON_Delete(answer);
		answer = pm_tools_call(t, "get_run", again, &is_error, err);
		cJSON_Delete(again);
	}
	if (answer && is_error) {
		pm_err(err, PM_E_INVALID, "%s", pm_json_str(answer, "error", "A tool failed."));
		cJSON_Delete(answer);
		answer = NULL;
	}
	return answer;
}

static PmStatus submit(const PmAgentOpts *o, const PmExperimentTask *task, const Source *src,
		       const char *folder, const char *record, PmErr *err)
{
	PmToolsOpts opts = { .db = o->db,
			     .workspace = folder,
			     .device = o->device,
			     .gpus = o->gpus,
			     .steps = -1,
			     .deadline_s = o->deadline };
	cJSON *args, *answer = NULL;
	const cJSON *f;
	PmTools *t = NULL;
	PmStr text = PM_STR_INIT;
	char number[32];
	PmStatus st = pm_tools_open(&opts, &t, err);

	cJSON_ArrayForEach(f, src->then)
	{
		args = cJSON_CreateObject();
		cJSON_AddStringToObject(args, "path", f->string);
		cJSON_AddStringToObject(args, "text", f->valuestring);
		answer = st ? NULL : call(t, "write_file", args, err);
		st = st ? st : answer ? PM_OK : PM_E_IO;
		cJSON_Delete(answer);
		cJSON_Delete(args);
	}
	args = cJSON_CreateObject();
	snprintf(number, sizeof number, "%lld", (long long)task->id);
	cJSON_AddStringToObject(args, "task", number);
	cJSON_AddStringToObject(args, "pass", src->pass);
	answer = st ? NULL : call(t, "submit", args, err);
	st = st ? st : answer ? PM_OK : PM_E_INVALID;
	if (!st) {
		pm_json_print(answer, 1, &text);
		st = pm_write_file(record, text.s, text.len, err);
	}
	cJSON_Delete(answer);
	cJSON_Delete(args);
	pm_str_release(&text);
	pm_tools_close(t);
	return st;
}

static PmStatus submit_task(const PmAgentOpts *o, const PmExperimentTask *task, PmErr *err)
{
	PmStr record = PM_STR_INIT, folder = PM_STR_INIT, journal = PM_STR_INIT;
	Source src = { .files = cJSON_CreateObject(), .score = -1 };
	int best = -1;
	PmStatus st = best_of(o, task->hash, &best, err);

	if (!st && best >= 0) {
		pm_str_addf(&record, "%s/best/%.16s-%d.json", o->out, task->hash, best);
		pm_str_addf(&folder, "%s/work/%.16s-best", o->out, task->hash);
		pm_sample_journal(o->out, task->hash, best, &journal);
		if (!pm_path_exists(record.s)) {
			st = pm_journal_read(journal.s, on_event, &src, err);
			if (!st && src.then)
				st = submit(o, task, &src, folder.s, record.s, err);
		}
	}
	cJSON_Delete(src.files);
	cJSON_Delete(src.then);
	pm_str_release(&record);
	pm_str_release(&folder);
	pm_str_release(&journal);
	return st;
}

PmStatus pm_best_submit(const PmAgentOpts *o, const PmExperiment *x, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < x->n_tasks && !st; i++)
		st = submit_task(o, &x->task[i], err);
	return st;
}
