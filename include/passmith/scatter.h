/* SPDX-License-Identifier: Apache-2.0 */
/* scatter.h - how the eager run scatters along an axis, and what that takes.
 *
 * A line has places, x along the axis, and updates, each with an index that says which place it is for. The
 * result is made by tiles of some places of some lines, a block of 256 threads each. A tile looks through the
 * indices of all updates of its lines. Or one more launch sorts the updates of each line by ranges of places
 * first, and tiles look through those of their ranges. docs/design/runtime.md, "Scatters", has both.
 *
 * The shape of tiles is that which takes least, by constants of the target (scatter_* of
 * docs/reference/targets.md). The eager run, the modelled clock and `fuse` all go by what stands here.
 * Microseconds are beside the overhead of the launch that makes the result. They are those of the busiest
 * multiprocessor: what it reads, at its share of the L2 cache's rate, and what its threads wait and do.
 */
#ifndef PASSMITH_SCATTER_H
#define PASSMITH_SCATTER_H

#include "passmith/target.h"

enum {
	PM_SCATTER_THREADS = 256,
	PM_SCATTER_COLUMNS = 32, /* most lines of a tile */
	PM_SCATTER_PLACES = 8,   /* most places of a thread */
	PM_SCATTER_RANGES = 1024,
	PM_SCATTER_SORTED_BYTES = 8, /* of an update in its range */
	PM_SCATTER_SECTOR_BYTES = 32,
	PM_SCATTER_TURN =
		4096, /* indices of a tile that joins that are under way together; half where it is wide */
	PM_SCATTER_ROW = 32, /* a tile of rows has so many lines, a warp's, or two or four times as many, */
	PM_SCATTER_ROWS = PM_SCATTER_THREADS / PM_SCATTER_ROW, /* and so many places, a warp each, */
	PM_SCATTER_ROWS_TURN = 1024,                           /* indices that are under way together, */
	PM_SCATTER_ROWS_MANY = 16 /* and so many updates of a place; half with the most lines */
};

typedef struct PmScatter {
	int64_t places, updates, lines; /* of the axis; of a line */
	int64_t index_lines;            /* lines of indices that are not the same */
	int32_t tuple;                  /* indices that name a place */
	int32_t joins;                  /* updates are joined with what is there; 0: they replace it */
	int32_t wide;                   /* joined in 64 bits */
	int32_t place_bytes, index_bytes;
	/* 1: neighbours along the axis lie beside each other; 0: those of lines do. */
	int32_t x_along, index_along, update_along, result_along;
} PmScatter;

typedef struct PmScatterCosts {
	double wait_us;     /* until what a tile asked for is put away, the first time; then half of it */
	double step_us;     /* 256 updates looked at by a tile that joins */
	double join_us;     /* an update joined by each of 256 threads */
	double sort_us;     /* 256 updates sorted */
	double us_per_byte; /* of one multiprocessor, from L2; half of it in order */
	double launch_us;
	int64_t sm_count;
} PmScatterCosts;

typedef struct PmScatterTiles {
	int32_t columns, rows; /* lines and places of a tile */
	int32_t looked;        /* lines of indices that it looks through */
	int32_t sorted;        /* updates are sorted first */
	int32_t by_rows; /* a warp has a place, its threads have lines: updates are found for all at once */
	int32_t picked;  /* updates are read behind their indices, where the tile has their place; 0: beside
			    them */
	int32_t ranges, shift; /* of 2^shift places */
	int64_t list;          /* updates of a line for one range, in the mean */
	int64_t along, across; /* tiles along the axis, and beside each other */
	double us;
} PmScatterTiles;

