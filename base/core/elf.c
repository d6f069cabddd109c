/* SPDX-License-Identifier: Apache-2.0 */
/* elf.c - a bounds-checked reader of ELF shared objects.
 *
 * Tables are found through addresses in the dynamic table, as a loader finds them, and must lie in the part
 * of one loaded segment that comes from the file.
 */
#include "base/core/elf.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PAGE = 4096 };

typedef struct Reader {
	PmElf *e;
	PmElfSay *say;
	void *arg;
	int problems;
	uint64_t dyn_at, dyn_len; /* of PT_DYNAMIC, in the file */
	int n_dynamic_headers;
} Reader;

__attribute__((format(printf, 2, 3))) static void problem(Reader *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	r->problems++;
	if (r->say)
		r->say(r->arg, text);
}

/* Copies n bytes at `offset`, which the caller has checked. Unaligned files are fine. */
static void fetch(const PmElf *e, uint64_t offset, void *out, size_t n)
{
	memcpy(out, e->file + offset, n);
}

static int inside(uint64_t offset, uint64_t n, uint64_t len)
{
	return offset <= len && n <= len - offset;
}

/* ---- header and program headers ---- */

static int read_header(Reader *r, Elf64_Ehdr *h)
{
	static const uint8_t magic[4] = { 0x7f, 'E', 'L', 'F' };
	PmElf *e = r->e;

	if (e->len < sizeof *h || memcmp(e->file, magic, 4) != 0) {
		problem(r, "It is no ELF file.");
		return 0;
	}
	fetch(e, 0, h, sizeof *h);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB) {
		problem(r, "It is not a 64-bit little-endian ELF file.");
		return 0;
	}
	if (h->e_type != ET_DYN)
		problem(r, "Its ELF type is %u; a shared object has %d.", h->e_type, ET_DYN);
	if (h->e_machine != PM_ELF_NATIVE)
		problem(r, "It was built for machine %u; this program runs on %d.", h->e_machine,
			PM_ELF_NATIVE);
	if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > PM_ELF_MAX_HEADERS) {
		problem(r, "It has %u program headers of %u bytes; at most %d of %zu are read.", h->e_phnum,
			h->e_phentsize, PM_ELF_MAX_HEADERS, sizeof(Elf64_Phdr));
		return 0;
	}
	if (!inside(h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr), e->len)) {
		problem(r, "Its program headers lie outside the file.");
		return 0;
	}
	return 1;
}

static void add_segment(Reader *r, const Elf64_Phdr *p)
{
	PmElf *e = r->e;
	const PmElfSegment *last = e->n_segs ? &e->seg[e->n_segs - 1] : NULL;
	uint64_t before = last ? last->vaddr + last->memsz : 0;

	if (e->n_segs == PM_ELF_MAX_SEGMENTS) {
		problem(r, "It has more than %d segments to load.", PM_ELF_MAX_SEGMENTS);
		return;
	}
	if (!inside(p->p_offset, p->p_filesz, e->len)) {
		problem(r, "The segment at address 0x%" PRIx64 " reaches past the end of the file.",
			p->p_vaddr);
		return;
	}
	if (p->p_memsz < p->p_filesz || !inside(p->p_vaddr, p->p_memsz, PM_ELF_MAX_SPAN)) {
		problem(r,
			"The segment at address 0x%" PRIx64 " has %" PRIu64
			" bytes of memory; addresses stay below %d.",
			p->p_vaddr, p->p_memsz, PM_ELF_MAX_SPAN);
		return;
	}
	if (p->p_align < PAGE || (p->p_align & (p->p_align - 1)) || p->p_align > (1u << 21) ||
	    (p->p_vaddr - p->p_offset) % PAGE)
		problem(r, "The segment at address 0x%" PRIx64 " is aligned to %" PRIu64 " bytes.",
			p->p_vaddr, p->p_align);
	/* On pages, since protection is by page. */
	if (last && p->p_vaddr / PAGE < (before + PAGE - 1) / PAGE)
		problem(r, "The segment at address 0x%" PRIx64 " overlaps or precedes the one before it.",
			p->p_vaddr);
	e->seg[e->n_segs++] = (PmElfSegment){ p->p_offset, p->p_vaddr, p->p_filesz, p->p_memsz, p->p_flags };
	if (p->p_vaddr + p->p_memsz > e->span)
		e->span = p->p_vaddr + p->p_memsz;
}

static void read_segments(Reader *r, const Elf64_Ehdr *h)
{
	PmElf *e = r->e;

	for (unsigned i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr p;

		fetch(e, h->e_phoff + i * sizeof p, &p, sizeof p);
		e->header_types[e->n_headers] = p.p_type;
		e->header_flags[e->n_headers++] = p.p_flags;
		if (p.p_type == PT_LOAD)
			add_segment(r, &p);
		if (p.p_type == PT_DYNAMIC) {
			r->n_dynamic_headers++;
			r->dyn_at = p.p_vaddr;
			r->dyn_len = p.p_memsz;
		}
	}
	if (!e->n_segs)
		problem(r, "It has no segment to load.");
	if (r->n_dynamic_headers != 1)
		problem(r, "It has %d dynamic tables; a shared object has one.", r->n_dynamic_headers);
}

