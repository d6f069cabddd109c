/* SPDX-License-Identifier: Apache-2.0 */
/* profile_text.c - the report for a person. */
#include "app/profile/hw_view.h"
#include "app/profile/limits.h"
#include "app/profile/show.h"

#include <math.h>
#include <string.h>

static void put_code(const PmProfileReport *r, const PmProfileKernel *k, PmStr *out)
{
	const PmOccupancy *o = &k->occupancy;

	if (!k->has_code) {
		pm_str_addf(out, "  machine code: %s\n", r->code.v[k->launch.source].why);
		return;
	}
	pm_str_addf(out,
		    "  machine code  sm_%d: %u registers, %u B local memory (spills, arrays), %u B static "
		    "and %u B dynamic shared memory\n",
		    r->cc, k->registers, k->local, k->shared, k->launch.smem);
	if (k->has_mix) {
		const char *sep = "";

		pm_str_addf(out, "  instructions  %d:", k->mix.total);
		for (int i = 0; i < PM_N_MIX_KINDS; i++) {
			if (!k->mix.of[i])
				continue;
			pm_str_addf(out, "%s %s %d", sep, pm_mix_name((PmMixKind)i), k->mix.of[i]);
			for (int w = 0; i <= PM_MIX_LOCAL_STORE && w < PM_MIX_WIDTHS; w++)
				if (k->mix.width[i][w])
					pm_str_addf(out, " (%d x %d B)", k->mix.width[i][w], 1 << w);
			sep = ",";
		}
		pm_str_add(out, "\n");
	}
	if (k->has_occupancy)
		pm_str_addf(out,
			    "  occupancy     %.0f %% (%d of %d warps, %d blocks), limited by %s; %.2f waves, "
			    "%.0f "
			    "%% of the places idle\n",
			    100 * o->share, o->warps, pm_arch(r->cc)->warps, o->blocks,
			    pm_occ_limit_name(o->limit), o->waves, 100 * o->idle);
}

static void put_global(const char *name, const PmCountGlobal *g, PmStr *out)
{
	if (g->requests)
		pm_str_addf(
			out,
			"  %-13s %llu requests, %.2f sectors each (ideal %.2f), %.0f %% of the bytes used\n",
			name, (unsigned long long)g->requests, (double)g->sectors / (double)g->requests,
			(double)g->ideal / (double)g->requests,
			100.0 * (double)g->bytes / (double)(g->sectors * PM_COUNT_SECTOR));
}

static void put_shared(const char *name, const PmCountShared *b, PmStr *out)
{
	if (b->requests)
		pm_str_addf(out, "  %-13s %llu requests, %llu passes, %llu of them for bank conflicts\n",
			    name, (unsigned long long)b->requests, (unsigned long long)b->passes,
			    (unsigned long long)(b->passes - b->ideal));
}

static void put_site(const PmProfileReport *r, const PmProfileKernel *k, const PmCountSite *s, PmStr *out)
{
	static const char *const kind[PM_N_COUNT_KINDS] = { "load", "store", "atomic" };
	PmStr line = PM_STR_INIT;

	pm_profile_line(r, k, s, &line);
	pm_str_addf(out, "    %.40s:%d:%d  %s %s of %d B: ", s->file, s->line, s->column,
		    s->shared ? "shared" : "global", kind[s->kind], s->size);
	if (s->shared)
		pm_str_addf(out, "%.2f passes of %.2f", (double)s->bank.passes / (double)s->bank.requests,
			    (double)s->bank.ideal / (double)s->bank.requests);
	else
		pm_str_addf(out, "%.2f sectors of %.2f",
			    (double)s->global.sectors / (double)s->global.requests,
			    (double)s->global.ideal / (double)s->global.requests);
	pm_str_addf(out, "  %s\n", line.s);
	pm_str_release(&line);
}

