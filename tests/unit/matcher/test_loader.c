/* SPDX-License-Identifier: Apache-2.0 */
/* test_loader.c - opening plugins: versions, symbols, files that are none. */
#include "matcher/host/loader.h"

#include "base/sys/io.h"
#include "integrity/gates/elf_gate.h"
#include "matcher/rewrite/session.h"
#include "tests/plugin/paths.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

typedef struct Opened {
	PmStr bytes;
	PmElf elf;
	PmLoaded l;
} Opened;

static PmStatus open_so(const char *path, unsigned variant, Opened *o, PmErr *err)
{
	PmStr problems = PM_STR_INIT;
	PmStatus st;

	pm_err_init(err);
	pm_str_init(&o->bytes);
	if (pm_read_file(path, 0, &o->bytes, err))
		fail_msg("%s", err->text);
	if (pm_elf_gate(o->bytes.s, o->bytes.len, &o->elf, &problems))
		fail_msg("%s", problems.s);
	pm_str_release(&problems);
	st = pm_plugin_map(&o->elf, variant, &o->l, err);
	return st ? st : pm_plugin_open(&o->elf, pm_path_base(path), &o->l, err);
}

static void close_so(Opened *o)
{
	pm_plugin_unmap(&o->l);
	pm_str_release(&o->bytes);
}

static void refused(const char *path, PmStatus want, const char *part)
{
	Opened o;
	PmErr err;

	assert_int_equal(open_so(path, 0, &o, &err), want);
	if (!strstr(err.text, part))
		fail_msg("%s", err.text);
	close_so(&o);
}

static void a_plugin_of_this_version_loads(void **state)
{
	Opened o;
	PmErr err;

	(void)state;
	assert_int_equal(open_so(built("passes/silu.so"), 0, &o, &err), PM_OK);
	assert_string_equal(o.l.plugin.name, "silu");
	assert_int_equal(o.l.plugin.n_rules, 1);
	assert_string_equal(o.l.plugin.rules[0]->name, "silu");
	close_so(&o);
	assert_null(o.l.base);
}

static void variants_lie_at_addresses_that_differ_in_every_low_bit(void **state)
{
	Opened a, b;
	PmErr err;

	(void)state;
	assert_int_equal(open_so(built("passes/silu.so"), 0, &a, &err), PM_OK);
	assert_int_equal(open_so(built("passes/silu.so"), 1, &b, &err), PM_OK);
	assert_int_equal((((uintptr_t)a.l.base ^ (uintptr_t)b.l.base) >> 12) & 0xfff, 0xfff);
	close_so(&a);
	close_so(&b);
}

static void imports_are_the_five_that_compilers_make(void **state)
{
	(void)state;
	assert_non_null(pm_plugin_import("memcpy"));
	assert_non_null(pm_plugin_import("strlen"));
	assert_null(pm_plugin_import("malloc"));
	assert_null(pm_plugin_import("memcpy2"));
	assert_null(pm_plugin_import(""));
}

static void other_versions_are_refused_with_both_numbers(void **state)
{
	(void)state;
	refused(built("tests/plugin/abi_newer.so"), PM_E_ABI, "interface 1.99, this program offers 1.4");
	refused(built("tests/plugin/abi_v2.so"), PM_E_ABI, "interface 2, this program offers 1.4");
	refused(built("tests/plugin/abi_none.so"), PM_E_ABI, "exports no passmith_plugin_v1");
}

/* As on machines whose pages are larger than those that an object was linked for. */
static void pages_are_as_large_as_they_are(void **state)
{
	static const char silu[] = "passes/silu.so";
	Opened o = { 0 };
	PmErr err;

	(void)state;
	assert_int_equal(open_so(built(silu), 1, &o, &err), PM_OK);
	for (size_t page = 4096; page <= 1 << 20; page *= 2) {
		/* Its second segment begins on the page that the first one ends on. */
		int shared = o.elf.seg[1].vaddr / page == 0;

		pm_plugin_unmap(&o.l);
		assert_int_equal(pm__plugin_map_by(&o.elf, 1, page, &o.l, &err),
				 shared ? PM_E_INVALID : PM_OK);
		if (shared)
			assert_non_null(strstr(err.text, "shares a page of"));
		else
			assert_int_equal(pm_plugin_open(&o.elf, "silu", &o.l, &err), PM_OK);
	}
	o.elf.n_segs = 1;
	o.elf.n_rela[0] = o.elf.n_rela[1] = 0;
	for (size_t page = 4096; page <= 1 << 20; page *= 2) {
		pm_plugin_unmap(&o.l);
		assert_int_equal(pm__plugin_map_by(&o.elf, 1, page, &o.l, &err), PM_OK);
		assert_int_equal((uintptr_t)o.l.base % page, 0);
		assert_int_equal(o.l.base[0], 0x7f);
	}
	pm_plugin_unmap(&o.l);
	assert_int_equal(pm__plugin_map_by(&o.elf, 1, 0, &o.l, &err), PM_E_ENV);
	close_so(&o);
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
	assert_int_equal(h->order(v), -1);
	assert_int_equal(h->param(v, 0, &d), 0);
	assert_string_equal(h->target()->name, "h200"); /* there is one at any time */
	assert_ptr_equal(h->trial(0), h->target());
	assert_null(h->trial(1));
	assert_true(h->expect(v, 1, 0, 1.5) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plugin_of_this_version_loads),
		cmocka_unit_test(other_versions_are_refused_with_both_numbers),
		cmocka_unit_test(variants_lie_at_addresses_that_differ_in_every_low_bit),
		cmocka_unit_test(pages_are_as_large_as_they_are),
		cmocka_unit_test(imports_are_the_five_that_compilers_make),
		cmocka_unit_test(host_functions_outside_a_round_answer_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
