/* SPDX-License-Identifier: Apache-2.0 */
/* bound_sum.c - units of error of sums, products, their roots, and extremes. */
#include "bench/compare/bound/bound_priv.h"

#include "base/sys/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at(const double *f, int64_t i)
{
	return f ? f[i] : 0;
}

/* What an operand is replaced by: its absolute values; their squares; its standard deviation; the variance of
 * what its elements have not in common; what they have in common but no factor; a common factor's error;
 * itself; zeros; ones. */
typedef enum { ABS, SQUARE, FULL, ALONE, SHARED, SCALE, AS_IS, ZERO, ONE } Part;

static double part_value(Part p, double x, double f, double shared)
{
	switch (p) {
	case ABS:
		return fabs(x);
	case SQUARE:
		return x * x;
	case FULL:
		return f;
	case ALONE:
		return isfinite(f) ? fmax(f * f - shared * shared, 0) : f;
	case SHARED:
		return shared;
	case ONE:
		return 1;
	default:
		return 0;
	}
}

typedef struct Taking {
	const PmBoundCall *c;
	size_t k;
	Part part;
	const double *f, *shared;
	double *to;
} Taking;

static void take_some(void *arg, int64_t from, int64_t to)
{
	const Taking *t = arg;
	const double *x = t->c->call.in[t->k].f;

	for (int64_t i = from; i < to; i++) {
		double s = at(t->shared, i), scale = at(t->c->in[t->k].scale, i);

		if (t->part == SHARED && scale > 0)
			s = sqrt(fmax(s * s - scale * scale, 0));
		t->to[i] = part_value(t->part, x[i], at(t->f, i), s);
	}
}

/* Operand k as one of its parts; its data is owned when the part is not AS_IS. */
static PmRefTensor part_of(const PmBoundCall *c, size_t k, Part p)
{
	PmRefTensor t = c->call.in[k];
	double *f, *shared;

	if (p == AS_IS || !t.f)
		return t;
	if (p == SCALE) {
		t.f = pm_xcalloc((size_t)t.numel + 1, sizeof *t.f);
		for (int64_t i = 0; i < t.numel; i++)
			t.f[i] = copysign(at(c->in[k].scale, i), c->call.in[k].f[i]);
		return t;
	}
	f = p == FULL || p == ALONE || p == SHARED ? pm__bound_full(c, k) : NULL;
	shared = p == ALONE || p == SHARED ? pm__bound_common(c, k, f) : NULL;
	t.f = pm_xcalloc((size_t)t.numel + 1, sizeof *t.f);
	pm_threads_run(t.numel, PM_BOUND_LEAST, take_some, &(Taking){ c, k, p, f, shared, t.f });
	free(f);
	free(shared);
	return t;
}

static void make_positive(void *arg, int64_t from, int64_t to)
{
	double *f = arg;

	for (int64_t i = from; i < to; i++)
		f[i] = fabs(f[i]);
}

/* The operator on parts of its operands (the last for all that follow); results are made positive. */
static PmStatus on_parts(const PmBoundCall *c, const Part *part, size_t n_part, PmRefTensor *out, PmErr *err)
{
	PmRefTensor *in = pm_xcalloc(c->call.n_in + 1, sizeof *in);
	PmStatus st;

	for (size_t k = 0; k < c->call.n_in; k++)
		in[k] = part_of(c, k, part[k < n_part ? k : n_part - 1]);
	st = pm__bound_again(c, in, out, err);
	for (size_t k = 0; k < c->call.n_in; k++)
		if (in[k].f && in[k].f != c->call.in[k].f)
			free(in[k].f);
	if (!st && out[0].f)
		pm_threads_run(out[0].numel, PM_BOUND_LEAST, make_positive, out[0].f);
	free(in);
	return st;
}

/* Adds factor * (the operator on parts), or with `root` the root of it, to `e`. */
static PmStatus add_parts(PmBoundCall *c, const Part *part, size_t n_part, double factor, int root, double *e,
			  PmErr *err)
{
	PmRefTensor *out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
	PmStatus st = on_parts(c, part, n_part, out, err);

	for (int64_t i = 0; !st && i < c->call.out[0].numel; i++)
		e[i] += factor * (root ? sqrt(out[0].f[i]) : out[0].f[i]);
	pm__bound_release_all(out, c->call.n_out);
	free(out);
	return st;
}

