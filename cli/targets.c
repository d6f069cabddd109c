/* SPDX-License-Identifier: Apache-2.0 */
/* targets.c - the GPUs that rewrites are made for, in three forms. */
#include "cli/targets.h"

#include "targets/targets.h"

#include <stdio.h>
#include <string.h>

cJSON *pm_cli_targets_json(void)
{
	cJSON *j = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(j, "targets"),
	      *costs = cJSON_AddArrayToObject(j, "costs");
	const PmTarget *t;
	const PmCostInfo *c;

	for (size_t i = 0; (t = pm_target_at(i)); i++) {
		cJSON *o = cJSON_CreateObject();

		pm_target_to_json(t, o);
		cJSON_AddItemToArray(list, o);
	}
	for (size_t i = 0; (c = pm_cost_info(i)); i++) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "name", c->name);
		cJSON_AddStringToObject(o, "ratio", c->ratio);
		cJSON_AddStringToObject(o, "meaning", c->meaning);
		cJSON_AddStringToObject(o, "experiment", c->experiment);
		cJSON_AddItemToArray(costs, o);
	}
	return j;
}

void pm_cli_targets_text(void)
{
	const PmTarget *t;

	for (size_t i = 0; (t = pm_target_at(i)); i++)
		printf("%-8s %-26s sm_%d, %3d multiprocessors, %3.0f MiB L2, %4.2f TB/s, costs %s\n", t->name,
		       t->full_name, t->compute_capability, t->sm_count, (double)t->l2_bytes / 1048576,
		       t->memory_bytes_per_second / 1e12,
		       t->fitted ? "fitted" : "not fitted: taken over by ratios");
}

/* ---- the page ---- */

/* "| 4.8 " for a rate of 4.8e12, or "| - " where there is none. */
static void cell(double v, double unit)
{
	if (v > 0)
		printf(" | %.4g", v / unit);
	else
		printf(" | -");
}

static void put_facts(void)
{
	const PmTarget *t;

	printf("| target | GPU | sm | multiprocessors | threads of one | L2, MiB | memory, GB | TB/s | "
	       "clock, GHz | "
	       "double | float | int | TF32 | half types | 8-bit float | 8-bit int |\n"
	       "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | "
	       "--- |\n");
	for (size_t i = 0; (t = pm_target_at(i)); i++) {
		printf("| `%s` | %s | %d | %d | %d", t->name, t->full_name, t->compute_capability,
		       t->sm_count, t->sm_threads);
		cell((double)t->l2_bytes, 1048576);
		cell((double)t->memory_bytes, 1e9);
		cell(t->memory_bytes_per_second, 1e12);
		cell(t->sm_clock_hz, 1e9);
		cell(t->f64_flops_per_second, 1e12);
		cell(t->f32_flops_per_second, 1e12);
		cell(t->i32_ops_per_second, 1e12);
		cell(t->tf32_tensor_flops_per_second, 1e12);
		cell(t->f16_tensor_flops_per_second, 1e12);
		cell(t->f8_tensor_flops_per_second, 1e12);
		cell(t->i8_tensor_ops_per_second, 1e12);
		printf(" |\n");
	}
}

static void put_costs(void)
{
	const PmTarget *t;
	const PmCostInfo *c;

	printf("| constant |");
	for (size_t i = 0; (t = pm_target_at(i)); i++)
		printf(" `%s` |", t->name);
	printf(" ratio | what it is | what to time |\n| --- |");
	for (size_t i = 0; pm_target_at(i); i++)
		printf(" --- |");
	printf(" --- | --- | --- |\n");
	for (size_t k = 0; (c = pm_cost_info(k)); k++) {
		printf("| `%s`", c->name);
		for (size_t i = 0; (t = pm_target_at(i)); i++)
			printf(" | %.4g", t->number[k].value);
		printf(" | %s | %s | %s |\n", c->ratio, c->meaning, c->experiment);
	}
}

void pm_cli_targets_markdown(void)
{
	const PmTarget *t;
	const char *sep = "";

	printf("# Targets\n\n"
	       "This page is made by `make gen` from `targets/`.\n\n"
	       "A rewrite is for one GPU, its target: `--target NAME`. The target decides how kernels share "
	       "their work, what the passes\n"
	       "expect them to take, and on `emu` the modelled times. It never decides what is computed. "
	       "Kernels for one GPU are right\n"
	       "on every other one too. A pass asks for it with `pm_target()` ([the "
	       "interface](plugin-interface.md)).\n\n"
	       "* Without the option the target is `h200`. With `--device cuda` it is the GPU of that "
	       "device.\n"
	       "* `--target device` is the GPU of this machine, for commands that have no device.\n"
	       "* A GPU that is in no row has its own facts, by the attributes that CUDA has. All else is "
	       "taken over by ratios from the row whose\n"
	       "  compute capability comes closest. Its name is that of the GPU.\n"
	       "* Results of two targets are two runs in a database, and what a bank knows of kernels for "
	       "one target does not count for another.\n\n"
	       "## Facts\n\n"
	       "Data sheets say these; each file of `targets/` names its sources. Operations are in 10^12 a "
	       "second, without sparsity. The last\n"
	       "four columns are tensor cores, with sums in float.\n\n");
	put_facts();
	printf("\n## Constants of the cost model\n\n"
	       "`passes/fuse` estimates times with these ([automatic fusion](../design/fusion.md)). Fitted "
	       "to measurements of the GPU itself:\n");
	for (size_t i = 0; (t = pm_target_at(i)); i++)
		if (t->fitted) {
			printf("%s`%s`", sep, t->name);
			sep = ", ";
		}
	printf(". The others are **not fitted**. Each of their constants is that of the first target times "
	       "the ratio of what\n"
	       "the column `ratio` names; SAME takes it over as it is.\n\n");
	put_costs();
}
