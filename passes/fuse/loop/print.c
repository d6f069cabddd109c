/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - a nest as text: its shape, operands, indices, and one line for each statement (stmt.def). */
#include "print.h"

const char *nest_template(int kind)
{
	static const char *const text[] = {
#define STMT(kind_, template_) [ST_##kind_] = template_,
#include "stmt.def"
#undef STMT
	};

	return kind >= 0 && kind < ST_KINDS ? text[kind] : NULL;
}

const char *nest_how(int kind, int how)
{
	static const char *const start[] = { "none", "zero", "one", "lowest", "highest" };
	static const char *const red[] = { "sum", "mean", "max", "min", "product", "average", "terms" };
	static const char *const side[] = { "at_most", "at_least" };
	static const char *const index[] = { "same",   "nearest",      "mirrored",  "next",    "vector",
					     "resize", "resize_float", "from_zero", "none_yet" };
	static const char *const loop[] = { "serial", "look", "found", "taps" };
	static const char *const update[] = { "all", "lane", "bit" };
#define NAME(table_) (how >= 0 && how < (int)(sizeof table_ / sizeof *table_) ? table_[how] : NULL)

	switch (kind) {
	case ST_VAR:
		return NAME(start);
	case ST_TRIANGLE:
		return NAME(side);
	case ST_INDEX:
		return NAME(index);
	case ST_FOR:
		return NAME(loop);
	case ST_UPDATE:
		return NAME(update);
	default:
		return NAME(red);
	}
#undef NAME
}

const char *nest_dtype(int dtype)
{
	static const char *const names[] = {
#define XX(name_, number_, text_, ...) [number_] = text_,
#include "passmith/dtypes.def"
#undef XX
	};

	return dtype >= 0 && dtype < (int)(sizeof names / sizeof *names) ? names[dtype] : "none";
}

/* ---- indices ---- */

static void add(PmText *t, const char *s, int64_t x)
{
	pm_text_add(t, s);
	pm_text_int(t, x);
}

static void form(const Index *ix, PmText *t, Ix x);

static void atom(const Index *ix, PmText *t, int i)
{
	const Atom *a = &ix->atom[i];

	if (a->kind == ATOM_VAR) {
		pm_text_add(t, a->name);
		return;
	}
	pm_text_add(t, "(");
	form(ix, t, a->of);
	add(t, a->kind == ATOM_DIV ? ") / " : ") % ", a->by);
}

static void form(const Index *ix, PmText *t, Ix x)
{
	const Lin *l;
	int i;

	if (x < 0) {
		pm_text_add(t, "_");
		return;
	}
	for (l = &ix->lin[x], i = 0; i < l->n; i++) {
		pm_text_add(t, i ? " + " : "");
		if (l->t[i].k != 1) {
			pm_text_int(t, l->t[i].k);
			pm_text_add(t, " * ");
		}
		atom(ix, t, l->t[i].atom);
	}
	if (l->c || !l->n)
		add(t, l->n ? " + " : "", l->c);
}

/* ---- statements ---- */

typedef struct Print {
	const Nest *n;
	PmText *t;

} Print;

static void variable(const Print *p, int var)
{
	const Var *v = &p->n->var[var];

	add(p->t, "v", var);
	pm_text_add(p->t, ":");
	pm_text_add(p->t, nest_dtype(v->dtype));
	pm_text_add(p->t, v->lanes ? "*" : "");
	if (v->packed >= 0) {
		pm_text_add(p->t, "/");
		pm_text_add(p->t, nest_dtype(v->packed));
	}
}

static void reference(PmText *t, Ref r)
{
	if (r.var < 0)
		pm_text_add(t, "_");
	else
		add(t, r.kept ? "c" : "v", r.var);
}

/* A constant as pm_text_float() has it, without zeros at its end. */
static void real(PmText *t, double x)
{
	char all[40];
	PmText a = { all, 0, sizeof all, 0 };
	uint32_t i, p, n;

	pm_text_float(&a, x);
	all[a.n] = 0;
	for (p = 0; all[p] && all[p] != 'p'; p++)
		;
	for (n = p; all[p] && n && all[n - 1] == '0'; n--)
		;
	for (i = 0; i < a.n; i++) {
		char one[2] = { all[i], 0 };

		if (i < n || i >= p)
			pm_text_add(t, one);
	}
}

static void constants(PmText *t, const Stmt *s)
{
	int i;

	if (!s->n_num)
		return;
	for (i = 0; i < s->n_num; i++) {
		pm_text_add(t, i ? ", " : " {");
		real(t, s->num[i]);
	}
	pm_text_add(t, "}");
}

