/* SPDX-License-Identifier: Apache-2.0 */
/* task_export.c - writes the graphs of a task for PyTorch, one folder each. */
#include "cli/task/task_export.h"

#include "app/eval/variant_list.h"
#include "base/core/renamed.h"
#include "base/sys/io.h"
#include "bench/torch/torch_export.h"
#include "cli/cmds.h"
#include "dataset/store/subgraphs.h"

#include <stdio.h>

/* "003 s1 float16" as a folder name. */
static void folder(const PmTaskVariant *m, PmStr *out)
{
	pm_str_addf(out, "%03lld_", (long long)m->ordinal);
	for (const char *p = m->label; *p; p++)
		pm_str_addc(out, (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') ||
						 (*p >= 'A' && *p <= 'Z') || *p == '-'
					 ? *p
					 : '_');
}

/* A graph that PyTorch has no words for is told and left out; other errors end the export. */
static PmStatus export_one(PmTaskExport *e, const PmTaskVariant *m, PmErr *err)
{
	PmTorchOpts o = { .name = m->label, .seed = (uint64_t)e->seed, .max_check = e->max_check };
	PmGraphKey key;
	PmStr name = PM_STR_INIT, path = PM_STR_INIT;
	PmErr why;
	PmStatus st;

	pm_err_init(&why);
	folder(m, &name);
	pm_path_join(e->dir, name.s, &path);
	st = pm_graph_key(m->g, &key, &why);
	o.graph = key.full;
	if (!st)
		st = pm_torch_export(m->g, path.s, &o, &why);
	if (!st || st == PM_E_UNSUPPORTED) {
		e->written += !st;
		e->refused += st != 0;
		if (e->list) {
			cJSON *j = cJSON_CreateObject();

			cJSON_AddStringToObject(j, "variant", m->label);
			pm_json_add_old(j, "variant");
			cJSON_AddStringToObject(j, "folder", path.s);
			cJSON_AddStringToObject(j, "refused", why.text);
			cJSON_AddItemToArray(e->list, j);
		} else if (st) {
			fprintf(stderr, "left out %s: %s\n", m->label, why.text);
		}
	} else {
		pm_err(err, st, "%s", why.text);
	}
	pm_str_release(&name);
	pm_str_release(&path);
	return st == PM_E_UNSUPPORTED ? PM_OK : st;
}

PmStatus pm_task_export(PmDb *db, const char *what, PmTaskExport *e, PmErr *err)
{
	PmVariantList variants = { 0 };
	PmStatus st = db ? pm_variant_list_of_task(db, what, &variants, err)
			 : pm_cli_members(what, 0, 0, &variants, err);

	pm_variant_list_keep_shapes(&variants, e->shapes);
	e->list = pm_cli_json ? cJSON_CreateArray() : NULL;
	for (size_t i = 0; i < variants.list.n && !st; i++)
		st = export_one(e, &variants.list.v[i], err);
	pm_cli_put_json(e->list); /* as far as it got */
	if (!st && !pm_cli_json)
		printf("%zu graphs in %s, %zu left out\n", e->written, e->dir, e->refused);
	if (!st && !e->written)
		st = pm_err(err, PM_E_UNSUPPORTED, "No graph of %s could be written for PyTorch.", what);
	pm_variant_list_release(&variants);
	return st;
}
