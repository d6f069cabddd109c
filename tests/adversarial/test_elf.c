/* SPDX-License-Identifier: Apache-2.0 */
/* test_elf.c - shared objects that may not be loaded: each is refused with its reason, none of its code runs.
 */
#include "base/sys/io.h"
#include "integrity/gates/elf_gate.h"
#include "tests/lib/passes/attack.h"
#include "tests/plugin/paths.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define REFUSED(id, part)                                                                                    \
	static void id(void **state)                                                                         \
	{                                                                                                    \
		(void)state;                                                                                 \
		pm_attack("tests/adversarial/elf/" #id ".so", NULL, 60, PM_VERDICT_REJECT_ELF, part);        \
	}

REFUSED(D02_ifunc_internal, "Relocation")
REFUSED(D02b_ifunc_export, "resolver")
REFUSED(D03_needed, "NEEDED")
REFUSED(D03b_runpath, "RUNPATH")
REFUSED(D04_getenv, "imports 'getenv'")
REFUSED(D05_interpose_memcmp, "exports 'memcmp'")
REFUSED(D05b_unique, "binding")
REFUSED(D05c_df1_interpose, "DT_FLAGS_1")
REFUSED(D08_import_dlopen, "imports 'dlopen'")
REFUSED(D10b_execstack, "executable stack")
REFUSED(D11_textrel, "TEXTREL")
REFUSED(D23_tls, "thread-local")
REFUSED(default_build, "INIT")

static void D01_ctor(void **state)
{
	(void)state;
	unlink("/tmp/passmith-was-here");
	pm_attack("tests/adversarial/elf/D01_ctor.so", NULL, 60, PM_VERDICT_REJECT_ELF, "INIT_ARRAY");
	assert_int_not_equal(access("/tmp/passmith-was-here", F_OK), 0);
}

/* ---- an honest object with a few bytes changed ---- */

typedef struct Image {
	PmStr bytes;
	Elf64_Ehdr *h;
	Elf64_Phdr *p;
	Elf64_Dyn *dyn;
	size_t n_dyn;
} Image;

static void open_image(Image *m)
{
	PmErr err;

	pm_err_init(&err);
	pm_str_init(&m->bytes);
	if (pm_read_file(built("passes/silu.so"), 0, &m->bytes, &err))
		fail_msg("%s", err.text);
	m->h = (void *)m->bytes.s;
	m->p = (void *)(m->bytes.s + m->h->e_phoff);
	for (unsigned i = 0; i < m->h->e_phnum; i++)
		if (m->p[i].p_type == PT_DYNAMIC) {
			m->dyn = (void *)(m->bytes.s + m->p[i].p_offset);
			m->n_dyn = (size_t)(m->p[i].p_filesz / sizeof *m->dyn);
		}
}

static Elf64_Phdr *load(Image *m, unsigned nth)
{
	for (unsigned i = 0; i < m->h->e_phnum; i++)
		if (m->p[i].p_type == PT_LOAD && !nth--)
			return &m->p[i];
	return NULL;
}

static Elf64_Dyn *dyn(Image *m, int64_t tag)
{
	for (size_t i = 0; i < m->n_dyn; i++)
		if (m->dyn[i].d_tag == tag)
			return &m->dyn[i];
	fail_msg("the object has no dynamic entry %lld", (long long)tag);
	return NULL;
}

static void header_count(Image *m)
{
	m->h->e_phnum = 0xffff;
}

static void headers_outside(Image *m)
{
	m->h->e_phoff = m->bytes.len - 8;
}

static void writable_code(Image *m)
{
	for (unsigned i = 0; i < m->h->e_phnum; i++)
		if (m->p[i].p_type == PT_LOAD && (m->p[i].p_flags & PF_X))
			m->p[i].p_flags |= PF_W;
}

static void overlapping_loads(Image *m)
{
	load(m, 1)->p_vaddr = load(m, 0)->p_vaddr;
}

static void huge_memory(Image *m)
{
	load(m, 3)->p_memsz = (uint64_t)1 << 40;
}

static void segment_past_the_end(Image *m)
{
	load(m, 1)->p_filesz = m->bytes.len;
	load(m, 1)->p_memsz = m->bytes.len;
}

static void offset_wraps(Image *m)
{
	load(m, 1)->p_offset = UINT64_MAX - 16;
}

static void dynamic_outside(Image *m)
{
	for (unsigned i = 0; i < m->h->e_phnum; i++)
		if (m->p[i].p_type == PT_DYNAMIC)
			m->p[i].p_vaddr += 1 << 20;
}

static void dynamic_without_end(Image *m)
{
	for (size_t i = 0; i < m->n_dyn; i++)
		if (m->dyn[i].d_tag == DT_NULL)
			m->dyn[i].d_tag = DT_RELACOUNT;
}

static void two_string_tables(Image *m)
{
	dyn(m, DT_RELACOUNT)->d_tag = DT_STRTAB;
}

static void strings_past_the_end(Image *m)
{
	dyn(m, DT_STRSZ)->d_un.d_val = 1 << 30;
}

static void strings_without_end(Image *m)
{
	dyn(m, DT_STRSZ)->d_un.d_val -= 1;
}

static void many_relocations(Image *m)
{
	dyn(m, DT_RELASZ)->d_un.d_val = (uint64_t)24 << 40;
}

static void relocation_outside(Image *m)
{
	Elf64_Rela *r = (void *)(m->bytes.s + dyn(m, DT_RELA)->d_un.d_val);

	r->r_offset = 1 << 24;
}

static void relocation_in_code(Image *m)
{
	Elf64_Rela *r = (void *)(m->bytes.s + dyn(m, DT_RELA)->d_un.d_val);

	r->r_offset = 0x1000;
}

static void relocation_by_resolver(Image *m)
{
	Elf64_Rela *r = (void *)(m->bytes.s + dyn(m, DT_RELA)->d_un.d_val);

	r->r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE);
}

