/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - the author's files as the steps of a trajectory change them. */
#ifndef TRAJECTORY_FILES_H
#define TRAJECTORY_FILES_H

#include "base/core/hash.h"
#include "base/core/json.h"
#include "base/core/vec.h"

/* Bytes of a file whose text is kept; of a longer one only the digest is. */
enum { PM_FILES_MAX = 1 << 20 };

typedef struct PmFile {
	char *path; /* in the workspace */
	char *text; /* owned; "" of one that is too long */
	char sha256[PM_SHA256_HEX];
	int too_long;
} PmFile;

/* Begin with { 0 }. */
typedef struct PmFiles {
	PM_VEC(PmFile) list; /* by path */
} PmFiles;
/* Frees all; *f is then empty. */
void pm_files_release(PmFiles *f);
/* The file of this path, NULL when there is none; borrowed until the next change. */
const PmFile *pm_files_get(const PmFiles *f, const char *path);

/* The file is now `text` (n bytes; NULL = it is gone). Appends the change to the array `changes`, as
 * PmStepRow.files says (dataset/store/trajectories.h): a diff where that is shorter than the text. Nothing is
 * appended when the file is as it was. A text with a byte 0 is kept as its digest only. */
void pm_files_set(PmFiles *f, const char *path, const char *text, size_t n, cJSON *changes);

/* Applies changes that pm_files_set made. PM_E_INVALID when they do not fit, or do not give the digests that
 * they say. */
PmStatus pm_files_apply(PmFiles *f, const cJSON *changes, PmErr *err);

/* The digest of all paths and contents: equal for the same sources, whatever steps led there. */
void pm_files_digest(const PmFiles *f, char hex[PM_SHA256_HEX]);

#endif
