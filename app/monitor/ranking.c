/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.c - rankings of passes out of stored runs. */
#include "app/monitor/ranking.h"

#include "app/eval/bench_cells.h"
#include "base/sys/io.h"
#include "bench/eval/run_key.h"
#include "bench/report/report.h"
#include "dataset/store/results.h"
#include "runtime/device/device.h"

#include <stdio.h>
#include <string.h>

/* What one result says. */
typedef struct Cells {
	int64_t ordinal;
	PmSysCell eager, pass;
} Cells;

typedef struct Run {
	int64_t id, task;
	char *pass, *device, *machine, *version, *options, *hidden; /* owned */
	char sha256[65];
	uint64_t seed;
	int finished;
	int64_t n_stored; /* results in the database; -1 = to be read again */
	PM_VEC(Cells) cells;
} Run;
typedef PM_VEC(Run) Runs;

typedef struct Variant {
	int64_t task, ordinal;
	int dtype;
} Variant;

/* Where a pass stood when it was seen first. */
typedef struct Place {
	char *key; /* owned: of ranking and pass */
	int place;
} Place;

typedef struct PmRankingCache {
	Runs runs; /* by number */
	PM_VEC(Variant) variants;
	PM_VEC(Place) places;
	int read; /* once or more */
} Cache;

static void run_release(Run *r)
{
	free(r->pass);
	free(r->device);
	free(r->machine);
	free(r->version);
	free(r->options);
	free(r->hidden);
	PM_VEC_RELEASE(&r->cells);
}

static void runs_release(Runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		run_release(&runs->v[i]);
	PM_VEC_RELEASE(runs);
}

/* ---- reading ---- */

static PmStatus list_run(void *arg, const PmRunRow *row, PmErr *err)
{
	Runs *runs = arg;
	Run r = { .id = row->id, .task = row->task, .seed = row->seed, .finished = row->finished > 0 };

	(void)err;
	if (!*row->pass_sha256 || !row->task || !strncmp(row->options, "external=", 9))
		return PM_OK;
	snprintf(r.sha256, sizeof r.sha256, "%s", row->pass_sha256);
	r.pass = pm_xstrdup(pm_path_base(row->pass_path));
	r.device = pm_xstrdup(row->device);
	r.machine = pm_xstrdup(row->machine);
	r.version = pm_xstrdup(row->version);
	r.options = pm_xstrdup(row->options);
	r.hidden = pm_xstrdup(row->hidden_json);
	PM_VEC_PUSH(runs, r);
	return PM_OK;
}

static int64_t number(const char *s)
{
	int64_t n = 0;

	return s && pm_parse_i64(s, &n) ? n : 0;
}

static int by_id(const void *a, const void *b)
{
	int64_t x = ((const Run *)a)->id, y = ((const Run *)b)->id;

	return (x > y) - (x < y);
}

static Run *find_run(const Runs *runs, int64_t id)
{
	Run key = { .id = id };

	return runs->n ? bsearch(&key, runs->v, runs->n, sizeof key, by_id) : NULL;
}

/* Columns: run, results. */
static PmStatus take_count(void *arg, size_t n, const char *const *names, const char *const *values,
			   PmErr *err)
{
	Run *r = find_run(arg, number(values[0]));

	(void)names;
	(void)err;
	if (r && n > 1)
		r->n_stored = number(values[1]);
	return PM_OK;
}

/* Columns: task, ordinal, element type. */
static PmStatus take_variant(void *arg, size_t n, const char *const *names, const char *const *values,
			     PmErr *err)
{
	Cache *c = arg;
	Variant v = { number(values[0]), number(values[1]), n > 2 ? pm_dtype_from_name(values[2]) : -1 };

	(void)names;
	(void)err;
	if (v.dtype < 0)
		v.dtype = PM_F32;
	PM_VEC_PUSH(&c->variants, v);
	return PM_OK;
}

typedef struct Reading {
	Run *run;
	PmEvalReport report; /* of one record at a time */
	PmEvalRecord record;
} Reading;

