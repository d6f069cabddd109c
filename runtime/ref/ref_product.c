/* SPDX-License-Identifier: Apache-2.0 */
/* ref_product.c - the product behind MatMul, Gemm, Conv and Einsum, in blocks and with the processor's
 * vectors.
 *
 * A block of b is laid out in panels of a tile's columns, a few rows of a in the order in which a tile reads
 * them. A tile of c stays in registers while its sums go on. Every element of c is summed in the order of k
 * by a product and an addition, each rounded, whatever the vectors: all processors have the same bits.
 */
#include "runtime/ref/ref_priv.h"

#include "base/sys/threads.h"

#include <stdlib.h>
#include <string.h>

enum {
	TILE_N = 512, /* columns of one pass: four rows of c stay in the first-level cache */
	TILE_K = 64,  /* rows of b of one pass: with TILE_N columns they stay in the second-level cache */
	LANES = 8
};

/* c[0..n) and d[0..n) += two rows of a times four rows of b. */
static void rows2x4(int64_t n, const double *restrict a, const double *restrict a2, const double *restrict b0,
		    const double *restrict b1, const double *restrict b2, const double *restrict b3,
		    double *restrict c, double *restrict d)
{
	double p0 = a[0], p1 = a[1], p2 = a[2], p3 = a[3];
	double q0 = a2[0], q1 = a2[1], q2 = a2[2], q3 = a2[3];
	int64_t j = 0;
	int u;

	for (; j + LANES <= n; j += LANES)
		for (u = 0; u < LANES; u++) {
			c[j + u] = c[j + u] + p0 * b0[j + u] + p1 * b1[j + u] + p2 * b2[j + u] +
				   p3 * b3[j + u];
			d[j + u] = d[j + u] + q0 * b0[j + u] + q1 * b1[j + u] + q2 * b2[j + u] +
				   q3 * b3[j + u];
		}
	for (; j < n; j++) {
		c[j] = c[j] + p0 * b0[j] + p1 * b1[j] + p2 * b2[j] + p3 * b3[j];
		d[j] = d[j] + q0 * b0[j] + q1 * b1[j] + q2 * b2[j] + q3 * b3[j];
	}
}

/* c[0..n) += a * b. */
static void row1x1(int64_t n, double a, const double *restrict b, double *restrict c)
{
	int64_t j;

	for (j = 0; j < n; j++)
		c[j] += a * b[j];
}

static void row1x4(int64_t n, const double *restrict a, const double *restrict b, int64_t ldb,
		   double *restrict c)
{
	const double *b1 = b + ldb, *b2 = b1 + ldb, *b3 = b2 + ldb;
	double p0 = a[0], p1 = a[1], p2 = a[2], p3 = a[3];
	int64_t j = 0;
	int u;

	for (; j + LANES <= n; j += LANES)
		for (u = 0; u < LANES; u++)
			c[j + u] = c[j + u] + p0 * b[j + u] + p1 * b1[j + u] + p2 * b2[j + u] +
				   p3 * b3[j + u];
	for (; j < n; j++)
		c[j] = c[j] + p0 * b[j] + p1 * b1[j] + p2 * b2[j] + p3 * b3[j];
}

/* Few rows or columns: no element of b or a is read often enough to be laid out for it. */
static void by_rows(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b,
		    int64_t ldb, double *c, int64_t ldc)
{
	int64_t j0, k0, i, p;

	for (j0 = 0; j0 < n; j0 += TILE_N) {
		int64_t nt = n - j0 < TILE_N ? n - j0 : TILE_N;

		for (k0 = 0; k0 < k; k0 += TILE_K) {
			int64_t k1 = k - k0 < TILE_K ? k : k0 + TILE_K;

			for (i = 0; i < m; i += 2) {
				double *c0 = c + i * ldc + j0, *c1 = c0 + ldc;
				const double *a0 = a + i * lda, *a1 = a0 + lda;
				int pair = i + 1 < m;

				for (p = k0; p + 4 <= k1; p += 4) {
					const double *bp = b + p * ldb + j0;

					if (pair)
						rows2x4(nt, a0 + p, a1 + p, bp, bp + ldb, bp + 2 * ldb,
							bp + 3 * ldb, c0, c1);
					else
						row1x4(nt, a0 + p, bp, ldb, c0);
				}
				for (; p < k1; p++) {
					row1x1(nt, a0[p], b + p * ldb + j0, c0);
					if (pair)
						row1x1(nt, a1[p], b + p * ldb + j0, c1);
				}
			}
		}
	}
}

