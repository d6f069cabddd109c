/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.c - seeded input tensors by role. */
#include "bench/inputs/inputs.h"

#include "base/sys/threads.h"
#include "bench/inputs/chunks.h"
#include "bench/inputs/inputs_priv.h"
#include "ir/core/kernel.h"
#include "ir/data/index_span.h"
#include "ir/data/law.h"
#include "ir/data/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *pm_input_class_name(PmInputClass cls)
{
	static const char *const names[] = { "normal", "uniform", "wide",  "ints",    "sparse", "tail",
					     "tiny",   "large",   "equal", "special", "range" };

	return cls < PM_N_ALL_CLASSES ? names[cls] : "?";
}

/* The numbers a row has in common: a magnitude, and a value. */
typedef struct Row {
	double size, value;
} Row;

static double draw_tail(PmRng *r)
{
	double x = pm_rng_normal(r), sum = 0;

	for (int k = 0; k < 3; k++) {
		double z = pm_rng_normal(r);

		sum += z * z;
	}
	return x / sqrt(fmax(sum, 1e-3) / 3);
}

static double draw_class(PmRng *r, PmInputClass cls, int dtype, const Row *row)
{
	double x;

	switch (cls) {
	case PM_INPUTS_UNIFORM:
		return 2 * pm_rng_uniform(r) - 1;
	case PM_INPUTS_WIDE:
		return pm_rng_normal(r) * row->size;
	case PM_INPUTS_INTS:
		return (double)pm_rng_range(r, -1, 1);
	case PM_INPUTS_SPARSE:
		return pm_rng_range(r, 0, 9) ? 0 : pm_rng_normal(r);
	case PM_INPUTS_TAIL:
		return draw_tail(r);
	case PM_INPUTS_TINY: /* in this order */
		x = pm_rng_normal(r);
		return x * (pm_rng_range(r, 0, 7) ? 1e-6 : 1e-40);
	case PM_INPUTS_LARGE:
		return (2 * pm_rng_uniform(r) - 1) *
		       pm_float_type(pm_dtype_is_float(dtype) ? dtype : PM_F32)->inputs;
	case PM_INPUTS_EQUAL:
		return row->value;
	default:
		return pm_rng_normal(r);
	}
}

/* What a tensor is filled with. */
typedef struct Filling {
	PmInputRole role;
	PmInputClass cls;
	int64_t limit, common; /* of indices */
	int dtype;             /* of the input that the elements are for */
	double fan_root;       /* of a weight */
	PmTensor *t;
} Filling;

static double draw(PmRng *r, const Filling *f, const Row *row, int first)
{
	switch (f->role) {
	case PM_ROLE_WEIGHT:
		return draw_class(r, f->cls, f->dtype, row) / f->fan_root;
	case PM_ROLE_SCALE:
		return 1 + 0.2 * pm_rng_normal(r);
	case PM_ROLE_VARIANCE:
		return 0.25 + 1.5 * pm_rng_uniform(r);
	case PM_ROLE_PROB:
		return 0.01 + 0.98 * pm_rng_uniform(r);
	case PM_ROLE_MASK:
		return first || pm_rng_range(r, 0, 3) ? 1 : 0;
	case PM_ROLE_INVERTED:
		return first || pm_rng_range(r, 0, 3) ? 0 : 1;
	case PM_ROLE_BIAS_MASK:
		return first || pm_rng_range(r, 0, 3) ? 0 : -1e4;
	default:
		return draw_class(r, f->cls, f->dtype, row);
	}
}

static int64_t draw_index(PmRng *r, PmInputClass cls, int64_t limit, int64_t common)
{
	if (limit <= 0)
		return 0;
	if (cls == PM_INPUTS_EQUAL)
		return common;
	if (cls == PM_INPUTS_TAIL) /* half of the places, which are others for each input: a sum over indices
				    * leaves some empty that another input's indices ask for */
		return (common + pm_rng_range(r, 0, (limit - 1) / 2)) % limit;
	if (cls == PM_INPUTS_SPECIAL)
		return pm_rng_range(r, 0, 1) ? limit - 1 : 0;
	return pm_rng_range(r, 0, limit - 1);
}

/* A place in the stream of a chunk: where element `at` is drawn next. */
typedef struct Place {
	PmRng r;
	int64_t at, certain;
	Row row;
} Place;

/* What a row has in common. No row of a mask hides all; where its certain element stands is anybody's guess
 * in the further classes. */
static void begin_row(const Filling *f, Place *p, int64_t last)
{
	p->row.size = exp2(8 * pm_rng_uniform(&p->r) - 4);
	/* Sixteenths: sums of equal numbers with more digits are rounded the same way each time, and a plain
	 * loop drifts off. */
	p->row.value = f->cls == PM_INPUTS_EQUAL ? rint(16 * pm_rng_normal(&p->r)) / 16 : 0;
	p->certain = f->cls < PM_N_INPUT_CLASSES ? 0 : pm_rng_range(&p->r, 0, last - 1);
}

