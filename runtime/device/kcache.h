/* SPDX-License-Identifier: Apache-2.0 */
/* kcache.h - what the compilers of both kernel devices share: the cache's folders, the headers in its keys,
 * and compiling with several processes. */
#ifndef RUNTIME_KCACHE_H
#define RUNTIME_KCACHE_H

#include "base/core/err.h"
#include "base/core/str.h"

#include <stddef.h>

/* Appends the path of a folder of the cache, made when missing. */
PmStatus pm_kcache_dir(const char *name, PmStr *out, PmErr *err);

/* Appends name and text of every header (.h, .cuh, .inc, .ld) in the folder dir/sub, for a key. */
PmStatus pm_kcache_add_headers(const char *dir, const char *sub, PmStr *text, PmErr *err);

/* Several processes may come to compile the same thing: the first does, the others wait here, and look into
 * the cache again. Returns a descriptor for pm_kcache_unlock; -1 when there is no lock to be had, or another
 * process has had it for half a minute: then the caller compiles as well, which costs time and nothing else.
 * The lock of a process that dies is free. `name` may be any text. */
int pm_kcache_lock(const char *name);
void pm_kcache_unlock(int lock); /* -1 is allowed */

/* Calls fn(arg, i) for every i < n in up to `jobs` forked processes, each of which takes the next i when it
 * is done with one, and waits for them. What fn does to memory is lost. A process that dies loses the item
 * that it was at, and no other; what cannot be started is left out. */
void pm_kcache_ahead(int jobs, size_t n, void (*fn)(void *arg, size_t i), void *arg);

/* For fn, at the start of an item: this process ends when the item takes more than cpu_seconds of processor,
 * or less than a hundredth of a processor in two ticks running (it waits for what never comes). Time alone
 * ends nothing: many compilers may share few processors. Takes SIGALRM. */
void pm_kcache_watch(int tick_seconds, int cpu_seconds);

#endif
