/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c - the regions of several passes that save most together. */
#include "app/apply/choose.h"

#include "app/apply/apply_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The result of passes run one after the other, or a state on the way there. */
typedef struct State {
	const PmGraph *g; /* borrowed: of the candidates, or the model */
	PmCandidateSet set;
} State;

typedef struct Choose {
	const PmChoosePass *pass;
	size_t n;
	double seconds;
	PmApply *a;
	PmChoice *c;
	State *alone;                 /* by pass: what it makes of the model; g NULL = nothing */
	PM_VEC(PmCandidateSet) order; /* what each order ends with, each set once */
	PM_VEC(uint64_t) seen;        /* states whose orders were run: hash of the set and of what is left */
	PmErr *err;
} Choose;

/* ---- running passes ---- */

static void copy_set(const PmCandidateSet *from, PmCandidateSet *to)
{
	to->v.n = 0;
	for (size_t i = 0; i < from->v.n; i++)
		PM_VEC_PUSH(&to->v, from->v.v[i]);
}

static int has_candidate(const PmCandidateSet *s, uint32_t x)
{
	for (size_t i = 0; i < s->v.n; i++)
		if (s->v.v[i] == x)
			return 1;
	return 0;
}

/* Each pass on the model; here is noted what became of it. */
static PmStatus run_alone(Choose *c)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->n && !st; k++) {
		PmGraph *made = NULL;

		st = pm__apply_run(c->a, c->pass[k].path, c->a->before, c->seconds, &made, c->err);
		if (!st && made && c->a->pass.v[k].n) {
			st = pm_candidates_add(&c->c->all, made, (int)k, NULL, &c->alone[k].set, c->err);
			c->alone[k].g = made;
		} else {
			pm_graph_free(made);
		}
	}
	return st;
}

/* Pass k on a state; *next.g is the same graph when nothing applied. A pass that fails there has no part in
 * this order. */
static PmStatus run_on(Choose *c, const State *s, size_t k, State *next)
{
	PmPassOpts po = { .seconds = c->seconds };
	PmPassOutcome o = { 0 };
	PmStatus st = PM_OK;

	next->g = s->g;
	copy_set(&s->set, &next->set);
	if (s->g == c->a->before) {
		next->g = c->alone[k].g ? c->alone[k].g : s->g;
		copy_set(&c->alone[k].set, &next->set);
		return PM_OK;
	}
	st = pm_pass_apply(c->pass[k].path, s->g, &po, &o, c->err);
	if (!st && o.verdict == PM_VERDICT_OK && o.graph && o.applied) {
		next->g = o.graph;
		st = pm_candidates_add(&c->c->all, o.graph, (int)k, &s->set, &next->set, c->err);
		o.graph = NULL;
	}
	pm_pass_outcome_release(&o);
	return st;
}

/* ---- orders ---- */

static int same_set(const PmCandidateSet *a, const PmCandidateSet *b)
{
	return a->v.n == b->v.n && (!a->v.n || !memcmp(a->v.v, b->v.v, a->v.n * sizeof *a->v.v));
}

static void note_order(Choose *c, const PmCandidateSet *set)
{
	PmCandidateSet copy = { 0 };

	c->c->n_orders++;
	for (size_t i = 0; i < c->order.n; i++)
		if (same_set(&c->order.v[i], set))
			return;
	copy_set(set, &copy);
	PM_VEC_PUSH(&c->order, copy);
}

/* 1 when the orders behind a state were run: two orders of passes that do not touch each other meet there. */
static int was_seen(Choose *c, const State *s, uint32_t left)
{
	uint64_t h = pm_hash64(&left, sizeof left, PM_HASH_SEED);

	h = pm_hash64(s->set.v.v, s->set.v.n * sizeof *s->set.v.v, h);
	for (size_t i = 0; i < c->seen.n; i++)
		if (c->seen.v[i] == h)
			return 1;
	PM_VEC_PUSH(&c->seen, h);
	return 0;
}

/* All orders of the passes `of` (n of them) whose bit is in `left`, behind a state. */
static PmStatus run_orders(Choose *c, const State *s, const size_t *of, size_t n, uint32_t left)
{
	PmStatus st = PM_OK;

	if (was_seen(c, s, left))
		return PM_OK;
	if (!left)
		note_order(c, &s->set);
	for (size_t i = 0; i < n && !st; i++) {
		State next = { 0 };

		if (!(left >> i & 1))
			continue;
		st = run_on(c, s, of[i], &next);
		if (!st)
			st = run_orders(c, &next, of, n, left & ~(1u << i));
		PM_VEC_RELEASE(&next.set.v);
	}
	return st;
}

