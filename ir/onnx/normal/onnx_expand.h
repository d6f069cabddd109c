/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand.h - operators that become several nodes when they are imported.
 *
 * An expansion is written as straight code: every call adds a node (its type is inferred at once) and returns
 * its result. After the first failure calls do nothing and return {0}; the status is in `st` and the draft.
 * Results go to pm__x_result. What a declined expansion has added is taken back by the importer.
 */
#ifndef IR_ONNX_EXPAND_H
#define IR_ONNX_EXPAND_H

#include "ir/onnx/onnx_priv.h"

typedef struct PmExpand {
	PmDraft *d;
	PmErr *err;
	PmStatus st;
} PmExpand;

/* ---- reading the node ---- */

/* Operand k as written; {0} when it is omitted. */
PmValue pm__x_in(const PmExpand *x, size_t k);
/* Valid until the next node or constant is added: copy what is needed longer. */
const PmType *pm__x_type(const PmExpand *x, PmValue v);
/* Size of a dimension that must be known: declines with "<what> is not known". */
int64_t pm__x_dim(PmExpand *x, PmValue v, int dim, const char *what);
/* Attributes as written, with a default. */
int64_t pm__x_i(PmExpand *x, const char *name, int64_t dflt);
double pm__x_f(PmExpand *x, const char *name, double dflt);
const char *pm__x_s(PmExpand *x, const char *name, const char *dflt);
/* Whether the model names result k. */
int pm__x_wants(const PmExpand *x, size_t k);
/* Operands and results from lo to hi; operands below lo must be given. */
void pm__x_counts(PmExpand *x, size_t in_lo, size_t in_hi, size_t out_hi);
/* Stops the expansion: the node stays opaque, or the model is wrong. */
void pm__x_decline(PmExpand *x, const char *fmt, ...) PM_PRINTF(2, 3);
void pm__x_fail(PmExpand *x, PmStatus st, const char *fmt, ...) PM_PRINTF(3, 4);
/* Ends the expansion: result k is v. */
void pm__x_result(PmExpand *x, size_t k, PmValue v);

/* ---- adding nodes ---- */

/* Constants: one element of that type without dimensions, and a list of int64. {0} after a failure, here
 * and below. */
PmValue pm__x_scalar(PmExpand *x, int dtype, double v);
PmValue pm__x_ints(PmExpand *x, const int64_t *v, size_t n);
/* A constant of int64 elements of any shape. */
PmValue pm__x_int_tensor(PmExpand *x, const int64_t *v, int rank, const int64_t *dim);
/* Nodes without attributes. */
PmValue pm__x_op1(PmExpand *x, PmOp op, PmValue a);
PmValue pm__x_op2(PmExpand *x, PmOp op, PmValue a, PmValue b);
PmValue pm__x_op3(PmExpand *x, PmOp op, PmValue a, PmValue b, PmValue c);
/* One int attribute. */
PmValue pm__x_opi(PmExpand *x, PmOp op, PmValue a, PmValue b, const char *attr, int64_t v);
/* The same with a float; `attr` NULL = none. */
PmValue pm__x_opf(PmExpand *x, PmOp op, PmValue a, const char *attr, double v, const char *attr2, double v2);
/* A node whose attributes follow: open, set them with pm_node_set_*, then close. */
PmNode pm__x_open(PmExpand *x, PmOp op, const PmValue *in, size_t n_in, size_t n_out);
void pm__x_set(PmExpand *x, PmStatus st); /* notes the status of a setter */
PmValue pm__x_close(PmExpand *x, PmNode n);

PmValue pm__x_cast(PmExpand *x, PmValue a, int dtype); /* a itself when it has the type */
/* One node that changes the shape alone: the axis is added or removed, the shape is that of `dim` (rank
 * entries, constants), the axes change places. Where a has the wished shape, reshape and expand give a
 * itself. */
PmValue pm__x_unsqueeze(PmExpand *x, PmValue a, int64_t axis);
PmValue pm__x_squeeze(PmExpand *x, PmValue a, int64_t axis);
PmValue pm__x_reshape(PmExpand *x, PmValue a, const int64_t *dim, int rank);
PmValue pm__x_expand(PmExpand *x, PmValue a, const int64_t *dim, int rank);
PmValue pm__x_transpose(PmExpand *x, PmValue a, const int64_t *perm, int rank);
PmValue pm__x_swapped(PmExpand *x, PmValue a); /* the last two dimensions exchanged */
/* Elements from, from + step, ... before `to`, along one axis. */
PmValue pm__x_slice(PmExpand *x, PmValue a, int64_t axis, int64_t from, int64_t to, int64_t step);
/* `fill` {0} = zeros. */
PmValue pm__x_pad(PmExpand *x, PmValue a, PmValue fill, const int64_t *pads, int rank);
PmValue pm__x_concat(PmExpand *x, const PmValue *in, size_t n, int64_t axis);
/* A reduction over all axes when n is 0. */
PmValue pm__x_reduce(PmExpand *x, PmOp op, PmValue a, const int64_t *axes, int n, int keep);

/* BatchNormalization in training: the mean and the population variance of each channel, and of what they give
 * the running ones. */
PmStatus pm__expand_batch_training(PmDraft *d, PmErr *err);

/* ---- the tables of expanded operators; rows of pm__norm_row ---- */

extern const PmNormRow pm__expand_nn_rows[], pm__expand_quant_rows[], pm__expand_rnn_rows[],
	pm__expand_attention_rows[], pm__expand_loss_rows[], pm__expand_ngram_rows[], pm__expand_data_rows[],
	pm__expand_state_rows[], pm__expand_window_rows[], pm__expand_preview_rows[];

#endif
