/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_body.c - the body of a PTX function as statements over numbered registers. */
#include "integrity/ptx/ptx_body.h"

#include <string.h>

/* %v, or the `count` registers %r0, %r1, ... of the family %r. */
typedef struct Register {
	PmPtxToken name;
	int64_t count; /* -1: the name itself */
	int32_t first; /* its number */
} Register;

typedef struct Scope {
	size_t registers, objects;
} Scope;

/* An opcode that was found before: kernels repeat few of them. */
typedef struct Found {
	PmPtxToken opcode;
	const PmPtxOp *op;
} Found;

enum { N_FOUND = 256 };

typedef struct Body {
	PmPtxLexer *l;
	PmPtxToken t; /* the token being looked at */
	PmPtxFunction *f;
	const PmPtxObjects *module;
	PmPtxReport *r;
	PM_VEC(Register) registers; /* that are known here */
	PM_VEC(Scope) scopes;
	PM_VEC(int32_t) objects; /* that are known here */
	Found found[N_FOUND];
	int odd_objects; /* one has a name that begins like a register's */
} Body;

static void next(Body *b)
{
	b->t = pm__ptx_next(b->l);
}

static int is_punct(PmPtxToken t, char c)
{
	return t.kind == PM__PTX_PUNCT && *t.p == c;
}

static int is_end(PmPtxToken t)
{
	return t.kind == PM__PTX_END || t.kind == PM__PTX_BAD;
}

static int same(PmPtxToken a, PmPtxToken b)
{
	return a.n == b.n && !memcmp(a.p, b.p, a.n);
}

int pm__ptx_integer(PmPtxToken t, int64_t *v)
{
	int hex = t.n > 2 && t.p[0] == '0' && (t.p[1] == 'x' || t.p[1] == 'X');
	size_t i = hex ? 2 : 0, n = t.n && t.p[t.n - 1] == 'U' ? t.n - 1 : t.n;

	*v = 0;
	if (t.kind != PM__PTX_WORD || i == n || (!hex && n > 1 && *t.p == '0'))
		return 0;
	for (; i < n; i++) {
		char c = t.p[i];
		int digit = c >= '0' && c <= '9'          ? c - '0'
			    : hex && c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : hex && c >= 'A' && c <= 'F' ? c - 'A' + 10
							  : -1;

		if (digit < 0 || *v > ((int64_t)1 << 57))
			return 0;
		*v = *v * (hex ? 16 : 10) + digit;
	}
	return 1;
}

/* ---- declarations ---- */

static int type_bits(PmPtxToken t)
{
	char kind;

	return pm__ptx_is(t, ".pred") ? 1 : t.n > 2 ? pm__ptx_op_type(t, 0, &kind) : 0;
}

PmPtxToken pm__ptx_object_read(PmPtxLexer *l, PmPtxObject *o)
{
	int64_t bytes = 0, times = 1, n;
	PmPtxToken t;

	for (t = pm__ptx_next(l); !is_end(t); t = pm__ptx_next(l)) {
		if (is_punct(t, ',') || is_punct(t, ')') || is_punct(t, ';') || is_punct(t, '='))
			break;
		if (is_punct(t, '[')) {
			t = pm__ptx_next(l);
			if (is_punct(t, ']'))
				times = -1;
			else if (pm__ptx_integer(t, &n) && n < INT32_MAX && times >= 0 && times < INT32_MAX)
				times *= n;
			else
				times = bytes = 0;
		} else if (pm__ptx_is(t, ".align")) {
			pm__ptx_next(l);
		} else if (t.kind == PM__PTX_WORD && *t.p == '.') {
			bytes = type_bits(t) >= 8 ? type_bits(t) / 8 : bytes;
		} else if (t.kind == PM__PTX_WORD) {
			o->name = t;
		}
	}
	o->bytes = times < 0 ? -1 : bytes * times;
	return t;
}

static void add_object(Body *b, PmPtxObject o)
{
	int32_t id = (int32_t)b->f->objects.n;

	b->odd_objects |= o.name.n && *o.name.p == '%';
	PM_VEC_PUSH(&b->f->objects, o);
	PM_VEC_PUSH(&b->objects, id);
}

