/* SPDX-License-Identifier: Apache-2.0 */
/* test_ptx_address.c - kernels that reach, by arithmetic on addresses, what is not theirs: the second siege's
 * attacks on the PTX gate and their relatives, and honest kernels that come close to them. */
#include "integrity/ptx/ptx_gate.h"
#include "runtime/cuda/nvrtc/nvrtc.h"
#include "tests/lib/need.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { CC = 90 };

#define KERNEL "extern \"C\" __global__ void k(const T *x, T *y, int n)\n"
#define BODY   "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) y[i] = x[i];\n"
/* A kernel that reads `t` by a line of PTX and lets the result depend on it. */
#define READS(ptx)                                                                                           \
	KERNEL "{ unsigned t; asm volatile(\"" ptx                                                           \
	       "\" : \"=r\"(t) : \"r\"(n), \"l\"(x)); if (t & 1) return; " BODY "}"
#define TABLE                                                                                                \
	"extern \"C\" { static __device__ __align__(4) unsigned char __cudart_i2opi_f[24] = {65, 144, 67, "  \
	"60, 153, "                                                                                          \
	"149, 98, 219, 192, 221, 52, 245, 209, 87, 39, 252, 41, 21, 68, 78, 110, 131, 249, 162}; }\n"
#define CONSTANTS "__constant__ unsigned table[16] = { 1, 2, 3, 4 };\n"

typedef struct Attack {
	const char *id, *source, *part;
} Attack;

