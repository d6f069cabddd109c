/* SPDX-License-Identifier: Apache-2.0 */
/* eval_scatter.c - scatters seen from the result: a thread goes through the indices of its line, some of them
 * at once, and adds the updates that name its place, in their order and in the type of sums, or takes the
 * last of them. */
#include "../fuse.h"

enum { MOST = 32 /* indices looked at together */, FEW = 4 /* pieces whose hits are kept */ };

/* i, or the last place where that is none. */
static Ix at_most(Ctx *c, Ix i, int64_t n)
{
	return c->ix->lin[i].hi < n ? i : f_made_index(c, i, INDEX_NEAREST, n, n - 1);
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

/* A statement about these bits. */
static Stmt *about(Ctx *c, StmtKind kind, const Hits *h)
{
	Stmt *s = f_emit(c, kind);

	s->arg = (int16_t)h->name;
	s->lanes = (uint8_t)h->lanes;
	s->lane = h->pieces ? h->piece : -1;
	return s;
}

static void declare_hits(Ctx *c, Hits *h, int lanes)
{
	h->name = c->b.n_names++;
	h->lanes = lanes && c->s->vec > 1;
	about(c, ST_HITS, h)->n = h->pieces;
}

/* Sets bit k where update i, that index says, is for `here`. */
static void look(Ctx *c, const Hits *h, int index, Ix i, int64_t n, Ix here, int64_t extent, int k)
{
	Stmt *s = about(c, ST_LOOK, h);

	s->at = i;
	s->n = c->ix->lin[i].hi >= n ? n : 0;
	s->from[0] = f_ref(c, index);
	s->base = h->near ? h->base : here;
	s->flag = (uint8_t)h->near;
	s->m = extent;
	s->o = k;
}

/* The coordinates of index i for a result at co. */
static void index_at(Ctx *c, const Op *o, const Ix *co, Ix i, Ix *at)
{
	int d;

	for (d = 0; d < c->g->op[o->in[1]].rank; d++)
		at[d] = o->mode & SCATTER_TUPLES ? ix_const(c->ix, 0) : co[d];
	at[o->axis] = i;
}

/* The bits of the updates from `first` on. Where a thread has several places they are found for all of a few
 * pieces before anything is done about them, and declared in `outer`: what is added waits for memory. */
static int find(Ctx *c, const Op *o, const Ix *co, Ix first, int together, Block *outer, Hits *h)
{
	int64_t n = c->g->op[o->in[1]].dim[o->axis], extent = o->dim[o->axis], step, pieces;
	int k, v[MOST] = { 0 }, apart = (c->ix->lin[co[o->axis]].deps & DEP_LANE) != 0;
	Block *out = c->b.out;
	Ix at[F_RANK];

	for (k = 0; k < together; k++) {
		index_at(c, o, co, at_most(c, ix_plus(c->ix, first, k), n), at);
		v[k] = f_eval(c, o->in[1], at);
		if (v[k] < 0)
			return 0;
	}
	h->base = ix_without_lane(c->ix, co[o->axis], &step);
	h->near = step == 1 && !c->b.nest.var[v[0]].lanes && !(o->mode & SCATTER_LAST);
	apart = (c->b.nest.var[v[0]].lanes || apart) && !h->near && c->s->vec > 1;
	pieces = (n + together - 1) / together;
	if (c->s->turned && !apart && pieces > 1 && pieces <= FEW && !(o->mode & SCATTER_LAST)) {
		h->pieces = (int)pieces;
		h->piece = ix_div(c->ix, first, together);
		c->b.out = outer;
	}
	declare_hits(c, h, apart);
	c->b.out = out;
	for (k = 0; k < together; k++)
		look(c, h, v[k], ix_plus(c->ix, first, k), n, co[o->axis], extent, k);
	return 1;
}

/* The loop over the bits that are set, which runs `times` times in the mean, and its index. */
static Ix each_bit(Ctx *c, const Hits *h, int together, double times)
{
	int rest = c->b.n_names++;
	Stmt *s = about(c, ST_BITS, h);

	s->n = rest;
	s->part = times;
	s->def = f_new_index(c, 'i', together - 1, DEP_WIN | DEP_HERE, 0);
	f_open(c, s);
	return s->def;
}

/* The lane whose place index i names. */
static Ix whose(Ctx *c, const Op *o, const Ix *co, Ix i, const Hits *h)
{
	Ix at[F_RANK], lane = f_new_index(c, 'l', c->s->vec - 1, DEP_HERE, 0);
	int v;
	Stmt *s;

	index_at(c, o, co, i, at);
	v = f_eval(c, o->in[1], at);
	if (v < 0)
		return lane;
	s = f_emit_to(c, ST_WHOSE, -1, v);
	s->def = lane;
	s->n = o->dim[o->axis];
	s->at = h->base;
	return lane;
}

/* Adds what was found, in order. */
static int add(Ctx *c, const Op *o, const Ix *co, Ix first, int together, const Hits *h, int acc)
{
	int64_t n = c->g->op[o->in[1]].dim[o->axis];
	Block *out = c->b.out;
	int d, u;
	Hits any = *h;
	Ix at[F_RANK], bit, lane = -1;
	Stmt *s;

	if (h->lanes) {
		declare_hits(c, &any, 0);
		about(c, ST_JOIN_HITS, &any)->n = h->name;
	}
	/* As often as updates spread evenly are for a place. */
	bit = each_bit(c, &any, together, (double)together / (double)o->dim[o->axis]);
	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = at_most(c, ix_add(c->ix, first, bit), n);
	if (h->near)
		lane = whose(c, o, co, at[o->axis], h);
	u = f_eval(c, o->in[2], at);
	if (u < 0 || c->fail)
		return -1;
	s = about(c, ST_UPDATE, h);
	s->to = (int16_t)acc;
	s->from[0] = f_ref(c, u);
	s->how = h->near ? UPDATE_LANE : h->lanes ? UPDATE_BIT : UPDATE_ALL;
	s->lanes = c->b.nest.var[acc].lanes;
	s->flag = (uint8_t)h->lanes;
	s->at = bit;
	s->base = lane;
	f_close(c, out);
	return acc;
}

/* Opens a branch where there are fewer lines of indices than places, and gives the coordinates inside it. */
static void indexed(Ctx *c, const Op *o, const Ix *co, Ix *in)
{
	const Op *u = &c->g->op[o->in[2]];
	Stmt *s = NULL;
	int d;

	for (d = 0; d < o->rank; d++)
		if (d != o->axis && c->ix->lin[co[d]].hi >= u->dim[d]) {
			s = s ? s : f_emit(c, ST_IF);
			f_when_below(c, s, co[d], u->dim[d]);
			s->part *= (double)u->dim[d] / (double)o->dim[d];
		}
	if (s)
		f_open(c, s);
	for (d = 0; d < o->rank; d++)
		in[d] = d == o->axis ? co[d] : f_confine(c, co[d], u->dim[d] - 1);
}

/* The last update so far: `last` becomes the highest of the bits, where there is one. */
static void take_last(Ctx *c, Ix first, const Hits *h, Ix last)
{
	Stmt *s = about(c, ST_LATEST, h);

	s->at = first;
	s->base = last;
}

/* y becomes the update that `last` says, if there is one. Without an update the first one is read. */
static int replace(Ctx *c, const Op *o, const Ix *co, Ix last, int lanes, int y)
{
	int64_t n = c->g->op[o->in[1]].dim[o->axis];
	int d, u;
	Ix at[F_RANK];
	Stmt *s;

	for (d = 0; d < o->rank; d++)
		at[d] = co[d];
	at[o->axis] = f_new_index(c, INDEX_MADE, n - 1, DEP_HERE | (lanes ? DEP_LANE : 0), lanes);
	s = f_emit(c, ST_INDEX);
	s->def = at[o->axis];
	s->at = last;
	s->how = INDEX_FROM_ZERO;
	u = f_eval(c, o->in[2], at);
	if (u < 0)
		return 0;
	c->b.nest.var[y].exact &= c->b.nest.var[u].exact;
	s = f_emit_to(c, ST_REPLACE, y, u);
	s->at = last;
	s->flag = (uint8_t)lanes;
	return 1;
}

/* The index of the last update, none yet, in `outer`: it outlives a turn, and is declared when it is known
 * whether lanes differ. */
static Ix no_update(Ctx *c, int64_t n, int lanes, Block *outer)
{
	Block *body = c->b.out;
	Stmt *s;

	c->b.out = outer;
	s = f_emit(c, ST_INDEX);
	s->def = f_new_index(c, 'l', n - 1, DEP_HERE | (lanes ? DEP_LANE : 0), lanes);
	s->how = INDEX_NONE;
	c->b.out = body;
	return s->def;
}

/* All turns of looking, and what is done about the updates found. Statements that come up meanwhile in front
 * of the loop are there before it is. */
static int search(Ctx *c, const Op *o, const Ix *co, int y)
{
	int64_t n = c->g->op[o->in[1]].dim[o->axis];
	int together = at_once(n), replaces = o->mode & SCATTER_LAST, mark = f_mark(c), ok;
	Block *out = c->b.out, *loops, *around;
	Hits h = { 0 };
	Ix first, last = 0;

	if (c->b.depth == F_DEPTH)
		return f_fail(c, "it has loops in loops in loops") + 1;
	c->b.depth++;
	f_open(c, NULL);
	first = f_for(c, FOR_LOOK, n, together, &around);
	ok = find(c, o, co, first, together, out, &h);
	if (replaces && ok) {
		last = no_update(c, n, h.lanes, out);
		take_last(c, first, &h, last);
	}
	if (h.pieces) {
		f_close(c, around);
		around->last->unroll = 1;
		f_forget(c, mark);
		first = f_for(c, FOR_FOUND, n, together, &around);
		h.piece = ix_div(c->ix, first, together);
	}
	ok = ok && (replaces || add(c, o, co, first, together, &h, y) >= 0);
	f_forget(c, mark);
	c->b.depth--;
	loops = around;
	f_close(c, out);
	f_append(c, loops);
	ok = ok && (!replaces || replace(c, o, co, last, h.lanes, y));
	return ok;
}

int f_eval_scatter(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	int x, y, mark, ok;
	Block *out = c->b.out;
	Ix in[F_RANK];

	if (o->par)
		return f_eval_steps(c, op, co);
	x = f_eval(c, o->in[0], co);
	if (x < 0)
		return x;
	if (c->b.at_row && c->s->rows)
		return f_fail(c, "the threads of a row would find updates of other rows");
	y = f_new_var(c, o->dtype, (f_deps(c, co, o->rank) & DEP_LANE) != 0);
	f_begin(c, y, START_NONE);
	f_emit_to(c, ST_MOVE, y, x);
	c->b.nest.var[y].exact = o->mode & SCATTER_LAST && c->b.nest.var[x].exact;
	mark = f_mark(c);
	c->b.branch++;
	indexed(c, o, co, in);
	ok = search(c, o, in, y);
	f_close(c, out);
	c->b.branch--;
	f_forget(c, mark);
	return ok ? y : -1;
}
