/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy.c - the occupancy of a multiprocessor, by the rules of NVIDIA's calculator. */
#include "runtime/profile/occupancy.h"

#include <string.h>

enum { WARP = 32 };

const char *pm_occ_limit_name(PmOccLimit l)
{
	static const char *const name[PM_N_OCC_LIMITS] = { "warps", "blocks", "registers", "shared memory" };

	return name[l];
}

static int64_t round_up(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* A warp's registers come out of one part; a block whose warps, spread over the parts, need more than there
 * is does not fit at all. */
static int by_registers(const PmArch *a, int warps, int registers)
{
	int64_t of_warp = round_up((int64_t)registers * WARP, a->register_unit);

	if (registers > a->max_registers || of_warp * round_up(warps, a->parts) > a->registers)
		return 0;
	if (!of_warp)
		return a->blocks;
	return (int)(a->registers / a->parts / of_warp * a->parts / warps);
}

static int by_shared(const PmArch *a, int64_t shared)
{
	int64_t of_block = round_up(shared + a->shared_kept, a->shared_unit);

	return shared > a->shared_block ? 0 : (int)(a->shared / of_block);
}

void pm_occupancy(const PmArch *a, int n_sm, int threads, int registers, int64_t shared, uint64_t grid,
		  PmOccupancy *out)
{
	int warps = (threads + WARP - 1) / WARP;
	uint64_t rounds;

	memset(out, 0, sizeof *out);
	out->of[PM_OCC_WARPS] = a->warps / warps;
	out->of[PM_OCC_BLOCKS] = a->blocks;
	out->of[PM_OCC_REGISTERS] = by_registers(a, warps, registers);
	out->of[PM_OCC_SHARED] = by_shared(a, shared);
	for (int i = 1; i < PM_N_OCC_LIMITS; i++)
		if (out->of[i] < out->of[out->limit])
			out->limit = (PmOccLimit)i;
	out->blocks = out->of[out->limit];
	out->warps = out->blocks * warps;
	out->share = (double)out->warps / a->warps;
	out->places = (int64_t)out->blocks * n_sm;
	if (!out->places || !grid)
		return;
	rounds = (grid + (uint64_t)out->places - 1) / (uint64_t)out->places;
	out->waves = (double)grid / (double)out->places;
	out->last = (int64_t)(grid - (rounds - 1) * (uint64_t)out->places);
	out->idle = 1 - (double)grid / ((double)rounds * (double)out->places);
}
