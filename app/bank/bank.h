/* SPDX-License-Identifier: Apache-2.0 */
/* bank.h - a bank: a folder of passes that were accepted, each with the evidence for it.
 *
 *   DIR/NAME-DIGEST/            one for each pass; DIGEST is the first 12 digits of the object's SHA-256
 *     NAME.so                   the object
 *     source/FILE               its sources, when they were given
 *     records/DIGEST.record     sealed records that were given
 *     entry.json                what is here and what was found (docs/reference/bank.md)
 *
 * entry.json is written last, and every file by a temporary name, so that a pass is there as a whole or not
 * at all.
 */
#ifndef APP_BANK_BANK_H
#define APP_BANK_BANK_H

#include "base/core/hash.h"
#include "base/core/json.h"
#include "base/core/vec.h"

#define PM_BANK_FORMAT "passmith bank 1"

typedef struct PmBankEntry {
	char *folder; /* owned: its name in the bank */
	cJSON *json;  /* owned: entry.json */
} PmBankEntry;

typedef struct PmBank {
	char *dir;                 /* owned */
	PM_VEC(PmBankEntry) entry; /* by name of the folder */
} PmBank;

/* Reads a bank. PM_E_NOT_FOUND when the folder is not there, PM_E_INVALID names an entry.json that is none.
 * Folders without entry.json are passed over. Release *out in every case. */
PmStatus pm_bank_open(const char *dir, PmBank *out, PmErr *err);
void pm_bank_release(PmBank *b);

/* "silu", and the SHA-256 of its object; borrowed, "" where entry.json lacks it. */
const char *pm_bank_name(const PmBankEntry *e);
const char *pm_bank_sha256(const PmBankEntry *e);
/* Appends the path of a file of the entry; "" = of its folder. */
void pm_bank_path(const PmBank *b, const PmBankEntry *e, const char *file, PmStr *out);
/* Appends the path of its object. */
void pm_bank_object(const PmBank *b, const PmBankEntry *e, PmStr *out);
/* Its pieces of evidence, an array; never NULL. */
const cJSON *pm_bank_evidence(const PmBankEntry *e);
/* The entry of these bytes; NULL when there is none. */
const PmBankEntry *pm_bank_find(const PmBank *b, const char *sha256);

/* SHA-256 of an object as text, without its member "digest". */
void pm_bank_digest(const cJSON *object, char hex[PM_SHA256_HEX]);
/* Sets the member "digest" to that. */
void pm_bank_seal(cJSON *object);

#endif
