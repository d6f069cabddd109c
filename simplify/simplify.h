/* SPDX-License-Identifier: Apache-2.0 */
/* simplify.h - named clean-up passes over a graph; what it computes on the reference device stays the same to
 * the bit.
 *
 * Inputs and outputs keep their number, order, names and types. Opaque and fused nodes are never changed,
 * merged or computed ahead. The passes are listed in passes.def.
 */
#ifndef SIMPLIFY_SIMPLIFY_H
#define SIMPLIFY_SIMPLIFY_H

#include "ir/core/graph.h"

typedef enum PmSimplifyPass {
#define XX(fn, name, what) PM_SIMPLIFY_##fn,
#include "simplify/passes.def"
#undef XX
	PM_N_SIMPLIFY
} PmSimplifyPass;

typedef struct PmSimplifyOpts {
	uint32_t passes; /* bit k: pass k runs; 0 = all */
	/* Called after each pass that changed something; may be NULL. */
	void (*after)(void *arg, PmSimplifyPass pass, int round, size_t changes, const PmGraph *g);
	void *arg;
} PmSimplifyOpts;

typedef struct PmSimplifyReport {
	size_t changes[PM_N_SIMPLIFY]; /* per pass, over all rounds */
	int rounds;                    /* the last of which changed nothing */
} PmSimplifyReport;

/* Name in options and reports, and what it does in a few words; "" past the last. Static. */
const char *pm_simplify_name(PmSimplifyPass p);
const char *pm_simplify_what(PmSimplifyPass p);
/* PM_N_SIMPLIFY when there is no such pass. */
PmSimplifyPass pm_simplify_find(const char *name);

/* Runs the passes in turn until none changes anything. The graph must be sorted, inferred and verified, and
 * is so afterwards. `opts` and `report` may be NULL. On failure the graph is only good to be freed. */
PmStatus pm_simplify(PmGraph *g, const PmSimplifyOpts *opts, PmSimplifyReport *report, PmErr *err);

#endif
