/* SPDX-License-Identifier: Apache-2.0 */
/* scatter.c - microseconds that the eager run's scatters take: looking for updates, or sorting them
 * (include/passmith/scatter.h). */
#include "../fuse.h"

/* Whether neighbours along the axis lie beside each other: what is behind it is one element. */
static int is_last(const Op *o)
{
	int d = o->rank - 1;

	while (d > o->axis && o->dim[d] == 1)
		d--;
	return d == o->axis;
}

/* Whether all lines have the same indices: these were repeated across the lines. The node that does so may
 * not be part of the graph here. */
static int repeats(const Ctx *c, const Op *o)
{
	PmVal i = c->g->op[o->in[1]].val, from;
	int32_t d, missing;

	if (!i.id || !pm_out(i, 0).id || !f_is(pm_op(i), "Expand"))
		return 0;
	from = pm_in(i, 0);
	missing = pm_rank(i) - pm_rank(from);
	for (d = missing; d < pm_rank(i); d++)
		if (d != o->axis && pm_dim(from, d - missing) != 1)
			return 0;
	return 1;
}

/* As the eager run has it, whose operands all lie row by row here. */
static PmScatter read_scatter(const Ctx *c, const Op *o)
{
	const Op *i = &c->g->op[o->in[1]], *u = &c->g->op[o->in[2]];
	int tuples = o->mode & SCATTER_TUPLES, along = is_last(o);
	PmScatter s = { .places = o->dim[o->axis],
			.updates = i->dim[tuples ? 0 : o->axis],
			.tuple = 1,
			.joins = !(o->mode & SCATTER_LAST),
			.wide = o->dtype == PM_F64,
			.place_bytes = pm_dtype_bytes(o->dtype),
			.index_bytes = pm_dtype_bytes(i->dtype),
			.x_along = along,
			.index_along = tuples || along,
			.update_along = along,
			.result_along = along };

	s.lines = (int64_t)f_numel(u) / s.updates;
	s.index_lines = tuples || repeats(c, o) ? 1 : s.lines;
	return s;
}

double f_scatter_time(const Ctx *c, const Op *o, double moving)
{
	PmScatter s = read_scatter(c, o);
	PmScatterTiles g = pm_scatter_tiles(&f_target()->scatter, &s);
	double us = f_target()->launch_us + g.us;

	return us > moving ? us : moving;
}
