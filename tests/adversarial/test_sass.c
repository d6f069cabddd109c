/* SPDX-License-Identifier: Apache-2.0 */
/* test_sass.c - machine code that reaches what is not the kernel's: compiled without the PTX gate, or changed
 * by hand from what NVRTC made. Each case first sees that the unchanged code passes. */
#include "integrity/cubin/cubin_gate.h"
#include "tests/lib/device/cubin_edit.h"
#include "tests/lib/device/sass_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL "extern \"C\" __global__ void k(const T *x, T *y, int n)\n"

static const char plain[] = KERNEL
	"{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }";
static const char framed[] = KERNEL "{ float a[64]; for (int i = 0; i < 64; i++) a[i] = ld(x[i * n]);\n"
				    "for (int i = 0; i < n; i++) a[(a[i & 63] > 3 ? i : n) & 63] += 2;\n"
				    "y[n] = st(a[n & 63]); }";
static const char choices[] =
	"__device__ __noinline__ float f(float v) { return sinf(v) / (v + 3); }\n" KERNEL
	"{ switch (n) { case 0: y[0] = 1; break; case 1: y[1] = sinf(x[3]); break; case 2: y[threadIdx.x] = "
	"x[threadIdx.x] / "
	"x[threadIdx.x + 4]; break;\n"
	"case 3: y[5] = sqrtf(x[9]); break; case 4: y[6] += 3; break; case 5: y[8] = f(x[1]); break;\n"
	"case 6: y[7] *= 2; __syncthreads(); break; default: y[10] = f(x[2]); } }";

enum {
	N_ARCHS = 2,
	LDL = 0x983,
	BRA = 0x947,
	CALL = 0x944,
	BSSY = 0x945,
	RET = 0x950,
	BRX = 0x949,
	S2R = 0x919
};
static const int archs[N_ARCHS] = { 80, 90 };

static int judge(const PmStr *cubin, PmStr *problems)
{
	static const char *const entry[] = { "k" };

	pm_str_clear(problems);
	return pm_cubin_gate(cubin->s, cubin->len, entry, 1, NULL, 0, NULL, problems);
}

static PmStr passes(const char *source, int arch)
{
	PmStr cubin = pm_cubin_make(source, arch), problems = PM_STR_INIT;

	if (judge(&cubin, &problems))
		fail_msg("sm_%d: %s", arch, problems.s);
	if (pm_sass_check(cubin.s, cubin.len))
		fail_msg("sm_%d: the second reader refuses: %s", arch, pm_sass_check(cubin.s, cubin.len));
	pm_str_release(&problems);
	return cubin;
}

static void refused(const PmStr *cubin, int arch, const char *word)
{
	PmStr problems = PM_STR_INIT;

	if (!judge(cubin, &problems) || !strstr(problems.s, word))
		fail_msg("sm_%d: \"%s\" does not say \"%s\"", arch, problems.s, word);
	pm_str_release(&problems);
}

/* Compiled with inline PTX in it, past the PTX gate. */
static void refuses_source(const char *source, const char *word)
{
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr cubin = pm_cubin_make(source, archs[a]);

		refused(&cubin, archs[a], word);
		pm_str_release(&cubin);
	}
}

/* Bits of the n-th instruction of that opcode, changed. */
typedef struct Edit {
	int opcode, n, from, count;
	uint64_t value;
	const char *word;
} Edit;

static void refuses_edit(const PmStr *good, int arch, const Edit *e)
{
	PmStr bad = pm_cubin_copy(good);
	size_t at;
	uint8_t *p = pm_cubin_instruction(&bad, e->opcode, e->n, &at);

	if (!p)
		fail_msg("sm_%d: no instruction 0x%03x", arch, (unsigned)e->opcode);
	pm_cubin_put(p, e->from, e->count, e->value);
	refused(&bad, arch, e->word);
	pm_str_release(&bad);
}

