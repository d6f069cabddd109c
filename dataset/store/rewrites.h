/* SPDX-License-Identifier: Apache-2.0 */
/* rewrites.h - graphs that passes made of variants, the sources of their kernels, and profiles of these. */
#ifndef DATASET_REWRITES_H
#define DATASET_REWRITES_H

#include "dataset/store/db.h"

#include <stddef.h>
#include <stdint.h>

/* A rewritten graph. Strings are borrowed. */
typedef struct PmRewriteRow {
	int64_t id, ordinal; /* ignored when storing; the first variant of the run that has it */
	const char *code;    /* 64 digits: the same for graphs with like kernels (bench/eval/rewritten.h) */
	const char *text;    /* without the sources of its kernels, which it names by their digests */
} PmRewriteRow;

/* What a result of a run is to name (*id): the graph that an earlier result of the run names, where that has
 * the same code; else this one, which is stored with its sources when it is not there. */
PmStatus pm_rewrite_put(PmDb *db, int64_t run, const PmRewriteRow *row, const char *const *sources, size_t n,
			int64_t *id, PmErr *err);

typedef PmStatus (*PmRewriteFn)(void *arg, const PmRewriteRow *row, PmErr *err);
/* The different graphs that the results of a run name, by their first variants. */
PmStatus pm_rewrites_each(PmDb *db, int64_t run, PmRewriteFn fn, void *arg, PmErr *err);

typedef PmStatus (*PmKernelSourceFn)(void *arg, const char *sha256, const char *text, PmErr *err);
/* The sources of a rewritten graph, in the order in which its kernels name them. */
PmStatus pm_rewrite_sources_each(PmDb *db, int64_t rewrite, PmKernelSourceFn fn, void *arg, PmErr *err);

/* A profile. Strings are borrowed. */
typedef struct PmProfileRow {
	int64_t task, ordinal;
	const char *pass_sha256, *options, *pass_path, *version, *json;
} PmProfileRow;

/* Stores a profile in place of one of the same task, variant, pass and options. */
PmStatus pm_profile_put(PmDb *db, const PmProfileRow *row, PmErr *err);
typedef PmStatus (*PmProfileFn)(void *arg, const PmProfileRow *row, PmErr *err);
/* The profiles of a task, by pass, variant and options. */
PmStatus pm_profiles_each(PmDb *db, int64_t task, PmProfileFn fn, void *arg, PmErr *err);

#endif
