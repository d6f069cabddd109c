/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_cast.c - passmith cast: a whole model in another floating-point type. */
#include "cli/cmds.h"

#include "app/cast/cast.h"
#include "base/core/str.h"

#include <stdio.h>
#include <string.h>

typedef struct Args {
	const char *model, *to_name, *out;
	int to, keep_io;
} Args;

static void put_json(const Args *a, const PmCastReport *r)
{
	cJSON *j = cJSON_CreateObject(), *list, *o;

	cJSON_AddStringToObject(j, "model", a->model);
	cJSON_AddStringToObject(j, "out", a->out);
	cJSON_AddStringToObject(j, "to", pm_dtype_name(a->to));
	cJSON_AddBoolToObject(j, "keep_io", a->keep_io);
	o = cJSON_AddObjectToObject(j, "cast");
	pm_json_add_i64(o, "inputs", (int64_t)r->inputs);
	pm_json_add_i64(o, "weights", (int64_t)r->weights);
	pm_json_add_i64(o, "results", (int64_t)r->results);
	pm_json_add_i64(o, "outputs", (int64_t)r->outputs);
	pm_json_add_i64(o, "nodes", (int64_t)r->nodes);
	pm_json_add_i64(j, "cast_nodes_added", (int64_t)r->casts);
	list = cJSON_AddArrayToObject(j, "kept");
	for (int k = 1; k < PM_N_CAST_REASONS; k++) {
		if (!r->kept[k] && !r->kept_nodes[k])
			continue;
		o = cJSON_CreateObject();
		cJSON_AddStringToObject(o, "reason", pm_cast_reason(k));
		cJSON_AddStringToObject(o, "why", pm_cast_why(k));
		pm_json_add_i64(o, "values", (int64_t)r->kept[k]);
		pm_json_add_i64(o, "nodes", (int64_t)r->kept_nodes[k]);
		cJSON_AddStringToObject(o, "first", r->first[k] ? r->first[k] : "");
		cJSON_AddItemToArray(list, o);
	}
	pm_cli_put_json(j);
}

static void put_text(const Args *a, const PmCastReport *r)
{
	printf("%s: %zu input%s, %zu weight%s and %zu result%s of %zu node%s are %s; %zu Cast node%s added\n",
	       a->out, r->inputs, pm_plural(r->inputs), r->weights, pm_plural(r->weights), r->results,
	       pm_plural(r->results), r->nodes, pm_plural(r->nodes), pm_dtype_name(a->to), r->casts,
	       pm_plural(r->casts));
	for (int k = 1; k < PM_N_CAST_REASONS; k++)
		if (r->kept[k] || r->kept_nodes[k])
			printf("  %6zu value%s, %zu node%s stay: %s%s%s%s\n", r->kept[k],
			       pm_plural(r->kept[k]), r->kept_nodes[k], pm_plural(r->kept_nodes[k]),
			       pm_cast_why(k), r->first[k] ? "; the first is '" : "",
			       r->first[k] ? r->first[k] : "", r->first[k] ? "'" : "");
}

static PmStatus run(const Args *a, PmErr *err)
{
	PmCastReport r = { 0 };
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(a->model, &g, NULL, err);

	if (!st && (st = pm_cast_graph(g, a->to, a->keep_io, &r, err)))
		pm_err_ctx(err, "%s", a->model);
	if (!st)
		st = pm_cli_save(g, a->out, err);
	if (!st)
		pm_cli_json ? put_json(a, &r) : put_text(a, &r);
	pm_cast_report_release(&r);
	pm_graph_free(g);
	return st;
}

int pm_cmd_cast(const PmCmd *cmd, int argc, char **argv)
{
	Args a = { 0 };
	const PmOpt opts[] = {
		{ "--to", PM_OPT_STR, &a.to_name, "float16, bfloat16 or float: the type to cast to" },
		{ "-o", PM_OPT_STR, &a.out, "where to write the model: .onnx, or text otherwise" },
		{ "--keep-io", PM_OPT_FLAG, &a.keep_io, "inputs and outputs keep their types" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		a.to = a.to_name ? pm_dtype_from_name(a.to_name) : -1;
		a.model = files.list.n ? files.list.v[0] : NULL;
		if (files.list.n != 1 || !a.out || !a.to_name)
			code = pm_cli_usage(cmd, "cast takes one model, --to TYPE and -o OUT.");
		else if (a.to != PM_F16 && a.to != PM_BF16 && a.to != PM_F32)
			code = pm_cli_usage(cmd, "--to takes float16, bfloat16 or float, and not '%.40s'.",
					    a.to_name);
		else if (run(&a, &err))
			code = pm_cli_fail(&err);
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