static void put_counts(const PmProfileReport *r, const PmProfileKernel *k, PmStr *out)
{
	const PmLaunchCounts *c = &k->counts;

	pm_str_addf(out, "  counted       %llu of %llu blocks on the emulated device%s\n",
		    (unsigned long long)c->blocks, (unsigned long long)c->of_blocks,
		    c->stopped ? "; they do too much to count more" : "");
	put_global("global loads", &c->global[PM_COUNT_LOAD], out);
	put_global("global stores", &c->global[PM_COUNT_STORE], out);
	put_shared("shared loads", &c->shared[PM_COUNT_LOAD], out);
	put_shared("shared stores", &c->shared[PM_COUNT_STORE], out);
	if (c->atomic.requests)
		pm_str_addf(out,
			    "  atomics       %llu requests of %llu threads, %.1f of a warp on one address\n",
			    (unsigned long long)c->atomic.requests, (unsigned long long)c->atomic.threads,
			    (double)c->atomic.same / (double)c->atomic.requests);
	if (c->unique_sectors)
		pm_str_addf(out, "  reads         each sector %.2f times\n",
			    (double)c->read_sectors / (double)c->unique_sectors);
	if (c->l2_sectors)
		pm_str_addf(
			out,
			"  caches        L1 has %.0f %% of the sectors that are read; L2 is asked for %llu\n",
			100.0 * (double)c->l1_hits / (double)(c->read_sectors ? c->read_sectors : 1),
			(unsigned long long)c->l2_sectors);
	if (c->steps)
		pm_str_addf(out,
			    "  warps         %.0f %% of the lanes active, %llu partings, %llu barriers, %llu "
			    "collectives\n",
			    100.0 * (double)c->active / (32.0 * (double)c->steps),
			    (unsigned long long)c->parted, (unsigned long long)c->barriers,
			    (unsigned long long)c->collectives);
	if (c->n_sites)
		pm_str_add(out, "  the accesses that cost most:\n");
	for (int i = 0; i < c->n_sites && i < PM_PROFILE_SITES; i++)
		put_site(r, k, &c->site[i], out);
}

static void put_hw_memory(const PmHwView *v, PmStr *out)
{
	static const char *const name[2] = { "loads", "stores" };

	if (isfinite(v->dram_rate))
		pm_str_addf(out, "  DRAM          %.3g MB read, %.3g MB written: %.3g TB/s",
			    v->dram_read / 1e6, v->dram_written / 1e6, v->dram_rate / 1e12);
	if (isfinite(v->dram_rate) && isfinite(v->copy_share))
		pm_str_addf(out, " (%.0f %% of a copy)", 100 * v->copy_share);
	if (isfinite(v->dram_rate) && isfinite(v->dram_share))
		pm_str_addf(out, ", DRAM at %.0f %% of its peak", 100 * v->dram_share);
	pm_str_add(out, isfinite(v->dram_rate) ? "\n" : "");
	if (isfinite(v->l2_hit))
		pm_str_addf(out, "  caches        L2 hit rate %.0f %%", 100 * v->l2_hit);
	if (isfinite(v->l2_hit) && isfinite(v->l1_hit))
		pm_str_addf(out, ", L1 hit rate %.0f %%", 100 * v->l1_hit);
	pm_str_add(out, isfinite(v->l2_hit) ? "\n" : "");
	for (int i = 0; i < 2; i++)
		if (isfinite(v->sectors[i]))
			pm_str_addf(out, "  global %-6s %.0f requests, %.2f sectors each\n", name[i],
				    v->requests[i], v->sectors[i]);
	for (int i = 0; i < 2; i++)
		if (v->passes[i] > 0)
			pm_str_addf(out, "  shared %-6s %.0f passes, %.0f of them for bank conflicts\n",
				    name[i], v->passes[i], v->conflicts[i]);
}

static void put_hw(const PmProfileReport *r, const PmProfileKernel *k, PmStr *out)
{
	const char *sep = " ";
	PmHwView v;

	pm__hw_view(r, k, &v);
	pm_str_addf(out, "  counters     ");
	if (isfinite(v.seconds))
		pm_str_addf(out, " %.2f us, %.3g TFLOP/s", v.seconds * 1e6, v.flop_rate / 1e12);
	if (isfinite(v.flop_share))
		pm_str_addf(out, " (%.2g %% of the peak)", 100 * v.flop_share);
	if (isfinite(v.occupancy))
		pm_str_addf(out, "; %.0f %% of the warps there", 100 * v.occupancy);
	if (isfinite(v.issue))
		pm_str_addf(out, ", an instruction issued in %.0f %% of the cycles", 100 * v.issue);
	if (isfinite(v.sm_share))
		pm_str_addf(out, ", busiest unit at %.0f %% of its peak", 100 * v.sm_share);
	pm_str_add(out, "\n");
	put_hw_memory(&v, out);
	for (int m = 0; m < PM_N_HW_METRICS; m++)
		if (v.unreliable[m])
			pm_str_addf(out, "  not reliable  %s: the kernel is too short for it\n",
				    pm_hw_metric_name((PmHwMetric)m));
	if (v.n_stalls)
		pm_str_add(out, "  stalls       ");
	for (int i = 0; i < v.n_stalls && i < PM_PROFILE_STALLS; i++, sep = ", ")
		pm_str_addf(out, "%s%s %.0f %%", sep, pm_hw_stall_name(v.stall[i].reason),
			    100 * v.stall[i].share);
	pm_str_add(out, v.n_stalls ? " of the warps' time\n" : "");
}

