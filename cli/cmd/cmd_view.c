/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_view.c - passmith view: a model as a drawing. */
#include "app/view/view.h"
#include "cli/cmds.h"

#include "base/sys/io.h"

#include <stdio.h>

static void put(const char *path, const char *out, const PmViewDone *d, size_t bytes)
{
	cJSON *j;

	if (!pm_cli_json) {
		printf("wrote %s: %zu nodes, %zu groups; %zu level%s drawn, %zu bytes\n", out, d->nodes,
		       d->groups, d->sheets, d->sheets == 1 ? "" : "s", bytes);
		return;
	}
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "file", path);
	cJSON_AddStringToObject(j, "out", out);
	pm_json_add_i64(j, "nodes", (int64_t)d->nodes);
	pm_json_add_i64(j, "groups", (int64_t)d->groups);
	pm_json_add_i64(j, "levels", (int64_t)d->sheets);
	pm_json_add_i64(j, "boxes", (int64_t)d->boxes);
	pm_json_add_i64(j, "closed", (int64_t)d->closed);
	pm_json_add_i64(j, "bytes", (int64_t)bytes);
	pm_cli_put_json(j);
}

static PmStatus view(const char *path, const char *out, PmViewOpts *o, PmErr *err)
{
	PmStr text = PM_STR_INIT;
	PmViewDone done;
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, NULL, err);

	o->name = pm_path_base(path);
	o->svg = pm_str_ends(out, ".svg");
	if (!st)
		st = pm_view(g, o, &text, &done, err);
	if (!st) {
		pm_cli_stage("writing");
		st = pm_write_file(out, text.s, text.len, err);
	}
	if (!st)
		put(path, out, &done, text.len);
	pm_str_release(&text);
	pm_graph_free(g);
	return st;
}

/* 1 when `name` is a way to lay out; *out is it. */
static int engine(const char *name, PmLayoutEngine *out)
{
	*out = pm_str_eq(name, "own")        ? PM_LAYOUT_OWN
	       : pm_str_eq(name, "graphviz") ? PM_LAYOUT_GRAPHVIZ
					     : PM_LAYOUT_AUTO;
	return *out != PM_LAYOUT_AUTO || pm_str_eq(name, "auto");
}

int pm_cmd_view(const PmCmd *cmd, int argc, char **argv)
{
	const char *out = NULL, *layout = "auto";
	int64_t group = 0;
	PmViewOpts o = { .name = NULL };
	const PmOpt opts[] = {
		{ "-o", PM_OPT_STR, &out, "the file to write, NAME.html or NAME.svg" },
		{ "--flat", PM_OPT_FLAG, &o.flat, "all nodes on one level, without groups" },
		{ "--group", PM_OPT_COUNT, &group, "begins with group N; 0 = the whole" },
		{ "--layout", PM_OPT_STR, &layout,
		  "auto, own or graphviz: auto takes Graphviz for small levels where it is there" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		o.group = (size_t)group;
		if (files.list.n != 1 || !out || !(pm_str_ends(out, ".html") || pm_str_ends(out, ".svg")))
			code = pm_cli_usage(cmd, "view takes one model and -o NAME.html or -o NAME.svg.");
		else if (!engine(layout, &o.engine))
			code = pm_cli_usage(cmd, "--layout is auto, own or graphviz, not '%.100s'.", layout);
		else if (view(files.list.v[0], out, &o, &err))
			code = pm_cli_fail(&err);
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
