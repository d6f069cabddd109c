/* SPDX-License-Identifier: Apache-2.0 */
/* board_fill.c - the rows and cells of a board, from graphs and stored records. */
#include "app/eval/bench_cells.h"
#include "app/report/board/board_priv.h"
#include "base/core/arena.h"
#include "bench/report/report.h"
#include "dataset/store/results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One run that is read into the rows of its task. */
typedef struct Reading {
	PmBoard *b;
	PmBoardRun *run;
	size_t system; /* that its results are of; n of the table: they are only counted */
	size_t first;  /* row of the task */
	double logs;   /* of the speedups of what is right, */
	size_t n_logs; /* and how many those are */
	PmEvalHidden hidden;
} Reading;

/* ---- cells ---- */

static char *copy_if_any(const char *s)
{
	return *s ? pm_xstrdup(s) : NULL;
}

static void take_about(PmBoardCell *c, const PmEvalRecord *r, const char *status)
{
	c->has = 1;
	c->verdict = r->verdict;
	c->hidden = r->verdict == PM_VERDICT_OK && strcmp(status, "correct") != 0;
	c->speedup = r->speedup;
	c->lo = r->measured ? r->timing.lo : NAN;
	c->hi = r->measured ? r->timing.hi : NAN;
	c->launches[0] = r->baseline_launches;
	c->launches[1] = r->candidate_launches;
	c->bytes[0] = r->baseline_bytes;
	c->bytes[1] = r->candidate_bytes;
	c->expected = c->got = c->ulp = NAN;
	if (r->verdict == PM_VERDICT_OK)
		return;
	c->why = copy_if_any(r->why);
	if (r->worst.index < 0)
		return;
	c->where = copy_if_any(r->worst_where);
	c->expected = r->worst.expected;
	c->got = r->worst.got;
	c->ulp = r->worst.ulp;
}

static size_t row_of(const Reading *w, int64_t ordinal)
{
	const PmSystems *t = &w->b->table;
	size_t i = w->first;

	while (i < t->graphs.n && t->graphs.v[i].ordinal != ordinal)
		i++;
	return i;
}

static void take_record(Reading *w, size_t row, PmEvalRecord *rec)
{
	PmEvalReport report = { .n = 1, .rec = rec, .hidden = w->hidden };
	PmSysGraph *g = &w->b->table.graphs.v[row];

	if (rec->verdict == PM_VERDICT_HARNESS_FAIL) /* no result of the pass */
		return;
	pm_bench_cell_pass(&g->cell[w->system], &report, 0);
	pm_bench_cell_eager(&g->cell[0], rec);
	take_about(&w->b->cell[row * PM_MAX_SYSTEMS + w->system], rec, pm_eval_score_status(&report, 0));
}

static void count(Reading *w, const PmResultRow *row)
{
	w->run->n_results++;
	if (strcmp(row->verdict, "OK") != 0)
		return;
	w->run->n_right++;
	if (row->speedup > 0) {
		w->logs += log(row->speedup);
		w->n_logs++;
	}
}

static PmStatus take_result(void *arg, const PmResultRow *row, PmErr *err)
{
	Reading *w = arg;
	size_t at = row_of(w, row->ordinal);
	PmEvalRecord rec = { 0 };
	cJSON *j = NULL;
	PmStatus st;

	count(w, row);
	if (w->system == w->b->table.n || at == w->b->table.graphs.n || row->task != w->run->task)
		return PM_OK;
	if (pm_board_run_is_external(w->run))
		return pm_bench_cell_external(&w->b->table.graphs.v[at].cell[w->system], row->json, w->b->gpu,
					      err);
	st = pm_json_parse(row->json, strlen(row->json), &j, err);
	if (!st)
		st = pm_eval_record_from_json(j, &rec, err);
	if (!st) {
		take_record(w, at, &rec);
		pm_eval_record_release(&rec);
	}
	cJSON_Delete(j);
	return st;
}

/* ---- runs ---- */

static PmStatus read_hidden(Reading *w, PmErr *err)
{
	cJSON *j = NULL;
	PmStatus st = PM_OK;

	if (*w->run->hidden)
		st = pm_json_parse(w->run->hidden_json, strlen(w->run->hidden_json), &j, err);
	if (j && !st)
		st = pm_eval_hidden_from_json(j, &w->hidden, err);
	cJSON_Delete(j);
	return st;
}

/* Which of two runs of a system on a task counts: one that was finished, then the later. */
static int is_later(const PmBoardRun *a, const PmBoardRun *b)
{
	if (!a->finished != !b->finished)
		return a->finished != 0;
	return a->started != b->started ? a->started > b->started : a->id > b->id;
}

