/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_gate.c - sections, symbols, relocations and attributes of a cubin against lists and limits. */
#include "integrity/cubin/cubin_gate.h"

#include "integrity/cubin/cubin_code.h"
#include "integrity/cubin/cubin_read.h"
#include "integrity/cubin/sass.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

typedef struct Gate {
	PmCubin c;
	const char *const *entry;
	size_t n_entries;
	PmCubinKernel *kernel; /* caller's, or NULL */
	size_t max, n_kernels;
	PmStr *out;
	int problems;
} Gate;

#define problem(g, ...) pm__cubin_problem((g)->out, &(g)->problems, __VA_ARGS__)
#define after           pm__cubin_after

static int is_entry(const Gate *g, const char *name)
{
	if (!g->n_entries)
		return 1;
	for (size_t i = 0; i < g->n_entries; i++)
		if (!strcmp(g->entry[i], name))
			return 1;
	return 0;
}

/* ---- sections ---- */

static int is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return 1;
	return 0;
}

static int is_allowed(const Gate *g, const char *name)
{
	static const char *const plain[] = { "",
					     ".shstrtab",
					     ".strtab",
					     ".symtab",
					     ".debug_frame",
					     ".note.nv.tkinfo",
					     ".note.nv.cuinfo",
					     ".nv.info",
					     ".nv.compat",
					     ".nv.callgraph",
					     ".nv.rel.action",
					     ".rel.debug_frame",
					     ".rela.debug_frame",
					     ".nv.constant2",
					     ".nv.constant3",
					     ".nv.constant4",
					     ".rel.nv.constant4",
					     ".rela.nv.constant4",
					     ".nv.shared.reserved.0",
					     ".nv.global",
					     ".nv.global.init",
					     NULL };
	static const char *const of_kernel[] = { ".text.",
						 ".nv.info.",
						 ".nv.shared.",
						 ".nv.constant0.",
						 ".nv.constant2.",
						 ".rel.text.",
						 ".rela.text.",
						 ".rel.nv.constant0.",
						 ".rela.nv.constant0.",
						 ".rel.nv.constant2.",
						 ".rela.nv.constant2.",
						 NULL };

	if (is_one_of(name, plain))
		return 1;
	for (int i = 0; of_kernel[i]; i++)
		if (after(name, of_kernel[i]) && is_entry(g, after(name, of_kernel[i])))
			return 1;
	/* A copy of the rest in another encoding, from Blackwell on. */
	return g->c.arch >= 100 && (after(name, ".nv.merc.") || after(name, ".nv.capmerc."));
}

static void check_section(Gate *g, const PmCubinSection *s)
{
	int code = after(s->name, ".text.") != NULL;

	if (!is_allowed(g, s->name)) {
		problem(g, "It has the section '%.80s', which no kernel needs.", s->name);
		return;
	}
	if (s->flags & SHF_EXECINSTR && !code)
		problem(g, "Its section '%.80s' is executable.", s->name);
	if (code && s->flags & SHF_WRITE)
		problem(g, "Its section '%.80s' is writable code.", s->name);
	if (after(s->name, ".nv.constant") && s->size > PM_CUBIN_MAX_CONST)
		problem(g, "Its section '%.80s' has %llu bytes; a bank of constants has %d.", s->name,
			(unsigned long long)s->size, PM_CUBIN_MAX_CONST);
	if (after(s->name, ".nv.shared.") && s->size > PM_CUBIN_MAX_SHARED)
		problem(g, "Its section '%.80s' has %llu bytes; a block has %d of shared memory.", s->name,
			(unsigned long long)s->size, PM_CUBIN_MAX_SHARED);
}

/* ---- symbols ---- */

/* The variables that CUDA's own functions put into global memory, as the PTX gate lets them pass. */
static int is_library_variable(const char *name, uint64_t size)
{
	static const struct {
		const char *name;
		uint64_t size;
	} known[] = { { "__cudart_i2opi_f", 24 },
		      { "__cudart_i2opi_d", 144 },
		      { "__cudart_sin_cos_coeffs", 128 } };

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(name, known[i].name))
			return size == known[i].size;
	return after(name, "_ZN26__nv_atomic_triv_cp_helper") && size <= 16;
}

static void found_kernel(Gate *g, const char *name)
{
	if (!is_entry(g, name))
		problem(g, "It has the kernel '%.60s', which nobody described.", name);
	if (g->n_kernels < g->max)
		snprintf(g->kernel[g->n_kernels].name, sizeof g->kernel->name, "%s", name);
	g->n_kernels++;
}

