/* SPDX-License-Identifier: Apache-2.0 */
/* inputs_extreme.c - the ends of what arithmetic can do: whole ranges of types, special values, and the
 * numbers at which a graph changes its mind. */
#include "base/sys/threads.h"
#include "bench/inputs/chunks.h"
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
	    op == PM_OP_ReverseSequence || op == PM_OP_BitCast)
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

/* What some elements of a tensor are drawn over with. */
typedef struct Over {
	PmTensor *t;
	double most;             /* of sizes */
	int64_t turn;            /* of sizes */
	unsigned leaves;         /* kinds of values */
	const PmTargets *target; /* of targets, as the next three */
	int64_t limit;
	int finite, infinite;
	int use, keep; /* of integers */
} Over;

static void draw_over(Over *o, PmRng *r, PmChunkFn *fn)
{
	pm__in_chunks(pm_tensor_numel(o->t), pm__last_axis(&o->t->type), r, fn, o);
}

static void draw_some_integers(void *arg, PmChunk *c)
{
	const Over *o = arg;
	int dtype = o->t->type.dtype, bits = (int)(8 * pm_dtype_size(dtype));

	for (int64_t i = c->from; i < c->to; i++) {
		int64_t w = any_word(&c->r, dtype);

		if (o->use & PM__INT_SHIFT)
			w = (int64_t)((uint64_t)w % (uint64_t)bits);
		else if (o->keep < bits)
			w = dtype == PM_U64 ? (int64_t)((uint64_t)w >> (bits - o->keep))
					    : w >> (bits - o->keep);
		if (o->use & PM__INT_DIVISOR && (w == 0 || w == -1))
			w = 3;
		pm_tensor_set_i(o->t, i, w);
	}
}

static void draw_integers(const PmGraph *g, PmValue v, PmInputClass cls, int level, PmRng *r, PmTensor *t)
{
	int dtype = t->type.dtype;
	Over o = { .t = t,
		   .use = pm__int_use(g, v),
		   .keep = cls == PM_INPUTS_SPECIAL ? 8
			   : level < 1              ? 64
			   : level < 2              ? 31
			   : level < 3              ? 15
						    : 7 };

	if (!(o.use & PM__INT_ANY) || dtype == PM_BOOL || (cls == PM_INPUTS_RANGE && level > 3))
		return;
	draw_over(&o, r, draw_some_integers);
}

/* ---- floating point ---- */

static double either_sign(PmRng *r, double v)
{
	return pm_rng_range(r, 0, 1) ? v : -v;
}

/* A row of magnitudes: what it was begun with. */
typedef struct SizedRow {
	double size;
	int64_t lone[2];
} SizedRow;

static SizedRow begin_sized_row(PmRng *r, double lo, double hi, int64_t last)
{
	SizedRow row;

	row.size = exp(lo + (hi - lo) * pm_rng_uniform(r));
	row.lone[0] = pm_rng_range(r, 0, last - 1);
	row.lone[1] = pm_rng_range(r, 0, last - 1);
	return row;
}

static void draw_some_sizes(void *arg, PmChunk *c)
{
	const Over *o = arg;
	PmTensor *t = o->t;
	PmRng *r = &c->r;
	double lo = log(0.01), hi = log(o->most);
	int64_t last = pm__last_axis(&t->type);
	SizedRow row = { 1, { 0, 0 } };

	if (c->from % last)
		row = begin_sized_row(&c->row, lo, hi, last);
	for (int64_t i = c->from; i < c->to; i++) {
		int64_t j = i % last, kind = (o->turn + i / last) % 3;

		if (j == 0)
			row = begin_sized_row(r, lo, hi, last);
		if (kind == 0)
			pm_tensor_set(t, i, row.size * (2 * pm_rng_uniform(r) - 1));
		else if (kind == 1)
			pm_tensor_set(t, i, either_sign(r, exp(lo + (hi - lo) * pm_rng_uniform(r))));
		else if (j == row.lone[0])
			pm_tensor_set(t, i, exp(hi * (0.25 + 0.75 * pm_rng_uniform(r))));
		else if (j == row.lone[1])
			pm_tensor_set(t, i, either_sign(r, exp(hi * (0.25 + 0.75 * pm_rng_uniform(r)))));
	}
}

/* Three kinds of rows by turns: of one magnitude, which sums keep apart; of one for each element; usual
 * numbers but for two, the first of them positive, of which no sample of the row tells. */
static void draw_sizes(PmRng *r, double most, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t);
	Over o = { .t = t, .most = most, .turn = pm_rng_range(r, 0, 2) };

	draw_over(&o, r, draw_some_sizes);
	if (n)
		pm_tensor_set(t, pm_rng_range(r, 0, n - 1),
			      either_sign(r, most * (0.5 + pm_rng_uniform(r) / 2)));
}

/* Quantities that are positive. */
static void draw_some_positive(void *arg, PmChunk *c)
{
	const Over *o = arg;
	double hi = log(o->most), lo = -hi / 2;

	for (int64_t i = c->from; i < c->to; i++)
		pm_tensor_set(o->t, i, exp(lo + (hi - lo) * pm_rng_uniform(&c->r)));
}

