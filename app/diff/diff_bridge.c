/* SPDX-License-Identifier: Apache-2.0 */
/* diff_bridge.c - across nodes that were replaced, put in or taken out, where graphs are alike on both sides.
 *
 * Between two edits of a regular graph no colour is alone, and growth ends at each edit. From a pair whose
 * reader differs, this looks one node further: when what follows the two readers is the same for some steps,
 * one replaced the other; when what follows one of them is the same as what follows a reader of the other,
 * that one was put in. Operands are treated alike, with what they depend on.
 *
 * A pair of nodes that replaced each other may have two operators. It carries growth to the other side, and
 * is broken when all is done (diff_match.c).
 */
#include "app/diff/diff_priv.h"

/* What is near on the far side of an edit: `near` of both graphs. */
typedef struct Bridge {
	Diffing *d;
	const uint64_t *a, *b;
	int forward; /* along readers; 0 = along operands */
} Bridge;

/* A neighbour on the far side: an item, and how it is connected. */
typedef struct Next {
	uint32_t item, slot, result;
} Next;

static size_t n_next(const Side *s, uint32_t i, int forward)
{
	return forward ? s->first_reader[i + 1] - s->first_reader[i]
		       : s->first_operand[i + 1] - s->first_operand[i];
}

static Next next(const Side *s, uint32_t i, size_t k, int forward)
{
	const Reader *r;
	const Operand *o;

	if (forward) {
		r = &s->reader[s->first_reader[i] + k];
		return (Next){ r->item, r->slot, r->result };
	}
	o = &s->operand[s->first_operand[i] + k];
	return (Next){ o->item, s->commutes[i] && k == 1 ? 0 : (uint32_t)k, o->result };
}

static int is_free(const Side *s, uint32_t item)
{
	return item < s->n_nodes && s->match[item] == PM_DIFF_NONE;
}

enum { WIDE = 16 /* neighbours at most: nodes that more read are no chain to follow */ };

/* The free neighbour of x with a colour, connected in any way when slot is PM_DIFF_NONE; PM_DIFF_NONE = none.
 */
static uint32_t find(const Side *s, uint32_t x, int forward, uint32_t slot, const uint64_t *near,
		     uint64_t color)
{
	for (size_t k = 0; k < n_next(s, x, forward) && k < WIDE; k++) {
		Next n = next(s, x, k, forward);

		if (is_free(s, n.item) && (slot == PM_DIFF_NONE || n.slot == slot) && near[n.item] == color)
			return n.item;
	}
	return PM_DIFF_NONE;
}

static int is_replaced(const Bridge *q, uint32_t x, uint32_t y)
{
	for (size_t k = 0; k < n_next(&q->d->a, x, q->forward) && k < WIDE; k++) {
		Next n = next(&q->d->a, x, k, q->forward);

		if (is_free(&q->d->a, n.item) &&
		    find(&q->d->b, y, q->forward, n.slot, q->b, q->a[n.item]) != PM_DIFF_NONE)
			return 1;
	}
	return 0;
}

/* Two free neighbours of a pair, connected alike. */
static void cross(const Bridge *q, uint32_t x, uint32_t y)
{
	uint32_t found;

	if (q->a[x] == q->b[y]) {
		pm__diff_pair(q->d, x, y);
		return;
	}
	found = find(&q->d->b, y, q->forward, PM_DIFF_NONE, q->b, q->a[x]); /* y was put in */
	if (found != PM_DIFF_NONE) {
		pm__diff_pair(q->d, x, found);
		return;
	}
	found = find(&q->d->a, x, q->forward, PM_DIFF_NONE, q->a, q->b[y]); /* x was taken out */
	if (found != PM_DIFF_NONE)
		pm__diff_pair(q->d, found, y);
	else if (is_replaced(q, x, y))
		pm__diff_pair(q->d, x, y);
}

static void bridge(const Bridge *q, uint32_t x)
{
	const Side *a = &q->d->a, *b = &q->d->b;
	uint32_t y = a->match[x];

	if (n_next(a, x, q->forward) > WIDE || n_next(b, y, q->forward) > WIDE)
		return;
	for (size_t i = 0; i < n_next(a, x, q->forward); i++) {
		Next p = next(a, x, i, q->forward);

		for (size_t k = 0; k < n_next(b, y, q->forward); k++) {
			Next r = next(b, y, k, q->forward);

			if (is_free(a, p.item) && is_free(b, r.item) && p.slot == r.slot &&
			    p.result == r.result)
				cross(q, p.item, r.item);
		}
	}
}

/* Colours of what follows an item (or what it depends on) within `steps`, into `color`. */
static void color_near(Side *s, int forward, int steps)
{
	uint64_t *other;

	for (uint32_t i = 0; i < s->n; i++)
		s->color[i] = i < s->n_nodes ? s->label[i] : s->op[i];
	for (int step = 0; step < steps; step++) {
		for (uint32_t i = 0; i < s->n; i++) {
			uint64_t sum = 0;

			for (size_t k = 0; k < n_next(s, i, forward); k++) {
				Next n = next(s, i, k, forward);

				if (n.item != PM_DIFF_NONE)
					sum += pm__diff_mix(s->color[n.item],
							    ((uint64_t)n.slot << 32) + n.result);
			}
			s->next[i] = pm__diff_mix(s->label[i], sum);
		}
		other = s->color;
		s->color = s->next;
		s->next = other;
	}
}

void pm__diff_bridge(Diffing *d, int steps)
{
	for (int forward = 1; forward >= 0; forward--) {
		Bridge q = { .d = d, .forward = forward };

		color_near(&d->a, forward, steps);
		color_near(&d->b, forward, steps);
		q.a = d->a.color;
		q.b = d->b.color;
		for (uint32_t x = 0; x < d->a.n; x++) {
			if (d->a.match[x] != PM_DIFF_NONE)
				PM_VEC_PUSH(&d->queue, x);
		}
		for (size_t i = 0; i < d->queue.n; i++) {
			size_t n = d->queue.n;

			bridge(&q, d->queue.v[i]);
			pm__diff_grow_from(d, n);
		}
		d->queue.n = 0;
	}
}
