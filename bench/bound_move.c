/* bound_move.c - units of error found by evaluating an operator on moved operands, and of operators that move
 * elements. */
#include "bench/bound_priv.h"

#include "base/half.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 16 }; /* how far operands are moved, in units: as far as a result may be off */

static double at(const double *f, int64_t i)
{
	return f ? f[i] : 0;
}

/* Operand k moved by sign * STEPS * mag: numbers by that, truth values to their opposite. Owned data. */
static PmRefTensor moved(const PmRefTensor *x, const double *mag, int sign)
{
	PmRefTensor t = *x;
	size_t n = (size_t)x->numel;

	t.f = x->f ? pm_xcalloc(n + 1, sizeof *t.f) : NULL;
	t.i = x->i ? pm_xcalloc(n + 1, sizeof *t.i) : NULL;
	for (size_t i = 0; i < n; i++) {
		double d = sign * STEPS * mag[i];

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

/* Adds the larger change of each result when operand k moves up or down by mag. */
static PmStatus add_moves(PmBoundCall *c, size_t k, const double *mag, PmErr *err)
{
	size_t n_out = c->call.n_out;
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in);
	PmRefTensor *out[2] = { pm_xcalloc(n_out + 1, sizeof **out), pm_xcalloc(n_out + 1, sizeof **out) };
	PmStatus st = PM_OK;

	memcpy(in, c->call.in, c->call.n_in * sizeof *in);
	for (int s = 0; s < 2 && !st; s++) {
		in[k] = moved(&c->call.in[k], mag, s ? 1 : -1);
		st = pm__bound_again(c, in, out[s], err);
		pm_ref_tensor_release(&in[k]);
	}
	for (size_t q = 0; q < n_out && !st; q++) {
		double *e = pm__bound_unit(c, q);

		for (int64_t i = 0; i < c->call.out[q].numel; i++) {
			double y = value(&c->call.out[q], i), a = value(&out[0][q], i);
			double b = value(&out[1][q], i);

			if (isfinite(y))
				e[i] += isfinite(a) && isfinite(b) ? fmax(fabs(a - y), fabs(b - y)) / STEPS
								   : INFINITY;
		}
	}
	for (int s = 0; s < 2; s++) {
		pm__bound_release_all(out[s], n_out);
		free(out[s]);
	}
	free(in);
	return st;
}

PmStatus pm__bound_move_operands(PmBoundCall *c, double u, PmErr *err)
{
	PmStatus st = PM_OK;

	for (size_t k = 0; k < c->call.n_in && !st; k++) {
		const PmRefTensor *x = &c->call.in[k];
		double *f = x->numel ? pm__bound_full(c, k) : NULL;

		if (x->f && u > 0 && !f)
			f = pm_xcalloc((size_t)x->numel, sizeof *f);
		for (int64_t i = 0; f && x->f && u > 0 && i < x->numel; i++)
			f[i] += isfinite(x->f[i]) ? u * fabs(x->f[i]) : 0;
		if (f)
			st = add_moves(c, k, f, err);
		free(f);
	}
	return st;
}

/* Results that are operands, untouched: they keep being rounded or not. */
PmStatus pm__bound_exact(PmBoundCall *c, PmErr *err)
{
	PmStatus st = PM_OK;
	int rounds = 0;

	for (size_t k = 0; k < c->call.n_in && !st; k++) {
		if (c->in[k].unit && c->call.in[k].numel)
			st = add_moves(c, k, c->in[k].unit, err);
		rounds |= c->in[k].rounds && c->call.in[k].numel;
	}
	if (rounds)
		pm__bound_rounded(c);
	return st;
}

/* Steps: exact, but what decides them has been rounded before. */
PmStatus pm__bound_stepped(PmBoundCall *c, PmErr *err)
{
	return pm__bound_move_operands(c, 0, err);
}

/* To fewer digits; a kernel may leave the rounding out. */
PmStatus pm__bound_cast(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];
	double to = pm__bound_ud(y->type.dtype), from = pm__bound_ud(x->type.dtype), *e;

	if (!y->f || !x->f || to <= from)
		return y->f && x->f ? pm__bound_exact(c, err) : pm__bound_stepped(c, err);
	c->out[0].rounds = 1;
	e = pm__bound_unit(c, 0);
	for (int64_t i = 0; i < y->numel; i++)
		e[i] = isfinite(y->f[i]) ? to / STEPS * fabs(y->f[i]) : 0;
	return pm__bound_move_operands(c, 0, err);
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
 * those of this order are small. */
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
			pm__bound_unit(c, 0)[i] += ud / 4 * out.f[i];
	if (!st) {
		c->out[0].mass = out.f;
		out.f = NULL;
	}
	pm_ref_tensor_release(&out);
	for (size_t k = 0; k < c->call.n_in; k++)
		free(in[k].f);
	free(in);
	return st;
}

