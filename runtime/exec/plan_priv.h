/* SPDX-License-Identifier: Apache-2.0 */
/* plan_priv.h - the plan's inside: where values live, which launches compute them; shared by plan*.c,
 * eager_*.c and exec.c.
 *
 * A value lives at a Loc: elements of a buffer with an offset and strides (in elements; 0 repeats, negative
 * runs backwards). Views are new Locs on an old buffer. Every launch writes fresh contiguous buffers.
 */
#ifndef RUNTIME_PLAN_PRIV_H
#define RUNTIME_PLAN_PRIV_H

#include "base/core/vec.h"
#include "ir/core/graph.h"
#include "ir/core/kernel.h"
#include "runtime/device/library.h"
#include "runtime/exec/exec.h"

enum { PM__BLOCK = 256 }; /* threads of a block of an eager kernel */

typedef struct Loc {
	int buf; /* index into buffers; -1 = not placed */
	int64_t off;
	int64_t stride[PM_MAX_RANK];
} Loc;

typedef struct Buffer {
	int64_t bytes;
	PmBufUse use;
	PmValue value; /* INPUT: the graph input or constant uploaded into it */
	int is_const;
	int holds_value; /* of the graph, and not what a kernel wants for itself */
} Buffer;

typedef struct Step {
	const char *label; /* arena */
	int source;        /* index into sources; -1 = a view, nothing to launch */
	const char *entry;
	uint32_t grid[3], block[3], smem;
	PmDevArg *args; /* arena; BUF arguments carry buffer index + 1 in buf.id */
	int n_args;
	int64_t bytes, flops;
	int flop_class;      /* index into PmProfile.flops_per_second */
	int fused;           /* of a Kernel node */
	int depthwise;       /* our convolution of each channel by itself (eager_depth.c): how; 0: none */
	double wait_seconds; /* modelled: that it takes at least, beside its overhead */
	uint32_t node;       /* id of the node that it is launched for; 0 = of a result of the graph */
	PmLibCall *lib;      /* arena; the same as a library's call, NULL when it cannot be one */
} Step;

struct PmPlan {
	const PmGraph *g;
	const PmTarget *target; /* that launches are made for */
	PmArena *arena;
	Loc *loc; /* by value id */
	PM_VEC(Buffer) buffers;
	PM_VEC(Step) steps;
	PM_VEC(PmSource) sources;
	PM_VEC(int) outputs; /* buffer of each graph output */
	uint32_t *counts;    /* pm_plan_count: launches by node id; else NULL */
};

/* One launch being described: its source text and arguments grow together, so that they cannot disagree. */
typedef struct KGen {
	PmPlan *p;
	PmNode node;
	int dtype;    /* what T stands for */
	PmStr head;   /* #define lines */
	PmStr params; /* the parameter list */
	PM_VEC(PmDevArg) args;
	int64_t bytes;
} KGen;

/* An index space that several places are walked over, after adjacent dimensions that all of them walk alike
 * were merged and those of one element left out. Rank is at least 1; the last dimension varies fastest. */
typedef struct PmSpace {
	int rank, n; /* dimensions, places */
	int64_t total;
	int64_t dim[2 * PM_MAX_RANK], stride[PM_MAX_OPERANDS][2 * PM_MAX_RANK];
} PmSpace;

/* How a convolution of each channel by itself is shared. */
enum { PM__BY_STRIPS = 1, PM__BY_TILES };

/* Blocks of a launch (x varies fastest) and threads of each. */
typedef struct PmGrid {
	int64_t x, y;
	int block;
} PmGrid;

typedef PmStatus (*PmEagerFn)(PmPlan *p, PmNode n, PmErr *err);

/* eager_*.c: one planner per reference token of ops.def, called eager_<token>. */
#define PM__EAGER(token) PmStatus eager_##token(PmPlan *p, PmNode n, PmErr *err)
PM__EAGER(ew);
PM__EAGER(identity);
PM__EAGER(bit_cast);
PM__EAGER(reduce);
PM__EAGER(softmax);
PM__EAGER(layer_norm);
PM__EAGER(batch_norm);
PM__EAGER(rms_norm);
PM__EAGER(quantize);
PM__EAGER(dequantize);
PM__EAGER(grid_sample);
PM__EAGER(roi_align);
PM__EAGER(col2im);
PM__EAGER(det);
PM__EAGER(lrn);
PM__EAGER(lp_norm);
PM__EAGER(arg);
PM__EAGER(dft);
PM__EAGER(trilu);
PM__EAGER(size);
PM__EAGER(resize);
PM__EAGER(conv_transpose);
PM__EAGER(depth_to_space);
PM__EAGER(group_norm);
PM__EAGER(cum_sum);
PM__EAGER(einsum);
PM__EAGER(matmul);
PM__EAGER(gemm);
PM__EAGER(conv);
PM__EAGER(max_pool);
PM__EAGER(average_pool);
PM__EAGER(global_pool);
PM__EAGER(transpose);
PM__EAGER(reshape);
PM__EAGER(expand);
PM__EAGER(slice);
PM__EAGER(split);
PM__EAGER(concat);
PM__EAGER(gather);
PM__EAGER(gather_elements);
PM__EAGER(gather_nd);
PM__EAGER(scatter_elements);
PM__EAGER(scatter_nd);
PM__EAGER(pad);
PM__EAGER(tile);
PM__EAGER(shape);
PM__EAGER(constant_of_shape);
PM__EAGER(hardmax);
PM__EAGER(top_k);
PM__EAGER(one_hot);
PM__EAGER(reverse_sequence);
PM__EAGER(eye_like);
PM__EAGER(range);
PM__EAGER(non_zero);
PM__EAGER(random);
PM__EAGER(none);
/* Rows without a kernel: their results are as large as their data say, which no plan can know. */
#define eager_unique              eager_none
#define eager_non_max_suppression eager_none
PmStatus pm__plan_kernel(PmPlan *p, PmNode n, int alt, PmErr *err);
/* By value id, how many elements of a value the graph's outputs need at most, in the arena. Operators that
 * move elements and element-wise ones need one for each of their results: of a table that is gathered from as
 * much as the rows that are picked. All others need their operands whole. A very large number where a type is
 * open. */