static PmStatus take_result(void *arg, const PmResultRow *row, PmErr *err)
{
	Reading *r = arg;
	Cells c = { .ordinal = row->ordinal };
	cJSON *j = NULL;
	PmStatus st = pm_json_parse(row->json, strlen(row->json), &j, err);

	if (!st)
		st = pm_eval_record_from_json(j, &r->record, err);
	cJSON_Delete(j);
	if (st)
		return st;
	pm_sys_cell_init(&c.eager);
	pm_sys_cell_init(&c.pass);
	pm_bench_cell_eager(&c.eager, &r->record);
	if (r->record.verdict != PM_VERDICT_HARNESS_FAIL)
		pm_bench_cell_pass(&c.pass, &r->report, 0);
	pm_eval_record_release(&r->record);
	PM_VEC_PUSH(&r->run->cells, c);
	return PM_OK;
}

static PmStatus read_cells(PmDb *db, Run *run, PmErr *err)
{
	Reading r = { .run = run, .report = { .n = 1 } };
	cJSON *j = NULL;
	PmStatus st = PM_OK;

	r.report.rec = &r.record;
	if (*run->hidden)
		st = pm_json_parse(run->hidden, strlen(run->hidden), &j, err);
	if (!st && j)
		st = pm_eval_hidden_from_json(j, &r.report.hidden, err);
	cJSON_Delete(j);
	return st ? st : pm_results_each(db, run->id, take_result, &r, err);
}

/* What was read of a run before stays true as long as no result came and hidden shapes said nothing new. */
static void reuse(Runs *runs, Runs *before)
{
	for (size_t i = 0; i < runs->n; i++) {
		Run *now = &runs->v[i], *old = find_run(before, now->id);

		if (!old || old->n_stored != now->n_stored || strcmp(old->hidden, now->hidden) != 0 ||
		    strcmp(old->sha256, now->sha256) != 0)
			continue;
		now->cells.v = old->cells.v;
		now->cells.n = old->cells.n;
		now->cells.cap = old->cells.cap;
		old->cells.v = NULL;
		old->cells.n = old->cells.cap = 0;
	}
}

static PmStatus read_all(Cache *c, const PmRankings *r, PmDb *db, PmErr *err)
{
	PmStatus st = pm_runs_each(db, 0, list_run, &c->runs, err);

	if (c->runs.n)
		qsort(c->runs.v, c->runs.n, sizeof *c->runs.v, by_id);
	if (!st)
		st = pm_db_query(db, "SELECT run, count(*) FROM results GROUP BY run", take_count, &c->runs,
				 err);
	if (!st)
		st = pm_db_query(db,
				 "SELECT task, ordinal, dtype FROM variants WHERE task IN (SELECT task FROM "
				 "runs) ORDER BY task, ordinal",
				 take_variant, c, err);
	if (st)
		return st;
	reuse(&c->runs, &r->cache->runs);
	for (size_t i = 0; i < c->runs.n && !st; i++) {
		if (c->runs.v[i].cells.n || !c->runs.v[i].n_stored)
			continue;
		if (r->stop && r->stop(r->stop_arg))
			return PM_DECLINED;
		st = read_cells(db, &c->runs.v[i], err);
	}
	return st;
}

/* ---- ranking ---- */

static int is_of(const PmRanking *g, const Run *r)
{
	return g->seed == r->seed && !strcmp(g->device, r->device) && !strcmp(g->machine, r->machine) &&
	       !strcmp(g->version, r->version) && !strcmp(g->options, r->options);
}

static PmRanking *ranking_of(PmRankings *out, const Run *r)
{
	PmRanking g = { .seed = r->seed };

	for (size_t i = 0; i < out->list.n; i++)
		if (is_of(&out->list.v[i], r))
			return &out->list.v[i];
	g.device = pm_xstrdup(r->device);
	g.machine = pm_xstrdup(r->machine);
	g.version = pm_xstrdup(r->version);
	g.options = pm_xstrdup(r->options);
	g.clock = pm_device_kind(r->device) == PM_DEVICE_CUDA ? PM_SYS_COLD : PM_SYS_MODELLED;
	g.preset = pm_run_key_preset(r->options);
	PM_VEC_PUSH(&out->list, g);
	return &out->list.v[out->list.n - 1];
}

static PmRanked *ranked_of(PmRanking *g, const Run *r)
{
	PmRanked s = { 0 };

	for (size_t i = 0; i < g->list.n; i++)
		if (!strcmp(g->list.v[i].sha256, r->sha256))
			return &g->list.v[i];
	s.name = pm_xstrdup(r->pass);
	if (pm_str_ends(s.name, ".so"))
		s.name[strlen(s.name) - 3] = '\0';
	memcpy(s.sha256, r->sha256, sizeof s.sha256);
	PM_VEC_PUSH(&g->list, s);
	return &g->list.v[g->list.n - 1];
}

