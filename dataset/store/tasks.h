/* SPDX-License-Identifier: Apache-2.0 */
/* tasks.h - benchmark tasks: named sets of graphs, each a variant of one subgraph.
 *
 * A task is named by its content: the hash of its kind and its variants' hashes. Making the same task again
 * gives the task that is there.
 *
 *   PmTaskBuilder *b = pm_task_begin("silu", "fusible");
 *   pm_variants_make(sub, NULL, pm_task_add, b, NULL, err);
 *   pm_task_end(b, db, &id, &is_new, err);
 */
#ifndef DATASET_TASKS_H
#define DATASET_TASKS_H

#include "dataset/store/db.h"
#include "ir/core/graph.h"

enum { PM_MAX_TASK_MEMBERS = 4096 };

/* A task in the making; nothing is stored before pm_task_end. Returns owned. */
typedef struct PmTaskBuilder PmTaskBuilder;
PmTaskBuilder *pm_task_begin(const char *name, const char *kind);
void pm_task_set_name(PmTaskBuilder *b, const char *name);
/* Adds a variant: a graph, a label for people, the number of its shapes (0 = as extracted), its main element
 * type (PmDType). A graph that equals one that is there is left out. `builder` is a PmTaskBuilder; the
 * signature is that of the functions that variants are handed to (extract/variants/variants.h). */
PmStatus pm_task_add(void *builder, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err);
/* The stored graph that the variants added from now on are variants of; 0 = not known. */
void pm_task_set_base(PmTaskBuilder *b, int64_t subgraph);
/* How the reference ran the variant that is added next (dataset/store/checks.h); "" or NULL = it was not
 * asked. */
void pm_task_set_ref(PmTaskBuilder *b, const char *how, const char *why);
/* What the task is for ("eval", "train"), how it was made, how hard it looks and what the gate said (see
 * dataset/store/schema.sql); NULL leaves an entry empty. These are no part of its name. */
void pm_task_set_about(PmTaskBuilder *b, const char *split, const char *policy, const char *stratum,
		       const char *gate, const char *gate_json);
/* Stores the task and its variants in one transaction and frees the builder, also on failure. A task without
 * variants is refused. *is_new may be NULL. */
PmStatus pm_task_end(PmTaskBuilder *b, PmDb *db, int64_t *id, int *is_new, PmErr *err);
/* Frees a builder that is given up; NULL is allowed. */
void pm_task_drop(PmTaskBuilder *b);

/* One task. Strings are borrowed until the callback returns. */
typedef struct PmTaskRow {
	int64_t id;
	const char *hash, *name, *kind;
	int64_t n_variants;
	const char *split, *policy, *stratum, *gate, *gate_json;
	const char *category; /* of its first variant's graph (ir/category/category.h) */
} PmTaskRow;
typedef PmStatus (*PmTaskFn)(void *arg, const PmTaskRow *row, PmErr *err);
/* Calls fn for every task in the order stored; a status other than PM_OK stops the walk and is returned. */
PmStatus pm_tasks_each(PmDb *db, PmTaskFn fn, void *arg, PmErr *err);
/* Those of one split only; and one by its id (PM_E_NOT_FOUND when there is none). */
PmStatus pm_tasks_of_split(PmDb *db, const char *split, PmTaskFn fn, void *arg, PmErr *err);
PmStatus pm_task_get(PmDb *db, int64_t id, PmTaskFn fn, void *arg, PmErr *err);
/* Removes every task that has a split, with its variants and results; *n (may be NULL) counts them. */
PmStatus pm_tasks_drop_splits(PmDb *db, int64_t *n, PmErr *err);
/* Finds one by id (digits), else by name, else by hash or a prefix of it (8 digits at least). Several tasks
 * of one name, or of one prefix, are an error that says so. */
PmStatus pm_task_find(PmDb *db, const char *id_name_or_hash, int64_t *id, PmErr *err);

/* One variant, in order. The graph's text is whole: it needs no other file. */
typedef struct PmVariantRow {
	int64_t task, ordinal, subgraph;
	const char *hash, *label, *text;
	int64_t shape;
	int dtype;        /* PmDType */
	const char *base; /* hash of the graph it is a variant of; "" when not known */
	const char *ref,
		*ref_why; /* how the reference ran it (dataset/store/checks.h); "" when it was not asked */
} PmVariantRow;
typedef PmStatus (*PmVariantRowFn)(void *arg, const PmVariantRow *row, PmErr *err);
/* Calls fn for every variant of a task; a status other than PM_OK stops the walk and is returned. */
PmStatus pm_task_variants_each(PmDb *db, int64_t task, PmVariantRowFn fn, void *arg, PmErr *err);

/* Makes a database of these tasks and of what belongs to them (graphs, tags, how the reference ran them), and
 * of nothing else: no models, no results. Row numbers are those of `from`. `path` must not exist; the file is
 * whole when this returns, and has no log beside it. */
PmStatus pm_tasks_copy(PmDb *from, const int64_t *tasks, size_t n, const char *path, PmErr *err);

/* Remembers that a graph makes no task under the options that `key` (64 hexadecimal digits) stands for. */
PmStatus pm_rejected_put(PmDb *db, const char *key, int64_t subgraph, const char *rule, const char *why,
			 PmErr *err);
PmStatus pm_rejected_has(PmDb *db, const char *key, int *yes, PmErr *err);

#endif
