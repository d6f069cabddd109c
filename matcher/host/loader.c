/* SPDX-License-Identifier: Apache-2.0 */
/* loader.c - mapping a plugin's shared object and checking what it was built for. */
#include "matcher/host/loader.h"

#include "matcher/pattern/abi.h"
#include "matcher/rewrite/session.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LAST_MAJOR_TRIED = 9, WINDOW = 1 << 24, MAX_PAGE = 1 << 20 };

/* Bits 12 to 23 of the address, by variant; those below the size of a page are dropped. */
static const uintptr_t pages_of[2] = { 0x555000, 0xaaa000 };

typedef const PmPlugin *(*EntryFn)(const PmHost *);

/* ---- imports ---- */

/* ISO C has no conversion between object and function pointers; POSIX makes this one work. */
#define AS_DATA(fn) (*(const void *const *)&(fn))

const void *pm_plugin_import(const char *name)
{
	static void *(*const copy)(void *, const void *, size_t) = memcpy;
	static void *(*const move)(void *, const void *, size_t) = memmove;
	static void *(*const set)(void *, int, size_t) = memset;
	static int (*const compare)(const void *, const void *, size_t) = memcmp;
	static size_t (*const length)(const char *) = strlen;

	if (!strcmp(name, "memcpy"))
		return AS_DATA(copy);
	if (!strcmp(name, "memmove"))
		return AS_DATA(move);
	if (!strcmp(name, "memset"))
		return AS_DATA(set);
	if (!strcmp(name, "memcmp"))
		return AS_DATA(compare);
	if (!strcmp(name, "strlen"))
		return AS_DATA(length);
	return NULL;
}

/* ---- mapping ---- */

static int relocation_kind(uint32_t type)
{
	enum { NONE, RELATIVE, SYMBOL };

#if defined(__x86_64__)
	return type == R_X86_64_NONE ? NONE : type == R_X86_64_RELATIVE ? RELATIVE : SYMBOL;
#else
	return type == R_AARCH64_NONE ? NONE : type == R_AARCH64_RELATIVE ? RELATIVE : SYMBOL;
#endif
}

static PmStatus relocate(const PmElf *e, int t, PmLoaded *l, PmErr *err)
{
	for (size_t i = 0; i < e->n_rela[t]; i++) {
		PmElfReloc r;
		uint64_t value = 0;

		pm_elf_reloc(e, t, i, &r);
		switch (relocation_kind(r.type)) {
		case 0:
			continue;
		case 1:
			value = (uint64_t)(uintptr_t)l->base + r.addend;
			break;
		default: {
			PmElfSymbol s;

			pm_elf_symbol(e, r.symbol, &s);
			value = s.defined ? (uint64_t)(uintptr_t)l->base + s.value
					  : (uint64_t)(uintptr_t)pm_plugin_import(s.name);
			if (!s.defined && !value && s.bind != STB_WEAK)
				return pm_err(err, PM_E_INVALID,
					      "The plugin imports '%s', which no pass gets.", s.name);
			value += r.addend;
		}
		}
		memcpy(l->base + r.offset, &value, sizeof value);
	}
	return PM_OK;
}

static int protection(uint32_t flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
	       (flags & PF_X ? PROT_EXEC : 0);
}

/* The pages that a segment lies on: addresses from .. to - 1 of the object. */
static void pages(const PmElfSegment *s, size_t page, uint64_t *from, uint64_t *to)
{
	*from = s->vaddr / page * page;
	*to = (s->vaddr + s->memsz + page - 1) / page * page;
}

static PmStatus protect(const PmElf *e, size_t page, int flags, PmLoaded *l, PmErr *err)
{
	for (size_t i = 0; i < e->n_segs; i++) {
		uint64_t from, to;

		pages(&e->seg[i], page, &from, &to);
		if (to > from && mprotect(l->base + from, (size_t)(to - from),
					  flags ? flags : protection(e->seg[i].flags)) != 0)
			return pm_err(err, PM_E_ENV, "The memory of a plugin cannot be protected.");
	}
	return PM_OK;
}

/* Protection is by page: an object that was linked for smaller ones has code and data on the same page. */
static PmStatus check_pages(const PmElf *e, size_t page, PmErr *err)
{
	uint64_t from, to, before = 0;

	if (page < 4096 || page > MAX_PAGE)
		return pm_err(err, PM_E_ENV, "This machine's pages have %zu bytes; 4096 to %d are supported.",
			      page, MAX_PAGE);
	for (size_t i = 0; i < e->n_segs; i++, before = to) {
		pages(&e->seg[i], page, &from, &to);
		if (from < before)
			return pm_err(err, PM_E_INVALID,
				      "The segment at address 0x%llx shares a page of %zu bytes with the one "
				      "before it; build the pass on this machine, or link it with "
				      "-Wl,-z,max-page-size=%zu.",
				      (unsigned long long)e->seg[i].vaddr, page, page);
	}
	return PM_OK;
}

