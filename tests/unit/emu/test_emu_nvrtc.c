/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_nvrtc.c - what runs on the emulated device also compiles for a GPU, prelude and all. */
#include "base/sys/io.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void need_nvrtc(void)
{
	PmStr version = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_version(&version, &err))
		pm_test_skip("%s", err.text);
	pm_str_release(&version);
}

static void compiles(const char *name, PmDType type, int cc)
{
	PmStr root = PM_STR_INIT, path = PM_STR_INIT, text = PM_STR_INIT, ptx = PM_STR_INIT;
	char target[32];
	PmSource s;
	PmErr err;

	pm_err_init(&err);
	assert_int_equal(pm_root_dir(&root, &err), PM_OK);
	pm_str_addf(&path, "%s/tests/kernels/%s", root.s, name);
	assert_int_equal(pm_read_file(path.s, 1 << 20, &text, &err), PM_OK);
	s = (PmSource){ .label = name, .source = text.s, .type = type };
	if (pm_nvrtc_ptx(&s, cc, &ptx, &err))
		fail_msg("sm_%d %s: %s", cc, pm_dtype_name(type), err.text);
	snprintf(target, sizeof target, ".target sm_%d", cc);
	assert_non_null(strstr(ptx.s, target));
	assert_non_null(strstr(ptx.s, ".visible .entry"));
	pm_str_release(&root);
	pm_str_release(&path);
	pm_str_release(&text);
	pm_str_release(&ptx);
}

static void every_kernel_of_the_tests_compiles(void **state)
{
	static const char *const files[] = { "atomic.cu",   "barrier.cu", "errors.cu", "index.cu",
					     "language.cu", "math.cu",    "shared.cu", "vector.cu",
					     "warp.cu",     "prelude.cu", "pairs.cu" };
	size_t i;

	(void)state;
	need_nvrtc();
	for (i = 0; i < sizeof files / sizeof files[0]; i++)
		compiles(files[i], PM_F32, 80 + 10 * (i % 2));
	compiles("half.cu", PM_F16, 80);
	compiles("half.cu", PM_BF16, 90);
}

static void the_prelude_compiles_for_every_type(void **state)
{
	int type;

	(void)state;
	need_nvrtc();
	for (type = 0; type < PM_N_DTYPES && !pm_dtype_is_narrow(type); type++) { /* no kernel has those */
		compiles("prelude.cu", (PmDType)type, 80);
		compiles("prelude.cu", (PmDType)type, 90);
	}
}

