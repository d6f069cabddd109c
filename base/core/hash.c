/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - a fast 64-bit hash for tables and SHA-256 for identities that are stored. */
#include "base/core/hash.h"

#include <sodium.h>

#include <string.h>

uint64_t pm_hash64(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *b = p;
	uint64_t h = seed;
	size_t i;

	for (i = 0; i < n; i++) {
		h ^= b[i];
		h *= 0x100000001b3ull;
	}
	return h;
}

/* Multiplying carries a bit upwards only, the shift brings the upper half back down. */
static uint64_t stir(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

uint64_t pm_hash_bytes(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t h = stir(PM_HASH_SEED, n), word;

	for (; n >= sizeof word; n -= sizeof word, b += sizeof word) {
		memcpy(&word, b, sizeof word);
		h = stir(h, word);
	}
	word = 0;
	if (n)
		memcpy(&word, b, n);
	return stir(h, word);
}

void pm_sha256_hex(const void *p, size_t n, char hex[PM_SHA256_HEX])
{
	unsigned char sum[crypto_hash_sha256_BYTES];

	_Static_assert(2 * crypto_hash_sha256_BYTES + 1 == PM_SHA256_HEX, "SHA-256 has 32 bytes");
	crypto_hash_sha256(sum, n ? p : (const unsigned char *)"", n);
	sodium_bin2hex(hex, PM_SHA256_HEX, sum, sizeof sum);
}

void pm_sha256_base64(const void *p, size_t n, char text[PM_SHA256_BASE64])
{
	unsigned char sum[crypto_hash_sha256_BYTES];

	_Static_assert(sodium_base64_ENCODED_LEN(sizeof sum, sodium_base64_VARIANT_ORIGINAL) ==
			       PM_SHA256_BASE64,
		       "SHA-256 has 32 bytes");
	crypto_hash_sha256(sum, n ? p : (const unsigned char *)"", n);
	sodium_bin2base64(text, PM_SHA256_BASE64, sum, sizeof sum, sodium_base64_VARIANT_ORIGINAL);
}

void pm_chain_hex(char hex[PM_CHAIN_HEX], const void *p, size_t n)
{
	crypto_generichash_state h;
	unsigned char digest[32];

	crypto_generichash_init(&h, NULL, 0, sizeof digest);
	crypto_generichash_update(&h, (const unsigned char *)hex, strlen(hex));
	crypto_generichash_update(&h, p, n);
	crypto_generichash_final(&h, digest, sizeof digest);
	sodium_bin2hex(hex, PM_CHAIN_HEX, digest, sizeof digest);
}