PmStatus pm_plugin_map(const PmElf *e, unsigned variant, PmLoaded *out, PmErr *err)
{
	long page = sysconf(_SC_PAGESIZE);

	return pm__plugin_map_by(e, variant, page > 0 ? (size_t)page : 0, out, err);
}

PmStatus pm__plugin_map_by(const PmElf *e, unsigned variant, size_t page, PmLoaded *out, PmErr *err)
{
	size_t span;
	uintptr_t at;
	PmStatus st;
	void *p;

	memset(out, 0, sizeof *out);
	st = check_pages(e, page, err);
	if (st)
		return st;
	span = (size_t)((e->span + page - 1) / page * page);
	out->map_len = span + 2 * (size_t)WINDOW;
	p = mmap(NULL, out->map_len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return pm_err(err, PM_E_ENV, "There is no memory for a plugin of %zu bytes.", span);
	out->map = p;
	at = ((uintptr_t)p + WINDOW - 1) / WINDOW * WINDOW + pages_of[variant & 1] / page * page;
	out->base = out->map + (at - (uintptr_t)p);
	st = protect(e, page, PROT_READ | PROT_WRITE, out, err);
	if (st)
		return st;
	for (size_t i = 0; i < e->n_segs; i++)
		memcpy(out->base + e->seg[i].vaddr, e->file + e->seg[i].offset, (size_t)e->seg[i].filesz);
	st = relocate(e, 0, out, err);
	if (!st)
		st = relocate(e, 1, out, err);
	return st ? st : protect(e, page, 0, out, err);
}

void pm_plugin_unmap(PmLoaded *l)
{
	if (l->map)
		munmap(l->map, l->map_len);
	l->map = l->base = NULL;
}

/* ---- the entry ---- */

static EntryFn find_entry(const PmElf *e, const PmLoaded *l, const char *symbol)
{
	for (size_t i = 1; i < e->n_symbols; i++) {
		PmElfSymbol s;
		EntryFn fn;
		const void *p;

		pm_elf_symbol(e, i, &s);
		if (!s.defined || strcmp(s.name, symbol) != 0)
			continue;
		p = l->base + s.value;
		memcpy(&fn, &p, sizeof fn);
		return fn;
	}
	return NULL;
}

static PmStatus no_entry(const PmElf *e, const PmLoaded *l, const char *name, PmErr *err)
{
	for (int major = 1; major <= LAST_MAJOR_TRIED; major++) {
		char symbol[40];

		snprintf(symbol, sizeof symbol, "passmith_plugin_v%d", major);
		if (major != PM_ABI_MAJOR && find_entry(e, l, symbol))
			return pm_err(err, PM_E_ABI,
				      "'%s' was built for plugin interface %d, this program offers %d.%d; "
				      "rebuild it with "
				      "the headers of this program.",
				      name, major, PM_ABI_MAJOR, PM_ABI_MINOR);
	}
	return pm_err(
		err, PM_E_ABI,
		"'%s' exports no passmith_plugin_v%d; end the pass with PM_PLUGIN(...) and build it with the "
		"published compiler line.",
		name, PM_ABI_MAJOR);
}

static PmStatus check_version(const char *name, const PmPlugin *p, PmPlugin *out, PmErr *err)
{
	if (!p)
		return pm_err(err, PM_E_ABI, "The plugin '%s' says that it cannot work with interface %d.%d.",
			      name, PM_ABI_MAJOR, PM_ABI_MINOR);
	if (!pm__abi_read(p, out, sizeof *out))
		return pm_err(err, PM_E_ABI,
			      "The plugin structure of '%s' " PM__ABI_BAD_SIZE "; define it with PM_PLUGIN.",
			      name, pm__abi_size(p));
	if (out->abi_major != PM_ABI_MAJOR || out->abi_minor > PM_ABI_MINOR)
		return pm_err(err, PM_E_ABI,
			      "'%s' was built for plugin interface %u.%u, this program offers %d.%d; rebuild "
			      "it with "
			      "the headers of this program, or update the program.",
			      name, out->abi_major, out->abi_minor, PM_ABI_MAJOR, PM_ABI_MINOR);
	return PM_OK;
}

PmStatus pm_plugin_open(const PmElf *e, const char *name, PmLoaded *l, PmErr *err)
{
	EntryFn entry = find_entry(e, l, "passmith_plugin_v1");

	return entry ? check_version(name, entry(pm_host_v1()), &l->plugin, err) : no_entry(e, l, name, err);
}
