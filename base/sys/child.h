/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - a child process that nobody waits for: its descriptors are polled with others, and it is looked
 * at when there is something to see. (proc.h has the forms that wait.)
 *
 * The child leads a process group of its own, which is killed as a whole; it ends when this process ends.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/sys/proc.h"

#include <poll.h>

typedef struct PmChild PmChild;

typedef struct PmChildOpts {
	const char *dir;    /* where it starts; NULL = here */
	double seconds;     /* deadline on the wall; 0 = none */
	int64_t max_output; /* bytes accepted on stdout; over it the child is killed; 0 = 64 MiB */
} PmChildOpts;

/* Starts argv[0] (a path, or searched on PATH) with an empty stdin. PM_E_ENV when it cannot be started. */
PmStatus pm_child_start(const char *const *argv, const PmChildOpts *opts, PmChild **out, PmErr *err);
/* What to poll for, at most 3 descriptors: returns how many. */
int pm_child_fds(const PmChild *c, struct pollfd fds[3]);
/* Seconds until pm_child_step has something to do although no descriptor is ready; -1 = never. */
double pm_child_wait(const PmChild *c);
/* Reads what there is, without waiting. 1 once the child has ended and is reaped. */
int pm_child_step(PmChild *c);
/* Kills the group, and reaps the child. How it ended is as it was before when it had ended. */
void pm_child_kill(PmChild *c);
/* How it ended and what it wrote so far (borrowed). Of stderr the last 64 KiB or more are kept. */
PmProcResult *pm_child_result(PmChild *c);
/* Kills what still runs, and frees. NULL is allowed. */
void pm_child_free(PmChild *c);

#endif
