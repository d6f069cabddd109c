/* SPDX-License-Identifier: Apache-2.0 */
/* bound_move.c - units of error found by evaluating an operator on moved operands, and of operators that move
 * elements. */
#include "bench/compare/bound/bound_priv.h"

#include "base/core/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at(const double *f, int64_t i)
{
	return f ? f[i] : 0;
}

/* Operand k moved by sign * reach * mag: numbers by that, truth values to their opposite. Owned data. */
static PmRefTensor moved(const PmRefTensor *x, const double *mag, int sign)
{
	PmRefTensor t = *x;
	size_t n = (size_t)x->numel;

	t.f = x->f ? pm_xcalloc(n + 1, sizeof *t.f) : NULL;
	t.i = x->i ? pm_xcalloc(n + 1, sizeof *t.i) : NULL;
	for (size_t i = 0; i < n; i++) {
		double d = sign * PM_BOUND_REACH * mag[i];

		if (t.f)
			t.f[i] = x->f[i] + d;
		else if (x->type.dtype == PM_BOOL)
			t.i[i] = mag[i] > 0 ? !x->i[i] : x->i[i];
		else
			t.i[i] = fabs(d) < 0x1p62 ? x->i[i] + llround(d) : x->i[i];
	}
	return t;
}

static double value(const PmRefTensor *t, int64_t i)
{
	return t->f ? t->f[i] : pm_int_to_f64(t->type.dtype, t->i[i]);
}

static int same_class(double a, double b)
{
	return isnan(a) ? isnan(b) : isinf(a) ? a == b : isfinite(b);
}

/* How an operand is moved: by `mag` standard deviations' reach, `shared` of which its elements have in common
 * (NULL = nothing). */
typedef struct Moves {
	double *mag, *shared;
	uint64_t source;
	double reach; /* by which a change is divided; 2 where it is a step's height */
} Moves;

/* How much of the change of result i its neighbours have too. */
static double common(const PmRefTensor *x, const Moves *m, int64_t i, int64_t n)
{
	if (x->numel != n)
		return 1;
	return isfinite(m->mag[i]) ? (m->mag[i] > 0 ? m->shared[i] / m->mag[i] : 0) : 1;
}

typedef struct Changes {
	const PmRefTensor *y, *x, *down, *up;
	const Moves *m;
	PmBoundPart *p;
} Changes;

static void changes_of(void *arg, int64_t from, int64_t to)
{
	const Changes *c = arg;
	PmBoundPart *p = c->p;

	for (int64_t i = from; i < to; i++) {
		double y = value(c->y, i), a = value(c->down, i), b = value(c->up, i);

		/* A number that only exact operands make infinite or no number is open. */
		if (!isfinite(y)) {
			p->all[i] = same_class(y, a) && same_class(y, b) ? 0 : INFINITY;
			continue;
		}
		p->all[i] = isfinite(a) && isfinite(b) ? fmax(fabs(a - y), fabs(b - y)) / c->m->reach
						       : INFINITY;
		if (p->shared)
			p->shared[i] = p->all[i] * common(c->x, c->m, i, c->y->numel);
	}
}

/* The larger change of result q when operand k moves up and down, as a part. */
static PmBoundPart part_of(const PmBoundCall *c, size_t k, size_t q, const Moves *m, const PmRefTensor *down,
			   const PmRefTensor *up)
{
	int64_t n = c->call.out[q].numel;
	const PmRefTensor *x = &c->call.in[k];
	int any = m->shared || x->numel < n;
	PmBoundPart p = { .inv = pm__bound_inv(c, k, n), .source = m->source };

	p.all = pm_xcalloc((size_t)n + 1, sizeof *p.all);
	p.shared = any ? pm_xcalloc((size_t)n + 1, sizeof *p.shared) : NULL;
	pm_threads_run(n, PM_BOUND_LEAST, changes_of, &(Changes){ &c->call.out[q], x, down, up, m, &p });
	return p;
}

/* Operand j is operand k: it moves with it. */
static int same_values(const PmBoundCall *c, size_t j, size_t k)
{
	const PmRefTensor *a = &c->call.in[j], *b = &c->call.in[k];

	return a->numel == b->numel && a->f == b->f && a->i == b->i;
}

