/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_state.c - operators that carry a state from call to call: LinearAttention, one step after the
 * other, and CausalConvWithState, a convolution over the state and the input.
 */
#include "ir/onnx/normal/onnx_expand.h"

#include <math.h>
#include <string.h>

/* A shape whose first dimension, which may be a symbol, stays. */
static PmValue shaped(PmExpand *x, PmValue v, int64_t a, int64_t b, int64_t c, int64_t d)
{
	int64_t shape[5] = { 0, a, b, c, d };

	return pm__x_op2(x, PM_OP_Reshape, v, pm__x_ints(x, shape, d ? 5 : 4));
}

/* x * sigmoid(x) */
static PmValue silu(PmExpand *x, PmValue v)
{
	return pm__x_op2(x, PM_OP_Mul, v, pm__x_op1(x, PM_OP_Sigmoid, v));
}

/* ---- LinearAttention ---- */

/* Its steps are written out, about ten nodes each. */
enum { MAX_STEPS = 512 };

typedef struct Linear {
	int64_t steps, heads, group, key, value; /* heads of keys; queries per head; sizes of a head */
	int work, gated, delta;                  /* element type; what the update rule does */
	PmValue q, k, v, decay, beta;            /* (batch, steps, heads, ...) */
} Linear;

/* Operand k in the working type as (batch, steps, heads, a[, b]); `heads` below 1: by its last dimension. */
static PmValue operand(PmExpand *x, const Linear *l, size_t k, int64_t a, int64_t b)
{
	PmValue v = pm__x_in(x, k);

	if (!x->st && (!v.id || pm__x_type(x, v)->rank != 3))
		pm__x_fail(x, PM_E_SHAPE, "Operand %zu of %s is missing or does not have 3 dimensions.", k,
			   x->d->where.s);
	if (x->st)
		return v;
	return shaped(x, pm__x_cast(x, v, l->work), l->steps, l->heads, a, b);
}

/* The decay as factors, one for each head or for each element of a key. */
static PmValue decay_factors(PmExpand *x, const Linear *l)
{
	int64_t last = pm__x_in(x, 4).id ? pm__x_dim(x, pm__x_in(x, 4), 2, "the size of the decay") : 0;

	if (!x->st && last != l->heads && last != l->heads * l->key)
		pm__x_fail(x, PM_E_SHAPE, "The decay of %s has %lld numbers a step instead of %lld or %lld.",
			   x->d->where.s, (long long)last, (long long)l->heads,
			   (long long)(l->heads * l->key));
	return pm__x_op1(x, PM_OP_Exp, operand(x, l, 4, last == l->heads ? 1 : l->key, 1));
}

static PmValue update_rates(PmExpand *x, const Linear *l)
{
	int64_t last = pm__x_in(x, 5).id ? pm__x_dim(x, pm__x_in(x, 5), 2, "the size of the update rate") : 0;
	Linear one = *l;

	if (!x->st && last != l->heads && last != 1)
		pm__x_fail(x, PM_E_SHAPE,
			   "The update rate of %s has %lld numbers a step instead of %lld or 1.",
			   x->d->where.s, (long long)last, (long long)l->heads);
	one.heads = last;
	return operand(x, &one, 5, 1, 1);
}

