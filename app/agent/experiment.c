/* SPDX-License-Identifier: Apache-2.0 */
/* experiment.c - experiment.json: written once, compared afterwards. */
#include "app/agent/experiment.h"

#include "base/core/arena.h"
#include "base/core/rng.h"
#include "base/core/version.h"
#include "base/sys/io.h"
#include "dataset/store/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { LOCK_TRIES = 100, LOCK_US = 100 * 1000 };

/* ---- tasks ---- */

static PmStatus add_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	cJSON *list = arg, *t, *old;

	(void)err;
	cJSON_ArrayForEach(old, list) if (!strcmp(pm_json_str(old, "hash", ""), row->hash)) return PM_OK;
	t = cJSON_CreateObject();
	cJSON_AddStringToObject(t, "hash", row->hash);
	cJSON_AddStringToObject(t, "name", row->name);
	pm_json_add_i64(t, "variants", row->n_variants);
	cJSON_AddItemToArray(list, t);
	return PM_OK;
}

static PmStatus find_tasks(PmDb *db, const PmAgentOpts *o, cJSON *list, PmErr *err)
{
	PmStatus st = o->split ? pm_tasks_of_split(db, o->split, add_task, list, err) : PM_OK;
	int64_t id;

	for (size_t i = 0; i < o->n_tasks && !st; i++) {
		st = pm_task_find(db, o->tasks[i], &id, err);
		st = st ? st : pm_task_get(db, id, add_task, list, err);
	}
	if (!st && !cJSON_GetArraySize(list))
		st = pm_err(err, PM_E_NOT_FOUND,
			    "%.300s has no task of the split '%.60s'; passmith db shows which it has.", o->db,
			    o->split ? o->split : "");
	return st;
}

/* Numbers of tasks are the database's; hashes are the experiment's. */
static PmStatus number_tasks(PmDb *db, PmExperiment *x, PmErr *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(x->json, "tasks"), *t;
	PmStatus st = PM_OK;

	x->task = pm_xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof *x->task);
	cJSON_ArrayForEach(t, list)
	{
		PmExperimentTask *to = &x->task[x->n_tasks++];

		to->hash = pm_xstrdup(pm_json_str(t, "hash", ""));
		to->name = pm_xstrdup(pm_json_str(t, "name", ""));
		st = st ? st : pm_task_find(db, to->hash, &to->id, err);
	}
	return st;
}

/* ---- experiment.json ---- */

static cJSON *describe(const PmAgentOpts *o, cJSON *tasks)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "version", PM_VERSION);
	cJSON_AddStringToObject(j, "model", o->model);
	cJSON_AddStringToObject(j, "device", o->device);
	cJSON_AddStringToObject(j, "mode", pm_agent_mode_word(o->mode));
	cJSON_AddStringToObject(j, "feedback", pm_agent_feedback_word(o->feedback));
	cJSON_AddStringToObject(j, "tools", pm_agent_tools_word(o->tools));
	pm_json_add_i64(j, "samples", o->samples);
	pm_json_add_i64(j, "iterations", o->iterations);
	cJSON_AddNumberToObject(j, "temperature", o->temperature);
	pm_json_add_i64(j, "seed", o->seed);
	pm_json_add_i64(j, "max_tokens", o->max_tokens);
	cJSON_AddItemToObject(j, "tasks", tasks);
	return j;
}

/* The first member that differs; the name is drawn and is not compared. */
static PmStatus same(const cJSON *old, const cJSON *now, const char *folder, PmErr *err)
{
	const cJSON *m;

	cJSON_ArrayForEach(m, now)
	{
		const cJSON *before = cJSON_GetObjectItemCaseSensitive(old, m->string);
		PmStr a = PM_STR_INIT, b = PM_STR_INIT;
		int differ;

		pm_json_print(m, 0, &a);
		if (before)
			pm_json_print(before, 0, &b);
		differ = strcmp(a.s, b.s) != 0;
		pm_str_release(&a);
		pm_str_release(&b);
		if (differ)
			return pm_err(
				err, PM_E_CONFLICT,
				"%.300s holds an experiment with another value of '%s'; give the options "
				"of that one to go on with it, or another --out.",
				folder, m->string);
	}
	return PM_OK;
}

