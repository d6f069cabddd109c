/* SPDX-License-Identifier: Apache-2.0 */
/* digest.c - a keyed fingerprint of bytes. */
#include "runtime/device/digest.h"

#include "base/sys/threads.h"

#include <stdatomic.h>
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

enum { TURN = 1 << 16 }; /* words */

typedef struct Adding {
	const char *p;
	int64_t bytes;
	uint64_t base[2];
	atomic_uint_least64_t sum[2];
} Adding;

static void add_turns(void *arg, int64_t from, int64_t to)
{
	Adding *a = arg;
	uint64_t sum[2] = { 0, 0 };

	for (int64_t i = from * TURN; i < to * TURN && i * 8 < a->bytes; i++) {
		size_t n = a->bytes - i * 8 < 8 ? (size_t)(a->bytes - i * 8) : 8;
		uint64_t w = 0;

		memcpy(&w, a->p + i * 8, n);
		for (int half = 0; half < 2; half++)
			sum[half] += pm_mix64(w ^ pm_mix64(a->base[half] + golden * (uint64_t)i));
	}
	for (int half = 0; half < 2; half++)
		atomic_fetch_add(&a->sum[half], sum[half]);
}

void pm_digest_add(PmDigest *d, uint64_t key, uint64_t which, const void *p, int64_t bytes)
{
	Adding a = { .p = p,
		     .bytes = bytes,
		     .base = { pm_digest_base(key, which, bytes, 0), pm_digest_base(key, which, bytes, 1) } };

	pm_threads_run((bytes / 8 + TURN) / TURN, 1, add_turns, &a);
	for (int half = 0; half < 2; half++)
		d->v[half] += a.sum[half];
}

int pm_digest_equal(const PmDigest *a, const PmDigest *b)
{
	return a->v[0] == b->v[0] && a->v[1] == b->v[1];
}
