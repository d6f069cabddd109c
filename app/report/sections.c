/* SPDX-License-Identifier: Apache-2.0 */
/* sections.c - the sections of a report. */
#include "app/report/section.h"

const PmReportSection pm_report_sections[] = {
	{ "ranking", "Rankings", pm_report_has_boards, pm_report_put_boards },
	{ "tasks", "Tasks", pm_report_has_tasks, pm_report_put_tasks },
	{ "models", "Models", pm_report_has_models, pm_report_put_models },
	{ "trajectory", "Trajectories", pm_report_has_trajectories, pm_report_put_trajectories },
	{ "dataset", "Dataset", pm_report_has_dataset, pm_report_put_dataset },
};
const size_t pm_n_report_sections = sizeof pm_report_sections / sizeof *pm_report_sections;
