/* SPDX-License-Identifier: Apache-2.0 */
/* elf_gate.c - the rules for shared objects. Lists say what is allowed; names of the rest are for messages.
 */
#include "integrity/gates/elf_gate.h"

#include "matcher/host/loader.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif

/* Calls that compilers make by themselves; the loader binds them (matcher/host/loader.c). */
typedef struct Gate {
	const PmElf *e;
	PmStr *out;
	int problems;
} Gate;

static void say(void *arg, const char *sentence)
{
	Gate *g = arg;

	g->problems++;
	pm_str_addf(g->out, "%s\n", sentence);
}

__attribute__((format(printf, 2, 3))) static void problem(Gate *g, const char *fmt, ...)
{
	char text[320];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	say(g, text);
}

/* ---- program headers ---- */

static void check_headers(Gate *g)
{
	int stack = 0;

	for (size_t i = 0; i < g->e->n_headers; i++) {
		uint32_t flags = g->e->header_flags[i];

		switch (g->e->header_types[i]) {
		case PT_LOAD:
			if ((flags & PF_W) && (flags & PF_X))
				problem(g, "Segment %zu is writable and executable.", i);
			break;
		case PT_GNU_STACK:
			stack = 1;
			if (flags & PF_X)
				problem(g, "It asks for an executable stack; link with -z noexecstack.");
			break;
		case PT_DYNAMIC:
		case PT_NOTE:
		case PT_NULL:
		case PT_PHDR:
		case PT_GNU_EH_FRAME:
		case PT_GNU_RELRO:
		case PT_GNU_PROPERTY:
			break;
		case PT_INTERP:
			problem(g, "It names an interpreter.");
			break;
		case PT_TLS:
			problem(g, "It has thread-local data; a pass keeps no state.");
			break;
		default:
			problem(g, "Program header %zu has the type 0x%x, which is not allowed.", i,
				g->e->header_types[i]);
		}
	}
	if (!stack)
		problem(g, "It does not say that its stack is not executable; link with -z noexecstack.");
}

/* ---- the dynamic table ---- */

typedef struct Tag {
	int64_t tag;
	const char *name;
	int allowed;
} Tag;

/* DT_FLAGS and DT_FLAGS_1 are allowed with the bits that check_flags knows. */
static const Tag tags[] = {
	{ DT_HASH, "HASH", 1 },
	{ DT_GNU_HASH, "GNU_HASH", 1 },
	{ DT_STRTAB, "STRTAB", 1 },
	{ DT_SYMTAB, "SYMTAB", 1 },
	{ DT_STRSZ, "STRSZ", 1 },
	{ DT_SYMENT, "SYMENT", 1 },
	{ DT_RELA, "RELA", 1 },
	{ DT_RELASZ, "RELASZ", 1 },
	{ DT_RELAENT, "RELAENT", 1 },
	{ DT_RELACOUNT, "RELACOUNT", 1 },
	{ DT_JMPREL, "JMPREL", 1 },
	{ DT_PLTREL, "PLTREL", 1 },
	{ DT_PLTRELSZ, "PLTRELSZ", 1 },
	{ DT_PLTGOT, "PLTGOT", 1 },
	{ DT_BIND_NOW, "BIND_NOW", 1 },
	{ DT_FLAGS, "FLAGS", 1 },
	{ DT_FLAGS_1, "FLAGS_1", 1 },
	{ DT_SONAME, "SONAME", 1 },
	{ DT_NEEDED, "NEEDED (another library); link with -nostdlib", 0 },
	{ DT_INIT, "INIT (code that runs when loaded); link with -nostartfiles", 0 },
	{ DT_FINI, "FINI (code that runs when unloaded); link with -nostartfiles", 0 },
	{ DT_INIT_ARRAY, "INIT_ARRAY (a constructor)", 0 },
	{ DT_INIT_ARRAYSZ, "INIT_ARRAYSZ (a constructor)", 0 },
	{ DT_FINI_ARRAY, "FINI_ARRAY (a destructor)", 0 },
	{ DT_FINI_ARRAYSZ, "FINI_ARRAYSZ (a destructor)", 0 },
	{ DT_PREINIT_ARRAY, "PREINIT_ARRAY (a constructor)", 0 },
	{ DT_RPATH, "RPATH", 0 },
	{ DT_RUNPATH, "RUNPATH", 0 },
	{ DT_AUDIT, "AUDIT", 0 },
	{ DT_DEPAUDIT, "DEPAUDIT", 0 },
	{ DT_AUXILIARY, "AUXILIARY", 0 },
	{ DT_FILTER, "FILTER", 0 },
	{ DT_TEXTREL, "TEXTREL (relocations in code); compile with -fPIC", 0 },
	{ DT_SYMBOLIC, "SYMBOLIC", 0 },
	{ DT_REL, "REL", 0 },
	{ DT_VERNEED, "VERNEED (symbol versions)", 0 },
	{ DT_VERDEF, "VERDEF (symbol versions)", 0 },
	{ DT_VERSYM, "VERSYM (symbol versions)", 0 },
};