/* The rows of a ranking: variants of the tasks that one of its runs is of. */
static void add_rows(const Cache *c, PmRanking *g, PmSystems *table)
{
	char *has;
	int64_t most = 0;

	for (size_t i = 0; i < c->runs.n; i++)
		most = c->runs.v[i].task > most ? c->runs.v[i].task : most;
	has = pm_xcalloc((size_t)most + 1, 1);
	for (size_t i = 0; i < c->runs.n; i++)
		if (is_of(g, &c->runs.v[i]) && !has[c->runs.v[i].task]) {
			has[c->runs.v[i].task] = 1;
			g->n_tasks++;
		}
	for (size_t i = 0; i < c->variants.n; i++) {
		const Variant *v = &c->variants.v[i];
		PmSysGraph *row = v->task <= most && has[v->task] ? pm_systems_add(table) : NULL;

		if (row) {
			row->task = v->task;
			row->ordinal = v->ordinal;
			row->dtype = v->dtype;
		}
	}
	g->n_variants = table->graphs.n;
	free(has);
}

/* Both are in order of task and ordinal. The eager run's times are of the first run that has them, as those
 * of `bench` are. */
static void put_run(PmSystems *table, const Run *r, int pass)
{
	size_t k = 0;

	for (size_t i = 0; i < table->graphs.n; i++) {
		PmSysGraph *row = &table->graphs.v[i];

		if (row->task != r->task)
			continue;
		while (k < r->cells.n && r->cells.v[k].ordinal < row->ordinal)
			k++;
		if (k == r->cells.n || r->cells.v[k].ordinal != row->ordinal)
			continue;
		if (!*row->cell[0].status)
			row->cell[0] = r->cells.v[k].eager;
		if (pass)
			row->cell[1] = r->cells.v[k].pass;
	}
}

/* A plan without a clock has a time for every graph, which is not stored where every pass declined: what a
 * pass leaves to the eager run takes as long as that, however long it is. */
static void fill_declined(PmSystems *table, PmSysClock clock)
{
	for (size_t i = 0; i < table->graphs.n; i++) {
		PmSysCell *c = table->graphs.v[i].cell;

		if (clock == PM_SYS_MODELLED && !*c[0].status && *c[1].status && !c[1].matched)
			c[0].seconds[clock] = 1;
		pm_bench_cell_decline(&c[1], &c[0]);
	}
}

static PmStatus figure(const Cache *c, const PmRanking *g, PmRanked *s, PmSystems *table, PmErr *err)
{
	for (size_t i = 0; i < table->graphs.n; i++) {
		pm_sys_cell_init(&table->graphs.v[i].cell[0]);
		pm_sys_cell_init(&table->graphs.v[i].cell[1]);
	}
	for (size_t i = 0; i < c->runs.n; i++) {
		const Run *r = &c->runs.v[i];
		int mine = is_of(g, r) && !strcmp(s->sha256, r->sha256);

		if (mine) {
			s->n_results += r->cells.n;
			s->n_unfinished += !r->finished;
		}
		if (is_of(g, r))
			put_run(table, r, mine);
	}
	fill_declined(table, g->clock);
	return pm_systems_figures(table, 1, g->clock, 0, PM_SYS_ALL, g->preset, &s->fig, err);
}

/* NaN, which a published score may be, comes last. */
static int best_first(const void *a, const void *b)
{
	const PmRanked *x = a, *y = b;
	double p = x->fig.score.as, q = y->fig.score.as;

	if (p > q || p < q)
		return p > q ? -1 : 1;
	if ((p == p) != (q == q))
		return p == p ? -1 : 1;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return strcmp(x->sha256, y->sha256);
}

/* Two passes of one file name are told apart by their bytes. */
static void tell_apart(PmRanking *g)
{
	char *twice = pm_xcalloc(g->list.n + 1, 1);

	for (size_t i = 0; i < g->list.n; i++)
		for (size_t k = 0; k < g->list.n; k++)
			twice[i] |= i != k && !strcmp(g->list.v[i].name, g->list.v[k].name);
	for (size_t i = 0; i < g->list.n; i++) {
		PmRanked *s = &g->list.v[i];
		PmStr name = PM_STR_INIT;

		if (!twice[i])
			continue;
		pm_str_addf(&name, "%s@%.8s", s->name, s->sha256);
		free(s->name);
		s->name = pm_str_detach(&name, NULL);
	}
	free(twice);
}

