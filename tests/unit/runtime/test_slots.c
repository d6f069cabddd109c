/* SPDX-License-Identifier: Apache-2.0 */
/* test_slots.c - which intermediates share memory is what the plain rule says: the largest first, each in the
 * highest slot in which nothing is alive while it is. */
#include "base/core/rng.h"
#include "runtime/exec/plan_gaps.h"
#include "runtime/exec/plan_priv.h"
#include "tests/lib/graphs/gen_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct Life {
	int first, last, slot; /* first -1: no launch uses it */
} Life;

/* One of 0 to n - 1. */
static uint64_t below(PmRng *r, uint64_t n)
{
	return (uint64_t)pm_rng_range(r, 0, (int64_t)n - 1);
}

static void list_lives(const PmPlan *p, Life *life)
{
	for (size_t b = 0; b < p->buffers.n; b++)
		life[b] = (Life){ -1, -1, -1 };
	for (size_t s = 0; s < p->steps.n; s++)
		for (int i = 0; i < p->steps.v[s].n_args && p->steps.v[s].source >= 0; i++) {
			const PmDevArg *a = &p->steps.v[s].args[i];

			if (a->kind != PM_DARG_BUF)
				continue;
			if (life[a->buf.id - 1].first < 0)
				life[a->buf.id - 1].first = (int)s;
			life[a->buf.id - 1].last = (int)s;
		}
}

static int is_shared(const PmPlan *p, const Life *life, size_t b)
{
	return !p->buffers.v[b].is_const && p->buffers.v[b].use == PM_BUF_SCRATCH && life[b].last >= 0;
}

/* The largest of those that have no slot; of equals, the first. */
static int next_largest(const PmPlan *p, const Life *life)
{
	int best = -1;

	for (size_t b = 0; b < p->buffers.n; b++)
		if (life[b].slot < 0 && is_shared(p, life, b) &&
		    (best < 0 || p->buffers.v[b].bytes > p->buffers.v[best].bytes))
			best = (int)b;
	return best;
}

static int has_room(const PmPlan *p, const Life *life, int slot, const Life *l)
{
	for (size_t b = 0; b < p->buffers.n; b++)
		if (life[b].slot == slot && life[b].first <= l->last && l->first <= life[b].last)
			return 0;
	return 1;
}

/* The rule, word by word. */
static void plain_rule(const PmPlan *p, Life *life, int64_t *bytes, int *n_slots)
{
	int lasting, b;

	*n_slots = 0;
	list_lives(p, life);
	for (size_t k = 0; k < p->buffers.n; k++)
		if (!p->buffers.v[k].is_const && !is_shared(p, life, k)) {
			life[k].slot = *n_slots;
			bytes[(*n_slots)++] = p->buffers.v[k].bytes;
		}
	lasting = *n_slots;
	while ((b = next_largest(p, life)) >= 0) {
		int slot = *n_slots - 1;

		while (slot >= lasting && !has_room(p, life, slot, &life[b]))
			slot--;
		if (slot < lasting) {
			slot = (*n_slots)++;
			bytes[slot] = p->buffers.v[b].bytes;
		}
		life[b].slot = slot;
	}
}

/* The last intermediate in a slot that begins to live. */
static int holder_of(const PmPlan *p, const Life *life, int slot)
{
	int at = -1;

	for (size_t b = 0; b < p->buffers.n; b++)
		if (life[b].slot == slot && is_shared(p, life, b) &&
		    (at < 0 || life[b].first > life[at].first))
			at = (int)b;
	return at;
}

static void check_plan(const PmPlan *p)
{
	size_t n = p->buffers.n;
	Life *life = calloc(n + 1, sizeof *life);
	int64_t *bytes = calloc(n + 1, sizeof *bytes), sum = 0;
	int n_slots;
	PmSlots s;

	plain_rule(p, life, bytes, &n_slots);
	pm__slots_assign(p, &s);
	assert_int_equal(s.n, n_slots);
	for (size_t b = 0; b < n; b++)
		assert_int_equal(s.of[b], life[b].slot);
	for (int k = 0; k < n_slots; k++) {
		assert_int_equal(s.bytes[k], bytes[k]);
		sum += bytes[k];
		if (holder_of(p, life, k) >= 0)
			assert_int_equal(s.holder[k], holder_of(p, life, k));
	}
	assert_int_equal(pm__slots_bytes(&s), sum);
	pm__slots_release(&s);
	free(life);
	free(bytes);
}

