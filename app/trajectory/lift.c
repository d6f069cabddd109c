/* SPDX-License-Identifier: Apache-2.0 */
/* lift.c - reading answers of tools. */
#include "app/trajectory/lift.h"

#include <math.h>
#include <string.h>

void pm_runs_release(PmRuns *r)
{
	for (size_t i = 0; i < r->list.n; i++) {
		free(r->list.v[i].handle);
		free(r->list.v[i].task);
	}
	PM_VEC_RELEASE(&r->list);
}

static const char *task_of(const PmRuns *r, const char *handle)
{
	for (size_t i = r->list.n; i > 0; i--)
		if (strcmp(r->list.v[i - 1].handle, handle) == 0)
			return r->list.v[i - 1].task;
	return "";
}

void pm_runs_note(PmRuns *r, const cJSON *answer, const char *task)
{
	const char *handle = pm_json_str(answer, "run", "");

	if (!*handle || !task || !*task || strcmp(task_of(r, handle), task) == 0)
		return;
	PM_VEC_PUSH(&r->list, ((PmRunTask){ pm_xstrdup(handle), pm_xstrdup(task) }));
}

PmLifted pm_lift(const PmRuns *runs, const char *tool, const cJSON *args, const cJSON *answer, int is_error)
{
	int gets = strcmp(tool, "get_run") == 0;
	PmLifted l = { pm_json_str(args, "task", ""), "", "", NAN };

	if (!*l.task)
		l.task = pm_json_str(answer, "task", "");
	if (!*l.task)
		l.task = task_of(runs, pm_json_str(args, "run", ""));
	if (is_error || !(gets || strcmp(tool, "evaluate") == 0 || strcmp(tool, "submit") == 0))
		return l;
	l.verdict = pm_json_str(answer, "verdict", "");
	l.report = pm_json_str(answer, "report_sha256", "");
	l.score = pm_json_num(answer, "score", NAN);
	return l;
}
