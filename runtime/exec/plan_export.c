/* SPDX-License-Identifier: Apache-2.0 */
/* plan_export.c - a plan as lists of buffers and steps, for who keeps it and runs it elsewhere. */
#include "runtime/exec/plan_priv.h"

#include "runtime/exec/plan_export.h"

#include <stdlib.h>

enum { ALIGN = 256 }; /* buffers begin there: what plans take for granted (16 on emu) */

static int64_t up(int64_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

/* The place of each slot of intermediates in the arena, one behind the other. */
static int64_t *place_slots(const PmPlan *p, const PmSlots *slots, int64_t *all)
{
	int64_t *offset = pm_xcalloc((size_t)slots->n + 1, sizeof *offset);
	char *inside = pm_xcalloc((size_t)slots->n + 1, 1);

	for (size_t i = 0; i < p->buffers.n; i++)
		if (!p->buffers.v[i].is_const && p->buffers.v[i].use == PM_BUF_SCRATCH)
			inside[slots->of[i]] = 1;
	*all = 0;
	for (int i = 0; i < slots->n; i++)
		if (inside[i]) {
			offset[i] = *all;
			*all += up(slots->bytes[i]);
		}
	free(inside);
	return offset;
}

static void export_buffers(const PmPlan *p, PmPlanExport *out)
{
	PmSlots slots;
	int64_t *offset;

	pm__slots_assign(p, &slots);
	offset = place_slots(p, &slots, &out->arena);
	for (size_t i = 0; i < p->buffers.n; i++) {
		const Buffer *b = &p->buffers.v[i];
		PmPlanBuffer *to = &out->buffer[i];

		*to = (PmPlanBuffer){ .place = PM_PLAN_ARENA, .bytes = b->bytes };
		if (b->is_const)
			to->place = PM_PLAN_CONST;
		else if (b->use == PM_BUF_SCRATCH)
			to->offset = offset[slots.of[i]];
		if (b->is_const)
			to->value = b->value;
	}
	for (size_t i = 0; i < pm_graph_n_inputs(p->g); i++) {
		PmPlanBuffer *to = &out->buffer[pm__loc(p, pm_graph_input(p->g, i))->buf];

		to->place = PM_PLAN_INPUT;
		to->index = i;
	}
	for (size_t i = 0; i < p->outputs.n; i++) {
		PmPlanBuffer *to = &out->buffer[p->outputs.v[i]];

		to->place = PM_PLAN_OUTPUT;
		to->index = i;
	}
	pm__slots_release(&slots);
	free(offset);
}

void pm_plan_export(const PmPlan *p, PmPlanExport *out)
{
	*out = (PmPlanExport){ .n_buffers = p->buffers.n };
	out->buffer = pm_xcalloc(p->buffers.n + 1, sizeof *out->buffer);
	out->step = pm_xcalloc(p->steps.n + 1, sizeof *out->step);
	export_buffers(p, out);
	for (size_t i = 0; i < p->steps.n; i++) {
		const Step *s = &p->steps.v[i];
		PmPlanStep *to = &out->step[out->n_steps];

		if (s->source < 0)
			continue;
		*to = (PmPlanStep){ .label = s->label,
				    .entry = s->entry,
				    .source = (size_t)s->source,
				    .grid = { s->grid[0], s->grid[1], s->grid[2] },
				    .block = { s->block[0], s->block[1], s->block[2] },
				    .smem = s->smem,
				    .args = s->args,
				    .n_args = s->n_args,
				    .lib = s->lib };
		out->n_steps++;
	}
}

void pm_plan_export_release(PmPlanExport *e)
{
	free(e->buffer);
	free(e->step);
	*e = (PmPlanExport){ 0 };
}