static double rounded(int dtype, double v)
{
	return dtype == PM_F16    ? pm_f16_to_f64(pm_f16_from_f64(v))
	       : dtype == PM_BF16 ? pm_bf16_to_f64(pm_bf16_from_f64(v))
	       : dtype == PM_F32  ? (double)(float)v
				  : v;
}

static int same_class(double a, double b)
{
	return isnan(a) ? isnan(b) : isinf(a) ? a == b : isfinite(b);
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

			in[k].f[i] = c->in[k].rounds ? rounded(in[k].type.dtype, v) : v;
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

/* Each result rounded correctly; sums of what is rounded already may be taken in another order. */
PmStatus pm__bound_arithmetic(PmBoundCall *c, PmErr *err)
{
	PmOp op = pm_node_op(c->call.g, c->call.node);
	int inexact = 0, plain = op == PM_OP_Add || op == PM_OP_Sub || op == PM_OP_Mul || op == PM_OP_Sum;
	double ud = pm__bound_ud(c->call.out[0].type.dtype);
	double u = pm__bound_u(c->call.out[0].type.dtype);
	PmStatus st;

	if (!c->call.out[0].f)
		return pm__bound_stepped(c, err);
	for (size_t k = 0; k < c->call.n_in; k++)
		inexact |= c->in[k].unit || c->in[k].rounds;
	st = pm__bound_move_operands(c, inexact || op == PM_OP_Sum ? ud : 0, err);
	for (int64_t i = 0; !st && !plain && i < c->call.out[0].numel; i++)
		if (isfinite(c->call.out[0].f[i]))
			pm__bound_unit(c, 0)[i] += u / 4 * fabs(c->call.out[0].f[i]);
	if (!st && plain && op != PM_OP_Mul)
		st = add_orders(c, ud, err);
	if (!st && op == PM_OP_Div)
		st = open_quotients(c, err);
	pm__bound_rounded(c);
	return st;
}

PmStatus pm__bound_function(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];
	double u = pm__bound_u(y->type.dtype), lane = c->lane == PM_LANE_STRICT ? 0 : 0x1p-13;
	/* 1 / (1 + exp x) is 0 where exp x is infinite. */
	double tiny = y->type.dtype == PM_F64 ? 0x1p-1026 : 0x1p-130;
	PmStatus st = pm__bound_move_operands(c, u, err);

	for (int64_t i = 0; !st && y->f && i < y->numel; i++)
		if (isfinite(y->f[i]))
			pm__bound_unit(c, 0)[i] += (u / 2 + lane) * fabs(y->f[i]) + tiny +
						   u * (x->numel == y->numel && isfinite(x->f[i])
								? pm__bound_cancels(c, x->f[i])
								: 0);
	pm__bound_rounded(c);
	return st;
}

/* ---- moves, and the rest ---- */

