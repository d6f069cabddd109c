/* SPDX-License-Identifier: Apache-2.0 */
/* test_exemplar.c - categories of graphs, exemplars chosen for a graph and kept from it, and prompts. */
#include "app/exemplar/exemplar.h"
#include "app/exemplar/prompt.h"
#include "app/exemplar/skeleton.h"

#include "base/sys/io.h"
#include "tests/lib/graphs/graph_text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- categories ---- */

static const struct {
	const char *category, *text;
} graphs[] = {
	{ "activation", "g (float[8] x) => (float[8] y)\n{\n s = Sigmoid (x)\n y = Mul (x, s)\n}\n" },
	{ "activation", "g (float[8,9] x) => (float[8,9] y)\n{\n y = Softmax <axis = 1> (x)\n}\n" },
	{ "activation", "g (float[8] x) => (float[8] y)\n{\n a = Abs (x)\n y = Exp (a)\n}\n" },
	{ "normalization",
	  "g (float[8,9] x) => (float[8,9] y)\n{\n n = ReduceL2 <axes = [1]> (x)\n y = Div (x, n)\n}\n" },
	{ "normalization", "g (float[2,8,3,3] x, float[8] a, float[8] b) => (float[2,8,3,3] y)\n{\n y = "
			   "InstanceNormalization (x, a, b)\n}\n" },
	{ "reduce",
	  "g (float[8,9] x) => (float[8] y)\n{\n y = ReduceMax <axes = [1], keepdims = 0> (x)\n}\n" },
	{ "reduce",
	  "g (float[8,9] x) => (float[] y)\n{\n y = ReduceSum <axes = [0, 1], keepdims = 0> (x)\n}\n" },
	{ "pooling",
	  "g (float[1,2,8,8] x) => (float[1,2,4,4] y)\n{\n y = MaxPool <kernel_shape = [2, 2], strides = "
	  "[2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]> (x)\n}\n" },
	{ "broadcast", "g (float[8,9] x, float[9] b) => (float[8,9] y)\n{\n y = Add (x, b)\n}\n" },
	{ "index", "g (float[8,9] x, int64[5] i) => (float[5,9] y)\n{\n y = Gather <axis = 0> (x, i)\n}\n" },
	{ "index", "g (float[8,9] x) => (int64[8] y)\n{\n y = ArgMax <axis = 1, keepdims = 0> (x)\n}\n" },
	{ "resize",
	  "g (float[1,2,4,4] x) => (float[1,2,8,8] y)\n<float[4] s = {1, 1, 2, 2}>\n{\n y = Resize (x, , "
	  "s)\n}\n" },
	{ "matmul", "g (float[8,9] x, float[9,7] w) => (float[8,7] y)\n{\n y = MatMul (x, w)\n}\n" },
	{ "matmul",
	  "g (float[8,9] x, float[7,9] w, float[7] b) => (float[8,7] y)\n{\n t = Transpose <perm = [1, 0]> "
	  "(w)\n m = MatMul (x, t)\n y = Add (m, b)\n}\n" },
	{ "fuse",
	  "g (float[8,9] x, float[9,7] w, float[7] b) => (float[8,7] y)\n{\n m = MatMul (x, w)\n a = Add "
	  "(m, b)\n y = Relu (a)\n}\n" },
	{ "convolution",
	  "g (float[1,2,8,8] x, float[4,2,3,3] w) => (float[1,4,6,6] y)\n{\n y = Conv <strides = [1, "
	  "1], pads = [0, 0, 0, 0], dilations = [1, 1]> (x, w)\n}\n" },
	{ "attention",
	  "g (float[2,8,4] q, float[2,4,8] k, float[2,8,4] v) => (float[2,8,4] y)\n{\n s = MatMul (q, "
	  "k)\n p = Softmax <axis = 2> (s)\n y = MatMul (p, v)\n}\n" },
	{ "attention",
	  "g (float[2,8,8] s, float[8,8] m) => (float[2,8,8] y)\n{\n a = Add (s, m)\n y = Softmax <axis "
	  "= 2> (a)\n}\n" },
	{ "loss", "g (float[8,9] a, float[8,9] b) => (float[] y)\n{\n d = Sub (a, b)\n q = Mul (d, d)\n y = "
		  "ReduceMean <axes = [0, 1], keepdims = 0> (q)\n}\n" },
	{ "math", "g (float[8,9] x) => (float[8,9] y)\n<int64 axis = {1}>\n{\n y = CumSum (x, axis)\n}\n" },
	{ "math", "g (float[8] a, float[8] b) => (float[8] y)\n{\n y = Mul (a, b)\n}\n" },
	{ "optimizer",
	  "g (float[8] p, float[8] g, float[8] s) => (float[8] y, float[8] t)\n{\n q = Mul (g, g)\n t = "
	  "Add (s, q)\n r = Sqrt (t)\n u = Div (g, r)\n y = Sub (p, u)\n}\n" },
	{ "fuse", "g (float[8,9] x, float[3,9] y) => (float[11,9] z, float[8,9] r)\n<float[11,9] z>\n{\n z "
		  "= \"com.acme:Thing\" (x, "
		  "y)\n r = Relu (x)\n}\n" },
};

