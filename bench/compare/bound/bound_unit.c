/* SPDX-License-Identifier: Apache-2.0 */
/* bound_unit.c - what the rules of the error bound share: types, variances and how they add up. */
#include "bench/compare/bound/bound_priv.h"

#include "ir/core/element.h"
#include "ir/core/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double pm__bound_ud(int dtype)
{
	const PmFloatType *f = pm_float_type(dtype);

	return f ? f->roundoff : 0;
}

double pm__bound_tiny(int dtype)
{
	const PmFloatType *f = pm_float_type(dtype);

	return f ? f->subnormal : 0;
}

double pm__bound_flushed(int dtype)
{
	return pm__bound_sums(dtype)->normal / PM_BOUND_REACH;
}

double pm__bound_largest(int dtype)
{
	const PmFloatType *f = pm_float_type(dtype);

	/* The reference computes in double: what it cannot hold is infinite there, too. */
	return f && dtype != PM_F64 ? f->largest : INFINITY;
}

const PmFloatType *pm__bound_sums(int dtype)
{
	return pm_float_type(pm_dtype_is_float(dtype) ? pm_dtype_sums(dtype) : PM_F32);
}

double pm__bound_u(int dtype)
{
	return pm__bound_sums(dtype)->roundoff;
}

double pm__bound_round(int dtype, double v)
{
	return pm_float_round(dtype, v);
}

double pm__bound_half_digit(double u, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof bits);
	bits &= 0x7ff0000000000000u;
	memcpy(&v, &bits, sizeof v);
	return u * v;
}

/* Root of the sum of squares, also where the squares of doubles are 0. */
static double together(double a, double b)
{
	double s = a * a + b * b;

	return s > 0x1p-1000 ? sqrt(s) : hypot(a, b);
}

int pm__bound_holds(int dtype, double v)
{
	return dtype != PM_F64 && pm__bound_round(dtype, v) == v;
}

/* Storing v leaves it as it is although it may be off by e: its type holds v, and what is as far off as an
 * error of that size ever is still nearest to v. Below a power of two the next number is half a digit away.
 */
static int stays(int dtype, double ud, double v, double e)
{
	return !(PM_BOUND_REACH * e > pm__bound_half_digit(ud, v) / 2) && pm__bound_holds(dtype, v);
}

/* Results of pm__bound_full() and pm__bound_common() on an operand. */
typedef struct Operand {
	const PmBound *b;
	double part;
	const double *f;
	double *to;
} Operand;

static void full_of(void *arg, int64_t from, int64_t to)
{
	const Operand *o = arg;
	const PmBound *b = o->b;
	int dtype = b->y.type.dtype;
	double ud = pm__bound_ud(dtype), tiny = pm__bound_tiny(dtype), top = pm__bound_largest(dtype);
	double *f = o->to;

	for (int64_t i = from; i < to; i++) {
		double v = b->y.f ? fabs(b->y.f[i]) : 0, round;

		f[i] = b->unit ? b->unit[i] : 0;
		if (!b->rounds || !isfinite(v) || stays(dtype, ud, v, f[i]))
			continue;
		round = (pm__bound_half_digit(ud, v) + tiny) / sqrt(3);
		/* From the largest value on, not only from where rounding gives an infinity: in between half
		 * a digit decides all of a softmax, and a bound as wide as that takes zeros for right. */
		f[i] = v > top ? INFINITY : together(f[i], round);
	}
}

double *pm__bound_full(const PmBoundCall *c, size_t k)
{
	const PmBound *b = &c->in[k];
	Operand o = { .b = b };

	if (!b->y.numel || (!b->unit && !b->rounds))
		return NULL;
	o.to = pm_xcalloc((size_t)b->y.numel, sizeof *o.to);
	pm_threads_run(b->y.numel, PM_BOUND_LEAST, full_of, &o);
	return o.to;
}

/* The correlation of two elements' errors of rounding that makes a difference in a sum. */
static double alike(double chance)
{
	return chance > 1e-3 ? sqrt(chance) : 0;
}

static void common_of(void *arg, int64_t from, int64_t to)
{
	const Operand *o = arg;
	const PmBound *b = o->b;
	const double *f = o->f;
	double part = o->part, *s = o->to;

	for (int64_t i = from; i < to; i++) {
		double e = b->unit ? b->unit[i] : 0, in = b->shared ? b->shared[i] : 0, same = part;

		/* What the type holds is rounded for its error alone, and as alike as that is. */
		if (part > 0 && e > 0 && pm__bound_holds(b->y.type.dtype, b->y.f[i]))
			same = fmin(part, in / e);
		s[i] = b->repeats    ? f[i]
		       : !(part > 0) ? in
				     : fmin(f[i], sqrt(in * in + same * same * fmax(f[i] * f[i] - e * e, 0)));
		s[i] = isnan(s[i]) ? f[i] : s[i];
	}
}

