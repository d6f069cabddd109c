/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_interval.c - arithmetic on intervals of integers as PTX computes with them. */
#include "integrity/ptx/ptx_interval.h"

#include "integrity/ptx/ptx_body.h"

#include <string.h>

#define LIMIT ((int64_t)1 << 61)

PmPtxRange pm__ptx_unknown(void)
{
	return (PmPtxRange){ .known = 0, .object = PM__PTX_NONE };
}

PmPtxRange pm__ptx_between(int64_t lo, int64_t hi)
{
	PmPtxRange r = {
		.known = lo <= hi && lo > -LIMIT && hi < LIMIT, .object = PM__PTX_NONE, .lo = lo, .hi = hi
	};

	return r;
}

PmPtxRange pm__ptx_any(int bits)
{
	if (bits < 2 || bits > 32)
		return pm__ptx_unknown();
	return pm__ptx_between(-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1);
}

PmPtxRange pm__ptx_fit(PmPtxRange r, int bits)
{
	PmPtxRange any = pm__ptx_any(bits);

	if (bits == 64)
		return r;
	return any.known && r.known && r.object < 0 && r.lo >= any.lo && r.hi <= any.hi ? r : any;
}

PmPtxRange pm__ptx_union(PmPtxRange a, PmPtxRange b)
{
	if (!a.known || !b.known || a.object != b.object)
		return pm__ptx_unknown();
	a.lo = a.lo < b.lo ? a.lo : b.lo;
	a.hi = a.hi > b.hi ? a.hi : b.hi;
	return a;
}

PmPtxRange pm__ptx_unsigned(PmPtxRange r, int bits)
{
	if (r.known && r.object < 0 && r.lo >= 0)
		return r;
	return bits <= 32 ? pm__ptx_between(0, ((int64_t)1 << bits) - 1) : pm__ptx_unknown();
}

/* ---- operations ---- */

static int is_number(PmPtxRange r)
{
	return r.known && r.object < 0;
}

static PmPtxRange add(PmPtxRange a, PmPtxRange b)
{
	PmPtxRange r;

	if (!a.known || !b.known || (a.object >= 0 && b.object >= 0))
		return pm__ptx_unknown();
	r = pm__ptx_between(a.lo + b.lo, a.hi + b.hi);
	r.object = a.object >= 0 ? a.object : b.object;
	return r;
}

static PmPtxRange negative(PmPtxRange a)
{
	return is_number(a) ? pm__ptx_between(-a.hi, -a.lo) : pm__ptx_unknown();
}

static PmPtxRange multiply(PmPtxRange a, PmPtxRange b)
{
	const int64_t x[2] = { a.lo, a.hi }, y[2] = { b.lo, b.hi };
	PmPtxRange r = { 0 };

	if (!is_number(a) || !is_number(b))
		return pm__ptx_unknown();
	for (int i = 0; i < 4; i++) {
		int64_t p;

		if (__builtin_mul_overflow(x[i & 1], y[i >> 1], &p))
			return pm__ptx_unknown();
		r = i ? pm__ptx_union(r, pm__ptx_between(p, p)) : pm__ptx_between(p, p);
	}
	return r;
}

/* The least 2^k - 1 that is not below v. */
static int64_t ones(int64_t v)
{
	int64_t m = 0;

	while (m < v)
		m = m * 2 + 1;
	return m;
}

static PmPtxRange logic(char what, PmPtxRange a, PmPtxRange b)
{
	int64_t hi;

	if (what == 'a' && (is_number(a) || is_number(b))) { /* and: one that is not negative bounds it */
		int a_bounds = is_number(a) && a.lo >= 0, b_bounds = is_number(b) && b.lo >= 0;

		if (!a_bounds && !b_bounds)
			return pm__ptx_unknown();
		hi = !a_bounds ? b.hi : !b_bounds || a.hi < b.hi ? a.hi : b.hi;
		return pm__ptx_between(0, hi);
	}
	if (!is_number(a) || !is_number(b) || a.lo < 0 || b.lo < 0)
		return pm__ptx_unknown();
	hi = ones(a.hi > b.hi ? a.hi : b.hi);
	return pm__ptx_between(what == 'x' ? 0 : a.lo > b.lo ? a.lo : b.lo, hi);
}

