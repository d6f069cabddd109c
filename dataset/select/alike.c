/* SPDX-License-Identifier: Apache-2.0 */
/* alike.c - colours of nodes, their Jaccard index, and min-hashing. */
#include "dataset/select/alike.h"

#include "base/core/hash.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, BANDS = 16, ROWS = 4 };

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = a * 0x9e3779b97f4a7c15ull + b + 0x632be59bd9b4e019ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static int by_number(const void *x, const void *y)
{
	uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

	return (a > b) - (a < b);
}

/* What an operand looks like from its reader: its maker's colour and result number, or an input or a
 * constant. */
static uint64_t operand_color(const PmGraph *g, PmValue v, const uint64_t *color)
{
	size_t k = 0;
	PmNode d = pm_value_def(g, v, &k);

	if (!v.id)
		return 3;
	if (!d.id)
		return pm_value_is_const(g, v) ? 2 : 1;
	return mix(color[d.id], k + 4);
}

static int commutes(const PmGraph *g, PmNode n)
{
	return pm_node_n_in(g, n) == 2 && (pm_op_desc(pm_node_op(g, n))->flags & PM_OPF_COMM);
}

/* Readers in no order: their mixed colours are added. */
static uint64_t readers(const PmGraph *g, PmNode n, const uint64_t *color)
{
	uint64_t sum = 0;

	for (size_t k = 0; k < pm_node_n_out(g, n); k++) {
		PmValue v = pm_node_out(g, n, k);

		for (PmUse u = pm_value_first_use(g, v); u.slot; u = pm_use_next(g, u))
			sum += mix(color[u.node.id], mix(k, commutes(g, u.node) ? 0 : u.operand));
		sum += pm_value_is_output(g, v) ? mix(5, k) : 0;
	}
	return sum;
}

static uint64_t refined(const PmGraph *g, PmNode n, const uint64_t *color)
{
	size_t n_in = pm_node_n_in(g, n);
	uint64_t c = color[n.id];

	if (commutes(g, n)) {
		uint64_t a = operand_color(g, pm_node_in(g, n, 0), color);
		uint64_t b = operand_color(g, pm_node_in(g, n, 1), color);

		c = mix(mix(c, a < b ? a : b), a < b ? b : a);
	} else {
		for (size_t k = 0; k < n_in; k++)
			c = mix(c, operand_color(g, pm_node_in(g, n, k), color));
	}
	return mix(c, readers(g, n, color));
}

void pm_colors_of(const PmGraph *g, PmColors *out)
{
	size_t n = pm_graph_n_nodes(g), limit = (size_t)pm_graph_node_limit(g) + 1;
	uint64_t *color = pm_xcalloc(2 * limit, sizeof *color), *next = color + limit, *t;

	out->v = pm_xcalloc(n * (ROUNDS + 1) + 1, sizeof *out->v);
	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		PmNode at = pm_graph_node_at(g, i);
		const char *op = pm_node_op_name(g, at);

		color[at.id] = pm_hash64(op, strlen(op), PM_HASH_SEED);
		out->v[out->n++] = color[at.id];
	}
	t = color; /* what to free */
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t *swap = color;

		for (size_t i = 0; i < n; i++) {
			PmNode at = pm_graph_node_at(g, i);

			next[at.id] = refined(g, at, color);
			out->v[out->n++] = next[at.id];
		}
		color = next;
		next = swap;
	}
	free(t);
	qsort(out->v, out->n, sizeof *out->v, by_number);
}

void pm_colors_release(PmColors *c)
{
	free(c->v);
	c->v = NULL;
	c->n = 0;
}

double pm_colors_jaccard(const PmColors *a, const PmColors *b)
{
	size_t i = 0, j = 0, both = 0;

	while (i < a->n && j < b->n) {
		if (a->v[i] == b->v[j]) {
			both++;
			i++;
			j++;
		} else if (a->v[i] < b->v[j]) {
			i++;
		} else {
			j++;
		}
	}
	return a->n + b->n ? (double)both / (double)(a->n + b->n - both) : 1;
}

/* ---- min-hashing ---- */

typedef struct Band {
	uint64_t key;
	size_t i;
} Band;

static int by_key(const void *x, const void *y)
{
	const Band *a = x, *b = y;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->i > b->i) - (a->i < b->i);
}

/* The k-th copy of a colour counts as an element of its own: that makes a set of the multiset. */
static uint64_t band_key(const PmColors *c, int band)
{
	uint64_t key = (uint64_t)band;

	for (int row = 0; row < ROWS; row++) {
		uint64_t least = UINT64_MAX, copy = 0;

		for (size_t i = 0; i < c->n; i++) {
			uint64_t h;

			copy = i && c->v[i] == c->v[i - 1] ? copy + 1 : 0;
			h = mix(mix(c->v[i], copy),
				(uint64_t)(band * ROWS + row) * 0x2545f4914f6cdd1dull + 1);
			least = h < least ? h : least;
		}
		key = mix(key, least);
	}
	return key;
}

void pm_alike_pairs(const PmColors *c, size_t n, void (*fn)(void *arg, size_t i, size_t j), void *arg)
{
	Band *b = pm_xcalloc(n + 1, sizeof *b);

	for (int band = 0; band < BANDS; band++) {
		for (size_t i = 0; i < n; i++)
			b[i] = (Band){ band_key(&c[i], band), i };
		qsort(b, n, sizeof *b, by_key);
		for (size_t i = 0; i < n; i++)
			for (size_t j = i + 1; j < n && b[j].key == b[i].key; j++)
				if (pm_colors_jaccard(&c[b[i].i], &c[b[j].i]) >= PM_ALIKE)
					fn(arg, b[i].i, b[j].i);
	}
	free(b);
}
