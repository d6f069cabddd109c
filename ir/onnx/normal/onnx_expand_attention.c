/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_attention.c - Attention, FlexAttention and RotaryEmbedding as the products, masks and rotations
 * they stand for.
 *
 * A causal mask is a comparison of two index vectors, so that nothing as large as the scores is stored in the
 * model.
 */
#include "ir/onnx/normal/onnx_expand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* (batch, length, heads * size) to (batch, heads, length, size); a value of rank 4 is that already. */
static PmValue split_heads(PmExpand *x, PmValue v, int64_t heads)
{
	static const int64_t perm[] = { 0, 2, 1, 3 };
	int64_t hidden, shape[4] = { 0, 0, heads, 0 };

	if (x->st || pm__x_type(x, v)->rank == 4)
		return v;
	hidden = pm__x_dim(x, v, 2, "the hidden size");
	if (!x->st && (heads < 1 || hidden % heads))
		pm__x_fail(x, PM_E_SHAPE, "%lld heads do not divide the hidden size %lld at %s.",
			   (long long)heads, (long long)hidden, x->d->where.s);
	if (x->st)
		return v;
	shape[3] = hidden / heads;
	/* A 0 keeps the dimension, which may be a symbol. */
	v = pm__x_op2(x, PM_OP_Reshape, v, pm__x_ints(x, shape, 4));
	return pm__x_transpose(x, v, perm, 4);
}

/* Every head of keys or values `times` over: head 0, 0, ..., 1, 1, ... */
static PmValue repeat_heads(PmExpand *x, PmValue v, int64_t heads, int64_t times)
{
	int64_t shape[5] = { 1, 1, times, 1, 1 }, flat[4] = { 0, heads * times, -1, 0 };

	if (x->st || times == 1)
		return v;
	flat[3] = pm__x_dim(x, v, 3, "the size of a head");
	if (pm__x_type(x, v)->dim[2] >= 0)
		flat[2] = pm__x_type(x, v)->dim[2];
	v = pm__x_op2(x, PM_OP_Expand, pm__x_unsqueeze(x, v, 2), pm__x_ints(x, shape, 5));
	return pm__x_op2(x, PM_OP_Reshape, v, pm__x_ints(x, flat, 4));
}

/* 0 .. n-1, standing up (n by 1) or lying (1 by n). */
static PmValue count_up(PmExpand *x, int64_t n, int standing)
{
	int64_t *v, k, dim[2] = { standing ? n : 1, standing ? 1 : n };
	PmValue out = { 0 };

	if (!x->st && n > 1 << 24)
		pm__x_decline(x, "it has more than %d positions", 1 << 24);
	if (x->st)
		return out;
	v = pm_xcalloc((size_t)n + 1, sizeof *v);
	for (k = 0; k < n; k++)
		v[k] = k;
	out = pm__x_int_tensor(x, v, 2, dim);
	free(v);
	return out;
}

/* What is added to the scores: 0 where `allowed`, else minus infinity. */
static PmValue bias_of(PmExpand *x, PmValue allowed, int dtype)
{
	return pm__x_op3(x, PM_OP_Where, allowed, pm__x_scalar(x, dtype, 0),
			 pm__x_scalar(x, dtype, -INFINITY));
}

static PmValue plus(PmExpand *x, PmValue a, PmValue b)
{
	return !a.id ? b : !b.id ? a : pm__x_op2(x, PM_OP_Add, a, b);
}

/* The mask operand as a bias, filled up with minus infinity to the number of keys (since 24). */
static PmValue mask_bias(PmExpand *x, PmValue mask, PmValue key, int dtype)
{
	const PmType t = *pm__x_type(x, mask); /* adding nodes moves the types */
	int64_t pads[2 * PM_MAX_RANK] = { 0 }, keys = pm__x_type(x, key)->dim[2];
	int rank = t.rank;

	if (x->st || !mask.id)
		return (PmValue){ 0 };
	if (rank < 1 || rank > 4 || (t.dtype != PM_BOOL && t.dtype != dtype)) {
		pm__x_fail(x, PM_E_TYPE, "The mask of %s must have 1 to 4 dimensions and be bool or %s.",
			   x->d->where.s, pm_dtype_name(dtype));
		return mask;
	}
	if (x->d->opset >= 24 && (t.dim[rank - 1] < 0 || keys < 0) && t.dim[rank - 1] != keys)
		pm__x_decline(x, "whether its mask is shorter than the keys is not known");
	pads[2 * rank - 1] = keys - t.dim[rank - 1];
	if (t.dtype == PM_BOOL)
		mask = bias_of(x, mask, dtype);
	if (x->d->opset < 24 || pads[2 * rank - 1] <= 0)
		return mask;
	return pm__x_pad(x, mask, pm__x_scalar(x, dtype, -INFINITY), pads, rank);
}

