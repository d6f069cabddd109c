/* SPDX-License-Identifier: Apache-2.0 */
/* section.c - the statements of a section: its loops, and the results that they store. */
#include "../fuse.h"

#include "../cost/walk.h"

/* What has been counted becomes the section's. */
static void take(Section *s, Cost k)
{
	s->bytes = k.bytes;
	s->spread = k.spread;
	s->lines = k.lines;
	s->apart = k.apart;
	s->work = k.work;
	s->across = k.across;
	s->along = k.along;
	s->serial = k.serial;
	s->looks = k.looks;
	s->fast_m = k.fast_m;
	s->fast_n = k.fast_n;
	s->cached = k.cached;
	s->lane_loads = k.lane_loads;
	s->syncs = k.syncs;
}

void f_clear(Ctx *c, Section *s)
{
	const Tile *t = &s->tile;

	ix_reset(c->ix);
	nest_reset(&c->b.nest);
	c->s = s;
	c->b.nest.shape = (Shape){ .rows = s->rows,
				   .vec = s->vec,
				   .wide = s->wide,
				   .group = s->group,
				   .per_block = s->per_block,
				   .block = s->block,
				   .column = s->column,
				   .keep = c->keep,
				   .hold = s->hold,
				   .split = s->split,
				   .dot = s->dot != 0,
				   .tile_rows = t->rows,
				   .tile_cols = t->cols,
				   .warps = t->warps,
				   .down = s->down };
	c->ix->vec = s->vec;
	c->b.out = c->b.row = &c->b.nest.rows;
	c->b.n_memo = c->b.memo_base = c->b.n_row = c->b.n_seen = 0;
	c->b.n_names = 0;
	c->b.at_row = c->b.branch = c->b.reducing = c->b.singly = c->b.depth = c->b.tail = c->b.trial = 0;
	c->b.loop_now = -1;
	c->b.read = 0;
	c->b.n_reds = 0;
	take(s, (Cost){ 0 });
	c->ix->lane = s->vec > 1 ? ix_var(c->ix, "j", s->vec - 1, DEP_LANE, 0) : ix_const(c->ix, 0);
	c->b.nest.row = ix_var(c->ix, "r", s->rows > 0 ? f_groups(s) - 1 : 0, DEP_ROW, 0);
	if (s->wide)
		c->b.nest.row = ix_add(c->ix, ix_scale(c->ix, c->b.nest.row, s->vec), c->ix->lane);
}

int64_t f_rows_of(const Op *o, uint32_t axes)
{
	int64_t n = 1;
	int d;

	for (d = 0; d < o->rank; d++)
		if (axes >> d & 1)
			n *= o->dim[d];
	return n;
}

/* ---- loops ---- */

static int loop_class(Ctx *c, int64_t extent)
{
	char name[12] = "m";
	PmText t = { name, 1, sizeof name, 0 };
	int i;

	for (i = 0; i < c->b.nest.n_loops; i++)
		if (c->b.nest.loop[i].extent == extent)
			return i;
	if (c->b.nest.n_loops == F_LOOPS) {
		f_fail(c, "its rows have too many different lengths");
		return 0;
	}
	pm_text_int(&t, i);
	name[t.n] = 0;
	c->b.nest.loop[i].extent = extent;
	c->b.nest.loop[i].tail = c->s->tail ? extent / f_step(c->s) % c->s->group * f_step(c->s) : 0;
	c->b.nest.loop[i].chunk = ix_var(c->ix, name, extent / f_step(c->s) - 1, DEP_CHUNK, 0);
	if (extent > c->s->extent)
		c->s->extent = extent;
	return c->b.nest.n_loops++;
}

/* What is written from here on is the body of a loop of class k (-1: of none). */
static void enter(Ctx *c, int k)
{
	c->b.memo_base = c->b.n_memo;
	c->b.at_row = c->b.branch = 0;
	c->b.loop_now = k;
	f_open(c, NULL);
}

