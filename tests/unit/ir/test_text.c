/* SPDX-License-Identifier: Apache-2.0 */
/* test_text.c - the text form on whole files: round trips, hostile bytes, constants by reference. */
#include "base/sys/io.h"
#include "ir/text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmGraph *parse_n(const char *text, size_t n)
{
	PmErr err;
	PmGraph *g = NULL;

	pm_err_init(&err);
	if (pm_graph_parse(text, n, &g, &err) != PM_OK)
		fail_msg("%s\n%.*s", err.text, (int)n, text);
	return g;
}

static PmGraph *parse(const char *text)
{
	return parse_n(text, strlen(text));
}

static void print(const PmGraph *g, const PmPrintOpts *opts, PmStr *out)
{
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_print(g, opts, out, &err) != PM_OK)
		fail_msg("%s", err.text);
}

/* Parses and prints twice; both texts must be equal. Returns the number of nodes. */
static size_t round_trip(const char *text, size_t n, const PmPrintOpts *opts)
{
	PmGraph *g = parse_n(text, n), *h;
	PmStr once = PM_STR_INIT, twice = PM_STR_INIT;
	size_t nodes = pm_graph_n_nodes(g);

	print(g, opts, &once);
	h = parse_n(once.s, once.len);
	print(h, opts, &twice);
	assert_string_equal(once.s, twice.s);
	assert_int_equal(pm_graph_n_nodes(h), nodes);
	pm_graph_free(g);
	pm_graph_free(h);
	pm_str_release(&once);
	pm_str_release(&twice);
	return nodes;
}

static void read_model(const char *name, PmStr *out)
{
	PmStr path = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	pm_path_join("models", name, &path);
	if (pm_read_file(path.s, 0, out, &err) != PM_OK)
		fail_msg("%s", err.text);
	pm_str_release(&path);
}

static void bundled_models_round_trip(void **state)
{
	const PmPrintOpts renumber = { .renumber = 1, .no_header = 1 };
	PmNames names = { 0 };
	size_t models = 0, nodes = 0;

	(void)state;
	assert_int_equal(pm_list_dir("models", &names, NULL), PM_OK);
	for (size_t i = 0; i < names.n; i++) {
		PmStr text = PM_STR_INIT;

		if (!pm_str_ends(names.v[i], ".gpt"))
			continue;
		read_model(names.v[i], &text);
		nodes += round_trip(text.s, text.len, NULL);
		round_trip(text.s, text.len, &renumber);
		pm_str_release(&text);
		models++;
	}
	pm_names_release(&names);
	assert_true(models >= 6);
	assert_true(nodes >= 6 * 12);
}

/* Every beginning of a text is refused, without a crash; a sanitizer sees each read past the end. */
static void cut_texts_are_refused(void **state)
{
	PmStr text = PM_STR_INIT;

	(void)state;
	read_model("bge_pooling_head.gpt", &text);
	while (text.s[text.len - 1] == '\n')
		text.len--;
	for (size_t n = 0; n < text.len; n++) {
		char *exact = pm_xmalloc(n + 1);
		PmGraph *g = NULL;
		PmErr err;

		pm_err_init(&err);
		memcpy(exact, text.s, n);
		assert_int_not_equal(pm_graph_parse(exact, n, &g, &err), PM_OK);
		assert_memory_equal(err.text, "line ", 5);
		assert_null(g);
		free(exact);
	}
	pm_str_release(&text);
}

static void zero_bytes_are_refused_outside_string_attributes(void **state)
{
	static const char ok[] = "g (float[2] x) => (y) { y = \"Op\" <k = \"a\\x00b\"> (x) }";
	static const char *const bad[] = {
		"g (float[2] \"x\\x00\") => (y) { y = Relu (x) }",
		"g (float[2] x) => (y) { y = \"O\\x00p\" (x) }",
		"g (float[2] x) => (y) { y = \"Op\" <\"k\\x00\" = 1> (x) }",
		"g (float[2] x) => (y) { y = \"Op\" <k = [\"a\\x00\"]> (x) }",
	};
	static const char raw[] = "g (float[2] x) => (y) { y = Relu\0(x) }";
	PmGraph *g = parse(ok);
	const PmAttr *a = pm_node_attr(g, pm_graph_node_at(g, 0), "k");

	(void)state;
	assert_int_equal(a->n, 3);
	assert_memory_equal(a->s, "a\0b", 4);
	pm_graph_free(g);
	round_trip(ok, sizeof ok - 1, NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		g = NULL;
		assert_int_equal(pm_graph_parse(bad[i], strlen(bad[i]), &g, NULL), PM_E_INVALID);
		assert_null(g);
	}
	assert_int_equal(pm_graph_parse(raw, sizeof raw - 1, &g, NULL), PM_E_INVALID);
}

