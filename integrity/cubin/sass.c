/* SPDX-License-Identifier: Apache-2.0 */
/* sass.c - instruction by instruction: opcode, constant bank, local address, target, special register. */
#include "integrity/cubin/sass.h"

#include "base/core/err.h"

#include <stdarg.h>
#include <stdio.h>

enum { WORD = 16, RZ = 255, URZ = 63, STACK = 1, LOOK_BACK = 64 };

typedef enum PmSassKind {
	UNKNOWN,
	ALU,
	PLAIN,       /* may write a register; nothing else to check */
	NO_REGISTER, /* writes none */
	SPECIAL,     /* reads a special register */
	LDC,         /* constant bank, index in a register */
	ULDC,        /* constant bank */
	ULDC_AT,     /* constant bank, index in a uniform register */
	LOCAL,       /* local memory */
	JUMP,        /* to a place of the function */
	SYNC,        /* names one, in fewer bits */
	CALL,        /* a function inside of this one */
	RETURN,      /* back from it */
	TABLE,       /* through a table of constant bank 2 */
	COLLECTIVE,  /* may name a place */
} PmSassKind;

typedef struct Row {
	uint8_t kind, bytes;
} Row;

/* By the low 12 bits. SASS_ALU stands for all ways to give operands. */
#define SASS_ALU(number, name, n)                                                                            \
	[(number) | 1 << 9] = { ALU, n }, [(number) | 2 << 9] = { ALU, n },                                  \
			 [(number) | 3 << 9] = { ALU, n }, [(number) | 4 << 9] = { ALU, n },                 \
			 [(number) | 5 << 9] = { ALU, n }, [(number) | 6 << 9] = { ALU, n },                 \
			 [(number) | 7 << 9] = { ALU, n },
#define SASS(number, name, kind) [number] = { kind, 0 },
static const Row rows[1 << 12] = {
#include "integrity/cubin/sass.def"
};

#define SASS_REGISTER(number) [number] = 1,
static const uint8_t registers[256] = {
#include "integrity/cubin/sass.def"
};

typedef struct Span {
	uint32_t from, to;
} Span;

#define SASS_BELOW(arch, from, to) { from, to },
static const Span before_90[] = {
#include "integrity/cubin/sass.def"
};
#define SASS_FROM(arch, from, to) { from, to },
static const Span from_90[] = {
#include "integrity/cubin/sass.def"
};

/* One instruction; `at` is its place. */
typedef struct Word {
	const PmSassFunction *f;
	uint64_t at, lo, hi;
	char *why;
} Word;

PM_PRINTF(2, 3) static int bad(const Word *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(w->why, PM__SASS_WHY, fmt, ap);
	va_end(ap);
	return 1;
}

