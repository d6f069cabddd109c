/* SPDX-License-Identifier: Apache-2.0 */
/* board.c - rankings out of a database: which there are, and their systems. */
#include "app/report/board/board_priv.h"

#include "base/core/arena.h"
#include "base/core/clean.h"
#include "base/sys/io.h"
#include "bench/eval/run_key.h"
#include "dataset/store/results.h"
#include "dataset/store/tasks.h"
#include "runtime/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is stored ---- */

static PmStatus take_task(void *arg, const PmTaskRow *row, PmErr *err)
{
	PmBoards *b = arg;
	PmBoardTask t = { .id = row->id,
			  .n_variants = row->n_variants,
			  .name = pm_xstrdup(row->name),
			  .kind = pm_xstrdup(row->kind),
			  .split = pm_xstrdup(row->split),
			  .stratum = pm_xstrdup(row->stratum) };

	(void)err;
	snprintf(t.hash, sizeof t.hash, "%s", row->hash);
	snprintf(t.category, sizeof t.category, "%s", row->category);
	PM_VEC_PUSH(&b->tasks, t);
	return PM_OK;
}

/* "GPU=NVIDIA H200; CUDA driver=..." as bench/eval/run_key.h writes it; "cuda:NVIDIA H200" of imported times.
 */
static void find_gpu(const PmRunRow *row, char *out, size_t size)
{
	const char *colon = strchr(row->device, ':'), *gpu = strstr(row->machine, "GPU=");

	if (colon)
		snprintf(out, size, "%s", colon + 1);
	else if (gpu)
		snprintf(out, size, "%.*s", (int)strcspn(gpu + 4, ";"), gpu + 4);
}

static PmStatus take_run(void *arg, const PmRunRow *row, PmErr *err)
{
	PmBoards *b = arg;
	PmStr setting = PM_STR_INIT;
	PmBoardRun r = { .id = row->id,
			 .task = row->task,
			 .started = row->started,
			 .finished = row->finished,
			 .seed = row->seed,
			 .path = pm_xstrdup(row->pass_path),
			 .device = pm_xstrdup(row->device),
			 .version = pm_xstrdup(row->version),
			 .options = pm_xstrdup(row->options),
			 .machine = pm_xstrdup(row->machine),
			 .hidden = pm_xstrdup(row->hidden),
			 .hidden_json = pm_xstrdup(row->hidden_json) };

	(void)err;
	snprintf(r.sha256, sizeof r.sha256, "%s", row->pass_sha256);
	find_gpu(row, r.gpu, sizeof r.gpu);
	pm_run_key_setting(row->machine, &setting);
	snprintf(r.setting, sizeof r.setting, "%s", setting.s);
	pm_str_release(&setting);
	PM_VEC_PUSH(&b->runs, r);
	return PM_OK;
}

/* ---- which boards ---- */

/* The value of NAME=VALUE among options; `fallback` without one. */
static void option(const char *options, const char *name, const char *fallback, char *out, size_t size)
{
	const char *at = strstr(options, name);

	if (at)
		at += strlen(name);
	snprintf(out, size, "%.*s", at ? (int)strcspn(at, " ") : (int)strlen(fallback), at ? at : fallback);
}

static void add_board(PmBoards *all, const PmBoardRun *r)
{
	PmBoard b = { .options = pm_xstrdup(pm_board_run_is_external(r) ? "" : r->options) };
	char preset[16];

	snprintf(b.device, sizeof b.device, "%s", pm_board_run_kind(r));
	snprintf(b.gpu, sizeof b.gpu, "%s", r->gpu);
	snprintf(b.setting, sizeof b.setting, "%s", r->setting);
	if (!pm_board_run_is_external(r))
		snprintf(b.version, sizeof b.version, "%s", r->version);
	option(r->options, "profile=", pm_profile(NULL)->name, b.profile, sizeof b.profile);
	if (!pm_profile(b.profile)) /* of a version that had others */
		snprintf(b.profile, sizeof b.profile, "%s", pm_profile(NULL)->name);
	option(r->options, "preset=", "sound", preset, sizeof preset);
	b.preset = strcmp(preset, "passnet") ? PM_PRESET_SOUND : PM_PRESET_PASSNET;
	PM_VEC_PUSH(&all->v, b);
}

