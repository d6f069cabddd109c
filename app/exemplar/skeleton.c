/* SPDX-License-Identifier: Apache-2.0 */
/* skeleton.c - graphs without views, patterns of whole graphs, and the cosine of operators in pairs. */
#include "app/exemplar/skeleton.h"

#include "base/core/hash.h"
#include "matcher/pattern/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- skeletons ---- */

static int is_passed(PmOp op)
{
	uint32_t flags = pm_op_desc(op)->flags;

	if (op == PM_OP_Slice || op == PM_OP_Split)
		return 0;
	return op == PM_OP_Cast || (flags & PM_OPF_VIEW);
}

PmStatus pm_skeleton(const PmGraph *g, PmGraph **out, PmErr *err)
{
	PmGraph *s = NULL;
	PmStatus st = pm_graph_clone(g, &s, err);

	if (st)
		return st;
	for (size_t i = 0; i < pm_graph_n_nodes(s); i++) {
		PmNode n = pm_graph_node_at(s, i);

		if (is_passed(pm_node_op(s, n)) && pm_node_in(s, n, 0).id)
			pm_graph_replace_uses(s, pm_node_out(s, n, 0), pm_node_in(s, n, 0));
	}
	pm_graph_sweep(s);
	*out = s;
	return PM_OK;
}

/* ---- patterns of graphs ---- */

int pm_pattern_applies(const PmPattern *p, const PmGraph *g)
{
	PmMatched m;
	PmMiss miss;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);

		for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
			miss = (PmMiss){ .kind = PM_MISS_NONE };
			if (pm_match(g, p, pm_node_out(g, n, k), &m, &miss) || miss.kind == PM_MISS_BUDGET)
				return 1;
		}
	}
	return 0;
}

typedef struct Writer {
	const PmGraph *g;
	PmStr *text;
	int32_t *slot; /* by value: 0 = none yet, else its slot + 1 */
	int32_t n_slots;
	size_t nodes; /* of the pattern */
	int failed;   /* no pattern can say it */
} Writer;

/* The value's slot, a new one at need; -1 when there are no more. */
static int32_t slot_of(Writer *w, PmValue v, int *is_new)
{
	*is_new = !w->slot[v.id];
	if (*is_new && w->n_slots == PM_MAX_SLOTS)
		return -1;
	if (*is_new)
		w->slot[v.id] = ++w->n_slots;
	return w->slot[v.id] - 1;
}

static void write_value(Writer *w, PmValue v, int depth);

static void write_node(Writer *w, PmNode n, size_t result, int is_root, int depth)
{
	uint32_t flags = pm_op_desc(pm_node_op(w->g, n))->flags;
	size_t n_in = pm_node_n_in(w->g, n);

	if (flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL | PM_OPF_RANDOM) || !n_in) {
		w->failed = 1;
		return;
	}
	pm_str_addf(w->text, "(%s", pm_node_op_name(w->g, n));
	for (size_t k = 0; k < n_in && !w->failed; k++) {
		pm_str_addc(w->text, ' ');
		if (!pm_node_in(w->g, n, k).id) { /* an omitted operand: whatever follows */
			pm_str_add(w->text, "...");
			w->nodes++;
			break;
		}
		write_value(w, pm_node_in(w->g, n, k), depth + 1);
	}
	pm_str_addf(w->text, "){anyattr}%s", is_root ? "" : "{keep}");
	if (result)
		pm_str_addf(w->text, "{#%zu}", result);
}

/* An input is a slot, and so is a value that is read twice; a constant may be any value. */
static void write_value(Writer *w, PmValue v, int depth)
{
	size_t result = 0;
	PmNode n = pm_value_def(w->g, v, &result);
	int is_new = 0;
	int32_t slot;

	if (++w->nodes > PM_MAX_PATTERN_NODES || depth >= PM_MAX_PATTERN_DEPTH) {
		w->failed = 1;
	} else if (pm_value_is_const(w->g, v)) {
		pm_str_addc(w->text, '_');
	} else if (!n.id || pm_value_n_uses(w->g, v) > 1) {
		slot = slot_of(w, v, &is_new);
		if (slot < 0) {
			w->failed = 1;
			return;
		}
		pm_str_addf(w->text, "?%d", (int)slot);
		if (!n.id || !is_new)
			return;
		pm_str_addc(w->text, ':');
		write_node(w, n, result, !depth, depth);
	} else {
		write_node(w, n, result, !depth, depth);
	}
}