static void S80_constant_bank(void **state)
{
	(void)state;
	refuses_source(
		KERNEL
		"{ unsigned t; asm volatile(\"{ .reg .b64 a; mov.b64 a, 65536; ld.const.u32 %0, [a+512]; }\""
		" : \"=r\"(t)); y[n] = st((float)t + ld(x[n])); }",
		"of constant bank 3, which has 0");
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr good = passes(
			"__constant__ float t[64] = { 1, 2 };\n" KERNEL
			"{ float s = 0; for (int i = 0; i < n; i++) s += t[i]; y[n] = st(t[3] * s + "
			"t[((int *)x)[0] & 63]); }",
			archs[a]);
		static const Edit edits[] = {
			{ 0xab9, 0, 54, 5, 1, "reads constant bank 1" },
			{ 0xabb, 0, 54, 5, 1, "by an index in a register" },
			{ 0xabb, 0, 54, 5, 0, "by an index in a register" },
			{ 0xabb, 0, 54, 5, 4, "by an index in a register" },
			{ 0xabb, 0, 38, 16, 256, "of constant bank 3, which has 256" },
			{ 0xabb, 0, 38, 16, 0xfff8, "of constant bank 3, which has 256" },
			{ 0xabb, 0, 91, 1, 0, "mode" },
			{ 0xab9, 0, 91, 1, 1, "mode" },
			{ 0xab9, 0, 54, 5, 9, "constant bank 9" },
		};

		for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
			refuses_edit(&good, archs[a], &edits[i]);
		pm_str_release(&good);
	}
	refuses_source("__constant__ float t[64] = { 1, 2 };\n" KERNEL
		       "{ unsigned v; asm volatile(\"{ .reg .b64 a; mov.b64 a, t; ld.const.u32 %0, [a+256]; "
		       "}\" : \"=r\"(v)); "
		       "y[n] = st(t[n & 63] + (float)v); }",
		       "of constant bank 3, which has 256");
}

/* Every word of bank 0 that is no parameter, against a list of its own. */
static int is_known_word(int arch, unsigned at)
{
	if (arch < 90)
		return at < 0x30 || (at >= 0x114 && at < 0x120) || (at >= 0x160 && at < 0x174);
	return at < 0x18 || (at >= 0x20 && at < 0x30) || at == 0x114 || (at >= 0x140 && at < 0x168) ||
	       at == 0x188 || at == 0x208 || at == 0x20c || (at >= 0x210 && at < 0x224);
}

static void S81_beside_the_parameters(void **state)
{
	(void)state;
	for (int a = 0; a < N_ARCHS; a++) {
		/* The size of the block, and n: an operand of IMAD, and of LDC or ISETP. */
		PmStr good = passes(plain, archs[a]), problems = PM_STR_INIT;
		const int opcode = archs[a] < 90 ? 0xa0c : 0xab9;

		for (unsigned word = 0; word < 0x4000; word += word < 0x300 ? 4 : 0x100) {
			PmStr bad = pm_cubin_copy(&good);
			size_t at;
			uint8_t *p = pm_cubin_instruction(&bad, opcode, archs[a] < 90 ? 0 : 1, &at);
			int n;

			assert_non_null(p);
			if (opcode == 0xab9 && pm_cubin_bits(p, 73, 3) != 4)
				p = pm_cubin_instruction(&bad, opcode, 0, &at);
			pm_cubin_put(p, 40, 14, word / 4);
			n = judge(&bad, &problems);
			if ((n == 0) != is_known_word(archs[a], word))
				fail_msg("sm_%d: the word at 0x%x: %d problems: %s", archs[a], word, n,
					 problems.s);
			pm_str_release(&bad);
		}
		pm_str_release(&good);
		pm_str_release(&problems);
	}
	refuses_source("struct S { float a[200]; };\nextern \"C\" __global__ void k(S s, float *y, int n) { "
		       "y[0] = s.a[n]; }",
		       "constant bank 0 by an index in a register");
	refuses_source(KERNEL "{ unsigned t; asm volatile(\"{ .reg .b64 p; mov.b64 p, 0; ld.param::entry.u32 "
			      "%0, [p+96]; }\""
			      " : \"=r\"(t)); y[n] = st((float)t); }",
		       "where its parameters are not");
}

static void S82_local_by_number(void **state)
{
	(void)state;
	refuses_source(
		KERNEL
		"{ unsigned t; asm volatile(\"ld.local.u32 %0, [128];\" : \"=r\"(t)); y[n] = st((float)t); }",
		"local memory at the number 128");
	refuses_source(KERNEL "{ asm volatile(\"st.local.u32 [16], %0;\" ::\"r\"(n)); y[n] = x[n]; }",
		       "local memory at the number 16");
	/* Through a register, without a frame of its own. */
	refuses_source(KERNEL
		       "{ unsigned t; asm volatile(\"ld.local.u32 %0, [%1];\" : \"=r\"(t) : \"r\"(n)); "
		       "y[n] = st((float)t); }",
		       "the frame has 0");
}