/* Passes make boards; times from elsewhere join those of their GPU, and make one where there is none. */
static void find_boards(PmBoards *all)
{
	for (int external = 0; external < 2; external++)
		for (size_t i = 0; i < all->runs.n; i++) {
			const PmBoardRun *r = &all->runs.v[i];
			size_t k = 0;

			if (pm_board_run_is_external(r) != external || !r->task)
				continue;
			while (k < all->v.n && !pm_board_has_run(&all->v.v[k], r))
				k++;
			if (k == all->v.n)
				add_board(all, r);
		}
}

static void add_machine(PmBoard *b, const char *machine)
{
	PmStr text = PM_STR_INIT;

	if (!*machine || (b->machines && strstr(b->machines, machine)))
		return;
	if (b->machines)
		pm_str_addf(&text, "%s | ", b->machines);
	pm_str_add(&text, machine);
	free(b->machines);
	b->machines = pm_str_detach(&text, NULL);
}

static void find_dates(PmBoards *all, PmBoard *b)
{
	for (size_t i = 0; i < all->runs.n; i++) {
		const PmBoardRun *r = &all->runs.v[i];

		if (!pm_board_has_run(b, r))
			continue;
		if (!b->first || r->started < b->first)
			b->first = r->started;
		if (r->started > b->last)
			b->last = r->started;
		add_machine(b, r->machine);
	}
}

static int last_first(const void *x, const void *y)
{
	const PmBoard *a = x, *b = y;

	if (a->last != b->last)
		return a->last < b->last ? 1 : -1;
	return strcmp(a->options, b->options);
}

/* ---- systems of a board ---- */

/* The last `parts` names of a path, without ".so": "silu", "mine/silu". */
static void short_name(const char *path, int parts, char *out, size_t size)
{
	const char *from = path + strlen(path);
	size_t n;

	for (; from > path; from--)
		if (from[-1] == '/' && --parts == 0)
			break;
	n = strlen(from);
	if (pm_str_ends(from, ".so"))
		n -= 3;
	n = n < size ? n : size - 1;
	memcpy(out, from, n);
	out[n] = 0;
	pm_clean(out, out, size, 0);
}

static int name_is_taken(const PmBoard *b, size_t k, const char *name)
{
	for (size_t i = 0; i < k; i++)
		if (!strcmp(b->table.name[i], name))
			return 1;
	return 0;
}

/* Two systems of one name get as much of their paths as tells them apart, or else a number. */
static void give_names(PmBoard *b)
{
	for (size_t k = 1; k < b->table.n; k++) {
		char *name = b->table.name[k];
		size_t size = sizeof b->table.name[0];

		for (int parts = 1; parts <= 4; parts++) {
			if (b->system[k].is_pass)
				short_name(b->system[k].path, parts, name, size);
			else
				snprintf(name, size, "%s", b->system[k].path);
			if (*name && !name_is_taken(b, k, name))
				break;
		}
		for (int n = 2; !*name || name_is_taken(b, k, name); n++)
			snprintf(name, size, "%.40s (%d)", *name ? b->system[k].path : "no name", n);
	}
}

typedef struct Found {
	PM_VEC(PmBoardSystem) v;
} Found;

static PmBoardSystem *system_of(Found *f, const PmBoardRun *r)
{
	PmBoardSystem s = { .is_pass = !pm_board_run_is_external(r) };

	for (size_t i = 0; i < f->v.n; i++)
		if (!strcmp(f->v.v[i].path, r->path))
			return &f->v.v[i];
	s.path = pm_xstrdup(r->path);
	PM_VEC_PUSH(&f->v, s);
	return &f->v.v[f->v.n - 1];
}

/* A build counts once: when no earlier run of the board has it. */
static int is_first_of(const PmBoards *all, const PmBoard *b, size_t run, int of_task)
{
	const PmBoardRun *r = &all->runs.v[run];

	for (size_t i = 0; i < run; i++) {
		const PmBoardRun *o = &all->runs.v[i];

		if (pm_board_has_run(b, o) && !strcmp(o->path, r->path) &&
		    (of_task ? o->task == r->task : !strcmp(o->sha256, r->sha256)))
			return 0;
	}
	return 1;
}