/* The passes one after the other; back = the last first. */
static PmStatus run_order(Choose *c, const size_t *of, size_t n, int back)
{
	State s = { .g = c->a->before };
	PmStatus st = PM_OK;

	for (size_t i = 0; i < n && !st; i++) {
		State next = { 0 };

		st = run_on(c, &s, of[back ? n - 1 - i : i], &next);
		PM_VEC_RELEASE(&s.set.v);
		s = next;
	}
	if (!st)
		note_order(c, &s.set);
	PM_VEC_RELEASE(&s.set.v);
	return st;
}

static int passes_conflict(const Choose *c, size_t a, size_t b)
{
	const PmCandidateSet *x = &c->alone[a].set, *y = &c->alone[b].set;

	for (size_t i = 0; i < x->v.n; i++)
		for (size_t k = 0; k < y->v.n; k++)
			if (pm_candidates_conflict(&c->c->all.list.v[x->v.v[i]],
						   &c->c->all.list.v[y->v.v[k]]))
				return 1;
	return 0;
}

/* Adds to of[0..n) each pass that applies and conflicts with one of them, `used` noting them. */
static size_t grow_group(const Choose *c, size_t *of, size_t n, char *used)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < c->n; k++)
			if (!used[k] && c->alone[k].g && passes_conflict(c, of[i], k)) {
				used[k] = 1;
				of[n++] = k;
			}
	return n;
}

static int by_number(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static PmStatus run_group(Choose *c, size_t *of, size_t n)
{
	const State model = { .g = c->a->before };
	PmStatus st;

	qsort(of, n, sizeof *of, by_number);
	c->seen.n = 0; /* `left` counts by this group */
	if (n <= PM_CHOOSE_ORDERS)
		return run_orders(c, &model, of, n, (1u << n) - 1);
	st = run_order(c, of, n, 0);
	return st ? st : run_order(c, of, n, 1);
}

/* Few passes are run in all their orders. Of many, those whose regions overlap. */
static PmStatus run_groups(Choose *c)
{
	size_t *of = pm_xcalloc(c->n + 1, sizeof *of), n = 0;
	char *used = pm_xcalloc(c->n + 1, 1);
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->n; k++)
		if (c->alone[k].g)
			of[n++] = k;
	if (n <= PM_CHOOSE_ORDERS) {
		st = n ? run_group(c, of, n) : PM_OK;
	} else {
		for (size_t k = 0; k < c->n && !st; k++) {
			if (used[k] || !c->alone[k].g)
				continue;
			used[k] = 1;
			of[0] = k;
			n = grow_group(c, of, 1, used);
			if (n > 1)
				st = run_group(c, of, n);
		}
	}
	free(of);
	free(used);
	return st;
}

/* ---- what is best ---- */

static double saved_by(const Choose *c, const PmCandidate *x)
{
	return c->pass[x->pass].factor * (x->before.seconds - x->after.seconds);
}

/* Of all candidates; those that are there already are computed again, to the same. */
static void find_gains(Choose *c)
{
	PmChoice *o = c->c;

	o->gain = pm_xrealloc(o->gain, o->all.list.n + 1, sizeof *o->gain);
	for (size_t i = 0; i < o->all.list.n; i++) {
		const PmCandidate *x = &o->all.list.v[i];

		o->gain[i] = o->all.cost ? saved_by(c, x) : (double)x->n - 1;
	}
}

static void select_set(Choose *c, PmCandidateSet *out)
{
	PmChoice *o = c->c;
	size_t n = o->all.list.n;
	PM_VEC(PmSelectEdge) edge = { 0 };
	PmRegionSet s;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			if (pm_candidates_conflict(&o->all.list.v[i], &o->all.list.v[k]))
				PM_VEC_PUSH(&edge, ((PmSelectEdge){ i, k }));
	pm_select_regions(o->gain, n, edge.v, edge.n, &s);
	out->v.n = 0;
	for (uint32_t i = 0; i < n; i++)
		if (s.taken[i])
			PM_VEC_PUSH(&out->v, i);
	o->n_greedy = s.n_greedy;
	o->largest = s.largest;
	pm_region_set_release(&s);
	PM_VEC_RELEASE(&edge);
}