double *pm__bound_common(const PmBoundCall *c, size_t k, const double *f)
{
	const PmBound *b = &c->in[k];
	Operand o = { .b = b, .part = b->repeats ? 1 : b->rounds ? alike(b->alike) : 0, .f = f };

	if (!f || (!b->shared && !(o.part > 0)))
		return NULL;
	o.to = pm_xcalloc((size_t)b->y.numel, sizeof *o.to);
	pm_threads_run(b->y.numel, PM_BOUND_LEAST, common_of, &o);
	return o.to;
}

double pm__bound_inv(const PmBoundCall *c, size_t k, int64_t n)
{
	double own = (double)c->in[k].y.numel * (c->in[k].split ? c->parts : 1), all = (double)n * c->parts;
	double inv = fmax(c->in[k].inv, 1 / (own < all ? own : all));

	return c->in[k].rounds ? fmax(inv, c->in[k].equal) : inv;
}

/* pm__bound_equal(), of those elements alone that the tensor's type does not hold when `rounded`. */
static double equal_of(const PmRefTensor *t, int dtype, const double *e, int rounded)
{
	enum { BUCKETS = 2048, SAMPLE = 1 << 12 };
	int64_t step = t->numel / SAMPLE + 1;
	double bucket[BUCKETS] = { 0 }, all = 0, own = 0, sum = 0;

	for (int64_t i = 0; i < t->numel; i += step) {
		double v = pm__bound_round(dtype, t->f[i]), w = e ? e[i] * e[i] : v * v > 0;
		uint64_t bits;

		if (!isfinite(v) || !isfinite(w) || (rounded && pm__bound_holds(t->type.dtype, t->f[i])))
			continue;
		memcpy(&bits, &v, sizeof bits);
		bucket[bits * 0x9e3779b97f4a7c15u >> 53] += w;
		all += w;
		own += w * w;
	}
	for (int k = 0; k < BUCKETS; k++)
		sum += bucket[k] * bucket[k];
	return all > 0 ? fmax((sum - own) / (all * all) - 1.0 / BUCKETS, 0) : 0;
}

double pm__bound_equal(const PmRefTensor *t, int dtype, const double *e)
{
	return equal_of(t, dtype, e, 0);
}

double pm__bound_rounded_alike(const PmRefTensor *t)
{
	double all = equal_of(t, PM_F32, NULL, 0);

	return all > 1e-3 ? fmin(all, equal_of(t, PM_F32, NULL, 1)) : all;
}

double pm__bound_neighbours(const PmRefTensor *t)
{
	enum { SAMPLE = 1 << 12 };
	int64_t stride = 1;
	double most = 0;

	if (!t->f)
		return 0;
	for (int k = t->type.rank - 1; k >= 0; stride *= t->type.dim[k--]) {
		int64_t last = t->numel - stride, n = 0, same = 0;

		if (t->type.dim[k] < 2)
			continue;
		for (int64_t i = 0; i < last; i += last / SAMPLE + 1, n++)
			same += t->f[i] != 0 && (float)t->f[i] == (float)t->f[i + stride];
		most = n ? fmax(most, (double)same / (double)n) : most;
	}
	return most;
}

void pm__bound_own(PmBoundCall *c, size_t k, int64_t groups)
{
	int64_t n = c->call.out[k].numel;
	const double *e = c->out[k].unit;
	double equal, part = groups && groups < n ? 1 : alike(c->out[k].alike);

	if (!e)
		return;
	for (int64_t i = 0; i < n; i++)
		if (isfinite(e[i]))
			c->weight[k] += e[i] * e[i];
	equal = c->call.out[k].f ? pm__bound_equal(&c->call.out[k], PM_F32, e) : 0;
	c->spread[k] = n ? c->weight[k] * fmax(1 / ((double)(groups ? groups : n) * c->parts), equal) : 0;
	if (!(part > 0))
		return;
	c->out[k].shared = pm_xcalloc((size_t)n + 1, sizeof(double));
	for (int64_t i = 0; i < n; i++)
		c->out[k].shared[i] = part * e[i];
}

typedef struct Adding {
	const PmBoundPart *p;
	double *e, *shared;
	int linear;
} Adding;

static void add_some(void *arg, int64_t from, int64_t to)
{
	const Adding *a = arg;
	const PmBoundPart *p = a->p;

	for (int64_t i = from; i < to; i++) {
		double d = p->all[i], t = p->shared ? p->shared[i] : 0, s = p->shared ? a->shared[i] : 0;

		a->e[i] = a->linear ? a->e[i] + d : together(a->e[i], d);
		if (p->shared)
			a->shared[i] = a->linear ? s + t : sqrt(s * s + t * t);
	}
}

void pm__bound_add(PmBoundCall *c, size_t k, PmBoundPart *p)
{
	int64_t n = c->call.out[k].numel;
	double *e = pm__bound_unit(c, k), sum = 0;

	if (p->shared && !c->out[k].shared)
		c->out[k].shared = pm_xcalloc((size_t)n + 1, sizeof(double));
	pm_threads_run(n, PM_BOUND_LEAST, add_some,
		       &(Adding){ p, e, c->out[k].shared, (c->used & p->source) != 0 });
	for (int64_t i = 0; i < n; i++)
		sum += isfinite(p->all[i]) ? p->all[i] * p->all[i] : 0;
	c->weight[k] += sum;
	c->spread[k] += sum * p->inv;
	c->used |= p->source;
	free(p->all);
	free(p->shared);
}

