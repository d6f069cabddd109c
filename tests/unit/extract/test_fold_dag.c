/* SPDX-License-Identifier: Apache-2.0 */
/* test_fold_dag.c - folding of graphs: motifs are connected, convex, the same everywhere, and found. */
#include "base/core/rng.h"
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "extract/cut.h"
#include "extract/fold_dag.h"
#include "ir/onnx/onnx.h"
#include "tests/lib/graphs/gen_graph.h"
#include "tests/lib/graphs/graph_text.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmSkeleton skeleton(const PmGraph *g)
{
	PmSkeleton s;

	assert_int_equal(pm_skeleton_make(g, &s, NULL), PM_OK);
	return s;
}

/* A random graph of few operators, so that pieces of it are alike. */
static PmGraph *random_graph(uint64_t seed, int n)
{
	static const char *const one[] = { "Relu", "Exp", "Softmax <axis = 1>" };
	static const char *const two[] = { "Add", "Sub", "MatMul" };
	PmStr s = PM_STR_INIT;
	PmGraph *g;
	PmRng rng;
	int i;

	pm_rng_init(&rng, seed);
	pm_str_addf(&s, "r (float[4,4] v0, float[4,4] v1) => (float[4,4] v%d) {\n", n + 1);
	for (i = 2; i < n + 2; i++) {
		int lo = pm_rng_range(&rng, 0, 3) ? (i > 4 ? i - 4 : 0) : 0;
		int a = (int)pm_rng_range(&rng, 0, 2) ? i - 1 : (int)pm_rng_range(&rng, lo, i - 1);

		if (pm_rng_range(&rng, 0, 2))
			pm_str_addf(&s, "v%d = %s (v%d)\n", i, one[pm_rng_range(&rng, 0, 2)], a);
		else
			pm_str_addf(&s, "v%d = %s (v%d, v%d)\n", i, two[pm_rng_range(&rng, 0, 2)], a,
				    (int)pm_rng_range(&rng, lo, i - 1));
	}
	pm_str_add(&s, "}\n");
	g = pm_test_graph(s.s);
	pm_graph_sweep(g);
	pm_str_release(&s);
	return g;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* What a symbol stands for: labels and inner edges by position. */
static void form_of(const PmSkeleton *s, const PmFoldDag *f, const PmMotif *m, PmStr *out)
{
	enum { MAX_EDGES = 64, LEN = 40 };
	char edge[MAX_EDGES][LEN];
	size_t i, k, j, n_edges;

	for (i = 0; i < m->size; i++) {
		uint32_t n = f->node[m->first + i];

		n_edges = 0;
		for (k = s->first[n]; k < s->first[n + 1]; k++) {
			for (j = 0; j < m->size; j++) {
				if (f->node[m->first + j] != s->edge[k].from)
					continue;
				assert_true(n_edges < MAX_EDGES);
				snprintf(edge[n_edges++], LEN, " %zu.%u>%u", j, s->edge[k].slot,
					 s->edge[k].operand);
			}
		}
		qsort(edge, n_edges, LEN, by_text); /* commuting operands come in any order */
		pm_str_addf(out, "%llx", (unsigned long long)s->label[n]);
		for (k = 0; k < n_edges; k++)
			pm_str_add(out, edge[k]);
		pm_str_addc(out, ';');
	}
}

/* Forms by symbol, over all graphs of a test. */
typedef struct Forms {
	PM_VEC(uint64_t) symbol;
	PM_VEC(char *) form;
} Forms;

static void forms_release(Forms *x)
{
	size_t i;

	for (i = 0; i < x->form.n; i++)
		free(x->form.v[i]);
	PM_VEC_RELEASE(&x->form);
	PM_VEC_RELEASE(&x->symbol);
}

static void same_form(Forms *x, uint64_t symbol, PmStr *form)
{
	size_t i;

	for (i = 0; i < x->symbol.n; i++) {
		if (x->symbol.v[i] == symbol) {
			assert_string_equal(x->form.v[i], form->s);
			pm_str_release(form);
			return;
		}
	}
	PM_VEC_PUSH(&x->symbol, symbol);
	PM_VEC_PUSH(&x->form, pm_str_detach(form, NULL));
}

/* Kahn's walk over the groups: motifs, and nodes that are in none. */
static void quotient_is_acyclic(const PmSkeleton *s, const uint32_t *group, size_t n_groups)
{
	size_t *waiting = pm_xcalloc(n_groups + 1, sizeof *waiting), i, k, done = 0, was;
	uint8_t *gone = pm_xcalloc(n_groups + 1, 1);

	do { /* rounds, not a queue: slow and plain */
		was = done;
		memset(waiting, 0, n_groups * sizeof *waiting);
		for (i = 0; i < s->n; i++) {
			for (k = s->first[i]; k < s->first[i + 1]; k++) {
				uint32_t from = group[s->edge[k].from];

				waiting[group[i]] += from != group[i] && !gone[from];
			}
		}
		for (i = 0; i < n_groups; i++) {
			if (!gone[i] && !waiting[i]) {
				gone[i] = 1;
				done++;
			}
		}
	} while (done != was);
	assert_int_equal(done, n_groups);
	free(waiting);
	free(gone);
}

/* Checks one graph's motifs from outside; returns the nodes in them. */
static size_t check(const PmGraph *g, const PmSkeleton *s, const PmFoldDag *f, size_t graph, size_t min,
		    size_t max, Forms *forms)
{
	uint32_t *group = pm_xcalloc(s->n + 1, sizeof *group);
	size_t i, k, n_groups, covered = 0, st = f->structure[graph];
	PmCutter *c = NULL;
	PmNodeSets sets;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_cutter_new(g, NULL, &c, &err), PM_OK);
	pm_fold_dag_sets(f, graph, s, &sets);
	assert_int_equal(sets.n, f->start[st + 1] - f->start[st]);
	for (i = 0; i < sets.n; i++) {
		const PmMotif *m = &f->motif[f->start[st] + i];
		PmStr form = PM_STR_INIT;
		PmGraph *sub = NULL;

		assert_true(m->size >= min && m->size <= max);
		for (k = 0; k < m->size; k++) {
			uint32_t n = f->node[m->first + k];

			assert_int_equal(group[n], 0); /* disjoint */
			assert_false(s->flags[n] & PM_SKEL_BARRIER);
			group[n] = (uint32_t)i + 1;
		}
		if (pm_cutter_cut(c, sets.nodes + sets.start[i], sets.start[i + 1] - sets.start[i], &sub,
				  &err))
			fail_msg("%s", err.text);
		pm_graph_free(sub);
		form_of(s, f, m, &form);
		same_form(forms, m->symbol, &form);
		covered += m->size;
	}
	n_groups = sets.n;
	for (i = 0; i < s->n; i++)
		group[i] = group[i] ? group[i] - 1 : (uint32_t)n_groups++;
	quotient_is_acyclic(s, group, n_groups);
	pm_node_sets_release(&sets);
	pm_cutter_free(c);
	free(group);
	return covered;
}

