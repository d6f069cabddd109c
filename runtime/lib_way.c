/* lib_way.c - ways to compute a convolution with library calls. */
#include "runtime/lib_way.h"

#include "ir/type.h"

#include "kernels/lib_way.cu.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { FRESH = 256 }; /* alignment of room and of what is written into it */

const char *pm_way_name(PmWayKind kind)
{
	static const char *const names[PM_N_WAYS] = {
		"plain", "product", "gathered", "channels-last", "last-product", "interleaved", "dot"
	};

	return kind < PM_N_WAYS ? names[kind] : "?";
}

const char *pm_way_source(void)
{
	return lib_way_cu;
}

/* --- pieces ----------------------------------------------------------------------------------------------
 */

static int64_t product(const int64_t *v, int n)
{
	int64_t p = 1;

	while (n-- > 0)
		p *= v[n];
	return p;
}

/* The sizes that every way needs. */
typedef struct Size {
	int64_t n, ci, co, taps;
	int64_t px, py; /* places of x and y */
	int64_t k;      /* ci * taps */
	int64_t batch;  /* of products: images or groups; 0 when there are several of both */
	int64_t bytes;  /* of an element */
} Size;

static Size size_of(const PmLibCall *c)
{
	const PmLibConv *v = &c->conv;
	Size s = { .n = v->x[0], .ci = v->x[1], .co = v->y[1] };

	s.taps = product(v->w + 2, v->spatial);
	s.px = product(v->x + 2, v->spatial);
	s.py = product(v->y + 2, v->spatial);
	s.k = s.ci * s.taps;
	s.batch = v->groups == 1 ? s.n : (s.n == 1 ? v->groups : 0);
	s.bytes = (int64_t)pm_dtype_size(c->dtype);
	return s;
}

static PmWayPlace arg(int i)
{
	return (PmWayPlace){ i, 0 };
}

/* Room for so many elements. */
static PmWayPlace room(PmWay *w, int64_t elements, int64_t bytes)
{
	PmWayPlace p = { PM_WAY_ROOM, w->room };

	w->room += (elements * bytes + FRESH - 1) / FRESH * FRESH;
	return p;
}

static PmWayStage *stage(PmWay *w, const char *entry)
{
	PmWayStage *s = &w->stage[w->n++];

	memset(s, 0, sizeof *s);
	s->entry = entry;
	return s;
}

static void place(PmWayStage *s, PmWayPlace p)
{
	s->place[s->n_places++] = p;
}

static void number(PmWayStage *s, int64_t v)
{
	s->v[s->n_ints++] = (int32_t)v;
}

/* Lists over three dimensions; missing ones in front get `unit`. */
static void three(PmWayStage *s, const int64_t *v, int spatial, int64_t unit)
{
	for (int d = 0; d < 3; d++)
		number(s, d < 3 - spatial ? unit : v[d - (3 - spatial)]);
}

/* The numbers of one job of turning `batch` matrices of R x C; returns its blocks. */
static int64_t turn(PmWayStage *s, int64_t batch, int64_t R, int64_t C)
{
	int64_t cols = C < 32 ? C : 32, rows = 1024 / cols;
	int64_t tiles_r = (R + rows - 1) / rows, tiles_c = (C + cols - 1) / cols;
	const int64_t v[] = { R, C, rows, cols, tiles_r, tiles_c };

	for (size_t i = 0; i < sizeof v / sizeof *v; i++)
		number(s, v[i]);
	return batch * tiles_r * tiles_c;
}

/* Threads of a block that walk along that many places. */
static int64_t lanes_for(int64_t places)
{
	int64_t lanes = 32;

	while (lanes < PM_WAY_BLOCK && lanes < places)
		lanes *= 2;
	return lanes;
}

static PmLibCall *call_stage(PmWay *w, PmLibKind kind, int dtype)
{
	PmWayStage *s = stage(w, NULL);

	s->call.kind = kind;
	s->call.dtype = dtype;
	for (int i = 0; i < 4; i++)
		s->call.align[i] = FRESH;
	return &s->call;
}

static void operands(PmWay *w, const PmLibCall *from, PmWayPlace y, PmWayPlace a, PmWayPlace b)
{
	PmWayStage *s = &w->stage[w->n - 1];

	place(s, y);
	place(s, a);
	place(s, b);
	for (int i = 0; i < 3; i++)
		if (s->place[i].arg < PM_WAY_ROOM)
			s->call.align[i] = from->align[s->place[i].arg];
}

/* The last step of channels-last ways: y from [n, places, channels], with the bias. */
static void turn_back(PmWay *w, const PmLibCall *c, const Size *z, PmWayPlace from)
{
	PmWayStage *s = stage(w, "turn_back");

	place(s, arg(0));
	place(s, from);
	place(s, c->conv.has_bias ? arg(3) : from);
	number(s, c->conv.has_bias);
	s->blocks = (uint32_t)turn(s, z->n, z->py, z->co);
}

