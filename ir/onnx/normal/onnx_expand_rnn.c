/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_expand_rnn.c - RNN, GRU and LSTM, unrolled over a known number of steps.
 *
 * The products of all steps with the input weights are one MatMul. A state that starts as zero is absent
 * ({0}) until the first step has made it, and terms with it are left out.
 */
#include "ir/onnx/normal/onnx_expand.h"

#include <string.h>
#include <strings.h>

enum { MAX_STEPS = 1024, MAX_GATES = 4 };

typedef struct Activation {
	const struct ActivationDesc *desc;
	double alpha, beta;
} Activation;

typedef struct Rnn {
	PmExpand *x;
	int gates, n_acts;
	int64_t steps, size; /* of a hidden state */
	int64_t layout, input_forget, reset_after;
	double clip; /* 0 = none */
	int reverse, dtype;
	PmValue used; /* steps of each sequence, or {0} */
	Activation act[3];
	/* Of the direction at hand: */
	PmValue w, r, reset_bias, peep[3], h, c;
} Rnn;

/* ---- activations ---- */

static const struct ActivationDesc {
	const char *name;
	PmOp op;
	int n; /* how many of alpha and beta it takes */
	double alpha, beta;
} activations[] = {
	{ "Relu", PM_OP_Relu, 0, 0, 0 },
	{ "Tanh", PM_OP_Tanh, 0, 0, 0 },
	{ "Sigmoid", PM_OP_Sigmoid, 0, 0, 0 },
	{ "Softsign", PM_OP_Softsign, 0, 0, 0 },
	{ "Softplus", PM_OP_Softplus, 0, 0, 0 },
	{ "LeakyRelu", PM_OP_LeakyRelu, 1, 0.01, 0 },
	{ "ThresholdedRelu", PM_OP_ThresholdedRelu, 1, 1, 0 },
	{ "Elu", PM_OP_Elu, 1, 1, 0 },
	{ "HardSigmoid", PM_OP_HardSigmoid, 2, 0.2, 0.5 },
	{ "Affine", PM_OP_NONE, 2, 1, 0 },     /* alpha x + beta */
	{ "ScaledTanh", PM_OP_NONE, 2, 1, 1 }, /* alpha tanh(beta x) */
};

static PmValue activate(Rnn *m, int k, PmValue v)
{
	const Activation *a = &m->act[k];
	PmExpand *x = m->x;

	if (m->clip > 0)
		v = pm__x_op3(x, PM_OP_Clip, v, pm__x_scalar(x, m->dtype, -m->clip),
			      pm__x_scalar(x, m->dtype, m->clip));
	if (a->desc->op != PM_OP_NONE)
		return pm__x_opf(x, a->desc->op, v, a->desc->n > 0 ? "alpha" : NULL, a->alpha,
				 a->desc->n > 1 ? "beta" : NULL, a->beta);
	if (a->desc->name[0] == 'A') {
		v = pm__x_op2(x, PM_OP_Mul, v, pm__x_scalar(x, m->dtype, a->alpha));
		return pm__x_op2(x, PM_OP_Add, v, pm__x_scalar(x, m->dtype, a->beta));
	}
	v = pm__x_op1(x, PM_OP_Tanh, pm__x_op2(x, PM_OP_Mul, v, pm__x_scalar(x, m->dtype, a->beta)));
	return pm__x_op2(x, PM_OP_Mul, v, pm__x_scalar(x, m->dtype, a->alpha));
}

static const struct ActivationDesc *find_activation(const char *name, size_t n)
{
	size_t k;

	for (k = 0; k < sizeof activations / sizeof *activations; k++)
		if (strlen(activations[k].name) == n && strncasecmp(activations[k].name, name, n) == 0)
			return &activations[k];
	return NULL;
}

/* The functions of one direction. Each takes its alpha and beta, if it has any, from the node's lists in
 * order. */
