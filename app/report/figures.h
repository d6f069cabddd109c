/* SPDX-License-Identifier: Apache-2.0 */
/* figures.h - looking up figures in the data of a report (report_data.h): each is computed once, and what a
 * page shows is what its data say. */
#ifndef APP_REPORT_FIGURES_H
#define APP_REPORT_FIGURES_H

#include "base/core/json.h"
#include "bench/report/systems.h"

#include <stddef.h>

/* The bench of board k; borrowed. */
const cJSON *pm_figures_bench(const cJSON *data, size_t k);
/* The figures of a system by a clock over all graphs; over a category (NULL = any) and an element type (NULL
 * = any); over one task. NULL where there are none; borrowed. pm_json_num(f, "as", NAN) reads one. */
const cJSON *pm_figures_all(const cJSON *bench, const char *system, PmSysClock clock);
const cJSON *pm_figures_group(const cJSON *bench, const char *category, const char *dtype, const char *system,
			      PmSysClock clock);
const cJSON *pm_figures_task(const cJSON *bench, int64_t task, const char *system, PmSysClock clock);
/* Item t (-10 to 4) of a list of levels, "es" or "correct". */
double pm_figures_level(const cJSON *figures, const char *key, int t);

#endif
