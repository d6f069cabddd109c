/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.h - automatic fusion: what the parts of the plugin share.
 *
 * From a set of nodes to a kernel there is a folder for each stage. What a stage keeps is in its own
 * structure:
 *
 *   index/     Index  linear forms over loop variables, their quotients and remainders
 *   lower/     Graph  nodes as operations of a small IR; composite operators in parts
 *   loop/      Nest   what the threads of a section do, as data; as text, and back
 *   emit/      Build  operations at coordinates become statements of a nest
 *   schedule/         sections, what a row is, how threads share one, tiles of a product
 *   cost/      Cost   what a nest does to memory and threads, and microseconds of that
 *   codegen/   Gen    CUDA text of a nest's statements
 *
 * emit/eval*.c have the operators, memo.c which values are known already, order.c sums that are asked for at
 * several places, early.c loads that are issued before anything waits for one, address.c and results.c what
 * stands around a product. In schedule/, split.c has rows that many blocks share, stage.c results that go
 * through shared memory. Beside the folders:
 *
 *   cluster.c  Grow   which nodes to take together
 *   source.c          the kernel's text: its sections one after another
 *   product.c         a section that begins with a product; product.cu makes its tile
 *   front.c           a product in a launch of its own, in front; front*.cu
 *   round.cu          how values of 16 bits are rounded
 *   report.c          what is said about a kernel to whoever asks
 *   fuse.c            the rule
 *
 * emit/, schedule/ and the files beside them share a candidate, Ctx. cost/target.h has the GPU: no number of
 * one stands in the other files. index/limits.h says how much of everything there is room for.
 *
 * Nothing is stored between operations: a value is computed where it is asked for, at the coordinates it is
 * asked at. So views, slices and concatenations become index arithmetic, and a set of nodes is one kernel
 * exactly if the reductions in it can be shared by the threads of a row. docs/design/fusion.md tells the
 * rest.
 */
#ifndef PASSES_FUSE_H
#define PASSES_FUSE_H

#include "./cost/target.h"
#include "./emit/eval.h"
#include "./schedule/plan.h"

enum { F_TEXT = 192 << 10, F_LAUNCHES = F_SPLITS + 2 };

typedef struct Ctx {
	const char *fail; /* why this cannot be done; NULL so far */

	Graph *g;
	Index *ix; /* indices of the section that is built */

	/* the section that is built, and how */
	Section *s;
	int choice;                      /* which of the kernels that may be tried is planned; 0: the best */
	int other;                       /* make the second choice of threads and vectors */
	int rank;                        /* of a product's tiles, by their estimates; 0: the best */
	int sums;                        /* products are sums like others */
	int apart;                       /* the product has a launch of its own, `front` */
	int alone;                       /* short reductions are each thread's own */
	int shorts;                      /* short reductions that were met where rows are looked for */
	int keep;                        /* values stay in registers from loop to loop */
	Build b;                         /* the nest that is built */
	int64_t early_words, kept_words; /* that a thread keeps for them, and from loop to loop */
	uint64_t vec_in, vec_out;        /* bits of the arguments that are read or written by vectors */
	int stage;                       /* the launch that is made of a split section */

	/* arguments of the kernel */
	int32_t arg_in[F_ARGS], arg_out[F_ARGS];
	int n_arg_in, n_arg_out, n_known_in; /* n_known_in: operands that have their places */
	Section section[F_SECTIONS], front;
	int n_sections;

	/* its text */
	PmText sections; /* of the launch that is written */
	Uses uses;
	Uses used[F_LAUNCHES];

	PmText *report; /* where nests are added for whoever asks; NULL: nobody does */
} Ctx;

/* An empty one, and its memory; NULL when there is none. */
Ctx *f_new(void);

/* What an index that is the same for all elements of a row may depend on. */
static inline uint32_t f_row_deps(const Ctx *c)
{
	return DEP_ROW | (c->s->wide ? DEP_LANE : 0);
}

/* What is known inside a branch or a loop of one thread is forgotten behind it. */
static inline int f_mark(const Ctx *c)
{
	return c->b.at_row ? c->b.n_row : c->b.n_memo;
}

/* Drops what has come to be known since f_mark() gave `mark`. */
static inline void f_forget(Ctx *c, int mark)
{
	if (c->b.at_row)
		c->b.n_row = mark;
	else
		c->b.n_memo = mark;
}

#endif
