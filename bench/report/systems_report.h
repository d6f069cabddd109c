/* SPDX-License-Identifier: Apache-2.0 */
/* systems_report.h - a table of systems as text, JSON and two plots. */
#ifndef BENCH_SYSTEMS_REPORT_H
#define BENCH_SYSTEMS_REPORT_H

#include "bench/report/systems.h"

/* 1 when some row has the reference's time by this clock. */
int pm_systems_has_clock(const PmSystems *s, PmSysClock clock);

/* The first clock by which there are times, in the order of bench/report/systems.h; PM_SYS_MODELLED without
 * any. */
PmSysClock pm_systems_main_clock(const PmSystems *s);
/* "GPU time, caches cold". */
const char *pm_sys_clock_title(PmSysClock clock);

/* Appends a table for each clock that has times: a line per system over all rows, then who is faster than
 * whom. */
PmStatus pm_systems_text(const PmSystems *s, PmPreset preset, PmStr *out, PmErr *err);

/* {"reference", "preset", "systems": {name: {clock: figures}}, "faster": [...], "tasks": [...], "graphs":
 * [...]}: the figures over all rows and over each task, and every row. Returns owned. */
PmStatus pm_systems_json(const PmSystems *s, PmPreset preset, cJSON **out, PmErr *err);

/* ES(t) over t, a line per system; and for each x the share of graphs whose right answer came at least x
 * times as fast as the reference's. One <svg> each;
 * `in_page` as of bench/report/plot.h. */
PmStatus pm_systems_plot_es(const PmSystems *s, PmSysClock clock, PmPreset preset, int in_page, PmStr *out,
			    PmErr *err);
void pm_systems_plot_speedups(const PmSystems *s, PmSysClock clock, int in_page, PmStr *out);

#endif