static void motifs_begin_at_contractions(void **state)
{
	/* Three layers of four; what stands between is different each time. */
	PmGraph *g = pm_test_graph(
		"m (float[4,4] x, float[4,4] w, float[4] b) => (float[4,4] y) {\n"
		" m0 = MatMul (x, w)\n a0 = Add (m0, b)\n e0 = Exp (a0)\n r0 = Relu (e0)\n"
		" t0 = Tanh (r0)\n"
		" m1 = MatMul (t0, w)\n a1 = Add (m1, b)\n e1 = Exp (a1)\n r1 = Relu (e1)\n"
		" t1 = Neg (r1)\n"
		" m2 = MatMul (t1, w)\n a2 = Add (m2, b)\n e2 = Exp (a2)\n y = Relu (e2) }");
	PmSkeleton s = skeleton(g);
	const PmSkeleton *one = &s;
	PmFoldDag f;
	PmNodeSets sets;
	size_t i;

	(void)state;
	pm_fold_dag(&one, 1, NULL, &f);
	assert_int_equal(f.n_symbols, 1);
	pm_fold_dag_sets(&f, 0, &s, &sets);
	assert_int_equal(sets.n, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(sets.start[i + 1] - sets.start[i], 4);
		assert_int_equal(pm_node_op(g, sets.nodes[sets.start[i]]), PM_OP_MatMul);
		assert_int_equal(pm_node_op(g, sets.nodes[sets.start[i] + 3]), PM_OP_Relu);
	}
	pm_node_sets_release(&sets);
	pm_fold_dag_release(&f);
	pm_skeleton_release(&s);
	pm_graph_free(g);
}