/* clang-format off */
static const Attack attacks[] = {
	{ "S70_parameters_by_register", READS("{ .reg .b64 p; mov.b64 p, 0; ld.param.u32 %0, [p+64]; }"), "as an address of parameters" },
	{ "S70b_of_the_entry", READS("{ .reg .b64 p; mov.b64 p, 0; ld.param::entry.u32 %0, [p+64]; }"), "ld.param::entry" },
	{ "S70c_by_number", READS("ld.param.u32 %0, [16];"), "uses the number 16 as an address" },
	{ "S70d_generic_address_of_a_parameter",
	  READS("{ .reg .b64 p; mov.b64 p, k_param_0; cvta.param.u64 p, p; ld.u32 %0, [p+256]; }"), "cvta.param" },
	{ "S70e_added_to_a_parameter", READS("{ .reg .b64 p; add.u64 p, k_param_2, 64; ld.param.u32 %0, [p]; }"), "k_param_2" },
	{ "S70f_named_like_a_register",
	  READS("{ .reg .b64 k_param_1; mov.b64 k_param_1, 512; ld.param.u32 %0, [k_param_1]; }"), "a register and a variable" },
	{ "S71_beyond_a_table",
	  TABLE KERNEL "{ volatile unsigned *p = (volatile unsigned *)__cudart_i2opi_f; asm volatile(\"\" : \"+l\"(p)); "
	  "unsigned seen = p[4096]; p[4096] = seen + 1; if (threadIdx.x == 0) y[0] = (T)(float)seen; " BODY "}", "table of the compiler" },
	{ "S71b_table_by_an_unbounded_index",
	  TABLE KERNEL "{ if (__cudart_i2opi_f[n] == 7) return; " BODY "}", "not proved to stay inside __cudart_i2opi_f" },
	{ "S71c_address_of_a_table_stored",
	  TABLE KERNEL "{ ((const void **)y)[0] = __cudart_i2opi_f; " BODY "}", "table of the compiler" },
	{ "S71d_table_written", TABLE KERNEL "{ __cudart_i2opi_f[n & 7]++; " BODY "}", "read only" },
	{ "S71e_table_counted_in", TABLE KERNEL "{ if (atomicAdd((int *)__cudart_i2opi_f, 1) > 9) return; " BODY "}", "writes" },
	{ "S71f_table_with_other_values",
	  "extern \"C\" { static __device__ __align__(4) unsigned char __cudart_i2opi_f[24] = {1, 2, 3}; }\n"
	  KERNEL "{ if (__cudart_i2opi_f[n & 7] == 7) return; " BODY "}", "global memory" },
	{ "S71g_generic_address_of_a_table",
	  TABLE KERNEL "{ unsigned t; asm volatile(\"{ .reg .b64 p; mov.u64 p, __cudart_i2opi_f; cvta.global.u64 p, p; "
	  "ld.u32 %0, [p]; }\" : \"=r\"(t)); if (t + __cudart_i2opi_f[n & 7] == 7) return; " BODY "}", "cvta.global.u64 uses p" },
	{ "S71h_table_through_shared_memory",
	  TABLE KERNEL "{ __shared__ unsigned *p[2]; p[threadIdx.x & 1] = (unsigned *)__cudart_i2opi_f; __syncthreads(); "
	  "p[n & 1][4000] = 1; " BODY "}", "table of the compiler" },
	{ "S72_address_of_the_kernel",
	  KERNEL "{ unsigned long long p; asm volatile(\"mov.u64 %0, k;\" : \"=l\"(p)); unsigned v = *(volatile unsigned *)p; "
	  "if (v & 1) return; " BODY "}", "takes the address of function k" },
	{ "S72b_address_of_a_function_in_a_constant",
	  "typedef int (*F)(int); __device__ __noinline__ int one(int a) { return a + 1; }\n__constant__ F table[2] = { one, one };\n"
	  KERNEL "{ const int *p = (const int *)table[n & 1]; if (p[3] == 77) return; " BODY "}", "has an address in it" },
	{ "S72c_address_of_a_function",
	  "__device__ __noinline__ int one(int a) { return a + 1; }\n"
	  KERNEL "{ int (*f)(int) = one; const int *p; asm volatile(\"mov.u64 %0, %1;\" : \"=l\"(p) : \"l\"(f)); if (p[n] == 77) return; "
	  BODY "}", "takes the address of function" },
	{ "S73_local_number", READS("ld.local.u32 %0, [64];"), "uses the number 64 as an address" },
	{ "S73b_local_register", READS("{ .reg .b64 p; mov.b64 p, 64; ld.local.u32 %0, [p]; }"), "comes from no local variable" },
	{ "S73c_beyond_a_frame", READS("{ .local .align 4 .b8 f[16]; st.local.u32 [f], %1; ld.local.u32 %0, [f+16]; }"), "beyond f" },
	{ "S73d_beyond_a_frame_by_register",
	  READS("{ .local .align 4 .b8 f[16]; .reg .b64 p; mov.u64 p, f; add.u64 p, p, 64; ld.local.u32 %0, [p]; }"), "beyond its local frame" },
	{ "S73e_before_a_frame",
	  READS("{ .local .align 4 .b8 f[16]; .reg .b64 p; mov.u64 p, f; sub.u64 p, p, 32; st.local.u32 [p+4], %1; mov.u32 %0, 0; }"),
	  "beyond its local frame" },
	{ "S73f_generic_of_a_number", READS("{ .reg .b64 p; mov.b64 p, 8; cvta.local.u64 p, p; ld.u32 %0, [p]; }"), "comes from no argument" },
	{ "S74_constant_bank_by_number", READS("{ .reg .b64 p; mov.b64 p, 0x10000; ld.const.u32 %0, [p+0x200]; }"), "comes from no constant" },
	{ "S74b_constant_by_number", READS("ld.const.u32 %0, [512];"), "as an address" },
	{ "S74c_constant_by_an_unbounded_index", CONSTANTS KERNEL "{ if (table[n] == 7) return; " BODY "}", "not proved to stay inside table" },
	{ "S74d_beyond_a_constant", CONSTANTS KERNEL "{ if (*(const volatile unsigned *)&table[16] == 7) return; " BODY "}", "beyond" },
	{ "S74e_constant_by_an_argument", READS("ld.const.u32 %0, [%2];"), "comes from no constant" },
	{ "S74f_address_of_a_constant_stored", CONSTANTS KERNEL "{ ((const void **)y)[0] = table; " BODY "}", "constants are read" },
	{ "S75_wait_with_a_time_limit",
	  READS("{ .shared .align 8 .b64 bar; .reg .pred q; mbarrier.init.shared.b64 [bar], 1; "
	        "mbarrier.try_wait.parity.shared.b64 q, [bar], 0, 100000; selp.u32 %0, 1, 0, q; }"), "mbarrier.test_wait in a loop" },
	{ "S75b_time_limit_in_a_register",
	  READS("{ .shared .align 8 .b64 bar; .reg .pred q; mbarrier.init.shared.b64 [bar], 1; "
	        "mbarrier.try_wait.parity.shared::cta.b64 q, [bar], 0, %1; selp.u32 %0, 1, 0, q; }"), "mbarrier.try_wait" },
	{ "S75c_time_limit_of_the_system",
	  READS("{ .shared .align 8 .b64 bar; .reg .pred q; mbarrier.init.shared.b64 [bar], 1; "
	        "mbarrier.try_wait.parity.shared.b64 q, [bar], 0; selp.u32 %0, 1, 0, q; }"), "mbarrier.try_wait" },
	{ "S75d_nanosleep", KERNEL "{ __nanosleep(1000); " BODY "}", "a kernel has no clock" },
	{ "S76_jump_table",
	  READS("{ ts: .branchtargets l0, l1; brx.idx %1, ts; l0: mov.u32 %0, 1; bra out; l1: mov.u32 %0, 2; out: }"), "brx.idx" },
	{ "S76b_address_of_a_label", READS("{ here: mov.u32 %0, here; }"), "here" },
	{ "S77_shared_by_number", READS("ld.shared.u32 %0, [0];"), "as an address" },
	{ "S77b_shared_by_an_argument", READS("ld.shared.u32 %0, [%1];"), "comes from no variable in shared memory" },
	{ "S78_global_by_number", READS("{ .reg .b64 p; mov.b64 p, 0x7f0000000000; ld.global.u32 %0, [p]; }"), "comes from no argument" },
	{ "S78b_pointer_from_memory", READS("{ .reg .b64 p; ld.global.u64 p, [%2]; ld.global.u32 %0, [p]; }"), "comes from no argument" },
	{ "S78c_generic_from_a_position",
	  READS("{ .reg .b64 p; .reg .b32 q; mov.u32 q, %%tid.x; mul.wide.u32 p, q, 65536; ld.u32 %0, [p]; }"), "comes from no argument" },
	{ "S79_not_on_the_list", READS("getctarank.shared::cluster.u32 %0, %1;"), "not on the list" },
	{ "S79b_another_blocks_memory",
	  READS("{ .shared .align 4 .b32 s; .reg .b32 p; mov.u32 p, s; mapa.shared::cluster.u32 p, p, 1; ld.shared::cluster.u32 %0, [p]; }"), "mapa" },
	{ "S79c_copy_of_unknown_size",
	  READS("{ .shared .align 16 .b8 s[64]; .shared .align 8 .b64 bar; "
	        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%2], %1, [bar]; mov.u32 %0, 0; }"), "cp.async.bulk" },
};
/* clang-format on */

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
static int judge(const char *id, const char *source, int cc, PmStr *problems)
{
	PmSource s = { id, source, PM_F32 };
	PmStr ptx = PM_STR_INIT;
	int n;
	PmErr err;

	pm_err_init(&err);
	if (pm_nvrtc_ptx(&s, cc, &ptx, &err))
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
	if (!judge(a->id, a->source, CC, &problems))
		fail_msg("%s: nothing was found", a->id);
	if (!strstr(problems.s, a->part))
		fail_msg("%s: %s", a->id, problems.s);
	pm_str_release(&problems);
}

