/* SPDX-License-Identifier: Apache-2.0 */
/* synth.h - made-up elements: a law with its numbers, and element i of it as a function of (seed, i).
 *
 * Elements are made one by one from a counter, so a tensor can be written in pieces, in any order, from any
 * place, without being held. Only integer arithmetic, + - * and comparisons of doubles are used per element:
 * the same bytes come out on every machine.
 *
 * z(i) is the sum of the four 16-bit quarters of splitmix64(seed, i), shifted and scaled to mean 0 and
 * variance 1: a bell within +-3.47, with kurtosis 2.7.
 */
#ifndef IR_SYNTH_H
#define IR_SYNTH_H

#include "ir/core/type.h"

#include <stddef.h>
#include <stdint.h>

typedef enum PmSynthLaw {
	PM_SYNTH_NORMAL,   /* mean + std * z, held within [lo, hi] */
	PM_SYNTH_POSITIVE, /* mean * (p + q z)^2: mean and deviation as asked (the deviation at most 1.3
			    * times the mean), never below mean / 64, held within [lo, hi] */
	PM_SYNTH_UNIFORM,  /* lo <= x < hi */
	PM_SYNTH_INTS,     /* integers lo..hi, both within 2^31 of 0 */
	PM_SYNTH_MASK,     /* hi in three of four and in the first of each row, else lo */
	PM_SYNTH_LITERAL   /* what `literal` says, over again when it is short */
} PmSynthLaw;

typedef struct PmSynth {
	PmSynthLaw law;
	int dtype;
	uint64_t seed;
	double mean, std, lo, hi;
	double p, q;     /* of POSITIVE, filled by pm_synth_ready */
	int64_t row;     /* MASK: elements of a row */
	double *literal; /* owned, n_literal of them */
	size_t n_literal;
} PmSynth;

/* Completes a law whose numbers are set: narrows lo and hi to what the dtype holds, solves for p and q. */
void pm_synth_ready(PmSynth *s);
void pm_synth_release(PmSynth *s);

/* Element i before it is rounded to the dtype. */
double pm_synth_element(const PmSynth *s, uint64_t i);
/* Elements [first, first + n) as the dtype's little-endian bytes. */
void pm_synth_fill(const PmSynth *s, uint64_t first, size_t n, void *out);

#endif
