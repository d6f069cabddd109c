/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.c - the regions that passes offer for one model. */
#include "app/apply/candidates.h"

#include "app/apply/pairs.h"
#include "ir/infer/infer.h"
#include "matcher/rewrite/same.h"

#include <stdlib.h>
#include <string.h>

void pm_candidates_init(PmCandidates *c, const PmGraph *model, PmNodeCost *cost)
{
	*c = (PmCandidates){ .model = model, .cost = cost };
	c->place = pm_xcalloc(pm_graph_node_limit(model) + 1, sizeof *c->place);
	for (size_t i = 0; i < pm_graph_n_nodes(model); i++)
		c->place[pm_graph_node_at(model, i).id] = (uint32_t)i;
}

static void release_one(PmCandidate *x)
{
	free(x->in);
	free(x->out);
	free(x->node);
}

void pm_candidates_release(PmCandidates *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		release_one(&c->list.v[i]);
	for (size_t i = 0; i < c->graph.n; i++)
		pm_graph_free(c->graph.v[i]);
	PM_VEC_RELEASE(&c->list);
	PM_VEC_RELEASE(&c->graph);
	free(c->cost);
	free(c->place);
	*c = (PmCandidates){ 0 };
}

int pm_candidates_conflict(const PmCandidate *a, const PmCandidate *b)
{
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		if (a->node[i] == b->node[k])
			return 1;
		if (a->node[i] < b->node[k])
			i++;
		else
			k++;
	}
	return 0;
}

/* ---- a kernel as a candidate ---- */

/* The value of the model that a value of the rewritten graph is. What only an unused input of a kernel's body
 * stands for was not walked: it is found by its definition. */
static PmValue value_of(const PmGraph *model, const PmGraph *g, const PmPairs *p, PmValue v)
{
	size_t k = 0;
	PmNode n;

	if (!v.id || p->value[v.id])
		return (PmValue){ p->value[v.id] };
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (pm_graph_input(g, i).id == v.id)
			return pm_graph_input(model, i);
	n = pm_value_def(g, v, &k);
	if (n.id && p->before[n.id])
		return pm_node_out(model, (PmNode){ p->before[n.id] }, k);
	return pm_value_is_const(g, v) ? pm_graph_find_value(model, pm_value_name(g, v)) : (PmValue){ 0 };
}

/* 1 when all values are known. */
static int find_values(const PmCandidates *c, const PmPairs *p, PmCandidate *x)
{
	int all = 1;

	x->n_in = pm_node_n_in(x->g, x->kernel);
	x->n_out = pm_node_n_out(x->g, x->kernel);
	x->in = pm_xcalloc(x->n_in + 1, sizeof *x->in);
	x->out = pm_xcalloc(x->n_out + 1, sizeof *x->out);
	for (size_t k = 0; k < x->n_in; k++) {
		PmValue v = pm_node_in(x->g, x->kernel, k);

		x->in[k] = value_of(c->model, x->g, p, v);
		all &= !v.id || x->in[k].id;
	}
	for (size_t k = 0; k < x->n_out; k++)
		x->out[k].id = p->value[pm_node_out(x->g, x->kernel, k).id];
	return all;
}

static int is_result(const PmCandidate *x, PmValue v)
{
	for (size_t k = 0; k < x->n_out; k++)
		if (x->out[k].id == v.id)
			return 1;
	return 0;
}

/* 1 when nothing needs node n once the kernel gives its results: `gone` says the same of the nodes after it.
 */
static int goes(const PmCandidates *c, const PmCandidate *x, PmNode n, const char *gone)
{
	const PmGraph *g = c->model;

	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		PmValue v = pm_node_out(g, n, k);

		if (is_result(x, v))
			continue;
		if (pm_value_is_output(g, v))
			return 0;
		for (PmUse u = pm_value_first_use(g, v); u.slot; u = pm_use_next(g, u))
			if (!gone[c->place[u.node.id]])
				return 0;
	}
	return 1;
}

