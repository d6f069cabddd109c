/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_extract.c - passmith extract: models to stored subgraphs, resumable, several processes at once. */
#include "app/extract/extract_job.h"
#include "base/sys/io.h"
#include "base/sys/pool.h"
#include "base/sys/proc.h"
#include "cli/cmds.h"
#include "dataset/store/subgraphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the database holds of one kind. */
typedef struct Held {
	int64_t found, graphs, structures;
	PmDedup *seen;
} Held;

static PmStatus hold(void *arg, const PmSubgraphRow *row, PmErr *err)
{
	Held *h = arg;

	(void)err;
	h->graphs++;
	h->found += row->n_found;
	pm_dedup_add(h->seen, row->structure, NULL);
	return PM_OK;
}

static PmStatus count_held(const char *path, Held held[PM_N_KINDS], PmErr *err)
{
	PmDb *db = NULL;
	PmStatus st = pm_db_open(path, PM_DB_READ_ONLY, &db, err);
	int k;

	for (k = 0; k < PM_N_KINDS && !st; k++) {
		held[k] = (Held){ 0, 0, 0, pm_dedup_new() };
		st = pm_subgraphs_each(db, pm_extract_kind(k), 0, hold, &held[k], err);
		held[k].structures = (int64_t)pm_dedup_size(held[k].seen);
		pm_dedup_free(held[k].seen);
	}
	pm_db_close(db);
	return st;
}

