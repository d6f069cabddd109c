/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.c - runs a pass on shapes drawn after it was built. */
#include "app/eval/hidden.h"

#include "base/core/rng.h"
#include "base/sys/proc.h"
#include "extract/variants/variants.h"
#include "ir/canon/canon.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <string.h>

enum {
	ELEMENTS = 1 << 14, /* of the largest value: hidden shapes are there to be wrong, not to be fast */
	FLOPS = 50000000,   /* the same, of the reference */
	FIRST = 2,          /* the first shapes are the original's and all ones */
	SHAPES = 8          /* made for one variant, of which the last are drawn freely */
};

typedef struct Hidden {
	const char *so;
	const PmVariantList *variants;
	PmEvalOpts opts;
	PmEvalReport *r;
	int want;
	PmFailing *save;
} Hidden;

static int is_member(const Hidden *h, const PmGraph *g)
{
	char a[PM_SHA256_HEX], b[PM_SHA256_HEX];

	if (pm_canon_hash(g, PM_CANON_FULL, a, NULL))
		return 1;
	for (size_t i = 0; i < h->variants->list.n; i++)
		if (pm_canon_hash(h->variants->list.v[i].g, PM_CANON_FULL, b, NULL) || !strcmp(a, b))
			return 1;
	return 0;
}

/* The type of the first floating-point input: hidden shapes are of types that the pass is evaluated in. */
static uint32_t dtype_of(const PmGraph *g)
{
	for (size_t i = 0; i < pm_graph_n_inputs(g); i++) {
		int dtype = pm_value_type(g, pm_graph_input(g, i))->dtype;

		if (pm_dtype_is_float(dtype))
			return 1u << dtype;
	}
	return 0;
}

static int too_long(const PmGraph *g)
{
	int64_t flops = 0;

	for (size_t i = 0; i < pm_graph_n_nodes(g); i++)
		flops += pm_op_flops(g, pm_graph_node_at(g, i));
	return flops > FLOPS;
}

static PmStatus try_shape(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	Hidden *h = arg;
	PmEvalHidden *out = &h->r->hidden;
	PmEvalVariant m = { .label = label, .g = g, .number = out->n };
	PmEvalRecord rec;
	PmStatus st;

	(void)dtype;
	if (shape < FIRST || out->n >= h->want || pm_is_failing(out->verdict) || too_long(g) ||
	    is_member(h, g))
		return PM_OK;
	st = pm_eval_variant(h->so, &m, &h->opts, &rec, err);
	if (st)
		return st;
	if (rec.verdict == PM_VERDICT_HARNESS_FAIL) { /* says nothing of the pass: another shape */
		pm_eval_record_release(&rec);
		return PM_OK;
	}
	out->n++;
	out->n_matched += rec.n_kernels > 0;
	if (pm_is_failing(rec.verdict)) {
		out->verdict = rec.verdict;
		out->failure = rec.failure;
		snprintf(out->variant, sizeof out->variant, "%s", rec.label);
		snprintf(out->why, sizeof out->why, "On the hidden %.200s: %.700s", label, rec.why);
		st = pm_failing_save(h->save, g, h->r, &rec, err);
	}
	pm_eval_record_release(&rec);
	return st;
}

static PmStatus try_members(Hidden *h, PmErr *err)
{
	const PmVariantList *m = h->variants;
	PmVariantOpts v = { .n_shapes = SHAPES, .max_elements = ELEMENTS };
	PmErr no_shapes;
	size_t start;
	PmRng rng;
	PmStatus st = PM_OK;

	pm_rng_init(&rng, pm_secret_u64(h->opts.secret, "shapes", 0));
	start = m->list.n ? (size_t)pm_rng_range(&rng, 0, (int64_t)m->list.n - 1) : 0;
	for (size_t i = 0;
	     i < m->list.n && !st && h->r->hidden.n < h->want && !pm_is_failing(h->r->hidden.verdict); i++) {
		const PmGraph *g = m->list.v[(start + i) % m->list.n].g;
		PmStatus made;

		pm_err_init(&no_shapes);
		v.seed = pm_secret_u64(h->opts.secret, "shapes", 1 + i);
		v.dtypes = dtype_of(g);
		made = pm_variants_make(g, &v, try_shape, h, NULL, &no_shapes);
		if (made && made != PM_E_SHAPE)
			st = pm_err(err, made, "%s", no_shapes.text);
	}
	return st;
}

PmStatus pm_hidden_check(const char *so, const PmVariantList *variants, const PmEvalOpts *opts, int n,
			 const char *replay, PmFailing *save, PmEvalReport *r, PmErr *err)
{
	PmSecret *secret = replay ? pm_secret_parse(replay)
				  : pm_secret_derive(opts->secret, "hidden", NULL, 0);
	Hidden h = { so, variants, *opts, r, n, save };
	double t0 = pm_now();
	PmStatus st;

	if (!secret)
		return pm_err(err, PM_E_INVALID,
			      "The hidden shapes to be replayed have no secret of 64 hexadecimal digits.");
	h.opts.check_only = 1;
	h.opts.secret = secret;
	r->hidden.verdict = PM_VERDICT_OK;
	st = try_members(&h, err);
	r->hidden.wall_seconds = pm_now() - t0;
	pm_secret_hex(secret, r->hidden.secret);
	pm_secret_free(secret);
	return st;
}
