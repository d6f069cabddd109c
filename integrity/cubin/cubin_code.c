/* SPDX-License-Identifier: Apache-2.0 */
/* cubin_code.c - finds what belongs to each function of a cubin: code, banks, frame, tables; has it read. */
#include "integrity/cubin/cubin_code.h"

#include "base/core/arena.h"
#include "integrity/cubin/sass.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 4, NONE = 0 /* symbol 0 is nobody's */ };

typedef struct Code {
	const PmCubin *c;
	PmStr *out;
	int problems;
	uint32_t *entry; /* of each section, the symbol of the kernel at its beginning */
	uint32_t *frame; /* of each symbol */
} Code;

#define problem(k, ...) pm__cubin_problem((k)->out, &(k)->problems, __VA_ARGS__)
#define after           pm__cubin_after

static uint32_t word(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- symbols and frames ---- */

static void read_symbols(Code *k)
{
	for (size_t i = 1; i < k->c->n_symbols; i++) {
		PmCubinSection s;
		PmCubinSymbol y;

		pm__cubin_symbol(k->c, i, &y);
		if (y.type != STT_FUNC || y.section >= k->c->n_sections)
			continue;
		pm__cubin_section(k->c, y.section, &s);
		if (y.value % 16 || y.value >= s.size || y.size > s.size - y.value)
			problem(k, "Its function '%.60s' is not inside of its section.", y.name);
		else if (y.entry && (y.value || k->entry[y.section] != NONE))
			problem(k, "Its kernel '%.60s' does not begin where its section does.", y.name);
		else if (y.entry)
			k->entry[y.section] = (uint32_t)i;
	}
}

/* .nv.info says the frame and the stack of each function; a function's calls lie in the same section. */
static void read_frames(Code *k, const PmCubinSection *s)
{
	PmCubinAttr a;
	size_t at = 0;

	while (pm__cubin_attr(k->c, s, &at, &a) > 0) {
		uint32_t y, bytes;

		if ((a.code != PM__CUBIN_FRAME && a.code != PM__CUBIN_MIN_STACK) || a.n != 8)
			continue;
		y = word(a.p);
		bytes = word(a.p + 4);
		if (y < k->c->n_symbols && bytes != UINT32_MAX && bytes > k->frame[y])
			k->frame[y] = bytes;
	}
}

/* ---- one function ---- */

static void take_input_pool(const Code *k, const PmCubinSection *s, PmSassBank *bank)
{
	bank->p = s->type == SHT_NOBITS ? NULL : k->c->file + s->offset;
	bank->size = s->size;
}

/* Its own banks; those of the module have no name behind them. */
static void find_input_pools(const Code *k, const char *name, PmSassFunction *f)
{
	static const struct {
		const char *own, *module;
	} banks[PM__SASS_BANKS] = { { ".nv.constant0.", NULL },
				    { NULL, NULL },
				    { ".nv.constant2.", ".nv.constant2" },
				    { NULL, ".nv.constant3" },
				    { NULL, ".nv.constant4" } };

	for (size_t i = 0; i < k->c->n_sections; i++) {
		PmCubinSection s;

		pm__cubin_section(k->c, i, &s);
		if (!after(s.name, ".nv.constant"))
			continue;
		for (int b = 0; b < PM__SASS_BANKS; b++) {
			const char *mine = banks[b].own ? after(s.name, banks[b].own) : NULL;

			if ((mine && !strcmp(mine, name)) ||
			    (banks[b].module && !strcmp(s.name, banks[b].module) && !f->bank[b].size))
				take_input_pool(k, &s, &f->bank[b]);
		}
	}
}

/* What .nv.info.NAME says: bytes of parameters, tables. */
static void read_info(Code *k, const char *name, PmSassFunction *f)
{
	uint64_t from = pm__sass_parameters(f->arch), parameters = 0;

	for (size_t i = 0; i < k->c->n_sections; i++) {
		const char *mine;
		PmCubinSection s;
		PmCubinAttr a;
		size_t at = 0;

		pm__cubin_section(k->c, i, &s);
		mine = after(s.name, ".nv.info.");
		while (mine && !strcmp(mine, name) && pm__cubin_attr(k->c, &s, &at, &a) > 0) {
			if (a.code == PM__CUBIN_PARAMETERS)
				parameters = a.small;
			if (a.code == PM__CUBIN_TABLES) {
				f->tables = a.p;
				f->n_tables = a.n / 4;
			}
		}
	}
	if (f->bank[0].size > from + parameters)
		problem(k, "Kernel '%.60s' has %llu bytes of constant bank 0; its parameters need %llu.",
			name, (unsigned long long)f->bank[0].size, (unsigned long long)(from + parameters));
}

static void read_function(Code *k, size_t section, const PmCubinSection *s, const char *name)
{
	PmSassFunction f = { .size = s->size, .arch = k->c->arch };
	char why[PM__SASS_WHY];
	uint64_t at = 0;
	PmCubinSymbol y;

	if (s->type != SHT_PROGBITS || !s->size || s->size % 16) {
		problem(k, "Its section '%.80s' is not one of instructions.", s->name);
		return;
	}
	if (k->entry[section] == NONE) {
		problem(k, "Its section '%.80s' has code of no kernel.", s->name);
		return;
	}
	pm__cubin_symbol(k->c, k->entry[section], &y);
	if (strcmp(y.name, name) != 0) {
		problem(k, "Its section '%.80s' has the code of '%.60s'.", s->name, y.name);
		return;
	}
	f.code = k->c->file + s->offset;
	f.frame = k->frame[k->entry[section]];
	find_input_pools(k, name, &f);
	read_info(k, name, &f);
	for (int n = 0; n < MAX_SHOWN && pm__sass_next(&f, &at, why); n++)
		problem(k, "Kernel '%.60s' has at 0x%llx an instruction that %s.", name,
			(unsigned long long)at - 16, why);
}

int pm__cubin_code(const PmCubin *c, PmStr *out)
{
	Code k = { .c = c, .out = out };
	PmCubinSection s;

	if (!pm__sass_reads(c->arch))
		return 0;
	k.entry = pm_xcalloc(c->n_sections, sizeof *k.entry);
	k.frame = pm_xcalloc(c->n_symbols + 1, sizeof *k.frame);
	read_symbols(&k);
	for (size_t i = 0; i < c->n_sections; i++) {
		pm__cubin_section(c, i, &s);
		if (!strcmp(s.name, ".nv.info"))
			read_frames(&k, &s);
	}
	for (size_t i = 0; i < c->n_sections; i++) {
		pm__cubin_section(c, i, &s);
		if (after(s.name, ".text."))
			read_function(&k, i, &s, after(s.name, ".text."));
	}
	free(k.entry);
	free(k.frame);
	return k.problems;
}