/* n elements of one row, from place j of it on. */
static void fill_some(const Filling *f, Place *p, int64_t j, int64_t n)
{
	enum { SOME = 256 };
	double v[SOME];

	if (f->role == PM_ROLE_INDEX || f->role == PM_ROLE_COUNT) {
		for (int64_t i = 0; i < n; i++) {
			int64_t w = f->role == PM_ROLE_INDEX ? draw_index(&p->r, f->cls, f->limit, f->common)
							     : pm_rng_range(&p->r, 0, 8);

			pm_tensor_set_i(f->t, p->at + i, w);
		}
		return;
	}
	for (int64_t i = 0; i < n; i += SOME) {
		int64_t some = n - i < SOME ? n - i : SOME;

		for (int64_t k = 0; k < some; k++)
			v[k] = draw(&p->r, f, &p->row, j + i + k == p->certain);
		pm_tensor_sets(f->t, p->at + i, some, v);
	}
}

/* The elements of a chunk. */
static void fill_chunk(void *arg, PmChunk *chunk)
{
	const Filling *f = arg;
	int64_t last = pm__last_axis(&f->t->type);
	Place p = { .r = chunk->row, .at = chunk->from, .row = { 1, 0 } };

	if (p.at % last) /* the numbers of its row */
		begin_row(f, &p, last);
	p.r = chunk->r;
	while (p.at < chunk->to) {
		int64_t j = p.at % last, n = last - j < chunk->to - p.at ? last - j : chunk->to - p.at;

		if (j == 0)
			begin_row(f, &p, last);
		fill_some(f, &p, j, n);
		p.at += n;
	}
	chunk->r = p.r;
}

/* `like`: the type of the input that the elements are for. */
static void fill(PmRng *r, PmInputRole role, PmInputClass cls, int64_t limit, const PmType *like, PmTensor *t)
{
	Filling f = { .role = role, .cls = cls, .limit = limit, .dtype = like->dtype, .t = t };

	f.fan_root = sqrt(pm_fan_in(like));
	if (role == PM_ROLE_INDEX && (cls == PM_INPUTS_EQUAL || cls == PM_INPUTS_TAIL) && limit > 0)
		f.common = pm_rng_range(r, 0, limit - 1);
	pm__in_chunks(pm_tensor_numel(t), pm__last_axis(&t->type), r, fill_chunk, &f);
}

/* The law that a graph states for an input, if the class is to draw from it; NULL where it is not. */
static const char *law_of(const PmGraph *g, PmValue v, PmInputClass cls)
{
	return cls == PM_INPUTS_NORMAL ? pm_graph_input_law(g, v) : NULL;
}

/* Fills t, of the type of input v or a row of its elements: from its law where the class draws from it, else
 * by role. */
static PmStatus fill_input(const PmGraph *g, PmValue v, PmInputRole role, PmInputClass cls, int64_t limit,
			   PmRng *r, PmTensor *t, PmErr *err)
{
	const char *text = law_of(g, v, cls);
	PmSynth law;
	PmStatus st;

	if (!text) {
		fill(r, role, cls, limit, pm_value_type(g, v), t);
		return PM_OK;
	}
	st = pm_law_read(text, t->type.dtype, &law, err);
	if (st)
		return pm_err_ctx(err, "input '%.120s'", pm_value_name(g, v));
	law.seed = pm_rng_u64(r);
	pm_synth_fill(&law, 0, (size_t)pm_tensor_numel(t), t->data);
	return PM_OK;
}

PmStatus pm_inputs_have_sizes(const PmGraph *g, PmErr *err)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));

		for (int d = 0; d < t->rank; d++) {
			const char *name = pm_graph_symbol_name(g, t->dim[d]);

			if (name)
				return pm_err(
					err, PM_E_SHAPE,
					"The size '%.100s' of input '%.120s' is open; give it a number with "
					"passmith bind MODEL --dim %.100s=4 -o OUT, and take that model.",
					name, pm_value_name(g, pm_graph_input(g, i)), name);
		}
	}
	return PM_OK;
}

static void mend_some(void *arg, int64_t from, int64_t to)
{
	PmTensor *t = arg;

	for (int64_t i = from; i < to; i++)
		if (pm_tensor_get_i(t, i) == 0)
			pm_tensor_set_i(t, i, 1);
}

/* Two of three quotients of integers by 0 end a kernel on the emulated device, and none means anything. */
static void mend_divisors(const PmGraph *g, PmValue v, PmTensor *t)
{
	if (!pm_dtype_is_float(t->type.dtype) && pm__int_use(g, v) & PM__INT_DIVISOR)
		pm_threads_run(pm_tensor_numel(t), PM__CHUNK, mend_some, t);
}

