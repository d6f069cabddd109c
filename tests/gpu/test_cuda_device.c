/* SPDX-License-Identifier: Apache-2.0 */
/* test_cuda_device.c - the cuda device: copies, launches, times, and each mistake of a kernel by its name.
 *
 * A kernel error ends the context, so every case that makes one runs in a process of its own; so does every
 * other case, because a process that has used a GPU cannot fork others that do.
 */
#include "base/sys/proc.h"
#include "runtime/device/device.h"
#include "tests/lib/device/emu.h"
#include "tests/lib/device/gpu_case.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- helpers --- */

static const char kernels[] =
	"extern \"C\" __global__ void twice(const T *x, T *y, long long n)\n"
	"{\n"
	"	long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"
	"	if (i < n) y[i] = st(2 * ld(x[i]));\n"
	"}\n"
	"extern \"C\" __global__ void args(double *y, int i, float f, double g, long long l)\n"
	"{\n"
	"	y[0] = i; y[1] = f; y[2] = g; y[3] = (double)l;\n"
	"}\n"
	"extern \"C\" __global__ void poke(char *p, long long at) { p[at] = 1; }\n"
	"extern \"C\" __global__ void peek(const float *p, long long at, float *y) { y[0] = p[at]; }\n"
	"extern \"C\" __global__ void spill(float *y, int n)\n"
	"{\n"
	"	extern __shared__ float s[];\n"
	"	for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i;\n"
	"	__syncthreads();\n"
	"	if (threadIdx.x == 0) y[0] = s[n - 1];\n"
	"}\n"
	"extern \"C\" __global__ void trap() { __trap(); }\n"
	"extern \"C\" __global__ void crooked(float4 *p) { *reinterpret_cast<float4 *>((char *)p + 4) = "
	"make_float4(1, 2, 3, 4); }\n"
	"extern \"C\" __global__ void hang(volatile int *p) { while (!p[0]) ; }\n"
	"extern \"C\" __global__ void spin(long long cycles)\n"
	"{\n"
	"	long long t = clock64();\n"
	"	while (clock64() - t < cycles) ;\n"
	"}\n"
	"extern \"C\" __global__ void __launch_bounds__(64) narrow(float *y) { y[0] = 1; }\n";

static PmModule load(PmDevice *d)
{
	return gpu_load(d, kernels);
}

/* --- what works --- */

CASE(info_describes_the_gpu)
{
	PmDeviceInfo i;

	d->ops->info(d, &i);
	CHECK(i.name[0] && i.measured == 1);
	CHECK(i.cc >= 50 && i.cc < 1000 && i.n_sm > 0);
	CHECK(i.memory > (int64_t)1 << 28 && i.l2 > 0 && i.max_smem >= 48 * 1024);
}

CASE(copies_and_fills_reach_every_byte)
{
	static const int64_t sizes[] = { 1, 2, 3, 4, 5, 255, 256, 257, 4099, 1 << 20 };
	PmErr err;

	pm_err_init(&err);
	for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		int64_t n = sizes[k];
		unsigned char *in = malloc((size_t)n), *out = malloc((size_t)n);
		PmBuf b = gpu_alloc(d, n, PM_BUF_OUTPUT);
		uint32_t pattern = 0x04030201;

		for (int64_t i = 0; i < n; i++)
			in[i] = (unsigned char)(i * 7 + 1);
		MUST(d->ops->upload(d, b, 0, in, n, &err));
		MUST(d->ops->download(d, b, 0, out, n, &err));
		CHECK(memcmp(in, out, (size_t)n) == 0);
		MUST(d->ops->fill(d, b, 0, n, pattern, &err));
		MUST(d->ops->download(d, b, 0, out, n, &err));
		for (int64_t i = 0; i < n; i++)
			CHECK(out[i] == i % 4 + 1);
		if (n > 8) {
			MUST(d->ops->fill(d, b, 3, n - 5, 0, &err));
			MUST(d->ops->download(d, b, 0, out, n, &err));
			CHECK(out[2] == 3 && out[3] == 0 && out[n - 3] == 0 && out[n - 2] == (n - 2) % 4 + 1);
		}
		CHECK(d->ops->upload(d, b, 1, in, n, &err) == PM_E_INVALID);
		CHECK(d->ops->download(d, b, -1, out, 1, &err) == PM_E_INVALID);
		d->ops->release(d, b);
		CHECK(d->ops->download(d, b, 0, out, 1, &err) == PM_E_INVALID);
		free(in);
		free(out);
	}
}

