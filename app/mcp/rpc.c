/* SPDX-License-Identifier: Apache-2.0 */
/* rpc.c - lines as JSON-RPC 2.0 messages. */
#include "app/mcp/mcp_priv.h"

#include <math.h>
#include <string.h>

/* Bytes of the sequence at s, 0 when it is not well formed: no overlong form, no surrogate, none above
 * U+10FFFF (RFC 3629). */
static size_t sequence(const unsigned char *s, size_t n)
{
	size_t len = s[0] < 0x80   ? 1
		     : s[0] < 0xc2 ? 0
		     : s[0] < 0xe0 ? 2
		     : s[0] < 0xf0 ? 3
		     : s[0] < 0xf5 ? 4
				   : 0;

	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

size_t pm__utf8_bad(const char *s, size_t n)
{
	size_t i = 0, len;

	while (i < n && (len = sequence((const unsigned char *)s + i, n - i)) > 0)
		i += len;
	return i;
}

/* 1 when a text of the line holds the escape of a NUL character, which the text as C holds it would end at.
 */
static int has_nul_escape(const char *s, size_t n)
{
	const char *end = s + n, *p = s;

	while ((p = memchr(p, '\\', (size_t)(end - p))) != NULL) {
		if (end - p >= 6 && !memcmp(p, "\\u0000", 6))
			return 1;
		p += end - p >= 2 ? 2 : 1;
	}
	return 0;
}

static int bad(PmRpc *r, int code, const char *sentence)
{
	r->kind = PM_RPC_BAD;
	r->code = code;
	pm_err(&r->err, PM_E_INVALID, "%s", sentence);
	return 0;
}

static int is_id(const cJSON *id)
{
	return cJSON_IsString(id) || (cJSON_IsNumber(id) && id->valuedouble == floor(id->valuedouble));
}

/* The members of a message; 0 when one is not as JSON-RPC has it. */
static int members(PmRpc *r)
{
	const cJSON *version = pm_json_get(r->message, "jsonrpc"),
		    *method = pm_json_get(r->message, "method"), *id = pm_json_get(r->message, "id");

	if (is_id(id))
		r->id = id;
	if (!cJSON_IsString(version) || strcmp(version->valuestring, "2.0") != 0)
		return bad(r, PM_RPC_INVALID_REQUEST, "The member \"jsonrpc\" must be \"2.0\".");
	if (!method && (pm_json_get(r->message, "result") || pm_json_get(r->message, "error"))) {
		r->kind = PM_RPC_RESPONSE;
		return 1;
	}
	if (id && !r->id)
		return bad(r, PM_RPC_INVALID_REQUEST, "The member \"id\" must be a text or a whole number.");
	if (!cJSON_IsString(method))
		return bad(r, PM_RPC_INVALID_REQUEST, "The member \"method\" must be a text.");
	r->params = pm_json_get(r->message, "params");
	if (cJSON_IsNull(r->params))
		r->params = NULL;
	if (r->params && !cJSON_IsObject(r->params))
		return bad(r, PM_RPC_INVALID_REQUEST, "The member \"params\" must be an object.");
	r->method = method->valuestring;
	r->kind = id ? PM_RPC_REQUEST : PM_RPC_NOTIFICATION;
	return 1;
}

void pm__rpc_read(const char *line, size_t n, PmRpc *r)
{
	size_t at;

	memset(r, 0, sizeof *r);
	pm_err_init(&r->err);
	if (n > PM_MCP_MAX_LINE) {
		r->kind = PM_RPC_BAD;
		r->code = PM_RPC_INVALID_REQUEST;
		pm_err(&r->err, PM_E_INVALID, "A message has more than %d bytes; send a smaller one.",
		       PM_MCP_MAX_LINE);
		return;
	}
	at = pm__utf8_bad(line, n);
	if (at < n) {
		r->kind = PM_RPC_BAD;
		r->code = PM_RPC_PARSE;
		pm_err(&r->err, PM_E_INVALID, "The byte %zu of the message is not UTF-8.", at + 1);
		return;
	}
	if (pm_json_parse(line, n, &r->message, &r->err)) {
		r->kind = PM_RPC_BAD;
		r->code = PM_RPC_PARSE;
		return;
	}
	if (!cJSON_IsObject(r->message))
		bad(r, PM_RPC_INVALID_REQUEST,
		    "A message must be one JSON object; send the messages of a batch one a line.");
	else if (members(r) && r->kind != PM_RPC_RESPONSE && has_nul_escape(line, n))
		bad(r, PM_RPC_INVALID_REQUEST, "The message holds the character \\u0000; leave it out.");
}

void pm__rpc_release(PmRpc *r)
{
	cJSON_Delete(r->message);
	r->message = NULL;
}

int pm__rpc_same_id(const cJSON *a, const cJSON *b)
{
	if (cJSON_IsString(a) && cJSON_IsString(b))
		return !strcmp(a->valuestring, b->valuestring);
	if (!cJSON_IsNumber(a) || !cJSON_IsNumber(b))
		return 0;
	if (a->valuestring && b->valuestring) /* beyond 2^53 the text is exact (base/core/json.c) */
		return !strcmp(a->valuestring, b->valuestring);
	return a->valuedouble == b->valuedouble;
}

cJSON *pm__rpc_answer(const cJSON *id)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "jsonrpc", "2.0");
	cJSON_AddItemToObject(j, "id", id ? cJSON_Duplicate(id, 1) : cJSON_CreateNull());
	return j;
}
