/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - calls of tools: several at once, each answered when it is done, with progress, until cancelled.
 */
#include "app/mcp/mcp_priv.h"

#include <string.h>

int pm_mcp_in_flight(const PmMcp *m)
{
	return m->n_calls;
}

/* The order of those that stay does not change. */
static void drop(PmMcp *m, int at)
{
	cJSON_Delete(m->calls[at].id);
	cJSON_Delete(m->calls[at].token);
	m->n_calls--;
	memmove(m->calls + at, m->calls + at + 1, (size_t)(m->n_calls - at) * sizeof *m->calls);
}

static int find(const PmMcp *m, const cJSON *id)
{
	for (int i = 0; i < m->n_calls; i++)
		if (pm__rpc_same_id(m->calls[i].id, id))
			return i;
	return -1;
}

static void add_text(cJSON *content, const char *text, size_t n)
{
	cJSON *c = cJSON_CreateObject();
	PmStr s = PM_STR_INIT;

	pm_str_addn(&s, text, n);
	cJSON_AddStringToObject(c, "type", "text");
	cJSON_AddStringToObject(c, "text", s.s);
	cJSON_AddItemToArray(content, c);
	pm_str_release(&s);
}

/* {content, isError, structuredContent} of an answer, which it takes. An answer that went wrong is its
 * sentence and, when it has more members, all of it as text: its outputSchema does not speak of it. */
static cJSON *call_result(cJSON *answer, int is_error)
{
	cJSON *result = cJSON_CreateObject(), *content = cJSON_AddArrayToObject(result, "content");
	const char *sentence = pm_json_str(answer, "error", NULL);
	PmStr s = PM_STR_INIT;

	pm_json_print(answer, 0, &s);
	if (is_error && sentence)
		add_text(content, sentence, strlen(sentence));
	if (!is_error || !sentence || cJSON_GetArraySize(answer) > 1)
		add_text(content, s.s, s.len - 1); /* without the newline */
	cJSON_AddBoolToObject(result, "isError", is_error);
	if (is_error)
		cJSON_Delete(answer);
	else
		cJSON_AddItemToObject(result, "structuredContent", answer);
	pm_str_release(&s);
	return result;
}

/* Progress rises with each notification, so that a change of words alone is not told. */
static void tell_progress(PmMcp *m, PmMcpCall *c)
{
	double done = 0, total = 0;
	const char *words = NULL;
	cJSON *j, *p;

	if (!c->token || !m->o.tools.progress(c->call, &done, &total, &words) || !(done > c->told))
		return;
	c->told = done;
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "jsonrpc", "2.0");
	cJSON_AddStringToObject(j, "method", "notifications/progress");
	p = cJSON_AddObjectToObject(j, "params");
	cJSON_AddItemToObject(p, "progressToken", cJSON_Duplicate(c->token, 1));
	cJSON_AddNumberToObject(p, "progress", done);
	if (total > 0)
		cJSON_AddNumberToObject(p, "total", total);
	if (words && *words)
		cJSON_AddStringToObject(p, "message", words);
	pm__mcp_send(m, j);
}

/* Answers call number `at` when it is done; 1 when it was. */
static int finish(PmMcp *m, int at)
{
	PmMcpCall *c = &m->calls[at];
	int is_error = 0;
	cJSON *answer;

	if (!m->o.tools.done(c->call))
		return 0;
	answer = m->o.tools.take(c->call, &is_error);
	pm__mcp_result(m, c->id, c->modern, call_result(answer, is_error));
	drop(m, at);
	return 1;
}

void pm_mcp_step(PmMcp *m)
{
	m->o.tools.step(m->o.tools.tools);
	if (pm_mcp_out(m)->len >= PM_MCP_OUT_FULL) /* what is done waits until the client reads */
		return;
	for (int i = 0; i < m->n_calls;) {
		if (!m->o.tools.done(m->calls[i].call))
			tell_progress(m, &m->calls[i]);
		if (!finish(m, i))
			i++;
	}
}

/* A token that progress can be told with; NULL when none was given, -1 in *wrong when it is none. */
static cJSON *progress_token(const PmRpc *rpc, int *wrong)
{
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(rpc->params, "_meta"),
		    *token = cJSON_GetObjectItemCaseSensitive(meta, "progressToken");

	*wrong = token && !cJSON_IsString(token) && !cJSON_IsNumber(token);
	return token && !*wrong ? cJSON_Duplicate(token, 1) : NULL;
}

/* 1 when the parameters of the call are such that it may begin; else the error was answered. */
static int may_begin(const PmMcpRequest *r, const cJSON *args)
{
	const cJSON *id = r->rpc->id;

	if (args && !cJSON_IsObject(args))
		pm__mcp_error(r->m, id, PM_RPC_INVALID_PARAMS, NULL,
			      "The parameter \"arguments\" of tools/call must be an object.");
	else if (find(r->m, id) >= 0)
		pm__mcp_error(r->m, id, PM_RPC_INVALID_REQUEST, NULL,
			      "A call with this id is still in flight; give each request an id of its own.");
	else if (r->m->n_calls == PM_MCP_MAX_CALLS)
		pm__mcp_error(r->m, id, PM_RPC_BUSY, NULL,
			      "There are %d calls in flight already; wait for one of them to be answered.",
			      PM_MCP_MAX_CALLS);
	else
		return 1;
	return 0;
}

void pm__mcp_call_begin(const PmMcpRequest *r)
{
	PmMcp *m = r->m;
	const char *name = pm__mcp_text_param(r, r->rpc->params, "name");
	const cJSON *args = cJSON_GetObjectItemCaseSensitive(r->rpc->params, "arguments");
	PmMcpCall c = { .modern = r->modern, .told = -1 };
	int wrong;
	PmErr err;

	pm_err_init(&err);
	if (cJSON_IsNull(args))
		args = NULL;
	if (!name || !may_begin(r, args))
		return;
	c.token = progress_token(r->rpc, &wrong);
	if (wrong) {
		pm__mcp_error(m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL,
			      "The progressToken must be a text or a number.");
		return;
	}
	if (m->o.tools.begin(m->o.tools.tools, name, args, &c.call, &err)) {
		pm__mcp_error(m, r->rpc->id,
			      err.code == PM_E_NOT_FOUND ? PM_RPC_INVALID_PARAMS : PM_RPC_INTERNAL, NULL,
			      "%s", err.text);
		cJSON_Delete(c.token);
		return;
	}
	c.id = cJSON_Duplicate(r->rpc->id, 1);
	m->calls[m->n_calls++] = c;
	finish(m, m->n_calls - 1);
}

void pm__mcp_call_cancelled(PmMcp *m, const cJSON *params)
{
	int at = find(m, cJSON_GetObjectItemCaseSensitive(params, "requestId"));

	if (at < 0) /* answered already, or never asked */
		return;
	m->o.tools.cancel(m->calls[at].call);
	drop(m, at);
}

void pm__mcp_calls_end(PmMcp *m)
{
	while (m->n_calls) {
		m->o.tools.cancel(m->calls[m->n_calls - 1].call);
		drop(m, m->n_calls - 1);
	}
}
