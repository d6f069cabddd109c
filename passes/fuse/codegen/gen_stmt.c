/* SPDX-License-Identifier: Apache-2.0 */
/* gen_stmt.c - CUDA text of a nest's indices, conditions, loops, scatters and stores. */
#include "gen.h"

void g_add(const Gen *g, const char *s)
{
	pm_text_add(g->t, s);
}

void g_num(const Gen *g, const char *s, int64_t x)
{
	pm_text_add(g->t, s);
	pm_text_int(g->t, x);
}

static void ix_text(const Index *c, PmText *t, Ix x);

void g_ix(const Gen *g, Ix a)
{
	ix_text(g->n->ix, g->t, a);
}

void g_var(const Gen *g, int var)
{
	g_ref(g, (Ref){ (int16_t)var, 0 });
}

void g_ref(const Gen *g, Ref r)
{
	g_num(g, r.kept ? "c" : "v", r.var);
	g_add(g, r.kept ? "[k]" : "");
	g_add(g, g->n->var[r.var].lanes ? "[j]" : "");
}

void g_lanes(const Gen *g, int lanes)
{
	if (!lanes || g->n->shape.vec == 1)
		return;
	g_num(g, "LANES(", g->n->shape.vec);
	g_add(g, ") ");
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

/* ---- indices ---- */

static void text_of_atom(const Index *c, PmText *t, int atom)
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

static void ix_text(const Index *c, PmText *t, Ix x)
{
	const Lin *l = &c->lin[x];
	int i;

	for (i = 0; i < l->n; i++) {
		if (i)
			pm_text_add(t, " + ");
		if (l->t[i].k != 1) {
			pm_text_int(t, l->t[i].k);
			pm_text_add(t, " * ");
		}
		text_of_atom(c, t, l->t[i].atom);
	}
	if (l->c || !l->n) {
		if (l->n)
			pm_text_add(t, " + ");
		pm_text_int(t, l->c);
	}
}

static void name(const Gen *g, Ix x)
{
	g_add(g, nest_atom(g->n, x)->name);
}

/* "int x7[4];\nLANES(4) x7[j] = ": up to the value. */
static void define(const Gen *g, Ix x)
{
	const Atom *a = nest_atom(g->n, x);

	g_add(g, "int ");
	g_add(g, a->name);
	if (a->lanes) {
		g_num(g, "[", g->n->shape.vec);
		g_add(g, "]");
	}
	g_add(g, ";\n");
	g_lanes(g, a->lanes);
	g_add(g, a->name);
	g_add(g, a->lanes ? "[j] = " : " = ");
}

void g_resize(const Gen *g, Ix at, const double *num, int64_t n, int floats)
{
	g_add(g, floats ? "resize_at<float>(" : "resize_at<double>(");
	g_ix(g, at);
	g_add(g, ", ");
	pm_text_float(g->t, num[0]);
	g_add(g, ", ");
	pm_text_float(g->t, num[1]);
	g_num(g, ", ", n);
	g_add(g, ")");
}

static void made_index(const Gen *g, const Stmt *s)
{
	static const char *const before[] = {
		[INDEX_SAME] = "",
		[INDEX_NEAREST] = "pad_edge(",
		[INDEX_MIRRORED] = "pad_reflect(",
		[INDEX_NEXT] = "pad_edge(1 + ",
		[INDEX_VECTOR] = "(",
		[INDEX_FROM_ZERO] = "max(",
	};

	define(g, s->def);
	if (s->how == INDEX_NONE) {
		g_add(g, "-1;\n");
		return;
	}
	if (s->how == INDEX_RESIZE || s->how == INDEX_RESIZE_FLOAT) {
		g_add(g, "(int)");
		g_resize(g, s->at, s->num, s->n, s->how == INDEX_RESIZE_FLOAT);
		g_add(g, ";\n");
		return;
	}
	g_add(g, before[s->how]);
	g_ix(g, s->at);
	switch (s->how) {
	case INDEX_SAME:
		break;
	case INDEX_VECTOR:
		g_num(g, ") / ", g->n->shape.vec);
		break;
	case INDEX_FROM_ZERO:
		g_add(g, ", 0)");
		break;
	default:
		g_num(g, ", ", s->n);
		g_add(g, ")");
	}
	g_add(g, ";\n");
}

static void pick(const Gen *g, const Stmt *s)
{
	define(g, s->def);
	g_add(g, "pick(");
	g_ref(g, s->from[0]);
	g_num(g, ", ", s->n);
	g_add(g, ");\n");
}

/* ---- control ---- */

static void condition(const Gen *g, const Cond *q)
{
	switch (q->kind) {
	case COND_IN:
		g_add(g, "in");
		return;
	case COND_LIVE:
		g_add(g, "live");
		return;
	case COND_FIRST:
		g_add(g, "lane == 0");
		return;
	case COND_FIRST_PART:
		g_add(g, "slice == 0");
		return;
	default:
		g_add(g, q->kind == COND_FROM ? "!(" : "(");
		g_ix(g, q->at);
		g_num(g, " < ", q->n);
		g_add(g, ")");
	}
}

void g_cond(const Gen *g, const Cond *q)
{
	if (!q)
		g_add(g, "1");
	for (; q; q = q->next) {
		condition(g, q);
		g_add(g, q->next ? " && " : "");
	}
}

/* Whether a loop adds vectors to moments: unrolled, the share of a turn is a constant, and there is little
 * else. */
static int adds_moments(const Block *b)
{
	const Stmt *s;

	for (s = b->first; s; s = s->next)
		if (s->kind == ST_MOMENTS)
			return 1;
	return 0;
}

/* "_Pragma("unroll 4") for (int k = 0; k < 12; k++) {" */
static void turns_head(const Gen *g, int k, int64_t from, int64_t to, const Block *body)
{
	const Shape *x = &g->n->shape;
	int all = g->behind ? adds_moments(body) : nest_unrolled(g->n, k);

	g_add(g, all                                    ? "_Pragma(\"unroll\") "
		 : g->behind && x->vec < 8              ? "_Pragma(\"unroll 2\") "
		 : !g->behind && x->wide && x->vec == 2 ? "_Pragma(\"unroll 8\") "
							: "_Pragma(\"unroll 4\") ");
	g_num(g, "for (int k = ", from);
	g_num(g, "; k < ", to);
	g_add(g, "; k++) {\n");
}

static void loop(const Gen *g, int k, int64_t from, int64_t to, const Block *body)
{
	const Shape *x = &g->n->shape;
	int64_t chunks = nest_chunks(g->n, k), turns = nest_turns(g->n, k);
	int64_t width = x->group * (x->split ? x->split : 1);
	int open = nest_is_open(g->n, k);

	turns_head(g, k, from, to, body);
	g_num(g, open ? "const int n" : "const int m", k);
	g_add(g, " = ");
	if (x->split) {
		g_num(g, "slice * ", turns * x->group);
		g_add(g, " + ");
	}
	g_num(g, "k * ", x->group);
	g_add(g, " + lane;\n");
	if (open) {
		g_num(g, "const bool in = n", k);
		g_num(g, " < ", chunks);
		g_num(g, ";\nconst int m", k);
		g_num(g, " = in ? n", k);
		g_num(g, " : ", chunks - 1);
		g_add(g, ";\n");
	} else if (turns * width != chunks) {
		g_num(g, "if (m", k);
		g_num(g, " < ", chunks);
		g_add(g, ") ");
	}
	g_add(g, "{\n");
	g_block(g, body);
	g_add(g, "}\n}\n");
}

void g_loops(const Gen *g, int k, const Block *body)
{
	int64_t turns = nest_turns(g->n, k), behind = nest_held_behind(g->n, k);
	Gen of = *g;

	if (turns > behind)
		loop(&of, k, 0, turns - behind, body);
	of.behind = 1;
	if (behind)
		loop(&of, k, turns - behind, turns, body);
}

/* "const int u3 = lane < 16 ? lane : 15;" */
static void tail_place(const Gen *g, const Stmt *s)
{
	g_add(g, "const int ");
	name(g, s->def);
	g_num(g, " = lane < ", s->n);
	g_num(g, " ? lane : ", s->n - 1);
	g_add(g, ";\n");
}

static void tail(const Gen *g, const Stmt *s)
{
	g_num(g, "if (lane < ", s->n);
	g_add(g, ") {\n");
	g_block(g, s->body);
	g_add(g, "}\n");
}

static void serial_loop(const Gen *g, const Stmt *s)
{
	g_add(g, s->unroll ? "_Pragma(\"unroll\") for (int " : "for (int ");
	name(g, s->def);
	g_add(g, " = 0; ");
	name(g, s->def);
	g_num(g, " < ", s->n);
	g_add(g, "; ");
	name(g, s->def);
	g_num(g, " += ", s->m);
	g_add(g, ") {\n");
	g_block(g, s->body);
	g_add(g, "}\n");
}

static void branch(const Gen *g, const Stmt *s)
{
	g_add(g, "if (");
	g_cond(g, s->cond);
	g_add(g, ") {\n");
	g_block(g, s->body);
	g_add(g, s->next && s->next->kind == ST_ELSE ? "} else {\n" : "}\n");
	if (!s->next || s->next->kind != ST_ELSE)
		return;
	g_block(g, s->next->body);
	g_add(g, "} \n");
}

/* Arms of which a thread takes one. */
static void choose(const Gen *g, const Stmt *s)
{
	const Stmt *arm;

	for (arm = s->body->first; arm; arm = arm->next) {
		g_add(g, arm == s->body->first ? "if " : arm->cond ? "else if " : "else ");
		if (arm->cond)
			g_cond(g, arm->cond);
		g_add(g, " {\n");
		g_block(g, arm->body);
		g_add(g, "} ");
	}
	g_add(g, "\n");
}

int g_control_stmt(const Gen *g, const Stmt *s)
{
	switch (s->kind) {
	case ST_ROWS:
		g_loops(g, (int)s->n, s->body);
		return 1;
	case ST_TAIL:
		tail(g, s);
		return 1;
	case ST_TAIL_PLACE:
		tail_place(g, s);
		return 1;
	case ST_FOR:
		serial_loop(g, s);
		return 1;
	case ST_IF:
		branch(g, s);
		return 1;
	case ST_ELSE: /* with its ST_IF */
		return 1;
	case ST_WOVEN:
		g_block(g, s->body);
		return 1;
	case ST_CHOOSE:
		choose(g, s);
		return 1;
	case ST_INDEX:
		made_index(g, s);
		return 1;
	case ST_PICK:
		pick(g, s);
		return 1;
	default:
		return 0;
	}
}

/* ---- scatters ---- */

/* "h5[j]": the bits of updates that s is about; of each lane or not. */
static void hits(const Gen *g, const Stmt *s, int lanes)
{
	g_num(g, "h", s->arg);
	if (s->lane >= 0) {
		g_add(g, "[");
		g_ix(g, s->lane);
		g_add(g, "]");
	}
	g_add(g, lanes ? "[j]" : "");
}

static void declare_hits(const Gen *g, const Stmt *s)
{
	int array = s->lanes || s->n;

	g_num(g, "unsigned int h", s->arg);
	if (array) {
		g_num(g, "[", s->n ? s->n : g->n->shape.vec);
		g_add(g, "]");
	}
	g_add(g, array ? " = {};\n" : " = 0;\n");
}

/* Sets bit o where update i, that an index says, is for a place. */
static void look(const Gen *g, const Stmt *s)
{
	g_lanes(g, s->lanes);
	g_add(g, "if (");
	if (s->n) {
		g_ix(g, s->at);
		g_num(g, " < ", s->n);
		g_add(g, " && ");
	}
	g_add(g, s->flag ? "names_any(" : "names(");
	g_ref(g, s->from[0]);
	g_add(g, ", ");
	g_ix(g, s->base);
	g_add(g, ", ");
	if (s->flag) {
		pm_text_int(g->t, g->n->shape.vec);
		g_add(g, ", ");
	}
	pm_text_int(g->t, s->m);
	g_add(g, ")) ");
	hits(g, s, s->lanes);
	g_num(g, " |= 1u << ", s->o);
	g_add(g, ";\n");
}

/* "for (unsigned int m4 = bits; m4; m4 &= m4 - 1) { const int i5 = the lowest of them;" */
static void bits(const Gen *g, const Stmt *s)
{
	g_num(g, "for (unsigned int m", s->n);
	g_add(g, " = ");
	hits(g, s, s->lanes);
	g_num(g, "; m", s->n);
	g_num(g, "; m", s->n);
	g_num(g, " &= m", s->n);
	g_add(g, " - 1) {\nconst int ");
	name(g, s->def);
	g_num(g, " = __ffs((int)m", s->n);
	g_add(g, ") - 1;\n");
	g_block(g, s->body);
	g_add(g, "}\n");
}

/* "const int l9 = pick(v7, 1000) - (8 * x3);": the lane whose place an index names. */
static void whose(const Gen *g, const Stmt *s)
{
	g_add(g, "const int ");
	name(g, s->def);
	g_add(g, " = pick(");
	g_ref(g, s->from[0]);
	g_num(g, ", ", s->n);
	g_add(g, ") - (");
	g_ix(g, s->at);
	g_add(g, ");\n");
}

static void update(const Gen *g, const Stmt *s)
{
	g_lanes(g, s->lanes);
	if (s->how == UPDATE_LANE) {
		g_add(g, "if (j == ");
		name(g, s->base);
		g_add(g, ") ");
	} else if (s->how == UPDATE_BIT) {
		g_add(g, "if (");
		hits(g, s, s->flag);
		g_add(g, " >> ");
		g_ix(g, s->at);
		g_add(g, " & 1) ");
	}
	g_var(g, s->to);
	g_add(g, " += ");
	g_ref(g, s->from[0]);
	g_add(g, ";\n");
}

/* "if (h5) l7 = first + 31 - __clz((int)h5);": the last update so far. */
static void latest(const Gen *g, const Stmt *s)
{
	g_lanes(g, s->lanes);
	g_add(g, "if (");
	hits(g, s, s->lanes);
	g_add(g, ") ");
	name(g, s->base);
	g_add(g, s->lanes ? "[j] = " : " = ");
	g_ix(g, s->at);
	g_add(g, " + 31 - __clz((int)");
	hits(g, s, s->lanes);
	g_add(g, ");\n");
}

static void replace(const Gen *g, const Stmt *s)
{
	g_lanes(g, g->n->var[s->to].lanes);
	g_add(g, "if (");
	name(g, s->at);
	g_add(g, s->flag ? "[j] >= 0) " : " >= 0) ");
	g_var(g, s->to);
	g_add(g, " = ");
	g_ref(g, s->from[0]);
	g_add(g, ";\n");
}

int g_scatter_stmt(const Gen *g, const Stmt *s)
{
	switch (s->kind) {
	case ST_HITS:
		declare_hits(g, s);
		return 1;
	case ST_LOOK:
		look(g, s);
		return 1;
	case ST_JOIN_HITS:
		g_lanes(g, 1);
		hits(g, s, 0);
		g_num(g, " |= h", s->n);
		g_add(g, "[j];\n");
		return 1;
	case ST_BITS:
		bits(g, s);
		return 1;
	case ST_WHOSE:
		whose(g, s);
		return 1;
	case ST_UPDATE:
		update(g, s);
		return 1;
	case ST_LATEST:
		latest(g, s);
		return 1;
	case ST_REPLACE:
		replace(g, s);
		return 1;
	default:
		return 0;
	}
}

/* ---- stores ---- */

/* "deposit<8, A>(q0 + (8 * m), u0);" */
static void store_vector(const Gen *g, const Stmt *s, const char *letter, int64_t number)
{
	g_num(g, "deposit<", g->n->shape.vec);
	g_num(g, ", A>(q", s->arg);
	g_add(g, " + (");
	g_ix(g, s->at);
	g_add(g, "), ");
	g_num(g, letter, number);
	g_add(g, ");\n");
}

/* "] = st<__half>(v7);": the variable in the type of the element. */
static void put_in(const Gen *g, const Stmt *s)
{
	int ints = f_class(s->dtype) == PM_I64;

	g_add(g, ints ? "] = (" : "] = st<");
	g_add(g, f_ctype(s->dtype));
	g_add(g, ints ? ")(" : ">(");
	g_ref(g, s->from[0]);
	g_add(g, s->dtype == PM_BOOL ? " != 0);\n" : ");\n");
}

static void store(const Gen *g, const Stmt *s)
{
	if (s->packed) {
		store_vector(g, s, "w", s->from[0].var);
		return;
	}
	if (s->vec) {
		g_add(g, "pm_vec<");
		g_add(g, f_ctype(s->dtype));
		g_num(g, ", ", g->n->shape.vec);
		g_num(g, "> u", s->arg);
		g_add(g, "; ");
	}
	g_lanes(g, s->lanes);
	g_num(g, s->vec ? "u" : "q", s->arg);
	g_add(g, "[");
	if (s->vec)
		g_add(g, "j");
	else
		g_ix(g, s->at);
	put_in(g, s);
	if (s->vec)
		store_vector(g, s, "u", s->arg);
}

/* Rows of a block that one warp has. */
static int side(const Gen *g)
{
	return g->n->shape.group < 32 ? 32 / g->n->shape.group : 1;
}

/* "stage_of<__half, 7200, 0>()": the memory of a result. */
static void stage_of(const Gen *g, const Stmt *s)
{
	g_add(g, "stage_of<");
	g_add(g, f_ctype(s->dtype));
	g_num(g, ", ", s->n * g->n->shape.per_block);
	g_num(g, ", ", s->arg);
	g_add(g, ">()");
}

/* "stage_at<8, 4, 32>(": the place of an element in it. */
static void stage_at(const Gen *g)
{
	g_num(g, "stage_at<", g->n->shape.vec);
	g_num(g, ", ", side(g));
	g_num(g, ", ", g->n->shape.per_block);
	g_add(g, ">(");
}

static void stage(const Gen *g, const Stmt *s)
{
	g_lanes(g, s->lanes);
	stage_of(g, s);
	g_add(g, "[");
	stage_at(g);
	g_ix(g, s->at);
	g_num(g, ", threadIdx.x / ", g->n->shape.group);
	g_add(g, ")");
	put_in(g, s);
}

/* A thread stores of one row alone, or of rows side by side. */
static void drain(const Gen *g, const Stmt *s)
{
	const Shape *x = &g->n->shape;
	int64_t rows = s->vec ? side(g) : 1, across = x->per_block / rows, step = x->block / across;

	g_add(g, s->flag ? "__syncthreads();\n" : "");
	g_add(g, "_Pragma(\"unroll 8\") for (int k = 0; k < ");
	g_num(g, "", (s->n + step - 1) / step);
	g_num(g, "; k++) {\nconst int d = k * ", step);
	g_num(g, " + threadIdx.x / ", across);
	g_num(g, ", side = threadIdx.x % ", across);
	g_num(g, " * ", rows);
	g_num(g, ", r = row_block * ", x->per_block);
	g_num(g, " + side;\nif (d < ", s->n);
	g_num(g, " && r < ", x->rows);
	g_add(g, s->vec ? ")\ndeposit<" : ")\nq");
	if (s->vec)
		g_num(g, "", rows);
	if (s->vec)
		g_num(g, ", A>(q", s->arg);
	else
		g_num(g, "", s->arg);
	g_add(g, s->vec ? " + (" : "[");
	g_ix(g, s->at);
	g_add(g, s->vec ? "), *(const pm_vec<" : "] = ");
	if (s->vec) {
		g_add(g, f_ctype(s->dtype));
		g_num(g, ", ", rows);
		g_add(g, "> *)(");
	}
	stage_of(g, s);
	g_add(g, s->vec ? " + " : "[");
	stage_at(g);
	g_add(g, s->vec ? "d, side)));\n}\n" : "d, side)];\n}\n");
}

/* "float c7[4][8];": the values of all turns of a loop. */
static void keep_array(const Gen *g, const Stmt *s)
{
	const Var *v = &g->n->var[s->to];

	g_add(g, f_cclass(v->dtype));
	g_num(g, " c", s->to);
	g_num(g, "[", s->n);
	g_add(g, "]");
	if (v->lanes) {
		g_num(g, "[", g->n->shape.vec);
		g_add(g, "]");
	}
	g_add(g, ";\n");
}

static void keep(const Gen *g, const Stmt *s)
{
	int lanes = g->n->var[s->from[0].var].lanes;

	if (!s->flag)
		return;
	g_lanes(g, lanes);
	g_num(g, "c", s->from[0].var);
	g_add(g, lanes ? "[k][j] = " : "[k] = ");
	g_ref(g, s->from[0]);
	g_add(g, ";\n");
}

int g_memory_stmt(const Gen *g, const Stmt *s)
{
	switch (s->kind) {
	case ST_STORE:
		store(g, s);
		return 1;
	case ST_STAGE:
		stage(g, s);
		return 1;
	case ST_DRAIN:
		drain(g, s);
		return 1;
	case ST_KEEP_ARRAY:
		keep_array(g, s);
		return 1;
	case ST_KEEP:
		keep(g, s);
		return 1;
	default:
		return 0;
	}
}
