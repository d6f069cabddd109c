/* SPDX-License-Identifier: Apache-2.0 */
/* variant_list.h - the graphs an evaluation runs on: the variants of a stored task or a pack, or a model's
 * variants. */
#ifndef APP_VARIANT_LIST_H
#define APP_VARIANT_LIST_H

#include "base/core/vec.h"
#include "dataset/store/db.h"
#include "ir/core/graph.h"

typedef struct PmTaskVariant {
	char *label;     /* owned */
	PmGraph *g;      /* owned */
	int64_t ordinal; /* in its task */
	int shape;       /* number of its shapes; 0 = as extracted */
	int dtype;       /* PmDType of the variant; PM_F32 when nobody said */
} PmTaskVariant;

typedef struct PmVariantList {
	PM_VEC(PmTaskVariant) list;
	int64_t task; /* 0: not of a stored task */
} PmVariantList;

/* The variants of a task of `db` (by id, name or hash). */
PmStatus pm_variant_list_of_task(PmDb *db, const char *target, PmVariantList *out, PmErr *err);
/* The variants of a pack (dataset/pack/pack.h). */
PmStatus pm_variant_list_of_pack(const char *dir, PmVariantList *out, PmErr *err);
/* A model (borrowed) as one variant, or with `variants` as the shapes, by `seed`, and dtypes it generalises
 * to. */
PmStatus pm_variant_list_of_graph(const PmGraph *g, int variants, uint64_t seed, PmVariantList *out,
				  PmErr *err);
/* A part of the variants. */
typedef struct PmSelect {
	int dtype;           /* PmDType; -1 = all */
	int64_t shape;       /* number of the shapes; -1 = all */
	const int64_t *only; /* ordinals */
	size_t n_only;       /* 0 = all */
} PmSelect;
/* Drops what is not selected, and says how many that are. */
size_t pm_variant_list_select(PmVariantList *m, const PmSelect *s);
/* Drops all but the one that is least work (the first of equals), and says how many that are. Work:
 * operations of the reference, and elements of inputs and outputs. */
size_t pm_variant_list_keep_smallest(PmVariantList *m);
/* Drops variants of shapes n and above; n <= 0 keeps all. */
void pm_variant_list_keep_shapes(PmVariantList *m, int64_t n);
void pm_variant_list_release(PmVariantList *m);

#endif
