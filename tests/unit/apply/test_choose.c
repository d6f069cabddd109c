/* SPDX-License-Identifier: Apache-2.0 */
/* test_choose.c - which regions are taken: the most weight exactly, and never worse than an order of passes.
 */
#include "app/apply/choose.h"
#include "app/model/model_file.h"
#include "base/core/rng.h"
#include "ir/canon/canon.h"
#include "ir/core/kernel.h"
#include "matcher/rewrite/same.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- selection ---- */

/* The most that a set without conflicts weighs, by trying all. */
static double most_of_all(const double *w, size_t n, const PmSelectEdge *e, size_t n_edges)
{
	double best = 0;

	for (uint32_t set = 0; set < 1u << n; set++) {
		double sum = 0;
		int ok = 1;

		for (size_t k = 0; k < n_edges; k++)
			ok &= e[k].a == e[k].b || !(set >> e[k].a & 1) || !(set >> e[k].b & 1);
		for (size_t i = 0; i < n; i++)
			sum += set >> i & 1 ? w[i] : 0;
		if (ok && sum > best)
			best = sum;
	}
	return best;
}

static void selection_is_the_best(void **state)
{
	PmRng rng;

	(void)state;
	pm_rng_init(&rng, 7);
	for (int round = 0; round < 200; round++) {
		size_t n = 1 + (size_t)pm_rng_range(&rng, 0, 11), n_edges = (size_t)pm_rng_range(&rng, 0, 19);
		double w[12];
		PmSelectEdge e[20];
		PmRegionSet s;

		for (size_t i = 0; i < n; i++)
			w[i] = (double)pm_rng_range(&rng, -3, 16);
		for (size_t k = 0; k < n_edges; k++)
			e[k] = (PmSelectEdge){ (uint32_t)pm_rng_range(&rng, 0, (int64_t)n - 1),
					       (uint32_t)pm_rng_range(&rng, 0, (int64_t)n - 1) };
		pm_select_regions(w, n, e, n_edges, &s);
		assert_true(fabs(s.weight - most_of_all(w, n, e, n_edges)) < 1e-9);
		for (size_t k = 0; k < n_edges; k++)
			assert_true(e[k].a == e[k].b || !s.taken[e[k].a] || !s.taken[e[k].b]);
		for (size_t i = 0; i < n; i++)
			assert_true(!s.taken[i] || w[i] > 0);
		pm_region_set_release(&s);
	}
}

/* A chain of more regions than are solved exactly: the heaviest are taken, and none beside another. */
static void large_components_are_greedy(void **state)
{
	enum { N = 2 * PM_SELECT_EXACT };
	double w[N];
	PmSelectEdge e[N];
	PmRegionSet s;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		w[i] = 1 + (i % 2);
		e[i] = (PmSelectEdge){ i, i ? i - 1 : i };
	}
	pm_select_regions(w, N, e, N, &s);
	assert_int_equal(s.n_greedy, 1);
	assert_int_equal(s.largest, N);
	assert_true(fabs(s.weight - N) < 1e-9);
	pm_region_set_release(&s);
	pm_select_regions(w, PM_SELECT_EXACT, e, PM_SELECT_EXACT, &s);
	assert_int_equal(s.n_greedy, 0);
	assert_true(fabs(s.weight - PM_SELECT_EXACT) < 1e-9);
	pm_region_set_release(&s);
}

/* ---- passes ---- */

static const char *pass_path(const char *name, char *out, size_t size)
{
	const char *build = getenv("PASSMITH_BUILD");

	snprintf(out, size, "%s/passes/%s.so", build && *build ? build : "build", name);
	return out;
}

static PmGraph *clone(const PmGraph *g)
{
	PmGraph *copy = NULL;

	assert_int_equal(pm_graph_clone(g, &copy, NULL), PM_OK);
	return copy;
}

static double order_seconds(const PmGraph *g, const char *const *pass, size_t n)
{
	double seconds;
	PmApply a;
	PmErr err;

	pm_err_init(&err);
	if (pm_apply(clone(g), pass, n, 60, &a, &err))
		fail_msg("%s", err.text);
	assert_true(a.planned);
	seconds = a.cost_after.plan.modelled_seconds;
	pm_apply_release(&a);
	return seconds;
}

