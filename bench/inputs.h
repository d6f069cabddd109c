/* inputs.h - seeded input tensors that are legal for what a graph does with them.
 *
 * What an input is for (its role) is read off the graph: the first operators that use it, seen through views,
 * casts and copies, and, where those leave a choice, its name. Drawing (seed, graph input name) gives the
 * same numbers on every machine.
 */
#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include "runtime/tensor.h"

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
	PM_ROLE_COUNT      /* small integers 0..8 */
} PmInputRole;

/* Name of a role, for reports. */
const char *pm_input_role_name(PmInputRole role);

/* Role of a graph input; *limit receives the bound of an INDEX. */
PmInputRole pm_input_role(const PmGraph *g, PmValue v, int64_t *limit);

/* How DATA and WEIGHT inputs are distributed; the other roles keep theirs. */
typedef enum PmInputClass {
	PM_INPUTS_NORMAL,  /* N(0, 1) */
	PM_INPUTS_UNIFORM, /* U(-1, 1) */
	PM_INPUTS_WIDE,    /* N(0, 1) with one magnitude per row, 2^U(-4, 4) */
	PM_INPUTS_INTS,    /* -1, 0, 1 */
	PM_INPUTS_SPARSE,  /* nine zeros in ten */
	PM_N_INPUT_CLASSES
} PmInputClass;
const char *pm_input_class_name(PmInputClass cls);

/* Draws one tensor per graph input into out[0 .. n_inputs) (initialised here, released by the caller). */
PmStatus pm_inputs_make(const PmGraph *g, uint64_t seed, PmInputClass cls, PmTensor *out, PmErr *err);
void pm_tensors_release(PmTensor *t, size_t n); /* releases each; the array stays the caller's */

#endif
