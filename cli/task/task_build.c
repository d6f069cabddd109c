/* SPDX-License-Identifier: Apache-2.0 */
/* task_build.c - passmith task build: says what a benchmark of all fusible subgraphs has become. */
#include "cli/task/task.h"

#include "app/task/task_build.h"
#include "base/core/renamed.h"

#include <stdio.h>

static void put_json(const PmTaskBuilt *b)
{
	cJSON *j = cJSON_CreateObject(), *now;

	pm_json_add_i64(j, "subgraphs", (int64_t)b->subgraphs);
	pm_json_add_i64(j, "op_sequences", (int64_t)b->op_sequences);
	pm_json_add_i64(j, "components", (int64_t)b->components);
	pm_json_add_i64(j, "groups", (int64_t)b->groups);
	pm_json_add_i64(j, "edges", (int64_t)b->edges);
	pm_json_add_i64(j, "edges_covered", (int64_t)b->edges_covered);
	pm_json_add_i64(j, "eval_tasks", b->n[0]);
	pm_json_add_i64(j, "eval_variants", b->variants[0]);
	pm_json_add_old(j, "eval_variants");
	pm_json_add_i64(j, "train_tasks", b->n[1]);
	pm_json_add_i64(j, "train_variants", b->variants[1]);
	pm_json_add_old(j, "train_variants");
	pm_json_add_i64(j, "held_out_subgraphs", (int64_t)b->held_out);
	pm_json_add_i64(j, "decided_before", b->before);
	pm_json_add_i64(j, "rejected_groups", b->rejected);
	pm_json_add_i64(j, "leaks", (int64_t)b->leaks);
	pm_json_add_i64(j, "eval_ref_whole", b->whole[0]);
	pm_json_add_i64(j, "eval_ref_proxy", b->proxy[0]);
	pm_json_add_old(j, "eval_ref_proxy");
	pm_json_add_i64(j, "train_ref_whole", b->whole[1]);
	pm_json_add_i64(j, "shapes_dropped_now", b->shapes_dropped);
	now = cJSON_AddObjectToObject(j, "rejected_now");
	for (size_t i = 0; i < b->reason.n; i++)
		cJSON_AddNumberToObject(now, b->reason.v[i].rule, (double)b->reason.v[i].n);
	pm_cli_put_json(j);
}

static void put_text(const PmTaskBuilt *b)
{
	printf("%zu subgraphs, %zu lists of operators, %zu components, %zu groups\n", b->subgraphs,
	       b->op_sequences, b->components, b->groups);
	printf("eval:  %lld tasks, %lld variants, %zu of %zu operator pairs; %zu subgraphs in their "
	       "components\n",
	       (long long)b->n[0], (long long)b->variants[0], b->edges_covered, b->edges, b->held_out);
	printf("train: %lld tasks, %lld variants\n", (long long)b->n[1], (long long)b->variants[1]);
	printf("ref:   of the eval variants %lld ran as they are, %lld as a proxy of smaller sizes; of the "
	       "train "
	       "variants %lld ran; %lld shapes dropped because they do not run\n",
	       (long long)b->whole[0], (long long)b->proxy[0], (long long)b->whole[1],
	       (long long)b->shapes_dropped);
	printf("%lld groups rejected; %lld decided before; %zu leaks\n", (long long)b->rejected,
	       (long long)b->before, b->leaks);
	for (size_t i = 0; i < b->reason.n; i++)
		printf("  %-12s %6zu\n", b->reason.v[i].rule, b->reason.v[i].n);
}

PmStatus pm_task_verb_build(PmTaskCmd *c, PmErr *err)
{
	PmTaskBuildOpts o = { .db = c->db,
			      .n_eval = c->n_eval,
			      .ratio = c->ratio,
			      .stride = c->stride,
			      .shapes = c->shapes ? c->shapes : 10,
			      .max_elements = c->max_elements,
			      .seed = c->seed,
			      .honest = c->honest,
			      .jobs = c->jobs,
			      .rebuild = c->rebuild };
	PmProgress bar = { 0 };
	const PmWatch watch = pm_cli_watch(&bar);
	PmTaskBuilt b;
	PmStatus st = pm_task_build(&o, &watch, &b, err);

	if (!st && pm_cli_json)
		put_json(&b);
	else if (!st)
		put_text(&b);
	if (!st && b.short_of_tasks)
		pm_cli_complain("The database does not give as many tasks as asked for; extract more "
				"models, or use a smaller --stride.");
	c->no = !st && (b.leaks || b.short_of_tasks);
	pm_task_built_release(&b);
	return st;
}
