/* SPDX-License-Identifier: Apache-2.0 */
/* infer_priv.h - what the shape rules share: the node at hand, checks, messages, known integer elements.
 *
 * A rule reads operand types and attributes and writes c->out[0..n_out-1]; it never changes the graph. A
 * dimension it cannot know is PM_DIM_UNKNOWN; the caller decides what becomes of it (a fresh symbol, or a
 * wildcard for the verifier). When a rule runs, operand and result counts are within the table's, no
 * required operand is missing, every operand's type is known and operand 0 is of the table's type class.
 */
#ifndef IR_INFER_PRIV_H
#define IR_INFER_PRIV_H

#include "ir/core/graph.h"
#include "ir/infer/dim_expr.h"
#include "ir/infer/infer.h"

enum { PM_FOLD_MAX = 4096 }; /* elements of a value that is followed through integer arithmetic */

/* One element of an integer value that inference follows. */
typedef enum { PM_ELEM_UNKNOWN, PM_ELEM_INT, PM_ELEM_DIM } PmElemKind;
typedef struct __attribute__((packed)) PmElem { /* 9 bytes where 16 would be: there are thousands at a time */
	uint8_t kind;                           /* PmElemKind */
	int64_t v;                              /* INT: the value; DIM: the symbol, as a PmDim */
} PmElem;

typedef struct PmInfer {
	const PmGraph *g;
	PmNode n;
	PmOp op;
	size_t n_in, n_out;
	PmType *out;
	PmFold *known; /* may be NULL */
} PmInfer;

/* ---- infer.c ---- */

/* Runs the rule of `n` without changing the graph; out has room for every result. A result whose type
 * cannot be told (opaque nodes, operands of unknown type) stays unknown. `known` may be NULL. */
PmStatus pm__infer_types(const PmGraph *g, PmNode n, PmFold *known, PmType *out, PmErr *err);
/* pm_infer_node that sees known elements. */
PmStatus pm__infer_node(PmGraph *g, PmNode n, PmFold *known, PmErr *err);

int pm__in_given(const PmInfer *c, size_t k);
const PmType *pm__in(const PmInfer *c, size_t k); /* type of operand k */

/* "In node 3 (Add), <text>: operand 0 ('x') is float[2] and operand 1 ('y') is float[3]." ka and kb are
 * operands to show, -1 for none. Returns `code`. */
PmStatus pm__infer_fail(const PmInfer *c, PmStatus code, int ka, int kb, PmErr *err, const char *fmt, ...)
	PM_PRINTF(6, 7);

PmStatus pm__attr_ints(const PmInfer *c, const char *name, const int64_t **v, size_t *n, PmErr *err);
/* The same with a required count and a least value of each. */
PmStatus pm__attr_ints_n(const PmInfer *c, const char *name, size_t n, int64_t least, const int64_t **v,
			 PmErr *err);
/* A required int in [lo, hi]. */
PmStatus pm__attr_int(const PmInfer *c, const char *name, int64_t lo, int64_t hi, int64_t *out, PmErr *err);
/* Marks in[0..rank-1] the axes listed in an attribute: each below rank, none twice. */
PmStatus pm__attr_axes(const PmInfer *c, const char *name, int rank, unsigned char in[PM_MAX_RANK],
		       PmErr *err);

PmStatus pm__same_dtype(const PmInfer *c, size_t a, size_t b, PmErr *err);
/* 1 unless both are constants and differ. */
int pm__dims_agree(PmDim a, PmDim b);
/* The more specific of two dimensions that agree; PM_DIM_UNKNOWN for two different symbols. */
PmDim pm__dims_meet(PmDim a, PmDim b);
/* Broadcasts operand k's dimensions into *acc (numpy rules); `ka` is an operand to name with it. */
PmStatus pm__broadcast_in(const PmInfer *c, PmType *acc, size_t ka, size_t k, PmErr *err);
/* 0 when two dimensions cannot be broadcast together, else 1 with the result. */
int pm__broadcast_dim(PmDim a, PmDim b, PmDim *out);
/* Product of dimensions, a formula when there are symbols (dim_expr.h) or PM_DIM_UNKNOWN; fails when it
 * overflows. */
PmStatus pm__dim_product(const PmInfer *c, const PmDim *d, int n, PmDim *out, PmErr *err);

/* Elements of an integer operand (constant, or followed). PM_DECLINED when nothing is known of it or it has
 * more than `max` elements. */
PmStatus pm__in_elems(const PmInfer *c, size_t k, PmElem *out, size_t max, size_t *n);
/* A shape operand: int64, rank 1, at most PM_MAX_RANK elements. *n is -1 when even its length is unknown;
 * elements may be unknown. */
PmStatus pm__in_shape(const PmInfer *c, size_t k, PmElem out[PM_MAX_RANK], int *n, PmErr *err);

/* Number of elements that start:end:step selects of a dimension of size d, counted as ONNX does (which is
 * numpy's way, but a start before the first element is clamped to it for negative steps too). *start becomes
 * the index of the first. step is not 0. */
int64_t pm__slice_range(int64_t d, int64_t *start, int64_t end, int64_t step);

/* ---- infer_fold.c ---- */

/* With `on_demand`, what a value's nodes say is found out when it is asked for, and kept: for a graph that is
 * being built, every node of which has its types. Else only what pm__fold_node has come by is known. */
PmFold *pm__fold_new(int on_demand);
void pm__fold_free(PmFold *f);
/* What is known of a value; PM_DECLINED as for pm__in_elems. */
PmStatus pm__fold_get(const PmGraph *g, PmFold *f, PmValue v, PmElem *out, size_t max, size_t *n);
/* Evaluates a node whose result types are set; when every element of its result is known and the result is
 * no graph output, its uses become uses of a new constant. Nodes must come in execution order: long values
 * are forgotten after their last use. */
PmStatus pm__fold_node(PmGraph *g, PmFold *f, PmNode n, PmErr *err);

/* The rules, one for each shape token of the table. */
#define OP(name, in_min, in_max, out_min, out_max, flags, types, attrs, shape, ref, expr, iexpr)             \
	PmStatus infer_##shape(PmInfer *c, PmErr *err);
#include "ir/core/ops.def"
#undef OP

#endif
