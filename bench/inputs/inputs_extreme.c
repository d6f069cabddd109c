/* SPDX-License-Identifier: Apache-2.0 */
/* inputs_extreme.c - the ends of what arithmetic can do: whole ranges of types, special values, and the
 * numbers at which a graph changes its mind. */
#include "bench/inputs/defined.h"
#include "bench/inputs/inputs_priv.h"

#include <math.h>
#include <stdlib.h>

/* ---- what integers are used for ---- */

/* 1 when an integer operand of any size is only computed with. */
static int computes_with(PmOp op, size_t k)
{
	uint32_t flags = pm_op_desc(op)->flags;

	if (op == PM_OP_Pow || op == PM_OP_Shrink || op == PM_OP_ReduceMean || op == PM_OP_ReduceL1 ||
	    op == PM_OP_ReduceL2 || op == PM_OP_ReduceSumSquare || op == PM_OP_ReduceLogSum ||
	    op == PM_OP_ReduceLogSumExp || op == PM_OP_Trilu || op == PM_OP_OneHot ||
	    op == PM_OP_ReverseSequence)
		return 0;
	if (op == PM_OP_Concat || flags & PM_OPF_EW || op == PM_OP_MatMul || op == PM_OP_Gemm ||
	    op == PM_OP_Einsum)
		return 1;
	if (op == PM_OP_DequantizeLinear)
		return k == 0 || k == 2;
	if (op == PM_OP_ScatterElements || op == PM_OP_ScatterND)
		return k == 0 || k == 2;
	return k == 0 && (flags & (PM_OPF_VIEW | PM_OPF_MOVE | PM_OPF_RED) || op == PM_OP_MaxPool);
}

static void look(const PmGraph *g, PmValue v, unsigned char *seen, int *use)
{
	if (seen[v.id])
		return;
	seen[v.id] = 1;
	for (PmUse u = pm_value_first_use(g, v); u.slot; u = pm_use_next(g, u)) {
		PmOp op = pm_node_op(g, u.node);

		if (!computes_with(op, u.operand))
			*use &= ~PM__INT_ANY;
		if ((op == PM_OP_Div || op == PM_OP_Mod) && u.operand == 1)
			*use |= PM__INT_DIVISOR;
		if (op == PM_OP_BitShift && u.operand == 1)
			*use |= PM__INT_SHIFT;
		for (size_t k = 0; k < pm_node_n_out(g, u.node); k++) {
			PmValue out = pm_node_out(g, u.node, k);
			int dtype = pm_value_type(g, out)->dtype;

			if (!pm_dtype_is_float(dtype) && dtype != PM_BOOL)
				look(g, out, seen, use);
		}
	}
}

int pm__int_use(const PmGraph *g, PmValue v)
{
	unsigned char *seen = pm_xcalloc(pm_graph_value_limit(g) + 1, 1);
	int use = PM__INT_ANY;

	look(g, v, seen, &use);
	free(seen);
	return use;
}

/* ---- levels ---- */

enum { N_SIZES = 8 };
/* Greatest magnitudes of PM_INPUTS_RANGE by level, and those of float16. */
static const double sizes[2][N_SIZES] = { { 1e38, 1e30, 1e18, 1e12, 1e7, 1e5, 1e3, 88 },
					  { 3e4, 1e4, 2e3, 250, 100, 60, 30, 11 } };

static const unsigned edge_leaves[] = { 0,
					PM_KIND_NAN,
					PM_KIND_NAN | PM_KIND_PLUS_INF,
					PM_KIND_NAN | PM_KIND_MINUS_INF,
					PM_KIND_NAN | PM_KIND_PLUS_INF | PM_KIND_MINUS_INF,
					PM_KIND_NAN | PM_KIND_PLUS_INF | PM_KIND_MINUS_INF |
						PM_KIND_MINUS_ZERO };
enum { N_EDGES = sizeof edge_leaves / sizeof *edge_leaves };

int pm__n_levels(PmInputClass cls)
{
	return cls == PM_INPUTS_RANGE ? N_SIZES : cls == PM_INPUTS_SPECIAL ? N_EDGES : 1;
}

unsigned pm__level_leaves(PmInputClass cls, int level)
{
	return cls == PM_INPUTS_SPECIAL ? edge_leaves[level] : 0;
}

