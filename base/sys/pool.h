/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - numbered items of work, done by several processes at once.
 *
 * The processes are forks of the caller: they see everything it had, and give back a result of fixed size for
 * each item in memory that is shared. A process that dies takes its item with it (unless PmPool.again is set)
 * and nothing else: another one is started. One that died three times in its start is not started again; when
 * none is left and items are, that is PM_E_CRASH. When the caller dies, so do they. What they start in their
 * turn does not have the shared memory. The memory of a result goes back to the system when it and all before
 * it were reported.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/core/err.h"

#include <stddef.h>
#include <stdint.h>

typedef enum {
	PM_POOL_DONE,
	PM_POOL_DIED,
	PM_POOL_LEFT /* no process would take it; only where PmPool.may is given */
} PmPoolEnd;

/* What a worker may do now. */
typedef enum {
	PM_POOL_TAKE,  /* the next item */
	PM_POOL_LATER, /* nothing yet: it is asked again */
	PM_POOL_NEVER  /* nothing any more: it ends */
} PmPoolMay;

typedef struct PmPool {
	size_t n_items, result_size;
	int jobs; /* processes; 1 = no fork, all is done in this one; more = forks, for a single item too, and
		   * not more than items, unless `may` is given */
	/* In the process that works: once at its start (worker is 0 to jobs - 1) and at its end; may be NULL.
	 * A status other than PM_OK stops the pool. */
	PmStatus (*start)(void *arg, int worker, PmErr *err);
	void (*stop)(void *arg);
	/* In the process that works. `result` is zeroed before. A status other than PM_OK stops the pool. */
	PmStatus (*work)(void *arg, size_t item, void *result, PmErr *err);
	/* In the caller, in any order, once for each item whose work was PM_OK, that died with its process,
	 * or that nobody took: `result` is borrowed; may be NULL. */
	PmStatus (*done)(void *arg, size_t item, PmPoolEnd end, const void *result, PmErr *err);
	void *arg;
	/* In the process that works, before each item; NULL = always PM_POOL_TAKE. With it `work` may give an
	 * item back (PM_DECLINED): another worker, or this one again, takes it later. Workers then end when
	 * no item is left that could still be given back. Not for pm_pool_run with one job. */
	PmPoolMay (*may)(void *arg, int worker);
	void (*pass)(void *arg); /* may said PM_POOL_TAKE, and another worker was faster; may be NULL */
	/* 1: an item whose process was killed from outside (SIGKILL), which is nobody's mistake, is done by
	 * the caller, without `start`: for items that can do it no harm. */
	int again;
} PmPool;

/* Works on all items; returns the first status that was not PM_OK, with its sentence (with one of its own,
 * that names the item, when the callback gave none). */
PmStatus pm_pool_run(const PmPool *p, PmErr *err);
/* The same with a process of its own for one job, too. */
PmStatus pm_pool_run_apart(const PmPool *p, PmErr *err);
/* Likewise; `tick` (may be NULL) is called with p->arg in the caller, many times a second while it waits. */
PmStatus pm_pool_run_ticking(const PmPool *p, void (*tick)(void *arg), PmErr *err);
/* Likewise; `is_over` is asked as often: 1 kills what runs, and then PM_DECLINED is returned. */
PmStatus pm_pool_run_until(const PmPool *p, void (*tick)(void *arg), int (*is_over)(void *arg), PmErr *err);

/* Processors that this process may use, at least 1. */
int pm_cpu_count(void);

/* What -j asked for; where that is no number of processes (0 = not given), as many as there are processors,
 * and at least 2, so that a death takes only its item with it. */
int pm_pool_jobs(int64_t asked);

#endif