/* ---- tiles ---- */

enum {
	VECTORS = 3,       /* of a tile's row */
	MOST_ROWS = 8,     /* of a tile */
	MOST_COLUMNS = 24, /* of a tile */
	BLOCK_K = 128,     /* rows of a block of b, */
	BLOCK_N = 480,     /* and columns, of all tiles a multiple: it stays in the second-level cache */
	BLOCK_M = 256      /* rows of a and c that one thread takes at a time, where there are more */
};

/* c[rows x columns] += a * b over k: a has a tile's rows for each of k, b a tile's columns. */
typedef void TileFn(int64_t k, const double *a, const double *b, double *c, int64_t ldc);

/* Each row of a tile is three vectors in variables of their own, or they would lie in memory. The product is
 * a statement of its own, so that it is rounded before it is added. */
#define TILE_LOAD(i)                                                                                         \
	V x##i = ((const U *)(c + (i)*ldc))[0], y##i = ((const U *)(c + (i)*ldc))[1],                        \
	  z##i = ((const U *)(c + (i)*ldc))[2];
#define TILE_STEP(i)                                                                                         \
	{                                                                                                    \
		V t = b0 * a[i], u = b1 * a[i], v = b2 * a[i];                                               \
                                                                                                             \
		x##i += t;                                                                                   \
		y##i += u;                                                                                   \
		z##i += v;                                                                                   \
	}
#define TILE_STORE(i)                                                                                        \
	((U *)(c + (i)*ldc))[0] = x##i;                                                                      \
	((U *)(c + (i)*ldc))[1] = y##i;                                                                      \
	((U *)(c + (i)*ldc))[2] = z##i;
#define ROWS2(EACH) EACH(0) EACH(1)
#define ROWS4(EACH) ROWS2(EACH) EACH(2) EACH(3)
#define ROWS8(EACH) ROWS4(EACH) EACH(4) EACH(5) EACH(6) EACH(7)
#define TILE(NAME, TARGET, LANES_, ROWS, EACH_ROW)                                                           \
	TARGET static void NAME(int64_t k, const double *a, const double *b, double *c, int64_t ldc)         \
	{                                                                                                    \
		typedef double V __attribute__((vector_size((LANES_) * sizeof(double))));                    \
		typedef V U __attribute__((aligned(sizeof(double)), may_alias)); /* anywhere in memory */    \
                                                                                                             \
		EACH_ROW(TILE_LOAD)                                                                          \
		for (; k > 0; k--, a += (ROWS), b += VECTORS * (LANES_)) {                                   \
			V b0 = ((const U *)b)[0], b1 = ((const U *)b)[1], b2 = ((const U *)b)[2];            \
                                                                                                             \
			EACH_ROW(TILE_STEP)                                                                  \
		}                                                                                            \
		EACH_ROW(TILE_STORE)                                                                         \
	}

TILE(tile_2, , 2, 4, ROWS4)
#if defined(__x86_64__)
TILE(tile_4, __attribute__((target("avx2"))), 4, 4, ROWS4)
TILE(tile_8, __attribute__((target("avx512f"))), 8, 8, ROWS8)
#endif

/* How this processor computes a tile. */
typedef struct Tile {
	TileFn *fn;
	int rows, columns;
} Tile;

static int most_lanes = 8;

void pm__ref_vectors(int lanes)
{
	most_lanes = lanes;
}

static Tile best_tile(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (most_lanes >= 8 && __builtin_cpu_supports("avx512f"))
		return (Tile){ tile_8, 8, 8 * VECTORS };
	if (most_lanes >= 4 && __builtin_cpu_supports("avx2"))
		return (Tile){ tile_4, 4, 4 * VECTORS };
#endif
	return (Tile){ tile_2, 4, 2 * VECTORS };
}

