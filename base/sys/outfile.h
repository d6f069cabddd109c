/* SPDX-License-Identifier: Apache-2.0 */
/* outfile.h - large files written piece by piece: a temporary file beside the target, renamed at the end, so
 * that readers see the old or the whole new content. (pm_write_file does the same for what is in memory.) */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct PmOutFile PmOutFile;

/* Opens a temporary file beside `path` (a device or a pipe is written to directly). */
PmStatus pm_out_open(const char *path, PmOutFile **out, PmErr *err);
PmStatus pm_out_write(PmOutFile *f, const void *p, size_t n, PmErr *err);
int64_t pm_out_size(const PmOutFile *f); /* bytes written so far */
/* Writes n bytes again that begin at `offset` and were written before, to a file that can be gone back in. */
PmStatus pm_out_patch(PmOutFile *f, int64_t offset, const void *p, size_t n, PmErr *err);
/* Waits until all of it is on the disk, so that a file that has its name also has its content. */
PmStatus pm_out_sync(PmOutFile *f, PmErr *err);
/* Closes and renames; frees f in any case, and removes the temporary file on failure. */
PmStatus pm_out_commit(PmOutFile *f, PmErr *err);
/* Closes, removes the temporary file and frees f; NULL is fine. */
void pm_out_abort(PmOutFile *f);

#endif