static void check_symbol(Gate *g, const PmCubinSymbol *s)
{
	const char *where = s->section < g->c.n_sections ? pm__cubin_name(&g->c, s->section) : "";

	if (s->section == SHN_UNDEF && *s->name && strcmp(s->name, ".nv.reservedSmem.offset0") != 0)
		problem(g, "It needs '%.60s' from elsewhere.", s->name);
	if (s->section >= g->c.n_sections && s->section != SHN_UNDEF)
		problem(g, "Its symbol '%.60s' is in no section.", s->name);
	if (s->type == STT_FUNC && s->entry)
		found_kernel(g, s->name);
	if (s->type == STT_FUNC && !after(where, ".text."))
		problem(g, "Its function '%.60s' is not in a section of code.", s->name);
	if (after(where, ".nv.global") && s->type != STT_SECTION && !is_library_variable(s->name, s->size))
		problem(g, "It has the variable '%.60s' in global memory; a kernel keeps no state.", s->name);
	if (s->type == 10 /* indirect function */ || s->bind == STB_GNU_UNIQUE)
		problem(g, "Its symbol '%.60s' is of a kind that no kernel has.", s->name);
}

/* Bytes of .nv.global* that no symbol accounts for could be state without a name. */
static void check_globals(Gate *g)
{
	uint64_t named[2] = { 0, 0 };

	for (size_t i = 0; i < g->c.n_symbols; i++) {
		PmCubinSymbol s;

		pm__cubin_symbol(&g->c, i, &s);
		if (s.section < g->c.n_sections && after(pm__cubin_name(&g->c, s.section), ".nv.global"))
			named[!strcmp(pm__cubin_name(&g->c, s.section), ".nv.global.init")] += s.size + 16;
	}
	for (size_t i = 0; i < g->c.n_sections; i++) {
		PmCubinSection s;

		pm__cubin_section(&g->c, i, &s);
		if (after(s.name, ".nv.global") && s.size > named[!strcmp(s.name, ".nv.global.init")])
			problem(g, "Its section '%.80s' has %llu bytes, more than its variables.", s.name,
				(unsigned long long)s.size);
	}
}

/* ---- attributes ---- */

static PmCubinKernel *kernel_named(Gate *g, const char *name)
{
	for (size_t i = 0; i < g->n_kernels && i < g->max; i++)
		if (!strcmp(g->kernel[i].name, name))
			return &g->kernel[i];
	return NULL;
}