static void S83_beyond_the_frame(void **state)
{
	(void)state;
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr good = passes(framed, archs[a]);
		static const Edit edits[] = {
			{ LDL, 0, 24, 8, 255, "local memory at the number" },
			{ LDL, 0, 40, 24, 256, "the frame has 256" },
			{ LDL, 0, 40, 24, 253, "the frame has 256" },
			{ LDL, 0, 40, 24, 0xfffe00, "the frame has 256" },
			{ LDL, 0, 40, 24, 0x800000, "the frame has 256" },
			{ 0x387, 0, 40, 24, 0x7fffff, "the frame has 256" },
			{ LDL, 0, 16, 8, 1, "stack pointer" },
		};
		PmStr bad = pm_cubin_copy(&good);
		size_t at;
		uint8_t *p = pm_cubin_instruction(&bad, LDL, 0, &at);

		for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
			refuses_edit(&good, archs[a], &edits[i]);
		/* Against the stack pointer: not below it, either. */
		pm_cubin_put(p, 24, 8, 1);
		pm_cubin_put(p, 40, 24, 0xfffffc);
		refused(&bad, archs[a], "local memory at -4 from a register");
		/* The stack pointer moved elsewhere. */
		for (int n = 0; (p = pm_cubin_instruction(&bad, -1, n, &at)) != NULL; n++)
			if (at && pm_cubin_bits(p, 16, 8) == 1 && pm_cubin_bits(p, 24, 8) == 1 &&
			    (pm_cubin_bits(p, 0, 12) == 0x810 || pm_cubin_bits(p, 0, 12) == 0x836))
				break;
		assert_non_null(p);
		pm_str_release(&bad);
		bad = pm_cubin_copy(&good);
		p = (uint8_t *)bad.s + pm_cubin_section(&bad, ".text.k")->sh_offset + at;
		pm_cubin_put(p, 32, 32, 0xfffff000);
		refused(&bad, archs[a], "moves the stack pointer");
		pm_str_release(&bad);
		pm_str_release(&good);
	}
}

/* The number of instructions from the next one on, where branches have it. */
static void put_target(uint8_t *p, int arch, int64_t words)
{
	int64_t fours = words * 4;

	if (arch >= 90 && pm_cubin_bits(p, 0, 12) != BSSY) {
		pm_cubin_put(p, 16, 8, (uint64_t)fours & 255);
		fours >>= 8;
	}
	pm_cubin_put(p, 34, pm_cubin_bits(p, 0, 12) == BSSY ? 30 : 48, (uint64_t)fours);
}

static void S84_branch_out(void **state)
{
	static const int opcodes[] = { BRA, CALL, BSSY };

	(void)state;
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr good = passes(choices, archs[a]), problems = PM_STR_INIT;
		size_t at, size = pm_cubin_section(&good, ".text.k")->sh_size;

		for (size_t i = 0; i < 3; i++) {
			const int64_t targets[] = { -16,     -4096,     (int64_t)size, (int64_t)size + 4096,
						    1 << 28, -(1 << 28) };

			for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
				PmStr bad = pm_cubin_copy(&good);
				uint8_t *p = pm_cubin_instruction(&bad, opcodes[i], 0, &at);

				assert_non_null(p);
				put_target(p, archs[a], (targets[k] - (int64_t)at - 16) / 16);
				refused(&bad, archs[a], "which is no instruction of the kernel");
				put_target(p, archs[a], ((int64_t)size - 16 - (int64_t)at - 16) / 16);
				if (judge(&bad, &problems))
					fail_msg("sm_%d: the last instruction: %s", archs[a], problems.s);
				/* Into the middle of one. */
				pm_cubin_put(p, archs[a] >= 90 && i < 2 ? 16 : 34, 2, 1);
				refused(&bad, archs[a], "which is no instruction of the kernel");
				pm_str_release(&bad);
			}
		}
		/* A call, a return and a branch to an address in a register. */
		refuses_edit(&good, archs[a], &(Edit){ CALL, 0, 0, 12, 0x343, "0x343" });
		refuses_edit(&good, archs[a], &(Edit){ CALL, 0, 91, 1, 1, "an address that it computes" });
		refuses_edit(&good, archs[a], &(Edit){ RET, 0, 85, 1, 1, "returns" });
		refuses_edit(&good, archs[a], &(Edit){ RET, 0, 91, 1, 1, "returns" });
		refuses_edit(&good, archs[a], &(Edit){ RET, 0, 42, 8, 0x77, "returns" });
		refuses_edit(&good, archs[a], &(Edit){ BRA, 0, 0, 12, 0x94a, "0x94a" });
		pm_str_release(&good);
		pm_str_release(&problems);
	}
}