static void conditions(const Print *p, const Cond *q)
{
	static const char *const names[] = { "", "", "in", "live", "first", "first_part" };
	const char *word = " when ";

	for (; q; q = q->next, word = " and ") {
		pm_text_add(p->t, word);
		if (q->kind > COND_FROM) {
			pm_text_add(p->t, names[q->kind]);
			continue;
		}
		form(p->n->ix, p->t, q->at);
		add(p->t, q->kind == COND_FROM ? " >= " : " < ", q->n);
	}
}

/* " word" of "(word)" at *f when `on`; *f is left behind it. */
static void flag(PmText *t, const char **f, int on)
{
	const char *c = *f + 1;

	pm_text_add(t, on ? " " : "");
	for (; *c != ')'; c++) {
		char one[2] = { *c, 0 };

		pm_text_add(t, on ? one : "");
	}
	*f = c + 1;
}

static void word(PmText *t, const char *s, int on)
{
	pm_text_add(t, on ? s : "");
}

/* A field that is a number or a name. */
static void plain_field(const Print *p, const Stmt *s, char letter)
{
	PmText *t = p->t;

	switch (letter) {
	case 'p':
		add(t, "p", s->arg);
		break;
	case 'q':
		add(t, "q", s->arg);
		break;
	case 'r':
		pm_text_int(t, s->arg);
		break;
	case 'n':
		pm_text_int(t, s->n);
		break;
	case 'm':
		pm_text_int(t, s->m);
		break;
	case 'o':
		pm_text_int(t, s->o);
		break;
	case 'v':
		pm_text_int(t, s->early);
		break;
	case 'd':
		pm_text_add(t, nest_dtype(s->dtype));
		break;
	case 'e':
		pm_text_add(t, nest_dtype(s->compute));
		break;
	case 'h':
		if (s->part == 1)
			break;
		pm_text_add(t, " part ");
		real(t, s->part);
		break;
	case 'k':
		pm_text_add(t, nest_how(s->kind, s->how));
		break;
	default:
		pm_text_add(t, "\"");
		pm_text_add(t, s->name);
		pm_text_add(t, "\"");
	}
}

static void field(const Print *p, const Stmt *s, char letter)
{
	PmText *t = p->t;

	switch (letter) {
	case 't':
		variable(p, s->to);
		break;
	case 'u':
		add(t, "v", s->to);
		break;
	case 'a':
	case 'b':
	case 'c':
		reference(t, s->from[letter - 'a']);
		break;
	case 'x':
		form(p->n->ix, t, s->at);
		break;
	case 'y':
		form(p->n->ix, t, s->base);
		break;
	case 'i':
		form(p->n->ix, t, s->def);
		break;
	case 'z':
		if (s->lane < 0)
			break;
		pm_text_add(t, " lane ");
		form(p->n->ix, t, s->lane);
		break;
	case 'l':
		if (s->early >= 0)
			add(t, " early e", s->early);
		pm_text_add(t, s->early >= 0 && s->n ? "[k]" : "");
		break;
	case 'S':
		if (s->m)
			add(t, " shared ", s->m);
		break;
	case 'f':
		constants(t, s);
		break;
	case 'w':
		conditions(p, s->cond);
		break;
	case 'L':
		word(t, " lanes", s->lanes);
		break;
	case 'V':
		word(t, " vector", s->vec);
		break;
	case 'P':
		word(t, " packed", s->packed);
		break;
	case 'R':
		word(t, " again", s->reread);
		break;
	case 'U':
		word(t, " unrolled", s->unroll);
		break;
	default:
		plain_field(p, s, letter);
	}
}

static void indent(PmText *t, int depth)
{
	while (depth-- > 0)
		pm_text_add(t, "  ");
}

static void block(const Print *p, const Block *b, int depth);

static void statement(const Print *p, const Stmt *s, int depth)
{
	const char *f;

	indent(p->t, depth);
	for (f = nest_template(s->kind); *f;) {
		char one[2] = { *f, 0 };

		if (*f++ != '%') {
			pm_text_add(p->t, one);
		} else if (*f == 'F') {
			f++;
			flag(p->t, &f, s->flag);
		} else {
			field(p, s, *f++);
		}
	}
	pm_text_add(p->t, "\n");
	if (!s->body)
		return;
	block(p, s->body, depth + 1);
	indent(p->t, depth);
	pm_text_add(p->t, "}\n");
}

static void block(const Print *p, const Block *b, int depth)
{
	const Stmt *s;

	/* What could have been kept and is not asked for does nothing. */
	for (s = b->first; s; s = s->next)
		if (s->kind != ST_KEEP || s->flag)
			statement(p, s, depth);
}

/* ---- which indices a nest has ---- */

static void use(const Index *ix, uint8_t *used, Ix x)
{
	int i;

	for (i = 0; x >= 0 && i < ix->lin[x].n; i++) {
		int a = ix->lin[x].t[i].atom;

		if (!used[a] && ix->atom[a].kind != ATOM_VAR)
			use(ix, used, ix->atom[a].of);
		used[a] = 1;
	}
}