static void a_pair_with_another_path_between_is_not_joined(void **state)
{
	/* p reaches q directly and through n, twice: joining p and q would make a cycle. */
	PmGraph *g = pm_test_graph(
		"m (float[4] x) => (float[4] y) {\n"
		" p0 = Relu (x)\n n0 = Neg (p0)\n z0 = Exp (p0)\n q0 = Add (p0, n0)\n u0 = Mul (q0, z0)\n"
		" p1 = Relu (u0)\n n1 = Neg (p1)\n z1 = Exp (p1)\n q1 = Add (p1, n1)\n y = Mul (q1, z1) }");
	PmFoldDagOpts o = { 2, 0, 0 };
	PmSkeleton s = skeleton(g);
	const PmSkeleton *one = &s;
	Forms forms = { 0 };
	PmFoldDag f;

	(void)state;
	pm_fold_dag(&one, 1, &o, &f);
	check(g, &s, &f, 0, 2, 62, &forms);
	assert_int_equal(f.start[1], 2); /* both blocks whole in the end */
	assert_int_equal(f.motif[0].size, 5);
	assert_true(f.motif[0].symbol == f.motif[1].symbol);
	forms_release(&forms);
	pm_fold_dag_release(&f);
	pm_skeleton_release(&s);
	pm_graph_free(g);
}

enum { MANY = 40 };

