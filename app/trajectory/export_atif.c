/* SPDX-License-Identifier: Apache-2.0 */
/* export_atif.c - a session as a document of the Agent Trajectory Interchange Format, version 1.7.
 *
 * The fields are those of the models that Harbor publishes (harbor.models.trajectories);
 * tools/check/check-atif.sh validates a sample with them. A step of a session of the server is a call whose
 * message is not known: its message is empty, and how often a model was asked is left open.
 */
#include "app/trajectory/export.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_known(cJSON *j, const char *key, double v)
{
	if (!isnan(v))
		cJSON_AddNumberToObject(j, key, v);
}

static void add_nonempty(cJSON *j, const char *key, const char *text)
{
	if (*text)
		cJSON_AddStringToObject(j, key, text);
}

static void add_object(cJSON *j, const char *key, cJSON *object)
{
	if (object->child)
		cJSON_AddItemToObject(j, key, object);
	else
		cJSON_Delete(object);
}

/* ---- steps ---- */

static void add_call(cJSON *calls, const PmSessionStep *answer)
{
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(answer->json, "arguments");
	cJSON *c = cJSON_CreateObject();

	cJSON_AddStringToObject(c, "tool_call_id", pm_json_str(answer->json, "id", ""));
	cJSON_AddStringToObject(c, "function_name", answer->row.name);
	cJSON_AddItemToObject(c, "arguments",
			      cJSON_IsObject(args) ? cJSON_Duplicate(args, 1) : cJSON_CreateObject());
	if (args && !cJSON_IsObject(args)) /* the model wrote no object: the format wants one */
		cJSON_AddItemToObject(cJSON_AddObjectToObject(c, "extra"), "arguments_as_written",
				      cJSON_Duplicate(args, 1));
	cJSON_AddItemToArray(calls, c);
}

static void add_result(cJSON *results, const PmSessionStep *answer)
{
	cJSON *r = cJSON_CreateObject(), *extra = cJSON_CreateObject();
	PmStr text = PM_STR_INIT;

	pm_json_print(cJSON_GetObjectItemCaseSensitive(answer->json, "answer"), 0, &text);
	text.s[--text.len] = '\0';
	cJSON_AddStringToObject(r, "source_call_id", pm_json_str(answer->json, "id", ""));
	cJSON_AddStringToObject(r, "content", text.s);
	if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer->json, "is_error")))
		cJSON_AddTrueToObject(extra, "is_error");
	add_known(extra, "seconds", answer->row.seconds);
	add_nonempty(extra, "task", answer->row.task);
	add_nonempty(extra, "verdict", answer->row.verdict);
	add_known(extra, "as", answer->row.score);
	add_nonempty(extra, "report_sha256", answer->row.report);
	if (cJSON_GetArraySize(answer->files))
		cJSON_AddItemToObject(extra, "files", cJSON_Duplicate(answer->files, 1));
	add_object(r, "extra", extra);
	cJSON_AddItemToArray(results, r);
	pm_str_release(&text);
}

static void add_metrics(cJSON *step, const PmStepRow *r)
{
	cJSON *m = cJSON_CreateObject();

	if (r->tokens_in >= 0)
		pm_json_add_i64(m, "prompt_tokens", r->tokens_in);
	if (r->tokens_out >= 0)
		pm_json_add_i64(m, "completion_tokens", r->tokens_out);
	add_known(m, "cost_usd", r->money);
	add_object(step, "metrics", m);
}

static const char *source_of(const PmTurn *t)
{
	const char *role = t->message ? t->message->row.role : "assistant";

	return strcmp(role, "assistant") == 0 ? "agent" : role;
}

