/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_ptx.c - two properties of the PTX gate. Whatever text it is given, it ends, stays inside the text, and
 * has a sentence for every refusal. And what it accepts is safe: the input also stands for changes to small
 * kernels (another opcode, operand, offset, state space, target, an instruction more or less); what is
 * accepted is executed here, with registers that hold anything at first and any arguments, and no access may
 * leave the constants and tables of the module. The executing part reads no PTX: it shares nothing with the
 * gate.
 */
#include "base/core/hash.h"
#include "base/core/rng.h"
#include "integrity/ptx/ptx_gate.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* ---- small kernels ---- */

typedef enum {
	MOV,
	ADD,
	SUB,
	MUL,
	AND,
	OR,
	XOR,
	SHL,
	SHRU,
	SHRS,
	MINU,
	MINS,
	MAXS,
	REMU,
	REMS,
	DIVU,
	BFE,
	MOVQ,
	ADDQ,
	SUBQ,
	ANDQ,
	SHLQ,
	SHRQ,
	SELQ,
	WIDEU,
	WIDES,
	MADW,
	CVTU,
	CVTS,
	CVTN,
	LTU,
	LTS,
	GTU,
	GES,
	EQ,
	NE,
	LDN,
	LDA,
	LD,
	LDB,
	ST,
	BRA,
	N_CODES
} Code;

/* a, b, c: a register of the kind that the code reads (0 to 7), or NUMBER + value, or OBJECT + its number. */
enum { NUMBER = 1000, OBJECT = 2000, MAX_INS = 40, STEPS = 600, RUNS = 6, REGISTERS = 8 };

typedef struct Ins {
	Code code;
	int guard; /* 0: none; p + 1: @p; -(p + 1): @!p */
	int d, a, b, c;
	char space; /* of LD, LDB, ST */
	int off, to;
} Ins;

typedef struct Object {
	const char *name;
	char space;
	int64_t bytes;
	uint64_t base;
} Object;

static const Object objects[] = { { "t", 'c', 64, 1ull << 40 },
				  { "u", 'c', 16, 2ull << 40 },
				  { "__cudart_i2opi_f", 'g', 24, 3ull << 40 },
				  { "f", 'l', 32, 4ull << 40 },
				  { "s", 's', 64, 5ull << 40 } };
enum { N_OBJECTS = sizeof objects / sizeof *objects };

#define N(v) (NUMBER + (v))
#define O(v) (OBJECT + (v))

