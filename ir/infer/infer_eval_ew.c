/* SPDX-License-Identifier: Apache-2.0 */
/* infer_eval_ew.c - evaluates arithmetic, comparison and reduction of small integer values.
 *
 * A dimension known only by its symbol takes part where the result does not depend on its size, or is it.
 */
#include "ir/core/element.h"
#include "ir/infer/infer_fold_priv.h"

#include <string.h>

static const PmElem unknown = { PM_ELEM_UNKNOWN, 0 };

static PmElem num(int64_t v)
{
	return (PmElem){ PM_ELEM_INT, v };
}

static int is_int(PmElem e)
{
	return e.kind == PM_ELEM_INT;
}

static int is_num(PmElem e, int64_t v)
{
	return e.kind == PM_ELEM_INT && e.v == v;
}

static int both_ints(PmElem a, PmElem b)
{
	return is_int(a) && is_int(b);
}

static int same_dim(PmElem a, PmElem b)
{
	return a.kind == PM_ELEM_DIM && b.kind == PM_ELEM_DIM && a.v == b.v;
}

/* ---- one element; c is used by Where only ---- */

static PmElem add(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (both_ints(a, b))
		return num((int64_t)((uint64_t)a.v + (uint64_t)b.v));
	if (is_num(a, 0))
		return b;
	return is_num(b, 0) ? a : unknown;
}

static PmElem sub(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (both_ints(a, b))
		return num((int64_t)((uint64_t)a.v - (uint64_t)b.v));
	if (same_dim(a, b))
		return num(0);
	return is_num(b, 0) ? a : unknown;
}

static PmElem mul(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (both_ints(a, b))
		return num((int64_t)((uint64_t)a.v * (uint64_t)b.v));
	if (is_num(a, 0) || is_num(b, 0))
		return num(0);
	if (is_num(a, 1))
		return b;
	return is_num(b, 1) ? a : unknown;
}

/* Division by zero is left to whoever runs the graph. */
static PmElem quotient(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (is_num(b, 1))
		return a;
	if (!both_ints(a, b) || b.v == 0)
		return unknown;
	return num(b.v == -1 ? (int64_t)(0 - (uint64_t)a.v) : a.v / b.v);
}

/* What is left of a division that truncates: with the sign of a. */
static PmElem left_over(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (is_num(b, 1) || is_num(b, -1))
		return num(0);
	return both_ints(a, b) && b.v ? num(a.v % b.v) : unknown;
}

/* The same with the sign of b. */
static PmElem modulo(PmElem a, PmElem b, PmElem c)
{
	PmElem r = left_over(a, b, c);

	return is_int(r) && r.v && (r.v < 0) != (b.v < 0) ? num(r.v + b.v) : r;
}

static PmElem neg(PmElem a, PmElem b, PmElem c)
{
	(void)b, (void)c;
	return is_int(a) ? num((int64_t)(0 - (uint64_t)a.v)) : unknown;
}

static PmElem absolute(PmElem a, PmElem b, PmElem c)
{
	if (a.kind == PM_ELEM_DIM)
		return a;
	return is_int(a) && a.v < 0 ? neg(a, b, c) : a;
}

static PmElem biggest(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (both_ints(a, b))
		return num(a.v > b.v ? a.v : b.v);
	if (same_dim(a, b) || (a.kind == PM_ELEM_DIM && is_int(b) && b.v <= 0))
		return a;
	return b.kind == PM_ELEM_DIM && is_int(a) && a.v <= 0 ? b : unknown;
}

static PmElem least(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (both_ints(a, b))
		return num(a.v < b.v ? a.v : b.v);
	return same_dim(a, b) ? a : unknown;
}

static PmElem equal(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	if (both_ints(a, b))
		return num(a.v == b.v);
	if (same_dim(a, b))
		return num(1);
	if ((a.kind == PM_ELEM_DIM && is_int(b) && b.v < 0) ||
	    (b.kind == PM_ELEM_DIM && is_int(a) && a.v < 0))
		return num(0);
	return unknown;
}

static PmElem less(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	return both_ints(a, b) ? num(a.v < b.v) : unknown;
}

static PmElem less_equal(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	return both_ints(a, b) ? num(a.v <= b.v) : unknown;
}

