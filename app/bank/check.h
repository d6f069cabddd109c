/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - whether a bank is as it was made. */
#ifndef APP_BANK_CHECK_H
#define APP_BANK_CHECK_H

#include "app/bank/bank.h"

/* Checks every entry, and appends to `problems`, an array, an object for each thing that is not in order:
 * {"entry": folder, "what": a sentence}.
 *
 *   the object      it has the digest that entry.json names, and `passmith check` accepts it
 *   files           each that is named is there and has its digest; no other file is there
 *   entry.json      it and each of its pieces of evidence have the digests that they name
 *   evidence        it is about this object, and still says that the pass is accepted
 *   records         the signature holds, and the record still gives the piece that was made of it
 *
 * Errors are of this machine. */
PmStatus pm_bank_check(const PmBank *b, cJSON *problems, PmErr *err);

#endif
