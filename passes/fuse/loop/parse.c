/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - reads what print.c writes. For tests: it accepts no other text, and says where it stopped. */
#include "print.h"

typedef struct Parse {
	Nest *n;
	const char *s; /* what is still to be read */
	int line;
	const char *why;        /* the first thing that was wrong */
	int64_t turns[F_EARLY]; /* that early loads stand for */
} Parse;

static int bad(Parse *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return 0;
}

/* ---- words and numbers ---- */

/* Takes `word` when it is what comes next. */
static int take(Parse *p, const char *word)
{
	const char *s = p->s;

	while (*word && *s == *word) {
		s++;
		word++;
	}
	if (*word)
		return 0;
	p->s = s;
	return 1;
}

static int expect(Parse *p, const char *word)
{
	return take(p, word) || bad(p, "another word is expected here");
}

static int is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* `word`, and not the begin of a longer one. */
static int take_word(Parse *p, const char *word)
{
	const char *s = p->s;

	if (!take(p, word))
		return 0;
	if (!is_name(*p->s))
		return 1;
	p->s = s;
	return 0;
}

static int64_t integer(Parse *p)
{
	int minus = take(p, "-"), digits = 0;
	uint64_t x = 0;

	for (; *p->s >= '0' && *p->s <= '9' && digits < 19; digits++)
		x = 10 * x + (uint64_t)(*p->s++ - '0');
	if (!digits)
		return bad(p, "a number is expected here");
	return minus ? -(int64_t)x : (int64_t)x;
}

