/* SPDX-License-Identifier: Apache-2.0 */
/* variants_priv.h - what the parts of variant making share: resizing, classes of dimensions, element types.
 */
#ifndef EXTRACT_VARIANTS_PRIV_H
#define EXTRACT_VARIANTS_PRIV_H

#include "base/core/vec.h"
#include "extract/variants/variants.h"

enum {
	PM_MAX_SLOTS = 512,       /* input dimensions looked at */
	PM_MAX_DIM_CLASSES = 16,  /* classes kept */
	PM_MAX_CLASS_TRIES = 4096 /* graphs tried to find them */
};

/* A size that changed, for numbers that cannot be traced to a dimension. */
typedef struct PmSubst {
	int64_t from, to;
} PmSubst;

/* One new assignment of sizes: types for the inputs of `base`, which is static. */
typedef struct PmResize {
	const PmGraph *base;
	const PmType *in; /* one for each input of base */
	const PmSubst *subst;
	size_t n_subst;
	int64_t max_elements;
	int keep_literals; /* numbers that cannot be traced stay as they are */
} PmResize;

/* ---- resize.c ---- */

/* Makes `base` with other input types, verified. PM_OK with *out, or PM_DECLINED with the reason in *why. */
PmStatus pm__resize(const PmResize *r, PmGraph **out, PmVariantReason *why);
/* The same, first with numbers substituted, then with numbers kept. */
PmStatus pm__resize_any(PmResize r, PmGraph **out, PmVariantReason *why);
/* Infers all of g anew after its inputs, constants or attributes changed, sweeps and verifies. */
PmStatus pm__reinfer(PmGraph *g);

/* ---- literals.c ---- */

/* Makes the numbers of node n in g (a copy of node b in base) fit the new operand types. PM_DECLINED when
 * they cannot. */
PmStatus pm__fit_literals(const PmResize *r, PmNode b, PmGraph *g, PmNode n);

/* ---- dims.c ---- */

typedef struct PmSlot {
	uint32_t input, axis;
} PmSlot;

/* Input dimensions that change together, all by the same ratio. */
typedef struct PmDimClass {
	PM_VEC(PmSlot) slots;
	int64_t size; /* of the first slot in the base graph */
	int batch;    /* the outermost dimension of its inputs */
} PmDimClass;

typedef struct PmDimClasses {
	PmDimClass v[PM_MAX_DIM_CLASSES];
	size_t n, tried;
} PmDimClasses;

/* Finds the classes of a static graph. */
void pm__dim_classes(const PmGraph *base, int64_t max_elements, PmDimClasses *out);
void pm__dim_classes_release(PmDimClasses *c);
/* Writes class c at a new size of its first slot into the input types, and what changed into subst (room for
 * one entry for each slot). Returns the number of entries, or -1 when a slot's size would be no whole number.
 */
int pm__dim_class_set(const PmGraph *base, const PmDimClass *c, int64_t size, PmType *in, PmSubst *subst);
/* The types of all inputs with class k at size[k], and what changed; with `all` also what did not, so that
 * numbers of that size are known to stay. Returns as above. */
int pm__dim_classes_set(const PmGraph *base, const PmDimClasses *c, const int64_t *size, int all, PmType *in,
			PmSubst *subst);
/* The graph with these sizes, owned, or NULL when that is no valid graph. `in` and `subst` (PM_MAX_SLOTS
 * entries) are room to work in. */
PmGraph *pm__with_sizes(const PmGraph *base, const PmDimClasses *c, const int64_t *size, int all, PmType *in,
			PmSubst *subst);

/* ---- retype.c ---- */

/* The floating point type that most inputs have (else constants, else results), or -1. */
int pm__main_dtype(const PmGraph *g);
/* Makes g with `to` in place of `from`: inputs, constants (rounded; finite numbers stay finite and nonzero)
 * and casts. Parameters of BatchNormalization and scales of Resize that are float32 stay so beside types of
 * two bytes. PM_OK with *out, or PM_DECLINED. */
PmStatus pm__retype(const PmGraph *g, int from, int to, PmGraph **out);

#endif
