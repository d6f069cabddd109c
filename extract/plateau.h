/* SPDX-License-Identifier: Apache-2.0 */
/* plateau.h - ranges of operators that add no kernel, read off a curve of kernel counts.
 *
 * K[p] is the number of kernels that the first p + 1 operators of a sequence compile to. Where the curve
 * stays level, the operators became part of a kernel that was there. The curve is not monotone: an operator
 * may join two kernels into one. This is GraphNet's rule, kept to compare with; extract/fusible.h finds sets
 * on the graph itself and needs no compiler.
 */
#ifndef EXTRACT_PLATEAU_H
#define EXTRACT_PLATEAU_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
	PM_PLATEAU_CURRENT, /* a level reaches from its first to its last occurrence */
	PM_PLATEAU_OLD      /* before branched models: levels of one operator are dropped first */
} PmPlateauRule;

/* Operators begin to end - 1, counted from 0; the one that reached the level is in it. */
typedef struct PmOpRange {
	size_t begin, end;
} PmOpRange;

/* Writes the ranges of a curve of n counts, by place, into `out` (room for n / 2 + 1). Returns how many: they
 * do not overlap, and hold two operators or more. */
size_t pm_plateaus(const int64_t *k, size_t n, PmPlateauRule rule, PmOpRange *out);

#endif
