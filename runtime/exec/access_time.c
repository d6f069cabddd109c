/* SPDX-License-Identifier: Apache-2.0 */
/* access_time.c - waits and six bounds of a launch's time, from its counts and the numbers of a GPU. */
#include "runtime/exec/access_time.h"

#include "runtime/device/sampled.h"
#include "runtime/profile/occupancy.h"

#include <string.h>

enum {
	SCHEDULERS = 4, /* of a multiprocessor; each issues an instruction of a warp in a cycle (CUDA C++
			 * Programming Guide, compute capabilities 8.0 and 9.0) */
	LATENCY_CYCLES =
		400, /* until DRAM answers, A100 and H100 (doi:10.1016/j.ultsonch.2023.106546, table 3) */
	WARP = 32,
	REGISTERS = 1 /* of a thread: not known here, and they limit nothing */
};

static const char *const names[PM_N_BOUNDS] = {
#define XX(name, key, ...) key,
#include "runtime/exec/access_time.def"
#undef XX
};

const char *pm_access_bound_name(PmAccessBound b)
{
	return names[b];
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Passes over the unit that L1 and shared memory are, of all counted blocks. Threads of a warp that go to one
 * address with an atomic operation do so one after the other. */
static double passes(const PmLaunchCounts *c)
{
	double n = (double)c->atomic.same;

	for (int k = 0; k < 2; k++)
		n += (double)c->global[k].passes + (double)c->shared[k].passes;
	return n;
}

/* Instructions of warps that are known of: each access, each barrier, and one for each stretch of code
 * without branches. What lanes of a warp do in different ways is issued once for each way. */
static double instructions(const PmLaunchCounts *c)
{
	double n = (double)(c->steps + c->barriers + c->collectives + c->atomic.requests);

	for (int k = 0; k < 2; k++)
		n += (double)(c->global[k].requests + c->shared[k].requests);
	return n;
}

/* Rounds of blocks but the first, by the threads and the shared memory of a block. */
static double later_rounds(const PmPlanLaunch *l, const PmLaunchCounts *c, const PmProfile *prof)
{
	const PmArch *a = pm_arch(prof->cc);
	uint64_t places, grid = pm_grid_blocks(l->grid);
	PmOccupancy o;

	if (!a)
		return 0;
	pm_occupancy(a, prof->n_sm, (int)(l->block[0] * l->block[1] * l->block[2]), REGISTERS,
		     (int64_t)c->shared_bytes, grid, &o);
	places = (uint64_t)o.places;
	return places && grid ? (double)((grid - 1) / places) : 0;
}

/* Seconds that a warp waits, one wait after the other: counts are those of all warps of the counted blocks.
 */
static double waits(const PmPlanLaunch *l, const PmLaunchCounts *c, const PmProfile *prof)
{
	const PmTarget *t = prof->target;
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	double warps = (double)c->blocks * (double)((threads + WARP - 1) / WARP), cycles;

	cycles = (double)(c->global[0].requests + c->global[1].requests) *
			 pm_target_cost(t, "wait_request_cycles") +
		 (double)c->barriers * pm_target_cost(t, "wait_barrier_cycles") +
		 (double)c->collectives * pm_target_cost(t, "wait_collective_cycles");
	return warps > 0 ? cycles / warps / t->sm_clock_hz : 0;
}

static void count_bounds(const PmPlanLaunch *l, const PmLaunchCounts *c, const PmProfile *prof,
			 PmAccessTime *out)
{
	double l2 = prof->target->l2_bytes_per_second, clock = prof->target->sm_clock_hz;
	uint64_t grid = pm_grid_blocks(l->grid), n_sm = (uint64_t)prof->n_sm;
	double blocks = (double)c->blocks, each = (double)((grid + n_sm - 1) / n_sm);
	double *b = out->bound;

	b[PM_BOUND_DRAM] = larger(b[PM_BOUND_DRAM],
				  (double)c->dram_sectors * PM_COUNT_SECTOR / prof->bytes_per_second);
	b[PM_BOUND_OPERATIONS] *= each * (double)n_sm / (double)grid;
	b[PM_BOUND_L2] = (double)c->l2_sectors / blocks * (double)grid * PM_COUNT_SECTOR / l2;
	b[PM_BOUND_L1] = passes(c) / blocks * each / clock;
	b[PM_BOUND_ISSUE] = instructions(c) / blocks * each / SCHEDULERS / clock;
	b[PM_BOUND_ROUNDS] = later_rounds(l, c, prof) * LATENCY_CYCLES / clock;
}

void pm_access_time(const PmPlanLaunch *l, const PmLaunchCounts *c, const PmProfile *prof, PmAccessTime *out)
{
	memset(out, 0, sizeof *out);
	out->launch = prof->launch_seconds;
	out->bound[PM_BOUND_DRAM] = (double)l->bytes / prof->bytes_per_second;
	out->bound[PM_BOUND_OPERATIONS] = (double)l->flops / prof->flops_per_second[l->flop_class];
	if (c && c->blocks) {
		out->waits = waits(l, c, prof);
		count_bounds(l, c, prof, out);
	}
	for (int i = 1; i < PM_N_BOUNDS; i++)
		if (out->bound[i] > out->bound[out->largest])
			out->largest = (PmAccessBound)i;
	out->seconds = out->launch + out->waits + out->bound[out->largest];
}
