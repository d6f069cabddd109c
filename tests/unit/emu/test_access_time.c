/* SPDX-License-Identifier: Apache-2.0 */
/* test_access_time.c - caches and modelled times of kernels whose accesses are known by hand. */
#include "runtime/exec/access_time.h"
#include "tests/lib/device/emu.h"

#include "base/core/rng.h"

#include <math.h>
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

/* Counts k on x and y of n floats each. */
static PmLaunchCounts count(const char *source, uint32_t blocks, uint32_t threads, int n)
{
	return emu_counts(source, n, n, blocks, threads, 0);
}

static PmAccessTime time_of(const PmLaunchCounts *c, uint32_t blocks, uint32_t threads, int64_t bytes)
{
	PmPlanLaunch l = { .grid = { blocks, 1, 1 },
			   .block = { threads, 1, 1 },
			   .bytes = bytes,
			   .flop_class = PM_PEAK_SINGLE };
	PmAccessTime t;

	pm_access_time(&l, c, pm_profile("h200"), &t);
	return t;
}

static void is(const char *what, uint64_t got, uint64_t want, const char *which)
{
	if (got != want)
		fail_msg("%s: %s is %llu, not %llu", which, what, (unsigned long long)got,
			 (unsigned long long)want);
}

static void equals(const char *what, double got, double want)
{
	if (!(fabs(got - want) <= 1e-12 * fabs(want)))
		fail_msg("%s is %.17g, not %.17g", what, got, want);
}

/* ---- caches ---- */

/* A warp of 32 floats side by side asks for 4 sectors; a block here has two warps. */
static void what_l1_has_is_not_asked_of_l2(void **state)
{
	PmLaunchCounts once = count(KERNEL("y[i] = x[i];"), 4, 64, 4096);
	PmLaunchCounts twice = count(KERNEL("y[i] = x[i] + x[i ^ 1];"), 4, 64, 4096);
	PmLaunchCounts others = count(KERNEL("y[i] = x[t];"), 4, 64, 4096);

	(void)state;
	is("read", once.read_sectors, 4 * 8, "once");
	is("hits", once.l1_hits, 0, "once");
	is("L2", once.l2_sectors, 4 * (8 + 8), "once");
	is("DRAM", once.dram_sectors, 4 * (8 + 8), "once");
	is("passes", once.global[PM_COUNT_LOAD].passes, 4 * 2, "once");
	is("read", twice.read_sectors, 4 * 16, "twice");
	is("hits", twice.l1_hits, 4 * 8, "twice");
	is("L2", twice.l2_sectors, 4 * (8 + 8), "twice");
	/* L1 is of a block: each of the four asks L2 for the same 8 sectors, which are all that x ever gives.
	 */
	is("hits", others.l1_hits, 0, "another block's");
	is("L2", others.l2_sectors, 4 * (8 + 8), "another block's");
}

/* A block of up to 64 threads has 64 * 128 bytes of L1 less its shared memory, which are 256 sectors, or 128
 * beside 4 KB. All threads read the first float of each sector, twice. Of one sector more than there is room
 * for the first has left when it is asked for again, and so on. */
static void l1_has_the_sectors_that_came_last(void **state)
{
#define TWICE(sectors)                                                                                       \
	"float v = 0; for (int k = 0; k < 2; k++) for (int j = 0; j < " sectors "; j++) v += x[8 * j];\n"
#define SHARED "__shared__ float s[1024]; s[t] = v; __syncthreads(); y[t] = s[31 - t];"
	PmLaunchCounts fits = count(KERNEL(TWICE("256") "y[t] = v;"), 1, 32, 4096);
	PmLaunchCounts over = count(KERNEL(TWICE("257") "y[t] = v;"), 1, 32, 4096);
	PmLaunchCounts less = count(KERNEL(TWICE("128") SHARED), 1, 32, 4096);
	PmLaunchCounts none = count(KERNEL(TWICE("129") SHARED), 1, 32, 4096);

	(void)state;
	is("hits", fits.l1_hits, 256, "fits");
	is("L2", fits.l2_sectors, 256 + 4, "fits");
	is("hits", over.l1_hits, 0, "one too many");
	is("L2", over.l2_sectors, 2 * 257 + 4, "one too many");
	/* DRAM gives each once: L2 keeps them, and x has 512. */
	is("DRAM", over.dram_sectors, 512 + 4, "one too many");
	is("shared", less.shared_bytes, 4096, "beside shared memory");
	is("hits", less.l1_hits, 128, "beside shared memory");
	is("hits", none.l1_hits, 0, "beside shared memory, one too many");
}

