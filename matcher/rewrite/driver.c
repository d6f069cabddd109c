/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c - trying rules at nodes, calling check and rewrite, counting. */
#include "matcher/rewrite/driver.h"

#include "ir/infer/infer.h"
#include "matcher/rewrite/rewrite.h"
#include "matcher/rewrite/session.h"
#include "matcher/rewrite/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef PM_VEC(PmNode) NodeList;

typedef struct Driver {
	PmGraph *g;
	PmSession s;
	const PmDriverOpts *opts;
	PmDriverResult *res;
	NodeList by_op[PM_N_OPS]; /* in execution order, as of the start of the sweep */
	NodeList all;
	PmTally *tally;         /* by rule */
	PM_VEC(uint32_t) taken; /* by node id: 1 + the rule that fused it; 0 = none */
	/* The rule whose turn it is, and its root. */
	uint32_t turn;
	PmNode root;
	PmNodeSet set;
	PmMatched m;
} Driver;

/* ---- counting ---- */

static void declined(Driver *d, int matched, const char *why)
{
	pm__tally_declined(&d->tally[d->turn], d->g, d->root, matched, why);
}

static void note_misuse(Driver *d, PmRuleStats *st, const PmErr *e)
{
	st->failed++;
	if (d->res->misuse.code == PM_OK)
		d->res->misuse = *e;
}

/* ---- callbacks ---- */

/* Settles what a callback returned against what it did. PM_OK to go on, PM_DECLINED otherwise. */
static PmStatus settle(Driver *d, const PmRuleEntry *rule, const char *callback, PmStatus ret, int matched,
		       PmRuleStats *st)
{
	PmSession *s = &d->s;
	PmErr e;

	if (s->misuse.code != PM_OK) {
		note_misuse(d, st, &s->misuse);
		return PM_DECLINED;
	}
	if (s->over) {
		declined(d, matched, "over the step budget of a callback");
		return PM_DECLINED;
	}
	if (ret == PM_OK)
		return PM_OK;
	if (ret > 0) {
		declined(d, matched, s->why[0] ? s->why : "declined without a reason");
		return PM_DECLINED;
	}
	pm_err_init(&e);
	pm_err(&e, PM_E_INVALID,
	       "The %s callback of rule '%s' failed with status %d (%s); to decline, return pm_decline().",
	       callback, rule->name, (int)ret, pm_status_name(ret));
	note_misuse(d, st, &e);
	return PM_DECLINED;
}

static PmVals handles(PmSession *s, PmArena *a, const PmValue *v, size_t n)
{
	PmVal *h = pm_arena_alloc(a, n * sizeof *h);

	for (size_t i = 0; i < n; i++)
		h[i] = pm__handle(s, v[i]);
	return (PmVals){ h, (uint32_t)n };
}

static void fill_match(Driver *d, PmArena *a, const PmValue *slot, uint32_t n_slots, PmMatch *m)
{
	PmVal *node = pm_arena_alloc(a, d->set.node.n * sizeof *node);

	*m = (PmMatch){ .struct_size = sizeof *m, .n_slots = n_slots, .serial = d->s.serial };
	m->root = pm__handle(&d->s, d->set.root);
	m->v = handles(&d->s, a, slot, n_slots).v;
	m->in = handles(&d->s, a, d->set.in.v, d->set.in.n);
	m->out = handles(&d->s, a, d->set.out.v, d->set.out.n);
	for (size_t i = 0; i < d->set.node.n; i++)
		node[i] = pm__handle(&d->s, pm_node_out(d->g, d->set.node.v[i], 0));
	m->node = (PmVals){ node, (uint32_t)d->set.node.n };
}