static int has_common(const PmBoundCall *c, size_t k)
{
	return c->in[k].shared || (c->in[k].repeats && (c->in[k].unit || c->in[k].rounds));
}

/* The effect of operands' errors on a sum: `factor` times the root of the operator on `alone` (variances by
 * squared weights), and the operator on `shared` linearly, where one of the operands in `mask` has such.
 * `alike` is how far the errors of different results are the same. */
static PmStatus add_errors(PmBoundCall *c, const Part *alone, const Part *shared, unsigned mask,
			   double factor, double alike, double inv, PmErr *err)
{
	int64_t n = c->call.out[0].numel;
	PmBoundPart p = { .inv = inv };
	PmStatus st;
	int common = 0;

	for (size_t k = 0; k < c->call.n_in && k < 3; k++)
		if (mask >> k & 1) {
			p.source |= c->in[k].source;
			common |= has_common(c, k);
		}
	p.all = pm_xcalloc((size_t)n + 1, sizeof *p.all);
	p.shared = pm_xcalloc((size_t)n + 1, sizeof *p.shared);
	st = add_parts(c, alone, 3, factor, 1, p.all, err);
	if (!st && common)
		st = add_parts(c, shared, 3, 1, 0, p.shared, err);
	for (int64_t i = 0; i < n; i++) {
		double s = p.shared[i], v = p.all[i];

		p.all[i] = sqrt(v * v + s * s);
		p.shared[i] = sqrt(alike * v * v + s * s);
	}
	pm__bound_add(c, 0, &p);
	return st;
}

/* Variance of a sum's own arithmetic over (PM_BOUND_ROUNDING u)^2. The products, and the partial sums of 2 to
 * K - 1 terms, are rounded; the last sum is the result, which is counted as stored. Of K terms in an order
 * that knows nothing of their values, with y their sum and `squares` that of their squares, the partial sum
 * of k has the mean k/K y and at most the variance squares k (K - k) / (K (K - 1)): over all k squares (K +
 * 1) / 6. The path to y is one of many, a bridge, and the error is normal for each path alone. The
 * characteristic function of both is sqrt(t / sinh t), so that once in 10^9 it is beyond 6.16, 15.1 standard
 * deviations sqrt(1/6). PM_BOUND_REACH = 6.1 asks for a variance that is (15.1 / 6.1)^2 = 6.1 times as large:
 * squares (K + 1). */
double pm__bound_steps(double terms, double squares, double y)
{
	double k = terms;

	if (k <= 1)
		return 0;
	return squares + (k > 2 ? squares * (k + 1) + y * y * (k - 1) * (2 * k - 1) / (6 * k) : 0);
}

/* Where a share `same` of the terms are the same as another: a float sum is a multiple of its last digit, so
 * that adding the same value again rounds the same way again. Of equal terms alone K (1 - r) are added while
 * the sum has the last result's digit r u |y|, r = 1/2 .. 1, and K r / 2 with the digit below; each adds up
 * to an error uniform in its steps times half a digit: K u |y| sqrt((r - r^2)^2 + r^4 / 16) / sqrt(3) <= 0.15
 * K u |y|. Beside one term that is nearly all of the sum, root(squares) = |y|, all K are: K u |y| / sqrt(3).
 */
static double of_equal(double terms, double same, double squares, double y)
{
	double least = 0.15, most = 1 / sqrt(3), root = fmin(sqrt(squares), fabs(y));

	return same > 1e-3 && terms > 2 ? sqrt(same) * terms * (least * fabs(y) + (most - least) * root) : 0;
}

/* The share of terms that are equal to a neighbour. */
static double equal_terms(const PmBoundCall *c)
{
	double same = pm__bound_neighbours(&c->call.in[0]);

	if (pm_op_desc(pm_node_op(c->call.g, c->call.node))->flags & PM_OPF_DOT)
		same *= pm__bound_neighbours(&c->call.in[1]);
	return same;
}

