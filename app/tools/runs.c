/* SPDX-License-Identifier: Apache-2.0 */
/* runs.c - work in child processes: handles, how far it is, and the files that outlive the session. */
#include "app/tools/tools_priv.h"

#include "base/core/version.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS ".runs"
enum { MAX_RUNS = 100000, MAX_ARGS = 32 };

static const char *state_name(PmRunState s)
{
	static const char *const names[] = { "running", "done", "failed", "cancelled" };

	return names[s];
}

/* ---- files ---- */

static void path_of(const char *handle, char path[64])
{
	snprintf(path, 64, RUNS "/%.16s.json", handle);
}

/* "r" and digits. */
static int is_handle(const char *s)
{
	size_t n = strlen(s);

	return n > 1 && n < 8 && *s == 'r' && strspn(s + 1, "0123456789") == n - 1;
}

static cJSON *file_of(const PmToolRun *r)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "run", r->handle);
	cJSON_AddStringToObject(j, "tool", r->tool);
	cJSON_AddStringToObject(j, "state", state_name(r->state));
	cJSON_AddNumberToObject(j, "seconds", r->seconds);
	cJSON_AddStringToObject(j, "version", PM_VERSION);
	cJSON_AddItemToObject(j, "args", r->args ? cJSON_Duplicate(r->args, 1) : cJSON_CreateObject());
	if (r->key.len)
		cJSON_AddStringToObject(j, "of", r->key.s);
	if (r->answer) {
		cJSON_AddBoolToObject(j, "is_error", r->is_error);
		cJSON_AddItemToObject(j, "answer", cJSON_Duplicate(r->answer, 1));
	}
	if (r->report)
		cJSON_AddItemToObject(j, "report", cJSON_Duplicate(r->report, 1));
	return j;
}

/* The folder is ours and made by us: the author's tools do not reach names that begin with a dot. */
static void put_file(const PmTools *t, const PmToolRun *r)
{
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;
	char name[64];
	cJSON *j = file_of(r);

	path_of(r->handle, name);
	pm_path_join(t->workspace, name, &path);
	pm_json_print(j, 1, &text);
	pm_write_file(path.s, text.s, text.len, NULL); /* a full disk costs the file, not the answer */
	cJSON_Delete(j);
	pm_str_release(&text);
	pm_str_release(&path);
}

