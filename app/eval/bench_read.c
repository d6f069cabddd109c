/* SPDX-License-Identifier: Apache-2.0 */
/* bench_read.c - a table of systems from a database. */
#include "app/eval/bench_read.h"

#include "app/eval/bench_cells.h"
#include "app/eval/many.h"
#include "base/core/hash.h"
#include "base/core/version.h"
#include "base/sys/io.h"
#include "bench/eval/run_key.h"
#include "dataset/store/results.h"
#include "dataset/store/tasks.h"
#include "runtime/device/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which systems ---- */

static PmStatus find_pass(const char *text, const char *folder, PmBenchSystem *s, char *name, size_t room,
			  PmErr *err)
{
	const char *equals = strchr(text, '='), *file = equals ? equals + 1 : text;
	const char *base = pm_path_base(file);
	PmStr path = PM_STR_INIT;
	PmStatus st = PM_OK;

	if (equals)
		snprintf(name, room, "%.*s", (int)(equals - text), text);
	else
		snprintf(name, room, "%.*s", (int)strcspn(base, "."), base);
	if (pm_str_ends(file, ".so")) {
		pm_str_add(&path, file);
	} else {
		pm_path_join(folder, file, &path);
		pm_str_add(&path, ".so");
	}
	if (pm_file_size(path.s) < 0)
		st = pm_err(err, PM_E_NOT_FOUND,
			    "There is no pass %s for the system '%.60s'; give eager, torch-MODE, "
			    "a pass of %s by name, or NAME=FILE.so.",
			    path.s, name, folder);
	s->kind = PM_BENCH_PASS;
	s->path = pm_str_detach(&path, NULL);
	return st;
}

PmStatus pm_bench_add(PmBench *b, const char *text, const char *folder, PmErr *err)
{
	PmBenchSystem *s = &b->system[b->table.n];
	char *name = b->table.name[b->table.n];
	PmStatus st = PM_OK;

	if (b->table.n == PM_MAX_SYSTEMS)
		return pm_err(err, PM_E_LIMIT, "A table has at most %d systems; '%.60s' is one too many.",
			      PM_MAX_SYSTEMS, text);
	if (!strcmp(text, "eager")) {
		s->kind = PM_BENCH_EAGER;
		s->path = pm_xstrdup("passmith eager");
		snprintf(name, sizeof b->table.name[0], "eager");
	} else if (!strncmp(text, "torch-", 6) || !strncmp(text, "timed-", 6)) {
		PmStr stored = PM_STR_INIT;

		pm_str_addf(&stored, "%s %s", text[1] == 'o' ? "torch" : "passmith", text + 6);
		s->kind = PM_BENCH_EXTERNAL;
		s->path = pm_str_detach(&stored, NULL);
		snprintf(name, sizeof b->table.name[0], "%s", text);
	} else {
		st = find_pass(text, folder, s, name, sizeof b->table.name[0], err);
	}
	for (size_t k = 0; k < b->table.n && !st; k++)
		if (!strcmp(b->table.name[k], name))
			st = pm_err(err, PM_E_INVALID,
				    "The system '%.60s' is given twice; give each a name of its own "
				    "with NAME=FILE.so.",
				    name);
	b->table.n++; /* also after a failure: the path is released with the others */
	return st;
}

void pm_bench_release(PmBench *b)
{
	for (size_t k = 0; k < b->table.n; k++)
		free(b->system[k].path);
	pm_systems_release(&b->table);
	PM_VEC_RELEASE(&b->runs);
}

/* ---- cells ---- */

static PmSysGraph *row_of(PmBench *b, size_t first, int64_t ordinal)
{
	for (size_t i = first; i < b->table.graphs.n; i++)
		if (b->table.graphs.v[i].ordinal == ordinal)
			return &b->table.graphs.v[i];
	return NULL;
}