/* ---- integers ---- */

static int64_t any_word(PmRng *r, int dtype)
{
	int bits = (int)(8 * pm_dtype_size(dtype));
	int64_t least = pm_int_from_f64(dtype, -INFINITY), most = pm_int_from_f64(dtype, INFINITY);
	int64_t word = (int64_t)pm_rng_u64(r);

	switch (pm_rng_range(r, 0, 7)) {
	case 0:
		return least;
	case 1:
		return most;
	case 2: /* beside a power of two */
		return pm_int_wrap(dtype, (int64_t)((uint64_t)1 << pm_rng_range(r, 0, bits - 1)) +
						  pm_rng_range(r, -1, 1));
	case 3: /* any number of bits */
		return pm_int_wrap(dtype, word >> pm_rng_range(r, 0, bits - 1));
	case 4:
		return pm_int_wrap(dtype, pm_rng_range(r, -1, 1));
	default:
		return pm_int_wrap(dtype, word);
	}
}

static void draw_integers(const PmGraph *g, PmValue v, PmInputClass cls, int level, PmRng *r, PmTensor *t)
{
	int dtype = t->type.dtype, use = pm__int_use(g, v), bits = (int)(8 * pm_dtype_size(dtype));
	int keep = cls == PM_INPUTS_SPECIAL ? 8 : level < 1 ? 64 : level < 2 ? 31 : level < 3 ? 15 : 7;

	if (!(use & PM__INT_ANY) || dtype == PM_BOOL || (cls == PM_INPUTS_RANGE && level > 3))
		return;
	for (int64_t i = 0; i < pm_tensor_numel(t); i++) {
		int64_t w = any_word(r, dtype);

		if (use & PM__INT_SHIFT)
			w = (int64_t)((uint64_t)w % (uint64_t)bits);
		else if (keep < bits)
			w = dtype == PM_U64 ? (int64_t)((uint64_t)w >> (bits - keep)) : w >> (bits - keep);
		if (use & PM__INT_DIVISOR && (w == 0 || w == -1))
			w = 3;
		pm_tensor_set_i(t, i, w);
	}
}

/* ---- floating point ---- */

static double either_sign(PmRng *r, double v)
{
	return pm_rng_range(r, 0, 1) ? v : -v;
}

/* Three kinds of rows by turns: of one magnitude, which sums keep apart; of one for each element; usual
 * numbers but for two, the first of them positive, of which no sample of the row tells. */
static void draw_sizes(PmRng *r, double most, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t), last = t->type.rank ? t->type.dim[t->type.rank - 1] : 1;
	int64_t turn = pm_rng_range(r, 0, 2), lone[2] = { 0, 0 };
	double size = 1, lo = log(0.01), hi = log(most);

	for (int64_t i = 0, j = 0, kind = turn; i < n; i++, j++) {
		if (j == last) {
			j = 0;
			kind = kind == 2 ? 0 : kind + 1;
		}
		if (j == 0) {
			size = exp(lo + (hi - lo) * pm_rng_uniform(r));
			lone[0] = pm_rng_range(r, 0, last - 1);
			lone[1] = pm_rng_range(r, 0, last - 1);
		}
		if (kind == 0)
			pm_tensor_set(t, i, size * (2 * pm_rng_uniform(r) - 1));
		else if (kind == 1)
			pm_tensor_set(t, i, either_sign(r, exp(lo + (hi - lo) * pm_rng_uniform(r))));
		else if (j == lone[0])
			pm_tensor_set(t, i, exp(hi * (0.25 + 0.75 * pm_rng_uniform(r))));
		else if (j == lone[1])
			pm_tensor_set(t, i, either_sign(r, exp(hi * (0.25 + 0.75 * pm_rng_uniform(r)))));
	}
	if (n)
		pm_tensor_set(t, pm_rng_range(r, 0, n - 1),
			      either_sign(r, most * (0.5 + pm_rng_uniform(r) / 2)));
}

/* Quantities that are positive. */
static void draw_positive(PmRng *r, double most, PmTensor *t)
{
	double hi = log(most), lo = -hi / 2;

	for (int64_t i = 0; i < pm_tensor_numel(t); i++)
		pm_tensor_set(t, i, exp(lo + (hi - lo) * pm_rng_uniform(r)));
}