/* The first number that no session on this workspace has taken. */
static int take_number(const PmTools *t, PmToolRun *r)
{
	char name[64];

	for (int n = t->runs.n ? t->runs.v[t->runs.n - 1]->number + 1 : 1; n < MAX_RUNS; n++) {
		int fd;

		snprintf(name, sizeof name, RUNS "/r%d.lock", n);
		fd = openat(t->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return 0;
		flock(fd, LOCK_EX | LOCK_NB);
		r->lock = fd;
		r->number = n;
		snprintf(r->handle, sizeof r->handle, "r%d", n);
		return 1;
	}
	return 0;
}

/* 1 when the session that has this run is there. */
static int is_alive(const PmTools *t, const char *handle)
{
	char name[64];
	int fd, alive;

	snprintf(name, sizeof name, RUNS "/%.16s.lock", handle);
	fd = openat(t->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	alive = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0;
	if (fd >= 0)
		close(fd);
	return alive;
}

cJSON *pm__run_read(const PmTools *t, const char *handle)
{
	PmStr text = PM_STR_INIT, path = PM_STR_INIT;
	cJSON *j = NULL;
	char name[64];

	if (!is_handle(handle))
		return NULL;
	path_of(handle, name);
	pm_path_join(t->workspace, name, &path);
	if (pm_read_file(path.s, 0, &text, NULL) || pm_json_parse(text.s, text.len, &j, NULL))
		j = NULL;
	if (j && !strcmp(pm_json_str(j, "state", ""), "running") && !is_alive(t, handle))
		cJSON_ReplaceItemInObject(j, "state", cJSON_CreateString("lost"));
	pm_str_release(&text);
	pm_str_release(&path);
	return j;
}

/* ---- how far ---- */

static void tell(PmToolRun *r, const char *words, size_t n)
{
	if (n >= sizeof r->words)
		n = sizeof r->words - 1;
	while (n && words[n] && ((unsigned char)words[n] & 0xc0) == 0x80)
		n--; /* never half a character */
	if (strlen(r->words) == n && !memcmp(r->words, words, n))
		return;
	memcpy(r->words, words, n);
	r->words[n] = '\0';
	r->told++;
}

void pm__run_say(PmToolRun *r, const char *words)
{
	tell(r, words, strlen(words));
}

/* What a whole evaluation has finished. */
static void hear(const PmTools *t, PmToolRun *r)
{
	PmStr words = PM_STR_INIT;

	if (r->judges && pm__so_far_read(t, r, &words))
		pm__run_say(r, words.s);
	pm_str_release(&words);
}

/* ---- their lives ---- */

PmToolRun *pm__run_new(PmTools *t, const char *tool, const cJSON *args, cJSON **fail, int *is_error)
{
	PmToolRun *r = pm_xcalloc(1, sizeof *r);

	r->lock = -1;
	r->variant = pm_json_i64(args, "variant", -1);
	snprintf(r->tool, sizeof r->tool, "%s", tool);
	pm_str_init(&r->so);
	pm_str_init(&r->target);
	pm_str_init(&r->label);
	pm_str_init(&r->key);
	if ((mkdirat(t->dir, RUNS, 0755) && errno != EEXIST) || !take_number(t, r)) {
		*fail = pm__error(is_error, "The workspace has no room for another run: %s.",
				  strerror(errno));
		pm__run_free(r);
		return NULL;
	}
	r->args = args ? cJSON_Duplicate(args, 1) : NULL;
	r->began = pm_now();
	PM_VEC_PUSH(&t->runs, r);
	put_file(t, r);
	return r;
}

void pm__run_free(PmToolRun *r)
{
	pm_child_free(r->child);
	cJSON_Delete(r->args);
	cJSON_Delete(r->answer);
	cJSON_Delete(r->report);
	cJSON_Delete(r->partial);
	cJSON_Delete(r->so_far);
	cJSON_Delete(r->graphs);
	PM_VEC_RELEASE(&r->work);
	pm_str_release(&r->so);
	pm_str_release(&r->target);
	pm_str_release(&r->label);
	pm_str_release(&r->key);
	if (r->lock >= 0)
		close(r->lock);
	free(r);
}

PmToolRun *pm__run_find(PmTools *t, const char *handle)
{
	for (size_t i = 0; i < t->runs.n; i++)
		if (!strcmp(t->runs.v[i]->handle, handle))
			return t->runs.v[i];
	return NULL;
}

/* An evaluation that the author cannot be blamed for costs none, nor one that never began. */
static void end(PmTools *t, PmToolRun *r, PmRunState state)
{
	const char *blame = r->answer ? pm_json_str(r->answer, "blame", "") : "";

	pm_child_free(r->child);
	r->child = NULL;
	r->state = state;
	r->seconds = pm_now() - r->began;
	if (r->step && t->steps >= 0 && (!(r->judged > 0) || !strcmp(blame, "harness")))
		t->steps++;
	if (r->step && t->steps >= 0 && r->answer && !r->is_error) {
		cJSON_DeleteItemFromObject(r->answer, "steps_remaining");
		pm_json_add_i64(r->answer, "steps_remaining", t->steps);
	}
	put_file(t, r);
	cJSON_Delete(r->report); /* the file has it, */
	r->report = NULL;
	cJSON_Delete(r->so_far); /* and another has this */
	r->so_far = NULL;
	if (r->lock >= 0)
		close(r->lock);
	r->lock = -1;
}

void pm__run_answer(PmTools *t, PmToolRun *r, cJSON *answer, int is_error)
{
	cJSON_Delete(r->answer);
	r->answer = answer;
	r->is_error = is_error;
	if (!is_error) {
		char uri[64];

		cJSON_DeleteItemFromObject(answer, "run");
		cJSON_DeleteItemFromObject(answer, "state");
		cJSON_AddStringToObject(answer, "run", r->handle);
		cJSON_AddStringToObject(answer, "state", "done");
		snprintf(uri, sizeof uri, "passmith://run/%s", r->handle);
		pm__fit(answer, uri);
	}
	end(t, r, is_error ? PM__FAILED : PM__DONE);
}

void pm__run_fail(PmTools *t, PmToolRun *r, const char *fmt, ...)
{
	char text[PM_ERR_MAX];
	cJSON *answer;
	int is_error;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	answer = pm__error(&is_error, "%s", text);
	pm__run_answer(t, r, answer, is_error);
}

void pm__run_cancel(PmTools *t, PmToolRun *r)
{
	cJSON *j;

	if (r->state != PM__RUNNING)
		return;
	hear(t, r);
	r->state = PM__CANCELLED;
	j = cJSON_CreateObject();
	cJSON_AddStringToObject(j, "run", r->handle);
	cJSON_AddStringToObject(j, "state", "cancelled");
	cJSON_AddStringToObject(j, "tool", r->tool);
	cJSON_AddNumberToObject(j, "seconds", pm_now() - r->began);
	pm__so_far_add(t, r, j);
	cJSON_Delete(r->answer);
	r->answer = j;
	end(t, r, PM__CANCELLED);
}

void pm__run_start(PmTools *t, PmToolRun *r, const char *const *argv, PmRunNext next)
{
	const char *words[MAX_ARGS];
	/* Beyond the deadline of each variant, for a child that does not keep its own. */
	PmChildOpts o = { .dir = t->workspace };
	int n = 0;
	PmErr err;

	pm_err_init(&err);
	words[n++] = t->program;
	for (; *argv && n < MAX_ARGS - 2; argv++)
		words[n++] = *argv;
	words[n++] = "--json";
	words[n] = NULL;
	r->next = next;
	pm_child_free(r->child);
	r->child = NULL;
	if (!t->program)
		pm__run_fail(
			t, r,
			"The program passmith, which does the work of tools, was not found beside this one; "
			"run make.");
	else if (pm_child_start(words, &o, &r->child, &err))
		pm__run_fail(t, r, "%s", err.text);
}

/* ---- what it says ---- */

/* The last whole line of stderr: "evaluating 3/30, ..." or a sentence. */
static void read_progress(PmToolRun *r)
{
	const PmStr *text = &pm_child_result(r->child)->errtext;
	const char *end = strrchr(text->len ? text->s : "", '\n'), *line, *slash;
	static const char prefix[] = "passmith: ";
	long done, total;
	int at;

	if (!end)
		return;
	for (line = end; line > text->s && line[-1] != '\n'; line--)
		;
	slash = memchr(line, '/', (size_t)(end - line));
	if (slash && sscanf(line, "evaluating %ld/%ld%n", &done, &total, &at) == 2 && total > 0) {
		if ((double)done != r->done || (double)total != r->total)
			r->told++;
		r->done = (double)done;
		r->total = (double)total;
		return;
	}
	if (!strncmp(line, prefix, sizeof prefix - 1))
		line += sizeof prefix - 1;
	tell(r, line, (size_t)(end - line));
}

cJSON *pm__run_status(const PmTools *t, const PmToolRun *r)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "run", r->handle);
	cJSON_AddStringToObject(j, "state", state_name(r->state));
	cJSON_AddStringToObject(j, "tool", r->tool);
	cJSON_AddNumberToObject(j, "seconds", pm_now() - r->began);
	if (r->total > 0) {
		cJSON_AddNumberToObject(j, "done", r->done);
		cJSON_AddNumberToObject(j, "total", r->total);
	}
	if (*r->words)
		cJSON_AddStringToObject(j, "progress", r->words);
	pm__so_far_add(t, r, j);
	if (r->whole && pm__best_seconds(t, r) > 0)
		cJSON_AddNumberToObject(j, "expected_seconds", ceil(pm__best_seconds(t, r)));
	if (r->submits)
		cJSON_AddStringToObject(j, "note", PM__ANEW);
	if (t->steps >= 0)
		pm_json_add_i64(j, "steps_remaining", t->steps);
	cJSON_AddStringToObject(j, "next", "get_run with this run and wait_s waits for it.");
	return j;
}