CASE(released_memory_is_used_again_and_clean)
{
	PmBuf b = gpu_alloc(d, 1 << 20, PM_BUF_SCRATCH), c;
	uint32_t word = 0;
	PmErr err;

	pm_err_init(&err);
	MUST(d->ops->fill(d, b, 0, 1 << 20, 0x12345678, &err));
	d->ops->release(d, b);
	c = gpu_alloc(d, 1 << 20, PM_BUF_SCRATCH);
	MUST(d->ops->download(d, c, 4096, &word, 4, &err));
	CHECK(word == 0xffc5ffc5u); /* NaN, not the last user's data */
	CHECK(d->ops->alloc(d, INT64_MAX, PM_BUF_SCRATCH, &b, &err) == PM_E_LIMIT);
	CHECK(d->ops->alloc(d, -1, PM_BUF_SCRATCH, &b, &err) == PM_E_LIMIT);
}

CASE(kernels_compute_and_take_all_kinds_of_arguments)
{
	PmModule m = load(d);
	PmBuf x = gpu_alloc(d, 4000, PM_BUF_INPUT), y = gpu_alloc(d, 4000, PM_BUF_OUTPUT),
	      z = gpu_alloc(d, 32, PM_BUF_OUTPUT);
	float in[1000], out[1000];
	double got[4];
	PmErr err;

	pm_err_init(&err);
	for (int i = 0; i < 1000; i++)
		in[i] = (float)i;
	MUST(d->ops->upload(d, x, 0, in, 4000, &err));
	MUST(gpu_launch(d, m, "twice", 8, 128, 0, ARGS(emu_arg(x), emu_arg(y), emu_i64(1000)), &err));
	MUST(gpu_launch(d, m, "args", 1, 1, 0,
			ARGS(emu_arg(z), emu_i32(-5), emu_f32(1.5), emu_f64(0.1), emu_i64(INT64_C(1) << 40)),
			&err));
	MUST(d->ops->sync(d, &err));
	MUST(d->ops->download(d, y, 0, out, 4000, &err));
	MUST(d->ops->download(d, z, 0, got, 32, &err));
	for (int i = 0; i < 1000; i++)
		CHECK(out[i] == 2 * in[i]);
	CHECK(got[0] == -5 && got[1] == 1.5 && got[2] == 0.1 && got[3] == 1099511627776.);
	/* The input may change between launches, by the host. */
	MUST(d->ops->upload(d, x, 0, out, 4000, &err));
	MUST(gpu_launch(d, m, "twice", 8, 128, 0, ARGS(emu_arg(x), emu_arg(y), emu_i64(1000)), &err));
	MUST(d->ops->sync(d, &err));
	d->ops->unload(d, m);
}

CASE(large_dynamic_shared_memory_is_granted)
{
	PmModule m = load(d);
	PmBuf y = gpu_alloc(d, 4, PM_BUF_OUTPUT);
	PmDeviceInfo info;
	float got = 0;
	PmErr err;

	pm_err_init(&err);
	d->ops->info(d, &info);
	MUST(gpu_launch(d, m, "spill", 1, 256, (uint32_t)info.max_smem,
			ARGS(emu_arg(y), emu_i32(info.max_smem / 4)), &err));
	MUST(d->ops->sync(d, &err));
	MUST(d->ops->download(d, y, 0, &got, 4, &err));
	CHECK(got == (float)(info.max_smem / 4 - 1));
}

CASE(events_measure_time)
{
	PmModule m = load(d);
	double shorter = 0, longer = 0, nothing = 0;
	PmErr err;

	pm_err_init(&err);
	CHECK(d->ops->event_elapsed(d, 0, 1, &nothing, &err) == PM_E_INVALID);
	CHECK(d->ops->event_record(d, 256, &err) == PM_E_INVALID);
	MUST(gpu_launch(d, m, "spin", 1, 1, 0, ARGS(emu_i64(1000)), &err));
	MUST(d->ops->event_record(d, 0, &err));
	MUST(gpu_launch(d, m, "spin", 1, 1, 0, ARGS(emu_i64(2000000)), &err));
	MUST(d->ops->event_record(d, 1, &err));
	MUST(gpu_launch(d, m, "spin", 1, 1, 0, ARGS(emu_i64(20000000)), &err));
	MUST(d->ops->event_record(d, 255, &err));
	MUST(d->ops->event_elapsed(d, 0, 1, &shorter, &err));
	MUST(d->ops->event_elapsed(d, 1, 255, &longer, &err));
	/* 2 and 20 million cycles at 0.5 to 4 GHz. */
	CHECK(shorter > 0.0004 && shorter < 0.02);
	CHECK(longer > 5 * shorter);
}

