/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_range.c - between which numbers an address lies. */
#include "integrity/ptx/ptx_range.h"

#include "integrity/ptx/ptx_interval.h"
#include "integrity/ptx/ptx_loop.h"

#include <string.h>

enum {
	MAX_DEPTH = 64,
	MAX_TRIPS = 1 << 24,
	MAX_CHAIN = 256,    /* dominators that are asked for conditions, statements for the last writer */
	MAX_WORK = 1 << 22, /* blocks that are looked at for loops */
};

/* What a statement writes to its only result. */
typedef struct Memo {
	char state; /* 0: not asked, 1: being asked, 2: known */
	PmPtxRange range;
} Memo;

struct PmPtxRanges {
	const PmPtxFunction *f;
	PmPtxCfg cfg;
	PmPtxWriters *w; /* of each register */
	Memo *memo;      /* of each statement */
	int depth;
	int64_t work;
};

PmPtxRanges *pm__ptx_ranges_new(const PmPtxFunction *f)
{
	PmPtxRanges *r = pm_xcalloc(1, sizeof *r);

	r->f = f;
	r->w = pm_xcalloc(f->bits.n + 1, sizeof *r->w);
	r->memo = pm_xcalloc(f->statements.n + 1, sizeof *r->memo);
	if (!pm__ptx_cfg(f, &r->cfg)) {
		pm__ptx_ranges_free(r);
		return NULL;
	}
	for (size_t i = 0; i < f->statements.n; i++) {
		const PmPtxStatement *s = &f->statements.v[i];

		for (uint32_t k = 0; k < s->n; k++) {
			const PmPtxOperand *o = &f->operands.v[s->first + k];
			PmPtxWriters *w = o->reg >= 0 ? &r->w[o->reg] : NULL;

			if (!w || o->place >= s->op->results || o->is_address)
				continue;
			if (w->n < 2)
				w->s[w->n] = (int32_t)i;
			w->n++;
		}
	}
	return r;
}

void pm__ptx_ranges_free(PmPtxRanges *r)
{
	if (!r)
		return;
	pm__ptx_cfg_release(&r->cfg);
	free(r->w);
	free(r->memo);
	free(r);
}

/* 1 when every path to statement `at` has gone through statement `before`. */
static int comes_before(const PmPtxRanges *r, int32_t before, size_t at)
{
	int32_t a = r->cfg.of[before], b = r->cfg.of[at];

	if (r->f->statements.v[before].guard >= 0)
		return 0;
	return a == b ? (size_t)before < at && r->cfg.blocks.v[a].idom >= 0
		      : pm__ptx_dominates(&r->cfg, a, b);
}

/* ---- what an operand holds ---- */

static PmPtxRange special(PmPtxToken t)
{
	static const struct {
		const char *name;
		int64_t lo, hi;
	} of[] = { { "%tid.x", 0, 1023 },    { "%tid.y", 0, 1023 },   { "%tid.z", 0, 63 },
		   { "%ntid.x", 1, 1024 },   { "%ntid.y", 1, 1024 },  { "%ntid.z", 1, 64 },
		   { "%laneid", 0, 31 },     { "WARP_SZ", 32, 32 },   { "%ctaid.x", 0, INT32_MAX - 1 },
		   { "%ctaid.y", 0, 65534 }, { "%ctaid.z", 0, 65534 } };

	for (size_t i = 0; i < sizeof of / sizeof *of; i++)
		if (pm__ptx_is(t, of[i].name))
			return pm__ptx_between(of[i].lo, of[i].hi);
	return pm__ptx_unknown();
}

/* `bits`: of the instruction. 0xffffffff is -1 in 32 bits. */
static PmPtxRange operand(PmPtxRanges *r, const PmPtxOperand *o, size_t at, int bits)
{
	PmPtxRange v = pm__ptx_unknown();

	switch (o->kind) {
	case PM__PTX_O_NUMBER:
		if (!o->is_known)
			return v;
		v.lo = o->number;
		if (bits == 32 && v.lo > INT32_MAX && v.lo <= UINT32_MAX)
			v.lo -= (int64_t)1 << 32;
		return pm__ptx_between(v.lo, v.lo);
	case PM__PTX_O_OBJECT:
		v = pm__ptx_between(o->number, o->number);
		v.object = o->object;
		return v;
	case PM__PTX_O_SPECIAL:
		return special(o->name);
	case PM__PTX_O_REGISTER:
		v = pm__ptx_range(r, o, at);
		return o->number ? pm__ptx_unknown() : v;
	default:
		return v;
	}
}

/* What a load of 8 or 16 bits gives. */
static PmPtxRange loaded(const PmPtxStatement *s, int bits)
{
	char kind = 0;
	int n = pm__ptx_op_type(s->opcode, 0, &kind);

	if (kind == 'u' && n < bits && n <= 32)
		return pm__ptx_between(0, ((int64_t)1 << n) - 1);
	return pm__ptx_any(kind == 's' && n < bits && n <= 32 ? n : bits);
}