/* The file offset of n bytes at an address, or 0 with *ok = 0. */
static uint64_t locate(const PmElf *e, uint64_t vaddr, uint64_t n, int *ok)
{
	for (size_t i = 0; i < e->n_segs; i++) {
		const PmElfSegment *s = &e->seg[i];

		if (vaddr >= s->vaddr && inside(vaddr - s->vaddr, n, s->filesz)) {
			*ok = 1;
			return s->offset + (vaddr - s->vaddr);
		}
	}
	*ok = 0;
	return 0;
}

/* ---- the dynamic table ---- */

static void read_dynamic(Reader *r)
{
	PmElf *e = r->e;
	uint64_t n = r->dyn_len / sizeof(Elf64_Dyn), at;
	int ok;

	if (n > PM_ELF_MAX_DYNAMIC)
		n = PM_ELF_MAX_DYNAMIC;
	at = locate(e, r->dyn_at, n * sizeof(Elf64_Dyn), &ok);
	if (!ok || !n) {
		problem(r, "Its dynamic table lies outside the loaded segments.");
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		Elf64_Dyn d;

		fetch(e, at + i * sizeof d, &d, sizeof d);
		if (d.d_tag == DT_NULL)
			return;
		e->dyn[e->n_dyn++] = (PmElfDyn){ d.d_tag, d.d_un.d_val };
	}
	problem(r, "Its dynamic table has no end within %d entries.", PM_ELF_MAX_DYNAMIC);
}

int pm_elf_dynamic(const PmElf *e, int64_t tag, uint64_t *value)
{
	int n = 0;

	for (size_t i = 0; i < e->n_dyn; i++)
		if (e->dyn[i].tag == tag) {
			n++;
			*value = e->dyn[i].value;
		}
	return n;
}

static uint64_t entry(const PmElf *e, int64_t tag)
{
	uint64_t value = 0;

	pm_elf_dynamic(e, tag, &value);
	return value;
}

/* ---- symbols ---- */

/* The number of symbols by DT_HASH, or -1. */
static int64_t count_by_hash(Reader *r, uint64_t vaddr)
{
	uint32_t head[2];
	int ok;
	uint64_t at = locate(r->e, vaddr, sizeof head, &ok);

	if (!ok)
		return -1;
	fetch(r->e, at, head, sizeof head);
	locate(r->e, vaddr, 8 + 4 * ((uint64_t)head[0] + head[1]), &ok);
	return ok ? (int64_t)head[1] : -1;
}

/* The same by DT_GNU_HASH: one past the end of the last chain, or -1. */
static int64_t count_by_gnu_hash(Reader *r, uint64_t vaddr)
{
	struct {
		uint32_t n_buckets, first, n_bloom, shift;
	} h;
	uint64_t at, buckets, chain;
	uint32_t last = 0, word;
	int ok;

	at = locate(r->e, vaddr, sizeof h, &ok);
	if (!ok)
		return -1;
	fetch(r->e, at, &h, sizeof h);
	buckets = vaddr + sizeof h + 8 * (uint64_t)h.n_bloom;
	chain = buckets + 4 * (uint64_t)h.n_buckets;
	at = locate(r->e, buckets, 4 * (uint64_t)h.n_buckets, &ok);
	if (!ok)
		return -1;
	for (uint32_t i = 0; i < h.n_buckets; i++) {
		fetch(r->e, at + 4 * (uint64_t)i, &word, 4);
		if (word > last)
			last = word;
	}
	if (last < h.first) /* all buckets are empty: nothing is exported */
		return h.first <= PM_ELF_MAX_SYMBOLS ? (int64_t)h.first : -1;
	for (; last <= PM_ELF_MAX_SYMBOLS; last++) {
		at = locate(r->e, chain + 4 * (uint64_t)(last - h.first), 4, &ok);
		if (!ok)
			return -1;
		fetch(r->e, at, &word, 4);
		if (word & 1)
			return (int64_t)last + 1;
	}
	return -1;
}

static void count_symbols(Reader *r)
{
	uint64_t value = 0;
	int64_t hash = -2, gnu = -2;

	if (pm_elf_dynamic(r->e, DT_HASH, &value))
		hash = count_by_hash(r, value);
	if (pm_elf_dynamic(r->e, DT_GNU_HASH, &value))
		gnu = count_by_gnu_hash(r, value);
	if (hash == -1 || gnu == -1 || hash > PM_ELF_MAX_SYMBOLS)
		problem(r, "A hash table of its symbols is malformed.");
	else if (hash == -2 && gnu == -2)
		problem(r, "It has no hash table of symbols.");
	else if (hash >= 0 && gnu >= 0 && hash != gnu)
		problem(r, "Its two hash tables disagree on the number of symbols: %d and %d.", (int)hash,
			(int)gnu);
	else
		r->e->n_symbols = (size_t)(hash >= 0 ? hash : gnu);
}

