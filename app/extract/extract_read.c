/* SPDX-License-Identifier: Apache-2.0 */
/* extract_read.c - reads the models of one extraction and puts them aside. */
#include "app/extract/extract_read.h"

#include "app/model/model_file.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "dataset/store/models.h"
#include "ir/core/graph_bytes.h"
#include "simplify/simplify.h"

#include <stdlib.h>
#include <string.h>

/* What all models of a call may take in the temporary file: 100,000 of 235 KB are 24 GB. A full disk is told
 * besides. */
#define MAX_SPOOL ((uint64_t)64 << 30)
/* Bytes of a constant that are kept for cutting. Cutting looks at constants of at most 64 elements
 * (extract/cut.h), counting launches at single ones. */
enum { MAX_CONST = 4096 };

/* What a worker does with a model at the moment. */
typedef enum { HASHING, READING, LISTING, KEEPING } Stage;

/* What a worker says of a model; it is shared memory, so that a death leaves what was said before it. */
typedef struct Said {
	Stage stage;
	char sha[65];
	int done; /* it is stored already */
	PmSpoolPlace skeleton, graph;
	int64_t opset, n_opaque;
	char why[PM_ERR_MAX]; /* there is no skeleton */
} Said;

typedef struct Read {
	PmExtractJob *job;
	PmReadModels *m;
	size_t *item; /* models of this round, by number */
	size_t n_items;
	int second; /* round: those that are not to be cut */
	int fold;   /* something is to be cut, and they are read for their skeletons */
	int has_db;
	PmDb *db; /* of one process */
} Read;

static PmStatus open_db(void *arg, int worker, PmErr *err)
{
	Read *r = arg;

	(void)worker;
	return r->has_db ? pm_db_open(r->job->db, PM_DB_READ_ONLY, &r->db, err) : PM_OK;
}

static void close_db(void *arg)
{
	Read *r = arg;

	pm_db_close(r->db);
	r->db = NULL;
}

static int in_shard(const PmExtractJob *j, size_t k)
{
	return !j->n_shards || k % j->n_shards == j->shard;
}

/* A model without what its exporter left behind, so that motifs do not depend on the exporter: nodes that
 * change nothing, and what is there twice. Nothing is computed ahead, and no operator is replaced by another.
 */
