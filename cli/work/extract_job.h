/* extract_job.h - many models to stored subgraphs, by several processes.
 *
 * First all models are read, each once (cli/work/extract_read.h), and their operators and edges folded
 * together, so that a motif is the same motif in every model; then the models that are not stored yet are
 * cut, each in one transaction.
 */
#ifndef CLI_EXTRACT_JOB_H
#define CLI_EXTRACT_JOB_H

#include "cli/args.h"
#include "extract/extract.h"

typedef struct PmExtractJob {
	const char *db;
	const PmStrList *files;
	int jobs; /* processes */
	size_t shard,
		n_shards; /* only the models at shard, shard + n_shards, ... are stored; n_shards 0 = all */
	PmExtractReport sum;          /* over the models stored by this call */
	size_t done, skipped, failed; /* models */
	size_t structures, rounds;    /* of the fold; 0 when there was nothing to do */
	double fold_seconds, cut_seconds;
} PmExtractJob;

/* Runs it. A model that cannot be read is counted and stored as failed, with its sentence on stderr. */
PmStatus pm_extract_job(PmExtractJob *j, PmErr *err);

#endif