/* A matrix of 64 by 64 floats is 512 sectors; a block of 1,024 threads has a tile of 32 by 32: 32 warps. */
#define AT    "int r = t / 32, c = t % 32, p = blockIdx.x / (n / 32) * 32, q = blockIdx.x % (n / 32) * 32;\n"
#define NAIVE KERNEL("n = (int)sqrtf((float)n);" AT "y[(q + c) * n + p + r] = x[(p + r) * n + q + c];")
#define TILED(width)                                                                                         \
	KERNEL("n = (int)sqrtf((float)n);" AT "__shared__ float s[32][" width                                \
	       "]; s[r][c] = x[(p + r) * n + q + c];\n"                                                      \
	       "__syncthreads(); y[(q + r) * n + p + c] = s[c][r];")

static void a_transpose_by_hand(void **state)
{
	PmLaunchCounts naive = count(NAIVE, 4, 1024, 64 * 64), tiled = count(TILED("33"), 4, 1024, 64 * 64);

	(void)state;
	/* Loads: 4 blocks of 32 warps, 4 sectors, a pass each. */
	is("loaded", naive.global[PM_COUNT_LOAD].sectors, 4 * 32 * 4, "naive");
	is("load passes", naive.global[PM_COUNT_LOAD].passes, 4 * 32, "naive");
	/* Stores: the lanes of a warp are in 32 rows, each in a sector of its own: 8 passes of 4. */
	is("stored", naive.global[PM_COUNT_STORE].sectors, 4 * 32 * 32, "naive");
	is("store passes", naive.global[PM_COUNT_STORE].passes, 4 * 32 * 8, "naive");
	is("L2", naive.l2_sectors, 4 * 32 * (4 + 32), "naive");
	is("DRAM", naive.dram_sectors, 2 * 512, "naive");
	is("stored", tiled.global[PM_COUNT_STORE].sectors, 4 * 32 * 4, "tiled");
	is("L2", tiled.l2_sectors, 4 * 32 * (4 + 4), "tiled");
	is("DRAM", tiled.dram_sectors, 2 * 512, "tiled");
	is("shared", tiled.shared[PM_COUNT_LOAD].passes, 4 * 32, "tiled");
}

/* ---- times ---- */

/* Each bound from its counts, with the numbers of an H200: a copy of 3.97 TB/s, L2 of 4.5 TB/s, 132
 * multiprocessors, 1.98 GHz. */