/* a / b, rounded up. */
static inline int64_t pm_scatter_up(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* The least power of two from n on, at most `most`, which is one. */
static inline int32_t pm_scatter_pow2(int64_t n, int32_t most)
{
	int32_t p = 1;

	while (p < n && p < most)
		p *= 2;
	return p;
}

/* Bytes that are moved for n neighbours along the axis of so many lines, in whole sectors. */
static inline int64_t pm_scatter_moved(int along, int64_t n, int64_t lines, int64_t size)
{
	int64_t at_once = (along ? n : lines) * size;

	return (along ? lines : n) * pm_scatter_up(at_once, PM_SCATTER_SECTOR_BYTES) *
	       PM_SCATTER_SECTOR_BYTES;
}

/* Of a tile's places, as they are and as they become. */
static inline int64_t pm_scatter_places(const PmScatter *s, const PmScatterTiles *g)
{
	return pm_scatter_moved(s->x_along, g->rows, g->columns, s->place_bytes) +
	       pm_scatter_moved(s->result_along, g->rows, g->columns, s->place_bytes);
}

/* Tiles of so many lines and places. */
static inline void pm_scatter_shape(const PmScatter *s, int32_t columns, int32_t rows, PmScatterTiles *g)
{
	g->columns = columns;
	g->rows = rows;
	g->across = pm_scatter_up(s->lines, columns);
	g->along = pm_scatter_up(s->places, rows);
	g->looked = s->joins || s->index_lines > 1 ? columns : 1;
}

/* Indices of a tile that joins that are under way together: sums of 64 bits take twice the room. */
static inline int32_t pm_scatter_turn(int wide)
{
	return wide ? PM_SCATTER_TURN / 2 : PM_SCATTER_TURN;
}

/* Tiles of a multiprocessor, one behind the other. */
static inline int64_t pm_scatter_turns(const PmScatterCosts *c, const PmScatterTiles *g)
{
	return pm_scatter_up(g->along * g->across, c->sm_count);
}

/* Indices, and updates beside them, are read in order, so many times one after the other. */
static inline double pm_scatter_reads(const PmScatterCosts *c, int64_t times, int64_t bytes)
{
	return 0.5 * (c->us_per_byte * (double)bytes + c->wait_us * (double)(times + 1));
}

/* A tile's threads join what comes to their places: those of a thread in the mean. */
static inline double pm_scatter_joins(const PmScatterCosts *c, const PmScatter *s, const PmScatterTiles *g)
{
	return s->joins ? c->join_us * (double)s->updates * g->rows * g->columns /
				  ((double)s->places * PM_SCATTER_THREADS)
			: 0;
}

/* A tile that joins, looking through all updates. Those that it has a place for are read beside their
 * indices, or behind them, whichever takes less. */
static inline double pm_scatter_joining(const PmScatterCosts *c, const PmScatter *s, PmScatterTiles *g)
{
	int64_t looked = s->updates * g->columns;
	int64_t updates = pm_scatter_moved(s->update_along, s->updates, g->columns, s->place_bytes),
		indices = pm_scatter_moved(s->index_along, s->updates, g->columns, s->index_bytes),
		times = pm_scatter_up(looked, pm_scatter_turn(s->wide));
	double steps = (double)pm_scatter_up(looked, PM_SCATTER_THREADS),
	       beside = pm_scatter_reads(c, times, indices + updates),
	       behind = pm_scatter_reads(c, times, indices) + c->us_per_byte * (double)(updates / g->along) +
			c->wait_us * (double)times;

	g->picked = behind < beside;
	return (g->picked ? behind : beside) + c->us_per_byte * (double)pm_scatter_places(s, g) +
	       c->step_us * steps + pm_scatter_joins(c, s, g);
}

/* 1 for updates that are joined where all lines have the same indices, and lie beside each other. */
static inline int pm_scatter_has_rows(const PmScatter *s)
{
	return s->joins && s->tuple == 1 && s->index_lines == 1 && s->lines >= PM_SCATTER_ROW &&
	       !s->x_along && !s->update_along && !s->result_along;
}

/* Updates of a place that are under way together in a tile of rows of so many lines. */
static inline int32_t pm_scatter_many(int32_t columns)
{
	return columns > 2 * PM_SCATTER_ROW ? PM_SCATTER_ROWS_MANY / 2 : PM_SCATTER_ROWS_MANY;
}

/* A tile of rows: indices once, and for each place its updates, of all lines at once. Eight hide each other's
 * waits: for indices, x, the first updates, and those behind. It looks in a tenth of the steps. */
static inline double pm_scatter_rows(const PmScatterCosts *c, const PmScatter *s, const PmScatterTiles *g)
{
	int64_t times = pm_scatter_up(s->updates, PM_SCATTER_ROWS_TURN), turns = pm_scatter_turns(c, g);
	double list = (double)s->updates / (double)s->places,
	       joined = list * (double)pm_scatter_moved(0, g->rows, g->columns, s->place_bytes),
	       moved = 0.5 * (double)(s->updates * s->index_bytes) + (double)pm_scatter_places(s, g) + joined,
	       steps = 0.1 * c->step_us * (double)pm_scatter_up(s->updates, PM_SCATTER_THREADS),
	       waits = c->wait_us * (2 + (double)times + list / pm_scatter_many(g->columns));

	return (c->us_per_byte * moved + steps) * (double)turns + waits * (double)pm_scatter_up(turns, 8);
}

/* A tile that replaces: indices, and then what comes to its places. Four hide each other's waits. */
static inline double pm_scatter_replacing(const PmScatterCosts *c, const PmScatter *s,
					  const PmScatterTiles *g)
{
	int64_t indices = pm_scatter_moved(s->index_along, s->updates, g->looked, s->index_bytes),
		times = pm_scatter_up(s->updates * g->looked, PM_SCATTER_TURN / 2),
		turns = pm_scatter_turns(c, g);
	double hidden = (double)pm_scatter_up(turns, 4) / (double)turns;

	return c->us_per_byte * (double)pm_scatter_places(s, g) + 0.5 * c->us_per_byte * (double)indices +
	       hidden * pm_scatter_reads(c, times, 0);
}

/* Places of a sorted tile: as many as leave three of four multiprocessors a block. */
static inline int32_t pm_scatter_sorted_rows(const PmScatterCosts *c, const PmScatter *s, int32_t columns)
{
	int32_t rows = PM_SCATTER_PLACES * PM_SCATTER_THREADS / columns, least = PM_SCATTER_THREADS / columns;

	while (rows > least &&
	       pm_scatter_up(s->places, rows) * pm_scatter_up(s->lines, columns) <= c->sm_count * 3 / 4)
		rows /= 2;
	return rows;
}

/* ---- scatters of the plain run ---- */

/* What scatters take on t. NULL, or the name of the first constant that t lacks. */
static inline const char *pm_scatter_costs(const PmTarget *t, PmScatterCosts *out)
{
	if (!pm_target_number(t, "scatter_wait_us", &out->wait_us))
		return "scatter_wait_us";
	if (!pm_target_number(t, "scatter_step_us", &out->step_us))
		return "scatter_step_us";
	if (!pm_target_number(t, "scatter_join_us", &out->join_us))
		return "scatter_join_us";
	if (!pm_target_number(t, "scatter_sort_us", &out->sort_us))
		return "scatter_sort_us";
	if (!pm_target_number(t, "launch_us", &out->launch_us))
		return "launch_us";
	out->us_per_byte = 1e6 * t->sm_count / t->l2_bytes_per_second;
	out->sm_count = t->sm_count;
	return 0;
}

/* Tiles that look through all updates, of the shape that takes least. */
static inline PmScatterTiles pm_scatter_look(const PmScatterCosts *c, const PmScatter *s)
{
	PmScatterTiles least = { 0 }, g = { 0 };
	int32_t columns, each;

	for (columns = pm_scatter_pow2(s->lines, PM_SCATTER_COLUMNS); columns; columns /= 2)
		for (each = PM_SCATTER_PLACES; each; each /= 2) {
			pm_scatter_shape(s, columns, each * PM_SCATTER_THREADS / columns, &g);
			g.us = (double)pm_scatter_turns(c, &g) *
			       (s->joins ? pm_scatter_joining(c, s, &g) : pm_scatter_replacing(c, s, &g));
			if (!least.rows || g.us < least.us)
				least = g;
		}
	return least;
}

/* Tiles of rows, of as many lines as take least; s has rows. */
static inline PmScatterTiles pm_scatter_by_rows(const PmScatterCosts *c, const PmScatter *s)
{
	PmScatterTiles least = { 0 }, g = { .by_rows = 1 };
	int32_t columns;

	for (columns = PM_SCATTER_ROW; columns <= 4 * PM_SCATTER_ROW && columns < 2 * s->lines;
	     columns *= 2) {
		pm_scatter_shape(s, columns, PM_SCATTER_ROWS, &g);
		g.looked = 1;
		g.us = pm_scatter_rows(c, s, &g);
		if (!least.rows || g.us < least.us)
			least = g;
	}
	return least;
}

/* Tiles of sorted updates: they read few indices, and have as many lines as there are. A block sorts a line:
 * it reads the indices twice, and two blocks of a multiprocessor hide each other's steps. Tiles that join
 * read at a third of the rate. */
static inline PmScatterTiles pm_scatter_sort(const PmScatterCosts *c, const PmScatter *s)
{
	PmScatterTiles g = { .sorted = 1 };
	int32_t columns = pm_scatter_pow2(s->lines, PM_SCATTER_COLUMNS);
	int64_t of_line, listed, rounds = pm_scatter_up(s->index_lines, 2 * c->sm_count), sorted;
	double turns;

	pm_scatter_shape(s, columns, pm_scatter_sorted_rows(c, s, columns), &g);
	while (1 << g.shift < g.rows || pm_scatter_up(s->places, (int64_t)1 << g.shift) > PM_SCATTER_RANGES)
		g.shift++;
	g.ranges = pm_scatter_pow2(pm_scatter_up(s->places, (int64_t)1 << g.shift), PM_SCATTER_RANGES);
	g.list = pm_scatter_up(s->updates, pm_scatter_up(s->places, (int64_t)1 << g.shift));
	of_line = s->updates * (2 * s->tuple * s->index_bytes + PM_SCATTER_SORTED_BYTES);
	listed = g.looked * g.list * PM_SCATTER_SORTED_BYTES * (s->joins ? 3 : 1);
	sorted = pm_scatter_up(s->index_lines, c->sm_count) * of_line;
	turns = (double)pm_scatter_turns(c, &g);
	g.us = c->launch_us +
	       (double)rounds *
		       (2 * c->wait_us + c->sort_us * (double)pm_scatter_up(s->updates, PM_SCATTER_THREADS)) +
	       c->us_per_byte * (double)sorted + 2 * c->wait_us +
	       turns * (c->us_per_byte * (double)(listed + pm_scatter_places(s, &g)) +
			pm_scatter_joins(c, s, &g));
	return g;
}

/* The faster way. What is not named by one index is found only where it is sorted. Rows took
 * 0.4 to 1.04 of what tiles that look for each line did (docs/results/cost-model.md). */
static inline PmScatterTiles pm_scatter_tiles(const PmScatterCosts *c, const PmScatter *s)
{
	PmScatterTiles sorted = pm_scatter_sort(c, s), looked;

	if (s->tuple > 1)
		return sorted;
	looked = pm_scatter_has_rows(s) ? pm_scatter_by_rows(c, s) : pm_scatter_look(c, s);
	return looked.us <= sorted.us ? looked : sorted;
}

#endif
