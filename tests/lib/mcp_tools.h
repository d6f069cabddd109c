/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_tools.h - tools for tests of the protocol: at once, slow, never, wrong, and their calls counted. */
#ifndef LIB_MCP_TOOLS_H
#define LIB_MCP_TOOLS_H

#include "app/mcp/mcp.h"

/* Tools: "echo" gives its arguments back; "fail" ends in a sentence, "fail_more" in a sentence and a member;
 * "slow" takes {"steps": N} steps and tells progress at each; "never" does not end; "bytes" answers with
 * bytes that are no UTF-8. Resources: passmith://test/text. */
typedef struct TestTools {
	cJSON *table;
	int wait_ms; /* between two steps; -1 = only when something else happens */
	int begun, taken, cancelled;
	struct TestCall *first;
} TestTools;

/* `t` is filled, and stays where it is as long as the interface is used. */
PmMcpTools pm_test_tools(TestTools *t);
void pm_test_tools_release(TestTools *t);

#endif
