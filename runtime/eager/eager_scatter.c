/* SPDX-License-Identifier: Apache-2.0 */
/* eager_scatter.c - operators that write elements at places given by another tensor. */
#include "runtime/exec/plan_priv.h"

#include "kernels/scatter_elements.cu.h"
#include "kernels/scatter_last.cu.h"
#include "kernels/scatter_nd.cu.h"
#include "kernels/scatter_tile.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* An operand at a place; at most `most` of its elements are read. */
static void operand(KGen *k, const char *name, PmValue v, const Loc *l, int64_t most)
{
	const PmType *t = pm__type(k->p, v);

	pm__kg_in(k, name, l, t->dtype, least(most, pm__distinct(t, l)));
}

static PmStatus launch(KGen *k, const char *text, int64_t threads, PmErr *err)
{
	const PmPlan *p = k->p;
	PmNode n = k->node;
	char label[96];

	snprintf(label, sizeof label, "eager %s %s", pm_node_op_name(p->g, n), pm_dtype_name(k->dtype));
	return pm__kg_launch(k, label, text, threads, pm_op_flops(p->g, n), err);
}

/* Begins a launch with the way that updates are joined with what is there, if there is one. */
static void begin_join(KGen *k, PmPlan *p, PmNode n)
{
	static const char *const joins[][2] = { { "add", "((a) + (v))" },
						{ "mul", "((a) * (v))" },
						{ "max", "((v) > (a) || (v) != (v) ? (v) : (a))" },
						{ "min", "((v) < (a) || (v) != (v) ? (v) : (a))" } };
	const PmType *t = pm__type(p, pm_node_in(p->g, n, 0));
	const char *mode = pm_node_s(p->g, n, "reduction", "none");

	pm__kg_init(k, p, n, t->dtype);
	pm_str_addf(&k->head, "typedef %s A;\n", pm__acc_type(t->dtype));
	for (size_t i = 0; i < sizeof joins / sizeof *joins; i++)
		if (!strcmp(mode, joins[i][0]))
			pm__kg_define(k, "JOIN(a, v)", "%s", joins[i][1]);
}

/* Starts a launch that changes a copy of operand 0, which becomes the result. */
static PmStatus begin_scatter(KGen *k, PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, x);
	PmStatus st = pm__copy(p, n, t, pm__loc(p, x), pm__loc(p, y), err);

	if (st)
		return st;
	begin_join(k, p, n);
	pm__kg_out(k, "y", pm__loc(p, y), t->dtype,
		   least(pm__numel(p, y), pm__numel(p, pm_node_in(p->g, n, 2))));
	return PM_OK;
}

/* --- along an axis ---------------------------------------------------------------------------------------
 */

/* A scatter along one axis: lines, all other dimensions, and along each of them updates that say where on the
 * axis they go. Of x, indices, updates and y the strides of the lines' dimensions, and the steps along the
 * axis. */
