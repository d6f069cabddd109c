/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - the statement that stores a result. */
#include "../fuse.h"

void f_store(Ctx *c, int k, Ix at, int var)
{
	const Op *o = &c->g->op[c->arg_out[k]];
	int before = c->b.nest.var[var].before, packed;
	int64_t step;
	Ix base = ix_without_lane(c->ix, at, &step);
	Stmt *s;

	packed = step == 1 && f_is_packed(c, var, o->dtype);
	/* Storing rounds, so that what is rounded for readers need not be rounded again. */
	if (!packed && before >= 0 && !c->b.nest.var[var].cached && !c->b.nest.var[before].cached)
		var = before;
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
