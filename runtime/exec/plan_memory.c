/* SPDX-License-Identifier: Apache-2.0 */
/* plan_memory.c - which buffers of a plan share memory, and how much of it a call takes. */
#include "runtime/exec/plan_gaps.h"
#include "runtime/exec/plan_priv.h"

#include <stdlib.h>

/* The last step that a buffer is an argument of; -1 = none. */
static void last_uses(const PmPlan *p, int *last)
{
	for (size_t i = 0; i < p->buffers.n; i++)
		last[i] = -1;
	for (size_t s = 0; s < p->steps.n; s++)
		for (int i = 0; i < p->steps.v[s].n_args && p->steps.v[s].source >= 0; i++)
			if (p->steps.v[s].args[i].kind == PM_DARG_BUF)
				last[p->steps.v[s].args[i].buf.id - 1] = (int)s;
}

/* The buffer of an argument when it comes and goes between launches; -1 otherwise. */
static int passing(const PmPlan *p, const PmDevArg *arg)
{
	int b = arg->kind == PM_DARG_BUF ? (int)arg->buf.id - 1 : -1;

	return b >= 0 && !p->buffers.v[b].is_const && p->buffers.v[b].use == PM_BUF_SCRATCH ? b : -1;
}

static int new_slot(PmSlots *s, int64_t bytes)
{
	s->bytes[s->n] = bytes;
	return s->n++;
}

/* The steps between which an intermediate is used, and how large it is. */
typedef struct Life {
	int buffer, first, last;
	int64_t bytes;
} Life;

static int larger_first(const void *x, const void *y)
{
	const Life *a = x, *b = y;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

/* The intermediates that launches use; returns how many. */
static size_t list_lives(const PmPlan *p, Life *out)
{
	int *first = pm_xcalloc(p->buffers.n + 1, sizeof *first);
	int *last = pm_xcalloc(p->buffers.n + 1, sizeof *last);
	size_t n = 0;

	last_uses(p, last);
	for (size_t s = p->steps.n; s-- > 0;)
		for (int i = 0; i < p->steps.v[s].n_args && p->steps.v[s].source >= 0; i++) {
			int b = passing(p, &p->steps.v[s].args[i]);

			if (b >= 0)
				first[b] = (int)s;
		}
	for (size_t i = 0; i < p->buffers.n; i++) {
		const Buffer *b = &p->buffers.v[i];

		if (!b->is_const && b->use == PM_BUF_SCRATCH && last[i] >= 0)
			out[n++] = (Life){ (int)i, first[i], last[i], b->bytes };
	}
	free(first);
	free(last);
	return n;
}

/* The largest first, each in the smallest slot that is not used while it lives ("greedy by size" of Pisarchyk
 * and Lee, 2020, for shared objects): a slot is as large as the first that took it. */
static void share_slots(const PmPlan *p, PmSlots *out)
{
	Life *l = pm_xcalloc(p->buffers.n + 1, sizeof *l);
	int *begun = pm_xcalloc(p->buffers.n + 1, sizeof *begun); /* by slot: when its holder began to live */
	size_t n = list_lives(p, l);
	int n_steps = (int)p->steps.n;
	PmGaps *gaps = pm__gaps_new(n_steps);

	qsort(l, n, sizeof *l, larger_first);
	for (size_t i = 0; i < n; i++) {
		PmGap gap;

		if (pm__gaps_find(gaps, l[i].first, l[i].last, &gap)) {
			pm__gaps_take(gaps, gap);
		} else {
			gap = (PmGap){ 0, n_steps - 1, new_slot(out, l[i].bytes) };
			begun[gap.slot] = -1;
		}
		pm__gaps_add(gaps, (PmGap){ gap.first, l[i].first - 1, gap.slot });
		pm__gaps_add(gaps, (PmGap){ l[i].last + 1, gap.last, gap.slot });
		if (l[i].first > begun[gap.slot]) {
			out->holder[gap.slot] = l[i].buffer;
			begun[gap.slot] = l[i].first;
		}
		out->of[l[i].buffer] = gap.slot;
	}
	pm__gaps_free(gaps);
	free(begun);
	free(l);
}

void pm__slots_assign(const PmPlan *p, PmSlots *out)
{
	size_t n = p->buffers.n; /* and no more slots than that */
	int *last = pm_xcalloc(n + 1, sizeof *last);

	*out = (PmSlots){ pm_xcalloc(n + 1, sizeof *out->of), pm_xcalloc(n + 1, sizeof *out->bytes),
			  pm_xcalloc(n + 1, sizeof *out->holder), 0 };
	last_uses(p, last);
	for (size_t i = 0; i < n; i++) {
		const Buffer *b = &p->buffers.v[i];

		out->of[i] = -1;
		if (!b->is_const && (b->use != PM_BUF_SCRATCH || last[i] < 0))
			out->of[i] = new_slot(out, b->bytes);
	}
	share_slots(p, out);
	free(last);
}

void pm__slots_release(PmSlots *s)
{
	free(s->of);
	free(s->bytes);
	free(s->holder);
	*s = (PmSlots){ 0 };
}

int64_t pm__slots_bytes(const PmSlots *s)
{
	int64_t sum = 0;

	for (int i = 0; i < s->n; i++)
		sum += s->bytes[i];
	return sum;
}

/* What is neither input, constant nor result, most at one moment: from the launch that writes it to the last
 * that uses it. */
static int64_t most_between(const PmPlan *p)
{
	int *last = pm_xcalloc(p->buffers.n + 1, sizeof *last);
	char *held = pm_xcalloc(p->buffers.n + 1, 1);
	int64_t now = 0, most = 0;

	last_uses(p, last);
	for (size_t s = 0; s < p->steps.n; s++) {
		const Step *at = &p->steps.v[s];

		for (int pass = 0; pass < 2 && at->source >= 0; pass++) {
			for (int i = 0; i < at->n_args; i++) {
				int b = passing(p, &at->args[i]);

				if (b >= 0 && !pass && !held[b]) {
					held[b] = 1;
					now += p->buffers.v[b].bytes;
				} else if (b >= 0 && pass && held[b] == 1 && last[b] == (int)s) {
					held[b] = 2; /* an argument may stand there twice */
					now -= p->buffers.v[b].bytes;
				}
			}
			most = now > most ? now : most;
		}
	}
	free(last);
	free(held);
	return most;
}

void pm_plan_memory(const PmPlan *p, PmPlanMemory *out)
{
	PmSlots s;
	int64_t lasting = 0, constants = 0;

	for (size_t i = 0; i < p->buffers.n; i++) {
		const Buffer *b = &p->buffers.v[i];

		constants += b->is_const ? b->bytes : 0;
		lasting += !b->is_const && b->use != PM_BUF_SCRATCH ? b->bytes : 0;
	}
	pm__slots_assign(p, &s);
	out->taken = constants + pm__slots_bytes(&s);
	out->live = constants + lasting + most_between(p);
	pm__slots_release(&s);
}

PmStatus pm_graph_plan_memory(const PmGraph *g, PmPlanMemory *out, PmErr *err)
{
	PmPlan *p = NULL;
	PmStatus st = pm_plan_new(g, NULL, 0, &p, err);

	*out = (PmPlanMemory){ 0 };
	if (!st)
		pm_plan_memory(p, out);
	pm_plan_free(p);
	return st;
}
