/* SPDX-License-Identifier: Apache-2.0 */
/* field.c - attempts out of a table of systems, and figures over problems. */
#include "bench/report/field.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { T_RIGHT = -5 }; /* right: as in bench/report/systems.h */

const double pm_field_over[PM_N_OVER] = { 1.02, 1.05, 2, 6.5 };

void pm_field_release(PmField *f)
{
	PM_VEC_RELEASE(&f->problems);
	PM_VEC_RELEASE(&f->systems);
	PM_VEC_RELEASE(&f->attempts);
}

size_t pm_field_system(PmField *f, const char *name, int baseline)
{
	PmFieldSystem s = { .baseline = baseline };

	for (size_t i = 0; i < f->systems.n; i++)
		if (!strcmp(f->systems.v[i].name, name))
			return i;
	snprintf(s.name, sizeof s.name, "%s", name);
	PM_VEC_PUSH(&f->systems, s);
	return f->systems.n - 1;
}

/* ---- attempts ---- */

/* What an attempt adds up to over the graphs of a task. */
typedef struct Sum {
	size_t n, n_seen, n_right, n_matched, n_timed, n_best;
	int compile_failed;
	double log_speed, log_best;
} Sum;

static int is_right(const PmSysCell *c)
{
	return !strcmp(c->status, "correct") && c->smallest_t <= T_RIGHT;
}

static double best_seconds(const PmSystems *s, const PmSysGraph *g, const int *baseline, PmSysClock clock)
{
	double best = INFINITY;

	for (size_t k = 0; k < s->n; k++)
		if ((baseline[k] || k == s->reference) && is_right(&g->cell[k]) &&
		    g->cell[k].seconds[clock] > 0)
			best = fmin(best, g->cell[k].seconds[clock]);
	return isfinite(best) ? best : NAN;
}

/* `seconds` is the cell's own time, or that of the best baseline. */
static void add_cell(Sum *sum, const PmSysCell *c, double seconds, double reference, double best)
{
	sum->n++;
	sum->n_seen += *c->status != 0;
	sum->compile_failed |= !strcmp(c->status, "compile_fail");
	sum->n_matched += c->matched != 0;
	if (!is_right(c))
		return;
	sum->n_right++;
	if (seconds > 0 && reference > 0) {
		sum->n_timed++;
		sum->log_speed += log(reference / seconds);
	}
	if (seconds > 0 && best > 0) {
		sum->n_best++;
		sum->log_best += log(best / seconds);
	}
}

static void take_sum(PmField *f, size_t problem, size_t system, const Sum *sum)
{
	int correct = sum->n > 0 && sum->n_right == sum->n, changed = sum->n_matched > 0;
	/* What was not timed, or is as it was, has a speedup of 1: over 0.5, and not over 1. */
	PmAttempt a = {
		problem,
		system,
		!sum->compile_failed,
		{ correct, 1,
		  correct && changed && sum->n_timed == sum->n ? exp(sum->log_speed / (double)sum->n) : 1 },
		correct && changed && sum->n_best == sum->n ? exp(sum->log_best / (double)sum->n) : NAN
	};

	if (sum->n_seen)
		PM_VEC_PUSH(&f->attempts, a);
}

static void take_problem(PmField *f, size_t problem, const PmSystems *s, const int *baseline,
			 PmSysClock clock)
{
	Sum sum[PM_MAX_SYSTEMS] = { 0 }, wrappers = { 0 };
	size_t n_baselines = 0;

	for (size_t i = 0; i < s->graphs.n; i++) {
		const PmSysGraph *g = &s->graphs.v[i];
		double reference = g->cell[s->reference].seconds[clock],
		       best = best_seconds(s, g, baseline, clock);
		const PmSysCell any = { "correct", 1, PM_T_MIN, { 0 }, "" },
				none = { .smallest_t = PM_T_NEVER };

		if (g->task != f->problems.v[problem].task)
			continue;
		for (size_t k = 0; k < s->n; k++)
			add_cell(&sum[k], &g->cell[k], g->cell[k].seconds[clock], reference, best);
		add_cell(&wrappers, best > 0 ? &any : &none, best, reference, best);
	}
	for (size_t k = 0; k < s->n; k++) {
		n_baselines += baseline[k] != 0;
		take_sum(f, problem, pm_field_system(f, s->name[k], baseline[k]), &sum[k]);
	}
	if (n_baselines > 1)
		take_sum(f, problem, pm_field_system(f, "best of baselines", 1), &wrappers);
}

