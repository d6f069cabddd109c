/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.c - a trajectory that is being written: messages and calls become steps. */
#include "app/trajectory/recorder.h"

#include "app/trajectory/files.h"
#include "app/trajectory/lift.h"
#include "app/trajectory/redact.h"
#include "base/core/version.h"
#include "base/sys/io.h"
#include "dataset/store/tasks.h"
#include "dataset/store/trajectories.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

struct PmRecorder {
	PmDb *db;
	int64_t id, steps;
	char *workspace; /* NULL = none */
	PmRedact *redact;
	PmFiles files;
	cJSON *changes; /* of files, for the next step */
	PmRuns runs;    /* which task each handle is of */
};

/* ---- opening ---- */

static PmStatus take_hash(void *arg, const PmTaskRow *row, PmErr *err)
{
	(void)err;
	pm_str_clear(arg);
	pm_str_add(arg, row->hash);
	return PM_OK;
}

/* Appends the hash of a task by any of its names. */
static PmStatus task_hash(PmDb *db, const char *name, PmStr *out, PmErr *err)
{
	int64_t id;
	PmStatus st = pm_task_find(db, name, &id, err);

	return st ? st : pm_task_get(db, id, take_hash, out, err);
}

/* "Linux x86_64, AMD EPYC 7B13": without the machine's own name. */
static void this_machine(PmStr *out)
{
	struct utsname u;
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "r");

	if (uname(&u) == 0)
		pm_str_addf(out, "%s %s", u.sysname, u.machine);
	while (f && fgets(line, sizeof line, f)) {
		const char *value = strstr(line, ": ");

		if (strncmp(line, "model name", 10) == 0 && value) {
			pm_str_addf(out, ", %.*s", (int)strcspn(value + 2, "\n"), value + 2);
			break;
		}
	}
	if (f)
		fclose(f);
}

/* Goes through what is stored, to go on from there. */
static PmStatus replay_step(void *arg, const PmStepRow *row, PmErr *err)
{
	PmRecorder *r = arg;
	cJSON *changes = NULL, *json = NULL;
	PmStatus st = pm_json_parse(row->files, strlen(row->files), &changes, err);

	if (!st)
		st = pm_files_apply(&r->files, changes, err);
	if (!st)
		st = pm_json_parse(row->json, strlen(row->json), &json, err);
	if (!st && strcmp(row->role, "tool") == 0)
		pm_runs_note(&r->runs, cJSON_GetObjectItemCaseSensitive(json, "answer"), row->task);
	cJSON_Delete(changes);
	cJSON_Delete(json);
	r->steps = row->ordinal + 1;
	return st;
}

static PmStatus has_not_ended(void *arg, const PmTrajectoryRow *row, PmErr *err)
{
	(void)arg;
	if (!row->ended)
		return PM_OK;
	return pm_err(err, PM_E_INVALID,
		      "Trajectory %lld has ended (%s); give another instance to begin another one.",
		      (long long)row->id, row->outcome);
}

static PmStatus begin(PmRecorder *r, const PmRecorderOpts *o, PmErr *err)
{
	PmStr task = PM_STR_INIT, machine = PM_STR_INIT, options = PM_STR_INIT;
	PmTrajectoryRow row = { .kind = o->kind,
				.model = o->model,
				.seed = o->seed,
				.version = PM_VERSION,
				.experiment = o->experiment,
				.instance = o->instance };
	cJSON *clean = o->options ? pm_redact_json(r->redact, o->options) : cJSON_CreateObject();
	int is_new = 0;
	PmStatus st = o->task && *o->task ? task_hash(r->db, o->task, &task, err) : PM_OK;

	if (o->machine)
		pm_redact_text(r->redact, o->machine, &machine);
	else
		this_machine(&machine);
	pm_json_print(clean, 0, &options);
	options.s[--options.len] = '\0';
	row.task = task.s;
	row.machine = machine.s;
	row.options = options.s;
	if (!st)
		st = pm_trajectory_begin(r->db, &row, &r->id, &is_new, err);
	if (!st && !is_new)
		st = pm_trajectory_get(r->db, r->id, has_not_ended, NULL, err);
	if (!st && !is_new)
		st = pm_steps_each(r->db, r->id, replay_step, r, err);
	cJSON_Delete(clean);
	pm_str_release(&task);
	pm_str_release(&machine);
	pm_str_release(&options);
	return st;
}