static void a_graph_has_the_category_of_its_operators(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
		PmGraph *g = pm_test_graph(graphs[i].text);
		const char *why = NULL;
		PmCategory c = pm_category_of(g, &why);

		if (strcmp(pm_category_name(c), graphs[i].category))
			fail_msg("graph %zu is '%s' (%s), not %s:\n%s", i, pm_category_name(c), why,
				 graphs[i].category, graphs[i].text);
		assert_non_null(why);
		assert_int_equal(pm_category_from_name(graphs[i].category), c);
		pm_graph_free(g);
	}
	assert_int_equal(pm_category_from_name("layout"), PM_N_CATEGORIES);
	assert_int_equal(pm_category_from_name("fusion"), PM_CATEGORY_fuse);
	assert_string_equal(pm_category_name(PM_N_CATEGORIES), "unknown");
}

/* ---- leaks ---- */

static const char MOMENTUM[] = "momentum_step", CHARBONNIER[] = "charbonnier_loss";

/* Why exemplar `name` leaks into the graph, or NULL. */
static const char *leak(const char *name, const char *text)
{
	PmExemplars all;
	const char *why = "there is no such exemplar";
	PmGraph *g = pm_test_graph(text);
	PmErr err;

	pm_err_init(&err);
	if (pm_exemplars_list(NULL, &all, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < all.n; i++)
		if (!strcmp(all.v[i].name, name) && pm_exemplar_leaks(&all.v[i], g, &why, &err))
			fail_msg("%s", err.text);
	pm_exemplars_release(&all);
	pm_graph_free(g);
	return why;
}

static void an_exemplar_leaks_where_its_pattern_matches(void **state)
{
	(void)state;
	/* Its check would decline both: one is of another rank and type, one a mean by row. */
	assert_string_equal(leak(CHARBONNIER,
				 "g (float16[7,9] a, float16[7,9] b) => (float16[7] y)\n"
				 "<float16 eps = {0.5}>\n"
				 "{\n d = Sub (a, b)\n q = Mul (d, d)\n e = Add (eps, q)\n r = Sqrt (e)\n"
				 " y = ReduceMean <axes = [1], keepdims = 0> (r)\n}\n"),
			    "its pattern matches in the graph");
	/* Somewhere inside a larger graph, with views and casts in between. */
	assert_string_equal(
		leak(CHARBONNIER,
		     "g (float[6] a, float16[2,3] b) => (float[3] y, float[6] z)\n"
		     "<int64[1] six = {6}, float eps = {0.5}, float[3] w = {1, 2, 3}>\n"
		     "{\n h = Cast <to = 1> (b)\n f = Reshape (h, six)\n z = Sub (a, f)\n q = Mul (z, z)\n"
		     " e = Add (q, eps)\n i = Identity (e)\n r = Sqrt (i)\n"
		     " m = ReduceMean <axes = [0], keepdims = 0> (r)\n y = Mul (w, m)\n}\n"),
		"its pattern matches in the graph");
}

static void an_exemplar_leaks_where_one_graph_is_in_the_other(void **state)
{
	(void)state;
	/* In double, which the pattern does not take. */
	assert_string_equal(leak(CHARBONNIER,
				 "g (double[7,9] a, double[7,9] b) => (double[7] y)\n"
				 "<double eps = {0.5}>\n"
				 "{\n d = Sub (a, b)\n q = Mul (d, d)\n e = Add (eps, q)\n r = Sqrt (e)\n"
				 " m = ReduceMean <axes = [1], keepdims = 0> (r)\n y = Neg (m)\n}\n"),
			    "its graph is in the graph");
	/* The first half of it. */
	assert_string_equal(leak(CHARBONNIER, "g (float[7] a, float[7] b) => (float[7] y)\n"
					      "{\n d = Sub (a, b)\n y = Mul (d, d)\n}\n"),
			    "the graph is in its graph");
	/* One of its two results is no more than that. */
	assert_string_equal(
		leak(MOMENTUM, "g (float[7] p, float[7] g, float[7] s) => (float[7] t)\n"
			       "<float a = {0.5}, float b = {0.25}>\n"
			       "{\n w = Mul (p, a)\n v = Add (g, w)\n m = Mul (s, b)\n t = Add (v, m)\n}\n"),
		"the graph is in its graph");
}

static void an_exemplar_does_not_leak_into_other_graphs(void **state)
{
	(void)state;
	/* One edge is another: the square is of a. */
	assert_null(leak(CHARBONNIER,
			 "g (float[7,9] a, float[7,9] b) => (float[7] y)\n<float eps = {0.5}>\n"
			 "{\n d = Sub (a, b)\n q = Mul (a, d)\n e = Add (eps, q)\n r = Sqrt (e)\n"
			 " y = ReduceMean <axes = [1], keepdims = 0> (r)\n}\n"));
	assert_null(leak(CHARBONNIER,
			 "g (float[7,9] a) => (float[7] y)\n"
			 "{\n e = Exp (a)\n y = ReduceMean <axes = [1], keepdims = 0> (e)\n}\n"));
	/* Both operators stand in the exemplar, and not one behind the other. */
	assert_null(leak(MOMENTUM, "g (float[7] p, float[7] g, float[7] r) => (float[7] t)\n"
				   "{\n d = Sub (p, g)\n t = Sub (d, r)\n}\n"));
}

/* ---- selection ---- */

static void select_for(const char *text, size_t n, PmExemplars *out)
{
	PmGraph *g = pm_test_graph(text);
	PmErr err;

	pm_err_init(&err);
	if (pm_exemplars_select(NULL, g, n, out, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
}

static const char MSE[] = "g (float[7,9] a, float[7,9] b) => (float[] y)\n"
			  "{\n d = Sub (a, b)\n h = Abs (d)\n"
			  " y = ReduceMean <axes = [0, 1], keepdims = 0> (h)\n}\n";

static void the_best_come_first(void **state)
{
	PmExemplars e, again;

	(void)state;
	select_for(MSE, 100, &e);
	assert_true(e.n >= 2);
	assert_string_equal(e.v[0].name, CHARBONNIER);
	assert_int_equal(e.v[0].category, PM_CATEGORY_loss);
	assert_true(strstr(e.v[0].pass, "PM_PLUGIN") && strstr(e.v[0].thoughts, "# charbonnier_loss") &&
		    strstr(e.v[0].graph, "ReduceMean"));
	for (size_t i = 1; i < e.n; i++) {
		const PmExemplar *a = &e.v[i - 1], *b = &e.v[i];

		assert_true(b->similarity >= 0 && a->similarity <= 1);
		if (b->category == PM_CATEGORY_loss)
			assert_int_equal(a->category, PM_CATEGORY_loss);
		else if (a->category != PM_CATEGORY_loss)
			assert_true(a->similarity > b->similarity ||
				    (a->similarity == b->similarity && strcmp(a->name, b->name) < 0));
	}
	select_for(MSE, 2, &again);
	assert_int_equal(again.n, 2);
	for (size_t i = 0; i < 2; i++)
		assert_string_equal(again.v[i].name, e.v[i].name);
	pm_exemplars_release(&again);
	select_for(MSE, 0, &again);
	assert_int_equal(again.n, 0);
	pm_exemplars_release(&again);
	pm_exemplars_release(&e);
}

/* Each category has one, and its thoughts name the category that its graph has. */
static void every_category_has_an_exemplar(void **state)
{
	int found[PM_N_CATEGORIES] = { 0 };
	PmExemplars all;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_exemplars_list(NULL, &all, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < all.n; i++) {
		PmStr line = PM_STR_INIT;

		pm_str_addf(&line, "\n\nCategory: %s.\n\n", pm_category_name(all.v[i].category));
		if (!strstr(all.v[i].thoughts, line.s))
			fail_msg("exemplars/%s.md lacks the line %s", all.v[i].name, line.s);
		pm_str_release(&line);
		found[all.v[i].category]++;
	}
	/* A block of a network is taught by the exemplars of its parts. */
	assert_int_equal(found[PM_CATEGORY_arch], 0);
	assert_int_equal(pm_exemplars_find(&all, "arch")->category, PM_CATEGORY_fuse);
	for (int c = 0; c < PM_N_CATEGORIES; c++)
		if (c != PM_CATEGORY_arch && !found[c])
			fail_msg("category %s has no exemplar", pm_category_name((PmCategory)c));
	pm_exemplars_release(&all);
}

/* None is given for its own graph, at other sizes, in another type, with a view in front. */
static void no_exemplar_is_given_for_what_it_solves(void **state)
{
	PmExemplars all;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_exemplars_list(NULL, &all, &err))
		fail_msg("%s", err.text);
	for (size_t i = 0; i < all.n; i++) {
		PmExemplars e;

		select_for(all.v[i].graph, all.n, &e);
		assert_true(e.n > 0);
		for (size_t k = 0; k < e.n; k++)
			assert_string_not_equal(e.v[k].name, all.v[i].name);
		pm_exemplars_release(&e);
	}
	pm_exemplars_release(&all);
}

static void similarity_is_the_cosine_of_operators_and_pairs(void **state)
{
	PmGraph *a = pm_test_graph("g (float[4] x) => (float[4] y)\n{\n r = Relu (x)\n y = Neg (r)\n}\n");
	PmGraph *b = pm_test_graph("g (float[4] x) => (float[4] y)\n{\n r = Neg (x)\n y = Relu (r)\n}\n");
	PmGraph *c = pm_test_graph("g (float[4] x) => (float[4] y)\n{\n y = Exp (x)\n}\n");

	(void)state;
	assert_true(pm_skeleton_similarity(a, a) > 0.999999 && pm_skeleton_similarity(a, a) <= 1);
	/* {Relu, Neg, Neg<Relu} and {Neg, Relu, Relu<Neg}: 2 in common of 3 and 3. */
	assert_true(fabs(pm_skeleton_similarity(a, b) - 2. / 3) < 1e-12);
	assert_true(pm_skeleton_similarity(a, c) == 0);
	assert_true(pm_skeleton_contains(a, a));
	assert_false(pm_skeleton_contains(a, b));
	pm_graph_free(a);
	pm_graph_free(b);
	pm_graph_free(c);
}

/* ---- what is wrong with a folder ---- */

static void put(const char *dir, const char *name, const char *text)
{
	PmStr path = PM_STR_INIT;

	pm_path_join(dir, name, &path);
	assert_int_equal(pm_write_file(path.s, text, strlen(text), NULL), PM_OK);
	pm_str_release(&path);
}

static void a_folder_that_is_wrong_is_said(void **state)
{
	PmStr root = PM_STR_INIT, dir = PM_STR_INIT;
	PmExemplars e;
	PmGraph *g = pm_test_graph(MSE);
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("exemplars", &root, NULL), PM_OK);
	assert_int_equal(pm_exemplars_list(root.s, &e, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "There is no folder exemplars, neither "));
	pm_exemplars_release(&e);
	pm_path_join(root.s, "exemplars", &dir);
	assert_int_equal(pm_mkdirs(dir.s, NULL), PM_OK);
	put(dir.s, "one.c", "int x;\n");
	assert_int_equal(pm_exemplars_list(root.s, &e, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "one.gpt"));
	pm_exemplars_release(&e);
	put(dir.s, "one.gpt", "g (float[4] x) =>\n");
	put(dir.s, "one.md", "# one\n");
	put(dir.s, "one.pattern", "one: (Relu\n");
	assert_int_equal(pm_exemplars_list(root.s, &e, &err), PM_E_INVALID);
	assert_int_equal(strncmp(err.text, "Exemplar one: ", 14), 0);
	pm_exemplars_release(&e);
	put(dir.s, "one.gpt", "g (float[4] x) => (float[4] y)\n{\n y = Relu (x)\n}\n");
	assert_int_equal(pm_exemplars_select(root.s, g, 1, &e, &err), PM_E_INVALID);
	assert_int_equal(strncmp(err.text, "Exemplar one, one.pattern: Pattern text, column ", 48), 0);
	pm_exemplars_release(&e);
	put(dir.s, "one.pattern", "(Relu ?0)\n");
	assert_int_equal(pm_exemplars_select(root.s, g, 1, &e, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "without \"rule: pattern\""));
	pm_exemplars_release(&e);
	put(dir.s, "one.pattern", "one: (Relu ?0)\n");
	assert_int_equal(pm_exemplars_select(root.s, g, 1, &e, &err), PM_OK);
	assert_int_equal(e.n, 1);
	pm_exemplars_release(&e);
	pm_graph_free(g);
	pm_remove_tree(root.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&root);
}

/* ---- prompts ---- */

static void fields_are_filled(void **state)
{
	const PmField field[] = { { "who", "an author" }, { "n_2", "{{who}}" }, { "none", NULL } };
	PmStr out = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	pm_str_add(&out, "> ");
	assert_int_equal(pm_prompt_fill("a.md", "{{who}}: {{n_2}}, {{ 0 }} {{{who}}}", field, 3, &out, &err),
			 PM_OK);
	assert_string_equal(out.s, "> an author: {{who}}, {{ 0 }} {an author}");
	pm_str_clear(&out);
	assert_int_equal(pm_prompt_fill("a.md", "no field", field, 3, &out, &err), PM_OK);
	assert_string_equal(out.s, "no field");
	assert_int_equal(pm_prompt_fill("a.md", "one\n{{whom}}", field, 3, &out, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "prompts/a.md, line 2: there is no field {{whom}} here"));
	assert_int_equal(pm_prompt_fill("a.md", "{{none}}", field, 3, &out, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "line 1: the field {{none}} has no value here"));
	assert_int_equal(pm_prompt_fill("a.md", "{{who}} {{who}", field, 3, &out, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "the field {{who does not end"));
	assert_int_equal(pm_prompt_fill("a.md", "{{who", field, 3, &out, &err), PM_E_INVALID);
	assert_string_equal(out.s, "no field");
	pm_str_release(&out);
}

static void a_prompt_is_a_file_of_its_folder(void **state)
{
	PmStr out = PM_STR_INIT;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_prompt(NULL, "missing.md", NULL, 0, &out, &err), PM_E_NOT_FOUND);
	assert_non_null(strstr(err.text, "prompts/missing.md"));
	assert_int_equal(pm_prompt(NULL, "../README.md", NULL, 0, &out, &err), PM_E_NOT_FOUND);
	assert_int_equal(pm_prompt(NULL, ".", NULL, 0, &out, &err), PM_E_NOT_FOUND);
	assert_int_equal(out.len, 0);
	assert_int_equal(pm_prompt(NULL, "hardware.md", &(PmField){ "hardware", "<a GPU>" }, 1, &out, &err),
			 PM_OK);
	assert_non_null(strstr(out.s, "\n<a GPU>\n"));
	assert_null(strstr(out.s, "{{"));
	pm_str_release(&out);
}