static int is_half(int dtype)
{
	return dtype == PM_F16 || dtype == PM_BF16;
}

/* 1 for windows of one element that read each element of x once. */
static int single(const PmLibConv *v)
{
	for (int d = 0; d < v->spatial; d++)
		if (v->w[2 + d] != 1 || v->stride[d] != 1 || v->pad[d])
			return 0;
	return 1;
}

/* --- ways ------------------------------------------------------------------------------------------------
 */

/* y = w x for each of the batch, x as [n, k, places] with rows of ld; y holds the bias already if there is
 * one. */
static void weights_times(PmWay *w, const PmLibCall *c, const Size *z, PmWayPlace x, int64_t ld)
{
	PmLibCall *g = call_stage(w, PM_LIB_GEMM, c->dtype);
	int64_t groups = c->conv.groups;

	g->gemm = (PmLibGemm){ .m = z->co / groups,
			       .n = z->py,
			       .k = z->k / groups,
			       .batch = z->batch,
			       .a_row = z->k / groups,
			       .a_col = 1,
			       .a_batch = groups > 1 ? z->co / groups * (z->k / groups) : 0,
			       .b_row = ld,
			       .b_col = 1,
			       .b_batch = z->k / groups * ld,
			       .outer = 1,
			       .c = c->conv.has_bias ? PM_LIB_C_MATRIX : PM_LIB_C_NONE,
			       .alpha = 1,
			       .beta = c->conv.has_bias };
	operands(w, c, arg(0), arg(2), x);
	if (c->conv.has_bias)
		place(&w->stage[w->n - 1], arg(0));
	g->align[3] = g->align[0];
}

static int64_t fill_blocks(const Size *z)
{
	return (z->n * z->co * z->py + 2047) / 2048;
}

static int as_product(PmWay *w, const PmLibCall *c, const Size *z)
{
	if (c->conv.transposed || !single(&c->conv) || z->px == 1 || !z->batch)
		return 0;
	if (c->conv.has_bias) {
		PmWayStage *s = stage(w, "fill");

		place(s, arg(0));
		place(s, arg(3));
		number(s, z->py);
		number(s, z->co);
		number(s, z->n * z->co * z->py);
		s->blocks = (uint32_t)fill_blocks(z);
	}
	weights_times(w, c, z, arg(1), z->py);
	return 1;
}

static int as_gathered(PmWay *w, const PmLibCall *c, const Size *z)
{
	const PmLibConv *v = &c->conv;
	int64_t ld = (z->py + 7) / 8 * 8, lanes = lanes_for(z->py), each = PM_WAY_BLOCK / lanes * 8;
	int64_t blocks_p = (z->py + lanes - 1) / lanes, blocks_k = (z->k + each - 1) / each;
	PmWayPlace m;
	PmWayStage *s;

	/* Single elements in rows that are aligned need no copy. */
	if (v->transposed || !z->batch || (single(v) && ld == z->py))
		return 0;
	if (z->n * z->k * ld > INT_MAX)
		return 0;
	s = stage(w, "gather");
	m = room(w, z->n * z->k * ld, z->bytes);
	place(s, m);
	place(s, arg(1));
	place(s, arg(0));
	place(s, v->has_bias ? arg(3) : arg(1));
	s->blocks = (uint32_t)(z->n * blocks_p * blocks_k);
	number(s, s->blocks);
	number(s, blocks_p);
	number(s, blocks_k);
	number(s, lanes);
	number(s, z->k);
	number(s, z->py);
	number(s, ld);
	three(s, v->x + 2, v->spatial, 1);
	three(s, v->w + 2, v->spatial, 1);
	number(s, v->spatial > 1 ? v->y[v->spatial] : 1);
	number(s, v->y[v->spatial + 1]);
	three(s, v->stride, v->spatial, 1);
	three(s, v->pad, v->spatial, 0);
	three(s, v->dilation, v->spatial, 1);
	number(s, z->co);
	number(s, z->n * z->co * z->py);
	if (v->has_bias)
		s->blocks += (uint32_t)fill_blocks(z);
	weights_times(w, c, z, m, ld);
	return 1;
}

/* x as [n, places, channels], and the weights likewise where that is another order. */
static void turn_inputs(PmWay *w, const Size *z, const PmLibConv *v, int weights, PmWayPlace *x,
			PmWayPlace *k)
{
	PmWayStage *s = stage(w, "turn_two");
	int64_t first;

	*x = room(w, z->n * z->ci * z->px, z->bytes);
	*k = weights ? room(w, product(v->w, 2) * z->taps, z->bytes) : arg(2);
	place(s, *x);
	place(s, arg(1));
	place(s, weights ? *k : *x);
	place(s, arg(2));
	number(s, 0);
	first = turn(s, z->n, z->ci, z->px);
	s->v[0] = (int32_t)first;
	s->blocks = (uint32_t)(first + (weights ? turn(s, v->w[0], v->w[1], z->taps) : 0));
	while (s->n_ints < 13)
		number(s, 1);
}

