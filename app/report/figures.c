/* SPDX-License-Identifier: Apache-2.0 */
/* figures.c - looking up figures in the data of a report. */
#include "app/report/figures.h"

#include "bench/compare/tolerance.h"

#include <math.h>

const cJSON *pm_figures_bench(const cJSON *data, size_t k)
{
	return cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(data, "boards"), (int)k), "bench");
}

/* Names of systems may differ in upper and lower case alone. */
static const cJSON *of_system(const cJSON *systems, const char *system, PmSysClock clock)
{
	return cJSON_GetObjectItem(cJSON_GetObjectItemCaseSensitive(systems, system),
				   pm_sys_clock_name(clock));
}

const cJSON *pm_figures_all(const cJSON *bench, const char *system, PmSysClock clock)
{
	return of_system(cJSON_GetObjectItem(bench, "systems"), system, clock);
}

static int has_text(const cJSON *row, const char *key, const char *text)
{
	const char *found = pm_json_str(row, key, NULL);

	return pm_str_eq(found, text);
}

const cJSON *pm_figures_group(const cJSON *bench, const char *category, const char *dtype, const char *system,
			      PmSysClock clock)
{
	const cJSON *list = cJSON_GetObjectItem(bench, dtype ? "groups" : "categories");

	if (!category && !dtype)
		return pm_figures_all(bench, system, clock);
	for (const cJSON *row = list ? list->child : NULL; row; row = row->next)
		if (has_text(row, "category", category) && (!dtype || has_text(row, "dtype", dtype)))
			return of_system(cJSON_GetObjectItem(row, "systems"), system, clock);
	return NULL;
}

const cJSON *pm_figures_task(const cJSON *bench, int64_t task, const char *system, PmSysClock clock)
{
	const cJSON *list = cJSON_GetObjectItem(bench, "tasks");

	for (const cJSON *row = list ? list->child : NULL; row; row = row->next)
		if (pm_json_i64(row, "task", 0) == task)
			return of_system(cJSON_GetObjectItem(row, "systems"), system, clock);
	return NULL;
}

double pm_figures_level(const cJSON *figures, const char *key, int t)
{
	const cJSON *v = cJSON_GetArrayItem(cJSON_GetObjectItem(figures, key), t - PM_T_MIN);

	return cJSON_IsNumber(v) ? v->valuedouble : NAN;
}