static void read_activations(Rnn *m, int direction, const char *const *dflt)
{
	const Onnx__AttributeProto *a = pm__draft_proto(m->x->d, "activations"),
				   *al = pm__draft_proto(m->x->d, "activation_alpha"),
				   *be = pm__draft_proto(m->x->d, "activation_beta");
	size_t ia = 0, ib = 0;
	int k, to = (direction + 1) * m->n_acts;

	if (a && a->n_strings < (size_t)to) {
		pm__x_fail(m->x, PM_E_INVALID, "There are %zu activations at %s; %d are needed.",
			   a->n_strings, m->x->d->where.s, to);
		return;
	}
	for (k = 0; k < to && !m->x->st; k++) {
		const char *name = a ? (const char *)a->strings[k].data : dflt[k % m->n_acts];
		size_t len = a ? a->strings[k].len : strlen(name);
		Activation *f = &m->act[k % m->n_acts];

		f->desc = len ? find_activation(name, len) : NULL;
		if (!f->desc) {
			pm__x_decline(m->x, "the activation '%.*s' is not known", (int)(len < 40 ? len : 40),
				      len ? name : "");
			return;
		}
		f->alpha = f->desc->alpha;
		f->beta = f->desc->beta;
		if (f->desc->n > 0 && al && ia < al->n_floats)
			f->alpha = (double)al->floats[ia++];
		if (f->desc->n > 1 && be && ib < be->n_floats)
			f->beta = (double)be->floats[ib++];
	}
}

/* ---- cells ---- */

static PmValue gate(Rnn *m, PmValue all, int k)
{
	return m->gates == 1 ? all : pm__x_slice(m->x, all, 1, k * m->size, (k + 1) * m->size, 1);
}

static PmValue plus(Rnn *m, PmValue a, PmValue b)
{
	return !a.id ? b : !b.id ? a : pm__x_op2(m->x, PM_OP_Add, a, b);
}

static PmValue times(Rnn *m, PmValue a, PmValue b)
{
	return !a.id || !b.id ? (PmValue){ 0 } : pm__x_op2(m->x, PM_OP_Mul, a, b);
}

static PmValue recur(Rnn *m, PmValue h, PmValue weights)
{
	return h.id ? pm__x_op2(m->x, PM_OP_MatMul, h, weights) : h;
}

static void rnn_cell(Rnn *m, PmValue xt)
{
	m->h = activate(m, 0, plus(m, xt, recur(m, m->h, m->r)));
}

/* Gates in the order z, r, h. */
static void gru_cell(Rnn *m, PmValue xt)
{
	PmExpand *x = m->x;
	PmValue r_zr = pm__x_slice(x, m->r, 1, 0, 2 * m->size, 1), r_h = gate(m, m->r, 2);
	PmValue zr = recur(m, m->h, r_zr), z, r, h, one = pm__x_scalar(x, m->dtype, 1);

	z = activate(m, 0, plus(m, gate(m, xt, 0), zr.id ? gate(m, zr, 0) : zr));
	r = activate(m, 0, plus(m, gate(m, xt, 1), zr.id ? gate(m, zr, 1) : zr));
	if (m->reset_after)
		h = times(m, r, plus(m, recur(m, m->h, r_h), m->reset_bias));
	else
		h = plus(m, recur(m, times(m, r, m->h), r_h), m->reset_bias);
	h = activate(m, 1, plus(m, gate(m, xt, 2), h));
	m->h = plus(m, times(m, pm__x_op2(x, PM_OP_Sub, one, z), h), times(m, z, m->h));
}

/* Gates in the order i, o, f, c; peepholes in the order i, o, f. */
static void lstm_cell(Rnn *m, PmValue xt)
{
	PmExpand *x = m->x;
	PmValue all = plus(m, xt, recur(m, m->h, m->r)), i, f, c, o;

	i = activate(m, 0, plus(m, gate(m, all, 0), times(m, m->peep[0], m->c)));
	c = times(m, i, activate(m, 1, gate(m, all, 3)));
	if (m->c.id && m->input_forget)
		f = pm__x_op2(x, PM_OP_Sub, pm__x_scalar(x, m->dtype, 1), i);
	else if (m->c.id)
		f = activate(m, 0, plus(m, gate(m, all, 2), times(m, m->peep[2], m->c)));
	m->c = m->c.id ? plus(m, times(m, f, m->c), c) : c;
	o = activate(m, 0, plus(m, gate(m, all, 1), times(m, m->peep[1], m->c)));
	m->h = times(m, o, activate(m, 2, m->c));
}

/* ---- one direction ---- */

/* Part `direction` of an operand along an axis, which goes; {0} when the operand is omitted. */
static PmValue part_of(Rnn *m, size_t operand, int axis, int direction)
{
	PmValue v = pm__x_in(m->x, operand);

	if (!v.id)
		return v;
	return pm__x_squeeze(m->x, pm__x_slice(m->x, v, axis, direction, direction + 1, 1), axis);
}

