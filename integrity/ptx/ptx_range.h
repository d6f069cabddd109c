/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_range.h - between which numbers an address lies (private to integrity/).
 *
 * Intervals over and, shr, min, rem, bfe and the like, over registers that one statement writes and that this
 * statement's place dominates; conditions that dominate a place (if (i < 9) ...), and counted loops whose
 * counter and pointers grow by constants in the block that closes the loop. What is not proved is not known.
 */
#ifndef INTEGRITY_PTX_RANGE_H
#define INTEGRITY_PTX_RANGE_H

#include "integrity/ptx/ptx_body.h"
#include "integrity/ptx/ptx_interval.h"

typedef struct PmPtxRanges PmPtxRanges;

/* For any number of questions about `f`, which has to stay; NULL when it is too large to ask. */
PmPtxRanges *pm__ptx_ranges_new(const PmPtxFunction *f);
void pm__ptx_ranges_free(PmPtxRanges *r);
/* What the register of operand o, of statement number `at`, holds there; without o's offset. */
PmPtxRange pm__ptx_range(PmPtxRanges *r, const PmPtxOperand *o, size_t at);

#endif
