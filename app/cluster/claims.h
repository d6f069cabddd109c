/* SPDX-License-Identifier: Apache-2.0 */
/* claims.h - which worker has which shard, said by files that are renamed.
 *
 * A shard is one file: pending/K, running/K.WORKER or done/K. rename(2) gives it to one of those who want it,
 * also on NFS. A worker touches its running/K.WORKER as long as it lives; when that is older than the lease
 * another one may rename it to pending/K, and the first one finds that its file is gone. Ages are by the
 * clock of the file server: a file that was just touched in the same folder is now.
 *
 * Claims save work, and nothing more: which items are finished is said by results/ alone. Two workers that
 * both believe to have a shard do the same work and find the same (docs/design/clusters.md).
 */
#ifndef APP_CLUSTER_CLAIMS_H
#define APP_CLUSTER_CLAIMS_H

#include "app/cluster/folder.h"
#include "base/core/vec.h"

typedef enum { PM_CLAIM_PENDING, PM_CLAIM_RUNNING, PM_CLAIM_DONE, PM_CLAIM_NONE } PmClaimState;

typedef struct PmShardClaim {
	PmClaimState state;             /* NONE: the file is missing */
	char worker[PM_CLUSTER_WORKER]; /* running: that has it */
	double age;                     /* running: seconds since its last heartbeat */
} PmShardClaim;

/* The claims of shards 0 to n - 1. PM_E_IO or PM_E_NOT_FOUND when a folder cannot be read. */
PmStatus pm_claims_read(const char *dir, size_t n, PmShardClaim *out, PmErr *err);

/* Takes a shard that is pending: *got is 1 when it is this worker's now, 0 when another one was quicker. */
PmStatus pm_claim_take(const char *dir, const char *worker, size_t shard, int *got, PmErr *err);
/* Takes any shard that is pending, of n: which one is tried first follows from the worker's name. *shard is n
 * when there is none. */
PmStatus pm_claim_take_any(const char *dir, const char *worker, size_t n, size_t *shard, PmErr *err);
/* Says that the worker lives: 0 when the shard is no longer its own. */
int pm_claim_touch(const char *dir, const char *worker, size_t shard);
/* A running shard is pending again, or done. Nothing happens when the worker no longer has it. */
PmStatus pm_claim_give_back(const char *dir, const char *worker, size_t shard, PmErr *err);
PmStatus pm_claim_finish(const char *dir, const char *worker, size_t shard, PmErr *err);
/* A pending shard of which nothing is left to do is done. Nothing happens when another worker has it. */
PmStatus pm_claim_settle(const char *dir, size_t shard, PmErr *err);
/* A shard that is done, or whose file is missing, is pending again. */
PmStatus pm_claim_reopen(const char *dir, size_t shard, PmErr *err);

/* What a worker says of itself, in workers/WORKER.json. */
typedef struct PmWorkerSays {
	char host[64], job[64];         /* job "": of no batch system */
	int64_t pid, element, restarts; /* element -1 = none */
	int64_t shard, item;            /* -1 = none */
	int64_t done, total;            /* variants of the item */
	char life[96];                  /* names this boot and this space of process numbers of the host */
} PmWorkerSays;

/* Fills host, pid, job (SLURM_ARRAY_JOB_ID, SLURM_JOB_ID), element (SLURM_ARRAY_TASK_ID), restarts
 * (SLURM_RESTART_COUNT) and life; the rest is nothing. */
void pm_worker_self(PmWorkerSays *out);
PmStatus pm_worker_say(const char *dir, const char *worker, const PmWorkerSays *says, PmErr *err);
/* PM_E_NOT_FOUND when it has said nothing. */
PmStatus pm_worker_read(const char *dir, const char *worker, PmWorkerSays *out, PmErr *err);
void pm_worker_forget(const char *dir, const char *worker);
/* 1 when it is known, without waiting for the lease, that a worker has ended: it was a process of this host's
 * same life that is not there, or an earlier run of the same element of the same job as `self`. */
int pm_worker_is_gone(const PmWorkerSays *w, const PmWorkerSays *self);

#endif
