/* SPDX-License-Identifier: Apache-2.0 */
/* jsonl.h - a database as JSON Lines: one row a line, keys made of content, in an order made of content.
 *
 * Two databases that hold the same things export the same bytes, whatever order they were filled in, so that
 * exports can be compared with diff. Row numbers and the time of storing are left out. Lines are, in this
 * order:
 *
 *   {"row":"model","sha256":...,"path":...,"name":...,"opset":...,"nodes":...,"opaque":...,"error":...}
 *   {"row":"constraint","model":SHA256,"name":...,"verdict":...,"why":...,"options":...}
 *   {"row":"subgraph","hash":...,"kinds":[...],"text":...,"ref":...,"ref_why":...}
 *   {"row":"occurrence","model":SHA256,"subgraph":HASH,"nodes":"3,7"}
 *   {"row":"task","hash":...,"name":...,"kind":...,"split":...,...,"variants":[{"subgraph":HASH,...}]}
 *   {"row":"rejected","key":...,"subgraph":HASH,"rule":...,"why":...}
 *   {"row":"run","key":...,"task":HASH,...}
 *   {"row":"source","sha256":...,"text":...}
 *   {"row":"rewrite","hash":...,"code":...,"text":...,"sources":[SHA256,...]}
 *   {"row":"result","run":KEY,"task":HASH,"ordinal":...,"graph":HASH,...,"rewrite":HASH,"at":...,"origin":{...}}
 *   {"row":"hidden","run":KEY,"verdict":...,"json":TEXT,"at":...,"origin":{...}}
 *   {"row":"profile","task":HASH,"ordinal":...,"pass_sha256":...,"options":...,...,"json":TEXT}
 *   {"row":"trajectory","key":...,"kind":...,"task":HASH or "",...}
 *   {"row":"step","trajectory":KEY,"ordinal":...,"hash":...,"json":TEXT,...}
 *   {"row":"application","key":...,"model":SHA256,"name":...,"record":TEXT,...}
 */
#ifndef DATASET_JSONL_H
#define DATASET_JSONL_H

#include "dataset/store/db.h"

#include <stdio.h>

/* Bytes of a line. A graph has to fit, with the constants that stand in its text. */
enum { PM_JSONL_MAX_LINE = 64 << 20 };

/* Writes every row, as of one moment; PM_E_LIMIT when one is longer than can be read again. `f` stays open;
 * the caller checks it for write errors when closing. */
PmStatus pm_db_export(PmDb *db, FILE *f, PmErr *err);

/* Writes the rows of runs and of what came out of them, and no others: lines that pm_db_import takes where
 * the tasks are. */
PmStatus pm_db_export_runs(PmDb *db, FILE *f, PmErr *err);

/* Reads what pm_db_export wrote and stores what is not there, in batches. Nothing is believed: graphs are
 * parsed, their hashes and those of tasks are computed again and must agree with the file. `label` names the
 * file in errors. *n (may be NULL) counts the lines. What was stored before an error stays. */
PmStatus pm_db_import(PmDb *db, FILE *f, const char *label, int64_t *n, PmErr *err);

/* Stores in `to` what `from` holds. */
PmStatus pm_db_merge(PmDb *to, PmDb *from, int64_t *n, PmErr *err);

#endif
