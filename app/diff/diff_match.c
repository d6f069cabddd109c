/* SPDX-License-Identifier: Apache-2.0 */
/* diff_match.c - which items of two graphs are the same.
 *
 * Colours are hashes of 64 bits. `down` is what a node computes of the inputs, `up` is what becomes of its
 * results. After an edit every node that does not depend on it keeps `down`, and every node that it does not
 * depend on keeps `up`. So nodes whose colours are alone in both graphs are matched first: by both colours,
 * by one, then by what is around them within a few steps. From each match on, neighbours follow
 * (diff_grow.c). Last come nodes that are as good as each other, in the order of their places.
 *
 * Of two graphs that which comes first by its labels is taken first, so that nothing depends on which one the
 * caller names first.
 */
#include "app/diff/diff_priv.h"
#include "base/core/hash.h"
#include "base/core/str.h"

#include <string.h>

enum { REFINE = 6 }; /* sweeps that tell nodes of equal colours apart by their neighbours */

/* ---- keys ---- */

/* The items from..to - 1 of a side that have no match, sorted by key. Returns owned. */
static Key *sorted(const Side *s, const uint64_t *key, uint32_t from, uint32_t to, size_t *n)
{
	Key *out = pm_xcalloc((size_t)(to - from) + 1, sizeof *out);

	*n = 0;
	for (uint32_t i = from; i < to; i++) {
		if (s->match[i] == PM_DIFF_NONE)
			out[(*n)++] = (Key){ key[i], i };
	}
	qsort(out, *n, sizeof *out, pm__diff_by_key);
	return out;
}

static size_t run(const Key *k, size_t i, size_t n)
{
	size_t j = i;

	while (j < n && k[j].key == k[i].key)
		j++;
	return j - i;
}

typedef enum { ALONE, AS_MANY, ANY } Choice;

/* Matches items with equal keys: where the key is alone in both graphs; where both have as many, the first
 * with the first; or as many as there are. With a choice, what follows from each match comes before the next.
 */
static void match_keys(Diffing *d, const uint64_t *ka, const uint64_t *kb, uint32_t from,
		       const uint32_t to[2], Choice choice, int grow)
{
	size_t na, nb, i = 0, j = 0;
	Key *a = sorted(&d->a, ka, from, to[0], &na), *b = sorted(&d->b, kb, from, to[1], &nb);

	while (i < na && j < nb) {
		size_t ra = run(a, i, na), rb = run(b, j, nb), x = 0, y = 0;

		if (a[i].key != b[j].key) {
			if (a[i].key < b[j].key)
				i += ra;
			else
				j += rb;
			continue;
		}
		while (choice == ALONE ? ra == 1 && rb == 1 && !x
				       : (choice == ANY || ra == rb) && x < ra && y < rb) {
			if (d->a.match[a[i + x].item] != PM_DIFF_NONE) {
				x++;
			} else if (d->b.match[b[j + y].item] != PM_DIFF_NONE) {
				y++;
			} else {
				pm__diff_pair(d, a[i + x++].item, b[j + y++].item);
				if (grow)
					pm__diff_grow(d, 0);
			}
			if (choice == ALONE)
				break;
		}
		i += ra;
		j += rb;
	}
	free(a);
	free(b);
}

static void match_nodes(Diffing *d, const uint64_t *ka, const uint64_t *kb, Choice choice)
{
	const uint32_t to[2] = { d->a.n_nodes, d->b.n_nodes };

	match_keys(d, ka, kb, 0, to, choice, choice != ALONE);
	pm__diff_grow(d, 0);
}

/* ---- inputs and outputs ---- */

static uint64_t name_key(const Side *s, uint32_t i)
{
	uint32_t first_out = s->n_nodes + s->n_inputs;
	PmValue v = i < first_out ? pm_graph_input(s->g, i - s->n_nodes)
				  : pm_graph_output(s->g, i - first_out);
	const char *name = pm_value_name(s->g, v);

	return pm_hash_bytes(name, strlen(name));
}

enum { BY_NAME = 1, BY_TYPE = 2 };

/* Gives each port of one kind a key in `next`, and matches by it. Items of both sides stand at other numbers,
 * so that keys are made for each. */
static void match_ports_by(Diffing *d, const uint32_t from[2], const uint32_t to[2], int what)
{
	Side *s[2] = { &d->a, &d->b };
	Key *key[2];
	size_t n[2], i = 0, j = 0;

	for (int k = 0; k < 2; k++) {
		for (uint32_t p = from[k]; p < to[k]; p++)
			s[k]->next[p] = pm__diff_mix(what & BY_TYPE ? s[k]->label[p] : 0,
						     what & BY_NAME ? name_key(s[k], p) : 0);
		key[k] = sorted(s[k], s[k]->next, from[k], to[k], &n[k]);
	}
	while (i < n[0] && j < n[1]) {
		if (key[0][i].key == key[1][j].key)
			pm__diff_pair(d, key[0][i++].item, key[1][j++].item);
		else if (key[0][i].key < key[1][j].key)
			i++;
		else
			j++;
	}
	free(key[0]);
	free(key[1]);
}

/* By place where both lists have the same types; else by name and type, type, name, and what is left by
 * place.
 */
static void match_ports(Diffing *d, uint32_t from_a, uint32_t to_a, uint32_t from_b, uint32_t to_b)
{
	const uint32_t from[2] = { from_a, from_b }, to[2] = { to_a, to_b };
	uint32_t n = to_a - from_a, same = 0;

	while (n == to_b - from_b && same < n && d->a.label[from_a + same] == d->b.label[from_b + same])
		same++;
	if (n == to_b - from_b && same == n) {
		for (uint32_t i = 0; i < n; i++)
			pm__diff_pair(d, from_a + i, from_b + i);
		return;
	}
	match_ports_by(d, from, to, BY_NAME | BY_TYPE);
	match_ports_by(d, from, to, BY_TYPE);
	match_ports_by(d, from, to, BY_NAME);
	match_ports_by(d, from, to, 0);
}

