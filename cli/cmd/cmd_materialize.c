/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_materialize.c - passmith materialize: a model with every weight in the file. */
#include "cli/cmds.h"

#include "base/core/str.h"
#include "base/sys/io.h"
#include "base/sys/progress.h"

#include <stdio.h>

enum { UNIT = 1 << 20 }; /* the bar counts MiB */

static void on_bytes(void *arg, const char *name, int64_t done, int64_t total)
{
	PmProgress *p = arg;

	p->total = (total + UNIT - 1) / UNIT;
	while (p->done < done / UNIT)
		pm_progress_step(p, name);
}

static void report(const char *path, const char *out, const PmOnnxReport *in, const PmOnnxFillReport *r)
{
	cJSON *j;

	if (!pm_cli_json) {
		printf("%s: %zu weights written (%.3g MB), %zu of them synthesised%s\n", out, r->n_filled,
		       (double)r->bytes / 1e6, r->n_made, r->external ? ", in the .data file beside it" : "");
		return;
	}
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "file", path);
	cJSON_AddStringToObject(j, "out", out);
	pm_json_add_i64(j, "written", (int64_t)r->n_filled);
	pm_json_add_i64(j, "bytes", r->bytes);
	pm_json_add_i64(j, "made", (int64_t)r->n_made);
	cJSON_AddBoolToObject(j, "external", r->external);
	cJSON_AddItemToObject(j, "weights", pm_cli_weights_json(&in->weights));
	pm_cli_put_json(j);
}

static PmStatus materialize(const char *path, const char *out, int external, PmErr *err)
{
	static PmOnnxReport in; /* large */
	PmProgress bar;
	PmOnnxFillOpts opts = { .external = external, .on_bytes = on_bytes, .arg = &bar };
	PmOnnxFillReport r;
	PmGraph *g = NULL;
	PmStatus st = pm_cli_load(path, &g, &in, err);

	if (!st) {
		pm_cli_say_weights(path, &in.weights);
		pm_progress_start(&bar, "writing, MiB", 0);
		st = pm_onnx_materialize(pm_str_ends(path, ".onnx") ? path : NULL, g, out, &opts, &r, err);
		pm_progress_end(&bar);
	}
	if (!st)
		report(path, out, &in, &r);
	pm_graph_free(g);
	return st;
}

int pm_cmd_materialize(const PmCmd *cmd, int argc, char **argv)
{
	const char *out = NULL;
	int external = 0;
	const PmOpt opts[] = {
		{ "-o", PM_OPT_STR, &out, "the ONNX file to write" },
		{ "--external", PM_OPT_FLAG, &external,
		  "weights into OUT.onnx.data (as models over 2 GiB need)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		if (files.list.n != 1 || !out)
			code = pm_cli_usage(cmd, "materialize takes one model and -o OUT.onnx.");
		else if (!pm_str_ends(out, ".onnx") && !pm_path_is_dir(out))
			code = pm_cli_usage(cmd, "materialize writes ONNX; end the name '%.200s' in .onnx.",
					    out);
		else if (materialize(files.list.v[0], out, external, &err))
			code = pm_cli_fail(&err);
	}
	PM_VEC_RELEASE(&files.list);
	return code;
}