static int came_before(const PmBoundCall *c, size_t k)
{
	for (size_t j = 0; j < k; j++)
		if (c->call.in[k].numel && same_values(c, j, k))
			return 1;
	return 0;
}

/* A result that is linear in operand k, which is no other operand too: up and down are the same. */
static int is_linear(const PmBoundCall *c, size_t k)
{
	PmOp op = pm_node_op(c->call.g, c->call.node);

	for (size_t j = 0; j < c->call.n_in; j++)
		if (j != k && same_values(c, j, k))
			return 0;
	return c->call.in[k].f && c->call.out[0].f &&
	       (op == PM_OP_Add || op == PM_OP_Sub || op == PM_OP_Mul || op == PM_OP_Sum);
}

/* Adds what moving operand k does to each result. */
static PmStatus add_moves(PmBoundCall *c, size_t k, const Moves *m, PmErr *err)
{
	size_t n_out = c->call.n_out;
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in);
	PmRefTensor *out[2] = { pm_xcalloc(n_out + 1, sizeof **out), pm_xcalloc(n_out + 1, sizeof **out) };
	int ways = is_linear(c, k) ? 1 : 2;
	PmStatus st = PM_OK;

	memcpy(in, c->call.in, c->call.n_in * sizeof *in);
	for (int s = 0; s < ways && !st; s++) {
		PmRefTensor x = moved(&c->call.in[k], m->mag, s ? 1 : -1);

		for (size_t j = 0; j < c->call.n_in; j++)
			if (j == k || same_values(c, j, k))
				in[j] = x;
		st = pm__bound_again(c, in, out[s], err);
		pm_ref_tensor_release(&x);
	}
	for (size_t q = 0; q < n_out && !st; q++) {
		PmBoundPart p = part_of(c, k, q, m, &out[0][q], &out[ways - 1][q]);

		pm__bound_add(c, q, &p);
	}
	for (int s = 0; s < 2; s++) {
		pm__bound_release_all(out[s], n_out);
		free(out[s]);
	}
	free(in);
	return st;
}

static PmStatus move_all(PmBoundCall *c, double u, double reach, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->call.n_in && !st; k++) {
		const PmRefTensor *x = &c->call.in[k];
		double *f = x->numel && !came_before(c, k) ? pm__bound_full(c, k) : NULL;
		Moves m = { .shared = pm__bound_common(c, k, f),
			    .source = f ? c->in[k].source : 0,
			    .reach = x->f ? reach : 2 };

		if (came_before(c, k))
			continue;
		/* One number beside many elements is a parameter, as an exponent is: it is read as it is. */
		if (x->f && u > 0 && !f && (k == 0 || x->numel > 1))
			f = pm_xcalloc((size_t)x->numel, sizeof *f);
		for (int64_t i = 0; f && x->f && u > 0 && i < x->numel; i++)
			f[i] = isfinite(x->f[i]) ? sqrt(f[i] * f[i] + u * x->f[i] * (u * x->f[i])) : f[i];
		m.mag = f;
		if (f)
			st = add_moves(c, k, &m, err);
		free(m.shared);
		free(f);
	}
	return st;
}

PmStatus pm__bound_move_operands(PmBoundCall *c, double u, PmErr *err)
{
	return move_all(c, u, PM_BOUND_REACH, err);
}

/* Where on numbers in place of its data: units (of zeros where there are none), or ones and zeros; with the
 * condition as it is, or turned over where it is not certain. */
static PmStatus where_on(const PmBoundCall *c, int units, int turned, PmRefTensor *out, PmErr *err)
{
	PmRefTensor in[3];
	PmStatus st;

	memcpy(in, c->call.in, sizeof in);
	in[0].i = pm_xcalloc((size_t)in[0].numel + 1, sizeof *in[0].i);
	for (int64_t i = 0; i < in[0].numel; i++)
		in[0].i[i] = c->call.in[0].i[i] != (turned && c->in[0].unit[i] > 0);
	for (int k = 1; k < 3; k++) {
		in[k].f = pm_xcalloc((size_t)in[k].numel + 1, sizeof *in[k].f);
		for (int64_t i = 0; i < in[k].numel; i++)
			in[k].f[i] = units ? at(c->in[k].unit, i) : k == 1;
	}
	st = pm__bound_again(c, in, out, err);
	free(in[0].i);
	free(in[1].f);
	free(in[2].f);
	return st;
}

