/* SPDX-License-Identifier: Apache-2.0 */
/* test_ptx.c - kernels whose machine code may not run: refused by their PTX, however the source hides it. */
#include "integrity/ptx/ptx_gate.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { CC = 90 };

#define KERNEL "extern \"C\" __global__ void k(const T *x, T *y, int n)\n"
#define BODY   "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) y[i] = x[i];\n"

typedef struct Attack {
	const char *id, *source, *part;
} Attack;

/* The text before the kernel or inside it; each is the smallest that shows the trick. */
static const Attack attacks[] = {
	{ "B01_ptr_cache",
	  "__device__ const void *seen[64];\n" KERNEL "{ if (seen[0] == x) return; seen[0] = x; " BODY "}",
	  "global memory" },
	{ "B04_counter",
	  "__device__ int launches;\n" KERNEL "{ if (launches > 20) return; atomicAdd(&launches, 1); " BODY
	  "}",
	  "global memory" },
	{ "C01",
	  "extern \"C\" __device__ int cudaStreamCreateWithFlags(void **, unsigned);\n" KERNEL
	  "{ void *s; if (cudaStreamCreateWithFlags(&s, 1)) return; " BODY "}",
	  "not in the module" },
	{ "C06_evict_last",
	  KERNEL "{ int i = threadIdx.x; unsigned v; asm volatile(\"ld.global.L2::evict_last.u32 %0, [%1];\" "
		 ": \"=r\"(v) : "
		 "\"l\"(x + i)); y[i] = x[i]; if (v == 77) y[i] = x[0]; }",
	  "caches are the same" },
	{ "C06b_policy",
	  KERNEL "{ unsigned long long p; asm volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, "
		 "1.0;\" : \"=l\"(p)); "
		 "if (p == 1) return; " BODY "}",
	  "createpolicy" },
	{ "C10_pdl_early", KERNEL "{ asm volatile(\"griddepcontrol.launch_dependents;\"); " BODY "}",
	  "griddepcontrol" },
	{ "C14_slow_first",
	  "__device__ int first = 1;\n" KERNEL
	  "{ if (first) { for (int j = 0; j < 100000; j++) __threadfence(); first = 0; } " BODY "}",
	  "global memory" },
	{ "C19_clock_branch",
	  KERNEL "{ unsigned long long t; asm volatile(\"mov.u64 %0, %\\x63lock64;\" : \"=l\"(t)); if (t & "
		 "1) return; " BODY "}",
	  "%clock64" },
	{ "F01_device_static",
	  "__device__ float kept;\n" KERNEL "{ kept += 1; if (kept > 9) return; " BODY "}", "global memory" },
	{ "F01b_local_static", KERNEL "{ static int kept; if (atomicAdd(&kept, 1) > 9) return; " BODY "}",
	  "global memory" },
	{ "F01c_template_var",
	  "template <int I> __device__ int kept = 0;\n" KERNEL
	  "{ if (atomicAdd(&kept<3>, 1) > 9) return; " BODY "}",
	  "global memory" },
	{ "F01d_managed", "__managed__ int kept;\n" KERNEL "{ if (atomicAdd(&kept, 1) > 9) return; " BODY "}",
	  "global memory" },
	{ "F01e_const_table",
	  "__device__ const float table[8] = { 1, 7, 3, 4, 2, 9, 5, 8 };\n" KERNEL
	  "{ int i = threadIdx.x; if (i < n) y[i] = (T)((float)x[i] * table[i & 7]); }",
	  "__constant__" },
	{ "F02_write_const_via_generic",
	  "__constant__ int table[4] = { 1, 2, 3, 4 };\n" KERNEL
	  "{ int *p = const_cast<int *>(table); asm volatile(\"\" : \"+l\"(p)); p[n & 3] = 7; " BODY "}",
	  "constants" },
	{ "F03_asm_brace",
	  KERNEL "{ asm volatile(\"ret; }\\n.visible .global .u32 kept;\\n.visible .entry second() {\\n .reg "
		 ".pred %p<9>; .reg .b16 %rs<9>; "
		 ".reg .b32 %r<99>; .reg .b64 %rd<99>; .reg .f32 %f<99>;\"); " BODY "}",
	  "global memory" },
	{ "F04a",
	  KERNEL
	  "{ unsigned t; asm volatile(\"mov.u32 %0, %\\x63\\x6cock;\" : \"=r\"(t)); if (t & 1) return; " BODY
	  "}",
	  "%clock" },
	{ "F04b",
	  "#define S_(x) #x\n#define S(x) S_(x)\n#define P(a, b) a##b\n" KERNEL
	  "{ unsigned t; asm volatile(\"mov.u32 %0, %\" S(P(clo, ck)) \";\" : \"=r\"(t)); if (t & 1) "
	  "return; " BODY "}",
	  "%clock" },
	{ "F04c",
	  KERNEL
	  "{ unsigned t; asm volatile(\"mov.u32 %0, %clo\\\nck;\" : \"=r\"(t)); if (t & 1) return; " BODY "}",
	  "%clock" },
	{ "F04d",
	  KERNEL "{ unsigned long long t; asm volatile(R\"(mov.u64 %0, %globaltimer;)\" : \"=l\"(t)); if (t "
		 "& 1) return; " BODY "}",
	  "%globaltimer" },
	{ "F04e",
	  KERNEL "{ unsigned t; asm volatile(\"mov.u32 %0, %c\" \"lo\" \"ck;\" : \"=r\"(t)); if (t & 1) "
		 "return; " BODY "}",
	  "%clock" },
	{ "F11_printf",
	  "extern \"C\" __device__ int printf(const char *, ...);\n" KERNEL "{ printf(\"hello\\n\"); " BODY
	  "}",
	  "not in the module" },
	{ "F11b_malloc_state", KERNEL "{ int *p = (int *)malloc(4); if (p) *p = 1; " BODY "}",
	  "not in the module" },
	{ "F11c_trap", KERNEL "{ if (n < 0) __trap(); " BODY "}", "trap" },
	{ "F13_gridid_counter",
	  KERNEL "{ unsigned long long g; asm volatile(\"mov.u64 %0, %gridid;\" : \"=l\"(g)); if (g > 10) "
		 "return; " BODY "}",
	  "%gridid" },
	{ "F13b_smid",
	  KERNEL "{ unsigned s; asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(s)); if (s > 100) return; " BODY
		 "}",
	  "%smid" },
	{ "F16_sys_store",
	  KERNEL "{ int i = threadIdx.x; asm volatile(\"st.release.sys.global.u32 [%0], %1;\" : : \"l\"(y + "
		 "i), \"r\"(n)); }",
	  "no other device" },
	{ "F17_cdp_declared",
	  "extern \"C\" __device__ int cudaLaunchDeviceV2(void *, void *);\n" KERNEL
	  "{ cudaLaunchDeviceV2(y, 0); " BODY "}",
	  "not in the module" },
	{ "F18_fnptr",
	  "typedef int (*F)(int);\n__device__ __noinline__ int one(int a) { return a + 1; }\n__device__ "
	  "__noinline__ int two(int a) "
	  "{ return a * 2; }\n" KERNEL
	  "{ F f = n & 1 ? one : two; asm volatile(\"\" : \"+l\"(f)); y[0] = (T)(float)f(n); }",
	  "pointer" },
	{ "F19_texref",
	  KERNEL
	  "{ float a, b, c, d; unsigned long long t = (unsigned long long)n; asm "
	  "volatile(\"tex.1d.v4.f32.s32 {%0,%1,%2,%3}, [%4, {%5}];\" : "
	  "\"=f\"(a), \"=f\"(b), \"=f\"(c), \"=f\"(d) : \"l\"(t), \"r\"(n)); y[0] = (T)(a + b + c + d); }",
	  "textures" },
	/* Declared in a block, the name of a special register is the clock again behind it. */
	{ "X08_declared_clock",
	  KERNEL
	  "{ unsigned t; asm volatile(\"{ .reg .u32 %%clock; mov.u32 %%clock, 0; } mov.u32 %0, %%clock;\" : "
	  "\"=r\"(t)); if (t & 1) return; " BODY "}",
	  "%clock" },
	{ "X08b_family_of_clocks",
	  KERNEL "{ unsigned long long t; asm volatile(\".reg .b64 %%clock<5>; mov.u64 %0, %%clock64;\" : "
		 "\"=l\"(t)); "
		 "if (t & 1) return; " BODY "}",
	  "%clock64" },
	{ "X09_beyond_the_parameters",
	  KERNEL "{ unsigned t; asm volatile(\"ld.param.u32 %0, [k_param_2+4];\" : \"=r\"(t)); if (t & 1) "
		 "return; " BODY "}",
	  "k_param_2" },
	{ "X09b_address_of_a_parameter",
	  KERNEL
	  "{ unsigned t; asm volatile(\"{ .reg .b64 p; mov.b64 p, k_param_0; ld.param.u32 %0, [p+64]; }\" : "
	  "\"=r\"(t)); if (t & 1) return; " BODY "}",
	  "k_param_0" },
	{ "label_before_trap", KERNEL "{ asm volatile(\"here : trap;\"); " BODY "}", "trap" },
	{ "second_kernel",
	  "extern \"C\" __global__ void other(float *p) { p[0] = 1; }\n" KERNEL "{ " BODY "}",
	  "no launch describes" },
	{ "kernel_with_a_name_of_cxx", "__global__ void other(float *p) { p[0] = 1; }\n" KERNEL "{ " BODY "}",
	  "write extern \"C\" before __global__" },
};

