/* SPDX-License-Identifier: Apache-2.0 */
/* constraints.h - the five things a model must be to serve in a dataset, each a named check with a reason.
 *
 * Models come without weights and may be far too large for a CPU: what is run is the largest part of the
 * model that stays within a budget (app/model/feasible.h), with seeded inputs in place of what enters it. The
 * reason says how much that was.
 */
#ifndef APP_CONSTRAINTS_H
#define APP_CONSTRAINTS_H

#include "base/core/json.h"
#include "ir/core/graph.h"

typedef enum {
	PM_CONSTRAINT_RUNNABLE,     /* runs on the reference for several seeds, all outputs finite */
	PM_CONSTRAINT_SERIALIZABLE, /* written as ONNX and read back: same canonical bytes, same outputs bit
				       for bit */
	PM_CONSTRAINT_DECOMPOSABLE, /* cut into convex parts at random and run part by part: same outputs bit
				       for bit */
	PM_CONSTRAINT_ANALYZABLE,   /* every operator is known, every type too, no size depends on data */
	PM_CONSTRAINT_CUSTOM_OPS,   /* operators of other domains have a body or a schema here */
	PM_N_CONSTRAINTS
} PmConstraintKind;

typedef enum { PM_BROKEN, PM_HOLDS, PM_UNDECIDED } PmConstraintVerdict;

/* The result: plain data, as JSON in pm_constraints_json. */
typedef struct PmConstraints {
	struct {
		PmConstraintVerdict verdict;
		char why[240]; /* one sentence: what was checked, or what is wrong and where */
	} of[PM_N_CONSTRAINTS];
	int n_nodes, n_run; /* nodes of the model, and of the part that was run */
} PmConstraints;

typedef struct PmConstraintOpts {
	int64_t max_flops; /* of the part that is run, a run; 0 = 20 million */
	int seeds;         /* 0 = 3 */
} PmConstraintOpts;

const char *pm_constraint_name(PmConstraintKind k);       /* "statically analyzable" */
const char *pm_constraint_verdict(PmConstraintVerdict v); /* "broken", "holds", "undecided" */
/* Checks a sorted, inferred graph. `opts` may be NULL. */
void pm_constraints_check(const PmGraph *g, const PmConstraintOpts *opts, PmConstraints *out);
/* 1 when none is broken. */
int pm_constraints_hold(const PmConstraints *c);
/* {"runnable": {"verdict": "holds", "why": ...}, ...} Returns owned. */
cJSON *pm_constraints_json(const PmConstraints *c);

#endif