/* A fused node takes the place of the last of its nodes in the order, when that keeps the order right. */
static void place(Driver *d, PmNode n, uint32_t pos)
{
	PmSession *s = &d->s;

	while (s->pos.n <= n.id)
		PM_VEC_PUSH(&s->pos, 0u);
	s->pos.v[n.id] = pos;
	for (size_t k = 0; k < pm_node_n_out(d->g, n); k++)
		for (PmUse u = pm_value_first_use(d->g, pm_node_out(d->g, n, k)); u.slot;
		     u = pm_use_next(d->g, u))
			if (u.node.id >= s->pos.n || s->pos.v[u.node.id] <= pos)
				s->pos_stale = 1;
}

/* Notes who fused the nodes of d->set. */
static void take(Driver *d)
{
	for (size_t i = 0; i < d->set.node.n; i++) {
		while (d->taken.n <= d->set.node.v[i].id)
			PM_VEC_PUSH(&d->taken, 0u);
		d->taken.v[d->set.node.v[i].id] = d->turn + 1;
	}
}

/* What the plugin said about the rewrite that made n. */
static void keep_report(Driver *d, PmNode n)
{
	PmReport r = { .rule = d->turn };
	PmStr node = PM_STR_INIT;

	if (!d->s.report.len || d->res->report.n == PM_MAX_REPORTS)
		return;
	pm_node_describe(d->g, n, &node);
	r.node = pm_xstrdup(node.s);
	r.text = pm_xstrdup(d->s.report.s);
	PM_VEC_PUSH(&d->res->report, r);
	pm_str_release(&node);
}

/* d->set is filled and a round runs: rewrite, then commit. */
static PmStatus rewrite(Driver *d, const PmRuleEntry *rule, PmMatch *pm, const PmValue *slot, PmArena *a,
			PmRuleStats *st)
{
	PmRewriter rw = { .s = &d->s,
			  .set = &d->set,
			  .slot = slot,
			  .n_slots = pm->n_slots,
			  .rule = rule->name,
			  .arena = a };
	uint32_t last = d->s.pos.v[d->set.node.v[d->set.node.n - 1].id];
	size_t expected = d->s.expected.n;
	PmNode n = { 0 };
	PmErr err;
	PmStatus ret;

	rw.as_mask = rule->pattern ? rule->pattern->as_mask : 0;
	d->s.rw = &rw;
	d->s.steps = 0;
	ret = settle(d, rule, "rewrite", rule->rewrite(&rw, pm), 1, st);
	d->s.rw = NULL;
	if (ret) {
		d->s.expected.n = expected;
		return ret;
	}
	pm_err_init(&err);
	if (!rw.described) {
		pm_err(&err, PM_E_INVALID,
		       "The rewrite of rule '%s' returned success but described no kernel.", rule->name);
		note_misuse(d, st, &err);
		return PM_DECLINED;
	}
	ret = pm__commit(&rw, &n, &err);
	if (ret > 0)
		declined(d, 1, d->s.why);
	else if (ret < 0)
		note_misuse(d, st, &err);
	if (ret) {
		d->s.expected.n = expected;
		return PM_DECLINED;
	}
	take(d);
	place(d, n, last);
	keep_report(d, n);
	st->applied++;
	d->res->applied++;
	return PM_OK;
}

/* ---- pattern rules ---- */

/* Operators that the pattern's root wants among the makers of its operands have to be there. */
static int early_reject(const PmGraph *g, const PmPattern *p, PmNode n)
{
	const PmPatternNode *root = &p->node[0];

	for (uint32_t k = 0; k < root->n_in; k++) {
		const PmPatternNode *want = &p->node[root->in[k]];
		size_t i, n_in = pm_node_n_in(g, n);

		if (want->kind != PM_PK_OP)
			continue;
		for (i = 0; i < n_in; i++) {
			PmNode def = pm_value_def(g, pm_node_in(g, n, i), NULL);

			if (def.id && pm_node_op(g, def) == want->op)
				break;
		}
		if (i == n_in)
			return 1;
	}
	return 0;
}

