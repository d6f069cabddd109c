/* SPDX-License-Identifier: Apache-2.0 */
/* canon_color.c - colours for the canonical form.
 *
 * A value's colour is a hash of what the level shows of everything it depends on and of everything that
 * depends on it, however the graph is stored. Commuting operands are put in order by it. Each sweep runs
 * over the whole graph in one direction, so that a few sweeps carry facts far.
 */
#include "ir/canon/canon_priv.h"

#include <string.h>

enum { ROUNDS = 4, OMITTED = 77 };

static uint64_t text_hash(const char *s, size_t n)
{
	return pm_hash64(s, n, PM_HASH_SEED);
}

static uint64_t value_base(const PmCanon *c, PmValue v, uint64_t label, size_t result)
{
	PmStr b = PM_STR_INIT;
	uint64_t h;

	if (!pm_value_def(c->g, v, NULL).id)
		pm__canon_source(c, v, &b);
	pm__canon_type(c, pm_value_type(c->g, v), NULL, &b);
	h = pm__mix(text_hash(b.s, b.len), pm__mix(label, result));
	pm_str_release(&b);
	return h;
}

static uint64_t label_hash(const PmCanon *c, size_t i)
{
	const char *s = pm__canon_label(c, i);

	return text_hash(s, strlen(s));
}

void pm__canon_color_init(PmCanon *c)
{
	size_t i, k;

	for (i = 0; i < c->values.n; i++)
		c->color[c->values.v[i]] = value_base(c, (PmValue){ c->values.v[i] }, 0, 0);
	for (i = 0; i < c->nodes.n; i++) {
		PmNode n = { c->nodes.v[i] };
		uint64_t label = label_hash(c, i);

		for (k = 0; k < pm_node_n_out(c->g, n); k++)
			c->color[pm_node_out(c->g, n, k).id] = value_base(c, pm_node_out(c->g, n, k), label,
									  k);
	}
}

static int commutes(const PmCanon *c, PmNode n)
{
	return (pm_op_desc(pm_node_op(c->g, n))->flags & PM_OPF_COMM) && pm_node_n_in(c->g, n) >= 2;
}

static uint64_t operand_color(const PmCanon *c, PmNode n, size_t k)
{
	PmValue v = pm_node_in(c->g, n, k);

	return v.id ? c->color[v.id] : OMITTED;
}

/* From operands to results. */
static void sweep_up(PmCanon *c)
{
	size_t i, k;

	for (i = 0; i < c->nodes.n; i++) {
		PmNode n = { c->nodes.v[i] };
		size_t n_in = pm_node_n_in(c->g, n);
		uint64_t h = n_in;

		for (k = 0; k < n_in; k++) {
			uint64_t x = operand_color(c, n, k);

			if (k < 2 && commutes(c, n)) {
				uint64_t y = operand_color(c, n, 1 - k);

				/* The smaller first, whichever is stored first. */
				x = (x < y) == (k == 0) ? x : y;
			}
			h = pm__mix(h, x);
		}
		for (k = 0; k < pm_node_n_out(c->g, n); k++) {
			uint32_t r = pm_node_out(c->g, n, k).id;

			c->color[r] = pm__mix(c->color[r], h);
		}
	}
}

/* From results to operands: uses add up, so that their order does not matter. */
static void sweep_down(PmCanon *c)
{
	size_t i, k;

	for (i = 0; i < c->values.n; i++)
		c->sum[c->values.v[i]] = 0;
	for (i = 0; i < pm_graph_n_outputs(c->g); i++)
		c->sum[pm_graph_output(c->g, i).id] += pm__mix(~(uint64_t)0, c->depth ? i : 0);
	for (i = c->nodes.n; i-- > 0;) {
		PmNode n = { c->nodes.v[i] };
		uint64_t h = 0;

		for (k = 0; k < pm_node_n_out(c->g, n); k++) {
			uint32_t r = pm_node_out(c->g, n, k).id;

			c->color[r] = pm__mix(c->color[r], c->sum[r]);
			h = pm__mix(h, c->color[r]);
		}
		for (k = 0; k < pm_node_n_in(c->g, n); k++) {
			PmValue v = pm_node_in(c->g, n, k);

			if (v.id)
				c->sum[v.id] += pm__mix(h, k < 2 && commutes(c, n) ? 0 : k);
		}
	}
	for (i = 0; i < c->values.n; i++) {
		if (!pm_value_def(c->g, (PmValue){ c->values.v[i] }, NULL).id)
			c->color[c->values.v[i]] = pm__mix(c->color[c->values.v[i]], c->sum[c->values.v[i]]);
	}
}

/* Through the symbols that values share. */
static void sweep_symbols(PmCanon *c)
{
	size_t i;
	int k;

	memset(c->symbol_sum, 0, c->n_symbols * sizeof *c->symbol_sum);
	for (i = 0; i < c->values.n; i++) {
		const PmType *t = pm_value_type(c->g, (PmValue){ c->values.v[i] });

		for (k = 0; k < t->rank; k++) {
			if (t->dim[k] < 0)
				c->symbol_sum[-(t->dim[k] + 1)] += pm__mix(c->color[c->values.v[i]],
									   (uint64_t)k);
		}
	}
	for (i = 0; i < c->values.n; i++) {
		const PmType *t = pm_value_type(c->g, (PmValue){ c->values.v[i] });
		uint64_t *x = &c->color[c->values.v[i]];

		for (k = 0; k < t->rank; k++) {
			if (t->dim[k] < 0)
				*x = pm__mix(*x, c->symbol_sum[-(t->dim[k] + 1)]);
		}
	}
}

void pm__canon_refine(PmCanon *c)
{
	int round;

	for (round = 0; round < ROUNDS; round++) {
		sweep_up(c);
		sweep_down(c);
		if (c->level != PM_CANON_STRUCTURE && c->n_symbols)
			sweep_symbols(c);
	}
	c->budget -= (int64_t)c->values.n * 2 * ROUNDS;
	c->n_refined++;
}
