/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_read.c - the tables of a cubin. Every offset and every name is checked once, by pm__cubin_open. */
#include "integrity/cubin/cubin_read.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MACHINE = 190, MAX_SECTIONS = 4096, ENTRY = 0x10 /* in st_other */ };

static int inside(uint64_t offset, uint64_t n, uint64_t len)
{
	return offset <= len && n <= len - offset;
}

static void header_of(const PmCubin *c, size_t i, Elf64_Shdr *out)
{
	memcpy(out, c->file + c->sections + i * sizeof *out, sizeof *out);
}

/* 1 when a terminated string begins there. */
static int is_string(const PmCubin *c, uint64_t table, uint64_t table_len, uint64_t at)
{
	return at < table_len && memchr(c->file + table + at, 0, (size_t)(table_len - at)) != NULL;
}

static const char *read_header(PmCubin *c)
{
	static const uint8_t magic[4] = { 0x7f, 'E', 'L', 'F' };
	Elf64_Shdr names;
	Elf64_Ehdr h;

	if (c->len < sizeof h || memcmp(c->file, magic, 4) != 0)
		return "It is no ELF file.";
	memcpy(&h, c->file, sizeof h);
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != MACHINE)
		return "It is not code for an NVIDIA GPU.";
	if (h.e_type != ET_EXEC)
		return "It is not finished: it is still to be linked.";
	if (h.e_shentsize != sizeof(Elf64_Shdr) || h.e_shnum == 0 || h.e_shnum > MAX_SECTIONS ||
	    !inside(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr), c->len))
		return "Its section table lies outside the file.";
	c->arch = h.e_flags >> 8 & 0xff;
	if (h.e_ident[EI_ABIVERSION] < 8)
		c->arch = h.e_flags & 0xff;
	c->sections = h.e_shoff;
	c->n_sections = h.e_shnum;
	if (h.e_shstrndx >= h.e_shnum)
		return "It has no names for its sections.";
	header_of(c, h.e_shstrndx, &names);
	if (names.sh_type != SHT_STRTAB || !inside(names.sh_offset, names.sh_size, c->len))
		return "The names of its sections lie outside the file.";
	c->names = names.sh_offset;
	c->names_len = names.sh_size;
	return NULL;
}

static const char *read_symbols(PmCubin *c, const Elf64_Shdr *s)
{
	Elf64_Shdr strings;

	if (c->symbols)
		return "It has two symbol tables.";
	if (s->sh_entsize != sizeof(Elf64_Sym) || s->sh_link >= c->n_sections || !s->sh_offset)
		return "Its symbol table cannot be read.";
	header_of(c, s->sh_link, &strings);
	if (strings.sh_type != SHT_STRTAB || !inside(strings.sh_offset, strings.sh_size, c->len))
		return "The names of its symbols lie outside the file.";
	c->symbols = s->sh_offset;
	c->n_symbols = (size_t)(s->sh_size / sizeof(Elf64_Sym));
	c->strings = strings.sh_offset;
	c->strings_len = strings.sh_size;
	for (size_t i = 0; i < c->n_symbols; i++) {
		Elf64_Sym y;

		memcpy(&y, c->file + c->symbols + i * sizeof y, sizeof y);
		if (!is_string(c, c->strings, c->strings_len, y.st_name))
			return "The name of a symbol lies outside the file.";
	}
	return NULL;
}

const char *pm__cubin_open(const void *file, size_t len, PmCubin *c)
{
	const char *why;

	memset(c, 0, sizeof *c);
	c->file = file;
	c->len = len;
	why = read_header(c);
	for (size_t i = 0; !why && i < c->n_sections; i++) {
		Elf64_Shdr s;

		header_of(c, i, &s);
		if (!is_string(c, c->names, c->names_len, s.sh_name))
			why = "The name of a section lies outside the file.";
		else if (s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL &&
			 !inside(s.sh_offset, s.sh_size, len))
			why = "A section lies outside the file.";
		else if (s.sh_type == SHT_SYMTAB)
			why = read_symbols(c, &s);
		else if (s.sh_type == SHT_DYNAMIC || s.sh_type == SHT_DYNSYM || s.sh_type == SHT_INIT_ARRAY)
			why = "It has a section that only programs of the host have.";
	}
	if (!why && !c->symbols)
		why = "It has no symbols.";
	return why;
}

void pm__cubin_section(const PmCubin *c, size_t i, PmCubinSection *out)
{
	Elf64_Shdr s;

	header_of(c, i, &s);
	*out = (PmCubinSection){ .name = (const char *)c->file + c->names + s.sh_name,
				 .type = s.sh_type,
				 .info = s.sh_info,
				 .flags = s.sh_flags,
				 .offset = s.sh_offset,
				 .size = s.sh_type == SHT_NULL ? 0 : s.sh_size };
}

const char *pm__cubin_name(const PmCubin *c, size_t i)
{
	PmCubinSection s;

	pm__cubin_section(c, i, &s);
	return s.name;
}

void pm__cubin_symbol(const PmCubin *c, size_t i, PmCubinSymbol *out)
{
	Elf64_Sym y;

	memcpy(&y, c->file + c->symbols + i * sizeof y, sizeof y);
	*out = (PmCubinSymbol){ .name = (const char *)c->file + c->strings + y.st_name,
				.bind = ELF64_ST_BIND(y.st_info),
				.type = ELF64_ST_TYPE(y.st_info),
				.entry = (y.st_other & ENTRY) != 0,
				.section = y.st_shndx,
				.value = y.st_value,
				.size = y.st_size };
}

/* Formats: 1 nothing, 2 a byte, 3 two bytes, 4 a length and as many bytes. */
int pm__cubin_attr(const PmCubin *c, const PmCubinSection *s, size_t *at, PmCubinAttr *out)
{
	const uint8_t *p = c->file + s->offset + *at;
	size_t left = (size_t)s->size - *at, n;

	if (s->type == SHT_NOBITS)
		return s->size ? -1 : 0;
	if (!left)
		return 0;
	if (left < 4 || p[0] < 1 || p[0] > 4)
		return -1;
	n = (size_t)p[2] | (size_t)p[3] << 8;
	*out = (PmCubinAttr){ .code = p[1], .small = (uint16_t)(p[0] == 2 ? p[2] : n), .p = p + 4 };
	if (p[0] == 4) {
		if (n > left - 4)
			return -1;
		out->n = n;
		*at += n;
	}
	*at += 4;
	return 1;
}

const char *pm__cubin_after(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

void pm__cubin_problem(PmStr *out, int *problems, const char *fmt, ...)
{
	char line[384];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	for (char *p = line; *p; p++) /* names in it are a stranger's */
		if (*p < ' ' || *p > '~')
			*p = '?';
	pm_str_addf(out, "%s\n", line);
	(*problems)++;
}