/* Whether axis d of the operand is summed along. */
static int is_summed(const PmBoundCall *c, int d)
{
	const int64_t *axes;
	size_t n = pm_node_ints(c->call.g, c->call.node, "axes", &axes);
	int summed = pm_node_op(c->call.g, c->call.node) == PM_OP_GlobalAveragePool && d >= 2;

	for (size_t k = 0; k < n; k++)
		summed |= axes[k] == d;
	return summed;
}

static double term_of(PmOp op, double x)
{
	return op == PM_OP_ReduceL1                                  ? fabs(x)
	       : op == PM_OP_ReduceL2 || op == PM_OP_ReduceSumSquare ? x * x
								     : x;
}

/* The drift of each sum over axes of the operand, whose terms are `weight` times its elements, their sizes or
 * their squares; owned by the caller. */
static double *drifts(const PmBoundCall *c, double weight)
{
	const PmRefTensor *x = &c->call.in[0];
	int64_t n_out = c->call.out[0].numel, n = n_out ? x->numel / n_out : 0, stride[PM_MAX_RANK], s = 1;
	int64_t at[PM_MAX_RANK] = { 0 }, to = 0, *filled;
	double u = pm__bound_u(c->call.out[0].type.dtype), *term, *drift;
	PmOp op = pm_node_op(c->call.g, c->call.node);

	for (int d = x->type.rank; d-- > 0;) {
		stride[d] = is_summed(c, d) ? 0 : s;
		s *= stride[d] ? x->type.dim[d] : 1;
	}
	term = pm_xcalloc((size_t)x->numel + 1, sizeof *term);
	drift = pm_xcalloc((size_t)n_out + 1, sizeof *drift);
	filled = pm_xcalloc((size_t)n_out + 1, sizeof *filled);
	for (int64_t i = 0; i < n * n_out; i++) {
		term[to * n + filled[to]++] = term_of(op, x->f[i]);
		for (int d = x->type.rank; d-- > 0;) {
			to += stride[d];
			if (++at[d] < x->type.dim[d])
				break;
			to -= stride[d] * at[d];
			at[d] = 0;
		}
	}
	for (int64_t i = 0; i < n_out; i++)
		drift[i] = weight * pm__bound_drift(term + i * n, n, u);
	free(term);
	free(filled);
	return drift;
}

/* The error of a sum's own arithmetic: its steps, with what equal neighbours add, or with a drift. */
static double own_error(double u, double terms, double squares, double y, double same, double drift)
{
	double steps = u * PM_BOUND_ROUNDING * sqrt(pm__bound_steps(terms, squares, y));

	return fmax(steps + u * of_equal(terms, same, squares, y), hypot(steps, drift));
}

typedef struct Steps {
	const double *y, *count, *drift;
	double weight, terms, same, u, *e;
	double *own; /* the sum of squares over weight^2 before, the step's own error after */
} Steps;

static void step_some(void *arg, int64_t from, int64_t to)
{
	const Steps *s = arg;

	for (int64_t i = from; i < to; i++) {
		double y = s->y[i], k = s->count ? s->count[i] : s->terms;
		double squares = s->weight * s->weight * s->own[i];

		s->own[i] = 0;
		if (!isfinite(y))
			continue;
		s->own[i] = own_error(s->u, k, squares, y, s->same, at(s->drift, i));
		s->e[i] += s->own[i];
	}
}

/* A sum's own arithmetic. The operator on `part` is the sum of the terms' squares over weight^2; `count` are
 * the terms of each result, NULL = `terms`; `drift` of each result, NULL = what equal terms tell. A drift and
 * the steps beside it are variances: pm__bound_drift(). */
static PmStatus add_steps(PmBoundCall *c, const Part *part, double weight, double terms, const double *count,
			  const double *drift, PmErr *err)
{
	PmRefTensor *out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
	Steps s = { .y = c->call.out[0].f,
		    .count = count,
		    .drift = drift,
		    .weight = weight,
		    .terms = terms,
		    .same = equal_terms(c),
		    .u = pm__bound_u(c->call.out[0].type.dtype),
		    .e = pm__bound_unit(c, 0) };
	double drifts = 0, all = 0;
	PmStatus st = on_parts(c, part, 3, out, err);

	s.own = out[0].f;
	if (!st)
		pm_threads_run(c->call.out[0].numel, PM_BOUND_LEAST / 4, step_some, &s);
	for (int64_t i = 0; !st && i < c->call.out[0].numel; i++) {
		if (isfinite(s.y[i]))
			drifts += at(drift, i) * at(drift, i);
		all += s.own[i] * s.own[i];
	}
	pm__bound_leans(c, drifts, all);
	pm__bound_release_all(out, c->call.n_out);
	free(out);
	return st;
}

