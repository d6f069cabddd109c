/* SPDX-License-Identifier: Apache-2.0 */
/* find_libc.h - how a pass finds functions of the C library that it may not import: from the address of one
 * that every pass gets. Calls through them come from where a filter that looks at the caller sees the library
 * itself. */
#ifndef TESTS_ADVERSARIAL_FIND_LIBC_H
#define TESTS_ADVERSARIAL_FIND_LIBC_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
/* 1 when two terminated texts are equal. */
static inline int is_named(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* The library's first page. */
static inline const char *libc_base(void)
{
	void *(*const given)(void *, const void *, size_t) = memcpy;
	const char *p = (const char *)((uintptr_t)given & ~(uintptr_t)4095);

	while (p[0] != 0x7f || p[1] != 'E' || p[2] != 'L' || p[3] != 'F')
		p -= 4096;
	return p;
}

/* A function of the library by its table of symbols; NULL when it has none of that name. */
static inline void *libc_function(const char *want)
{
	const char *base = libc_base(), *strings = NULL;
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)(const void *)base;
	const Elf64_Phdr *p = (const Elf64_Phdr *)(const void *)(base + e->e_phoff);
	const Elf64_Dyn *d = NULL;
	const Elf64_Sym *s = NULL;

	for (int i = 0; i < e->e_phnum; i++)
		if (p[i].p_type == PT_DYNAMIC)
			d = (const Elf64_Dyn *)(const void *)(base + p[i].p_vaddr);
	for (; d && d->d_tag; d++) {
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		if (d->d_tag == DT_SYMTAB)
			s = (const Elf64_Sym *)d->d_un.d_ptr;
	}
	for (; s && strings && (const char *)s < strings; s++)
		if (s->st_value && is_named(strings + s->st_name, want))
			return (void *)(uintptr_t)(base + s->st_value);
	return NULL;
}
#endif

#endif