static void try_pattern(Driver *d, const PmRuleEntry *rule, PmNode n, PmRuleStats *st)
{
	const PmPattern *p = rule->pattern;
	PmArena *a;
	PmMatch pm;
	PmMiss miss = { 0 };
	PmStatus ret = PM_OK;

	int rejected = !d->opts->misses && early_reject(d->g, p, n);

	/* With misses wanted, the full match runs anyway: it says what was there instead. */
	pm__tally_tried(&d->tally[d->turn], n, rejected);
	if (rejected)
		return;
	if (!pm_match(d->g, p, pm_node_out(d->g, n, p->node[0].result), &d->m, &miss)) {
		if (miss.kind == PM_MISS_BUDGET || d->opts->misses)
			pm__tally_missed(&d->tally[d->turn], d->g, p, n, &miss);
		return;
	}
	st->matched++;
	a = pm_arena_new(0);
	pm__round_begin(&d->s);
	pm__set_close(&d->s, d->m.node, d->m.n_nodes, d->m.root, d->m.kept, d->m.n_kept, &d->set);
	fill_match(d, a, d->m.slot, p->n_slots, &pm);
	if (rule->check)
		ret = settle(d, rule, "check", rule->check(&pm), 1, st);
	if (!ret)
		rewrite(d, rule, &pm, d->m.slot, a, st);
	pm__round_end(&d->s);
	pm_arena_free(a);
}

/* ---- region rules ---- */

static void try_region(Driver *d, const PmRuleEntry *rule, PmNode n, PmRuleStats *st)
{
	PmRegion r = { .s = &d->s };
	PmArena *a = pm_arena_new(0);
	PmMatch pm;
	PmValue root;
	PmStatus ret;

	pm__tally_tried(&d->tally[d->turn], n, 0);
	pm__round_begin(&d->s);
	d->s.region = &r;
	ret = rule->region(&r, pm__handle(&d->s, pm_node_out(d->g, n, 0)));
	d->s.region = NULL;
	/* A seed from which nothing grows is no event. */
	if (ret == PM_DECLINED && !d->s.why[0] && d->s.misuse.code == PM_OK && !d->s.over)
		goto out;
	ret = settle(d, rule, "region", ret, 0, st);
	if (ret)
		goto out;
	if (pm__region_check(&d->s, &r)) {
		declined(d, 0, d->s.why);
		goto out;
	}
	st->matched++;
	pm__set_close(&d->s, r.node.v, r.node.n, (PmValue){ 0 }, NULL, 0, &d->set);
	if (!d->set.out.n) {
		declined(d, 1, "no result of the proposed region is used");
		goto out;
	}
	root = d->set.out.v[d->set.out.n - 1];
	d->set.root = root;
	fill_match(d, a, NULL, 0, &pm);
	rewrite(d, rule, &pm, NULL, a, st);
out:
	pm__round_end(&d->s);
	PM_VEC_RELEASE(&r.node);
	PM_VEC_RELEASE(&r.has);
	pm_arena_free(a);
}

/* ---- sweeps ---- */

static int may_match(const PmGraph *g, PmNode n)
{
	PmOp op = pm_node_op(g, n);

	return op != PM_OP_NONE && !(pm_op_desc(op)->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_RANDOM));
}

static PmStatus index_nodes(Driver *d, PmErr *err)
{
	PmStatus st = pm__session_order(&d->s, err);
	size_t n = pm_graph_n_nodes(d->g);

	for (int op = 0; op < PM_N_OPS; op++)
		d->by_op[op].n = 0;
	d->all.n = 0;
	for (size_t i = 0; i < n && !st; i++) {
		PmNode x = pm_graph_node_at(d->g, i);

		if (may_match(d->g, x)) {
			PM_VEC_PUSH(&d->by_op[pm_node_op(d->g, x)], x);
			PM_VEC_PUSH(&d->all, x);
		}
	}
	return st;
}

