/* SPDX-License-Identifier: Apache-2.0 */
/* emu_object.c - whether a compiled kernel may be loaded: nothing of it runs before it is called, and it
 * needs no library but libm.
 *
 * The object came out of a compiler that read a stranger's source, so it is read as such (base/core/elf.h),
 * from the cache too. What may stand in the dynamic table is a list; everything else is refused.
 */
#include "runtime/emu/emu_sched.h"

#include "base/core/elf.h"

#include <elf.h>
#include <string.h>

static void first_problem(void *arg, const char *sentence)
{
	PmStr *why = arg;

	if (!why->len)
		pm_str_add(why, sentence);
}

static int known_tag(int64_t tag)
{
	static const int64_t known[] = { DT_NEEDED,    DT_PLTRELSZ, DT_PLTGOT,     DT_HASH,    DT_STRTAB,
					 DT_SYMTAB,    DT_RELA,     DT_RELASZ,     DT_RELAENT, DT_STRSZ,
					 DT_SYMENT,    DT_PLTREL,   DT_JMPREL,     DT_FLAGS,   DT_GNU_HASH,
					 DT_RELACOUNT, DT_VERNEED,  DT_VERNEEDNUM, DT_VERSYM,  DT_FLAGS_1 };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (known[i] == tag)
			return 1;
	return 0;
}

static const char *judge_dynamic(const PmElf *e)
{
	for (size_t i = 0; i < e->n_dyn; i++) {
		const PmElfDyn *d = &e->dyn[i];

		if (!known_tag(d->tag))
			return "It has code that runs when it is loaded, or something else that a kernel has "
			       "not.";
		if ((d->tag == DT_FLAGS && d->value & ~(uint64_t)DF_BIND_NOW) ||
		    (d->tag == DT_FLAGS_1 && d->value & ~(uint64_t)DF_1_NOW))
			return "It asks the loader for more than to be loaded.";
		if (d->tag == DT_NEEDED &&
		    (d->value >= e->strsz ||
		     strcmp((const char *)e->file + e->strtab + d->value, "libm.so.6") != 0))
			return "It needs a library other than libm.";
	}
	return NULL;
}

static const char *judge_headers(const PmElf *e)
{
	for (size_t i = 0; i < e->n_headers; i++) {
		uint32_t type = e->header_types[i], flags = e->header_flags[i];

		if (type == PT_TLS || type == PT_INTERP)
			return "It has thread-local data or a loader of its own.";
		if ((type == PT_GNU_STACK && flags & PF_X) ||
		    (type == PT_LOAD && flags & PF_X && flags & PF_W))
			return "It has memory that is writable and executable.";
	}
	return NULL;
}

static const char *judge_symbols(const PmElf *e)
{
	PmElfSymbol s;
	PmElfReloc r;

	for (size_t i = 1; i < e->n_symbols; i++) {
		pm_elf_symbol(e, i, &s);
		if (s.type == STT_GNU_IFUNC || s.type == STT_TLS || s.bind == STB_GNU_UNIQUE)
			return "It has a symbol that the loader must call or share.";
		if (!s.defined && s.bind == STB_WEAK)
			return "It looks for a function of the program that loads it.";
	}
	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < e->n_rela[t]; i++) {
			pm_elf_reloc(e, t, i, &r);
			if (r.type == R_X86_64_IRELATIVE || r.type == R_AARCH64_IRELATIVE)
				return "It has a relocation that the loader must call.";
		}
	return NULL;
}

PmStatus pm__emu_object_judge(const void *object, size_t n, PmStr *why)
{
	const char *bad;
	PmElf e;

	if (n > PM_EMU_MAX_OBJECT) {
		pm_str_add(why, "It is larger than any kernel.");
		return PM_E_INVALID;
	}
	if (pm_elf_read(object, n, &e, first_problem, why))
		return PM_E_INVALID;
	bad = judge_dynamic(&e);
	if (!bad)
		bad = judge_headers(&e);
	if (!bad)
		bad = judge_symbols(&e);
	if (bad)
		pm_str_add(why, bad);
	return bad ? PM_E_INVALID : PM_OK;
}
