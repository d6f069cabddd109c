/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_import.c - passmith import: what models are, and whether round trips keep them. */
#include "cli/cmds.h"

#include "app/model/import_check.h"
#include "base/core/str.h"
#include "cli/import_report.h"
#include "ir/canon/canon.h"
#include "ir/core/kernel.h"
#include "ir/text/text.h"

#include <stdio.h>
#include <string.h>

/* What one run of the command has seen. */
typedef struct Sum {
	size_t n_files, n_failed, n_nodes, n_opaque;
	PmImportCheck check;
} Sum;

typedef struct Options {
	const char *out;
	int check, plain;
	size_t n_files;
	cJSON *list; /* NULL without --json */
} Options;

static PmStatus import_one(const char *path, const Options *o, Sum *sum, PmErr *err)
{
	static PmOnnxReport r; /* large */
	PmImportCheck check = { 0 };
	char hash[PM_SHA256_HEX];
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, &r, err);

	sum->n_files++;
	if (!st && o->plain)
		st = pm_graph_inline_kernels(g, err);
	if (!st)
		st = pm_canon_hash(g, PM_CANON_FULL, hash, err);
	if (!st && o->out)
		st = pm_cli_save(g, o->out, err);
	sum->n_failed += st != PM_OK;
	if (!st) {
		sum->n_nodes += pm_graph_n_nodes(g);
		sum->n_opaque += r.n_opaque_nodes;
		if (o->check)
			st = pm_import_check(path, g, &check, err);
		if (o->list)
			cJSON_AddItemToArray(o->list,
					     pm_import_json(path, g, &r, hash, o->check ? &check : NULL));
		else if (o->n_files == 1)
			pm_import_print(path, g, &r);
		else
			pm_import_print_line(path, g, &r);
	}
	pm_import_check_add(&sum->check, &check);
	pm_graph_free(g);
	return st;
}

static void print_sum(const Options *o, const Sum *sum)
{
	if (o->n_files > 1)
		printf("%zu models read of %zu, %zu nodes, %zu of them opaque\n",
		       sum->n_files - sum->n_failed, sum->n_files, sum->n_nodes, sum->n_opaque);
	if (o->check)
		pm_import_check_print(&sum->check);
}

int pm_cmd_import(const PmCmd *cmd, int argc, char **argv)
{
	Options o = { 0 };
	const PmOpt opts[] = {
		{ "-o", PM_OPT_STR, &o.out, "where to write the (single) model: .onnx, or text otherwise" },
		{ "--plain", PM_OPT_FLAG, &o.plain,
		  "kernels are replaced by the operators that they stand for" },
		{ "--check", PM_OPT_FLAG, &o.check, "round trips, and stated types against inferred ones" },
		{ 0 },
	};
	PmStrList files = { 0 };
	Sum sum = { 0 };
	int code = 0;

	if (!pm_args_parse(cmd, opts, argc, argv, &files, &code))
		goto done;
	if (!files.list.n || (o.out && files.list.n != 1)) {
		code = pm_cli_usage(cmd,
				    files.list.n ? "-o takes one model at a time." : "No model was given.");
		goto done;
	}
	o.list = pm_cli_json ? cJSON_CreateArray() : NULL;
	o.n_files = files.list.n;
	for (size_t i = 0; i < files.list.n; i++) {
		PmErr err;

		pm_err_init(&err);
		if (import_one(files.list.v[i], &o, &sum, &err)) {
			int bad = pm_cli_fail(&err);

			code = bad > code ? bad : code;
		}
	}
	if (o.list)
		pm_cli_put_json(o.list);
	else
		print_sum(&o, &sum);
done:
	PM_VEC_RELEASE(&files.list);
	return code;
}