/* A condition that is not certain may choose the other operand, which has errors of its own. */
static PmStatus add_other_branch(PmBoundCall *c, PmErr *err)
{
	PmRefTensor out[3] = { 0 };
	PmBoundPart p = { .inv = pm__bound_inv(c, 0, c->call.out[0].numel) };
	PmStatus st = where_on(c, 1, 1, &out[0], err);

	for (int turned = 0; turned < 2 && !st; turned++)
		st = where_on(c, 0, turned, &out[1 + turned], err);
	if (!st) {
		p.all = pm_xcalloc((size_t)out[0].numel + 1, sizeof *p.all);
		for (int64_t i = 0; i < out[0].numel; i++)
			p.all[i] = out[1].f[i] != out[2].f[i] ? out[0].f[i] : 0;
		/* Beside the step itself, whose height is that between what neither error has moved. */
		p.source = c->used;
		pm__bound_add(c, 0, &p);
	}
	pm__bound_release_all(out, 3);
	return st;
}

/* Results that are operands, untouched: they keep being rounded or not. */
PmStatus pm__bound_exact(PmBoundCall *c, PmErr *err)
{
	PmStatus st = PM_OK;
	int rounds = 0;

	for (size_t k = 0; k < c->call.n_in && !st; k++) {
		const PmBound *b = &c->in[k];
		Moves m = { b->unit, b->shared, b->source, c->call.in[k].f ? PM_BOUND_REACH : 2 };

		if (b->unit && c->call.in[k].numel && !came_before(c, k))
			st = add_moves(c, k, &m, err);
		rounds |= b->rounds && c->call.in[k].numel;
		c->out[0].repeats |= b->repeats || (b->rounds && c->call.in[k].numel < c->call.out[0].numel);
	}
	if (!st && pm_node_op(c->call.g, c->call.node) == PM_OP_Where && c->in[0].unit && c->call.out[0].f &&
	    (c->in[1].unit || c->in[2].unit))
		st = add_other_branch(c, err);
	if (rounds)
		pm__bound_rounded(c);
	return st;
}

/* Steps: exact, but what decides them has been rounded before. */
PmStatus pm__bound_stepped(PmBoundCall *c, PmErr *err)
{
	return move_all(c, 0, 2, err);
}

static double *copy_of(const double *e, int64_t n)
{
	double *to = e ? pm_xcalloc((size_t)n + 1, sizeof *to) : NULL;

	return to ? memcpy(to, e, (size_t)n * sizeof *to) : NULL;
}

/* To another floating-point type: what has been rounded before stays so. To fewer digits, a kernel may leave
 * the rounding out. To the same type it is that value, which is stored once. */
PmStatus pm__bound_cast(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];
	PmBoundPart p = { .inv = pm__bound_inv(c, 0, y->numel), .source = c->in[0].source };

	if (!y->f || !x->f)
		return pm__bound_stepped(c, err);
	c->out[0].rounds = pm__bound_narrows(c) || c->in[0].rounds || c->in[0].unit;
	c->out[0].repeats = c->in[0].repeats;
	if (pm__bound_same_type(c)) {
		p.all = copy_of(c->in[0].unit, y->numel);
		p.shared = p.all ? copy_of(c->in[0].shared, y->numel) : NULL;
	} else {
		p.all = pm__bound_full(c, 0);
		p.shared = pm__bound_common(c, 0, p.all);
	}
	if (p.all)
		pm__bound_add(c, 0, &p);
	return PM_OK;
}

/* Operand k as the sum of its terms' absolute values, negative when `minus`. Owned data. */
static PmRefTensor terms_of(const PmBoundCall *c, size_t k, int minus)
{
	PmRefTensor t = c->call.in[k];

	t.f = pm_xcalloc((size_t)t.numel + 1, sizeof *t.f);
	for (int64_t i = 0; i < t.numel; i++) {
		double m = c->in[k].mass ? c->in[k].mass[i] : fabs(c->call.in[k].f[i]);

		t.f[i] = minus ? -m : m;
	}
	return t;
}

/* A sum in another order has other partial sums, which may be as large as all of its terms together although
 * those of this order are small: one more rounding, of a partial sum that is anywhere below it. */
