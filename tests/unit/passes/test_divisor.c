/* SPDX-License-Identifier: Apache-2.0 */
/* test_divisor.c - division by a number that the host knows: DIVISOR of the authors' words, with the
 * arithmetic of pm_divisor of the prelude (which the tests of passes run). */
#include "passmith/dsl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N_BY = 64, N_N = 48, MOST = INT32_MAX };

/* 1 .. 20, around powers of two, and the largest. */
static int32_t divisor(int i)
{
	return i < 20   ? i + 1
	       : i < 62 ? (int32_t)((1u << (5 + (i - 20) / 3 * 2 % 26)) - 1 + (uint32_t)(i % 3))
			: MOST - (i - 62);
}

/* Around multiples of d, where a quotient that is a little off shows. */
static uint32_t dividend(int32_t d, int k)
{
	uint32_t multiple = k < 24 ? (uint32_t)(k / 3)
				   : (uint32_t)MOST / (uint32_t)d - (uint32_t)((k - 24) / 3);
	int64_t n = (int64_t)multiple * d + k % 3 - 1;

	return n < 0 ? 0 : n > MOST ? MOST : (uint32_t)n;
}

static uint32_t quotient(const PmArgs *a, uint32_t n)
{
	uint32_t d = (uint32_t)a->v[0].i, multiplier = (uint32_t)a->v[1].i, shift = (uint32_t)a->v[2].i;

	return d == 1 ? n : (uint32_t)((uint64_t)n * multiplier >> 32) >> shift;
}

static void quotients_are_exact(void **state)
{
	(void)state;
	for (int i = 0; i < N_BY; i++) {
		int32_t d = divisor(i);
		const PmArgs a = PM_ARGS(DIVISOR(d));

		assert_int_equal(a.n, 3);
		for (int k = 0; k < N_N; k++) {
			uint32_t n = dividend(d, k), q = quotient(&a, n);

			if (q != n / (uint32_t)d)
				fail_msg("%u by %d: got %u", n, d, q);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(quotients_are_exact) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