/* A masked index; a condition; a counted loop; the compiler's table by a pointer that grows; a frame. */
static const Ins seeds[][MAX_INS] = {
	{ { .code = LDN, .d = 0 },
	  { .code = AND, .d = 1, .a = 0, .b = N(15) },
	  { .code = WIDEU, .d = 1, .a = 1, .b = N(4) },
	  { .code = MOVQ, .d = 2, .a = O(0) },
	  { .code = ADDQ, .d = 3, .a = 2, .b = 1 },
	  { .code = LD, .d = 4, .a = 3, .space = 'c' },
	  { .code = N_CODES } },
	{ { .code = LDN, .d = 0 },
	  { .code = GTU, .d = 0, .a = 0, .b = N(15) },
	  { .code = BRA, .guard = 1, .to = 6 },
	  { .code = MADW, .d = 1, .a = 0, .b = N(4), .c = 2 },
	  { .code = MOVQ, .d = 2, .a = O(0) },
	  { .code = LD, .d = 4, .a = 2, .space = 'c', .off = 60 },
	  { .code = MOV, .d = 5, .a = 0 },
	  { .code = N_CODES } },
	{ { .code = MOV, .d = 0, .a = N(0) },
	  { .code = MOVQ, .d = 2, .a = O(2) },
	  { .code = LD, .d = 4, .a = 2, .space = 'g' },
	  { .code = ADDQ, .d = 2, .a = 2, .b = N(4) },
	  { .code = ADD, .d = 0, .a = 0, .b = N(1) },
	  { .code = NE, .d = 0, .a = 0, .b = N(6) },
	  { .code = BRA, .guard = 1, .to = 2 },
	  { .code = N_CODES } },
	{ { .code = MOV, .d = 0, .a = N(0) },
	  { .code = MOVQ, .d = 5, .a = N(0) },
	  { .code = MOVQ, .d = 1, .a = O(2) },
	  { .code = SHLQ, .d = 3, .a = 5, .b = N(2) },
	  { .code = ADDQ, .d = 2, .a = 1, .b = 3 },
	  { .code = LD, .d = 4, .a = 2, .space = 'g' },
	  { .code = ADD, .d = 0, .a = 0, .b = N(1) },
	  { .code = CVTS, .d = 5, .a = 0 },
	  { .code = LTS, .d = 0, .a = 0, .b = N(6) },
	  { .code = BRA, .guard = 1, .to = 3 },
	  { .code = N_CODES } },
	{ { .code = MOVQ, .d = 1, .a = O(3) },
	  { .code = LDN, .d = 0 },
	  { .code = MOV, .d = 1, .a = N(9) },
	  { .code = ST, .d = 0, .a = 1, .space = 'l', .off = 28 },
	  { .code = REMU, .d = 2, .a = 0, .b = N(4) },
	  { .code = WIDES, .d = 3, .a = 2, .b = N(4) },
	  { .code = MOVQ, .d = 4, .a = O(1) },
	  { .code = ADDQ, .d = 5, .a = 4, .b = 3 },
	  { .code = LD, .d = 6, .a = 5, .space = 'c' },
	  { .code = LDA, .d = 6 },
	  { .code = ST, .d = 6, .a = 6, .space = 'g' },
	  { .code = N_CODES } },
	{ { .code = LDN, .d = 0 },
	  { .code = SHRU, .d = 1, .a = 0, .b = N(28) },
	  { .code = MINU, .d = 2, .a = 0, .b = N(3) },
	  { .code = BFE, .d = 3, .a = 0, .b = N(3), .c = N(2) },
	  { .code = ADD, .d = 4, .a = 1, .b = N(0) },
	  { .code = CVTU, .d = 1, .a = 3 },
	  { .code = MOVQ, .d = 2, .a = O(1) },
	  { .code = ADDQ, .d = 3, .a = 2, .b = 1 },
	  { .code = LDB, .d = 5, .a = 3, .space = 'c' },
	  { .code = CVTU, .d = 4, .a = 4 },
	  { .code = SHLQ, .d = 5, .a = 4, .b = N(2) },
	  { .code = MOVQ, .d = 6, .a = O(0) },
	  { .code = ADDQ, .d = 7, .a = 6, .b = 5 },
	  { .code = LD, .d = 6, .a = 7, .space = 'c' },
	  { .code = N_CODES } },
};
enum { N_SEEDS = sizeof seeds / sizeof *seeds };

/* How each code is written, and its operands: d, a, b, c as r, q, p; capitals may be numbers too. */
static const struct {
	const char *text, *operands;
} codes[] = {
	[MOV] = { "mov.u32", "rR" },         [ADD] = { "add.s32", "rrR" },
	[SUB] = { "sub.s32", "rrR" },        [MUL] = { "mul.lo.s32", "rrR" },
	[AND] = { "and.b32", "rrR" },        [OR] = { "or.b32", "rrR" },
	[XOR] = { "xor.b32", "rrR" },        [SHL] = { "shl.b32", "rrR" },
	[SHRU] = { "shr.u32", "rrR" },       [SHRS] = { "shr.s32", "rrR" },
	[MINU] = { "min.u32", "rrR" },       [MINS] = { "min.s32", "rrR" },
	[MAXS] = { "max.s32", "rrR" },       [REMU] = { "rem.u32", "rrR" },
	[REMS] = { "rem.s32", "rrR" },       [DIVU] = { "div.u32", "rrR" },
	[BFE] = { "bfe.u32", "rrRR" },       [MOVQ] = { "mov.u64", "qQ" },
	[ADDQ] = { "add.s64", "qqQ" },       [SUBQ] = { "sub.s64", "qqQ" },
	[ANDQ] = { "and.b64", "qqQ" },       [SHLQ] = { "shl.b64", "qqR" },
	[SHRQ] = { "shr.u64", "qqR" },       [SELQ] = { "selp.b64", "qqqp" },
	[WIDEU] = { "mul.wide.u32", "qrR" }, [WIDES] = { "mul.wide.s32", "qrR" },
	[MADW] = { "mad.wide.u32", "qrRq" }, [CVTU] = { "cvt.u64.u32", "qr" },
	[CVTS] = { "cvt.s64.s32", "qr" },    [CVTN] = { "cvt.u32.u64", "rq" },
	[LTU] = { "setp.lt.u32", "prR" },    [LTS] = { "setp.lt.s32", "prR" },
	[GTU] = { "setp.gt.u32", "prR" },    [GES] = { "setp.ge.s32", "prR" },
	[EQ] = { "setp.eq.s32", "prR" },     [NE] = { "setp.ne.s32", "prR" },
};

