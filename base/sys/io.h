/* SPDX-License-Identifier: Apache-2.0 */
/* io.h - files: whole-file reads and atomic writes, read-only maps, folders, paths. */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/core/err.h"
#include "base/core/str.h"

#include <stddef.h>

/* For a system call on a path that failed (errno): one sentence with what to do next, "Cannot open "x": No
 * such file or directory; check the path." What cannot be written (`writes`) is PM_E_IO; else a missing file
 * is PM_E_NOT_FOUND. */
PmStatus pm_path_error(const char *verb, const char *path, int writes, PmErr *err);

/* Reads a whole regular file of at most `max` bytes (0 = no limit) and appends it to *out. */
PmStatus pm_read_file(const char *path, size_t max, PmStr *out, PmErr *err);
/* Writes to a temporary file beside `path` and renames it: readers see the old or the new content. */
PmStatus pm_write_file(const char *path, const void *p, size_t n, PmErr *err);

/* The bytes of a whole file, read-only; p is NULL when the file is empty. A file is mapped unless it has
 * fewer than PM_MAP_LEAST bytes: those are copied, since the last page of a map is paid in full. */
enum { PM_MAP_LEAST = 24 * 1024 };
typedef struct PmMap {
	const void *p;
	size_t n;
	int copied;
} PmMap;
/* Opens a regular file; PM_E_NOT_FOUND or PM_E_IO with a sentence, and *out is then not to be used.
 * pm_unmap gives the bytes back and leaves an empty map. */
PmStatus pm_map_file(const char *path, PmMap *out, PmErr *err);
void pm_unmap(PmMap *m);

/* mkdir -p. */
PmStatus pm_mkdirs(const char *path, PmErr *err);
/* rm -r for folders we made ourselves; refuses "", "/" and ".". Missing is fine. */
PmStatus pm_remove_tree(const char *path, PmErr *err);
/* A new empty folder below $TMPDIR (or /tmp), named passmith-<tag>-XXXXXX; path is appended to *out. */
PmStatus pm_temp_dir(const char *tag, PmStr *out, PmErr *err);
int pm_path_exists(const char *path);
int pm_path_is_dir(const char *path);
int pm_path_is_link(const char *path);
/* Size in bytes of a regular file, or -1. */
int64_t pm_file_size(const char *path);
/* The part after the last '/'; borrowed from `path`. */
const char *pm_path_base(const char *path);
/* Appends the folder part ("." when there is none) / folder + "/" + name to *out. */
void pm_path_dir(const char *path, PmStr *out);
void pm_path_join(const char *dir, const char *name, PmStr *out);
/* Names of the entries of a folder, sorted bytewise, "." and ".." left out. */
typedef struct PmNames {
	char **v;
	size_t n, cap;
} PmNames;
/* Reads the folder; the names and their array are owned by *out until pm_names_release. PM_E_NOT_FOUND or
 * PM_E_IO with a sentence. */
PmStatus pm_list_dir(const char *path, PmNames *out, PmErr *err);
void pm_names_release(PmNames *n);

/* $PASSMITH_CACHE, else $XDG_CACHE_HOME/passmith, else ~/.cache/passmith; created when missing. An absolute
 * path. */
PmStatus pm_cache_dir(PmStr *out, PmErr *err);
/* The folder that holds the running program. */
PmStatus pm_self_dir(PmStr *out, PmErr *err);
/* The folder of the running program's installation root (where include/ and runtime/emu/include/ are found):
 * $PASSMITH_ROOT, else found from /proc/self/exe upwards. */
PmStatus pm_root_dir(PmStr *out, PmErr *err);
/* The folder of the CUDA toolkit: $CUDA_HOME, else /usr/local/cuda, there or not. Borrowed. */
const char *pm_cuda_home(void);

#endif