/* ---- ends ---- */

void pm__run_keep(PmToolRun *r, const cJSON *report)
{
	cJSON_Delete(r->report);
	r->report = cJSON_Duplicate(report, 1);
}

static void ended(PmTools *t, PmToolRun *r)
{
	PmProcResult *p = pm_child_result(r->child);
	PmRunNext next = r->next;
	PmStr how = PM_STR_INIT;
	cJSON *j = NULL;

	if (p->end == PM_PROC_EXITED && !pm_json_parse(p->out.s, p->out.len, &j, NULL) && cJSON_IsObject(j)) {
		next(t, r, j);
		cJSON_Delete(j);
		return;
	}
	cJSON_Delete(j);
	pm_proc_describe(p, &how);
	pm__run_fail(
		t, r,
		"The process that worked for %s %s and gave no answer; this is no fault of the pass. Try "
		"it again, and report it when it stays. It wrote: %.400s",
		r->tool, how.s, p->errtext.len ? p->errtext.s : "nothing");
	pm_str_release(&how);
}

void pm__run_step(PmTools *t, PmToolRun *r)
{
	int over;

	if (!r->child)
		return;
	over = pm_child_step(r->child);
	hear(t, r);
	if (!r->so_far) /* what a variant says is told until the first is judged */
		read_progress(r);
	if (over)
		ended(t, r);
}
