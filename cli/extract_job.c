/* extract_job.c - reads, folds and cuts many models. */
#include "cli/extract_job.h"

#include "base/io.h"
#include "base/pool.h"
#include "base/proc.h"
#include "base/progress.h"
#include "cli/cmds.h"
#include "dataset/models.h"
#include "dataset/subgraphs.h"
#include "runtime/exec.h"
#include "simplify/simplify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Model {
	const char *path;
	char sha[65];
	int pending, broken;     /* to be stored; no skeleton */
	int64_t opset, n_opaque; /* as far as they are known of one that is broken */
	char *why; /* owned: the sentence about one that is broken; NULL = another has the same bytes */
	PmSkeleton skeleton;
} Model;

/* Where a worker wrote a model's skeleton. */
typedef struct Packed {
	int worker;
	size_t offset, size; /* size 0: there is none, and `why` says it */
	int64_t opset, n_opaque;
	char why[PM_ERR_MAX];
} Packed;

/* What became of a model. */
typedef struct Stored {
	int ok;
	PmExtractReport report;
	char why[PM_ERR_MAX];
} Stored;

typedef struct Work {
	PmExtractJob *job;
	Model *model;
	size_t n;
	size_t *todo; /* models that are pending, by number */
	size_t n_todo;
	PmStr folder;
	PmProgress bar;
	PmFoldDag fold;
	size_t *graph_of; /* by model: its graph in the fold */
	/* of one process */
	PmDb *db;
	FILE *out;
	int worker;
	PmExtractSeen seen;
	int64_t row; /* of the model being stored */
} Work;

static void spool_path(const Work *w, int worker, PmStr *out)
{
	pm_str_addf(out, "%s/skeletons.%d", w->folder.s, worker);
}

/* A model without what its exporter left behind, so that motifs do not depend on the exporter: nodes that
 * change nothing, and what is there twice. Nothing is computed ahead, and no operator is replaced by another.
 */
static PmStatus load(const char *path, PmGraph **g, PmOnnxReport *r, PmErr *err)
{
	static const PmSimplifyPass passes[] = { PM_SIMPLIFY_identity,       PM_SIMPLIFY_noop_cast,
						 PM_SIMPLIFY_noop_transpose, PM_SIMPLIFY_noop_reshape,
						 PM_SIMPLIFY_noop_slice,     PM_SIMPLIFY_repeated,
						 PM_SIMPLIFY_common,         PM_SIMPLIFY_dead_code };
	PmSimplifyOpts opts = { 0 };
	PmStatus st = pm_cli_load(path, g, r, err);
	size_t i;

	for (i = 0; i < sizeof passes / sizeof passes[0]; i++)
		opts.passes |= 1u << passes[i];
	if (!st)
		st = pm_simplify(*g, &opts, NULL, err);
	if (st) {
		pm_graph_free(*g);
		*g = NULL;
	}
	return st;
}

/* ---- which models ---- */

static int by_hash(const void *a, const void *b)
{
	const Model *x = *(Model *const *)a, *y = *(Model *const *)b;
	int c = strcmp(x->sha, y->sha);

	return c ? c : (x > y) - (x < y);
}

/* The same file under two names is one model: the first name is kept. */
static void drop_copies(Work *w)
{
	Model **v = pm_xcalloc(w->n + 1, sizeof *v);
	size_t i;

	for (i = 0; i < w->n; i++)
		v[i] = &w->model[i];
	qsort(v, w->n, sizeof *v, by_hash);
	for (i = 1; i < w->n; i++) {
		if (strcmp(v[i]->sha, v[i - 1]->sha))
			continue;
		w->job->skipped += (size_t)v[i]->pending;
		v[i]->pending = 0;
		v[i]->broken = 1;
	}
	free(v);
}

