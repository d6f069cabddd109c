/* SPDX-License-Identifier: Apache-2.0 */
/* test_variant_list.c - the graphs an evaluation runs on: of a model, and what is left of them by a
 * selection. */
#include "app/eval/variant_list.h"

#include "app/model/model_file.h"
#include "base/core/str.h"
#include "base/sys/io.h"
#include "ir/canon/canon.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char silu[] = "g (float[3,67] x) => (float[3,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";
static const char open_silu[] =
	"g (float[rows,67] x) => (float[rows,67] y) { s = Sigmoid(x)\n y = Mul(x, s) }";

static void make(const char *text, int variants, uint64_t seed, PmVariantList *m)
{
	PmGraph *g = pm_test_graph(text);
	PmErr err;

	pm_err_init(&err);
	memset(m, 0, sizeof *m);
	if (pm_variant_list_of_graph(g, variants, seed, m, &err))
		fail_msg("%s", err.text);
	pm_graph_free(g);
}

static void a_model_is_one_member_as_it_is_written(void **state)
{
	char is[PM_SHA256_HEX], was[PM_SHA256_HEX];
	PmGraph *g = pm_test_graph(silu);
	PmVariantList m;

	(void)state;
	make(silu, 0, 0, &m);
	assert_int_equal(m.list.n, 1);
	assert_string_equal(m.list.v[0].label, "as written");
	assert_int_equal(m.list.v[0].shape, 0);
	assert_int_equal(m.task, 0);
	assert_int_equal(pm_canon_hash(g, PM_CANON_FULL, was, NULL), PM_OK);
	assert_int_equal(pm_canon_hash(m.list.v[0].g, PM_CANON_FULL, is, NULL), PM_OK);
	assert_string_equal(is, was);
	pm_variant_list_release(&m);
	pm_graph_free(g);
}

/* Without a number for each size there is nothing to run; variants give it one. */
static void open_sizes_need_variants(void **state)
{
	PmGraph *g = pm_test_graph(open_silu);
	PmVariantList m = { 0 };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_not_equal(pm_variant_list_of_graph(g, 0, 0, &m, &err), PM_OK);
	assert_non_null(strstr(err.text, "rows"));
	assert_int_equal(m.list.n, 0);
	pm_variant_list_release(&m);
	pm_graph_free(g);
	make(open_silu, 1, 0, &m);
	assert_true(m.list.n > 3);
	pm_variant_list_release(&m);
}

static void variants_are_numbered_and_follow_from_the_seed(void **state)
{
	PmVariantList a, b, other;
	int differ = 0;

	(void)state;
	make(silu, 1, 7, &a);
	make(silu, 1, 7, &b);
	make(silu, 1, 8, &other);
	assert_int_equal(a.list.n, b.list.n);
	for (size_t i = 0; i < a.list.n; i++) {
		assert_int_equal(a.list.v[i].ordinal, i);
		assert_string_equal(a.list.v[i].label, b.list.v[i].label);
		differ |= i >= other.list.n || strcmp(a.list.v[i].label, other.list.v[i].label) != 0;
	}
	assert_true(differ);
	pm_variant_list_release(&a);
	pm_variant_list_release(&b);
	pm_variant_list_release(&other);
}

/* What is kept keeps its ordinal, by which results are stored. */
static void a_selection_keeps_what_has_all_of_it(void **state)
{
	static const int64_t only[] = { 0, 4, 1 };
	PmSelect f16 = { .dtype = PM_F16, .shape = -1 }, first = { .dtype = -1, .shape = 0 };
	PmSelect named = { .dtype = -1, .shape = -1, .only = only, .n_only = 3 };
	PmVariantList m;
	size_t n, dropped;

	(void)state;
	make(silu, 1, 7, &m);
	n = m.list.n;
	dropped = pm_variant_list_select(&m, &f16);
	assert_int_equal(m.list.n + dropped, n);
	assert_int_equal(3 * m.list.n, n); /* float, float16, bfloat16 */
	for (size_t i = 0; i < m.list.n; i++) {
		assert_int_equal(m.list.v[i].dtype, PM_F16);
		assert_int_equal(pm_value_type(m.list.v[i].g, pm_graph_input(m.list.v[i].g, 0))->dtype,
				 PM_F16);
	}
	dropped = pm_variant_list_select(&m, &first);
	assert_int_equal(dropped, n / 3 - 1);
	assert_int_equal(m.list.n, 1);
	pm_variant_list_release(&m);
	make(silu, 1, 7, &m);
	assert_int_equal(pm_variant_list_select(&m, &named), n - 3);
	assert_int_equal(m.list.v[0].ordinal, 0);
	assert_int_equal(m.list.v[1].ordinal, 1);
	assert_int_equal(m.list.v[2].ordinal, 4);
	pm_variant_list_release(&m);
}

static void the_first_shapes_are_kept(void **state)
{
	PmVariantList m;
	size_t n;

	(void)state;
	make(silu, 1, 7, &m);
	n = m.list.n;
	pm_variant_list_keep_shapes(&m, 0);
	assert_int_equal(m.list.n, n);
	pm_variant_list_keep_shapes(&m, 2);
	assert_int_equal(m.list.n, 6);
	for (size_t i = 0; i < m.list.n; i++)
		assert_true(m.list.v[i].shape < 2);
	pm_variant_list_release(&m);
}

/* A model is the same after it went through a file of either kind. */
static void a_model_survives_its_file(void **state)
{
	static const char *const names[] = { "m.gpt", "m.onnx" };
	char is[PM_SHA256_HEX], was[PM_SHA256_HEX];
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmGraph *g = pm_test_graph(silu), *back = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("members", &dir, NULL), PM_OK);
	assert_int_equal(pm_canon_hash(g, PM_CANON_FULL, was, NULL), PM_OK);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		pm_str_clear(&path);
		pm_path_join(dir.s, names[i], &path);
		assert_int_equal(pm_model_save(g, path.s, &err), PM_OK);
		assert_int_equal(pm_model_load(path.s, &back, NULL, &err), PM_OK);
		assert_int_equal(pm_canon_hash(back, PM_CANON_FULL, is, NULL), PM_OK);
		assert_string_equal(is, was);
		pm_graph_free(back);
	}
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
	pm_graph_free(g);
}

/* An ONNX model under another name is told from text, and how it is read is said. */
static void bytes_are_no_text(void **state)
{
	PmStr dir = PM_STR_INIT, path = PM_STR_INIT;
	PmGraph *g = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_temp_dir("members", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "m.bin", &path);
	assert_int_equal(pm_write_file(path.s, "\x08\x07\x12", 3, &err), PM_OK);
	assert_int_equal(pm_model_load(path.s, &g, NULL, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, ".onnx"));
	assert_non_null(strstr(err.text, path.s));
	pm_remove_tree(dir.s, NULL);
	pm_str_release(&dir);
	pm_str_release(&path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_model_is_one_member_as_it_is_written),
		cmocka_unit_test(open_sizes_need_variants),
		cmocka_unit_test(variants_are_numbered_and_follow_from_the_seed),
		cmocka_unit_test(a_selection_keeps_what_has_all_of_it),
		cmocka_unit_test(the_first_shapes_are_kept),
		cmocka_unit_test(a_model_survives_its_file),
		cmocka_unit_test(bytes_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