static int small(Parse *p, int64_t most)
{
	int64_t x = integer(p);

	return x >= 0 && x <= most ? (int)x : bad(p, "a number is out of range");
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* As pm_text_float() has it. */
static double real(Parse *p)
{
	union {
		uint64_t u;
		double d;
	} bits = { 0 };
	int minus, k, normal;
	int64_t e;

	expect(p, "(");
	minus = take(p, "-");
	bits.u = (uint64_t)minus << 63;
	if (take(p, "(0.0 / 0.0))") || take(p, "0.0 / 0.0))")) {
		bits.u |= 0x7ffull << 52 | 1;
		return bits.d;
	}
	if (take(p, "(1.0 / 0.0))") || take(p, "1.0 / 0.0))")) {
		bits.u |= 0x7ffull << 52;
		return bits.d;
	}
	normal = take(p, "0x1.");
	if (!normal)
		expect(p, "0x0.");
	for (k = 0; k < 13 && hex(*p->s) >= 0; k++)
		bits.u |= (uint64_t)hex(*p->s++) << (48 - 4 * k);
	expect(p, "p");
	e = integer(p);
	expect(p, ")");
	if (e < -1022 || e > 1023)
		return bad(p, "an exponent is out of range");
	bits.u |= normal ? (uint64_t)(e + 1023) << 52 : 0;
	return bits.d;
}

static int dtype(Parse *p)
{
	int k;

	for (k = 0; k < 32; k++) {
		const char *name = nest_dtype(k);

		if (name[0] != 'n' && take_word(p, name))
			return k;
	}
	return take_word(p, "none") ? -1 : bad(p, "an element type is expected here");
}

static char *copy(Parse *p, const char *s, uint32_t len)
{
	char *to = nest_take(p->n, len + 1);
	uint32_t i;

	for (i = 0; i < len && to; i++)
		to[i] = s[i];
	if (to)
		to[len] = 0;
	else
		bad(p, "it is too long");
	return to;
}

/* ---- indices ---- */

static Ix form(Parse *p);

/* The number of the atom that is written here, as one of those that are known. */
static int known_atom(Parse *p)
{
	const Index *ix = p->n->ix;
	int i, k, kind, len = 0;
	int64_t by;
	Ix of;

	if (take(p, "(")) {
		of = form(p);
		kind = take(p, ") / ") ? ATOM_DIV : expect(p, ") % ") ? ATOM_MOD : ATOM_DIV;
		by = integer(p);
		for (i = 0; i < ix->n_atoms; i++)
			if (ix->atom[i].kind == kind && ix->atom[i].of == of && ix->atom[i].by == by)
				return i;
		return bad(p, "this quotient is no atom");
	}
	while (is_name(p->s[len]))
		len++;
	for (i = 0; i < ix->n_atoms && len; i++) {
		const Atom *a = &ix->atom[i];

		for (k = 0; a->kind == ATOM_VAR && k < len && a->name[k] == p->s[k]; k++)
			;
		if (a->kind == ATOM_VAR && k == len && !a->name[k]) {
			p->s += len;
			return i;
		}
	}
	return bad(p, "this index is no atom");
}

/* "8 * m0 + (m0) % 4 + 3", or "_". */
static Ix form(Parse *p)
{
	Index *ix = p->n->ix;
	Ix x;

	if (take(p, "_"))
		return -1;
	x = ix_const(ix, 0);
	do {
		int64_t k = 1;

		if (*p->s == '-' || (*p->s >= '0' && *p->s <= '9')) {
			k = integer(p);
			if (!take(p, " * ")) {
				x = ix_plus(ix, x, k);
				continue;
			}
		}
		x = ix_add(ix, x, ix_scale(ix, ix_of_atom(ix, known_atom(p)), k));
	} while (!p->why && take(p, " + "));
	return x;
}

static uint32_t dependences(Parse *p)
{
	static const char *const names[] = { " b", " m",   " n",     " k",    "",      "",     "",
					     "",   " row", " chunk", " lane", " loop", " here" };
	uint32_t deps = 0, i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (*names[i] && take_word(p, names[i]))
			deps |= 1u << i;
	return deps;
}

/* "atom x7 below 12 row", or "atom (m0) / 4". */
static void atom_line(Parse *p)
{
	Atom a = { .kind = ATOM_VAR };
	int i;

	if (take(p, "(")) {
		const Lin *l;

		a.of = form(p);
		if (p->why || a.of < 0)
			return;
		l = &p->n->ix->lin[a.of];
		a.kind = take(p, ") / ") ? ATOM_DIV : ATOM_MOD;
		if (a.kind == ATOM_MOD)
			expect(p, ") % ");
		a.by = integer(p);
		if (a.by < 1) {
			bad(p, "a divisor is not positive");
			return;
		}
		a.deps = l->deps;
		a.hi = a.kind == ATOM_DIV ? l->hi / a.by : l->hi < a.by - 1 ? l->hi : a.by - 1;
	} else {
		for (i = 0; is_name(*p->s) && i < (int)sizeof a.name - 1; i++)
			a.name[i] = *p->s++;
		expect(p, " below ");
		a.hi = integer(p) - 1;
		a.deps = dependences(p);
		a.lanes = (uint8_t)take_word(p, " each");
	}
	ix_atom(p->n->ix, &a);
}

/* ---- fields of statements ---- */

/* "v7:float*" and a "/float16" behind it: a variable that is made. */
static int16_t variable(Parse *p)
{
	int var;
	Var *v;

	expect(p, "v");
	var = small(p, F_VARS - 1);
	v = &p->n->var[var];
	*v = (Var){ .wanted = v->wanted, .packed = -1, .before = -1, .loop = -1 };
	expect(p, ":");
	v->dtype = (int8_t)dtype(p);
	v->lanes = (uint8_t)take(p, "*");
	if (take(p, "/"))
		v->packed = (int8_t)dtype(p);
	if (var >= p->n->n_vars)
		p->n->n_vars = var + 1;
	return (int16_t)var;
}

static Ref reference(Parse *p)
{
	Ref r = { -1, 0 };

	if (take(p, "_"))
		return r;
	r.kept = (uint8_t)take(p, "c");
	if (!r.kept)
		expect(p, "v");
	r.var = (int16_t)small(p, F_VARS - 1);
	return r;
}

static void constants(Parse *p, Stmt *s)
{
	enum { MOST = 8 };
	double *num;

	if (!take(p, " {"))
		return;
	num = nest_take(p->n, MOST * sizeof *num);
	do {
		if (!num || s->n_num == MOST) {
			bad(p, "these are too many constants");
			return;
		}
		num[s->n_num++] = real(p);
	} while (!p->why && take(p, ", "));
	expect(p, "}");
	s->num = num;
}

static void conditions(Parse *p, Stmt *s)
{
	static const char *const names[] = { "", "", "in", "live", "first", "first_part" };
	const char *word = " when ";
	int kind;
	Ix at;

	for (; !p->why && take(p, word); word = " and ") {
		for (kind = COND_IN; kind <= COND_FIRST_PART && !take_word(p, names[kind]); kind++)
			;
		if (kind <= COND_FIRST_PART) {
			nest_when(p->n, s, (CondKind)kind, -1, 0);
			continue;
		}
		at = form(p);
		kind = take(p, " >= ") ? COND_FROM : expect(p, " < ") ? COND_BELOW : COND_BELOW;
		nest_when(p->n, s, (CondKind)kind, at, integer(p));
	}
}

static void how(Parse *p, Stmt *s)
{
	int k;

	for (k = 0; nest_how(s->kind, k); k++)
		if (take_word(p, nest_how(s->kind, k))) {
			s->how = (uint8_t)k;
			return;
		}
	bad(p, "this is not how it can be done");
}

static void name(Parse *p, Stmt *s)
{
	const char *from;

	expect(p, "\"");
	for (from = p->s; *p->s && *p->s != '"' && *p->s != '\n'; p->s++)
		;
	s->name = copy(p, from, (uint32_t)(p->s - from));
	expect(p, "\"");
}

/* A field that is a number or a name. */
static void plain_field(Parse *p, Stmt *s, char letter)
{
	switch (letter) {
	case 'p':
		expect(p, "p");
		s->arg = (int16_t)small(p, F_ARGS - 1);
		break;
	case 'q':
		expect(p, "q");
		s->arg = (int16_t)small(p, F_ARGS - 1);
		break;
	case 'r':
		s->arg = (int16_t)small(p, INT16_MAX);
		break;
	case 'n':
		s->n = integer(p);
		break;
	case 'm':
		s->m = integer(p);
		break;
	case 'o':
		s->o = small(p, INT32_MAX);
		break;
	case 'v':
		s->early = (int16_t)small(p, F_EARLY - 1);
		break;
	case 'd':
		s->dtype = (int8_t)dtype(p);
		break;
	case 'e':
		s->compute = (int8_t)dtype(p);
		break;
	case 'h':
		if (take(p, " part "))
			s->part = real(p);
		break;
	case 'k':
		how(p, s);
		break;
	default:
		name(p, s);
	}
}

static void field(Parse *p, Stmt *s, char letter)
{
	switch (letter) {
	case 't':
		s->to = variable(p);
		break;
	case 'u':
		expect(p, "v");
		s->to = (int16_t)small(p, F_VARS - 1);
		break;
	case 'a':
	case 'b':
	case 'c':
		s->from[letter - 'a'] = reference(p);
		break;
	case 'x':
		s->at = form(p);
		break;
	case 'y':
		s->base = form(p);
		break;
	case 'i':
		s->def = form(p);
		break;
	case 'z':
		s->lane = take(p, " lane ") ? form(p) : -1;
		break;
	case 'l':
		if (take(p, " early e")) {
			s->early = (int16_t)small(p, F_EARLY - 1);
			s->n = take(p, "[k]");
		}
		break;
	case 'S':
		if (take(p, " shared "))
			s->m = integer(p);
		break;
	case 'f':
		constants(p, s);
		break;
	case 'w':
		conditions(p, s);
		break;
	case 'L':
		s->lanes = (uint8_t)take_word(p, " lanes");
		break;
	case 'V':
		s->vec = (uint8_t)take_word(p, " vector");
		break;
	case 'P':
		s->packed = (uint8_t)take_word(p, " packed");
		break;
	case 'R':
		s->reread = (uint8_t)take_word(p, " again");
		break;
	case 'U':
		s->unroll = (uint8_t)take_word(p, " unrolled");
		break;
	default:
		plain_field(p, s, letter);
	}
}

/* " word" of "(word)" at *f, or not; *f is left behind it. */
static void flag(Parse *p, Stmt *s, const char **f)
{
	const char *c = *f + 1, *at = p->s;
	int same = *p->s == ' ';

	for (at += same; *c != ')'; c++) {
		same = same && *at == *c;
		at += same;
	}
	if (same) {
		s->flag = 1;
		p->s = at;
	}
	*f = c + 1;
}

/* ---- lines ---- */

static void end_of_line(Parse *p)
{
	if (!expect(p, "\n"))
		return;
	p->line++;
	while (take(p, " "))
		;
}

/* The kind of the statement that begins here: by its template's word. */
static int kind_of(const Parse *p)
{
	const char *f;
	int k, i;

	for (k = 0; k < ST_KINDS; k++) {
		for (f = nest_template(k), i = 0; is_name(f[i]) && f[i] == p->s[i]; i++)
			;
		if (i && !is_name(f[i]) && !is_name(p->s[i]))
			return k;
	}
	return -1;
}

static void block(Parse *p, Block *b, int depth);

static void statement(Parse *p, Block *b, int depth)
{
	int kind = kind_of(p);
	const char *f;
	Stmt *s;

	if (kind < 0 || depth > 64) {
		bad(p, "this is no statement");
		return;
	}
	s = nest_new(p->n, (StmtKind)kind);
	if (s == &p->n->spare) {
		bad(p, "it is too long");
		return;
	}
	for (f = nest_template(kind); *f && !p->why;) {
		char one[2] = { *f, 0 };

		if (*f++ != '%') {
			expect(p, one);
		} else if (*f == 'F') {
			f++;
			flag(p, s, &f);
		} else {
			field(p, s, *f++);
		}
	}
	if (s->kind == ST_KEEP_ARRAY)
		p->n->var[s->to].wanted = 1;
	if (s->kind == ST_EARLY && !p->why)
		p->turns[s->early] = s->n;
	if (s->kind == ST_LOAD && s->n && !p->why)
		s->n = p->turns[s->early];
	nest_put(b, s);
	if (p->s[-1] != '{')
		return;
	s->body = nest_take(p->n, sizeof *s->body);
	if (!s->body) {
		bad(p, "it is too long");
		return;
	}
	*s->body = (Block){ NULL, NULL };
	block(p, s->body, depth + 1);
}

/* Up to the "}" of a block whose "{" has been read. */
static void block(Parse *p, Block *b, int depth)
{
	end_of_line(p);
	while (!p->why && !take(p, "}")) {
		statement(p, b, depth);
		end_of_line(p);
	}
}

static int number_after(Parse *p, const char *word)
{
	expect(p, word);
	return small(p, INT32_MAX);
}

static void shape_line(Parse *p)
{
	Shape *s = &p->n->shape;

	expect(p, "nest rows ");
	s->rows = integer(p);
	s->vec = number_after(p, " vec ");
	s->wide = number_after(p, " wide ");
	s->group = number_after(p, " group ");
	s->per_block = number_after(p, " per_block ");
	s->block = number_after(p, " block ");
	s->column = number_after(p, " column ");
	s->keep = number_after(p, " keep ");
	s->hold = number_after(p, " hold ");
	s->split = number_after(p, " split ");
	expect(p, " elements ");
	p->n->elements = (double)integer(p);
	end_of_line(p);
	if (s->vec < 1 || s->group < 1)
		bad(p, "there are no threads");
	p->n->ix->vec = s->vec;
	if (!take_word(p, "product"))
		return;
	s->dot = 1;
	s->tile_rows = number_after(p, " rows ");
	s->tile_cols = number_after(p, " cols ");
	s->warps = number_after(p, " warps ");
	s->down = number_after(p, " down ");
	end_of_line(p);
}

static void operands(Parse *p, const char *word, Operand *o)
{
	int k;

	while (!p->why && take(p, word)) {
		k = small(p, F_ARGS - 1);
		expect(p, " ");
		o[k].dtype = (int8_t)dtype(p);
		expect(p, " ");
		o[k].numel = integer(p);
		end_of_line(p);
	}
}

static void loops(Parse *p)
{
	Nest *n = p->n;

	for (; !p->why && take(p, "loop "); n->n_loops++) {
		if (n->n_loops == F_LOOPS || small(p, F_LOOPS) != n->n_loops) {
			bad(p, "loops are numbered from 0 to 7");
			return;
		}
		expect(p, " extent ");
		n->loop[n->n_loops].extent = integer(p);
		n->loop[n->n_loops].tail = take(p, " tail ") ? integer(p) : 0;
		expect(p, " by ");
		n->loop[n->n_loops].chunk = form(p);
		end_of_line(p);
	}
}

static void parts(Parse *p)
{
	Block *b;

	while (!p->why && *p->s) {
		if (take(p, "declare"))
			b = &p->n->decl;
		else if (take(p, "early row"))
			b = &p->n->early[EARLY_ROW];
		else if (take(p, "early "))
			b = &p->n->early[small(p, F_LOOPS - 1)];
		else if (take(p, "rows"))
			b = &p->n->rows;
		else if (take(p, "body"))
			b = &p->n->body;
		else {
			bad(p, "this is no part of a nest");
			return;
		}
		expect(p, " {");
		block(p, b, 0);
		end_of_line(p);
	}
}

NestError nest_parse(Nest *n, const char *text)
{
	Parse p = { n, text, 1, NULL, { 0 } };
	NestError e;
	int i;

	nest_reset(n);
	ix_reset(n->ix);
	n->shape = (Shape){ 0 };
	for (i = 0; i < F_VARS; i++)
		n->var[i].wanted = 0;
	shape_line(&p);
	operands(&p, "operand p", n->in);
	operands(&p, "result q", n->out);
	while (!p.why && take(&p, "atom ")) {
		atom_line(&p);
		end_of_line(&p);
	}
	expect(&p, "lane ");
	n->ix->lane = form(&p);
	end_of_line(&p);
	expect(&p, "row ");
	n->row = form(&p);
	end_of_line(&p);
	loops(&p);
	parts(&p);
	if (!p.why && *n->ix->fail)
		p.why = *n->ix->fail;
	e.line = p.why ? p.line : 0;
	e.why = p.why;
	return e;
}