/* What the compiler makes of large arguments, of tables and of local arrays is proved, not waved through. */
static void honest_addresses_pass(void **state)
{
	/* clang-format off */
	static const char *const honest[] = {
		KERNEL "{ y[0] = (T)(sinf((float)x[0]) + cosf((float)x[1]) + tanf((float)x[2])); }",
		KERNEL "{ float s, c; sincosf((float)x[n], &s, &c); y[0] = (T)(s + c); }",
		KERNEL "{ y[0] = (T)(sin((double)(float)x[0]) + cos((double)(float)x[1]) + tan((double)(float)x[2])); }",
		KERNEL "{ y[0] = (T)(powf((float)x[0], (float)x[1]) + lgammaf((float)x[2]) + tgammaf((float)x[3]) + erfinvf((float)x[4])); }",
		KERNEL "{ y[0] = (T)(float)(pow((double)n, 1.7) + lgamma((double)n) + erfc((double)n) + cbrt((double)n) + j0((double)n)); }",
		CONSTANTS KERNEL "{ y[0] = (T)(float)(table[n & 15] + table[3]); }",
		CONSTANTS KERNEL "{ unsigned s = 0;\n#pragma unroll 1\nfor (int j = 0; j < 16; j++) s += table[j] * (unsigned)(float)x[j]; y[0] = (T)(float)s; }",
		CONSTANTS KERNEL "{ if (n >= 0 && n < 16) y[0] = (T)(float)table[n]; }",
		CONSTANTS KERNEL "{ unsigned j = threadIdx.x; y[j] = (T)(float)(table[min(j, 15u)] + table[j % 16] + table[j >> 6]); }",
		CONSTANTS KERNEL "{ y[0] = (T)(float)table[(unsigned char)n >> 4]; }",
		KERNEL "{ float a[64]; for (int j = 0; j < 64; j++) a[j] = (float)x[j]; y[0] = (T)a[n]; }",
		"struct S { float v[8]; };\n__device__ __noinline__ float one(S *s, int j) { s->v[j] += 1; return s->v[j + 1]; }\n"
		KERNEL "{ S s; for (int j = 0; j < 8; j++) s.v[j] = (float)x[j]; y[0] = (T)(one(&s, n) + s.v[n & 7]); }",
		KERNEL "{ __shared__ float a[64], b[64]; float *p = n & 1 ? a : b; p[threadIdx.x] = (float)x[threadIdx.x]; __syncthreads(); "
		"y[threadIdx.x] = (T)p[63 - threadIdx.x]; }",
		KERNEL "{ __shared__ float *q[2]; __shared__ float a[64]; q[threadIdx.x & 1] = a + threadIdx.x; __syncthreads(); y[0] = (T)*q[n & 1]; }",
		KERNEL "{ extern __shared__ float d[]; unsigned a = (unsigned)__cvta_generic_to_shared(d + threadIdx.x * 4); "
		"asm volatile(\"cp.async.ca.shared.global [%0], [%1], 16;\" :: \"r\"(a), \"l\"(x + threadIdx.x * 4)); "
		"asm volatile(\"cp.async.commit_group; cp.async.wait_group 0;\"); __syncthreads(); y[threadIdx.x] = (T)d[threadIdx.x]; }",
		KERNEL "{ __shared__ __align__(16) unsigned short s[1024]; unsigned a = (unsigned)__cvta_generic_to_shared(s + threadIdx.x * 8), r[4]; "
		"s[threadIdx.x] = (unsigned short)n; __syncthreads(); "
		"asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\" : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : \"r\"(a)); "
		"y[0] = (T)(float)(r[0] + r[3]); }",
		KERNEL "{ __shared__ unsigned long long bar; unsigned a = (unsigned)__cvta_generic_to_shared(&bar), done = 0; "
		"if (!threadIdx.x) asm volatile(\"mbarrier.init.shared.b64 [%0], 1;\" :: \"r\"(a)); __syncthreads(); "
		"if (!threadIdx.x) asm volatile(\"{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }\" :: \"r\"(a)); "
		"while (!done) asm volatile(\"{ .reg .pred q; mbarrier.test_wait.parity.shared.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }\" : \"=r\"(done) : \"r\"(a)); "
		"y[0] = x[n]; }",
		KERNEL "{ unsigned v = (unsigned)(float)x[threadIdx.x]; v = __reduce_add_sync(~0u, v) + __match_any_sync(~0u, v) + __ballot_sync(~0u, v & 1) + "
		"__byte_perm(v, n, 0x3210) + __dp4a(v, (unsigned)n, v) + __vabsdiffu4(v, n) + __brev(v) + __ffs(v) + __funnelshift_l(v, n, 3) + __popc(v) + "
		"__shfl_sync(~0u, v, 3, 16); atomicAdd((unsigned *)y, v); }",
		KERNEL "{ __threadfence(); atomicMax((int *)y, n); atomicAdd((double *)y + 1, 1.0); atomicAdd((__half2 *)y + 4, __half2()); __syncwarp(); "
		"if (__syncthreads_or(n)) y[9] = x[0]; }",
		KERNEL "{ volatile float *v = (volatile float *)y; v[threadIdx.x] = v[threadIdx.x + 32]; y[0] = __ldg(x + n); __stcs((float *)y + 7, __ldcs((const float *)x)); }",
		KERNEL "{ switch (n) { case 0: y[0] = 1; break; case 1: y[1] = x[3]; break; case 2: y[2] = x[n]; break; case 3: y[7] = x[1]; break; "
		"case 4: y[4] = x[6]; break; case 5: y[11] = x[2]; break; case 6: y[3] = x[9]; break; case 7: y[8] = x[8]; break; default: y[5] = 6; } }",
	};
	/* clang-format on */
	PmStr problems = PM_STR_INIT;

	(void)state;
	need_nvrtc();
	for (size_t i = 0; i < sizeof honest / sizeof *honest; i++)
		for (int cc = 80; cc <= 90; cc += 10)
			if (judge("honest", honest[i], cc, &problems))
				fail_msg("honest kernel %zu, sm_%d: %s", i, cc, problems.s);
	pm_str_release(&problems);
}

