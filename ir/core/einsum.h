/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.h - Einsum's equation, read: which label each axis of each operand and of the result has. */
#ifndef IR_EINSUM_H
#define IR_EINSUM_H

#include "base/core/err.h"
#include "ir/core/type.h"

#include <stddef.h>

enum { PM_EINSUM_OPERANDS = 8, PM_EINSUM_LABELS = 2 * PM_MAX_RANK };

typedef struct PmEinsum {
	int n_in, n_out;                            /* operands; rank of the result */
	int n_labels;                               /* label k < n_out is the result's axis k */
	int rank[PM_EINSUM_OPERANDS];               /* of each operand */
	int label[PM_EINSUM_OPERANDS][PM_MAX_RANK]; /* of each axis of each operand */
} PmEinsum;

/* Reads an equation for operands of the given ranks; the dimensions of an ellipsis get labels of their own.
 * PM_E_INVALID or PM_E_UNSUPPORTED with the reason in why. */
PmStatus pm_einsum_read(const char *equation, const PmType *const *in, size_t n_in, PmEinsum *out,
			char why[160]);
/* The extents of all labels where the operands' types are static; they broadcast. */
void pm_einsum_dims(const PmEinsum *e, const PmType *const *in, int64_t dim[PM_EINSUM_LABELS]);

#endif
