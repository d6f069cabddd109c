/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.h - what was found of a pass, as pieces of evidence for a bank, and whether that is enough.
 *
 * A piece is one evaluation of the pass on one task. It is an object (docs/reference/bank.md): task, device
 * and machine, version, score, and of each variant the verdict, the speedup and the speedup that the model
 * gives. */
#ifndef APP_BANK_EVIDENCE_H
#define APP_BANK_EVIDENCE_H

#include "base/core/json.h"
#include "dataset/store/db.h"
#include "matcher/host/object.h"

/* What to look at in a database. */
typedef struct PmBankQuery {
	const char *const *task; /* ids, names or hashes; n_tasks 0 = all */
	size_t n_tasks;
	const char *device; /* NULL = all */
} PmBankQuery;

/* Appends to `list` a piece for each finished evaluation of the object that the database has, in the order
 * stored; of several with the same task, device, machine, version, options and seed there is one. A run that
 * was interrupted is none. PM_E_NOT_FOUND when there is none at all, with what to do. */
PmStatus pm_bank_from_db(PmDb *db, const PmObject *object, const PmBankQuery *q, cJSON *list, PmErr *err);
/* The same from a sealed record (passmith eval --record). PM_E_INVALID when the signature does not hold, or
 * is not of `key` (NULL = any, or none). PM_E_NOT_FOUND when no report is of the object. */
PmStatus pm_bank_from_record(const char *path, const char *key, const PmObject *object, cJSON *list,
			     PmErr *err);

/* 1 when the pieces say that the pass is accepted: right wherever it matched, on every variant of every task
 * and on hidden shapes, and every score above `above`. Else *why becomes a sentence about the first that is
 * not so. */
int pm_bank_accepts(const cJSON *list, double above, PmStr *why);

/* Compute capability of the GPU that a piece was measured on, 90 for sm_90; 0 = its times are modelled, or it
 * is not known. */
int pm_bank_cc(const cJSON *evidence);
/* 1 when its times were measured. */
int pm_bank_is_measured(const cJSON *evidence);
/* Sum of ln(speedup) over the variants of a piece on which the pass matched; returns how many these are. */
int pm_bank_logs(const cJSON *evidence, double *sum);
/* Sums, over the same variants, of the share of the baseline's time that the pass saves (1 - 1 / speedup), as
 * found and as modelled; returns how many these are. */
int pm_bank_savings(const cJSON *evidence, double *found, double *modelled);

#endif
