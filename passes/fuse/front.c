/* SPDX-License-Identifier: Apache-2.0 */
/* front.c - a product in a launch of its own, in front of the rest: parts of its sum are left in memory, and
 * the launches behind it add them up where they ask for the product. So anything may follow, and a long sum
 * is shared by many blocks.
 */
#include "fuse.h"

#include "./codegen/gen.h"

#include "front.cu.h"
#include "front_float.cu.h"
#include "front_half.cu.h"

enum { MOST_SLICES = 32, BUFFERS = 2 };

/* ---- which tiles ---- */

/* Elements of K of one piece. */
static int piece(int half)
{
	return half ? 64 : 32;
}

/* Words of shared memory. */
static int shared(const Section *s, int half)
{
	const Tile *t = &s->tile;

	if (half)
		return BUFFERS * (t->rows * 32 + 32 * (t->cols + (s->b.along_k ? 0 : 2)));
	return BUFFERS * (t->rows * 36 + (s->b.along_k ? t->cols * 36 : 32 * (t->cols + 4)));
}

/* Cycles that a multiprocessor takes for one piece of K of a block: instructions, most of them to read. */
static double piece_cycles(const Op *o, const Section *s, int half)
{
	const Target *g = f_target();
	const Tile *t = &s->tile;
	double area = (double)t->rows * t->cols / 4096, wide = t->cols / 64.0;
	double made = (half ? g->front_half_piece_cycles : g->front_f32_piece_cycles) * area,
	       read = half ? g->front_half_read_cycles : g->front_f32_read_cycles;

	made += read / s->a.vec * t->rows / 64;
	if (o->mode == FORM_CONV)
		return made +
		       (half ? g->front_image_half_read_cycles : g->front_image_f32_read_cycles) * wide;
	return made + read / s->b.vec * wide;
}

/* Microseconds of the launch with s->split slices of s->extent elements of K. */
double f_front_time(const Ctx *c, const Section *s)
{
	const Target *g = f_target();
	const Op *o = &c->g->op[s->dot];
	const Tile *t = &s->tile;
	int half = f_is_half(c, &c->g->op[s->dot]), fit = g->is.sm_threads / s->block, i, most = 0;
	double size = half ? 2 : 4, blocks = (double)s->blocks,
	       pieces = (double)f_over(s->extent, piece(half)), part[3], sum = 0;
	double each = (double)f_over(s->blocks, g->is.sm_count), read;

	fit = fit > 3 ? 3 : fit;
	read = blocks * (f_real_rows(c, s, t) + f_real_cols(c, s, t)) * (double)s->extent * size;
	part[0] = (double)f_over((int64_t)each, fit) *
		  (g->tile_wait_us +
		   pieces * (o->mode == FORM_CONV ? g->front_image_piece_us : g->front_piece_us));
	part[1] = each * pieces * piece_cycles(o, s, half) / g->sm_cycles_per_us;
	part[2] = read / g->l2_bytes_per_us;
	for (i = 0; i < 3; i++) {
		sum += part[i];
		if (part[i] > part[most])
			most = i;
	}
	return part[most] + g->overlap_share * (sum - part[most]) + g->front_join_us +
	       (double)s->split * (double)f_numel(o) * 4 / g->slice_bytes_per_us;
}

/* Cuts K into about n slices; 0 when that many make no difference. */
static int cut(const Ctx *c, Section *s, int64_t n)
{
	const Op *o = &c->g->op[s->dot];
	int64_t k = o->par[3], one = piece(f_is_half(c, &c->g->op[s->dot])), slices;

	s->extent = f_over(f_over(k, n), one) * one;
	slices = f_over(k, s->extent);
	if (slices != n)
		return 0;
	s->split = (int)slices;
	s->blocks = slices * f_tile_blocks(o, s, &s->tile);
	return (double)f_numel(o) * 4 * (double)slices <= f_target()->slice_most_bytes;
}

