/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu.c - the emulated device runs CUDA kernels as written: indices, shared memory, barriers, atomics.
 */
#include "tests/lib/device/emu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static PmDevice *dev;

static int open_device(void **state)
{
	(void)state;
	dev = emu_open();
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

static void threads_know_where_they_are(void **state)
{
	PmModule m = emu_load(dev, "index.cu", PM_F32);
	enum { N = 24 * 24 * 8 };
	static int y[N];
	PmBuf b = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmDevArg a = emu_arg(b);
	PmDevLaunch l = { m, "where", { 4, 3, 2 }, { 3, 2, 4 }, 0, &a, 1 };
	PmErr err;
	int i;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(dev->ops->launch(dev, &l, &err), PM_OK);
	emu_get(dev, b, y, sizeof y);
	for (i = 0; i < 24 * 24; i++) {
		int t = i % 24, k = i / 24;
		int want[8] = { t % 3, t / 3 % 2, t / 6, k % 4, k / 4 % 3, k / 12, 324, 400 + 30 + 2 + 32 };

		assert_memory_equal(y + 8 * i, want, sizeof want);
	}
}

/* Of a grid of 24 blocks the 8 corners and 2 more run; the rest of the buffer is as it was. */
static void sampled_blocks_run_alone(void **state)
{
	const uint32_t grid[3] = { 4, 3, 2 };
	PmModule m = emu_load(dev, "index.cu", PM_F32);
	enum { N = 24 * 24 * 8 };
	static int whole[N], y[N];
	PmBuf all = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y),
	      some = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmSampled s = { .secret = 7, .blocks = 10 };
	PmDevArg a = emu_arg(all);
	PmDevLaunch l = { m, "where", { 4, 3, 2 }, { 3, 2, 4 }, 0, &a, 1 };
	uint64_t at[PM_SAMPLED_MOST];
	size_t k = 0, n = pm_sampled_blocks(grid, &s, at);
	PmErr err;

	(void)state;
	pm_err_init(&err);
	assert_int_equal(n, 10);
	assert_int_equal(at[0], 0);
	assert_int_equal(at[n - 1], 23);
	assert_int_equal(dev->ops->launch(dev, &l, &err), PM_OK);
	emu_get(dev, all, whole, sizeof whole);
	dev->ops->sample(dev, &s);
	assert_int_equal(dev->ops->fill(dev, some, 0, sizeof y, 0x7fc12345, &err), PM_OK);
	a = emu_arg(some);
	assert_int_equal(dev->ops->launch(dev, &l, &err), PM_OK);
	emu_get(dev, some, y, sizeof y);
	for (uint64_t b = 0; b < 24; b++) {
		int runs = k < n && at[k] == b;

		k += (size_t)runs;
		for (int i = 0; i < 24 * 8; i++) {
			size_t e = (size_t)b * 24 * 8 + (size_t)i;

			assert_int_equal(y[e], runs ? whole[e] : 0x7fc12345);
		}
	}
	s.blocks = 13; /* more than half: all run */
	dev->ops->sample(dev, &s);
	assert_int_equal(dev->ops->launch(dev, &l, &err), PM_OK);
	emu_get(dev, some, y, sizeof y);
	assert_memory_equal(y, whole, sizeof y);
}

static void the_edges_of_a_grid_are_always_sampled(void **state)
{
	const uint32_t grid[3] = { 1000, 70, 1 };
	uint64_t first[PM_SAMPLED_MOST], other[PM_SAMPLED_MOST];
	PmSampled s = { .secret = 1, .blocks = PM_SAMPLED_MOST };
	size_t n = pm_sampled_blocks(grid, &s, first), same = 0;
	int edge[4] = { 0 };

	(void)state;
	assert_int_equal(n, PM_SAMPLED_MOST);
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || first[i] > first[i - 1]);
		assert_true(first[i] < 70000);
		edge[0] += first[i] % 1000 == 0;
		edge[1] += first[i] % 1000 == 999;
		edge[2] += first[i] / 1000 == 0;
		edge[3] += first[i] / 1000 == 69;
	}
	for (int k = 0; k < 4; k++)
		assert_true(edge[k] >= 4);
	s.secret = 2;
	assert_int_equal(pm_sampled_blocks(grid, &s, other), n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			same += first[i] == other[k];
	assert_true(same < n / 8); /* four corners, and what two draws have in common */
}

