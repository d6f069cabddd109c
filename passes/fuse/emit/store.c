/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - the statement that stores a result. */
#include "../fuse.h"

#include "../cost/walk.h"

/* Storing rounds, so that what is rounded for readers need not be rounded again. */
static int unrounded(const Ctx *c, int var)
{
	int before = c->b.nest.var[var].before;

	return before >= 0 && !c->b.nest.var[var].cached && !c->b.nest.var[before].cached ? before : var;
}

void f_store(Ctx *c, int k, Ix at, int var)
{
	const Op *o = &c->g->op[c->arg_out[k]];
	int packed;
	int64_t step;
	Ix base = ix_without_lane(c->ix, at, &step);
	Stmt *s;

	packed = step == 1 && f_is_packed(c, var, o->dtype);
	if (!packed)
		var = unrounded(c, var);
	c->vec_out |= step == 1 ? 1ull << k : 0;
	s = f_emit_to(c, ST_STORE, -1, var);
	s->arg = (int16_t)k;
	c->b.nest.out[k] = (Operand){ o->dtype, f_numel(o) };
	s->dtype = o->dtype;
	s->vec = step == 1;
	s->lanes = step != 0;
	s->packed = (uint8_t)packed;
	s->at = step == 1 ? base : at;
}

int f_is_turned(const Ctx *c, Ix at)
{
	return nest_stride(c->ix, at, DEP_ROW) == 1 && nest_stride(c->ix, at, DEP_CHUNK) > 1;
}

void f_stage(Ctx *c, int k, Ix e, int64_t extent, int var)
{
	const Op *o = &c->g->op[c->arg_out[k]];
	Stmt *s = f_emit_to(c, ST_STAGE, -1, unrounded(c, var));

	s->arg = (int16_t)k;
	c->b.nest.out[k] = (Operand){ o->dtype, f_numel(o) };
	s->dtype = o->dtype;
	s->lanes = c->s->vec > 1;
	s->at = e;
	s->n = extent;
}

void f_drain(Ctx *c, int k, Ix at, int64_t extent, int side_by_side, int first)
{
	Stmt *s = f_emit(c, ST_DRAIN);

	s->arg = (int16_t)k;
	s->dtype = c->g->op[c->arg_out[k]].dtype;
	s->at = at;
	s->n = extent;
	s->vec = (uint8_t)side_by_side;
	s->flag = (uint8_t)first;
	c->vec_out |= side_by_side ? 1ull << k : 0;
}
