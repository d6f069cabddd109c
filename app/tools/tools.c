/* SPDX-License-Identifier: Apache-2.0 */
/* tools.c - a session's tools: the table, calls, and what they wait for. */
#include "app/tools/tools_priv.h"

#include "app/tools/schema.h"

#include "app/tools/tools.json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	PmToolFn fn;
} functions[] = {
	{ "list_tasks", pm__tool_list_tasks },
	{ "show_task", pm__tool_show_task },
	{ "show_graph", pm__tool_show_graph },
	{ "search_docs", pm__tool_search_docs },
	{ "show_api", pm__tool_show_api },
	{ "exemplars", pm__tool_exemplars },
	{ "new_pass", pm__tool_new_pass },
	{ "leaderboard", pm__tool_leaderboard },
	{ "list_files", pm__tool_list_files },
	{ "read_file", pm__tool_read_file },
	{ "write_file", pm__tool_write_file },
	{ "edit_file", pm__tool_edit_file },
	{ "build", pm__tool_build },
	{ "check", pm__tool_check },
	{ "explain", pm__tool_explain },
	{ "evaluate", pm__tool_evaluate },
	{ "get_run", pm__tool_get_run },
	{ "cancel_run", pm__tool_cancel_run },
	{ "compare", pm__tool_compare },
	{ "profile", pm__tool_profile },
	{ "disassemble", pm__tool_disassemble },
	{ "submit", pm__tool_submit },
};

/* ---- the table ---- */

const cJSON *pm_tools_table(void)
{
	static cJSON *table;
	PmErr err;

	pm_err_init(&err);
	if (!table && pm_json_parse(tools_json, sizeof tools_json - 1, &table, &err))
		PM_BUG("app/tools/tools.json: %s", err.text);
	return table;
}

static const cJSON *row_of(const char *name)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, pm_tools_table()) if (!strcmp(pm_json_str(row, "name", ""), name)) return row;
	return NULL;
}

static PmToolFn function_of(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name))
			return functions[i].fn;
	return NULL;
}

/* ---- a session ---- */

/* The program itself: beside this one, or above it (tests lie in folders below), or in $PASSMITH_BUILD. NULL
 * where there is none: what needs no child works all the same. */
static char *find_program(void)
{
	const char *build = getenv("PASSMITH_BUILD");
	PmStr dir = PM_STR_INIT, up = PM_STR_INIT, path = PM_STR_INIT;
	char *found;

	pm_self_dir(&dir, NULL);
	if (build && *build)
		pm_path_join(build, "passmith", &path);
	for (int level = 0; level < 4 && dir.len && pm_file_size(path.s) < 0; level++) {
		pm_str_clear(&path);
		pm_path_join(dir.s, "passmith", &path);
		pm_str_clear(&up);
		pm_path_dir(dir.s, &up);
		pm_str_clear(&dir);
		pm_str_add(&dir, up.s);
	}
	found = pm_file_size(path.s) < 0 ? NULL : realpath(path.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&up);
	pm_str_release(&path);
	return found;
}

static PmStatus open_workspace(PmTools *t, const char *path, PmErr *err)
{
	PmStatus st = pm_mkdirs(path, err);

	if (st)
		return st;
	t->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t->workspace = t->dir < 0 ? NULL : realpath(path, NULL);
	if (!t->workspace)
		return pm_path_error("open the folder", path, 0, err);
	return PM_OK;
}

static void read_best(PmTools *t)
{
	PmStr path = PM_STR_INIT, text = PM_STR_INIT;

	pm_path_join(t->workspace, ".runs/best.json", &path);
	if (pm_read_file(path.s, 0, &text, NULL) || pm_json_parse(text.s, text.len, &t->best, NULL))
		t->best = cJSON_CreateObject();
	pm_str_release(&path);
	pm_str_release(&text);
}

static char *whole_path(const char *path)
{
	char *real = path ? realpath(path, NULL) : NULL;

	return real ? real : path ? pm_xstrdup(path) : NULL;
}

