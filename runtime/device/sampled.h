/* SPDX-License-Identifier: Apache-2.0 */
/* sampled.h - which blocks of a large launch run where only some of them do.
 *
 * The emulated device takes minutes for a kernel over 10^8 elements. Where an evaluation asks for it, of a
 * launch with many blocks those run that lie at the edges of the grid, and others that a secret draws. Who
 * asks knows which they are by the same function.
 */
#ifndef RUNTIME_SAMPLED_H
#define RUNTIME_SAMPLED_H

#include <stddef.h>
#include <stdint.h>

enum { PM_SAMPLED_MOST = 256 };

typedef struct PmSampled {
	uint64_t secret;
	uint32_t blocks; /* that run, at most PM_SAMPLED_MOST; 0 = all */
} PmSampled;

/* Blocks of a grid, whose dimensions are 1 at least. */
uint64_t pm_grid_blocks(const uint32_t grid[3]);
/* 1 when of a launch with this grid only some blocks run: it has twice as many as are asked for, or more. */
int pm_sampled_some(const uint32_t grid[3], const PmSampled *s);
/* Then their numbers (x + grid[0] * (y + grid[1] * z)), ascending, each once: the corners of the grid, some
 * of each side, and the rest drawn from all. Returns how many there are: s->blocks; `out` has room for them.
 * 0 when all blocks run. */
size_t pm_sampled_blocks(const uint32_t grid[3], const PmSampled *s, uint64_t *out);

#endif
