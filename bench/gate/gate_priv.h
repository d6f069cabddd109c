/* SPDX-License-Identifier: Apache-2.0 */
/* gate_priv.h - what the files of the task gate share. */
#ifndef BENCH_GATE_PRIV_H
#define BENCH_GATE_PRIV_H

#include "bench/compare/tolerance.h"
#include "bench/gate/gate.h"
#include "bench/inputs/inputs.h"

/* What the rules demand. */
#define PM_GATE_FINITE    0.9  /* of all results */
#define PM_GATE_NEEDED    0.9  /* of the work */
#define PM_GATE_SEEDS_MIN 0.99 /* of all results vary over seeds */
#define PM_GATE_STEP      20.0 /* tolerances that count as a change */
#define PM_GATE_REACH     0.01 /* of all results are reached by an input */
#define PM_GATE_REDRAWN   0.5  /* of those change when the input is drawn again */
#define PM_GATE_MOVED     0.9  /* of moved elements show */
#define PM_GATE_KILLED    0.95 /* of wrong versions are found wrong */

/* The answers for one set of inputs: all outputs as doubles, one after another. */
typedef struct PmGateRun {
	PmTensor *in;
	double *y;
} PmGateRun;

typedef struct PmGate {
	const PmGraph *g;
	PmGateOpts opts;
	PmGateReport *r;
	size_t n_in, n_out, total; /* total: elements of all outputs */
	size_t *at;                /* where each output begins in y, and the end */
	PmGateRun *run;            /* n_seeds of them */
	PmTol *pair;               /* by output */
	double *tol;               /* by element, at the first seed's value */
} PmGate;

/* The name of output o. */
const char *pm__gate_output_name(const PmGate *x, size_t o);
/* Runs a graph with the gate's inputs and outputs on the reference: y has room for `total`. */
PmStatus pm__gate_ref(const PmGate *x, const PmGraph *g, const PmTensor *in, double *y, PmErr *err);
/* The same of any graph; output o goes to y[at[o]] .. y[at[o + 1] - 1]. */
PmStatus pm__gate_run(const PmGraph *g, const PmTensor *in, size_t n_in, const size_t *at, size_t n_out,
		      double *y, PmErr *err);
/* How many elements of output o, or of all (n_out), differ by more than `factor` tolerances. */
size_t pm__gate_differ(const PmGate *x, size_t o, const double *a, const double *b, double factor);
/* Tolerance at value y of output o. */
double pm__gate_tol(const PmGate *x, size_t o, double y);
/* Says that a rule is broken; returns 0. */
int pm__gate_break(PmGate *x, PmGateRule rule, const char *fmt, ...) PM_PRINTF(3, 4);

/* The rules: 1 when kept. A status other than PM_OK is the machine's. */
double pm__gate_remaining(const PmGraph *g); /* gate_simple.c: share of the work that is needed */
PmStatus pm__gate_inputs(PmGate *x, int *kept, PmErr *err);
PmStatus pm__gate_elements(PmGate *x, int *kept, PmErr *err);
int pm__gate_trivial(PmGate *x);
PmStatus pm__gate_mutants(PmGate *x, int *kept, PmErr *err);
PmStatus pm__gate_honest(PmGate *x, int *kept, PmErr *err);

#endif
