/* SPDX-License-Identifier: Apache-2.0 */
/* contract.h - sums of products of strided operands over labels: what an Einsum comes down to. */
#ifndef RUNTIME_EAGER_CONTRACT_H
#define RUNTIME_EAGER_CONTRACT_H

#include "ir/core/einsum.h"
#include "runtime/exec/plan_priv.h"

/* Label k < n_out is the result's axis k; the others are summed over. */
typedef struct PmContraction {
	int n_in, n_out, n_labels;
	int dtype; /* of the operands and of the result */
	int64_t dim[PM_EINSUM_LABELS];
	int64_t step[PM_EINSUM_OPERANDS][PM_EINSUM_LABELS]; /* of each operand; 0 = it lacks the label */
	Loc loc[PM_EINSUM_OPERANDS];
	int64_t distinct[PM_EINSUM_OPERANDS]; /* elements that an operand has */
	int64_t flops;
} PmContraction;

/* Puts the result's labels in an order in which two operands are products of matrices for each batch, and
 * axis[k] = what axis number k was before. 1 when the order changed: they are in no such order, and there is
 * one that is worth it. */
int pm__contract_group(PmContraction *c, int axis[PM_EINSUM_LABELS]);
/* The same for a result that may lie in any order: that of products where there are sums, else that of the
 * larger operand. */
void pm__contract_arrange(PmContraction *c, int axis[PM_EINSUM_LABELS]);
/* A launch that computes the result into y, contiguous in the order of its labels, in the way that suits; a
 * library's call beside it where one may do the same. */
PmStatus pm__contract(PmPlan *p, PmNode n, const PmContraction *c, const Loc *y, PmErr *err);

#endif
