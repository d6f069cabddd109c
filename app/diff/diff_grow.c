/* SPDX-License-Identifier: Apache-2.0 */
/* diff_grow.c - from a matched pair to its neighbours. */
#include "app/diff/diff_priv.h"

void pm__diff_pair(Diffing *d, uint32_t x, uint32_t y)
{
	d->a.match[x] = y;
	d->b.match[y] = x;
	PM_VEC_PUSH(&d->queue, x);
}

static size_t n_operands(const Side *s, uint32_t i)
{
	return s->first_operand[i + 1] - s->first_operand[i];
}

static const Operand *operand(const Side *s, uint32_t i, size_t k)
{
	return &s->operand[s->first_operand[i] + k];
}

int pm__diff_corresponds(const Diffing *d, const Operand *x, const Operand *y)
{
	if (x->item == PM_DIFF_NONE || y->item == PM_DIFF_NONE)
		return x->item == y->item && x->is == y->is;
	return d->a.match[x->item] == y->item && x->result == y->result;
}

/* How many of operands 0 and 1 correspond, straight or crosswise. */
static size_t first_two(const Diffing *d, uint32_t x, uint32_t y, int cross)
{
	size_t n = 0;

	for (size_t k = 0; k < 2; k++)
		n += (size_t)pm__diff_corresponds(d, operand(&d->a, x, k),
						  operand(&d->b, y, cross ? 1 - k : k));
	return n;
}

size_t pm__diff_operands(const Diffing *d, uint32_t x, uint32_t y, int *swapped)
{
	size_t na = n_operands(&d->a, x), nb = n_operands(&d->b, y), n = 0, k = 0;

	*swapped = 0;
	if (d->a.commutes[x] && d->b.commutes[y]) {
		size_t straight = first_two(d, x, y, 0), cross = first_two(d, x, y, 1);

		*swapped = cross > straight;
		n = *swapped ? cross : straight;
		k = 2;
	}
	for (; k < na && k < nb; k++)
		n += (size_t)pm__diff_corresponds(d, operand(&d->a, x, k), operand(&d->b, y, k));
	return n;
}

int pm__diff_same_operands(const Diffing *d, uint32_t x, uint32_t y)
{
	int swapped;
	size_t n = n_operands(&d->a, x);

	return n == n_operands(&d->b, y) && pm__diff_operands(d, x, y, &swapped) == n;
}

/* ---- what may be matched ---- */

/* 1 when one of two operands is matched to something else than the other. */
static int contradict(const Diffing *d, const Operand *x, const Operand *y)
{
	if (x->item == PM_DIFF_NONE || y->item == PM_DIFF_NONE)
		return !pm__diff_corresponds(d, x, y);
	if (d->a.match[x->item] == PM_DIFF_NONE && d->b.match[y->item] == PM_DIFF_NONE)
		return x->result != y->result;
	return !pm__diff_corresponds(d, x, y);
}

static int may_be_same(const Diffing *d, uint32_t x, uint32_t y)
{
	size_t n = n_operands(&d->a, x), k = 0;

	if (d->a.label[x] != d->b.label[y] || n != n_operands(&d->b, y))
		return 0;
	if (d->a.commutes[x]) {
		const Operand *p = operand(&d->a, x, 0), *q = operand(&d->b, y, 0);

		if ((contradict(d, &p[0], &q[0]) || contradict(d, &p[1], &q[1])) &&
		    (contradict(d, &p[0], &q[1]) || contradict(d, &p[1], &q[0])))
			return 0;
		k = 2;
	}
	for (; k < n; k++) {
		if (contradict(d, operand(&d->a, x, k), operand(&d->b, y, k)))
			return 0;
	}
	return 1;
}

static int may_match(const Diffing *d, uint32_t x, uint32_t y, int loose)
{
	if (x >= d->a.n_nodes || y >= d->b.n_nodes || d->a.match[x] != PM_DIFF_NONE ||
	    d->b.match[y] != PM_DIFF_NONE)
		return 0;
	return loose ? d->a.op[x] == d->b.op[y] : may_be_same(d, x, y);
}

static void try_operand(Diffing *d, const Operand *x, const Operand *y, int loose)
{
	if (x->item != PM_DIFF_NONE && y->item != PM_DIFF_NONE && x->result == y->result &&
	    may_match(d, x->item, y->item, loose))
		pm__diff_pair(d, x->item, y->item);
}

/* How much alike what gives two operands is. */
static int alike(const Diffing *d, const Operand *x, const Operand *y)
{
	if (x->item == PM_DIFF_NONE || y->item == PM_DIFF_NONE)
		return pm__diff_corresponds(d, x, y) ? 16 : 0;
	if (d->a.match[x->item] != PM_DIFF_NONE || d->b.match[y->item] != PM_DIFF_NONE)
		return pm__diff_corresponds(d, x, y) ? 16 : -16;
	return 4 * (d->a.down[x->item] == d->b.down[y->item]) +
	       2 * (d->a.label[x->item] == d->b.label[y->item]) + (d->a.op[x->item] == d->b.op[y->item]);
}

