/* SPDX-License-Identifier: Apache-2.0 */
/* record.h - a result that can be checked elsewhere: what was evaluated, drawn, compiled and found, sealed.
 *
 * The payload of the seal (base/secret/seal.h) is one line of JSON:
 *   format    "passmith record 1"
 *   passmith  the version
 *   machine   what was there and its version, as `passmith doctor` names it
 *   options   hidden, tf32, graphs, confirm: what the reports do not say
 *   graphs    variant, hash (canonical, everything in it) and text of each graph
 *   reports   as `passmith eval -o` writes them: digests of the object, of sources, PTX, machine code and
 * inputs, the secrets by which everything was drawn, verdicts and times
 */
#ifndef APP_RECORD_H
#define APP_RECORD_H

#include "app/eval/variant_list.h"
#include "base/core/json.h"
#include "base/secret/seal.h"

typedef struct PmRecordOpts {
	int64_t hidden;
	int tf32, graphs, confirm;
} PmRecordOpts;

/* Writes the sealed record of these reports about these graphs to `path`; key_path NULL = not signed. */
PmStatus pm_record_write(const char *path, const char *key_path, const cJSON *reports, const PmVariantList *m,
			 const PmRecordOpts *opts, PmErr *err);

/* Whether this key can sign: asked before an evaluation that takes long. */
PmStatus pm_record_try_key(const char *key_path, PmErr *err);

typedef struct PmRecord {
	PmStr text;     /* of the file */
	PmSealed seal;  /* points into it */
	cJSON *payload; /* owned */
	PmVariantList variants;
	PmRecordOpts opts;
} PmRecord;

/* Reads a record and its graphs. PM_E_INVALID when it is none, or when a graph is not the one whose hash
 * stands beside it. A signature that does not hold is for the caller to judge. Release *out also after a
 * failure. */
PmStatus pm_record_read(const char *path, PmRecord *out, PmErr *err);
void pm_record_release(PmRecord *r);

/* What this machine has, {"what": "version and path"}; owned. */
cJSON *pm_record_machine(void);

/* Appends a line for each thing in which a report made now differs from the recorded one, times left out; PTX
 * and machine code are compared where `same_compiler`. Returns the number of things compared. */
int pm_record_compare(const cJSON *recorded, const cJSON *now, int same_compiler, PmStr *differences);

#endif
