/* SPDX-License-Identifier: Apache-2.0 */
/* extract_job.c - folds and cuts many models. */
#include "app/extract/extract_job.h"

#include "app/extract/extract_read.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "base/sys/spool.h"
#include "dataset/store/models.h"
#include "dataset/store/subgraphs.h"
#include "ir/category/category.h"
#include "runtime/exec/exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What became of a model. */
typedef struct Stored {
	int ok;
	PmExtractReport report;
	char why[PM_ERR_MAX];
} Stored;

typedef struct Work {
	PmExtractJob *job;
	PmReadModels m;
	PmFoldDag fold;
	/* of one process */
	PmDb *db;
	PmExtractSeen seen;
	/* of the model that is cut */
	PmSpool *spool;
	PM_VEC(PmSpoolPlace) found; /* its subgraphs, in order */
	PmStr piece;
	int64_t row; /* of the model being stored */
} Work;

static const uint64_t most_found = (uint64_t)16 << 30; /* bytes that the subgraphs of one model may have */

static void fold_models(Work *w)
{
	size_t n = w->m.structure.n, i;
	const PmSkeleton **s = pm_xcalloc(n + 1, sizeof *s);

	for (i = 0; i < n; i++)
		s[i] = &w->m.structure.v[i];
	pm_fold_dag(s, n, NULL, &w->fold);
	w->job->structures = w->fold.n_structures;
	w->job->rounds = w->fold.rounds;
	free(s);
}

/* ---- cutting ---- */

static PmStatus open_db(void *arg, int worker, PmErr *err)
{
	Work *w = arg;

	(void)worker;
	pm_extract_seen_init(&w->seen);
	return pm_db_open(w->job->db, PM_DB_MUST_EXIST, &w->db, err);
}

static void close_db(void *arg)
{
	Work *w = arg;

	pm_extract_seen_release(&w->seen);
	PM_VEC_RELEASE(&w->found);
	pm_str_release(&w->piece);
	pm_db_close(w->db);
	w->db = NULL;
}

/* Puts aside what was cut: its nodes, then its row. In a file, so that a large model takes no more memory. */
static PmStatus put_aside(void *arg, const PmExtracted *e, PmErr *err)
{
	Work *w = arg;
	PmSpoolPlace at;
	PmGraphKey key;
	uint64_t n = e->n;
	PmStatus st;

	memcpy(key.full, e->full, sizeof key.full);
	memcpy(key.structure, e->structure, sizeof key.structure);
	memcpy(key.shapes, e->shapes, sizeof key.shapes);
	pm_str_clear(&w->piece);
	pm_str_addn(&w->piece, (const char *)&n, sizeof n);
	pm_str_addn(&w->piece, (const char *)e->nodes, e->n * sizeof *e->nodes);
	st = pm_subgraph_row_make(e->sub, &key, pm_extract_kind(e->kind), &w->piece, err);
	if (!st)
		st = pm_spool_put(w->spool, w->piece.s, w->piece.len, &at, err);
	if (!st)
		PM_VEC_PUSH(&w->found, at);
	return st;
}

static PmStatus store_one(Work *w, const PmSpoolPlace *at, PmErr *err)
{
	const char *p;
	PmNode *nodes;
	uint64_t n;
	int64_t id;
	PmStatus st;

	pm_str_clear(&w->piece);
	pm_str_reserve(&w->piece, at->size);
	st = pm_spool_get(w->spool, at, w->piece.s, err);
	if (st)
		return st;
	memcpy(&n, w->piece.s, sizeof n);
	nodes = pm_xcalloc(n + 1, sizeof *nodes);
	memcpy(nodes, w->piece.s + sizeof n, n * sizeof *nodes);
	p = w->piece.s + sizeof n + n * sizeof *nodes;
	st = pm_subgraph_row_put(w->db, p, &id, NULL, err);
	if (!st)
		st = pm_occurrence_put(w->db, w->row, id, nodes, n, err);
	free(nodes);
	return st;
}

static PmStatus put_model(Work *w, const PmReadModel *m, const PmGraph *g, const char *error, PmErr *err)
{
	PmModelRow row = { .sha256 = m->sha,
			   .path = m->path,
			   .name = pm_path_base(m->path),
			   .opset = m->opset,
			   .n_nodes = g ? (int64_t)pm_graph_n_nodes(g) : 0,
			   .n_opaque = m->n_opaque,
			   .ok = !error,
			   .error = error ? error : "",
			   .category = g ? pm_category_name(pm_category_of(g, NULL)) : "" };

	return pm_model_put(w->db, &row, &w->row, err);
}

/* One model in one batch: after Ctrl-C it is either there whole or not at all. The batch begins when
 * everything is cut, since nobody else can write meanwhile. */