static PmElem greater(PmElem a, PmElem b, PmElem c)
{
	return less(b, a, c);
}

static PmElem greater_equal(PmElem a, PmElem b, PmElem c)
{
	return less_equal(b, a, c);
}

static PmElem both(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	return both_ints(a, b) ? num(a.v && b.v) : unknown;
}

static PmElem either(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	return both_ints(a, b) ? num(a.v || b.v) : unknown;
}

static PmElem one_of(PmElem a, PmElem b, PmElem c)
{
	(void)c;
	return both_ints(a, b) ? num(a.v != b.v) : unknown;
}

static PmElem not(PmElem a, PmElem b, PmElem c)
{
	(void)b, (void)c;
	return is_int(a) ? num(!a.v) : unknown;
}

static PmElem choose(PmElem a, PmElem b, PmElem c)
{
	if (is_int(a))
		return a.v ? b : c;
	return b.kind == c.kind && b.v == c.v ? b : unknown;
}

static PmElem same(PmElem a, PmElem b, PmElem c)
{
	(void)b, (void)c;
	return a;
}

/* The value as the result's element type holds it. A symbol is followed in int64 only. */
static PmElem wrap(PmElem e, int dtype)
{
	if (e.kind == PM_ELEM_DIM)
		return dtype == PM_I64 ? e : unknown;
	e.v = pm_int_wrap(dtype, e.v);
	return e;
}

/* ---- whole values ---- */

/* Index into operand type t of the element that output element `i` of type o reads. */
static size_t broadcast_index(const PmType *o, const PmType *t, size_t i)
{
	size_t at = 0, scale = 1;
	int d;

	for (d = 1; d <= o->rank; d++) {
		size_t size = (size_t)o->dim[o->rank - d], k = i % size;

		i /= size;
		if (d > t->rank)
			break;
		if (t->dim[t->rank - d] != 1)
			at += k * scale;
		scale *= (size_t)t->dim[t->rank - d];
	}
	return at;
}

enum { MAX_IN = 3 };

PmStatus pm__eval_elementwise(PmEval *e, PmElemFn fn)
{
	size_t i, k, n_in = pm_node_n_in(e->g, e->node);
	const PmElem *in[MAX_IN];
	PmElem v[MAX_IN];

	if (n_in > MAX_IN)
		return PM_DECLINED;
	for (k = 0; k < n_in; k++) {
		in[k] = pm__eval_in(e, k);
		if (!in[k])
			return PM_DECLINED;
	}
	for (i = 0; i < e->n; i++) {
		for (k = 0; k < MAX_IN; k++)
			v[k] = k < n_in ? in[k][broadcast_index(e->type, pm__eval_type(e, k), i)] : unknown;
		e->out[i] = wrap(fn(v[0], v[1], v[2]), e->type->dtype);
	}
	return PM_OK;
}

PmStatus pm__eval_reduce(PmEval *e, PmElemFn fn, int64_t start)
{
	const PmElem *src = pm__eval_in(e, 0);
	const PmType *x = pm__eval_type(e, 0);
	unsigned char in[PM_MAX_RANK] = { 0 };
	const int64_t *axes;
	size_t i, n = 1, n_axes = pm_node_ints(e->g, e->node, "axes", &axes);
	int d;

	if (!src)
		return PM_DECLINED;
	for (i = 0; i < n_axes; i++)
		in[axes[i]] = 1;
	for (d = 0; d < x->rank; d++)
		n *= (size_t)x->dim[d];
	for (i = 0; i < e->n; i++)
		e->out[i] = num(start);
	for (i = 0; i < n; i++) {
		size_t rest = i, at = 0, scale = 1;

		for (d = x->rank - 1; d >= 0; d--) {
			size_t size = (size_t)x->dim[d], k = rest % size;

			rest /= size;
			if (in[d])
				continue;
			at += k * scale;
			scale *= size;
		}
		e->out[at] = wrap(fn(e->out[at], src[i], unknown), e->type->dtype);
	}
	return PM_OK;
}

static PmStatus reduce_prod(PmEval *e)
{
	return pm__eval_reduce(e, mul, 1);
}