static double percent(size_t part, size_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

static void put_json(const PmExtractJob *j, const Held *held)
{
	size_t known = j->sum.n_nodes - j->sum.n_opaque;
	cJSON *o = cJSON_CreateObject(), *kinds = cJSON_AddObjectToObject(o, "kinds");
	int k;

	cJSON_AddStringToObject(o, "db", j->db);
	pm_json_add_i64(o, "models_done", (int64_t)j->done);
	pm_json_add_i64(o, "models_skipped", (int64_t)j->skipped);
	pm_json_add_i64(o, "models_failed", (int64_t)j->failed);
	pm_json_add_i64(o, "known_nodes", (int64_t)known);
	pm_json_add_i64(o, "launches", (int64_t)j->sum.n_launches);
	pm_json_add_i64(o, "structures_folded", (int64_t)j->structures);
	pm_json_add_i64(o, "fold_rounds", (int64_t)j->rounds);
	cJSON_AddNumberToObject(o, "fold_seconds", j->fold_seconds);
	cJSON_AddNumberToObject(o, "cut_seconds", j->cut_seconds);
	for (k = 0; k < PM_N_KINDS; k++) {
		const PmKindReport *r = &j->sum.kind[k];
		cJSON *e = cJSON_AddObjectToObject(kinds, pm_extract_kind(k));

		pm_json_add_i64(e, "found", (int64_t)r->n_found);
		pm_json_add_i64(e, "covered_ops", (int64_t)r->n_ops);
		pm_json_add_i64(e, "covered_nodes", (int64_t)r->n_covered);
		pm_json_add_i64(e, "covered_launches", (int64_t)r->n_launches);
		pm_json_add_i64(e, "not_connected", (int64_t)r->n_not_connected);
		pm_json_add_i64(e, "not_convex", (int64_t)r->n_not_convex);
		pm_json_add_i64(e, "rejected", (int64_t)r->n_rejected);
		pm_json_add_i64(e, "stored_graphs", held[k].graphs);
		pm_json_add_i64(e, "stored_structures", held[k].structures);
		pm_json_add_i64(e, "stored_occurrences", held[k].found);
	}
	pm_cli_put_json(o);
}

static void put_text(const PmExtractJob *j, const Held *held)
{
	size_t known = j->sum.n_nodes - j->sum.n_opaque;
	int k;

	printf("%zu models extracted, %zu done before, %zu failed", j->done, j->skipped, j->failed);
	if (j->done)
		printf("; %zu nodes of known meaning, %zu kernels when run one by one", known,
		       j->sum.n_launches);
	printf("\n%s:\n%-10s %9s %9s %10s", j->db, "kind", "places", "graphs", "structures");
	if (j->done)
		printf("  %8s %8s %8s  %s", "ops", "nodes", "kernels", "disconnected, not convex, rejected");
	printf("\n");
	for (k = 0; k < PM_N_KINDS; k++) {
		const PmKindReport *r = &j->sum.kind[k];

		printf("%-10s %9lld %9lld %10lld", pm_extract_kind(k), (long long)held[k].found,
		       (long long)held[k].graphs, (long long)held[k].structures);
		if (j->done)
			printf("  %6.2f %% %6.2f %% %6.2f %%  %zu, %zu, %zu%s%s", percent(r->n_ops, known),
			       percent(r->n_covered, known), percent(r->n_launches, j->sum.n_launches),
			       r->n_not_connected, r->n_not_convex, r->n_rejected, r->why[0] ? ": " : "",
			       r->why);
		printf("\n");
	}
}

/* Adds the paths that a file lists, one a line; they lie in *text, which outlives the list. */
static PmStatus read_list(const char *path, PmStr *text, PmStrList *files, PmErr *err)
{
	PmStatus st = path ? pm_read_file(path, 0, text, err) : PM_OK;
	char *line, *end;

	if (st || !path)
		return st;
	if (strlen(text->s) < text->len)
		return pm_err(err, PM_E_INVALID,
			      "The list of models '%s' has a byte 0; give a text with one path a line.",
			      path);
	for (line = text->s; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		if (*line)
			PM_VEC_PUSH(&files->list, line);
	}
	return PM_OK;
}

/* "2/8" of --shard: the third of eight. */
static int read_shard(const char *text, PmExtractJob *j)
{
	unsigned long i, n;
	char end;

	if (!text)
		return 1;
	if (sscanf(text, "%lu/%lu%c", &i, &n, &end) != 2 || i >= n)
		return 0;
	j->shard = i;
	j->n_shards = n;
	return 1;
}

int pm_cmd_extract(const PmCmd *cmd, int argc, char **argv)
{
	const char *shard = NULL, *list = NULL;
	int64_t jobs = 0;
	PmProgress bar = { 0 };
	const PmWatch watch = pm_cli_watch(&bar);
	PmExtractJob job = { .watch = &watch };
	const PmOpt opts[] = {
		{ "--db", PM_OPT_STR, &job.db, "database to store them in (made when missing)" },
		{ "-j", PM_OPT_COUNT, &jobs,
		  "N  processes (all processors, at least 2; 1: no process of its own)" },
		{ "--from", PM_OPT_STR, &list,
		  "FILE  a text with one model's path a line, for more than a command line holds" },
		{ "--shard", PM_OPT_STR, &shard,
		  "I/N  cut only every Nth model, from number I (0 to N - 1); all are "
		  "read, so that the shards fit together" },
		{ 0 },
	};
	PmStrList files = { 0 };
	PmStr text = PM_STR_INIT;
	Held held[PM_N_KINDS];
	PmErr err;
	int code = 0;

	pm_err_init(&err);
	if (pm_args_parse(cmd, opts, argc, argv, &files, &code)) {
		PmStatus st = read_list(list, &text, &files, &err);

		job.files = files.list.v;
		job.n_files = files.list.n;
		job.jobs = pm_pool_jobs(jobs);
		if (!job.db)
			code = pm_cli_usage(cmd, "extract needs --db FILE.");
		else if (st)
			code = pm_cli_fail(&err);
		else if (!files.list.n)
			code = pm_cli_usage(cmd, "No model was given.");
		else if (!read_shard(shard, &job))
			code = pm_cli_usage(cmd, "--shard needs I/N with I below N, as in 0/4.");
		else if (pm_extract_job(&job, &err) || count_held(job.db, held, &err))
			code = pm_cli_fail(&err);
		else {
			if (pm_cli_json)
				put_json(&job, held);
			else
				put_text(&job, held);
			code = job.failed ? 4 : 0;
		}
	}
	PM_VEC_RELEASE(&files.list);
	pm_str_release(&text);
	return code;
}
