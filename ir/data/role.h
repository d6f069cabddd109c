/* SPDX-License-Identifier: Apache-2.0 */
/* role.h - what an input or a constant of a graph is for, read off the graph.
 *
 * The first operators that use a value decide, seen through views, casts and copies, and, where those leave
 * a choice, its name. Whoever makes up values (bench/inputs/inputs.h, ir/data/weights.h) draws them by role,
 * so that the graph can compute with them: variances are positive, indices in range, masks never mask a whole
 * row.
 */
#ifndef IR_ROLE_H
#define IR_ROLE_H

#include "ir/core/graph.h"

typedef enum PmInputRole {
	PM_ROLE_DATA,      /* floats around 0 */
	PM_ROLE_WEIGHT,    /* floats, deviation 1 / sqrt(fan in) */
	PM_ROLE_SCALE,     /* floats around 1 */
	PM_ROLE_VARIANCE,  /* positive: variances, operands of Sqrt and Log, divisors */
	PM_ROLE_PROB,      /* in (0, 1) */
	PM_ROLE_MASK,      /* 0 or 1, about three ones in four, never all zero along the last axis */
	PM_ROLE_INVERTED,  /* the same with 0 and 1 swapped: 1 means masked away */
	PM_ROLE_BIAS_MASK, /* additive attention mask: 0 or a large negative number */
	PM_ROLE_INDEX,     /* integers in [0, limit) */
	PM_ROLE_COUNT,     /* small integers 0..8 */
	PM_ROLE_BIAS,      /* weights only: added to a result */
	PM_ROLE_MEAN,      /* weights only: running mean of a normalisation */
	PM_ROLE_TABLE,     /* weights only: rows that indices pick, as of an embedding */
	PM_N_ROLES
} PmInputRole;

/* Name of a role, for reports. */
const char *pm_input_role_name(PmInputRole role);

/* Role of a graph input; *limit receives the bound of an INDEX. Never one of the weights' own roles. */
PmInputRole pm_input_role(const PmGraph *g, PmValue v, int64_t *limit);

/* Role of a constant: an input's, or one of the weights' own where an input would be DATA. */
PmInputRole pm_weight_role(const PmGraph *g, PmValue v, int64_t *limit);

/* Whether a graph input holds a model's parameter and no data: exporters name parameters by their path
 * ("block.0.weight") or by what they are ("bias", "pos_embedding"); without such a name the role decides
 * (weights and scales are parameters). */
int pm_input_is_parameter(const PmGraph *g, PmValue v);

/* Elements that one result of a contraction sums over, guessed from a weight's static shape: the larger
 * extent of a matrix, else all but the first. At least 1. */
double pm_fan_in(const PmType *t);

#endif
