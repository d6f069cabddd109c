/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - what an experiment has shown: pass@k and its relatives, AS by iterations, cost.
 *
 * A sample compiles, is right or is fast when one of its evaluations of the whole task is. pass@k, compile@k
 * and fast_p@k are means over tasks of the unbiased estimator 1 - C(n - c, k) / C(n, k)
 * (bench/score/metrics.h), which was published by Chen et al., "Evaluating Large Language Models Trained on
 * Code", arXiv:2107.03374, section 2.1. fast_p is KernelBench's: right and more than p times as fast (Ouyang
 * et al., arXiv:2502.10517, section 3.3); the speed of a sample is the geometric mean over the variants of
 * its task. AS at iteration N is the geometric mean over samples of the best AS that each had by then, as
 * PassNet draws it (arXiv:2605.29357, figure 3); one without an evaluation counts as PM_AS_NOTHING. Only
 * samples that have ended count.
 */
#include "app/agent/agent.h"
#include "app/agent/experiment.h"
#include "app/agent/sample.h"
#include "app/agent/tally.h"
#include "base/core/arena.h"
#include "bench/score/metrics.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { N_FAST = 4 };

static const double fast[N_FAST] = { 0.5, 1, 1.5, 2 };

/* Of one task. */
typedef struct Row {
	int64_t ended, compiled, correct, is_fast[N_FAST];
	double best_score, best_speedup, money, seconds;
	int64_t tokens_in, tokens_out, turns, lost;
	int best, estimated;
} Row;

typedef struct Report {
	int64_t samples, iterations;
	size_t n_tasks;
	Row *row, all;
	double *log_as; /* by iteration from 1: sum of logarithms of the best so far over samples that ended
			 */
	double *best;   /* the same of the sample that is read */
} Report;

static void on_best(void *arg, int64_t turn, double best)
{
	Report *r = arg;

	for (int64_t i = turn < 1 ? 1 : turn; i <= r->iterations; i++)
		r->best[i] = best;
}

static void add_sample(Report *r, Row *row, int number, const PmTally *t)
{
	row->tokens_in += t->tokens_in;
	row->tokens_out += t->tokens_out;
	row->turns += t->turns;
	row->lost += t->lost;
	row->money += t->money;
	row->seconds += t->seconds;
	row->estimated |= t->estimated;
	if (!t->ended)
		return;
	row->ended++;
	row->compiled += t->compiled;
	row->correct += t->correct;
	for (int f = 0; f < N_FAST; f++)
		row->is_fast[f] += t->correct && t->best_speedup > fast[f];
	if (t->evaluated && t->best_score > row->best_score) {
		row->best_score = t->best_score;
		row->best = number;
	}
	row->best_speedup = fmax(row->best_speedup, t->best_speedup);
	for (int64_t i = 1; i <= r->iterations; i++)
		r->log_as[i] += log(r->best[i]);
}

static PmStatus read_samples(Report *r, const char *folder, const char *task, Row *row, PmErr *err)
{
	PmStatus st = PM_OK;

	row->best = -1;
	for (int n = 0; n < (int)r->samples && !st; n++) {
		PmStr path = PM_STR_INIT;
		PmTally t;

		for (int64_t i = 0; i <= r->iterations; i++)
			r->best[i] = PM_AS_NOTHING;
		pm_sample_journal(folder, task, n, &path);
		st = pm_tally_read(path.s, on_best, r, &t, err);
		if (!st)
			add_sample(r, row, n, &t);
		pm_str_release(&path);
	}
	return st;
}

static void add_cost(cJSON *j, const Row *row)
{
	pm_json_add_i64(j, "turns", row->turns);
	pm_json_add_i64(j, "tokens_in", row->tokens_in);
	pm_json_add_i64(j, "tokens_out", row->tokens_out);
	cJSON_AddBoolToObject(j, "tokens_estimated", row->estimated);
	cJSON_AddNumberToObject(j, "usd", row->money);
	cJSON_AddNumberToObject(j, "seconds", row->seconds);
	pm_json_add_i64(j, "requests_lost", row->lost);
}

static cJSON *task_json(const cJSON *task, const Report *r, const Row *row)
{
	cJSON *j = cJSON_CreateObject();

	cJSON_AddStringToObject(j, "task", pm_json_str(task, "hash", ""));
	cJSON_AddStringToObject(j, "name", pm_json_str(task, "name", ""));
	pm_json_add_i64(j, "samples", r->samples);
	pm_json_add_i64(j, "ended", row->ended);
	pm_json_add_i64(j, "compiled", row->compiled);
	pm_json_add_i64(j, "correct", row->correct);
	pm_json_add_num(j, "best_sample", row->best < 0 ? NAN : row->best);
	pm_json_add_num(j, "best_score", row->best < 0 ? NAN : row->best_score);
	pm_json_add_num(j, "best_speedup", row->best_speedup > 0 ? row->best_speedup : NAN);
	add_cost(j, row);
	return j;
}

