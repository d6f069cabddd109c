/* SPDX-License-Identifier: Apache-2.0 */
/* load.h - the operations that nodes of the graph are made of. */
#ifndef PASSES_FUSE_LOAD_H
#define PASSES_FUSE_LOAD_H

#include "../index/limits.h"

typedef enum Kind {
	OP_NONE,
	OP_IN,  /* a value from outside */
	OP_NUM, /* a constant */
	OP_EW,  /* expr over in[] */
	OP_FOLD,
	OP_CAST,
	OP_SAME,
	OP_TRANSPOSE, /* par: perm */
	OP_RESHAPE,
	OP_EXPAND,
	OP_SLICE,  /* par: start and step by axis */
	OP_CONCAT, /* axis */
	OP_PAD,    /* par: lows; mode */
	OP_GATHER, /* axis; par: start and step of the indices, where these are known */
	OP_GATHER_ELEMENTS,
	OP_GATHER_ND,
	OP_TILE,
	OP_TRILU,   /* axis: 1 upper; par[0]: k */
	OP_RESIZE,  /* nearest by whole numbers; par: factors */
	OP_LINEAR,  /* resize between neighbours on one or two axes; par: the axes; num: factor and offset of
		       each */
	OP_SPREAD,  /* in[0] of axis `axis` beside other axes: a parameter of a channel */
	OP_WINDOW,  /* in[0] (image, channel, row, column) as (image, 1, row, column, channel, row and column
		       in  the window); par: strides, dilations */
	OP_REDUCE,  /* red over the axes of bits `axis`; operand rank is kept with extent 1 */
	OP_POOL,    /* red over windows; par: kernel, stride, pad, dilation by axis */
	OP_SCATTER, /* in[0] and the sum of those of in[2] whose in[1] says the place on `axis`; mode:
		       Scatter; par: start, step and number of places, where these are known */
	OP_DOT      /* a matrix product; mode: Form; par: batch, m, n, k, operation
		       of the same as a sum or 0, DOT_CONV; axis: bits of transposed factors */
} Kind;

/* How the coordinates of a product and its factors follow from those of the matrices. */
typedef enum Form {
	FORM_FLAT,  /* MatMul by one matrix: m is all axes but the last */
	FORM_BATCH, /* MatMul */
	FORM_GEMM,
	FORM_POINT, /* 1x1 Conv of one pixel: m is the image, n the channel */
	FORM_IMAGE, /* 1x1 Conv: a is the weight, m the channel, n the pixel */
	FORM_CONV   /* other Conv: k is a channel and a place in its window; only front.c reads the image */
} Form;

/* Indices are tuples of one; the last update takes the place of what is there. */
enum { SCATTER_TUPLES = 1, SCATTER_LAST = 2 };
/* The first of equally distant indices, how far they are apart, and their number. */
enum { STEPS_START, STEPS_STEP, STEPS_COUNT, STEPS_N };

/* Of a convolution behind the rest of a product's par: extents of the image and of rows of the result, then
 * of the window, strides, dilations and pads, each of both axes. */
enum { DOT_CONV = 5, CONV_N = 11 };

/* Who has added up a reduction: all threads of a row, or one alone; that it has to be one alone wherever it
 * is asked for, since it was both; that a reduction has it among its terms
 * (order.c).
 */
enum { ORDER_ROW = 1, ORDER_THREAD = 2, ORDER_ONE = 4, ORDER_UNDER = 8 };

/* RED_TERMS: the sum of a product of few terms, in float as the library's. */
typedef enum Red { RED_SUM, RED_MEAN, RED_MAX, RED_MIN, RED_PROD, RED_AVG, RED_TERMS } Red;

typedef struct Op {
	uint8_t kind, rank, n_in, red, mode;
	int8_t dtype;
	uint8_t compute; /* type that expr is computed in (PmDType) */
	uint8_t exact;   /* OP_EW, OP_FOLD: the result is one of the operands, but for its sign, or small */
	uint8_t orders;  /* OP_REDUCE: ORDER_ROW and others, of the section that is written */
	uint8_t written; /* and how often one thread's loop for it is */
	int16_t node;    /* of the graph that it is part of, -1: none */
	int32_t axis;
	int64_t dim[F_RANK];
	int32_t *in;
	int64_t *par;
	const char *expr;
	double num[6]; /* p0, p1, ...; of OP_NUM: the number */
	int n_num;
	PmVal val; /* the graph's value that it is; 0: none */
} Op;

