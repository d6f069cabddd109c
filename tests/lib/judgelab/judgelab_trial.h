/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_trial.h - trials of the error bound: simulated kernels on inputs as evaluations draw them. */
#ifndef TESTS_LIB_JUDGELAB_TRIAL_H
#define TESTS_LIB_JUDGELAB_TRIAL_H

#include "bench/compare/bound/bound.h"
#include "bench/inputs/inputs.h"
#include "tests/lib/judgelab/judgelab.h"

/* A body with inputs and what the bound says of them. */
typedef struct JlCase {
	PmGraph *g;
	int body, type;
	JlSize size;
	PmTensor in[8], got; /* got: results as a kernel stores them */
	PmBound bound;
	int judged;                /* there is a bound */
	double *exact, *eager, *y; /* one number per element of the result; `eager` filled by jl_case_eager */
	double eager_rms, eager_max,
		rms; /* error of the eager run, and size of the result: finite elements */
} JlCase;

typedef enum JlVerdict { JL_ADMITTED, JL_REFUSED, JL_NOT_JUDGED } JlVerdict;

/* A body of one element type and size, with room for its results and without inputs. jl_case_close frees
 * it. */
void jl_case_open(JlCase *c, int body, int type, int size);
void jl_case_close(JlCase *c);
/* Draws inputs as an evaluation does and runs the bound on them; 0 where an evaluation leaves the class out.
 */
int jl_case_draw(JlCase *c, uint64_t seed, PmInputClass cls);
/* Runs the body exactly and as the eager run does: what errors are measured by. */
void jl_case_eager(JlCase *c);
/* Judges c->y, as an evaluation does. */
JlVerdict jl_case_judge(const JlCase *c, PmBoundFit *fit);
/* How large the error of c->y is in units of the eager run's: the larger of root mean square and maximum. */
double jl_case_error(const JlCase *c);
/* Input classes of an evaluation of this body. */
int jl_case_n_classes(const JlCase *c);

/* ---- experiments; each is the same for the same seed ---- */

typedef struct JlHonest {
	int trials, refused, not_judged;
	double rms, max; /* the largest that was found */
	char worst[200]; /* what was refused first */
} JlHonest;

/* Draws from .. to - 1 of each input class, `mixes` honest kernels on each. */
void jl_honest_trials(JlCase *c, uint64_t seed, int from, int to, int mixes, JlHonest *out);

enum { JL_MAX_CHEATS = 32 };
typedef struct JlPower {
	/* Seeds in which the cheat was a cheat: its error is more than four times the eager run's. Of these:
	 * refused. */
	int seeds[JL_MAX_CHEATS], refused[JL_MAX_CHEATS];
	/* Seeds in which its error was smaller, and how many of these were refused all the same. */
	int small[JL_MAX_CHEATS], small_refused[JL_MAX_CHEATS];
	char missed[JL_MAX_CHEATS][160]; /* the first seed that was not refused */
} JlPower;
/* Seeds from .. to - 1, on normal numbers alone: a cheat may look at its inputs and be honest on all others.
 */
void jl_power_trials(JlCase *c, uint64_t seed, int from, int to, JlPower *out);

typedef enum JlDrift { JL_SCALE, JL_BIAS, JL_NOISE, JL_N_DRIFTS } JlDrift;
/* Name in reports. Static. */
const char *jl_drift_name(JlDrift d);
/* The largest systematic error of that kind that passes on normal numbers, in units of the eager run's own
 * error (root mean squares), by bisection; NaN where the eager run makes none. It is counted as it stands in
 * the results: of an error of three units in numbers that are all 1 rounding may leave two. */
double jl_largest_drift(JlCase *c, uint64_t seed, JlDrift d);
/* The largest error of an honest kernel, in the same units: each order of sums with and without the usual
 * liberties on these inputs, and plain loops, forwards and backwards, on seven more draws. The eager run is a
 * plain loop: where few sums stand behind many results its error is one draw of what such a loop makes, and
 * may be far below the next one's. */
double jl_worst_honest(JlCase *c, uint64_t seed);

#endif