/* The least that an order of the passes gives; `used` has a bit for each that `order` has. */
static double best_order(const PmGraph *g, const char *const *pass, size_t n, const char **order,
			 size_t depth, unsigned used)
{
	double best = INFINITY;

	if (depth == n)
		return order_seconds(g, order, n);
	for (size_t k = 0; k < n; k++) {
		if (used >> k & 1)
			continue;
		order[depth] = pass[k];
		best = fmin(best, best_order(g, pass, n, order, depth + 1, used | 1u << k));
	}
	return best;
}

static void choose(const PmGraph *g, const PmChoosePass *pass, size_t n, PmApply *a, PmChoice *c)
{
	char hash[2][PM_SHA256_HEX];
	PmErr err;

	pm_err_init(&err);
	if (pm_choose(clone(g), pass, n, 60, a, c, &err))
		fail_msg("%s", err.text);
	assert_int_equal(pm_canon_hash(g, PM_CANON_FULL, hash[0], &err), PM_OK);
	assert_int_equal(pm_canon_hash(a->before, PM_CANON_FULL, hash[1], &err), PM_OK);
	assert_string_equal(hash[0], hash[1]);
	if (pm_rewrite_check(a->before, a->after, &err))
		fail_msg("%s", err.text);
	assert_int_equal(c->all.n_lost, 0);
	assert_int_equal(a->regions.list.n, a->applied);
	for (size_t i = 0; i < a->regions.list.n; i++)
		assert_true(a->regions.list.v[i].pass >= 0 && (size_t)a->regions.list.v[i].pass < n);
}

/* Returns how many regions two passes wanted. */
static size_t never_worse(const PmGraph *g, const char *const *name, size_t n)
{
	char path[4][512];
	const char *pass[4], *order[4];
	PmChoosePass offered[4];
	double best;
	PmApply a;
	PmChoice c;
	size_t losses;

	for (size_t k = 0; k < n; k++) {
		pass[k] = pass_path(name[k], path[k], sizeof path[k]);
		offered[k] = (PmChoosePass){ pass[k], 1 };
	}
	best = best_order(g, pass, n, order, 0, 0);
	choose(g, offered, n, &a, &c);
	assert_true(a.planned);
	if (!(a.cost_after.plan.modelled_seconds <= best * (1 + 1e-9)))
		fail_msg("%s: %.9g s, and an order of the passes gives %.9g s", pm_graph_name(g),
			 a.cost_after.plan.modelled_seconds, best);
	assert_true(fabs(c.predicted - a.cost_after.plan.modelled_seconds) <= 1e-9 * c.predicted);
	losses = c.loss.n;
	for (size_t i = 0; i < c.loss.n; i++) {
		assert_true(c.gain[c.loss.v[i].loser] > 0);
		assert_true(c.all.list.v[c.loss.v[i].loser].pass != c.all.list.v[c.loss.v[i].winner].pass);
	}
	pm_choice_release(&c);
	pm_apply_release(&a);
	return losses;
}

/* Models with passes whose regions overlap there. */
static void never_worse_than_an_order(void **state)
{
	static const struct {
		const char *model, *pass[4];
		size_t n;
	} rows[] = {
		{ "models/llama_block.gpt", { "fuse", "layer_scale_add", "add_rms_norm", "swiglu" }, 4 },
		{ "models/bert_encoder_layer.gpt",
		  { "fuse", "bias_gelu", "add_layer_norm", "scaled_masked_softmax" },
		  4 },
		{ "models/swin_block.gpt",
		  { "fuse", "roll_slice_add_layer_norm", "window_reverse_add_layer_norm", "add_layer_norm" },
		  4 },
		{ "models/mobilenetv3_se_block.gpt", { "fuse", "se_gate", "bn_residual", "bn_relu" }, 4 },
		{ "models/resnet_bottleneck.gpt", { "fuse", "bn_relu", "bn_residual", "bias_act" }, 4 },
		{ "models/bge_pooling_head.gpt", { "fuse", "masked_mean_pool", "l2_normalize" }, 3 },
	};
	size_t losses = 0;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		PmGraph *g = NULL;
		PmErr err;

		pm_err_init(&err);
		if (pm_model_load(rows[i].model, &g, NULL, &err))
			fail_msg("%s", err.text);
		losses += never_worse(g, rows[i].pass, rows[i].n);
		pm_graph_free(g);
	}
	assert_true(losses > 0);
}