static uint64_t word8(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static uint32_t word4(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static Word word_at(const PmSassFunction *f, uint64_t at, char *why)
{
	return (Word){ f, at, word8(f->code + at), word8(f->code + at + 8), why };
}

/* Bits from..from+n-1 of the 128, n < 64. */
static uint64_t bits(const Word *w, int from, int n)
{
	uint64_t v = from >= 64 ? w->hi >> (from - 64) : w->lo >> from;

	if (from < 64 && from + n > 64)
		v |= w->hi << (64 - from);
	return v & ((1ull << n) - 1);
}

static int64_t signed_bits(const Word *w, int from, int n)
{
	uint64_t v = bits(w, from, n), sign = 1ull << (n - 1);

	return (int64_t)((v ^ sign) - sign);
}

static unsigned opcode(const Word *w)
{
	return (unsigned)(w->lo & 0xfff);
}

int pm__sass_reads(uint32_t arch)
{
	return arch == 80 || arch == 86 || arch == 89 || arch == 90;
}

uint32_t pm__sass_parameters(uint32_t arch)
{
	return arch < 90 ? 0x160 : 0x210;
}

/* ---- numbers in registers ---- */

/* 1 when the instruction puts a number into the register: MOV, IMAD.MOV or, of uniform registers, UMOV. */
static int is_number(const Word *w, int uniform, unsigned reg, uint32_t *value)
{
	unsigned op = opcode(w);
	int always = bits(w, 12, 4) == 7;

	if (!always || bits(w, 16, 8) != reg)
		return 0;
	*value = (uint32_t)bits(w, 32, 32);
	if (uniform)
		return op == 0x882;
	/* IMAD.MOV.U32 R, RZ, RZ, number */
	return op == 0x802 || (op == 0x424 && bits(w, 24, 8) == RZ && bits(w, 64, 8) == RZ);
}

static int is_uniform(const Word *w)
{
	unsigned op = opcode(w);

	return (op & 0x180) == 0x080 || op == 0x3c2 || op == 0x9c3;
}

static int ends_block(const Word *w)
{
	PmSassKind k = rows[opcode(w)].kind;

	return k == JUMP || k == CALL || k == RETURN || k == TABLE || k == COLLECTIVE;
}

/* The last of the instructions just before whose first destination is the register, or is up to `wide` - 1
 * earlier; 0 when there is none near. Control falls from it to w, so what it writes does arrive. */
static int last_write(const Word *w, int uniform, unsigned reg, unsigned wide, Word *out)
{
	uint64_t at = w->at;

	for (int i = 0; i < LOOK_BACK && at >= WORD; i++) {
		unsigned first;

		at -= WORD;
		*out = word_at(w->f, at, w->why);
		if (ends_block(out))
			return 0;
		first = (unsigned)bits(out, 16, 8);
		if (uniform == is_uniform(out) && first <= reg && reg - first < wide)
			return 1;
	}
	return 0;
}

/* ---- constant banks ---- */

static int is_listed(const Span *s, size_t n, int64_t at, unsigned bytes)
{
	for (size_t i = 0; i < n; i++)
		if (at >= s[i].from && at + bytes <= s[i].to)
			return 1;
	return 0;
}

static int bank_zero(const Word *w, int64_t at, unsigned bytes)
{
	const PmSassFunction *f = w->f;

	if (at >= pm__sass_parameters(f->arch) && (uint64_t)at + bytes <= f->bank[0].size)
		return 0;
	if (f->arch < 90 ? is_listed(before_90, sizeof before_90 / sizeof *before_90, at, bytes)
			 : is_listed(from_90, sizeof from_90 / sizeof *from_90, at, bytes))
		return 0;
	return bad(w, "reads %u bytes at %lld of constant bank 0, where its parameters are not", bytes,
		   (long long)at);
}

static int constant(const Word *w, unsigned bank, int64_t at, unsigned bytes)
{
	if (bank == 0)
		return bank_zero(w, at, bytes);
	if (bank < 2 || bank >= PM__SASS_BANKS)
		return bad(w, "reads constant bank %u, which holds nothing of a kernel's", bank);
	if (at < 0 || (uint64_t)at + bytes > w->f->bank[bank].size)
		return bad(w, "reads %u bytes at %lld of constant bank %u, which has %llu", bytes,
			   (long long)at, bank, (unsigned long long)w->f->bank[bank].size);
	return 0;
}

static const uint8_t bytes_of[8] = { 1, 1, 2, 2, 4, 8, 16, 0 };

/* LDC and ULDC: bytes from 38, bank from 54, width from 73; `reg` is the index's. */
static int load_constant(const Word *w, int uniform, unsigned reg)
{
	unsigned bank = (unsigned)bits(w, 54, 5), bytes = bytes_of[bits(w, 73, 3)];
	int64_t at = signed_bits(w, 38, 16);
	uint32_t number;
	Word from;

	if (!bytes || bytes > 8 || bits(w, 78, 2) || bits(w, 91, 1) != (opcode(w) == 0xabb))
		return bad(w, "reads a constant by a mode that no compiled kernel uses");
	if (reg == (uniform ? URZ : RZ))
		return constant(w, bank, at, bytes);
	if (bank != 2 && bank != 3)
		return bad(
			w,
			"reads constant bank %u by an index in a register: choose among parameters by if or "
			"switch, or put a table into __constant__ memory",
			bank);
	if (last_write(w, uniform, reg, 4, &from) && is_number(&from, uniform, reg, &number))
		at += number; /* of 32 bits: a negative one is outside, too */
	return constant(w, bank, at, bytes);
}

/* Operands in a constant bank: words from bit 40, bank from 54; bit 91 takes the bank from a register. */
static int operand(const Word *w, unsigned bytes)
{
	unsigned form = opcode(w) >> 9;

	if (form != 3 && form != 5)
		return 0;
	if (bits(w, 91, 1))
		return bad(w, "reads a constant bank that a register chooses");
	/* The sum of IMAD.WIDE is of 64 bits. */
	if (form == 3 && (opcode(w) & 0x17f) == 0x025)
		bytes = 8;
	return constant(w, (unsigned)bits(w, 54, 5), (int64_t)bits(w, 40, 14) * 4, bytes);
}

/* ---- local memory ---- */

/* The address is a register, a uniform register when bit 91 says so, and 24 bits. */
static int local(const Word *w)
{
	unsigned reg = (unsigned)bits(w, 24, 8), bytes = bytes_of[bits(w, 73, 3)];
	int64_t at = signed_bits(w, 40, 24), frame = w->f->frame;
	int uniform = bits(w, 91, 1) && bits(w, opcode(w) == 0x983 ? 32 : 64, 6) != URZ;

	if (!bytes || (opcode(w) == 0x987 && bits(w, 76, 1)))
		return bad(w, "reaches local memory by a mode that no compiled kernel uses");
	if (reg == RZ && !uniform)
		return bad(w, "reaches local memory at the number %lld: use an array of your own",
			   (long long)at);
	if (at + bytes > frame || at < (reg == STACK && !uniform ? 0 : -frame))
		return bad(w, "reaches %u bytes of local memory at %lld from a register; the frame has %lld",
			   bytes, (long long)at, (long long)frame);
	return 0;
}

/* R1: LDC or MOV from bank 0, IADD3 or VIADD of itself and a number. */
static int moves_stack(const Word *w)
{
	unsigned op = opcode(w);
	int64_t by = signed_bits(w, 32, 32), frame = w->f->frame;

	if (op == 0xb82 || op == 0xa02 || (op == 0x624 && bits(w, 24, 8) == RZ)) {
		unsigned at = (unsigned)(op == 0xb82 ? bits(w, 38, 16) : bits(w, 40, 14) * 4);

		if (bits(w, 54, 5) == 0 && at == 0x28)
			return 0;
	}
	if ((op == 0x810 || op == 0x836) && bits(w, 24, 8) == STACK && by >= -frame && by <= frame)
		return 0;
	return bad(w, "moves the stack pointer otherwise than by the frame");
}

/* ---- branches ---- */

static int inside(const Word *w, int64_t target)
{
	if (target < 0 || (uint64_t)target >= w->f->size || target % WORD)
		return bad(w, "goes to %lld, which is no instruction of the kernel", (long long)target);
	return 0;
}

/* Words of 4 bytes from the next instruction. sm_90 keeps the lowest 8 bits apart. */
static int64_t offset_of(const Word *w)
{
	int64_t n = signed_bits(w, 34, 48);

	return (w->f->arch < 90 ? n : n * 256 + (int64_t)bits(w, 16, 8)) * 4;
}

static int64_t target_of(const Word *w)
{
	return (int64_t)w->at + WORD + offset_of(w);
}

/* The words of a table are among the described targets, and it has as many as there are. */
static int table_is_described(const Word *w, const uint8_t *target, uint32_t n, uint64_t table)
{
	const PmSassBank *bank = &w->f->bank[2];

	if (!bank->p || table > bank->size || (bank->size - table) / 4 < n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = 0;

		while (k < n && word4(target + 4 * k) != word4(bank->p + table + 4 * (size_t)i))
			k++;
		if (k == n)
			return 0;
	}
	return 1;
}

/* BRX R: the list of tables has its place, 0, the number of targets and the targets. */
static int by_table(const Word *w)
{
	unsigned reg = (unsigned)bits(w, 24, 8);
	size_t n = w->f->n_tables;
	uint32_t count = 0;
	Word from;

	if (target_of(w) != 0 || bits(w, 91, 1))
		return bad(w, "goes to an address that it computes");
	if (!last_write(w, 0, reg, 1, &from) || opcode(&from) != 0xb82 || bits(&from, 54, 5) != 2)
		return bad(w, "goes to an address that is from no table of the compiler's");
	for (size_t i = 0; i + 3 <= n; i += 3 + (size_t)count) {
		const uint8_t *p = w->f->tables + 4 * i;

		count = word4(p + 8);
		if (count > n - i - 3)
			break;
		if (word4(p) != w->at)
			continue;
		for (uint32_t k = 0; k < count; k++)
			if (inside(w, word4(p + 12 + 4 * (size_t)k)))
				return 1;
		if (count && table_is_described(w, p + 12, count, bits(&from, 38, 16)))
			return 0;
		break;
	}
	return bad(w, "goes to an address that is from no table that the compiler described");
}

/* RET.REL: the register holds a place of the function, whose beginning the offset reaches. */
static int returns(const Word *w)
{
	if (bits(w, 85, 1) || bits(w, 91, 1) || target_of(w) != 0)
		return bad(w, "returns to an address outside of the kernel");
	return 0;
}

/* ---- all of it ---- */

/* 1 when bits 16 to 23 are a register of a thread that is written: not for predicates, uniform registers,
 * places. */
static int has_destination(const Word *w)
{
	static const uint16_t predicates[] = { 0x004, 0x00b, 0x00c, 0x01c, 0x02a, 0x034, 0x102 };
	PmSassKind k = rows[opcode(w)].kind;

	for (size_t i = 0; i < sizeof predicates / sizeof *predicates; i++)
		if ((opcode(w) & 0x1ff) == predicates[i])
			return 0;
	return (k == ALU || k == LDC || k == LOCAL || k == SPECIAL || k == PLAIN) && !is_uniform(w);
}

static int is_bad(const Word *w)
{
	const Row *r = &rows[opcode(w)];

	if (bits(w, 16, 8) == STACK && has_destination(w) && moves_stack(w))
		return 1;
	switch ((PmSassKind)r->kind) {
	case UNKNOWN:
		return bad(w,
			   "is no. 0x%03x, of which the gate knows nothing: write it otherwise, or have it "
			   "added "
			   "to integrity/cubin/sass.def",
			   opcode(w));
	case ALU:
		return operand(w, r->bytes);
	case PLAIN:
	case NO_REGISTER:
		return 0;
	case SPECIAL:
		if (registers[bits(w, 72, 8)])
			return 0;
		return bad(w,
			   "reads special register %u; a kernel knows its position and nothing of time or "
			   "hardware",
			   (unsigned)bits(w, 72, 8));
	case LDC:
		return load_constant(w, 0, (unsigned)bits(w, 24, 8));
	case ULDC:
		return load_constant(w, 1, URZ);
	case ULDC_AT:
		return load_constant(w, 1, (unsigned)bits(w, 24, 6));
	case LOCAL:
		return local(w);
	case CALL:
		if (bits(w, 91, 1))
			return bad(w, "calls an address that it computes");
		return inside(w, target_of(w));
	case JUMP:
		return inside(w, target_of(w));
	case COLLECTIVE:
		return bits(w, 86, 1) ? inside(w, target_of(w)) : 0;
	case SYNC:
		return inside(w, (int64_t)w->at + WORD + signed_bits(w, 34, 30) * 4);
	case RETURN:
		return returns(w);
	case TABLE:
		return by_table(w);
	}
	return bad(w, "is unknown");
}

int pm__sass_next(const PmSassFunction *f, uint64_t *at, char why[PM__SASS_WHY])
{
	while (*at + WORD <= f->size) {
		Word w = word_at(f, *at, why);

		*at += WORD;
		if (is_bad(&w))
			return 1;
	}
	return 0;
}