int64_t *pm__needed(const PmGraph *g, PmArena *arena);

/* ---- places (plan.c) ---- */

const PmType *pm__type(const PmPlan *p, PmValue v);
Loc *pm__loc(const PmPlan *p, PmValue v);
int64_t pm__numel(const PmPlan *p, PmValue v);
/* A fresh contiguous buffer for a value. */
PmStatus pm__place(PmPlan *p, PmValue v, PmErr *err);
int pm__add_buffer(PmPlan *p, int64_t bytes, PmBufUse use);

/* Memory of a plan whose intermediates take that of those no later launch reads (plan_memory.c). */
typedef struct PmSlots {
	int *of;        /* owned; by buffer: its slot; -1 = constant */
	int64_t *bytes; /* owned; by slot */
	int *holder;    /* owned; by slot: the last intermediate that took it */
	int n;
} PmSlots;
void pm__slots_assign(const PmPlan *p, PmSlots *out);
void pm__slots_release(PmSlots *s);
int64_t pm__slots_bytes(const PmSlots *s); /* of all slots: inputs and outputs, too */
void pm__contiguous_strides(const PmType *t, int64_t *stride);
int pm__is_contiguous(const PmPlan *p, PmValue v);
/* The value's elements in contiguous form: its own place, or a copy made by a launch. */
PmStatus pm__make_contiguous(PmPlan *p, PmNode n, PmValue v, Loc *out, PmErr *err);
/* A launch that copies a strided place into a fresh contiguous buffer, *to. */
PmStatus pm__copy(PmPlan *p, PmNode n, const PmType *t, const Loc *from, Loc *to, PmErr *err);
/* One of several copies. */
typedef struct PmCopy {
	PmNode node; /* that errors name */
	const PmType *type;
	Loc from; /* strided */
	Loc to;   /* set: a fresh contiguous buffer */
} PmCopy;
/* pm__copy of several places at once: those that are moved as well beside others share launches. */
PmStatus pm__copy_all(PmPlan *p, PmCopy *copies, size_t n_copies, PmErr *err);
/* Records that value v is a view; nothing is launched. */
void pm__place_view(PmPlan *p, PmNode n, PmValue v, const Loc *l);

/* ---- calls of libraries (plan_lib.c) ---- */

/* After node n was planned, its steps from `first_step` on: when they are one launch that a library may know
 * how to do, says beside it what it is. */
void pm__offer_library(PmPlan *p, PmNode n, size_t first_step);
/* Strides over several dimensions as one: 1 when elements lie at multiples of *out, which is 0 for none. */
int pm__merge_strides(const int64_t *dim, const int64_t *stride, int n, int64_t *out);
/* Says beside the launch just described, which computes y from a and b, that it is this product. */
void pm__offer_product(PmPlan *p, int dtype, const PmLibGemm *product);

/* ---- describing a launch (kgen.c) ---- */

void pm__kg_init(KGen *k, PmPlan *p, PmNode n, int dtype);
void pm__kg_release(KGen *k);
void pm__kg_define(KGen *k, const char *name, const char *fmt, ...) PM_PRINTF(3, 4);
/* A pointer parameter `const <ctype> *name` (or writable) at a place of `numel` distinct elements. */
void pm__kg_in(KGen *k, const char *name, const Loc *l, int dtype, int64_t numel);
/* The same of a value, at a place that has its sizes: all elements that it has there. */
void pm__kg_operand(KGen *k, const char *name, PmValue v, const Loc *l);
void pm__kg_out(KGen *k, const char *name, const Loc *l, int dtype, int64_t numel);
/* A pointer parameter, declared in full, at a scratch buffer that holds what the elements of T do not:
 * `bytes`. */
