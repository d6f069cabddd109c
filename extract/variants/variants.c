/* SPDX-License-Identifier: Apache-2.0 */
/* variants.c - proposes sizes and element types, and hands on what holds. */
#include "extract/variants/variants.h"

#include "base/core/rng.h"
#include "base/core/str.h"
#include "extract/dedup.h"
#include "extract/variants/variants_priv.h"
#include "ir/canon/canon.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SIZES = 44, TRIES_PER_SHAPE = 12, DRAWS = 12 };

typedef struct Make {
	PmVariantOpts opts;
	PmVariantFn fn;
	void *arg;
	PmVariantReport *rep;
	PmGraph *base; /* static: the original, its symbols numbered */
	int main_dtype;
	PmDimClasses classes;
	PmRng rng;
	PmDedup *shapes, *made; /* full hashes: of shapes in the main type, of all graphs handed on */
	PmDedup *spans;         /* size classes of all dimension classes, of shapes handed on */
	int64_t size[PM_MAX_DIM_CLASSES]; /* the proposal */
	struct Sizes {
		int64_t v[MAX_SIZES];
		size_t n;
	} sizes[PM_MAX_DIM_CLASSES];
	PmType *types; /* of the inputs, for one proposal */
	PmSubst *subst;
} Make;

const char *pm_variant_reason(PmVariantReason r)
{
	static const char *const text[] = { "a number in the graph does not follow the sizes",
					    "the shape rules refuse it",
					    "it is empty, too large or of unknown size",
					    "its operators differ",
					    "operands of equal sizes would differ",
					    "an index would leave its axis",
					    "it equals another variant" };

	return (unsigned)r < PM_VARIANT_N_REASONS ? text[r] : "unknown";
}

/* ---- the original ---- */

/* Gives each symbol a size: rule 0 a batch of 4 and 16 elsewhere, then all 16, all 4, all 1. */
static void number_symbols(const PmGraph *g, int rule, PmType *in)
{
	static const int64_t size[] = { 16, 16, 4, 1 };
	size_t i, n = pm_graph_n_inputs(g);
	PmDim batch = n && pm_value_type(g, pm_graph_input(g, 0))->rank > 1
			      ? pm_value_type(g, pm_graph_input(g, 0))->dim[0]
			      : 0;
	int k;

	for (i = 0; i < n; i++) {
		in[i] = *pm_value_type(g, pm_graph_input(g, i));
		for (k = 0; k < in[i].rank; k++) {
			if (in[i].dim[k] < 0)
				in[i].dim[k] = rule == 0 && in[i].dim[k] == batch ? 4 : size[rule];
		}
	}
}

static PmStatus make_base(Make *m, const PmGraph *g, PmErr *err)
{
	PmType *in = pm_xcalloc(pm_graph_n_inputs(g) + 1, sizeof *in);
	PmResize r = { g, in, NULL, 0, INT64_MAX, 0 };
	PmVariantReason why = PM_VARIANT_INFER;
	PmStatus st = PM_DECLINED;
	int rule;

	for (rule = 0; rule < 4 && st; rule++) {
		number_symbols(g, rule, in);
		st = pm__resize(&r, &m->base, &why);
	}
	free(in);
	if (st)
		return pm_err(
			err, PM_E_SHAPE,
			"Graph '%s' cannot be given sizes: %s; choose a subgraph whose sizes follow from its "
			"inputs'.",
			pm_graph_name(g), pm_variant_reason(why));
	return PM_OK;
}

/* Variants may be as large as the original even where that is over the limit. */
static void raise_limit(Make *m)
{
	int64_t n;
	uint32_t id;

	for (id = 1; id < pm_graph_value_limit(m->base); id++) {
		PmValue v = { id };

		if (pm_type_numel(pm_value_type(m->base, v), &n, NULL) == PM_OK && n > m->opts.max_elements)
			m->opts.max_elements = n;
	}
}

/* ---- sizes ---- */