static PmStatus add_orders(PmBoundCall *c, double ud, PmErr *err)
{
	int is_sub = pm_node_op(c->call.g, c->call.node) == PM_OP_Sub, of_sums = c->call.n_in > 2;
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in), out;
	PmStatus st;

	for (size_t k = 0; k < c->call.n_in; k++) {
		in[k] = terms_of(c, k, is_sub && k == 1);
		of_sums |= c->in[k].mass != NULL;
	}
	st = pm__bound_again(c, in, &out, err);
	for (int64_t i = 0; !st && of_sums && i < out.numel; i++)
		if (isfinite(out.f[i]))
			pm__bound_unit(c, 0)[i] += PM_BOUND_ROUNDING / sqrt(3) * ud * out.f[i];
	if (!st) {
		c->out[0].mass = out.f;
		out.f = NULL;
	} else {
		c->out[0].mass = pm_xcalloc((size_t)c->call.out[0].numel + 1, sizeof(double));
	}
	pm_ref_tensor_release(&out);
	for (size_t k = 0; k < c->call.n_in; k++)
		free(in[k].f);
	free(in);
	return st;
}

/* For each element of a sum of few terms: 1 when none of its operands has an error or is a sum itself, and
 * float holds it: then it is exact, whether rounded once or in a fused operation. Owned; NULL = none is. */
static char *exact_elements(const PmBoundCall *c)
{
	const PmRefTensor *y = &c->call.out[0];
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in), out;
	int is_sub = pm_node_op(c->call.g, c->call.node) == PM_OP_Sub;
	char *exact = NULL;

	for (size_t k = 0; k < c->call.n_in; k++) {
		double *f = pm__bound_full(c, k);

		in[k] = c->call.in[k];
		in[k].f = pm_xcalloc((size_t)in[k].numel + 1, sizeof *in[k].f);
		for (int64_t i = 0; i < in[k].numel; i++)
			in[k].f[i] = c->in[k].mass || (f && f[i] != 0) ? (is_sub && k == 1 ? -1 : 1) : 0;
		free(f);
	}
	if (!pm__bound_again(c, in, &out, NULL)) {
		exact = pm_xcalloc((size_t)y->numel + 1, 1);
		for (int64_t i = 0; i < y->numel; i++)
			exact[i] = (char)(out.f[i] == 0 && pm__bound_holds(PM_F32, y->f[i]));
	}
	pm_ref_tensor_release(&out);
	for (size_t k = 0; k < c->call.n_in; k++)
		free(in[k].f);
	free(in);
	return exact;
}

/* A quotient that is no number may be another one, or a number, when its operands have been rounded to their
 * type: x / 0 is an infinity, and NaN where x rounds to 0. Such elements are not judged. */
static PmStatus open_quotients(PmBoundCall *c, PmErr *err)
{
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in), out;
	int any = 0;
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->call.n_in; k++) {
		in[k] = c->call.in[k];
		in[k].f = pm_xcalloc((size_t)in[k].numel + 1, sizeof *in[k].f);
		any |= c->in[k].rounds;
		for (int64_t i = 0; i < in[k].numel; i++) {
			double v = c->call.in[k].f[i];

			in[k].f[i] = c->in[k].rounds ? pm__bound_round(c->in[k].y.type.dtype, v) : v;
		}
	}
	if (any) {
		st = pm__bound_again(c, in, &out, err);
		for (int64_t i = 0; !st && i < out.numel; i++)
			if (!same_class(c->call.out[0].f[i], out.f[i]))
				pm__bound_unit(c, 0)[i] = INFINITY;
		pm_ref_tensor_release(&out);
	}
	for (size_t k = 0; k < c->call.n_in; k++)
		free(in[k].f);
	free(in);
	return st;
}

/* Each result rounded correctly; the order of operations on what is rounded already is free, which adds a
 * rounding of another intermediate value, as large as the result or a sum's terms, and a quotient may be a
 * product with the reciprocal, which is rounded too. */