PmStatus pm_tools_open(const PmToolsOpts *opts, PmTools **out, PmErr *err)
{
	PmTools *t = pm_xcalloc(1, sizeof *t);
	PmStr root = PM_STR_INIT;
	PmStatus st;

	t->dir = -1;
	t->steps = opts->steps;
	t->deadline_s = opts->deadline_s;
	t->device = pm_xstrdup(opts->device ? opts->device : "emu");
	t->gpus = opts->gpus ? pm_xstrdup(opts->gpus) : NULL;
	t->program = find_program();
	st = pm_root_dir(&root, err);
	st = st ? st : open_workspace(t, opts->workspace, err);
	if (!st && opts->db) /* one that may not be written is read */
		st = pm_db_open(opts->db, PM_DB_MUST_EXIST, &t->db, err);
	t->db_path = whole_path(opts->db); /* children work in the workspace */
	t->root = pm_str_detach(&root, NULL);
	if (st) {
		pm_tools_close(t);
		return st;
	}
	read_best(t);
	*out = t;
	return PM_OK;
}

void pm_tools_close(PmTools *t)
{
	if (!t)
		return;
	while (t->calls.n)
		pm_tool_cancel(t->calls.v[t->calls.n - 1]);
	for (size_t i = 0; i < t->runs.n; i++) {
		pm__run_cancel(t, t->runs.v[i]);
		pm__run_free(t->runs.v[i]);
	}
	PM_VEC_RELEASE(&t->runs);
	PM_VEC_RELEASE(&t->calls);
	pm_db_close(t->db);
	cJSON_Delete(t->best);
	if (t->dir >= 0)
		close(t->dir);
	free(t->db_path);
	free(t->workspace);
	free(t->device);
	free(t->gpus);
	free(t->program);
	free(t->root);
	free(t);
}

/* ---- calls ---- */

static void say_arguments(const cJSON *schema, PmStr *out)
{
	const cJSON *a;
	const char *sep = "";

	cJSON_ArrayForEach(a, cJSON_GetObjectItemCaseSensitive(schema, "properties"))
	{
		pm_str_addf(out, "%s%s", sep, a->string);
		sep = ", ";
	}
	if (!*sep)
		pm_str_add(out, "no arguments");
}

/* NULL when they are as the tool wants them. */
static cJSON *check_args(const cJSON *row, const cJSON *args, int *is_error)
{
	const cJSON *schema = cJSON_GetObjectItemCaseSensitive(row, "inputSchema"), *a, *r;
	const char *tool = pm_json_str(row, "name", "");
	PmStr why = PM_STR_INIT, all = PM_STR_INIT, place = PM_STR_INIT;
	cJSON *fail = NULL;

	say_arguments(schema, &all);
	if (args && !cJSON_IsObject(args)) {
		pm_str_add(&why, "the arguments must be an object; ");
		args = NULL;
	}
	cJSON_ArrayForEach(r, cJSON_GetObjectItemCaseSensitive(schema, "required"))
	{
		if (!cJSON_GetObjectItemCaseSensitive(args, r->valuestring))
			pm_str_addf(&why, "the argument %s is missing; ", r->valuestring);
	}
	cJSON_ArrayForEach(a, args)
	{
		const cJSON *s = cJSON_GetObjectItemCaseSensitive(
			cJSON_GetObjectItemCaseSensitive(schema, "properties"), a->string);

		pm_str_clear(&place);
		pm_str_addf(&place, "the argument %.40s", a->string);
		if (!s)
			pm_str_addf(&why, "there is no argument %.40s; ", a->string);
		else
			pm_schema_check(s, a, place.s, PM_SCHEMA_CLOSED, &why);
	}
	if (why.len)
		fail = pm__error(is_error, "In the call of %s %.*s. It takes: %s.", tool, (int)why.len - 2,
				 why.s, all.s);
	pm_str_release(&why);
	pm_str_release(&all);
	pm_str_release(&place);
	return fail;
}

