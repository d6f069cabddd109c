/* SPDX-License-Identifier: Apache-2.0 */
/* candidates.h - the regions that passes offer for one model, each of which can be put into it alone.
 *
 * A pass rewrites the model, or the model as other passes left it. Each kernel that it makes becomes a
 * candidate: the kernel, the values of the model that it reads and gives, and the nodes that go when it is
 * put in their place. So a kernel that was found behind another pass can be taken without it.
 */
#ifndef APP_APPLY_CANDIDATES_H
#define APP_APPLY_CANDIDATES_H

#include "app/apply/select_regions.h"
#include "base/core/hash.h"
#include "ir/core/graph.h"
#include "runtime/exec/exec.h"

typedef struct PmCandidate {
	int pass;         /* number of the pass that made it */
	const PmGraph *g; /* where the kernel stands; the set owns it */
	PmNode kernel;
	PmValue *in, *out; /* owned; of the model: by operand, by result (id 0 = nothing reads that result) */
	size_t n_in, n_out;
	uint32_t *node; /* owned; places in the model's execution order of the nodes that go, ascending */
	size_t n;
	PmNodeCost before, after;   /* of these nodes; of the kernel. Zeros where there is no plan */
	int alone;                  /* its pass offers it on the model as it is */
	char digest[PM_SHA256_HEX]; /* of operands, results, nodes and kernel: the same in every process */
} PmCandidate;

typedef struct PmCandidates {
	const PmGraph *model;    /* borrowed: sorted, a clone (so that clones of it have the same ids) */
	PmNodeCost *cost;        /* owned; of the model's nodes by id; NULL = it has no plan */
	uint32_t *place;         /* owned; by node id of the model: its place */
	PM_VEC(PmGraph *) graph; /* owned */
	PM_VEC(PmCandidate) list;
	size_t n_lost; /* kernels that cannot be put into the model alone */
} PmCandidates;

/* Numbers of candidates, ascending: what one graph holds. */
typedef struct PmCandidateSet {
	PM_VEC(uint32_t) v;
} PmCandidateSet;

/* `cost` is taken over. */
void pm_candidates_init(PmCandidates *c, const PmGraph *model, PmNodeCost *cost);
void pm_candidates_release(PmCandidates *c);

/* Adds the new kernels of `after`, which pass `pass` made of a graph that had the candidates `had` (NULL = of
 * the model itself), and takes the graph. A kernel that is there already, by its digest, is not added again.
 * *out becomes what `after` has, `had` included. PM_E_INVALID when the graph does not belong to the model. */
PmStatus pm_candidates_add(PmCandidates *c, PmGraph *after, int pass, const PmCandidateSet *had,
			   PmCandidateSet *out, PmErr *err);

/* 1 when a node goes with either: only one of them can be taken. */
int pm_candidates_conflict(const PmCandidate *a, const PmCandidate *b);

/* The model with these candidates in it. kernel[i] becomes the node of set->v[i] (room for set->v.n). A set
 * in which two conflict is the caller's mistake. PM_DECLINED when the kernels would wait for each other in a
 * circle. Returns owned in *out: verified, and checked to compute the model. */
PmStatus pm_candidates_build(const PmCandidates *c, const PmCandidateSet *set, PmNode *kernel, PmGraph **out,
			     PmErr *err);

#endif
