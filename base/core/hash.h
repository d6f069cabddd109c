/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - a fast 64-bit hash for tables and SHA-256 (libsodium) for identities that are stored. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a continued from `seed`; start with PM_HASH_SEED. For tables in memory only. */
#define PM_HASH_SEED 0xcbf29ce484222325ull
uint64_t pm_hash64(const void *p, size_t n, uint64_t seed);
/* A hash of the whole of n bytes, eight at a time: several times faster. Its values may change, so that
 * nothing stored may depend on them. */
uint64_t pm_hash_bytes(const void *p, size_t n);

enum { PM_SHA256_HEX = 65 }; /* 64 hexadecimal digits and the terminator */

/* SHA-256 of n bytes as lower-case hexadecimal text. */
void pm_sha256_hex(const void *p, size_t n, char hex[PM_SHA256_HEX]);

enum { PM_SHA256_BASE64 = 45 }; /* 44 characters and the terminator */

/* The same as base64 (RFC 4648, with '='), as policies of pages name what they allow. */
void pm_sha256_base64(const void *p, size_t n, char text[PM_SHA256_BASE64]);

enum { PM_CHAIN_HEX = 65 };

/* Replaces a digest (64 digits, or "" to begin with) by that of itself followed by n bytes: BLAKE2b-256, for
 * much data, piece by piece. */
void pm_chain_hex(char hex[PM_CHAIN_HEX], const void *p, size_t n);

#endif