/* One statement each. What a GPU's compiler refuses must not pass here, or the author learns it too late. */
static const char *const taken[] = {
	"y[0] = min(1u, 2) + max(1.f, 2.) + min(5, 6) + max(1ll, 2ll) + min(threadIdx.x, 5)",
	"y[0] = abs(1.f) + fabs(-1.f) + abs(-3) + pow(2.f, 3) + ceil(1.f) + "
	"rsqrt(2.f)",
	"y[0] = exp10f(1.f) + __exp10f(1) + __tanhf(1) + normcdff(1) + rhypot(1.f, 2.f) + sinpi(1.f) + "
	"log1p(1.f)",
	"y[0] = INFINITY; y[1] = NAN; y[2] = FLT_MAX + INT_MAX + M_PI + CUDART_INF_F + FLT_EPSILON",
	"__half h = 1.5f; h *= h; h += __half(2.f); y[0] = h; y[1] = (int)h; y[2] = -h; y[3] = !h",
	"__half h; h = 2.0; h = 3; h = 3u; h = 3ll; y[0] = h > __half(0.f) ? 1 : 2",
	"__nv_bfloat16 b = 1.5f; b *= b; y[0] = b; y[1] = hexp(b); y[2] = __hmax(b, b)",
	"__half h(__nv_bfloat16(1.f)); __nv_bfloat16 b(h); y[0] = b; y[1] = sqrtf(h) + expf(b)",
	"y[0] = __float2half(2.f) * __float2half(3.f); y[1] = __half2float(1.f)",
	"__half2 h; h.x = 1.f; h.y = 2; h += h; y[0] = h.x; y[1] = __habs2(h).x; y[2] = __hlt2(h, h).y",
	"y[0] = __shfl_sync(~0u, true, 0) + __shfl_sync(~0u, (short)1, 0) + __activemask()",
	"atomicAdd((unsigned long long *)y, 1); atomicAnd((long long *)y, 1ll); atomicAdd((__half *)y, "
	"__half(1.f))",
	"y[0] = __ldg((const float4 *)y).x; y[1] = __ldg((const __half *)y); __stcs(y, 1.f)",
	"float a[3000] = { 0 }; a[(int)y[0]] = 1; y[1] = a[(int)y[2]]; memcpy(y, a, 8); memset(y, 0, 4)",
	"auto f = [](float a) { return a * 2; }; constexpr int n = 3; if constexpr (sizeof(T) == 4) y[0] = "
	"f(n)",
	"ptrdiff_t p = 0; size_t q = 1; uint32_t r = 2; int64_t s = 3; y[0] = p + q + r + s; dim3 d(1, 2); "
	"y[1] = d.z",
	"assert(y[0] > 0); y[0] = umin(1u, 2u) + __popc(3) + __ffs(8)",
};
static const char *const refused[] = {
	"uint a = 1",
	"y[0] = fabs(-1)",
	"y[0] = sqrt(2)",
	"y[0] = __hfma(1.f, 2.f, 3.f)",
	"uchar a = 1",
	"uintptr_t a = 1",
	"y[0] = powif(2.f, 3)",
	"y[0] = saturate(1.f)",
	"y[0] = min(1ll, 2)",
	"y[0] = max(1.f, 2)",
	"y[0] = __half(1.f) + 1.f",
	"y[0] = 1.f / __half(2.f)",
	"y[0] = __half(1.f) > 0.f",
	"y[0] = true ? __half(1.f) : 1.f",
	"y[0] = max(__half(1.f), __half(2.f))",
	"__half h; h = 3l",
	"__half h = __nv_bfloat16(1.f)",
	"y[0] = __half(1.f).__x",
	"float4 a, b; a = a + b",
	"y[0] = __shfl_sync(~0u, make_float2(1, 2), 0).x",
	"y[0] = __reduce_add_sync(~0u, 1.f)",
	"atomicMax(y, 1.f)",
	"atomicAdd((long long *)y, 1ll)",
	"atomicAdd((short *)y, 1)",
	"threadIdx.x = 1",
	"y[0] = blockIdx.w",
	"y[0] = std::max(1, 2)",
	"int n = blockDim.x; float a[n]; a[0] = 1",
};

static void check_statement(const char *statement, int want)
{
	PmStr text = PM_STR_INIT, ptx = PM_STR_INIT;
	PmSource s = { .label = "one line", .type = PM_F32 };
	PmErr err;
	PmStatus rc;

	pm_err_init(&err);
	pm_str_addf(&text, "extern \"C\" __global__ void k(T *y) { %s; }", statement);
	s.source = text.s;
	rc = pm_emu_compile(&s, 1, 1, &err);
	if ((rc == PM_OK) != want)
		fail_msg("emu %s \"%s\" %s", rc ? "refuses" : "takes", statement, err.text);
	rc = pm_nvrtc_version(&ptx, &err) ? PM_E_ENV : pm_nvrtc_ptx(&s, 90, &ptx, &err);
	if (rc != PM_E_ENV && (rc == PM_OK) != want)
		fail_msg("NVRTC %s \"%s\" %s", rc ? "refuses" : "takes", statement, err.text);
	pm_str_release(&text);
	pm_str_release(&ptx);
}

/* The emulated device alone where there is no NVRTC. */
static void both_compilers_take_the_same_statements(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof taken / sizeof taken[0]; i++)
		check_statement(taken[i], 1);
	for (i = 0; i < sizeof refused / sizeof refused[0]; i++)
		check_statement(refused[i], 0);
}

static void errors_count_lines_of_the_source(void **state)
{
	PmSource s = { "author", "extern \"C\" __global__ void k(T *y)\n{\n\ty[0] = nothing;\n}\n", PM_F16 };
	PmStr ptx = PM_STR_INIT;
	PmErr err;

	(void)state;
	need_nvrtc();
	pm_err_init(&err);
	assert_int_equal(pm_nvrtc_ptx(&s, 90, &ptx, &err), PM_E_INVALID);
	assert_non_null(strstr(err.text, "Kernel 'author' does not compile: line 3: "));
	assert_non_null(strstr(err.text, "\"nothing\" is undefined"));
	assert_int_equal(ptx.len, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kernel_of_the_tests_compiles),
		cmocka_unit_test(the_prelude_compiles_for_every_type),
		cmocka_unit_test(both_compilers_take_the_same_statements),
		cmocka_unit_test(errors_count_lines_of_the_source),
	};

	return cmocka_run_group_tests_name("emu_nvrtc", tests, NULL, NULL);
}
