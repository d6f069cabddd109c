/* SPDX-License-Identifier: Apache-2.0 */
/* passnet_inputs.h - the input tensors that the published harness draws, bit for bit.
 *
 * Needed to compare with published numbers and to replay a published sample; our own benchmark draws its
 * inputs elsewhere. The generator is the Mersenne Twister MT19937 with the legacy numpy transformations:
 *   1. all tensors in byte order of their class name; integers that carry both bounds are drawn first,
 *      for all tensors (masked rejection), before anything else is drawn;
 *   2. in the same order: literal data as given; bool = rand() > 0.5; else gaussian * (0.2 * std) + mean
 *      (std 0.1 and mean 0 when absent; std 0 gives the constant mean and draws nothing), cast to the
 *      element type (f16 and bf16 through float, integers towards zero), raised to min, lowered to max,
 *      floats: what is not finite is replaced by gaussian * 0.01, then kept within [-100, 100].
 * The replacement of non-finite values is described, not verified by a vector; the rest is.
 */
#ifndef BENCH_PASSNET_INPUTS_H
#define BENCH_PASSNET_INPUTS_H

#include "ir/core/type.h"

enum { PM_PASSNET_SEED = 123 };

/* The numpy legacy generator. */
typedef struct PmMt {
	uint32_t s[624];
	int at;
	double spare; /* second gaussian of the last pair */
	int has_spare;
} PmMt;

/* Starts the generator as Python does with this seed. */
void pm_mt_init(PmMt *m, uint32_t seed);
/* The next 32 bits. */
uint32_t pm_mt_u32(PmMt *m);
double pm_mt_uniform(PmMt *m);                        /* [0, 1), 53 bits */
double pm_mt_gauss(PmMt *m);                          /* polar method */
int64_t pm_mt_range(PmMt *m, int64_t lo, int64_t hi); /* [lo, hi], masked rejection; lo <= hi */

typedef struct PmPassnetMeta {
	const char *cls; /* decides the order */
	PmType type;     /* static */
	int has_mean, has_std, has_min, has_max, has_data;
	double mean, std, min, max;
	const double *data; /* literal values, type's number of elements; integers up to 2^53 */
} PmPassnetMeta;

/* Draws all tensors from `seed`. data[i] receives the elements of meta[i] (this machine's byte order) and
 * must have room for pm_type_bytes(&meta[i].type). order, when not NULL, receives the indices of meta in
 * drawing order. PM_E_INVALID names the tensor whose description is not usable. */
PmStatus pm_passnet_draw(const PmPassnetMeta *meta, size_t n, uint32_t seed, void *const *data, size_t *order,
			 PmErr *err);

#endif
