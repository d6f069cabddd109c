/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - what a nest does to memory and to the threads that run it: a pure function of the nest and of
 * the target's constants. */
#ifndef PASSES_FUSE_WALK_H
#define PASSES_FUSE_WALK_H

#include "../loop/nest.h"
#include "target.h"

typedef struct Cost {
	double bytes;         /* read and written */
	double spread;        /* bytes more, of sectors that are read for a part of them */
	double apart;         /* bytes more, of sectors that one instruction writes for a part of them */
	double lines;         /* of L1 that the loads of warps ask for, where lanes are in different ones */
	double work;          /* simple operations, of all threads together */
	double across, along; /* bytes that lie side by side in neighbouring rows, and along a row */
	double serial;        /* turns of loops of one thread */
	double looks;         /* and of those that look through the indices of a scatter */
	double fast_m,
		fast_n; /* behind a product: elements of results that lie side by side along m, and along n */
	int cached;     /* words that a thread keeps for each turn from loop to loop */
	int lane_loads; /* accesses that each lane makes by itself */
	int syncs;      /* times that the threads of a row join their parts */
} Cost;

/* Elements between what neighbours in a variable (DEP_ROW, DEP_CHUNK) read or write; 0 when it does not
 * matter. */
int64_t nest_stride(const Index *ix, Ix at, uint32_t dep);
/* Of a complete nest. */
Cost nest_cost(const Nest *n, const Target *t);

#endif
