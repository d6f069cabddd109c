/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - matching one pattern at one value.
 *
 * Goals ("this value is that pattern node") form a linked list; a choice point keeps the list as it was and
 * the sizes of everything that grew since, so going back is cheap and nothing is copied. Commuting operands,
 * ALT and OPT make choices. Goals of a branch that failed are reclaimed with it.
 */
#include "matcher/pattern/match.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
	/* On one path every pattern node becomes a goal at most once, and a goal leaves at most one choice.
	 */
	MAX_GOALS = PM_MAX_PATTERN_NODES + 1,
	MAX_CHOICES = PM_MAX_PATTERN_NODES + 1
};

typedef struct Goal {
	uint32_t pat;
	PmValue value;
	PmNode user;
	uint32_t operand;
	uint32_t next; /* goal number + 1; 0 = end */
} Goal;

typedef struct Mark {
	uint32_t goals, bound, nodes, kept, as, depth;
} Mark;

typedef struct Choice {
	uint32_t goal; /* to be tried again (number) */
	uint32_t alt;  /* in this way */
	Mark mark;
} Choice;

typedef struct Matcher {
	const PmGraph *g;
	const PmPattern *p;
	PmMatched *m;
	PmMiss miss;
	int close; /* see closeness() */
	Goal goal[MAX_GOALS];
	Choice choice[MAX_CHOICES];
	uint32_t n_goals, n_choices;
	uint32_t bound; /* bit per slot */
	uint32_t n_as;
	PmValue as[PM_MAX_PATTERN_NODES]; /* values named by AS */
	uint32_t depth, steps;
	uint32_t todo; /* first goal + 1 */
} Matcher;

/* Of two failures after the same number of operators, the one that tells more: the right operator with the
 * wrong details, then another operator, then no operator at all. */
static int closeness(const Matcher *x, PmMissKind kind, PmValue v)
{
	if (kind != PM_MISS_OP)
		return 2;
	return pm_value_def(x->g, v, NULL).id != 0;
}

static int miss(Matcher *x, PmMissKind kind, const Goal *goal, uint32_t attr, PmValue other)
{
	int close = closeness(x, kind, goal->value);

	if (x->miss.kind == PM_MISS_NONE || x->depth > x->miss.depth ||
	    (x->depth == x->miss.depth && close > x->close)) {
		x->close = close;
		x->miss.kind = kind;
		x->miss.depth = x->depth;
		x->miss.pat = goal->pat;
		x->miss.value = goal->value;
		x->miss.user = goal->user;
		x->miss.operand = goal->operand;
		x->miss.attr = attr;
		x->miss.other = other;
		x->miss.outside = (PmNode){ 0 };
	}
	return 0;
}

static Mark mark(const Matcher *x)
{
	return (Mark){ x->n_goals, x->bound, x->m->n_nodes, x->m->n_kept, x->n_as, x->depth };
}

static int put(Matcher *x, uint32_t pat, PmValue v, PmNode user, uint32_t operand)
{
	if (x->n_goals == MAX_GOALS)
		return 0;
	x->goal[x->n_goals] = (Goal){ pat, v, user, operand, x->todo };
	x->todo = ++x->n_goals;
	return 1;
}

/* Remembers that `goal` may be tried again as `alt`. */
static int choose(Matcher *x, uint32_t goal, uint32_t alt, const Mark *before)
{
	if (x->n_choices == MAX_CHOICES)
		return 0;
	x->choice[x->n_choices++] = (Choice){ goal, alt, *before };
	return 1;
}

/* ---- attributes ---- */

static int is_axis_attr(const char *name)
{
	return !strcmp(name, "axis") || !strcmp(name, "axes");
}

/* The rank that a negative axis of this node counts from. */
static int axis_rank(const PmGraph *g, PmNode n)
{
	PmValue v = pm_node_op(g, n) == PM_OP_Unsqueeze ? pm_node_out(g, n, 0) : pm_node_in(g, n, 0);

	return pm_value_type(g, v)->rank;
}

static int same_float(double a, double b)
{
	float x = (float)a, y = (float)b;

	return (isnan(x) && isnan(y)) || x == y || fabsf(x - y) <= 1e-6f * fmaxf(fabsf(x), fabsf(y));
}

