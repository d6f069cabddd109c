/* SPDX-License-Identifier: Apache-2.0 */
/* shape_table.h - sizes for a model's open dimensions, looked up in a published table: a yardstick.
 *
 * The method of GraphNet: the shapes of the inputs that have symbols are written as text, and a table gives
 * nine assignments for exactly that text. What this program uses by itself is extract/variants/variants.h.
 * The table is a JSON file:
 *
 *   { "tables": [ { "rules": { RULE: { "symbols": ["S0", ...], "values": [[...], ...] } },
 *                   "signatures": { "[(S0,3,S1,S1)]": RULE } } ] }
 *
 * Position k of a value belongs to symbols[k]; the first table that has the signature decides.
 */
#ifndef EXTRACT_SHAPE_TABLE_H
#define EXTRACT_SHAPE_TABLE_H

#include "base/core/json.h"
#include "ir/core/graph.h"

enum { PM_TABLE_SYMBOLS = 16 };

/* The signature of a graph: its inputs that have a symbol, each as a tuple without blanks, sorted by text;
 * symbols are S0, S1, ... in the order in which the inputs have them. *n symbols; name[k] is what the graph
 * calls Sk (borrowed). PM_E_LIMIT when there are more than PM_TABLE_SYMBOLS. */
PmStatus pm_shape_signature(const PmGraph *g, PmStr *out, const char *name[PM_TABLE_SYMBOLS], size_t *n,
			    PmErr *err);

/* Row number `index` for a signature: size[k] belongs to Sk, for the first n symbols. PM_E_NOT_FOUND when the
 * table has no such signature or row; PM_E_INVALID when it is not of the form above. `label` names the table
 * in errors. */
PmStatus pm_shape_table_find(const cJSON *table, const char *label, const char *signature, size_t index,
			     int64_t size[PM_TABLE_SYMBOLS], size_t n, PmErr *err);

#endif