static void bytes_over_127_survive(void **state)
{
	static const char text[] =
		"\"gr\xc3\xa4ph\" (float[2] \"\xff\xfe\") => (float[2] y) { y = Relu (\"\xff\xfe\") }";

	(void)state;
	round_trip(text, sizeof text - 1, NULL);
}

static void wide_nodes_take_linear_time(void **state)
{
	enum { WIDE = 50000 };
	PmStr text = PM_STR_INIT;
	PmGraph *g;

	(void)state;
	pm_str_add(&text, "g (float[1] x) => (y) {");
	for (int i = 0; i < WIDE; i++)
		pm_str_addf(&text, "%s o%d", i ? "," : "", i);
	pm_str_add(&text, " = \"Op\" (x");
	for (int i = 0; i < WIDE; i++)
		pm_str_add(&text, ",x");
	pm_str_add(&text, ") y = Concat <axis = 0> (x");
	for (int i = 0; i < WIDE; i++)
		pm_str_add(&text, ",x");
	pm_str_add(&text, ") }");
	g = parse_n(text.s, text.len);
	assert_int_equal(pm_value_type(g, pm_graph_output(g, 0))->dim[0], WIDE + 1);
	pm_graph_free(g);
	round_trip(text.s, text.len, NULL);
	pm_str_release(&text);
}

static void attributes_and_graphs_have_limits(void **state)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g = NULL;

	(void)state;
	pm_str_add(&text, "g (float[2] x) => (y) { y = \"Op\" <");
	for (int i = 0; i < 257; i++)
		pm_str_addf(&text, "a%d = 1,", i);
	pm_str_add(&text, "> (x) }");
	assert_int_equal(pm_graph_parse(text.s, text.len, &g, NULL), PM_E_LIMIT);
	pm_str_clear(&text);
	for (int i = 0; i < 100000; i++)
		pm_str_add(&text, "g()=>(){=\"\x4f\"<a=");
	assert_int_equal(pm_graph_parse(text.s, text.len, &g, NULL), PM_E_LIMIT);
	assert_null(g);
	pm_str_release(&text);
}

static double only_double(const char *number)
{
	PmStr text = PM_STR_INIT;
	PmGraph *g;
	double d = 0;
	size_t n = 0;

	pm_str_addf(&text, "g () => (double w) <double w = {%s}> {}", number);
	g = parse(text.s);
	assert_int_equal(pm_value_const_floats(g, pm_graph_output(g, 0), &d, 1, &n), PM_OK);
	pm_graph_free(g);
	pm_str_release(&text);
	return d;
}

static void numbers_round_once(void **state)
{
	PmGraph *g = parse(
		"g () => (w)\n"
		/* Halfway between two floats but for a digit that a double cannot hold. */
		"<float[2] w = {1.00000005960464477539, 1.000000059604644775390625000000000000000001}> {}");
	double f[2];
	size_t n;

	(void)state;
	assert_int_equal(pm_value_const_floats(g, pm_graph_output(g, 0), f, 2, &n), PM_OK);
	assert_true(f[0] == 1.0);
	assert_true(f[1] == 1.00000011920928955078125);
	pm_graph_free(g);
	assert_true(only_double("0.1") == 0.1);
	assert_true(only_double("4.9406564584124654e-324") > 0);
	assert_true(only_double("-1.7976931348623157e308") < -1e308);
}

/* ---- constants by reference ---- */

static const char with_data[] = "g (float[4] x) => (float[4] y)\n"
				"<float[4] w = {1, 2, 3, 4}, float one = {1}>\n"
				"{\n a = Add (x, w)\n y = Mul (a, one)\n}\n";