static LoopState state_now(const Ctx *c, int loop)
{
	return (LoopState){ c->b.out,      c->b.at_row, c->b.memo_base, c->b.n_memo, c->b.branch,
			    c->b.loop_now, loop };
}

Ix f_loop_begin(Ctx *c, int64_t extent, LoopState *st)
{
	int k;

	*st = state_now(c, 0);
	if (c->b.depth == F_DEPTH || extent % f_step(c->s)) {
		f_fail(c,
		       extent % f_step(c->s) ? "lanes go different ways" : "it has loops in loops in loops");
		return 0;
	}
	k = loop_class(c, extent);
	st->loop = k;
	c->b.depth++;
	enter(c, k);
	if (c->fail || c->s->wide)
		return c->fail ? 0 : c->b.nest.loop[k].chunk;
	return ix_add(c->ix, ix_scale(c->ix, c->b.nest.loop[k].chunk, c->s->vec), c->ix->lane);
}

static void restore(Ctx *c, const LoopState *st)
{
	c->b.out = st->out;
	c->b.at_row = st->at_row;
	c->b.n_memo = st->n_memo;
	c->b.memo_base = st->memo_base;
	c->b.branch = st->branch;
	c->b.loop_now = st->loop_now;
}

void f_loop_drop(Ctx *c, const LoopState *st)
{
	c->b.depth--;
	restore(c, st);
}

void f_loop_end(Ctx *c, LoopState *st)
{
	Block *body = c->b.out;
	Stmt *s;
	int i;

	c->b.depth--;
	for (i = c->b.memo_base; i < c->b.n_memo && c->b.n_seen < F_SEEN; i++)
		if (c->b.memo[i].op >= 0 && c->b.nest.var[c->b.memo[i].var].loop == st->loop &&
		    !c->b.nest.var[c->b.memo[i].var].cached) {
			c->b.seen[c->b.n_seen++] = c->b.memo[i];
			c->b.nest.var[c->b.memo[i].var].cached = 1;
		}
	restore(c, st);
	s = f_emit(c, ST_ROWS);
	s->n = st->loop;
	s->body = body;
}

Ix f_tail_begin(Ctx *c, int loop, LoopState *st)
{
	int64_t n = c->b.nest.loop[loop].tail;
	Stmt *s;

	*st = state_now(c, loop);
	c->b.out = &c->b.nest.decl;
	s = f_emit(c, ST_TAIL_PLACE);
	s->def = f_new_index(c, 'u', n - 1, DEP_CHUNK, 0);
	s->n = n;
	c->b.tail = 1;
	enter(c, -1);
	return ix_plus(c->ix, s->def, c->b.nest.loop[loop].extent - n);
}

void f_tail_end(Ctx *c, const LoopState *st)
{
	Block *body = c->b.out;
	Stmt *s;

	c->b.tail = 0;
	restore(c, st);
	s = f_emit(c, ST_TAIL);
	s->n = c->b.nest.loop[st->loop].tail;
	s->body = body;
}

/* ---- results ---- */

/* Coordinates of result i of the section at row and place. */
static Ix result_at(Ctx *c, int i, Ix row, Ix e, Ix *co)
{
	const Op *o = &c->g->op[c->arg_out[c->s->out[i]]], *as = &c->g->op[c->s->shape[i]];
	int64_t rdim[F_RANK], edim[F_RANK];
	Ix rco[F_RANK], eco[F_RANK], flat;
	int cut = c->s->cut - 1, d, nr = 0, ne = 0;

	for (d = 0; d < as->rank; d++) {
		if (c->s->axes[i] >> d & 1)
			rdim[nr++] = d == cut ? as->dim[d] / c->s->piece : as->dim[d];
		else
			edim[ne++] = as->dim[d];
	}
	if (cut >= 0)
		edim[ne++] = c->s->piece;
	ix_unflat(c->ix, row, rdim, nr, rco);
	ix_unflat(c->ix, e, edim, ne, eco);
	for (d = nr = ne = 0; d < as->rank; d++)
		co[d] = c->s->axes[i] >> d & 1 ? rco[nr++] : eco[ne++];
	if (cut >= 0)
		co[cut] = ix_add(c->ix, ix_scale(c->ix, co[cut], c->s->piece), eco[0]);
	flat = ix_flat(c->ix, co, as->dim, as->rank);
	if (c->s->shape[i] != c->arg_out[c->s->out[i]])
		ix_unflat(c->ix, flat, o->dim, o->rank, co);
	return flat;
}