static PmStatus store_model(Work *w, size_t k, const PmGraph *g, PmErr *err)
{
	PmStatus st = pm_db_begin(w->db, err);

	if (st)
		return st;
	st = put_model(w, &w->m.model[k], g, NULL, err);
	for (size_t i = 0; i < w->found.n && !st; i++)
		st = store_one(w, &w->found.v[i], err);
	if (!st)
		return pm_db_commit(w->db, err);
	pm_db_rollback(w->db);
	return st;
}

static PmStatus cut_graph(Work *w, size_t k, const PmGraph *g, const PmSkeleton *s, PmExtractReport *report,
			  PmErr *err)
{
	uint32_t *launches = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *launches);
	PmExtractOpts opts = { { .launches = launches }, .motifs = NULL };
	PmNodeSets motifs;
	PmErr ignored;
	PmStatus st;

	pm_fold_dag_sets(&w->fold, w->m.model[k].structure, s, &motifs);
	opts.motifs = &motifs;
	pm_err_init(&ignored);
	if (pm_plan_count(g, launches, &ignored)) /* sizes that are not known: counted by operator */
		opts.fusible.launches = NULL;
	w->found.n = 0;
	st = pm_spool_open(most_found, &w->spool, err);
	if (!st)
		st = pm_extract_model(g, &opts, &w->seen, put_aside, w, report, err);
	if (!st)
		st = store_model(w, k, g, err);
	pm_spool_close(w->spool);
	w->spool = NULL;
	pm_node_sets_release(&motifs);
	free(launches);
	return st;
}

static PmStatus cut_model(void *arg, size_t item, void *result, PmErr *err)
{
	Work *w = arg;
	Stored *s = result;
	size_t k = w->m.todo[item];
	const PmReadModel *m = &w->m.model[k];
	PmGraph *g = NULL;
	PmSkeleton skeleton;
	PmStatus st;

	if (m->broken) { /* what went wrong when it was read is what is told */
		snprintf(s->why, sizeof s->why, "%s", m->why ? m->why : "");
		return put_model(w, m, NULL, s->why, err);
	}
	st = pm_models_skeleton(&w->m, k, &skeleton, err);
	if (st)
		return st;
	st = pm_models_graph(&w->m, k, &g, err);
	if (!st)
		st = cut_graph(w, k, g, &skeleton, &s->report, err);
	s->ok = st == PM_OK;
	pm_graph_free(g);
	pm_skeleton_release(&skeleton);
	return st;
}

/* A model whose process died is stored as failed by the caller. */
static PmStatus store_death(Work *w, const PmReadModel *m, PmErr *err)
{
	PmStr why = PM_STR_INIT;
	PmStatus st = pm_db_open(w->job->db, PM_DB_MUST_EXIST, &w->db, err);

	pm_str_addf(&why, "%s: cutting the model ended the process.", m->path);
	pm_watch_complain(w->job->watch, why.s);
	if (!st)
		st = put_model(w, m, NULL, why.s, err);
	pm_db_close(w->db);
	w->db = NULL;
	pm_str_release(&why);
	return st;
}

static PmStatus took_model(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Work *w = arg;
	const Stored *s = result;
	const PmReadModel *m = &w->m.model[w->m.todo[item]];

	pm_watch_step(w->job->watch, pm_path_base(m->path));
	if (end == PM_POOL_DIED) {
		w->job->failed++;
		return store_death(w, m, err);
	}
	if (!s->ok) {
		pm_watch_complain(w->job->watch, s->why);
		w->job->failed++;
		return PM_OK;
	}
	w->job->done++;
	pm_extract_report_add(&w->job->sum, &s->report);
	return PM_OK;
}

static PmStatus cut_models(Work *w, PmErr *err)
{
	PmPool pool = { .n_items = w->m.n_todo,
			.result_size = sizeof(Stored),
			.jobs = w->job->jobs,
			.start = open_db,
			.stop = close_db,
			.work = cut_model,
			.done = took_model,
			.arg = w };
	PmStatus st;

	pm_watch_begin(w->job->watch, "extracting", (int64_t)w->m.n_todo);
	st = pm_pool_run(&pool, err);
	pm_watch_end(w->job->watch);
	return st;
}

/* The database is made only now: a misspelt model leaves none behind. */
static PmStatus make_db(const char *path, PmErr *err)
{
	PmDb *db = NULL;
	PmStatus st = pm_db_open(path, 0, &db, err);

	pm_db_close(db);
	return st;
}

PmStatus pm_extract_job(PmExtractJob *j, PmErr *err)
{
	Work w = { .job = j };
	double t0 = pm_now();
	PmStatus st = pm_models_read(j, &w.m, err);

	if (!st)
		st = make_db(j->db, err);
	if (!st && w.m.n_todo) {
		fold_models(&w);
		j->fold_seconds = pm_now() - t0;
		st = cut_models(&w, err);
		j->cut_seconds = pm_now() - t0 - j->fold_seconds;
		pm_fold_dag_release(&w.fold);
	}
	pm_models_release(&w.m);
	return st;
}