static PmStatus load(const char *path, const PmMap *file, PmGraph **g, PmOnnxReport *r, PmErr *err)
{
	static const PmSimplifyPass passes[] = { PM_SIMPLIFY_identity,       PM_SIMPLIFY_noop_cast,
						 PM_SIMPLIFY_noop_transpose, PM_SIMPLIFY_noop_reshape,
						 PM_SIMPLIFY_noop_slice,     PM_SIMPLIFY_repeated,
						 PM_SIMPLIFY_common,         PM_SIMPLIFY_dead_code };
	PmSimplifyOpts opts = { 0 };
	PmStatus st = pm_model_load_read(path, file, g, r, err);
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

/* ---- in a worker ---- */

static PmStatus put_aside(const Read *r, PmStr *bytes, PmSpoolPlace *out, PmErr *err)
{
	PmStatus st = pm_spool_put(r->m->spool, bytes->s, bytes->len, out, err);

	pm_str_release(bytes);
	if (st == PM_E_LIMIT)
		pm_err_ctx(err, "%zu models are too many for one call (use --shard)", r->m->n);
	return st;
}

static PmStatus keep(const Read *r, const PmGraph *g, const PmSkeleton *s, Said *said, PmErr *err)
{
	PmStr bytes = PM_STR_INIT;
	PmStatus st;

	said->stage = KEEPING;
	if (!r->second) {
		pm_graph_to_bytes(g, MAX_CONST, &bytes);
		st = put_aside(r, &bytes, &said->graph, err);
		if (st)
			return st;
	}
	pm_skeleton_pack(s, &bytes);
	return put_aside(r, &bytes, &said->skeleton, err);
}

static PmStatus import(const Read *r, const char *path, const PmMap *file, Said *said, PmErr *err)
{
	static PmOnnxReport report; /* large */
	PmGraph *g = NULL;
	PmSkeleton s;
	PmErr why; /* is said when the model is stored */
	PmStatus st;

	pm_err_init(&why);
	said->stage = READING;
	st = load(path, file, &g, &report, &why);
	said->opset = report.opset;
	said->n_opaque = (int64_t)report.n_opaque_nodes;
	if (!st) {
		said->stage = LISTING;
		st = pm_skeleton_make(g, &s, &why);
		if (st)
			pm_err_ctx(&why, "%s: The model was read, but what folds it cannot list its nodes",
				   path);
	}
	if (st) {
		memcpy(said->why, why.text, sizeof said->why);
		pm_graph_free(g);
		return PM_OK;
	}
	st = keep(r, g, &s, said, err);
	pm_skeleton_release(&s);
	pm_graph_free(g);
	return st;
}

static PmStatus read_model(void *arg, size_t item, void *result, PmErr *err)
{
	const Read *r = arg;
	const char *path = r->m->model[r->item[item]].path;
	Said *said = result;
	PmMap file;
	PmStatus st = pm_map_file(path, &file, err);

	if (st)
		return st;
	pm_sha256_hex(file.p, file.n, said->sha);
	if (r->db)
		st = pm_model_is_done(r->db, said->sha, &said->done, err);
	if (!st && (r->second ? r->fold : !said->done))
		st = import(r, path, &file, said, err);
	pm_unmap(&file);
	return st;
}

/* ---- in the caller ---- */

/* The sentence about a model whose reading ended the process. */
static void say_death(const PmReadModel *m, Stage stage, PmStr *out)
{
	static const char *const doing[] = { [HASHING] = "Hashing the model's file",
					     [READING] = "Reading the model",
					     [LISTING] = "Listing the nodes of the model, to fold them,",
					     [KEEPING] = "Putting aside the model that was read" };

	pm_str_addf(out, "%s: %s ended the process that did it.", m->path, doing[stage]);
}

/* Keeps what the model is stored with. */
static void take_broken(Read *r, PmReadModel *m, PmPoolEnd end, const Said *said)
{
	PmStr why = PM_STR_INIT;

	if (end == PM_POOL_DIED)
		say_death(m, said->stage, &why);
	else
		pm_str_add(&why, said->why);
	if (!*m->sha) { /* nothing to store it by */
		pm_watch_complain(r->job->watch, why.s);
		r->job->failed++;
		m->pending = 0;
	}
	m->why = pm_str_detach(&why, NULL);
}

/* The number of a skeleton's structure. Takes the skeleton over: the first of a structure is kept. */
static size_t structure_of(PmReadModels *m, PmSkeleton *s)
{
	uint64_t key[2] = { pm_skeleton_hash(s), 0 };
	size_t k;

	for (;; key[1]++) {
		k = pm_intern(m->structure_ids, (const char *)key, sizeof key) - 1;
		if (k == m->structure.n) {
			PM_VEC_PUSH(&m->structure, *s);
			return k;
		}
		if (pm_skeleton_same(&m->structure.v[k], s)) {
			pm_skeleton_release(s);
			return k;
		}
	}
}

static PmStatus took_model(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err)
{
	Read *r = arg;
	PmReadModel *m = &r->m->model[r->item[item]];
	const Said *said = result;
	PmSkeleton s;
	PmStatus st;

	pm_watch_step(r->job->watch, pm_path_base(m->path));
	if (!*m->sha) { /* otherwise it was counted in the first round */
		memcpy(m->sha, said->sha, sizeof m->sha);
		m->pending = !said->done && !r->second;
		r->job->skipped += (size_t)said->done;
	}
	m->opset = said->opset;
	m->n_opaque = said->n_opaque;
	m->broken = 1;
	if (end == PM_POOL_DIED || *said->why) {
		take_broken(r, m, end, said);
		return PM_OK;
	}
	if (!said->skeleton.size)
		return PM_OK; /* hashed only */
	m->graph = said->graph;
	m->skeleton = said->skeleton;
	st = pm_models_skeleton(r->m, r->item[item], &s, err);
	if (st)
		return st;
	m->structure = structure_of(r->m, &s);
	m->broken = 0;
	return PM_OK;
}

/* ---- which models ---- */

static int by_hash(const void *a, const void *b)
{
	const PmReadModel *x = *(PmReadModel *const *)a, *y = *(PmReadModel *const *)b;
	int c = strcmp(x->sha, y->sha);

	return c ? c : (x > y) - (x < y);
}

/* The same file under two names is one model: the first name is kept. */
static void drop_copies(const Read *r)
{
	PmReadModels *m = r->m;
	PmReadModel **v = pm_xcalloc(m->n + 1, sizeof *v);
	size_t i;

	for (i = 0; i < m->n; i++)
		v[i] = &m->model[i];
	qsort(v, m->n, sizeof *v, by_hash);
	for (i = 1; i < m->n; i++) {
		if (!*v[i]->sha || strcmp(v[i]->sha, v[i - 1]->sha))
			continue;
		r->job->skipped += (size_t)v[i]->pending;
		v[i]->pending = 0;
		v[i]->broken = 1;
	}
	free(v);
}

static PmStatus round_of(Read *r, const char *what, PmErr *err)
{
	PmPool pool = { .n_items = r->n_items,
			.result_size = sizeof(Said),
			.jobs = r->job->jobs,
			.start = open_db,
			.stop = close_db,
			.work = read_model,
			.done = took_model,
			.arg = r };
	PmStatus st;

	pm_watch_begin(r->job->watch, what, (int64_t)r->n_items);
	st = pm_pool_run(&pool, err);
	pm_watch_end(r->job->watch);
	return st;
}

/* A misspelt model is told before work begins on others, and leaves no database behind; the first of several
 * is named. */
static PmStatus check_files(const PmReadModels *m, PmErr *err)
{
	PmStatus st = PM_OK;
	PmMap file;
	size_t i;

	for (i = 0; i < m->n && !st; i++) {
		if (pm_file_size(m->model[i].path) >= 0)
			continue;
		st = pm_map_file(m->model[i].path, &file, err);
		if (!st)
			pm_unmap(&file);
	}
	return st;
}

/* A database that is there is brought up to date by one process, before several look into it. */
static PmStatus look_at_db(Read *r, PmErr *err)
{
	PmDb *db = NULL;
	PmStatus st;

	r->has_db = pm_path_exists(r->job->db);
	st = r->has_db ? pm_db_open(r->job->db, 0, &db, err) : PM_OK;
	pm_db_close(db);
	return st;
}

/* The first round: those that are to be cut unless they are stored, which their hash tells. */
static PmStatus read_new(Read *r, PmErr *err)
{
	size_t i;

	for (i = 0; i < r->m->n; i++) {
		if (in_shard(r->job, i))
			r->item[r->n_items++] = i;
	}
	return round_of(r, "reading", err);
}

/* The second: the others decide what is a motif, too, and are hashed to be counted. */
static PmStatus read_others(Read *r, PmErr *err)
{
	const PmReadModels *m = r->m;
	size_t i;

	for (i = 0; i < m->n; i++)
		r->fold |= m->model[i].pending;
	r->n_items = 0;
	r->second = 1;
	for (i = 0; i < m->n; i++) {
		if (!in_shard(r->job, i) || (r->fold && *m->model[i].sha && !m->model[i].pending))
			r->item[r->n_items++] = i;
	}
	return r->n_items ? round_of(r, "reading what is not cut", err) : PM_OK;
}

PmStatus pm_models_read(PmExtractJob *j, PmReadModels *out, PmErr *err)
{
	Read r = { .job = j, .m = out };
	size_t n = j->n_files, i;
	PmStatus st;

	*out = (PmReadModels){ .n = n };
	out->model = pm_xcalloc(n + 1, sizeof *out->model);
	out->todo = pm_xcalloc(n + 1, sizeof *out->todo);
	out->structure_ids = pm_intern_new();
	r.item = pm_xcalloc(n + 1, sizeof *r.item);
	for (i = 0; i < n; i++)
		out->model[i].path = j->files[i];
	st = check_files(out, err);
	if (!st)
		st = look_at_db(&r, err);
	if (!st)
		st = pm_spool_open(MAX_SPOOL, &out->spool, err);
	if (!st)
		st = read_new(&r, err);
	if (!st)
		st = read_others(&r, err);
	drop_copies(&r);
	for (i = 0; i < n; i++) {
		if (out->model[i].pending)
			out->todo[out->n_todo++] = i;
	}
	free(r.item);
	return st;
}

void pm_models_release(PmReadModels *r)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		free(r->model[i].why);
	for (i = 0; i < r->structure.n; i++)
		pm_skeleton_release(&r->structure.v[i]);
	PM_VEC_RELEASE(&r->structure);
	pm_intern_free(r->structure_ids);
	pm_spool_close(r->spool);
	free(r->model);
	free(r->todo);
}

PmStatus pm_models_graph(const PmReadModels *r, size_t k, PmGraph **out, PmErr *err)
{
	const PmSpoolPlace *at = &r->model[k].graph;
	char *bytes = pm_xmalloc(at->size + 1);
	PmStatus st = pm_spool_get(r->spool, at, bytes, err);

	if (!st)
		st = pm_graph_from_bytes(bytes, at->size, out, err);
	if (st)
		pm_err_ctx(err, "%s", r->model[k].path);
	free(bytes);
	return st;
}

PmStatus pm_models_skeleton(const PmReadModels *r, size_t k, PmSkeleton *out, PmErr *err)
{
	const PmSpoolPlace *at = &r->model[k].skeleton;
	char *bytes = pm_xmalloc(at->size + 1);
	size_t from = 0;
	PmStatus st = pm_spool_get(r->spool, at, bytes, err);

	if (!st)
		st = pm_skeleton_unpack(bytes, at->size, &from, out, err);
	if (st)
		pm_err_ctx(err, "%s", r->model[k].path);
	free(bytes);
	return st;
}