/* Kernels that wait for each other: one after the other is put in, by gain, and left out where it closes a
 * circle. */
static PmStatus without_circles(Choose *c, PmCandidateSet *set, PmGraph **g, PmNode *kernel)
{
	PmCandidateSet left = { 0 }, ok = { 0 };
	PmStatus st = PM_OK;

	copy_set(set, &left);
	while (left.v.n && !st) {
		size_t best = 0;
		PmGraph *made = NULL;

		for (size_t i = 1; i < left.v.n; i++)
			if (c->c->gain[left.v.v[i]] > c->c->gain[left.v.v[best]])
				best = i;
		PM_VEC_PUSH(&ok.v, left.v.v[best]);
		left.v.v[best] = left.v.v[--left.v.n];
		st = pm_candidates_build(&c->c->all, &ok, kernel, &made, c->err);
		if (st == PM_DECLINED) {
			ok.v.n--;
			c->c->n_circles++;
			st = PM_OK;
		}
		pm_graph_free(made);
	}
	copy_set(&ok, set);
	if (!st)
		st = pm_candidates_build(&c->c->all, set, kernel, g, c->err);
	PM_VEC_RELEASE(&left.v);
	PM_VEC_RELEASE(&ok.v);
	return st;
}

/* What a call of the rewritten model takes by the plan, and what its kernels save more or less than modelled.
 * Without a plan: its nodes. */
static double predict(const Choose *c, const PmGraph *g, const PmCandidateSet *set)
{
	PmPlanStats stats;
	double sum;

	if (!c->c->all.cost || pm_graph_plan_stats(g, NULL, 0, NULL, &stats, NULL))
		return (double)pm_graph_n_nodes(g);
	sum = stats.modelled_seconds;
	for (size_t i = 0; i < set->v.n; i++) {
		const PmCandidate *x = &c->c->all.list.v[set->v.v[i]];

		sum += x->before.seconds - x->after.seconds - saved_by(c, x);
	}
	return sum;
}

/* Keeps the set when it is the best so far. *seconds: what it takes. */
static PmStatus consider(Choose *c, PmCandidateSet *set, double *seconds)
{
	PmNode *kernel = pm_xcalloc(set->v.n + 1, sizeof *kernel);
	PmGraph *g = NULL;
	PmStatus st = pm_candidates_build(&c->c->all, set, kernel, &g, c->err);

	if (st == PM_DECLINED)
		st = without_circles(c, set, &g, kernel);
	if (!st) {
		*seconds = predict(c, g, set);
		if (!c->a->after || *seconds < c->c->predicted) {
			pm_graph_free(c->a->after);
			free(c->c->kernel);
			c->a->after = g;
			c->c->kernel = kernel;
			c->c->predicted = *seconds;
			copy_set(set, &c->c->taken);
			return PM_OK;
		}
	}
	pm_graph_free(g);
	free(kernel);
	return st;
}

/* What the passes still find in the model that the selection made, the most promising pass first. */
static PmStatus offer_again(Choose *c, PmCandidateSet *set)
{
	PmNode *kernel = pm_xcalloc(set->v.n + 1, sizeof *kernel);
	State s = { 0 };
	PmGraph *g = NULL;
	PmStatus st = pm_candidates_build(&c->c->all, set, kernel, &g, c->err);

	free(kernel);
	if (st == PM_DECLINED)
		return PM_OK;
	if (st)
		return st;
	PM_VEC_PUSH(&c->c->all.graph, g);
	s.g = g;
	copy_set(set, &s.set);
	for (size_t k = 0; k < c->n && !st; k++) {
		State next = { 0 };

		if (!c->alone[k].g)
			continue;
		st = run_on(c, &s, k, &next);
		PM_VEC_RELEASE(&s.set.v);
		s = next;
	}
	find_gains(c);
	set->v.n = 0;
	for (size_t i = 0; i < s.set.v.n; i++)
		if (c->c->gain[s.set.v.v[i]] > 0)
			PM_VEC_PUSH(&set->v, s.set.v.v[i]);
	PM_VEC_RELEASE(&s.set.v);
	return st;
}

