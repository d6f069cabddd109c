/* SPDX-License-Identifier: Apache-2.0 */
/* section.c - the statements of a section: its loops, and the results that they store. */
#include "fuse.h"

void f_clear(Ctx *c, Section *s)
{
	ix_reset(c);
	c->s = s;
	c->n_memo = c->memo_base = c->n_row = c->n_seen = 0;
	c->n_vars = c->n_names = c->n_loops = 0;
	f_nest_reset(c);
	c->at_row = c->branch = c->reducing = c->singly = c->depth = c->trial = 0;
	c->loop_now = -1;
	c->times = c->turns = 1;
	s->bytes = s->spread = s->work = 0;
	c->read = 0;
	s->cached = s->lane_loads = s->syncs = c->n_reds = 0;
	s->across = s->along = s->serial = s->looks = 0;
	c->ix_lane = s->vec > 1 ? ix_var(c, "j", s->vec - 1, DEP_LANE, 0) : ix_const(c, 0);
	c->ix_row = ix_var(c, "r", s->rows > 0 ? f_groups(s) - 1 : 0, DEP_ROW, 0);
	if (s->wide)
		c->ix_row = ix_add(c, ix_scale(c, c->ix_row, s->vec), c->ix_lane);
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

	for (i = 0; i < c->n_loops; i++)
		if (c->loop[i].extent == extent)
			return i;
	if (c->n_loops == F_LOOPS) {
		f_fail(c, "its rows have too many different lengths");
		return 0;
	}
	pm_text_int(&t, i);
	name[t.n] = 0;
	c->loop[i].extent = extent;
	c->loop[i].chunk = ix_var(c, name, extent / f_step(c->s) - 1, DEP_CHUNK, 0);
	if (extent > c->s->extent)
		c->s->extent = extent;
	return c->n_loops++;
}

Ix f_loop_begin(Ctx *c, int64_t extent, LoopState *st)
{
	int k;

	*st = (LoopState){ c->out, c->at_row, c->memo_base, c->n_memo, c->branch, c->loop_now, 0, c->times };
	if (c->depth == F_DEPTH || extent % f_step(c->s)) {
		f_fail(c,
		       extent % f_step(c->s) ? "lanes go different ways" : "it has loops in loops in loops");
		return 0;
	}
	k = loop_class(c, extent);
	st->loop = k;
	c->memo_base = c->n_memo;
	c->at_row = c->branch = 0;
	c->loop_now = k;
	c->times = (double)(c->s->rows ? f_groups(c->s) : 1) * (double)(extent / f_step(c->s));
	c->depth++;
	f_open(c, NULL);
	if (c->fail || c->s->wide)
		return c->fail ? 0 : c->loop[k].chunk;
	return ix_add(c, ix_scale(c, c->loop[k].chunk, c->s->vec), c->ix_lane);
}

int64_t f_turns(const Ctx *c, int k)
{
	int64_t width = c->s->group * (c->s->split ? c->s->split : 1);

	return (c->loop[k].extent / f_step(c->s) + width - 1) / width;
}

int f_unrolled(const Ctx *c, int k)
{
	return c->keep || c->s->hold || f_turns(c, k) <= F_TURNS;
}

int f_is_open(const Ctx *c, int k)
{
	int64_t chunks = c->loop[k].extent / f_step(c->s), turns = f_turns(c, k);

	return turns > F_TURNS && turns * c->s->group * (c->s->split ? c->s->split : 1) != chunks;
}

static void restore(Ctx *c, const LoopState *st)
{
	c->out = st->out;
	c->at_row = st->at_row;
	c->n_memo = st->n_memo;
	c->memo_base = st->memo_base;
	c->branch = st->branch;
	c->loop_now = st->loop_now;
	c->times = st->times;
}

void f_loop_drop(Ctx *c, const LoopState *st)
{
	c->depth--;
	restore(c, st);
}

void f_loop_end(Ctx *c, LoopState *st)
{
	Block *body = c->out;
	Stmt *s;
	int i;

	c->depth--;
	for (i = c->memo_base; i < c->n_memo && c->n_seen < F_SEEN; i++)
		if (c->memo[i].op >= 0 && c->var[c->memo[i].var].loop == st->loop &&
		    !c->var[c->memo[i].var].cached) {
			c->seen[c->n_seen++] = c->memo[i];
			c->var[c->memo[i].var].cached = 1;
		}
	restore(c, st);
	s = f_emit(c, ST_ROWS);
	s->n = st->loop;
	s->body = body;
}

