/* SPDX-License-Identifier: Apache-2.0 */
/* test_products.c - products of the reference on the emulated device: the bits of the processor's, also where
 * the process answers something wrong or dies. */
#include "base/core/rng.h"
#include "runtime/ref/ref_priv.h"
#include "runtime/worker/products.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LONGER = 3 }; /* rows are that much longer than what is multiplied */

typedef struct Case {
	int64_t m, n, k;
	double *a, *b, *c, *want;
} Case;

static Case make(int64_t m, int64_t n, int64_t k)
{
	Case v = { m, n, k, NULL, NULL, NULL, NULL };
	PmRng r;

	pm_rng_init(&r, (uint64_t)(m * n + k));
	v.a = pm_xcalloc((size_t)(m * (k + LONGER)), sizeof *v.a);
	v.b = pm_xcalloc((size_t)(k * (n + LONGER)), sizeof *v.b);
	v.c = pm_xcalloc((size_t)(m * (n + LONGER)), sizeof *v.c);
	v.want = pm_xcalloc((size_t)(m * (n + LONGER)), sizeof *v.want);
	for (int64_t i = 0; i < m * (k + LONGER); i++)
		v.a[i] = pm_rng_normal(&r);
	for (int64_t i = 0; i < k * (n + LONGER); i++)
		v.b[i] = pm_rng_normal(&r);
	return v;
}

static void multiply(const Case *v, double *c)
{
	pm__ref_gemm_f(v->m, v->n, v->k, v->a, v->k + LONGER, v->b, v->n + LONGER, c, v->n + LONGER);
}

static void release(Case *v)
{
	free(v->a);
	free(v->b);
	free(v->c);
	free(v->want);
}

/* Multiplies with and without the process; the bits have to be the same whatever it does. */
static PmProductsDone same_bits(Case *v, PmProductFault fault, int times)
{
	PmProducts *p = pm_products_new("emu", 1e3, fault);
	PmProductsDone done;

	multiply(v, v->want);
	pm_ref_products(pm_products_compute, p);
	for (int i = 0; i < times; i++) {
		memset(v->c, 0, (size_t)(v->m * (v->n + LONGER)) * sizeof *v->c);
		multiply(v, v->c);
		for (int64_t j = 0; j < v->m * (v->n + LONGER); j++)
			if (isnan(v->want[j]) ? !isnan(v->c[j])
					      : memcmp(&v->c[j], &v->want[j], sizeof *v->c) != 0)
				fail_msg("element %lld is %a, not %a", (long long)j, v->c[j], v->want[j]);
	}
	pm_ref_products(NULL, NULL);
	done = pm_products_done(p);
	pm_products_free(p);
	return done;
}

static void the_device_has_the_bits_of_the_processor(void **state)
{
	static const int64_t size[][3] = {
		{ 128, 64, 16 }, { 131, 67, 45 }, { 40, 200, 120 }, { 260, 70, 9 }
	};

	(void)state;
	for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
		Case v = make(size[i][0], size[i][1], size[i][2]);
		PmProductsDone done = same_bits(&v, PM_PRODUCT_RIGHT, 2);

		assert_int_equal(done.n, 2);
		assert_int_equal(done.refused, 0);
		release(&v);
	}
}

static void what_is_wrong_is_computed_again(void **state)
{
	Case v = make(131, 67, 45);
	PmProductsDone done = same_bits(&v, PM_PRODUCT_WRONG, 2);

	(void)state;
	assert_int_equal(done.n, 0);
	assert_int_equal(done.refused, 1); /* it is not asked again */
	release(&v);
}

static void a_process_that_dies_changes_nothing(void **state)
{
	Case v = make(131, 67, 45);
	PmProductsDone done = same_bits(&v, PM_PRODUCT_DIES, 2);

	(void)state;
	assert_int_equal(done.n, 0);
	assert_int_equal(done.refused, 1);
	release(&v);
}

/* A check by a random vector says nothing of these. */
static void infinities_stay_with_the_processor(void **state)
{
	Case v = make(131, 67, 45);
	PmProductsDone done;

	(void)state;
	v.a[2] = INFINITY;
	v.b[LONGER] = NAN;
	done = same_bits(&v, PM_PRODUCT_RIGHT, 1);
	assert_int_equal(done.n, 0);
	assert_int_equal(done.refused, 0);
	release(&v);
}

/* What is there already is added to. */
static void sums_that_go_on_stay_with_the_processor(void **state)
{
	Case v = make(131, 67, 45);
	PmProducts *p = pm_products_new("emu", 1e3, PM_PRODUCT_RIGHT);

	(void)state;
	multiply(&v, v.want);
	multiply(&v, v.want);
	pm_ref_products(pm_products_compute, p);
	multiply(&v, v.c);
	multiply(&v, v.c);
	pm_ref_products(NULL, NULL);
	assert_memory_equal(v.c, v.want, (size_t)(v.m * (v.n + LONGER)) * sizeof *v.c);
	assert_int_equal(pm_products_done(p).n, 1);
	pm_products_free(p);
	release(&v);
}

static void no_process_after_a_rest(void **state)
{
	Case v = make(131, 67, 45);
	PmProducts *p = pm_products_new("emu", 1e3, PM_PRODUCT_RIGHT);

	(void)state;
	pm_ref_products(pm_products_compute, p);
	multiply(&v, v.c);
	pm_products_rest(p);
	memset(v.c, 0, (size_t)(v.m * (v.n + LONGER)) * sizeof *v.c);
	multiply(&v, v.c);
	pm_ref_products(NULL, NULL);
	multiply(&v, v.want);
	assert_memory_equal(v.c, v.want, (size_t)(v.m * (v.n + LONGER)) * sizeof *v.c);
	assert_int_equal(pm_products_done(p).n, 1);
	pm_products_free(p);
	release(&v);
}

/* Small products cost more to move than to compute. */
static void what_is_small_is_not_asked_about(void **state)
{
	Case v = make(131, 67, 45);
	PmProducts *p = pm_products_new("emu", 0, PM_PRODUCT_RIGHT);

	(void)state;
	pm_ref_products(pm_products_compute, p);
	multiply(&v, v.c);
	pm_ref_products(NULL, NULL);
	assert_int_equal(pm_products_done(p).n, 0);
	pm_products_free(p);
	release(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_device_has_the_bits_of_the_processor),
		cmocka_unit_test(what_is_wrong_is_computed_again),
		cmocka_unit_test(a_process_that_dies_changes_nothing),
		cmocka_unit_test(infinities_stay_with_the_processor),
		cmocka_unit_test(sums_that_go_on_stay_with_the_processor),
		cmocka_unit_test(no_process_after_a_rest),
		cmocka_unit_test(what_is_small_is_not_asked_about),
	};

	return cmocka_run_group_tests_name("products", tests, NULL, NULL);
}
