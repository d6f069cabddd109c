/* SPDX-License-Identifier: Apache-2.0 */
/* extract_opts.h - what an extraction from many models is asked for, and what it has counted. */
#ifndef APP_EXTRACT_OPTS_H
#define APP_EXTRACT_OPTS_H

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

#endif