static int attr_matches(const PmGraph *g, PmNode n, const PmPatternAttr *want)
{
	const PmAttrDesc *desc = pm_op_attr_desc(pm_node_op(g, n), want->name);
	const PmAttr *have = pm_node_attr(g, n, want->name);
	PmAttr dflt = { 0 };
	int rank = is_axis_attr(want->name) ? axis_rank(g, n) : -1;

	if (!desc)
		return 0;
	if (!have) {
		if (!desc->has_default)
			return 0;
		dflt = (PmAttr){
			.name = desc->name, .kind = desc->kind, .i = desc->i, .f = desc->f, .s = desc->s
		};
		have = &dflt;
	}
	switch (have->kind) {
	case PM_ATTR_INT:
	case PM_ATTR_INTS:
		if (want->kind != PM_PATTR_INTS || want->n_ints != (have->kind == PM_ATTR_INT ? 1 : have->n))
			return 0;
		for (uint32_t k = 0; k < want->n_ints; k++) {
			int64_t x = want->ints[k], y = have->kind == PM_ATTR_INT ? have->i : have->ints[k];

			if (rank >= 0 && x < 0 && x >= -rank)
				x += rank;
			if (x != y)
				return 0;
		}
		return 1;
	case PM_ATTR_FLOAT:
		return want->kind == PM_PATTR_FLOAT ? same_float(want->f, have->f)
		       : want->kind == PM_PATTR_INTS && want->n_ints == 1
			       ? same_float((double)want->ints[0], have->f)
			       : 0;
	case PM_ATTR_STRING:
		return want->kind == PM_PATTR_STR && have->s && !strcmp(want->s, have->s);
	default:
		return 0;
	}
}

static int holds_default(const PmGraph *g, PmNode n, const PmAttrDesc *d)
{
	const PmAttr *a = pm_node_attr(g, n, d->name);

	if (!a)
		return 1;
	if (!d->has_default)
		return 0;
	switch (d->kind) {
	case PM_ATTR_INT:
		return a->kind == PM_ATTR_INT && a->i == d->i;
	case PM_ATTR_FLOAT:
		return a->kind == PM_ATTR_FLOAT && same_float(a->f, d->f);
	case PM_ATTR_STRING:
		return a->kind == PM_ATTR_STRING && !strcmp(a->s, d->s ? d->s : "");
	case PM_ATTR_INTS:
		return a->kind == PM_ATTR_INTS && a->n == 0;
	default:
		return 0;
	}
}

static int mentioned(const PmPatternNode *pn, const char *name)
{
	for (uint32_t k = 0; k < pn->n_attr; k++)
		if (!strcmp(pn->attr[k].name, name))
			return 1;
	return 0;
}

static int match_attrs(Matcher *x, const Goal *goal, const PmPatternNode *pn, PmNode n)
{
	const PmOpDesc *d = pm_op_desc(pn->op);

	for (uint32_t k = 0; k < pn->n_attr; k++)
		if (!attr_matches(x->g, n, &pn->attr[k]))
			return miss(x, PM_MISS_ATTR, goal, k, (PmValue){ 0 });
	if (pn->flags & PM_PF_ANYATTR)
		return 1;
	for (int k = 0; k < d->n_attrs; k++) {
		/* Cast's target is the element type of its result: TYPED says it. */
		if (pn->op == PM_OP_Cast && !strcmp(d->attrs[k].name, "to"))
			continue;
		if (!mentioned(pn, d->attrs[k].name) && !holds_default(x->g, n, &d->attrs[k]))
			return miss(x, PM_MISS_DEFAULT, goal, (uint32_t)k, (PmValue){ 0 });
	}
	return 1;
}

/* ---- the kinds of goals ---- */

static int match_type(Matcher *x, const Goal *goal, const PmPatternNode *pn)
{
	const PmType *t = pm_value_type(x->g, goal->value);

	if (pn->dtypes && (t->dtype < 0 || !(pn->dtypes >> t->dtype & 1)))
		return miss(x, PM_MISS_DTYPE, goal, 0, (PmValue){ 0 });
	if (pn->rank >= 0 && t->rank != pn->rank)
		return miss(x, PM_MISS_RANK, goal, 0, (PmValue){ 0 });
	return 1;
}

static int bind(Matcher *x, const Goal *goal, const PmPatternNode *pn)
{
	uint32_t s = (uint32_t)pn->slot;

	if (pn->slot < 0)
		return 1;
	if (x->bound >> s & 1 && x->m->slot[s].id != goal->value.id)
		return miss(x, PM_MISS_SLOT, goal, 0, x->m->slot[s]);
	x->bound |= 1u << s;
	x->m->slot[s] = goal->value;
	if (pn->kind != PM_PK_VAR && x->n_as < PM_MAX_PATTERN_NODES)
		x->as[x->n_as++] = goal->value;
	return 1;
}

