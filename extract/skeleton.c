/* SPDX-License-Identifier: Apache-2.0 */
/* skeleton.c - operators and edges of a graph. */
#include "extract/skeleton.h"

#include "base/core/hash.h"
#include "base/core/vec.h"
#include "extract/fusible.h"

#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t label_of(const PmGraph *g, PmNode n)
{
	const char *name = pm_node_op_name(g, n), *domain = pm_node_domain(g, n);
	size_t k, n_in = pm_node_n_in(g, n);
	uint64_t h = pm_hash64(name, strlen(name), pm_hash64(domain, strlen(domain), PM_HASH_SEED));

	h = mix(mix(h, n_in), pm_node_n_out(g, n));
	for (k = 0; k < n_in && k < 64; k++) {
		if (!pm_node_in(g, n, k).id)
			h = mix(h, k + 1);
	}
	return h;
}

static uint8_t flags_of(const PmGraph *g, PmNode n)
{
	if (!pm_fusible_node(g, n))
		return PM_SKEL_BARRIER;
	return pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_DOT ? PM_SKEL_ANCHOR : 0;
}

/* How many operands may stand in any order. */
static size_t n_commuting(const PmGraph *g, PmNode n)
{
	uint32_t flags = pm_op_desc(pm_node_op(g, n))->flags;

	if (!(flags & PM_OPF_COMM))
		return 0;
	return flags & PM_OPF_FOLD ? pm_node_n_in(g, n) : 2;
}

/* ---- the walk ---- */

typedef struct Frame {
	uint32_t node, next;
	int swap;
} Frame;

typedef struct Walk {
	const PmGraph *g;
	uint64_t *below; /* by node id: hash of everything it is computed from */
	uint32_t *place; /* by node id: 1 + number in the skeleton */
	uint8_t *state;
	PM_VEC(Frame) stack;
	PmSkeleton *out;
} Walk;

static uint64_t below_value(const Walk *w, PmValue v)
{
	size_t k;
	PmNode def = pm_value_def(w->g, v, &k);

	if (def.id)
		return mix(w->below[def.id], k);
	return v.id ? 2 + (uint64_t)(pm_value_is_const(w->g, v) != 0) : 1;
}

static void hash_below(Walk *w)
{
	size_t i, k;

	for (i = 0; i < pm_graph_n_nodes(w->g); i++) {
		PmNode n = pm_graph_node_at(w->g, i);
		size_t commute = n_commuting(w->g, n);
		uint64_t h = label_of(w->g, n), sum = 0;

		for (k = 0; k < pm_node_n_in(w->g, n); k++) {
			if (k < commute)
				sum += mix(77, below_value(w, pm_node_in(w->g, n, k)));
			else
				h = mix(h, below_value(w, pm_node_in(w->g, n, k)));
		}
		w->below[n.id] = mix(h, sum);
	}
}

static void open_node(Walk *w, PmNode n)
{
	Frame f = { n.id, 0, 0 };

	if (!n.id || w->state[n.id])
		return;
	w->state[n.id] = 1;
	if (n_commuting(w->g, n) == 2 && pm_node_n_in(w->g, n) == 2)
		f.swap = below_value(w, pm_node_in(w->g, n, 1)) < below_value(w, pm_node_in(w->g, n, 0));
	PM_VEC_PUSH(&w->stack, f);
}

static void close_node(Walk *w, PmNode n)
{
	PmSkeleton *s = w->out;

	s->node[s->n] = n;
	s->label[s->n] = label_of(w->g, n);
	s->flags[s->n] = flags_of(w->g, n);
	w->place[n.id] = (uint32_t)++s->n;
}

/* Numbers what the outputs depend on, operands first. */
static PmStatus number_nodes(Walk *w, PmErr *err)
{
	size_t i;

	for (i = 0; i < pm_graph_n_outputs(w->g); i++) {
		open_node(w, pm_value_def(w->g, pm_graph_output(w->g, i), NULL));
		while (w->stack.n) {
			Frame *f = &w->stack.v[w->stack.n - 1];
			PmNode at = { f->node }, def;
			uint32_t k = f->next;

			if (k == pm_node_n_in(w->g, at)) {
				w->stack.n--;
				close_node(w, at);
				continue;
			}
			f->next++;
			def = pm_value_def(w->g, pm_node_in(w->g, at, f->swap ? 1 - k : k), NULL);
			if (def.id && w->state[def.id] && !w->place[def.id])
				return pm_err(err, PM_E_INVALID, "Node %u of graph '%s' depends on itself.",
					      (unsigned)def.id, pm_graph_name(w->g));
			open_node(w, def);
		}
	}
	return PM_OK;
}

static uint16_t small(size_t k)
{
	return k < UINT16_MAX ? (uint16_t)k : UINT16_MAX;
}

