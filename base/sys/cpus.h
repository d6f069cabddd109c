/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.h - which processors a process runs on. */
#ifndef BASE_CPUS_H
#define BASE_CPUS_H

#include <sched.h>

/* From here on this process, and what it starts, runs on those of these processors that it may run on now.
 * Where it may run on none of them nothing changes. */
void pm_cpus_pin(const cpu_set_t *wanted);
/* In a process that such a one has started: all that were allowed before, for work that is better done
 * anywhere than late. */
void pm_cpus_unpin(void);
/* How many pm_cpus_unpin gives; what pm_cpu_count says where nothing was pinned. */
int pm_cpus_unpinned_count(void);

#endif
