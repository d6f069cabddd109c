/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - a keyed fingerprint of bytes: whoever does not know the key cannot make other bytes that have
 * it.
 *
 * Both halves are sums over 8-byte words of mix(word ^ mix(key, which tensor, which word)), so that a device
 * may add them up in any order; kernels/clock.cu computes the same on a GPU. mix is the finaliser of
 * splitmix64 (Steele, Lea and Flood, 2014).
 */
#ifndef RUNTIME_DIGEST_H
#define RUNTIME_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct PmDigest {
	uint64_t v[2];
} PmDigest;

/* Spreads every bit of x over all 64: the finaliser of SplitMix64, a bijection. */
uint64_t pm_mix64(uint64_t x);
/* What half `half` of a digest starts its words from, for tensor number `which` of `bytes` bytes. */
uint64_t pm_digest_base(uint64_t key, uint64_t which, int64_t bytes, int half);
/* Adds a tensor. A digest starts as zero. */
void pm_digest_add(PmDigest *d, uint64_t key, uint64_t which, const void *p, int64_t bytes);
int pm_digest_equal(const PmDigest *a, const PmDigest *b);

#endif