/* ---- results ---- */

/* Coordinates of result i of the section at row and place. */
static Ix result_at(Ctx *c, int i, Ix row, Ix e, Ix *co)
{
	const Op *o = &c->op[c->arg_out[c->s->out[i]]], *as = &c->op[c->s->shape[i]];
	int64_t rdim[F_RANK], edim[F_RANK];
	Ix rco[F_RANK], eco[F_RANK], flat;
	int d, nr = 0, ne = 0;

	for (d = 0; d < as->rank; d++) {
		if (c->s->axes[i] >> d & 1)
			rdim[nr++] = as->dim[d];
		else
			edim[ne++] = as->dim[d];
	}
	ix_unflat(c, row, rdim, nr, rco);
	ix_unflat(c, e, edim, ne, eco);
	for (d = nr = ne = 0; d < as->rank; d++)
		co[d] = c->s->axes[i] >> d & 1 ? rco[nr++] : eco[ne++];
	flat = ix_flat(c, co, as->dim, as->rank);
	if (c->s->shape[i] != c->arg_out[c->s->out[i]])
		ix_unflat(c, flat, o->dim, o->rank, co);
	return flat;
}

static int64_t result_extent(const Ctx *c, int i)
{
	const Op *as = &c->op[c->s->shape[i]];

	return f_numel(as) / (c->s->rows ? f_rows_of(as, c->s->axes[i]) : 1);
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
	Ix co[F_RANK], at = result_at(c, i, c->ix_row, e, co);
	int var = f_eval(c, c->arg_out[c->s->out[i]], co), k;
	Block *out = c->out;
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
	f_store(c, c->s->out[i], at, var);
	f_close(c, out);
}

/* A result of one element for each row. */
static void row_results(Ctx *c)
{
	const uint32_t one = 1u << COND_LIVE | 1u << COND_FIRST;
	int i;

	for (i = 0; i < c->s->n_out && !c->fail; i++)
		if (result_extent(c, i) == 1) {
			c->times = (double)f_groups(c->s);
			write_result(c, i, ix_const(c, 0), c->s->split ? one | 1u << COND_FIRST_PART : one);
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
				     f_is_open(c, st->loop) ? 1u << COND_IN | 1u << COND_LIVE
				     : c->s->per_block > 1  ? 1u << COND_LIVE
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
		c->trial = 1;
		one_loop(c, extent, &st);
		c->trial = 0;
		if (c->fail)
			return;
		f_loop_drop(c, &st);
		one_loop(c, extent, &st);
		if (!c->fail)
			f_loop_end(c, &st);
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
	i = ix_mod(c, ix_div(c, m, side), along);
	e = ix_add(c, ix_scale(c, ix_div(c, m, inner * along), o->dim[axis]),
		   ix_add(c, ix_scale(c, i, c->s->vec), c->ix_lane));
	i = ix_mod(c, ix_div(c, m, side * along), inner / side);
	i = ix_add(c, ix_scale(c, i, side), ix_mod(c, m, side));
	return ix_add(c, ix_scale(c, e, inner), i);
}

/* Every element by itself: the body of one big loop over the grid. */
static void plain_results(Ctx *c)
{
	const Op *o = &c->op[c->s->shape[0]];
	int64_t extent = result_extent(c, 0);
	Ix m, e;
	int i;

	if ((c->s->turned ? o->dim[c->s->turned - 1] : extent) % c->s->vec) {
		f_fail(c, "lanes go different ways");
		return;
	}
	c->s->extent = extent;
	c->times = (double)(extent / c->s->vec);
	c->out = &c->body;
	m = ix_var(c, "m", extent / c->s->vec - 1, DEP_CHUNK, 0);
	e = c->s->turned ? turned_place(c, o, m) : ix_add(c, ix_scale(c, m, c->s->vec), c->ix_lane);
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
		s->n_reds = c->n_reds;
	} else {
		plain_results(c);
	}
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