typedef struct Lines {
	int64_t dim[PM_MAX_RANK], stride[4][PM_MAX_RANK], step[4], n;
	int64_t len, axis_dim; /* updates of a line, places of the axis */
	int rank;
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

/* What both kernels are told: the operands idx and u, lines, and the axis. */
static void put_lines(KGen *k, PmNode n, const Lines *l)
{
	static const char *const steps[4] = { "xs", "is", "us", "ys" };
	const int64_t *strides[4] = { l->stride[0], l->stride[1], l->stride[2], l->stride[3] };

	operand(k, "idx", pm_node_in(k->p->g, n, 1), &l->idx, INT64_MAX);
	operand(k, "u", pm_node_in(k->p->g, n, 2), &l->u, INT64_MAX);
	pm__kg_space(k, "o", l->dim, l->rank, strides, 4);
	pm__kg_int(k, "len", l->len);
	pm__kg_int(k, "axis_dim", l->axis_dim);
	for (int i = 0; i < 4; i++)
		pm__kg_int(k, steps[i], l->step[i]);
}

/* Tiles of the result each look through all updates of their lines: for results that are not so large that
 * copying them and then walking along the updates is less to read. */
static int is_tiled(const PmPlan *p, PmNode n)
{
	enum { MOST = 4 << 20 };
	int64_t updates = pm__numel(p, pm_node_in(p->g, n, 1));

	return updates > 0 && updates <= INT32_MAX && pm__numel(p, pm_node_out(p->g, n, 0)) <= MOST;
}

/* Places of the axis in a tile of so many lines: as many as leave three of four multiprocessors a block, 1 to
 * 8 for each thread. */
static int tile_rows(const PmTarget *t, int64_t axis_dim, int64_t across, int columns)
{
	int rows = 8 * PM__BLOCK / columns, least = PM__BLOCK / columns;

	while (rows > least && (axis_dim + rows - 1) / rows * across <= t->sm_count * 3 / 4)
		rows /= 2;
	return rows;
}

enum { COLUMNS = 32 }; /* most lines of a tile */

/* A launch of tiles of so many lines; y is placed, and has the lines of l. */
static PmStatus launch_tiles(KGen *k, PmNode n, const Lines *l, int columns, const char *text, PmErr *err)
{
	PmPlan *p = k->p;
	PmValue x = pm_node_in(p->g, n, 0), y = pm_node_out(p->g, n, 0);
	int64_t across = (l->n + columns - 1) / columns;
	int rows = tile_rows(p->target, l->axis_dim, across, columns);
	int64_t tiles = (l->axis_dim + rows - 1) / rows;

	pm__kg_define(k, "R", "%d", rows);
	if (l->step[3] == 1)
		pm__kg_define(k, "LAST", "1");
	pm__kg_out(k, "y", pm__loc(p, y), k->dtype, pm__numel(p, y));
	operand(k, "x", x, pm__loc(p, x), INT64_MAX);
	put_lines(k, n, l);
	pm__kg_divisor(k, "tiles", tiles);
	return launch(k, text, tiles * across * PM__BLOCK, err);
}

/* Updates are joined with what is there. */
static PmStatus join_tiles(PmPlan *p, PmNode n, const Lines *l, PmErr *err)
{
	enum { PIECE = 128, WIDE_PIECE = 64, LEAST = 8 };
	int dtype = pm__type(p, pm_node_out(p->g, n, 0))->dtype,
	    piece = strcmp(pm__acc_type(dtype), "float") ? WIDE_PIECE : PIECE;
	KGen k;

	while (piece > LEAST && piece / 2 >= l->len)
		piece /= 2;
	begin_join(&k, p, n);
	pm__kg_define(&k, "CH", "%d", piece);
	return launch_tiles(&k, n, l, COLUMNS, scatter_tile_cu, err);
}

static int64_t pow2_to(int64_t n, int64_t most)
{
	int64_t p = 1;

	while (p < n && p < most)
		p *= 2;
	return p;
}

/* The last update takes the place of what is there. */
static PmStatus last_tiles(PmPlan *p, PmNode n, const Lines *l, PmErr *err)
{
	enum { EACH = 8 };
	int columns = (int)pow2_to(l->n, COLUMNS), lines = 1;
	KGen k;

	for (int d = 0; d < l->rank; d++)
		if (l->stride[1][d] && l->dim[d] > 1)
			lines = columns;
	pm__kg_init(&k, p, n, pm__type(p, pm_node_out(p->g, n, 0))->dtype);
	pm__kg_define(&k, "C", "%d", columns);
	pm__kg_define(&k, "LINES", "%d", lines);
	pm__kg_define(&k, "EACH", "%d", (int)pow2_to((l->len * lines + PM__BLOCK - 1) / PM__BLOCK, EACH));
	return launch_tiles(&k, n, l, columns, scatter_last_cu, err);
}

static PmStatus scatter_tiles(PmPlan *p, PmNode n, const Lines *l, PmErr *err)
{
	return strcmp(pm_node_s(p->g, n, "reduction", "none"), "none") ? join_tiles(p, n, l, err)
								       : last_tiles(p, n, l, err);
}

PmStatus eager_scatter_elements(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), idx = pm_node_in(p->g, n, 1), u = pm_node_in(p->g, n, 2),
		y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y), *it = pm__type(p, idx);
	const Loc *loc[4] = { pm__loc(p, x), pm__loc(p, idx), pm__loc(p, u), pm__loc(p, y) };
	int64_t axis = pm_node_i(p->g, n, "axis", 0);
	int tiled = is_tiled(p, n), fewer = 0; /* fewer: lines without updates */
	PmStatus st;
	Lines l;
	KGen k;

	for (int d = 0; d < t->rank; d++)
		fewer |= d != axis && t->dim[d] != it->dim[d];
	if (tiled)
		st = fewer ? pm__copy(p, n, t, loc[0], pm__loc(p, y), err) : pm__place(p, y, err);
	else
		st = begin_scatter(&k, p, n, err);
	if (st)
		return st;
	l = (Lines){ .n = 1, .len = it->dim[axis], .axis_dim = t->dim[axis], .idx = *loc[1], .u = *loc[2] };
	for (int d = 0; d < t->rank; d++)
		if (d != axis)
			add_line(&l, it->dim[d], loc[0]->stride[d], loc[1]->stride[d], loc[2]->stride[d],
				 loc[3]->stride[d]);
	for (int i = 0; i < 4; i++)
		l.step[i] = loc[i]->stride[axis];
	if (tiled)
		return scatter_tiles(p, n, &l, err);
	put_lines(&k, n, &l);
	return launch(&k, scatter_elements_cu, l.len ? l.n : 0, err);
}

