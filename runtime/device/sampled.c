/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.c - draws the blocks of a large launch that run. */
#include "runtime/device/sampled.h"

#include "base/core/rng.h"

#include <string.h>

enum { OF_A_SIDE = 8 };

uint64_t pm_grid_blocks(const uint32_t grid[3])
{
	return (uint64_t)grid[0] * grid[1] * grid[2];
}

int pm_sampled_some(const uint32_t grid[3], const PmSampled *s)
{
	return s->blocks && pm_grid_blocks(grid) / 2 >= s->blocks;
}

/* What has been chosen so far, in order. */
typedef struct Chosen {
	uint64_t *at;
	size_t n, most;
} Chosen;

static void add(Chosen *c, uint64_t block)
{
	size_t i = c->n;

	if (c->n == c->most)
		return;
	while (i > 0 && c->at[i - 1] > block)
		i--;
	if (i > 0 && c->at[i - 1] == block)
		return;
	memmove(c->at + i + 1, c->at + i, (c->n - i) * sizeof *c->at);
	c->at[i] = block;
	c->n++;
}

static uint64_t number_of(const uint32_t grid[3], const uint32_t b[3])
{
	return b[0] + (uint64_t)grid[0] * (b[1] + (uint64_t)grid[1] * b[2]);
}

static void draw(PmRng *r, const uint32_t grid[3], uint32_t b[3])
{
	for (int d = 0; d < 3; d++)
		b[d] = (uint32_t)pm_rng_range(r, 0, (int64_t)grid[d] - 1);
}

size_t pm_sampled_blocks(const uint32_t grid[3], const PmSampled *s, uint64_t *out)
{
	Chosen c = { out, 0, s->blocks < PM_SAMPLED_MOST ? s->blocks : PM_SAMPLED_MOST };
	uint32_t b[3];
	PmRng r;

	if (!pm_sampled_some(grid, s))
		return 0;
	pm_rng_init(&r, s->secret);
	for (unsigned corner = 0; corner < 8; corner++) {
		for (int d = 0; d < 3; d++)
			b[d] = corner >> d & 1 ? grid[d] - 1 : 0;
		add(&c, number_of(grid, b));
	}
	for (int side = 0; side < 6; side++)
		for (int i = 0; i < OF_A_SIDE && grid[side / 2] > 1; i++) {
			draw(&r, grid, b);
			b[side / 2] = side & 1 ? grid[side / 2] - 1 : 0;
			add(&c, number_of(grid, b));
		}
	while (c.n < c.most) { /* ends: at least half of all are not among them */
		draw(&r, grid, b);
		add(&c, number_of(grid, b));
	}
	return c.n;
}
