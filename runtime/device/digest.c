/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - a keyed fingerprint of bytes. */
#include "runtime/device/digest.h"

#include <string.h>

static const uint64_t golden = 0x9e3779b97f4a7c15u;

uint64_t pm_mix64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t pm_digest_base(uint64_t key, uint64_t which, int64_t bytes, int half)
{
	return pm_mix64(pm_mix64(key + golden * (2 * which + (uint64_t)half + 1)) + (uint64_t)bytes);
}

void pm_digest_add(PmDigest *d, uint64_t key, uint64_t which, const void *p, int64_t bytes)
{
	const uint64_t base[2] = { pm_digest_base(key, which, bytes, 0),
				   pm_digest_base(key, which, bytes, 1) };

	for (int64_t i = 0; i * 8 < bytes; i++) {
		size_t n = bytes - i * 8 < 8 ? (size_t)(bytes - i * 8) : 8;
		uint64_t w = 0;

		memcpy(&w, (const char *)p + i * 8, n);
		for (int half = 0; half < 2; half++)
			d->v[half] += pm_mix64(w ^ pm_mix64(base[half] + golden * (uint64_t)i));
	}
}

int pm_digest_equal(const PmDigest *a, const PmDigest *b)
{
	return a->v[0] == b->v[0] && a->v[1] == b->v[1];
}