static PmPtxRange computed(PmPtxRanges *r, size_t at, int32_t reg)
{
	const PmPtxStatement *s = &r->f->statements.v[at];
	const PmPtxOperand *o = &r->f->operands.v[s->first];
	int bits = r->f->bits.v[reg], n = 0, type;
	PmPtxRange in[4];
	char kind = 0;

	if (s->op->cls == PM__PTX_LOAD)
		return loaded(s, bits);
	if ((s->op->cls != PM__PTX_ARITH && s->op->cls != PM__PTX_MOVE && s->op->cls != PM__PTX_POINTER) ||
	    !s->n || o[0].is_list || r->depth > MAX_DEPTH)
		return pm__ptx_any(bits);
	type = pm__ptx_op_type(s->opcode, !strcmp(s->op->name, "cvt"), &kind);
	if (type * (pm__ptx_has_part(s->opcode, "wide") ? 2 : 1) != bits &&
	    !(s->op->cls == PM__PTX_ARITH && !type && bits == 32))
		return pm__ptx_any(bits);
	for (uint32_t i = 1; i < s->n; i++) {
		if (n == 4 || o[i].is_list || o[i].is_address)
			return pm__ptx_any(bits);
		in[n++] = operand(r, &o[i], at, type);
	}
	return pm__ptx_fit(pm__ptx_compute(s->opcode, s->op->name, in, n), bits);
}

/* What statement `at` writes to the register; its guard is no matter. */
static PmPtxRange written(PmPtxRanges *r, size_t at, int32_t reg)
{
	Memo *m = &r->memo[at];

	if (m->state == 1)
		return pm__ptx_any(r->f->bits.v[reg]);
	if (!m->state) {
		m->state = 1;
		r->depth++;
		m->range = computed(r, at, reg);
		r->depth--;
		m->state = 2;
	}
	return m->range;
}

/* ---- conditions ---- */

/* Narrows v, what reg holds, by `@p` (is) or `@!p`. */
static PmPtxRange narrowed(PmPtxRanges *r, PmPtxRange v, int32_t reg, int32_t p, int is, size_t at)
{
	const PmPtxWriters *w = &r->w[p];
	const PmPtxStatement *s;
	const PmPtxOperand *o;
	char compare[8] = "", kind = 0;
	int bits;

	if (w->n != 1 || !comes_before(r, w->s[0], at))
		return v;
	s = &r->f->statements.v[w->s[0]];
	o = &r->f->operands.v[s->first];
	bits = pm__ptx_op_type(s->opcode, 0, &kind);
	if (strcmp(s->op->name, "setp") != 0 || s->n != 3 || o[0].is_list || o[1].reg != reg || o[1].number ||
	    kind == 'f' || bits != r->f->bits.v[reg] || s->opcode.n != strlen("setp.lt.u32"))
		return v;
	memcpy(compare, s->opcode.p + 5, 2);
	return pm__ptx_where(v, compare, operand(r, &o[2], (size_t)w->s[0], bits), bits,
			     kind == 'u' || !strcmp(compare, "lo") || !strcmp(compare, "ls"), is);
}

/* Narrows by all conditions that hold wherever statement `at` is reached. */
static PmPtxRange conditioned(PmPtxRanges *r, PmPtxRange v, int32_t reg, size_t at)
{
	const PmPtxStatement *s = &r->f->statements.v[at];
	int32_t x = r->cfg.of[at];

	if (s->guard >= 0)
		v = narrowed(r, v, reg, s->guard, !s->guard_not, at);
	for (int steps = 0; steps < MAX_CHAIN; steps++) {
		const PmPtxBlock *b = &r->cfg.blocks.v[x], *d;
		const PmPtxStatement *branch;

		if (b->idom < 0 || b->idom == x)
			break;
		d = &r->cfg.blocks.v[b->idom];
		branch = &r->f->statements.v[d->last];
		if (b->before.n == 1 && b->before.v[0] == b->idom && branch->op->cls == PM__PTX_BRANCH &&
		    branch->guard >= 0 && d->branches != d->falls)
			v = narrowed(r, v, reg, branch->guard, (d->branches == x) != branch->guard_not,
				     d->last);
		x = b->idom;
	}
	return v;
}

/* ---- loops ---- */

