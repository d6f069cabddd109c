/* SPDX-License-Identifier: Apache-2.0 */
/* use.h - rewriting a model with the passes of a bank, and doing the same again by a lock file. */
#ifndef APP_BANK_USE_H
#define APP_BANK_USE_H

#include "app/apply/choose.h"
#include "app/bank/bank.h"

#define PM_BANK_LOCK_FORMAT "passmith lock 1"

/* A pass of the bank, and by what its regions are weighed. */
typedef struct PmBankOffer {
	const PmBankEntry *e; /* of the bank */
	char *path;           /* owned: of the object */
	double factor;  /* what was measured to be saved over what is modelled (PmChoosePass); 1 = nothing was
			 * measured */
	int n_measured; /* variants that the factor is of; 0 = by the plan alone */
	int n_other;    /* pieces that were measured on another architecture and are not used */
} PmBankOffer;

typedef struct PmBankOpts {
	int cc;         /* architecture to choose for, 90 for sm_90; 0 = none: only with any_arch is anything
			 * that was measured used */
	int any_arch;   /* what was measured on any architecture counts */
	double seconds; /* that each run of a pass may take */
	const cJSON *lock; /* do what this says (borrowed); NULL = choose */
} PmBankOpts;

typedef struct PmBankUse {
	PmBank bank;
	PmBankOpts opts;
	PM_VEC(PmBankOffer) offer; /* in the order of the bank, or of the lock */
	PmApply a;                 /* passes as in `offer` */
	PmChoice choice;
	char model_key[PM_SHA256_HEX]; /* of the canonical form of the model */
	cJSON *changed; /* sentences about what is not as the lock says; owned. With one, nothing is written
			 */
} PmBankUse;

/* Rewrites `g`, which it takes over, with the passes of the bank at `dir`. With a lock: with the passes that
 * it names, weighed as it says; u->changed says what is not so any more, and when the model or a pass has
 * changed, nothing is chosen (u->a.after is NULL). PM_E_INVALID when an object is not that of its entry.
 * Release *u in every case. */
PmStatus pm_bank_use(const char *dir, PmGraph *g, const PmBankOpts *opts, PmBankUse *u, PmErr *err);
void pm_bank_use_release(PmBankUse *u);

/* What was offered, and the regions that two passes wanted, as an object; owned. */
cJSON *pm_bank_use_json(const PmBankUse *u);
/* The lock of what was done: `out` is the file that was written, with this digest. Owned. */
cJSON *pm_bank_lock(const PmBankUse *u, const char *model, const char *out, const char *out_sha256,
		    int plain);
/* Reads a lock file. PM_E_INVALID when it is none. Owned in *out. */
PmStatus pm_bank_lock_read(const char *path, cJSON **out, PmErr *err);
/* Adds to u->changed when the file that was written is not the one that the lock names. */
void pm_bank_lock_compare(PmBankUse *u, const char *out_sha256);

#endif