static int most_tasks_first(const void *x, const void *y)
{
	const PmBoardSystem *a = x, *b = y;

	if (a->n_tasks != b->n_tasks)
		return a->n_tasks < b->n_tasks ? 1 : -1;
	return strcmp(a->path, b->path);
}

static void find_systems(const PmBoards *all, PmBoard *b)
{
	Found f = { 0 };

	for (size_t i = 0; i < all->runs.n; i++) {
		const PmBoardRun *r = &all->runs.v[i];
		PmBoardSystem *s;

		if (!r->task || !pm_board_has_run(b, r))
			continue;
		s = system_of(&f, r);
		s->n_tasks += (size_t)is_first_of(all, b, i, 1);
		s->n_builds += *r->sha256 && is_first_of(all, b, i, 0);
		if (r->started >= s->last) {
			s->last = r->started;
			snprintf(s->build, sizeof s->build, "%s", r->sha256);
		}
	}
	if (f.v.n)
		qsort(f.v.v, f.v.n, sizeof *f.v.v, most_tasks_first);
	b->system[0].path = pm_xstrdup("eager");
	snprintf(b->table.name[0], sizeof b->table.name[0], "eager");
	b->table.n = 1;
	for (size_t i = 0; i < f.v.n; i++)
		if (b->table.n < PM_MAX_SYSTEMS) {
			b->system[b->table.n++] = f.v.v[i];
		} else {
			b->n_left_out++;
			free(f.v.v[i].path);
		}
	PM_VEC_RELEASE(&f.v);
	give_names(b);
}

/* ---- all of it ---- */

PmStatus pm_boards_read(PmDb *db, void (*step)(void *arg, const char *item), void *arg, PmBoards *out,
			PmErr *err)
{
	PmStatus st = pm_tasks_each(db, take_task, out, err);

	if (!st)
		st = pm_runs_each(db, 0, take_run, out, err);
	if (!st)
		find_boards(out);
	for (size_t k = 0; k < out->v.n && !st; k++) {
		find_dates(out, &out->v.v[k]);
		find_systems(out, &out->v.v[k]);
		st = pm_board_fill(db, out, &out->v.v[k], step, arg, err);
	}
	if (!st && out->v.n)
		qsort(out->v.v, out->v.n, sizeof *out->v.v, last_first);
	return st;
}

static void board_release(PmBoard *b)
{
	for (size_t i = 0; b->cell && i < b->table.graphs.n * PM_MAX_SYSTEMS; i++) {
		free(b->cell[i].why);
		free(b->cell[i].where);
	}
	free(b->cell);
	free(b->options);
	free(b->machines);
	for (size_t k = 0; k < b->table.n; k++)
		free(b->system[k].path);
	pm_systems_release(&b->table);
}

static void run_release(PmBoardRun *r)
{
	free(r->path);
	free(r->device);
	free(r->version);
	free(r->options);
	free(r->machine);
	free(r->hidden);
	free(r->hidden_json);
}

void pm_boards_release(PmBoards *b)
{
	for (size_t i = 0; i < b->v.n; i++)
		board_release(&b->v.v[i]);
	for (size_t i = 0; i < b->runs.n; i++)
		run_release(&b->runs.v[i]);
	for (size_t i = 0; i < b->tasks.n; i++) {
		free(b->tasks.v[i].name);
		free(b->tasks.v[i].kind);
		free(b->tasks.v[i].split);
		free(b->tasks.v[i].stratum);
	}
	PM_VEC_RELEASE(&b->v);
	PM_VEC_RELEASE(&b->runs);
	PM_VEC_RELEASE(&b->tasks);
}

const PmBoardCell *pm_board_cell(const PmBoard *b, size_t i, size_t k)
{
	return &b->cell[i * PM_MAX_SYSTEMS + k];
}

void pm_board_name(const PmBoard *b, char *out, size_t size)
{
	if (*b->gpu)
		snprintf(out, size, "%s", b->gpu);
	else
		snprintf(out, size, "modelled for %s", b->profile);
}
