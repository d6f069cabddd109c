/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c - what the events of a sample mean. */
#include "app/agent/actions.h"
#include "app/agent/sample_priv.h"
#include "base/sys/io.h"

#include <math.h>
#include <string.h>
#include <sys/time.h>

void pm_sample_journal(const char *folder, const char *task, int number, PmStr *out)
{
	pm_str_addf(out, "%s/samples/%.16s-%d.jsonl", folder, task, number);
}

void pm_sample_workspace(const char *folder, const char *task, int number, PmStr *out)
{
	pm_str_addf(out, "%s/work/%.16s-%d", folder, task, number);
}

cJSON *pm__event(const char *e)
{
	cJSON *j = cJSON_CreateObject();
	struct timeval t;

	gettimeofday(&t, NULL);
	cJSON_AddStringToObject(j, "e", e);
	cJSON_AddNumberToObject(j, "at", (double)t.tv_sec + 1e-6 * (double)t.tv_usec);
	return j;
}

/* ---- the trajectory ---- */

/* Events are the truth; a step is told once, however often the process was killed between the two. */
static int is_new_step(PmSample *s)
{
	return s->recorder && s->steps++ >= s->recorded;
}

static PmStatus record_message(PmSample *s, const cJSON *event, const cJSON *message, PmErr *err)
{
	PmRecordedMessage m = { .role = pm_json_str(message, "role", ""),
				.content = pm_json_str(message, "content", NULL),
				.reasoning = pm_json_str(event, "thoughts", NULL),
				.tool_calls = pm_json_get(message, "tool_calls"),
				.seconds = pm_json_num(event, "seconds", NAN),
				.tokens_in = pm_json_i64(event, "tokens_in", -1),
				.tokens_out = pm_json_i64(event, "tokens_out", -1),
				.money = pm_json_num(event, "money", NAN) };

	m.began = pm_json_num(event, "at", 0) - (isnan(m.seconds) ? 0 : m.seconds);
	return is_new_step(s) ? pm_recorder_message(s->recorder, &m, err) : PM_OK;
}

static PmStatus record_tool(PmSample *s, const cJSON *event, PmErr *err)
{
	PmRecordedCall c = { .id = pm_json_str(event, "id", NULL),
			     .tool = pm_json_str(event, "tool", ""),
			     .args = pm_json_get(event, "arguments"),
			     .answer = pm_json_get(event, "answer"),
			     .is_error = cJSON_IsTrue(pm_json_get(event, "is_error")),
			     .seconds = pm_json_num(event, "seconds", NAN) };

	c.began = pm_json_num(event, "at", 0) - (isnan(c.seconds) ? 0 : c.seconds);
	return is_new_step(s) ? pm_recorder_call(s->recorder, &c, err) : PM_OK;
}

/* ---- events ---- */

static PmStatus on_start(PmSample *s, const cJSON *e, PmErr *err)
{
	const cJSON *m;
	PmStatus st = PM_OK;

	cJSON_Delete(s->messages);
	s->messages = cJSON_Duplicate(pm_json_get(e, "messages"), 1);
	s->text = cJSON_IsTrue(pm_json_get(e, "text"));
	cJSON_ArrayForEach(m, s->messages)
	{
		st = st ? st : record_message(s, e, m, err);
	}
	return st;
}

static PmStatus on_reply(PmSample *s, const cJSON *e, PmErr *err)
{
	const cJSON *m = pm_json_get(e, "message");

	cJSON_AddItemToArray(s->messages, cJSON_Duplicate(m, 1));
	cJSON_Delete(s->actions);
	s->actions = pm_actions_of(m);
	s->n_done = 0;
	s->turns++;
	s->nudges = cJSON_GetArraySize(s->actions) ? 0 : s->nudges + 1;
	s->cut = !strcmp(pm_json_str(e, "finish", ""), "length");
	pm_str_clear(&s->observed);
	return record_message(s, e, m, err);
}

static void take_files(PmSample *s, const cJSON *changes)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, changes)
	{
		const char *path = pm_json_str(c, "path", ""), *text = pm_json_str(c, "text", NULL);

		cJSON_DeleteItemFromObjectCaseSensitive(s->files, path);
		if (text)
			cJSON_AddStringToObject(s->files, path, text);
		s->dirty = 1;
	}
}

static PmStatus on_tool(PmSample *s, const cJSON *e, PmErr *err)
{
	const cJSON *answer = pm_json_get(e, "answer"), *action = cJSON_GetArrayItem(s->actions, s->n_done);
	const char *tool = pm_json_str(e, "tool", ""), *id = pm_json_str(e, "id", NULL);
	const char *shown = pm_json_str(e, "shown", "");
	cJSON *m;

	take_files(s, pm_json_get(e, "files"));
	if (cJSON_IsTrue(pm_json_get(e, "whole")) && !cJSON_IsTrue(pm_json_get(e, "is_error"))) {
		s->dirty = 0;
		s->right = !strcmp(pm_json_str(answer, "verdict", ""), "OK");
	}
	if (!cJSON_IsTrue(pm_json_get(e, "last")) && action) {
		s->n_done++;
		if (id) {
			m = cJSON_CreateObject();
			cJSON_AddStringToObject(m, "role", "tool");
			cJSON_AddStringToObject(m, "tool_call_id", id);
			cJSON_AddStringToObject(m, "content", shown);
			cJSON_AddItemToArray(s->messages, m);
		} else {
			pm_str_addf(&s->observed, "%s: %s\n", tool, shown);
		}
	}
	return record_tool(s, e, err);
}

PmStatus pm__sample_apply(PmSample *s, const cJSON *e, PmErr *err)
{
	const char *name = pm_json_str(e, "e", "");

	if (!strcmp(name, "start"))
		return on_start(s, e, err);
	if (!strcmp(name, "reply"))
		return on_reply(s, e, err);
	if (!strcmp(name, "tool"))
		return on_tool(s, e, err);
	if (!strcmp(name, "message")) {
		cJSON_AddItemToArray(s->messages, cJSON_Duplicate(pm_json_get(e, "message"), 1));
		return record_message(s, e, pm_json_get(e, "message"), err);
	}
	if (!strcmp(name, "end")) {
		s->ended = 1;
		return s->recorder && !s->kept
			       ? pm_recorder_end(s->recorder, pm_json_str(e, "outcome", "done"), err)
			       : PM_OK;
	}
	s->kept |= !strcmp(name, "kept");
	return PM_OK;
}

PmStatus pm__sample_add(PmSample *s, cJSON *event, PmErr *err)
{
	PmStatus st = pm_journal_add(s->journal, event, err);

	st = st ? st : pm__sample_apply(s, event, err);
	cJSON_Delete(event);
	return st;
}
