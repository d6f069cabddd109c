/* SPDX-License-Identifier: Apache-2.0 */
/* tools.c - the tools of app/tools as what a server offers. */
#include "app/mcp/mcp.h"

static const cJSON *list(const void *tools)
{
	(void)tools;
	return pm_tools_table();
}

static PmStatus begin(void *tools, const char *name, const cJSON *args, void **call, PmErr *err)
{
	PmToolCall *c = NULL;
	PmStatus st = pm_tool_begin(tools, name, args, &c, err);

	*call = c;
	return st;
}

static int done(const void *call)
{
	return pm_tool_done(call);
}

static cJSON *take(void *call, int *is_error)
{
	return pm_tool_take(call, is_error);
}

static void cancel(void *call)
{
	pm_tool_cancel(call);
}

static int progress(void *call, double *got, double *total, const char **words)
{
	return pm_tool_progress(call, got, total, words);
}

static int fds(const void *tools, struct pollfd *to, int max, int *wait_ms)
{
	return pm_tools_fds(tools, to, max, wait_ms);
}

static void step(void *tools)
{
	pm_tools_step(tools);
}

static cJSON *resources(const void *tools)
{
	return pm_tools_resources(tools);
}

static PmStatus resource(const void *tools, const char *uri, PmStr *text, const char **mime, PmErr *err)
{
	return pm_tools_resource(tools, uri, text, mime, err);
}

PmMcpTools pm_mcp_tools(PmTools *t)
{
	return (PmMcpTools){ t, list, begin, done, take, cancel, progress, fds, step, resources, resource };
}
