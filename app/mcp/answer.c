/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what goes out: results and errors as lines, and what of them was written. */
#include "app/mcp/mcp_priv.h"

#include "base/core/arena.h"
#include "base/core/version.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Tools quote compilers and files, whose bytes need not be UTF-8: what is not becomes U+FFFD. */
static void add_utf8(PmStr *out, const char *s, size_t n)
{
	while (n) {
		size_t good = pm__utf8_bad(s, n);

		pm_str_addn(out, s, good);
		if (good == n)
			return;
		pm_str_add(out, "\xef\xbf\xbd");
		s += good + 1;
		n -= good + 1;
	}
}

void pm__mcp_send(PmMcp *m, cJSON *message)
{
	PmStr line = PM_STR_INIT;

	if (m->o.record)
		m->o.record(m->o.record_arg, PM_MCP_TO_CLIENT, message);
	pm_json_print(message, 0, &line);
	add_utf8(&m->out, line.s, line.len);
	pm_str_release(&line);
	cJSON_Delete(message);
}

const PmStr *pm_mcp_out(const PmMcp *m)
{
	PmMcp *w = pm_unconst(m);

	w->view = (PmStr){ m->out.s + m->written, m->out.len - m->written, 0 };
	return &m->view;
}

void pm_mcp_wrote(PmMcp *m, size_t n)
{
	m->written += n;
	if (m->written >= m->out.len) {
		pm_str_clear(&m->out);
		m->written = 0;
	} else if (m->written >= PM_MCP_OUT_FULL) {
		m->out.len -= m->written;
		memmove(m->out.s, m->out.s + m->written, m->out.len + 1);
		m->written = 0;
	}
}

cJSON *pm__mcp_server_info(void)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "name", "passmith");
	cJSON_AddStringToObject(j, "title", "Passmith");
	cJSON_AddStringToObject(j, "version", PM_VERSION);
	return j;
}

void pm__mcp_result(PmMcp *m, const cJSON *id, int modern, cJSON *result)
{
	cJSON *j = pm__rpc_answer(id), *meta;

	if (modern) {
		cJSON_AddStringToObject(result, "resultType", "complete");
		meta = cJSON_AddObjectToObject(result, "_meta");
		cJSON_AddItemToObject(meta, PM_MCP_SERVER_KEY, pm__mcp_server_info());
	}
	cJSON_AddItemToObject(j, "result", result);
	pm__mcp_send(m, j);
}

void pm__mcp_error(PmMcp *m, const cJSON *id, int code, cJSON *data, const char *fmt, ...)
{
	cJSON *j = pm__rpc_answer(id), *e = cJSON_AddObjectToObject(j, "error");
	char text[PM_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pm_json_add_i64(e, "code", code);
	cJSON_AddStringToObject(e, "message", text);
	if (data)
		cJSON_AddItemToObject(e, "data", data);
	pm__mcp_send(m, j);
}

void pm__mcp_cacheable(const PmMcpRequest *r, cJSON *result, int ttl_ms, const char *scope)
{
	if (!r->modern)
		return;
	pm_json_add_i64(result, "ttlMs", ttl_ms);
	cJSON_AddStringToObject(result, "cacheScope", scope);
}

const char *pm__mcp_text_param(const PmMcpRequest *r, const cJSON *object, const char *key)
{
	const char *text = pm_json_str(object, key, NULL);

	if (!text)
		pm__mcp_error(r->m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL,
			      "The method %.60s needs the parameter \"%s\", a text.", r->rpc->method, key);
	return text;
}

int pm__mcp_has_cursor(const PmMcpRequest *r)
{
	const cJSON *cursor = cJSON_GetObjectItemCaseSensitive(r->rpc->params, "cursor");

	if (!cursor || cJSON_IsNull(cursor))
		return 0;
	pm__mcp_error(r->m, r->rpc->id, PM_RPC_INVALID_PARAMS, NULL,
		      "This cursor is not known: every list has one page; leave the cursor out.");
	return 1;
}
