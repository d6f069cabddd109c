/* SPDX-License-Identifier: Apache-2.0 */
/* conflicts.h - evidence that contradicts itself: two answers to one question, both kept.
 *
 * The question is a run and a variant, or a run and its hidden shapes. Of two measurements of it must be
 * equal: verdicts   where both are decided (dataset/store/severity.def) digests    of code, where both
 * verdicts are OK counts     of kernels, launches and bytes, likewise levels     where both have the same
 * verdict and drew the same inputs What was drawn differs unless a plan gives the secret, so that other
 * digests of inputs contradict nothing.
 */
#ifndef APP_MERGE_CONFLICTS_H
#define APP_MERGE_CONFLICTS_H

#include "base/core/json.h"
#include "dataset/store/db.h"

/* Appends to `list` an object for each question with contradicting answers, by run and variant:
 *
 *   {"task":NAME,"task_hash":...,"pass":PATH,"pass_sha256":...,"device":...,"variant":LABEL,"ordinal":N,
 *    "what":["verdicts",...],"measurements":[{"verdict":...,"stage":...,"speedup":...,"counts":true,"key":...,
 *    "at":...,"origin":{...},"evidence":{"digests":...}}]}
 *
 * "variant" is null for hidden shapes. "evidence" holds the parts that "what" names. Nothing is changed. */
PmStatus pm_conflicts_find(PmDb *db, cJSON *list, PmErr *err);

#endif