static void read_linear(PmExpand *x, Linear *l)
{
	const char *rule = pm__x_s(x, "update_rule", "gated_delta");
	int64_t q_heads = pm__x_i(x, "q_num_heads", 0), q, k, v;

	l->heads = pm__x_i(x, "kv_num_heads", 0);
	pm__x_counts(x, 3, 6, 2);
	l->gated = strcmp(rule, "gated") == 0 || strcmp(rule, "gated_delta") == 0;
	l->delta = strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
	if (!l->gated && !l->delta && strcmp(rule, "linear") != 0)
		pm__x_decline(x, "its update_rule '%.40s' is not known", rule);
	if (!x->st && (!l->gated != !pm__x_in(x, 4).id || !l->delta != !pm__x_in(x, 5).id))
		pm__x_fail(x, PM_E_INVALID,
			   "%s must have a decay exactly when its rule is gated, and an update rate exactly "
			   "when its rule has delta; fix the model.",
			   x->d->where.s);
	l->steps = pm__x_dim(x, pm__x_in(x, 0), 1, "the number of steps");
	q = pm__x_dim(x, pm__x_in(x, 0), 2, "the hidden size");
	k = pm__x_dim(x, pm__x_in(x, 1), 2, "the hidden size");
	v = pm__x_dim(x, pm__x_in(x, 2), 2, "the hidden size");
	if (!x->st && (l->steps < 1 || l->steps > MAX_STEPS))
		pm__x_decline(x, "it has %lld steps instead of 1 to %d", (long long)l->steps, MAX_STEPS);
	if (!x->st && (l->heads < 1 || q_heads < 1 || q_heads % l->heads || q % q_heads || k % l->heads ||
		       v % l->heads || q / q_heads != k / l->heads))
		pm__x_fail(x, PM_E_SHAPE,
			   "%lld and %lld heads do not divide the hidden sizes %lld, %lld and %lld at %s.",
			   (long long)q_heads, (long long)l->heads, (long long)q, (long long)k, (long long)v,
			   x->d->where.s);
	if (x->st)
		return;
	l->group = q_heads / l->heads;
	l->key = k / l->heads;
	l->value = v / l->heads;
	l->work = pm__draft_type(x->d, 0)->dtype == PM_F64 ? PM_F64 : PM_F32;
	l->q = operand(x, l, 0, l->group, l->key);
	l->k = operand(x, l, 1, l->key, 0);
	l->v = operand(x, l, 2, l->value, 0);
	if (l->gated)
		l->decay = decay_factors(x, l);
	if (l->delta)
		l->beta = update_rates(x, l);
}

/* Step t of a sequence as (batch, heads, a, b). */
static PmValue at_step(PmExpand *x, PmValue v, int64_t t, int64_t heads, int64_t a, int64_t b)
{
	return shaped(x, pm__x_slice(x, v, 1, t, t + 1, 1), heads, a, b, 0);
}

/* The state after step t; a state {0} is all zeros. */
static PmValue next_state(PmExpand *x, const Linear *l, PmValue state, int64_t t)
{
	PmValue v = at_step(x, l->v, t, l->heads, 1, l->value), new;

	if (x->st)
		return state;
	if (l->gated && state.id)
		state = pm__x_op2(x, PM_OP_Mul, state,
				  at_step(x, l->decay, t, l->heads, pm__x_type(x, l->decay)->dim[3], 1));
	if (l->delta) {
		if (state.id)
			v = pm__x_op2(
				x, PM_OP_Sub, v,
				pm__x_op2(x, PM_OP_MatMul, at_step(x, l->k, t, l->heads, 1, l->key), state));
		if (!x->st)
			v = pm__x_op2(x, PM_OP_Mul,
				      at_step(x, l->beta, t, pm__x_type(x, l->beta)->dim[2], 1, 1), v);
	}
	new = pm__x_op2(x, PM_OP_Mul, at_step(x, l->k, t, l->heads, l->key, 1), v);
	return state.id ? pm__x_op2(x, PM_OP_Add, state, new) : new;
}

static PmStatus expand_linear_attention(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue y[MAX_STEPS], state = pm__x_in(&x, 3), all;
	int dtype = pm__draft_type(d, 0)->dtype, held = dtype;
	double scale = pm__x_f(&x, "scale", 0);
	int64_t t, flat[3] = { 0, 0, 0 };
	Linear l = { 0 };

	read_linear(&x, &l);
	if (!x.st && state.id) {
		held = pm__x_type(&x, state)->dtype;
		state = pm__x_cast(&x, state, l.work);
	}
	if (scale == 0 && !x.st)
		scale = 1 / sqrt((double)l.key);
	for (t = 0; t < l.steps && !x.st; t++) {
		state = next_state(&x, &l, state, t);
		y[t] = pm__x_op2(&x, PM_OP_MatMul, at_step(&x, l.q, t, l.heads, l.group, l.key), state);
		y[t] = pm__x_unsqueeze(&x, y[t], 1);
	}
	if (x.st)
		return x.st;
	all = pm__x_op2(&x, PM_OP_Mul, pm__x_concat(&x, y, (size_t)l.steps, 1),
			pm__x_scalar(&x, l.work, scale));
	flat[2] = l.heads * l.group * l.value;
	flat[1] = l.steps;
	all = pm__x_op2(&x, PM_OP_Reshape, all, pm__x_ints(&x, flat, 3));
	pm__x_result(&x, 0, pm__x_cast(&x, all, dtype));
	pm__x_result(&x, 1, pm__x_cast(&x, state, held));
	return x.st;
}