/* .local .align 8 .b8 frame[40]; or .param .b64 param0; or .shared .b64 a, b; */
static void read_objects(Body *b, char space)
{
	char name[PM__PTX_SHOWN + 1];
	PmPtxToken end;

	do {
		PmPtxObject o = { .space = space, .use = 'm' };

		end = pm__ptx_object_read(b->l, &o);
		if (!o.name.n || !o.bytes || (o.bytes < 0 && space != 's') || is_punct(end, '='))
			pm__ptx_problem(
				b->r, "The variable %s cannot be read; declare it with a size and no values.",
				pm__ptx_shown(o.name, name));
		if (o.name.n)
			add_object(b, o);
	} while (is_punct(end, ','));
	b->t = end;
}

/* .reg .b64 %a, %b; or .reg .pred %p<7>; */
static void read_registers(Body *b)
{
	int bits = 0;

	for (next(b); !is_end(b->t) && !is_punct(b->t, ';'); next(b)) {
		Register r = { b->t, -1, (int32_t)b->f->bits.n };
		int64_t n = 1;

		if (b->t.kind != PM__PTX_WORD)
			continue;
		if (*b->t.p == '.') {
			bits = type_bits(b->t) ? type_bits(b->t) : bits;
			continue;
		}
		if (b->l->at < b->l->end && *b->l->at == '<') {
			next(b);
			next(b);
			if (!pm__ptx_integer(b->t, &n))
				n = 0;
			r.count = n;
			next(b);
		}
		if (n > PM__PTX_MAX_REGISTERS - (int64_t)b->f->bits.n) {
			pm__ptx_problem(b->r, "It declares more than %d registers; declare those it uses.",
					PM__PTX_MAX_REGISTERS);
			n = r.count = 0;
		}
		PM_VEC_PUSH(&b->registers, r);
		for (; n > 0; n--)
			PM_VEC_PUSH(&b->f->bits, (uint8_t)(bits > 128 ? 0 : bits));
	}
}

static void skip_statement(Body *b)
{
	while (!is_end(b->t) && !is_punct(b->t, ';'))
		next(b);
}

/* `.reg.b16 h;` is `.reg .b16 h;`: cuda_fp16.h writes both. What stands behind .reg is read again. */
static void part_from_type(Body *b)
{
	static const char reg[] = ".reg";
	size_t n = sizeof reg - 1;

	if (b->t.n > n && b->t.p[n] == '.' && pm__ptx_begins(b->t, reg)) {
		b->t.n = n;
		b->l->at = b->t.p + n;
	}
}

/* A directive inside a function. */
static void directive(Body *b)
{
	char name[PM__PTX_SHOWN + 1];

	part_from_type(b);
	if (pm__ptx_is(b->t, ".reg")) {
		read_registers(b);
	} else if (pm__ptx_is(b->t, ".local")) {
		read_objects(b, 'l');
	} else if (pm__ptx_is(b->t, ".shared")) {
		read_objects(b, 's');
	} else if (pm__ptx_is(b->t, ".param")) {
		read_objects(b, 'p');
	} else if (pm__ptx_is(b->t, ".loc")) { /* .loc 1 12 0 has no end mark */
		for (int i = 0; i < 3; i++)
			next(b);
	} else if (pm__ptx_is(b->t, ".pragma")) {
		skip_statement(b);
	} else if (pm__ptx_is(b->t, ".callprototype") || pm__ptx_is(b->t, ".calltargets")) {
		pm__ptx_problem(b->r, "It calls through a pointer; call a function by its name.");
		skip_statement(b);
	} else {
		pm__ptx_problem(b->r, "It has the directive %s, which is not allowed in a function.",
				pm__ptx_shown(b->t, name));
		skip_statement(b);
	}
}

/* ---- names ---- */