/* 1 when no other run of the same system and task counts instead. */
static int counts(const PmBoards *all, const PmBoard *b, const PmBoardRun *r)
{
	for (size_t i = 0; i < all->runs.n; i++) {
		const PmBoardRun *o = &all->runs.v[i];

		if (o != r && o->task == r->task && !strcmp(o->path, r->path) && pm_board_has_run(b, o) &&
		    !pm_board_run_is_external(r) && is_later(o, r))
			return 0;
	}
	return 1;
}

static PmStatus read_run(PmDb *db, const PmBoards *all, PmBoard *b, size_t run, size_t first, PmErr *err)
{
	Reading w = { .b = b, .run = &all->runs.v[run], .first = first };
	PmStatus st = read_hidden(&w, err);

	for (w.system = 1; w.system < b->table.n; w.system++)
		if (!strcmp(b->system[w.system].path, w.run->path))
			break;
	if (!counts(all, b, w.run))
		w.system = b->table.n;
	w.run->n_results = w.run->n_right = 0;
	if (!st)
		st = pm_results_each(db, w.run->id, take_result, &w, err);
	w.run->gmean = w.n_logs ? exp(w.logs / (double)w.n_logs) : NAN;
	if (st == PM_E_INVALID)
		pm_err_ctx(err, "The results of run %lld (%.200s) in %s cannot be read", (long long)w.run->id,
			   w.run->path, pm_db_path(db));
	return st;
}

/* ---- tasks ---- */

static void grow_cells(PmBoard *b, size_t first)
{
	size_t n = b->table.graphs.n * PM_MAX_SYSTEMS;

	b->cell = pm_xrealloc(b->cell, n + 1, sizeof *b->cell);
	memset(b->cell + first * PM_MAX_SYSTEMS, 0,
	       (b->table.graphs.n - first) * PM_MAX_SYSTEMS * sizeof *b->cell);
	for (size_t i = first * PM_MAX_SYSTEMS; i < n; i++)
		b->cell[i].speedup = b->cell[i].lo = b->cell[i].hi = NAN;
}

static PmStatus fill_task(PmDb *db, PmBoards *all, PmBoard *b, int64_t task, PmErr *err)
{
	size_t first = b->table.graphs.n;
	PmVariantList m = { 0 };
	PmStatus st;
	char id[24];

	snprintf(id, sizeof id, "%lld", (long long)task);
	st = pm_variant_list_of_task(db, id, &m, err);
	if (!st)
		st = pm_bench_add_rows(&b->table, &m, b->profile, err);
	grow_cells(b, first);
	for (size_t i = 0; i < all->runs.n && !st; i++)
		if (all->runs.v[i].task == task && pm_board_has_run(b, &all->runs.v[i]))
			st = read_run(db, all, b, i, first, err);
	if (!st && !*b->gpu)
		st = pm_bench_model_eager(&b->table, 0, first, &m, b->profile, err);
	for (size_t i = first; i < b->table.graphs.n && !st; i++)
		for (size_t k = 1; k < b->table.n; k++)
			if (b->system[k].is_pass)
				pm_bench_cell_decline(&b->table.graphs.v[i].cell[k],
						      &b->table.graphs.v[i].cell[0]);
	pm_variant_list_release(&m);
	return st;
}

static int has_task(const PmBoards *all, const PmBoard *b, int64_t task)
{
	for (size_t i = 0; i < all->runs.n; i++)
		if (all->runs.v[i].task == task && pm_board_has_run(b, &all->runs.v[i]))
			return 1;
	return 0;
}

static int has_times(const PmSystems *t, size_t system)
{
	for (size_t i = 0; i < t->graphs.n; i++)
		for (PmSysClock c = 0; c < PM_N_SYS_CLOCKS; c++)
			if (t->graphs.v[i].cell[system].seconds[c] > 0)
				return 1;
	return 0;
}

/* The eager run, or where nobody was measured against it the first system that has times. */
static void find_reference(PmBoard *b)
{
	PmSystems *t = &b->table;

	for (size_t k = 0; k < t->n; k++) {
		t->reference = k;
		if (has_times(t, k))
			return;
	}
	t->reference = 0;
}

PmStatus pm_board_fill(PmDb *db, PmBoards *all, PmBoard *b, void (*step)(void *arg, const char *item),
		       void *arg, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t i = 0; i < all->tasks.n && !st; i++)
		if (has_task(all, b, all->tasks.v[i].id)) {
			st = fill_task(db, all, b, all->tasks.v[i].id, err);
			if (step)
				step(arg, all->tasks.v[i].name);
		}
	find_reference(b);
	return st;
}
