/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - bytes that processes leave for each other in one temporary file.
 *
 * The file has no name: it is gone when the last process that has it ends, however that ends. A spool is
 * opened before the processes that share it are forked (base/sys/pool.h). Any of them adds pieces, at the
 * same time too, and any that knows a piece's place reads it back.
 */
#ifndef BASE_SPOOL_H
#define BASE_SPOOL_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmSpool PmSpool;

/* Where a piece is. Plain data, so that it can be a result of a pool's item. size 0: there is none. */
typedef struct PmSpoolPlace {
	uint64_t offset, size;
	uint64_t hash; /* of its bytes */
} PmSpoolPlace;

/* Makes one in $TMPDIR (or /tmp) that takes at most `limit` bytes. Returns owned. */
PmStatus pm_spool_open(uint64_t limit, PmSpool **out, PmErr *err);
void pm_spool_close(PmSpool *s);
/* For a process that starts others which must not write to it: those it forks from now on do not have it. */
void pm_spool_keep(const PmSpool *s);

/* Adds n bytes. PM_E_LIMIT when the spool would hold more than its limit, PM_E_IO when the disk is full. */
PmStatus pm_spool_put(PmSpool *s, const void *p, size_t n, PmSpoolPlace *out, PmErr *err);
/* Reads a piece into memory of the caller's (at->size bytes). PM_E_IO when it is not what was put there. */
PmStatus pm_spool_get(const PmSpool *s, const PmSpoolPlace *at, void *out, PmErr *err);

#endif
