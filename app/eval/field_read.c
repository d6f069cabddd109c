/* SPDX-License-Identifier: Apache-2.0 */
/* field_read.c - problems and attempts out of a database. */
#include "app/eval/field_read.h"

#include "base/sys/io.h"
#include "bench/eval/run_key.h"
#include "dataset/store/results.h"
#include "dataset/store/tags.h"
#include "dataset/store/tasks.h"
#include "dataset/store/trajectories.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- problems ---- */

static PmStatus take_tag(void *arg, int64_t task, const char *key, const char *value, PmErr *err)
{
	PmProblem *p = arg;

	(void)task;
	(void)err;
	if (!strcmp(key, "suite"))
		snprintf(p->suite, sizeof p->suite, "%s", value);
	else if (!strcmp(key, "level"))
		snprintf(p->level, sizeof p->level, "%s", value);
	else if (!strcmp(key, "category"))
		snprintf(p->category, sizeof p->category, "%s", value);
	return PM_OK;
}

PmStatus pm_task_is_of_suite(PmDb *db, int64_t task, const char *suite, int *yes, PmErr *err)
{
	PmProblem p = { .task = task };
	PmStatus st = pm_task_tags_each(db, task, take_tag, &p, err);

	*yes = !st && !strcmp(p.suite, suite);
	return st;
}

PmStatus pm_field_add_problem(PmField *f, PmDb *db, int64_t task, PmGraphCategoryFn category, PmErr *err)
{
	PmProblem p = { .task = task };
	PmVariantList m = { 0 };
	PmStatus st = pm_task_tags_each(db, task, take_tag, &p, err);
	char id[24];

	snprintf(id, sizeof id, "%lld", (long long)task);
	if (!st && !*p.category) {
		st = pm_variant_list_of_task(db, id, &m, err);
		if (!st && m.list.n)
			snprintf(p.category, sizeof p.category, "%s", category(m.list.v[0].g));
		pm_variant_list_release(&m);
	}
	if (!st)
		PM_VEC_PUSH(&f->problems, p);
	return st;
}

/* ---- trajectories ---- */

typedef struct Sample {
	int64_t id;
	char model[64];
} Sample;

typedef struct Reading {
	PmField *f;
	PM_VEC(Sample) samples;
	const char *hash; /* of the task that is read */
	int evaluated, compiled, correct, measured;
	double speedup;
} Reading;

static PmStatus list_sample(void *arg, const PmTrajectoryRow *row, PmErr *err)
{
	Reading *r = arg;
	Sample s = { .id = row->id };

	(void)err;
	snprintf(s.model, sizeof s.model, "%s", *row->model ? row->model : "no name");
	PM_VEC_PUSH(&r->samples, s);
	return PM_OK;
}

static PmStatus take_step(void *arg, const PmStepRow *row, PmErr *err)
{
	Reading *r = arg;
	const cJSON *answer;
	cJSON *j = NULL;
	PmStatus st;

	if (!*row->verdict || !isfinite(row->score) || strcmp(row->task, r->hash))
		return PM_OK;
	st = pm_json_parse(row->json, strlen(row->json), &j, err);
	if (st)
		return st;
	answer = cJSON_GetObjectItemCaseSensitive(j, "answer");
	r->evaluated = 1;
	r->measured |= !strncmp(pm_json_str(answer, "device", "emu"), "cuda", 4);
	r->compiled |= strcmp(row->verdict, "COMPILE_FAIL") != 0;
	if (!strcmp(row->verdict, "OK")) {
		double speedup = pm_json_num(answer, "speedup", NAN);

		r->speedup = r->correct ? fmax(r->speedup, speedup) : speedup;
		r->correct = 1;
	}
	cJSON_Delete(j);
	return PM_OK;
}

static PmStatus read_sample(Reading *r, const PmBench *b, const Sample *s, size_t problem, PmErr *err)
{
	PmStatus st;

	r->evaluated = r->compiled = r->correct = r->measured = 0;
	r->speedup = NAN;
	st = pm_steps_each(b->db, s->id, take_step, r, err);
	if (st || !r->evaluated)
		return st;
	if (strcmp(r->f->reference, "eager") ||
	    r->f->clock != (r->measured ? PM_SYS_COLD : PM_SYS_MODELLED)) {
		r->f->n_left_out++;
		return PM_OK;
	}
	PM_VEC_PUSH(&r->f->attempts, ((PmAttempt){ problem,
						   pm_field_system(r->f, s->model, 0),
						   r->compiled,
						   { r->correct, r->correct, r->speedup },
						   NAN }));
	return PM_OK;
}

static PmStatus take_hash(void *arg, const PmTaskRow *row, PmErr *err)
{
	char *hash = arg;

	(void)err;
	snprintf(hash, 65, "%s", row->hash);
	return PM_OK;
}

static PmStatus read_problem(Reading *r, const PmBench *b, size_t problem, PmErr *err)
{
	char hash[65] = "";
	PmTrajectoryFilter filter = { .task = hash, .above = NAN };
	PmStatus st = pm_task_get(b->db, r->f->problems.v[problem].task, take_hash, hash, err);

	r->samples.n = 0;
	r->hash = hash;
	if (!st)
		st = pm_trajectories_each(b->db, &filter, list_sample, r, err);
	for (size_t i = 0; i < r->samples.n && !st; i++)
		st = read_sample(r, b, &r->samples.v[i], problem, err);
	return st;
}

