/* SPDX-License-Identifier: Apache-2.0 */
/* variants.h - the same computation at other sizes and in other element types.
 *
 * Dimensions of the inputs that must change together form classes, found by trying: a class is a least set of
 * input dimensions that can be scaled and still gives a graph that infers and verifies. Numbers that repeat a
 * size (targets of Reshape and Expand, ends of Slice, sizes of Split) follow the dimensions they came from.
 * Nothing is taken on trust: each variant is inferred and verified, has the operators of the original in the
 * same order, and a full canonical hash of its own; what fails is dropped and counted.
 */
#ifndef EXTRACT_VARIANTS_H
#define EXTRACT_VARIANTS_H

#include "ir/core/graph.h"

typedef struct PmVariantOpts {
	int n_shapes;         /* shapes in all, the original included; 0 = 10 */
	uint32_t dtypes;      /* 1 << PmDType each; 0 = f32, f16, bf16 */
	int own_dtype;        /* the graph's own types only; `dtypes` is not looked at */
	int64_t max_elements; /* of one value, unless the original has more; 0 = 4 Mi */
	uint64_t seed;
} PmVariantOpts;

enum { PM_MAX_SHAPES = 64 };

typedef enum {
	PM_VARIANT_LITERAL,   /* a number in the graph cannot follow the new sizes */
	PM_VARIANT_INFER,     /* shape or type rules say no */
	PM_VARIANT_SIZE,      /* empty, too large, or of unknown size */
	PM_VARIANT_OPS,       /* other operators than the original's */
	PM_VARIANT_BROADCAST, /* operands of an element-wise node had equal sizes and no longer have */
	PM_VARIANT_INDEX,     /* an index would leave its axis (ir/data/index_span.h) */
	PM_VARIANT_DUPLICATE, /* equals one that was made before */
	PM_VARIANT_N_REASONS
} PmVariantReason;
const char *pm_variant_reason(PmVariantReason r); /* "the shape rules refuse it" */

typedef struct PmVariantReport {
	size_t n_classes;                      /* classes of dimensions that can change */
	size_t n_shapes, n_made;               /* shapes, and graphs (shapes x dtypes) handed on */
	size_t n_spans;                        /* different size classes (below 16, 256, 4096, ...) of them */
	size_t n_tried;                        /* graphs tried, while looking for classes too */
	size_t rejected[PM_VARIANT_N_REASONS]; /* proposals dropped (not those tried to find classes) */
} PmVariantReport;

/* Takes one variant, borrowed. `shape` is 0 for the original sizes; `dtype` is the main element type. The
 * label says both to people. pm_task_add (dataset/store/tasks.h) is one. */
typedef PmStatus (*PmVariantFn)(void *arg, const PmGraph *g, const char *label, int shape, int dtype,
				PmErr *err);

/* Hands the variants of a graph to fn: first the original sizes (symbols get numbers) in each dtype, then the
 * other shapes. A graph without floating point values keeps its types. The same graph and options give the
 * same variants. PM_E_SHAPE when no sizes for the graph's symbols work. `opts` and `report` may be NULL. */
PmStatus pm_variants_make(const PmGraph *g, const PmVariantOpts *opts, PmVariantFn fn, void *arg,
			  PmVariantReport *report, PmErr *err);

#endif