static int is_inexact(const PmBoundCall *c, size_t k)
{
	return k < c->call.n_in && c->call.in[k].numel && (c->in[k].unit || c->in[k].rounds);
}

/* Infinities and NaN among the operands make |x| |w| something else than a size. */
static void open_non_finite(PmBoundCall *c)
{
	double *e = pm__bound_unit(c, 0);

	for (int64_t i = 0; i < c->call.out[0].numel; i++)
		if (!isfinite(c->call.out[0].f[i]))
			e[i] = 0;
}

/* What a precision tier's rounding of the factors costs. A factor that has more digits than the tier is
 * rounded to unit roundoff ud; another one is not touched. Errors are given in units of ud. The logarithms of
 * mantissas m in [1, 2) are taken as uniform. Then the mean of 1 / m is 1 / (2 ln 2), and the mean of
 * 1 / (3 m^2) is r^2 with r = PM_BOUND_ROUNDING.
 *
 * bf16: factors are rounded to the nearest number. Each has an error of mean 0 and variance r^2, so that the
 * error of a sum is the root of 2 r^2 sum (x w)^2. Where one term is the whole sum, both of its mantissas may
 * be 1, which is the worst: then each variance is 1/3. The difference is counted as a part of the result:
 * (sqrt(2/3) - sqrt(2) r) |y|.
 *
 * tf32: factors may also be cut off. Then each has an error that is uniform in [0, 2 / m]. All these errors
 * have one sign, so that a sum keeps their mean, which is 1 / (2 ln 2): twice that by |y| for two factors.
 * Their mean square is 4 r^2, so that their variance is 4 r^2 - 1 / (2 ln 2)^2. Both numbers are larger than
 * those of rounding, which is bounded by them too. */
static PmStatus add_lane(PmBoundCall *c, PmErr *err)
{
	const Part squares[] = { SQUARE, SQUARE, ZERO };
	const double r = PM_BOUND_ROUNDING, inverse = 0.5 / log(2);
	int cuts = c->tier == PM_TIER_TF32;
	double ud = cuts ? 0x1p-11 : 0x1p-8, alpha = 1, *e = pm__bound_unit(c, 0);
	double by_result = cuts ? 2 * inverse : sqrt(2.0 / 3) - sqrt(2) * r;
	double by_root = cuts ? sqrt(2 * (4 * r * r - inverse * inverse)) : sqrt(2) * r;

	if (c->tier == PM_TIER_STRICT ||
	    (pm__bound_ud(c->call.in[0].type.dtype) >= ud && pm__bound_ud(c->call.in[1].type.dtype) >= ud))
		return PM_OK;
	if (pm_node_op(c->call.g, c->call.node) == PM_OP_Gemm)
		alpha = sqrt(fabs(pm_node_f(c->call.g, c->call.node, "alpha", 1)));
	c->widened = 1;
	for (int64_t i = 0; i < c->call.out[0].numel; i++)
		e[i] += ud * by_result * fabs(c->call.out[0].f[i]);
	return add_parts(c, squares, 3, ud * alpha * by_root, 1, e, err);
}

/* What a product loses where it is denormal, or nothing, in the type of sums. */
static double least_product(const PmBoundCall *c)
{
	return pm__bound_sums(c->call.out[0].type.dtype)->subnormal;
}

/* How alike the weights are that an element of the other factor is multiplied by in different results: the
 * mean cosine of two columns (k = 1) or rows (k = 0) of factor k, from the squared mean over the mean square
 * of what meets one element. 1 / n of it is chance. */
