/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - finding submissions, running them again, and comparing. */
#include "app/trajectory/replay.h"

#include "app/tools/tools.h"
#include "app/trajectory/files.h"
#include "app/trajectory/lift.h"
#include "base/sys/io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WAIT_SECONDS = 60 };

void pm_session_replay_free(PmSessionReplay *r)
{
	for (size_t i = 0; i < r->list.n; i++) {
		free(r->list.v[i].now_verdict);
		free(r->list.v[i].why);
	}
	PM_VEC_RELEASE(&r->list);
	r->n_different = 0;
}

/* ---- what was submitted ---- */

static const cJSON *part(const PmSessionStep *s, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(s->json, name);
}

static int evaluates(const PmSessionStep *s)
{
	return strcmp(s->row.role, "tool") == 0 &&
	       (strcmp(s->row.name, "evaluate") == 0 || strcmp(s->row.name, "submit") == 0);
}

/* The step that has the verdict of call i: itself, or the first that asked for its run and got it. */
static const PmSessionStep *result_of(const PmSession *s, size_t i)
{
	const char *run = pm_json_str(part(&s->steps.v[i], "answer"), "run", "");

	if (*s->steps.v[i].row.verdict)
		return &s->steps.v[i];
	for (size_t k = i + 1; k < s->steps.n && *run; k++) {
		const PmSessionStep *step = &s->steps.v[k];

		if (*step->row.verdict && strcmp(step->row.name, "get_run") == 0 &&
		    strcmp(pm_json_str(part(step, "arguments"), "run", ""), run) == 0)
			return step;
	}
	return NULL;
}

/* ---- running one again ---- */

static PmStatus write_files(const PmFiles *files, const char *folder, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < files->list.n && !st; i++) {
		const PmFile *f = &files->list.v[i];
		PmStr path = PM_STR_INIT, dir = PM_STR_INIT;

		if (*f->path == '/' || strstr(f->path, "..") || f->too_long) {
			if (f->too_long)
				continue; /* an object or a graph; the evaluation says when it is needed */
			st = pm_err(err, PM_E_INVALID,
				    "A step says of a file '%s', which is outside the workspace; the "
				    "trajectory was "
				    "changed by hand.",
				    f->path);
			break;
		}
		pm_path_join(folder, f->path, &path);
		pm_path_dir(path.s, &dir);
		st = pm_mkdirs(dir.s, err);
		if (!st)
			st = pm_write_file(path.s, f->text, strlen(f->text), err);
		pm_str_release(&path);
		pm_str_release(&dir);
	}
	return st;
}

/* The arguments as they were, of the task by its hash: numbers are those of one database. */
static cJSON *arguments(const PmSessionStep *call)
{
	cJSON *args = cJSON_Duplicate(part(call, "arguments"), 1);

	if (strlen(call->row.task) == PM_SHA256_HEX - 1 && cJSON_HasObjectItem(args, "task"))
		cJSON_ReplaceItemInObject(args, "task", cJSON_CreateString(call->row.task));
	if (strcmp(call->row.name, "submit") == 0)
		cJSON_AddStringToObject(args, "level", "full");
	cJSON_DeleteItemFromObject(args, "wait_s");
	cJSON_AddNumberToObject(args, "wait_s", WAIT_SECONDS);
	return args;
}

/* The answer once the run is over. */
static cJSON *wait_for(PmTools *t, cJSON *answer, int *is_error, PmErr *err)
{
	while (answer && !*is_error && strcmp(pm_json_str(answer, "state", ""), "running") == 0) {
		cJSON *args = cJSON_CreateObject();

		cJSON_AddStringToObject(args, "run", pm_json_str(answer, "run", ""));
		cJSON_AddNumberToObject(args, "wait_s", WAIT_SECONDS);
		cJSON_Delete(answer);
		answer = pm_tools_call(t, "get_run", args, is_error, err);
		cJSON_Delete(args);
	}
	return answer;
}

