/* SPDX-License-Identifier: Apache-2.0 */
/* agree.h - do two devices agree on a graph, as far as the graph's own conditioning lets them?
 *
 * A device rounds after every operator, the reference does not. How far that may take them apart depends on
 * the graph: what a one-ulp change of the inputs does to the reference is the yardstick. With nrms(a, b) =
 * sqrt(sum (a - b)^2 / sum b^2)   over elements where both are finite, a device's output y agrees with the
 * reference's r when NaN and infinities stand in the same places and y is close to r at t = -5
 * (bench/compare/tolerance.h), or nrms(y, r) <= PM_AGREE_FACTOR * nrms(r', r), where r' is the reference on
 * inputs moved by one ulp of their type each, up or down at random. When that alone moves it by more than
 * PM_AGREE_MAX_ULP, the graph is ill-conditioned on these inputs and no agreement is claimed.
 */
#ifndef BENCH_AGREE_H
#define BENCH_AGREE_H

#include "bench/compare/allclose.h"
#include "runtime/device/tensor.h"

#define PM_AGREE_FACTOR  16.0
#define PM_AGREE_MAX_ULP 0.1 /* beyond this one ulp of the inputs decides everything: nothing can be said */

typedef struct PmAgreement {
	int agrees;
	int by_conditioning; /* only the second rule holds */
	int ill_conditioned; /* neither: the inputs' last digits decide the output */
	double nrms;         /* of the device against the reference */
	double one_ulp;      /* of the moved reference; NaN when it was not needed */
	PmComparison c;
} PmAgreement;

/* A tensor as the comparison takes it (borrows). */
PmTensorView pm_view_of(const PmTensor *t);

/* NaN when the types differ; infinity when a NaN or an infinity stands where the other has none or another.
 */
double pm_nrms(const PmTensor *got, const PmTensor *expected);

/* Judges n_out outputs `got` of graph g on inputs `in` against `expected`, what `ref` gave. The reference
 * runs once more only when some output is not close. */
PmStatus pm_agree(const PmGraph *g, const PmTensor *in, const PmTensor *got, const PmTensor *expected,
		  size_t n_out, uint64_t seed, PmAgreement *out, PmErr *err);

#endif
