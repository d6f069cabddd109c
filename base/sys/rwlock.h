/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.h - a lock between processes: many share it, or one is alone.
 *
 * It is made before the processes that use it are forked (base/sys/pool.h), and each of them locks for
 * itself: what a process holds, a child that it forks does not. A process that ends, however that happens,
 * lets go of what it held. Who wants to be alone is not overtaken by those who come later to share. One lock
 * is used by one thread of a process.
 */
#ifndef BASE_RWLOCK_H
#define BASE_RWLOCK_H

#include "base/core/err.h"

typedef struct PmRwlock PmRwlock;

/* Returns owned. PM_E_ENV when the system has no room for it. */
PmStatus pm_rwlock_new(PmRwlock **out, PmErr *err);
/* In the process that made it, and not before the others have ended; NULL is allowed. */
void pm_rwlock_free(PmRwlock *l);

/* Each of these allows NULL, which is a lock that nobody else has. PM_E_ENV when the system refuses. */

/* From holding nothing. Waits while a process is alone, or waits for that. */
PmStatus pm_rwlock_share(PmRwlock *l, PmErr *err);
/* From holding nothing, or sharing, which ends: what others do may change before it returns. Waits until
 * nobody else shares. */
PmStatus pm_rwlock_alone(PmRwlock *l, PmErr *err);
/* Holds nothing from then on. */
void pm_rwlock_leave(PmRwlock *l);

/* Seconds that this process has waited in share and alone so far, one that is going on included. May be
 * called in a handler of a signal. */
double pm_rwlock_waited(const PmRwlock *l);

#endif