PmStatus pm__bound_again(const PmBoundCall *c, const PmRefTensor *in, PmRefTensor *out, PmErr *err)
{
	PmRefCall call = c->call;
	PmStatus st = PM_OK;

	call.in = in;
	call.out = out;
	memset(out, 0, c->call.n_out * sizeof *out);
	for (size_t k = 0; k < c->call.n_out && !st; k++)
		st = pm_ref_tensor_init(&out[k], &c->call.out[k].type, err);
	return st ? st : pm_ref_node(&call, err);
}

double *pm__bound_unit(PmBoundCall *c, size_t k)
{
	if (!c->out[k].unit)
		c->out[k].unit = pm_xcalloc((size_t)c->call.out[k].numel + 1, sizeof(double));
	return c->out[k].unit;
}

/* Windows overlap, so that sizes do not tell what is in one. */
static double window(const PmBoundCall *c)
{
	const int64_t *shape;
	size_t rank = pm_node_ints(c->call.g, c->call.node, "kernel_shape", &shape);
	double n = 1;

	for (size_t i = 0; i < rank; i++)
		n *= (double)shape[i];
	return n;
}

double pm__bound_terms(const PmBoundCall *c)
{
	int64_t n = c->call.out[0].numel, most = 0;

	if (pm_node_op(c->call.g, c->call.node) == PM_OP_AveragePool)
		return window(c);
	for (size_t k = 0; k < c->call.n_in; k++)
		if (c->call.in[k].numel > most)
			most = c->call.in[k].numel;
	if (pm_op_desc(pm_node_op(c->call.g, c->call.node))->flags & PM_OPF_DOT)
		most = pm_op_flops(c->call.g, c->call.node) / 2;
	return n > 0 && most > n ? (double)most / (double)n : 1;
}

/* rint(), but for the sign of a zero: adding a number whose last digit is 1 rounds to that. */
static inline double whole(double v)
{
	const double last = 0x1.8p52;

	return fabs(v) < 0x1p51 ? v + last - last : rint(v);
}

double pm__bound_drift(const double *term, int64_t n, double u)
{
	enum { DIGITS = 8 };
	double sum = 0, square = 0, drift = 0, most = 0, h, r, root;

	for (int64_t i = 0; i < n; i++) {
		if (!isfinite(term[i]) || (sum > 0 ? term[i] < 0 : sum < 0 ? term[i] > 0 : 0))
			return 0;
		sum += term[i];
		square += term[i] * term[i];
	}
	sum = fabs(sum);
	if (n < 3 || !(square > 0) || !isfinite(square))
		return 0;
	root = sqrt(square) / sum;
	h = pm__bound_half_digit(u, sum);
	r = h / (u * sum);
	for (int e = 0; e < DIGITS; e++, h /= 2) {
		double all = 0, squares = 0, share = fmin(1, (e ? r / (1 << e) : 1 - r) + root), d;

		for (int64_t i = 0; i < n; i++) {
			double rho = 2 * h * whole(term[i] / (2 * h)) - term[i];

			all += rho;
			squares += rho * rho;
		}
		d = sqrt(fmax(all * all - squares, 0));
		most = fmax(most, d);
		drift += share * d;
	}
	return fmin(drift, most);
}

void pm__bound_leans(PmBoundCall *c, double drifts, double all)
{
	if (all > 0)
		c->out[0].lean = fmax(c->out[0].lean, sqrt(drifts / all));
}

uint64_t pm__bound_bit(const PmBoundCall *c)
{
	return 1ull << (c->call.node.id & 63);
}

int pm__bound_narrows(const PmBoundCall *c)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];

	return pm_node_op(c->call.g, c->call.node) == PM_OP_Cast && x->f && y->f &&
	       pm__bound_ud(y->type.dtype) > pm__bound_ud(x->type.dtype);
}

int pm__bound_same_type(const PmBoundCall *c)
{
	const PmRefTensor *x = &c->call.in[0], *y = &c->call.out[0];

	return pm_node_op(c->call.g, c->call.node) == PM_OP_Cast && x->f && y->f &&
	       x->type.dtype == y->type.dtype;
}

void pm__bound_release_all(PmRefTensor *t, size_t n)
{
	for (size_t k = 0; k < n; k++)
		pm_ref_tensor_release(&t[k]);
}

void pm__bound_lose(PmBoundCall *c)
{
	for (size_t k = 0; k < c->call.n_out; k++)
		c->out[k].known = 0;
}

void pm__bound_rounded(PmBoundCall *c)
{
	for (size_t k = 0; k < c->call.n_out; k++)
		c->out[k].rounds = c->call.out[k].f != NULL;
}
