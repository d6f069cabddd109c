/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - what evaluations found, as text that depends on nothing else.
 *
 * The evidence of a measurement is its verdict and stage, digests (inputs, sources, PTX, machine code),
 * levels of correctness and counts. Times, dates, hosts, GPUs, paths, secrets and sentences are no part of
 * it. So two databases in which the same was found have the same evidence, whoever evaluated, where, and how
 * often.
 */
#ifndef APP_MERGE_EVIDENCE_H
#define APP_MERGE_EVIDENCE_H

#include "base/core/json.h"
#include "dataset/store/db.h"

#include <stdio.h>

/* The parts of evidence: conflicts.h compares them one by one. */
typedef enum {
	PM_EVIDENCE_DIGESTS, /* of code: what the pass made and what compilers made of it */
	PM_EVIDENCE_INPUTS,  /* digest of what was drawn */
	PM_EVIDENCE_LEVELS,  /* how right the outputs are; for the same inputs they are the same */
	PM_EVIDENCE_COUNTS,  /* nodes, kernels, launches, bytes, and of which plan */
	PM_N_EVIDENCE
} PmEvidencePart;
/* "digests", "inputs", "levels", "counts". */
const char *pm_evidence_name(PmEvidencePart part);

/* One part of a record (the JSON of a result) as an object; owned. What the record does not have is absent.
 */
cJSON *pm_evidence_part(const cJSON *record, PmEvidencePart part);

/* Writes the evidence of a database as JSON Lines, in an order made of content, as of one moment:
 *
 *   {"row":"result","task":HASH,"pass":SHA256,"device":...,"seed":...,"version":...,"options":...,"graph":HASH,
 *    "verdict":...,"stage":...,"digests":{...},"inputs":{...},"levels":{...},"counts":{...}}
 *   {"row":"hidden","task":HASH,...,"options":...,"verdict":...}
 *   {"row":"end","results":N,"hidden":N}
 *
 * The same evidence found twice is one line. Times taken elsewhere (`results import`) are none. `f` stays
 * open; the caller checks it for write errors when closing. PM_E_INVALID names a result that cannot be read.
 */
PmStatus pm_evidence_export(PmDb *db, FILE *f, PmErr *err);

#endif