/* ---- blocks ---- */

typedef struct Product {
	int64_t m, n, k, lda, ldb, ldc;
	const double *a, *b;
	double *c;
	Tile tile;
} Product;

/* Lays out kt rows of n columns of b in panels of a tile's columns; the last one is filled up with zeros. */
static void pack_b(const Product *p, int64_t kt, int64_t n, const double *b, double *to)
{
	int64_t w = p->tile.columns;

	for (int64_t j = 0; j < n; j += w) {
		int64_t have = n - j < w ? n - j : w;

		for (int64_t q = 0; q < kt; q++, to += w) {
			memcpy(to, b + q * p->ldb + j, (size_t)have * sizeof *to);
			for (int64_t u = have; u < w; u++)
				to[u] = 0;
		}
	}
}

/* The same of m rows of a, at most a tile's. */
static void pack_a(const Product *p, int64_t m, int64_t kt, const double *a, double *to)
{
	const double *row[MOST_ROWS];
	int64_t rows = p->tile.rows;

	for (int64_t i = 0; i < m; i++)
		row[i] = a + i * p->lda;
	if (m < rows)
		memset(to, 0, (size_t)(rows * kt) * sizeof *to);
	if (m == MOST_ROWS)
		for (int64_t q = 0; q < kt; q++, to += MOST_ROWS)
			for (int64_t i = 0; i < MOST_ROWS; i++)
				to[i] = row[i][q];
	else
		for (int64_t q = 0; q < kt; q++, to += rows)
			for (int64_t i = 0; i < m; i++)
				to[i] = row[i][q];
}

/* A tile of which only m rows and n columns are there. */
static void part_of_tile(const Product *p, int64_t m, int64_t n, int64_t kt, const double *a, const double *b,
			 double *c)
{
	double whole[MOST_ROWS * MOST_COLUMNS] = { 0 };
	int64_t w = p->tile.columns;

	for (int64_t i = 0; i < m; i++)
		memcpy(whole + i * w, c + i * p->ldc, (size_t)n * sizeof *c);
	p->tile.fn(kt, a, b, whole, w);
	for (int64_t i = 0; i < m; i++)
		memcpy(c + i * p->ldc, whole + i * w, (size_t)n * sizeof *c);
}

/* All rows of a with kt rows and nt columns of b. */
static void block(const Product *p, int64_t j0, int64_t nt, int64_t k0, int64_t kt, const double *panels)
{
	double a[MOST_ROWS * BLOCK_K];
	int64_t rows = p->tile.rows, w = p->tile.columns;

	for (int64_t i = 0; i < p->m; i += rows) {
		int64_t m = p->m - i < rows ? p->m - i : rows;

		pack_a(p, m, kt, p->a + i * p->lda + k0, a);
		for (int64_t j = 0; j < nt; j += w) {
			double *c = p->c + i * p->ldc + j0 + j;
			int64_t n = nt - j < w ? nt - j : w;

			if (m == rows && n == w)
				p->tile.fn(kt, a, panels + j * kt, c, p->ldc);
			else
				part_of_tile(p, m, n, kt, a, panels + j * kt, c);
		}
	}
}

static void by_tiles(const Product *p)
{
	enum { LINE = 64 }; /* bytes of a line of the cache: a panel begins at one */
	int64_t w = p->tile.columns, wide = p->n < BLOCK_N ? (p->n + w - 1) / w * w : BLOCK_N;
	int64_t most = wide * (p->k < BLOCK_K ? p->k : BLOCK_K);
	char *room = pm_xcalloc((size_t)most * sizeof(double) + LINE, 1);
	double *panels = (double *)(void *)(room + LINE - (uintptr_t)room % LINE);

	for (int64_t j = 0; j < p->n; j += BLOCK_N)
		for (int64_t q = 0; q < p->k; q += BLOCK_K) {
			int64_t nt = p->n - j < BLOCK_N ? p->n - j : BLOCK_N;
			int64_t kt = p->k - q < BLOCK_K ? p->k - q : BLOCK_K;

			pack_b(p, kt, nt, p->b + q * p->ldb + j, panels);
			block(p, j, nt, q, kt, panels);
		}
	free(room);
}