/* How often the loop of k is gone through at most; 0 when that is not known. */
static int64_t trips(PmPtxRanges *r, const PmPtxCounter *k)
{
	const PmPtxStatement *s = k->test;
	const PmPtxOperand *o = &r->f->operands.v[s->first];
	PmPtxCounter c;
	PmPtxRange from, to;
	char kind = 0;
	int bits, until;
	int64_t n;

	if (strcmp(s->op->name, "setp") != 0 || s->n != 3 || o[0].is_list || o[1].reg < 0 || o[1].number ||
	    s->guard >= 0 || s->opcode.n != strlen("setp.ne.s32") ||
	    !pm__ptx_counter(r->f, &r->cfg, r->w, o[1].reg, &c) || c.copies >= 0 || c.tail != k->tail ||
	    c.head != k->head || &r->f->statements.v[c.grow] > s)
		return 0;
	bits = pm__ptx_op_type(s->opcode, 0, &kind);
	until = !memcmp(s->opcode.p, "setp.ne", 7);
	if (kind == 'f' || bits != r->f->bits.v[o[1].reg] ||
	    (!until && memcmp(s->opcode.p, "setp.lt", 7) != 0))
		return 0;
	from = written(r, (size_t)c.set, o[1].reg);
	to = operand(r, &o[2], (size_t)(s - r->f->statements.v), bits);
	if (!from.known || !to.known || from.object >= 0 || to.object >= 0 || to.lo != to.hi || from.lo < 0 ||
	    to.lo < 0 || c.step <= 0 ||
	    (until && (from.lo != from.hi || to.hi <= from.lo || (to.hi - from.lo) % c.step)))
		return 0;
	n = to.hi > from.lo ? (to.hi - from.lo + c.step - 1) / c.step : 1;
	return n < MAX_TRIPS ? n : 0;
}

/* What the register that k copies held when it was copied, in the first n passes. */
static PmPtxRange copied(PmPtxRanges *r, const PmPtxCounter *k, int64_t n)
{
	const PmPtxStatement *s = &r->f->statements.v[k->grow];
	PmPtxCounter of;
	PmPtxRange v;

	if (!pm__ptx_counter(r->f, &r->cfg, r->w, k->copies, &of) || of.copies >= 0 || of.tail != k->tail ||
	    of.head != k->head || of.grow > k->grow || of.step <= 0 || of.step > INT32_MAX)
		return pm__ptx_unknown();
	v = written(r, (size_t)of.set, k->copies);
	if (!v.known)
		return v;
	v.lo += of.step;
	v.hi += n * of.step;
	return pm__ptx_compute(s->opcode, s->op->name, &v, 1);
}

/* A register that grows in a counted loop. */
static PmPtxRange grown(PmPtxRanges *r, int32_t reg, size_t at)
{
	PmPtxCounter k;
	PmPtxRange v;
	int64_t n;
	int32_t block = r->cfg.of[at];

	r->work += (int64_t)r->cfg.blocks.n;
	if (r->work > MAX_WORK || !pm__ptx_counter(r->f, &r->cfg, r->w, reg, &k))
		return pm__ptx_unknown();
	n = trips(r, &k);
	if (!n || !comes_before(r, k.set, at) || k.step > INT32_MAX || k.step < -INT32_MAX)
		return pm__ptx_unknown();
	v = written(r, (size_t)k.set, reg);
	if (!v.known)
		return v;
	/* Inside of the loop and before it grows, the last growth has not been yet. */
	if (pm__ptx_in_loop(&r->cfg, &k, block) && (block != k.tail || at <= (size_t)k.grow))
		n--;
	if (k.copies >= 0)
		return n ? pm__ptx_union(v, copied(r, &k, n)) : v;
	v.lo += k.step < 0 ? n * k.step : 0;
	v.hi += k.step > 0 ? n * k.step : 0;
	return pm__ptx_fit(v, r->f->bits.v[reg]);
}

/* The last statement of the block before `at` that writes the register for certain; -1 when there is none. */
static int64_t last_writer(const PmPtxRanges *r, int32_t reg, size_t at)
{
	size_t first = r->cfg.blocks.v[r->cfg.of[at]].first;

	for (int steps = 0; at-- > first && steps < MAX_CHAIN; steps++) {
		const PmPtxStatement *s = &r->f->statements.v[at];
		const PmPtxOperand *o = &r->f->operands.v[s->first];

		for (uint32_t k = 0; k < s->n && o[k].place < s->op->results; k++)
			if (o[k].reg == reg && !o[k].is_address)
				return s->guard < 0 ? (int64_t)at : -1;
	}
	return -1;
}

PmPtxRange pm__ptx_range(PmPtxRanges *r, const PmPtxOperand *o, size_t at)
{
	const PmPtxWriters *w = &r->w[o->reg];
	PmPtxRange any = pm__ptx_any(r->f->bits.v[o->reg]), v;
	int64_t last;

	if (r->depth > MAX_DEPTH)
		return any;
	if (w->n == 1)
		return comes_before(r, w->s[0], at)
			       ? conditioned(r, written(r, (size_t)w->s[0], o->reg), o->reg, at)
			       : any;
	last = last_writer(r, o->reg, at);
	if (last >= 0)
		return written(r, (size_t)last, o->reg);
	r->depth++;
	v = w->n == 2 ? grown(r, o->reg, at) : any;
	r->depth--;
	return v.known ? v : any;
}
