/* SPDX-License-Identifier: Apache-2.0 */
/* gen_value.c - CUDA text of a nest's statements: loads, values, reductions. gen_stmt.c has indices, control,
 * stores. */
#include "gen.h"

/* ---- variables ---- */

static void declare(const Gen *g, int var)
{
	const Var *v = &g->n->var[var];

	g_add(g, f_cclass(v->dtype));
	g_num(g, " v", var);
	if (v->lanes) {
		g_num(g, "[", g->n->shape.vec);
		g_add(g, "]");
	}
	g_add(g, ";\n");
}

static void declare_packed(const Gen *g, int dtype, int var)
{
	g_add(g, "pm_vec<");
	g_add(g, f_ctype(dtype));
	g_num(g, ", ", g->n->shape.vec);
	g_num(g, "> w", var);
}

/* The lanes of a variable, from the vector beside it. */
static void unpack(const Gen *g, int var)
{
	declare(g, var);
	g_num(g, "lanes_of(v", var);
	g_num(g, ", w", var);
	g_add(g, ");\n");
}

static int lanes_of(const Gen *g, int var)
{
	return g->n->var[var].lanes;
}

/* "LANES(4) v7[j] = ": up to the value. */
static void set(const Gen *g, int var, const char *by)
{
	g_lanes(g, lanes_of(g, var));
	g_var(g, var);
	g_add(g, by);
}

static const char *start_text(int start, int ints)
{
	switch (start) {
	case START_ZERO:
		return "0";
	case START_ONE:
		return "1";
	case START_LOWEST:
		return ints ? "(-0x7fffffffffffffffll - 1)" : "-INFINITY";
	default:
		return ints ? "0x7fffffffffffffffll" : "INFINITY";
	}
}

/* "float v7[4];" or "float v7 = 0;" */
static void variable(const Gen *g, const Stmt *s)
{
	const Var *v = &g->n->var[s->to];

	if (s->how == START_NONE || v->lanes) {
		declare(g, s->to);
		if (s->how == START_NONE)
			return;
		set(g, s->to, " = ");
	} else {
		g_add(g, f_cclass(v->dtype));
		g_num(g, " v", s->to);
		g_add(g, " = ");
	}
	g_add(g, start_text(s->how, v->dtype == PM_I64));
	g_add(g, ";\n");
}

static void number(const Gen *g, const Stmt *s)
{
	const char *type = f_cclass(g->n->var[s->to].dtype);

	g_add(g, "const ");
	g_add(g, type);
	g_num(g, " v", s->to);
	g_add(g, " = (");
	g_add(g, type);
	g_add(g, ")");
	if (g->n->var[s->to].dtype == PM_I64)
		pm_text_int(g->t, (int64_t)s->num[0]);
	else
		pm_text_float(g->t, s->num[0]);
	g_add(g, ";\n");
}

/* ---- loads ---- */

/* "fetch<8, A>(p0 + (8 * m))" or "p0[m]". */
static void access(const Gen *g, const Stmt *s)
{
	if (s->vec) {
		g_num(g, "fetch<", g->n->shape.vec);
		g_add(g, ", A>(");
	}
	g_num(g, "p", s->arg);
	g_add(g, s->vec ? " + (" : "[");
	g_ix(g, s->at);
	g_add(g, s->vec ? "))" : "]");
}

/* "e3[k]", as it is referred to where it was asked for; "h3[(k - 8) * 512]" of what is held in shared memory.
 */
static void early(const Gen *g, const Stmt *s)
{
	if (s->m && g->behind) {
		g_num(g, "h", s->early);
		g_num(g, "[(k - ", s->n - s->m);
		g_num(g, ") * ", g->n->shape.block);
		g_add(g, "]");
		return;
	}
	g_num(g, "e", s->early);
	g_add(g, s->n ? "[k]" : "");
}