static double alike(const PmBoundCall *c, size_t k)
{
	const PmRefTensor *w = &c->call.in[k];
	int rank = w->type.rank, is_plain = pm_node_op(c->call.g, c->call.node) == PM_OP_MatMul && rank >= 2;
	int64_t rows = is_plain ? w->type.dim[rank - 2] : 1,
		cols = is_plain ? w->type.dim[rank - 1] : w->numel;
	int64_t n = k || !is_plain ? cols : rows, step = k || !is_plain ? 1 : cols;
	double means = 0, squares = 0;

	for (int64_t at0 = 0; rows > 0 && cols > 0 && at0 < w->numel; at0 += rows * cols)
		for (int64_t j = 0; j < rows * cols / n; j++) {
			const double *v = w->f + at0 + (step == 1 ? j * n : j);
			double sum = 0, square = 0;

			for (int64_t i = 0; i < n; i++) {
				sum += v[i * step];
				square += v[i * step] * v[i * step];
			}
			means += sum * sum / (double)n;
			squares += square;
		}
	return squares > 0 && isfinite(means / squares) ? means / squares : 1;
}

/* Errors of factor k of a product. Its elements are each in `fan` results. */
static PmStatus add_factor(PmBoundCall *c, size_t k, PmErr *err)
{
	static const Part alone[2][3] = { { ALONE, SQUARE, ZERO }, { SQUARE, ALONE, ZERO } };
	static const Part factor[2][3] = { { SCALE, AS_IS, ZERO }, { AS_IS, SCALE, ZERO } };
	static const Part shared[2][3] = { { SHARED, ABS, ZERO }, { ABS, SHARED, ZERO } };
	int64_t n = c->call.out[0].numel;
	double fan = fmax(pm__bound_terms(c) * (double)n / (double)c->call.in[k].numel, 1), scale = 1;
	double same = alike(c, 1 - k), inv = pm__bound_inv(c, k, n);
	PmStatus st;

	if (pm_node_op(c->call.g, c->call.node) == PM_OP_Gemm)
		scale = sqrt(fabs(pm_node_f(c->call.g, c->call.node, "alpha", 1)));
	inv = fmin(inv + same * fan / ((double)n * c->parts), 1);
	st = add_errors(c, alone[k], shared[k], 1u << k, scale, same, inv, err);
	if (!st && c->in[k].scale) {
		PmBoundPart p = { .inv = inv };

		p.all = pm_xcalloc((size_t)n + 1, sizeof *p.all);
		p.shared = pm_xcalloc((size_t)n + 1, sizeof *p.shared);
		st = add_parts(c, factor[k], 3, 1, 0, p.all, err);
		memcpy(p.shared, p.all, (size_t)n * sizeof *p.all);
		pm__bound_add(c, 0, &p);
	}
	return st;
}

/* Products of operands 0 and 1, summed; operand 2, where there is one, is added. */
PmStatus pm__bound_product(PmBoundCall *c, PmErr *err)
{
	static const Part squares[] = { SQUARE, SQUARE, ZERO }, added[] = { ZERO, ABS, ABS };
	static const Part third[] = { ZERO, ABS, FULL };
	double u = pm__bound_u(c->call.out[0].type.dtype), terms = pm__bound_terms(c), scale = 1, lost, *e;
	int is_einsum = pm_node_op(c->call.g, c->call.node) == PM_OP_Einsum;
	PmStatus st;

	if (!c->call.out[0].f)
		return pm__bound_stepped(c, err);
	if (is_einsum && c->call.n_in != 2) {
		pm__bound_lose(c);
		return PM_OK;
	}
	if (pm_node_op(c->call.g, c->call.node) == PM_OP_Gemm)
		scale = sqrt(fabs(pm_node_f(c->call.g, c->call.node, "alpha", 1)));
	e = pm__bound_unit(c, 0);
	st = add_steps(c, squares, scale, terms, NULL, NULL, err);
	/* A kernel may begin with what is added: it is in each partial sum. */
	if (!st && c->call.n_in > 2 && c->call.in[2].numel)
		st = add_parts(c, added, 3, PM_BOUND_ROUNDING * u * sqrt(terms), 0, e, err);
	if (!st)
		st = add_lane(c, err);
	lost = terms * least_product(c);
	for (int64_t i = 0; i < c->call.out[0].numel; i++)
		e[i] += lost;
	pm__bound_own(c, 0, 0);
	for (size_t k = 0; k < 2 && !st; k++)
		if (is_inexact(c, k))
			st = add_factor(c, k, err);
	if (!st && is_inexact(c, 2)) {
		PmBoundPart p = { .inv = pm__bound_inv(c, 2, c->call.out[0].numel),
				  .source = c->in[2].source };

		p.all = pm_xcalloc((size_t)c->call.out[0].numel + 1, sizeof(double));
		p.shared = pm_xcalloc((size_t)c->call.out[0].numel + 1, sizeof(double));
		st = add_parts(c, third, 3, 1, 0, p.all, err);
		memcpy(p.shared, p.all, (size_t)c->call.out[0].numel * sizeof(double));
		pm__bound_add(c, 0, &p);
	}
	open_non_finite(c);
	pm__bound_rounded(c);
	return st;
}

