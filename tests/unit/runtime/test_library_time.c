/* SPDX-License-Identifier: Apache-2.0 */
/* test_library_time.c - the plain run's products and convolutions are modelled as calls of a library. */
#include "base/core/rng.h"
#include "ir/text/text.h"
#include "runtime/exec/exec.h"
#include "runtime/exec/library_time.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Microseconds of the plain run of a graph, and its bytes. */
static double plain_us(const char *text, double *bytes)
{
	PmGraph *g = NULL;
	PmPlanStats s;
	PmErr err;

	pm_err_init(&err);
	if (pm_graph_parse(text, strlen(text), &g, &err) ||
	    pm_graph_plan_stats(g, NULL, 0, pm_profile("h200"), &s, &err))
		fail_msg("%s: %s", text, err.text);
	*bytes = (double)s.bytes;
	pm_graph_free(g);
	return s.modelled_seconds * 1e6;
}

#define HEAD "<ir_version: 8, opset_import: [\"\" : 18]>\n"
#define PRODUCT(t, m, k, n)                                                                                  \
	HEAD "g (" t "[" m "," k "] a, " t "[" k "," n "] b) => (" t "[" m "," n "] y) { y = MatMul (a, b) " \
	     "}"
#define CONV(t, x, w, y, how)                                                                                \
	HEAD "g (" t "[" x "] x, " t "[" w "] w) => (" t "[" y "] y) { y = Conv " how " (x, w) }"
#define ONE       "<strides = [1, 1], pads = [0, 0, 0, 0], dilations = [1, 1]>"
#define SAME3     "<strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]>"
#define GROUPS(g) "<group = " g ", strides = [1, 1], pads = [1, 1, 1, 1], dilations = [1, 1]>"

/* By docs/reference/modelled-times.md: start, call, ramp at 20e6 operations, rise at 128 terms, terms,
 * operations. */
