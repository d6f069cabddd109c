/* SPDX-License-Identifier: Apache-2.0 */
/* tool_board.c - leaderboard: what passes reached on the tasks of the database, by what is stored there. */
#include "app/tools/tools_priv.h"

#include "dataset/store/results.h"
#include "dataset/store/tasks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WRONG 0.1 /* what a variant counts that is not right, as in S (docs/reference/scoring.md) */

typedef struct Row {
	int64_t run, task;
	char *pass, *device; /* owned */
	char sha[16];
	int n, right, hidden_ok;
	double log_worth, log_speed;
	int n_speed;
} Row;

typedef struct Board {
	PM_VEC(Row) list;
	int64_t task;
	int unfinished;
} Board;

static PmStatus add_run(void *arg, const PmRunRow *r, PmErr *err)
{
	Board *b = arg;
	Row row = { .run = r->id, .task = r->task };

	(void)err;
	if (!r->task || !*r->pass_sha256)
		return PM_OK;
	b->unfinished += !r->finished;
	if (!r->finished) /* some variants have a result: that is no result of the task */
		return PM_OK;
	row.pass = pm_xstrdup(pm_path_base(r->pass_path));
	row.device = pm_xstrdup(r->device);
	memcpy(row.sha, r->pass_sha256, strnlen(r->pass_sha256, 12));
	row.hidden_ok = !r->hidden || !*r->hidden || !strcmp(r->hidden, "OK");
	PM_VEC_PUSH(&b->list, row);
	return PM_OK;
}

static PmStatus add_result(void *arg, const PmResultRow *r, PmErr *err)
{
	Row *row = arg;
	int right = !strcmp(r->verdict, "OK") && row->hidden_ok;

	(void)err;
	row->n++;
	row->right += right;
	row->log_worth += log(right && r->speedup > 0 ? r->speedup : right ? 1 : WRONG);
	if (right && r->speedup > 0) {
		row->log_speed += log(r->speedup);
		row->n_speed++;
	}
	return PM_OK;
}

static double worth(const Row *r)
{
	return r->n ? exp(r->log_worth / r->n) : 0;
}

static int by_worth(const void *a, const void *b)
{
	const Row *x = a, *y = b;

	if (x->task != y->task)
		return x->task < y->task ? -1 : 1;
	return worth(x) > worth(y) ? -1 : worth(x) < worth(y) ? 1 : x->run < y->run ? -1 : 1;
}

static cJSON *row_json(const Row *r, int place)
{
	cJSON *j = cJSON_CreateObject();

	pm_json_add_i64(j, "task", r->task);
	cJSON_AddNumberToObject(j, "place", place);
	cJSON_AddStringToObject(j, "pass", r->pass);
	cJSON_AddStringToObject(j, "pass_sha256", r->sha);
	cJSON_AddStringToObject(j, "device", r->device);
	cJSON_AddNumberToObject(j, "variants", r->n);
	cJSON_AddNumberToObject(j, "correct", r->right);
	cJSON_AddBoolToObject(j, "right_on_hidden_shapes", r->hidden_ok);
	if (r->n_speed)
		cJSON_AddNumberToObject(j, "speedup", exp(r->log_speed / r->n_speed));
	cJSON_AddNumberToObject(j, "mean", worth(r));
	return j;
}

cJSON *pm__tool_leaderboard(PmTools *t, const cJSON *args, PmToolRun **run, int *is_error)
{
	enum { LIMIT = 10 };
	const char *task = pm__arg(args, "task");
	int64_t limit = pm_json_i64(args, "limit", LIMIT), last = 0;
	Board b = { 0 };
	cJSON *j, *list;
	PmStatus st = PM_OK;
	int place = 0;
	PmErr err;

	(void)run;
	pm_err_init(&err);
	if (!t->db)
		return pm__error(is_error, "This session has no database, and so no leaderboard.");
	if (task)
		st = pm__task_id(t, task, &b.task, &err);
	st = st ? st : pm_runs_each(t->db, b.task, add_run, &b, &err);
	for (size_t i = 0; i < b.list.n && !st; i++)
		st = pm_results_each(t->db, b.list.v[i].run, add_result, &b.list.v[i], &err);
	j = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(j, "rows");
	if (b.list.n)
		qsort(b.list.v, b.list.n, sizeof *b.list.v, by_worth);
	for (size_t i = 0; i < b.list.n; i++) {
		place = b.list.v[i].task == last ? place + 1 : 1;
		last = b.list.v[i].task;
		if (place <= (task ? limit : 1))
			cJSON_AddItemToArray(list, row_json(&b.list.v[i], place));
		free(b.list.v[i].pass);
		free(b.list.v[i].device);
	}
	if (b.unfinished)
		cJSON_AddNumberToObject(j, "unfinished", b.unfinished);
	PM_VEC_RELEASE(&b.list);
	if (st) {
		cJSON_Delete(j);
		return pm__error_of(is_error, &err);
	}
	return j;
}