static PmStatus list_models(Work *w, PmErr *err)
{
	const PmExtractJob *j = w->job;
	PmStatus st = PM_OK;
	PmDb *db = NULL;
	size_t i;

	w->n = j->files->list.n;
	w->model = pm_xcalloc(w->n + 1, sizeof *w->model);
	for (i = 0; i < w->n && !st; i++) {
		w->model[i].path = j->files->list.v[i];
		st = pm_model_hash(w->model[i].path, w->model[i].sha, err);
	}
	if (!st) /* only now: a misspelt model is to leave no database behind */
		st = pm_db_open(j->db, 0, &db, err);
	for (i = 0; i < w->n && !st; i++) {
		Model *m = &w->model[i];
		int done = 0;

		st = pm_model_is_done(db, m->sha, &done, err);
		m->pending = !done && (!j->n_shards || i % j->n_shards == j->shard);
		w->job->skipped += (size_t)done;
	}
	pm_db_close(db);
	if (!st)
		drop_copies(w);
	w->todo = pm_xcalloc(w->n + 1, sizeof *w->todo);
	for (i = 0; i < w->n; i++) {
		if (w->model[i].pending)
			w->todo[w->n_todo++] = i;
	}
	return st;
}

/* ---- skeletons ---- */

static PmStatus open_spool(void *arg, int worker, PmErr *err)
{
	Work *w = arg;
	PmStr path = PM_STR_INIT;

	spool_path(w, worker, &path);
	w->worker = worker;
	w->out = fopen(path.s, "ab"); /* a worker that was started anew goes on */
	pm_str_release(&path);
	if (!w->out)
		return pm_err(err, PM_E_IO, "Cannot write to the folder '%s'; is the disk full?",
			      w->folder.s);
	return PM_OK;
}

static void close_spool(void *arg)
{
	Work *w = arg;

	if (w->out)
		fclose(w->out);
	w->out = NULL;
}

static PmStatus read_skeleton(void *arg, size_t item, void *result, PmErr *err)
{
	static PmOnnxReport r; /* large */
	Work *w = arg;
	Packed *p = result;
	PmGraph *g = NULL;
	PmSkeleton s;
	PmStr bytes = PM_STR_INIT;
	PmErr why; /* is said when the model is stored */
	PmStatus st;
	long at;

	pm_err_init(&why);
	if (w->model[item].broken)
		return PM_OK;
	st = load(w->model[item].path, &g, &r, &why);
	if (!st && (st = pm_skeleton_make(g, &s, &why)) != PM_OK)
		pm_err_ctx(&why, "%s", w->model[item].path);
	pm_graph_free(g);
	if (st) {
		p->opset = r.opset;
		p->n_opaque = (int64_t)r.n_opaque_nodes;
		memcpy(p->why, why.text, sizeof p->why);
		return PM_OK;
	}
	pm_skeleton_pack(&s, &bytes);
	pm_skeleton_release(&s);
	fseek(w->out, 0, SEEK_END);
	at = ftell(w->out);
	if (at < 0 || fwrite(bytes.s, 1, bytes.len, w->out) != bytes.len || fflush(w->out)) {
		pm_str_release(&bytes);
		return pm_err(err, PM_E_IO, "Cannot write to the folder '%s'; is the disk full?",
			      w->folder.s);
	}
	p->worker = w->worker;
	p->offset = (size_t)at;
	p->size = bytes.len;
	pm_str_release(&bytes);
	return PM_OK;
}

/* Keeps what the model is stored with. A copy of another model has no sentence, and is not stored. */
static void take_broken(Model *m, PmPoolEnd end, const Packed *p)
{
	PmStr why = PM_STR_INIT;

	if (end == PM_POOL_DIED)
		pm_str_addf(&why, "%s: Reading the model ended the process that did it.", m->path);
	else
		pm_str_add(&why, p->why);
	m->opset = p->opset;
	m->n_opaque = p->n_opaque;
	m->why = pm_str_detach(&why, NULL);
}

