/* SPDX-License-Identifier: Apache-2.0 */
/* judgelab.h - simulated kernels, honest and not, for the experiment that tells what the error bound is
 * worth.
 *
 * A simulated kernel runs a body (a graph of the operators that judgelab_ops.c knows) in float arithmetic of
 * its own: it shares no code with the reference or the bound. What a real kernel is free to choose is drawn:
 * which intermediate values are rounded to their type, the order of sums, and how functions and quotients are
 * evaluated. A cheat is one thing more that it does.
 */
#ifndef TESTS_LIB_JUDGELAB_H
#define TESTS_LIB_JUDGELAB_H

#include "ir/core/graph.h"
#include "runtime/device/tensor.h"

/* ---- kernels ---- */

/* In which order the terms of a sum are added. */
typedef enum JlOrder {
	JL_SEQUENTIAL,
	JL_REVERSED,
	JL_PAIRWISE,
	JL_BLOCKS_32, /* partial sums of so many terms, added one after the other */
	JL_BLOCKS_128,
	JL_BLOCKS_1024,
	JL_SPLIT,   /* eight long parts */
	JL_STRIDED, /* term i to lane i % 32, lanes added as a tree */
	JL_KAHAN,
	JL_N_ORDERS
} JlOrder;

/* What is done wrong inside of a kernel; beside these, judgelab_cheat.c spoils results. */
typedef struct JlWrong {
	const uint8_t *drop; /* of sums of n_drop terms: 1 for each term that is left out; NULL: none */
	int64_t n_drop;
	int factor;    /* the input of which half the mantissa is lost, or -1 */
	int cut;       /* it is cut off, not rounded */
	int narrow;    /* the element type that sums are kept in, or 0 */
	double units;  /* functions are wrong by so many units in the last place of their type */
	int gelu;      /* 1: x sigmoid(1.702 x), 2: by tanh, where the body has Erf or Tanh */
	int n_touched; /* result: how often that made a difference to what was computed */
} JlWrong;

typedef struct JlKernel {
	uint64_t seed;
	int exact;      /* no rounding at all, double precision: what the body means */
	double rounded; /* chance that an intermediate value is rounded to its type; 1: as the eager run does
			 */
	int keep;       /* results stay float too */
	JlOrder order;
	int fma, exp2, reciprocal,
		online; /* exp as a power of two, quotients as products, softmax in one go */
	double slack;   /* functions are off by up to so many 2^-24 besides */
	JlWrong *wrong; /* NULL: honest */
} JlKernel;

/* Each operator by itself: every value rounded, sums one term after the other. */
JlKernel jl_eager(void);
JlKernel jl_exact(void);
/* An honest kernel, drawn. */
JlKernel jl_honest(uint64_t seed);

/* Runs a sorted body of static types with one result of numel values into y, rounded to the result's type
 * unless `keep` or `exact`. Ends the program with a sentence for an operator that it does not know. */
void jl_run(const PmGraph *g, const PmTensor *in, const JlKernel *k, double *y);

/* Nearest value of an element type. */
double jl_round(int dtype, double x);
/* Distance of neighbouring values of the type at x. */
double jl_ulp(int dtype, double x);

/* ---- bodies ---- */

typedef struct JlSize {
	int64_t terms, outputs; /* of the longest sum; of the result */
} JlSize;

enum { JL_N_BODIES = 24, JL_N_TYPES = 3, JL_MAX_SIZES = 6 };

/* Name in reports. Static. */
const char *jl_body_name(int body);
const char *jl_type_name(int type); /* f32, f16, bf16 */
/* Input that loses its mantissa in the cheat of that kind. */
int jl_body_factor(int body);
int jl_body_n_sizes(int body);
JlSize jl_body_size(int body, int size);
/* Owned by the caller. Ends the program with a sentence when the text is wrong. */
PmGraph *jl_body_graph(int body, int type, int size);

/* ---- cheats ---- */

/* How many kinds of cheats there are, and the name of one. Static. */
int jl_n_cheats(void);
const char *jl_cheat_name(int cheat);
/* What the cheat makes of the body: y as of jl_run. Returns 0 when there is nothing to be done wrong in it
 * that way. `base` says how all else is computed; `kept` are its results with `keep`. */
int jl_cheat_run(int cheat, const PmGraph *g, const PmTensor *in, int body, JlSize size, const JlKernel *base,
		 const double *kept, double *y);

#endif