static PmStatus rank(const Cache *c, PmRanking *g, PmErr *err)
{
	PmSystems table = { .n = 2 };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < c->runs.n; i++)
		if (is_of(g, &c->runs.v[i])) {
			g->last = c->runs.v[i].id;
			ranked_of(g, &c->runs.v[i]);
		}
	add_rows(c, g, &table);
	for (size_t k = 0; k < g->list.n && !st; k++)
		st = figure(c, g, &g->list.v[k], &table, err);
	pm_systems_release(&table);
	tell_apart(g);
	if (g->list.n)
		qsort(g->list.v, g->list.n, sizeof *g->list.v, best_first);
	return st;
}

/* ---- who rose ---- */

static void note_places(Cache *c, PmRanking *g)
{
	for (size_t i = 0; i < g->list.n; i++) {
		PmRanked *s = &g->list.v[i];
		PmStr key = PM_STR_INIT;
		size_t k = 0;

		pm_str_addf(&key, "%s\n%s\n%s\n%s\n%llu\n%s", g->device, g->machine, g->version, g->options,
			    (unsigned long long)g->seed, s->sha256);
		while (k < c->places.n && strcmp(c->places.v[k].key, key.s) != 0)
			k++;
		if (k < c->places.n) {
			s->is_new = c->places.v[k].place < 0;
			s->rose = s->is_new ? 0 : c->places.v[k].place - (int)i;
			pm_str_release(&key);
			continue;
		}
		s->is_new = c->read;
		PM_VEC_PUSH(&c->places, ((Place){ pm_str_detach(&key, NULL), c->read ? -1 : (int)i }));
	}
}

/* ---- all of it ---- */

static void list_release(PmRankings *r)
{
	for (size_t i = 0; i < r->list.n; i++) {
		PmRanking *g = &r->list.v[i];

		free(g->device);
		free(g->machine);
		free(g->version);
		free(g->options);
		for (size_t k = 0; k < g->list.n; k++)
			free(g->list.v[k].name);
		PM_VEC_RELEASE(&g->list);
	}
	PM_VEC_RELEASE(&r->list);
}

static int newest_first(const void *a, const void *b)
{
	int64_t x = ((const PmRanking *)a)->last, y = ((const PmRanking *)b)->last;

	return (x < y) - (x > y);
}

PmStatus pm_rankings_read(PmRankings *r, PmDb *db, PmErr *err)
{
	Cache now = { 0 };
	PmRankings fresh = { 0 };
	PmStatus st;

	if (!r->cache)
		r->cache = pm_xcalloc(1, sizeof *r->cache);
	st = read_all(&now, r, db, err);
	for (size_t i = 0; i < now.runs.n && !st; i++)
		ranking_of(&fresh, &now.runs.v[i]);
	for (size_t i = 0; i < fresh.list.n && !st; i++)
		st = rank(&now, &fresh.list.v[i], err);
	PM_VEC_RELEASE(&now.variants);
	if (st) {
		runs_release(&now.runs);
		list_release(&fresh);
		/* Cells may have gone with what was read now: they are read again. */
		for (size_t i = 0; i < r->cache->runs.n; i++)
			r->cache->runs.v[i].n_stored = -1;
		return st;
	}
	runs_release(&r->cache->runs);
	r->cache->runs = now.runs;
	for (size_t i = 0; i < fresh.list.n; i++)
		note_places(r->cache, &fresh.list.v[i]);
	r->cache->read = 1;
	if (fresh.list.n)
		qsort(fresh.list.v, fresh.list.n, sizeof *fresh.list.v, newest_first);
	list_release(r);
	memcpy(&r->list, &fresh.list, sizeof r->list);
	return PM_OK;
}

void pm_rankings_release(PmRankings *r)
{
	list_release(r);
	if (r->cache) {
		runs_release(&r->cache->runs);
		for (size_t i = 0; i < r->cache->places.n; i++)
			free(r->cache->places.v[i].key);
		PM_VEC_RELEASE(&r->cache->places);
	}
	free(r->cache);
	r->cache = NULL;
}