/* ---- texts: what the analysis may take for proved, and what not ---- */

#define HEAD                                                                                                 \
	".version 8.0\n.target sm_90\n.address_size 64\n.const .align 4 .b8 t[64];\n"                        \
	".visible .entry k(.param .u64 a, .param .u32 n) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 "    \
	"%q<9>;\n"
#define READ "ld.const.u32 %r8, [%q2]; ret; }\n"
#define LOOP(from, grow, until)                                                                              \
	"mov.u32 %r1, " from "; mov.u64 %q2, t; L: ld.const.u32 %r8, [%q2]; add.s64 %q2, %q2, 4; " grow      \
	" setp." until "; @%p1 bra L; ret; }\n"

static void only_what_is_proved_is_read(void **state)
{
	static const struct {
		const char *text, *part; /* part NULL: accepted */
	} cases[] = {
		{ HEAD "mov.u64 %q1, t; add.s64 %q2, %q1, 60; " READ, NULL },
		{ HEAD "mov.u64 %q1, t; add.s64 %q2, %q1, 61; " READ, "not proved" },
		{ HEAD "mov.u64 %q1, t; sub.s64 %q2, %q1, 4; " READ, "not proved" },
		{ HEAD "mov.u64 %q2, t+60; " READ, NULL },
		{ HEAD "mov.u64 %q2, t+64; " READ, "not proved" },
		{ HEAD
		  "ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 15; mul.wide.u32 %q1, %r2, 4; mov.u64 %q3, t; "
		  "add.s64 %q2, %q3, %q1; " READ,
		  NULL },
		{ HEAD
		  "ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 16; mul.wide.u32 %q1, %r2, 4; mov.u64 %q3, t; "
		  "add.s64 %q2, %q3, %q1; " READ,
		  "not proved" },
		{ HEAD
		  "ld.param.u32 %r1, [n]; rem.s32 %r2, %r1, 16; mul.wide.s32 %q1, %r2, 4; mov.u64 %q3, t; "
		  "add.s64 %q2, %q3, %q1; " READ,
		  "not proved" }, /* it may be negative */
		{ HEAD
		  "ld.param.u32 %r1, [n]; shr.b32 %r2, %r1, 28; mul.wide.u32 %q1, %r2, 4; mov.u64 %q3, t; "
		  "add.s64 %q2, %q3, %q1; " READ,
		  NULL },
		{ HEAD
		  "ld.param.u32 %r1, [n]; shr.s32 %r2, %r1, 28; mul.wide.s32 %q1, %r2, 4; mov.u64 %q3, t; "
		  "add.s64 %q2, %q3, %q1; " READ,
		  "not proved" },
		/* 15 + 2^32 - 1 is 14 in 32 bits, not in 64 */
		{ HEAD "ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 15; add.s32 %r3, %r2, -1; mul.wide.u32 %q1, "
		       "%r3, 4; "
		       "mov.u64 %q3, t; add.s64 %q2, %q3, %q1; " READ,
		  "not proved" },
		/* a mask that another path leaves out */
		{ HEAD "ld.param.u32 %r1, [n]; setp.eq.s32 %p1, %r1, 7; @%p1 bra L; and.b32 %r2, %r1, 15; L: "
		       "mul.wide.u32 %q1, %r2, 4; mov.u64 %q3, t; add.s64 %q2, %q3, %q1; " READ,
		  "not proved" },
		{ HEAD "ld.param.u32 %r1, [n]; setp.eq.s32 %p1, %r1, 7; @%p1 and.b32 %r2, %r1, 15; "
		       "mul.wide.u32 %q1, %r2, 4; mov.u64 %q3, t; add.s64 %q2, %q3, %q1; " READ,
		  "not proved" },
		/* conditions */
		{ HEAD
		  "ld.param.u32 %r1, [n]; setp.gt.u32 %p1, %r1, 15; @%p1 bra L; mul.wide.u32 %q1, %r1, 4; "
		  "mov.u64 %q3, t; add.s64 %q2, %q3, %q1; ld.const.u32 %r8, [%q2]; L: ret; }\n",
		  NULL },
		{ HEAD
		  "ld.param.u32 %r1, [n]; setp.gt.s32 %p1, %r1, 15; @%p1 bra L; mul.wide.u32 %q1, %r1, 4; "
		  "mov.u64 %q3, t; add.s64 %q2, %q3, %q1; ld.const.u32 %r8, [%q2]; L: ret; }\n",
		  "not proved" },
		{ HEAD
		  "ld.param.u32 %r1, [n]; setp.gt.u32 %p1, %r1, 15; @!%p1 bra L; mul.wide.u32 %q1, %r1, 4; "
		  "mov.u64 %q3, t; add.s64 %q2, %q3, %q1; ld.const.u32 %r8, [%q2]; L: ret; }\n",
		  "not proved" },
		/* a jump behind the condition */
		{ HEAD "ld.param.u32 %r1, [n]; setp.eq.s32 %p2, %r1, 99; @%p2 bra M; setp.gt.u32 %p1, %r1, "
		       "15; @%p1 bra L; "
		       "M: mul.wide.u32 %q1, %r1, 4; mov.u64 %q3, t; add.s64 %q2, %q3, %q1; ld.const.u32 "
		       "%r8, [%q2]; L: ret; }\n",
		  "not proved" },
		/* counted loops */
		{ HEAD LOOP("0", "add.s32 %r1, %r1, 1;", "ne.s32 %p1, %r1, 16"), NULL },
		{ HEAD LOOP("0", "add.s32 %r1, %r1, 1;", "ne.s32 %p1, %r1, 17"), "not proved" },
		{ HEAD LOOP("0", "add.s32 %r1, %r1, 1;", "lt.s32 %p1, %r1, 16"), NULL },
		{ HEAD LOOP("0", "add.s32 %r1, %r1, 3;", "ne.s32 %p1, %r1, 16"), "not proved" },
		{ HEAD LOOP("17", "add.s32 %r1, %r1, 1;", "ne.s32 %p1, %r1, 16"), "not proved" },
		{ HEAD LOOP("0", "@%p2 add.s32 %r1, %r1, 1;", "ne.s32 %p1, %r1, 16"), "not proved" },
		{ HEAD LOOP("0", "add.s32 %r1, %r1, 1;", "ge.s32 %p1, %r1, 16"), "not proved" },
		{ HEAD LOOP("0", "add.s32 %r1, %r1, 1;", "lt.u32 %p1, %r1, -1"), "not proved" },
		/* gone through once more without beginning anew */
		{ HEAD "mov.u32 %r1, 0; mov.u64 %q2, t; L: ld.const.u32 %r8, [%q2]; add.s64 %q2, %q2, 4; "
		       "add.s32 %r1, %r1, 1; "
		       "setp.ne.s32 %p1, %r1, 16; @%p1 bra L; @%p2 bra L; ret; }\n",
		  "not proved" },
		{ HEAD "mov.u32 %r1, 0; mov.u64 %q2, t; L: ld.const.u32 %r8, [%q2]; M: add.s64 %q2, %q2, 4; "
		       "add.s32 %r1, %r1, 1; "
		       "setp.ne.s32 %p1, %r1, 16; @%p1 bra L; @%p2 bra M; ret; }\n",
		  "not proved" },
		/* the counter is set anew, the pointer is not */
		{ HEAD "mov.u64 %q2, t; K: mov.u32 %r1, 0; L: ld.const.u32 %r8, [%q2]; add.s64 %q2, %q2, 4; "
		       "add.s32 %r1, %r1, 1; "
		       "setp.ne.s32 %p1, %r1, 16; @%p1 bra L; @%p2 bra K; ret; }\n",
		  "not proved" },
		/* addresses by the union of two */
		{ HEAD "mov.u64 %q2, t; @%p1 bra L; ld.param.u64 %q2, [a]; L: " READ, "not proved" },
		{ HEAD "mov.u64 %q1, t; ld.param.u64 %q3, [a]; selp.b64 %q2, %q1, %q3, %p1; ld.global.u32 "
		       "%r8, [%q2]; ret; }\n",
		  "not proved" },
		{ HEAD "mov.u64 %q1, t; mov.b64 {%r1, %r2}, %q1; mov.b64 %q2, {%r1, %r2}; " READ,
		  "not proved" },
		{ HEAD "mov.u64 %q1, t; xor.b64 %q2, %q1, 4; " READ, "xor.b64 uses %q1" },
		{ HEAD "L: mov.u64 %q2, t; L: " READ,
		  NULL }, /* no branch: which label is meant is no matter */
	};
	PmStr problems = PM_STR_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		int n;

		pm_str_clear(&problems);
		n = pm_ptx_gate(cases[i].text, strlen(cases[i].text), entry, 1, &problems);
		if ((n > 0) != (cases[i].part != NULL) || (n && !strstr(problems.s, cases[i].part)))
			fail_msg("text %zu: %d problems: %s", i, n, problems.s);
	}
	pm_str_release(&problems);
}