static void arguments_arrive_by_kind(void **state)
{
	PmModule m = emu_load(dev, "index.cu", PM_F32);
	double x[2] = { 1, 2.5 }, y[7], want[7] = { -5e9, 7, -3, 4e9, 0.75, 1e-300, 2.5 };
	PmBuf in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x), out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmDevArg unsigned_arg = { .kind = PM_DARG_I32, .i = 4000000000 };

	(void)state;
	EMU_CALL(dev, m, "kinds", 1, 1, 0, emu_arg(in), emu_i64(-5000000000), emu_i64(7), emu_i32(-3),
		 unsigned_arg, emu_f32(0.75), emu_f64(1e-300), emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	assert_memory_equal(y, want, sizeof y);
	emu_call(dev, m, "no_parameters", 3, 1024, 0, NULL, 0);
}

static void a_buffer_argument_may_start_inside(void **state)
{
	PmModule m = emu_load(dev, "index.cu", PM_F32);
	double x[4] = { 1, 2, 3, 4 }, y[8];
	PmBuf in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x), out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmDevArg from = emu_arg(in), to = emu_arg(out);

	(void)state;
	from.offset = 16;
	to.offset = 8;
	EMU_CALL(dev, m, "kinds", 1, 1, 0, from, emu_i64(1), emu_i64(2), emu_i32(3), emu_i32(4), emu_f32(5),
		 emu_f64(6), to);
	emu_get(dev, out, y, sizeof y);
	assert_true(y[1] == 1 && y[7] == 4);
}

static void the_words_of_the_language_compile(void **state)
{
	PmModule m = emu_load(dev, "language.cu", PM_F32);
	static const char text[] = "extern \"C\" __global__ void in_text(int *y) {";
	int x[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, y[64], i;
	float f[65];
	PmBuf in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x), out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmBuf floats = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof f);

	(void)state;
	EMU_CALL(dev, m, "add_three", 1, 8, 0, emu_arg(in), emu_arg(out), emu_i32(8));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 8; i++)
		assert_int_equal(y[i], x[i] + 3);
	EMU_CALL(dev, m, "times_three", 1, 8, 0, emu_arg(in), emu_arg(out), emu_i32(8));
	emu_get(dev, out, y, sizeof y);
	assert_int_equal(y[7], 24);
	EMU_CALL(dev, m, "only_here", 1, 1, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	assert_int_equal(y[0], 900);
	EMU_CALL(dev, m, "in_a_block", 1, 64, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 64; i++) {
		int k = (i + 1) % 64;

		assert_int_equal(y[i], (k % 4 + 1) * 10 + (int)sizeof text + '"' + (int)(k * .5));
	}
	EMU_CALL(dev, m, "bounds_first", 1, 64, 0, emu_arg(floats));
	emu_get(dev, floats, f, sizeof f);
	assert_true(f[0] == .5f && f[1] == 1.5f && f[64] == 6);
	EMU_CALL(dev, m, "declared_twice", 1, 1, 0, emu_arg(out));
	EMU_CALL(dev, m, "members", 1, 1, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	assert_int_equal(y[0], 14);
}

static void shared_memory_is_shared_by_a_block(void **state)
{
	PmModule m = emu_load(dev, "shared.cu", PM_F32);
	int x[512], y[512], i;
	float fx[96], fy[96];
	double dy[32];
	PmBuf in, out;

	(void)state;
	for (i = 0; i < 512; i++)
		x[i] = i * 7;
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	EMU_CALL(dev, m, "reverse_static", 4, 128, 0, emu_arg(in), emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 512; i++)
		assert_int_equal(y[i], x[i / 128 * 128 + 127 - i % 128]);
	for (i = 0; i < 96; i++)
		fx[i] = (float)i;
	in = emu_buf(dev, PM_BUF_INPUT, fx, sizeof fx);
	out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof fy);
	EMU_CALL(dev, m, "reverse_dynamic", 1, 96, 96 * 4, emu_arg(in), emu_arg(out), emu_i32(96));
	emu_get(dev, out, fy, sizeof fy);
	for (i = 0; i < 96; i++)
		assert_true(fy[i] == 95 - i + 1000);
	EMU_CALL(dev, m, "carve", 1, 32, 32 * 12, emu_arg(out));
	emu_get(dev, out, dy, sizeof dy);
	for (i = 0; i < 32; i++)
		assert_true(dy[i] == (31 - i) * 3.25);
	EMU_CALL(dev, m, "rows", 1, 32, 32 * 16, emu_arg(out));
	emu_get(dev, out, fy, 32 * 4);
	for (i = 0; i < 32; i++)
		assert_true(fy[i] == i % 4 * 8 + i / 4 + 3);
	EMU_CALL(dev, m, "at_file_scope", 1, 32, 0, emu_arg(out));
	emu_get(dev, out, y, 32 * 4);
	for (i = 0; i < 32; i++)
		assert_int_equal(y[i], i ^ 5);
	EMU_CALL(dev, m, "of_halves", 1, 32, 0, emu_arg(out));
	emu_get(dev, out, fy, 32 * 4);
	for (i = 0; i < 32; i++)
		assert_true(fy[i] == (31 - i) * .5f + (i ^ 1));
}

