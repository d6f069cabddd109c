/* SPDX-License-Identifier: Apache-2.0 */
/* extract_job.h - many models to stored subgraphs, by several processes.
 *
 * First all models are read, each once (app/extract/extract_read.h), and their operators and edges folded
 * together, so that a motif is the same motif in every model; then the models that are not stored yet are
 * cut, each in one transaction.
 */
#ifndef APP_EXTRACT_JOB_H
#define APP_EXTRACT_JOB_H

#include "app/extract/extract_opts.h"

/* Runs it. A model that cannot be read is counted and stored as failed, with its sentence for `watch`. */
PmStatus pm_extract_job(PmExtractJob *j, PmErr *err);

#endif