PmStatus pm_field_read(PmField *f, const PmBench *b, PmSysClock clock, PmErr *err)
{
	int baseline[PM_MAX_SYSTEMS] = { 0 };
	Reading r = { .f = f };
	PmStatus st = PM_OK;

	for (size_t k = 0; k < b->table.n; k++)
		baseline[k] = b->system[k].kind == PM_BENCH_EAGER ||
			      (b->system[k].kind == PM_BENCH_EXTERNAL &&
			       !strncmp(b->system[k].path, "torch ", 6));
	pm_field_take_systems(f, &b->table, baseline, clock);
	for (size_t i = 0; i < f->problems.n && !st; i++)
		st = read_problem(&r, b, i, err);
	PM_VEC_RELEASE(&r.samples);
	return st;
}

/* ---- runs of passes ---- */

typedef struct PassRun {
	int64_t id;
	char name[64], sha256[65];
	int measured, hidden_ok;
} PassRun;

typedef struct Runs {
	const PmBench *b;
	PM_VEC(PassRun) list;
	int64_t n_variants;
	/* Of the run that is read. */
	int64_t n, n_ok, n_timed;
	int compile_failed;
	double log_speed;
} Runs;

/* Times of two drivers or settings of clocks are not in one table. */
static int is_of_ranking(const Runs *r, const char *machine)
{
	PmStr ranking = PM_STR_INIT;
	int is;

	pm_run_key_ranking(machine, &ranking);
	is = !r->b->eval.ranking || !strcmp(ranking.s, r->b->eval.ranking);
	pm_str_release(&ranking);
	return is;
}

static PmStatus list_run(void *arg, const PmRunRow *row, PmErr *err)
{
	Runs *r = arg;
	PassRun run = { .id = row->id,
			.measured = !strncmp(row->device, "cuda", 4),
			.hidden_ok = !*row->hidden || !strcmp(row->hidden, "OK") };
	const char *base = pm_path_base(row->pass_path);

	(void)err;
	if (!*row->pass_sha256 || !row->finished || !strncmp(row->options, "external=", 9) ||
	    (run.measured && !is_of_ranking(r, row->machine)))
		return PM_OK;
	snprintf(run.name, sizeof run.name, "%.*s", (int)strcspn(base, "."), base);
	snprintf(run.sha256, sizeof run.sha256, "%s", row->pass_sha256);
	for (size_t k = 0; k < r->b->table.n; k++)
		if (!strcmp(r->b->table.name[k], run.name))
			return PM_OK;
	for (size_t i = 0; i < r->list.n; i++)
		if (!strcmp(r->list.v[i].sha256, run.sha256) && r->list.v[i].measured == run.measured) {
			r->list.v[i] = run; /* they come in the order stored */
			return PM_OK;
		}
	PM_VEC_PUSH(&r->list, run);
	return PM_OK;
}

static PmStatus add_result(void *arg, const PmResultRow *row, PmErr *err)
{
	Runs *r = arg;

	(void)err;
	r->n++;
	r->compile_failed |= !strcmp(row->verdict, "COMPILE_FAIL");
	if (strcmp(row->verdict, "OK"))
		return PM_OK;
	r->n_ok++;
	if (row->speedup > 0) {
		r->n_timed++;
		r->log_speed += log(row->speedup);
	}
	return PM_OK;
}

static PmStatus read_run(PmField *f, Runs *r, const PassRun *run, size_t problem, PmErr *err)
{
	PmStatus st;
	int correct;

	r->n = r->n_ok = r->n_timed = r->compile_failed = 0;
	r->log_speed = 0;
	st = pm_results_each(r->b->db, run->id, add_result, r, err);
	if (st || !r->n)
		return st;
	if (strcmp(f->reference, "eager") || f->clock != (run->measured ? PM_SYS_COLD : PM_SYS_MODELLED)) {
		f->n_left_out++;
		return PM_OK;
	}
	correct = run->hidden_ok && r->n_ok == r->n_variants;
	PM_VEC_PUSH(&f->attempts,
		    ((PmAttempt){ problem,
				  pm_field_system(f, run->name, 0),
				  !r->compile_failed,
				  { correct, correct,
				    correct && r->n_timed == r->n ? exp(r->log_speed / (double)r->n) : NAN },
				  NAN }));
	return PM_OK;
}

static PmStatus count_variants(void *arg, const PmTaskRow *row, PmErr *err)
{
	(void)err;
	*(int64_t *)arg = row->n_variants;
	return PM_OK;
}

PmStatus pm_field_read_runs(PmField *f, const PmBench *b, PmErr *err)
{
	Runs r = { .b = b };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < f->problems.n && !st; i++) {
		int64_t task = f->problems.v[i].task;

		r.list.n = 0;
		st = pm_task_get(b->db, task, count_variants, &r.n_variants, err);
		if (!st)
			st = pm_runs_each(b->db, task, list_run, &r, err);
		for (size_t k = 0; k < r.list.n && !st; k++)
			st = read_run(f, &r, &r.list.v[k], i, err);
	}
	PM_VEC_RELEASE(&r.list);
	return st;
}
