/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.c - SHA-256, as FIPS 180-4 states it. Opening a package is for the most part this: where the
 * processor has instructions for it they are used. */
#include "rt/sha256.h"

#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

/* One round; what the standard calls a to h changes names from round to round instead of places. */
#define ROUND(a, b, c, d, e, f, g, h, i)                                                                     \
	do {                                                                                                 \
		uint32_t t = h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]; \
		d += t;                                                                                      \
		h = t + (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));               \
	} while (0)

static void add_plain(uint32_t h[8], const unsigned char *p, size_t blocks)
{
	for (; blocks; blocks--, p += 64) {
		uint32_t w[64], v[8];

		for (int i = 0; i < 16; i++)
			w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
			       (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
		for (int i = 16; i < 64; i++)
			w[i] = w[i - 16] + w[i - 7] +
			       (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) +
			       (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
		memcpy(v, h, sizeof v);
		for (int i = 0; i < 64; i += 8) {
			ROUND(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], i);
			ROUND(v[7], v[0], v[1], v[2], v[3], v[4], v[5], v[6], i + 1);
			ROUND(v[6], v[7], v[0], v[1], v[2], v[3], v[4], v[5], i + 2);
			ROUND(v[5], v[6], v[7], v[0], v[1], v[2], v[3], v[4], i + 3);
			ROUND(v[4], v[5], v[6], v[7], v[0], v[1], v[2], v[3], i + 4);
			ROUND(v[3], v[4], v[5], v[6], v[7], v[0], v[1], v[2], i + 5);
			ROUND(v[2], v[3], v[4], v[5], v[6], v[7], v[0], v[1], i + 6);
			ROUND(v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[0], i + 7);
		}
		for (int i = 0; i < 8; i++)
			h[i] += v[i];
	}
}

/* ---- by the instructions of x86-64 processors that have them ---- */

#if defined(__x86_64__)
static __m128i load(const void *p)
{
	return _mm_loadu_si128(p);
}

/* The instructions keep a, b, e, f in one register and c, d, g, h in another, and make two rounds each. */
__attribute__((target("sha,sse4.1,ssse3"))) static void add_fast(uint32_t h[8], const unsigned char *p,
								 size_t blocks)
{
	const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i t = _mm_shuffle_epi32(load(h), 0xb1), cdgh = _mm_shuffle_epi32(load(h + 4), 0x1b);
	__m128i abef = _mm_alignr_epi8(t, cdgh, 8);

	cdgh = _mm_blend_epi16(cdgh, t, 0xf0);
	for (; blocks; blocks--, p += 64) {
		const __m128i abef_before = abef, cdgh_before = cdgh;
		__m128i w[4]; /* the last sixteen words, of which the four oldest are replaced */

		for (int i = 0; i < 16; i++) {
			__m128i *now = &w[i % 4], x;

			if (i < 4) {
				*now = _mm_shuffle_epi8(load(p + 16 * i), order);
			} else {
				x = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
				x = _mm_add_epi32(_mm_sha256msg1_epu32(*now, w[(i + 1) % 4]), x);
				*now = _mm_sha256msg2_epu32(x, w[(i + 3) % 4]);
			}
			x = _mm_add_epi32(*now, load(k + 4 * i));
			cdgh = _mm_sha256rnds2_epu32(cdgh, abef, x);
			abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(x, 0x0e));
		}
		abef = _mm_add_epi32(abef, abef_before);
		cdgh = _mm_add_epi32(cdgh, cdgh_before);
	}
	t = _mm_shuffle_epi32(abef, 0x1b);
	cdgh = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128((void *)h, _mm_blend_epi16(t, cdgh, 0xf0));
	_mm_storeu_si128((void *)(h + 4), _mm_alignr_epi8(cdgh, t, 8));
}

/* Bits of the instruction that tells what a processor has. */
enum { HAS_SSSE3 = 1 << 9, HAS_SSE41 = 1 << 19, HAS_SHA = 1 << 29 };

static int has_fast(void)
{
	unsigned a, b, c, d, plain;

	return __get_cpuid(1, &a, &b, &plain, &d) && plain & HAS_SSSE3 && plain & HAS_SSE41 &&
	       __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & HAS_SHA;
}
#else
static void add_fast(uint32_t h[8], const unsigned char *p, size_t blocks)
{
	add_plain(h, p, blocks);
}

static int has_fast(void)
{
	return 0;
}
#endif

/* Of PmSha256.way. */
enum { UNKNOWN, PLAIN, FAST };

static void add_blocks(PmSha256 *s, const unsigned char *p, size_t blocks)
{
	if (s->way == UNKNOWN)
		s->way = has_fast() ? FAST : PLAIN;
	(s->way == FAST ? add_fast : add_plain)(s->h, p, blocks);
}

void pm_sha256_begin(PmSha256 *s)
{
	static const uint32_t h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

	memcpy(s->h, h, sizeof h);
	s->bytes = 0;
	s->way = UNKNOWN;
}

void pm_sha256_begin_plain(PmSha256 *s)
{
	pm_sha256_begin(s);
	s->way = PLAIN;
}

void pm_sha256_add(PmSha256 *s, const void *p, size_t n)
{
	const unsigned char *from = p;
	size_t held = s->bytes % 64;

	s->bytes += n;
	if (held) {
		size_t take = n < 64 - held ? n : 64 - held;

		memcpy(s->block + held, from, take);
		from += take;
		n -= take;
		if (held + take < 64)
			return;
		add_blocks(s, s->block, 1);
	}
	if (n >= 64)
		add_blocks(s, from, n / 64);
	if (n % 64)
		memcpy(s->block, from + n / 64 * 64, n % 64);
}

void pm_sha256_end(PmSha256 *s, unsigned char digest[32])
{
	static const unsigned char pad[64] = { 0x80 };
	uint64_t bits = s->bytes * 8;
	unsigned char length[8];

	pm_sha256_add(s, pad, 1 + (119 - s->bytes % 64) % 64);
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	pm_sha256_add(s, length, 8);
	for (int i = 0; i < 32; i++)
		digest[i] = (unsigned char)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void pm_sha256_of(const void *p, size_t n, unsigned char digest[32])
{
	PmSha256 s;

	pm_sha256_begin(&s);
	if (n)
		pm_sha256_add(&s, p, n);
	pm_sha256_end(&s, digest);
}
