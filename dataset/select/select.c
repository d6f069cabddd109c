/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - Markov rarity and greedy coverage, lazily. */
#include "dataset/select/select.h"

#include "base/core/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a step compares, greatest first. */
typedef struct Key {
	double score;
	size_t n;
	double rarity;
	size_t edges, index;
} Key;

typedef struct Select {
	const PmSelectOpts *opts;
	double alpha, weight;
	size_t n; /* sequences */
	/* different edges of sequence i: edge[at[i]] to edge[at[i + 1] - 1], dense numbers */
	size_t *edge, *at, n_edges;
	double *norm;
	char *covered, *part_taken;
	Key *heap;
	size_t n_heap;
} Select;

/* ---- edges ---- */

typedef struct Pair {
	unsigned a, b;
	size_t seq, id, count;
} Pair;

static int by_ops(const void *x, const void *y)
{
	const Pair *p = x, *q = y;

	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	if (p->b != q->b)
		return p->b < q->b ? -1 : 1;
	return p->seq < q->seq ? -1 : p->seq > q->seq;
}

static int by_seq(const void *x, const void *y)
{
	const Pair *p = x, *q = y;

	if (p->seq != q->seq)
		return p->seq < q->seq ? -1 : 1;
	return p->id < q->id ? -1 : p->id > q->id;
}

/* Numbers the edges, counts them, and adds up what each sequence's edges are worth: the rarity of sequence i,
 * as a sum, into norm[i]. `pair` is sorted by operators on return. */
static void weigh(Select *s, Pair *pair, size_t n, unsigned n_ops)
{
	double *row = pm_xcalloc((size_t)n_ops + 1, sizeof *row);

	qsort(pair, n, sizeof *pair, by_ops);
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && pair[k].a == pair[i].a && pair[k].b == pair[i].b; k++)
			pair[k].id = s->n_edges;
		for (size_t j = i; j < k; j++)
			pair[j].count = k - i;
		s->n_edges++;
		row[pair[i].a] += (double)(k - i);
	}
	for (size_t i = 0; i < n; i++)
		s->norm[pair[i].seq] += -log(((double)pair[i].count + s->alpha) /
					     (row[pair[i].a] + s->alpha * (double)n_ops));
	free(row);
}

static void scale(double *x, size_t n)
{
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		lo = fmin(lo, x[i]);
		hi = fmax(hi, x[i]);
	}
	for (size_t i = 0; i < n; i++)
		x[i] = hi > lo ? (x[i] - lo) / (hi - lo) : 0;
}

static void find_edges(Select *s, const unsigned *ops, const size_t *start, unsigned n_ops)
{
	size_t total = start[s->n] - start[0], n = 0, i, k, seen = 0;
	Pair *pair = pm_xcalloc(total + 1, sizeof *pair);

	for (i = 0; i < s->n; i++)
		for (k = start[i]; k + 1 < start[i + 1]; k++)
			pair[n++] = (Pair){ ops[k], ops[k + 1], i, 0, 0 };
	weigh(s, pair, n, n_ops);
	for (i = 0; i < s->n; i++)
		if (start[i + 1] - start[i] > 1)
			s->norm[i] /= (double)(start[i + 1] - start[i] - 1);
	scale(s->norm, s->n);
	qsort(pair, n, sizeof *pair, by_seq);
	s->edge = pm_xcalloc(n + 1, sizeof *s->edge);
	for (i = 0, k = 0; i < s->n; i++) {
		s->at[i] = seen;
		for (; k < n && pair[k].seq == i; k++)
			if (seen == s->at[i] || s->edge[seen - 1] != pair[k].id)
				s->edge[seen++] = pair[k].id;
	}
	s->at[s->n] = seen;
	s->covered = pm_xcalloc(s->n_edges + 1, 1);
	free(pair);
}

/* ---- keys ---- */

static Key key_of(const Select *s, size_t i)
{
	Key k = { 0, 0, s->weight * s->norm[i], s->at[i + 1] - s->at[i], i };

	for (size_t e = s->at[i]; e < s->at[i + 1]; e++)
		k.n += !s->covered[s->edge[e]];
	k.score = (double)k.n * (1 + k.rarity);
	return k;
}

/* 1 when a comes before b. */
static int before(const Key *a, const Key *b)
{
	if (a->score != b->score)
		return a->score > b->score;
	if (a->n != b->n)
		return a->n > b->n;
	if (a->rarity != b->rarity)
		return a->rarity > b->rarity;
	if (a->edges != b->edges)
		return a->edges > b->edges;
	return a->index < b->index;
}

