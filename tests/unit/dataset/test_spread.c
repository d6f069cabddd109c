/* SPDX-License-Identifier: Apache-2.0 */
/* test_spread.c - spread within and between nodes, against values computed by hand. */
#include "bench/score/spread.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double is, double want)
{
	if (!(fabs(is - want) < 1e-12))
		fail_msg("%.17g, not %.17g", is, want);
}

/* Means 2 and 6, squares within 2 + 2 of 2 degrees: 2. Between 2 x 4 + 2 x 4 of 1 degree: 16 = 2 + 2 x 7. */
static void equal_numbers(void **state)
{
	const PmSpreadItem x[] = { { 0, 1, 1 }, { 0, 1, 3 }, { 0, 2, 5 }, { 0, 2, 7 } };
	PmSpread s = pm_spread(x, 4);

	(void)state;
	assert_true(s.n == 4 && s.n_nodes == 2);
	near(s.within, sqrt(2));
	near(s.between, sqrt(7));
}

/* Means 2 and 5, of all 2.75: within 2 of 2 degrees: 1. Between 3 x 0.5625 + 5.0625 = 6.75; n0 = 4 - 10/4
 * = 1.5. */
static void unequal_numbers(void **state)
{
	const PmSpreadItem x[] = { { 0, 1, 1 }, { 0, 1, 2 }, { 0, 1, 3 }, { 0, 2, 5 } };
	PmSpread s = pm_spread(x, 4);

	(void)state;
	near(s.within, 1);
	near(s.between, sqrt(5.75 / 1.5));
}

/* Both of the above as two variants: within 6 of 4, between 22.75 of 2, n0 = (2 + 1.5) / 2. */
static void variants_are_pooled(void **state)
{
	const PmSpreadItem x[] = { { 0, 1, 1 },  { 0, 1, 3 },  { 0, 2, 5 },  { 0, 2, 7 },
				   { 1, 1, 11 }, { 1, 1, 12 }, { 1, 1, 13 }, { 1, 2, 15 } };
	PmSpread s = pm_spread(x, 8);

	(void)state;
	assert_true(s.n == 8 && s.n_nodes == 2);
	near(s.within, sqrt(1.5));
	near(s.between, sqrt((11.375 - 1.5) / 1.75));
}

static void what_cannot_be_told_is_no_number(void **state)
{
	const PmSpreadItem once[] = { { 0, 1, 1 }, { 0, 2, 2 } }, one[] = { { 0, 1, 1 }, { 0, 1, 3 } };
	const PmSpreadItem same[] = { { 0, 1, 1 }, { 0, 1, 3 }, { 0, 2, 1 }, { 0, 2, 3 } };
	PmSpread s = pm_spread(once, 2);

	(void)state;
	assert_true(isnan(s.within) && isnan(s.between) && s.n_nodes == 2);
	s = pm_spread(one, 2);
	near(s.within, sqrt(2));
	assert_true(isnan(s.between) && s.n_nodes == 1);
	s = pm_spread(same, 4); /* nearer than by chance: nothing between */
	near(s.between, 0);
	assert_int_equal(pm_spread(NULL, 0).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_numbers),
		cmocka_unit_test(unequal_numbers),
		cmocka_unit_test(variants_are_pooled),
		cmocka_unit_test(what_cannot_be_told_is_no_number),
	};

	return cmocka_run_group_tests_name("spread", tests, NULL, NULL);
}
