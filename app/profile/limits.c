/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - the facts of a kernel, and the rules that hold for them. */
#include "app/profile/limits.h"

#include "app/profile/hw_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define XX(name, when, weight, number, sentence) RULE_##name,
#include "app/profile/limits.def"
#undef XX
	RULE_STALL,
	N_RULES
};

/* Shares from which a stall reason is told, and below which bytes of DRAM say nothing: caches hold them. */
static const double stall_least = 0.3;
enum { TRAFFIC_LEAST = 1 << 20 };

typedef struct Said {
	double weight;
	int rule;
	char text[256];
} Said;

void pm_profile_no_facts(PmFacts *out)
{
	memset(out, 0, sizeof *out);
	out->launch_share = out->memory_share = out->arithmetic_share = out->access_share = NAN;
	out->l2_share = out->l1_share = out->issue_share = NAN;
	out->local_share = out->fp64_share = out->load_waste = out->store_waste = NAN;
	out->conflicts = out->rereads = out->efficiency = out->same_address = out->widest = NAN;
	out->occupancy = out->waves = out->idle = NAN;
	out->microseconds = out->launch_us = out->dram = out->sm = out->l2_hit = out->traffic = NAN;
	out->stall = PM_HW_STALLS;
	out->achieved = out->stall_share = out->at_memory = out->at_shared = NAN;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

static void of_model(const PmProfileKernel *k, PmFacts *f)
{
	const double *bound = k->time.bound;

	f->launch_share = k->time.launch / k->time.seconds;
	f->memory_share = bound[PM_BOUND_DRAM] / k->time.seconds;
	f->arithmetic_share = bound[PM_BOUND_OPERATIONS] / k->time.seconds;
	f->access_share = fmax(fmax(bound[PM_BOUND_L2], bound[PM_BOUND_L1]), bound[PM_BOUND_DRAM]) /
			  k->time.seconds;
	if (k->time.largest == PM_BOUND_L2)
		f->l2_share = bound[PM_BOUND_L2] / k->time.seconds;
	if (k->time.largest == PM_BOUND_L1)
		f->l1_share = bound[PM_BOUND_L1] / k->time.seconds;
	if (k->time.largest == PM_BOUND_ISSUE)
		f->issue_share = bound[PM_BOUND_ISSUE] / k->time.seconds;
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

/* The widest access of a kind in the code; a warp of such needs as many sectors as that has bytes. NaN: the
 * code has none, or is not known. */
static double widest(const PmProfileKernel *k, PmMixKind kind)
{
	double bytes = NAN;

	for (int w = 0; k->has_mix && w < PM_MIX_WIDTHS; w++)
		if (k->mix.width[kind][w])
			bytes = 1 << w;
	return bytes;
}

/* Sectors for nothing, at least: even if each access of the kernel were its widest. */
static double measured_waste(double sectors, double widest)
{
	return sectors > widest ? 1 - widest / sectors : sectors <= widest ? 0 : NAN;
}

static double stalled(const PmHwView *v, PmHwMetric reason)
{
	for (int i = 0; i < v->n_stalls; i++)
		if (v->stall[i].reason == reason)
			return v->stall[i].share;
	return 0;
}

/* What was measured takes the place of what was modelled. */
static void of_hw(const PmProfileReport *r, const PmProfileKernel *k, PmFacts *f)
{
	double bytes = (double)k->launch.bytes;
	PmHwView v;

	pm__hw_view(r, k, &v);
	f->launch_share = f->memory_share = f->arithmetic_share = f->access_share = NAN;
	f->l2_share = f->l1_share = f->issue_share = NAN;
	f->microseconds = v.seconds * 1e6;
	f->launch_us = r->target->launch_seconds * 1e6;
	f->dram = v.dram_share;
	f->sm = v.sm_share;
	f->l2_hit = v.l2_hit;
	f->traffic = bytes >= TRAFFIC_LEAST ? (v.dram_read + v.dram_written) / bytes : NAN;
	f->achieved = v.occupancy;
	f->load_waste = measured_waste(v.sectors[PM_COUNT_LOAD], widest(k, PM_MIX_GLOBAL_LOAD));
	f->store_waste = measured_waste(v.sectors[PM_COUNT_STORE], widest(k, PM_MIX_GLOBAL_STORE));
	f->conflicts = (v.conflicts[0] + v.conflicts[1]) / (v.passes[0] + v.passes[1]);
	if (v.n_stalls) {
		f->stall = v.stall[0].reason;
		f->stall_share = v.stall[0].share;
		f->at_shared = stalled(&v, PM_HW_STALL_SHORT_SCOREBOARD) +
			       stalled(&v, PM_HW_STALL_MIO_THROTTLE);
		f->at_memory = fmax(f->dram, stalled(&v, PM_HW_STALL_LONG_SCOREBOARD) +
						     stalled(&v, PM_HW_STALL_LG_THROTTLE) +
						     stalled(&v, PM_HW_STALL_DRAIN));
	}
}

void pm_profile_facts(const PmProfileReport *r, const PmProfileKernel *k, PmFacts *out)
{
	pm_profile_no_facts(out);
	of_model(k, out);
	of_code(r, k, out);
	if (k->has_counts)
		of_counts(&k->counts, out);
	if (k->has_hw)
		of_hw(r, k, out);
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

/* Where DRAM or a unit is at its peak, waiting is what follows from that. */
static int say_stall(const PmFacts *f, Said *out)
{
	double busy = fmax(f->dram, f->sm);
	const char *helps;

	if (!(f->stall_share > stall_least))
		return 0;
	helps = pm_hw_stall_helps(f->stall);
	out->weight = 0.5 * f->stall_share * (busy > 0 ? 1 - busy : 1);
	out->rule = RULE_STALL;
	snprintf(out->text, sizeof out->text, "%.3g %% of the warps' time they wait for %s (%s)%s%s.",
		 100 * f->stall_share, pm_hw_stall_waits(f->stall), pm_hw_stall_name(f->stall),
		 *helps ? ": " : "", helps);
	return 1;
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
	n += say_stall(f, &said[n]);
	qsort(said, (size_t)n, sizeof *said, by_weight);
	n = n < most ? n : most;
	for (int i = 0; i < n; i++)
		pm_str_addf(out, "%s\n", said[i].text);
	return n;
}
