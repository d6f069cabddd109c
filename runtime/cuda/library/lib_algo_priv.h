/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo_priv.h - what descriptions of algorithms are put together from; shared by lib_algo*.c. */
#ifndef RUNTIME_LIB_ALGO_PRIV_H
#define RUNTIME_LIB_ALGO_PRIV_H

#include "runtime/cuda/library/lib_algo.h"

/* The sizes that every algorithm needs. */
typedef struct PmAlgoSize {
	int64_t n, ci, co, taps;
	int64_t px, py; /* places of x and y */
	int64_t k;      /* ci * taps */
	int64_t batch;  /* of products: images or groups; 0 when there are several of both */
	int64_t bytes;  /* of an element */
} PmAlgoSize;

PmAlgoSize pm__algo_size_of(const PmLibCall *c); /* of a convolution */

/* At most PM_ALGO_HUGE, which stands for all that is more: no call has so many elements. Sizes are not
 * negative. */
#define PM_ALGO_HUGE ((int64_t)1 << 56)
int64_t pm__algo_product(const int64_t *v, int n);
/* Of three factors; PM_ALGO_HUGE and more as pm__algo_product. */
int64_t pm__algo_of_three(int64_t a, int64_t b, int64_t c);
/* Argument i of the call. */
PmAlgoPlace pm__algo_arg(int i);
/* Room for so many elements; too much for any algorithm where that is more than PM_ALGO_HUGE bytes. */
PmAlgoPlace pm__algo_scratch(PmAlgo *algo, int64_t elements, int64_t bytes);
/* 1 when no more is asked for than an algorithm may have. */
int pm__algo_has_room(const PmAlgo *algo);

/* A further stage: a kernel by its name. Its pointers and then its numbers are added in order. */
PmAlgoStage *pm__algo_stage(PmAlgo *algo, const char *entry);
void pm__algo_pointer(PmAlgoStage *s, PmAlgoPlace p);
void pm__algo_number(PmAlgoStage *s, int64_t v);
/* Lists over three dimensions; missing ones in front get `unit`. */
void pm__algo_three(PmAlgoStage *s, const int64_t *v, int spatial, int64_t unit);
/* Threads of a block that walk along that many places: 32 to all of them. */
int64_t pm__algo_lanes_for(int64_t places);

/* A further stage: the bias of each of `channels` planes of that many places, over and over up to `total`. */
void pm__algo_fill(PmAlgo *algo, PmAlgoPlace y, int64_t places, int64_t channels, int64_t total);
/* The numbers of one job of turning `batch` matrices of R x C elements of so many bytes; returns its blocks.
 * Both sides' addresses are multiples of `align`. */
int64_t pm__algo_turn(PmAlgoStage *s, int64_t batch, int64_t R, int64_t C, int64_t bytes, int64_t align);
/* Whether that is a job for the entries turn_wide and, of its first matrix, turn_in_wide. */
int pm__algo_turns_wide(int64_t R, int64_t C, int64_t bytes, int64_t align);
/* A further stage: one such job, by the entry that suits. */
void pm__algo_turn_stage(PmAlgo *algo, PmAlgoPlace to, PmAlgoPlace from, int64_t batch, int64_t R, int64_t C,
			 int64_t bytes, int64_t align);
/* A further stage: the weights, argument 2, as `batch` matrices of R x C, turned; returns where they lie
 * then. Constant ones are turned once: no other stage may stand before. */
PmAlgoPlace pm__algo_turn_weights(PmAlgo *algo, const PmLibCall *c, int64_t batch, int64_t R, int64_t C);
/* Blocks that fill so many. */
int64_t pm__algo_fill_blocks(int64_t total);

/* A further stage: a call, to be filled in, of operands that are aligned as buffers are. */
PmLibCall *pm__algo_call_stage(PmAlgo *algo, PmLibKind kind, int dtype);
/* Its result and factors; arguments of the call `from` are aligned as they are there. */
void pm__algo_operands(PmAlgo *algo, const PmLibCall *from, PmAlgoPlace y, PmAlgoPlace a, PmAlgoPlace b);

/* The algorithms of a convolution, as lib_algo.h lists them. 0 when it cannot be done so. */
int pm__algo_as_product(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z);
int pm__algo_as_gathered(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z);
int pm__algo_as_last(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z);
int pm__algo_as_last_product(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z);
int pm__algo_as_interleaved(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z);
int pm__algo_as_folded(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z);
/* A thread has that many channels of y: 4, 8 or 16. */
int pm__algo_as_phases(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z, int rows_each);
int pm__algo_as_dot_of_pixels(PmAlgo *algo, const PmLibCall *c, const PmAlgoSize *z);
/* Of a product. */
int pm__algo_as_dot(PmAlgo *algo, const PmLibCall *c);

#endif
