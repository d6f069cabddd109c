/* SPDX-License-Identifier: Apache-2.0 */
/* test_occupancy.c - occupancy against the numbers that NVIDIA's calculator gives. */
#include "runtime/profile/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

/* Needs what stands above. */
#include <cmocka.h>

/* Compute capability, threads of a block, registers, shared bytes; blocks that it gives in all, by warps, by
 * blocks, by registers, by shared memory: from cudaOccMaxActiveBlocksPerMultiprocessor of toolkit 13.0 with
 * the largest carve-out. Where all of shared memory is free it gives the number of kept blocks, as here. */
static const struct {
	int cc, threads, registers, shared, blocks, of[PM_N_OCC_LIMITS];
} cases[] = {
	{ 80, 256, 32, 0, 8, { 8, 32, 8, 164 } },      { 80, 256, 65, 0, 3, { 8, 32, 3, 164 } },
	{ 80, 1024, 64, 0, 1, { 2, 32, 1, 164 } },     { 80, 1024, 65, 0, 0, { 2, 32, 0, 164 } },
	{ 80, 32, 16, 0, 32, { 64, 32, 128, 164 } },   { 80, 128, 40, 49152, 3, { 16, 32, 12, 3 } },
	{ 80, 256, 32, 100000, 1, { 8, 32, 8, 1 } },   { 80, 96, 40, 0, 16, { 21, 32, 16, 164 } },
	{ 80, 33, 255, 0, 4, { 32, 32, 4, 164 } },     { 80, 640, 48, 1000, 2, { 3, 32, 2, 82 } },
	{ 90, 256, 32, 0, 8, { 8, 32, 8, 228 } },      { 90, 128, 168, 0, 3, { 16, 32, 3, 228 } },
	{ 90, 384, 168, 0, 1, { 5, 32, 1, 228 } },     { 90, 64, 24, 0, 32, { 32, 32, 42, 228 } },
	{ 90, 256, 40, 49152, 4, { 8, 32, 6, 4 } },    { 90, 128, 32, 232448, 1, { 16, 32, 16, 1 } },
	{ 90, 512, 33, 4096, 3, { 4, 32, 3, 45 } },    { 90, 224, 72, 0, 4, { 9, 32, 4, 228 } },
	{ 90, 1, 16, 0, 32, { 64, 32, 128, 228 } },    { 90, 128, 64, 20000, 8, { 16, 32, 8, 11 } },
	{ 90, 1024, 32, 0, 2, { 2, 32, 2, 228 } },     { 90, 480, 40, 0, 3, { 4, 32, 3, 228 } },
	{ 86, 256, 32, 0, 6, { 6, 16, 8, 100 } },      { 86, 64, 32, 0, 16, { 24, 16, 32, 100 } },
	{ 86, 128, 32, 101376, 1, { 12, 16, 16, 1 } }, { 89, 128, 40, 24576, 4, { 12, 24, 12, 4 } },
};

static void calculator(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		PmOccupancy o;
		int least = 1 << 20;

		pm_occupancy(pm_arch(cases[i].cc), 100, cases[i].threads, cases[i].registers, cases[i].shared,
			     1, &o);
		for (int k = 0; k < PM_N_OCC_LIMITS; k++) {
			assert_int_equal(o.of[k], cases[i].of[k]);
			least = cases[i].of[k] < least ? cases[i].of[k] : least;
		}
		assert_int_equal(o.blocks, cases[i].blocks);
		assert_int_equal(o.of[o.limit], least);
		assert_int_equal(o.warps, o.blocks * ((cases[i].threads + 31) / 32));
	}
}

static void limiters(void **state)
{
	const PmArch *a = pm_arch(90);
	PmOccupancy o;

	(void)state;
	pm_occupancy(a, 132, 256, 32, 0, 1, &o); /* registers allow as many: warps are named first */
	assert_int_equal(o.limit, PM_OCC_WARPS);
	assert_true(o.share == 1);
	pm_occupancy(a, 132, 32, 16, 0, 1, &o);
	assert_int_equal(o.limit, PM_OCC_BLOCKS);
	assert_true(o.share == 0.5);
	pm_occupancy(a, 132, 256, 64, 0, 1, &o);
	assert_int_equal(o.limit, PM_OCC_REGISTERS);
	assert_true(o.share == 0.5);
	pm_occupancy(a, 132, 256, 32, 100 << 10, 1, &o);
	assert_int_equal(o.limit, PM_OCC_SHARED);
	assert_true(o.share == 0.25);
	pm_occupancy(a, 132, 256, 32, 232449, 1, &o); /* a byte over what a block may have */
	assert_int_equal(o.blocks, 0);
	assert_int_equal(o.limit, PM_OCC_SHARED);
	assert_null(pm_arch(89 + 100));
}

/* 8 blocks on each of 100 multiprocessors. */
static void waves(void **state)
{
	const PmArch *a = pm_arch(90);
	PmOccupancy o;

	(void)state;
	pm_occupancy(a, 100, 256, 32, 0, 800, &o);
	assert_int_equal(o.places, 800);
	assert_int_equal(o.last, 800);
	assert_true(o.waves == 1 && o.idle == 0);
	pm_occupancy(a, 100, 256, 32, 0, 801, &o);
	assert_int_equal(o.last, 1);
	assert_true(o.waves > 1 && o.idle == 1 - 801 / 1600.0);
	pm_occupancy(a, 100, 256, 32, 0, 200, &o);
	assert_int_equal(o.last, 200);
	assert_true(o.waves == 0.25 && o.idle == 0.75);
	pm_occupancy(a, 100, 1024, 65, 0, 200, &o);
	assert_true(o.places == 0 && o.waves == 0 && o.last == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calculator),
		cmocka_unit_test(limiters),
		cmocka_unit_test(waves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