static void S85_table_to_data(void **state)
{
	(void)state;
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr good = passes(choices, archs[a]), bad = pm_cubin_copy(&good);
		Elf64_Shdr *s = pm_cubin_section(&bad, ".nv.constant2.k");

		/* Another word in the table: data, or an instruction that nobody described. */
		pm_cubin_put((uint8_t *)bad.s + s->sh_offset, 0, 32, 0x100000);
		refused(&bad, archs[a], "from no table that the compiler described");
		pm_cubin_put((uint8_t *)bad.s + s->sh_offset, 0, 32, 0);
		refused(&bad, archs[a], "from no table that the compiler described");
		pm_str_release(&bad);
		/* Another table, register or beginning. */
		refuses_edit(&good, archs[a], &(Edit){ BRX, 0, 24, 8, 200, "from no table" });
		refuses_edit(&good, archs[a], &(Edit){ BRX, 0, 36, 8, 0x55, "that it computes" });
		refuses_edit(&good, archs[a], &(Edit){ BRX, 0, 0, 12, 0x94c, "0x94c" });
		refuses_edit(&good, archs[a], &(Edit){ BRX, 0, 0, 12, 0x958, "0x958" });
		/* The compiler's description gone. */
		bad = pm_cubin_copy(&good);
		s = pm_cubin_section(&bad, ".nv.info.k");
		for (size_t i = 0; i + 4 < s->sh_size; i += 4)
			if (bad.s[s->sh_offset + i] == 4 && bad.s[s->sh_offset + i + 1] == 0x34)
				bad.s[s->sh_offset + i + 1] = 0x37;
		refused(&bad, archs[a], "from no table that the compiler described");
		pm_str_release(&bad);
		pm_str_release(&good);
	}
}

/* Of the 256 special registers exactly these. */
static void S86_clock_in_machine_code(void **state)
{
	static const uint8_t known[] = { 0x00, 0x20, 0x21, 0x22, 0x23, 0x25, 0x26, 0x27, 0x2f,
					 0x30, 0x32, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x88, 0xff };

	(void)state;
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr good = passes(plain, archs[a]), problems = PM_STR_INIT;

		for (unsigned r = 0; r < 256; r++)
			for (int i = 0; i < 2; i++) {
				PmStr bad = pm_cubin_copy(&good);
				size_t at;
				uint8_t *p = pm_cubin_instruction(&bad, S2R, 0, &at);
				int n;

				assert_non_null(p);
				pm_cubin_put(p, 0, 12, i ? 0x805 : S2R);
				pm_cubin_put(p, 72, 8, r);
				n = judge(&bad, &problems);
				if ((n == 0) != (memchr(known, (int)r, sizeof known) != NULL))
					fail_msg("sm_%d: special register 0x%02x: %s", archs[a], r,
						 problems.s);
				pm_str_release(&bad);
			}
		refuses_edit(&good, archs[a], &(Edit){ S2R, 0, 72, 8, 0x50, "special register 80" });
		pm_str_release(&good);
		pm_str_release(&problems);
	}
	refuses_source(KERNEL "{ y[n] = st((float)clock()); }", "special register");
	refuses_source(KERNEL "{ y[n] = st((float)clock64()); }", "special register");
	refuses_source(
		KERNEL
		"{ unsigned t; asm volatile(\"mov.u32 %0, %smid;\" : \"=r\"(t)); y[n] = st((float)t); }",
		"special register");
}

/* Jumps through registers, the program counter, sleep, traps, surfaces, the base of local memory and others;
 * and every number that the table does not have is refused with a sentence of the kind. */
