/* SPDX-License-Identifier: Apache-2.0 */
/* test_seat_rules.c - when a GPU is left, and when an item is to blame. */
#include "app/gpus/seat_rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static PmSeatRules seats(int n)
{
	PmSeatRules r = { .n = n };

	for (int i = 0; i < n; i++)
		r.seat[i].cause = -1;
	return r;
}

static void a_seat_is_left_once_and_for_good(void **state)
{
	PmSeatRules r = seats(2);

	(void)state;
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_TAKES);
	assert_int_equal(pm_seat_leave(&r, 0, PM_GPU_SLOWED, "heat"), 1);
	assert_int_equal(pm_seat_leave(&r, 0, PM_GPU_STRANGERS, "others"), 0);
	assert_int_equal(r.seat[0].left, PM_GPU_SLOWED);
	assert_string_equal(r.seat[0].why, "heat");
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_IS_LEFT);
	assert_int_equal(pm_seat_may(&r, 1), PM_SEAT_TAKES);
	pm_seat_settle(&r, 7);
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_IS_LEFT);
}

/* One strike is the kernel's. */
static void a_gpu_that_works_on_is_not_left(void **state)
{
	PmSeatRules r = seats(2);

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(pm_seat_fault(&r, 0, i, 1, ""), PM_FAULT_OF_ITEM);
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_TAKES);
	assert_int_equal(r.seat[0].on_trial, 0);
}

static void a_broken_gpu_is_left_when_the_item_ends_elsewhere(void **state)
{
	PmSeatRules r = seats(2);

	(void)state;
	assert_int_equal(pm_seat_fault(&r, 0, 3, 0, "it does not open"), PM_FAULT_OF_SEAT);
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_WAITS); /* item 3 may be to blame */
	pm_seat_settle(&r, 2);                               /* another one */
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_WAITS);
	pm_seat_settle(&r, 3);
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_IS_LEFT);
	assert_int_equal(r.seat[0].left, PM_GPU_FAILING);
}

static void an_item_that_breaks_two_is_to_blame(void **state)
{
	PmSeatRules r = seats(3);

	(void)state;
	assert_int_equal(pm_seat_fault(&r, 0, 3, 0, "a"), PM_FAULT_OF_SEAT);
	assert_int_equal(pm_seat_fault(&r, 1, 4, 0, "b"), PM_FAULT_OF_SEAT); /* another item's */
	assert_int_equal(pm_seat_fault(&r, 2, 3, 0, "c"), PM_FAULT_OF_ITEM);
	pm_seat_settle(&r, 3);
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_TAKES);
	assert_int_equal(pm_seat_may(&r, 2), PM_SEAT_TAKES);
	assert_int_equal(pm_seat_may(&r, 1), PM_SEAT_WAITS);
	assert_true(r.seat[0].on_trial && r.seat[2].on_trial && !r.seat[1].on_trial);
	pm_seat_tried(&r, 0, 1);
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_TAKES);
	pm_seat_tried(&r, 2, 0); /* it stays broken, whoever did it */
	assert_int_equal(pm_seat_may(&r, 2), PM_SEAT_IS_LEFT);
	pm_seat_tried(&r, 0, 0); /* not on trial any more */
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_TAKES);
}

/* The same GPU twice is one witness. */
static void the_same_gpu_does_not_confirm_itself(void **state)
{
	PmSeatRules r = seats(2);

	(void)state;
	assert_int_equal(pm_seat_fault(&r, 0, 3, 0, "a"), PM_FAULT_OF_SEAT);
	assert_int_equal(pm_seat_fault(&r, 0, 3, 0, "a"), PM_FAULT_OF_SEAT);
	assert_int_equal(r.seat[0].left, PM_GPU_FAILING);
}

/* Nobody waits for a seat that nobody can confirm: the command has to end. */
static void with_no_seat_in_service_nobody_waits(void **state)
{
	PmSeatRules r = seats(2);

	(void)state;
	pm_seat_fault(&r, 0, 3, 0, "a");
	pm_seat_leave(&r, 1, PM_GPU_SLOWED, "heat");
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_IS_LEFT);
	assert_int_equal(pm_seat_may(&r, 1), PM_SEAT_IS_LEFT);
	r = seats(1);
	pm_seat_fault(&r, 0, 0, 0, "a");
	assert_int_equal(pm_seat_may(&r, 0), PM_SEAT_IS_LEFT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seat_is_left_once_and_for_good),
		cmocka_unit_test(a_gpu_that_works_on_is_not_left),
		cmocka_unit_test(a_broken_gpu_is_left_when_the_item_ends_elsewhere),
		cmocka_unit_test(an_item_that_breaks_two_is_to_blame),
		cmocka_unit_test(the_same_gpu_does_not_confirm_itself),
		cmocka_unit_test(with_no_seat_in_service_nobody_waits),
	};

	return cmocka_run_group_tests_name("seat_rules", tests, NULL, NULL);
}