static int by_place(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The nodes of the body, and of them those that go. *body is for the digest: the whole of what the kernel
 * computes. `gone` is zeros before and after. */
static void find_nodes(const PmCandidates *c, const PmPairs *p, PmCandidate *x, char *gone, PmStr *body)
{
	const PmGraph *b = pm_pairs_body(x->g, x->kernel);
	PM_VEC(uint32_t) all = { 0 };

	for (uint32_t k = 0; k < pm_graph_node_limit(b); k++) {
		uint32_t id = p->inner[p->base[x->kernel.id] + k];

		if (id)
			PM_VEC_PUSH(&all, c->place[id]);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof *all.v, by_place);
	x->node = pm_xcalloc(all.n + 1, sizeof *x->node);
	for (size_t i = all.n; i-- > 0;)
		gone[all.v[i]] = (char)goes(c, x, pm_graph_node_at(c->model, all.v[i]), gone);
	for (size_t i = 0; i < all.n; i++) {
		pm_str_addf(body, "%u ", all.v[i]);
		if (gone[all.v[i]])
			x->node[x->n++] = all.v[i];
		gone[all.v[i]] = 0;
	}
	PM_VEC_RELEASE(&all);
}

static void add_attr(const PmAttr *a, PmStr *out)
{
	pm_str_addf(out, "\n%s ", a->name);
	if (a->kind == PM_ATTR_STRING)
		pm_str_add_quoted(out, a->s, a->n);
	for (size_t i = 0; i < a->n && a->kind == PM_ATTR_STRINGS; i++)
		pm_str_add_quoted(out, a->strings[i], strlen(a->strings[i]));
	for (size_t i = 0; i < a->n && a->kind == PM_ATTR_INTS; i++)
		pm_str_addf(out, "%lld ", (long long)a->ints[i]);
	if (a->kind == PM_ATTR_INT)
		pm_str_addf(out, "%lld", (long long)a->i);
}

static void digest_of(const PmCandidates *c, const PmStr *body, PmCandidate *x)
{
	PmStr s = PM_STR_INIT;

	pm_str_addf(&s, "%s\n", body->s);
	for (size_t k = 0; k < x->n_in; k++)
		pm_str_addf(&s, "%s ", pm_value_name(c->model, x->in[k]));
	pm_str_add(&s, "=> ");
	for (size_t k = 0; k < x->n_out; k++)
		pm_str_addf(&s, "%s ", x->out[k].id ? pm_value_name(c->model, x->out[k]) : "-");
	for (size_t i = 0; i < pm_node_n_attrs(x->g, x->kernel); i++)
		add_attr(pm_node_attr_at(x->g, x->kernel, i), &s);
	pm_sha256_hex(s.s, s.len, x->digest);
	pm_str_release(&s);
}

/* ---- adding ---- */

static size_t find_digest(const PmCandidates *c, const char *digest)
{
	size_t i = 0;

	while (i < c->list.n && strcmp(c->list.v[i].digest, digest) != 0)
		i++;
	return i;
}

/* What a plan of the graph says of its nodes, by id; owned; NULL = it cannot be planned. */
static PmNodeCost *costs_of(const PmGraph *g)
{
	PmNodeCost *by_node = NULL;
	PmPlan *p = NULL;

	if (!pm_plan_new(g, NULL, 0, &p, NULL)) {
		by_node = pm_xcalloc(pm_graph_node_limit(g) + 1, sizeof *by_node);
		pm_plan_node_costs(p, NULL, by_node);
		pm_plan_free(p);
	}
	return by_node;
}

/* `cost` is of the graph that x stands in; NULL = not known. */
static void add_one(PmCandidates *c, PmCandidate *x, const PmStr *body, const PmNodeCost *cost,
		    PmCandidateSet *out)
{
	size_t at;

	digest_of(c, body, x);
	at = find_digest(c, x->digest);
	PM_VEC_PUSH(&out->v, (uint32_t)at);
	if (at < c->list.n) {
		c->list.v[at].alone |= x->alone && c->list.v[at].pass == x->pass;
		release_one(x);
		return;
	}
	for (size_t k = 0; k < x->n && c->cost; k++)
		pm_node_cost_add(&x->before, &c->cost[pm_graph_node_at(c->model, x->node[k]).id]);
	if (cost)
		x->after = cost[x->kernel.id];
	PM_VEC_PUSH(&c->list, *x);
}

PmStatus pm_candidates_add(PmCandidates *c, PmGraph *after, int pass, const PmCandidateSet *had,
			   PmCandidateSet *out, PmErr *err)
{
	PmPairs p = { 0 };
	PmNodeCost *cost;
	char *gone;
	PmStatus st = pm_pairs_make(c->model, after, &p, err);

	PM_VEC_PUSH(&c->graph, after);
	out->v.n = 0;
	if (st)
		return st;
	cost = costs_of(after);
	gone = pm_xcalloc(pm_graph_n_nodes(c->model) + 1, 1);
	for (size_t i = 0; i < pm_graph_n_nodes(after); i++) {
		PmCandidate x = { .pass = pass, .g = after, .alone = !had };
		PmStr body = PM_STR_INIT;

		x.kernel = pm_graph_node_at(after, i);
		if (pm_node_op(after, x.kernel) != PM_OP_Kernel || p.before[x.kernel.id])
			continue;
		if (find_values(c, &p, &x)) {
			find_nodes(c, &p, &x, gone, &body);
			add_one(c, &x, &body, cost, out);
		} else {
			release_one(&x);
			c->n_lost++;
		}
		pm_str_release(&body);
	}
	if (out->v.n)
		qsort(out->v.v, out->v.n, sizeof *out->v.v, by_place);
	free(gone);
	free(cost);
	pm_pairs_release(&p);
	return PM_OK;
}

/* ---- building ---- */

/* Results that the kernel gives take over the names and types of the values that they are. */
static PmStatus take_over(PmGraph *g, const PmCandidate *x, PmNode n, uint32_t *now, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < x->n_out && !st; k++) {
		PmValue old = x->out[k], is = pm_node_out(g, n, k);
		PmType t = *pm_value_type(g, old);
		char *name;

		if (!old.id) { /* nothing reads it: its type is the body's */
			t = *pm_value_type(x->g, pm_node_out(x->g, x->kernel, k));
			pm_value_set_type(g, is, &t);
			continue;
		}
		name = pm_xstrdup(pm_value_name(g, old));
		pm_graph_replace_uses(g, old, is);
		pm_value_set_type(g, is, &t);
		st = pm_value_set_name(g, old, NULL, err);
		if (!st)
			st = pm_value_set_name(g, is, name, err);
		now[old.id] = is.id;
		free(name);
	}
	return st;
}

