/* SPDX-License-Identifier: Apache-2.0 */
/* input_pool.h - where the inputs of timed calls come from: drawn anew for every call, on the device.
 *
 * Inputs number `index` are, for each input, either
 *
 * - drawn: each element is one of the input's table of PM_BANK_TABLE legal values, chosen by a keyed
 * generator of (seed, index, input, element); where float and double have digits to spare, the lowest are
 * random too (12 of float's 23, 40 of double's 52; a value whose lowest digits are all zero stays as it is,
 * so that 0, 1, sixteenths and infinities are kept). No row occurs twice, in one call or in two; or
 * - turned: some stored set's tensor with its rows moved around in a ring. For inputs whose elements are tied
 *   to each other: masks with something in every row, indices of which none may be there twice, counts.
 *
 * Integer operations alone: everything follows from seed and number, bit for bit, on the host and on a device
 * (kernels/clock.cu) alike.
 */
#ifndef RUNTIME_INPUT_POOL_H
#define RUNTIME_INPUT_POOL_H

#include "runtime/device/digest.h"
#include "runtime/device/tensor.h"

enum { PM_BANK_TABLE_BITS = 12, PM_BANK_TABLE = 1 << PM_BANK_TABLE_BITS };

typedef struct PmInputPool {
	const PmTensor *t; /* n_sets * n_in, set after set; of a drawn input only the type counts, and there
			    * may be no elements */
	int n_sets;
	size_t n_in;
	/* Keys, each for one thing and each derived by itself (base/secret/secret.h): one that becomes known
	 * says nothing about another. */
	uint64_t seed;         /* of the inputs */
	uint64_t digest;       /* of digests of outputs, */
	uint64_t inner;        /* of digests of what lies between kernels, */
	uint64_t sketch;       /* and of the signs of sketches */
	const PmTensor *table; /* per input its table, or a tensor without elements: turned. NULL = all are */
	uint64_t salt;         /* of places, */
	uint64_t poison;       /* and of what outputs and scratch hold: nothing that a result may depend on */
	int mixed; /* calls that nobody times: half of them have buffers as in checked runs, and there are
		    * fewer of these, since a GPU takes long to map them */
} PmInputPool;

/* Makes inputs number `index` (out[0 .. n_in), initialised here): for whoever checks what a call gave. */
PmStatus pm_input_pool_inputs(const PmInputPool *pool, uint64_t index, PmTensor *out, PmErr *err);
/* The digest of these outputs, as a sampler gives it. */
PmDigest pm_input_pool_digest(const PmInputPool *pool, const PmTensor *out, size_t n_out);

/* How a device makes the same from a stored input pool. Of a turned input: tensor number `from`, turned by
 * `turn` bytes. */
int pm_input_pool_is_drawn(const PmInputPool *pool, size_t i);
void pm_input_pool_choice(const PmInputPool *pool, uint64_t index, size_t i, size_t *from, size_t *turn);
/* Of a drawn one: what its elements are generated from, and then n of them (of that dtype) into `to`, which
 * is aligned to its elements. */
uint64_t pm_input_pool_base(const PmInputPool *pool, uint64_t index, size_t i);
void pm_input_pool_draw(void *to, int64_t n, int dtype, const void *table, uint64_t base);
/* Bits that are random in an element of which any of them is set; 0 = the element is the table's. */
uint64_t pm_input_pool_noise(int dtype);

#endif