static PmPtxRange shift(int left, PmPtxRange a, PmPtxRange by, int bits)
{
	if (!is_number(by) || by.lo != by.hi || by.lo < 0 || by.lo >= bits)
		return pm__ptx_unknown();
	if (left)
		return by.lo < 62 ? multiply(a, pm__ptx_between((int64_t)1 << by.lo, (int64_t)1 << by.lo))
				  : pm__ptx_unknown();
	if (!is_number(a) && by.lo > 3 && bits == 64) /* any 64 bits, as unsigned */
		return pm__ptx_between(0, ((int64_t)1 << (64 - by.lo)) - 1);
	return is_number(a) ? pm__ptx_between(a.lo >> by.lo, a.hi >> by.lo) : pm__ptx_unknown();
}

static PmPtxRange divide(int remainder, PmPtxRange a, PmPtxRange b)
{
	if (!is_number(b) || b.lo != b.hi || b.lo <= 0)
		return pm__ptx_unknown();
	if (remainder) {
		int64_t m = b.hi - 1;

		if (!is_number(a))
			return pm__ptx_between(-m, m);
		return pm__ptx_between(a.lo < 0 ? -m : 0, a.hi < 0 ? 0 : a.hi < m ? a.hi : m);
	}
	return is_number(a) ? pm__ptx_between(a.lo / b.lo, a.hi / b.lo) : pm__ptx_unknown();
}

static PmPtxRange extreme(int max, int is_unsigned, PmPtxRange a, PmPtxRange b)
{
	if (!max && is_unsigned && is_number(a) != is_number(b))
		return pm__ptx_between(0, is_number(a) ? a.hi : b.hi);
	if (!is_number(a) || !is_number(b))
		return pm__ptx_unknown();
	return max ? pm__ptx_between(a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi)
		   : pm__ptx_between(a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi);
}

/* cvt.u64.u32: the last type is that of the operand. */
static PmPtxRange convert(PmPtxToken opcode, PmPtxRange a)
{
	char to_kind = 0, from_kind = 0;
	int to = pm__ptx_op_type(opcode, 1, &to_kind), from = pm__ptx_op_type(opcode, 0, &from_kind);

	if (to_kind == 'f' || from_kind == 'f' || pm__ptx_has_part(opcode, "sat"))
		return pm__ptx_any(to);
	if (from == 64 ? !is_number(a) : 0)
		return pm__ptx_any(to);
	a = pm__ptx_fit(a, from);
	return pm__ptx_fit(from_kind == 'u' ? pm__ptx_unsigned(a, from) : a, to);
}

/* An operand of `bits` as the instruction reads it. */
static PmPtxRange read_as(PmPtxRange a, int bits, char kind)
{
	if (a.object >= 0)
		return a;
	if (bits < 64)
		a = pm__ptx_fit(a, bits);
	return kind == 'u' ? pm__ptx_unsigned(a, bits) : a;
}