/* The fields that prompts/README.md gives for a file: "`a`, `b`" behind the second bar of its row. */
static char *fields_of(const char *readme, const char *file)
{
	PmStr row = PM_STR_INIT;
	const char *at, *end;

	pm_str_addf(&row, "| `%s` | ", file);
	at = strstr(readme, row.s);
	if (!at)
		fail_msg("prompts/README.md has no row that begins with %s", row.s);
	at = strstr(at + row.len, " | ") + 3;
	end = at + strcspn(at, "\n");
	pm_str_clear(&row);
	pm_str_addn(&row, at, (size_t)(end - at));
	return pm_str_detach(&row, NULL);
}

/* A file has the fields that the list gives for it, and no others. */
static void the_list_of_prompts_is_complete(void **state)
{
	PmStr root = PM_STR_INIT, dir = PM_STR_INIT, path = PM_STR_INIT, readme = PM_STR_INIT;
	PmNames names = { 0 };
	size_t files = 0;

	(void)state;
	assert_int_equal(pm_root_dir(&root, NULL), PM_OK);
	pm_path_join(root.s, "prompts", &dir);
	pm_path_join(dir.s, "README.md", &path);
	assert_int_equal(pm_read_file(path.s, 0, &readme, NULL), PM_OK);
	assert_int_equal(pm_list_dir(dir.s, &names, NULL), PM_OK);
	for (size_t i = 0; i < names.n; i++) {
		PmField field[16];
		PmStr filled = PM_STR_INIT, text = PM_STR_INIT;
		size_t n = 0;
		char *fields, *name;
		PmErr err;

		if (!strcmp(names.v[i], "README.md"))
			continue;
		files++;
		pm_err_init(&err);
		pm_str_clear(&path);
		pm_path_join(dir.s, names.v[i], &path);
		assert_int_equal(pm_read_file(path.s, 0, &text, NULL), PM_OK);
		fields = fields_of(readme.s, names.v[i]);
		for (name = strtok(fields, "`, |"); name && n < 16; name = strtok(NULL, "`, |")) {
			PmStr use = PM_STR_INIT;

			pm_str_addf(&use, "{{%s}}", name);
			if (!strstr(text.s, use.s))
				fail_msg("prompts/%s has no %s, which prompts/README.md lists", names.v[i],
					 use.s);
			pm_str_release(&use);
			field[n++] = (PmField){ name, "x" };
		}
		if (pm_prompt(NULL, names.v[i], field, n, &filled, &err))
			fail_msg("%s", err.text);
		free(fields);
		pm_str_release(&text);
		pm_str_release(&filled);
	}
	assert_true(files > 0);
	pm_names_release(&names);
	pm_str_release(&root);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_str_release(&readme);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_graph_has_the_category_of_its_operators),
		cmocka_unit_test(an_exemplar_leaks_where_its_pattern_matches),
		cmocka_unit_test(an_exemplar_leaks_where_one_graph_is_in_the_other),
		cmocka_unit_test(an_exemplar_does_not_leak_into_other_graphs),
		cmocka_unit_test(the_best_come_first),
		cmocka_unit_test(every_category_has_an_exemplar),
		cmocka_unit_test(no_exemplar_is_given_for_what_it_solves),
		cmocka_unit_test(similarity_is_the_cosine_of_operators_and_pairs),
		cmocka_unit_test(a_folder_that_is_wrong_is_said),
		cmocka_unit_test(fields_are_filled),
		cmocka_unit_test(a_prompt_is_a_file_of_its_folder),
		cmocka_unit_test(the_list_of_prompts_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
