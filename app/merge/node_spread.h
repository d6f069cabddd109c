/* SPDX-License-Identifier: Apache-2.0 */
/* node_spread.h - runs that several nodes measured: how far their speedups lie apart. */
#ifndef APP_MERGE_NODE_SPREAD_H
#define APP_MERGE_NODE_SPREAD_H

#include "base/core/json.h"
#include "bench/score/spread.h"
#include "dataset/store/db.h"

typedef struct PmNodeSpread {
	int64_t run;
	const char *task, *pass; /* name, path; borrowed until the callback returns */
	PmSpread spread;         /* of ln(speedup) */
} PmNodeSpread;

/* Calls fn for each run with results that are OK from two nodes or more (a node is a host and its GPU), by
 * task and path of the pass. All measurements of a run are of one GPU model, driver and setting of clocks. A
 * status of fn other than PM_OK stops the walk and is returned. */
typedef PmStatus (*PmNodeSpreadFn)(void *arg, const PmNodeSpread *s, PmErr *err);
PmStatus pm_node_spread_each(PmDb *db, PmNodeSpreadFn fn, void *arg, PmErr *err);

/* Adds to `j` a member "spread" with an object for each (docs/reference/json/db.schema.json); where `runs` is
 * not NULL for those of its n runs alone. */
PmStatus pm_node_spread_json(PmDb *db, const int64_t *runs, size_t n, cJSON *j, PmErr *err);

#endif
