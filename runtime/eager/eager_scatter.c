/* SPDX-License-Identifier: Apache-2.0 */
/* eager_scatter.c - operators that write elements at places given by another tensor. */
#include "passmith/scatter.h"
#include "runtime/exec/plan_priv.h"

#include "kernels/scatter_elements.cu.h"
#include "kernels/scatter_last.cu.h"
#include "kernels/scatter_nd.cu.h"
#include "kernels/scatter_rows.cu.h"
#include "kernels/scatter_sort.cu.h"
#include "kernels/scatter_tile.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

_Static_assert((int)PM_SCATTER_THREADS == (int)PM__BLOCK, "tiles are made by blocks of that size");

static int joins(const PmPlan *p, PmNode n)
{
	return strcmp(pm_node_s(p->g, n, "reduction", "none"), "none") != 0;
}

/* Begins a launch with the way that updates are joined with what is there, if there is one. */
static void begin_join(KGen *k, PmPlan *p, PmNode n)
{
	static const char *const how[][2] = { { "add", "((a) + (v))" },
					      { "mul", "((a) * (v))" },
					      { "max", "((v) > (a) || (v) != (v) ? (v) : (a))" },
					      { "min", "((v) < (a) || (v) != (v) ? (v) : (a))" } };
	const PmType *t = pm__type(p, pm_node_in(p->g, n, 0));
	const char *mode = pm_node_s(p->g, n, "reduction", "none");

	pm__kg_init(k, p, n, t->dtype);
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(t->dtype));
	for (size_t i = 0; i < sizeof how / sizeof *how; i++)
		if (!strcmp(mode, how[i][0]))
			pm__kg_define(k, "JOIN(a, v)", "%s", how[i][1]);
}

/* Starts a launch that changes a copy of operand 0, which becomes the result. */
static PmStatus begin_scatter(KGen *k, PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	int64_t numel = pm__numel(p, y), updates = pm__numel(p, pm_node_in(p->g, n, 2));
	PmStatus st = pm__copy(p, n, t, pm__loc(p, x), pm__loc(p, y), err);

	if (st)
		return st;
	begin_join(k, p, n);
	pm__kg_out(k, "y", pm__loc(p, y), t->dtype, numel < updates ? numel : updates);
	return PM_OK;
}

/* --- along an axis ---------------------------------------------------------------------------------------
 */

/* A scatter along one axis: lines, all other dimensions, and along each of them updates that say where on the
 * axis they go. Of x, indices, updates and y the strides of the lines' dimensions, and the steps along the
 * axis. A place is named by one index, or by a tuple of them. */
typedef struct Lines {
	int64_t dim[PM_MAX_RANK], stride[4][PM_MAX_RANK], step[4], n;
	int64_t len, axis_dim; /* updates of a line, places of the axis */
	int rank;
	int tuple;                   /* indices that name a place, side by side */
	int64_t extent[PM_MAX_RANK]; /* that each of them is below */
	int apart;                   /* without tiles each update has a thread, and not each line */
	Loc idx, u;
} Lines;

static void add_line(Lines *l, int64_t dim, int64_t x, int64_t idx, int64_t u, int64_t y)
{
	const int64_t stride[4] = { x, idx, u, y };

	l->dim[l->rank] = dim;
	l->n *= dim;
	for (int i = 0; i < 4; i++)
		l->stride[i][l->rank] = stride[i];
	l->rank++;
}

/* What all kernels that see lines are told. `where`: of whatever says where updates go, the strides of the
 * lines' dimensions. */
static void put_lines(KGen *k, PmNode n, const Lines *l, const int64_t *where)
{
	const int64_t *strides[4] = { l->stride[0], where, l->stride[2], l->stride[3] };

	pm__kg_operand(k, "u", pm_node_in(k->p->g, n, 2), &l->u);
	pm__kg_space(k, "o", l->dim, l->rank, strides, 4);
	pm__kg_int(k, "len", l->len);
	pm__kg_int(k, "axis_dim", l->axis_dim);
	pm__kg_int(k, "xs", l->step[0]);
	pm__kg_int(k, "us", l->step[2]);
	pm__kg_int(k, "ys", l->step[3]);
}