static cJSON *turn_json(const PmSession *s, const PmTurn *t, int64_t id)
{
	const PmSessionStep *first = t->message ? t->message : &s->steps.v[t->first];
	int agent = strcmp(source_of(t), "agent") == 0;
	cJSON *j = cJSON_CreateObject(), *calls, *results, *extra = cJSON_CreateObject();
	PmStr time = PM_STR_INIT;

	pm_session_time(first->row.at, &time);
	pm_json_add_i64(j, "step_id", id);
	cJSON_AddStringToObject(j, "timestamp", time.s);
	cJSON_AddStringToObject(j, "source", source_of(t));
	cJSON_AddStringToObject(j, "message", t->message ? pm_json_str(t->message->json, "content", "") : "");
	if (agent && t->message)
		add_nonempty(j, "reasoning_content", pm_json_str(t->message->json, "reasoning", ""));
	if (agent && t->n) {
		calls = cJSON_AddArrayToObject(j, "tool_calls");
		results = cJSON_AddArrayToObject(cJSON_AddObjectToObject(j, "observation"), "results");
		for (size_t k = 0; k < t->n; k++) {
			add_call(calls, &s->steps.v[t->first + k]);
			add_result(results, &s->steps.v[t->first + k]);
		}
	}
	if (agent && t->message)
		add_metrics(j, &t->message->row);
	if (agent && (t->message || strcmp(s->row.kind, "agent") == 0)) /* 0: the driver called by itself */
		pm_json_add_i64(j, "llm_call_count", t->message != NULL);
	if (t->message) {
		add_known(extra, "seconds", t->message->row.seconds);
		if (cJSON_GetArraySize(t->message->files))
			cJSON_AddItemToObject(extra, "files", cJSON_Duplicate(t->message->files, 1));
	}
	add_object(j, "extra", extra);
	pm_str_release(&time);
	return j;
}

/* ---- the document ---- */

static void add_agent(cJSON *j, const PmTrajectoryRow *r)
{
	int driver = strcmp(r->kind, "agent") == 0;
	cJSON *a = cJSON_AddObjectToObject(j, "agent");

	cJSON_AddStringToObject(a, "name", driver ? "passmith agent" : "passmith mcp");
	cJSON_AddStringToObject(a, "version", r->version);
	if (driver)
		add_nonempty(a, "model_name", r->model);
	else if (*r->model)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(a, "extra"), "client", r->model);
}

static void add_final(cJSON *j, const PmSession *s, int64_t n)
{
	cJSON *m = cJSON_AddObjectToObject(j, "final_metrics");
	int64_t in = 0, out = 0, known = 0;
	double money = NAN;

	for (size_t i = 0; i < s->steps.n; i++) {
		const PmStepRow *r = &s->steps.v[i].row;

		known += r->tokens_in >= 0 || r->tokens_out >= 0;
		in += r->tokens_in > 0 ? r->tokens_in : 0;
		out += r->tokens_out > 0 ? r->tokens_out : 0;
		if (!isnan(r->money))
			money = (isnan(money) ? 0 : money) + r->money;
	}
	if (known) {
		pm_json_add_i64(m, "total_prompt_tokens", in);
		pm_json_add_i64(m, "total_completion_tokens", out);
	}
	add_known(m, "total_cost_usd", money);
	pm_json_add_i64(m, "total_steps", n);
}

static void add_extra(cJSON *j, const PmTrajectoryRow *r)
{
	cJSON *e = cJSON_AddObjectToObject(j, "extra"), *options = NULL;
	char seed[32];

	cJSON_AddStringToObject(e, "kind", r->kind);
	add_nonempty(e, "task", r->task);
	add_nonempty(e, "task_name", r->task_name);
	snprintf(seed, sizeof seed, "%llu", (unsigned long long)r->seed);
	cJSON_AddStringToObject(e, "seed", seed);
	cJSON_AddStringToObject(e, "machine", r->machine);
	add_nonempty(e, "experiment", r->experiment);
	add_nonempty(e, "instance", r->instance);
	if (pm_json_parse(r->options, strlen(r->options), &options, NULL) == PM_OK)
		add_object(e, "options", options);
	add_known(e, "best_as", r->best);
	cJSON_AddStringToObject(e, "outcome", r->ended ? r->outcome : "cut off");
}

cJSON *pm_export_atif(const PmSession *s)
{
	cJSON *j = cJSON_CreateObject(), *steps;
	int64_t n = 0;

	cJSON_AddStringToObject(j, "schema_version", "ATIF-v1.7");
	cJSON_AddStringToObject(j, "session_id", s->row.key);
	cJSON_AddStringToObject(j, "trajectory_id", s->row.key);
	add_agent(j, &s->row);
	steps = cJSON_AddArrayToObject(j, "steps");
	for (size_t i = 0; i < s->steps.n;) {
		size_t next;
		PmTurn t = pm_session_turn(s, i, &next);

		cJSON_AddItemToArray(steps, turn_json(s, &t, ++n));
		i = next;
	}
	if (s->row.n_steps > (int64_t)s->steps.n)
		cJSON_AddStringToObject(j, "notes", "The steps after the first success are left out.");
	add_final(j, s, n);
	add_extra(j, &s->row);
	return j;
}
