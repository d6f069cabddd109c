/* SPDX-License-Identifier: Apache-2.0 */
/* test_ksig.c - parameters of kernel entries as written in CUDA source. */
#include "matcher/rewrite/ksig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* "p" pointer, "L" 64-bit, "i" 32-bit, "f" float, "d" double; or the sentence. */
static const char *params(const char *source, const char *entry)
{
	static char out[PM_ERR_MAX];
	PmKParam k[16];
	PmErr err;
	int n;

	pm_err_init(&err);
	if (pm_ksig_params(source, entry, k, 16, &n, &err) != PM_OK) {
		memcpy(out, err.text, sizeof out);
		return out;
	}
	for (int i = 0; i < n; i++)
		out[i] = "pLifd"[k[i]];
	out[n] = 0;
	return out;
}

static void every_spelling_is_read(void **state)
{
	(void)state;
	assert_string_equal(params("extern \"C\" __global__ void f(const T *x, T *y, long long n) {}", "f"),
			    "ppL");
	assert_string_equal(params("__global__ void f(void) {}", "f"), "");
	assert_string_equal(params("__global__ void f() {}", "f"), "");
	assert_string_equal(
		params("__global__ void f(int a, unsigned b, int32_t c, uint32_t d, signed int e) {}", "f"),
		"iiiii");
	assert_string_equal(
		params("__global__ void f(long a, unsigned long long b, size_t c, int64_t, uint64_t e) {}",
		       "f"),
		"LLLLL");
	assert_string_equal(params("__global__ void f(float a, const double b, const float) {}", "f"), "fdf");
	assert_string_equal(params("__global__ void __launch_bounds__(256, 2) f(const __half2 *__restrict__ "
				   "x, float y[]) {}",
				   "f"),
			    "pp");
	assert_string_equal(params("void __global__ f(float *x);\n", "f"), "p");
	assert_string_equal(
		params("__global__ void f(const unsigned char *x, short *const y, char z[], void **w) {}",
		       "f"),
		"pppp");
	assert_string_equal(
		params("__device__ int f(int x) { return 1'000; }\n__global__ void g(float *x, int n) {}",
		       "g"),
		"pi");
	assert_string_equal(params("// __global__ void f(int a)\n/* __global__ void f(int a) */\n"
				   "#define DECL \\\n __global__ void f(int a)\n"
				   "const char *s = \"__global__ void f(int a)\";\n__global__ void f(/* out "
				   "*/ float *x) {}",
				   "f"),
			    "p");
	assert_string_equal(params("__global__ void ff(int a) {}\n__global__ void f(double b) {}", "f"), "d");
}

static void what_cannot_be_read_is_named(void **state)
{
	(void)state;
	assert_non_null(strstr(params("__global__ void f(int a) {}", "g"), "no function `__global__ void g"));
	assert_non_null(strstr(params("__device__ void f(int a) {}", "f"), "no function"));
	assert_non_null(strstr(params("__global__ void f(T a) {}", "f"), "Parameter 0 of kernel f, 'T a'"));
	assert_non_null(strstr(params("__global__ void f(int x, short a) {}", "f"), "Parameter 1"));
	assert_non_null(strstr(params("__global__ void f(unsigned char) {}", "f"), "Parameter 0"));
	assert_non_null(strstr(params("__global__ void f(float &a) {}", "f"), "Parameter 0"));
	assert_non_null(strstr(params("__global__ void f(float *&a) {}", "f"), "Parameter 0"));
	assert_non_null(strstr(params("__global__ void f(long double a) {}", "f"), "Parameter 0"));
	assert_non_null(strstr(params("__global__ void f(int a,) {}", "f"), "Parameter 1"));
	assert_non_null(strstr(params("__global__ void f(int a", "f"), "cannot be read"));
	assert_non_null(strstr(params("__global__ void f(int (*g)(int)) {}", "f"), "cannot be read"));
	assert_non_null(strstr(params("__global__ void f(int a, int b, int c, int d, int e, int f_, int g, "
				      "int h, int i, int j,"
				      " int k, int l, int m, int n, int o, int p, int q) {}",
				      "f"),
			       "more than 16"));
	assert_non_null(strstr(params("__global__ \"", "f"), "no function"));
}

static void arguments_are_compared(void **state)
{
	static const char src[] = "__global__ void f(float *x, long long n, float a) {}";
	PmKArg args[] = { { .kind = PM_KARG_IN }, { .kind = PM_KARG_I64 }, { .kind = PM_KARG_F32 } };
	PmKLaunch l = { .entry = "f", .n_args = 3, .args = args };
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(pm_ksig_check(src, &l, &err), PM_OK);
	args[1].kind = PM_KARG_I32;
	assert_int_equal(pm_ksig_check(src, &l, &err), PM_E_TYPE);
	assert_string_equal(err.text,
			    "Parameter 1 of kernel f is a 64-bit integer, but a 32-bit integer is passed.");
	args[1].kind = PM_KARG_SCRATCH;
	assert_int_equal(pm_ksig_check(src, &l, &err), PM_E_TYPE);
	l.n_args = 2;
	assert_int_equal(pm_ksig_check(src, &l, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "has 3 parameters, but 2 arguments are passed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_is_read),
		cmocka_unit_test(what_cannot_be_read_is_named),
		cmocka_unit_test(arguments_are_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
