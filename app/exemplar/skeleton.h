/* SPDX-License-Identifier: Apache-2.0 */
/* skeleton.h - what two graphs have in common, whatever their sizes, types, constants and views are.
 *
 * The skeleton of a graph has neither views (but Slice and Split, which choose) nor Cast nor Identity: each
 * is replaced by its first operand. It is only compared, never run: its types may contradict each other.
 */
#ifndef EXEMPLAR_SKELETON_H
#define EXEMPLAR_SKELETON_H

#include "ir/core/graph.h"
#include "matcher/pattern/pattern.h"

/* The skeleton of g. Returns owned. Errors: those of copying a graph. */
PmStatus pm_skeleton(const PmGraph *g, PmGraph **out, PmErr *err);

/* 1 when a pattern matches somewhere in g, or when that cannot be said within the matcher's budget. What its
 * rule would check besides is not asked: no code of a pass runs. */
int pm_pattern_applies(const PmPattern *p, const PmGraph *g);

/* 1 when the operators of `small` with their wiring are in `large`: for each result of `small`, a value of
 * `large` is computed so. Attributes, types, sizes and constants do not count. Both are skeletons. Also 1
 * when that cannot be said; 0 for a `small` of no operators, and where it has one of which no pattern can
 * speak (opaque, fused, random), or is too large for a pattern. */
int pm_skeleton_contains(const PmGraph *large, const PmGraph *small);

/* How alike the operators of two graphs are, 0 to 1: the cosine of the counts of operators and of pairs of
 * operators of which one reads the other's result. 0 when one of them has no operator. The same bits
 * everywhere: sums are of integers. */
double pm_skeleton_similarity(const PmGraph *a, const PmGraph *b);

#endif
