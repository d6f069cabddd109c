/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - what is to be evaluated by many processes: passes on tasks, as items in shards.
 *
 * A plan is a folder that all machines see (docs/design/clusters.md):
 *
 *   plan.json            the plan; only its owner may read it, since the secret by which all is drawn stands
 * in it tasks.db             the tasks, and nothing else; no process writes it passes/SHA256.so     copies of
 * the passes pending/K, running/K.WORKER, done/K     the claim on shard K (app/cluster/claims.h)
 *   workers/WORKER.json  what a worker says of itself
 *   partial/ITEM/NNNN.WORKER.jsonl          what is known of an unfinished item; each has what is new
 *   results/ITEM.jsonl   what is known of a finished one
 *   tries/ITEM/N.WORKER.json                a try of an item that has come to nothing so far
 *   collected.db         what `passmith cluster collect` made
 */
#ifndef APP_CLUSTER_PLAN_H
#define APP_CLUSTER_PLAN_H

#include "base/core/hash.h"
#include "base/core/json.h"
#include "base/core/vec.h"
#include "base/secret/secret.h"
#include "dataset/store/db.h"

/* Tries of an item that come to nothing before it is left; seconds without a heartbeat after which others may
 * take a shard, unless a plan says otherwise. */
enum { PM_CLUSTER_TRIES = 3, PM_CLUSTER_LEASE = 60 };
enum { PM_CLUSTER_MAX_ITEMS = 1000000, PM_CLUSTER_MAX_SHARDS = 100000 };

/* How items are evaluated; as the options of `passmith eval`. Texts are owned by the plan. */
typedef struct PmClusterOptions {
	char *device, *profile, *preset, *precision, *reference; /* profile NULL = the default */
	int64_t seed, hidden;
	double deadline;
	double lease; /* seconds */
	int tf32, graphs, confirm, weak;
} PmClusterOptions;

typedef struct PmClusterTask {
	char hash[PM_SHA256_HEX];
	char *name; /* owned */
	int64_t n_variants;
} PmClusterTask;

typedef struct PmClusterPass {
	char sha256[PM_SHA256_HEX];
	char *path; /* as it was given; owned */
} PmClusterPass;

/* One pass on one task. */
typedef struct PmClusterItem {
	size_t task, pass;
	double seconds; /* modelled, of its evaluation on one processor; to compare items with each other */
} PmClusterItem;

typedef struct PmClusterShard {
	PM_VEC(size_t) item;
	double seconds;
} PmClusterShard;

typedef struct PmClusterPlan {
	char *dir;        /* owned */
	PmSecret *secret; /* owned */
	PmClusterOptions opts;
	char tasks_sha256[PM_SHA256_HEX]; /* of tasks.db */
	PM_VEC(PmClusterTask) task;
	PM_VEC(PmClusterPass) pass;
	PM_VEC(PmClusterItem) item;
	PM_VEC(PmClusterShard) shard;
} PmClusterPlan;

/* Frees what *p owns, its secret too, and leaves it empty. */
void pm_cluster_plan_release(PmClusterPlan *p);

/* What `passmith cluster plan` was asked for. */
typedef struct PmClusterWanted {
	const char *dir; /* to be made: it must not exist, or be empty */
	PmDb *db;
	const int64_t *tasks; /* of db */
	size_t n_tasks;
	const char *const *passes; /* paths */
	size_t n_passes;
	int64_t shards;               /* 0 = one for each item, at most 1,000 */
	const PmClusterOptions *opts; /* borrowed */
} PmClusterWanted;

/* Makes the folder. plan.json comes last: a folder without it is no plan. *out is the plan; release it also
 * after a failure. */
PmStatus pm_cluster_plan_make(const PmClusterWanted *w, PmClusterPlan *out, PmErr *err);

/* Reads dir/plan.json. PM_E_INVALID when it is damaged, or was made by another version of the program.
 * Release *out also after a failure. */
PmStatus pm_cluster_plan_read(const char *dir, PmClusterPlan *out, PmErr *err);
/* The same of its text; `dir` names it in sentences. The secret in `text` is overwritten. */
PmStatus pm_cluster_plan_parse(const char *dir, char *text, size_t n, PmClusterPlan *out, PmErr *err);
/* A plan from JSON of which nothing is known. The secret in *j is overwritten. */
PmStatus pm_cluster_plan_from_json(const char *dir, cJSON *j, PmClusterPlan *out, PmErr *err);

/* The secret by which everything of an item is drawn: it follows from that of the plan, the task's hash and
 * the pass's bytes. Returns owned. */
PmSecret *pm_cluster_item_secret(const PmClusterPlan *p, size_t item);

#endif