PmStatus pm_experiment_read(const char *folder, cJSON **out, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	PmStatus st;

	pm_path_join(folder, "experiment.json", &path);
	st = pm_read_file(path.s, 0, &text, err);
	st = st ? st : pm_json_parse(text.s, text.len, out, err);
	if (st)
		st = pm_err_ctx(err, "There is no experiment in %.300s", folder);
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

static PmStatus write_or_compare(const PmAgentOpts *o, cJSON *now, PmExperiment *x, PmErr *err)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;
	char name[32];
	PmStatus st;

	pm_path_join(o->out, "experiment.json", &path);
	if (pm_path_exists(path.s)) {
		st = pm_experiment_read(o->out, &x->json, err);
		st = st ? st : same(x->json, now, o->out, err);
		cJSON_Delete(now);
	} else {
		snprintf(name, sizeof name, "%016llx", (unsigned long long)pm_rng_secure_seed());
		cJSON_AddStringToObject(now, "name", name);
		pm_json_print(now, 1, &text);
		st = pm_write_file(path.s, text.s, text.len, err);
		x->json = now;
	}
	if (!st)
		x->name = pm_json_str(x->json, "name", "");
	pm_str_release(&path);
	pm_str_release(&text);
	return st;
}

/* ---- the folder ---- */

static PmStatus make_folders(const char *out, PmErr *err)
{
	static const char *const names[] = { "samples", "work", "best" };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < sizeof names / sizeof *names && !st; i++) {
		PmStr path = PM_STR_INIT;

		pm_path_join(out, names[i], &path);
		st = pm_mkdirs(path.s, err);
		pm_str_release(&path);
	}
	return st;
}

/* Workers have the lock from the process that they were forked from: who killed that one waits for them. */
static PmStatus lock(const char *out, int *fd, PmErr *err)
{
	PmStr path = PM_STR_INIT;
	PmStatus st = PM_OK;
	int tries = 0;

	pm_path_join(out, "lock", &path);
	*fd = open(path.s, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (*fd < 0)
		st = pm_path_error("write", path.s, 1, err);
	while (!st && flock(*fd, LOCK_EX | LOCK_NB)) {
		if (++tries >= LOCK_TRIES)
			st = pm_err(err, PM_E_CONFLICT,
				    "Another passmith agent works in %.300s; wait for its end.", out);
		else
			usleep(LOCK_US);
	}
	pm_str_release(&path);
	return st;
}

PmStatus pm_experiment_open(const PmAgentOpts *o, PmExperiment *x, PmErr *err)
{
	cJSON *tasks = cJSON_CreateArray();
	PmDb *db = NULL;
	PmStatus st;

	memset(x, 0, sizeof *x);
	x->lock = -1;
	st = pm_db_open(o->db, PM_DB_MUST_EXIST, &db, err);
	st = st ? st : find_tasks(db, o, tasks, err);
	st = st ? st : make_folders(o->out, err);
	st = st ? st : lock(o->out, &x->lock, err);
	if (st)
		cJSON_Delete(tasks);
	else
		st = write_or_compare(o, describe(o, tasks), x, err);
	st = st ? st : number_tasks(db, x, err);
	pm_db_close(db);
	if (st)
		pm_experiment_close(x);
	return st;
}

void pm_experiment_close(PmExperiment *x)
{
	for (size_t i = 0; i < x->n_tasks; i++) {
		free(x->task[i].hash);
		free(x->task[i].name);
	}
	free(x->task);
	cJSON_Delete(x->json);
	if (x->lock >= 0)
		close(x->lock);
	memset(x, 0, sizeof *x);
	x->lock = -1;
}