static void put_limits(const PmProfileReport *r, const PmProfileKernel *k, PmStr *out)
{
	PmStr text = PM_STR_INIT;
	PmFacts f;

	pm_profile_facts(r, k, &f);
	if (pm_profile_say(&f, PM_PROFILE_SAYS, &text))
		pm_str_add(out, "  what limits it:\n");
	for (const char *p = text.s; p && *p; p = strchr(p, '\n') + 1)
		pm_str_addf(out, "    %.*s\n", (int)strcspn(p, "\n"), p);
	pm_str_release(&text);
}

/* Of the launch's time, what each part would take alone. */
static void put_bounds(const PmAccessTime *t, PmStr *out)
{
	pm_str_addf(out, "  bounds        launch %.2f us, waits %.2f and the largest of", t->launch * 1e6,
		    t->waits * 1e6);
	for (int i = 0; i < PM_N_BOUNDS; i++)
		pm_str_addf(out, "%s %s %.2f", i ? "," : "", pm_access_bound_name((PmAccessBound)i),
			    t->bound[i] * 1e6);
	pm_str_add(out, "\n");
}

static void put_kernel(const PmProfileReport *r, const PmProfileKernel *k, PmStr *out)
{
	const uint32_t *g = k->launch.grid, *b = k->launch.block;

	pm_str_addf(out, "\n%s  grid %u,%u,%u  block %u,%u,%u", k->launch.label, g[0], g[1], g[2], b[0], b[1],
		    b[2]);
	if (k->times > 1)
		pm_str_addf(out, "  (%d launches alike)", k->times);
	pm_str_addf(out,
		    "\n  modelled      %.2f us, most of it %s: %lld bytes (%.2g %% of a copy), %lld "
		    "operations (%.2g %% of "
		    "the peak)\n",
		    k->time.seconds * 1e6, pm_profile_bound(k), (long long)k->launch.bytes,
		    100 * (double)k->launch.bytes / k->time.seconds / r->target->bytes_per_second,
		    (long long)k->launch.flops,
		    100 * (double)k->launch.flops / k->time.seconds /
			    r->target->flops_per_second[k->launch.flop_class]);
	if (k->has_counts)
		put_bounds(&k->time, out);
	put_code(r, k, out);
	if (k->has_counts)
		put_counts(r, k, out);
	if (k->has_hw)
		put_hw(r, k, out);
	put_limits(r, k, out);
}

static void put_times(const PmProfileReport *r, PmStr *out)
{
	double bytes = (double)r->stats.bytes / r->seconds[1];

	pm_str_addf(out, "Measured from cold caches: %.2f us, before the pass %.2f us; %.3g TB/s",
		    r->seconds[1] * 1e6, r->seconds[0] * 1e6, bytes / 1e12);
	if (r->same_gpu)
		pm_str_addf(out, " (%.0f %% of a copy)", 100 * bytes / r->target->bytes_per_second);
	pm_str_addf(out, ", %.3g TFLOP/s.\n", (double)r->stats.flops / r->seconds[1] / 1e12);
}

void pm_profile_text(const PmProfileReport *r, const PmProfileOpts *o, PmStr *out)
{
	pm_str_addf(out,
		    "%s, sm_%d, %d multiprocessors. Modelled: %.1f us in %d launches, before the pass %.1f "
		    "us in %d.\n",
		    r->target->full_name, r->cc, r->n_sm, r->stats.modelled_seconds * 1e6,
		    r->stats.n_launches, r->base.modelled_seconds * 1e6, r->base.n_launches);
	if (r->has_time)
		put_times(r, out);
	if (r->hw_version)
		pm_str_addf(out,
			    "Counters of the hardware: CUPTI %u, %d runs of each kernel, from cold caches.\n",
			    r->hw_version, r->hw_passes);
	for (size_t i = 0; i < r->kernel.n; i++)
		put_kernel(r, &r->kernel.v[i], out);
	pm_str_add(out, "\nNot in this report:\n");
	for (int i = 0; i < PM_PROFILE_ABSENT; i++)
		if (pm_profile_absent(r, o, i))
			pm_str_addf(out, "  %s\n", pm_profile_absent(r, o, i));
}