static void bounds_by_hand(void **state)
{
	PmLaunchCounts c = { .blocks = 2,
			     .of_blocks = 266,
			     .shared_bytes = 64 << 10,
			     .global = { { .requests = 20, .passes = 30 }, { .requests = 10, .passes = 40 } },
			     .shared = { { .requests = 5, .passes = 160 }, { .requests = 5, .passes = 5 } },
			     .atomic = { .requests = 1, .threads = 32, .same = 32 },
			     .barriers = 2,
			     .collectives = 3,
			     .steps = 50,
			     .l2_sectors = 500,
			     .dram_sectors = 40000 };
	PmPlanLaunch l = { .grid = { 133, 2, 1 },
			   .block = { 1024, 1, 1 },
			   .bytes = 1000,
			   .flops = 66900000,
			   .flop_class = PM_PEAK_SINGLE };
	PmAccessTime t, plain;

	(void)state;
	pm_access_time(&l, &c, pm_profile("h200"), &t);
	pm_access_time(&l, NULL, pm_profile("h200"), &plain);
	equals("launch", t.launch, 1.45e-6);
	/* A warp of 64: 30 requests of 26 cycles, 2 barriers of 146, 3 collectives of 37. */
	equals("waits", t.waits, (30 * 26 + 2 * 146 + 3 * 37) / 64.0 / 1.98e9);
	equals("DRAM", t.bound[PM_BOUND_DRAM], 40000 * 32 / 3.97e12);
	equals("L2", t.bound[PM_BOUND_L2], 500 / 2.0 * 266 * 32 / 4.5e12);
	/* 266 blocks on 132 multiprocessors: one of them has 3. */
	equals("L1", t.bound[PM_BOUND_L1], (30 + 40 + 160 + 5 + 32) / 2.0 * 3 / 1.98e9);
	equals("issue", t.bound[PM_BOUND_ISSUE], (20 + 10 + 5 + 5 + 1 + 2 + 3 + 50) / 2.0 * 3 / 4 / 1.98e9);
	equals("operations", t.bound[PM_BOUND_OPERATIONS], 1e-6 * 3 * 132 / 266);
	/* Two blocks of 1,024 threads on a multiprocessor, 264 places: one more round, 400 cycles. */
	equals("rounds", t.bound[PM_BOUND_ROUNDS], 400 / 1.98e9);
	assert_int_equal(t.largest, PM_BOUND_OPERATIONS);
	equals("all", t.seconds, t.launch + t.waits + t.bound[PM_BOUND_OPERATIONS]);
	equals("plain DRAM", plain.bound[PM_BOUND_DRAM], 1000 / 3.97e12);
	equals("plain", plain.seconds, pm_plan_launch_seconds(&l, pm_profile("h200")));
	/* Shared memory that one block alone has room for: three rounds, as L1 has less to do with. */
	c.shared_bytes = 200 << 10;
	pm_access_time(&l, &c, pm_profile("h200"), &t);
	equals("rounds", t.bound[PM_BOUND_ROUNDS], 2 * 400 / 1.98e9);
}

/* No count may grow and make a launch cheaper, nor be counted and cost less than if it were not. */
static void more_never_costs_less(void **state)
{
	PmRng r;

	(void)state;
	pm_rng_init(&r, 25);
	for (int i = 0; i < 20000; i++) {
		PmLaunchCounts c = { .blocks = (uint64_t)pm_rng_range(&r, 1, 32), .steps = 1 };
		PmPlanLaunch l = { .grid = { (uint32_t)pm_rng_range(&r, 32, 5000), 1, 1 },
				   .block = { (uint32_t)pm_rng_range(&r, 1, 1024), 1, 1 },
				   .bytes = pm_rng_range(&r, 1, 1 << 24),
				   .flops = pm_rng_range(&r, 0, 1 << 28),
				   .flop_class = (int)pm_rng_range(&r, 0, 3) };
		uint64_t *const count[] = { &c.global[0].passes,
					    &c.global[1].passes,
					    &c.global[0].requests,
					    &c.global[1].requests,
					    &c.shared[0].passes,
					    &c.shared[1].passes,
					    &c.shared[0].requests,
					    &c.atomic.same,
					    &c.atomic.requests,
					    &c.barriers,
					    &c.collectives,
					    &c.steps,
					    &c.active,
					    &c.l2_sectors,
					    &c.dram_sectors,
					    &c.shared_bytes };
		enum { N = sizeof count / sizeof *count };
		const PmProfile *prof = pm_profile(pm_rng_range(&r, 0, 1) ? "h200" : "a100");
		PmAccessTime was, is_now;

		for (int k = 0; k < N; k++)
			*count[k] = (uint64_t)pm_rng_range(&r, 0,
							   count[k] == &c.shared_bytes ? 90000 : 1 << 20);
		pm_access_time(&l, &c, prof, &was);
		*count[i % N] += (uint64_t)pm_rng_range(&r, 1,
							count[i % N] == &c.shared_bytes ? 70000 : 1 << 22);
		pm_access_time(&l, &c, prof, &is_now);
		if (is_now.seconds < was.seconds)
			fail_msg("count %d grew, and the time fell from %g to %g", i % N, was.seconds,
				 is_now.seconds);
		assert_true(was.seconds >= pm_plan_launch_seconds(&l, prof));
	}
}