static int as_last(PmWay *w, const PmLibCall *c, const Size *z)
{
	PmWayPlace x, k, y;
	PmLibCall *in;

	if (!is_half(c->dtype))
		return 0;
	turn_inputs(w, z, &c->conv, z->taps > 1, &x, &k);
	y = room(w, z->n * z->co * z->py, z->bytes);
	in = call_stage(w, PM_LIB_CONV, c->dtype);
	in->conv = c->conv;
	in->conv.has_bias = 0;
	in->conv.channels_last = 1;
	operands(w, c, y, x, k);
	turn_back(w, c, z, y);
	return 1;
}

static int as_last_product(PmWay *w, const PmLibCall *c, const Size *z)
{
	PmWayPlace x, k, y;
	PmLibCall *g;

	if (c->conv.transposed || !single(&c->conv) || c->conv.groups != 1)
		return 0;
	if (z->px == 1) { /* that order is the one they have */
		x = arg(1);
		k = arg(2);
		y = arg(0);
	} else {
		turn_inputs(w, z, &c->conv, 0, &x, &k);
		y = room(w, z->n * z->co * z->py, z->bytes);
	}
	g = call_stage(w, PM_LIB_GEMM, c->dtype);
	g->gemm = (PmLibGemm){ .m = z->n * z->py,
			       .n = z->co,
			       .k = z->ci,
			       .batch = 1,
			       .a_row = z->ci,
			       .a_col = 1,
			       .b_row = 1,
			       .b_col = z->ci,
			       .outer = 1,
			       .alpha = 1 };
	operands(w, c, y, x, k);
	if (z->px > 1) {
		turn_back(w, c, z, y);
	} else if (c->conv.has_bias) {
		g->gemm.c = PM_LIB_C_COLUMNS;
		g->gemm.beta = 1;
		g->align[3] = c->align[3];
		place(&w->stage[w->n - 1], arg(3));
	}
	return 1;
}

/* The products of a transposed convolution, [images, channels of y, taps, places of x], in room; and the
 * stage that makes y of them, but for the numbers of its kernel behind those of its size. */
static PmWayStage *products_then(PmWay *w, const PmLibCall *c, const Size *z, const char *entry,
				 int64_t places)
{
	const PmLibConv *v = &c->conv;
	int64_t each_co = z->co / v->groups * z->taps, each_ci = z->ci / v->groups, planes = z->n * z->co;
	int64_t lanes = lanes_for(places), blocks_p = (places + lanes - 1) / lanes,
		each = PM_WAY_BLOCK / lanes;
	PmWayPlace m = room(w, planes * z->taps * z->px, z->bytes);
	PmLibCall *g = call_stage(w, PM_LIB_GEMM, c->dtype);
	PmWayStage *s;

	g->gemm = (PmLibGemm){ .m = each_co,
			       .n = z->px,
			       .k = each_ci,
			       .batch = z->batch,
			       .a_row = 1,
			       .a_col = each_co,
			       .a_batch = v->groups > 1 ? each_ci * each_co : 0,
			       .b_row = z->px,
			       .b_col = 1,
			       .b_batch = each_ci * z->px,
			       .outer = 1,
			       .alpha = 1 };
	operands(w, c, m, arg(2), arg(1));
	s = stage(w, entry);
	place(s, arg(0));
	place(s, m);
	place(s, v->has_bias ? arg(3) : m);
	number(s, v->has_bias);
	number(s, planes);
	number(s, z->co);
	number(s, blocks_p);
	number(s, lanes);
	three(s, v->x + 2, v->spatial, 1);
	three(s, v->w + 2, v->spatial, 1);
	s->blocks = (uint32_t)(blocks_p * ((planes + each - 1) / each));
	return s;
}

/* 1 when the windows of a transposed convolution lie side by side. */
static int side_by_side(const PmLibConv *v)
{
	for (int d = 0; d < v->spatial; d++)
		if (v->w[2 + d] != v->stride[d] || v->pad[d] || v->dilation[d] != 1 ||
		    v->y[2 + d] != v->x[2 + d] * v->stride[d])
			return 0;
	return 1;
}

static int as_interleaved(PmWay *w, const PmLibCall *c, const Size *z)
{
	if (!c->conv.transposed || !z->batch || !side_by_side(&c->conv))
		return 0;
	products_then(w, c, z, "interleave", z->px);
	return 1;
}

