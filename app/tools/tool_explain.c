/* SPDX-License-Identifier: Apache-2.0 */
/* tool_explain.c - explain: where the rules of a pass match one variant, or one variant of each distinct
 * graph of a task, and where they do not. */
#include "app/tools/tools_priv.h"

#include <stdio.h>
#include <string.h>

/* What an author asks of a rule that came to nothing, in a sentence. */
static const char *advice(const cJSON *rule, const char *verdict)
{
	if (strcmp(verdict, "OK") && strcmp(verdict, "NO_MATCH"))
		return "The pass was refused before it could match; see why and problems.";
	if (pm_json_num(rule, "applied", 0) > 0)
		return "It applied.";
	if (pm_json_num(rule, "failed", 0) > 0)
		return "It matched, and its rewrite failed: reasons say how.";
	if (pm_json_num(rule, "declined", 0) > 0)
		return "It matched, and its check declined: reasons say why, in your words.";
	if (pm_json_num(rule, "roots", 0) == 0)
		return "The graph has no node with the operator of the pattern's root; compare the pattern "
		       "with show_graph.";
	return "No place matched as a whole: the misses say where the nearest ended.";
}

cJSON *pm__rules_answer(const cJSON *one)
{
	static const char *const same[] = { "name",    "pattern",  "roots",   "tried",  "rejected",
					    "matched", "declined", "applied", "failed", "reasons" };
	const char *verdict = pm_json_str(one, "verdict", "");
	cJSON *list = cJSON_CreateArray(), *x;
	const cJSON *rule, *miss;

	cJSON_ArrayForEach(rule, cJSON_GetObjectItemCaseSensitive(one, "rules"))
	{
		cJSON *misses;

		x = cJSON_CreateObject();
		for (size_t i = 0; i < sizeof same / sizeof *same; i++)
			pm__json_copy(x, rule, same[i]);
		misses = cJSON_AddArrayToObject(x, "misses");
		/* The deepest first, as they are. */
		cJSON_ArrayForEach(miss, cJSON_GetObjectItemCaseSensitive(rule, "misses"))
			cJSON_AddItemToArray(misses, cJSON_Duplicate(miss, 1));
		cJSON_AddStringToObject(x, "advice", advice(rule, verdict));
		cJSON_AddItemToArray(list, x);
	}
	return list;
}

/* What one result says, without its place. */
static void add_result(cJSON *a, const cJSON *one)
{
	pm__json_copy(a, one, "verdict");
	cJSON_AddNumberToObject(a, "applied", pm_json_num(one, "applied", 0));
	cJSON_AddStringToObject(a, "why", pm_json_str(one, "message", ""));
	if (*pm_json_str(one, "problems", ""))
		pm__json_copy(a, one, "problems");
	if (*pm_json_str(one, "output", ""))
		pm__json_copy(a, one, "output");
	cJSON_AddItemToObject(a, "rules", pm__rules_answer(one));
}

/* NULL when there is none, and the run has ended. */
static const cJSON *result_of(PmTools *t, PmToolRun *r, const cJSON *j)
{
	const cJSON *one = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(j, "results"), 0);
	const char *error = pm_json_str(j, "error", "explain gave no answer.");

	if (!one)
		pm__run_fail(t, r, "%s", error);
	return one;
}

static void explained(PmTools *t, PmToolRun *r, const cJSON *j)
{
	const cJSON *one = result_of(t, r, j);
	cJSON *a;

	if (!one)
		return;
	pm__run_keep(r, one);
	a = cJSON_CreateObject();
	cJSON_AddStringToObject(a, "variant", r->label.len ? r->label.s : pm_json_str(one, "variant", ""));
	add_result(a, one);
	pm__run_answer(t, r, a, 0);
}

void pm__explain_start(PmTools *t, PmToolRun *r, PmRunNext next)
{
	const char *rule = pm__arg(r->args, "rule");
	int64_t variant = pm_json_i64(r->args, "variant", -1);
	const char *argv[12] = { "explain", r->target.s, "--pass", r->so.s };
	char number[24];
	int n = 4;

	if (rule) {
		argv[n++] = "--rule";
		argv[n++] = rule;
	}
	if (variant >= 0 && !r->task) { /* of a model; a task's variant is a file of its own */
		snprintf(number, sizeof number, "%lld", (long long)variant);
		argv[n++] = "--variant";
		argv[n++] = number;
	}
	pm__run_start(t, r, argv, next);
}

/* ---- all graphs of a task ---- */

static int weight_of(const cJSON *x)
{
	return pm__weight(pm_json_str(x, "verdict", ""));
}

/* The worst first, else as they are; few, so that a simple order will do. Takes the list. */
static cJSON *worst_first(cJSON *list)
{
	cJSON *out = cJSON_CreateArray();

	while (list->child) {
		cJSON *x, *worst = list->child;

		cJSON_ArrayForEach(x, list)
		{
			if (weight_of(x) > weight_of(worst))
				worst = x;
		}
		cJSON_AddItemToArray(out, cJSON_DetachItemViaPointer(list, worst));
	}
	cJSON_Delete(list);
	return out;
}

static void answer_graphs(PmTools *t, PmToolRun *r)
{
	static const char *const same[] = { "verdict", "variant", "applied", "why" };
	int n = cJSON_GetArraySize(r->graphs);
	cJSON *list = worst_first(r->graphs), *a = cJSON_CreateObject();
	PmStr say = PM_STR_INIT;

	r->graphs = NULL;
	pm__run_keep(r, list);
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		pm__json_copy(a, list->child, same[i]);
	pm_str_addf(&say,
		    "One variant of each of the task's graphs, of which it has %d. Other variants have other "
		    "shapes and element types, of which a rule's check may think otherwise: explain with "
		    "variant looks at one.",
		    n);
	cJSON_AddStringToObject(a, "looked_at", say.s);
	cJSON_AddItemToObject(a, "graphs", list);
	pm_str_clear(&r->key);
	pm_str_addf(&r->key, "task %lld", (long long)r->task);
	pm_str_release(&say);
	pm__run_answer(t, r, a, 0);
}

static void next_graph(PmTools *t, PmToolRun *r);

static void graph_explained(PmTools *t, PmToolRun *r, const cJSON *j)
{
	cJSON *x = cJSON_GetArrayItem(r->graphs, r->graph++);
	const cJSON *one = result_of(t, r, j);

	if (!one)
		return;
	cJSON_DeleteItemFromObject(x, "number");
	cJSON_AddStringToObject(x, "variant", r->label.s);
	add_result(x, one);
	next_graph(t, r);
}

static void next_graph(PmTools *t, PmToolRun *r)
{
	const cJSON *x = cJSON_GetArrayItem(r->graphs, r->graph);
	PmErr err;

	pm_err_init(&err);
	if (!x)
		answer_graphs(t, r);
	else if (pm__target_variant(t, r, pm_json_i64(x, "number", 0), &err))
		pm__run_fail(t, r, "%s", err.text);
	else
		pm__explain_start(t, r, graph_explained);
}

void pm__explain_built(PmTools *t, PmToolRun *r, const cJSON *j)
{
	(void)j;
	if (r->graphs)
		next_graph(t, r);
	else
		pm__explain_start(t, r, explained);
}
