/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - what an evaluation has finished so far, as lines of JSON in a file (`passmith eval --progress`).
 *
 * Each line is one object, written at once when it is known:
 *   {"event": "begin", "pass": PATH, "variants": N}     a pass begins; N variants will have a record
 *   {"event": "variant", "number": K, "seconds": S, "stored": B, "record": {...}}
 * in the order in which variants end, which is not that of their numbers where several run at once. S:
 * seconds since the pass began; B: the record was in the database before. The record is that of the report
 * (docs/reference/json/eval.schema.json) without what was drawn for it: its secret and its digest of inputs
 * are told at the end alone. Hidden shapes have no line. With --gpus a GPU may be left in the middle of a
 * pass: the pass begins again on another one, with a line "begin" of its own, and what came before it does
 * not count. */
#ifndef APP_EVENTS_H
#define APP_EVENTS_H

#include "bench/eval/runner.h"

typedef struct PmEvents PmEvents;

/* Makes the file, or empties it. PM_E_IO or PM_E_NOT_FOUND where it cannot be written. */
PmStatus pm_events_open(const char *path, PmEvents **out, PmErr *err);
/* NULL is allowed here and below, and then nothing is written. */
void pm_events_close(PmEvents *e);
PmStatus pm_events_begin(PmEvents *e, const char *pass, size_t n, PmErr *err);
PmStatus pm_events_variant(PmEvents *e, int64_t number, const PmEvalRecord *rec, int stored, PmErr *err);

#endif
