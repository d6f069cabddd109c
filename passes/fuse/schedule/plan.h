/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h - sections of a kernel: how threads share them, their text, what they cost. */
#ifndef PASSES_FUSE_PLAN_H
#define PASSES_FUSE_PLAN_H

#include "../product.h"

typedef struct Section {
	int dot;     /* its product; 0: none */
	int swapped; /* factors, and m and n, have changed places */
	int down;    /* neighbouring threads have neighbouring rows of the tile */
	Tile tile;
	Factor a, b;
	double wait;           /* microseconds until a tile is there */
	double fast_m, fast_n; /* elements of results that lie side by side along m, and along n */
	int n_out;
	int16_t out[F_ARGS];   /* results, by place in arg_out */
	int16_t shape[F_ARGS]; /* op by whose extents each is walked */
	uint32_t axes[F_ARGS]; /* of these, the bits of those that make up the row */
	int64_t rows;          /* 0: none, every element by itself */
	int64_t extent;        /* largest of its loops */
	int column;            /* neighbouring threads have neighbouring rows */
	int wide;              /* and so have the lanes of a vector: no two of one row */
	int turned; /* without rows: 1 + the axis of its results along which the lanes of a vector lie,
		       neighbouring threads on the axes behind it; 0: along the last one */
	int vec, group, per_block, block;
	int64_t blocks;
	int max_serial, keep;
	int hold; /* what its loops load stays in registers and shared memory up to the last, of so many
		     blocks on one multiprocessor; 0: it does not */
	int tail; /* what lanes would leave of a row for a last turn of few threads goes one element a thread
		   */
	int cut;  /* 1 + the axis of its results of which a row is a piece of `piece` elements, all other axes
		     are in `axes` too: nothing is reduced; 0: none */
	int64_t piece;
	int stage; /* results whose elements lie apart along a row, and side by side in neighbouring rows, are
		      stored through shared memory */
	int split; /* blocks that share a row, or a set of columns; 0: one */
	/* measured while it is written */
	double bytes, spread, work; /* bytes read and written; of them out of order; operations */
	double apart;               /* bytes of sectors that are written for a part of them */
	double lines;               /* of L1 that loads ask for, where lanes are in different ones */
	double across, along;       /* bytes that lie side by side in neighbouring rows, and along a row */
	double serial;              /* turns of loops of one thread */
	double looks;               /* and of those that look through the indices of a scatter */
	int cached, lane_loads, syncs;
	int n_reds, n_stages; /* reductions by rows, and launches that they take when it is split */
} Section;

/* Elements of a row that one vector holds. */
static inline int f_step(const Section *s)
{
	return s->wide ? 1 : s->vec;
}

/* Rows, or vectors of neighbouring rows: the threads of a group share one. */
static inline int64_t f_groups(const Section *s)
{
	return s->wide ? s->rows / s->vec : s->rows;
}

/* ---- plan.c, source.c, cost.c ---- */

/* Sections for the nodes that are in the set and the results in arg_out; 0 and c->fail when one kernel cannot
 * do it. */
int f_plan(Ctx *c);
/* Vectors and threads of a section (schedule.c). */
void f_schedule(Ctx *c, Section *s);
/* Measures the section with these vectors; 0 when that cannot be. */
int f_try_vec(Ctx *c, Section *s, int vec);
/* Elements of its narrowest floating point result that fill 16 bytes. */
int f_widest(const Ctx *c, const Section *s);
/* Whether the values that later loops ask for fit in the registers of g threads a row. */
int f_fits(const Section *s, int64_t g);
/* What each thread of a section that holds its rows has room for: words in registers, beside those that it
 * computes with, and bytes of its block's shared memory. */
int64_t f_held_words(const Section *s);
int64_t f_held_bytes(const Section *s);
/* Values that later loops ask for stay in registers, when they fit; measures what was decided, but for their
 * number: that was counted when all of them were kept. */
void f_decide_to_keep(Ctx *c, Section *s);
/* stage.c: whether results that lie across a row are stored through shared memory; of a section of rows, and
 * of one without, whose rows are then pieces of an axis. */
void f_stage_rows(Ctx *c, Section *s);
void f_stage_elements(Ctx *c, Section *s);
/* Bytes of shared memory that staged results take, as codegen has them. */
int64_t f_staged_bytes(const Ctx *c, const Section *s);
/* Whether much of what it reads is in sectors that it does not use. */
int f_lies_across(const Section *s);
/* Blocks that are to fit on a multiprocessor, of a kernel whose text is written: a large one waits for
 * memory, so that what its threads hold must leave room for others. */
int f_fit(const Ctx *c);
/* Words that each of g threads of a row keeps from loop to loop. */
int64_t f_kept_words(const Section *s, int64_t g);
/* split.c: whether many blocks are to share rows, after the threads have been decided. */
void f_split(Ctx *c, Section *s);
/* Reduction `number` of a split section, of n elements, all of this block's in `acc`: the parts of the blocks
 * are joined, or this block's is left for the next launch. */
void f_join_parts(Ctx *c, const Op *o, int acc, int number, int64_t n);
void f_leave_part(Ctx *c, const Op *o, int acc, int number, int64_t n);
/* The reduction that o is the second of, as norms and softmaxes have them inside; 0: none. */
int f_first_of(const Ctx *c, const Op *o);
/* The launch that leaves the parts of reduction `number`, the operation `op`. */
int f_stage_of(Ctx *c, int op, int number);
int f_stages(const Ctx *c);
int64_t f_scratch(const Ctx *c); /* bytes that the parts of split rows take */
/* Starts a section anew: no variables, no indices. */
void f_clear(Ctx *c, Section *s);
/* Product of the extents of these axes. */
int64_t f_rows_of(const Op *o, uint32_t axes);
/* Whether they have the same extents. */
int f_same_shape(const Op *a, const Op *b);
/* Builds the nest of a section, and measures it; 0 and c->fail when that cannot be. */
int f_build(Ctx *c, Section *s);
/* Results of the section that is built that have more than one element for each row. */
int f_along(const Ctx *c);
/* One kernel for each launch: fused0, fused1, ... with the blocks of each. */
int f_source(Ctx *c, PmText *t, int block, int64_t *blocks);
double f_kernel_time(const Ctx *c);
/* Launches of it. */
int f_launches(const Ctx *c);
/* The same after the constants of the target have changed, of a plan that was made with others. */
double f_kernel_time_again(Ctx *c);
/* Of it what one section takes. */
double f_section_time(const Section *s);
/* What copying those operands costs that are views of something outside the set. */
double f_copies(const Ctx *c);
/* A node by itself: microseconds, and launches with the copies of what the graph hands out. */
double f_library_time(const Ctx *c, const Node *n);
/* The same of a scatter whose bytes, and a launch, take so many microseconds (scatter.c). */
double f_scatter_time(const Ctx *c, const Op *o, double moving);
int f_has_product(const Ctx *c);
int f_library_launches(const Ctx *c, const Node *n);
/* Results of the set that are used outside become the kernel's. */
void f_results(Ctx *c);

/* ---- report.c ---- */

/* The operations of the set, one a line; what the kernel is estimated to take, of a plan that has been made.
 */
void f_report_operations(const Ctx *c, PmText *t);
void f_report_estimate(const Ctx *c, PmText *t);

/* ---- grow.c ---- */

/* Grows a region from the node that makes `seed`, and replaces it by a kernel when that saves time; else
 * declines with the reason. */
PmStatus f_grow(PmRegion *r, PmVal seed);

#endif
