/* SPDX-License-Identifier: Apache-2.0 */
/* eval_scatter.c - scatters seen from the result: a thread goes through the indices of its line, some of them
 * at once, and adds the updates that name its place, in their order and in the type of sums, or takes the
 * last of them. */
#include "fuse.h"

enum { MOST = 32 /* indices looked at together */, FEW = 4 /* pieces whose hits are kept */ };

/* "for (int i4 = 0; i4 < n; i4 += step) {"; i4 and what is added to it stay below n only where lin says so.
 */
static Ix loop(Ctx *c, int64_t n, int step)
{
	char name[F_NAME];

	f_for(c, n, step, name);
	return ix_var(c, name, (n - 1) / step * step, DEP_WIN | DEP_HERE, 0);
}

/* i, or the last place where that is none. */
static Ix at_most(Ctx *c, Ix i, int64_t n)
{
	char tail[32];
	PmText t = { tail, 0, sizeof tail, 0 };

	if (c->lin[i].hi < n)
		return i;
	pm_text_add(&t, ", ");
	pm_text_int(&t, n);
	pm_text_add(&t, ")");
	tail[t.n] = 0;
	return f_opaque(c, i, "pad_edge(", tail, n - 1);
}

/* How many indices of n are looked at together: the pieces are alike. */
static int at_once(int64_t n)
{
	int64_t pieces = (n + MOST - 1) / MOST;

	return (int)((n + pieces - 1) / pieces);
}

/* The variable of bits: which updates are for this place; of each lane where lanes differ. Where all lanes
 * read the same index and are neighbours on the axis, from `base` on: for one of their places. */
typedef struct Hits {
	int name, lanes, near;
	int pieces; /* there is a variable for each piece of the indices; 0: for one, made again for each */
	Ix base, piece;
} Hits;

static void hits(Ctx *c, const Hits *h)
{
	t_add(c, "h");
	t_int(c, h->name);
	if (h->pieces) {
		t_add(c, "[");
		t_ix(c, h->piece);
		t_add(c, "]");
	}
	t_add(c, h->lanes ? "[j]" : "");
}

static void declare_hits(Ctx *c, Hits *h, int lanes)
{
	h->name = c->n_names++;
	h->lanes = lanes && c->s->vec > 1;
	t_add(c, "unsigned int h");
	t_int(c, h->name);
	if (h->lanes || h->pieces) {
		t_add(c, "[");
		t_int(c, h->pieces ? h->pieces : c->s->vec);
		t_add(c, "]");
	}
	t_add(c, h->lanes || h->pieces ? " = {};\n" : " = 0;\n");
}

/* Sets bit k where update i, that index says, is for `here`. */
static void look(Ctx *c, const Hits *h, int index, Ix i, int64_t n, Ix here, int64_t extent, int k)
{
	f_for_lanes(c, h->lanes);
	t_add(c, "if (");
	if (c->lin[i].hi >= n) {
		t_ix(c, i);
		t_add(c, " < ");
		t_int(c, n);
		t_add(c, " && ");
	}
	t_add(c, h->near ? "names_any(" : "names(");
	f_ref(c, c->out, index);
	t_add(c, ", ");
	t_ix(c, h->near ? h->base : here);
	t_add(c, ", ");
	if (h->near) {
		t_int(c, c->s->vec);
		t_add(c, ", ");
	}
	t_int(c, extent);
	t_add(c, ")) ");
	hits(c, h);
	t_add(c, " |= 1u << ");
	t_int(c, k);
	t_add(c, ";\n");
}

/* The coordinates of index i for a result at co. */
static void index_at(Ctx *c, const Op *o, const Ix *co, Ix i, Ix *at)
{
	int d;

	for (d = 0; d < c->op[o->in[1]].rank; d++)
		at[d] = o->mode & SCATTER_TUPLES ? ix_const(c, 0) : co[d];
	at[o->axis] = i;
}

/* The bits of the updates from `first` on. Where a thread has several places they are found for all of a few
 * pieces before anything is done about them, and declared in `outer`: what is added waits for memory. */
static int find(Ctx *c, const Op *o, const Ix *co, Ix first, int together, PmText *outer, Hits *h)
{
	int64_t n = c->op[o->in[1]].dim[o->axis], extent = o->dim[o->axis], step, pieces;
	int k, v[MOST] = { 0 }, apart = (c->lin[co[o->axis]].deps & DEP_LANE) != 0;
	PmText *out = c->out;
	Ix at[F_RANK];

	for (k = 0; k < together; k++) {
		index_at(c, o, co, at_most(c, ix_plus(c, first, k), n), at);
		v[k] = f_eval(c, o->in[1], at);
		if (v[k] < 0)
			return 0;
	}
	h->base = ix_without_lane(c, co[o->axis], &step);
	h->near = step == 1 && !c->var[v[0]].lanes && !(o->mode & SCATTER_LAST);
	apart = (c->var[v[0]].lanes || apart) && !h->near && c->s->vec > 1;
	pieces = (n + together - 1) / together;
	if (c->s->turned && !apart && pieces > 1 && pieces <= FEW && !(o->mode & SCATTER_LAST)) {
		h->pieces = (int)pieces;
		h->piece = ix_div(c, first, together);
		c->out = outer;
	}
	declare_hits(c, h, apart);
	c->out = out;
	for (k = 0; k < together; k++)
		look(c, h, v[k], ix_plus(c, first, k), n, co[o->axis], extent, k);
	c->s->work += c->trial ? 0 : 4 * together * c->times * (h->lanes ? c->s->vec : 1);
	return 1;
}

