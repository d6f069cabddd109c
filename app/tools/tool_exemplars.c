/* SPDX-License-Identifier: Apache-2.0 */
/* tool_exemplars.c - exemplars: complete small passes to learn from, none of which solves the task. */
#include "app/tools/tools_priv.h"

#include "app/exemplar/exemplar.h"

#include <math.h>
#include <string.h>

/* "any 2-D convolution ..." of "# conv_bn_elu: any 2-D convolution ..." */
static void add_what(const PmExemplar *e, cJSON *j)
{
	const char *p = strstr(e->thoughts, ": ");
	PmStr line = PM_STR_INIT;

	if (p && p < e->thoughts + strcspn(e->thoughts, "\n"))
		pm_str_addn(&line, p + 2, strcspn(p + 2, "\n"));
	cJSON_AddStringToObject(j, "what", line.s);
	pm_str_release(&line);
}

/* Without the line that tells a program where the figures go. */
static void add_thoughts(const PmExemplar *e, cJSON *j)
{
	static const char mark[] = "<!-- modelled -->\n";
	const char *at = strstr(e->thoughts, mark);
	PmStr text = PM_STR_INIT;

	if (at)
		pm_str_addn(&text, e->thoughts, (size_t)(at - e->thoughts));
	pm_str_add(&text, at ? at + strlen(mark) : e->thoughts);
	cJSON_AddStringToObject(j, "thoughts", text.s);
	pm_str_release(&text);
}

enum { NOT_FOR_A_GRAPH, ONE_LINE, WHOLE };

/* Similarities are told to a hundredth. Below ALIKE nearly no operator and no pair of operators is common to
 * the two graphs: a long source would say nothing about this one. */
#define ALIKE 0.1

static cJSON *exemplar_json(const PmExemplar *e, int how)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "name", e->name);
	cJSON_AddStringToObject(j, "category", pm_category_name(e->category));
	add_what(e, j);
	if (how != NOT_FOR_A_GRAPH)
		cJSON_AddNumberToObject(j, "similarity", round(e->similarity * 100) / 100);
	if (how != WHOLE)
		return j;
	cJSON_AddStringToObject(j, "pattern", e->pattern);
	add_thoughts(e, j);
	cJSON_AddStringToObject(j, "graph", e->graph);
	cJSON_AddStringToObject(j, "pass", e->pass);
	return j;
}

/* The first `n` of those that are like the graph with their texts, as long as these fit into an answer, and
 * of the others what they are. With a name, that one alone, however like it is. */
static void add_chosen(const PmExemplars *e, const char *name, int64_t n, cJSON *j)
{
	enum { ROOM = 2560 };
	cJSON *list = cJSON_AddArrayToObject(j, "exemplars"), *others = cJSON_CreateArray();
	size_t bytes = 0;

	for (size_t i = 0; i < e->n; i++) {
		cJSON *one = NULL;

		if (name ? !strcmp(name, e->v[i].name)
			 : e->v[i].similarity >= ALIKE && cJSON_GetArraySize(list) < n) {
			one = exemplar_json(&e->v[i], WHOLE);
			bytes += pm__json_bytes(one);
			if (list->child && bytes > PM__ANSWER_MAX - ROOM) {
				cJSON_Delete(one);
				one = NULL;
			}
		}
		cJSON_AddItemToArray(one ? list : others, one ? one : exemplar_json(&e->v[i], ONE_LINE));
	}
	if (name || !others->child)
		cJSON_Delete(others);
	else
		cJSON_AddItemToObject(j, "others", others);
}

/* What is missing, and what to do when none came with its source. */
static void add_missing(const PmExemplars *e, cJSON *j)
{
	cJSON_AddNumberToObject(j, "withheld", (double)e->withheld);
	if (!e->n)
		cJSON_AddStringToObject(
			j, "next", "Every exemplar would give this one away; new_pass has the template.");
	else if (!cJSON_GetObjectItem(j, "exemplars")->child)
		cJSON_AddStringToObject(
			j, "next",
			"None of those that may be shown is like this graph. others says what "
			"they are; name gives the source of one, and new_pass the template.");
}

/* Any graph's author may see the list of names; the texts only where they give nothing away. */
cJSON *pm__tool_exemplars(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	const char *name = pm__arg(args, "name");
	int all = !pm__arg(args, "task") && !pm__arg(args, "model");
	PmExemplars e = { 0 };
	PmGraph *g = NULL;
	cJSON *j = NULL;
	PmErr err;
	PmStatus st;

	(void)run;
	pm_err_init(&err);
	if (name && all)
		return pm__error(is_error,
				 "Name the task (or the model) too: an exemplar is shown where it does not "
				 "give that one away.");
	st = all ? PM_OK : pm__graph_of(t, args, &g, &err);
	if (!st)
		st = all ? pm_exemplars_list(t->root, &e, &err)
			 : pm_exemplars_select(t->root, g, SIZE_MAX, &e, &err);
	if (st) {
		j = pm__error_of(is_error, &err);
	} else {
		j = cJSON_CreateObject();
		if (g)
			cJSON_AddStringToObject(j, "category", pm_category_name(pm_category_of(g, NULL)));
		if (!all) {
			add_chosen(&e, name, pm_json_i64(args, "limit", 1), j);
		} else {
			cJSON *list = cJSON_AddArrayToObject(j, "exemplars");

			for (size_t i = 0; i < e.n; i++)
				cJSON_AddItemToArray(list, exemplar_json(&e.v[i], NOT_FOR_A_GRAPH));
			cJSON_AddStringToObject(
				j, "next",
				"Name a task or a model: the exemplars that suit it come with their "
				"sources.");
		}
		if (!all && !name)
			add_missing(&e, j);
		if (name && !cJSON_GetObjectItem(j, "exemplars")->child) {
			cJSON_Delete(j);
			j = pm__error(
				is_error,
				"There is no exemplar %.60s for this graph: either none has that name, or it "
				"would give the graph away. Without name the answer lists those that there "
				"are.",
				name);
		}
	}
	pm_exemplars_release(&e);
	pm_graph_free(g);
	return j;
}
