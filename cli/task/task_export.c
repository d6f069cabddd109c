/* SPDX-License-Identifier: Apache-2.0 */
/* task_export.c - passmith task export: says which graphs of a task were written for PyTorch. */
#include "cli/task/task.h"

#include "app/eval/task_export.h"
#include "base/core/renamed.h"

#include <stdio.h>

/* One graph: into the list when there is one, else on stderr when it was left out. */
static void put_one(void *list, const char *label, const char *folder, const char *refused)
{
	cJSON *j;

	if (!list) {
		if (*refused)
			fprintf(stderr, "left out %s: %s\n", label, refused);
		return;
	}
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "variant", label);
	pm_json_add_old(j, "variant");
	cJSON_AddStringToObject(j, "folder", folder);
	cJSON_AddStringToObject(j, "refused", refused);
	cJSON_AddItemToArray(list, j);
}

PmStatus pm_task_verb_export(PmTaskCmd *c, PmErr *err)
{
	const PmTaskExportOpts o = { c->torch_dir, c->seed, c->max_check, c->shapes };
	cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;
	PmVariantList variants = { 0 };
	PmTaskExported done = { 0 };
	PmStatus st = c->db ? pm_variant_list_of_task(c->db, c->arg, &variants, err)
			    : pm_cli_variants(c->arg, 0, 0, &variants, err);
	int ended = 0;

	if (!st) {
		st = pm_task_export(&variants, c->arg, &o, put_one, list, &done, err);
		ended = !st || st == PM_E_UNSUPPORTED; /* which says that every graph was left out */
	}
	pm_cli_put_json(list); /* as far as it got */
	if (ended && !pm_cli_json)
		printf("%zu graphs in %s, %zu left out\n", done.written, o.dir, done.refused);
	pm_variant_list_release(&variants);
	return st;
}
