/* SPDX-License-Identifier: Apache-2.0 */
/* rng.h - reproducible random numbers (xoshiro256**, public domain algorithm by Blackman and Vigna,
 * seeded through splitmix64) and secure seeds. The same seed gives the same stream on every machine. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

typedef struct PmRng {
	uint64_t s[4];
	double spare; /* second value of the last Box-Muller pair */
	int has_spare;
} PmRng;

/* Starts the stream of this seed, which may be any number, 0 too. */
void pm_rng_init(PmRng *r, uint64_t seed);
/* A stream of its own for (seed, name): the same whatever is drawn elsewhere. */
void pm_rng_init_named(PmRng *r, uint64_t seed, const char *name);
/* A stream of its own for part `number` of what r is for: it follows from where r is now, which it leaves. */
void pm_rng_part(const PmRng *r, uint64_t number, PmRng *part);
uint64_t pm_rng_u64(PmRng *r);
double pm_rng_uniform(PmRng *r);                        /* [0, 1), 53 bits */
double pm_rng_normal(PmRng *r);                         /* mean 0, variance 1 (Box-Muller) */
int64_t pm_rng_range(PmRng *r, int64_t lo, int64_t hi); /* uniform in [lo, hi], unbiased; lo <= hi */

/* 64 bits from the operating system (libsodium). */
uint64_t pm_rng_secure_seed(void);

#endif
