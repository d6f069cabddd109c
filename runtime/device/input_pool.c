/* SPDX-License-Identifier: Apache-2.0 */
/* input_pool.c - where the inputs of timed calls come from: drawn anew for every call. */
#include "runtime/device/input_pool.h"

#include "base/sys/threads.h"

#include <string.h>

static const uint64_t golden = 0x9e3779b97f4a7c15u;

int pm_input_pool_is_drawn(const PmInputPool *b, size_t i)
{
	return b->table && b->table[i].bytes > 0;
}

uint64_t pm_input_pool_base(const PmInputPool *b, uint64_t index, size_t i)
{
	return pm_mix64(pm_mix64(b->seed + golden * (index + 1)) + i);
}

/* --- drawn -----------------------------------------------------------------------------------------------
 */

uint64_t pm_input_pool_noise(int dtype)
{
	const PmFloatType *f = pm_float_type(dtype);

	return f ? ((uint64_t)1 << f->noise) - 1 : 0;
}

/* One step of the generator serves so many elements: what is left for each suffices for its place in the
 * table and its noise. */
static int64_t per_step(size_t size)
{
	return size <= 2 ? 4 : size == 4 ? 2 : 1;
}

/* Elements of a turn: a step of the generator serves no two of them. */
enum { TURN = 1 << 16 };

typedef struct Drawing {
	char *to;
	int64_t n;
	size_t size;
	uint64_t noise, base;
	const char *table;
} Drawing;

static void draw_turns(void *arg, int64_t from, int64_t to)
{
	const Drawing *d = arg;
	int64_t per = per_step(d->size), end = to * TURN < d->n ? to * TURN : d->n;
	unsigned shift = (unsigned)(per == 1 ? 0 : 64 / per);
	uint64_t h = 0;

	for (int64_t i = from * TURN; i < end; i++) {
		uint64_t v = 0;

		h = i % per ? h >> shift : pm_mix64(d->base + golden * (uint64_t)(i / per));
		memcpy(&v, d->table + (h & (PM_BANK_TABLE - 1)) * d->size, d->size);
		if (v & d->noise)
			v ^= h >> PM_BANK_TABLE_BITS & d->noise;
		memcpy(d->to + (size_t)i * d->size, &v, d->size);
	}
}

void pm_input_pool_draw(void *to, int64_t n, int dtype, const void *table, uint64_t base)
{
	Drawing d = { to, n, pm_dtype_size(dtype), pm_input_pool_noise(dtype), base, table };

	pm_threads_run((n + TURN - 1) / TURN, 1, draw_turns, &d);
}

/* --- turned ----------------------------------------------------------------------------------------------
 */

/* Rows stay whole, so that what holds for each row (a mask with something in it) goes on holding. */
void pm_input_pool_choice(const PmInputPool *b, uint64_t index, size_t i, size_t *from, size_t *turn)
{
	uint64_t h = pm_input_pool_base(b, index, i);
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

static void turn_input(const PmInputPool *pool, uint64_t index, size_t i, PmTensor *out)
{
	const PmTensor *t;
	size_t from, turn;

	pm_input_pool_choice(pool, index, i, &from, &turn);
	t = &pool->t[from];
	if (!t->bytes)
		return;
	memcpy(out->data, (const char *)t->data + turn, t->bytes - turn);
	memcpy((char *)out->data + (t->bytes - turn), t->data, turn);
}

/* --- both ------------------------------------------------------------------------------------------------
 */

PmStatus pm_input_pool_inputs(const PmInputPool *pool, uint64_t index, PmTensor *out, PmErr *err)
{
	PmStatus st = PM_OK;

	memset(out, 0, pool->n_in * sizeof *out);
	for (size_t i = 0; i < pool->n_in && !st; i++) {
		st = pm_tensor_init(&out[i], &pool->t[i].type, err);
		if (st)
			break;
		if (pm_input_pool_is_drawn(pool, i))
			pm_input_pool_draw(out[i].data, pm_tensor_numel(&out[i]), out[i].type.dtype,
					   pool->table[i].data, pm_input_pool_base(pool, index, i));
		else
			turn_input(pool, index, i, &out[i]);
	}
	for (size_t i = 0; st && i < pool->n_in; i++)
		pm_tensor_release(&out[i]);
	return st;
}

PmDigest pm_input_pool_digest(const PmInputPool *pool, const PmTensor *out, size_t n_out)
{
	PmDigest d = { { 0, 0 } };

	for (size_t i = 0; i < n_out; i++)
		if (out[i].bytes)
			pm_digest_add(&d, pool->digest, i, out[i].data, (int64_t)out[i].bytes);
	return d;
}