/* ---- the whole ---- */

static void compute(const Product *p)
{
	enum { LEAST_ROWS = 4, LEAST_COLUMNS = 6, LEAST_K = 8 };

	if (p->m < LEAST_ROWS || p->n < LEAST_COLUMNS || p->k < LEAST_K)
		by_rows(p->m, p->n, p->k, p->a, p->lda, p->b, p->ldb, p->c, p->ldc);
	else
		by_tiles(p);
}

/* Turns are blocks of columns, of each all blocks of rows: those that follow each other read the same part of
 * b. */
typedef struct Blocks {
	Product p;
	int64_t rows, columns, down; /* of a block; blocks below each other */
} Blocks;

static void product_blocks(void *arg, int64_t from, int64_t to)
{
	const Blocks *b = arg;

	for (int64_t turn = from; turn < to; turn++) {
		int64_t i = turn % b->down * b->rows, j = turn / b->down * b->columns;
		Product p = b->p;

		p.m = p.m - i < b->rows ? p.m - i : b->rows;
		p.n = p.n - j < b->columns ? p.n - j : b->columns;
		p.a += i * p.lda;
		p.b += j;
		p.c += i * p.ldc + j;
		compute(&p);
	}
}

static struct {
	PmRefProductFn *fn;
	void *arg;
} instead;

void pm_ref_products(PmRefProductFn *fn, void *arg)
{
	instead.fn = fn;
	instead.arg = arg;
}

static int all_zeros(const Product *p)
{
	for (int64_t i = 0; i < p->m; i++)
		for (int64_t j = 0; j < p->n; j++)
			if (p->c[i * p->ldc + j] != 0)
				return 0;
	return 1;
}

/* Whether somebody else has computed it. */
static int is_done_elsewhere(const Product *p)
{
	const double least = 1e5; /* operations: below that no one is asked */

	if (!instead.fn || pm_threads_inside() || (double)p->m * (double)p->n * (double)p->k < least ||
	    !all_zeros(p))
		return 0;
	return instead.fn(instead.arg,
			  &(PmRefProduct){ p->m, p->n, p->k, p->lda, p->ldb, p->ldc, p->a, p->b, p->c });
}

void pm__ref_gemm_f(int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, const double *b,
		    int64_t ldb, double *c, int64_t ldc)
{
	Blocks v = { { m, n, k, lda, ldb, ldc, a, b, c, best_tile() }, BLOCK_M, BLOCK_N, 0 };
	int64_t least;

	if (is_done_elsewhere(&v.p))
		return;
	/* Smaller blocks where there would be few: what is laid out for them is read less often then. */
	while (v.columns > 2 * MOST_COLUMNS && (m / v.rows + 1) * (n / v.columns + 1) < 4 * pm_threads_most())
		v.columns /= 2;
	while (v.rows > 8 * MOST_ROWS && (m / v.rows + 1) * (n / v.columns + 1) < 4 * pm_threads_most())
		v.rows /= 2;
	v.columns -= v.columns % v.p.tile.columns;
	v.down = (m + v.rows - 1) / v.rows;
	least = 1 + 2 * PM__REF_LEAST / (v.rows * v.columns * k + 1);
	pm_threads_run(v.down * ((n + v.columns - 1) / v.columns), least, product_blocks, &v);
}

void pm__ref_gemm_i(int64_t m, int64_t n, int64_t k, const int64_t *a, int64_t lda, const int64_t *b,
		    int64_t ldb, int64_t *c, int64_t ldc)
{
	int64_t i, j, p;

	for (i = 0; i < m; i++)
		for (p = 0; p < k; p++)
			for (j = 0; j < n; j++)
				c[i * ldc + j] = (int64_t)((uint64_t)c[i * ldc + j] +
							   (uint64_t)a[i * lda + p] *
								   (uint64_t)b[p * ldb + j]);
}