/* "for (unsigned int m4 = bits; m4; m4 &= m4 - 1) { const int i5 = the lowest of them;", and i5. */
static Ix each_bit(Ctx *c, const Hits *h, int together)
{
	char name[F_NAME], rest[F_NAME];

	f_name(c, 'm', rest);
	f_name(c, 'i', name);
	t_add(c, "for (unsigned int ");
	t_add(c, rest);
	t_add(c, " = ");
	hits(c, h);
	t_add(c, "; ");
	t_add(c, rest);
	t_add(c, "; ");
	t_add(c, rest);
	t_add(c, " &= ");
	t_add(c, rest);
	t_add(c, " - 1) {\nconst int ");
	t_add(c, name);
	t_add(c, " = __ffs((int)");
	t_add(c, rest);
	t_add(c, ") - 1;\n");
	return ix_var(c, name, together - 1, DEP_WIN | DEP_HERE, 0);
}

/* "if (j == pick(v7, 1000) - (8 * x3)) ": only the lane whose place index i names. */
static void one_lane(Ctx *c, const Op *o, const Ix *co, Ix i, const Hits *h, const char *lane)
{
	Ix at[F_RANK];
	int v;

	index_at(c, o, co, i, at);
	v = f_eval(c, o->in[1], at);
	if (v < 0)
		return;
	t_add(c, "const int ");
	t_add(c, lane);
	t_add(c, " = pick(");
	f_ref(c, c->out, v);
	t_add(c, ", ");
	t_int(c, o->dim[o->axis]);
	t_add(c, ") - (");
	t_ix(c, h->base);
	t_add(c, ");\n");
}

/* Adds what was found, in order. */
static int add(Ctx *c, const Op *o, const Ix *co, Ix first, int together, const Hits *h, int acc)
{
	int64_t n = c->op[o->in[1]].dim[o->axis];
	int d, u;
	Hits any = *h;
	Ix at[F_RANK], bit;
	char lane[F_NAME] = "";

	if (h->lanes) {
		declare_hits(c, &any, 0);
		f_for_lanes(c, 1);
		hits(c, &any);
		t_add(c, " |= ");
		hits(c, h);
		t_add(c, ";\n");
	}
	bit = each_bit(c, &any, together);
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = at_most(c, ix_add(c, first, bit), n);
	if (h->near) {
		f_name(c, 'l', lane);
		one_lane(c, o, co, at[o->axis], h, lane);
	}
	u = f_eval(c, o->in[2], at);
	if (u < 0 || c->fail)
		return -1;
	f_for_lanes(c, c->var[acc].lanes);
	if (h->near) {
		t_add(c, "if (j == ");
		t_add(c, lane);
		t_add(c, ") ");
	} else if (h->lanes) {
		t_add(c, "if (");
		hits(c, h);
		t_add(c, " >> ");
		t_ix(c, bit);
		t_add(c, " & 1) ");
	}
	f_ref(c, c->out, acc);
	t_add(c, " += ");
	f_ref(c, c->out, u);
	t_add(c, ";\n}\n");
	return acc;
}

/* "if ((a < 7) && (b < 5)) {", where there are fewer lines of indices than places, and the coordinates inside
 * it; how many of all places these are. */
static double indexed(Ctx *c, const Op *o, const Ix *co, Ix *in)
{
	const Op *u = &c->op[o->in[2]];
	double part = 1;
	int d;

	for (d = 0; d < o->rank; d++)
		if (d != o->axis && c->lin[co[d]].hi >= u->dim[d]) {
			t_add(c, part < 1 ? " && " : "if (");
			f_below(c, co[d], u->dim[d]);
			part *= (double)u->dim[d] / (double)o->dim[d];
		}
	t_add(c, part < 1 ? ") {\n" : "");
	for (d = 0; d < o->rank; d++)
		in[d] = d == o->axis ? co[d] : f_confine(c, co[d], u->dim[d] - 1);
	return part;
}

