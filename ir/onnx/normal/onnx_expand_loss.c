/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_loss.c - NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss out of gathers and reductions.
 */
#include "ir/onnx/normal/onnx_expand.h"

#include <string.h>

/* Scores of shape (batch, classes, ...) and targets of shape (batch, ...). */
static void check_operands(PmExpand *x, PmValue score, PmValue target)
{
	const PmType *s = pm__x_type(x, score), *t = pm__x_type(x, target);

	if (x->st)
		return;
	if (s->rank < 2 || t->rank != s->rank - 1)
		pm__x_fail(
			x, PM_E_SHAPE,
			"The scores of %s have %d dimensions and its targets %d; the targets need one less "
			"than the scores, which need two or more.",
			x->d->where.s, s->rank, t->rank);
	else if (t->dtype != PM_I64 && t->dtype != PM_I32)
		pm__x_fail(x, PM_E_TYPE, "The targets of %s are %s; they must be int32 or int64.",
			   x->d->where.s, pm_dtype_name(t->dtype));
}

/* The weight of each target, 0 for ignored ones; {0} when all are 1. */
static PmValue weights(PmExpand *x, PmValue weight, PmValue target, PmValue ignored, int dtype)
{
	PmValue zero, one;

	if (weight.id)
		weight = pm__x_opi(x, PM_OP_Gather, weight, target, "axis", 0);
	if (!ignored.id)
		return weight;
	zero = pm__x_scalar(x, dtype, 0);
	one = weight.id ? weight : pm__x_scalar(x, dtype, 1);
	return pm__x_op3(x, PM_OP_Where, ignored, zero, one);
}

/* -weight[target] * log_prob[target], reduced. */
static PmValue nll(PmExpand *x, PmValue log_prob, PmValue target, PmValue weight)
{
	const char *how = pm__x_s(x, "reduction", "mean");
	int dtype = pm__x_type(x, log_prob)->dtype, index = pm__x_type(x, target)->dtype;
	PmValue ignored = { 0 }, loss, w, total;

	if (strcmp(how, "none") && strcmp(how, "sum") && strcmp(how, "mean"))
		pm__x_decline(x, "its reduction '%.40s' is not none, sum or mean", how);
	if (pm__draft_proto(x->d, "ignore_index")) {
		PmValue skip = pm__x_scalar(x, index, (double)pm__x_i(x, "ignore_index", 0));

		/* An ignored target may lie outside the classes: 0 stands in for it. */
		ignored = pm__x_op2(x, PM_OP_Equal, target, skip);
		target = pm__x_op3(x, PM_OP_Where, ignored, pm__x_scalar(x, index, 0), target);
	}
	w = weights(x, weight, target, ignored, dtype);
	loss = pm__x_opi(x, PM_OP_GatherElements, log_prob, pm__x_unsqueeze(x, target, 1), "axis", 1);
	loss = pm__x_op1(x, PM_OP_Neg, pm__x_squeeze(x, loss, 1));
	if (w.id)
		loss = pm__x_op2(x, PM_OP_Mul, loss, w);
	if (strcmp(how, "none") == 0)
		return loss;
	if (strcmp(how, "mean") == 0 && !w.id)
		return pm__x_reduce(x, PM_OP_ReduceMean, loss, NULL, 0, 0);
	total = pm__x_reduce(x, PM_OP_ReduceSum, loss, NULL, 0, 0);
	if (strcmp(how, "sum") == 0)
		return total;
	return pm__x_op2(x, PM_OP_Div, total, pm__x_reduce(x, PM_OP_ReduceSum, w, NULL, 0, 0));
}

static PmStatus expand_nll(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };

	pm__x_counts(&x, 2, 3, 1);
	check_operands(&x, pm__x_in(&x, 0), pm__x_in(&x, 1));
	pm__x_result(&x, 0, x.st ? (PmValue){ 0 } : nll(&x, d->in[0], d->in[1], pm__x_in(&x, 2)));
	return x.st;
}

static PmStatus expand_cross_entropy(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue log_prob;

	pm__x_counts(&x, 2, 3, 2);
	check_operands(&x, pm__x_in(&x, 0), pm__x_in(&x, 1));
	if (x.st)
		return x.st;
	log_prob = pm__x_opi(&x, PM_OP_LogSoftmax, d->in[0], (PmValue){ 0 }, "axis", 1);
	if (!x.st)
		pm__x_result(&x, 0, nll(&x, log_prob, d->in[1], pm__x_in(&x, 2)));
	pm__x_result(&x, 1, log_prob);
	return x.st;
}

const PmNormRow pm__expand_loss_rows[] = {
	{ "NegativeLogLikelihoodLoss", PM_OP_Identity, expand_nll, "reduction ignore_index", 0 },
	{ "SoftmaxCrossEntropyLoss", PM_OP_Identity, expand_cross_entropy, "reduction ignore_index", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