/* --- ScatterND -------------------------------------------------------------------------------------------
 */

/* Tuples of one index: rows along the first axis. */
static PmStatus scatter_rows(PmPlan *p, PmNode n, const Loc *idx, const Loc *u, PmErr *err)
{
	PmValue y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y);
	const Loc *xl = pm__loc(p, pm_node_in(p->g, n, 0)), *yl = pm__loc(p, y);
	PmStatus st = pm__place(p, y, err);
	Lines l = { .n = 1, .axis_dim = t->dim[0], .idx = *idx, .u = *u };

	if (st)
		return st;
	for (int d = 1; d < t->rank; d++)
		add_line(&l, t->dim[d], xl->stride[d], 0, yl->stride[d], yl->stride[d]);
	l.len = pm__numel(p, pm_node_in(p->g, n, 1));
	l.step[0] = xl->stride[0];
	l.step[1] = 1;
	l.step[2] = l.step[3] = yl->stride[0];
	return scatter_tiles(p, n, &l, err);
}

PmStatus eager_scatter_nd(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue idx = pm_node_in(p->g, n, 1), u = pm_node_in(p->g, n, 2), y = pm_node_out(p->g, n, 0);
	const PmType *t = pm__type(p, y), *it = pm__type(p, idx);
	int len = (int)it->dim[it->rank - 1];
	int64_t row = 1, tuples = 1, threads;
	Loc il, ul;
	KGen k;
	PmStatus st = pm__make_contiguous(p, n, idx, &il, err);

	if (!st)
		st = pm__make_contiguous(p, n, u, &ul, err);
	if (!st && len == 1 && is_tiled(p, n))
		return scatter_rows(p, n, &il, &ul, err);
	if (!st)
		st = begin_scatter(&k, p, n, err);
	if (st)
		return st;
	for (int d = len; d < t->rank; d++)
		row *= t->dim[d];
	for (int d = 0; d < it->rank - 1; d++)
		tuples *= it->dim[d];
	threads = strcmp(pm_node_s(p->g, n, "reduction", "none"), "none") ? row : row * tuples;
	pm__kg_define(&k, "LEN", "%d", len);
	operand(&k, "idx", idx, &il, INT64_MAX);
	operand(&k, "u", u, &ul, INT64_MAX);
	pm__kg_list(&k, "yd", t->dim, len);
	pm__kg_int(&k, "row", row);
	pm__kg_int(&k, "tuples", tuples);
	pm__kg_int(&k, "total", threads);
	return launch(&k, scatter_nd_cu, tuples ? threads : 0, err);
}
