/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - proof that a merged database holds what its parts held, and nothing else.
 *
 * What the parts hold is read from them before anything is merged; which measurement counts and the scores of
 * every run are computed from that anew.
 */
#ifndef APP_MERGE_VERIFY_H
#define APP_MERGE_VERIFY_H

#include "base/core/str.h"
#include "dataset/store/db.h"

typedef struct PmParts PmParts;

/* How much was compared. */
typedef struct PmVerified {
	size_t tasks, runs, measurements, results, scores;
} PmVerified;

/* What parts hold together; nothing so far; owned. */
PmParts *pm_parts_new(void);
/* Adds what a database holds: tasks, runs, measurements, verdicts on hidden shapes. */
PmStatus pm_parts_add(PmParts *u, PmDb *db, PmErr *err);
void pm_parts_free(PmParts *u); /* NULL is allowed */

/* Compares what the parts hold with a database: tasks, runs, measurements with all that they say, which of
 * them count, and the score of every run. *difference stays empty when all is equal, and else becomes a
 * sentence that names task, pass and variant of the first difference. */
PmStatus pm_parts_check(PmParts *u, PmDb *db, PmVerified *out, PmStr *difference, PmErr *err);

/* Compares the evidence (evidence.h) of two databases, the second made by one process, line by line. Where
 * the same runs have modelled times, their scores are compared too. *difference as above. */
PmStatus pm_evidence_same(PmDb *db, PmDb *one, PmVerified *out, PmStr *difference, PmErr *err);

#endif
