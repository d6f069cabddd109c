/* SPDX-License-Identifier: Apache-2.0 */
/* test_latency.c - levels of latencies are those of the sorted list, to the width of a step. */
#include "app/serve/latency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 20000 };

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void levels_are_those_of_the_list(void **state)
{
	static const double part[] = { 0.01, 0.5, 0.9, 0.99, 0.999, 1 };
	static PmLatency half[2], all;
	static double v[N];
	uint64_t r = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < N; i++) {
		r ^= r << 13;
		r ^= r >> 7;
		r ^= r << 17;
		v[i] = 1e-6 * (double)(1 + r % 100000) * (i % 7 ? 1 : 50);
		pm_latency_add(&half[i % 2], v[i]);
	}
	pm_latency_merge(&all, &half[0]);
	pm_latency_merge(&all, &half[1]);
	qsort(v, N, sizeof *v, by_size);
	assert_int_equal(all.n, N);
	assert_true(all.most == v[N - 1]);
	for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
		double want = v[(int)(part[i] * N) - 1], got = pm_latency_level(&all, part[i]);

		assert_true(got >= want && got <= want * 1.012);
	}
}

static void ends_are_held(void **state)
{
	static PmLatency l;

	(void)state;
	assert_true(pm_latency_level(&l, 0.5) == 0);
	pm_latency_add(&l, 0);
	pm_latency_add(&l, 1e9);
	assert_int_equal(l.n, 2);
	assert_true(pm_latency_level(&l, 0.5) <= 1.1e-9);
	assert_true(pm_latency_level(&l, 1) == 1e9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_are_those_of_the_list),
		cmocka_unit_test(ends_are_held),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
