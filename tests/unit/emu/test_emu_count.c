/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_count.c - kernels whose requests, sectors, bank conflicts and ways are known by hand. */
#include "runtime/device/device.h"
#include "tests/lib/device/emu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Needs what stands above. */
#include <cmocka.h>

#define KERNEL(body)                                                                                         \
	"extern \"C\" __global__ void k(const float *x, float *y, int n) {\n"                                \
	"const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t; (void)i; (void)t;\n" body "\n}\n"
enum { FLOATS = 1 << 17, LINE = 3 /* of the body */ };

/* A fresh device counts launch 0. */
static PmLaunchCounts count(const char *source, uint32_t blocks, uint32_t threads, uint32_t smem)
{
	return emu_counts(source, FLOATS, 0, blocks, threads, smem);
}

typedef struct Want {
	const char *body;
	uint64_t requests, sectors, ideal, bytes; /* of a block of 32 threads */
} Want;

static void is(const char *what, uint64_t got, uint64_t want, const char *body)
{
	if (got != want)
		fail_msg("%s: %s is %llu, not %llu", body, what, (unsigned long long)got,
			 (unsigned long long)want);
}

static void sectors_of_a_request(void **state)
{
	static const Want wants[] = {
		{ KERNEL("y[t] = x[t];"), 1, 4, 4, 128 },
		{ KERNEL("y[t] = x[2 * t];"), 1, 8, 4, 128 },
		{ KERNEL("y[t] = x[32 * t];"), 1, 32, 4, 128 },
		{ KERNEL("y[t] = x[7];"), 1, 1, 1, 4 },
		{ KERNEL("y[t] = x[t + 1];"), 1, 5, 4, 128 },
		{ KERNEL("y[t] = x[31 - t];"), 1, 4, 4, 128 },
		{ KERNEL("y[t] = x[t / 2];"), 1, 2, 2, 64 },
		{ KERNEL("y[t] = t < 8 ? x[t] : 0;"), 1, 1, 1, 32 },
		{ KERNEL("float4 v = ((const float4 *)x)[t]; y[t] = v.x + v.w;"), 1, 16, 16, 512 },
		{ KERNEL("auto v = pm_load<4>(x + 4 * t); y[t] = v[0] + v[3];"), 1, 16, 16, 512 },
		{ KERNEL("float2 v = ((const float2 *)x)[t]; y[t] = v.x + v.y;"), 1, 8, 8, 256 },
		{ KERNEL("y[t] = ((const double *)x)[t];"), 1, 8, 8, 256 },
		{ KERNEL("y[t] = ((const unsigned char *)x)[t];"), 1, 1, 1, 32 },
		{ KERNEL("y[t] = __ldg(x + 4 * t);"), 1, 16, 4, 128 },
		/* Four of an element each are not one of four: nothing says that they are aligned. */
		{ KERNEL("const float *p = x + 4 * t; y[t] = p[0] * p[1] + p[2] * p[3];"), 4, 64, 16, 512 },
		{ KERNEL("float s = 0; for (int j = 0; j < 10; j++) s += x[j * 32 + t]; y[t] = s;"), 10, 40,
		  40, 1280 },
		{ KERNEL("float s = 0; for (int j = 0; j <= t; j++) s += x[j]; y[t] = s;"), 32, 32, 32, 128 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		const Want *w = &wants[i];
		PmLaunchCounts r = count(w->body, 1, 32, 0);
		const PmCountGlobal *g = &r.global[PM_COUNT_LOAD];

		is("requests", g->requests, w->requests, w->body);
		is("sectors", g->sectors, w->sectors, w->body);
		is("ideal", g->ideal, w->ideal, w->body);
		is("bytes", g->bytes, w->bytes, w->body);
		is("stores", r.global[PM_COUNT_STORE].requests, 1, w->body);
		is("sectors stored", r.global[PM_COUNT_STORE].sectors, 4, w->body);
		is("blocks", r.blocks, 1, w->body);
	}
}

/* A conversion, a minimum or a product by tensor cores is an instruction of a GPU, whatever it takes here. */
static void builtins_are_no_code_of_the_kernel(void **state)
{
#define AS(t, body) KERNEL("typedef " t " T; const T *h = (const T *)x; T *o = (T *)y;\n" body)
	static const char *const bodies[][3] = {
		{ AS("float", "o[t] = T((float)h[t] * 2.f);"), AS("__half", "o[t] = T((float)h[t] * 2.f);"),
		  AS("__nv_bfloat16", "o[t] = T((float)h[t] * 2.f);") },
		{ AS("float", "o[t] = T(((float)h[t] + (float)h[t + 32]));"),
		  AS("__half", "o[t] = T(fminf((float)h[t], (float)h[t + 32]));"),
		  AS("__nv_bfloat16", "o[t] = T(fmaxf((float)h[t], (float)h[t + 32]));") },
	};
#define TILE(t)                                                                                              \
	KERNEL("float c[4] = { 0, 0, 0, 0 }; const unsigned a[4] = { 1, 2, 3, 4 }, b[2] = { 5, 6 };\n"       \
	       "pm_mma_16816<" t ">(c, a, b); y[t] = c[0] + c[3];")
	PmLaunchCounts half = count(TILE("__half"), 1, 32, 0), other = count(TILE("__nv_bfloat16"), 1, 32, 0);
	PmLaunchCounts none = count(KERNEL("y[t] = t;"), 1, 32, 0);

	(void)state;
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		PmLaunchCounts f = count(bodies[i][0], 1, 32, 0);

		for (int k = 1; k < 3; k++)
			is("steps", count(bodies[i][k], 1, 32, 0).steps, f.steps, bodies[i][k]);
	}
	is("steps", half.steps, none.steps, "a product of float16 by tensor cores");
	is("collectives", half.collectives, 1, "the same");
	is("steps", other.steps, none.steps, "a product of bfloat16 by tensor cores");
}

