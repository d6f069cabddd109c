/* SPDX-License-Identifier: Apache-2.0 */
/* profile_text.c - the report for a person. */
#include "app/profile/show.h"

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

static void put_kernel(const PmProfileReport *r, const PmProfileKernel *k, PmStr *out)
{
	const uint32_t *g = k->launch.grid, *b = k->launch.block;

	pm_str_addf(out, "\n%s  grid %u,%u,%u  block %u,%u,%u", k->launch.label, g[0], g[1], g[2], b[0], b[1],
		    b[2]);
	if (k->times > 1)
		pm_str_addf(out, "  (%d launches alike)", k->times);
	pm_str_addf(out, "\n  modelled      %.2f us: %lld bytes, %lld operations\n", k->modelled * 1e6,
		    (long long)k->launch.bytes, (long long)k->launch.flops);
	put_code(r, k, out);
}

void pm_profile_text(const PmProfileReport *r, const PmProfileOpts *o, PmStr *out)
{
	(void)o;
	pm_str_addf(out,
		    "%s, sm_%d, %d multiprocessors. Modelled: %.1f us in %d launches, before the pass %.1f "
		    "us in %d.\n",
		    r->target->full_name, r->cc, r->n_sm, r->stats.modelled_seconds * 1e6,
		    r->stats.n_launches, r->base.modelled_seconds * 1e6, r->base.n_launches);
	for (size_t i = 0; i < r->kernel.n; i++)
		put_kernel(r, &r->kernel.v[i], out);
}
