/* SPDX-License-Identifier: Apache-2.0 */
/* test_eager_shapes.c - every way of the eager kernels on the emulated device against the reference. */
#include "tests/lib/device/eager_shapes.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void shapes_agree_in_float(void **state)
{
	(void)state;
	pm_test_need_device("emu");
	eager_shapes_run("emu", PM_F32);
}

static void shapes_agree_in_float16(void **state)
{
	(void)state;
	pm_test_need_device("emu");
	eager_shapes_run("emu", PM_F16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_agree_in_float),
		cmocka_unit_test(shapes_agree_in_float16),
	};

	return cmocka_run_group_tests_name("eager_shapes", tests, NULL, NULL);
}
