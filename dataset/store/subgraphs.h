/* SPDX-License-Identifier: Apache-2.0 */
/* subgraphs.h - stored graphs, named by their content, and where they were found. */
#ifndef DATASET_SUBGRAPHS_H
#define DATASET_SUBGRAPHS_H

#include "base/core/hash.h"
#include "base/core/str.h"
#include "dataset/store/db.h"
#include "ir/core/graph.h"

/* One stored graph. Strings are borrowed until the callback returns. */
typedef struct PmSubgraphRow {
	int64_t id;
	const char *hash, *structure,
		*shapes;  /* canonical hashes: full, structure, shapes (ir/canon/canon.h) */
	const char *kind; /* "fusible", "variant", ...; the first by name of several */
	int64_t n_nodes;
	const char *ops;                   /* operator names in execution order, with commas */
	const char *text;                  /* the graph with canonical names (ir/text/text.h) */
	int64_t n_found;                   /* occurrences in all models */
	int64_t op_seq;                    /* number of `ops`: equal lists have equal numbers */
	const char *shape_bucket, *dtypes; /* of the inputs (dataset/store/bucket.h) */
} PmSubgraphRow;

/* What stands for a graph in the database. */
typedef struct PmGraphKey {
	char full[PM_SHA256_HEX], structure[PM_SHA256_HEX], shapes[PM_SHA256_HEX];
} PmGraphKey;
/* The three hashes of a graph with all its data, structure and shapes. */
PmStatus pm_graph_key(const PmGraph *g, PmGraphKey *out, PmErr *err);
/* Appends the operator names in execution order, with commas. */
void pm_graph_ops(const PmGraph *g, PmStr *out);

/* Stores a graph, whose data must all be at hand, unless one of the same full hash is stored, and that it is
 * of this kind (a graph may be of several); *id receives its key and *is_new (may be NULL) 1 when it was not
 * there. Of the texts of one hash the least stays. `key` may be NULL: it is computed. */
PmStatus pm_subgraph_put(PmDb *db, const PmGraph *g, const PmGraphKey *key, const char *kind, int64_t *id,
			 int *is_new, PmErr *err);
/* The same in two steps, so that a batch holds the database no longer than it takes to write. The first makes
 * the row ready: bytes appended to *out, to be used by this program alone. The second stores it. */
PmStatus pm_subgraph_row_make(const PmGraph *g, const PmGraphKey *key, const char *kind, PmStr *out,
			      PmErr *err);
PmStatus pm_subgraph_row_put(PmDb *db, const char *row, int64_t *id, int *is_new, PmErr *err);
/* Stores that `subgraph` was found in `model` at these nodes (n > 0); the same again is no change. */
PmStatus pm_occurrence_put(PmDb *db, int64_t model, int64_t subgraph, const PmNode *nodes, size_t n,
			   PmErr *err);

/* Reads a graph back: by id, or by full hash or a prefix of it that is unique (8 digits at least). */
PmStatus pm_subgraph_get(PmDb *db, int64_t id, PmGraph **out, PmErr *err);
PmStatus pm_subgraph_find(PmDb *db, const char *hash_prefix, int64_t *id, PmErr *err);

/* Calls fn for stored graphs in the order stored: of one kind, or of all (NULL); of one model, or of all (0).
 */
typedef PmStatus (*PmSubgraphFn)(void *arg, const PmSubgraphRow *row, PmErr *err);
PmStatus pm_subgraphs_each(PmDb *db, const char *kind, int64_t model, PmSubgraphFn fn, void *arg, PmErr *err);

/* How often each stored graph occurs in each model. */
typedef PmStatus (*PmProvenanceFn)(void *arg, int64_t model, int64_t subgraph, int64_t count, PmErr *err);
PmStatus pm_provenance_each(PmDb *db, PmProvenanceFn fn, void *arg, PmErr *err);

/* Where a stored graph was found. Strings are borrowed until the callback returns. */
typedef struct PmOccurrenceRow {
	int64_t model, subgraph;
	const char *model_name;
	int64_t first_node, last_node;
	const char *nodes; /* node numbers in the imported model, ascending, with commas */
} PmOccurrenceRow;
typedef PmStatus (*PmOccurrenceFn)(void *arg, const PmOccurrenceRow *row, PmErr *err);
/* Calls fn for each place where the stored graph was found; a status other than PM_OK stops the walk and
 * is returned. */
PmStatus pm_occurrences_each(PmDb *db, int64_t subgraph, PmOccurrenceFn fn, void *arg, PmErr *err);

#endif