static void constants_bind_by_name(void **state)
{
	const PmPrintOpts opts = { .max_inline = 1 };
	PmGraph *from = parse(with_data), *g;
	PmStr text = PM_STR_INIT, bound = PM_STR_INIT, want = PM_STR_INIT;
	double v[4];
	size_t n;

	(void)state;
	print(from, &opts, &text);
	assert_non_null(strstr(text.s, "float[4] w = [\"location\": \"@\"]"));
	assert_non_null(strstr(text.s, "float one = {1}"));
	g = parse(text.s);
	assert_int_equal(pm_value_const_floats(g, pm_graph_find_value(g, "w"), v, 4, &n), PM_DECLINED);
	assert_int_equal(pm_graph_bind_consts(g, from, NULL), PM_OK);
	assert_int_equal(pm_value_const_floats(g, pm_graph_find_value(g, "w"), v, 4, &n), PM_OK);
	assert_true(v[3] == 4.0);
	print(g, NULL, &bound);
	print(from, NULL, &want);
	assert_string_equal(bound.s, want.s);
	pm_graph_free(g);
	pm_graph_free(from);
	pm_str_release(&text);
	pm_str_release(&bound);
	pm_str_release(&want);
}

static void constants_bind_only_to_the_same_type(void **state)
{
	static const char *const wrong[] = { "float[2,2] w", "int32[4] w", "float[4] v" };
	PmGraph *from = parse(with_data);

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		PmStr text = PM_STR_INIT;
		PmGraph *g;
		PmErr err;

		pm_err_init(&err);
		pm_str_addf(&text, "g () => () <%s = [\"location\": \"@\"]> {}", wrong[i]);
		g = parse(text.s);
		assert_int_equal(pm_graph_bind_consts(g, from, &err), PM_E_NOT_FOUND);
		assert_non_null(strstr(err.text, wrong[i] + strlen(wrong[i]) - 1));
		pm_graph_free(g);
		pm_str_release(&text);
	}
	pm_graph_free(from);
}

static void constants_inside_bodies_bind_too(void **state)
{
	PmGraph *from = parse(with_data);
	PmGraph *g = parse("g (float[4] x) => (float[4] y) {\n"
			   "y = \"Op\" <b = i (float[4] p) => (q) <float[4] w = [\"location\": \"@\"]> "
			   "{ q = Add (p, w) }> (x) }");
	const PmAttr *body = pm_node_attr(g, pm_graph_node_at(g, 0), "b");
	double v[4];
	size_t n;

	(void)state;
	assert_int_equal(pm_graph_bind_consts(g, from, NULL), PM_OK);
	assert_int_equal(pm_value_const_floats(body->graph, pm_graph_find_value(body->graph, "w"), v, 4, &n),
			 PM_OK);
	pm_graph_free(g);
	pm_graph_free(from);
}

/* ---- the guide ---- */

static void examples_in_the_guide_parse(void **state)
{
	PmStr text = PM_STR_INIT;
	PmErr err;
	const char *p;
	int examples = 0;

	(void)state;
	pm_err_init(&err);
	if (pm_read_file("docs/reference/text-form.md", 0, &text, &err) != PM_OK)
		fail_msg("%s", err.text);
	for (p = strstr(text.s, "\n```gpt\n"); p; p = strstr(p, "\n```gpt\n"), examples++) {
		const char *end = strstr(p += 8, "\n```\n");

		assert_non_null(end);
		round_trip(p, (size_t)(end - p), NULL);
		p = end;
	}
	assert_true(examples >= 4);
	pm_str_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bundled_models_round_trip),
		cmocka_unit_test(cut_texts_are_refused),
		cmocka_unit_test(zero_bytes_are_refused_outside_string_attributes),
		cmocka_unit_test(bytes_over_127_survive),
		cmocka_unit_test(wide_nodes_take_linear_time),
		cmocka_unit_test(attributes_and_graphs_have_limits),
		cmocka_unit_test(numbers_round_once),
		cmocka_unit_test(constants_bind_by_name),
		cmocka_unit_test(constants_bind_only_to_the_same_type),
		cmocka_unit_test(constants_inside_bodies_bind_too),
		cmocka_unit_test(examples_in_the_guide_parse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
