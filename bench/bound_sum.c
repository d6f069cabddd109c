/* bound_sum.c - units of error of sums, products, their roots, and extremes. */
#include "bench/bound_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double at(const double *f, int64_t i)
{
	return f ? f[i] : 0;
}

typedef enum { ABS, SQUARE, FULL, AS_IS, ZERO } Part;

/* Operand k as one of its parts; its data is owned when the part is not AS_IS. */
static PmRefTensor part_of(const PmBoundCall *c, size_t k, Part p)
{
	PmRefTensor t = c->call.in[k];
	double *full = p == FULL ? pm__bound_full(c, k) : NULL;

	if (p == AS_IS || !t.f)
		return t;
	t.f = full ? full : pm_xcalloc((size_t)t.numel + 1, sizeof *t.f);
	for (int64_t i = 0; p != FULL && p != ZERO && i < t.numel; i++)
		t.f[i] = p == ABS ? fabs(c->call.in[k].f[i]) : c->call.in[k].f[i] * c->call.in[k].f[i];
	return t;
}

/* The operator on parts of its operands (`rest` for all from the fourth on); results are made positive. */
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
	for (int64_t i = 0; !st && out[0].f && i < out[0].numel; i++)
		out[0].f[i] = fabs(out[0].f[i]);
	free(in);
	return st;
}

/* Adds factor * (the operator on parts), or with `root` the root of it, to the unit. */
static PmStatus add_parts(PmBoundCall *c, const Part *part, size_t n_part, double factor, int root,
			  PmErr *err)
{
	PmRefTensor *out = pm_xcalloc(c->call.n_out + 1, sizeof *out);
	PmStatus st = on_parts(c, part, n_part, out, err);
	double *e = pm__bound_unit(c, 0);

	for (int64_t i = 0; !st && i < c->call.out[0].numel; i++)
		e[i] += factor * (root ? sqrt(out[0].f[i]) : out[0].f[i]);
	pm__bound_release_all(out, c->call.n_out);
	free(out);
	return st;
}

