/* SPDX-License-Identifier: Apache-2.0 */
/* vars.c - text, the variables of a kernel, what has been computed already, and indices made by statements.
 */
#include "fuse.h"

/* ---- text ---- */

void t_add(Ctx *c, const char *s)
{
	if (!c->dry)
		pm_text_add(c->out, s);
}

void t_int(Ctx *c, int64_t x)
{
	if (!c->dry)
		pm_text_int(c->out, x);
}

void t_ix(Ctx *c, Ix a)
{
	if (!c->dry)
		ix_text(c, c->out, a);
}

/* An index as text. */
static void text_of_atom(Ctx *c, PmText *t, int atom)
{
	const Atom *a = &c->atom[atom];

	if (a->kind == ATOM_VAR) {
		pm_text_add(t, a->name);
		if (a->lanes)
			pm_text_add(t, "[j]");
		return;
	}
	pm_text_add(t, a->kind == ATOM_DIV ? "QUOT(" : "REST(");
	ix_text(c, t, a->of);
	pm_text_add(t, ", ");
	pm_text_int(t, a->by);
	pm_text_add(t, ")");
}

void ix_text(Ctx *c, PmText *t, Ix x)
{
	Lin l = c->lin[x];
	int i;

	for (i = 0; i < l.n; i++) {
		if (i)
			pm_text_add(t, " + ");
		if (l.t[i].k != 1) {
			pm_text_int(t, l.t[i].k);
			pm_text_add(t, " * ");
		}
		text_of_atom(c, t, l.t[i].atom);
	}
	if (l.c || !l.n) {
		if (l.n)
			pm_text_add(t, " + ");
		pm_text_int(t, l.c);
	}
}

const char *f_ctype(int dtype)
{
	switch (dtype) {
	case PM_F64:
		return "double";
	case PM_F32:
		return "float";
	case PM_F16:
		return "__half";
	case PM_BF16:
		return "__nv_bfloat16";
	case PM_I64:
		return "long long";
	case PM_I32:
		return "int";
	case PM_I16:
		return "int16_t";
	case PM_I8:
		return "int8_t";
	case PM_U16:
		return "uint16_t";
	case PM_U32:
		return "unsigned int";
	default:
		return "uint8_t";
	}
}

const char *f_cclass(int dtype)
{
	int k = f_class(dtype);

	return k == PM_F64 ? "double" : k == PM_F32 ? "float" : "long long";
}

/* ---- variables ---- */

int f_new_var(Ctx *c, int dtype, int lanes)
{
	Var *v;

	if (c->n_vars == F_VARS) {
		f_fail(c, "it has too many operations");
		return 0;
	}
	v = &c->var[c->n_vars];
	v->dtype = (int8_t)f_class(dtype);
	v->lanes = (uint8_t)(lanes && c->s->vec > 1);
	v->cached = v->kept = 0;
	v->exact = f_class(dtype) == PM_I64;
	v->before = v->packed = -1;
	v->row = (uint8_t)c->at_row;
	v->loop = (int16_t)(c->at_row ? -1 : c->loop_now);
	return c->n_vars++;
}

void f_ref(Ctx *c, PmText *t, int var)
{
	const Var *v = &c->var[var];

	if (c->dry)
		return;
	pm_text_add(t, v->cached ? "c" : "v");
	pm_text_int(t, var);
	pm_text_add(t, v->cached ? "[k]" : "");
	pm_text_add(t, v->lanes ? "[j]" : "");
}

/* "float v7[4]" or "float v7", with a value when it is one. */
void f_declare(Ctx *c, int var, const char *init)
{
	const Var *v = &c->var[var];

	t_add(c, f_cclass(v->dtype));
	t_add(c, " v");
	t_int(c, var);
	if (v->lanes) {
		t_add(c, "[");
		t_int(c, c->s->vec);
		t_add(c, "]");
	}
	if (init && !v->lanes) {
		t_add(c, " = ");
		t_add(c, init);
	}
	t_add(c, ";\n");
	if (init && v->lanes) {
		f_for_lanes(c, 1);
		if (!c->dry)
			f_ref(c, c->out, var);
		t_add(c, " = ");
		t_add(c, init);
		t_add(c, ";\n");
	}
}

void f_declare_packed(Ctx *c, int dtype, int var)
{
	t_add(c, "pm_vec<");
	t_add(c, f_ctype(dtype));
	t_add(c, ", ");
	t_int(c, c->s->vec);
	t_add(c, "> w");
	t_int(c, var);
}

int f_is_packed(const Ctx *c, int var, int dtype)
{
	return c->var[var].packed == dtype && !c->var[var].cached;
}

void f_unpack(Ctx *c, int dtype, int var)
{
	f_declare(c, var, NULL);
	t_add(c, "lanes_of(v");
	t_int(c, var);
	t_add(c, ", w");
	t_int(c, var);
	t_add(c, ");\n");
	c->var[var].packed = (int8_t)dtype;
}

void f_for_lanes(Ctx *c, int lanes)
{
	if (!lanes || c->s->vec == 1)
		return;
	t_add(c, "LANES(");
	t_int(c, c->s->vec);
	t_add(c, ") ");
}