/* Key j is for query i when j <= i + offset; the offset is that of the cache, or per batch. A window (since
 * 25) also bounds j from below and above by the distance to i + offset; -1 is no bound. */
static PmValue position_bias(PmExpand *x, PmValue query, PmValue key, int64_t past, PmValue used, int dtype)
{
	int64_t causal = pm__x_i(x, "is_causal", 0), left = pm__x_i(x, "left_window_size", -1),
		right = pm__x_i(x, "right_window_size", -1), q, k;
	PmValue i, j, bias = { 0 };

	if (left < -1 || right < -1)
		pm__x_fail(x, PM_E_INVALID, "A window of %s is below -1; fix the model.", x->d->where.s);
	if (x->st || (!causal && left < 0 && right < 0))
		return bias;
	q = pm__x_dim(x, query, 2, "the number of queries");
	k = pm__x_dim(x, key, 2, "the number of keys");
	i = count_up(x, q, 1);
	j = count_up(x, k, 0);

	if (used.id)
		i = pm__x_op2(x, PM_OP_Add, i,
			      pm__x_op2(x, PM_OP_Sub, used, pm__x_scalar(x, PM_I64, (double)q)));
	else if (past)
		i = pm__x_op2(x, PM_OP_Add, i, pm__x_scalar(x, PM_I64, (double)past));
	if (causal)
		bias = bias_of(x, pm__x_op2(x, PM_OP_LessOrEqual, j, i), dtype);
	if (right >= 0)
		bias = plus(
			x, bias,
			bias_of(x,
				pm__x_op2(x, PM_OP_LessOrEqual, j,
					  pm__x_op2(x, PM_OP_Add, i, pm__x_scalar(x, PM_I64, (double)right))),
				dtype));
	if (left >= 0)
		bias = plus(
			x, bias,
			bias_of(x,
				pm__x_op2(x, PM_OP_LessOrEqual, i,
					  pm__x_op2(x, PM_OP_Add, j, pm__x_scalar(x, PM_I64, (double)left))),
				dtype));
	return bias;
}

typedef struct Scores {
	PmValue raw, capped, biased, weights;
} Scores;

static Scores score(PmExpand *x, PmValue q, PmValue k, double scale, PmValue bias, int may_be_empty)
{
	int dtype = pm__x_type(x, q)->dtype, soft = dtype;
	double cap = pm__x_f(x, "softcap", 0);
	int64_t stated = pm__x_i(x, "softmax_precision", 0);
	PmValue root = pm__x_scalar(x, dtype, sqrt(scale)), v;
	Scores s;

	if (stated && (stated < 0 || stated > 255 || !pm_dtype_is_float(pm_dtype_from_onnx((int)stated))))
		pm__x_decline(x, "its softmax_precision is no floating-point type we hold");
	else if (stated)
		soft = pm_dtype_from_onnx((int)stated);
	v = pm__x_op2(x, PM_OP_MatMul, pm__x_op2(x, PM_OP_Mul, q, root),
		      pm__x_swapped(x, pm__x_op2(x, PM_OP_Mul, k, root)));
	s.raw = s.capped = v;
	if (cap > 0) {
		PmValue c = pm__x_scalar(x, dtype, cap);

		v = pm__x_op1(x, PM_OP_Tanh, pm__x_op2(x, PM_OP_Div, v, c));
		s.capped = v = pm__x_op2(x, PM_OP_Mul, v, c);
	}
	s.biased = v = plus(x, v, bias);
	v = pm__x_opi(x, PM_OP_Softmax, pm__x_cast(x, v, soft), (PmValue){ 0 }, "axis", 3);
	v = pm__x_cast(x, v, dtype);
	if (may_be_empty) {
		/* A query that may see no key gives zeros. */
		int64_t last = pm__x_type(x, bias)->rank - 1;
		PmValue top = pm__x_reduce(x, PM_OP_ReduceMax, bias, &last, 1, 1);

		v = pm__x_op3(x, PM_OP_Where,
			      pm__x_op2(x, PM_OP_Equal, top, pm__x_scalar(x, dtype, -INFINITY)),
			      pm__x_scalar(x, dtype, 0), v);
	}
	s.weights = v;
	return s;
}