static double seconds(const char *source, uint32_t blocks, uint32_t threads, int n)
{
	PmLaunchCounts c = count(source, blocks, threads, n);

	return time_of(&c, blocks, threads, 2LL * 4 * n).seconds;
}

/* The same bytes: side by side, each fourth, and anywhere. */
static void order_of_accesses(void **state)
{
	enum { N = 1 << 16 };
	double coalesced = seconds(KERNEL("y[i] = x[i];"), N / 256, 256, N);
	double strided = seconds(KERNEL("y[i] = x[4 * i % n + 4 * i / n];"), N / 256, 256, N);
	double anywhere = seconds(KERNEL("y[i] = x[i * 40503u % 65521u];"), N / 256, 256, N);

	(void)state;
	if (!(coalesced < strided && strided < anywhere))
		fail_msg("%g, %g and %g s", coalesced, strided, anywhere);
}

static void a_tile_makes_a_transpose_faster(void **state)
{
	enum { N = 256 };
	double naive = seconds(NAIVE, N * N / 1024, 1024, N * N);
	double tiled = seconds(TILED("33"), N * N / 1024, 1024, N * N);
	double conflicts = seconds(TILED("32"), N * N / 1024, 1024, N * N);

	(void)state;
	if (!(tiled < naive && tiled < conflicts))
		fail_msg("tiled %g, naive %g, without padding %g s", tiled, naive, conflicts);
}

/* Passes of a warp's load from shared memory, beside those that fill it. */
static void conflicts_cost_passes(void **state)
{
#define SUM(at)                                                                                              \
	KERNEL("__shared__ float s[1056]; for (int j = t; j < 1056; j += 32) s[j] = x[j]; "                  \
	       "__syncthreads();\n"                                                                          \
	       "y[t] = s[" at "];")
	PmLaunchCounts one = count(SUM("t"), 1, 32, 2048), all = count(SUM("32 * t"), 1, 32, 2048),
		       padded = count(SUM("33 * t"), 1, 32, 2048), same = count(SUM("7"), 1, 32, 2048);
	double cycle = 1 / 1.98e9, base = time_of(&one, 1, 32, 0).bound[PM_BOUND_L1];

	(void)state;
	is("passes", one.shared[0].passes, 1, "side by side");
	is("passes", all.shared[0].passes, 32, "one bank");
	is("passes", padded.shared[0].passes, 1, "padded");
	is("passes", same.shared[0].passes, 1, "broadcast");
	assert_true(fabs(time_of(&all, 1, 32, 0).bound[PM_BOUND_L1] - base - 31 * cycle) < 1e-3 * cycle);
	equals("padded", time_of(&padded, 1, 32, 0).bound[PM_BOUND_L1], base);
	equals("broadcast", time_of(&same, 1, 32, 0).bound[PM_BOUND_L1], base);
}

static void more_lanes_never_cost_less(void **state)
{
	double was = 0;

	(void)state;
	for (int k = 1; k <= 32; k++) {
		char source[512];
		double is_now;

		snprintf(source, sizeof source, KERNEL("if (t %% 32 < %d) y[i] = x[3 * i];"), k);
		is_now = seconds(source, 16, 64, 4096);
		if (is_now < was)
			fail_msg("%d lanes take %g s, and %d took %g", k, is_now, k - 1, was);
		was = is_now;
	}
}