PmStatus pm__bound_arithmetic(PmBoundCall *c, PmErr *err)
{
	PmOp op = pm_node_op(c->call.g, c->call.node);
	int free_order = op == PM_OP_Sum, plain = op == PM_OP_Add || op == PM_OP_Sub || op == PM_OP_Sum;
	double u = pm__bound_u(c->call.out[0].type.dtype), *e;
	const PmRefTensor *y = &c->call.out[0];
	PmStatus st = PM_OK;

	if (!y->f)
		return pm__bound_stepped(c, err);
	for (size_t k = 0; k < c->call.n_in; k++)
		free_order |= c->in[k].unit || c->in[k].rounds;
	if (plain)
		st = add_orders(c, pm__bound_ud(y->type.dtype), err);
	if (free_order || (!plain && op != PM_OP_Mul)) {
		char *exact = plain && y->type.dtype != PM_F64 ? exact_elements(c) : NULL;

		e = pm__bound_unit(c, 0);
		for (int64_t i = 0; !st && i < y->numel; i++)
			if (isfinite(y->f[i]) && !(exact && exact[i]))
				e[i] += PM_BOUND_ROUNDING * u *
					(plain ? fabs(c->out[0].mass[i]) : fabs(y->f[i]));
		free(exact);
	}
	pm__bound_own(c, 0, 0);
	if (!st)
		st = pm__bound_move_operands(c, 0, err);
	if (!st && op == PM_OP_Div)
		st = open_quotients(c, err);
	pm__bound_rounded(c);
	return st;
}

/* The size of what a function's own last digit may be of: its result, and what its formula cancels. */
static double own_size(const PmBoundCall *c, int64_t i)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];
	double lost = x->numel == y->numel && isfinite(x->f[i]) ? pm__bound_cancels(c, x->f[i]) : 0;

	return hypot(y->f[i], lost);
}

/* exp of an exact 0 is 1 in every program: takes that error out of e. But exp(x - m) may be 2^(x L - m L), L
 * = log2 e, in one fused operation, and that leaves the rounding of m L: u 0.4247 |m| of the result. It is
 * another one wherever m is, although all these results are 1. NULL = no operand is 0. */
static PmBoundPart exp_of_zero(const PmBoundCall *c, double u, double *e)
{
	const PmRefTensor *x = &c->call.in[0];
	double *f = pm__bound_full(c, 0);
	PmBoundPart p = { .inv = x->numel ? 1 / (double)x->numel : 0 };

	for (int64_t i = 0; i < x->numel; i++) {
		double m = c->in[0].mass ? c->in[0].mass[i] / 2 : 0;

		if (x->f[i] != 0 || at(f, i) > 0)
			continue;
		if (!p.all)
			p.all = pm_xcalloc((size_t)x->numel + 1, sizeof *p.all);
		p.all[i] = fmin(u, PM_BOUND_ROUNDING * u * m);
		e[i] -= u;
	}
	free(f);
	return p;
}

typedef struct Digits {
	const PmBoundCall *c;
	double *e, u, tiny, tier;
} Digits;

static void own_digits(void *arg, int64_t from, int64_t to)
{
	const Digits *d = arg;
	const PmRefTensor *y = &d->c->call.out[0];

	for (int64_t i = from; i < to; i++)
		if (isfinite(y->f[i]))
			d->e[i] += d->tier * fabs(y->f[i]) + d->tiny + d->u * own_size(d->c, i);
}

/* Functions are good to their last two digits (the tables of maximum errors in the CUDA C++ Programming Guide
 * and of the C libraries: 1 to 2 units in the last place, a unit being u |y| to 2 u |y|); u |y| is the
 * standard deviation of what is uniform in sqrt(3) u |y|. The operand is multiplied by a rounded constant
 * first (log2 e, 2 / pi), and rounded: two errors uniform in half a digit, u |x| sqrt(2/3). */
PmStatus pm__bound_function(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *y = &c->call.out[0];
	PmBoundPart zero = { 0 };
	double u = pm__bound_u(y->type.dtype), tier = c->tier == PM_TIER_STRICT ? 0 : 0x1p-11;
	double tiny = pm__bound_flushed(y->type.dtype), *e;

	if (!y->f)
		return pm__bound_stepped(c, err);
	e = pm__bound_unit(c, 0);
	c->widened = tier > 0;
	pm_threads_run(y->numel, PM_BOUND_LEAST / 2, own_digits, &(Digits){ c, e, u, tiny, tier });
	if (pm_node_op(c->call.g, c->call.node) == PM_OP_Exp)
		zero = exp_of_zero(c, u, e);
	pm__bound_own(c, 0, 0);
	if (zero.all)
		pm__bound_add(c, 0, &zero);
	pm__bound_rounded(c);
	return pm__bound_move_operands(c, u * sqrt(2.0 / 3), err);
}