static void random_graphs(void **state)
{
	int planned = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 150; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 5 + (int)(seed % 60) };
		PmGraph *g = gen_graph(&o);
		PmPlan *p = NULL;
		PmErr err;

		pm_err_init(&err);
		if (!pm_plan_new(g, NULL, 0, &p, &err)) {
			check_plan(p);
			planned++;
		}
		pm_plan_free(p);
		pm_graph_free(g);
	}
	assert_true(planned > 20);
}

/* A plan of launches that use buffers at random: `reach`: how far apart at most. */
static void random_plan(PmRng *r, int n_steps, int n_buffers, int reach)
{
	PmPlan p = { 0 };
	enum { ARGS = 4 };
	PmDevArg *args = calloc((size_t)n_steps * ARGS + 1, sizeof *args);

	for (int b = 0; b < n_buffers; b++) {
		Buffer x = { .bytes = (int64_t)below(r, 6) * 256,
			     .use = below(r, 12) ? PM_BUF_SCRATCH : PM_BUF_OUTPUT,
			     .is_const = !below(r, 12) };

		PM_VEC_PUSH(&p.buffers, x);
	}
	for (int s = 0; s < n_steps; s++) {
		Step x = { .source = below(r, 8) ? 0 : -1, .args = args + s * ARGS, .n_args = ARGS };
		int at = (int)((int64_t)s * n_buffers / n_steps);

		for (int k = 0; k < ARGS; k++) {
			int b = at - reach + (int)below(r, 2 * (uint64_t)reach + 1);

			if (b >= 0 && b < n_buffers)
				x.args[k] = (PmDevArg){ .kind = PM_DARG_BUF, .buf = { (uint32_t)b + 1 } };
			else
				x.args[k] = (PmDevArg){ .kind = PM_DARG_I64 };
		}
		PM_VEC_PUSH(&p.steps, x);
	}
	check_plan(&p);
	PM_VEC_RELEASE(&p.buffers);
	PM_VEC_RELEASE(&p.steps);
	free(args);
}

static void random_lives(void **state)
{
	PmRng r;

	(void)state;
	pm_rng_init(&r, 7);
	for (int i = 0; i < 300; i++) {
		int n_steps = 1 + (int)below(&r, 90);

		random_plan(&r, n_steps, 1 + (int)below(&r, 120), 1 + (int)below(&r, 60));
	}
	random_plan(&r, 0, 0, 1);
	random_plan(&r, 1, 40, 40);
	random_plan(&r, 700, 700, 3);
}

/* The search alone, against a look at every gap. */
static void search(void **state)
{
	enum { STEPS = 50, SLOTS = 40 };
	PmGap all[STEPS * SLOTS];
	int n = 0;
	PmGaps *g = pm__gaps_new(STEPS);
	PmRng r;

	(void)state;
	pm_rng_init(&r, 11);
	for (int s = 0; s < SLOTS; s++) {
		all[n] = (PmGap){ 0, STEPS - 1, s };
		pm__gaps_add(g, all[n++]);
	}
	for (int i = 0; i < 2000; i++) {
		int first = (int)below(&r, STEPS), best = -1;
		int last = first + (int)below(&r, 1 + (uint64_t)(STEPS - first - 1) / 4);
		PmGap gap, part[2];

		for (int k = 0; k < n; k++)
			if (all[k].first <= first && all[k].last >= last &&
			    (best < 0 || all[k].slot > all[best].slot))
				best = k;
		assert_int_equal(pm__gaps_find(g, first, last, &gap), best >= 0);
		if (best < 0)
			continue;
		assert_memory_equal(&gap, &all[best], sizeof gap);
		pm__gaps_take(g, gap);
		all[best] = all[--n];
		part[0] = (PmGap){ gap.first, first - 1, gap.slot };
		part[1] = (PmGap){ last + 1, gap.last, gap.slot };
		for (int k = 0; k < 2; k++) {
			pm__gaps_add(g, part[k]); /* an empty one is none */
			if (part[k].first <= part[k].last)
				all[n++] = part[k];
		}
	}
	pm__gaps_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(search),
		cmocka_unit_test(random_lives),
		cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