/* ---- CausalConvWithState ---- */

static PmStatus expand_causal_conv(PmDraft *d, PmErr *err)
{
	static const int64_t one = 1, none[2] = { 0, 0 };
	PmExpand x = { d, err, PM_OK };
	const char *act = pm__x_s(&x, "activation", "none");
	PmValue in[3] = { pm__x_in(&x, 0), pm__x_in(&x, 1), pm__x_in(&x, 2) }, past = pm__x_in(&x, 3), y,
		part[2];
	int64_t channels, taps, length, pads[6] = { 0 };
	int dtype = pm__draft_type(d, 0)->dtype;
	PmNode n;

	pm__x_counts(&x, 2, 4, 2);
	if (strcmp(act, "none") && strcmp(act, "silu") && strcmp(act, "swish"))
		pm__x_decline(&x, "its activation '%.40s' is not known", act);
	channels = pm__x_dim(&x, in[1], 0, "the number of channels");
	taps = pm__x_dim(&x, in[1], 2, "the size of the kernel");
	length = pm__x_dim(&x, in[0], 2, "the length");
	if (!x.st && (pm__x_type(&x, in[0])->rank != 3 || pm__x_type(&x, in[1])->rank != 3 || taps < 1))
		pm__x_fail(&x, PM_E_SHAPE, "Input and weight of %s must have 3 dimensions.", d->where.s);
	pads[2] = taps - 1;
	if (past.id) {
		part[0] = past, part[1] = in[0];
		in[0] = pm__x_concat(&x, part, 2, 2);
	} else if (taps > 1) {
		in[0] = pm__x_pad(&x, in[0], (PmValue){ 0 }, pads, 3);
	}
	n = pm__x_open(&x, PM_OP_Conv, in, 3, 1);
	if (!x.st)
		pm__x_set(&x, pm_node_set_ints(d->g, n, "strides", &one, 1, err));
	if (!x.st)
		pm__x_set(&x, pm_node_set_ints(d->g, n, "dilations", &one, 1, err));
	if (!x.st)
		pm__x_set(&x, pm_node_set_ints(d->g, n, "pads", none, 2, err));
	if (!x.st)
		pm__x_set(&x, pm_node_set_i(d->g, n, "group", channels, err));
	y = pm__x_close(&x, n);
	/* The activation is computed in float, whatever the type. */
	if (strcmp(act, "none") && !x.st)
		y = pm__x_cast(&x, silu(&x, pm__x_cast(&x, y, dtype == PM_F64 ? PM_F64 : PM_F32)), dtype);
	pm__x_result(&x, 0, y);
	if (pm__x_wants(&x, 1))
		pm__x_result(&x, 1, pm__x_slice(&x, in[0], 2, length, length + taps - 1, 1));
	return x.st;
}

/* ---- SwiGLU ---- */

static PmStatus expand_swiglu(PmDraft *d, PmErr *err)
{
	PmExpand x = { d, err, PM_OK };
	PmValue gate = pm__x_in(&x, 0), v = gate;
	double alpha = pm__x_f(&x, "alpha", 1);

	pm__x_counts(&x, 2, 2, 1);
	if (alpha != 1)
		v = pm__x_op2(&x, PM_OP_Mul, v, pm__x_scalar(&x, pm__draft_type(d, 0)->dtype, alpha));
	gate = pm__x_op2(&x, PM_OP_Mul, gate, pm__x_op1(&x, PM_OP_Sigmoid, v));
	pm__x_result(&x, 0, pm__x_op2(&x, PM_OP_Mul, gate, pm__x_in(&x, 1)));
	return x.st;
}

const PmNormRow pm__expand_state_rows[] = {
	{ "LinearAttention", PM_OP_Identity, expand_linear_attention,
	  "chunk_size kv_num_heads q_num_heads scale update_rule", 0 },
	{ "CausalConvWithState", PM_OP_Identity, expand_causal_conv, "activation", 0 },
	{ "SwiGLU", PM_OP_Identity, expand_swiglu, "alpha", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
