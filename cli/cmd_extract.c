/* cmd_extract.c - passmith extract: models to stored subgraphs, resumable, several processes at once. */
#include "cli/cmds.h"

#include "base/io.h"
#include "base/progress.h"
#include "dataset/models.h"
#include "dataset/subgraphs.h"
#include "extract/extract.h"

#include <stdio.h>
#include <string.h>

typedef struct Job {
	PmDb *db;
	int64_t model; /* being stored */
	PmDedup *seen;
	/* over all models of this call */
	int64_t done, skipped, failed, found, added, nodes, covered;
} Job;

static PmStatus store_one(void *arg, const PmExtracted *e, PmErr *err)
{
	Job *j = arg;
	PmGraphKey key;
	int64_t id;
	int is_new = 0;
	PmStatus st;

	memcpy(key.full, e->full, sizeof key.full);
	memcpy(key.structure, e->structure, sizeof key.structure);
	memcpy(key.shapes, e->shapes, sizeof key.shapes);
	st = pm_subgraph_put(j->db, e->sub, &key, "fusible", &id, &is_new, err);
	if (!st)
		st = pm_occurrence_put(j->db, j->model, id, e->nodes, e->n, err);
	j->added += is_new;
	return st;
}

static PmStatus put_model(Job *j, const char *path, const char *sha, const PmGraph *g, const PmOnnxReport *r,
			  const char *error, PmErr *err)
{
	PmModelRow row = { .sha256 = sha,
			   .path = path,
			   .name = pm_path_base(path),
			   .opset = r->opset,
			   .n_nodes = g ? (int64_t)pm_graph_n_nodes(g) : 0,
			   .n_opaque = (int64_t)r->n_opaque_nodes,
			   .ok = !error,
			   .error = error ? error : "" };

	return pm_model_put(j->db, &row, &j->model, err);
}

/* One model in one transaction: after Ctrl-C it is either there whole or not at all. */
static PmStatus extract_model(Job *j, const char *path, const char *sha, PmErr *err)
{
	static PmOnnxReport r; /* large */
	PmExtractReport er;
	PmGraph *g = NULL;
	PmErr bad;
	PmStatus st;

	pm_err_init(&bad);
	if (pm_cli_load(path, &g, &r, &bad)) {
		j->failed++;
		fprintf(stderr, "passmith: %s\n", bad.text);
		return put_model(j, path, sha, NULL, &r, bad.text, err);
	}
	st = pm_db_begin(j->db, err);
	if (!st) {
		st = put_model(j, path, sha, g, &r, NULL, err);
		if (!st)
			st = pm_extract_model(g, NULL, j->seen, store_one, j, &er, err);
		if (!st)
			st = pm_db_commit(j->db, err);
		else
			pm_db_rollback(j->db);
	}
	if (!st) {
		j->done++;
		j->found += (int64_t)er.n_found;
		j->nodes += (int64_t)(er.n_nodes - er.n_opaque);
		j->covered += (int64_t)er.n_covered;
	}
	pm_graph_free(g);
	return st;
}

static PmStatus extract_all(Job *j, const PmStrList *files, PmErr *err)
{
	PmProgress bar = { 0 };
	PmStatus st = PM_OK;

	if (!pm_cli_quiet)
		pm_progress_start(&bar, "extracting", (int64_t)files->list.n);
	for (size_t i = 0; i < files->list.n && !st; i++) {
		const char *path = files->list.v[i];
		char sha[65];
		int done = 0;

		st = pm_model_hash(path, sha, err);
		if (!st)
			st = pm_model_is_done(j->db, sha, &done, err);
		if (!st && done)
			j->skipped++;
		else if (!st)
			st = extract_model(j, path, sha, err);
		pm_progress_step(&bar, pm_path_base(path));
	}
	pm_progress_end(&bar);
	return st;
}

static PmStatus report(const Job *j, PmErr *err)
{
	PmDbStats s;
	PmStatus st = pm_db_stats(j->db, &s, err);

	if (st)
		return st;
	if (pm_cli_json) {
		cJSON *o = cJSON_CreateObject();

		cJSON_AddStringToObject(o, "db", pm_db_path(j->db));
		pm_json_add_i64(o, "models_done", j->done);
		pm_json_add_i64(o, "models_skipped", j->skipped);
		pm_json_add_i64(o, "models_failed", j->failed);
		pm_json_add_i64(o, "found", j->found);
		pm_json_add_i64(o, "new", j->added);
		pm_json_add_i64(o, "known_nodes", j->nodes);
		pm_json_add_i64(o, "covered_nodes", j->covered);
		pm_json_add_i64(o, "stored_subgraphs", s.subgraphs);
		pm_json_add_i64(o, "stored_structures", s.structures);
		pm_json_add_i64(o, "stored_occurrences", s.occurrences);
		pm_cli_put_json(o);
		return PM_OK;
	}
	printf("%lld models extracted, %lld done before, %lld failed", (long long)j->done,
	       (long long)j->skipped, (long long)j->failed);
	if (j->done)
		printf("; %lld subgraphs found, %lld new, covering %.1f %% of the nodes", (long long)j->found,
		       (long long)j->added, j->nodes ? 100.0 * (double)j->covered / (double)j->nodes : 0.0);
	printf("\n%s: %lld subgraphs of %lld structures, %lld occurrences in %lld models\n",
	       pm_db_path(j->db), (long long)s.subgraphs, (long long)s.structures, (long long)s.occurrences,
	       (long long)s.models);
	return PM_OK;
}

int pm_cmd_extract(const PmCmd *cmd, int argc, char **argv)
{
	const char *db = NULL;
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &db, "database to store them in (made when missing)" },
		{ 0 },
	};
	PmStrList files = { 0 };
	Job job = { 0 };
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		job.seen = pm_dedup_new();
		if (!files.list.n || !db)
			code = pm_cli_usage(cmd, db ? "No model was given." : "extract needs --db FILE.");
		else if (pm_db_open(db, 0, &job.db, &err) || extract_all(&job, &files, &err) ||
			 report(&job, &err))
			code = pm_cli_fail(&err);
		else
			code = job.failed ? 4 : 0;
		pm_dedup_free(job.seen);
	}
	pm_db_close(job.db);
	PM_VEC_RELEASE(&files.list);
	return code;
}
