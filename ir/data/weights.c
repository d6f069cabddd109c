/* SPDX-License-Identifier: Apache-2.0 */
/* weights.c - makers for constants without data. */
#include "ir/data/weights.h"

#include "base/core/hash.h"

#include <stdlib.h>
#include <string.h>

static void make(const PmBlob *b, size_t offset, size_t n, void *out)
{
	const PmSynth *s = b->owner;
	size_t size = pm_dtype_size(s->dtype);

	pm_synth_fill(s, offset / size, n / size, out);
}

static void drop(PmBlob *b)
{
	pm_synth_release(b->owner);
	free(b->owner);
}

int pm_weights_recipe(const PmBlob *b, PmStr *out)
{
	const PmSynth *s = b->owner;

	if (b->data || b->make != make)
		return 0;
	pm_str_addn(out, s, sizeof *s);
	pm_str_addn(out, s->literal, s->n_literal * sizeof *s->literal);
	return 1;
}

PmBlob *pm_weights_from_recipe(const void *recipe, size_t n, size_t bytes)
{
	PmSynth s, *own;
	size_t size;
	PmBlob *b;

	if (n < sizeof s)
		return NULL;
	memcpy(&s, recipe, sizeof s);
	size = pm_dtype_size(s.dtype);
	if (s.law > PM_SYNTH_LITERAL || !size || bytes % size || (n - sizeof s) % sizeof *s.literal ||
	    s.n_literal != (n - sizeof s) / sizeof *s.literal || (s.law == PM_SYNTH_LITERAL && !s.n_literal))
		return NULL;
	own = pm_xcalloc(1, sizeof *own);
	*own = s;
	own->literal = s.n_literal ? pm_xcalloc(s.n_literal, sizeof *s.literal) : NULL;
	if (own->literal)
		memcpy(own->literal, (const char *)recipe + sizeof s, s.n_literal * sizeof *s.literal);
	b = pm_blob_absent("", 0, bytes);
	b->owner = own;
	b->make = make;
	b->drop = drop;
	return b;
}

static int is_absent(const PmBlob *b)
{
	return b && !b->data && b->size && !b->make;
}

/* Names and types of the constants without data, whatever their order. */
static uint64_t names_hash(const PmGraph *g)
{
	uint64_t sum = 0;

	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };
		const PmType *t = pm_value_type(g, v);
		const char *name = pm_value_name(g, v);
		const PmBlob *b = pm_value_blob(g, v);
		uint64_t h;

		if (!b || b->data || !b->size)
			continue;
		h = pm_hash64(name, strlen(name), PM_HASH_SEED + (uint64_t)t->dtype);
		sum += pm_hash64(t->dim, (size_t)t->rank * sizeof *t->dim, h);
	}
	return sum;
}

static uint64_t model_seed(const PmGraph *g, const PmStats *s)
{
	return pm_stats_hash(s) ? pm_stats_hash(s) : names_hash(g);
}

static void attach(PmBlob *b, const char *name, const PmType *t, PmInputRole role, int64_t limit,
		   const PmStats *stats, uint64_t seed, PmWeightsReport *report)
{
	PmSynth *s = pm_xcalloc(1, sizeof *s);
	PmLawFrom from = pm_stats_law(stats, name, t, role, limit, seed, s);

	b->owner = s;
	b->make = make;
	b->drop = drop;
	if (!report)
		return;
	report->n++;
	report->bytes += (int64_t)b->size;
	report->from[from]++;
	report->role[role]++;
}

void pm_weights_attach(PmGraph *g, PmWeightsReport *report)
{
	PmStats *stats = NULL;
	uint64_t seed = 0;

	if (report)
		memset(report, 0, sizeof *report);
	for (uint32_t id = 1; id < pm_graph_value_limit(g); id++) {
		PmValue v = { id };
		PmBlob *b = (PmBlob *)(uintptr_t)pm_value_blob(g, v); /* g is ours to change */
		PmInputRole role;
		int64_t limit;

		if (!is_absent(b))
			continue;
		if (!stats) {
			stats = pm_stats_new(g);
			seed = model_seed(g, stats);
		}
		role = pm_weight_role(g, v, &limit);
		attach(b, pm_value_name(g, v), pm_value_type(g, v), role, limit, stats, seed, report);
	}
	pm_stats_free(stats);
}

void pm_weights_attach_unused(const PmGraph *g, const char *name, const PmType *t, PmBlob *blob,
			      PmWeightsReport *report)
{
	PmStats *stats = pm_stats_new(g);
	PmInputRole role = t->dtype == PM_BOOL           ? PM_ROLE_MASK
			   : pm_dtype_is_float(t->dtype) ? PM_ROLE_DATA
							 : PM_ROLE_COUNT;

	if (is_absent(blob))
		attach(blob, name, t, role, 0, stats, model_seed(g, stats), report);
	pm_stats_free(stats);
}

void pm_weights_describe(const PmWeightsReport *r, PmStr *out)
{
	const char *sep = "";

	for (int k = 0; k < PM_N_LAW_FROM; k++) {
		if (!r->from[k])
			continue;
		pm_str_addf(out, "%s%s: %zu", sep, pm_law_from_name((PmLawFrom)k), r->from[k]);
		sep = "; ";
	}
	sep = "; as ";
	for (int k = 0; k < PM_N_ROLES; k++) {
		if (!r->role[k])
			continue;
		pm_str_addf(out, "%s%s %zu", sep, pm_input_role_name((PmInputRole)k), r->role[k]);
		sep = ", ";
	}
}