PmStatus pm_recorder_open(const PmRecorderOpts *o, PmRecorder **out, PmErr *err)
{
	PmRecorder *r = pm_xcalloc(1, sizeof *r);
	PmStatus st = pm_db_open(o->db, 0, &r->db, err);

	*out = NULL;
	r->changes = cJSON_CreateArray();
	r->redact = pm_redact_new();
	for (size_t k = 0; o->secrets && o->secrets[k]; k++)
		pm_redact_add_secret(r->redact, o->secrets[k]);
	if (o->workspace) {
		r->workspace = pm_xstrdup(o->workspace);
		pm_redact_add_folder(r->redact, o->workspace, "workspace");
	}
	if (!st)
		st = begin(r, o, err);
	if (st)
		pm_recorder_close(r);
	else
		*out = r;
	return st;
}

void pm_recorder_close(PmRecorder *r)
{
	if (!r)
		return;
	pm_db_close(r->db);
	pm_redact_free(r->redact);
	pm_files_release(&r->files);
	pm_runs_release(&r->runs);
	cJSON_Delete(r->changes);
	free(r->workspace);
	free(r);
}

PmStatus pm_recorder_end(PmRecorder *r, const char *outcome, PmErr *err)
{
	return pm_trajectory_end(r->db, r->id, outcome, err);
}

int64_t pm_recorder_id(const PmRecorder *r)
{
	return r->id;
}

int64_t pm_recorder_steps(const PmRecorder *r)
{
	return r->steps;
}

/* ---- steps ---- */

/* Stores a step with `json` (taken) and the changes of files so far. */
static PmStatus add_step(PmRecorder *r, PmStepRow *row, cJSON *json, PmErr *err)
{
	PmStr text = PM_STR_INIT, files = PM_STR_INIT;
	cJSON *clean = pm_redact_json(r->redact, json);
	int64_t ordinal = 0;
	PmStatus st;

	pm_json_print(clean, 0, &text);
	pm_json_print(r->changes, 0, &files);
	text.s[--text.len] = '\0';
	files.s[--files.len] = '\0';
	row->trajectory = r->id;
	row->json = text.s;
	row->files = files.s;
	st = pm_step_add(r->db, row, &ordinal, err);
	if (!st) {
		r->steps = ordinal + 1;
		cJSON_Delete(r->changes);
		r->changes = cJSON_CreateArray();
	}
	cJSON_Delete(json);
	cJSON_Delete(clean);
	pm_str_release(&text);
	pm_str_release(&files);
	return st;
}

/* Both forms of a call become {"id", "name", "arguments": object}; arguments that are no JSON stay text. */
static cJSON *plain_calls(const cJSON *calls)
{
	cJSON *list = cJSON_CreateArray();
	const cJSON *c;

	cJSON_ArrayForEach(c, calls)
	{
		const cJSON *f = cJSON_GetObjectItemCaseSensitive(c, "function"), *from = f ? f : c;
		const cJSON *args = cJSON_GetObjectItemCaseSensitive(from, "arguments");
		cJSON *j = cJSON_CreateObject(), *parsed = NULL;

		cJSON_AddStringToObject(j, "id", pm_json_str(c, "id", ""));
		cJSON_AddStringToObject(j, "name", pm_json_str(from, "name", ""));
		if (cJSON_IsString(args) &&
		    (pm_json_parse(args->valuestring, strlen(args->valuestring), &parsed, NULL) ||
		     !cJSON_IsObject(parsed))) {
			cJSON_Delete(parsed);
			parsed = cJSON_CreateString(args->valuestring);
		} else if (!cJSON_IsString(args)) {
			parsed = args ? cJSON_Duplicate(args, 1) : cJSON_CreateObject();
		}
		cJSON_AddItemToObject(j, "arguments", parsed);
		cJSON_AddItemToArray(list, j);
	}
	return list;
}

PmStatus pm_recorder_message(PmRecorder *r, const PmRecordedMessage *m, PmErr *err)
{
	PmStepRow row = { .role = m->role,
			  .score = NAN,
			  .at = m->began,
			  .seconds = m->seconds,
			  .tokens_in = m->tokens_in,
			  .tokens_out = m->tokens_out,
			  .money = m->money };
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "content", m->content ? m->content : "");
	if (m->reasoning && *m->reasoning)
		cJSON_AddStringToObject(j, "reasoning", m->reasoning);
	if (m->tool_calls && m->tool_calls->child)
		cJSON_AddItemToObject(j, "tool_calls", plain_calls(m->tool_calls));
	return add_step(r, &row, j, err);
}

