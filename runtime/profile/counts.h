/* SPDX-License-Identifier: Apache-2.0 */
/* counts.h - what the kernels of a plan did on the device "emu+counts", counted by warp.
 *
 * A warp's threads go together as on a GPU: of threads that are at different places those go first that are
 * deepest in calls, then those at the lowest place in the code, until they meet again. Memory is as on a GPU,
 * too: a request is one instruction of a warp; it touches sectors of 32 bytes; shared memory has 32 banks of
 * 4 bytes. A request for more than 4 bytes of each thread takes 2 or 4 passes over half or a quarter of the
 * warp.
 *
 * Caches are simple ones. A block has a part of its multiprocessor's L1 cache to itself, by its threads; the
 * sectors that came last are in it, and those that it reads there are not asked of L2. Writes and atomic
 * operations go to L2, whatever L1 holds. L2 keeps all that it was asked for: a sector of a buffer comes from
 * DRAM, or goes there, once in a launch.
 */
#ifndef RUNTIME_PROFILE_COUNTS_H
#define RUNTIME_PROFILE_COUNTS_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

enum {
	PM_COUNT_LAUNCHES = 16,
	PM_COUNT_SITES = 8, /* accesses of a launch that are told one by one */
	PM_COUNT_BLOCKS = 32,
	PM_COUNT_SECTOR = 32,
	PM_COUNT_BANKS = 32,
	PM_COUNT_SHARED_MOST = 227 * 1024, /* bytes of shared memory of a block, compute capability 9.0 */
	/* Sectors that L1 moves in the time in which shared memory makes a pass: 128 bytes a cycle (CUDA C++
	 * Best Practices Guide; "Dissecting the NVIDIA Volta GPU Architecture", 2018, table 3.1). */
	PM_COUNT_PASS_SECTORS = 4,
	/* Bytes of L1 for each thread of a block: 256 KB of L1 and shared memory for 2,048 threads (CUDA C++
	 * Programming Guide, compute capability 9.0). A multiprocessor holds 32 blocks at most, so that a
	 * block has the part of 64 threads at least. */
	PM_COUNT_L1_OF_THREAD = 128,
	PM_COUNT_L1_THREADS = 64
};

typedef enum PmCountKind { PM_COUNT_LOAD, PM_COUNT_STORE, PM_COUNT_ATOMIC, PM_N_COUNT_KINDS } PmCountKind;

/* Requests on global memory. */
typedef struct PmCountGlobal {
	uint64_t requests, sectors;
	uint64_t ideal;  /* the least sectors that hold the bytes of each request, summed */
	uint64_t bytes;  /* different bytes of each request, summed */
	uint64_t passes; /* of the L1 cache over the sectors of each request, summed */
} PmCountGlobal;

/* Requests on shared memory. */
typedef struct PmCountShared {
	uint64_t requests, passes;
	uint64_t ideal; /* passes without bank conflicts */
} PmCountShared;

typedef struct PmCountAtomic {
	uint64_t requests, threads;
	uint64_t same; /* threads of a request on the address that most of them are on, summed */
} PmCountAtomic;

/* One access of the source. */
typedef struct PmCountSite {
	int line, column; /* 0 = not known */
	char file[64];    /* the label of the kernel, or the header */
	int shared;       /* of shared memory, else global */
	PmCountKind kind;
	int size; /* bytes of each thread */
	PmCountGlobal global;
	PmCountShared bank;
} PmCountSite;

typedef struct PmLaunchCounts {
	uint32_t launch;            /* number of the launch in its plan: set by who asks */
	uint64_t blocks, of_blocks; /* counted; of the grid. 0 = it did not run */
	uint64_t shared_bytes;      /* static and dynamic shared memory of a block */
	PmCountGlobal global[2];    /* by PmCountKind: loads, stores */
	PmCountShared shared[2];
	PmCountAtomic atomic;           /* on memory of both kinds */
	uint64_t barriers, collectives; /* by warp */
	uint64_t steps,
		active;  /* stretches of code without branches that warps went through; lanes in them */
	uint64_t parted; /* of these, after how many a warp's lanes went different ways */
	uint64_t read_sectors, unique_sectors; /* read by warps; different ones among them */
	uint64_t l1_hits;      /* of read_sectors: those that the block's L1 cache still had */
	uint64_t l2_sectors;   /* asked of L2: what L1 did not have, what is written, atomic operations' */
	uint64_t dram_sectors; /* of the whole launch, not of the counted blocks alone: each sector that L2 is
				* asked for, at most as many as a buffer has */
	int stopped; /* blocks that should have been counted were not, since the others had done so much */
	int n_sites, n_all_sites;
	PmCountSite site[PM_COUNT_SITES]; /* that cost most, worst first */
} PmLaunchCounts;

/* Starts zeroed; what a process in which a kernel ran says of it is taken by pm_counts_take alone. */
typedef struct PmCounts {
	size_t n; /* launches that are asked about */
	PmLaunchCounts of[PM_COUNT_LAUNCHES];
	const char *source[PM_COUNT_LAUNCHES]; /* of their kernels; borrowed */
} PmCounts;

/* 1 when kernels of this source are counted. */
int pm_counts_of_source(const PmCounts *c, const char *source);
/* The counts of launch number `launch`; NULL when nobody asked. */
PmLaunchCounts *pm_counts_of_launch(PmCounts *c, uint64_t launch);
/* What is sent: c->of, and its bytes. */
size_t pm_counts_bytes(const PmCounts *c);
/* Takes what another process sent; PM_E_CRASH when it is of another size. Texts and numbers of sites are made
 * safe to print, shared memory and blocks to reckon with. */
PmStatus pm_counts_take(PmCounts *c, const void *bytes, size_t n, PmErr *err);

#endif
