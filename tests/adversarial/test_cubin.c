/* SPDX-License-Identifier: Apache-2.0 */
/* test_cubin.c - machine code that asks for too much or holds what it should not: made by NVRTC, and made by
 * hand from what NVRTC made. */
#include "integrity/cubin/cubin_gate.h"
#include "tests/lib/device/cubin_edit.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL "extern \"C\" __global__ void k(const T *x, T *y, int n)\n"

static const char *const entry[] = { "k" };
static const int archs[] = { 80, 90 };

static int judge(const PmStr *cubin, PmCubinKernel *k, PmStr *problems)
{
	size_t n = 0;

	pm_str_clear(problems);
	return pm_cubin_gate(cubin->s, cubin->len, entry, 1, k, k ? 1 : 0, &n, problems);
}

static void accepts(const char *source, PmCubinKernel *k)
{
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
		PmStr cubin = pm_cubin_make(source, archs[i]), problems = PM_STR_INIT;

		if (judge(&cubin, k, &problems))
			fail_msg("sm_%d: %s", archs[i], problems.s);
		pm_str_release(&cubin);
		pm_str_release(&problems);
	}
}

static void refuses(const PmStr *cubin, const char *word)
{
	PmStr problems = PM_STR_INIT;

	if (!judge(cubin, NULL, &problems) || !strstr(problems.s, word))
		fail_msg("\"%s\" does not say \"%s\"", problems.s, word);
	pm_str_release(&problems);
}

static void refuses_source(const char *source, const char *word)
{
	for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
		PmStr cubin = pm_cubin_make(source, archs[i]);

		refuses(&cubin, word);
		pm_str_release(&cubin);
	}
}

/* Known answers: what the sources say is what is read. */
static void attributes_are_read(void **state)
{
	PmCubinKernel k;

	(void)state;
	accepts(KERNEL "{ y[n] = x[n]; }", &k);
	assert_string_equal(k.name, "k");
	assert_in_range(k.registers, 4, 40);
	assert_int_equal(k.local, 0);
	assert_int_equal(k.max_threads, 0);
	accepts("extern \"C\" __global__ void __launch_bounds__(96) k(const T *x, T *y, int n)\n"
		"{ __shared__ float s[2048]; float a[256]; for (int i = 0; i < 256; i++) a[i] = ld(x[i * "
		"n]);\n"
		"s[threadIdx.x] = a[n & 255]; __syncthreads(); y[n] = st(s[n & 2047]); }",
		&k);
	assert_int_equal(k.max_threads, 96);
	assert_int_equal(k.barriers, 1);
	assert_in_range(k.local, 1024, 1200);
	assert_in_range(k.shared, 8192, 8192 + 1024);
}

static void honest_kernels_pass(void **state)
{
	(void)state;
	accepts(KERNEL "{ y[n] = st(sinf(ld(x[n])) + powf(ld(x[n]), 1.7f)); }", NULL);
	accepts(KERNEL "{ y[n] = st((float)sin((double)ld(x[n]))); }", NULL);
	accepts(KERNEL "{ y[n] = st(ld(x[n]) / ld(x[n + 1]) + sqrtf(ld(x[n]))); }", NULL);
	accepts(KERNEL "{ atomicExch((int *)y, n); atomicCAS((int *)y + 1, 0, n); }", NULL);
	accepts("__constant__ float t[64] = { 1, 2, 3 };\n" KERNEL "{ y[n] = st(t[n & 63]); }", NULL);
	accepts("__device__ __noinline__ float f(const T *p, int n) { return n ? ld(p[n]) * 2 : 1; }\n" KERNEL
		"{ y[n] = st(f(x, n)); }",
		NULL);
	accepts(KERNEL "{ extern __shared__ float s[]; s[threadIdx.x] = ld(x[n]); __syncthreads(); y[n] = "
		       "st(s[n]); }",
		NULL);
	accepts(KERNEL "{ switch (n & 15) { case 0: y[0] = 1; break; case 1: y[1] = 2; break; case 2: y[2] = "
		       "9; break; "
		       "case 3: y[7] = 4; break; case 4: y[4] = 3; break; case 9: y[11] = 2; break; default: "
		       "y[5] = 6; } }",
		NULL);
}

static void F20_local_512KiB(void **state)
{
	(void)state;
	refuses_source(KERNEL
		       "{ float a[131000]; for (int i = 0; i < n; i++) a[(i * 7) % 131000] = ld(x[i]); "
		       "y[n] = st(a[n]); }",
		       "bytes of local memory for each thread");
	refuses_source(KERNEL "{ float a[4200]; for (int i = 0; i < n; i++) a[(i * 7) % 4200] = ld(x[i]); "
			      "y[n] = st(a[n]); }",
		       "bytes of local memory for each thread");
	honest_kernels_pass(state);
}

/* ---- by hand ---- */

/* Gives a section another name of at most the same length. */
static void rename_section(PmStr *cubin, const char *from, const char *to)
{
	Elf64_Ehdr *h = (Elf64_Ehdr *)(void *)cubin->s;
	Elf64_Shdr *s = (Elf64_Shdr *)(void *)(cubin->s + h->e_shoff), *mine = pm_cubin_section(cubin, from);

	strcpy(cubin->s + s[h->e_shstrndx].sh_offset + mine->sh_name, to);
}

