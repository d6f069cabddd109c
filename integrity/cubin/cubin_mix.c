/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_mix.c - counts machine instructions by kind. Names are those of sass.def; a width is in bits 73
 * to 75. */
#include "integrity/cubin/cubin_mix.h"

#include "integrity/cubin/cubin_read.h"
#include "integrity/cubin/sass.h"

#include <elf.h>
#include <string.h>

enum { WORD = 16, SIZE_OF_ALU = 9 };

#define SASS_ALU(number, name, n) [(number)] = name,
static const char *const alu[1 << SIZE_OF_ALU] = {
#include "integrity/cubin/sass.def"
};
#define SASS(number, name, kind) [(number)] = name,
static const char *const others[1 << 12] = {
#include "integrity/cubin/sass.def"
};

/* A name means what the first row says that it is or, with a star, begins with. Arithmetic of no row is on
 * integers. */
static const struct {
	const char *name;
	PmMixKind kind;
} rows[] = {
	{ "LDGSTS", PM_MIX_GLOBAL_LOAD },
	{ "LDGDEPBAR", PM_MIX_BARRIER },
	{ "LDG", PM_MIX_GLOBAL_LOAD },
	{ "LDSM", PM_MIX_SHARED_LOAD },
	{ "LDS", PM_MIX_SHARED_LOAD },
	{ "LDL", PM_MIX_LOCAL_LOAD },
	{ "LDC", PM_MIX_CONSTANT_LOAD },
	{ "ULDC", PM_MIX_CONSTANT_LOAD },
	{ "LD", PM_MIX_GLOBAL_LOAD },
	{ "STG", PM_MIX_GLOBAL_STORE },
	{ "STSM", PM_MIX_SHARED_STORE },
	{ "STS", PM_MIX_SHARED_STORE },
	{ "STL", PM_MIX_LOCAL_STORE },
	{ "ST", PM_MIX_GLOBAL_STORE },
	{ "ATOM*", PM_MIX_ATOMIC },
	{ "RED", PM_MIX_ATOMIC },
	{ "REDG", PM_MIX_ATOMIC },
	{ "REDAS", PM_MIX_ATOMIC },
	{ "HMMA", PM_MIX_TENSOR },
	{ "IMMA", PM_MIX_TENSOR },
	{ "BMMA", PM_MIX_TENSOR },
	{ "DMMA", PM_MIX_TENSOR },
	{ "MUFU", PM_MIX_SPECIAL },
	{ "F2*", PM_MIX_CONVERT },
	{ "I2*", PM_MIX_CONVERT },
	{ "FRND*", PM_MIX_CONVERT },
	{ "FLO", PM_MIX_INTEGER },
	{ "D*", PM_MIX_FP64 },
	{ "FENCE", PM_MIX_BARRIER },
	{ "F*", PM_MIX_FP32 },
	{ "H*", PM_MIX_FP16 },
	{ "VHMNMX", PM_MIX_FP16 },
	{ "SHFL", PM_MIX_WARP },
	{ "VOTE*", PM_MIX_WARP },
	{ "MATCH", PM_MIX_WARP },
	{ "REDUX", PM_MIX_WARP },
	{ "BAR", PM_MIX_BARRIER },
	{ "DEPBAR", PM_MIX_BARRIER },
	{ "MEMBAR", PM_MIX_BARRIER },
	{ "ARRIVES", PM_MIX_BARRIER },
	{ "SYNCS", PM_MIX_BARRIER },
	{ "WARPSYNC", PM_MIX_BARRIER },
	{ "UCGABAR", PM_MIX_BARRIER },
	{ "BRA", PM_MIX_BRANCH },
	{ "BRX", PM_MIX_BRANCH },
	{ "CALL", PM_MIX_BRANCH },
	{ "RET", PM_MIX_BRANCH },
};

const char *pm_mix_name(PmMixKind k)
{
	static const char *const name[PM_N_MIX_KINDS] = {
#define PM_MIX_TEXT(name, text) text,
		PM_MIX_KINDS(PM_MIX_TEXT)
#undef PM_MIX_TEXT
	};

	return name[k];
}

static int means(const char *row, const char *name)
{
	size_t n = strlen(row);

	return row[n - 1] == '*' ? !strncmp(row, name, n - 1) : !strcmp(row, name);
}

/* HFMA2 of nothing and nothing puts a number into a register. */
static int is_number(const char *name, uint64_t low)
{
	return !strncmp(name, "HFMA2", 5) && (low >> 24 & 0xff) == 0xff;
}

static PmMixKind kind_of(uint64_t low)
{
	const char *name = others[low & 0xfff];
	PmMixKind otherwise = name ? PM_MIX_OTHER : PM_MIX_INTEGER;

	if (!name)
		name = alu[low & 0x1ff];
	for (size_t i = 0; name && i < sizeof rows / sizeof *rows; i++)
		if (means(rows[i].name, name))
			return is_number(name, low) ? PM_MIX_OTHER : rows[i].kind;
	return name ? otherwise : PM_MIX_OTHER;
}

static uint64_t word8(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

/* Code ends with a branch to itself and is filled up with NOP. */
static int is_padding(const uint8_t *p)
{
	uint64_t low = word8(p), name = low & 0xfff;

	return name == 0x918 || (name == 0x947 && (low >> 34 & 0x3fffff) == 0x3ffffc) ||
	       (name == 0x947 && (low >> 16 & 0xff) == 0xfc && (low >> 34) == 0x3fffffff);
}

static void count_code(const uint8_t *p, uint64_t n, PmCubinMix *out)
{
	static const signed char log[8] = { 0, 0, 1, 1, 2, 3, 4, -1 };

	for (; n >= WORD; p += WORD, n -= WORD) {
		PmMixKind k = kind_of(word8(p));
		int width = log[word8(p + 8) >> 9 & 7];

		if (is_padding(p))
			continue;
		out->total++;
		out->of[k]++;
		if (k <= PM_MIX_LOCAL_STORE && width >= 0)
			out->width[k][width]++;
	}
}

int pm_cubin_mix(const void *cubin, size_t len, const char *name, PmCubinMix *out)
{
	PmCubin c;
	int found = 0;

	memset(out, 0, sizeof *out);
	if (pm__cubin_open(cubin, len, &c) || !pm__sass_reads(c.arch))
		return 0;
	for (size_t i = 0; i < c.n_sections; i++) {
		PmCubinSection s;
		const char *mine;

		pm__cubin_section(&c, i, &s);
		if (s.type == SHT_NOBITS)
			continue;
		mine = pm__cubin_after(s.name, ".text.");
		if (mine && !strcmp(mine, name)) {
			count_code(c.file + s.offset, s.size, out);
			found = 1;
		}
		mine = pm__cubin_after(s.name, ".nv.constant0.");
		if (mine && !strcmp(mine, name) && s.size >= pm__sass_parameters(c.arch))
			out->parameters = s.size - pm__sass_parameters(c.arch);
		mine = pm__cubin_after(s.name, ".nv.constant2.");
		if ((mine && !strcmp(mine, name)) || !strcmp(s.name, ".nv.constant2") ||
		    !strcmp(s.name, ".nv.constant3"))
			out->constant += s.size;
	}
	return found;
}
