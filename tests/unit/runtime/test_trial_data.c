/* SPDX-License-Identifier: Apache-2.0 */
/* test_trial_data.c - algorithms of library calls are tried on numbers, not on zeros, and on the same ones
 * each time. */
#include "runtime/cuda/library/trial_data.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const PmDType types[] = { PM_F32, PM_F16, PM_BF16, PM_F64 };

static PmTensor data(PmDType type, int operand)
{
	PmTensor t;
	PmErr err;

	pm_err_init(&err);
	if (pm__trial_data(type, operand, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static void operands_are_normal_numbers(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
		PmTensor t = data(types[k], (int)k);
		double sum = 0, squares = 0;
		int zeros = 0;

		for (int64_t i = 0; i < PM_TRIAL_ELEMENTS; i++) {
			double v = pm_tensor_get(&t, i);

			assert_true(isfinite(v));
			zeros += v == 0;
			sum += v;
			squares += v * v;
		}
		assert_true(zeros < PM_TRIAL_ELEMENTS / 1000);
		assert_true(fabs(sum / PM_TRIAL_ELEMENTS) < 0.02);
		assert_true(fabs(squares / PM_TRIAL_ELEMENTS - 1) < 0.03);
		pm_tensor_release(&t);
	}
}

static void each_operand_has_its_own_every_time(void **state)
{
	PmTensor a = data(PM_F16, 1), again = data(PM_F16, 1), b = data(PM_F16, 2);

	(void)state;
	assert_memory_equal(a.data, again.data, a.bytes);
	assert_true(memcmp(a.data, b.data, a.bytes) != 0);
	pm_tensor_release(&a);
	pm_tensor_release(&again);
	pm_tensor_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operands_are_normal_numbers),
		cmocka_unit_test(each_operand_has_its_own_every_time),
	};

	return cmocka_run_group_tests_name("unit/trial_data", tests, NULL, NULL);
}