static void each_kind_by_hand(void **state)
{
	static const struct {
		const char *text;
		double call, ramp, rise, term, far, rate, terms, operations;
	} wants[] = {
		{ PRODUCT("float", "1", "512", "256"), 1.85, 0, 0, 0.0015, 3800, INFINITY, 512, 0 },
		{ PRODUCT("float16", "64", "512", "1"), 1.85, 0, 0, 0.0015, 3800, INFINITY, 512, 0 },
		{ PRODUCT("float", "64", "2", "256"), 1.85, 0, 0, 0.0015, 3800, INFINITY, 2, 0 },
		{ PRODUCT("float", "64", "512", "256"), 2.7, 4, 3.7, 0.0007, 16000, 48.7e6, 512,
		  2.0 * 64 * 512 * 256 },
		{ PRODUCT("float16", "64", "512", "256"), 3.3, 0, 0, 0.00095, 16000, 1.4e9, 512,
		  2.0 * 64 * 512 * 256 },
		{ PRODUCT("bfloat16", "64", "512", "257"), 2.5, 0, 1.9, 0.0013, 16000, 69e6, 512,
		  2.0 * 64 * 512 * 257 },
		{ PRODUCT("float16", "64", "509", "256"), 2.5, 0, 1.9, 0.0013, 16000, 69e6, 509,
		  2.0 * 64 * 509 * 256 },
		{ CONV("float", "1,64,14,14", "32,64,1,1", "1,32,14,14", ONE), 4.9, 3.5, 0, 0.003, INFINITY,
		  50e6, 64, 2.0 * 64 * 32 * 196 },
		{ CONV("float16", "1,64,14,14", "32,64,1,1", "1,32,14,14", ONE), 3.2, 6.1, 0, 0.0005,
		  INFINITY, 1.62e9, 64, 2.0 * 64 * 32 * 196 },
		{ CONV("float16", "1,64,14,12", "32,64,1,1", "1,32,14,12", ONE), 3.45, 0, 0, 0.0015, INFINITY,
		  1.62e9, 64, 2.0 * 64 * 32 * 168 },
		{ CONV("float", "1,64,14,14", "1,64,1,1", "1,1,14,14", ONE), 4.9, 3.5, 0, 0.003, INFINITY,
		  50e6, 64, 2.0 * 64 * 196 },
		{ CONV("float", "1,64,1,1", "32,64,1,1", "1,32,1,1", ONE), 1.85, 0, 0, 0.0015, 3800, INFINITY,
		  64, 0 },
		{ CONV("float", "1,64,14,14", "32,64,3,3", "1,32,14,14", SAME3), 8.4, 5.7, 0, 0.00042,
		  INFINITY, 42.5e6, 576, 2.0 * 576 * 32 * 196 },
		{ CONV("bfloat16", "1,64,14,14", "32,64,3,3", "1,32,14,14", SAME3), 7.2, 4, 0, 0.0008,
		  INFINITY, 517e6, 576, 2.0 * 576 * 32 * 196 },
		{ CONV("float", "1,64,14,14", "32,16,3,3", "1,32,14,14", GROUPS("4")), 4.7, 7.9, 0, 0.0247,
		  INFINITY, 42.7e6, 144, 2.0 * 144 * 32 * 196 },
		{ CONV("float16", "1,64,14,14", "32,16,3,3", "1,32,14,14", GROUPS("4")), 5.2, 6.7, 0, 0.0099,
		  INFINITY, 375e6, 144, 2.0 * 144 * 32 * 196 },
		/* Our own kernel, of each channel by itself. */
		{ CONV("float", "1,64,14,14", "64,1,3,3", "1,64,14,14", GROUPS("64")), 1.45, 0, 0, 0,
		  INFINITY, 8.1e6, 0, 2.0 * 9 * 64 * 196 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
		double bytes, got = plain_us(wants[i].text, &bytes), n = wants[i].operations;
		double want = 1 + wants[i].call + wants[i].ramp * n / (n + 20e6) +
			      wants[i].rise * wants[i].terms / (wants[i].terms + 128) +
			      wants[i].term * wants[i].terms / (1 + wants[i].terms / wants[i].far) +
			      n / wants[i].rate + bytes / 3.97e6;

		if (fabs(got - want) > 1e-9 * want)
			fail_msg("%s takes %.9g us, not %.9g", wants[i].text, got, want);
	}
}

/* What no library takes, and types that the constants are not of. */
static void others_are_launches(void **state)
{
	double bytes, call, n = 2.0 * 64 * 512 * 256,
			    got = plain_us(PRODUCT("double", "64", "512", "256"), &bytes);

	(void)state;
	assert_true(fabs(got - (1 + 1.45 + fmax(bytes / 3.97e6, 2.0 * 64 * 512 * 256 / 33.5e6))) < 1e-9);
	got = plain_us(HEAD "g (float[64,64] x) => (float[64,64] y) { a = Exp (x)\n y = Neg (a) }", &bytes);
	/* What it takes to begin the second one is hidden as far as the first takes more than its overhead.
	 */
	assert_true(fabs(got - (1 + 1.25 - bytes / 2 / 3.97e6 + 2 * 1.45 + bytes / 3.97e6)) < 1e-9);
	got = plain_us(HEAD "g (float[64,512] a, float[512,256] b) => (float[64,256] y) { p = MatMul (a, "
			    "b)\n y = Relu (p) }",
		       &bytes);
	bytes -= 4.0 * 2 * 64 * 256;
	call = 2.7 + 4 * n / (n + 20e6) + 3.7 * 512 / (512 + 128) + 0.0007 * 512 / (1 + 512 / 16000.0) +
	       n / 48.7e6;
	assert_true(fabs(got - (1 + call + bytes / 3.97e6 + 1.45 + 4.0 * 2 * 64 * 256 / 3.97e6)) < 1e-9);
	/* A run that launches nothing starts nothing. */
	assert_true(plain_us(HEAD "g (float[64,64] x) => (float[64,64] x) { }", &bytes) >= 0);
}

/* Of 1 by 1 in steps of 1 its result is filled with it by a launch; others have a launch for an operand or
 * for it anyway. */
static void a_bias_is_filled_in(void **state)
{
	static const struct {
		const char *x, *w, *y, *how;
		double us;
	} wants[] = {
		{ "1,64,14,14", "32,64,1,1", "1,32,14,14", ONE, 1.9 },
		{ "1,64,16,16", "32,64,1,1", "1,32,16,16", ONE, 1.9 },
		{ "1,64,14,14", "32,64,1,1", "1,32,7,7",
		  "<strides = [2, 2], pads = [0, 0, 0, 0], dilations = [1, 1]>", 0 },
		{ "1,64,14,14", "32,64,3,3", "1,32,14,14", SAME3, 0 },
		{ "1,64,1,1", "32,64,1,1", "1,32,1,1", ONE, 0 },
	};
	static const char *const types[] = { "float", "float16" };

	(void)state;
	for (size_t i = 0; i < 2 * (sizeof wants / sizeof *wants); i++) {
		const char *t = types[i % 2];
		char text[2][512];
		double bytes[2], us[2];

		for (int bias = 0; bias < 2; bias++) {
			snprintf(text[bias], sizeof text[bias],
				 HEAD
				 "g (%s[%s] x, %s[%s] w, %s[32] b) => (%s[%s] y) { y = Conv %s (x, w%s) }",
				 t, wants[i / 2].x, t, wants[i / 2].w, t, t, wants[i / 2].y, wants[i / 2].how,
				 bias ? ", b" : "");
			us[bias] = plain_us(text[bias], &bytes[bias]);
		}
		/* Its bytes, and an operation for each result. */
		if (fabs(us[1] - us[0] - wants[i / 2].us) > 0.01)
			fail_msg("%s: a bias takes %.9g us, not %.9g", text[1], us[1] - us[0],
				 wants[i / 2].us);
	}
}

/* Kernels of the plain run that do more than move bytes, each beside one that does not. */
static void sums_and_windows(void **state)
{
	double bytes, us;

	(void)state;
	us = plain_us(HEAD "g (float[4096,64] x, float[64] s) => (float[4096,64] y) { y = LayerNormalization "
			   "<axis = 1> (x, s) }",
		      &bytes);
	assert_true(fabs(us - (1 + 1.45 + 1.2 + bytes / 3.97e6)) < 1e-9);
	us = plain_us(HEAD "g (float[4096,64] x) => (float[4096,64] y) { y = Softmax <axis = 1> (x) }",
		      &bytes);
	assert_true(fabs(us - (1 + 1.45 + 0.6 + bytes / 3.97e6)) < 1e-9);
	/* Of few rows, by few blocks; the sums of a BatchNormalization are there already. */
	us = plain_us(HEAD "g (float[2,2,64] x, float[2] s, float[2] b, float[2] m, float[2] v) => "
			   "(float[2,2,64] y) { y = "
			   "BatchNormalization (x, s, b, m, v) }",
		      &bytes);
	assert_true(fabs(us - (1 + 1.45 + bytes / 3.97e6)) < 1e-9);
	/* One row is one block. */
	us = plain_us(HEAD "g (float[1,1,524288] x, float[1] s, float[1] b) => (float[1,1,524288] y) { y = "
			   "InstanceNormalization "
			   "(x, s, b) }",
		      &bytes);
	assert_true(fabs(us - (1 + 1.45 + 1.2 + bytes / 55e3)) < 1e-9);
	/* 36 blocks look at 169 elements for each of 9,216. */
	us = plain_us(HEAD "g (float[1,192,8,6] x) => (float[1,192,8,6] y) { y = MaxPool <kernel_shape = "
			   "[13, 13], strides = [1, 1], "
			   "pads = [6, 6, 6, 6], dilations = [1, 1]> (x) }",
		      &bytes);
	assert_true(fabs(us - (1 + 1.45 + 9216.0 * 169 / 36 / 7900)) < 1e-9);
}

static void more_never_costs_less(void **state)
{
	PmRng r;

	(void)state;
	pm_rng_init(&r, 24);
	for (int i = 0; i < 20000; i++) {
		static const int types[] = { PM_F32, PM_F16, PM_BF16, PM_F64 };
		PmLibCall c = { .kind = PM_LIB_GEMM, .dtype = types[i % 4] };
		int64_t bytes = pm_rng_range(&r, 1, 1 << 28), flops = pm_rng_range(&r, 1, 1ll << 40);
		const PmProfile *p = pm_profile(i % 3 ? "h200" : "l4");
		double was;

		c.gemm = (PmLibGemm){ .m = pm_rng_range(&r, 1, 4),
				      .n = 8 * pm_rng_range(&r, 1, 99),
				      .batch = 1 };
		c.gemm.k = 8 * pm_rng_range(&r, 1, 9999);
		was = pm_library_seconds(&c, bytes, flops, p);
		assert_true(was >= p->launch_seconds && isfinite(was));
		assert_true(pm_library_seconds(&c, bytes + 4096, flops, p) >= was);
		assert_true(pm_library_seconds(&c, bytes, flops * 2, p) >= was);
		c.gemm.k += 8;
		assert_true(pm_library_seconds(&c, bytes, flops, p) >= was);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_by_hand),     cmocka_unit_test(others_are_launches),
		cmocka_unit_test(a_bias_is_filled_in),   cmocka_unit_test(sums_and_windows),
		cmocka_unit_test(more_never_costs_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