/* ---- colours ---- */

/* A number that both sides have for a pair, and that nothing else has. */
static uint64_t pair_color(uint32_t item_of_a)
{
	return pm__diff_mix(0x70616972, item_of_a);
}

/* Of a port: a pair has a colour of its own, and what is in one graph alone has none that the other has. */
static uint64_t port_color(const Side *s, uint32_t i, int first)
{
	if (s->match[i] == PM_DIFF_NONE)
		return pm__diff_mix(first ? 3 : 5, i);
	return pair_color(first ? i : s->match[i]);
}

static uint64_t operand_color(const Operand *o, const uint64_t *color)
{
	return o->item == PM_DIFF_NONE ? o->is : pm__diff_mix(color[o->item], o->result);
}

/* The operands of an item; commuting ones in either order. */
static uint64_t operands_color(const Side *s, uint32_t i, const uint64_t *color)
{
	const Operand *o = s->operand + s->first_operand[i];
	uint32_t n = s->first_operand[i + 1] - s->first_operand[i];
	uint64_t h = n;

	for (uint32_t k = 0; k < n; k++) {
		uint64_t c = operand_color(&o[k], color);

		if (s->commutes[i] && k < 2) {
			uint64_t other = operand_color(&o[1 - k], color);

			c = (c < other) == (k == 0) ? c : other;
		}
		h = pm__diff_mix(h, c);
	}
	return h;
}

static uint64_t readers_color(const Side *s, uint32_t i, const uint64_t *color)
{
	uint64_t sum = 0;

	for (uint32_t e = s->first_reader[i]; e < s->first_reader[i + 1]; e++) {
		const Reader *r = &s->reader[e];

		sum += pm__diff_mix(color[r->item], ((uint64_t)r->slot << 32) + r->result);
	}
	return sum;
}

static void color_sides(Side *s, int first)
{
	for (uint32_t i = s->n_nodes; i < s->n; i++)
		s->down[i] = s->up[i] = port_color(s, i, first);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		s->down[i] = pm__diff_mix(s->label[i], operands_color(s, i, s->down));
	for (uint32_t i = s->n_nodes; i-- > 0;)
		s->up[i] = pm__diff_mix(s->label[i], readers_color(s, i, s->up));
}

/* One step outwards: each item's colour and those of its neighbours. */
static void refine(Side *s)
{
	uint64_t *swap;

	for (uint32_t i = 0; i < s->n; i++)
		s->next[i] = pm__diff_mix(pm__diff_mix(s->color[i], operands_color(s, i, s->color)),
					  readers_color(s, i, s->color));
	swap = s->color;
	s->color = s->next;
	s->next = swap;
}

static void color_whole(Side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		s->color[i] = pm__diff_mix(s->down[i], s->up[i]);
	for (int k = 0; k < REFINE; k++)
		refine(s);
}

/* What is around each item within `radius` steps, pairs with colours of their own. */
static void color_around(Side *s, int first, int radius)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->match[i] != PM_DIFF_NONE)
			s->color[i] = pair_color(first ? i : s->match[i]);
		else
			s->color[i] = i < s->n_nodes ? s->label[i] : s->op[i];
	}
	for (int k = 0; k < radius; k++)
		refine(s);
}

static void requeue(Diffing *d)
{
	for (uint32_t i = 0; i < d->a.n; i++) {
		if (d->a.match[i] != PM_DIFF_NONE)
			PM_VEC_PUSH(&d->queue, i);
	}
}

static void match_around(Diffing *d)
{
	static const int radius[] = { 12, 6, 3, 1, 0 };

	for (size_t k = 0; k < sizeof radius / sizeof *radius; k++) {
		color_around(&d->a, 1, radius[k]);
		color_around(&d->b, 0, radius[k]);
		match_nodes(d, d->a.color, d->b.color, ALONE);
	}
}

/* Pairs of two operators have carried growth, and are none. */
static void break_replaced(Diffing *d)
{
	for (uint32_t x = 0; x < d->a.n_nodes; x++) {
		uint32_t y = d->a.match[x];

		if (y == PM_DIFF_NONE || d->a.op[x] == d->b.op[y])
			continue;
		d->a.match[x] = PM_DIFF_NONE;
		d->b.match[y] = PM_DIFF_NONE;
	}
}

void pm__diff_match(Diffing *d)
{
	const Side *a = &d->a, *b = &d->b;

	match_ports(d, a->n_nodes, a->n_nodes + a->n_inputs, b->n_nodes, b->n_nodes + b->n_inputs);
	match_ports(d, a->n_nodes + a->n_inputs, a->n, b->n_nodes + b->n_inputs, b->n);
	color_sides(&d->a, 1);
	color_sides(&d->b, 0);
	color_whole(&d->a);
	color_whole(&d->b);
	d->queue.n = 0; /* ports wait until colours have said what they know */
	match_nodes(d, a->color, b->color, ALONE);
	match_nodes(d, a->down, b->down, ALONE);
	match_nodes(d, a->up, b->up, ALONE);
	requeue(d);
	pm__diff_grow(d, 0);
	match_nodes(d, a->color, b->color, AS_MANY);
	match_nodes(d, a->down, b->down, AS_MANY);
	match_nodes(d, a->up, b->up, AS_MANY);
	match_around(d);
	for (int steps = 8; steps; steps /= 4)
		pm__diff_bridge(d, steps);
	for (int loose = 1; loose <= 2; loose++) {
		requeue(d);
		pm__diff_grow(d, loose);
	}
	break_replaced(d);
}
