/* SPDX-License-Identifier: Apache-2.0 */
/* protocol.c - a session of the Model Context Protocol as steps: requests wait for their results. */
#include "app/trajectory/protocol.h"

#include "base/core/vec.h"
#include "base/sys/log.h"
#include "base/sys/proc.h"

#include <math.h>
#include <string.h>

typedef struct Waiting {
	cJSON *id, *params; /* owned */
	char *method;
	double began, clock; /* since 1970, monotonic */
} Waiting;

struct PmProtocolRecorder {
	char *db, *workspace, *device, *client;
	PmRecorder *recorder; /* NULL: nothing was done yet */
	int failed;           /* it was said that nothing can be stored */
	PM_VEC(Waiting) waiting;
};

PmProtocolRecorder *pm_protocol_recorder_new(const char *db, const char *workspace, const char *device)
{
	PmProtocolRecorder *r = pm_xcalloc(1, sizeof *r);

	r->db = pm_xstrdup(db);
	r->workspace = workspace ? pm_xstrdup(workspace) : NULL;
	r->device = pm_xstrdup(device);
	return r;
}

static void forget(PmProtocolRecorder *r, size_t i)
{
	cJSON_Delete(r->waiting.v[i].id);
	cJSON_Delete(r->waiting.v[i].params);
	free(r->waiting.v[i].method);
	r->waiting.v[i] = r->waiting.v[--r->waiting.n];
}

static void complain(PmProtocolRecorder *r, const PmErr *err)
{
	if (!r->failed)
		pm_log(PM_LOG_WARN, "trajectory", "The session is not recorded any further: %s", err->text);
	r->failed = 1;
}

/* The recorder, of a trajectory that began then; NULL when the database cannot be written. */
static PmRecorder *recorder_of(PmProtocolRecorder *r, double began)
{
	cJSON *options = r->recorder ? NULL : cJSON_CreateObject();
	PmRecorderOpts o = { .db = r->db,
			     .kind = "mcp",
			     .model = r->client,
			     .options = options,
			     .began = began,
			     .workspace = r->workspace };
	PmErr err;

	pm_err_init(&err);
	if (!r->recorder && !r->failed) {
		cJSON_AddStringToObject(options, "device", r->device);
		if (pm_recorder_open(&o, &r->recorder, &err))
			complain(r, &err);
	}
	cJSON_Delete(options);
	return r->failed ? NULL : r->recorder;
}

/* ---- what the client asks ---- */

/* "name version" of initialize, or of the newer era's envelope. */
static void note_client(PmProtocolRecorder *r, const cJSON *params)
{
	const cJSON *info = pm_json_get(params, "clientInfo");
	const char *name;
	PmStr s = PM_STR_INIT;

	if (!info)
		info = pm_json_get(pm_json_get(params, "_meta"), "io.modelcontextprotocol/clientInfo");
	name = pm_json_str(info, "name", "");
	if (!*name || r->client)
		return;
	pm_str_addf(&s, "%s %s", name, pm_json_str(info, "version", ""));
	while (s.len && s.s[s.len - 1] == ' ')
		s.s[--s.len] = '\0';
	r->client = pm_xstrdup(s.s);
	pm_str_release(&s);
}

static size_t find(const PmProtocolRecorder *r, const cJSON *id)
{
	size_t i = 0;

	while (i < r->waiting.n && !(id && cJSON_Compare(r->waiting.v[i].id, id, 1)))
		i++;
	return i;
}

static int is_step(const char *method)
{
	return strcmp(method, "tools/call") == 0 || strcmp(method, "resources/read") == 0 ||
	       strcmp(method, "prompts/get") == 0;
}

/* ---- what becomes of it ---- */

static void put_call(PmProtocolRecorder *r, const Waiting *w, const char *tool, const cJSON *args,
		     const cJSON *answer, int is_error)
{
	PmRecordedCall c = { .tool = tool,
			     .args = args,
			     .answer = answer,
			     .is_error = is_error,
			     .began = w->began,
			     .seconds = pm_now() - w->clock };
	PmRecorder *to = recorder_of(r, w->began);
	PmErr err;

	pm_err_init(&err);
	if (to && pm_recorder_call(to, &c, &err))
		complain(r, &err);
}