/* "i7 = first + 31 - __clz((int)h5);" where there is one: the last update so far. */
static void take_last(Ctx *c, Ix first, const Hits *h, const char *last)
{
	f_for_lanes(c, h->lanes);
	t_add(c, "if (");
	hits(c, h);
	t_add(c, ") ");
	t_add(c, last);
	t_add(c, h->lanes ? "[j] = " : " = ");
	t_ix(c, first);
	t_add(c, " + 31 - __clz((int)");
	hits(c, h);
	t_add(c, ");\n");
}

/* y becomes the update that `last` says, if there is one. Without an update the first one is read. */
static int replace(Ctx *c, const Op *o, const Ix *co, const char *last, int lanes, int y)
{
	int64_t n = c->op[o->in[1]].dim[o->axis];
	int d, u;
	char name[F_NAME];
	Ix at[F_RANK];

	f_declare_int(c, 'x', name, lanes);
	t_add(c, "max(");
	t_add(c, last);
	t_add(c, lanes ? "[j], 0);\n" : ", 0);\n");
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = ix_var(c, name, n - 1, DEP_HERE | (lanes ? DEP_LANE : 0), lanes);
	u = f_eval(c, o->in[2], at);
	if (u < 0)
		return 0;
	c->var[y].exact &= c->var[u].exact;
	f_for_lanes(c, c->var[y].lanes);
	t_add(c, "if (");
	t_add(c, last);
	t_add(c, lanes ? "[j] >= 0) " : " >= 0) ");
	f_ref(c, c->out, y);
	t_add(c, " = ");
	f_ref(c, c->out, u);
	t_add(c, ";\n");
	return 1;
}

/* Text that was written into the next buffer, behind `before`. */
static void append(Ctx *c, PmText *out, const char *before)
{
	PmText *body = c->out;

	c->depth--;
	c->out = out;
	if (c->dry)
		return;
	body->s[body->n] = 0;
	c->out->full |= body->full;
	t_add(c, before);
	t_add(c, body->s);
}

/* All turns of looking, and what is done about the updates found. Variables that outlive a turn are declared
 * when it is known whether lanes differ. */
static int search(Ctx *c, const Op *o, const Ix *co, double part, int y)
{
	int64_t n = c->op[o->in[1]].dim[o->axis];
	int together = at_once(n), replaces = o->mode & SCATTER_LAST, mark = f_mark(c), ok;
	double times = c->times, turns = c->turns;
	PmText *out = c->out;
	char last[F_NAME] = "";
	Hits h = { 0 };
	Ix first;

	if (c->depth == F_DEPTH)
		return f_fail(c, "it has loops in loops in loops") + 1;
	c->out = &c->body[c->depth++];
	c->out->n = 0;
	first = loop(c, n, together);
	if (!c->trial)
		c->s->looks += turns * (double)((n + together - 1) / together);
	c->times = times * part * (double)n / together;
	c->turns = turns * (double)n;
	ok = find(c, o, co, first, together, out, &h);
	/* As often as updates spread evenly are for a place. */
	c->times = times * part * (double)n / (double)o->dim[o->axis];
	if (replaces && ok) {
		PmText *body = c->out;

		c->out = out;
		f_declare_int(c, 'l', last, h.lanes);
		t_add(c, "-1;\n");
		c->out = body;
		take_last(c, first, &h, last);
	}
	if (h.pieces) {
		t_add(c, "}\n_Pragma(\"unroll\") ");
		f_forget(c, mark);
		first = loop(c, n, together);
		h.piece = ix_div(c, first, together);
	}
	ok = ok && (replaces || add(c, o, co, first, together, &h, y) >= 0);
	t_add(c, "}\n");
	f_forget(c, mark);
	append(c, out, h.pieces ? "_Pragma(\"unroll\") " : "");
	c->times = times * part;
	c->turns = turns;
	ok = ok && (!replaces || replace(c, o, co, last, h.lanes, y));
	c->times = times;
	return ok;
}

int f_eval_scatter(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->op[op];
	double part;
	int x, y, mark, ok;
	Ix in[F_RANK];

	if (o->par)
		return f_eval_steps(c, op, co);
	x = f_eval(c, o->in[0], co);
	if (x < 0)
		return x;
	if (c->at_row && c->s->rows)
		return f_fail(c, "the threads of a row would find updates of other rows");
	y = f_new_var(c, o->dtype, (f_deps(c, co, o->rank) & DEP_LANE) != 0);
	f_declare(c, y, NULL);
	f_for_lanes(c, c->var[y].lanes);
	f_ref(c, c->out, y);
	t_add(c, " = ");
	f_ref(c, c->out, x);
	t_add(c, ";\n");
	c->var[y].exact = o->mode & SCATTER_LAST && c->var[x].exact;
	mark = f_mark(c);
	c->branch++;
	part = indexed(c, o, co, in);
	ok = search(c, o, in, part, y);
	t_add(c, part < 1 ? "}\n" : "");
	c->branch--;
	f_forget(c, mark);
	return ok ? y : -1;
}
