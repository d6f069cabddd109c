/* test_loader.c - opening plugins: versions, symbols, files that are none. */
#include "matcher/loader.h"

#include "matcher/session.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void refused(const char *path, PmStatus want, const char *part)
{
	PmLoaded l;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_plugin_load(path, &l, &err), want);
	assert_null(l.handle);
	if (!strstr(err.text, part))
		fail_msg("%s", err.text);
}

static void a_plugin_of_this_version_loads(void **state)
{
	PmLoaded l;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_plugin_load(built("passes/silu.so"), &l, &err), PM_OK);
	assert_string_equal(l.plugin.name, "silu");
	assert_int_equal(l.plugin.n_rules, 1);
	assert_string_equal(l.plugin.rules[0]->name, "silu");
	pm_plugin_unload(&l);
	assert_null(l.handle);
}

static void other_versions_are_refused_with_both_numbers(void **state)
{
	(void)state;
	refused(built("tests/plugin/abi_newer.so"), PM_E_ABI, "interface 1.99, this program offers 1.0");
	refused(built("tests/plugin/abi_v2.so"), PM_E_ABI, "interface 2, this program offers 1.0");
	refused(built("tests/plugin/abi_none.so"), PM_E_ABI, "exports no passmith_plugin_v1");
}

static void files_that_are_no_shared_objects_are_refused(void **state)
{
	(void)state;
	refused("/nowhere/at/all.so", PM_E_INVALID, "There is no file");
	refused("/", PM_E_INVALID, "There is no file");
	refused("/proc/self/maps", PM_E_INVALID, "cannot be loaded");
}

/* A plugin keeps calling the table it was given, whoever asks and whenever: outside a round it gets nothing.
 */
static void host_functions_outside_a_round_answer_none(void **state)
{
	const PmHost *h = pm_host_v1();
	PmVal v = { 1 };
	int64_t i;
	double d;

	(void)state;
	assert_int_equal(h->struct_size, sizeof *h);
	assert_int_equal(h->abi_major, 1);
	assert_int_equal(h->dtype(v), -1);
	assert_int_equal(h->rank(v), -1);
	assert_int_equal(h->dim(v, 0), -1);
	assert_int_equal(h->same_dim(v, 0, v, 0), 0);
	assert_int_equal(h->same_type(v, v), 0);
	assert_int_equal(h->is_const(v), 0);
	assert_int_equal(h->is_output(v), 0);
	assert_int_equal(h->scalar(v, &d), 0);
	assert_int_equal(h->ints(v, &i, 1), -1);
	assert_int_equal(h->floats(v, &d, 1), -1);
	assert_string_equal(h->op(v), "");
	assert_null(h->expr(v));
	assert_int_equal(h->result_index(v), -1);
	assert_int_equal(h->n_in(v), 0);
	assert_int_equal(h->in(v, 0).id, 0);
	assert_int_equal(h->n_out(v), 0);
	assert_int_equal(h->out(v, 0).id, 0);
	assert_int_equal(h->n_uses(v), 0);
	assert_int_equal(h->user(v, 0).id, 0);
	assert_int_equal(h->attr_i(v, "axis", 7), 7);
	assert_true(h->attr_f(v, "alpha", 0.5) == 0.5);
	assert_string_equal(h->attr_s(v, "mode", "m"), "m");
	assert_int_equal(h->attr_ints(v, "axes", &i, 1), -1);
	assert_int_equal(h->decline("why"), PM_DECLINED);
	assert_null(h->alloc(16));
	assert_true(h->replace_slot(NULL, 0) < 0);
	assert_true(h->replace(NULL, NULL) < 0);
	assert_true(h->region_add(NULL, v) < 0);
	assert_int_equal(h->region_has(NULL, v), 0);
	assert_int_equal(h->region_size(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plugin_of_this_version_loads),
		cmocka_unit_test(other_versions_are_refused_with_both_numbers),
		cmocka_unit_test(files_that_are_no_shared_objects_are_refused),
		cmocka_unit_test(host_functions_outside_a_round_answer_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
