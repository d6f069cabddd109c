/* SPDX-License-Identifier: Apache-2.0 */
/* product.c - the text of a product's section: its tile by product.cu, then elements or rows behind it. */
#include "fuse.h"

#include "./codegen/gen.h"

#include "product.cu.h"

const char *f_product_source(void)
{
	return product_cu;
}

int f_is_half(const Ctx *c, const Op *product)
{
	return c->g->op[product->in[0]].dtype != PM_F32;
}

int64_t f_tile_rows(const Ctx *c, const Section *s)
{
	return c->g->op[s->dot].par[s->swapped ? 2 : 1];
}

int64_t f_tile_cols(const Ctx *c, const Section *s)
{
	return c->g->op[s->dot].par[s->swapped ? 1 : 2];
}

static double least(int tile, int64_t matrix)
{
	return (double)(tile < matrix ? tile : matrix);
}

double f_real_rows(const Ctx *c, const Section *s, const Tile *t)
{
	return least(t->rows, f_tile_rows(c, s));
}

double f_real_cols(const Ctx *c, const Section *s, const Tile *t)
{
	return least(t->cols, f_tile_cols(c, s));
}

static void number(PmText *t, const char *before, int64_t x)
{
	pm_text_add(t, before);
	pm_text_int(t, x);
}

/* "p0 + gb * 64 + (long long)m0 * 512" */
static void base(Ctx *c, PmText *t, const Factor *f, const char *row, int64_t by)
{
	const Gen g = { .n = &c->b.nest, .t = t };

	number(t, "p", f->arg);
	pm_text_add(t, " + ");
	g_ix(&g, f->rest);
	pm_text_add(t, " + (long long)");
	pm_text_add(t, row);
	number(t, " * ", by);
}

/* product_half<...>(...) with accesses of at most `most` elements. */
static void call(Ctx *c, const Section *s, PmText *t, int wide)
{
	const Tile *l = &s->tile;
	const Op *o = &c->g->op[s->dot];
	int dtype = c->g->op[o->in[0]].dtype, half = f_is_half(c, o);
	int va = wide ? s->a.vec : 1, vb = wide ? s->b.vec : 1;

	if (!s->b.along_k && vb > l->ni)
		vb = l->ni;
	pm_text_add(t, half ? "product_half<" : "product_float<");
	if (half) {
		pm_text_add(t, f_ctype(dtype));
		pm_text_add(t, ", ");
	}
	pm_text_int(t, l->warps);
	number(t, ", ", l->wn);
	number(t, ", ", l->mi);
	number(t, ", ", l->ni);
	if (!half) {
		number(t, ", ", l->lm);
		number(t, ", ", l->piece);
	}
	number(t, ", ", wide ? l->depth : 1);
	number(t, ", ", va);
	number(t, ", ", vb);
	pm_text_add(t, s->b.along_k ? ", true" : ", false");
	number(t, ", ", o->par[3]);
	number(t, ", ", s->a.by_row);
	number(t, ", ", s->b.along_k ? s->b.by_row : s->b.by_k);
	pm_text_add(t, ">(a, b, ");
	pm_text_int(t, f_tile_rows(c, s));
	number(t, " - m0, ", f_tile_cols(c, s));
	pm_text_add(t, " - n0, part);\n");
}

void f_product_pointers(Ctx *c, const Section *s, PmText *t)
{
	int dtype = c->g->op[c->g->op[s->dot].in[0]].dtype;

	pm_text_add(t, "const ");
	pm_text_add(t, f_ctype(dtype));
	pm_text_add(t, " *const a = ");
	base(c, t, &s->a, "m0", s->a.by_row);
	pm_text_add(t, ";\nconst ");
	pm_text_add(t, f_ctype(dtype));
	pm_text_add(t, " *const b = ");
	base(c, t, &s->b, "n0", s->b.by_row);
	pm_text_add(t, ";\n");
}

/* Each element of the tile by itself. */
static void elements_text(Ctx *c, const Section *s, PmText *t)
{
	const Gen g = { .n = &c->b.nest, .t = t };
	const Tile *l = &s->tile;
	int64_t fast = (s->down ? l->rows : l->cols) / s->vec;

	g_block(&g, &c->b.nest.rows);
	pm_text_add(t, "_Pragma(\"unroll 2\") ");
	number(t, "for (int k = threadIdx.x; k < ", l->rows * l->cols / s->vec);
	number(t, "; k += ", s->block);
	number(t, ") {\nconst int ls = k / ", fast);
	number(t, ", lv = k % ", fast);
	number(t, " * ", s->vec);
	pm_text_add(t, s->down ? ", gs = n0 + ls, gv = (m0 + lv) / " : ", gs = m0 + ls, gv = (n0 + lv) / ");
	pm_text_int(t, s->vec);
	number(t, ";\nif (gs < ", s->down ? f_tile_cols(c, s) : f_tile_rows(c, s));
	number(t, " && gv < ", (s->down ? f_tile_rows(c, s) : f_tile_cols(c, s)) / s->vec);
	pm_text_add(t, ") {\n");
	g_block(&g, &c->b.nest.body);
	pm_text_add(t, "}\n}\n");
}

/* Threads that share a row of the tile, and which row of the matrices that is. */
static void rows_text(Ctx *c, const Section *s, PmText *t)
{
	const Gen g = { .n = &c->b.nest, .t = t };
	int64_t m = c->g->op[s->dot].par[1];

	number(t, "const int lane = threadIdx.x % ", s->group);
	number(t, ", ls = threadIdx.x / ", s->group);
	number(t, ";\nconst bool live = m0 + ls < ", m);
	number(t, ";\nconst int r = gb * ", m);
	number(t, " + (live ? m0 + ls : ", m - 1);
	pm_text_add(t, ");\n(void)lane; (void)live; (void)r;\n");
	g_block(&g, &c->b.nest.decl);
	g_block(&g, &c->b.nest.rows);
}

int64_t f_tile_places(Ctx *c, const Section *s, PmText *t)
{
	const Tile *l = &s->tile;
	int64_t mt = f_over(f_tile_rows(c, s), l->rows), nt = f_over(f_tile_cols(c, s), l->cols);

	number(t, "const int m0 = block % ", mt);
	number(t, " * ", l->rows);
	number(t, ", n0 = block / ", mt);
	number(t, " % ", nt);
	number(t, " * ", l->cols);
	number(t, ", gb = block / ", mt * nt);
	return mt * nt;
}

void f_product_text(Ctx *c, const Section *s, PmText *t)
{
	f_tile_places(c, s, t);
	pm_text_add(t, ";\n(void)gb;\n");
	f_product_pointers(c, s, t);
	if (s->a.vec > 1 || s->b.vec > 1)
		pm_text_add(t, "if (__builtin_expect(pm_aligned(a, 16) && pm_aligned(b, 16), 1))\n");
	call(c, s, t, 1);
	if (s->a.vec > 1 || s->b.vec > 1) {
		pm_text_add(t, "else\naside([=] { ");
		call(c, s, t, 0);
		pm_text_add(t, "});\n");
	}
	pm_text_add(t, "__syncthreads();\n");
	if (s->rows)
		rows_text(c, s, t);
	else
		elements_text(c, s, t);
}