static const char *const entry[] = { "k" };

static void need_nvrtc(void)
{
	PmStr version = PM_STR_INIT;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_version(&version, &err))
		pm_test_skip("%s", err.text);
	pm_str_release(&version);
}

/* Returns the number of problems; *problems is replaced. */
static int judge(const char *id, const char *source, PmStr *problems)
{
	PmSource s = { id, source, PM_F32 };
	PmStr ptx = PM_STR_INIT;
	int n;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_ptx(&s, CC, &ptx, &err))
		fail_msg("%s: %s", id, err.text);
	pm_str_clear(problems);
	n = pm_ptx_gate(ptx.s, ptx.len, entry, 1, problems);
	pm_str_release(&ptx);
	return n;
}

static void attack(void **state)
{
	const Attack *a = *state;
	PmStr problems = PM_STR_INIT;

	need_nvrtc();
	if (!judge(a->id, a->source, &problems))
		fail_msg("%s: nothing was found", a->id);
	if (!strstr(problems.s, a->part))
		fail_msg("%s: %s", a->id, problems.s);
	pm_str_release(&problems);
}

/* What cuda_fp16.h and cuda_bf16.h write in assembler, for one number and for two. */
#define HALF1(H)                                                                                             \
	"extern \"C\" __global__ void k(const " #H " *x, " #H " *y, int n)\n{ " #H " v = *x, r = v; "        \
	"r += hcos(v); r += hsin(v); r += hexp(v); r += hexp2(v); r += hexp10(v); r += hlog(v); "            \
	"r += hlog2(v); r += hlog10(v); r += hrcp(v); r += hsqrt(v); r += hrsqrt(v); r += hceil(v); "        \
	"r += hfloor(v); r += htrunc(v); r += hrint(v); r += htanh(v); r += __hfma_relu(v, r, v); "          \
	"r += __hfma_sat(v, r, v); r += __hmax_nan(v, r); r += __habs(v); r += __hdiv(v, r); "               \
	"r += __shfl_xor_sync(~0u, v, 1); r += __ldcs(x); atomicAdd(y + n, r); *y = r; }"