static PmStatus take_skeleton(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Work *w = arg;
	const Packed *p = result;
	PmStr path = PM_STR_INIT;
	char *bytes;
	size_t at = 0;
	FILE *in;
	PmStatus st = PM_OK;

	pm_progress_step(&w->bar, pm_path_base(w->model[item].path));
	w->model[item].broken = 1;
	if (end == PM_POOL_DIED || !p->size) {
		take_broken(&w->model[item], end, p);
		return PM_OK;
	}
	spool_path(w, p->worker, &path);
	bytes = pm_xcalloc(p->size, 1);
	in = fopen(path.s, "rb");
	if (!in || fseek(in, (long)p->offset, SEEK_SET) || fread(bytes, 1, p->size, in) != p->size)
		st = pm_err(err, PM_E_IO, "Cannot read '%s' back.", path.s);
	else
		st = pm_skeleton_unpack(bytes, p->size, &at, &w->model[item].skeleton, err);
	w->model[item].broken = st != PM_OK;
	if (in)
		fclose(in);
	free(bytes);
	pm_str_release(&path);
	return st;
}

static PmStatus fold_models(Work *w, PmErr *err)
{
	PmPool pool = { w->n,        sizeof(Packed), w->job->jobs,  open_spool,
			close_spool, read_skeleton,  take_skeleton, w };
	const PmSkeleton **s = pm_xcalloc(w->n + 1, sizeof *s);
	PmStatus st;
	size_t i, n = 0;

	if (!pm_cli_quiet)
		pm_progress_start(&w->bar, "reading", (int64_t)w->n);
	st = pm_temp_dir("extract", &w->folder, err);
	if (!st)
		st = pm_pool_run(&pool, err);
	pm_progress_end(&w->bar);
	w->graph_of = pm_xcalloc(w->n + 1, sizeof *w->graph_of);
	for (i = 0; i < w->n && !st; i++) {
		w->graph_of[i] = n;
		if (!w->model[i].broken)
			s[n++] = &w->model[i].skeleton;
	}
	if (!st) {
		pm_fold_dag(s, n, NULL, &w->fold);
		w->job->structures = w->fold.n_structures;
		w->job->rounds = w->fold.rounds;
	}
	free(s);
	return st;
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
	pm_db_close(w->db);
	w->db = NULL;
}

static PmStatus store_one(void *arg, const PmExtracted *e, PmErr *err)
{
	Work *w = arg;
	PmGraphKey key;
	int64_t id;
	PmStatus st;

	memcpy(key.full, e->full, sizeof key.full);
	memcpy(key.structure, e->structure, sizeof key.structure);
	memcpy(key.shapes, e->shapes, sizeof key.shapes);
	st = pm_subgraph_put(w->db, e->sub, &key, pm_extract_kind(e->kind), &id, NULL, err);
	if (!st)
		st = pm_occurrence_put(w->db, w->row, id, e->nodes, e->n, err);
	return st;
}

static PmStatus put_model(Work *w, const Model *m, const PmGraph *g, const PmOnnxReport *r, const char *error,
			  PmErr *err)
{
	PmModelRow row = { .sha256 = m->sha,
			   .path = m->path,
			   .name = pm_path_base(m->path),
			   .opset = r ? r->opset : 0,
			   .n_nodes = g ? (int64_t)pm_graph_n_nodes(g) : 0,
			   .n_opaque = r ? (int64_t)r->n_opaque_nodes : 0,
			   .ok = !error,
			   .error = error ? error : "" };

	return pm_model_put(w->db, &row, &w->row, err);
}

/* One model in one transaction: after Ctrl-C it is either there whole or not at all. */
static PmStatus cut_graph(Work *w, size_t k, const PmGraph *g, const PmOnnxReport *r, PmExtractReport *report,
			  PmErr *err)
{
	uint32_t *launches = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *launches);
	PmExtractOpts opts = { { .launches = launches }, .motifs = NULL };
	PmNodeSets motifs;
	PmErr ignored;
	PmStatus st;

	pm_fold_dag_sets(&w->fold, w->graph_of[k], &w->model[k].skeleton, &motifs);
	opts.motifs = &motifs;
	pm_err_init(&ignored);
	if (pm_plan_count(g, launches, &ignored)) /* sizes that are not known: counted by operator */
		opts.fusible.launches = NULL;
	st = pm_db_begin(w->db, err);
	if (!st) {
		st = put_model(w, &w->model[k], g, r, NULL, err);
		if (!st)
			st = pm_extract_model(g, &opts, &w->seen, store_one, w, report, err);
		if (!st)
			st = pm_db_commit(w->db, err);
		else
			pm_db_rollback(w->db);
	}
	pm_node_sets_release(&motifs);
	free(launches);
	return st;
}

