/* SPDX-License-Identifier: Apache-2.0 */
/* split.c - rows that many blocks share: one launch for each reduction, and one for the results.
 *
 * Where there are few rows and they are long, a block for each row leaves most of the GPU idle. So each row
 * is cut into as many slices as there should be blocks for it. Launch k reduces slices by reduction k of the
 * section (in the order in which they depend on each other) and leaves one number of each slice in memory;
 * the launches after it begin by joining those numbers, every block for itself and in the same order. Nothing
 * else is stored.
 *
 * Mean and variance, and the maximum and the sum of a softmax, are left by one launch: the second is taken
 * around the slice's own mean or maximum, and moved to that of the row when the slices are joined.
 */
#include "../fuse.h"

/* Blocks for each row when `group` threads of each share it and have at least two turns left. */
static int64_t slices(const Section *s, int64_t group)
{
	const Target *t = f_target();
	int64_t wanted = t->full / (f_groups(s) * group), most = s->extent / f_step(s) / (2 * group);

	wanted = wanted < most ? wanted : most;
	return wanted < 2 * t->is.sm_count ? wanted : 2 * t->is.sm_count;
}

/* A launch for each reduction, or for two, against turns over the row, or against operations that the few
 * blocks take longer for. */
static int is_worth_it(const Section *s, int64_t group, int64_t n)
{
	const Target *t = f_target();
	int64_t before = s->extent / f_step(s) / s->group,
		after = n > 1 ? before * s->group / (group * n) : 0;
	double threads = (double)((f_groups(s) + s->per_block - 1) / s->per_block) * s->block;

	return n > 1 && ((double)(before - after) > t->split_turns ||
			 s->work / t->split_thread_work_per_us * (1 / threads - 1.0 / (double)t->full) >
				 s->n_stages * t->split_launch_us);
}

void f_split(Ctx *c, Section *s)
{
	int64_t group = s->column ? 8 : 512, n;

	s->split = 0;
	if (c->sums || s->tail || c->n_sections > 1 || !s->n_reds || s->n_reds > F_SPLITS ||
	    (!s->column && s->group <= 32))
		return;
	/* Few blocks of many threads leave more of the GPU idle than many of few. */
	while (!s->column && group > 128 && slices(s, group) * s->rows < f_target()->is.sm_count)
		group /= 2;
	if (c->other)
		group /= 2;
	n = slices(s, group);
	if (!is_worth_it(s, group, n))
		return;
	s->split = (int)n;
	s->group = (int)group;
	s->per_block = s->column ? 32 : 1;
	s->block = s->per_block * s->group;
}

int f_first_of(const Ctx *c, const Op *o)
{
	const Op *e = &c->g->op[o->in[0]], *off, *first;
	int mean = o->red == RED_MEAN;

	if ((!mean && o->red != RED_SUM) || e->kind != OP_EW || e->val.id ||
	    !f_is(e->expr, mean ? "a * a" : "exp(a)"))
		return 0;
	off = &c->g->op[e->in[0]];
	if (off->kind != OP_EW || off->val.id || !f_is(off->expr, "a - b"))
		return 0;
	first = &c->g->op[off->in[1]];
	return first->kind == OP_REDUCE && !first->val.id && first->red == (mean ? RED_MEAN : RED_MAX) &&
			       first->axis == o->axis && first->in[0] == off->in[0]
		       ? off->in[1]
		       : 0;
}

int f_stage_of(Ctx *c, int op, int number)
{
	int first = c->g->op[op].kind == OP_REDUCE ? f_first_of(c, &c->g->op[op]) : 0, stage = number;

	if (number >= F_SPLITS)
		return number;
	if (number > 0)
		stage = c->b.red[number - 1].stage + !(first && c->b.red[number - 1].op == first);
	c->b.red[number] = (Reduced){ op, stage, -1 };
	c->s->n_stages = stage + 1;
	return stage;
}

static Stmt *of_parts(Ctx *c, StmtKind kind, const Op *o, int acc, int number, int64_t n)
{
	Stmt *s = f_emit_to(c, kind, acc, -1);

	s->how = o->red;
	s->n = number;
	s->m = n;
	s->lanes = (uint8_t)c->s->wide;
	return s;
}

void f_join_parts(Ctx *c, const Op *o, int acc, int number, int64_t n)
{
	if (number && c->b.red[number].stage == c->b.red[number - 1].stage)
		of_parts(c, ST_MOVED, o, acc, number, n)->from[0] = f_ref(c, c->b.red[number - 1].var);
	else
		of_parts(c, ST_JOIN, o, acc, number, n);
}

void f_leave_part(Ctx *c, const Op *o, int acc, int number, int64_t n)
{
	of_parts(c, ST_LEAVE, o, acc, number, n)->from[0] = f_ref(c, acc);
	f_emit(c, ST_NEXT);
	if (!number || c->b.red[number].stage != c->b.red[number - 1].stage)
		f_emit(c, ST_SLICE_N)->m = n;
}

int f_stages(const Ctx *c)
{
	return c->section[0].split ? c->section[0].n_stages + 1 : 1;
}

int64_t f_scratch(const Ctx *c)
{
	const Section *s = &c->section[0];

	return s->split ? 8 * s->n_reds * s->split * s->rows : 0;
}
