/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.h - a lock between processes: many share it, or one is alone.
 *
 * It is made before the processes that use it are forked (base/sys/pool.h), and each of them locks for
 * itself: what a process holds, a child that it forks does not. A process that ends, however that happens,
 * lets go of what it held. Who wants to be alone is not overtaken by those who come later to share. One of
 * them may lead, whatever else it holds: others that follow wait for it. One lock is used by one thread of a
 * process.
 *
 * A lock in a named file is one for all commands of a machine that open that file. A process opens it once:
 * the system takes its locks away when any descriptor of the file is closed.
 */
#ifndef BASE_RWLOCK_H
#define BASE_RWLOCK_H

#include "base/core/err.h"

typedef struct PmRwlock PmRwlock;

/* Returns owned. PM_E_ENV when the system has no room for it. */
PmStatus pm_rwlock_new(PmRwlock **out, PmErr *err);
/* A lock in this file, which is made for everybody where it is not there. PM_E_ENV when it cannot be opened.
 */
PmStatus pm_rwlock_open(const char *path, PmRwlock **out, PmErr *err);
/* In the process that made it, and not before the others have ended; NULL is allowed. */
void pm_rwlock_free(PmRwlock *l);

/* `waits` is called before a wait for a process that does not descend from the one that made the lock, once
 * for all processes of it; pid: of the other; 0 = it has none here. In the process that waits. */
void pm_rwlock_on_wait(PmRwlock *l, void (*waits)(void *arg, int pid), void *arg);

/* Each of these allows NULL, which is a lock that nobody else has. PM_E_ENV when the system refuses. */

/* From holding nothing. Waits while a process is alone, or waits for that. */
PmStatus pm_rwlock_share(PmRwlock *l, PmErr *err);
/* From holding nothing, being alone, or sharing, which ends: what others do may change before it returns.
 * Waits until nobody else shares. */
PmStatus pm_rwlock_alone(PmRwlock *l, PmErr *err);
/* Goes first, until it leaves or ends: whoever follows waits. What it holds else stays as it is. One process
 * of those that have the lock leads. */
PmStatus pm_rwlock_lead(PmRwlock *l, PmErr *err);
/* Waits until nobody leads. What it holds else stays as it is. It does not wait for one who has not begun to
 * lead. */
PmStatus pm_rwlock_follow(PmRwlock *l, PmErr *err);
/* Holds nothing from then on, and does not lead. */
void pm_rwlock_leave(PmRwlock *l);

/* A process that holds nothing, or waits, may leave something behind that those who are alone have to know
 * of, as processes that keep a device open and do nothing there. Says how many of these it has; what a
 * process that has ended said counts no more. PM_E_ENV, when more than 256 processes leave something. */
PmStatus pm_rwlock_leave_behind(PmRwlock *l, int n, PmErr *err);
/* How many all other processes have. */
int pm_rwlock_left_behind(const PmRwlock *l);

/* Seconds that this process has waited in share, alone, lead and follow so far, one that is going on
 * included. May be called in a handler of a signal. */
double pm_rwlock_waited(const PmRwlock *l);

#endif