/* Lanes of a warp that go four ways are issued four times; whole warps that do are not. */
static void different_ways_cost_instructions(void **state)
{
#define WAYS(of)                                                                                             \
	KERNEL("float v = x[i]; for (int j = 0; j < 20; j++) switch (" of " % 4) {\n"                        \
	       "case 0: v = v * v + j; if (v > 9) v = x[j]; break; case 1: v = sqrtf(v + j); if (v > 8) v "  \
	       "= x[j + 1]; break;\n"                                                                        \
	       "case 2: v = v - 3 * j; if (v > 7) v = x[j + 2]; break; default: v = v / (j + 2); if (v > "   \
	       "6) v = x[j + 3]; }\n"                                                                        \
	       "y[i] = v;")
	PmLaunchCounts lanes = count(WAYS("t"), 8, 128, 4096), warps = count(WAYS("(t / 32)"), 8, 128, 4096);

	(void)state;
	assert_true(lanes.parted > 0);
	assert_true(time_of(&lanes, 8, 128, 0).bound[PM_BOUND_ISSUE] >
		    2 * time_of(&warps, 8, 128, 0).bound[PM_BOUND_ISSUE]);
}

static void one_address_is_taken_in_turns(void **state)
{
	PmLaunchCounts same = count(KERNEL("atomicAdd(y, 1.f);"), 1, 32, 2048),
		       own = count(KERNEL("atomicAdd(y + t, 1.f);"), 1, 32, 2048);
	double cycle = 1 / 1.98e9;

	(void)state;
	is("same", same.atomic.same, 32, "same");
	is("L2", same.l2_sectors, 1, "same");
	is("same", own.atomic.same, 1, "own");
	is("L2", own.l2_sectors, 4, "own");
	equals("same", time_of(&same, 1, 32, 0).bound[PM_BOUND_L1], 32 * cycle);
	equals("own", time_of(&own, 1, 32, 0).bound[PM_BOUND_L1], cycle);
}

/* The process that counts runs the kernel, which may have written over the counts. */
static void nonsense_is_reckoned_with(void **state)
{
	PmPlanLaunch l = { .grid = { 500, 1, 1 }, .block = { 256, 1, 1 }, .bytes = 1000 };

	(void)state;
	for (int k = 0; k < 256; k++) {
		PmCounts c = { .n = 1, .of = { { .launch = 3 } } };
		PmLaunchCounts sent;
		PmAccessTime t;

		memset(&sent, k, sizeof sent);
		if (k & 1) /* with what the system keeps of each block, nothing */
			sent.shared_bytes = (uint64_t)-1024;
		assert_int_equal(pm_counts_take(&c, &sent, sizeof sent, NULL), PM_OK);
		assert_int_equal(c.of[0].launch, 3);
		pm_access_time(&l, &c.of[0], pm_profile("h200"), &t);
		assert_true(isfinite(t.seconds) &&
			    t.seconds >= pm_plan_launch_seconds(&l, pm_profile("h200")));
	}
}

/* Buffers lie elsewhere each time. */
static void each_run_counts_the_same(void **state)
{
	PmLaunchCounts first = count(TILED("32"), 64, 1024, 256 * 256);

	(void)state;
	for (int i = 0; i < 4; i++) {
		PmLaunchCounts again = count(TILED("32"), 64, 1024, 256 * 256);

		assert_memory_equal(&first, &again, sizeof first);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_l1_has_is_not_asked_of_l2),
		cmocka_unit_test(l1_has_the_sectors_that_came_last),
		cmocka_unit_test(a_transpose_by_hand),
		cmocka_unit_test(bounds_by_hand),
		cmocka_unit_test(more_never_costs_less),
		cmocka_unit_test(order_of_accesses),
		cmocka_unit_test(a_tile_makes_a_transpose_faster),
		cmocka_unit_test(conflicts_cost_passes),
		cmocka_unit_test(more_lanes_never_cost_less),
		cmocka_unit_test(different_ways_cost_instructions),
		cmocka_unit_test(one_address_is_taken_in_turns),
		cmocka_unit_test(nonsense_is_reckoned_with),
		cmocka_unit_test(each_run_counts_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
