/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.h - the host's side of tiles.cu, for the passes that use it. */
#ifndef PASSES_TILES_H
#define PASSES_TILES_H

#include "choose.h"
#include "shapes.h"
#include "tiles.cu.h"

/* Operands that are not set are absent. */
typedef struct Tiles {
	PmVal x, bias, pos, head;
	int bias_per; /* 1: one for each r, 2: one for each q */
	int64_t batch, r, q, skip;
	double scale;
} Tiles;

/* NULL, or why the grid cannot cover it. */
static inline const char *tiles_refuse(const Tiles *t)
{
	if (t->batch < 1 || t->r < 1 || t->q < 1)
		return "it is empty or its size is not known";
	return t->batch > 65535 || t->r > 65535 * 32 || t->q + t->skip > INT32_MAX / 2
		       ? "it has more tiles than a grid can have"
		       : 0;
}

/* Replaces the match by tiles.cu, for what tiles_refuse has let pass. */
static inline PmStatus tiles_replace(PmRewriter *rw, PmMatch *m, const Tiles *t)
{
	enum { DOWN = 32, ACROSS = 32, THREADS = 256 }; /* rows and columns of y, and threads, of a block */
	int64_t in_n = load_size(t->q, m->root), out_n = load_size(t->r, m->root);
	uint32_t n = 1, bias = 0, pos = 0, head = 0;
	PmVal in[4] = { t->x };

	if (t->bias.id)
		in[bias = n++] = t->bias;
	if (t->pos.id)
		in[pos = n++] = t->pos;
	if (t->head.id)
		in[head = n++] = t->head;
	return PM_REPLACE_WITH_KERNEL(
		rw, m, .entry = "transpose_tiles", .source = tiles_cu,
		.grid = { pm_blocks(t->q, DOWN) + pm_blocks(t->skip, DOWN), pm_blocks(t->r, ACROSS),
			  (uint32_t)t->batch },
		.block = { THREADS }, .in = { in, n },
		.arg = PM_ARGS(IN(0), IN(bias), IN(pos), IN(head), OUT(0), I32(t->r), I32(t->q), I32(t->skip),
			       F32(t->scale)),
		.define = PM_DEFINES(DEF(BIAS, bias ? t->bias_per : 0), DEF(POS, pos != 0),
				     DEF(SKIP, head != 0), DEF(DOWN, DOWN), DEF(ACROSS, ACROSS),
				     DEF(THREADS, THREADS), DEF(IN_N, in_n), DEF(OUT_N, out_n)),
		.like = m->root);
}

#endif
