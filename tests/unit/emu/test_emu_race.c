/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_race.c - races for shared memory, and accesses between two arrays of it, are found; kernels
 * without are left alone. */
#include "runtime/worker/run.h"
#include "tests/lib/device/emu.h"
#include "tests/lib/graphs/graph_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL(body) "extern \"C\" __global__ void k(float *y) { const int t = threadIdx.x; " body " }\n"

static PmDevice *dev;

static int open_device(void **state)
{
	PmErr err;

	(void)state;
	pm_err_init(&err);
	if (pm_device_open("emu+races", &dev, &err))
		fail_msg("%s", err.text);
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	dev->ops->close(dev);
	return 0;
}

static PmStatus run(const char *source, uint32_t threads, uint32_t smem, PmErr *err)
{
	PmBuf y = emu_buf(dev, PM_BUF_OUTPUT, NULL, 4096 * 4);
	PmDevArg a = emu_arg(y);
	PmModule m;
	PmStatus st;

	pm_err_init(err);
	if (emu_load_text(dev, "race", source, &m, err))
		fail_msg("%s", err->text);
	st = emu_launch(dev, m, "k", 2, threads, smem, &a, 1, err);
	return st;
}

/* A thread does not race with itself. */
static void two_threads(const char *sentence)
{
	const char *at = strstr(sentence, "threads (");
	unsigned a[3], b[3];

	if (!at || sscanf(at, "threads (%u,%u,%u) and (%u,%u,%u)", a, a + 1, a + 2, b, b + 1, b + 2) != 6 ||
	    memcmp(a, b, sizeof a) == 0)
		fail_msg("%s does not name two threads", sentence);
}

static void races(const char *source, const char *words)
{
	PmErr err;
	PmStatus st = run(source, 64, 512, &err);

	if (st != PM_E_RACE || !strstr(err.text, words))
		fail_msg("%s: %s does not say \"%s\"", pm_status_name(st), err.text, words);
	two_threads(err.text);
	close_device(NULL);
	open_device(NULL);
}

static void is_clean(const char *source)
{
	PmErr err;

	if (run(source, 64, 512, &err))
		fail_msg("%s", err.text);
}

static void a_missing_barrier_is_a_race(void **state)
{
	(void)state;
	races(KERNEL("__shared__ float s[64]; s[t] = t; y[t] = s[63 - t];"), "write and read");
	races(KERNEL("extern __shared__ float s[]; s[t] = t; y[t] = s[63 - t];"), "dynamic shared memory");
	is_clean(KERNEL("__shared__ float s[64]; s[t] = t; __syncthreads(); y[t] = s[63 - t];"));
	is_clean(KERNEL("extern __shared__ float s[]; s[t] = t; __syncthreads(); y[t] = s[63 - t];"));
}

/* The barrier that tiled loops forget: before the tile is written again. */
static void a_missing_second_barrier_is_a_race(void **state)
{
	(void)state;
	races(KERNEL("__shared__ float s[64]; for (int i = 0; i < 3; i++) { s[t] = t + i; __syncthreads(); "
		     "y[t] = s[63 - t]; }"),
	      "write and read");
	is_clean(KERNEL("__shared__ float s[64]; for (int i = 0; i < 3; i++) { s[t] = t + i; "
			"__syncthreads(); y[t] = s[63 - t]; "
			"__syncthreads(); }"));
}

static void two_writers_race_unless_they_agree(void **state)
{
	(void)state;
	races(KERNEL("__shared__ float s[1]; s[0] = t; __syncthreads(); y[t] = s[0];"), "both write");
	is_clean(KERNEL("__shared__ int s[1]; if (t == 0) s[0] = 0; __syncthreads(); if (t > 3) s[0] = 1; "
			"__syncthreads(); "
			"y[t] = s[0];"));
}

static void a_warp_is_ordered_by_its_collectives(void **state)
{
	(void)state;
	is_clean(KERNEL("__shared__ float s[64]; s[t] = t; __syncwarp(); y[t] = s[t ^ 1];"));
	races(KERNEL("__shared__ float s[64]; s[t] = t; __syncwarp(); y[t] = s[63 - t];"), "write and read");
	races(KERNEL("__shared__ float s[64]; s[t] = t; y[t] = s[t ^ 1];"), "write and read");
}