static void S87_unknown_instruction(void **state)
{
	static const int refused_always[] = { 0x343, 0x943, 0x94a, 0xb4a, 0x94c, 0x34e, 0x94e, 0x958,
					      0x959, 0x95b, 0x95c, 0x95d, 0x3c0, 0x3c1, 0x801, 0x80d,
					      0x82d, 0x82e, 0x35e, 0x990, 0xd60, 0x998, 0x99c, 0x3b8,
					      0x9b9, 0x352, 0x000, 0x1ff, 0xfff };

	(void)state;
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr good = passes(plain, archs[a]);

		for (size_t i = 0; i < sizeof refused_always / sizeof *refused_always; i++) {
			char word[16];

			snprintf(word, sizeof word, "no. 0x%03x", (unsigned)refused_always[i]);
			refuses_edit(&good, archs[a],
				     &(Edit){ -1, 3, 0, 12, (uint64_t)refused_always[i], word });
		}
		pm_str_release(&good);
	}
	refuses_source(KERNEL "{ __nanosleep(n); y[n] = x[n]; }", "of which the gate knows nothing");
	refuses_source(KERNEL "{ if (n == 7) __trap(); y[n] = x[n]; }", "of which the gate knows nothing");
}

static Elf64_Sym *symbol(PmStr *cubin, const char *name)
{
	Elf64_Shdr *t = pm_cubin_section(cubin, ".symtab"), *names = pm_cubin_section(cubin, ".strtab");
	Elf64_Sym *s = (Elf64_Sym *)(void *)(cubin->s + t->sh_offset);

	for (size_t i = 0; i < t->sh_size / sizeof *s; i++)
		if (!strcmp(cubin->s + names->sh_offset + s[i].st_name, name) &&
		    ELF64_ST_TYPE(s[i].st_info) == STT_FUNC)
			return &s[i];
	fail_msg("there is no function %s", name);
	return NULL;
}

static void S88_code_of_no_function(void **state)
{
	(void)state;
	for (int a = 0; a < N_ARCHS; a++) {
		PmStr good = passes(plain, archs[a]), bad = pm_cubin_copy(&good);
		Elf64_Shdr *s, *relocations;

		symbol(&bad, "k")->st_size += 4096;
		refused(&bad, archs[a], "not inside of its section");
		symbol(&bad, "k")->st_size = 64;
		symbol(&bad, "k")->st_value = 32;
		refused(&bad, archs[a], "does not begin where its section does");
		pm_str_release(&bad);
		bad = pm_cubin_copy(&good);
		symbol(&bad, "k")->st_other = 0;
		refused(&bad, archs[a], "has code of no kernel");
		pm_str_release(&bad);
		bad = pm_cubin_copy(&good);
		pm_cubin_section(&bad, ".text.k")->sh_size -= 8;
		refused(&bad, archs[a], "not one of instructions");
		pm_str_release(&bad);
		/* More parameters than the kernel has. */
		bad = pm_cubin_copy(&good);
		pm_cubin_section(&bad, ".nv.constant0.k")->sh_size += 64;
		refused(&bad, archs[a], "its parameters need");
		pm_str_release(&bad);
		/* Code that is changed when it is loaded. */
		bad = pm_cubin_copy(&good);
		s = pm_cubin_section(&bad, ".text.k");
		relocations = pm_cubin_find(&bad, ".rel.debug_frame");
		if (!relocations)
			relocations = pm_cubin_section(&bad, ".rela.debug_frame");
		relocations->sh_info =
			(Elf64_Word)(s -
				     (Elf64_Shdr *)(void *)(bad.s + ((Elf64_Ehdr *)(void *)bad.s)->e_shoff));
		refused(&bad, archs[a], "'.text.k' is changed when it is loaded");
		pm_str_release(&bad);
		pm_str_release(&good);
	}
}

static void S89_address_of_a_function(void **state)
{
	(void)state;
	refuses_source(KERNEL "{ unsigned long long p; asm volatile(\"mov.u64 %0, k;\" : \"=l\"(p)); "
			      "y[n] = st((float)*(volatile unsigned *)p); }",
		       "holds the address of 'k'");
	refuses_source("__constant__ float t[64] = { 1, 2 };\n" KERNEL
		       "{ const float *p = n > 3 ? t : (const float *)x; y[n] = st(p[n]); }",
		       "where its parameters are not");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(S80_constant_bank),
		cmocka_unit_test(S81_beside_the_parameters),
		cmocka_unit_test(S82_local_by_number),
		cmocka_unit_test(S83_beyond_the_frame),
		cmocka_unit_test(S84_branch_out),
		cmocka_unit_test(S85_table_to_data),
		cmocka_unit_test(S86_clock_in_machine_code),
		cmocka_unit_test(S87_unknown_instruction),
		cmocka_unit_test(S88_code_of_no_function),
		cmocka_unit_test(S89_address_of_a_function),
	};

	return cmocka_run_group_tests_name("sass", tests, NULL, NULL);
}
