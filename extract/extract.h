/* extract.h - the fusible subgraphs of a model, each as a graph with its hashes.
 *
 * Making a task of one: extract/variants.h and dataset/tasks.h.
 */
#ifndef EXTRACT_EXTRACT_H
#define EXTRACT_EXTRACT_H

#include "base/hash.h"
#include "extract/cut.h"
#include "extract/dedup.h"
#include "extract/fusible.h"

typedef struct PmExtractOpts {
	PmFusibleOpts fusible;
	PmCutOpts cut;
} PmExtractOpts;

/* One subgraph that was found; everything is borrowed until the callback returns. */
typedef struct PmExtracted {
	const PmGraph *sub;  /* verified */
	const PmNode *nodes; /* in the model, in execution order */
	size_t n;
	char full[PM_SHA256_HEX], structure[PM_SHA256_HEX], shapes[PM_SHA256_HEX];
	size_t seen; /* how often this full hash was met, this time included: 1 = new */
} PmExtracted;

typedef struct PmExtractReport {
	size_t n_nodes, n_opaque; /* of the model */
	size_t n_found;           /* subgraphs handed on */
	size_t n_new;             /* of them, seen for the first time */
	size_t n_covered;         /* nodes in them */
	size_t n_rejected;        /* sets that could not be cut or did not verify */
	char why[256];            /* the first reason, "" when there is none */
} PmExtractReport;

/* A status other than PM_OK stops the extraction and is returned. */
typedef PmStatus (*PmExtractFn)(void *arg, const PmExtracted *e, PmErr *err);

/* Hands every fusible subgraph of a sorted, verified graph to fn, in execution order, one for each place
 * where it occurs. `seen` (may be NULL) counts across calls. `opts` and `report` may be NULL. */
PmStatus pm_extract_model(const PmGraph *g, const PmExtractOpts *opts, PmDedup *seen, PmExtractFn fn,
			  void *arg, PmExtractReport *report, PmErr *err);

#endif
