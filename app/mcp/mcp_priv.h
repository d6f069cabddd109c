/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_priv.h - what the files of app/mcp share: messages, their answers, the calls in flight. */
#ifndef MCP_MCP_PRIV_H
#define MCP_MCP_PRIV_H

#include "app/mcp/mcp.h"

/* Codes of errors: those of JSON-RPC, and those that the protocol gives a meaning to. */
enum {
	PM_RPC_PARSE = -32700,
	PM_RPC_INVALID_REQUEST = -32600,
	PM_RPC_NO_METHOD = -32601,
	PM_RPC_INVALID_PARAMS = -32602,
	PM_RPC_INTERNAL = -32603,
	PM_RPC_BUSY = -32003,             /* ours: too many calls in flight */
	PM_RPC_NO_RESOURCE_2025 = -32002, /* until 2025-11-25; after it PM_RPC_INVALID_PARAMS */
	PM_RPC_UNSUPPORTED_VERSION = -32022
};

#define PM_MCP_VERSION_KEY      "io.modelcontextprotocol/protocolVersion"
#define PM_MCP_CAPABILITIES_KEY "io.modelcontextprotocol/clientCapabilities"
#define PM_MCP_SERVER_KEY       "io.modelcontextprotocol/serverInfo"

typedef enum { PM_RPC_REQUEST, PM_RPC_NOTIFICATION, PM_RPC_RESPONSE, PM_RPC_BAD } PmRpcKind;

/* One line as read. All is borrowed from `message`, which pm__rpc_release frees. */
typedef struct PmRpc {
	PmRpcKind kind;
	cJSON *message;      /* NULL when it is no JSON */
	const cJSON *id;     /* NULL when there is none that can be named */
	const char *method;  /* of requests and notifications */
	const cJSON *params; /* an object, or NULL */
	int code;            /* of what is bad, with its sentence */
	PmErr err;
} PmRpc;

/* Reads a line; what is wrong with it is in out->code and out->err (kind PM_RPC_BAD). */
void pm__rpc_read(const char *line, size_t n, PmRpc *out);
void pm__rpc_release(PmRpc *r);
/* 1 when two ids are the same: both texts, or both numbers, and equal. */
int pm__rpc_same_id(const cJSON *a, const cJSON *b);
/* {"jsonrpc": "2.0", "id": ...}: `id` is copied, NULL = null. */
cJSON *pm__rpc_answer(const cJSON *id);

/* The place of the first byte that is not of well-formed UTF-8, or n. */
size_t pm__utf8_bad(const char *s, size_t n);

typedef struct PmMcpCall {
	cJSON *id, *token; /* owned; token NULL = no progress wanted */
	void *call;        /* of PmMcpTools */
	int modern;
	double told; /* the progress told last; < 0 = none */
} PmMcpCall;

struct PmMcp {
	PmMcpOpts o;
	PmStr out;
	size_t written; /* bytes of `out` that are gone already */
	PmStr view;     /* not owned: `out` without those */
	int initialized;
	PmMcpCall calls[PM_MCP_MAX_CALLS];
	int n_calls;
};

/* A request being answered. */
typedef struct PmMcpRequest {
	PmMcp *m;
	const PmRpc *rpc;
	int modern; /* of revision 2026-07-28 */
} PmMcpRequest;

/* Hands a message to the recorder and to `out`; takes it. */
void pm__mcp_send(PmMcp *m, cJSON *message);
/* Answers with a result, which it takes; in the newer era resultType and serverInfo are added. */
void pm__mcp_result(PmMcp *m, const cJSON *id, int modern, cJSON *result);
/* Answers with an error; takes `data`, NULL = none. */
void pm__mcp_error(PmMcp *m, const cJSON *id, int code, cJSON *data, const char *fmt, ...) PM_PRINTF(5, 6);
/* ttlMs and cacheScope of a result that the newer era lets clients keep; nothing in the older one. */
void pm__mcp_cacheable(const PmMcpRequest *r, cJSON *result, int ttl_ms, const char *scope);
/* A parameter that must be text: borrowed, or NULL after an error was answered. */
const char *pm__mcp_text_param(const PmMcpRequest *r, const cJSON *object, const char *key);
/* 1 when the request names a cursor, which was answered by an error: no list has a second page. */
int pm__mcp_has_cursor(const PmMcpRequest *r);

/* tools/call: begins a call, and answers it when it is done at once. */
void pm__mcp_call_begin(const PmMcpRequest *r);
/* notifications/cancelled: ends the call of that request, which is not answered. */
void pm__mcp_call_cancelled(PmMcp *m, const cJSON *params);
/* Ends all calls. */
void pm__mcp_calls_end(PmMcp *m);

void pm__mcp_prompts_list(const PmMcpRequest *r);
void pm__mcp_prompts_get(const PmMcpRequest *r);

/* server/discover, and the answer of initialize. */
void pm__mcp_discover(const PmMcpRequest *r);
void pm__mcp_initialize(const PmMcpRequest *r);
/* The object that names this server; returns owned. */
cJSON *pm__mcp_server_info(void);
/* 1 when the request's envelope can be served; else the error was answered. */
int pm__mcp_envelope(const PmMcpRequest *r, const cJSON *meta);

#endif
