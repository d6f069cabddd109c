/* SPDX-License-Identifier: Apache-2.0 */
/* task_make.c - passmith task make: says which tasks there are now. */
#include "cli/task/task.h"

#include "app/task/task_make.h"
#include "base/core/renamed.h"

#include <stdio.h>

static cJSON *one_json(const PmTaskNew *t)
{
	cJSON *j = cJSON_CreateObject(), *dropped;

	pm_json_add_i64(j, "id", t->id);
	cJSON_AddStringToObject(j, "name", t->name.s);
	cJSON_AddBoolToObject(j, "new", t->is_new);
	pm_json_add_i64(j, "shapes", (int64_t)t->variants.n_shapes);
	pm_json_add_i64(j, "variants", (int64_t)t->variants.n_made);
	pm_json_add_old(j, "variants");
	dropped = cJSON_AddObjectToObject(j, "dropped");
	for (int r = 0; r < PM_VARIANT_N_REASONS; r++)
		if (t->variants.rejected[r])
			cJSON_AddNumberToObject(dropped, pm_variant_reason((PmVariantReason)r),
						(double)t->variants.rejected[r]);
	return j;
}

static PmStatus make_one(const PmTaskMakeOpts *o, int64_t subgraph, cJSON *list, PmErr *err)
{
	PmTaskNew t;
	PmStatus st = pm_task_make(o, subgraph, &t, err);

	if (!st && list)
		cJSON_AddItemToArray(list, one_json(&t));
	else if (!st)
		printf("task %lld %s: %zu variants of %zu shapes%s\n", (long long)t.id, t.name.s,
		       t.variants.n_made, t.variants.n_shapes, t.is_new ? "" : " (was there, by this name)");
	pm_str_release(&t.name);
	return st;
}

PmStatus pm_task_verb_make(PmTaskCmd *c, PmErr *err)
{
	PmTaskMakeOpts o = { .db = c->db,
			     .hashes = c->hashes.list.v,
			     .n_hashes = c->hashes.list.n,
			     .top = c->top,
			     .even = c->even,
			     .for_pass = c->for_pass,
			     .max_mflop = c->max_mflop,
			     .shapes = c->shapes,
			     .max_elements = c->max_elements };
	PmTaskChosen chosen = { 0 };
	PmStatus st = c->for_pass ? pm_cli_pass_is_there(c->for_pass, err) : PM_OK;
	cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;

	if (!st)
		st = pm_task_choose(&o, &chosen, err);
	o.name = chosen.id.n == 1 ? c->name : NULL; /* several have names of their own */
	for (size_t i = 0; i < chosen.id.n && !st; i++)
		st = make_one(&o, chosen.id.v[i], list, err);
	pm_cli_put_json(list); /* as far as it got */
	pm_task_chosen_release(&chosen);
	return st;
}
