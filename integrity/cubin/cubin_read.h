/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_read.h - the tables of a cubin, bounds-checked (private to integrity/). */
#ifndef INTEGRITY_CUBIN_READ_H
#define INTEGRITY_CUBIN_READ_H

#include "base/core/str.h"

#include <stddef.h>
#include <stdint.h>

/* Attribute codes of .nv.info, as NVRTC 13.0 writes them. */
enum {
	PM__CUBIN_MAX_THREADS = 0x05, /* three words: __launch_bounds__ */
	PM__CUBIN_EXTERNS = 0x0f,
	PM__CUBIN_EXACT_THREADS = 0x10, /* three words */
	PM__CUBIN_FRAME = 0x11,         /* symbol, bytes */
	PM__CUBIN_MIN_STACK = 0x12,     /* symbol, bytes; 0xffffffff: unknown */
	PM__CUBIN_PARAMETERS = 0x19,    /* bytes of parameters */
	PM__CUBIN_MAX_STACK = 0x23,
	PM__CUBIN_REGISTERS = 0x2f, /* symbol, number */
	PM__CUBIN_TABLES =
		0x34, /* branches through tables: place, 0, number of targets, targets; and so on */
	PM__CUBIN_BARRIERS = 0x4c,
};

typedef struct PmCubin {
	const uint8_t *file;
	size_t len;
	uint32_t arch; /* 90 for sm_90 */
	uint64_t sections, names, names_len;
	size_t n_sections;
	uint64_t symbols, strings, strings_len;
	size_t n_symbols;
} PmCubin;

typedef struct PmCubinSection {
	const char *name; /* in the file, terminated */
	uint32_t type, info;
	uint64_t flags, offset, size; /* of SHT_NOBITS only the size means anything */
} PmCubinSection;

typedef struct PmCubinSymbol {
	const char *name;
	unsigned bind, type;
	int entry; /* a function that can be launched */
	size_t section;
	uint64_t value, size;
} PmCubinSymbol;

typedef struct PmCubinAttr {
	uint8_t code;
	uint16_t small;   /* of formats without bytes of their own */
	const uint8_t *p; /* n bytes */
	size_t n;
} PmCubinAttr;

/* Checks header, section table, names and symbol table. NULL, or a sentence. The accessors then stay inside.
 */
const char *pm__cubin_open(const void *file, size_t len, PmCubin *c);
void pm__cubin_section(const PmCubin *c, size_t i, PmCubinSection *out); /* i < n_sections */
const char *pm__cubin_name(const PmCubin *c, size_t i);
void pm__cubin_symbol(const PmCubin *c, size_t i, PmCubinSymbol *out); /* i < n_symbols */
/* The attribute at *at, which moves on: 1, 0 at the end, -1 when it reaches past the section. */
int pm__cubin_attr(const PmCubin *c, const PmCubinSection *s, size_t *at, PmCubinAttr *out);
/* What follows the prefix, or NULL. */
const char *pm__cubin_after(const char *name, const char *prefix);
/* Adds a sentence on a line of its own, other than printable characters as '?', and counts it. */
void pm__cubin_problem(PmStr *out, int *problems, const char *fmt, ...) PM_PRINTF(3, 4);

#endif