void pm_field_take_systems(PmField *f, const PmSystems *s, const int *baseline, PmSysClock clock)
{
	snprintf(f->reference, sizeof f->reference, "%s", s->name[s->reference]);
	f->clock = clock;
	for (size_t k = 0; k < s->n; k++)
		pm_field_system(f, s->name[k], baseline[k]);
	for (size_t i = 0; i < f->problems.n; i++)
		take_problem(f, i, s, baseline, clock);
}

/* ---- figures ---- */

static int is_of(const PmField *f, const PmAttempt *a, size_t problem, size_t system)
{
	return a->problem == problem &&
	       (system == PM_FIELD_ALL ? !f->systems.v[a->system].baseline : a->system == system);
}

/* Everything of one problem's attempts. */
typedef struct Tried {
	PM_VEC(PmItem) items;
	int64_t n_compiled, n_correct, n_fast;
	PmItem over_best;
	int over_known;
} Tried;

static void try_out(const PmField *f, size_t problem, size_t system, Tried *t)
{
	t->items.n = 0;
	t->n_compiled = t->n_correct = t->n_fast = 0;
	t->over_known = 0;
	t->over_best = (PmItem){ 0, 0, 0 };
	for (size_t i = 0; i < f->attempts.n; i++) {
		const PmAttempt *a = &f->attempts.v[i];

		if (!is_of(f, a, problem, system))
			continue;
		PM_VEC_PUSH(&t->items, a->item);
		t->n_compiled += a->compiled;
		t->n_correct += a->item.correct;
		t->n_fast += pm_fast_p(&a->item, 1, 1) > 0;
		if (!a->item.correct || !isfinite(a->over_best))
			continue;
		t->over_known = 1;
		t->over_best = pm_best_item((PmItem[]){ t->over_best, { 1, a->item.matched, a->over_best } },
					    2);
	}
}

/* A problem without an attempt is one that every sample failed. */
static PmSampleCount count_of(const Tried *t, int64_t good, int64_t k)
{
	return t->items.n ? (PmSampleCount){ (int64_t)t->items.n, good } : (PmSampleCount){ k, 0 };
}

static PmInterval share_over(const PmItem *item, size_t n, double p)
{
	return pm_wilson((size_t)llround(n ? pm_fast_p(item, n, p) * (double)n : 0), n);
}

static int in_group(const PmProblem *p, PmView view, const char *group)
{
	return !group || !strcmp(view == PM_VIEW_MULTIKERNELBENCH ? p->category : p->level, group);
}

void pm_field_figures(const PmField *f, size_t system, PmView view, const char *group, double p,
		      PmFieldFigures *out)
{
	size_t room = f->problems.n + 1, n = 0;
	PmItem *best = pm_xcalloc(room, sizeof *best), *over = pm_xcalloc(room, sizeof *over);
	PmSampleCount *counts = pm_xcalloc(3 * room, sizeof *counts);
	Tried t = { 0 };
	int over_known = 0;

	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < f->problems.n; i++) {
		if (!in_group(&f->problems.v[i], view, group))
			continue;
		try_out(f, i, system, &t);
		out->n_tried += t.items.n > 0;
		out->n_attempts += t.items.n;
		best[n] = pm_best_item(t.items.v, t.items.n);
		over[n] = t.over_best;
		over_known |= t.over_known;
		counts[n] = count_of(&t, t.n_compiled, f->k);
		counts[room + n] = count_of(&t, t.n_correct, f->k);
		counts[2 * room + n] = count_of(&t, t.n_fast, f->k);
		n++;
	}
	out->n = n;
	for (size_t j = 0; j < PM_N_FAST_P; j++)
		out->fast[j] = share_over(best, n, pm_fast_p_levels[j]);
	for (size_t j = 0; j < PM_N_OVER; j++)
		out->over[j] = share_over(best, n, pm_field_over[j]);
	out->asked = isfinite(p) ? share_over(best, n, p) : (PmInterval){ NAN, NAN, NAN };
	pm_means(best, n, &out->means);
	out->compile_at_k = pm_mean_at_k(counts, n, f->k);
	out->pass_at_k = pm_mean_at_k(counts + room, n, f->k);
	out->fast_at_k = pm_mean_at_k(counts + 2 * room, n, f->k);
	out->average = pm_average_speedup(best, n);
	out->average_over_best = over_known ? pm_average_speedup(over, n).point : NAN;
	PM_VEC_RELEASE(&t.items);
	free(best);
	free(over);
	free(counts);
}