void pm__kg_scratch(KGen *k, const char *param, const Loc *l, int64_t bytes);
void pm__kg_int(KGen *k, const char *name, int64_t v);
void pm__kg_f64(KGen *k, const char *name, double v);
/* n integer parameters name_0 .. and V_name, their comma-separated list. */
void pm__kg_list(KGen *k, const char *name, const int64_t *v, int n);
/* A parameter that never counts for the width of indices. */
void pm__kg_int32(KGen *k, const char *name, int32_t v);
/* An integer parameter by which the kernel divides: Q_<name>(t) is t / name, without a division. */
void pm__kg_divisor(KGen *k, const char *name, int64_t v);
/* Fills a space from dimensions and, per place, strides. */
void pm__space(PmSpace *s, const int64_t *dims, int rank, const int64_t *const *strides, int n);
/* How many elements (a power of two, at most `most`) of place i, which begins at element `off` of its buffer,
 * one aligned access can take at any multiple of that number; 1 when they are not neighbours. */
int pm__space_width(const PmSpace *s, int i, int64_t off, int most);
/* Parameters of a space (rank at most 8): defines N_<space>, and OFF_<space>_<i>(t), the offset in place i of
 * the t-th element. */
void pm__kg_put_space(KGen *k, const char *space, const PmSpace *s);
/* pm__space, then pm__kg_put_space. */
void pm__kg_space(KGen *k, const char *space, const int64_t *dims, int rank, const int64_t *const *strides,
		  int n);
/* Ends the description: `body` is the kernel's text, which begins the kernel with KERNEL and is told the
 * threads of a block as B. An empty grid launches nothing; `flops` for the clock. Releases k. */
PmStatus pm__kg_launch_grid(KGen *k, const char *label, const char *body, PmGrid grid, int64_t flops,
			    PmErr *err);
/* The same with one thread per element: `threads` in total. */
PmStatus pm__kg_launch(KGen *k, const char *label, const char *body, int64_t threads, int64_t flops,
		       PmErr *err);
/* The same under the name of the node's operator and of the kernel's type: "eager Gather float". */
PmStatus pm__kg_launch_op(KGen *k, const char *body, int64_t threads, int64_t flops, PmErr *err);

/* ---- one result element per element of its operands (eager_vec.c) ---- */

typedef struct PmVecIn {
	const Loc *loc;
	int dtype;
	int64_t numel;                   /* distinct elements */
	int64_t stride[2 * PM_MAX_RANK]; /* over the result's dimensions: 0 where it is repeated */
} PmVecIn;

typedef struct PmVecOut {
	const Loc *loc; /* contiguous */
	int dtype, rank;
	const int64_t *dim;
} PmVecOut;

/* A value as an operand that is broadcast to the dimensions of `to`. */
void pm__vec_in(const PmPlan *p, PmValue v, const PmType *to, PmVecIn *out);
/* A launch that makes each element from those of the operands at its place. `body`: statements that compute
 * the result q (a Y &) from the elements e0, e1, ...; what else they need is in k->head already, or a
 * parameter of k. An operand without a place (loc NULL) is not allowed. Releases k. */
PmStatus pm__vec_launch(KGen *k, const char *label, const PmVecOut *out, const PmVecIn *in, int n,
			const char *body, int64_t flops, PmErr *err);

/* How many vectors of v elements of at most `widest` bytes a thread of that launch makes, of `total` results
 * that take `flops` operations together. */
int pm__vectors(const PmTarget *t, int64_t total, int v, int widest, int64_t flops);

/* pm__vec_launch for one operand of the result's type that is only moved: through shared memory where the two
 * sides vary fastest along different dimensions (eager_copy.c). */
PmStatus pm__move(PmPlan *p, PmNode n, const char *label, const PmVecOut *out, const PmVecIn *in, PmErr *err);
/* Whether the elements of t are neighbours along different dimensions in the two places, both long enough for
 * a move through shared memory. */
int pm__lies_across(const PmType *t, const Loc *from, const Loc *to);
/* That move, into a place that need not be contiguous as a whole. */
PmStatus pm__move_across(PmPlan *p, PmNode n, const char *label, const PmType *t, const Loc *from,
			 const Loc *to, PmErr *err);

/* ---- products (eager_dot.c) ---- */

/* rows x cols results for each of the batches, sums of `depth` products. */
typedef struct PmProduct {
	int64_t batches, rows, cols, depth;
	int64_t am, ak, bk, bn; /* strides */
	int64_t flops;          /* for the clock */
} PmProduct;

/* Launches the product that the description has its operands (y, a, b) and batches (space o: 0 = a, 1 = b) of
 * already: in squares through shared memory when there are enough results for them, else one thread for each
 * result. Releases k. */
PmStatus pm__multiply(KGen *k, const char *label, const PmProduct *m, PmErr *err);

/* ---- convolution of each channel by itself (eager_depth.c) ---- */

/* 1 when a node is one that pm__depthwise plans. */
int pm__is_depthwise(const PmPlan *p, PmNode n);
PmStatus pm__depthwise(PmPlan *p, PmNode n, PmErr *err);

/* ---- element types ---- */

const char *pm__ctype(int dtype); /* "__half" */
/* Type the arithmetic is done in: float for half types, long long for integers and bool. */
const char *pm__acc_type(int dtype);
/* Distinct elements a strided place touches. */
int64_t pm__distinct(const PmType *t, const Loc *l);

#endif
