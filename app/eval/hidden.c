/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.c - runs a pass on shapes drawn after it was built. */
#include "app/eval/hidden.h"

#include "app/eval/eval_pool.h"
#include "base/core/rng.h"
#include "base/sys/proc.h"
#include "extract/variants/variants.h"
#include "ir/canon/canon.h"
#include "runtime/ref/ref.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ELEMENTS = 1 << 14, /* of the largest value: hidden shapes are there to be wrong, not to be fast */
	FLOPS = 50000000,   /* the same, of the reference */
	FIRST = 2,          /* the first shapes are the original's and all ones */
	SHAPES = 8          /* made for one variant, of which the last are drawn freely */
};

/* What one go over the made shapes looks for. */
typedef struct Draw {
	PmHidden *h;
	size_t seen, want; /* shapes that would do so far; so many are to be drawn in all */
} Draw;

static int is_member(const PmVariantList *m, const PmGraph *g)
{
	char a[PM_SHA256_HEX], b[PM_SHA256_HEX];

	if (pm_canon_hash(g, PM_CANON_FULL, a, NULL))
		return 1;
	for (size_t i = 0; i < m->list.n; i++)
		if (pm_canon_hash(m->list.v[i].g, PM_CANON_FULL, b, NULL) || !strcmp(a, b))
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

int pm_hidden_is_smaller(const PmGraph *g)
{
	enum { TIMES = 16 };
	int64_t n;

	for (size_t i = 0; i < pm_graph_n_inputs(g); i++)
		if (!pm_type_numel(pm_value_type(g, pm_graph_input(g, i)), &n, NULL) &&
		    n > (int64_t)TIMES * ELEMENTS)
			return 1;
	return too_long(g);
}

static PmStatus add_shape(void *arg, const PmGraph *g, const char *label, int shape, int dtype, PmErr *err)
{
	Draw *d = arg;
	PmVariantList *shapes = &d->h->shapes;
	PmGraph *copy;
	PmStatus st;

	if (shape < FIRST || shapes->list.n >= d->want || too_long(g) || is_member(d->h->variants, g))
		return PM_OK;
	if (d->seen++ < shapes->list.n) /* by an earlier go */
		return PM_OK;
	st = pm_graph_clone(g, &copy, err);
	if (!st)
		PM_VEC_PUSH(&shapes->list, ((PmTaskVariant){ pm_xstrdup(label), copy, (int64_t)shapes->list.n,
							     shape, dtype }));
	return st;
}

PmStatus pm_hidden_draw(PmHidden *h, int n, PmErr *err)
{
	const PmVariantList *m = h->variants;
	PmVariantOpts v = { .n_shapes = SHAPES, .max_elements = ELEMENTS };
	Draw d = { .h = h, .want = h->shapes.list.n + (size_t)n };
	double t0 = pm_now();
	PmErr no_shapes;
	size_t start;
	PmRng rng;
	PmStatus st = PM_OK;

	pm_rng_init(&rng, pm_secret_u64(h->secret, "shapes", 0));
	start = m->list.n ? (size_t)pm_rng_range(&rng, 0, (int64_t)m->list.n - 1) : 0;
	for (size_t i = 0; i < m->list.n && !st && h->shapes.list.n < d.want; i++) {
		const PmGraph *g = m->list.v[(start + i) % m->list.n].g;
		PmStatus made;

		pm_err_init(&no_shapes);
		v.seed = pm_secret_u64(h->secret, "shapes", 1 + i);
		v.dtypes = dtype_of(g);
		made = pm_variants_make(g, &v, add_shape, &d, NULL, &no_shapes);
		if (made && made != PM_E_SHAPE)
			st = pm_err(err, made, "%s", no_shapes.text);
	}
	h->seconds += pm_now() - t0;
	return st;
}

PmStatus pm_hidden_begin(PmHidden *h, const PmVariantList *variants, const PmEvalOpts *opts, int n,
			 const char *replay, PmErr *err)
{
	*h = (PmHidden){ .variants = variants, .opts = *opts, .want = n };
	h->secret = replay ? pm_secret_parse(replay) : pm_secret_derive(opts->secret, "hidden", NULL, 0);
	if (!h->secret)
		return pm_err(err, PM_E_INVALID,
			      "The hidden shapes to be replayed have no secret of 64 hexadecimal digits.");
	h->opts.check_only = 1;
	h->opts.kind = "hidden";
	h->opts.keep_rewritten = 0;
	h->opts.secret = h->secret;
	return PM_OK;
}

void pm_hidden_release(PmHidden *h)
{
	pm_variant_list_release(&h->shapes);
	pm_secret_free(h->secret);
	h->secret = NULL;
	h->opts.secret = NULL;
}

PmEvalVariant pm_hidden_variant(const PmHidden *h, size_t i)
{
	const PmTaskVariant *v = &h->shapes.list.v[i];

	return (PmEvalVariant){ .label = v->label, .g = v->g, .number = v->ordinal };
}

static int is_over(const PmHidden *h, const PmEvalHidden *out)
{
	return out->n >= h->want || out->verdict != PM_VERDICT_OK;
}

PmStatus pm_hidden_take(PmHidden *h, size_t i, const PmEvalRecord *rec, PmFailing *save, PmEvalReport *r,
			PmErr *err)
{
	PmEvalHidden *out = &r->hidden;
	PmStatus st = PM_OK;

	h->seconds += rec->wall_seconds - rec->stages.seconds[PM_STAGE_WAIT];
	if (rec->verdict == PM_VERDICT_HARNESS_FAIL) /* says nothing of the pass: another shape */
		return PM_OK;
	out->n++;
	out->n_matched += rec->n_kernels > 0;
	if (pm_is_failing(rec->verdict) || rec->verdict == PM_VERDICT_NOT_CHECKED) {
		out->verdict = rec->verdict;
		out->failure = rec->failure;
		snprintf(out->variant, sizeof out->variant, "%s", rec->label);
		snprintf(out->why, sizeof out->why, "On the hidden %.200s: %.700s", rec->label, rec->why);
		st = pm_failing_save(save, h->shapes.list.v[i].g, r, rec, err);
	}
	return st ? st : is_over(h, out) ? PM_DECLINED : PM_OK;
}

/* ---- all of it ---- */

typedef struct Check {
	PmHidden *h;
	PmFailing *save;
	PmEvalReport *r;
	size_t first; /* shape of the pool's first item */
} Check;

static PmStatus take(void *arg, size_t item, PmEvalRecord *rec, PmErr *err)
{
	Check *c = arg;
	PmStatus st = c->h->accept ? c->h->accept(c->h->accept_arg, rec, err) : PM_OK;

	if (!st)
		st = pm_hidden_take(c->h, c->first + item, rec, c->save, c->r, err);

	pm_eval_record_release(rec);
	return st;
}

static void tick(void *arg)
{
	const Check *c = arg;

	c->h->tick(c->h->tick_arg);
}

static PmStatus evaluate(Check *c, const char *so, int jobs, PmErr *err)
{
	size_t n = c->h->shapes.list.n - c->first;
	PmEvalItem *item = pm_xcalloc(n + 1, sizeof *item);
	PmEvalPool pool = { .so = so, .item = item, .n = n, .jobs = jobs, .take = take, .arg = c };
	PmStatus st;

	if (c->h->tick)
		pool.tick = tick;
	for (size_t i = 0; i < n; i++)
		item[i] = (PmEvalItem){ pm_hidden_variant(c->h, c->first + i), &c->h->opts };
	st = pm_eval_pool(&pool, err);
	free(item);
	return st;
}

PmStatus pm_hidden_check(PmHidden *h, const char *so, int jobs, PmFailing *save, PmEvalReport *r, PmErr *err)
{
	Check c = { h, save, r, h->shapes.list.n };
	PmStatus st = PM_OK;

	while (!st && !is_over(h, &r->hidden)) {
		c.first = h->shapes.list.n;
		st = pm_hidden_draw(h, h->want - r->hidden.n, err);
		if (h->shapes.list.n == c.first)
			break;
		if (!st)
			st = evaluate(&c, so, jobs, err);
	}
	r->hidden.wall_seconds = h->seconds;
	pm_secret_hex(h->secret, r->hidden.secret);
	return st;
}