void f_assign(Ctx *c, int to, int from)
{
	int lanes = c->var[to].lanes;

	if (c->var[from].lanes && !lanes)
		f_fail(c, "lanes go different ways");
	c->var[to].exact &= c->var[from].exact;
	f_for_lanes(c, lanes);
	if (!c->dry)
		f_ref(c, c->out, to);
	t_add(c, " = ");
	if (!c->dry)
		f_ref(c, c->out, from);
	t_add(c, ";\n");
}

void f_declare_int(Ctx *c, char letter, char name[F_NAME], int lanes)
{
	f_name(c, letter, name);
	t_add(c, "int ");
	t_add(c, name);
	if (lanes) {
		t_add(c, "[");
		t_int(c, c->s->vec);
		t_add(c, "]");
	}
	t_add(c, ";\n");
	f_for_lanes(c, lanes);
	t_add(c, name);
	t_add(c, lanes ? "[j] = " : " = ");
}

uint32_t f_deps(const Ctx *c, const Ix *co, int rank)
{
	uint32_t deps = 0;
	int d;

	for (d = 0; d < rank; d++)
		deps |= c->lin[co[d]].deps;
	return deps;
}

/* ---- indices made by statements ---- */

static Ix named(Ctx *c, int64_t hi, uint32_t deps, int lanes)
{
	char name[F_NAME];

	f_declare_int(c, 'x', name, lanes);
	if (c->branch && !c->at_row)
		deps |= DEP_HERE;
	return ix_var(c, name, hi, deps, lanes);
}

Place f_enter_row(Ctx *c)
{
	Place p = { c->out, c->at_row, c->branch };

	if (c->at_row)
		return p;
	c->out = c->row;
	c->at_row = 1;
	c->branch = 0;
	return p;
}

void f_leave(Ctx *c, const Place *p)
{
	c->out = p->out;
	c->at_row = p->at_row;
	c->branch = p->branch;
}

/* What depends on the row only is part of the row. */
Ix f_opaque(Ctx *c, Ix a, const char *before, const char *after, int64_t hi)
{
	uint32_t deps = c->lin[a].deps;
	Place p = { c->out, c->at_row, c->branch };
	Ix x;

	if (!(deps & ~f_row_deps(c)))
		p = f_enter_row(c);
	x = named(c, hi, deps, (deps & DEP_LANE) != 0);
	t_add(c, before);
	t_ix(c, a);
	t_add(c, after);
	t_add(c, ";\n");
	f_leave(c, &p);
	return x;
}

/* Whether the lanes of a vector differ from its first lane by 0, 1, 2, ... and no boundary at a multiple of
 * the vector's length falls between them. */
static int lanes_step(Ctx *c, Ix a, Ix *base)
{
	int64_t k;
	int i;

	*base = ix_without_lane(c, a, &k);
	if (k != 1 || c->lin[*base].c % c->s->vec)
		return 0;
	for (i = 0; i < c->lin[*base].n; i++)
		if (c->lin[*base].t[i].k % c->s->vec)
			return 0;
	return 1;
}

/* An index of the row, or of a thread's loop for it: kept inside for rows that have no business there, so
 * that what it leads to can be computed for every row alike, by all of its threads. */
static Ix clamped(Ctx *c, int key, Ix a, int64_t hi)
{
	char tail[32];
	PmText t = { tail, 0, sizeof tail, 0 };
	Place p;
	Ix x;

	pm_text_add(&t, ", ");
	pm_text_int(&t, hi + 1);
	pm_text_add(&t, ")");
	tail[t.n] = 0;
	p = f_enter_row(c);
	x = f_opaque(c, a, "pad_edge(", tail, hi);
	f_memo_add(c, key, &a, 1, x);
	f_leave(c, &p);
	return x;
}

Ix f_confine(Ctx *c, Ix a, int64_t hi)
{
	enum { KEY = -2 };
	Ix base, x;
	int found;

	if (c->fail || (c->lin[a].lo >= 0 && c->lin[a].hi <= hi))
		return a;
	found = f_memo_find(c, KEY, &a, 1);
	if (found >= 0)
		return found;
	if (c->at_row || !(c->lin[a].deps & ~f_row_deps(c)))
		return clamped(c, KEY, a, hi);
	if ((c->lin[a].deps & DEP_LANE) && lanes_step(c, a, &base)) {
		int64_t v = c->s->vec;

		x = f_opaque(c, base, "(", v == 2 ? ") / 2" : v == 4 ? ") / 4" : ") / 8", hi / v);
		x = ix_add(c, ix_scale(c, x, v), c->ix_lane);
	} else {
		x = f_opaque(c, a, "", "", hi);
	}
	f_memo_add(c, KEY, &a, 1, x);
	return x;
}

void f_below(Ctx *c, Ix a, int64_t k)
{
	Ix base = a;

	if (c->lin[a].deps & DEP_LANE && (!lanes_step(c, a, &base) || k % c->s->vec))
		f_fail(c, "lanes go different ways");
	t_add(c, "(");
	t_ix(c, base);
	t_add(c, " < ");
	t_int(c, k);
	t_add(c, ")");
}
