/* SPDX-License-Identifier: Apache-2.0 */
/* single.h - the operators of a model one by one, in classes.
 *
 * Two nodes are of one class when operator and attributes are equal, and for each operand: element type,
 * rank, size class of each axis (sizes below 16, 256, 4096, ...) and whether the result has the same size
 * there, whether it is a constant, and whether a view made it. Of the classes of one operator and element
 * type, up to four stand for all: the smallest, the median and the largest by elements, and the most
 * frequent.
 */
#ifndef EXTRACT_SINGLE_H
#define EXTRACT_SINGLE_H

#include "ir/core/graph.h"

typedef struct PmSingle {
	PmNode node;  /* the smallest of its class, the first of equals */
	size_t count; /* nodes of the class */
} PmSingle;

typedef struct PmSingles {
	PmSingle *v; /* in execution order */
	size_t n;
	size_t n_classes,
		n_nodes;  /* classes, and nodes in all of them: every node but those of unknown meaning */
	size_t n_covered; /* nodes in the classes that were chosen */
} PmSingles;

/* The representatives of a sorted graph. Time is near-linear. Returns owned. */
PmStatus pm_single_ops(const PmGraph *g, PmSingles *out, PmErr *err);
void pm_singles_release(PmSingles *s);

#endif
