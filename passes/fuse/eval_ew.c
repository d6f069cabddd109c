/* SPDX-License-Identifier: Apache-2.0 */
/* eval_ew.c - element-wise operators: the operator table's expressions over variables. */
#include "fuse.h"

int f_eval_ew(Ctx *c, int op, const Ix *co);

/* Coordinates of an operand that broadcasts. */
static int operand(Ctx *c, const Op *o, int k, const Ix *co)
{
	const Op *x = &c->op[o->in[k]];
	Ix at[F_RANK];
	int d;

	for (d = 0; d < x->rank; d++)
		at[d] = x->dim[d] == 1 ? ix_const(c, 0) : co[d + o->rank - x->rank];
	return f_eval(c, o->in[k], at);
}

/* "const S a = (S)v3[j];", or the value of an operand that is left out. */
static void operand_text(Ctx *c, const Op *o, int k, int var)
{
	char name[2] = { (char)('a' + k), 0 };

	t_add(c, "const S ");
	t_add(c, name);
	t_add(c, " = (S)");
	if (var >= 0)
		f_ref(c, c->out, var);
	else if (o->compute == PM_I64)
		t_add(c, k == 1 ? "(-0x7fffffffffffffffll - 1)" : "0x7fffffffffffffffll");
	else
		t_add(c, k == 1 ? "-INFINITY" : "INFINITY");
	t_add(c, "; ");
}

static void params_text(Ctx *c, const Op *o)
{
	int k;

	for (k = 0; k < o->n_num; k++) {
		t_add(c, "const S p");
		t_int(c, k);
		t_add(c, " = (S)");
		pm_text_float(c->out, o->num[k]);
		t_add(c, "; (void)p");
		t_int(c, k);
		t_add(c, "; ");
	}
}

/* What narrow integers make of a result. */
static const char *narrow(const Op *o)
{
	switch (o->dtype) {
	case PM_I32:
		return "(long long)(int)";
	case PM_I16:
		return "(long long)(short)";
	case PM_I8:
		return "(long long)(signed char)";
	case PM_U8:
		return "(long long)(unsigned char)";
	case PM_U16:
		return "(long long)(unsigned short)";
	case PM_U32:
		return "(long long)(unsigned int)";
	default:
		return "";
	}
}

/* Simple operations that the dearest function of an expression amounts to; 1: there is none. */
static int price(const char *e)
{
	int most = 1, p;

	for (; *e; e++) {
		p = e[0] == 'e' && e[1] == 'x' ? 6
		    : e[0] == '/' || (e[0] == 's' && e[1] == 'q') || (e[0] == 'l' && e[1] == 'o') ||
				    (e[0] == 'g' && e[1] == 'e')
			    ? 10
		    : (e[0] == 'e' && e[1] == 'r') || (e[0] == 't' && e[1] == 'a') ||
				    (e[0] == 'p' && e[1] == 'o') || (e[0] == 's' && e[1] == 'i')
			    ? 20
			    : 1;
		most = p > most ? p : most;
	}
	return most;
}

/* Whether the result is one of the operands, but for its sign, or has no more digits than they have. */
static int is_exact(const Ctx *c, const Op *o, int n_in, const int *var)
{
	int k, exact = o->exact;

	for (k = 0; k < n_in; k++)
		exact &= var[k] < 0 || c->var[var[k]].exact;
	return exact;
}

/* For the lanes of a vector, divisions without the branch that each would have for results and operands that
 * are not usual: the same bits where all are. NULL: there is none in it. */
static const char *without_branches(const Ctx *c, const Op *o, int lanes)
{
	if (!lanes || c->s->vec == 1 || o->compute != PM_F32 || f_class(o->dtype) != PM_F32)
		return NULL;
	if (f_is(o->expr, "K(1) / (K(1) + exp(-a))"))
		return "inverse(K(1) + exp(-a), u)";
	if (f_is(o->expr, "K(1) / a"))
		return "inverse(a, u)";
	return f_is(o->expr, "a / b") ? "quotient(a, b, inverse(b, u), u)" : NULL;
}

/* "LANES(8) { typedef float S; const S a = (S)v3[j]; ... v7[j] = (float)(a + b); }" */
static void statement(Ctx *c, const Op *o, int n_in, const int *var, int y, const char *expr)
{
	int k;

	f_for_lanes(c, c->var[y].lanes);
	t_add(c, "{ typedef ");
	t_add(c, f_cclass(o->compute));
	t_add(c, " S; ");
	for (k = 0; k < 3; k++)
		operand_text(c, o, k, k < n_in ? var[k] : -1);
	params_text(c, o);
	f_ref(c, c->out, y);
	t_add(c, " = ");
	t_add(c, narrow(o));
	t_add(c, "(");
	t_add(c, f_cclass(o->dtype));
	t_add(c, ")(");
	t_add(c, expr);
	t_add(c, "); }\n");
}

/* "times" for an operator of a graph's value of 16 bits that pairs of lanes have too; NULL: it has none. */
static const char *pairs_of(const Op *o)
{
	if (o->kind != OP_EW || !o->val.id || (o->dtype != PM_F16 && o->dtype != PM_BF16))
		return NULL;
	if (f_is(o->expr, "plus(a, b)"))
		return "plus(";
	if (f_is(o->expr, "minus(a, b)"))
		return "minus(";
	return f_is(o->expr, "times(a, b)") ? "times(" : NULL;
}

