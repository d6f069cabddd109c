/* SPDX-License-Identifier: Apache-2.0 */
/* test_conform.c - the conformance runner itself: what passes, what fails, what is counted. */
#include "base/core/vec.h"
#include "base/sys/io.h"
#include "bench/conform/conform.h"
#include "runtime/device/device.h"
#include "tests/lib/need.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static PmTensor scalar(int dtype, double v)
{
	PmType t = pm_type((PmDType)dtype, 0, NULL);
	PmTensor x;

	assert_int_equal(pm_tensor_init(&x, &t, NULL), PM_OK);
	pm_tensor_set(&x, 0, v);
	return x;
}

static void comparison_follows_the_stated_rule(void **state)
{
	static const struct {
		int dtype;
		double got, want;
		int same;
	} cases[] = {
		{ PM_F64, 1.0009, 1, 1 },
		{ PM_F64, 1.0011, 1, 0 },
		{ PM_F64, 9e-8, 0, 1 },
		{ PM_F64, 2e-7, 0, 0 },
		{ PM_F64, NAN, NAN, 1 },
		{ PM_F64, NAN, 1, 0 },
		{ PM_F64, 1, NAN, 0 },
		{ PM_F64, INFINITY, INFINITY, 1 },
		{ PM_F64, -INFINITY, INFINITY, 0 },
		{ PM_F64, 1e300, INFINITY, 0 },
		{ PM_BF16, 1.0078125, 1, 1 },
		{ PM_BF16, 1.015625, 1, 1 },
		{ PM_BF16, 1.0234375, 1, 0 },
		{ PM_I32, 1000, 1001, 0 },
		{ PM_I32, 1000, 1000, 1 },
	};
	PmTensor a, b;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		PmStatus st;

		a = scalar(cases[k].dtype, cases[k].got);
		b = scalar(cases[k].dtype, cases[k].want);
		st = pm_conform_compare(&a, &b, NULL);
		if (st != (cases[k].same ? PM_OK : PM_E_INVALID))
			fail_msg("%g against %g", cases[k].got, cases[k].want);
		pm_tensor_release(&a);
		pm_tensor_release(&b);
	}
	a = scalar(PM_F32, 1);
	b = scalar(PM_F64, 1);
	assert_int_equal(pm_conform_compare(&a, &b, NULL), PM_E_INVALID);
	pm_tensor_release(&a);
	pm_tensor_release(&b);
}

/* Copies an installed case; `flip` changes the last byte (sign and exponent) of the expected output. */
static void copy_case(const char *from, const char *to, int flip)
{
	static const char *const files[] = { "model.onnx", "test_data_set_0/input_0.pb",
					     "test_data_set_0/output_0.pb" };
	PmStr a = PM_STR_INIT, b = PM_STR_INIT, bytes = PM_STR_INIT;
	int k;

	pm_path_join(to, "test_data_set_0", &b);
	assert_int_equal(pm_mkdirs(b.s, NULL), PM_OK);
	for (k = 0; k < 3; k++) {
		pm_str_clear(&a);
		pm_str_clear(&b);
		pm_str_clear(&bytes);
		pm_path_join(from, files[k], &a);
		pm_path_join(to, files[k], &b);
		assert_int_equal(pm_read_file(a.s, 0, &bytes, NULL), PM_OK);
		if (flip && k == 2)
			bytes.s[bytes.len - 1] ^= 0x40;
		assert_int_equal(pm_write_file(b.s, bytes.s, bytes.len, NULL), PM_OK);
	}
	pm_str_release(&a);
	pm_str_release(&b);
	pm_str_release(&bytes);
}