static void put_indices(KGen *k, PmNode n, const Lines *l)
{
	pm__kg_operand(k, "idx", pm_node_in(k->p->g, n, 1), &l->idx);
	pm__kg_int(k, "is", l->step[1]);
}

/* --- tiles of the result ---------------------------------------------------------------------------------
 */

/* Tiles, and where the sorted updates are. */
typedef struct Tiles {
	PmScatterTiles is;
	double wait_us;              /* of the tiles alone */
	int64_t lines;               /* of indices, those of the same indices counted once */
	int64_t stride[PM_MAX_RANK]; /* of their numbers, over the lines' dimensions */
	Loc first, order;
	int64_t first_bytes, order_bytes;
} Tiles;

static int bytes_of(const PmPlan *p, PmNode n, size_t operand)
{
	return (int)pm_dtype_size(pm__type(p, pm_node_in(p->g, n, operand))->dtype);
}

static int is_wide(const PmPlan *p, PmNode n)
{
	return strcmp(pm__acc_type(pm__type(p, pm_node_out(p->g, n, 0))->dtype), "float") != 0;
}

/* Numbers the lines of indices. */
static void number_lines(const Lines *l, Tiles *g)
{
	g->lines = 1;
	for (int d = l->rank - 1; d >= 0; d--)
		if (l->stride[1][d] && l->dim[d] > 1) {
			g->stride[d] = g->lines;
			g->lines *= l->dim[d];
		}
}

static PmScatter scatter_of(const PmPlan *p, PmNode n, const Lines *l, int64_t index_lines)
{
	return (PmScatter){ .places = l->axis_dim,
			    .updates = l->len,
			    .lines = l->n,
			    .index_lines = index_lines,
			    .tuple = l->tuple,
			    .joins = joins(p, n),
			    .wide = is_wide(p, n),
			    .place_bytes = bytes_of(p, n, 0),
			    .index_bytes = bytes_of(p, n, 1),
			    .x_along = l->step[0] == 1,
			    .index_along = l->step[1] == 1,
			    .update_along = l->step[2] == 1,
			    .result_along = l->step[3] == 1 };
}

/* Microseconds without tiles: a thread waits for memory at each update that it has. */
static double walking(const PmPlan *p, const Lines *l)
{
	enum { WAITS = 8 }; /* 0.3 us each: as many as take as long as a launch */
	int64_t most = (int64_t)p->target->sm_count * p->target->sm_threads;
	int64_t waits = l->apart ? pm_scatter_up(l->n * l->len, most) : pm_scatter_up(l->n, most) * l->len;

	return (double)waits * p->target->launch_seconds * 1e6 / WAITS;
}

/* Whether the result is made by tiles, then *g says how. Else it is a copy, which is then changed: large
 * results with few updates, and places named by tuples, which tiles find only where they are sorted. */
static int is_tiled(const PmPlan *p, PmNode n, const Lines *l, Tiles *g)
{
	enum { MOST = 4 << 20 };
	int can_look = l->tuple == 1 && pm__numel(p, pm_node_out(p->g, n, 0)) <= MOST;
	PmScatterCosts costs;
	PmScatter s;

	memset(g, 0, sizeof *g);
	/* A target of ours has all constants. */
	if (!l->len || !l->n || pm__numel(p, pm_node_in(p->g, n, 1)) > INT32_MAX ||
	    l->axis_dim > INT32_MAX / 2 || pm_scatter_costs(p->target, &costs))
		return 0;
	number_lines(l, g);
	s = scatter_of(p, n, l, g->lines);
	if (can_look)
		g->is = pm_scatter_tiles(&costs, &s);
	else
		g->is = pm_scatter_sort(&costs, &s);
	g->wait_us = g->is.us - (g->is.sorted ? costs.launch_us : 0);
	return can_look || g->is.us < walking(p, l);
}

