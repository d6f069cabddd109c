/* SPDX-License-Identifier: Apache-2.0 */
/* test_law.c - laws of inputs as text: written and read back, refused when they are none, a part of the
 * canonical form, and of an input that is renamed. */
#include "ir/canon/canon.h"
#include "ir/data/law.h"
#include "ir/text/text.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmGraph *parse(const char *text)
{
	PmGraph *g = NULL;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err))
		fail_msg("%s", err.text);
	return g;
}

static void what_is_written_is_read(void **state)
{
	static const char *const texts[] = { "normal(0.5, 2, -inf, inf)", "normal(-1e-05, 0, -3, 3.25)",
					     "positive(2, 1, 0.03125, 7)", "uniform(0, 1)",
					     "uniform(-3.5, -3.5)" };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		PmStr out = PM_STR_INIT;
		PmSynth s;

		/* PM_F64: reading narrows the ends to what the type holds. */
		assert_int_equal(pm_law_read(texts[i], PM_F64, &s, NULL), PM_OK);
		if (i) { /* the first has open ends */
			assert_int_equal(pm_law_text(&s, &out), 1);
			assert_string_equal(out.s, texts[i]);
		}
		pm_str_release(&out);
	}
}

static void what_is_no_law_is_refused(void **state)
{
	static const char *const texts[] = { "",
					     "uniform",
					     "uniform(0, 1",
					     "uniform(0, 1) ",
					     "uniform(0)",
					     "uniform(0, 1, 2)",
					     "uniform(1, 0)",
					     "uniform(0, inf)",
					     "uniform(nan, 1)",
					     "uniform(, 1)",
					     "normal(0, -1, -1, 1)",
					     "normal(inf, 1, -1, 1)",
					     "normal(0, 1)",
					     "positive(0, 1, 0, 1)",
					     "gamma(0, 1)" };
	PmSynth s;
	PmErr err;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		pm_err_init(&err);
		assert_int_equal(pm_law_read(texts[i], PM_F32, &s, &err), PM_E_INVALID);
	}
	assert_int_equal(pm_law_read("uniform(0, 1)", PM_I64, &s, &err), PM_E_INVALID);
}

#define BODY(a, b) "m (float[4] " a ", float[4] " b ") => (float[4] y) { y = Sub (" a ", " b ") }"
#define LAWS(a, b) "<ir_version: 8, opset_import: [\"\" : 18], metadata_props: [" a b "]>\n"

static void a_law_is_a_part_of_the_graph(void **state)
{
	PmGraph *plain = parse(BODY("x", "z")),
		*first = parse(LAWS("\"input_law.x\": \"uniform(0, 1)\"", "") BODY("x", "z"));
	PmGraph *second = parse(LAWS("\"input_law.z\": \"uniform(0, 1)\"", "") BODY("x", "z"));
	PmGraph *renamed = parse(LAWS("\"author\": \"me\", ", "\"input_law.q\": \"uniform(0, 1)\"")
					 BODY("q", "x"));
	const PmGraph *const all[] = { plain, first, second, renamed };
	char full[4][PM_SHA256_HEX], shapes[4][PM_SHA256_HEX];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pm_canon_hash(all[i], PM_CANON_FULL, full[i], NULL), PM_OK);
		assert_int_equal(pm_canon_hash(all[i], PM_CANON_SHAPES, shapes[i], NULL), PM_OK);
		assert_string_equal(shapes[i], shapes[0]);
		pm_graph_free((PmGraph *)(uintptr_t)all[i]);
	}
	assert_string_not_equal(full[0], full[1]);
	assert_string_not_equal(full[1], full[2]);
	assert_string_equal(full[1], full[3]);
}

static void a_law_follows_its_input(void **state)
{
	static const PmPrintOpts renumber = { .renumber = 1 };
	PmGraph *g = parse(LAWS("\"input_law.b\": \"uniform(0, 1)\", ",
				"\"input_law.gone\": \"uniform(2, 3)\"") BODY("a", "b"));
	PmStr text = PM_STR_INIT;
	PmGraph *back;

	(void)state;
	assert_int_equal(pm_graph_print(g, &renumber, &text, NULL), PM_OK);
	back = parse(text.s);
	assert_null(pm_graph_input_law(back, pm_graph_input(back, 0)));
	assert_string_equal(pm_graph_input_law(back, pm_graph_input(back, 1)), "uniform(0, 1)");
	pm_str_release(&text);
	pm_graph_free(back);
	pm_graph_free(g);
}

static void statistics_give_laws_where_they_fit(void **state)
{
	PmGraph *g = parse(
		"<ir_version: 8, opset_import: [\"\" : 18], metadata_props: [\"tensor_stats\": "
		"\"{\\\"x\\\":{\\\"mean\\\":1,\\\"std\\\":2},\\\"v\\\":{\\\"mean\\\":-1,\\\"std\\\":1},"
		"\\\"i\\\":{\\\"min\\\":0,\\\"max\\\":2}}\"]>\n"
		"m (float[4] x, float[4] v, int64[2] i, float[4] z) => (float[2] y)\n"
		"{ s = Sqrt (v)\n d = Div (x, s)\n e = Add (d, z)\n y = Gather <axis = 0> (e, i) }");
	size_t n = 0;

	(void)state;
	assert_int_equal(pm_laws_from_stats(g, &n, NULL), PM_OK);
	assert_int_equal(n, 1);
	assert_non_null(strstr(pm_graph_input_law(g, pm_graph_input(g, 0)), "normal(1, 2, "));
	assert_null(pm_graph_input_law(g, pm_graph_input(g, 1))); /* a variance is not negative */
	assert_null(pm_graph_input_law(g, pm_graph_input(g, 2))); /* an index follows its axis */
	assert_null(pm_graph_input_law(g, pm_graph_input(g, 3)));
	pm_graph_drop_meta(g, "tensor_stats");
	assert_null(pm_graph_meta(g, "tensor_stats"));
	assert_int_equal(pm_graph_n_meta(g), 1);
	pm_graph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(what_is_no_law_is_refused),
		cmocka_unit_test(a_law_is_a_part_of_the_graph),
		cmocka_unit_test(a_law_follows_its_input),
		cmocka_unit_test(statistics_give_laws_where_they_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