/* Special registers that say where a thread is, and nothing of time, launch number or hardware. */
static int is_position(PmPtxToken t)
{
	static const char *const vectors[] = { "%tid",           "%ntid",           "%ctaid",
					       "%nctaid",        "%clusterid",      "%nclusterid",
					       "%cluster_ctaid", "%cluster_nctaid", NULL };
	static const char *const names[] = { "%laneid",
					     "%lanemask_eq",
					     "%lanemask_lt",
					     "%lanemask_le",
					     "%lanemask_gt",
					     "%lanemask_ge",
					     "%dynamic_smem_size",
					     "%total_smem_size",
					     "%is_explicit_cluster",
					     "%cluster_ctarank",
					     "%cluster_nctarank",
					     "WARP_SZ",
					     NULL };
	PmPtxToken base = t;

	for (int i = 0; names[i]; i++)
		if (pm__ptx_is(t, names[i]))
			return 1;
	if (t.n > 2 && t.p[t.n - 2] == '.' && memchr("xyz", t.p[t.n - 1], 3))
		base.n -= 2;
	for (int i = 0; vectors[i]; i++)
		if (pm__ptx_is(base, vectors[i]))
			return 1;
	return 0;
}

/* The last declaration that fits is the one that is meant. With .reg .b64 %clock<5>, %clock64 is none. */
static int32_t find_register(const Body *b, PmPtxToken t)
{
	for (size_t i = b->registers.n; i-- > 0;) {
		const Register *r = &b->registers.v[i];
		int64_t k = 0;

		if (t.n < r->name.n || (r->count < 0) != (t.n == r->name.n) ||
		    memcmp(r->name.p, t.p, r->name.n) != 0)
			continue;
		if (r->count < 0)
			return r->first;
		for (size_t j = r->name.n; j < t.n && k <= PM__PTX_MAX_REGISTERS; j++)
			k = t.p[j] < '0' || t.p[j] > '9' ? PM__PTX_MAX_REGISTERS + 1
							 : k * 10 + (t.p[j] - '0');
		if (k < r->count && (t.p[r->name.n] != '0' || t.n == r->name.n + 1))
			return r->first + (int32_t)k;
	}
	return PM__PTX_NONE;
}

static int32_t find_object(const Body *b, PmPtxToken t)
{
	for (size_t i = b->objects.n; i-- > 0;)
		if (same(b->f->objects.v[b->objects.v[i]].name, t))
			return b->objects.v[i];
	for (size_t i = 0; i < b->module->n; i++)
		if (same(b->module->v[i].name, t))
			return PM__PTX_MODULE + (int32_t)i;
	return PM__PTX_NONE;
}

/* ---- operands ---- */

static PmPtxToken without_component(PmPtxToken t)
{
	if (t.n > 2 && t.p[t.n - 2] == '.')
		t.n -= 2;
	return t;
}

/* What a word stands for. */
static void resolve(Body *b, PmPtxOperand *o)
{
	char name[PM__PTX_SHOWN + 1];
	PmPtxToken t = o->name;

	o->reg = find_register(b, t);
	if (o->reg < 0 && *t.p == '%' && find_register(b, without_component(t)) >= 0) {
		pm__ptx_problem(b->r, "It has the vector register %s; declare a register for each component.",
				pm__ptx_shown(t, name));
		return;
	}
	if (o->reg >= 0) {
		o->kind = PM__PTX_O_REGISTER;
		if ((*t.p != '%' || b->odd_objects) && find_object(b, t) >= 0)
			pm__ptx_problem(b->r,
					"%s is a register and a variable; give one of them another name.",
					pm__ptx_shown(t, name));
	} else if (*t.p >= '0' && *t.p <= '9') {
		o->kind = PM__PTX_O_NUMBER;
		o->is_known = (char)pm__ptx_integer(t, &o->number);
	} else if (pm__ptx_is(t, "_") || is_position(t)) {
		o->kind = PM__PTX_O_SPECIAL;
	} else if (*t.p == '%') {
		pm__ptx_problem(
			b->r,
			"It reads %s; a kernel knows its position and nothing of time, launch or hardware.",
			pm__ptx_shown(t, name));
	} else {
		o->object = find_object(b, t);
		o->kind = o->object >= 0 ? PM__PTX_O_OBJECT : PM__PTX_O_LABEL;
	}
}

