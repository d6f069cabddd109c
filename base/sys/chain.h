/* SPDX-License-Identifier: Apache-2.0 */
/* chain.h - digests of much data, by all processors. */
#ifndef BASE_CHAIN_H
#define BASE_CHAIN_H

#include "base/core/hash.h"

/* Bytes from which on a digest is one of pieces. */
enum { PM_CHAIN_PIECE = 1 << 20 };

/* As pm_chain_hex. Of more than PM_CHAIN_PIECE bytes, the digest is followed by those of pieces of so many
 * bytes (pm_chain_hex of each, begun with ""), one after the other: it does not depend on the number of
 * processors. */
void pm_chain_pieces(char hex[PM_CHAIN_HEX], const void *p, size_t n);

#endif
