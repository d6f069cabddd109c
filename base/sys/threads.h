/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - loops whose turns do not depend on each other, spread over processors.
 *
 * Threads live within one call: each has been joined when it returns, so that a fork before or after it
 * copies a process of one thread. No function of a loop may fork.
 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <stdint.h>

/* Turns [from, to) of a loop. It must write nothing that another turn reads or writes. */
typedef void PmThreadFn(void *arg, int64_t from, int64_t to);

/* Calls `fn` on parts that together are [0, n), each once; the caller works too. Parts have at least `least`
 * turns but for the last (at least 1), and a loop of less than two parts runs in the caller, as do all loops
 * inside `fn`, and all where no thread can be had. Which turns are in one part is nobody's promise: results
 * have to be the same for each cut. */
void pm_threads_run(int64_t n, int64_t least, PmThreadFn *fn, void *arg);

/* At most so many threads from now on, the caller among them; 0 = as many as there are processors, which is
 * the start. A process under a filter of system calls has 1 (sandbox.h). */
void pm_threads_limit(int most);
/* How many that is in the caller: 1 inside a loop. */
int pm_threads_most(void);
/* 1 inside a loop that threads share. */
int pm_threads_inside(void);

#endif