static PmStatus cut_model(void *arg, size_t item, void *result, PmErr *err)
{
	static PmOnnxReport r; /* large */
	Work *w = arg;
	Stored *s = result;
	const Model *m = &w->model[w->todo[item]];
	PmGraph *g = NULL;
	PmErr bad;
	PmStatus st;

	pm_err_init(&bad);
	if (m->broken) { /* it is not read again: what went wrong then is what is told */
		memset(&r, 0, sizeof r);
		r.opset = m->opset;
		r.n_opaque_nodes = (size_t)m->n_opaque;
		pm_err(&bad, PM_E_INVALID, "%s", m->why ? m->why : "");
	} else {
		load(m->path, &g, &r, &bad);
	}
	if (!g) {
		memcpy(s->why, bad.text, sizeof s->why);
		return put_model(w, m, NULL, &r, bad.text, err);
	}
	st = cut_graph(w, w->todo[item], g, &r, &s->report, err);
	s->ok = st == PM_OK;
	pm_graph_free(g);
	return st;
}

/* A model whose process died is stored as failed by the caller. */
static PmStatus store_death(Work *w, const Model *m, PmErr *err)
{
	PmStr why = PM_STR_INIT;
	PmStatus st = pm_db_open(w->job->db, PM_DB_MUST_EXIST, &w->db, err);

	pm_str_addf(&why, "%s: cutting the model ended the process.", m->path);
	pm_cli_complain("%s", why.s);
	if (!st)
		st = put_model(w, m, NULL, NULL, why.s, err);
	pm_db_close(w->db);
	w->db = NULL;
	pm_str_release(&why);
	return st;
}

static PmStatus took_model(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Work *w = arg;
	const Stored *s = result;
	const Model *m = &w->model[w->todo[item]];

	pm_progress_step(&w->bar, pm_path_base(m->path));
	if (end == PM_POOL_DIED) {
		w->job->failed++;
		return store_death(w, m, err);
	}
	if (!s->ok) {
		pm_cli_complain("%s", s->why);
		w->job->failed++;
		return PM_OK;
	}
	w->job->done++;
	pm_extract_report_add(&w->job->sum, &s->report);
	return PM_OK;
}

static PmStatus cut_models(Work *w, PmErr *err)
{
	PmPool pool = {
		w->n_todo, sizeof(Stored), w->job->jobs, open_db, close_db, cut_model, took_model, w
	};
	PmStatus st;

	if (!pm_cli_quiet)
		pm_progress_start(&w->bar, "extracting", (int64_t)w->n_todo);
	st = pm_pool_run(&pool, err);
	pm_progress_end(&w->bar);
	return st;
}

PmStatus pm_extract_job(PmExtractJob *j, PmErr *err)
{
	Work w = { .job = j, .folder = PM_STR_INIT };
	double t0 = pm_now();
	PmStatus st = list_models(&w, err);
	size_t i;

	if (!st && w.n_todo) {
		st = fold_models(&w, err);
		j->fold_seconds = pm_now() - t0;
		if (!st)
			st = cut_models(&w, err);
		j->cut_seconds = pm_now() - t0 - j->fold_seconds;
		pm_fold_dag_release(&w.fold);
	}
	for (i = 0; i < w.n && w.model; i++) {
		pm_skeleton_release(&w.model[i].skeleton);
		free(w.model[i].why);
	}
	if (w.folder.len)
		pm_remove_tree(w.folder.s, NULL);
	pm_str_release(&w.folder);
	free(w.model);
	free(w.todo);
	free(w.graph_of);
	return st;
}