/* Products are rounded to the type of the elements before they are added: not for half types. */
static int as_folded(PmWay *w, const PmLibCall *c, const Size *z)
{
	const PmLibConv *v = &c->conv;
	PmWayStage *s;

	if (!v->transposed || !z->batch || is_half(c->dtype) || side_by_side(v))
		return 0;
	for (int d = 0; d < v->spatial; d++)
		if (v->dilation[d] != 1)
			return 0;
	s = products_then(w, c, z, "fold", z->py);
	three(s, v->y + 2, v->spatial, 1);
	three(s, v->stride, v->spatial, 1);
	three(s, v->pad, v->spatial, 0);
	return 1;
}

/* y [m, n] = a [m, k] b + c by one kernel. Where b lies decides which. */
static int as_dot(PmWay *w, const PmLibCall *c)
{
	static const char *const rows[] = { "dot_rows_1", "dot_rows_2", "dot_rows_4", "dot_rows_8" };
	static const char *const columns[] = { "dot_columns_1", "dot_columns_2", "dot_columns_4",
					       "dot_columns_8" };
	const PmLibGemm *g = &c->gemm;
	int64_t wide = 16 / (int64_t)pm_dtype_size(c->dtype), ldb = g->b_row == 1 ? g->b_col : g->b_row;
	int aligned = c->align[1] % 16 == 0 && c->align[2] % 16 == 0 && ldb % wide == 0, third = g->c, at = 0;
	PmWayStage *s;

	if (g->outer != 1 || g->batch != 1 || g->m > PM_WAY_DOT_ROWS || g->alpha != 1 || g->a_col != 1 ||
	    third == PM_LIB_C_MATRIX || g->n > INT_MAX / 8 || g->k > INT_MAX / 8 || g->a_row > INT_MAX ||
	    ldb > INT_MAX || g->a_row < g->k || ldb < 1)
		return 0;
	if (g->b_row != 1 && (g->b_col != 1 || !aligned || g->n % wide))
		return 0;
	while (1 << at < g->m)
		at++;
	s = stage(w, g->b_row == 1 ? rows[at] : columns[at]);
	place(s, arg(0));
	place(s, arg(1));
	place(s, arg(2));
	place(s, arg(third ? 3 : 1));
	number(s, third != PM_LIB_C_NONE);
	number(s, g->m);
	number(s, g->n);
	number(s, g->k);
	number(s, g->a_row);
	number(s, ldb);
	if (g->b_row == 1) {
		number(s, aligned && g->k % wide == 0 && g->a_row % wide == 0);
		s->blocks = (uint32_t)((g->n + 7) / 8);
	} else {
		s->blocks = (uint32_t)((g->n + 2 * wide - 1) / (2 * wide));
	}
	return 1;
}

/* The same of a convolution of images of one pixel. */
static int as_dot_of_pixels(PmWay *w, const PmLibCall *c, const Size *z)
{
	PmWay product;

	if (z->px != 1 || !as_last_product((memset(&product, 0, sizeof product), &product), c, z))
		return 0;
	return as_dot(w, &product.stage[0].call);
}

static int plain(PmWay *w, const PmLibCall *c)
{
	PmWayStage *s = stage(w, NULL);

	s->call = *c;
	for (int i = 0; i < 4; i++)
		place(s, arg(i));
	return 1;
}

/* 1 when every count that kernels are told fits in 31 bits. */
static int fits(const Size *z)
{
	return z->n * z->k * z->px <= INT_MAX && z->n * z->co * z->py * z->taps <= INT_MAX &&
	       z->co * z->k <= INT_MAX;
}

int pm_way_describe(const PmLibCall *c, PmWayKind kind, PmWay *out)
{
	Size z;
	int ok;

	memset(out, 0, sizeof *out);
	out->kind = kind;
	out->dtype = c->dtype;
	if (kind == PM_WAY_PLAIN)
		return plain(out, c);
	if (kind == PM_WAY_DOT && c->kind == PM_LIB_GEMM)
		return as_dot(out, c);
	if (c->kind != PM_LIB_CONV)
		return 0;
	z = size_of(c);
	if (!fits(&z))
		return 0;
	ok = kind == PM_WAY_PRODUCT        ? as_product(out, c, &z)
	     : kind == PM_WAY_GATHERED     ? as_gathered(out, c, &z)
	     : kind == PM_WAY_LAST         ? as_last(out, c, &z)
	     : kind == PM_WAY_LAST_PRODUCT ? as_last_product(out, c, &z)
	     : kind == PM_WAY_INTERLEAVED  ? as_interleaved(out, c, &z)
	     : kind == PM_WAY_FOLDED       ? as_folded(out, c, &z)
	     : kind == PM_WAY_DOT          ? as_dot_of_pixels(out, c, &z)
					   : 0;
	return ok && out->room <= PM_WAY_MAX_ROOM;
}