static void a_wrong_output_fails_and_is_counted(void **state)
{
	PmStr folder = PM_STR_INIT, from = PM_STR_INIT, to = PM_STR_INIT, dir = PM_STR_INIT,
	      text = PM_STR_INIT;
	PmConform c = { 0 };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_conform_folder(&folder, &err))
		pm_test_skip("%s", err.text);
	pm_path_join(folder.s, "test_tanh", &from);
	pm_test_need_path(from.s);
	assert_int_equal(pm_temp_dir("conform", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "a_good", &to);
	copy_case(from.s, to.s, 0);
	pm_str_clear(&to);
	pm_path_join(dir.s, "b_wrong", &to);
	copy_case(from.s, to.s, 1);
	assert_int_equal(pm_conform_run(dir.s, NULL, &c, &err), PM_OK);
	assert_int_equal(c.n, 2);
	assert_string_equal(c.v[0].name, "a_good");
	assert_int_equal(c.v[0].verdict, PM_CASE_PASSED);
	assert_string_equal(c.v[0].op, "Tanh");
	assert_int_equal(c.v[1].verdict, PM_CASE_FAILED);
	assert_non_null(strstr(c.v[1].why, "Output 0: Element"));
	pm_conform_print(&c, 0, &text);
	assert_non_null(
		strstr(text.s, "Tanh                          2       1       1            0         0\n"));
	assert_non_null(strstr(text.s, "failed: b_wrong (Tanh): "));
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_conform_release(&c);
	pm_str_release(&folder);
	pm_str_release(&from);
	pm_str_release(&to);
	pm_str_release(&dir);
	pm_str_release(&text);
}

/* The same folder on the emulated device: the kernels' output is what is compared. */
static void the_emulated_device_is_judged_alike(void **state)
{
	PmConformOpts opts = { .device = "emu", .jobs = 1 };
	PmStr folder = PM_STR_INIT, from = PM_STR_INIT, to = PM_STR_INIT, dir = PM_STR_INIT;
	PmConform c = { 0 };
	PmDevice *d = NULL;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_conform_folder(&folder, &err) || pm_device_open("emu", &d, &err))
		pm_test_skip("%s", err.text);
	d->ops->close(d);
	pm_path_join(folder.s, "test_tanh", &from);
	pm_test_need_path(from.s);
	assert_int_equal(pm_temp_dir("conform", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "a_good", &to);
	copy_case(from.s, to.s, 0);
	pm_str_clear(&to);
	pm_path_join(dir.s, "b_wrong", &to);
	copy_case(from.s, to.s, 1);
	assert_int_equal(pm_conform_run(dir.s, &opts, &c, &err), PM_OK);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.v[0].verdict, PM_CASE_PASSED);
	assert_int_equal(c.v[1].verdict, PM_CASE_FAILED);
	pm_conform_release(&c);
	/* One of the two, by position. */
	opts.per_op = 1;
	assert_int_equal(pm_conform_run(dir.s, &opts, &c, &err), PM_OK);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.left_out, 1);
	assert_string_equal(c.v[0].name, "a_good");
	pm_conform_release(&c);
	opts.device = "abacus";
	assert_int_not_equal(pm_conform_run(dir.s, &opts, &c, &err), PM_OK);
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_conform_release(&c);
	pm_str_release(&folder);
	pm_str_release(&from);
	pm_str_release(&to);
	pm_str_release(&dir);
}

/* Files that are no models end as failed cases with a sentence, whatever their bytes. */
static void broken_files_are_failed_cases(void **state)
{
	static const char *const bytes[] = { "", "\x3a", "\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
					     "junk", "\x3a\x05\x0a\x7f\x01" };
	PmStr dir = PM_STR_INIT, set = PM_STR_INIT, file = PM_STR_INIT;
	size_t k;

	(void)state;
	assert_int_equal(pm_temp_dir("conform", &dir, NULL), PM_OK);
	pm_path_join(dir.s, "test_data_set_0", &set);
	pm_path_join(dir.s, "model.onnx", &file);
	assert_int_equal(pm_mkdirs(set.s, NULL), PM_OK);
	for (k = 0; k < sizeof bytes / sizeof bytes[0]; k++) {
		PmConform c = { 0 };
		PmCase one;

		assert_int_equal(pm_write_file(file.s, bytes[k], strlen(bytes[k]), NULL), PM_OK);
		assert_int_equal(pm_conform_case(dir.s, NULL, &one, NULL), PM_OK);
		assert_int_equal(one.verdict, PM_CASE_FAILED);
		assert_true(strlen(one.why) > 0);
		PM_VEC_PUSH(&c, one);
		pm_conform_release(&c);
	}
	assert_int_equal(pm_remove_tree(dir.s, NULL), PM_OK);
	pm_str_release(&dir);
	pm_str_release(&set);
	pm_str_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparison_follows_the_stated_rule),
		cmocka_unit_test(a_wrong_output_fails_and_is_counted),
		cmocka_unit_test(the_emulated_device_is_judged_alike),
		cmocka_unit_test(broken_files_are_failed_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