/* ---- writing ---- */

static void write_operand(PmStr *s, char kind, int v)
{
	if (v >= OBJECT && kind == 'Q')
		pm_str_add(s, objects[(v - OBJECT) % N_OBJECTS].name);
	else if (v >= NUMBER / 2 && kind < 'a')
		pm_str_addf(s, "%d", v - NUMBER);
	else
		pm_str_addf(s, "%%%c%d", kind < 'a' ? kind + 32 : kind, v & (REGISTERS - 1));
}

static void write_ins(PmStr *s, const Ins *i, size_t n)
{
	const char *space = i->space == 'c'   ? "const"
			    : i->space == 'g' ? "global"
			    : i->space == 'l' ? "local"
					      : "shared";
	const int v[4] = { i->d, i->a, i->b, i->c };

	if (i->guard)
		pm_str_addf(s, "@%s%%p%d ", i->guard < 0 ? "!" : "", (abs(i->guard) - 1) & (REGISTERS - 1));
	if (i->code == BRA)
		pm_str_addf(s, "bra L%d", i->to % (int)(n + 1));
	else if (i->code == LDN)
		pm_str_addf(s, "ld.param.u32 %%r%d, [n]", i->d & 7);
	else if (i->code == LDA)
		pm_str_addf(s, "ld.param.u64 %%q%d, [a]", i->d & 7);
	else if (i->code == LD || i->code == LDB)
		pm_str_addf(s, "ld.%s.%s %%r%d, [%%q%d+%d]", space, i->code == LD ? "u32" : "u8", i->d & 7,
			    i->a & 7, i->off);
	else if (i->code == ST)
		pm_str_addf(s, "st.%s.u32 [%%q%d+%d], %%r%d", space, i->a & 7, i->off, i->d & 7);
	else
		for (int k = 0; codes[i->code].operands[k]; k++) {
			pm_str_add(s, k ? ", " : codes[i->code].text);
			pm_str_add(s, k ? "" : " ");
			write_operand(s, codes[i->code].operands[k], v[k]);
		}
	pm_str_add(s, ";\n");
}

static void write_kernel(PmStr *s, const Ins *p, size_t n)
{
	pm_str_add(s, ".version 9.0\n.target sm_90\n.address_size 64\n.const .align 4 .b8 t[64];\n.const "
		      ".align 4 .b8 "
		      "u[16];\n.global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144, 67, 60, 153, 149, 98, "
		      "219, 192, 221, "
		      "52, 245, 209, 87, 39, 252, 41, 21, 68, 78, 110, 131, 249, 162};\n"
		      ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n.local .align 4 .b8 "
		      "f[32];\n.shared .align 4 "
		      ".b8 s[64];\n.reg .pred %p<8>;\n.reg .b32 %r<8>;\n.reg .b64 %q<8>;\n");
	for (size_t i = 0; i < n; i++) {
		pm_str_addf(s, "L%zu:\n", i);
		write_ins(s, &p[i], n);
	}
	pm_str_addf(s, "L%zu:\nret;\n}\n", n);
}

/* ---- executing ---- */

typedef struct Machine {
	uint32_t r[REGISTERS];
	uint64_t q[REGISTERS];
	int p[REGISTERS];
	uint32_t n;
	PmRng rng;
} Machine;

static uint64_t value(const Machine *m, char kind, int v)
{
	if (v >= OBJECT && kind == 'Q')
		return objects[(v - OBJECT) % N_OBJECTS].base;
	if (v >= NUMBER / 2 && kind < 'a')
		return (uint64_t)(int64_t)(v - NUMBER);
	v &= REGISTERS - 1;
	return kind == 'r' || kind == 'R' ? m->r[v] : kind == 'p' ? (uint64_t)m->p[v] : m->q[v];
}

/* 1 when an access lies in no constant, or beside or partly in a table, or writes to one. Local and shared
 * memory are spaces of their own, and what a pointer of the arguments reaches is not asked here. */