/* Where roots, logarithms and quotients end. */
static void draw_some_poles(void *arg, PmChunk *c)
{
	const Over *o = arg;
	unsigned leaves = o->leaves;

	for (int64_t i = c->from; i < c->to; i++) {
		int64_t which = pm_rng_range(&c->r, 0, 31);

		if (which == 0)
			pm_tensor_set(o->t, i, 0);
		else if (which == 1 && !(leaves & PM_KIND_MINUS_ZERO))
			pm_tensor_set(o->t, i, -0.0);
		else if (which == 2 && !(leaves & PM_KIND_PLUS_INF))
			pm_tensor_set(o->t, i, INFINITY);
		else if (which == 3 && !(leaves & PM_KIND_NAN))
			pm_tensor_set(o->t, i, -0x1p-10);
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

static void draw_some_specials(void *arg, PmChunk *c)
{
	const Over *o = arg;

	for (int64_t i = c->from; i < c->to; i++) {
		int64_t which = pm_rng_range(&c->r, 0, 23);

		if (which == 0)
			pm_tensor_set(o->t, i, 0);
		else if (which == 1 && !(o->leaves & PM_KIND_MINUS_ZERO))
			pm_tensor_set(o->t, i, -0.0);
		else if (which == 2)
			pm_tensor_set(o->t, i, denormal(&c->r, o->t->type.dtype));
	}
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

	draw_over(&(Over){ .t = t, .leaves = leaves }, r, draw_some_specials);
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

/* May the number be drawn? */
static int is_allowed(const PmTargets *s, size_t k, unsigned leaves, int is_float)
{
	unsigned not_finite = PM_KIND_NAN | PM_KIND_PLUS_INF | PM_KIND_MINUS_INF;
	double v = s->t[k];

	if (!is_float && !(fabs(v) < 0x1p62))
		return 0;
	return !((s->pole[k] && (leaves & not_finite) == not_finite) || (isnan(v) && leaves & PM_KIND_NAN) ||
		 (v == INFINITY && leaves & PM_KIND_PLUS_INF) ||
		 (v == -INFINITY && leaves & PM_KIND_MINUS_INF));
}

static void draw_some_targets(void *arg, PmChunk *c)
{
	const Over *o = arg;
	const PmTargets *s = o->target;
	int64_t n = c->to - c->from, times = s->n ? n / (4 * (int64_t)s->n) + 2 : 0;
	int dtype = o->t->type.dtype, is_float = pm_dtype_is_float(dtype);

	for (size_t k = 0; k < s->n && n; k++) {
		double v = s->t[k];

		if (!is_allowed(s, k, o->leaves, is_float) || !(isfinite(v) ? o->finite : o->infinite))
			continue;
		for (int64_t j = 0; j < times; j++) {
			int64_t how = j < 2 ? 0 : pm_rng_range(&c->r, 0, 3),
				at = pm_rng_range(&c->r, c->from, c->to - 1);
			double x = how < 2 || !isfinite(v) ? v : beside(dtype, v, how == 2);

			if (is_float)
				pm_tensor_set(o->t, at, x);
			else if (!o->limit || (x >= 0 && x < (double)o->limit))
				pm_tensor_set_i(o->t, at, pm_int_wrap(dtype, (int64_t)x));
			if (!isfinite(v) && j == 1)
				break;
		}
	}
}

/* Each number in several places, the first of them exactly, one element in four in all. What is not finite
 * stands in two places of the whole: it reaches far. */
static void draw_targets(const PmTargets *s, unsigned leaves, int64_t limit, PmRng *r, PmTensor *t)
{
	int64_t n = pm_tensor_numel(t);
	Over o = { .t = t, .leaves = leaves, .target = s, .limit = limit, .finite = 1 };
	PmChunk whole = { .to = n };

	o.infinite = n <= PM__CHUNK;
	draw_over(&o, r, draw_some_targets);
	if (o.infinite)
		return;
	o.finite = 0;
	o.infinite = 1;
	whole.r = *r;
	draw_some_targets(&o, &whole);
	*r = whole.r;
}

/* Lines of a tensor along an axis or several, of which some get a number. */
typedef struct Marked {
	PmTensor *t;
	double v;
	int64_t len, inner;
	const unsigned char *line; /* 1: gets it */
} Marked;

static void fill_marked(void *arg, int64_t from, int64_t to)
{
	const Marked *m = arg;
	int is_float = pm_dtype_is_float(m->t->type.dtype);

	for (int64_t which = from; which < to; which++) {
		int64_t at = which / m->inner * m->inner * m->len + which % m->inner;

		for (int64_t i = 0; i < m->len && m->line[which]; i++)
			if (is_float)
				pm_tensor_set(m->t, at + i * m->inner, m->v);
			else
				pm_tensor_set_i(m->t, at + i * m->inner, (int64_t)m->v);
	}
}

/* The elements whose numbers differ in axes [from, to) alone, for some place in the others: all become v. */
static void fill_lines(double v, int from, int to, PmRng *r, PmTensor *t)
{
	int64_t inner = 1, len = 1, n = pm_tensor_numel(t), lines, times;
	unsigned char *line;

	for (int d = from; d < t->type.rank; d++)
		*(d < to ? &len : &inner) *= t->type.dim[d];
	if (!n || n / len < 2) /* it would be all that there is */
		return;
	lines = n / len;
	times = 1 + lines / 16;
	line = pm_xcalloc((size_t)lines, 1);
	for (int64_t j = 0; j < times; j++)
		line[pm_rng_range(r, 0, lines - 1)] = 1;
	pm_threads_run(lines, 1 + PM__CHUNK / len, fill_marked, &(Marked){ t, v, len, inner, line });
	free(line);
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
		draw_over(&(Over){ .t = t, .most = sizes[half][level] }, r, draw_some_positive);
	else if (role == PM_ROLE_VARIANCE && !last && pm_tensor_numel(t) >= 4)
		draw_over(&(Over){ .t = t, .leaves = leaves }, r, draw_some_poles);
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