static void propose_size(struct Sizes *s, int64_t x)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->v[i] == x)
			return;
	}
	if (x > 0 && s->n < MAX_SIZES)
		s->v[s->n++] = x;
}

/* Tries the proposal in m->types; counts its reason when `count`. */
static PmStatus try_types(Make *m, size_t n_subst, int count, PmGraph **out)
{
	PmResize r = { m->base, m->types, m->subst, n_subst, m->opts.max_elements, 0 };
	PmVariantReason why;
	PmStatus st = pm__resize_any(r, out, &why);

	m->rep->n_tried++;
	if (st && count)
		m->rep->rejected[why]++;
	return st;
}

static void base_types(Make *m)
{
	size_t i;

	for (i = 0; i < pm_graph_n_inputs(m->base); i++)
		m->types[i] = *pm_value_type(m->base, pm_graph_input(m->base, i));
}

/* Sizes of class c that work while the others stay: one, small, primes, around multiples of 32, and simple
 * ratios of the original, which keep divisors. */
static void find_sizes(Make *m, size_t c)
{
	static const int64_t batch[] = { 1, 2, 3, 5, 7, 8, 13, 16, 31, 32, 33, 64, 256 };
	static const int64_t other[] = { 1,   2,   3,   7,   13,  17,  31,  32,  33,  61,   64,   65,  97,
					 100, 127, 128, 129, 197, 256, 257, 384, 512, 1000, 1024, 4096 };
	const PmDimClass *k = &m->classes.v[c];
	struct Sizes want = { { 0 }, 0 };
	size_t i;

	for (i = 0; k->batch ? i < sizeof batch / sizeof *batch : i < sizeof other / sizeof *other; i++)
		propose_size(&want, k->batch ? batch[i] : other[i]);
	if (!k->batch) {
		for (i = 1; i <= 8; i++)
			propose_size(&want, k->size * (int64_t)i % 4 ? 0 : k->size / 4 * (int64_t)i);
		for (i = 3; i <= 13; i += 2)
			propose_size(&want, k->size * (int64_t)i % 12 ? 0 : k->size / 12 * (int64_t)i);
	}
	for (i = 0; i < want.n; i++) {
		PmGraph *g = NULL;
		int n;

		base_types(m);
		n = pm__dim_class_set(m->base, k, want.v[i], m->types, m->subst);
		if (n >= 0 && want.v[i] != k->size && try_types(m, (size_t)n, 0, &g) == PM_OK)
			propose_size(&m->sizes[c], want.v[i]);
		pm_graph_free(g);
	}
	propose_size(&m->sizes[c], k->size);
}

static int is_prime(int64_t x)
{
	int64_t k;

	for (k = 2; k * k <= x; k++) {
		if (x % k == 0)
			return 0;
	}
	return x > 1;
}

static int wanted(int64_t x, size_t attempt)
{
	return attempt == 1 ? x > 2 && is_prime(x) : x > 32 && x % 32 != 0;
}

/* The size of class c in attempt a: the least, a prime, one above 32 that is no multiple of 32, then any.
 * Classes take different ones where there is a choice: equal sizes hide swapped dimensions. */
static int64_t pick(Make *m, size_t c, size_t a)
{
	const struct Sizes *s = &m->sizes[c];
	int64_t fit[MAX_SIZES];
	size_t i, n = 0;

	for (i = 0; i < s->n; i++) {
		if (a == 0 && (n == 0 || s->v[i] < fit[0])) {
			fit[0] = s->v[i];
			n = 1;
		} else if ((a == 1 || a == 2) && wanted(s->v[i], a)) {
			fit[n++] = s->v[i];
		}
	}
	if (n)
		return fit[c % n];
	return s->v[pm_rng_range(&m->rng, 0, (int64_t)s->n - 1)];
}