typedef struct Node {
	PmVal val; /* first result */
	int64_t order;
	uint8_t ok, in_set, tried, tried_at, n_in, n_out; /* tried_at: nodes of the set at that time */
	uint8_t launches;                                 /* when it is run by itself */
	int32_t dot; /* the operation of kind OP_DOT that it has; 0: none */
	int32_t *in; /* ops; -1: omitted */
	int32_t *out;
	PmVal *user; /* of all results one after another; n_user of each, or 0xff: used outside for sure */
	uint8_t *n_user;
} Node;

/* What is known of the graph around one seed, or of one match. */
typedef struct Graph {
	const char **fail; /* what could not be done is said here; NULL there: nothing */
	Op *op;
	int n_ops;
	Node *node;
	int n_nodes;
	uint16_t *op_of; /* by hash of a handle: 1 + op */
	char *pool;      /* operands, parameters and users */
	uint32_t pool_n, pool_cap;
} Graph;

/* Its memory; 0 when there is none. */
int f_graph_new(Graph *c, const char **fail);
/* Memory that lives as long as the graph; NULL, and *c->fail, when there is no more. */
void *f_alloc(Graph *c, uint32_t bytes);

/* The operation of a graph value that has one, -1: it has none. */
int f_known(const Graph *c, PmVal v);
/* The operation of a graph value, loaded as one from outside when it is new. */
int f_value(Graph *c, PmVal v);
/* The node of v (a result), its operations and those of its operands; -1 when there is no room. */
int f_node(Graph *c, PmVal v);
int f_op(Graph *c, Kind kind, int like, int node);
/* An operation of one operand of x's shape and type, with room for par. */
int f_view(Graph *c, Kind kind, int x);
/* x with axis `axis` last, or back there from last. */
int f_turned(Graph *c, int x, int axis, int back);
int64_t f_numel(const Op *o);
/* Start, step and number (STEPS_N) of indices below `extent`, in their order, that are constant and equally
 * far apart upwards; NULL when they are not. */
int64_t *f_steps_of(Graph *c, const Op *indices, int64_t extent);
/* What a type is in registers: PM_F32, PM_F64 or PM_I64. */
static inline int f_class(int dtype)
{
	if (dtype == PM_F64)
		return PM_F64;
	return dtype == PM_F32 || dtype == PM_F16 || dtype == PM_BF16 ? PM_F32 : PM_I64;
}
static inline int f_is(const char *a, const char *b)
{
	return pm_str_same(a, b);
}
/* Operators that are made of several operations; 1 when `name` is one of them (load_norm.c, load_move.c). */
int f_load_norm(Graph *c, Node *n, const char *name, int out);
int f_load_move(Graph *c, Node *n, const char *name, int out);
int f_load_ew(Graph *c, Node *n, const char *name, int out); /* load_ew.c */
int f_load_resize(Graph *c, Node *n, int out);               /* load_resize.c */
int f_load_pool(Graph *c, Node *n, const char *name, int out);
int f_load_cum(Graph *c, Node *n, const char *name, int out);     /* load_cum.c */
int f_load_dot(Graph *c, Node *n, const char *name, int out);     /* load_dot.c */
int f_load_scatter(Graph *c, Node *n, const char *name, int out); /* load_scatter.c */
/* Views of the operands whose MatMul an Einsum is; 0 when it is none (load_einsum.c). */
int f_load_einsum(Graph *c, const Node *n, int *a, int *b);
/* The sum that a product is, as operations of its shape; 0 when it is not made (load_sum.c). */
int f_load_sum(Graph *c, int dot);
int f_ew(Graph *c, int node, int like, const char *expr, int a, int b, int third);
/* Makes `out` an expression of one to three values, of its own shape and type. 0 when that failed. */
int f_becomes(Graph *c, int out, const char *expr, int a, int b, int third);
int f_num(Graph *c, int dtype, double x);

#endif