static int by_producer(const void *a, const void *b)
{
	const PmSkelEdge *x = a, *y = b;

	if (x->operand != y->operand)
		return x->operand < y->operand ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static void add_edges(Walk *w)
{
	PmSkeleton *s = w->out;
	size_t i, k, slot, cap = 0;

	for (i = 0; i < s->n; i++)
		cap += pm_node_n_in(w->g, s->node[i]);
	s->edge = pm_xcalloc(cap + 1, sizeof *s->edge);
	for (i = 0; i < s->n; i++) {
		size_t commute = n_commuting(w->g, s->node[i]);

		s->first[i] = (uint32_t)s->n_edges;
		for (k = 0; k < pm_node_n_in(w->g, s->node[i]); k++) {
			PmNode def = pm_value_def(w->g, pm_node_in(w->g, s->node[i], k), &slot);

			if (def.id)
				s->edge[s->n_edges++] = (PmSkelEdge){ w->place[def.id] - 1,
								      small(k < commute ? 0 : k),
								      small(slot) };
		}
		if (commute > 1)
			qsort(s->edge + s->first[i], s->n_edges - s->first[i], sizeof *s->edge, by_producer);
	}
	s->first[s->n] = (uint32_t)s->n_edges;
}

static void allocate(PmSkeleton *s, size_t n)
{
	memset(s, 0, sizeof *s);
	s->label = pm_xcalloc(n + 1, sizeof *s->label);
	s->flags = pm_xcalloc(n + 1, sizeof *s->flags);
	s->first = pm_xcalloc(n + 1, sizeof *s->first);
	s->node = pm_xcalloc(n + 1, sizeof *s->node);
}

PmStatus pm_skeleton_make(const PmGraph *g, PmSkeleton *out, PmErr *err)
{
	size_t limit = (size_t)pm_graph_node_limit(g) + 1;
	Walk w = { .g = g, .out = out };
	PmStatus st;

	allocate(out, pm_graph_n_nodes(g));
	w.below = pm_xcalloc(limit, sizeof *w.below);
	w.place = pm_xcalloc(limit, sizeof *w.place);
	w.state = pm_xcalloc(limit, 1);
	hash_below(&w);
	st = number_nodes(&w, err);
	if (st)
		pm_skeleton_release(out);
	else
		add_edges(&w);
	free(w.below);
	free(w.place);
	free(w.state);
	PM_VEC_RELEASE(&w.stack);
	return st;
}

void pm_skeleton_release(PmSkeleton *s)
{
	free(s->label);
	free(s->flags);
	free(s->first);
	free(s->edge);
	free(s->node);
	memset(s, 0, sizeof *s);
}

int pm_skeleton_same(const PmSkeleton *a, const PmSkeleton *b)
{
	return a->n == b->n && a->n_edges == b->n_edges &&
	       memcmp(a->label, b->label, a->n * sizeof *a->label) == 0 &&
	       memcmp(a->flags, b->flags, a->n * sizeof *a->flags) == 0 &&
	       memcmp(a->first, b->first, a->n * sizeof *a->first) == 0 &&
	       memcmp(a->edge, b->edge, a->n_edges * sizeof *a->edge) == 0;
}

uint64_t pm_skeleton_hash(const PmSkeleton *s)
{
	uint64_t h = pm_hash64(s->label, s->n * sizeof *s->label, PM_HASH_SEED);

	return pm_hash64(s->edge, s->n_edges * sizeof *s->edge, h);
}

/* ---- bytes ---- */

void pm_skeleton_pack(const PmSkeleton *s, PmStr *out)
{
	uint64_t n[2] = { s->n, s->n_edges };

	pm_str_addn(out, n, sizeof n);
	pm_str_addn(out, s->label, s->n * sizeof *s->label);
	pm_str_addn(out, s->flags, s->n * sizeof *s->flags);
	pm_str_addn(out, s->first, (s->n + 1) * sizeof *s->first);
	pm_str_addn(out, s->node, s->n * sizeof *s->node);
	pm_str_addn(out, s->edge, s->n_edges * sizeof *s->edge);
}

typedef struct Bytes {
	const char *p;
	size_t left;
	int bad;
} Bytes;

static void take(Bytes *b, void *to, size_t n)
{
	if (b->bad || n > b->left) {
		b->bad = 1;
		return;
	}
	if (n)
		memcpy(to, b->p, n);
	b->p += n;
	b->left -= n;
}

static int edges_are_sane(const PmSkeleton *s)
{
	size_t i, k;

	if (s->first[0] || s->first[s->n] != s->n_edges)
		return 0;
	for (i = 0; i < s->n; i++) {
		if (s->first[i] > s->first[i + 1])
			return 0;
		for (k = s->first[i]; k < s->first[i + 1]; k++) {
			if (s->edge[k].from >= i)
				return 0;
		}
	}
	return 1;
}

PmStatus pm_skeleton_unpack(const char *bytes, size_t n, size_t *at, PmSkeleton *out, PmErr *err)
{
	Bytes b = { bytes + *at, n - *at, 0 };
	uint64_t size[2] = { 0, 0 };

	memset(out, 0, sizeof *out);
	take(&b, size, sizeof size);
	if (b.bad || size[0] > PM_MAX_NODES || size[1] > b.left / sizeof *out->edge)
		return pm_err(err, PM_E_INVALID, "A packed skeleton of %zu bytes is cut short.", n - *at);
	allocate(out, size[0]);
	out->n = size[0];
	out->n_edges = size[1];
	out->edge = pm_xcalloc(out->n_edges + 1, sizeof *out->edge);
	take(&b, out->label, out->n * sizeof *out->label);
	take(&b, out->flags, out->n * sizeof *out->flags);
	take(&b, out->first, (out->n + 1) * sizeof *out->first);
	take(&b, out->node, out->n * sizeof *out->node);
	take(&b, out->edge, out->n_edges * sizeof *out->edge);
	if (b.bad || !edges_are_sane(out)) {
		pm_skeleton_release(out);
		return pm_err(err, PM_E_INVALID, "A packed skeleton of %zu bytes is damaged.", n - *at);
	}
	*at = n - b.left;
	return PM_OK;
}