static int64_t result_extent(const Ctx *c, int i)
{
	return f_numel(&c->g->op[c->s->shape[i]]) / (c->s->rows ? c->s->rows : 1);
}

int f_along(const Ctx *c)
{
	int i, n = 0;

	for (i = 0; i < c->s->n_out; i++)
		n += result_extent(c, i) > 1;
	return n;
}

/* The conditions under which a thread stores: bits of CondKind. */
static void write_result(Ctx *c, int i, Ix e, uint32_t guard)
{
	Ix co[F_RANK], at = result_at(c, i, c->b.nest.row, e, co);
	int var = f_eval(c, c->arg_out[c->s->out[i]], co), k;
	Block *out = c->b.out;
	Stmt *s;

	if (var < 0)
		return;
	if (guard) {
		s = f_emit(c, ST_IF);
		for (k = COND_IN; k <= COND_FIRST_PART; k++)
			if (guard >> k & 1)
				f_when(c, s, (CondKind)k, -1, 0);
		f_open(c, s);
	}
	if (c->s->stage && c->b.loop_now >= 0 && f_is_turned(c, at))
		f_stage(c, c->s->out[i], e, result_extent(c, i), var);
	else
		f_store(c, c->s->out[i], at, var);
	f_close(c, out);
}

/* Whether the rows of a warp lie side by side in result i, and are stored by one access. */
static int is_side_by_side(const Ctx *c, int i)
{
	enum { ACCESS_BYTES = 16 };
	const Op *o = &c->g->op[c->arg_out[c->s->out[i]]], *as = &c->g->op[c->s->shape[i]];
	int64_t rows = 32 / c->s->group;

	return rows > 1 && rows * (int64_t)pm_dtype_bytes(o->dtype) <= ACCESS_BYTES &&
	       c->s->axes[i] >> (as->rank - 1) & 1 && as->dim[as->rank - 1] % rows == 0;
}

/* Behind the loop: its results that are in shared memory. */
static void drain_results(Ctx *c, int64_t extent)
{
	Ix co[F_RANK], e = ix_var(c->ix, "d", extent - 1, DEP_CHUNK, 0);
	int i, first = 1;

	for (i = 0; i < c->s->n_out && !c->fail; i++) {
		Ix at = result_extent(c, i) == extent ? result_at(c, i, c->b.nest.row, e, co) : -1;

		if (at < 0 || !f_is_turned(c, at))
			continue;
		f_drain(c, c->s->out[i], at, extent, is_side_by_side(c, i), first);
		first = 0;
	}
}

/* A result of one element for each row. */
static void row_results(Ctx *c)
{
	const uint32_t one = 1u << COND_LIVE | 1u << COND_FIRST;
	int i;

	for (i = 0; i < c->s->n_out && !c->fail; i++)
		if (result_extent(c, i) == 1) {
			write_result(c, i, ix_const(c->ix, 0),
				     c->s->split ? one | 1u << COND_FIRST_PART : one);
		}
}

/* All results of `extent` elements for each row, in one loop. */
static void one_loop(Ctx *c, int64_t extent, LoopState *st)
{
	Ix e = f_loop_begin(c, extent, st);
	int i;

	for (i = 0; i < c->s->n_out && !c->fail; i++)
		if (result_extent(c, i) == extent)
			write_result(c, i, e,
				     nest_is_open(&c->b.nest, st->loop) ? 1u << COND_IN | 1u << COND_LIVE
				     : c->s->per_block > 1              ? 1u << COND_LIVE
									: 0);
}

