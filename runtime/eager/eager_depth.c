/* SPDX-License-Identifier: Apache-2.0 */
/* eager_depth.c - convolution of each channel by itself: a kernel of its own, since there is nothing to share
 * between channels and libraries serve it badly where images lie plane by plane. */
#include "runtime/exec/plan_priv.h"

#include "kernels/conv_depth.cu.h"
#include "kernels/conv_depth_tile.cu.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

enum {
	MAX_TAPS = 49,       /* of a window: they are held in registers */
	MAX_TILE_TAPS = 100, /* the same by tiles */
	MAX_STRIP = 8,
	BLOCK = 128,
	TILE_BYTES = 48 << 10,
	COLS_EACH = 4 /* columns of a thread of a tile */
};

/* Sizes with a height of 1 where there is one spatial dimension. */
typedef struct Depth {
	int64_t n, filters, channels, y[2], x[2], k[2], stride[2], pad[2], dilation[2];
	int64_t off, xs[4], ws[3]; /* where x begins; strides: n, c, h, w and m, h, w */
} Depth;

/* How conv_depth_tile.cu shares the work. */
typedef struct Tile {
	int64_t cols, rows, rows_each, planes; /* threads beside and below each other, results below each
						  other of one, images of a block */
	int64_t vec, shift; /* elements that are read at once, and how many of them before the first that is
			       needed */
	int64_t height, pitch; /* of what lies in shared memory for an image */
	int64_t down, across;  /* tiles of an image */
} Tile;

static int64_t ceil_of(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

static void size_of(const Depth *o, Tile *t)
{
	t->height = (t->rows * t->rows_each - 1) * o->stride[0] + (o->k[0] - 1) * o->dilation[0] + 1;
	t->pitch = ceil_of(t->shift + (t->cols * COLS_EACH - 1) * o->stride[1] +
				   (o->k[1] - 1) * o->dilation[1] + 1,
			   4) *
		   4;
}

/* Elements of a row of x that one aligned access can take at any multiple of that number, up to 16 bytes. */
static int64_t at_once(const Depth *o, int dtype)
{
	int64_t v = 4;

	while (v > 1 && (v * (int64_t)pm_dtype_size(dtype) > 16 || o->xs[3] != 1 || o->x[1] % v ||
			 o->xs[2] % v || o->xs[1] % v || o->xs[0] % v || o->off % v))
		v /= 2;
	return v;
}

/* Whether tiles are faster than strips (an H200, 2026-11-30: docs/design/runtime.md). They cost what they
 * take to fill: images have to be large, and windows have to have many taps, or 16-bit elements, which strips
 * convert for each tap; small windows serve where much is to be read, four elements at once. */
static int pays(const Depth *o, int dtype)
{
	enum { LARGE_IMAGE = 28 * 28, HALF_TAPS = 25, TAPS = 36, FEW_TAPS = 9, MANY_RESULTS = 1 << 20 };
	int64_t taps = o->k[0] * o->k[1], places = o->y[0] * o->y[1];

	if (taps > MAX_TAPS)
		return places > 0;
	if (places < LARGE_IMAGE || o->stride[0] != 1 || o->stride[1] != 1)
		return 0;
	return taps >= (pm_dtype_size(dtype) == 2 ? HALF_TAPS : TAPS) ||
	       (taps >= FEW_TAPS && o->n * o->filters * places >= MANY_RESULTS && at_once(o, dtype) == 4);
}

/* Whether a tile serves, and which. Small images go several to a block, while there are blocks for all
 * multiprocessors. */
static int tile(const Depth *o, int dtype, const PmTarget *target, Tile *t)
{
	enum { ROWS_EACH = 4, COLS = 16 };
	int64_t taps = o->k[0] * o->k[1], images = o->n * o->filters, bytes = dtype == PM_F64 ? 8 : 4;

	if (o->k[0] < 2 || o->k[1] < 2 || taps > MAX_TILE_TAPS || images == 0 || !pays(o, dtype))
		return 0;
	*t = (Tile){ .rows_each = ROWS_EACH, .planes = 1, .across = ceil_of(o->y[1], COLS * COLS_EACH) };
	t->cols = ceil_of(o->y[1], COLS_EACH * t->across);
	t->vec = at_once(o, dtype);
	t->shift = (t->vec - o->pad[1] % t->vec) % t->vec;
	while (t->rows_each > 1 &&
	       (t->rows_each >= 2 * o->y[0] ||
		images * o->y[0] * o->y[1] / (COLS_EACH * t->rows_each) < (int64_t)target->sm_count * BLOCK))
		t->rows_each /= 2;
	/* Tiles of an image are alike, and no larger than shared memory. */
	for (t->down = ceil_of(o->y[0], t->rows_each * (BLOCK / t->cols));; t->down++) {
		t->rows = ceil_of(o->y[0], t->rows_each * t->down);
		size_of(o, t);
		if (t->rows == 1 || t->height * t->pitch * bytes <= TILE_BYTES)
			break;
	}
	t->down = ceil_of(o->y[0], t->rows * t->rows_each);
	if (t->down * t->across == 1)
		t->planes = BLOCK / (t->cols * t->rows);
	while (t->planes > 1 && (ceil_of(images, t->planes) < 2 * (int64_t)target->sm_count ||
				 t->planes * t->height * t->pitch * bytes > TILE_BYTES))
		t->planes--;
	return t->height * t->pitch * bytes <= TILE_BYTES;
}

static void measure(const PmPlan *p, PmNode n, Depth *o)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1);
	const PmType *xt = pm__type(p, x), *wt = pm__type(p, w), *yt = pm__type(p, pm_node_out(p->g, n, 0));
	const Loc *xl = pm__loc(p, x), *wl = pm__loc(p, w);
	int skip = 4 - xt->rank;
	const int64_t *strides, *pads, *dilations;

	*o = (Depth){ .n = xt->dim[0],
		      .filters = wt->dim[0],
		      .channels = xt->dim[1],
		      .y = { 1, 1 },
		      .x = { 1, 1 },
		      .k = { 1, 1 },
		      .stride = { 1, 1 },
		      .dilation = { 1, 1 },
		      .off = xl->off,
		      .xs = { xl->stride[0], xl->stride[1] },
		      .ws = { wl->stride[0] } };
	pm_node_ints(p->g, n, "strides", &strides);
	pm_node_ints(p->g, n, "pads", &pads);
	pm_node_ints(p->g, n, "dilations", &dilations);
	for (int d = skip; d < 2; d++) {
		o->y[d] = yt->dim[2 + d - skip];
		o->x[d] = xt->dim[2 + d - skip];
		o->k[d] = wt->dim[2 + d - skip];
		o->stride[d] = strides[d - skip];
		o->pad[d] = pads[d - skip];
		o->dilation[d] = dilations[d - skip];
		o->xs[2 + d] = xl->stride[2 + d - skip];
		o->ws[1 + d] = wl->stride[2 + d - skip];
	}
}