static void load(const Gen *g, const Stmt *s)
{
	const Var *v = &g->n->var[s->to];
	int ints = v->dtype == PM_I64;

	if (s->vec && s->early >= 0 && g->n->shape.hold && !(s->m && g->behind) &&
	    g->n->shape.vec * pm_dtype_bytes(s->dtype) % 4 == 0) {
		g_add(g, "again(");
		early(g, s);
		g_add(g, ");\n");
	}
	if (s->vec) {
		g_add(g, "const ");
		declare_packed(g, s->dtype, s->to);
		g_add(g, " = ");
		if (s->early >= 0)
			early(g, s);
		else
			access(g, s);
		g_add(g, ";\n");
	}
	if (v->packed >= 0) {
		unpack(g, s->to);
		return;
	}
	declare(g, s->to);
	g_lanes(g, s->lanes);
	g_var(g, s->to);
	g_add(g, ints ? " = (long long)" : " = ld(");
	if (s->vec)
		g_num(g, "w", s->to);
	else if (s->early >= 0)
		early(g, s);
	else
		access(g, s);
	if (s->lane >= 0) {
		g_add(g, "[");
		g_ix(g, s->lane);
		g_add(g, "]");
	} else {
		g_add(g, s->vec || (s->lanes && s->early >= 0) ? "[j]" : "");
	}
	g_add(g, ints ? ";\n" : ");\n");
}

/* "[2][8]" of an array of early loads, or "[k][j]" of the one for this turn. */
static void subscripts(const Gen *g, const Stmt *s, int array)
{
	if (s->n) {
		g_add(g, "[");
		if (array)
			pm_text_int(g->t, s->n > s->m ? s->n - s->m : 1);
		g_add(g, array ? "]" : "k]");
	}
	if (s->lanes && !s->vec) {
		g_add(g, "[");
		if (array)
			pm_text_int(g->t, g->n->shape.vec);
		g_add(g, array ? "]" : "j]");
	}
}

/* "pm_vec<__half, 8> e3[2];" */
static void early_array(const Gen *g, const Stmt *s)
{
	g_add(g, s->vec ? "pm_vec<" : "");
	g_add(g, f_ctype(s->dtype));
	if (s->vec) {
		g_num(g, ", ", g->n->shape.vec);
		g_add(g, ">");
	}
	g_num(g, " e", s->early);
	subscripts(g, s, 1);
	g_add(g, ";\n");
	if (!s->m)
		return;
	g_num(g, "auto *const h", s->early);
	g_num(g, " = held(e", s->early);
	g_add(g, "[0]);\n");
}

/* "e3[k] = fetch<8, A>(p1 + (8 * m0));" */
static void early_load(const Gen *g, const Stmt *s)
{
	if (!s->n)
		early_array(g, s);
	if (s->m && g->behind) {
		g_add(g, "hold<A>(&");
		early(g, s);
		g_num(g, ", p", s->arg);
		g_add(g, " + (");
		g_ix(g, s->at);
		g_add(g, "));\n");
		return;
	}
	g_lanes(g, s->lanes && !s->vec);
	g_num(g, "e", s->early);
	subscripts(g, s, 0);
	g_add(g, " = ");
	access(g, s);
	g_add(g, ";\n");
}

/* The slices of a product that the launch in front has left. */
static void parts(const Gen *g, const Stmt *s)
{
	declare(g, s->to);
	if (!s->vec)
		set(g, s->to, " = ");
	g_num(g, "added<", s->n);
	g_num(g, ", ", s->m);
	g_add(g, ">(");
	if (s->vec) {
		g_num(g, "v", s->to);
		g_add(g, ", ");
	}
	g_add(g, "tiles + ");
	g_ix(g, s->at);
	g_add(g, ");\n");
}

/* "v3 = joined<8, 576>(part + ls * 36 + lv);", or of neighbours "joined<8, 576>(v3, part + ls * 36 + lv);" */
static void tile(const Gen *g, const Stmt *s)
{
	const Shape *x = &g->n->shape;
	int stride = x->tile_cols + 4, neighbours = s->at < 0 && s->lanes && x->vec > 1 && !x->down;

	declare(g, s->to);
	if (!neighbours) {
		g_lanes(g, s->lanes);
		g_var(g, s->to);
		g_add(g, " = ");
	}
	g_num(g, "joined<", x->warps);
	g_num(g, ", ", x->tile_rows * stride);
	if (neighbours) {
		g_num(g, ">(v", s->to);
		g_num(g, ", part + ls * ", stride);
		g_add(g, " + lv);\n");
		return;
	}
	if (s->at >= 0) {
		g_num(g, ">(part + ls * ", stride);
		g_add(g, " + ");
		g_ix(g, s->at);
		g_add(g, ");\n");
		return;
	}
	g_add(g, x->down ? ">(part + (lv" : ">(part + ls * ");
	if (x->down)
		g_add(g, x->vec > 1 ? " + j) * " : ") * ");
	pm_text_int(g->t, stride);
	g_add(g, x->down ? " + ls);\n" : " + lv);\n");
}