/* Passes of the loads from shared memory, and without conflicts. */
static void bank_conflicts(void **state)
{
	static const struct {
		const char *body;
		uint64_t requests, passes, ideal;
	} wants[] = {
#define FILL "__shared__ float s[2048]; for (int j = t; j < 2048; j += 32) s[j] = j; __syncthreads();\n"
		{ KERNEL(FILL "y[t] = s[t];"), 1, 1, 1 },
		{ KERNEL(FILL "y[t] = s[2 * t];"), 1, 2, 1 },
		{ KERNEL(FILL "y[t] = s[32 * t];"), 1, 32, 1 },
		{ KERNEL(FILL "y[t] = s[33 * t];"), 1, 1, 1 },
		{ KERNEL(FILL "y[t] = s[5];"), 1, 1, 1 },
		{ KERNEL(FILL "y[t] = s[t / 2];"), 1, 1, 1 },
		{ KERNEL(FILL "y[t] = s[t % 2 * 32];"), 1, 2, 1 },
		{ KERNEL(FILL "float2 v = ((float2 *)s)[t]; y[t] = v.x + v.y;"), 1, 2, 2 },
		{ KERNEL(FILL "float4 v = ((float4 *)s)[t]; y[t] = v.x + v.y;"), 1, 4, 4 },
		{ KERNEL(FILL "float4 v = ((float4 *)s)[2 * t]; y[t] = v.x + v.y;"), 1, 8, 4 },
		/* Neighbours, or next but one, that want the same go together with twice as many. */
		{ KERNEL(FILL "float4 v = ((float4 *)s)[t / 8]; y[t] = v.x + v.y;"), 1, 2, 2 },
		{ KERNEL(FILL "float4 v = ((float4 *)s)[t % 2]; y[t] = v.x + v.y;"), 1, 2, 2 },
		{ KERNEL(FILL "float4 v = ((float4 *)s)[t % 8]; y[t] = v.x + v.y;"), 1, 4, 4 },
		{ KERNEL(FILL "float4 v = ((float4 *)s)[t % 8 / 4]; y[t] = v.x + v.y;"), 1, 2, 2 },
		{ KERNEL(FILL "float2 v = ((float2 *)s)[t / 2]; y[t] = v.x + v.y;"), 1, 1, 1 },
		{ KERNEL(FILL "float2 v = ((float2 *)s)[t % 16]; y[t] = v.x + v.y;"), 1, 2, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		PmLaunchCounts r = count(wants[i].body, 1, 32, 0);

		is("requests", r.shared[PM_COUNT_LOAD].requests, wants[i].requests, wants[i].body);
		is("passes", r.shared[PM_COUNT_LOAD].passes, wants[i].passes, wants[i].body);
		is("ideal", r.shared[PM_COUNT_LOAD].ideal, wants[i].ideal, wants[i].body);
		is("stores", r.shared[PM_COUNT_STORE].requests, 64, wants[i].body);
		is("store passes", r.shared[PM_COUNT_STORE].passes, 64, wants[i].body);
		is("barriers", r.barriers, 1, wants[i].body);
	}
}

/* What is written is not packed. */
static void stores_of_neighbours(void **state)
{
	PmLaunchCounts r = count(KERNEL("__shared__ float4 s[4]; s[t / 8] = make_float4(t, t, t, t);\n"
					"__syncthreads(); y[t] = s[t / 8].x;"),
				 1, 32, 0);

	(void)state;
	is("passes", r.shared[PM_COUNT_STORE].passes, 4, "stores");
}

/* A tile of 32 x 32, written along rows and read along columns. */
static void a_transpose_and_its_padding(void **state)
{
#define TRANSPOSE(width)                                                                                     \
	KERNEL("__shared__ float s[32][" width "]; int r = t / 32, c = t % 32;\n"                            \
	       "s[r][c] = x[t]; __syncthreads();\n"                                                          \
	       "y[t] = s[c][r];")
	PmLaunchCounts plain = count(TRANSPOSE("32"), 2, 1024, 0),
		       padded = count(TRANSPOSE("33"), 2, 1024, 0);

	(void)state;
	is("requests", plain.shared[0].requests, 64, "plain");
	is("passes", plain.shared[0].passes, 64 * 32, "plain");
	is("passes", padded.shared[0].passes, 64, "padded");
	is("barriers", padded.barriers, 64, "padded");
	is("site", (uint64_t)plain.site[0].shared, 1, "plain");
	is("line", (uint64_t)plain.site[0].line, LINE + 2, "plain");
	is("site passes", plain.site[0].bank.passes, 64 * 32, "plain");
}

static void dynamic_shared_memory(void **state)
{
	PmLaunchCounts r = count("extern \"C\" __global__ void k(const float *x, float *y, int n) {\n"
				 "extern __shared__ float s[]; int t = threadIdx.x;\n"
				 "s[4 * t] = x[t]; __syncwarp(); y[t] = s[4 * (31 - t)]; }\n",
				 1, 32, 512);

	(void)state;
	is("stores", r.shared[PM_COUNT_STORE].passes, 4, "dynamic");
	is("loads", r.shared[PM_COUNT_LOAD].passes, 4, "dynamic");
	is("collectives", r.collectives, 1, "dynamic");
}

static void ways_of_a_warp(void **state)
{
	PmLaunchCounts one = count(KERNEL("y[t] = x[t] * 2;"), 1, 64, 0);
	PmLaunchCounts half = count(KERNEL("if (t % 2) y[t] = x[t]; else y[2 * t] = x[3 * t] + x[5 * t];"), 1,
				    64, 0);
	PmLaunchCounts whole = count(KERNEL("if (t / 32) y[t] = x[t]; else y[2 * t] = x[3 * t] + x[5 * t];"),
				     1, 64, 0);
	PmLaunchCounts edge = count(KERNEL("if (i >= 40) return; y[t] = x[t];"), 1, 64, 0);

	(void)state;
	is("parted", one.parted, 0, "one way");
	assert_true(one.steps >= 2 && one.active == one.steps * 32);
	is("parted", half.parted, 2, "half and half");
	assert_true(half.active < half.steps * 32);
	is("requests", half.global[0].requests, 2 * 3, "half and half");
	is("parted", whole.parted, 0, "whole warps");
	assert_true(whole.active == whole.steps * 32);
	is("parted", edge.parted, 1, "the edge");
	is("requests", edge.global[0].requests, 2, "the edge");
	is("sectors", edge.global[0].sectors, 4 + 1, "the edge");
}

/* After a branch the lanes go together again. */
static void lanes_meet_again(void **state)
{
	PmLaunchCounts r = count(
		KERNEL("float v = 0; if (x[t] > t % 3 - 1) v = y[t + 64] * 3; else v = y[t + 128];\n"
		       "for (int j = 0; j < t % 4; j++) v += x[t + 32 * j];\n"
		       "y[t] = v + x[t + 96];"),
		1, 32, 0);

	(void)state;
	/* x[t]; one way or the other, or both; up to three of the loop; the last. */
	is("stores", r.global[PM_COUNT_STORE].requests, 1, "met");
	is("loads", r.global[PM_COUNT_LOAD].requests, 1 + 2 + 3 + 1, "met");
}

static void reads_again(void **state)
{
	PmLaunchCounts once = count(KERNEL("y[i] = x[i];"), 4, 64, 0);
	PmLaunchCounts again = count(KERNEL("float s = 0; for (int j = 0; j < 64; j++) s += x[j]; y[i] = s;"),
				     4, 64, 0);

	(void)state;
	is("read", once.read_sectors, 32, "once");
	is("unique", once.unique_sectors, 32, "once");
	is("read", again.read_sectors, 8 * 64, "again");
	is("unique", again.unique_sectors, 8, "again");
}

static void atomics(void **state)
{
	PmLaunchCounts same = count(KERNEL("atomicAdd(y, 1);"), 1, 64, 0);
	PmLaunchCounts own = count(
		KERNEL("atomicAdd(y + t, x[t]); __shared__ int s[4]; atomicMax(s + t % 4, t);"), 1, 32, 0);

	(void)state;
	is("requests", same.atomic.requests, 2, "same");
	is("threads", same.atomic.threads, 64, "same");
	is("same", same.atomic.same, 64, "same");
	is("other requests", same.global[0].requests + same.global[1].requests, 0, "same");
	is("requests", own.atomic.requests, 2, "own");
	is("same", own.atomic.same, 1 + 8, "own");
}

/* More than a thread's list holds, in step and out of it, beside collectives and barriers. */
static void long_stories(void **state)
{
	PmLaunchCounts r = count(KERNEL("float s = 0; for (int j = 0; j < 5000; j++) s += x[j * 8 + t];\n"
					"s = pm_warp_sum(s); __syncthreads();\n"
					"for (int j = 0; j < 100 * t; j++) s += x[j];\n"
					"y[t] = pm_warp_max(s);"),
				 1, 64, 0);
	PmLaunchCounts one = count(
		KERNEL("float s = 0; if (t == 31) for (int j = 0; j < 5000; j++) s += x[j * 8];\n"
		       "__syncthreads(); y[t] = pm_warp_sum(s);"),
		1, 64, 0);

	(void)state;
	is("loads", r.global[0].requests, 2 * 5000 + 3100 + 6300, "long");
	is("collectives", r.collectives, 2 * 10, "long");
	is("barriers", r.barriers, 2, "long");
	is("stores", r.global[1].requests, 2, "long");
	is("loads", one.global[0].requests, 5000, "one lane");
	is("stores", one.global[1].requests, 2, "one lane");
}

/* A function that is called and not folded in. */
static void calls(void **state)
{
	PmLaunchCounts r = count(
		"__device__ __noinline__ float f(const float *x, int t) { return t % 2 ? x[t] : x[t + 64]; "
		"}\n"
		"extern \"C\" __global__ void k(const float *x, float *y, int n) {\n"
		"int t = threadIdx.x; float v = 0; if (t < 16) v = f(x, t); y[t] = v + f(x, t + 32); }\n",
		1, 32, 0);

	(void)state;
	is("loads", r.global[0].requests, 4, "calls");
	is("stores", r.global[1].requests, 1, "calls");
}

static void many_blocks_are_sampled(void **state)
{
	PmLaunchCounts r = count(KERNEL("y[i] = x[i];"), 1000, 64, 0);

	(void)state;
	is("blocks", r.blocks, PM_COUNT_BLOCKS, "sampled");
	is("of", r.of_blocks, 1000, "sampled");
	is("requests", r.global[0].requests, 2 * PM_COUNT_BLOCKS, "sampled");
}

static void lines(void **state)
{
	PmLaunchCounts r = count(KERNEL("float a = x[32 * t];\n"
					"auto v = pm_load<4>(x + 8 * t);\n"
					"y[t] = a + v[0] + v[1] + v[2] + v[3] + __ldg(x + t);"),
				 1, 32, 0);

	(void)state;
	is("sites", (uint64_t)r.n_sites, 4, "lines");
	is("line", (uint64_t)r.site[0].line, LINE, "the strided one");
	is("sectors", r.site[0].global.sectors, 32, "the strided one");
	assert_string_equal(r.site[0].file, "count");
	/* 16 bytes of each 32: as many sectors as there are threads. */
	is("line", (uint64_t)r.site[1].line, LINE + 1, "pm_load");
	is("size", (uint64_t)r.site[1].size, 16, "pm_load");
	is("sectors", r.site[1].global.sectors, 32, "pm_load");
	assert_string_equal(r.site[1].file, "count");
	is("line", (uint64_t)r.site[2].line, LINE + 2, "the rest");
	assert_string_equal(r.site[2].file, "count");
}

/* What is not asked about is compiled as on "emu"; and what is, never. */
static void judged_kernels_are_left_alone(void **state)
{
	const char *source = KERNEL("y[t] = x[t] + 1;");
	char code[3][PM_CHAIN_HEX];

	(void)state;
	for (int i = 0; i < 3; i++) {
		PmDevice *d;
		PmModule m;
		PmErr err;

		pm_err_init(&err);
		if (pm_device_open(i ? PM_DEVICE_COUNTS : "emu", &d, &err))
			fail_msg("%s", err.text);
		if (i == 2) {
			d->counts->n = 1;
			d->counts->source[0] = source;
		}
		if (emu_load_text(d, "count", source, &m, &err))
			fail_msg("%s", err.text);
		d->ops->code(d, m, code[i]);
		d->ops->close(d);
	}
	assert_string_equal(code[0], code[1]);
	assert_string_not_equal(code[0], code[2]);
	assert_int_equal(pm_device_kind(PM_DEVICE_COUNTS), PM_DEVICE_EMU_COUNTS);
	assert_false(pm_device_is_known(PM_DEVICE_COUNTS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sectors_of_a_request),
		cmocka_unit_test(builtins_are_no_code_of_the_kernel),
		cmocka_unit_test(bank_conflicts),
		cmocka_unit_test(a_transpose_and_its_padding),
		cmocka_unit_test(stores_of_neighbours),
		cmocka_unit_test(dynamic_shared_memory),
		cmocka_unit_test(ways_of_a_warp),
		cmocka_unit_test(lanes_meet_again),
		cmocka_unit_test(reads_again),
		cmocka_unit_test(atomics),
		cmocka_unit_test(long_stories),
		cmocka_unit_test(calls),
		cmocka_unit_test(many_blocks_are_sampled),
		cmocka_unit_test(lines),
		cmocka_unit_test(judged_kernels_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
