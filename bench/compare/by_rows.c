/* SPDX-License-Identifier: Apache-2.0 */
/* by_rows.c - judges the results of a large graph part by part, so that neither reference is held whole. */
#include "bench/compare/by_rows.h"

#include "base/sys/threads.h"
#include "bench/compare/agree.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Elements of the largest value in a part. Parts beside each other are small; where operands without rows are
 * large each part would need its own copies of them, and parts come one after the other, by threads inside.
 * What is done to those operands is done for each part again: parts grow with them.
 */
enum {
	SMALL_PART = 1 << 17,
	LARGE_PART = 1 << 20,
	LARGEST_PART = 1 << 25,
	WHOLE_IN_PARTS = 2,
	LEAST_ROWS = 2
};

int pm_is_by_rows(const PmGraph *g, PmRows *out)
{
	if (!pm_rows_find(g, out))
		return 0;
	for (size_t i = 0; i < pm_graph_n_outputs(g); i++)
		if (!pm_dtype_is_float(pm_value_type(g, pm_graph_output(g, i))->dtype))
			out->n = 0;
	if (out->n >= 2 * LEAST_ROWS && out->row * out->n >= PM_BY_ROWS_LEAST)
		return 1;
	pm_rows_release(out);
	return 0;
}

int pm_by_rows_suffices(const PmByRows *r, int bounded, int ladder, int level)
{
	int close = !ladder || r->c.smallest_t <= level;

	return bounded ? r->fit.tells || (close && pm_beats_constant(&r->spread)) : close;
}

static int64_t elements_of_part(const PmRows *r)
{
	int64_t large = r->whole / WHOLE_IN_PARTS > LARGE_PART ? r->whole / WHOLE_IN_PARTS : LARGE_PART;

	large = large < LARGEST_PART ? large : LARGEST_PART;
	return r->whole > SMALL_PART ? large : SMALL_PART;
}

int64_t pm_by_rows_bytes(const PmRows *r)
{
	int64_t part = elements_of_part(r), at_once = r->whole > SMALL_PART ? 1 : pm_threads_most();

	part = part > LEAST_ROWS * r->row ? part : LEAST_ROWS * r->row;
	part = part < r->n * r->row ? part : r->n * r->row;
	return (at_once * part * PM_BY_ROWS_ARRAYS + 2 * r->whole) * (int64_t)sizeof(double);
}

/* What all parts share. Rows are dealt out evenly: a part has `rows` of them, the first `more` one more. */
typedef struct Work {
	const PmGraph *g;
	const PmRows *r;
	const PmTensor *in, *const *got;
	size_t n_in, n_out;
	PmPrecisionTier tier;
	const PmCloseRule *rule;
	int64_t rows, more, n_parts;
	PmGraph *of[2];        /* of `rows` rows, and of one more */
	PmRefTensor *wide;     /* by input: those without rows */
	unsigned char *split;  /* by input */
	PmBoundFitPart *fit;   /* by part and output */
	PmComparison *compare; /* the same */
	PmSpread *spread;      /* the same */
	char *known;           /* by part */
	atomic_int failed;
	PmErr *err; /* of the first part that failed */
} Work;

/* `n` rows of a tensor from row `at` on. Borrowed. */
static PmTensor rows_of(const PmTensor *t, const PmType *type, int64_t all, int64_t at, int64_t n)
{
	size_t row = t->bytes / (size_t)all;

	return (PmTensor){ *type, (char *)t->data + row * (size_t)at, row * (size_t)n };
}

static PmStatus compare(const Work *w, int64_t part, const PmBound *b, const PmTensor *y, size_t i,
			PmErr *err)
{
	PmTensor want;
	PmStatus st = pm_tensor_init(&want, &b->y.type, err);

	if (!st) {
		PmTensorView v, g = pm_view_of(y);

		pm_tensor_sets(&want, 0, b->y.numel, b->y.f);
		v = pm_view_of(&want);
		pm_compare(&v, &g, w->rule, &w->compare[part * (int64_t)w->n_out + (int64_t)i]);
		pm_spread_add(&w->spread[part * (int64_t)w->n_out + (int64_t)i], &want, y);
	}
	pm_tensor_release(&want);
	return st;
}

static PmStatus judge_part(const Work *w, int64_t part, PmErr *err)
{
	int64_t at = part * w->rows + (part < w->more ? part : w->more), n = w->rows + (part < w->more);
	const PmGraph *g = w->of[part < w->more];
	PmTensor *in = pm_xcalloc(w->n_in + 1, sizeof *in);
	PmBound *b = pm_xcalloc(w->n_out + 1, sizeof *b);
	PmBoundRows rows = { (double)w->r->n / (double)n, w->split, w->wide };
	PmStatus st;

	for (size_t k = 0; k < w->n_in; k++)
		in[k] = w->split[k]
				? rows_of(&w->in[k], pm_value_type(g, pm_graph_input(g, k)), w->r->n, at, n)
				: w->in[k];
	st = pm_bound_part(g, in, w->n_in, &rows, w->tier, b, w->n_out, err);
	w->known[part] = 1;
	for (size_t i = 0; i < w->n_out && !st; i++) {
		PmTensor y = rows_of(w->got[i], &b[i].y.type, w->r->n, at, n);

		w->known[part] = (char)(w->known[part] && b[i].known);
		pm_bound_fit_part(&b[i], &y, rows.parts, &w->fit[part * (int64_t)w->n_out + (int64_t)i]);
		st = compare(w, part, &b[i], &y, i, err);
	}
	pm_bounds_release(b, w->n_out);
	free(b);
	free(in);
	return st;
}

