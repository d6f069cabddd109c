/* SPDX-License-Identifier: Apache-2.0 */
/* chunks.h - an input's elements in chunks, each with random numbers of its own, drawn by all processors.
 *
 * Chunks are cut by the shape alone: whole rows (the last axis), or pieces of one long row. What a chunk
 * draws follows from the input's stream and the chunk's number, so that no processor waits for another one's
 * numbers and their count changes no bit. An input of one chunk draws from the input's stream itself.
 */
#ifndef BENCH_INPUT_CHUNKS_H
#define BENCH_INPUT_CHUNKS_H

#include "base/core/rng.h"
#include "ir/core/type.h"

/* Most elements of a chunk. */
enum { PM__CHUNK = 1 << 16 };

typedef struct PmChunk {
	int64_t from, to; /* elements */
	PmRng r;          /* for what is drawn in it */
	PmRng row;        /* what the row was begun with, where `from` lies in the middle of one */
} PmChunk;

/* Draws the elements of a chunk; it may advance chunk->r. */
typedef void PmChunkFn(void *arg, PmChunk *chunk);

/* Elements of a row, 1 at least. */
int64_t pm__last_axis(const PmType *t);

/* Calls `fn` for each chunk of n elements in rows of `last`, on several processors. Leaves *r behind all of
 * them. */
void pm__in_chunks(int64_t n, int64_t last, PmRng *r, PmChunkFn *fn, void *arg);

#endif
