/* SPDX-License-Identifier: Apache-2.0 */
/* mcp.h - a server of the Model Context Protocol: JSON-RPC 2.0, one object a line, in both eras of the
 * protocol.
 *
 * Since revision 2026-07-28 each request says in params._meta which revision it speaks and what its client
 * can do; nothing is kept between requests. Before, in 2025-11-25 and 2025-06-18, a client begins with
 * "initialize". Which era a request belongs to is decided for each: with the member
 * io.modelcontextprotocol/protocolVersion in params._meta it is of the newer one, whatever came before.
 *
 * A PmMcp is fed lines and gives lines: it knows no descriptors, so that tests and fuzzers feed it texts.
 * pm_mcp_serve puts it between two descriptors, one process, no threads.
 */
#ifndef MCP_MCP_H
#define MCP_MCP_H

#include "app/tools/tools.h"
#include "base/core/json.h"

/* What a server offers. pm_mcp_tools fills it with the tools of app/tools; tests put others there. Each
 * member means what the function of the same name in app/tools/tools.h does. */
typedef struct PmMcpTools {
	void *tools;
	const cJSON *(*list)(const void *tools);
	PmStatus (*begin)(void *tools, const char *name, const cJSON *args, void **call, PmErr *err);
	int (*done)(const void *call);
	cJSON *(*take)(void *call, int *is_error);
	void (*cancel)(void *call);
	int (*progress)(void *call, double *done, double *total, const char **words);
	int (*fds)(const void *tools, struct pollfd *fds, int max, int *wait_ms);
	void (*step)(void *tools);
	cJSON *(*resources)(const void *tools);
	PmStatus (*resource)(const void *tools, const char *uri, PmStr *text, const char **mime, PmErr *err);
} PmMcpTools;

/* The interface to a session's tools, which it borrows. */
PmMcpTools pm_mcp_tools(PmTools *t);

typedef enum { PM_MCP_FROM_CLIENT, PM_MCP_TO_CLIENT } PmMcpDirection;

typedef struct PmMcpOpts {
	PmMcpTools tools;
	/* Where the folder prompts lies, as in app/exemplar/folder.h; borrowed; NULL = pm_root_dir(). */
	const char *root;
	/* Called with every message that is an object, in the order of the wire; may be NULL. */
	void (*record)(void *arg, PmMcpDirection direction, const cJSON *message);
	void *record_arg;
} PmMcpOpts;

enum {
	PM_MCP_MAX_LINE =
		4 << 20, /* bytes of one message; a longer one is passed over and answered by an error */
	PM_MCP_MAX_CALLS = 64,    /* calls of tools in flight; one more is answered by an error */
	PM_MCP_OUT_FULL = 1 << 20 /* bytes not yet written, above which no more is read */
};

typedef struct PmMcp PmMcp;

/* A server without descriptors. Returns owned; what `o` points to must outlive it. */
PmMcp *pm_mcp_new(const PmMcpOpts *o);
/* Ends all calls in flight (their children end) and frees; NULL is allowed. */
void pm_mcp_free(PmMcp *m);
/* Takes one message of n bytes, without its newline; what is to be answered is appended to pm_mcp_out. Blank
 * lines are nothing. A text of more than PM_MCP_MAX_LINE bytes is answered by an error. */
void pm_mcp_line(PmMcp *m, const char *line, size_t n);
/* Lets the tools go on, and answers the calls that are done unless PM_MCP_OUT_FULL bytes wait already. */
void pm_mcp_step(PmMcp *m);
/* What is to be written; the caller takes bytes away from its front (pm_mcp_wrote). */
const PmStr *pm_mcp_out(const PmMcp *m);
/* The first n bytes of pm_mcp_out were written. */
void pm_mcp_wrote(PmMcp *m, size_t n);
/* How many calls are in flight. */
int pm_mcp_in_flight(const PmMcp *m);

/* Serves until `in` ends, `out` has no reader, or SIGTERM, SIGINT or SIGHUP comes, all of which are PM_OK;
 * calls in flight are ended then. While more than PM_MCP_OUT_FULL bytes wait for the client, nothing is read.
 * PM_E_IO when a descriptor fails otherwise. */
PmStatus pm_mcp_serve(PmMcp *m, int in, int out, PmErr *err);

#endif