static PmStatus add_pass(PmBench *b, size_t system, size_t first, PmErr *err)
{
	const PmVariantList *m = b->eval.variants;
	char *have = pm_xcalloc(m->list.n + 1, 1);
	PmEvalReport r = { 0 };
	int64_t run = 0;
	PmStatus st;

	b->eval.run = &run;
	st = pm_eval_task(&b->eval, b->system[system].path, &r, have, err);
	b->eval.run = NULL;
	if (run)
		PM_VEC_PUSH(&b->runs, run);
	for (size_t i = 0; i < m->list.n && !st; i++) {
		PmSysGraph *g = row_of(b, first, m->list.v[i].ordinal);

		if (!g || !have[i] || r.rec[i].verdict == PM_VERDICT_HARNESS_FAIL)
			continue;
		pm_bench_cell_pass(&g->cell[system], &r, i);
		for (size_t k = 0; k < b->table.n; k++)
			if (b->system[k].kind == PM_BENCH_EAGER)
				pm_bench_cell_eager(&g->cell[k], &r.rec[i]);
	}
	if (*r.sandbox_lacks)
		memcpy(b->table.sandbox_lacks, r.sandbox_lacks, sizeof r.sandbox_lacks);
	pm_eval_report_release(&r);
	free(have);
	return st;
}

/* ---- times taken elsewhere ---- */

typedef struct Run {
	int64_t id;
	char machine[64]; /* "NVIDIA H200" of "cuda:NVIDIA H200" */
} Run;

typedef struct Stored {
	PmBench *b;
	size_t system, first;
	PM_VEC(Run) runs;
	const char *machine; /* of the run being read */
} Stored;

static PmStatus list_run(void *arg, const PmRunRow *row, PmErr *err)
{
	const char *colon = strchr(row->device, ':');
	Stored *s = arg;
	Run run = { .id = row->id };

	(void)err;
	snprintf(run.machine, sizeof run.machine, "%s", colon ? colon + 1 : "");
	if (!strncmp(row->options, "external=", 9) && !strcmp(row->pass_path, s->b->system[s->system].path))
		PM_VEC_PUSH(&s->runs, run);
	return PM_OK;
}

static PmStatus take_external(void *arg, const PmResultRow *row, PmErr *err)
{
	Stored *s = arg;
	PmSysGraph *g = row_of(s->b, s->first, row->ordinal);
	PmSysCell *c = g ? &g->cell[s->system] : NULL;

	return c ? pm_bench_cell_external(c, row->json, s->machine, err) : PM_OK;
}

/* The first run stored for a graph counts. */
static PmStatus add_external(PmBench *b, size_t system, size_t first, PmErr *err)
{
	Stored s = { .b = b, .system = system, .first = first };
	PmStatus st = pm_runs_each(b->db, b->table.graphs.v[first].task, list_run, &s, err);

	for (size_t i = 0; i < s.runs.n && !st; i++) {
		s.machine = s.runs.v[i].machine;
		st = pm_results_each(b->db, s.runs.v[i].id, take_external, &s, err);
	}
	PM_VEC_RELEASE(&s.runs);
	return st;
}

/* ---- machines ---- */

typedef struct Rankings {
	PmRunRow like; /* without a pass: of any */
	PmNames *out;
} Rankings;

