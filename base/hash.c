/* hash.c - a fast 64-bit hash for tables and SHA-256 for identities that are stored. */
#include "base/hash.h"

#include <sodium.h>

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

void pm_sha256_hex(const void *p, size_t n, char hex[PM_SHA256_HEX])
{
	unsigned char sum[crypto_hash_sha256_BYTES];

	_Static_assert(2 * crypto_hash_sha256_BYTES + 1 == PM_SHA256_HEX, "SHA-256 has 32 bytes");
	crypto_hash_sha256(sum, n ? p : (const unsigned char *)"", n);
	sodium_bin2hex(hex, PM_SHA256_HEX, sum, sizeof sum);
}