static void put_sorted(KGen *k, const Tiles *g, const char *first, const char *order)
{
	pm__kg_define(k, "RANGES", "%d", g->is.ranges);
	pm__kg_define(k, "SHIFT", "%d", g->is.shift);
	pm__kg_scratch(k, first, &g->first, g->first_bytes);
	pm__kg_scratch(k, order, &g->order, g->order_bytes);
}

/* The launch that sorts updates, into scratch. */
static PmStatus sort(PmPlan *p, PmNode n, const Lines *l, Tiles *g, PmErr *err)
{
	enum { EACH = 8 };
	int64_t dim[PM_MAX_RANK], stride[PM_MAX_RANK];
	const int64_t *strides = stride;
	int rank = 0;
	KGen k;

	for (int d = 0; d < l->rank; d++)
		if (g->stride[d]) {
			dim[rank] = l->dim[d];
			stride[rank++] = l->stride[1][d];
		}
	g->first_bytes = g->lines * (g->is.ranges + 1) * (int64_t)sizeof(int32_t);
	g->order_bytes = g->lines * l->len * PM_SCATTER_SORTED_BYTES;
	g->first.buf = pm__add_buffer(p, g->first_bytes, PM_BUF_SCRATCH);
	g->order.buf = pm__add_buffer(p, g->order_bytes, PM_BUF_SCRATCH);
	pm__kg_init(&k, p, n, pm__type(p, pm_node_out(p->g, n, 0))->dtype);
	pm__kg_define(&k, "LEN", "%d", l->tuple);
	pm__kg_define(&k, "EACH", "%d", pm_scatter_pow2(pm_scatter_up(l->len, PM__BLOCK), EACH));
	put_sorted(&k, g, "int *__restrict__ first", "uint2 *__restrict__ order");
	put_indices(&k, n, l);
	pm__kg_space(&k, "o", dim, rank, &strides, 1);
	pm__kg_list(&k, "extent", l->extent, l->tuple);
	pm__kg_int(&k, "len", l->len);
	pm__kg_int(&k, "places", l->axis_dim);
	return pm__kg_launch_op(&k, scatter_sort_cu, g->lines * PM__BLOCK, 0, err);
}

/* A launch of tiles; y is placed, and has the lines of l. */
static PmStatus launch_tiles(KGen *k, PmNode n, const Lines *l, const Tiles *g, const char *text, PmErr *err)
{
	PmPlan *p = k->p;
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	PmStatus st;

	pm__kg_define(k, "R", "%d", g->is.rows);
	if (l->step[3] == 1)
		pm__kg_define(k, "LAST", "1");
	pm__kg_out(k, "y", pm__loc(p, y), k->dtype, pm__numel(p, y));
	pm__kg_operand(k, "x", x, pm__loc(p, x));
	if (g->is.sorted) {
		pm__kg_define(k, "SORTED", "1");
		put_sorted(k, g, "const int *__restrict__ first", "const uint2 *__restrict__ order");
	} else {
		put_indices(k, n, l);
	}
	put_lines(k, n, l, g->is.sorted ? g->stride : l->stride[1]);
	pm__kg_divisor(k, "tiles", g->is.along);
	st = pm__kg_launch_op(k, text, g->is.along * g->is.across * PM__BLOCK, pm_op_flops(p->g, n), err);
	if (!st)
		p->steps.v[p->steps.n - 1].wait_seconds = g->wait_us * 1e-6;
	return st;
}

/* Updates that a tile takes at once, of a line: all that there are if they are few. Of sorted ones so many
 * that ranges with several times the mean are one piece. */
static int64_t at_once(const Lines *l, const PmScatterTiles *g)
{
	enum { TIMES = 4, SOME = 32 };
	int64_t list = TIMES * g->list > SOME ? TIMES * g->list : SOME;

	return g->sorted && list < l->len ? list : l->len;
}

/* Of a tile that joins: updates of a line in a piece, so many that there is room for a block's places in
 * shared memory. */
