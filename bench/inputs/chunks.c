/* SPDX-License-Identifier: Apache-2.0 */
/* chunks.c - an input's elements in chunks, each with random numbers of its own. */
#include "bench/inputs/chunks.h"

#include "base/sys/threads.h"

typedef struct Cut {
	int64_t n, last;
	int64_t rows;   /* of a chunk; 0: a row has several chunks, */
	int64_t pieces; /* so many */
	PmRng all;
	PmChunkFn *fn;
	void *arg;
} Cut;

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void do_chunks(void *arg, int64_t from, int64_t to)
{
	const Cut *c = arg;

	for (int64_t k = from; k < to; k++) {
		int64_t row = c->rows ? k * c->rows : k / c->pieces, piece = c->rows ? 0 : k % c->pieces;
		PmChunk chunk;

		chunk.from = row * c->last + piece * PM__CHUNK;
		chunk.to = least(c->n, c->rows ? chunk.from + c->rows * c->last
					       : least(chunk.from + PM__CHUNK, (row + 1) * c->last));
		pm_rng_part(&c->all, (uint64_t)k, &chunk.r);
		pm_rng_part(&c->all, (uint64_t)(k - piece), &chunk.row);
		c->fn(c->arg, &chunk);
	}
}

int64_t pm__last_axis(const PmType *t)
{
	int64_t last = t->rank ? t->dim[t->rank - 1] : 1;

	return last > 0 ? last : 1;
}

void pm__in_chunks(int64_t n, int64_t last, PmRng *r, PmChunkFn *fn, void *arg)
{
	Cut c = { .n = n, .last = last > 0 ? last : 1, .all = *r, .fn = fn, .arg = arg };
	int64_t chunks;

	if (n <= PM__CHUNK) {
		PmChunk whole = { 0, n, *r, *r };

		fn(arg, &whole);
		*r = whole.r;
		return;
	}
	c.rows = PM__CHUNK / c.last;
	c.pieces = (c.last + PM__CHUNK - 1) / PM__CHUNK;
	chunks = c.rows ? (n + c.rows * c.last - 1) / (c.rows * c.last) : n / c.last * c.pieces;
	pm_threads_run(chunks, 1, do_chunks, &c);
	pm_rng_part(&c.all, (uint64_t)chunks, r);
}