/* A chain of copies backwards, as long as fits: the analysis ends, and soon. */
static void tangled_values_end(void **state)
{
	PmStr text = PM_STR_INIT, problems = PM_STR_INIT;

	(void)state;
	pm_str_add(
		&text,
		".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) { .reg .b64 "
		"%q<20001>; .reg .b32 %r<2>;\n");
	for (int i = 0; i < 20000; i++)
		pm_str_addf(&text, "mov.u64 %%q%d, %%q%d;\n", i, i + 1);
	pm_str_add(&text, "ld.param.u64 %q20000, [a];\nld.global.u32 %r1, [%q0];\nret;\n}\n");
	assert_true(pm_ptx_gate(text.s, text.len, entry, 1, &problems) > 0);
	assert_non_null(strstr(problems.s, "cannot be followed"));
	pm_str_release(&text);
	pm_str_release(&problems);
}

enum { N = sizeof attacks / sizeof *attacks };

int main(void)
{
	struct CMUnitTest tests[N + 3];

	memset(tests, 0, sizeof tests);
	for (size_t i = 0; i < N; i++) {
		tests[i].name = attacks[i].id;
		tests[i].test_func = attack;
		tests[i].initial_state = (void *)(uintptr_t)&attacks[i];
	}
	tests[N] = (struct CMUnitTest)cmocka_unit_test(honest_addresses_pass);
	tests[N + 1] = (struct CMUnitTest)cmocka_unit_test(only_what_is_proved_is_read);
	tests[N + 2] = (struct CMUnitTest)cmocka_unit_test(tangled_values_end);
	return _cmocka_run_group_tests("ptx addresses", tests, N + 3, NULL, NULL);
}
