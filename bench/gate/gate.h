/* SPDX-License-Identifier: Apache-2.0 */
/* gate.h - is a graph worth asking about? Looks for tasks that can be passed without doing the work.
 *
 * A task is degenerate when a constant, a copy of an input or a reduced precision passes, when an input or an
 * axis does not matter, or when wrong kernels pass. The rules run on the reference with seeded inputs, before
 * any pass is seen; each has a name, and the first that is broken rejects the graph. Rules about outputs
 * (range, axes, trivial) must hold for every output. "Tolerance" is that of level t = -5 at an element's
 * value; integers and booleans must be equal (1e-6). The limits stand in bench/gate/gate_priv.h, what each of
 * them costs in docs/results/dataset.md.
 */
#ifndef BENCH_GATE_H
#define BENCH_GATE_H

#include "ir/core/graph.h"

typedef enum {
	PM_GATE_RUNS,   /* the reference runs it on every seed; nine elements of ten are finite */
	PM_GATE_SIMPLE, /* at least 90 % of the work remains when no-ops, repeated and constant parts are
			   taken out */
	PM_GATE_RANGE,  /* max |y| >= 1,000 and RMS(y) >= 100 absolute tolerances */
	PM_GATE_SEEDS,  /* of 99 % of all results the deviation over seeds is >= 20 tolerances */
	PM_GATE_AXES,   /* along every axis the deviation is >= 20 tolerances */
	PM_GATE_INPUTS, /* another seed's values for any one input change half of the results that it reaches
			 * by more than 20 tolerances, and it reaches at least 1 % of all */
	PM_GATE_ELEMENTS, /* moving one element of a floating point input by one deviation, up or down, shows
			   * in nine of ten trials */
	PM_GATE_TRIVIAL,  /* zeros, ones, means, copied, repeated or cut inputs, the answer for another seed,
			   * and the answer rounded to bfloat16 (of float outputs) are all wrong, for every
			   * seed */
	PM_GATE_MUTANTS,  /* of up to 40 wrong versions of the graph at least 95 % are found wrong; a change
			   * that  leaves every bit of the reference as it was is no wrong version */
	PM_GATE_HONEST, /* the eager kernels of the emulated device agree with the reference on every seed, in
			 * their own order of adding up and in another */
	PM_GATE_N_RULES
} PmGateRule;
const char *pm_gate_rule_name(PmGateRule r); /* "runs", "simple", "range", ... */

typedef struct PmGateOpts {
	uint64_t seed;
	int n_seeds;   /* 0 = 16 */
	int n_mutants; /* at most; 0 = 40 */
	int n_honest;  /* seeds on the emulated device, more than n_seeds if wanted; 0 = none: the rule is not
			  asked */
	int ask_all;   /* go on after a rule that is broken, so that all of `found` is filled in */
} PmGateOpts;

typedef struct PmGateReport {
	int ok;
	PmGateRule broken; /* when not ok */
	char why[256];     /* one sentence; "" when ok */
	/* What each rule found, at its worst; NaN where it was not asked. RUNS: share of finite elements.
	 * SIMPLE: share of work that remains. RANGE, SEEDS, INPUTS, ELEMENTS, MUTANTS: the share or ratio
	 * that the rule bounds. AXES: deviation in tolerances. TRIVIAL: share of elements in outputs
	 * that no guess passes. HONEST:
	 * smallest share of runs that agree. */
	double found[PM_GATE_N_RULES];
	int n_mutants, n_killed;
} PmGateReport;

/* Judges a sorted, static graph. PM_OK whenever there is an answer. `opts` may be NULL. */
PmStatus pm_gate(const PmGraph *g, const PmGateOpts *opts, PmGateReport *out, PmErr *err);

#endif
