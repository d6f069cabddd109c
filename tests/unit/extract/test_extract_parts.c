/* SPDX-License-Identifier: Apache-2.0 */
/* test_extract_parts.c - a graph is the chain of its parts: run part by part, in any order that the edges
 * between them allow, fusible sets and motifs give the bits that the whole gives. Their quotient has no
 * cycle, or there is no order.
 */
#include "base/sys/io.h"
#include "bench/inputs/inputs.h"
#include "extract/extract.h"
#include "extract/variants/variants.h"
#include "ir/text/text.h"
#include "runtime/ref/ref.h"
#include "tests/lib/graphs/gen_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every node's part: sets first, then each other node by itself. */
typedef struct Parts {
	const PmGraph *g;
	size_t n, *of;      /* by node id: 1 + part */
	PmTensor *value;    /* by value id of g */
	char *known, *done; /* by value id; by part */
	PmCutter *cutter;
} Parts;

static void number(Parts *p, const PmNodeSets *s)
{
	p->n = s->n;
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = s->start[i]; k < s->start[i + 1]; k++)
			p->of[s->nodes[k].id] = i + 1;
	for (size_t i = 0; i < pm_graph_n_nodes(p->g); i++) {
		PmNode n = pm_graph_node_at(p->g, i);

		if (!p->of[n.id])
			p->of[n.id] = ++p->n;
	}
}

static PmValue named(const PmGraph *g, const char *name)
{
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++)
		if (!strcmp(pm_value_name(g, (PmValue){ id }), name))
			return (PmValue){ id };
	fail_msg("a part has a value '%s' that the graph has not", name);
	return (PmValue){ 0 };
}

/* Runs a part when everything that it reads is there: 1 done, 0 not yet, -1 it cannot be cut or does not run.
 */
static int try_part(Parts *p, size_t part)
{
	PmNode *nodes = pm_xcalloc(pm_graph_n_nodes(p->g) + 1, sizeof *nodes);
	PmTensor *in, *out;
	PmGraph *sub = NULL;
	size_t n = 0, n_in, n_out;
	int ready = 1;

	for (size_t i = 0; i < pm_graph_n_nodes(p->g); i++)
		if (p->of[pm_graph_node_at(p->g, i).id] == part)
			nodes[n++] = pm_graph_node_at(p->g, i);
	if (pm_cutter_cut(p->cutter, nodes, n, &sub, NULL)) {
		free(nodes);
		return -1;
	}
	n_in = pm_graph_n_inputs(sub);
	n_out = pm_graph_n_outputs(sub);
	in = pm_xcalloc(n_in + 1, sizeof *in);
	out = pm_xcalloc(n_out + 1, sizeof *out);
	for (size_t i = 0; i < n_in; i++) {
		PmValue v = named(p->g, pm_value_name(sub, pm_graph_input(sub, i)));

		ready &= p->known[v.id];
		in[i] = p->value[v.id]; /* borrowed */
	}
	if (ready && pm_ref_run(sub, in, n_in, out, n_out, NULL))
		ready = -1;
	for (size_t i = 0; i < n_out && ready == 1; i++) {
		PmValue v = named(p->g, pm_value_name(sub, pm_graph_output(sub, i)));

		p->value[v.id] = out[i];
		p->known[v.id] = 1;
	}
	free(in);
	free(out);
	free(nodes);
	pm_graph_free(sub);
	return ready;
}

static int run_parts(Parts *p)
{
	size_t left = p->n, was = left + 1;

	p->done = pm_xcalloc(p->n + 2, 1);
	while (left && left < was) {
		was = left;
		for (size_t k = p->n; k >= 1; k--) { /* backward: as far from the stored order as there is */
			int r = p->done[k] ? 0 : try_part(p, k);

			if (r < 0)
				return 0;
			p->done[k] |= (char)r;
			left -= (size_t)r;
		}
	}
	assert_int_equal(left, 0); /* else the parts depend on each other in a circle */
	return 1;
}