static void grow_operands(Diffing *d, uint32_t x, uint32_t y, int loose)
{
	size_t na = n_operands(&d->a, x), nb = n_operands(&d->b, y), k = 0;

	if (d->a.commutes[x] && d->b.commutes[y]) {
		const Operand *p = operand(&d->a, x, 0), *q = operand(&d->b, y, 0);
		int straight = alike(d, &p[0], &q[0]) + alike(d, &p[1], &q[1]);
		int cross = alike(d, &p[0], &q[1]) + alike(d, &p[1], &q[0]);
		int swap = cross > straight;

		if (loose || straight != cross) {
			try_operand(d, &p[0], &q[swap], loose);
			try_operand(d, &p[1], &q[1 - swap], loose);
		}
		k = 2;
	}
	for (; k < na && k < nb; k++)
		try_operand(d, operand(&d->a, x, k), operand(&d->b, y, k), loose);
}

/* ---- readers ---- */

/* Readers of an item that have no match, by slot, result and `what` they are. Returns owned. */
static Key *readers(const Side *s, uint32_t i, const uint64_t *what, size_t *n)
{
	size_t kept = 0;
	Key *out = pm_xcalloc((size_t)(s->first_reader[i + 1] - s->first_reader[i]) + 1, sizeof *out);

	*n = 0;
	for (uint32_t e = s->first_reader[i]; e < s->first_reader[i + 1]; e++) {
		const Reader *r = &s->reader[e];

		if (r->item < s->n_nodes && s->match[r->item] == PM_DIFF_NONE)
			out[(*n)++] = (Key){
				pm__diff_mix(what[r->item], ((uint64_t)r->slot << 32) + r->result), r->item
			};
	}
	qsort(out, *n, sizeof *out, pm__diff_by_key);
	for (size_t k = 0; k < *n; k++) { /* one that reads it in both of commuting operands counts once */
		if (!k || pm__diff_by_key(&out[k], &out[kept - 1]))
			out[kept++] = out[k];
	}
	*n = kept;
	return out;
}

/* Matches readers of a pair that are the only ones with their key in both graphs; with `any`, the first with
 * the first. */
static void match_readers(Diffing *d, uint32_t x, uint32_t y, const uint64_t *wa, const uint64_t *wb,
			  int loose, int any)
{
	size_t na, nb, i = 0, j = 0;
	Key *a = readers(&d->a, x, wa, &na), *b = na ? readers(&d->b, y, wb, &nb) : NULL;

	while (a && b && i < na && j < nb) {
		size_t ra = i, rb = j;

		if (a[i].key != b[j].key) {
			if (a[i].key < b[j].key)
				i++;
			else
				j++;
			continue;
		}
		while (ra < na && a[ra].key == a[i].key)
			ra++;
		while (rb < nb && b[rb].key == b[j].key)
			rb++;
		if (any || (ra - i == 1 && rb - j == 1)) {
			for (size_t k = 0; i + k < ra && j + k < rb; k++) {
				if (may_match(d, a[i + k].item, b[j + k].item, loose))
					pm__diff_pair(d, a[i + k].item, b[j + k].item);
			}
		}
		i = ra;
		j = rb;
	}
	free(a);
	free(b);
}

static int has_free_reader(const Side *s, uint32_t i)
{
	for (uint32_t e = s->first_reader[i]; e < s->first_reader[i + 1]; e++) {
		if (s->reader[e].item < s->n_nodes && s->match[s->reader[e].item] == PM_DIFF_NONE)
			return 1;
	}
	return 0;
}

static void grow_readers(Diffing *d, uint32_t x, uint32_t y, int loose)
{
	if (!has_free_reader(&d->a, x) || !has_free_reader(&d->b, y))
		return;
	match_readers(d, x, y, d->a.label, d->b.label, 0, 0);
	match_readers(d, x, y, d->a.up, d->b.up, 0, 0);
	match_readers(d, x, y, d->a.down, d->b.down, 0, 0);
	if (loose)
		match_readers(d, x, y, d->a.op, d->b.op, 1, loose > 1);
}

void pm__diff_grow_from(Diffing *d, size_t from)
{
	for (size_t i = from; i < d->queue.n; i++) {
		uint32_t x = d->queue.v[i];

		grow_operands(d, x, d->a.match[x], 0);
		grow_readers(d, x, d->a.match[x], 0);
	}
}

void pm__diff_grow(Diffing *d, int loose)
{
	pm__diff_grow_from(d, 0);
	for (size_t i = 0; loose && i < d->queue.n; i++) {
		uint32_t x = d->queue.v[i];
		size_t n = d->queue.n;

		grow_operands(d, x, d->a.match[x], loose);
		grow_readers(d, x, d->a.match[x], loose);
		pm__diff_grow_from(d, n); /* what follows for certain comes before the next guess */
	}
	d->queue.n = 0;
}
