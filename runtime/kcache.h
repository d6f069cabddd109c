/* kcache.h - what the compilers of both kernel devices share: the cache's folders, the headers in its keys,
 * and compiling with several processes. */
#ifndef RUNTIME_KCACHE_H
#define RUNTIME_KCACHE_H

#include "base/err.h"
#include "base/str.h"

#include <stddef.h>

/* Appends the path of a folder of the cache, made when missing. */
PmStatus pm_kcache_dir(const char *name, PmStr *out, PmErr *err);

/* Appends name and text of every header (.h, .cuh, .inc, .ld) in the folder dir/sub, for a key. */
PmStatus pm_kcache_add_headers(const char *dir, const char *sub, PmStr *text, PmErr *err);

/* Calls fn(arg, i) for every i < n, spread over up to `jobs` forked processes, and waits for them. What fn
 * does to memory is lost; what cannot be started is left out. */
void pm_kcache_ahead(int jobs, size_t n, void (*fn)(void *arg, size_t i), void *arg);

#endif