static PmStatus add_ranking(void *arg, const PmRunRow *row, PmErr *err)
{
	Rankings *r = arg;
	PmStr text = PM_STR_INIT;
	size_t i = 0;

	(void)err;
	if (!r->like.pass_sha256 ? strcmp(row->device, r->like.device) || !*row->pass_sha256
				 : !pm_run_row_is_like(row, &r->like))
		return PM_OK;
	pm_run_key_ranking(row->machine, &text);
	while (i < r->out->n && strcmp(r->out->v[i], text.s))
		i++;
	if (i == r->out->n)
		PM_VEC_PUSH(r->out, pm_xstrdup(text.s));
	pm_str_release(&text);
	return PM_OK;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The runs of one pass, or of any (NULL). */
static PmStatus add_rankings(const PmBench *b, const char *so, const int64_t *tasks, size_t n, Rankings *r,
			     PmErr *err)
{
	char sha256[PM_SHA256_HEX];
	PmStr bytes = PM_STR_INIT;
	PmStatus st = so ? pm_read_file(so, 0, &bytes, err) : PM_OK;

	if (so && !st)
		pm_sha256_hex(bytes.s, bytes.len, sha256);
	r->like.pass_sha256 = so ? sha256 : NULL;
	for (size_t i = 0; i < n && !st; i++)
		st = pm_runs_each(b->db, tasks[i], add_ranking, r, err);
	pm_str_release(&bytes);
	return st;
}

PmStatus pm_bench_rankings(const PmBench *b, const int64_t *tasks, size_t n, int all_passes, PmNames *out,
			   PmErr *err)
{
	const PmEvalTask *e = &b->eval;
	PmStr options = PM_STR_INIT;
	Rankings r = { .out = out };
	PmStatus st = PM_OK;

	pm_run_key_options(&e->opts, e->preset, e->tf32, e->hidden, &options);
	r.like = (PmRunRow){
		.device = e->opts.device, .seed = e->opts.seed, .version = PM_VERSION, .options = options.s
	};
	for (size_t k = 0; k < b->table.n && !st; k++)
		if (b->system[k].kind == PM_BENCH_PASS)
			st = add_rankings(b, b->system[k].path, tasks, n, &r, err);
	if (!st && all_passes)
		st = add_rankings(b, NULL, tasks, n, &r, err);
	if (out->n)
		qsort(out->v, out->n, sizeof *out->v, by_text);
	pm_str_release(&options);
	return st;
}

/* ---- a task ---- */

/* What a pass declined runs as it did before. */
static void fill_declined(PmBench *b, size_t first)
{
	size_t eager = 0;

	while (eager < b->table.n && b->system[eager].kind != PM_BENCH_EAGER)
		eager++;
	for (size_t i = first; i < b->table.graphs.n && eager < b->table.n; i++)
		for (size_t k = 0; k < b->table.n; k++)
			if (b->system[k].kind == PM_BENCH_PASS)
				pm_bench_cell_decline(&b->table.graphs.v[i].cell[k],
						      &b->table.graphs.v[i].cell[eager]);
}

/* The variants of a task that the table has. */
static PmStatus variants_of(const PmBench *b, int64_t task, PmVariantList *m, PmErr *err)
{
	char id[24];
	PmStatus st;

	snprintf(id, sizeof id, "%lld", (long long)task);
	st = pm_variant_list_of_task(b->db, id, m, err);
	pm_variant_list_keep_shapes(m, b->shapes);
	return st;
}

PmStatus pm_bench_evaluate(const PmBench *b, int64_t task, PmErr *err)
{
	PmVariantList m = { 0 };
	PmEvalTask e = b->eval;
	PmStatus st = variants_of(b, task, &m, err);

	e.db = b->db;
	e.variants = &m;
	for (size_t k = 0; k < b->table.n && !st && m.list.n; k++) {
		PmEvalReport r = { 0 };

		if (b->system[k].kind != PM_BENCH_PASS)
			continue;
		st = pm_eval_task(&e, b->system[k].path, &r, NULL, err);
		pm_eval_report_release(&r);
	}
	pm_variant_list_release(&m);
	return st;
}

PmStatus pm_bench_need(const PmBench *b, int64_t task, int64_t *out, PmErr *err)
{
	PmVariantList m = { 0 };
	PmStatus st = variants_of(b, task, &m, err);

	*out = st ? 0 : pm_many_need(&m, b->eval.opts.device);
	pm_variant_list_release(&m);
	return st;
}

PmStatus pm_bench_task(PmBench *b, int64_t task, PmErr *err)
{
	size_t first = b->table.graphs.n;
	PmVariantList m = { 0 };
	PmStatus st = variants_of(b, task, &m, err);

	if (!st)
		st = pm_bench_add_rows(&b->table, &m, b->eval.opts.profile, err);
	b->eval.db = b->db;
	b->eval.variants = &m;
	for (size_t k = 0; k < b->table.n && !st && b->table.graphs.n > first; k++)
		if (b->system[k].kind == PM_BENCH_PASS)
			st = add_pass(b, k, first, err);
	for (size_t k = 0; k < b->table.n && !st && b->table.graphs.n > first; k++)
		if (b->system[k].kind != PM_BENCH_PASS)
			st = add_external(b, k, first, err);
	if (!st)
		st = pm_systems_one_machine(&b->table, first, err);
	if (!st && pm_device_kind(b->eval.opts.device) == PM_DEVICE_EMU)
		for (size_t k = 0; k < b->table.n && !st; k++)
			if (b->system[k].kind == PM_BENCH_EAGER)
				st = pm_bench_model_eager(&b->table, k, first, &m, b->eval.opts.profile, err);
	if (!st)
		fill_declined(b, first);
	b->eval.variants = NULL;
	pm_variant_list_release(&m);
	return st;
}