/* Which of 1-15, 16-255, 256-4095, ... each class is in: benchmarks are grouped by it. */
static void add_span(const Make *m, PmStr *out)
{
	size_t c;
	int64_t d;

	for (c = 0; c < m->classes.n; c++) {
		pm_str_addc(out, 'a');
		for (d = m->size[c]; d >= 16; d /= 16)
			out->s[out->len - 1]++;
	}
}

/* 1 when the proposal spans what no shape spanned before; `keep` notes it. */
static int spans_anew(Make *m, int keep)
{
	PmStr span = PM_STR_INIT;
	size_t before = pm_dedup_size(m->spans), seen;

	add_span(m, &span);
	if (keep)
		pm_dedup_add(m->spans, span.s, &seen);
	else
		seen = pm_dedup_has(m->spans, span.s) ? 2 : 1;
	pm_str_release(&span);
	return keep ? pm_dedup_size(m->spans) > before : seen == 1;
}

/* Fills m->size. What is drawn freely is drawn again while another shape has the same spans. */
static void propose(Make *m, size_t attempt)
{
	size_t c;
	int again;

	for (again = 0; again < DRAWS; again++) {
		for (c = 0; c < m->classes.n; c++)
			m->size[c] = pick(m, c, attempt);
		if (attempt < 3 || spans_anew(m, 0))
			return;
	}
}

/* ---- handing on ---- */

static void add_label(const PmGraph *g, int shape, int dtype, PmStr *out)
{
	size_t i;
	int k;

	pm_str_addf(out, "shape %d, %s:", shape, dtype < 0 ? "as is" : pm_dtype_name(dtype));
	for (i = 0; i < pm_graph_n_inputs(g) && out->len < 160; i++) {
		const PmType *t = pm_value_type(g, pm_graph_input(g, i));

		pm_str_addc(out, ' ');
		for (k = 0; k < t->rank; k++)
			pm_str_addf(out, "%s%lld", k ? "x" : "", (long long)t->dim[k]);
		if (t->rank == 0)
			pm_str_addc(out, '1');
	}
}

static PmStatus hand_on(Make *m, const PmGraph *g, int shape, int dtype, PmErr *err)
{
	char full[PM_SHA256_HEX];
	PmStr label = PM_STR_INIT;
	PmStatus st = pm_canon_hash(g, PM_CANON_FULL, full, err);
	size_t seen = 0;

	if (st)
		return st;
	pm_dedup_add(m->made, full, &seen);
	if (seen > 1) {
		m->rep->rejected[PM_VARIANT_DUPLICATE]++;
		return PM_OK;
	}
	add_label(g, shape, dtype, &label);
	st = m->fn(m->arg, g, label.s, shape, dtype, err);
	m->rep->n_made += st == PM_OK;
	pm_str_release(&label);
	return st;
}

/* One shape in every dtype. */
static PmStatus all_dtypes(Make *m, const PmGraph *g, int shape, PmErr *err)
{
	PmStatus st = PM_OK;
	int d;

	if (m->main_dtype < 0 || m->opts.own_dtype)
		return hand_on(m, g, shape, m->main_dtype, err);
	for (d = 0; d < PM_N_DTYPES && st == PM_OK; d++) {
		PmGraph *v = NULL;

		if (!(m->opts.dtypes >> d & 1))
			continue;
		if (pm__retype(g, m->main_dtype, d, &v) == PM_OK)
			st = hand_on(m, v, shape, d, err);
		else
			m->rep->rejected[PM_VARIANT_INFER]++;
		pm_graph_free(v);
	}
	return st;
}

