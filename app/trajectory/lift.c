/* SPDX-License-Identifier: Apache-2.0 */
/* lift.c - reading answers of tools. */
#include "app/trajectory/lift.h"

#include <math.h>
#include <string.h>

void pm_runs_release(PmRuns *r)
{
	for (size_t i = 0; i < r->list.n; i++) {
		free(r->list.v[i].handle);
		free(r->list.v[i].tool);
		free(r->list.v[i].task);
	}
	PM_VEC_RELEASE(&r->list);
}

static const PmRunTask *find(const PmRuns *r, const char *handle)
{
	for (size_t i = 0; i < r->list.n; i++)
		if (strcmp(r->list.v[i].handle, handle) == 0)
			return &r->list.v[i];
	return NULL;
}

void pm_runs_note(PmRuns *r, const char *tool, const cJSON *answer, const char *task)
{
	const char *handle = pm_json_str(answer, "run", "");

	if (*handle && strcmp(tool, "get_run") != 0 && !find(r, handle))
		PM_VEC_PUSH(&r->list,
			    ((PmRunTask){ pm_xstrdup(handle), pm_xstrdup(tool), pm_xstrdup(task) }));
}

static int evaluates(const char *tool)
{
	return strcmp(tool, "evaluate") == 0 || strcmp(tool, "submit") == 0;
}

PmLifted pm_lift(const PmRuns *runs, const char *tool, const cJSON *args, const cJSON *answer, int is_error)
{
	const PmRunTask *run = find(runs, pm_json_str(args, "run", ""));
	int gets = strcmp(tool, "get_run") == 0;
	PmLifted l = { pm_json_str(args, "task", run ? run->task : ""), "", "", NAN };

	/* A run of an earlier session is an evaluation when it has a level. */
	if (is_error ||
	    !(evaluates(tool) || (gets && (run ? evaluates(run->tool) : *pm_json_str(answer, "level", "")))))
		return l;
	l.verdict = pm_json_str(answer, "verdict", "");
	l.run = pm_json_str(answer, "run", "");
	l.score = *l.verdict ? pm_json_num(answer, "score", NAN) : NAN;
	return l;
}
