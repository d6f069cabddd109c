/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - seeded input tensors that are legal for what a graph does with them.
 *
 * What an input is for (its role, ir/data/role.h) is read off the graph. Drawing (seed, graph input name)
 * gives the same numbers on every machine.
 */
#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include "bench/inputs/reach.h"
#include "ir/data/role.h"
#include "runtime/device/tensor.h"

/* How DATA and WEIGHT inputs are distributed; the other roles keep theirs. An input that has a law
 * (ir/core/graph.h) is drawn from that in the class NORMAL. */
typedef enum PmInputClass {
	PM_INPUTS_NORMAL,                    /* N(0, 1) */
	PM_INPUTS_UNIFORM,                   /* U(-1, 1) */
	PM_INPUTS_WIDE,                      /* N(0, 1) with one magnitude per row, 2^U(-4, 4) */
	PM_INPUTS_INTS,                      /* -1, 0, 1 */
	PM_INPUTS_SPARSE,                    /* nine zeros in ten */
	PM_N_INPUT_CLASSES,                  /* those of the published protocol's evaluation */
	PM_INPUTS_TAIL = PM_N_INPUT_CLASSES, /* Student's t with three degrees of freedom; each input's
					      * indices from one half of their axis */
	PM_INPUTS_TINY,                      /* N(0, 1) / 10^6, one in eight of them denormal in float */
	PM_INPUTS_LARGE,   /* U(-88, 88), the range of exp in float; U(-11, 11) in float16 */
	PM_INPUTS_EQUAL,   /* one number of sixteenths for each row; all indices alike */
	PM_INPUTS_SPECIAL, /* N(0, 1) with NaN, infinities, zeros of both signs and denormals, and numbers
			    * that comparisons with constants and bounds turn at; indices at the ends */
	PM_INPUTS_RANGE, /* integers from all of their type; magnitudes up to 10^38 as far as results stay in
			  * range (10^5 for periodic functions), and such numbers unless they lead to NaN or
			  * infinities */
	PM_N_ALL_CLASSES
} PmInputClass;
/* Name in options and reports: "normal". Static. */
const char *pm_input_class_name(PmInputClass cls);

/* PM_E_SHAPE when an input has an open size, with its name and how to give it a number. */
PmStatus pm_inputs_have_sizes(const PmGraph *g, PmErr *err);
/* Draws one tensor per graph input into out[0 .. n_inputs) (initialised here, released by the caller). */
PmStatus pm_inputs_make(const PmGraph *g, uint64_t seed, PmInputClass cls, PmTensor *out, PmErr *err);
/* The same inputs, of which only those are drawn that `wanted` names (not 0, one per graph input); of the
 * others out[i] has the type alone. */
PmStatus pm_inputs_make_some(const PmGraph *g, uint64_t seed, PmInputClass cls, const char *wanted,
			     PmTensor *out, PmErr *err);
/* 1 when the elements of input number i may be drawn one by one: nothing ties them to each other, as the rows
 * of a mask or indices that must differ. */
int pm_inputs_are_free(const PmGraph *g, size_t i);
/* Draws n elements for such an input, in a row (initialised here). */
PmStatus pm_inputs_draw(const PmGraph *g, size_t i, uint64_t seed, PmInputClass cls, int64_t n, PmTensor *out,
			PmErr *err);
/* Like pm_inputs_make, as far as the graph's results are defined: the reference runs the inputs first. The
 * classes SPECIAL and RANGE are tamed step by step until every operator defines what it makes of them
 * (bench/inputs/defined.h); r->why says what the step before did not. PM_OK, *r and *b (may be NULL) filled
 * in as by pm_reach; r->drawn is 1 when there are inputs, 2 when the class has to be left out, and `out` is
 * empty then. `quick` = 0: those classes alone are run, and *r says nothing of the others. */
PmStatus pm_inputs_defined(const PmGraph *g, uint64_t seed, PmInputClass cls, int quick, PmTensor *out,
			   PmReached *r, PmBranches *b, PmErr *err);
/* Like pm_inputs_make, but an input of which the model's metadata has statistics (ir/data/stats.h) is drawn
 * from those, or is what they spell out: for runs of whole models, whose weights are in proportion to such
 * inputs.
 */
PmStatus pm_inputs_of_model(const PmGraph *g, uint64_t seed, PmTensor *out, PmErr *err);
void pm_tensors_release(PmTensor *t, size_t n); /* releases each; the array stays the caller's */

#endif