/* ---- moves, and the rest ---- */

/* The operator on numbers that lie where its operands lie; `v` by operand, NULL = zeros. */
static PmStatus move_numbers(PmBoundCall *c, double *const *v, PmRefTensor *out, PmErr *err)
{
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in);
	PmStatus st;

	for (size_t k = 0; k < c->call.n_in; k++) {
		in[k] = c->call.in[k];
		if (in[k].f)
			in[k].f = v[k] ? v[k] : pm_xcalloc((size_t)in[k].numel + 1, sizeof *in[k].f);
	}
	st = pm__bound_again(c, in, out, err);
	for (size_t k = 0; k < c->call.n_in; k++)
		if (in[k].f && in[k].f != v[k])
			free(in[k].f);
	free(in);
	return st;
}

/* Operators that may put an element in several places. */
static int copies(const PmBoundCall *c)
{
	PmOp op = pm_node_op(c->call.g, c->call.node);

	return op == PM_OP_Gather || op == PM_OP_GatherElements || op == PM_OP_GatherND || op == PM_OP_Tile ||
	       op == PM_OP_Expand;
}

static PmStatus move_errors(PmBoundCall *c, double *const *unit, double *const *shared, PmErr *err)
{
	size_t n_out = c->call.n_out;
	PmRefTensor *all = pm_xcalloc(n_out + 1, sizeof *all), *some = pm_xcalloc(n_out + 1, sizeof *some);
	PmStatus st = move_numbers(c, unit, all, err);

	if (!st && shared)
		st = move_numbers(c, shared, some, err);
	for (size_t q = 0; q < n_out && !st; q++) {
		PmBoundPart p = { .all = all[q].f, .shared = some[q].f };

		for (size_t k = 0; k < c->call.n_in; k++)
			p.inv = unit[k] ? fmax(p.inv, pm__bound_inv(c, k, c->call.out[q].numel)) : p.inv;
		if (!p.all)
			continue;
		all[q].f = some[q].f = NULL;
		pm__bound_add(c, q, &p);
	}
	pm__bound_release_all(all, n_out);
	pm__bound_release_all(some, n_out);
	free(all);
	free(some);
	return st;
}

/* A sum that lies elsewhere is still a sum: what it is added to may come before its terms. */
static PmStatus move_mass(PmBoundCall *c, PmErr *err)
{
	double **mass = pm_xcalloc(c->call.n_in + 1, sizeof(double *));
	PmRefTensor *out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
	int any = 0;
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->call.n_in; k++)
		any |= c->in[k].mass != NULL;
	for (size_t k = 0; k < c->call.n_in && any; k++)
		mass[k] = c->call.in[k].f ? terms_of(c, k, 0).f : NULL;
	if (any)
		st = move_numbers(c, mass, out, err);
	for (size_t q = 0; q < c->call.n_out && any && !st; q++) {
		c->out[q].mass = out[q].f;
		out[q].f = NULL;
	}
	for (size_t k = 0; k < c->call.n_in; k++)
		free(mass[k]);
	pm__bound_release_all(out, c->call.n_out);
	free(out);
	free(mass);
	return st;
}

/* Positions, counts or truth values of which some may be others when operands move by their errors. */
static int is_uncertain(const PmBound *b)
{
	for (int64_t i = 0; b->y.i && b->unit && i < b->y.numel; i++)
		if (b->unit[i] > 0)
			return 1;
	return 0;
}

PmStatus pm__bound_move(PmBoundCall *c, PmErr *err)
{
	double **unit = pm_xcalloc(c->call.n_in + 1, sizeof(double *));
	double **shared = pm_xcalloc(c->call.n_in + 1, sizeof(double *));
	PmStatus st = PM_OK;
	int any = 0, common_too = 0, rounds = 0, repeats = 0;

	for (size_t k = 0; k < c->call.n_in; k++) {
		const PmBound *b = &c->in[k];

		if (!b->y.numel)
			continue;
		rounds |= b->rounds;
		repeats |= b->repeats || (b->rounds && copies(c));
		if (is_uncertain(b))
			pm__bound_lose(c);
		unit[k] = b->y.f ? b->unit : NULL;
		shared[k] = unit[k] && (copies(c) || b->repeats) ? b->unit : unit[k] ? b->shared : NULL;
		any |= unit[k] != NULL;
		common_too |= shared[k] != NULL;
	}
	if (any)
		st = move_errors(c, unit, common_too ? shared : NULL, err);
	if (!st)
		st = move_mass(c, err);
	for (size_t k = 0; k < c->call.n_out && !st; k++) {
		c->out[k].rounds = rounds && c->call.out[k].f != NULL;
		c->out[k].repeats = repeats;
	}
	free(unit);
	free(shared);
	return st;
}