static void sink(Select *s, size_t at)
{
	for (;;) {
		size_t k = 2 * at + 1;
		Key t;

		if (k + 1 < s->n_heap && before(&s->heap[k + 1], &s->heap[k]))
			k++;
		if (k >= s->n_heap || !before(&s->heap[k], &s->heap[at]))
			return;
		t = s->heap[at];
		s->heap[at] = s->heap[k];
		s->heap[k] = t;
		at = k;
	}
}

static void drop_top(Select *s)
{
	s->heap[0] = s->heap[--s->n_heap];
	sink(s, 0);
}

static int part_is_taken(const Select *s, size_t i)
{
	return s->opts && s->opts->part && s->part_taken[s->opts->part[i]];
}

/* The best sequence left, removed from those left; 0 when there is none. A key on the heap is an upper bound:
 * when the renewed key of the top still stands before all others, it is the best. */
static int next_lazy(Select *s, size_t *best)
{
	while (s->n_heap) {
		size_t i = s->heap[0].index;
		Key k = key_of(s, i);

		if (part_is_taken(s, i)) {
			drop_top(s);
			continue;
		}
		if (k.n == s->heap[0].n) {
			*best = i;
			drop_top(s);
			return 1;
		}
		s->heap[0] = k;
		sink(s, 0);
	}
	return 0;
}

static int next_naive(Select *s, size_t *best)
{
	size_t at = s->n_heap;

	for (size_t k = 0; k < s->n_heap; k++) {
		s->heap[k] = key_of(s, s->heap[k].index);
		if (!part_is_taken(s, s->heap[k].index) &&
		    (at == s->n_heap || before(&s->heap[k], &s->heap[at])))
			at = k;
	}
	if (at == s->n_heap)
		return 0;
	*best = s->heap[at].index;
	s->heap[at] = s->heap[--s->n_heap];
	return 1;
}

/* ---- taking ---- */

static void take(Select *s, size_t i, PmSelection *out)
{
	out->taken[out->n++] = i;
	for (size_t e = s->at[i]; e < s->at[i + 1]; e++) {
		out->n_covered += !s->covered[s->edge[e]];
		s->covered[s->edge[e]] = 1;
	}
	if (s->opts && s->opts->part)
		s->part_taken[s->opts->part[i]] = 1;
}

static PmStatus take_all(Select *s, size_t k, PmSelection *out, PmErr *err)
{
	int naive = s->opts && s->opts->naive, yes = 1;
	PmStatus st = PM_OK;
	size_t i;

	while (out->n < k && (naive ? next_naive(s, &i) : next_lazy(s, &i))) {
		if (s->opts && s->opts->accept)
			st = s->opts->accept(s->opts->arg, i, &yes, err);
		if (st)
			return st;
		if (yes)
			take(s, i, out);
		else
			out->n_passed_over++;
	}
	return PM_OK;
}

PmStatus pm_select(const unsigned *ops, const size_t *start, size_t n, unsigned n_ops, size_t k,
		   const PmSelectOpts *opts, PmSelection *out, PmErr *err)
{
	Select s = { .opts = opts, .n = n };
	size_t parts = 0;
	PmStatus st;

	memset(out, 0, sizeof *out);
	s.alpha = opts && opts->alpha > 0 ? opts->alpha : 1e-3;
	s.weight = opts && opts->weight >= 0 ? opts->weight : 1;
	s.at = pm_xcalloc(n + 1, sizeof *s.at);
	s.norm = pm_xcalloc(n + 1, sizeof *s.norm);
	s.heap = pm_xcalloc(n + 1, sizeof *s.heap);
	for (size_t i = 0; i < n && opts && opts->part; i++)
		parts = opts->part[i] + 1 > parts ? opts->part[i] + 1 : parts;
	s.part_taken = pm_xcalloc(parts + 1, 1);
	find_edges(&s, ops, start, n_ops);
	for (size_t i = 0; i < n; i++)
		s.heap[i] = key_of(&s, i);
	s.n_heap = n;
	for (size_t i = n / 2; i-- > 0;)
		sink(&s, i);
	out->taken = pm_xcalloc(n + 1, sizeof *out->taken);
	out->n_edges = s.n_edges;
	st = take_all(&s, k, out, err);
	free(s.edge);
	free(s.at);
	free(s.norm);
	free(s.covered);
	free(s.part_taken);
	free(s.heap);
	if (st)
		pm_selection_release(out);
	return st;
}

void pm_selection_release(PmSelection *s)
{
	free(s->taken);
	memset(s, 0, sizeof *s);
}
