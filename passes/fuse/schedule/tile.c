/* SPDX-License-Identifier: Apache-2.0 */
/* tile.c - which tile of a product a block makes, and how long that takes. */
#include "../fuse.h"

enum {
	WARPS_LEAST = 4,
	SPARE = 2 << 10 /* bytes of a block's declared shared memory that other parts of the kernel have */
};

int f_tile_shared(const Tile *t)
{
	return t->warps * t->rows * (t->cols + 4);
}

int64_t f_tile_blocks(const Op *o, const Section *s, const Tile *t)
{
	return o->par[0] * f_over(o->par[s->swapped ? 2 : 1], t->rows) *
	       f_over(o->par[s->swapped ? 1 : 2], t->cols);
}

/* Words that a lane holds of one piece of K. */
static int words(const Section *s, const Tile *t, int half)
{
	if (!half)
		return (t->mi + t->ni) * t->piece;
	return t->mi * 8 + (s->b.along_k || s->b.vec > 1 ? t->ni * 4 : t->ni * 8);
}

/* Elements of one access to b: as many columns as a lane has. */
static int width(const Section *s, const Tile *t)
{
	return !s->b.along_k && s->b.vec > t->ni ? t->ni : s->b.vec;
}

/* Cycles that a multiprocessor's loads take for one block. */
static double load_cycles(const Ctx *c, const Op *o, const Section *s, const Tile *t, int half)
{
	const Target *g = f_target();
	int size = half ? 2 : 4, va = s->a.vec, vb = width(s, t);
	double a = f_real_rows(c, s, t) * (double)o->par[3] / (32 * va),
	       b = f_real_cols(c, s, t) * (double)o->par[3] / (32 * vb);
	double wide_a = 32.0 * va * size / g->sm_load_bytes_per_cycle,
	       wide_b = 32.0 * vb * size / g->sm_load_bytes_per_cycle, least = g->load_cycles;

	/* Lanes of a row of the tile read the same elements, in one go. */
	if (!half) {
		a *= 32.0 / t->lm;
		b *= t->lm;
		wide_a = least;
		/* Lanes side by side along columns read a line of memory each. */
		wide_b = s->b.along_k ? 32.0 / t->lm : wide_b;
	}
	return a * (wide_a > least ? wide_a : least) + b * (wide_b > least ? wide_b : least);
}

/* Blocks whose shared memory a multiprocessor has. */
static int shared_fit(const Tile *t)
{
	const PmTarget *g = &f_target()->is;

	return (int)(g->sm_shared_bytes / (4 * f_tile_shared(t) + g->block_kept_shared_bytes));
}

double f_tile_time(const Ctx *c, const Section *s, const Tile *t)
{
	const Target *g = f_target();
	const Op *o = &c->g->op[s->dot];
	int half = f_is_half(c, o), threads = 32 * t->warps * t->wn, i;
	double k = (double)o->par[3], blocks = (double)f_tile_blocks(o, s, t),
	       each = (double)f_over((int64_t)blocks, g->is.sm_count);
	int regs = 48 + t->mi * t->ni * (half ? 4 : 1) + t->depth * words(s, t, half);
	int fit = g->is.sm_registers /
		  (threads * (regs > g->is.thread_registers ? g->is.thread_registers : regs)),
	    most = 0;
	double turns = (double)f_over(f_over(o->par[3], t->piece), t->warps), part[5], sum = 0;

	fit = fit > g->is.sm_threads / threads ? g->is.sm_threads / threads : fit;
	fit = fit > shared_fit(t) ? shared_fit(t) : fit;
	part[0] = (double)f_over((int64_t)each, fit < 1 ? 1 : fit) *
		  (g->tile_wait_us * (1 + turns / t->depth) + g->tile_join_us +
		   g->tile_result_us * (double)f_over(t->rows * t->cols, 4 * threads));
	part[1] = each * load_cycles(c, o, s, t, half) / g->sm_cycles_per_us;
	part[2] = each * t->rows * t->cols * k / (half ? g->mma_per_us : g->fma_per_us);
	part[3] = blocks * (f_real_rows(c, s, t) + f_real_cols(c, s, t)) * k * (half ? 2 : 4) /
		  g->l2_bytes_per_us;
	/* Rows are stored by loops of their own. */
	part[4] = each * f_real_rows(c, s, t) * f_real_cols(c, s, t) / 32 *
		  (g->tile_result_cycles + (s->rows ? 0 : g->tile_store_cycles / s->vec)) /
		  g->sm_cycles_per_us;
	for (i = 0; i < 5; i++) {
		sum += part[i];
		if (part[i] > part[most])
			most = i;
	}
	return part[most] + g->overlap_share * (sum - part[most]);
}

static int legal(const Ctx *c, const Section *s, Tile *t, int half)
{
	int64_t k = c->g->op[s->dot].par[3], turns;
	int w;

	t->piece = half ? 32 : t->mi + t->ni <= 8 ? 8 : 4;
	turns = f_over(f_over(k, t->piece), t->warps);
	w = words(s, t, half);
	for (t->depth = 4; t->depth > 1 && (t->depth * w > 96 || t->depth > turns); t->depth--)
		;
	return 4 * f_tile_shared(t) <= f_target()->is.block_static_shared_bytes - SPARE &&
	       (t->warps * t->wn <= WARPS_LEAST || k > (int64_t)t->piece * t->warps / 2);
}

/* Whole rows of the product, by a few threads each. */
static int rows_fit(const Op *o, Tile *t, int unit)
{
	t->wn = 1;
	while (t->wn * unit < o->par[2] && t->wn < 16)
		t->wn *= 2;
	t->cols = t->wn * unit;
	return t->cols >= o->par[2] && t->wn * t->warps <= 16 && 32 * t->wn * t->warps / t->rows <= 32 &&
	       32 * t->wn * t->warps >= t->rows;
}