static PmStatus put_one(PmGraph *g, const PmCandidate *x, uint32_t *now, PmNode *n, PmErr *err)
{
	PmValue *in = pm_xcalloc(x->n_in + 1, sizeof *in);
	PmStatus st;

	for (size_t k = 0; k < x->n_in; k++)
		in[k].id = now[x->in[k].id];
	st = pm_graph_add_node(g, PM_OP_Kernel, in, x->n_in, x->n_out, n, err);
	free(in);
	if (!st)
		st = pm_node_set_name(g, *n, pm_node_name(x->g, x->kernel), err);
	if (!st)
		st = pm_node_copy_attrs(g, *n, x->g, x->kernel, err);
	return st ? st : take_over(g, x, *n, now, err);
}

static PmStatus fill(const PmCandidates *c, const PmCandidateSet *set, PmGraph *g, PmNode *kernel, PmErr *err)
{
	uint32_t limit = pm_graph_value_limit(c->model), *now = pm_xcalloc(limit + 1, sizeof *now);
	PmStatus st = PM_OK;

	for (uint32_t v = 0; v < limit; v++)
		now[v] = v;
	for (size_t i = 0; i < set->v.n && !st; i++)
		st = put_one(g, &c->list.v[set->v.v[i]], now, &kernel[i], err);
	for (size_t i = 0; i < set->v.n && !st; i++) {
		const PmCandidate *x = &c->list.v[set->v.v[i]];

		for (size_t k = 0; k < x->n_out; k++)
			pm_graph_drop_unused(g, x->out[k]);
	}
	free(now);
	return st;
}

PmStatus pm_candidates_build(const PmCandidates *c, const PmCandidateSet *set, PmNode *kernel, PmGraph **out,
			     PmErr *err)
{
	PmGraph *g = NULL;
	PmStatus st = pm_graph_clone(c->model, &g, err);

	if (!st)
		st = fill(c, set, g, kernel, err);
	if (!st && pm_graph_sort(g, NULL))
		st = PM_DECLINED; /* the model itself is sorted: only kernels can have made the circle */
	if (!st)
		st = pm_verify(g, err);
	if (!st)
		st = pm_rewrite_check(c->model, g, err);
	if (st)
		pm_graph_free(g);
	else
		*out = g;
	return st;
}