/* A word with its sign and its offset. Returns 0 when there is none. */
static int operand(Body *b, int16_t place, int is_address, int is_list)
{
	PmPtxOperand o = { .kind = PM__PTX_O_SPECIAL,
			   .reg = PM__PTX_NONE,
			   .object = PM__PTX_NONE,
			   .place = place,
			   .is_address = (char)is_address,
			   .is_list = (char)is_list };
	int minus = 0;
	int64_t offset;

	while (is_punct(b->t, '-') || is_punct(b->t, '!')) {
		minus ^= is_punct(b->t, '-');
		next(b);
	}
	if (b->t.kind != PM__PTX_WORD)
		return 0;
	o.name = b->t;
	resolve(b, &o);
	o.number = minus ? -o.number : o.number;
	o.is_known = (char)(o.is_known || o.kind != PM__PTX_O_NUMBER);
	next(b);
	if (is_punct(b->t, '+')) {
		next(b);
		minus = is_punct(b->t, '-');
		if (minus)
			next(b);
		if (!pm__ptx_integer(b->t, &offset))
			return 0;
		o.number += minus ? -offset : offset;
		next(b);
	}
	PM_VEC_PUSH(&b->f->operands, o);
	return 1;
}

/* What stands between two commas: a word, a|b, {a, b}, [address]. Returns 0 when it is something else. */
static int place(Body *b, int16_t number)
{
	size_t first = b->f->operands.n;

	if (is_punct(b->t, '{')) {
		do {
			next(b);
			if (!operand(b, number, 0, 1))
				return 0;
		} while (is_punct(b->t, ','));
		if (!is_punct(b->t, '}'))
			return 0;
		next(b);
		return 1;
	}
	if (is_punct(b->t, '[')) {
		next(b);
		if (!operand(b, number, 1, 0) || !is_punct(b->t, ']'))
			return 0;
		next(b);
		return 1;
	}
	if (!operand(b, number, 0, 0))
		return 0;
	if (is_punct(b->t, '|')) {
		b->f->operands.v[first].is_list = 1;
		next(b);
		return operand(b, number, 0, 1);
	}
	return 1;
}

/* call (ret), name, (args); the function is operand 1, what is in parentheses 0 and 2. */
static int call(Body *b)
{
	int16_t number = 1;

	while (!is_end(b->t) && !is_punct(b->t, ';')) {
		int16_t at = (int16_t)(is_punct(b->t, '(') ? (number == 1 ? 0 : 2) : 1);

		if (at != 1) {
			next(b);
			while (!is_punct(b->t, ')')) {
				if (!operand(b, at, 0, 1))
					return 0;
				if (is_punct(b->t, ','))
					next(b);
			}
			next(b);
		} else {
			if (!operand(b, 1, 0, 0))
				return 0;
			number = 2;
		}
		if (is_punct(b->t, ','))
			next(b);
	}
	return 1;
}

static int places(Body *b)
{
	for (int16_t n = 0; !is_punct(b->t, ';'); n++) {
		if (n && !is_punct(b->t, ','))
			return 0;
		if (n)
			next(b);
		if (n == 64 || !place(b, n))
			return 0;
	}
	return 1;
}

static const PmPtxOp *find_op(Body *b, PmPtxToken opcode, const char **why)
{
	unsigned h = (unsigned)opcode.n;
	Found *f;

	for (size_t i = 0; i < opcode.n; i++)
		h = h * 31 + (unsigned char)opcode.p[i];
	f = &b->found[h % N_FOUND];
	if (!f->op || !same(f->opcode, opcode)) {
		f->opcode = opcode;
		f->op = pm__ptx_op_find(opcode, why);
	}
	return f->op;
}

/* From the opcode to its ';'. */
static void instruction(Body *b, int32_t guard, int guard_not)
{
	PmPtxStatement s = { .opcode = b->t,
			     .guard = guard,
			     .guard_not = (char)guard_not,
			     .first = (uint32_t)b->f->operands.n };
	char name[PM__PTX_SHOWN + 1];
	const char *why = NULL;

	s.op = find_op(b, s.opcode, &why);
	next(b);
	if (!s.op) {
		pm__ptx_problem(b->r, "It has the instruction %s: %s.", pm__ptx_shown(s.opcode, name), why);
		skip_statement(b);
		return;
	}
	if (!(s.op->cls == PM__PTX_CALL ? call(b) : places(b))) {
		pm__ptx_problem(b->r,
				"The operands of %s cannot be read; write registers, numbers and names plus "
				"a number.",
				pm__ptx_shown(s.opcode, name));
		skip_statement(b);
		return;
	}
	s.n = (uint32_t)(b->f->operands.n - s.first);
	PM_VEC_PUSH(&b->f->statements, s);
}

