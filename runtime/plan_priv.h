/* plan_priv.h - the plan's inside: where values live, which launches compute them; shared by plan*.c,
 * eager_*.c and exec.c.
 *
 * A value lives at a Loc: elements of a buffer with an offset and strides (in elements; 0 repeats, negative
 * runs backwards). Views are new Locs on an old buffer. Every launch writes fresh contiguous buffers.
 */
#ifndef RUNTIME_PLAN_PRIV_H
#define RUNTIME_PLAN_PRIV_H

#include "base/vec.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "runtime/exec.h"
#include "runtime/library.h"

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
} Buffer;

typedef struct Step {
	const char *label; /* arena */
	int source;        /* index into sources; -1 = a view, nothing to launch */
	const char *entry;
	uint32_t grid[3], block[3], smem;
	PmDevArg *args; /* arena; BUF arguments carry buffer index + 1 in buf.id */
	int n_args;
	int64_t bytes, flops;
	int flop_class; /* index into PmProfile.flops_per_second */
	PmLibCall *lib; /* arena; the same as a library's call, NULL when it cannot be one */
} Step;

struct PmPlan {
	const PmGraph *g;
	PmArena *arena;
	Loc *loc; /* by value id */
	PM_VEC(Buffer) buffers;
	PM_VEC(Step) steps;
	PM_VEC(PmSource) sources;
	PM_VEC(int) outputs; /* buffer of each graph output */
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

typedef PmStatus (*PmEagerFn)(PmPlan *p, PmNode n, PmErr *err);

/* eager_*.c: one planner per reference token of ops.def, called eager_<token>. */
#define PM__EAGER(token) PmStatus eager_##token(PmPlan *p, PmNode n, PmErr *err)
PM__EAGER(ew);
PM__EAGER(identity);
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
PM__EAGER(none);
PmStatus pm__plan_kernel(PmPlan *p, PmNode n, int alt, PmErr *err);

/* ---- places (plan.c) ---- */

const PmType *pm__type(const PmPlan *p, PmValue v);
Loc *pm__loc(const PmPlan *p, PmValue v);
int64_t pm__numel(const PmPlan *p, PmValue v);
/* A fresh contiguous buffer for a value. */
PmStatus pm__place(PmPlan *p, PmValue v, PmErr *err);
int pm__add_buffer(PmPlan *p, int64_t bytes, PmBufUse use);
void pm__contiguous_strides(const PmType *t, int64_t *stride);
int pm__is_contiguous(const PmPlan *p, PmValue v);
/* The value's elements in contiguous form: its own place, or a copy made by a launch. */
PmStatus pm__make_contiguous(PmPlan *p, PmNode n, PmValue v, Loc *out, PmErr *err);
/* A launch that copies a strided place into a fresh contiguous buffer, *to. */
PmStatus pm__copy(PmPlan *p, PmNode n, const PmType *t, const Loc *from, Loc *to, PmErr *err);
/* Records that value v is a view; nothing is launched. */
void pm__place_view(PmPlan *p, PmNode n, PmValue v, const Loc *l);

/* ---- calls of libraries (plan_lib.c) ---- */

/* After node n was planned, its steps from `first_step` on: when they are one launch that a library may know
 * how to do, says beside it what it is. */
void pm__offer_library(PmPlan *p, PmNode n, size_t first_step);

/* ---- describing a launch (kgen.c) ---- */

void pm__kg_init(KGen *k, PmPlan *p, PmNode n, int dtype);
void pm__kg_release(KGen *k);
void pm__kg_define(KGen *k, const char *name, const char *fmt, ...) PM_PRINTF(3, 4);
/* A pointer parameter `const <ctype> *name` (or writable) at a place of `numel` distinct elements. */
void pm__kg_in(KGen *k, const char *name, const Loc *l, int dtype, int64_t numel);
void pm__kg_out(KGen *k, const char *name, const Loc *l, int dtype, int64_t numel);
void pm__kg_int(KGen *k, const char *name, int64_t v);
void pm__kg_f64(KGen *k, const char *name, double v);
/* n integer parameters name_0 .. and V_name, their comma-separated list. */
void pm__kg_list(KGen *k, const char *name, const int64_t *v, int n);
/* An index space: dimensions `dims` and, per place, strides; defines N_<space>, and OFF_<space>_<i>(t), the
 * offset in place i of the t-th element. Adjacent dimensions that every place walks alike are merged. */
void pm__kg_space(KGen *k, const char *space, const int64_t *dims, int rank, const int64_t *const *strides,
		  int n);
/* Ends the description: `body` is the kernel's text. `threads` in total, `flops` for the clock. Releases k.
 */
PmStatus pm__kg_launch(KGen *k, const char *label, const char *body, int64_t threads, int64_t flops,
		       PmErr *err);
const char *pm__ctype(int dtype); /* "__half" */
/* Type the arithmetic is done in: float for half types, long long for integers and bool. */
const char *pm__acc_type(int dtype);
/* Distinct elements a strided place touches. */
int64_t pm__distinct(const PmType *t, const Loc *l);

#endif
