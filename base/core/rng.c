/* SPDX-License-Identifier: Apache-2.0 */
/* rng.c - xoshiro256** seeded through splitmix64, and secure seeds from libsodium. */
#include "base/core/rng.h"

#include "base/core/err.h"
#include "base/core/hash.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint64_t rotl(uint64_t x, int k)
{
	return x << k | x >> (64 - k);
}

void pm_rng_init(PmRng *r, uint64_t seed)
{
	int i;

	for (i = 0; i < 4; i++)
		r->s[i] = splitmix(&seed);
	r->spare = 0;
	r->has_spare = 0;
}

void pm_rng_init_named(PmRng *r, uint64_t seed, const char *name)
{
	/* The seed is scrambled first: neighbouring seeds must not meet neighbouring name hashes. */
	pm_rng_init(r, splitmix(&seed) ^ pm_hash64(name, strlen(name), PM_HASH_SEED));
}

void pm_rng_part(const PmRng *r, uint64_t number, PmRng *part)
{
	uint64_t seed = number;

	for (int i = 0; i < 4; i++) {
		seed ^= r->s[i];
		seed = splitmix(&seed);
	}
	pm_rng_init(part, seed);
}

uint64_t pm_rng_u64(PmRng *r)
{
	uint64_t *s = r->s, result = rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

double pm_rng_uniform(PmRng *r)
{
	return (double)(pm_rng_u64(r) >> 11) * 0x1p-53;
}

double pm_rng_normal(PmRng *r)
{
	double radius, angle;

	if (r->has_spare) {
		r->has_spare = 0;
		return r->spare;
	}
	radius = sqrt(-2 * log(1 - pm_rng_uniform(r))); /* 1 - u is in (0, 1]: the logarithm is finite */
	angle = 2 * 3.14159265358979323846 * pm_rng_uniform(r);
	r->spare = radius * sin(angle);
	r->has_spare = 1;
	return radius * cos(angle);
}

int64_t pm_rng_range(PmRng *r, int64_t lo, int64_t hi)
{
	uint64_t span, x;

	if (lo > hi)
		PM_BUG("empty range %lld..%lld", (long long)lo, (long long)hi);
	span = (uint64_t)hi - (uint64_t)lo + 1;
	if (span == 0) /* all 2^64 values */
		return (int64_t)pm_rng_u64(r);
	/* Again where a whole multiple of span no longer fits: 2^64 may be none. */
	do
		x = pm_rng_u64(r);
	while (x - x % span > UINT64_MAX - (span - 1));
	return (int64_t)((uint64_t)lo + x % span);
}

uint64_t pm_rng_secure_seed(void)
{
	uint64_t seed;

	if (sodium_init() < 0)
		PM_BUG("libsodium found no source of randomness");
	randombytes_buf(&seed, sizeof seed);
	return seed;
}
