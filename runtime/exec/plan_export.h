/* SPDX-License-Identifier: Apache-2.0 */
/* plan_export.h - a plan as lists of buffers and steps, for who keeps it and runs it elsewhere (packages). */
#ifndef RUNTIME_PLAN_EXPORT_H
#define RUNTIME_PLAN_EXPORT_H

#include "runtime/device/library.h"
#include "runtime/exec/exec.h"

typedef enum { PM_PLAN_INPUT, PM_PLAN_OUTPUT, PM_PLAN_CONST, PM_PLAN_ARENA } PmPlanPlace;

typedef struct PmPlanBuffer {
	PmPlanPlace place;
	size_t index;   /* INPUT, OUTPUT: which of the graph's */
	PmValue value;  /* CONST: of the graph */
	int64_t offset; /* ARENA: bytes from its start, a multiple of 256 */
	int64_t bytes;
} PmPlanBuffer;

typedef struct PmPlanStep {
	const char *label, *entry;
	size_t source; /* of pm_plan_sources */
	uint32_t grid[3], block[3], smem;
	const PmDevArg *args; /* buf.id: number of the buffer + 1 */
	int n_args;
	const PmLibCall *lib; /* NULL = the launch alone */
} PmPlanStep;

typedef struct PmPlanExport {
	PmPlanBuffer *buffer; /* owned; an output is never an input, too */
	PmPlanStep *step;     /* owned; views are left out */
	size_t n_buffers, n_steps;
	int64_t arena; /* bytes: intermediates share memory as those of a binding with `reuse` (exec.h) do */
} PmPlanExport;

/* Strings and arguments are the plan's, which must outlive *out. */
void pm_plan_export(const PmPlan *p, PmPlanExport *out);
void pm_plan_export_release(PmPlanExport *e);

#endif