/* Where roots, logarithms and quotients end. */
static void draw_poles(PmRng *r, unsigned leaves, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t);

	for (int64_t i = 0; i < n && n >= 4; i++) {
		int64_t which = pm_rng_range(r, 0, 31);

		if (which == 0)
			pm_tensor_set(t, i, 0);
		else if (which == 1 && !(leaves & PM_KIND_MINUS_ZERO))
			pm_tensor_set(t, i, -0.0);
		else if (which == 2 && !(leaves & PM_KIND_PLUS_INF))
			pm_tensor_set(t, i, INFINITY);
		else if (which == 3 && !(leaves & PM_KIND_NAN))
			pm_tensor_set(t, i, -0x1p-10);
	}
}

static double denormal(PmRng *r, int dtype)
{
	const PmFloatType *f = pm_float_type(dtype);
	int64_t most;

	f = f ? f : pm_float_type(PM_F32);
	most = (int64_t)fmin(1000, f->normal / f->subnormal - 1);
	return f->subnormal * (double)pm_rng_range(r, 1, most) * (pm_rng_range(r, 0, 1) ? 1 : -1);
}

/* NaN and infinities in a few places only: what they reach in a sum is lost for everything else. */
static void draw_specials(PmRng *r, unsigned leaves, PmTensor *t)
{
	static const struct {
		unsigned kind;
		double value;
	} special[] = { { PM_KIND_NAN, NAN },
			{ PM_KIND_PLUS_INF, INFINITY },
			{ PM_KIND_MINUS_INF, -INFINITY } };
	int64_t n = pm_tensor_numel(t);

	for (int64_t i = 0; i < n; i++) {
		int64_t which = pm_rng_range(r, 0, 23);

		if (which == 0)
			pm_tensor_set(t, i, 0);
		else if (which == 1 && !(leaves & PM_KIND_MINUS_ZERO))
			pm_tensor_set(t, i, -0.0);
		else if (which == 2)
			pm_tensor_set(t, i, denormal(r, t->type.dtype));
	}
	for (size_t k = 0; k < 3; k++)
		if (!(leaves & special[k].kind) && n >= 4)
			pm_tensor_set(t, pm_rng_range(r, 0, n - 1), special[k].value);
}

/* A neighbour of t in its type. */
static double beside(int dtype, double t, int up)
{
	const PmFloatType *f = pm_float_type(dtype);
	double sign = up ? 1 : -1, digit = f ? 2 * f->roundoff : 0;

	return f ? t + sign * digit * fmax(fabs(t), digit) : t + sign;
}

/* Each number in several places, the first of them exactly, one element in four in all. */
static void draw_targets(const PmTargets *s, unsigned leaves, int64_t limit, PmRng *r, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t), times = s->n ? n / (4 * (int64_t)s->n) + 2 : 0;
	int dtype = t->type.dtype, is_float = pm_dtype_is_float(dtype);
	unsigned not_finite = PM_KIND_NAN | PM_KIND_PLUS_INF | PM_KIND_MINUS_INF;

	for (size_t k = 0; k < s->n && n; k++) {
		double v = s->t[k];

		if (!is_float && !(fabs(v) < 0x1p62))
			continue;
		if ((s->pole[k] && (leaves & not_finite) == not_finite) ||
		    (isnan(v) && leaves & PM_KIND_NAN) || (v == INFINITY && leaves & PM_KIND_PLUS_INF) ||
		    (v == -INFINITY && leaves & PM_KIND_MINUS_INF))
			continue;
		for (int64_t j = 0; j < times; j++) {
			int64_t how = j < 2 ? 0 : pm_rng_range(r, 0, 3), at = pm_rng_range(r, 0, n - 1);
			double x = how < 2 || !isfinite(v) ? v : beside(dtype, v, how == 2);

			if (is_float)
				pm_tensor_set(t, at, x);
			else if (!limit || (x >= 0 && x < (double)limit))
				pm_tensor_set_i(t, at, pm_int_wrap(dtype, (int64_t)x));
			if (!isfinite(v) && j == 1)
				break;
		}
	}
}