PmStatus pm__bound_move(PmBoundCall *c, PmErr *err)
{
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in);
	PmRefTensor *out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
	PmStatus st = PM_OK;
	int any = 0, rounds = 0;

	for (size_t k = 0; k < c->call.n_in; k++) {
		in[k] = c->call.in[k];
		rounds |= c->in[k].rounds && in[k].numel;
		any |= c->in[k].unit != NULL && in[k].numel;
		if (in[k].i && c->in[k].unit)
			pm__bound_lose(c);
		if (in[k].f)
			in[k].f = c->in[k].unit ? c->in[k].unit
						: pm_xcalloc((size_t)in[k].numel + 1, sizeof *in[k].f);
	}
	if (any)
		st = pm__bound_again(c, in, out, err);
	for (size_t k = 0; k < c->call.n_out && !st; k++) {
		c->out[k].rounds = rounds && c->call.out[k].f != NULL;
		if (any && out[k].f) {
			c->out[k].unit = out[k].f;
			out[k].f = NULL;
		}
	}
	for (size_t k = 0; k < c->call.n_in; k++)
		if (in[k].f && in[k].f != c->in[k].unit)
			free(in[k].f);
	pm__bound_release_all(out, c->call.n_out);
	free(in);
	free(out);
	return st;
}

/* Operand k moved at random by STEPS (f + u |x|); its data is owned when it has floating-point elements. */
static PmRefTensor shaken(const PmBoundCall *c, size_t k, double u, PmRng *r)
{
	const PmRefTensor *x = &c->call.in[k];
	PmRefTensor t = *x;
	double *f = x->f ? pm__bound_full(c, k) : NULL;

	if (x->f)
		t.f = pm_xcalloc((size_t)x->numel + 1, sizeof *t.f);
	for (int64_t i = 0; x->f && i < x->numel; i++) {
		double d = STEPS * (at(f, i) + u * fabs(x->f[i]));

		t.f[i] = !isfinite(x->f[i]) ? x->f[i] : pm_rng_u64(r) & 1 ? x->f[i] + d : x->f[i] - d;
	}
	free(f);
	return t;
}

static PmStatus add_shaken(PmBoundCall *c, double u, PmRng *r, PmErr *err)
{
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in);
	PmRefTensor *out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
	const PmRefTensor *y = &c->call.out[0];
	double *e = pm__bound_unit(c, 0);
	PmStatus st;

	for (size_t k = 0; k < c->call.n_in; k++)
		in[k] = shaken(c, k, u, r);
	st = pm__bound_again(c, in, out, err);
	for (int64_t i = 0; !st && i < y->numel; i++)
		if (isfinite(y->f[i]))
			e[i] = fmax(e[i],
				    isfinite(out[0].f[i]) ? fabs(out[0].f[i] - y->f[i]) / STEPS : INFINITY);
	pm__bound_release_all(out, c->call.n_out);
	for (size_t k = 0; k < c->call.n_in; k++)
		free(in[k].f);
	free(in);
	free(out);
	return st;
}

/* Four random moves of all floating-point operands together. The first result alone is judged. */
PmStatus pm__bound_sampled(PmBoundCall *c, PmErr *err)
{
	const PmRefTensor *y = &c->call.out[0];
	double u = pm__bound_u(y->type.dtype), walk = u * (2 + sqrt(pm__bound_terms(c)) / 4), *e;
	PmStatus st = PM_OK;
	PmRng r;

	if (!y->f)
		return pm__bound_stepped(c, err);
	pm_rng_init_named(&r, 1, "error bound");
	for (int t = 0; t < 4 && !st; t++)
		st = add_shaken(c, u, &r, err);
	e = pm__bound_unit(c, 0);
	for (int64_t i = 0; i < y->numel; i++)
		e[i] += isfinite(y->f[i]) ? walk * (fabs(y->f[i]) + pm__bound_cancels(c, 0)) : 0;
	pm__bound_rounded(c);
	for (size_t k = 1; k < c->call.n_out; k++)
		c->out[k].known = 0;
	return st;
}