static void check_attention(PmExpand *x)
{
	int k, rank = pm__draft_type(x->d, 0)->rank;

	pm__x_counts(x, 3, 7, 4);
	for (k = 0; k < 3 && !x->st; k++)
		if (pm__draft_type(x->d, (size_t)k)->rank != rank || (rank != 3 && rank != 4))
			pm__x_fail(x, PM_E_SHAPE,
				   "Query, key and value of %s must all have 3 or 4 dimensions.",
				   x->d->where.s);
	if (!x->st && pm__x_in(x, 4).id && (!pm__x_in(x, 5).id || pm__x_in(x, 6).id))
		pm__x_fail(x, PM_E_INVALID,
			   "%s needs past_key and past_value together, and no nonpad_kv_seqlen with them.",
			   x->d->where.s);
}

static PmStatus expand_attention(PmDraft *d, PmErr *err)
{
	static const int64_t back[] = { 0, 2, 1, 3 };
	PmExpand x = { d, err, PM_OK };
	int64_t q_heads = pm__x_i(&x, "q_num_heads", 0), kv_heads = pm__x_i(&x, "kv_num_heads", 0), past = 0,
		flat[3] = { 0, 0, 0 };
	int64_t mode = pm__x_i(&x, "qk_matmul_output_mode", 0);
	int dtype = pm__draft_type(d, 0)->dtype, rank = pm__draft_type(d, 0)->rank;
	PmValue q, k, v, y, bias, used = pm__x_in(&x, 6), in[2];
	double scale;
	Scores s;

	check_attention(&x);
	q = split_heads(&x, pm__x_in(&x, 0), q_heads);
	k = split_heads(&x, pm__x_in(&x, 1), kv_heads);
	v = split_heads(&x, pm__x_in(&x, 2), kv_heads);
	if (!x.st && pm__x_in(&x, 4).id) {
		past = pm__x_dim(&x, d->in[4], 2, "the length of the cache");
		in[0] = d->in[4], in[1] = k;
		k = pm__x_concat(&x, in, 2, 2);
		in[0] = d->in[5], in[1] = v;
		v = pm__x_concat(&x, in, 2, 2);
	}
	pm__x_result(&x, 1, k);
	pm__x_result(&x, 2, v);
	q_heads = pm__x_dim(&x, q, 1, "the number of heads");
	kv_heads = pm__x_dim(&x, k, 1, "the number of heads");
	scale = pm__x_f(&x, "scale", 1 / sqrt((double)pm__x_dim(&x, q, 3, "the size of a head")));
	if (!x.st && (kv_heads < 1 || q_heads % kv_heads || scale < 0))
		pm__x_decline(&x, "its %lld heads are no multiple of %lld, or its scale is negative",
			      (long long)q_heads, (long long)kv_heads);
	bias = mask_bias(&x, pm__x_in(&x, 3), k, dtype);
	if (used.id)
		used = pm__x_reshape(&x, pm__x_cast(&x, used, PM_I64), (int64_t[]){ -1, 1, 1, 1 }, 4);
	bias = plus(&x, bias, position_bias(&x, q, k, past, used, dtype));
	if (used.id)
		bias = plus(
			&x, bias,
			bias_of(&x,
				pm__x_op2(&x, PM_OP_Less,
					  count_up(&x, pm__x_dim(&x, k, 2, "the number of keys"), 0), used),
				dtype));
	if (x.st)
		return x.st;
	s = score(&x, q, repeat_heads(&x, k, kv_heads, q_heads / kv_heads), scale, bias,
		  pm__x_in(&x, 3).id || used.id || pm__x_i(&x, "left_window_size", -1) >= 0);
	y = pm__x_op2(&x, PM_OP_MatMul, s.weights, repeat_heads(&x, v, kv_heads, q_heads / kv_heads));
	if (rank == 3) {
		flat[2] = q_heads * pm__x_dim(&x, y, 3, "the size of a head");
		y = pm__x_op2(&x, PM_OP_Reshape, pm__x_transpose(&x, y, back, 4), pm__x_ints(&x, flat, 3));
	}
	pm__x_result(&x, 0, y);
	pm__x_result(&x, 3, mode == 0 ? s.raw : mode == 1 ? s.capped : mode == 2 ? s.biased : s.weights);
	return x.st;
}

/* ---- FlexAttention ---- */