/* ---- files ---- */

void pm_recorder_file(PmRecorder *r, const char *path, const char *text)
{
	PmStr name = PM_STR_INIT, clean = PM_STR_INIT;

	pm_redact_text(r->redact, path, &name);
	if (text)
		pm_redact_text(r->redact, text, &clean);
	pm_files_set(&r->files, name.s, text ? clean.s : NULL, clean.len, r->changes);
	pm_str_release(&name);
	pm_str_release(&clean);
}

/* The tool has accepted the path; but the file may be another one by now. */
static void read_file(PmRecorder *r, const char *path)
{
	PmStr full = PM_STR_INIT, text = PM_STR_INIT;

	if (*path == '/' || strstr(path, ".."))
		return;
	pm_path_join(r->workspace, path, &full);
	if (!pm_path_is_link(full.s) && pm_read_file(full.s, PM_FILES_MAX, &text, NULL) == PM_OK &&
	    strlen(text.s) == text.len)
		pm_recorder_file(r, path, text.s);
	pm_str_release(&full);
	pm_str_release(&text);
}

/* Without a workspace: the file as the edit leaves it, when it is known. */
static void edit(PmRecorder *r, const char *path, const cJSON *args)
{
	const PmFile *f = pm_files_get(&r->files, path);
	const char *old = pm_json_str(args, "old_text", ""), *at = f ? strstr(f->text, old) : NULL;
	PmStr text = PM_STR_INIT;

	if (!at || !*old)
		return;
	pm_str_addn(&text, f->text, (size_t)(at - f->text));
	pm_str_add(&text, pm_json_str(args, "new_text", ""));
	pm_str_add(&text, at + strlen(old));
	pm_recorder_file(r, path, text.s);
	pm_str_release(&text);
}

static void note_files(PmRecorder *r, const PmRecordedCall *c)
{
	const char *path = pm_json_str(c->answer, "path", pm_json_str(c->args, "path", ""));
	int writes = strcmp(c->tool, "write_file") == 0, edits = strcmp(c->tool, "edit_file") == 0;

	if (c->is_error || !*path || !(writes || edits || strcmp(c->tool, "new_pass") == 0))
		return;
	if (r->workspace)
		read_file(r, path);
	else if (writes)
		pm_recorder_file(r, path, pm_json_str(c->args, "text", ""));
	else if (edits)
		edit(r, path, c->args);
}

/* ---- calls ---- */

static cJSON *call_json(const PmRecorder *r, const PmRecordedCall *c)
{
	cJSON *j = cJSON_CreateObject();
	char made[32];

	snprintf(made, sizeof made, "call_%lld", (long long)r->steps);
	cJSON_AddStringToObject(j, "id", c->id && *c->id ? c->id : made);
	cJSON_AddItemToObject(j, "arguments", c->args ? cJSON_Duplicate(c->args, 1) : cJSON_CreateObject());
	cJSON_AddItemToObject(j, "answer", c->answer ? cJSON_Duplicate(c->answer, 1) : cJSON_CreateObject());
	cJSON_AddBoolToObject(j, "is_error", c->is_error);
	return j;
}

PmStatus pm_recorder_call(PmRecorder *r, const PmRecordedCall *c, PmErr *err)
{
	PmStr task = PM_STR_INIT;
	PmLifted l = pm_lift(&r->runs, c->tool, c->args, c->answer, c->is_error);
	PmStepRow row = { .role = "tool",
			  .name = c->tool,
			  .report = l.report,
			  .verdict = l.verdict,
			  .score = l.score,
			  .at = c->began,
			  .seconds = c->seconds,
			  .tokens_in = -1,
			  .tokens_out = -1,
			  .money = NAN };
	PmStatus st;

	if (*l.task && task_hash(r->db, l.task, &task, NULL)) {
		pm_str_clear(&task);
		pm_redact_text(r->redact, l.task, &task); /* as it was said: there is no such task */
	}
	row.task = task.s;
	note_files(r, c);
	pm_runs_note(&r->runs, c->answer, task.s);
	st = add_step(r, &row, call_json(r, c), err);
	pm_str_release(&task);
	return st;
}