static void random_graphs(void **state)
{
	static const char *const names[2] = { "fuse", "silu" };
	size_t planned = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 25; seed++) {
		GenOpts o = { .seed = seed, .n_nodes = 10 + (int)(seed % 50), .float_only = 1 };
		PmGraph *g = gen_graph(&o);
		PmPlanStats s;

		if (!pm_graph_plan_stats(g, NULL, 0, NULL, &s, NULL)) {
			never_worse(g, names, 2);
			planned++;
		}
		pm_graph_free(g);
	}
	assert_true(planned >= 10);
}

/* What was measured decides: a pass whose kernels are slower than what they replace takes nothing, and
 * nothing is lost against it. */
static void factors_decide(void **state)
{
	char path[2][512];
	PmChoosePass pass[2] = { { pass_path("fuse", path[0], sizeof path[0]), 1 },
				 { pass_path("add_rms_norm", path[1], sizeof path[1]), 1 } };
	PmGraph *g = NULL;
	PmApply a;
	PmChoice c;

	(void)state;
	assert_int_equal(pm_model_load("models/llama_block.gpt", &g, NULL, NULL), PM_OK);
	for (int slow = 0; slow < 2; slow++) {
		pass[slow].factor = -0.5;
		pass[1 - slow].factor = 1;
		choose(g, pass, 2, &a, &c);
		assert_int_equal(a.pass.v[slow].n, 0);
		assert_true(a.pass.v[1 - slow].n > 0);
		assert_int_equal(c.loss.n, 0);
		assert_true(c.n_useless > 0);
		pm_choice_release(&c);
		pm_apply_release(&a);
	}
	pm_graph_free(g);
}

/* The same passes give the same regions, by their digests. */
static void chosen_again(void **state)
{
	char path[2][512];
	PmChoosePass pass[2] = { { pass_path("fuse", path[0], sizeof path[0]), 1 },
				 { pass_path("swiglu", path[1], sizeof path[1]), 1 } };
	PmGraph *g = NULL;
	PmApply a[2];
	PmChoice c[2];

	(void)state;
	assert_int_equal(pm_model_load("models/llama_block.gpt", &g, NULL, NULL), PM_OK);
	for (int i = 0; i < 2; i++)
		choose(g, pass, 2, &a[i], &c[i]);
	assert_true(c[0].taken.v.n > 0);
	assert_int_equal(c[0].taken.v.n, c[1].taken.v.n);
	for (size_t i = 0; i < c[0].taken.v.n; i++)
		assert_string_equal(c[0].all.list.v[c[0].taken.v.v[i]].digest,
				    c[1].all.list.v[c[1].taken.v.v[i]].digest);
	for (int i = 0; i < 2; i++) {
		pm_choice_release(&c[i]);
		pm_apply_release(&a[i]);
	}
	pm_graph_free(g);
}

/* ---- circles ---- */

/* A graph with one kernel, of two outputs, in place of the nodes of `body`. */
static PmGraph *with_kernel(const char *text, const char *body, const char *const in[2],
			    const char *const out[2])
{
	PmGraph *g = pm_test_graph(text), *b = pm_test_graph(body);
	PmKArg args[] = { { .kind = PM_KARG_IN },
			  { .kind = PM_KARG_IN, .index = 1 },
			  { .kind = PM_KARG_OUT },
			  { .kind = PM_KARG_OUT, .index = 1 } };
	PmKLaunch launch = { "k", { 1, 1, 1 }, { 1, 1, 1 }, 0, 4, args };
	PmKernelDesc d = { .name = "k", .n_alts = 1, .body = b };
	PmValue v[2] = { pm_graph_find_value(g, in[0]), pm_graph_find_value(g, in[1]) };
	PmNode n;
	PmErr err;

	pm_err_init(&err);
	d.alts[0] = (PmKAlt){
		.source = "extern \"C\" __global__ void k(const T *a, const T *b, T *c, T *d) {}",
		.type = PM_F32,
		.n_launches = 1,
		.launches = &launch
	};
	if (pm_kernel_add(g, &d, v, 2, &n, &err))
		fail_msg("%s", err.text);
	for (size_t k = 0; k < 2; k++)
		pm_graph_replace_uses(g, pm_graph_find_value(g, out[k]), pm_node_out(g, n, k));
	pm_graph_sweep(g);
	if (pm_graph_sort(g, &err))
		fail_msg("%s", err.text);
	pm_graph_free(b);
	return g;
}

