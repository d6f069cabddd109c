/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - what an earlier evaluation drew, read from the report that `passmith eval -o` wrote. */
#ifndef APP_REPLAY_H
#define APP_REPLAY_H

#include "app/eval/variant_list.h"
#include "base/core/json.h"
#include "bench/eval/runner.h"

typedef struct PmReplayFile {
	const char *path; /* borrowed */
	cJSON *json;      /* owned */
} PmReplayFile;

/* Reads a report. PM_E_INVALID when it is none. Release *out also after a failure. */
PmStatus pm_replay_open(const char *path, PmReplayFile *out, PmErr *err);
void pm_replay_release(PmReplayFile *f);

/* The part of the report about the pass that *r is of (borrowed): that of the same bytes, or the only one,
 * which may be of an earlier build. Each variant must have a record there with a secret; when the report has
 * left some out, the first pm_replay_n of them. */
PmStatus pm_replay_find(const PmReplayFile *f, const PmEvalReport *r, const PmVariantList *variants,
			const cJSON **out, PmErr *err);
size_t pm_replay_n(const cJSON *part); /* records */
/* The secret of the record of variant i, and of the hidden shapes (NULL = none were drawn). */
const char *pm_replay_secret(const cJSON *part, size_t i);
const char *pm_replay_hidden(const cJSON *part);
/* How many of the records of *r have the verdict that the report has. */
size_t pm_replay_agrees(const cJSON *part, const PmEvalReport *r);

#endif