/* --- what is refused --- */

CASE(unknown_entries_are_named)
{
	gpu_fails(d, load(d), "thrice", 1, 0, NULL, 0, PM_E_DEVICE, "'twice', 'args'");
}

CASE(wrong_numbers_of_arguments_are_refused)
{
	gpu_fails(d, load(d), "trap", 1, 0, ARGS(emu_i32(1)), PM_E_DEVICE, "has 0 parameters");
}

CASE(wrong_kinds_of_arguments_are_refused)
{
	PmBuf y = gpu_alloc(d, 64, PM_BUF_OUTPUT);

	gpu_fails(d, load(d), "args", 1, 0,
		  ARGS(emu_arg(y), emu_f32(1), emu_f32(1.5), emu_f64(0.1), emu_i64(1)), PM_E_DEVICE,
		  "parameter 1 is a 32-bit integer, but the launch gives f32");
}

CASE(blocks_over_the_launch_bounds_are_refused)
{
	gpu_fails(d, load(d), "narrow", 128, 0, ARGS(emu_arg(gpu_alloc(d, 4, PM_BUF_OUTPUT))), PM_E_LIMIT,
		  "allow 64");
}

CASE(too_much_shared_memory_is_refused)
{
	PmBuf y = gpu_alloc(d, 4, PM_BUF_OUTPUT);

	gpu_fails(d, load(d), "spill", 32, 1 << 20, ARGS(emu_arg(y), emu_i32(4)), PM_E_LIMIT,
		  "shared memory");
}

CASE(sources_that_do_not_compile_are_refused)
{
	PmSource s = { .label = "author",
		       .source = "extern \"C\" __global__ void k(T *y)\n{\n\tnothing();\n}\n",
		       .type = PM_F32 };
	PmModule m = { 0 };
	PmErr err;

	pm_err_init(&err);
	CHECK(d->ops->load(d, &s, 1, &m, &err) == PM_E_INVALID);
	CHECK(strstr(err.text, "Kernel 'author' does not compile: line 3: ") != NULL);
	load(d); /* and the device works on */
}

/* --- what kernels do wrong --- */

CASE(writes_just_past_a_buffer_are_found)
{
	PmBuf y = gpu_alloc(d, 4099, PM_BUF_OUTPUT);

	gpu_fails(d, load(d), "poke", 1, 0, ARGS(emu_arg(y), emu_i64(4099)), PM_E_OOB,
		  "wrote past the end of buffer 1 (argument 0, 4099 bytes) at byte 4099");
}

CASE(writes_just_before_a_buffer_are_found)
{
	PmBuf y = gpu_alloc(d, 4096, PM_BUF_OUTPUT);

	gpu_fails(d, load(d), "poke", 1, 0, ARGS(emu_arg(y), emu_i64(-1)), PM_E_OOB,
		  "wrote before the start of buffer 1 (argument 0, 4096 bytes) at byte -1");
}

CASE(writes_far_away_are_found)
{
	PmBuf y = gpu_alloc(d, 4096, PM_BUF_OUTPUT);

	gpu_fails(d, load(d), "poke", 1, 0, ARGS(emu_arg(y), emu_i64(INT64_C(1) << 44)), PM_E_OOB,
		  "Kernel 'cases' (entry 'poke') accessed memory outside its buffers");
}

CASE(reads_just_past_a_buffer_give_nan)
{
	PmModule m = load(d);
	PmBuf x = gpu_alloc(d, 4096, PM_BUF_INPUT), y = gpu_alloc(d, 4, PM_BUF_OUTPUT);
	float got = 0;
	PmErr err;

	pm_err_init(&err);
	MUST(d->ops->fill(d, x, 0, 4096, 0, &err));
	MUST(gpu_launch(d, m, "peek", 1, 1, 0, ARGS(emu_arg(x), emu_i64(1024), emu_arg(y)), &err));
	MUST(d->ops->sync(d, &err));
	MUST(d->ops->download(d, y, 0, &got, 4, &err));
	CHECK(got != got);
}