static PmStatus reduce_sum(PmEval *e)
{
	return pm__eval_reduce(e, add, 0);
}

/* One evaluator per element function, so that the table below can name them. */
#define EACH(name, fn)                                                                                       \
	static PmStatus eval_##name(PmEval *e)                                                               \
	{                                                                                                    \
		return pm__eval_elementwise(e, fn);                                                          \
	}
#define EW_LIST(X)                                                                                           \
	X(Neg, neg)                                                                                          \
	X(Abs, absolute)                                                                                     \
	X(Equal, equal)                                                                                      \
	X(Less, less)                                                                                        \
	X(LessOrEqual, less_equal)                                                                           \
	X(Greater, greater)                                                                                  \
	X(GreaterOrEqual, greater_equal)                                                                     \
	X(And, both)                                                                                         \
	X(Or, either)                                                                                        \
	X(Xor, one_of)                                                                                       \
	X(Not, not )                                                                                         \
	X(Where, choose)                                                                                     \
	X(Cast, same)
EW_LIST(EACH)

/* What the elements leave open may still be a formula of sizes. */
static PmStatus eval_sizes(PmEval *e, PmElemFn fn, PmDim (*formula)(const PmGraph *, PmDim, PmDim))
{
	const PmElem *a = pm__eval_in(e, 0), *b = pm__eval_in(e, 1);
	PmStatus st = pm__eval_elementwise(e, fn);
	size_t i;

	for (i = 0; i < e->n && st == PM_OK; i++) {
		PmElem x = a[broadcast_index(e->type, pm__eval_type(e, 0), i)];
		PmElem y = b[broadcast_index(e->type, pm__eval_type(e, 1), i)];
		PmDim d;

		if (e->out[i].kind != PM_ELEM_UNKNOWN || x.kind == PM_ELEM_UNKNOWN ||
		    y.kind == PM_ELEM_UNKNOWN || (is_int(x) && x.v < 0) || (is_int(y) && y.v < 0) ||
		    both_ints(x, y))
			continue;
		d = formula(e->g, x.v, y.v);
		if (d != PM_DIM_UNKNOWN)
			e->out[i] = wrap(d < 0 ? (PmElem){ PM_ELEM_DIM, d } : num(d), e->type->dtype);
	}
	return st;
}

static PmStatus eval_add(PmEval *e)
{
	return eval_sizes(e, add, pm_dim_add);
}

static PmStatus eval_sub(PmEval *e)
{
	return eval_sizes(e, sub, pm_dim_sub);
}

static PmStatus eval_mul(PmEval *e)
{
	return eval_sizes(e, mul, pm_dim_mul);
}

static PmStatus eval_div(PmEval *e)
{
	return eval_sizes(e, quotient, pm_dim_div);
}

static PmStatus eval_mod(PmEval *e)
{
	return pm__eval_elementwise(e, pm_node_i(e->g, e->node, "fmod", 0) ? left_over : modulo);
}

/* Max and Min take one operand or two; more are left alone. */
static PmStatus eval_fold(PmEval *e, PmElemFn fn)
{
	size_t n = pm_node_n_in(e->g, e->node);

	if (n > 2)
		return PM_DECLINED;
	return pm__eval_elementwise(e, n == 1 ? same : fn);
}

static PmStatus eval_max(PmEval *e)
{
	return eval_fold(e, biggest);
}

static PmStatus eval_min(PmEval *e)
{
	return eval_fold(e, least);
}

PmEvalFn pm__eval_ew_fn(PmOp op)
{
#define ROW(name, fn) [PM_OP_##name] = eval_##name,
	static const PmEvalFn table[PM_N_OPS] = { EW_LIST(ROW)[PM_OP_Add] = eval_add,
						  [PM_OP_Sub] = eval_sub,
						  [PM_OP_Mul] = eval_mul,
						  [PM_OP_Div] = eval_div,
						  [PM_OP_Mod] = eval_mod,
						  [PM_OP_Max] = eval_max,
						  [PM_OP_Min] = eval_min,
						  [PM_OP_ReduceProd] = reduce_prod,
						  [PM_OP_ReduceSum] = reduce_sum };
#undef ROW

	return table[op];
}