static void random_graphs_fold_into_sound_parts(void **state)
{
	PmGraph *g[MANY];
	PmSkeleton s[MANY];
	const PmSkeleton *p[MANY];
	size_t nodes = 0, covered = 0;
	int round, i;

	(void)state;
	for (round = 0; round < 6; round++) {
		PmFoldDagOpts o = { 2 + (size_t)round, 4 + 6 * (size_t)round, round == 5 ? 1 : 0 };
		Forms forms = { 0 };
		PmFoldDag f;

		for (i = 0; i < MANY; i++) {
			GenOpts gen = {
				(uint64_t)(round * MANY + i + 1), 20 + 4 * i, 0, 0, i % 3 == 2, i % 2, 0
			};

			g[i] = i % 2 ? gen_graph(&gen)
				     : random_graph((uint64_t)(round * MANY + i), 20 + 4 * i);
			s[i] = skeleton(g[i]);
			p[i] = &s[i];
		}
		pm_fold_dag(p, MANY, &o, &f);
		for (i = 0; i < MANY; i++) {
			nodes += s[i].n;
			covered += check(g[i], &s[i], &f, (size_t)i, o.min_nodes, o.max_nodes, &forms);
		}
		for (i = 0; i < MANY; i++) {
			pm_skeleton_release(&s[i]);
			pm_graph_free(g[i]);
		}
		forms_release(&forms);
		pm_fold_dag_release(&f);
	}
	print_message("# %zu of %zu nodes\n", covered, nodes);
	assert_true(covered * 5 > nodes);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Symbol and size of every motif of one graph, sorted. */
static size_t symbols_of(const PmFoldDag *f, size_t graph, uint64_t *out)
{
	size_t st = f->structure[graph], i, n = 0;

	for (i = f->start[st]; i < f->start[st + 1]; i++)
		out[n++] = f->motif[i].symbol;
	qsort(out, n, sizeof *out, by_number);
	return n;
}

static void storage_does_not_matter(void **state)
{
	uint64_t a[512], b[512];
	int k, d;

	(void)state;
	for (k = 0; k < 40; k++) {
		GenOpts gen = { (uint64_t)k + 900, 60, 0, 0, 0, 1, 0 };
		PmGraph *g = k % 2 ? gen_graph(&gen) : random_graph((uint64_t)k, 80);
		PmSkeleton s = skeleton(g);
		const PmSkeleton *p = &s;
		PmFoldDag f;
		size_t n;

		pm_fold_dag(&p, 1, NULL, &f);
		n = symbols_of(&f, 0, a);
		for (d = 0; d < 5; d++) {
			PmGraph *other = gen_disguise(g, (uint64_t)d);
			PmSkeleton t = skeleton(other);
			const PmSkeleton *q = &t;
			PmFoldDag h;

			assert_int_equal(t.n, s.n);
			pm_fold_dag(&q, 1, NULL, &h);
			assert_int_equal(symbols_of(&h, 0, b), n);
			assert_memory_equal(a, b, n * sizeof *a);
			pm_fold_dag_release(&h);
			pm_skeleton_release(&t);
			pm_graph_free(other);
		}
		pm_fold_dag_release(&f);
		pm_skeleton_release(&s);
		pm_graph_free(g);
	}
}

static void clones_and_order_do_not_decide(void **state)
{
	enum { N = 6 };
	PmSkeleton s[N];
	PmGraph *g[N];
	const PmSkeleton *p[N + 3], *q[N + 3];
	uint64_t a[512], b[512];
	PmFoldDag f, h;
	size_t i, n;

	(void)state;
	for (i = 0; i < N; i++) {
		g[i] = random_graph(i + 1, 80);
		s[i] = skeleton(g[i]);
		p[i] = &s[i];
		q[N + 2 - i] = &s[i];
	}
	p[N] = p[N + 1] = p[N + 2] = &s[0]; /* three more of the first */
	q[0] = q[1] = q[2] = &s[0];
	pm_fold_dag(p, N + 3, NULL, &f);
	pm_fold_dag(q, N + 3, NULL, &h);
	assert_int_equal(f.n_structures, N);
	assert_int_equal(h.n_structures, N);
	assert_int_equal(f.n_symbols, h.n_symbols);
	for (i = 0; i < N + 3; i++) {
		n = symbols_of(&f, i, a);
		assert_int_equal(symbols_of(&h, N + 2 - i, b), n);
		assert_memory_equal(a, b, n * sizeof *a);
	}
	assert_true(h.n_symbols > 0);
	pm_fold_dag_release(&h);
	pm_fold_dag(p, N, NULL, &h); /* and without the clones */
	assert_int_equal(f.n_symbols, h.n_symbols);
	for (i = 0; i < N; i++) {
		n = symbols_of(&f, i, a);
		assert_int_equal(symbols_of(&h, i, b), n);
		assert_memory_equal(a, b, n * sizeof *a);
	}
	pm_fold_dag_release(&f);
	pm_fold_dag_release(&h);
	for (i = 0; i < N; i++) {
		pm_skeleton_release(&s[i]);
		pm_graph_free(g[i]);
	}
}

/* A random piece of n nodes over float[4], from value `in`; every node feeds the next, some feed later ones.
 */
static void add_piece(PmStr *text, PmRng shape, int n, const char *in, int id)
{
	static const char *const one[] = { "Relu", "Tanh", "Exp", "Neg", "Sigmoid", "Abs" };
	static const char *const two[] = { "Add", "Mul", "Sub", "Div" };
	int i;

	for (i = 0; i < n; i++) {
		PmStr prev = PM_STR_INIT;

		if (i)
			pm_str_addf(&prev, "c%d_%d", id, i - 1);
		else
			pm_str_add(&prev, in);
		if (i > 1 && pm_rng_range(&shape, 0, 2) == 0)
			pm_str_addf(text, " c%d_%d = %s (%s, c%d_%d)\n", id, i,
				    two[pm_rng_range(&shape, 0, 3)], prev.s, id,
				    (int)pm_rng_range(&shape, 0, i - 2));
		else
			pm_str_addf(text, " c%d_%d = %s (%s)\n", id, i, one[pm_rng_range(&shape, 0, 5)],
				    prev.s);
		pm_str_release(&prev);
	}
}

static void planted_motifs_are_found(void **state)
{
	enum { COPIES = 12, SIZE = 20 };
	static const char *const glue[] = { "Sqrt", "Ceil", "Floor", "Round",    "Erf",      "Cos",
					    "Sin",  "Sign", "Log",   "Softplus", "Softsign", "Elu" };
	int round, i;

	(void)state;
	for (round = 0; round < 20; round++) {
		PmStr text = PM_STR_INIT;
		PmRng shape;
		PmGraph *g;
		PmSkeleton s;
		const PmSkeleton *p = &s;
		PmFoldDag f;
		size_t whole = 0;

		pm_rng_init(&shape, (uint64_t)round + 1);
		pm_str_addf(&text, "m (float[4] x) => (float[4] g%d) {\n", COPIES - 1);
		for (i = 0; i < COPIES; i++) {
			PmStr in = PM_STR_INIT;

			pm_str_addf(&in, i ? "g%d" : "x", i - 1);
			add_piece(&text, shape, SIZE, in.s, i); /* the same each time */
			pm_str_addf(&text, " g%d = %s (c%d_%d)\n", i, glue[i], i, SIZE - 1); /* occurs once */
			pm_str_release(&in);
		}
		pm_str_add(&text, "}");
		g = pm_test_graph(text.s);
		s = skeleton(g);
		pm_fold_dag(&p, 1, NULL, &f);
		for (i = 0; (size_t)i < f.start[1]; i++)
			whole += f.motif[i].size == SIZE && f.motif[i].symbol == f.motif[0].symbol;
		assert_int_equal(whole, COPIES);
		pm_fold_dag_release(&f);
		pm_skeleton_release(&s);
		pm_graph_free(g);
		pm_str_release(&text);
	}
}

static void skeletons_survive_packing(void **state)
{
	GenOpts gen = { 5, 60, 0, 0, 1, 0, 0 };
	PmGraph *g = gen_graph(&gen);
	PmSkeleton s = skeleton(g), t, u;
	PmStr bytes = PM_STR_INIT;
	PmRng rng;
	size_t at = 3, cut;
	int i;

	(void)state;
	pm_str_add(&bytes, "abc");
	pm_skeleton_pack(&s, &bytes);
	assert_int_equal(pm_skeleton_unpack(bytes.s, bytes.len, &at, &t, NULL), PM_OK);
	assert_int_equal(at, bytes.len);
	assert_true(pm_skeleton_same(&s, &t));
	assert_memory_equal(s.node, t.node, s.n * sizeof *s.node);
	pm_rng_init(&rng, 3);
	for (i = 0; i < 200; i++) {
		cut = (size_t)pm_rng_range(&rng, 3, (int64_t)bytes.len - 1);
		at = 3;
		assert_int_equal(pm_skeleton_unpack(bytes.s, cut, &at, &u, NULL), PM_E_INVALID);
	}
	memset(bytes.s + 3, 0xff, 16);
	at = 3;
	assert_int_equal(pm_skeleton_unpack(bytes.s, bytes.len, &at, &u, NULL), PM_E_INVALID);
	pm_skeleton_release(&s);
	pm_skeleton_release(&t);
	pm_str_release(&bytes);
	pm_graph_free(g);
}

static void core_models_are_covered(void **state)
{
	static const char dir[] = "../shared/models/core";
	enum { MAX = 64 };
	PmNames names = { NULL, 0, 0 };
	PmGraph *g[MAX];
	PmSkeleton s[MAX];
	const PmSkeleton *p[MAX];
	Forms forms = { 0 };
	PmFoldDag f;
	size_t i, n = 0, nodes = 0, covered = 0;

	(void)state;
	pm_test_need_path(dir);
	assert_int_equal(pm_list_dir(dir, &names, NULL), PM_OK);
	for (i = 0; i < names.n && n < MAX; i++) {
		PmStr path = PM_STR_INIT;

		pm_path_join(dir, names.v[i], &path);
		if (pm_str_ends(path.s, ".onnx") &&
		    pm_onnx_import(path.s, NULL, &g[n], NULL, NULL) == PM_OK) {
			s[n] = skeleton(g[n]);
			p[n] = &s[n];
			n++;
		}
		pm_str_release(&path);
	}
	pm_fold_dag(p, n, NULL, &f);
	for (i = 0; i < n; i++) {
		if (pm_graph_n_nodes(g[i]) < 2000) /* the check is slow; the command checks all */
			check(g[i], &s[i], &f, i, 4, 62, &forms);
		nodes += s[i].n;
		covered += f.start[f.structure[i] + 1] > f.start[f.structure[i]];
	}
	covered = 0;
	for (i = 0; i < n; i++) {
		size_t k, st = f.structure[i];

		for (k = f.start[st]; k < f.start[st + 1]; k++)
			covered += f.motif[k].size;
		pm_skeleton_release(&s[i]);
		pm_graph_free(g[i]);
	}
	print_message(
		"# %zu models, %zu structures, %zu motifs of %zu symbols, %zu rounds, %.1f %% of %zu nodes\n",
		n, f.n_structures, f.start[f.n_structures], f.n_symbols, f.rounds,
		100.0 * (double)covered / (double)nodes, nodes);
	assert_true(covered * 100 >= nodes * 85);
	forms_release(&forms);
	pm_fold_dag_release(&f);
	pm_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(motifs_begin_at_contractions),
		cmocka_unit_test(a_pair_with_another_path_between_is_not_joined),
		cmocka_unit_test(random_graphs_fold_into_sound_parts),
		cmocka_unit_test(storage_does_not_matter),
		cmocka_unit_test(clones_and_order_do_not_decide),
		cmocka_unit_test(planted_motifs_are_found),
		cmocka_unit_test(skeletons_survive_packing),
		cmocka_unit_test(core_models_are_covered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