/* Weights and states of a direction. Operands: X W R B sequence_lens initial_h initial_c P. */
static PmValue prepare(Rnn *m, int direction, PmValue input)
{
	PmExpand *x = m->x;
	PmValue b = part_of(m, 3, 0, direction), p = part_of(m, 7, 0, direction), bias = { 0 };
	int64_t all = m->gates * m->size;
	int k;

	m->w = pm__x_swapped(x, part_of(m, 1, 0, direction));
	m->r = pm__x_swapped(x, part_of(m, 2, 0, direction));
	m->h = part_of(m, 5, m->layout ? 1 : 0, direction);
	m->c = part_of(m, 6, m->layout ? 1 : 0, direction);
	m->reset_bias = (PmValue){ 0 };
	for (k = 0; k < 3; k++)
		m->peep[k] = p.id ? pm__x_slice(x, p, 0, k * m->size, (k + 1) * m->size, 1) : p;
	if (b.id && m->gates == 3) {
		/* The recurrent bias of the candidate may be inside the reset: it is added there. */
		PmValue two[2];

		two[0] = pm__x_op2(x, PM_OP_Add, pm__x_slice(x, b, 0, 0, 2 * m->size, 1),
				   pm__x_slice(x, b, 0, all, all + 2 * m->size, 1));
		two[1] = pm__x_slice(x, b, 0, 2 * m->size, all, 1);
		bias = pm__x_concat(x, two, 2, 0);
		m->reset_bias = pm__x_slice(x, b, 0, all + 2 * m->size, 2 * all, 1);
	} else if (b.id) {
		bias = pm__x_op2(x, PM_OP_Add, pm__x_slice(x, b, 0, 0, all, 1),
				 pm__x_slice(x, b, 0, all, 2 * all, 1));
	}
	return plus(m, pm__x_op2(x, PM_OP_MatMul, input, m->w), bias);
}

/* Where a sequence has ended, the new state gives way to the old one. */
static PmValue keep(Rnn *m, PmValue runs, PmValue now, PmValue before)
{
	if (!before.id)
		before = pm__x_scalar(m->x, m->dtype, 0);
	return pm__x_op3(m->x, PM_OP_Where, runs, now, before);
}

/* Runs all steps; the result is (steps, batch, size). */
static PmValue run_steps(Rnn *m, PmValue inputs, PmValue *step)
{
	PmExpand *x = m->x;
	int64_t s;

	for (s = 0; s < m->steps && !x->st; s++) {
		int64_t t = m->reverse ? m->steps - 1 - s : s;
		PmValue xt = pm__x_squeeze(x, pm__x_slice(x, inputs, 0, t, t + 1, 1), 0), h = m->h, c = m->c,
			out;

		(m->gates == 1 ? rnn_cell : m->gates == 3 ? gru_cell : lstm_cell)(m, xt);
		out = m->h;
		if (m->used.id) {
			PmValue runs = pm__x_op2(x, PM_OP_Less, pm__x_scalar(x, PM_I64, (double)t), m->used);

			out = keep(m, runs, m->h, (PmValue){ 0 });
			m->h = keep(m, runs, m->h, h);
			if (m->gates == 4)
				m->c = keep(m, runs, m->c, c);
		}
		if (pm__x_wants(x, 0))
			step[t] = pm__x_unsqueeze(x, out, 0);
	}
	return pm__x_wants(x, 0) && !x->st ? pm__x_concat(x, step, (size_t)m->steps, 0) : (PmValue){ 0 };
}

/* ---- the node ---- */

/* The lengths as (batch, 1) of int64; {0} when they are known to be all the steps. */
static PmValue lengths(Rnn *m)
{
	PmValue v = pm__x_in(m->x, 4);
	int64_t known[256];
	size_t n = 0, k;

	if (!v.id || m->x->st)
		return (PmValue){ 0 };
	if (pm_value_const_ints(m->x->d->g, v, known, 256, &n) == PM_OK) {
		for (k = 0; k < n && known[k] == m->steps; k++)
			;
		if (k == n)
			return (PmValue){ 0 };
	}
	return pm__x_unsqueeze(m->x, pm__x_cast(m->x, v, PM_I64), 1);
}

static void read_node(Rnn *m, int64_t directions, const char *const *dflt)
{
	PmExpand *x = m->x;
	const char *dir = pm__x_s(x, "direction", "forward");
	int64_t want = strcmp(dir, "bidirectional") == 0 ? 2 : 1;

	m->layout = pm__x_i(x, "layout", 0);
	m->input_forget = pm__x_i(x, "input_forget", 0);
	m->reset_after = pm__x_i(x, "linear_before_reset", 0);
	m->clip = pm__x_f(x, "clip", 0);
	m->reverse = strcmp(dir, "reverse") == 0;
	if (!x->st && (strcmp(dir, "forward") && want == 1 && !m->reverse))
		pm__x_decline(x, "its direction '%.40s' is not known", dir);
	if (!x->st && directions != want)
		pm__x_fail(x, PM_E_SHAPE, "The weights of %s are for %lld directions instead of %lld.",
			   x->d->where.s, (long long)directions, (long long)want);
	read_activations(m, (int)want - 1, dflt);
}

