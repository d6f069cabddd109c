/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - matrix products: where their factors lie, their tiles, and the launch in front of the rest. */
#ifndef PASSES_FUSE_PRODUCT_H
#define PASSES_FUSE_PRODUCT_H

#include "./index/ix.h"
#include "./lower/load.h"

typedef struct Ctx Ctx; /* fuse.h */

/* Whether its factors are of a half type. */
int f_is_half(const Ctx *c, const Op *product);
/* How many pieces of b elements a has, the last begun. */
static inline int64_t f_over(int64_t a, int64_t b)
{
	return (a + b - 1) / b;
}

/* Where a factor of a product lies: elements from one m (n) and from one k to the next; the rest of its
 * index. */
typedef struct Factor {
	int arg; /* place in arg_in */
	int64_t by_row, by_k;
	Ix rest;
	int vec; /* elements of one access */
	int along_k;
} Factor;

/* What a block of a product's section makes (product.cu). */
typedef struct Tile {
	int rows, cols;   /* of the tile */
	int mi, ni;       /* half types: of 16 rows, of 8 columns; float: rows and columns of a lane */
	int lm;           /* float: lanes side by side along rows */
	int wn, warps;    /* warps side by side along columns; warps that share a sum */
	int depth, piece; /* pieces of K under way, elements of one */
} Tile;

typedef struct Section Section; /* plan.h */

/* The coordinates of a product (which: 0) and of its factors (1, 2) for places in the matrices. */
void f_dot_coords(Ctx *c, const Op *o, int which, Ix b, Ix m, Ix n, Ix k, Ix *co);
/* Where the factors of s->dot lie; 0 and c->fail when a tile cannot be read from there. */
int f_factors(Ctx *c, Section *s);
/* The product that an operation is computed from: 0 none, -1 several. */
int f_dot_under(Ctx *c, int op);
/* Chooses tile, vectors and threads; 0 and c->fail when there is none. */
int f_schedule_product(Ctx *c, Section *s);
/* Whether a product is one of floats with so many operations that the library's tiles do them in less time
 * than ours. */
int f_is_long(const Ctx *c, const Op *o);
/* Microseconds that blocks of this tile take for the product. */
double f_tile_time(const Ctx *c, const Section *s, const Tile *t);
/* The same of a launch in front. */
double f_front_time(const Ctx *c, const Section *s);
int64_t f_tile_blocks(const Op *o, const Section *s, const Tile *t);
/* The statements of a product's section. */
void f_product_results(Ctx *c);
int f_eval_dot(Ctx *c, int op, const Ix *co);
/* Whether a reduction stands between the product and op. */
int f_reduced_after(Ctx *c, int op, int dot);
void f_product_text(Ctx *c, const Section *s, PmText *t);
const char *f_product_source(void);
/* Where the tile of a block lies, "const int m0 = block % ..., n0 = ..., gb = ..." without the end; how many
 * tiles a matrix has. */
int64_t f_tile_places(Ctx *c, const Section *s, PmText *t);
/* Where the factors of the tile begin, as `a` and `b`. */
void f_product_pointers(Ctx *c, const Section *s, PmText *t);
/* Rows and columns of the matrix as its tile has them. */
int64_t f_tile_rows(const Ctx *c, const Section *s);
int64_t f_tile_cols(const Ctx *c, const Section *s);
/* Of them those that a tile has at most: no thread loads or stores what is beyond the matrices. */
double f_real_rows(const Ctx *c, const Section *s, const Tile *t);
double f_real_cols(const Ctx *c, const Section *s, const Tile *t);
/* Floats of shared memory. */
int f_tile_shared(const Tile *t);

/* front.c: chooses tiles and slices of the sum for the launch in front; 0 and c->fail when there are none. */
int f_front(Ctx *c);
int64_t f_front_scratch(const Ctx *c); /* bytes that all slices take */
void f_front_text(Ctx *c, PmText *t);
/* The product at the coordinates, in the launches behind it. */
int f_eval_parts(Ctx *c, int op, const Ix *co);
void f_front_source(const Ctx *c, PmText *t);

#endif
