/* infer_fold_priv.h - one evaluation of a small integer value: what infer_fold.c gives to infer_eval.c. */
#ifndef IR_INFER_FOLD_PRIV_H
#define IR_INFER_FOLD_PRIV_H

#include "base/arena.h"
#include "ir/infer_priv.h"

typedef struct PmEval {
	const PmGraph *g;
	const PmFold *f;
	PmNode node;
	size_t result;      /* which result of the node is wanted */
	const PmType *type; /* its type: static, integer or bool, at most PM_FOLD_MAX elements */
	PmElem *out;        /* to be filled */
	size_t n;
	PmArena *scratch; /* freed after the evaluation */
} PmEval;

/* PM_DECLINED when nothing can be said. */
typedef PmStatus (*PmEvalFn)(PmEval *e);

/* Elements of operand k (unknown ones marked so); NULL when it is not small or not of an integer type. */
const PmElem *pm__eval_in(PmEval *e, size_t k);
const PmType *pm__eval_type(const PmEval *e, size_t k);

/* The evaluator of an operator, NULL when its results are not followed (infer_eval.c). */
PmEvalFn pm__eval_fn(PmOp op);

/* out = fn(operand 0, 1, ...) element by element with broadcasting; the type's dtype wraps integers.
 * Missing operands read as unknown. */
typedef PmElem (*PmElemFn)(PmElem a, PmElem b, PmElem c);
PmStatus pm__eval_elementwise(PmEval *e, PmElemFn fn);
PmStatus pm__eval_reduce(PmEval *e, PmElemFn fn, int64_t start);

/* Element-wise evaluators and reductions (infer_eval_ew.c); NULL for other operators. */
PmEvalFn pm__eval_ew_fn(PmOp op);

#endif
