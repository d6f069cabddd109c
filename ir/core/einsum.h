/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.h - Einsum's equation, read: which label each axis of each operand and of the result has. */
#ifndef IR_EINSUM_H
#define IR_EINSUM_H

#include "base/core/err.h"
#include "ir/core/type.h"

#include <stddef.h>
#include <stdint.h>

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

/* ---- several operands as products of two (einsum_chain.c) ---- */

/* An intermediate has at most so many times the elements of the largest operand or of the result. */
enum { PM_EINSUM_GROWTH = 16 };
/* One walk of so many operations takes no longer than another launch. */
enum { PM_EINSUM_SMALL = 4096 };

/* A product of two terms: operands by number, then results of pairs before, from n_in on. */
typedef struct PmEinsumPair {
	int term[2];
	uint32_t labels; /* of its result, a bit each; those of one element are left out */
} PmEinsumPair;

typedef struct PmEinsumChain {
	int n;
	PmEinsumPair pair[PM_EINSUM_OPERANDS - 1];
	uint32_t labels[PM_EINSUM_OPERANDS]; /* of the operands; likewise */
	int64_t flops;                       /* of all pairs */
} PmEinsumChain;

/* The chain of pairs with the fewest operations, in which each label is summed over as soon as no later term
 * has it. A pair costs two operations for each combination of its labels, one where it sums over none. Of
 * equal chains the one that goes from left to right. 0 when one walk over all labels is to be had instead:
 * there are fewer than three operands; nothing is summed over, so that it reads each operand once; it costs
 * no more, or little, at n_in operations for each combination; or each chain has an intermediate that is too
 * large or has too many dimensions. Operands have static types. */
int pm_einsum_chain(const PmEinsum *e, const PmType *const *in, PmEinsumChain *out);

#endif
