/* SPDX-License-Identifier: Apache-2.0 */
/* emu_lines.c - DWARF 4: the line table, and the places of inlined functions. */
#include "runtime/emu/emu_lines.h"

#include "base/core/vec.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ABBREVS = 4096, MAX_ATTRS = 64, MAX_DEPTH = 256, MAX_ROWS = 1 << 22 };
/* Names of the format (DWARF 4, section 7). */
enum { TAG_INLINED = 0x1d, TAG_UNIT = 0x11 };
enum {
	AT_LOW = 0x11,
	AT_HIGH = 0x12,
	AT_RANGES = 0x55,
	AT_CALL_COLUMN = 0x57,
	AT_CALL_FILE = 0x58,
	AT_CALL_LINE = 0x59
};

typedef struct Row {
	uint64_t at;
	uint32_t file, line, column; /* line 0: nobody's from here on */
} Row;

typedef struct Inlined {
	uint64_t from, to;
	uint32_t file, line, column; /* of the call */
	int depth;
} Inlined;

struct PmEmuLines {
	PM_VEC(Row) rows; /* ascending */
	PM_VEC(Inlined) inlined;
	PM_VEC(char *) files; /* from 1, as the format counts */
};

/* Bytes to be read; past the end everything is 0. */
typedef struct Bytes {
	const uint8_t *p, *end;
	int cut;
} Bytes;

static uint64_t fixed(Bytes *b, int n)
{
	uint64_t v = 0;

	if (b->end - b->p < n) {
		b->p = b->end;
		b->cut = 1;
		return 0;
	}
	for (int i = n - 1; i >= 0; i--)
		v = v << 8 | b->p[i];
	b->p += n;
	return v;
}

