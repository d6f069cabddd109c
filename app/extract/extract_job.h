/* SPDX-License-Identifier: Apache-2.0 */
/* extract_job.h - many models to stored subgraphs, by several processes.
 *
 * First all models are read, each once (app/extract/extract_read.h), and their operators and edges folded
 * together, so that a motif is the same motif in every model; then the models that are not stored yet are
 * cut, each in one transaction.
 */
#ifndef APP_EXTRACT_JOB_H
#define APP_EXTRACT_JOB_H

#include "app/watch/watch.h"
#include "extract/extract.h"

typedef struct PmExtractJob {
	const char *db;
	const char *const *files; /* names of n_files models; borrowed */
	size_t n_files;
	int jobs;             /* processes */
	const PmWatch *watch; /* borrowed; may be NULL */
	size_t shard,
		n_shards; /* only the models at shard, shard + n_shards, ... are stored; n_shards 0 = all */
	PmExtractReport sum;          /* over the models stored by this call */
	size_t done, skipped, failed; /* models */
	size_t structures, rounds;    /* of the fold; 0 when there was nothing to do */
	double fold_seconds, cut_seconds;
} PmExtractJob;

/* Runs it. A model that cannot be read is counted and stored as failed, with its sentence for `watch`. */
PmStatus pm_extract_job(PmExtractJob *j, PmErr *err);

#endif
