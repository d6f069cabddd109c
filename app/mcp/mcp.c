/* SPDX-License-Identifier: Apache-2.0 */
/* mcp.c - lines in, lines out: which era a request belongs to, and who answers it. */
#include "app/mcp/mcp_priv.h"

#include "base/core/arena.h"

#include <stdlib.h>
#include <string.h>

enum { TTL_FIXED = 3600 * 1000 }; /* of lists that never change while the program runs */

PmMcp *pm_mcp_new(const PmMcpOpts *o)
{
	PmMcp *m = pm_xcalloc(1, sizeof *m);

	m->o = *o;
	pm_str_init(&m->out);
	return m;
}

void pm_mcp_free(PmMcp *m)
{
	if (!m)
		return;
	pm__mcp_calls_end(m);
	pm_str_release(&m->out);
	free(m);
}

static void ping(const PmMcpRequest *r)
{
	pm__mcp_result(r->m, r->rpc->id, r->modern, cJSON_CreateObject());
}

static void tools_list(const PmMcpRequest *r)
{
	cJSON *result, *tools;

	if (pm__mcp_has_cursor(r))
		return;
	result = cJSON_CreateObject();
	/* Borrowed: the table stays as long as the program runs. */
	tools = cJSON_CreateArrayReference(r->m->o.tools.list(r->m->o.tools.tools)->child);
	cJSON_AddItemToObject(result, "tools", tools);
	pm__mcp_cacheable(r, result, TTL_FIXED, "public");
	pm__mcp_result(r->m, r->rpc->id, r->modern, result);
}

/* Runs add resources, so that a list is stale at once. */
static void resources_list(const PmMcpRequest *r)
{
	cJSON *result;

	if (pm__mcp_has_cursor(r))
		return;
	result = cJSON_CreateObject();
	cJSON_AddItemToObject(result, "resources", r->m->o.tools.resources(r->m->o.tools.tools));
	pm__mcp_cacheable(r, result, 0, "private");
	pm__mcp_result(r->m, r->rpc->id, r->modern, result);
}

static void templates_list(const PmMcpRequest *r)
{
	cJSON *result;

	if (pm__mcp_has_cursor(r))
		return;
	result = cJSON_CreateObject();
	cJSON_AddArrayToObject(result, "resourceTemplates");
	pm__mcp_cacheable(r, result, TTL_FIXED, "public");
	pm__mcp_result(r->m, r->rpc->id, r->modern, result);
}

static void resources_read(const PmMcpRequest *r)
{
	const char *uri = pm__mcp_text_param(r, r->rpc->params, "uri"), *mime = NULL;
	PmStr text = PM_STR_INIT;
	cJSON *result, *c;
	PmStatus st;
	PmErr err;

	if (!uri)
		return;
	pm_err_init(&err);
	st = r->m->o.tools.resource(r->m->o.tools.tools, uri, &text, &mime, &err);
	if (st) {
		cJSON *data = cJSON_CreateObject();
		int none = r->modern ? PM_RPC_INVALID_PARAMS : PM_RPC_NO_RESOURCE_2025;

		cJSON_AddStringToObject(data, "uri", uri);
		pm__mcp_error(r->m, r->rpc->id, st == PM_E_NOT_FOUND ? none : PM_RPC_INTERNAL, data, "%s",
			      err.text);
	} else {
		result = cJSON_CreateObject();
		c = cJSON_CreateObject();
		cJSON_AddItemToArray(cJSON_AddArrayToObject(result, "contents"), c);
		cJSON_AddStringToObject(c, "uri", uri);
		cJSON_AddStringToObject(c, "mimeType", mime ? mime : "text/plain");
		cJSON_AddStringToObject(c, "text", text.s);
		pm__mcp_cacheable(r, result, 0, "private");
		pm__mcp_result(r->m, r->rpc->id, r->modern, result);
	}
	pm_str_release(&text);
}

enum { OLD = 1, NEW = 2, BOTH = OLD | NEW };

static const struct {
	const char *name;
	int eras;
	void (*answer)(const PmMcpRequest *r);
} methods[] = {
	{ "server/discover", NEW, pm__mcp_discover }, { "ping", OLD, ping },
	{ "tools/list", BOTH, tools_list },           { "tools/call", BOTH, pm__mcp_call_begin },
	{ "resources/list", BOTH, resources_list },   { "resources/templates/list", BOTH, templates_list },
	{ "resources/read", BOTH, resources_read },   { "prompts/list", BOTH, pm__mcp_prompts_list },
	{ "prompts/get", BOTH, pm__mcp_prompts_get },
};

/* The row of a method that an era of `eras` has; -1 when there is none. */
static int find_method(const char *name, int eras)
{
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if ((methods[i].eras & eras) && !strcmp(methods[i].name, name))
			return (int)i;
	return -1;
}

static void request(PmMcp *m, const PmRpc *rpc)
{
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(rpc->params, "_meta");
	PmMcpRequest r = { m, rpc, cJSON_GetObjectItemCaseSensitive(meta, PM_MCP_VERSION_KEY) != NULL };
	int at;

	if (!strcmp(rpc->method, "initialize")) { /* of the older era alone, whatever its _meta says */
		r.modern = 0;
		pm__mcp_initialize(&r);
		return;
	}
	if (r.modern && !pm__mcp_envelope(&r, meta))
		return;
	/* Without either era it is not known yet which methods there are. */
	at = find_method(rpc->method, r.modern ? NEW : m->initialized ? OLD : BOTH);
	if (at < 0)
		pm__mcp_error(
			m, rpc->id, PM_RPC_NO_METHOD, NULL, "There is no method '%.60s'%s.", rpc->method,
			find_method(rpc->method, BOTH) < 0 ? "" : " in the revision that is spoken here");
	else if (!r.modern && !m->initialized && strcmp(rpc->method, "ping") != 0)
		pm__mcp_error(m, rpc->id, PM_RPC_INVALID_PARAMS, NULL,
			      "params._meta lacks " PM_MCP_VERSION_KEY " and " PM_MCP_CAPABILITIES_KEY
			      ", and there was no initialize: begin with one of both.");
	else
		methods[at].answer(&r);
}

void pm_mcp_line(PmMcp *m, const char *line, size_t n)
{
	PmRpc r;
	size_t blank = 0;

	while (blank < n && strchr(" \t\r", line[blank]) && line[blank])
		blank++;
	if (blank == n)
		return;
	pm__rpc_read(line, n, &r);
	if (m->o.record && cJSON_IsObject(r.message))
		m->o.record(m->o.record_arg, PM_MCP_FROM_CLIENT, r.message);
	if (r.kind == PM_RPC_BAD)
		pm__mcp_error(m, r.id, r.code, NULL, "%s", r.err.text);
	else if (r.kind == PM_RPC_REQUEST)
		request(m, &r);
	else if (r.kind == PM_RPC_NOTIFICATION && !strcmp(r.method, "notifications/cancelled"))
		pm__mcp_call_cancelled(m, r.params);
	/* Other notifications ask for nothing, and no request of ours waits for a response. */
	pm__rpc_release(&r);
}
