/* SPDX-License-Identifier: Apache-2.0 */
/* diff_seed.c - pairs that show only when kernels are taken apart.
 *
 * Of a rewritten model little more than the products may be left, each between two kernels, so that nothing
 * around them corresponds. With the bodies in the kernels' places the two graphs are nearly the same. What is
 * paired there and is a node here becomes a pair here.
 */
#include "app/diff/diff_priv.h"
#include "ir/core/kernel.h"

#include <string.h>

/* A graph without kernels. */
typedef struct Apart {
	PmGraph *g;
	uint32_t n_nodes; /* of the graph with kernels: a node of lower or equal id stands at id - 1 there */
	Side side;
} Apart;

static int has_kernel(const Side *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (pm_node_op(s->g, pm_graph_node_at(s->g, i)) == PM_OP_Kernel)
			return 1;
	}
	return 0;
}

static PmStatus take_apart(const Side *s, Apart *out, PmErr *err)
{
	PmStatus st = pm_graph_clone(s->g, &out->g, err); /* ids become places + 1 */

	out->n_nodes = s->n_nodes;
	st = st ? st : pm_graph_inline_kernels(out->g, err);
	st = st ? st : pm_graph_sort(out->g, err);
	return st ? st : pm__diff_side(out->g, &out->side, err);
}

/* The place of an item of the graph without kernels in the one with them; PM_DIFF_NONE for a node of a body.
 */
static uint32_t place_of(const Apart *p, uint32_t item)
{
	uint32_t id = item < p->side.n_nodes ? pm_graph_node_at(p->g, item).id : 0;

	return id && id <= p->n_nodes ? id - 1 : PM_DIFF_NONE;
}

PmStatus pm__diff_seed(Diffing *d, PmErr *err)
{
	Apart a = { 0 }, b = { 0 };
	Diffing apart = { 0 };
	PmStatus st;

	if (!has_kernel(&d->a) && !has_kernel(&d->b))
		return PM_OK;
	st = take_apart(&d->a, &a, err);
	st = st ? st : take_apart(&d->b, &b, err);
	if (!st) {
		apart.a = a.side;
		apart.b = b.side;
		pm__diff_match(&apart);
		pm__diff_repair(&apart);
		a.side = apart.a; /* arrays may have changed places */
		b.side = apart.b;
	}
	for (uint32_t i = 0; i < a.side.n && !st; i++) {
		uint32_t k = a.side.match[i];
		uint32_t x = place_of(&a, i), y = k == PM_DIFF_NONE ? k : place_of(&b, k);

		if (x != PM_DIFF_NONE && y != PM_DIFF_NONE)
			pm__diff_pair(d, x, y);
	}
	PM_VEC_RELEASE(&apart.queue);
	pm__diff_side_release(&a.side);
	pm__diff_side_release(&b.side);
	pm_graph_free(a.g);
	pm_graph_free(b.g);
	return st;
}