/* What the graph in an attribute makes of v, which has to stay of its type; v itself without the attribute.
 */
static PmValue modified(PmExpand *x, const char *attr, PmValue v)
{
	Onnx__AttributeProto *a = x->st ? NULL : pm__draft_proto(x->d, attr);
	const PmType was = *pm__x_type(x, v);
	PmValue out = v;

	if (!a)
		return v;
	x->st = pm__import_inline(x->d->im, x->d->sc, x->d->np, a, &x->d->where, &v, 1, &out, x->err);
	if (!x->st && pm__x_type(x, out)->rank < 0)
		pm__x_decline(x, "the type of what '%s' gives is not known", attr);
	if (!x->st && !pm_type_equal(&was, pm__x_type(x, out)))
		pm__x_fail(x, PM_E_TYPE,
			   "The graph '%s' of %s changes the shape or the element type of its input; fix the "
			   "model.",
			   attr, x->d->where.s);
	return out;
}

/* The type from the scores on: stated, or float at least. */
static int flex_precision(PmExpand *x, int dtype)
{
	int64_t stated = pm__x_i(x, "softmax_precision", 0);
	int own = stated > 0 && stated < 256 ? pm_dtype_from_onnx((int)stated) : -1;

	if (!stated)
		return dtype == PM_F64 ? PM_F64 : PM_F32;
	if (!pm_dtype_is_float(own))
		pm__x_decline(x, "its softmax_precision is no floating-point type we hold");
	return own;
}

static void check_flex(PmExpand *x)
{
	pm__x_counts(x, 3, 3, 1);
	for (size_t k = 0; k < 3 && !x->st; k++)
		if (pm__draft_type(x->d, k)->rank != 4 || !pm_dtype_is_float(pm__draft_type(x->d, k)->dtype))
			pm__x_fail(x, PM_E_SHAPE,
				   "Query, key and value of %s must have 4 dimensions and be of floating "
				   "point.",
				   x->d->where.s);
}

static PmStatus flex(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue q = pm__x_in(&x, 0), k = pm__x_in(&x, 1), v = pm__x_in(&x, 2), root, p;
	int dtype = pm__draft_type(d, 0)->dtype, of_v = pm__draft_type(d, 2)->dtype, soft;
	int64_t q_heads, kv_heads;
	double scale;

	check_flex(&x);
	soft = flex_precision(&x, dtype);
	q_heads = pm__x_dim(&x, q, 1, "the number of heads");
	kv_heads = pm__x_dim(&x, k, 1, "the number of heads");
	scale = pm__x_f(&x, "scale", 1 / sqrt((double)pm__x_dim(&x, q, 3, "the size of a head")));
	if (!x.st && (kv_heads < 1 || q_heads % kv_heads || !(scale >= 0)))
		pm__x_fail(&x, PM_E_INVALID,
			   "The %lld heads of %s are no multiple of %lld, or its scale is %g.",
			   (long long)q_heads, d->where.s, (long long)kv_heads, scale);
	if (x.st)
		return x.st;
	k = repeat_heads(&x, k, kv_heads, q_heads / kv_heads);
	v = repeat_heads(&x, v, kv_heads, q_heads / kv_heads);
	root = pm__x_scalar(&x, dtype, sqrt(scale));
	p = pm__x_op2(&x, PM_OP_MatMul, pm__x_op2(&x, PM_OP_Mul, q, root),
		      pm__x_swapped(&x, pm__x_op2(&x, PM_OP_Mul, k, root)));
	p = modified(&x, "score_mod", pm__x_cast(&x, p, soft));
	p = pm__x_opi(&x, PM_OP_Softmax, p, (PmValue){ 0 }, "axis", 3);
	p = modified(&x, "prob_mod", p);
	p = pm__x_op2(&x, PM_OP_MatMul, p, pm__x_cast(&x, v, soft));
	pm__x_result(&x, 0, pm__x_cast(&x, p, of_v));
	return x.st;
}

static PmStatus expand_flex(PmDraft *d, PmErr *err)
{
	PmOnnxReport *before = pm_xmalloc(sizeof *before);
	PmStatus st;

	*before = *d->im->report;
	st = flex(d, err);
	if (st == PM_DECLINED) /* opaque nodes of its graphs are taken back too */
		*d->im->report = *before;
	free(before);
	return st;
}

/* ---- RotaryEmbedding ---- */

