/* SPDX-License-Identifier: Apache-2.0 */
/* bench_cells.c - rows and cells of a table of systems. */
#include "app/eval/bench_cells.h"

#include "app/model/algebra.h"
#include "runtime/device/device.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cells ---- */

static void set_status(PmSysCell *c, const char *status, int matched, int smallest_t)
{
	snprintf(c->status, sizeof c->status, "%s", status);
	c->matched = matched;
	c->smallest_t = smallest_t;
}

/* An eager run is what answers are compared with: right by definition. */
void pm_bench_cell_eager(PmSysCell *c, const PmEvalRecord *r)
{
	if (*c->status || !(r->baseline_seconds > 0))
		return;
	set_status(c, "correct", 1, PM_T_MIN);
	c->seconds[r->measured ? PM_SYS_COLD : PM_SYS_MODELLED] = r->baseline_seconds;
	if (r->measured) {
		snprintf(c->machine, sizeof c->machine, "%s", r->timing.machine);
		c->seconds[PM_SYS_REPLAY] = r->timing.replay[0];
		c->seconds[PM_SYS_WALL] = r->timing.wall[0];
	}
}

void pm_bench_cell_pass(PmSysCell *c, const PmEvalReport *report, size_t i)
{
	const PmEvalRecord *r = &report->rec[i];
	int ok = r->verdict == PM_VERDICT_OK;

	if (r->verdict == PM_VERDICT_NO_MATCH || r->verdict == PM_VERDICT_NO_CREDIT ||
	    r->verdict == PM_VERDICT_NOT_CHECKED) {
		set_status(c, "correct", 0, PM_T_MIN); /* times follow from the eager run */
		return;
	}
	set_status(c, pm_eval_score_status(report, i), 1, r->smallest_t);
	if (!ok) /* also times that cannot be ranked or believed */
		return;
	c->seconds[r->measured ? PM_SYS_COLD : PM_SYS_MODELLED] = r->candidate_seconds;
	if (r->measured) {
		snprintf(c->machine, sizeof c->machine, "%s", r->timing.machine);
		c->seconds[PM_SYS_REPLAY] = r->timing.replay[1];
		c->seconds[PM_SYS_WALL] = r->timing.wall[1];
	}
}

static double seconds_of(const cJSON *times, PmSysClock clock)
{
	return pm_json_num(cJSON_GetObjectItem(times, pm_sys_clock_name(clock)), "seconds", NAN);
}

PmStatus pm_bench_cell_external(PmSysCell *c, const char *json, const char *machine, PmErr *err)
{
	cJSON *j = NULL;
	PmStatus st = pm_json_parse(json, strlen(json), &j, err);

	if (!st && !*c->status) {
		set_status(c, "correct", !cJSON_IsFalse(cJSON_GetObjectItem(j, "changed")),
			   (int)pm_json_i64(j, "smallest_t", PM_T_MIN));
		snprintf(c->machine, sizeof c->machine, "%s", machine);
		for (PmSysClock k = 0; k < PM_SYS_MODELLED; k++)
			c->seconds[k] = seconds_of(j, k);
	}
	cJSON_Delete(j);
	return st;
}

void pm_bench_cell_decline(PmSysCell *c, const PmSysCell *eager)
{
	if (*c->status && !c->matched)
		memcpy(c->seconds, eager->seconds, sizeof c->seconds);
}

/* ---- rows ---- */

PmStatus pm_bench_add_rows(PmSystems *t, const PmVariantList *m, const char *profile, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < m->list.n && !st; i++) {
		PmSysGraph *g = pm_systems_add(t);

		g->task = m->task;
		g->ordinal = m->list.v[i].ordinal;
		g->dtype = m->list.v[i].dtype;
		snprintf(g->label, sizeof g->label, "%s", m->list.v[i].label);
		st = pm_sys_roofline(m->list.v[i].g, profile, &g->roofline, err);
		g->algebraic = pm_cli_is_algebraic(m->list.v[i].g);
		g->category = pm_category_of(m->list.v[i].g, NULL);
	}
	return st;
}

PmStatus pm_bench_model_eager(PmSystems *t, size_t system, size_t first, const PmVariantList *m,
			      const char *profile, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < m->list.n && !st; i++) {
		PmEvalRecord r = { 0 };
		PmPlanStats stats;

		st = pm_graph_plan_stats(m->list.v[i].g, NULL, 0, pm_profile(profile), &stats, err);
		if (st)
			break;
		r.baseline_seconds = stats.modelled_seconds;
		pm_bench_cell_eager(&t->graphs.v[first + i].cell[system], &r);
	}
	return st;
}