typedef struct Keep {
	PmSpan s;
	PmTensor *t;
} Keep;

static void keep_some(void *arg, int64_t from, int64_t to)
{
	const Keep *k = arg;
	double width = k->s.hi - k->s.lo + 1;

	for (int64_t i = from; i < to && isfinite(width); i++) {
		double v = pm_tensor_get(k->t, i);

		if (v < k->s.lo || v > k->s.hi)
			pm_tensor_set(k->t, i, k->s.lo + fmod(fabs(trunc(v)), width));
	}
}

/* Where an index that is computed would leave its axis, less is drawn. */
static void keep_on_axis(PmSpan s, PmTensor *t)
{
	pm_threads_run(pm_tensor_numel(t), PM__CHUNK, keep_some, &(Keep){ s, t });
}

/* The first five classes keep the numbers they always had, the next five those that they have had since. */
static uint64_t stream(uint64_t seed, PmInputClass cls)
{
	return cls < PM_N_INPUT_CLASSES ? seed * PM_N_INPUT_CLASSES + (uint64_t)cls
					: ~(seed * (PM_INPUTS_SPECIAL + 1) + (uint64_t)cls);
}

/* Is it less than what its role draws from? */
static int is_less(const PmGraph *g, PmValue v, PmSpan s)
{
	PmSpan all = pm_span_of_role(g, v);

	return s.lo != all.lo || s.hi != all.hi;
}

/* `wanted` may be NULL: all are. Each input has a stream of its own, so that it does not matter which. */
static PmStatus draw_inputs(const PmGraph *g, uint64_t seed, PmInputClass cls, int level, const char *wanted,
			    PmTensor *out, PmErr *err)
{
	size_t n = pm_graph_n_inputs(g);
	PmTargets *targets = cls >= PM_INPUTS_SPECIAL ? pm__targets_find(g) : NULL;
	PmSpan *span = pm_index_spans(g);

	memset(out, 0, n * sizeof *out);
	for (size_t i = 0; i < n; i++) {
		PmValue v = pm_graph_input(g, i);
		int64_t limit;
		PmInputRole role = pm_input_role(g, v, &limit);
		const PmType *type = pm_value_type(g, v);
		PmStatus st;
		PmRng r;

		if (wanted && !wanted[i]) {
			out[i].type = *type;
			continue;
		}
		st = (pm_dtype_is_float(type->dtype) ? pm_tensor_room : pm_tensor_init)(&out[i], type, err);

		if (st)
			pm_err_ctx(err, "input '%.120s'", pm_value_name(g, v));
		pm_rng_init_named(&r, stream(seed, cls), pm_value_name(g, v));
		if (!st)
			st = fill_input(g, v, role, cls, limit, &r, &out[i], err);
		if (st) {
			pm_tensors_release(out, n);
			free(targets);
			free(span);
			return st;
		}
		if (cls >= PM_INPUTS_SPECIAL)
			pm__draw_extreme(g, v, role, cls, level, &targets[i], &r, &out[i]);
		if (role == PM_ROLE_COUNT)
			mend_divisors(g, v, &out[i]);
		if (is_less(g, v, span[i]))
			keep_on_axis(span[i], &out[i]);
		if (role == PM_ROLE_INDEX)
			pm__scatter_indices(g, v, &r, &out[i]);
	}
	free(targets);
	free(span);
	return PM_OK;
}

int pm_inputs_are_free(const PmGraph *g, size_t i)
{
	PmValue v = pm_graph_input(g, i);
	int64_t limit;
	PmInputRole role = pm_input_role(g, v, &limit);

	return role != PM_ROLE_MASK && role != PM_ROLE_INVERTED && role != PM_ROLE_BIAS_MASK &&
	       !(role == PM_ROLE_INDEX && pm__is_scattered(g, v));
}

PmStatus pm_inputs_draw(const PmGraph *g, size_t i, uint64_t seed, PmInputClass cls, int64_t n, PmTensor *out,
			PmErr *err)
{
	PmValue v = pm_graph_input(g, i);
	PmType row = { .dtype = pm_value_type(g, v)->dtype, .rank = 1, .dim = { n } };
	int64_t limit;
	PmInputRole role = pm_input_role(g, v, &limit);
	PmStatus st = pm_tensor_init(out, &row, err);
	PmSpan *span;
	PmRng r;

	if (st)
		return st;
	pm_rng_init_named(&r, stream(seed, cls), pm_value_name(g, v));
	st = fill_input(g, v, role, cls, limit, &r, out, err);
	if (st) {
		pm_tensor_release(out);
		return st;
	}
	if (role == PM_ROLE_COUNT)
		mend_divisors(g, v, out);
	span = pm_index_spans(g);
	if (is_less(g, v, span[i]))
		keep_on_axis(span[i], out);
	free(span);
	return PM_OK;
}