static void read_answer(PmReplayedCall *r, const cJSON *answer, int is_error, const PmErr *err)
{
	PmStr why = PM_STR_INIT;

	r->now_score = pm_json_num(answer, "score", NAN);
	r->now_verdict = pm_xstrdup(is_error ? "" : pm_json_str(answer, "verdict", ""));
	if (!answer || is_error || !*r->now_verdict)
		pm_str_add(&why,
			   answer ? pm_json_str(answer, "error", "the tool gave no verdict") : err->text);
	r->why = pm_xstrdup(why.s);
	pm_str_release(&why);
}

static PmStatus run_again(const PmSessionStep *call, const PmFiles *files, const PmSessionReplayOpts *o,
			  const char *device, PmReplayedCall *r, PmErr *err)
{
	PmToolsOpts opts = { .db = o->db, .device = device, .steps = -1 };
	PmStr folder = PM_STR_INIT;
	PmTools *t = NULL;
	int is_error = 0;
	PmStatus st = pm_temp_dir("replay", &folder, err);

	if (st)
		return st;
	opts.workspace = folder.s;
	st = write_files(files, folder.s, err);
	if (!st)
		st = pm_tools_open(&opts, &t, err);
	if (!st) {
		cJSON *args = arguments(call);
		cJSON *answer = wait_for(t, pm_tools_call(t, "evaluate", args, &is_error, err), &is_error,
					 err);

		read_answer(r, answer, is_error, err);
		cJSON_Delete(answer);
		cJSON_Delete(args);
	}
	pm_tools_close(t);
	pm_remove_tree(folder.s, NULL);
	pm_str_release(&folder);
	return st;
}

/* ---- comparing ---- */

/* Of the larger score, or of 1, which a pass has that changes nothing: at which levels a wrong pass is near
 * enough is a matter of the inputs that were drawn, and moves its score by hundredths. */
static int same_score(double a, double b, double tolerance)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

static void compare(PmReplayedCall *r, double tolerance)
{
	char why[160] = "";

	if (*r->why)
		return;
	r->same = strcmp(r->verdict, r->now_verdict) == 0;
	if (!r->same)
		snprintf(why, sizeof why, "the verdict was %.40s and is %.40s", r->verdict, r->now_verdict);
	else if (!same_score(r->score, r->now_score, tolerance))
		snprintf(why, sizeof why, "the score was %.6g and is %.6g", r->score, r->now_score);
	r->same = !*why;
	free(r->why);
	r->why = pm_xstrdup(why);
}

static PmStatus replay_one(const PmSession *s, size_t i, const PmFiles *files, const PmSessionReplayOpts *o,
			   PmSessionReplay *out, PmErr *err)
{
	const PmSessionStep *call = &s->steps.v[i], *result = result_of(s, i);
	const char *device = pm_json_str(part(result, "answer"), "device", "emu");
	PmReplayedCall r = { .ordinal = call->row.ordinal,
			     .tool = call->row.name,
			     .pass = pm_json_str(part(call, "arguments"), "pass", ""),
			     .verdict = result->row.verdict,
			     .score = result->row.score };
	PmStatus st = run_again(call, files, o, o->device ? o->device : device, &r, err);

	if (st) {
		free(r.now_verdict);
		free(r.why);
		return st;
	}
	compare(&r, o->tolerance);
	out->n_different += !r.same;
	PM_VEC_PUSH(&out->list, r);
	return PM_OK;
}

static int counts(const PmSession *s, size_t i, const PmSessionReplayOpts *o)
{
	const PmSessionStep *result = evaluates(&s->steps.v[i]) ? result_of(s, i) : NULL;

	return result && (o->quick || !isnan(result->row.score));
}

PmStatus pm_session_replay(const PmSession *s, const PmSessionReplayOpts *o, PmSessionReplayStep step,
			   void *arg, PmSessionReplay *out, PmErr *err)
{
	PmFiles files = { 0 };
	PmStatus st = PM_OK;
	size_t n = 0, k = 0;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < s->steps.n; i++)
		n += (size_t)counts(s, i, o);
	for (size_t i = 0; i < s->steps.n && !st; i++) {
		st = pm_files_apply(&files, s->steps.v[i].files, err);
		if (st || !counts(s, i, o))
			continue;
		if (step)
			step(arg, n, k++);
		st = replay_one(s, i, &files, o, out, err);
	}
	pm_files_release(&files);
	return st;
}
