/* SPDX-License-Identifier: Apache-2.0 */
/* era.c - the revisions that are spoken: the envelope of each request since 2026-07-28, and initialize
 * before.
 */
#include "app/mcp/mcp_priv.h"

#include <string.h>

/* Newest first. Those that need initialize come after the others. */
static const char *const revisions[] = { "2026-07-28", "2025-11-25", "2025-06-18" };
enum { N_REVISIONS = sizeof revisions / sizeof *revisions, FIRST_OLD = 1 };

static const char instructions[] =
	"Passmith judges compiler passes: C sources that replace a part of a model's graph by faster "
	"kernels. "
	"Choose a task (list_tasks), read it (show_task), start from a template (new_pass) and change it "
	"(write_file, edit_file); then build, check, explain and evaluate it. What takes long answers with a "
	"run: get_run waits for it. submit hands the pass in.";

static int revision(const char *name)
{
	for (int i = 0; i < N_REVISIONS; i++)
		if (!strcmp(revisions[i], name))
			return i;
	return -1;
}

/* No member says that lists change: clients read them again. */
static void add_capabilities(cJSON *result)
{
	cJSON *c = cJSON_AddObjectToObject(result, "capabilities");

	cJSON_AddObjectToObject(c, "tools");
	cJSON_AddObjectToObject(c, "resources");
	cJSON_AddObjectToObject(c, "prompts");
}

void pm__mcp_discover(const PmMcpRequest *r)
{
	cJSON *result = cJSON_CreateObject();

	/* What a request's envelope may name; the older revisions begin with initialize. */
	cJSON_AddItemToObject(result, "supportedVersions", cJSON_CreateStringArray(revisions, FIRST_OLD));
	add_capabilities(result);
	cJSON_AddStringToObject(result, "instructions", instructions);
	pm__mcp_cacheable(r, result, 3600 * 1000, "public");
	pm__mcp_result(r->m, r->rpc->id, 1, result);
}

void pm__mcp_initialize(const PmMcpRequest *r)
{
	const char *wanted = pm__mcp_text_param(r, r->rpc->params, "protocolVersion");
	cJSON *result;
	int at;

	if (!wanted)
		return;
	if (!cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(r->rpc->params, "capabilities")) ||
	    !cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(r->rpc->params, "clientInfo"))) {
		pm__mcp_error(
			r->m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL,
			"The method initialize needs the parameters \"capabilities\" and \"clientInfo\", "
			"both objects.");
		return;
	}
	at = revision(wanted);
	result = cJSON_CreateObject();
	cJSON_AddStringToObject(result, "protocolVersion", revisions[at < FIRST_OLD ? FIRST_OLD : at]);
	add_capabilities(result);
	cJSON_AddItemToObject(result, "serverInfo", pm__mcp_server_info());
	cJSON_AddStringToObject(result, "instructions", instructions);
	r->m->initialized = 1;
	pm__mcp_result(r->m, r->rpc->id, 0, result);
}

/* `supported` of the error: what may be named instead. A client that named an older revision in an envelope
 * is told of the newer ones alone, for the older ones begin with initialize. */
static void unsupported(const PmMcpRequest *r, const char *wanted)
{
	cJSON *data = cJSON_CreateObject();
	int old = revision(wanted) >= FIRST_OLD;

	cJSON_AddItemToObject(data, "supported",
			      cJSON_CreateStringArray(revisions, old ? FIRST_OLD : N_REVISIONS));
	cJSON_AddStringToObject(data, "requested", wanted);
	pm__mcp_error(r->m, r->rpc->id, PM_RPC_UNSUPPORTED_VERSION, data,
		      old ? "The revision '%.40s' of the protocol begins with initialize and not in _meta."
			  : "The revision '%.40s' of the protocol is not spoken here.",
		      wanted);
}

int pm__mcp_envelope(const PmMcpRequest *r, const cJSON *meta)
{
	const cJSON *version = cJSON_GetObjectItemCaseSensitive(meta, PM_MCP_VERSION_KEY),
		    *can = cJSON_GetObjectItemCaseSensitive(meta, PM_MCP_CAPABILITIES_KEY);

	if (!cJSON_IsString(version) || !can) {
		pm__mcp_error(r->m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL, "params._meta needs %s.",
			      can ? PM_MCP_VERSION_KEY " as a text" : PM_MCP_CAPABILITIES_KEY ", an object");
		return 0;
	}
	if (revision(version->valuestring) != 0) {
		unsupported(r, version->valuestring);
		return 0;
	}
	if (!cJSON_IsObject(can)) {
		pm__mcp_error(r->m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL,
			      "params._meta needs " PM_MCP_CAPABILITIES_KEY ", an object.");
		return 0;
	}
	return 1;
}
