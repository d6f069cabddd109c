/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_mcp.c - passmith mcp: tools for an agent, on stdin and stdout. */
#include "cli/cmds.h"

#include "app/mcp/mcp.h"
#include "app/mcp/page.h"
#include "app/trajectory/protocol.h"
#include "base/sys/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Mcp {
	PmToolsOpts opts;
	int tools, page, no_record;
} Mcp;

/* A fresh folder below the cache: clients start servers in folders that are nobody's. */
static PmStatus make_workspace(PmStr *path, PmErr *err)
{
	PmStatus st = pm_cache_dir(path, err);

	if (st)
		return st;
	pm_str_add(path, "/workspaces");
	st = pm_mkdirs(path->s, err);
	if (st)
		return st;
	pm_str_add(path, "/session-XXXXXX");
	if (!mkdtemp(path->s))
		return pm_path_error("make", path->s, 1, err);
	return PM_OK;
}

static int print_table(const Mcp *m)
{
	const cJSON *t;
	PmStr text = PM_STR_INIT;
	cJSON *j;

	if (m->page) {
		pm_mcp_tools_page(pm_tools_table(), &text);
		fputs(text.s, stdout);
		pm_str_release(&text);
	} else if (pm_cli_json) {
		j = cJSON_CreateObject();
		cJSON_AddItemToObject(j, "tools", cJSON_Duplicate(pm_tools_table(), 1));
		pm_cli_put_json(j);
	} else {
		cJSON_ArrayForEach(t, pm_tools_table())
			printf("%-14s %s\n", pm_json_str(t, "name", ""), pm_json_str(t, "title", ""));
	}
	return 0;
}

static void record(void *arg, PmMcpDirection direction, const cJSON *message)
{
	pm_protocol_recorder_message(arg, direction == PM_MCP_FROM_CLIENT, message);
}

/* From here on stdout is the protocol's, whatever --json says. */
static int serve(const Mcp *m)
{
	PmToolsOpts o = m->opts;
	PmStr workspace = PM_STR_INIT;
	PmTools *tools = NULL;
	PmMcpOpts mo = { 0 };
	PmProtocolRecorder *recorder = NULL;
	PmMcp *server;
	PmStatus st = PM_OK;
	PmErr err;

	pm_err_init(&err);
	pm_cli_stage("reading");
	if (!o.workspace)
		st = make_workspace(&workspace, &err);
	if (!o.workspace)
		o.workspace = workspace.s;
	if (!st)
		st = pm_tools_open(&o, &tools, &err);
	if (!st) {
		pm_cli_json = 0;
		if (!pm_cli_quiet)
			fprintf(stderr, "passmith: The workspace is %s.\n", o.workspace);
		mo.tools = pm_mcp_tools(tools);
		if (o.db && !m->no_record) {
			recorder = pm_protocol_recorder_new(o.db, o.workspace, o.device);
			mo.record = record;
			mo.record_arg = recorder;
		}
		server = pm_mcp_new(&mo);
		st = pm_mcp_serve(server, STDIN_FILENO, STDOUT_FILENO, &err);
		pm_mcp_free(server);
		pm_protocol_recorder_end(recorder);
	}
	pm_tools_close(tools);
	if (workspace.len)
		rmdir(workspace.s); /* only when nothing was written there */
	pm_str_release(&workspace);
	return st ? pm_cli_fail(&err) : 0;
}

int pm_cmd_mcp(const PmCmd *cmd, int argc, char **argv)
{
	Mcp m = { .opts = { .device = "emu", .steps = -1 } };
	int64_t steps = -1;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &m.opts.db,
		  "FILE  tasks, and where results are kept; without it there are none" },
		{ "--workspace", PM_OPT_STR, &m.opts.workspace,
		  "DIR  folder of the agent's files (default: a fresh one below the cache)" },
		{ "--device", PM_OPT_DEVICE, &m.opts.device, "emu (times are modelled) or cuda" },
		PM_OPT_TARGET_ROW(NULL),
		{ "--steps", PM_OPT_COUNT, &steps,
		  "how many evaluations the agent may make (default: any number)" },
		{ "--deadline", PM_OPT_NUM, &m.opts.deadline_s,
		  "the most seconds a variant of an evaluation may take (default as eval, and a call may "
		  "give any)" },
		{ "--no-record", PM_OPT_FLAG, &m.no_record,
		  "keep nothing of the session in the database (passmith trajectory)" },
		{ "--tools", PM_OPT_FLAG, &m.tools,
		  "print what tools there are, and end; with --json their schemas" },
		{ "--tools-markdown", PM_OPT_FLAG, &m.page, "print docs/reference/tools.md, and end" },
		{ 0 },
	};
	PmStrList words = { 0 };
	int code = 0;

	if (pm_args_parse(cmd, opts, argc, argv, &words, &code)) {
		m.opts.steps = steps;
		if (words.list.n)
			code = pm_cli_usage(cmd, "mcp takes no arguments but options.");
		else if (m.page && pm_cli_json)
			code = pm_cli_usage(cmd,
					    "--tools-markdown is text; leave --json out, or take --tools.");
		else
			code = m.tools || m.page ? print_table(&m) : serve(&m);
	}
	PM_VEC_RELEASE(&words.list);
	return code;
}
