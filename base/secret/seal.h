/* SPDX-License-Identifier: Apache-2.0 */
/* seal.h - text that somebody vouches for: a line of payload, and a line with an Ed25519 signature of it.
 *
 * A sealed text is "PAYLOAD\n" followed by "SIGNATURE\n". PAYLOAD is one line of JSON; the signature is made
 * over its very bytes (without the line break), so that nothing has to be written in a normal form. SIGNATURE
 * is {"algorithm":"ed25519","key":"64 hex digits","signature":"128 hex digits"}. A text that nobody signed is
 * the first line alone.
 *
 * A key file is made by pm_seal_make_key: it can be read by its owner alone. Its public half is the text that
 * others compare with. Signatures are those of libsodium's crypto_sign_detached (RFC 8032).
 */
#ifndef BASE_SEAL_H
#define BASE_SEAL_H

#include "base/core/err.h"
#include "base/core/str.h"

enum { PM_SEAL_KEY_HEX = 65 }; /* a public key as 64 hexadecimal digits, and the terminator */

typedef struct PmSealed {
	const char *payload; /* borrowed from the text; not terminated */
	size_t n;
	int is_signed;             /* there is a second line */
	int is_valid;              /* and its signature is of these bytes by `key` */
	char key[PM_SEAL_KEY_HEX]; /* "" when not signed */
} PmSealed;

/* Writes a new key to `path`, mode 0600; a file that is there is not replaced (PM_E_IO). `key`: its public
 * half. */
PmStatus pm_seal_make_key(const char *path, char key[PM_SEAL_KEY_HEX], PmErr *err);

/* Appends the sealed text of a payload of n bytes without line breaks. `key_path` NULL: not signed.
 * PM_E_INVALID when the file is no key, PM_E_NOT_FOUND when it is not there. */
PmStatus pm_seal(const char *payload, size_t n, const char *key_path, PmStr *out, PmErr *err);

/* Reads a sealed text. PM_E_INVALID when it is none: more lines than two, no payload, or a second line that
 * is no signature. A signature that does not hold is no error: is_valid is 0. */
PmStatus pm_seal_open(const char *text, size_t n, PmSealed *out, PmErr *err);

#endif