static int escapes(const Ins *i, uint64_t address, int64_t bytes)
{
	enum { BESIDE = 1 << 16 };

	if (i->space != 'c' && i->space != 'g')
		return 0;
	for (int k = 0; k < N_OBJECTS; k++) {
		int64_t off = (int64_t)(address - objects[k].base);

		if (objects[k].space == i->space && off >= -BESIDE && off < BESIDE)
			return i->code == ST || off < 0 || off + bytes > objects[k].bytes;
	}
	return i->space == 'c';
}

static uint64_t compute(const Machine *m, const Ins *i)
{
	const char *o = codes[i->code].operands;
	uint64_t x = value(m, o[1], i->a), y = o[2] ? value(m, o[2], i->b) : 0,
		 z = o[2] && o[3] ? value(m, o[3], i->c) : 0;
	uint32_t a = (uint32_t)x, b = (uint32_t)y;
	int32_t sa = (int32_t)a, sb = (int32_t)b;

	switch (i->code) {
	case ADD:
	case ADDQ:
		return x + y;
	case SUB:
	case SUBQ:
		return x - y;
	case MUL:
		return a * b;
	case AND:
	case ANDQ:
		return x & y;
	case OR:
		return x | y;
	case XOR:
		return x ^ y;
	case SHL:
		return b > 31 ? 0 : a << b;
	case SHRU:
		return b > 31 ? 0 : a >> b;
	case SHRS:
		return (uint32_t)(sa >> (b > 31 ? 31 : b));
	case MINU:
		return a < b ? a : b;
	case MINS:
		return sa < sb ? a : b;
	case MAXS:
		return sa > sb ? a : b;
	case REMU:
		return b ? a % b : ~0u;
	case REMS:
		return !b ? ~0u : sb == -1 ? 0 : (uint32_t)(sa % sb);
	case DIVU:
		return b ? a / b : ~0u;
	case BFE:
		return (b & 255) > 31 ? 0 : (a >> (b & 255)) & ((z & 255) > 31 ? ~0u : (1u << (z & 255)) - 1);
	case SHLQ:
		return b > 63 ? 0 : x << b;
	case SHRQ:
		return b > 63 ? 0 : x >> b;
	case SELQ:
		return z ? x : y;
	case WIDEU:
		return (uint64_t)a * b;
	case WIDES:
		return (uint64_t)((int64_t)sa * sb);
	case MADW:
		return (uint64_t)a * b + z;
	case CVTS:
		return (uint64_t)(int64_t)sa;
	case CVTU:
		return a;
	case LTU:
		return a < b;
	case GTU:
		return a > b;
	case LTS:
		return sa < sb;
	case GES:
		return sa >= sb;
	case EQ:
		return a == b;
	case NE:
		return a != b;
	default:
		return x; /* MOV, MOVQ, CVTN */
	}
}

static void put(Machine *m, const Ins *i, uint64_t v)
{
	char kind = i->code >= LDN ? i->code == LDA ? 'q' : 'r' : codes[i->code].operands[0];

	if (kind == 'r')
		m->r[i->d & 7] = (uint32_t)v;
	else if (kind == 'q')
		m->q[i->d & 7] = v;
	else
		m->p[i->d & 7] = v != 0;
}

/* One run. Returns 1 when an access escapes. */
static int run(Machine *m, const Ins *p, size_t n)
{
	size_t at = 0;

	for (int k = 0; k < REGISTERS; k++) { /* registers hold anything */
		m->r[k] = (uint32_t)pm_rng_u64(&m->rng) >> pm_rng_range(&m->rng, 0, 31);
		m->q[k] = pm_rng_u64(&m->rng) >> 25; /* nobody's address */
		m->p[k] = (int)pm_rng_range(&m->rng, 0, 1);
	}
	m->n = (uint32_t)pm_rng_u64(&m->rng) >> pm_rng_range(&m->rng, 0, 31);
	for (int steps = 0; at < n && steps < STEPS; steps++) {
		const Ins *i = &p[at++];
		int64_t bytes = i->code == LDB ? 1 : 4;
		int guard = m->p[(abs(i->guard) - 1) & 7];

		if (i->guard && (i->guard > 0) != guard)
			continue;
		if (i->code == BRA)
			at = (size_t)i->to % (n + 1);
		else if (i->code == LDN)
			put(m, i, m->n);
		else if (i->code == LDA)
			put(m, i, (7ull << 40) + (pm_rng_u64(&m->rng) >> 40));
		else if (i->code < LDN)
			put(m, i, compute(m, i));
		else if (escapes(i, m->q[i->a & 7] + (uint64_t)(int64_t)i->off, bytes))
			return 1;
		else if (i->code != ST)
			put(m, i, pm_rng_u64(&m->rng) >> (i->code == LDB ? 56 : 32));
	}
	return 0;
}