static void check_flags(Gate *g, int64_t tag, uint64_t value)
{
	if (tag == DT_FLAGS && (value & ~(uint64_t)DF_BIND_NOW))
		problem(g, "Its DT_FLAGS are 0x%llx; only BIND_NOW is allowed.", (unsigned long long)value);
	if (tag == DT_FLAGS_1 && (value & ~(uint64_t)DF_1_NOW))
		problem(g, "Its DT_FLAGS_1 are 0x%llx; only NOW is allowed.", (unsigned long long)value);
	if (tag == DT_RELAENT && value != sizeof(Elf64_Rela))
		problem(g, "Its relocations have %llu bytes; %zu are expected.", (unsigned long long)value,
			sizeof(Elf64_Rela));
	if (tag == DT_PLTREL && value != DT_RELA)
		problem(g, "Its calls use relocations without addends.");
}

static void check_dynamic(Gate *g)
{
	for (size_t i = 0; i < g->e->n_dyn; i++) {
		const PmElfDyn *d = &g->e->dyn[i];
		uint64_t value;
		size_t t = 0;

		while (t < sizeof tags / sizeof *tags && tags[t].tag != d->tag)
			t++;
		if (t == sizeof tags / sizeof *tags)
			problem(g, "Its dynamic table has an entry of type 0x%llx, which is not allowed.",
				(unsigned long long)d->tag);
		else if (!tags[t].allowed)
			problem(g, "Its dynamic table has %s.", tags[t].name);
		else if (pm_elf_dynamic(g->e, d->tag, &value) > 1)
			problem(g, "Its dynamic table has more than one %s.", tags[t].name);
		else
			check_flags(g, d->tag, d->value);
	}
}

/* ---- symbols ---- */

static int is_entry(const char *name)
{
	static const char prefix[] = "passmith_plugin_v";
	size_t n = sizeof prefix - 1;

	return !strncmp(name, prefix, n) && name[n] >= '1' && name[n] <= '9' && !name[n + 1];
}

/* Names come from the file: what is shown is short and printable. */
static const char *shown(const char *name, char *out, size_t size)
{
	size_t n = 0;

	for (; name[n] && n + 1 < size; n++)
		out[n] = name[n] >= 33 && name[n] < 127 && name[n] != '\'' ? name[n] : '?';
	out[n] = 0;
	return out;
}

static void check_symbol(Gate *g, size_t i)
{
	PmElfSymbol s;
	char name[64];

	pm_elf_symbol(g->e, i, &s);
	shown(s.name, name, sizeof name);
	if (s.type == STT_GNU_IFUNC)
		problem(g, "The symbol '%s' has a resolver, which would run when it is looked up.", name);
	else if (s.type == STT_TLS)
		problem(g, "The symbol '%s' is thread-local; a pass keeps no state.", name);
	else if (s.bind != STB_LOCAL && s.bind != STB_GLOBAL && s.bind != STB_WEAK)
		problem(g, "The symbol '%s' has the binding %u.", name, s.bind);
	else if (s.bind == STB_LOCAL)
		return;
	else if (!s.defined && !pm_plugin_import(s.name))
		problem(g,
			"It imports '%s'; a pass has the host's functions, memcpy, memmove, memset, memcmp "
			"and strlen.",
			name);
	else if (s.defined && !is_entry(s.name))
		problem(g,
			"It exports '%s'; a pass exports its entry alone (compile with "
			"-fvisibility=hidden).",
			name);
	else if (s.defined && (s.type != STT_FUNC || !pm_elf_segment_at(g->e, s.value, 1) ||
			       !(pm_elf_segment_at(g->e, s.value, 1)->flags & PF_X)))
		problem(g, "Its entry '%s' is no function.", name);
}

/* ---- relocations ---- */

static int reloc_allowed(uint32_t type)
{
#if defined(__x86_64__)
	return type == R_X86_64_RELATIVE || type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT ||
	       type == R_X86_64_64 || type == R_X86_64_NONE;
#else
	return type == R_AARCH64_RELATIVE || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT ||
	       type == R_AARCH64_ABS64 || type == R_AARCH64_NONE;
#endif
}

static void check_relocs(Gate *g, int t)
{
	for (size_t i = 0; i < g->e->n_rela[t]; i++) {
		const PmElfSegment *seg;
		PmElfReloc r;

		pm_elf_reloc(g->e, t, i, &r);
		seg = pm_elf_segment_at(g->e, r.offset, 8);
		if (!reloc_allowed(r.type)) {
			problem(g,
				"Relocation %zu has the type %u, which is not allowed (a resolver, a "
				"copied symbol or thread-local data).",
				i, r.type);
			return;
		}
		if (!seg || !(seg->flags & PF_W)) {
			problem(g, "Relocation %zu changes memory that is not writable; compile with -fPIC.",
				i);
			return;
		}
	}
}

int pm_elf_gate(const void *file, size_t len, PmElf *out, PmStr *problems)
{
	Gate g = { .e = out, .out = problems };

	if (len > PM_MAX_PLUGIN_BYTES) {
		problem(&g, "It has %zu bytes; a plugin has at most %d.", len, PM_MAX_PLUGIN_BYTES);
		return g.problems;
	}
	/* What cannot be read further is not judged further. */
	if (pm_elf_read(file, len, out, say, &g) && !out->n_headers)
		return g.problems;
	check_headers(&g);
	check_dynamic(&g);
	for (size_t i = 1; i < out->n_symbols; i++)
		check_symbol(&g, i);
	check_relocs(&g, 0);
	check_relocs(&g, 1);
	return g.problems;
}