static PmStatus one_shape(Make *m, size_t attempt, PmErr *err)
{
	char full[PM_SHA256_HEX];
	PmGraph *g = NULL;
	size_t seen = 0;
	PmStatus st;
	int n;

	propose(m, attempt);
	n = pm__dim_classes_set(m->base, &m->classes, m->size, 1, m->types, m->subst);
	if (n < 0) /* each size was tried alone (find_sizes) */
		PM_BUG("sizes of attempt %zu do not divide", attempt);
	if (try_types(m, (size_t)n, 1, &g))
		return PM_OK;
	st = pm_canon_hash(g, PM_CANON_FULL, full, err);
	if (st == PM_OK) {
		pm_dedup_add(m->shapes, full, &seen);
		if (seen > 1) {
			m->rep->rejected[PM_VARIANT_DUPLICATE]++;
		} else {
			m->rep->n_spans += (size_t)spans_anew(m, 1);
			st = all_dtypes(m, g, (int)m->rep->n_shapes++, err);
		}
	}
	pm_graph_free(g);
	return st;
}

static PmStatus make_all(Make *m, PmErr *err)
{
	char full[PM_SHA256_HEX];
	PmStatus st = pm_canon_hash(m->base, PM_CANON_FULL, full, err);
	size_t c, a;

	if (st)
		return st;
	pm_dedup_add(m->shapes, full, NULL);
	pm_rng_init_named(&m->rng, m->opts.seed, full);
	m->main_dtype = pm__main_dtype(m->base);
	m->rep->n_shapes = 1;
	st = all_dtypes(m, m->base, 0, err);
	if (st || m->opts.n_shapes == 1)
		return st;
	raise_limit(m);
	pm__dim_classes(m->base, m->opts.max_elements, &m->classes);
	m->rep->n_classes = m->classes.n;
	m->rep->n_tried += m->classes.tried;
	for (c = 0; c < m->classes.n; c++) {
		find_sizes(m, c);
		m->size[c] = m->classes.v[c].size;
	}
	m->rep->n_spans = m->classes.n ? (size_t)spans_anew(m, 1) : 1;
	for (a = 0; a < (size_t)m->opts.n_shapes * TRIES_PER_SHAPE && m->classes.n && st == PM_OK; a++) {
		if (m->rep->n_shapes == (size_t)m->opts.n_shapes)
			break;
		st = one_shape(m, a, err);
	}
	return st;
}

PmStatus pm_variants_make(const PmGraph *g, const PmVariantOpts *opts, PmVariantFn fn, void *arg,
			  PmVariantReport *report, PmErr *err)
{
	PmVariantReport own;
	Make m;
	PmStatus st;

	memset(&m, 0, sizeof m);
	if (opts)
		m.opts = *opts;
	if (m.opts.n_shapes <= 0)
		m.opts.n_shapes = 10;
	if (m.opts.n_shapes > PM_MAX_SHAPES)
		return pm_err(err, PM_E_LIMIT,
			      "%d shapes of one graph are more than PM_MAX_SHAPES (%d); ask for fewer.",
			      m.opts.n_shapes, PM_MAX_SHAPES);
	if (!m.opts.dtypes)
		m.opts.dtypes = 1u << PM_F32 | 1u << PM_F16 | 1u << PM_BF16;
	m.opts.dtypes &= 1u << PM_F32 | 1u << PM_F16 | 1u << PM_BF16 | 1u << PM_F64;
	if (!m.opts.max_elements)
		m.opts.max_elements = (int64_t)4 << 20;
	m.fn = fn;
	m.arg = arg;
	m.rep = report ? report : &own;
	memset(m.rep, 0, sizeof *m.rep);
	st = make_base(&m, g, err);
	if (st)
		return st;
	m.shapes = pm_dedup_new();
	m.made = pm_dedup_new();
	m.spans = pm_dedup_new();
	m.types = pm_xcalloc(pm_graph_n_inputs(m.base) + 1, sizeof *m.types);
	m.subst = pm_xcalloc(PM_MAX_SLOTS + 1, sizeof *m.subst);
	st = make_all(&m, err);
	pm__dim_classes_release(&m.classes);
	pm_dedup_free(m.shapes);
	pm_dedup_free(m.made);
	pm_dedup_free(m.spans);
	pm_graph_free(m.base);
	free(m.types);
	free(m.subst);
	return st;
}
