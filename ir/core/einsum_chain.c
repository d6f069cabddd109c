/* SPDX-License-Identifier: Apache-2.0 */
/* einsum_chain.c - in which order an Einsum of several operands is computed as products of two.
 *
 * The best chain of each set of operands is the best split of it into two sets, whose own best chains are
 * known by then: 3^n splits for n operands, 6561 for the most that there are. So the search is exact.
 */
#include "ir/core/einsum.h"

#include "base/core/arena.h"

#include <string.h>

enum { SETS = 1 << PM_EINSUM_OPERANDS };
#define MOST (INT64_MAX / 16) /* elements, whose bytes can be counted */

typedef struct Search {
	int n_in;
	uint32_t out;                     /* labels of the result */
	uint32_t own[PM_EINSUM_OPERANDS]; /* labels of each operand */
	const int64_t *dim;
	int64_t most;         /* elements of an intermediate */
	uint32_t label[SETS]; /* of the result of each set of operands */
	int64_t cost[SETS];   /* of its best chain; INT64_MAX = it has none */
	int left[SETS];       /* and that chain's last product: this set with the rest */
} Search;

static int64_t times(int64_t n, int64_t k)
{
	int64_t r = 0;

	return pm_mul_i64(n, k, &r) ? r : INT64_MAX;
}

static int64_t extent(const int64_t *dim, uint32_t labels)
{
	int64_t n = 1;

	for (int l = 0; l < PM_EINSUM_LABELS; l++)
		if (labels >> l & 1)
			n = times(n, dim[l]);
	return n;
}

static int count(uint32_t labels)
{
	int n = 0;

	for (; labels; labels &= labels - 1)
		n++;
	return n;
}

/* What the result of a set of operands must have: labels that the whole result or an operand outside has. */
static uint32_t kept(const Search *s, int set)
{
	uint32_t inside = 0, outside = s->out;

	for (int i = 0; i < s->n_in; i++) {
		if (set >> i & 1)
			inside |= s->own[i];
		else
			outside |= s->own[i];
	}
	return inside & outside;
}

static void best_split(Search *s, int set)
{
	int last = set, whole = set == (1 << s->n_in) - 1, rest;

	while (last & (last - 1))
		last &= last - 1;
	rest = set & ~last;
	s->label[set] = kept(s, set);
	s->cost[set] = INT64_MAX;
	if (!whole && (count(s->label[set]) > PM_MAX_RANK || extent(s->dim, s->label[set]) > s->most))
		return;
	/* First the last operand alone on the right: of equal chains the one from left to right stays. */
	for (int more = 0; more != rest; more = (more - rest) & rest) {
		int right = last | more, left = set & ~right;
		uint32_t both = s->label[left] | s->label[right];
		int64_t cost = times(extent(s->dim, both), both & ~s->label[set] ? 2 : 1);

		if (s->cost[left] < INT64_MAX && s->cost[right] < INT64_MAX &&
		    pm_add_i64(cost, s->cost[left], &cost) && pm_add_i64(cost, s->cost[right], &cost) &&
		    cost < s->cost[set]) {
			s->cost[set] = cost;
			s->left[set] = left;
		}
	}
}

/* Appends the products of a set; the number of the term that is its result. */
static int append(const Search *s, int set, PmEinsumChain *out)
{
	PmEinsumPair p;

	for (int i = 0; i < s->n_in; i++)
		if (set == 1 << i)
			return i;
	p.term[0] = append(s, s->left[set], out);
	p.term[1] = append(s, set & ~s->left[set], out);
	p.labels = s->label[set];
	out->pair[out->n] = p;
	return s->n_in + out->n++;
}

int pm_einsum_chain(const PmEinsum *e, const PmType *const *in, PmEinsumChain *out)
{
	int64_t dim[PM_EINSUM_LABELS], naive = e->n_in;
	Search s = { .n_in = e->n_in, .dim = dim };

	memset(out, 0, sizeof *out);
	if (e->n_in < 3 || e->n_labels == e->n_out)
		return 0;
	pm_einsum_dims(e, in, dim);
	for (int l = 0; l < e->n_labels; l++) {
		naive = times(naive, dim[l]);
		s.out |= l < e->n_out && dim[l] != 1 ? 1u << l : 0;
	}
	s.most = extent(dim, s.out);
	for (int i = 0; i < e->n_in; i++) {
		int64_t size;

		for (int d = 0; d < e->rank[i]; d++)
			s.own[i] |= in[i]->dim[d] != 1 ? 1u << e->label[i][d] : 0;
		out->labels[i] = s.own[i];
		size = extent(dim, s.own[i]);
		s.most = size > s.most ? size : s.most;
	}
	s.most = s.most < MOST / PM_EINSUM_GROWTH ? s.most * PM_EINSUM_GROWTH : MOST;
	for (int i = 0; i < s.n_in; i++)
		s.label[1 << i] = s.own[i];
	for (int set = 1; set < 1 << s.n_in; set++)
		if (set & (set - 1))
			best_split(&s, set);
	out->flops = s.cost[(1 << s.n_in) - 1];
	if (out->flops >= naive || naive <= PM_EINSUM_SMALL)
		return 0;
	append(&s, (1 << s.n_in) - 1, out);
	return 1;
}
