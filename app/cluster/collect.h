/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h - the findings of all workers in one database. */
#ifndef APP_CLUSTER_COLLECT_H
#define APP_CLUSTER_COLLECT_H

#include "app/cluster/plan.h"

typedef struct PmClusterCollected {
	size_t had, added, missing; /* items: that the database had, that were added, that have no result */
	size_t damaged;             /* results that cannot be read */
} PmClusterCollected;

/* Adds results that dir/collected.db does not have; made of tasks.db where it is not there. The database is
 * filled on a disk of this machine and published when it is whole, so that it may be collected while others
 * work, and again. PM_E_INVALID names the first result that is damaged, after all others were collected. */
PmStatus pm_cluster_collect(const PmClusterPlan *p, PmClusterCollected *out, PmErr *err);

#endif