int pm__is_depthwise(const PmPlan *p, PmNode n)
{
	const PmType *xt = pm__type(p, pm_node_in(p->g, n, 0)), *wt = pm__type(p, pm_node_in(p->g, n, 1));
	int64_t groups = pm_node_i(p->g, n, "group", 1);
	Depth o;
	Tile t;

	if (pm_node_op(p->g, n) != PM_OP_Conv || (xt->rank != 3 && xt->rank != 4) || groups <= 1 ||
	    groups != xt->dim[1] || wt->dim[1] != 1)
		return 0;
	measure(p, n, &o);
	return o.k[0] * o.k[1] <= MAX_TAPS || tile(&o, xt->dtype, p->target, &t);
}

/* Results below each other that a thread makes (of a single row: beside each other): many where there are
 * enough threads all the same. */
static int64_t strip(const Depth *o, const PmTarget *t)
{
	int64_t full = (int64_t)t->sm_count * t->sm_threads / 4, h = MAX_STRIP,
		along = o->y[0] > 1 ? o->y[0] : o->y[1];

	while (h > 1 && (along < h || o->n * o->filters * o->y[0] * o->y[1] / h < full))
		h /= 2;
	return h;
}

/* What both kernels are told. */
static void put_sizes(KGen *k, const Depth *o)
{
	static const char *const names[2][3] = { { "KH", "SH", "DH" }, { "KW", "SW", "DW" } };

	for (int d = 0; d < 2; d++) {
		pm__kg_define(k, names[d][0], "%lld", (long long)o->k[d]);
		pm__kg_define(k, names[d][1], "%lld", (long long)o->stride[d]);
		pm__kg_define(k, names[d][2], "%lld", (long long)o->dilation[d]);
	}
	pm__kg_define(k, "XW(c)", o->xs[3] == 1 ? "(c)" : "((c) * xs_w)");
	pm__kg_define(k, "MULT", "%lld", (long long)(o->filters / o->channels));
	pm__kg_int(k, "y_h", o->y[0]);
	pm__kg_int(k, "y_w", o->y[1]);
	pm__kg_divisor(k, "filters", o->filters);
	pm__kg_int(k, "height", o->x[0]);
	pm__kg_int(k, "width", o->x[1]);
	pm__kg_int(k, "ph", o->pad[0]);
	pm__kg_int(k, "pw", o->pad[1]);
	pm__kg_int(k, "xs_n", o->xs[0]);
	pm__kg_int(k, "xs_c", o->xs[1]);
	pm__kg_int(k, "xs_h", o->xs[2]);
	pm__kg_int(k, "xs_w", o->xs[3]);
	pm__kg_int(k, "ws_m", o->ws[0]);
	pm__kg_int(k, "ws_h", o->ws[1]);
	pm__kg_int(k, "ws_w", o->ws[2]);
}

