/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - what a set of inputs makes a graph compute, measured by running the reference on it. */
#ifndef BENCH_REACH_H
#define BENCH_REACH_H

#include "bench/inputs/defined.h"

/* What a class of inputs reached. */
typedef struct PmReached {
	int drawn;            /* 0: never; 1: used; 2: left out, `why` says for what */
	int measured;         /* what follows was: the reference ran */
	unsigned in, inside;  /* PM_KIND bits in the graph's inputs, and in results of its nodes */
	double in_most, most; /* greatest finite magnitude there */
	unsigned left; /* PM_KIND bits that the class has by itself and that were left out, for `why` */
	char why[160];
} PmReached;

/* Which way a graph's conditions went, over all inputs so far: by node id, bit 0 true, bit 1 false. */
typedef struct PmBranches {
	size_t n;
	unsigned char *seen; /* owned */
} PmBranches;
/* No way is taken yet; room for the nodes that g has now. */
void pm_branches_init(PmBranches *b, const PmGraph *g);
/* Frees what it owns. */
void pm_branches_release(PmBranches *b);
enum { PM_BRANCH = 96 }; /* room for the name of a way */
/* Writes the k-th way that no input went, "Where 'y' never false", and returns 1; 0 when there are no more
 * of them. Where, comparisons, IsInf and IsNaN have two ways. */
int pm_branch_not_taken(const PmBranches *b, const PmGraph *g, size_t k, char *text, size_t room);

/* How the run is looked at. */
enum {
	PM_REACH_DEFINED = 1, /* stop where a result is not defined (bench/inputs/defined.h) */
	PM_REACH_FINITE = 2   /* stop where numbers leave what types and operators can do, with room for
			       * another order of operations; one element in 256 may */
};

/* Runs the reference on a static graph. PM_OK and *r filled in; PM_DECLINED, with the reason in r->why,
 * where it stopped by `how` or the reference refuses the inputs, nothing added to *b then. `b` may be NULL.
 */
PmStatus pm_reach(const PmGraph *g, const PmTensor *in, int how, PmReached *r, PmBranches *b, PmErr *err);

/* Bytes that the run takes beside the inputs where it is by rows, at most about; 0 where it is of the whole.
 */
int64_t pm_reach_bytes_by_rows(const PmGraph *g);

#endif