static void shared_memory_is_fresh_in_every_block(void **state)
{
	PmModule m = emu_load(dev, "shared.cu", PM_F32);
	unsigned y[6];
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	int i;

	(void)state;
	/* It holds what buffers were last filled with: reading it unwritten shows, whatever is filtered out.
	 */
	for (int pattern = 0; pattern < 2; pattern++) {
		unsigned want = pattern ? 0x40490fdbu : 0x7fc1d00du;
		PmErr err;

		pm_err_init(&err);
		assert_int_equal(dev->ops->fill(dev, out, 0, sizeof y, want, &err), PM_OK);
		EMU_CALL(dev, m, "fresh", 3, 1, 16, emu_arg(out));
		emu_get(dev, out, y, sizeof y);
		for (i = 0; i < 6; i++)
			assert_int_equal(y[i], want);
	}
}

/* Threads start in both directions in turn, so that a missing barrier shows whoever the neighbour is. */
static void a_missing_barrier_shows(void **state)
{
	PmModule m = emu_load(dev, "shared.cu", PM_F32);
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, 64 * 4);
	int towards, y[64], i;

	(void)state;
	for (towards = -1; towards <= 1; towards += 2) {
		int round, right = 0;

		for (round = 0; round < 2; round++) {
			EMU_CALL(dev, m, "race", 1, 64, 0, emu_arg(out), emu_i32(towards));
			emu_get(dev, out, y, sizeof y);
			for (i = 0; i < 64; i++)
				right += y[i];
		}
		assert_int_equal(right, 64);
	}
}

static void a_tiled_transpose_works(void **state)
{
	PmModule m = emu_load(dev, "shared.cu", PM_F32);
	enum { R = 37, C = 53 };
	static float x[R * C], y[R * C];
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	PmErr err;
	int i;

	(void)state;
	pm_err_init(&err);
	for (i = 0; i < R * C; i++)
		x[i] = (float)i;
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	{
		PmDevArg args[] = { emu_arg(in), emu_arg(out), emu_i32(R), emu_i32(C) };
		PmDevLaunch l = { m, "transpose", { 4, 3, 1 }, { 16, 16, 1 }, 0, args, 4 };

		assert_int_equal(dev->ops->launch(dev, &l, &err), PM_OK);
	}
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < R * C; i++)
		assert_true(y[i % C * R + i / C] == x[i]);
}

static void barriers_count_votes(void **state)
{
	PmModule m = emu_load(dev, "barrier.cu", PM_F32);
	static const int sizes[] = { 1, 2, 31, 33, 100, 1024 };
	static int y[5 * 1024];
	PmBuf out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);
	size_t k;

	(void)state;
	for (k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		int n = sizes[k], limit, i;

		for (limit = 0; limit <= n; limit += n > 4 ? n / 2 : 1) {
			int want[5] = { limit, limit == n, limit > 0, 1, 0 };

			EMU_CALL(dev, m, "votes", 1, (uint32_t)n, 0, emu_arg(out), emu_i32(limit));
			emu_get(dev, out, y, sizeof y);
			for (i = 0; i < n; i++)
				assert_memory_equal(y + 5 * i, want, sizeof want);
		}
	}
}

static void barriers_in_loops_and_branches_work(void **state)
{
	PmModule m = emu_load(dev, "barrier.cu", PM_F32);
	int x[1000], y[1000], i, sum = 0;
	PmBuf in, out = emu_buf(dev, PM_BUF_OUTPUT, NULL, sizeof y);

	(void)state;
	for (i = 0; i < 1000; i++)
		x[i] = i % 17 - 5;
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	EMU_CALL(dev, m, "scan", 1, 1000, 4000, emu_arg(in), emu_arg(out), emu_i32(1000));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 1000; i++)
		assert_int_equal(y[i], sum += x[i]);
	EMU_CALL(dev, m, "paths", 1, 64, 0, emu_arg(out));
	emu_get(dev, out, y, sizeof y);
	for (i = 0; i < 64; i++)
		assert_int_equal(y[i], (63 - i < 20 ? 1 : 2) * (i < 20 ? 1 : 10));
}