static void hash_outside(Image *m)
{
	dyn(m, DT_GNU_HASH)->d_un.d_val = 1 << 20;
}

static void hash_with_huge_buckets(Image *m)
{
	uint32_t *h = (void *)(m->bytes.s + dyn(m, DT_GNU_HASH)->d_un.d_val);

	h[0] = 0xffffffff;
}

static void no_stack_header(Image *m)
{
	for (unsigned i = 0; i < m->h->e_phnum; i++)
		if (m->p[i].p_type == PT_GNU_STACK)
			m->p[i].p_type = PT_NULL;
}

static void other_machine(Image *m)
{
	m->h->e_machine = EM_386;
}

typedef struct Mutation {
	const char *name;
	void (*change)(Image *m);
	const char *part;
} Mutation;

static const Mutation mutations[] = {
	{ "header_count", header_count, "program headers" },
	{ "headers_outside", headers_outside, "outside the file" },
	{ "D10_rwx_segment", writable_code, "writable and executable" },
	{ "D10c_overlap", overlapping_loads, "overlaps" },
	{ "D10d_memsz_1TiB", huge_memory, "bytes of memory" },
	{ "segment_past_the_end", segment_past_the_end, "past the end" },
	{ "offset_wraps", offset_wraps, "past the end" },
	{ "dynamic_outside", dynamic_outside, "dynamic table lies outside" },
	{ "dynamic_without_end", dynamic_without_end, "no end within" },
	{ "two_string_tables", two_string_tables, "more than one STRTAB" },
	{ "strings_past_the_end", strings_past_the_end, "string table" },
	{ "strings_without_end", strings_without_end, "string table" },
	{ "many_relocations", many_relocations, "relocation table" },
	{ "relocation_outside", relocation_outside, "not loaded" },
	{ "relocation_in_code", relocation_in_code, "not writable" },
	{ "relocation_by_resolver", relocation_by_resolver, "not allowed" },
	{ "hash_outside", hash_outside, "hash table" },
	{ "hash_with_huge_buckets", hash_with_huge_buckets, "hash table" },
	{ "no_stack_header", no_stack_header, "noexecstack" },
	{ "other_machine", other_machine, "machine" },
};

/* D12_*, and the members of D10 that no linker makes. */
static void D12_mutated(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof mutations / sizeof *mutations; i++) {
		const Mutation *mu = &mutations[i];
		PmStr problems = PM_STR_INIT;
		Image m;
		PmElf e;

		open_image(&m);
		assert_int_equal(pm_elf_gate(m.bytes.s, m.bytes.len, &e, &problems), 0);
		mu->change(&m);
		if (!pm_elf_gate(m.bytes.s, m.bytes.len, &e, &problems) || !strstr(problems.s, mu->part))
			fail_msg("%s: problems: %s", mu->name, problems.s);
		pm_str_release(&m.bytes);
		pm_str_release(&problems);
	}
}

/* Every prefix of an honest object, and every single byte of its head and tables turned over: a verdict, no
 * crash. */
static void D12_truncated_and_flipped(void **state)
{
	PmStr problems = PM_STR_INIT;
	Image m;
	PmElf e;

	(void)state;
	open_image(&m);
	for (size_t n = 0; n < m.bytes.len; n += n < 1024 ? 1 : 97) {
		char *copy = pm_xcalloc(n ? n : 1, 1); /* so that a sanitizer sees the end */

		memcpy(copy, m.bytes.s, n);
		pm_str_clear(&problems);
		pm_elf_gate(copy, n, &e, &problems);
		free(copy);
	}
	for (size_t at = 0; at < 4096 && at < m.bytes.len; at++)
		for (int bit = 0; bit < 8; bit += 7) {
			m.bytes.s[at] ^= (char)(1 << bit);
			pm_str_clear(&problems);
			pm_elf_gate(m.bytes.s, m.bytes.len, &e, &problems);
			m.bytes.s[at] ^= (char)(1 << bit);
		}
	pm_str_release(&m.bytes);
	pm_str_release(&problems);
}

static void files_that_are_no_objects(void **state)
{
	(void)state;
	pm_attack("/proc/self/maps", NULL, 60, PM_VERDICT_REJECT_ELF, "");
	pm_attack("passmith-host", NULL, 60, PM_VERDICT_REJECT_ELF, "names an interpreter");
	pm_attack("tests/unit/test_str.does-not-exist", NULL, 60, PM_VERDICT_REJECT_ELF, "test_str");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(D01_ctor),
		cmocka_unit_test(D02_ifunc_internal),
		cmocka_unit_test(D02b_ifunc_export),
		cmocka_unit_test(D03_needed),
		cmocka_unit_test(D03b_runpath),
		cmocka_unit_test(D04_getenv),
		cmocka_unit_test(D05_interpose_memcmp),
		cmocka_unit_test(D05b_unique),
		cmocka_unit_test(D05c_df1_interpose),
		cmocka_unit_test(D08_import_dlopen),
		cmocka_unit_test(D10b_execstack),
		cmocka_unit_test(D11_textrel),
		cmocka_unit_test(D23_tls),
		cmocka_unit_test(default_build),
		cmocka_unit_test(D12_mutated),
		cmocka_unit_test(D12_truncated_and_flipped),
		cmocka_unit_test(files_that_are_no_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
