/* bank.c - where the inputs of timed calls come from. */
#include "runtime/bank.h"

#include <string.h>

static const uint64_t golden = 0x9e3779b97f4a7c15u;

/* Rows stay whole, so that what holds for each row (a mask with something in it) goes on holding. */
void pm_bank_choice(const PmBank *b, uint64_t index, size_t i, size_t *from, size_t *turn)
{
	uint64_t base = b->editable && index % 4 == 3 ? index - 1 : index;
	uint64_t h = pm_mix64(pm_mix64(b->seed + golden * (base + 1)) + i);
	const PmTensor *t;
	size_t row;

	*from = (size_t)(h % (uint64_t)b->n_sets) * b->n_in + i;
	*turn = 0;
	t = &b->t[*from];
	if (!t->bytes)
		return;
	row = pm_dtype_size(t->type.dtype);
	if (t->type.rank > 1 && t->bytes > row * (size_t)t->type.dim[t->type.rank - 1])
		row *= (size_t)t->type.dim[t->type.rank - 1];
	*turn = (size_t)(h >> 20) % (t->bytes / row) * row;
}

/* The editable input number `nth` of those there are, round and round; n_in when there is none. */
static size_t nth_editable(const PmBank *b, uint64_t nth)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_in; i++)
		n += b->editable[i] && b->t[i].bytes;
	if (!n)
		return b->n_in;
	nth %= n;
	for (size_t i = 0; i < b->n_in; i++)
		if (b->editable[i] && b->t[i].bytes && nth-- == 0)
			return i;
	return b->n_in;
}

int pm_bank_edit(const PmBank *b, uint64_t index, int edit, PmBankEdit *out)
{
	uint64_t h = pm_mix64(pm_mix64(~b->seed + golden * (index + 1)) + (uint64_t)edit), k = pm_mix64(h);
	uint64_t elements;

	out->i = b->editable ? nth_editable(b, h >> 7) : b->n_in;
	if (out->i == b->n_in)
		return 0;
	out->bytes = (int64_t)pm_dtype_size(b->t[out->i].type.dtype);
	elements = (uint64_t)(b->t[out->i].bytes / (size_t)out->bytes);
	out->from = (size_t)((k >> 50) % (uint64_t)b->n_sets) * b->n_in + out->i;
	out->to = (int64_t)((h >> 20) % elements) * out->bytes;
	out->at = (int64_t)(k % elements) * out->bytes;
	return 1;
}

PmStatus pm_bank_inputs(const PmBank *bank, uint64_t index, PmTensor *out, PmErr *err)
{
	PmStatus st = PM_OK;
	PmBankEdit e;

	memset(out, 0, bank->n_in * sizeof *out);
	for (size_t i = 0; i < bank->n_in && !st; i++) {
		const PmTensor *t;
		size_t from, turn;

		pm_bank_choice(bank, index, i, &from, &turn);
		t = &bank->t[from];
		st = pm_tensor_init(&out[i], &t->type, err);
		if (st || !t->bytes)
			continue;
		memcpy(out[i].data, (const char *)t->data + turn, t->bytes - turn);
		memcpy((char *)out[i].data + (t->bytes - turn), t->data, turn);
	}
	for (int k = 0; k < PM_BANK_EDITS && !st && pm_bank_edit(bank, index, k, &e); k++)
		memcpy((char *)out[e.i].data + e.to, (const char *)bank->t[e.from].data + e.at,
		       (size_t)e.bytes);
	for (size_t i = 0; st && i < bank->n_in; i++)
		pm_tensor_release(&out[i]);
	return st;
}

PmDigest pm_bank_digest(const PmBank *bank, const PmTensor *out, size_t n_out)
{
	PmDigest d = { { 0, 0 } };

	for (size_t i = 0; i < n_out; i++)
		if (out[i].bytes)
			pm_digest_add(&d, bank->seed, i, out[i].data, (int64_t)out[i].bytes);
	return d;
}
