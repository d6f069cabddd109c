/* SPDX-License-Identifier: Apache-2.0 */
/* extract.h - the subgraphs of a model, each as a graph with its hashes.
 *
 * Three kinds: fusible sets (extract/fusible.h), motifs of many models (extract/fold_dag.h), single operators
 * (extract/single.h). Making a task of one: extract/variants/variants.h and dataset/store/tasks.h.
 */
#ifndef EXTRACT_EXTRACT_H
#define EXTRACT_EXTRACT_H

#include "base/core/hash.h"
#include "extract/cut.h"
#include "extract/dedup.h"
#include "extract/fold_dag.h"
#include "extract/fusible.h"

typedef enum { PM_KIND_FUSIBLE, PM_KIND_CLASSICAL, PM_KIND_SINGLE, PM_N_KINDS } PmExtractKind;
const char *pm_extract_kind(PmExtractKind k); /* "fusible", "classical", "single": as stored */

typedef struct PmExtractOpts {
	PmFusibleOpts fusible;
	PmFoldDagOpts fold; /* when the model is folded alone */
	PmCutOpts cut;
	uint32_t kinds; /* 1 << PmExtractKind each; 0 = all */
	/* The model's motifs, found in it and others together; NULL: it is folded alone. Borrowed. */
	const PmNodeSets *motifs;
} PmExtractOpts;

/* One subgraph that was found; everything is borrowed until the callback returns. */
typedef struct PmExtracted {
	const PmGraph *sub; /* verified */
	PmExtractKind kind;
	const PmNode *nodes; /* in the model */
	size_t n;
	char full[PM_SHA256_HEX], structure[PM_SHA256_HEX], shapes[PM_SHA256_HEX];
	size_t seen; /* how often this full hash was met as this kind, this time included: 1 = new */
} PmExtracted;

typedef struct PmKindReport {
	size_t n_found;   /* subgraphs handed on; single operators: nodes in their classes */
	size_t n_new;     /* of them, seen for the first time */
	size_t n_covered; /* nodes of the model in them */
	size_t n_ops; /* the same with the views that were left out at their ends: coverage of operators */
	size_t n_launches; /* kernels that these nodes launch one by one */
	size_t n_not_connected, n_not_convex;
	size_t n_rejected; /* sets that could not be cut or did not verify, the last two included */
	char why[256];     /* the first reason, "" when there is none */
} PmKindReport;

typedef struct PmExtractReport {
	size_t n_nodes, n_opaque; /* of the model */
	size_t n_launches;        /* kernels that it launches one by one */
	PmKindReport kind[PM_N_KINDS];
} PmExtractReport;

/* Adds what one report counts to another. */
void pm_extract_report_add(PmExtractReport *sum, const PmExtractReport *r);

/* Counts hashes over several models, by kind. Returns owned. */
typedef struct PmExtractSeen {
	PmDedup *kind[PM_N_KINDS];
} PmExtractSeen;
/* Empty sets for all kinds. pm_extract_seen_release frees them. */
void pm_extract_seen_init(PmExtractSeen *s);
void pm_extract_seen_release(PmExtractSeen *s);

/* A status other than PM_OK stops the extraction and is returned. */
typedef PmStatus (*PmExtractFn)(void *arg, const PmExtracted *e, PmErr *err);

/* Hands every subgraph of a sorted, verified graph to fn, kind by kind in execution order: each place where a
 * set occurs, and of single operators the representatives. `opts`, `seen` (counts across calls) and `report`
 * may be NULL. */
PmStatus pm_extract_model(const PmGraph *g, const PmExtractOpts *opts, PmExtractSeen *seen, PmExtractFn fn,
			  void *arg, PmExtractReport *report, PmErr *err);

#endif