/* The best slices of a tile; 0 when none are possible. */
static int slice(const Ctx *c, Section *s, double *time)
{
	Section best = *s;
	double now;
	int64_t k;
	int found = 0;

	for (k = 1; k <= MOST_SLICES; k++) {
		if (!cut(c, s, k))
			continue;
		now = f_front_time(c, s);
		if (found && now >= *time)
			continue;
		*time = now;
		best = *s;
		found = 1;
	}
	*s = best;
	return found;
}

/* The tile of this rank by its estimate, or the last there is; without blocks when none is possible. */
static void choose(const Ctx *c, Section *s, int rank)
{
	static const int8_t halves[][4] = { { 1, 4, 1, 2 }, { 2, 4, 1, 2 }, { 4, 2, 1, 2 }, { 2, 4, 2, 2 } };
	static const int8_t floats[][4] = { { 1, 8, 2, 4 }, { 1, 8, 4, 4 } };
	enum { MOST = 4 };
	int half = f_is_half(c, &c->g->op[s->dot]), n = half ? 4 : 2, found = 0, i, k;
	const Section none = *s;
	Section made[MOST];
	double time[MOST];

	for (i = 0; i < n; i++) {
		const int8_t *shape = half ? halves[i] : floats[i];
		Tile *t = &s->tile;
		double now = 0;

		*s = none;
		*t = (Tile){ .warps = shape[0], .wn = shape[1], .mi = shape[2], .ni = shape[3] };
		t->rows = half ? t->warps * t->mi * 16 : t->mi * 16;
		t->cols = half ? t->wn * t->ni * 8 : 64;
		s->block = 32 * t->warps * t->wn;
		if (!slice(c, s, &now))
			continue;
		for (k = found++; k > 0 && time[k - 1] > now; k--) {
			made[k] = made[k - 1];
			time[k] = time[k - 1];
		}
		made[k] = *s;
		time[k] = now;
	}
	*s = found ? made[rank < found ? rank : found - 1] : none;
}

static int only_product(const Ctx *c)
{
	int i, dot = 0;

	for (i = 0; i < c->g->n_nodes; i++)
		if (c->g->node[i].in_set && c->g->node[i].dot)
			dot = dot ? -1 : c->g->node[i].dot;
	return dot;
}

int f_front(Ctx *c)
{
	Section *s = &c->front;

	*s = (Section){ .vec = 1 };
	s->dot = only_product(c);
	if (s->dot < 0)
		return f_fail(c, "there are two products") && 0;
	if (c->g->op[s->dot].mode != FORM_CONV && f_is_long(c, &c->g->op[s->dot]))
		return f_fail(c, "a product of floats this large is the library's") && 0;
	f_clear(c, s);
	if (!f_factors(c, s))
		return 0;
	choose(c, s, c->rank);
	if (!s->blocks)
		return f_fail(c, "no tile of the product fits") && 0;
	s->wait = f_front_time(c, s);
	return 1;
}

int64_t f_front_scratch(const Ctx *c)
{
	return c->apart ? 4 * c->front.split * f_numel(&c->g->op[c->front.dot]) : 0;
}

/* ---- text ---- */

void f_front_source(const Ctx *c, PmText *t)
{
	pm_text_add(t, front_cu);
	pm_text_add(t, f_is_half(c, &c->g->op[c->front.dot]) ? front_half_cu : front_float_cu);
}

static void number(PmText *t, const char *before, int64_t x)
{
	pm_text_add(t, before);
	pm_text_int(t, x);
}

/* "Across<64, 256, 8, false, 768>": how b is read. */
static void reader(Ctx *c, const Section *s, PmText *t, int half, int vec)
{
	const Op *o = &c->g->op[s->dot];
	int i;

	pm_text_add(t, o->mode == FORM_CONV ? half ? "Patches<" : "FloatPatches<"
		       : half               ? "Across<"
					    : "FloatsB<");
	if (half) {
		pm_text_int(t, s->tile.cols);
		number(t, ", ", s->block);
		pm_text_add(t, ", ");
	}
	if (o->mode == FORM_CONV) {
		for (i = 0; i < CONV_N; i++)
			number(t, i ? ", " : "Window<", o->par[DOT_CONV + i]);
		pm_text_add(t, ">>");
		return;
	}
	pm_text_int(t, vec);
	pm_text_add(t, s->b.along_k ? ", true" : ", false");
	number(t, ", ", s->b.along_k ? s->b.by_row : s->b.by_k);
	pm_text_add(t, ">");
}