static void judge_parts(void *arg, int64_t from, int64_t to)
{
	Work *w = arg;
	int none = 0;
	PmErr err;

	for (int64_t part = from; part < to && !w->failed; part++) {
		PmStatus st;

		pm_err_init(&err);
		st = judge_part(w, part, &err);
		if (st && atomic_compare_exchange_strong(&w->failed, &none, st))
			*w->err = err;
	}
}

/* How many rows a part has. */
static void cut(Work *w)
{
	int64_t rows = elements_of_part(w->r) / (w->r->row > 0 ? w->r->row : 1);

	rows = rows > LEAST_ROWS ? rows : LEAST_ROWS;
	w->n_parts = w->r->n / rows > 0 ? w->r->n / rows : 1;
	w->rows = w->r->n / w->n_parts;
	w->more = w->r->n % w->n_parts;
}

/* Arrays of a part are made and freed many times: they stay with the process between two parts. Whole
 * tensors, which are larger, are given back as before. */
static void keep_arrays(void)
{
	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 32 << 20);
}

static PmStatus prepare(Work *w, PmErr *err)
{
	size_t n = (size_t)w->n_parts * w->n_out;
	PmStatus st = PM_OK;

	w->fit = pm_xcalloc(n + 1, sizeof *w->fit);
	w->compare = pm_xcalloc(n + 1, sizeof *w->compare);
	w->spread = pm_xcalloc(n + 1, sizeof *w->spread);
	w->known = pm_xcalloc((size_t)w->n_parts + 1, 1);
	w->wide = pm_xcalloc(w->n_in + 1, sizeof *w->wide);
	w->split = pm_xcalloc(w->n_in + 1, 1);
	for (int k = 0; k < 2 && !st; k++)
		st = pm_rows_graph(w->g, w->r, w->rows + k, &w->of[k], err);
	for (size_t k = 0; k < w->n_in && !st; k++) {
		w->split[k] = w->r->split[pm_graph_input(w->g, k).id] == PM_ROWS_SPLIT;
		if (w->split[k])
			continue;
		st = pm_ref_tensor_init(&w->wide[k], &w->in[k].type, err);
		if (!st)
			pm_ref_load(&w->wide[k], &w->in[k]);
	}
	return st;
}

static void join(const Work *w, PmByRows *out)
{
	PmBoundFitPart *fit = pm_xcalloc((size_t)w->n_parts + 1, sizeof *fit);

	for (size_t i = 0; i < w->n_out; i++) {
		int64_t at = 0;

		out[i] = (PmByRows){ .known = 1 };
		for (int64_t part = 0; part < w->n_parts; part++) {
			int64_t k = part * (int64_t)w->n_out + (int64_t)i;

			fit[part] = w->fit[k];
			pm_comparison_join(&out[i].c, &w->compare[k], at, w->got[i]->type.dtype);
			pm_spread_join(&out[i].spread, &w->spread[k]);
			at += w->fit[k].elements;
			out[i].known &= w->known[part];
		}
		pm_bound_fit_parts(fit, (size_t)w->n_parts, &out[i].fit);
	}
	free(fit);
}

static void release(Work *w)
{
	for (size_t k = 0; w->wide && k < w->n_in; k++)
		pm_ref_tensor_release(&w->wide[k]);
	pm_graph_free(w->of[0]);
	pm_graph_free(w->of[1]);
	free(w->wide);
	free(w->split);
	free(w->fit);
	free(w->compare);
	free(w->spread);
	free(w->known);
}

PmStatus pm_by_rows(const PmGraph *g, const PmRows *r, const PmTensor *in, size_t n_in,
		    const PmTensor *const *got, size_t n_out, PmPrecisionTier tier, const PmCloseRule *rule,
		    PmByRows *out, PmErr *err)
{
	PmErr why;
	Work w = { .g = g,
		   .r = r,
		   .in = in,
		   .got = got,
		   .n_in = n_in,
		   .n_out = n_out,
		   .tier = tier,
		   .rule = rule,
		   .err = &why };
	PmStatus st;

	pm_err_init(&why);
	keep_arrays();
	cut(&w);
	st = prepare(&w, err);
	if (!st && r->whole > SMALL_PART)
		judge_parts(&w, 0, w.n_parts);
	else if (!st)
		pm_threads_run(w.n_parts, 1, judge_parts, &w);
	if (!st && w.failed)
		st = pm_err(err, (PmStatus)w.failed, "%s", why.text);
	if (!st)
		join(&w, out);
	release(&w);
	return st;
}
