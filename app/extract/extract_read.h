/* SPDX-License-Identifier: Apache-2.0 */
/* extract_read.h - the models of one extraction, each read once.
 *
 * The file of a model that is to be cut is opened once: the bytes that are hashed are those that are
 * imported. What was read is put aside in a temporary file without a name (base/sys/spool.h), the model's
 * skeleton for folding and its whole graph, with the numbers of its nodes, for cutting: folding needs the
 * skeletons of all models before any is cut, and the graphs of all do not fit in memory. Of the skeletons one
 * of each structure is kept in memory: folding takes no more, and copies and relatives of a model cost
 * nothing but their rows. A model that is not to be cut (it is stored, or another shard's) is only hashed,
 * and read for its skeleton when there is one to be cut.
 */
#ifndef APP_EXTRACT_READ_H
#define APP_EXTRACT_READ_H

#include "app/extract/extract_opts.h"
#include "base/core/str.h"
#include "base/core/vec.h"
#include "base/sys/spool.h"

typedef struct PmReadModel {
	const char *path;        /* borrowed */
	char sha[65];            /* "" when hashing it ended the process */
	int pending, broken;     /* to be stored; no skeleton */
	int64_t opset, n_opaque; /* as far as they are known */
	char *why; /* owned: the sentence about one that is broken; NULL = another has the same bytes */
	size_t structure;             /* its number in PmReadModels.structure; of one that is not broken */
	PmSpoolPlace skeleton, graph; /* of one that is pending and not broken */
} PmReadModel;

typedef struct PmReadModels {
	PmReadModel *model;
	size_t n;
	size_t *todo; /* models that are pending, by number */
	size_t n_todo;
	PM_VEC(PmSkeleton) structure; /* one skeleton of each, whichever model was read first */
	PmIntern *structure_ids;      /* by hash and number among those with that hash: 1 + structure */
	PmSpool *spool;
} PmReadModels;

/* Reads the job's models by its processes and counts those that are skipped or cannot be stored in *j. Makes
 * no database, and looks into the one that is there for what is stored. Release *out whatever is returned. */
PmStatus pm_models_read(PmExtractJob *j, PmReadModels *out, PmErr *err);
void pm_models_release(PmReadModels *r);

/* The graph of a model that is pending and not broken, as it was read: with the same numbers, but without the
 * data of its large constants, which nothing that cuts looks at. Returns owned. */
PmStatus pm_models_graph(const PmReadModels *r, size_t k, PmGraph **out, PmErr *err);
/* Its skeleton, with its own nodes. Release it with pm_skeleton_release. */
PmStatus pm_models_skeleton(const PmReadModels *r, size_t k, PmSkeleton *out, PmErr *err);

#endif