static PmStatus find_best(Choose *c)
{
	PmCandidateSet set = { 0 };
	double seconds = 0, order = 0;
	PmStatus st;

	find_gains(c);
	st = consider(c, &set, &seconds); /* the model as it is */
	select_set(c, &set);
	if (!st)
		st = consider(c, &set, &seconds);
	if (!st)
		st = offer_again(c, &set);
	if (!st)
		st = consider(c, &set, &seconds);
	c->c->by_selection = 1;
	c->c->best_order = NAN;
	for (size_t i = 0; i < c->order.n && !st; i++) {
		double before = c->c->predicted;

		st = consider(c, &c->order.v[i], &order);
		if (!st && !(order >= c->c->best_order))
			c->c->best_order = order;
		if (c->c->predicted < before)
			c->c->by_selection = 0;
	}
	PM_VEC_RELEASE(&set.v);
	return st;
}

/* ---- the account ---- */

static void find_losses(Choose *c)
{
	PmChoice *o = c->c;

	for (uint32_t i = 0; i < o->all.list.n; i++) {
		const PmCandidate *x = &o->all.list.v[i];
		PmLoss l = { .loser = i, .winner = o->all.list.n };

		if (!x->alone || has_candidate(&o->taken, i))
			continue;
		for (size_t k = 0; k < o->taken.v.n; k++) {
			uint32_t w = o->taken.v.v[k];

			if (o->all.list.v[w].pass != x->pass &&
			    pm_candidates_conflict(x, &o->all.list.v[w]) &&
			    (l.winner == o->all.list.n || o->gain[w] > o->gain[l.winner]))
				l.winner = w;
		}
		if (!(o->gain[i] > 0)) {
			o->n_useless++;
		} else if (l.winner < o->all.list.n) {
			l.by = o->gain[l.winner] - o->gain[i];
			PM_VEC_PUSH(&o->loss, l);
		}
	}
}

static PmStatus account(Choose *c)
{
	PmApply *a = c->a;
	int *made_by = pm_xcalloc(pm_graph_node_limit(a->after) + 1, sizeof *made_by);
	PmStatus st;

	for (size_t k = 0; k < a->pass.n; k++)
		a->pass.v[k].n = 0;
	for (size_t i = 0; i < c->c->taken.v.n; i++) {
		int pass = c->c->all.list.v[c->c->taken.v.v[i]].pass;

		made_by[c->c->kernel[i].id] = 1 + pass;
		a->pass.v[pass].n++;
	}
	a->applied = (int64_t)c->c->taken.v.n;
	st = pm__apply_account(a, made_by, c->err);
	free(made_by);
	return st;
}

static PmNodeCost *model_cost(const PmGraph *g)
{
	PmNodeCost *cost;
	PmPlan *p = NULL;

	if (pm_plan_new(g, NULL, 0, &p, NULL))
		return NULL;
	cost = pm_xcalloc(pm_graph_node_limit(g) + 1, sizeof *cost);
	pm_plan_node_costs(p, NULL, cost);
	pm_plan_free(p);
	return cost;
}

PmStatus pm_choose(PmGraph *g, const PmChoosePass *pass, size_t n, double seconds, PmApply *a,
		   PmChoice *choice, PmErr *err)
{
	Choose c = { .pass = pass, .n = n, .seconds = seconds, .a = a, .c = choice, .err = err };
	PmStatus st;

	*choice = (PmChoice){ 0 };
	*a = (PmApply){ 0 };
	st = pm_graph_clone(g, &a->before, err); /* clones of a clone have its ids */
	pm_graph_free(g);
	if (st)
		return st;
	pm_candidates_init(&choice->all, a->before, model_cost(a->before));
	c.alone = pm_xcalloc(n + 1, sizeof *c.alone);
	st = run_alone(&c);
	if (!st)
		st = run_groups(&c);
	if (!st)
		st = find_best(&c);
	if (!st) {
		find_losses(&c);
		st = account(&c);
	}
	for (size_t k = 0; k < n; k++)
		PM_VEC_RELEASE(&c.alone[k].set.v);
	for (size_t i = 0; i < c.order.n; i++)
		PM_VEC_RELEASE(&c.order.v[i].v);
	PM_VEC_RELEASE(&c.order);
	PM_VEC_RELEASE(&c.seen);
	free(c.alone);
	return st;
}

void pm_choice_release(PmChoice *c)
{
	pm_candidates_release(&c->all);
	PM_VEC_RELEASE(&c->taken.v);
	PM_VEC_RELEASE(&c->loss);
	free(c->kernel);
	free(c->gain);
	*c = (PmChoice){ 0 };
}