/* front_half<...>(...) with accesses of the widest, or of one element. */
static void call(Ctx *c, const Section *s, PmText *t, int wide)
{
	const Tile *l = &s->tile;
	int half = f_is_half(c, &c->g->op[s->dot]);

	if (half) {
		pm_text_add(t, "front_half<");
		pm_text_add(t, f_ctype(c->g->op[c->g->op[s->dot].in[0]].dtype));
		number(t, ", ", wide ? 2 : 1);
		number(t, ", ", l->warps);
		number(t, ", ", l->wn);
		number(t, ", ", l->mi);
		number(t, ", ", l->ni);
	} else {
		number(t, "front_float<", wide ? 2 : 1);
		number(t, ", ", l->mi);
	}
	number(t, ", ", wide ? s->a.vec : 1);
	number(t, ", ", s->a.by_row);
	pm_text_add(t, ", ");
	reader(c, s, t, half, wide ? s->b.vec : 1);
	number(t, ", ", c->g->op[s->dot].par[2]);
	pm_text_add(t, s->swapped ? ", true" : ", false");
	number(t, ">(a, b, n0, ", f_tile_rows(c, s));
	number(t, " - m0, ", f_tile_cols(c, s));
	pm_text_add(t, " - n0, from, end, out, shared);\n");
}

void f_front_text(Ctx *c, PmText *t)
{
	Section *s = &c->front;
	const Op *o = &c->g->op[s->dot];
	int64_t tiles;

	f_clear(c, s);
	if (!f_factors(c, s))
		return;
	pm_text_add(t, f_is_half(c, &c->g->op[s->dot]) ? "__shared__ __align__(16) unsigned shared["
						       : "__shared__ __align__(16) float shared[");
	number(t, "", shared(s, f_is_half(c, &c->g->op[s->dot])));
	pm_text_add(t, "];\nconst int block = blockIdx.x;\n");
	tiles = f_tile_places(c, s, t);
	number(t, " % ", o->par[0]);
	number(t, ", slice = block / ", tiles * o->par[0]);
	number(t, ", from = slice * ", s->extent);
	number(t, ", end = pm_min(from + ", s->extent);
	number(t, ", ", o->par[3]);
	number(t, ");\n(void)gb;\nfloat *const out = tiles + slice * ", f_numel(o));
	number(t, "ll + gb * ", o->par[1] * o->par[2]);
	number(t, "ll + (long long)", o->par[2]);
	pm_text_add(t, s->swapped ? " * n0 + m0;\n" : " * m0 + n0;\n");
	f_product_pointers(c, s, t);
	if (s->a.vec > 1 || s->b.vec > 1)
		pm_text_add(t, "if (__builtin_expect(pm_aligned(a, 16) && pm_aligned(b, 16), 1))\n");
	call(c, s, t, 1);
	if (s->a.vec > 1 || s->b.vec > 1) {
		pm_text_add(t, "else\naside([=] { ");
		call(c, s, t, 0);
		pm_text_add(t, "});\n");
	}
}

int f_eval_parts(Ctx *c, int op, const Ix *co)
{
	const Op *o = &c->g->op[op];
	Ix at = ix_flat(c->ix, co, o->dim, o->rank), base;
	int64_t step;
	int var;
	Stmt *s;

	if (c->fail)
		return -1;
	base = ix_without_lane(c->ix, at, &step);
	var = f_new_var(c, PM_F32, step != 0);
	s = f_emit_to(c, ST_PARTS, var, -1);
	s->lanes = step != 0;
	s->vec = step == 1;
	s->at = step == 1 ? base : at;
	s->dtype = o->dtype;
	s->n = c->front.split;
	s->m = f_numel(o);
	return var;
}