#define HALF2(H)                                                                                             \
	"extern \"C\" __global__ void k(const " #H " *x, " #H " *y, int n)\n{ " #H " v = *x, r = v; "        \
	"r = r + h2cos(v); r = r + h2sin(v); r = r + h2exp(v); r = r + h2exp2(v); r = r + h2exp10(v); "      \
	"r = r + h2log(v); r = r + h2log2(v); r = r + h2log10(v); r = r + h2rcp(v); r = r + h2sqrt(v); "     \
	"r = r + h2rsqrt(v); r = r + h2ceil(v); r = r + h2floor(v); r = r + h2trunc(v); r = r + h2rint(v); " \
	"r = r + h2tanh(v); r = r + __hfma2_relu(v, r, v); r = r + __hcmadd(v, r, v); "                      \
	"r = r + __hmax2_nan(v, r); r = r + __h2div(v, r); r = r + __heq2(v, r); r = r + __hgtu2(v, r); "    \
	"r = r + __shfl_down_sync(~0u, v, __hgt2_mask(v, r) & 7); if (__hbequ2(v, r)) r = -v; "              \
	"atomicAdd(y + n, r); *y = r; }"

static void honest_kernels_pass(void **state)
{
	/* clang-format off */
	static const char *const honest[] = {
		KERNEL "{ " BODY "}",
		/* tensor cores */
		KERNEL "{ float c[4] = { 0, 0, 0, 0 }; const unsigned a[4] = { 1, 2, 3, 4 }, b[2] = { 5, (unsigned)n }; "
		       "pm_mma_16816<__half>(c, a, b); pm_mma_16816<__nv_bfloat16>(c, a, b); " BODY " y[0] = st(c[0]); }",
		"__constant__ float table[4] = { 1, 2, 3, 4 };\n" KERNEL
		"{ int i = threadIdx.x; if (i < n) y[i] = (T)((float)x[i] * table[i & 3]); }",
		KERNEL "{ __shared__ float s[256]; extern __shared__ float dyn[]; int i = threadIdx.x; s[i] "
		       "= (float)x[i]; dyn[i] = 1; "
		       "__syncthreads(); y[i] = (T)(s[255 - i] + dyn[i]); }",
		KERNEL "{ float v = (float)x[threadIdx.x]; for (int o = 16; o; o >>= 1) v += "
		       "__shfl_xor_sync(~0u, v, o); "
		       "if (__any_sync(~0u, v > 0)) y[0] = (T)v; }",
		"__device__ __noinline__ float f(float a) { return a * a; }\n" KERNEL
		"{ y[0] = (T)f((float)x[0]); }",
		KERNEL
		"{ float a[64]; for (int i = 0; i < 64; i++) a[i] = (float)x[i]; y[0] = (T)a[n & 63]; }",
		KERNEL "{ switch (n & 15) { case 0: y[0] = 1; break; case 1: y[1] = 2; break; case 2: y[2] = "
		       "9; break; case 3: y[7] = 4; "
		       "break; case 4: y[4] = 3; break; case 9: y[11] = 2; break; default: y[5] = 6; } }",
		KERNEL "{ y[0] = (T)(expf((float)x[0]) + tanhf((float)x[1]) + sinf((float)x[2]) + "
		       "erff((float)x[3]) + powf((float)x[4], 1.7f)); }",
		KERNEL "{ atomicExch((int *)y, n); atomicCAS((int *)y + 1, 0, n); }",
		KERNEL "{ asm volatile(\"{ .reg .b32 %t; mov.b32 %t, 1; add.u32 %0, %t, %1; }\" : \"=r\"(n) "
		       ": \"r\"(n)); y[0] = (T)(float)n; }",
		"#include <mma.h>\n" KERNEL "{ using namespace nvcuda; wmma::fragment<wmma::matrix_a, 16, "
					    "16, 16, __half, wmma::row_major> a; "
		"wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b; "
		"wmma::fragment<wmma::accumulator, 16, 16, 16, "
		"float> c; wmma::fill_fragment(c, 0.f); wmma::load_matrix_sync(a, (const __half *)x, 16); "
		"wmma::load_matrix_sync(b, "
		"(const __half *)x + 256, 16); wmma::mma_sync(c, a, b, c); wmma::store_matrix_sync((float "
		"*)y, c, 16, "
		"wmma::mem_row_major); }",
		HALF1(__half), HALF1(__nv_bfloat16), HALF2(__half2), HALF2(__nv_bfloat162),
	};
	/* clang-format on */
	PmStr problems = PM_STR_INIT;

	(void)state;
	need_nvrtc();
	for (size_t i = 0; i < sizeof honest / sizeof *honest; i++)
		if (judge("honest", honest[i], &problems))
			fail_msg("honest kernel %zu: %s", i, problems.s);
	pm_str_release(&problems);
}

