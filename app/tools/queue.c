/* SPDX-License-Identifier: Apache-2.0 */
/* queue.c - whole evaluations of a session run one at a time, in the order in which they were asked for: two
 * beside each other take the processors from each other, and both end at the deadline. What waits is judged
 * as it was when it was asked for. */
#include "app/tools/tools_priv.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- what is judged ---- */

/* The folder .runs/rN.pass, with `name` in it; appended to *rel, a path of the workspace. */
static void place_of(const PmToolRun *r, const char *name, PmStr *rel)
{
	pm_str_addf(rel, ".runs/%s.pass/%s", r->handle, name);
}

/* Copies a file to a path of the workspace, of any size; `fd` is closed. */
static PmStatus copy(const PmTools *t, int fd, const char *rel, PmErr *err)
{
	PmStr bytes = PM_STR_INIT, to = PM_STR_INIT, dir = PM_STR_INIT;
	char chunk[64 * 1024];
	ssize_t n;
	PmStatus st;

	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		pm_str_addn(&bytes, chunk, (size_t)n);
	st = n < 0 ? pm_path_error("read what becomes", rel, 0, err) : PM_OK;
	close(fd);
	pm_path_join(t->workspace, rel, &to);
	pm_path_dir(to.s, &dir);
	st = st ? st : pm_mkdirs(dir.s, err);
	st = st ? st : pm_write_file(to.s, bytes.s, bytes.len, err);
	pm_str_release(&bytes);
	pm_str_release(&to);
	pm_str_release(&dir);
	return st;
}

/* A file of the workspace becomes one of that folder; its path is appended to *rel. */
static PmStatus keep(const PmTools *t, const PmToolRun *r, const char *path, PmStr *rel, PmErr *err)
{
	int fd = pm__ws_open(t, path, O_RDONLY, err);

	place_of(r, pm_path_base(path), rel);
	return fd < 0 ? PM_E_NOT_FOUND : copy(t, fd, rel->s, err);
}

PmStatus pm__keep_sources(const PmTools *t, const PmToolRun *r, const char *folder, const char *only,
			  PmErr *err)
{
	PmNames names = { 0 };
	PmStatus st = pm__ws_sources(t, folder, &names, err);

	for (size_t i = 0; i < names.n && !st; i++) {
		PmStr path = PM_STR_INIT, rel = PM_STR_INIT;

		pm_str_addf(&path, "%s%s%s", folder, *folder ? "/" : "", names.v[i]);
		/* Beside a pass of one file lie other passes. */
		if ((!only || !pm_str_ends(path.s, ".c") || !strcmp(path.s, only)) &&
		    pm__ws_kind(t, path.s) == 1)
			st = keep(t, r, path.s, &rel, err);
		pm_str_release(&path);
		pm_str_release(&rel);
	}
	pm_names_release(&names);
	return st;
}

void pm__kept_object(const PmToolRun *r, PmStr *rel)
{
	place_of(r, pm_path_base(r->so.s), rel);
}

PmStatus pm__publish_object(const PmTools *t, const PmToolRun *r, const char *folder, double newest,
			    PmErr *err)
{
	PmStr rel = PM_STR_INIT;
	PmStatus st = PM_OK;
	int fd;

	pm__kept_object(r, &rel);
	if (pm__ws_sources_time(t, folder) <= newest) {
		fd = openat(t->dir, rel.s, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		st = fd < 0 ? pm_path_error("read", rel.s, 0, err) : copy(t, fd, r->so.s, err);
	}
	pm_str_release(&rel);
	return st;
}

/* Unless it was built there. */
static PmStatus keep_object(const PmTools *t, PmToolRun *r, PmErr *err)
{
	PmStr rel = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (!r->built)
		st = keep(t, r, r->so.s, &rel, err);
	else
		pm__kept_object(r, &rel);
	pm_str_release(&r->so);
	r->so = rel;
	return st;
}

/* The graph of an evaluation that has to wait, where it is one file of the workspace. */
static PmStatus keep_graph(const PmTools *t, PmToolRun *r, PmErr *err)
{
	const char *model = pm__arg(r->args, "model");
	PmStr rel = PM_STR_INIT;
	PmStatus st;

	if (!model || !pm_str_ends(model, ".gpt") || pm__ws_kind(t, model) != 1)
		return PM_OK;
	st = keep(t, r, model, &rel, err);
	pm_str_clear(&r->target);
	pm_path_join(t->workspace, rel.s, &r->target);
	pm_str_release(&rel);
	return st;
}

/* ---- whose turn it is ---- */

static PmToolRun *at_work(const PmTools *t)
{
	for (size_t i = 0; i < t->runs.n; i++)
		if (t->runs.v[i]->judges && t->runs.v[i]->state == PM__RUNNING)
			return t->runs.v[i];
	return NULL;
}

/* Runs are in the order of their numbers. */
static PmToolRun *first_waiting(const PmTools *t)
{
	for (size_t i = 0; i < t->runs.n; i++)
		if (t->runs.v[i]->turn && t->runs.v[i]->state == PM__RUNNING)
			return t->runs.v[i];
	return NULL;
}

/* "waits for r3 and r4": what is at work, and what comes before. */
static void say_waiting(const PmTools *t, PmToolRun *r)
{
	PmStr words = PM_STR_INIT;
	int n = 0;

	for (size_t i = 0; i < t->runs.n; i++) {
		const PmToolRun *o = t->runs.v[i];

		if (o->state == PM__RUNNING && (o->judges || (o->turn && o->number < r->number)))
			pm_str_addf(&words, "%s%s", n++ ? " and " : "waits for ", o->handle);
	}
	pm_str_add(&words, "; whole evaluations run one at a time");
	pm__run_say(r, words.s);
	pm_str_release(&words);
}

int pm__queue_ready(const PmTools *t)
{
	return first_waiting(t) && !at_work(t);
}

void pm__queue_step(PmTools *t)
{
	PmToolRun *r;

	while (pm__queue_ready(t)) { /* one whose start fails has ended */
		PmRunTurn turn;

		r = first_waiting(t);
		turn = r->turn;
		r->turn = NULL;
		r->judges = 1;
		pm__run_say(r, "");
		turn(t, r);
	}
	for (size_t i = 0; i < t->runs.n; i++)
		if (t->runs.v[i]->turn && t->runs.v[i]->state == PM__RUNNING)
			say_waiting(t, t->runs.v[i]);
}

void pm__queue(PmTools *t, PmToolRun *r, PmRunTurn turn)
{
	PmErr err;

	pm_err_init(&err);
	if (keep_object(t, r, &err)) {
		pm__run_fail(t, r, "%s", err.text);
		return;
	}
	r->turn = turn;
	pm__queue_step(t);
	if (r->turn && keep_graph(t, r, &err))
		pm__run_fail(t, r, "%s", err.text);
}
