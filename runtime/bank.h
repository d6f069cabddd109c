/* bank.h - where the inputs of timed calls come from: few stored sets, many different calls.
 *
 * A bank holds `n_sets` sets of `n_in` tensors, set after set. Inputs number `index` are, for each input,
 * some set's tensor with its rows moved around in a ring; then PM_BANK_EDITS elements of inputs that may be
 * edited are replaced by others of the same input, so that no two numbers give the same. Every fourth number
 * differs from the one before it in those elements only: whoever recognises inputs by a few of their elements
 * is wrong there. Everything follows from seed and number, on the host and on a device alike.
 */
#ifndef RUNTIME_BANK_H
#define RUNTIME_BANK_H

#include "runtime/digest.h"
#include "runtime/tensor.h"

enum { PM_BANK_EDITS = 8 };

typedef struct PmBank {
	const PmTensor *t;
	int n_sets;
	size_t n_in;
	uint64_t seed;
	const unsigned char *editable; /* per input: single elements may be replaced; NULL = none */
	uint64_t salt;                 /* of poison and of places: nothing that a result may depend on */
} PmBank;

/* Makes inputs number `index` (out[0 .. n_in), initialised here): for whoever checks what a call gave. */
PmStatus pm_bank_inputs(const PmBank *bank, uint64_t index, PmTensor *out, PmErr *err);
/* The digest of these outputs, as a sampler gives it. */
PmDigest pm_bank_digest(const PmBank *bank, const PmTensor *out, size_t n_out);

/* How a device makes the same from a stored bank: input i is tensor number `from`, turned by `turn` bytes. */
void pm_bank_choice(const PmBank *bank, uint64_t index, size_t i, size_t *from, size_t *turn);
/* Then, for edit 0 .. PM_BANK_EDITS - 1, `bytes` bytes at offset `to` of input `i` become those at offset
 * `at` of tensor number `from`. 0 when there is nothing to edit. */
typedef struct PmBankEdit {
	size_t i, from;
	int64_t to, at, bytes;
} PmBankEdit;
int pm_bank_edit(const PmBank *bank, uint64_t index, int edit, PmBankEdit *out);

#endif
