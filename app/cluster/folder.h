/* SPDX-License-Identifier: Apache-2.0 */
/* folder.h - files in the folder that the workers of a plan share: how they are published, and read again.
 *
 * A file is written beside its place under a name that no other process uses, given to the disk, and renamed:
 * whoever reads sees nothing, or all of it, whenever the writer dies. What a writer left that died before is
 * a name that ends in
 * ".tmp", which nobody reads.
 *
 * A file of findings begins with a line of JSON about the others: which plan and which item they are of, how
 * many seconds the evaluation took so far, and their SHA-256; a seal, which follows from the plan's secret,
 * says that a worker of this plan wrote it. What follows are rows of a database (dataset/store/jsonl.h).
 */
#ifndef APP_CLUSTER_FOLDER_H
#define APP_CLUSTER_FOLDER_H

#include "base/core/str.h"
#include "base/secret/secret.h"
#include "dataset/store/db.h"

enum { PM_CLUSTER_WORKER = 64 }; /* bytes of a worker's name with the terminator */

/* A name for this process that no other has, on any host: HOST-PID-8 hexadecimal digits. */
void pm_cluster_worker_name(char name[PM_CLUSTER_WORKER]);

/* Appends dir/folder/name to *out; folder NULL: dir/name. */
void pm_cluster_path(const char *dir, const char *folder, const char *name, PmStr *out);

/* When the file server says that a file was touched, in seconds. It is opened first: a client of NFS asks the
 * server then, and not its own memory. 0, or -1 when it is not there. */
int pm_cluster_touched(const char *path, double *at);
/* Now, by the clock of the file server that dir lies on; comparable with pm_cluster_touched of its files. */
PmStatus pm_cluster_now(const char *dir, double *now, PmErr *err);

/* Publishes n bytes as the file `path`, with these permissions. PM_E_IO when there is no room: then `path` is
 * as it was. */
PmStatus pm_cluster_publish(const char *path, const void *p, size_t n, unsigned mode, PmErr *err);
/* Makes the folder of `path` when it is not there, and publishes. */
PmStatus pm_cluster_publish_in(const char *path, const void *p, size_t n, PmErr *err);

/* Removes what writers left that were killed while they published: names that end in ".tmp" and were not
 * touched for `age` seconds. *n is how many. What cannot be removed stays; nobody reads it. */
PmStatus pm_cluster_sweep(const char *dir, double age, size_t *n, PmErr *err);

/* The number that a name begins with, when `suffix` follows its digits; -1 = it is another name. A suffix of
 * "." means: and anything behind it. */
int64_t pm_cluster_number(const char *name, const char *suffix);

/* What belongs to a file of findings. */
typedef struct PmClusterHead {
	const PmSecret *secret; /* of the plan; borrowed */
	int64_t item;
	double seconds; /* the evaluation took so far */
} PmClusterHead;

/* Publishes rows as the findings of head->item, in a folder that is made when it is not there. */
PmStatus pm_cluster_findings_write(const char *path, const PmClusterHead *head, const PmStr *rows,
				   PmErr *err);
/* Appends the rows of a file of findings to *rows, and says how long they took. PM_E_INVALID, with a sentence
 * that names the file, when it is damaged or is not of head->item of this plan; PM_E_NOT_FOUND when there is
 * none. */
PmStatus pm_cluster_findings_read(const char *path, PmClusterHead *head, PmStr *rows, PmErr *err);
/* The seconds that stand in its first line, read without the rows; NAN when it cannot be read. */
double pm_cluster_findings_seconds(const char *path);

#endif