/* The pattern of one result; NULL when no pattern can say it. */
static PmPattern *pattern_of(const PmGraph *g, PmValue root)
{
	PmStr text = PM_STR_INIT;
	Writer w = { .g = g, .text = &text };
	PmPattern *p = NULL;

	w.slot = pm_xcalloc(pm_graph_value_limit(g) + 1, sizeof *w.slot);
	write_value(&w, root, 0);
	if (w.failed || pm_pattern_parse(text.s, text.len, &p, NULL))
		p = NULL;
	free(w.slot);
	pm_str_release(&text);
	return p;
}

int pm_skeleton_contains(const PmGraph *large, const PmGraph *small)
{
	size_t asked = 0;
	int in = 1;

	if (pm_graph_n_nodes(small) > pm_graph_n_nodes(large))
		return 0;
	for (size_t i = 0; i < pm_graph_n_outputs(small) && in; i++) {
		PmValue v = pm_graph_output(small, i);
		PmPattern *p;

		if (!pm_value_def(small, v, NULL).id)
			continue;
		p = pattern_of(small, v);
		in = p && pm_pattern_applies(p, large);
		asked++;
		pm_pattern_free(p);
	}
	return in && asked;
}

/* ---- similarity ---- */

typedef struct Counts {
	uint64_t *v; /* sorted keys: of an operator, of a pair */
	size_t n;
} Counts;

static int by_number(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

static uint64_t key_of(const char *reader, const char *read)
{
	uint64_t h = pm_hash64(reader, strlen(reader) + 1, PM_HASH_SEED);

	return pm_hash64(read, strlen(read) + 1, h);
}

static void keys_of(const PmGraph *g, Counts *c)
{
	size_t most = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		most += 1 + pm_node_n_in(g, pm_graph_node_at(g, i));
	c->v = pm_xcalloc(most + 1, sizeof *c->v);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode n = pm_graph_node_at(g, i);
		const char *op = pm_node_op_name(g, n);

		c->v[c->n++] = key_of(op, "");
		for (size_t k = 0; k < pm_node_n_in(g, n); k++) {
			PmNode from = pm_value_def(g, pm_node_in(g, n, k), NULL);

			if (from.id)
				c->v[c->n++] = key_of(op, pm_node_op_name(g, from));
		}
	}
	qsort(c->v, c->n, sizeof *c->v, by_number);
}

/* How many keys from `i` on are the same. */
static uint64_t run_at(const Counts *c, size_t i)
{
	size_t k = i;

	while (k < c->n && c->v[k] == c->v[i])
		k++;
	return k - i;
}

/* The sum of products of the counts of two. */
static uint64_t dot(const Counts *a, const Counts *b)
{
	uint64_t sum = 0;
	size_t i = 0, j = 0;

	while (i < a->n && j < b->n) {
		if (a->v[i] == b->v[j])
			sum += run_at(a, i) * run_at(b, j);
		if (a->v[i] <= b->v[j]) {
			uint64_t now = a->v[i];

			i += run_at(a, i);
			if (now == b->v[j])
				j += run_at(b, j);
		} else {
			j += run_at(b, j);
		}
	}
	return sum;
}

double pm_skeleton_similarity(const PmGraph *a, const PmGraph *b)
{
	Counts x = { 0 }, y = { 0 };
	double both, cosine = 0;

	keys_of(a, &x);
	keys_of(b, &y);
	both = (double)dot(&x, &y);
	if (both > 0)
		cosine = both / (sqrt((double)dot(&x, &x)) * sqrt((double)dot(&y, &y)));
	free(x.v);
	free(y.v);
	return cosine > 1 ? 1 : cosine;
}