/* Turns pairs of elements of the last axis: (a, b) becomes (a cos - b sin, a sin + b cos). */
static PmValue rotate(PmExpand *x, PmValue v, PmValue c, PmValue s, int64_t size, int pairs_adjoin)
{
	PmValue a = pm__x_slice(x, v, 3, 0, pairs_adjoin ? size : size / 2, pairs_adjoin ? 2 : 1),
		b = pm__x_slice(x, v, 3, pairs_adjoin ? 1 : size / 2, size, pairs_adjoin ? 2 : 1), part[2];
	int64_t flat[4] = { 0, 0, 0, size };

	part[0] = pm__x_op2(x, PM_OP_Sub, pm__x_op2(x, PM_OP_Mul, a, c), pm__x_op2(x, PM_OP_Mul, b, s));
	part[1] = pm__x_op2(x, PM_OP_Add, pm__x_op2(x, PM_OP_Mul, a, s), pm__x_op2(x, PM_OP_Mul, b, c));
	if (!pairs_adjoin)
		return pm__x_concat(x, part, 2, 3);
	part[0] = pm__x_unsqueeze(x, part[0], 4);
	part[1] = pm__x_unsqueeze(x, part[1], 4);
	return pm__x_op2(x, PM_OP_Reshape, pm__x_concat(x, part, 2, 4), pm__x_ints(x, flat, 4));
}

static PmStatus expand_rotary(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	int rank = pm__draft_type(d, 0)->rank, i;
	int64_t heads = pm__x_i(&x, "num_heads", 0), turned = pm__x_i(&x, "rotary_embedding_dim", 0);
	int64_t adjoin = pm__x_i(&x, "interleaved", 0), size, shape[4] = { 0, 0, heads, 0 };
	PmValue v = pm__x_in(&x, 0), table[2], part[2];

	pm__x_counts(&x, 3, 4, 1);
	if (!x.st && rank != 3 && rank != 4)
		pm__x_fail(&x, PM_E_SHAPE, "The input of %s has %d dimensions instead of 3 or 4.", d->where.s,
			   rank);
	size = pm__x_dim(&x, v, rank - 1, "the hidden size");
	if (!x.st && rank == 3 && (heads < 1 || size % heads))
		pm__x_fail(&x, PM_E_SHAPE, "%lld heads do not divide the hidden size %lld at %s.",
			   (long long)heads, (long long)size, d->where.s);
	if (!x.st && rank == 3) {
		shape[3] = size /= heads;
		v = pm__x_op2(&x, PM_OP_Reshape, v, pm__x_ints(&x, shape, 4));
	}
	turned = turned ? turned : size;
	if (!x.st && (turned < 0 || turned > size || turned % 2))
		pm__x_fail(&x, PM_E_INVALID, "The rotary_embedding_dim %lld of %s is odd or not below %lld.",
			   (long long)turned, d->where.s, (long long)size);
	for (i = 0; i < 2 && !x.st; i++) {
		table[i] = d->in[i + 1];
		if (pm__x_in(&x, 3).id)
			table[i] = pm__x_opi(&x, PM_OP_Gather, table[i], d->in[3], "axis", 0);
		/* One table serves all heads: dimension 1, or 2 before the heads are moved there. */
		table[i] = pm__x_unsqueeze(&x, table[i], rank == 4 ? 1 : 2);
	}
	if (x.st)
		return x.st;
	part[0] = turned < size ? pm__x_slice(&x, v, 3, 0, turned, 1) : v;
	part[0] = rotate(&x, part[0], table[0], table[1], turned, adjoin != 0);
	if (turned < size) {
		part[1] = pm__x_slice(&x, v, 3, turned, size, 1);
		part[0] = pm__x_concat(&x, part, 2, 3);
	}
	if (rank == 3) {
		shape[2] = heads * size;
		part[0] = pm__x_op2(&x, PM_OP_Reshape, part[0], pm__x_ints(&x, shape, 3));
	}
	pm__x_result(&x, 0, part[0]);
	return x.st;
}

const PmNormRow pm__expand_attention_rows[] = {
	{ "Attention", PM_OP_Identity, expand_attention,
	  "is_causal kv_num_heads left_window_size q_num_heads right_window_size qk_matmul_output_mode scale "
	  "softcap softmax_precision",
	  0 },
	{ "RotaryEmbedding", PM_OP_Identity, expand_rotary, "interleaved num_heads rotary_embedding_dim", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};

const PmNormRow pm__expand_preview_rows[] = {
	{ "FlexAttention", PM_OP_Identity, expand_flex, "prob_mod scale score_mod softmax_precision", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
