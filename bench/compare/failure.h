/* SPDX-License-Identifier: Apache-2.0 */
/* failure.h - what of a result is wrong: which, on which inputs, how many elements, the first and the worst.
 *
 * Wrong is an element beyond what the error bound admits for it, or, where there is no bound, one that is not
 * close at t = -5. A result may be wrong as a whole (its mean, its mean square) without any such element. */
#ifndef BENCH_FAILURE_H
#define BENCH_FAILURE_H

#include "base/core/json.h"
#include "bench/compare/allclose.h"
#include "bench/compare/bound/bound.h"

typedef struct PmElement {
	int64_t index; /* row-major; -1 = none */
	double expected, got;
} PmElement;

typedef struct PmFailure {
	char inputs[24]; /* class of the inputs; "" = no run on inputs failed */
	int edited;      /* eight of their elements had been changed */
	int alternative; /* of the kernels */
	int timed;       /* it was a timed call, */
	int64_t call;    /* of this number, from 0 */
	char output[96]; /* name; "" = the verdict is not about a result's values */
	int bounded;     /* judged by the error bound, else by the ladder of tolerances */
	int dtype;       /* of the result, */
	int rank;
	int64_t dim[PM_MAX_RANK];
	int64_t numel, n_wrong; /* elements; the wrong ones among them */
	PmElement first, worst; /* the wrong one with the least index; that which is furthest off */
} PmFailure;

/* Writes down a result y named `name` that the bound, or the comparison c, refuses. The run's fields stay. */
void pm_failure_of_fit(PmFailure *f, const PmBoundFit *fit, const PmTensor *y, const char *name);
void pm_failure_of_comparison(PmFailure *f, const PmComparison *c, const PmType *type, const char *name);

/* An element as what is worst of a comparison, with the distances between its values. */
void pm_failure_worst(int dtype, const PmElement *x, PmWorst *out);

/* As an object, elements by their coordinates, numbers that are not finite as text; NULL when `inputs` is "".
 * The caller owns it. */
cJSON *pm_failure_json(const PmFailure *f, const char *variant);
void pm_failure_from_json(const cJSON *j, PmFailure *out); /* j may be NULL; total */

#endif
