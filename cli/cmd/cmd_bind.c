/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_bind.c - passmith bind: a model with its open sizes fixed. */
#include "cli/cmds.h"

#include "app/model/model_bound.h"

#include "base/core/str.h"
#include "base/sys/io.h"
#include "extract/variants/shape_table.h"
#include "ir/infer/dim_expr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMS = 64 }; /* given by --dim; those of a table come on top */

typedef struct Dims {
	PmDimSize v[MAX_DIMS + PM_TABLE_SYMBOLS];
	size_t n;
	PmStr names[MAX_DIMS + PM_TABLE_SYMBOLS];
} Dims;

static void release(Dims *d)
{
	for (size_t i = 0; i < d->n; i++)
		pm_str_release(&d->names[i]);
}

/* "batch=4"; 0 when it is not of that form. */
static int add_dim(Dims *d, const char *arg)
{
	const char *eq = strrchr(arg, '=');
	int64_t size;

	if (!eq || eq == arg || !pm_parse_i64(eq + 1, &size) || size < 0)
		return 0;
	pm_str_init(&d->names[d->n]);
	pm_str_addn(&d->names[d->n], arg, (size_t)(eq - arg));
	d->v[d->n] = (PmDimSize){ d->names[d->n].s, size };
	d->n++;
	return 1;
}

/* The sizes that a table gives for the model's open inputs. */
static PmStatus add_row(Dims *d, const char *path, const char *table, int64_t row, PmErr *err)
{
	const char *name[PM_TABLE_SYMBOLS];
	int64_t size[PM_TABLE_SYMBOLS];
	PmStr text = PM_STR_INIT, signature = PM_STR_INIT;
	PmGraph *g = NULL;
	cJSON *j = NULL;
	size_t n = 0;
	PmStatus st = pm_cli_load(path, &g, NULL, err);

	if (!st)
		st = pm_shape_signature(g, &signature, name, &n, err);
	if (!st)
		st = pm_read_file(table, 0, &text, err);
	if (!st && (st = pm_json_parse(text.s, text.len, &j, err)))
		pm_err_ctx(err, "%s", table);
	if (!st)
		st = pm_shape_table_find(j, table, signature.s, (size_t)row, size, n, err);
	for (size_t k = 0; k < n && !st; k++) {
		pm_str_init(&d->names[d->n]);
		pm_str_add(&d->names[d->n], name[k]);
		d->v[d->n] = (PmDimSize){ d->names[d->n].s, size[k] };
		d->n++;
	}
	cJSON_Delete(j);
	pm_graph_free(g);
	pm_str_release(&text);
	pm_str_release(&signature);
	return st;
}

static PmStatus load_bound(const char *path, const Dims *d, PmGraph **out, PmOnnxReport *report, PmErr *err)
{
	pm_cli_stage("reading");
	return pm_model_load_bound(path, d->v, d->n, out, report, err);
}

static void report_result(const char *out, const PmGraph *g, const PmOnnxReport *r)
{
	PmStr open = PM_STR_INIT;

	pm_model_input_symbols(g, &open);
	if (pm_cli_json) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "file", out);
		pm_json_add_i64(j, "nodes", (int64_t)pm_graph_n_nodes(g));
		pm_json_add_i64(j, "opaque_nodes", (int64_t)r->n_opaque_nodes);
		cJSON_AddStringToObject(j, "still_open", open.s);
		pm_cli_put_json(j);
	} else {
		printf("%s: %zu nodes", out, pm_graph_n_nodes(g));
		if (r->n_opaque_nodes)
			printf(", %zu opaque", r->n_opaque_nodes);
		printf(open.len ? "; still open: %s\n" : "; every size of the inputs is fixed%s\n", open.s);
	}
	pm_str_release(&open);
}

int pm_cmd_bind(const PmCmd *cmd, int argc, char **argv)
{
	static PmOnnxReport report; /* large */
	PmStrList files = { 0 }, sizes = { 0 };
	const char *out = NULL, *table = NULL;
	int64_t row = 0;
	const PmOpt opts[] = {
		{ "--dim", PM_OPT_LIST, &sizes, "NAME=SIZE; may be given several times" },
		{ "--table", PM_OPT_STR, &table,
		  "FILE  take the sizes that a table of shapes gives for the open inputs "
		  "(docs/reference/dataset.md)" },
		{ "--row", PM_OPT_COUNT, &row, "N  which of them (default 0)" },
		{ "-o", PM_OPT_STR, &out, "where to write the model: .onnx, or text otherwise" },
		{ 0 },
	};
	Dims dims = { .n = 0 };
	PmGraph *g = NULL;
	int code = 0;
	PmErr err;

	pm_err_init(&err);
	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code))
		goto done;
	if (sizes.list.n > MAX_DIMS)
		code = pm_cli_usage(cmd, "bind takes at most %d sizes by --dim.", MAX_DIMS);
	for (size_t i = 0; i < sizes.list.n && !code; i++)
		if (!add_dim(&dims, sizes.list.v[i]))
			code = pm_cli_usage(cmd, "'--dim %.60s' is not NAME=SIZE.", sizes.list.v[i]);
	if (!code && (files.list.n != 1 || !out || (!dims.n && !table)))
		code = pm_cli_usage(cmd, "bind takes one model, at least one --dim or a --table, and -o.");
	if (code)
		goto done;
	if ((table && add_row(&dims, files.list.v[0], table, row, &err)) ||
	    load_bound(files.list.v[0], &dims, &g, &report, &err) || pm_cli_save(g, out, &err))
		code = pm_cli_fail(&err);
	else
		report_result(out, g, &report);
done:
	pm_graph_free(g);
	release(&dims);
	PM_VEC_RELEASE(&files.list);
	PM_VEC_RELEASE(&sizes.list);
	return code;
}
