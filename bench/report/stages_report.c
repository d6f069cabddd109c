/* SPDX-License-Identifier: Apache-2.0 */
/* stages_report.c - where the time of evaluations went, as a table and as JSON. */
#include "bench/report/stages_report.h"

#include <stdlib.h>
#include <string.h>

size_t pm_eval_stage_times(const PmEvalReport *r, PmStageTimes *out)
{
	size_t n = 0;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < r->n; i++) {
		n += pm_stage_times_total(&r->rec[i].stages) > 0;
		pm_stage_times_add(out, &r->rec[i].stages);
	}
	out->seconds[PM_STAGE_HIDDEN] += r->hidden.wall_seconds;
	return n;
}

cJSON *pm_stage_times_json(const PmStageTimes *t)
{
	cJSON *j = cJSON_CreateObject(), *stages, *classes;

	cJSON_AddNumberToObject(j, "seconds", pm_stage_times_total(t));
	stages = cJSON_AddObjectToObject(j, "stages");
	for (int s = 0; s < PM_N_STAGES; s++)
		cJSON_AddNumberToObject(stages, pm_stage_key((PmStage)s), t->seconds[s]);
	classes = cJSON_AddObjectToObject(j, "classes");
	for (int c = 0; c < PM_N_ALL_CLASSES; c++)
		cJSON_AddNumberToObject(classes, pm_input_class_name((PmInputClass)c), t->class_seconds[c]);
	return j;
}

cJSON *pm_products_json(const PmProductsDone *p)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddNumberToObject(j, "on_device", (double)p->n);
	cJSON_AddNumberToObject(j, "refused", (double)p->refused);
	cJSON_AddNumberToObject(j, "seconds", p->seconds);
	return j;
}

void pm_products_line(const PmEvalReport *r, PmStr *out)
{
	PmProductsDone sum = { 0 };

	for (size_t i = 0; i < r->n; i++) {
		sum.n += r->rec[i].products.n;
		sum.refused += r->rec[i].products.refused;
		sum.seconds += r->rec[i].products.seconds;
	}
	if (sum.n || sum.refused)
		pm_str_addf(out, "products of the reference on the device: %lld in %.3f s, %lld refused\n",
			    (long long)sum.n, sum.seconds, (long long)sum.refused);
}

cJSON *pm_eval_timings_json(const PmEvalReport *r)
{
	PmStageTimes t;
	cJSON *j;

	pm_eval_stage_times(r, &t);
	j = pm_stage_times_json(&t);
	cJSON_AddNumberToObject(j, "wall_seconds", r->wall_seconds);
	cJSON_AddNumberToObject(j, "jobs", r->jobs);
	return j;
}

static int longest_first(const void *a, const void *b)
{
	double x = ((const PmStageLine *)a)->seconds, y = ((const PmStageLine *)b)->seconds;

	return (x < y) - (x > y);
}

void pm_stage_lines(PmStageLine *line, int n, double total, const char *head, PmStr *out)
{
	qsort(line, (size_t)n, sizeof *line, longest_first);
	pm_str_addf(out, "  %-16s %9s %7s\n", head, "seconds", "share");
	for (int i = 0; i < n && line[i].seconds > 0; i++)
		pm_str_addf(out, "  %-16s %9.3f %6.1f%%%s%s\n", line[i].name, line[i].seconds,
			    total > 0 ? 100 * line[i].seconds / total : 0, *line[i].what ? "  " : "",
			    line[i].what);
}

void pm_stage_times_table(const PmStageTimes *t, size_t n, PmStr *out)
{
	double total = pm_stage_times_total(t);
	PmStageLine line[PM_N_STAGES], of[PM_N_ALL_CLASSES];

	for (int s = 0; s < PM_N_STAGES; s++)
		line[s] = (PmStageLine){ pm_stage_key((PmStage)s), pm_stage_what((PmStage)s), t->seconds[s] };
	for (int c = 0; c < PM_N_ALL_CLASSES; c++)
		of[c] = (PmStageLine){ pm_input_class_name((PmInputClass)c), "", t->class_seconds[c] };
	pm_str_addf(out, "time: %.3f s for %zu evaluation%s\n", total, n, n == 1 ? "" : "s");
	pm_stage_lines(line, PM_N_STAGES, total, "stage", out);
	pm_stage_lines(of, PM_N_ALL_CLASSES, total, "class of inputs", out);
}
