/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - records of evaluations in a table of systems. */
#include "app/eval/cell.h"

#include <stdio.h>
#include <string.h>

void pm_cell_set_status(PmSysCell *c, const char *status, int matched, int smallest_t)
{
	snprintf(c->status, sizeof c->status, "%s", status);
	c->matched = matched;
	c->smallest_t = smallest_t;
}

/* Clocks of the baseline (0) or the candidate (1), where the record has times. */
static void set_times(PmSysCell *c, const PmEvalRecord *r, int which, double seconds)
{
	c->seconds[r->measured ? PM_SYS_COLD : PM_SYS_MODELLED] = seconds;
	if (r->measured) {
		snprintf(c->machine, sizeof c->machine, "%s", r->timing.machine);
		c->seconds[PM_SYS_REPLAY] = r->timing.replay[which];
		c->seconds[PM_SYS_WALL] = r->timing.wall[which];
	}
}

void pm_cell_take_eager(PmSysCell *c, const PmEvalRecord *r)
{
	if (*c->status || !(r->baseline_seconds > 0))
		return;
	pm_cell_set_status(c, "correct", 1, PM_T_MIN);
	set_times(c, r, 0, r->baseline_seconds);
}

void pm_cell_take_pass(PmSysCell *c, const PmEvalReport *report, size_t i)
{
	const PmEvalRecord *r = &report->rec[i];

	if (r->verdict == PM_VERDICT_NO_MATCH || r->verdict == PM_VERDICT_NO_CREDIT ||
	    r->verdict == PM_VERDICT_NOT_CHECKED) {
		pm_cell_set_status(c, "correct", 0, PM_T_MIN); /* times follow from the eager run */
		return;
	}
	pm_cell_set_status(c, pm_eval_score_status(report, i), 1, r->smallest_t);
	if (r->verdict == PM_VERDICT_OK) /* else also times that cannot be ranked or believed */
		set_times(c, r, 1, r->candidate_seconds);
}

void pm_cell_fill_declined(PmSysCell *c, const PmSysCell *eager)
{
	if (*c->status && !c->matched)
		memcpy(c->seconds, eager->seconds, sizeof c->seconds);
}