/* Operands that are vectors, or one value for all lanes, of the type of the result. */
static int are_packed(const Ctx *c, const Op *o, const int *var)
{
	int k, n = 0;

	for (k = 0; k < 2; k++) {
		const Var *v = &c->var[var[k]];

		if (f_is_packed(c, var[k], o->dtype))
			n++;
		else if (v->lanes || !v->exact || c->op[o->in[k]].dtype != o->dtype)
			return 0;
	}
	return n;
}

/* "const pm_vec<__half, 8> w7 = times(w3, all_lanes<__half, 8>(v5));" */
static void by_pairs(Ctx *c, const Op *o, const char *name, const int *var, int y)
{
	int k;

	t_add(c, "const ");
	f_declare_packed(c, o->dtype, y);
	t_add(c, " = ");
	t_add(c, name);
	for (k = 0; k < 2; k++) {
		int packed = f_is_packed(c, var[k], o->dtype);

		if (!packed) {
			t_add(c, "all_lanes<");
			t_add(c, f_ctype(o->dtype));
			t_add(c, ", ");
			t_int(c, c->s->vec);
			t_add(c, ">(");
			if (!c->dry)
				f_ref(c, c->out, var[k]);
			t_add(c, ")");
		} else {
			t_add(c, "w");
			t_int(c, var[k]);
		}
		t_add(c, k ? ");\n" : ", ");
	}
	c->var[y].exact = 1;
	f_unpack(c, o->dtype, y);
}

static int expression(Ctx *c, const Op *o, int n_in, const int *var)
{
	const char *quick, *pairs = pairs_of(o);
	int lanes = 0, k, y;

	for (k = 0; k < n_in; k++)
		lanes |= var[k] >= 0 && c->var[var[k]].lanes;
	y = f_new_var(c, o->dtype, lanes);
	c->var[y].exact |= (uint8_t)is_exact(c, o, n_in, var);
	f_work(c, lanes, price(o->expr));
	if (pairs && c->var[y].lanes && !c->singly && are_packed(c, o, var)) {
		by_pairs(c, o, pairs, var, y);
		return y;
	}
	if (c->dry)
		return y;
	f_declare(c, y, NULL);
	quick = without_branches(c, o, lanes);
	if (!quick) {
		statement(c, o, n_in, var, y, o->expr);
		return y;
	}
	t_add(c, "{ Usual u = { 1, 1 };\n");
	statement(c, o, n_in, var, y, quick);
	t_add(c, "if (!is_usual(u)) ");
	statement(c, o, n_in, var, y, o->expr);
	t_add(c, "}\n");
	return y;
}

/* Max, Min and Sum of any number of operands. */
static int fold(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	int acc = operand(c, o, 0, co), k;

	for (k = 1; k < o->n_in && !c->fail; k++) {
		int var[2];

		var[0] = acc;
		var[1] = operand(c, o, k, co);
		if (!c->fail)
			acc = expression(c, o, 2, var);
	}
	return acc;
}

/* To an integer: truncated, at the nearest end when out of range, NaN as 0; from an integer: wraps. */
static void cast_to_int(Ctx *c, const Op *o, int from)
{
	static const struct {
		int8_t type;
		const char *lo, *hi;
	} ranges[] = { { PM_I32, "-0x80000000ll", "0x7fffffffll" },
		       { PM_I16, "-32768", "32767" },
		       { PM_I8, "-128", "127" },
		       { PM_U8, "0", "255" },
		       { PM_U16, "0", "65535" },
		       { PM_U32, "0", "0xffffffffll" } };
	const char *lo = "-0x7fffffffffffffffll - 1", *hi = "0x7fffffffffffffffll";
	uint32_t i;

	for (i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (ranges[i].type == o->dtype) {
			lo = ranges[i].lo;
			hi = ranges[i].hi;
		}
	t_add(c, "saturate(");
	f_ref(c, c->out, from);
	t_add(c, ", ");
	t_add(c, lo);
	t_add(c, ", ");
	t_add(c, hi);
	t_add(c, ")");
}

static int cast(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	int x = f_eval(c, o->in[0], co), y, half = o->dtype == PM_F16 || o->dtype == PM_BF16;

	if (x < 0 || o->dtype == c->op[o->in[0]].dtype)
		return x;
	y = f_new_var(c, o->dtype, c->var[x].lanes);
	c->var[y].exact = 1;
	f_declare(c, y, NULL);
	f_for_lanes(c, c->var[x].lanes);
	if (c->dry)
		return y;
	f_ref(c, c->out, y);
	t_add(c, " = ");
	if (o->dtype == PM_BOOL) {
		f_ref(c, c->out, x);
		t_add(c, " != 0");
	} else if (half) {
		t_add(c, "ld(st<");
		t_add(c, f_ctype(o->dtype));
		t_add(c, c->var[x].dtype == PM_I64 ? ">((double)" : ">(");
		f_ref(c, c->out, x);
		t_add(c, "))");
	} else if (f_class(o->dtype) != PM_I64) {
		t_add(c, o->dtype == PM_F64 ? "(double)" : "(float)");
		f_ref(c, c->out, x);
	} else if (c->var[x].dtype == PM_I64) {
		t_add(c, narrow(o));
		f_ref(c, c->out, x);
	} else {
		cast_to_int(c, o, x);
	}
	t_add(c, ";\n");
	return y;
}

int f_eval_ew(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	int var[3] = { -1, -1, -1 }, k;

	if (o->kind == OP_FOLD)
		return fold(c, op, co);
	if (o->kind == OP_CAST)
		return cast(c, op, co);
	for (k = 0; k < o->n_in && !c->fail; k++)
		if (o->in[k] >= 0)
			var[k] = operand(c, o, k, co);
	return c->fail ? -1 : expression(c, o, o->n_in, var);
}