/* A thread for each strip of results. */
static PmStatus launch_strips(KGen *k, const char *label, const Depth *o, const PmTarget *target,
			      int64_t flops, PmErr *err)
{
	int64_t h = strip(o, target), wide = 1, threads;

	if (o->y[0] == 1) {
		wide = h;
		h = 1;
	}
	pm__kg_define(k, "TH", "%lld", (long long)h);
	pm__kg_define(k, "TW", "%lld", (long long)wide);
	pm__kg_divisor(k, "y_cols", ceil_of(o->y[1], wide));
	pm__kg_divisor(k, "strips", ceil_of(o->y[0], h));
	threads = o->y[0] * o->y[1] > 0 ? o->n * o->filters * ceil_of(o->y[0], h) * ceil_of(o->y[1], wide)
					: 0;
	pm__kg_int(k, "total", threads);
	return pm__kg_launch_grid(k, label, conv_depth_cu, (PmGrid){ ceil_of(threads, BLOCK), 1, BLOCK },
				  flops, err);
}

static PmStatus launch_tiles(KGen *k, const char *label, const Depth *o, const Tile *t, int whole,
			     int64_t flops, PmErr *err)
{
	int64_t images = o->n * o->filters, block = ceil_of(t->planes * t->rows * t->cols, 32) * 32;

	pm__kg_define(k, "R", "%lld", (long long)t->rows_each);
	pm__kg_define(k, "COLS", "%lld", (long long)t->cols);
	pm__kg_define(k, "TROWS", "%lld", (long long)t->rows);
	pm__kg_define(k, "PLANES", "%lld", (long long)t->planes);
	pm__kg_define(k, "IH", "%lld", (long long)t->height);
	pm__kg_define(k, "PITCH", "%lld", (long long)t->pitch);
	pm__kg_define(k, "V", "%lld", (long long)t->vec);
	pm__kg_define(k, "SHIFT", "%lld", (long long)t->shift);
	pm__kg_define(k, "WHOLE", "%d", whole);
	pm__kg_divisor(k, "tiles", t->down * t->across);
	pm__kg_divisor(k, "tiles_w", t->across);
	pm__kg_int(k, "images", images);
	return pm__kg_launch_grid(k, label, conv_depth_tile_cu,
				  (PmGrid){ ceil_of(images, t->planes) * t->down * t->across, 1, (int)block },
				  flops, err);
}

PmStatus pm__depthwise(PmPlan *p, PmNode n, PmErr *err)
{
	PmValue x = pm_node_in(p->g, n, 0), w = pm_node_in(p->g, n, 1), b = pm_node_in(p->g, n, 2),
		y = pm_node_out(p->g, n, 0);
	const PmType *xt = pm__type(p, x);
	PmStatus st = pm__place(p, y, err);
	int64_t flops = pm_op_flops(p->g, n);
	int whole, tiles;
	char label[96];
	Depth o;
	Tile t;
	KGen k;

	if (st)
		return st;
	measure(p, n, &o);
	pm__kg_init(&k, p, n, xt->dtype);
	pm_str_addf(&k.head, "typedef %s A;\n", pm__acc_type(xt->dtype));
	tiles = tile(&o, xt->dtype, p->target, &t);
	snprintf(label, sizeof label, "eager depthwise%s %s %s", tiles ? " tile" : "",
		 pm_node_op_name(p->g, n), pm_dtype_name(xt->dtype));
	pm__kg_out(&k, "y", pm__loc(p, y), xt->dtype, pm__numel(p, y));
	pm__kg_in(&k, "x", pm__loc(p, x), xt->dtype, pm__distinct(xt, pm__loc(p, x)));
	pm__kg_in(&k, "w", pm__loc(p, w), xt->dtype, pm__distinct(pm__type(p, w), pm__loc(p, w)));
	if (b.id) {
		pm__kg_define(&k, "HAS_BIAS", "1");
		pm__kg_in(&k, "bias", pm__loc(p, b), xt->dtype, pm__distinct(pm__type(p, b), pm__loc(p, b)));
		pm__kg_int(&k, "bs", pm__loc(p, b)->stride[0]);
	}
	put_sizes(&k, &o);
	whole = o.y[1] % COLS_EACH == 0 && pm__loc(p, y)->off % COLS_EACH == 0 &&
		pm_dtype_size(xt->dtype) <= 4;
	st = tiles ? launch_tiles(&k, label, &o, &t, whole, flops, err)
		   : launch_strips(&k, label, &o, p->target, flops, err);
	if (!st && pm__numel(p, y))
		p->steps.v[p->steps.n - 1].depthwise = tiles ? PM__BY_TILES : PM__BY_STRIPS;
	return st;
}
