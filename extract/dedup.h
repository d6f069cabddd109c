/* SPDX-License-Identifier: Apache-2.0 */
/* dedup.h - counts how often each hash was seen. */
#ifndef EXTRACT_DEDUP_H
#define EXTRACT_DEDUP_H

#include "base/core/hash.h"

#include <stddef.h>

typedef struct PmDedup PmDedup;

/* An empty set. Owned by the caller: pm_dedup_free, which allows NULL. */
PmDedup *pm_dedup_new(void);
void pm_dedup_free(PmDedup *d);
/* Counts one more graph with this hash (64 hexadecimal digits, or any text but the empty one). Returns its
 * number, from 0 in the order of first sight; *count (may be NULL) is how often it was seen, this time
 * included. */
size_t pm_dedup_add(PmDedup *d, const char *hash, size_t *count);
int pm_dedup_has(const PmDedup *d, const char *hash); /* 1 when it was seen; counts nothing */
size_t pm_dedup_size(const PmDedup *d);               /* different hashes */

#endif