static int join_piece(const PmPlan *p, PmNode n, int columns)
{
	enum { NARROW = 4, MIDDLE = 16 };
	int piece = columns <= NARROW ? 512 : columns <= MIDDLE ? 256 : 128;

	return is_wide(p, n) ? piece / 2 : piece;
}

/* Updates are joined with what is there. */
static PmStatus join_tiles(PmPlan *p, PmNode n, const Lines *l, const Tiles *g, PmErr *err)
{
	enum { LEAST = 8 };
	int columns = g->is.columns, piece = join_piece(p, n, columns), least = PM__BLOCK / columns;
	int64_t list = at_once(l, &g->is), pieces, most;
	KGen k;

	while (piece > LEAST && piece > least && piece / 2 >= list)
		piece /= 2;
	pieces = pm_scatter_up(list, piece);
	most = pm_scatter_turn(is_wide(p, n)) / (piece * columns);
	begin_join(&k, p, n);
	pm__kg_define(&k, "C", "%d", columns);
	pm__kg_define(&k, "CH", "%d", piece);
	pm__kg_define(&k, "PIECES", "%d", (int)(pieces < most ? pieces : most));
	if (g->is.picked)
		pm__kg_define(&k, "PICKED", "1");
	return launch_tiles(&k, n, l, g, scatter_tile_cu, err);
}

/* The same where a warp has a place of many lines. */
static PmStatus join_rows(PmPlan *p, PmNode n, const Lines *l, const Tiles *g, PmErr *err)
{
	KGen k;

	begin_join(&k, p, n);
	pm__kg_define(&k, "V", "%d", g->is.columns / PM_SCATTER_ROW);
	pm__kg_define(&k, "MANY", "%d", pm_scatter_many(g->is.columns));
	pm__kg_define(&k, "CH", "%d",
		      PM__BLOCK * pm_scatter_pow2(pm_scatter_up(l->len, PM__BLOCK),
						  PM_SCATTER_ROWS_TURN / PM__BLOCK));
	return launch_tiles(&k, n, l, g, scatter_rows_cu, err);
}

/* The last update takes the place of what is there. */
static PmStatus last_tiles(PmPlan *p, PmNode n, const Lines *l, const Tiles *g, PmErr *err)
{
	enum { EACH = PM_SCATTER_TURN / 2 / PM__BLOCK };
	int64_t all = pm_scatter_up(at_once(l, &g->is) * g->is.looked, PM__BLOCK);
	KGen k;

	pm__kg_init(&k, p, n, pm__type(p, pm_node_out(p->g, n, 0))->dtype);
	pm__kg_define(&k, "C", "%d", g->is.columns);
	pm__kg_define(&k, "LINES", "%d", g->is.looked);
	pm__kg_define(&k, "EACH", "%d", pm_scatter_pow2(all, EACH));
	return launch_tiles(&k, n, l, g, scatter_last_cu, err);
}

static PmStatus scatter_tiles(PmPlan *p, PmNode n, const Lines *l, Tiles *g, PmErr *err)
{
	PmStatus st = g->is.sorted ? sort(p, n, l, g, err) : PM_OK;

	if (st)
		return st;
	if (g->is.by_rows)
		return join_rows(p, n, l, g, err);
	return joins(p, n) ? join_tiles(p, n, l, g, err) : last_tiles(p, n, l, g, err);
}

