/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab_priv.h - what the files of the simulated kernels share. */
#ifndef TESTS_LIB_JUDGELAB_PRIV_H
#define TESTS_LIB_JUDGELAB_PRIV_H

#include "tests/lib/judgelab/judgelab.h"

/* A value on its way: float numbers (or, in exact runs, doubles) kept as doubles. */
typedef struct JlVal {
	double *v;
	int64_t n, dim[PM_MAX_RANK];
	int rank, dtype;
} JlVal;

typedef struct JlNode {
	const PmGraph *g;
	PmNode n;
	const JlKernel *k;
	const JlVal *in[8];
	JlVal *out;
} JlNode;

/* One node, its result not yet rounded to its type. */
void jl__node(JlNode *c);
/* Rounds to float, unless the run is exact. */
double jl__float(const JlKernel *k, double x);
/* Sum of n terms in the kernel's order; terms left out have been zeroed. */
double jl__sum(const JlKernel *k, const double *x, int64_t n);
enum { JL_WIDE = 16 };
/* Of a kernel that is not exact: JL_WIDE sums of n terms each, in its order, into y. Term i of sum l is
 * b[i * JL_WIDE + l], times a[i] unless a is NULL. */
void jl__sums(const JlKernel *k, const float *a, const float *b, int64_t n, float *y);
/* Of sums of n terms: which ones are left out, or NULL. */
const uint8_t *jl__dropped(const JlKernel *k, int64_t n);

#endif