static PmStatus run_rule(Driver *d, const PmRuleEntry *rule, PmRuleStats *st, PmErr *err)
{
	PmTally *tally = &d->tally[d->turn];
	const NodeList *list = rule->pattern ? &d->by_op[rule->pattern->node[0].op] : &d->all;

	if (d->res->misuse.code == PM_OK)
		pm__tally_sweep(tally, d->g, d->taken.v, d->taken.n, d->turn);
	st->ran = st->ran || d->res->misuse.code == PM_OK;
	/* After a wrong use of the interface the pass is refused anyway. */
	for (size_t i = 0; i < list->n && d->res->misuse.code == PM_OK; i++) {
		PmNode n = list->v[rule->pattern ? i : list->n - 1 - i];

		if (pm_node_op(d->g, n) == PM_OP_NONE)
			continue;
		d->root = n;
		if (d->s.pos_stale) {
			PmStatus ret = pm__session_order(&d->s, err);
			if (ret)
				return ret;
		}
		if (rule->pattern)
			try_pattern(d, rule, n, st);
		else
			try_region(d, rule, n, st);
	}
	return PM_OK;
}

static void count_roots(Driver *d, const PmRules *rules)
{
	for (size_t i = 0; i < rules->v.n; i++) {
		const PmPattern *p = rules->v.v[i].pattern;

		d->res->rule[i].roots = (int64_t)(p ? d->by_op[p->node[0].op].n : d->all.n);
	}
}

PmStatus pm_driver_run(PmGraph *g, const PmRules *rules, const PmDriverOpts *opts, PmDriverResult *res,
		       PmErr *err)
{
	static const PmDriverOpts no_opts;
	Driver *d = pm_xcalloc(1, sizeof *d);
	int64_t before = -1;
	PmStatus st = PM_OK;

	memset(res, 0, sizeof *res);
	res->rule = pm_xcalloc(rules->v.n + 1, sizeof *res->rule);
	res->n_rules = rules->v.n;
	d->tally = pm_xcalloc(rules->v.n + 1, sizeof *d->tally);
	for (size_t i = 0; i < rules->v.n; i++) {
		snprintf(res->rule[i].name, sizeof res->rule[i].name, "%s", rules->v.v[i].name);
		d->tally[i].st = &res->rule[i];
	}
	d->g = g;
	d->opts = opts ? opts : &no_opts;
	d->res = res;
	pm__session_init(&d->s, g);
	d->s.reports = d->opts->misses == PM_MISSES_AND_REPORTS;
	while (!st && res->applied != before && res->sweeps < PM_MAX_SWEEPS) {
		before = res->applied;
		res->sweeps++;
		st = index_nodes(d, err);
		if (res->sweeps == 1)
			count_roots(d, rules);
		for (d->turn = 0; d->turn < rules->v.n && !st; d->turn++) {
			const PmRuleEntry *rule = &rules->v.v[d->turn];

			if (!d->opts->only_rule || !strcmp(d->opts->only_rule, rule->name))
				st = run_rule(d, rule, &res->rule[d->turn], err);
		}
	}
	if (!st)
		st = pm_graph_sort(g, err);
	if (!st)
		st = pm_verify(g, err);
	res->expected = d->s.expected.v;
	res->n_expected = d->s.expected.n;
	pm__session_release(&d->s);
	for (int op = 0; op < PM_N_OPS; op++)
		PM_VEC_RELEASE(&d->by_op[op]);
	PM_VEC_RELEASE(&d->all);
	PM_VEC_RELEASE(&d->taken);
	for (size_t i = 0; i < rules->v.n; i++)
		pm__tally_release(&d->tally[i]);
	free(d->tally);
	pm__set_release(&d->set);
	free(d);
	return st;
}

void pm_driver_result_release(PmDriverResult *res)
{
	for (size_t i = 0; i < res->report.n; i++) {
		free(res->report.v[i].node);
		free(res->report.v[i].text);
	}
	PM_VEC_RELEASE(&res->report);
	free(res->rule);
	free(res->expected);
	memset(res, 0, sizeof *res);
}
