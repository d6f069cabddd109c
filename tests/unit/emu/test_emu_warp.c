/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_warp.c - warp collectives of the emulated device against their definitions. */
#include "base/core/half.h"
#include "tests/lib/device/emu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmDevice *dev;
static PmModule warp;

static int open_device(void **state)
{
	(void)state;
	dev = emu_open();
	warp = emu_load(dev, "warp.cu", PM_F32);
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

/* Which lane each of the four shuffles of warp.cu reads. */
static void sources(int lane, int width, int src[4])
{
	int first = lane / width * width, last = first + width - 1;

	src[0] = first + 5 % width;
	src[1] = lane - 3 < first ? lane : lane - 3;
	src[2] = lane + 2 > last ? lane : lane + 2;
	src[3] = (lane ^ 9) > last ? lane : lane ^ 9;
}

static double number(const void *y, int i, int kind)
{
	switch (kind) {
	case 0:
		return ((const int *)y)[i];
	case 1:
		return ((const unsigned *)y)[i];
	case 2:
		return (double)((const long long *)y)[i];
	case 3:
		return (double)((const unsigned long long *)y)[i];
	case 4:
		return ((const float *)y)[i];
	case 5:
		return ((const double *)y)[i];
	case 6:
		return pm_f16_to_f64(((const uint16_t *)y)[i]);
	default:
		return pm_bf16_to_f64(((const uint16_t *)y)[i]);
	}
}

static void shuffles_move_values_of_every_type(void **state)
{
	static const char *const names[] = { "int", "uint", "ll", "ull", "float", "double", "half", "bf16" };
	static double y[64 * 4];
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	int kind, width, i, k;
	char entry[32];

	(void)state;
	for (kind = 0; kind < 8; kind++) {
		snprintf(entry, sizeof entry, "shfl_%s", names[kind]);
		for (width = 32; width; width /= 2) {
			EMU_CALL(dev, warp, entry, 1, 64, 0, emu_arg(out), emu_i32(width));
			emu_get(dev, out, y, sizeof y);
			for (i = 0; i < 64; i++) {
				int src[4];

				sources(i % 32, width, src);
				for (k = 0; k < 4; k++)
					assert_true(number(y, 4 * i + k, kind) ==
						    (i / 32 * 32 + src[k]) * 3 + 1);
			}
		}
	}
}

static void votes_see_every_lane(void **state)
{
	unsigned y[64 * 6];
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	int i, k;

	(void)state;
	EMU_CALL(dev, warp, "vote", 1, 64, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 64; i++) {
		unsigned third = 0;
		const unsigned *o = y + 6 * i;

		for (k = 0; k < 32; k++)
			third |= (unsigned)((i / 32 * 32 + k) % 3 == 0) << k;
		assert_int_equal(o[0], third);
		assert_int_equal(o[1], i >= 32);
		assert_int_equal(o[2], i < 32);
		assert_int_equal(o[3], 0x11111111u << i % 4);
		assert_int_equal(o[4], 0xffffffffu + 1u);
		assert_int_equal(o[5], 0);
	}
}

static void reductions_combine_every_lane(void **state)
{
	int y[32 * 9], i, xored = 0;
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);

	(void)state;
	for (i = 0; i < 32; i++)
		xored ^= i * 7;
	EMU_CALL(dev, warp, "reduce", 1, 32, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 32; i++) {
		int want[9] = { -16, -16, 15, 496, 0, -1, 64, 31, xored };

		assert_memory_equal(y + 9 * i, want, sizeof want);
	}
}

static void parts_of_a_warp_work_apart(void **state)
{
	int y[96], i;
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);

	(void)state;
	EMU_CALL(dev, warp, "halves", 1, 96, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 96; i++)
		assert_int_equal(y[i], (i % 32 < 16 ? (i ^ 1) + 16 : (i ^ 2) * 100) + 32);
}