/* Every name must end inside the string table, which itself ends with a zero byte. */
static void check_names(Reader *r)
{
	PmElf *e = r->e;

	for (size_t i = 0; i < e->n_symbols; i++) {
		Elf64_Sym s;

		fetch(e, e->symtab + i * sizeof s, &s, sizeof s);
		if (s.st_name >= e->strsz) {
			problem(r, "The name of symbol %zu lies outside the string table.", i);
			e->n_symbols = 0;
			return;
		}
	}
}

static void read_symbols(Reader *r)
{
	PmElf *e = r->e;
	uint64_t strings = entry(e, DT_STRTAB), syms = entry(e, DT_SYMTAB);
	int ok;

	e->strsz = entry(e, DT_STRSZ);
	e->strtab = locate(e, strings, e->strsz, &ok);
	if (!ok || !e->strsz || e->file[e->strtab + e->strsz - 1] != 0) {
		problem(r, "Its string table lies outside the file or has no end.");
		e->strsz = 0;
		return;
	}
	if (entry(e, DT_SYMENT) != sizeof(Elf64_Sym)) {
		problem(r, "Its symbols have %" PRIu64 " bytes; %zu are expected.", entry(e, DT_SYMENT),
			sizeof(Elf64_Sym));
		return;
	}
	count_symbols(r);
	e->symtab = locate(e, syms, e->n_symbols * sizeof(Elf64_Sym), &ok);
	if (!ok) {
		problem(r, "Its symbol table lies outside the file.");
		e->n_symbols = 0;
		return;
	}
	check_names(r);
}

void pm_elf_symbol(const PmElf *e, size_t i, PmElfSymbol *out)
{
	Elf64_Sym s;

	fetch(e, e->symtab + i * sizeof s, &s, sizeof s);
	out->name = (const char *)e->file + e->strtab + s.st_name;
	out->value = s.st_value;
	out->size = s.st_size;
	out->bind = ELF64_ST_BIND(s.st_info);
	out->type = ELF64_ST_TYPE(s.st_info);
	out->defined = s.st_shndx != SHN_UNDEF;
}

/* ---- relocations ---- */

static void read_table(Reader *r, int t, int64_t at_tag, int64_t size_tag)
{
	PmElf *e = r->e;
	uint64_t size = entry(e, size_tag);
	int ok = 1;

	if (!size)
		return;
	if (size % sizeof(Elf64_Rela) || size / sizeof(Elf64_Rela) > PM_ELF_MAX_RELOCS) {
		problem(r, "A relocation table has %" PRIu64 " bytes.", size);
		return;
	}
	e->rela[t] = locate(e, entry(e, at_tag), size, &ok);
	if (!ok)
		problem(r, "A relocation table lies outside the file.");
	else
		e->n_rela[t] = (size_t)(size / sizeof(Elf64_Rela));
}

static void check_relocs(Reader *r, int t)
{
	PmElf *e = r->e;

	for (size_t i = 0; i < e->n_rela[t]; i++) {
		PmElfReloc rel;

		pm_elf_reloc(e, t, i, &rel);
		if (!pm_elf_segment_at(e, rel.offset, 8)) {
			problem(r, "Relocation %zu changes address 0x%" PRIx64 ", which is not loaded.", i,
				rel.offset);
			return;
		}
		if (rel.symbol >= e->n_symbols && rel.symbol != 0) {
			problem(r, "Relocation %zu names symbol %u of %zu.", i, rel.symbol, e->n_symbols);
			return;
		}
	}
}

void pm_elf_reloc(const PmElf *e, int t, size_t i, PmElfReloc *out)
{
	Elf64_Rela rel;

	fetch(e, e->rela[t] + i * sizeof rel, &rel, sizeof rel);
	out->offset = rel.r_offset;
	out->addend = (uint64_t)rel.r_addend;
	out->type = (uint32_t)ELF64_R_TYPE(rel.r_info);
	out->symbol = (uint32_t)ELF64_R_SYM(rel.r_info);
}

const PmElfSegment *pm_elf_segment_at(const PmElf *e, uint64_t vaddr, uint64_t n)
{
	for (size_t i = 0; i < e->n_segs; i++)
		if (vaddr >= e->seg[i].vaddr && inside(vaddr - e->seg[i].vaddr, n, e->seg[i].memsz))
			return &e->seg[i];
	return NULL;
}

int pm_elf_read(const void *file, size_t len, PmElf *out, PmElfSay *say, void *arg)
{
	Reader r = { .e = out, .say = say, .arg = arg };
	Elf64_Ehdr h;

	memset(out, 0, sizeof *out);
	out->file = file;
	out->len = len;
	if (!read_header(&r, &h))
		return r.problems;
	read_segments(&r, &h);
	if (r.n_dynamic_headers != 1)
		return r.problems;
	read_dynamic(&r);
	if (!out->n_dyn)
		return r.problems;
	read_symbols(&r);
	read_table(&r, 0, DT_RELA, DT_RELASZ);
	read_table(&r, 1, DT_JMPREL, DT_PLTRELSZ);
	check_relocs(&r, 0);
	check_relocs(&r, 1);
	return r.problems;
}