PmPtxRange pm__ptx_compute(PmPtxToken opcode, const char *name, const PmPtxRange *a, int n)
{
	char kind = 'b';
	int bits = pm__ptx_op_type(opcode, 0, &kind), wide = pm__ptx_has_part(opcode, "wide");
	int out = wide ? 2 * bits : bits;
	PmPtxRange x = n > 0 ? a[0] : pm__ptx_unknown(), y = n > 1 ? a[1] : pm__ptx_unknown(),
		   r = pm__ptx_unknown();
	int is_object = x.object >= 0 || y.object >= 0 || (n > 2 && a[2].object >= 0);

	if (!strcmp(name, "cvt"))
		return convert(opcode, x);
	if (!strcmp(name, "cvta"))
		return x;
	if (kind == 'f' || pm__ptx_has_part(opcode, "cc") || pm__ptx_has_part(opcode, "sat") ||
	    pm__ptx_has_part(opcode, "hi") || (is_object && bits != 64 && !wide))
		return pm__ptx_any(out);
	if (!strcmp(name, "mov") && n == 1)
		return pm__ptx_fit(x, out);
	if (!strcmp(name, "selp") && n == 3)
		return pm__ptx_fit(pm__ptx_union(x, y), out);
	kind = kind == 'b' && !strcmp(name, "shr") ? 'u' : kind;
	x = read_as(x, bits, kind);
	y = read_as(y, bits, kind);
	if (!strcmp(name, "add") && n == 2)
		r = add(a[0], a[1]);
	else if (!strcmp(name, "sub") && n == 2)
		r = add(a[0], negative(a[1]));
	else if (!strcmp(name, "mul") && n == 2)
		r = multiply(wide ? x : a[0], wide ? y : a[1]);
	else if (!strcmp(name, "mad") && n == 3)
		r = add(pm__ptx_fit(multiply(wide ? x : a[0], wide ? y : a[1]), out), a[2]);
	else if (!strcmp(name, "neg") && n == 1)
		r = negative(a[0]);
	else if (!strcmp(name, "and") && n == 2)
		r = logic('a', a[0], a[1]);
	else if ((!strcmp(name, "or") || !strcmp(name, "xor")) && n == 2)
		r = logic(*name, a[0], a[1]);
	else if ((!strcmp(name, "shl") || !strcmp(name, "shr")) && n == 2)
		r = *name == 's' && kind == 's' && name[2] == 'r' && !is_number(x)
			    ? pm__ptx_unknown()
			    : shift(name[2] == 'l', name[2] == 'l' ? a[0] : x, a[1], bits);
	else if ((!strcmp(name, "div") || !strcmp(name, "rem")) && n == 2)
		r = kind == 's' && !is_number(x) && *name == 'd' ? pm__ptx_unknown()
								 : divide(*name == 'r', x, y);
	else if ((!strcmp(name, "min") || !strcmp(name, "max")) && n == 2)
		r = extreme(name[1] == 'a', kind == 'u', x, y);
	else if (!strcmp(name, "bfe") && kind == 'u' && n == 3 && is_number(a[2]) && a[2].lo == a[2].hi &&
		 a[2].lo >= 0 && a[2].lo < 31)
		r = pm__ptx_between(0, ((int64_t)1 << a[2].lo) - 1);
	else if (!strcmp(name, "popc") || !strcmp(name, "clz"))
		return pm__ptx_between(0, bits);
	return pm__ptx_fit(r, out);
}

/* ---- comparisons ---- */

PmPtxRange pm__ptx_where(PmPtxRange r, const char *compare, PmPtxRange b, int bits, int is_unsigned, int is)
{
	static const char *const opposite[][2] = { { "lt", "ge" }, { "le", "gt" }, { "eq", "ne" },
						   { "lo", "hs" }, { "ls", "hi" }, { NULL, NULL } };
	int64_t lo = -LIMIT + 1, hi = LIMIT - 1;
	PmPtxRange was = is_unsigned ? pm__ptx_unsigned(r, bits) : r;

	for (int i = 0; !is && opposite[i][0]; i++) {
		int first = !strcmp(compare, opposite[i][0]);

		if (first || !strcmp(compare, opposite[i][1])) {
			compare = opposite[i][first];
			break;
		}
	}
	if (!is_number(b) || (r.known && r.object >= 0) || (is_unsigned && b.lo < 0))
		return r;
	if (!strcmp(compare, "lt") || !strcmp(compare, "lo"))
		hi = b.hi - 1;
	else if (!strcmp(compare, "le") || !strcmp(compare, "ls"))
		hi = b.hi;
	else if (!strcmp(compare, "gt") || !strcmp(compare, "hi"))
		lo = b.lo + 1;
	else if (!strcmp(compare, "ge") || !strcmp(compare, "hs"))
		lo = b.lo;
	else if (!strcmp(compare, "eq"))
		lo = b.lo, hi = b.hi;
	else
		return r;
	if (was.known) {
		lo = lo > was.lo ? lo : was.lo;
		hi = hi < was.hi ? hi : was.hi;
	} else if (is_unsigned) {
		lo = lo > 0 ? lo : 0; /* 64 bits below a bound: not negative as signed, either */
		if (hi >= LIMIT - 1)
			return r;
	} else if (lo < -LIMIT / 2 || hi > LIMIT / 2) {
		return r; /* one side stays open */
	}
	if (lo > hi) /* it is never reached */
		return r;
	return pm__ptx_fit(pm__ptx_between(lo, hi), bits);
}