static void device_variables_last_from_launch_to_launch(void **state)
{
	PmModule m = emu_load(dev, "barrier.cu", PM_F32);
	static float x[5000];
	float y;
	PmBuf in, part = emu_buf(dev, PM_BUF_SCRATCH, NULL, 7 * 4),
		  out = emu_buf(dev, PM_BUF_OUTPUT, NULL, 4);
	int i, round;

	(void)state;
	for (i = 0; i < 5000; i++)
		x[i] = (float)(i % 10);
	in = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	for (round = 0; round < 3; round++) {
		EMU_CALL(dev, m, "last_block", 7, 96, 0, emu_arg(in), emu_arg(part), emu_arg(out),
			 emu_i32(5000));
		emu_get(dev, out, &y, 4);
		assert_true(y == 22500);
		dev->ops->fill(dev, out, 0, 4, 0, NULL);
	}
}

static void atomics_lose_nothing(void **state)
{
	PmModule m = emu_load(dev, "atomic.cu", PM_F16);
	enum { N = 256 };
	int a[13] = { 0, 0, 0, 0, -1, 0, 0, 0, 3, 0, 11, 0, 14 }, xored = 0, ored = 0, i;
	unsigned u[5] = { 0, 4000, 0, 0, 0 };
	unsigned long long l[2] = { 0, 0 };
	long long s[1] = { 0 };
	PmBuf ba = emu_buf(dev, PM_BUF_OUTPUT, a, sizeof a), bu = emu_buf(dev, PM_BUF_OUTPUT, u, sizeof u);
	PmBuf bl = emu_buf(dev, PM_BUF_OUTPUT, l, sizeof l), bs = emu_buf(dev, PM_BUF_OUTPUT, s, sizeof s);

	(void)state;
	for (i = 0; i < N; i++) {
		xored ^= i;
		ored |= 1 << i % 31;
	}
	EMU_CALL(dev, m, "integers", 4, 64, 0, emu_arg(ba), emu_arg(bu), emu_arg(bl), emu_arg(bs));
	emu_get(dev, ba, a, sizeof a);
	emu_get(dev, bu, u, sizeof u);
	emu_get(dev, bl, l, sizeof l);
	emu_get(dev, bs, s, sizeof s);
	{
		int want[13] = {
			N * (N - 1) / 2, -2 * N, -(N - 1), N - 1, ~255, ored, xored, 3, 5, 11, 12, 14, 14
		};
		unsigned want_u[5] = { 3 * N, 1000 - (N - 1), 4000000000u + N - 1, N % 10, 4 };

		assert_memory_equal(a, want, sizeof a);
		assert_memory_equal(u, want_u, sizeof u);
	}
	assert_true(l[0] == (unsigned long long)N << 33 && l[1] == (1ull << 40) + N - 1);
	assert_true(s[0] == -(1ll << 40) - (N - 1));
}

static void atomics_work_on_floating_types(void **state)
{
	PmModule m = emu_load(dev, "atomic.cu", PM_F16);
	float f[5] = { 0 }, x[100], best = -1e30f;
	double d = 0;
	unsigned short t = 0;
	unsigned char bytes[1000];
	int bins[16] = { 0 }, want[16] = { 0 }, i;
	PmBuf bf = emu_buf(dev, PM_BUF_OUTPUT, f, sizeof f), bd = emu_buf(dev, PM_BUF_OUTPUT, &d, 8);
	PmBuf bt = emu_buf(dev, PM_BUF_OUTPUT, &t, 2), bx, bb, by;

	(void)state;
	EMU_CALL(dev, m, "floats", 4, 50, 0, emu_arg(bf), emu_arg(bd), emu_arg(bt));
	emu_get(dev, bf, f, sizeof f);
	emu_get(dev, bd, &d, 8);
	emu_get(dev, bt, &t, 2);
	assert_true(f[0] == 100 && f[1] == 50 && f[4] == 50 && d == 25);
	assert_int_equal(t, 0x5a40); /* 200 */
	for (i = 0; i < 100; i++)
		x[i] = (float)((i * 37) % 100) + .5f;
	bx = emu_buf(dev, PM_BUF_INPUT, x, sizeof x);
	by = emu_buf(dev, PM_BUF_OUTPUT, &best, 4);
	EMU_CALL(dev, m, "cas_max", 2, 64, 0, emu_arg(bx), emu_arg(by), emu_i32(100));
	emu_get(dev, by, &best, 4);
	assert_true(best == 99.5f);
	for (i = 0; i < 1000; i++) {
		bytes[i] = (unsigned char)(i * i % 251);
		want[bytes[i] & 15]++;
	}
	bb = emu_buf(dev, PM_BUF_INPUT, bytes, sizeof bytes);
	by = emu_buf(dev, PM_BUF_OUTPUT, bins, sizeof bins);
	EMU_CALL(dev, m, "histogram", 3, 64, 0, emu_arg(bb), emu_arg(by), emu_i32(1000));
	emu_get(dev, by, bins, sizeof bins);
	assert_memory_equal(bins, want, sizeof want);
}