/* A prompt is what the model is told. */
static void put_prompt(PmProtocolRecorder *r, const Waiting *w, const cJSON *result)
{
	const cJSON *m;

	cJSON_ArrayForEach(m, pm_json_get(result, "messages"))
	{
		PmRecordedMessage msg = { .role = strcmp(pm_json_str(m, "role", ""), "assistant")
							  ? "user"
							  : "assistant",
					  .content = pm_json_str(pm_json_get(m, "content"), "text", ""),
					  .began = w->began,
					  .seconds = NAN,
					  .tokens_in = -1,
					  .tokens_out = -1,
					  .money = NAN };
		PmRecorder *to = recorder_of(r, w->began);
		PmErr err;

		pm_err_init(&err);
		if (to && pm_recorder_message(to, &msg, &err))
			complain(r, &err);
	}
}

static void put_result(PmProtocolRecorder *r, const Waiting *w, const cJSON *result, const cJSON *error)
{
	const cJSON *content = pm_json_get(result, "structuredContent");
	int is_error = error || cJSON_IsTrue(pm_json_get(result, "isError"));
	cJSON *made = NULL;

	if (error) {
		made = cJSON_CreateObject();
		cJSON_AddStringToObject(made, "error", pm_json_str(error, "message", ""));
	} else if (!content) {
		made = cJSON_CreateObject();
		cJSON_AddItemToObject(
			made, "content",
			cJSON_Duplicate(
				pm_json_get(result, strcmp(w->method, "tools/call") ? "contents" : "content"),
				1));
	}
	if (!error && strcmp(w->method, "prompts/get") == 0)
		put_prompt(r, w, result);
	else if (strcmp(w->method, "tools/call") == 0)
		put_call(r, w, pm_json_str(w->params, "name", ""), pm_json_get(w->params, "arguments"),
			 made ? made : content, is_error);
	else
		put_call(r, w, strcmp(w->method, "prompts/get") ? "read_resource" : "get_prompt", w->params,
			 made ? made : content, is_error);
	cJSON_Delete(made);
}

static void fail(PmProtocolRecorder *r, size_t i, const char *why)
{
	cJSON *error = cJSON_CreateObject();

	cJSON_AddStringToObject(error, "message", why);
	put_result(r, &r->waiting.v[i], NULL, error);
	cJSON_Delete(error);
}

static void cancelled(PmProtocolRecorder *r, const cJSON *params)
{
	size_t i = find(r, pm_json_get(params, "requestId"));

	if (i == r->waiting.n)
		return;
	fail(r, i, "cancelled by the client");
	forget(r, i);
}

/* Without the envelope, which says what the client can do. */
static void wait_for(PmProtocolRecorder *r, const cJSON *id, const char *method, const cJSON *params)
{
	Waiting w = { cJSON_Duplicate(id, 1), params ? cJSON_Duplicate(params, 1) : cJSON_CreateObject(),
		      pm_xstrdup(method), pm_wall_clock(), pm_now() };

	cJSON_DeleteItemFromObjectCaseSensitive(w.params, "_meta");
	PM_VEC_PUSH(&r->waiting, w);
}

void pm_protocol_recorder_message(PmProtocolRecorder *r, int from_client, const cJSON *message)
{
	const char *method = pm_json_str(message, "method", "");
	const cJSON *id = pm_json_get(message, "id"), *params = pm_json_get(message, "params");
	size_t i;

	if (from_client) {
		note_client(r, params);
		if (strcmp(method, "notifications/cancelled") == 0)
			cancelled(r, params);
		else if (id && is_step(method))
			wait_for(r, id, method, params);
		return;
	}
	i = find(r, id);
	if (*method || i == r->waiting.n)
		return;
	put_result(r, &r->waiting.v[i], pm_json_get(message, "result"), pm_json_get(message, "error"));
	forget(r, i);
}

void pm_protocol_recorder_end(PmProtocolRecorder *r)
{
	if (!r)
		return;
	while (r->waiting.n) {
		fail(r, 0, "the session ended first");
		forget(r, 0);
	}
	if (r->recorder && !r->failed)
		pm_recorder_end(r->recorder, "done", NULL);
	pm_recorder_close(r->recorder);
	PM_VEC_RELEASE(&r->waiting);
	free(r->db);
	free(r->workspace);
	free(r->device);
	free(r->client);
	free(r);
}