static void use_block(const Index *ix, uint8_t *used, const Block *b)
{
	const Stmt *s;
	const Cond *q;

	for (s = b->first; s; s = s->next) {
		use(ix, used, s->at);
		use(ix, used, s->base);
		use(ix, used, s->lane);
		use(ix, used, s->def);
		for (q = s->cond; q; q = q->next)
			use(ix, used, q->at);
		if (s->body)
			use_block(ix, used, s->body);
	}
}

static void dependences(PmText *t, uint32_t deps)
{
	static const char *const names[] = { " b", " m",   " n",     " k",    "",      "",     "",
					     "",   " row", " chunk", " lane", " loop", " here" };
	uint32_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		pm_text_add(t, deps >> i & 1 ? names[i] : "");
}

/* In the order of their numbers, which is that of a form's terms. */
static void indices(const Nest *n, PmText *t)
{
	uint8_t used[F_ATOMS] = { 0 };
	int i;

	use(n->ix, used, n->ix->lane);
	use(n->ix, used, n->row);
	for (i = 0; i < n->n_loops; i++)
		use(n->ix, used, n->loop[i].chunk);
	use_block(n->ix, used, &n->decl);
	for (i = 0; i <= F_LOOPS; i++)
		use_block(n->ix, used, &n->early[i]);
	use_block(n->ix, used, &n->rows);
	use_block(n->ix, used, &n->body);
	for (i = 0; i < n->ix->n_atoms; i++) {
		const Atom *a = &n->ix->atom[i];

		if (!used[i])
			continue;
		pm_text_add(t, "atom ");
		atom(n->ix, t, i);
		if (a->kind == ATOM_VAR) {
			add(t, " below ", a->hi + 1);
			dependences(t, a->deps);
			pm_text_add(t, a->lanes ? " each" : "");
		}
		pm_text_add(t, "\n");
	}
}

/* ---- all of it ---- */

static void part(const Print *p, const char *name, const Block *b)
{
	if (!b->first)
		return;
	pm_text_add(p->t, name);
	pm_text_add(p->t, " {\n");
	block(p, b, 1);
	pm_text_add(p->t, "}\n");
}

static void head(const Nest *n, PmText *t)
{
	const Shape *s = &n->shape;
	int i;

	add(t, "nest rows ", s->rows);
	add(t, " vec ", s->vec);
	add(t, " wide ", s->wide);
	add(t, " group ", s->group);
	add(t, " per_block ", s->per_block);
	add(t, " block ", s->block);
	add(t, " column ", s->column);
	add(t, " keep ", s->keep);
	add(t, " hold ", s->hold);
	add(t, " split ", s->split);
	add(t, " elements ", (int64_t)n->elements);
	pm_text_add(t, "\n");
	if (s->dot) {
		add(t, "product rows ", s->tile_rows);
		add(t, " cols ", s->tile_cols);
		add(t, " warps ", s->warps);
		add(t, " down ", s->down);
		pm_text_add(t, "\n");
	}
	for (i = 0; i < F_ARGS; i++)
		if (n->in[i].numel) {
			add(t, "operand p", i);
			pm_text_add(t, " ");
			pm_text_add(t, nest_dtype(n->in[i].dtype));
			add(t, " ", n->in[i].numel);
			pm_text_add(t, "\n");
		}
	for (i = 0; i < F_ARGS; i++)
		if (n->out[i].numel) {
			add(t, "result q", i);
			pm_text_add(t, " ");
			pm_text_add(t, nest_dtype(n->out[i].dtype));
			add(t, " ", n->out[i].numel);
			pm_text_add(t, "\n");
		}
}

void nest_print(const Nest *n, PmText *t)
{
	const Print p = { n, t };
	int i;

	head(n, t);
	indices(n, t);
	pm_text_add(t, "lane ");
	form(n->ix, t, n->ix->lane);
	pm_text_add(t, "\nrow ");
	form(n->ix, t, n->row);
	pm_text_add(t, "\n");
	for (i = 0; i < n->n_loops; i++) {
		add(t, "loop ", i);
		add(t, " extent ", n->loop[i].extent);
		if (n->loop[i].tail)
			add(t, " tail ", n->loop[i].tail);
		pm_text_add(t, " by ");
		form(n->ix, t, n->loop[i].chunk);
		pm_text_add(t, "\n");
	}
	part(&p, "declare", &n->decl);
	for (i = 0; i < F_LOOPS; i++) {
		char name[] = "early 0";

		name[6] = (char)('0' + i);
		part(&p, name, &n->early[i]);
	}
	part(&p, "early row", &n->early[EARLY_ROW]);
	part(&p, "rows", &n->rows);
	part(&p, "body", &n->body);
}