/* The largest weight of a term: of a window, of which padding (less than its length) may leave one place. */
static double largest_weight(const PmBoundCall *c)
{
	PmOp op = pm_node_op(c->call.g, c->call.node);
	int64_t padded = !pm_node_i(c->call.g, c->call.node, "count_include_pad", 0);
	double least = 1;
	const int64_t *shape, *pads;
	size_t n, n_pads;

	if (op == PM_OP_ReduceMean || op == PM_OP_GlobalAveragePool)
		return 1 / pm__bound_terms(c);
	if (op != PM_OP_AveragePool || pm_node_i(c->call.g, c->call.node, "ceil_mode", 0))
		return 1;
	n = pm_node_ints(c->call.g, c->call.node, "kernel_shape", &shape);
	n_pads = pm_node_ints(c->call.g, c->call.node, "pads", &pads);
	for (size_t i = 0; i < n; i++) {
		int64_t before = padded && i < n_pads ? pads[i] : 0;
		int64_t after = padded && i + n < n_pads ? pads[i + n] : 0;
		int64_t left = shape[i] - (before > after ? before : after);

		least *= left > 1 ? (double)left : 1;
	}
	return 1 / least;
}

/* The results' lines of a CumSum. */
static int64_t n_lines(const PmBoundCall *c)
{
	const PmType *t = &c->call.in[0].type;
	int64_t axis = c->call.n_in > 1 && c->call.in[1].numel == 1 && c->call.in[1].i ? c->call.in[1].i[0]
										       : 0;

	axis += axis < 0 ? t->rank : 0;
	return axis >= 0 && axis < t->rank && t->dim[axis] > 0 ? c->call.in[0].numel / t->dim[axis] : 1;
}

/* Sums that go on: result k holds k terms. Errors of the results of a line are those of one walk: with steps
 * of variances that grow as k their correlation is j / k, of which the mean square is a third, so that a line
 * has three independent ones. */
static PmStatus running_sums(PmBoundCall *c, PmErr *err)
{
	static const Part squares[] = { SQUARE, AS_IS, AS_IS }, ones[] = { ONE, AS_IS, AS_IS };
	PmRefTensor *count = pm_xcalloc(c->call.n_out + 1, sizeof *count);
	int64_t n = c->call.out[0].numel, lines = n_lines(c);
	PmStatus st = on_parts(c, ones, 3, count, err);

	if (!st)
		st = add_steps(c, squares, 1, 0, count[0].f, NULL, err);
	pm__bound_own(c, 0, 3 * lines < n ? 3 * lines : n);
	pm__bound_release_all(count, c->call.n_out);
	free(count);
	return st;
}

/* Sums of operand 0 with positive weights. */
PmStatus pm__bound_sum(PmBoundCall *c, PmErr *err)
{
	static const Part squares[] = { SQUARE, AS_IS, AS_IS }, alone[] = { ALONE, AS_IS, AS_IS },
			  shared[] = { SHARED, AS_IS, AS_IS };
	PmOp op = pm_node_op(c->call.g, c->call.node);
	int running = op == PM_OP_CumSum;
	double weight = largest_weight(c), *drift = NULL;
	PmStatus st;

	if (!c->call.out[0].f)
		return pm__bound_stepped(c, err);
	/* The sum of one number, and its mean, is that number. */
	if ((op == PM_OP_ReduceSum || op == PM_OP_ReduceMean) && c->call.in[0].numel == c->call.out[0].numel)
		return pm__bound_exact(c, err);
	if (running) {
		st = running_sums(c, err);
	} else {
		if (op == PM_OP_ReduceSum || op == PM_OP_ReduceMean || op == PM_OP_ReduceL1 ||
		    op == PM_OP_GlobalAveragePool)
			drift = drifts(c, weight);
		st = add_steps(c, squares, sqrt(weight), pm__bound_terms(c), NULL, drift, err);
		pm__bound_own(c, 0, 0);
		free(drift);
	}
	if (!st && is_inexact(c, 0))
		st = add_errors(c, alone, shared, 1, sqrt(weight), running,
				pm__bound_inv(c, 0, c->call.out[0].numel), err);
	open_non_finite(c);
	pm__bound_rounded(c);
	return st;
}