/* Built twice: the first time only for the row's part, the loops of the reductions; then values of those
 * loops are at hand for all results. */
static void loop_results(Ctx *c)
{
	int i, j;

	for (i = 0; i < c->s->n_out && !c->fail; i++) {
		int64_t extent = result_extent(c, i);
		LoopState st;

		for (j = 0; j < i && result_extent(c, j) != extent; j++)
			;
		if (extent == 1 || j < i)
			continue;
		c->b.trial = 1;
		one_loop(c, extent, &st);
		c->b.trial = 0;
		if (c->fail)
			return;
		f_loop_drop(c, &st);
		one_loop(c, extent, &st);
		if (!c->fail)
			f_loop_end(c, &st);
		if (!c->fail && c->s->stage)
			drain_results(c, extent);
	}
}

/* The element of thread m's lane: lanes lie along one axis, threads by up to 32 along those behind it, then
 * along that axis, so that a block has many places and few lines. */
static Ix turned_place(Ctx *c, const Op *o, Ix m)
{
	int axis = c->s->turned - 1, d;
	int64_t inner = 1, side, along = o->dim[axis] / c->s->vec;
	Ix i, e;

	for (d = axis + 1; d < o->rank; d++)
		inner *= o->dim[d];
	side = inner % 32 ? inner : 32;
	i = ix_mod(c->ix, ix_div(c->ix, m, side), along);
	e = ix_add(c->ix, ix_scale(c->ix, ix_div(c->ix, m, inner * along), o->dim[axis]),
		   ix_add(c->ix, ix_scale(c->ix, i, c->s->vec), c->ix->lane));
	i = ix_mod(c->ix, ix_div(c->ix, m, side * along), inner / side);
	i = ix_add(c->ix, ix_scale(c->ix, i, side), ix_mod(c->ix, m, side));
	return ix_add(c->ix, ix_scale(c->ix, e, inner), i);
}

/* Every element by itself: the body of one big loop over the grid. */
static void plain_results(Ctx *c)
{
	const Op *o = &c->g->op[c->s->shape[0]];
	int64_t extent = result_extent(c, 0);
	Ix m, e;
	int i;

	if ((c->s->turned ? o->dim[c->s->turned - 1] : extent) % c->s->vec) {
		f_fail(c, "lanes go different ways");
		return;
	}
	c->s->extent = extent;
	c->b.nest.elements = (double)(extent / c->s->vec);
	c->b.out = &c->b.nest.body;
	m = ix_var(c->ix, "m", extent / c->s->vec - 1, DEP_CHUNK, 0);
	e = c->s->turned ? turned_place(c, o, m) : ix_add(c->ix, ix_scale(c->ix, m, c->s->vec), c->ix->lane);
	for (i = 0; i < c->s->n_out && !c->fail; i++)
		write_result(c, i, e, 0);
}

static int build_once(Ctx *c, Section *s)
{
	f_clear(c, s);
	f_start_orders(c);
	if (s->dot && !f_factors(c, s))
		return 0;
	if (s->dot && !s->rows) {
		f_product_results(c);
	} else if (s->rows) {
		s->extent = 1;
		row_results(c);
		loop_results(c);
		s->n_reds = c->b.n_reds;
	} else {
		plain_results(c);
	}
	if (!c->fail)
		take(s, nest_cost(&c->b.nest, f_target()));
	return !c->fail;
}

int f_build(Ctx *c, Section *s)
{
	double across, along;
	int done;

	f_forget_orders(c);
	done = build_once(c, s);
	across = s->across;
	along = s->along;
	while (done && f_settle_orders(c)) {
		done = build_once(c, s);
		/* What is taken from a loop is not read, but lies as it did where it was. */
		s->across = across;
		s->along = along;
	}
	return done;
}