/* 1 when the graph could be compared: it runs, and all of its parts can be cut. */
static int compare(const PmGraph *g, const PmNodeSets *sets, uint64_t seed)
{
	size_t n_in = pm_graph_n_inputs(g), n_out = pm_graph_n_outputs(g), limit = pm_graph_value_limit(g);
	PmTensor *in = pm_xcalloc(n_in + 1, sizeof *in), *out = pm_xcalloc(n_out + 1, sizeof *out);
	PmCutOpts keep = { .max_const = 1 << 20, .max_float_const = 1 << 20 };
	Parts p = { .g = g };
	int ok;

	p.of = pm_xcalloc((size_t)pm_graph_node_limit(g) + 1, sizeof *p.of);
	p.value = pm_xcalloc(limit + 1, sizeof *p.value);
	p.known = pm_xcalloc(limit + 1, 1);
	assert_int_equal(pm_cutter_new(g, &keep, &p.cutter, NULL), PM_OK);
	number(&p, sets);
	assert_int_equal(pm_inputs_make(g, seed, PM_INPUTS_NORMAL, in, NULL), PM_OK);
	for (size_t i = 0; i < n_in; i++) {
		p.value[pm_graph_input(g, i).id] = in[i];
		p.known[pm_graph_input(g, i).id] = 1;
	}
	ok = !pm_ref_run(g, in, n_in, out, n_out, NULL) && run_parts(&p);
	for (size_t i = 0; i < n_out && ok; i++) {
		const PmTensor *part = &p.value[pm_graph_output(g, i).id];

		assert_true(p.known[pm_graph_output(g, i).id]);
		assert_int_equal(part->bytes, out[i].bytes);
		assert_memory_equal(part->data, out[i].data, out[i].bytes);
	}
	for (size_t id = 1; id < limit; id++)
		if (p.known[id])
			pm_tensor_release(&p.value[id]);
	pm_tensors_release(out, n_out);
	pm_cutter_free(p.cutter);
	free(in);
	free(out);
	free(p.of);
	free(p.value);
	free(p.known);
	free(p.done);
	return ok;
}

static int compare_fusible(const PmGraph *g, uint64_t seed)
{
	PmFusibleOpts opts = { .min_launches = 1 };
	PmNodeSets sets;
	int ok;

	assert_int_equal(pm_fusible_sets(g, &opts, &sets, NULL), PM_OK);
	ok = sets.n && compare(g, &sets, seed);
	pm_node_sets_release(&sets);
	return ok;
}

static int compare_motifs(const PmGraph *g, uint64_t seed)
{
	PmSkeleton s;
	const PmSkeleton *one = &s;
	PmFoldDagOpts all = { .min_nodes = 2, .max_nodes = 20, .min_support = 1 };
	PmFoldDag f;
	PmNodeSets sets;
	int ok;

	assert_int_equal(pm_skeleton_make(g, &s, NULL), PM_OK);
	pm_fold_dag(&one, 1, &all, &f);
	pm_fold_dag_sets(&f, 0, &s, &sets);
	ok = sets.n && compare(g, &sets, seed);
	pm_node_sets_release(&sets);
	pm_fold_dag_release(&f);
	pm_skeleton_release(&s);
	return ok;
}

typedef struct Count {
	int fusible, motifs;
	uint64_t seed;
} Count;

/* Random numbers are float where their node says so; those would be rounded where a part ends. */
static int is_double(const PmGraph *g)
{
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		int dtype = pm_value_type(g, (PmValue){ id })->dtype;

		if (pm_dtype_is_float(dtype) && dtype != PM_F64)
			return 0;
	}
	return 1;
}

static PmStatus compare_both(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	Count *c = arg;

	(void)label;
	(void)shape;
	(void)dtype;
	(void)err;
	if (!is_double(g))
		return PM_OK;
	c->fusible += compare_fusible(g, c->seed);
	c->motifs += compare_motifs(g, c->seed);
	return PM_OK;
}

/* In double precision, in which the reference computes: where a part ends, nothing is rounded. */
static void random_graphs_are_the_chain_of_their_parts(void **state)
{
	PmVariantOpts wide = { .n_shapes = 1, .dtypes = 1u << PM_F64 };
	Count c = { 0, 0, 0 };

	(void)state;
	for (uint64_t k = 1; k <= 300; k++) {
		GenOpts o = { .seed = k, .n_nodes = 10 + (int)(k % 50), .float_only = 1, .max_numel = 256 };
		PmGraph *g = gen_graph(&o);

		c.seed = k;
		pm_variants_make(g, &wide, compare_both, &c, NULL, NULL);
		pm_graph_free(g);
	}
	print_message("# %d graphs in fusible sets, %d in motifs\n", c.fusible, c.motifs);
	assert_true(c.fusible >= 50);
	assert_true(c.motifs >= 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs_are_the_chain_of_their_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