/* Joins what the directions gave along `axis`; with layout 1 the batch comes first. */
static PmValue join(Rnn *m, PmValue *v, int n, int axis)
{
	static const int64_t first3[] = { 1, 0, 2 }, first4[] = { 2, 0, 1, 3 };
	PmValue y;
	int k;

	for (k = 0; k < n; k++)
		v[k] = pm__x_unsqueeze(m->x, v[k], axis);
	y = pm__x_concat(m->x, v, (size_t)n, axis);
	if (m->layout)
		y = pm__x_transpose(m->x, y, axis ? first4 : first3, axis ? 4 : 3);
	return y;
}

static PmStatus expand(PmDraft *d, int gates, int n_acts, const char *const *dflt, PmErr *err)
{
	static const int64_t steps_first[] = { 1, 0, 2 };
	PmExpand x = { d, err, PM_OK };
	Rnn m = { .x = &x, .gates = gates, .n_acts = n_acts, .dtype = pm__draft_type(d, 0)->dtype };
	PmValue y[2], h[2], c[2], *step, input = pm__x_in(&x, 0);
	int64_t directions;
	int k;

	pm__x_counts(&x, 3, gates == 4 ? 8 : 6, gates == 4 ? 3 : 2);
	if (!x.st && (pm__draft_type(d, 0)->rank != 3 || pm__draft_type(d, 1)->rank != 3 ||
		      pm__draft_type(d, 2)->rank != 3))
		pm__x_fail(&x, PM_E_SHAPE, "The input and the weights of %s must have 3 dimensions.",
			   d->where.s);
	directions = pm__x_dim(&x, pm__x_in(&x, 1), 0, "the number of directions");
	m.size = pm__x_dim(&x, pm__x_in(&x, 2), 2, "the hidden size");
	read_node(&m, directions, dflt);
	m.steps = pm__x_dim(&x, input, m.layout ? 1 : 0, "the number of steps");
	if (!x.st && (m.steps < 1 || m.steps > MAX_STEPS))
		pm__x_decline(&x, "%lld steps are outside 1 to %d, to which it is unrolled",
			      (long long)m.steps, MAX_STEPS);
	if (x.st)
		return x.st;
	if (m.layout)
		input = pm__x_transpose(&x, input, steps_first, 3);
	m.used = lengths(&m);
	step = pm_xcalloc((size_t)m.steps, sizeof *step);
	for (k = 0; k < directions && !x.st; k++) {
		m.reverse |= k;
		read_activations(&m, k, dflt);
		y[k] = run_steps(&m, prepare(&m, k, input), step);
		h[k] = m.h;
		c[k] = m.c;
	}
	free(step);
	if (!x.st && pm__x_wants(&x, 0))
		pm__x_result(&x, 0, join(&m, y, (int)directions, 1));
	if (!x.st && pm__x_wants(&x, 1))
		pm__x_result(&x, 1, join(&m, h, (int)directions, 0));
	if (!x.st && pm__x_wants(&x, 2))
		pm__x_result(&x, 2, join(&m, c, (int)directions, 0));
	return x.st;
}

static PmStatus expand_rnn(PmDraft *d, PmErr *err)
{
	static const char *const dflt[] = { "Tanh" };

	return expand(d, 1, 1, dflt, err);
}

static PmStatus expand_gru(PmDraft *d, PmErr *err)
{
	static const char *const dflt[] = { "Sigmoid", "Tanh" };

	return expand(d, 3, 2, dflt, err);
}

static PmStatus expand_lstm(PmDraft *d, PmErr *err)
{
	static const char *const dflt[] = { "Sigmoid", "Tanh", "Tanh" };

	return expand(d, 4, 3, dflt, err);
}

#define COMMON "activation_alpha activation_beta activations clip direction hidden_size layout"

const PmNormRow pm__expand_rnn_rows[] = {
	{ "RNN", PM_OP_Identity, expand_rnn, COMMON, 0 },
	{ "GRU", PM_OP_Identity, expand_gru, COMMON " linear_before_reset", 0 },
	{ "LSTM", PM_OP_Identity, expand_lstm, COMMON " input_forget", 0 },
	{ NULL, PM_OP_NONE, NULL, NULL, 0 },
};