/* Mean over tasks for one k; `what` is where in a row the count of good samples is. */
static double at_k(const Report *r, size_t what, int64_t k)
{
	PmSampleCount *c = pm_xcalloc(r->n_tasks + 1, sizeof *c);
	double v;

	for (size_t i = 0; i < r->n_tasks; i++) {
		c[i].n = r->row[i].ended;
		memcpy(&c[i].c, (const char *)&r->row[i] + what, sizeof c[i].c);
	}
	v = pm_mean_at_k(c, r->n_tasks, k);
	free(c);
	return v;
}

static void add_at_k(cJSON *j, const Report *r)
{
	cJSON *list = cJSON_AddArrayToObject(j, "at_k");

	for (int64_t k = 1; k <= r->samples; k = k < r->samples && 2 * k > r->samples ? r->samples : 2 * k) {
		cJSON *one = cJSON_CreateObject(), *f;

		pm_json_add_i64(one, "k", k);
		pm_json_add_num(one, "pass", at_k(r, offsetof(Row, correct), k));
		pm_json_add_num(one, "compile", at_k(r, offsetof(Row, compiled), k));
		f = cJSON_AddArrayToObject(one, "fast");
		for (size_t i = 0; i < N_FAST; i++) {
			cJSON *p = cJSON_CreateObject();

			cJSON_AddNumberToObject(p, "p", fast[i]);
			pm_json_add_num(p, "value", at_k(r, offsetof(Row, is_fast) + i * sizeof(int64_t), k));
			cJSON_AddItemToArray(f, p);
		}
		cJSON_AddItemToArray(list, one);
	}
}

static void add_iterations(cJSON *j, const Report *r)
{
	cJSON *list = cJSON_AddArrayToObject(j, "as_at_iteration");

	for (int64_t i = 1; i <= r->iterations; i++) {
		cJSON *one = cJSON_CreateObject();

		pm_json_add_i64(one, "n", i);
		pm_json_add_num(one, "AS", exp(r->log_as[i] / (double)r->all.ended));
		cJSON_AddItemToArray(list, one);
	}
}

static void add_up(Report *r)
{
	for (size_t i = 0; i < r->n_tasks; i++) {
		const Row *x = &r->row[i];

		r->all.ended += x->ended;
		r->all.turns += x->turns;
		r->all.lost += x->lost;
		r->all.tokens_in += x->tokens_in;
		r->all.tokens_out += x->tokens_out;
		r->all.money += x->money;
		r->all.seconds += x->seconds;
		r->all.estimated |= x->estimated;
	}
}

static cJSON *to_json(const cJSON *x, Report *r)
{
	static const char *const same[] = { "model", "device", "mode", "feedback", "samples", "iterations" };
	const cJSON *t;
	cJSON *j = cJSON_CreateObject(), *list;
	size_t i = 0;

	add_up(r);
	for (size_t k = 0; k < sizeof same / sizeof *same; k++)
		cJSON_AddItemToObject(j, same[k],
				      cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(x, same[k]), 1));
	pm_json_add_i64(j, "samples_ended", r->all.ended);
	pm_json_add_i64(j, "samples_open", (int64_t)r->n_tasks * r->samples - r->all.ended);
	add_at_k(j, r);
	add_iterations(j, r);
	add_cost(j, &r->all);
	pm_json_add_num(j, "usd_per_task", r->n_tasks ? r->all.money / (double)r->n_tasks : NAN);
	list = cJSON_AddArrayToObject(j, "tasks");
	cJSON_ArrayForEach(t, cJSON_GetObjectItemCaseSensitive(x, "tasks"))
		cJSON_AddItemToArray(list, task_json(t, r, &r->row[i++]));
	return j;
}

PmStatus pm_agent_report(const char *folder, cJSON **out, PmErr *err)
{
	Report r = { 0 };
	cJSON *x = NULL;
	const cJSON *tasks, *t;
	size_t i = 0;
	PmStatus st = pm_experiment_read(folder, &x, err);

	if (st)
		return st;
	tasks = cJSON_GetObjectItemCaseSensitive(x, "tasks");
	r.n_tasks = (size_t)cJSON_GetArraySize(tasks);
	r.samples = pm_json_i64(x, "samples", 0);
	r.iterations = pm_json_i64(x, "iterations", 0);
	if (!r.n_tasks || r.samples < 1 || r.samples > PM_AGENT_SAMPLES || r.iterations < 1 ||
	    r.iterations > PM_AGENT_ITERATIONS) {
		cJSON_Delete(x);
		return pm_err(err, PM_E_INVALID,
			      "%.300s/experiment.json has no tasks, samples or iterations; it was changed.",
			      folder);
	}
	r.row = pm_xcalloc(r.n_tasks, sizeof *r.row);
	r.log_as = pm_xcalloc((size_t)r.iterations + 1, sizeof *r.log_as);
	r.best = pm_xcalloc((size_t)r.iterations + 1, sizeof *r.best);
	cJSON_ArrayForEach(t, tasks)
	{
		st = st ? st : read_samples(&r, folder, pm_json_str(t, "hash", ""), &r.row[i], err);
		i++;
	}
	if (!st)
		*out = to_json(x, &r);
	free(r.row);
	free(r.log_as);
	free(r.best);
	cJSON_Delete(x);
	return st;
}
