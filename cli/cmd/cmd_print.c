/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_print.c - passmith print: a model as text, or its values and nodes as JSON. */
#include "cli/cmds.h"

#include "cli/import_report.h"
#include "ir/text/text.h"

#include <stdio.h>

static cJSON *value_json(const PmGraph *g, PmValue v)
{
	cJSON *j = cJSON_CreateObject();
	PmStr type = PM_STR_INIT;

	pm_graph_describe_type(g, pm_value_type(g, v), &type);
	cJSON_AddStringToObject(j, "name", pm_value_name(g, v));
	cJSON_AddStringToObject(j, "type", type.s);
	pm_str_release(&type);
	return j;
}

/* Tensors and graphs are in the text only: their kind stands for them. */
static cJSON *attr_json(const PmAttr *a)
{
	cJSON *list;

	switch (a->kind) {
	case PM_ATTR_INT:
	case PM_ATTR_INTS:
		list = cJSON_CreateObject();
		if (a->kind == PM_ATTR_INT) {
			pm_json_add_i64(list, "int", a->i);
			return list;
		}
		cJSON_AddArrayToObject(list, "ints");
		for (size_t k = 0; k < a->n; k++) {
			char text[24];

			snprintf(text, sizeof text, "%lld", (long long)a->ints[k]);
			cJSON_AddItemToArray(list->child, cJSON_CreateRaw(text));
		}
		return list;
	case PM_ATTR_FLOAT:
		list = cJSON_CreateObject();
		cJSON_AddNumberToObject(list, "float", a->f);
		return list;
	case PM_ATTR_FLOATS:
		list = cJSON_CreateObject();
		cJSON_AddItemToObject(list, "floats", cJSON_CreateDoubleArray(a->floats, (int)a->n));
		return list;
	case PM_ATTR_STRING:
		list = cJSON_CreateObject();
		cJSON_AddStringToObject(list, "string", a->s);
		return list;
	case PM_ATTR_STRINGS:
		list = cJSON_CreateObject();
		cJSON_AddItemToObject(list, "strings", cJSON_CreateStringArray(a->strings, (int)a->n));
		return list;
	default:
		return cJSON_CreateString(a->kind == PM_ATTR_GRAPH ? "graph" : "tensor");
	}
}

static cJSON *node_json(const PmGraph *g, PmNode n)
{
	cJSON *j = cJSON_CreateObject(), *attrs, *in, *out;

	cJSON_AddStringToObject(j, "op", pm_node_op_name(g, n));
	cJSON_AddStringToObject(j, "name", pm_node_name(g, n));
	in = cJSON_AddArrayToObject(j, "inputs"); /* names; null = left out */
	for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
		PmValue v = pm_node_in(g, n, k);

		cJSON_AddItemToArray(in, v.id ? cJSON_CreateString(pm_value_name(g, v)) : cJSON_CreateNull());
	}
	out = cJSON_AddArrayToObject(j, "outputs");
	for (size_t k = 0; k < pm_node_n_out(g, n); k++)
		cJSON_AddItemToArray(out, value_json(g, pm_node_out(g, n, k)));
	attrs = cJSON_AddObjectToObject(j, "attributes");
	for (size_t k = 0; k < pm_node_n_attrs(g, n); k++) {
		const PmAttr *a = pm_node_attr_at(g, n, k);

		cJSON_AddItemToObject(attrs, a->name, attr_json(a));
	}
	return j;
}

static cJSON *graph_json(const PmGraph *g)
{
	cJSON *j = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(j, "graph", pm_graph_name(g));
	list = cJSON_AddArrayToObject(j, "inputs");
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		cJSON_AddItemToArray(list, value_json(g, pm_graph_input(g, i)));
	list = cJSON_AddArrayToObject(j, "outputs");
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		cJSON_AddItemToArray(list, value_json(g, pm_graph_output(g, i)));
	list = cJSON_AddArrayToObject(j, "nodes"); /* in execution order */
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		cJSON_AddItemToArray(list, node_json(g, pm_graph_node_at(g, i)));
	return j;
}

static PmStatus print(const char *path, const PmPrintOpts *po, PmErr *err)
{
	static PmOnnxReport report; /* large */
	PmStr text = PM_STR_INIT;
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, &report, err);

	if (!st)
		st = pm_graph_print(g, po, &text, err);
	if (!st)
		pm_cli_say_weights(path, &report.weights);
	if (!st && pm_cli_json) {
		cJSON *j = graph_json(g);

		cJSON_AddStringToObject(j, "text", text.s);
		cJSON_AddItemToObject(j, "weights", pm_cli_weights_json(&report.weights));
		pm_cli_put_json(j);
	} else if (!st) {
		fwrite(text.s, 1, text.len, stdout);
	}
	pm_graph_free(g);
	pm_str_release(&text);
	return st;
}

int pm_cmd_print(const PmCmd *cmd, int argc, char **argv)
{
	int canonical = 0, stats = 0;
	int64_t max_inline = 0;
	const PmOpt opts[] = {
		{ "--canonical", PM_OPT_FLAG, &canonical, "renumber values, drop node names" },
		{ "--max-inline", PM_OPT_COUNT, &max_inline, "constants over N elements by reference" },
		{ "--stats", PM_OPT_FLAG, &stats,
		  "with the statistics of weights that are not at hand, from which they are made up" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		PmPrintOpts po = { .renumber = canonical, .max_inline = max_inline, .no_stats = !stats };

		if (files.list.n != 1)
			code = pm_cli_usage(cmd, "print takes one model.");
		else if (print(files.list.v[0], &po, &err))
			code = pm_cli_fail(&err);
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
