/* SPDX-License-Identifier: Apache-2.0 */
/* eager_bench.h - cases for the eager kernels of every operator, for tests that run or compile them.
 *
 * Each case is a node whose operands are inputs; all cases of a bench are one graph, so that its kernels are
 * compiled together. Everything fails the running cmocka test when it cannot be done.
 */
#ifndef TESTS_LIB_EAGER_BENCH_H
#define TESTS_LIB_EAGER_BENCH_H

#include "ir/core/graph.h"
#include "runtime/device/tensor.h"

enum { EAGER_MAX_CASES = 256, EAGER_MAX_VALUES = 1024 };

typedef struct EagerBench {
	PmGraph *g;
	size_t n;                        /* outputs */
	char name[EAGER_MAX_CASES][512]; /* per output */
	double rel[EAGER_MAX_CASES];     /* error allowed, see eval_same */
	PmTensor in[EAGER_MAX_VALUES];
} EagerBench;

/* A bench without nodes. Owned: eager_free. */
EagerBench *eager_open(void);
void eager_free(EagerBench *b);

/* Adds a node with n_out results; '#' in the operands (see one_node.h) becomes the dtype. */
void eager_add(EagerBench *b, int dtype, const char *op, const char *operands, const char *attrs,
	       size_t n_out);
/* Every element-wise row of ops.def that takes the dtype, on pairs of 15 values. */
void eager_add_rows(EagerBench *b, int dtype);
/* Reductions, products, pools, pads; norms, convolutions, averages; what moves elements. */
void eager_add_numbers(EagerBench *b, int dtype);
void eager_add_floats(EagerBench *b, int dtype);
void eager_add_moves(EagerBench *b, int dtype);
/* Operators whose result on infinities and NaN is worth a look. */
void eager_add_infinity(EagerBench *b, int dtype);
/* Casts between all types: truncate, saturate from floating point, wrap from integers, NaN is 0. */
void eager_add_casts(EagerBench *b);
/* Powers of two types: the result has the base's. */
void eager_add_powers(EagerBench *b);

/* Runs the graph on `ref` and on the device, compares every output, and frees the bench. Inputs are awkward
 * values in order, or small numbers whose sums are exact in every type. */
void eager_run(EagerBench *b, const char *device, int is_awkward);

/* What a bench is made of: one bit for each eager_add_... */
enum {
	EAGER_ROWS = 1,
	EAGER_NUMBERS = 2,
	EAGER_FLOATS = 4,
	EAGER_MOVES = 8,
	EAGER_INFINITY = 16,
	EAGER_CASTS = 32,
	EAGER_POWERS = 64
};

/* A case of its own: the cases of these parts in one type, added in that order, run on the device; on awkward
 * values where every part is made for them. Skips the running case without the device. */
void eager_check(const char *device, int dtype, unsigned parts);
/* The same for the numbers of several integer types, the moves of bool and a mean of integers. */
void eager_check_integers(const char *device, const int *types, size_t n);

#endif
