/* SPDX-License-Identifier: Apache-2.0 */
/* lib_algo.h - algorithms to compute what a PmLibCall says: as it stands, or a convolution as other calls
 * with kernels of our own before and after them.
 *
 * Descriptions only: which stages, on which memory. A device prepares and runs them (cuda_algo.c) and finds
 * out which algorithm is the fastest (cuda_trial.c). Every algorithm gives the same numbers but for the order
 * of sums: in half types a bias is added before the sum is rounded, so where a library adds none, it is what
 * y holds first.
 */
#ifndef RUNTIME_LIB_ALGO_H
#define RUNTIME_LIB_ALGO_H

#include "runtime/device/library.h"

enum { PM_ALGO_STAGES = 4, PM_ALGO_PLACES = 6, PM_ALGO_INTS = 32, PM_ALGO_BLOCK = 256 };

/* The algorithms, in the order in which they are tried. */
typedef enum {
	PM_ALGO_PLAIN,        /* the call itself */
	PM_ALGO_PRODUCT,      /* a convolution of single elements: weights times x */
	PM_ALGO_GATHERED,     /* the windows laid out as a matrix; weights times that */
	PM_ALGO_LAST,         /* channels last: x and weights turned, the result turned back */
	PM_ALGO_LAST_PRODUCT, /* of single elements: x turned, times weights, turned back */
	PM_ALGO_INTERLEAVED,  /* transposed, windows that do not overlap: a product, then its elements put in
				place */
	PM_ALGO_FOLDED, /* transposed: a product, of floats for half types, then sums of what reaches each
			  place */
	PM_ALGO_DOT, /* a product of at most PM_ALGO_DOT_ROWS rows, or a convolution that is one, by a kernel
		       of ours */
	PM_ALGO_PHASES_16, /* a convolution as products by a kernel of ours, one for each remainder of places
			      of y by the stride; sixteen channels of y a thread, */
	PM_ALGO_PHASES_8,  /* eight, */
	PM_ALGO_PHASES_4,  /* four */
	PM_N_ALGOS
} PmAlgoKind;

/* Where an operand lies: an argument of the call (library.h), or bytes into memory of the algorithm's own:
 * scratch, which lasts for one call, or what it keeps from one to the next. */
typedef struct PmAlgoPlace {
	int arg; /* 0 = y, 1 and 2 = factors, 3 = c or bias, PM_ALGO_SCRATCH, PM_ALGO_KEPT */
	int64_t offset;
} PmAlgoPlace;
enum { PM_ALGO_SCRATCH = 4, PM_ALGO_KEPT, PM_ALGO_N_ARGS, PM_ALGO_DOT_ROWS = 8 };

typedef struct PmAlgoStage {
	const char *entry; /* of kernels/lib_algo.cu with PM_ALGO_BLOCK threads; NULL = a library's call */
	int n_places, n_ints;
	PmAlgoPlace place[PM_ALGO_PLACES]; /* the kernel's pointers, or the call's arguments */
	int32_t v[PM_ALGO_INTS];           /* what follows the pointers */
	uint32_t blocks;
	PmLibCall call;
} PmAlgoStage;

typedef struct PmAlgo {
	PmAlgoKind kind;
	int dtype;     /* of all elements */
	int n, n_once; /* stages; the first of them, kernels, read constants alone: run once, before any call
			*/
	PmAlgoStage stage[PM_ALGO_STAGES];
	int64_t scratch, kept; /* bytes that the stages share, together at most PM_ALGO_MAX_SCRATCH */
} PmAlgo;
#define PM_ALGO_MAX_SCRATCH ((int64_t)512 << 20)

/* "plain", "product", ... */
const char *pm_algo_name(PmAlgoKind kind);

/* Describes the call by that algorithm; 0 when it cannot be done so, or is known not to be worth trying. */
int pm_algo_describe(const PmLibCall *call, PmAlgoKind kind, PmAlgo *out);

/* The text of lib_algo.cu, to be compiled for the element type. */
const char *pm_algo_source(void);
/* A number that another text seldom has (FNV-1a, 32 bits, http://www.isthe.com/chongo/tech/comp/fnv). */
uint32_t pm_algo_mark(void);

#endif
