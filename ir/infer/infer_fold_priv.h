/* SPDX-License-Identifier: Apache-2.0 */
/* infer_fold_priv.h - one evaluation of a small integer value: what infer_fold.c gives to infer_eval.c. */
#ifndef IR_INFER_FOLD_PRIV_H
#define IR_INFER_FOLD_PRIV_H

#include "base/core/arena.h"
#include "ir/infer/infer_priv.h"

/* ---- packed elements (infer_packed.c) ---- */

typedef struct PmPacked {
	union {
		int64_t one;          /* n is 1 */
		unsigned char *bytes; /* else: kinds when they differ, then the known elements in order */
	} u;
	uint16_t n, size; /* elements; bytes */
	uint8_t width;    /* bytes of an element */
	uint8_t kind;     /* of every element, or that they differ */
	uint16_t left;    /* uses that inference has not come to yet; for infer_fold.c */
} PmPacked;

/* Packs n elements, at most PM_FOLD_MAX. */
PmPacked pm__pack(const PmElem *e, size_t n);
void pm__unpack(const PmPacked *p, PmElem *out); /* room for p->n */
void pm__packed_release(PmPacked *p);

/* ---- evaluating ---- */

enum { PM_EVAL_KEPT = 3 };

typedef struct PmEval {
	const PmGraph *g;
	PmFold *f;
	PmNode node;
	size_t result;      /* which result of the node is wanted */
	const PmType *type; /* its type: static, integer or bool, at most PM_FOLD_MAX elements */
	PmElem *out;        /* to be filled */
	size_t n;
	PmArena *scratch;               /* freed after the evaluation */
	const PmElem *in[PM_EVAL_KEPT]; /* operands that have been asked for */
} PmEval;

/* PM_DECLINED when nothing can be said. */
typedef PmStatus (*PmEvalFn)(PmEval *e);

/* Elements of operand k (unknown ones marked so); NULL when it is not small or not of an integer type. */
const PmElem *pm__eval_in(PmEval *e, size_t k);
/* Drops the operands that have been asked for, to make room for others. */
void pm__eval_forget(PmEval *e);
const PmType *pm__eval_type(const PmEval *e, size_t k);

/* The evaluator of an operator, NULL when its results are not followed (infer_eval.c). */
PmEvalFn pm__eval_fn(PmOp op);
/* What an evaluator reads. */
typedef enum {
	PM_READS_ALL,   /* an element is known by those of all operands only */
	PM_READS_ANY,   /* an element may be known by that of one operand */
	PM_READS_FIRST, /* every element of the result is one of operand 0 */
	PM_READS_TYPES  /* types only */
} PmReads;
PmReads pm__eval_reads(PmOp op);

/* out = fn(operand 0, 1, ...) element by element with broadcasting; the type's dtype wraps integers.
 * Missing operands read as unknown. */
typedef PmElem (*PmElemFn)(PmElem a, PmElem b, PmElem c);
PmStatus pm__eval_elementwise(PmEval *e, PmElemFn fn);
PmStatus pm__eval_reduce(PmEval *e, PmElemFn fn, int64_t start);

/* Element-wise evaluators and reductions (infer_eval_ew.c); NULL for other operators. */
PmEvalFn pm__eval_ew_fn(PmOp op);

#endif
