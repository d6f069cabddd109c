/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_match.c - random graph x random pattern: matching ends, and a match keeps its promises. A pattern is
 * made from the graph, around a value, and then damaged here and there, so that both answers occur. */
#include "base/core/rng.h"
#include "matcher/pattern/match.h"
#include "matcher/pattern/rules.h"
#include "tests/lib/graphs/gen_graph.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

typedef struct Maker {
	const PmGraph *g;
	PmRng rng;
	int nodes, slots;
} Maker;

static int chance(Maker *k, int percent)
{
	return pm_rng_range(&k->rng, 0, 99) < percent;
}

static void leaf(Maker *k, PmStr *out)
{
	k->nodes++;
	if (chance(k, 50) && k->slots < PM_MAX_SLOTS)
		pm_str_addf(out, "?%d", k->slots++);
	else if (chance(k, 10) && k->slots) /* perhaps another value */
		pm_str_addf(out, "?%d", (int)pm_rng_range(&k->rng, 0, k->slots - 1));
	else
		pm_str_addc(out, '_');
}

/* A pattern for v that fits, unless damaged. */
static void make(Maker *k, PmValue v, int depth, PmStr *out)
{
	size_t result = 0, n_in;
	PmNode n = pm_value_def(k->g, v, &result);
	int alt = chance(k, 8), opt = chance(k, 5);

	if (!v.id || !n.id || depth > 4 || k->nodes > 30 || (depth && chance(k, 20)) ||
	    pm_op_desc(pm_node_op(k->g, n))->flags & (PM_OPF_OPAQUE | PM_OPF_KERNEL)) {
		leaf(k, out);
		return;
	}
	k->nodes += 1 + alt * 2 + opt;
	if (depth && alt)
		pm_str_add(out, "(| (Selu _) ");
	if (depth && opt)
		pm_str_add(out, "(Identity? ");
	n_in = pm_node_n_in(k->g, n);
	pm_str_addf(out, "(%s", pm_node_op_name(k->g, n));
	for (size_t i = 0; i < n_in; i++) {
		if (chance(k, 5) || !pm_node_in(k->g, n, i).id) {
			pm_str_add(out, " ...");
			k->nodes++;
			break;
		}
		pm_str_addc(out, ' ');
		make(k, pm_node_in(k->g, n, i), depth + 1, out);
	}
	if (!n_in)
		pm_str_add(out, " ...");
	pm_str_add(out, "){anyattr}");
	if (result)
		pm_str_addf(out, "{#%zu}", result);
	if (depth && chance(k, 60))
		pm_str_add(out, "{keep}");
	if (chance(k, 5))
		pm_str_add(out, "{r2}");
	if (depth && opt)
		pm_str_addc(out, ')');
	if (depth && alt)
		pm_str_addc(out, ')');
}

static void check_match(const PmGraph *g, const PmPattern *p, PmValue root, const char *text)
{
	PmMatched m;
	PmMiss miss;
	PmStr s = PM_STR_INIT;

	if (!pm_match(g, p, root, &m, &miss)) {
		pm_miss_describe(g, p, &miss, &s);
		if (miss.kind == PM_MISS_NONE || !s.len) {
			fprintf(stderr, "no reason for %s\n", text);
			abort();
		}
	} else {
		if (m.root.id != root.id || !m.n_nodes || m.n_nodes > PM_MAX_MATCH_NODES)
			abort();
		for (uint32_t i = 0; i < m.n_nodes; i++)
			if (pm_node_op(g, m.node[i]) == PM_OP_NONE)
				abort();
	}
	pm_str_release(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint64_t seed = 0;
	GenOpts o = { .n_nodes = 20, .symbols = 1, .zero_dims = 1 };
	Maker k = { 0 };
	PmGraph *g;

	for (size_t i = 0; i < n; i++)
		seed = seed * 1099511628211u + data[i];
	o.seed = seed;
	g = gen_graph(&o);
	k.g = g;
	pm_rng_init(&k.rng, seed);
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++) {
		PmNode x = pm_graph_node_at(g, i);
		PmValue root = pm_node_out(g, x, 0);
		PmStr text = PM_STR_INIT;
		PmPattern *p = NULL;
		PmErr err;

		pm_err_init(&err);
		k.nodes = k.slots = 0;
		make(&k, root, 0, &text);
		if (pm_pattern_parse(text.s, text.len, &p, &err) != PM_OK && err.code != PM_E_LIMIT) {
			fprintf(stderr, "%s\n%s\n", err.text, text.s);
			abort();
		}
		for (size_t j = 0; p && p->node[0].kind == PM_PK_OP && j < pm_graph_n_nodes(g); j++)
			if (pm_node_op(g, pm_graph_node_at(g, j)) == p->node[0].op)
				check_match(g, p, pm_node_out(g, pm_graph_node_at(g, j), 0), text.s);
		pm_pattern_free(p);
		pm_str_release(&text);
	}
	pm_graph_free(g);
	return 0;
}
