/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_client.h - a client of `passmith mcp` for tests: starts the program, says lines, reads lines, and sees
 * the processes that it has. */
#ifndef LIB_MCP_CLIENT_H
#define LIB_MCP_CLIENT_H

#include "base/core/json.h"

#include <sys/types.h>

typedef struct McpClient {
	pid_t pid;
	int to, from; /* -1 when closed */
	PmStr got;    /* read and not yet taken */
	int ids;
} McpClient;

/* Starts $(BUILD)/passmith mcp --quiet with these further words, NULL at the end. */
void mcp_start(McpClient *c, const char *const *words);
/* Writes a line; the newline is added. */
void mcp_say(McpClient *c, const char *line);
/* The next line without its newline, the caller's; NULL at the end. */
char *mcp_hear(McpClient *c);
/* The next message; fails at the end. The caller's. */
cJSON *mcp_message(McpClient *c);
/* Says initialize and hears its answer. */
void mcp_initialize(McpClient *c);
/* Begins tools/call with the arguments as text; returns the id. */
int mcp_begin(McpClient *c, const char *tool, const char *args);
/* The answer to this id; progress and other answers before it are an error of the test. The caller's. */
cJSON *mcp_answer(McpClient *c, int id);
/* A whole call: its structuredContent, which the test expects; the caller's. */
cJSON *mcp_call(McpClient *c, const char *tool, const char *args);
/* Says notifications/cancelled. */
void mcp_cancel(McpClient *c, int id);
/* Closes one of the client's ends. */
void mcp_close(int *fd);
/* Waits until the program has ended by itself; returns its exit status, -1 when a signal ended it. */
int mcp_ended(McpClient *c);
/* Closes the program's input, waits for its end, which has to be 0, and frees. */
void mcp_finish(McpClient *c);

/* This process becomes the parent of what its descendants leave behind, so that nothing gets lost. */
void mcp_adopt(void);
/* How many processes below `pid` have `word` in their command line, those that ended left out. */
int mcp_descendants(pid_t pid, const char *word);
/* Waits until no such process is left below this one: as long as the test's deadline allows. */
void mcp_all_gone(const char *word);
/* Waits until this process has no child at all, and reaps those that ended. */
void mcp_none_left(void);

#endif