/* What was read before a collective is behind whoever reads again after it. */
static void a_warp_may_write_what_it_read_before(void **state)
{
	(void)state;
	is_clean(KERNEL("__shared__ float s[64]; s[t] = t; __syncwarp(); float v = s[t ^ 1]; __syncwarp(); "
			"s[t] += v; __syncwarp(); y[t] = s[t ^ 1];"));
	races(KERNEL("__shared__ float s[64]; s[t] = t; __syncwarp(); float v = s[t ^ 1]; s[t] += v; "
		     "__syncwarp(); y[t] = s[t ^ 1];"),
	      "write and read");
	races(KERNEL("__shared__ float s[64]; s[t] = t; __syncthreads(); float v = s[63 - t]; __syncwarp(); "
		     "s[t] += v; y[t] = v;"),
	      "write and read");
	/* Another warp's read stays one, though the writer's warp has read since. */
	races(KERNEL("__shared__ float s[64]; s[t] = t; __syncthreads(); float v = t > 31 ? s[0] : 0; "
		     "__syncwarp(); v += t < 32 ? s[0] : 0; __syncwarp(); if (t == 0) s[0] = 9; y[t] = v;"),
	      "write and read");
}

/* The one who writes has read, too: of the others one is named. */
static void many_readers_and_one_of_them_writes(void **state)
{
	(void)state;
	races(KERNEL("__shared__ float s[64]; s[t] = t + 1; for (int o = 32; o; o >>= 1) { __syncthreads(); "
		     "if (t < o) s[t] += s[t + o]; } y[t] = s[0];"),
	      "write and read byte 0");
	races(KERNEL("__shared__ float s[64]; s[t] = t + 1; __syncthreads(); y[t] = s[0]; if (t == 0) s[0] = "
		     "7; "
		     "if (t == 40) s[0] = 8;"),
	      "byte 0");
	races(KERNEL("__shared__ float s[64]; s[t] = t + 1; __syncthreads(); y[t] = s[t & 32]; "
		     "if (t == 40) s[t & 32] = 8;"),
	      "byte 128");
	is_clean(KERNEL(
		"__shared__ float s[64]; s[t] = t + 1; __syncthreads(); y[t] = s[t & 32]; __syncwarp(); "
		"if (t == 40) s[t & 32] = 8;"));
}

#define BYTES "unsigned char *b = (unsigned char *)s; short *h = (short *)s; "

/* What was written or read as a word is remembered when a part of it is touched, and the other way round. */
static void parts_of_a_word_are_told_apart(void **state)
{
	(void)state;
	races(KERNEL("__shared__ int s[64]; " BYTES "s[63 - t] = t + 1; y[t] = b[4 * t + 2];"),
	      "write and read");
	races(KERNEL("__shared__ int s[64]; " BYTES "s[63 - t] = t + 1; y[t] = h[2 * t + 1];"),
	      "write and read");
	races(KERNEL("__shared__ int s[64]; " BYTES "b[4 * t + 2] = t + 1; y[t] = s[63 - t];"), "byte 130");
	races(KERNEL("__shared__ int s[64]; " BYTES "h[2 * t + 1] = t + 1; y[t] = s[63 - t];"), "byte 130");
	races(KERNEL("__shared__ int s[64]; " BYTES "h[t] = t + 1; y[t] = b[2 * (t ^ 1) + 1];"),
	      "write and read");
	races(KERNEL("__shared__ int s[64]; " BYTES "y[t] = s[t / 4]; b[t] = t + 1;"), "write and read");
	races(KERNEL("__shared__ int s[64]; " BYTES
		     "y[t] = s[t / 4]; __syncwarp(); y[t] += s[0]; b[t] = t + 1;"),
	      "write and read");
	is_clean(KERNEL("__shared__ int s[64]; " BYTES "b[t] = t; h[64 + t] = t; y[t] = b[t] + h[64 + t];"));
	is_clean(KERNEL("__shared__ int s[64]; " BYTES
			"b[t] = t; __syncthreads(); y[t] = s[t / 4] + h[t / 2]; "
			"__syncthreads(); h[t] = t; y[t] += b[2 * t + 1];"));
}

static void atomics_do_not_race(void **state)
{
	(void)state;
	is_clean(KERNEL("__shared__ int n; if (t == 0) n = 0; __syncthreads(); atomicAdd(&n, t); "
			"__syncthreads(); y[t] = n;"));
}

static void blocks_do_not_race_with_each_other(void **state)
{
	(void)state;
	is_clean(KERNEL("__shared__ float s[64]; s[t] = blockIdx.x; y[t] = s[t];"));
}