PmStatus pm_tool_begin(PmTools *t, const char *name, const cJSON *args, PmToolCall **out, PmErr *err)
{
	const cJSON *row = row_of(name);
	PmToolFn fn = function_of(name);
	PmToolCall *c;
	double first, wait;

	if (!row || !fn)
		return pm_err(err, PM_E_NOT_FOUND, "There is no tool %.60s; the list of tools has all names.",
			      name);
	c = pm_xcalloc(1, sizeof *c);
	c->t = t;
	snprintf(c->tool, sizeof c->tool, "%s", name);
	PM_VEC_PUSH(&t->calls, c);
	*out = c;
	c->answer = check_args(row, args, &c->is_error);
	if (c->answer)
		return PM_OK;
	c->answer = fn(t, args, &c->run, &c->is_error);
	if (c->answer)
		pm__fit(c->answer, NULL);
	c->own = c->run && strcmp(name, "get_run") != 0;
	first = c->own ? PM__FIRST_WAIT : PM__GET_WAIT;
	wait = fmin(pm_json_num(args, "wait_s", first), PM__WAIT_MAX);
	c->until = pm_now() + (c->own ? fmax(first, wait) : wait);
	return PM_OK;
}

int pm_tool_done(const PmToolCall *c)
{
	return c->answer != NULL;
}

static void drop(PmToolCall *c)
{
	PmTools *t = c->t;

	for (size_t i = 0; i < t->calls.n; i++)
		if (t->calls.v[i] == c)
			t->calls.v[i] = t->calls.v[--t->calls.n];
	cJSON_Delete(c->answer);
	free(c);
}

cJSON *pm_tool_take(PmToolCall *c, int *is_error)
{
	cJSON *answer = c->answer;

	*is_error = c->is_error;
	c->answer = NULL;
	drop(c);
	return answer;
}

void pm_tool_cancel(PmToolCall *c)
{
	if (c->run && c->own && !c->answer)
		pm__run_cancel(c->t, c->run);
	drop(c);
}

int pm_tool_progress(PmToolCall *c, double *done, double *total, const char **words)
{
	int news = c->run && c->run->told != c->seen;

	*done = c->run ? c->run->done : 0;
	*total = c->run ? c->run->total : 0;
	*words = c->run ? c->run->words : "";
	if (c->run)
		c->seen = c->run->told;
	return news;
}

/* ---- waiting ---- */

int pm_tools_fds(const PmTools *t, struct pollfd *fds, int max, int *wait_ms)
{
	double wait = -1, now = pm_now();
	int n = 0;

	for (size_t i = 0; i < t->runs.n; i++) {
		struct pollfd own[3];
		int k = t->runs.v[i]->child ? pm_child_fds(t->runs.v[i]->child, own) : 0;
		double w = t->runs.v[i]->child ? pm_child_wait(t->runs.v[i]->child) : -1;

		if (n + k > max) { /* what has no room is looked at often */
			k = 0;
			w = 0.05;
		}
		memcpy(fds + n, own, (size_t)k * sizeof *own);
		n += k;
		wait = w >= 0 && (wait < 0 || w < wait) ? w : wait;
	}
	if (pm__queue_ready(t))
		wait = 0;
	for (size_t i = 0; i < t->calls.n; i++) {
		double w = fmax(t->calls.v[i]->until - now, 0);

		if (!t->calls.v[i]->answer && (wait < 0 || w < wait))
			wait = w;
	}
	*wait_ms = wait < 0 ? -1 : (int)ceil(wait * 1000);
	return n;
}

void pm_tools_step(PmTools *t)
{
	double now;

	for (size_t i = 0; i < t->runs.n; i++)
		pm__run_step(t, t->runs.v[i]);
	pm__queue_step(t);
	now = pm_now();
	for (size_t i = 0; i < t->calls.n; i++) {
		PmToolCall *c = t->calls.v[i];

		if (c->answer || !c->run)
			continue;
		if (c->run->answer) {
			c->answer = cJSON_Duplicate(c->run->answer, 1);
			c->is_error = c->run->is_error;
		} else if (now >= c->until) {
			c->answer = pm__run_status(t, c->run);
		}
	}
}

cJSON *pm_tools_call(PmTools *t, const char *name, const cJSON *args, int *is_error, PmErr *err)
{
	enum { MAX_FDS = 64 };
	struct pollfd fds[MAX_FDS];
	PmToolCall *c;
	int wait, n;

	if (pm_tool_begin(t, name, args, &c, err))
		return NULL;
	pm_tools_step(t);
	while (!pm_tool_done(c)) {
		n = pm_tools_fds(t, fds, MAX_FDS, &wait);
		poll(fds, (nfds_t)n, wait);
		pm_tools_step(t);
	}
	return pm_tool_take(c, is_error);
}