/* ---- changing ---- */

static int any_operand(uint8_t v)
{
	static const int numbers[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  15, 16,
				       17, 24, 28, 31, 32, 60, 61, 64, -1, -4, 255 };

	return v < 120   ? v & 7
	       : v < 220 ? NUMBER + numbers[v % (sizeof numbers / sizeof *numbers)]
			 : OBJECT + v % N_OBJECTS;
}

/* One change by three bytes. */
static size_t change(Ins *p, size_t n, const uint8_t *b)
{
	size_t at = b[1] % n;
	Ins *i = &p[at];

	switch (b[0] % 12) {
	case 0:
		i->code = (Code)(b[2] % N_CODES);
		break;
	case 1:
		i->d = b[2] & 7;
		break;
	case 2:
	case 3:
		i->a = any_operand(b[2]);
		break;
	case 4:
		i->b = any_operand(b[2]);
		break;
	case 5:
		i->c = any_operand(b[2]);
		break;
	case 6:
		i->off = (int)b[2] - 64;
		break;
	case 7:
		i->space = "cgls"[b[2] & 3];
		break;
	case 8:
		i->to = b[2];
		break;
	case 9:
		i->guard = (int)(b[2] % 5) - 2;
		break;
	case 10: /* once more, elsewhere */
		if (n + 1 < MAX_INS) {
			Ins copy = *i;
			size_t to = b[2] % (n + 1);

			memmove(p + to + 1, p + to, (n - to) * sizeof *p);
			p[to] = copy;
			n++;
		}
		break;
	default:
		if (n > 1) {
			memmove(p + at, p + at + 1, (n - at - 1) * sizeof *p);
			n--;
		}
	}
	/* No space where nothing is reached. */
	for (size_t k = 0; k < n; k++)
		if (p[k].code >= LD && p[k].code <= ST && !p[k].space)
			p[k].space = 'c';
	return n;
}

static void changed_kernels(const uint8_t *data, size_t size)
{
	static const char *const entry[] = { "k" };
	PmStr text = PM_STR_INIT, problems = PM_STR_INIT;
	Machine m;
	Ins p[MAX_INS];
	size_t n = 0;
	int64_t changes;

	/* By a hash of the bytes, so that text makes all kinds of changes, too. */
	pm_rng_init_named(&m.rng, pm_hash64(data, size, PM_HASH_SEED), "fuzz_ptx");
	changes = pm_rng_range(&m.rng, 1, 6);
	memcpy(p, seeds[pm_rng_range(&m.rng, 0, N_SEEDS - 1)], sizeof p);
	while (p[n].code != N_CODES)
		n++;
	for (int64_t i = 0; i < changes; i++) {
		uint64_t bits = pm_rng_u64(&m.rng);
		const uint8_t b[3] = { (uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16) };

		n = change(p, n, b);
	}
	write_kernel(&text, p, n);
	if (!pm_ptx_gate(text.s, text.len, entry, 1, &problems))
		for (int k = 0; k < RUNS; k++)
			if (run(&m, p, n)) {
				fprintf(stderr, "accepted, and it escapes:\n%s", text.s);
				abort();
			}
	pm_str_release(&text);
	pm_str_release(&problems);
}

static void any_text(const uint8_t *data, size_t n)
{
	static const char *const entry[] = { "k" };
	PmStr problems = PM_STR_INIT;
	char *copy = malloc(n ? n : 1); /* without a terminator: a sanitizer sees every byte past the end */

	if (!copy)
		return;
	memcpy(copy, data, n);
	if ((pm_ptx_gate(copy, n, entry, 1, &problems) > 0) != (problems.len > 0))
		abort();
	free(copy);
	pm_str_release(&problems);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	any_text(data, n);
	/* The input again and again from other places: many changed kernels each time. */
	for (size_t at = 0; at < n && at < 16 * 8; at += 16)
		changed_kernels(data + at, n - at);
	return 0;
}