/* ---- expressions ---- */

/* What narrow integers make of a result. */
static const char *narrow(int dtype)
{
	switch (dtype) {
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

/* "const S a = (S)v3[j];", or the value of an operand that is left out. */
static void operand(const Gen *g, const Stmt *s, int k)
{
	char name[2] = { (char)('a' + k), 0 };

	g_add(g, "const S ");
	g_add(g, name);
	g_add(g, " = (S)");
	if (s->from[k].var >= 0)
		g_ref(g, s->from[k]);
	else
		g_add(g, start_text(k == 1 ? START_LOWEST : START_HIGHEST, s->compute == PM_I64));
	g_add(g, "; ");
}

/* "LANES(8) { typedef float S; const S a = (S)v3[j]; ... v7[j] = (float)(a + b); }" */
static void expression(const Gen *g, const Stmt *s, const char *expr)
{
	int k;

	g_lanes(g, lanes_of(g, s->to));
	g_add(g, "{ typedef ");
	g_add(g, f_cclass(s->compute));
	g_add(g, " S; ");
	for (k = 0; k < 3; k++)
		operand(g, s, k);
	for (k = 0; k < s->n_num; k++) {
		g_num(g, "const S p", k);
		g_add(g, " = (S)");
		pm_text_float(g->t, s->num[k]);
		g_num(g, "; (void)p", k);
		g_add(g, "; ");
	}
	g_var(g, s->to);
	g_add(g, " = ");
	g_add(g, narrow(s->dtype));
	g_add(g, "(");
	g_add(g, f_cclass(s->dtype));
	g_add(g, ")(");
	g_add(g, expr);
	g_add(g, "); }\n");
}

/* For the lanes of a vector, divisions without the branch that each would have for results and operands that
 * are not usual: the same bits where all are. NULL: there is none in it. */
static const char *without_branches(const Gen *g, const Stmt *s)
{
	if (!lanes_of(g, s->to) || s->compute != PM_F32 || f_class(s->dtype) != PM_F32)
		return NULL;
	if (f_is(s->name, "K(1) / (K(1) + exp(-a))"))
		return "inverse(K(1) + exp(-a), u)";
	if (f_is(s->name, "K(1) / a"))
		return "inverse(a, u)";
	return f_is(s->name, "a / b") ? "quotient(a, b, inverse(b, u), u)" : NULL;
}

/* "const pm_vec<__half, 8> w7 = times(w3, all_lanes<__half, 8>(v5));" */
static void by_pairs(const Gen *g, const Stmt *s)
{
	int k;

	g_add(g, "const ");
	declare_packed(g, s->dtype, s->to);
	g_add(g, f_is(s->name, "plus(a, b)")    ? " = plus("
		 : f_is(s->name, "minus(a, b)") ? " = minus("
						: " = times(");
	for (k = 0; k < 2; k++) {
		Ref r = s->from[k];

		if (r.kept || g->n->var[r.var].packed != s->dtype) {
			g_add(g, "all_lanes<");
			g_add(g, f_ctype(s->dtype));
			g_num(g, ", ", g->n->shape.vec);
			g_add(g, ">(");
			g_ref(g, r);
			g_add(g, ")");
		} else {
			g_num(g, "w", r.var);
		}
		g_add(g, k ? ");\n" : ", ");
	}
	unpack(g, s->to);
}

static void elementwise(const Gen *g, const Stmt *s)
{
	const char *quick = without_branches(g, s);

	if (s->packed) {
		by_pairs(g, s);
		return;
	}
	declare(g, s->to);
	if (!quick) {
		expression(g, s, s->name);
		return;
	}
	g_add(g, "{ Usual u = { 1, 1 };\n");
	expression(g, s, quick);
	g_add(g, "if (!is_usual(u)) ");
	expression(g, s, s->name);
	g_add(g, "}\n");
}

/* To an integer: truncated, at the nearest end when out of range, NaN as 0. */
static void saturated(const Gen *g, const Stmt *s)
{
	static const struct {
		int8_t type;
		const char *ends;
	} ranges[] = { { PM_I32, ", -0x80000000ll, 0x7fffffffll)" },
		       { PM_I16, ", -32768, 32767)" },
		       { PM_I8, ", -128, 127)" },
		       { PM_U8, ", 0, 255)" },
		       { PM_U16, ", 0, 65535)" },
		       { PM_U32, ", 0, 0xffffffffll)" } };
	const char *ends = ", -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)";
	size_t i;

	for (i = 0; i < sizeof ranges / sizeof *ranges; i++)
		if (ranges[i].type == s->dtype)
			ends = ranges[i].ends;
	g_add(g, "saturate(");
	g_ref(g, s->from[0]);
	g_add(g, ends);
}

static void cast(const Gen *g, const Stmt *s)
{
	int from = g->n->var[s->from[0].var].dtype;

	declare(g, s->to);
	set(g, s->to, " = ");
	if (s->dtype == PM_BOOL) {
		g_ref(g, s->from[0]);
		g_add(g, " != 0");
	} else if (s->dtype == PM_F16 || s->dtype == PM_BF16) {
		g_add(g, "ld(st<");
		g_add(g, f_ctype(s->dtype));
		g_add(g, from == PM_I64 ? ">((double)" : ">(");
		g_ref(g, s->from[0]);
		g_add(g, "))");
	} else if (f_class(s->dtype) != PM_I64) {
		g_add(g, s->dtype == PM_F64 ? "(double)" : "(float)");
		g_ref(g, s->from[0]);
	} else if (from == PM_I64) {
		g_add(g, narrow(s->dtype));
		g_ref(g, s->from[0]);
	} else {
		saturated(g, s);
	}
	g_add(g, ";\n");
}

static void rounded(const Gen *g, const Stmt *s)
{
	if (s->packed) {
		declare_packed(g, s->dtype, s->to);
		g_num(g, ";\nround_to(w", s->to);
		g_num(g, s->from[0].kept ? ", c" : ", v", s->from[0].var);
		g_add(g, s->from[0].kept ? "[k]);\n" : ");\n");
		unpack(g, s->to);
		return;
	}
	declare(g, s->to);
	set(g, s->to, " = ld(st<");
	g_add(g, f_ctype(s->dtype));
	g_add(g, ">(");
	g_ref(g, s->from[0]);
	g_add(g, "));\n");
}

static void move(const Gen *g, const Stmt *s)
{
	if (s->cond) {
		g_add(g, "if (");
		g_cond(g, s->cond);
		g_add(g, ") ");
	}
	set(g, s->to, " = ");
	g_ref(g, s->from[0]);
	g_add(g, s->flag ? ";\n\n" : ";\n");
}

/* "LANES(8) if (j == 3) v7[j] = v5[j];" */
static void select(const Gen *g, const Stmt *s)
{
	g_lanes(g, 1);
	g_add(g, "if (");
	g_ix(g, s->at);
	g_add(g, " == ");
	g_ix(g, s->base);
	g_add(g, ") ");
	g_var(g, s->to);
	g_add(g, " = ");
	g_ref(g, s->from[0]);
	g_add(g, ";\n");
}

static void triangle(const Gen *g, const Stmt *s)
{
	declare(g, s->to);
	set(g, s->to, " = ");
	g_ix(g, s->at);
	g_add(g, " - (");
	g_ix(g, s->base);
	g_num(g, s->how == SIDE_UPPER ? ") >= " : ") <= ", s->n);
	g_add(g, " ? ");
	g_ref(g, s->from[0]);
	g_add(g, " : 0;\n");
}

/* "v7[j] = (1 - v6[j]) * v3[j] + v6[j] * v4[j];" */
static void mix(const Gen *g, const Stmt *s)
{
	declare(g, s->to);
	set(g, s->to, " = (1 - ");
	g_ref(g, s->from[2]);
	g_add(g, ") * ");
	g_ref(g, s->from[0]);
	g_add(g, " + ");
	g_ref(g, s->from[2]);
	g_add(g, " * ");
	g_ref(g, s->from[1]);
	g_add(g, ";\n");
}

static void weight(const Gen *g, const Stmt *s)
{
	declare(g, s->to);
	set(g, s->to, " = (float)(");
	g_resize(g, s->at, s->num, s->n, s->flag);
	g_add(g, " - (");
	g_ix(g, s->base);
	g_add(g, "));\n");
}

/* ---- reductions ---- */

/* Whether the lanes of a vector are added up before they go to the sum: a double takes as long as sixteen
 * floats to convert, and of rows that are held a vector's own sum is a small part. */
static int adds_lanes(const Gen *g, const Stmt *s)
{
	return g->n->shape.hold && s->lanes && !s->packed && g->n->shape.vec > 1 && !lanes_of(g, s->to) &&
	       (s->how == RED_SUM || s->how == RED_MEAN) && g->n->var[s->to].dtype == PM_F64 &&
	       !s->from[0].kept && g->n->var[s->from[0].var].dtype == PM_F32;
}

static void fold(const Gen *g, const Stmt *s)
{
	int extreme = s->how == RED_MAX || s->how == RED_MIN;

	g_add(g, s->flag ? "if (in) " : "");
	if (adds_lanes(g, s)) {
		g_num(g, "v", s->to);
		g_num(g, " += lanes_sum(v", s->from[0].var);
		g_add(g, ");\n");
		return;
	}
	g_lanes(g, s->lanes);
	g_var(g, s->to);
	if (s->packed) {
		g_add(g, " = plus(");
		g_var(g, s->to);
		g_add(g, ", ");
		g_ref(g, s->from[0]);
		g_add(g, ");\n");
		return;
	}
	g_add(g, s->how == RED_PROD ? " *= " : extreme ? " = " : " += ");
	if (extreme) {
		g_add(g, s->how == RED_MAX ? "pm_max(" : "pm_min(");
		g_var(g, s->to);
		g_add(g, ", (");
		g_add(g, f_cclass(g->n->var[s->to].dtype));
		g_add(g, ")");
	}
	g_ref(g, s->from[0]);
	g_add(g, extreme ? ");\n" : ";\n");
}

static const char *join_of(int red)
{
	static const char *const join[] = { "Sum", "Sum", "Max", "Min", "Prod", "Sum", "Sum" };

	return join[red];
}

/* "v3 = share<Sum, 32, 0, 1>(v3);", or without the value of it for several rows. */
static void share(const Gen *g, const Stmt *s)
{
	if (!lanes_of(g, s->to)) {
		g_num(g, "v", s->to);
		g_add(g, " = ");
	}
	g_add(g, "share<");
	g_add(g, join_of(s->how));
	g_num(g, ", ", g->n->shape.group);
	g_num(g, ", ", g->n->shape.column ? g->n->shape.per_block : 0);
	g_num(g, s->n ? ", 1>(v" : ", 0>(v", s->to);
	g_add(g, ");\n");
}

/* "moments(v1, v4, v2, k);" */
static void moments(const Gen *g, const Stmt *s)
{
	g_num(g, "moments(v", s->to);
	g_num(g, ", v", s->from[1].var);
	g_num(g, ", v", s->from[0].var);
	g_add(g, ", k);\n");
}

static void join_moments(const Gen *g, const Stmt *s)
{
	g_num(g, "join_moments<", g->n->shape.group);
	g_num(g, ", ", s->n);
	g_num(g, ", ", s->m);
	g_num(g, ">(v", s->to);
	g_num(g, ", v", s->from[1].var);
	g_add(g, ");\n");
}

static void float_of(const Gen *g, const Stmt *s)
{
	declare(g, s->to);
	set(g, s->to, " = (float)");
	g_ref(g, s->from[0]);
	g_add(g, ";\n");
}

static void divide(const Gen *g, const Stmt *s)
{
	set(g, s->to, " /= ");
	if (s->from[0].var >= 0)
		g_ref(g, s->from[0]);
	else if (s->flag)
		g_add(g, "slice_n");
	else
		pm_text_int(g->t, s->n);
	g_add(g, ";\n");
}

static void count(const Gen *g, const Stmt *s)
{
	if (s->cond) {
		g_add(g, "if (1 && ");
		g_cond(g, s->cond);
		g_add(g, ")\n");
	}
	g_num(g, "v", s->to);
	g_add(g, " += 1;\n");
}

/* ---- parts of rows that many blocks share ---- */

/* Of reduction `number`, by slice and row. */
static void part_place(const Gen *g, int var, int64_t number, const char *slice)
{
	g_add(g, "((");
	g_add(g, f_cclass(g->n->var[var].dtype));
	g_num(g, " *)(parts + ", number * g->n->shape.split * g->n->shape.rows);
	g_add(g, "))[");
	g_add(g, slice);
	g_num(g, " * ", g->n->shape.rows);
	g_add(g, " + ");
	g_ix(g, g->n->row);
	g_add(g, "]");
}

/* Elements that a block has of each row of n. */
static int64_t slice_elements(const Nest *n, int64_t len)
{
	int64_t chunks = len / nest_step(n), width = n->shape.group * n->shape.split;

	return (chunks + width - 1) / width * n->shape.group * nest_step(n);
}

/* "const int slice_n = within(400000 - i * 2048, 2048);": elements of slice `i`. */
static void slice_n(const Gen *g, const char *i, int64_t n)
{
	int64_t each = slice_elements(g->n, n);

	g_num(g, "const int slice_n = within(", n);
	g_add(g, " - ");
	g_add(g, i);
	g_num(g, " * ", each);
	g_num(g, ", ", each);
	g_add(g, ");\n");
}

static void leave(const Gen *g, const Stmt *s)
{
	g_add(g, "if (live && lane == 0)\n");
	g_lanes(g, s->lanes);
	part_place(g, s->to, s->n, "slice");
	g_add(g, " = ");
	g_ref(g, s->from[0]);
	g_add(g, ";\n");
}

/* A part that was taken around its slice's mean or maximum, around the row's. */
static void moved(const Gen *g, const Stmt *s)
{
	int mean = s->how == RED_MEAN;

	if (mean)
		slice_n(g, "i", s->m);
	g_lanes(g, s->lanes);
	g_var(g, s->to);
	g_add(g, mean ? " += moved_squares(" : " += moved_exps(");
	part_place(g, s->to, s->n, "i");
	g_add(g, ", ");
	part_place(g, mean ? s->to : s->from[0].var, s->n - 1, "i");
	g_add(g, ", ");
	g_ref(g, s->from[0]);
	g_add(g, mean ? ", slice_n);\n" : ");\n");
}

static void join(const Gen *g, const Stmt *s)
{
	g_num(g, "for (int i = lane; i < ", g->n->shape.split);
	g_num(g, "; i += ", g->n->shape.group);
	g_add(g, ") {\n");
	if (s->kind == ST_MOVED) {
		moved(g, s);
	} else {
		g_lanes(g, s->lanes);
		g_var(g, s->to);
		g_add(g, " = ");
		g_add(g, join_of(s->how));
		g_add(g, "::of(");
		g_var(g, s->to);
		g_add(g, ", ");
		part_place(g, s->to, s->n, "i");
		g_add(g, ");\n");
	}
	g_add(g, "}\n");
}

/* ---- all of them ---- */

static void value(const Gen *g, const Stmt *s)
{
	static void (*const text[ST_KINDS])(const Gen *g, const Stmt *s) = {
		[ST_VAR] = variable,     [ST_NUMBER] = number,   [ST_LOAD] = load,
		[ST_PARTS] = parts,      [ST_TILE] = tile,       [ST_EW] = elementwise,
		[ST_CAST] = cast,        [ST_ROUND] = rounded,   [ST_FLOAT] = float_of,
		[ST_MOVE] = move,        [ST_SELECT] = select,   [ST_TRIANGLE] = triangle,
		[ST_WEIGHT] = weight,    [ST_MIX] = mix,         [ST_FOLD] = fold,
		[ST_SHARE] = share,      [ST_MOMENTS] = moments, [ST_JOIN_MOMENTS] = join_moments,
		[ST_DIVIDE] = divide,    [ST_COUNT] = count,     [ST_EARLY_ARRAY] = early_array,
		[ST_EARLY] = early_load, [ST_LEAVE] = leave,     [ST_JOIN] = join,
		[ST_MOVED] = join,
	};

	if (s->kind == ST_SLICE_N)
		slice_n(g, "slice", s->m);
	else if (text[s->kind])
		text[s->kind](g, s);
}

void g_block(const Gen *g, const Block *b)
{
	const Stmt *s, *end = nest_end(b);

	for (s = b->first; s && s != end; s = s->next)
		if (!g_control_stmt(g, s) && !g_scatter_stmt(g, s) && !g_memory_stmt(g, s))
			value(g, s);
}