/* Lanes 12 to 19 read lanes that have left: the value is the pattern of poison, a NaN. */
static void lanes_that_left_are_not_waited_for(void **state)
{
	float y[96];
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	int i;

	(void)state;
	EMU_CALL(dev, warp, "leavers", 1, 32, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 20; i++) {
		assert_true(i < 12 ? y[i] == i + 8 : y[i] != y[i]);
		assert_true(y[32 + i] == 20 && y[64 + i] == 19);
	}
	/* The same with a block that is no multiple of 32. */
	EMU_CALL(dev, warp, "leavers", 1, 20, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 20; i++)
		assert_true(y[32 + i] == 20 && y[64 + i] == 19);
}

static void activemask_names_the_lanes_of_a_branch(void **state)
{
	unsigned y[64];
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	int i;

	(void)state;
	EMU_CALL(dev, warp, "active", 1, 64, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 64; i++)
		assert_int_equal(y[i], i % 32 < 10 ? 0x3ffu : 0xfffffc00u + 1u);
}

static void a_block_sum_of_shuffles_is_right(void **state)
{
	static float x[3 * 777];
	float y[3];
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	int i, threads;

	(void)state;
	for (i = 0; i < 3 * 777; i++)
		x[i] = (float)(i % 13);
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	for (threads = 32; threads <= 1024; threads += 32) {
		EMU_CALL(dev, warp, "block_sum", 3, (uint32_t)threads, 0, emu_arg(in), emu_arg(out),
			 emu_i32(777));
		emu_get(dev, out, y, sizeof y);
		for (i = 0; i < 3; i++) {
			float sum = 0;
			int k;

			for (k = 0; k < 777; k++)
				sum += x[i * 777 + k];
			assert_true(y[i] == sum);
		}
	}
}

/* Small whole numbers, so that every sum is exact; each element of c is told from every other. */
static void tensor_cores_multiply(void **state)
{
	static const PmDType types[] = { PM_F16, PM_BF16 };
	uint16_t a[16 * 16], b[16 * 8];
	float c[16 * 8], before[16 * 8];
	size_t i;
	int m, n, k;

	(void)state;
	for (i = 0; i < 2; i++) {
		PmModule mod = emu_load(dev, "mma.cu", types[i]);
		PmBuf pa, pb, pc;

		for (k = 0; k < 256; k++)
			a[k] = types[i] == PM_F16 ? pm_f16_from_f64(k * 7 % 23 - 11)
						  : pm_bf16_from_f64(k * 7 % 23 - 11);
		for (k = 0; k < 128; k++) {
			b[k] = types[i] == PM_F16 ? pm_f16_from_f64(k * 5 % 19 - 9)
						  : pm_bf16_from_f64(k * 5 % 19 - 9);
			before[k] = (float)(k * 4);
		}
		pa = emu_buf(dev, PM_BUF_INPUT, a, sizeof a);
		pb = emu_buf(dev, PM_BUF_INPUT, b, sizeof b);
		pc = emu_buf(dev, PM_BUF_OUTPUT, before, sizeof before);
		EMU_CALL(dev, mod, "mma", 1, 32, 0, emu_arg(pa), emu_arg(pb), emu_arg(pc));
		emu_get(dev, pc, c, sizeof c);
		for (m = 0; m < 16; m++)
			for (n = 0; n < 8; n++) {
				float want = before[m * 8 + n];

				for (k = 0; k < 16; k++)
					want += (float)((m * 16 + k) * 7 % 23 - 11) *
						(float)((k * 8 + n) * 5 % 19 - 9);
				assert_true(c[m * 8 + n] == want);
			}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shuffles_move_values_of_every_type),
		cmocka_unit_test(votes_see_every_lane),
		cmocka_unit_test(reductions_combine_every_lane),
		cmocka_unit_test(parts_of_a_warp_work_apart),
		cmocka_unit_test(lanes_that_left_are_not_waited_for),
		cmocka_unit_test(activemask_names_the_lanes_of_a_branch),
		cmocka_unit_test(a_block_sum_of_shuffles_is_right),
		cmocka_unit_test(tensor_cores_multiply),
	};

	return cmocka_run_group_tests_name("emu_warp", tests, open_device, close_device);
}