PmStatus pm__bound_view(PmBoundCall *c, PmErr *err)
{
	/* Truth values and positions are in the results as they are; so is what each of them may be too. */
	return c->in[0].y.i ? pm__bound_stepped(c, err) : pm__bound_move(c, err);
}

/* Operand k moved at random by its reach, u |x| included; its data is owned when it has floating-point
 * elements. */
static PmRefTensor shaken(const PmBoundCall *c, size_t k, double u, PmRng *r)
{
	const PmRefTensor *x = &c->call.in[k];
	PmRefTensor t = *x;
	double *f = x->f ? pm__bound_full(c, k) : NULL;

	if (x->f)
		t.f = pm_xcalloc((size_t)x->numel + 1, sizeof *t.f);
	for (int64_t i = 0; x->f && i < x->numel; i++) {
		double d = PM_BOUND_REACH * (at(f, i) + u * fabs(x->f[i]));

		t.f[i] = !isfinite(x->f[i]) ? x->f[i] : pm_rng_u64(r) & 1 ? x->f[i] + d : x->f[i] - d;
	}
	free(f);
	return t;
}

static PmStatus add_shaken(PmBoundCall *c, double u, PmRng *r, double *e, PmErr *err)
{
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in);
	PmRefTensor *out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
	const PmRefTensor *y = &c->call.out[0];
	PmStatus st;

	for (size_t k = 0; k < c->call.n_in; k++)
		in[k] = shaken(c, k, u, r);
	st = pm__bound_again(c, in, out, err);
	for (int64_t i = 0; !st && i < y->numel; i++)
		if (isfinite(y->f[i]))
			e[i] = fmax(e[i], isfinite(out[0].f[i])
						  ? 2 * fabs(out[0].f[i] - y->f[i]) / PM_BOUND_REACH
						  : INFINITY);
	pm__bound_release_all(out, c->call.n_out);
	for (size_t k = 0; k < c->call.n_in; k++)
		free(in[k].f);
	free(in);
	free(out);
	return st;
}

/* Twice the largest effect of four random moves of all floating-point operands together: as likely as not
 * each is below 0.67 standard deviations, and all four are below half of one once in 46 times. The first
 * result alone is judged. */
PmStatus pm__bound_sampled(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *y = &c->call.out[0];
	double u = pm__bound_u(y->type.dtype), walk = u * (2 + sqrt(pm__bound_terms(c)) / 4), *e;
	PmBoundPart p = { .inv = 1 };
	PmStatus st = PM_OK;
	PmRng r;

	if (!y->f)
		return pm__bound_stepped(c, err);
	e = pm__bound_unit(c, 0);
	for (int64_t i = 0; i < y->numel; i++)
		e[i] += isfinite(y->f[i]) ? walk * (fabs(y->f[i]) + pm__bound_cancels(c, 0)) : 0;
	pm__bound_own(c, 0, 0);
	p.all = pm_xcalloc((size_t)y->numel + 1, sizeof *p.all);
	p.shared = pm_xcalloc((size_t)y->numel + 1, sizeof *p.shared);
	pm_rng_init_named(&r, 1, "error bound");
	for (int t = 0; t < 4 && !st; t++)
		st = add_shaken(c, u, &r, p.all, err);
	memcpy(p.shared, p.all, (size_t)y->numel * sizeof *p.all);
	for (size_t k = 0; k < c->call.n_in; k++)
		p.inv = c->call.in[k].numel ? fmin(p.inv, pm__bound_inv(c, k, y->numel)) : p.inv;
	pm__bound_add(c, 0, &p);
	pm__bound_rounded(c);
	for (size_t k = 1; k < c->call.n_out; k++)
		c->out[k].known = 0;
	return st;
}