/* Updates that may meet one place. */
static double most_updates(const PmBoundCall *c)
{
	const PmType *t = &c->call.in[1].type;
	int64_t axis = pm_node_i(c->call.g, c->call.node, "axis", 0), tuple = t->dim[t->rank - 1];

	if (pm_node_op(c->call.g, c->call.node) == PM_OP_ScatterND)
		return (double)(c->call.in[1].numel / (tuple > 0 ? tuple : 1));
	return (double)t->dim[axis < 0 ? axis + t->rank : axis];
}

/* Operand 0 and the updates, operand 2, that operand 1 sends to its places, summed. */
PmStatus pm__bound_scatter(PmBoundCall *c, PmErr *err)
{
	static const Part squares[] = { SQUARE, AS_IS, SQUARE }, alone[] = { ALONE, AS_IS, ALONE },
			  shared[] = { SHARED, AS_IS, SHARED }, added[] = { ABS, AS_IS, ZERO };
	double u = pm__bound_u(c->call.out[0].type.dtype), terms;
	int64_t n = c->call.out[0].numel;
	PmStatus st;

	if (c->in[1].unit) {
		pm__bound_lose(c);
		return PM_OK;
	}
	if (!c->call.out[0].f)
		return pm__bound_stepped(c, err);
	/* Updates are added to operand 0: it is in each partial sum. */
	terms = most_updates(c) + 1;
	st = add_steps(c, squares, 1, terms, NULL, NULL, err);
	if (!st)
		st = add_parts(c, added, 3, PM_BOUND_ROUNDING * u * sqrt(terms), 0, pm__bound_unit(c, 0),
			       err);
	pm__bound_own(c, 0, 0);
	if (!st && (is_inexact(c, 0) || is_inexact(c, 2)))
		st = add_errors(c, alone, shared, 5, 1, 0,
				fmax(pm__bound_inv(c, 0, n), pm__bound_inv(c, 2, n)), err);
	open_non_finite(c);
	pm__bound_rounded(c);
	return st;
}

/* The operator on the roots of |x| e, or on |x| e itself, or on e alone; owned by the caller. */
static PmStatus on_squares(const PmBoundCall *c, const double *e, int what, PmRefTensor *out, PmErr *err)
{
	PmRefTensor in = c->call.in[0];
	PmStatus st;

	in.f = pm_xcalloc((size_t)in.numel + 1, sizeof *in.f);
	for (int64_t i = 0; i < in.numel; i++) {
		double x = fabs(c->call.in[0].f[i]);

		in.f[i] = what == 0 ? sqrt(x * at(e, i)) : what == 1 ? (x + at(e, i)) * at(e, i) : at(e, i);
	}
	st = pm__bound_again(c, &in, out, err);
	free(in.f);
	return st;
}

/* The effect of errors f, `shared` of them in common, on sums of squares or their roots. */
static PmStatus add_squares(PmBoundCall *c, int root, const double *f, const double *shared, PmErr *err)
{
	PmRefTensor out[3] = { 0 };
	int64_t n = c->call.out[0].numel;
	PmBoundPart p = { .inv = pm__bound_inv(c, 0, n), .source = c->in[0].source };
	PmStatus st = on_squares(c, f, 1, &out[1], err);

	p.all = pm_xcalloc((size_t)n + 1, sizeof *p.all);
	p.shared = pm_xcalloc((size_t)n + 1, sizeof *p.shared);
	if (!st && shared)
		st = on_squares(c, shared, 0, &out[0], err);
	if (!st && root)
		st = on_squares(c, f, 2, &out[2], err);
	for (int64_t i = 0; !st && i < n; i++) {
		double y = c->call.out[0].f[i], s = shared ? out[0].f[i] : 0, v = out[1].f[i];

		s = root ? (y > 0 ? s * s / y : s) : 2 * s;
		v = root ? (y > 0 ? fmin(v / y, out[2].f[i]) : out[2].f[i]) : 2 * sqrt(v);
		p.all[i] = sqrt(v * v + s * s);
		p.shared[i] = s;
	}
	pm__bound_add(c, 0, &p);
	pm__bound_release_all(out, 3);
	return st;
}

