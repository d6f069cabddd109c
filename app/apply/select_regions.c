/* SPDX-License-Identifier: Apache-2.0 */
/* select_regions.c - a set of most weight among regions that conflict. */
#include "app/apply/select_regions.h"

#include <stdlib.h>

typedef struct Select {
	const double *weight;
	size_t n;
	const PmSelectEdge *edge;
	size_t n_edges;
	PmRegionSet *out;
} Select;

/* ---- components ---- */

static uint32_t root_of(uint32_t *of, uint32_t i)
{
	while (of[i] != i)
		i = of[i] = of[of[i]];
	return i;
}

static int is_live(const Select *s, PmSelectEdge e)
{
	return e.a != e.b && s->weight[e.a] > 0 && s->weight[e.b] > 0;
}

/* The least region is the root, so that names do not depend on the order of edges. */
static void find_components(Select *s)
{
	uint32_t *of = s->out->component;

	for (uint32_t i = 0; i < s->n; i++)
		of[i] = i;
	for (size_t k = 0; k < s->n_edges; k++) {
		uint32_t a, b;

		if (!is_live(s, s->edge[k]))
			continue;
		a = root_of(of, s->edge[k].a);
		b = root_of(of, s->edge[k].b);
		of[a > b ? a : b] = a > b ? b : a;
	}
	for (uint32_t i = 0; i < s->n; i++)
		of[i] = root_of(of, i);
}

/* ---- one component, exactly ---- */

typedef struct Exact {
	int n;
	double weight[PM_SELECT_EXACT];
	uint64_t conflict[PM_SELECT_EXACT];
	uint64_t best_set;
	double best;
} Exact;

static double sum_of(const Exact *x, uint64_t set)
{
	double sum = 0;

	for (int i = 0; i < x->n; i++)
		sum += set >> i & 1 ? x->weight[i] : 0;
	return sum;
}

static int degree(const Exact *x, int i, uint64_t left)
{
	return __builtin_popcountll(x->conflict[i] & left);
}

/* `taken` weighs `weight`; `left` may still be taken. The region with the most conflicts is decided next: the
 * rest falls apart soonest, and what nothing left conflicts with is simply taken. */
static void branch(Exact *x, uint64_t taken, double weight, uint64_t left)
{
	int next = -1, most = 0;

	for (int i = 0; i < x->n; i++) {
		int d = left >> i & 1 ? degree(x, i, left) : 0;

		if (d > most) {
			most = d;
			next = i;
		}
	}
	if (next < 0) {
		weight += sum_of(x, left);
		if (weight > x->best) {
			x->best = weight;
			x->best_set = taken | left;
		}
		return;
	}
	if (weight + sum_of(x, left) <= x->best)
		return;
	branch(x, taken | (uint64_t)1 << next, weight + x->weight[next],
	       left & ~x->conflict[next] & ~((uint64_t)1 << next));
	branch(x, taken, weight, left & ~((uint64_t)1 << next));
}

static void solve(Select *s, const uint32_t *region, int n)
{
	Exact x = { .n = n };

	for (int i = 0; i < n; i++)
		x.weight[i] = s->weight[region[i]];
	for (size_t k = 0; k < s->n_edges; k++) {
		int a = -1, b = -1;

		for (int i = 0; i < n; i++) {
			a = region[i] == s->edge[k].a ? i : a;
			b = region[i] == s->edge[k].b ? i : b;
		}
		if (a < 0 || b < 0 || a == b)
			continue;
		x.conflict[a] |= (uint64_t)1 << b;
		x.conflict[b] |= (uint64_t)1 << a;
	}
	branch(&x, 0, 0, n == 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1);
	for (int i = 0; i < n; i++)
		s->out->taken[region[i]] = (char)(x.best_set >> i & 1);
}

/* ---- a large one ---- */

static void drop_neighbours(const Select *s, uint32_t region, char *out)
{
	for (size_t k = 0; k < s->n_edges; k++) {
		if (s->edge[k].a == region)
			out[s->edge[k].b] = 1;
		if (s->edge[k].b == region)
			out[s->edge[k].a] = 1;
	}
}

static void take_heaviest(Select *s, const uint32_t *region, size_t n)
{
	char *out = pm_xcalloc(s->n + 1, 1);

	for (;;) {
		size_t best = n;

		for (size_t i = 0; i < n; i++)
			if (!out[region[i]] && (best == n || s->weight[region[i]] > s->weight[region[best]]))
				best = i;
		if (best == n)
			break;
		s->out->taken[region[best]] = 1;
		drop_neighbours(s, region[best], out);
		out[region[best]] = 1;
	}
	free(out);
	s->out->n_greedy++;
}

/* ---- all ---- */

void pm_select_regions(const double *weight, size_t n, const PmSelectEdge *edge, size_t n_edges,
		       PmRegionSet *out)
{
	Select s = { weight, n, edge, n_edges, out };
	uint32_t *region = pm_xcalloc(n + 1, sizeof *region);

	*out = (PmRegionSet){ .taken = pm_xcalloc(n + 1, 1),
			      .component = pm_xcalloc(n + 1, sizeof *out->component) };
	find_components(&s);
	for (uint32_t c = 0; c < n; c++) {
		size_t k = 0;

		for (uint32_t i = c; i < n; i++)
			if (out->component[i] == c && weight[i] > 0)
				region[k++] = i;
		out->largest = k > out->largest ? k : out->largest;
		if (k && k <= PM_SELECT_EXACT)
			solve(&s, region, (int)k);
		else if (k)
			take_heaviest(&s, region, k);
	}
	for (size_t i = 0; i < n; i++)
		out->weight += out->taken[i] ? weight[i] : 0;
	free(region);
}

void pm_region_set_release(PmRegionSet *s)
{
	free(s->taken);
	free(s->component);
	*s = (PmRegionSet){ 0 };
}
