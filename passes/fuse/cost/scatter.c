/* SPDX-License-Identifier: Apache-2.0 */
/* scatter.c - microseconds that the eager run's scatters take beside a launch and their bytes: looking for
 * updates, or sorting them (docs/design/runtime.md, "Scatters"). */
#include "../fuse.h"

/* How the eager run cuts a result: tiles of so many places, or an eighth of that where they are few, of at
 * most 32 lines; and most ranges of places that it sorts by. */
enum { TILE = 2048, SMALLER = 8, COLUMNS = 32, RANGES = 1024 };

typedef struct Scatter {
	int replaces;
	double places, updates; /* of the axis, of a line */
	double lines, sorted;   /* of updates; of indices that are not the same */
	double columns, across; /* of a tile: its lines, and tiles beside each other */
	double looked;          /* lines of indices that it looks through */
} Scatter;

static double at_least(double x, double least)
{
	return x > least ? x : least;
}

static Scatter read_scatter(const Ctx *c, const Op *o)
{
	const Op *i = &c->g->op[o->in[1]], *u = &c->g->op[o->in[2]];
	int shared = o->mode & SCATTER_TUPLES;
	Scatter s = { .replaces = o->mode & SCATTER_LAST,
		      .places = (double)o->dim[o->axis],
		      .updates = (double)i->dim[shared ? 0 : o->axis],
		      .columns = COLUMNS };

	s.lines = (double)f_numel(u) / s.updates;
	while (s.replaces && s.columns / 2 >= s.lines && s.columns > 1)
		s.columns /= 2;
	s.across = at_least(s.lines / s.columns, 1);
	s.sorted = shared ? 1 : s.lines;
	s.looked = shared && s.replaces ? 1 : s.columns;
	return s;
}

/* Of so many indices that a multiprocessor looks at. */
static double looks_time(const Scatter *s, double looks)
{
	return looks /
	       (s->replaces ? f_target()->scatter_replace_looks_per_us : f_target()->scatter_looks_per_us);
}

/* Every tile looks through all updates of its lines. */
static double looking(const Scatter *s)
{
	double tiles = s->places * s->columns / TILE * s->across / f_target()->is.sm_count;

	return looks_time(s, at_least(tiles, 1) * s->updates * s->looked);
}

/* One block sorts a line. It waits for its indices twice, EACH of a thread under way together; a tile waits
 * for where its range begins, and for what is in it. Cycles are counted in the kernel, and not measured:
 * three times through the counts of 1,024 ranges by 8 warps, and a warp's 32 updates, one after the other.
 * Tiles then look at the updates of their ranges: spread over all multiprocessors, or those of one range
 * where there are few. */
static double sorting(const Scatter *s)
{
	enum { THREADS = 256, EACH = 8, BLOCKS = 8 /* of a multiprocessor */ };
	enum { RANGES_CYCLES = 1000, UPDATES_CYCLES = 120 };
	const Target *t = f_target();
	double tiles = s->places * s->columns / TILE, ranges = at_least(tiles * SMALLER, 1);
	double waits = 2 * at_least(s->updates / (THREADS * EACH), 1) + 2;
	double cycles = RANGES_CYCLES + s->updates / THREADS * UPDATES_CYCLES;
	double rounds = at_least(s->sorted / ((double)t->is.sm_count * BLOCKS), 1);
	double spread = s->updates * s->looked * s->across / t->is.sm_count * at_least(tiles / RANGES, 1);
	double of_one = s->updates * s->looked / (ranges < RANGES ? ranges : RANGES);

	return t->launch_us + rounds * (waits * t->wait_us + cycles / t->sm_cycles_per_us) +
	       looks_time(s, at_least(spread, of_one));
}

double f_scatter_time(const Ctx *c, const Op *o)
{
	Scatter s = read_scatter(c, o);
	double look = looking(&s), sort = sorting(&s);

	return (s.replaces ? f_target()->scatter_replace_us : f_target()->scatter_us) +
	       (sort < look ? sort : look);
}