PmStatus eager_scatter_elements(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), idx = pm_node_in(p->g, n, 1), u = pm_node_in(p->g, n, 2),
		y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y), *it = pm__type(p, idx);
	const Loc *xl = pm__loc(p, x), *il = pm__loc(p, idx), *ul = pm__loc(p, u);
	int64_t axis = pm_node_i(p->g, n, "axis", 0), ys[PM_MAX_RANK];
	int tiled, fewer = 0; /* fewer: lines without updates */
	PmStatus st;
	Tiles g;
	KGen k;
	Lines l = { .n = 1,
		    .len = it->dim[axis],
		    .axis_dim = t->dim[axis],
		    .tuple = 1,
		    .extent = { t->dim[axis] },
		    .idx = *il,
		    .u = *ul };

	pm__contiguous_strides(t, ys);
	for (int d = 0; d < t->rank; d++) {
		fewer |= d != axis && t->dim[d] != it->dim[d];
		if (d != axis)
			add_line(&l, it->dim[d], xl->stride[d], il->stride[d], ul->stride[d], ys[d]);
	}
	l.step[0] = xl->stride[axis];
	l.step[1] = il->stride[axis];
	l.step[2] = ul->stride[axis];
	l.step[3] = ys[axis];
	if (!pm__numel(p, y))
		return pm__place(p, y, err);
	tiled = is_tiled(p, n, &l, &g);
	if (tiled)
		st = fewer ? pm__copy(p, n, t, xl, pm__loc(p, y), err) : pm__place(p, y, err);
	else
		st = begin_scatter(&k, p, n, err);
	if (st)
		return st;
	if (tiled)
		return scatter_tiles(p, n, &l, &g, err);
	put_indices(&k, n, &l);
	put_lines(&k, n, &l, l.stride[1]);
	return pm__kg_launch_op(&k, scatter_elements_cu, l.len ? l.n : 0, pm_op_flops(p->g, n), err);
}

/* --- ScatterND -------------------------------------------------------------------------------------------
 */

/* Tuples of the first axes: rows along these as one axis. 0 when the axes of x are not one. */
static int rows(const PmPlan *p, PmNode n, const Loc *idx, const Loc *u, int tuple, Lines *l)
{
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	const Loc *xl = pm__loc(p, pm_node_in(p->g, n, 0));
	int64_t ys[PM_MAX_RANK];

	pm__contiguous_strides(t, ys);
	*l = (Lines){ .n = 1, .axis_dim = 1, .tuple = tuple, .apart = !joins(p, n), .idx = *idx, .u = *u };
	for (int d = 0; d < t->rank; d++)
		if (d < tuple)
			l->axis_dim *= l->extent[d] = t->dim[d];
		else
			add_line(l, t->dim[d], xl->stride[d], 0, ys[d], ys[d]);
	l->len = pm__numel(p, pm_node_in(p->g, n, 1)) / tuple;
	l->step[1] = tuple;
	l->step[2] = l->step[3] = ys[tuple - 1];
	return pm__merge_strides(t->dim, xl->stride, tuple, &l->step[0]);
}

PmStatus eager_scatter_nd(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue idx = pm_node_in(p->g, n, 1), u = pm_node_in(p->g, n, 2), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y), *it = pm__type(p, idx);
	int len = (int)it->dim[it->rank - 1];
	int64_t row = 1, tuples = 1, threads;
	Loc il, ul;
	Tiles g;
	Lines l;
	KGen k;
	PmStatus st = pm__make_contiguous(p, n, idx, &il, err);

	if (!st)
		st = pm__make_contiguous(p, n, u, &ul, err);
	if (st || !pm__numel(p, y))
		return st ? st : pm__place(p, y, err);
	if (rows(p, n, &il, &ul, len, &l) && is_tiled(p, n, &l, &g)) {
		st = pm__place(p, y, err);
		return st ? st : scatter_tiles(p, n, &l, &g, err);
	}
	st = begin_scatter(&k, p, n, err);
	if (st)
		return st;
	for (int d = len; d < t->rank; d++)
		row *= t->dim[d];
	for (int d = 0; d < it->rank - 1; d++)
		tuples *= it->dim[d];
	threads = joins(p, n) ? row : row * tuples;
	pm__kg_define(&k, "LEN", "%d", len);
	pm__kg_operand(&k, "idx", idx, &il);
	pm__kg_operand(&k, "u", u, &ul);
	pm__kg_list(&k, "yd", t->dim, len);
	pm__kg_int(&k, "row", row);
	pm__kg_int(&k, "tuples", tuples);
	pm__kg_int(&k, "total", threads);
	return pm__kg_launch_op(&k, scatter_nd_cu, tuples ? threads : 0, pm_op_flops(p->g, n), err);
}
