/* SPDX-License-Identifier: Apache-2.0 */
/* mine.c - ranks structures by the time at stake. */
#include "bench/report/mine.h"

#include "base/core/hash.h"
#include "base/core/json.h"
#include "base/core/vec.h"
#include "bench/score/stratum.h"
#include "dataset/store/results.h"
#include "dataset/store/subgraphs.h"
#include "integrity/referee/referee.h"
#include "ir/text/text.h"
#include "runtime/exec/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One stored graph. */
typedef struct Graph {
	int64_t id, n_found;
	size_t structure; /* in Job.out */
	double seconds, fused;
	int measured;
} Graph;

typedef struct Place {
	int64_t model, count;
	size_t graph;
} Place;

typedef struct Model {
	int64_t id;
	uint64_t print; /* of structures and their numbers */
	int clone;
} Model;

/* Results of one pass on one structure. */
typedef struct Score {
	size_t structure;
	uint32_t pass; /* interned */
	double log_sum;
	int64_t n;
} Score;

typedef struct Job {
	PmDb *db;
	PmIntern *texts;
	PM_VEC(uint32_t) number; /* by interned structure: 1 + place in out */
	PM_VEC(Graph) graph;     /* by id */
	PM_VEC(PmMined) out;
	PM_VEC(Place) place; /* by model */
	PM_VEC(Model) model;
	PM_VEC(Score) score;
	PmMine *mine;
	void (*step)(void *arg, int64_t total);
	void *arg;
} Job;

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	return z ^ (z >> 31);
}

/* ---- graphs ---- */

/* What one kernel would take: a launch, and the inputs and outputs once. It starts as the plain run does: in
 * a model there are other launches beside it. */
static double fused_seconds(const PmGraph *g, double start, double eager)
{
	const PmProfile *p = pm_profile(NULL);
	int64_t bytes = 0, b;
	double t;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (!pm_type_bytes(pm_value_type(g, pm_graph_input(g, i)), &b, NULL))
			bytes += b;
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_type_bytes(pm_value_type(g, pm_graph_output(g, i)), &b, NULL))
			bytes += b;
	t = start + p->launch_seconds + (double)bytes / p->bytes_per_second;
	return t < eager ? t : eager;
}

/* A contraction costs its arithmetic whoever launches it: only what is above it can be won. */
static PmStatus weigh(Graph *x, const PmGraph *g, PmErr *err)
{
	PmStratum s;
	PmPlanStats ps;
	PmStatus st = pm_stratum(g, &s, err);
	double compute;

	if (!st)
		st = pm_graph_plan_stats(g, NULL, 0, NULL, &ps, err);
	if (st)
		return st;
	compute = (double)ps.flops / pm_profile(NULL)->flops_per_second[1];
	x->seconds = s.seconds;
	x->fused = fused_seconds(g, ps.start_seconds, s.seconds);
	x->fused = compute > x->fused ? (compute < s.seconds ? compute : s.seconds) : x->fused;
	return PM_OK;
}

static size_t structure_of(Job *j, const char *hash)
{
	uint32_t id = pm_intern(j->texts, hash, strlen(hash));

	while (j->number.n <= id)
		PM_VEC_PUSH(&j->number, 0);
	if (!j->number.v[id]) {
		PmMined m = { .best_speedup = NAN };

		memcpy(m.structure, hash, strlen(hash) < 65 ? strlen(hash) + 1 : 65);
		m.structure[64] = '\0';
		PM_VEC_PUSH(&j->out, m);
		j->number.v[id] = (uint32_t)j->out.n;
	}
	return j->number.v[id] - 1;
}