static void events_and_info_say_what_the_device_is(void **state)
{
	PmDeviceInfo info;
	double s = -1;

	(void)state;
	dev->ops->info(dev, &info);
	assert_string_equal(info.name, "emu (host CPU)");
	assert_int_equal(info.cc, 90);
	assert_int_equal(info.measured, 0);
	assert_int_equal(info.max_smem, 227 * 1024);
	assert_int_equal(dev->ops->event_record(dev, 0, NULL), PM_OK);
	assert_int_equal(dev->ops->event_record(dev, 255, NULL), PM_OK);
	assert_int_equal(dev->ops->event_elapsed(dev, 0, 255, &s, NULL), PM_OK);
	assert_true(s >= 0 && s < 10);
	assert_int_equal(dev->ops->event_record(dev, 256, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->event_elapsed(dev, 0, 7, &s, NULL), PM_E_INVALID);
}

static void copies_check_their_ranges(void **state)
{
	char bytes[64] = { 0 };
	PmBuf b = emu_buf(dev, PM_BUF_SCRATCH, NULL, 64), none = { 99 }, empty;
	uint32_t words[2];

	(void)state;
	assert_int_equal(dev->ops->upload(dev, b, 1, bytes, 64, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->upload(dev, b, -1, bytes, 1, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->download(dev, b, 64, bytes, 1, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->download(dev, b, 1, bytes, INT64_MAX, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->fill(dev, none, 0, 1, 0, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->fill(dev, b, 3, 6, 0x04030201u, NULL), PM_OK);
	emu_get(dev, b, bytes, 64);
	memcpy(words, bytes + 3, 4);
	assert_true(words[0] == 0x04030201u && bytes[7] == 1 && bytes[8] == 2 && bytes[9] != 3);
	dev->ops->release(dev, b);
	assert_int_equal(dev->ops->upload(dev, b, 0, bytes, 1, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->alloc(dev, -1, PM_BUF_INPUT, &b, NULL), PM_E_INVALID);
	assert_int_equal(dev->ops->alloc(dev, INT64_MAX, PM_BUF_INPUT, &b, NULL), PM_E_LIMIT);
	empty = emu_buf(dev, PM_BUF_INPUT, bytes, 0);
	assert_int_equal(dev->ops->download(dev, empty, 0, bytes, 0, NULL), PM_OK);
}

static void devices_are_opened_by_name(void **state)
{
	PmDevice *d = NULL;

	(void)state;
	assert_int_equal(pm_device_open("emulator", &d, NULL), PM_E_NOT_FOUND);
	assert_int_equal(pm_device_open(NULL, &d, NULL), PM_E_NOT_FOUND);
	assert_null(d);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, open_device, close_device)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CASE(threads_know_where_they_are),
		CASE(sampled_blocks_run_alone),
		cmocka_unit_test(the_edges_of_a_grid_are_always_sampled),
		CASE(arguments_arrive_by_kind),
		CASE(a_buffer_argument_may_start_inside),
		CASE(the_words_of_the_language_compile),
		CASE(shared_memory_is_shared_by_a_block),
		CASE(shared_memory_is_fresh_in_every_block),
		CASE(a_missing_barrier_shows),
		CASE(a_tiled_transpose_works),
		CASE(barriers_count_votes),
		CASE(barriers_in_loops_and_branches_work),
		CASE(device_variables_last_from_launch_to_launch),
		CASE(atomics_lose_nothing),
		CASE(atomics_work_on_floating_types),
		CASE(events_and_info_say_what_the_device_is),
		CASE(copies_check_their_ranges),
		cmocka_unit_test(devices_are_opened_by_name),
	};

	return cmocka_run_group_tests_name("emu", tests, NULL, NULL);
}
