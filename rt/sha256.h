/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.h - SHA-256 (FIPS 180-4), so that the library needs none for it. */
#ifndef RT_SHA256_H
#define RT_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct PmSha256 {
	uint32_t h[8];
	uint64_t bytes;
	unsigned char block[64]; /* what does not fill one yet */
	int way;                 /* instructions for it, or plain C; 0 = not yet looked */
} PmSha256;

/* A digest piece by piece: begin, add any number of times, end. */
void pm_sha256_begin(PmSha256 *s);
/* The same, in plain C on every processor: for tests. */
void pm_sha256_begin_plain(PmSha256 *s);
void pm_sha256_add(PmSha256 *s, const void *p, size_t n);
void pm_sha256_end(PmSha256 *s, unsigned char digest[32]);
/* All three for n bytes at hand. */
void pm_sha256_of(const void *p, size_t n, unsigned char digest[32]);

#endif
