/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - the facts of a kernel, and the rules that hold for them. */
#include "app/profile/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
#define XX(name, when, weight, number, sentence) RULE_##name,
#include "app/profile/limits.def"
#undef XX
	N_RULES
};

typedef struct Said {
	double weight;
	int rule;
	char text[256];
} Said;

void pm_profile_no_facts(PmFacts *out)
{
	*out = (PmFacts){
		NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0, 0
	};
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static void of_model(const PmProfileReport *r, const PmProfileKernel *k, PmFacts *f)
{
	double memory = (double)k->launch.bytes / r->target->bytes_per_second;
	double math = (double)k->launch.flops / r->target->flops_per_second[k->launch.flop_class];

	f->launch_share = r->target->launch_seconds / k->modelled;
	f->memory_share = memory / k->modelled;
	f->arithmetic_share = math / k->modelled;
}

static void of_code(const PmProfileReport *r, const PmProfileKernel *k, PmFacts *f)
{
	const PmCubinMix *m = &k->mix;
	const PmSource *src;

	pm_plan_sources(r->plan, &src);
	if (k->has_mix && m->total) {
		f->local_share = (m->of[PM_MIX_LOCAL_LOAD] + m->of[PM_MIX_LOCAL_STORE]) / (double)m->total;
		if (pm_dtype_peak(src[k->launch.source].type) != PM_PEAK_DOUBLE)
			f->fp64_share = m->of[PM_MIX_FP64] / (double)m->total;
		for (int w = 0; w < PM_MIX_WIDTHS; w++)
			if (m->width[PM_MIX_GLOBAL_LOAD][w])
				f->widest = 1 << w;
	}
	if (k->has_occupancy) {
		f->occupancy = k->occupancy.share;
		f->waves = k->occupancy.waves;
		f->idle = k->occupancy.idle;
		f->by_registers = k->occupancy.limit == PM_OCC_REGISTERS;
		f->by_shared = k->occupancy.limit == PM_OCC_SHARED;
		f->by_blocks = k->occupancy.limit == PM_OCC_BLOCKS;
	}
}

static double waste(const PmCountGlobal *g)
{
	return g->sectors > g->ideal ? share(g->sectors - g->ideal, g->sectors) : share(0, g->sectors);
}

static void of_counts(const PmLaunchCounts *c, PmFacts *f)
{
	uint64_t passes = c->shared[0].passes + c->shared[1].passes,
		 ideal = c->shared[0].ideal + c->shared[1].ideal;

	f->load_waste = waste(&c->global[PM_COUNT_LOAD]);
	f->store_waste = waste(&c->global[PM_COUNT_STORE]);
	f->conflicts = share(passes - ideal, passes);
	/* What is read again since requests are spread over sectors is not counted twice. */
	f->rereads = share(c->read_sectors, c->unique_sectors) *
		     (1 - (c->global[0].requests ? f->load_waste : 0));
	f->efficiency = share(c->active, 32 * c->steps);
	f->same_address = share(c->atomic.same, c->atomic.requests);
}

void pm_profile_facts(const PmProfileReport *r, const PmProfileKernel *k, PmFacts *out)
{
	pm_profile_no_facts(out);
	of_model(r, k, out);
	of_code(r, k, out);
	if (k->has_counts)
		of_counts(&k->counts, out);
}

static int by_weight(const void *a, const void *b)
{
	const Said *x = a, *y = b;

	return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : x->rule - y->rule;
}

static double or_half(double weight)
{
	return isnan(weight) ? 0.5 : weight;
}

int pm_profile_say(const PmFacts *f, int most, PmStr *out)
{
	Said said[N_RULES];
	int n = 0;

#define XX(name, when, weigh, number, sentence)                                                              \
	if (when) {                                                                                          \
		said[n].weight = or_half(weigh);                                                             \
		said[n].rule = RULE_##name;                                                                  \
		snprintf(said[n++].text, sizeof said->text, sentence, (double)(number));                     \
	}
#include "app/profile/limits.def"
#undef XX
	qsort(said, (size_t)n, sizeof *said, by_weight);
	n = n < most ? n : most;
	for (int i = 0; i < n; i++)
		pm_str_addf(out, "%s\n", said[i].text);
	return n;
}
