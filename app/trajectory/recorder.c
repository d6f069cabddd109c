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

/* Appends ", VALUE" of the first line `name : VALUE` of a file of the kernel's. */
static void add_value(const char *path, const char *name, PmStr *out)
{
	char line[512];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof line, f)) {
		const char *value = strchr(line, ':');

		if (strncmp(line, name, strlen(name)) == 0 && value) {
			value += 1 + strspn(value + 1, " \t");
			pm_str_addf(out, ", %.*s", (int)strcspn(value, "\n"), value);
			break;
		}
	}
	if (f)
		fclose(f);
}

/* "Linux x86_64, AMD EPYC 7B13, NVIDIA H200": without the machine's own name. */
static void this_machine(PmStr *out)
{
	static const char gpus[] = "/proc/driver/nvidia/gpus";
	struct utsname u;
	PmNames names = { 0 };

	if (uname(&u) == 0)
		pm_str_addf(out, "%s %s", u.sysname, u.machine);
	add_value("/proc/cpuinfo", "model name", out);
	if (pm_path_is_dir(gpus) && pm_list_dir(gpus, &names, NULL) == PM_OK && names.n) {
		PmStr path = PM_STR_INIT;

		pm_str_addf(&path, "%s/%s/information", gpus, names.v[0]);
		add_value(path.s, "Model", out);
		pm_str_release(&path);
	}
	pm_names_release(&names);
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
		pm_runs_note(&r->runs, row->name, cJSON_GetObjectItemCaseSensitive(json, "answer"),
			     row->task);
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
	PmStr task = PM_STR_INIT, machine = PM_STR_INIT, options = PM_STR_INIT, names[3];
	PmTrajectoryRow row = {
		.kind = o->kind, .seed = o->seed, .version = PM_VERSION, .started = o->began
	};
	const char *const given[] = { o->model, o->experiment, o->instance };
	cJSON *clean = o->options ? pm_redact_json(r->redact, o->options) : cJSON_CreateObject();
	int is_new = 0;
	PmStatus st = o->task && *o->task ? task_hash(r->db, o->task, &task, err) : PM_OK;

	for (int k = 0; k < 3; k++) {
		pm_str_init(&names[k]);
		pm_redact_text(r->redact, given[k] ? given[k] : "", &names[k]);
	}
	if (o->machine)
		pm_redact_text(r->redact, o->machine, &machine);
	else
		this_machine(&machine);
	pm_json_print(clean, 0, &options);
	options.s[--options.len] = '\0';
	row.task = task.s;
	row.model = names[0].s;
	row.experiment = names[1].s;
	row.instance = names[2].s;
	row.machine = machine.s;
	row.options = options.s;
	if (!st)
		st = pm_trajectory_begin(r->db, &row, &r->id, &is_new, err);
	if (!st && !is_new)
		st = pm_trajectory_get(r->db, r->id, has_not_ended, NULL, err);
	if (!st && !is_new)
		st = pm_steps_each(r->db, r->id, replay_step, r, err);
	cJSON_Delete(clean);
	for (int k = 0; k < 3; k++)
		pm_str_release(&names[k]);
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

enum { MAX_DEPTH = 6, MAX_FILES = 200, MAX_BYTES = 4 << 20 };

/* Files of the workspace that were looked at, and bytes that were read. */
typedef struct Scan {
	PmFiles seen;
	size_t bytes;
} Scan;

/* What the tools themselves leave there: runs (.runs), objects. */
static int is_ours(const char *name)
{
	return *name == '.' || pm_str_ends(name, ".so") || pm_str_ends(name, ".new");
}

static void scan_file(PmRecorder *r, const char *path, const char *full, Scan *s)
{
	PmStr text = PM_STR_INIT;

	if (s->seen.list.n < MAX_FILES && s->bytes < MAX_BYTES &&
	    pm_read_file(full, PM_FILES_MAX, &text, NULL) == PM_OK && strlen(text.s) == text.len) {
		char sha[PM_SHA256_HEX];
		PmStr name = PM_STR_INIT;

		pm_redact_text(r->redact, path, &name);
		pm_sha256_hex("", 0, sha);
		pm_files_note(&s->seen, name.s, sha); /* the name is what counts */
		pm_str_release(&name);
		s->bytes += text.len;
		pm_recorder_file(r, path, text.s);
	}
	pm_str_release(&text);
}

/* `below` is a folder of the workspace, "" for itself. */
static void scan_folder(PmRecorder *r, const char *below, int depth, Scan *s)
{
	PmStr folder = PM_STR_INIT;
	PmNames names = { 0 };

	pm_path_join(r->workspace, below, &folder);
	if (depth < MAX_DEPTH && pm_list_dir(folder.s, &names, NULL) != PM_OK)
		names.n = 0;
	for (size_t i = 0; i < names.n; i++) {
		PmStr path = PM_STR_INIT, full = PM_STR_INIT;

		pm_str_addf(&path, "%s%s%s", below, *below ? "/" : "", names.v[i]);
		pm_path_join(folder.s, names.v[i], &full);
		if (!is_ours(names.v[i]) && !pm_path_is_link(full.s)) {
			if (pm_path_is_dir(full.s))
				scan_folder(r, path.s, depth + 1, s);
			else
				scan_file(r, path.s, full.s, s);
		}
		pm_str_release(&path);
		pm_str_release(&full);
	}
	pm_names_release(&names);
	pm_str_release(&folder);
}

/* The files as they are: a client may have written them without a tool. */
static void scan(PmRecorder *r)
{
	Scan s = { 0 };

	scan_folder(r, "", 0, &s);
	for (size_t i = r->files.list.n; i > 0; i--) {
		const char *path = r->files.list.v[i - 1].path;
		PmStr full = PM_STR_INIT;

		pm_path_join(r->workspace, path, &full);
		if (!pm_files_get(&s.seen, path) && !pm_path_exists(full.s))
			pm_files_set(&r->files, path, NULL, 0, r->changes);
		pm_str_release(&full);
	}
	pm_files_release(&s.seen);
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
	const char *path = pm_json_str(c->args, "path", "");
	int writes = strcmp(c->tool, "write_file") == 0, edits = strcmp(c->tool, "edit_file") == 0;

	if (r->workspace &&
	    (writes || edits || strcmp(c->tool, "new_pass") == 0 || cJSON_HasObjectItem(c->args, "pass")))
		scan(r);
	else if (!r->workspace && writes && !c->is_error)
		pm_recorder_file(r, path, pm_json_str(c->args, "text", ""));
	else if (!r->workspace && edits && !c->is_error)
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

/* The file that the run left in the workspace holds its whole report. */
static void digest_of(const PmRecorder *r, const char *run, char hex[PM_SHA256_HEX])
{
	PmStr name = PM_STR_INIT, path = PM_STR_INIT, text = PM_STR_INIT;

	if (r->workspace && *run && !strchr(run, '/')) {
		pm_str_addf(&name, ".runs/%s.json", run);
		pm_path_join(r->workspace, name.s, &path);
		if (pm_read_file(path.s, 0, &text, NULL) == PM_OK)
			pm_sha256_hex(text.s, text.len, hex);
	}
	pm_str_release(&name);
	pm_str_release(&path);
	pm_str_release(&text);
}

PmStatus pm_recorder_call(PmRecorder *r, const PmRecordedCall *c, PmErr *err)
{
	PmStr task = PM_STR_INIT, name = PM_STR_INIT;
	char report[PM_SHA256_HEX] = "";
	PmLifted l = pm_lift(&r->runs, c->tool, c->args, c->answer, c->is_error);
	PmStepRow row = { .role = "tool",
			  .report = report,
			  .verdict = l.verdict,
			  .score = l.score,
			  .at = c->began,
			  .seconds = c->seconds,
			  .tokens_in = -1,
			  .tokens_out = -1,
			  .money = NAN };
	PmStatus st;

	if (*l.verdict)
		digest_of(r, l.run, report);
	if (*l.task && task_hash(r->db, l.task, &task, NULL)) {
		pm_str_clear(&task);
		pm_redact_text(r->redact, l.task, &task); /* as it was said: there is no such task */
	}
	pm_redact_text(r->redact, c->tool, &name); /* a client may call anything */
	row.name = name.s;
	row.task = task.s;
	note_files(r, c);
	pm_runs_note(&r->runs, c->tool, c->answer, task.s);
	st = add_step(r, &row, call_json(r, c), err);
	pm_str_release(&task);
	pm_str_release(&name);
	return st;
}