static PmStatus take_graph(void *arg, const PmSubgraphRow *row, PmErr *err)
{
	Job *j = arg;
	Graph x = { .id = row->id, .n_found = row->n_found };
	PmGraph *g = NULL;
	PmErr none;
	PmStatus st = pm_graph_parse(row->text, strlen(row->text), &g, err);
	PmMined *m;

	pm_err_init(&none);
	if (st)
		return pm_err_ctx(err, "subgraph %lld", (long long)row->id);
	x.structure = structure_of(j, row->structure);
	m = &j->out.v[x.structure];
	if (weigh(&x, g, &none)) { /* symbols, an opaque node */
		j->mine->unplanned++;
		x.seconds = x.fused = 0;
	}
	pm_graph_free(g);
	m->n_graphs++;
	m->occurrences += row->n_found;
	if (!m->ops || row->n_found > j->graph.v[m->example].n_found) {
		free(m->ops);
		m->ops = pm_xstrdup(row->ops);
		m->example = (int64_t)j->graph.n; /* becomes the id at the end */
	}
	PM_VEC_PUSH(&j->graph, x);
	if (j->step)
		j->step(j->arg, 0);
	return PM_OK;
}

static size_t find_graph(const Job *j, int64_t id)
{
	size_t lo = 0, hi = j->graph.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (j->graph.v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < j->graph.n && j->graph.v[lo].id == id ? lo : j->graph.n;
}

/* ---- results ---- */

static PmStatus take_score(void *arg, const PmScoreRow *row, PmErr *err)
{
	Job *j = arg;
	uint32_t id = pm_intern_find(j->texts, row->structure, strlen(row->structure));
	uint32_t pass = pm_intern(j->texts, row->pass_path, strlen(row->pass_path));
	size_t s, k = 0, at;
	cJSON *json = NULL;
	PmStatus st;

	if (id == UINT32_MAX || id >= j->number.n || !j->number.v[id])
		return PM_OK; /* not of a subgraph that was extracted */
	s = j->number.v[id] - 1;
	if (row->speedup > 0) {
		while (k < j->score.n && (j->score.v[k].structure != s || j->score.v[k].pass != pass))
			k++;
		if (k == j->score.n)
			PM_VEC_PUSH(&j->score, ((Score){ s, pass, 0, 0 }));
		j->score.v[k].log_sum += log(row->speedup);
		j->score.v[k].n++;
	}
	at = find_graph(j, row->graph);
	st = pm_json_parse(row->json, strlen(row->json), &json, err);
	if (!st && at < j->graph.n && !strcmp(pm_json_str(json, "time", ""), "measured") &&
	    pm_json_num(json, "baseline_seconds", 0) > 0) {
		Graph *x = &j->graph.v[at];
		double t = pm_json_num(json, "baseline_seconds", 0);

		x->fused *= x->seconds > 0 ? t / x->seconds : 1;
		x->seconds = t;
		x->measured = 1;
	}
	cJSON_Delete(json);
	return st;
}

static void choose_passes(Job *j)
{
	for (size_t k = 0; k < j->score.n; k++) {
		const Score *s = &j->score.v[k];
		PmMined *m = &j->out.v[s->structure];
		double mean = exp(s->log_sum / (double)s->n);

		if (m->best_pass && !(mean > m->best_speedup))
			continue;
		free(m->best_pass);
		m->best_pass = pm_xstrdup(pm_intern_text(j->texts, s->pass));
		m->best_speedup = mean;
	}
	for (size_t i = 0; i < j->out.n; i++)
		if (!j->out.v[i].best_pass)
			j->out.v[i].best_pass = pm_xstrdup("");
}

/* ---- models ---- */

static PmStatus take_place(void *arg, int64_t model, int64_t subgraph, int64_t count, PmErr *err)
{
	Job *j = arg;
	size_t at = find_graph(j, subgraph);

	(void)err;
	if (at == j->graph.n)
		return PM_OK; /* of another kind */
	PM_VEC_PUSH(&j->place, ((Place){ model, count, at }));
	if (!j->model.n || j->model.v[j->model.n - 1].id != model)
		PM_VEC_PUSH(&j->model, ((Model){ model, 0, 0 }));
	/* A sum, so that the order does not matter and several graphs of one structure add up. */
	j->model.v[j->model.n - 1].print += (uint64_t)count * mix(j->graph.v[at].structure, 1);
	return PM_OK;
}

static int by_print(const void *x, const void *y)
{
	const Model *a = x, *b = y;

	if (a->print != b->print)
		return a->print < b->print ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

static int by_id(const void *x, const void *y)
{
	const Model *a = x, *b = y;

	return (a->id > b->id) - (a->id < b->id);
}

static void mark_clones(Job *j)
{
	if (j->model.n)
		qsort(j->model.v, j->model.n, sizeof *j->model.v, by_print);
	for (size_t i = 0; i < j->model.n; i++) {
		j->model.v[i].clone = i && j->model.v[i].print == j->model.v[i - 1].print;
		j->mine->distinct_models += !j->model.v[i].clone;
	}
	j->mine->models = (int64_t)j->model.n;
	if (j->model.n)
		qsort(j->model.v, j->model.n, sizeof *j->model.v, by_id);
}

static void add_places(Job *j)
{
	size_t *seen = pm_xcalloc(j->out.n + 1, sizeof *seen), m = 0;

	for (size_t i = 0; i < j->place.n; i++) {
		const Place *p = &j->place.v[i];
		const Graph *g = &j->graph.v[p->graph];
		PmMined *s = &j->out.v[g->structure];

		while (j->model.v[m].id != p->model)
			m++;
		if (seen[g->structure] != m + 1) { /* once for each model */
			seen[g->structure] = m + 1;
			s->models++;
			s->support += !j->model.v[m].clone;
		}
		if (j->model.v[m].clone)
			continue;
		s->seconds += (double)p->count * g->seconds;
		s->at_stake += (double)p->count * (g->seconds - g->fused);
		j->mine->seconds += (double)p->count * g->seconds;
	}
	for (size_t i = 0; i < j->graph.n; i++)
		j->out.v[j->graph.v[i].structure].measured += j->graph.v[i].measured;
	free(seen);
}

static int by_stake(const void *x, const void *y)
{
	const PmMined *a = x, *b = y;

	if (a->at_stake != b->at_stake)
		return a->at_stake > b->at_stake ? -1 : 1;
	return strcmp(a->structure, b->structure);
}

PmStatus pm_mine(PmDb *db, void (*step)(void *arg, int64_t total), void *arg, PmMine *out, PmErr *err)
{
	Job j = { .db = db, .texts = pm_intern_new(), .mine = out, .step = step, .arg = arg };
	PmStatus st;

	memset(out, 0, sizeof *out);
	st = pm_subgraphs_each(db, "fusible", 0, take_graph, &j, err);
	if (!st)
		st = pm_scores_each(db, pm_verdict_name(PM_VERDICT_OK), take_score, &j, err);
	if (!st)
		st = pm_provenance_each(db, take_place, &j, err);
	if (!st) {
		choose_passes(&j);
		mark_clones(&j);
		add_places(&j);
	}
	for (size_t i = 0; i < j.out.n; i++)
		j.out.v[i].example = j.graph.v[j.out.v[i].example].id;
	if (j.out.n)
		qsort(j.out.v, j.out.n, sizeof *j.out.v, by_stake);
	out->v = j.out.v;
	out->n = j.out.n;
	if (st)
		pm_mine_release(out);
	pm_intern_free(j.texts);
	PM_VEC_RELEASE(&j.number);
	PM_VEC_RELEASE(&j.graph);
	PM_VEC_RELEASE(&j.place);
	PM_VEC_RELEASE(&j.model);
	PM_VEC_RELEASE(&j.score);
	return st;
}

void pm_mine_release(PmMine *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->v[i].ops);
		free(m->v[i].best_pass);
	}
	free(m->v);
	m->v = NULL;
	m->n = 0;
}