/* Sums of squares, and their roots: 2 |x| f for each term. The sum's own steps are the most where one term is
 * nearly all of it. */
PmStatus pm__bound_squares(PmBoundCall *c, PmErr *err)
{
	int root = pm_node_op(c->call.g, c->call.node) == PM_OP_ReduceL2;
	const PmRefTensor *x = &c->call.in[0];
	double u = pm__bound_u(c->call.out[0].type.dtype), terms = pm__bound_terms(c), same = equal_terms(c);
	double lost = terms * least_product(c), drift_squares = 0, all = 0, *e, *f, *shared, *drift;
	PmStatus st = PM_OK;

	if (!c->call.out[0].f || !x->f)
		return pm__bound_stepped(c, err);
	e = pm__bound_unit(c, 0);
	drift = drifts(c, 1);
	for (int64_t i = 0; i < c->call.out[0].numel; i++) {
		double y = c->call.out[0].f[i], own;

		e[i] = root ? sqrt(lost) : lost;
		if (!isfinite(y))
			continue;
		drift[i] = root ? y > 0 ? drift[i] / (2 * y) : 0 : drift[i];
		own = own_error(root ? u / 2 : u, terms, y * y, y, same, drift[i]);
		e[i] += own;
		drift_squares += drift[i] * drift[i];
		all += own * own;
	}
	free(drift);
	pm__bound_leans(c, drift_squares, all);
	pm__bound_own(c, 0, 0);
	f = pm__bound_full(c, 0);
	shared = pm__bound_common(c, 0, f);
	if (f)
		st = add_squares(c, root, f, shared, err);
	open_non_finite(c);
	pm__bound_rounded(c);
	free(f);
	free(shared);
	return st;
}

/* The largest or least of some: as far off as the worst of them. */
PmStatus pm__bound_extreme(PmBoundCall *c, PmErr *err)
{
	int least = pm_node_op(c->call.g, c->call.node) == PM_OP_ReduceMin;
	PmRefTensor in = c->call.in[0], *out = pm_xcalloc(c->call.n_out, sizeof *out);
	PmBoundPart p = { .inv = pm__bound_inv(c, 0, c->call.out[0].numel), .source = c->in[0].source };
	PmStatus st = PM_OK;

	for (size_t k = 1; k < c->call.n_out; k++)
		c->out[k].known = !c->in[0].unit && !c->in[0].rounds; /* positions: ties break any way */
	c->out[0].rounds = c->in[0].rounds;
	c->out[0].repeats = c->in[0].repeats;
	if (!c->in[0].unit || !in.f)
		goto out;
	in.f = pm_xcalloc((size_t)in.numel + 1, sizeof *in.f);
	for (int64_t i = 0; i < in.numel; i++)
		in.f[i] = least ? -c->in[0].unit[i] : c->in[0].unit[i];
	st = pm__bound_again(c, &in, out, err);
	p.all = pm_xcalloc((size_t)c->call.out[0].numel + 1, sizeof *p.all);
	for (int64_t i = 0; !st && i < c->call.out[0].numel; i++)
		p.all[i] = fabs(out[0].f[i]);
	if (c->in[0].shared) {
		p.shared = pm_xcalloc((size_t)c->call.out[0].numel + 1, sizeof *p.shared);
		memcpy(p.shared, p.all, (size_t)c->call.out[0].numel * sizeof *p.shared);
	}
	pm__bound_add(c, 0, &p);
	free(in.f);
out:
	pm__bound_release_all(out, c->call.n_out);
	free(out);
	return st;
}