/* Whether one of these has as many rows and columns. */
static int is_taken(const Tile *taken, int n, const Tile *t)
{
	int i;

	for (i = 0; i < n && (taken[i].rows != t->rows || taken[i].cols != t->cols); i++)
		;
	return i < n;
}

/* The best tile of other rows or columns than those that are taken. */
static int best_but(const Ctx *c, const Section *s, int warps, const Tile *taken, int n_taken, Tile *best)
{
	static const int8_t shapes[][3] = { { 1, 2, 0 }, { 1, 4, 0 }, { 1, 8, 0 }, { 2, 2, 0 }, { 2, 4, 0 },
					    { 2, 8, 0 }, { 1, 1, 1 }, { 1, 2, 1 }, { 1, 4, 1 }, { 2, 1, 1 },
					    { 2, 2, 1 }, { 2, 4, 1 }, { 4, 1, 1 }, { 4, 2, 1 }, { 4, 4, 1 },
					    { 2, 4, 4 }, { 4, 4, 4 }, { 4, 8, 4 }, { 8, 8, 4 } };
	const Op *o = &c->g->op[s->dot];
	int half = f_is_half(c, o), w;
	double least = 0;
	size_t i;

	best->warps = 0;
	for (i = 0; i < sizeof shapes / sizeof *shapes; i++)
		for (w = s->rows ? 1 : WARPS_LEAST; w <= 16; w *= 2) {
			Tile t = { .mi = shapes[i][0], .ni = shapes[i][1], .lm = shapes[i][2], .warps = w };
			double time;

			if (half != !t.lm || (warps && warps != w))
				continue;
			t.rows = half ? t.mi * 16 : t.mi * t.lm;
			t.cols = half ? t.ni * 8 : t.ni * (32 / t.lm);
			t.wn = 1;
			if (s->rows && !rows_fit(o, &t, t.cols))
				continue;
			if (!legal(c, s, &t, half) || is_taken(taken, n_taken, &t))
				continue;
			time = f_tile_time(c, s, &t);
			if (best->warps && time >= least)
				continue;
			least = time;
			*best = t;
		}
	return best->warps;
}

/* The tile of this rank by its estimate, or the last there is; 0: there is none. */
static int choose(const Ctx *c, const Section *s, int warps, int rank, Tile *best)
{
	Tile taken[F_CHOICES];
	int n;

	for (n = 0; n <= rank && best_but(c, s, warps, taken, n, &taken[n]); n++)
		*best = taken[n];
	return n;
}

/* Writes it with the widest vectors that all accesses allow. */
static void fit_vector(Ctx *c, Section *s)
{
	const Op *o = &c->g->op[s->dot];
	int64_t fast = o->par[s->swapped == s->down ? 2 : 1];
	int vec = 8, side = s->down ? s->tile.rows : s->tile.cols;

	while (vec > 1 &&
	       (fast % vec || side % vec || s->tile.rows * s->tile.cols / vec < 32 * s->tile.warps))
		vec /= 2;
	for (;; vec /= 2) {
		s->vec = vec;
		if ((f_build(c, s) && !s->lane_loads) || vec == 1)
			return;
		c->fail = NULL;
	}
}

/* Rows: threads of a row, and what they take at once. */
static void fit_row_vector(Ctx *c, Section *s)
{
	int vec = 8;

	s->per_block = s->tile.rows;
	s->group = s->block / s->tile.rows;
	c->keep = 1;
	while (vec > 1 && (s->extent % vec || s->extent / vec < s->group))
		vec /= 2;
	for (;; vec /= 2) {
		s->vec = vec;
		if ((f_build(c, s) && !s->lane_loads) || vec == 1)
			break;
		c->fail = NULL;
	}
	s->keep = (s->extent / s->vec + s->group - 1) / s->group * s->vec * s->cached <= 64;
	if (!s->keep && !c->fail) {
		c->keep = 0;
		f_build(c, s);
	}
}

/* On an H200 1.2 Gflop of 249 rows and sums of 3,072 took 1.6 times what the library takes, half the
 * estimate; 69 Gflop of 256 rows and sums of 524,288, in slices, 1.6 times as well. */
int f_is_long(const Ctx *c, const Op *o)
{
	return !f_is_half(c, o) &&
	       2.0 * (double)o->par[0] * (double)o->par[1] * (double)o->par[2] * (double)o->par[3] >
		       f_target()->longest_f32_flops;
}

int f_schedule_product(Ctx *c, Section *s)
{
	static const Tile any = { 16, 16, 1, 2, 0, 1, 4, 1, 32 };
	int warps = s == &c->section[0] ? 0 : c->section[0].tile.warps;

	s->tile = any;
	s->vec = s->group = s->per_block = 1;
	s->down = 0;
	c->keep = 0;
	if (!f_build(c, s))
		return 0;
	if (f_is_long(c, &c->g->op[s->dot]))
		return f_fail(c, "a product of floats this large is the library's") && 0;
	if (!choose(c, s, warps, warps ? 0 : c->rank, &s->tile))
		return f_fail(c, "no tile of the product fits") && 0;
	s->block = 32 * s->tile.warps * s->tile.wn;
	if (s->rows) {
		fit_row_vector(c, s);
	} else {
		s->down = s->fast_m > s->fast_n;
		fit_vector(c, s);
	}
	s->wait = f_tile_time(c, s, &s->tile);
	s->blocks = f_tile_blocks(&c->g->op[s->dot], s, &s->tile);
	return !c->fail;
}
