/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.c - pinning, by the system's sets of processors, inside of what the user allows. */
#include "base/sys/cpus.h"

#include "base/sys/pool.h"

static cpu_set_t before; /* of this process and its forks: what was allowed when it was first pinned */
static int pinned;

void pm_cpus_pin(const cpu_set_t *wanted)
{
	cpu_set_t allowed, both;

	if (!pinned && sched_getaffinity(0, sizeof before, &before))
		return;
	allowed = before;
	CPU_AND(&both, &allowed, wanted);
	if (CPU_COUNT(&both) && !sched_setaffinity(0, sizeof both, &both))
		pinned = 1;
}

void pm_cpus_unpin(void)
{
	if (pinned)
		sched_setaffinity(0, sizeof before, &before);
}

int pm_cpus_unpinned_count(void)
{
	return pinned ? CPU_COUNT(&before) : pm_cpu_count();
}