/* Two kernels without a node in common that read each other's results: each can be put in alone, both cannot.
 */
static void kernels_in_a_circle(void **state)
{
	static const char *const text = "g (float[4] x, float[4] y) => (float[4] b, float[4] d) { a = "
					"Neg(x)\n b = Abs(a)\n c = Exp(y)\n d = Add(a, c) }";
	static const char *const in[2][2] = { { "x", "c" }, { "a", "y" } }, *const out[2][2] = {
		{ "a", "d" }, { "b", "c" }
	};
	static const char *const body[2] = {
		"k (float[4] x, float[4] c) => (float[4] a, float[4] d) { a = Neg(x)\n d = Add(a, c) }",
		"k (float[4] a, float[4] y) => (float[4] b, float[4] c) { b = Abs(a)\n c = Exp(y) }",
	};
	PmGraph *model = pm_test_graph(text), *made = NULL;
	PmCandidates c;
	PmCandidateSet set[2] = { 0 }, both = { 0 };
	PmNode kernel[2];
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_candidates_init(&c, model, NULL);
	for (int i = 0; i < 2; i++) {
		PmGraph *g = with_kernel(text, body[i], in[i], out[i]);

		if (pm_candidates_add(&c, g, i, NULL, &set[i], &err))
			fail_msg("%s", err.text);
		assert_int_equal(set[i].v.n, 1);
		assert_int_equal(c.list.v[i].n, 2);
		if (pm_candidates_build(&c, &set[i], kernel, &made, &err))
			fail_msg("%s", err.text);
		pm_graph_free(made);
		PM_VEC_PUSH(&both.v, set[i].v.v[0]);
	}
	assert_int_equal(pm_candidates_conflict(&c.list.v[0], &c.list.v[1]), 0);
	assert_int_equal(pm_candidates_build(&c, &both, kernel, &made, &err), PM_DECLINED);
	for (int i = 0; i < 2; i++)
		PM_VEC_RELEASE(&set[i].v);
	PM_VEC_RELEASE(&both.v);
	pm_candidates_release(&c);
	pm_graph_free(model);
}

/* More passes than are run in all orders: by name and the other way round, and never worse than these. */
static void many_passes(void **state)
{
	static const char *const names[] = { "add_rms_norm",          "fuse", "layer_scale_add", "rotary",
					     "scaled_masked_softmax", "silu", "swiglu" };
	enum { N = sizeof names / sizeof *names };
	char path[N][512];
	const char *order[2][N];
	PmChoosePass pass[N];
	PmGraph *g = NULL;
	PmApply a;
	PmChoice c;

	(void)state;
	assert_int_equal(pm_model_load("models/llama_block.gpt", &g, NULL, NULL), PM_OK);
	for (int k = 0; k < N; k++) {
		pass[k] = (PmChoosePass){ pass_path(names[k], path[k], sizeof path[k]), 1 };
		order[0][k] = order[1][N - 1 - k] = pass[k].path;
	}
	choose(g, pass, N, &a, &c);
	assert_int_equal(c.n_orders, 2);
	for (int i = 0; i < 2; i++)
		assert_true(a.cost_after.plan.modelled_seconds <= order_seconds(g, order[i], N) * (1 + 1e-9));
	pm_choice_release(&c);
	pm_apply_release(&a);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selection_is_the_best),
		cmocka_unit_test(large_components_are_greedy),
		cmocka_unit_test(never_worse_than_an_order),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(factors_decide),
		cmocka_unit_test(chosen_again),
		cmocka_unit_test(kernels_in_a_circle),
		cmocka_unit_test(many_passes),
	};

	return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