static void F23_global_init_cubin(void **state)
{
	static const struct {
		const char *from, *to, *word;
	} cases[] = {
		{ ".nv.constant3", ".nv.global", "in global memory" },
		{ ".note.nv.tkinfo", ".nv.global.init", "more than its variables" },
		{ ".nv.constant3", ".nv.uft", "no kernel needs" },
		{ ".nv.constant3", ".nv.udt", "no kernel needs" },
		{ ".nv.constant3", ".nv_debug", "no kernel needs" },
		{ ".note.nv.cuinfo", ".nv.merc.a", "no kernel needs" },
		{ ".text.k", ".text.m", "no kernel needs" },
		{ ".debug_frame", ".init_array", "no kernel needs" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		PmStr cubin = pm_cubin_make(
			"__constant__ float t[64] = { 1, 2, 3 };\n" KERNEL "{ y[n] = st(t[n & 63]); }", 90);

		rename_section(&cubin, cases[i].from, cases[i].to);
		refuses(&cubin, cases[i].word);
		pm_str_release(&cubin);
	}
	honest_kernels_pass(state);
}

static void state_is_refused(void **state)
{
	(void)state;
	refuses_source("__device__ int seen;\n" KERNEL "{ if (seen++ == 0) y[n] = x[n]; }", "keeps no state");
	refuses_source("__device__ int seen[8] = { 1 };\n" KERNEL "{ if (seen[n & 7]++ == 0) y[n] = x[n]; }",
		       "keeps no state");
}

static void kernels_that_nobody_described_are_refused(void **state)
{
	(void)state;
	refuses_source(KERNEL "{ y[n] = x[n]; }\nextern \"C\" __global__ void other(T *y) { y[0] = 1; }\n",
		       "'other'");
}

static void functions_from_elsewhere_are_refused(void **state)
{
	(void)state;
	refuses_source(KERNEL "{ if (n == 12345) __assertfail(\"a\", \"b\", 1, \"c\", 1); y[n] = x[n]; }\n",
		       "from elsewhere");
}

/* Numbers in the tables: each one alone is enough to be refused, none is followed outside. */
static void damaged_tables_are_refused(void **state)
{
	PmStr good = pm_cubin_make(KERNEL "{ y[n] = x[n]; }", 90);

	(void)state;
	for (int i = 0; i < 8; i++) {
		PmStr bad = PM_STR_INIT;
		Elf64_Ehdr *h;
		Elf64_Shdr *s;

		pm_str_addn(&bad, good.s, good.len);
		h = (Elf64_Ehdr *)(void *)bad.s;
		s = pm_cubin_section(&bad, i < 6 ? ".text.k" : ".nv.info.k");
		switch (i) {
		case 0:
			s->sh_offset = bad.len - 1;
			break;
		case 1:
			s->sh_size = UINT64_MAX - 8;
			break;
		case 2:
			s->sh_name = 1 << 30;
			break;
		case 3:
			s->sh_flags |= SHF_WRITE;
			break;
		case 4:
			h->e_shoff = bad.len - 10;
			break;
		case 5:
			h->e_machine = EM_X86_64;
			break;
		case 6:
			s->sh_size -= 2;
			break;
		default:
			bad.s[s->sh_offset + 2] = bad.s[s->sh_offset + 3] = (char)0xff;
		}
		refuses(&bad, "");
		pm_str_release(&bad);
	}
	pm_str_release(&good);
}

/* Every prefix, and a wrong byte at every place: read to the end, by whatever answer. */
static void every_byte_may_be_wrong(void **state)
{
	PmStr good = pm_cubin_make(KERNEL "{ y[n] = x[n]; }", 90), problems = PM_STR_INIT;
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)(const void *)good.s;
	size_t tables = h->e_shoff + h->e_shnum * sizeof(Elf64_Shdr);

	(void)state;
	for (size_t i = 0; i < good.len; i++) {
		char was = good.s[i], *copy = malloc(i + 1); /* a sanitizer sees the byte past a prefix */

		good.s[i] = (char)(was ^ 0x81);
		judge(&good, NULL, &problems);
		good.s[i] = was;
		memcpy(copy, good.s, i);
		pm_str_clear(&problems);
		if (!pm_cubin_gate(copy, i, entry, 1, NULL, 0, NULL, &problems) && i < tables)
			fail_msg("%zu bytes of %zu are accepted", i, good.len);
		free(copy);
	}
	pm_str_release(&good);
	pm_str_release(&problems);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(attributes_are_read),
		cmocka_unit_test(honest_kernels_pass),
		cmocka_unit_test(F20_local_512KiB),
		cmocka_unit_test(F23_global_init_cubin),
		cmocka_unit_test(state_is_refused),
		cmocka_unit_test(kernels_that_nobody_described_are_refused),
		cmocka_unit_test(functions_from_elsewhere_are_refused),
		cmocka_unit_test(damaged_tables_are_refused),
		cmocka_unit_test(every_byte_may_be_wrong),
	};

	return cmocka_run_group_tests_name("cubin", tests, NULL, NULL);
}
