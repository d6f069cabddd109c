/* SPDX-License-Identifier: Apache-2.0 */
/* task_ref.h - which variants of a graph the reference runs.
 *
 * Types alone do not say whether a graph runs: indices that it computes may leave an axis that has become
 * smaller. A variant that does not run is no member of a task, and takes its shape along in every element
 * type.
 */
#ifndef APP_TASK_REF_H
#define APP_TASK_REF_H

#include "ir/core/graph.h"

enum {
	PM_REF_COST = 4 << 20, /* operations and elements of a variant that is run as it is, to evaluate on */
	PM_REF_COST_TRAIN = 1 << 20 /* of one to train on, where two shapes of each graph are run */
};

typedef enum { PM_REF_ASKED_NOT, PM_REF_WHOLE, PM_REF_PROXY, PM_REF_FAILED } PmRefHow;
const char *pm_ref_how_name(PmRefHow how); /* "", "whole", "proxy", "failed": as stored */

/* One variant; the graph is borrowed. */
typedef struct PmRefCase {
	const PmGraph *g;
	const char *label;
	int shape, dtype;
	PmRefHow how;  /* result */
	char why[160]; /* result: what was run instead, or why it failed */
} PmRefCase;

/* Runs the variants of one graph `base`. All of them when `eval` is set: one that costs more than PM_REF_COST
 * is stood for by its proxy, the largest variant of its element type that ran, or else one made for it at
 * smaller sizes. Otherwise two shapes are run that are cheap enough, and the others are PM_REF_ASKED_NOT;
 * that constant indices stay on their axes is looked at for all. */
void pm_task_ref(const PmGraph *base, int eval, uint64_t seed, PmRefCase *v, size_t n);

#endif
