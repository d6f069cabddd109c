/* SPDX-License-Identifier: Apache-2.0 */
/* tool_exemplars.c - exemplars: complete small passes to learn from, none of which solves the task. */
#include "app/tools/tools_priv.h"

#include "app/exemplar/exemplar.h"

#include <string.h>

static cJSON *exemplar_json(const PmExemplar *e, int whole)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "name", e->name);
	cJSON_AddStringToObject(j, "category", pm_category_name(e->category));
	if (!whole)
		return j;
	cJSON_AddNumberToObject(j, "similarity", e->similarity);
	cJSON_AddStringToObject(j, "pattern", e->pattern);
	cJSON_AddStringToObject(j, "thoughts", e->thoughts);
	cJSON_AddStringToObject(j, "graph", e->graph);
	cJSON_AddStringToObject(j, "pass", e->pass);
	return j;
}

/* Any graph's author may see the list of names; the texts only where they give nothing away. */
cJSON *pm__tool_exemplars(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	int64_t n = pm_json_i64(args, "limit", 1);
	int all = !pm__arg(args, "task") && !pm__arg(args, "model");
	PmExemplars e = { 0 };
	PmGraph *g = NULL;
	cJSON *j = NULL, *list;
	PmErr err;
	PmStatus st;

	(void)run;
	pm_err_init(&err);
	st = all ? PM_OK : pm__graph_of(t, args, &g, &err);
	if (!st)
		st = all ? pm_exemplars_list(t->root, &e, &err)
			 : pm_exemplars_select(t->root, g, (size_t)n, &e, &err);
	if (st) {
		j = pm__error_of(is_error, &err);
	} else {
		j = cJSON_CreateObject();
		if (g)
			cJSON_AddStringToObject(j, "category", pm_category_name(pm_category_of(g, NULL)));
		list = cJSON_AddArrayToObject(j, "exemplars");
		for (size_t i = 0; i < e.n; i++)
			cJSON_AddItemToArray(list, exemplar_json(&e.v[i], !all));
		if (all)
			cJSON_AddStringToObject(
				j, "next",
				"Name a task or a model: the exemplars that suit it come with their "
				"sources.");
		else if (!e.n)
			cJSON_AddStringToObject(
				j, "next",
				"Every exemplar would give this one away; new_pass has the template.");
	}
	pm_exemplars_release(&e);
	pm_graph_free(g);
	return j;
}