/* ---- texts, for machines without NVRTC ---- */

#define USES(name) ".visible .entry k() { .reg .b64 %rd<3>; mov.u64 %rd1, " name "; ret; }\n"
#define HEAD       ".version 8.0\n.target sm_90\n.address_size 64\n"

static int judge_text(const char *text, PmStr *problems)
{
	pm_str_clear(problems);
	return pm_ptx_gate(text, strlen(text), entry, 1, problems);
}

static void texts_are_read_whole(void **state)
{
	static const struct {
		const char *text, *part; /* part NULL: accepted */
	} cases[] = {
		{ HEAD ".visible .entry k(.param .u64 a)\n.maxntid 256, 1, 1\n{ .reg .b32 %r<3>; mov.u32 "
		       "%r1, %tid.x; @%p1 bra L; L: "
		       "ret; }\n",
		  "%p1" },
		{ HEAD ".visible .entry k(.param .u64 a) { .reg .b32 %r<3>; mov.u32 %r1, %tid.x; ret; }\n",
		  NULL },
		{ HEAD ".visible .entry k() { .reg .b32 %r<3>; mov.u32 %r2, %r9; ret; }\n", "%r9" },
		{ HEAD ".visible .entry k() { .reg .b32 %r<3>; mov.u32 %r2, %r01; ret; }\n", "%r01" },
		{ HEAD ".visible .entry k() { .reg .b32 %r<12>; mov.u32 %r11, %r0; ret; }\n", NULL },
		{ HEAD ".visible .entry k() { { .reg .b32 %clock; mov.u32 %clock, 1; } ret; }\n", NULL },
		{ HEAD ".visible .entry k() { {.reg.b16 h, C;\n .reg.b32 f; mov.b32 f, 1; mov.b16 C, h; } "
		       "ret; }\n",
		  NULL },
		{ HEAD ".visible .entry k() { { .reg.b32 f; } mov.b32 f, 1; ret; }\n", "declared nowhere" },
		{ HEAD ".visible .entry k() { .reg.b64 %rd<2>; mov.u64 %rd1, %clock64; ret; }\n",
		  "%clock64" },
		{ HEAD ".visible .entry k() { .reg.b32 %r<2>; mov.u32 %r1, %r7; ret; }\n", "%r7" },
		{ HEAD ".visible .entry k() { .regular.b32 %r<2>; ret; }\n", ".regular.b32" },
		{ HEAD ".visible .entry k() { .param.b32 p; ret; }\n", ".param.b32" },
		{ HEAD ".visible .entry k() { .reg .b32 %r<2>; { .reg .b32 %clock; } mov.u32 %r0, %clock; "
		       "ret; }\n",
		  "%clock" },
#define PARAMS                                                                                               \
	HEAD ".visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[24]) { .reg "     \
	     ".b64 "                                                                                         \
	     "%r<4>; "
		{ PARAMS "ld.param.u64 %r1, [a]; ld.param.u64 %r1, [b+16]; ret; }", NULL },
		{ PARAMS "ld.param.v2.u64 {%r1, %r2}, [b+8]; ret; }", NULL },
		{ PARAMS "ld.param.v2.u64 {%r1, %r2}, [b+16]; ret; }", "It uses b" },
		{ PARAMS "ld.param.u8 %r1, [b+24]; ret; }", "It uses b" },
		{ PARAMS "ld.param.u64 %r1, [a+-8]; ret; }", "It uses a" },
		{ PARAMS "ld.param.u64 %r1, [b+0x20]; ret; }", "It uses b" },
		{ PARAMS "ld.param.u64 %r1, [b+(8)]; ret; }", "cannot be read" },
		{ PARAMS "mov.b64 %r1, a; ret; }", "It uses a" },
#undef PARAMS
		{ HEAD ".visible .entry k() { .reg .b32 %clock<3>; mov.u32 %clock1, 0; mov.u32 %clock1, "
		       "%clock; ret; }\n",
		  "%clock" },
		{ HEAD ".visible .entry k() { ret; } .visible .global .u32 g;\n", "global memory" },
		{ HEAD ".visible .entry k() { ret; } /* open", "cannot be read" },
		{ HEAD ".visible .entry k() { ret; ", "no end" },
		{ HEAD ".visible .entry k() { /* trap; */ ret; // trap;\n }\n", NULL },
		{ HEAD
		  ".extern .func (.param .b32 r) vprintf (.param .b64 a);\n.visible .entry k() { ret; }\n",
		  "vprintf" },
		{ HEAD ".common .global .u32 x;\n", ".common" },
		{ HEAD ".const .align 4 .b8 t[20000];\n", "constants" },
		{ HEAD ".alias f, g;\n", ".alias" },
		{ HEAD ".visible .entry k() { .reg .b64 %rd<3>; call.uni %rd1, (), proto; ret; }\n",
		  "calls" },
		{ HEAD ".visible .entry k() { call.uni f, (); ret; }\n", "calls f" },
		{ HEAD ".func f() { ret; } .visible .entry k() { call.uni f, (); ret; }\n", NULL },
		{ HEAD ".visible .entry k() { .reg .b32 %r<3>; ld.global.u32 %r1, [%rd1]; ret; }\n", "%rd1" },
		{ HEAD "\x01\n", "cannot be read" },
		{ HEAD ".global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144};\n" USES("__cudart_i2opi_f"),
		  "global memory" },
		{ HEAD ".global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144, 67, 60, 153, 149, 98, 219, "
		       "192, 221, "
		       "52, 245, 209, 87, 39, 252, 41, 21, 68, 78, 110, 131, 249, 162};\n" USES(
			       "__cudart_i2opi_f"),
		  NULL },
		{ HEAD ".global .align 4 .b8 __cudart_i2opi_f[24];\n" USES("__cudart_i2opi_f"),
		  "global memory" },
		{ HEAD ".visible .global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144};\n", "global memory" },
		{ HEAD ".global .align 4 .b8 __cudart_i2opi_f[48] = {65, 144};\n" USES("__cudart_i2opi_f"),
		  "global memory" },
		{ HEAD ".global .align 1 .u8 nobody;\n", NULL },
		{ HEAD ".global .align 1 .u8 a = 1;\n" USES("a"), "global memory" },
		{ HEAD ".global .align 1 .u8 a;\n" USES("a+4"), "global memory" },
		{ HEAD USES("late") ".global .align 1 .u8 late[8];\n", "global memory" },
		{ "", NULL },
	};
	PmStr problems = PM_STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int n = judge_text(cases[i].text, &problems);

		if ((n > 0) != (cases[i].part != NULL) || (n && !strstr(problems.s, cases[i].part)))
			fail_msg("text %zu: %d problems: %s", i, n, problems.s);
	}
	pm_str_release(&problems);
}

enum { N = sizeof attacks / sizeof *attacks };

int main(void)
{
	struct CMUnitTest tests[N + 2];

	memset(tests, 0, sizeof tests);
	for (size_t i = 0; i < N; i++) {
		tests[i].name = attacks[i].id;
		tests[i].test_func = attack;
		tests[i].initial_state = (void *)(uintptr_t)&attacks[i];
	}
	tests[N] = (struct CMUnitTest)cmocka_unit_test(honest_kernels_pass);
	tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(texts_are_read_whole);
	return _cmocka_run_group_tests("ptx", tests, N + 2, NULL, NULL);
}
