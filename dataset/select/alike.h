/* SPDX-License-Identifier: Apache-2.0 */
/* alike.h - how alike two graphs are, and which of many are nearly the same.
 *
 * Every node gets colours in four rounds (Weisfeiler and Leman): first its operator; then, three times, a mix
 * of its colour, the colours of what it reads in order of operands, and the sorted colours of what reads it.
 * The likeness of two graphs is the Jaccard index of their multisets of all these colours: 1 for equal
 * structures, whatever their names, order, sizes and types; each changed node costs its neighbourhood.
 */
#ifndef DATASET_ALIKE_H
#define DATASET_ALIKE_H

#include "ir/core/graph.h"

#define PM_ALIKE 0.9 /* from here on two graphs are near duplicates */

/* The colours of a graph, sorted. */
typedef struct PmColors {
	uint64_t *v; /* owned */
	size_t n;
} PmColors;
/* The colours of the nodes of g. pm_colors_release frees them. */
void pm_colors_of(const PmGraph *g, PmColors *out);
void pm_colors_release(PmColors *c);

/* |A and B| / |A or B| as multisets; 1 when both are empty. */
double pm_colors_jaccard(const PmColors *a, const PmColors *b);

/* Calls fn for every pair i < j whose likeness is at least PM_ALIKE. Pairs are proposed by min-hashing (64
 * hashes in 16 bands of 4: a pair of likeness 0.9 is missed once in 4e7) and confirmed exactly, so that the
 * time is near-linear unless very many are alike. A pair may come more than once. */
void pm_alike_pairs(const PmColors *c, size_t n, void (*fn)(void *arg, size_t i, size_t j), void *arg);

#endif
