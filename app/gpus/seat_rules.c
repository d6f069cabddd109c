/* SPDX-License-Identifier: Apache-2.0 */
/* seat_rules.c - when a GPU is left, and when an item is to blame. */
#include "app/gpus/seat_rules.h"

#include <stdio.h>

PmSeatMay pm_seat_may(const PmSeatRules *r, int seat)
{
	const PmSeatState *s = &r->seat[seat];

	if (!s->left)
		return PM_SEAT_TAKES;
	if (s->cause >= 0)
		for (int i = 0; i < r->n; i++)
			if (!r->seat[i].left)
				return PM_SEAT_WAITS;
	return PM_SEAT_IS_LEFT;
}

static void leave(PmSeatState *s, PmGpuFault f, int64_t cause, const char *why)
{
	s->left = f;
	s->cause = cause;
	s->on_trial = 0;
	snprintf(s->why, sizeof s->why, "%s", why);
}

int pm_seat_leave(PmSeatRules *r, int seat, PmGpuFault f, const char *why)
{
	if (r->seat[seat].left)
		return 0;
	leave(&r->seat[seat], f, -1, why);
	return 1;
}

PmFaultOf pm_seat_fault(PmSeatRules *r, int seat, int64_t item, int usable, const char *why)
{
	int broke = 0;

	if (usable)
		return PM_FAULT_OF_ITEM;
	for (int i = 0; i < r->n; i++) {
		PmSeatState *s = &r->seat[i];

		if (i == seat || !s->left || s->cause != item)
			continue;
		broke = 1;
		s->left = PM_GPU_WELL;
		s->cause = -1;
		s->on_trial = 1;
	}
	if (broke) { /* nor is this one's the fault */
		r->seat[seat].on_trial = 1;
		return PM_FAULT_OF_ITEM;
	}
	if (!r->seat[seat].left)
		leave(&r->seat[seat], PM_GPU_FAILING, item, why);
	return PM_FAULT_OF_SEAT;
}

void pm_seat_settle(PmSeatRules *r, int64_t item)
{
	for (int i = 0; i < r->n; i++)
		if (r->seat[i].left && r->seat[i].cause == item)
			r->seat[i].cause = -1;
}

void pm_seat_tried(PmSeatRules *r, int seat, int usable)
{
	PmSeatState *s = &r->seat[seat];

	if (!s->on_trial)
		return;
	s->on_trial = 0;
	if (!usable)
		leave(s, PM_GPU_FAILING, -1, "it does not work any more since a pass broke it");
}