static int match_num(Matcher *x, const Goal *goal, const PmPatternNode *pn)
{
	const PmFloatType *f = pm_float_type(pm_value_type(x->g, goal->value)->dtype);
	double v;
	size_t n;

	if (pm_value_const_floats(x->g, goal->value, &v, 1, &n) != PM_OK || n != 1)
		return miss(x, PM_MISS_NUM, goal, 0, (PmValue){ 0 });
	if (v == pn->num || (isnan(v) && isnan(pn->num)))
		return 1;
	if (f && isfinite(v) && isfinite(pn->num) &&
	    fabs(v - pn->num) <= f->pattern * fmax(fabs(v), fabs(pn->num)))
		return 1;
	return miss(x, PM_MISS_NUM, goal, 0, (PmValue){ 0 });
}

static void keep(Matcher *x, const Goal *goal, const PmPatternNode *pn)
{
	PmNode n = pm_value_def(x->g, goal->value, NULL);

	if (pn->flags & PM_PF_KEEP && n.id && x->m->n_kept < PM_MAX_MATCH_NODES)
		x->m->kept[x->m->n_kept++] = n;
}

static void add_node(Matcher *x, const Goal *goal, const PmPatternNode *pn, PmNode n)
{
	PmMatched *m = x->m;
	uint32_t i;

	for (i = 0; i < m->n_nodes && m->node[i].id != n.id; i++)
		;
	if (i == m->n_nodes && i < PM_MAX_MATCH_NODES)
		m->node[m->n_nodes++] = n;
	keep(x, goal, pn);
}

/* Operands that are there: omitted ones at the end do not count. */
static uint32_t operand_count(const PmGraph *g, PmNode n)
{
	size_t k = pm_node_n_in(g, n);

	while (k && !pm_node_in(g, n, k - 1).id)
		k--;
	return (uint32_t)k;
}

/* An OP node, or OPT where its operator is there. alt 1: operands 0 and 1 swapped. */
static int match_op(Matcher *x, uint32_t gi, uint32_t alt, const Mark *before)
{
	const Goal goal = x->goal[gi];
	const PmPatternNode *pn = &x->p->node[goal.pat];
	size_t result = 0;
	PmNode n = pm_value_def(x->g, goal.value, &result);
	uint32_t have, want = pn->n_in, rest;

	if (!n.id || pm_node_op(x->g, n) != pn->op || pm_op_desc(pn->op)->flags & PM_OPF_RANDOM)
		return miss(x, PM_MISS_OP, &goal, 0, (PmValue){ 0 });
	if (result != pn->result)
		return miss(x, PM_MISS_RESULT, &goal, 0, (PmValue){ 0 });
	have = operand_count(x->g, n);
	rest = pn->kind == PM_PK_OPT || x->p->node[pn->in[want - 1]].kind == PM_PK_REST;
	if (pn->kind == PM_PK_OP && rest)
		want--;
	if (have < want || (have > want && !rest))
		return miss(x, PM_MISS_COUNT, &goal, 0, (PmValue){ 0 });
	if (!match_attrs(x, &goal, pn, n))
		return 0;
	if (pn->kind == PM_PK_OP && alt == 0 && want >= 2 && !(pn->flags & PM_PF_ORDERED) &&
	    pm_op_desc(pn->op)->flags & PM_OPF_COMM &&
	    pm_node_in(x->g, n, 0).id != pm_node_in(x->g, n, 1).id && !choose(x, gi, 1, before))
		return miss(x, PM_MISS_BUDGET, &goal, 0, (PmValue){ 0 });
	add_node(x, &goal, pn, n);
	x->depth++;
	for (uint32_t k = want; k-- > 0;) {
		uint32_t at = alt == 1 && pn->kind == PM_PK_OP && k < 2 ? 1 - k : k;

		if (!put(x, pn->in[k], pm_node_in(x->g, n, at), n, at))
			return miss(x, PM_MISS_BUDGET, &goal, 0, (PmValue){ 0 });
	}
	return 1;
}

static int match_goal(Matcher *x, uint32_t gi, uint32_t alt, const Mark *before)
{
	const Goal goal = x->goal[gi];
	const PmPatternNode *pn = &x->p->node[goal.pat];

	if (!goal.value.id)
		return miss(x, PM_MISS_ABSENT, &goal, 0, (PmValue){ 0 });
	if (!match_type(x, &goal, pn) || !bind(x, &goal, pn))
		return 0;
	switch (pn->kind) {
	case PM_PK_OP:
		return match_op(x, gi, alt, before);
	case PM_PK_NUM:
		return match_num(x, &goal, pn);
	case PM_PK_ALT:
		keep(x, &goal, pn);
		if ((alt + 1 < pn->n_in && !choose(x, gi, alt + 1, before)) ||
		    !put(x, pn->in[alt], goal.value, goal.user, goal.operand))
			return miss(x, PM_MISS_BUDGET, &goal, 0, (PmValue){ 0 });
		return 1;
	case PM_PK_OPT:
		if (alt == 0) {
			PmNode n = pm_value_def(x->g, goal.value, NULL);

			if (n.id && pm_node_op(x->g, n) == pn->op) {
				if (!choose(x, gi, 2, before))
					return miss(x, PM_MISS_BUDGET, &goal, 0, (PmValue){ 0 });
				return match_op(x, gi, 0, before);
			}
		}
		keep(x, &goal, pn);
		if (!put(x, pn->in[0], goal.value, goal.user, goal.operand))
			return miss(x, PM_MISS_BUDGET, &goal, 0, (PmValue){ 0 });
		return 1;
	default: /* VAR, ANY; REST never becomes a goal */
		return 1;
	}
}

