/* SPDX-License-Identifier: Apache-2.0 */
/* test_cubin_mix.c - instructions by kind: of a kernel whose accesses are known, and of bytes that are no
 * cubin. */
#include "integrity/cubin/cubin_mix.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Needs what stands above. */
#include <cmocka.h>

static const char source[] = "__constant__ float table[16];\n"
			     "extern \"C\" __global__ void k(const float *x, const float4 *q, const double "
			     "*d, const unsigned char *b, float *y)\n"
			     "{\n"
			     "	__shared__ float4 s[32];\n"
			     "	int t = threadIdx.x;\n"
			     "	s[t] = q[t];\n"
			     "	__syncthreads();\n"
			     "	float4 v = s[31 - t];\n"
			     "	y[t] = x[t] * v.x + (float)(d[t] * 3) + b[t] + table[t % 16] + expf(v.y);\n"
			     "	*(float4 *)(y + 1024 + 4 * t) = v;\n"
			     "	atomicAdd(y + 512, v.z);\n"
			     "}\n";

static void a_kernel(void **state)
{
	static const int archs[] = { 80, 90 };
	const PmSource s = { "mix", source, PM_F32 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		PmStr ptx = PM_STR_INIT, cubin = PM_STR_INIT;
		PmCubinMix m;
		PmErr err;

		pm_err_init(&err);
		if (pm_nvrtc_compile(&s, archs[i], &ptx, &cubin, &err))
			pm_test_skip("%s", err.text);
		assert_true(pm_cubin_mix(cubin.s, cubin.len, "k", &m));
		assert_int_equal(m.of[PM_MIX_GLOBAL_LOAD], 4);
		assert_int_equal(m.width[PM_MIX_GLOBAL_LOAD][0], 1);
		assert_int_equal(m.width[PM_MIX_GLOBAL_LOAD][2], 1);
		assert_int_equal(m.width[PM_MIX_GLOBAL_LOAD][3], 1);
		assert_int_equal(m.width[PM_MIX_GLOBAL_LOAD][4], 1);
		assert_int_equal(m.of[PM_MIX_GLOBAL_STORE], 2);
		assert_int_equal(m.width[PM_MIX_GLOBAL_STORE][4], 1);
		assert_int_equal(m.of[PM_MIX_SHARED_LOAD], 1);
		assert_int_equal(m.width[PM_MIX_SHARED_STORE][4], 1);
		assert_int_equal(m.of[PM_MIX_LOCAL_LOAD] + m.of[PM_MIX_LOCAL_STORE], 0);
		assert_int_equal(m.of[PM_MIX_ATOMIC], 1);
		assert_int_equal(m.of[PM_MIX_FP64], 1);
		assert_int_equal(m.of[PM_MIX_SPECIAL], 1);
		assert_int_equal(m.of[PM_MIX_FP16], 0);
		assert_int_equal(m.of[PM_MIX_TENSOR], 0);
		assert_true(m.of[PM_MIX_BARRIER] >= 1);
		assert_int_equal(m.constant, 64);
		assert_int_equal(m.parameters, 40);
		assert_false(pm_cubin_mix(cubin.s, cubin.len, "other", &m));
		/* However it is cut, nothing outside of it is read. */
		for (size_t n = 0; n < cubin.len; n += 61)
			pm_cubin_mix(cubin.s, n, "k", &m);
		pm_str_release(&ptx);
		pm_str_release(&cubin);
	}
}

static void no_cubin(void **state)
{
	PmCubinMix m;

	(void)state;
	assert_false(pm_cubin_mix("", 0, "k", &m));
	assert_false(pm_cubin_mix("this is no machine code at all", 30, "k", &m));
	assert_int_equal(m.total, 0);
	assert_string_equal(pm_mix_name(PM_MIX_GLOBAL_LOAD), "global_load");
	assert_string_equal(pm_mix_name(PM_MIX_OTHER), "other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel),
		cmocka_unit_test(no_cubin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