static uint32_t word(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void limit(Gate *g, const char *kernel, const char *what, uint32_t value, uint32_t most)
{
	if (value > most)
		problem(g, "Kernel '%.60s' takes %u %s; at most %u are allowed.", kernel, value, what, most);
}

/* Attributes of .nv.info give the kernel as the number of its symbol. */
static void of_symbol(Gate *g, uint8_t code, uint32_t symbol, uint32_t value)
{
	PmCubinSymbol s = { .name = "?" };
	PmCubinKernel *k;

	if (symbol < g->c.n_symbols)
		pm__cubin_symbol(&g->c, symbol, &s);
	else
		problem(g, "One of its attributes is of a symbol that it has not.");
	k = kernel_named(g, s.name);
	if (code == PM__CUBIN_REGISTERS) {
		limit(g, s.name, "registers", value, PM_CUBIN_MAX_REGISTERS);
		if (k)
			k->registers = value;
	} else {
		limit(g, s.name, "bytes of local memory for each thread", value, PM_CUBIN_MAX_LOCAL);
		if (k && k->local < value)
			k->local = value;
	}
}

static void of_kernel(Gate *g, const char *name, const PmCubinAttr *a)
{
	PmCubinKernel *k = kernel_named(g, name);

	switch (a->code) {
	case PM__CUBIN_BARRIERS:
		limit(g, name, "barriers", a->small, PM_CUBIN_MAX_BARRIERS);
		if (k)
			k->barriers = a->small;
		break;
	case PM__CUBIN_MAX_THREADS:
	case PM__CUBIN_EXACT_THREADS:
		if (a->n != 12 || (uint64_t)word(a->p) * word(a->p + 4) > PM_CUBIN_MAX_THREADS ||
		    (uint64_t)word(a->p) * word(a->p + 4) * word(a->p + 8) > PM_CUBIN_MAX_THREADS) {
			problem(g, "Kernel '%.60s' asks for blocks of more than %d threads.", name,
				PM_CUBIN_MAX_THREADS);
		} else if (k) {
			k->max_threads = word(a->p) * word(a->p + 4) * word(a->p + 8);
		}
		break;
	case PM__CUBIN_EXTERNS:
		problem(g, "Kernel '%.60s' calls functions that are not in it.", name);
		break;
	default:
		break; /* where parameters lie, how it was compiled, workarounds of the hardware */
	}
}

static void check_attributes(Gate *g, const PmCubinSection *s)
{
	const char *kernel = after(s->name, ".nv.info.");
	PmCubinAttr a;
	size_t at = 0;
	int more;

	while ((more = pm__cubin_attr(&g->c, s, &at, &a)) > 0) {
		if (kernel)
			of_kernel(g, kernel, &a);
		else if ((a.code == PM__CUBIN_REGISTERS || a.code == PM__CUBIN_FRAME ||
			  a.code == PM__CUBIN_MIN_STACK || a.code == PM__CUBIN_MAX_STACK) &&
			 a.n == 8)
			of_symbol(g, a.code, word(a.p), word(a.p + 4));
	}
	if (more < 0)
		problem(g, "Its section '%.80s' cannot be read.", s->name);
}

/* ---- relocations ---- */

static void check_relocations(Gate *g, const PmCubinSection *s)
{
	size_t each = s->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	PmCubinSection target;

	if (s->info >= g->c.n_sections || s->size % each) {
		problem(g, "Its section '%.80s' cannot be read.", s->name);
		return;
	}
	pm__cubin_section(&g->c, s->info, &target);
	/* Code and parameters are read as they are in the file. */
	if (s->size && strcmp(target.name, ".debug_frame") != 0 && strcmp(target.name, ".nv.constant4") != 0)
		problem(g, "Its section '%.80s' is changed when it is loaded.", target.name);
	for (uint64_t at = 0; at < s->size; at += each) {
		PmCubinSymbol of;
		Elf64_Rel r;

		memcpy(&r, g->c.file + s->offset + at, sizeof r);
		if (r.r_offset >= target.size || ELF64_R_SYM(r.r_info) >= g->c.n_symbols) {
			problem(g, "A relocation in '%.80s' is outside what it is for.", s->name);
			return;
		}
		pm__cubin_symbol(&g->c, ELF64_R_SYM(r.r_info), &of);
		if (!strcmp(target.name, ".nv.constant4") &&
		    !(of.section < g->c.n_sections && after(pm__cubin_name(&g->c, of.section), ".nv.global")))
			problem(g,
				"Its section '.nv.constant4' holds the address of '%.60s', which is no table "
				"of CUDA's.",
				of.name);
	}
}

/* ---- all of it ---- */

static void check(Gate *g)
{
	PmCubinSection s;
	PmCubinSymbol y;

	for (size_t i = 0; i < g->c.n_sections; i++) {
		pm__cubin_section(&g->c, i, &s);
		check_section(g, &s);
	}
	for (size_t i = 1; i < g->c.n_symbols; i++) {
		pm__cubin_symbol(&g->c, i, &y);
		check_symbol(g, &y);
	}
	check_globals(g);
	for (size_t i = 0; i < g->c.n_sections; i++) {
		PmCubinKernel *k;

		pm__cubin_section(&g->c, i, &s);
		if (!strcmp(s.name, ".nv.info") || after(s.name, ".nv.info."))
			check_attributes(g, &s);
		/* Blackwell's copies are of a type of their own. */
		if (s.type == SHT_REL || s.type == SHT_RELA)
			check_relocations(g, &s);
		k = after(s.name, ".nv.shared.") ? kernel_named(g, after(s.name, ".nv.shared.")) : NULL;
		if (k)
			k->shared = (uint32_t)s.size;
	}
	g->problems += pm__cubin_code(&g->c, g->out);
	if (!g->n_kernels)
		problem(g, "It has no kernel.");
}

int pm_cubin_gate(const void *cubin, size_t len, const char *const *entries, size_t n_entries,
		  PmCubinKernel *out, size_t max, size_t *n_out, PmStr *problems)
{
	Gate g = { .entry = entries, .n_entries = n_entries, .kernel = out, .max = max, .out = problems };
	const char *why;

	if (max)
		memset(out, 0, max * sizeof *out);
	if (len > PM_CUBIN_MAX_BYTES) {
		problem(&g, "It has %zu bytes; at most %d are read.", len, PM_CUBIN_MAX_BYTES);
	} else {
		why = pm__cubin_open(cubin, len, &g.c);
		if (why)
			problem(&g, "%s", why);
		else
			check(&g);
	}
	if (n_out)
		*n_out = g.n_kernels < max ? g.n_kernels : max;
	return g.problems;
}

int pm_cubin_reads_code(int cc)
{
	return cc > 0 && pm__sass_reads((uint32_t)cc);
}
