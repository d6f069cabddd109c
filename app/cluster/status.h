/* SPDX-License-Identifier: Apache-2.0 */
/* status.h - how far a plan is, who works on it, and what to do about workers that have ended. */
#ifndef APP_CLUSTER_STATUS_H
#define APP_CLUSTER_STATUS_H

#include "app/cluster/claims.h"
#include "app/cluster/items.h"

/* A worker that has a shard. */
typedef struct PmClusterWorker {
	char name[PM_CLUSTER_WORKER];
	PmWorkerSays says; /* host "unknown" when it has said nothing */
	size_t shard;
	double age; /* seconds since its last heartbeat */
	int silent; /* for longer than the lease, or known to have ended */
} PmClusterWorker;

typedef struct PmClusterStatus {
	PmShardClaim *claim;           /* of each shard; owned */
	PmItemState *item;             /* of each item; owned */
	size_t pending, running, done; /* shards; what is none of these counts as pending, and a pending one
					* with nothing left to do as done */
	size_t items_done, items_begun,
		items_failed; /* begun: part of them is known; failed: they are left */
	PM_VEC(PmClusterWorker) worker;
	size_t alive;         /* workers that are not silent */
	double modelled_left; /* modelled seconds of items that are neither done nor left */
	double rest; /* seconds until all is done, by what finished items took; NAN = nothing is known */
} PmClusterStatus;

/* Release *out also after a failure. */
PmStatus pm_cluster_status_read(const PmClusterPlan *p, PmClusterStatus *out, PmErr *err);
void pm_cluster_status_release(PmClusterStatus *s);
/* 1 when an item came to nothing so often that it is left. */
int pm_cluster_is_left(const PmItemState *s);
/* 1 when an item of the shard has no result and is tried again. Claims do not say it: a worker may have died
 * between its last result and the end of its claim. `item`: the states of all items of the plan. */
int pm_cluster_has_work(const PmClusterShard *s, const PmItemState *item);

typedef struct PmClusterResumed {
	size_t taken_back; /* shards of workers that are silent */
	size_t reopened;   /* shards that were done or lost, and have an item that is not */
	size_t retried;    /* items whose tries were forgotten */
	size_t settled;    /* shards that were pending, or a silent worker's, and have nothing left to do */
	size_t swept;      /* unfinished files that killed workers left, older than the lease */
} PmClusterResumed;

/* Makes shards pending that have something to be done and that nobody works on, and those done that have not.
 * retry: items that were left are tried again, too. */
PmStatus pm_cluster_resume(const PmClusterPlan *p, int retry, PmClusterResumed *out, PmErr *err);

#endif
