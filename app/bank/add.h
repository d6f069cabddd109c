/* SPDX-License-Identifier: Apache-2.0 */
/* add.h - putting an accepted pass into a bank. */
#ifndef APP_BANK_ADD_H
#define APP_BANK_ADD_H

#include "app/bank/bank.h"
#include "matcher/host/object.h"

/* What belongs to a pass beside its object. Borrowed. */
typedef struct PmBankFiles {
	const char *const *source; /* paths */
	size_t n_sources;
	const char *record; /* path of a sealed record, or NULL */
	double above;       /* the score that was asked for, which pm_bank_check asks for again */
} PmBankFiles;

typedef struct PmBankAdded {
	char *folder; /* owned: of the entry, in the bank */
	int is_new;   /* the pass was not there */
	int n_new;    /* pieces of evidence that were not there */
	int n;        /* pieces it has now */
} PmBankAdded;

/* Puts the pass into the bank at `dir`, which is made when it is not there, with these pieces of evidence
 * (evidence.h), and what was found there stays: a piece with the same key is replaced, sources of other names
 * are kept. Two processes that add to one bank wait for each other. Release *out after success. */
PmStatus pm_bank_add(const char *dir, const PmObject *object, const cJSON *evidence, const PmBankFiles *files,
		     PmBankAdded *out, PmErr *err);

#endif
