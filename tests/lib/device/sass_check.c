/* SPDX-License-Identifier: Apache-2.0 */
/* sass_check.c - see sass_check.h. Field by field, by the numbers that changing single bits has shown. */
#include "tests/lib/device/sass_check.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

typedef struct File {
	const unsigned char *p;
	size_t len;
	int late; /* sm_90 */
	size_t n;
} File;

/* Bits 0 to 63, and 64 to 127. */
typedef struct Word {
	uint64_t half[2];
} Word;

static Elf64_Shdr header(const File *f, size_t i)
{
	Elf64_Ehdr e;
	Elf64_Shdr s;

	memcpy(&e, f->p, sizeof e);
	memcpy(&s, f->p + e.e_shoff + i * sizeof s, sizeof s);
	return s;
}

static const char *name(const File *f, size_t i)
{
	Elf64_Ehdr e;

	memcpy(&e, f->p, sizeof e);
	return (const char *)f->p + header(f, e.e_shstrndx).sh_offset + header(f, i).sh_name;
}

/* Bytes of the section PREFIX NAME. */
static uint64_t size_of(const File *f, const char *prefix, const char *of)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strncmp(name(f, i), prefix, strlen(prefix)) && !strcmp(name(f, i) + strlen(prefix), of))
			return header(f, i).sh_size;
	return 0;
}

static uint64_t field(Word w, int from, int n)
{
	uint64_t v = from < 64 ? w.half[0] >> from : w.half[1] >> (from - 64);

	if (from && from < 64)
		v |= w.half[1] << (64 - from);
	return v & (UINT64_MAX >> (64 - n));
}

/* 1 when the kernel may read the word of a bank at that place. */
static int may_read(const File *f, const char *kernel, uint64_t bank, uint64_t at)
{
	uint64_t from = f->late ? 0x210 : 0x160, end = size_of(f, ".nv.constant0.", kernel), own;

	if (bank == 0 && at >= from)
		return at < end;
	if (bank == 0) /* not: what begins at 0x30 or lies at the addresses of constants */
		return at < 0x30 || (at >= 0x114 && at < (f->late ? 0x118 : 0x120)) ||
		       (f->late &&
			((at >= 0x140 && at < 0x168) || at == 0x188 || (at >= 0x208 && at < 0x210)));
	own = bank == 2 ? size_of(f, ".nv.constant2.", kernel) : 0;
	if (bank == 2 && !own)
		own = size_of(f, ".nv.constant2", "");
	if (bank == 3)
		own = size_of(f, ".nv.constant3", "");
	if (bank == 4)
		own = size_of(f, ".nv.constant4", "");
	return at < own;
}

static const char *constants(const File *f, const char *kernel, Word w)
{
	unsigned op = (unsigned)field(w, 0, 12), base = op & 0x1ff, form = op >> 9;
	int load = op == 0xb82 || op == 0xab9 || op == 0xabb;

	if (op == 0xb1d || (base >= 0x114 && !load) || (form != 3 && form != 5))
		return NULL;
	if (field(w, 91, 1) != (op == 0xabb))
		return "a bank that a register chooses";
	if (load && field(w, 78, 2))
		return "an index that reaches other banks";
	if (op == 0xb82 && field(w, 24, 8) != 255 && field(w, 54, 5) != 3 && field(w, 54, 5) != 2)
		return "a bank by an index";
	if (op == 0xabb && field(w, 24, 6) != 63 && field(w, 54, 5) != 3 && field(w, 54, 5) != 2)
		return "a uniform bank by an index";
	if (!may_read(f, kernel, field(w, 54, 5), load ? field(w, 38, 16) : field(w, 40, 14) * 4))
		return "a constant that is not the kernel's";
	return NULL;
}

static const char *targets(const File *f, uint64_t at, uint64_t size, Word w)
{
	unsigned op = (unsigned)field(w, 0, 12);
	uint64_t to, shift;

	if (op != 0x947 && op != 0x944 && op != 0x945 && !(op == 0x348 && field(w, 86, 1)))
		return NULL;
	if (op == 0x945)
		to = (field(w, 34, 30) ^ 0x20000000) - 0x20000000;
	else
		to = (field(w, 34, 48) ^ 0x800000000000) - 0x800000000000;
	shift = f->late && op != 0x945 ? (to << 8 | field(w, 16, 8)) : to;
	to = at + 16 + shift * 4;
	return to >= size || to & 15 ? "a branch out of the kernel" : NULL;
}

static const char *one(const File *f, const char *kernel, uint64_t at, uint64_t size, Word w)
{
	unsigned op = (unsigned)field(w, 0, 12), r = (unsigned)field(w, 72, 8);
	const char *why = constants(f, kernel, w);

	if (!why)
		why = targets(f, at, size, w);
	if (why)
		return why;
	if ((op == 0x805 || op == 0x919 || op == 0x9c3) &&
	    (r == 1 || r == 3 || (r >= 0x40 && r < 0x88) || r == 0x2c || r == 0x1c))
		return "a clock, counter or number of the hardware";
	if ((op == 0x983 || op == 0x387 || op == 0x987) && field(w, 24, 8) == 255 && !field(w, 91, 1))
		return "local memory by number";
	if ((op == 0x983 || op == 0x387) && field(w, 24, 8) == 1 && !field(w, 91, 1) && field(w, 63, 1))
		return "local memory below the frame";
	if (op == 0x943 || op == 0x343 || op == 0x94a || op == 0x94c || op == 0x958 || op == 0x34e ||
	    op == 0x95d || op == 0x95c || op == 0x3c0 || op == 0x3c1)
		return "a jump through a register, a sleep, a trap or the base of local memory";
	return NULL;
}

const char *pm_sass_check(const void *cubin, size_t len)
{
	File f = { cubin, len, 0, 0 };
	unsigned arch;
	Elf64_Ehdr e;

	memcpy(&e, cubin, sizeof e);
	f.n = e.e_shnum;
	arch = e.e_ident[EI_ABIVERSION] < 8 ? e.e_flags & 0xff : e.e_flags >> 8 & 0xff;
	f.late = arch == 90;
	if (arch != 80 && arch != 86 && arch != 89 && arch != 90)
		return NULL;
	for (size_t i = 0; i < f.n; i++) {
		Elf64_Shdr s = header(&f, i);

		if (strncmp(name(&f, i), ".text.", 6) != 0)
			continue;
		for (uint64_t at = 0; at + 16 <= s.sh_size; at += 16) {
			const char *why;
			Word w;

			memcpy(&w, f.p + s.sh_offset + at, 16);
			why = one(&f, name(&f, i) + 6, at, s.sh_size, w);
			if (why)
				return why;
		}
	}
	return NULL;
}
