/* cmd_import.c - passmith import and passmith print. */
#include "cli/cmds.h"

#include "base/progress.h"
#include "base/str.h"
#include "ir/canon.h"
#include "ir/text.h"
#include "runtime/ref.h"

#include <stdio.h>
#include <string.h>

/* Floating point operations of one run, as far as shapes are known. */
static int64_t total_flops(const PmGraph *g)
{
	int64_t sum = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		sum += pm_op_flops(g, pm_graph_node_at(g, i));
	return sum;
}

static cJSON *report_json(const char *path, const PmGraph *g, const PmOnnxReport *r, const char *hash)
{
	cJSON *j = cJSON_CreateObject(), *kinds;

	cJSON_AddStringToObject(j, "file", path);
	cJSON_AddStringToObject(j, "graph", pm_graph_name(g));
	cJSON_AddStringToObject(j, "hash", hash);
	pm_json_add_i64(j, "nodes", (int64_t)pm_graph_n_nodes(g));
	pm_json_add_i64(j, "inputs", (int64_t)pm_graph_n_inputs(g));
	pm_json_add_i64(j, "outputs", (int64_t)pm_graph_n_outputs(g));
	pm_json_add_i64(j, "opset", r->opset);
	pm_json_add_i64(j, "absent_weights", (int64_t)r->n_absent);
	pm_json_add_i64(j, "flops", total_flops(g));
	cJSON_AddItemToObject(j, "weights", pm_cli_weights_json(&r->weights));
	pm_json_add_i64(j, "opaque_nodes", (int64_t)r->n_opaque_nodes);
	kinds = cJSON_AddArrayToObject(j, "opaque");
	for (size_t i = 0; i < r->n_opaque; i++) {
		cJSON *k = cJSON_CreateObject();

		cJSON_AddStringToObject(k, "operator", r->opaque[i].name);
		cJSON_AddStringToObject(k, "why", r->opaque[i].why);
		pm_json_add_i64(k, "count", r->opaque[i].count);
		cJSON_AddItemToArray(kinds, k);
	}
	return j;
}

static void report_text(const char *path, const PmGraph *g, const PmOnnxReport *r)
{
	PmStr how = PM_STR_INIT;

	printf("%s: %zu nodes, %zu inputs, %zu outputs", path, pm_graph_n_nodes(g), pm_graph_n_inputs(g),
	       pm_graph_n_outputs(g));
	if (r->weights.n)
		printf(", %zu weights synthesised", r->weights.n);
	if (r->n_opaque_nodes)
		printf(", %zu opaque nodes:", r->n_opaque_nodes);
	printf("\n");
	if (r->weights.n) {
		pm_weights_describe(&r->weights, &how);
		printf("    synthesised weights (%.3g MB): %s\n", (double)r->weights.bytes / 1e6, how.s);
		pm_str_release(&how);
	}
	for (size_t i = 0; i < r->n_opaque; i++)
		printf("    %4d %s (%s)\n", r->opaque[i].count, r->opaque[i].name, r->opaque[i].why);
}

static PmStatus import_one(const char *path, const char *out, cJSON *list, PmErr *err)
{
	static PmOnnxReport r; /* large */
	char hash[PM_SHA256_HEX];
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, &r, err);

	if (!st)
		st = pm_canon_hash(g, PM_CANON_FULL, hash, err);
	if (!st && out)
		st = pm_onnx_export(g, out, err);
	if (!st && list)
		cJSON_AddItemToArray(list, report_json(path, g, &r, hash));
	else if (!st)
		report_text(path, g, &r);
	pm_graph_free(g);
	return st;
}

int pm_cmd_import(const PmCmd *cmd, int argc, char **argv)
{
	const char *out = NULL;
	const PmOpt opts[] = {
		{ "-o", PM_OPT_STR, &out, "write the (single) model as ONNX" },
		{ 0 },
	};
	PmStrList files = { 0 };
	cJSON *list = NULL;
	int code = 0;

	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code))
		goto done;
	if (!files.list.n || (out && files.list.n != 1)) {
		code = pm_cli_usage(cmd,
				    files.list.n ? "-o takes one model at a time." : "No model was given.");
		goto done;
	}
	list = pm_cli_json ? cJSON_CreateArray() : NULL;
	for (size_t i = 0; i < files.list.n; i++) {
		PmErr err;

		pm_err_init(&err);
		if (import_one(files.list.v[i], out, list, &err))
			code = pm_cli_fail(&err);
	}
	if (list)
		pm_cli_put_json(list);
done:
	PM_VEC_RELEASE(&files.list);
	return code;
}

int pm_cmd_print(const PmCmd *cmd, int argc, char **argv)
{
	int canonical = 0;
	int64_t max_inline = 0;
	const PmOpt opts[] = {
		{ "--canonical", PM_OPT_FLAG, &canonical, "renumber values, drop node names" },
		{ "--max-inline", PM_OPT_INT, &max_inline, "constants over N elements by reference" },
		{ 0 },
	};
	PmPrintOpts po = { 0 };
	PmStrList files = { 0 };
	static PmOnnxReport report; /* large */
	PmStr text = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code))
		goto done;
	if (files.list.n != 1) {
		code = pm_cli_usage(cmd, "print takes one model.");
		goto done;
	}
	po.renumber = canonical;
	po.max_inline = max_inline;
	if (pm_cli_load(files.list.v[0], &g, &report, &err) || pm_graph_print(g, &po, &text, &err)) {
		code = pm_cli_fail(&err);
		goto done;
	}
	pm_cli_say_weights(files.list.v[0], &report.weights);
	if (pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "text", text.s);
		cJSON_AddItemToObject(j, "weights", pm_cli_weights_json(&report.weights));
		pm_cli_put_json(j);
	} else {
		fwrite(text.s, 1, text.len, stdout);
	}
done:
	pm_graph_free(g);
	pm_str_release(&text);
	PM_VEC_RELEASE(&files.list);
	return code;
}
