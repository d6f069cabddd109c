/* SPDX-License-Identifier: Apache-2.0 */
/* diff_repair.c - breaks pairs that contradict each other.
 *
 * Pairs that cross ("first Relu, then Tanh" against the other order) make a cycle in the union of both
 * graphs. Cycles are found as strongly connected components (Tarjan), and of each the pair with the fewest
 * neighbours that correspond is broken. A cycle goes from edges of one graph to edges of the other at a pair
 * whose operands differ, so that there is one. Breaking never makes a cycle.
 */
#include "app/diff/diff_union.h"

#include <string.h>

enum { ONE_BY_ONE = 16 /* rounds in which a component loses one pair; then all whose operands differ */ };

static void break_pair(Diffing *d, uint32_t x)
{
	d->b.match[d->a.match[x]] = PM_DIFF_NONE;
	d->a.match[x] = PM_DIFF_NONE;
}

/* How many readers of item x correspond to readers of its pair: they are pairs and read the same result. */
static size_t same_readers(const Diffing *d, uint32_t x, size_t enough)
{
	uint32_t y = d->a.match[x];
	size_t n = 0;

	for (uint32_t e = d->a.first_reader[x]; e < d->a.first_reader[x + 1] && n < enough; e++) {
		const Reader *r = &d->a.reader[e];
		uint32_t other = d->a.match[r->item];

		if (other == PM_DIFF_NONE)
			continue;
		for (uint32_t o = d->b.first_operand[other]; o < d->b.first_operand[other + 1]; o++) {
			uint32_t slot = o - d->b.first_operand[other];

			slot = slot == 1 && d->b.commutes[other] ? 0 : slot;
			if (d->b.operand[o].item == y && d->b.operand[o].result == r->result &&
			    slot == r->slot) {
				n++;
				break;
			}
		}
	}
	return n;
}

/* ---- cycles ---- */

typedef struct Frame {
	uint32_t item;
	size_t k;
} Frame;

typedef struct Tarjan {
	Diffing *d;
	uint32_t *index, *low; /* by union item; 0 = not seen */
	char *on;
	uint32_t next;
	PM_VEC(Frame) frame;
	PM_VEC(uint32_t) stack;
	size_t broken;
	int all; /* break all pairs of a component whose operands differ */
} Tarjan;

static int breakable(const Diffing *d, uint32_t u)
{
	return u < d->a.n_nodes && d->a.match[u] != PM_DIFF_NONE &&
	       !pm__diff_same_operands(d, u, d->a.match[u]);
}

/* The items are remembered while others are broken, which changes what they are in the union but not in a. */
static void break_component(Tarjan *t, const uint32_t *item, size_t n)
{
	Diffing *d = t->d;
	uint32_t worst = PM_DIFF_NONE;
	size_t least = 0;
	PM_VEC(uint32_t) chosen = { 0 };

	for (size_t i = 0; i < n; i++) {
		int swapped;
		size_t links;

		if (!breakable(d, item[i]))
			continue;
		links = pm__diff_operands(d, item[i], d->a.match[item[i]], &swapped) +
			same_readers(d, item[i], 64);
		if (t->all)
			PM_VEC_PUSH(&chosen, item[i]);
		if (worst == PM_DIFF_NONE || links < least || (links == least && item[i] < worst)) {
			worst = item[i];
			least = links;
		}
	}
	if (!t->all && worst != PM_DIFF_NONE)
		PM_VEC_PUSH(&chosen, worst);
	for (size_t i = 0; i < chosen.n; i++)
		break_pair(d, chosen.v[i]);
	t->broken += chosen.n;
	PM_VEC_RELEASE(&chosen);
}

typedef struct Component {
	size_t from, n;
} Component;

/* Walks from one item; components of more than one item are kept in `found`, their items in `item`. */
typedef struct Found {
	PM_VEC(uint32_t) item;
	PM_VEC(Component) component;
} Found;

static void open_item(Tarjan *t, uint32_t u)
{
	t->index[u] = t->low[u] = ++t->next;
	t->on[u] = 1;
	PM_VEC_PUSH(&t->stack, u);
	PM_VEC_PUSH(&t->frame, ((Frame){ u, 0 }));
}

static void close_item(Tarjan *t, uint32_t u, Found *found)
{
	size_t from = found->item.n;
	uint32_t v;

	if (t->low[u] != t->index[u])
		return;
	do {
		v = t->stack.v[--t->stack.n];
		t->on[v] = 0;
		PM_VEC_PUSH(&found->item, v);
	} while (v != u);
	if (found->item.n - from > 1)
		PM_VEC_PUSH(&found->component, ((Component){ from, found->item.n - from }));
	else
		found->item.n = from;
}

static void walk_from(Tarjan *t, uint32_t root, Found *found)
{
	open_item(t, root);
	while (t->frame.n) {
		Frame *f = &t->frame.v[t->frame.n - 1];
		uint32_t u = f->item, v;
		int more;

		v = pm__union_source(t->d, u, f->k++, &more);
		if (!more) {
			t->frame.n--;
			close_item(t, u, found);
			if (t->frame.n && t->low[u] < t->low[t->frame.v[t->frame.n - 1].item])
				t->low[t->frame.v[t->frame.n - 1].item] = t->low[u];
		} else if (v != PM_DIFF_NONE && !t->index[v]) {
			open_item(t, v);
		} else if (v != PM_DIFF_NONE && t->on[v] && t->index[v] < t->low[u]) {
			t->low[u] = t->index[v];
		}
	}
}

/* One round; returns how many pairs it broke. */
static size_t break_cycles(Diffing *d, int all)
{
	uint32_t n = pm__union_n(d);
	Tarjan t = { .d = d, .all = all };
	Found found = { 0 };

	t.index = pm_xcalloc((size_t)n + 1, sizeof *t.index);
	t.low = pm_xcalloc((size_t)n + 1, sizeof *t.low);
	t.on = pm_xcalloc((size_t)n + 1, 1);
	for (uint32_t u = 0; u < n; u++) {
		if (!t.index[u] && (u < d->a.n || d->b.match[u - d->a.n] == PM_DIFF_NONE))
			walk_from(&t, u, &found);
	}
	for (size_t i = 0; i < found.component.n; i++)
		break_component(&t, found.item.v + found.component.v[i].from, found.component.v[i].n);
	free(t.index);
	free(t.low);
	free(t.on);
	PM_VEC_RELEASE(&t.frame);
	PM_VEC_RELEASE(&t.stack);
	PM_VEC_RELEASE(&found.item);
	PM_VEC_RELEASE(&found.component);
	return t.broken;
}

/* ---- pairs without a neighbour that corresponds ---- */

static int stands(const Diffing *d, uint32_t x)
{
	uint32_t y = d->a.match[x];
	int swapped;

	if (d->a.label[x] == d->b.label[y] && pm__diff_same_operands(d, x, y))
		return 1;
	return pm__diff_operands(d, x, y, &swapped) || same_readers(d, x, 1);
}

static size_t break_alone(Diffing *d)
{
	size_t n = 0;

	for (uint32_t x = 0; x < d->a.n_nodes; x++) {
		if (d->a.match[x] == PM_DIFF_NONE || stands(d, x))
			continue;
		break_pair(d, x);
		n++;
	}
	return n;
}

void pm__diff_repair(Diffing *d)
{
	for (int round = 0; break_cycles(d, round >= ONE_BY_ONE); round++)
		;
	while (break_alone(d))
		;
}
