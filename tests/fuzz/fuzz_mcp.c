/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mcp.c - any bytes as what a client says: each answer is one JSON object on one line, in UTF-8, of the
 * right shape; no request is answered twice, and all calls are ended. */
#include "app/mcp/mcp.h"
#include "tests/lib/mcp_tools.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(int ok, const char *what)
{
	if (!ok)
		PM_BUG("%s", what);
}

/* Looks at what was said; returns how many answers there were, notifications left out. */
static int answers(PmMcp *m)
{
	int count = 0;

	for (;;) {
		const PmStr *o = pm_mcp_out(m);
		const char *end = o->len ? memchr(o->s, '\n', o->len) : NULL;
		cJSON *j = NULL;

		if (!end)
			break;
		need(pm_json_parse(o->s, (size_t)(end - o->s), &j, NULL) == PM_OK, "what is said is no JSON");
		need(cJSON_IsObject(j), "what is said is no object");
		need(!strcmp(pm_json_str(j, "jsonrpc", ""), "2.0"), "the version is missing");
		if (cJSON_GetObjectItemCaseSensitive(j, "method")) {
			need(!cJSON_GetObjectItemCaseSensitive(j, "id"), "a request to the client");
		} else {
			need(!cJSON_GetObjectItemCaseSensitive(j, "result") !=
				     !cJSON_GetObjectItemCaseSensitive(j, "error"),
			     "neither a result nor an error, or both");
			need(cJSON_GetObjectItemCaseSensitive(j, "id") != NULL, "an answer without an id");
			count++;
		}
		cJSON_Delete(j);
		pm_mcp_wrote(m, (size_t)(end - o->s) + 1);
	}
	need(pm_mcp_out(m)->len == 0, "a line is not ended");
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	TestTools tools;
	PmMcpOpts o = { .tools = pm_test_tools(&tools) };
	PmMcp *m = pm_mcp_new(&o);
	const char *p = (const char *)data, *end = p + n, *newline;
	int said = 0, lines = 0;

	for (; p < end; p = newline + 1, lines++) {
		newline = memchr(p, '\n', (size_t)(end - p));
		if (!newline)
			newline = end;
		pm_mcp_line(m, p, (size_t)(newline - p));
		said += answers(m);
		need(said + pm_mcp_in_flight(m) <= lines + 1, "a line was answered twice");
		if (newline == end)
			break;
	}
	for (int i = 0; i < 4; i++)
		pm_mcp_step(m);
	said += answers(m);
	pm_mcp_free(m);
	need(tools.taken + tools.cancelled == tools.begun && !tools.first, "a call was left");
	pm_test_tools_release(&tools);
	return 0;
}