/* sqrt(K) / 4 |y|: a plain sum of values of one sign. */
static void add_walk(PmBoundCall *c, double u, double terms)
{
	double *e = pm__bound_unit(c, 0);

	for (int64_t i = 0; i < c->call.out[0].numel; i++)
		if (isfinite(c->call.out[0].f[i]))
			e[i] += u * sqrt(terms) / 4 * fabs(c->call.out[0].f[i]);
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

/* A lane's rounding of the factors; those that have no more digits than it keeps are not touched. */
static PmStatus add_lane(PmBoundCall *c, PmErr *err)
{
	const Part squares[] = { SQUARE, SQUARE, ZERO };
	double keeps = c->lane == PM_LANE_TF32 ? 0x1p-11 : 0x1p-8, alpha = 1, *e = pm__bound_unit(c, 0);

	if (c->lane == PM_LANE_STRICT || (pm__bound_ud(c->call.in[0].type.dtype) >= keeps &&
					  pm__bound_ud(c->call.in[1].type.dtype) >= keeps))
		return PM_OK;
	if (pm_node_op(c->call.g, c->call.node) == PM_OP_Gemm)
		alpha = sqrt(fabs(pm_node_f(c->call.g, c->call.node, "alpha", 1)));
	for (int64_t i = 0; i < c->call.out[0].numel; i++)
		e[i] += keeps / (c->lane == PM_LANE_TF32 ? 2 : 16) * fabs(c->call.out[0].f[i]);
	return add_parts(c, squares, 3, keeps * alpha * (c->lane == PM_LANE_TF32 ? 0.5 : 0.2), 1, err);
}

/* What a product loses where it is denormal, or nothing, in the type of sums. */
static double least_product(const PmBoundCall *c)
{
	return c->call.out[0].type.dtype == PM_F64 ? 0x1p-1074 : 0x1p-149;
}

/* Products of operands 0 and 1, summed; operand 2, where there is one, is added. */
PmStatus pm__bound_product(PmBoundCall *c, PmErr *err)
{
	static const Part sizes[] = { ABS, ABS, ZERO }, added[] = { ZERO, ABS, ABS };
	static const Part first[] = { FULL, ABS, FULL }, second[] = { ABS, FULL, ZERO };
	double u = pm__bound_u(c->call.out[0].type.dtype), lost;
	int is_einsum = pm_node_op(c->call.g, c->call.node) == PM_OP_Einsum;
	PmStatus st;

	if (!c->call.out[0].f)
		return pm__bound_stepped(c, err);
	if (is_einsum && c->call.n_in != 2) {
		pm__bound_lose(c);
		return PM_OK;
	}
	st = add_parts(c, sizes, 3, u, 0, err);
	if (!st && c->call.n_in > 2 && c->call.in[2].numel)
		st = add_parts(c, added, 3, u, 0, err);
	if (!st && (is_inexact(c, 0) || is_inexact(c, 2)))
		st = add_parts(c, first, 3, 1, 0, err);
	if (!st && is_inexact(c, 1))
		st = add_parts(c, second, 3, 1, 0, err);
	if (!st)
		st = add_lane(c, err);
	add_walk(c, u, pm__bound_terms(c));
	lost = pm__bound_terms(c) * least_product(c);
	for (int64_t i = 0; i < c->call.out[0].numel; i++)
		pm__bound_unit(c, 0)[i] += lost;
	open_non_finite(c);
	pm__bound_rounded(c);
	return st;
}

/* Sums of operand 0 with positive weights. */
PmStatus pm__bound_sum(PmBoundCall *c, PmErr *err)
{
	static const Part sizes[] = { ABS, AS_IS }, errors[] = { FULL, AS_IS };
	double u = pm__bound_u(c->call.out[0].type.dtype);
	PmStatus st;

	if (!c->call.out[0].f)
		return pm__bound_stepped(c, err);
	st = add_parts(c, sizes, 2, u, 0, err);
	if (!st && is_inexact(c, 0))
		st = add_parts(c, errors, 2, 1, 0, err);
	add_walk(c, u,
		 pm_node_op(c->call.g, c->call.node) == PM_OP_CumSum ? (double)c->call.in[0].numel
								     : pm__bound_terms(c));
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
	static const Part sizes[] = { ABS, AS_IS, ABS }, errors[] = { FULL, AS_IS, FULL };
	double u = pm__bound_u(c->call.out[0].type.dtype);
	PmStatus st;

	if (c->in[1].unit) {
		pm__bound_lose(c);
		return PM_OK;
	}
	if (!c->call.out[0].f)
		return pm__bound_stepped(c, err);
	st = add_parts(c, sizes, 3, u, 0, err);
	if (!st && (is_inexact(c, 0) || is_inexact(c, 2)))
		st = add_parts(c, errors, 3, 1, 0, err);
	add_walk(c, u, most_updates(c));
	open_non_finite(c);
	pm__bound_rounded(c);
	return st;
}

/* Sums of squares, and their roots: 2 |x| f for each term, u for the sum. */
PmStatus pm__bound_squares(PmBoundCall *c, PmErr *err)
{
	int root = pm_node_op(c->call.g, c->call.node) == PM_OP_ReduceL2;
	const PmRefTensor *x = &c->call.in[0];
	double *f = pm__bound_full(c, 0), *e = pm__bound_unit(c, 0);
	double u = pm__bound_u(c->call.out[0].type.dtype) * (1 + sqrt(pm__bound_terms(c)) / 4);
	PmRefTensor in = *x, out[1];
	double lost = pm__bound_terms(c) * least_product(c);
	PmStatus st = PM_OK;

	if (!c->call.out[0].f || !x->f) {
		free(f);
		return pm__bound_stepped(c, err);
	}
	in.f = pm_xcalloc((size_t)x->numel + 1, sizeof *in.f);
	for (int64_t i = 0; i < x->numel; i++)
		in.f[i] = sqrt(fabs(x->f[i]) * at(f, i));
	st = pm__bound_again(c, &in, out, err);
	for (int64_t i = 0; !st && i < c->call.out[0].numel; i++) {
		double y = c->call.out[0].f[i], s = root ? out[0].f[i] * out[0].f[i] : 2 * out[0].f[i];

		e[i] = root ? (y > 0 ? s / y : out[0].f[i]) + u * y + sqrt(lost) : s + u * y + lost;
	}
	open_non_finite(c);
	pm__bound_rounded(c);
	pm_ref_tensor_release(out);
	free(in.f);
	free(f);
	return st;
}

/* The largest or least of some: as far off as the worst of them. */
PmStatus pm__bound_extreme(PmBoundCall *c, PmErr *err)
{
	int least = pm_node_op(c->call.g, c->call.node) == PM_OP_ReduceMin;
	PmRefTensor in = c->call.in[0], *out = pm_xcalloc(c->call.n_out, sizeof *out);
	PmStatus st = PM_OK;
	double *e;

	for (size_t k = 1; k < c->call.n_out; k++)
		c->out[k].known = !c->in[0].unit && !c->in[0].rounds; /* positions: ties break any way */
	c->out[0].rounds = c->in[0].rounds;
	if (!c->in[0].unit || !in.f)
		goto out;
	e = pm__bound_unit(c, 0);
	in.f = pm_xcalloc((size_t)in.numel + 1, sizeof *in.f);
	for (int64_t i = 0; i < in.numel; i++)
		in.f[i] = least ? -c->in[0].unit[i] : c->in[0].unit[i];
	st = pm__bound_again(c, &in, out, err);
	for (int64_t i = 0; !st && i < c->call.out[0].numel; i++)
		e[i] = fabs(out[0].f[i]);
	free(in.f);
out:
	pm__bound_release_all(out, c->call.n_out);
	free(out);
	return st;
}
