/* SPDX-License-Identifier: Apache-2.0 */
/* task_check.c - passmith task check (leakage) and task gate (one graph or task, judged again). */
#include "cli/task/task.h"

#include "app/task/task_filters.h"
#include "app/task/task_gate.h"
#include "app/task/task_one.h"
#include "base/sys/io.h"
#include "dataset/select/split.h"

#include <math.h>
#include <stdio.h>

/* ---- check ---- */

static PmStatus put_leak(void *arg, const PmLeak *leak, PmErr *err)
{
	cJSON *list = arg;

	(void)err;
	if (list) {
		cJSON *j = cJSON_CreateObject();

		cJSON_AddStringToObject(j, "shares", pm_leak_name(leak->kind));
		pm_json_add_i64(j, "eval_task", leak->eval_task);
		pm_json_add_i64(j, "train_task", leak->train_task);
		cJSON_AddNumberToObject(j, "likeness", leak->likeness);
		cJSON_AddItemToArray(list, j);
	} else {
		printf("eval task %lld and train task %lld: %s (likeness %.3f)\n", (long long)leak->eval_task,
		       (long long)leak->train_task, pm_leak_name(leak->kind), leak->likeness);
	}
	return PM_OK;
}

PmStatus pm_task_verb_check(PmTaskCmd *c, PmErr *err)
{
	cJSON *list = pm_cli_json ? cJSON_CreateArray() : NULL;
	PmDbStats s;
	size_t n = 0;
	PmStatus st = pm_leakage_check(c->db, put_leak, list, &n, err);

	if (!st)
		st = pm_db_stats(c->db, &s, err);
	pm_cli_put_json(list); /* as far as it got */
	if (st)
		return st;
	if (!pm_cli_json)
		printf("%zu leaks between %lld eval tasks and %lld train tasks\n", n, (long long)s.tasks_eval,
		       (long long)s.tasks_train);
	c->no = n > 0;
	return PM_OK;
}

/* ---- gate ---- */

/* A model file, or a task, or a subgraph by its hash. */
static PmStatus find_graph(PmTaskCmd *c, PmGraph **g, PmErr *err)
{
	if (pm_path_exists(c->arg))
		return pm_cli_load(c->arg, g, NULL, err);
	if (!c->db)
		return pm_err(
			err, PM_E_NOT_FOUND,
			"There is no model file %.200s; for a stored task or subgraph give --db FILE too.",
			c->arg);
	return pm_task_stored_graph(c->db, c->arg, g, err);
}

static PmStatus put_gated(const PmTaskGated *t, PmErr *err)
{
	const PmGateReport *r = &t->report;
	PmStr text = PM_STR_INIT;
	PmStatus st = PM_OK;
	cJSON *j = NULL;

	if (pm_cli_json) {
		pm_task_gate_json(r, t->label, &text);
		st = pm_json_parse(text.s, text.len, &j, err);
		pm_cli_put_json(j);
		pm_str_release(&text);
		return st;
	}
	printf("judged: %s\n", t->label);
	for (int k = 0; k < PM_GATE_N_RULES; k++)
		if (!isnan(r->found[k]))
			printf("  %-10s %.6g%s\n", pm_gate_rule_name((PmGateRule)k), r->found[k],
			       !r->ok && (int)r->broken == k ? "  BROKEN" : "");
	printf("%s%s\n", r->ok ? "ok" : "rejected: ", r->why);
	return PM_OK;
}

/* The published filters; *no = 1 when one is broken. */
static PmStatus filter(const PmTaskCmd *c, const PmGraph *g, int *no, PmErr *err)
{
	PmTaskFiltered t;
	PmStatus st = pm_task_filters(g, c->seed, c->max_mflop, &t, err);

	if (st)
		return st;
	for (int f = 0; f < PM_N_FILTERS; f++)
		*no |= pm_filter_broken(&t.report, (PmFilter)f);
	if (pm_cli_json) {
		pm_cli_put_json(pm_task_filters_json(&t));
		return PM_OK;
	}
	printf("measured: %s%s\n", t.label,
	       t.cut == 2   ? " (cut, with shorter sums)"
	       : t.cut == 1 ? " (cut, sums as they were)"
			    : "");
	printf("inputs: %zu data, %zu weights\n", t.report.n_data, t.report.n_weights);
	for (int f = 0; f < PM_N_FILTERS; f++)
		if (isnan(t.report.found[f]))
			printf("  %-10s %-12s %s\n", pm_filter_name((PmFilter)f), "-",
			       pm_filter_what((PmFilter)f));
		else
			printf("  %-10s %-12.4g %s, at least %g%s\n", pm_filter_name((PmFilter)f),
			       t.report.found[f], pm_filter_what((PmFilter)f), pm_filter_limit((PmFilter)f),
			       pm_filter_broken(&t.report, (PmFilter)f) ? "  BROKEN" : "");
	printf("%s\n", *no ? "removed by a published filter" : "ok");
	return PM_OK;
}

PmStatus pm_task_verb_gate(PmTaskCmd *c, PmErr *err)
{
	PmGraph *g = NULL;
	PmTaskGated t;
	PmStatus st = find_graph(c, &g, err);

	if (!st && c->filters) {
		st = filter(c, g, &c->no, err);
		pm_graph_free(g);
		return st;
	}
	if (!st)
		st = pm_task_gate(g, c->seed, (int)c->honest, &t, err);
	if (!st)
		st = put_gated(&t, err);
	if (!st)
		c->no = !t.report.ok;
	pm_graph_free(g);
	return st;
}