/* ---- the end of a match ---- */

static int in_values(const PmValue *v, uint32_t n, PmValue x)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].id == x.id)
			return 1;
	return 0;
}

static int in_nodes(const PmNode *v, uint32_t count, PmNode n)
{
	for (uint32_t i = 0; i < count; i++)
		if (v[i].id == n.id)
			return 1;
	return 0;
}

/* 1 when v is a graph output or used by a node outside the match, which is *who (none for an output). */
static int escapes(const Matcher *x, PmValue v, PmNode *who)
{
	*who = (PmNode){ 0 };
	if (pm_value_is_output(x->g, v))
		return 1;
	for (PmUse u = pm_value_first_use(x->g, v); u.slot; u = pm_use_next(x->g, u))
		if (!in_nodes(x->m->node, x->m->n_nodes, u.node)) {
			*who = u.node;
			return 1;
		}
	return 0;
}

static int finish(Matcher *x)
{
	PmMatched *m = x->m;
	Goal goal = { 0 };
	PmNode who;

	m->n_open = 0;
	for (uint32_t i = 0; i < m->n_nodes; i++)
		for (size_t k = 0; k < pm_node_n_out(x->g, m->node[i]); k++) {
			PmValue v = pm_node_out(x->g, m->node[i], k);

			if (v.id == m->root.id || in_nodes(m->kept, m->n_kept, m->node[i]) ||
			    !escapes(x, v, &who))
				continue;
			if (in_values(x->as, x->n_as, v) && m->n_open < PM_MAX_MATCH_NODES) {
				m->open[m->n_open++] = v;
				continue;
			}
			goal.value = v;
			if (x->miss.kind == PM_MISS_NONE || x->depth >= x->miss.depth) {
				x->miss.kind = PM_MISS_NONE;
				miss(x, PM_MISS_ESCAPE, &goal, 0, (PmValue){ 0 });
				x->miss.outside = who;
			}
			return 0;
		}
	return 1;
}

static int back(Matcher *x, uint32_t *goal, uint32_t *alt, Mark *before)
{
	const Choice *c;

	if (!x->n_choices)
		return 0;
	c = &x->choice[--x->n_choices];
	*goal = c->goal;
	*alt = c->alt;
	*before = c->mark;
	x->n_goals = c->mark.goals;
	x->bound = c->mark.bound;
	x->m->n_nodes = c->mark.nodes;
	x->m->n_kept = c->mark.kept;
	x->n_as = c->mark.as;
	x->depth = c->mark.depth;
	x->todo = x->goal[c->goal].next;
	return 1;
}

static int search(Matcher *x)
{
	uint32_t goal = 0, alt = 0;
	Mark before = { 0 };
	int more = 1;

	put(x, 0, x->m->root, (PmNode){ 0 }, 0);
	while (more) {
		int ok = 1;

		if (!x->todo) {
			if (finish(x))
				return 1;
			ok = 0;
		} else {
			goal = x->todo - 1;
			alt = 0;
			x->todo = x->goal[goal].next;
			before = mark(x);
		}
		while (ok >= 0) {
			if (ok && ++x->steps > PM_MATCH_STEPS) {
				x->miss.kind = PM_MISS_BUDGET;
				return 0;
			}
			if (ok && match_goal(x, goal, alt, &before))
				break;
			ok = 1;
			if (!back(x, &goal, &alt, &before)) {
				more = 0;
				break;
			}
		}
	}
	return 0;
}

int pm_match(const PmGraph *g, const PmPattern *p, PmValue root, PmMatched *m, PmMiss *why)
{
	Matcher x; /* a few KiB, of which only what is used is set */
	int found;

	x.g = g;
	x.p = p;
	x.m = m;
	x.miss = (PmMiss){ 0 };
	x.close = 0;
	x.n_goals = x.n_choices = x.bound = x.n_as = x.depth = x.steps = x.todo = 0;
	m->root = root;
	m->n_nodes = m->n_kept = m->n_open = 0;
	memset(m->slot, 0, sizeof m->slot);
	found = p->node[0].kind == PM_PK_OP && search(&x);
	if (!found && why)
		*why = x.miss;
	return found;
}