CASE(writes_to_an_input_are_found)
{
	PmBuf x = gpu_alloc(d, 1 << 20, PM_BUF_INPUT);
	PmErr err;

	pm_err_init(&err);
	MUST(d->ops->fill(d, x, 0, 1 << 20, 0, &err));
	gpu_fails(d, load(d), "poke", 1, 0, ARGS(emu_arg(x), emu_i64(777777)), PM_E_MUTATED,
		  "changed buffer 1 (argument 0, 1048576 bytes), which is an input");
}

CASE(writes_to_the_last_odd_byte_of_an_input_are_found)
{
	PmBuf x = gpu_alloc(d, 13, PM_BUF_INPUT);
	PmErr err;

	pm_err_init(&err);
	MUST(d->ops->fill(d, x, 0, 13, 0, &err));
	gpu_fails(d, load(d), "poke", 1, 0, ARGS(emu_arg(x), emu_i64(12)), PM_E_MUTATED, "which is an input");
}

CASE(traps_are_named)
{
	gpu_fails(d, load(d), "trap", 1, 0, NULL, 0, PM_E_DEVICE, "Kernel 'cases' (entry 'trap')");
}

CASE(misaligned_accesses_are_named)
{
	gpu_fails(d, load(d), "crooked", 1, 0, ARGS(emu_arg(gpu_alloc(d, 64, PM_BUF_OUTPUT))), PM_E_DEVICE,
		  "misaligned");
}

/* --- a process that hangs on the GPU --- */

static int hang(void *arg, PmStr *out)
{
	PmDevice *d = NULL;
	PmBuf b;
	PmErr err;

	(void)arg;
	(void)out;
	pm_err_init(&err);
	MUST(pm_device_open("cuda", &d, &err));
	b = gpu_alloc(d, 4, PM_BUF_SCRATCH);
	MUST(d->ops->fill(d, b, 0, 4, 0, &err));
	MUST(gpu_launch(d, load(d), "hang", 1, 1, 0, ARGS(emu_arg(b)), &err));
	d->ops->sync(d, &err);
	return 0;
}

static void hanging_kernels_are_killed_and_the_next_process_works(void **state)
{
	PmLimits lim = { .seconds = 5, .file_size = -1 };
	PmProcResult r;
	PmErr err;

	(void)state;
	pm_test_need_device("cuda");
	pm_err_init(&err);
	if (pm_fork_call(hang, NULL, &lim, &r, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.end, PM_PROC_TIMEOUT);
	pm_proc_result_release(&r);
	gpu_case(kernels_compute_and_take_all_kinds_of_arguments_body);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_describes_the_gpu),
		cmocka_unit_test(copies_and_fills_reach_every_byte),
		cmocka_unit_test(released_memory_is_used_again_and_clean),
		cmocka_unit_test(kernels_compute_and_take_all_kinds_of_arguments),
		cmocka_unit_test(large_dynamic_shared_memory_is_granted),
		cmocka_unit_test(events_measure_time),
		cmocka_unit_test(unknown_entries_are_named),
		cmocka_unit_test(wrong_numbers_of_arguments_are_refused),
		cmocka_unit_test(wrong_kinds_of_arguments_are_refused),
		cmocka_unit_test(blocks_over_the_launch_bounds_are_refused),
		cmocka_unit_test(too_much_shared_memory_is_refused),
		cmocka_unit_test(sources_that_do_not_compile_are_refused),
		cmocka_unit_test(writes_just_past_a_buffer_are_found),
		cmocka_unit_test(writes_just_before_a_buffer_are_found),
		cmocka_unit_test(writes_far_away_are_found),
		cmocka_unit_test(reads_just_past_a_buffer_give_nan),
		cmocka_unit_test(writes_to_an_input_are_found),
		cmocka_unit_test(writes_to_the_last_odd_byte_of_an_input_are_found),
		cmocka_unit_test(traps_are_named),
		cmocka_unit_test(misaligned_accesses_are_named),
		cmocka_unit_test(hanging_kernels_are_killed_and_the_next_process_works),
	};

	return cmocka_run_group_tests_name("cuda_device", tests, NULL, NULL);
}