/* @%p1 or @!%p1, and the instruction behind it. */
static void guarded(Body *b)
{
	PmPtxOperand o = { .kind = PM__PTX_O_SPECIAL, .reg = PM__PTX_NONE };
	int negated;

	next(b);
	negated = is_punct(b->t, '!');
	if (negated)
		next(b);
	o.name = b->t;
	if (b->t.kind == PM__PTX_WORD)
		resolve(b, &o);
	if (o.reg < 0)
		pm__ptx_problem(b->r, "A guard is no register.");
	next(b);
	if (b->t.kind == PM__PTX_WORD)
		instruction(b, o.reg, negated);
	else
		skip_statement(b);
}

static void open_scope(Body *b)
{
	Scope s = { b->registers.n, b->objects.n };

	PM_VEC_PUSH(&b->scopes, s);
}

static void word(Body *b)
{
	PmPtxLexer here = *b->l;
	PmPtxToken after = pm__ptx_next(&here);

	if (*b->t.p == '.') {
		directive(b);
	} else if (is_punct(after, ':')) {
		PmPtxLabel label = { b->t, b->f->statements.n };

		PM_VEC_PUSH(&b->f->labels, label);
		next(b);
	} else {
		instruction(b, PM__PTX_NONE, 0);
	}
}

static int statements(Body *b)
{
	for (next(b); !is_end(b->t); next(b)) {
		if (is_punct(b->t, '{')) {
			open_scope(b);
		} else if (is_punct(b->t, '}')) {
			if (!b->scopes.n)
				return 1;
			b->scopes.n--;
			b->registers.n = b->scopes.v[b->scopes.n].registers;
			b->objects.n = b->scopes.v[b->scopes.n].objects;
		} else if (is_punct(b->t, '@')) {
			guarded(b);
		} else if (b->t.kind == PM__PTX_WORD) {
			word(b);
		} else if (!is_punct(b->t, ';')) {
			pm__ptx_problem(b->r, "Its body cannot be read.");
			skip_statement(b);
		}
	}
	return 0;
}

static int compare(PmPtxToken a, PmPtxToken b)
{
	return a.n != b.n ? (a.n > b.n) - (a.n < b.n) : memcmp(a.p, b.p, a.n);
}

static int by_name(const void *a, const void *b)
{
	return compare(((const PmPtxLabel *)a)->name, ((const PmPtxLabel *)b)->name);
}

int64_t pm__ptx_label(const PmPtxFunction *f, PmPtxToken name)
{
	size_t lo = 0, hi = f->labels.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (compare(f->labels.v[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == f->labels.n || compare(f->labels.v[lo].name, name) != 0)
		return -1;
	if (lo + 1 < f->labels.n && !compare(f->labels.v[lo + 1].name, name))
		return -2;
	return (int64_t)f->labels.v[lo].at;
}

int pm__ptx_body_read(PmPtxLexer *l, PmPtxFunction *f, const PmPtxObjects *module, PmPtxReport *r)
{
	Body b = { .l = l, .f = f, .module = module, .r = r };
	int whole;

	for (size_t i = 0; i < f->objects.n; i++) {
		b.odd_objects |= *f->objects.v[i].name.p == '%';
		PM_VEC_PUSH(&b.objects, (int32_t)i);
	}
	for (size_t i = 0; i < module->n; i++)
		b.odd_objects |= *module->v[i].name.p == '%';
	whole = statements(&b);
	if (f->labels.n)
		qsort(f->labels.v, f->labels.n, sizeof *f->labels.v, by_name);
	PM_VEC_RELEASE(&b.registers);
	PM_VEC_RELEASE(&b.scopes);
	PM_VEC_RELEASE(&b.objects);
	return whole;
}

void pm__ptx_function_release(PmPtxFunction *f)
{
	PM_VEC_RELEASE(&f->objects);
	PM_VEC_RELEASE(&f->operands);
	PM_VEC_RELEASE(&f->statements);
	PM_VEC_RELEASE(&f->labels);
	PM_VEC_RELEASE(&f->bits);
}
