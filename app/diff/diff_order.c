/* SPDX-License-Identifier: Apache-2.0 */
/* diff_order.c - the nodes of both graphs in one topological order: that of b, with what a has alone where it
 * was. */
#include "app/diff/diff_union.h"

typedef struct Ordering {
	const Diffing *d;
	char *done; /* by union item */
	PM_VEC(uint32_t) stack;
	PmDiff *out;
} Ordering;

static int is_node(const Diffing *d, uint32_t u)
{
	uint32_t y = pm__union_in_b(d, u);

	return u < d->a.n ? u < d->a.n_nodes : y < d->b.n_nodes;
}

static void emit(Ordering *o, uint32_t u)
{
	uint32_t y = pm__union_in_b(o->d, u);

	if (is_node(o->d, u))
		PM_VEC_PUSH(&o->out->order, y != PM_DIFF_NONE ? y : u | PM_DIFF_IN_A);
}

/* An item behind all that it depends on. */
static void put(Ordering *o, uint32_t root)
{
	PM_VEC_PUSH(&o->stack, root);
	while (o->stack.n) {
		uint32_t u = o->stack.v[o->stack.n - 1], v;
		size_t n = o->stack.n;
		int more = 1;

		for (size_t k = 0; more && !o->done[u]; k++) {
			v = pm__union_source(o->d, u, k, &more);
			if (more && v != PM_DIFF_NONE && !o->done[v])
				PM_VEC_PUSH(&o->stack, v);
		}
		if (o->stack.n > n)
			continue;
		o->stack.n--;
		if (!o->done[u])
			emit(o, u);
		o->done[u] = 1;
	}
}

void pm__diff_order(const Diffing *d, PmDiff *out)
{
	Ordering o = { .d = d, .out = out };
	uint32_t x = 0;

	o.done = pm_xcalloc((size_t)pm__union_n(d) + 1, 1);
	for (uint32_t y = 0; y < d->b.n_nodes; y++) {
		uint32_t u = pm__union_of_b(d, y);

		/* What a has alone stands behind the pair that it followed there. */
		put(&o, u);
		if (u >= d->a.n)
			continue;
		for (x = u + 1; x < d->a.n_nodes && d->a.match[x] == PM_DIFF_NONE && !o.done[x]; x++)
			put(&o, x);
	}
	for (x = 0; x < d->a.n_nodes; x++)
		put(&o, x);
	free(o.done);
	PM_VEC_RELEASE(&o.stack);
}