/* The elements whose numbers differ in axes [from, to) alone, for some place in the others: all become v. */
static void fill_lines(double v, int from, int to, PmRng *r, PmTensor *t)
{
	int64_t inner = 1, len = 1, n = pm_tensor_numel(t), lines, times;

	for (int d = from; d < t->type.rank; d++)
		*(d < to ? &len : &inner) *= t->type.dim[d];
	if (!n || n / len < 2) /* it would be all that there is */
		return;
	lines = n / len;
	times = 1 + lines / 16;
	for (int64_t j = 0; j < times; j++) {
		int64_t which = pm_rng_range(r, 0, lines - 1),
			at = which / inner * inner * len + which % inner;

		for (int64_t i = 0; i < len; i++)
			if (pm_dtype_is_float(t->type.dtype))
				pm_tensor_set(t, at + i * inner, v);
			else
				pm_tensor_set_i(t, at + i * inner, (int64_t)v);
	}
}

/* Which axes a sum goes over, once views and moves have had their way, is not followed: lines along each
 * axis, and all that lies in the last ones. */
static void draw_lines(const PmTargets *s, unsigned leaves, int is_mask, PmRng *r, PmTensor *t)
{
	unsigned not_finite = PM_KIND_NAN | PM_KIND_PLUS_INF | PM_KIND_MINUS_INF;
	int is_float = pm_dtype_is_float(t->type.dtype);

	for (size_t k = 0; k < s->n_lines; k++) {
		double v = s->line[k];

		if ((s->line_pole[k] && (leaves & not_finite) == not_finite) ||
		    (!is_float && (v != rint(v) || fabs(v) > 100)) || (is_mask && v != 0 && v != 1))
			continue;
		for (int d = 0; d < t->type.rank; d++)
			fill_lines(v, d, d + 1, r, t);
		for (int d = 1; d + 1 < t->type.rank; d++)
			fill_lines(v, d, t->type.rank, r, t);
	}
}

/* ---- by role ---- */

static void draw_float(PmInputRole role, PmInputClass cls, int level, const PmTargets *s, PmRng *r,
		       PmTensor *t)
{
	unsigned leaves = cls == PM_INPUTS_RANGE ? PM_KIND_NAN | PM_KIND_PLUS_INF | PM_KIND_MINUS_INF
						 : pm__level_leaves(cls, level);
	int half = pm_float_is_short_range(t->type.dtype), last = level + 1 == pm__n_levels(cls);

	if (role == PM_ROLE_VARIANCE && cls == PM_INPUTS_RANGE)
		draw_positive(r, sizes[half][level], t);
	else if (role == PM_ROLE_VARIANCE && !last)
		draw_poles(r, leaves, t);
	if (role == PM_ROLE_DATA && cls == PM_INPUTS_RANGE)
		draw_sizes(r, sizes[half][level], t);
	else if (role == PM_ROLE_DATA)
		draw_specials(r, leaves, t);
	if ((role == PM_ROLE_DATA || role == PM_ROLE_VARIANCE || role == PM_ROLE_WEIGHT ||
	     role == PM_ROLE_PROB) &&
	    !last) {
		draw_targets(s, leaves, 0, r, t);
		draw_lines(s, leaves, 0, r, t);
	}
}

void pm__draw_extreme(const PmGraph *g, PmValue v, PmInputRole role, PmInputClass cls, int level,
		      const PmTargets *targets, PmRng *r, PmTensor *t)
{
	int64_t limit;
	int last = level + 1 == pm__n_levels(cls);

	/* A mask that hides a whole row is drawn where the graph asks for that row, and for it alone. */
	if ((role == PM_ROLE_MASK || role == PM_ROLE_INVERTED) && cls == PM_INPUTS_SPECIAL && !last)
		draw_lines(targets, pm__level_leaves(cls, level), 1, r, t);
	if (pm_dtype_is_float(t->type.dtype)) {
		draw_float(role, cls, level, targets, r, t);
		return;
	}
	if (role == PM_ROLE_COUNT)
		draw_integers(g, v, cls, level, r, t);
	pm_input_role(g, v, &limit);
	if ((role == PM_ROLE_COUNT && !(pm__int_use(g, v) & PM__INT_SHIFT)) || role == PM_ROLE_INDEX)
		if (!last) {
			draw_targets(targets, 0, role == PM_ROLE_INDEX ? limit : 0, r, t);
			if (role == PM_ROLE_COUNT)
				draw_lines(targets, 0, 0, r, t);
		}
}