static uint64_t leb(Bytes *b, int with_sign)
{
	uint64_t v = 0, byte;
	unsigned shift = 0;

	do {
		byte = fixed(b, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (with_sign && shift < 64 && byte & 0x40)
		v |= ~(uint64_t)0 << shift;
	return v;
}

static const char *text(Bytes *b)
{
	const uint8_t *from = b->p, *zero = memchr(from, 0, (size_t)(b->end - from));

	if (!zero) {
		b->p = b->end;
		b->cut = 1;
		return "";
	}
	b->p = zero + 1;
	return (const char *)from;
}

static void skip(Bytes *b, uint64_t n)
{
	if (n > (uint64_t)(b->end - b->p)) {
		b->p = b->end;
		b->cut = 1;
	} else {
		b->p += n;
	}
}

/* ---- sections ---- */

static Bytes section(const uint8_t *file, size_t n, const char *name)
{
	Bytes none = { file, file, 0 };
	Elf64_Ehdr h;
	Elf64_Shdr names, s;
	size_t len = strlen(name) + 1;

	if (n < sizeof h)
		return none;
	memcpy(&h, file, sizeof h);
	if (h.e_shentsize != sizeof s || h.e_shstrndx >= h.e_shnum || h.e_shoff > n ||
	    (n - h.e_shoff) / sizeof s < h.e_shnum)
		return none;
	memcpy(&names, file + h.e_shoff + h.e_shstrndx * sizeof s, sizeof names);
	if (names.sh_offset > n || names.sh_size > n - names.sh_offset)
		return none;
	for (size_t i = 0; i < h.e_shnum; i++) {
		memcpy(&s, file + h.e_shoff + i * sizeof s, sizeof s);
		if (s.sh_type != SHT_PROGBITS || s.sh_flags & SHF_COMPRESSED || s.sh_offset > n ||
		    s.sh_size > n - s.sh_offset || s.sh_name > names.sh_size ||
		    names.sh_size - s.sh_name < len ||
		    memcmp(file + names.sh_offset + s.sh_name, name, len) != 0)
			continue;
		return (Bytes){ file + s.sh_offset, file + s.sh_offset + s.sh_size, 0 };
	}
	return none;
}

/* ---- the line table ---- */

typedef struct Program {
	unsigned least, range, first_special;
	int base;
	uint8_t operands[256];
} Program;

static void special(const Program *g, unsigned op, Row *r, unsigned *add)
{
	*add = (op - g->first_special) / g->range * g->least;
	r->line = (uint32_t)((int64_t)r->line + g->base + (int)((op - g->first_special) % g->range));
}

static void extended(PmEmuLines *l, Bytes *b, Row *r)
{
	uint64_t n = leb(b, 0);
	Bytes in = *b;

	skip(b, n);
	in.end = b->p;
	switch (fixed(&in, 1)) {
	case 1: /* the end of a sequence */
		r->line = 0;
		PM_VEC_PUSH(&l->rows, *r);
		*r = (Row){ 0, 1, 1, 0 };
		break;
	case 2:
		r->at = fixed(&in, 8);
		break;
	default:
		break;
	}
}

static void standard(PmEmuLines *l, const Program *g, unsigned op, Bytes *b, Row *r)
{
	Row none = *r;
	unsigned add;

	switch (op) {
	case 1:
		PM_VEC_PUSH(&l->rows, *r);
		break;
	case 2:
		r->at += leb(b, 0) * g->least;
		break;
	case 3:
		r->line = (uint32_t)((int64_t)r->line + (int64_t)leb(b, 1));
		break;
	case 4:
		r->file = (uint32_t)leb(b, 0);
		break;
	case 5:
		r->column = (uint32_t)leb(b, 0);
		break;
	case 8:
		special(g, 255, &none, &add);
		r->at += add;
		break;
	case 9:
		r->at += fixed(b, 2);
		break;
	default:
		for (int i = 0; i < g->operands[op]; i++)
			leb(b, 0);
	}
}

static void run_program(PmEmuLines *l, const Program *g, Bytes *b)
{
	Row r = { 0, 1, 1, 0 };
	unsigned add;

	while (b->p < b->end && l->rows.n < MAX_ROWS) {
		unsigned op = (unsigned)fixed(b, 1);

		if (!op) {
			extended(l, b, &r);
		} else if (op < g->first_special) {
			standard(l, g, op, b, &r);
		} else {
			special(g, op, &r, &add);
			r.at += add;
			PM_VEC_PUSH(&l->rows, r);
		}
	}
}

/* The first unit's: a kernel is one. */
static void read_lines(PmEmuLines *l, Bytes b)
{
	uint64_t length = fixed(&b, 4), header;
	unsigned version = (unsigned)fixed(&b, 2);
	Program g = { 0 };
	Bytes files;

	if (version != 4 || length > (uint64_t)(b.end - b.p) + 2 || length < 2)
		return;
	b.end = b.p + length - 2;
	header = fixed(&b, 4);
	files = b;
	skip(&b, header); /* the program */
	files.end = b.p;
	g.least = (unsigned)fixed(&files, 1);
	fixed(&files, 2); /* operations of an instruction; whether rows are statements */
	g.base = (int)(int8_t)fixed(&files, 1);
	g.range = (unsigned)fixed(&files, 1);
	g.first_special = (unsigned)fixed(&files, 1);
	if (!g.range || !g.first_special)
		return;
	for (unsigned i = 1; i < g.first_special; i++)
		g.operands[i] = (uint8_t)fixed(&files, 1);
	while (*text(&files)) /* folders */
		;
	PM_VEC_PUSH(&l->files, pm_xstrdup(""));
	for (const char *name; *(name = text(&files));) {
		PM_VEC_PUSH(&l->files, pm_xstrdup(name));
		for (int i = 0; i < 3; i++)
			leb(&files, 0);
	}
	run_program(l, &g, &b);
}

static int by_place(const void *a, const void *b)
{
	const Row *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->line && y->line ? 0 : x->line ? 1 : -1; /* an end before what begins there */
}

/* ---- functions that were folded into others ---- */

typedef struct Abbrev {
	uint64_t code, tag;
	int children, n;
	struct {
		uint64_t name, form;
	} attr[MAX_ATTRS];
} Abbrev;
typedef PM_VEC(Abbrev) Abbrevs;

static void read_abbrevs(Bytes b, uint64_t from, Abbrevs *out)
{
	skip(&b, from);
	while (!b.cut && out->n < MAX_ABBREVS) {
		Abbrev a = { .code = leb(&b, 0) };

		if (!a.code)
			return;
		a.tag = leb(&b, 0);
		a.children = (int)fixed(&b, 1);
		for (;;) {
			uint64_t name = leb(&b, 0), form = leb(&b, 0);

			if ((!name && !form) || b.cut)
				break;
			if (a.n == MAX_ATTRS)
				return;
			a.attr[a.n].name = name;
			a.attr[a.n++].form = form;
		}
		PM_VEC_PUSH(out, a);
	}
}

/* The value of an attribute where it is a number; its bytes are passed over in every case. */
static uint64_t value(Bytes *b, uint64_t form)
{
	switch (form) {
	case 0x01: /* an address */
	case 0x07:
	case 0x14:
	case 0x20:
		return fixed(b, 8);
	case 0x05:
	case 0x12:
		return fixed(b, 2);
	case 0x06:
	case 0x0e:
	case 0x10:
	case 0x13:
	case 0x17:
		return fixed(b, 4);
	case 0x0b:
	case 0x0c:
	case 0x11:
		return fixed(b, 1);
	case 0x0d:
		return leb(b, 1);
	case 0x0f:
	case 0x15:
		return leb(b, 0);
	case 0x08:
		text(b);
		return 0;
	case 0x09:
	case 0x18:
		skip(b, leb(b, 0));
		return 0;
	case 0x0a:
		skip(b, fixed(b, 1));
		return 0;
	case 0x03:
		skip(b, fixed(b, 2));
		return 0;
	case 0x04:
		skip(b, fixed(b, 4));
		return 0;
	case 0x19: /* it is there, and that is all */
		return 1;
	default:
		b->p = b->end;
		b->cut = 1;
		return 0;
	}
}

typedef struct Entry {
	uint64_t low, high, ranges;
	int has_ranges, high_is_length;
	Inlined call;
} Entry;

static void add_ranges(PmEmuLines *l, Bytes ranges, uint64_t base, const Entry *e)
{
	Inlined call = e->call;

	if (!e->has_ranges) {
		call.from = e->low;
		call.to = e->high_is_length ? e->low + e->high : e->high;
		PM_VEC_PUSH(&l->inlined, call);
		return;
	}
	skip(&ranges, e->ranges);
	while (!ranges.cut) {
		uint64_t from = fixed(&ranges, 8), to = fixed(&ranges, 8);

		if (!from && !to)
			return;
		if (from == UINT64_MAX) {
			base = to;
			continue;
		}
		call.from = base + from;
		call.to = base + to;
		PM_VEC_PUSH(&l->inlined, call);
	}
}

static Entry read_entry(Bytes *b, const Abbrev *a)
{
	Entry e = { 0 };

	for (int i = 0; i < a->n; i++) {
		uint64_t v = value(b, a->attr[i].form);

		switch (a->attr[i].name) {
		case AT_LOW:
			e.low = v;
			break;
		case AT_HIGH:
			e.high = v;
			e.high_is_length = a->attr[i].form != 0x01;
			break;
		case AT_RANGES:
			e.ranges = v;
			e.has_ranges = 1;
			break;
		case AT_CALL_FILE:
			e.call.file = (uint32_t)v;
			break;
		case AT_CALL_COLUMN:
			e.call.column = (uint32_t)v;
			break;
		case AT_CALL_LINE:
			e.call.line = (uint32_t)v;
			break;
		default:
			break;
		}
	}
	return e;
}

static void read_entries(PmEmuLines *l, Bytes b, const Abbrevs *abbrevs, Bytes ranges)
{
	uint64_t base = 0;
	int depth = 0;

	while (b.p < b.end && !b.cut && l->inlined.n < MAX_ROWS) {
		uint64_t code = leb(&b, 0);
		size_t k = 0;
		Entry e;

		if (!code) {
			if (--depth <= 0)
				return;
			continue;
		}
		while (k < abbrevs->n && abbrevs->v[k].code != code)
			k++;
		if (k == abbrevs->n)
			return;
		e = read_entry(&b, &abbrevs->v[k]);
		e.call.depth = depth;
		if (abbrevs->v[k].tag == TAG_UNIT)
			base = e.low;
		if (abbrevs->v[k].tag == TAG_INLINED)
			add_ranges(l, ranges, base, &e);
		depth += abbrevs->v[k].children && depth < MAX_DEPTH;
	}
}

static void read_inlined(PmEmuLines *l, Bytes info, Bytes abbrev, Bytes ranges)
{
	uint64_t length = fixed(&info, 4), from;
	unsigned version = (unsigned)fixed(&info, 2);
	Abbrevs abbrevs = { 0 };

	if (version != 4 || length > (uint64_t)(info.end - info.p) + 2 || length < 2)
		return;
	info.end = info.p + length - 2;
	from = fixed(&info, 4);
	if (fixed(&info, 1) != 8)
		return;
	read_abbrevs(abbrev, from, &abbrevs);
	read_entries(l, info, &abbrevs, ranges);
	PM_VEC_RELEASE(&abbrevs);
}

/* ---- all of it ---- */

PmEmuLines *pm__emu_lines_read(const void *object, size_t n)
{
	PmEmuLines *l = pm_xcalloc(1, sizeof *l);

	read_lines(l, section(object, n, ".debug_line"));
	if (l->rows.n)
		qsort(l->rows.v, l->rows.n, sizeof *l->rows.v, by_place);
	read_inlined(l, section(object, n, ".debug_info"), section(object, n, ".debug_abbrev"),
		     section(object, n, ".debug_ranges"));
	return l;
}

void pm__emu_lines_free(PmEmuLines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->files.n; i++)
		free(l->files.v[i]);
	PM_VEC_RELEASE(&l->files);
	PM_VEC_RELEASE(&l->rows);
	PM_VEC_RELEASE(&l->inlined);
	free(l);
}

static const char *file_of(const PmEmuLines *l, uint32_t file)
{
	return file < l->files.n ? l->files.v[file] : "";
}

static int is_own(const PmEmuLines *l, uint32_t file, const char *own)
{
	const char *name = file_of(l, file);
	size_t n = strlen(own);

	return !strncmp(name, own, n) && (!name[n] || name[n] == '|');
}

/* The last row that begins at or before the place. */
static const Row *row_of(const PmEmuLines *l, uint64_t pc)
{
	size_t low = 0, high = l->rows.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (l->rows.v[mid].at <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low && l->rows.v[low - 1].line ? &l->rows.v[low - 1] : NULL;
}

int pm__emu_lines_find(const PmEmuLines *l, uint64_t pc, const char *own, const char **file, int *column)
{
	const Row *r = row_of(l, pc);
	const Inlined *best = NULL;

	*file = r ? file_of(l, r->file) : "";
	*column = r ? (int)r->column : 0;
	if (!r || is_own(l, r->file, own))
		return r ? (int)r->line : 0;
	for (size_t i = 0; i < l->inlined.n; i++) {
		const Inlined *k = &l->inlined.v[i];

		if (pc >= k->from && pc < k->to && is_own(l, k->file, own) &&
		    (!best || k->depth > best->depth))
			best = k;
	}
	if (!best)
		return (int)r->line;
	*file = file_of(l, best->file);
	*column = (int)best->column;
	return (int)best->line;
}