static void reductions_of_the_prelude_are_clean(void **state)
{
	(void)state;
	is_clean(KERNEL(
		"y[t] = pm_block_sum((float)t); y[t] += pm_block_max((float)t); y[t] -= pm_block_sum(1.f);"));
	is_clean(KERNEL("__shared__ float s[64]; s[t] = t; __syncthreads(); for (int n = 32; n; n /= 2) { if "
			"(t < n) s[t] += s[t + n]; "
			"__syncthreads(); } y[t] = s[0];"));
}

static void accesses_between_arrays_are_found(void **state)
{
	static const char *const over[] = {
		KERNEL("__shared__ float a[4]; __shared__ float b[4]; if (t < 5) a[t] = 1; __syncthreads(); "
		       "b[t & 3] = 2; "
		       "__syncthreads(); y[t] = a[t & 3] + b[t & 3];"),
		KERNEL("__shared__ float a[4]; __shared__ float b[4]; if (t < 4) { a[t] = 1; b[t] = 2; } "
		       "__syncthreads(); "
		       "y[t] = a[t & 3] + b[(t & 3) - 1];"),
	};
	PmErr err;

	(void)state;
	for (size_t i = 0; i < sizeof over / sizeof *over; i++) {
		if (run(over[i], 8, 0, &err) != PM_E_OOB ||
		    !strstr(err.text, "outside its __shared__ arrays"))
			fail_msg("%zu: %s", i, err.text);
		close_device(NULL);
		open_device(NULL);
	}
}

/* Our own kernels, which take shared memory wherever rows are long. */
static void eager_kernels_are_clean(void **state)
{
	static const char text[] =
		"g (float[3,300,70] x, float[70,33] w, float[70] s, float[70] b) => (float[3,300,33] y, "
		"float[3,70,300] p) {\n"
		" a = Softmax<axis = 1>(x)\n c = LayerNormalization<axis = 2>(a, s, b)\n y = MatMul(c, w)\n"
		" q = Softmax<axis = 2>(x)\n p = Transpose<perm = [0, 2, 1]>(q) }";
	PmRunOpts o = { .device = "emu+races", .deadline = 100, .poison = 0x7fc17fc1 };
	PmTensor in[4];
	PmRunResult r;
	PmGraph *g;
	PmErr err;

	(void)state;
	pm_err_init(&err);
	g = pm_test_graph(text);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(pm_tensor_init(&in[i], pm_value_type(g, pm_graph_input(g, i)), &err), PM_OK);
		memset(in[i].data, 0, in[i].bytes);
	}
	if (pm_run_graph(g, in, 4, &o, &r, &err))
		fail_msg("%s", err.text);
	pm_run_result_release(&r);
	for (size_t i = 0; i < 4; i++)
		pm_tensor_release(&in[i]);
	pm_graph_free(g);
}

static void names_tell_devices_apart(void **state)
{
	(void)state;
	assert_int_equal(pm_device_kind("ref"), PM_DEVICE_REF);
	assert_int_equal(pm_device_kind("emu"), PM_DEVICE_EMU);
	assert_int_equal(pm_device_kind("emu+races"), PM_DEVICE_EMU_RACES);
	assert_int_equal(pm_device_kind(PM_DEVICE_PRINT), PM_DEVICE_EMU_PRINT);
	assert_int_equal(pm_device_kind("cuda"), PM_DEVICE_CUDA);
	assert_int_equal(pm_device_kind("Cuda"), PM_DEVICE_NONE);
	assert_int_equal(pm_device_kind(""), PM_DEVICE_NONE);
	assert_int_equal(pm_device_kind(NULL), PM_DEVICE_NONE);
	assert_true(pm_device_is_known("emu") && pm_device_is_known("cuda"));
	assert_false(pm_device_is_known("ref") || pm_device_is_known("emu+races") ||
		     pm_device_is_known(PM_DEVICE_PRINT) || pm_device_is_known(""));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, open_device, close_device)
		cmocka_unit_test(names_tell_devices_apart),
		CASE(a_missing_barrier_is_a_race),
		CASE(a_missing_second_barrier_is_a_race),
		CASE(two_writers_race_unless_they_agree),
		CASE(a_warp_is_ordered_by_its_collectives),
		CASE(a_warp_may_write_what_it_read_before),
		CASE(many_readers_and_one_of_them_writes),
		CASE(atomics_do_not_race),
		CASE(parts_of_a_word_are_told_apart),
		CASE(blocks_do_not_race_with_each_other),
		CASE(reductions_of_the_prelude_are_clean),
		CASE(accesses_between_arrays_are_found),
		CASE(eager_kernels_are_clean),
	};

	return cmocka_run_group_tests_name("emu_race", tests, NULL, NULL);
}
