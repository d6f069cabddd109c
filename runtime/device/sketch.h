/* SPDX-License-Identifier: Apache-2.0 */
/* sketch.h - 64 sums of a tensor's elements under random signs: how far apart two tensors are, once neither
 * is there.
 *
 * Sum k adds each element times +1 or -1, by bit k of mix(key, which tensor, which element). The square of
 * the difference of two tensors' sums is on average the square of the norm of their difference (Alon, Matias
 * and Szegedy, 1996); 64 of them tell the norm to about 9 %. NaNs and infinities are not added but counted by
 * kind and place. kernels/clock.cu computes the same on a GPU.
 */
#ifndef RUNTIME_SKETCH_H
#define RUNTIME_SKETCH_H

#include "runtime/device/tensor.h"

#include <stdint.h>

enum { PM_SKETCH_SUMS = 64 };

typedef struct PmSketch {
	double sum[PM_SKETCH_SUMS];
	uint64_t odd; /* of NaNs and infinities: equal when they are the same ones */
} PmSketch;

/* What the signs of tensor number `which` of n elements come from: bit k of pm_mix64(base + golden * element)
 * is that of sum k. */
uint64_t pm_sketch_base(uint64_t key, uint64_t which, int64_t n);
void pm_sketch_make(PmSketch *s, uint64_t key, uint64_t which, const PmTensor *t);
/* The norm of the difference over the norm of b: 0 when the sketches are equal, infinite when NaNs or
 * infinities differ, or b is all zeros and a is not. */
double pm_sketch_distance(const PmSketch *a, const PmSketch *b);

#endif
