/* SPDX-License-Identifier: Apache-2.0 */
/* mine.h - which structures in a database are worth a pass.
 *
 * Structures are ranked by the time at stake: the eager time of their occurrences minus what one kernel that
 * reads the inputs and writes the outputs would take, modelled by the default profile, or measured where the
 * database holds measured results for the graph. Copies of a model must not vote many times: models with the
 * same structures in the same numbers are clones, and only the one with the least number counts, for times
 * and for support.
 */
#ifndef BENCH_MINE_H
#define BENCH_MINE_H

#include "dataset/store/db.h"

typedef struct PmMined {
	char structure[65];
	int64_t example;     /* stored graph of it that occurs most */
	char *ops;           /* owned; of the example */
	int64_t n_graphs;    /* different stored graphs of it */
	int64_t occurrences; /* in all models, clones included */
	int64_t models;      /* that hold it, clones included */
	int64_t support;     /* the same without clones */
	double seconds;      /* eager, over all occurrences in models that are no clones */
	double at_stake;     /* of them, what one kernel would save */
	int measured;        /* graphs whose time was measured */
	char *best_pass;     /* owned; "" when no pass was right on it */
	double best_speedup; /* geometric mean over its results */
} PmMined;

typedef struct PmMine {
	PmMined *v; /* owned; most at stake first */
	size_t n;
	double seconds; /* of all structures together */
	int64_t models, distinct_models;
	int64_t unplanned; /* graphs that could not be planned: left out */
} PmMine;

/* Looks at the fusible subgraphs of a database. `step` (may be NULL) is called for each graph of `total`. */
PmStatus pm_mine(PmDb *db, void (*step)(void *arg, int64_t total), void *arg, PmMine *out, PmErr *err);
void pm_mine_release(PmMine *m);

#endif
