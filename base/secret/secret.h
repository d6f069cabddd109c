/* SPDX-License-Identifier: Apache-2.0 */
/* secret.h - a key of 256 bits that no child process inherits, and what is drawn by it.
 *
 * A key lies in a page of its own, which the system leaves out of forked children and of core files: code
 * that runs there cannot read it, nor work it out of what was derived for its own run. Derived are keys and
 * numbers by BLAKE2b under the key (libsodium), over a purpose, a subject and a number: whoever knows some of
 * them learns nothing of the key or of the others.
 */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdint.h>

typedef struct PmSecret PmSecret;

enum { PM_SECRET_HEX = 65 }; /* 64 hexadecimal digits and the terminator */

/* A new key from the system's source of randomness. All of these return owned. */
PmSecret *pm_secret_draw(void);
/* The key that follows from a public number: for measurements that judge nobody, and for tests. */
PmSecret *pm_secret_of(uint64_t number);
/* A key from 64 hexadecimal digits; NULL when the text is anything else. */
PmSecret *pm_secret_parse(const char *hex);
/* The key for one purpose of number `number` of those called `subject` (NULL = ""). */
PmSecret *pm_secret_derive(const PmSecret *s, const char *purpose, const char *subject, uint64_t number);
void pm_secret_free(PmSecret *s); /* NULL is allowed; forgets the key */
/* For processes of the harness itself that go on with its work (base/sys/pool.h): between on and off children
 * of this process inherit the key. The child turns it off before it does anything else, so that its own
 * children do not. */
void pm_secret_lend(const PmSecret *s, int on);

/* Number `number` that follows from the key for one purpose; all 64 bits are as good as drawn. */
uint64_t pm_secret_u64(const PmSecret *s, const char *purpose, uint64_t number);
/* The key as text, in memory that children inherit: for reports, when what was drawn by it is over. */
void pm_secret_hex(const PmSecret *s, char hex[PM_SECRET_HEX]);

#endif