static int has_kernel(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		if (pm_node_op(g, pm_graph_node_at(g, i)) == PM_OP_Kernel)
			return 1;
	return 0;
}

/* A rewritten graph gets the inputs of the original: what they are for stands in the kernels' bodies. *own is
 * what has to be freed when the graph's kernels are gone. */
static PmStatus without_kernels(const PmGraph *g, const PmGraph **plain, PmGraph **own, PmErr *err)
{
	PmStatus st = PM_OK;

	*own = NULL;
	*plain = g;
	if (!has_kernel(g))
		return PM_OK;
	st = pm_graph_clone(g, own, err);
	if (!st)
		st = pm_graph_inline_kernels(*own, err);
	*plain = *own;
	return st;
}

PmStatus pm_inputs_make(const PmGraph *g, uint64_t seed, PmInputClass cls, PmTensor *out, PmErr *err)
{
	return pm_inputs_make_some(g, seed, cls, NULL, out, err);
}

PmStatus pm_inputs_make_some(const PmGraph *g, uint64_t seed, PmInputClass cls, const char *wanted,
			     PmTensor *out, PmErr *err)
{
	const PmGraph *plain;
	PmGraph *own;
	PmStatus st;

	memset(out, 0, pm_graph_n_inputs(g) * sizeof *out);
	st = without_kernels(g, &plain, &own, err);
	if (!st)
		st = draw_inputs(plain, seed, cls, 0, wanted, out, err);
	pm_graph_free(own);
	return st;
}

/* What a class may do to a graph: the known ones are used as they are. */
static int how_to_look(PmInputClass cls)
{
	return cls == PM_INPUTS_RANGE     ? PM_REACH_DEFINED | PM_REACH_FINITE
	       : cls == PM_INPUTS_SPECIAL ? PM_REACH_DEFINED
					  : 0;
}

/* Draws at a level and runs the reference; PM_DECLINED when it must not be. */
static PmStatus try_level(const PmGraph *g, uint64_t seed, PmInputClass cls, int level, PmTensor *out,
			  PmReached *r, PmBranches *b, PmErr *err)
{
	size_t n = pm_graph_n_inputs(g);
	PmStatus st = draw_inputs(g, seed, cls, level, NULL, out, err);

	if (st)
		return st;
	st = pm_reach(g, out, how_to_look(cls), r, b, err);
	if (st) {
		pm_tensors_release(out, n);
		memset(out, 0, n * sizeof *out);
	}
	return st;
}

PmStatus pm_inputs_defined(const PmGraph *g, uint64_t seed, PmInputClass cls, int quick, PmTensor *out,
			   PmReached *r, PmBranches *b, PmErr *err)
{
	int n_levels = pm__n_levels(cls), level = 0;
	PmStatus st;

	memset(r, 0, sizeof *r);
	r->drawn = 1;
	if (!quick && n_levels == 1)
		return pm_inputs_make(g, seed, cls, out, err);
	do {
		st = try_level(g, seed, cls, level, out, r, b, err);
	} while (st == PM_DECLINED && ++level < n_levels);
	if (st == PM_DECLINED) {
		r->drawn = 2;
		return PM_OK;
	}
	r->left = st ? 0 : pm__level_leaves(cls, level);
	return st;
}

PmStatus pm_inputs_of_model(const PmGraph *g, uint64_t seed, PmTensor *out, PmErr *err)
{
	PmStats *stats = pm_stats_new(g);
	PmStatus st = pm_inputs_have_sizes(g, err);

	if (!st)
		st = pm_inputs_make(g, seed, PM_INPUTS_NORMAL, out, err);

	for (size_t i = 0; i < pm_graph_n_inputs(g) && !st; i++) {
		PmValue v = pm_graph_input(g, i);
		int64_t limit;
		PmInputRole role = pm_input_role(g, v, &limit);
		PmSynth law;
		PmLawFrom from = pm_stats_law(stats, pm_value_name(g, v), pm_value_type(g, v), role, limit,
					      seed ^ pm_stats_hash(stats), &law);

		if (from == PM_LAW_STATS || from == PM_LAW_LITERAL)
			pm_synth_fill(&law, 0, (size_t)pm_tensor_numel(&out[i]), out[i].data);
		pm_synth_release(&law);
	}
	pm_stats_free(stats);
	return st;
}

void pm_tensors_release(PmTensor *t, size_t n)
{
	for (size_t i = 0; t && i < n; i++)
		pm_tensor_release(&t[i]);
}
